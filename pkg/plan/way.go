package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
)

// way is a State from which a rollout goes on, what is assumed of it, and how long
// things take.
type way struct {
	st *daemonset.State
	a  *assumed
	m  *timing.Measured

	begins *beginning // of its simulations; nil until the first
	spare  *spare     // of its simulations, and of those of ways that are made of it
}

// newWay returns that of a State.
func newWay(st *daemonset.State, m *timing.Measured) *way { return wayOf(st, m, assume(st)) }

// newWayOfAny returns that of a State whose template stands for any other one: what pods fail
// on that the template decides says nothing about it.
func newWayOfAny(st *daemonset.State, m *timing.Measured) *way {
	causes := cause.Find(st)
	return wayOf(st, m, assumeBy(st, causes, nil))
}

func wayOf(st *daemonset.State, m *timing.Measured, a *assumed) *way {
	a.told(m, st.At)
	return &way{st: st, a: a, m: m, spare: &spare{}}
}

// quiet has the controller do nothing where it does nothing now, or where a node has been
// without a pod for so long that none comes by itself, whoever keeps it from that.
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

// underWay counts the nodes that use up the limit now, and on which nothing is wrong, or
// what may resolve by itself.
func (w *way) underWay() (count int) {
	for i := range w.st.Nodes {
		n := &w.st.Nodes[i]
		c := w.a.causes.Of(n.Name)
		count += b2i(w.st.Holds(n) && (c == nil || c.Severity != cause.SeverityError))
	}
	return count
}

// withLimit returns the same with another limit, of the kind that the budget has.
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

// after returns that of a State which a further change makes of this one: what a plan of that
// change has.
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

// namesOthers reports whether two templates name different objects that the API server looks
// at when a pod is created: those of the other one may not have been read.
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

// simulate steps the rollout to its end, in steady waves.
func (w *way) simulate() *simulation { return w.simulateAt(w.typical()) }

// simulateAt does it at another pace.
func (w *way) simulateAt(p *pace) *simulation { return simulate(w.spare, w.beginning(), w.st, p) }

func (w *way) beginning() *beginning {
	if w.begins == nil {
		w.begins = newBeginning(w.st, w.a.nodes, w.a.refusal != nil)
	}
	return w.begins
}

// dated reports whether it can be told how long things take: pods tell how long
// one needs to become ready.
func (w *way) dated() bool { return len(w.m.Starts) > 0 }

// spread runs the rollout at its best, as expected and at its worst, and returns the
// runs in this order, without their Tallies; none if it cannot be told how long they take. It has the
// Outcome hold the worst of all of them, and how long it takes until the end.
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
