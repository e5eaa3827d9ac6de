package follow

import (
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
)

// LatePod is a pod that takes longer than any other of the DaemonSet did.
type LatePod struct {
	Node, Pod string
	Deleting  bool          // it does not end; else it does not become Ready
	For       time.Duration // since its deletion was asked for, or it was created
}

// Usual is how long pods of the DaemonSet take, in seconds; empty where nothing tells.
type Usual struct {
	Starts, Ends []float64 // from creation to Ready, and from deletion until it is gone: the shortest first
	Assumed      bool      // Starts is what the person who asks said
}

// usualOf returns how long pods take, as far as it was measured.
func usualOf(m *timing.Measured) Usual {
	u := Usual{Starts: m.Starts, Assumed: m.StartSource == timing.SourceFlag}
	if m.EndSource != timing.SourceGracePeriod {
		u.Ends = m.Ends
	}
	return u
}

// late returns the pods of eligible nodes that take longer than any other did, by
// node. Times are known to the second.
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

// idle returns for how long no pod has moved where pods are to blame for it: those that
// are late, or fail. It is 0 where the rollout goes on beside them, while the next sync is
// due, and where nothing is left to do.
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
	if still := p.State.At.Sub(last); !last.IsZero() && still >= calm {
		return still
	}
	return 0
}

// lastMove returns when a pod came last, became Ready or was deleted, or a revision
// was created, as what there is says; zero where nothing does, and no later than now,
// whatever the clock of a node says. That a pod which restarted is Ready once more is no
// move, nor what an old pod does.
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
