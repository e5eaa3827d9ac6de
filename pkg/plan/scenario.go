package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
)

// scenario is a State in which a rollout continues, with what is assumed about it and measured times.
type scenario struct {
	st *daemonset.State
	a  *assumed
	m  *timing.Measured

	initial *initialState // of its simulations; nil before the first one
	buffers *buffers      // shared with the scenarios derived from this one
}

// newScenario returns the scenario for a State.
func newScenario(st *daemonset.State, m *timing.Measured) *scenario {
	return scenarioOf(st, m, assume(st))
}

// newScenarioOfAny returns the scenario for a State whose template stands for any other template. Failures that depend
// on the template are then no evidence for the next pods.
func newScenarioOfAny(st *daemonset.State, m *timing.Measured) *scenario {
	causes := cause.Find(st)
	return scenarioOf(st, m, assumeBy(st, causes, nil))
}

func scenarioOf(st *daemonset.State, m *timing.Measured, a *assumed) *scenario {
	a.dropExpected(m, st.At)
	return &scenario{st: st, a: a, m: m, buffers: &buffers{}}
}

// markInactive marks the controller as inactive if it does not act now although it should, or if a node has been
// without a pod for so long that none appears by itself.
func (sc *scenario) markInactive(next *daemonset.Step) {
	unfilled := slices.ContainsFunc(sc.st.Nodes, func(n daemonset.Node) bool {
		c := sc.a.causes.Of(n.Name)
		return c != nil && c.Code == cause.NoPod && c.Severity == cause.SeverityError
	})
	switch {
	case sc.a.causes.Silent(next) && cause.Owes(next):
		sc.a.silent = cause.ControllerSilent
	case unfilled:
		sc.a.silent = Unfilled
	}
}

// underWay counts the nodes that use up the limit now, although nothing is wrong with them, or only something that may
// resolve by itself.
func (sc *scenario) underWay() (count int) {
	for i := range sc.st.Nodes {
		n := &sc.st.Nodes[i]
		c := sc.a.causes.Of(n.Name)
		count += b2i(sc.st.Holds(n) && (c == nil || c.Severity != cause.SeverityError))
	}
	return count
}

// withLimit returns the scenario with another limit of the same kind.
func (sc *scenario) withLimit(n int) *scenario {
	st := *sc.st
	st.Budget.Fallback = false
	if st.Budget.MaxSurge > 0 {
		st.Budget.MaxSurge = n
	} else {
		st.Budget.MaxUnavailable = n
	}
	return &scenario{&st, sc.a, sc.m, sc.initialState(), sc.buffers}
}

// after returns the scenario for a State to which another change leads, as a plan of that change would have it.
func (sc *scenario) after(then *daemonset.State) *scenario {
	if then.DaemonSet.Generation != sc.st.DaemonSet.Generation {
		if namesOthers(&sc.st.DaemonSet.Spec.Template.Spec, &then.DaemonSet.Spec.Template.Spec) {
			then = then.Reading(then.Snapshot.Admitting(nil, nil))
		}
	}
	m, next := sc.m.Again(then), then.Sync()
	m.Wait(&next)
	return &scenario{st: then, a: assume(then), m: m, buffers: sc.buffers}
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
func (sc *scenario) simulate() *simulation { return sc.simulateAt(sc.typical()) }

// simulateAt simulates the rollout to its end, at the given pace.
func (sc *scenario) simulateAt(p *pace) *simulation {
	return simulate(sc.buffers, sc.initialState(), sc.st, p)
}

func (sc *scenario) initialState() *initialState {
	if sc.initial == nil {
		sc.initial = newInitialState(sc.st, sc.a.nodes, sc.a.refusal != nil)
	}
	return sc.initial
}

// dated reports whether durations can be predicted, because pods show how long one takes to become ready.
func (sc *scenario) dated() bool { return len(sc.m.Starts) > 0 }

// spread simulates the optimistic, the expected and the pessimistic rollout, and returns the runs in this order,
// without their Tallies. It returns nil if durations cannot be predicted, or if a run has no end. It raises the maxima
// of o to those of all runs, and sets its Duration.
func (sc *scenario) spread(o *Outcome) (runs []*simulation) {
	if !sc.dated() {
		return nil
	}
	var ends []float64
	row := o.Replaced / max(1, sc.st.Limit())
	for i, p := range []*pace{sc.optimistic(row), sc.expected(), sc.pessimistic(row)} {
		p.drawn = i == 1
		r := sc.simulateAt(p)
		if r.end.endless {
			return nil
		}
		runs, ends = append(runs, r), append(ends, r.end.at)
		o.Worst, o.Largest = max(o.Worst, r.end.worst), max(o.Largest, r.end.largest)
		o.AtATime, o.AtOnce = max(o.AtATime, r.end.atATime), max(o.AtOnce, r.end.atOnce)
	}
	if o.ends() {
		o.Duration = &Duration{Optimistic: slices.Min(ends), Expected: ends[1], Pessimistic: slices.Max(ends) +
			sc.m.Backoff + sc.m.Start.Last()}
	}
	return runs
}
