package view

import (
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
	s := &lineScreen{Style: style, now: p.Header.Snapshot.TakenAt}
	return fmt.Sprintf("%s following %s: %s; next: %s", p.Header.Snapshot.TakenAt.Format(clockTime), ofDaemonSet(p), s.standing(p), s.stepWords(&p.Next, &p.Header))
}

// WatchLine says in a line what happened, and how the rollout stands; p is nil
// where further lines of the same moment follow, whose last one says it.
func WatchLine(h plan.Happening, p *plan.Progress, style Style) string {
	s := &lineScreen{Style: style}
	line := h.At.Format(clockTime) + " " + s.happening(h)
	if p != nil {
		s.now = p.Header.Snapshot.TakenAt
		line += "; " + s.standing(p)
	}
	return line
}

// WatchScreen writes how a rollout stands and what happened last, oldest first,
// in as many lines as there is room for; 0 is for any number.
func WatchScreen(w io.Writer, p *plan.Progress, last []string, style Style, room int) error {
	draw := func(last []string) ([]string, error) {
		var b strings.Builder
		err := watched(p, last, style).Text(&b, style.terminal())
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		for i := range lines { // a word that is wider than the terminal would take two of its lines
			lines[i] = Style{Width: style.Width}.cut(lines[i])
		}
		return lines, err
	}
	lines, err := draw(last)
	for room > 0 && len(lines) > room && len(last) > 0 && err == nil {
		last = last[min(len(last), len(lines)-room):]
		lines, err = draw(last)
	}
	if err != nil {
		return err
	}
	if room > 0 {
		lines = lines[:min(room, len(lines))]
	}
	_, err = io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// watched makes the screen of a rollout that is followed.
func watched(p *plan.Progress, last []string, style Style) *screen.Screen {
	s := &screen.Screen{}
	words := &lineScreen{Style: Style{All: style.All}, now: p.Header.Snapshot.TakenAt}
	verdict, tone := watchVerdict(p)
	s.Headline = screen.Headline{Verdict: verdict, Tone: tone, Subject: ofDaemonSet(p), Text: words.standing(p)}
	s.Add(screen.Rollout, screen.Lines{
		{Text: bar("updated  ", p.Counts.Updated, p.Counts.Desired, style.Width)},
		{Text: bar("available", p.Counts.Available, p.Counts.Desired, style.Width)},
	})
	if p.Next.Kind == daemonset.StepNone {
		s.Add(screen.Body, holderTable(p.Holding, words.now, style.All))
		waits := idle(p.Next.Reason, &p.Header)
		if soon := soonAvailable(words.now, p.Holding); p.Next.Reason == daemonset.StepBudgetSpent && soon != "" {
			waits += "; " + soon
		}
		s.Add(screen.Outlook, screen.Text("the controller waits: "+waits))
	}
	s.Add(screen.Outlook, syncBlocks(&p.Next, "next", style.All)...)
	if Overdue(p) {
		s.Add(screen.Note, screen.Text(owedWords(p)))
	}
	if p.End == "" { // else the line that follows says so
		s.Add(screen.Note, screen.Text(batchWords(p)))
	}
	var lines screen.Lines
	for _, l := range last {
		lines = append(lines, screen.Line{Text: l})
	}
	s.Add(screen.Last, lines)
	return s
}

// soonAvailable says when the first of the pods that use up the limit becomes
// available, of which it is known; empty where it is of none.
func soonAvailable(now time.Time, holders []plan.Holder) string {
	var first time.Time
	for _, h := range holders {
		if h.Cause == nil {
			continue
		}
		if at, err := time.Parse(time.RFC3339, fact(h.Facts, "availableAt")); err == nil && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() {
		return ""
	}
	return "the first of them becomes available in " + ago(first.Sub(now))
}

func watchVerdict(p *plan.Progress) (string, screen.Tone) {
	switch p.End {
	case plan.EndDone:
		return "DONE", screen.Good
	case "":
		switch p.Outcome.Code {
		case plan.Stalls:
			return "STALLING", screen.Bad
		case plan.RemovesAllPods:
			return "REMOVING ALL PODS", screen.Bad
		}
		return "PROGRESSING", screen.Warn
	case plan.EndStuck, plan.EndDegraded, plan.EndGone:
		return strings.ToUpper(string(p.End)), screen.Bad
	}
	return strings.ToUpper(spaced(string(p.End))), screen.Warn
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
	s := &lineScreen{Style: style}
	s.now = p.Header.Snapshot.TakenAt
	words := s.endWords(p)
	if why != "" {
		words = why + " with " + s.standing(p)
	}
	return fmt.Sprintf("%s %s; %s", p.Header.Snapshot.TakenAt.Format(clockTime), words, batchWords(p))
}

// overdue is after how long it is told that what is predicted does not come.
const overdue = 30 * time.Second

// Overdue tells whether the controller has not done for long what is predicted.
func Overdue(p *plan.Progress) bool { return p.Owed >= overdue }

// WatchOwed says what it has not done.
func WatchOwed(p *plan.Progress, style Style) string {
	s := &lineScreen{Style: style}
	return fmt.Sprintf("predicted: %s; %s", s.stepWords(&p.Next, &p.Header), owedWords(p))
}

func owedWords(p *plan.Progress) string {
	words := fmt.Sprintf("the controller has not done it for %s", duration.HumanDuration(p.Owed))
	if len(p.Next.Waits) > 0 {
		return words + ", and may be waiting"
	}
	return words
}

func ofDaemonSet(p *plan.Progress) string {
	return clean(p.Header.DaemonSet.Namespace) + "/" + clean(p.Header.DaemonSet.Name)
}

// standing says how far a rollout is, and what is left of it.
func (s *lineScreen) standing(p *plan.Progress) string {
	c := p.Counts
	words := fmt.Sprintf("%d of %d updated, %d available", c.Updated, c.Desired, c.Available)
	switch o := &p.Outcome; {
	case o.Code == plan.Stalls && o.Steps == 0:
		words += ", stalled: " + s.holding(o)
	case o.Code == plan.Stalls:
		words += fmt.Sprintf(", stalls after %s more%s: %s", plural(o.Replaced+o.Dropped, "pod"), map[bool]string{true: " at worst"}[o.AtWorst], s.holding(o))
	case o.Code == plan.RemovesAllPods:
		words += ", no node is eligible, and all pods are removed"
	case o.Code == plan.Completes && len(o.Late) > 0:
		words += ", time left unknown: waiting for " + someNames(holderNodes(o.Late)) + inBrackets(lastingAll(s.now, o.Late))
	case o.Code == plan.Completes && o.Duration != nil:
		words += ", about " + durationWords(o.Duration) + " left"
	case o.Code == plan.Completes && o.Steps > 0:
		words += ", " + plural(o.Steps, "step") + " left"
	}
	return words
}

// WatchWaits says in a line for whom the rollout waits longer than other pods
// took to become ready.
func WatchWaits(p *plan.Progress, style Style) string {
	s := &lineScreen{Style: style, now: p.Header.Snapshot.TakenAt}
	return s.now.Format(clockTime) + " " + s.standing(p)
}

// LatePods names the pods that a rollout waits for longer than others took; it
// is empty where there are none.
func LatePods(p *plan.Progress) string { return strings.Join(holderNodes(p.Outcome.Late), ", ") }

// holding says who keeps a rollout from going on.
func (s *lineScreen) holding(o *plan.Outcome) string {
	var nodes []string
	for _, h := range o.Holders {
		nodes = append(nodes, h.Node)
	}
	words := s.names(nodes)
	switch n := o.FurtherHolders; {
	case n > 0 && len(nodes) > 0:
		words += fmt.Sprintf(" and %d more", n)
	case n > 0:
		words = plural(n, "node")
	}
	if codes := holderCodes(o.Holders); codes != "" {
		words += " (" + codes + ")"
	}
	switch {
	case words == "":
		return strings.ToLower(spaced(string(o.Reason)))
	case o.Reason == daemonset.StepBudgetSpent && len(nodes)+o.FurtherHolders == 1:
		return words + " holds the budget"
	case o.Reason == daemonset.StepBudgetSpent:
		return words + " hold the budget"
	}
	return words
}

func (s *lineScreen) endWords(p *plan.Progress) string {
	c := p.Counts
	far := fmt.Sprintf("%d of %d updated, %d available", c.Updated, c.Desired, c.Available)
	switch p.End {
	case plan.EndDone:
		if p.Batches == 0 {
			return "nothing is rolling: " + far
		}
		return s.good("done") + ": " + far
	case plan.EndDegraded:
		return s.bad("done, but degraded") + ": " + far + ", without an available pod: " + s.holding(&p.Outcome)
	case plan.EndStuck:
		return s.bad("stuck") + ": " + far + ", " + s.holding(&p.Outcome)
	case plan.EndNotRolling:
		return "not rolling: " + idle(p.Outcome.Reason, &p.Header) + ", " + far
	case plan.EndGone:
		return s.bad("the DaemonSet was deleted") + ": " + far
	}
	return far
}

// batchWords says how many batches came, and how many as predicted.
func batchWords(p *plan.Progress) string {
	switch {
	case p.Batches == 0:
		return "no batch came"
	case p.Batches == 1 && p.AsPredicted == 1:
		return "1 batch, as predicted"
	case p.Batches == p.AsPredicted:
		return plural(p.Batches, "batch") + ", all as predicted"
	}
	return fmt.Sprintf("%s, %d of them as predicted", plural(p.Batches, "batch"), p.AsPredicted)
}

// happening says what happened.
func (s *lineScreen) happening(h plan.Happening) string {
	switch h.Kind {
	case plan.Changed:
		return fmt.Sprintf("the DaemonSet was changed, to generation %d", h.Generation)
	case plan.Evicted:
		return fmt.Sprintf("pod %s was taken away (%s)", s.pods(h.Deletes), clean(h.By))
	case plan.Unjudged:
		return fmt.Sprintf("created a pod on %s, which cannot be predicted without nodes", s.nodes(h.Creates))
	case plan.Otherwise:
		return s.otherwise(h)
	}
	var parts []string
	if n := len(h.Deletes); n > 0 {
		parts = append(parts, fmt.Sprintf("deleted %d of %d predicted (%s)", n, n, s.nodes(h.Deletes)))
	}
	if n := len(h.Creates); n > 0 {
		parts = append(parts, fmt.Sprintf("created %d of %d predicted (%s)", n, n, s.nodes(h.Creates)))
	}
	return strings.Join(parts, ", ")
}

// otherwise says what came, what was predicted, and who may have been at work.
func (s *lineScreen) otherwise(h plan.Happening) string {
	var came, predicted []string
	if len(h.Deletes) > 0 {
		came = append(came, fmt.Sprintf("%s deleted: %s", plural(len(h.Deletes), "pod"), s.pods(h.Deletes)))
	}
	if len(h.Creates) > 0 {
		came = append(came, fmt.Sprintf("%s created: %s", plural(len(h.Creates), "pod"), s.nodes(h.Creates)))
	}
	if n := h.Expected.Deletes; n > 0 {
		predicted = append(predicted, plural(n, "delete"))
	}
	if n := h.Expected.Creates; n > 0 {
		predicted = append(predicted, plural(n, "create"))
	}
	words := "not as predicted: " + strings.Join(came, ", ")
	switch {
	case len(predicted) > 0:
		return words + " (predicted: " + strings.Join(predicted, ", ") + ")"
	case len(h.Deletes) > 0 && len(h.Creates) == 0:
		return words + " (predicted: nothing; somebody else may have done it)"
	}
	return words + " (predicted: nothing)"
}

func (s *lineScreen) nodes(items []daemonset.Item) string {
	var out []string
	for _, i := range items {
		out = append(out, i.Node)
	}
	return s.names(out)
}

func (s *lineScreen) pods(items []daemonset.Item) string {
	var out []string
	for _, i := range items {
		out = append(out, i.Pod+" on "+i.Node)
	}
	return s.names(out)
}

// stepWords says in a few words what a step does.
func (s *lineScreen) stepWords(n *daemonset.Step, h *daemonset.Header) string {
	var parts []string
	count := func(verb string, b daemonset.Batch) {
		from := b.Len()
		for _, c := range b.Choices {
			from += len(c.From) - c.Count
		}
		switch {
		case b.Len() == 0:
		case from > b.Len():
			parts = append(parts, fmt.Sprintf("%s any %d of %d", verb, b.Len(), from))
		default:
			parts = append(parts, fmt.Sprintf("%s %d", verb, from))
		}
	}
	count("delete", n.Deletes)
	count("create", n.Creates)
	if len(parts) == 0 {
		return "nothing, as " + idle(n.Reason, h)
	}
	return strings.Join(parts, ", ")
}

// durationWords is "27 min (19 to 44 min)".
func durationWords(d *plan.Duration) string {
	if low := seconds(d.Optimistic); low == seconds(d.Pessimistic) {
		return seconds(d.Expected)
	}
	return seconds(d.Expected) + " (" + rangeWords(d) + ")"
}
