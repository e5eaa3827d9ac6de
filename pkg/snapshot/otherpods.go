package snapshot

import (
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/resource"
)

// OtherPods are the pods on nodes that do not belong to the DaemonSet, as the
// scheduler counts them when it decides whether another pod fits. They are read
// only to decide that.
type OtherPods struct {
	AllNodes bool     `json:"allNodes"` // the pods of all nodes were read
	Nodes    []string `json:"nodes"`    // otherwise, the nodes whose pods were read, sorted

	Pods []PodRow `json:"pods"` // the pods, sorted by namespace and name
	// the PodDisruptionBudgets that select any of them, by namespace and name
	Budgets []DisruptionBudget `json:"budgets"`
}

// PodRow is one pod as the scheduler counts it.
type PodRow struct {
	Namespace string `json:"namespace"` // the namespace of the pod
	Name      string `json:"name"`      // its name

	// the node on which it runs or, if `nominated`, the node that is reserved for it
	Node string `json:"node"`

	// it is not on the node yet, but its place there is reserved; otherwise
	// absent
	Nominated bool `json:"nominated,omitempty"`
	// it is nominated and has scheduling gates, which matters since v1.37; otherwise absent
	Gated bool `json:"gated,omitempty"`
	// it has a deletion timestamp, and counts until it is gone; otherwise
	// absent
	Terminating bool `json:"terminating,omitempty"`
	// it is terminating because the scheduler preempted it; otherwise absent
	Preempted bool `json:"preempted,omitempty"`

	// when its grace period ends; absent if it is not terminating, and in older files
	EndsBy    *metav1.Time `json:"endsBy,omitempty"`
	Priority  int32        `json:"priority"`            // its priority; 0 if it has none
	StartTime *metav1.Time `json:"startTime,omitempty"` // `status.startTime`; absent before a kubelet saw it
	Requests  Resources    `json:"requests"`            // the amounts that the scheduler counts for it
	// the node's ports that it uses, in the order of its containers; absent if
	// none
	HostPorts []HostPort `json:"hostPorts,omitempty"`

	// requested resources with amounts that cannot be counted because they are negative or too large, sorted;
	// absent if none
	Unreadable []corev1.ResourceName `json:"unreadable,omitempty"`

	// names of the PodDisruptionBudgets of its namespace that select it, sorted; absent if there are none
	Budgets []string `json:"budgets,omitempty"`
}

// Resources are the amounts that pods request, in the scheduler's units.
type Resources struct {
	MilliCPU         int64 `json:"milliCPU,omitempty"`         // thousandths of a CPU; absent if 0
	Memory           int64 `json:"memory,omitempty"`           // bytes; absent if 0
	EphemeralStorage int64 `json:"ephemeralStorage,omitempty"` // bytes; absent if 0

	// extended resources, huge pages and attachable volumes, by name; absent if none
	Scalar map[corev1.ResourceName]int64 `json:"scalar,omitempty"`
}

// HostPort is a port of the node that a container uses.
type HostPort struct {
	IP       string          `json:"ip,omitempty"`       // the address; absent for all addresses
	Protocol corev1.Protocol `json:"protocol,omitempty"` // absent: TCP
	Port     int32           `json:"port"`               // the number
	// a sidecar uses it, which matters since v1.33; otherwise absent
	Sidecar bool `json:"sidecar,omitempty"`
}

// DisruptionBudget is what the scheduler reads of a PodDisruptionBudget.
type DisruptionBudget struct {
	Namespace string `json:"namespace"` // its namespace
	Name      string `json:"name"`      // its name

	Allowed   int32    `json:"allowed"`             // `status.disruptionsAllowed`
	Disrupted []string `json:"disrupted,omitempty"` // pods whose eviction is counted already, sorted; absent if none
}

// Of reports whether the pods of a node were read.
func (o *OtherPods) Of(node string) bool {
	return o != nil && (o.AllNodes || slices.Contains(o.Nodes, node))
}

// RowOf returns a pod as the scheduler counts it, without its
// PodDisruptionBudgets. ok is false for a pod that the scheduler does not
// count: one that has ended, one without a node or nomination, and one that
// another scheduler nominated.
//
// During an in-place resize, the largest of the requests in the spec, those
// that the kubelet allocated and those in effect counts, as since v1.33
// (KEP-1287).
func RowOf(p *corev1.Pod) (row PodRow, ok bool) {
	node := p.Spec.NodeName
	if node == "" {
		node = p.Status.NominatedNodeName
	}
	others := p.Spec.NodeName == "" && p.Spec.SchedulerName != "" && p.Spec.SchedulerName != corev1.DefaultSchedulerName
	if node == "" || others || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return PodRow{}, false
	}
	row = PodRow{
		Namespace: p.Namespace, Name: p.Name, Node: node, Nominated: p.Spec.NodeName == "",
		Terminating: p.DeletionTimestamp != nil,
		Gated:       p.Spec.NodeName == "" && len(p.Spec.SchedulingGates) > 0, Preempted: preempted(p),
		EndsBy: p.DeletionTimestamp, StartTime: p.Status.StartTime, HostPorts: HostPortsOf(&p.Spec),
	}
	requests := requestsOf(p)
	row.Requests, row.Unreadable = ResourcesOf(requests), UnreadableOf(requests)
	if p.Spec.Priority != nil {
		row.Priority = *p.Spec.Priority
	}
	return row, true
}

// preempted reports whether a pod is terminating because the scheduler preempted it.
func preempted(p *corev1.Pod) bool {
	return p.DeletionTimestamp != nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue &&
			c.Reason == corev1.PodReasonPreemptionByScheduler
	})
}

// RequestsOf returns what the scheduler counts for a pod: its containers, init
// containers and sidecars, its overhead, and its pod-level requests.
func RequestsOf(p *corev1.Pod) Resources { return ResourcesOf(requestsOf(p)) }

func requestsOf(p *corev1.Pod) corev1.ResourceList {
	return resource.PodRequests(p, resource.PodResourcesOptions{UseStatusResources: true,
		InPlacePodLevelResourcesVerticalScalingEnabled: true})
}

// UnreadableOf returns the resources, sorted, whose amounts the scheduler
// cannot count correctly: those that are negative, or at least 2^63 in its
// units.
func UnreadableOf(l corev1.ResourceList) (out []corev1.ResourceName) {
	for name, q := range l {
		if !readable(name, q) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func readable(name corev1.ResourceName, q quantity.Quantity) bool {
	most := quantity.NewQuantity(math.MaxInt64, quantity.DecimalSI)
	if name == corev1.ResourceCPU {
		most = quantity.NewMilliQuantity(math.MaxInt64, quantity.DecimalSI)
	}
	return q.Sign() >= 0 && q.Cmp(*most) <= 0
}

// ResourcesOf returns amounts in the scheduler's units, without the resources
// that UnreadableOf returns.
func ResourcesOf(l corev1.ResourceList) (r Resources) {
	for name, q := range l {
		if !readable(name, q) {
			continue
		}
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

// HostPortsOf returns the ports of the node that a pod uses.
func HostPortsOf(spec *corev1.PodSpec) (out []HostPort) {
	add := func(c *corev1.Container, sidecar bool) {
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				out = append(out, HostPort{p.HostIP, p.Protocol, p.HostPort, sidecar})
			}
		}
	}
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; c.RestartPolicy != nil &&
			*c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c, true)
		}
	}
	for i := range spec.Containers {
		add(&spec.Containers[i], false)
	}
	return out
}

// BudgetsOf sets in each row the PodDisruptionBudgets that select the pod, and
// returns those that select any of them. labelsOf has the labels of each row's
// pod.
func BudgetsOf(rows []PodRow, labelsOf []map[string]string, all []policyv1.PodDisruptionBudget) []DisruptionBudget {
	b := NewBudgets(all)
	for i := range rows {
		rows[i].Budgets = b.Of(rows[i].Namespace, labelsOf[i])
	}
	return b.In(rows)
}

// Budgets finds the PodDisruptionBudgets that select a pod.
type Budgets struct {
	in map[string][]budget // by namespace, by name
}

type budget struct {
	is       DisruptionBudget
	selector labels.Selector
}

// NewBudgets returns the Budgets of all namespaces. As in the scheduler, a
// budget whose selector is empty or invalid selects no pod.
func NewBudgets(all []policyv1.PodDisruptionBudget) *Budgets {
	b := &Budgets{map[string][]budget{}}
	for i := range all {
		o := &all[i]
		if s, err := metav1.LabelSelectorAsSelector(o.Spec.Selector); err == nil && !s.Empty() {
			is := DisruptionBudget{o.Namespace, o.Name, o.Status.DisruptionsAllowed,
				slices.Sorted(maps.Keys(o.Status.DisruptedPods))}
			b.in[o.Namespace] = append(b.in[o.Namespace], budget{is, s})
		}
	}
	for _, of := range b.in {
		slices.SortFunc(of, func(a, b budget) int { return strings.Compare(a.is.Name, b.is.Name) })
	}
	return b
}

// Of returns the names, sorted, of the budgets that select a pod of a namespace
// with these labels, or nil. As in the scheduler, none selects a pod without
// labels.
func (b *Budgets) Of(namespace string, of map[string]string) (names []string) {
	for _, o := range b.in[namespace] {
		if len(of) > 0 && o.selector.Matches(labels.Set(of)) {
			names = append(names, o.is.Name)
		}
	}
	return names
}

// In returns the budgets that the rows name, by namespace and name.
func (b *Budgets) In(rows []PodRow) (out []DisruptionBudget) {
	named := map[string]map[string]bool{}
	for i := range rows {
		for _, name := range rows[i].Budgets {
			if named[rows[i].Namespace] == nil {
				named[rows[i].Namespace] = map[string]bool{}
			}
			named[rows[i].Namespace][name] = true
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(named)) {
		for _, o := range b.in[namespace] {
			if named[namespace][o.is.Name] {
				out = append(out, o.is)
			}
		}
	}
	return out
}
