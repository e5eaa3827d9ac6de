package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/diagnosis"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// Explanations writes a row for each DaemonSet in the given order, which is worst first.
func Explanations(w io.Writer, l *explain.List, asked sheet.Asked, style wording.Style) error {
	return sheet.WriteOne(w, explanationListScreen(l, asked, style), style)
}

func explanationListScreen(l *explain.List, asked sheet.Asked, style wording.Style) *screen.Screen {
	list := &listScreen{List: l, style: style, count: map[explain.VerdictCode]int{}, said: sets.New[string]()}
	for _, e := range l.Items {
		list.add(diagnosis.New(e, asked, style))
	}
	return list.screen()
}

// listScreen builds one screen of several Explanations.
type listScreen struct {
	*explain.List
	style   wording.Style
	t       screen.Table
	count   map[explain.VerdictCode]int
	said    sets.Set[string]  // the verdicts of the rows
	healthy int               // number of DaemonSets that are healthy and have no warning
	first   *diagnosis.Answer // the worst DaemonSet
	s       screen.Screen
}

func (l *listScreen) add(a *diagnosis.Answer) {
	code := a.E.Verdict.Code
	l.count[code]++
	if l.first == nil && (code == explain.Stuck || code == explain.Degraded) {
		l.first = a
	}
	if code == explain.Healthy && len(a.E.Matters()) == 0 {
		if l.healthy++; !l.style.All && !l.style.Wide {
			return
		}
	}
	a.Headline()
	lasts := "-"
	if since := a.E.Since(); since != nil {
		lasts = wording.Ago(a.Now.Sub(*since))
	}
	c := cmp.Or(a.E.Status.Computed, a.E.Status.Reported)
	cells := []string{"?", "-", lasts, a.Because()}
	switch {
	case l.style.Wide:
		cells = slices.Concat(diagnosis.Numbers(c), []string{sheet.Strategy(a.Header)}, cells[2:])
	case c != nil:
		cells[0] = fmt.Sprintf("%d of %d", c.Available, c.Desired)
		if a.E.Rollout.UnderWay {
			cells[1] = fmt.Sprintf("%d of %d", c.Updated, c.Desired)
		}
	}
	l.said.Insert(a.Screen.Headline.Verdict)
	l.t.Row(append([]string{a.Screen.Headline.Verdict, a.Subject()},
		cells...)...).Cells[0].Tone = a.Screen.Headline.Tone
}

func (l *listScreen) screen() *screen.Screen {
	n := l.count
	states := wording.Joined(", ",
		wording.Counted(n[explain.Stuck]+n[explain.Degraded], "has a problem", "have a problem"),
		wording.Counted(n[explain.Unknown], "is unknown", "are unknown"),
		wording.Counted(n[explain.NotObserved]+n[explain.Progressing], "progresses", "progress"),
		wording.Counted(n[explain.AwaitingDelete], "waits for you", "wait for you"),
		wording.Counted(n[explain.BeingDeleted], "is being deleted", "are being deleted"),
		wording.Counted(n[explain.Healthy]-l.healthy, "has a warning", "have a warning"),
		wording.Counted(l.healthy, "is healthy", "are healthy"))
	l.s.Headline = screen.Headline{Counts: true, Subject: wording.Plural(len(l.Items), "DaemonSet"), Text: states}
	if l.t.Flush = true; l.style.Wide {
		l.t.Columns = sheet.Columns(slices.Concat([]string{"VERDICT", "DAEMONSET"}, diagnosis.StatusHeads,
			[]string{"STRATEGY", "FOR", "CAUSE"})...)
	} else {
		l.t.Columns = append(sheet.Columns("VERDICT", "DAEMONSET"), screen.Column{Head: "AVAILABLE", Right: true},
			screen.Column{Head: "UPDATED", Right: true, Drop: 2},
			screen.Column{Head: "FOR", Drop: 1}, screen.Column{Head: "CAUSE", Wrap: true, Least: 18})
	}
	if l.healthy > 0 && !l.style.All && !l.style.Wide {
		l.t.Row("HEALTHY", fmt.Sprintf("%d without warnings", l.healthy), "", "", "",
			"--all lists them").Cells[0].Tone = screen.Good
	}
	l.s.Add(screen.Body, &l.t)
	l.shared()
	for _, of := range verdictNotes {
		if l.said.Has(of.verdict) {
			l.s.Add(screen.Note, screen.Text(of.verdict+": "+of.words))
		}
	}
	if l.count[explain.Healthy] > l.healthy {
		l.s.Add(screen.Note, screen.Text("WARNING: every pod that counts is available, but something else is wrong"))
	}
	if l.first != nil {
		label := screen.DoNow
		if l.s.Has(screen.DoNow) {
			label = screen.Then
		}
		sheet.Look(&l.s, label, "see what is wrong with "+l.first.Subject(), l.first.Again("explain"))
	}
	return &l.s
}

// verdictNotes explains the verdicts of a list.
var verdictNotes = []struct{ verdict, words string }{
	{"DOWN", "no node has an available pod"},
	{diagnosis.Verdicts[explain.Stuck].Words, "a rollout cannot continue"},
	{diagnosis.Verdicts[explain.Degraded].Words, "no rollout, but some nodes have no available pod"},
	{diagnosis.Verdicts[explain.AwaitingDelete].Words, "with OnDelete, a person deletes the old pods"},
}

// shared names the nodes that cause problems in several DaemonSets, above their table.
func (l *listScreen) shared() {
	var nodes []string
	for i, n := range l.Shared() {
		if i == 0 && l.first != nil {
			words := fmt.Sprintf("find out what is wrong with %s, which affects %d DaemonSets", n.Node, n.DaemonSets)
			sheet.Look(&l.s, screen.DoNow, words, l.first.Kubectl("kubectl describe node", screen.Quote(n.Node)))
		}
		nodes = append(nodes, fmt.Sprintf("%s (%d DaemonSets)", n.Node, n.DaemonSets))
	}
	if len(nodes) > 0 {
		l.s.Add(screen.Impact, screen.Names{Before: "nodes that affect several DaemonSets:", Names: nodes})
	}
}

// DaemonSetsOfNodes writes which DaemonSets should run and do run on the given nodes. The Explanations contain only
// these nodes. A DaemonSet that does not know a node has no row for it.
func DaemonSetsOfNodes(w io.Writer, l *explain.List, nodes []string, asked sheet.Asked, style wording.Style) error {
	t := &screen.Table{Flush: true, Columns: append(sheet.Columns("NODE", "DAEMONSET", "ELIGIBLE", "POD"),
		screen.Column{Head: "WHY", Wrap: true})}
	var s screen.Screen
	var known []string
	of, without := map[string]bool{}, 0
	for _, on := range l.ByNode() {
		n, subject := on.Node, sheet.New(on.Header, asked, style).Subject()
		known, of[subject] = append(known, n.Name), true
		eligible, runs, why := "?", map[bool]string{true: "none", false: "not available"}[len(n.Pods) == 0],
			"the nodes could not be read"
		if n.ShouldRun != nil {
			eligible, why = wording.YesNo(n.ShouldRun.OK), wording.Placement(n.ShouldRun.Reason, n.ShouldRun.Facts)
		}
		if n.Serves() {
			runs = "available"
		}
		if n.Lacks() {
			without++
		}
		t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(n.Name, subject, eligible, runs,
			wording.Joined("; ", why, string(n.ProblemCode())))})
	}
	if e := l.Wrong(); e != nil {
		of := sheet.New(&e.Header, asked, style)
		sheet.Look(&s, screen.DoNow, "see what is wrong with "+of.Subject(), of.Again("explain"))
	}
	s.Headline = screen.Headline{Counts: true, Subject: wording.Plural(len(slices.Compact(known)), "node"),
		Text: fmt.Sprintf("%s; %s", wording.Plural(len(of), "DaemonSet"),
			wording.PluralVerb(without, "has no available pod there",
				"have no available pod there"))}
	s.Add(screen.Body, t)
	screens := diagnosis.UnknownNodes(nodes, known)
	if len(t.Rows) > 0 {
		screens = append([]*screen.Screen{&s}, screens...)
	}
	return sheet.Write(w, screens, style)
}

// Plans writes a row for each DaemonSet in the given order. If the first plan ends badly, it adds a command that shows
// more of it.
func Plans(w io.Writer, l *plan.List, asked sheet.Asked, style wording.Style) error {
	return sheet.WriteOne(w, planListScreen(l, asked, style), style)
}

func planListScreen(l *plan.List, asked sheet.Asked, style wording.Style) *screen.Screen {
	if l.Together != nil {
		return changeListScreen(l, asked, style)
	}
	var s screen.Screen
	t := &screen.Table{Flush: true, Columns: []screen.Column{
		{Head: "VERDICT"}, {Head: "DAEMONSET"}, {Head: "REPLACES", Right: true, Drop: 3},
		{Head: "LOSE", Right: true, Drop: 1}, {Head: "GAIN", Right: true, Drop: 5},
		{Head: "STEPS", Right: true, Drop: 6},
		{Head: "DURATION", Drop: 4}, {Head: "CAUSE, OR NEXT", Wrap: true, Drop: 2, Least: 14},
	}}
	for _, p := range l.Items {
		replaces := strconv.Itoa(p.Replaces)
		if p.Outcome.Code == plan.Stalls && p.Replaces > 0 { // the rollout stalls before it replaces all of them
			replaces = fmt.Sprintf("%d of %d", p.Outcome.Replaced, p.Replaces)
		}
		t.Row(planVerdict(p), p.DaemonSet.Namespace+"/"+p.DaemonSet.Name, replaces, strconv.Itoa(len(p.Lost)),
			strconv.Itoa(len(p.Placement.Gain)),
			strconv.Itoa(p.Outcome.Steps), cmp.Or(wording.RangeWords(p.Outcome.Duration), "-"),
			newPlanScreen(p, nil, asked, style).summaryCell()).Cells[0].Tone = tones[p.Quality()]
	}
	bad := l.EndBadly()
	subject := wording.Plural(len(l.Items), "DaemonSet") + " with something to do"
	s.Headline = screen.Headline{Counts: true, Subject: subject,
		Text: cmp.Or(wording.Counted(bad, "ends", "end"), "none ends") + " badly"}
	s.Add(screen.Body, t)
	if len(l.Items) > 0 {
		s.Add(screen.Note, screen.Text("REPLACES: old pods that a new one follows; LOSE, GAIN: nodes that lose or "+
			"get their pod"))
	}
	lookAtWorst(&s, l, asked, style)
	return &s
}

// lookAtWorst adds the command that shows the first plan of a list, if it ends badly.
func lookAtWorst(s *screen.Screen, l *plan.List, asked sheet.Asked, style wording.Style) {
	if len(l.Items) > 0 && l.Items[0].Quality() == plan.EndsBadly {
		of := sheet.New(&l.Items[0].Header, asked, style)
		sheet.Look(s, screen.DoNow, "see the plan of "+of.Subject(), of.Again("plan-rollout"))
	}
}

// changeListScreen shows what a change does to each DaemonSet of a list, and to one node.
func changeListScreen(l *plan.List, asked sheet.Asked, style wording.Style) *screen.Screen {
	s := screen.Screen{Notice: "Plan only: nothing has been changed.", Headline: screen.Headline{Counts: true,
		Subject: wording.Plural(len(l.Items)+len(l.Errors), "DaemonSet"), Text: outcomeCounts(l)}}
	t := &screen.Table{Flush: true, Columns: []screen.Column{
		{Head: "VERDICT"}, {Head: "DAEMONSET"}, {Head: "UPDATED", Right: true, Drop: 3}, {Head: "DURATION", Drop: 2},
		{Head: "CAUSE", Wrap: true, Least: 14},
	}}
	for _, p := range l.Items {
		end := p.AtEnd()
		t.Row(planVerdict(p), p.DaemonSet.Namespace+"/"+p.DaemonSet.Name,
			fmt.Sprintf("%d of %d", end.Updated, end.Desired), cmp.Or(wording.RangeWords(p.Outcome.Duration), "-"),
			newPlanScreen(p, nil, asked, style).causeCell()).Cells[0].Tone = tones[p.Quality()]
	}
	for _, e := range l.Errors {
		t.Row("ERROR", e.Namespace+"/"+e.Name, "-", "-", e.Message).Cells[0].Tone = screen.Bad
	}
	togetherEntry(&s, l.Together)
	s.Add(screen.Body, t)
	lookAtWorst(&s, l, asked, style)
	return &s
}

// causeCell returns why a rollout does not complete, or which nodes stay without an available pod although it does.
func (s *planScreen) causeCell() string {
	switch {
	case s.o.Code == plan.Stalls:
		return s.blame()
	case s.p.Verdict() == plan.VerdictWaits:
		return "OnDelete"
	}
	return wording.Phrase("without ", wording.SomeNames(plan.Nodes(s.o.Holders)))
}

// outcomeCounts returns how many plans of a list have each outcome.
func outcomeCounts(l *plan.List) string {
	var complete, stall, wait int
	for _, p := range l.Items {
		switch {
		case p.Outcome.ReachesEnd():
			complete++
		case p.Outcome.Code == plan.Stalls:
			stall++
		case p.Verdict() == plan.VerdictWaits:
			wait++
		}
	}
	others := len(l.Items) - complete - stall - wait
	return wording.Joined(", ",
		wording.Counted(complete, "would complete", "would complete"), wording.Counted(stall, "would stall", "would stall"),
		wording.Counted(wait, "would wait for you", "would wait for you"),
		wording.Counted(others, "would end in another way", "would end in another way"),
		wording.Counted(len(l.Errors), "would be rejected", "would be rejected"))
}

// togetherEntry adds how many pods of one node the rollouts take down at the same time, and one after another.
func togetherEntry(s *screen.Screen, t *plan.Together) {
	if t.PerNodeAtMost == 0 {
		return
	}
	text := fmt.Sprintf("at the same time: up to %d of the %d available DaemonSet pods of one node are down together",
		t.PerNodeAtMost, t.Pods)
	if d := wording.RangeWords(t.OneAfterAnother); d != "" && t.PerNodeAtMost > 1 {
		text += "; one after another: 1, and it takes " + d
	}
	s.Add(screen.Impact, screen.Text(text))
}

// NothingToDo writes that none of the DaemonSets has anything to do. of is their number.
func NothingToDo(w io.Writer, of int, style wording.Style) error {
	s := screen.Screen{Headline: screen.Headline{Verdict: "NOTHING TO DO", Counts: true,
		Subject: wording.Plural(of, "DaemonSet"), Text: "none has a rollout in progress, or a pod to create or delete"}}
	return sheet.WriteOne(w, &s, style)
}

// summaryCell returns what stalls the rollout, or what the next sync does. It adds the pods that take longer than all
// others did. It also adds that no node is eligible, if the outcome does not show that.
func (s *planScreen) summaryCell() string {
	staying, none := s.p.NoneEligible()
	does := "waits for pods"
	switch n := &s.p.Next; {
	case s.o.Code == plan.Stalls:
		does = s.blame()
	case n.Reason != daemonset.StepBudgetSpent && n.Reason != daemonset.StepWaiting || n.Kind != daemonset.StepNone:
		does = stepCounts(n, s.Header)
	}
	return does + wording.Phrase("; ", codes(s.o.Late), " on ", wording.SomeNames(plan.Nodes(s.o.Late))) +
		wording.Either(none, "; no node is eligible", "") +
		wording.Phrase(", and ", wording.Counted(staying, "pod stays", "pods stay"))
}
