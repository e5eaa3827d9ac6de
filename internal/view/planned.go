package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/diagnosis"
	"github.com/kubectl-ds/kubectl-ds/internal/view/difftext"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// Plan writes the plan of one DaemonSet: its end, the nodes without a pod, the changes, the steps, the ways out of a
// stall, and the assumptions. now is the Explanation of the same Snapshot. It is nil if there is none, for example for
// a new DaemonSet.
func Plan(w io.Writer, p *plan.Plan, now *explain.Explanation, asked sheet.Asked, style wording.Style) error {
	return sheet.WriteOne(w, planScreenOf(p, now, asked, style), style)
}

// planScreen builds the screen of one Plan.
type planScreen struct {
	*sheet.Sheet
	p *plan.Plan
	o *plan.Outcome
	// the problems of late pods and of the nodes that stay without an available pod or count against the limit
	problems []*cause.Problem
	before   *diagnosis.Answer // the state before the change; nil if it is unknown or the plan has no change
	live     *diagnosis.Answer // the current state, if the plan is about a rollout in progress
}

func newPlanScreen(p *plan.Plan, now *explain.Explanation, asked sheet.Asked, style wording.Style) *planScreen {
	s := &planScreen{Sheet: sheet.New(&p.Header, asked, style), p: p, o: &p.Outcome, problems: p.Outcome.Problems}
	switch {
	case now != nil && p.OfChange():
		s.before = &diagnosis.Answer{Sheet: s.Sheet, E: now}
		for _, p := range s.problems {
			if out := now.Outside(p.Code); out != nil {
				p.Blame, p.Subject = out.Blame, out.Subject
			}
		}
	case now != nil:
		s.live = &diagnosis.Answer{Sheet: s.Sheet, E: now, InPlan: true, Unfit: len(p.Unfit) > 0,
			Losing:   p.Outcome.Code == plan.Stalls && p.Outcome.Unserved() > 0,
			GoesBack: p.Outcome.Code == plan.Stalls && back(p.Ways(true)) && len(p.Waves) > 0 && !now.Failing()}
		s.problems = s.live.E.Matters()
	}
	return s
}

// back reports whether a rollback is among the ways out of a stall.
func back(ways []remedy.Remedy) bool { return remedy.Find(ways, remedy.RollBack) != nil }

func planScreenOf(p *plan.Plan, now *explain.Explanation, asked sheet.Asked, style wording.Style) *screen.Screen {
	return &buildPlanScreen(p, now, asked, style).Screen
}

func buildPlanScreen(p *plan.Plan, now *explain.Explanation, asked sheet.Asked, style wording.Style) *planScreen {
	s := newPlanScreen(p, now, asked, style)
	if s.live != nil {
		s.live.Counts = s.stays()
		s.changedNodes(screen.Note)
		s.live.Present()
	} else {
		s.change()
		s.underWay()
		s.limit()
		s.causes()
		s.warnings()
	}
	s.rollBack()
	s.unmetCause()
	s.headline()
	s.outlook()
	if s.impact(); s.o.Code != plan.RemovesAllPods {
		s.course()
		s.groups()
		s.waysOut()
		s.addWhatIf()
	}
	if s.live == nil {
		s.doNow()
	}
	if s.commands(); s.o.Code != plan.RemovesAllPods || style.Wide {
		s.assumed()
	}
	s.hideDetails()
	return s
}

// stays reports whether the current rollout is stuck. The plan then equals the result of explain.
func (s *planScreen) stays() bool {
	v := s.p.Verdict()
	return s.live != nil && (v == plan.VerdictStaysStuck || v == plan.VerdictStaysDegraded)
}

// hideDetails hides everything except the end, its cause, its effects and the actions to take. The flag --all shows the
// rest.
func (s *planScreen) hideDetails() {
	if s.Style.Wide {
		return
	}
	s.Screen.Further(screen.Check, screen.Rollout, screen.Limit, screen.Other, screen.Steps, screen.States,
		screen.Rests,
		screen.Notes)
	if s.p.IfChanged() == nil {
		s.Screen.Further(screen.WhatIf)
	}
	if s.live != nil || s.Screen.Has(screen.Then) || s.Screen.Has(screen.Or) {
		s.Screen.Further(screen.Ways)
	} else {
		s.Screen.Move(screen.Ways, screen.Body, 0)
	}
	if s.Screen.Has(screen.Then) || s.Screen.Has(screen.Or) {
		s.Screen.Further(screen.Preview)
	}
	s.FitScreen(1)
}

// underWay adds the rollout that is in progress when the change is made.
func (s *planScreen) underWay() {
	if s.before == nil || !s.before.E.Rollout.UnderWay {
		return
	}
	s.before.Rollout()
	rows := s.before.E.Beside(s.problems, s.p.Change.Removed())
	for i, p := range rows { // the change may solve these problems
		now := *p
		now.Facts, rows[i] = wording.MergeFacts(p.Facts, daemonset.Facts{"now": true}), &now
	}
	s.ProblemLines("now: ", rows[:min(3, len(rows))])
	if n, at := s.before.E.Waiting(); n > 0 && s.p.Change.TemplateChanged {
		by := wording.PluralOf(n, " becomes available by itself", " become available by themselves")
		s.Note(screen.Text("without this change, " + wording.Plural(n, "pod") + " on revision " +
			fmt.Sprint(s.before.Current()) + by +
			" within " + wording.Ago(at.Sub(s.Now)) + "; the change replaces " + wording.PluralOf(n, "it", "them")))
	}
}

var tones = map[plan.Quality]screen.Tone{plan.EndsWell: screen.Good, plan.EndsInDoubt: screen.Warn,
	plan.EndsBadly: screen.Bad}

// planVerdict describes the end of a plan: with "would" for a change, and with "will" for a rollout in progress.
func planVerdict(p *plan.Plan) string {
	will := wording.Either(p.OfChange(), "WOULD ", "WILL ")
	down := p.Now.Desired > 0 && p.Now.Available == 0
	return map[plan.Verdict]string{
		plan.VerdictNothing:       "NOTHING TO DO",
		plan.VerdictEnds:          "WOULD END THE ROLLOUT",
		plan.VerdictUncompared:    "NOT COMPARED",
		plan.VerdictDegraded:      wording.Either(down, "DOWN", "DEGRADED"),
		plan.VerdictCompletes:     will + "COMPLETE",
		plan.VerdictLate:          "MAY COMPLETE",
		plan.VerdictUndone:        will + "NOT LAST",
		plan.VerdictRemoves:       will + "REMOVE " + wording.PluralVerb(len(p.Placement.Lose), "POD", "PODS"),
		plan.VerdictRemovesAll:    will + "REMOVE ALL PODS",
		plan.VerdictStalls:        will + "STALL",
		plan.VerdictStaysStuck:    "STAYS " + wording.Either(down, "DOWN", "STUCK"),
		plan.VerdictStaysDegraded: "STAYS " + wording.Either(down, "DOWN", "DEGRADED"),
		plan.VerdictWaits:         wording.Either(p.OfChange(), "WOULD WAIT", "WAITS") + " FOR YOU",
		plan.VerdictBeingDeleted:  "BEING DELETED",
		plan.VerdictIgnored:       "IGNORED",
		plan.VerdictUnknown:       "UNKNOWN",
	}[p.Verdict()]
}

// headline adds the verdict, the number of nodes that lose their pod in the end, and the number of warnings below.
func (s *planScreen) headline() {
	verdict, loses := planVerdict(s.p), wording.Counted(len(s.p.Losses()), "POD", "PODS")
	if loses != "" && s.p.Verdict() == plan.VerdictCompletes { // the loss is more important than the completion
		verdict = wording.Either(s.p.OfChange(), "WOULD", "WILL") + " LOSE " + loses
	} else {
		verdict += wording.Phrase(", LOSES ", loses)
	}
	verdict += wording.Phrase(", ", wording.Counted(s.p.WarningsBeside(), "WARNING", "WARNINGS"))
	s.Screen.Headline = screen.Headline{Verdict: verdict, Tone: tones[s.p.Quality()], Subject: s.Subject(),
		Text: s.summary()}
	s.Screen.Notice = "Plan only: nothing has been changed."
	if s.before != nil && s.before.E.Rollout.UnderWay && s.before.E.Verdict.Code != explain.AwaitingDelete {
		s.Screen.Notice = changesNothing(nil)
	}
	if s.live != nil && s.p.Subject == plan.SubjectRollout && s.live.E.Rollout.UnderWay {
		s.Screen.Notice = changesNothing(s.p.Change)
	}
}

// changesNothing says that a plan of the current rollout changes nothing.
func changesNothing(asked *whatif.Summary) string {
	switch {
	case asked == nil:
		return "A rollout is in progress; this plan changes nothing."
	case len(asked.Nodes) > 0:
		return "The change does not affect this DaemonSet: this is the plan of what is under way."
	}
	return "The cluster has what was asked for already: this is the plan of what is under way."
}

// undoer names the tool that undoes the change, or returns "" if no such tool is known.
func (s *planScreen) undoer() string {
	who, _ := sheet.ManagerWords(*cmp.Or(s.p.UndoneBy(), &managed.Manager{}))
	return who
}

// summary returns the sentence of the headline. It always names the nodes that lose their pod.
func (s *planScreen) summary() string {
	if s.stays() {
		return s.live.Summary()
	}
	evicted, _ := s.p.Preempted()
	words := wording.Joined("; ",
		wording.Either(s.p.KeepsNone(), noNodeKeepsPod, ""), s.ending(),
		wording.Phrase("the scheduler ", s.removalVerb("removes"), " ", wording.Counted(evicted, "pod", "pods"),
			" of others"),
		wording.Phrase("the change lasts until ", s.undoer(), " undoes it"))
	if n := len(s.p.Placement.Lose); n > 0 {
		words += "; " + wording.Plural(n, "node") + " " + s.conditional(n, "loses its pod", "lose their pods",
			"lose its pod",
			"lose their pods") + " immediately"
	}
	return words
}

// otherwise describes the end if pods that are not Ready behave differently than expected. It returns "" if the end is
// the same.
func (s *planScreen) otherwise(on plan.Condition) string {
	for _, a := range s.o.Alternatives {
		if a.Condition == on {
			return wording.Otherwise(&remedy.Otherwise{Nodes: a.Nodes, Ready: on == plan.PodsBecomeReady,
				Stalls: a.Code == plan.Stalls, Updated: a.Updated, Unserved: a.Unserved, Duration: a.Duration},
				s.p.AtEnd().Desired, s.o.Code == plan.Stalls)
		}
	}
	return ""
}

// blame names the nodes that stay without an available pod, by cause.
func (s *planScreen) blame() string {
	reason := s.o.Reason
	if v := s.p.Admission; reason == cause.FailedCreate && v != nil && s.live == nil {
		if len(v.Refusals) > 0 {
			if _, terse := s.Rejection(&v.Refusals[0], 0); terse != "" {
				return terse
			}
		} else if q, _ := cause.Narrowest(v); q != nil {
			return fmt.Sprintf(`ResourceQuota "%s" has room for %s`, q.Name, wording.Plural(int(q.Passes), "more pod"))
		}
	}
	switch invalid := func(w plan.Warning) bool { return w.Code == plan.InvalidImageName }; {
	case reason == cause.Terminating:
		return wording.PluralVerb(s.o.Terminating, "pod is deleted and stays Terminating",
			"pods are deleted and stay Terminating")
	case reason == daemonset.StepBudgetSpent && s.p.Budget.Limit == 0:
		return fmt.Sprintf("the limit is %s of 0 nodes = 0, so no available pod is deleted", s.p.Budget.Spec)
	case slices.ContainsFunc(s.p.Warnings, invalid):
		return "no new pod starts: the name of its image is invalid"
	case s.unmet() != "":
		return "no new pod starts: " + s.unmet()
	case reason == daemonset.StepBudgetSpent && len(s.problems) == 0 &&
		slices.ContainsFunc(s.p.Assumptions, holdsPorts):
		return "no new pod is scheduled, because the old one beside it uses its host port"
	case s.live != nil && len(s.p.Unfit) > 0:
		return sheet.Why(s.p.Unfits(), func(p *cause.Problem,
			nodes []string) string {
			return wording.Predicates[p.Code].Of(nodes, 0)
		}, 2)
	case s.live != nil && len(s.p.Waves) == 0:
		return cmp.Or(s.live.Why(2), sheet.StallReason(reason))
	case reason == cause.FailedCreate && len(s.problems) > 0 && s.problems[0].Code == cause.FailedCreate &&
		cmp.Or(s.before, s.live) != nil:
		return cmp.Or(s.before, s.live).Clause(s.problems[0], nil)
	case reason != daemonset.StepBudgetSpent && reason != daemonset.StepWaiting && reason != plan.Unfilled &&
		reason != cause.DoesNotFit:
		return sheet.StallReason(reason)
	}
	words := sheet.Why(s.problems, func(p *cause.Problem, nodes []string) string {
		down, supposed := s.p.SplitDown(nodes)
		if len(supposed) == 0 {
			return wording.Predicates[p.Code].Of(nodes, 0)
		}
		words := wording.Predicate{Noun: "node", One: "is assumed to be down",
			Many: "are assumed to be down"}.Of(supposed, 0)
		if len(down) > 0 {
			words = wording.Predicates[p.Code].Of(down, 0) + ", " + words
		}
		return words
	}, 2)
	further := wording.Counted(s.o.FurtherHolders, "node stays", "nodes stay")
	if words != "" {
		further = wording.Counted(s.o.FurtherHolders, "more node stays", "more nodes stay")
	}
	words = wording.Joined(", ", words, wording.Phrase(further, " without an available pod, chosen at random"))
	return cmp.Or(words, sheet.StallReason(reason))
}

func holdsPorts(a daemonset.Assumption) bool { return a.Code == plan.AssumeHostPorts }

// unmetCause adds who is at fault if the template refers to a missing object, and what helps.
func (s *planScreen) unmetCause() {
	missing := slices.DeleteFunc(slices.Clone(s.p.Warnings),
		func(w plan.Warning) bool { return w.Code != plan.MissingReference })
	if len(missing) == 0 || s.live != nil && s.live.E.Has(cause.ContainerConfig) != nil { // Problem says this
		return
	}
	if n := s.admittedBefore(); n > 0 {
		s.Add(screen.Impact, "already now: a pod that is deleted or evicted does not start again")
		s.Add(screen.Fault, "likely not the change: %s with the same references, so something was deleted since",
			wording.PluralVerb(n, "pod runs", "pods run"))
	}
	if s.live == nil && s.admittedBefore() == 0 { // Problem names the object
		s.Add(screen.Fault, "the template: it refers to what does not exist")
	}
	for i, w := range missing {
		r := s.Reference(w.Facts)
		switch {
		case s.live == nil:
		case s.admittedBefore() > 0:
			s.Add(screen.Fault, "%s", sheet.NoSuch(wording.Known{Facts: w.Facts, Now: s.Now},
				s.Header.DaemonSet.Namespace))
		case r.Key != "":
			s.Add(screen.Fault, "the template: it refers to key %s of %s, which has no such key", r.Key, r.Object())
		default:
			s.Add(screen.Fault, "the template: it refers to %s, which does not exist", r.Object())
		}
		check := s.Kubectl("kubectl get", screen.Word(kindWords[r.Kind]), s.Namespace())
		if r.Key != "" {
			check = s.Kubectl("kubectl describe", screen.Word(kindWords[r.Kind]), s.Namespace(), screen.Quote(r.Name))
		}
		s.Screen.Add(screen.Check, check)
		s.Add(s.To, "%s", wording.Either(i == 0, s.alternativePrefix(), "and ")+r.CreateWords())
	}
	s.Add(s.To, "(or correct the template)")
	for _, w := range s.p.Warnings {
		if w.Code == plan.MissingPullSecret {
			s.Screen.Add(screen.Check, s.Kubectl("kubectl get secrets", s.Namespace()))
			s.Add(s.To, "and create %s, if the registry asks for it", s.Reference(w.Facts).Object())
		}
	}
}

// kindWords has the resource names of the kinds that a template refers to.
var kindWords = map[string]string{"ConfigMap": "configmaps", "Secret": "secrets",
	"PersistentVolumeClaim": "persistentvolumeclaims"}

// neverRuns reports whether the new pods of a change never run. The screen does not count such pods as updated.
func (s *planScreen) neverRuns() bool {
	return s.p.OfChange() && s.o.Code == plan.Stalls && (s.unmet() != "" || len(s.otherSystem()) > 0 ||
		s.o.Reason == cause.FailedCreate && s.p.Admission != nil)
}

// unmet names the missing object that the template refers to, or returns "" if none is missing.
func (s *planScreen) unmet() string {
	for _, w := range s.p.Warnings {
		if w.Code == plan.MissingReference {
			return sheet.NoSuch(wording.Known{Facts: w.Facts, Now: s.Now}, s.Header.DaemonSet.Namespace)
		}
	}
	return ""
}

// valuesEqual is the assumption about values that could not be compared.
const valuesEqual = "the manifest's literal values, which could not be compared, are what is in the cluster"

// change adds the requested change and its effect on the revision.
func (s *planScreen) change() {
	c := s.p.Change
	if c == nil {
		return
	}
	if restart := s.instruction() == restartInstruction && len(c.Fields) == 1 && c.Revision.New &&
		c.Revision.Number > 0; restart {
		s.Add(screen.Change, "%s (would create revision %d)",
			wording.Either(len(s.unfinished()) > 0, "restart", "restart only"),
			c.Revision.Number)
	} else {
		for _, l := range difftext.FirstLines(difftext.Style{All: s.Style.All}.Lines(c.Fields, nil), 8,
			"more change", s.Style) {
			s.Add(screen.Change, "%s", l)
		}
		s.Add(screen.Change, "%s", templateWords(s.p))
	}
	if also := s.unfinished(); len(also) > 0 {
		s.Add(screen.Change, "also revision %d, whose rollout is not complete: %s", s.before.Current(),
			strings.Join(also, "; "))
	}
	s.changedNodes(screen.Change)
}

// unfinished returns the other changes that the new pods get, from the rollout in progress.
func (s *planScreen) unfinished() []string {
	c := s.p.Change
	if s.before == nil || !s.before.E.Rollout.UnderWay || s.before.E.Change == nil || !c.TemplateChanged ||
		!c.Revision.New {
		return nil
	}
	rest := slices.DeleteFunc(slices.Clone(s.before.E.Change.Change), func(f history.FieldChange) bool {
		return slices.ContainsFunc(c.Fields, func(d template.Difference) bool { return d.Path.Equal(f.Path) })
	})
	if len(rest) == 0 {
		return nil
	}
	return difftext.FirstLines(difftext.Style{All: s.Style.All, Brief: true}.ChangeLines(rest), 2,
		"more change", s.Style)
}

// changedNodes adds the changed nodes, and how the manifest was applied.
func (s *planScreen) changedNodes(as screen.Label) {
	c := s.p.Change
	if c == nil {
		return
	}
	for _, n := range c.Nodes {
		words := wording.Joined(" ", wording.Plural(len(n.Nodes), "node"),
			cmp.Or(nodeChangeWords[n.Kind], string(n.Kind)), n.Value)
		s.Screen.Add(as, screen.Names{Before: words + ":", Names: n.Nodes,
			After: map[bool]string{true: " already so"}[len(n.Nodes) == 0], Short: true})
	}
	s.Add(as, "%s", wording.Bracketed(methodWords(c.Method, screen.Clean(c.FieldManager))))
}

// noNodeKeepsPod describes a rollout that deletes all available pods before a new pod is available.
const noNodeKeepsPod = "no node keeps an available pod"

// impact adds the nodes without an available pod during the rollout, and those that lose or get a pod regardless of the
// limit.
func (s *planScreen) impact() {
	s.placed(s.p.Placement.Lose, []string{"loses its pod", "lose their pods", "lose its pod", "lose their pods"},
		" immediately, regardless of "+cmp.Or(s.p.Budget.Kind.Field(), "the strategy"))
	if s.o.Code == plan.NothingToDo {
		s.placed(s.p.Placement.Keep, []string{"loses its pod", "lose their pods", "lose its pod", "lose their pods"},
			" in the next rollout")
	}
	if s.o.Code != plan.Stalls { // a stalled rollout does not reach all of them
		s.stranded()
		s.placed(s.p.LostOtherwise(), []string{"loses its pod", "lose their pods", "lose its pod", "lose their pods"},
			" in the course of the rollout")
		if nodes := s.p.KeptByRepair(); len(nodes) > 0 {
			s.Screen.Add(screen.Fault, screen.Names{Before: wording.PluralOf(len(nodes), "the node", "the nodes") +
				", not the change:", Names: nodes, After: wording.PluralOf(len(nodes), " is", " are") + " NotReady",
				Short: true})
			s.Screen.Add(screen.Check, s.Kubectl("kubectl describe node", screen.Quote(nodes[0])))
		}
	}
	if s.o.Reason == cause.FailedCreate && s.p.Admission != nil {
		if s.admittedBefore() > 0 && len(s.p.Admission.Refusals) > 0 {
			s.Add(screen.Impact, "already now: a pod that is deleted or evicted is not replaced")
		}
		s.rejectedImpact()
		return
	}
	s.room()
	s.gains()
	s.onTheWay()
}

// onTheWay adds the number of nodes without an available pod during the rollout.
func (s *planScreen) onTheWay() {
	without := 0
	if s.live != nil && s.live.E.Impact != nil {
		without = len(s.live.E.Impact.Without) - len(s.live.E.Impact.Ready)
	}
	switch {
	case s.o.Code == plan.NothingToDo, s.o.Code == plan.Unknown, s.o.Code == plan.NotRolling,
		s.p.Subject == plan.SubjectNew, s.o.Worst == without && without > 0:
	case s.o.Worst > 0 && s.o.Worst <= len(s.otherSystem()) && s.o.Replaced == 0:
		s.Add(screen.Impact, "no node that has a pod loses it")
	case s.o.Worst > 0, s.live == nil && s.p.Old() > 0 && (s.o.Code == plan.Stalls || len(s.p.Lost) == 0):
		s.Add(screen.Impact, "%s", s.atMost())
	}
}

// atMost returns the maximum number of nodes without an available pod at any time.
func (s *planScreen) atMost() string {
	const without = " without an available pod at any time"
	aside, of, worst := s.p.SetAside(), s.p.Desired.After, s.o.Worst // of is 0 if the nodes could not be read
	if len(aside) > 0 || s.o.Code == plan.Stalls && worst == 0 {
		of = s.p.AtEnd().Desired
	}
	setAside := wording.Phrase(wording.SomeNames(aside), wording.PluralOf(len(aside), " is", " are"),
		" assumed to be down: ", s.desiredGoes())
	// the lines above name these nodes
	lost := len(s.p.Placement.Lose) > 0 || len(s.p.Lost) > 0 && s.o.Code != plan.Stalls
	switch {
	case of == 0 && setAside != "":
		return setAside
	case worst == 0 && setAside != "":
		return "none on the other " + wording.PluralOf(of, "node", wording.Plural(of, "node")) + "; " + setAside
	case worst == 0:
		return "none: " + diagnosis.AllHave(of) + " an available pod all the time"
	case of == 0:
		return "at most " + wording.Plural(worst, "node") + without
	case s.p.KeepsNone():
		return noNodeKeepsPod + ": for a time " + diagnosis.AllOf(of) + "nodes are without one"
	case setAside != "" || lost && s.p.Desired.After > 0:
		return "at most " + strconv.Itoa(worst) + " of the other " + wording.Plural(of, "node") + without +
			wording.WithPrefix("; ", setAside)
	}
	return "at most " + strconv.Itoa(worst) + " of " + wording.Plural(of, "node") + without
}

// stranded adds the nodes from which the rollout removes the pod because of a taint, and what would keep the pod there.
func (s *planScreen) stranded() {
	said := sets.New(s.p.KeptByRepair()...) // named by impact
	if s.live != nil {
		said.Insert(s.live.StrandedBeside(nil)...) // named by Problem
	}
	for _, g := range s.p.StrandedGroups() {
		if !said.HasAll(g.Nodes...) {
			s.Add(screen.Fault, "%s", diagnosis.Tainted(g.Facts, g.Nodes))
		}
		s.Screen.Add(screen.Check, s.Kubectl("kubectl describe node", screen.Quote(g.Nodes[0])))
		taint := wording.Fact(g.Facts, "taint")
		until := " until the taint is removed: " + taint + " is not tolerated"
		if n := wording.Number(g.Facts, "others"); n > 0 {
			until = " until the taints are removed: " + taint + " and " + wording.Plural(n, "more taint") +
				" are not tolerated"
		}
		s.Screen.Add(screen.Impact, screen.Names{
			Before: "the rollout removes the " + wording.PluralOf(len(g.Nodes), "pod", "pods") + " from",
			Names:  g.Nodes, After: until + wording.InBrackets(wording.TaintMeanings[wording.Fact(g.Facts, "key")]),
			Short: true,
		})
	}
	if s.live != nil { // the live answer says what to do
		return
	}
	nodes, tolerations := s.p.KeptByTolerations()
	if len(nodes) == 0 {
		return
	}
	s.Add(screen.Then, "%s", diagnosis.Tolerate(nodes, tolerations, true))
	// a rollback uses the template of the revision unchanged
	if rollback := func(f sheet.Flag) bool { return f.Name == "to-revision" }; !s.Asked.Undo &&
		!slices.ContainsFunc(s.Asked.Flags, rollback) {
		s.Screen.Add(screen.Preview, s.Again("plan-rollout", diagnosis.TolerationFlags(tolerations)...))
	}
}

// removalVerb returns the verb for the scheduler's removal of other pods. It returns "may remove" for a stalled
// rollout, which may not reach their nodes.
func (s *planScreen) removalVerb(it string) string {
	if s.o.Code == plan.Stalls && s.p.Subject != plan.SubjectNew {
		return "may remove"
	}
	return it
}

// alternativePrefix introduces what helps in addition to a rollback.
func (s *planScreen) alternativePrefix() string {
	return map[bool]string{true: "or "}[s.live != nil && s.live.GoesBack]
}

// rollBack adds the rollback of a rollout in progress that will stall, if explain does not show a fix yet.
func (s *planScreen) rollBack() {
	if s.alternativePrefix() == "" {
		return
	}
	to := remedy.Find(s.o.Remedies, remedy.RollBack).Value
	s.live.Preview("", "to-revision", to)
	effect := "replaces no pod: none is updated yet"
	if n := s.p.Now.Updated; n > 0 {
		effect = "replaces the " + wording.PluralVerb(n, "pod that is", "pods that are") + " updated"
	}
	s.Act(s.To, "", s.Kubectl("kubectl rollout undo", s.Namespace(), "daemonset/"+s.Name(),
		screen.Word("--to-revision="+to)), effect, s.live.UndoneBy())
}

// admittedBefore returns the number of running pods whose template differs from the new one only in metadata and
// images. The API server has admitted these pods.
func (s *planScreen) admittedBefore() int {
	// these rules may check metadata and images
	dry := func(r admission.Refusal) bool { return r.Reason == admission.DryRunRejected }
	if v := s.p.Admission; v != nil && slices.ContainsFunc(v.Refusals, dry) {
		return 0
	}
	if c := s.p.Change; c != nil && c.TemplateChanged && s.before != nil {
		other := func(d template.Difference) bool { return d.Path.What() != template.WhatImage }
		fields := slices.DeleteFunc(slices.Clone(c.Fields), func(d template.Difference) bool { return !other(d) })
		if _, only := template.OnlyMetadata(fields); only || len(fields) == 0 {
			return s.before.Works()
		}
	}
	return 0
}

// rejectedImpact adds the nodes without a pod if the API server rejects new pods.
func (s *planScreen) rejectedImpact() {
	room := 0
	if v := s.p.Admission; len(v.Refusals) == 0 {
		room = int(v.Passes)
	}
	gain, deleted, without := len(s.p.Placement.Gain), s.o.Replaced, s.o.Unserved()
	switch {
	case gain == 0 && deleted == 0:
	case gain == 0:
		rejects := wording.PluralOf(deleted, "the new one", "the new ones")
		s.Add(screen.Impact, "%s",
			"the controller deletes "+wording.Plural(deleted, "pod")+" first; the API server then rejects "+rejects+
				", so "+wording.PluralVerb(deleted, "node stays", "nodes stay")+" without a pod"+
				wording.Phrase("; the other ", wording.Counted(s.p.Old()-deleted, "pod keeps", "pods keep"),
					" running"))
	case room == 0:
		s.Add(screen.Impact, "none of the %d nodes gets a pod", gain)
	default:
		s.Add(screen.Impact, "%d of the %d nodes, chosen at random, get a pod; %s without one", room, gain,
			wording.PluralVerb(without, "node stays", "nodes stay"))
	}
}

// gains adds the nodes that get a pod immediately, and those on which it never runs.
func (s *planScreen) gains() {
	pending, rejected := sets.New(plan.Nodes(s.p.Unfit)...), sets.New(s.otherSystem()...)
	var run, hang, none []string
	for _, node := range plan.Nodes(s.p.Placement.Gain) {
		switch {
		case pending.Has(node):
			hang = append(hang, node)
		case rejected.Has(node):
			none = append(none, node)
		default:
			run = append(run, node)
		}
	}
	if len(hang)+len(none) == 0 {
		s.placed(s.p.Placement.Gain, []string{"gets a pod", "get a pod", "get a pod", "get a pod"}, " immediately")
		return
	}
	for _, of := range []struct {
		nodes     []string
		one, many string
	}{
		{run, "node gets a pod that can run:", "nodes get a pod that can run:"},
		{hang, "node gets a pod that stays Pending:", "nodes get a pod that stays Pending:"},
		{none, "node gets a pod that its kubelet rejects:", "nodes get a pod that their kubelet rejects:"},
	} {
		if n := len(of.nodes); n > 0 {
			s.Screen.Add(screen.Impact, screen.Names{Before: wording.PluralVerb(n, of.one, of.many), Names: of.nodes,
				Short: true})
		}
	}
}

// otherSystem returns the nodes whose kubelet rejects the pods of the template.
func (s *planScreen) otherSystem() (nodes []string) {
	for _, p := range s.problems {
		if p.Code == cause.PodOSNotSupported {
			nodes = append(nodes, p.Nodes...)
		}
	}
	return nodes
}

// placed adds the consequence for pods on nodes, grouped by the rule that decides it. verbs are the last four arguments
// of conditional.
func (s *planScreen) placed(nodes []plan.PlacementNode, verbs []string, when string) {
	const most = 3
	groups := plan.ByVerdict(nodes)
	for i, g := range groups {
		if i == most && !s.Style.All && len(groups) > most+1 {
			s.Add(screen.Impact, "more of them with --all")
			return
		}
		why := wording.InBrackets(wording.Placement(g.Reason, g.Facts))
		lose := s.conditional(len(g.Nodes), verbs[0], verbs[1], verbs[2], verbs[3]) + when
		if s.o.Code == plan.RemovesAllPods && len(groups) == 1 && s.changes(g.Nodes) { // Fault and Change say this
			s.Add(screen.Impact, "these nodes %s", lose)
			return
		}
		s.Screen.Add(screen.Impact, screen.Names{Before: wording.Plural(len(g.Nodes), "node") + " " + lose + ":",
			Names: g.Nodes,
			After: why, Short: true})
	}
}

// changes reports whether the change affects exactly these nodes.
func (s *planScreen) changes(nodes []string) bool {
	if s.p.Change == nil {
		return false
	}
	var changed []string
	for _, n := range s.p.Change.Nodes {
		changed = append(changed, n.Nodes...)
	}
	slices.Sort(changed)
	return slices.Equal(slices.Compact(changed), slices.Sorted(slices.Values(nodes)))
}

// conditional returns the verb for n nodes: one or many for the current rollout, or "would" with oneWould or manyWould
// for a change.
func (s *planScreen) conditional(n int, one, many, oneWould, manyWould string) string {
	if s.p.OfChange() {
		return "would " + wording.PluralOf(n, oneWould, manyWould)
	}
	return wording.PluralOf(n, one, many)
}

// limit adds the limit of the rollout.
func (s *planScreen) limit() {
	b := &s.p.Budget
	if s.p.Old() == 0 || b.Kind == daemonset.BudgetNone || s.o.Code == plan.NotRolling ||
		s.o.Code == plan.RemovesAllPods {
		return
	}
	s.Add(screen.Limit, "%s", sheet.LimitWords(b.Kind, b.Spec, "", s.p.Desired.After, b.Limit)+s.pace())
}

// pace returns the number of pods that the controller replaces at a time.
func (s *planScreen) pace() string {
	old, stay, stalls := s.p.Old(), s.o.Unserved(), s.o.Code == plan.Stalls
	n, once := s.p.AtATime(s.o.AtATime), min(s.o.AtOnce, old)
	switch {
	case stalls && len(s.p.Waves) == 0:
		return ", and it is used up, so the controller replaces no more pods"
	case s.p.Regardless():
		return ": the " + wording.PluralOf(old, "pod is not available, so it is",
			"pods are not available, so they are") +
			" replaced immediately, regardless of the limit"
	case old > 1 && n == old:
		return ": all " + strconv.Itoa(old) + " pods at the same time"
	case n == 0 && stalls && s.o.Replaced == 0 && stay > 0:
		return ", and " + wording.PluralVerb(stay, "node stays", "nodes stay") + " without an available pod, " +
			"so the controller replaces no pod"
	case n == 0:
		return ""
	case once > 0:
		return ": immediately " + wording.PluralVerb(once, "pod that is", "pods that are") +
			" not available, the others at most " +
			strconv.Itoa(n) + " at a time"
	case stalls: // before all pods are replaced
		return ": at most " + wording.Plural(n, "pod") + " at a time"
	}
	return ": at most " + wording.Plural(n, "pod") + " at a time" +
		wording.Phrase("; ", wording.Counted(s.p.Replaces, "pod is", "pods are"),
			" replaced, ", wording.Counted(s.p.Drops, "is", "are"), " only deleted")
}

// causes adds what keeps a change from completing, and the commands that show more about it.
func (s *planScreen) causes() {
	known := slices.DeleteFunc(slices.Clone(s.problems),
		func(p *cause.Problem) bool { return s.p.Supposed(p.Nodes...) })
	rejected := s.o.Code == plan.Stalls && s.o.Reason == cause.FailedCreate && s.p.Admission != nil
	if rejected { // Fault says this
		known = slices.DeleteFunc(known, func(p *cause.Problem) bool { return p.Facts.Yes("predicted") })
	}
	s.ProblemLines("", known)
	s.Checks(known)
	if down := plan.Down(s.problems); s.o.Code == plan.Stalls && s.o.Reason == daemonset.StepBudgetSpent &&
		len(down) > 0 {
		s.Add(screen.Fault, "%s", s.downNodesFault(down))
	}
	if rejected {
		s.Admitted(s.p.Admission, s.o.Unserved(), s.admittedBefore())
	}
	for _, p := range known {
		if p.Code == cause.PodOSNotSupported {
			who, gained := "the template: it", sets.New(p.Nodes...).HasAny(plan.Nodes(s.p.Placement.Gain)...)
			if gained {
				who = "the change: it makes " + wording.SomeNames(p.Nodes) + " eligible, and its template"
			}
			s.Screen.Add(screen.Check, s.Kubectl("kubectl get nodes", screen.Word("-L kubernetes.io/os")))
			s.Add(screen.Fault, "%s is for %s only", who, wording.Fact(p.Facts, "want"))
			continue
		}
		if p.Blame != nil && s.before != nil && p.Blame.Who != cause.WhoNode && p.Blame.Who != cause.WhoUnknown &&
			p.Code != cause.DoesNotFit && !(rejected && p.Code == cause.FailedCreate) {
			s.Add(screen.Fault, "%s", s.before.Origin(p))
		}
	}
	if s.o.Code != plan.RemovesAllPods {
		return
	}
	for _, g := range plan.ByVerdict(s.p.Placement.Lose) {
		words, key := wording.Placement(g.Reason, g.Facts), wording.Fact(g.Facts, "key")
		check := s.Kubectl("kubectl get nodes", screen.Word("-L "+screen.Quote(key)))
		switch {
		case g.Reason == daemonset.TaintNotTolerated:
			words = "the pod does not tolerate the taint " + wording.Fact(g.Facts, "taint")
			check = nil
		case key == "":
			check = nil
		}
		s.Add(screen.Fault, "%s", words)
		s.Screen.Add(screen.Check, check)
	}
}

// downNodesFault describes how nodes that are down use the limit. It names the nodes only if the user asked to treat
// some of them as down. Otherwise, Problem names them.
func (s *planScreen) downNodesFault(down []string) string {
	_, supposed := s.p.SplitDown(down)
	who := wording.PluralOf(len(down), "the node", "the nodes") + ", not this change"
	if len(supposed) > 0 {
		who = "the nodes that are down, " + wording.SomeNames(down)
		if len(down) == 1 {
			who = down[0] + ", assumed to be down"
		}
	}
	words := who + wording.PluralOf(len(down), ": its pod stays Terminating once deleted, and counts against ",
		": their pods stay Terminating once deleted, and count against ") + s.p.Budget.Kind.Field() + " " +
		strconv.Itoa(s.p.Budget.Limit)
	if len(s.p.SetAside()) > 0 {
		words += ", although DESIRED does not count " + wording.PluralOf(len(down), "the node", "the nodes")
	}
	return words
}

// warnings adds the problems that the API server accepts.
func (s *planScreen) warnings() {
	for i, w := range s.p.Warnings {
		words := s.warning(w)
		if i == 0 || s.p.Warnings[i-1].Code != w.Code {
			words = string(w.Code) + wording.WithPrefix(": ", words)
		}
		s.Add(screen.Problem, "%s", words)
	}
}

// warning explains a warning of the plan. The package sheet has the sentences.
func (s *planScreen) warning(w plan.Warning) string {
	who, undone := sheet.ManagerWords(managed.Manager{Tool: managed.Tool(wording.Fact(w.Facts, "tool")),
		By: wording.Fact(w.Facts, "by")})
	return s.Meaning(&cause.Problem{Code: w.Code,
		Facts: wording.MergeFacts(w.Facts, daemonset.Facts{"some": wording.NamesIn(w.Facts, "onNodes"), "who": who,
			"undone": undone,
			"fault":  ImageFault(template.ImageFault(wording.Fact(w.Facts, "fault"))),
			"all": wording.Number(w.Facts, "count") > 1 &&
				wording.Number(w.Facts, "count") == s.p.Now.Current})})
}

// outlook adds the first step of the controller, and where the rollout stops.
func (s *planScreen) outlook() {
	n, then, when := s.p.Next, "without a fix", "next"
	if s.p.OfChange() {
		then, when = "if you "+s.instruction(), "first"
		if down := s.p.Hypothetical(); len(down) > 0 {
			then = "with " + wording.SomeNames(down) + " down"
		}
	}
	stalls, waits := s.o.Code == plan.Stalls, n.Kind == daemonset.StepNone
	switch {
	case s.o.Code == plan.NotRolling && s.o.Reason != daemonset.StepOnDelete:
		return
	case waits && n.Reason == daemonset.StepPodsNotRead:
		s.Add(screen.Outlook, "unknown: %s", sheet.Unread(s.Header))
	case s.o.Code == plan.RemovesAllPods && s.p.OfChange():
		s.Add(screen.Outlook, "%s: %s", then, s.deletesAll())
		return
	case stalls: // the headline says this
		s.Add(screen.Limit, "%s: %s", then, s.stallPoint())
	case waits && len(s.p.Waves) > 0 && s.p.Waves[0].At != nil && *s.p.Waves[0].At > 0:
		s.Add(screen.Outlook, "%s; it continues in about %s", sheet.Idle(n.Reason, s.Header),
			wording.Seconds(*s.p.Waves[0].At))
	}
	if words := s.otherwise(plan.PodsBecomeReady); words != "" {
		s.Add(screen.Outlook, "%s", words)
	}
	if nf := s.o.FurtherHolders; nf > 0 && len(s.o.Holders) > 0 {
		s.Note(screen.Text(wording.PluralVerb(nf, "more node ends like these", "more nodes end like these") +
			": which ones is the controller's random choice"))
	}
	if rejected := s.o.Reason == cause.FailedCreate && n.Creates.Len() > 0; !stalls || len(s.p.Waves) > 0 && !rejected {
		s.Named = plan.Nodes(s.p.Placement.Gain)
		s.Sync(&n, when)
	}
	// Rollout or Change says this
	if changes := s.p.Change != nil && s.p.Change.TemplateChanged; changes || s.live != nil {
		if n.Revisions.Cut = false; changes {
			n.Revisions.RaisedFrom = 0
		}
	}
	s.Bookkeeping(n)
}

// desiredGoes describes how DESIRED changes.
func (s *planScreen) desiredGoes() string {
	return "DESIRED " + wording.Either(s.p.OfChange(), "would go", "goes") + " from " +
		strconv.Itoa(s.p.Desired.Before) +
		" to " + strconv.Itoa(s.p.Desired.After)
}

// deletesAll describes the consequence for the pods if no node is eligible.
func (s *planScreen) deletesAll() string {
	words := s.desiredGoes() + ", and the controller " + wording.Either(s.p.OfChange(), "would delete", "deletes") +
		" every pod"
	if more := len(s.p.Placement.Lose) - s.p.Desired.Before; more > 0 {
		words += ", including " + strconv.Itoa(more) + " that DESIRED does not count"
	}
	return words
}

// stallPoint describes where a rollout stalls.
func (s *planScreen) stallPoint() string {
	end := s.p.AtEnd()
	updated, of := strconv.Itoa(end.Updated), " of "+strconv.Itoa(end.Desired)
	available := strconv.Itoa(end.Available)
	switch stays := !s.p.OfChange(); {
	case s.neverRuns():
		return "stops with " + wording.PodsOf(end.Available, end.Desired) + " available"
	case s.p.Subject == plan.SubjectNew:
		return "stops with " + available + of + " available"
	case s.o.AtWorst:
		return "stops with " + updated + " or more" + of + " updated, " + available + " available"
	case stays && s.p.Old() == 0:
		return "stays at " + available + of + " available"
	case stays && len(s.p.Waves) == 0:
		return "stays at " + updated + of + " updated"
	}
	return "stops with " + updated + of + " updated, " + available + " available"
}

// applies reports whether the screen shows the commands that make the change. It does not show them for a change that
// ends badly, except for a rollback.
func (s *planScreen) applies() bool {
	if s.Asked.Undo {
		return s.o.Reason != daemonset.StepBeingDeleted
	}
	ends := []plan.OutcomeCode{plan.Completes, plan.MayComplete, plan.NothingToDo}
	ends = append(ends, map[bool]plan.OutcomeCode{true: plan.NotRolling}[s.o.Reason == daemonset.StepOnDelete])
	return s.p.OfChange() && slices.Contains(ends, s.o.Code) && s.p.Quality() != plan.EndsBadly
}

// commands adds the commands that preview or follow the rollout.
func (s *planScreen) commands() {
	asked := s.p.OfChange()
	if asked && s.o.Code == plan.NotRolling && s.o.Reason == daemonset.StepOnDelete {
		s.Screen.Add(screen.Preview, s.Again("plan-rollout", sheet.Flag{Name: "strategy", Value: "RollingUpdate"}))
	}
	if s.Asked.Undo && !s.p.Change.TemplateChanged {
		s.Note(screen.Text("kubectl rollout undo would change nothing: the live template is that of the revision " +
			"already, with the API defaults"))
	}
	if s.Asked.Live && len(s.p.Waves) > 0 {
		s.Screen.Add(screen.Follow, append(screen.Command{s.Asked.Own("plan-rollout"), s.Namespace(), s.Name()},
			s.Kubectl("--watch")...))
	}
}
