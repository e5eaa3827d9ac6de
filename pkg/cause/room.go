package cause

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Room is whether a pod of the current template would fit on a node that has none.
type Room struct {
	Code RoomCode `json:"code"` // whether it would fit now

	// what the pod requests, in the order cpu, memory, ephemeral storage and others by name; then the number of pods.
	// Empty where an amount cannot be counted, and for `Unknown`
	Amounts []RoomAmount `json:"amounts"`

	// for `Preempts`, the pods that go, as `namespace/name`, the most important first; otherwise empty
	Preempts []string        `json:"preempts"`
	Facts    daemonset.Facts `json:"facts"` // for `DoesNotFit`, those of the [problem](#problems) of that code; otherwise empty

	// what the template asks of the scheduler and is not computed: [rules](#rules-of-the-scheduler-that-are-not-computed)
	NotModelled []fit.Unmodelled `json:"notModelled"`
}

// RoomCode says whether a pod would fit on a node.
type RoomCode string

const (
	RoomFits     RoomCode = "Fits"       // it would
	RoomPreempts RoomCode = "Preempts"   // it would once the scheduler has removed pods of lower priority
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

// wants reports whether a node should have a pod and has none.
func wants(n *daemonset.Node) bool {
	return n.Object != nil && n.ShouldRun.OK && len(n.Pods) == 0
}

// Room returns whether the next pod would fit on a node; nil for one that should have
// none, for one that has a pod, and where nobody asked for the other pods there and these
// may decide.
func (cs *Causes) Room(n *daemonset.Node) *Room {
	if !wants(n) {
		return nil
	}
	r := &Room{Code: RoomUnknown, Amounts: []RoomAmount{}, Preempts: []string{}, Facts: daemonset.Facts{}, NotModelled: append([]fit.Unmodelled{}, cs.NotModelled()...)}
	v, known := cs.NewPod(n)
	switch unasked := !cs.s.OtherPods.Of(n.Name) && !cs.s.Lacks(snapshot.PodsOfOthers); {
	case !known && unasked:
		return nil
	case !known:
		return r
	}
	r.Amounts = cs.amounts(n)
	switch {
	case v.Fits:
		r.Code = RoomFits
	case v.Preemption.Outcome == fit.VictimsNotCounted:
	case v.Preemption.Outcome == fit.Possible:
		r.Code = RoomPreempts
		for _, x := range v.Preemption.Victims {
			r.Preempts = append(r.Preempts, x.Namespace+"/"+x.Name)
		}
	default:
		r.Code, r.Facts = RoomNot, cs.fitFacts(&v, n)
	}
	return r
}

// amounts returns what the next pod requests of a node, the number of pods last.
func (cs *Causes) amounts(n *daemonset.Node) []RoomAmount {
	f, out := cs.fits(), []RoomAmount{}
	if !cs.s.OtherPods.Of(n.Name) {
		return out
	}
	for _, l := range f.profile.Amounts(&f.wanted, &fit.Node{Node: n.Object, Pods: f.rows[n.Name]}) {
		out = append(out, RoomAmount{string(l.Resource), AmountIn(l.Resource, l.Requested), AmountIn(l.Resource, max(0, l.Allocatable-l.Used)), AmountIn(l.Resource, l.Allocatable)})
	}
	return slices.Concat(out[min(1, len(out)):], out[:min(1, len(out))])
}
