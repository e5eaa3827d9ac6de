package plan

import (
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// planOf plans a Snapshot, after the change c if it is not nil.
func planOf(s *snapshot.Snapshot, c *whatif.Change, o Options) (*Plan, error) {
	st, err := daemonset.StateOf(s)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return Make(st, o), nil
	}
	changed, err := whatif.Make(st, c)
	if err != nil {
		return nil, err
	}
	return MakeChanged(changed, o), nil
}

// newPlan plans a DaemonSet that does not exist yet.
func newPlan(s *snapshot.Snapshot, c *whatif.Change, o Options) (*Plan, error) {
	created, err := whatif.MakeNew(s, c)
	if err != nil {
		return nil, err
	}
	return MakeChanged(created, o), nil
}
