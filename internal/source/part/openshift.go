package part

import (
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// OpenShift is what OpenShift's controller looks at, and what of it could not be read, by
// namespace. It is empty for any other cluster.
type OpenShift map[string]Selecting

type Selecting struct {
	Of   *snapshot.OpenShift
	Gaps []snapshot.Gap
}

// In returns the Snapshot with what there is for its namespace.
func (o OpenShift) In(s *snapshot.Snapshot, namespace string) *snapshot.Snapshot {
	if o == nil {
		return s
	}
	return s.Selecting(o[namespace].Of, o[namespace].Gaps)
}

// Selected returns a recorded Snapshot with a Gap where it is of OpenShift, and was recorded
// without what its controller looks at, or for another namespace.
func Selected(s *snapshot.Snapshot, recordedFor string) *snapshot.Snapshot {
	lacks := func(why string) *snapshot.Snapshot {
		return s.Selecting(&snapshot.OpenShift{},
			[]snapshot.Gap{{What: snapshot.NamespaceNodeSelector, Why: snapshot.NotGiven,
				Message: "the snapshot was recorded " + why}})
	}
	switch {
	case !snapshot.OnOpenShift(s.Nodes):
		return s
	case s.OpenShift == nil:
		return lacks("without it")
	case s.DaemonSet.Namespace != recordedFor:
		return lacks("for namespace " + recordedFor)
	}
	return s
}
