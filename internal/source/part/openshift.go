package part

import (
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// OpenShift maps a namespace to what OpenShift's controller reads for it. It is nil for any other
// cluster.
type OpenShift map[string]Selecting

type Selecting struct {
	Of   *snapshot.OpenShift
	Gaps []snapshot.Gap
}

// In returns s with the entry of the namespace.
func (o OpenShift) In(s *snapshot.Snapshot, namespace string) *snapshot.Snapshot {
	if o == nil {
		return s
	}
	return s.Selecting(o[namespace].Of, o[namespace].Gaps)
}

// Selected returns a recorded Snapshot. It adds a Gap if the Snapshot is from OpenShift and was
// recorded without what OpenShift's controller reads, or for another namespace.
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
