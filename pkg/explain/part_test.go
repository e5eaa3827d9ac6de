package explain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestAffected tests which nodes lack a working pod. An impact is written as
// the nodes without an available pod, those of them with a Ready one, the nodes
// that an old pod serves, those that are not counted, and the number served.
func TestAffected(t *testing.T) {
	for _, tt := range []struct {
		impact   string
		served   int
		verdict  VerdictCode
		budget   daemonset.BudgetKind
		problems string
		losing   int
		want     string
		why      string
	}{
		{"n1 n2|||", 3, Stuck, daemonset.BudgetUnavailable, "", 0, "Some n1 n2", "some nodes"},
		{"n1 n2|n1||", 3, Stuck, daemonset.BudgetUnavailable, "", 0, "Some n1 n2", "one of them waits only for minReadySeconds"},
		{"n1|n1||", 3, Progressing, daemonset.BudgetUnavailable, "", 0, "Almost n1", "all of them do"},
		{"||n1|", 3, Stuck, daemonset.BudgetSurge, "", 0, "ServedByOld n1", "the old pod serves"},
		{"|||", 3, AwaitingDelete, daemonset.BudgetNone, "", 0, "Nobody", "every node has a pod, if an old one"},
		{"|||", 3, Degraded, daemonset.BudgetUnavailable, "", 0, "Nobody", "nobody, and something is wrong"},
		{"|||", 3, Healthy, daemonset.BudgetUnavailable, "", 0, "", "nobody, and nothing is"},
		{"|||", 0, Healthy, daemonset.BudgetUnavailable, "", 0, "", "the cluster has no node"},
		{"|||", 0, Healthy, daemonset.BudgetUnavailable, "NoEligibleNode Warning", 0, "Nowhere", "no node is eligible, and none has a pod"},
		{"|||n1 n2", 0, Healthy, daemonset.BudgetUnavailable, "NoEligibleNode Warning", 2, "Removed n1 n2", "all pods are deleted"},
		{"|||n1 n2", 0, Healthy, daemonset.BudgetUnavailable, "NoEligibleNode Warning", 1, "", "some of them stay"},
		{"", 0, Unknown, daemonset.BudgetUnavailable, "CrashLoopBackOff Error n1", 0, "Unknown n1", "the nodes could not be read, but a pod that fails was"},
		{"", 0, Unknown, daemonset.BudgetSurge, "CrashLoopBackOff Error n1", 0, "Unknown", "an old pod may run beside it"},
	} {
		e := &Explanation{Verdict: Verdict{Code: tt.verdict}, Budget: BudgetUse{Budget: daemonset.Budget{Kind: tt.budget}}, Problems: problemsOf(t, tt.problems)}
		if p := e.Has(cause.NoEligibleNode); p != nil {
			p.Facts["losing"] = tt.losing
		}
		if of := strings.Split(tt.impact, "|"); len(of) == 4 {
			e.Impact = &Impact{Without: strings.Fields(of[0]), Ready: strings.Fields(of[1]), OldServes: strings.Fields(of[2]), Uncounted: strings.Fields(of[3]), Served: tt.served}
		} else {
			e.Snapshot.Gaps = []daemonset.Gap{{Gap: snapshot.Gap{What: snapshot.Nodes, Why: snapshot.Forbidden}}}
		}
		code, nodes := e.Affected()
		if got := strings.Join(append([]string{string(code)}, nodes...), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestListed tests which problems are rows of a table, which are notes, and how
// severe they are.
func TestListed(t *testing.T) {
	for _, tt := range []struct {
		problems string
		verdict  VerdictCode
		want     string
		why      string
	}{
		{"", Healthy, "None [] []", "nothing is wrong"},
		{"NodeNotReady Error n1 Node; StaleStatus Warning", Stuck, "Problem [NodeNotReady StaleStatus] []", "what is wrong is a row, whether or not a summary is about it"},
		{"StaleStatus Warning", Healthy, "Warning [StaleStatus] []", "a warning"},
		{"ProbeFailing Warning late n1", Progressing, "Problem [ProbeFailing] []", "one that is urgent"},
		{"NoEligibleNode Warning", Healthy, "Problem [NoEligibleNode] []", "a DaemonSet that runs nowhere is more than a warning"},
		{"Adopt Info n1; NextRolloutStalls Warning n2; DisruptionBudgetIgnored Info", Healthy, "Warning [] [Adopt NextRolloutStalls DisruptionBudgetIgnored]", "what is only worth knowing"},
		{"Starting Info n1", Progressing, "None [Starting] []", "what passes by itself on a node is the state of it"},
		{"OnDeleteOutdated Info n1", AwaitingDelete, "None [] []", "the old pods have a table of their own"},
		{"OnDeleteOutdated Info n1", Degraded, "None [OnDeleteOutdated] []", "unless something else is wrong"},
	} {
		e := &Explanation{Verdict: Verdict{Code: tt.verdict}, Problems: problemsOf(t, tt.problems)}
		for i := range e.Problems {
			e.Problems[i].Count = len(e.Problems[i].Nodes)
		}
		codes := func(problems []*Problem) (out []daemonset.Reason) {
			for _, p := range problems {
				out = append(out, p.Code)
			}
			return out
		}
		rows, notes := e.Listed()
		if got := fmt.Sprintf("%s %v %v", e.Gravity(), codes(rows), codes(notes)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

// TestLookInto tests what to look at for each problem.
func TestLookInto(t *testing.T) {
	for _, tt := range []struct {
		problem string
		pod     bool
		heldUp  bool
		want    cause.Look
		why     string
	}{
		{"NodeNotReady Error n1", false, false, cause.LookNode, "a node"},
		{"NextRolloutStalls Warning", false, false, "", "a node that nobody names"},
		{"EvictLoop Error n1 Node of:NodeCondition", true, false, cause.LookNode, "a node that evicts the pod for what it lacks"},
		{"EvictLoop Error n1 Template of:Volume", true, false, cause.LookPod, "a pod that is evicted for what it uses"},
		{"NodeGone Warning n1 Node of:NodeCondition", true, false, cause.LookPod, "a node that is gone shows nothing"},
		{"HostPortConflict Error n1", true, false, cause.LookNodePorts, "what else runs there"},
		{"CrashLoopBackOff Error n1", true, false, cause.LookLastLogs, "the container that has crashed"},
		{"ProbeFailing Error n1", true, false, cause.LookLogs, "one that runs"},
		{"ProbeFailing Error n1", false, false, "", "a pod that nobody names"},
		{"ImagePullBackOff Error n1", true, false, cause.LookPod, "one that has not started has no logs"},
		{"FailedCreate Error n1 Policy of:Quota/q", false, false, cause.LookQuota, "the quota that rejects pods"},
		{"FailedCreate Error n1 Policy of:Quota", false, false, cause.LookQuotas, "none admits the PriorityClass of the pods"},
		{"FailedCreate Error n1 Policy of:Policy", false, false, cause.LookNamespace, "the labels that set Pod Security"},
		{"FailedCreate Error n1 Policy of:Webhook", false, false, cause.LookEvents, "a webhook"},
		{"FailedCreate Error n1", false, false, cause.LookEvents, "nothing tells who"},
		{"StaleStatus Warning", false, false, cause.LookController, "the controller"},
		{"StaleStatus Warning", false, true, "", "not where something holds it up"},
	} {
		p := &problemsOf(t, tt.problem)[0]
		if tt.pod {
			p.Pods = []string{"p"}
		}
		if tt.heldUp {
			p.Facts["heldUpBy"] = string(cause.FailedCreate)
		}
		if got := LookInto(p); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestRunning tests the revisions that pods run. A revision is written as its
// number, with + for the current one, and the numbers of running and
// terminating pods.
func TestRunning(t *testing.T) {
	for _, tt := range []struct{ revisions, want, why string }{
		{"+8 2 0, 7 3 0", "8 7", "both run"},
		{"+8 0 0, 7 3 0", "8 7", "the current one also without a pod"},
		{"9 3 0, +8 0 0, 7 1 0", "9 7", "not behind one that runs"},
		{"+8 2 0, 7 0 1, 6 0 0", "8 7", "a pod that is terminating still runs"},
	} {
		e := &Explanation{}
		for _, of := range strings.Split(tt.revisions, ", ") {
			var r Revision
			number, current := strings.CutPrefix(of, "+")
			fmt.Sscan(number, &r.Number, &r.Pods, &r.Terminating)
			r.Current = current
			e.Revisions = append(e.Revisions, r)
		}
		var got []string
		for _, r := range e.Running() {
			got = append(got, fmt.Sprint(r.Number))
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: %q: %q, want %q", tt.why, tt.revisions, got, tt.want)
		}
	}
}

// TestEligible tests the nodes that DESIRED counts.
func TestEligible(t *testing.T) {
	e := &Explanation{Problems: problemsOf(t, "NodeNotReady Error n1; TerminatingOnDeadNode Error n2; CrashLoopBackOff Error n3; Misscheduled Info n4")}
	e.Columns = []Column{{Name: "DESIRED", Groups: []ColumnGroup{
		{Counted: true, Count: 2, Nodes: []string{"n1", "n2"}}, {Counted: true, Count: 1, Nodes: []string{"n3"}}, {Count: 1, Nodes: []string{"n4"}}, {Count: 2, Nodes: []string{"n5", "n6"}},
	}}, {Name: "READY", Groups: []ColumnGroup{{Counted: true, Count: 9}}}}
	eligible, excluded, notReady := e.Eligible()
	if diff := cmp.Diff([]int{3, 3, 2}, []int{eligible, excluded, notReady}); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestUndoes tests what a rollback does to pods.
func TestUndoes(t *testing.T) {
	for _, tt := range []struct {
		kind      daemonset.BudgetKind
		oldServes []string
		available int    // of the three pods that it replaces
		want      [3]int // replaced, available, extra
		why       string
	}{
		{daemonset.BudgetUnavailable, nil, 0, [3]int{3, 0, 0}, "it replaces the new pods"},
		{daemonset.BudgetUnavailable, nil, 2, [3]int{3, 2, 0}, "also those that work"},
		{daemonset.BudgetSurge, []string{"n1"}, 2, [3]int{2, 2, 1}, "and deletes one beside which an old one runs"},
		{daemonset.BudgetSurge, []string{"n1", "n2", "n3", "n4"}, 1, [3]int{0, 0, 3}, "never more than there are"},
		{daemonset.BudgetUnavailable, []string{"n1"}, 0, [3]int{3, 0, 0}, "only a surge has pods beside old ones"},
	} {
		e := &Explanation{Budget: BudgetUse{Budget: daemonset.Budget{Kind: tt.kind}}, Impact: &Impact{OldServes: tt.oldServes}}
		replaced, available, extra := e.Undoes(&remedy.Remedy{Code: remedy.RollBack, Effect: remedy.Effect{Replaces: 3, Available: tt.available}})
		if got := [3]int{replaced, available, extra}; got != tt.want {
			t.Errorf("%s: %v, want %v", tt.why, got, tt.want)
		}
	}
}

// TestByNode tests the nodes of several DaemonSets, and which DaemonSet is
// wrong.
func TestByNode(t *testing.T) {
	of := func(name string, nodes ...Node) *Explanation {
		return &Explanation{Header: daemonset.Header{DaemonSet: daemonset.Ref{Namespace: "ns", Name: name}}, Nodes: nodes}
	}
	l := List{Items: []*Explanation{of("b", Node{Name: "n1"}, Node{Name: "n2"}), of("c", Node{Name: "n1", Problem: &cause.Cause{}}), of("a", Node{Name: "n1"})}}
	var got []string
	for _, on := range l.ByNode() {
		got = append(got, on.Node.Name+" "+on.DaemonSet.Name)
	}
	if diff := cmp.Diff([]string{"n1 a", "n1 b", "n1 c", "n2 b"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if e := l.Wrong(); e != l.Items[1] {
		t.Errorf("wrong: %v", e)
	}
	if e := (&List{}).Wrong(); e != nil {
		t.Errorf("wrong of none: %v", e)
	}
}

// TestNodeState tests the state of a node, whether it lacks a pod, and its old
// pods.
func TestNodeState(t *testing.T) {
	no, yes := &daemonset.Verdict{}, &daemonset.Verdict{OK: true}
	failing, starting := &cause.Cause{Severity: cause.SeverityError}, &cause.Cause{Severity: cause.SeverityInfo}
	old, fine := Pod{Name: "old"}, Pod{Name: "new", Updated: true, Available: true}
	for _, tt := range []struct {
		node Node
		want string
		why  string
	}{
		{Node{Exists: true, ShouldRun: yes, Pods: []Pod{fine}}, "Fine false 0", "nothing is wrong"},
		{Node{Exists: true, ShouldRun: yes, Problem: failing, Pods: []Pod{old}}, "Fails true 1", "the pod fails"},
		{Node{Exists: true, ShouldRun: yes, Problem: starting, Pods: []Pod{{Updated: true}}}, "Waits true 0", "it starts"},
		{Node{Exists: true, ShouldRun: yes}, "Empty true 0", "there is none"},
		{Node{Exists: true, ShouldRun: no, Problem: failing, Pods: []Pod{old}}, "Excluded false 1", "none should be there"},
		{Node{Exists: true, Pods: []Pod{old}}, "Unknown false 1", "the nodes could not be read"},
		{Node{Pods: []Pod{{Terminating: true}, {Ignored: "x"}}}, "Deleted false 0", "the node is gone; pods that terminate or are ignored are not old"},
	} {
		if got := fmt.Sprintf("%s %t %d", tt.node.State(), tt.node.Lacks(), len(tt.node.Old())); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
	n := Node{Checks: []daemonset.Check{{Rule: daemonset.RuleTaint}, {Rule: daemonset.RuleNodeSelector}}}
	if diff := cmp.Diff([]string{"nodeName", "nodeAffinity"}, n.Unset()); diff != "" {
		t.Errorf("unset (-want +got):\n%s", diff)
	}
}

// TestParts tests which problems form a part. A part is written as its problems
// and, after >, its fixes with their nodes, or the part whose fix it shares.
func TestParts(t *testing.T) {
	for _, tt := range []struct {
		problems string
		fixes    string // see remediesOf
		want     string
		why      string
	}{
		{"NodeNotReady Error n1 Node; OOMKilled Error n2 Unknown; CrashLoopBackOff Error n3,n4 Unknown", "RollBack CrashLoopBackOff,OOMKilled; RepairNodes NodeNotReady n1",
			"NodeNotReady > RepairNodes n1 | CrashLoopBackOff > RollBack | OOMKilled > as 2 | left", "a rollback is for all containers, and stands where it is first needed"},
		{"TerminatingOnDeadNode Error n1 Node; NodeNotReady Error n2 Node", "RepairNodes TerminatingOnDeadNode,NodeNotReady n1,n2", "TerminatingOnDeadNode NodeNotReady > RepairNodes n1,n2", "one thing to do"},
		{"TerminatingOnDeadNode Error n1 Node; NodeNotReady Error n2 Node; OOMKilled Error n3 Unknown", "RepairNodes TerminatingOnDeadNode,NodeNotReady n1,n2", "TerminatingOnDeadNode NodeNotReady > RepairNodes n1,n2 | OOMKilled | left", "one repair for both"},
		{"InsufficientResources Error n1 OtherWorkload; HostPortConflict Error n2 OtherWorkload", "MakeRoom HostPortConflict,InsufficientResources n1,n2",
			"HostPortConflict > MakeRoom n2 | InsufficientResources > MakeRoom n1 | left", "room is made on each node for its own reason"},
		{"NodeNotReady Error n1 Node; OOMKilled Error n3 Unknown", "RaiseMaxUnavailable", "NodeNotReady | OOMKilled | left > RaiseMaxUnavailable", "a way around is of none"},
		{"NodeNotReady Error n1 Node; OOMKilled Error n3 Unknown; FailedMount Info n2", "", "NodeNotReady | OOMKilled | left FailedMount", "what passes by itself asks for nothing"},
		{"NodeNotReady Error n1 Node; HostPortConflict Error n2 OtherWorkload", "RollBack OOMKilled", "NodeNotReady | HostPortConflict | left > RollBack", "a problem that is not there"},
		{"NodeNotReady Error n1 Node", "RollBack OOMKilled; RaiseMaxUnavailable", "NodeNotReady > RollBack > RaiseMaxUnavailable", "one thing to do: everything is of it"},
	} {
		e := &Explanation{Problems: problemsOf(t, tt.problems), Remedies: remediesOf(tt.fixes)}
		e.Advice = e.advice()
		var got []string
		for _, part := range e.Parts() {
			var words []string
			if part.Advice == nil && len(e.Advice) > 1 {
				words = append(words, "left")
			}
			for _, p := range part.Problems {
				words = append(words, string(p.Code))
			}
			for _, f := range part.Fixes {
				words = append(words, strings.TrimSpace("> "+string(f.Code)+" "+strings.Join(f.Nodes, ",")))
			}
			if part.As > 0 {
				words = append(words, fmt.Sprint("> as ", part.As))
			}
			got = append(got, strings.Join(words, " "))
		}
		if s := strings.Join(got, " | "); s != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.why, s, tt.want)
		}
	}
}

// TestRunBoth checks that terminating pods do not count.
func TestRunBoth(t *testing.T) {
	old, updated, ends := Pod{}, Pod{Updated: true}, Pod{Terminating: true}
	e := &Explanation{Nodes: []Node{{Pods: []Pod{old, updated}}, {Pods: []Pod{updated}}, {Pods: []Pod{ends, updated}}, {Pods: []Pod{old, old}}, {}}}
	if got := e.RunBoth(); got != 1 {
		t.Errorf("%d nodes, want 1", got)
	}
}

// TestPodStatus tests a terminating pod, whose phase in the API is unchanged.
func TestPodStatus(t *testing.T) {
	if got := (&Pod{Phase: "Running"}).Status(); got != "Running" {
		t.Errorf("%q", got)
	}
	if got := (&Pod{Phase: "Running", Terminating: true}).Status(); got != "Terminating" {
		t.Errorf("%q", got)
	}
}
