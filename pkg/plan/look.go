package plan

import (
	"math"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// Look returns the outlook of the rollout in progress or, if there is none, of the next one. This is a part of what
// Make computes, at a lower cost.
func Look(st *daemonset.State) remedy.Outlook {
	if st.PodsRead && st.DaemonSet.DeletionTimestamp != nil {
		_, remedies := ofDeletion(cause.Find(st), st)
		return remedy.Outlook{Remedies: remedies}
	}
	if !st.PodsRead || ignored(st.DaemonSet) {
		return remedy.Outlook{Remedies: []remedy.Remedy{}}
	}
	sc, step := newScenario(st, timing.Measure(st, timing.Given{})), st.Sync()
	sc.markInactive(&step)
	r := sc.simulate()
	o := sc.outcome(r)
	return sc.look(r, &o, &step)
}

// look returns the outlook for a simulation r with outcome o. It sets o.Alternatives and, if the rollout ends,
// o.Duration.
func (sc *scenario) look(r *simulation, o *Outcome, next *daemonset.Step) remedy.Outlook {
	out, end := remedy.Outlook{Lost: Nodes(r.lost())}, r.tally.Counts()
	if o.Code == Stalls {
		r.keep() // the remedies compare with it
	}
	sc.m.Wait(next)
	if o.ends() {
		sc.spread(o)
	}
	o.Alternatives = sc.alternatives(o)
	switch {
	case o.Code == Stalls:
		out.Course = &remedy.Course{Stalls: true, End: end, Otherwise: o.otherwise()}
	case o.ReachesEnd():
		out.Course = &remedy.Course{End: end, Next: nextBatch(sc.st, next, r), Duration: o.Duration,
			Otherwise: o.otherwise()}
	case o.Code == NothingToDo && !sc.nextRolloutSafe():
		out.Stall = nextStall(sc.st)
	}
	out.Remedies = sc.remedies(r, o)
	return out
}

// otherwise returns the first alternative, or nil if there is none.
func (o *Outcome) otherwise() *remedy.Otherwise {
	for _, a := range o.Alternatives {
		return &remedy.Otherwise{Nodes: a.Nodes, Ready: a.Condition == PodsBecomeReady, Stalls: a.Code == Stalls,
			Updated: a.Updated, Unserved: a.Unserved, Duration: a.Duration}
	}
	return nil
}

// nextBatch returns what the controller does when pods that are Ready become available. It returns nil if the
// controller acts before that, or if it also waits for something else.
func nextBatch(st *daemonset.State, next *daemonset.Step, r *simulation) *remedy.Batch {
	if next.Kind != daemonset.StepNone || len(r.waves) == 0 {
		return nil
	}
	for i := range st.Nodes {
		for _, p := range st.Nodes[i].Pods {
			if known := p.Ready && p.AvailableAt != nil; !st.Nodes[i].Exists || p.Terminating ||
				!p.Available.OK && !known {
				return nil
			}
		}
	}
	w := &r.waves[0]
	in := time.Duration(math.Round(*w.At)) * time.Second
	return &remedy.Batch{At: st.At.Add(in).UTC(), Deletes: w.Deletes, Creates: w.Creates}
}

// nextRolloutSafe reports whether nothing stands in the way of a next rollout, so that it need not be simulated.
func (sc *scenario) nextRolloutSafe() bool {
	return sc.a.stay+sc.a.unfit+len(sc.excludedButCounted()) == 0 && sc.a.rejects == nil && sc.a.room == nil &&
		sc.st.Budget.Invalid == "" &&
		(sc.st.Budget.MaxSurge == 0 || len(cause.HostPorts(&sc.st.DaemonSet.Spec.Template.Spec)) == 0)
}

// nextStall returns how a rollout of another template would stall, or nil if it would not.
func nextStall(st *daemonset.State) *remedy.Stall {
	restarted, err := whatif.Make(st, &whatif.Change{Restart: true})
	if err != nil {
		return nil // a template that cannot be changed has no rollout
	}
	st = restarted.State
	sc := newScenarioOfAny(st, timing.Measure(st, timing.Given{}))
	r := sc.simulate()
	o := sc.outcome(r)
	if o.Code != Stalls {
		return nil
	}
	return &remedy.Stall{
		Reason: o.Reason, Replaced: o.Replaced + o.Dropped, Working: r.end.working, Of: oldPods(st), AtWorst: o.AtWorst,
		Nodes: append([]string{}, Nodes(o.Holders)...), Further: o.FurtherHolders,
	}
}

// Rest is the rest of a rollout.
type Rest struct {
	Outcome Outcome
	Outlook remedy.Outlook
	Causes  *cause.Causes
	Still   bool // nothing is in progress
}

// RestOf simulates the rest of a rollout whose next step is next, with measured times m.
func RestOf(st *daemonset.State, next *daemonset.Step, m *timing.Measured) Rest {
	sc, step := newScenario(st, m), *next
	sc.markInactive(&step)
	run := sc.simulate()
	r := Rest{Outcome: sc.outcome(run), Causes: sc.a.causes, Still: run.end.at == 0}
	r.Outlook = sc.look(run, &r.Outcome, &step)
	return r
}
