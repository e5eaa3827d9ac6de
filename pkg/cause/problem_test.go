package cause_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// TestShare checks which facts of a group hold for all its members.
func TestShare(t *testing.T) {
	type facts = daemonset.Facts
	for _, tt := range []struct {
		first, second, want facts
		why                 string
	}{
		{facts{"container": "a", "restarts": 4}, facts{"container": "a", "restarts": 5}, facts{"container": "a"}, "what differs is dropped"},
		{facts{"message": "one"}, facts{"message": "two"}, facts{"message": "one"}, "the first message stands for all"},
		{facts{"availableAt": "2026-03-01T12:00:20Z"}, facts{"availableAt": "2026-03-01T12:00:30Z"}, facts{"availableAt": "2026-03-01T12:00:30Z"}, "all are available when the last one is"},
		{facts{"availableAt": "2026-03-01T12:00:30Z"}, facts{"availableAt": "2026-03-01T12:00:20Z"}, facts{"availableAt": "2026-03-01T12:00:30Z"}, "in whatever order they stand"},
		{facts{"availableAt": "2026-03-01T12:00:30Z"}, facts{}, facts{}, "which is unknown if one's time is"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if cause.Share(tt.first, tt.second); !cmp.Equal(tt.want, tt.first) {
				t.Errorf("got %v, want %v", tt.first, tt.want)
			}
		})
	}
}

// TestPosted checks since when a kubelet has been silent, according to the last heartbeat of its node.
func TestPosted(t *testing.T) {
	at := func(ago time.Duration) *time.Time { t := dstest.Now.Add(-ago).UTC(); return &t }
	stamp := func(ago time.Duration) string { return at(ago).Format(time.RFC3339) }
	for _, tt := range []struct {
		why   string
		facts daemonset.Facts
		since time.Duration
		want  *time.Time
	}{
		{"before it was noticed", daemonset.Facts{"status": "Unknown", "lastHeartbeat": stamp(5 * time.Minute)}, 4 * time.Minute, at(5 * time.Minute)},
		{"at the same moment it says no more", daemonset.Facts{"status": "Unknown", "lastHeartbeat": stamp(4 * time.Minute)}, 4 * time.Minute, nil},
		{"a heartbeat after it was noticed is of a kubelet that came back", daemonset.Facts{"status": "Unknown", "lastHeartbeat": stamp(time.Minute)}, 4 * time.Minute, nil},
		{"a kubelet that reports is not silent", daemonset.Facts{"status": "False", "lastHeartbeat": stamp(5 * time.Minute)}, 4 * time.Minute, nil},
		{"of one that never reported it is the node's creation", daemonset.Facts{"status": "Unknown", "reason": "NodeStatusNeverUpdated", "lastHeartbeat": stamp(5 * time.Minute)}, 4 * time.Minute, nil},
		{"no heartbeat is known", daemonset.Facts{"status": "Unknown"}, 4 * time.Minute, nil},
	} {
		p := cause.Problem{Facts: tt.facts, Since: at(tt.since), Latest: at(tt.since)}
		if diff := cmp.Diff(tt.want, p.Posted()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
	of := func(ago time.Duration) cause.On {
		return cause.On{Node: ago.String(), Cause: &cause.Cause{Code: cause.NodeNotReady, Since: at(time.Minute), Facts: daemonset.Facts{"status": "Unknown", "lastHeartbeat": stamp(ago)}}}
	}
	several := cause.Problems([]cause.On{of(5 * time.Minute), of(3 * time.Minute), of(4 * time.Minute)}, nil)
	if diff := cmp.Diff(at(3*time.Minute), several[0].Posted()); diff != "" {
		t.Errorf("of several nodes the last (-want +got):\n%s", diff)
	}
}
