package view

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

func (s *screen) verdict(e *explain.Explanation) string {
	code := strings.ToUpper(spaced(string(e.Verdict.Code)))
	switch e.Verdict.Code {
	case explain.Stuck, explain.Degraded:
		code = s.bad(code)
	case explain.Healthy:
		n := warningsOf(e)
		switch {
		case n > 0:
			code = s.warn(code + ", " + strings.ToUpper(plural(n, "warning")))
		case number(e.Verdict.Facts, "desired") == 0:
			code = s.warn(code)
		default:
			code = s.good(code)
		}
	default:
		code = s.warn(code)
	}
	return fmt.Sprintf("%s  %s/%s: %s", code, clean(e.DaemonSet.Namespace), clean(e.DaemonSet.Name), VerdictDetail(e))
}

// warningsOf counts the problems that are more than worth knowing.
func warningsOf(e *explain.Explanation) int {
	n := 0
	for _, p := range e.Problems {
		if p.Severity != cause.Info {
			n++
		}
	}
	return n
}

// spaced writes "AwaitingDelete" as "Awaiting delete".
func spaced(code string) string {
	return capitals.ReplaceAllStringFunc(code, func(m string) string { return m[:1] + " " + strings.ToLower(m[1:]) })
}

var capitals = regexp.MustCompile(`[a-z][A-Z]`)

const selectsAll = "its selector is empty, and the controller ignores it"

// VerdictDetail says in one sentence why the verdict is what it is.
func VerdictDetail(e *explain.Explanation) string {
	f := e.Verdict.Facts
	desired, updated, available := number(f, "desired"), number(f, "updated"), number(f, "available")
	switch e.Verdict.Code {
	case explain.BeingDeleted:
		return "it is being deleted, and its controller does nothing any more"
	case explain.Unknown:
		if e.Next.Reason == daemonset.StepSelectsAll {
			return selectsAll
		}
		return "not known, as " + unread(&e.Header) + " could not be read"
	case explain.NotObserved:
		return fmt.Sprintf("the controller has not handled generation %d yet, its numbers are of %d%s", e.DaemonSet.Generation, e.DaemonSet.ObservedGeneration, nowhereToo(e))
	case explain.AwaitingDelete:
		return fmt.Sprintf("%s with an old pod until somebody deletes it (%s)%s", plural(number(f, "oldNodes"), "node"), strategy(&e.Header), nowhereToo(e))
	case explain.Stuck:
		return stuckDetail(e) + nowhereToo(e)
	case explain.Degraded:
		without := number(f, "without")
		if without == 0 {
			return fmt.Sprintf("every node has an available pod, but not all of its pods%s", mainCause(e, nil))
		}
		return fmt.Sprintf("%d of %s without an available pod%s", without, plural(desired, "node"), mainCause(e, servedNodes(e)))
	case explain.Progressing:
		if p := noEligible(e); p != nil && desired == 0 {
			return noneDesired(e) + movingWords(p) + risk(e)
		}
		if number(f, "oldNodes") > 0 {
			return fmt.Sprintf("%d of %s updated, %d available%s", updated, plural(desired, "node"), available, risk(e))
		}
		return fmt.Sprintf("%d of %s available%s", available, plural(desired, "node"), mainCause(e, nil))
	}
	if desired == 0 {
		return noneDesired(e)
	}
	if updated < desired && e.Status.Computed != nil { // the status counts a node by its oldest pod
		return fmt.Sprintf("%s, all available; old pods still terminating on %d of them%s", plural(desired, "node"), desired-updated, warned(e))
	}
	return fmt.Sprintf("%s, all available and up to date%s", plural(desired, "node"), warned(e))
}

// warned names the warnings of a DaemonSet that is healthy; empty where there
// are none.
func warned(e *explain.Explanation) string {
	var codes []string
	for _, p := range e.Problems {
		if p.Severity != cause.Info && !slices.Contains(codes, string(p.Code)) {
			codes = append(codes, string(p.Code))
		}
	}
	if len(codes) == 0 {
		return ""
	}
	return "; " + strings.Join(codes, ", ")
}

// noEligible is the problem that no node should run the pod; nil where one
// should.
func noEligible(e *explain.Explanation) *explain.Problem {
	i := slices.IndexFunc(e.Problems, func(p explain.Problem) bool { return p.Code == cause.NoEligibleNode })
	if i < 0 {
		return nil
	}
	return &e.Problems[i]
}

// movingWords says what becomes of the pods where no node is eligible.
func movingWords(none *explain.Problem) string {
	losing, staying := number(none.Facts, "losing"), number(none.Facts, "staying")
	words := ""
	if losing > 0 {
		words += "; " + pluralVerb(losing, "pod is deleted and not recreated", "pods are deleted and not recreated")
	}
	if staying > 0 {
		words += "; " + pluralVerb(staying, "pod stays", "pods stay")
	}
	return words
}

// nowhereToo adds to a verdict about something else that no node is eligible.
func nowhereToo(e *explain.Explanation) string {
	none := noEligible(e)
	if none == nil {
		return ""
	}
	return "; no node is eligible" + movingWords(none)
}

// noneDesired says why no node should run the pod.
func noneDesired(e *explain.Explanation) string {
	switch {
	case noEligible(e) != nil:
		return "DESIRED is 0: no node is eligible"
	case len(e.Columns) > 0:
		return "DESIRED is 0: the cluster has no node"
	}
	return "DESIRED is 0"
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
	case has(cause.CreateRefused) && e.Next.Kind == daemonset.StepManage:
		return cause.CreateRefused
	case e.Next.Error != nil:
		return e.Next.Error.Code
	}
	return ""
}

func stuckDetail(e *explain.Explanation) string {
	switch stuckBy(e) {
	case explain.ControllerSilent:
		return "the controller does not do what it owes"
	case cause.CreateRefused:
		return "new pods are refused, and before they come no old pod is replaced"
	case daemonset.VanishedNodeInSurge:
		return "every surge step fails while pod " + clean(e.Next.Error.Pod) + " is left of vanished node " + clean(e.Next.Error.Node)
	case daemonset.InvalidBudget:
		return clean(e.Next.Error.Field) + " cannot be resolved"
	}
	switch {
	case len(e.Budget.Holders) == 0:
		return noBudget(e.Budget.Spec, e.Budget.Of)
	case e.Budget.Kind == daemonset.BudgetSurge:
		return fmt.Sprintf("budget used up, %s of %d surging, and no further pod is replaced", count(e.Budget.Used), e.Budget.MaxSurge)
	}
	return fmt.Sprintf("budget used up, %s of %d unavailable, and no healthy pod is replaced", count(e.Budget.Used), e.Budget.MaxUnavailable)
}

// noBudget says why a rollout whose limit comes to 0 does not begin.
func noBudget(spec string, nodes int) string {
	return fmt.Sprintf("the limit is %s of %s = 0, so no available pod is deleted", clean(spec), plural(nodes, "node"))
}

// count writes a number that may not be known.
func count(n *int) string {
	if n == nil {
		return "?"
	}
	return strconv.Itoa(*n)
}

// servedNodes are the nodes that lack no pod: they have an available one that is
// not terminating, or should have none.
func servedNodes(e *explain.Explanation) map[string]bool {
	out := map[string]bool{}
	for _, n := range e.Nodes {
		if n.ShouldRun != nil && !n.ShouldRun.OK || slices.ContainsFunc(n.Pods, func(p explain.Pod) bool { return p.Available && !p.Terminating && p.Ignored == "" }) {
			out[n.Name] = true
		}
	}
	return out
}

// mainCause names every cause of the worst severity that there is, with its
// nodes but for those to leave out, the most frequent first.
func mainCause(e *explain.Explanation, leaveOut map[string]bool) string {
	worst := mainProblem(e)
	if worst == nil {
		return ""
	}
	nodes := map[daemonset.Reason]map[string]bool{}
	var order []daemonset.Reason
	for _, p := range e.Problems {
		if p.Severity != worst.Severity || p.Count == 0 || holdsNothing[p.Code] || p.Code == daemonset.Duplicate || p.Code == cause.NextRolloutStalls {
			continue
		}
		for _, n := range p.Nodes {
			if leaveOut[n] {
				continue
			}
			if nodes[p.Code] == nil {
				nodes[p.Code] = map[string]bool{}
				order = append(order, p.Code)
			}
			nodes[p.Code][n] = true
		}
	}
	slices.SortStableFunc(order, func(a, b daemonset.Reason) int { return len(nodes[b]) - len(nodes[a]) })
	const most = 2
	var parts []string
	for i, code := range order {
		if i == most {
			parts = append(parts, fmt.Sprintf("+%d more", len(order)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%s on %s", code, plural(len(nodes[code]), "node")))
	}
	return inBrackets(parts...)
}

// risk names what may keep a rollout that goes on from ending well: pods that
// fail, and those that take longer to become ready than any other did. Empty
// where there are none.
func risk(e *explain.Explanation) string {
	var risks []explain.Problem
	for _, p := range e.Problems {
		if p.Count > 0 && (p.Severity == cause.Error || yes(p.Facts, "late")) {
			risks = append(risks, p)
		}
	}
	slices.SortStableFunc(risks, func(a, b explain.Problem) int {
		return cmp.Or(a.Severity.Compare(b.Severity), cmp.Compare(b.Count, a.Count))
	})
	words := ""
	for i, p := range risks {
		if i == 2 {
			return words + fmt.Sprintf(", and %s", plural(len(risks)-i, "more problem"))
		}
		words += map[bool]string{true: "; ", false: ", "}[i == 0] + fmt.Sprintf("%s on %s", p.Code, someNames(p.Nodes))
		if p.Since != nil {
			words += " for " + span(e.Snapshot.TakenAt, p.Since, p.Latest)
		}
	}
	return words
}

// someNames names up to three nodes whole.
func someNames(nodes []string) string {
	const most = 3
	text := clean(strings.Join(nodes[:min(most, len(nodes))], ", "))
	if more := len(nodes) - most; more > 0 {
		text += fmt.Sprintf(" +%d more", more)
	}
	return text
}

// mainProblem is the error on the most nodes, else the first warning; nil
// where nothing is wrong.
func mainProblem(e *explain.Explanation) *explain.Problem {
	var best *explain.Problem
	for i := range e.Problems {
		p := &e.Problems[i]
		switch {
		case p.Severity == cause.Info:
		case best == nil, p.Severity == cause.Error && (best.Severity != cause.Error || p.Count > best.Count):
			best = p
		}
	}
	return best
}
