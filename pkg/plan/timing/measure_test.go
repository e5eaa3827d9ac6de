package timing

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTerminations(t *testing.T) {
	for _, tt := range []struct {
		events string // D and C with their seconds, as the controller writes them
		limit  string
		want   []float64
		why    string
	}{
		{"D0 C4 D10 C13", "1", []float64{4, 3}, "one after the other"},
		{"D0 C1 D1 C2", "1", []float64{1, 1}, "two pairs that meet in one second"},
		{"D0 D0 C4 C6", "2", []float64{4, 6}, "two at a time"},
		{"C0 D10 C14", "1", []float64{4}, "what was created before is of no delete"},
		{"D0 C4 D10", "1", []float64{4}, "nor does a delete count that nothing follows yet"},
		{"D0 D0 C4 D10 C13", "2", []float64{3}, "a create that was not told of spoils what belongs to it, and no more"},
		{"D0 C0", "1", []float64{0}, "in less than a second"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State("N", dstest.MaxUnavailable(tt.limit))
			for _, e := range strings.Fields(tt.events) {
				at, err := strconv.Atoi(e[1:])
				if err != nil {
					t.Fatal(err)
				}
				reason := map[byte]string{'D': "SuccessfulDelete", 'C': "SuccessfulCreate"}[e[0]]
				s.Events = append(s.Events, corev1.Event{
					InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", UID: s.DaemonSet.UID}, Reason: reason, Count: 1,
					FirstTimestamp: metav1.NewTime(dstest.Now.Add(time.Duration(at) * time.Second)),
				})
			}
			slices.Reverse(s.Events) // in whatever order they were read
			if diff := cmp.Diff(tt.want, terminations(newState(t, s))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.events, diff)
			}
		})
	}
}
