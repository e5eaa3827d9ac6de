package view

import (
	"cmp"
	"io"
	"strconv"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// Plans writes a row per DaemonSet, in the order given, and how to see more of the
// first if that ends badly.
func Plans(w io.Writer, l *plan.List, asked Asked, style Style) error {
	var s screen.Screen
	t := &screen.Table{Flush: true, Columns: []screen.Column{
		{Head: "VERDICT"}, {Head: "DAEMONSET"}, {Head: "REPLACES", Right: true, Drop: 3}, {Head: "LOSE", Right: true, Drop: 1}, {Head: "GAIN", Right: true, Drop: 5}, {Head: "STEPS", Right: true, Drop: 6},
		{Head: "DURATION", Drop: 4}, {Head: "CAUSE, OR NEXT", Wrap: true, Drop: 2, Least: 14},
	}}
	for _, p := range l.Items {
		cells := screen.Cells(p.DaemonSet.Namespace+"/"+p.DaemonSet.Name, strconv.Itoa(p.Replaces), strconv.Itoa(len(p.Lost)), strconv.Itoa(len(p.Placement.Gain)),
			strconv.Itoa(p.Outcome.Steps), cmp.Or(rangeWords(p.Outcome.Duration), "-"), readPlan(p, nil, asked, style).inShort())
		t.Rows = append(t.Rows, screen.Row{Cells: append([]screen.Cell{{Lines: []string{planVerdict(p)}, Tone: tones[p.Quality()]}}, cells...)})
	}
	bad := l.EndBadly()
	s.Headline = screen.Headline{Subject: plural(len(l.Items), "DaemonSet") + " with something to do", Text: cmp.Or(fill(time.Time{}, daemonset.Facts{"bad": bad}, "[{bad:ends|end} badly]"), "none ends badly")}
	s.Add(screen.Body, t)
	if len(l.Items) > 0 {
		s.Add(screen.Note, screen.Text("REPLACES: old pods that a new one follows; LOSE, GAIN: nodes that lose or get their pod"))
	}
	if bad > 0 && l.Items[0].Quality() == plan.EndsBadly {
		s.Add(screen.Check, newSheet(&l.Items[0].Header, asked, style).again("plan-rollout"))
	}
	return s.Text(w, style.terminal())
}

// inShort is who keeps a rollout from completing, or else what the next sync does;
// which pods take longer than any other did; and that no node is eligible, where
// the outcome does not say it.
func (s *planned) inShort() string {
	staying, none := s.p.NoneEligible()
	f := daemonset.Facts{"late": codes(s.o.Late), "on": someNames(plan.Nodes(s.o.Late)), "none": none, "staying": staying}
	does := "waits for pods"
	switch n := &s.p.Next; {
	case s.o.Code == plan.Stalls:
		does = s.blame()
	case n.Reason != daemonset.StepBudgetSpent && n.Reason != daemonset.StepWaiting || n.Kind != daemonset.StepNone:
		does = stepCounts(n, s.h)
	}
	return does + fill(s.now, f, "[; {late} on {on}]{none?; no node is eligible|}[, and {staying:pod stays|pods stay}]")
}
