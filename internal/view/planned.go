package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Plan writes one DaemonSet's plan: how it ends, whom it leaves without a pod,
// what changes, the course to the end or to the stall with the ways out, and what
// that rests on. Of a plan of what is under way, now is the Explanation of the
// same Snapshot; else it is nil.
func Plan(w io.Writer, p *plan.Plan, now *explain.Explanation, asked Asked, style Style) error {
	return newPlanned(p, now, asked, style).Text(w, style.terminal())
}

// PlanMarkdown writes a plan for a comment on a pull request.
func PlanMarkdown(w io.Writer, p *plan.Plan, now *explain.Explanation) error {
	return newPlanned(p, now, Asked{}, Style{}).Markdown(w)
}

// planned makes the screen of one Plan.
type planned struct {
	*sheet
	p        *plan.Plan
	o        *plan.Outcome
	problems []*cause.Problem // of the nodes that stay without an available pod or use up the limit, and of pods that are late
	live     *answer          // of what is under way; nil for a change
}

func newPlanned(p *plan.Plan, now *explain.Explanation, asked Asked, style Style) *screen.Screen {
	s := &planned{sheet: newSheet(&p.Header, asked, style), p: p, o: &p.Outcome}
	found := p.Outcome.Problems()
	for i := range found {
		s.problems = append(s.problems, &found[i])
	}
	switch {
	case now != nil && s.ofChange():
		s.before(&answer{s.sheet, now})
	case now != nil:
		s.live = &answer{s.sheet, now}
		s.problems = s.live.e.Matters()
	}
	s.headline()
	s.change()
	if s.live != nil {
		s.live.present()
		s.live.fixes()
	} else {
		s.limit()
		s.warnings()
		known := slices.DeleteFunc(slices.Clone(s.problems), func(p *cause.Problem) bool { return s.supposed(p.Nodes) })
		s.s.Add(screen.Body, s.problemTable("PROBLEM", known))
		s.checks(known)
		if down := s.down(); s.o.Code == plan.Stalls && s.o.Reason == daemonset.StepBudgetSpent && len(down) > 0 {
			s.s.Add(screen.Cause, screen.Names{Before: pluralOf(len(down), "the pod of a node that is down does", "pods of nodes that are down do") + " not end when deleted, and so " + pluralOf(len(down), "uses", "use") + " up the limit:", Names: down, Short: true})
		}
	}
	s.impact()
	s.course()
	s.groups()
	s.waysOut()
	s.outlook()
	s.whatIf()
	s.commands()
	s.assumed()
	return &s.s
}

// before says what is under way when a change is made.
func (s *planned) before(now *answer) {
	if !now.e.Rollout.UnderWay {
		return
	}
	now.rollout()
	var waits []*cause.Problem
	for i := range now.e.Problems {
		if p := &now.e.Problems[i]; p.Count > 0 && p.Code != explain.OnDeleteOutdated && p.Code != explain.Misscheduled {
			waits = append(waits, p)
		}
	}
	const most = 3
	s.s.Add(screen.Body, s.problemTable("NOW", waits[:min(most, len(waits))]))
}

// ofChange reports whether the plan is of what has not been done yet.
func (s *planned) ofChange() bool { return ofChange(s.p) }

func ofChange(p *plan.Plan) bool {
	return p.Subject == plan.SubjectChange || p.Subject == plan.SubjectNew
}

func (s *planned) headline() {
	s.s.Headline = screen.Headline{Verdict: planVerdict(s.p), Tone: planTone(s.p), Subject: s.subject(), Text: s.summary()}
	n := len(s.p.Warnings)
	if s.o.Code == plan.Completes && len(lostLater(s.p)) > 0 {
		n++
	}
	if n > 0 && s.ofChange() {
		s.s.Headline.Verdict += ", " + pluralVerb(n, "WARNING", "WARNINGS")
	}
	s.s.Notice = "Plan only: nothing has been changed."
}

// planVerdict is how it ends: in the conditional for a change, in the future for
// what is under way.
func planVerdict(p *plan.Plan) string {
	will := "WILL "
	if ofChange(p) {
		will = "WOULD "
	}
	switch p.Outcome.Code {
	case plan.NothingToDo:
		if staysDegraded(p) {
			return "DEGRADED"
		}
		return "NOTHING TO DO"
	case plan.Completes:
		if n := len(p.Placement.Lose); n > 0 && olds(&p.Forecast) == 0 && len(p.Placement.Gain) == 0 {
			return will + "REMOVE " + plural(n, "POD")
		}
		return will + "COMPLETE"
	case plan.RemovesAllPods:
		return will + "REMOVE ALL PODS"
	case plan.Stalls:
		switch {
		case p.Subject != plan.SubjectRollout || len(p.Waves) > 0:
			return will + "STALL"
		case olds(&p.Forecast) == 0:
			return "STAYS DEGRADED"
		}
		return "STAYS STUCK"
	case plan.NotRolling:
		switch {
		case p.Outcome.Reason == daemonset.StepBeingDeleted:
			return "BEING DELETED"
		case p.Outcome.Reason == daemonset.StepSelectsAll:
			return "IGNORED"
		case p.Subject == plan.SubjectChange:
			return "WOULD WAIT FOR YOU"
		}
		return "WAITS FOR YOU"
	}
	return "UNKNOWN"
}

// staysDegraded reports whether nothing is rolling and nodes stay without an
// available pod: explain says Degraded of that, and so does a plan.
func staysDegraded(p *plan.Plan) bool {
	return p.Outcome.Code == plan.NothingToDo && p.Subject == plan.SubjectNothing && left(&p.Outcome) > 0
}

// planTone is the colour of how it ends: nodes that lose their pod are no good
// end.
func planTone(p *plan.Plan) screen.Tone {
	switch {
	case p.Outcome.Code == plan.Stalls, p.Outcome.Code == plan.RemovesAllPods, len(p.Placement.Lose) > 0:
		return screen.Bad
	case p.Desired.After == 0 && p.Next.Exact:
		return screen.Warn
	case left(&p.Outcome) == 0 && (p.Outcome.Code == plan.NothingToDo || p.Outcome.Code == plan.Completes):
		return screen.Good
	}
	return screen.Warn
}

// summary is the headline's sentence. It names the nodes that lose their pod
// whatever the end is.
func (s *planned) summary() string {
	words := s.ending()
	if who := s.undoneBy(); who != "" {
		words += "; " + who + " undoes it"
	}
	if n := len(s.p.Placement.Lose); n > 0 {
		words += "; " + pluralVerb(n, "node loses its pod at once", "nodes lose their pod at once")
	}
	return words
}

// undoneBy is who undoes the change by itself; empty where nobody is known to.
func (s *planned) undoneBy() string {
	for _, w := range s.p.Warnings {
		if tool := managed.Tool(fact(w.Facts, "tool")); w.Code == plan.ManagedByTool && tool != managed.KubectlApply && tool != managed.HelmRelease && tool != managed.ServerSideApply && tool != managed.Terraform {
			who, _ := managerWords(managed.Manager{Tool: tool, By: fact(w.Facts, "by")})
			return who
		}
	}
	return ""
}

func (s *planned) ending() string {
	switch s.o.Code {
	case plan.Completes:
		return s.completes()
	case plan.Stalls:
		return s.stalls()
	case plan.RemovesAllPods:
		return "no node would be eligible"
	case plan.NotRolling:
		return s.notRolling()
	case plan.NothingToDo:
		return s.nothing()
	}
	if what := unread(s.h); what != "" {
		return "how it ends is unknown: " + what + " could not be read"
	}
	return "how it ends is unknown: " + stallReason(s.o.Reason)
}

// end is how many pods are updated, and available, when it ends.
func (s *planned) end() daemonset.Counts {
	if n := len(s.p.Waves); n > 0 {
		return s.p.Waves[n-1].Counts
	}
	return s.p.Now
}

func (s *planned) completes() string {
	end := s.end()
	in := ""
	if s.o.Duration != nil {
		in = " in " + rangeWords(s.o.Duration)
	}
	var parts []string
	creates, deletes := moved(&s.p.Forecast)
	switch replaced, old := s.p.Replaces, olds(&s.p.Forecast); {
	case s.p.Subject == plan.SubjectNew:
		parts = append(parts, fmt.Sprintf("%d of %s available%s", end.Available, plural(end.Desired, "pod"), in))
	case old > 0 && s.p.Subject == plan.SubjectRollout:
		parts = append(parts, fmt.Sprintf("%d of %s updated", s.p.Now.Updated, plural(s.p.Now.Desired, "pod")))
		switch {
		case replaced > 0 && replaced+s.p.Now.Updated == end.Desired:
			parts = append(parts, pluralOf(replaced, "the other one", fmt.Sprintf("the other %d", replaced))+cmp.Or(in, pluralOf(replaced, " follows", " follow")))
		case replaced > 0:
			parts = append(parts, plural(replaced, "more pod")+cmp.Or(in, pluralOf(replaced, " follows", " follow")))
		case in != "":
			parts = append(parts, "complete"+in)
		}
	case replaced > 0:
		parts = append(parts, fmt.Sprintf("%d of %s updated%s", end.Updated, plural(end.Desired, "pod"), in))
	default:
		parts = append(parts, movedWords(creates, deletes, s.ofChange())+in)
	}
	if n := s.p.Drops; n > 0 {
		words := plural(n, "pod")
		if later := lostLater(s.p); len(later) == n && n <= 3 {
			words = pluralOf(n, "the pod on ", "the pods on ") + strings.Join(placedNodes(later), ", ")
		}
		parts = append(parts, words+pluralOf(n, " is", " are")+" deleted and not replaced")
	}
	if n := left(s.o); n > 0 {
		parts = append(parts, pluralVerb(n, "node stays", "nodes stay")+" without an available pod"+inBrackets(codes(s.o.Holders)))
	}
	if n := len(s.o.Late); n > 0 {
		parts = append(parts, "if the "+pluralOf(n, "pod on ", "pods on ")+someNames(holderNodes(s.o.Late))+pluralOf(n, " becomes", " become")+" Ready"+inBrackets(s.codesFor(s.o.Late)))
	}
	return strings.Join(parts, "; ")
}

func (s *planned) stalls() string {
	end := s.end()
	words := fmt.Sprintf("%d of %s updated", end.Updated, plural(end.Desired, "pod"))
	if s.p.Subject == plan.SubjectNew || olds(&s.p.Forecast) == 0 {
		words = fmt.Sprintf("%d of %s available", end.Available, plural(end.Desired, "pod"))
	}
	if len(s.p.Waves) > 0 {
		words = "stops at " + words
	}
	if s.o.AtWorst {
		words += " at worst"
	}
	return words + "; " + s.blame()
}

// blame names who stays without an available pod, by cause.
func (s *planned) blame() string {
	switch {
	case s.o.Reason == cause.Terminating:
		return pluralVerb(s.o.Terminating, "pod is deleted and stays Terminating", "pods are deleted and stay Terminating")
	case s.o.Reason == daemonset.StepBudgetSpent && s.p.Budget.Limit == 0:
		return fmt.Sprintf("the limit is %s of 0 nodes = 0, so no available pod is deleted", s.p.Budget.Spec)
	}
	if slices.ContainsFunc(s.p.Warnings, func(w plan.Warning) bool { return w.Code == plan.InvalidImageName }) {
		return "no new pod starts: the name of its image is invalid"
	}
	if s.live != nil && len(s.p.Waves) == 0 {
		return cmp.Or(s.live.why(2), stallReason(s.o.Reason))
	}
	if s.o.Reason != daemonset.StepBudgetSpent && s.o.Reason != daemonset.StepWaiting && s.o.Reason != plan.Unfilled {
		return stallReason(s.o.Reason)
	}
	words := why(s.problems, func(p *cause.Problem, nodes []string) string {
		of := predicates[p.Code]
		if s.supposed(nodes) {
			of = predicate{"node", "would be down", "would be down"}
		}
		return of.of(nodes, 0)
	}, 2)
	if n := s.o.FurtherHolders; n > 0 {
		any := fmt.Sprintf("any %s (the controller chooses at random)", pluralVerb(n, "node stays without an available pod", "nodes stay without an available pod"))
		if words != "" {
			any = words + ", " + any
		}
		words = any
	}
	return cmp.Or(words, stallReason(s.o.Reason))
}

func (s *planned) notRolling() string {
	switch s.o.Reason {
	case daemonset.StepBeingDeleted:
		return "the controller no longer manages its pods"
	case daemonset.StepSelectsAll:
		return "its selector is empty, so the controller ignores it"
	}
	if s.live != nil && s.live.e.Verdict.Code == explain.AwaitingDelete {
		return s.live.summary()
	}
	if n := s.o.Left; n > 0 {
		return fmt.Sprintf("with %s you delete %s; until then %s", strategy(s.h), plural(n, "pod"), pluralOf(n, "it stays on an older revision", "they stay on older revisions"))
	}
	return "all pods are updated (" + strategy(s.h) + ")"
}

func (s *planned) nothing() string {
	switch p := s.p; {
	case left(s.o) > 0:
		return fmt.Sprintf("no rollout in progress; %s without an available pod%s", plural(left(s.o), "node"), inBrackets(codes(s.o.Holders)))
	case p.Subject == plan.SubjectNothing && nowhere(p):
		return "no rollout in progress, and no node is eligible"
	case p.Subject == plan.SubjectNothing:
		return "no rollout in progress, and every eligible node has its pod"
	case p.Subject == plan.SubjectNew && nowhere(p):
		return "no node is eligible, so no pod is created"
	case p.Subject != plan.SubjectNew && p.Change != nil && len(p.Change.Fields)+len(p.Change.Nodes) == 0:
		if !p.TemplateKnown() {
			return "nothing that can be compared differs from what is in the cluster"
		}
		return "nothing differs from what is in the cluster"
	case p.Desired.Before != p.Desired.After:
		return fmt.Sprintf("no pod is created, deleted or replaced; DESIRED goes from %d to %d", p.Desired.Before, p.Desired.After) + ifValuesEqual(p)
	}
	return "no pod is created, deleted or replaced" + ifValuesEqual(s.p)
}

// valuesEqual is what is assumed of values that could not be compared.
const valuesEqual = "the manifest's literal values, which could not be compared, are what is in the cluster"

func ifValuesEqual(p *plan.Plan) string {
	if p.TemplateKnown() {
		return ""
	}
	return ", if " + valuesEqual
}

// nowhere reports whether it is known that no node should run the pod.
func nowhere(p *plan.Plan) bool { return p.Desired.After == 0 && p.Next.Exact }

// change says what was asked for, and what it means for the revision.
func (s *planned) change() {
	c := s.p.Change
	if c == nil {
		return
	}
	for _, l := range few(fieldStyle{all: s.style.All}.lines(c.Fields, nil), 8, "more change", s.style) {
		s.add(screen.Change, "%s", l)
	}
	for _, n := range c.Nodes {
		s.s.Add(screen.Change, nodeChanged(n))
	}
	s.add(screen.Change, "%s", templateWords(s.p))
	if how := fill(s.now, daemonset.Facts{"method": c.Method, "manager": c.FieldManager}, methods...); how != "" {
		s.add(screen.Change, "(%s)", how)
	}
}

// nodeChanged is a change of nodes that was asked for.
func nodeChanged(n plan.NodeChange) screen.Block {
	words := plural(len(n.Nodes), "node") + " " + cmp.Or(nodeChangeWords[n.Kind], string(n.Kind))
	switch {
	case n.Kind == plan.NodeAdd:
		words += " like " + n.Value
	case n.Value != "":
		words += " " + n.Value
	}
	if len(n.Nodes) == 0 {
		return screen.Text(words + ": already so")
	}
	return screen.Names{Before: words + ":", Names: n.Nodes, Short: true}
}

// supposed reports whether the plan was asked to take nodes for down.
func (s *planned) supposed(nodes []string) bool {
	if s.p.Change == nil {
		return false
	}
	return !slices.ContainsFunc(nodes, func(name string) bool {
		return !slices.ContainsFunc(s.p.Change.Nodes, func(c plan.NodeChange) bool { return c.Kind == plan.NodeDown && slices.Contains(c.Nodes, name) })
	})
}

// impact is who is without an available pod on the way, and which nodes lose or
// get their pod whatever the limit is.
func (s *planned) impact() {
	desired := max(s.p.Desired.Before, s.p.Desired.After)
	without := 0
	if s.live != nil && s.live.e.Impact != nil {
		without = len(s.live.e.Impact.Without)
	}
	switch {
	case s.o.Code == plan.NothingToDo, s.o.Code == plan.Unknown, s.o.Code == plan.NotRolling, s.p.Subject == plan.SubjectNew, s.o.Worst == without && without > 0:
	case s.o.Worst > 0 && desired == 0: // the nodes could not be read
		s.add(screen.Impact, "at most %s without an available pod at any time", plural(s.o.Worst, "node"))
	case s.o.Worst > 0:
		s.add(screen.Impact, "at most %d of %s without an available pod at any time", s.o.Worst, plural(desired, "node"))
	case s.live == nil && olds(&s.p.Forecast) > 0 && len(s.p.Lost) == 0:
		s.add(screen.Impact, "none: %s an available pod all the time", allHave(desired))
	}
	s.placed(s.p.Placement.Lose, "node loses its pod at once, whatever the limit is:", "nodes lose their pod at once, whatever the limit is:")
	if s.o.Code != plan.Stalls { // which does not reach all of them
		s.placed(lostLater(s.p), "node loses its pod in the course of the rollout:", "nodes lose their pod in the course of the rollout:")
		s.repairFirst()
	}
	s.placed(s.p.Placement.Gain, "node gets a pod at once:", "nodes get a pod at once:")
}

func (s *planned) placed(nodes []plan.PlacementNode, one, many string) {
	const most = 3
	for i, g := range placedGroups(nodes) {
		if i == most && !s.style.All && len(placedGroups(nodes)) > most+1 {
			s.add(screen.Impact, "more of them with --all")
			return
		}
		s.s.Add(screen.Impact, screen.Names{Before: pluralVerb(len(g.nodes), one, many), Names: g.nodes, After: inBrackets(g.words), Short: true})
	}
}

// repairFirst says which nodes keep their pod if they are repaired before the
// rollout.
func (s *planned) repairFirst() {
	var nodes []string
	for _, n := range lostLater(s.p) {
		if key := fact(n.Verdict.Facts, "key"); key == corev1.TaintNodeNotReady || key == corev1.TaintNodeUnreachable {
			nodes = append(nodes, n.Node)
		}
	}
	if len(nodes) > 0 && !s.supposed(nodes) {
		s.s.Add(screen.Check, s.kubectl("kubectl describe node", screen.Quote(nodes[0])))
		s.s.Add(screen.Fix, screen.Names{Before: "repair first, " + pluralOf(len(nodes), "and the node keeps its pod:", "and the nodes keep their pods:"), Names: nodes, Short: true})
	}
}

func placedNodes(nodes []plan.PlacementNode) (names []string) {
	for _, n := range nodes {
		names = append(names, n.Node)
	}
	return names
}

// limit is the rule that bounds the rollout of a change.
func (s *planned) limit() {
	b := &s.p.Budget
	f, old := &s.p.Forecast, olds(&s.p.Forecast)
	if old == 0 || b.Kind == daemonset.BudgetNone || s.o.Code == plan.NotRolling {
		return
	}
	words := limitWords(b.Kind, b.Spec, "", s.p.Desired.After, b.Limit)
	n, once := atATime(f, s.o.AtATime), min(s.o.AtOnce, old)
	switch {
	case s.o.Code == plan.Stalls && len(s.p.Waves) == 0:
		words += ", and it is used up, so the controller replaces no further pod"
	case once == old:
		words += pluralOf(old, " does not apply: the pod is", fmt.Sprintf(" does not apply: the %d pods are", old)) + " not available"
	case old > 1 && n == old:
		words += fmt.Sprintf(": all %d pods at once", old)
	case n == 0:
	case once > 0:
		words += fmt.Sprintf(": %s that %s not available at once, the others at most %d at a time", plural(once, "pod"), pluralOf(once, "is", "are"), n)
	default:
		words += fmt.Sprintf(": at most %s at a time", plural(n, "pod"))
	}
	s.add(screen.Limit, "%s", words)
}

// warnings are what the API accepts and will not go well.
func (s *planned) warnings() {
	t := &screen.Table{Columns: []screen.Column{{Head: "WARNING"}}}
	for i, w := range s.p.Warnings {
		if i == 0 || s.p.Warnings[i-1].Code != w.Code {
			t.Rows = append(t.Rows, screen.Row{Cells: []screen.Cell{{Lines: []string{string(w.Code)}, Tone: screen.Warn}}})
		}
		last := &t.Rows[len(t.Rows)-1]
		last.Detail = append(last.Detail, screen.Text(s.warning(w)))
	}
	s.s.Add(screen.Body, t)
}

// warning says one in a sentence: those of a plan are among the meanings.
func (s *planned) warning(w plan.Warning) string {
	who, undone := managerWords(managed.Manager{Tool: managed.Tool(fact(w.Facts, "tool")), By: fact(w.Facts, "by")})
	return s.meaning(&cause.Problem{Code: w.Code, Facts: with(w.Facts, daemonset.Facts{"who": who, "undone": undone, "fault": ImageFault(template.ImageFault(fact(w.Facts, "fault")))})})
}

// course is the table of steps. Which pods each takes is the controller's random
// choice.
func (s *planned) course() {
	waves := s.p.Waves
	if len(waves) == 0 {
		return
	}
	t := &screen.Table{Columns: []screen.Column{{Head: "STEP"}, {Head: "STARTS AT"}, {Head: "DELETES", Right: true}, {Head: "CREATES", Right: true}, {Head: "UPDATED THEN", Right: true}, {Head: "AVAILABLE THEN", Right: true, Drop: 1}}}
	timed := waves[0].At != nil
	first := 1
	const head, tail = 5, 2
	for i, w := range waves {
		if folded := len(waves) - head - tail; folded > 1 && !s.style.All && i >= head && i < len(waves)-tail {
			if i == head {
				t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(fmt.Sprintf("%d more rows with --all", folded))})
			}
			first += w.Count
			continue
		}
		of := fmt.Sprintf("%d of %d", w.Counts.Updated, w.Counts.Desired)
		t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(interval(first, first+w.Count-1), begins(w), each(w.Deletes, w.Count), each(w.Creates, w.Count), of, strconv.Itoa(w.Counts.Available))})
		first += w.Count
	}
	if s.o.Duration != nil && s.o.Code != plan.Stalls {
		t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells("end", rangeWords(s.o.Duration))})
	}
	if !timed {
		for i := range t.Rows {
			t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, min(1, len(t.Rows[i].Cells)), min(2, len(t.Rows[i].Cells)))
		}
		t.Columns = slices.Delete(t.Columns, 1, 2)
	}
	s.s.Add(screen.Body, t)
}

// groups are the bounds for nodes that share a label's value.
func (s *planned) groups() {
	groups := s.p.Groups
	if len(groups) == 0 {
		return
	}
	t := &screen.Table{Columns: []screen.Column{{Head: strings.ToUpper(groups[0].Key)}, {Head: "NODES", Right: true}, {Head: "DOWN NOW", Right: true}, {Head: "STEP AT MOST", Right: true}, {Head: "DOWN AT WORST", Right: true}}}
	for i, g := range groups {
		if i == 8 && !s.style.All && len(groups) > 9 {
			t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(fmt.Sprintf("%d more with --all", len(groups)-i))})
			break
		}
		t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(cmp.Or(g.Value, "(no label)"), strconv.Itoa(g.Nodes), strconv.Itoa(g.Down), strconv.Itoa(g.Step), strconv.Itoa(g.AtWorst))})
	}
	s.s.Add(screen.Body, t)
}

// waysOut are single changes that let a rollout which stalls complete. Of nodes
// that are deleted the first stands for each.
func (s *planned) waysOut() {
	t := &screen.Table{Columns: []screen.Column{{Head: "WAYS OUT"}, {Head: "THEN UPDATED", Right: true}, {Head: "WITHIN", Drop: 1}, {Head: "STILL WITHOUT A POD", Wrap: true, Short: true, Drop: 2}, {Head: "PREVIEW FLAG", Wrap: true}}}
	if down := s.down(); len(down) > 0 && len(s.o.Unblock) > 0 && !s.supposed(down) {
		t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(pluralOf(len(down), "repair "+down[0], fmt.Sprintf("repair the %d nodes", len(down)))+" (safest)", "all", "-", "none", "-")})
	}
	var first []Flag
	said := map[plan.UnblockCode]bool{}
	for _, u := range s.o.Unblock {
		if said[u.Code] && !s.style.All || u.Code == plan.RemoveNode && s.supposed([]string{u.Value}) {
			continue
		}
		words, flags := wayOut(u)
		if said[u.Code] = true; u.Code == plan.RemoveNode && len(s.o.Holders) > 1 {
			words = "delete one node, " + u.Value
		}
		var flag []string
		for _, f := range flags {
			flag = append(flag, string(f.Word()))
		}
		within, left := "-", screen.Cell{Names: u.Left}
		if u.Duration != nil {
			within = seconds(u.Duration.Pessimistic)
		}
		if len(u.Left) == 0 {
			left = screen.Cell{Lines: []string{"none"}}
		}
		cells := append(screen.Cells(words, fmt.Sprintf("%d of %d", u.Updated, u.Desired), within), left)
		t.Rows = append(t.Rows, screen.Row{Cells: append(cells, screen.Cells(strings.Join(flag, " "))...)})
		if first == nil {
			first = flags
		}
	}
	s.s.Add(screen.Body, t)
	if first != nil && s.live == nil { // else it stands with the fix
		s.s.Add(screen.Preview, s.again("plan-rollout", first...))
	}
}

// down are the nodes whose kubelet does not answer.
func (s *planned) down() (nodes []string) {
	for _, p := range s.problems {
		if p.Code == cause.TerminatingOnDeadNode || p.Code == cause.NodeNotReady {
			nodes = append(nodes, p.Nodes...)
		}
	}
	return nodes
}

// wayOut says a change, and the flags that ask for it.
func wayOut(u plan.Unblock) (words string, flags []Flag) {
	one := func(name string) []Flag { return []Flag{{Name: name, Value: u.Value}} }
	switch u.Code {
	case plan.RaiseMaxUnavailable:
		return "raise maxUnavailable to " + u.Value, one("max-unavailable")
	case plan.RaiseMaxSurge:
		return "raise maxSurge to " + u.Value, one("max-surge")
	case plan.RemoveNode:
		return "delete node " + u.Value, one("remove-nodes")
	case plan.NoSurge:
		return "maxSurge 0, maxUnavailable " + u.Value, append([]Flag{{Name: "max-surge", Value: "0"}}, one("max-unavailable")...)
	case plan.RollBack:
		return "roll back to revision " + u.Value, one("to-revision")
	}
	return string(u.Code) + " " + u.Value, nil
}

// outlook is what the controller does first, and where it stops.
func (s *planned) outlook() {
	n := &s.p.Next
	end, stalls := s.end(), s.o.Code == plan.Stalls
	if s.o.Code == plan.NotRolling && s.o.Reason != daemonset.StepOnDelete {
		return
	}
	switch {
	case n.Kind == daemonset.StepNone && n.Reason == daemonset.StepPodsNotRead:
		s.add(screen.Outlook, "unknown: %s could not be read", unread(s.h))
	case s.o.Code == plan.RemovesAllPods && s.ofChange():
		for _, g := range placedGroups(s.p.Placement.Lose) {
			s.s.Add(screen.Cause, screen.Text(g.words))
		}
		s.add(screen.Fix, "do not apply this change")
		s.add(screen.Outlook, "if you apply it: DESIRED goes from %d to %d, and the controller deletes every pod", s.p.Desired.Before, s.p.Desired.After)
		return
	case stalls && s.ofChange():
		s.add(screen.Outlook, "if you apply it: stops at %d of %d updated, %d available", end.Updated, end.Desired, end.Available)
	case stalls && olds(&s.p.Forecast) == 0:
		s.add(screen.Outlook, "without a fix: stays at %d of %d available", end.Available, end.Desired)
	case stalls && len(s.p.Waves) == 0:
		s.add(screen.Outlook, "without a fix: stays at %d of %d updated", end.Updated, end.Desired)
	case stalls:
		s.add(screen.Outlook, "without a fix: stops at %d of %d updated, %d available", end.Updated, end.Desired, end.Available)
	case n.Kind == daemonset.StepNone && len(s.p.Waves) > 0 && s.p.Waves[0].At != nil && *s.p.Waves[0].At > 0:
		s.add(screen.Outlook, "%s; it continues in about %s", idle(n.Reason, s.h), seconds(*s.p.Waves[0].At))
	}
	if nf := s.o.FurtherHolders; nf > 0 && len(s.o.Holders) > 0 {
		s.note(screen.Text(fmt.Sprintf("%s: which ones is the controller's random choice", pluralVerb(nf, "more node ends like these", "more nodes end like these"))))
	}
	if !stalls || len(s.p.Waves) > 0 {
		s.sync(n, map[bool]string{true: "first", false: "next"}[s.ofChange()])
	}
	next := *n
	if changes := s.p.Change != nil && s.p.Change.TemplateChanged; changes || s.live != nil { // said as the rollout's, or the change's
		next.Revisions.Cut = false
		if changes {
			next.Revisions.RaisedFrom = 0
		}
	}
	s.bookkeeping(next)
}

// whatIf is the course with other limits, and what a change of the template would
// do where nothing was asked.
func (s *planned) whatIf() {
	f := s.p.IfTemplateChanged
	if f == nil {
		s.limits(&s.p.Forecast)
		return
	}
	inner := &plan.Plan{Header: s.p.Header, Subject: plan.SubjectChange, Desired: s.p.Desired, Now: s.p.Now, Forecast: *f}
	then := &planned{sheet: newSheet(s.h, s.asked, s.style), p: inner, o: &f.Outcome}
	found := f.Outcome.Problems()
	for i := range found {
		then.problems = append(then.problems, &found[i])
	}
	s.add(screen.WhatIf, "a change of the template %s: %s", map[plan.OutcomeCode]string{
		plan.Completes: "would complete", plan.Stalls: "would stall", plan.NotRolling: "would wait for you", plan.RemovesAllPods: "would remove all pods", plan.NothingToDo: "would do nothing",
	}[f.Outcome.Code], then.summary())
	s.limits(f)
}

// limits says the course with other limits than the planned one, of those with the
// same course only the first.
func (s *planned) limits(f *plan.Forecast) {
	flag := "--max-unavailable="
	if f.Budget.Kind == daemonset.BudgetSurge {
		flag = "--max-surge="
	}
	if f.Outcome.AtOnce >= olds(f) { // no limit decides about these pods
		return
	}
	said := map[int]bool{} // by how many pods are replaced at a time
	for _, r := range f.Limits {
		said[atATime(f, r.AtATime)] = said[atATime(f, r.AtATime)] || r.Planned && r.Code != plan.Stalls
	}
	lines := 0
	for _, r := range f.Limits {
		n := atATime(f, r.AtATime)
		if said[n] || r.Planned || r.Code != plan.Completes || lines == 2 && !s.style.All {
			continue
		}
		said[n] = true
		lines++
		words := plural(r.Steps, "step")
		if r.Duration != nil {
			words += ", " + rangeWords(r.Duration)
		}
		of := fmt.Sprintf("%d at a time", n)
		if r.Nodes > n && f.Outcome.Code == plan.Stalls {
			of = fmt.Sprintf("%d, of which %d are used up", r.Nodes, r.Nodes-n)
		}
		s.add(screen.WhatIf, "%s%s (%s): %s", flag, r.Limit, of, words)
	}
	s.slower(f)
}

// slower says why a higher limit takes longer than a lower one, where one does
// and minReadySeconds makes it so.
func (s *planned) slower(f *plan.Forecast) {
	i := slices.IndexFunc(s.p.Assumptions, func(a daemonset.Assumption) bool { return a.Code == plan.AssumeMinReadySeconds })
	if i < 0 {
		return
	}
	for j := 1; j < len(f.Limits); j++ {
		lower, higher := f.Limits[j-1], f.Limits[j]
		if lower.Duration == nil || higher.Duration == nil || higher.Duration.Expected < lower.Duration.Expected+1 {
			continue
		}
		s.add(screen.WhatIf, "%s takes longer than %s: the controller counts a pod that becomes available just after it has looked only when it looks again, minReadySeconds (%ss) later",
			higher.Limit, lower.Limit, s.p.Assumptions[i].Value)
		return
	}
}

// commands are what makes the change, and what follows it.
func (s *planned) commands() {
	if s.ofChange() && s.o.Code == plan.NotRolling && s.o.Reason == daemonset.StepOnDelete {
		s.s.Add(screen.Preview, s.again("plan-rollout", Flag{Name: "strategy", Value: "RollingUpdate"}))
	}
	switch fine := s.o.Code == plan.Completes && planTone(s.p) != screen.Bad; {
	case s.asked.Undo && !s.p.Change.TemplateChanged:
		s.note(screen.Text("kubectl rollout undo would change nothing: the live template is that of the revision already, with the API defaults"))
	case s.asked.Undo && s.o.Reason != daemonset.StepBeingDeleted, s.ofChange() && fine: // nobody is told to do what ends badly, but for a rollback
		if who := s.undoneBy(); who != "" {
			s.add(screen.Apply, "change it in the source of %s, such as Git: a change by hand is undone", who)
		}
		s.s.Add(screen.Apply, s.asked.Makes)
	}
	if s.asked.Live && len(s.p.Waves) > 0 {
		s.s.Add(screen.Follow, append(screen.Command{"kubectl ds plan-rollout", s.namespace(), s.name()}, s.kubectl("--watch")...))
	}
}
