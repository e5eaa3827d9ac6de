package follow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestLate checks which pods take longer than any other pod did. The others took 20s to become Ready.
func TestLate(t *testing.T) {
	slow := func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(dstest.Now.Add(-time.Hour)) }
	readyIn20 := func(pods ...string) (out []dstest.Option) {
		for _, name := range pods {
			out = append(out, dstest.Pod(name, func(p *corev1.Pod) {
				slow(p)
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(dstest.Now.Add(20*time.Second - time.Hour))}}
			}))
		}
		return out
	}
	deleted := func(name string, ago time.Duration) dstest.Option {
		return dstest.Pod(name, func(p *corev1.Pod) {
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &metav1.Time{Time: dstest.Now.Add(30*time.Second - ago)}, new(int64(30))
		})
	}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		o       plan.Options
		want    string
		why     string
	}{
		{"n N N N O", append(readyIn20("p1", "p2", "p3"), dstest.NotReadyFor("p0", 40*time.Second)), plan.Options{}, "n0 starts for 40s", "twice as long as the others"},
		{"n N N N O", append(readyIn20("p1", "p2", "p3"), dstest.NotReadyFor("p0", 22*time.Second)), plan.Options{}, "", "times are known to the second"},
		{"n O O O O", []dstest.Option{dstest.NotReadyFor("p0", 40*time.Second)}, plan.Options{Starts: []time.Duration{10 * time.Second}}, "n0 starts for 40s", "longer than the person who asks said"},
		{"ot N O", []dstest.Option{deleted("p0", 40*time.Second)}, plan.Options{}, "", "the grace period is no measure"},
		{"ot N O", []dstest.Option{deleted("p0", 40*time.Second)}, plan.Options{Termination: new(5 * time.Second)}, "n0 ends for 40s", "longer than the person who asks said"},
		{"!ot N O", []dstest.Option{deleted("p0", 40*time.Second)}, plan.Options{Termination: new(5 * time.Second)}, "", "no node of the rollout"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p, err := NewFollower(newState(t, dstest.State(tt.grid, tt.options...)), tt.o).Progress(dstest.Now)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range p.Late {
				got = append(got, fmt.Sprintf("%s %s for %s", l.Node, map[bool]string{true: "ends", false: "starts"}[l.Deleting], l.For))
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("%q: late is %q, want %q", tt.grid, got, tt.want)
			}
		})
	}
}

// TestIdle checks from when on a rollout makes no progress, and since when. The old pods took 20s to become Ready.
func TestIdle(t *testing.T) {
	took := func(names ...string) []dstest.Option { return dstest.StartedIn(20*time.Second, names...) }
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		script  string
		o       plan.Options
		after   time.Duration // from when on, after the script; 0 for never
		since   time.Duration // and how long it has been idle then
		why     string
	}{
		{"O O O O", took("p0", "p1", "p2", "p3"), "delete p0; gone p0; create n0 q0", plan.Options{}, 41 * time.Second, 41 * time.Second, "a new pod takes twice as long as the slowest of the old revision: nothing says that it fails, and its image may be pulled first"},
		{"O O O O", took("p0", "p1", "p2", "p3"), "delete p0; gone p0; create n0 q0", plan.Options{Starts: []time.Duration{90 * time.Second}}, 91 * time.Second, 91 * time.Second, "somebody knows that it takes longer"},
		{"O O O O", append(took("p0", "p1", "p2", "p3"), dstest.MinReadySeconds(120)), "delete p0; gone p0; create n0 q0; wait 20s; ready q0", plan.Options{}, 0, 0, "one that is Ready is waited for, as long as minReadySeconds asks"},
		{"O O O O", took("p0", "p1", "p2", "p3"), "delete p0; gone p0; create n0 q0; crash q0", plan.Options{}, 30 * time.Second, 30 * time.Second, "one that crashes is to blame, but for half a minute it may be started anew"},
		{"O O O O", took("p0", "p1", "p2", "p3"), "delete p0; gone p0; create n0 q0; wait 20s; crash q0", plan.Options{}, 10 * time.Second, 30 * time.Second, "since its creation: that a pod fails is no progress"},
		{"O O O O", took("p0", "p1", "p2", "p3"), "delete p0; gone p0; create n0 q0; crash q0; cordon n1", plan.Options{}, 30 * time.Second, 30 * time.Second, "nor is what happens to nodes"},
		{"O O O O", took("p0", "p1", "p2", "p3"), "delete p0", plan.Options{}, 0, 0, "a pod that is terminating has its grace period, and nobody is to blame so far"},
		{"O O", nil, "", plan.Options{}, 0, 0, "the controller is to act, and does not: that is owed"},
		{"N N", nil, "", plan.Options{}, 0, 0, "nothing is left to do"},
		{"O O", []dstest.Option{dstest.OnDelete()}, "", plan.Options{}, 0, 0, "nobody but a person does anything"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			f := follow(t, tt.grid, tt.options...)
			f.o = tt.o
			f.run(tt.script)
			last, from, since := f.at, time.Duration(0), time.Duration(0)
			for second := time.Duration(0); second < 110*time.Second; second += time.Second {
				p, err := f.Progress(last.Add(second))
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case p.Idle > 0 && since == 0:
					from, since = second, p.Idle
				case p.Idle == 0 && since > 0:
					t.Fatalf("progress after %s, none after %s", second, from)
				}
			}
			if off := (from - tt.after).Abs(); off > 2*time.Second || (since-tt.since).Abs() > 2*time.Second { // times of objects are truncated to seconds
				t.Errorf("after %s no progress for %s, want after %s for %s", from, since, tt.after, tt.since)
			}
		})
	}
}

// TestLastMove checks what counts as a move. The pods were created a day ago and became Ready 10s later; the revisions
// are older.
func TestLastMove(t *testing.T) {
	at := func(ago time.Duration) metav1.Time { return metav1.NewTime(dstest.Now.Add(-ago)) }
	ready := func(created, since time.Duration, restarts int32) dstest.Option {
		return dstest.Pod("p0", func(p *corev1.Pod) {
			p.CreationTimestamp = at(created)
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at(since)}}
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", RestartCount: restarts}}
		})
	}
	const day = 24 * time.Hour
	old := dstest.Edit(func(s *snapshot.Snapshot) {
		for i := range s.Revisions {
			s.Revisions[i].CreationTimestamp = at(2 * day)
		}
	})
	for _, tt := range []struct {
		pod, then dstest.Option
		want      time.Duration // before now
		why       string
	}{
		{ready(day, day-10*time.Second, 0), old, day - 10*time.Second, "a pod became Ready"},
		{ready(time.Minute, day, 0), old, time.Minute, "a pod was created"},
		{ready(day, time.Minute, 3), old, day, "a pod that restarted is Ready once more"},
		{ready(day, -time.Minute, 0), old, day, "the clock of its node is ahead"},
		{ready(day, day, 0), dstest.Edit(func(s *snapshot.Snapshot) {
			s.Revisions[0].CreationTimestamp = at(time.Minute)
		}), time.Minute, "a revision was created"},
		{ready(day, day, 0), dstest.Edit(func(s *snapshot.Snapshot) {
			s.Pods[0].DeletionTimestamp, s.Pods[0].DeletionGracePeriodSeconds = &metav1.Time{Time: dstest.Now.Add(20 * time.Second)}, new(int64(30))
		}), 10 * time.Second, "a pod was deleted"},
	} {
		last := lastMove(newState(t, dstest.State("N", old, tt.pod, tt.then)))
		if got := dstest.Now.Sub(last); got != tt.want {
			t.Errorf("%s: the last move was %s ago, want %s", tt.why, got, tt.want)
		}
	}
}

// TestExpectedOf checks that a batch has the number of candidates that the controller could choose from.
func TestExpectedOf(t *testing.T) {
	f := follow(t, "O O O")
	object, gone := f.object([]string{"delete", "p0"})
	told := f.See(f.at, object, gone)
	if len(told) != 1 || told[0].Expected.Deletes != 1 || told[0].Expected.DeletesOf != 3 {
		t.Errorf("%+v", told)
	}
}

// TestTimeLeftDoesNotStandStill checks that, while nothing happens, the reported remaining time never stays the same
// for three seconds.
func TestTimeLeftDoesNotStandStill(t *testing.T) {
	fast := append(dstest.StartedIn(time.Second, "p1", "p2", "p3"), dstest.MaxUnavailable("1"))
	slow := append(dstest.StartedIn(20*time.Second, "p1", "p2", "p3"), dstest.MaxUnavailable("1"))
	ending := dstest.Pod("p0", func(p *corev1.Pod) {
		grace := int64(2)
		p.DeletionGracePeriodSeconds, p.DeletionTimestamp = &grace, &metav1.Time{Time: dstest.Now.Add(2 * time.Second)}
	})
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		late    int // seconds after which only the pod delays the rollout; 0 for never
		why     string
	}{
		{"n N N N O O", append(fast, dstest.NotReadyFor("p0", 0)), 11, "a new pod that does not become ready"},
		{"n N N N O O", append(slow, dstest.NotReadyFor("p0", 0)), 31, "the others took 20 s"},
		{"Nt N N N O O", append(fast, ending), 0, "a pod that does not end"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, tt.options...)
			f := NewFollower(newState(t, s), plan.Options{})
			same, last := 0, -1.
			for second := range 100 {
				p, err := f.Progress(dstest.Now.Add(time.Duration(second) * time.Second))
				if err != nil {
					t.Fatal(err)
				}
				if hangs := len(p.Outcome.Late) == 1 && len(p.Outcome.Alternatives) == 1; hangs != (tt.late > 0 && second >= tt.late) {
					t.Fatalf("after %d s: late %+v, else %+v", second, p.Outcome.Late, p.Outcome.Alternatives)
				}
				if p.Outcome.Duration == nil {
					t.Fatalf("after %d s no time is said: %v", second, p.Outcome.Code)
				}
				if p.Outcome.Duration.Expected != last {
					same, last = 0, p.Outcome.Duration.Expected
				}
				if same++; same == 3 {
					t.Fatalf("after %d s still %g s left", second, last)
				}
			}
		})
	}
}
