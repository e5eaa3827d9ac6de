package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// Explanations writes a row per DaemonSet in the order given, worst first.
func Explanations(w io.Writer, l *explain.List, asked Asked, style Style) error {
	list := &answers{List: l, style: style, count: map[explain.VerdictCode]int{}}
	for _, e := range l.Items {
		list.add(newAnswer(e, asked, style))
	}
	return list.screen().Text(w, style.terminal())
}

// answers makes one screen of several Explanations.
type answers struct {
	*explain.List
	style   Style
	rows    []screen.Row
	count   map[explain.VerdictCode]int
	healthy int     // without a warning
	first   *answer // the worst
	s       screen.Screen
}

func (l *answers) add(a *answer) {
	code := a.e.Verdict.Code
	l.count[code]++
	if l.first == nil && (code == explain.Stuck || code == explain.Degraded) {
		l.first = a
	}
	if code == explain.Healthy && len(a.e.Matters()) == 0 {
		if l.healthy++; !l.style.All && !l.style.Wide {
			return
		}
	}
	a.headline()
	lasts := "-"
	if since := a.e.Since(); since != nil {
		lasts = ago(a.now.Sub(*since))
	}
	c := cmp.Or(a.e.Status.Computed, a.e.Status.Reported)
	cells := []string{"?", "-", lasts, a.because()}
	switch {
	case l.style.Wide:
		cells = slices.Concat(numbers(c), []string{strategy(a.h)}, cells[2:])
	case c != nil:
		cells[0] = fmt.Sprintf("%d of %d", c.Available, c.Desired)
		if a.e.Rollout.UnderWay {
			cells[1] = fmt.Sprintf("%d of %d", c.Updated, c.Desired)
		}
	}
	verdict := screen.Cell{Lines: []string{a.s.Headline.Verdict}, Tone: a.s.Headline.Tone}
	l.rows = append(l.rows, screen.Row{Cells: append([]screen.Cell{verdict}, screen.Cells(append([]string{a.subject()}, cells...)...)...)})
}

// because is the cause in few words.
func (a *answer) because() string {
	switch a.e.Verdict.Code {
	case explain.AwaitingDelete:
		return fmt.Sprintf("%s: %s", strategy(a.h), plural(a.count("oldNodes"), "old pod"))
	case explain.Unknown, explain.NotObserved, explain.BeingDeleted:
		return a.summary()
	}
	return cmp.Or(a.why(1), a.left(), "-")
}

// states say how many DaemonSets are how.
var states = []string{
	"[{wrong:has a problem|have a problem}]", "[{unknown:is unknown|are unknown}]", "[{progresses:progresses|progress}]", "[{waits:waits for you|wait for you}]",
	"[{deleted:is being deleted|are being deleted}]", "[{warned:has a warning|have a warning}]", "[{healthy:is healthy|are healthy}]",
}

func (l *answers) screen() *screen.Screen {
	parts, f := make([]string, len(states)), daemonset.Facts{
		"wrong": l.count[explain.Stuck] + l.count[explain.Degraded], "unknown": l.count[explain.Unknown], "progresses": l.count[explain.NotObserved] + l.count[explain.Progressing],
		"waits": l.count[explain.AwaitingDelete], "deleted": l.count[explain.BeingDeleted], "warned": l.count[explain.Healthy] - l.healthy, "healthy": l.healthy,
	}
	for i, s := range states {
		parts[i] = fill(time.Time{}, f, s)
	}
	l.s.Headline = screen.Headline{Subject: plural(len(l.Items), "DaemonSet"), Text: joined(", ", parts...)}
	t := &screen.Table{Flush: true, Rows: l.rows}
	if l.style.Wide {
		t.Columns = columns(slices.Concat([]string{"VERDICT", "DAEMONSET"}, statusHeads, []string{"STRATEGY", "FOR", "CAUSE"})...)
	} else {
		t.Columns = append(columns("VERDICT", "DAEMONSET"), screen.Column{Head: "AVAILABLE", Right: true}, screen.Column{Head: "UPDATED", Right: true, Drop: 2},
			screen.Column{Head: "FOR", Drop: 1}, screen.Column{Head: "CAUSE", Wrap: true, Least: 18})
	}
	if l.healthy > 0 && !l.style.All && !l.style.Wide {
		more := screen.Cells("HEALTHY", fmt.Sprintf("%d without warnings", l.healthy), "", "", "", "--all lists them")
		more[0].Tone = screen.Good
		t.Rows = append(t.Rows, screen.Row{Cells: more})
	}
	l.s.Add(screen.Body, t)
	l.shared()
	for _, of := range verdictNotes {
		if l.count[of.code] > 0 {
			l.s.Add(screen.Note, screen.Text(of.words))
		}
	}
	if l.count[explain.Healthy] > l.healthy {
		l.s.Add(screen.Note, screen.Text("WARNING: every pod that counts is available, but something else is wrong"))
	}
	if l.first != nil {
		l.s.Add(screen.Check, l.first.again("explain"))
	}
	return &l.s
}

// verdictNotes say what the verdicts of a list mean.
var verdictNotes = []struct {
	code  explain.VerdictCode
	words string
}{
	{explain.Stuck, "STUCK: a rollout cannot continue"}, {explain.Degraded, "DEGRADED: no rollout, but some nodes have no available pod"},
	{explain.AwaitingDelete, "WAITS FOR YOU: with OnDelete, a person deletes the old pods"},
}

// shared names the nodes that several DaemonSets have trouble with, above their
// table.
func (l *answers) shared() {
	var nodes []string
	for i, n := range l.Shared() {
		if i == 0 && l.first != nil {
			l.s.Add(screen.DoNow, screen.Text(fmt.Sprintf("find out what is wrong with %s first (Check): it affects %d DaemonSets", n.Node, n.DaemonSets)))
			l.s.Add(screen.Check, l.first.kubectl("kubectl describe node", screen.Quote(n.Node)))
		}
		nodes = append(nodes, fmt.Sprintf("%s (%d DaemonSets)", n.Node, n.DaemonSets))
	}
	if len(nodes) > 0 {
		l.s.Add(screen.Impact, screen.Names{Before: "nodes that affect several DaemonSets:", Names: nodes})
	}
}

// DaemonSetsOfNodes writes which DaemonSets should and do run on the nodes
// that the Explanations were narrowed to. A DaemonSet that does not know a node
// has no row for it.
func DaemonSetsOfNodes(w io.Writer, l *explain.List, nodes []string, asked Asked, style Style) error {
	t := &screen.Table{Flush: true, Columns: append(columns("NODE", "DAEMONSET", "ELIGIBLE", "POD"), screen.Column{Head: "WHY", Wrap: true})}
	var s screen.Screen
	var known []string
	of, without := map[string]bool{}, 0
	for _, on := range l.ByNode() {
		n, subject := on.Node, newSheet(on.Header, asked, style).subject()
		known, of[subject] = append(known, n.Name), true
		eligible, runs, why := "?", map[bool]string{true: "none", false: "not available"}[len(n.Pods) == 0], "the nodes could not be read"
		if n.ShouldRun != nil {
			eligible, why = yesNo(n.ShouldRun.OK), placement(n.ShouldRun.Reason, n.ShouldRun.Facts)
		}
		if n.Serves() {
			runs = "available"
		}
		if n.Lacks() {
			without++
		}
		t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(n.Name, subject, eligible, runs, joined("; ", why, string(n.ProblemCode())))})
	}
	if e := l.Wrong(); e != nil {
		s.Add(screen.Check, newSheet(&e.Header, asked, style).again("explain"))
	}
	s.Headline = screen.Headline{Subject: plural(len(slices.Compact(known)), "node"), Text: fmt.Sprintf("%s; %s", plural(len(of), "DaemonSet"), pluralVerb(without, "has no available pod there", "have no available pod there"))}
	s.Add(screen.Body, t)
	screens := unknownNodes(nodes, known)
	if len(t.Rows) > 0 {
		screens = append([]*screen.Screen{&s}, screens...)
	}
	return write(w, screens, style)
}
