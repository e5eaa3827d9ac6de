package view

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// screen collects the lines of one answer.
type screen struct {
	Style
	now     time.Time
	lines   []string
	suspect bool // the new revision is said to be the cause, once for all its pods
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

func (s *screen) verdict(e *explain.Explanation) string {
	code := strings.ToUpper(spaced(string(e.Verdict.Code)))
	switch e.Verdict.Code {
	case explain.Stuck, explain.Degraded:
		code = s.bad(code)
	case explain.Healthy:
		code = s.good(code)
	default:
		code = s.warn(code)
	}
	return fmt.Sprintf("%s  %s/%s: %s", code, clean(e.DaemonSet.Namespace), clean(e.DaemonSet.Name), VerdictDetail(e))
}

// spaced writes "AwaitingDelete" as "Awaiting delete".
func spaced(code string) string {
	return capitals.ReplaceAllStringFunc(code, func(m string) string { return m[:1] + " " + strings.ToLower(m[1:]) })
}

var capitals = regexp.MustCompile(`[a-z][A-Z]`)

// VerdictDetail says in one sentence why the verdict is what it is.
func VerdictDetail(e *explain.Explanation) string {
	f := e.Verdict.Facts
	desired, updated, available := number(f, "desired"), number(f, "updated"), number(f, "available")
	switch e.Verdict.Code {
	case explain.BeingDeleted:
		return "it is being deleted, and its controller does nothing any more"
	case explain.Unknown:
		return "not known, as " + unread(e) + " could not be read"
	case explain.NotObserved:
		return fmt.Sprintf("the controller has not handled generation %d yet, its numbers are of %d", e.DaemonSet.Generation, e.DaemonSet.ObservedGeneration)
	case explain.AwaitingDelete:
		return fmt.Sprintf("%s with an old pod until somebody deletes it (%s)", plural(number(f, "oldNodes"), "node"), strategy(e))
	case explain.Stuck:
		return stuckDetail(e)
	case explain.Degraded:
		return fmt.Sprintf("%d of %s without an available pod%s", desired-available, plural(desired, "node"), mainCause(e))
	case explain.Progressing:
		if number(f, "oldNodes") > 0 {
			return fmt.Sprintf("%d of %s updated, %d available", updated, plural(desired, "node"), available)
		}
		return fmt.Sprintf("%d of %s available%s", available, plural(desired, "node"), mainCause(e))
	}
	if desired == 0 {
		return "no node should run it"
	}
	return fmt.Sprintf("%s, all available and up to date", plural(desired, "node"))
}

// stuckBy is the problem that stops a rollout; empty where the holders of its
// budget do.
func stuckBy(e *explain.Explanation) daemonset.Reason {
	has := func(code daemonset.Reason) bool {
		return slices.ContainsFunc(e.Problems, func(p explain.Problem) bool { return p.Code == code })
	}
	switch {
	case has(explain.ControllerSilent):
		return explain.ControllerSilent
	case has(explain.CreateRefused) && e.Next.Kind == daemonset.StepManage:
		return explain.CreateRefused
	case e.Next.Error != nil:
		return e.Next.Error.Code
	}
	return ""
}

func stuckDetail(e *explain.Explanation) string {
	switch stuckBy(e) {
	case explain.ControllerSilent:
		return "the controller does not do what it owes"
	case explain.CreateRefused:
		return "new pods are refused, and before they come no old pod is replaced"
	case daemonset.VanishedNodeInSurge:
		return "every surge step fails while pod " + clean(e.Next.Error.Pod) + " is left of vanished node " + clean(e.Next.Error.Node)
	case daemonset.InvalidBudget:
		return clean(e.Next.Error.Field) + " cannot be resolved"
	}
	switch {
	case e.Budget.Kind == daemonset.BudgetSurge:
		return fmt.Sprintf("budget used up, %s of %d surging, and no further pod is replaced", count(e.Budget.Used), e.Budget.MaxSurge)
	}
	return fmt.Sprintf("budget used up, %s of %d unavailable, and no healthy pod is replaced", count(e.Budget.Used), e.Budget.MaxUnavailable)
}

// count writes a number that may not be known.
func count(n *int) string {
	if n == nil {
		return "?"
	}
	return strconv.Itoa(*n)
}

func mainCause(e *explain.Explanation) string {
	if p := mainProblem(e); p != nil && p.Count > 0 {
		return fmt.Sprintf(" (%s on %s)", p.Code, plural(p.Count, "node"))
	}
	return ""
}

// mainProblem is the error on the most nodes, else the first warning; nil
// where nothing is wrong.
func mainProblem(e *explain.Explanation) *explain.Problem {
	var best *explain.Problem
	for i := range e.Problems {
		p := &e.Problems[i]
		switch {
		case p.Severity == explain.Info:
		case best == nil, p.Severity == explain.Error && (best.Severity != explain.Error || p.Count > best.Count):
			best = p
		}
	}
	return best
}

func (s *screen) numbers(e *explain.Explanation) {
	t := &table{head: []string{"", " DESIRED", " CURRENT", " READY", " UP-TO-DATE", " AVAILABLE", " MISSCHEDULED", ""}}
	row := func(name string, c daemonset.Counts, note string) {
		t.add(name, strconv.Itoa(c.Desired), strconv.Itoa(c.Current), strconv.Itoa(c.Ready), strconv.Itoa(c.Updated), strconv.Itoa(c.Available), strconv.Itoa(c.Misscheduled), note)
	}
	row("REPORTED", e.Status.Reported, "")
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
	if len(e.Status.Differences) == 0 {
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
		parts = append(parts, fmt.Sprintf("%s: %s", name, plural(len(r.Nodes), "node")))
	}
	if old || s.Wide && len(parts) > 0 {
		s.line("%s %s", s.title("REVISIONS"), strings.Join(parts, "; "))
	}
	if e.Next.Revisions.Cut && e.Verdict.Code != explain.BeingDeleted && !gapped(e, snapshot.Revisions) {
		s.line("  the live template has no revision yet: the next sync makes revision %d", e.Next.Revisions.Number)
	}
}

// unread names what could not be read at all.
func unread(e *explain.Explanation) string {
	var parts []string
	for _, g := range e.Snapshot.Gaps {
		if g.Why != snapshot.Moved && (g.What == snapshot.Nodes || g.What == snapshot.Pods) {
			parts = append(parts, string(g.What))
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
		s.line("%s", s.title("PROBLEMS"))
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
		case explain.Error:
			code = s.bad(code)
		case explain.Warning:
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

// unblock says what would let the rollout go on, unless that spreads what is
// wrong or does not help.
func (s *screen) unblock(e *explain.Explanation) {
	u := e.Budget.Unblock
	if e.Verdict.Code != explain.Stuck || u == nil || e.Budget.Kind != daemonset.BudgetUnavailable || e.Next.Reason != daemonset.StepBudgetSpent || s.suspect {
		return
	}
	words := fmt.Sprintf("maxUnavailable %d or more", u.Number)
	if e.Budget.Scaled != "" && u.Percent != "" {
		words = fmt.Sprintf("maxUnavailable %s or more (of %d, rounded up: at least %d)", u.Percent, e.Budget.Of, u.Number)
	}
	s.line("  to let one more go: %s, or mend what holds it", words)
}

// next says what the controller's next sync does.
func (s *screen) next(e *explain.Explanation) {
	n := &e.Next
	title := s.title("NEXT SYNC")
	about := ""
	if !n.Exact && e.Verdict.Code != explain.BeingDeleted {
		about = " (as far as could be read)"
	}
	if n.Reason == daemonset.StepPodsNotRead {
		s.line("%s not known, as %s could not be read", title, unread(e))
		return
	}
	also := s.bookkeeping(n)
	if n.Kind == daemonset.StepNone {
		does := "does nothing"
		if len(also) > 0 {
			does = "creates and deletes no pod"
		}
		s.line("%s %s: %s%s", title, does, idle(e), about)
		for _, a := range also {
			s.line("  %s", a)
		}
		return
	}
	var parts []string
	parts = append(parts, s.batch("delete", n.Deletes)...)
	parts = append(parts, s.batch("create", n.Creates)...)
	parts = append(parts, also...)
	s.line("%s%s", title, about)
	const most = 5
	for i, p := range parts {
		if i == most && !s.All && len(parts) > most+1 {
			s.line("  and %s, with --all", plural(len(parts)-most, "more batch"))
			break
		}
		s.line("  %s", p)
	}
	for _, w := range n.Waits {
		s.line("  or later: on a node with a failed pod it waits up to %s, which only its memory could tell (%s)",
			duration.HumanDuration(time.Duration(w.AtMost)*time.Second), s.names(w.Nodes))
	}
}

// bookkeeping is what a sync does to owners, labels and revisions.
func (s *screen) bookkeeping(n *daemonset.Step) []string {
	var out []string
	say := func(verb string, word string, names []string) {
		if len(names) > 0 {
			out = append(out, fmt.Sprintf("%s %s: %s", verb, plural(len(names), word), s.names(names)))
		}
	}
	say("adopts", "pod", n.Pods.Adopt)
	say("releases", "pod", n.Pods.Release)
	say("adopts", "revision", n.Revisions.Adopt)
	say("releases", "revision", n.Revisions.Release)
	say("gives the current revision's hash to", "pod", n.Revisions.Relabel)
	byReason := map[daemonset.Reason][]string{}
	for _, r := range n.Revisions.Remove {
		byReason[r.Reason] = append(byReason[r.Reason], r.Name)
	}
	say("removes as a duplicate", "revision", byReason[daemonset.Duplicate])
	say("removes, beyond revisionHistoryLimit,", "revision", byReason[daemonset.CleanUp])
	return out
}

// strategy names the update strategy, which the dump of a client may lack.
func strategy(e *explain.Explanation) string {
	return cmp.Or(clean(e.DaemonSet.Strategy), "no strategy")
}

func idle(e *explain.Explanation) string {
	switch e.Next.Reason {
	case daemonset.StepBeingDeleted:
		return "the DaemonSet is being deleted"
	case daemonset.StepSelectsAll:
		return "an empty selector makes the controller ignore the DaemonSet"
	case daemonset.StepOnDelete:
		if e.DaemonSet.Strategy == "" {
			return "every node has what it should, and without a strategy nothing is replaced"
		}
		return "every node has what it should, and " + clean(e.DaemonSet.Strategy) + " replaces nothing"
	case daemonset.StepUpToDate:
		return "all pods are of the current revision"
	case daemonset.StepBudgetSpent:
		return "the budget is used up"
	case daemonset.StepFails:
		return "it fails before it replaces a pod"
	}
	return "it waits for pods to become ready or to go"
}

// deleteWords say why the controller deletes or creates a pod.
var stepWords = map[daemonset.Reason]string{
	daemonset.Forced:           "the old pod is not available, so it goes whatever the budget says",
	daemonset.WithinBudget:     "within the budget",
	daemonset.NoLongerEligible: "the node should not run it any more",
	daemonset.Sunset:           "old pods on nodes that should not run them any more",
	daemonset.Superseded:       "the new pod is available, or this one is not ready",
	daemonset.Duplicate:        "a second pod on the node",
	daemonset.FailedPod:        "the pod failed",
	daemonset.SucceededPod:     "the pod ended",
	daemonset.NodeMissing:      "its node is gone",
	daemonset.Missing:          "the node has no running pod",
	daemonset.Surge:            "a second, new pod beside the old one",
	daemonset.Burst:            "the first of several reasons",
}

func (s *screen) batch(verb string, b daemonset.Batch) []string {
	var out []string
	byReason := map[daemonset.Reason][]string{}
	var order []daemonset.Reason
	for _, i := range b.Certain {
		if byReason[i.Reason] == nil {
			order = append(order, i.Reason)
		}
		byReason[i.Reason] = append(byReason[i.Reason], i.Node)
	}
	for _, r := range order {
		words := stepWords[r]
		if verb == "create" && r == daemonset.Forced {
			words = "the old pod is not available, so a new one comes whatever the budget says"
		}
		out = append(out, fmt.Sprintf("%ss %s (%s): %s", verb, plural(len(byReason[r]), "pod"), words, s.names(byReason[r])))
	}
	for _, c := range b.Choices {
		var nodes, pods []string
		for _, i := range c.From {
			nodes, pods = append(nodes, i.Node), append(pods, i.Pod)
		}
		if len(slices.Compact(slices.Clone(nodes))) < len(nodes) {
			nodes = pods // several of one node
		}
		out = append(out, fmt.Sprintf("%ss any %d of these %d (%s): %s", verb, c.Count, len(c.From), stepWords[c.Reason], s.names(nodes)))
	}
	if b.Deferred > 0 {
		out = append(out, fmt.Sprintf("%d more %ss wait for later syncs: one does at most 250", b.Deferred, verb))
	}
	return out
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
		return "the current revision's hash is " + clean(a.Value) + ", inferred (" + clean(a.Source) + ")"
	case daemonset.AssumeMayStay:
		return "the nodes that pods are on still exist and keep them"
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

// command is the one command that shows more of what the headline says; empty
// where there is nothing to look at.
func command(e *explain.Explanation) string {
	ns := " -n " + Quote(e.DaemonSet.Namespace)
	p := headlineProblem(e)
	if p == nil {
		if e.Verdict.Code == explain.AwaitingDelete {
			return pasted("kubectl get pods" + ns + " -o wide --sort-by=.spec.nodeName -L controller-revision-hash")
		}
		return ""
	}
	var node, pod string
	if len(p.Nodes) > 0 {
		node = Quote(p.Nodes[0])
	}
	if len(p.Pods) > 0 {
		pod = Quote(p.Pods[0])
	}
	container, _ := p.Facts["container"].(string)
	c := ""
	switch p.Code {
	case daemonset.NotYetAvailable:
	case explain.NodeNotReady, explain.TerminatingOnDeadNode, explain.InsufficientResources, explain.HostPortConflict:
		c = "kubectl describe node " + node
	case explain.CrashLoop, explain.OOMKilled:
		c = "kubectl logs" + ns + " " + pod + " -c " + Quote(container) + " --previous"
	case explain.ProbeFailing:
		c = "kubectl logs" + ns + " " + pod + " -c " + Quote(container)
	case explain.CreateRefused:
		c = "kubectl get events" + ns + " --field-selector involvedObject.kind=DaemonSet,involvedObject.name=" + Quote(e.DaemonSet.Name)
	case explain.GenerationNotObserved:
		if p.Severity == explain.Error { // else it has not had the time
			c = lookAtController
		}
	case explain.StaleStatus, explain.ControllerSilent:
		c = lookAtController
	default:
		if pod != "" {
			c = "kubectl describe pod" + ns + " " + pod
		}
	}
	return pasted(c)
}

const lookAtController = "kubectl get pods -n kube-system -l component=kube-controller-manager"

// headlineProblem is the problem that the headline is about; nil where nothing
// is wrong.
func headlineProblem(e *explain.Explanation) *explain.Problem {
	first := func(is func(*explain.Problem) bool) *explain.Problem {
		for i := range e.Problems {
			if p := &e.Problems[i]; p.Severity != explain.Info && is(p) {
				return p
			}
		}
		return nil
	}
	of := func(code daemonset.Reason) *explain.Problem {
		return first(func(p *explain.Problem) bool { return p.Code == code })
	}
	switch {
	case e.Verdict.Code == explain.NotObserved:
		return of(explain.GenerationNotObserved)
	case e.Verdict.Code != explain.Stuck:
		return mainProblem(e)
	}
	if code := stuckBy(e); code != "" {
		return of(code)
	}
	return first(func(p *explain.Problem) bool {
		return slices.ContainsFunc(e.Budget.Holders, func(h explain.Holder) bool { return h.Reason == p.Code && slices.Contains(p.Nodes, h.Node) })
	})
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9._:/=@-]+$`)

// pasted returns a command, or "" where it has words that cannot be pasted as
// they are printed.
func pasted(command string) string {
	if clean(command) != command {
		return ""
	}
	return command
}

// Quote makes a word safe to paste into a shell.
func Quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
