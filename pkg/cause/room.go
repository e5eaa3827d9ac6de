package cause

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Room is whether a pod of the current template would fit on a node that has none or, if a pod waits there for the
// scheduler, whether that pod fits.
type Room struct {
	Code RoomCode `json:"code"` // whether it would fit now

	// the amounts that the pod requests: cpu, memory, ephemeral storage, other resources by name, number of
	// pods. Empty if the amounts are unknown, and for `Unknown`
	Amounts []RoomAmount `json:"amounts"`

	// for `Preempts`, the pods that are preempted, as `namespace/name`, the most important first; otherwise empty
	Preempts []string `json:"preempts"`
	Victims  `json:",inline"`

	// all scheduler plugins that reject the node, in order; the scheduler itself reports only the first
	Rejections []Rejection `json:"rejections"`

	// for `DoesNotFit` and `Waits`, the facts of the [problem](#problems); otherwise empty
	Facts daemonset.Facts `json:"facts"`

	// scheduler rules that the template uses and that are not computed:
	// [rules](#rules-of-the-scheduler-that-are-not-computed)
	NotModelled []fit.Unmodelled `json:"notModelled"`
}

// Victims describes how certain it is which pods the scheduler preempts.
type Victims struct {
	// whether the scheduler preempts exactly these pods. If not, it may pick other pods of the same
	// importance, or a PodDisruptionBudget may protect one of these pods because the number of allowed
	// disruptions is unknown
	Certain bool `json:"certain"`

	// pods of lower priority that may be preempted instead of some of these, as `namespace/name`, the most important
	// first; empty if `certain`
	Others []string `json:"others"`
	Fewest int      `json:"fewest"` // the fewest pods that are preempted
	Most   int      `json:"most"`   // the most pods that are preempted

	// the pods among these that a PodDisruptionBudget protects because it allows no more disruptions; the
	// scheduler preempts them nevertheless
	Violates []string `json:"violates"`
	Budgets  []string `json:"budgets"` // these PodDisruptionBudgets, as `namespace/name`, sorted
}

// Rejection is a scheduler plugin that rejects a node, and one reason why.
type Rejection struct {
	Plugin string          `json:"plugin"` // its name
	Facts  daemonset.Facts `json:"facts"`  // as the facts of a [problem](#problems) with the code `DoesNotFit`
}

// RoomCode is whether a pod would fit on a node.
type RoomCode string

const (
	RoomFits     RoomCode = "Fits"       // it would fit
	RoomPreempts RoomCode = "Preempts"   // it would fit once the scheduler has preempted pods of lower priority
	RoomWaits    RoomCode = "Waits"      // the waiting pod fits once other pods of the node are gone
	RoomNot      RoomCode = "DoesNotFit" // it would not fit, and preemption makes no room
	RoomUnknown  RoomCode = "Unknown"    // something that decides it could not be read
)

// RoomAmount is what a pod requests of a resource and what a node has, as quantities.
type RoomAmount struct {
	Resource    string `json:"resource"`    // `cpu`, `memory`; `pods` for the number of pods
	Requested   string `json:"requested"`   // how much the pod requests, such as `250m`
	Free        string `json:"free"`        // how much the other pods leave
	Allocatable string `json:"allocatable"` // the total of the node
}

// wantsPod reports whether an eligible node has no pod, or only one that waits for the scheduler.
func wantsPod(n *daemonset.Node) bool {
	return n.Object != nil && n.ShouldRun.OK && (len(n.Pods) == 0 || waitingPod(n) != nil)
}

// waitingPod returns the pod of a node that waits for the scheduler, or nil if there is none.
func waitingPod(n *daemonset.Node) *daemonset.Pod {
	if p := relevantPod(n); p != nil && unscheduled(*p) {
		return p
	}
	return nil
}

// Room returns whether the next pod would fit on a node, or whether the pod fits that waits there for the scheduler. It
// returns nil if the node is not eligible or has a pod, and if the other pods of the node may decide but reading them
// was not requested.
func (cs *Causes) Room(n *daemonset.Node) *Room {
	if !wantsPod(n) {
		return nil
	}
	w, beside := cs.fits().wanted, []snapshot.PodRow(nil)
	v, known := cs.NewPod(n)
	if p := waitingPod(n); p != nil {
		w, beside = cs.withVolumes(fit.Of(p.Object), &p.Object.Spec), cs.besideOf(n, p.Name)
		v, known = cs.decide(&w, n, beside)
	}
	r := &Room{Code: RoomUnknown, Amounts: []RoomAmount{}, Rejections: []Rejection{}, Facts: daemonset.Facts{},
		NotModelled: append([]fit.Unmodelled{}, cs.notModelled(w.Unmodelled)...)}
	r.Preempts, r.Victims = VictimsOf(nil)
	switch unasked := !cs.s.OtherPods.Of(n.Name) && !cs.s.Lacks(snapshot.PodsOfOthers); {
	case !known && unasked:
		return nil
	case !known:
		return r
	}
	node := cs.nodeOf(n, beside)
	r.Amounts = cs.amounts(&w, node)
	switch c := cs.nodes[n.Name]; {
	case v.Fits:
		r.Code = RoomFits
	case v.Preemption.Outcome == fit.VictimsNotCounted:
	case v.Preemption.Outcome == fit.Possible:
		r.Code = RoomPreempts
		r.Preempts, r.Victims = VictimsOf(&v.Preemption)
	case c != nil && c.Code == WaitingForRoom:
		r.Code, r.Facts = RoomWaits, c.Facts
	default:
		r.Code, r.Facts = RoomNot, cs.fitFacts(&v, n)
		r.Rejections = cs.rejections(&w, node, n, &v)
	}
	return r
}

// rejections returns each reason for which a plugin rejects a node: each missing resource, and otherwise the first port
// or volume.
func (cs *Causes) rejections(w *fit.Wanted, node *fit.Node, n *daemonset.Node, first *fit.Verdict) (out []Rejection) {
	for _, v := range cs.fits().profile.Rejections(w, node) {
		v.Preemption = first.Preemption
		each := []fit.Verdict{v}
		if len(v.Lacks) > 1 {
			each = nil
			for i := range v.Lacks {
				one := v
				one.Lacks = v.Lacks[i : i+1]
				each = append(each, one)
			}
		}
		for i := range each {
			out = append(out, Rejection{string(v.Reason), cs.fitFacts(&each[i], n)})
		}
	}
	return out
}

// VictimsOf returns the pods that a preemption deletes, as `namespace/name`; none if p is nil.
func VictimsOf(p *fit.Preemption) (pods []string, v Victims) {
	pods, v = []string{}, Victims{Others: []string{}, Violates: []string{}, Budgets: []string{}}
	if p == nil {
		return pods, v
	}
	v.Certain, v.Fewest, v.Most = p.Certain, p.Fewest, p.Most
	for _, x := range p.Victims {
		pods = append(pods, x.Namespace+"/"+x.Name)
		if len(x.Violates) > 0 {
			v.Violates = append(v.Violates, x.Namespace+"/"+x.Name)
		}
		for _, b := range x.Violates {
			v.Budgets = append(v.Budgets, x.Namespace+"/"+b)
		}
	}
	for _, x := range p.Others {
		v.Others = append(v.Others, x.Namespace+"/"+x.Name)
	}
	slices.Sort(v.Budgets)
	v.Budgets = slices.Compact(v.Budgets)
	return pods, v
}

// amounts returns what a pod requests of a node, the number of pods last.
func (cs *Causes) amounts(w *fit.Wanted, node *fit.Node) []RoomAmount {
	f, out := cs.fits(), []RoomAmount{}
	if !cs.s.OtherPods.Of(node.Node.Name) {
		return out
	}
	for _, l := range f.profile.Amounts(w, node) {
		out = append(out, RoomAmount{string(l.Resource), AmountIn(l.Resource, l.Requested),
			AmountIn(l.Resource, max(0, l.Allocatable-l.Used)), AmountIn(l.Resource, l.Allocatable)})
	}
	return slices.Concat(out[min(1, len(out)):], out[:min(1, len(out))])
}
