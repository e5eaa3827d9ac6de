package daemonset

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// sign is what the key of a taint says about its node, where a pod should not
// tolerate it. A key that ends with a slash stands for all keys of that domain, one
// that begins with a slash for that name in any domain.
type sign struct {
	key string
	// NoSensibleChange: the node goes away, or runs no DaemonSet. RepairNode: something has to be right before
	remedy RemedyKind
}

// signs are the taints that announce an end, a fault or a start that is not complete:
// a pod that tolerates one runs where nothing can, or is about to end. They stand by
// who sets them.
var signs = []sign{
	// Kubernetes: a person declares a node out of service, the node lifecycle controller and the kubelet set the
	// others by its conditions, a cloud provider's controller those of its domain
	{corev1.TaintNodeOutOfService, NoSensibleChange},
	{"node.kubernetes.io/", RepairNode},
	{"node.cloudprovider.kubernetes.io/", RepairNode},
	// cluster-autoscaler: a node that it removes, or may remove; and those that are not ready for pods until somebody
	// takes the taint away
	{"ToBeDeletedByClusterAutoscaler", NoSensibleChange},
	{"DeletionCandidateOfClusterAutoscaler", NoSensibleChange},
	{"startup-taint.cluster-autoscaler.kubernetes.io/", RepairNode},
	{"ignore-taint.cluster-autoscaler.kubernetes.io/", RepairNode},
	{"status-taint.cluster-autoscaler.kubernetes.io/", RepairNode},
	// Karpenter: a node that it replaces (disruption until 0.37), or that has not registered
	{"karpenter.sh/disrupted", NoSensibleChange},
	{"karpenter.sh/disruption", NoSensibleChange},
	{"karpenter.sh/unregistered", NoSensibleChange},
	// clouds: an instance that is reclaimed or has maintenance, on AWS also one that cannot attach volumes
	{"aws-node-termination-handler/", NoSensibleChange},
	{"NodeWithImpairedVolumes", RepairNode},
	{"cloud.google.com/impending-node-termination", NoSensibleChange},
	{"remediator.kubernetes.azure.com/unschedulable", NoSensibleChange},
	{"remediator.aks.microsoft.com/unschedulable", NoSensibleChange},
	// Cluster API, the node readiness controller, medik8s
	{"node.cluster.x-k8s.io/uninitialized", RepairNode},
	{"readiness.k8s.io/", RepairNode},
	{"medik8s.io/", RepairNode},
	// KubeVirt moves virtual machines away
	{"kubevirt.io/drain", NoSensibleChange},
	// networks and drivers whose own agent has not started on the node: Cilium, the CSI drivers of AWS, Istio
	{"/agent-not-ready", RepairNode},
	{"cni.istio.io/not-ready", RepairNode},
	// nodes without a kubelet of their own
	{"eks.amazonaws.com/compute-type", NoSensibleChange},
	{"virtual-kubelet.io/provider", NoSensibleChange},
}

// TellingKeys returns what of the keys of labels and taints tells by itself whether a
// person would change them: domains of labels, and keys of taints, where one that ends
// with a slash stands for all keys of that domain, and one that begins with a slash for
// that name in any domain.
func TellingKeys() (domains, taints []string) {
	for _, s := range signs {
		taints = append(taints, s.key)
	}
	return slices.Clone(ownedDomains), taints
}

// says reports whether a key is one of the sign's.
func (s sign) says(key string) bool {
	switch {
	case strings.HasSuffix(s.key, "/"):
		return strings.HasPrefix(key, s.key)
	case strings.HasPrefix(s.key, "/"):
		return strings.HasSuffix(key, s.key)
	}
	return s.key == key
}

// TaintRemedy returns what makes a node eligible whose taint is not tolerated, by the
// facts of that verdict: AddToleration, no wider than the taint; or, for a taint that
// announces an end, a fault or a start that is not complete, NoSensibleChange or
// RepairNode: see signs.
func TaintRemedy(f Facts) Remedy {
	key := f.Text("key")
	if i := slices.IndexFunc(signs, func(s sign) bool { return s.says(key) }); i >= 0 {
		return Remedy{Kind: signs[i].remedy, Key: key}
	}
	t := &corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(f.Text("effect"))}
	if v := f.Text("value"); v != "" {
		t.Operator, t.Value = corev1.TolerationOpEqual, v
	}
	return Remedy{Kind: AddToleration, Toleration: t}
}
