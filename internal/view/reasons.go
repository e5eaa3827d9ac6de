package view

import (
	"fmt"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// predicate is what the pods or nodes of a problem do, in the singular and in
// the plural.
type predicate struct{ noun, one, many string }

// predicates has every reason that concerns pods or nodes.
var predicates = map[daemonset.Reason]predicate{
	cause.CrashLoopBackOff:       {"pod", "crashes", "crash"},
	cause.OOMKilled:              {"pod", "runs out of memory", "run out of memory"},
	cause.ImagePullBackOff:       {"pod", "cannot pull its image", "cannot pull their image"},
	cause.FailedMount:            {"pod", "cannot mount a volume", "cannot mount a volume"},
	cause.FailedCreatePodSandBox: {"pod", "gets no network or sandbox", "get no network or sandbox"},
	cause.ContainerConfig:        {"pod", "cannot start a container", "cannot start a container"},
	cause.ContainerCreating:      {"pod", "does not start", "do not start"},
	cause.InitRunning:            {"pod", "waits for an init container", "wait for an init container"},
	cause.ProbeFailing:           {"pod", "fails its readiness probe", "fail their readiness probe"},
	cause.NodeNotReady:           {"node", "is NotReady", "are NotReady"},
	cause.TerminatingOnDeadNode:  {"node", "is NotReady", "are NotReady"},
	daemonset.NodeGone:           {"pod", "is left over from a deleted node", "are left over from deleted nodes"},
	cause.FailedCreate:           {"pod", "is rejected by the API server", "are rejected by the API server"},
	cause.InsufficientResources:  {"pod", "does not fit on its node", "do not fit on their node"},
	cause.HostPortConflict:       {"pod", "does not fit on its node", "do not fit on their node"},
	cause.PendingUnschedulable:   {"pod", "is not scheduled", "are not scheduled"},
	cause.EvictLoop:              {"pod", "fails again and again", "fail again and again"},
	daemonset.FailedPod:          {"pod", "has failed", "have failed"},
	daemonset.SucceededPod:       {"pod", "has ended", "have ended"},
	cause.Terminating:            {"pod", "does not end", "do not end"},
	daemonset.NotReady:           {"pod", "is not Ready", "are not Ready"},
	cause.Starting:               {"pod", "is starting", "are starting"},
	daemonset.NotYetAvailable:    {"pod", "is not available yet", "are not available yet"},
	cause.NoPod:                  {"node", "has no pod", "have no pod"},
	explain.Misscheduled:         {"pod", "runs on a node that is not eligible", "run on nodes that are not eligible"},
	daemonset.Duplicate:          {"node", "has more than one pod", "have more than one pod"},
	explain.Foreign:              {"pod", "belongs to somebody else", "belong to somebody else"},
	daemonset.ReleasedPod:        {"pod", "no longer matches the selector", "no longer match the selector"},
	daemonset.NoTargetNode:       {"pod", "is not assigned to any node", "are not assigned to any node"},
}

// of is the predicate of so many pods or nodes: one is named by its node, where
// that is known. It is empty for a reason that has none.
func (p predicate) of(nodes []string, n int) string {
	n = max(n, len(nodes))
	switch {
	case p.noun == "":
		return ""
	case len(nodes) == 1 && p.noun == "node":
		return nodes[0] + " " + p.one
	case len(nodes) == 1:
		return "the " + p.noun + " on " + nodes[0] + " " + p.one
	}
	return pluralVerb(n, p.noun+" "+p.one, p.noun+"s "+p.many)
}

// detail says what is known of a problem beside its name, its nodes and how
// long it lasts: a sentence of ours, then the words of whoever reported it.
func (a *sheet) detail(p *explain.Problem) []screen.Block {
	const columns = 240
	message := fact(p.Facts, "message")
	switch {
	case message == "":
	case p.Code == cause.FailedCreate:
		message = `"` + a.style.refusal(message, columns) + `"`
	default: // without the words that kubelet and container runtimes put around what happened
		message = `"` + a.style.brief(message, columns) + `"`
	}
	return []screen.Block{screen.Text(meaning(p, a.now)), screen.Text(message)}
}

// meaning says in a sentence what a reason means, with its facts; empty where
// its name says all.
func meaning(p *explain.Problem, now time.Time) string {
	f := p.Facts
	container := "container " + fact(f, "container")
	if yes(f, "init") {
		container = "init " + container
	}
	switch p.Code {
	case cause.CrashLoopBackOff:
		switch exit := fact(f, "exitCode"); exit {
		case "":
			return container + " crashes" + restartedTimes(p)
		case "0":
			return container + " keeps exiting with code 0" + restartedTimes(p)
		default:
			return container + " exits with code " + exit + restartedTimes(p)
		}
	case cause.OOMKilled:
		return container + " exceeds its memory limit" + restartedTimes(p)
	case cause.ImagePullBackOff:
		return container + " cannot pull " + fact(f, "image")
	case cause.ContainerConfig:
		return container + " cannot be started" + inBrackets(fact(f, "reason"))
	case cause.ContainerCreating:
		return container + " has not started" + inBrackets(fact(f, "reason"))
	case cause.InitRunning:
		return container + " has not ended, and the pod waits for it"
	case cause.ProbeFailing:
		return container + " runs but is not Ready" + restartedTimes(p)
	case cause.NodeNotReady:
		if fact(f, "status") == "Unknown" {
			return "the kubelet does not answer"
		}
		return ""
	case cause.TerminatingOnDeadNode:
		words := "the kubelet does not answer, so it does not end the pod"
		if f["deletionAsked"] != nil {
			words += ", which was deleted " + ageOfFact(now, f, "deletionAsked") + " ago"
		}
		return words
	case cause.FailedCreate:
		return fmt.Sprintf("the API server rejected %s for %s, the last one %s ago:", plural(number(f, "events"), "request"), plural(len(p.Nodes), "pod"), ageOfFact(now, f, "last"))
	case cause.PendingUnschedulable:
		if f["message"] == nil {
			return "no scheduler has reported on the pod: check kube-scheduler and the template's schedulerName"
		}
	case cause.HostPortConflict:
		return "another pod on the node uses a host port of this one"
	case cause.EvictLoop:
		return fmt.Sprintf("%s failed%s; the controller waits up to 15m before it creates the next one", plural(number(f, "failures"), "pod"), inBrackets(fact(f, "reason")))
	case cause.Terminating:
		if by := fact(f, "finalizers"); by != "" {
			return "its deletion waits for finalizer " + by
		}
		if yes(f, "overdue") {
			return "it has outlived its grace period"
		}
	case daemonset.NotReady:
		if gates := fact(f, "conditions"); gates != "" {
			return "readiness gates not met: " + gates
		}
	case daemonset.NotYetAvailable:
		words := "Ready for less than minReadySeconds " + fact(f, "minReadySeconds")
		if at, err := time.Parse(time.RFC3339, fact(f, "availableAt")); err == nil {
			words += fmt.Sprintf("; available in %s, at %sZ", ago(at.Sub(now)), at.UTC().Format(time.TimeOnly))
		}
		if skew := number(f, "clockSkew"); skew > 0 {
			words += fmt.Sprintf("; Ready %s in the future: the node's clock is ahead", ago(time.Duration(skew)*time.Second))
		}
		return words
	case cause.NoPod:
		if !yes(f, "eventsRead") {
			return "unknown why: events could not be read"
		}
	case explain.Misscheduled:
		words := "not eligible (" + placement(daemonset.Reason(fact(f, "because")), f) + "), but has a pod"
		if yes(f, "stays") && !yes(f, "terminating") {
			return words + ", which stays until the next rollout deletes it, and is not recreated"
		}
		return words
	case explain.ControllerSilent:
		return "the controller has pending work, but has neither done it nor written a status"
	case explain.GenerationNotObserved:
		return fmt.Sprintf("generation %s not observed yet; the status is for generation %s%s", fact(f, "generation"), fact(f, "observed"), because(f))
	case explain.StaleStatus:
		return "the reported status is stale: " + fact(f, "fields") + because(f)
	case daemonset.InvalidBudget:
		return "each rollout step fails: " + fact(f, "field") + " cannot be resolved; set it to a number or a percentage"
	case daemonset.VanishedNodeInSurge:
		return "each rollout step fails until this pod of a deleted node is gone"
	case cause.NoEligibleNode:
		return noneEligible(f)
	case cause.NextRolloutStalls:
		return nextStall(f)
	case explain.SurgeHostPort:
		return "the template uses host port " + fact(f, "ports") + ", so no second pod fits beside the first: maxSurge cannot work; use maxUnavailable"
	case explain.DisruptionBudgetIgnored:
		return "PodDisruptionBudget " + fact(f, "name") + inBrackets(limitOf(f, "minAvailable"), limitOf(f, "maxUnavailable")) + " selects these pods; the controller's deletions ignore it"
	case explain.Adopt:
		return "the next sync adopts a pod without owner"
	case daemonset.ReleasedPod:
		return "labels no longer match the selector: the next sync releases the pod"
	case explain.Foreign:
		return "matches the selector, but belongs to " + fact(f, "owner")
	case explain.DuplicateRevisions:
		return fmt.Sprintf("%s hold the live template: the next sync keeps one as revision %s and relabels %s, which then count as updated even if they run an old template",
			plural(number(f, "revisions"), "revision"), fact(f, "number"), plural(number(f, "relabelled"), "pod"))
	case daemonset.NoTargetNode:
		return "the pod is not assigned to any node; the controller ignores it"
	case explain.Deleting:
		if by := fact(f, "finalizers"); by != "" {
			return "its deletion waits for finalizer " + by
		}
	}
	return ""
}

func restartedTimes(p *explain.Problem) string {
	n := number(p.Facts, "restarts")
	if n == 0 {
		return ""
	}
	return inBrackets(map[bool]string{true: "each "}[len(p.Nodes) > 1] + "restarted " + plural(n, "time"))
}

// because says why no status is written, where something is known to prevent
// it.
func because(f daemonset.Facts) string {
	switch by := daemonset.Reason(fact(f, "heldUpBy")); by {
	case "":
		return ""
	case cause.FailedCreate:
		return "; this version of the controller writes none while the API server rejects its pods"
	case daemonset.StepBeingDeleted:
		return "; the controller writes none while the DaemonSet is being deleted"
	case daemonset.StepSelectsAll:
		return "; the controller writes none for an empty selector"
	default:
		return "; this version of the controller writes none while its step fails"
	}
}

func noneEligible(f daemonset.Facts) string {
	words := "none of the " + plural(number(f, "nodes"), "node") + " is eligible"
	if number(f, "nodes") == 1 {
		words = "the only node is not eligible"
	}
	switch fact(f, "changed") {
	case cause.ChangedOther:
		words += "; no kept revision explains it: the nodes have changed, or none was ever eligible"
	case cause.ChangedUnknown:
		words += "; unknown since when: the revisions could not be read"
	}
	return words + fateOfPods(f)
}

// fateOfPods is what becomes of the pods where no node is eligible.
func fateOfPods(f daemonset.Facts) (words string) {
	if n := number(f, "losing"); n > 0 {
		words += ", " + pluralVerb(n, "pod is deleted and not recreated", "pods are deleted and not recreated")
	}
	if n := number(f, "staying"); n > 0 {
		words += ", " + pluralVerb(n, "pod stays until the next rollout deletes it", "pods stay until the next rollout deletes them")
	}
	return words
}

func nextStall(f daemonset.Facts) string {
	words := fmt.Sprintf("a rollout would stop after %d of %s", number(f, "replaced"), plural(number(f, "replaces"), "pod"))
	if reason := daemonset.Reason(fact(f, "reason")); reason != daemonset.StepBudgetSpent {
		return words + ": " + stallReason(reason)
	}
	return words + fmt.Sprintf(": the limit is %d, and %s without an available pod", number(f, "limit"), pluralVerb(number(f, "holders"), "node stays", "nodes stay"))
}
