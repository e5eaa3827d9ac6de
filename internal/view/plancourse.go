package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// course adds the table of steps if there are several. The controller chooses the pods of each step at random.
func (s *planScreen) course() {
	if len(s.p.Waves) == 1 && s.o.Code == plan.Stalls { // Outlook says this
		return
	}
	timed := len(s.p.Waves) > 0 && s.p.Waves[0].At != nil
	t := &screen.Table{Columns: []screen.Column{{Head: "STEP"}, {Head: "STARTS AT"}, {Head: "DELETES", Right: true},
		{Head: "CREATES", Right: true}, {Head: "UPDATED AFTER", Right: true},
		{Head: "AVAILABLE AFTER", Right: true, Drop: 1}}}
	if s.p.OneOfManyOrders() {
		t.Columns[0].Head = "EXAMPLE ORDER"
	}
	if !timed {
		t.Columns = slices.Delete(t.Columns, 1, 2)
	}
	for _, w := range s.p.Course(s.Style.All) {
		step := strconv.Itoa(w.First)
		switch {
		case w.LeftOut > 0:
			step = strconv.Itoa(w.LeftOut) + " more rows with --all"
		case w.Count > 1:
			step += "-" + strconv.Itoa(w.First+w.Count-1)
		}
		cells := []string{step}
		if timed && w.LeftOut == 0 {
			cells = append(cells, wording.Seconds(*w.At))
		}
		if w.LeftOut == 0 {
			updated := fmt.Sprintf("%d of %d", w.Counts.Updated, w.Counts.Desired)
			cells = append(cells, each(w.Deletes, w.Count), each(w.Creates, w.Count), updated,
				strconv.Itoa(w.Counts.Available))
		}
		t.Row(cells...)
	}
	if len(s.p.Waves) > 0 && s.o.Duration != nil && s.o.Code != plan.Stalls {
		t.Row("end", wording.RangeWords(s.o.Duration))
	}
	s.Screen.Add(screen.Steps, t)
}

// groups adds the bounds for nodes that share the value of a label.
func (s *planScreen) groups() {
	groups := s.p.Groups
	if len(groups) == 0 {
		return
	}
	t := &screen.Table{Columns: []screen.Column{{Head: strings.ToUpper(groups[0].Key)}, {Head: "NODES", Right: true},
		{Head: "DOWN NOW", Right: true}, {Head: "STEP AT MOST", Right: true}, {Head: "DOWN AT WORST", Right: true}}}
	for i, g := range groups {
		if i == 8 && !s.Style.All && len(groups) > 9 {
			t.Row(fmt.Sprintf("%d more with --all", len(groups)-i))
			break
		}
		t.Row(cmp.Or(g.Value, "(no label)"), strconv.Itoa(g.Nodes), strconv.Itoa(g.Down), strconv.Itoa(g.Step),
			strconv.Itoa(g.AtWorst))
	}
	s.Screen.Add(screen.Body, t)
}

// waysOut adds the single changes that let a stalled rollout complete.
func (s *planScreen) waysOut() {
	t := &screen.Table{Columns: []screen.Column{{Head: "WAYS OUT"}, {Head: "UPDATED", Right: true},
		{Head: "WITHIN", Drop: 1}, {Head: "PREVIEW FLAG", Wrap: true}}}
	previewed := s.live != nil // the fix has the preview
	for _, u := range s.p.Ways(s.Style.All) {
		words, flags := wayOut(u)
		if u.Code == remedy.RemoveNode && len(s.o.Holders) > 1 && slices.Contains(plan.Down(s.problems), u.Value) {
			words = "delete a lost node"
		}
		within := "unknown"
		switch {
		case u.Effect.Duration != nil:
			within = wording.Seconds(u.Effect.Duration.Pessimistic)
		case u.Code == remedy.RepairNodes:
			within = "after repair"
		case u.Code == remedy.RollBack: // this rollback replaces no pod
			within = "immediately"
		}
		var given screen.Command
		for _, f := range flags {
			given = append(given, f.Word())
		}
		row := screen.Row{Cells: screen.Cells(words, fmt.Sprintf("%d of %d", u.Effect.Updated, u.Effect.Desired),
			within, cmp.Or(given.String(), "-"))}
		loses, why := s.p.LosesBy(&u), ""
		for _, g := range plan.ByVerdict(s.p.LostLater()) {
			if slices.Equal(g.Nodes, loses) {
				why = wording.InBrackets(wording.Placement(g.Reason, g.Facts))
			}
		}
		row.Detail = []screen.Block{screen.Text(sheet.LossWords(loses) + why)}
		if n := len(u.Effect.Left); n > 0 && u.Code != remedy.RepairNodes {
			row.Detail = append(row.Detail, screen.Names{Before: "leaves", Names: u.Effect.Left,
				After: " without an available pod", Short: true})
		}
		t.Rows = append(t.Rows, row)
		if !previewed && len(flags) > 0 {
			previewed = true
			s.Screen.Add(screen.Preview, s.Again("plan-rollout", flags...))
		}
	}
	// Fix and Preview say this
	if ways := s.p.Ways(s.Style.All); len(ways) != 1 || ways[0].Code != remedy.ExcludeNodes &&
		(ways[0].Code != remedy.RollBack || s.live == nil) {
		s.Screen.Add(screen.Ways, t)
	}
	if u := s.p.Raised(); u != nil && s.raises() {
		s.raise(u)
	}
	if i := slices.IndexFunc(s.p.Ways(false),
		func(u remedy.Remedy) bool { return u.Code == remedy.ExcludeNodes }); i >= 0 && s.live == nil {
		u := s.p.Ways(false)[i]
		if u.Without() != nil {
			s.Exclude(&u, "")
			return
		}
		s.Add(screen.Then, "%s: add the nodeSelector %s to the template", s.without(u), u.Value)
	}
}

// without returns the instruction to exclude nodes. If a node gets no pod anyway, the instruction is to exclude it in
// the template too.
func (s *planScreen) without(u remedy.Remedy) string {
	counted := func(p *cause.Problem) bool {
		return p.Code == cause.ExcludedButCounted && slices.Contains(p.Nodes, u.Nodes[0])
	}
	if len(u.Nodes) > 0 && slices.ContainsFunc(s.problems, counted) {
		return "exclude " + wording.SomeNames(u.Nodes) + " in the template too"
	}
	return "keep the pod off " + wording.SomeNames(u.Nodes)
}

// raises reports whether a temporarily higher limit is a fix. It is not for a change of nodes.
func (s *planScreen) raises() bool {
	return s.live == nil && s.p.Change != nil && len(s.p.Change.Fields) > 0
}

// raise adds the commands that raise the limit, make the change, and restore the limit. This order matters because a
// manifest may also set the limit.
func (s *planScreen) raise(u *remedy.Remedy) {
	before := cmp.Or(s.p.Budget.Spec, "1")
	type step struct {
		words  string
		c      []screen.Command
		effect string
	}
	set := func(value string) []screen.Command { return []screen.Command{s.LimitTo("maxUnavailable", value)} }
	steps := []step{
		{"set maxUnavailable to " + u.Value, set(u.Value), s.undoneBy(true)},
		{s.instruction(), s.Asked.Makes, sheet.LossWords(s.p.LosesBy(u))},
		{"when " + whenRaised(u) + ", set maxUnavailable back to " + before, set(before), ""},
	}
	if s.p.Change.Method != "" {
		steps[0], steps[1] = steps[1], steps[0]
	}
	repair := slices.ContainsFunc(s.p.Ways(true), func(u remedy.Remedy) bool { return u.Code == remedy.RepairNodes })
	s.Add(screen.Or, "%s:", wording.Either(repair, "if the rollout cannot wait for the repair, ", "")+
		"raise maxUnavailable; "+effectOf(u))
	for i, step := range steps {
		s.Acts(screen.Or, fmt.Sprintf("%d. %s", i+1, step.words)+map[bool]string{true: ":"}[len(step.c) > 0], step.c,
			step.effect)
	}
}

// whenRaised returns the condition for restoring the limit. It does not wait for nodes that stay down.
func whenRaised(u *remedy.Remedy) string {
	if len(u.Effect.Left) == 0 {
		return "the rollout is complete"
	}
	return fmt.Sprintf("%d of %s are updated", u.Effect.Updated, wording.Plural(u.Effect.Desired, "pod"))
}

// effectOf describes the end of the rollout with a way out.
func effectOf(u *remedy.Remedy) string {
	e := u.Effect
	words := fmt.Sprintf("%d of %s are then updated", e.Updated, wording.Plural(e.Desired, "pod"))
	if e.Duration != nil {
		words += " within " + wording.Seconds(e.Duration.Pessimistic)
	}
	if n := len(e.Left); n > 0 {
		words += ", and " + wording.SomeNames(e.Left) + wording.PluralOf(n, " stays", " stay") +
			" without an available pod"
	}
	return words
}

// argoLead introduces the command of argo.
func (s *planScreen) argoLead() string {
	if by := s.p.UndoneBy(); by.Tool == managed.ArgoCD && by.By != "" {
		return "; this shows where (read-only):"
	}
	return ""
}

// argo adds a command that shows the source of an Argo CD application, and whether it syncs automatically.
func (s *planScreen) argo(by *managed.Manager) {
	if by.Tool == managed.ArgoCD && by.By != "" {
		s.Screen.Add(screen.DoNow, s.Kubectl("kubectl get applications.argoproj.io", "-A",
			"--field-selector metadata.name="+screen.Quote(by.By),
			"-o custom-columns=REPO:.spec.source.repoURL,PATH:.spec.source.path,AUTOSYNC:.spec.syncPolicy.automated"),
			screen.Text("(AUTOSYNC <none>: the change lasts until somebody syncs)"))
	}
}

// undoneBy names the tool that undoes a manual change. It returns "" if a warning already names it.
func (s *planScreen) undoneBy(byHand bool) string {
	if !byHand || s.before == nil ||
		slices.ContainsFunc(s.p.Warnings, func(w plan.Warning) bool { return w.Code == plan.ManagedByTool }) {
		return ""
	}
	return s.before.UndoneBy()
}

// wayOut returns the words for a change and the flags that preview it, if any.
func wayOut(u remedy.Remedy) (words string, flags []sheet.Flag) {
	value := func(name string) []sheet.Flag { return []sheet.Flag{{Name: name, Value: u.Value}} }
	way := map[remedy.Code]struct {
		words string
		flags []sheet.Flag
	}{
		remedy.RepairNodes: {wording.PluralOf(len(u.Nodes), "repair "+strings.Join(u.Nodes, ""),
			"repair the "+u.Value+" nodes") + " (safest)", nil},
		remedy.RaiseMaxUnavailable: {"raise maxUnavailable to " + u.Value, value("max-unavailable")},
		remedy.RaiseMaxSurge:       {"raise maxSurge to " + u.Value, value("max-surge")},
		remedy.OutOfService: {"declare " + wording.PluralOf(len(u.Nodes), strings.Join(u.Nodes, ""),
			strconv.Itoa(len(u.Nodes))+" nodes") + " out of service, if off", nil},
		remedy.RemoveNode: {"delete node " + u.Value, value("remove-nodes")},
		remedy.NoSurge: {"maxSurge 0, maxUnavailable " + u.Value,
			append([]sheet.Flag{{Name: "max-surge", Value: "0"}}, value("max-unavailable")...)},
		remedy.ExcludeNodes: {"nodeSelector " + u.Value, value("node-selector")},
		remedy.RollBack:     {"roll back to revision " + u.Value, value("to-revision")},
	}[u.Code]
	if u.Without() != nil { // no flag previews this
		return "node affinity " + u.Value, nil
	}
	return cmp.Or(way.words, string(u.Code)+" "+u.Value), way.flags
}

// addWhatIf adds the rollout with other limits. If the user requested no change, it also adds what a change of the
// template would do.
func (s *planScreen) addWhatIf() {
	p := s.p
	if then := p.IfChanged(); then != nil {
		p = then
		s.Add(screen.WhatIf, "a change to the template %s: %s", map[plan.OutcomeCode]string{
			plan.Completes: "would complete", plan.Stalls: "would stall", plan.NotRolling: "would wait for you",
			plan.RemovesAllPods: "would remove all pods", plan.NothingToDo: "would do nothing",
		}[p.Outcome.Code], newPlanScreen(p, nil, s.Asked, s.Style).summary())
	}
	// the ways out show this, or the change must wait
	if s.o.Code == plan.Stalls && len(s.p.Ways(true)) > 0 || s.o.LimitHelps() || s.p.OfChange() &&
		len(s.p.KeptByRepair()) > 0 {
		return
	}
	for _, r := range p.OtherLimits(s.Style.All) {
		n := p.AtATime(r.AtATime)
		beside := ""
		if stay := r.Nodes - n; stay > 0 && p.Outcome.Code == plan.Stalls {
			beside = ", beside the " + wording.PluralVerb(stay, "that stays", "that stay") + " unavailable"
		}
		takes := cmp.Or(wording.RangeWords(r.Duration), wording.Plural(r.Steps, "step"))
		s.Add(screen.WhatIf, "--%s=%s (%d at a time%s): %s", sheet.LimitFlags[p.Budget.Kind], r.Limit, n, beside, takes)
	}
	if lower, higher := p.Slower(); lower != nil {
		s.Add(screen.WhatIf, "%s takes longer than %s: the controller counts a pod that becomes available just after "+
			"it has looked only when it looks again, minReadySeconds (%ds) later",
			higher.Limit, lower.Limit, p.MinReadySeconds())
	}
}
