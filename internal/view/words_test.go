package view

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
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
		{daemonset.NodeSelector, facts{"key": "os", "want": "linux", "got": "windows", "present": true}, "needs os=linux, has windows"},
		{daemonset.NodeSelector, facts{"key": "os", "want": "linux", "got": "", "present": true}, `needs os=linux, has ""`},
		{daemonset.NodeSelector, facts{"key": "os", "want": "linux", "present": false}, "needs os=linux, has no such label"},
		{daemonset.NodeSelector, facts{"key": "os", "want": "linux"}, "needs os=linux"}, // of several nodes, with several values
		{daemonset.NodeAffinity, facts{"terms": 0}, "affinity: no term, so no node matches"},
		{daemonset.NodeAffinity, facts{"terms": 2}, "affinity: none of its 2 terms matches"},
		{daemonset.NodeAffinity, facts{"terms": 1, "key": "pool", "operator": "In", "values": []string{"a", "b"}, "got": "c", "valid": true}, "affinity: needs pool In [a, b], has c"},
		{daemonset.NodeAffinity, facts{"terms": 1, "key": "pool", "operator": "Exists", "values": []string{}, "valid": true}, "affinity: needs pool Exists"},
		{daemonset.NodeAffinity, facts{"terms": 1, "key": "size", "operator": "Gt", "values": []string{"big"}, "valid": false}, "affinity: needs size Gt [big], which is not valid and never matches"},
		{daemonset.TaintNotTolerated, facts{"taint": "dedicated=gpu:NoExecute", "key": "dedicated"}, "dedicated=gpu:NoExecute"},
		{daemonset.TaintNotTolerated, facts{"taint": "a\x1b:NoSchedule", "key": "a\x1b"}, `a\u001b:NoSchedule`},
		{daemonset.NodeGone, nil, "there is no such node"},
	} {
		if got := placement(tt.reason, tt.facts); got != tt.want {
			t.Errorf("%s %v: %q, want %q", tt.reason, tt.facts, got, tt.want)
		}
	}
}

func TestTaintMeaning(t *testing.T) {
	for key, want := range map[string]string{
		"node.kubernetes.io/not-ready":                   "the node is not ready",
		"node.kubernetes.io/unreachable":                 "its kubelet is not heard from",
		"node.kubernetes.io/unschedulable":               "the node is cordoned",
		"node.kubernetes.io/disk-pressure":               "the node is under disk pressure",
		"node.kubernetes.io/memory-pressure":             "the node is under memory pressure",
		"node.kubernetes.io/pid-pressure":                "the node is under pid pressure",
		"node.kubernetes.io/network-unavailable":         "the node's network is not set up",
		"node.kubernetes.io/out-of-service":              "somebody declared the node out of service: its pods are force-deleted",
		"node.cloudprovider.kubernetes.io/uninitialized": "the cloud controller has not set the node up yet",
		"node.cloudprovider.kubernetes.io/shutdown":      "the cloud says the machine is shut down",
		"ToBeDeletedByClusterAutoscaler":                 "cluster-autoscaler is removing the node",
		"DeletionCandidateOfClusterAutoscaler":           "cluster-autoscaler may remove the node",
		"karpenter.sh/disrupted":                         "Karpenter is replacing the node",
		"karpenter.sh/disruption":                        "Karpenter is replacing the node",
		"karpenter.sh/unregistered":                      "Karpenter waits for the node to register",
		"node-role.kubernetes.io/control-plane":          "control plane",
		"node-role.kubernetes.io/master":                 "control plane",
		"node.cilium.io/agent-not-ready":                 "Cilium has not started on the node",
		"nvidia.com/gpu":                                 "for pods that use a GPU",
		"CriticalAddonsOnly":                             "for critical add-ons",
		"eks.amazonaws.com/compute-type":                 "a Fargate node, which runs no DaemonSets",
		"virtual-kubelet.io/provider":                    "a virtual node, which has no kubelet",
		"blue-green":                                     "",
	} {
		if got := taintMeaning(key); got != want {
			t.Errorf("taintMeaning(%q) = %q, want %q", key, got, want)
		}
	}
}

// TestCauseWords has what no story in testdata says.
func TestCauseWords(t *testing.T) {
	type facts = daemonset.Facts
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *time.Time { t := now.Add(-d); return &t }
	for _, tt := range []struct {
		code             daemonset.Reason
		facts            facts
		earliest, latest *time.Time
		want             string
	}{
		{cause.NodeNotReady, facts{"status": "Unknown"}, ago(time.Hour), ago(time.Hour), "the kubelet has not been heard from for 60m"},
		{cause.NodeNotReady, facts{"status": "False"}, ago(9 * time.Hour), ago(2 * time.Hour), "the node has not been ready for 120m to 9h"},
		{cause.NodeNotReady, facts{"status": "False"}, nil, nil, "the node has not been ready"},
		{cause.CrashLoop, facts{"container": "a", "init": false, "exitCode": 0, "restarts": 1}, nil, nil, "container a ends without an error, again and again (1 restart)"},
		{cause.CrashLoop, facts{"container": "a", "init": true}, nil, nil, "init container a crashes"},
		{cause.CrashLoop, facts{"container": "a", "exitCode": 1, "newFailing": 1, "newPods": 2, "oldFailing": 3, "oldPods": 4}, nil, nil, "container a crashes with exit code 1 [1 of 2 new pods, 3 of 4 old]"},
		{cause.CrashLoop, facts{"container": "a", "exitCode": 1, "newFailing": 1, "newPods": 2, "oldFailing": 0, "oldPods": 0}, nil, nil, "container a crashes with exit code 1"},
		{cause.ContainerConfig, facts{"container": "a", "reason": "RunContainerError", "message": "no\nfile"}, nil, nil, "container a cannot be started (RunContainerError): no file"},
		{cause.PendingUnschedulable, facts{}, ago(time.Hour), ago(time.Hour), "pending for 60m, and no scheduler has said why: look at kube-scheduler, and at the template's schedulerName"},
		{cause.PendingUnschedulable, facts{"message": "gates"}, ago(time.Hour), ago(time.Hour), "pending for 60m: gates"},
		{cause.EvictLoop, facts{"failures": 9}, nil, nil, "pods fail again and again (9 times), and the controller waits up to 15 minutes before the next"},
		{cause.EvictLoop, facts{"failures": 9, "reason": "Evicted"}, nil, nil, "pods fail again and again (9 times, Evicted), and the controller waits up to 15 minutes before the next"},
		{daemonset.FailedPod, facts{"reason": ""}, nil, nil, "the pod failed"},
		{daemonset.FailedPod, facts{"reason": "Evicted", "message": "disk"}, nil, nil, "the pod failed (Evicted): disk"},
		{daemonset.SucceededPod, facts{}, nil, nil, "the pod ended by itself"},
		{cause.Terminating, facts{"overdue": true, "finalizers": []string{"a/b", "c"}}, ago(time.Hour), ago(time.Hour), "terminating for 60m, beyond its grace period, held by finalizer a/b, c"},
		{cause.Terminating, facts{"overdue": false}, ago(time.Second), ago(time.Second), "terminating for 1s"},
		{daemonset.NotReady, facts{"conditions": []string{"a/gate"}, "message": "gate"}, ago(time.Hour), ago(time.Hour), "not ready for 60m (a/gate): gate"},
		{daemonset.NotYetAvailable, facts{"minReadySeconds": 30}, nil, nil, "ready for less than minReadySeconds 30"},
		{daemonset.NotYetAvailable, facts{"minReadySeconds": 30}, ago(10 * time.Second), ago(10 * time.Second), "ready for less than minReadySeconds 30, available in 20s, at 12:00:20Z"},
		{cause.NoPod, facts{"eventsRead": true}, nil, nil, "no pod yet"},
		{cause.NoPod, facts{"eventsRead": true}, ago(time.Hour), ago(time.Hour), "no pod, though nothing has changed for 60m"},
		{explain.OnDeleteOutdated, facts{"revision": ""}, nil, nil, "an old revision, until somebody deletes the pods"},
		{daemonset.InvalidBudget, facts{"field": "maxUnavailable: half"}, nil, nil, "the rolling update fails: maxUnavailable: half cannot be resolved"},
		{explain.StaleStatus, facts{"fields": []string{"a", "b", "c"}}, nil, nil, "REPORTED differs from the controller's own rules in a, b, c"},
		{explain.StaleStatus, facts{"fields": []string{"a", "b", "c", "d"}}, ago(time.Hour), ago(time.Hour), "REPORTED differs from the controller's own rules in 4 numbers; last written 60m ago"},
		{explain.StaleStatus, facts{"fields": []string{"a"}, "heldUpBy": "CreateRefused"}, ago(time.Hour), ago(time.Hour), "REPORTED differs from the controller's own rules in a; last written 60m ago; this version of the controller writes no status while pods are refused"},
		{explain.StaleStatus, facts{"fields": []string{"a"}, "heldUpBy": "VanishedNodeInSurge"}, nil, nil, "REPORTED differs from the controller's own rules in a; this version of the controller writes no status while its step fails"},
		{explain.StaleStatus, facts{"fields": []string{"a"}, "heldUpBy": "BeingDeleted"}, nil, nil, "REPORTED differs from the controller's own rules in a; no status is written of a DaemonSet that is being deleted"},
		{explain.StaleStatus, facts{"fields": []string{"a"}, "heldUpBy": "SelectsAll"}, nil, nil, "REPORTED differs from the controller's own rules in a; no status is written of a DaemonSet whose selector is empty"},
		{explain.StaleStatus, facts{"fields": []string{"a"}, "heldUpBy": "SomethingNew"}, nil, nil, "REPORTED differs from the controller's own rules in a; held up by SomethingNew"},
		{explain.GenerationNotObserved, facts{"generation": 3, "observed": 2, "heldUpBy": "InvalidBudget"}, ago(time.Hour), ago(time.Hour), "generation 3: the status still speaks of 2; this version of the controller writes no status while its step fails"},
		{explain.Misscheduled, facts{"because": "NodeName", "want": "w-1", "stays": false}, nil, nil, "runs, but should not: the template names node w-1"},
		{explain.Misscheduled, facts{"because": "NodeName", "want": "w-1", "stays": true}, nil, nil, "runs, but should not: the template names node w-1; it stays until a rollout, which does not bring it back"},
		{explain.Misscheduled, facts{"because": "NodeName", "want": "w-1", "stays": true, "terminating": true}, nil, nil, "runs, but should not: the template names node w-1"},
		{cause.CreateRefused, facts{"events": 1, "last": "soon", "message": "quota"}, nil, nil, "the API server rejects the pod (1 time, last unknown ago): quota"},
		{"SomethingNew", facts{}, nil, nil, "SomethingNew"},
	} {
		s := &screen{now: now}
		if got := s.causeWords(tt.code, tt.facts, tt.earliest, tt.latest); got != tt.want {
			t.Errorf("%s %v:\n%q, want\n%q", tt.code, tt.facts, got, tt.want)
		}
	}
}

// TestEveryProblemHasWords finds a code that was added without words: it would
// be said as it stands.
func TestEveryProblemHasWords(t *testing.T) {
	for _, code := range explain.Reasons {
		if slices.Contains([]daemonset.Reason{explain.HasPod, explain.Ready, explain.UpToDate, explain.OutOfDate, explain.Moving}, code) {
			continue // not problems
		}
		if got := (&screen{}).causeWords(code, daemonset.Facts{}, nil, nil); got == string(code) {
			t.Errorf("%s has no words", code)
		}
	}
}

func TestGap(t *testing.T) {
	for _, tt := range []struct {
		gap  snapshot.Gap
		want string
	}{
		{snapshot.Gap{What: snapshot.Nodes, Why: snapshot.Forbidden, Message: "User \"dev\"\x1b cannot list"}, `nodes: not allowed to read, so DESIRED is not computed, and no reason is given why nodes are left out (User "dev"\u001b cannot list)`},
		{snapshot.Gap{What: snapshot.Pods, Why: snapshot.NotGiven, Message: "words of the reader"}, "pods: not in the input, so only the reported numbers are left"},
		{snapshot.Gap{What: snapshot.Revisions, Why: snapshot.NotGiven, Message: "the input holds no ControllerRevision of daemonset ns/a"}, "controllerrevisions: not in the input, so which pods are up to date is inferred from their labels (the input holds no ControllerRevision of daemonset ns/a)"},
		{snapshot.Gap{What: snapshot.Revisions, Why: snapshot.Failed}, "controllerrevisions: could not be read, so which pods are up to date is inferred from their labels"},
		{snapshot.Gap{What: snapshot.Events, Why: snapshot.Forbidden}, "events: not allowed to read, so refused creations and the words of scheduler and kubelet are missing"},
		{snapshot.Gap{What: snapshot.DaemonSetStatus, Why: snapshot.NotGiven, Message: "the input holds no status of daemonset ns/a"}, "the status of the daemonset: not in the input, so the reported numbers are unknown, and whether the controller handled the newest generation (the input holds no status of daemonset ns/a)"},
		{snapshot.Gap{What: snapshot.NodeStatus, Why: snapshot.NotGiven, Message: "2 of 12 have none"}, "the status of nodes: not in the input, so that a node is NotReady is seen by its taints alone (2 of 12 have none)"},
		{snapshot.Gap{What: snapshot.PodStatus, Why: snapshot.NotGiven, Message: "1 of 2 have none"}, "the status of pods: not in the input, so READY and AVAILABLE are not computed, and nothing is forecast (1 of 2 have none)"},
		{snapshot.Gap{What: snapshot.Version, Why: snapshot.NotGiven}, "version: not in the input, so the rules of v1.37 are used (--kubernetes-version chooses others)"},
		{snapshot.Gap{What: snapshot.Clock, Why: snapshot.NotGiven}, "clock: not in the input, so the newest time found, or else this machine's, is the clock (--now sets it)"},
		{snapshot.Gap{What: snapshot.Pods, Why: snapshot.Moved}, "pods: changed while being read, so its parts may be of different moments"},
	} {
		if diff := cmp.Diff(tt.want, Gap(daemonset.Gap{Gap: tt.gap, Consequence: tt.gap.Consequence()})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestBatch has what no story says of a step.
func TestBatch(t *testing.T) {
	item := func(node, pod string, reason daemonset.Reason) daemonset.Item {
		return daemonset.Item{Node: node, Pod: pod, Reason: reason}
	}
	for _, tt := range []struct {
		verb string
		b    daemonset.Batch
		want []string
		why  string
	}{
		{"delete", daemonset.Batch{}, nil, "nothing"},
		{"delete", daemonset.Batch{Certain: []daemonset.Item{item("w-1", "a", daemonset.Forced), item("w-2", "b", daemonset.NodeMissing), item("w-3", "c", daemonset.Forced)}},
			[]string{"deletes 2 pods (the old pod is not available, so it goes whatever the budget says): w-1, w-3", "deletes 1 pod (its node is gone): w-2"}, "by reason"},
		{"create", daemonset.Batch{Certain: []daemonset.Item{item("w-1", "", daemonset.Forced)}},
			[]string{"creates 1 pod (the old pod is not available, so a new one comes whatever the budget says): w-1"}, "a surge beside a pod that is not available"},
		{"delete", daemonset.Batch{Choices: []daemonset.Choice{{Count: 1, Reason: daemonset.WithinBudget, From: []daemonset.Item{item("w-1", "a", ""), item("w-2", "b", "")}}}},
			[]string{"deletes any 1 of these 2 (within the budget): w-1, w-2"}, "a choice that is the controller's"},
		{"delete", daemonset.Batch{Choices: []daemonset.Choice{{Count: 1, Reason: daemonset.FailedPod, From: []daemonset.Item{item("w-1", "a", ""), item("w-1", "b", "")}}}},
			[]string{"deletes any 1 of these 2 (the pod failed): a, b"}, "of several pods of a node, the pods"},
		{"delete", daemonset.Batch{Deferred: 7}, []string{"7 more deletes wait for later syncs: one does at most 250"}, "beyond the burst"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, (&screen{}).batch(tt.verb, tt.b)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
