package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// saidByFix has the remedies that already contain the whole advice.
var saidByFix = map[explain.AdviceCode]remedy.Code{
	explain.AdviseMakeRoom: remedy.MakeRoom, explain.AdviseExcludeNodes: remedy.ExcludeNodes,
	explain.AdvisePublishImage: remedy.PublishImage,
	explain.AdviseStrategy:     remedy.NoSurge, explain.AdviseConfig: remedy.CreateObject,
	explain.AdviseCorrectTemplate: remedy.LowerRequest,
}

// doPart adds what to do about some problems: first the read-only checks, then the actions.
func (a *Answer) doPart(d explain.Advice, advice []explain.Advice, problems []*explain.Problem, fixes []remedy.Remedy) {
	of, words := a.Advised(d, advice), Advices[d.Code]
	look, act, looks := of.Said(words.Look), of.Said(words.Act), a.LooksInto(problems)
	if a.To = screen.DoNow; d.Code == "" && len(advice) > 1 { // these fixes are alternatives
		a.To = screen.Other
	}
	if d.ReadOnly && look != "" && len(looks) > 0 {
		a.Add(screen.DoNow, "%s", look+" (read-only)"+a.canWait(d)+":")
		a.Screen.Add(screen.DoNow, looks[0])
		a.Screen.Add(screen.Check, looks[1:]...)
		a.To = screen.Then
	} else {
		if act = cmp.Or(act, look); act != "" {
			act += a.canWait(d)
		}
		a.Screen.Add(screen.Check, looks...)
	}
	a.Lead, a.After = act, a.before(d, advice)
	if by, ok := saidByFix[d.Code]; ok && len(fixes) > 0 && fixes[0].Code == by &&
		!(a.Unfit && by == remedy.LowerRequest) {
		a.Lead = ""
	}
	then := a.To
	for n, f := range AdvisedFirst(d.Code, fixes) {
		if (a.GoesBack || a.atEnd) && f.Code == remedy.RollBack { // the plan or the end of the screen has the command
			continue
		}
		if n > 0 {
			a.To = screen.Other
		} else if f.Code != remedy.RollBack || !a.blames(&f) {
			a.addLead()
		}
		a.fix(&f)
	}
	a.To = then
	if !a.GoesBack || len(advice) > 1 { // otherwise the plan gives the command
		a.addLead()
	}
	if of.Yes("noNetwork") && of.Text("service") != "" {
		a.Screen.Add(a.To, a.Kubectl("kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations",
			"-o "+screen.Quote("custom-columns=NAME:metadata.name,WEBHOOKS:webhooks[*].name")))
	}
	a.Add(screen.DoNot, "%s", of.Said(words.dont))
	a.notBack(problems)
}

// AdvisedFirst returns the remedies. If the advice is to roll back, the rollback comes first.
func AdvisedFirst(code explain.AdviceCode, fixes []remedy.Remedy) []remedy.Remedy {
	i := slices.IndexFunc(fixes, func(f remedy.Remedy) bool { return f.Code == remedy.RollBack })
	if i <= 0 || code != explain.AdviseRollBack {
		return fixes
	}
	return slices.Concat(fixes[i:i+1], fixes[:i], fixes[i+1:])
}

// addLead adds the text that introduces a command, unless it is already on the screen.
func (a *Answer) addLead() {
	if a.Lead != "" {
		a.Add(a.To, "%s", a.After+a.Lead)
		a.Lead, a.After = "", ""
	}
}

// before returns a condition if other problems would stop the rollout that the action starts, or "" otherwise.
func (a *Answer) before(d explain.Advice, advice []explain.Advice) string {
	if len(d.After) == 0 || d.Code == explain.AdviseRepairNodes {
		return ""
	}
	return "once " + a.solvesFirst(d, advice) + " solved, "
}

// solvesFirst returns the problems to solve before d, with a verb: "problem 1 is". It names a problem that has no
// number on this screen.
func (a *Answer) solvesFirst(d explain.Advice, advice []explain.Advice) string {
	for n, other := range advice {
		if len(d.After) == 1 && other.Code != d.Code && slices.Contains(other.Problems, d.After[0]) {
			return fmt.Sprintf("problem %d is", n+1)
		}
	}
	first := sheet.ReasonNames(d.After)
	if p := a.E.Has(d.After[0]); p != nil && len(d.After) == 1 {
		first += wording.Phrase(" on ", wording.SomeNames(p.Nodes))
	}
	return first + wording.PluralOf(len(d.After), " is", " are")
}

// firstOfAll returns the problems to solve before the next rollout, with a verb.
func (a *Answer) firstOfAll() string {
	for _, d := range a.E.Advice {
		if len(d.After) > 0 && d.Code != explain.AdviseRepairNodes {
			return a.solvesFirst(d, a.E.Advice)
		}
	}
	return "this is"
}

// canWait says that the action is not urgent because all these nodes have a Ready pod. It returns "" if it is urgent.
func (a *Answer) canWait(d explain.Advice) string {
	all := a.E.Impact
	if !d.CanWait || a.counted() || all == nil || all.Served+len(all.Ready) == 0 || len(d.Problems) == 0 ||
		d.Code == explain.AdviseRepairBeforeRollout || d.Code == explain.AdviseTolerate {
		return ""
	}
	return "; it can wait: " + AllHave(all.Served+len(all.Ready)) + " a Ready pod"
}

// oneAct returns a rollback that may solve several of the numbered problems, and the text that introduces it. It
// returns nil if there is none, or if the revision is certainly at fault.
func (a *Answer) oneAct() (*remedy.Remedy, string) {
	var solves []int
	var act *remedy.Remedy
	for n, part := range a.E.Parts() {
		undo := slices.IndexFunc(part.Fixes, func(f remedy.Remedy) bool {
			return f.Code == remedy.RollBack &&
				!a.blames(&f)
		})
		switch {
		case part.Advice == nil:
		case undo >= 0:
			act = &part.Fixes[undo]
			solves = append(solves, n+1)
		case part.As > 0 && len(solves) > 0:
			solves = append(solves, n+1)
		}
	}
	n := len(solves)
	if n < 2 {
		return nil, ""
	}
	which := strconv.Itoa(n) + " of these problems"
	switch first, last := strconv.Itoa(solves[0]), strconv.Itoa(solves[n-1]); {
	case n == 2:
		which = first + " and " + last
	case solves[n-1]-solves[0] == n-1:
		which = first + " to " + last
	}
	return act, "if a check shows that revision " + strconv.FormatInt(a.Current(), 10) +
		" is at fault, roll back, which may solve " + which
}

// admissionStep returns what to do so that the API server admits a pod, or "" if that is unknown. runs is set if pods
// of the template run.
func admissionStep(r *admission.Refusal, namespace string, runs bool) string {
	name, again := wording.Phrase(`"`, screen.Clean(r.Name), `"`),
		wording.Either(runs, " again", ", or correct its name")
	switch owner := "ask the owner of namespace " + screen.Clean(namespace); r.Reason {
	case admission.NamespaceNotFound:
		return "create namespace " + screen.Clean(namespace)
	case admission.ServiceAccountNotFound:
		return wording.Phrase("create ServiceAccount ", name, again)
	case admission.PriorityClassNotFound:
		return wording.Phrase("create PriorityClass ", name, again)
	case admission.RuntimeClassNotFound:
		return wording.Phrase("create RuntimeClass ", name, again)
	case admission.LimitRangeViolated:
		return wording.Phrase("correct the template as LimitRange ", name, " wants it")
	case admission.PodSecurityViolated:
		return wording.Either(runs, owner+" to allow these pods again",
			"change the template, or "+owner+" to allow the pods")
	case admission.QuotaExceeded:
		return wording.Phrase("have ResourceQuota ", name, " raised")
	case admission.QuotaMustSpecify:
		return wording.Phrase("set what ResourceQuota ", name, " counts")
	case admission.PodInvalid:
		return "correct the template"
	case admission.DryRunRejected:
		return "correct what its message names"
	}
	return ""
}
