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

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// screen collects the lines of one answer.
type screen struct {
	Style
	now   time.Time
	lines []string
}

func (s *screen) line(format string, args ...any) {
	s.lines = append(s.lines, s.cut(fmt.Sprintf(format, args...)))
}

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
	s := &screen{Style: style, now: e.Snapshot.TakenAt}
	s.line("%s", s.verdict(e))
	s.gap()
	s.numbers(e)
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
		s.line("%s %s", s.title("To go on:"), c)
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
		return "what could not be read hides the answer"
	case explain.NotObserved:
		return fmt.Sprintf("the controller has not handled generation %d yet, its numbers are of %d", e.DaemonSet.Generation, e.DaemonSet.ObservedGeneration)
	case explain.AwaitingDelete:
		return fmt.Sprintf("%s on an old revision until somebody deletes them (OnDelete)", plural(number(f, "oldNodes"), "pod"))
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
	return fmt.Sprintf("%s, each with an available pod of the current revision", plural(desired, "node"))
}

func stuckDetail(e *explain.Explanation) string {
	switch {
	case e.Next.Error != nil && e.Next.Error.Code == daemonset.VanishedNodeInSurge:
		return "every surge step fails while pod " + clean(e.Next.Error.Pod) + " is left of vanished node " + clean(e.Next.Error.Node)
	case e.Next.Error != nil:
		return clean(e.Next.Error.Field) + " cannot be resolved"
	case e.Budget.Kind == daemonset.BudgetSurge:
		return fmt.Sprintf("budget used up, %d of %d surging, and no further pod is replaced", e.Budget.Used, e.Budget.MaxSurge)
	}
	return fmt.Sprintf("budget used up, %d of %d unavailable, and no healthy pod is replaced", e.Budget.Used, e.Budget.MaxUnavailable)
}

func mainCause(e *explain.Explanation) string {
	for _, p := range e.Problems {
		if p.Count > 0 && p.Severity != explain.Info {
			return fmt.Sprintf(" (%s on %s)", p.Code, plural(p.Count, "node"))
		}
	}
	return ""
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
		t.add("COMPUTED", "?", "?", "?", "?", "?", "?", "not all could be read")
	}
	for _, l := range t.lines(s.Style) {
		s.line("%s", l)
	}
}

func (s *screen) agreement(e *explain.Explanation) string {
	if len(e.Status.Differences) == 0 {
		return s.good("all agree")
	}
	switch e.Status.Differences[0].Reason {
	case explain.Moving:
		return s.warn("REPORTED is behind, being written")
	case explain.GenerationNotObserved:
		return s.warn("REPORTED is of an older generation")
	}
	return s.warn("REPORTED is stale")
}

// desired is the arithmetic of DESIRED.
func (s *screen) desired(e *explain.Explanation) {
	for _, c := range e.Columns {
		if c.Name != "DESIRED" || e.Status.Computed == nil {
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
			s.line("%s %d = all %s", s.title("DESIRED"), all, plural(all, "node"))
			return
		}
		s.line("%s %d = %s - %d excluded", s.title("DESIRED"), all-excluded, plural(all, "node"), excluded)
		for i, g := range groups {
			if i == 4 && !s.All && len(groups) > 5 {
				s.line("  and %s more, with --all", plural(len(groups)-i, "reason"))
				break
			}
			s.entry(g.Count, string(g.Reason), placement(g.Reason, g.Facts), g.Nodes)
		}
	}
}

// entry is one group of nodes: how many, the code, what it means, and which.
// The names go to a line of their own where they do not fit.
func (s *screen) entry(count int, code, words string, nodes []string) {
	head := fmt.Sprintf("  %3d  %-s", count, s.title(code))
	if count == 0 {
		head = fmt.Sprintf("    -  %-s", s.title(code))
	}
	if words != "" {
		head += "  " + words
	}
	if len(nodes) == 0 {
		s.line("%s", head)
		return
	}
	names := s.names(nodes)
	if s.Width == 0 || width(head)+3+width(names) <= s.Width {
		s.line("%s   %s", head, names)
		return
	}
	s.line("%s", head)
	s.line("       %s", names)
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
		}
		if r.Current {
			name += " (current, made " + age(s.now, r.Created) + " ago)"
		}
		old = old || !r.Current && len(r.Nodes) > 0
		parts = append(parts, fmt.Sprintf("%s: %s", name, plural(len(r.Nodes), "node")))
	}
	if old || s.Wide {
		s.line("%s %s", s.title("REVISIONS"), strings.Join(parts, "; "))
	}
	if e.Next.Revisions.Cut && e.Verdict.Code != explain.BeingDeleted && !gapped(e, snapshot.Revisions) {
		s.line("  the live template has no revision yet: the next sync makes revision %d", e.Next.Revisions.Number)
	}
}

func gapped(e *explain.Explanation, what snapshot.What) bool {
	return slices.ContainsFunc(e.Snapshot.Gaps, func(g daemonset.Gap) bool { return g.What == what })
}

// budget is the arithmetic of the budget, and who uses it up.
func (s *screen) budget(e *explain.Explanation) {
	b := &e.Budget
	var limit int
	var field string
	switch b.Kind {
	case daemonset.BudgetNone:
		s.line("%s none: strategy %s replaces no pod by itself", s.title("BUDGET"), clean(e.DaemonSet.Strategy))
		return
	case daemonset.BudgetSurge:
		limit, field = b.MaxSurge, "maxSurge"
	default:
		limit, field = b.MaxUnavailable, "maxUnavailable"
	}
	how := field + " " + clean(b.Spec)
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
	used := fmt.Sprintf("%d of %d used", b.Used, limit)
	if b.Used >= limit && number(e.Verdict.Facts, "oldNodes") > 0 {
		used = s.warn(used)
	}
	s.line("%s %s: %s", s.title("BUDGET"), used, how)
}

// problems lists those of nodes that hold the budget of a rollout apart from
// the others.
func (s *screen) problems(e *explain.Explanation) {
	holders := map[string]bool{}
	if number(e.Verdict.Facts, "oldNodes") > 0 {
		for _, h := range e.Budget.Holders {
			holders[h.Node] = true
		}
	}
	var holding, others []explain.Problem
	explained := map[string]bool{}
	for _, p := range e.Problems {
		if len(p.Nodes) > 0 && !slices.ContainsFunc(p.Nodes, func(n string) bool { return !holders[n] }) {
			holding = append(holding, p)
			for _, n := range p.Nodes {
				explained[n] = true
			}
			continue
		}
		others = append(others, p)
	}
	if len(holders) > 0 {
		s.gap()
		s.line("%s%s", s.title(fmt.Sprintf("HOLDING THE BUDGET (%d)", len(holders))), since(e))
		s.list(holding)
		s.unexplained(e, explained)
		s.unblock(e)
	}
	if len(others) > 0 {
		s.gap()
		s.line("%s", s.title("PROBLEMS"))
		s.list(others)
	}
}

func (s *screen) list(problems []explain.Problem) {
	const most = 6
	for i := range problems {
		if i == most && !s.All && len(problems) > most+1 {
			s.line("  and %s more, with --all", plural(len(problems)-most, "problem"))
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
		s.entry(p.Count, code, problem(s.now, p), p.Nodes)
	}
}

// unexplained lists the holders that no problem names.
func (s *screen) unexplained(e *explain.Explanation, explained map[string]bool) {
	byReason := map[daemonset.Reason][]string{}
	for _, h := range e.Budget.Holders {
		if !explained[h.Node] {
			byReason[h.Reason] = append(byReason[h.Reason], h.Node)
		}
	}
	reasons := make([]daemonset.Reason, 0, len(byReason))
	for r := range byReason {
		reasons = append(reasons, r)
	}
	slices.SortFunc(reasons, func(a, b daemonset.Reason) int {
		return cmp.Or(cmp.Compare(len(byReason[b]), len(byReason[a])), strings.Compare(string(a), string(b)))
	})
	for _, r := range reasons {
		s.entry(len(byReason[r]), string(r), "", byReason[r])
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

func (s *screen) unblock(e *explain.Explanation) {
	u := e.Budget.Unblock
	if e.Verdict.Code != explain.Stuck || u == nil || e.Budget.Kind != daemonset.BudgetUnavailable {
		return
	}
	words := fmt.Sprintf("maxUnavailable %d or more", u.Number)
	if e.Budget.Scaled != "" && u.Percent != "" {
		words = fmt.Sprintf("maxUnavailable %s or more (of %d, rounded up: at least %d)", u.Percent, e.Budget.Of, u.Number)
	}
	s.line("  to let one more go: %s, or mend or remove these nodes", words)
}

// next says what the controller's next sync does.
func (s *screen) next(e *explain.Explanation) {
	n := &e.Next
	title := s.title("NEXT SYNC")
	about := ""
	if !n.Exact && e.Verdict.Code != explain.BeingDeleted {
		about = " (as far as could be read)"
	}
	if n.Kind == daemonset.StepNone {
		s.line("%s does nothing: %s%s", title, idle(e), about)
		return
	}
	var parts []string
	parts = append(parts, s.batch("delete", n.Deletes)...)
	parts = append(parts, s.batch("create", n.Creates)...)
	s.line("%s%s", title, about)
	for _, p := range parts {
		s.line("  %s", p)
	}
	for _, w := range n.Waits {
		s.line("  %s: the controller waits up to %s between two, which only its memory could tell", plural(len(w.Nodes), "failed pod's node"), time.Duration(w.AtMost)*time.Second)
	}
}

func idle(e *explain.Explanation) string {
	switch e.Next.Reason {
	case daemonset.StepBeingDeleted:
		return "the DaemonSet is being deleted"
	case daemonset.StepSelectsAll:
		return "an empty selector makes the controller ignore the DaemonSet"
	case daemonset.StepOnDelete:
		return "every node has what it should, and OnDelete replaces nothing"
	case daemonset.StepUpToDate:
		return "all pods are of the current revision"
	case daemonset.StepBudgetSpent:
		return "the budget is used up"
	case daemonset.StepFails:
		return "it fails"
	case daemonset.StepPodsNotRead:
		return "unknown, the pods could not be read"
	}
	return "it waits for pods to become ready or to go"
}

// deleteWords say why the controller deletes or creates a pod.
var stepWords = map[daemonset.Reason]string{
	daemonset.Forced:           "the old pod is not available, so it goes whatever the budget says",
	daemonset.WithinBudget:     "within the budget",
	daemonset.NoLongerEligible: "the node should not run it any more",
	daemonset.Sunset:           "old pods on nodes that should not run them any more",
	daemonset.Superseded:       "the new pod has taken over",
	daemonset.Duplicate:        "a second pod on the node",
	daemonset.FailedPod:        "the pod failed",
	daemonset.SucceededPod:     "the pod ended",
	daemonset.NodeMissing:      "its node is gone",
	daemonset.Missing:          "the node has none",
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
		var nodes []string
		for _, i := range c.From {
			nodes = append(nodes, i.Node)
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
		s.line("%s", l)
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

// command is the one command that shows more of the first problem.
func command(e *explain.Explanation) string {
	ns := " -n " + quote(e.DaemonSet.Namespace)
	for _, p := range e.Problems {
		if p.Severity == explain.Info {
			continue
		}
		pod := ""
		if len(p.Pods) > 0 {
			pod = quote(p.Pods[0])
		}
		switch p.Code {
		case explain.NodeNotReady, explain.TerminatingOnDeadNode:
			return "kubectl describe node " + quote(p.Nodes[0])
		case explain.CrashLoop, explain.OOMKilled:
			return "kubectl logs" + ns + " " + pod + " -c " + quote(fact(p.Facts, "container")) + " --previous"
		case explain.ProbeFailing:
			return "kubectl logs" + ns + " " + pod + " -c " + quote(fact(p.Facts, "container"))
		case explain.CreateRefused:
			return "kubectl get events" + ns + " --field-selector involvedObject.kind=DaemonSet,involvedObject.name=" + quote(e.DaemonSet.Name)
		case explain.StaleStatus, explain.ControllerSilent, explain.GenerationNotObserved:
			return "kubectl get pods -n kube-system -l component=kube-controller-manager"
		}
		if pod != "" {
			return "kubectl describe pod" + ns + " " + pod
		}
	}
	if e.Verdict.Code == explain.AwaitingDelete {
		return "kubectl get pods" + ns + " -o wide --sort-by=.spec.nodeName -L controller-revision-hash"
	}
	return ""
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9._:/=@-]+$`)

// quote makes a word safe to paste into a shell.
func quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
