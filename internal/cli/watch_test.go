package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/internal/source/kubeconfig"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/follow"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// testWatch is a followed DaemonSet with a manual clock and its output.
type testWatch struct {
	*following
	t         testing.TB
	start     *snapshot.Snapshot
	now       time.Time
	out, errs bytes.Buffer
}

func (w *testWatch) Start() *snapshot.Snapshot    { return w.start }
func (w *testWatch) Changes() <-chan cluster.Seen { return nil }
func (w *testWatch) Err() error                   { return nil }
func (w *testWatch) Now() time.Time               { return w.now }
func (w *testWatch) Close()                       {}

// watch starts to follow the DaemonSet of a grid.
func watch(t testing.TB, command string, form format, terminal *size, s *snapshot.Snapshot) *testWatch {
	t.Helper()
	w := &testWatch{t: t, start: s, now: s.TakenAt}
	q := queryFlags{format: form, inputFlags: inputFlags{command: command, flagSet: flagSet{pflag.NewFlagSet("", pflag.ContinueOnError)}, common: &common{
		program:   calledAs("kubectl-ds"),
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: newStream(&w.out), ErrOut: &w.errs},
		config:    &kubeconfig.Flags{},
	}}}
	if command == "explain" {
		w.following = (&explainOptions{queryFlags: q}).following()
	} else {
		w.following = (&planOptions{planning: planning{queryFlags: q}}).following()
	}
	w.w = w
	if terminal != nil {
		w.terminal = func() size { return *terminal }
	}
	if err := w.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// after advances the clock, and returns the new output.
func (w *testWatch) after(d time.Duration) string {
	w.t.Helper()
	w.now, w.cost = w.now.Add(d), 0
	w.out.Reset()
	if err := w.show(); err != nil {
		w.t.Fatal(err)
	}
	return w.out.String()
}

// pod changes a pod.
func (w *testWatch) pod(name string, change func(*corev1.Pod)) {
	w.t.Helper()
	for i := range w.start.Pods {
		if p := w.start.Pods[i].DeepCopy(); p.Name == name {
			change(p)
			w.handleChange(cluster.Seen{At: w.now, Object: p})
			return
		}
	}
	w.t.Fatalf("no pod %s", name)
}

func (w *testWatch) lose(kind string) {
	w.handleChange(cluster.Seen{At: w.now, Kind: kind, Lost: "changes of " + kind + " do not arrive: refused"})
}

func (w *testWatch) regain(kind string) { w.handleChange(cluster.Seen{At: w.now, Kind: kind}) }

// makeFail makes a pod fail.
func makeFail(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Time{Time: dstest.Now}}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, RestartCount: 6, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}
}

// starting is a rollout whose newest pod was just created. The other pods became Ready after a
// hundred seconds.
func starting() *snapshot.Snapshot {
	return dstest.State("N n O O", dstest.Edit(func(s *snapshot.Snapshot) {
		for i := range s.Pods {
			s.Pods[i].CreationTimestamp.Time = dstest.Now.Add(-99*time.Hour - 100*time.Second)
		}
		s.Pods[1].CreationTimestamp.Time = dstest.Now
	}))
}

// TestWatchDocuments checks that a watch writes a document whenever anything except the clock
// changes.
func TestWatchDocuments(t *testing.T) {
	for _, command := range []string{"explain", "plan-rollout"} {
		for _, tt := range []struct {
			why    string
			change func(w *testWatch)
			want   int
		}{
			{"nothing happened", func(*testWatch) {}, 0},
			{"a pod crashes", func(w *testWatch) { w.pod("p0", makeFail) }, 1},
			{"a node is NotReady", func(w *testWatch) {
				n := w.start.Nodes[0].DeepCopy()
				n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Time{Time: w.now}}}
				w.handleChange(cluster.Seen{At: w.now, Object: n})
			}, 1},
			{"changes do not arrive", func(w *testWatch) { w.lose("pods") }, 1},
			{"no events arrive, which decide nothing", func(w *testWatch) { w.lose("events") }, 0},
		} {
			t.Run(command+", "+tt.why, func(t *testing.T) {
				w := watch(t, command, inJSON, nil, dstest.State("N N O O"))
				if tt.want == 0 {
					w = watch(t, command, inJSON, nil, starting())
				}
				tt.change(w)
				got := w.after(time.Second) + w.after(time.Second)
				if n := strings.Count(got, "\n"); n != tt.want {
					t.Errorf("%d documents, want %d:\n%s", n, tt.want, got)
				}
			})
		}
	}
}

// TestWatchDocumentsNoProgress checks that a watch reports once that nothing moves for longer than
// usual.
func TestWatchDocumentsNoProgress(t *testing.T) {
	w := watch(t, "explain", inJSON, nil, starting())
	n := 0
	for range 400 {
		idle := w.following.now.Idle > 0
		if got := w.after(time.Second); w.following.now.Idle > 0 != idle {
			n += strings.Count(got, "\n")
		}
	}
	if n != 1 {
		t.Errorf("%d documents when progress ended", n)
	}
}

// TestWatchLost checks that a watch reports no delays while changes do not arrive, and starts a new
// measurement afterwards.
func TestWatchLost(t *testing.T) {
	w := watch(t, "plan-rollout", inText, &size{100, 30}, starting())
	w.after(time.Second)
	w.lose("pods")
	w.lose("nodes")
	lost := w.now.Local().Format("15:04:05")
	idle, owed := w.following.now.Idle, w.following.now.Owed
	check := func(why string) {
		t.Helper()
		screen := w.after(10 * time.Minute)
		p := w.following.now
		if p.Idle > idle || p.Owed > owed || p.End != "" {
			t.Errorf("%s: idle %s, owed %s, end %q", why, p.Idle, p.Owed, p.End)
		}
		head, _, _ := strings.Cut(screen, "\n\n")
		if !strings.Contains(head, "not connected since "+lost) || strings.Contains(screen, "no progress for") || !strings.Contains(head, w.now.Local().Format("15:04:05")) {
			t.Errorf("%s:\n%s", why, screen)
		}
	}
	check("both kinds are lost")
	w.regain("nodes")
	check("one is lost")
	w.regain("pods")
	screen := w.after(time.Second)
	if p := w.following.now; p.Idle != 0 || p.Owed > time.Second || p.End != "" || strings.Contains(screen, "not connected") {
		t.Errorf("at once: idle %s, owed %s, end %q:\n%s", p.Idle, p.Owed, p.End, screen)
	}
	for range 300 {
		w.after(time.Second)
	}
	if p := w.following.now; p.End != follow.EndStuck || p.Idle == 0 {
		t.Errorf("when it has stood still again: idle %s, end %q", p.Idle, p.End)
	}
}

// TestWatchLostEnd checks that a watch does not end while changes do not arrive, because a missing
// change may contradict the end.
func TestWatchLostEnd(t *testing.T) {
	w := watch(t, "plan-rollout", inText, nil, dstest.State("N N O O"))
	w.lose("pods")
	ds := w.start.DaemonSet.DeepCopy()
	ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	w.handleChange(cluster.Seen{At: w.now, Object: ds})
	if w.after(time.Second); w.following.now.End != "" {
		t.Errorf("while pods are lost: %s", w.following.now.End)
	}
	w.regain("pods")
	if w.after(time.Second); w.following.now.End != follow.EndNotRolling {
		t.Errorf("after that: %q", w.following.now.End)
	}
}

// TestWatchStatus checks the exit status after a timeout. plan-rollout uses the status of explain
// for stuck and degraded rollouts, and 2 for rollouts in progress.
func TestWatchStatus(t *testing.T) {
	crash := dstest.Pod("p0", func(p *corev1.Pod) {
		p.CreationTimestamp.Time = dstest.Now.Add(-time.Hour)
		makeFail(p)
	})
	for _, tt := range []struct {
		why   string
		of    *snapshot.Snapshot
		after time.Duration // time until --timeout
		plan  exitStatus
		now   exitStatus // exit status of explain
	}{
		{"stuck when the time is over before that has held for half a minute", dstest.State("n O O O", crash), 2 * time.Second, statusStuck, statusStuck},
		{"stuck for longer", dstest.State("n O O O", crash), time.Minute, statusStuck, statusStuck},
		{"still in progress", starting(), 2 * time.Second, statusProgressing, statusProgressing},
		{"nothing is left to replace, and a node stays without an available pod", dstest.State("n N N N", crash), 2 * time.Second, statusDegraded, statusDegraded},
		{"nothing is in progress", dstest.State("N N N N"), 0, 0, 0},
	} {
		t.Run(tt.why, func(t *testing.T) {
			for command, want := range map[string]exitStatus{"plan-rollout": tt.plan, "explain": tt.now} {
				w := watch(t, command, inText, nil, tt.of)
				for range int(tt.after / time.Second) {
					w.after(time.Second)
				}
				w.exitCode = true
				got := exitStatus(0)
				if err := w.end(nil, "timeout after "+tt.after.String()); err != nil && !errors.As(err, &got) {
					t.Fatal(err)
				}
				if got != want {
					t.Errorf("%s ends with %d, want %d", command, got, want)
				}
			}
		})
	}
}

// TestWatchInterruptedDocument checks that a watch computes no new document after Ctrl-C.
func TestWatchInterruptedDocument(t *testing.T) {
	w := watch(t, "plan-rollout", inJSON, nil, dstest.State("N N O O"))
	first := w.out.String()
	w.out.Reset()
	w.document = func() (any, error) { return nil, errors.New("computed") }
	if err := w.end(context.Canceled, "interrupted"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := w.out.String(); got != first || got == "" {
		t.Errorf("the last document:\n%s\nthe one before:\n%s", got, first)
	}
}

// TestWatchDeletedDocument checks that a watch writes no document for a deleted DaemonSet.
func TestWatchDeletedDocument(t *testing.T) {
	for _, command := range []string{"explain", "plan-rollout"} {
		w := watch(t, command, inJSON, nil, dstest.State("N N O O"))
		w.handleChange(cluster.Seen{At: w.now, Object: w.start.DaemonSet, Gone: true})
		got := w.after(time.Second)
		err := w.end(nil, "")
		if err == nil || !strings.HasSuffix(err.Error(), "was deleted") || got+w.out.String() != "" {
			t.Errorf("%s: %v, and\n%s", command, err, got+w.out.String())
		}
	}
}

// TestWatchLines checks that explain prints its verdict whenever more than numbers and times
// change.
func TestWatchLines(t *testing.T) {
	w := watch(t, "explain", inText, nil, dstest.State("N N N N"))
	for _, step := range []struct{ pod, want string }{{"", ""}, {"p0", "DEGRADED"}, {"", ""}, {"p1", "DEGRADED"}, {"", ""}} {
		if step.pod != "" {
			w.pod(step.pod, makeFail)
		}
		got := w.after(time.Second)
		if !strings.Contains(got, step.want) || strings.Count(got, "\n") != len(step.want)/len("DEGRADED") {
			t.Errorf("%+v: %q", step, got)
		}
	}
}

// TestWatchWaitsLonger checks that a watch reports once why the rollout waits, until something
// happens.
func TestWatchWaitsLonger(t *testing.T) {
	w := watch(t, "plan-rollout", inText, nil, dstest.State("N N O O"))
	said := ""
	for _, step := range []struct {
		idle      time.Duration
		available int
		happened  bool
	}{{0, 4, false}, {time.Minute, 4, false}, {0, 4, false}, {time.Minute, 4, false}, {0, 5, false}, {time.Minute, 5, false}, {0, 4, false}, {time.Minute, 4, true}} {
		w.following.now = &follow.Progress{Idle: step.idle}
		w.following.now.Counts.Available = step.available
		said += map[bool]string{true: "x", false: "-"}[w.waitsLonger(step.happened)]
	}
	if said != "-x---x-x" {
		t.Error(said)
	}
}

// TestWatchRedraws checks that a screen starts in the first line of the terminal at any cursor
// position, and that only the first screen scrolls the old contents away.
func TestWatchRedraws(t *testing.T) {
	w := watch(t, "explain", inText, &size{80, 24}, dstest.State("N N O O"))
	if first := w.out.String(); !strings.HasPrefix(first, strings.Repeat("\n", 23)+"\x1b[H\x1b[J") {
		t.Errorf("%q", first)
	}
	if next := w.after(time.Second); !strings.HasPrefix(next, "\x1b[H\x1b[J") {
		t.Errorf("%q", next)
	}
}

// TestWatchSmallTerminal checks that no screen has more lines than the terminal. The last screen
// includes the lines below it.
func TestWatchSmallTerminal(t *testing.T) {
	for _, terminal := range []size{{80, 24}, {80, 1}, {80, 2}, {80, 4}, {30, 12}, {20, 8}} {
		w := watch(t, "plan-rollout", inText, &terminal, dstest.State("N N O O"))
		most := max(1, terminal.height-1)
		if n := strings.Count(w.after(time.Second), "\n"); n > most {
			t.Errorf("%v: %d lines", terminal, n)
		}
		w.out.Reset()
		if err := w.end(nil, "timeout after 5m0s"); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(strings.TrimPrefix(w.out.String(), "\x1b[H\x1b[J"), "\n"), "\n")
		if n := rows(lines, terminal.width); n > terminal.height-1 && len(lines) > 2 {
			t.Errorf("%v: %d rows at the end:\n%s", terminal, n, &w.out)
		}
	}
	for _, tt := range []struct {
		width, height int
		err           error
	}{{0, 0, nil}, {80, 0, nil}, {0, 24, nil}, {0, 0, io.EOF}} {
		if got := knownSize(tt.width, tt.height, tt.err); got != (size{80, 24}) {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestWatchClock checks that a watch draws a screen in every second of the clock, regardless of the
// times of its ticks.
func TestWatchClock(t *testing.T) {
	s := dstest.State("N N O O")
	s.TakenAt = s.TakenAt.Add(950 * time.Millisecond)
	w := watch(t, "explain", inText, &size{80, 24}, s)
	drawn := map[string]int{}
	for range 100 {
		if w.after(300*time.Millisecond) != "" {
			drawn[w.following.now.Header.Snapshot.TakenAt.Format("15:04:05")]++
		}
	}
	for at, n := range drawn {
		if n != 1 {
			t.Errorf("%d screens at %s", n, at)
		}
	}
	if len(drawn) != 30 {
		t.Errorf("in 30 seconds: %v", drawn)
	}
}

// TestWatchRests checks that a watch avoids expensive looks if nothing changed and nothing is due.
func TestWatchRests(t *testing.T) {
	const cost = 40 * time.Millisecond // ten times cost is less than a second; 600 times is 24 s
	for _, tt := range []struct {
		why   string
		grid  string
		then  func(w *testWatch)
		after time.Duration
		looks bool
	}{
		{"nothing was seen", "O O N", nil, 23 * time.Second, false},
		{"for long", "O O N", nil, 24 * time.Second, true},
		{"a pod changed", "O O N", func(w *testWatch) { w.pod("p0", makeFail) }, time.Second, true},
		{"but a moment ago", "O O N", func(w *testWatch) { w.pod("p0", makeFail) }, 900 * time.Millisecond, false},
		{"changes of nodes do not arrive", "O O N", func(w *testWatch) { w.lose("nodes") }, time.Second, true},
		{"more was read", "O O N", func(w *testWatch) { _ = w.finishLookup(lookupResult{read: w.start}) }, time.Second, true},
		{"a pod is available in five seconds", "O O N", func(w *testWatch) { w.following.now.Due = w.now.Add(5 * time.Second) }, 5 * time.Second, true},
		{"and not sooner", "O O N", func(w *testWatch) { w.following.now.Due = w.now.Add(5 * time.Second) }, 4 * time.Second, false},
	} {
		w := watch(t, "explain", inText, &size{80, 24}, dstest.State(tt.grid))
		w.pod("p0", func(*corev1.Pod) {}) // changes before a look do not count after it
		w.now = w.now.Add(time.Minute)
		if err := w.show(); err != nil {
			t.Fatal(err)
		}
		w.cost = cost
		if tt.then != nil {
			tt.then(w)
		}
		w.now = w.now.Add(tt.after)
		before := w.following.now
		if err := w.show(); err != nil {
			t.Fatal(err)
		}
		if looked := w.following.now != before; looked != tt.looks {
			t.Errorf("%s: looks after %s: %t, want %t", tt.why, tt.after, looked, tt.looks)
		}
	}
}
