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
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Explanation writes one DaemonSet's answer.
func Explanation(w io.Writer, e *explain.Explanation, asked Asked, style Style) error {
	a := newAnswer(e, asked, style)
	a.headline()
	a.present()
	a.fixes()
	a.outlook()
	a.status()
	a.wide()
	return a.s.Text(w, style.terminal())
}

// answer makes the screen of one Explanation.
type answer struct {
	*sheet
	e *explain.Explanation
}

func newAnswer(e *explain.Explanation, asked Asked, style Style) *answer {
	return &answer{newSheet(&e.Header, asked, style), e}
}

// present says what is the case now, and why.
func (a *answer) present() {
	a.impact()
	a.rollout()
	a.change()
	a.limit()
	a.problems()
	a.onDelete()
	a.causes()
	a.checks(a.e.Matters())
}

// count is a number that the verdict was decided on.
func (a *answer) count(key string) int { return number(a.e.Verdict.Facts, key) }

var verdicts = map[explain.VerdictCode]struct {
	words string
	tone  screen.Tone
}{
	explain.Healthy:        {"HEALTHY", screen.Good},
	explain.BeingDeleted:   {"BEING DELETED", screen.Warn},
	explain.NotObserved:    {"NOT OBSERVED", screen.Warn},
	explain.AwaitingDelete: {"WAITS FOR YOU", screen.Warn},
	explain.Stuck:          {"STUCK", screen.Bad},
	explain.Degraded:       {"DEGRADED", screen.Bad},
	explain.Progressing:    {"PROGRESSING", screen.Warn},
	explain.Unknown:        {"UNKNOWN", screen.Warn},
}

func (a *answer) headline() {
	v, n := verdicts[a.e.Verdict.Code], len(a.e.Matters())
	switch code := a.e.Verdict.Code; {
	case code == explain.Healthy && a.count("desired") == 0 && a.nowhere() != "":
		v.words, v.tone = "NO ELIGIBLE NODE", screen.Bad
	case n > 0 && (code == explain.Healthy || code == explain.Progressing):
		v.words, v.tone = v.words+", "+pluralVerb(n, "WARNING", "WARNINGS"), screen.Warn
	}
	a.s.Headline = screen.Headline{Verdict: v.words, Tone: v.tone, Subject: a.subject(), Text: a.summary()}
}

// summary is the headline's sentence: how far it is, what is wrong, and how it
// goes on by itself.
func (a *answer) summary() string {
	desired, updated, old := a.count("desired"), a.count("updated"), a.count("oldNodes")
	pods := plural(desired, "pod")
	words, more := fmt.Sprintf("%d of %s available", a.count("available"), pods), []string{a.why(2)}
	switch code := a.e.Verdict.Code; {
	case code == explain.BeingDeleted:
		return "the controller no longer manages its pods"
	case code == explain.Unknown && a.e.Next.Reason == daemonset.StepSelectsAll:
		return "its selector is empty, so the controller ignores it"
	case code == explain.Unknown:
		return unread(a.h) + " could not be read"
	case code == explain.NotObserved:
		words = fmt.Sprintf("the controller has not observed generation %d yet; its numbers are of generation %d", a.h.DaemonSet.Generation, a.h.DaemonSet.ObservedGeneration)
		more = []string{a.nowhere()}
	case code == explain.AwaitingDelete:
		words = fmt.Sprintf("%d of %s updated; %s (%s)", desired-old, pods, pluralOf(old, "the other one waits to be deleted", fmt.Sprintf("the other %d wait to be deleted", old)), strategy(a.h))
		more = []string{a.nowhere()}
	case desired == 0:
		words = "DESIRED is 0"
		if len(a.e.Columns) > 0 && more[0] == "" {
			words += ": the cluster has no node"
		}
	case a.e.Rollout.UnderWay && (code == explain.Stuck || code == explain.Progressing):
		words, more = fmt.Sprintf("%d of %s updated", updated, pods), []string{a.left(), more[0]}
	case code == explain.Healthy && desired > updated: // the status counts a node by its oldest pod
		more = []string{"old pods still terminate on " + plural(desired-updated, "node"), more[0]}
	case code == explain.Healthy:
		words += " and updated"
	}
	return joined("; ", append([]string{words}, more...)...)
}

// left is how long a rollout takes that goes on by itself, or where it stops;
// empty where that is not known.
func (a *answer) left() string {
	switch o := a.e.Outlook; {
	case o != nil && o.Code == explain.Stalls:
		return fmt.Sprintf("it will stop at %d of %d", o.Updated, o.Desired)
	case o != nil && o.Code == explain.Completes && o.Duration != nil && !a.e.Failing():
		return rangeWords(o.Duration) + " left"
	}
	return ""
}

// why names what is wrong, the worst first, so many of several; empty where
// nothing is.
func (a *answer) why(most int) string {
	return joined(", ", why(a.e.Matters(), a.clause, most), a.nowhere())
}

// nowhere says why no node is eligible, where one rule says it, and what becomes
// of the pods; empty where one is eligible.
func (a *answer) nowhere() string {
	p := a.e.Has(cause.NoEligibleNode)
	if p == nil {
		return ""
	}
	words := "no node is eligible"
	if g := a.e.Groups("DESIRED", false); len(g) == 1 {
		words = cmp.Or(fill(a.now, g[0].Facts, noneOf[g[0].Reason]), words)
	}
	return words + fill(a.now, p.Facts, noneThen)
}

// noneOf says which rule leaves no node eligible.
var noneOf = map[daemonset.Reason]string{daemonset.NodeSelector: "no node has the label {key}=[{want}]", daemonset.TaintNotTolerated: "every node has the taint {taint}"}

// clause is a problem on some nodes in few words.
func (a *answer) clause(p *explain.Problem, nodes []string) string {
	some := strings.Join(p.Nodes, " and ")
	if len(p.Nodes) > 2 {
		some = plural(len(p.Nodes), "node")
	}
	switch p.Code {
	case explain.ControllerSilent:
		return "the controller has not acted for " + a.lasting(p)
	case daemonset.InvalidBudget:
		return fact(p.Facts, "field") + " cannot be resolved"
	case daemonset.VanishedNodeInSurge:
		return "a pod of a deleted node blocks every step"
	case cause.NoEligibleNode:
		return "" // said behind all others
	case cause.FailedCreate:
		by := map[cause.OriginKind]string{cause.OriginQuota: "a ResourceQuota", cause.OriginPolicy: "Pod Security", cause.OriginWebhook: "an admission webhook"}[p.Origin.Kind]
		return fmt.Sprintf("%s rejects %s", cmp.Or(by, "the API server"), plural(len(p.Nodes), "pod"))
	case cause.NextRolloutStalls:
		return cmp.Or(some, "the cluster") + " would stall the next rollout"
	case explain.StaleStatus:
		return "the reported status is stale"
	case explain.Misscheduled:
		return some + pluralOf(len(p.Nodes), " is NotReady and not counted", " are NotReady and not counted")
	}
	words := predicates[p.Code]
	if o := p.Origin; o != nil && o.Kind == cause.OriginRevision && len(nodes) == a.count("newPods") && len(nodes) > 1 && words.noun != "" {
		return allOf(len(nodes)) + "new pods " + words.many
	}
	return words.of(nodes, len(p.Pods))
}

// allHave is "all 12 nodes have".
func allHave(n int) string { return pluralOf(n, "the only node has", allOf(n)+"nodes have") }

// allOf is "both " or "all 3 ".
func allOf(n int) string { return pluralOf(n-1, "both ", fmt.Sprintf("all %d ", n)) }

func (a *answer) impact() {
	i := a.e.Impact
	switch what := unread(a.h); {
	case i == nil && what != "":
		a.add(screen.Impact, "unknown: %s could not be read", what)
		return
	case i == nil || len(a.e.Columns) == 0:
		return
	}
	without, all := len(i.Without), len(i.Without)+i.Served
	have := allHave(all)
	none := a.e.Has(cause.NoEligibleNode)
	switch {
	case all == 0 && none != nil && len(i.Uncounted) == 0 && none.Since != nil:
		a.add(screen.Impact, "no node runs the pod; none has been eligible for %s", a.lasting(none))
	case all == 0 && none != nil && len(i.Uncounted) == 0:
		a.add(screen.Impact, "no node runs the pod")
	case all == 0 && none != nil && number(none.Facts, "losing") == len(i.Uncounted):
		a.s.Add(screen.Impact, screen.Names{Before: "the controller deletes the pods on all nodes that have one:", Names: i.Uncounted, Short: true})
		return
	case all == 0:
	case without > 0 && without == len(i.Ready):
		a.s.Add(screen.Impact, screen.Names{Before: "none: " + have + " a Ready pod; not counted as available yet:", Names: i.Without})
	case without > 0:
		words, after := fmt.Sprintf("%d of %s", without, plural(all, "node")), ""
		if without == all {
			words = pluralOf(all, "1 node", allOf(all)+"nodes")
		}
		if i.Served > 0 && a.e.Rollout.UnderWay {
			after = "; " + pluralOf(i.Served, "the other one has", fmt.Sprintf("the other %d have", i.Served)) + " an available pod"
			if by := a.e.ServedBy(); by != nil {
				after += " of " + revisionName(by)
			}
		}
		a.s.Add(screen.Impact, screen.Names{Before: words + pluralOf(without, " has", " have") + " no available pod:", Names: i.Without, After: after})
	case len(i.OldServes) > 0:
		a.s.Add(screen.Impact, screen.Names{Before: "none yet: the old pod still runs beside the new one on", Names: i.OldServes, After: ", so " + have + " an available pod"})
	case a.e.Verdict.Code == explain.AwaitingDelete:
		a.add(screen.Impact, "none, not urgent: %s an available pod", have)
	case a.e.Verdict.Code != explain.Healthy:
		a.add(screen.Impact, "none: %s an available pod", have)
	}
	if n := len(i.Uncounted); n > 0 {
		a.s.Add(screen.Impact, screen.Names{Before: fmt.Sprintf("DESIRED and READY do not count the %s on", pluralOf(n, "pod", strconv.Itoa(n)+" pods")), Names: i.Uncounted, After: ", so no alert on these numbers fires", Short: true})
	}
}

// rollout says since when, and how many pods are on which revision.
func (a *answer) rollout() {
	var parts []string
	for i := range a.e.Revisions {
		r := &a.e.Revisions[i]
		n, noun := r.Pods+r.Terminating, ""
		if n == 0 && (!r.Current || len(parts) > 0) {
			continue
		}
		if len(parts) == 0 {
			noun = pluralOf(n, " pod", " pods")
		}
		var notes []string
		if r.Current && r.Available < r.Pods {
			notes = append(notes, fmt.Sprintf("%d available", r.Available))
		}
		if r.Terminating > 0 {
			notes = append(notes, fmt.Sprintf("%d terminating", r.Terminating))
		}
		if !r.Current && r.Updated > 0 {
			notes = append(notes, countedUpdated(r.Updated, len(r.Nodes)))
		}
		parts = append(parts, fmt.Sprintf("%d%s on %s", n, noun, revisionName(r))+inBrackets(strings.Join(notes, ", ")))
	}
	pods, since := strings.Join(parts, ", "), ""
	if at := a.e.Rollout.Since; at != nil {
		since = ago(a.now.Sub(*at))
	}
	switch code := a.e.Verdict.Code; {
	case code == explain.BeingDeleted, gapped(a.h, snapshot.Pods):
		return
	case !a.e.Rollout.UnderWay && code != explain.Unknown:
		a.add(screen.Rollout, "none in progress")
		if slices.ContainsFunc(a.e.Revisions, func(r explain.Revision) bool { return !r.Current && len(r.Nodes) > 0 }) {
			a.add(screen.Rollout, "%s", pods)
		}
	case since == "" || code == explain.Unknown:
		a.add(screen.Rollout, "%s", pods)
	case code == explain.AwaitingDelete:
		a.add(screen.Rollout, "revision %d is %s old: %s", a.current(), since, pods)
	default:
		a.add(screen.Rollout, "started %s ago: %s", since, pods)
	}
	for _, as := range a.e.Assumptions {
		if n, _ := strconv.Atoi(as.Value); as.Code == daemonset.AssumeGeneration {
			a.add(screen.Rollout, "%s as updated by the label pod-template-generation alone, and %s not replaced", pluralVerb(n, "pod counts", "pods count"), pluralOf(n, "is", "are"))
		}
	}
	if n := a.e.Next.Revisions; n.Cut && !gapped(a.h, snapshot.Revisions) {
		a.add(screen.Rollout, "the live template has no revision yet: the next sync creates revision %d", n.Number)
	}
}

// change is what differs between the revision of most old pods and the current
// one, and who writes the template besides a person.
func (a *answer) change() {
	if a.e.Change == nil || a.e.Verdict.Code == explain.BeingDeleted {
		return
	}
	for _, l := range few(fieldStyle{all: a.style.All, brief: true}.changeLines(a.e.Change.Change), 3, "more change", a.style) {
		a.add(screen.Change, "%s", l)
	}
	if len(a.e.ManagedBy) > 0 {
		who, _ := managerWords(a.e.ManagedBy[0])
		a.add(screen.Change, "the template is written by %s", who)
	}
}

// current is the number of the current revision; 0 if none is known.
func (a *answer) current() int64 { return cmp.Or(a.e.Current(), &explain.Revision{}).Number }

func revisionName(r *explain.Revision) string {
	switch {
	case r.Name != "":
		return "revision " + strconv.FormatInt(r.Number, 10)
	case r.Hash == "":
		return "no revision"
	}
	return "hash " + r.Hash
}

// limit says the rule that bounds a rollout, and what follows from it.
func (a *answer) limit() {
	b := &a.e.Budget
	if !a.e.Rollout.UnderWay || b.Kind == daemonset.BudgetNone || b.Invalid != "" || b.Used == nil || a.e.Verdict.Code == explain.BeingDeleted {
		return
	}
	limit, stop := b.MaxUnavailable, ", so the controller replaces no further pod"
	used := pluralVerb(*b.Used, "is unavailable", "are unavailable")
	if b.Kind == daemonset.BudgetSurge {
		limit, stop = b.MaxSurge, ", so the controller starts no further pod"
		used = pluralVerb(*b.Used, "extra pod exists", "extra pods exist")
	}
	words := limitWords(b.Kind, b.Spec, b.Scaled, b.Of, limit)
	if b.Fallback {
		words = "maxUnavailable and maxSurge both come to 0, so the controller uses maxUnavailable 1"
	}
	switch {
	case *b.Used < limit || a.e.Next.Deletes.Len() > 0:
		stop = ""
	case a.e.Verdict.Code == explain.Progressing:
		stop += " until one is available"
	}
	a.add(screen.Limit, "%s, and %s%s", words, used, stop)
}

// problems is the table of what is wrong. What is only worth knowing is a note.
func (a *answer) problems() {
	head := "PROBLEM"
	switch m := a.e.Matters(); {
	case len(m) == 0:
		head = "STATE"
	case !m[0].Urgent() && m[0].Code != cause.NoEligibleNode:
		head = "WARNING"
	}
	var rows []*explain.Problem
	for i := range a.e.Problems {
		p := &a.e.Problems[i]
		switch {
		case p.Code == explain.OnDeleteOutdated && a.e.Verdict.Code == explain.AwaitingDelete:
			// the table of old pods
		case p.Severity == cause.Info && p.Count == 0, p.Code == cause.NextRolloutStalls, p.Code == explain.Adopt:
			a.note(a.detail(p)...)
		default:
			rows = append(rows, p)
		}
	}
	a.s.Add(screen.Body, a.problemTable(head, rows))
}

// onDelete is the table of pods that wait for a person.
func (a *answer) onDelete() {
	if a.e.Verdict.Code != explain.AwaitingDelete {
		return
	}
	t := &screen.Table{Columns: columns("OLD POD", "NODE", "REVISION")}
	const most = 3
	for i := range a.e.Nodes {
		n := &a.e.Nodes[i]
		for _, p := range n.Pods {
			if !p.Updated && !p.Terminating && p.Ignored == "" {
				t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(p.Name, n.Name, revisionOf(a.e, p))})
			}
		}
	}
	if more := len(t.Rows) - most; more > 1 && !a.style.All {
		t.Rows = append(t.Rows[:most], screen.Row{Cells: screen.Cells(fmt.Sprintf("%d more with --all", more))})
	}
	a.s.Add(screen.Body, t)
}

// causes says who, for each problem that does not pass by itself.
func (a *answer) causes() {
	var said, of []string
	for i := range a.e.Problems {
		p := &a.e.Problems[i]
		if words := a.origin(p); words != "" && !slices.Contains(said, words) && (len(said) < 3 || a.style.All) {
			said, of = append(said, words), append(of, string(p.Code))
		}
	}
	for i, words := range said {
		if len(said) > 1 { // of what
			words = of[i] + ": " + words
		}
		a.add(screen.Cause, "%s", words)
	}
}

// origin says what a problem comes from; empty where nothing tells, or it passes
// by itself.
func (a *answer) origin(p *explain.Problem) string {
	o := p.Origin
	if o == nil {
		return ""
	}
	lacks := fact(p.Facts, "resources")
	switch port := p.Code == cause.HostPortConflict; {
	case o.Kind == cause.OriginRevision, o.Kind == cause.OriginUnknown:
		return a.revisionToBlame(p)
	case o.Kind == cause.OriginNodes:
		return a.nodesToBlame(p)
	case o.Kind == cause.OriginQuota:
		return fmt.Sprintf(`ResourceQuota "%s" in namespace %s: no room for %s`, o.Name, a.h.DaemonSet.Namespace, plural(len(p.Nodes), "more pod"))
	case o.Kind == cause.OriginPolicy:
		return fmt.Sprintf("Pod Security of namespace %s: the pod violates %s", a.h.DaemonSet.Namespace, o.Name)
	case o.Kind == cause.OriginWebhook:
		return "admission webhook " + o.Name
	case o.Kind == cause.OriginAPIServer:
		return "the API server: see its message"
	case o.Kind == cause.OriginScheduling && port:
		return someNames(p.Nodes) + ": another pod there uses the host port"
	case o.Kind == cause.OriginScheduling && lacks != "":
		return someNames(p.Nodes) + ": too little " + lacks + " is free for the pod"
	case o.Kind == cause.OriginController:
		return "likely kube-controller-manager: it is down, or cannot reach the API server"
	case o.Kind == cause.OriginStrategy && port:
		return "maxSurge: the old pod on the node uses the host port that the new one needs"
	case o.Kind == cause.OriginStrategy && p.Code == explain.OnDeleteOutdated:
		return "updateStrategy " + strategy(a.h) + ": the controller replaces a pod only after you have deleted it"
	}
	return ""
}

// revisionToBlame says whether a problem of containers comes from the new
// revision, by how many pods of it and of the others fail.
func (a *answer) revisionToBlame(p *explain.Problem) string {
	t := a.e.Tally()
	switch {
	case p.Code == cause.NoEligibleNode:
		return fmt.Sprintf("likely revision %d, which changed %s: with revision %s, %s would be eligible", p.Origin.Revision, fact(p.Facts, "fields"), fact(p.Facts, "before"), plural(number(p.Facts, "eligible"), "node"))
	case p.Origin.Kind == cause.OriginRevision:
		do := predicate{"pod", "fails", "fail"}
		if t.NewFailing == p.Count {
			do = predicates[p.Code]
		}
		on := "other revisions"
		if len(a.e.Revisions) == 2 {
			on = revisionName(&a.e.Revisions[1])
		}
		new := pluralOf(t.NewPods, "its only pod "+do.one, fmt.Sprintf("%d of its %d pods %s", t.NewPods, t.NewPods, do.many))
		return fmt.Sprintf("likely revision %d: %s, %s on %s", p.Origin.Revision, new, pluralOf(t.OldPods, "not the one", fmt.Sprintf("none of the %d", t.OldPods)), on)
	case !cause.OfContainer(p.Code):
		return ""
	case t.NewPods == 0:
		return fmt.Sprintf("unknown: %d of %s on the revision before fail", t.OldFailing, plural(t.OldPods, "pod"))
	case t.OldFailing > 0:
		return fmt.Sprintf("unknown: %d of %s on revision %d fail, and %d of %d on other revisions", t.NewFailing, plural(t.NewPods, "pod"), a.current(), t.OldFailing, t.OldPods)
	case t.NewFailing >= t.NewPods:
		return "unknown: " + pluralOf(t.NewPods, "the only pod fails", fmt.Sprintf("all %d pods fail", t.NewPods)) + ", and no other revision runs to compare with"
	}
	return fmt.Sprintf("unknown: revision %d works on %s and fails on %d", a.current(), plural(t.NewPods-t.NewFailing, "node"), t.NewFailing)
}

// nodesToBlame says since when nodes are down, and whether the rollout began
// before.
func (a *answer) nodesToBlame(p *explain.Problem) string {
	words := pluralOf(len(p.Nodes), "the node", "the nodes")
	began, clock := a.e.Rollout.Since, func(t time.Time) string { return t.UTC().Format(time.TimeOnly) + "Z" }
	switch {
	case p.Code == daemonset.NodeGone:
		return words + pluralOf(len(p.Nodes), " was deleted", " were deleted") + "; the pod garbage collector removes what is left"
	case p.Since == nil:
		return words + ": NotReady"
	case p.Origin.BeforeRollout == nil || !*p.Origin.BeforeRollout || began == nil:
		return words + ": NotReady for " + a.lasting(p)
	case ago(a.now.Sub(*p.Since)) == ago(a.now.Sub(*began)):
		return fmt.Sprintf("%s, not the rollout: NotReady since %s, the rollout started at %s", words, clock(*p.Since), clock(*began))
	}
	return fmt.Sprintf("%s, not the rollout: NotReady for %s, the rollout started %s ago", words, a.lasting(p), ago(a.now.Sub(*began)))
}

// fixes are commands or acts that change the cluster, and plans of them. Those of
// different problems stand side by side; a higher limit is another way.
func (a *answer) fixes() {
	about := map[daemonset.Reason]bool{}
	for _, f := range a.e.Fixes {
		about[f.Problem] = f.Problem != ""
	}
	delete(about, "")
	a.previews()
	for i := range a.e.Fixes {
		f, and := &a.e.Fixes[i], ""
		if f.Problem != "" && len(about) > 1 {
			and = string(f.Problem) + ": "
		}
		a.fix(f, and, map[bool]string{true: "or, "}[i > 0])
	}
	if p := a.e.Has(explain.ControllerSilent); p != nil {
		a.add(screen.Fix, "restart kube-controller-manager; where the control plane is managed, ask its provider to. It then acts by itself")
	}
}

// previews are plans of the fixes, which change nothing.
func (a *answer) previews() {
	var of []string
	var plans []screen.Command
	for i := range a.e.Fixes {
		var flag Flag
		switch f := &a.e.Fixes[i]; {
		case f.Code == explain.FixUndo:
			flag = Flag{Name: "to-revision", Value: strconv.FormatInt(f.Revision, 10)}
		case f.Code == explain.FixRaiseLimit:
			flag = Flag{Name: map[daemonset.BudgetKind]string{daemonset.BudgetSurge: "max-surge"}[a.e.Budget.Kind], Value: strconv.Itoa(f.Limit.Number)}
			flag.Name = cmp.Or(flag.Name, "max-unavailable")
		case f.Code == explain.FixDeletePods && a.e.Verdict.Code == explain.AwaitingDelete:
			flag = Flag{Name: "strategy", Value: "RollingUpdate"}
		default:
			continue
		}
		if c := a.again("plan-rollout", flag); len(c) > 0 {
			of, plans = append(of, string(flag.Word())), append(plans, c)
		}
	}
	for i, c := range plans {
		if len(plans) > 1 {
			a.s.Add(screen.Preview, screen.Text("of "+of[i]+":"), screen.Indent{c})
			continue
		}
		a.s.Add(screen.Preview, c)
	}
}

// act is what to do: words, or a command under them, with its side effects.
func (a *answer) act(l screen.Label, words string, c screen.Command, effects ...string) {
	blocks := []screen.Block{c, screen.Text(bracketed(effects...))}
	if words != "" && len(c) > 0 {
		blocks = []screen.Block{screen.Text(words), screen.Indent(blocks)}
	} else if words != "" {
		blocks[0] = screen.Text(words)
	}
	a.s.Add(l, blocks...)
}

// fix is one of them: and names the problem that it removes, and or joins what is
// another way.
func (a *answer) fix(f *explain.Fix, and, or string) {
	nodes := pluralOf(len(f.Nodes), "the node", "the nodes")
	switch f.Code {
	case explain.FixUndo:
		words := map[bool]string{true: fmt.Sprintf("if the logs show that revision %d is at fault:", a.current())}[f.Unsure]
		if and != "" {
			words = and + cmp.Or(words, "roll back:")
		}
		undo := a.kubectl("kubectl rollout undo", a.namespace(), "daemonset/"+a.name(), screen.Word("--to-revision="+strconv.FormatInt(f.Revision, 10)))
		a.act(screen.Fix, words, undo, append(a.undoes(f), a.undoneBy())...)
	case explain.FixRepairNodes:
		then := pluralOf(len(f.Nodes), "its pod then comes back by itself", "their pods then come back by themselves")
		switch i := a.e.Impact; {
		case slices.ContainsFunc(a.e.Fixes, func(f explain.Fix) bool { return f.Code == explain.FixUndo }):
		case a.e.Rollout.UnderWay:
			then = "the rollout then continues by itself"
		case i != nil && len(i.Without) == 0:
			then = pluralOf(len(f.Nodes), "it then counts again, and keeps its pod", "they then count again, and keep their pods")
		}
		a.act(screen.Fix, and+"repair "+nodes+"; "+then, nil)
		if a.e.Verdict.Code != explain.Healthy {
			a.act(screen.Fix, "or, for a node that is gone for good:", a.kubectl("kubectl delete node", screen.Placeholder("NODE")))
		}
	case explain.FixRaiseLimit:
		a.raise(f, or)
	case explain.FixRaiseQuota:
		words := fmt.Sprintf(`%sask the owner of ResourceQuota "%s" to raise it`, and, f.Name)
		if f.Needs == 0 {
			a.act(screen.Fix, words, nil)
			return
		}
		hard := screen.Quote(fmt.Sprintf(`{"spec":{"hard":{"pods":"%d"}}}`, f.Needs))
		a.act(screen.Fix, words+" to at least "+plural(f.Needs, "pod")+", or raise it:", a.kubectl("kubectl patch resourcequota", a.namespace(), screen.Quote(f.Name), "--type=merge", "-p", hard))
	case explain.FixMakeRoom:
		for _, of := range []struct {
			code  daemonset.Reason
			words string
		}{{cause.HostPortConflict, "move the pod that uses the host port off"}, {cause.InsufficientResources, "move other pods off"}} {
			var on []string
			for _, p := range a.e.Problems {
				if p.Code == of.code {
					on = append(on, p.Nodes...)
				}
			}
			if len(on) > 0 {
				a.s.Add(screen.Fix, screen.Names{Before: and + of.words, Names: on})
			}
		}
	case explain.FixNoSurge:
		a.act(screen.Fix, and+"use maxUnavailable in place of maxSurge:", a.patch(`{"maxSurge":0,"maxUnavailable":1}`), "a node then has no available pod while its pod is replaced", a.undoneBy())
	case explain.FixDeletePods:
		l, words, remove := screen.Fix, "", a.kubectl("kubectl delete pod", a.namespace(), screen.Quote(f.Pods[0]))
		if a.e.Verdict.Code == explain.AwaitingDelete {
			l, words = screen.Continue, pluralOf(len(f.Pods), "delete the pod", fmt.Sprintf("delete the %d pods one after the other", len(f.Pods)))+"; a node has no pod until the new one is available:"
		}
		a.act(l, words, remove)
	}
}

// undoneBy says who undoes a change by hand; empty where nobody is known to.
func (a *answer) undoneBy() string {
	if len(a.e.ManagedBy) == 0 {
		return ""
	}
	who, undone := managerWords(a.e.ManagedBy[0])
	return who + " writes the DaemonSet: " + undone
}

// undoes says what a rollback does with pods.
func (a *answer) undoes(f *explain.Fix) (effects []string) {
	i := cmp.Or(a.e.Impact, &explain.Impact{})
	surge := a.e.Budget.Kind == daemonset.BudgetSurge
	extra := 0 // new pods beside an old one, which stays
	if surge {
		extra = min(len(i.OldServes), f.Replaces)
	}
	replaced, of := f.Replaces-extra, fmt.Sprintf(" on revision %d", a.current())
	switch none := a.e.Has(cause.NoEligibleNode); {
	case none != nil && number(none.Facts, "eligible") > 0:
		effects = append(effects, pluralOf(number(none.Facts, "eligible"), "1 node is eligible again and runs the pod", fmt.Sprintf("%d nodes are eligible again and run the pod", number(none.Facts, "eligible"))))
	case f.Replaces == 0: // no pod is left, or none has the new revision yet
	case extra == 0:
		effects = append(effects, "replaces the "+pluralOf(replaced, "pod", fmt.Sprintf("%d pods", replaced))+of)
	case replaced == 0:
		effects = append(effects, "deletes the "+pluralOf(extra, "pod", fmt.Sprintf("%d pods", extra))+of+" beside the old "+pluralOf(extra, "one", "ones"))
	default:
		effects = append(effects, fmt.Sprintf("replaces %s%s and deletes the %d beside old ones", plural(replaced, "pod"), of, extra))
	}
	if surge && a.e.Impact != nil && len(i.Without) == 0 {
		effects = append(effects, "no node loses its available pod")
	}
	return effects
}

// patch changes fields of spec.updateStrategy.rollingUpdate.
func (a *answer) patch(rollingUpdate string) screen.Command {
	return a.kubectl("kubectl patch daemonset", a.namespace(), a.name(), "--type=merge", "-p", screen.Quote(`{"spec":{"updateStrategy":{"rollingUpdate":`+rollingUpdate+`}}}`))
}

// raise is a higher limit for as long as nodes are broken.
func (a *answer) raise(f *explain.Fix, or string) {
	field, before := "maxUnavailable", cmp.Or(a.e.Budget.Spec, "1")
	if a.e.Budget.Kind == daemonset.BudgetSurge {
		field = "maxSurge"
	}
	words, n := or+"to update the other pods now", len(f.Nodes)
	if n > 0 && f.Limit.Number > n {
		words += fmt.Sprintf(" (%d = %d unavailable + %d at a time)", f.Limit.Number, n, f.Limit.Number-n)
	}
	a.act(screen.Fix, words+":", a.patch(fmt.Sprintf(`{"%s":%d}`, field, f.Limit.Number)), a.undoneBy())
	value := before
	if _, err := strconv.Atoi(before); err != nil {
		value = strconv.Quote(before)
	}
	a.act(screen.Fix, "and afterwards back to "+before+":", a.patch(fmt.Sprintf(`{"%s":%s}`, field, value)))
}

// stays says that nothing changes without a fix, by verdict.
var stays = map[explain.VerdictCode]string{
	explain.AwaitingDelete: "stays at %d of %d until then", explain.Stuck: "without a fix: stays at %d of %d updated", explain.Degraded: "without a fix: stays at %d of %d available",
}

// outlook says what happens without a fix and after it, or what the controller
// does next.
func (a *answer) outlook() {
	e, matters := a.e, a.e.Matters()
	var next *cause.Batch
	if o := e.Outlook; o != nil {
		next = o.Next
		n := o.Updated
		if e.Verdict.Code == explain.Degraded {
			n = o.Available
		}
		switch {
		case o.Code == explain.Stays:
			a.add(screen.Outlook, stays[e.Verdict.Code], n, o.Desired)
		case o.Code == explain.Stalls:
			a.add(screen.Outlook, "without a fix: stops at %d of %d updated, %d available", o.Updated, o.Desired, o.Available)
		case e.Failing():
			a.add(screen.Outlook, "time left unknown: %s", a.why(2))
		case o.Duration != nil:
			a.add(screen.Outlook, "%scomplete in %s, if every new pod becomes available", map[bool]string{true: "nothing to do: "}[len(matters) == 0], rangeWords(o.Duration))
		}
	}
	for _, p := range matters {
		switch {
		case p.Code == explain.ControllerSilent:
			a.s.Add(screen.Outlook, screen.Names{Before: "until it acts: pods that run keep running, but none is created or replaced; at risk:", Names: append(slices.Clone(p.Nodes), "new nodes"), Short: true})
		case p.Code == explain.Misscheduled && p.Origin != nil:
			a.noRollout(len(p.Nodes))
		}
	}
	if e.Has(cause.FailedCreate) != nil {
		a.add(screen.Outlook, "after a fix: the missing pods are created within 17m (the controller's back-off)")
	}
	if e.Verdict.Code == explain.Progressing || e.Verdict.Code == explain.NotObserved {
		a.mayFail(matters)
		switch {
		case next != nil:
			a.batch(next)
		case e.Next.Kind == daemonset.StepNone && e.Next.Reason != daemonset.StepBudgetSpent: // which Limit says
			a.add(screen.Outlook, "%s", idle(e.Next.Reason, a.h))
		}
		a.sync(&e.Next, "next")
	}
	step := e.Next
	step.Revisions.Cut = false // said as the rollout's
	a.bookkeeping(step)
}

// noRollout warns of what a rollout does with pods on nodes that are not
// eligible.
func (a *answer) noRollout(pods int) {
	a.note(screen.Text("do not start a rollout before that: it would delete " + pluralOf(pods, "this pod", "these pods") + " and create none there"))
}

// mayFail says how a rollout continues whose new pods already fail, or may.
func (a *answer) mayFail(matters []*explain.Problem) {
	b := &a.e.Budget
	for _, p := range matters {
		switch {
		case p.Late():
			a.add(screen.Outlook, "a pod that is not Ready %s after its start counts as failing; a rollout that waits for such pods alone counts as stuck", ago(cause.Patience))
			return
		case cause.OfContainer(p.Code) && number(p.Facts, "newFailing") > 0 && a.e.Rollout.UnderWay && b.Free != nil && *b.Free > 0:
			until := fmt.Sprintf("%d are unavailable", b.MaxUnavailable)
			if b.Kind == daemonset.BudgetSurge {
				until = plural(b.MaxSurge, "extra pod") + pluralOf(b.MaxSurge, " exists", " exist")
			}
			a.add(screen.Outlook, "the next new pod may fail too: the controller continues, at most %s at a time, until %s", plural(*b.Free, "pod"), until)
			return
		}
	}
}

// batch says what the controller does at a time that is known.
func (a *answer) batch(n *cause.Batch) {
	words := ""
	if n.Deletes > 0 {
		words = "deletes " + plural(n.Deletes, "pod")
		if old := a.count("oldNodes"); old > n.Deletes {
			words = fmt.Sprintf("deletes %s, any of %d (it chooses at random)", plural(n.Deletes, "pod"), old)
		}
	} else if n.Creates > 0 {
		words = "creates " + plural(n.Creates, "pod")
	}
	if words != "" {
		a.add(screen.Outlook, "in %s the controller %s", ago(n.At.Sub(a.now)), words)
	}
}

// statusHeads are the columns of a status.
var statusHeads = []string{"DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "MISSCHEDULED"}

// numbers are those of a status in the order of its columns, each as ? where
// there is none.
func numbers(c *daemonset.Counts) []string {
	if c == nil {
		return []string{"?", "?", "?", "?", "?", "?"}
	}
	var out []string
	for _, n := range []int{c.Desired, c.Current, c.Ready, c.Updated, c.Available, c.Misscheduled} {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

// status is the numbers, as kubectl names them, and what each of them leaves
// out.
func (a *answer) status() {
	t := &screen.Table{Columns: columns(append([]string{""}, statusHeads...)...)}
	for i, drop := range []int{0, 0, 4, 2, 1, 0, 3} {
		t.Columns[i].Right, t.Columns[i].Drop = i > 0, drop
	}
	row := func(name string, c *daemonset.Counts) {
		t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(append([]string{name}, numbers(c)...)...)})
	}
	if agrees := a.e.Status.Agrees; agrees != nil && *agrees {
		row("", a.e.Status.Computed)
		t.Columns, t.Rows[0].Cells = t.Columns[1:], t.Rows[0].Cells[1:]
	} else {
		row("reported", a.e.Status.Reported)
		row("computed", a.e.Status.Computed)
	}
	a.s.Add(screen.Status, t)
	if d := a.e.Status.Differences; len(d) > 0 {
		a.s.Add(screen.Status, screen.Text(map[daemonset.Reason]string{
			explain.Moving:     "the reported numbers are behind: something changed less than 30s ago",
			daemonset.NodeGone: "the reported numbers still count a deleted node, until something else changes",
		}[d[0].Reason]))
	}
	a.desired()
	a.sums()
}

// sums says for each number that is not simply all nodes what it leaves out.
func (a *answer) sums() {
	c := a.e.Status.Computed
	for _, s := range a.e.Sums() {
		if c == nil {
			break
		}
		words := screen.Words{fmt.Sprintf("%s %d = %d", strings.Join(s.Columns, ", "), s.Counted, c.Desired)}
		for _, l := range s.Less {
			name := string(l.Reason)
			switch {
			case l.Revision != nil:
				name = "on " + revisionName(l.Revision)
			case l.Reason == explain.OutOfDate:
				name = "on another revision"
			case l.Reason == cause.NoPod:
				name = "no pod"
			}
			words = append(words, fmt.Sprintf("- %d (%s)", l.Count, name))
		}
		a.s.Add(screen.Status, words)
	}
	if n := a.count("stillCounted"); n > 0 && c != nil {
		a.add(screen.Status, "AVAILABLE %d counts %s", c.Available, pluralVerb(n, "node whose pod is terminating", "nodes whose pods are terminating"))
	}
	if i := a.e.Impact; i != nil && len(i.Uncounted) > 0 && len(i.Uncounted) <= 3 { // Impact has them
		a.s.Add(screen.Status, screen.Names{Before: fmt.Sprintf("MISSCHEDULED %d =", len(i.Uncounted)), Names: i.Uncounted, Short: true})
	}
}

// desired is the arithmetic of DESIRED, with the rule that excludes a node.
func (a *answer) desired() {
	all, excluded := 0, 0
	for _, g := range a.e.Groups("DESIRED", true) {
		all += g.Count
	}
	t := &screen.Table{Columns: []screen.Column{{Wrap: true, Short: true}, {Wrap: true}}}
	for _, g := range a.e.Groups("DESIRED", false) {
		excluded += g.Count
		t.Rows = append(t.Rows, screen.Row{Cells: []screen.Cell{{Names: g.Nodes}, {Lines: []string{placement(g.Reason, g.Facts)}}}})
	}
	const most = 4
	if more := len(t.Rows) - most; more > 1 && !a.style.All {
		t.Rows = append(t.Rows[:most], screen.Row{Cells: screen.Cells(plural(more, "more reason") + " with --all")})
	}
	switch {
	case excluded > 0:
		a.add(screen.Status, "DESIRED %d = %s - %d not eligible:", all, plural(all+excluded, "node"), excluded)
		a.s.Add(screen.Status, screen.Indent{t})
	case all > 0:
		a.add(screen.Status, "DESIRED %d = %s", all, pluralOf(all, "the only node", allOf(all)+"nodes"))
	}
}

// wide is what -o wide adds: the rules used, what is assumed, and every node.
func (a *answer) wide() {
	if !a.style.Wide {
		return
	}
	e := a.e
	a.add(screen.Assumed, "rules of Kubernetes %s (%s), read at %s", e.Controller.KubernetesVersion, sourceWords[e.Controller.Source], e.Snapshot.TakenAt.Format(time.RFC3339))
	for _, as := range e.Assumptions {
		a.add(screen.Assumed, "%s", assumption(as, e.Assumptions, ""))
	}
	t := &screen.Table{Flush: true, Columns: columns("NODE", "SHOULD RUN", "SLOT", "POD", "PHASE", "REVISION", "READY", "AVAILABLE", "PROBLEM")}
	for i := range e.Nodes {
		n, should := &e.Nodes[i], "?"
		if n.ShouldRun != nil {
			should = string(n.ShouldRun.Reason)
		}
		row := func(pod ...string) {
			cells := slices.Concat([]string{n.Name, should, string(n.Slot)}, pod, []string{problemCode(n)})
			t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(cells...)})
		}
		for _, p := range n.Pods {
			row(p.Name, phase(p), revisionOf(e, p), yesNo(p.Ready), yesNo(p.Available))
		}
		if len(n.Pods) == 0 {
			row("-", "-", "-", "-", "-")
		}
	}
	a.s.Add(screen.Body, t)
}

// phase is that of a pod, or that it is terminating.
func phase(p explain.Pod) string {
	if p.Terminating {
		return "Terminating"
	}
	return p.Phase
}
