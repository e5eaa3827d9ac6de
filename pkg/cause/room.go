package cause

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Room is whether a pod of the current template would fit on a node that has none, or whether
// the one fits that waits there for the scheduler.
type Room struct {
	Code RoomCode `json:"code"` // whether it would fit now

	// what the pod requests, in the order cpu, memory, ephemeral storage and others by name; then the number of pods.
	// Empty where an amount cannot be counted, and for `Unknown`
	Amounts []RoomAmount `json:"amounts"`

	// for `Preempts`, the pods that go, as `namespace/name`, the most important first; otherwise empty
	Preempts []string `json:"preempts"`
	Victims  `json:",inline"`

	// every plugin of the scheduler that rejects the node, in its order; it reports the first only
	Rejections []Rejection `json:"rejections"`

	// for `DoesNotFit` and `Waits`, those of the [problem](#problems); otherwise empty
	Facts daemonset.Facts `json:"facts"`

	// what the template asks of the scheduler and is not computed:
	// [rules](#rules-of-the-scheduler-that-are-not-computed)
	NotModelled []fit.Unmodelled `json:"notModelled"`
}

// Victims says of the pods that the scheduler removes to make room whether they are certain.
type Victims struct {
	// the scheduler picks exactly these; otherwise it has no order for pods that are equally important, and may pick
	// others of them, or what a PodDisruptionBudget allows is not known: it may protect one of these
	Certain bool `json:"certain"`

	// pods of lower priority that may go in the place of some of these, as `namespace/name`, the most important first;
	// empty where `certain`
	Others []string `json:"others"`
	Fewest int      `json:"fewest"` // how many pods go at least
	Most   int      `json:"most"`   // how many pods go at most

	// the pods among these that a PodDisruptionBudget protects, as it allows no more disruptions; the scheduler removes
	// them nevertheless
	Violates []string `json:"violates"`
	Budgets  []string `json:"budgets"` // these PodDisruptionBudgets, as `namespace/name`, sorted
}

// Rejection is a plugin of the scheduler that rejects a node, and one thing that it rejects it for.
type Rejection struct {
	Plugin string          `json:"plugin"` // its name
	Facts  daemonset.Facts `json:"facts"`  // as those of a [problem](#problems) with the code `DoesNotFit`
}

// RoomCode says whether a pod would fit on a node.
type RoomCode string

const (
	RoomFits     RoomCode = "Fits"       // it would
	RoomPreempts RoomCode = "Preempts"   // it would once the scheduler has removed pods of lower priority
	RoomWaits    RoomCode = "Waits"      // the pod that waits fits once other pods of the node have ended
	RoomNot      RoomCode = "DoesNotFit" // it would not, and preemption makes no room
	RoomUnknown  RoomCode = "Unknown"    // something that decides it could not be read
)

// RoomAmount is what a pod requests of a resource, and what a node has of it, as people
// write it.
type RoomAmount struct {
	Resource    string `json:"resource"`    // `cpu`, `memory`; `pods` for the number of pods
	Requested   string `json:"requested"`   // by the pod, such as `250m`
	Free        string `json:"free"`        // what the other pods leave
	Allocatable string `json:"allocatable"` // what the node has in all
}

// wants reports whether a node should have a pod and has none that is on it: none at all, or
// one that waits for the scheduler.
func wants(n *daemonset.Node) bool {
	return n.Object != nil && n.ShouldRun.OK && (len(n.Pods) == 0 || waiter(n) != nil)
}

// waiter returns the pod of a node that waits for the scheduler, a new one if there is one; nil
// if there is none.
func waiter(n *daemonset.Node) *daemonset.Pod {
	if p := concern(n); p != nil && unscheduled(*p) {
		return p
	}
	return nil
}

// Room returns whether the next pod would fit on a node, or the one that waits there for the
// scheduler; nil for a node that should have none, for one that has a pod, and where nobody
// asked for the other pods there and these may decide.
func (cs *Causes) Room(n *daemonset.Node) *Room {
	if !wants(n) {
		return nil
	}
	w, beside := cs.fits().wanted, []snapshot.PodRow(nil)
	v, known := cs.NewPod(n)
	if p := waiter(n); p != nil {
		w, beside = cs.withVolumes(fit.Of(p.Object), &p.Object.Spec), cs.besideOf(n, p.Name)
		v, known = cs.on(&w, n, beside)
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

// rejections returns each thing for which a plugin rejects a node: the first of its ports or
// volumes, and each of its resources.
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

// VictimsOf returns the pods that preemption removes, as `namespace/name`; none without one.
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
