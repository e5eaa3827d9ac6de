package view

import (
	"io"
	"strconv"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// Plans writes one line per DaemonSet, in the order given, and below them how to
// go on with the first if that ends badly: again.
func Plans(w io.Writer, l *plan.List, again string, style Style) error {
	s := &screen{Style: style}
	t := &table{head: []string{"NAMESPACE", "NAME", "OUTCOME", " REPLACES", " LOSE", " GAIN", " STEPS", "DURATION", "NEXT SYNC"}}
	for _, p := range l.Items {
		duration := "-"
		if p.Outcome.Duration != nil {
			duration = seconds(p.Outcome.Duration.Expected)
			if style.Wide {
				duration = durationWords(p.Outcome.Duration)
			}
		}
		t.add(clean(p.DaemonSet.Namespace), clean(p.DaemonSet.Name), s.planCell(p), strconv.Itoa(p.Replaces), strconv.Itoa(len(p.Lost)), strconv.Itoa(len(p.Placement.Gain)),
			strconv.Itoa(p.Outcome.Steps), duration, stepCell(&p.Next)+lateCell(&p.Outcome)+nowhereCell(p))
	}
	for _, l := range t.lines(style) {
		s.whole(l)
	}
	if len(l.Items) > 0 && l.Items[0].Outcome.Code == plan.Stalls && pasted(again) != "" {
		s.gap()
		s.whole(s.title("To go on:") + " " + again)
	}
	return s.writeTo(w)
}

func (s *screen) planCell(p *plan.Plan) string {
	code := string(p.Outcome.Code)
	if staysDegraded(p) {
		code = "Degraded"
	}
	return s.outcomePaint(p)(code)
}

// lateCell names the pods that take longer than any other did, and that have to
// become ready before it completes; empty where there are none.
func lateCell(o *plan.Outcome) string {
	if len(o.Late) == 0 {
		return ""
	}
	return "; " + holderCodes(o.Late) + " on " + someNames(holderNodes(o.Late))
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

// stepCell is one sync in a few words.
func stepCell(n *daemonset.Step) string {
	var words string
	if d := n.Deletes.Len(); d > 0 {
		words = plural(d, "delete")
	}
	if c := n.Creates.Len(); c > 0 {
		if words != "" {
			words += ", "
		}
		words += plural(c, "create")
	}
	if words == "" {
		return spaced(string(n.Reason))
	}
	return words
}
