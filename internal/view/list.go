package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// Explanations writes a row per DaemonSet in the order given, worst first.
func Explanations(w io.Writer, l *explain.List, asked Asked, style Style) error {
	list := &answers{style: style, count: map[explain.VerdictCode]int{}, named: map[string]int{}}
	for _, e := range l.Items {
		list.add(newAnswer(e, asked, style))
	}
	return list.screen().Text(w, style.terminal())
}

// answers makes one screen of several Explanations.
type answers struct {
	style   Style
	rows    []screen.Row
	count   map[explain.VerdictCode]int
	healthy int            // without a warning
	named   map[string]int // in how many DaemonSets a node has a problem
	first   *answer        // the worst
	s       screen.Screen
}

func (l *answers) add(a *answer) {
	code := a.e.Verdict.Code
	l.count[code]++
	if l.first == nil && (code == explain.Stuck || code == explain.Degraded) {
		l.first = a
	}
	for _, n := range a.troubled() {
		l.named[n]++
	}
	if code == explain.Healthy && len(a.matters()) == 0 {
		if l.healthy++; !l.style.All && !l.style.Wide {
			return
		}
	}
	a.headline()
	c := cmp.Or(a.e.Status.Computed, a.e.Status.Reported)
	cells := []string{a.subject(), of(c, func(c *daemonset.Counts) int { return c.Available }), "-", a.lasts(), a.because()}
	if a.e.Rollout.UnderWay {
		cells[2] = of(c, func(c *daemonset.Counts) int { return c.Updated })
	}
	if l.style.Wide {
		cells = append([]string{a.subject()}, known(c, func(c *daemonset.Counts) []int {
			return []int{c.Desired, c.Current, c.Ready, c.Updated, c.Available, c.Misscheduled}
		})...)
		agrees := "?"
		if a.e.Status.Agrees != nil {
			agrees = yesNo(*a.e.Status.Agrees)
		}
		cells = append(cells, strategy(a.h), budgetCell(a.e), agrees, a.lasts(), a.because())
	}
	verdict := screen.Cell{Lines: []string{a.s.Headline.Verdict}, Tone: a.s.Headline.Tone}
	l.rows = append(l.rows, screen.Row{Cells: append([]screen.Cell{verdict}, screen.Cells(cells...)...)})
}

// of is "9 of 12", or "?" where it is not known.
func of(c *daemonset.Counts, which func(*daemonset.Counts) int) string {
	if c == nil {
		return "?"
	}
	return fmt.Sprintf("%d of %d", which(c), c.Desired)
}

// lasts is how long the worst problem has been there, else the rollout.
func (a *answer) lasts() string {
	for _, p := range a.matters() {
		if p.Since != nil {
			return ago(a.now.Sub(*p.Since))
		}
	}
	if r := a.e.Rollout; r.UnderWay && r.Since != nil {
		return ago(a.now.Sub(*r.Since))
	}
	return "-"
}

// because is the cause in few words.
func (a *answer) because() string {
	switch a.e.Verdict.Code {
	case explain.AwaitingDelete:
		return fmt.Sprintf("%s: %s", strategy(a.h), plural(a.count("oldNodes"), "old pod"))
	case explain.Unknown, explain.NotObserved, explain.BeingDeleted:
		return a.summary()
	}
	return cmp.Or(a.why(), a.left(), "-")
}

// troubled are the nodes of problems that come from the node, or from what else
// runs on it.
func (a *answer) troubled() []string {
	var nodes []string
	for _, p := range a.e.Problems {
		if o := p.Origin; o != nil && (o.Kind == cause.OriginNodes || o.Kind == cause.OriginScheduling) {
			nodes = append(nodes, p.Nodes...)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

func (l *answers) screen() *screen.Screen {
	total, bad := 0, l.count[explain.Stuck]+l.count[explain.Degraded]
	for _, n := range l.count {
		total += n
	}
	var parts []string
	say := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, pluralOf(n, one, many)))
		}
	}
	say(bad, "has a problem", "have a problem")
	say(l.count[explain.Unknown], "is unknown", "are unknown")
	say(l.count[explain.NotObserved]+l.count[explain.Progressing], "progresses", "progress")
	say(l.count[explain.AwaitingDelete], "waits for you", "wait for you")
	say(l.count[explain.BeingDeleted], "is being deleted", "are being deleted")
	say(l.count[explain.Healthy]-l.healthy, "is healthy with a warning", "are healthy with a warning")
	say(l.healthy, "is healthy", "are healthy")
	l.s.Headline = screen.Headline{Subject: plural(total, "DaemonSet"), Text: strings.Join(parts, ", ")}
	t := &screen.Table{Flush: true, Columns: []screen.Column{{Head: "VERDICT"}, {Head: "DAEMONSET"}}, Rows: l.rows}
	heads := []screen.Column{{Head: "AVAILABLE", Right: true}, {Head: "UPDATED", Right: true, Drop: 1}, {Head: "FOR", Drop: 2}, {Head: "CAUSE", Wrap: true, Least: 18}}
	if l.style.Wide {
		heads = nil
		for _, h := range []string{"DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "MISSCHEDULED", "STRATEGY", "BUDGET", "AGREES", "FOR", "CAUSE"} {
			heads = append(heads, screen.Column{Head: h})
		}
	}
	t.Columns = append(t.Columns, heads...)
	if l.healthy > 0 && !l.style.All && !l.style.Wide {
		t.Rows = append(t.Rows, screen.Row{Cells: []screen.Cell{{Lines: []string{"HEALTHY"}, Tone: screen.Good}, {Lines: []string{fmt.Sprintf("%d without warnings", l.healthy)}}, {}, {}, {}, {Lines: []string{"--all lists them"}}}})
	}
	l.s.Add(screen.Body, t)
	l.oftenNamed()
	if l.count[explain.Stuck] > 0 {
		l.s.Add(screen.Note, screen.Text("STUCK: a rollout cannot continue"))
	}
	if l.count[explain.Degraded] > 0 {
		l.s.Add(screen.Note, screen.Text("DEGRADED: no rollout, but nodes have no available pod"))
	}
	if l.first != nil {
		l.s.Add(screen.Check, l.first.again("explain"))
	}
	return &l.s
}

// oftenNamed names the nodes that several DaemonSets have trouble with.
func (l *answers) oftenNamed() {
	var nodes []string
	for n, count := range l.named {
		if count > 1 {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b string) int { return cmp.Or(l.named[b]-l.named[a], strings.Compare(a, b)) })
	if len(nodes) == 0 {
		return
	}
	if l.first != nil {
		l.s.Add(screen.Check, l.first.kubectl("kubectl describe node", screen.Quote(nodes[0])))
	}
	for i, n := range nodes {
		nodes[i] = fmt.Sprintf("%s (%d DaemonSets)", n, l.named[n])
	}
	l.s.Add(screen.Cause, screen.Names{Before: "nodes that affect several DaemonSets:", Names: nodes})
}

// known writes numbers of a status, as ? where there is none.
func known(c *daemonset.Counts, which func(*daemonset.Counts) []int) []string {
	var out []string
	for _, n := range which(cmp.Or(c, &daemonset.Counts{})) {
		out = append(out, strconv.Itoa(n))
		if c == nil {
			out[len(out)-1] = "?"
		}
	}
	return out
}

func budgetCell(e *explain.Explanation) string {
	if e.Budget.Invalid != "" {
		return "invalid"
	}
	limit := max(e.Budget.MaxSurge, e.Budget.MaxUnavailable)
	if e.Budget.MaxSurge > 0 {
		limit = e.Budget.MaxSurge
	}
	return fmt.Sprintf("%s/%d", count(e.Budget.Used), limit)
}

// DaemonSetsOfNodes writes which DaemonSets should and do run on the nodes
// that the Explanations were narrowed to. A DaemonSet that does not know a node
// has no row for it.
func DaemonSetsOfNodes(w io.Writer, l *explain.List, nodes []string, asked Asked, style Style) error {
	t := &screen.Table{Flush: true, Columns: []screen.Column{{Head: "NODE"}, {Head: "DAEMONSET"}, {Head: "ELIGIBLE"}, {Head: "POD"}, {Head: "WHY", Wrap: true}}}
	type row struct {
		*answer
		n *explain.Node
	}
	var rows []row
	var known []string
	daemonSets := map[*explain.Explanation]bool{}
	for _, e := range l.Items {
		for i := range e.Nodes {
			known, daemonSets[e] = append(known, e.Nodes[i].Name), true
			rows = append(rows, row{newAnswer(e, asked, style), &e.Nodes[i]})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(strings.Compare(a.n.Name, b.n.Name), strings.Compare(a.subject(), b.subject()))
	})
	var s screen.Screen
	without := 0
	for _, r := range rows {
		eligible, why, runs := "?", []string{"the nodes could not be read"}, r.runs(r.n)
		if r.n.ShouldRun != nil {
			eligible, why = yesNo(r.n.ShouldRun.OK), []string{placement(r.n.ShouldRun.Reason, r.n.ShouldRun.Facts)}
		}
		if code := problemCode(r.n); code != "" {
			if why = append(why, code); without == 0 {
				s.Add(screen.Check, r.again("explain"))
			}
		}
		if eligible == "yes" && runs != "available" {
			without++
		}
		why = slices.DeleteFunc(why, func(w string) bool { return w == "" })
		t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(r.n.Name, r.subject(), eligible, runs, strings.Join(why, "; "))})
	}
	slices.Sort(known)
	s.Headline = screen.Headline{Subject: plural(len(slices.Compact(known)), "node"), Text: fmt.Sprintf("%s; %s", plural(len(daemonSets), "DaemonSet"), pluralVerb(without, "has no available pod there", "have no available pod there"))}
	s.Add(screen.Body, t)
	screens := unknownNodes(nodes, known)
	if len(rows) > 0 {
		screens = append([]*screen.Screen{&s}, screens...)
	}
	return write(w, screens, style)
}

// runs says what a node has of the DaemonSet.
func (a *answer) runs(n *explain.Node) string {
	switch {
	case len(n.Pods) == 0:
		return "none"
	case slices.ContainsFunc(n.Pods, func(p explain.Pod) bool { return p.Available }):
		return "available"
	}
	return "not available"
}

// Again is the command of these arguments about the same source: the cluster, or what --from named. It is empty where there is none to paste:
// standard input is read only once.
func Again(args string, from []string) string {
	c := "kubectl ds " + args
	for _, f := range from {
		if f == "-" {
			return ""
		}
		c += " --from " + Quote(f)
	}
	return pasted(c)
}
