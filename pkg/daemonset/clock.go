package daemonset

import (
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// EarliestClock returns the earliest time, not before TakenAt, at which the
// controller would write the status that it reported. It returns TakenAt if
// there is no such time.
//
// It is meant for a Snapshot whose clock is only an estimate, such as the
// newest time in a dump: the controller may already have counted a pod that
// becomes available, by minReadySeconds, after TakenAt. No other number of the
// status depends on the clock.
func EarliestClock(s *snapshot.Snapshot, profile Profile) (time.Time, error) {
	st, err := New(s, profile)
	if err != nil {
		return s.TakenAt, err
	}
	computed, known := st.Counts()
	reported := Reported(s.DaemonSet)
	missing := reported.Available - computed.Available
	computed.Available, computed.Unavailable = reported.Available, reported.Unavailable
	if !known || !st.StatusRead || st.NotObserved() || missing <= 0 || computed != reported ||
		reported.Unavailable != reported.Desired-reported.Available {
		return s.TakenAt, nil
	}
	var later []time.Time // when nodes become available
	for i := range st.Nodes {
		if n := &st.Nodes[i]; n.Membership().Ready && !n.Membership().Available && n.Pods[0].AvailableAt != nil {
			at := *n.Pods[0].AvailableAt
			if !profile.AvailableInclusive {
				at = at.Add(time.Second) // the API's times are of whole seconds
			}
			later = append(later, at)
		}
	}
	slices.SortFunc(later, time.Time.Compare)
	if len(later) < missing || len(later) > missing && later[missing].Equal(later[missing-1]) {
		return s.TakenAt, nil
	}
	return later[missing-1], nil
}
