package snapshot

import "time"

// ControllerLease is the Lease for the leader election of
// kube-controller-manager: who runs the DaemonSet controller, and when it last
// renewed the Lease. It is read only if the controller does not act.
type ControllerLease struct {
	Exists bool `json:"exists"` // false: there is no such Lease, as without leader election

	// its holder, usually the name of a machine followed by a UID; empty if it
	// has none
	Holder          string    `json:"holder"`
	AcquiredAt      time.Time `json:"acquiredAt"`      // when its holder acquired it; year 1 if unknown
	RenewedAt       time.Time `json:"renewedAt"`       // when its holder last renewed it; year 1 if unknown
	DurationSeconds int       `json:"durationSeconds"` // seconds after a renewal until another may acquire it; 0 if unknown
}

// Expired reports whether the holder has failed to renew the Lease in time. It
// is false if that is unknown, and if there is no Lease.
func (l *ControllerLease) Expired(now time.Time) bool {
	return l != nil && l.Exists && !l.RenewedAt.IsZero() && l.DurationSeconds > 0 &&
		now.After(l.RenewedAt.Add(time.Duration(l.DurationSeconds)*time.Second))
}

// LeaseWhats are the parts that a ControllerLease contains.
var LeaseWhats = []What{Leases}

// ControlledBy returns a copy of the Snapshot with l as its ControllerLease,
// which may be nil. The gaps for LeaseWhats replace the existing ones.
func (s *Snapshot) ControlledBy(l *ControllerLease, gaps []Gap) *Snapshot {
	c := *s
	c.Controller, c.Gaps = l, replaced(s.Gaps, LeaseWhats, gaps)
	return &c
}
