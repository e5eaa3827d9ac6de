package plan

import (
	"math"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// room is what the ResourceQuotas of the namespace leave for pods: of each limited
// resource how much is free, and how much a new pod and each pod of now take.
type room struct {
	free []int64
	cost []int64            // of a new pod
	held map[string][]int64 // of pods of the Snapshot, by name; a quota counts a pod until it is gone
}

// passes returns how many new pods the quotas admit.
func (r *room) passes() int {
	most := math.MaxInt
	for i, cost := range r.cost {
		if cost > 0 {
			most = min(most, int(max(0, r.free[i]/cost)))
		}
	}
	return most
}

// take counts a new pod.
func (r *room) take() { r.add(r.cost, -1) }

// give counts a pod that is gone.
func (r *room) give(p *daemonset.Pod) {
	if p.Object == simulated {
		r.add(r.cost, 1)
		return
	}
	r.add(r.held[p.Name], 1)
}

func (r *room) add(what []int64, by int64) {
	for i, n := range what {
		r.free[i] += by * n
	}
}

// copied returns the same room, for one simulation to use up; nil where no quota
// limits pods.
func (r *room) copied() *room {
	if r == nil {
		return nil
	}
	c := *r
	c.free = slices.Clone(r.free)
	return &c
}

// admit leaves of the creates of a sync those that the quotas admit, and notes
// whether others are refused. The controller tries again when a pod is gone.
func (r *simulation) admit(a *daemonset.Act) {
	r.refused = false
	if r.room == nil {
		return
	}
	if n := r.room.passes(); n < len(a.Creates) {
		a.Creates, r.refused = a.Creates[:n], true
	}
}
