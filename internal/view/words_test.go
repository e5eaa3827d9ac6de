package view

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/diagnosis"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

func TestPlacementWords(t *testing.T) {
	type facts = daemonset.Facts
	for _, tt := range []struct {
		reason daemonset.Reason
		facts  facts
		want   string
	}{
		{daemonset.Eligible, nil, ""},
		{daemonset.NodeName, facts{"want": "w-1"}, "the template names node w-1"},
		{daemonset.NodeSelector, facts{"key": "os", "want": "linux", "got": "windows", "present": true},
			"the pod needs the label os=linux, the node has windows"},
		{daemonset.NodeSelector, facts{"key": "os", "want": "linux", "got": "", "present": true},
			`the pod needs the label os=linux, the node has ""`},
		{daemonset.NodeSelector, facts{"key": "os", "want": "linux", "present": false},
			"the pod needs the label os=linux, the node has none"},
		// several nodes with different values
		{daemonset.NodeSelector, facts{"key": "os", "want": "linux"}, "the pod needs the label os=linux"},
		{daemonset.NodeAffinity, facts{"terms": 0}, "affinity: no term, so no node matches"},
		{daemonset.NodeAffinity, facts{"terms": 2}, "affinity: none of its 2 terms matches"},
		{daemonset.NodeAffinity, facts{"terms": 1, "key": "pool", "operator": "In", "values": []string{"a", "b"},
			"got": "c", "valid": true}, "affinity: needs pool In [a, b], has c"},
		{daemonset.NodeAffinity, facts{"terms": 1, "key": "pool", "operator": "Exists", "values": []string{},
			"valid": true}, "affinity: needs pool Exists"},
		{daemonset.NodeAffinity, facts{"terms": 1, "key": "size", "operator": "Gt", "values": []string{"big"},
			"valid": false}, "affinity: needs size Gt [big], which is not valid and never matches"},
		{daemonset.TaintNotTolerated, facts{"taint": "dedicated=gpu:NoExecute", "key": "dedicated"},
			"taint dedicated=gpu:NoExecute"},
		{daemonset.NamespaceNodeSelector, facts{"selector": "pool=infra", "annotation": "openshift.io/node-selector",
			"valid": true}, "the namespace selects pool=infra (openshift.io/node-selector)"},
		{daemonset.NamespaceNodeSelector, facts{"selector": "pool=infra", "valid": true},
			"the controller selects pool=infra by default"},
		{daemonset.TaintNotTolerated, facts{"taint": "a\x1b:NoSchedule", "key": "a\x1b"}, `taint a\u001b:NoSchedule`},
		{daemonset.NodeGone, nil, "there is no such node"},
	} {
		if got := wording.Placement(tt.reason, tt.facts); got != tt.want {
			t.Errorf("%s %v: %q, want %q", tt.reason, tt.facts, got, tt.want)
		}
	}
	for _, r := range daemonset.PlacementReasons {
		switch {
		case r == daemonset.Eligible, r == daemonset.NodesNotRead:
		case wording.Placements[r] == nil:
			t.Errorf("no words for %s", r)
		case diagnosis.NotEligible(&daemonset.Verdict{Reason: r}) == "" && r != daemonset.NodeGone:
			t.Errorf("no words for a node that is not eligible for %s", r)
		}
	}
}

// TestTaintMeaning checks that the taints of Kubernetes have a meaning, and that unknown taints have none.
func TestTaintMeaning(t *testing.T) {
	for _, key := range []string{
		corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeUnschedulable,
		corev1.TaintNodeMemoryPressure, corev1.TaintNodeDiskPressure,
		corev1.TaintNodeNetworkUnavailable, corev1.TaintNodePIDPressure, corev1.TaintNodeOutOfService,
	} {
		if wording.TaintMeanings[key] == "" {
			t.Errorf("%s has no meaning", key)
		}
	}
	for key, want := range map[string]string{
		corev1.TaintNodeUnschedulable:           "the node is cordoned: taint a",
		"node-role.kubernetes.io/control-plane": "control plane: taint a",
		"blue-green":                            "taint a",
	} {
		if got := wording.Placement(daemonset.TaintNotTolerated,
			daemonset.Facts{"key": key, "taint": "a"}); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// sampleFacts returns a value of the correct type for every key of facts, including those that a plan adds.
func sampleFacts() map[string]any {
	sample := map[string]any{"now": true, "all": true, "who": "Helm", "undone": "u"}
	for _, code := range slices.Concat(daemonset.Assumptions, plan.Assumptions, whatif.Assumptions) {
		sample[string(code)] = "41"
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[daemonset.FactKeys]()) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		sample[key] = map[reflect.Type]any{
			reflect.TypeFor[string](): "x", reflect.TypeFor[int](): 3, reflect.TypeFor[bool](): true,
			reflect.TypeFor[time.Time](): "2026-03-01T11:46:00Z", reflect.TypeFor[[]string](): []string{"x"},
		}[f.Type]
	}
	return sample
}

// TestMeaning checks explanations that no story in testdata has.
func TestMeaning(t *testing.T) {
	type facts = daemonset.Facts
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	since := now.Add(-5 * time.Hour)
	for _, tt := range []struct {
		code  daemonset.Reason
		facts facts
		want  string
	}{
		{cause.NodeNotReady, facts{"status": "Unknown"}, "the kubelet does not answer"},
		{cause.NodeNotReady, facts{"status": "False"}, "the kubelet reports that the node is not ready"},
		// only facts that are common to all nodes are kept
		{cause.NodeNotReady, facts{}, "some of these kubelets do not answer, the others report that their node is " +
			"not ready"},
		{cause.TerminatingOnDeadNode, facts{"status": "Unknown", "deletionAsked": "2026-03-01T09:00:00Z"},
			"the kubelet has stopped posting node status, so the pod, deleted 3h ago, stays Terminating"},
		{cause.TerminatingOnDeadNode, facts{"status": "False", "deletionAsked": "2026-03-01T09:00:00Z"},
			"the kubelet reports that the node is not ready, so the pod, deleted 3h ago, stays Terminating"},
		{cause.TerminatingOnDeadNode, facts{}, "the node is NotReady, so the pod stays Terminating"},
		{cause.CrashLoopBackOff, facts{"container": "a", "init": false, "exitCode": 0, "restarts": 1},
			"container a keeps exiting with code 0 (1 restart)"},
		{cause.CrashLoopBackOff, facts{"container": "a", "init": true}, "init container a crashes"},
		{cause.CrashLoopBackOff, facts{"container": "a", "exitCode": 1, "restarts": 0},
			"container a exits with code 1"},
		{cause.ContainerConfig, facts{"container": "a", "reason": "RunContainerError"},
			"container a cannot be started (RunContainerError)"},
		{cause.PendingUnschedulable, facts{},
			"no scheduler has reported on the pod: check kube-scheduler and the template's schedulerName"},
		{cause.PendingUnschedulable, facts{"message": "gates"}, ""},
		// a list of pods may lack their host ports
		{cause.HostPortConflict, facts{}, "another pod on the node uses a host port of this one"},
		{cause.HostPortConflict, facts{"ports": []string{"80/TCP"}},
			"another pod on the node uses the host port 80/TCP that this pod needs"},
		{cause.HostPortConflict, facts{"ports": []string{"80/TCP", "81/TCP"}},
			"another pod on the node uses one of the host ports 80/TCP, 81/TCP that this pod needs"},
		{cause.EvictLoop, facts{"failures": 9}, "9 pods failed; the controller creates the next one within 15m"},
		{cause.EvictLoop, facts{"failures": 9, "reason": "Evicted"},
			"9 pods failed (Evicted); the controller creates the next one within 15m"},
		{cause.Terminating, facts{"overdue": true, "finalizers": []string{"a/b", "c"}},
			"its deletion waits for finalizers a/b, c"},
		{cause.Terminating, facts{"overdue": true}, "it has outlived its grace period"},
		{cause.Terminating, facts{"overdue": false}, ""},
		{daemonset.NotReady, facts{"conditions": []string{"a/gate"}}, "readiness gates not met: a/gate"},
		{daemonset.NotYetAvailable, facts{"minReadySeconds": 30}, "Ready for less than 30s (minReadySeconds)"},
		{daemonset.NotYetAvailable, facts{"minReadySeconds": 30, "availableAt": "2026-03-01T12:00:20Z"},
			"Ready for less than 30s (minReadySeconds); available in 20s, at 12:00:20Z"},
		{daemonset.NotYetAvailable, facts{"minReadySeconds": 30, "availableAt": "2026-03-01T12:00:40Z",
			"clockSkew": 10}, "Ready for less than 30s (minReadySeconds); available in 40s, at 12:00:40Z; Ready 10s " +
			"in the future: the node's clock is ahead"},
		{cause.NoPod, facts{"eventsRead": true}, ""},
		{cause.NoPod, facts{}, "unknown why: events could not be read"},
		{cause.NoPod, facts{"eventsRead": true, "lifted": true, "last": "2026-03-01T11:58:00Z"},
			"the API server rejected its pod until 2m ago, and would admit it now; the controller tries again within " +
				"17m"},
		{cause.Starting, facts{}, ""},
		{cause.WaitingForRoom, facts{"awaited": []string{"default/web"}, "endsBy": "2026-03-01T12:00:20Z"},
			"default/web is terminating, for at most 20s: then the pod fits, and the scheduler places it"},
		{cause.WaitingForRoom, facts{"endsBy": "2026-03-01T12:00:20Z"},
			"other pods there are terminating, for at most 20s: then the pod fits, and the scheduler places it"},
		// several nodes with different amounts
		{cause.DoesNotFit, facts{"requested": "30Gi", "resources": []string{"memory"}, "beyond": true},
			"the pod requests 30Gi memory, more than the node has allocatable"},
		{cause.DoesNotFit, facts{"requested": "2", "resources": []string{"cpu"}, "free": "1", "allocatable": "4",
			"plugin": "NodeResourcesFit", "preemption": "StillDoesNotFit"},
			"the pod requests 2 CPU; 1 of 4 is free; not even without the pods of lower priority"},
		{cause.Starting, facts{"found": "Secret keys"},
			"Secret keys, for which the kubelet waited, exists now; the kubelet tries again within about two minutes"},
		{daemonset.InvalidBudget, facts{"field": "maxUnavailable: half"},
			"each rollout step fails: maxUnavailable: half cannot be resolved; set it to a number or a percentage"},
		{explain.StaleStatus, facts{"fields": []string{"a", "b"}},
			"the controller has not corrected the numbers that it reported"},
		{explain.StaleStatus, facts{"fields": []string{"a"}, "heldUpBy": string(cause.FailedCreate)},
			"the controller has not corrected the numbers that it reported; this version of the controller writes " +
				"none while the API server rejects its pods"},
		{explain.StaleStatus, facts{"fields": []string{"a"}, "heldUpBy": "VanishedNodeInSurge"},
			"the controller has not corrected the numbers that it reported; this version of the controller writes " +
				"none while its step fails"},
		{explain.StaleStatus, facts{"fields": []string{"a"}, "heldUpBy": "BeingDeleted"}, "the controller has not " +
			"corrected the numbers that it reported; the controller writes none while the DaemonSet is being deleted"},
		{explain.StaleStatus, facts{"fields": []string{"a"}, "heldUpBy": "SelectsAll"}, "the controller has not " +
			"corrected the numbers that it reported; the controller writes none for an empty selector"},
		{explain.GenerationNotObserved, facts{"generation": 3, "observed": 2},
			"generation 3 not observed yet; the status is for generation 2"},
		{cause.Misscheduled, facts{"because": "NodeName", "want": "w-1", "stays": false},
			"the node is not eligible (the template names node w-1), but has a pod"},
		{cause.Misscheduled, facts{"because": "NodeName", "want": "w-1", "stays": true}, "the node is not eligible " +
			"(the template names node w-1), but has a pod; the pod stays until the next rollout deletes it, and is " +
			"not recreated"},
		{cause.Misscheduled, facts{"because": "NodeName", "want": "w-1", "stays": true, "terminating": true},
			"the node is not eligible (the template names node w-1), but has a pod"},
		{cause.FailedCreate, facts{"events": 1, "last": "2026-03-01T11:59:20Z"},
			"the API server rejected 1 request to create 1 pod, most recently 40s ago"},
	} {
		if got := (&sheet.Sheet{Now: now}).Meaning(&cause.Problem{Code: tt.code, Facts: tt.facts,
			Nodes: []string{"w-1"}, Since: &since}); got != tt.want {
			t.Errorf("%s %v:\n%q, want\n%q", tt.code, tt.facts, got, tt.want)
		}
	}
}

// TestEveryProblemHasWords finds codes without words. Each code needs either a predicate for the headline or an
// explanation.
func TestEveryProblemHasWords(t *testing.T) {
	for _, code := range explain.Reasons {
		if slices.Contains([]daemonset.Reason{explain.HasPod, explain.Ready, explain.UpToDate, explain.OutOfDate,
			explain.Moving, explain.OnDeleteOutdated}, code) {
			continue // these are not problems, or a table of old pods shows them
		}
		if _, known := wording.Predicates[code]; !known && sheet.Meanings[code] == nil {
			t.Errorf("%s has no words", code)
		}
	}
}

func TestGap(t *testing.T) {
	used := wording.Used{Clock: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Rules: daemonset.Controller{KubernetesVersion: daemonset.Newest, Source: snapshot.VersionDefault}}
	for _, tt := range []struct {
		gap  snapshot.Gap
		want string
	}{
		{snapshot.Gap{What: snapshot.Nodes, Why: snapshot.Forbidden, Message: "User \"dev\"\x1b cannot list"},
			`nodes: not allowed to read, so DESIRED is not computed, and no reason is given why nodes are left out (User "dev"\u001b cannot list)`},
		{snapshot.Gap{What: snapshot.Pods, Why: snapshot.NotGiven, Message: "words of the reader"},
			"pods: not in the input, so only the reported numbers are left"},
		{snapshot.Gap{What: snapshot.Revisions, Why: snapshot.NotGiven,
			Message: "the input holds no ControllerRevision of daemonset ns/a", Of: "daemonset ns/a"},
			"controllerrevisions: not in the input, so which pods are updated is inferred from their labels (the " +
				"input holds no ControllerRevision of daemonset ns/a)"},
		{snapshot.Gap{What: snapshot.Revisions, Why: snapshot.Failed},
			"controllerrevisions: could not be read, so which pods are updated is inferred from their labels"},
		{snapshot.Gap{What: snapshot.Events, Why: snapshot.Forbidden}, "events: not allowed to read, so rejected " +
			"creations and the messages of scheduler and kubelet are missing"},
		{snapshot.Gap{What: snapshot.DaemonSetStatus, Why: snapshot.NotGiven,
			Message: "the input holds no status of daemonset ns/a", Of: "daemonset ns/a"},
			"the status of the daemonset: not in the input, so the reported numbers are unknown, and whether the " +
				"controller has observed the latest generation (the input holds no status of daemonset ns/a)"},
		{snapshot.Gap{What: snapshot.NodeStatus, Why: snapshot.NotGiven, Message: "2 of 12 have none"},
			"the status of nodes: not in the input, so only its taints show that a node is NotReady (2 of 12 have none)"},
		{snapshot.Gap{What: snapshot.PodStatus, Why: snapshot.NotGiven, Message: "1 of 2 have none"},
			"the status of pods: not in the input, so READY and AVAILABLE are not computed, and nothing is forecast " +
				"(1 of 2 have none)"},
		{snapshot.Gap{What: snapshot.Version, Why: snapshot.NotGiven},
			"version: not in the input, so the rules of v1.37 are used (--kubernetes-version chooses others)"},
		{snapshot.Gap{What: snapshot.Clock, Why: snapshot.NotGiven},
			"clock: not in the input, so ages are measured from 2026-11-20T12:00:00Z (--now sets it)"},
		{snapshot.Gap{What: snapshot.Pods, Why: snapshot.Moved},
			"pods: changed while being read, so its parts may be of different moments"},
	} {
		if diff := cmp.Diff(tt.want, wording.Gap(daemonset.Gap{Gap: tt.gap, Consequence: tt.gap.Consequence()},
			used)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	used.Rules = daemonset.Controller{KubernetesVersion: "v1.29.3", Source: snapshot.VersionKubelet}
	const want = "version: not in the input, so the rules of v1.29.3, the highest kubelet, are used " +
		"(--kubernetes-version chooses others)"
	if got := wording.Gap(daemonset.Gap{Gap: snapshot.Gap{What: snapshot.Version, Why: snapshot.NotGiven},
		Consequence: snapshot.RulesAssumed}, used); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestBatch checks steps that no story has.
func TestBatch(t *testing.T) {
	item := func(node, pod string, reason daemonset.Reason) daemonset.Item {
		return daemonset.Item{Node: node, Pod: pod, Reason: reason}
	}
	for _, tt := range []struct {
		verb string
		b    daemonset.Batch
		want string
		why  string
	}{
		{"delete", daemonset.Batch{}, "", "nothing"},
		{"delete", daemonset.Batch{Certain: []daemonset.Item{item("w-1", "a", daemonset.Forced), item("w-2", "b", daemonset.NodeMissing), item("w-3", "c", daemonset.Forced)}}, `
Outlook   next, the controller deletes 2 pods on w-1, w-3 (not available, so deleted immediately)
          next, the controller deletes the pod on w-2 (its node was deleted)`, "by reason"},
		{"create", daemonset.Batch{Certain: []daemonset.Item{item("w-1", "", daemonset.Missing)}}, `
Outlook   next, the controller creates a pod on w-1`, "a create names its node"},
		{"delete", daemonset.Batch{Choices: []daemonset.Choice{{Count: 1, Reason: daemonset.WithinBudget, From: []daemonset.Item{item("w-1", "a", ""), item("w-2", "b", "")}}}}, `
Outlook   next, the controller deletes 1 of 2 pods on w-1, w-2 (chosen at random)`, "a random choice"},
		{"delete", daemonset.Batch{Choices: []daemonset.Choice{{Count: 1, Reason: daemonset.FailedPod, From: []daemonset.Item{item("w-1", "a", ""), item("w-1", "b", "")}}}}, `
Outlook   next, the controller deletes 1 of 2 pods on w-1 (the pod has failed; chosen at random)`, "several pods of a node: the node"},
		{"delete", daemonset.Batch{Deferred: 7}, `
Outlook   it deletes 7 more in later syncs: one sync takes at most 250`, "beyond the burst"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			n := &daemonset.Step{Deletes: tt.b, Exact: true}
			if tt.verb == "create" {
				n = &daemonset.Step{Creates: tt.b, Exact: true}
			}
			s := sheet.New(&daemonset.Header{}, sheet.Asked{}, wording.Style{})
			s.Sync(n, "next")
			var b strings.Builder
			check(t, s.Screen.Text(&b, screen.Terminal{}))
			if diff := cmp.Diff(strings.TrimSpace(tt.want), strings.TrimSpace(b.String())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryAdviceHasWords checks that each code has words, and that no two codes have the same.
func TestEveryAdviceHasWords(t *testing.T) {
	said := map[string]explain.AdviceCode{}
	a := diagnosis.New(&explain.Explanation{}, sheet.Asked{}, wording.Style{})
	for _, code := range explain.AdviceCodes {
		d := a.Advised(explain.Advice{Code: code, Nodes: []string{"n1"}}, nil)
		d.Facts = sampleFacts()
		words := diagnosis.Advices[code]
		for _, s := range []string{d.Said(words.Look), d.Said(words.Act)} {
			if other, already := said[s]; already && s != "" {
				t.Errorf("%s says what %s says: %s", code, other, s)
			}
			said[s] = code
		}
		if words.Look == nil && words.Act == nil {
			t.Errorf("%s has no words", code)
		}
	}
}

// TestRuleWords checks the result of each placement rule.
func TestRuleWords(t *testing.T) {
	type facts = daemonset.Facts
	for _, tt := range []struct {
		c    daemonset.Check
		want string
	}{
		{daemonset.Check{Rule: daemonset.RuleNodeName, OK: true, Facts: facts{"want": "w-1"}}, "w-1"},
		{daemonset.Check{Rule: daemonset.RuleNodeSelector, OK: true, Facts: facts{"key": "os", "want": ""}}, "os="},
		{daemonset.Check{Rule: daemonset.RuleNodeSelector,
			Facts: facts{"key": "os", "want": "linux", "present": false}},
			"the pod needs the label os=linux, the node has none"},
		{daemonset.Check{Rule: daemonset.RuleNodeAffinity, OK: true, Facts: facts{"term": 1, "terms": 2}},
			"term 1 of 2 matches"},
		{daemonset.Check{Rule: daemonset.RuleNodeAffinity, Facts: facts{"terms": 2}}, "none of its 2 terms matches"},
		{daemonset.Check{Rule: daemonset.RuleTaint, OK: true, Facts: facts{"key": "a", "automatic": true}},
			"tolerated by every DaemonSet pod"},
		{daemonset.Check{Rule: daemonset.RuleTaint, OK: true, Facts: facts{"key": "CriticalAddonsOnly"}},
			"tolerated by the template (for critical add-ons)"},
		{daemonset.Check{Rule: daemonset.RuleTaint, Stays: true, Facts: facts{"key": "a"}},
			"not tolerated: no new pod, but one that runs may stay"},
		{daemonset.Check{Rule: daemonset.RuleTaint, Facts: facts{"key": "CriticalAddonsOnly"}},
			"not tolerated (for critical add-ons)"},
		{daemonset.Check{Rule: daemonset.RuleNamespaceSelector, OK: true,
			Facts: facts{"selector": "a=(", "valid": false, "annotation": "x/y"}},
			"a=( cannot be parsed, and is ignored (x/y)"},
		{daemonset.Check{Rule: daemonset.RuleNamespaceSelector, OK: true, Facts: facts{"selector": "a=b", "valid": true,
			"annotation": "x/y"}}, "a=b (x/y)"},
		{daemonset.Check{Rule: daemonset.RuleNamespaceSelector, Stays: true,
			Facts: facts{"selector": "a=b", "valid": true}},
			"the node does not match a=b; not asked, because another rule fails"},
	} {
		if got := diagnosis.RuleWords(&tt.c, wording.Known{Facts: tt.c.Facts, Now: time.Time{}}); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.c, got, tt.want)
		}
	}
}
