package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
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
	case int64:
		return int(v)
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
			return s + ", has " + value(got)
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

// value writes a label's value, which may be empty.
func value(v any) string { return cmp.Or(clean(fmt.Sprint(v)), `""`) }

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
		s += ", has " + value(got)
	}
	return s
}

// taintMeaning names well-known taints in words.
func taintMeaning(key string) string {
	switch key {
	case "node.kubernetes.io/not-ready":
		return "the node is not ready"
	case "node.kubernetes.io/unreachable":
		return "its kubelet is not heard from"
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

// causeWords says what a cause means, in a part of a sentence; earliest and
// latest are when it began, on one node or on several.
func (s *screen) causeWords(code daemonset.Reason, f daemonset.Facts, earliest, latest *time.Time) string {
	since, lasting := span(s.now, earliest, latest), ""
	if earliest != nil {
		lasting = " for " + since
	}
	shortened := func(words string, shorten func(message string, columns int) string) string {
		room := 300
		if s.Width > 0 {
			room = max(40, 3*(s.Width-entryIndent)-len(words)-30) // three lines with the words before and after it
		}
		if m := fact(f, "message"); m != "" {
			return words + ": " + shorten(m, room)
		}
		return words
	}
	message := func(words string) string { return shortened(words, s.brief) }
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
		return "the controller has this to do, and has written no status" + lasting + ": look at kube-controller-manager"
	case explain.GenerationNotObserved:
		if by := heldUp(f); by != "" {
			return fmt.Sprintf("generation %s: the status still speaks of %s; %s", fact(f, "generation"), fact(f, "observed"), by)
		}
		return fmt.Sprintf("generation %s has not been handled%s, the status speaks of %s", fact(f, "generation"), lasting, fact(f, "observed"))
	case daemonset.InvalidBudget:
		return "the rolling update fails: " + fact(f, "field") + " cannot be resolved"
	case daemonset.VanishedNodeInSurge:
		return "the surge fails until the pods of this vanished node are gone"
	case daemonset.NodeGone:
		return "the node is gone, its pod is not yet"
	case cause.NodeNotReady:
		if fact(f, "status") == "Unknown" {
			return "the kubelet has not been heard from" + lasting
		}
		return "the node has not been ready" + lasting
	case cause.TerminatingOnDeadNode:
		return "the pod is to go, but the node has not been ready" + lasting + " and no kubelet ends it: mend or delete the node"
	case cause.CreateRefused:
		return shortened(fmt.Sprintf("the API server rejects the pod (%s, last %s ago)", plural(number(f, "events"), "time"), ageOfFact(s.now, f, "last")), s.refusal)
	case cause.OOMKilled:
		return message(container+" runs out of memory"+restarts(f)) + s.byRevision(f)
	case cause.CrashLoop:
		words := container + " crashes"
		if code := fact(f, "exitCode"); code == "0" {
			words = container + " ends without an error, again and again"
		} else if code != "" {
			words += " with exit code " + code
		}
		return message(words+restarts(f)) + s.byRevision(f)
	case cause.InitRunning:
		return container + " has been running" + lasting + ", and the pod waits for it" + s.byRevision(f)
	case cause.ImagePull:
		return message("cannot pull "+fact(f, "image")) + s.byRevision(f)
	case cause.FailedMount:
		return message("a volume cannot be mounted") + s.byRevision(f)
	case cause.SandboxFailed:
		return message("the pod's network or sandbox cannot be set up") + s.byRevision(f)
	case cause.ContainerConfig:
		return message(fmt.Sprintf("%s cannot be started (%s)", container, fact(f, "reason"))) + s.byRevision(f)
	case cause.ContainerCreating:
		return message(container+" has not started"+lasting+inBrackets(fact(f, "reason"))) + s.byRevision(f)
	case cause.ProbeFailing:
		return message(container+" runs, but has not been ready"+lasting) + s.byRevision(f)
	case cause.InsufficientResources:
		return "pending" + lasting + ", no room on the node: " + fact(f, "message")
	case cause.HostPortConflict:
		return "pending" + lasting + ", a host port is taken on the node (first reason found)"
	case cause.PendingUnschedulable:
		if f["message"] == nil {
			return "pending" + lasting + ", and no scheduler has said why: look at kube-scheduler, and at the template's schedulerName"
		}
		return message("pending" + lasting)
	case cause.EvictLoop:
		return message("pods fail again and again" + inBrackets(times(f, "failures"), fact(f, "reason")) + ", and the controller waits up to 15 minutes before the next")
	case daemonset.FailedPod:
		return message("the pod failed" + inBrackets(fact(f, "reason")))
	case daemonset.SucceededPod:
		return "the pod ended by itself"
	case cause.Terminating:
		return terminating(f, since)
	case daemonset.NotReady:
		return message("not ready" + lasting + inBrackets(fact(f, "conditions")))
	case cause.Starting:
		return "starting" + lasting
	case daemonset.NotYetAvailable:
		return notYetAvailable(s.now, f, earliest, latest)
	case cause.NoPod:
		return noPod(f, earliest, since)
	case cause.NoEligibleNode:
		return noEligibleNode(f, strings.TrimPrefix(lasting, " for ")) // empty for a revision that is yet to be created
	case cause.NextRolloutStalls:
		return s.nextStalls(f)
	case explain.SurgeHostPort:
		return "maxSurge cannot work with host port " + fact(f, "ports") + ": the second pod is never scheduled; use maxUnavailable"
	case explain.OnDeleteOutdated:
		if n := fact(f, "number"); n != "" {
			return "revision " + n + ", until somebody deletes the pods"
		}
		return "an old revision, until somebody deletes the pods"
	case explain.DisruptionBudgetIgnored:
		return "PodDisruptionBudget " + fact(f, "name") + inBrackets(limitOf(f, "minAvailable"), limitOf(f, "maxUnavailable")) + " selects these pods: a rolling update ignores it"
	case daemonset.Duplicate:
		return "more pods than belong on one node"
	case explain.Adopt:
		return "a pod without owner that the next sync adopts"
	case daemonset.ReleasedPod:
		return "labels match no longer: the next sync lets the pod go"
	case explain.Foreign:
		return "matches the selector, but belongs to " + fact(f, "owner")
	case explain.DuplicateRevisions:
		return fmt.Sprintf("%d revisions equal the live template: the next sync keeps one as revision %s, and gives its hash to %s, which then count as up to date whatever they run",
			number(f, "revisions"), fact(f, "number"), plural(number(f, "relabelled"), "pod"))
	case daemonset.NoTargetNode:
		return "a pod that names no node: no rule sees it"
	case explain.Misscheduled:
		words := "runs, but should not: " + placement(daemonset.Reason(fact(f, "because")), f)
		if yes(f, "stays") && !yes(f, "terminating") {
			return words + "; it stays until a rollout, which does not bring it back"
		}
		return words
	case explain.StaleStatus:
		fields := fact(f, "fields")
		if n := strings.Count(fields, ",") + 1; n > 3 {
			fields = fmt.Sprintf("%d numbers", n)
		}
		words := "REPORTED differs from the controller's own rules in " + fields + written(earliest, since)
		if by := heldUp(f); by != "" {
			words += "; " + by
		}
		return words
	}
	return clean(string(code))
}

// nextStalls says how far a rollout to come would get.
func (s *screen) nextStalls(f daemonset.Facts) string {
	worst := ""
	if yes(f, "atWorst") {
		worst = " at worst"
	}
	words := fmt.Sprintf("a rollout would stall after %d of %s%s: ", number(f, "replaced"), plural(number(f, "replaces"), "pod"), worst)
	if reason := daemonset.Reason(fact(f, "reason")); reason != daemonset.StepBudgetSpent {
		return words + stallReason(reason)
	}
	return words + fmt.Sprintf("%s the limit of %d", pluralVerb(number(f, "holders"), "node uses up", "nodes use up"), number(f, "limit"))
}

// noEligibleNode says that no node should run the pod, and since which change
// of the template that is so.
func noEligibleNode(f daemonset.Facts, since string) string {
	words := "none of the " + plural(number(f, "nodes"), "node") + " is eligible"
	if number(f, "nodes") == 1 {
		words = "the only node is not eligible"
	}
	switch fact(f, "changed") {
	case cause.ChangedTemplate:
		words += " since revision " + fact(f, "number")
		if since != "" {
			words += " (made " + since + " ago)"
		}
		words += fmt.Sprintf(", which changed %s: with revision %s, %d would be", fact(f, "fields"), fact(f, "before"), number(f, "eligible"))
	case cause.ChangedOther:
		words += "; no template change in the kept revisions explains it: the nodes changed, or none was ever eligible"
	case cause.ChangedUnknown:
		words += "; unknown since when: the revisions could not be read"
	}
	if n := number(f, "losing"); n > 0 {
		words += "; " + pluralVerb(n, "pod is deleted and not recreated", "pods are deleted and not recreated")
	}
	if n := number(f, "staying"); n > 0 {
		words += "; " + pluralVerb(n, "pod stays until the next rollout deletes it, and is not recreated", "pods stay until the next rollout deletes them, and are not recreated")
	}
	return words
}

// heldUp says why no status is written, where something is known to hold it
// up.
func heldUp(f daemonset.Facts) string {
	switch by := daemonset.Reason(fact(f, "heldUpBy")); by {
	case "":
		return ""
	case cause.CreateRefused:
		return "this version of the controller writes no status while pods are refused"
	case daemonset.InvalidBudget, daemonset.VanishedNodeInSurge:
		return "this version of the controller writes no status while its step fails"
	case daemonset.StepBeingDeleted:
		return "no status is written of a DaemonSet that is being deleted"
	case daemonset.StepSelectsAll:
		return "no status is written of a DaemonSet whose selector is empty"
	default:
		return "held up by " + string(by)
	}
}

func written(at *time.Time, since string) string {
	if at == nil {
		return ""
	}
	return "; last written " + since + " ago"
}

// inBrackets writes what is known of several words.
func inBrackets(words ...string) string {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

func limitOf(f daemonset.Facts, key string) string {
	if f[key] == nil {
		return ""
	}
	return key + " " + fact(f, key)
}

func times(f daemonset.Facts, key string) string {
	if f[key] == nil {
		return ""
	}
	return plural(number(f, key), "time")
}

func restarts(f daemonset.Facts) string {
	if f["restarts"] == nil {
		return ""
	}
	return inBrackets(plural(number(f, "restarts"), "restart"))
}

// noPod tells a pod that is about to be created from one that is owed.
func noPod(f daemonset.Facts, since *time.Time, words string) string {
	switch {
	case since == nil:
		return "no pod yet"
	case yes(f, "eventsRead"):
		return "no pod, though nothing has changed for " + words
	}
	return "no pod, though nothing has changed for " + words + "; only events could tell whether it is refused"
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

// notYetAvailable says when the pods become available, of which the earliest
// and the latest became ready at the times given.
func notYetAvailable(now time.Time, f daemonset.Facts, earliest, latest *time.Time) string {
	words := fmt.Sprintf("ready for less than minReadySeconds %s", fact(f, "minReadySeconds"))
	if earliest == nil || latest == nil {
		return words
	}
	wait := time.Duration(number(f, "minReadySeconds")) * time.Second
	first, last := earliest.Add(wait), latest.Add(wait)
	words += ", available in " + until(now, first)
	if !last.Equal(first) {
		words += " to " + until(now, last) + ", the last at "
	} else {
		words += ", at "
	}
	words += last.Format(time.TimeOnly) + "Z"
	if ahead := latest.Sub(now); ahead > 0 {
		words += "; ready " + duration.HumanDuration(ahead) + " in the future, so the node's clock is ahead"
	}
	return words
}

func until(now, then time.Time) string { return duration.HumanDuration(max(0, then.Sub(now))) }

// byRevision says whether the new or the old pods have the problem, where
// that tells something.
func (s *screen) byRevision(f daemonset.Facts) string {
	newPods, oldPods := number(f, "newPods"), number(f, "oldPods")
	if newPods == 0 || oldPods == 0 || s.suspect {
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

// partWords names a part of the input.
func partWords(what snapshot.What) string {
	switch what {
	case snapshot.DaemonSetStatus:
		return "the status of the daemonset"
	case snapshot.NodeStatus:
		return "the status of nodes"
	case snapshot.PodStatus:
		return "the status of pods"
	}
	return string(what)
}

// Gap says what could not be read and what the answer lacks for it.
func Gap(g daemonset.Gap) string {
	why := map[snapshot.Why]string{
		snapshot.Forbidden: "not allowed to read", snapshot.NotGiven: "not in the input", snapshot.Partial: "only in part in the input", snapshot.Failed: "could not be read", snapshot.Moved: "changed while being read",
	}[g.Why]
	lost := map[snapshot.Consequence]string{
		snapshot.DaemonSetsUnknown:        "the list may lack some of them",
		snapshot.PlacementUnknown:         "DESIRED is not computed, and no reason is given why nodes are left out",
		snapshot.PodsUnknown:              "only the reported numbers are left",
		snapshot.ReportedUnknown:          "the reported numbers are unknown, and whether the controller handled the newest generation",
		snapshot.NodeConditionsUnknown:    "that a node is NotReady is seen by its taints alone",
		snapshot.PodStatesUnknown:         "READY and AVAILABLE are not computed, and nothing is forecast",
		snapshot.RevisionInferred:         "which pods are up to date is inferred from their labels",
		snapshot.DisruptionBudgetsUnknown: "it is not told whether one selects the pods; a rolling update ignores it either way",
		snapshot.CausesReduced:            "refused creations and the words of scheduler and kubelet are missing",
		snapshot.RulesAssumed:             "the rules of " + daemonset.Newest + " are used (--kubernetes-version chooses others)",
		snapshot.ClockAssumed:             "the newest time found, or else this machine's, is the clock (--now sets it)",
		snapshot.SeveralMoments:           "its parts may be of different moments",
	}[g.Consequence]
	s := partWords(g.What) + ": " + why + ", so " + lost
	ofOne := strings.Contains(g.Message, " of namespace ") || strings.Contains(g.Message, " of daemonset ") // others are in the input
	someOf := g.What == snapshot.NodeStatus || g.What == snapshot.PodStatus
	if m := clean(g.Message); m != "" && (g.Why != snapshot.NotGiven || ofOne || someOf) {
		s += " (" + m + ")"
	}
	return s
}
