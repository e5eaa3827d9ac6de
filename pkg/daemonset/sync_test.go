package daemonset

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func gap(what snapshot.What, why snapshot.Why) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.Gaps = append(s.Gaps, snapshot.Gap{What: what, Why: why})
		switch {
		case why == snapshot.Moved:
		case what == snapshot.Nodes:
			s.Nodes = nil
		case what == snapshot.Pods:
			s.Pods = nil
		}
	})
}

func TestRollingUpdate(t *testing.T) {
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want outcome
		why  string
	}{
		{"- O O", options{dstest.MaxUnavailable("2")}, outcome{Step: "RollingUpdate Replacing", Deletes: "any 1 of n1/p1 n2/p2 Budget"}, "a node that waits for its pod holds the budget, and no more"},
		{"- O", nil, outcome{Step: "None BudgetSpent"}, "all of it here"},
		{"O/N O", options{dstest.MaxSurge("1"), dstest.MaxUnavailable("0")}, outcome{Step: "RollingUpdate Replacing", Creates: "n1 Surge", Deletes: "n0/p0 Superseded"}, "under surge it supersedes an old pod itself, and goes on"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, outcomeOf(state(t, dstest.State(tt.grid, tt.opts...)).RollingUpdate())); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

func TestSync(t *testing.T) {
	deleted := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.DeletionTimestamp = &metav1.Time{Time: dstest.Now} })
	selector := func(s *metav1.LabelSelector) dstest.Option {
		return dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Selector = s })
	}
	app := metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpExists}
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want outcome
		why  string
	}{
		{"- O", nil, outcome{Step: "Manage Placement", Creates: "n0 Missing"}, "if manage acts, the rolling update waits"},
		{"- o", nil, outcome{Step: "Manage Placement", Creates: "n0 Missing"}, "even what it would force"},
		{"O N", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Budget"}, "if manage finds nothing to do, it acts"},
		{"- O", options{deleted}, outcome{Step: "None BeingDeleted"}, "a DaemonSet that is being deleted is left alone"},
		{"- O", options{selector(&metav1.LabelSelector{})}, outcome{Step: "None SelectsAll"}, "so is one that selects everything"},
		{"O N", options{selector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{app}})}, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Budget"}, "an expression is a selector as well"},
		{"n O", nil, outcome{Step: "None BudgetSpent"}, "a spent budget is a reason to wait"},
		{"!N !N/O", options{dstest.MaxSurge("1")}, outcome{Step: "Manage Placement", Deletes: "n1/p1b Superseded"}, "manage supersedes an old pod under surge"},
		{"!O o", options{dstest.MaxSurge("1"), dstest.Version("v1.29.0")}, outcome{Step: "RollingUpdate Replacing", Creates: "n1 Forced"}, "1.29.0 has #119317"},

		// What could not be read.
		{"- O", options{gap(snapshot.Pods, snapshot.Forbidden)}, outcome{Step: "None PodsNotRead"}, "without pods nothing is told"},
		{"- O O", options{gap(snapshot.Nodes, snapshot.Forbidden), dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Status.DesiredNumberScheduled = 3 })}, outcome{Step: "RollingUpdate Replacing", Deletes: "any 1 of n1/p1 n2/p2 Budget"}, "without nodes empty ones are not seen, and every pod may stay"},
		{"#O -", options{gap(snapshot.Nodes, snapshot.Forbidden)}, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Budget"}, "nor is what keeps a pod from staying"},
		{"- O", options{gap(snapshot.Nodes, snapshot.Moved)}, outcome{Step: "Manage Placement", Creates: "n0 Missing"}, "what moved while it was read is there"},
		{"Nt", options{gap(snapshot.Nodes, snapshot.Forbidden), dstest.MaxSurge("1")}, outcome{Step: "None UpToDate"}, "without nodes surge does not know where to create"},

		// The burst.
		{"-*250", nil, outcome{Step: "Manage Placement", Creates: "250 from n0 Missing to n99 Missing"}, "250 creates are one sync's"},
		{"-*251", nil, outcome{Step: "Manage Placement", Creates: "any 250 of 251 from n0 to n99 Missing; 1 deferred"}, "of 251 any 250"},
		{"-*300 #O*260", nil, outcome{Step: "Manage Placement", Creates: "any 250 of 300 from n0 to n99 Missing; 50 deferred", Deletes: "any 250 of 260 from n300/p300 to n559/p559 NoLongerEligible; 10 deferred"}, "creates and deletes have a burst each"},
		{"o*200 O*100", options{dstest.MaxUnavailable("300")}, outcome{Step: "RollingUpdate Replacing", Deletes: "200 from n0/p0 Forced to n99/p99 Forced; any 50 of 100 from n200/p200 to n299/p299 Budget; 50 deferred"}, "forced deletes go before candidates, of which the burst takes some"},
		{"o*250 O*100", options{dstest.MaxUnavailable("300")}, outcome{Step: "RollingUpdate Replacing", Deletes: "250 from n0/p0 Forced to n99/p99 Forced; 50 deferred"}, "or none, and a candidate that the budget has no room for is not deferred"},
		{"o*255 O*100", options{dstest.MaxUnavailable("300")}, outcome{Step: "RollingUpdate Replacing", Deletes: "any 250 of 255 from n0/p0 to n99/p99 Forced; 50 deferred"}, "the class that is cut becomes a choice"},
		{"O*300", options{dstest.MaxUnavailable("260")}, outcome{Step: "RollingUpdate Replacing", Deletes: "any 250 of 300 from n0/p0 to n99/p99 Budget; 10 deferred"}, "a choice that is cut takes fewer"},
		{"O*300", options{dstest.MaxUnavailable("200")}, outcome{Step: "RollingUpdate Replacing", Deletes: "any 200 of 300 from n0/p0 to n99/p99 Budget"}, "one inside stays as it is"},
		{"o*240 O*20", options{dstest.MaxSurge("30")}, outcome{Step: "RollingUpdate Replacing", Creates: "240 from n0 Forced to n99 Forced; any 10 of 20 from n240 to n259 Surge; 10 deferred"}, "under surge unavailable old pods' nodes go first"},
		{"!o*249 !O*3 N*3", options{dstest.MaxSurge("1")}, outcome{Step: "RollingUpdate Replacing", Deletes: "249 from n0/p0 NoLongerEligible to n99/p99 NoLongerEligible; any 1 of n249/p249 n250/p250 n251/p251 Sunset; 2 deferred"}, "and unconditional deletes before sunset pods"},
		{"#O*248 ~op*4", nil, outcome{Step: "Manage Placement", Deletes: "248 from n0/p0 NoLongerEligible to n99/p99 NoLongerEligible; any 2 of n248/p248 n249/p249 n250/p250 n251/p251 NodeMissing; 2 deferred"}, "pods on nodes go before those of vanished nodes"},
		{"#O*249 nf/nf N/O", nil, outcome{Step: "Manage Placement", Deletes: "any 250 of 252 from n0/p0 NoLongerEligible to n99/p99 NoLongerEligible Burst, 1 a node; 1 deferred", Waits: "Backoff of n249" + backoff}, "a class of several reasons is cut at random, with one Failed pod a node"},
		{"#O/O*249 nf/nf/N/N", nil, outcome{Step: "Manage Placement", Deletes: "any 250 of 501 from n0/p0 NoLongerEligible to n99/p99b NoLongerEligible Burst, 2 a node; 250 deferred", Waits: "Backoff of n249" + backoff}, "or as many as a node has"},
	} {
		whys.run(t, tt.why, func(t *testing.T) { checkSync(t, tt.grid, tt.opts, tt.want) })
	}
}

// TestExact checks that a step is exact unless something could not be read.
func TestExact(t *testing.T) {
	whys := whys{}
	for _, tt := range []struct {
		opts options
		want bool
		why  string
	}{
		{nil, true, "all was read"},
		{options{gap(snapshot.Nodes, snapshot.Forbidden)}, false, "nodes may be missing"},
		{options{gap(snapshot.Pods, snapshot.Forbidden)}, false, "all pods are"},
		{options{gap(snapshot.Revisions, snapshot.Forbidden)}, false, "the current revision is a guess"},
		{options{gap(snapshot.Nodes, snapshot.Moved)}, true, "what moved while it was read is there"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			if got := state(t, dstest.State("O N", tt.opts...)).Sync().Exact; got != tt.want {
				t.Errorf("exact: %t, want %t", got, tt.want)
			}
		})
	}
}

// TestBurst tests classes that no actual step combines.
func TestBurst(t *testing.T) {
	pods := func(node string, names ...string) (items []Item) {
		for _, n := range names {
			items = append(items, Item{Node: node, Pod: n})
		}
		return items
	}
	sunset := Choice{Count: 2, From: append(append(pods("n3", "a"), pods("n4", "a")...), pods("n5", "a")...), Reason: Sunset}
	failed := func(node string) Choice {
		return Choice{Count: 1, PerNode: 1, From: pods(node, "a", "b"), Reason: FailedPod}
	}
	early := Choice{Count: 2, From: append(append(pods("k3", "a"), pods("k4", "a")...), pods("k5", "a")...), Reason: Sunset}
	spread := Choice{Count: 1, From: append(pods("n0", "a"), pods("n9", "a")...), Reason: FailedPod}
	var certain []Item
	for i := range 249 {
		certain = append(certain, Item{Node: fmt.Sprintf("m%03d", i), Pod: "a", Reason: Forced})
	}
	whys := whys{}
	for _, tt := range []struct {
		classes []class
		want    string
		why     string
	}{
		{nil, "", "nothing is an empty batch"},
		{[]class{{choices: []Choice{early, failed("n1")}}, {choices: []Choice{spread}}}, "any 1 of n0/a n9/a FailedPod; any 1 of n1/a n1/b FailedPod, 1 a node; any 2 of k3/a k4/a k5/a Sunset", "choices stand by reason, and then by what they begin with"},
		{[]class{{choices: []Choice{spread, failed("n1"), early}}}, "any 1 of n0/a n9/a FailedPod; any 1 of n1/a n1/b FailedPod, 1 a node; any 2 of k3/a k4/a k5/a Sunset", "in whatever order they come"},
		{[]class{{items: certain, choices: []Choice{failed("n1"), sunset}}}, "any 250 of 254 from m000/a Forced to n5/a Sunset Burst, 2 a node; 2 deferred", "one choice that is limited limits the class that is cut"},
		{[]class{{items: certain, choices: []Choice{sunset}}}, "any 250 of 252 from m000/a Forced to n5/a Sunset Burst; 1 deferred", "without one nothing does"},
		{[]class{{items: certain}, {choices: []Choice{failed("n1")}}, {items: pods("n0", "a")}, {items: pods("n2", "a")}}, "249 from m000/a Forced to m248/a Forced; any 1 of n1/a n1/b FailedPod, 1 a node; 2 deferred", "what comes after the last that fits is left"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, batchText(burst(tt.classes...))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestStepIsWhole compares a whole step, which is next in JSON.
func TestStepIsWhole(t *testing.T) {
	got := state(t, dstest.State("o O O Or Oa", dstest.MaxUnavailable("2"), dstest.OnDelete(), gap(snapshot.Nodes, snapshot.Forbidden))).Sync()
	want := Step{
		Kind: StepNone, Reason: StepOnDelete,
		Creates:   Batch{Certain: []Item{}, Choices: []Choice{}},
		Deletes:   Batch{Certain: []Item{}, Choices: []Choice{}},
		Revisions: StepRevisions{Current: []string{"agent-new"}, Number: 2, Adopt: []string{}, Release: []string{}, Relabel: []string{}, Remove: []Removal{}},
		Pods:      StepPods{Adopt: []string{"p4"}, Release: []string{"p3"}},
		Waits:     []Wait{},

		WritesStatus: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a gap makes it inexact (-want +got):\n%s", diff)
	}
	got = state(t, dstest.State("nf N !- nf/nf", historyLimit(0))).Sync()
	want = Step{
		Kind: StepManage, Reason: StepPlacement, Exact: true,
		Creates: Batch{Certain: []Item{}, Choices: []Choice{}},
		Deletes: Batch{
			Certain: []Item{{Node: "n0", Pod: "p0", Reason: FailedPod}},
			Choices: []Choice{{Count: 1, PerNode: 1, From: []Item{{Node: "n3", Pod: "p3"}, {Node: "n3", Pod: "p3b"}}, Reason: FailedPod}},
		},
		Revisions: StepRevisions{
			Current: []string{"agent-new"}, Number: 2, Adopt: []string{}, Release: []string{}, Relabel: []string{}, Remove: []Removal{{Name: "agent-old", Reason: CleanUp}},
		},
		Pods:  StepPods{Adopt: []string{}, Release: []string{}},
		Waits: []Wait{{Code: Backoff, Nodes: []string{"n0", "n3"}, AtMost: 900}},

		WritesStatus: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
