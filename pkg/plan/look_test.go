package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// toldOf formats an Outlook as one line.
func toldOf(o remedy.Outlook) string {
	var parts []string
	for _, r := range o.Remedies {
		if r.Smallest != "" && r.Worth == remedy.Helps {
			parts = append(parts, fmt.Sprintf("raise to %s, at least %s, without %s", r.Value, r.Smallest, strings.Join(r.Effect.Left, " ")))
		}
	}
	if s := o.Stall; s != nil {
		parts = append(parts, fmt.Sprintf("next stalls (%s) after %d of %d: %s", s.Reason, s.Replaced, s.Of, strings.Join(s.Nodes, " ")))
		if s.Further > 0 {
			parts[len(parts)-1] += fmt.Sprintf("any %d", s.Further)
		}
		if s.Working {
			parts[len(parts)-1] += ", some of them available"
		}
	}
	return strings.Join(parts, "; ")
}

func TestLook(t *testing.T) {
	max := dstest.MaxUnavailable
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"O O N", nil, "", "a rollout that completes needs nothing"},
		{"N N N", nil, "", "nor does one to come that would"},
		{"Ot O*9", []dstest.Option{down("n0")}, `raise to 2, at least 2, without n0`, "one node is lost, and one at a time goes on"},
		{"Ot Ot Ot O*21", []dstest.Option{down("n0"), down("n1"), down("n2"), max("10%")}, `raise to 6, at least 4, without n0 n1 n2`, "three are lost, and three at a time go on; one at a time would do"},
		{"n O O", []dstest.Option{crash("p0")}, "", "the revision fails: more room takes down more nodes"},
		{"n N O O", []dstest.Option{crash("p0")}, "", "it fails on one node and runs on another, which leaves open whose fault it is"},
		{"- O O", []dstest.Option{refused()}, "", "pods are refused: no limit helps"},
		{"O O", []dstest.Option{max("x")}, "", "a limit that cannot be resolved"},
		{"O O", []dstest.Option{dstest.OnDelete()}, "", "OnDelete has none"},
		{"O O", []dstest.Option{dstest.MaxSurge("1"), max("0"), hostPort()}, "", "of pods that wait for a host port, more would wait"},
		{"!O !O", []dstest.Option{max("10%")}, "", "with more room all pods were removed"},
		{"N N n", []dstest.Option{down("n2")}, "next stalls (BudgetSpent) after 1 of 3: n2", "nothing is rolling, and a dead node would use up the limit"},
		{"N N N", []dstest.Option{down("n2")}, "next stalls (BudgetSpent) after 1 of 3: n2, some of them available", "its pod still counts as available"},
		{"N N n", []dstest.Option{down("n2"), max("2")}, "", "with another limit it would not"},
		{"N N n", []dstest.Option{down("n2"), dstest.OnDelete()}, "", "and under OnDelete there is none to stall"},
		{"N N !n", []dstest.Option{down("n2")}, "next stalls (BudgetSpent) after 1 of 3: n2", "also if it is not eligible, which no number of the status shows"},
		{"N N n", []dstest.Option{crash("p2")}, "", "another template may run where this one fails"},
		{"N N", []dstest.Option{dstest.MaxSurge("1"), max("0"), hostPort()}, "next stalls (BudgetSpent) after 0 of 2: any 1", "a surge with a host port works until it is used"},
		{"N N", []dstest.Option{max("x")}, "", "a limit that the API refuses: nobody can change the template either"},
		{"!N !N", nil, "", "a rollout that removes all pods stalls nowhere: see NoneEligible"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, tt.options...)
			if diff := cmp.Diff(tt.want, toldOf(Look(stateOf(t, s)))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

// TestOfDeletion checks the remedies for pods that hold up the deletion of a DaemonSet.
func TestOfDeletion(t *testing.T) {
	deleted := func(finalizers ...string) dstest.Option {
		return dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			now := metav1.NewTime(dstest.Now)
			ds.DeletionTimestamp, ds.Finalizers = &now, finalizers
		})
	}
	const foreground = metav1.FinalizerDeleteDependents
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string // the nodes of RemoveNode
		why     string
	}{
		{"Ot N", []dstest.Option{down("n0"), deleted(foreground)}, "n0", "the kubelet is silent, and the garbage collector waits for its pod"},
		{"!Ot !Ot N", []dstest.Option{down("n0"), down("n1"), deleted("a/b", foreground)}, "n0,n1", "also of nodes that are not eligible"},
		{"Ot N", []dstest.Option{down("n0"), deleted("a/b")}, "", "another finalizer does not wait for pods"},
		{"Ot N", []dstest.Option{deleted(foreground)}, "", "the kubelet ends the pod"},
		{"Ot N", []dstest.Option{notReady("n0"), deleted(foreground)}, "", "a kubelet that reports NotReady runs"},
		{"O N", []dstest.Option{down("n0"), deleted(foreground)}, "", "the garbage collector has not deleted the pod yet"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			st := stateOf(t, dstest.State(tt.grid, tt.options...))
			for of, remedies := range map[string][]remedy.Remedy{"explain": Look(st).Remedies, "a plan": Make(st, Options{}).Outcome.Remedies} {
				got := ""
				if r := remedy.Find(remedies, remedy.RemoveNode); r != nil && r.Worth == remedy.Helps {
					got = strings.Join(r.Nodes, ",")
				}
				if got != tt.want {
					t.Errorf("%s: %q, want %q", of, got, tt.want)
				}
			}
		})
	}
}

// readyFor makes a pod Ready since that long ago.
func readyFor(pod string, since time.Duration) dstest.Option {
	return dstest.Pod(pod, func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(dstest.Now.Add(-since))}}
	})
}

// TestNextBatch checks what the controller does at a known time. New pods have been Ready for some of the required 30
// seconds.
func TestNextBatch(t *testing.T) {
	max := dstest.MaxUnavailable
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"n n O O O", []dstest.Option{max("2"), readyFor("p0", 21*time.Second), readyFor("p1", 21*time.Second)}, "9s deletes 2 creates 2", "both become available at the same time"},
		{"n n O O O", []dstest.Option{max("2"), readyFor("p0", 21*time.Second), readyFor("p1", 10*time.Second)}, "9s deletes 1 creates 1", "one of them first"},
		{"n n O O O", []dstest.Option{max("2"), readyFor("p0", 21*time.Second)}, "", "the other is not Ready yet, and may be sooner"},
		{"n O O O", []dstest.Option{max("2"), readyFor("p0", 21*time.Second)}, "", "the limit lets the controller act now"},
		{"n N N", []dstest.Option{readyFor("p0", 21*time.Second)}, "", "no old pod is left to replace"},
		{"n Ot O", []dstest.Option{max("2"), readyFor("p0", 21*time.Second)}, "", "a pod that ends is not waited for alone"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, append(tt.options, dstest.MinReadySeconds(30))...)
			got := ""
			if c := Look(stateOf(t, s)).Course; c != nil && c.Next != nil {
				got = fmt.Sprintf("%s deletes %d creates %d", c.Next.At.Sub(s.TakenAt), c.Next.Deletes, c.Next.Creates)
			}
			if got != tt.want {
				t.Errorf("%s: %q, want %q", tt.grid, got, tt.want)
			}
		})
	}
}

// TestLookIsAPartOfMake checks that Look agrees with Make, and omits only what Make does not have either.
func TestLookIsAPartOfMake(t *testing.T) {
	seen := map[string]int{}
	for seed := range cases.Of(int64(200)) {
		s := dstest.Anywhere(seed, "v1.37.1")
		if len(s.Nodes) > 40 {
			continue
		}
		p, err := planOf(s, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := Look(stateOf(t, s))
		want := remedy.Outlook{Lost: Nodes(p.Lost), Remedies: p.Outcome.Remedies}
		for _, r := range o.Remedies {
			seen[string(r.Code)]++
		}
		if c := p.Outcome.Code; p.Outcome.ReachesEnd() || c == Stalls {
			want.Course = &remedy.Course{Stalls: c == Stalls, End: p.end(), Duration: p.Outcome.Duration}
			for i, a := range p.Outcome.Alternatives {
				if i == 0 {
					want.Course.Otherwise = &remedy.Otherwise{Nodes: a.Nodes, Ready: a.Condition == PodsBecomeReady, Stalls: a.Code == Stalls, Updated: a.Updated, Unserved: a.Unserved, Duration: a.Duration}
				}
				seen["otherwise"]++
			}
			seen[string(c)]++
			if o.Course != nil && o.Course.Next != nil {
				w, n := p.Waves[0], o.Course.Next
				if p.Next.Kind != daemonset.StepNone || w.Deletes != n.Deletes || w.Creates != n.Creates {
					t.Fatalf("seed %d: next is %+v, the first wave of the plan %+v\n%s", seed, n, w, dstest.Describe(s))
				}
				o.Course.Next = nil
			}
			if end, last := &want.Course.End, o.Course; last != nil && last.End.Available >= end.Available { // pods may become available after the last step
				end.Misscheduled, end.Ready, end.Available, end.Unavailable = last.End.Misscheduled, last.End.Ready, last.End.Available, last.End.Unavailable
			}
		}
		if f := p.IfTemplateChanged; f != nil && p.Outcome.Code == NothingToDo && f.Outcome.Code == Stalls {
			want.Stall = &remedy.Stall{Reason: f.Outcome.Reason, Replaced: f.Outcome.Replaced + f.Outcome.Dropped, Of: f.Replaces + f.Drops, AtWorst: f.Outcome.AtWorst, Nodes: []string{}, Further: f.Outcome.FurtherHolders}
			if o.Stall != nil {
				want.Stall.Working = o.Stall.Working // Make does not have it
			}
			for _, h := range f.Outcome.Holders {
				want.Stall.Nodes = append(want.Stall.Nodes, h.Node)
			}
		}
		if o.Stall != nil {
			seen["stall"]++
		}
		if diff := cmp.Diff(want, o); diff != "" {
			t.Fatalf("seed %d (-Make +Look):\n%s\n%s", seed, diff, dstest.Describe(s))
		}
	}
	if seen["RaiseMaxUnavailable"] < cases.Rare(1) || seen["stall"] < cases.Rare(2) || seen["otherwise"] < cases.Least(20) ||
		seen["Completes"] < cases.Least(50) || seen["Stalls"] < cases.Least(25) {
		t.Errorf("the states show too little: %v", seen)
	}
}

// end returns the counts at the end of a plan.
func (p *Plan) end() daemonset.Counts {
	if n := len(p.Waves); n > 0 {
		return p.Waves[n-1].Counts
	}
	return p.Now
}

// TestHelps is a law about each remedy that helps: planned as a change of its own, it completes, or ends with fewer
// nodes without an available pod. It takes no pod from a node that has one. On the way, it never leaves more nodes
// without an available pod than now plus the limit, or than are eligible then and have none now. The smallest limit is
// the smallest one that helps.
func TestHelps(t *testing.T) {
	offered, lost := map[remedy.Code]int{}, 0
	ten := []time.Duration{10 * time.Second}
	for seed := range cases.Of(int64(200)) {
		s := dstest.Anywhere(seed, "v1.37.1")
		st := stateOf(t, s)
		if len(st.Nodes) > 40 {
			continue
		}
		now := &scenario{st: st, a: assume(st), buffers: &buffers{}}
		served := now.served()
		without := now.unserved(served)
		p, err := planOf(s, nil, Options{Starts: ten})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Outcome.Remedies {
			then := s
			if r.Code == remedy.RepairNodes {
				repaired, err := whatif.Repaired(st, r.Nodes)
				if err != nil {
					t.Fatal(err)
				}
				then = repaired.Snapshot
			}
			change := changeFor(t, &r)
			if r.Worth != remedy.Helps || change == nil {
				continue
			}
			offered[r.Code]++
			after, err := planOf(then, change, Options{Starts: ten})
			if err != nil {
				t.Fatalf("seed %d, %v: %v", seed, r, err)
			}
			left := []string{}
			for _, h := range after.Outcome.Holders {
				left = append(left, h.Node)
				if served[h.Node] {
					t.Errorf("seed %d, %v: %s is broken too", seed, r, h.Node)
				}
			}
			completes := after.Outcome.ReachesEnd() || after.Outcome.Code == NothingToDo && len(left) == 0
			if !completes && len(left) >= without || after.Outcome.FurtherHolders > 0 {
				t.Errorf("seed %d, %v: %s\n%s", seed, r, short(&after.Outcome), dstest.Describe(s))
			}
			eligible := without
			if made, err := whatif.Make(st, change); r.Code == remedy.Tolerate && err == nil { // more nodes are eligible
				eligible = max(without, (&scenario{st: made.State, a: now.a}).unserved(served))
			}
			if most := eligible + max(1, st.Limit()); after.Outcome.Worst > most {
				t.Errorf("seed %d, %v: %d nodes without an available pod, more than %d", seed, r, after.Outcome.Worst, most)
			}
			if diff := cmp.Diff(r.Effect.Left, left); diff != "" {
				t.Errorf("seed %d, %v: what is left (-said +is):\n%s", seed, r, diff)
			}
			loses, state := []string{}, stateOf(t, then)
			silent := assume(state)
			for _, n := range after.Lost {
				if i := slices.IndexFunc(state.Nodes, func(o daemonset.Node) bool { return o.Name == n.Node }); !silent.nodes[i].hangs {
					loses = append(loses, n.Node)
				}
			}
			if lost += len(loses); !slices.Equal(r.Effect.Loses, loses) {
				t.Errorf("seed %d, %v: %v lose their pod when it is planned", seed, r, loses)
			}
			if r.Smallest == "" {
				continue
			}
			smallest := numberIn(r.Smallest)
			for n := st.Limit() + 1; n <= smallest; n++ {
				after, err := planOf(s, changeFor(t, &remedy.Remedy{Code: r.Code, Value: fmt.Sprint(n)}), Options{Starts: ten})
				if err != nil {
					t.Fatal(err)
				}
				if done := after.Outcome.ReachesEnd(); done != (n == smallest) {
					t.Errorf("seed %d, %v: %d of them: %s", seed, r, n, after.Outcome.Code)
				}
			}
		}
	}
	if lost < cases.Rare(5) {
		t.Errorf("only %d nodes lose their pod with a remedy", lost)
	}
	if offered[remedy.RaiseMaxUnavailable] < cases.Rare(5) || offered[remedy.RemoveNode] < cases.Rare(5) ||
		offered[remedy.RepairNodes] < cases.Least(2) || offered[remedy.Tolerate] < cases.Least(5) {
		t.Errorf("too few were offered: %v", offered)
	}
}

func numberIn(text string) (n int) {
	_, _ = fmt.Sscan(text, &n)
	return n
}

// changeFor returns the change of a remedy; nil if the remedy is not a change that can be planned.
func changeFor(t *testing.T, r *remedy.Remedy) *whatif.Change {
	t.Helper()
	n := intstr.Parse(r.Value)
	zero := intstr.Parse("0")
	switch r.Code {
	case remedy.RaiseMaxUnavailable:
		return &whatif.Change{MaxUnavailable: &n}
	case remedy.RaiseMaxSurge:
		return &whatif.Change{MaxSurge: &n}
	case remedy.NoSurge:
		return &whatif.Change{MaxSurge: &zero, MaxUnavailable: &n}
	case remedy.RemoveNode:
		return &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeRemove, Which: r.Value}}}
	case remedy.RollBack:
		to := int64(numberIn(r.Value))
		return &whatif.Change{ToRevision: &to}
	case remedy.Tolerate:
		return &whatif.Change{Tolerations: r.Tolerations}
	case remedy.RepairNodes:
		return &whatif.Change{} // the nodes have changed already
	}
	return nil
}

// TestProblems checks that holders are grouped by what they have in common, with the facts that all of them share.
func TestProblems(t *testing.T) {
	early, late := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), time.Date(2026, 11, 20, 11, 0, 0, 0, time.UTC)
	crash := func(restarts int, message string, since time.Time) *cause.Cause {
		return &cause.Cause{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Since: &since, Facts: daemonset.Facts{"container": "agent", "restarts": restarts, "message": message}}
	}
	o := Outcome{Holders: []Holder{
		{Node: "a"},
		{Node: "b", Pod: "p", Cause: crash(4, "no route", late)},
		{Node: "c", Cause: crash(5, "no disk", early)},
	}}
	want := []*cause.Problem{
		{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Count: 2, Nodes: []string{"b", "c"}, Pods: []string{"p"}, Facts: daemonset.Facts{"container": "agent", "message": "no route", "furtherMessages": []string{"no disk"}}, Since: &early, Latest: &late},
		{Code: daemonset.NotReady, Severity: cause.SeverityError, Count: 1, Nodes: []string{"a"}, Pods: []string{}, Facts: daemonset.Facts{}},
	}
	if diff := cmp.Diff(want, ProblemsOf(append(slices.Clone(o.Holders), o.Late...))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
