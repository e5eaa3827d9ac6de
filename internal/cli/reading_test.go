package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// recordingReader records the additional input that a reader is asked for, and returns almost
// nothing.
type recordingReader struct {
	reader
	asked []string
}

func (n *recordingReader) note(what string, all []*snapshot.Snapshot, more ...string) {
	for _, s := range all {
		what += " " + s.DaemonSet.Name
	}
	n.asked = append(n.asked, strings.Join(append([]string{what}, more...), " of "))
}

func (n *recordingReader) AddAdmission(_ context.Context, of ...part.Creation) (out []*snapshot.Snapshot, _ error) {
	for _, c := range of {
		out = append(out, c.Of.Admitting(&snapshot.Admission{}, nil))
	}
	n.note("admission", out)
	return out, nil
}

func (n *recordingReader) AddOtherPods(_ context.Context, all []*snapshot.Snapshot, nodes []string) (out []*snapshot.Snapshot, _ error) {
	for _, s := range all {
		out = append(out, s.Holding(&snapshot.OtherPods{Nodes: nodes}, nil))
	}
	n.note("pods", out, strings.Join(nodes, " "))
	return out, nil
}

func (n *recordingReader) AddVolumes(_ context.Context, s *snapshot.Snapshot, claims, nodes []string) (*snapshot.Snapshot, error) {
	n.note("volumes", []*snapshot.Snapshot{s}, strings.Join(claims, " "), strings.Join(nodes, " "))
	return s.Reaching(&snapshot.Volumes{Nodes: nodes}, nil), nil
}

func (n *recordingReader) AddController(_ context.Context, all []*snapshot.Snapshot) (out []*snapshot.Snapshot, _ error) {
	for _, s := range all {
		out = append(out, s.ControlledBy(&snapshot.ControllerLease{}, nil))
	}
	n.note("controller", out)
	return out, nil
}

// withoutRoom gives a pod a claim, and marks it as unschedulable for lack of CPU.
func withoutRoom(pod string) dstest.Option {
	return dstest.Pod(pod, func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/2 nodes are available: 2 Insufficient cpu."}}
	})
}

// withoutMount gives a pod a claim, and adds an event that its volume cannot be mounted.
func withoutMount(pod string) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		for i := range s.Pods {
			if p := &s.Pods[i]; p.Name == pod {
				s.Events = append(s.Events, corev1.Event{Type: corev1.EventTypeWarning, Reason: "FailedMount", InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: pod, UID: p.UID}})
			}
		}
	})
}

// TestExplainWaits checks that an Explanation that needs additional input is built after that input
// is read.
func TestExplainWaits(t *testing.T) {
	r := &recordingReader{}
	x := &explainer{in: &inputFlags{opened: r, names: []source.Ref{{Name: "a"}, {Name: "b"}}}}
	x.add(named(t, "a", "N N"))
	x.add(named(t, "b", "N n", withoutMount("p1")))
	if x.items[0] == nil || x.items[1] != nil || len(r.asked) > 0 {
		t.Errorf("%v, asked for %v", x.items, r.asked)
	}
	if err := x.finish(t.Context()); err != nil || x.items[1] == nil {
		t.Errorf("%v, %v", x.items[1], err)
	}
	if diff := cmp.Diff([]string{"volumes b of data of "}, r.asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func refusalAt(at time.Time) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "refused", Namespace: "kube-system"}, Reason: "FailedCreate", Message: "Error creating: no", LastTimestamp: metav1.NewTime(at),
		InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Name: "agent", UID: dstest.State("N").DaemonSet.UID},
	}
}

func named(t *testing.T, name, grid string, options ...dstest.Option) *daemonset.State {
	t.Helper()
	s := dstest.State(grid, append(options, dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Name = name }))...)
	st, err := daemonset.StateOf(s)
	if err != nil {
		t.Fatal(err)
	}
	counts, _ := st.Counts()
	status := &st.DaemonSet.Status
	for to, n := range map[*int32]int{
		&status.DesiredNumberScheduled: counts.Desired, &status.CurrentNumberScheduled: counts.Current, &status.NumberMisscheduled: counts.Misscheduled, &status.NumberReady: counts.Ready,
		&status.UpdatedNumberScheduled: counts.Updated, &status.NumberAvailable: counts.Available, &status.NumberUnavailable: counts.Unavailable,
	} {
		*to = int32(n)
	}
	return st
}

// TestReadAllNeeds checks that each State gets only the input that it needs, from a single read.
func TestReadAllNeeds(t *testing.T) {
	all := []*daemonset.State{named(t, "a", "N"), named(t, "b", "N"), named(t, "c", "N"), named(t, "d", "N")}
	r := &recordingReader{}
	in := &inputFlags{opened: r}
	read, err := in.readAllNeeds(t.Context(), all, []cause.Needs{{Controller: true}, {Claims: []string{"data"}}, {}, {Controller: true, Admission: true, Nodes: []string{"n0"}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"admission d", "pods d of n0", "controller a d", "volumes b of data of "}, r.asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var has []string
	for _, st := range read {
		s := st.Snapshot
		has = append(has, fmt.Sprintf("%s %t %t %t %t", st.DaemonSet.Name, s.Controller != nil, s.Admission != nil, s.OtherPods != nil, s.Volumes != nil))
	}
	if diff := cmp.Diff([]string{"a true false false false", "b false false false true", "c false false false false", "d true true true false"}, has); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if v := read[1].Snapshot.Volumes; v.Nodes == nil {
		t.Error("claims without a node ask for all nodes")
	}
}

// TestListsRead checks that an answer about several DaemonSets reads shared input once, only for
// the DaemonSets that need it, and for at most ten nodes.
func TestListsRead(t *testing.T) {
	refused := dstest.Edit(func(s *snapshot.Snapshot) { s.Events = append(s.Events, *refusalAt(dstest.Now)) })
	many := strings.Repeat("np ", 12)
	for _, tt := range []struct {
		why   string
		all   []*daemonset.State
		nodes []string // values of --node
		want  []string // for explain
		plans []string // for plan-rollout
	}{
		{"nothing is wrong, and nothing is read", []*daemonset.State{named(t, "a", "N N"), named(t, "b", "N N")}, nil, nil, nil},
		{
			"creations of several that are refused", []*daemonset.State{named(t, "a", "N -", refused), named(t, "b", "N N"), named(t, "c", "N -", refused)}, nil,
			[]string{"admission a c"}, []string{"admission a c"},
		},
		{
			"pods that wait on two nodes", []*daemonset.State{named(t, "a", "N np", withoutRoom("p1")), named(t, "b", "np N"), named(t, "c", "N N")}, nil,
			[]string{"pods a b of n0 n1", "volumes a of data of n1"}, nil,
		},
		{"a volume that cannot be mounted", []*daemonset.State{named(t, "a", "N n", withoutMount("p1")), named(t, "b", "N N")}, nil, []string{"volumes a of data of "}, nil},
		{"ten nodes in all", []*daemonset.State{named(t, "a", many), named(t, "b", many)}, nil, []string{"pods a b of n0 n1 n10 n11 n2 n3 n4 n5 n6 n7"}, nil},
		{"those that were asked for first", []*daemonset.State{named(t, "a", many+"-")}, []string{"n12"}, []string{"admission a", "pods a of n0 n1 n10 n11 n12 n2 n3 n4 n5 n6"}, []string{"admission a"}},
		{"a rollout that creates pods admits them, and a list asks where a pod has been missing for long", []*daemonset.State{named(t, "a", "O O"), named(t, "b", "N -")}, nil, []string{"admission b"}, []string{"admission a b"}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			r := &recordingReader{}
			in := &inputFlags{opened: r}
			read, err := in.readAllNeeds(t.Context(), tt.all, explainNeeds(tt.all, tt.nodes))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, r.asked); diff != "" {
				t.Errorf("explain (-want +got):\n%s", diff)
			}
			for i, st := range read {
				if st.DaemonSet.Name != tt.all[i].DaemonSet.Name {
					t.Errorf("%s in the place of %s", st.DaemonSet.Name, tt.all[i].DaemonSet.Name)
				}
				for _, asked := range r.asked {
					what, of, _ := strings.Cut(strings.Split(asked, " of ")[0], " ")
					has := map[string]bool{"admission": st.Snapshot.Admission != nil, "pods": st.Snapshot.OtherPods != nil, "volumes": st.Snapshot.Volumes != nil}[what]
					if want := slices.Contains(strings.Fields(of), st.DaemonSet.Name); has != want {
						t.Errorf("%s: %s known %t, want %t", st.DaemonSet.Name, what, has, want)
					}
				}
			}
			r.asked = nil
			p := &planning{queryFlags: queryFlags{inputFlags: inputFlags{opened: r, flagSet: flagSet{pflag.NewFlagSet("", pflag.ContinueOnError)}}}}
			if _, err := p.plans(t.Context(), tt.all); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.plans, r.asked); diff != "" {
				t.Errorf("plan-rollout (-want +got):\n%s", diff)
			}
		})
	}
}

// TestManifestsRead checks that the plans of several manifests read shared input once, and read
// everything that they need.
func TestManifestsRead(t *testing.T) {
	more := dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})
	r := &recordingReader{}
	p := &planning{queryFlags: queryFlags{inputFlags: inputFlags{opened: r}}}
	results := []*whatif.Result{{State: named(t, "a", "- N", more)}, {State: named(t, "b", "N N")}, {State: named(t, "c", "- -")}}
	if err := p.readShared(t.Context(), results, false); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"admission a c", "pods a c of n0 n1", "volumes a of data of n0"}, r.asked); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for i, name := range []string{"a", "b", "c"} {
		if s := results[i].State.Snapshot; s.DaemonSet.Name != name || (s.Admission != nil) != (name != "b") || (s.OtherPods != nil) != (name != "b") {
			t.Errorf("%s: %s, admission %v, other pods %v", name, s.DaemonSet.Name, s.Admission, s.OtherPods)
		}
	}
}

// TestWatchReads checks that a watch reads the input that explains the current state only once, when
// that state begins.
func TestWatchReads(t *testing.T) {
	w := watch(t, "explain", inText, nil, dstest.State("N np"))
	r := &recordingReader{}
	w.opened = r
	after := func(d time.Duration) []string {
		t.Helper()
		w.after(d)
		r.asked = nil
		w.startLookup(t.Context())
		if w.lookup != nil {
			if err := w.finishLookup(<-w.lookup); err != nil {
				t.Fatal(err)
			}
		}
		w.after(time.Second)
		return r.asked
	}
	expect := func(why string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", why, got, want)
		}
	}
	expect("the scheduler has not looked at the pod", after(time.Minute))
	w.pod("p1", func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/2 nodes are available: 2 Insufficient cpu."}}
	})
	expect("it finds no room", after(time.Minute), "pods agent of n1")
	if w.present().OtherPods == nil {
		t.Error("what was read is not known")
	}
	for range 20 {
		expect("nothing new", after(time.Second))
	}
	w.handleChange(cluster.Seen{At: w.now, Object: refusalAt(w.now)})
	expect("and another pod is refused", after(time.Minute), "admission agent", "pods agent of n1")
	w.pod("p1", func(p *corev1.Pod) { p.Spec.NodeName = "n1" })
	w.handleChange(cluster.Seen{At: w.now, Object: refusalAt(w.now), Gone: true})
	expect("all is well: nothing is asked", after(time.Minute))
	if s := w.present(); s.OtherPods != nil || s.Admission != nil {
		t.Errorf("what was read before is still believed: %v %v", s.OtherPods, s.Admission)
	}
	w.pod("p1", func(p *corev1.Pod) {
		p.Spec.NodeName = ""
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/2 nodes are available: 2 Insufficient cpu."}}
	})
	expect("again, but a moment later", after(time.Second))
	expect("which waits until ten seconds are over", after(10*time.Second), "pods agent of n1")
}

func (w *testWatch) present() *snapshot.Snapshot { return w.following.now.State.Snapshot }

// TestWatchReadsFirst checks that a watch reads the input that explains the initial state before
// its first output.
func TestWatchReadsFirst(t *testing.T) {
	for _, command := range []string{"explain", "plan-rollout"} {
		w := watch(t, command, inText, nil, dstest.State("N np", withoutRoom("p1")))
		r := &recordingReader{}
		w.opened = r
		w.f = nil
		if err := w.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.asked); got != "[pods agent of n1 volumes agent of data of n1]" {
			t.Errorf("%s: %s", command, got)
		}
		if s := w.present(); s.OtherPods == nil || s.Volumes == nil {
			t.Errorf("%s: what was read is not known", command)
		}
	}
}
