package daemonset_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

func TestEarliestClock(t *testing.T) {
	const newest, older = dstest.Newest, "v1.33.1"
	for _, tt := range []struct {
		ready   string // for how long each pod has been ready; minReadySeconds is 30
		version string
		reports int // numberAvailable
		edit    func(*snapshot.Snapshot)
		want    time.Duration // after TakenAt
		why     string
	}{
		{"60s 60s 60s", newest, 3, nil, 0, "all are available already"},
		{"60s 60s 10s", newest, 2, nil, 0, "one is not, and was not counted"},
		{"60s 60s 10s", newest, 3, nil, 20 * time.Second, "one is counted that comes to 30 s in 20 s"},
		{"60s 60s 10s", older, 3, nil, 21 * time.Second, "before 1.34 it is available only after that moment"},
		{"60s 0s 10s", newest, 2, nil, 20 * time.Second, "of two the earlier"},
		{"60s 0s 10s", newest, 3, nil, 30 * time.Second, "or both"},
		{"60s 10s 10s", newest, 2, nil, 0, "two at once, of which only one was counted: no clock explains it"},
		{"60s 60s 10s", newest, 1, nil, 0, "fewer than there are: a status that is behind"},
		{"60s -", newest, 2, nil, 0, "a pod that is not ready is not available at any time"},
		{"60s 10s", newest, 2, func(s *snapshot.Snapshot) { s.DaemonSet.Status.NumberReady = 1 }, 0, "another number differs: the status is of other pods"},
		{"60s 10s", newest, 2, func(s *snapshot.Snapshot) { s.DaemonSet.Status.NumberUnavailable = 1 }, 0, "a status that contradicts itself explains nothing"},
		{"60s 10s", newest, 2, func(s *snapshot.Snapshot) { s.DaemonSet.Generation = 9 }, 0, "nor does one of an older generation"},
		{"60s 10s", newest, 2, lacks(snapshot.DaemonSetStatus), 0, "or one that is not there"},
		{"60s 10s", newest, 2, lacks(snapshot.Nodes), 0, "without the nodes nothing is computed"},
		{"60s 10s", newest, 2, lacks(snapshot.PodStatus), 0, "nor without the status of the pods"},
	} {
		ages := strings.Fields(tt.ready)
		s := dstest.State(strings.Repeat("N ", len(ages)), dstest.MinReadySeconds(30), dstest.Version(tt.version))
		now := metav1.NewTime(s.TakenAt.Truncate(time.Second))
		s.TakenAt = now.Time
		for i, age := range ages {
			c := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse}
			if d, err := time.ParseDuration(age); err == nil {
				c.Status, c.LastTransitionTime = corev1.ConditionTrue, metav1.NewTime(now.Add(-d))
			}
			s.Pods[i].Status.Conditions = []corev1.PodCondition{c}
		}
		report(s, tt.version)
		s.DaemonSet.Status.NumberAvailable, s.DaemonSet.Status.NumberUnavailable = int32(tt.reports), int32(len(ages)-tt.reports)
		if tt.edit != nil {
			tt.edit(s)
		}
		profile, err := daemonset.ForVersion(tt.version)
		if err != nil {
			t.Fatal(err)
		}
		got, err := daemonset.EarliestClock(s, profile)
		if err != nil || got.Sub(s.TakenAt) != tt.want {
			t.Errorf("%s: %v later, %v, want %v", tt.why, got.Sub(s.TakenAt), err, tt.want)
		}
	}
}

func lacks(what snapshot.What) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Gaps = append(s.Gaps, snapshot.Gap{What: what, Why: snapshot.NotGiven})
	}
}

// report sets the DaemonSet's status to what the controller would write.
func report(s *snapshot.Snapshot, version string) daemonset.Counts {
	profile, err := daemonset.ForVersion(version)
	if err != nil {
		panic(err)
	}
	st, err := daemonset.New(s, profile)
	if err != nil {
		panic(err)
	}
	c, _ := st.Counts()
	s.DaemonSet = s.DaemonSet.DeepCopy()
	s.DaemonSet.Status = appsv1.DaemonSetStatus{
		ObservedGeneration: s.DaemonSet.Generation, DesiredNumberScheduled: int32(c.Desired), CurrentNumberScheduled: int32(c.Current), NumberMisscheduled: int32(c.Misscheduled),
		NumberReady: int32(c.Ready), UpdatedNumberScheduled: int32(c.Updated), NumberAvailable: int32(c.Available), NumberUnavailable: int32(c.Unavailable),
	}
	return c
}

// TestEarliestClockIsTheEarliest checks that the clock explains a status
// written at a later time, is not after that time, and is the earliest such
// clock to the second.
func TestEarliestClockIsTheEarliest(t *testing.T) {
	moved := 0
	for seed := range cases.Of(int64(100)) {
		version := []string{dstest.Newest, "v1.30.5"}[seed%2]
		s := dstest.RandomFor(seed, version)
		if s.Lacks(snapshot.Nodes) || s.Lacks(snapshot.Pods) {
			continue
		}
		s.TakenAt = s.TakenAt.Truncate(time.Second)
		written := s.At(s.TakenAt.Add(time.Duration(seed%50) * time.Second))
		want := report(written, version)
		s.DaemonSet = written.DaemonSet
		profile, err := daemonset.ForVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		got, err := daemonset.EarliestClock(s, profile)
		if err != nil || got.Before(s.TakenAt) || got.After(written.TakenAt) {
			t.Fatalf("seed %d: %v, %v: not between %v and %v", seed, got, err, s.TakenAt, written.TakenAt)
		}
		if c := report(s.At(got), version); c != want {
			t.Fatalf("seed %d: %v later the status is %+v, want %+v", seed, got.Sub(s.TakenAt), c, want)
		}
		if got.After(s.TakenAt) {
			moved++
			if c := report(s.At(got.Add(-time.Second)), version); c == want {
				t.Fatalf("seed %d: a second before it is the same", seed)
			}
		}
	}
	if moved < cases.Least(5) {
		t.Errorf("only %d clocks moved", moved)
	}
}
