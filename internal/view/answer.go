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
	a.checks(a.matters())
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
	v := verdicts[a.e.Verdict.Code]
	n := len(a.matters())
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
	desired, updated, available := a.count("desired"), a.count("updated"), a.count("available")
	join := func(parts ...string) string {
		return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
	}
	pods := plural(desired, "pod")
	switch code := a.e.Verdict.Code; code {
	case explain.BeingDeleted:
		return "the controller no longer manages its pods"
	case explain.Unknown:
		if a.e.Next.Reason == daemonset.StepSelectsAll {
			return "its selector is empty, so the controller ignores it"
		}
		return unread(a.h) + " could not be read"
	case explain.NotObserved:
		return join(fmt.Sprintf("the controller has not observed generation %d yet; its numbers are of generation %d", a.h.DaemonSet.Generation, a.h.DaemonSet.ObservedGeneration), a.nowhere())
	case explain.AwaitingDelete:
		return join(fmt.Sprintf("%d of %s updated; the other %s (%s)", desired-a.count("oldNodes"), pods, pluralVerb(a.count("oldNodes"), "waits to be deleted", "wait to be deleted"), strategy(a.h)), a.nowhere())
	case explain.Stuck, explain.Progressing:
		if a.e.Rollout.UnderWay && desired > 0 {
			return join(fmt.Sprintf("%d of %s updated", updated, pods), a.left(), a.why())
		}
	case explain.Healthy:
		switch {
		case desired > updated: // the status counts a node by its oldest pod
			return join(fmt.Sprintf("%d of %s available", available, pods), fmt.Sprintf("old pods still terminate on %s", plural(desired-updated, "node")), a.why())
		case desired > 0:
			return join(fmt.Sprintf("%d of %s available and updated", available, pods), a.why())
		}
	}
	if desired == 0 {
		if len(a.e.Columns) > 0 && a.why() == "" {
			return "DESIRED is 0: the cluster has no node"
		}
		return join("DESIRED is 0", a.why())
	}
	return join(fmt.Sprintf("%d of %s available", available, pods), a.why())
}

// left is how long a rollout takes that goes on by itself, or where it stops;
// empty where that is not known.
func (a *answer) left() string {
	switch o := a.e.Outlook; {
	case o == nil:
	case o.Code == explain.Stalls:
		return fmt.Sprintf("it will stop at %d of %d", o.Updated, o.Desired)
	case o.Code == explain.Completes && o.Duration != nil && !a.failing():
		return rangeWords(o.Duration) + " left"
	}
	return ""
}

// failing reports whether something is wrong that does not pass by itself.
func (a *answer) failing() bool {
	m := a.matters()
	return len(m) > 0 && m[0].Severity == cause.Error
}

// why names what is wrong, the worst first; empty where nothing is.
func (a *answer) why() string {
	words := why(a.matters(), a.clause)
	if none := a.nowhere(); none != "" && words != "" {
		return words + ", " + none
	}
	return cmp.Or(words, a.nowhere())
}

// nowhere says that no node is eligible, and what becomes of the pods; empty
// where one is.
func (a *answer) nowhere() string {
	i := slices.IndexFunc(a.e.Problems, func(p explain.Problem) bool { return p.Code == cause.NoEligibleNode })
	if i < 0 {
		return ""
	}
	return fill(a.now, a.e.Problems[i].Facts, "no node is eligible"+noneThen)
}

// matters are the problems that the headline is about: the errors and pods that
// are late, or where there are none those that warn.
func (a *answer) matters() []*explain.Problem {
	var errors, others []*explain.Problem
	for i := range a.e.Problems {
		switch p := &a.e.Problems[i]; {
		case p.Severity == cause.Error, yes(p.Facts, "late"):
			errors = append(errors, p)
		case p.Severity == cause.Warning, p.Code == explain.Misscheduled && p.Origin != nil:
			others = append(others, p)
		}
	}
	if len(errors) > 0 {
		return errors
	}
	return others
}

// clause is a problem on some nodes in few words.
func (a *answer) clause(p *explain.Problem, nodes []string) string {
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
		return fmt.Sprintf("%s rejects %s", cmp.Or(by, "the API server"), plural(len(a.lacking()), "pod"))
	case cause.NextRolloutStalls:
		return "the next rollout would stall"
	case explain.StaleStatus:
		return "the reported status is stale"
	case explain.Misscheduled:
		if len(p.Nodes) <= 2 {
			return strings.Join(p.Nodes, " and ") + pluralOf(len(p.Nodes), " is NotReady and not counted", " are NotReady and not counted")
		}
		return fmt.Sprintf("%d NotReady nodes are not counted", len(p.Nodes))
	}
	words, known := predicates[p.Code]
	switch {
	case !known:
		return ""
	case p.Origin != nil && p.Origin.Kind == cause.OriginRevision && len(nodes) == a.count("newPods") && len(nodes) > 1:
		return allOf(len(nodes), "new pods ") + words.many
	}
	return words.of(nodes, len(p.Pods))
}

// allOf is "both of its pods" or "all 3 of its pods".
func allOf(n int, words string) string {
	if n == 2 {
		return "both " + words
	}
	return fmt.Sprintf("all %d %s", n, words)
}

// lacking are the nodes that should run the pod and have none.
func (a *answer) lacking() (nodes []string) {
	for _, c := range a.e.Columns {
		for _, g := range c.Groups {
			if c.Name == "CURRENT" && !g.Counted {
				nodes = append(nodes, g.Nodes...)
			}
		}
	}
	return nodes
}

func (a *answer) impact() {
	i := a.e.Impact
	if what := unread(a.h); i == nil && what != "" {
		a.add(screen.Impact, "unknown: %s could not be read", what)
	}
	if i == nil || len(a.e.Columns) == 0 {
		return
	}
	if len(i.Without)+i.Served == 0 {
		if n := len(i.Uncounted); n == 0 && a.nowhere() != "" {
			a.add(screen.Impact, "no node runs the pod")
		}
		return
	}
	all := len(i.Without) + i.Served
	switch {
	case len(i.Without) > 0 && a.allReady():
		a.s.Add(screen.Impact, screen.Names{Before: "none: " + allHave(all) + " a Ready pod; not counted as available yet:", Names: i.Without})
	case len(i.Without) > 0:
		words := plural(len(i.Without), "node")
		if len(i.Without) < all {
			words = fmt.Sprintf("%d of %s", len(i.Without), plural(all, "node"))
		} else if all > 1 {
			words = "all " + words
		}
		after := ""
		if i.Served > 0 && a.e.Rollout.UnderWay {
			after = "; " + pluralOf(i.Served, "the other one has", fmt.Sprintf("the other %d have", i.Served)) + " an available pod" + a.servedBy()
		}
		a.s.Add(screen.Impact, screen.Names{Before: words + pluralOf(len(i.Without), " has", " have") + " no available pod:", Names: i.Without, After: after})
	case len(i.OldServes) > 0:
		a.s.Add(screen.Impact, screen.Names{Before: "none yet: the old pod still runs beside the new one on", Names: i.OldServes, After: fmt.Sprintf(", so all %s have an available pod", plural(all, "node"))})
	case a.e.Verdict.Code == explain.AwaitingDelete:
		a.add(screen.Impact, "none, not urgent: %s an available pod", allHave(all))
	case a.e.Verdict.Code != explain.Healthy:
		a.add(screen.Impact, "none: %s an available pod", allHave(all))
	}
	if n := len(i.Uncounted); n > 0 {
		a.s.Add(screen.Impact, screen.Names{Before: fmt.Sprintf("DESIRED and READY do not count the %s on", pluralOf(n, "pod", strconv.Itoa(n)+" pods")), Names: i.Uncounted, After: ", so no alert on these numbers fires", Short: true})
	}
}

// allReady reports whether the nodes without an available pod have one that is
// Ready, and only minReadySeconds is not over.
func (a *answer) allReady() bool {
	for _, p := range a.e.Problems {
		if p.Code == daemonset.NotYetAvailable {
			return len(p.Nodes) == len(a.e.Impact.Without)
		}
	}
	return false
}

// allHave is "all 12 nodes have".
func allHave(n int) string {
	return pluralOf(n, "the only node has", fmt.Sprintf("all %d nodes have", n))
}

// servedBy is the old revision of all available pods; empty where they are of
// several, or of the new one.
func (a *answer) servedBy() string {
	without, on := map[string]bool{}, ""
	for _, n := range a.e.Impact.Without {
		without[n] = true
	}
	for _, r := range a.e.Revisions {
		if !slices.ContainsFunc(r.Nodes, func(n string) bool { return !without[n] }) {
			continue
		}
		if r.Current || on != "" {
			return ""
		}
		on = " of " + revisionName(r)
	}
	return on
}

// rollout says since when, and how many pods are on which revision.
func (a *answer) rollout() {
	var parts []string
	for _, r := range a.e.Revisions {
		n := r.Pods + r.Terminating
		if n == 0 && (!r.Current || len(parts) > 0) {
			continue
		}
		words := fmt.Sprintf("%s on %s", plural(n, "pod"), revisionName(r))
		if len(parts) > 0 {
			words = fmt.Sprintf("%d on %s", n, revisionName(r))
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
		parts = append(parts, words+inBrackets(strings.Join(notes, ", ")))
	}
	pods := strings.Join(parts, ", ")
	switch r := a.e.Rollout; {
	case a.e.Verdict.Code == explain.BeingDeleted, gapped(a.h, snapshot.Pods):
		return
	case !r.UnderWay && a.e.Verdict.Code != explain.Unknown:
		a.add(screen.Rollout, "none in progress")
		if slices.ContainsFunc(a.e.Revisions, func(r explain.Revision) bool { return !r.Current && len(r.Nodes) > 0 }) {
			a.add(screen.Rollout, "%s", pods)
		}
	case r.Since == nil || a.e.Verdict.Code == explain.Unknown:
		a.add(screen.Rollout, "%s", pods)
	case a.e.Verdict.Code == explain.AwaitingDelete:
		a.add(screen.Rollout, "revision %d is %s old: %s", a.current(), ago(a.now.Sub(*r.Since)), pods)
	default:
		a.add(screen.Rollout, "started %s ago: %s", ago(a.now.Sub(*r.Since)), pods)
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

func (a *answer) current() int64 {
	for _, r := range a.e.Revisions {
		if r.Current {
			return r.Number
		}
	}
	return 0
}

func revisionName(r explain.Revision) string {
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
	words, limit := limitWords(b.Kind, b.Spec, b.Scaled, b.Of, b.MaxUnavailable), b.MaxUnavailable
	used, stop := pluralVerb(*b.Used, "is unavailable", "are unavailable"), ", so the controller replaces no further pod"
	if b.Kind == daemonset.BudgetSurge {
		words, limit = limitWords(b.Kind, b.Spec, b.Scaled, b.Of, b.MaxSurge), b.MaxSurge
		used, stop = pluralVerb(*b.Used, "extra pod exists", "extra pods exist"), ", so the controller starts no further pod"
	}
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
	switch m := a.matters(); {
	case len(m) == 0:
		head = "STATE"
	case m[0].Severity != cause.Error && !yes(m[0].Facts, "late") && m[0].Code != cause.NoEligibleNode:
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
	t := &screen.Table{Columns: []screen.Column{{Head: "OLD POD"}, {Head: "NODE"}, {Head: "REVISION"}}}
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
	some := strings.Join(p.Nodes[:min(3, len(p.Nodes))], ", ")
	if more := len(p.Nodes) - 3; more > 0 {
		some += fmt.Sprintf(" +%d more", more)
	}
	switch o.Kind {
	case cause.OriginRevision, cause.OriginUnknown:
		return a.revisionToBlame(p)
	case cause.OriginNodes:
		return a.nodesToBlame(p)
	case cause.OriginQuota:
		return fmt.Sprintf(`ResourceQuota "%s" in namespace %s: no room for %s`, o.Name, a.h.DaemonSet.Namespace, plural(len(a.lacking()), "more pod"))
	case cause.OriginPolicy:
		return fmt.Sprintf("Pod Security of namespace %s: the pod violates %s", a.h.DaemonSet.Namespace, o.Name)
	case cause.OriginWebhook:
		return "admission webhook " + o.Name
	case cause.OriginAPIServer:
		return "the API server: see its message"
	case cause.OriginScheduling:
		if p.Code == cause.HostPortConflict {
			return some + ": another pod there uses the host port"
		}
		if r := fact(p.Facts, "resources"); r != "" {
			return some + ": too little " + r + " is free for the pod"
		}
	case cause.OriginController:
		return "likely kube-controller-manager: it is down, or cannot reach the API server"
	case cause.OriginStrategy:
		switch p.Code {
		case cause.HostPortConflict:
			return "maxSurge: the old pod on the node uses the host port that the new one needs"
		case explain.OnDeleteOutdated:
			return "updateStrategy " + strategy(a.h) + ": the controller replaces a pod only after you have deleted it"
		}
	}
	return ""
}

// revisionToBlame says whether a problem of containers comes from the new
// revision, by how many pods of it and of the others fail.
func (a *answer) revisionToBlame(p *explain.Problem) string {
	newPods, oldPods, newFailing, oldFailing := a.count("newPods"), a.count("oldPods"), 0, 0
	for _, other := range a.matters() {
		newFailing, oldFailing = newFailing+number(other.Facts, "newFailing"), oldFailing+number(other.Facts, "oldFailing")
	}
	switch {
	case p.Code == cause.NoEligibleNode:
		return fmt.Sprintf("likely revision %d, which changed %s: with revision %s, %s would be eligible", p.Origin.Revision, fact(p.Facts, "fields"), fact(p.Facts, "before"), plural(number(p.Facts, "eligible"), "node"))
	case p.Origin.Kind == cause.OriginRevision:
		do := predicate{"pod", "fails", "fail"}
		if newFailing == p.Count {
			do = predicates[p.Code]
		}
		on := "other revisions"
		if len(a.e.Revisions) == 2 {
			on = revisionName(a.e.Revisions[1])
		}
		return fmt.Sprintf("likely revision %d: %s, %s on %s", p.Origin.Revision, pluralOf(newPods, "its only pod "+do.one, allOf(newPods, "of its pods ")+do.many), pluralOf(oldPods, "not the one", fmt.Sprintf("none of the %d", oldPods)), on)
	case !cause.OfContainer(p.Code):
		return ""
	case newPods == 0:
		return fmt.Sprintf("unknown: %d of %s on the revision before fail", oldFailing, plural(oldPods, "pod"))
	case oldFailing > 0:
		return fmt.Sprintf("unknown: %d of %s on revision %d fail, and %d of %d on other revisions", newFailing, plural(newPods, "pod"), a.current(), oldFailing, oldPods)
	case newFailing >= newPods:
		return "unknown: " + pluralOf(newPods, "the only pod fails", fmt.Sprintf("all %d pods fail", newPods)) + ", and no other revision runs to compare with"
	}
	return fmt.Sprintf("unknown: revision %d works on %s and fails on %d", a.current(), plural(newPods-newFailing, "node"), newFailing)
}

// nodesToBlame says since when nodes are down, and whether the rollout began
// before.
func (a *answer) nodesToBlame(p *explain.Problem) string {
	words := pluralOf(len(p.Nodes), "the node", "the nodes")
	began := a.e.Rollout.Since
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

// clock is a time of day.
func clock(t time.Time) string { return t.UTC().Format(time.TimeOnly) + "Z" }

// fixes are commands or acts that change the cluster, and plans of them. Those of
// different problems stand side by side; a higher limit is another way.
func (a *answer) fixes() {
	preview := func(of string, flag Flag) {
		if c := a.again("plan-rollout", flag); len(c) > 0 {
			a.s.Add(screen.Preview, screen.Text("of "+of+":"), screen.Indent{c})
		}
	}
	of := map[string]bool{}
	for _, f := range a.e.Fixes {
		of[a.helps(f)] = true
	}
	delete(of, "")
	for _, f := range a.e.Fixes {
		and := ""
		if code := a.helps(f); code != "" && len(of) > 1 {
			and = code + ": "
		}
		switch f.Code {
		case explain.FixUndo:
			preview("the rollback", Flag{Name: "to-revision", Value: strconv.FormatInt(f.Revision, 10)})
			a.undo(f, and)
		case explain.FixRepairNodes:
			a.repair(f, and)
		case explain.FixRaiseLimit:
			a.raise(f, preview)
		case explain.FixRaiseQuota:
			if f.Needs == 0 {
				a.add(screen.Fix, `%sask the owner of ResourceQuota "%s" to raise it`, and, f.Name)
				continue
			}
			a.add(screen.Fix, `%sask the owner of ResourceQuota "%s" to raise it to at least %s, or raise it:`, and, f.Name, plural(f.Needs, "pod"))
			a.s.Add(screen.Fix, screen.Indent{a.kubectl("kubectl patch resourcequota", a.namespace(), screen.Quote(f.Name), "--type=merge", "-p", screen.Quote(fmt.Sprintf(`{"spec":{"hard":{"pods":"%d"}}}`, f.Needs)))})
		case explain.FixMakeRoom:
			a.makeRoom(f, and)
		case explain.FixNoSurge:
			a.add(screen.Fix, "%suse maxUnavailable in place of maxSurge:", and)
			a.s.Add(screen.Fix, screen.Indent{a.patch(`{"maxSurge":0,"maxUnavailable":1}`), screen.Text(bracketed("a node then has no available pod while its pod is replaced", a.undoneBy()))})
		case explain.FixDeletePods:
			remove := a.kubectl("kubectl delete pod", a.namespace(), screen.Quote(f.Pods[0]))
			if a.e.Verdict.Code != explain.AwaitingDelete {
				a.s.Add(screen.Fix, remove)
				continue
			}
			preview("a rolling update in place of the deletions", Flag{Name: "strategy", Value: "RollingUpdate"})
			a.add(screen.Continue, "delete the %s one after the other; a node has no pod until the new one is available:", plural(len(f.Pods), "pod"))
			a.s.Add(screen.Continue, screen.Indent{remove})
		}
	}
}

// helps is the code of the problem that a fix is about; empty for one that is
// another way.
func (a *answer) helps(f explain.Fix) string {
	kind := map[explain.FixCode]cause.OriginKind{explain.FixRepairNodes: cause.OriginNodes, explain.FixRaiseQuota: cause.OriginQuota, explain.FixMakeRoom: cause.OriginScheduling, explain.FixNoSurge: cause.OriginStrategy}[f.Code]
	for _, p := range a.matters() {
		if p.Origin != nil && (p.Origin.Kind == kind || f.Code == explain.FixUndo && cause.OfContainer(p.Code)) {
			return string(p.Code)
		}
	}
	return ""
}

// undoneBy says who undoes a change by hand; empty where nobody is known to.
func (a *answer) undoneBy() string {
	if len(a.e.ManagedBy) == 0 {
		return ""
	}
	who, undone := managerWords(a.e.ManagedBy[0])
	return who + " writes the DaemonSet: " + undone
}

func (a *answer) undo(f explain.Fix, and string) {
	replaces := ""
	if f.Replaces > 0 { // else no pod is left, or none has the new revision yet
		replaces = fmt.Sprintf("replaces the %s on revision %d", plural(f.Replaces, "pod"), a.current())
	}
	undo := screen.Indent{a.kubectl("kubectl rollout undo", a.namespace(), "daemonset/"+a.name(), screen.Word("--to-revision="+strconv.FormatInt(f.Revision, 10))), screen.Text(bracketed(replaces, a.undoneBy()))}
	if f.Unsure {
		a.add(screen.Fix, "%sif the logs show that revision %d is at fault:", and, a.current())
		a.s.Add(screen.Fix, undo)
		return
	}
	if and != "" {
		a.add(screen.Fix, "%sroll back:", and)
		a.s.Add(screen.Fix, undo)
		return
	}
	a.s.Add(screen.Fix, undo...)
}

// makeRoom is what is done where the pod does not fit.
func (a *answer) makeRoom(f explain.Fix, and string) {
	var ports, others []string
	for _, p := range a.e.Problems {
		switch p.Code {
		case cause.HostPortConflict:
			ports = append(ports, p.Nodes...)
		case cause.InsufficientResources:
			others = append(others, p.Nodes...)
		}
	}
	a.s.Add(screen.Fix, nodesWords(and+"move the pod that uses the host port off", ports))
	a.s.Add(screen.Fix, nodesWords(and+"move other pods off", others))
}

// nodesWords is words about some nodes; nothing about none.
func nodesWords(words string, nodes []string) screen.Block {
	if len(nodes) == 0 {
		return nil
	}
	return screen.Names{Before: words, Names: nodes}
}

// repair is what is done with nodes that are down.
func (a *answer) repair(f explain.Fix, and string) {
	then := "the pods then come back by themselves"
	switch {
	case slices.ContainsFunc(a.e.Fixes, func(f explain.Fix) bool { return f.Code == explain.FixUndo }):
	case a.e.Rollout.UnderWay:
		then = "the rollout then continues by itself"
	case a.e.Impact != nil && len(a.e.Impact.Without) == 0:
		then = pluralOf(len(f.Nodes), "it then counts again, and keeps its pod", "they then count again, and keep their pods")
	}
	a.add(screen.Fix, "%srepair %s; %s", and, pluralOf(len(f.Nodes), "the node", "the nodes"), then)
	if a.e.Verdict.Code != explain.Healthy {
		a.s.Add(screen.Fix, screen.Text("or, for a node that is gone for good:"), screen.Indent{a.kubectl("kubectl delete node", screen.Placeholder("NODE"))})
	}
}

// patch changes fields of spec.updateStrategy.rollingUpdate.
func (a *answer) patch(rollingUpdate string) screen.Command {
	return a.kubectl("kubectl patch daemonset", a.namespace(), a.name(), "--type=merge", "-p", screen.Quote(`{"spec":{"updateStrategy":{"rollingUpdate":`+rollingUpdate+`}}}`))
}

// raise is a higher limit for as long as nodes are broken.
func (a *answer) raise(f explain.Fix, preview func(of string, flag Flag)) {
	b := &a.e.Budget
	field, flag := "maxUnavailable", "max-unavailable"
	if b.Kind == daemonset.BudgetSurge {
		field, flag = "maxSurge", "max-surge"
	}
	value := strconv.Itoa(f.Limit.Number)
	preview(field+" "+value, Flag{Name: flag, Value: value})
	words := "or, to update the other pods now:"
	if n := len(f.Nodes); n > 0 && f.Limit.Number > n {
		words = fmt.Sprintf("or, to update the other pods now (%d = %d unavailable + %d at a time):", f.Limit.Number, n, f.Limit.Number-n)
	}
	before := cmp.Or(b.Spec, "1")
	if _, err := strconv.Atoi(before); err != nil {
		before = strconv.Quote(before)
	}
	a.s.Add(screen.Fix, screen.Text(words), screen.Indent{a.patch(fmt.Sprintf(`{"%s":%s}`, field, value))})
	a.add(screen.Fix, "and afterwards back to %s:", cmp.Or(b.Spec, "1"))
	a.s.Add(screen.Fix, screen.Indent{a.patch(fmt.Sprintf(`{"%s":%s}`, field, before))})
}

// outlook says what happens without a fix and after it, or what the controller
// does next.
func (a *answer) outlook() {
	if o := a.e.Outlook; o != nil {
		switch {
		case o.Code == explain.Stays && a.e.Verdict.Code == explain.AwaitingDelete:
			a.add(screen.Outlook, "stays at %d of %d until then", o.Updated, o.Desired)
		case o.Code == explain.Stays && a.e.Verdict.Code == explain.Stuck:
			a.add(screen.Outlook, "without a fix: stays at %d of %d updated", o.Updated, o.Desired)
		case o.Code == explain.Stays:
			a.add(screen.Outlook, "without a fix: stays at %d of %d available", o.Available, o.Desired)
		case o.Code == explain.Stalls:
			a.add(screen.Outlook, "without a fix: stops at %d of %d updated, %d available", o.Updated, o.Desired, o.Available)
		case a.failing():
			a.add(screen.Outlook, "time left unknown: %s", a.why())
		case o.Duration != nil:
			words := "complete in %s, if every new pod becomes available"
			if len(a.matters()) == 0 {
				words = "nothing to do: " + words
			}
			a.add(screen.Outlook, words, rangeWords(o.Duration))
		}
	}
	for _, p := range a.matters() {
		switch {
		case p.Code == explain.ControllerSilent:
			a.add(screen.Fix, "restart kube-controller-manager, or ask the provider of the control plane to; it then acts by itself")
		case p.Code == explain.Misscheduled && p.Origin != nil:
			a.note(screen.Text("do not start a rollout before the repair: it would delete " + pluralOf(len(p.Nodes), "this pod", "these pods") + " and create none there"))
		}
	}
	if slices.ContainsFunc(a.e.Problems, func(p explain.Problem) bool { return p.Code == cause.FailedCreate }) {
		a.add(screen.Outlook, "after a fix: the missing pods are created within 17m (the controller's back-off)")
	}
	if a.e.Verdict.Code == explain.Progressing || a.e.Verdict.Code == explain.NotObserved {
		if a.e.Next.Kind == daemonset.StepNone {
			a.add(screen.Outlook, "%s", idle(a.e.Next.Reason, a.h))
		}
		a.sync(&a.e.Next, "next")
	}
	next := a.e.Next
	next.Revisions.Cut = false // said as the rollout's
	a.bookkeeping(next)
}

// status is the numbers, as kubectl names them, and what each of them leaves
// out.
func (a *answer) status() {
	t := &screen.Table{Columns: []screen.Column{{Head: ""}}}
	for _, c := range []screen.Column{{Head: "DESIRED"}, {Head: "CURRENT", Drop: 4}, {Head: "READY", Drop: 2}, {Head: "UP-TO-DATE", Drop: 1}, {Head: "AVAILABLE"}, {Head: "MISSCHEDULED", Drop: 3}} {
		c.Right = true
		t.Columns = append(t.Columns, c)
	}
	row := func(name string, c *daemonset.Counts) {
		cells := []string{name, "?", "?", "?", "?", "?", "?"}
		if c != nil {
			for i, n := range []int{c.Desired, c.Current, c.Ready, c.Updated, c.Available, c.Misscheduled} {
				cells[i+1] = strconv.Itoa(n)
			}
		}
		t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(cells...)})
	}
	r, c := a.e.Status.Reported, a.e.Status.Computed
	switch agrees := a.e.Status.Agrees; {
	case agrees != nil && *agrees:
		row("", c)
		t.Columns, t.Rows[0].Cells = t.Columns[1:], t.Rows[0].Cells[1:]
	default:
		row("reported", r)
		row("computed", c)
	}
	a.s.Add(screen.Status, t)
	if len(a.e.Status.Differences) > 0 {
		switch a.e.Status.Differences[0].Reason {
		case explain.Moving:
			a.add(screen.Status, "the reported numbers are behind: something changed less than 30s ago")
		case daemonset.NodeGone:
			a.add(screen.Status, "the reported numbers still count a deleted node, until something else changes")
		}
	}
	a.sums()
}

// sums says for each number that is not simply all nodes what it leaves out.
// Numbers that leave out the same stand in one line.
func (a *answer) sums() {
	var names, sums [][]string
	for _, c := range a.e.Columns {
		switch c.Name {
		case "DESIRED":
			a.desired(c)
			continue
		case "MISSCHEDULED":
			continue
		}
		counted, less := a.without(c)
		if len(less) == 0 || a.e.Status.Computed == nil {
			continue
		}
		sum := append([]string{fmt.Sprintf("%d = %d", counted, a.e.Status.Computed.Desired)}, less...)
		if i := slices.IndexFunc(sums, func(s []string) bool { return slices.Equal(s, sum) }); i >= 0 {
			names[i] = append(names[i], c.Name)
			continue
		}
		names, sums = append(names, []string{c.Name}), append(sums, sum)
	}
	for i := range sums {
		a.s.Add(screen.Status, append(screen.Words{strings.Join(names[i], ", ")}, sums[i]...))
	}
	if n := a.count("stillCounted"); n > 0 && a.e.Status.Computed != nil {
		a.add(screen.Status, "AVAILABLE %d counts %s", a.e.Status.Computed.Available, pluralVerb(n, "node whose pod is terminating", "nodes whose pods are terminating"))
	}
	if i := a.e.Impact; i != nil && len(i.Uncounted) > 0 {
		a.s.Add(screen.Status, screen.Names{Before: fmt.Sprintf("MISSCHEDULED %d =", len(i.Uncounted)), Names: i.Uncounted, Short: true})
	}
}

// without is what a number leaves out, by reason.
func (a *answer) without(c explain.Column) (counted int, less []string) {
	count := map[string]int{}
	var order []string
	refused := slices.ContainsFunc(a.e.Problems, func(p explain.Problem) bool { return p.Code == cause.FailedCreate })
	for _, g := range c.Groups {
		if g.Counted {
			counted += g.Count
			continue
		}
		name := string(g.Reason)
		switch {
		case g.Reason == explain.OutOfDate:
			name = "on another revision"
			for _, r := range a.e.Revisions {
				if r.Name == fact(g.Facts, "revision") && r.Name != "" {
					name = "on " + revisionName(r)
				}
			}
		case g.Reason == cause.NoPod && refused:
			name = string(cause.FailedCreate)
		case g.Reason == cause.NoPod:
			name = "no pod"
		}
		if count[name] == 0 {
			order = append(order, name)
		}
		count[name] += g.Count
	}
	for _, name := range order {
		less = append(less, fmt.Sprintf("- %d (%s)", count[name], name))
	}
	return counted, less
}

// desired is the arithmetic of DESIRED, with the rule that excludes a node.
func (a *answer) desired(c explain.Column) {
	all, excluded := 0, 0
	t := &screen.Table{Columns: []screen.Column{{Wrap: true, Short: true}, {Wrap: true}}}
	for _, g := range c.Groups {
		if all += g.Count; g.Counted {
			continue
		}
		excluded += g.Count
		t.Rows = append(t.Rows, screen.Row{Cells: []screen.Cell{{Names: g.Nodes}, {Lines: []string{placement(g.Reason, g.Facts)}}}})
	}
	const most = 4
	if more := len(t.Rows) - most; more > 1 && !a.style.All {
		t.Rows = append(t.Rows[:most], screen.Row{Cells: screen.Cells(plural(more, "more reason") + " with --all")})
	}
	switch {
	case excluded > 0:
		a.add(screen.Status, "DESIRED %d = %s - %d not eligible:", all-excluded, plural(all, "node"), excluded)
		a.s.Add(screen.Status, screen.Indent{t})
	case all > 0:
		a.add(screen.Status, "DESIRED %d = %s", all, pluralOf(all, "the only node", fmt.Sprintf("all %d nodes", all)))
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
		a.add(screen.Assumed, "%s", assumption(as))
	}
	t := &screen.Table{Flush: true}
	for _, h := range []string{"NODE", "SHOULD RUN", "SLOT", "POD", "PHASE", "REVISION", "READY", "AVAILABLE", "PROBLEM"} {
		t.Columns = append(t.Columns, screen.Column{Head: h})
	}
	for i := range e.Nodes {
		n := &e.Nodes[i]
		should := "?"
		if n.ShouldRun != nil {
			should = string(n.ShouldRun.Reason)
		}
		pods := n.Pods
		if len(pods) == 0 {
			pods = []explain.Pod{{}}
		}
		for _, p := range pods {
			cells := []string{"-", "-", "-", "-", "-"}
			if p.Name != "" {
				cells = []string{p.Name, phase(p), revisionOf(e, p), yesNo(p.Ready), yesNo(p.Available)}
			}
			t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(slices.Concat([]string{n.Name, should, string(n.Slot)}, cells, []string{problemCode(n)})...)})
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
