package plan

import (
	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// planOf plans a Snapshot as it is, or after a change, which may be nil.
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

// newPlan plans a DaemonSet that is not there yet.
func newPlan(s *snapshot.Snapshot, c *whatif.Change, o Options) (*Plan, error) {
	created, err := whatif.MakeNew(s, c)
	if err != nil {
		return nil, err
	}
	return MakeChanged(created, o), nil
}

// anywhere returns a random state of a version; some are of OpenShift, some of these of a
// version that counts what the namespace excludes.
func anywhere(seed int64, version string) *snapshot.Snapshot {
	switch seed % 6 {
	case 4:
		return dstest.OnOpenShift(dstest.RandomFor(seed, version), seed)
	case 5:
		return dstest.OnOpenShift(dstest.RandomFor(seed, "v1.30.5"), seed)
	}
	return dstest.RandomFor(seed, version)
}
