package explain

import (
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
)

// TestWaiting tests the pods of the current revision that only wait for
// minReadySeconds, and when the last of them becomes available.
func TestWaiting(t *testing.T) {
	soon, later := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 20, 12, 3, 0, 0, time.UTC)
	waits := func(at time.Time) Pod { return Pod{Updated: true, Ready: true, AvailableAt: &at} }
	old, ended, there, unknown := waits(later), waits(later), waits(later), waits(later)
	old.Updated, ended.Terminating, there.Available, unknown.AvailableAt = false, true, true, nil
	for _, tt := range []struct {
		pods  []Pod
		want  int
		until time.Time
		why   string
	}{
		{[]Pod{waits(soon), waits(later), waits(soon)}, 3, later, "the last of them decides"},
		{[]Pod{waits(soon), old}, 1, soon, "an old pod is not of the current revision"},
		{[]Pod{ended, there, unknown, {Updated: true}}, 0, time.Time{}, "terminating, available, not known since when, not Ready"},
	} {
		e := &Explanation{}
		for _, p := range tt.pods {
			e.Nodes = append(e.Nodes, Node{Pods: []Pod{p}})
		}
		if n, until := e.Waiting(); n != tt.want || !until.Equal(tt.until) {
			t.Errorf("%s: %d until %v, want %d until %v", tt.why, n, until, tt.want, tt.until)
		}
	}
}

// TestOutside checks that a quota is outside the reach of a change of the
// DaemonSet, and that a revision is not.
func TestOutside(t *testing.T) {
	for who, stays := range map[cause.Who]bool{
		cause.WhoPolicy: true, cause.WhoOtherWorkload: true,
		cause.WhoChange: false, cause.WhoNode: false, cause.WhoStrategy: false, cause.WhoUnknown: false,
	} {
		e := &Explanation{Problems: []Problem{{Code: cause.FailedCreate, Blame: &cause.Blame{Who: who}}, {Code: cause.OOMKilled}}}
		if got := e.Outside(cause.FailedCreate); (got != nil) != stays {
			t.Errorf("%s: %v", who, got)
		}
		if e.Outside(cause.OOMKilled) != nil || e.Outside(cause.NoPod) != nil {
			t.Errorf("%s is at fault for another problem", who)
		}
	}
}
