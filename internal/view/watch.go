package view

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/diagnosis"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/follow"
)

// WatchBegins returns the first line of a watch: the current state and the next step.
func WatchBegins(p *follow.Progress, style wording.Style) string {
	return fmt.Sprintf("%s following %s: %s; next: %s", p.Header.Snapshot.TakenAt.Format(wording.ClockTime),
		screen.Clean(sheet.New(&p.Header, sheet.Asked{}, style).Subject()), stateWords(p),
		stepCounts(&p.Next, &p.Header))
}

// WatchLine returns a line about an event and the state of the rollout. p is nil if more events of the same moment
// follow. The line of the last one has the state.
func WatchLine(h follow.Happening, p *follow.Progress, style wording.Style) string {
	line := h.At.Format(wording.ClockTime) + " " + happening(h)
	if p != nil {
		line += "; " + stateWords(p)
	}
	return screen.Clean(line)
}

// ended describes the end of a rollout that is being watched.
func ended(p *follow.Progress) string {
	switch p.End {
	case follow.EndDone:
		return wording.Either(p.Batches == 0, "no rollout in progress: ", "done: ") + progressWords(p)
	case follow.EndDegraded:
		return "done, but degraded: " + progressWords(p) + ", without an available pod: " + stalledBy(&p.Outcome)
	case follow.EndStuck:
		return "stuck: " + progressWords(p) + ", " + stalledBy(&p.Outcome)
	case follow.EndNotRolling:
		return "no rollout: " + sheet.Idle(p.Outcome.Reason, &p.Header) + ", " + progressWords(p)
	case follow.EndGone:
		return "the DaemonSet was deleted: " + progressWords(p)
	}
	return progressWords(p)
}

// WatchVerdict returns the headline of explain as a line.
func WatchVerdict(p *follow.Progress, e *explain.Explanation, style wording.Style) string {
	a := diagnosis.New(e, sheet.Asked{}, style)
	a.Headline()
	return screen.Clean(fmt.Sprintf("%s %s: %s", p.Header.Snapshot.TakenAt.Format(wording.ClockTime),
		a.Screen.Headline.Verdict,
		a.Screen.Headline.Text))
}

// VerdictAbout returns a key for comparing two Explanations. The keys are equal if the verdicts and the problems on
// each node are the same, and only numbers and times differ.
func VerdictAbout(e *explain.Explanation) string {
	a := diagnosis.New(e, sheet.Asked{}, wording.Style{})
	a.Headline()
	about := fmt.Sprint(a.Screen.Headline.Verdict, e.Rollout.UnderWay, cmp.Or(e.Outlook, &explain.Outlook{}).Code)
	for _, problem := range e.Matters() {
		about += fmt.Sprintf(" %s %q", problem.Code, problem.Nodes)
	}
	return about
}

// disconnected reports whether no changes arrive. If so, it changes the headline to show since when.
func (a *liveScreen) disconnected() bool {
	if a.l.Lost.IsZero() {
		return false
	}
	h := &a.Screen.Headline
	h.Clock, h.Tone = a.l.Clock.Format(wording.ClockTime), screen.Warn
	h.Text = "not connected since " + a.l.Lost.Format(wording.ClockTime) +
		wording.WithPrefix("; last seen: ", a.progressWords())
	return true
}

// WatchEnds returns the last line of a watch. why is the reason that ended the watch, or "" if the rollout ended.
func WatchEnds(p *follow.Progress, why string, style wording.Style) string {
	words := ended(p)
	if why != "" {
		words = why + " with " + stateWords(p)
	}
	return screen.Clean(fmt.Sprintf("%s %s; %s", p.Header.Snapshot.TakenAt.Format(wording.ClockTime), words,
		batchWords(p)))
}

// WatchOwed returns the step that the controller should have made.
func WatchOwed(p *follow.Progress, style wording.Style) string {
	return "predicted: " + stepCounts(&p.Next, &p.Header) + "; the controller has not done it for " +
		wording.Ago(p.Owed) +
		wording.Either(len(p.Next.Waits) > 0, ", and may be waiting", "")
}

// progressWords returns the progress of a rollout.
func progressWords(p *follow.Progress) string {
	return fmt.Sprintf("%d of %d updated, %d available", p.Counts.Updated, p.Counts.Desired, p.Counts.Available)
}

// stateWords returns the progress of a rollout and what remains.
func stateWords(p *follow.Progress) string {
	if words := idleFor(p); words != "" && p.Outcome.ReachesEnd() {
		return progressWords(p) + ", " + words
	}
	return progressWords(p) + remainingWords(p)
}

// remainingWords returns what remains of a rollout, or where it stalls.
func remainingWords(p *follow.Progress) string {
	switch o := &p.Outcome; courseOf(o.Code) {
	case plan.Stalls:
		after := ", stalled: "
		if o.Steps > 0 {
			after = ", stalls after " + wording.Plural(o.Replaced+o.Dropped, "pod") + " more" +
				wording.Either(o.AtWorst, " at worst: ", ": ")
		}
		return after + stalledBy(o)
	case plan.RemovesAllPods:
		return ", no node is eligible, and all pods are removed"
	case plan.Completes:
		return timeLeft(p)
	}
	return ""
}

// timeLeft returns the time until a rollout is complete, and the pods that it waits for.
func timeLeft(p *follow.Progress) string {
	o, about := &p.Outcome, ""
	if d := o.Duration; d != nil {
		about = ", about " + wording.Seconds(d.Expected) + " left, complete " + clockRange(p.Header.Snapshot.TakenAt, d)
	}
	n := len(o.Late)
	late := wording.SomeNames(plan.Nodes(o.Late))
	by := wording.InBrackets(sheet.New(&p.Header, sheet.Asked{}, wording.Style{}).CodesFor(o.Late))
	switch {
	case n > 0 && about != "":
		ready := wording.PluralOf(n, " becomes Ready", " become Ready")
		return about + wording.PluralOf(n, ", if the pod on ", ", if the pods on ") + late + ready + by
	case n > 0:
		return ", time left unknown: waiting for " + late + by
	}
	return cmp.Or(about, wording.Phrase(", ", wording.Counted(o.Steps, "step", "steps"), " left"))
}

// courseOf returns the code that selects the words for a rollout. It treats one that may complete as one that
// completes.
func courseOf(code plan.OutcomeCode) plan.OutcomeCode {
	if code == plan.MayComplete {
		return plan.Completes
	}
	return code
}

// WatchWaits returns a line with the nodes that the rollout waits for longer than usual.
func WatchWaits(p *follow.Progress, style wording.Style) string {
	return screen.Clean(p.Header.Snapshot.TakenAt.Format(wording.ClockTime) + " " + stateWords(p))
}

// stalledBy names the nodes that stall a rollout.
func stalledBy(o *plan.Outcome) string {
	n := o.FurtherHolders
	who := wording.SomeNames(plan.Nodes(o.Holders))
	if who == "" {
		who = wording.Counted(n, "node", "nodes")
	} else {
		who += wording.Phrase(" and ", wording.Counted(n, "more", "more"))
	}
	if who == "" {
		return sheet.StallReason(o.Reason)
	}
	who += wording.InBrackets(codes(o.Holders))
	if o.Reason == daemonset.StepBudgetSpent {
		who += wording.PluralOf(o.Unserved(), " uses", " use") + " up the limit"
	}
	return who
}

// batchWords returns the number of batches, and how many of them were as predicted.
func batchWords(p *follow.Progress) string {
	came := wording.PluralVerb(p.Batches, "batch", "batches") + ", "
	switch p.Batches {
	case 0:
		return "no batch came"
	case p.AsPredicted:
		return came + wording.PluralOf(p.Batches, "as predicted", "all as predicted")
	}
	return came + strconv.Itoa(p.AsPredicted) + " of them as predicted"
}

// happening describes an event. If it was not predicted, it adds the prediction and who may have caused it.
func happening(h follow.Happening) string {
	switch h.Kind {
	case follow.Changed:
		return fmt.Sprintf("the DaemonSet was changed, to generation %d", h.Generation)
	case follow.Evicted:
		return fmt.Sprintf("pod %s was taken away (%s)", itemNames(h.Deletes, true), h.By)
	case follow.Unjudged:
		return fmt.Sprintf("created a pod on %s, which cannot be predicted without nodes", itemNames(h.Creates, true))
	}
	var came, predicted []string
	add := func(verb string, items []daemonset.Item, expected int) {
		switch n := len(items); {
		case n == 0:
		case h.Kind == follow.Otherwise:
			came = append(came, fmt.Sprintf("%s %sd: %s", wording.Plural(n, "pod"), verb, itemNames(items, true)))
		default:
			came = append(came, fmt.Sprintf("%sd %d of %d predicted (%s)", verb, n, n, itemNames(items, false)))
		}
		if expected > 0 {
			predicted = append(predicted, wording.Plural(expected, verb))
		}
	}
	add("delete", h.Deletes, h.Expected.Deletes)
	add("create", h.Creates, h.Expected.Creates)
	words, expected := strings.Join(came, ", "), cmp.Or(strings.Join(predicted, ", "), "nothing")
	switch {
	case h.Kind != follow.Otherwise:
		return words
	case len(predicted) == 0 && len(h.Deletes) > 0 && len(h.Creates) == 0:
		expected += "; somebody else may have done it"
	}
	return "not as predicted: " + words + " (predicted: " + expected + ")"
}

// itemNames names a few nodes. If whole is set, it adds the pod that was deleted on each.
func itemNames(items []daemonset.Item, whole bool) string {
	var names []string
	for _, i := range items {
		if whole {
			i.Node = wording.Joined(" on ", i.Pod, i.Node)
		}
		names = append(names, i.Node)
	}
	return wording.SomeNames(names)
}

// stepCounts describes a step in a few words.
func stepCounts(n *daemonset.Step, h *daemonset.Header) string {
	count := func(verb string, b daemonset.Batch) string {
		switch n := b.Len(); {
		case b.Candidates() > n:
			return verb + " any " + strconv.Itoa(n) + " of " + strconv.Itoa(b.Candidates())
		case n == 0:
			return ""
		default:
			return verb + " " + strconv.Itoa(n)
		}
	}
	return cmp.Or(wording.Joined(", ", count("delete", n.Deletes), count("create", n.Creates)), sheet.Idle(n.Reason, h))
}
