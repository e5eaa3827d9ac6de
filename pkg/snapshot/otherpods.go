package snapshot

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/resource"
)

// OtherPods are the pods on nodes that are not the DaemonSet's: what the
// scheduler counts there when it decides whether a further pod fits. They are
// read only for a question about fit.
type OtherPods struct {
	AllNodes bool     `json:"allNodes"` // those of all nodes were read
	Nodes    []string `json:"nodes"`    // otherwise, the nodes whose pods were read, sorted

	Pods    []PodRow           `json:"pods"`    // by namespace and name
	Budgets []DisruptionBudget `json:"budgets"` // the PodDisruptionBudgets that select any of them, by namespace and name
}

// PodRow is one pod as the scheduler counts it, and nothing else of it.
type PodRow struct {
	Namespace string `json:"namespace"` // the namespace of the pod
	Name      string `json:"name"`      // its name

	// where it runs or, if `nominated`, the node that is kept for it
	Node string `json:"node"`

	Nominated   bool         `json:"nominated,omitempty"`   // it is not on the node yet, but its place there is reserved; absent if it is on it
	Terminating bool         `json:"terminating,omitempty"` // it has a deletion timestamp, and counts until it is gone; absent if not
	Priority    int32        `json:"priority"`              // its priority; 0 if it has none
	StartTime   *metav1.Time `json:"startTime,omitempty"`   // `status.startTime`; absent before a kubelet saw it
	Requests    Resources    `json:"requests"`              // what the scheduler counts for it
	HostPorts   []HostPort   `json:"hostPorts,omitempty"`   // the ports of the node that it takes, in the order of its containers; absent if none

	// names of the PodDisruptionBudgets of its namespace that select it, sorted; absent if none does
	Budgets []string `json:"budgets,omitempty"`
}

// Resources are amounts of what pods request, in the scheduler's units.
type Resources struct {
	MilliCPU         int64 `json:"milliCPU,omitempty"`         // thousandths of a CPU; absent if 0
	Memory           int64 `json:"memory,omitempty"`           // bytes; absent if 0
	EphemeralStorage int64 `json:"ephemeralStorage,omitempty"` // bytes; absent if 0

	// extended resources, huge pages and attachable volumes, by name; absent if none
	Scalar map[corev1.ResourceName]int64 `json:"scalar,omitempty"`
}

// HostPort is a port of the node that a container takes.
type HostPort struct {
	IP       string          `json:"ip,omitempty"`       // the address; absent for all of them
	Protocol corev1.Protocol `json:"protocol,omitempty"` // absent: TCP
	Port     int32           `json:"port"`               // the number
}

// DisruptionBudget is what the scheduler asks of a PodDisruptionBudget.
type DisruptionBudget struct {
	Namespace string `json:"namespace"` // its namespace
	Name      string `json:"name"`      // its name

	Allowed   int32    `json:"allowed"`             // `status.disruptionsAllowed`
	Disrupted []string `json:"disrupted,omitempty"` // pods whose eviction is counted already, sorted; absent if none
}

// Of reports whether the pods of the node were read.
func (o *OtherPods) Of(node string) bool {
	return o != nil && (o.AllNodes || slices.Contains(o.Nodes, node))
}

// RowOf returns a pod as the scheduler counts it, without its PodDisruptionBudgets.
// ok is false for a pod that takes no room: one that has ended, and one that is
// neither on a node nor nominated to one.
//
// In-place resize counts with the largest of what the spec asks for, what the
// kubelet has allocated and what is in effect, as from v1.33 on (KEP-1287).
func RowOf(p *corev1.Pod) (row PodRow, ok bool) {
	node := p.Spec.NodeName
	if node == "" {
		node = p.Status.NominatedNodeName
	}
	if node == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return PodRow{}, false
	}
	row = PodRow{
		Namespace: p.Namespace, Name: p.Name, Node: node, Nominated: p.Spec.NodeName == "", Terminating: p.DeletionTimestamp != nil,
		StartTime: p.Status.StartTime, Requests: RequestsOf(p), HostPorts: HostPortsOf(&p.Spec),
	}
	if p.Spec.Priority != nil {
		row.Priority = *p.Spec.Priority
	}
	return row, true
}

// RequestsOf returns what the scheduler counts for a pod: its containers, its init
// containers and sidecars, its overhead, and what the pod requests as a whole.
func RequestsOf(p *corev1.Pod) Resources {
	return ResourcesOf(resource.PodRequests(p, resource.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true}))
}

// ResourcesOf returns amounts in the scheduler's units.
func ResourcesOf(l corev1.ResourceList) (r Resources) {
	for name, q := range l {
		switch name {
		case corev1.ResourceCPU:
			r.MilliCPU = q.MilliValue()
		case corev1.ResourceMemory:
			r.Memory = q.Value()
		case corev1.ResourceEphemeralStorage:
			r.EphemeralStorage = q.Value()
		case corev1.ResourcePods:
		default:
			if r.Scalar == nil {
				r.Scalar = map[corev1.ResourceName]int64{}
			}
			r.Scalar[name] = q.Value()
		}
	}
	return r
}

// HostPortsOf returns the ports of the node that a pod takes.
func HostPortsOf(spec *corev1.PodSpec) (out []HostPort) {
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				out = append(out, HostPort{p.HostIP, p.Protocol, p.HostPort})
			}
		}
	}
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c)
		}
	}
	for i := range spec.Containers {
		add(&spec.Containers[i])
	}
	return out
}

// BudgetsOf names in each row the PodDisruptionBudgets that select the pod, and
// returns those that select any of them. labels are those of each row's pod.
func BudgetsOf(rows []PodRow, labelsOf []map[string]string, all []policyv1.PodDisruptionBudget) []DisruptionBudget {
	byNamespace := map[string][]*selecting{}
	for i := range all {
		b := &all[i]
		if s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err == nil && !s.Empty() { // for the scheduler an empty one selects nothing
			byNamespace[b.Namespace] = append(byNamespace[b.Namespace], &selecting{b, s, false})
		}
	}
	for i := range rows {
		for _, s := range byNamespace[rows[i].Namespace] {
			if s.selector.Matches(labels.Set(labelsOf[i])) {
				rows[i].Budgets, s.used = append(rows[i].Budgets, s.of.Name), true
			}
		}
		slices.Sort(rows[i].Budgets)
	}
	var out []DisruptionBudget
	for i := range all {
		for _, s := range byNamespace[all[i].Namespace] {
			if s.of == &all[i] && s.used {
				out = append(out, DisruptionBudget{all[i].Namespace, all[i].Name, all[i].Status.DisruptionsAllowed, slices.Sorted(maps.Keys(all[i].Status.DisruptedPods))})
			}
		}
	}
	slices.SortFunc(out, func(a, b DisruptionBudget) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return out
}

type selecting struct {
	of       *policyv1.PodDisruptionBudget
	selector labels.Selector
	used     bool
}
