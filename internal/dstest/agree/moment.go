package agree

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// goesWith are the verdicts of explain that go with one of a plan of what is under way.
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

// Moment returns an error where explain, plan-rollout and its --watch contradict each
// other about a State.
func Moment(st *daemonset.State) error {
	e := explain.Explain(st, explain.Options{Outlook: plan.Look(st)})
	p := plan.Make(st, plan.Options{})
	ok := goesWith[p.Verdict()]
	if (p.Outcome.ReachesEnd() || p.Outcome.Code == plan.NotRolling) && p.Outcome.Unserved() > 0 {
		ok = append(slices.Clip(ok), explain.Degraded)
	}
	if p.Outcome.Code == plan.NotRolling && p.Next.Kind != daemonset.StepNone { // it fills a node, and then waits
		ok = append(slices.Clip(ok), explain.Progressing)
	}
	if e.Verdict.Code != explain.NotObserved && !slices.Contains(ok, e.Verdict.Code) {
		return fmt.Errorf("explain: %s; plan-rollout: %s", e.Verdict.Code, p.Verdict())
	}
	if !st.PodsRead {
		return nil // of which --watch is refused
	}
	w, err := plan.NewFollower(st, plan.Options{}).Progress(st.At)
	if err != nil {
		return err
	}
	if o := w.Outcome; o.Code != p.Outcome.Code || !reflect.DeepEqual(o.Duration, p.Outcome.Duration) || !reflect.DeepEqual(o.Alternatives, p.Outcome.Alternatives) {
		return fmt.Errorf("plan-rollout: %+v; --watch: %+v", p.Outcome, o)
	}
	return nil
}
