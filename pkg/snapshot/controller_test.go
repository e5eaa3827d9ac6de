package snapshot_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func TestLeaseExpired(t *testing.T) {
	now := dstest.Now
	for _, tt := range []struct {
		lease *snapshot.ControllerLease
		want  bool
		why   string
	}{
		{nil, false, "nobody asked"},
		{&snapshot.ControllerLease{}, false, "there is none"},
		{&snapshot.ControllerLease{Exists: true, DurationSeconds: 15}, false, "when it was renewed is unknown"},
		{&snapshot.ControllerLease{Exists: true, RenewedAt: now.Add(-time.Hour)}, false, "how long it holds is unknown"},
		{&snapshot.ControllerLease{Exists: true, RenewedAt: now.Add(-15 * time.Second), DurationSeconds: 15}, false, "it ends now"},
		{&snapshot.ControllerLease{Exists: true, RenewedAt: now.Add(-16 * time.Second), DurationSeconds: 15}, true, "it has ended"},
	} {
		if got := tt.lease.Expired(now); got != tt.want {
			t.Errorf("%s: %t", tt.why, got)
		}
	}
}

// TestControlledBy checks that a Lease replaces an earlier one and its gap, in
// a copy, and survives encoding.
func TestControlledBy(t *testing.T) {
	gap := snapshot.Gap{What: snapshot.Leases, Why: snapshot.Forbidden, Message: "no"}
	other := snapshot.Gap{What: snapshot.Clock, Why: snapshot.NotGiven}
	unread := dstest.State("N").ControlledBy(nil, []snapshot.Gap{gap, other})
	if diff := cmp.Diff([]snapshot.Gap{gap}, unread.Gaps); diff != "" || gap.Consequence() != snapshot.ControllerUnknown {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
	lease := &snapshot.ControllerLease{Exists: true, Holder: "cp-1_u", AcquiredAt: dstest.Now.UTC(), RenewedAt: dstest.Now.UTC(), DurationSeconds: 15}
	s := unread.ControlledBy(lease, nil)
	if len(s.Gaps) > 0 || unread.Controller != nil {
		t.Errorf("%v, and before %v", s.Gaps, unread.Controller)
	}
	raw, err := snapshot.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := snapshot.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lease, again.Controller); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}
