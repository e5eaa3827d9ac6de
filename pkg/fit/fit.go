// Package fit decides whether the scheduler would place a pod on a node and, if
// not, why, and whether preemption would make room. It implements the default
// plugins of kube-scheduler v1.30 to v1.37 that matter for pods of DaemonSets.
// Wanted.Unmodelled lists what it does not implement.
package fit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Node is a node with what the scheduler counts on it.
type Node struct {
	Node    *corev1.Node
	Pods    []snapshot.PodRow           // those that run there, and those nominated to it
	Budgets []snapshot.DisruptionBudget // those that the pods name
	Drivers map[string]Driver           // by name of the CSI driver; a driver that is missing has no limit
}

// Driver is a CSI driver on a node.
type Driver struct {
	Limit    int      // how many volumes it attaches, according to the CSINode
	Used     []string // handles of the volumes that the node's pods use
	Attached int      // other attached volumes, which no pod of the node uses
}

// Verdict is the scheduler's decision about a pod and a node.
type Verdict struct {
	// Unreadable are objects whose amounts cannot be counted. If there are any,
	// nothing is decided, and no other field is set.
	Unreadable []Unreadable

	Fits       bool
	Reason     Reason // the first plugin that rejects; empty if it fits
	Resolvable bool   // removing pods might resolve it, so the scheduler tries preemption

	Taint *corev1.Taint // TaintToleration: the first one that is not tolerated
	Ports []PortTaken   // NodePorts: in the order of the pod's ports
	Lacks []Lack        // NodeResourcesFit: pods, cpu, memory, ephemeral storage, then others by name

	// NoAllocatable: NodeResourcesFit, and the node does not report what it can
	// allocate, as before its kubelet has registered it completely
	NoAllocatable bool

	Volume     *Volume      // NodeVolumeLimits, VolumeBinding, VolumeZone: the volume
	Unmodelled []Unmodelled // what the pod has that was not checked

	Preemption Preemption
}

// Unreadable is an object with amounts that are negative, or too large to
// count.
type Unreadable struct {
	Kind            string // Node or Pod
	Namespace, Name string // the pod to place may have no name
	Resources       []corev1.ResourceName
}

// Lack is a resource that the node has too little of. Amounts are in the
// scheduler's units: thousandths of a CPU, otherwise whole numbers or bytes.
type Lack struct {
	Resource    corev1.ResourceName // pods for the number of pods
	Requested   int64               // by the pod
	Used        int64               // by the pods that count on the node
	Allocatable int64               // by the node
	Missing     int64               // how much has to become free; more than Used if the node is too small
}

// Beyond reports whether the request exceeds what the whole node has.
func (l Lack) Beyond() bool { return l.Resource != corev1.ResourcePods && l.Requested > l.Allocatable }

// PortTaken is a requested host port that is not free.
type PortTaken struct {
	Port    snapshot.HostPort
	Holders []Holder // by namespace and name
}

// Holder is a pod that counts on a node.
type Holder struct {
	Namespace, Name string
	Nominated       bool // it is not on the node yet
}

// On returns the scheduler's decision about a pod and a node.
func (r Profile) On(w *Wanted, n *Node) Verdict {
	s, unreadable := r.newRoom(w, n)
	if len(unreadable) > 0 {
		return Verdict{Unreadable: unreadable}
	}
	v := s.filter()
	v.Unmodelled = w.Unmodelled
	for _, l := range v.Lacks {
		if l.Allocatable == 0 && extended(l.Resource) {
			v.Unmodelled = inOrder(append(v.Unmodelled[:len(v.Unmodelled):len(v.Unmodelled)], DeviceClasses))
		}
	}
	v.Preemption = s.preempt(&v)
	return v
}

// Amounts returns what a pod requests and what a node has of it: the number of
// pods, cpu, memory, ephemeral storage, then others by name. Missing is 0 or
// negative if the node has enough. Amounts returns nil if an amount cannot be
// counted.
func (r Profile) Amounts(w *Wanted, n *Node) []Lack {
	s, unreadable := r.newRoom(w, n)
	if len(unreadable) > 0 {
		return nil
	}
	return s.amounts()
}

// Rejections returns the verdict of each plugin that rejects the node, in the
// scheduler's order. The scheduler itself stops at the first. Rejections
// returns nil if an amount cannot be counted.
func (r Profile) Rejections(w *Wanted, n *Node) (out []Verdict) {
	s, unreadable := r.newRoom(w, n)
	if len(unreadable) > 0 {
		return nil
	}
	for _, plugin := range plugins {
		if v, rejected := plugin(s); rejected {
			out = append(out, v)
		}
	}
	return out
}

// filter runs the plugins in the scheduler's order, up to the first that
// rejects.
func (s *room) filter() Verdict {
	for _, plugin := range plugins {
		if v, rejected := plugin(s); rejected {
			return v
		}
	}
	return Verdict{Fits: true}
}

// plugins are the scheduler's filters in order; those that only read the node
// are one.
var plugins = []func(*room) (Verdict, bool){
	(*room).ofNode,
	func(s *room) (Verdict, bool) {
		taken := s.portsTaken()
		return Verdict{Reason: NodePorts, Resolvable: true, Ports: taken}, len(taken) > 0
	},
	func(s *room) (Verdict, bool) {
		lacks := s.lacks()
		return Verdict{
			Reason: NodeResourcesFit, Resolvable: !s.UnresolvableRequests || !beyond(lacks), Lacks: lacks,
			NoAllocatable: len(s.node.Node.Status.Allocatable) == 0,
		}, len(lacks) > 0
	},
	func(s *room) (Verdict, bool) {
		v := s.overLimit()
		return Verdict{Reason: NodeVolumeLimits, Resolvable: true, Volume: v}, v != nil
	},
	func(s *room) (Verdict, bool) {
		v := s.outOfReach()
		return Verdict{Reason: VolumeBinding, Volume: v}, v != nil
	},
	func(s *room) (Verdict, bool) {
		v := s.outOfZone()
		return Verdict{Reason: VolumeZone, Volume: v}, v != nil
	},
}

// ofNode runs the plugins that only read the node. Removing pods does not
// resolve their rejections.
func (s *room) ofNode() (v Verdict, rejected bool) {
	node, w := s.node.Node, s.wanted
	cordoned := node.Spec.Unschedulable &&
		!tolerates(w.Tolerations, &corev1.Taint{Key: corev1.TaintNodeUnschedulable,
			Effect: corev1.TaintEffectNoSchedule})
	taint := firstUntolerated(node.Spec.Taints, w.Tolerations)
	matches, _ := w.affinity.Match(node) // an invalid term matches nothing
	switch {
	case w.only != nil && !slices.Contains(w.only, node.Name):
		return Verdict{Reason: NodeAffinity}, true
	case cordoned:
		return Verdict{Reason: NodeUnschedulable}, true
	case taint != nil:
		return Verdict{Reason: TaintToleration, Taint: taint}, true
	case !matches:
		return Verdict{Reason: NodeAffinity}, true
	}
	return Verdict{}, false
}

func beyond(lacks []Lack) bool {
	for _, l := range lacks {
		if l.Beyond() {
			return true
		}
	}
	return false
}

// firstUntolerated returns the first taint that keeps off pods with these
// tolerations, or nil.
func firstUntolerated(taints []corev1.Taint, tolerations []corev1.Toleration) *corev1.Taint {
	for i := range taints {
		if t := &taints[i]; (t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute) &&
			!tolerates(tolerations, t) {
			return t
		}
	}
	return nil
}

// tolerates reports whether any of the tolerations tolerates the taint. Those
// that compare numbers tolerate nothing: they are alpha and off by default in
// v1.35 to v1.37.
func tolerates(tolerations []corev1.Toleration, taint *corev1.Taint) bool {
	for _, t := range tolerations {
		if (t.Effect != "" && t.Effect != taint.Effect) || (t.Key != "" && t.Key != taint.Key) {
			continue
		}
		if t.Operator == corev1.TolerationOpExists || (t.Operator == "" || t.Operator == corev1.TolerationOpEqual) &&
			t.Value == taint.Value {
			return true
		}
	}
	return false
}
