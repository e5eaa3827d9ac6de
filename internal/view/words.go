package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// fact returns a fact as text that is safe to print, or "".
func fact(f daemonset.Facts, key string) string {
	switch v := f[key].(type) {
	case nil:
		return ""
	case string:
		return clean(v)
	case []string:
		return clean(strings.Join(v, ", "))
	case []any:
		var parts []string
		for _, p := range v {
			parts = append(parts, fmt.Sprint(p))
		}
		return clean(strings.Join(parts, ", "))
	case float64:
		return fmt.Sprintf("%.0f", v)
	default:
		return clean(fmt.Sprint(v))
	}
}

// number returns a fact that is a whole number.
func number(f daemonset.Facts, key string) int {
	switch v := f[key].(type) {
	case int:
		return v
	case float64:
		return int(v)
	}
	return 0
}

func yes(f daemonset.Facts, key string) bool { b, _ := f[key].(bool); return b }

// placement says why a node should not run the pod.
func placement(reason daemonset.Reason, f daemonset.Facts) string {
	switch reason {
	case daemonset.NodeName:
		return "the template names node " + fact(f, "want")
	case daemonset.NodeSelector:
		s := "needs " + fact(f, "key") + "=" + fact(f, "want")
		switch got, known := f["got"]; {
		case known:
			return s + ", has " + clean(fmt.Sprint(got))
		case f["present"] == false:
			return s + ", has no such label"
		}
		return s
	case daemonset.NodeAffinity:
		return "affinity: " + requirement(f)
	case daemonset.TaintNotTolerated:
		s := fact(f, "taint")
		if meaning := taintMeaning(fact(f, "key")); meaning != "" {
			s += " (" + meaning + ")"
		}
		return s
	case daemonset.NodeGone:
		return "there is no such node"
	}
	return ""
}

func requirement(f daemonset.Facts) string {
	if f["key"] == nil {
		if number(f, "terms") == 0 {
			return "no term, so no node matches"
		}
		return fmt.Sprintf("none of its %s matches", plural(number(f, "terms"), "term"))
	}
	s := fmt.Sprintf("needs %s %s", fact(f, "key"), fact(f, "operator"))
	if v := fact(f, "values"); v != "" {
		s += " [" + v + "]"
	}
	if f["valid"] == false {
		return s + ", which is not valid and never matches"
	}
	if got, known := f["got"]; known {
		s += ", has " + clean(fmt.Sprint(got))
	}
	return s
}

// taintMeaning names well-known taints in words.
func taintMeaning(key string) string {
	switch key {
	case "node.kubernetes.io/not-ready":
		return "the node is not ready"
	case "node.kubernetes.io/unreachable":
		return "the node's kubelet is not heard"
	case "node.kubernetes.io/unschedulable":
		return "the node is cordoned"
	case "node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure", "node.kubernetes.io/pid-pressure":
		return "the node is under " + strings.ReplaceAll(strings.TrimPrefix(key, "node.kubernetes.io/"), "-", " ")
	case "node.kubernetes.io/network-unavailable":
		return "the node's network is not set up"
	case "node.kubernetes.io/out-of-service":
		return "somebody declared the node out of service: its pods are force-deleted"
	case "node.cloudprovider.kubernetes.io/uninitialized":
		return "the cloud controller has not set the node up yet"
	case "node.cloudprovider.kubernetes.io/shutdown":
		return "the cloud says the machine is shut down"
	case "ToBeDeletedByClusterAutoscaler":
		return "cluster-autoscaler is removing the node"
	case "DeletionCandidateOfClusterAutoscaler":
		return "cluster-autoscaler may remove the node"
	case "karpenter.sh/disrupted", "karpenter.sh/disruption":
		return "Karpenter is replacing the node"
	case "karpenter.sh/unregistered":
		return "Karpenter waits for the node to register"
	case "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master":
		return "control plane"
	case "node.cilium.io/agent-not-ready":
		return "Cilium has not started on the node"
	case "nvidia.com/gpu":
		return "for pods that use a GPU"
	case "CriticalAddonsOnly":
		return "for critical add-ons"
	case "eks.amazonaws.com/compute-type":
		return "a Fargate node, which runs no DaemonSets"
	case "virtual-kubelet.io/provider":
		return "a virtual node, which has no kubelet"
	}
	return ""
}

// problem says what a problem means, in a part of a sentence.
func problem(now time.Time, p *explain.Problem) string {
	return causeWords(now, p.Code, p.Facts, p.Since, p.Latest)
}

// causeWords says what a cause means; since and latest are when it began, on
// one node or on several.
func causeWords(now time.Time, code daemonset.Reason, f daemonset.Facts, earliest, latest *time.Time) string {
	since := span(now, earliest, latest)
	message := func(s string) string {
		if m := fact(f, "message"); m != "" {
			return s + ": " + m
		}
		return s
	}
	container := fact(f, "container")
	if yes(f, "init") {
		container = "init container " + container
	} else if container != "" {
		container = "container " + container
	}
	switch code {
	case explain.Deleting:
		return "deletion was asked for " + since + " ago: the controller does nothing any more"
	case explain.ControllerSilent:
		return "the controller owes a pod and has written no status for " + since + ": look at kube-controller-manager"
	case explain.GenerationNotObserved:
		return fmt.Sprintf("generation %s is not handled yet, the status speaks of %s%s", fact(f, "generation"), fact(f, "observed"), forTime(earliest, since))
	case daemonset.InvalidBudget:
		return "the rolling update fails: " + fact(f, "field") + " cannot be resolved"
	case daemonset.VanishedNodeInSurge:
		return "the surge fails until the pods of this vanished node are gone"
	case daemonset.NodeGone:
		return "the node is gone, its pod is not: pod garbage collection removes it"
	case explain.NodeNotReady:
		if fact(f, "status") == "Unknown" {
			return "the kubelet has not been heard for " + since
		}
		return "the node has not been ready for " + since
	case explain.TerminatingOnDeadNode:
		return "deleted, but the node has not been ready for " + since + ": no kubelet ends the pod"
	case explain.CreateRefused:
		return message(fmt.Sprintf("the API server refuses the pod (%s, last %s ago)", plural(number(f, "events"), "time"), ageOfFact(now, f, "last")))
	case explain.OOMKilled:
		return message(fmt.Sprintf("%s runs out of memory (%s)", container, restarts(f))) + byRevision(f)
	case explain.CrashLoop:
		s := container + " crashes"
		if f["exitCode"] != nil {
			s += " with exit code " + fact(f, "exitCode")
		}
		return message(fmt.Sprintf("%s (%s)", s, restarts(f))) + byRevision(f)
	case explain.ImagePull:
		return message("cannot pull "+fact(f, "image")) + byRevision(f)
	case explain.FailedMount:
		return message("a volume cannot be mounted") + byRevision(f)
	case explain.SandboxFailed:
		return message("the pod's network or sandbox cannot be set up") + byRevision(f)
	case explain.ContainerConfig:
		return message(fmt.Sprintf("%s cannot be started (%s)", container, fact(f, "reason"))) + byRevision(f)
	case explain.ContainerCreating:
		return message(fmt.Sprintf("%s is not started for %s (%s)", container, since, fact(f, "reason"))) + byRevision(f)
	case explain.ProbeFailing:
		return message(fmt.Sprintf("%s runs and is not ready for %s", container, since)) + byRevision(f)
	case explain.InsufficientResources:
		return fmt.Sprintf("no room on the node for %s: %s", since, fact(f, "message"))
	case explain.HostPortConflict:
		return "a host port is taken on the node for " + since
	case explain.PendingUnschedulable:
		return message("not scheduled for " + since)
	case explain.EvictLoop:
		return message(fmt.Sprintf("pods fail again and again (%s, %s): the controller waits up to 15 minutes between two", fact(f, "reason"), plural(number(f, "failures"), "time")))
	case daemonset.FailedPod:
		return message("the pod failed (" + fact(f, "reason") + ")")
	case daemonset.SucceededPod:
		return "the pod ended by itself"
	case explain.Terminating:
		return terminating(f, since)
	case daemonset.NotReady:
		return message("not ready for " + since)
	case explain.Starting:
		return "starting for " + since
	case daemonset.NotYetAvailable:
		return notYetAvailable(f)
	case explain.NoPod:
		return "no pod yet"
	case explain.SurgeHostPort:
		return "maxSurge cannot work with host port " + fact(f, "ports") + ": the second pod is never scheduled; use maxUnavailable"
	case explain.OnDeleteOutdated:
		return "an old pod, replaced only when somebody deletes it"
	case daemonset.Duplicate:
		return "more than one pod"
	case explain.Adopt:
		return "a pod without owner that the next sync adopts"
	case daemonset.ReleasedPod:
		return "labels match no longer: the next sync lets the pod go"
	case explain.Foreign:
		return "matches the selector, but belongs to " + fact(f, "owner")
	case daemonset.NoTargetNode:
		return "a pod that names no node: no rule sees it"
	case explain.Misscheduled:
		return "runs, but should not: " + placement(daemonset.Reason(fact(f, "because")), f)
	case explain.StaleStatus:
		return "the status is not what the controller's rules give: " + fact(f, "fields")
	}
	return clean(string(code))
}

func forTime(since *time.Time, words string) string {
	if since == nil {
		return ""
	}
	return ", for " + words
}

func restarts(f daemonset.Facts) string {
	if f["restarts"] == nil {
		return "restarts differ"
	}
	return plural(number(f, "restarts"), "restart")
}

func terminating(f daemonset.Facts, since string) string {
	s := "terminating for " + since
	if yes(f, "overdue") {
		s += ", beyond its grace period"
	}
	if fin := fact(f, "finalizers"); fin != "" {
		s += ", held by finalizer " + fin
	}
	return s
}

func notYetAvailable(f daemonset.Facts) string {
	s := fmt.Sprintf("ready for less than minReadySeconds %s", fact(f, "minReadySeconds"))
	if at := fact(f, "availableAt"); at != "" {
		s += ", available at " + at
	}
	if skew := fact(f, "clockSkew"); skew != "" {
		s += fmt.Sprintf(" (ready %s s in the future: the node's clock is ahead)", skew)
	}
	return s
}

// byRevision says whether the new or the old pods have the problem, where
// that tells something.
func byRevision(f daemonset.Facts) string {
	newPods, oldPods := number(f, "newPods"), number(f, "oldPods")
	if newPods == 0 || oldPods == 0 {
		return ""
	}
	return fmt.Sprintf(" [%d of %d new pods, %d of %d old]", number(f, "newFailing"), newPods, number(f, "oldFailing"), oldPods)
}

func ageOfFact(now time.Time, f daemonset.Facts, key string) string {
	t, err := time.Parse(time.RFC3339, fact(f, key))
	if err != nil {
		return "unknown"
	}
	return age(now, &t)
}

// Gap says what could not be read and what the answer lacks for it.
func Gap(g daemonset.Gap) string {
	why := map[snapshot.Why]string{
		snapshot.Forbidden: "not allowed to read", snapshot.NotGiven: "not in the input", snapshot.Failed: "could not be read", snapshot.Moved: "changed while being read",
	}[g.Why]
	lost := map[snapshot.Consequence]string{
		snapshot.PlacementUnknown: "DESIRED is not computed, and no reason is given why nodes are left out",
		snapshot.PodsUnknown:      "only the reported numbers are left",
		snapshot.RevisionInferred: "which pods are up to date is inferred from their labels",
		snapshot.CausesReduced:    "refused creations and the words of scheduler and kubelet are missing",
		snapshot.RulesAssumed:     "the rules of " + daemonset.Newest + " are used (--kubernetes-version chooses others)",
		snapshot.ClockAssumed:     "the newest time found, or else this machine's, is the clock (--now sets it)",
	}[g.Consequence]
	if g.Why == snapshot.Moved {
		lost = "its parts may be of different moments"
	}
	s := string(g.What) + ": " + why + ", so " + lost
	if m := clean(g.Message); m != "" && g.Why != snapshot.NotGiven {
		s += " (" + m + ")"
	}
	return s
}
