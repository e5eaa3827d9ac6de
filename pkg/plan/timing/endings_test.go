package timing

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// What the pace of a rollout tells of how long pods take to end. A pod is written as
// the second at which it was created, and that at which it became ready: "5-9"; "5" has
// not. "O5-9" is of the revision before, and "O5-9t" terminating. The rollout to their
// revision began at second 0, unless began says otherwise.
func TestEndings(t *testing.T) {
	for _, tt := range []struct {
		limit    string
		minReady int32
		began    int
		pods     string
		want     []float64
		why      string
	}{
		{"1", 0, 0, "5-9 14-19 24", []float64{5, 5, 5}, "each is created 5 s after room was made: at 0, 9 and 19"},
		{"1", 0, 0, "24 5-9 14-19", []float64{5, 5, 5}, "in whatever order they stand"},
		{"2", 0, 0, "4-10 6-13 15-20 19-30 24", []float64{4, 4, 5, 6, 6}, "two rooms at first: 4 and 6; then at 10, 13, 20: 5, 6, 4"},
		{"1", 10, 0, "5-9 24-28 43", []float64{5, 5, 5}, "the room is made when the pod is available: at 19 and 38"},
		{"1", 0, -500, "5-9 14-19 24", []float64{5, 5}, "its revision is older than it, as of one that was rolled back to: where the first pod's room is from is unknown"},
		{"2", 0, -500, "4-10 6-13 15-20 19-30 24", []float64{4, 5, 6}, "the same for the first two of two"},
		{"1", 0, 0, "5-9 3009-3014 3019", []float64{5, 5}, "it was held for long: that create tells nothing"},
		{"1", 0, 0, "35-40 3040", []float64{35}, "as long as the grace period of 30 s and a little"},
		{"1", 0, 0, "", nil, "nothing was created"},
		{"1", 0, 0, "O5-9 O14-19 O24-29", []float64{5, 5, 5}, "before the first new pod, the last rollout tells"},
		{"1", 0, 0, "O5-9 O14-19t O24-29", []float64{5, 5, 5}, "also when the next one has begun"},
		{"1", 0, 0, "O5-9 O14-19 O24", nil, "one that is not ready leaves open when the next had room"},
		{"1", 0, 0, "O0-9 O0-9 O0-9", nil, "a first rollout, of which all pods were created at once, ended none"},
		{"3", 0, 0, "50-60 100-110 160", nil, "the first was created too late to be of the beginning, and where the others have room from is unknown"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			fields := strings.Fields(tt.pods)
			grid, source := "", sourceLastRollout
			for _, field := range fields {
				switch {
				case strings.HasSuffix(field, "t"):
					grid += "Ot "
				case field[0] == 'O':
					grid += "O "
				default:
					grid, source = grid+"N ", sourceRollout
				}
			}
			if source == sourceRollout || len(fields) == 0 {
				grid += "O"
			}
			s := dstest.State(strings.TrimSpace(grid), dstest.MaxUnavailable(tt.limit), dstest.MinReadySeconds(tt.minReady))
			at := func(second int) metav1.Time {
				return metav1.NewTime(dstest.Now.Add(time.Duration(second-10000) * time.Second))
			}
			for i, field := range fields {
				var created, ready int
				n, _ := fmt.Sscanf(strings.TrimPrefix(field, "O"), "%d-%d", &created, &ready)
				p := &s.Pods[i]
				p.CreationTimestamp = at(created)
				for j := range p.Status.Conditions {
					if c := &p.Status.Conditions[j]; c.Type == corev1.PodReady {
						c.LastTransitionTime = at(ready)
						if n == 1 {
							c.Status = corev1.ConditionFalse
						}
					}
				}
			}
			for i := range s.Revisions {
				s.Revisions[i].Revision += 3 // the pods of the first revision replace none
				if s.Revisions[i].Name == map[string]string{sourceRollout: "agent-new", sourceLastRollout: "agent-old"}[source] {
					s.Revisions[i].CreationTimestamp = at(tt.began)
				}
			}
			got, by := endings(newState(t, s))
			if diff := cmp.Diff(tt.want, got.Seconds); diff != "" || by != source {
				t.Errorf("%s, by %s, want %s (-want +got):\n%s", tt.pods, by, source, diff)
			}
		})
	}
}

// When the controller counts pods as available that have to be ready for 10 s: it looks
// when one becomes ready or is created, and 10 s after a look at one that is ready and
// not yet available, unless it looks earlier already.
func TestCounted(t *testing.T) {
	for _, tt := range []struct {
		created, ready, want []float64
		why                  string
	}{
		{nil, []float64{5}, []float64{15}, "it comes back for the one"},
		{nil, []float64{5, 8}, []float64{15, 25}, "at 15 the second is not yet available: the look at 18 was never to be, the next is at 25"},
		{[]float64{19}, []float64{5, 8}, []float64{15, 19}, "a create makes it look before"},
		{nil, []float64{5, 30}, []float64{15, 40}, "each on its own"},
		{[]float64{1, 2}, nil, nil, "none is ready"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, counted(tt.created, tt.ready, 10)); diff != "" {
				t.Errorf("ready %v, created %v (-want +got):\n%s", tt.ready, tt.created, diff)
			}
		})
	}
}

// With a surge, old pods that are gone beside an available new one took no longer than
// that is ago, and those that are still terminating longer: the median in whole seconds,
// 0 where nothing tells. A grace period is 30 s, which a pod may use wholly and a second
// more; before anything is seen, a third is expected to, and a third to end within about
// a second.
func TestBesides(t *testing.T) {
	readyFor := func(pod string, seconds int) dstest.Option {
		return dstest.Pod(pod, func(p *corev1.Pod) {
			for i := range p.Status.Conditions {
				if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
					c.LastTransitionTime = metav1.NewTime(dstest.Now.Add(-time.Duration(seconds) * time.Second))
				}
			}
		})
	}
	deletedFor := func(pod string, seconds int) dstest.Option {
		return dstest.Pod(pod, func(p *corev1.Pod) {
			grace := int64(30)
			at := metav1.NewTime(dstest.Now.Add(time.Duration(30-seconds) * time.Second))
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
		})
	}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    int
		why     string
	}{
		{"N O", []dstest.Option{readyFor("p0", 4)}, 1, "the new one is available for 4 s and the old one is gone: most likely it ended at once"},
		{"N N O", []dstest.Option{readyFor("p0", 9), readyFor("p1", 4)}, 1, "what may have taken longer does not speak against it"},
		{"N Ot/N O", []dstest.Option{readyFor("p0", 4), deletedFor("p1", 7), readyFor("p1b", 8)}, 5, "one took up to 4 s, another one takes 7 s and more: between them"},
		{"N O", []dstest.Option{readyFor("p0", 7), dstest.MinReadySeconds(3)}, 1, "it was deleted when the new one was available, 3 s after it was ready"},
		{"N O", []dstest.Option{readyFor("p0", 0)}, 1, "nothing takes no time"},
		{"N O", []dstest.Option{readyFor("p0", 30)}, 0, "as long as the grace period: that much is known without it"},
		{"O/n O", nil, 0, "none is available"},
		{"Ot/N O", []dstest.Option{deletedFor("p0", 7), readyFor("p0b", 9)}, 31, "what is there after 7 s most likely does not obey SIGTERM"},
		{"Ot/N Ot/N Nt/N O", []dstest.Option{deletedFor("p0", 2), deletedFor("p1", 1), deletedFor("p2", 1)}, 31, "and so do three that are there after a second or two"},
		{"Ot/N O", []dstest.Option{deletedFor("p0", 0), readyFor("p0b", 1)}, 6, "one that was just deleted tells next to nothing"},
		{"O/N O", []dstest.Option{readyFor("p0b", 4)}, 0, "the old one is not deleted yet"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, append(tt.options, dstest.MaxSurge("1"), dstest.MaxUnavailable("0"))...)
			got := besides(newState(t, s))
			if len(got.Seconds) == 0 && tt.want == 0 {
				return
			}
			if median := got.Seconds[len(got.Seconds)/2]; int(math.Round(median)) != tt.want || got.most != 31 {
				t.Errorf("%s: %.1f s at most %.1f s, want %d s", tt.grid, median, got.most, tt.want)
			}
		})
	}
}

func newState(t *testing.T, s *snapshot.Snapshot) *daemonset.State {
	t.Helper()
	st, err := daemonset.StateOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return st
}
