package view

import (
	"cmp"
	"strconv"

	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// The functions in this file return the text of the headline: how a plan ends.

// ending describes how a plan ends.
func (s *planScreen) ending() string {
	switch courseOf(s.o.Code) {
	case plan.Completes:
		return s.completes()
	case plan.Stalls:
		return s.stops() + "; " + s.blame()
	case plan.RemovesAllPods:
		return "no node would be eligible"
	case plan.NotRolling:
		return s.doesNotRoll()
	case plan.NothingToDo:
		return s.doesNothing()
	}
	return "how it ends is unknown: " + cmp.Or(sheet.Unread(s.Header), s.blame())
}

// completes describes a rollout that may complete: its end, the pods that decide that, and the nodes without a pod.
func (s *planScreen) completes() string {
	p, end, lost := s.p, s.p.AtEnd(), s.lost()
	in, words := wording.Phrase(" in ", wording.RangeWords(s.o.Duration)), ""
	switch {
	case p.Subject == plan.SubjectNew:
		words = wording.PodsOf(end.Available, end.Desired) + " available" + in
	case p.Old() == 0 || p.Subject != plan.SubjectRollout && p.Replaces == 0:
		words = s.moved(in)
	case p.Subject == plan.SubjectRollout:
		words = s.goesOn(in)
	case p.Kept() > 0:
		words = wording.Plural(p.Replaces, "pod") + " replaced" + wording.Phrase(", and available", in) +
			"; the other " +
			wording.PluralOf(p.Kept(), "one is", strconv.Itoa(p.Kept())+" are") + " on revision " +
			s.goesBackTo() + " already"
	case lost != "": // the lost pods are more important in this case
		words, lost = lost+wording.Phrase("; ", wording.Counted(end.Updated, "other is", "others are"),
			" updated")+in, ""
	default:
		words = wording.PodsOf(end.Updated, end.Desired) + " updated" + in
	}
	return words + s.conditions() + wording.WithPrefix("; ", lost) + stayWithout(s.o)
}

// moved returns the number of pods that are created and deleted in a rollout without replacements.
func (s *planScreen) moved(in string) string {
	creates, deletes := s.p.Moved()
	one, many := "pod is", "pods are"
	if s.p.OfChange() {
		one, many = "pod would be", "pods would be"
	}
	if creates+deletes == 0 {
		return nothingMoves + in
	}
	return wording.Joined(", ", wording.Phrase(wording.Counted(creates, one, many), " created"),
		wording.Phrase(wording.Counted(deletes, one, many), " deleted")) + in
}

// goesOn describes the progress of the rollout, and the remaining pods.
func (s *planScreen) goesOn(in string) string {
	n := s.p.Replaces
	far := wording.PodsOf(s.p.Now.Updated, s.p.Now.Desired) + " updated"
	follow := cmp.Or(in, wording.PluralOf(n, " follows", " follow"))
	switch {
	case n == 0:
		return far + wording.Phrase("; complete", in)
	case n+s.p.Now.Updated == s.p.AtEnd().Desired:
		return far + "; the other " + wording.PluralOf(n, "one", strconv.Itoa(n)) + follow
	}
	return far + "; " + wording.Plural(n, "more pod") + follow
}

// conditions names the pods that must work for the rollout to complete, and describes the end if they do not.
func (s *planScreen) conditions() string {
	doubts, late := plan.Nodes(s.o.Unknown), plan.Nodes(s.o.Late)
	works, ready := wording.PluralOf(len(doubts), " works", " work"), wording.PluralOf(len(late), " becomes Ready",
		" become Ready")
	next, these := wording.PluralOf(len(doubts), "pod", "pods"), wording.PluralOf(len(late), "pod", "pods")
	return wording.Phrase(" if the next "+next+" on ", wording.SomeNames(doubts), works, " (unknown: ",
		codes(s.o.Unknown), ")") +
		s.otherwise(plan.NextPodsFail) +
		wording.Phrase(" if the "+these+" on ", wording.SomeNames(late), ready, " (", s.CodesFor(s.o.Late), ")") +
		s.otherwise(plan.PodsStayUnready)
}

// lost names the pods that no new pod replaces, or returns "" if there are none.
func (s *planScreen) lost() string {
	n, later := s.p.Drops, plan.Nodes(s.p.LostLater())
	if len(later) == n && n > 0 && n <= 3 {
		pod, is := wording.PluralOf(n, "the pod on ", "the pods on "), wording.PluralOf(n, " is", " are")
		return pod + wording.SomeNames(later) + is + " deleted and not replaced"
	}
	return wording.Phrase(wording.Counted(n, "pod is", "pods are"), " deleted and not replaced")
}

// stops describes the progress at which a rollout stalls.
func (s *planScreen) stops() string {
	p, end := s.p, s.p.AtEnd()
	n, what := end.Available, " available"
	updates := p.Subject != plan.SubjectNew && p.Old() > 0
	if updates {
		n, what = end.Updated, " updated"
	}
	switch {
	case updates && s.neverRuns() && s.o.Replaced == 0:
		return "no old pod is replaced"
	case updates && s.neverRuns():
		return "stops after " + wording.PodsOf(s.o.Replaced, p.Old())
	case s.o.AtWorst:
		return "stops with " + strconv.Itoa(n) + " or more of " + wording.Plural(end.Desired, "pod") + what
	}
	return wording.Either(len(p.Waves) > 0, "stops with ", "") + wording.PodsOf(n, end.Desired) + what
}

// doesNotRoll describes why the controller replaces no pods, and what would replace them.
func (s *planScreen) doesNotRoll() string {
	switch left := s.o.Left; {
	case s.o.Reason == daemonset.StepBeingDeleted:
		return "the controller no longer manages its pods"
	case s.o.Reason == daemonset.StepSelectsAll:
		return "its selector is empty, so the controller ignores it"
	case s.live != nil && s.live.E.Verdict.Code == explain.AwaitingDelete:
		return s.live.Summary()
	case left > 0:
		return "with " + sheet.Strategy(s.Header) + " you delete " + wording.Plural(left, "pod") + "; until then " +
			wording.PluralOf(left, "it stays on an older revision", "they stay on older revisions")
	}
	return "all pods are updated (" + sheet.Strategy(s.Header) + ")"
}

// nothingMoves describes a plan that only waits.
const nothingMoves = "no pod is created, deleted or replaced"

// doesNothing describes why nothing happens, and which nodes stay without an available pod.
func (s *planScreen) doesNothing() string {
	p, kept := s.p, s.p.Kept()
	stay, by := s.o.Unserved(), wording.InBrackets(codes(s.o.Holders))
	switch nothing := p.Subject == plan.SubjectNothing; {
	case kept > 0:
		return wording.PluralOf(kept, "its pod is", "its "+strconv.Itoa(kept)+" pods are") + " on revision " +
			s.goesBackTo() +
			" already, and " + wording.PluralOf(kept, "is", "are") + " kept" + stayWithout(s.o)
	case stay > 0 && nothing:
		return "no rollout in progress; " + wording.Plural(stay, "node") + " without an available pod" + by
	case stay > 0:
		return nothingMoves + "; " + wording.PluralVerb(stay, "node stays", "nodes stay") +
			" without an available pod" + by
	case nothing:
		return "no rollout in progress, and " +
			wording.Either(p.Nowhere(), "no node is eligible", "every eligible node has its pod")
	case p.Subject == plan.SubjectNew && p.Nowhere():
		return "no node is eligible, so no pod is created"
	case p.Subject != plan.SubjectNew && p.Change != nil && len(p.Change.Fields)+len(p.Change.Nodes) == 0:
		return "nothing" + wording.Either(p.TemplateKnown(), "", " that can be compared") +
			" differs from what is in the cluster"
	}
	words := nothingMoves
	if p.Desired.Before != p.Desired.After {
		words += "; " + s.desiredGoes()
	}
	return words + wording.Either(p.TemplateKnown(), "", ", if "+valuesEqual)
}

// goesBackTo returns the number of the revision that a rollback restores.
func (s *planScreen) goesBackTo() string { return strconv.FormatInt(s.p.Change.Revision.Was, 10) }

// stayWithout names the nodes that stay without an available pod, in a clause.
func stayWithout(o *plan.Outcome) string {
	stay := wording.PluralOf(o.Unserved(), " stays", " stay") + " without an available pod"
	return wording.Phrase("; ", staying(o), stay) + wording.InBrackets(codes(o.Holders))
}

// staying names the nodes that stay without an available pod.
func staying(o *plan.Outcome) string {
	if o.FurtherHolders > 0 || len(o.Holders) > 3 {
		return wording.Plural(o.Unserved(), "node")
	}
	return wording.SomeNames(plan.Nodes(o.Holders))
}
