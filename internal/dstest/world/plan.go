package world

import (
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// Plan returns the plan of a Snapshot, with a change if c is not nil. If the method of the change
// is New, the DaemonSet does not exist yet.
func Plan(s *snapshot.Snapshot, c *whatif.Change, o plan.Options) (*plan.Plan, error) {
	if c != nil && c.Method == "New" {
		created, err := whatif.MakeNew(s, c)
		if err != nil {
			return nil, err
		}
		return plan.MakeChanged(created, o), nil
	}
	st, err := daemonset.StateOf(s)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return plan.Make(st, o), nil
	}
	changed, err := whatif.Make(st, c)
	if err != nil {
		return nil, err
	}
	return plan.MakeChanged(changed, o), nil
}
