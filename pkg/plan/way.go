package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
)

// way is a scenario: a State in which a rollout continues, what is assumed about it, and measured times.
type way struct {
	st *daemonset.State
	a  *assumed
	m  *timing.Measured

	begins *beginning // of its simulations; nil before the first one
	spare  *spare     // shared with the ways derived from this one
}

// newWay returns the way for a State.
func newWay(st *daemonset.State, m *timing.Measured) *way { return wayOf(st, m, assume(st)) }

// newWayOfAny returns the way for a State whose template stands for any other template. Failures that depend on the
// template are then no evidence for the next pods.
func newWayOfAny(st *daemonset.State, m *timing.Measured) *way {
	causes := cause.Find(st)
	return wayOf(st, m, assumeBy(st, causes, nil))
}

func wayOf(st *daemonset.State, m *timing.Measured, a *assumed) *way {
	a.told(m, st.At)
	return &way{st: st, a: a, m: m, spare: &spare{}}
}

// quiet makes the controller do nothing if it does nothing now, or if a node has been without a pod for so long that
// none appears by itself.
func (w *way) quiet(next *daemonset.Step) {
	unfilled := slices.ContainsFunc(w.st.Nodes, func(n daemonset.Node) bool {
		c := w.a.causes.Of(n.Name)
		return c != nil && c.Code == cause.NoPod && c.Severity == cause.SeverityError
	})
	switch {
	case w.a.causes.Silent(next) && cause.Owes(next):
		w.a.silent = cause.ControllerSilent
	case unfilled:
		w.a.silent = Unfilled
	}
}

// underWay counts the nodes that use up the limit now, although nothing is wrong with them, or only something that may
// resolve by itself.
func (w *way) underWay() (count int) {
	for i := range w.st.Nodes {
		n := &w.st.Nodes[i]
		c := w.a.causes.Of(n.Name)
		count += b2i(w.st.Holds(n) && (c == nil || c.Severity != cause.SeverityError))
	}
	return count
}

// withLimit returns the way with another limit of the same kind.
func (w *way) withLimit(n int) *way {
	st := *w.st
	st.Budget.Fallback = false
	if st.Budget.MaxSurge > 0 {
		st.Budget.MaxSurge = n
	} else {
		st.Budget.MaxUnavailable = n
	}
	return &way{&st, w.a, w.m, w.beginning(), w.spare}
}

// after returns the way for a State to which another change leads, as a plan of that change has it.
func (w *way) after(then *daemonset.State) *way {
	if then.DaemonSet.Generation != w.st.DaemonSet.Generation {
		if namesOthers(&w.st.DaemonSet.Spec.Template.Spec, &then.DaemonSet.Spec.Template.Spec) {
			then = then.Reading(then.Snapshot.Admitting(nil, nil))
		}
	}
	m, next := w.m.Again(then), then.Sync()
	m.Wait(&next)
	return &way{st: then, a: assume(then), m: m, spare: w.spare}
}

// namesOthers reports whether two templates name different objects that the API server checks when a pod is created.
// The objects of the second template may not have been read.
func namesOthers(a, b *corev1.PodSpec) bool {
	runtime := func(s *corev1.PodSpec) string {
		if s.RuntimeClassName == nil {
			return ""
		}
		return *s.RuntimeClassName
	}
	return a.ServiceAccountName != b.ServiceAccountName || a.PriorityClassName != b.PriorityClassName ||
		runtime(a) != runtime(b)
}

// simulate simulates the rollout to its end, in steady waves.
func (w *way) simulate() *simulation { return w.simulateAt(w.typical()) }

// simulateAt simulates the rollout to its end, at the given pace.
func (w *way) simulateAt(p *pace) *simulation { return simulate(w.spare, w.beginning(), w.st, p) }

func (w *way) beginning() *beginning {
	if w.begins == nil {
		w.begins = newBeginning(w.st, w.a.nodes, w.a.refusal != nil)
	}
	return w.begins
}

// dated reports whether durations can be predicted, because pods show how long one takes to become ready.
func (w *way) dated() bool { return len(w.m.Starts) > 0 }

// spread simulates the optimistic, the expected and the pessimistic rollout, and returns the runs in this order,
// without their Tallies. It returns nil if durations cannot be predicted, or if a run has no end. It raises the maxima
// of o to those of all runs, and sets its Duration.
func (w *way) spread(o *Outcome) (runs []*simulation) {
	if !w.dated() {
		return nil
	}
	var ends []float64
	row := o.Replaced / max(1, w.st.Limit())
	for i, p := range []*pace{w.optimistic(row), w.expected(), w.pessimistic(row)} {
		p.drawn = i == 1
		r := w.simulateAt(p)
		if r.end.endless {
			return nil
		}
		runs, ends = append(runs, r), append(ends, r.end.at)
		o.Worst, o.Largest = max(o.Worst, r.end.worst), max(o.Largest, r.end.largest)
		o.AtATime, o.AtOnce = max(o.AtATime, r.end.atATime), max(o.AtOnce, r.end.atOnce)
	}
	if o.ends() {
		o.Duration = &Duration{Optimistic: slices.Min(ends), Expected: ends[1], Pessimistic: slices.Max(ends) +
			w.m.Backoff + w.m.Start.Last()}
	}
	return runs
}
