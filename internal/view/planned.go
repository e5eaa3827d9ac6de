package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Plan writes one DaemonSet's plan: how it ends, whom it leaves without a pod,
// what changes, the course to the end or to the stall with the ways out, and what
// that rests on.
func Plan(w io.Writer, p *plan.Plan, asked Asked, style Style) error {
	return planned(p, asked, style).Text(w, style.terminal())
}

// PlansMarkdown writes plans for a comment on a pull request.
func PlansMarkdown(w io.Writer, plans []*plan.Plan) error {
	for i, p := range plans {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := planned(p, Asked{}, Style{}).Markdown(w); err != nil {
			return err
		}
	}
	return nil
}

// Asked is the command line that asked for a plan.
type Asked struct {
	Flags []Flag         // that ask for the same once more
	Again bool           // it can be asked once more: standard input cannot
	Live  bool           // of a cluster, not of a dump
	Undo  bool           // it is a rollback that was asked for as one
	Makes screen.Command // what makes the change that is planned; empty where none is known
}

// Flag is one that was given. One without a value is Bare.
type Flag struct {
	Name, Value string
	Bare        bool
}

// Word is a Flag as it is given.
func (f Flag) Word() screen.Word {
	if f.Bare {
		return screen.Word("--" + f.Name)
	}
	return "--" + screen.Word(f.Name) + "=" + screen.Quote(f.Value)
}

// plan is the command that plans the same with further flags, in place of those
// that they override; empty where there is none to paste.
func (a *Asked) plan(p *plan.Plan, more ...Flag) screen.Command {
	if !a.Again {
		return nil
	}
	drop := map[string]bool{}
	for _, f := range more {
		if drop[f.Name] = f.Name != "remove-nodes"; f.Name == "to-revision" { // it takes the revision's template as it is
			drop["image"], drop["restart"], drop["toleration"], drop["node-selector"] = true, true, true, true
			if slices.ContainsFunc(a.Flags, func(f Flag) bool { return f.Name == "filename" || f.Name == "kustomize" }) {
				return nil // the manifest's template
			}
		}
	}
	c := screen.Command{"kubectl ds plan-rollout", "-n " + screen.Quote(p.DaemonSet.Namespace), screen.Quote(p.DaemonSet.Name)}
	for _, f := range a.Flags {
		if !drop[f.Name] {
			c = append(c, f.Word())
		}
	}
	for _, f := range more {
		c = append(c, f.Word())
	}
	return c
}

// plannedScreen makes the screen of one Plan.
type plannedScreen struct {
	p     *plan.Plan
	o     *plan.Outcome
	asked Asked
	style Style
	now   time.Time
	s     screen.Screen
}

func planned(p *plan.Plan, asked Asked, style Style) *screen.Screen {
	s := &plannedScreen{p: p, o: &p.Outcome, asked: asked, style: style, now: p.Snapshot.TakenAt}
	s.headline()
	s.change()
	s.impact()
	s.limit()
	s.warnings()
	s.course()
	s.groups()
	s.holders()
	s.waysOut()
	s.nextSync()
	s.whatIf()
	s.commands()
	s.assumed()
	return &s.s
}

func (s *plannedScreen) add(l screen.Label, format string, args ...any) {
	s.s.Add(l, screen.Text(fmt.Sprintf(format, args...)))
}

// ofChange reports whether the plan is of what has not been done yet.
func (s *plannedScreen) ofChange() bool {
	return s.p.Subject == plan.SubjectChange || s.p.Subject == plan.SubjectNew
}

func (s *plannedScreen) headline() {
	h := screen.Headline{Verdict: planVerdict(s.p), Tone: planTone(s.p), Subject: s.p.DaemonSet.Namespace + "/" + s.p.DaemonSet.Name, Text: s.summary()}
	s.s.Headline = h
	if s.ofChange() {
		s.s.Notice = "Plan only: nothing has been changed."
	}
}

// planVerdict is how it ends: in the conditional for a change, in the future for
// what is under way.
func planVerdict(p *plan.Plan) string {
	will := "WILL "
	if p.Subject == plan.SubjectChange || p.Subject == plan.SubjectNew {
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
			return will + strings.ToUpper("remove "+plural(n, "pod"))
		}
		return will + "COMPLETE"
	case plan.RemovesAllPods:
		return will + "REMOVE ALL PODS"
	case plan.Stalls:
		if p.Subject == plan.SubjectRollout && len(p.Waves) == 0 {
			return "STAYS STUCK"
		}
		return will + "STALL"
	case plan.NotRolling:
		switch p.Outcome.Reason {
		case daemonset.StepBeingDeleted:
			return "BEING DELETED"
		case daemonset.StepSelectsAll:
			return "IGNORED"
		}
		if p.Subject == plan.SubjectChange {
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
func (s *plannedScreen) summary() string {
	words := s.ending()
	if n := len(s.p.Placement.Lose); n > 0 {
		words += "; " + pluralVerb(n, "node loses its pod at once", "nodes lose their pod at once")
	}
	return words
}

func (s *plannedScreen) ending() string {
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
	if what := unread(&s.p.Header); what != "" {
		return "how it ends is unknown: " + what + " could not be read"
	}
	return "how it ends is unknown: " + stallReason(s.o.Reason)
}

// end is how many pods are updated, and available, when it ends.
func (s *plannedScreen) end() daemonset.Counts {
	if n := len(s.p.Waves); n > 0 {
		return s.p.Waves[n-1].Counts
	}
	return s.p.Now
}

func (s *plannedScreen) completes() string {
	var parts []string
	end := s.end()
	in := ""
	if s.o.Duration != nil {
		in = " in " + rangeWords(s.o.Duration)
	}
	replaced, old := s.p.Replaces, olds(&s.p.Forecast)
	creates, deletes := moved(&s.p.Forecast)
	switch {
	case s.p.Subject == plan.SubjectNew:
		parts = append(parts, fmt.Sprintf("%d of %s available%s", end.Available, plural(end.Desired, "pod"), in))
	case old > 0 && s.p.Subject == plan.SubjectRollout:
		words := fmt.Sprintf("%d of %s updated", s.p.Now.Updated, plural(s.p.Now.Desired, "pod"))
		if replaced > 0 {
			words += "; " + pluralVerb(replaced, "is left to be replaced", "are left to be replaced")
		}
		if in != "" {
			words += "," + in
		}
		parts = append(parts, words)
	case replaced > 0:
		parts = append(parts, fmt.Sprintf("%d of %s updated%s", end.Updated, plural(end.Desired, "pod"), in))
	default:
		parts = append(parts, movedWords(creates, deletes, map[bool]string{true: "would be", false: "are"}[s.ofChange()])+in)
	}
	if n := s.p.Drops; n > 0 {
		words := pluralVerb(n, "pod is deleted and not replaced", "pods are deleted and not replaced")
		if later := lostLater(s.p); len(later) == n && n <= 3 {
			words = pluralOf(n, "the pod on ", "the pods on ") + strings.Join(placedNodes(later), ", ") + pluralOf(n, " is", " are") + " deleted and not replaced"
		}
		parts = append(parts, words)
	}
	if n := left(s.o); n > 0 {
		parts = append(parts, pluralVerb(n, "node stays", "nodes stay")+" without an available pod"+inBrackets(holderCodes(s.o.Holders)))
	}
	if n := len(s.o.Late); n > 0 {
		parts = append(parts, "if the "+pluralOf(n, "pod on ", "pods on ")+someNames(holderNodes(s.o.Late))+pluralOf(n, " becomes", " become")+" ready"+inBrackets(lastingAll(s.now, s.o.Late)))
	}
	return strings.Join(parts, "; ")
}

func (s *plannedScreen) stalls() string {
	end := s.end()
	words := fmt.Sprintf("%d of %s updated", end.Updated, plural(end.Desired, "pod"))
	if s.p.Subject == plan.SubjectNew || olds(&s.p.Forecast) == 0 {
		words = fmt.Sprintf("%d of %s available", end.Available, plural(end.Desired, "pod"))
	}
	if s.o.AtWorst {
		words += " at worst"
	}
	if why := s.why(); why != "" {
		return words + "; " + why
	}
	return words
}

// why names who stays without an available pod, by cause.
func (s *plannedScreen) why() string {
	switch {
	case s.o.Reason == cause.Terminating:
		return pluralVerb(s.o.Terminating, "pod is deleted and stays Terminating", "pods are deleted and stay Terminating")
	case s.o.Reason == daemonset.StepBudgetSpent && s.p.Budget.Limit == 0:
		return fmt.Sprintf("the limit is %s of 0 nodes = 0, so no available pod is deleted", s.p.Budget.Spec)
	}
	if s.o.Reason != daemonset.StepBudgetSpent && s.o.Reason != daemonset.StepWaiting && s.o.Reason != plan.Unfilled {
		return stallReason(s.o.Reason)
	}
	var parts []string
	count, order := map[predicate]int{}, []predicate{}
	for _, g := range holderGroups(s.o.Holders) {
		p := predicates[g.code]
		if count[p] == 0 && p.noun != "" {
			order = append(order, p)
		}
		count[p] += len(g.nodes)
	}
	for _, p := range order {
		parts = append(parts, p.say(count[p]))
	}
	if n := s.o.FurtherHolders; n > 0 {
		parts = append(parts, fmt.Sprintf("any %s (the controller chooses at random)", pluralVerb(n, "node stays without an available pod", "nodes stay without an available pod")))
	}
	const most = 2
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("%d more", more))
	}
	return cmp.Or(strings.Join(parts, ", "), stallReason(s.o.Reason))
}

func (s *plannedScreen) notRolling() string {
	switch s.o.Reason {
	case daemonset.StepBeingDeleted:
		return "the controller no longer manages its pods"
	case daemonset.StepSelectsAll:
		return "its selector is empty, so the controller ignores it"
	}
	with := cmp.Or(s.p.DaemonSet.Strategy, "no strategy")
	if n := s.o.Left; n > 0 {
		return fmt.Sprintf("with %s you delete %s; until then %s", with, plural(n, "pod"), pluralOf(n, "it stays on an older revision", "they stay on older revisions"))
	}
	return "all pods are updated (" + with + ")"
}

func (s *plannedScreen) nothing() string {
	switch p := s.p; {
	case left(s.o) > 0:
		return fmt.Sprintf("no rollout in progress; %s without an available pod%s", plural(left(s.o), "node"), inBrackets(holderCodes(s.o.Holders)))
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
func (s *plannedScreen) change() {
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
	if how := methodWords(c); how != "" {
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

// impact is who is without an available pod on the way, and which nodes lose or
// get their pod whatever the limit is.
func (s *plannedScreen) impact() {
	desired := max(s.p.Desired.Before, s.p.Desired.After)
	switch {
	case s.o.Code == plan.NothingToDo && left(s.o) == 0, s.o.Code == plan.Unknown, s.o.Code == plan.NotRolling, s.p.Subject == plan.SubjectNew:
	case s.o.Worst > 0 && desired == 0: // the nodes could not be read
		s.add(screen.Impact, "at most %s without an available pod at any time", plural(s.o.Worst, "node"))
	case s.o.Worst > 0:
		if len(s.p.Waves) > 0 {
			s.add(screen.Impact, "at most %d of %s without an available pod at any time", s.o.Worst, plural(desired, "node"))
			break
		}
		s.s.Add(screen.Impact, screen.Names{Before: fmt.Sprintf("%d of %s %s no available pod:", s.o.Worst, plural(desired, "node"), pluralOf(s.o.Worst, "has", "have")), Names: holderNodes(s.o.Holders)})
	case olds(&s.p.Forecast) > 0 && len(s.p.Lost) == 0:
		s.add(screen.Impact, "none: %s an available pod all the time", allHave(desired))
	}
	s.placed(s.p.Placement.Lose, "node loses its pod at once, whatever the limit is:", "nodes lose their pod at once, whatever the limit is:")
	s.placed(lostLater(s.p), "node loses its pod in the course of the rollout:", "nodes lose their pod in the course of the rollout:")
	s.placed(s.p.Placement.Gain, "node gets a pod at once:", "nodes get a pod at once:")
}

func (s *plannedScreen) placed(nodes []plan.PlacementNode, one, many string) {
	const most = 3
	for i, g := range placedGroups(nodes) {
		if i == most && !s.style.All && len(placedGroups(nodes)) > most+1 {
			s.add(screen.Impact, "more of them with --all")
			return
		}
		s.s.Add(screen.Impact, screen.Names{Before: pluralVerb(len(g.nodes), one, many), Names: g.nodes, After: inBrackets(g.words), Short: true})
	}
}

func placedNodes(nodes []plan.PlacementNode) (names []string) {
	for _, n := range nodes {
		names = append(names, n.Node)
	}
	return names
}

// limit is the rule that bounds the rollout.
func (s *plannedScreen) limit() {
	b := &s.p.Budget
	if olds(&s.p.Forecast) == 0 || b.Kind == daemonset.BudgetNone || s.o.Code == plan.NotRolling {
		return
	}
	field := "maxUnavailable"
	if b.Kind == daemonset.BudgetSurge {
		field = "maxSurge"
	}
	words := field + " " + cmp.Or(b.Spec, "1 (the default)")
	if b.Spec != "" && b.Spec != strconv.Itoa(b.Limit) {
		words += fmt.Sprintf(" of %s = %d", plural(s.p.Desired.After, "node"), b.Limit)
	}
	f, old := &s.p.Forecast, olds(&s.p.Forecast)
	n, once := atATime(f, s.o.AtATime), min(s.o.AtOnce, old)
	switch {
	case s.o.Code == plan.Stalls && len(s.p.Waves) == 0:
		words += ", and it is used up, so the controller replaces no further pod"
	case old > 1 && max(n, once) == old:
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
func (s *plannedScreen) warnings() {
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

func (s *plannedScreen) warning(w plan.Warning) string {
	switch w.Code {
	case plan.StartsRollout:
		return fmt.Sprintf("the change of the strategy alone starts a rollout: %s", pluralVerb(number(w.Facts, "pods"), "pod is on an older revision", "pods are on older revisions"))
	case plan.OutsideBudget:
		return fmt.Sprintf("the next step deletes %s although the limit is %d: the controller always deletes pods that are not available", plural(number(w.Facts, "count"), "pod"), number(w.Facts, "limit"))
	case plan.NewPodsFailing:
		n, failing := number(w.Facts, "newPods"), number(w.Facts, "newFailing")
		return fmt.Sprintf("%d of the %s of the current revision %s; the plan assumes that further ones work", failing, plural(n, "pod"), pluralOf(failing, "fails", "fail"))
	case plan.ManagedByTool:
		return toolWords(w.Facts)
	case plan.ServerWarning:
		return "the API server warns: " + fact(w.Facts, "message")
	case plan.DuplicateKey:
		key := "a key stands twice in one object"
		if name := fact(w.Facts, "key"); name != "" {
			key = "the key " + name + " stands twice in one object"
		}
		return fmt.Sprintf("%s: document %d, line %d: %s; the later value counts, as for kubectl apply", fact(w.Facts, "file"), number(w.Facts, "document"), number(w.Facts, "line"), key)
	case plan.InvalidImageName:
		return fmt.Sprintf(`container %s: a kubelet does not start "%s": %s`, fact(w.Facts, "container"), fact(w.Facts, "image"), ImageFault(template.ImageFault(fact(w.Facts, "fault"))))
	case plan.NeverUpdated:
		return "revision " + fact(w.Facts, "revision") + " has an empty hash: the controller treats its own new pods as outdated and loops forever"
	}
	return meaning(w.Code, w.Facts, s.now)
}

// course is the table of steps. Which pods each takes is the controller's random
// choice.
func (s *plannedScreen) course() {
	waves := s.p.Waves
	if len(waves) == 0 {
		return
	}
	t := &screen.Table{Columns: []screen.Column{{Head: "STEP"}, {Head: "STARTS AT"}, {Head: "DELETES", Right: true}, {Head: "CREATES", Right: true}, {Head: "UPDATED THEN", Right: true}, {Head: "AVAILABLE", Right: true, Drop: 1}}}
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
		t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(interval(first, first+w.Count-1), cmp.Or(begins(w), "?"), each(w.Deletes, w.Count), each(w.Creates, w.Count), of, strconv.Itoa(w.Counts.Available))})
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
func (s *plannedScreen) groups() {
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

// holders are the nodes that stay without an available pod or use up the limit,
// and pods that are late.
func (s *plannedScreen) holders() {
	s.s.Add(screen.Body, holderTable(slices.Concat(s.o.Holders, s.o.Late), s.now, s.style.All))
	if slowest, known := slowestStart(s.o.Late); known {
		s.add(screen.Note, "the other pods were ready after %s at most", seconds(slowest))
	}
	if n := s.o.FurtherHolders; n > 0 && len(s.o.Holders) > 0 {
		s.add(screen.Note, "%s: which ones is the controller's random choice", pluralVerb(n, "more node ends like these", "more nodes end like these"))
	}
}

// waysOut are single changes that let a rollout which stalls complete.
func (s *plannedScreen) waysOut() {
	t := &screen.Table{Columns: []screen.Column{{Head: "WAYS OUT"}, {Head: "STILL WITHOUT A POD", Wrap: true, Short: true}, {Head: "PREVIEW FLAG", Wrap: true}}}
	var first []Flag
	if dead := deadNodes(s.o.Holders); len(dead) > 0 && len(s.o.Unblock) > 0 {
		words := pluralOf(len(dead), "repair "+dead[0], fmt.Sprintf("repair the %d nodes", len(dead))) + " (safest)"
		t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(words, "none", "-")})
	}
	for _, u := range s.o.Unblock {
		words, flags := wayOut(u)
		var flag []string
		for _, f := range flags {
			flag = append(flag, string(f.Word()))
		}
		left := screen.Cell{Names: u.Left}
		if len(u.Left) == 0 {
			left = screen.Cell{Lines: []string{"none"}}
		}
		t.Rows = append(t.Rows, screen.Row{Cells: []screen.Cell{{Lines: []string{words}}, left, {Lines: []string{strings.Join(flag, " ")}}}})
		if first == nil {
			first = flags
		}
		if len(t.Rows) == 4 && !s.style.All {
			break
		}
	}
	s.s.Add(screen.Body, t)
	if first != nil {
		s.s.Add(screen.Preview, s.asked.plan(s.p, first...))
	}
	for _, g := range holderGroups(s.o.Holders) {
		if g.code == cause.TerminatingOnDeadNode || g.code == cause.NodeNotReady {
			s.s.Add(screen.Check, screen.Command{"kubectl describe node", screen.Quote(g.nodes[0])})
			break
		}
	}
}

// deadNodes are the nodes whose kubelet does not answer.
func deadNodes(holders []plan.Holder) (nodes []string) {
	for _, h := range holders {
		if code := holderCode(h); code == cause.TerminatingOnDeadNode || code == cause.NodeNotReady {
			nodes = append(nodes, h.Node)
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

// nextSync is what the controller does first.
func (s *plannedScreen) nextSync() {
	n := &s.p.Next
	when := "next"
	if s.ofChange() {
		when = "first"
	}
	if s.o.Code == plan.NotRolling && s.o.Reason != daemonset.StepOnDelete {
		return
	}
	for _, b := range syncBlocks(n, when, s.style.All) {
		s.s.Add(screen.Outlook, b)
	}
	switch {
	case n.Kind == daemonset.StepNone && n.Reason == daemonset.StepPodsNotRead:
		s.add(screen.Outlook, "unknown: %s could not be read", unread(&s.p.Header))
	case s.o.Code == plan.Stalls && s.p.Subject == plan.SubjectRollout:
		s.add(screen.Outlook, "without a fix: stays at %d of %d", s.end().Updated, s.end().Desired)
	case n.Kind == daemonset.StepNone && len(s.p.Waves) > 0 && s.p.Waves[0].At != nil && *s.p.Waves[0].At > 0:
		s.add(screen.Outlook, "the controller waits: %s; it continues in about %s", idle(n.Reason, &s.p.Header), seconds(*s.p.Waves[0].At))
	}
	next := *n
	if s.p.Change != nil && s.p.Change.TemplateChanged { // said as the change's
		next.Revisions.Cut, next.Revisions.RaisedFrom = false, 0
	}
	if also := (&lineScreen{Style: s.style}).bookkeeping(&next); len(also) > 0 {
		s.add(screen.Note, "the controller next %s", strings.Join(also, "; "))
	}
}

// whatIf is the course with other limits, and what a change of the template would
// do where nothing was asked.
func (s *plannedScreen) whatIf() {
	if f := s.p.IfTemplateChanged; f != nil {
		inner := &plannedScreen{p: &plan.Plan{Header: s.p.Header, Subject: plan.SubjectChange, Desired: s.p.Desired, Now: s.p.Now, Forecast: *f}, o: &f.Outcome, style: s.style, now: s.now}
		s.add(screen.WhatIf, "the template changes: %s, %s", strings.ToLower(planVerdict(inner.p)), inner.summary())
		s.limits(f)
		return
	}
	s.limits(&s.p.Forecast)
}

func (s *plannedScreen) limits(f *plan.Forecast) {
	flag := "--max-unavailable="
	if f.Budget.Kind == daemonset.BudgetSurge {
		flag = "--max-surge="
	}
	if f.Outcome.AtOnce >= olds(f) { // no limit decides about these pods
		return
	}
	said := map[int]bool{} // by what a limit comes to
	for _, r := range f.Limits {
		said[r.Nodes] = said[r.Nodes] || r.Current || r.Planned
	}
	lines := 0
	for _, r := range f.Limits {
		if said[r.Nodes] || lines == 2 && !s.style.All || r.Code == plan.Stalls && !s.style.All {
			continue
		}
		said[r.Nodes] = true
		lines++
		words := fmt.Sprintf("%s%s (%d at a time): ", flag, r.Limit, atATime(f, r.AtATime))
		switch {
		case r.Code == plan.Stalls:
			words += "stalls as well"
		case r.Code != plan.Completes:
			words += strings.ToLower(spaced(string(r.Code)))
		case r.Duration == nil:
			words += plural(r.Steps, "step")
		default:
			words += plural(r.Steps, "step") + ", " + rangeWords(r.Duration)
		}
		s.add(screen.WhatIf, "%s", words)
	}
	s.slower(f)
}

// slower says why a higher limit takes longer than a lower one, where one does
// and minReadySeconds makes it so.
func (s *plannedScreen) slower(f *plan.Forecast) {
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
func (s *plannedScreen) commands() {
	if s.o.Code == plan.NotRolling && s.o.Reason == daemonset.StepOnDelete {
		s.s.Add(screen.Preview, s.asked.plan(s.p, Flag{Name: "strategy", Value: "RollingUpdate"}))
	}
	switch fine := s.o.Code == plan.Completes && planTone(s.p) != screen.Bad; {
	case s.asked.Undo && !s.p.Change.TemplateChanged:
		s.add(screen.Note, "kubectl rollout undo would change nothing: the live template is that of the revision already, with the API defaults")
	case s.asked.Undo && s.o.Reason != daemonset.StepBeingDeleted, s.ofChange() && fine: // nobody is told to do what ends badly, but for a rollback
		s.s.Add(screen.Apply, s.asked.Makes)
	}
	if s.asked.Live && len(s.p.Waves) > 0 {
		s.s.Add(screen.Follow, screen.Command{"kubectl ds plan-rollout", "-n " + screen.Quote(s.p.DaemonSet.Namespace), screen.Quote(s.p.DaemonSet.Name), "--watch"})
	}
}

// assumed is what the plan rests on; with -o wide each assumption by itself, with
// its code and source.
func (s *plannedScreen) assumed() {
	shown := shownAssumptions(s.p)
	if creates, _ := moved(&s.p.Forecast); creates == 0 && s.p.IfTemplateChanged == nil && s.o.Code != plan.Stalls { // nothing is assumed of pods that nobody creates
		shown = slices.DeleteFunc(slices.Clone(shown), func(a daemonset.Assumption) bool {
			return slices.Contains([]daemonset.AssumptionCode{plan.AssumeStart, plan.AssumeStartFast, plan.AssumeStartSlow, plan.AssumeNewPods, plan.AssumeMinReadySeconds}, a.Code)
		})
	}
	if s.style.Wide {
		t := &screen.Table{Columns: []screen.Column{{Head: "ASSUMPTION"}, {Head: "VALUE"}, {Head: "SOURCE"}}}
		for _, a := range shown {
			t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(string(a.Code), a.Value, a.Source)})
		}
		s.s.Add(screen.Assumed, t)
		return
	}
	for _, l := range assumptionLines(shown) {
		s.add(screen.Assumed, "%s", l)
	}
	creates, _ := moved(&s.p.Forecast)
	switch {
	case s.o.Code != plan.Completes || s.o.Duration != nil || creates == 0:
	case len(s.o.Late) > 0:
		s.add(screen.Assumed, "unknown: how long it takes, while these pods are not ready")
	default:
		s.add(screen.Assumed, "unknown: how long a new pod takes to become ready (set it with --start 40s)")
	}
}

// lastingAll is "ProbeFailing for 90s".
func lastingAll(now time.Time, holders []plan.Holder) string {
	var parts []string
	for _, g := range holderGroups(holders) {
		words := string(g.code)
		if g.since != nil {
			words += " for " + lasting(now, &explain.Problem{Since: g.since, Latest: g.latest})
		}
		parts = append(parts, words)
	}
	return strings.Join(parts, ", ")
}

// holderTable is a table of nodes that stay without an available pod, or use up
// the limit, by cause.
func holderTable(holders []plan.Holder, now time.Time, all bool) *screen.Table {
	t := &screen.Table{Columns: []screen.Column{{Head: "PROBLEM"}, {Head: "NODES", Wrap: true, Short: true}, {Head: "FOR", Drop: 1}}}
	for i, g := range holderGroups(holders) {
		if i == 4 && !all {
			break
		}
		p := &explain.Problem{Code: g.code, Severity: g.severity, Nodes: g.nodes, Count: len(g.nodes), Since: g.since, Latest: g.latest, Facts: g.facts}
		t.Rows = append(t.Rows, problemRow(p, now, all))
	}
	return t
}

// problemRow is a row of a table of problems.
func problemRow(p *explain.Problem, now time.Time, all bool) screen.Row {
	tone := screen.Warn
	if p.Severity == cause.Error {
		tone = screen.Bad
	}
	nodes := screen.Cell{Names: p.Nodes}
	if len(p.Nodes) == 0 {
		nodes = screen.Cell{Lines: []string{"-"}}
	}
	return screen.Row{Cells: []screen.Cell{{Lines: []string{string(p.Code)}, Tone: tone}, nodes, {Lines: []string{lasting(now, p)}}}, Detail: detail(p, now, all)}
}
