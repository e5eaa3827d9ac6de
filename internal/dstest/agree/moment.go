package agree

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/follow"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// goesWith maps the verdict of a plan for the current rollout to the compatible verdicts of
// explain.
var goesWith = map[plan.Verdict][]explain.VerdictCode{
	plan.VerdictNothing:       {explain.Healthy},
	plan.VerdictUncompared:    {explain.Healthy},
	plan.VerdictDegraded:      {explain.Degraded},
	plan.VerdictCompletes:     {explain.Progressing},
	plan.VerdictLate:          {explain.Progressing},
	plan.VerdictRemoves:       {explain.Progressing, explain.Healthy},
	plan.VerdictRemovesAll:    {explain.Progressing, explain.Healthy},
	plan.VerdictStalls:        {explain.Progressing},
	plan.VerdictStaysStuck:    {explain.Stuck},
	plan.VerdictStaysDegraded: {explain.Degraded},
	plan.VerdictWaits:         {explain.AwaitingDelete},
	plan.VerdictBeingDeleted:  {explain.BeingDeleted},
	plan.VerdictIgnored:       {explain.Unknown},
	plan.VerdictUnknown:       {explain.Unknown},
}

// Moment returns an error if explain, plan-rollout and plan-rollout --watch contradict each other
// about a State.
func Moment(st *daemonset.State) error {
	e := explain.Explain(st, explain.Options{Outlook: plan.Look(st)})
	p := plan.Make(st, plan.Options{})
	ok := goesWith[p.Verdict()]
	if (p.Outcome.ReachesEnd() || p.Outcome.Code == plan.NotRolling) && p.Outcome.Unserved() > 0 {
		ok = append(slices.Clip(ok), explain.Degraded)
	}
	if p.Outcome.Code == plan.NotRolling && p.Next.Kind != daemonset.StepNone { // it fills a node and then waits
		ok = append(slices.Clip(ok), explain.Progressing)
	}
	if e.Verdict.Code != explain.NotObserved && !slices.Contains(ok, e.Verdict.Code) {
		return fmt.Errorf("explain: %s; plan-rollout: %s", e.Verdict.Code, p.Verdict())
	}
	if !st.PodsRead {
		return nil // --watch rejects it
	}
	w, err := follow.NewFollower(st, plan.Options{}).Progress(st.At)
	if err != nil {
		return err
	}
	if o := w.Outcome; o.Code != p.Outcome.Code || !reflect.DeepEqual(o.Duration, p.Outcome.Duration) ||
		!reflect.DeepEqual(o.Alternatives, p.Outcome.Alternatives) {
		return fmt.Errorf("plan-rollout: %+v; --watch: %+v", p.Outcome, o)
	}
	return nil
}

// Times returns an error if explain, plan-rollout, and plans with the other limits that it shows
// disagree about the duration of a rollout.
func Times(st *daemonset.State) error {
	e := explain.Explain(st, explain.Options{Outlook: plan.Look(st)})
	p := plan.Make(st, plan.Options{})
	if o := e.Outlook; o != nil && o.Code == explain.Completes && !reflect.DeepEqual(o.Duration, p.Outcome.Duration) {
		return fmt.Errorf("explain: %+v; plan-rollout: %+v", o.Duration, p.Outcome.Duration)
	}
	// An idle controller, which the change may wake.
	quiet := p.Outcome.Reason == cause.ControllerSilent || p.Outcome.Reason == plan.Unfilled
	if err := limitTimes(st, p.Limits, whatif.Change{}); err != nil && !quiet {
		return err
	}
	r, err := whatif.Make(st, &whatif.Change{Restart: true})
	if err != nil {
		return nil // no plan is possible
	}
	return limitTimes(st, plan.MakeChanged(r, plan.Options{}).Limits, whatif.Change{Restart: true})
}

// limitTimes compares what a plan says about other limits with the plans of the same change under
// these limits.
func limitTimes(st *daemonset.State, limits []plan.Limit, c whatif.Change) error {
	for _, l := range limits {
		to := intstr.Parse(l.Limit)
		if c.MaxUnavailable = &to; st.Budget.MaxSurge > 0 {
			c.MaxUnavailable, c.MaxSurge = nil, &to
		}
		r, err := whatif.Make(st, &c)
		if err != nil {
			continue // no plan is possible
		}
		o := plan.MakeChanged(r, plan.Options{}).Outcome
		if o.Code != l.Code || !reflect.DeepEqual(o.Duration, l.Duration) {
			return fmt.Errorf("restart %t: the limit %s among others: %s %+v; its plan: %s %+v", c.Restart, l.Limit,
				l.Code, l.Duration, o.Code, o.Duration)
		}
	}
	return nil
}
