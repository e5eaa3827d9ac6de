package plan

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestRemovesAllPods checks after which changes no node runs the pod, although one does now. The warning has the number
// of pods that the change affects only later.
func TestRemovesAllPods(t *testing.T) {
	selector := &whatif.Change{NodeSelector: map[string]string{"pool": "gpus"}}
	nodes := func(edits ...whatif.NodeEdit) *whatif.Change { return &whatif.Change{Nodes: edits} }
	taint := func(effect corev1.TaintEffect) whatif.NodeEdit {
		return whatif.NodeEdit{Kind: whatif.NodeTaint, Which: "n*", Taint: &corev1.Taint{Key: "k", Effect: effect}}
	}
	restart := &whatif.Change{Restart: true}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		change  *whatif.Change
		want    string
		why     string
	}{
		{"N N N", nil, selector, "Change DESIRED 3 -> 0: RemovesAllPods", "a typo in a selector: all go at once"},
		{"N", nil, selector, "Change DESIRED 1 -> 0: RemovesAllPods", "also of one node alone"},
		{"N N", []dstest.Option{dstest.OnDelete()}, selector, "Change DESIRED 2 -> 0: RemovesAllPods", "OnDelete does not keep them"},
		{"N N", []dstest.Option{dstest.MaxSurge("1"), dstest.MaxUnavailable("0")}, selector, "Change DESIRED 2 -> 0: RemovesAllPods", "nor does a surge"},
		{"N N", []dstest.Option{down("n1")}, selector, "Change DESIRED 2 -> 0: RemovesAllPods", "one that cannot end on a dead node is gone all the same"},
		{"n N", []dstest.Option{crash("p0")}, selector, "Change DESIRED 2 -> 0: RemovesAllPods", "pods that fail are pods"},
		{"N", nil, nodes(whatif.NodeEdit{Kind: whatif.NodeRemove, Which: "n0"}), "Change DESIRED 1 -> 0: RemovesAllPods", "the last node is removed, and its pod with it"},
		{"N !-", nil, nodes(whatif.NodeEdit{Kind: whatif.NodeRemove, Which: "n0"}), "Change DESIRED 1 -> 0: RemovesAllPods", "the last node that is eligible"},
		{"N N", nil, nodes(whatif.NodeEdit{Kind: whatif.NodeRemove, Which: "n0"}), "Change DESIRED 2 -> 1: NothingToDo", "not the last one"},
		{"N !N", nil, nodes(whatif.NodeEdit{Kind: whatif.NodeRemove, Which: "n0"}), "Change DESIRED 1 -> 0: NothingToDo; NoEligibleNode 1 nodes, 1 stay", "a pod that may stay is left, on a node that is not eligible"},
		{"N N", nil, nodes(taint(corev1.TaintEffectNoExecute)), "Change DESIRED 2 -> 0: RemovesAllPods", "a taint that lets no pod stay"},
		{"N N", nil, nodes(taint(corev1.TaintEffectNoSchedule)), "Change DESIRED 2 -> 0: NothingToDo; NoEligibleNode 2 nodes, 2 stay; if changed: RemovesAllPods", "a taint that lets them stay removes none, but the next rollout does"},
		{"N N", nil, &whatif.Change{Restart: true, Nodes: []whatif.NodeEdit{taint(corev1.TaintEffectNoSchedule)}}, "Change DESIRED 2 -> 0: RemovesAllPods", "as does this one"},
		{"N N", nil, nodes(whatif.NodeEdit{Kind: whatif.NodeCordon, Which: "n*"}), "Change DESIRED 2 -> 2: NothingToDo", "a cordon never removes a pod"},
		{"!N !N", nil, restart, "Change DESIRED 0 -> 0: RemovesAllPods", "the pods are on nodes that are not eligible: a rollout deletes them, and creates none"},
		{"!N !N", nil, nil, "Nothing DESIRED 0 -> 0: NothingToDo; NoEligibleNode 2 nodes, 2 stay; if changed: RemovesAllPods", "which is said before one begins"},
		{"!O !N", nil, nil, "Rollout DESIRED 0 -> 0: Completes; NoEligibleNode 2 nodes, 1 stay", "a rollout under way deletes one of two pods, and leaves the other"},
		{"!O !O", nil, nil, "Rollout DESIRED 0 -> 0: RemovesAllPods", "one that leaves none"},
		{"#N #N", nil, nil, "Rollout DESIRED 0 -> 0: RemovesAllPods", "somebody did it a moment ago, and the controller is about to"},
		{"#Nt #Nt", nil, nil, "Nothing DESIRED 0 -> 0: NothingToDo; NoEligibleNode 2 nodes, 0 stay; if changed: NothingToDo", "it has already"},
		{"#- !-", nil, nil, "Nothing DESIRED 0 -> 0: NothingToDo; NoEligibleNode 2 nodes, 0 stay; if changed: NothingToDo", "there is no pod to lose"},
		{"- -", nil, selector, "Change DESIRED 2 -> 0: NothingToDo; NoEligibleNode 2 nodes, 0 stay", "nor here, yet none comes either"},
		{"N N #N", nil, nil, "Rollout DESIRED 2 -> 2: Completes", "a node that loses its pod is not all of them"},
		{"~N", nil, nil, "Nothing DESIRED 0 -> 0: NothingToDo; if changed: Completes", "a cluster without nodes"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p, err := planOf(dstest.State(tt.grid, tt.options...), tt.change, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, ending(p)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

// ending formats the outcome of a Plan, and whether it warns that no node is eligible.
func ending(p *Plan) string {
	s := fmt.Sprintf("%s DESIRED %d -> %d: %s", p.Subject, p.Desired.Before, p.Desired.After, p.Outcome.Code)
	for _, w := range p.Warnings {
		if w.Code == NoEligibleNode {
			s += fmt.Sprintf("; NoEligibleNode %v nodes, %v stay", w.Facts["nodes"], w.Facts["staying"])
		}
	}
	if f := p.IfTemplateChanged; f != nil {
		s += "; if changed: " + string(f.Outcome.Code)
	}
	return s
}

// TestNewWithoutEligibleNode checks that a new DaemonSet without an eligible node removes nothing and gets no pod.
func TestNewWithoutEligibleNode(t *testing.T) {
	s := dstest.State("!- !-")
	s.Revisions, s.DaemonSet.UID = nil, ""
	p, err := newPlan(s, &whatif.Change{Method: "New"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ending(p), "New DESIRED 0 -> 0: NothingToDo; NoEligibleNode 2 nodes, 0 stay"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestNoEligibleNodeUnknown checks that there is no such warning if the nodes could not be read.
func TestNoEligibleNodeUnknown(t *testing.T) {
	s := dstest.State("N N")
	s.Nodes, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Nodes, Why: snapshot.Forbidden}}
	p, err := planOf(s, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range p.Warnings {
		if w.Code == NoEligibleNode {
			t.Errorf("warning %+v", w)
		}
	}
}

// TestRemovesAllPodsLaw checks for random states and changes that all pods are removed if nodes run one before, none is
// left at the end, and no node is to get one.
func TestRemovesAllPodsLaw(t *testing.T) {
	found := 0
	for seed := range cases.Of(int64(80)) {
		s := dstest.Anywhere(seed, "v1.37.1")
		for _, c := range []*whatif.Change{nil, {Restart: true}, {NodeSelector: map[string]string{"pool": "gpus"}}, {Strategy: "OnDelete"}} {
			p, err := planOf(s, c, Options{})
			if err != nil || p.Outcome.Code == Unknown || p.Outcome.Code == NotRolling || p.Outcome.Code == Stalls {
				continue
			}
			changed := s
			if c != nil {
				r, err := whatif.Make(stateOf(t, s), c)
				if err != nil {
					t.Fatal(err)
				}
				changed = r.State.Snapshot
			}
			st := stateOf(t, changed)
			lastOne := false // a pod stays to the end
			for i := range st.Nodes {
				n := &st.Nodes[i]
				for j := range n.Pods {
					pod := &n.Pods[j]
					lastOne = lastOne || n.Exists && !pod.Terminating && (n.ShouldRun.OK || n.MayStay.OK && pod.Updated)
				}
			}
			want := st.Desired == 0 && runsPod(stateOf(t, s).Nodes) && !lastOne && !staysOld(st)
			if got := p.Outcome.Code == RemovesAllPods; got != want {
				t.Fatalf("seed %d, change %+v: %s, want all removed %t\n%s", seed, c, p.Outcome.Code, want, dstest.Describe(s))
			}
			if want {
				found++
			}
		}
	}
	if found < cases.Least(10) {
		t.Errorf("only %d plans removed all pods", found)
	}
}

// staysOld reports whether an old pod stays because nothing is rolled.
func staysOld(st *daemonset.State) bool {
	return st.Budget.Kind == daemonset.BudgetNone && runsWhereItMayStay(st)
}

func runsWhereItMayStay(st *daemonset.State) bool {
	for i := range st.Nodes {
		if n := &st.Nodes[i]; n.Exists && n.MayStay.OK && running(n) {
			return true
		}
	}
	return false
}
