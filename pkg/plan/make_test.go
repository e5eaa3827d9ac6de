package plan

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// sum formats the subject and outcome of a Plan as one line.
func sum(p *Plan) string {
	s := fmt.Sprintf("%s: next %s %d creates %d deletes; lose %d gain %d; replaces %d; %s",
		p.Subject, p.Next.Kind, p.Next.Creates.Len(), p.Next.Deletes.Len(), len(p.Placement.Lose), len(p.Placement.Gain), p.Replaces, p.Outcome.Code)
	if f := p.IfTemplateChanged; f != nil {
		s += fmt.Sprintf("; if changed: replaces %d, %s", f.Replaces, f.Outcome.Code)
	}
	return s
}

func TestMake(t *testing.T) {
	two, zero := intstr.FromInt32(2), intstr.FromInt32(0)
	one := int64(1)
	node := func(kind whatif.NodeChangeKind, which string) *whatif.Change {
		return &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: kind, Which: which, Said: which}}}
	}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		change  *whatif.Change
		want    string
		why     string
	}{
		{"N N", nil, nil, "Nothing: next None 0 creates 0 deletes; lose 0 gain 0; replaces 0; NothingToDo; if changed: replaces 2, Completes", "nothing asked and nothing rolling: what a change would do"},
		{"N O", []dstest.Option{dstest.OnDelete()}, nil, "Nothing: next None 0 creates 0 deletes; lose 0 gain 0; replaces 0; NotRolling; if changed: replaces 0, NotRolling", "OnDelete waits for a person"},
		{"O N", nil, nil, "Rollout: next RollingUpdate 0 creates 1 deletes; lose 0 gain 0; replaces 1; Completes", "a rollout under way"},
		{"N -", []dstest.Option{young("p0")}, nil, "Rollout: next Manage 1 creates 0 deletes; lose 0 gain 0; replaces 0; Completes", "a pod that is missing is on its way"},
		{"N -", nil, nil, "Rollout: next Manage 1 creates 0 deletes; lose 0 gain 0; replaces 0; Stalls", "where nothing has happened for an hour, it is not"},
		{"~O N", []dstest.Option{dstest.MaxSurge("1")}, nil, "Rollout: next None 0 creates 0 deletes; lose 0 gain 0; replaces 0; Completes", "an old pod of a node that is gone is still to be collected"},
		{"n N", []dstest.Option{young("p0")}, nil, "Rollout: next None 0 creates 0 deletes; lose 0 gain 0; replaces 0; Completes", "and so is one that starts"},
		{"n N", []dstest.Option{crash("p0")}, nil, "Nothing: next None 0 creates 0 deletes; lose 0 gain 0; replaces 0; NothingToDo; if changed: replaces 2, Completes", "one that does not get ready by itself is not"},
		{"N N", nil, &whatif.Change{Images: []whatif.Image{{Image: "example/agent:3"}}}, "Change: next RollingUpdate 0 creates 1 deletes; lose 0 gain 0; replaces 2; Completes", "another image"},
		{"N N", nil, &whatif.Change{}, "Change: next None 0 creates 0 deletes; lose 0 gain 0; replaces 0; NothingToDo", "a change that changes nothing"},
		{"O O N", nil, &whatif.Change{ToRevision: &one}, "Change: next RollingUpdate 0 creates 1 deletes; lose 0 gain 0; replaces 1; Completes", "a rollback replaces only what is not on it"},
		{"O O O", nil, &whatif.Change{MaxUnavailable: &two}, "Change: next RollingUpdate 0 creates 2 deletes; lose 0 gain 0; replaces 3; Completes", "another limit of the rollout under way"},
		{"O O O", nil, &whatif.Change{MaxUnavailable: &zero, MaxSurge: &two}, "Change: next RollingUpdate 2 creates 0 deletes; lose 0 gain 0; replaces 3; Completes", "or a surge"},
		{"O O N", nil, &whatif.Change{}, "Rollout: next RollingUpdate 0 creates 1 deletes; lose 0 gain 0; replaces 2; Completes", "a change that changes nothing of a rollout under way: its plan"},
		{"O O N", nil, node(whatif.NodeCordon, "n0"), "Rollout: next RollingUpdate 0 creates 1 deletes; lose 0 gain 0; replaces 2; Completes", "nor does a cordon"},
		{"O O N", nil, node(whatif.NodeDown, "n2"), "Change: next None 0 creates 0 deletes; lose 0 gain 0; replaces 2; Stalls", "a node that falls silent does"},
		{"O O N", nil, node(whatif.NodeRemove, "n2"), "Change: next RollingUpdate 0 creates 1 deletes; lose 0 gain 0; replaces 2; Completes", "and one that goes"},
		{"O O N", nil, &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeTaint, Which: "n2", Taint: &corev1.Taint{Key: "k", Effect: corev1.TaintEffectNoSchedule}, Said: "n2"}}}, "Change: next RollingUpdate 0 creates 1 deletes; lose 0 gain 0; replaces 2; Completes", "a taint that lets the pod stay, but no new one come"},
		{"N N", nil, node(whatif.NodeRemove, "n0"), "Change: next None 0 creates 0 deletes; lose 0 gain 0; replaces 0; NothingToDo", "a node that is removed takes its pod with it"},
		{"N N", nil, node(whatif.NodeCordon, "n0"), "Change: next None 0 creates 0 deletes; lose 0 gain 0; replaces 0; NothingToDo", "every DaemonSet tolerates a cordon"},
		{"N !N !-", nil, &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeUntaint, Which: "n2", Taint: &corev1.Taint{Key: "dedicated"}, Said: "n2:dedicated-"}}}, "Change: next Manage 1 creates 0 deletes; lose 0 gain 1; replaces 0; Completes", "a taint that goes lets one come"},
		{"N N", nil, &whatif.Change{NodeSelector: map[string]string{"disk": "ssd"}}, "Change: next Manage 0 creates 2 deletes; lose 2 gain 0; replaces 0; RemovesAllPods", "a selector that no node meets: all are lost at once"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, tt.options...)
			p, err := planOf(s, tt.change, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, sum(p)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

// TestMakeInheritsFailures checks that failures of the current revision also occur after a change that leaves its
// containers unchanged.
func TestMakeInheritsFailures(t *testing.T) {
	restart, image := &whatif.Change{Restart: true}, &whatif.Change{Images: []whatif.Image{{Image: "example/agent:3"}}}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		change  *whatif.Change
		want    string
		why     string
	}{
		{"n O O", []dstest.Option{crash("p0")}, restart, "Stalls (BudgetSpent): 1 steps, 1 replaced, 2 left, 1 worst; n0 CrashLoopBackOff; RollBack=1", "a restart does not correct a revision that fails"},
		{"n O O", []dstest.Option{crash("p0")}, image, "MayComplete: 3 steps, 3 replaced, 0 left, 1 worst; RollBack=1", "another image may"},
		{"n N N", []dstest.Option{crash("p0")}, restart, "Stalls (BudgetSpent): 1 steps, 1 replaced, 2 left, 1 worst; n0 CrashLoopBackOff", "a pod that fails on one node goes on failing there"},
		{"n O O", []dstest.Option{crash("p0")}, &whatif.Change{ToRevision: new(int64(1))}, "Completes: 1 steps, 1 replaced, 0 left, 1 worst", "a rollback corrects it"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p, err := planOf(dstest.State(tt.grid, tt.options...), tt.change, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, short(&p.Outcome)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

func TestStepWarnings(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    []Warning
		why     string
	}{
		{"o o O", nil, []Warning{{OutsideBudget, daemonset.Facts{"count": 2, "limit": 1}}}, "pods that are not available go whatever the budget says"},
		{"o O O", nil, []Warning{}, "one at a time is within it"},
		{"o o", []dstest.Option{dstest.MaxSurge("1"), dstest.MaxUnavailable("0")}, []Warning{}, "a surge deletes none of them before"},
		{"n N O", []dstest.Option{crash("p0")}, []Warning{{NewPodsFailing, daemonset.Facts{"newPods": 2, "newFailing": 1}}}, "some of the new pods fail"},
		{"n O", []dstest.Option{crash("p0")}, []Warning{}, "if all do, the plan says so itself"},
		{"n N O", []dstest.Option{young("p0")}, []Warning{}, "one that starts is none"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p, err := planOf(dstest.State(tt.grid, tt.options...), nil, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, p.Warnings); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

func TestNew(t *testing.T) {
	absent := func(options ...dstest.Option) *snapshot.Snapshot {
		s := dstest.State("- !- -", options...)
		s.Revisions = nil
		s.DaemonSet.UID, s.DaemonSet.Generation = "", 1
		return s
	}
	p, err := newPlan(absent(), &whatif.Change{Method: "New"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "New: next Manage 2 creates 0 deletes; lose 0 gain 2; replaces 0; Completes"
	if diff := cmp.Diff(want, sum(p)); diff != "" || p.Desired != (Desired{0, 2}) {
		t.Error(diff, p.Desired)
	}
	p, err = newPlan(absent(), &whatif.Change{Method: "New", Nodes: []whatif.NodeEdit{{Kind: whatif.NodeUntaint, Which: "n1", Taint: &corev1.Taint{Key: "dedicated"}, Said: "n1:dedicated-"}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Desired.After != 3 || len(p.Change.Nodes) != 1 {
		t.Errorf("with a node without its taint: %+v, %+v", p.Desired, p.Change.Nodes)
	}
	unread := absent()
	unread.Nodes, unread.Gaps = nil, []snapshot.Gap{{What: snapshot.Nodes, Why: snapshot.Forbidden}}
	if p, err := newPlan(unread, &whatif.Change{Method: "New"}, Options{}); err == nil {
		t.Errorf("without nodes: %s", sum(p))
	}
}

// TestMakeWithGaps checks that a Plan from a Snapshot without nodes or pods says what is unknown.
func TestMakeWithGaps(t *testing.T) {
	lacking := func(what ...snapshot.What) dstest.Option {
		return dstest.Edit(func(s *snapshot.Snapshot) {
			for _, w := range what {
				s.Gaps = append(s.Gaps, snapshot.Gap{What: w, Why: snapshot.Forbidden})
				switch w {
				case snapshot.Nodes:
					s.Nodes = nil
				case snapshot.Revisions:
					s.Revisions = nil
				case snapshot.Pods:
					s.Pods = nil
				}
			}
			s.DaemonSet.Status.DesiredNumberScheduled = 3
		})
	}
	for _, tt := range []struct {
		grid   string
		option dstest.Option
		want   string
		why    string
	}{
		{"O O N", lacking(snapshot.Nodes), "Rollout: next RollingUpdate 0 creates 1 deletes; lose 0 gain 0; replaces 2; Completes", "without nodes the pods and the status are enough"},
		{"O O N", lacking(snapshot.Revisions), "Rollout: next RollingUpdate 0 creates 1 deletes; lose 0 gain 0; replaces 2; Completes", "without revisions the template generation tells"},
		{"O O N", lacking(snapshot.Pods), "Rollout: next None 0 creates 0 deletes; lose 0 gain 0; replaces 0; Unknown", "without pods nothing is known"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p, err := planOf(dstest.State(tt.grid, tt.option), nil, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, sum(p)); diff != "" {
				t.Error(diff)
			}
			if p.Next.Exact {
				t.Error("exact")
			}
		})
	}
}

// TestMakeWithoutRevisions checks that, without revisions, a change to the template replaces every pod, even if the
// status still says that all pods are updated.
func TestMakeWithoutRevisions(t *testing.T) {
	s := dstest.State("N N N", dstest.Edit(func(s *snapshot.Snapshot) {
		s.Revisions, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Revisions, Why: snapshot.NotGiven}}
		s.DaemonSet.Status.UpdatedNumberScheduled, s.DaemonSet.Status.ObservedGeneration = 3, s.DaemonSet.Generation
	}))
	p, err := planOf(s, &whatif.Change{Restart: true}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "Change: next RollingUpdate 0 creates 1 deletes; lose 0 gain 0; replaces 3; Completes"
	if diff := cmp.Diff(want, sum(p)); diff != "" {
		t.Error(diff)
	}
}

// TestEndless checks that a pod that never counts as updated is replaced endlessly.
func TestEndless(t *testing.T) {
	one := int64(1)
	s := dstest.State("N N", dstest.Version("v1.22.17"), dstest.Revision("agent-old", func(r *appsv1.ControllerRevision) { r.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = "" }))
	p, err := planOf(s, &whatif.Change{ToRevision: &one}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Outcome.Code != Unknown || p.Outcome.Reason != Endless {
		t.Errorf("%s", short(&p.Outcome))
	}
}

// TestMakeLeavesTheSnapshot checks that planning a change does not modify the Snapshot, and so does not affect the plan
// without a change.
func TestMakeLeavesTheSnapshot(t *testing.T) {
	s := dstest.State("O O o N -", dstest.MaxUnavailable("2"))
	ten := 10 * time.Second
	want, err := planOf(s, nil, Options{Starts: []time.Duration{ten}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := planOf(s, &whatif.Change{Restart: true, Images: []whatif.Image{{Container: "agent", Image: "x"}}, Nodes: []whatif.NodeEdit{{Kind: whatif.NodeRemove, Which: "n1", Said: "n1"}}}, Options{}); err != nil {
		t.Fatal(err)
	}
	got, err := planOf(s, nil, Options{Starts: []time.Duration{ten}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUnaffected checks that a change which does not affect the rollout in progress has the same plan, apart from the
// change itself and its assumptions.
func TestUnaffected(t *testing.T) {
	alike := 0
	for seed := range cases.Of(int64(100)) {
		st := stateOf(t, dstest.Random(seed))
		name := st.Nodes[int(seed)%len(st.Nodes)].Name
		for i, c := range []*whatif.Change{
			{},
			{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeCordon, Which: name}}},
			{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeLabel, Which: name, Key: "example.com/pool", Value: "a"}}},
			{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeTaint, Which: name, Taint: &corev1.Taint{Key: "k", Effect: corev1.TaintEffectNoSchedule}}}},
		} {
			r, err := whatif.Make(st, c)
			if err != nil {
				continue
			}
			want, got := Make(st, Options{}), MakeChanged(r, Options{})
			if got.OfChange() {
				if i == 0 && want.Subject == SubjectRollout {
					t.Errorf("seed %d: no change is taken for one", seed)
				}
				continue
			}
			alike++
			assumed := len(got.Assumptions) - len(r.Assumptions)
			got.Change, got.Assumptions = nil, got.Assumptions[:assumed]
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d, change %d (-want +got):\n%s", seed, i, diff)
			}
		}
	}
	if alike < cases.Least(60) {
		t.Errorf("%d changes only leave a rollout as it is", alike)
	}
}
