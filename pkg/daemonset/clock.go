package daemonset

import (
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// EarliestClock returns the earliest time, from TakenAt on, at which the
// controller would write the status that it reported. It is TakenAt where that
// is such a time, and where no time is.
//
// It is for a Snapshot whose clock is a guess, the newest time in a dump: the
// controller may have counted a pod that only a later moment makes available, by
// minReadySeconds. No other number depends on the clock.
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
	var later []time.Time // when nodes come to be available
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
