package agree

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// Answers returns an error if the answers about one Snapshot contradict each other in what they
// count. The Plan must be one without a change. The History may be nil.
func Answers(e *explain.Explanation, p *plan.Plan, h *history.History) error {
	laws := []func() error{
		func() error { return desired(e, p) },
		func() error { return oldPods(e, p) },
		func() error { return verdicts(e, p) },
		func() error { return nowhere(e, p) },
		func() error { return columns(e) },
		func() error { return revisions(e, h) },
		func() error { return updated(e, h) },
		func() error { return rollouts(e, h) },
		func() error { return Remedies(e, p) },
		func() error { _, err := Problems(e, p); return err },
	}
	for _, law := range laws {
		if err := law(); err != nil {
			return err
		}
	}
	return nil
}

func desired(e *explain.Explanation, p *plan.Plan) error {
	switch c := e.Status.Computed; {
	case c != nil && c.Desired != p.Desired.Before:
		return fmt.Errorf("explain: DESIRED %d; plan: %d", c.Desired, p.Desired.Before)
	case !reflect.DeepEqual(e.Next, p.Next):
		return fmt.Errorf("explain and plan tell of two next syncs")
	case e.Budget.Used != nil && *e.Budget.Used != len(e.Budget.Holders):
		return fmt.Errorf("%d of the budget are used, by %d holders", *e.Budget.Used, len(e.Budget.Holders))
	}
	return nil
}

// oldPods compares the number of old pods in the plan with the pods of the nodes: pods that the
// plan replaces or deletes and, if it stalls immediately or replaces none, pods that stay.
func oldPods(e *explain.Explanation, p *plan.Plan) error {
	if e.Status.Computed == nil || p.Subject == plan.SubjectNothing || p.Outcome.Reason == daemonset.StepSelectsAll || p.Outcome.Reason == daemonset.StepBeingDeleted {
		return nil
	}
	var living, terminating int
	for _, n := range e.Nodes {
		for _, pod := range n.Pods {
			switch {
			case pod.Updated || pod.Ignored != "":
			case pod.Terminating:
				terminating++
			case n.MayStay.OK:
				living++
			}
		}
	}
	o := &p.Outcome
	switch {
	case o.Code == plan.NotRolling && o.Replaced+o.Dropped+o.Left != living:
		return fmt.Errorf("explain: %d old pods; plan, of which nothing is rolling: %d replaced, %d deleted, %d left", living, o.Replaced, o.Dropped, o.Left)
	case o.Code != plan.NotRolling && p.Replaces+p.Drops != living:
		return fmt.Errorf("explain: %d old pods; plan: %d to replace, %d to delete", living, p.Replaces, p.Drops)
	case o.Code == plan.Stalls && len(p.Waves) == 0 && (o.Left != living || o.Terminating > terminating):
		return fmt.Errorf("explain: %d old pods and %d that are terminating; the plan stalls at once with %d and %d", living, terminating, o.Left, o.Terminating)
	}
	return nil
}

// nowhere compares the two warnings that no node is eligible. A plan that removes all pods reports
// this as its outcome.
func nowhere(e *explain.Explanation, p *plan.Plan) error {
	facts := func(f daemonset.Facts) string {
		return fmt.Sprint(f["nodes"], " nodes, ", f["losing"], " losing, ", f["staying"], " staying")
	}
	explained, planned := "", ""
	for _, problem := range e.Problems {
		if problem.Code == cause.NoEligibleNode {
			explained = facts(problem.Facts)
		}
	}
	for _, w := range p.Warnings {
		if w.Code == plan.NoEligibleNode {
			planned = facts(w.Facts)
		}
	}
	switch {
	case p.Outcome.Code == plan.RemovesAllPods && explained != "" && !strings.HasSuffix(explained, " 0 staying"):
		return fmt.Errorf("explain: no node is eligible, %s; plan: %s", explained, p.Outcome.Code)
	case p.Outcome.Code != plan.RemovesAllPods && explained != planned:
		return fmt.Errorf("explain: no node is eligible, %s; plan: %s", explained, planned)
	}
	return nil
}

// verdicts compares the verdict of explain with the outcome of the plan.
func verdicts(e *explain.Explanation, p *plan.Plan) error {
	o := &p.Outcome
	left := len(o.Holders) + o.FurtherHolders
	wrong := false
	switch e.Verdict.Code {
	case explain.Healthy:
		waits := o.Code == plan.Completes && len(p.Waves) == 0 && p.Replaces == 0 // the end of a terminating pod
		wrong = o.Code != plan.NothingToDo && !waits || left > 0
	case explain.Degraded:
		wrong = o.Code == plan.NothingToDo && left == 0
	case explain.AwaitingDelete:
		wrong = o.Code != plan.NotRolling
	case explain.Stuck:
		wrong = o.Code == plan.NothingToDo || o.Code == plan.NotRolling
	case explain.BeingDeleted:
		wrong = o.Code != plan.NotRolling && o.Code != plan.Unknown
	}
	if wrong {
		return fmt.Errorf("explain: %s; plan: %s, %d nodes stay without an available pod", e.Verdict.Code, o.Code, left)
	}
	return nil
}

// columns compares the numbers of the verdict, and the problems that explain missing pods, with the
// columns.
func columns(e *explain.Explanation) error {
	c := e.Status.Computed
	if c == nil {
		return nil
	}
	for _, col := range e.Columns {
		counted := 0
		for _, g := range col.Groups {
			if g.Counted {
				counted += g.Count
			}
		}
		want := map[string]int{"DESIRED": c.Desired, "CURRENT": c.Current, "READY": c.Ready, "UP-TO-DATE": c.Updated, "AVAILABLE": c.Available, "MISSCHEDULED": c.Misscheduled}[col.Name]
		if counted != want {
			return fmt.Errorf("%s is %d, and %d nodes are counted", col.Name, want, counted)
		}
	}
	return nil
}

// revisions compares the number of nodes on each revision with the History.
func revisions(e *explain.Explanation, h *history.History) error {
	if h == nil {
		return nil
	}
	for _, r := range e.Revisions {
		i := slices.IndexFunc(h.Revisions, func(x history.Revision) bool { return x.Hash == r.Hash && x.Name == r.Name })
		switch {
		case i < 0 && len(r.Nodes) > 0:
			return fmt.Errorf("explain: %d nodes on hash %q, which history does not know", len(r.Nodes), r.Hash)
		case i >= 0 && h.Revisions[i].Nodes != nil && *h.Revisions[i].Nodes != len(r.Nodes):
			return fmt.Errorf("explain: revision %d on %d nodes; history: %d", r.Number, len(r.Nodes), *h.Revisions[i].Nodes)
		case i >= 0 && h.Revisions[i].Updated != nil && *h.Revisions[i].Updated != r.Updated:
			return fmt.Errorf("explain: %d of the nodes on revision %d are updated; history: %d", r.Updated, r.Number, *h.Revisions[i].Updated)
		}
	}
	return nil
}

// updated compares which pods count as updated in the History with the pods of the nodes. A plan
// does not replace these pods; see oldPods.
func updated(e *explain.Explanation, h *history.History) error {
	if h == nil {
		return nil
	}
	said, nodes := 0, 0
	for _, r := range h.Revisions {
		if r.Updated == nil {
			return nil // pods could not be read
		}
		said += *r.Updated
	}
	for _, n := range e.Nodes {
		if len(n.Pods) > 0 && n.Pods[0].Ignored == "" && n.Pods[0].Updated {
			nodes++
		}
	}
	if said != nodes {
		return fmt.Errorf("explain: %d nodes are updated; history: %d", nodes, said)
	}
	return nil
}

// rollouts compares the state of the rollout in the History with the verdict that the History was
// given. A History does not consider nodes, so it does not know that a pod is missing.
func rollouts(e *explain.Explanation, h *history.History) error {
	if h == nil || e.Verdict.Code == explain.Unknown || e.Verdict.Code == explain.NotObserved {
		return nil
	}
	may := map[history.RolloutCode][]explain.VerdictCode{
		history.Settled:        {explain.Healthy, explain.Progressing, explain.Degraded},
		history.UnderWay:       {explain.Progressing},
		history.Stuck:          {explain.Stuck},
		history.AwaitingDelete: {explain.AwaitingDelete, explain.Progressing, explain.Degraded},
		history.Unavailable:    {explain.Healthy, explain.Progressing, explain.Degraded, explain.AwaitingDelete},
		history.NoPods:         {explain.Healthy, explain.Progressing, explain.Degraded},
		history.Deleted:        {explain.BeingDeleted},
	}[h.Rollout.Code]
	if may != nil && !slices.Contains(may, e.Verdict.Code) {
		return fmt.Errorf("explain: %s; history: the rollout is %s", e.Verdict.Code, h.Rollout.Code)
	}
	on, available := 0, 0
	for _, r := range e.Revisions {
		if r.Current {
			on, available = on+r.Pods+r.Terminating, available+r.Available
		}
	}
	if r := h.Rollout; r.Available != nil && (*r.Available != available || *r.Current < on) {
		return fmt.Errorf("explain: %d pods on the current revision, %d available; history: %d, %d", on, available, *r.Current, *r.Available)
	}
	return nil
}
