package daemonset

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
)

func TestResolveBudget(t *testing.T) {
	const current = "v1.37.1"
	limits := func(maxUnavailable, maxSurge string) *appsv1.RollingUpdateDaemonSet {
		ru := &appsv1.RollingUpdateDaemonSet{}
		if maxUnavailable != "" {
			v := intstr.Parse(maxUnavailable)
			ru.MaxUnavailable = &v
		}
		if maxSurge != "" {
			v := intstr.Parse(maxSurge)
			ru.MaxSurge = &v
		}
		return ru
	}
	whys := whys{}
	for _, tt := range []struct {
		version string
		limits  *appsv1.RollingUpdateDaemonSet
		desired int
		want    Budget
		why     string
	}{
		{current, limits("3", "0"), 10, Budget{Kind: BudgetUnavailable, MaxUnavailable: 3, Spec: "3", Of: 10}, "a number is taken as it is"},
		{current, limits("30", "0"), 10, Budget{Kind: BudgetUnavailable, MaxUnavailable: 30, Spec: "30", Of: 10}, "even one above the number of nodes"},
		{current, limits("5%", "0"), 288, Budget{Kind: BudgetUnavailable, MaxUnavailable: 15, Spec: "5%", Scaled: "14.4", Of: 288}, "a percentage is rounded up"},
		{current, limits("90%", "0"), 288, Budget{Kind: BudgetUnavailable, MaxUnavailable: 260, Spec: "90%", Scaled: "259.2", Of: 288}, "also of many"},
		{current, limits("10%", "0"), 3, Budget{Kind: BudgetUnavailable, MaxUnavailable: 1, Spec: "10%", Scaled: "0.3", Of: 3}, "13.2: 10% of 3 is 1"},
		{current, limits("34%", "0"), 3, Budget{Kind: BudgetUnavailable, MaxUnavailable: 2, Spec: "34%", Scaled: "1.02", Of: 3}, "13.2: 34% of 3 is 2"},
		{current, limits("50%", "0"), 4, Budget{Kind: BudgetUnavailable, MaxUnavailable: 2, Spec: "50%", Scaled: "2", Of: 4}, "what comes out even is not rounded"},
		{current, limits("25%", "0"), 0, Budget{Kind: BudgetUnavailable, Spec: "25%", Scaled: "0", Of: 0}, "13.2: of no node there is nothing"},
		{current, limits("100%", "0"), 7, Budget{Kind: BudgetUnavailable, MaxUnavailable: 7, Spec: "100%", Scaled: "7", Of: 7}, "all of them"},
		{current, limits("1", ""), 3, Budget{Kind: BudgetUnavailable, MaxUnavailable: 1, Spec: "1", Of: 3}, "no maxSurge is a maxSurge of 0"},
		{current, limits("0", "2"), 10, Budget{Kind: BudgetSurge, MaxSurge: 2, Spec: "2", Of: 10}, "maxSurge makes it a surge"},
		{current, limits("0%", "25%"), 10, Budget{Kind: BudgetSurge, MaxSurge: 3, Spec: "25%", Scaled: "2.5", Of: 10}, "rounded up as well"},
		{current, limits("2", "1"), 10, Budget{Kind: BudgetSurge, MaxUnavailable: 2, MaxSurge: 1, Spec: "1", Of: 10}, "of both, which the API refuses, maxSurge decides"},
		{current, limits("0", "1%"), 0, Budget{Kind: BudgetUnavailable, Spec: "0", Of: 0}, "a surge of no node is no surge"},
		{current, limits("0", "0"), 3, Budget{Kind: BudgetUnavailable, MaxUnavailable: 1, Spec: "0", Of: 3, Fallback: true}, "when both come to 0, one node may be unavailable (1.21, #96441)"},
		{current, limits("0", "0"), 1, Budget{Kind: BudgetUnavailable, MaxUnavailable: 1, Spec: "0", Of: 1, Fallback: true}, "even of a single one"},
		{current, nil, 3, Budget{Kind: BudgetUnavailable, MaxUnavailable: 1, Of: 3, Fallback: true}, "also without a rollingUpdate block"},
		{current, nil, 0, Budget{Kind: BudgetUnavailable, Of: 0}, "but not of no node"},
		{"v1.20.15", limits("0", ""), 3, Budget{Kind: BudgetUnavailable, Spec: "0", Of: 3}, "up to 1.20 there was no such fallback"},
		{"v1.21.14", limits("1", "2"), 3, Budget{Kind: BudgetUnavailable, MaxUnavailable: 1, Spec: "1", Of: 3}, "up to 1.21 maxSurge is off"},
		{"v1.22.0", limits("0", "2"), 3, Budget{Kind: BudgetSurge, MaxSurge: 2, Spec: "2", Of: 3}, "from 1.22 on it is on"},
		{current, limits("", "1"), 3, Budget{Kind: BudgetUnavailable, Of: 3, Invalid: "spec.updateStrategy.rollingUpdate.maxUnavailable (not set)"}, "a rollingUpdate block needs maxUnavailable"},
		{current, limits("few", "0"), 3, Budget{Kind: BudgetUnavailable, Of: 3, Invalid: `spec.updateStrategy.rollingUpdate.maxUnavailable: "few"`}, "which is a number or a percentage"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			profile, err := ForVersion(tt.version)
			if err != nil {
				t.Fatal(err)
			}
			ds := &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: tt.limits}}}
			if diff := cmp.Diff(tt.want, resolveBudget(ds, tt.desired, profile)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBudgetOfState tests which number a percentage refers to, and which nodes
// use the budget.
func TestBudgetOfState(t *testing.T) {
	type use struct {
		Kind            BudgetKind
		Of, Limit, Used int
		Holders         string
	}
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want use
		why  string
	}{
		{"O N - !O #- ~O ^O", options{dstest.MaxUnavailable("50%")}, use{Kind: BudgetUnavailable, Of: 4, Limit: 2, Used: 1, Holders: "n2 "}, "a percentage is of the nodes that should run the pod"},
		{"O o N n - Ot O/n O/O ~Ot !o !- #Ot", nil, use{Kind: BudgetUnavailable, Of: 8, Limit: 1, Used: 9, Holders: "n1 n11 n3 n4 n5 n6 n7 n8 n9 "}, "every node without just one available pod holds, but for empty ones that should be"},
		{"O o n", options{dstest.Version("v1.30.5")}, use{Kind: BudgetUnavailable, Of: 3, Limit: 1, Used: 1, Holders: "n2 "}, "before #123233 unavailable old pods held nothing"},
		{"O/n O/N o n O/O -", options{dstest.MaxSurge("3")}, use{Kind: BudgetSurge, Of: 6, Limit: 3, Used: 2, Holders: "n0 n4 "}, "of a surge, only nodes with two pods hold, until the new one is available"},
		{"o - n !Ot Nt Nt/N ~n", options{dstest.Version("v1.20.15")}, use{Kind: BudgetUnavailable, Of: 5, Limit: 1, Used: 4, Holders: "n0 n1 n2 n4 "}, "up to 1.20 every node that should run the pod and has none available that lives"},
		{"O O", options{dstest.MaxUnavailable("50%"), dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Status.DesiredNumberScheduled = 9 })}, use{Kind: BudgetUnavailable, Of: 2, Limit: 1}, "and not of those that the status reports"},
		{"O o", options{dstest.OnDelete()}, use{Kind: BudgetNone, Of: 2}, "OnDelete has no budget"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			st := state(t, dstest.State(tt.grid, tt.opts...))
			got := use{Kind: st.Budget.Kind, Of: st.Budget.Of, Limit: st.Limit(), Used: st.Used()}
			for i := range st.Nodes {
				if st.Holds(&st.Nodes[i]) {
					got.Holders += fmt.Sprint(st.Nodes[i].Name, " ")
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

func TestBudgetField(t *testing.T) {
	for kind, want := range map[BudgetKind]string{BudgetUnavailable: "maxUnavailable", BudgetSurge: "maxSurge", BudgetNone: ""} {
		if got := kind.Field(); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
