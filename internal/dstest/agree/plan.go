// Package agree checks, for tests, that statements about one Snapshot do not contradict each other,
// within a document and between documents. It takes the documents and returns an error for a
// contradiction.
package agree

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// Plan returns an error if the waves, the outcome and the assumptions of a Plan contradict each
// other.
func Plan(p *plan.Plan) error {
	if f := p.IfTemplateChanged; f != nil {
		// The forecast is about another revision.
		present := slices.DeleteFunc(slices.Clone(p.Assumptions), func(a daemonset.Assumption) bool { return a.Code == plan.AssumeRevisionFails })
		if err := forecast(f, present); err != nil {
			return fmt.Errorf("if the template changed: %w", err)
		}
	}
	for _, law := range []func(*plan.Plan) error{
		func(p *plan.Plan) error { return forecast(&p.Forecast, p.Assumptions) }, firstSync, lost, noneEligible,
	} {
		if err := law(p); err != nil {
			return err
		}
	}
	return nil
}

// firstSync compares the first wave with the first sync. The wave begins with this sync and may
// include syncs that replace the pods it deletes.
func firstSync(p *plan.Plan) error {
	n := &p.Next
	creates, deletes := n.Creates.Len(), n.Deletes.Len()
	refused := p.Outcome.Reason == cause.FailedCreate || slices.ContainsFunc(p.Assumptions, func(a daemonset.Assumption) bool { return a.Code == plan.AssumeRefused })
	// Nothing acts on the sync.
	idle := p.Outcome.Reason == cause.ControllerSilent || p.Outcome.Reason == plan.Unfilled && len(p.Waves) == 0
	if refused || idle || n.Error != nil || p.Outcome.Code == plan.Unknown {
		return nil
	}
	switch {
	case len(p.Waves) == 0 && creates+deletes > 0:
		return fmt.Errorf("the first sync creates %d and deletes %d, and there is no wave", creates, deletes)
	case len(p.Waves) == 0:
		return nil
	}
	w := &p.Waves[0]
	switch {
	case w.Creates < creates || w.Deletes < deletes:
		return fmt.Errorf("the first sync creates %d and deletes %d, wave 1 only %d and %d", creates, deletes, w.Creates, w.Deletes)
	case w.At != nil && (*w.At == 0) != (creates+deletes > 0):
		return fmt.Errorf("the first sync creates %d and deletes %d, and wave 1 begins after %g s", creates, deletes, *w.At)
	}
	return nil
}

// lost compares the nodes that lose their pod with the number of such pods.
func lost(p *plan.Plan) error {
	var names []string
	for _, n := range p.Lost {
		names = append(names, n.Node)
		if n.Verdict.OK {
			return fmt.Errorf("%s loses its pod, and nothing says why", n.Node)
		}
	}
	for _, n := range p.Placement.Lose {
		if !slices.Contains(names, n.Node) {
			return fmt.Errorf("%s loses its pod at once, and is not among %q", n.Node, names)
		}
	}
	for _, n := range p.Stranded {
		i := slices.Index(names, n.Node)
		if i < 0 || p.Lost[i].Verdict.Facts.Text("effect") != string(corev1.TaintEffectNoSchedule) || len(n.Changes) == 0 || slices.Contains(plan.Nodes(p.Placement.Lose), n.Node) {
			return fmt.Errorf("%s is stranded, and is not among %q for a NoSchedule taint and in the rollout, or nothing would keep its pod", n.Node, names)
		}
	}
	o := &p.Outcome
	removed := p.Change != nil && slices.ContainsFunc(p.Change.Nodes, func(c whatif.NodeChange) bool { return c.Kind == whatif.NodeRemove })
	switch {
	case !slices.IsSorted(names):
		return fmt.Errorf("%q are not sorted", names)
	case o.Code == plan.NothingToDo && len(names) > 0:
		return fmt.Errorf("nothing to do, and %q lose their pod", names)
	case o.ReachesEnd() && p.Drops > 0 && p.Replaces == 0 && len(names) == 0: // a second pod on a node may be deleted alone
		return fmt.Errorf("%d pods are deleted without replacement, and no node loses its pod", p.Drops)
	case o.Code == plan.RemovesAllPods && !removed && len(names) == 0:
		return fmt.Errorf("all pods are removed, and no node loses its pod")
	case o.Code == plan.NotRolling && (p.Replaces != o.Replaced || p.Drops != o.Dropped):
		return fmt.Errorf("nothing is rolling, and %d pods are to be replaced, %d deleted; %d and %d are", p.Replaces, p.Drops, o.Replaced, o.Dropped)
	}
	return nil
}

// noneEligible compares the warning that no node is eligible with the pods that stay and that are
// deleted.
func noneEligible(p *plan.Plan) error {
	_, none := p.NoneEligible()
	if known := p.Next.Exact && p.Outcome.Reason != daemonset.StepBeingDeleted && p.Outcome.Reason != daemonset.StepSelectsAll; known && none && p.Desired.After > 0 {
		return fmt.Errorf("no node is eligible, and DESIRED is %d", p.Desired.After)
	}
	if p.LeavesNoPod() && p.Desired.After > 0 {
		return fmt.Errorf("no node runs the pod at the end, and DESIRED is %d", p.Desired.After)
	}
	for _, w := range p.Warnings {
		if w.Code != plan.NoEligibleNode {
			continue
		}
		staying, losing := w.Facts.Int("staying"), w.Facts.Int("losing")
		if losing != len(p.Lost) {
			return fmt.Errorf("no node is eligible: %d are said to lose their pod, and %d do", losing, len(p.Lost))
		}
		if len(p.Waves) == 0 || !p.Outcome.ReachesEnd() || p.Outcome.Terminating > 0 {
			continue
		}
		odd := 0 // nodes with a pod that is stuck terminating, which the status counts
		for _, a := range p.Assumptions {
			if a.Code == plan.AssumeNodesStay {
				odd, _ = strconv.Atoi(a.Value)
			}
		}
		if end := p.Waves[len(p.Waves)-1].Counts; end.Misscheduled < staying || end.Misscheduled > staying+odd {
			return fmt.Errorf("no node is eligible: %d pods are said to stay, and the table ends with %d misscheduled", staying, end.Misscheduled)
		}
	}
	return nil
}

func forecast(f *plan.Forecast, assumed []daemonset.Assumption) error {
	o := &f.Outcome
	if err := limits(f); err != nil {
		return err
	}
	if o.Code == plan.Unknown || len(f.Waves) == 0 {
		return nil
	}
	end := f.Waves[len(f.Waves)-1].Counts
	value := map[daemonset.AssumptionCode]int{}
	given := map[daemonset.AssumptionCode]bool{}
	for _, a := range assumed {
		given[a.Code] = true
		value[a.Code], _ = strconv.Atoi(a.Value)
	}
	// The status counts a node by its oldest pod. If that pod is stuck terminating, or if the node
	// has two pods during a surge, the status can differ from a search for an available pod.
	odd := value[plan.AssumeNodesStay]
	if f.Budget.Kind == daemonset.BudgetSurge {
		odd += o.FurtherHolders
	}
	without, lacking := len(o.Holders)+o.FurtherHolders, end.Desired-end.Available
	switch {
	case o.ReachesEnd() && (lacking > without+odd || lacking < without-odd):
		return fmt.Errorf("completes, the table ends with %d of %d available, and %d nodes are said to be without an available pod", end.Available, end.Desired, without)
	case lacking > without+odd:
		return fmt.Errorf("%s, the table ends with %d of %d available, and only %d nodes are said to be without an available pod", o.Code, end.Available, end.Desired, without)
	case o.Worst+odd < lacking:
		return fmt.Errorf("at most %d nodes are without an available pod, and at the end %d are", o.Worst, lacking)
	case (given[plan.AssumeRevisionFails] || given[plan.AssumeInvalidImage]) && end.Available > o.Left+value[plan.AssumeReadyPods]+odd:
		return fmt.Errorf("no pod of the revision becomes available, the table ends with %d available, and %d old pods are left", end.Available, o.Left)
	case o.ReachesEnd() && end.Updated+without+odd < end.Desired:
		return fmt.Errorf("completes with %d of %d updated and %d nodes left", end.Updated, end.Desired, without)
	case o.Code != plan.NotRolling && o.Replaced+o.Dropped+o.Left != f.Replaces+f.Drops:
		return fmt.Errorf("%d old pods to replace and %d to delete; %d replaced, %d deleted and %d left", f.Replaces, f.Drops, o.Replaced, o.Dropped, o.Left)
	case o.AtATime > f.Budget.Limit && f.Budget.Kind == daemonset.BudgetUnavailable:
		return fmt.Errorf("%d at a time, with a limit of %d", o.AtATime, f.Budget.Limit)
	case o.AtATime+o.AtOnce < o.Largest || o.AtATime > o.Largest:
		return fmt.Errorf("%d at once and %d at a time, which makes %d at most", o.AtOnce, o.AtATime, o.Largest)
	case o.ReachesEnd() && o.Left > 0:
		return fmt.Errorf("completes with %d old pods left", o.Left)
	}
	return nil
}

// limits compares the entry for the current limit among the other limits with the Forecast itself.
func limits(f *plan.Forecast) error {
	for _, l := range f.Limits {
		o := &f.Outcome
		switch {
		case !l.Planned:
			continue
		case l.Code != o.Code || l.Steps != o.Steps || l.AtATime != o.AtATime || l.Nodes != f.Budget.Limit:
			return fmt.Errorf("%s in %d steps, %d at a time, with a limit of %d; that limit among others: %+v", o.Code, o.Steps, o.AtATime, f.Budget.Limit, l)
		case !reflect.DeepEqual(l.Duration, o.Duration):
			return fmt.Errorf("takes %+v; with that limit among others: %+v", o.Duration, l.Duration)
		}
	}
	return nil
}
