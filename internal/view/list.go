package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// Explanations writes one line per DaemonSet in the order given, worst first.
// They were read from what --from named, if anything.
func Explanations(w io.Writer, l *explain.List, from []string, style Style) error {
	s := &screen{Style: style}
	t := &table{head: []string{"NAMESPACE", "NAME", "VERDICT", " DESIRED", " READY", " UP-TO-DATE", " AVAILABLE"}}
	if style.Wide {
		t.head = []string{"NAMESPACE", "NAME", "VERDICT", " DESIRED", " CURRENT", " READY", " UP-TO-DATE", " AVAILABLE", " MISSCHEDULED", "STRATEGY", "BUDGET", "AGREES"}
	}
	var details []string
	named := map[string]int{}
	troubled := 0
	for _, e := range l.Items {
		c := cmp.Or(e.Status.Computed, e.Status.Reported)
		cells := []string{clean(e.DaemonSet.Namespace), clean(e.DaemonSet.Name), s.verdictCell(e.Verdict.Code)}
		if style.Wide {
			cells = append(cells, known(c, func(c *daemonset.Counts) []int {
				return []int{c.Desired, c.Current, c.Ready, c.Updated, c.Available, c.Misscheduled}
			})...)
			cells = append(cells, cmp.Or(clean(e.DaemonSet.Strategy), "-"), budgetCell(e), agreesCell(e))
		} else {
			cells = append(cells, known(c, func(c *daemonset.Counts) []int { return []int{c.Desired, c.Ready, c.Updated, c.Available} })...)
		}
		t.add(cells...)
		details = append(details, s.listDetail(e))
		seen := map[string]bool{}
		for _, p := range e.Problems {
			if p.Severity == cause.Info {
				continue
			}
			for _, n := range p.Nodes {
				seen[n] = true
			}
		}
		for n := range seen {
			named[n]++
		}
		if len(seen) > 0 {
			troubled++
		}
	}
	s.withDetails(t.lines(style), details)
	s.oftenNamed(named, troubled)
	for _, e := range l.Items {
		if slices.Contains([]explain.VerdictCode{explain.Stuck, explain.Degraded}, e.Verdict.Code) {
			if c := Again("explain -n "+Quote(e.DaemonSet.Namespace)+" "+Quote(e.DaemonSet.Name), from); c != "" {
				s.gap()
				s.whole(s.title("To go on:") + " " + c)
			}
			break
		}
	}
	return s.writeTo(w)
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

// withDetails adds the rows of a table, its head first, with what stands
// behind them: in a column of its own, or below them where that is too wide.
func (s *screen) withDetails(rows, details []string) {
	column, longest := 0, 0
	for _, r := range rows {
		column = max(column, width(r)+2)
	}
	for _, d := range details {
		longest = max(longest, width(d))
	}
	below := s.Width > 0 && column+longest > s.Width
	details = append([]string{s.title("DETAIL")}, details...)
	for i, r := range rows {
		switch {
		case !below && details[i] != "":
			s.whole(r + strings.Repeat(" ", column-width(r)) + details[i])
		case !below || i == 0 || details[i] == "":
			s.whole(r)
		default:
			s.whole(r)
			s.line("    %s", details[i])
		}
	}
}

func (s *screen) verdictCell(code explain.VerdictCode) string {
	switch code {
	case explain.Stuck, explain.Degraded:
		return s.bad(string(code))
	case explain.Healthy:
		return s.good(string(code))
	}
	return s.warn(string(code))
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

func agreesCell(e *explain.Explanation) string {
	if e.Status.Agrees == nil {
		return "?"
	}
	return yesNo(*e.Status.Agrees)
}

// listDetail is the first problem that matters, with a node.
func (s *screen) listDetail(e *explain.Explanation) string {
	p := mainProblem(e)
	if e.Verdict.Code == explain.Healthy && p == nil || e.Verdict.Code == explain.BeingDeleted {
		return ""
	}
	if p == nil || e.Verdict.Code == explain.NotObserved || e.Verdict.Code == explain.Unknown {
		return VerdictDetail(e)
	}
	d := string(p.Code)
	if fact(p.Facts, "changed") == cause.ChangedTemplate {
		d += fmt.Sprintf(" since revision %s (%s)", fact(p.Facts, "number"), fact(p.Facts, "fields"))
	}
	if p.Count > 0 {
		d += fmt.Sprintf(" on %d: %s", p.Count, s.namesWithin(p.Nodes[:min(2, p.Count)], 0))
	}
	if p.Count > 2 {
		d += ", …"
	}
	return d
}

// oftenNamed names the nodes that several DaemonSets have trouble with.
func (s *screen) oftenNamed(named map[string]int, troubled int) {
	var nodes []string
	for n, count := range named {
		if count > 1 {
			nodes = append(nodes, n)
		}
	}
	if len(nodes) == 0 {
		return
	}
	slices.SortFunc(nodes, func(a, b string) int { return cmp.Or(named[b]-named[a], strings.Compare(a, b)) })
	var parts []string
	for i, n := range nodes {
		if i == 5 && !s.All {
			parts = append(parts, fmt.Sprintf("+%d more", len(nodes)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", clean(n), named[n]))
	}
	s.gap()
	s.line("%s, of %s with a problem: %s", s.title("Nodes named most often"), plural(troubled, "DaemonSet"), strings.Join(parts, ", "))
}

// DaemonSetsOfNodes writes which DaemonSets should and do run on the nodes
// that the Explanations were narrowed to, in one table. A DaemonSet that does
// not know a node has no row for it.
func DaemonSetsOfNodes(w io.Writer, l *explain.List, asked []string, style Style) error {
	s := &screen{Style: style}
	t := &table{head: []string{"NODE", "NAMESPACE", "NAME", "SHOULD RUN", "RUNS", "WHY"}}
	type row struct {
		e *explain.Explanation
		n *explain.Node
	}
	var rows []row
	var known []string
	for _, e := range l.Items {
		for i := range e.Nodes {
			known = append(known, e.Nodes[i].Name)
			rows = append(rows, row{e, &e.Nodes[i]})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(strings.Compare(a.n.Name, b.n.Name), strings.Compare(a.e.DaemonSet.Namespace, b.e.DaemonSet.Namespace), strings.Compare(a.e.DaemonSet.Name, b.e.DaemonSet.Name))
	})
	for _, r := range rows {
		should, why := "?", "the nodes could not be read"
		if r.n.ShouldRun != nil {
			should, why = yesNo(r.n.ShouldRun.OK), placement(r.n.ShouldRun.Reason, r.n.ShouldRun.Facts)
		}
		if code := problemCode(r.n); code != "" {
			why = strings.TrimPrefix(why+"; "+code, "; ")
		}
		t.add(clean(r.n.Name), clean(r.e.DaemonSet.Namespace), clean(r.e.DaemonSet.Name), should, runs(r.n), why)
	}
	if len(rows) > 0 {
		s.rows(t)
	}
	s.gap()
	s.unknownNodes(asked, known)
	return s.writeTo(w)
}

func runs(n *explain.Node) string {
	if len(n.Pods) == 0 {
		return "no"
	}
	for _, p := range n.Pods {
		if p.Available {
			return "yes"
		}
	}
	return "not available"
}
