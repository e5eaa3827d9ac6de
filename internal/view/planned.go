package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

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
	p        *plan.Plan
	o        *plan.Outcome
	problems []*cause.Problem // of the nodes that stay without an available pod or use up the limit, and of pods that are late
	before   *answer          // what is the case before a change; nil if nothing is known of it
	live     *answer          // the same, where the plan is of what is under way
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
		s.live = &answer{sheet: s.sheet, e: now, inPlan: true, unfit: len(p.Unfit) > 0, losing: p.Outcome.Code == plan.Stalls && p.Outcome.Unserved() > 0, goesBack: p.Outcome.Code == plan.Stalls && back(p.Ways(true)) && len(p.Waves) > 0 && !now.Failing()}
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
	s.s.Further(screen.Check, screen.Rollout, screen.Limit, screen.Other, screen.Steps, screen.States, screen.Rests, screen.Notes)
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
		f := daemonset.Facts{"n": n, "revision": s.before.current(), "in": ago(at.Sub(s.now))}
		s.note(screen.Text(fill(s.now, f, "without this change, {n:pod} on revision {revision} {n?becomes|become} available"+
			" by {n?itself|themselves} within {in}; the change replaces {n?it|them}")))
	}
}

var tones = map[plan.Quality]screen.Tone{plan.EndsWell: screen.Good, plan.EndsInDoubt: screen.Warn, plan.EndsBadly: screen.Bad}

// planVerdicts say how a plan ends: in the conditional for a change, in the future
// for what is under way.
var planVerdicts = map[plan.Verdict]string{
	plan.VerdictNothing: "NOTHING TO DO", plan.VerdictEnds: "WOULD END THE ROLLOUT", plan.VerdictUncompared: "NOT COMPARED", plan.VerdictDegraded: "DEGRADED", plan.VerdictCompletes: "{would?WOULD|WILL} COMPLETE", plan.VerdictLate: "MAY COMPLETE",
	plan.VerdictUndone: "{would?WOULD|WILL} NOT LAST", plan.VerdictRemoves: "{would?WOULD|WILL} REMOVE {lose:POD|PODS}", plan.VerdictRemovesAll: "{would?WOULD|WILL} REMOVE ALL PODS", plan.VerdictStalls: "{would?WOULD|WILL} STALL",
	plan.VerdictStaysStuck: "STAYS STUCK", plan.VerdictStaysDegraded: "STAYS DEGRADED", plan.VerdictWaits: "{would?WOULD WAIT|WAITS} FOR YOU", plan.VerdictBeingDeleted: "BEING DELETED",
	plan.VerdictIgnored: "IGNORED", plan.VerdictUnknown: "UNKNOWN",
}

func planVerdict(p *plan.Plan) string {
	return fill(time.Time{}, daemonset.Facts{"would": p.OfChange(), "lose": len(p.Placement.Lose)}, planVerdicts[p.Verdict()])
}

// headline has, beside the verdict, how many nodes lose their pod in the end, and
// how many warnings are below that it does not say itself.
func (s *planned) headline() {
	f := daemonset.Facts{"verdict": planVerdict(s.p), "completes": s.p.Verdict() == plan.VerdictCompletes && len(s.p.Losses()) > 0, "would": s.p.OfChange(), "loses": len(s.p.Losses()), "warnings": s.p.WarningsBeside()}
	verdict := fill(s.now, f, "{completes=true}{would?WOULD|WILL} LOSE {loses:POD|PODS}[, {warnings:WARNING|WARNINGS}]", "{verdict}[, LOSES {loses:POD|PODS}][, {warnings:WARNING|WARNINGS}]") // that it completes is not the news then
	s.s.Headline = screen.Headline{Verdict: verdict, Tone: tones[s.p.Quality()], Subject: s.subject(), Text: s.summary()}
	s.s.Notice = "Plan only: nothing has been changed."
	if s.before != nil && s.before.e.Rollout.UnderWay && s.before.e.Verdict.Code != explain.AwaitingDelete {
		s.s.Notice = "A rollout is in progress; this plan changes nothing."
	}
	if s.live != nil && s.p.Subject == plan.SubjectRollout && s.live.e.Rollout.UnderWay {
		f := daemonset.Facts{"asked": s.p.Change != nil, "nodes": s.p.Change != nil && len(s.p.Change.Nodes) > 0}
		s.s.Notice = fill(s.now, f, notices...)
	}
}

// notices say that a plan of what is under way changes nothing.
var notices = []string{
	"{asked=true}{nodes=true}The change does not affect this DaemonSet: this is the plan of what is under way.",
	"{asked=true}The cluster has what was asked for already: this is the plan of what is under way.",
	"A rollout is in progress; this plan changes nothing.",
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
	f := daemonset.Facts{"ending": s.ending(), "undoer": s.undoer(), "evicted": evicted, "removes": s.removes("removes"), "bare": s.p.KeepsNone()}
	words := fill(s.now, f, "[{bare=true}"+noneKeeps+"; ]{ending}[; the scheduler {removes} {evicted:pod} of others][; the change lasts until {undoer} undoes it]")
	if n := len(s.p.Placement.Lose); n > 0 {
		words += "; " + Plural(n, "node") + " " + s.would(n, "loses its pod", "lose their pods", "lose its pod", "lose their pods") + " immediately"
	}
	return words
}

// endings say how a plan ends, by its facts.
var endings = map[plan.OutcomeCode][]string{
	plan.Completes: {
		"{about=New}{available} of {desired:pod} available[ in {in}]",
		underWay + "; the other {rest} in {in}", underWay + "; the other {rest} {replaces?follows|follow}",
		underWay + "; {replaces:more pod} in {in}", underWay + "; {replaces:more pod} {replaces?follows|follow}",
		underWay + "[; complete in {in}]",
		"{about=Replaced}{lost}[; {further:other is|others are} updated][ in {in}]",
		"{about=Replaced}{replaces:pod} replaced[, and available in {in}]; the other {others} {kept?is|are} on revision {again} already",
		"{about=Replaced}{updated} of {desired:pod} updated[ in {in}]",
		"{moves=0}",
		"{would=true}[{creates:pod} would be created][{both=true}, ][{deletes:pod} would be deleted][ in {in}]",
		"[{creates:pod is|pods are} created][{both=true}, ][{deletes:pod is|pods are} deleted][ in {in}]",
	},
	plan.Stalls: {
		"{updates=true}{none=true}{replaced=0}no old pod is replaced; {blame}", "{updates=true}{none=true}stops after {replaced} of {old:pod}; {blame}",
		"{updates=true}{atWorst=true}stops with {updated} or more of {desired:pod} updated; {blame}", "{updates=true}{begun?stops with |}{updated} of {desired:pod} updated; {blame}",
		"{atWorst=true}stops with {available} or more of {desired:pod} available; {blame}", "{begun?stops with |}{available} of {desired:pod} available; {blame}",
	},
	plan.RemovesAllPods: {"no node would be eligible"},
	plan.NotRolling: {
		"{reason=BeingDeleted}the controller no longer manages its pods", "{reason=SelectsAll}its selector is empty, so the controller ignores it",
		"{awaits}", "with {strategy} you delete {left:pod}; until then {left?it stays on an older revision|they stay on older revisions}", "all pods are updated ({strategy})",
	},
	plan.NothingToDo: {
		"{kept=1}its pod is on revision {again} already, and is kept" + stayWithout, "its {kept} pods are on revision {again} already, and are kept" + stayWithout,
		"{about=Nothing}no rollout in progress; {stay:node} without an available pod[ ({stayBy})]",
		nothing + "; {stay:node stays|nodes stay} without an available pod[ ({stayBy})]",
		"{about=Nothing}{nowhere=true}no rollout in progress, and no node is eligible", "{about=Nothing}no rollout in progress, and every eligible node has its pod",
		"{about=New}{nowhere=true}no node is eligible, so no pod is created",
		"{same=true}nothing[{known=false} that can be compared] differs from what is in the cluster",
		nothing + "; DESIRED goes from {before} to {after}" + ifEqual, nothing + ifEqual,
	},
	plan.Unknown: {"how it ends is unknown: {unread}", "how it ends is unknown: {blame}"},
}

const (
	underWay    = "{about=Rollout}{was} of {of:pod} updated"
	nothing     = "no pod is created, deleted or replaced"
	stayWithout = "[; {stayOn} {stay?stays|stay} without an available pod][ ({stayBy})]"
	ifEqual     = "[{known=false}, if " + valuesEqual + "]"
)

// staying names the nodes that stay without an available pod.
func staying(o *plan.Outcome) string {
	if o.FurtherHolders > 0 || len(o.Holders) > 3 {
		return Plural(o.Unserved(), "node")
	}
	return someNames(plan.Nodes(o.Holders))
}

// losses say which pods have no new one in the end.
var losses = []string{"the {drops?pod|pods} on {dropsOn} {drops?is|are} deleted and not replaced", "{drops:pod is|pods are} deleted and not replaced"}

// ending says how it ends.
func (s *planned) ending() string {
	p, o, end, later := s.p, s.o, s.p.AtEnd(), plan.Nodes(s.p.LostLater())
	creates, deletes := p.Moved()
	f := daemonset.Facts{
		"about": string(p.Subject), "desired": end.Desired, "updated": end.Updated, "available": end.Available, "was": p.Now.Updated, "of": p.Now.Desired,
		"begun": len(p.Waves) > 0, "atWorst": o.AtWorst, "reason": string(o.Reason), "strategy": strategy(s.h), "unread": unread(s.h),
		"stayBy": codes(o.Holders), "stayOn": staying(o), "lateOn": someNames(plan.Nodes(o.Late)), "lateBy": s.codesFor(o.Late), "doubtOn": someNames(plan.Nodes(o.Unknown)), "doubtBy": codes(o.Unknown),
		"creates": creates, "deletes": deletes, "moves": creates + deletes, "both": creates > 0 && deletes > 0, "would": p.OfChange(),
		"after": p.Desired.After, "in": rangeWords(o.Duration),
		"updates": p.Subject != plan.SubjectNew && p.Old() > 0, "nowhere": p.Nowhere(), "known": p.TemplateKnown(),
		"none": s.neverRuns(), "replaced": o.Replaced, "old": p.Old(),
		"same": p.Subject != plan.SubjectNew && p.Change != nil && len(p.Change.Fields)+len(p.Change.Nodes) == 0,
	}
	set := func(key string, v any, when bool) {
		if when {
			f[key] = v
		}
	}
	moves := o.ReachesEnd() && p.Subject != plan.SubjectNew
	set("about", "Replaced", moves && p.Subject != plan.SubjectRollout && p.Replaces > 0)
	set("about", "Moved", moves && (p.Old() == 0 || p.Subject != plan.SubjectRollout && p.Replaces == 0))
	set("rest", pluralOf(p.Replaces, "one", strconv.Itoa(p.Replaces)), p.Replaces > 0 && p.Replaces+p.Now.Updated == end.Desired)
	for key, n := range map[string]int{"replaces": p.Replaces, "drops": p.Drops, "stay": o.Unserved(), "late": len(o.Late), "left": o.Left, "doubts": len(o.Unknown)} {
		set(key, n, n > 0)
	}
	set("dropsOn", someNames(later), len(later) == p.Drops && p.Drops <= 3)
	if n := p.Kept(); n > 0 {
		f["kept"], f["others"], f["again"] = n, pluralOf(n, "one", strconv.Itoa(n)), p.Change.Revision.Was
	}
	lost := fill(s.now, f, losses...)
	first := f["about"] == "Replaced" && p.Kept() == 0 // the loss is the news then
	set("lost", lost, first && lost != "")
	set("further", end.Updated, end.Updated > 0)
	set("before", p.Desired.Before, p.Desired.Before != p.Desired.After)
	if s.live != nil && s.live.e.Verdict.Code == explain.AwaitingDelete {
		f["awaits"] = s.live.summary()
	}
	if o.Code == plan.Stalls || o.Code == plan.Unknown {
		f["blame"] = s.blame()
	}
	words := fill(s.now, f, endings[courseOf(o.Code)]...)
	if o.ReachesEnd() {
		words += fill(s.now, f, "[ if the next {doubts?pod|pods} on {doubtOn} {doubts?works|work} (unknown: {doubtBy})]") + s.otherwise(plan.NextPodsFail)
		words += fill(s.now, f, "[ if the {late?pod|pods} on {lateOn} {late?becomes|become} Ready ({lateBy})]") + s.otherwise(plan.PodsStayUnready) + behind("; ", map[bool]string{false: lost}[first]) + fill(s.now, f, "[; {stayOn} {stay?stays|stay} without an available pod][ ({stayBy})]")
	}
	return words
}

// otherwise says what comes if pods that are not ready do otherwise than expected; empty
// where it is the same.
func (s *planned) otherwise(on plan.Condition) string {
	for _, a := range s.o.Alternatives {
		if a.Condition == on {
			return otherwise(&remedy.Otherwise{Nodes: a.Nodes, Ready: on == plan.PodsBecomeReady, Stalls: a.Code == plan.Stalls, Updated: a.Updated, Unserved: a.Unserved, Duration: a.Duration}, s.p.AtEnd().Desired, s.o.Code == plan.Stalls)
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
		return pluralVerb(s.o.Terminating, "pod is deleted and stays Terminating", "pods are deleted and stay Terminating")
	case reason == daemonset.StepBudgetSpent && s.p.Budget.Limit == 0:
		return fmt.Sprintf("the limit is %s of 0 nodes = 0, so no available pod is deleted", s.p.Budget.Spec)
	case slices.ContainsFunc(s.p.Warnings, invalid):
		return "no new pod starts: the name of its image is invalid"
	case s.unmet() != "":
		return "no new pod starts: " + s.unmet()
	case reason == daemonset.StepBudgetSpent && len(s.problems) == 0 && slices.ContainsFunc(s.p.Assumptions, holdsPorts):
		return "no new pod is scheduled, because the old one beside it uses its host port"
	case s.live != nil && len(s.p.Unfit) > 0:
		return why(s.p.Unfits(), func(p *cause.Problem, nodes []string) string { return predicates[p.Code].of(nodes, 0) }, 2)
	case s.live != nil && len(s.p.Waves) == 0:
		return cmp.Or(s.live.why(2), stallReason(reason))
	case reason == cause.FailedCreate && len(s.problems) > 0 && s.problems[0].Code == cause.FailedCreate && cmp.Or(s.before, s.live) != nil:
		return cmp.Or(s.before, s.live).clause(s.problems[0], nil)
	case reason != daemonset.StepBudgetSpent && reason != daemonset.StepWaiting && reason != plan.Unfilled && reason != cause.DoesNotFit:
		return stallReason(reason)
	}
	words := why(s.problems, func(p *cause.Problem, nodes []string) string {
		down, supposed := s.p.SplitDown(nodes)
		if len(supposed) == 0 {
			return predicates[p.Code].of(nodes, 0)
		}
		words := predicate{"node", "is assumed to be down", "are assumed to be down"}.of(supposed, 0)
		if len(down) > 0 {
			words = predicates[p.Code].of(down, 0) + ", " + words
		}
		return words
	}, 2)
	further := fill(s.now, daemonset.Facts{"known": words, "n": s.o.FurtherHolders}, "{known}[, {n:more node stays|more nodes stay} without an available pod, chosen at random]",
		"[{n:node stays|nodes stay} without an available pod, chosen at random]")
	return cmp.Or(further, stallReason(reason))
}

func holdsPorts(a daemonset.Assumption) bool { return a.Code == plan.AssumeHostPorts }

// unmetCause says whose fault it is that no new pod starts, and what helps, where the
// template refers to what does not exist.
func (s *planned) unmetCause() {
	missing := slices.DeleteFunc(slices.Clone(s.p.Warnings), func(w plan.Warning) bool { return w.Code != plan.MissingReference })
	if len(missing) == 0 || s.live != nil && s.live.e.Has(cause.ContainerConfig) != nil { // which says so
		return
	}
	if n := s.ran(); n > 0 {
		s.add(screen.Impact, "already now: a pod that is deleted or evicted does not start again")
		s.add(screen.Fault, "%s", fill(s.now, daemonset.Facts{"n": n}, "likely not the change: {n:pod runs|pods run} with the same references, so something was deleted since"))
	}
	if s.live == nil && s.ran() == 0 { // Problem says what
		s.add(screen.Fault, "the template: it refers to what does not exist")
	}
	for i, w := range missing {
		f := with(w.Facts, daemonset.Facts{"namespace": s.h.DaemonSet.Namespace, "ran": s.ran() > 0, "said": s.live == nil})
		s.add(screen.Fault, "%s", fill(s.now, f, "{said=true}", "{ran=true}{key=}{kind} {namespace}/{name} does not exist", "{ran=true}{kind} {namespace}/{name} has no key {key}", "{key=}the template: it refers to {kind} {namespace}/{name}, which does not exist", "the template: it refers to key {key} of {kind} {namespace}/{name}, which has no such key"))
		check := s.kubectl("kubectl get", screen.Word(kindWords[fact(f, "kind")]), s.namespace())
		if fact(f, "key") != "" {
			check = s.kubectl("kubectl describe", screen.Word(kindWords[fact(f, "kind")]), s.namespace(), screen.Quote(fact(f, "name")))
		}
		s.s.Add(screen.Check, check)
		s.add(s.to, "%s", map[bool]string{true: s.or(), false: "and "}[i == 0]+fill(s.now, f, create...))
	}
	s.add(s.to, "(or correct the template)")
	for _, w := range s.p.Warnings {
		if f := with(w.Facts, daemonset.Facts{"namespace": s.h.DaemonSet.Namespace}); w.Code == plan.MissingPullSecret {
			s.s.Add(screen.Check, s.kubectl("kubectl get secrets", s.namespace()))
			s.add(s.to, "%s", fill(s.now, f, "and create {kind} {namespace}/{name}, if the registry asks for it"))
		}
	}
}

// create says what makes a reference of the template exist.
var create = []string{"{key=}create {kind} {namespace}/{name}", "add key {key} to {kind} {namespace}/{name}"}

// kindWords are the resources of kinds that a template refers to.
var kindWords = map[string]string{"ConfigMap": "configmaps", "Secret": "secrets", "PersistentVolumeClaim": "persistentvolumeclaims"}

// neverRuns reports whether the new pods of a change never run, so that it would mislead to
// count them as updated.
func (s *planned) neverRuns() bool {
	return s.p.OfChange() && s.o.Code == plan.Stalls && (s.unmet() != "" || len(s.otherSystem()) > 0 || s.o.Reason == cause.FailedCreate && s.p.Admission != nil)
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
	if restart := s.does() == "restart it" && len(c.Fields) == 1 && c.Revision.New && c.Revision.Number > 0; restart {
		s.add(screen.Change, "%s (would create revision %d)", either(len(s.unfinished()) > 0, "restart", "restart only"),
			c.Revision.Number)
	} else {
		for _, l := range few(fieldStyle{all: s.style.All}.lines(c.Fields, nil), 8, "more change", s.style) {
			s.add(screen.Change, "%s", l)
		}
		s.add(screen.Change, "%s", templateWords(s.p))
	}
	if also := s.unfinished(); len(also) > 0 {
		s.add(screen.Change, "also revision %d, whose rollout is not complete: %s", s.before.current(), strings.Join(also, "; "))
	}
	s.changedNodes(screen.Change)
}

// unfinished says what else the new pods get: the change of the rollout in progress, which the asked one continues.
func (s *planned) unfinished() []string {
	c := s.p.Change
	if s.before == nil || !s.before.e.Rollout.UnderWay || s.before.e.Change == nil || !c.TemplateChanged || !c.Revision.New {
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
		s.s.Add(as, screen.Names{Before: words + ":", Names: n.Nodes, After: map[bool]string{true: " already so"}[len(n.Nodes) == 0], Short: true})
	}
	if how := fill(s.now, daemonset.Facts{"method": c.Method, "manager": c.FieldManager}, methods...); how != "" {
		s.add(as, "(%s)", how)
	}
}

// noneKeeps is what a rollout does that deletes every available pod before a new one is available.
const noneKeeps = "no node keeps an available pod"

// impactWords say how many nodes are without an available pod on the way, at most.
var impactWords = []string{
	"{of=0}" + setAside, "{worst=0}{of=1}none on the other node; " + setAside, "{worst=0}none on the other {of:node}; " + setAside, "{worst=0}none: {have} an available pod all the time",
	"{of=0}at most {worst:node} without an available pod at any time",
	"{bare=true}" + noneKeeps + ": for a time {every} without one",
	"at most {worst} of the other {of:node} without an available pod at any time; " + setAside, "{besideLost=true}at most {worst} of the other {of:node} without an available pod at any time", "at most {worst} of {of:node} without an available pod at any time",
}

const setAside = "{aside} {count?is|are} assumed to be down: DESIRED goes from {before} to {after}"

// impact is who is without an available pod on the way, and which nodes lose or
// get their pod whatever the limit is.
func (s *planned) impact() {
	s.placed(s.p.Placement.Lose, []string{"loses its pod", "lose their pods", "lose its pod", "lose their pods"}, " immediately, regardless of "+cmp.Or(s.p.Budget.Kind.Field(), "the strategy")+":")
	if s.o.Code == plan.NothingToDo {
		s.placed(s.p.Placement.Keep, []string{"loses its pod", "lose their pods", "lose its pod", "lose their pods"}, " in the next rollout:")
	}
	if s.o.Code != plan.Stalls { // which does not reach all of them
		s.stranded()
		s.placed(s.p.LostOtherwise(), []string{"loses its pod", "lose their pods", "lose its pod", "lose their pods"}, " in the course of the rollout:")
		if nodes := s.p.KeptByRepair(); len(nodes) > 0 {
			s.s.Add(screen.Fault, screen.Names{Before: pluralOf(len(nodes), "the node", "the nodes") + ", not the change:", Names: nodes, After: pluralOf(len(nodes), " is", " are") + " NotReady", Short: true})
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
	case s.o.Code == plan.NothingToDo, s.o.Code == plan.Unknown, s.o.Code == plan.NotRolling, s.p.Subject == plan.SubjectNew, s.o.Worst == without && without > 0:
	case s.o.Worst > 0 && s.o.Worst <= len(s.otherSystem()) && s.o.Replaced == 0:
		s.add(screen.Impact, "no node that has a pod loses it")
	case s.o.Worst > 0, s.live == nil && s.p.Old() > 0 && (s.o.Code == plan.Stalls || len(s.p.Lost) == 0):
		aside := s.p.SetAside()
		f := daemonset.Facts{"worst": s.o.Worst, "of": s.p.Desired.After, "aside": someNames(aside), "count": len(aside)}        // of 0 where the nodes could not be read
		f["besideLost"] = s.p.Desired.After > 0 && (len(s.p.Placement.Lose) > 0 || len(s.p.Lost) > 0 && s.o.Code != plan.Stalls) // which are named above
		f["before"], f["after"] = s.p.Desired.Before, s.p.Desired.After
		if len(aside) > 0 || s.o.Code == plan.Stalls && s.o.Worst == 0 {
			f["of"] = s.p.AtEnd().Desired
		}
		f["have"], f["bare"], f["every"] = allHave(number(f, "of")), s.p.KeepsNone(), allOf(number(f, "of"))+"nodes are"
		s.add(screen.Impact, "%s", fill(s.now, f, impactWords...))
	}
}

// stranded are the nodes whose pod the rollout deletes for a taint, and what would keep
// it there.
func (s *planned) stranded() {
	repair := sets.New(s.p.KeptByRepair()...)
	for _, g := range s.p.StrandedGroups() {
		f := with(ofNode(g.Facts), daemonset.Facts{"n": len(g.Nodes)})
		if !repair.HasAll(g.Nodes...) { // whose fault impact names
			s.add(screen.Fault, "%s", tainted(g.Facts, g.Nodes))
		}
		s.s.Add(screen.Check, s.kubectl("kubectl describe node", screen.Quote(g.Nodes[0])))
		after := fill(s.now, f, "{others=} until the taint is removed: {taint} is not tolerated[ ({meaning})]", " until the taints are removed: {taint} and {others:more taint} are not tolerated[ ({meaning})]")
		s.s.Add(screen.Impact, screen.Names{Before: fill(s.now, f, "the rollout removes the {n?pod|pods} from"), Names: g.Nodes, After: after, Short: true})
	}
	if s.live != nil { // which says what to do
		return
	}
	nodes, tolerations := s.p.KeptByTolerations()
	if len(nodes) == 0 {
		return
	}
	s.add(screen.Then, "%s", tolerate(nodes, tolerations, true))
	if rollback := func(f Flag) bool { return f.Name == "to-revision" }; !s.asked.Undo && !slices.ContainsFunc(s.asked.Flags, rollback) { // which takes the template as it is
		s.s.Add(screen.Preview, s.again("plan-rollout", tolerationFlags(tolerations)...))
	}
}

// room says on which nodes the new pod does not fit, where that is not the problem
// that the screen is about, and which pods make room for it.
func (s *planned) room() {
	if s.live != nil {
		for _, p := range s.p.Unfits() {
			why := s.meaning(p)
			if s.live.e.Has(cause.InsufficientResources) != nil { // whose Problem has the numbers
				why = ""
			}
			s.s.Add(screen.Impact, screen.Names{Before: "the new pod will not fit on", Names: p.Nodes, After: inBrackets(why) + ", and stays Pending", Short: true})
		}
	}
	if len(s.p.Unfit) > 0 {
		s.makeRoom()
	}
	if n := len(s.p.Unfit); s.live == nil && n > 0 && len(s.p.Placement.Gain) == 0 {
		s.add(screen.Impact, "the new pod stays Pending on %s", Plural(n, "node"))
	}
	pods, nodes := s.p.Preempted()
	if pods == 0 {
		return
	}
	f := victimFacts(s.p.Preempts[0].Pods, &s.p.Preempts[0].Victims)
	f["number"], f["removes"] = pods, s.removes("will remove")
	if len(nodes) > 1 {
		f = daemonset.Facts{"number": pods, "removes": s.removes("will remove"), "budgets": budgetNames(s.p.BudgetsViolated())}
	}
	s.s.Add(screen.Impact, screen.Names{
		Before: fill(s.now, f,
			"{number=1}{among=}the scheduler {removes} pod {first}, which has a lower priority, to make room on",
			"the scheduler {removes} {count} of the pods {among}, which have a lower priority, to make room on", "the scheduler {removes} {number:pod} of lower priority to make room on:"),
		Names: nodes, After: fill(s.now, f, againstBudgets), Short: true,
	})
}

// againstBudgets says which PodDisruptionBudgets protect pods that go.
const againstBudgets = "[ (against {budgets})]"

// victimFacts are the facts of sentences about the pods that the scheduler removes: first is the only one, and among
// and count are there if others may go in its place.
func victimFacts(pods []string, v *cause.Victims) daemonset.Facts {
	f := daemonset.Facts{}
	if len(pods) == 1 {
		f["first"] = pods[0]
	}
	if len(v.Others) > 0 {
		f["among"] = someNames(slices.Concat(pods, v.Others))
		switch {
		case v.Fewest != v.Most:
			f["count"] = fmt.Sprintf("%d to %d", v.Fewest, v.Most)
		case v.Most == 1:
			f["count"] = "one"
		default:
			f["count"] = strconv.Itoa(v.Most)
		}
	}
	if len(v.Budgets) > 0 {
		f["budgets"] = budgetNames(v.Budgets)
	}
	return f
}

// budgetNames are the names of PodDisruptionBudgets; "" if there are none.
func budgetNames(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return pluralOf(len(names), "PodDisruptionBudget ", "PodDisruptionBudgets ") + someNames(names)
}

// removes is whether the scheduler removes pods of others: a rollout that stops may not come
// to their nodes.
func (s *planned) removes(it string) string {
	if s.o.Code == plan.Stalls && s.p.Subject != plan.SubjectNew {
		return "may remove"
	}
	return it
}

// makeRoom says why the new pod does not fit, and what helps.
func (s *planned) makeRoom() {
	var on [len(unfits)][]string
	facts := [len(unfits)]daemonset.Facts{}
	for _, p := range s.p.Unfits() {
		i := slices.IndexFunc(unfits[:], func(u unfit) bool {
			return fill(s.now, with(p.Facts, daemonset.Facts{"resource": resourceWord(p.Facts["resources"])}), u.is+"yes") != ""
		})
		on[i], facts[i] = append(on[i], p.Nodes...), p.Facts
	}
	several, n := 0, 0
	for _, nodes := range on {
		several += min(1, len(nodes))
	}
	for i, nodes := range on {
		if len(nodes) == 0 {
			continue
		}
		number := ""
		if n++; several > 1 { // each has to be solved
			number = strconv.Itoa(n) + ". "
		}
		slices.Sort(nodes)
		f := with(facts[i], daemonset.Facts{"resource": resourceWord(facts[i]["resources"]), "where": someNames(nodes), "n": len(nodes)})
		s.add(screen.Fault, "%s", number+fill(s.now, f, unfits[i].cause))
		if s.live != nil { // else with the table
			s.s.Add(screen.Check, s.kubectl("kubectl describe node", screen.Quote(nodes[0])))
		}
		s.add(s.to, "%s", s.or()+number+fill(s.now, f, unfits[i].fix))
	}
}

// unfit is a kind of misfit: what is so of its facts, whose fault it is, and what helps.
type unfit struct{ is, cause, fix string }

var unfits = [...]unfit{
	{"{beyond=true}", "the template: it requests more {resource} than {where} {n?has|have}", "lower the {resource} request in the template, or keep the pod off {where} (nodeSelector or nodeAffinity)"},
	{"{resource=pods}", "the nodes: {where} {n?runs|run} as many pods as {n?it|they} may, all of the same or a higher priority", "move another pod off {where}, or keep this one off {n?it|them} (nodeSelector or nodeAffinity)"},
	{"{plugin=NodeResourcesFit}", "the template and the other pods on {where} together: they request more {resource} than {n?the node has|each node has}", "lower the {resource} request in the template, or move other pods off {where}, or keep this one off {n?it|them} (nodeSelector or nodeAffinity)"},
	{"{plugin=NodePorts}", "other pods on {where} use the host port that the template asks for", "use another host port in the template, or have the owner of the other {n?pod|pods} free the port on {where}"},
	{"{plugin=NodeVolumeLimits}", "volume {claim}: {where} {n?has|have} as many volumes of the CSI driver {driver} as {n?it|they} may", "move another pod with such a volume off {where}, or keep this one off (nodeSelector or nodeAffinity)"},
	{"{reachable}", "volume {claim}: PersistentVolume {persistentVolume} cannot be attached on {where}", "use a volume that {where} can have, or keep the pod off {where} (nodeSelector or nodeAffinity)"},
	{"", "the scheduler rejects the pod on {where} ({plugin})", "keep the pod off {where} (nodeSelector or nodeAffinity)"},
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
	effect := fill(s.now, daemonset.Facts{"n": s.p.Now.Updated}, "{n=0}replaces no pod: none is updated yet", "replaces the {n:pod that is|pods that are} updated")
	s.act(s.to, "", s.kubectl("kubectl rollout undo", s.namespace(), "daemonset/"+s.name(), screen.Word("--to-revision="+to)), effect, s.live.undoneBy())
}

// ran is how many pods with the same template the API server has admitted: the change
// leaves all of it as it is but its metadata and its images, which nothing here looks at.
func (s *planned) ran() int {
	dry := func(r admission.Refusal) bool { return r.Reason == admission.DryRunRejected } // by rules that may look at them
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
	deleted := s.o.Replaced
	f := daemonset.Facts{"gain": len(s.p.Placement.Gain), "room": room, "without": s.o.Unserved(), "deleted": deleted}
	if kept := s.p.Old() - deleted; kept > 0 {
		f["kept"] = kept
	}
	s.add(screen.Impact, "%s", fill(s.now, f,
		"{gain=0}{deleted=0}", "{gain=0}the controller deletes {deleted:pod} first; the API server then rejects the new {deleted?one|ones}, so {deleted:node stays|nodes stay} without a pod[; the other {kept:pod keeps|pods keep} running]",
		"{room=0}none of the {gain} nodes gets a pod", "{room} of the {gain} nodes, chosen at random, get a pod; {without:node stays|nodes stay} without one"))
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
		s.placed(s.p.Placement.Gain, []string{"gets a pod", "get a pod", "get a pod", "get a pod"}, " immediately:")
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
		s.s.Add(screen.Impact, screen.Names{Before: Plural(len(g.Nodes), "node") + " " + s.would(len(g.Nodes), verbs[0], verbs[1], verbs[2], verbs[3]) + when, Names: g.Nodes, After: inBrackets(placement(g.Reason, g.Facts)), Short: true})
	}
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
	b, old := &s.p.Budget, s.p.Old()
	if old == 0 || b.Kind == daemonset.BudgetNone || s.o.Code == plan.NotRolling || s.o.Code == plan.RemovesAllPods {
		return
	}
	n, once := s.p.AtATime(s.o.AtATime), min(s.o.AtOnce, old)
	stands := s.o.Code == plan.Stalls && len(s.p.Waves) == 0
	f := daemonset.Facts{"old": old, "n": n, "once": once, "stands": stands, "free": s.p.Regardless(), "all": old > 1 && n == old, "replaces": s.p.Replaces, "drops": s.p.Drops}
	if s.o.Code == plan.Stalls { // before that
		f["drops"] = 0
		if n == 0 && s.o.Replaced == 0 && s.o.Unserved() > 0 {
			f["stay"] = s.o.Unserved()
		}
	}
	s.add(screen.Limit, "%s", limitWords(b.Kind, b.Spec, "", s.p.Desired.After, b.Limit)+fill(s.now, f, paces...))
}

// paces say how many pods a limit lets the controller replace at a time.
var paces = []string{
	"{stands=true}, and it is used up, so the controller replaces no more pods",
	"{free=true}: the {old?pod is|pods are} not available, so {old?it is|they are} replaced immediately, regardless of the limit",
	"{all=true}: all {old} pods at the same time",
	"{n=0}, and {stay:node stays|nodes stay} without an available pod, so the controller replaces no pod", "{n=0}",
	"{once=0}: at most {n:pod} at a time[; {replaces:pod is|pods are} replaced, {drops:is|are} only deleted]",
	": immediately {once:pod} that {once?is|are} not available, the others at most {n} at a time",
}

// causes are who keeps a change from completing, and what shows more of it.
func (s *planned) causes() {
	known := slices.DeleteFunc(slices.Clone(s.problems), func(p *cause.Problem) bool { return s.p.Supposed(p.Nodes...) })
	rejected := s.o.Code == plan.Stalls && s.o.Reason == cause.FailedCreate && s.p.Admission != nil
	if rejected { // said as Cause
		known = slices.DeleteFunc(known, func(p *cause.Problem) bool { return p.Facts.Yes("predicted") })
	}
	s.problemLines("", known)
	s.checks(known)
	if down := plan.Down(s.problems); s.o.Code == plan.Stalls && s.o.Reason == daemonset.StepBudgetSpent && len(down) > 0 {
		s.add(screen.Fault, "%s", s.hangs(down))
	}
	if rejected {
		s.admitted(s.p.Admission, s.o.Unserved(), s.ran())
	}
	for _, p := range known {
		if p.Code == cause.PodOSNotSupported {
			f := with(p.Facts, daemonset.Facts{"gained": sets.New(p.Nodes...).HasAny(plan.Nodes(s.p.Placement.Gain)...), "some": someNames(p.Nodes)})
			s.s.Add(screen.Check, s.kubectl("kubectl get nodes", screen.Word("-L kubernetes.io/os")))
			s.add(screen.Fault, "%s", fill(s.now, f, "{gained=true}the change: it makes {some} eligible, and its template is for {want} only", "the template: it is for {want} only"))
			continue
		}
		if p.Blame != nil && s.before != nil && p.Blame.Who != cause.WhoNode && p.Blame.Who != cause.WhoUnknown && p.Code != cause.DoesNotFit && !(rejected && p.Code == cause.FailedCreate) {
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
		": their pods stay Terminating once deleted, and count against ") + s.p.Budget.Kind.Field() + " " + strconv.Itoa(s.p.Budget.Limit)
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
	return s.meaning(&cause.Problem{Code: w.Code, Facts: with(w.Facts, daemonset.Facts{"some": namesIn(w.Facts, "onNodes"), "who": who, "undone": undone, "fault": ImageFault(template.ImageFault(fact(w.Facts, "fault"))), "all": number(w.Facts, "count") > 1 && number(w.Facts, "count") == s.p.Now.Current})})
}

// outlook is what the controller does first, and where it stops.
func (s *planned) outlook() {
	n, end, when := s.p.Next, s.p.AtEnd(), "next"
	f := daemonset.Facts{
		"then": "without a fix", "updated": end.Updated, "desired": end.Desired, "available": end.Available, "before": s.p.Desired.Before, "after": s.p.Desired.After,
		"more": max(0, len(s.p.Placement.Lose)-s.p.Desired.Before), "old": s.p.Old(), "stands": !s.p.OfChange() && len(s.p.Waves) == 0, "change": s.p.OfChange(), "none": s.neverRuns(), "fresh": s.p.Subject == plan.SubjectNew, "atWorst": s.o.AtWorst,
	}
	if s.p.OfChange() {
		f["then"], when = "if you "+s.does(), "first"
		if down := s.p.Hypothetical(); len(down) > 0 {
			f["then"] = "with " + someNames(down) + " down"
		}
	}
	l := screen.Outlook
	if s.o.Code == plan.Stalls { // which the headline says
		l = screen.Limit
	}
	say := func(sentences ...string) { s.add(l, "%s: %s", f["then"], fill(s.now, f, sentences...)) }
	stalls, waits := s.o.Code == plan.Stalls, n.Kind == daemonset.StepNone
	switch {
	case s.o.Code == plan.NotRolling && s.o.Reason != daemonset.StepOnDelete:
		return
	case waits && n.Reason == daemonset.StepPodsNotRead:
		s.add(screen.Outlook, "unknown: %s", unread(s.h))
	case s.o.Code == plan.RemovesAllPods && s.p.OfChange():
		say("DESIRED goes from {before} to {after}, and the controller deletes every pod[, including {more} that DESIRED does not count]")
		return
	case stalls:
		say("{none=true}stops with {available} of {desired:pod} available", "{fresh=true}stops with {available} of {desired} available", "{atWorst=true}stops with {updated} or more of {desired} updated, {available} available", "{change=false}{old=0}stays at {available} of {desired} available", "{stands=true}stays at {updated} of {desired} updated",
			"stops with {updated} of {desired} updated, {available} available")
	case waits && len(s.p.Waves) > 0 && s.p.Waves[0].At != nil && *s.p.Waves[0].At > 0:
		s.add(screen.Outlook, "%s; it continues in about %s", idle(n.Reason, s.h), seconds(*s.p.Waves[0].At))
	}
	if words := s.otherwise(plan.PodsBecomeReady); words != "" {
		s.add(screen.Outlook, "%s", words)
	}
	if nf := s.o.FurtherHolders; nf > 0 && len(s.o.Holders) > 0 {
		s.note(screen.Text(pluralVerb(nf, "more node ends like these", "more nodes end like these") + ": which ones is the controller's random choice"))
	}
	if rejected := s.o.Reason == cause.FailedCreate && n.Creates.Len() > 0; !stalls || len(s.p.Waves) > 0 && !rejected {
		s.named = plan.Nodes(s.p.Placement.Gain)
		s.sync(&n, when)
	}
	if changes := s.p.Change != nil && s.p.Change.TemplateChanged; changes || s.live != nil { // said as the rollout's, or the change's
		if n.Revisions.Cut = false; changes {
			n.Revisions.RaisedFrom = 0
		}
	}
	s.bookkeeping(n)
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
		s.note(screen.Text("kubectl rollout undo would change nothing: the live template is that of the revision already, with the API defaults"))
	}
	if s.asked.Live && len(s.p.Waves) > 0 {
		s.s.Add(screen.Follow, append(screen.Command{s.asked.own("plan-rollout"), s.namespace(), s.name()}, s.kubectl("--watch")...))
	}
}
