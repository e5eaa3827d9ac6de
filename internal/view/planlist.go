package view

import (
	"fmt"
	"io"
	"strconv"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// Plans writes a row per DaemonSet, in the order given, and how to see more of the
// first if that ends badly.
func Plans(w io.Writer, l *plan.List, asked Asked, style Style) error {
	var s screen.Screen
	t := &screen.Table{Flush: true, Columns: []screen.Column{
		{Head: "VERDICT"}, {Head: "DAEMONSET"}, {Head: "REPLACES", Right: true}, {Head: "LOSE", Right: true, Drop: 2}, {Head: "GAIN", Right: true, Drop: 3}, {Head: "STEPS", Right: true, Drop: 4},
		{Head: "DURATION"}, {Head: "NEXT SYNC", Wrap: true, Drop: 1},
	}}
	bad := 0
	for _, p := range l.Items {
		duration := "-"
		if p.Outcome.Duration != nil {
			duration = rangeWords(p.Outcome.Duration)
		}
		if planTone(p) == screen.Bad {
			bad++
		}
		cells := screen.Cells(p.DaemonSet.Namespace+"/"+p.DaemonSet.Name, strconv.Itoa(p.Replaces), strconv.Itoa(len(p.Lost)), strconv.Itoa(len(p.Placement.Gain)),
			strconv.Itoa(p.Outcome.Steps), duration, stepCounts(&p.Next, &p.Header)+lateCell(&p.Outcome)+nowhereCell(p))
		t.Rows = append(t.Rows, screen.Row{Cells: append([]screen.Cell{{Lines: []string{planVerdict(p)}, Tone: planTone(p)}}, cells...)})
	}
	s.Headline = screen.Headline{Subject: plural(len(l.Items), "DaemonSet") + " with something to do", Text: fmt.Sprintf("%s badly", pluralVerb(bad, "ends", "end"))}
	if bad == 0 {
		s.Headline.Text = "none ends badly"
	}
	s.Add(screen.Body, t)
	if len(l.Items) > 0 && planTone(l.Items[0]) == screen.Bad {
		s.Add(screen.Check, newSheet(&l.Items[0].Header, asked, style).again("plan-rollout"))
	}
	return s.Text(w, style.terminal())
}

// lateCell names the pods that take longer than any other did, and that have to
// become ready before it completes; empty where there are none.
func lateCell(o *plan.Outcome) string {
	if len(o.Late) == 0 {
		return ""
	}
	return "; " + codes(o.Late) + " on " + someNames(holderNodes(o.Late))
}

// nowhereCell says that no node is eligible, where the outcome does not; empty
// where one is.
func nowhereCell(p *plan.Plan) string {
	switch n, none := p.NoneEligible(); {
	case !none:
		return ""
	case n > 0:
		return "; no node is eligible, and " + pluralVerb(n, "pod stays", "pods stay")
	}
	return "; no node is eligible"
}
