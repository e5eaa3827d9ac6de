package view

import (
	"cmp"
	"fmt"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// bookkeeping is what a sync does to owners, labels and revisions.
func (s *lineScreen) bookkeeping(n *daemonset.Step) []string {
	var out []string
	say := func(verb string, word string, names []string) {
		if len(names) > 0 {
			out = append(out, fmt.Sprintf("%s %s: %s", verb, plural(len(names), word), s.names(names)))
		}
	}
	say("adopts", "pod", n.Pods.Adopt)
	say("releases", "pod", n.Pods.Release)
	say("adopts", "revision", n.Revisions.Adopt)
	say("releases", "revision", n.Revisions.Release)
	switch r := &n.Revisions; {
	case r.Cut:
		out = append(out, fmt.Sprintf("creates revision %d from the live template", r.Number))
	case r.RaisedFrom > 0:
		out = append(out, fmt.Sprintf("renumbers revision %d to %d, as it holds the live template", r.RaisedFrom, r.Number))
	}
	say("gives the current revision's hash to", "pod", n.Revisions.Relabel)
	byReason := map[daemonset.Reason][]string{}
	for _, r := range n.Revisions.Remove {
		byReason[r.Reason] = append(byReason[r.Reason], r.Name)
	}
	say("removes as a duplicate", "revision", byReason[daemonset.Duplicate])
	say("removes, beyond revisionHistoryLimit,", "revision", byReason[daemonset.CleanUp])
	return out
}

// strategy names the update strategy, which the dump of a client may lack.
func strategy(h *daemonset.Header) string {
	return cmp.Or(clean(h.DaemonSet.Strategy), "no strategy")
}

func idle(why daemonset.Reason, h *daemonset.Header) string {
	switch why {
	case daemonset.StepBeingDeleted:
		return "the DaemonSet is being deleted"
	case daemonset.StepSelectsAll:
		return "an empty selector makes the controller ignore the DaemonSet"
	case daemonset.StepOnDelete:
		if h.DaemonSet.Strategy == "" {
			return "every node has what it should, and without a strategy nothing is replaced"
		}
		return "every node has what it should, and " + clean(h.DaemonSet.Strategy) + " replaces nothing"
	case daemonset.StepUpToDate:
		return "all pods are updated"
	case daemonset.StepBudgetSpent:
		return "the budget is used up"
	case daemonset.StepFails:
		return "it fails before it replaces a pod"
	}
	return "it waits for pods to become ready or to go"
}

// stepWords say why the controller deletes or creates a pod.
var stepWords = map[daemonset.Reason]string{
	daemonset.Forced:           "not available, so the limit does not apply",
	daemonset.WithinBudget:     "within the limit",
	daemonset.NoLongerEligible: "the node is no longer eligible",
	daemonset.Sunset:           "an old pod on a node that is not eligible",
	daemonset.Superseded:       "the new pod is available, or this one is not Ready",
	daemonset.Duplicate:        "a second pod on the node",
	daemonset.FailedPod:        "the pod has failed",
	daemonset.SucceededPod:     "the pod has ended",
	daemonset.NodeMissing:      "its node was deleted",
	daemonset.Missing:          "the node has no pod",
	daemonset.Surge:            "beside the old pod",
	daemonset.Burst:            "one sync takes at most 250",
}
