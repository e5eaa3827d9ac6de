package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// clockTime is how a line of what happened begins.
const clockTime = "15:04:05"

// WatchBegins says in a line what is about to happen.
func WatchBegins(p *plan.Progress, style Style) string {
	return fmt.Sprintf("%s following %s: %s; next: %s", p.Header.Snapshot.TakenAt.Format(clockTime), screen.Clean(newSheet(&p.Header, Asked{}, style).subject()), standing(p), stepCounts(&p.Next, &p.Header))
}

// WatchLine says in a line what happened, and how the rollout stands; p is nil
// where further lines of the same moment follow, whose last one says it.
func WatchLine(h plan.Happening, p *plan.Progress, style Style) string {
	line := h.At.Format(clockTime) + " " + happening(h)
	if p != nil {
		line += "; " + standing(p)
	}
	return screen.Clean(line)
}

// watchEnds are the ends of a rollout that is followed.
var watchEnds = map[plan.End][]string{
	plan.EndDone:       {"{batches=0}no rollout in progress: {far}", "done: {far}"},
	plan.EndDegraded:   {"done, but degraded: {far}, without an available pod: {by}"},
	plan.EndStuck:      {"stuck: {far}, {by}"},
	plan.EndNotRolling: {"no rollout: {idle}, {far}"},
	plan.EndGone:       {"the DaemonSet was deleted: {far}"},
}

// WatchVerdict says in a line what explain's first line says.
func WatchVerdict(p *plan.Progress, e *explain.Explanation, style Style) string {
	a := newAnswer(e, Asked{}, style)
	a.headline()
	return screen.Clean(fmt.Sprintf("%s %s: %s", p.Header.Snapshot.TakenAt.Format(clockTime), a.s.Headline.Verdict, a.s.Headline.Text))
}

// VerdictAbout is the same for two Explanations whose first lines differ in numbers and
// times alone, and are about the same problems on the same nodes.
func VerdictAbout(e *explain.Explanation) string {
	a := newAnswer(e, Asked{}, Style{})
	a.headline()
	about := fmt.Sprint(a.s.Headline.Verdict, e.Rollout.UnderWay, cmp.Or(e.Outlook, &explain.Outlook{}).Code)
	for _, problem := range e.Matters() {
		about += fmt.Sprintf(" %s %q", problem.Code, problem.Nodes)
	}
	return about
}

// disconnected makes the headline say since when no changes arrive, and reports whether
// that is so.
func (a *live) disconnected() bool {
	if a.l.Lost.IsZero() {
		return false
	}
	far := fill(a.now, a.e.Verdict.Facts, "{available} of {desired:pod} available")
	if a.e.Rollout.UnderWay {
		far = fill(a.now, a.e.Verdict.Facts, "{updated} of {desired:pod} updated")
	}
	h := &a.s.Headline
	h.Clock, h.Tone = a.l.Clock.Format(clockTime), screen.Warn
	h.Text = "not connected since " + a.l.Lost.Format(clockTime) + behind("; last seen: ", far)
	return true
}

// WatchEnds says in a line how it ended. why is empty for an end of the
// rollout, else what ended the watch.
func WatchEnds(p *plan.Progress, why string, style Style) string {
	f := daemonset.Facts{"far": far(p), "by": stalledBy(&p.Outcome), "idle": idle(p.Outcome.Reason, &p.Header), "batches": p.Batches}
	words := cmp.Or(fill(time.Time{}, f, watchEnds[p.End]...), far(p))
	if why != "" {
		words = why + " with " + standing(p)
	}
	return screen.Clean(fmt.Sprintf("%s %s; %s", p.Header.Snapshot.TakenAt.Format(clockTime), words, batchWords(p)))
}

// WatchOwed says what the controller has not done.
func WatchOwed(p *plan.Progress, style Style) string {
	f := daemonset.Facts{"next": stepCounts(&p.Next, &p.Header), "owed": ago(p.Owed), "waits": len(p.Next.Waits) > 0}
	return fill(time.Time{}, f, "predicted: {next}; the controller has not done it for {owed}[{waits=true}, and may be waiting]")
}

// far says how far a rollout is.
func far(p *plan.Progress) string {
	return fmt.Sprintf("%d of %d updated, %d available", p.Counts.Updated, p.Counts.Desired, p.Counts.Available)
}

// standing says how far a rollout is, and what is left of it.
func standing(p *plan.Progress) string {
	o := &p.Outcome
	f := daemonset.Facts{
		"steps": o.Steps, "pods": o.Replaced + o.Dropped, "atWorst": o.AtWorst, "by": stalledBy(o),
		"late": len(o.Late), "lateOn": someNames(plan.Nodes(o.Late)), "lateBy": newSheet(&p.Header, Asked{}, Style{}).codesFor(o.Late),
	}
	if d := o.Duration; d != nil {
		f["expected"], f["when"] = seconds(d.Expected), clockRange(p.Header.Snapshot.TakenAt, d)
	}
	if words := idleFor(p); words != "" && o.ReachesEnd() {
		return far(p) + ", " + words
	}
	return far(p) + fill(time.Time{}, f, standings[courseOf(o.Code)]...)
}

// courseOf returns the code by which the course of a rollout is told: one that may complete is on
// its way to the end.
func courseOf(code plan.OutcomeCode) plan.OutcomeCode {
	if code == plan.MayComplete {
		return plan.Completes
	}
	return code
}

var standings = map[plan.OutcomeCode][]string{
	plan.Stalls:         {"{steps=0}, stalled: {by}", ", stalls after {pods:pod} more{atWorst? at worst|}: {by}"},
	plan.RemovesAllPods: {", no node is eligible, and all pods are removed"},
	plan.Completes: {
		", about {expected} left, complete {when}, if {late?the pod|the pods} on {lateOn} {late?becomes|become} Ready[ ({lateBy})]",
		", time left unknown: waiting for {lateOn}[ ({lateBy})]", ", about {expected} left, complete {when}", "[, {steps:step} left]",
	},
}

// WatchWaits says in a line for which nodes the rollout waits longer than usual.
func WatchWaits(p *plan.Progress, style Style) string {
	return screen.Clean(p.Header.Snapshot.TakenAt.Format(clockTime) + " " + standing(p))
}

// stalledBy says who keeps a rollout from going on.
func stalledBy(o *plan.Outcome) string {
	const by = "[ ({codes})][{spent=true} {all?uses|use} up the limit]"
	f := daemonset.Facts{
		"on": someNames(plan.Nodes(o.Holders)), "codes": codes(o.Holders), "further": o.FurtherHolders, "others": o.FurtherHolders > 0,
		"all": o.Unserved(), "spent": o.Reason == daemonset.StepBudgetSpent,
	}
	return cmp.Or(fill(time.Time{}, f, "{on}[ and {further} more]"+by, "{others=true}{further:node}"+by), stallReason(o.Reason))
}

// batchWords says how many batches came, and how many as predicted.
func batchWords(p *plan.Progress) string {
	f := daemonset.Facts{"batches": p.Batches, "predicted": p.AsPredicted, "all": p.Batches == p.AsPredicted}
	return fill(time.Time{}, f, "{batches=0}no batch came", "{all=true}{batches:batch|batches}, {batches?as|all as} predicted", "{batches:batch|batches}, {predicted} of them as predicted")
}

// happening says what happened; where that was not predicted, also what was, and
// who may have been at work.
func happening(h plan.Happening) string {
	switch h.Kind {
	case plan.Changed:
		return fmt.Sprintf("the DaemonSet was changed, to generation %d", h.Generation)
	case plan.Evicted:
		return fmt.Sprintf("pod %s was taken away (%s)", itemNames(h.Deletes, true), h.By)
	case plan.Unjudged:
		return fmt.Sprintf("created a pod on %s, which cannot be predicted without nodes", itemNames(h.Creates, true))
	}
	var came, predicted []string
	add := func(verb string, items []daemonset.Item, expected int) {
		switch n := len(items); {
		case n == 0:
		case h.Kind == plan.Otherwise:
			came = append(came, fmt.Sprintf("%s %sd: %s", Plural(n, "pod"), verb, itemNames(items, true)))
		default:
			came = append(came, fmt.Sprintf("%sd %d of %d predicted (%s)", verb, n, n, itemNames(items, false)))
		}
		if expected > 0 {
			predicted = append(predicted, Plural(expected, verb))
		}
	}
	add("delete", h.Deletes, h.Expected.Deletes)
	add("create", h.Creates, h.Expected.Creates)
	words, expected := strings.Join(came, ", "), cmp.Or(strings.Join(predicted, ", "), "nothing")
	switch {
	case h.Kind != plan.Otherwise:
		return words
	case len(predicted) == 0 && len(h.Deletes) > 0 && len(h.Creates) == 0:
		expected += "; somebody else may have done it"
	}
	return "not as predicted: " + words + " (predicted: " + expected + ")"
}

// itemNames names a few nodes, where whole is asked for each with the pod that was
// deleted there.
func itemNames(items []daemonset.Item, whole bool) string {
	var names []string
	for _, i := range items {
		if whole {
			i.Node = joined(" on ", i.Pod, i.Node)
		}
		names = append(names, i.Node)
	}
	return someNames(names)
}

// stepCounts says in a few words what a step does.
func stepCounts(n *daemonset.Step, h *daemonset.Header) string {
	count := func(verb string, b daemonset.Batch) string {
		f := daemonset.Facts{"n": b.Len(), "of": b.Candidates(), "any": b.Candidates() > b.Len()}
		return fill(time.Time{}, f, "{any=true}"+verb+" any {n} of {of}", "["+verb+" {n}]")
	}
	return cmp.Or(joined(", ", count("delete", n.Deletes), count("create", n.Creates)), idle(n.Reason, h))
}
