package view

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// next says what the controller's next sync does.
func (s *screen) next(e *explain.Explanation) {
	var facts []daemonset.Facts
	for _, h := range e.Budget.Holders {
		facts = append(facts, h.Facts)
	}
	s.soon = soonAvailable(s.now, facts)
	s.zero = e.Budget.MaxSurge+e.Budget.MaxUnavailable == 0
	s.step("NEXT SYNC", &e.Next, &e.Header)
}

// soonAvailable says when the first of the pods that hold the budget becomes
// available, of which it is known; empty where it is of none.
func soonAvailable(now time.Time, holders []daemonset.Facts) string {
	var first time.Time
	for _, f := range holders {
		if at, err := time.Parse(time.RFC3339, fact(f, "availableAt")); err == nil && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() {
		return ""
	}
	return "the first pod that holds it becomes available in " + until(now, first)
}

// step says what one sync of the controller does, under a title.
func (s *screen) step(title string, n *daemonset.Step, h *daemonset.Header) {
	title = s.title(title)
	about := ""
	if !n.Exact && n.Reason != daemonset.StepBeingDeleted {
		about = " (as far as could be read)"
	}
	if n.Reason == daemonset.StepPodsNotRead {
		s.line("%s not known, as %s could not be read", title, unread(h))
		return
	}
	also := s.bookkeeping(n)
	if words := failedStep(n.Error, h); words != "" && n.Kind == daemonset.StepNone {
		s.line("%s fails%s: %s", title, about, words)
		for _, a := range also {
			s.line("  %s", a)
		}
		if n.Error.Code == daemonset.VanishedNodeInSurge {
			s.whole("  kubectl delete pod -n " + Quote(h.DaemonSet.Namespace) + " " + Quote(n.Error.Pod))
		}
		return
	}
	if n.Kind == daemonset.StepNone {
		does := "does nothing"
		if len(also) > 0 {
			does = "creates and deletes no pod"
		}
		why := idle(n.Reason, h)
		switch {
		case n.Reason != daemonset.StepBudgetSpent:
		case s.zero:
			why = "the limit is 0"
		case s.soon != "":
			why += "; " + s.soon
		}
		s.line("%s %s: %s%s", title, does, why, about)
		for _, a := range also {
			s.line("  %s", a)
		}
		return
	}
	var parts []string
	parts = append(parts, s.batch("delete", n.Deletes)...)
	parts = append(parts, s.batch("create", n.Creates)...)
	parts = append(parts, also...)
	s.line("%s%s", title, about)
	const most = 5
	for i, p := range parts {
		if i == most && !s.All && len(parts) > most+1 {
			s.line("  and %s, with --all", plural(len(parts)-most, "more batch"))
			break
		}
		s.line("  %s", p)
	}
	for _, w := range n.Waits {
		s.line("  or later: on a node with a failed pod it waits up to %s, which only its memory could tell (%s)",
			duration.HumanDuration(time.Duration(w.AtMost)*time.Second), s.names(w.Nodes))
	}
}

// failedStep says why a step fails and what mends it; empty where it does not
// fail, or nothing tells.
func failedStep(e *daemonset.StepError, h *daemonset.Header) string {
	switch {
	case e == nil:
		return ""
	case e.Code == daemonset.VanishedNodeInSurge && e.Pod != "" && pasted(e.Pod+h.DaemonSet.Namespace) != "":
		return "the old pod " + clean(e.Pod) + " is left of node " + clean(e.Node) + ", which is gone, and no surge step gets past it until the pod garbage collector deletes it, or you do:"
	case e.Code == daemonset.InvalidBudget && e.Field != "":
		return clean(e.Field) + " cannot be resolved: set it to a number or a percentage"
	}
	return ""
}

// bookkeeping is what a sync does to owners, labels and revisions.
func (s *screen) bookkeeping(n *daemonset.Step) []string {
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

// deleteWords say why the controller deletes or creates a pod.
var stepWords = map[daemonset.Reason]string{
	daemonset.Forced:           "the old pod is not available, so it goes whatever the budget says",
	daemonset.WithinBudget:     "within the budget",
	daemonset.NoLongerEligible: "the node should not run it any more",
	daemonset.Sunset:           "old pods on nodes that should not run them any more",
	daemonset.Superseded:       "the new pod is available, or this one is not ready",
	daemonset.Duplicate:        "a second pod on the node",
	daemonset.FailedPod:        "the pod failed",
	daemonset.SucceededPod:     "the pod ended",
	daemonset.NodeMissing:      "its node is gone",
	daemonset.Missing:          "the node has no running pod",
	daemonset.Surge:            "a second, new pod beside the old one",
	daemonset.Burst:            "the first of several reasons",
}

func (s *screen) batch(verb string, b daemonset.Batch) []string {
	var out []string
	byReason := map[daemonset.Reason][]string{}
	var order []daemonset.Reason
	for _, i := range b.Certain {
		if byReason[i.Reason] == nil {
			order = append(order, i.Reason)
		}
		byReason[i.Reason] = append(byReason[i.Reason], i.Node)
	}
	for _, r := range order {
		words := stepWords[r]
		if verb == "create" && r == daemonset.Forced {
			words = "the old pod is not available, so a new one comes whatever the budget says"
		}
		out = append(out, fmt.Sprintf("%ss %s (%s): %s", verb, plural(len(byReason[r]), "pod"), words, s.names(byReason[r])))
	}
	for _, c := range b.Choices {
		var nodes, pods []string
		for _, i := range c.From {
			nodes, pods = append(nodes, i.Node), append(pods, i.Pod)
		}
		if len(slices.Compact(slices.Clone(nodes))) < len(nodes) {
			nodes = pods // several of one node
		}
		out = append(out, fmt.Sprintf("%ss any %d of these %d (%s): %s", verb, c.Count, len(c.From), stepWords[c.Reason], s.names(nodes)))
	}
	if b.Deferred > 0 {
		out = append(out, fmt.Sprintf("%d more %ss wait for later syncs: one does at most 250", b.Deferred, verb))
	}
	return out
}
