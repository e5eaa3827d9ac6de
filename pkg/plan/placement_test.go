package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

func named(nodes []PlacementNode) []string {
	names := []string{}
	for _, n := range nodes {
		names = append(names, n.Node)
	}
	return names
}

func TestPlacementChange(t *testing.T) {
	none := []string{}
	pool := dstest.Labeled("n0", "pool=a")
	selects := dstest.Patch("daemonset", `{"spec":{"template":{"spec":{"nodeSelector":{"pool":"a"}}}}}`)
	deleted := dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
		ds.DeletionTimestamp, ds.Finalizers = &metav1.Time{Time: dstest.Now}, []string{"x"}
	})
	tolerate := &whatif.Change{Tolerations: []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}}
	noExecute := &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeTaint, Which: "n*", Taint: dstest.Taint("a:NoExecute")}}}
	noSchedule := &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeTaint, Which: "n*", Taint: dstest.Taint("a:NoSchedule")}}}
	for _, tt := range []struct {
		grid       string
		options    []dstest.Option
		change     *whatif.Change
		gain, lose []string
		why        string
	}{
		{"N O -", nil, &whatif.Change{Restart: true}, none, none, "another template in the same place"},
		{"N O -", nil, noExecute, none, []string{"n0", "n1"}, "pods that may not stay go, old and new; where there was none nothing is lost"},
		{"N O Nt -", nil, noExecute, none, []string{"n0", "n1"}, "nor where the last one goes already"},
		{"N Nr Nx", nil, noExecute, none, []string{"n0"}, "nor where the pod is not the DaemonSet's"},
		{"#N N", nil, noExecute, none, []string{"n1"}, "nor where it could not stay before"},
		{"!N N", nil, noExecute, none, []string{"n0", "n1"}, "where it could only stay it is lost as well"},
		{"N O -", nil, noSchedule, none, none, "a NoSchedule taint leaves pods alone"},
		{"!- #- - !N", nil, tolerate, []string{"n0", "n1"}, none, "nodes that tolerate at last; one that had to have one and has none is not new"},
		{"!- !Nt !nf", nil, tolerate, []string{"n0"}, none, "where a pod of the DaemonSet is, whatever becomes of it, there is none to gain"},
		{"N N -", []dstest.Option{pool}, &whatif.Change{NodeSelector: map[string]string{"pool": "a"}}, none, []string{"n1"}, "a nodeSelector"},
		{"- N -", []dstest.Option{pool, selects}, &whatif.Change{DropSelector: []string{"pool"}}, []string{"n2"}, none, "less of it; what was about to go stays, and is no gain"},
		{"N - N", []dstest.Option{dstest.Labeled("n0", "pool=a"), dstest.Labeled("n2", "pool=a"), selects}, &whatif.Change{Nodes: []whatif.NodeEdit{
			{Kind: whatif.NodeLabel, Which: "n1", Key: "pool", Value: "a"}, {Kind: whatif.NodeLabel, Which: "n2", Key: "pool", Value: "b"},
		}}, []string{"n1"}, []string{"n2"}, "labels of nodes"},
		{"N N", nil, &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeRemove, Which: "n0"}, {Kind: whatif.NodeAdd, Which: "n1", Count: 2}}}, none, none, "nodes that come and go are not eligibility that moves"},
		{"np np", nil, &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeRemove, Which: "n0"}}}, none, none, "even if a pod is still meant for one"},
		{"~N N", nil, noExecute, none, []string{"n1"}, "a vanished node has nothing to lose"},
		{"N N", nil, &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeCordon, Which: "n0"}}}, none, none, "every DaemonSet tolerates a cordon"},
		{"N -", nil, &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeDown, Which: "n*"}}}, none, none, "and stays on a node that is down"},
		{"N O", []dstest.Option{dstest.OnDelete()}, noExecute, none, []string{"n0", "n1"}, "under OnDelete too"},
		{"N O", []dstest.Option{deleted}, noExecute, none, none, "a DaemonSet that is being deleted is left alone"},
		{"N O", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) {
			s.Gaps = append(s.Gaps, snapshot.Gap{What: snapshot.Pods, Why: snapshot.Forbidden})
		})}, noExecute, none, none, "without pods nobody knows"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, tt.options...)
			r, err := whatif.Make(stateOf(t, s), tt.change)
			if err != nil {
				t.Fatal(err)
			}
			got := placementChange(r.Before, r.State)
			if diff := cmp.Diff([][]string{tt.gain, tt.lose}, [][]string{named(got.Gain), named(got.Lose)}); diff != "" {
				t.Errorf("gain and lose (-want +got):\n%s", diff)
			}
			for _, n := range got.Gain {
				if !n.Verdict.OK || n.Verdict.Reason != daemonset.Eligible {
					t.Errorf("gain of %s: %+v", n.Node, n.Verdict)
				}
			}
			for _, n := range got.Lose {
				if n.Verdict.OK || n.Verdict.Reason == "" {
					t.Errorf("loss of %s: %+v", n.Node, n.Verdict)
				}
			}
		})
	}
}

// TestPlacementOfNew checks the placement of a new DaemonSet.
func TestPlacementOfNew(t *testing.T) {
	got := placementChange(nil, stateOf(t, dstest.State("- !- - Na #Na")))
	if diff := cmp.Diff([][]string{{"n0", "n2"}, {"n4"}}, [][]string{named(got.Gain), named(got.Lose)}); diff != "" {
		t.Errorf("gain and lose, with an orphan in place and one out of place (-want +got):\n%s", diff)
	}
	got = placementChange(nil, stateOf(t, dstest.State("- N", dstest.Lacks(snapshot.Nodes, snapshot.Forbidden))))
	if len(got.Gain)+len(got.Lose) > 0 || got.Gain == nil || got.Lose == nil {
		t.Errorf("without nodes: %+v", got)
	}
}

// TestLost checks which nodes have a pod now and none at the end, and which of them only because of a taint that is
// newer than the pod.
func TestLost(t *testing.T) {
	surge := []dstest.Option{dstest.MaxSurge("1"), dstest.MaxUnavailable("0")}
	percent := dstest.MaxUnavailable("10%")
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		change  *whatif.Change
		want    string // stranded nodes are in brackets
		why     string
	}{
		{"O !O N", nil, nil, "[n1]", "the rollout deletes an old pod where none should run"},
		{"O !N N", nil, nil, "", "a new one stays"},
		{"N !N N", nil, nil, "", "as does any without a rollout"},
		{"N !N N", nil, &whatif.Change{Restart: true}, "[n1]", "until there is one"},
		{"N #N N", nil, nil, "n1", "one that may not stay goes at once"},
		{"O !O #O N", nil, nil, "[n1] n2", "a taint that lets it stay until then is another matter than one that does not"},
		{"O !O #O", []dstest.Option{dstest.OnDelete()}, nil, "n2", "OnDelete deletes no other"},
		{"!O/N !O", surge, nil, "[n1]", "beside an old pod a new one stands already, which stays"},
		{"!O !o", []dstest.Option{percent}, nil, "[n1]", "10% of 0 nodes lets no available pod go, ever"},
		{"O O !O !O", []dstest.Option{down("n0")}, nil, "[n2] [n3]", "a rollout that stalls may reach them"},
		{"!Ot O", nil, nil, "", "a pod that is terminating is lost already"},
		{"~O N", nil, nil, "", "a node that is gone is none"},
		{"N !N", nil, &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeRemove, Which: "n1"}}}, "", "nor is one that is removed"},
		{"N O", []dstest.Option{down("n1")}, nil, "", "a node that should run one is owed one"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p, err := planOf(dstest.State(tt.grid, tt.options...), tt.change, Options{})
			if err != nil {
				t.Fatal(err)
			}
			names := Nodes(p.Lost)
			for _, n := range p.Stranded {
				names[slices.Index(names, n.Node)] = "[" + n.Node + "]"
				if want := (daemonset.Remedy{Kind: daemonset.AddToleration, Toleration: &corev1.Toleration{Key: "dedicated", Operator: "Exists", Effect: "NoSchedule"}}); !cmp.Equal(n.Changes, []daemonset.Remedy{want}) || n.Verdict.Facts.Text("taint") != "dedicated:NoSchedule" {
					t.Errorf("%s: %+v", tt.grid, n)
				}
			}
			if got := strings.Join(names, " "); got != tt.want || p.Lost == nil || p.Stranded == nil {
				t.Errorf("%s: lost %q, want %q", tt.grid, got, tt.want)
			}
		})
	}
}

// TestStaysTerminating checks that a rollout stalls if its deletions never finish, and that pods which a change removes
// immediately count as removed in any case.
func TestStaysTerminating(t *testing.T) {
	all := []dstest.Option{down("n0"), down("n1")}
	selector := &whatif.Change{NodeSelector: map[string]string{"pool": "gpus"}}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		change  *whatif.Change
		want    string
		why     string
	}{
		{"!o !o", all, nil, "Stalls (Terminating): 1 steps, 0 replaced, 0 left, 0 worst, 2 dropped; n0 NodeNotReady; n1 NodeNotReady", "no kubelet is left"},
		{"o o", all, nil, "Stalls (Terminating): 1 steps, 2 replaced, 0 left, 2 worst; n0 NodeNotReady; n1 NodeNotReady; RepairNodes=2", "nor where the nodes are eligible"},
		{"!o !o", []dstest.Option{down("n0")}, nil, "Stalls (Terminating): 1 steps, 0 replaced, 0 left, 0 worst, 2 dropped; n0 NodeNotReady; Tolerate=?", "one pod ends, and one does not"},
		{"o !o N", []dstest.Option{down("n1")}, nil, "Completes: 1 steps, 1 replaced, 0 left, 1 worst, 1 dropped; RepairNodes=1", "the nodes that should run the pod do"},
		{"N N", all, selector, "RemovesAllPods: 0 steps, 0 replaced, 0 left, 0 worst", "a typo in a selector is no rollout"},
		{"!Ot !Ot", all, nil, "NothingToDo: 0 steps, 0 replaced, 0 left, 0 worst", "they are deleted already"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p, err := planOf(dstest.State(tt.grid, tt.options...), tt.change, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := short(&p.Outcome); got != tt.want {
				t.Errorf("%s:\n got %s\nwant %s", tt.grid, got, tt.want)
			}
		})
	}
}

// TestLawPlacement checks that, if the next sync manages within its burst limit, it deletes a pod from every node in
// Lose, creates one on every node in Gain, and does not roll before.
func TestLawPlacement(t *testing.T) {
	lost, gained := 0, 0
	law := func(s *snapshot.Snapshot, c whatif.Change) {
		r, err := whatif.Make(stateOf(t, s), &c)
		if err != nil {
			return
		}
		p, step := placementChange(r.Before, r.State), r.State.Sync()
		if len(p.Gain)+len(p.Lose) > 0 && step.Kind != daemonset.StepManage {
			t.Errorf("%v gain and %v lose, and the next step is %s", named(p.Gain), named(p.Lose), step.Kind)
		}
		if step.Deletes.Deferred+step.Creates.Deferred > 0 {
			return
		}
		on := func(items []daemonset.Item, node string, reason daemonset.Reason) bool {
			return slices.ContainsFunc(items, func(i daemonset.Item) bool { return i.Node == node && i.Reason == reason })
		}
		for _, n := range p.Lose {
			if lost++; !on(step.Deletes.Certain, n.Node, daemonset.NoLongerEligible) {
				t.Errorf("%s is said to lose a pod: %+v", n.Node, step.Deletes)
			}
		}
		for _, n := range p.Gain {
			if gained++; !on(step.Creates.Certain, n.Node, daemonset.Missing) {
				t.Errorf("%s is said to gain a pod: %+v", n.Node, step.Creates)
			}
		}
		if !slices.IsSorted(named(p.Gain)) || !slices.IsSorted(named(p.Lose)) {
			t.Error("not by name")
		}
	}
	for seed := range cases.Of(int64(100)) {
		s := dstest.Anywhere(seed, []string{dstest.Newest, "v1.30.5", "v1.22.17"}[seed%3])
		pool := []string{"a", "b"}[seed%2]
		for i, c := range []whatif.Change{
			{Tolerations: []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}},
			{NodeSelector: map[string]string{"example.com/pool": pool}},
			{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeTaint, Which: "n[13579]", Taint: dstest.Taint("trouble:NoSchedule")}}},
			{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeTaint, Which: "n*", Taint: dstest.Taint("trouble:NoExecute")}}},
			{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeUntaint, Which: "n*", Taint: dstest.Taint("dedicated")}}},
			{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeLabel, Which: "n*", Key: "example.com/pool", Value: pool}}},
		} {
			if law(s, c); t.Failed() {
				t.Fatalf("seed %d, change %d:\n%s", seed, i, dstest.Describe(s))
			}
		}
	}
	if lost < cases.Least(200) || gained < cases.Least(20) {
		t.Errorf("%d lost, %d gained: the law looks at too few", lost, gained)
	}
}

// TestLawKeptByTolerations checks that no node is stranded with the tolerations that keep the pods, and that one is
// with one toleration fewer.
func TestLawKeptByTolerations(t *testing.T) {
	kept := 0
	for seed := range cases.Of(int64(100)) {
		s := dstest.Anywhere(seed, []string{dstest.Newest, "v1.30.5", "v1.22.17"}[seed%3])
		change := whatif.Change{Restart: true, Nodes: []whatif.NodeEdit{
			{Kind: whatif.NodeTaint, Which: "n[13579]", Taint: dstest.Taint("trouble:NoSchedule")},
			{Kind: whatif.NodeTaint, Which: "n[369]", Taint: dstest.Taint("example.com/reserved=x:NoSchedule")},
		}}
		p, err := planOf(s, &change, Options{})
		if err != nil {
			continue
		}
		nodes, tolerations := p.KeptByTolerations()
		for fewer := range min(2, len(tolerations)+1) {
			change.Tolerations = tolerations[fewer:]
			after, err := planOf(s, &change, Options{})
			if err != nil {
				t.Fatal(err)
			}
			stranded := slices.ContainsFunc(after.Stranded, func(n StrandedNode) bool { return slices.Contains(nodes, n.Node) })
			if kept += len(nodes); stranded != (fewer > 0) {
				t.Fatalf("seed %d: %v are kept by %+v without %d, and stranded is %+v\n%s", seed, nodes, tolerations, fewer, after.Stranded, dstest.Describe(s))
			}
		}
	}
	if kept < cases.Least(100) {
		t.Errorf("%d nodes: the law looks at too few", kept)
	}
}

// TestLawKeptBeforeTaint checks that no node loses its pod with the tolerations that keep the pods on tainted nodes,
// and that one does with one toleration fewer.
func TestLawKeptBeforeTaint(t *testing.T) {
	kept := 0
	for seed := range cases.Of(int64(100)) {
		s := dstest.Anywhere(seed, []string{dstest.Newest, "v1.30.5", "v1.22.17"}[seed%3])
		change := whatif.Change{Nodes: []whatif.NodeEdit{
			{Kind: whatif.NodeTaint, Which: "n[13579]", Taint: dstest.Taint("example.com/reserved:NoExecute")},
			{Kind: whatif.NodeTaint, Which: "n[02468]", Taint: dstest.Taint("dedicated=x:NoExecute")},
		}}
		p, err := planOf(s, &change, Options{})
		if err != nil {
			continue
		}
		tolerations := p.KeptBeforeTaint()
		for fewer := range min(2, len(tolerations)+1) {
			change.Tolerations = tolerations[fewer:]
			after, err := planOf(s, &change, Options{})
			if err != nil { // the API server would reject this DaemonSet
				break
			}
			loses := len(after.Placement.Lose) > 0
			if kept += len(p.Placement.Lose); len(tolerations) > 0 && loses != (fewer > 0) {
				t.Fatalf("seed %d: kept by %+v without %d, and %+v lose their pod\n%s",
					seed, tolerations, fewer, after.Placement.Lose, dstest.Describe(s))
			}
		}
	}
	if kept < cases.Least(100) {
		t.Errorf("%d nodes: the law looks at too few", kept)
	}
}
