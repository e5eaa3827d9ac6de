package explain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// TestAdvice tests the advice for the problems of a summary, by whose fault
// they are. A rollback is advised only if it helps.
func TestAdvice(t *testing.T) {
	type problems = []Problem
	on := func(code daemonset.Reason, who cause.Who, nodes ...string) Problem {
		return Problem{Code: code, Severity: cause.SeverityError, Nodes: nodes, Blame: &cause.Blame{Who: who}}
	}
	warns := func(code daemonset.Reason, nodes ...string) Problem {
		return Problem{Code: code, Severity: cause.SeverityWarning, Nodes: nodes}
	}
	for _, tt := range []struct {
		why      string
		verdict  VerdictCode
		problems problems
		remedies string   // see remediesOf
		want     []string // code of the problem, then the nodes
	}{
		{"nothing is wrong", Healthy, nil, "", nil},
		{"it continues by itself", Progressing, nil, "", []string{"Wait"}},
		{"it will stop, though nothing fails yet", Progressing, nil, "", []string{"LookAhead"}},
		{"only a person continues", AwaitingDelete, problems{on(OnDeleteOutdated, cause.WhoStrategy, "a")}, "", []string{"DeletePods"}},
		{"nothing helps any more", BeingDeleted, problems{on(cause.NodeNotReady, cause.WhoNode, "a")}, "", nil},
		{"too little could be read", Unknown, problems{on(cause.NodeNotReady, cause.WhoNode, "a")}, "", nil},
		{"the new revision, by its numbers", Stuck, problems{on(cause.CrashLoopBackOff, cause.WhoChange, "b", "a")}, "RollBack CrashLoopBackOff", []string{"RollBack CrashLoopBackOff a b"}},
		{"the new revision, but going back does not help either", Stuck, problems{on(cause.CrashLoopBackOff, cause.WhoChange, "a")}, "RollBack Useless", []string{"ReadLogs CrashLoopBackOff a"}},
		{"the new revision, and nobody knows whether going back helps", Stuck, problems{on(cause.CrashLoopBackOff, cause.WhoChange, "a")}, "RollBack CrashLoopBackOff MayHelp", []string{"ReadLogs CrashLoopBackOff a"}},
		{"going back helps, but not against this", Stuck, problems{on(cause.OOMKilled, cause.WhoChange, "a")}, "RollBack CrashLoopBackOff", []string{"Memory OOMKilled a"}},
		{"going back helps, but nothing tells whose fault it is", Stuck, problems{on(cause.CrashLoopBackOff, cause.WhoUnknown, "a")}, "RollBack CrashLoopBackOff", []string{"ReadLogs CrashLoopBackOff a"}},
		{"its selector", Healthy, problems{on(cause.NoEligibleNode, cause.WhoChange)}, "RollBack NoEligibleNode", []string{"RollBack NoEligibleNode"}},
		{"a container, and nothing tells whose fault", Stuck, problems{on(cause.ProbeFailing, cause.WhoUnknown, "a")}, "", []string{"ReadLogs ProbeFailing a"}},
		{"a container that has no logs yet", Stuck, problems{on(cause.ImagePullBackOff, cause.WhoUnknown, "a")}, "", []string{"Image ImagePullBackOff a"}},
		{"nodes that are down in two ways are repaired together", Stuck, problems{on(cause.TerminatingOnDeadNode, cause.WhoNode, "b"), on(cause.NodeNotReady, cause.WhoNode, "a")}, "", []string{"RepairNodes TerminatingOnDeadNode NodeNotReady a b"}},
		{"two kinds of problems, two pieces of advice, in the order of the problems", Stuck, problems{on(cause.TerminatingOnDeadNode, cause.WhoNode, "b"), on(cause.OOMKilled, cause.WhoChange, "a")}, "RollBack OOMKilled", []string{"RepairNodes TerminatingOnDeadNode b", "RollBack OOMKilled a"}},
		{"a deleted node is not repaired", Degraded, problems{on(daemonset.NodeGone, cause.WhoNode, "a")}, "", []string{"Wait NodeGone a"}},
		{"its pod fails every step", Stuck, problems{on(daemonset.VanishedNodeInSurge, cause.WhoUnknown, "a")}, "", []string{"DeletePods VanishedNodeInSurge a"}},
		{"the state and the events say more of it than the logs", Stuck, problems{on(cause.OOMKilled, cause.WhoUnknown, "a")}, "", []string{"Memory OOMKilled a"}},
		{"of the problems of containers those of the most nodes first", Stuck, problems{on(cause.OOMKilled, cause.WhoUnknown, "a"), on(cause.CrashLoopBackOff, cause.WhoUnknown, "b", "c")}, "", []string{"ReadLogs CrashLoopBackOff b c", "Memory OOMKilled a"}},
		{"a port is no room", Degraded, problems{on(cause.HostPortConflict, cause.WhoOtherWorkload, "a"), on(cause.InsufficientResources, cause.WhoOtherWorkload, "b")}, "", []string{"FreePort HostPortConflict a", "MakeRoom InsufficientResources b"}},
		{"the pod does not fit", Degraded, problems{on(cause.InsufficientResources, cause.WhoOtherWorkload, "a")}, "", []string{"MakeRoom InsufficientResources a"}},
		{"a quota", Degraded, problems{on(cause.FailedCreate, cause.WhoPolicy, "a")}, "", []string{"AskOwner FailedCreate a"}},
		{"Pod Security", Degraded, problems{on(cause.FailedCreate, cause.WhoPolicy, "a")}, "", []string{"AskOwner FailedCreate a"}},
		{"an object that does not exist", Stuck, problems{on(cause.ContainerConfig, cause.WhoMissingObject, "a")}, "CreateObject ContainerConfig a", []string{"Config ContainerConfig a"}},
		{"a container that somebody adds to the pods", Stuck, problems{on(cause.CrashLoopBackOff, cause.WhoInjection, "a")}, "", []string{"Injector CrashLoopBackOff a"}},
		{"a registry that gives no answer", Stuck, problems{on(cause.ImagePullBackOff, cause.WhoRegistry, "a")}, "RollBack Useless", []string{"Image ImagePullBackOff a"}},
		{"a template that cannot work", Stuck, problems{on(daemonset.FailedPod, cause.WhoTemplate, "a")}, "", []string{"CorrectTemplate FailedPod a"}},
		{"a node that evicts every pod", Stuck, problems{on(cause.EvictLoop, cause.WhoNode, "a")}, "FreeDisk EvictLoop a", []string{"FreeNode EvictLoop a"}},
		{"the next pod works, but only a person deletes the one that is there", AwaitingDelete, problems{on(cause.CrashLoopBackOff, cause.WhoUnknown, "a")}, "DeletePods CrashLoopBackOff a", []string{"DeletePods"}},
		{"likewise where pods are missing, too", Degraded, problems{on(cause.CrashLoopBackOff, cause.WhoUnknown, "a")}, "DeletePods CrashLoopBackOff a", []string{"DeletePods CrashLoopBackOff a"}},
		{"the controller is silent", Degraded, problems{on(cause.ControllerSilent, cause.WhoController, "a")}, "", []string{"ControlPlane ControllerSilent a"}},
		{"the strategy", Stuck, problems{on(cause.HostPortConflict, cause.WhoStrategy, "a")}, "", []string{"Strategy HostPortConflict a"}},
		{"only the next rollout suffers", Healthy, problems{warns(cause.NextRolloutStalls, "a")}, "", []string{"RepairBeforeRollout NextRolloutStalls a"}},
		{"a pod where none should run, and the node is not why", Healthy, problems{{Code: cause.Misscheduled, Severity: cause.SeverityInfo, Nodes: []string{"a"}}}, "", nil},
		{"one that a rollout deletes for good", Healthy, problems{warns(cause.Misscheduled, "a")}, "", []string{"Tolerate Misscheduled a"}},
		{"a pod where none should run as long as the node is NotReady", Healthy, problems{on(cause.Misscheduled, cause.WhoNode, "a")}, "", []string{"RepairBeforeRollout Misscheduled a"}},
		{"a warning is no matter beside an error", Degraded, problems{on(cause.InsufficientResources, cause.WhoOtherWorkload, "a"), warns(cause.NextRolloutStalls, "b")}, "", []string{"MakeRoom InsufficientResources a"}},
		{"nothing tells what it comes from, and it is no error", Healthy, problems{warns(DisruptionBudgetIgnored)}, "", nil},
	} {
		t.Run(tt.why, func(t *testing.T) {
			e := &Explanation{Verdict: Verdict{Code: tt.verdict}, Problems: tt.problems, Remedies: remediesOf(tt.remedies), Outlook: &Outlook{Code: map[bool]OutlookCode{true: Stalls}[strings.HasPrefix(tt.why, "it will stop")]}}
			var got []string
			for _, a := range e.advice() {
				words := string(a.Code)
				for _, p := range a.Problems {
					words += " " + string(p)
				}
				for _, n := range a.Nodes {
					words += " " + n
				}
				got = append(got, words)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAdviceCanWait checks that the advice can wait only if no node is known to
// be without a pod; a Ready pod counts.
func TestAdviceCanWait(t *testing.T) {
	for _, tt := range []struct {
		why    string
		impact *Impact
		silent bool // the controller
		want   bool
	}{
		{"every node is served", &Impact{Served: 3}, false, true},
		{"but the controller does nothing", &Impact{Served: 3}, true, false},
		{"one node is not", &Impact{Served: 2, Without: []string{"a"}}, false, false},
		{"its pod is Ready", &Impact{Served: 2, Without: []string{"a"}, Ready: []string{"a"}}, false, true},
		{"the nodes could not be read", nil, false, false},
	} {
		e := &Explanation{Verdict: Verdict{Code: AwaitingDelete}, Impact: tt.impact}
		if tt.silent {
			e.Problems = []Problem{{Code: cause.ControllerSilent, Severity: cause.SeverityError}}
		}
		if got := e.advice(); slices.ContainsFunc(got, func(a Advice) bool { return a.CanWait != tt.want }) || len(got) != 1 {
			t.Errorf("%s: %+v", tt.why, got)
		}
	}
}

// TestAdviceOrder checks that during a rollout failing new pods come before
// nodes that are down: a repaired node would get a pod of the failing revision.
func TestAdviceOrder(t *testing.T) {
	failing := func(code daemonset.Reason, newFailing int) Problem {
		return Problem{Code: code, Severity: cause.SeverityError, Nodes: []string{"a"}, Blame: &cause.Blame{Who: cause.WhoChange}, Facts: daemonset.Facts{"newFailing": newFailing}}
	}
	down := Problem{Code: cause.TerminatingOnDeadNode, Severity: cause.SeverityError, Nodes: []string{"b", "c"}, Blame: &cause.Blame{Who: cause.WhoNode}}
	refused := Problem{Code: cause.FailedCreate, Severity: cause.SeverityError, Nodes: []string{"d"}, Blame: &cause.Blame{Who: cause.WhoPolicy}, Subject: cause.Subject{Kind: cause.SubjectQuota}}
	for _, tt := range []struct {
		why      string
		under    bool
		problems []Problem
		want     []string // what to do, and after which problems
	}{
		{"the revision before the nodes", true, []Problem{down, failing(cause.CrashLoopBackOff, 1)}, []string{"RollBack []", "RepairNodes [CrashLoopBackOff]"}},
		{"old pods that fail are no reason to wait", true, []Problem{down, failing(cause.CrashLoopBackOff, 0)}, []string{"RollBack []", "RepairNodes []"}},
		{"without a rollout a node keeps its revision", false, []Problem{down, failing(cause.CrashLoopBackOff, 1)}, []string{"RepairNodes []", "RollBack []"}},
		{"what rejects pods stays before the containers", true, []Problem{down, refused, failing(cause.CrashLoopBackOff, 1)}, []string{"AskOwner []", "RollBack []", "RepairNodes [CrashLoopBackOff]"}},
		{"nothing but nodes", true, []Problem{down}, []string{"RepairNodes []"}},
	} {
		e := &Explanation{Verdict: Verdict{Code: Stuck}, Rollout: Rollout{UnderWay: tt.under}, Problems: tt.problems, Remedies: remediesOf("RollBack CrashLoopBackOff")}
		var got []string
		for _, a := range e.advice() {
			got = append(got, fmt.Sprint(a.Code, " ", a.After))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestRolloutComesLast checks that advice that starts a rollout comes after the
// problems of other nodes that would stop that rollout.
func TestRolloutComesLast(t *testing.T) {
	large := Problem{Code: cause.InsufficientResources, Severity: cause.SeverityError, Nodes: []string{"a"},
		Blame: &cause.Blame{Who: cause.WhoTemplate}}
	port := Problem{Code: cause.HostPortConflict, Severity: cause.SeverityError, Nodes: []string{"b"},
		Blame: &cause.Blame{Who: cause.WhoOtherWorkload}}
	stall := func(limit int, reason daemonset.Reason, nodes ...string) Problem {
		f := daemonset.Facts{"reason": string(reason), "limit": limit}
		return Problem{Code: cause.NextRolloutStalls, Severity: cause.SeverityWarning, Nodes: nodes, Facts: f}
	}
	for _, tt := range []struct {
		why      string
		problems []Problem
		want     []string // what to do, and after which problems
	}{
		{"b alone uses up the limit", []Problem{port, large, stall(1, daemonset.StepBudgetSpent, "a", "b")},
			[]string{"FreePort []", "CorrectTemplate [HostPortConflict]"}},
		{"the limit leaves room for b", []Problem{port, large, stall(2, daemonset.StepBudgetSpent, "a", "b")},
			[]string{"FreePort []", "CorrectTemplate []"}},
		{"a alone would stop it, and a is corrected", []Problem{port, large, stall(1, daemonset.StepBudgetSpent, "a")},
			[]string{"FreePort []", "CorrectTemplate []"}},
		{"it stops for another reason", []Problem{port, large, stall(1, cause.DoesNotFit, "a", "b")},
			[]string{"FreePort []", "CorrectTemplate []"}},
		{"nothing would stop it", []Problem{port, large}, []string{"FreePort []", "CorrectTemplate []"}},
	} {
		e := &Explanation{Verdict: Verdict{Code: Degraded}, Problems: tt.problems, Remedies: remediesOf("LowerRequest InsufficientResources")}
		var got []string
		for _, a := range e.advice() {
			if a.Code != AdviseRepairBeforeRollout {
				got = append(got, fmt.Sprint(a.Code, " ", a.After))
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}
