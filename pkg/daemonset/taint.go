package daemonset

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// sign is what the key of a taint says about a node whose pods should not
// tolerate it. A key that ends with a slash stands for all keys of that domain,
// one that begins with a slash for that name in any domain.
type sign struct {
	key string
	// NoSensibleChange: the node is being removed, or runs no DaemonSet pods.
	// RepairNode: something has to be repaired or completed first
	remedy RemedyKind
}

// signs are the taints for an imminent removal, a fault, or a start that is not
// complete: a pod that tolerated one would run where no pod can, or not for
// long. They are grouped by who sets them.
var signs = []sign{
	// Kubernetes: people set out-of-service, the node lifecycle controller and
	// the kubelet set the taints of node conditions, a cloud provider's
	// controller sets those of its domain
	{corev1.TaintNodeOutOfService, NoSensibleChange},
	{"node.kubernetes.io/", RepairNode},
	{"node.cloudprovider.kubernetes.io/", RepairNode},
	// cluster-autoscaler: a node that it removes or may remove, and nodes that
	// are not ready for pods until somebody removes the taint
	{"ToBeDeletedByClusterAutoscaler", NoSensibleChange},
	{"DeletionCandidateOfClusterAutoscaler", NoSensibleChange},
	{"startup-taint.cluster-autoscaler.kubernetes.io/", RepairNode},
	{"ignore-taint.cluster-autoscaler.kubernetes.io/", RepairNode},
	{"status-taint.cluster-autoscaler.kubernetes.io/", RepairNode},
	// Karpenter: a node that it replaces (disruption until 0.37), or that has
	// not registered
	{"karpenter.sh/disrupted", NoSensibleChange},
	{"karpenter.sh/disruption", NoSensibleChange},
	{"karpenter.sh/unregistered", NoSensibleChange},
	// clouds: an instance that is reclaimed or under maintenance; on AWS also
	// one that cannot attach volumes
	{"aws-node-termination-handler/", NoSensibleChange},
	{"NodeWithImpairedVolumes", RepairNode},
	{"cloud.google.com/impending-node-termination", NoSensibleChange},
	{"remediator.kubernetes.azure.com/unschedulable", NoSensibleChange},
	{"remediator.aks.microsoft.com/unschedulable", NoSensibleChange},
	// Cluster API, the node readiness controller, medik8s
	{"node.cluster.x-k8s.io/uninitialized", RepairNode},
	{"readiness.k8s.io/", RepairNode},
	{"medik8s.io/", RepairNode},
	// KubeVirt: virtual machines are being moved away
	{"kubevirt.io/drain", NoSensibleChange},
	// networks and drivers whose agent has not started on the node: Cilium, the
	// CSI drivers of AWS, Istio
	{"/agent-not-ready", RepairNode},
	{"cni.istio.io/not-ready", RepairNode},
	// nodes without a kubelet of their own
	{"eks.amazonaws.com/compute-type", NoSensibleChange},
	{"virtual-kubelet.io/provider", NoSensibleChange},
}

// TellingKeys returns the domains of labels, and the keys of taints, that
// decide by themselves whether a person would change the label or tolerate the
// taint. A taint key that ends with a slash stands for all keys of that domain,
// one that begins with a slash for that name in any domain.
func TellingKeys() (domains, taints []string) {
	for _, s := range signs {
		taints = append(taints, s.key)
	}
	return slices.Clone(ownedDomains), taints
}

// matchesKey reports whether the key matches the sign.
func (s sign) matchesKey(key string) bool {
	switch {
	case strings.HasSuffix(s.key, "/"):
		return strings.HasPrefix(key, s.key)
	case strings.HasPrefix(s.key, "/"):
		return strings.HasSuffix(key, s.key)
	}
	return s.key == key
}

// TaintRemedy returns the remedy for a taint that is not tolerated, given the
// facts of the verdict: AddToleration, no wider than the taint, or, for a taint
// in signs, NoSensibleChange or RepairNode.
func TaintRemedy(f Facts) Remedy {
	key := f.Text("key")
	if i := slices.IndexFunc(signs, func(s sign) bool { return s.matchesKey(key) }); i >= 0 {
		return Remedy{Kind: signs[i].remedy, Key: key}
	}
	t := &corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(f.Text("effect"))}
	if v := f.Text("value"); v != "" {
		t.Operator, t.Value = corev1.TolerationOpEqual, v
	}
	return Remedy{Kind: AddToleration, Toleration: t}
}
