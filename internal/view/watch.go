package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// clockTime is how a line of what happened begins.
const clockTime = "15:04:05"

// WatchBegins says in a line what is about to happen.
func WatchBegins(p *plan.Progress, style Style) string {
	return fmt.Sprintf("%s following %s: %s; next: %s", p.Header.Snapshot.TakenAt.Format(clockTime), clean(newSheet(&p.Header, Asked{}, style).subject()), standing(p), stepCounts(&p.Next, &p.Header))
}

// WatchLine says in a line what happened, and how the rollout stands; p is nil
// where further lines of the same moment follow, whose last one says it.
func WatchLine(h plan.Happening, p *plan.Progress, style Style) string {
	line := h.At.Format(clockTime) + " " + happening(h)
	if p != nil {
		line += "; " + standing(p)
	}
	return clean(line)
}

// WatchScreen writes how a rollout stands and what happened last, oldest first,
// in as many lines as there is room for; 0 is for any number.
func WatchScreen(w io.Writer, p *plan.Progress, last []string, style Style, room int) error {
	s := newSheet(&p.Header, Asked{}, style)
	verdict, tone := watchVerdict(p)
	s.s.Headline = screen.Headline{Verdict: verdict, Tone: tone, Subject: s.subject(), Text: standing(p)}
	s.s.Add(screen.Rollout, screen.Lines{
		{Text: bar("updated  ", p.Counts.Updated, p.Counts.Desired, style.Width)},
		{Text: bar("available", p.Counts.Available, p.Counts.Desired, style.Width)},
	})
	if p.Next.Kind == daemonset.StepNone {
		problems := (&plan.Outcome{Holders: p.Holding}).Problems()
		s.s.Add(screen.Body, s.problemTable("WAITS FOR", problems))
		s.add(screen.Outlook, "%s", idle(p.Next.Reason, &p.Header))
		s.checks(problems)
	}
	s.sync(&p.Next, "next")
	if Overdue(p) {
		s.add(screen.Note, "%s", owedWords(p))
	}
	if p.End == "" { // else the line that follows says so
		s.add(screen.Note, "%s", batchWords(p))
	}
	var lines screen.Lines
	for _, l := range last {
		lines = append(lines, screen.Line{Text: l})
	}
	s.s.Add(screen.Last, lines)
	t := style.terminal()
	t.Height = room
	return s.s.Text(w, t)
}

// watchEnds are the ends of a rollout that is followed.
var watchEnds = map[plan.End]struct {
	verdict string
	tone    screen.Tone
	words   []string
}{
	plan.EndDone:       {"DONE", screen.Good, []string{"{batches=0}no rollout in progress: {far}", "done: {far}"}},
	plan.EndDegraded:   {"DEGRADED", screen.Bad, []string{"done, but degraded: {far}, without an available pod: {by}"}},
	plan.EndStuck:      {"STUCK", screen.Bad, []string{"stuck: {far}, {by}"}},
	plan.EndNotRolling: {"NOT ROLLING", screen.Warn, []string{"no rollout: {idle}, {far}"}},
	plan.EndGone:       {"GONE", screen.Bad, []string{"the DaemonSet was deleted: {far}"}},
}

func watchVerdict(p *plan.Progress) (string, screen.Tone) {
	if end, ended := watchEnds[p.End]; ended {
		return end.verdict, end.tone
	}
	switch p.Outcome.Code {
	case plan.Stalls:
		return "STALLING", screen.Bad
	case plan.RemovesAllPods:
		return "REMOVING ALL PODS", screen.Bad
	}
	return "PROGRESSING", screen.Warn
}

// bar draws a part of a whole.
func bar(title string, part, of, width int) string {
	length := 50
	if width > 0 {
		length = min(length, width-len(title)-len("          "+"  [] 99999 of 99999"))
	}
	if length < 5 || of == 0 {
		return fmt.Sprintf("%s  %d of %d", title, part, of)
	}
	filled := max(0, min(length, length*part/of))
	return fmt.Sprintf("%s  [%s%s] %d of %d", title, strings.Repeat("#", filled), strings.Repeat("-", length-filled), part, of)
}

// WatchEnds says in a line how it ended. why is empty for an end of the
// rollout, else what ended the watch.
func WatchEnds(p *plan.Progress, why string, style Style) string {
	words := endWords(p)
	if why != "" {
		words = why + " with " + standing(p)
	}
	return clean(fmt.Sprintf("%s %s; %s", p.Header.Snapshot.TakenAt.Format(clockTime), words, batchWords(p)))
}

// overdue is after how long it is told that what is predicted does not come.
const overdue = 30 * time.Second

// Overdue tells whether the controller has not done for long what is predicted.
func Overdue(p *plan.Progress) bool { return p.Owed >= overdue }

// WatchOwed says what it has not done.
func WatchOwed(p *plan.Progress, style Style) string {
	return fmt.Sprintf("predicted: %s; %s", stepCounts(&p.Next, &p.Header), owedWords(p))
}

func owedWords(p *plan.Progress) string {
	words := "the controller has not done it for " + duration.HumanDuration(p.Owed)
	if len(p.Next.Waits) > 0 {
		return words + ", and may be waiting"
	}
	return words
}

// far says how far a rollout is.
func far(p *plan.Progress) string {
	return fmt.Sprintf("%d of %d updated, %d available", p.Counts.Updated, p.Counts.Desired, p.Counts.Available)
}

// standing says how far a rollout is, and what is left of it.
func standing(p *plan.Progress) string {
	o, words := &p.Outcome, far(p)
	switch {
	case o.Code == plan.Stalls && o.Steps == 0:
		return words + ", stalled: " + stalledBy(o)
	case o.Code == plan.Stalls:
		return words + fmt.Sprintf(", stalls after %s more%s: %s", plural(o.Replaced+o.Dropped, "pod"), map[bool]string{true: " at worst"}[o.AtWorst], stalledBy(o))
	case o.Code == plan.RemovesAllPods:
		return words + ", no node is eligible, and all pods are removed"
	case o.Code == plan.Completes && len(o.Late) > 0:
		return words + ", time left unknown: waiting for " + someNames(plan.Nodes(o.Late)) + inBrackets(newSheet(&p.Header, Asked{}, Style{}).codesFor(o.Late))
	case o.Code == plan.Completes && o.Duration != nil:
		return words + ", about " + durationWords(o.Duration) + " left"
	case o.Code == plan.Completes && o.Steps > 0:
		return words + ", " + plural(o.Steps, "step") + " left"
	}
	return words
}

// WatchWaits says in a line for whom the rollout waits longer than other pods
// took to become ready.
func WatchWaits(p *plan.Progress, style Style) string {
	return clean(p.Header.Snapshot.TakenAt.Format(clockTime) + " " + standing(p))
}

// LatePods names the pods that a rollout waits for longer than others took; it
// is empty where there are none.
func LatePods(p *plan.Progress) string { return strings.Join(plan.Nodes(p.Outcome.Late), ", ") }

// stalledBy says who keeps a rollout from going on.
func stalledBy(o *plan.Outcome) string {
	const by = "[ ({codes})][{spent=yes} {all?uses|use} up the limit]"
	f := daemonset.Facts{"on": someNames(plan.Nodes(o.Holders)), "codes": codes(o.Holders), "all": o.Unserved()}
	if o.FurtherHolders > 0 {
		f["further"] = o.FurtherHolders
	}
	if o.Reason == daemonset.StepBudgetSpent {
		f["spent"] = "yes"
	}
	return cmp.Or(fill(time.Time{}, f, "{on}[ and {further} more]"+by, "{further:node}"+by), stallReason(o.Reason))
}

func endWords(p *plan.Progress) string {
	f := daemonset.Facts{"far": far(p), "by": stalledBy(&p.Outcome), "idle": idle(p.Outcome.Reason, &p.Header), "batches": p.Batches}
	return cmp.Or(fill(time.Time{}, f, watchEnds[p.End].words...), far(p))
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
		return fmt.Sprintf("pod %s was taken away (%s)", podsOf(h.Deletes), h.By)
	case plan.Unjudged:
		return fmt.Sprintf("created a pod on %s, which cannot be predicted without nodes", nodesOf(h.Creates))
	}
	var came, predicted []string
	add := func(verb string, items []daemonset.Item, names string, expected int) {
		switch n := len(items); {
		case n == 0:
		case h.Kind == plan.Otherwise:
			came = append(came, fmt.Sprintf("%s %sd: %s", plural(n, "pod"), verb, names))
		default:
			came = append(came, fmt.Sprintf("%sd %d of %d predicted (%s)", verb, n, n, nodesOf(items)))
		}
		if expected > 0 {
			predicted = append(predicted, plural(expected, verb))
		}
	}
	add("delete", h.Deletes, podsOf(h.Deletes), h.Expected.Deletes)
	add("create", h.Creates, nodesOf(h.Creates), h.Expected.Creates)
	words, expected := strings.Join(came, ", "), cmp.Or(strings.Join(predicted, ", "), "nothing")
	switch {
	case h.Kind != plan.Otherwise:
		return words
	case len(predicted) == 0 && len(h.Deletes) > 0 && len(h.Creates) == 0:
		expected += "; somebody else may have done it"
	}
	return "not as predicted: " + words + " (predicted: " + expected + ")"
}

func nodesOf(items []daemonset.Item) string {
	return someOf(items, func(i daemonset.Item) string { return i.Node })
}

func podsOf(items []daemonset.Item) string {
	return someOf(items, func(i daemonset.Item) string { return i.Pod + " on " + i.Node })
}

func someOf(items []daemonset.Item, name func(daemonset.Item) string) string {
	var out []string
	for _, i := range items {
		out = append(out, name(i))
	}
	return someNames(out)
}

// stepCounts says in a few words what a step does.
func stepCounts(n *daemonset.Step, h *daemonset.Header) string {
	var parts []string
	count := func(verb string, b daemonset.Batch) {
		from := b.Len()
		for _, c := range b.Choices {
			from += len(c.From) - c.Count
		}
		if from > b.Len() {
			parts = append(parts, fmt.Sprintf("%s any %d of %d", verb, b.Len(), from))
		} else if from > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", verb, from))
		}
	}
	count("delete", n.Deletes)
	count("create", n.Creates)
	return cmp.Or(strings.Join(parts, ", "), idle(n.Reason, h))
}

// durationWords is "27 min (19 to 44 min)".
func durationWords(d *plan.Duration) string {
	if words := rangeWords(d); words != seconds(d.Optimistic) {
		return seconds(d.Expected) + " (" + words + ")"
	}
	return seconds(d.Expected)
}
