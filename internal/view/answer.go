package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
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

// Explanation writes one DaemonSet's answer. It was read from what --from named,
// if anything.
func Explanation(w io.Writer, e *explain.Explanation, from []string, style Style) error {
	a := &answer{e: e, now: e.Snapshot.TakenAt, style: style, from: from}
	return a.screen().Text(w, style.terminal())
}

// answer makes the screen of one Explanation.
type answer struct {
	e     *explain.Explanation
	now   time.Time
	style Style
	from  []string
	s     screen.Screen
}

func (a *answer) screen() *screen.Screen {
	a.headline()
	a.impact()
	a.rollout()
	a.change()
	a.limit()
	a.problems()
	a.onDelete()
	a.causes()
	a.checks()
	a.fixes()
	a.outlook()
	a.status()
	a.wide()
	return &a.s
}

func (a *answer) add(l screen.Label, format string, args ...any) {
	a.s.Add(l, screen.Text(fmt.Sprintf(format, args...)))
}

func (a *answer) namespace() screen.Word {
	return screen.Word("-n ") + screen.Quote(a.e.DaemonSet.Namespace)
}
func (a *answer) name() screen.Word { return screen.Quote(a.e.DaemonSet.Name) }

// again is a command of this plugin about the same source; none for standard
// input, which is read only once.
func (a *answer) again(command string, flags ...screen.Word) screen.Command {
	c := screen.Command{screen.Word("kubectl ds " + command), a.namespace(), a.name()}
	for _, f := range a.from {
		if f == "-" {
			return nil
		}
		c = append(c, "--from "+screen.Quote(f))
	}
	return append(c, flags...)
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
	if n := len(a.matters()); a.e.Verdict.Code == explain.Healthy && n > 0 {
		v.words, v.tone = v.words+", "+strings.ToUpper(plural(n, "warning")), screen.Warn
	}
	a.s.Headline = screen.Headline{Verdict: v.words, Tone: v.tone, Subject: a.e.DaemonSet.Namespace + "/" + a.e.DaemonSet.Name, Text: a.summary()}
}

// summary is the headline's sentence: how far it is, and what is wrong.
func (a *answer) summary() string {
	desired, updated, available := a.count("desired"), a.count("updated"), a.count("available")
	so := func(words string) string {
		if why := a.why(); why != "" {
			return words + "; " + why
		}
		return words
	}
	also := ""
	if none := a.nowhere(); none != "" {
		also = "; " + none
	}
	switch a.e.Verdict.Code {
	case explain.BeingDeleted:
		return "the controller no longer manages its pods"
	case explain.Unknown:
		if a.e.Next.Reason == daemonset.StepSelectsAll {
			return "its selector is empty, so the controller ignores it"
		}
		return unread(&a.e.Header) + " could not be read"
	case explain.NotObserved:
		return fmt.Sprintf("the controller has not observed generation %d yet; its numbers are of generation %d", a.e.DaemonSet.Generation, a.e.DaemonSet.ObservedGeneration) + also
	case explain.AwaitingDelete:
		return fmt.Sprintf("%d of %s updated; with %s you delete the other %d", desired-a.count("oldNodes"), plural(desired, "pod"), cmp.Or(a.e.DaemonSet.Strategy, "no strategy"), a.count("oldNodes")) + also
	case explain.Stuck, explain.Progressing:
		if a.e.Rollout.UnderWay && desired > 0 {
			return so(fmt.Sprintf("%d of %s updated", updated, plural(desired, "pod")))
		}
	case explain.Healthy:
		switch {
		case desired > updated: // the status counts a node by its oldest pod
			return so(fmt.Sprintf("%d of %s available; old pods still terminate on %s", available, plural(desired, "pod"), plural(desired-updated, "node")))
		case desired > 0:
			return so(fmt.Sprintf("%d of %s available and updated", available, plural(desired, "pod")))
		}
	}
	if desired == 0 {
		if len(a.e.Columns) > 0 && a.why() == "" {
			return "DESIRED is 0: the cluster has no node"
		}
		return so("DESIRED is 0")
	}
	return so(fmt.Sprintf("%d of %s available", available, plural(desired, "pod")))
}

// why names what is wrong, the worst first; empty where nothing is. Problems
// that are said with the same words are added up.
func (a *answer) why() string {
	var parts []string
	said := map[predicate]bool{}
	for _, p := range a.matters() {
		of, known := predicates[p.Code]
		if known && said[of] {
			continue
		}
		said[of] = true
		n := 0
		for _, other := range a.matters() {
			if predicates[other.Code] == of {
				n += max(1, other.Count)
			}
		}
		if words := a.clause(p, n); words != "" {
			parts = append(parts, words)
		}
	}
	const most = 2
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("%d more", more))
	}
	if none := a.nowhere(); none != "" {
		parts = append(parts, none)
	}
	return strings.Join(parts, ", ")
}

// nowhere says that no node is eligible, and what becomes of the pods; empty
// where one is.
func (a *answer) nowhere() string {
	i := slices.IndexFunc(a.e.Problems, func(p explain.Problem) bool { return p.Code == cause.NoEligibleNode })
	if i < 0 {
		return ""
	}
	words, f := "no node is eligible", a.e.Problems[i].Facts
	if n := number(f, "losing"); n > 0 {
		words += ", " + pluralVerb(n, "pod is deleted and not recreated", "pods are deleted and not recreated")
	}
	if n := number(f, "staying"); n > 0 {
		words += ", " + pluralVerb(n, "pod stays", "pods stay")
	}
	return words
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

// clause is a problem of so many pods or nodes in few words.
func (a *answer) clause(p *explain.Problem, n int) string {
	switch p.Code {
	case explain.ControllerSilent:
		return "the controller does not act although work is pending"
	case daemonset.InvalidBudget:
		return fact(p.Facts, "field") + " cannot be resolved"
	case daemonset.VanishedNodeInSurge:
		return "a pod of a deleted node blocks every step"
	case cause.NoEligibleNode:
		return "" // said behind all others
	case cause.FailedCreate:
		lacking := len(a.lacking())
		by := map[cause.OriginKind]string{cause.OriginQuota: "a ResourceQuota", cause.OriginPolicy: "Pod Security", cause.OriginWebhook: "an admission webhook"}[p.Origin.Kind]
		return fmt.Sprintf("%s rejects %d", cmp.Or(by, "the API server"), lacking)
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
	case p.Origin != nil && p.Origin.Kind == cause.OriginRevision && n == a.count("newPods") && n > 1:
		return fmt.Sprintf("all %d %s", n, words.many)
	}
	return words.say(n)
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
	if i == nil || len(a.e.Columns) == 0 || len(i.Without)+i.Served == 0 {
		return
	}
	all := len(i.Without) + i.Served
	switch {
	case len(i.Without) > 0:
		words := plural(len(i.Without), "node")
		if len(i.Without) < all {
			words = fmt.Sprintf("%d of %s", len(i.Without), plural(all, "node"))
		} else if all > 1 {
			words = "all " + words
		}
		verb := " have"
		if len(i.Without) == 1 {
			verb = " has"
		}
		after := ""
		if i.Served > 0 && a.e.Rollout.UnderWay {
			after = "; " + pluralOf(i.Served, "the other one has", fmt.Sprintf("the other %d have", i.Served)) + " an available pod"
			if on := a.servedBy(); on != "" {
				after = "; " + pluralOf(i.Served, "the other one runs ", fmt.Sprintf("the other %d run ", i.Served)) + on + " undisturbed"
			}
		}
		a.s.Add(screen.Impact, screen.Names{Before: words + verb + " no available pod:", Names: i.Without, After: after})
	case len(i.OldServes) > 0:
		a.s.Add(screen.Impact, screen.Names{Before: "none yet: the old pod still runs beside the new one on", Names: i.OldServes, After: fmt.Sprintf(", so all %s have an available pod", plural(all, "node"))})
	case a.e.Verdict.Code == explain.AwaitingDelete:
		a.add(screen.Impact, "none, not urgent: %s an available pod", allHave(all))
	case a.e.Verdict.Code != explain.Healthy:
		a.add(screen.Impact, "none: %s an available pod", allHave(all))
	}
	switch n := len(i.Uncounted); {
	case n == 0:
	case n <= 3:
		a.add(screen.Impact, "the %s on %s %s not counted in DESIRED and READY, so no alert on these numbers fires", pluralOf(n, "pod", "pods"), strings.Join(i.Uncounted, ", "), pluralOf(n, "is", "are"))
	default:
		a.s.Add(screen.Impact, screen.Names{Before: "not counted in DESIRED and READY, so no alert on these numbers fires: the " + pluralOf(n, "pod", "pods") + " on", Names: i.Uncounted, Short: true})
	}
}

// allHave is "all 12 nodes have".
func allHave(n int) string {
	if n == 1 {
		return "the only node has"
	}
	return fmt.Sprintf("all %d nodes have", n)
}

// servedBy is the old revision that all nodes with an available pod run; empty
// where they run several, or the new one.
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
		on = revisionName(r)
	}
	return on
}

// rollout says since when, and how many nodes are on which revision.
func (a *answer) rollout() {
	var parts []string
	for _, r := range a.e.Revisions {
		words := fmt.Sprintf("%s on %s", plural(len(r.Nodes), "node"), revisionName(r))
		if !r.Current && r.Updated > 0 {
			words += inBrackets(countedUpdated(r.Updated, len(r.Nodes)))
		}
		parts = append(parts, words)
	}
	switch r := a.e.Rollout; {
	case a.e.Verdict.Code == explain.BeingDeleted:
		return
	case a.e.Verdict.Code == explain.Unknown:
		a.add(screen.Rollout, "%s", strings.Join(parts, ", "))
	case !r.UnderWay:
		a.add(screen.Rollout, "none in progress")
	case r.Since == nil:
		a.add(screen.Rollout, "%s", strings.Join(parts, ", "))
	case a.e.Verdict.Code == explain.AwaitingDelete:
		a.add(screen.Rollout, "revision %d is %s old: %s", a.current(), ago(a.now.Sub(*r.Since)), strings.Join(parts, ", "))
	default:
		a.add(screen.Rollout, "started %s ago: %s", ago(a.now.Sub(*r.Since)), strings.Join(parts, ", "))
	}
	if !a.e.Rollout.UnderWay && a.e.Verdict.Code != explain.Unknown && slices.ContainsFunc(a.e.Revisions, func(r explain.Revision) bool { return !r.Current && len(r.Nodes) > 0 }) {
		a.add(screen.Rollout, "%s", strings.Join(parts, ", "))
	}
	for _, as := range a.e.Assumptions {
		if n, _ := strconv.Atoi(as.Value); as.Code == daemonset.AssumeGeneration {
			a.add(screen.Rollout, "%s as updated by the label pod-template-generation alone, and %s not replaced", pluralVerb(n, "pod counts", "pods count"), pluralOf(n, "is", "are"))
		}
	}
	if n := a.e.Next.Revisions; n.Cut && a.e.Verdict.Code != explain.BeingDeleted && !gapped(a.e, snapshot.Revisions) {
		a.add(screen.Rollout, "the live template has no revision yet: the next sync creates revision %d", n.Number)
	}
}

// change is what differs between the revision of most old pods and the current
// one.
func (a *answer) change() {
	if a.e.Change == nil || a.e.Verdict.Code == explain.BeingDeleted {
		return
	}
	for _, l := range few(fieldStyle{all: a.style.All, brief: true}.changeLines(a.e.Change.Change), 3, "more change", a.style) {
		a.add(screen.Change, "%s", l)
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
	if !a.e.Rollout.UnderWay || b.Kind == daemonset.BudgetNone || b.Invalid != "" || a.e.Verdict.Code == explain.BeingDeleted {
		return
	}
	limit, field := b.MaxUnavailable, "maxUnavailable"
	if b.Kind == daemonset.BudgetSurge {
		limit, field = b.MaxSurge, "maxSurge"
	}
	words := field + " " + cmp.Or(b.Spec, "1 (the default)")
	switch {
	case b.Fallback:
		words = "maxUnavailable and maxSurge both come to 0, so the controller uses maxUnavailable 1"
	case b.Scaled != "":
		words += fmt.Sprintf(" of %s = %d", plural(b.Of, "node"), limit)
		if b.Scaled != strconv.Itoa(limit) {
			words += fmt.Sprintf(" (%s, rounded up)", b.Scaled)
		}
	}
	if b.Used == nil {
		return
	}
	used := pluralVerb(*b.Used, "is unavailable", "are unavailable")
	stop := "so the controller replaces no further pod"
	if b.Kind == daemonset.BudgetSurge {
		used, stop = pluralVerb(*b.Used, "extra pod exists", "extra pods exist"), "so the controller starts no further pod"
	}
	if *b.Used < limit || a.e.Next.Deletes.Len() > 0 {
		stop = ""
	}
	if stop != "" {
		used += ", " + stop
	}
	a.add(screen.Limit, "%s, and %s", words, used)
}

// problems is the table of what is wrong. What is only worth knowing is a note.
func (a *answer) problems() {
	t := &screen.Table{Columns: []screen.Column{{Head: "PROBLEM"}, {Head: "NODES", Wrap: true, Short: true}, {Head: "FOR", Drop: 1}}}
	switch m := a.matters(); {
	case len(m) == 0:
		t.Columns[0].Head = "STATE"
	case m[0].Severity != cause.Error && !yes(m[0].Facts, "late"):
		t.Columns[0].Head = "WARNING"
	}
	notes := 0
	for i := range a.e.Problems {
		p := &a.e.Problems[i]
		switch {
		case p.Code == explain.OnDeleteOutdated && a.e.Verdict.Code == explain.AwaitingDelete:
			continue // the table of old pods
		case p.Severity == cause.Info && p.Count == 0, p.Code == cause.NextRolloutStalls, p.Code == explain.Adopt:
			if notes++; notes <= 3 || a.style.All {
				a.s.Add(screen.Note, detail(p, a.now, a.style.All)...)
			}
			continue
		}
		const most = 6
		if len(t.Rows) == most && !a.style.All {
			a.add(screen.Note, "more problems are listed with --all")
			break
		}
		t.Rows = append(t.Rows, problemRow(p, a.now, a.style.All))
	}
	a.s.Add(screen.Body, t)
}

// lasting is how long a problem has been there, on one node or on several.
func lasting(now time.Time, p *explain.Problem) string {
	if p.Since == nil {
		return "-"
	}
	from := ago(now.Sub(*p.Since))
	if p.Latest == nil || ago(now.Sub(*p.Latest)) == from {
		return from
	}
	return ago(now.Sub(*p.Latest)) + " to " + from
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
	var said []string
	for i := range a.e.Problems {
		p := &a.e.Problems[i]
		if p.Origin == nil {
			continue
		}
		if words := a.origin(p); words != "" && !slices.Contains(said, words) {
			said = append(said, words)
		}
	}
	for i, words := range said {
		if i == 3 && !a.style.All {
			break
		}
		a.s.Add(screen.Cause, screen.Text(words))
	}
}

// origin says what a problem comes from.
func (a *answer) origin(p *explain.Problem) string {
	o, newPods, oldPods, newFailing, oldFailing := p.Origin, a.count("newPods"), a.count("oldPods"), 0, 0
	for _, other := range a.matters() {
		newFailing, oldFailing = newFailing+number(other.Facts, "newFailing"), oldFailing+number(other.Facts, "oldFailing")
	}
	switch o.Kind {
	case cause.OriginRevision:
		do := predicate{"pod", "fails", "fail"}
		if newFailing == p.Count {
			do = predicates[p.Code]
		}
		on := "other revisions"
		if len(a.e.Revisions) == 2 {
			on = revisionName(a.e.Revisions[1])
		}
		return fmt.Sprintf("likely revision %d: %s, %s on %s", o.Revision, pluralOf(newPods, "its only pod "+do.one, fmt.Sprintf("all %d of its pods %s", newPods, do.many)), pluralOf(oldPods, "not the one", fmt.Sprintf("none of the %d", oldPods)), on)
	case cause.OriginNodes:
		words := pluralOf(len(p.Nodes), "the node", "the nodes")
		if p.Code == daemonset.NodeGone {
			return words + pluralOf(len(p.Nodes), " was deleted", " were deleted") + "; the pod garbage collector removes what is left"
		}
		if p.Since == nil {
			return words + ": NotReady"
		}
		words += ": NotReady for " + lasting(a.now, p)
		if o.BeforeRollout != nil && *o.BeforeRollout && a.e.Rollout.Since != nil {
			return strings.Replace(words, ":", ", not the rollout:", 1) + fmt.Sprintf(", since before the rollout started %s ago", ago(a.now.Sub(*a.e.Rollout.Since)))
		}
		return words
	case cause.OriginQuota:
		return fmt.Sprintf("ResourceQuota %s of namespace %s: it leaves no room for %s", o.Name, a.e.DaemonSet.Namespace, plural(len(a.lacking()), "more pod"))
	case cause.OriginPolicy:
		return fmt.Sprintf("Pod Security of namespace %s: the pod violates %s", a.e.DaemonSet.Namespace, o.Name)
	case cause.OriginWebhook:
		return "admission webhook " + o.Name
	case cause.OriginAPIServer:
		return "the API server: see its message"
	case cause.OriginScheduling:
		if p.Code == cause.HostPortConflict {
			return strings.Join(p.Nodes[:min(3, len(p.Nodes))], ", ") + ": another pod there uses the host port"
		}
		if r := fact(p.Facts, "resources"); r != "" {
			return strings.Join(p.Nodes[:min(3, len(p.Nodes))], ", ") + ": too little " + r + " free for the pod"
		}
		return ""
	case cause.OriginController:
		return "likely kube-controller-manager"
	case cause.OriginStrategy:
		switch p.Code {
		case cause.HostPortConflict:
			return "maxSurge: the old pod on the node uses the host port that the new one needs"
		case explain.OnDeleteOutdated:
			return "updateStrategy " + cmp.Or(a.e.DaemonSet.Strategy, "OnDelete") + ": the controller replaces a pod only after you have deleted it"
		}
		return ""
	}
	switch {
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

func pluralOf(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// checks are commands that only read, one for each problem, three at most.
func (a *answer) checks() {
	var said []string
	for _, p := range a.matters() {
		c := a.check(p)
		if len(c) == 0 || slices.Contains(said, c.String()) || len(said) == 3 {
			continue
		}
		said = append(said, c.String())
		a.s.Add(screen.Check, c)
	}
	if len(said) == 0 && a.e.Verdict.Code == explain.AwaitingDelete {
		a.s.Add(screen.Check, screen.Command{"kubectl get pods", a.namespace(), "-o wide", "--sort-by=.spec.nodeName", "-L controller-revision-hash"})
	}
}

func (a *answer) check(p *explain.Problem) screen.Command {
	var node, pod screen.Word
	if len(p.Nodes) > 0 {
		node = screen.Quote(p.Nodes[0])
	}
	if len(p.Pods) > 0 {
		pod = screen.Quote(p.Pods[0])
	}
	name, _ := p.Facts["container"].(string)
	container := "-c " + screen.Quote(name)
	switch p.Code {
	case cause.NodeNotReady, cause.TerminatingOnDeadNode, cause.InsufficientResources, cause.HostPortConflict, cause.NextRolloutStalls, explain.Misscheduled:
		if node != "" {
			return screen.Command{"kubectl describe node", node}
		}
		return nil
	case cause.CrashLoopBackOff, cause.OOMKilled:
		return screen.Command{"kubectl logs", a.namespace(), pod, container, "--previous"}
	case cause.ProbeFailing, cause.InitRunning:
		return screen.Command{"kubectl logs", a.namespace(), pod, container}
	case cause.FailedCreate:
		switch p.Origin.Kind {
		case cause.OriginQuota:
			return screen.Command{"kubectl describe resourcequota", a.namespace(), screen.Quote(p.Origin.Name)}
		case cause.OriginPolicy:
			return screen.Command{"kubectl get namespace", screen.Quote(a.e.DaemonSet.Namespace), "--show-labels"}
		}
		return screen.Command{"kubectl get events", a.namespace(), "--field-selector involvedObject.kind=DaemonSet,involvedObject.name=" + a.name()}
	case explain.ControllerSilent, explain.GenerationNotObserved, explain.StaleStatus:
		if fact(p.Facts, "heldUpBy") != "" {
			return nil
		}
		return screen.Command{"kubectl get lease", "-n kube-system", "kube-controller-manager"}
	}
	if pod == "" {
		return nil
	}
	return screen.Command{"kubectl describe pod", a.namespace(), pod}
}

// fixes are commands or acts that change the cluster, and plans of them. Those of
// different problems stand side by side; a higher limit is another way.
func (a *answer) fixes() {
	for i, f := range a.e.Fixes {
		and := ""
		if i > 0 {
			and = "and "
		}
		switch f.Code {
		case explain.FixUndo:
			a.undo(f, and)
		case explain.FixRepairNodes:
			then := "the pods then come back by themselves"
			switch {
			case a.e.Rollout.UnderWay:
				then = "the rollout then continues by itself"
			case a.e.Impact != nil && len(a.e.Impact.Without) == 0:
				then = pluralOf(len(f.Nodes), "it then counts again, and keeps its pod", "they then count again, and keep their pods")
			}
			a.add(screen.Fix, "%srepair %s; %s", and, pluralOf(len(f.Nodes), "the node", "the nodes"), then)
			if a.e.Verdict.Code == explain.Healthy {
				continue
			}
			a.s.Add(screen.Fix, screen.Text("or, for a node that is gone for good:"), screen.Indent{screen.Command{"kubectl delete node", screen.Placeholder("NODE")}})
		case explain.FixRaiseLimit:
			a.raise(f)
		case explain.FixRaiseQuota:
			if f.Needs == 0 {
				a.add(screen.Fix, "%sthe owner of ResourceQuota %s raises it", and, f.Name)
				continue
			}
			a.add(screen.Fix, "%sthe owner of ResourceQuota %s raises it to at least %s:", and, f.Name, plural(f.Needs, "pod"))
			a.s.Add(screen.Fix, screen.Indent{screen.Command{
				"kubectl patch resourcequota", a.namespace(), screen.Quote(f.Name), "--type=merge", "-p", screen.Quote(fmt.Sprintf(`{"spec":{"hard":{"pods":"%d"}}}`, f.Needs)),
			}})
		case explain.FixMakeRoom:
			a.s.Add(screen.Fix, screen.Names{Before: and + "move other pods off", Names: f.Nodes, After: ", or give the template a PriorityClass that lets the scheduler preempt them (that starts a rollout)"})
		case explain.FixNoSurge:
			a.add(screen.Fix, "%suse maxUnavailable in place of maxSurge:", and)
			a.s.Add(screen.Fix, screen.Indent{a.patch(`{"maxSurge":0,"maxUnavailable":1}`), screen.Text("(a node then has no available pod while its pod is replaced)")})
		case explain.FixDeletePods:
			remove := screen.Command{"kubectl delete pod", a.namespace(), screen.Quote(f.Pods[0])}
			if a.e.Verdict.Code != explain.AwaitingDelete {
				a.s.Add(screen.Fix, remove)
				continue
			}
			a.s.Add(screen.Preview, a.again("plan-rollout", "--strategy=RollingUpdate"))
			a.add(screen.Continue, "delete the %s one after the other; a node has no pod until the new one is available:", plural(len(f.Pods), "pod"))
			a.s.Add(screen.Continue, screen.Indent{remove})
		}
	}
}

func (a *answer) undo(f explain.Fix, and string) {
	to := screen.Word("--to-revision=" + strconv.FormatInt(f.Revision, 10))
	undo := screen.Indent{
		screen.Command{"kubectl rollout undo", a.namespace(), "daemonset/" + a.name(), to},
		screen.Text(fmt.Sprintf("(replaces the %s on revision %d; GitOps may apply revision %d again)", plural(f.Replaces, "pod"), a.current(), a.current())),
	}
	a.s.Add(screen.Preview, a.again("plan-rollout", to))
	switch {
	case f.Replaces == 0: // no pod is left, or none has the new revision yet
		undo[1] = screen.Text(fmt.Sprintf("(GitOps may apply revision %d again)", a.current()))
	case f.Unsure:
		a.add(screen.Fix, "%sif the logs blame the new version:", and)
		a.s.Add(screen.Fix, undo)
		return
	}
	a.s.Add(screen.Fix, undo...)
}

// patch changes fields of spec.updateStrategy.rollingUpdate.
func (a *answer) patch(rollingUpdate string) screen.Command {
	return screen.Command{
		"kubectl patch daemonset", a.namespace(), a.name(), "--type=merge", "-p", screen.Quote(`{"spec":{"updateStrategy":{"rollingUpdate":` + rollingUpdate + `}}}`),
	}
}

// raise is a higher limit for as long as nodes are broken.
func (a *answer) raise(f explain.Fix) {
	b := &a.e.Budget
	field, flag := "maxUnavailable", "--max-unavailable="
	if b.Kind == daemonset.BudgetSurge {
		field, flag = "maxSurge", "--max-surge="
	}
	value := strconv.Itoa(f.Limit.Number)
	a.s.Add(screen.Preview, a.again("plan-rollout", screen.Word(flag+value)))
	words := "or, to update the other pods now:"
	if n := len(f.Nodes); n > 0 {
		words = fmt.Sprintf("or, to update the other pods now (%s without an available pod):", pluralVerb(n, "node stays", "nodes stay"))
	}
	a.s.Add(screen.Fix, screen.Text(words), screen.Indent{a.patch(fmt.Sprintf(`{"%s":%s}`, field, value)), screen.Text("(afterwards set it back to " + cmp.Or(b.Spec, "1") + ")")})
}

// outlook says what happens without a fix, or what the controller does next.
func (a *answer) outlook() {
	desired, updated, available := a.count("desired"), a.count("updated"), a.count("available")
	switch a.e.Verdict.Code {
	case explain.Stuck:
		a.add(screen.Outlook, "without a fix: stays at %d of %d", updated, desired)
	case explain.Degraded:
		a.add(screen.Outlook, "without a fix: stays at %d of %d", available, desired)
	case explain.AwaitingDelete:
		a.add(screen.Outlook, "stays at %d of %d until then", desired-a.count("oldNodes"), desired)
	case explain.Progressing, explain.NotObserved:
		a.nextSync()
	}
	s, next := &lineScreen{Style: a.style}, a.e.Next
	next.Revisions.Cut = false // said as the rollout's
	if also := s.bookkeeping(&next); len(also) > 0 {
		a.add(screen.Note, "the controller next %s", strings.Join(also, "; "))
	}
}

// nextSync is what the controller does next with pods.
func (a *answer) nextSync() {
	n := &a.e.Next
	if n.Kind == daemonset.StepNone {
		a.add(screen.Outlook, "the controller waits: %s", idle(n.Reason, &a.e.Header))
		return
	}
	for _, b := range syncBlocks(n, "next", a.style.All) {
		a.s.Add(screen.Outlook, b)
	}
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
	var names [][]string
	var sums [][]string
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
					name = "on revision " + strconv.FormatInt(r.Number, 10)
				}
			}
		case g.Reason == cause.NoPod && a.refused():
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

func (a *answer) refused() bool {
	return slices.ContainsFunc(a.e.Problems, func(p explain.Problem) bool { return p.Code == cause.FailedCreate })
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
	case all == 1:
		a.add(screen.Status, "DESIRED 1 = the only node")
	case all > 1:
		a.add(screen.Status, "DESIRED %d = all %s", all, plural(all, "node"))
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
		if len(n.Pods) == 0 {
			t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(n.Name, should, string(n.Slot), "-", "-", "-", "-", "-", problemCode(n))})
		}
		for _, p := range n.Pods {
			phase := p.Phase
			if p.Terminating {
				phase = "Terminating"
			}
			t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(n.Name, should, string(n.Slot), p.Name, phase, revisionOf(e, p), yesNo(p.Ready), yesNo(p.Available), problemCode(n))})
		}
	}
	a.s.Add(screen.Body, t)
}

// syncBlocks say which pods a sync of the controller deletes and creates.
func syncBlocks(n *daemonset.Step, when string, all bool) []screen.Block {
	var lines []screen.Block
	for _, batch := range []struct {
		verb string
		daemonset.Batch
	}{{"deletes", n.Deletes}, {"creates", n.Creates}} {
		say := func(what string, names []string, why string) {
			lines = append(lines, screen.Names{Before: fmt.Sprintf("%s, the controller %s %s:", when, batch.verb, what), Names: names, After: " (" + why + ")", Short: true})
		}
		byReason := map[daemonset.Reason][]string{}
		for _, i := range batch.Certain {
			byReason[i.Reason] = append(byReason[i.Reason], i.Node)
		}
		for _, reason := range slices.Sorted(maps.Keys(byReason)) {
			say(plural(len(byReason[reason]), "pod"), byReason[reason], stepWords[reason])
		}
		for _, c := range batch.Choices {
			var nodes, pods []string
			for _, i := range c.From {
				nodes, pods = append(nodes, i.Node), append(pods, i.Pod)
			}
			if len(slices.Compact(slices.Clone(nodes))) < len(nodes) {
				nodes = pods // several of one node
			}
			say(fmt.Sprintf("any %d of %s", c.Count, plural(len(c.From), "pod")), nodes, stepWords[c.Reason]+"; it chooses at random")
		}
		if batch.Deferred > 0 {
			lines = append(lines, screen.Text(fmt.Sprintf("%d more %ss follow in later syncs: one takes at most 250", batch.Deferred, strings.TrimSuffix(batch.verb, "s"))))
		}
	}
	if !n.Exact && len(lines) > 0 {
		lines = append(lines, screen.Text("(as far as could be read)"))
	}
	const most = 4
	if more := len(lines) - most; more > 1 && !all {
		lines = append(lines[:most], screen.Text(fmt.Sprintf("%d more kinds of deletes and creates with --all", more)))
	}
	return lines
}
