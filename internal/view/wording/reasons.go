package wording

import (
	"fmt"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// Predicate is the predicate of a sentence about pods or nodes, in the singular and in the plural. A running pod is
// "on" its node, and any other pod is "for" its node.
type Predicate struct{ Noun, at, One, Many string }

// Predicates has an entry for every reason that concerns pods or nodes.
var Predicates = map[daemonset.Reason]Predicate{
	cause.CrashLoopBackOff:       {"pod", "on", "crashes", "crash"},
	cause.OOMKilled:              {"pod", "on", "runs out of memory", "run out of memory"},
	cause.ImagePullBackOff:       {"pod", "on", "cannot pull its image", "fail to pull their image"},
	cause.PullingImage:           {"pod", "on", "is still pulling its image", "are still pulling their image"},
	cause.FailedMount:            {"pod", "on", "cannot mount a volume", "cannot mount a volume"},
	cause.FailedCreatePodSandBox: {"pod", "on", "gets no network or sandbox", "get no network or sandbox"},
	cause.ContainerConfig:        {"pod", "on", "cannot start a container", "cannot start a container"},
	cause.ContainerCreating:      {"pod", "on", "does not start", "do not start"},
	cause.InitRunning:            {"pod", "on", "waits for an init container", "wait for an init container"},
	cause.ProbeFailing:           {"pod", "on", "fails its readiness probe", "fail their readiness probe"},
	cause.NodeNotReady:           {"node", "", "is NotReady", "are NotReady"},
	cause.TerminatingOnDeadNode:  {"node", "", "is NotReady", "are NotReady"},
	daemonset.NodeGone:           {"pod", "on", "is left over from a deleted node", "are left over from deleted nodes"},
	cause.FailedCreate:           {"pod", "for", "is rejected by the API server", "are rejected by the API server"},
	cause.InsufficientResources:  {"pod", "for", "does not fit", "do not fit"},
	cause.HostPortConflict:       {"pod", "for", "needs a host port that is in use", "need a host port that is in use"},
	cause.DoesNotFit:             {"new pod", "for", "does not fit", "do not fit"},
	cause.PendingUnschedulable:   {"pod", "for", "is not scheduled", "are not scheduled"},
	cause.PodOSNotSupported:      {"pod", "on", "is rejected by its kubelet", "are rejected by their kubelet"},
	cause.ExcludedButCounted: {"node", "", "that the namespace excludes counts as unavailable",
		"that the namespace excludes count as unavailable"},
	cause.VirtualNode: {"node", "", "is virtual and runs no DaemonSet pod",
		"are virtual and run no DaemonSet pods"},
	cause.EvictLoop:           {"pod", "on", "fails repeatedly", "fail repeatedly"},
	daemonset.FailedPod:       {"pod", "on", "has failed", "have failed"},
	daemonset.SucceededPod:    {"pod", "on", "has ended", "have ended"},
	cause.Terminating:         {"pod", "on", "does not end", "do not end"},
	daemonset.NotReady:        {"pod", "on", "is not Ready", "are not Ready"},
	cause.WaitingForRoom:      {"pod", "for", "waits for other pods to end", "wait for other pods to end"},
	cause.Starting:            {"pod", "on", "is starting", "are starting"},
	daemonset.NotYetAvailable: {"pod", "on", "is not available yet", "are not available yet"},
	cause.NoPod:               {"node", "", "has no pod", "have no pod"},
	cause.Misscheduled: {"pod", "on", "runs on a node that is not eligible",
		"run on nodes that are not eligible"},
	daemonset.Duplicate:    {"node", "", "has more than one pod", "have more than one pod"},
	explain.Foreign:        {"pod", "on", "belongs to somebody else", "belong to somebody else"},
	daemonset.ReleasedPod:  {"pod", "on", "no longer matches the selector", "no longer match the selector"},
	daemonset.NoTargetNode: {"pod", "on", "is not assigned to any node", "are not assigned to any node"},
}

// probePredicates has the predicates for a failing startup or liveness probe, by the name of the probe.
var probePredicates = map[string]Predicate{
	"startup":  {"pod", "on", "fails its startup probe", "fail their startup probe"},
	"liveness": {"pod", "on", "fails its liveness probe", "fail their liveness probe"},
}

// ByProbe returns the predicate for the failing probe if the facts name that probe, or p otherwise.
func (p Predicate) ByProbe(f daemonset.Facts) Predicate {
	if by, known := probePredicates[Fact(f, "probe")]; known {
		return by
	}
	return p
}

// Of returns a clause about n pods or nodes. It names the node if nodes has exactly one. It returns "" if p is the zero
// Predicate.
func (p Predicate) Of(nodes []string, n int) string {
	n = max(n, len(nodes))
	switch {
	case p.Noun == "":
		return ""
	case len(nodes) == 1 && p.Noun == "node":
		return nodes[0] + " " + p.One
	case len(nodes) == 1:
		return "the " + p.Noun + " " + p.at + " " + nodes[0] + " " + p.One
	}
	return PluralVerb(n, p.Noun+" "+p.One, p.Noun+"s "+p.Many)
}

// ResourceWord returns the first resource in list, spelled as in a sentence.
func ResourceWord(list any) string {
	if name := FirstOf(list); name != "cpu" {
		return name
	}
	return "CPU"
}

// FirstOf returns the first word of list, or "" if list is empty or not a list.
func FirstOf(list any) string {
	switch l := list.(type) {
	case []string:
		return strings.Join(l[:min(1, len(l))], "")
	case []any: // decoded from JSON
		if len(l) > 0 {
			return fmt.Sprint(l[0])
		}
	}
	return ""
}
