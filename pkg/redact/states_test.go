package redact_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Parts of names that are hard to replace: some are prefixes of others, some
// are ordered between kept words, and some are both names and kept words.
var (
	hardNames     = []string{"a", "a-b", "ab", "db", "db-1", "db-10", "db-2", "kube", "kubelet", "n", "node", "node-1", "prod", "prod-eu", "z", "0x", "hash-1", "pod-1"}
	hardKeys      = []string{"acme.com/rack", "acme.com/rack-row", "acme.com/agent-not-ready", "acme.com/not-ready", "acme.io/x", "acme.com.x/y", "apps", "acme", "node-not-ready", "zone-group", "dotted.key", "node.kubernetes.io/acme", "acme.kubernetes.io/x", "node-role.kubernetes.io/gpu", "node-role.kubernetes.io/control-plane", "startup-taint.acme/x", "startup-taint.acme", "kubernetes.io/acme", "eks.amazonaws.com/nodegroup", "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone", "karpenter.sh/acme", "medik8s.io/acme", "app", "team", "beta.kubernetes.io/arch", "node.kubernetes.io/instance-type"}
	hardValues    = []string{"", "a", "a-b", "a.b", "b", "true", "false", "5", "10", "7", "-3", "prod", "prod-eu", "m5.large", "value-1", "z_9"}
	kernels       = []string{"5.15.0-1051-aws", "5.15.0-acme3", "6.1.0-acme-hardened", "6.1.0", "6.1.12", "5.15.0-acme", ""}
	runtimes      = []string{"containerd://1.7.2", "cri-o://1.29.1", "containerd://1.7.2-acme", "acmed://3", ""}
	systems       = []string{"Ubuntu 22.04.3 LTS", "Acme Linux 3", "Acme Linux 4", ""}
	hardImages    = []string{"registry.acme.com/team/agent:1.9.0", "registry.acme.com/team/agent:1.8.3", "agent", "agent:latest", "agent:2024-acme", "agent@sha256:" + strings.Repeat("ab", 32), "agent:1.2@sha256:" + strings.Repeat("cd", 32), "https://acme.com/agent", "agent:", "Agent:1", "agent$X", "agent@sha256:12", "agent//x"}
	hardResources = []string{"cpu", "memory", "acme.com/fpga", "acme.com/fpga-2", "nvidia.com/gpu", "fpga", "hugepages-2Mi"}
	said          = []string{
		`Error creating: pods "%s-x7k2p" is forbidden: exceeded quota: prod, requested: pods=1,requests.acme.com/fpga=1, used: pods=3,requests.acme.com/fpga=2, limited: pods=3,requests.acme.com/fpga=2`,
		`Error creating: pods "%s-" is forbidden: exceeded quota: prod-eu, requested: pods=1, used: pods=5, limited: pods=5`,
		`Error creating: pods "%s-" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true), hostPath volumes (volume "acme")`,
		`Error creating: pods "%s-" is forbidden: violates PodSecurity "acme:v9": no`,
		`Error creating: admission webhook "policy.acme.com" denied the request: acme says no`,
		`Error creating: Internal error occurred: failed calling webhook "hook.acme.com": failed to call webhook: Post "https://hook.acme.svc:443/x": dial tcp 10.1.2.3:443: connect: connection refused`,
		`Error creating: acme`,
		`(combined from similar events): Error creating: exceeded quota: db`,
		`Error creating: insufficient quota to match these scopes: [{PriorityClass In [acme-high system-node-critical]}]`,
		`Error creating: pods "%s-" is forbidden: no PriorityClass with name acme-high was found`,
		`Error creating: pods "%s-" is forbidden: error looking up service account kube-system/acme: serviceaccount "acme" not found`,
		`Error creating: pods "%s-" is forbidden: pod rejected: RuntimeClass "acme" not found`,
	}
	scheduled = []string{
		`0/9 nodes are available: 1 Insufficient acme.com/fpga, 1 Insufficient cpu, 8 node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: 0/9 nodes are available: 9 Preemption is not helpful for scheduling.`,
		`0/9 nodes are available: 1 node(s) had untolerated taint {acme.com/rack: prod}, 8 node(s) didn't match Pod's node affinity/selector. preemption: 0/9 nodes are available: 9 Preemption is not helpful for scheduling.`,
		`0/9 nodes are available: 1 acme's own reason, 1 with free ports of acme, 8 acme's [NodeAffinity].`,
		`0/9 nodes are available: 1 node(s) exceed max volume count of acme, 8 node(s) didn't match node selector.`,
		`0/9 nodes are available: 1 Too many pods, 8 node(s) didn't match node selector.`,
		`persistentvolumeclaim "acme-data" not found`,
		`no nodes are left at acme`,
	}
	evicted = []string{
		`The node was low on resource: ephemeral-storage. Threshold quantity: 10737418240, available: 9Gi. Container acme was using 1Gi, request is 0, has larger consumption of ephemeral-storage. `,
		`The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. `, `Pod was rejected: The node had condition: [DiskPressure]. `, `The node had condition: [MemoryPressure]. `,
		`Usage of EmptyDir volume "acme" exceeds the limit "1Gi". `, `Usage of EmptyDir volume "data" exceeds the limit "512Mi". `,
		`Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. `, `Container acme exceeded its local ephemeral storage limit "1Gi". `, `acme evicts it`,
	}
	waits = [][2]string{
		{"CreateContainerConfigError", `configmap "acme" not found`}, {"CreateContainerConfigError", `secret "acme-token" not found`}, {"CreateContainerConfigError", "couldn't find key acme.level in ConfigMap kube-system/acme"},
		{"CreateContainerConfigError", "couldn't find key token in Secret kube-system/acme"}, {"ImagePullBackOff", `Back-off pulling image "registry.acme.com/team/agent:1.9.0": ErrImagePull: not found`},
		{"ErrImagePull", "dial tcp 10.1.2.3:443: i/o timeout"}, {"ErrImagePull", "net/http: TLS handshake timeout"}, {"ErrImagePull", "toomanyrequests: acme has no rate left"}, {"ErrImagePull", "429 Too Many Requests"},
		{"ErrImagePull", "lookup registry.acme.com: no such host"}, {"ErrImagePull", "dial tcp: lookup registry.acme.com on 10.1.2.3:53: server misbehaving"}, {"ErrImagePull", "dial tcp: connect: network is unreachable"},
		{"ErrImagePull", "dial tcp: connect: no route to host"}, {"ErrImagePull", "unexpected status code 503 Service Unavailable"}, {"ErrImagePull", "unexpected status: 502 Bad Gateway"}, {"ErrImagePull", "received unexpected HTTP status: 500 Internal Server Error"},
		{"ErrImagePull", "504 Gateway Timeout"}, {"ErrImagePull", "pull QPS exceeded"}, {"ErrImagePull", "x509: certificate signed by unknown authority"}, {"ErrImagePull", "unexpected EOF"},
		{"ErrImagePull", "read: connection reset by peer"}, {"ErrImagePull", "context deadline exceeded"}, {"ErrImagePull", "acme pulls nothing"},
	}
	mounts = []string{
		`MountVolume.SetUp failed for volume "acme" : configmap "acme" not found`, `MountVolume.SetUp failed for volume "data" : references non-existent secret key: acme`,
		`Multi-Attach error for volume "pvc-acme" Volume is already exclusively attached to one node and can't be attached to another`, `MountVolume.MountDevice failed for volume "acme" : acme`,
		`AttachVolume.Attach failed for volume "acme" : acme`,
	}
	ended = []string{"panic at acme", "exec /acme/agent: exec format error", `no match for platform in manifest: acme/agent`, "No Matching Manifest for linux/acme"}
)

// hardState returns a random state whose names, labels, taints, versions,
// images and messages are hard to replace. Equal seeds give equal states.
func hardState(seed int64) *snapshot.Snapshot {
	h := &hard{rand.New(rand.NewPCG(uint64(seed), 7)), dstest.RandomTrouble(seed)}
	for _, do := range []func(){h.nodes, h.template, h.pods, h.common, h.events, h.others, h.admission, h.openShift, h.blame, h.controller} {
		do()
	}
	return h.renamed()
}

type hard struct {
	*rand.Rand
	s *snapshot.Snapshot
}

func (h *hard) one(of []string) string { return of[h.IntN(len(of))] }

func (h *hard) nodes() {
	for i := range h.s.Nodes {
		n := &h.s.Nodes[i]
		n.Labels = maps.Clone(n.Labels)
		for range h.IntN(5) {
			n.Labels[h.one(hardKeys)] = h.one(hardValues)
		}
		for range h.IntN(4) {
			if h.IntN(3) == 0 {
				n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: h.one(hardKeys), Value: h.one(hardValues), Effect: []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule}[h.IntN(3)]})
			}
		}
		info := &n.Status.NodeInfo
		info.KernelVersion, info.ContainerRuntimeVersion, info.OSImage = h.one(kernels), h.one(runtimes), h.one(systems)
		info.Architecture, info.OperatingSystem = h.one([]string{"amd64", "arm64", ""}), h.one([]string{"linux", "linux", "windows", ""})
		if h.IntN(4) == 0 {
			n.Status.Allocatable = corev1.ResourceList{"pods": resource.MustParse("5"), "cpu": resource.MustParse("2"), corev1.ResourceName(h.one(hardResources)): resource.MustParse("1")}
		}
		for j := range n.Status.Conditions {
			if c := &n.Status.Conditions[j]; c.Status != corev1.ConditionTrue && h.IntN(2) == 0 {
				c.Reason, c.Message = h.one([]string{"KubeletNotReady", "AcmeBroken"}), "acme's network is not ready: cni plugin not initialized"
			}
		}
	}
}

func (h *hard) requirement() corev1.NodeSelectorRequirement {
	r := corev1.NodeSelectorRequirement{Key: h.one(hardKeys), Operator: []corev1.NodeSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}[h.IntN(6)]}
	switch r.Operator {
	case "In", "NotIn":
		for range 1 + h.IntN(3) {
			r.Values = append(r.Values, h.one(hardValues))
		}
	case "Gt", "Lt":
		r.Values = []string{h.one([]string{"5", "7", "10"})}
	}
	return r
}

func (h *hard) template() {
	t := &h.s.DaemonSet.Spec.Template
	spec := &t.Spec
	if h.IntN(4) == 0 {
		spec.NodeSelector = map[string]string{h.one(hardKeys): h.one(hardValues), h.one(hardKeys): h.one(hardValues)}
		if len(spec.NodeSelector) == 2 && len(slices.Compact(slices.Collect(maps.Values(spec.NodeSelector)))) == 1 {
			delete(spec.NodeSelector, slices.Max(slices.Collect(maps.Keys(spec.NodeSelector)))) // the API reports equal invalid values once, but their stand-ins differ
		}
	}
	if h.IntN(4) == 0 {
		var terms []corev1.NodeSelectorTerm
		for range 1 + h.IntN(2) {
			terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{h.requirement(), h.requirement()}})
		}
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
	}
	for range h.IntN(3) {
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: h.one(hardKeys), Operator: corev1.TolerationOpEqual, Value: h.one(hardValues)})
	}
	c := &spec.Containers[0]
	if h.IntN(3) == 0 {
		c.Image = h.one(hardImages)
	}
	if h.IntN(3) == 0 {
		c.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1"), corev1.ResourceName(h.one(hardResources)): resource.MustParse("1")}
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceName(h.one(hardResources)): resource.MustParse("1")}
	}
	if h.IntN(4) == 0 {
		c.Args, c.Command = []string{"--cluster=acme", "a"}, []string{"/acme/agent"}
		c.Env = []corev1.EnvVar{{Name: "ACME_TOKEN", Value: "s3cret"}, {Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['acme.com/rack']"}}}}
		c.VolumeMounts = []corev1.VolumeMount{{Name: "acme", MountPath: "/acme data"}}
		spec.Volumes = []corev1.Volume{{Name: "acme", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/acme"}}}}
		c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("acme")}}}
		c.TerminationMessagePath = "/dev/termination-log"
	}
	if h.IntN(4) == 0 {
		t.Labels, t.Annotations = maps.Clone(t.Labels), map[string]string{h.one(hardKeys): h.one(hardValues), "kubectl.kubernetes.io/restartedAt": "2026-03-01T11:00:00Z"}
		t.Labels[h.one(hardKeys)] = h.one(hardValues)
		t.Labels["app"] = h.s.DaemonSet.Name
	}
	if h.IntN(4) == 0 {
		spec.PriorityClassName = h.one([]string{"acme-high", "system-node-critical"})
	}
	if h.IntN(5) == 0 {
		ds := h.s.DaemonSet
		ds.Annotations = maps.Clone(ds.Annotations)
		if ds.Annotations == nil {
			ds.Annotations = map[string]string{}
		}
		ds.Annotations[h.one([]string{"argocd.argoproj.io/tracking-id", "meta.helm.sh/release-name", "kubernetes.io/change-cause", "acme.com/owner"})] = "acme:apps/DaemonSet:" + ds.Namespace + "/" + ds.Name
		ds.ManagedFields = append(ds.ManagedFields, metav1.ManagedFieldsEntry{Manager: h.one([]string{"acme-controller", "kubectl", "helm"}), Operation: "Apply", APIVersion: "apps/v1", FieldsType: "FieldsV1", Time: &metav1.Time{Time: h.s.TakenAt.Add(-time.Hour)},
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:acme.com/rack":{}}},"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"agent\"}":{".":{},"f:image":{},"f:env":{"k:{\"name\":\"ACME_TOKEN\"}":{}},"f:acme":{}}}}}}}`)})
	}
}

func (h *hard) pods() {
	for i := range h.s.Pods {
		p := &h.s.Pods[i]
		if i%3 == 0 {
			p.Annotations = map[string]string{"linkerd.io/inject": "enabled", "linkerd.io/proxy-version": "acme-2.1", "openshift.io/scc": "acme-scc", "sidecar.istio.io/status": ""}
			p.Spec.ReadinessGates, p.Spec.NodeSelector = []corev1.PodReadinessGate{{ConditionType: "acme.com/up"}}, map[string]string{"acme.com/rack": "acme-1"}
		}
		for _, all := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
			for j := range all {
				if w := all[j].State.Waiting; w != nil && h.IntN(2) == 0 {
					w.Reason, w.Message = h.one([]string{"AcmeError", "AcmeErrors", "ErrImagePull", "Acme", w.Reason}), `Back-off pulling image "`+h.one(hardImages)+`": `+h.one(ended)
				}
				if last := all[j].LastTerminationState.Terminated; last != nil {
					last.Message = h.one(ended)
				}
			}
		}
		for j := range p.Status.Conditions {
			if c := &p.Status.Conditions[j]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
				c.Message = h.one(scheduled)
			}
		}
	}
}

// common gives nodes with crashing pods a common property, which is then a
// likely cause.
func (h *hard) common() {
	if h.IntN(3) > 0 {
		return
	}
	key, value, words := h.one(hardKeys), h.one(hardValues), h.one(ended)
	old := h.s.TakenAt.Add(-time.Hour)
	fails := map[string]bool{}
	for i := range h.s.Nodes {
		n := &h.s.Nodes[i]
		n.Status.Conditions, n.Spec.Taints = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}, nil
		delete(n.Labels, key)
		if fails[n.Name] = h.IntN(2) == 0; fails[n.Name] {
			n.Labels[key], n.Status.NodeInfo.KernelVersion = value, "6.1.0-acme-hardened"
		} else if h.IntN(4) == 0 {
			n.Labels[key] = h.one(hardValues)
		}
	}
	for i := range h.s.Pods {
		p := &h.s.Pods[i]
		if p.DeletionTimestamp != nil || p.Spec.NodeName == "" {
			continue
		}
		p.Status.Phase = corev1.PodRunning
		p.Status.InitContainerStatuses = nil
		ready, c := corev1.ConditionTrue, corev1.ContainerStatus{Name: "agent", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(old)}}}
		if fails[p.Spec.NodeName] {
			ready, c = corev1.ConditionFalse, corev1.ContainerStatus{Name: "agent", RestartCount: 5, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: words}}}
		}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{c}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(old)}}
	}
}

func (h *hard) events() {
	for range h.IntN(4) {
		h.s.Events = append(h.s.Events, corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: h.s.DaemonSet.Namespace},
			InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Namespace: h.s.DaemonSet.Namespace, Name: h.s.DaemonSet.Name, UID: h.s.DaemonSet.UID},
			Reason:         "FailedCreate", Message: strings.ReplaceAll(h.one(said), "%s", h.s.DaemonSet.Name), Count: int32(h.IntN(3)), Type: "Warning",
			LastTimestamp: metav1.NewTime(h.s.TakenAt.Add(-time.Duration(h.IntN(2)) * time.Minute)), Source: corev1.EventSource{Component: "daemonset-controller"},
		})
	}
	names := map[string]bool{}
	for i := range h.s.Events {
		name := ""
		for name == "" || names[name] {
			name = h.one(hardNames) + "." + fmt.Sprint(h.IntN(1000))
		}
		h.s.Events[i].Name, names[name] = name, true
	}
	slices.SortFunc(h.s.Events, func(a, b corev1.Event) int { return strings.Compare(a.Name, b.Name) })
}

func (h *hard) controller() {
	if h.IntN(4) == 0 {
		holder := h.one([]string{"", "acme-cp-1_5f0ed1b5-0b0e-4b5e-9f6e-0f6f0a5a5b11", "acme", "db-1_acme_x"})
		h.s.Controller = &snapshot.ControllerLease{Exists: true, Holder: holder, AcquiredAt: h.s.TakenAt.Add(-time.Hour), RenewedAt: h.s.TakenAt, DurationSeconds: 15}
	}
}

func (h *hard) others() {
	if h.IntN(3) > 0 || len(h.s.Nodes) == 0 {
		return
	}
	o := &snapshot.OtherPods{AllNodes: true}
	for i := range h.IntN(20) {
		n := &h.s.Nodes[h.IntN(len(h.s.Nodes))]
		row := snapshot.PodRow{Namespace: h.one(hardNames), Name: h.one(hardNames) + fmt.Sprint("-", i), Node: n.Name, Priority: int32(h.IntN(3)), Requests: snapshot.Resources{MilliCPU: 500, Scalar: map[corev1.ResourceName]int64{corev1.ResourceName(h.one(hardResources[2:])): 1}}}
		if h.IntN(3) == 0 {
			row.HostPorts = []snapshot.HostPort{{Port: 80, IP: h.one([]string{"", "0.0.0.0", "10.9.8.7", "fd00::7"})}}
		}
		o.Pods = append(o.Pods, row)
	}
	slices.SortFunc(o.Pods, func(a, b snapshot.PodRow) int {
		return strings.Compare(a.Namespace+"\x00"+a.Name, b.Namespace+"\x00"+b.Name)
	})
	h.s.OtherPods = o
	for i := range h.s.Nodes {
		h.s.Nodes[i].Status.Allocatable = corev1.ResourceList{"pods": resource.MustParse("4"), "cpu": resource.MustParse("1"), "acme.com/fpga": resource.MustParse("1"), "memory": resource.MustParse("1Gi")}
	}
}

func (h *hard) admission() {
	if h.IntN(3) > 0 {
		return
	}
	ns := h.s.DaemonSet.Namespace
	amounts := func() corev1.ResourceList {
		return corev1.ResourceList{"pods": resource.MustParse(fmt.Sprint(h.IntN(9))), corev1.ResourceName("requests." + h.one(hardResources)): resource.MustParse("3"), "count/pods": resource.MustParse("9"), "count/widgets.acme.com": resource.MustParse("1")}
	}
	quota := func(name string) corev1.ResourceQuota {
		q := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
		q.Status.Hard = amounts()
		q.Status.Used = corev1.ResourceList{}
		for name := range q.Status.Hard {
			q.Status.Used[name] = resource.MustParse("2")
		}
		if h.IntN(2) == 0 {
			q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: "PriorityClass", Operator: "In", Values: []string{"acme-high"}}}}
		}
		return q
	}
	h.s.Admission = &snapshot.Admission{
		Namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: map[string]string{
			"kubernetes.io/metadata.name": ns, "pod-security.kubernetes.io/enforce": h.one([]string{"privileged", "baseline", "restricted", "acme"}), "pod-security.kubernetes.io/enforce-version": h.one([]string{"latest", "v1.25", "acme"}),
		}}},
		ServiceAccounts: []corev1.ServiceAccount{{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: h.one([]string{"default", "acme"})}}},
		ResourceQuotas:  []corev1.ResourceQuota{quota("db"), quota("prod"), quota("prod-eu")},
		LimitRanges:     []corev1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "acme"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: "Container", Max: corev1.ResourceList{corev1.ResourceName(h.one(hardResources)): resource.MustParse("2")}}}}}},
		Hooks:           []snapshot.AdmissionHook{{Kind: snapshot.ValidatingWebhook, Name: "acme", Webhook: "policy.acme.com"}, {Kind: snapshot.ValidatingPolicy, Name: "acme"}},
	}
}

// openShift makes the cluster one of OpenShift with a node selector in the
// namespace.
func (h *hard) openShift() {
	if h.IntN(4) > 0 {
		return
	}
	selectors := []string{"", h.one(hardKeys) + "=" + h.one(hardValues), h.one(hardKeys) + " in (a-b, " + h.one(hardValues) + ") ,!acme.com/rack", h.one(hardKeys) + ">5", h.one(hardKeys) + "!=a, team", "acme.com/rack==b,zone-group notin (b)", "no selector of acme!"}
	h.s.OpenShift = &snapshot.OpenShift{Namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: h.s.DaemonSet.Namespace}}, DefaultNodeSelector: h.one(selectors)}
	if h.IntN(2) == 0 {
		h.s.OpenShift.Namespace.Annotations = map[string]string{h.one([]string{snapshot.NodeSelectorAnnotation, snapshot.ProjectNodeSelectorAnnotation}): h.one(selectors)}
	}
	for i := range h.s.Nodes {
		h.s.Nodes[i].Labels["node.openshift.io/os_id"] = "rhcos"
	}
}

// blame adds messages of kubelets that show whose fault it is that pods fail.
func (h *hard) blame() {
	for i := range h.s.Pods {
		p := &h.s.Pods[i]
		if h.IntN(4) > 0 || p.Status.Phase == "" || p.DeletionTimestamp != nil {
			continue
		}
		for j := range p.Status.Conditions {
			if c := &p.Status.Conditions[j]; c.Type == corev1.PodReady {
				c.Status = corev1.ConditionFalse
			}
		}
		waiting := corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
		switch h.IntN(3) {
		case 0:
			p.Status.Phase, p.Status.Reason, p.Status.Message, p.Status.ContainerStatuses = corev1.PodFailed, "Evicted", h.one(evicted), nil
			continue
		case 1:
			of := waits[h.IntN(len(waits))]
			waiting = corev1.ContainerStateWaiting{Reason: of[0], Message: of[1]}
		default:
			h.s.Events = append(h.s.Events, corev1.Event{
				ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: fmt.Sprint("mount-", i)}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
				Reason: "FailedMount", Message: h.one(mounts), Type: "Warning", LastTimestamp: metav1.NewTime(h.s.TakenAt.Add(-time.Minute)), Source: corev1.EventSource{Component: "kubelet"},
			})
		}
		p.Status.InitContainerStatuses = nil
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: h.one([]string{"agent", "agent", "sidecar-acme"}), State: corev1.ContainerState{Waiting: &waiting}}}
	}
	slices.SortFunc(h.s.Events, func(a, b corev1.Event) int { return strings.Compare(a.Name, b.Name) })
}

// renamed returns the state with other names of nodes, pods, the DaemonSet, its
// namespace and its revisions, sorted by name as a reader returns it.
func (h *hard) renamed() *snapshot.Snapshot {
	raw, err := snapshot.Encode(h.s)
	if err != nil {
		panic(err)
	}
	text := string(raw)
	used := map[string]bool{}
	fresh := func(parts int) string {
		for {
			var all []string
			for range parts {
				all = append(all, h.one(hardNames))
			}
			if name := strings.Join(all, "-"); !used[name] {
				used[name] = true
				return name
			}
		}
	}
	to := map[string]string{}
	for _, n := range h.s.Nodes {
		to[n.Name] = fresh(3)
	}
	for i := range h.s.Pods {
		if p := &h.s.Pods[i]; p.Spec.NodeName != "" && to[p.Spec.NodeName] == "" {
			to[p.Spec.NodeName] = fresh(3)
		}
	}
	for i := range h.s.Pods {
		to[h.s.Pods[i].Name] = fresh(4)
	}
	quoted := regexp.MustCompile(`"[^"\\]*"`)
	ds := fresh(2)
	text = quoted.ReplaceAllStringFunc(text, func(word string) string {
		name := word[1 : len(word)-1]
		if to[name] != "" {
			return `"` + to[name] + `"`
		}
		if rest, is := strings.CutPrefix(name, dstest.Name+"-"); is {
			return `"` + ds + "-" + rest + `"`
		}
		return word
	})
	text = regexp.MustCompile(` on node ([^,"]*),`).ReplaceAllStringFunc(text, func(words string) string {
		node := words[len(" on node ") : len(words)-1]
		if to[node] != "" {
			node = to[node]
		}
		return " on node " + node + ","
	})
	var s snapshot.Snapshot
	var d struct {
		snapshot.Snapshot
		Kind, APIVersion string
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		panic(err)
	}
	s = d.Snapshot
	s.DaemonSet.Name = ds
	own := func(refs []metav1.OwnerReference) {
		for i := range refs {
			if refs[i].Kind == "DaemonSet" && refs[i].Name == dstest.Name {
				refs[i].Name = ds
			}
		}
	}
	for i := range s.Revisions {
		own(s.Revisions[i].OwnerReferences)
		if h.IntN(20) == 0 {
			s.Revisions[i].Name = fresh(2)
		}
	}
	for i := range s.Pods {
		own(s.Pods[i].OwnerReferences)
	}
	for i := range s.Events {
		if o := &s.Events[i].InvolvedObject; o.Kind == "DaemonSet" {
			o.Name = ds
		}
	}
	slices.SortFunc(s.Revisions, func(a, b appsv1.ControllerRevision) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Nodes, func(a, b corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	if err := snapshot.Validate(&s); err != nil {
		panic(err)
	}
	return &s
}
