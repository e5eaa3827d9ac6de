package daemonset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func TestNodes(t *testing.T) {
	wait := dstest.MinReadySeconds(30)
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want string
		why  string
	}{
		{"- O o N n O/N O/O N/n", nil, "n0 Empty, n1 OldAvailable, n2 OldUnavailable, n3 NewAvailable, n4 NewUnavailable, n5 Both, n6 Excess, n7 Excess", "a slot is new and old pods, available or not"},
		{"Ot Ot/Nt Ot/n Nt/O", nil, "n0 OnlyTerminating, n1 OnlyTerminating, n2 NewUnavailable, n3 OldAvailable", "terminating pods are neither new nor old"},
		{"V W", options{wait}, "n0 OldUnavailable, n1 NewUnavailable", "ready is not yet available"},
		{"nft oft/O nf", nil, "n0 Empty, n1 OldAvailable, n2 NewUnavailable", "a pod that is done and terminating is not there, one that is just done is"},
		{"G/N H/O", nil, "n0 Excess, n1 Both", "new by either label"},
		{"O/N/O", nil, "n0 Excess", "two old ones and a new one"},
		{"~O - !- #- ~N", nil, "n0 gone OldAvailable, n1 Empty, n2 Empty, n3 Empty, n4 gone NewAvailable", "vanished nodes stand among the others, by name"},
		{"- O N", options{gap(snapshot.Nodes, snapshot.Forbidden)}, "n1 OldAvailable, n2 NewAvailable", "without nodes those that pods are for stand in for them"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			st := state(t, dstest.State(tt.grid, tt.opts...))
			var got []string
			for _, n := range st.Nodes {
				gone := ""
				if !n.Exists {
					gone = "gone "
				}
				got = append(got, fmt.Sprintf("%s %s%s", n.Name, gone, n.Slot))
				if found := st.Node(n.Name); found == nil || found.Name != n.Name {
					t.Errorf("Node(%q) is %v", n.Name, found)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.grid, diff)
			}
			if n := st.Node("elsewhere"); n != nil {
				t.Errorf("Node of no name is %v", n)
			}
		})
	}
}

func TestUnreadVerdicts(t *testing.T) {
	for _, tt := range []struct {
		grid string
		opts options
		want Verdict
		why  string
	}{
		{"~O", nil, Verdict{Reason: NodeGone}, "a vanished node neither should nor may"},
		{"#O", options{gap(snapshot.Nodes, snapshot.Forbidden)}, Verdict{OK: true, Reason: NodesNotRead}, "a node that was not read is taken for one that should"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			st := state(t, dstest.State(tt.grid, tt.opts...))
			n := st.Nodes[0]
			if diff := cmp.Diff([]Verdict{tt.want, tt.want}, []Verdict{n.ShouldRun, n.MayStay}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDesiredIsReportedWithoutNodes(t *testing.T) {
	st := state(t, dstest.State("O", gap(snapshot.Nodes, snapshot.NotGiven), dstest.MaxUnavailable("50%"),
		dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Status.DesiredNumberScheduled = 9 })))
	want := Budget{Kind: BudgetUnavailable, MaxUnavailable: 5, Spec: "50%", Scaled: "4.5", Of: 9, OfSource: "Reported"}
	if diff := cmp.Diff(want, st.Budget); diff != "" || st.Desired != 9 {
		t.Errorf("desired %d, budget (-want +got):\n%s", st.Desired, diff)
	}
}

func TestNewRefuses(t *testing.T) {
	s := dstest.State("O")
	s.DaemonSet.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}}
	_, err := New(s, Profile{})
	if err == nil || !strings.Contains(err.Error(), "daemonset kube-system/agent: spec.selector:") {
		t.Errorf("a selector that cannot be read: %v", err)
	}
}
