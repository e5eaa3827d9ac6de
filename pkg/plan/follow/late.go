package follow

import (
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
)

// LatePod is a pod that takes longer than any other pod of the DaemonSet did.
type LatePod struct {
	Node, Pod string
	Deleting  bool          // it does not terminate; otherwise it does not become Ready
	For       time.Duration // time since its deletion or, if it is not deleted, its creation
}

// Usual is how long pods of the DaemonSet take, in seconds. Empty fields are unknown.
type Usual struct {
	Starts, Ends []float64 // from creation to Ready, and from deletion until the pod is gone, shortest first
	Assumed      bool      // Starts was given by the user
}

// usualOf returns the measured times.
func usualOf(m *timing.Measured) Usual {
	u := Usual{Starts: m.Starts, Assumed: m.StartSource == timing.SourceFlag}
	if m.EndSource != timing.SourceGracePeriod {
		u.Ends = m.Ends
	}
	return u
}

// late returns the pods of eligible nodes that take longer than any other pod did, by node. It allows for the precision
// of timestamps, one second each.
func late(m *timing.Measured, st *daemonset.State) []LatePod {
	const slack = 2
	slowest := func(of []float64) float64 { return of[len(of)-1] + slack }
	u := usualOf(m)
	var out []LatePod
	for i := range st.Nodes {
		n := &st.Nodes[i]
		for j := range n.Pods {
			p := &n.Pods[j]
			took, over := 0., false
			switch {
			case !n.ShouldRun.OK:
			case p.Terminating:
				took = timing.DeletedFor(p, st.At)
				over = len(u.Ends) > 0 && took > slowest(u.Ends)
			case p.Updated && !p.Ready && !p.Object.CreationTimestamp.IsZero():
				took = st.At.Sub(p.Object.CreationTimestamp.Time).Seconds()
				over = len(u.Starts) > 0 && took > slowest(u.Starts)
			}
			if over {
				out = append(out, LatePod{n.Name, p.Name, p.Terminating, time.Duration(took) * time.Second})
			}
		}
	}
	return out
}

// idle returns how long no pod has moved because pods are late or fail. It returns 0 if the rollout continues despite
// them, if the next sync acts, or if nothing is left to do.
func (p *Progress) idle(vanished time.Time) time.Duration {
	fails := func(n plan.OnNode) bool { return n.State == plan.NodeFails }
	blamed := len(p.Outcome.Late) > 0 || slices.ContainsFunc(p.Nodes, fails)
	if !blamed || !p.Outcome.ReachesEnd() && p.Outcome.Code != plan.Stalls || p.Next.Kind != daemonset.StepNone {
		return 0
	}
	last := lastMove(p.State)
	if vanished.After(last) {
		last = vanished
	}
	if still := p.State.At.Sub(last); !last.IsZero() && still >= stuckAfter {
		return still
	}
	return 0
}

// lastMove returns when a pod was last created, became Ready or was deleted, or a revision was created. It ignores
// times after st.At, which come from node clocks that are ahead. It also ignores restarted pods that become Ready
// again, and old pods. It returns the zero time if there is none.
func lastMove(st *daemonset.State) (last time.Time) {
	var times []time.Time
	for i := range st.History.Revisions {
		times = append(times, st.History.Revisions[i].Created)
	}
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			times = append(times, p.Object.CreationTimestamp.Time)
			if at := timing.ReadySince(p.Object); at != nil && p.Updated && !timing.HasRestarted(p.Object) {
				times = append(times, at.Time)
			}
			if p.Terminating {
				times = append(times, st.At.Add(-time.Duration(timing.DeletedFor(p, st.At)*float64(time.Second))))
			}
		}
	}
	for _, t := range times {
		if t.After(last) && !t.After(st.At) {
			last = t
		}
	}
	return last
}
