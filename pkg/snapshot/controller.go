package snapshot

import "time"

// ControllerLease is the Lease by which one of the kube-controller-managers of a cluster is
// elected: who runs the DaemonSet controller, and when it last said that it does. It is read
// only for a question about a controller that does nothing.
type ControllerLease struct {
	Exists bool `json:"exists"` // false: there is no such Lease, as where only one of them runs without an election

	// who has it, mostly the name of a machine with a UID behind it; empty if nobody has
	Holder          string    `json:"holder"`
	AcquiredAt      time.Time `json:"acquiredAt"`      // since when; year 1 if that is unknown
	RenewedAt       time.Time `json:"renewedAt"`       // when its holder last renewed it; year 1 if that is unknown
	DurationSeconds int       `json:"durationSeconds"` // how long after that another may take it; 0 if that is unknown
}

// Expired reports whether the holder has not renewed the Lease in time, by this clock. It is
// false where that is unknown, and where there is no Lease.
func (l *ControllerLease) Expired(now time.Time) bool {
	return l != nil && l.Exists && !l.RenewedAt.IsZero() && l.DurationSeconds > 0 &&
		now.After(l.RenewedAt.Add(time.Duration(l.DurationSeconds)*time.Second))
}

// LeaseWhats are the parts that a ControllerLease holds.
var LeaseWhats = []What{Leases}

// ControlledBy returns a copy of the Snapshot with this ControllerLease or, where it is nil,
// without any, and with the gaps of LeaseWhats that are among these.
func (s *Snapshot) ControlledBy(l *ControllerLease, gaps []Gap) *Snapshot {
	c := *s
	c.Controller, c.Gaps = l, replaced(s.Gaps, LeaseWhats, gaps)
	return &c
}
