package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// screen collects the lines of one answer.
type screen struct {
	Style
	now      time.Time
	lines    []string
	suspect  bool   // the new revision is said to be the cause, once for all its pods
	minReady string // the minReadySeconds that a plan reckons with; empty for none
	zero     bool   // the budget comes to 0, as a percentage of no node does
	soon     string // when a budget that is used up has room again; empty where nothing tells
}

// line adds a paragraph, broken into as many lines as it needs.
func (s *screen) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.lines = append(s.lines, s.wrap(text, len(text)-len(strings.TrimLeft(text, " "))+2)...)
}

// row adds a line of a table, cut to the terminal unless -o wide asks for all.
func (s *screen) row(text string) {
	if !s.Wide {
		text = s.cut(text)
	}
	s.lines = append(s.lines, text)
}

// whole adds a line that is to be pasted, so it is neither broken nor cut.
func (s *screen) whole(text string) { s.lines = append(s.lines, text) }

// gap leaves an empty line, but never two.
func (s *screen) gap() {
	if n := len(s.lines); n > 0 && s.lines[n-1] != "" {
		s.lines = append(s.lines, "")
	}
}

func (s *screen) writeTo(w io.Writer) error {
	for len(s.lines) > 0 && s.lines[len(s.lines)-1] == "" {
		s.lines = s.lines[:len(s.lines)-1]
	}
	_, err := io.WriteString(w, strings.Join(s.lines, "\n")+"\n")
	return err
}

// Explanation writes one DaemonSet's answer: verdict, numbers with their
// arithmetic, who holds the budget, problems by cause, the next sync, and one
// command to go on with.
func Explanation(w io.Writer, e *explain.Explanation, style Style) error {
	s := &screen{Style: style, now: e.Snapshot.TakenAt, suspect: suspect(e)}
	s.line("%s", s.verdict(e))
	s.gap()
	s.numbers(e)
	s.moving(e)
	s.gap()
	s.desired(e)
	s.uncounted(e)
	s.revisions(e)
	s.budget(e)
	s.problems(e)
	s.gap()
	s.next(e)
	s.wide(e)
	if c := command(e); c != "" {
		s.gap()
		s.whole(s.title("To go on:") + " " + c)
	}
	return s.writeTo(w)
}

func (s *screen) numbers(e *explain.Explanation) {
	t := &table{head: []string{"", " DESIRED", " CURRENT", " READY", " UP-TO-DATE", " AVAILABLE", " MISSCHEDULED", ""}}
	row := func(name string, c daemonset.Counts, note string) {
		t.add(name, strconv.Itoa(c.Desired), strconv.Itoa(c.Current), strconv.Itoa(c.Ready), strconv.Itoa(c.Updated), strconv.Itoa(c.Available), strconv.Itoa(c.Misscheduled), note)
	}
	if e.Status.Reported != nil {
		row("REPORTED", *e.Status.Reported, "")
	} else {
		t.add("REPORTED", "?", "?", "?", "?", "?", "?", "unread")
	}
	if e.Status.Computed != nil {
		row("COMPUTED", *e.Status.Computed, s.agreement(e))
	} else {
		t.add("COMPUTED", "?", "?", "?", "?", "?", "?", "unread")
	}
	for _, l := range t.lines(s.Style) {
		s.row(l)
	}
}

// agreement is one word beside the numbers.
func (s *screen) agreement(e *explain.Explanation) string {
	switch {
	case e.Status.Reported == nil:
		return ""
	case len(e.Status.Differences) == 0:
		return s.good("all agree")
	}
	switch e.Status.Differences[0].Reason {
	case explain.Moving:
		return s.warn("moving")
	case explain.GenerationNotObserved:
		return s.warn("newer")
	}
	return s.warn("differ")
}

// moving says why the two rows differ, where no problem says it.
func (s *screen) moving(e *explain.Explanation) {
	if len(e.Status.Differences) == 0 {
		return
	}
	switch e.Status.Differences[0].Reason {
	case explain.Moving:
		s.line("REPORTED is behind: something changed less than a minute ago, and the status is about to be written")
	case daemonset.NodeGone:
		s.line("REPORTED still counts a node that was removed: the controller looks again when something else changes")
	}
}

// desired is the arithmetic of DESIRED.
func (s *screen) desired(e *explain.Explanation) {
	for _, c := range e.Columns {
		if c.Name != "DESIRED" {
			continue
		}
		var all, excluded int
		var groups []explain.Group
		for _, g := range c.Groups {
			if all += g.Count; !g.Counted {
				excluded += g.Count
				groups = append(groups, g)
			}
		}
		if excluded == 0 {
			of := "all " + plural(all, "node")
			if all == 1 {
				of = "the only node"
			}
			s.line("%s %d = %s", s.title("DESIRED"), all, of)
			return
		}
		s.line("%s %d = %s - %d excluded", s.title("DESIRED"), all-excluded, plural(all, "node"), excluded)
		for i, g := range groups {
			if i == 3 && !s.All && len(groups) > 4 {
				s.line("  and %s, with --all", plural(len(groups)-i, "more reason"))
				break
			}
			s.entry(g.Count, s.title(string(g.Reason)), placement(g.Reason, g.Facts), g.Nodes)
		}
	}
}

// entryIndent is where the words of an entry begin.
const entryIndent = 7

// entry is one group of nodes: how many, the code, which, and what it means.
// The words go to lines of their own where they do not fit.
func (s *screen) entry(count int, code, words string, nodes []string) {
	head := fmt.Sprintf("  %3d  %s  ", count, code)
	if count == 0 {
		head = fmt.Sprintf("    -  %s  ", code)
	}
	if len(nodes) == 0 {
		s.lines = append(s.lines, s.wrap(head+words, entryIndent)...)
		return
	}
	whole := head + s.names(nodes) + ": " + words
	if words == "" {
		whole = head + s.names(nodes)
	}
	if s.Width == 0 || words == "" || width(whole) <= s.Width {
		s.lines = append(s.lines, s.wrap(whole, entryIndent)...)
		return
	}
	s.lines = append(s.lines, s.wrap(head+s.namesWithin(nodes, max(1, s.Width-width(head))), entryIndent)...)
	s.lines = append(s.lines, s.wrap(strings.Repeat(" ", entryIndent)+words, entryIndent)...)
}

// uncounted says for each further column which nodes do not count, with
// columns that leave out the same nodes in one line.
func (s *screen) uncounted(e *explain.Explanation) {
	var titles, bodies []string
	for _, c := range e.Columns {
		if c.Name == "DESIRED" || c.Name == "MISSCHEDULED" || e.Status.Computed == nil {
			continue
		}
		counted, body := s.notCounted(c)
		if body == "" {
			continue
		}
		body = fmt.Sprintf(" %d, without %s", counted, body)
		if i := slices.Index(bodies, body); i >= 0 {
			titles[i] += ", " + c.Name
			continue
		}
		titles, bodies = append(titles, c.Name), append(bodies, body)
	}
	for i := range titles {
		s.line("%s%s", s.title(titles[i]), bodies[i])
	}
	if n := number(e.Verdict.Facts, "stillCounted"); n > 0 && e.Status.Computed != nil {
		s.line("%s %d counts %s", s.title("AVAILABLE"), e.Status.Computed.Available, pluralVerb(n, "node whose pod is terminating", "nodes whose pods are terminating"))
	}
}

func (s *screen) notCounted(c explain.Column) (counted int, body string) {
	count := map[daemonset.Reason]int{}
	var order []daemonset.Reason
	for _, g := range c.Groups {
		if g.Counted {
			counted += g.Count
			continue
		}
		if count[g.Reason] == 0 {
			order = append(order, g.Reason)
		}
		count[g.Reason] += g.Count
	}
	var parts []string
	for _, r := range order {
		parts = append(parts, fmt.Sprintf("%d %s", count[r], r))
	}
	return counted, strings.Join(parts, ", ")
}

// revisions is one line: how many nodes are on which.
func (s *screen) revisions(e *explain.Explanation) {
	var parts []string
	old := false
	for _, r := range e.Revisions {
		name := "revision " + strconv.FormatInt(r.Number, 10)
		if r.Name == "" {
			name = "hash " + clean(r.Hash)
			if r.Hash == "" {
				name = "no hash"
			}
		}
		switch {
		case r.Current && r.Created != nil:
			name += " (current, made " + age(s.now, r.Created) + " ago)"
		case r.Current:
			name += " (current)"
		}
		old = old || !r.Current && len(r.Nodes) > 0
		nodes := plural(len(r.Nodes), "node")
		if !r.Current && r.Updated > 0 {
			nodes += inBrackets(countedUpdated(r.Updated, len(r.Nodes)))
		}
		parts = append(parts, fmt.Sprintf("%s: %s", name, nodes))
	}
	if old || s.Wide && len(parts) > 0 {
		s.line("%s %s", s.title("REVISIONS"), strings.Join(parts, "; "))
	}
	for _, a := range e.Assumptions {
		if a.Code == daemonset.AssumeGeneration {
			n, _ := strconv.Atoi(a.Value)
			s.line("  %s as updated by the label pod-template-generation alone, and %s not replaced", pluralVerb(n, "pod counts", "pods count"), pluralOnly(n, "is", "are"))
		}
	}
	if e.Next.Revisions.Cut && e.Verdict.Code != explain.BeingDeleted && !gapped(e, snapshot.Revisions) {
		s.line("  the live template has no revision yet: the next sync creates revision %d", e.Next.Revisions.Number)
	}
}

// countedUpdated says how many nodes, of those on another revision than the
// current one, have a pod that counts as updated.
func countedUpdated(n, of int) string {
	switch {
	case n == of && n == 1:
		return "counted as updated"
	case n == of:
		return "all counted as updated"
	}
	return fmt.Sprintf("%d counted as updated", n)
}

// unread names what could not be read at all.
func unread(h *daemonset.Header) string {
	var parts []string
	for _, g := range h.Snapshot.Gaps {
		if g.Why != snapshot.Moved && slices.Contains([]snapshot.What{snapshot.Nodes, snapshot.Pods, snapshot.PodStatus}, g.What) {
			parts = append(parts, partWords(g.What))
		}
	}
	return strings.Join(parts, " and ")
}

func gapped(e *explain.Explanation, what snapshot.What) bool {
	return slices.ContainsFunc(e.Snapshot.Gaps, func(g daemonset.Gap) bool { return g.What == what })
}

// budget is the arithmetic of the budget, and who uses it up.
func (s *screen) budget(e *explain.Explanation) {
	b := &e.Budget
	if b.Invalid != "" {
		s.line("%s cannot be resolved: %s", s.title("BUDGET"), clean(b.Invalid))
		return
	}
	var limit int
	var field string
	switch b.Kind {
	case daemonset.BudgetNone:
		if e.DaemonSet.Strategy == "" {
			s.line("%s none: no strategy is set, so no pod is replaced by itself", s.title("BUDGET"))
			return
		}
		s.line("%s none: strategy %s replaces no pod by itself", s.title("BUDGET"), clean(e.DaemonSet.Strategy))
		return
	case daemonset.BudgetSurge:
		limit, field = b.MaxSurge, "maxSurge"
	default:
		limit, field = b.MaxUnavailable, "maxUnavailable"
	}
	how := field + " " + cmp.Or(clean(b.Spec), "not set")
	switch {
	case b.Fallback:
		how = "maxUnavailable and maxSurge come to 0, so the controller uses maxUnavailable 1"
	case b.Scaled != "":
		of := strconv.Itoa(b.Of)
		if b.OfSource == "Reported" {
			of += " (reported)"
		}
		how += fmt.Sprintf(" of %s = %s", of, b.Scaled)
		if strings.Contains(b.Scaled, ".") {
			how += fmt.Sprintf(", rounded up = %d", limit)
		}
	}
	used := fmt.Sprintf("%s of %d used", count(b.Used), limit)
	if b.Used != nil && *b.Used >= limit && number(e.Verdict.Facts, "oldNodes") > 0 {
		used = s.warn(used)
	}
	s.line("%s %s: %s", s.title("BUDGET"), used, how)
}

// problems lists those of nodes that hold the budget of a rollout apart from
// the others.
func (s *screen) problems(e *explain.Explanation) {
	holders := map[string]bool{}
	if number(e.Verdict.Facts, "oldNodes") > 0 && e.Verdict.Code != explain.BeingDeleted {
		for _, h := range e.Budget.Holders {
			holders[h.Node] = true
		}
	}
	var holding, others []explain.Problem
	for _, p := range e.Problems {
		inside, outside := p, p
		inside.Nodes, outside.Nodes = nil, nil
		for _, n := range p.Nodes {
			if holders[n] && !holdsNothing[p.Code] {
				inside.Nodes = append(inside.Nodes, n)
			} else {
				outside.Nodes = append(outside.Nodes, n)
			}
		}
		if len(inside.Nodes) > 0 {
			holding = append(holding, inside)
		}
		if len(outside.Nodes) > 0 || len(inside.Nodes) == 0 {
			others = append(others, outside)
		}
	}
	if len(holders) > 0 {
		s.gap()
		s.line("%s%s", s.title(fmt.Sprintf("HOLDING THE BUDGET (%d)", len(holders))), since(e))
		s.list(holding, 5)
		if s.suspect {
			f := e.Verdict.Facts
			s.line("  %s: %d of %d new pods fail, 0 of %d old", s.warn("the new revision is the likely cause"), number(f, "newFailing"), number(f, "newPods"), number(f, "oldPods"))
		}
		s.unblock(e)
	}
	if len(others) > 0 {
		s.gap()
		title := "NOTES" // what is worth knowing alone is no problem
		if slices.ContainsFunc(others, func(p explain.Problem) bool { return p.Severity != cause.Info }) {
			title = "PROBLEMS"
		}
		s.line("%s", s.title(title))
		most := 5
		if len(holders) > 0 {
			most = 3
		}
		s.list(others, most)
	}
}

// holdsNothing are problems that never are why a node holds the budget.
var holdsNothing = map[daemonset.Reason]bool{
	explain.Misscheduled: true, explain.Adopt: true, daemonset.ReleasedPod: true, explain.Foreign: true, explain.OnDeleteOutdated: true,
}

// list writes so many problems, or one more where that is the last.
func (s *screen) list(problems []explain.Problem, most int) {
	for i := range problems {
		if i == most && !s.All && len(problems) > most+1 {
			s.line("  and %s, with --all", plural(len(problems)-most, "more problem"))
			return
		}
		p := &problems[i]
		code := string(p.Code)
		switch p.Severity {
		case cause.Error:
			code = s.bad(code)
		case cause.Warning:
			code = s.warn(code)
		}
		s.entry(len(p.Nodes), code, s.causeWords(p.Code, p.Facts, p.Since, p.Latest), p.Nodes)
	}
}

// since says how many holders were so before the current revision was made.
func since(e *explain.Explanation) string {
	before, known := 0, 0
	for _, h := range e.Budget.Holders {
		if h.BeforeRevision != nil {
			known++
			if *h.BeforeRevision {
				before++
			}
		}
	}
	switch {
	case known == 0:
		return ""
	case before == len(e.Budget.Holders):
		return "  all since before the current revision was made: it did not cause this"
	case before > 0:
		return fmt.Sprintf("  %d of them since before the current revision was made", before)
	}
	return "  none of them before the current revision was made"
}

// suspect tells whether the new revision is to blame: every new pod fails and
// no old one does.
func suspect(e *explain.Explanation) bool {
	f := e.Verdict.Facts
	return number(f, "newPods") > 0 && number(f, "oldPods") > 0 && number(f, "newFailing") == number(f, "newPods") && number(f, "oldFailing") == 0
}

// unblock says which limit would let the rollout complete, and what it leaves
// broken.
func (s *screen) unblock(e *explain.Explanation) {
	u, b := e.Budget.Unblock, &e.Budget
	if u == nil {
		return
	}
	field, spec := "maxUnavailable", cmp.Or(clean(b.Spec), "1")
	if b.Kind == daemonset.BudgetSurge {
		field = "maxSurge"
	}
	value := strconv.Itoa(u.Number)
	if b.Scaled != "" && u.Percent != "" {
		value = fmt.Sprintf("%s (%d of %d)", u.Percent, u.Number, b.Of)
	}
	s.line("  to let it complete, fix what is wrong there, or raise %s to %s%s; afterwards set it back to %s", field, value, s.leftBroken(u.Left), spec)
}

// leftBroken names the nodes that a way out of a stall leaves without an
// available pod.
func (s *screen) leftBroken(nodes []string) string {
	if len(nodes) == 0 {
		return ""
	}
	return ", which leaves " + s.namesWithin(nodes, 40) + " without an available pod"
}

// wide adds what -o wide shows: the rules used, what is assumed, and every
// node with a pod or a problem.
func (s *screen) wide(e *explain.Explanation) {
	if !s.Wide {
		return
	}
	s.gap()
	s.line("%s of Kubernetes %s (%s), read at %s", s.title("RULES"), clean(e.Controller.KubernetesVersion), sourceWords[e.Controller.Source], e.Snapshot.TakenAt.Format(time.RFC3339))
	for _, a := range e.Assumptions {
		s.line("  assumed: %s", assumption(a))
	}
	s.gap()
	t := &table{head: []string{"NODE", "SHOULD RUN", "SLOT", "POD", "PHASE", "REVISION", "READY", "AVAILABLE", "PROBLEM"}}
	for i := range e.Nodes {
		n := &e.Nodes[i]
		should := "?"
		if n.ShouldRun != nil {
			should = string(n.ShouldRun.Reason)
		}
		if len(n.Pods) == 0 {
			t.add(clean(n.Name), should, string(n.Slot), "-", "-", "-", "-", "-", problemCode(n))
		}
		for _, p := range n.Pods {
			phase := p.Phase
			if p.Terminating {
				phase = "Terminating"
			}
			t.add(clean(n.Name), should, string(n.Slot), clean(p.Name), clean(phase), revisionOf(e, p), yesNo(p.Ready), yesNo(p.Available), problemCode(n))
		}
	}
	for _, l := range t.lines(s.Style) {
		s.row(l)
	}
}

var sourceWords = map[snapshot.VersionSource]string{
	snapshot.VersionServer: "the API server's", snapshot.VersionFlag: "by flag", snapshot.VersionDump: "by the dump", snapshot.VersionDefault: "the newest known",
}

func assumption(a daemonset.Assumption) string {
	switch a.Code {
	case daemonset.AssumeControllerVersion:
		return "kube-controller-manager runs " + clean(a.Value) + " too"
	case daemonset.AssumeNewestRules:
		return "the rules of " + clean(a.Value) + ", the newest known, still hold"
	case daemonset.AssumeCurrentRevision:
		if a.Value == "" {
			return "no revision could be read, and no pod tells which is the current one"
		}
		return "the current revision's hash is " + clean(a.Value) + ", inferred (" + clean(a.Source) + ")"
	case daemonset.AssumeMayStay:
		return "the nodes that pods are on still exist and keep them"
	case daemonset.AssumeNodesReady:
		return "nodes are Ready unless a taint says otherwise, since their status is not in the input"
	case daemonset.AssumeGeneration:
		n, _ := strconv.Atoi(a.Value)
		return pluralVerb(n, "pod runs", "pods run") + " the live template: the label pod-template-generation says so, the hash does not"
	case daemonset.AssumeNewHash:
		return "the revision that the next sync creates gets a new hash; pods with hash " + clean(a.Value) + " count as updated if it gets theirs, as when a deleted revision is created again"
	case daemonset.AssumeTolerationComparison:
		return "the controller's feature gate " + clean(a.Value) + " is on, since the template has a toleration that needs it (Lt or Gt)"
	}
	return clean(string(a.Code)) + " " + clean(a.Value)
}

func problemCode(n *explain.Node) string {
	if n.Problem == nil {
		return ""
	}
	return string(n.Problem.Code)
}

func revisionOf(e *explain.Explanation, p explain.Pod) string {
	for _, r := range e.Revisions {
		if r.Name == p.Revision && r.Name != "" {
			return strconv.FormatInt(r.Number, 10)
		}
	}
	return cmp.Or(clean(p.Revision), "-")
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
