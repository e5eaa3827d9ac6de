package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// StatusHeads has the columns of a status.
var StatusHeads = []string{"DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "MISSCHEDULED"}

// Numbers returns the numbers of a status in the order of StatusHeads, or "?" for each if c is nil.
func Numbers(c *daemonset.Counts) []string {
	if c == nil {
		return slices.Repeat([]string{"?"}, len(StatusHeads))
	}
	var out []string
	for _, n := range []int{c.Desired, c.Current, c.Ready, c.Updated, c.Available, c.Misscheduled} {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

// status adds the numbers that kubectl shows, and the nodes that each of them leaves out.
func (a *Answer) status() {
	status := &a.E.Status
	var line screen.Words
	for i, n := range Numbers(cmp.Or(status.Computed, status.Reported)) {
		if head := StatusHeads[i]; head != "MISSCHEDULED" || n != "0" {
			line = append(line, map[bool]string{true: " "}[i > 0]+head+" "+n)
		}
	}
	a.Screen.Add(screen.Status, line)
	a.reportedNumbers()
	a.desired()
	a.sums()
}

// reportedNumbers adds the reported numbers that differ from the computed ones, and the reason.
func (a *Answer) reportedNumbers() {
	status := &a.E.Status
	switch {
	case status.Reported == nil:
		return
	case status.Computed == nil:
		a.Add(screen.Status, "these are the numbers that the controller reported; they could not be checked")
		return
	case status.Agrees == nil || *status.Agrees:
		return
	}
	why := ""
	if d := status.Differences; len(d) > 0 {
		why = map[daemonset.Reason]string{
			explain.Moving:     " (something changed less than 30s ago)",
			daemonset.NodeGone: " (they count a deleted node, until something else changes)",
		}[d[0].Reason]
	}
	var others []string
	computed := Numbers(status.Computed)
	for i, n := range Numbers(status.Reported) {
		if n != computed[i] {
			others = append(others, StatusHeads[i]+" "+n)
		}
	}
	a.Add(screen.Status, "the controller last reported %s%s", strings.Join(others, ", "), why)
}

// leftOut explains why a number leaves out a node, for reasons whose name does not.
var leftOut = map[daemonset.Reason]string{explain.OutOfDate: "on another revision", cause.NoPod: "no pod"}

// sums adds, for each number that does not count all nodes, the nodes that it leaves out.
func (a *Answer) sums() {
	c := a.E.Status.Computed
	if c == nil {
		return
	}
	for _, s := range a.E.Sums() {
		words := screen.Words{fmt.Sprintf("%s %d = %d", strings.Join(s.Columns, ", "), s.Counted, c.Desired)}
		numbered, less := a.numbered(s.Less)
		if numbered > 0 {
			of := "problems 1 to " + strconv.Itoa(len(a.E.Advice))
			if len(a.E.Advice) == 2 {
				of = "problems 1 and 2"
			}
			words = append(words, fmt.Sprintf("- %d (%s)", numbered, of))
		}
		for _, l := range less {
			name := cmp.Or(leftOut[l.Reason], string(l.Reason))
			if l.Revision != nil {
				runs := wording.Either(a.E.Budget.Kind == daemonset.BudgetSurge, "still running a pod of ", "on ")
				name = runs + wording.RevisionName(l.Revision)
			}
			words = append(words, fmt.Sprintf("- %d (%s)", l.Count, name))
		}
		a.Screen.Add(screen.Status, words)
	}
	if n := a.count("stillCounted"); n > 0 {
		a.Add(screen.Status, "AVAILABLE %d counts %s", c.Available,
			wording.PluralVerb(n, "node whose pod is terminating",
				"nodes whose pods are terminating"))
	}
	if i := a.E.Impact; i != nil && len(i.Uncounted) > 0 && len(i.Uncounted) <= 3 { // Impact names these nodes
		a.Screen.Add(screen.Rollout, screen.Names{Before: fmt.Sprintf("MISSCHEDULED %d =", len(i.Uncounted)),
			Names: i.Uncounted, Short: true})
	}
}

// numbered returns the number of nodes that are left out because of the numbered problems, and the other reasons. A
// single reason from these problems is returned with the others, because its name is more useful than its number.
func (a *Answer) numbered(all []explain.Less) (n int, others []explain.Less) {
	of := map[daemonset.Reason]bool{}
	for _, d := range a.E.Advice[:len(a.E.Advice)*min(1, len(a.E.Advice)/2)] {
		for _, code := range d.Problems {
			of[code] = true
		}
	}
	found := 0
	for _, l := range all {
		if l.Revision == nil && of[l.Reason] {
			n += l.Count
			found++
			continue
		}
		others = append(others, l)
	}
	if found < 2 {
		return 0, all
	}
	return n, others
}

// desired adds the arithmetic of DESIRED and the rules that exclude nodes.
func (a *Answer) desired() {
	all, excluded, notReady := a.E.Eligible()
	t := &screen.Table{Columns: []screen.Column{{Wrap: true, Short: true}, {Wrap: true}}}
	for _, g := range a.E.Groups("DESIRED", false) {
		if whole := wording.Placement(g.Reason, g.Facts); whole != exclusionWords(&g) {
			a.Screen.Add(screen.Rollout, screen.Names{Before: whole + ":", Names: g.Nodes, Short: true})
		}
		t.Rows = append(t.Rows, screen.Row{Cells: []screen.Cell{{Names: g.Nodes},
			{Lines: []string{exclusionWords(&g)}}}})
	}
	switch {
	case excluded > 0 && len(t.Rows) == 1:
		before := fmt.Sprintf("DESIRED %d = %s - %d not eligible (%s):", all,
			wording.Plural(all+excluded, "node"), excluded,
			t.Rows[0].Cells[1].Lines[0])
		a.Screen.Add(screen.Status, screen.Names{Before: before, Names: t.Rows[0].Cells[0].Names, Short: true})
	case excluded > 0:
		a.Add(screen.Status, "DESIRED %d = %s - %d not eligible:", all, wording.Plural(all+excluded, "node"), excluded)
		more := len(t.Rows) - 2
		if more > 1 && !a.Style.All {
			t.Rows = t.Rows[:2]
		}
		a.Screen.Add(screen.Status, screen.Indent{t})
		if more > 1 && !a.Style.All {
			a.Add(screen.Status, "  %s with --all", wording.Plural(more, "more reason"))
		}
	case notReady > 0 && all > 0:
		a.Add(screen.Rollout, "DESIRED %d = %s, including the %d NotReady: the pod tolerates their taints",
			all, wording.PluralOf(all, "the only node", AllOf(all)+"nodes"), notReady)
	}
}

// exclusionWords returns why nodes are not eligible. For a well-known taint, it returns the meaning of the taint.
func exclusionWords(g *explain.ColumnGroup) string {
	meaning := wording.TaintMeanings[wording.Fact(g.Facts, "key")]
	if g.Reason == daemonset.TaintNotTolerated && meaning != "" && g.Facts["taints"] == nil {
		return meaning
	}
	return wording.Placement(g.Reason, g.Facts)
}

// wide adds the content of -o wide: the rules used, the assumptions and all nodes.
func (a *Answer) wide() {
	if !a.Style.Wide {
		return
	}
	e := a.E
	a.Add(screen.Assumed, "rules of Kubernetes %s (%s), read at %s", e.Controller.KubernetesVersion,
		wording.SourceWords[e.Controller.Source], e.Snapshot.TakenAt.Format(time.RFC3339))
	for _, as := range e.Assumptions {
		a.Add(screen.Assumed, "%s", sheet.Assumption(as, e.Assumptions, sheet.Circumstances{}))
	}
	t := &screen.Table{Flush: true, Columns: sheet.Columns("NODE", "SHOULD RUN", "SLOT", "POD", "PHASE",
		"REVISION", "READY",
		"AVAILABLE", "PROBLEM")}
	for i := range e.Nodes {
		n, should := &e.Nodes[i], "?"
		if n.ShouldRun != nil {
			should = string(n.ShouldRun.Reason)
		}
		for _, p := range n.Pods {
			t.Row(n.Name, should, string(n.Slot), p.Name, p.Status(), wording.RevisionOf(e, p), wording.YesNo(p.Ready),
				wording.YesNo(p.Available), string(n.ProblemCode()))
		}
		if len(n.Pods) == 0 {
			t.Row(n.Name, should, string(n.Slot), "-", "-", "-", "-", "-", string(n.ProblemCode()))
		}
	}
	a.Screen.Add(screen.Body, t)
}
