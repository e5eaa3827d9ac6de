package cause_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// TestShare: what a group says of all its members.
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
