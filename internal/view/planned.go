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

// Plan writes one DaemonSet's plan: how it ends, whom it leaves without a pod,
// what changes, the course to the end or to the stall with the ways out, and what
// that rests on. now is the Explanation of the same Snapshot; nil where there is
// none, as of a DaemonSet that is new.
func Plan(w io.Writer, p *plan.Plan, now *explain.Explanation, asked Asked, style Style) error {
	return writeOne(w, newPlanned(p, now, asked, style), style)
}

// planned makes the screen of one Plan.
type planned struct {
	*sheet
	p *plan.Plan
	o *plan.Outcome
	// of the nodes that stay without an available pod or use up the limit, and of pods that are late
	problems []*cause.Problem
	before   *answer // what is the case before a change; nil if nothing is known of it
	live     *answer // the same, where the plan is of what is under way
}

func readPlan(p *plan.Plan, now *explain.Explanation, asked Asked, style Style) *planned {
	s := &planned{sheet: newSheet(&p.Header, asked, style), p: p, o: &p.Outcome, problems: p.Outcome.Problems}
	switch {
	case now != nil && p.OfChange():
		s.before = &answer{sheet: s.sheet, e: now}
		for _, p := range s.problems {
			if out := now.Outside(p.Code); out != nil {
				p.Blame, p.Subject = out.Blame, out.Subject
			}
		}
	case now != nil:
		s.live = &answer{sheet: s.sheet, e: now, inPlan: true, unfit: len(p.Unfit) > 0,
			losing:   p.Outcome.Code == plan.Stalls && p.Outcome.Unserved() > 0,
			goesBack: p.Outcome.Code == plan.Stalls && back(p.Ways(true)) && len(p.Waves) > 0 && !now.Failing()}
		s.problems = s.live.e.Matters()
	}
	return s
}

// back reports whether a rollback is among the ways out of a stall.
func back(ways []remedy.Remedy) bool { return remedy.Find(ways, remedy.RollBack) != nil }

func newPlanned(p *plan.Plan, now *explain.Explanation, asked Asked, style Style) *screen.Screen {
	return &newPlan(p, now, asked, style).s
}

func newPlan(p *plan.Plan, now *explain.Explanation, asked Asked, style Style) *planned {
	s := readPlan(p, now, asked, style)
	if s.live != nil {
		s.live.counts = s.stays()
		s.changedNodes(screen.Note)
		s.live.present()
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
		s.whatIf()
	}
	if s.live == nil {
		s.doNow()
	}
	if s.commands(); s.o.Code != plan.RemovesAllPods || style.Wide {
		s.assumed()
	}
	s.further()
	return s
}

// stays reports whether what is under way stands still, so that the plan is what explain says.
func (s *planned) stays() bool {
	v := s.p.Verdict()
	return s.live != nil && (v == plan.VerdictStaysStuck || v == plan.VerdictStaysDegraded)
}

// further leaves to --all what neither says how it ends, whose fault that is, who is affected nor what to do.
func (s *planned) further() {
	if s.style.Wide {
		return
	}
	s.s.Further(screen.Check, screen.Rollout, screen.Limit, screen.Other, screen.Steps, screen.States, screen.Rests,
		screen.Notes)
	if s.p.IfChanged() == nil {
		s.s.Further(screen.WhatIf)
	}
	if s.live != nil || s.s.Has(screen.Then) || s.s.Has(screen.Or) {
		s.s.Further(screen.Ways)
	} else {
		s.s.Move(screen.Ways, screen.Body, 0)
	}
	if s.s.Has(screen.Then) || s.s.Has(screen.Or) {
		s.s.Further(screen.Preview)
	}
	s.fits(1)
}

// underWay says what is under way when a change is made.
func (s *planned) underWay() {
	if s.before == nil || !s.before.e.Rollout.UnderWay {
		return
	}
	s.before.rollout()
	rows := s.before.e.Beside(s.problems, s.p.Change.Removed())
	for i, p := range rows { // which the change may end
		now := *p
		now.Facts, rows[i] = with(p.Facts, daemonset.Facts{"now": true}), &now
	}
	s.problemLines("now: ", rows[:min(3, len(rows))])
	if n, at := s.before.e.Waiting(); n > 0 && s.p.Change.TemplateChanged {
		by := pluralOf(n, " becomes available by itself", " become available by themselves")
		s.note(screen.Text("without this change, " + Plural(n, "pod") + " on revision " +
			fmt.Sprint(s.before.current()) + by +
			" within " + ago(at.Sub(s.now)) + "; the change replaces " + pluralOf(n, "it", "them")))
	}
}

var tones = map[plan.Quality]screen.Tone{plan.EndsWell: screen.Good, plan.EndsInDoubt: screen.Warn,
	plan.EndsBadly: screen.Bad}

// planVerdict says how a plan ends: in the conditional for a change, in the future for what is under way.
func planVerdict(p *plan.Plan) string {
	will := either(p.OfChange(), "WOULD ", "WILL ")
	down := p.Now.Desired > 0 && p.Now.Available == 0
	return map[plan.Verdict]string{
		plan.VerdictNothing:       "NOTHING TO DO",
		plan.VerdictEnds:          "WOULD END THE ROLLOUT",
		plan.VerdictUncompared:    "NOT COMPARED",
		plan.VerdictDegraded:      either(down, "DOWN", "DEGRADED"),
		plan.VerdictCompletes:     will + "COMPLETE",
		plan.VerdictLate:          "MAY COMPLETE",
		plan.VerdictUndone:        will + "NOT LAST",
		plan.VerdictRemoves:       will + "REMOVE " + pluralVerb(len(p.Placement.Lose), "POD", "PODS"),
		plan.VerdictRemovesAll:    will + "REMOVE ALL PODS",
		plan.VerdictStalls:        will + "STALL",
		plan.VerdictStaysStuck:    "STAYS " + either(down, "DOWN", "STUCK"),
		plan.VerdictStaysDegraded: "STAYS " + either(down, "DOWN", "DEGRADED"),
		plan.VerdictWaits:         either(p.OfChange(), "WOULD WAIT", "WAITS") + " FOR YOU",
		plan.VerdictBeingDeleted:  "BEING DELETED",
		plan.VerdictIgnored:       "IGNORED",
		plan.VerdictUnknown:       "UNKNOWN",
	}[p.Verdict()]
}

// headline has, beside the verdict, how many nodes lose their pod in the end, and
// how many warnings are below that it does not say itself.
func (s *planned) headline() {
	verdict, loses := planVerdict(s.p), counted(len(s.p.Losses()), "POD", "PODS")
	if loses != "" && s.p.Verdict() == plan.VerdictCompletes { // that it completes is not the news then
		verdict = either(s.p.OfChange(), "WOULD", "WILL") + " LOSE " + loses
	} else {
		verdict += phrase(", LOSES ", loses)
	}
	verdict += phrase(", ", counted(s.p.WarningsBeside(), "WARNING", "WARNINGS"))
	s.s.Headline = screen.Headline{Verdict: verdict, Tone: tones[s.p.Quality()], Subject: s.subject(),
		Text: s.summary()}
	s.s.Notice = "Plan only: nothing has been changed."
	if s.before != nil && s.before.e.Rollout.UnderWay && s.before.e.Verdict.Code != explain.AwaitingDelete {
		s.s.Notice = changesNothing(nil)
	}
	if s.live != nil && s.p.Subject == plan.SubjectRollout && s.live.e.Rollout.UnderWay {
		s.s.Notice = changesNothing(s.p.Change)
	}
}

// changesNothing says of a plan of what is under way that it changes nothing.
func changesNothing(asked *whatif.Summary) string {
	switch {
	case asked == nil:
		return "A rollout is in progress; this plan changes nothing."
	case len(asked.Nodes) > 0:
		return "The change does not affect this DaemonSet: this is the plan of what is under way."
	}
	return "The cluster has what was asked for already: this is the plan of what is under way."
}

// undoer names the tool that undoes the change by itself; empty where none is
// known to.
func (s *planned) undoer() string {
	who, _ := managerWords(*cmp.Or(s.p.UndoneBy(), &managed.Manager{}))
	return who
}

// summary is the headline's sentence. It names the nodes that lose their pod
// whatever the end is.
func (s *planned) summary() string {
	if s.stays() {
		return s.live.summary()
	}
	evicted, _ := s.p.Preempted()
	words := joined("; ",
		either(s.p.KeepsNone(), noneKeeps, ""), s.ending(),
		phrase("the scheduler ", s.removes("removes"), " ", counted(evicted, "pod", "pods"), " of others"),
		phrase("the change lasts until ", s.undoer(), " undoes it"))
	if n := len(s.p.Placement.Lose); n > 0 {
		words += "; " + Plural(n, "node") + " " + s.would(n, "loses its pod", "lose their pods", "lose its pod",
			"lose their pods") + " immediately"
	}
	return words
}

// otherwise says what comes if pods that are not ready do otherwise than expected; empty
// where it is the same.
func (s *planned) otherwise(on plan.Condition) string {
	for _, a := range s.o.Alternatives {
		if a.Condition == on {
			return otherwise(&remedy.Otherwise{Nodes: a.Nodes, Ready: on == plan.PodsBecomeReady,
				Stalls: a.Code == plan.Stalls, Updated: a.Updated, Unserved: a.Unserved, Duration: a.Duration},
				s.p.AtEnd().Desired, s.o.Code == plan.Stalls)
		}
	}
	return ""
}

// blame names who stays without an available pod, by cause.
func (s *planned) blame() string {
	reason := s.o.Reason
	if v := s.p.Admission; reason == cause.FailedCreate && v != nil && s.live == nil {
		if len(v.Refusals) > 0 {
			if _, terse := s.rejection(&v.Refusals[0], 0); terse != "" {
				return terse
			}
		} else if q, _ := cause.Narrowest(v); q != nil {
			return fmt.Sprintf(`ResourceQuota "%s" has room for %s`, q.Name, Plural(int(q.Passes), "more pod"))
		}
	}
	switch invalid := func(w plan.Warning) bool { return w.Code == plan.InvalidImageName }; {
	case reason == cause.Terminating:
		return pluralVerb(s.o.Terminating, "pod is deleted and stays Terminating",
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
		return why(s.p.Unfits(), func(p *cause.Problem,
			nodes []string) string {
			return predicates[p.Code].of(nodes, 0)
		}, 2)
	case s.live != nil && len(s.p.Waves) == 0:
		return cmp.Or(s.live.why(2), stallReason(reason))
	case reason == cause.FailedCreate && len(s.problems) > 0 && s.problems[0].Code == cause.FailedCreate &&
		cmp.Or(s.before, s.live) != nil:
		return cmp.Or(s.before, s.live).clause(s.problems[0], nil)
	case reason != daemonset.StepBudgetSpent && reason != daemonset.StepWaiting && reason != plan.Unfilled &&
		reason != cause.DoesNotFit:
		return stallReason(reason)
	}
	words := why(s.problems, func(p *cause.Problem, nodes []string) string {
		down, supposed := s.p.SplitDown(nodes)
		if len(supposed) == 0 {
			return predicates[p.Code].of(nodes, 0)
		}
		words := predicate{noun: "node", one: "is assumed to be down", many: "are assumed to be down"}.of(supposed, 0)
		if len(down) > 0 {
			words = predicates[p.Code].of(down, 0) + ", " + words
		}
		return words
	}, 2)
	further := counted(s.o.FurtherHolders, "node stays", "nodes stay")
	if words != "" {
		further = counted(s.o.FurtherHolders, "more node stays", "more nodes stay")
	}
	words = joined(", ", words, phrase(further, " without an available pod, chosen at random"))
	return cmp.Or(words, stallReason(reason))
}

func holdsPorts(a daemonset.Assumption) bool { return a.Code == plan.AssumeHostPorts }

// unmetCause says whose fault it is that no new pod starts, and what helps, where the
// template refers to what does not exist.
func (s *planned) unmetCause() {
	missing := slices.DeleteFunc(slices.Clone(s.p.Warnings),
		func(w plan.Warning) bool { return w.Code != plan.MissingReference })
	if len(missing) == 0 || s.live != nil && s.live.e.Has(cause.ContainerConfig) != nil { // which says so
		return
	}
	if n := s.ran(); n > 0 {
		s.add(screen.Impact, "already now: a pod that is deleted or evicted does not start again")
		s.add(screen.Fault, "likely not the change: %s with the same references, so something was deleted since",
			pluralVerb(n, "pod runs", "pods run"))
	}
	if s.live == nil && s.ran() == 0 { // Problem says what
		s.add(screen.Fault, "the template: it refers to what does not exist")
	}
	for i, w := range missing {
		r := s.reference(w.Facts)
		switch {
		case s.live == nil:
		case s.ran() > 0:
			s.add(screen.Fault, "%s", noSuch(known{w.Facts, s.now}, s.h.DaemonSet.Namespace))
		case r.key != "":
			s.add(screen.Fault, "the template: it refers to key %s of %s, which has no such key", r.key, r.object())
		default:
			s.add(screen.Fault, "the template: it refers to %s, which does not exist", r.object())
		}
		check := s.kubectl("kubectl get", screen.Word(kindWords[r.kind]), s.namespace())
		if r.key != "" {
			check = s.kubectl("kubectl describe", screen.Word(kindWords[r.kind]), s.namespace(), screen.Quote(r.name))
		}
		s.s.Add(screen.Check, check)
		s.add(s.to, "%s", either(i == 0, s.or(), "and ")+r.create())
	}
	s.add(s.to, "(or correct the template)")
	for _, w := range s.p.Warnings {
		if w.Code == plan.MissingPullSecret {
			s.s.Add(screen.Check, s.kubectl("kubectl get secrets", s.namespace()))
			s.add(s.to, "and create %s, if the registry asks for it", s.reference(w.Facts).object())
		}
	}
}

// reference is what a template refers to and does not exist: a key of an object, or all of the object.
type reference struct{ kind, namespace, name, key string }

// reference reads one from its facts.
func (a *sheet) reference(f daemonset.Facts) reference {
	return reference{fact(f, "kind"), a.h.DaemonSet.Namespace, fact(f, "name"), fact(f, "key")}
}

// object names the object as kubectl does, with its namespace.
func (r reference) object() string { return r.kind + " " + r.namespace + "/" + r.name }

// create says what makes it exist.
func (r reference) create() string {
	if r.key != "" {
		return "add key " + r.key + " to " + r.object()
	}
	return "create " + r.object()
}

// kindWords are the resources of kinds that a template refers to.
var kindWords = map[string]string{"ConfigMap": "configmaps", "Secret": "secrets",
	"PersistentVolumeClaim": "persistentvolumeclaims"}

// neverRuns reports whether the new pods of a change never run, so that it would mislead to
// count them as updated.
func (s *planned) neverRuns() bool {
	return s.p.OfChange() && s.o.Code == plan.Stalls && (s.unmet() != "" || len(s.otherSystem()) > 0 ||
		s.o.Reason == cause.FailedCreate && s.p.Admission != nil)
}

// unmet says what the template refers to and does not exist, in few words; empty where
// nothing is missing.
func (s *planned) unmet() string {
	for _, w := range s.p.Warnings {
		if w.Code == plan.MissingReference {
			return noSuch(known{w.Facts, s.now}, s.h.DaemonSet.Namespace)
		}
	}
	return ""
}

// valuesEqual is what is assumed of values that could not be compared.
const valuesEqual = "the manifest's literal values, which could not be compared, are what is in the cluster"

// change says what was asked for, and what it means for the revision.
func (s *planned) change() {
	c := s.p.Change
	if c == nil {
		return
	}
	if restart := s.does() == restartIt && len(c.Fields) == 1 && c.Revision.New && c.Revision.Number > 0; restart {
		s.add(screen.Change, "%s (would create revision %d)",
			either(len(s.unfinished()) > 0, "restart", "restart only"),
			c.Revision.Number)
	} else {
		for _, l := range few(fieldStyle{all: s.style.All}.lines(c.Fields, nil), 8, "more change", s.style) {
			s.add(screen.Change, "%s", l)
		}
		s.add(screen.Change, "%s", templateWords(s.p))
	}
	if also := s.unfinished(); len(also) > 0 {
		s.add(screen.Change, "also revision %d, whose rollout is not complete: %s", s.before.current(),
			strings.Join(also, "; "))
	}
	s.changedNodes(screen.Change)
}

// unfinished says what else the new pods get: the change of the rollout in progress, which the asked one continues.
func (s *planned) unfinished() []string {
	c := s.p.Change
	if s.before == nil || !s.before.e.Rollout.UnderWay || s.before.e.Change == nil || !c.TemplateChanged ||
		!c.Revision.New {
		return nil
	}
	rest := slices.DeleteFunc(slices.Clone(s.before.e.Change.Change), func(f history.FieldChange) bool {
		return slices.ContainsFunc(c.Fields, func(d template.Difference) bool { return d.Path.Equal(f.Path) })
	})
	if len(rest) == 0 {
		return nil
	}
	return few(fieldStyle{all: s.style.All, brief: true}.changeLines(rest), 2, "more change", s.style)
}

// changedNodes says which nodes a change is of, and how its manifest was applied.
func (s *planned) changedNodes(as screen.Label) {
	c := s.p.Change
	if c == nil {
		return
	}
	for _, n := range c.Nodes {
		words := joined(" ", Plural(len(n.Nodes), "node"), cmp.Or(nodeChangeWords[n.Kind], string(n.Kind)), n.Value)
		s.s.Add(as, screen.Names{Before: words + ":", Names: n.Nodes,
			After: map[bool]string{true: " already so"}[len(n.Nodes) == 0], Short: true})
	}
	s.add(as, "%s", bracketed(methodWords(c.Method, screen.Clean(c.FieldManager))))
}

// noneKeeps is what a rollout does that deletes every available pod before a new one is available.
const noneKeeps = "no node keeps an available pod"

// impact is who is without an available pod on the way, and which nodes lose or
// get their pod whatever the limit is.
func (s *planned) impact() {
	s.placed(s.p.Placement.Lose, []string{"loses its pod", "lose their pods", "lose its pod", "lose their pods"},
		" immediately, regardless of "+cmp.Or(s.p.Budget.Kind.Field(), "the strategy"))
	if s.o.Code == plan.NothingToDo {
		s.placed(s.p.Placement.Keep, []string{"loses its pod", "lose their pods", "lose its pod", "lose their pods"},
			" in the next rollout")
	}
	if s.o.Code != plan.Stalls { // which does not reach all of them
		s.stranded()
		s.placed(s.p.LostOtherwise(), []string{"loses its pod", "lose their pods", "lose its pod", "lose their pods"},
			" in the course of the rollout")
		if nodes := s.p.KeptByRepair(); len(nodes) > 0 {
			s.s.Add(screen.Fault, screen.Names{Before: pluralOf(len(nodes), "the node", "the nodes") +
				", not the change:", Names: nodes, After: pluralOf(len(nodes), " is", " are") + " NotReady",
				Short: true})
			s.s.Add(screen.Check, s.kubectl("kubectl describe node", screen.Quote(nodes[0])))
		}
	}
	if s.o.Reason == cause.FailedCreate && s.p.Admission != nil {
		if s.ran() > 0 && len(s.p.Admission.Refusals) > 0 {
			s.add(screen.Impact, "already now: a pod that is deleted or evicted is not replaced")
		}
		s.rejectedImpact()
		return
	}
	s.room()
	s.gains()
	s.onTheWay()
}

// onTheWay is who is without an available pod while a rollout goes on.
func (s *planned) onTheWay() {
	without := 0
	if s.live != nil && s.live.e.Impact != nil {
		without = len(s.live.e.Impact.Without) - len(s.live.e.Impact.Ready)
	}
	switch {
	case s.o.Code == plan.NothingToDo, s.o.Code == plan.Unknown, s.o.Code == plan.NotRolling,
		s.p.Subject == plan.SubjectNew, s.o.Worst == without && without > 0:
	case s.o.Worst > 0 && s.o.Worst <= len(s.otherSystem()) && s.o.Replaced == 0:
		s.add(screen.Impact, "no node that has a pod loses it")
	case s.o.Worst > 0, s.live == nil && s.p.Old() > 0 && (s.o.Code == plan.Stalls || len(s.p.Lost) == 0):
		s.add(screen.Impact, "%s", s.atMost())
	}
}

// atMost says how many nodes are without an available pod on the way, at most.
func (s *planned) atMost() string {
	const without = " without an available pod at any time"
	aside, of, worst := s.p.SetAside(), s.p.Desired.After, s.o.Worst // of 0 where the nodes could not be read
	if len(aside) > 0 || s.o.Code == plan.Stalls && worst == 0 {
		of = s.p.AtEnd().Desired
	}
	setAside := phrase(someNames(aside), pluralOf(len(aside), " is", " are"), " assumed to be down: ", s.desiredGoes())
	lost := len(s.p.Placement.Lose) > 0 || len(s.p.Lost) > 0 && s.o.Code != plan.Stalls // which are named above
	switch {
	case of == 0 && setAside != "":
		return setAside
	case worst == 0 && setAside != "":
		return "none on the other " + pluralOf(of, "node", Plural(of, "node")) + "; " + setAside
	case worst == 0:
		return "none: " + allHave(of) + " an available pod all the time"
	case of == 0:
		return "at most " + Plural(worst, "node") + without
	case s.p.KeepsNone():
		return noneKeeps + ": for a time " + allOf(of) + "nodes are without one"
	case setAside != "" || lost && s.p.Desired.After > 0:
		return "at most " + strconv.Itoa(worst) + " of the other " + Plural(of, "node") + without +
			behind("; ", setAside)
	}
	return "at most " + strconv.Itoa(worst) + " of " + Plural(of, "node") + without
}

// stranded are the nodes whose pod the rollout deletes for a taint, and what would keep
// it there.
func (s *planned) stranded() {
	said := sets.New(s.p.KeptByRepair()...) // by impact
	if s.live != nil {
		said.Insert(s.live.strandedBeside(nil)...) // by its Problem
	}
	for _, g := range s.p.StrandedGroups() {
		if !said.HasAll(g.Nodes...) {
			s.add(screen.Fault, "%s", tainted(g.Facts, g.Nodes))
		}
		s.s.Add(screen.Check, s.kubectl("kubectl describe node", screen.Quote(g.Nodes[0])))
		taint := fact(g.Facts, "taint")
		until := " until the taint is removed: " + taint + " is not tolerated"
		if n := number(g.Facts, "others"); n > 0 {
			until = " until the taints are removed: " + taint + " and " + Plural(n, "more taint") + " are not tolerated"
		}
		s.s.Add(screen.Impact, screen.Names{
			Before: "the rollout removes the " + pluralOf(len(g.Nodes), "pod", "pods") + " from",
			Names:  g.Nodes, After: until + inBrackets(taintMeanings[fact(g.Facts, "key")]), Short: true,
		})
	}
	if s.live != nil { // which says what to do
		return
	}
	nodes, tolerations := s.p.KeptByTolerations()
	if len(nodes) == 0 {
		return
	}
	s.add(screen.Then, "%s", tolerate(nodes, tolerations, true))
	// which takes the template as it is
	if rollback := func(f Flag) bool { return f.Name == "to-revision" }; !s.asked.Undo &&
		!slices.ContainsFunc(s.asked.Flags, rollback) {
		s.s.Add(screen.Preview, s.again("plan-rollout", tolerationFlags(tolerations)...))
	}
}

// removes is whether the scheduler removes pods of others: a rollout that stops may not come
// to their nodes.
func (s *planned) removes(it string) string {
	if s.o.Code == plan.Stalls && s.p.Subject != plan.SubjectNew {
		return "may remove"
	}
	return it
}

// or joins what helps beside a rollback.
func (s *planned) or() string {
	return map[bool]string{true: "or "}[s.live != nil && s.live.goesBack]
}

// rollBack is the way back from a rollout under way that will stall, where explain sees
// nothing to fix yet.
func (s *planned) rollBack() {
	if s.or() == "" {
		return
	}
	to := remedy.Find(s.o.Remedies, remedy.RollBack).Value
	s.live.preview("", "to-revision", to)
	effect := "replaces no pod: none is updated yet"
	if n := s.p.Now.Updated; n > 0 {
		effect = "replaces the " + pluralVerb(n, "pod that is", "pods that are") + " updated"
	}
	s.act(s.to, "", s.kubectl("kubectl rollout undo", s.namespace(), "daemonset/"+s.name(),
		screen.Word("--to-revision="+to)), effect, s.live.undoneBy())
}

// ran is how many pods with the same template the API server has admitted: the change
// leaves all of it as it is but its metadata and its images, which nothing here looks at.
func (s *planned) ran() int {
	// by rules that may look at them
	dry := func(r admission.Refusal) bool { return r.Reason == admission.DryRunRejected }
	if v := s.p.Admission; v != nil && slices.ContainsFunc(v.Refusals, dry) {
		return 0
	}
	if c := s.p.Change; c != nil && c.TemplateChanged && s.before != nil {
		other := func(d template.Difference) bool { return d.Path.What() != template.WhatImage }
		fields := slices.DeleteFunc(slices.Clone(c.Fields), func(d template.Difference) bool { return !other(d) })
		if _, only := template.OnlyMetadata(fields); only || len(fields) == 0 {
			return s.before.works()
		}
	}
	return 0
}

// rejectedImpact says who gets no pod where the API server rejects new ones.
func (s *planned) rejectedImpact() {
	room := 0
	if v := s.p.Admission; len(v.Refusals) == 0 {
		room = int(v.Passes)
	}
	gain, deleted, without := len(s.p.Placement.Gain), s.o.Replaced, s.o.Unserved()
	switch {
	case gain == 0 && deleted == 0:
	case gain == 0:
		rejects := pluralOf(deleted, "the new one", "the new ones")
		s.add(screen.Impact, "%s",
			"the controller deletes "+Plural(deleted, "pod")+" first; the API server then rejects "+rejects+
				", so "+pluralVerb(deleted, "node stays", "nodes stay")+" without a pod"+
				phrase("; the other ", counted(s.p.Old()-deleted, "pod keeps", "pods keep"), " running"))
	case room == 0:
		s.add(screen.Impact, "none of the %d nodes gets a pod", gain)
	default:
		s.add(screen.Impact, "%d of the %d nodes, chosen at random, get a pod; %s without one", room, gain,
			pluralVerb(without, "node stays", "nodes stay"))
	}
}

// gains says which nodes get a pod at once, and on which of them it never runs.
func (s *planned) gains() {
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
			s.s.Add(screen.Impact, screen.Names{Before: pluralVerb(n, of.one, of.many), Names: of.nodes, Short: true})
		}
	}
}

// otherSystem are the nodes whose kubelet rejects the pods of the template.
func (s *planned) otherSystem() (nodes []string) {
	for _, p := range s.problems {
		if p.Code == cause.PodOSNotSupported {
			nodes = append(nodes, p.Nodes...)
		}
	}
	return nodes
}

// placed says what becomes of pods on nodes, by the rule that decides it; verbs are those of would.
func (s *planned) placed(nodes []plan.PlacementNode, verbs []string, when string) {
	const most = 3
	groups := plan.ByVerdict(nodes)
	for i, g := range groups {
		if i == most && !s.style.All && len(groups) > most+1 {
			s.add(screen.Impact, "more of them with --all")
			return
		}
		why := inBrackets(placement(g.Reason, g.Facts))
		lose := s.would(len(g.Nodes), verbs[0], verbs[1], verbs[2], verbs[3]) + when
		if s.o.Code == plan.RemovesAllPods && len(groups) == 1 && s.changes(g.Nodes) { // which Fault and Change say
			s.add(screen.Impact, "these nodes %s", lose)
			return
		}
		s.s.Add(screen.Impact, screen.Names{Before: Plural(len(g.Nodes), "node") + " " + lose + ":", Names: g.Nodes,
			After: why, Short: true})
	}
}

// changes reports whether these are the nodes that the change is of.
func (s *planned) changes(nodes []string) bool {
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

// would puts what nodes do in the conditional, for a change that is not made yet: one and many are said of what is so,
// oneWould and manyWould of what would be.
func (s *planned) would(n int, one, many, oneWould, manyWould string) string {
	if s.p.OfChange() {
		return "would " + pluralOf(n, oneWould, manyWould)
	}
	return pluralOf(n, one, many)
}

// limit is the rule that bounds the rollout of a change.
func (s *planned) limit() {
	b := &s.p.Budget
	if s.p.Old() == 0 || b.Kind == daemonset.BudgetNone || s.o.Code == plan.NotRolling ||
		s.o.Code == plan.RemovesAllPods {
		return
	}
	s.add(screen.Limit, "%s", limitWords(b.Kind, b.Spec, "", s.p.Desired.After, b.Limit)+s.pace())
}

// pace says how many pods the limit lets the controller replace at a time.
func (s *planned) pace() string {
	old, stay, stalls := s.p.Old(), s.o.Unserved(), s.o.Code == plan.Stalls
	n, once := s.p.AtATime(s.o.AtATime), min(s.o.AtOnce, old)
	switch {
	case stalls && len(s.p.Waves) == 0:
		return ", and it is used up, so the controller replaces no more pods"
	case s.p.Regardless():
		return ": the " + pluralOf(old, "pod is not available, so it is", "pods are not available, so they are") +
			" replaced immediately, regardless of the limit"
	case old > 1 && n == old:
		return ": all " + strconv.Itoa(old) + " pods at the same time"
	case n == 0 && stalls && s.o.Replaced == 0 && stay > 0:
		return ", and " + pluralVerb(stay, "node stays", "nodes stay") + " without an available pod, " +
			"so the controller replaces no pod"
	case n == 0:
		return ""
	case once > 0:
		return ": immediately " + pluralVerb(once, "pod that is", "pods that are") +
			" not available, the others at most " +
			strconv.Itoa(n) + " at a time"
	case stalls: // before all are replaced
		return ": at most " + Plural(n, "pod") + " at a time"
	}
	return ": at most " + Plural(n, "pod") + " at a time" + phrase("; ", counted(s.p.Replaces, "pod is", "pods are"),
		" replaced, ", counted(s.p.Drops, "is", "are"), " only deleted")
}

// causes are who keeps a change from completing, and what shows more of it.
func (s *planned) causes() {
	known := slices.DeleteFunc(slices.Clone(s.problems),
		func(p *cause.Problem) bool { return s.p.Supposed(p.Nodes...) })
	rejected := s.o.Code == plan.Stalls && s.o.Reason == cause.FailedCreate && s.p.Admission != nil
	if rejected { // said as Cause
		known = slices.DeleteFunc(known, func(p *cause.Problem) bool { return p.Facts.Yes("predicted") })
	}
	s.problemLines("", known)
	s.checks(known)
	if down := plan.Down(s.problems); s.o.Code == plan.Stalls && s.o.Reason == daemonset.StepBudgetSpent &&
		len(down) > 0 {
		s.add(screen.Fault, "%s", s.hangs(down))
	}
	if rejected {
		s.admitted(s.p.Admission, s.o.Unserved(), s.ran())
	}
	for _, p := range known {
		if p.Code == cause.PodOSNotSupported {
			who, gained := "the template: it", sets.New(p.Nodes...).HasAny(plan.Nodes(s.p.Placement.Gain)...)
			if gained {
				who = "the change: it makes " + someNames(p.Nodes) + " eligible, and its template"
			}
			s.s.Add(screen.Check, s.kubectl("kubectl get nodes", screen.Word("-L kubernetes.io/os")))
			s.add(screen.Fault, "%s is for %s only", who, fact(p.Facts, "want"))
			continue
		}
		if p.Blame != nil && s.before != nil && p.Blame.Who != cause.WhoNode && p.Blame.Who != cause.WhoUnknown &&
			p.Code != cause.DoesNotFit && !(rejected && p.Code == cause.FailedCreate) {
			s.add(screen.Fault, "%s", s.before.origin(p))
		}
	}
	if s.o.Code != plan.RemovesAllPods {
		return
	}
	for _, g := range plan.ByVerdict(s.p.Placement.Lose) {
		words, key := placement(g.Reason, g.Facts), fact(g.Facts, "key")
		check := s.kubectl("kubectl get nodes", screen.Word("-L "+screen.Quote(key)))
		switch {
		case g.Reason == daemonset.TaintNotTolerated:
			words = "the pod does not tolerate the taint " + fact(g.Facts, "taint")
			check = nil
		case key == "":
			check = nil
		}
		s.add(screen.Fault, "%s", words)
		s.s.Add(screen.Check, check)
	}
}

// hangs says how nodes that are down use up the limit: which ones says Problem, but for those that the plan was asked
// to take for down.
func (s *planned) hangs(down []string) string {
	_, supposed := s.p.SplitDown(down)
	who := pluralOf(len(down), "the node", "the nodes") + ", not this change"
	if len(supposed) > 0 {
		who = "the nodes that are down, " + someNames(down)
		if len(down) == 1 {
			who = down[0] + ", assumed to be down"
		}
	}
	words := who + pluralOf(len(down), ": its pod stays Terminating once deleted, and counts against ",
		": their pods stay Terminating once deleted, and count against ") + s.p.Budget.Kind.Field() + " " +
		strconv.Itoa(s.p.Budget.Limit)
	if len(s.p.SetAside()) > 0 {
		words += ", although DESIRED does not count " + pluralOf(len(down), "the node", "the nodes")
	}
	return words
}

// warnings are what the API accepts and will not go well.
func (s *planned) warnings() {
	for i, w := range s.p.Warnings {
		words := s.warning(w)
		if i == 0 || s.p.Warnings[i-1].Code != w.Code {
			words = string(w.Code) + behind(": ", words)
		}
		s.add(screen.Problem, "%s", words)
	}
}

// warning says one in a sentence: those of a plan are among the meanings.
func (s *planned) warning(w plan.Warning) string {
	who, undone := managerWords(managed.Manager{Tool: managed.Tool(fact(w.Facts, "tool")), By: fact(w.Facts, "by")})
	return s.meaning(&cause.Problem{Code: w.Code,
		Facts: with(w.Facts, daemonset.Facts{"some": namesIn(w.Facts, "onNodes"), "who": who, "undone": undone,
			"fault": ImageFault(template.ImageFault(fact(w.Facts, "fault"))), "all": number(w.Facts, "count") > 1 &&
				number(w.Facts, "count") == s.p.Now.Current})})
}

// outlook is what the controller does first, and where it stops.
func (s *planned) outlook() {
	n, then, when := s.p.Next, "without a fix", "next"
	if s.p.OfChange() {
		then, when = "if you "+s.does(), "first"
		if down := s.p.Hypothetical(); len(down) > 0 {
			then = "with " + someNames(down) + " down"
		}
	}
	stalls, waits := s.o.Code == plan.Stalls, n.Kind == daemonset.StepNone
	switch {
	case s.o.Code == plan.NotRolling && s.o.Reason != daemonset.StepOnDelete:
		return
	case waits && n.Reason == daemonset.StepPodsNotRead:
		s.add(screen.Outlook, "unknown: %s", unread(s.h))
	case s.o.Code == plan.RemovesAllPods && s.p.OfChange():
		s.add(screen.Outlook, "%s: %s", then, s.deletesAll())
		return
	case stalls: // which the headline says
		s.add(screen.Limit, "%s: %s", then, s.halts())
	case waits && len(s.p.Waves) > 0 && s.p.Waves[0].At != nil && *s.p.Waves[0].At > 0:
		s.add(screen.Outlook, "%s; it continues in about %s", idle(n.Reason, s.h), seconds(*s.p.Waves[0].At))
	}
	if words := s.otherwise(plan.PodsBecomeReady); words != "" {
		s.add(screen.Outlook, "%s", words)
	}
	if nf := s.o.FurtherHolders; nf > 0 && len(s.o.Holders) > 0 {
		s.note(screen.Text(pluralVerb(nf, "more node ends like these", "more nodes end like these") +
			": which ones is the controller's random choice"))
	}
	if rejected := s.o.Reason == cause.FailedCreate && n.Creates.Len() > 0; !stalls || len(s.p.Waves) > 0 && !rejected {
		s.named = plan.Nodes(s.p.Placement.Gain)
		s.sync(&n, when)
	}
	// said as the rollout's, or the change's
	if changes := s.p.Change != nil && s.p.Change.TemplateChanged; changes || s.live != nil {
		if n.Revisions.Cut = false; changes {
			n.Revisions.RaisedFrom = 0
		}
	}
	s.bookkeeping(n)
}

// desiredGoes says how DESIRED changes.
func (s *planned) desiredGoes() string {
	return "DESIRED " + either(s.p.OfChange(), "would go", "goes") + " from " + strconv.Itoa(s.p.Desired.Before) +
		" to " + strconv.Itoa(s.p.Desired.After)
}

// deletesAll says what becomes of the pods where no node is eligible.
func (s *planned) deletesAll() string {
	words := s.desiredGoes() + ", and the controller " + either(s.p.OfChange(), "would delete", "deletes") +
		" every pod"
	if more := len(s.p.Placement.Lose) - s.p.Desired.Before; more > 0 {
		words += ", including " + strconv.Itoa(more) + " that DESIRED does not count"
	}
	return words
}

// halts says where a rollout stands that stalls.
func (s *planned) halts() string {
	end := s.p.AtEnd()
	updated, of := strconv.Itoa(end.Updated), " of "+strconv.Itoa(end.Desired)
	available := strconv.Itoa(end.Available)
	switch stays := !s.p.OfChange(); {
	case s.neverRuns():
		return "stops with " + podsOf(end.Available, end.Desired) + " available"
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

// applies reports whether the screen has what makes the change: nobody is told to do what
// ends badly, but for a rollback.
func (s *planned) applies() bool {
	if s.asked.Undo {
		return s.o.Reason != daemonset.StepBeingDeleted
	}
	ends := []plan.OutcomeCode{plan.Completes, plan.MayComplete, plan.NothingToDo}
	ends = append(ends, map[bool]plan.OutcomeCode{true: plan.NotRolling}[s.o.Reason == daemonset.StepOnDelete])
	return s.p.OfChange() && slices.Contains(ends, s.o.Code) && s.p.Quality() != plan.EndsBadly
}

// commands are what makes the change, and what follows it.
func (s *planned) commands() {
	asked := s.p.OfChange()
	if asked && s.o.Code == plan.NotRolling && s.o.Reason == daemonset.StepOnDelete {
		s.s.Add(screen.Preview, s.again("plan-rollout", Flag{Name: "strategy", Value: "RollingUpdate"}))
	}
	if s.asked.Undo && !s.p.Change.TemplateChanged {
		s.note(screen.Text("kubectl rollout undo would change nothing: the live template is that of the revision " +
			"already, with the API defaults"))
	}
	if s.asked.Live && len(s.p.Waves) > 0 {
		s.s.Add(screen.Follow, append(screen.Command{s.asked.own("plan-rollout"), s.namespace(), s.name()},
			s.kubectl("--watch")...))
	}
}
