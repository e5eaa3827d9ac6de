// Package agree holds what is said of one Snapshot to what is said elsewhere of
// the same: parts of one document, and documents about one moment. Only tests
// use it.
package agree

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// Plan returns an error where the table of waves, the outcome and the
// assumptions of a Plan contradict each other.
func Plan(p *plan.Plan) error {
	if f := p.IfTemplateChanged; f != nil {
		present := slices.DeleteFunc(slices.Clone(p.Assumptions), func(a daemonset.Assumption) bool { return a.Code == plan.AssumeRevisionFails }) // another revision
		if err := forecast(f, present); err != nil {
			return fmt.Errorf("if the template changed: %w", err)
		}
	}
	return forecast(&p.Forecast, p.Assumptions)
}

func forecast(f *plan.Forecast, assumed []daemonset.Assumption) error {
	o := &f.Outcome
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
	// The status counts a node by its oldest pod: of nodes that stay with one on its way out that does not go, or with two
	// under a surge, it may say otherwise than who looks for an available pod.
	odd := value[plan.AssumeNodesStay]
	if f.Budget.Kind == daemonset.BudgetSurge {
		odd += o.FurtherHolders
	}
	without, lacking := len(o.Holders)+o.FurtherHolders, end.Desired-end.Available
	switch {
	case o.Code == plan.Completes && (lacking > without+odd || lacking < without-odd):
		return fmt.Errorf("completes, the table ends with %d of %d available, and %d nodes are said to be without an available pod", end.Available, end.Desired, without)
	case lacking > without+odd:
		return fmt.Errorf("%s, the table ends with %d of %d available, and only %d nodes are said to be without an available pod", o.Code, end.Available, end.Desired, without)
	case o.Worst+odd < lacking:
		return fmt.Errorf("at most %d nodes are without an available pod, and at the end %d are", o.Worst, lacking)
	case given[plan.AssumeRevisionFails] && end.Available > o.Left+value[plan.AssumeReadyPods]:
		return fmt.Errorf("no pod of the revision becomes available, the table ends with %d available, and %d old pods are left", end.Available, o.Left)
	case o.Code == plan.Completes && end.Updated+without+odd < end.Desired:
		return fmt.Errorf("completes with %d of %d updated and %d nodes left", end.Updated, end.Desired, without)
	case o.Replaced+o.Left != f.Replaces:
		return fmt.Errorf("%d old pods, %d replaced and %d left", f.Replaces, o.Replaced, o.Left)
	case o.Code == plan.Completes && o.Left > 0:
		return fmt.Errorf("completes with %d old pods left", o.Left)
	}
	return nil
}
