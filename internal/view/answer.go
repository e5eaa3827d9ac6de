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
	a.doNow(a.e.Advice)
	a.present()
	a.outlook()
	a.status()
	a.wide()
	return a.s.Text(w, style.terminal())
}

// answer makes the screen of one Explanation.
type answer struct {
	*sheet
	e      *explain.Explanation
	inPlan bool // it is shown in a plan of what is under way
}

func newAnswer(e *explain.Explanation, asked Asked, style Style) *answer {
	return &answer{sheet: newSheet(&e.Header, asked, style), e: e}
}

// present says what is the case now, and why.
func (a *answer) present() {
	a.impact()
	a.rollout()
	a.change()
	a.limit()
	a.problems()
	a.onDelete()
	a.solutions()
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
	case a.e.Has(explain.ControllerSilent) != nil:
		v.words, v.tone = "CONTROLLER SILENT", screen.Bad
	case n > 0 && (code == explain.Healthy || code == explain.Progressing):
		v.words, v.tone = fill(a.now, daemonset.Facts{"verdict": v.words, "warnings": n, "healthy": code == explain.Healthy}, "{healthy=true}{warnings=1}WARNING", "{healthy=true}{warnings} WARNINGS", "{verdict}, {warnings:WARNING|WARNINGS}"), screen.Warn
	}
	a.s.Headline = screen.Headline{Verdict: v.words, Tone: v.tone, Subject: a.subject(), Text: a.summary()}
}

// summaries begin the headline's sentence.
var summaries = map[explain.VerdictCode][]string{
	explain.BeingDeleted: {"the controller no longer manages its pods"},
	explain.Unknown:      {"{next=SelectsAll}its selector is empty, so the controller ignores it", "{unread} could not be read"},
	explain.NotObserved:  {"the controller has not observed generation {generation} yet; its numbers are of generation {observed}"},
	explain.AwaitingDelete: {
		"{oldNodes=1}{new} of {desired:pod} updated; the other one waits to be deleted ({strategy})", "{new} of {desired:pod} updated; the other {oldNodes} wait to be deleted ({strategy})",
	},
	explain.Healthy: {"{available} of {desired:pod} available[{same=true} and updated][; old pods still terminate on {ending:node}]"},
}

// summary is the headline's sentence: how far it is, what is wrong, and how it
// goes on by itself.
func (a *answer) summary() string {
	code, why := a.e.Verdict.Code, a.why(2)
	behind := a.count("desired") - a.count("updated") // the status counts a node by its oldest pod
	words := fill(a.now, with(a.e.Verdict.Facts, daemonset.Facts{
		"next": a.e.Next.Reason, "unread": unread(a.h), "generation": a.h.DaemonSet.Generation, "observed": a.h.DaemonSet.ObservedGeneration, "strategy": strategy(a.h),
		"new": a.count("desired") - a.count("oldNodes"), "same": behind <= 0, "ending": max(0, behind),
	}), append(summaries[code], "{available} of {desired:pod} available")...)
	switch {
	case code == explain.BeingDeleted || code == explain.Unknown:
		return words
	case code == explain.NotObserved || code == explain.AwaitingDelete:
		return joined("; ", words, a.nowhere())
	case a.count("desired") > 0 && a.e.Rollout.UnderWay && (code == explain.Stuck || code == explain.Progressing):
		return joined("; ", fill(a.now, a.e.Verdict.Facts, "{updated} of {desired:pod} updated"), a.left(), why)
	case a.e.Has(explain.ControllerSilent) != nil, code == explain.Healthy && a.count("desired") > 0: // what is wrong first
		return joined("; ", why, words)
	case a.count("desired") > 0:
		return joined("; ", words, why)
	case len(a.e.Columns) > 0 && why == "":
		return "DESIRED is 0: the cluster has no node"
	}
	return joined("; ", "DESIRED is 0", why)
}

// left is how long a rollout takes that goes on by itself, or where it stops;
// empty where that is not known.
func (a *answer) left() string {
	return fill(a.now, a.forecast(), "{outlook=Stalls}it will stop at {updated} of {desired}", "{outlook=Completes}{failing=false}{left} left")
}

// forecast is the Outlook as facts.
func (a *answer) forecast() daemonset.Facts {
	o := cmp.Or(a.e.Outlook, &explain.Outlook{})
	f := daemonset.Facts{"outlook": o.Code, "verdict": a.e.Verdict.Code, "updated": o.Updated, "desired": o.Desired, "available": o.Available, "failing": a.e.Failing(), "matters": len(a.e.Matters())}
	if o.Duration != nil {
		f["left"] = rangeWords(o.Duration)
	}
	return f
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

// noneWith is the key of the label that no node has as the pod needs it; empty where
// another rule leaves no node eligible, or one is.
func (a *answer) noneWith() string {
	g := a.e.Groups("DESIRED", false)
	if a.e.Has(cause.NoEligibleNode) == nil || len(g) != 1 || g[0].Reason != daemonset.NodeSelector {
		return ""
	}
	return fact(g[0].Facts, "key")
}

// noneOf says which rule leaves no node eligible.
var noneOf = map[daemonset.Reason]string{daemonset.NodeSelector: "no node has the label {key}=[{want}]", daemonset.TaintNotTolerated: "every node has the taint {taint}"}

// clauses are problems of which no pod or node is the subject.
var clauses = map[daemonset.Reason]string{
	cause.NoEligibleNode:          "", // said behind all others
	cause.FailedCreate:            "{by} rejects {on:pod}",
	cause.NextRolloutStalls:       "{some} would stall the next rollout",
	explain.ControllerSilent:      "the DaemonSet controller has not acted for {lasting}",
	explain.StaleStatus:           "the reported status is stale",
	explain.Misscheduled:          "{some} {on?is|are} NotReady and not counted",
	daemonset.InvalidBudget:       "{field} cannot be resolved",
	daemonset.VanishedNodeInSurge: "a pod of a deleted node blocks every step",
}

// rejecters are what rejects a pod, where that is not the API server itself.
var rejecters = map[cause.OriginKind]string{cause.OriginQuota: "a ResourceQuota", cause.OriginPolicy: "Pod Security", cause.OriginWebhook: "an admission webhook"}

// clause is a problem on some nodes in few words.
func (a *answer) clause(p *explain.Problem, nodes []string) string {
	o := cmp.Or(p.Origin, &cause.Origin{})
	if sentence, ok := clauses[p.Code]; ok {
		some := cmp.Or(strings.Join(p.Nodes, " and "), "the cluster")
		if len(p.Nodes) > 2 {
			some = plural(len(p.Nodes), "node")
		}
		return fill(a.now, with(p.Facts, daemonset.Facts{"on": len(p.Nodes), "some": some, "lasting": a.lasting(p), "by": cmp.Or(rejecters[o.Kind], "the API server")}), sentence)
	}
	words := predicates[p.Code]
	if o.Kind == cause.OriginRevision && len(nodes) == a.count("newPods") && len(nodes) > 1 && words.noun != "" {
		return allOf(len(nodes)) + "new pods " + words.many
	}
	return words.of(nodes, len(p.Pods))
}

// allHave is "all 12 nodes have".
func allHave(n int) string { return pluralOf(n, "the only node has", allOf(n)+"nodes have") }

// allOf is "both " or "all 3 ".
func allOf(n int) string { return pluralOf(n-1, "both ", fmt.Sprintf("all %d ", n)) }

// impacts say who is without a working pod: before the names of nodes, and behind
// them. have is how many nodes have; whole the same, where none is served.
var impacts = map[explain.Affected]struct {
	before, after []string
	short         bool
}{
	explain.AffectedUnknown: {[]string{"{named=true}{unread} could not be read; without an available pod at least:", "unknown: {unread} could not be read"}, nil, true},
	explain.AffectedNowhere: {[]string{"{lasting=-}no node runs the pod", "no node runs the pod; none has been eligible for {lasting}"}, nil, false},
	explain.AffectedRemoved: {[]string{"the controller deletes the pods on all nodes that have one:"}, nil, true},
	explain.AffectedAlmost:  {[]string{"none: {have} a Ready pod; not counted as available yet:"}, nil, false},
	explain.AffectedSome: {
		[]string{"{whole} no available pod:", "{without} of {nodes:node} {without?has|have} no available pod:"},
		[]string{"{served=1}; the other one has an available pod[ of {revision}]", "; the other {served} have an available pod[ of {revision}]"}, true,
	},
	explain.AffectedServedByOld: {[]string{"none yet: the old pod still runs beside the new one on"}, []string{", so {have} an available pod"}, false},
	explain.AffectedNobody:      {[]string{"none: {have} an available pod"}, nil, false},
}

func (a *answer) impact() {
	affected, nodes := a.e.Affected()
	i, words := cmp.Or(a.e.Impact, &explain.Impact{}), impacts[affected]
	all := len(i.Without) + i.Served
	f := daemonset.Facts{"unread": unread(a.h), "named": len(nodes) > 0, "without": len(i.Without), "nodes": all, "have": allHave(all)}
	if none := a.e.Has(cause.NoEligibleNode); none != nil {
		f["lasting"] = a.lasting(none)
	}
	if i.Served == 0 {
		f["whole"] = pluralOf(all, "1 node has", allOf(all)+"nodes have")
	} else if a.e.Rollout.UnderWay {
		f["served"] = i.Served
	}
	if by := a.e.ServedBy(); by != nil {
		f["revision"] = revisionName(by)
	}
	a.s.Add(screen.Impact, screen.Names{Before: fill(a.now, f, words.before...), Names: nodes, After: fill(a.now, f, words.after...), Short: words.short})
	if a.e.Has(explain.ControllerSilent) != nil {
		a.add(screen.Impact, "likely every DaemonSet of the cluster, and if kube-controller-manager is down, Deployments and Jobs too: no pod is created or replaced")
	}
	if n := len(i.Uncounted); n > 0 && affected != explain.AffectedRemoved {
		a.s.Add(screen.Impact, screen.Names{Before: "the " + pluralOf(n, "pod", strconv.Itoa(n)+" pods") + " on", Names: i.Uncounted, After: pluralOf(n, " still exists", " still exist") + ", but DESIRED and READY do not count " + pluralOf(n, "it", "them") + ": alerts on these two do not fire", Short: true})
	}
}

// rollout says since when, and how many pods are on which revision.
func (a *answer) rollout() {
	var parts []string
	for i, r := range a.e.Running() {
		f := daemonset.Facts{"first": i == 0, "pods": r.Pods + r.Terminating, "revision": revisionName(r), "terminating": r.Terminating}
		if r.Current && r.Available < r.Pods {
			f["available"] = r.Available
		}
		if !r.Current && r.Updated > 0 {
			f["counted"] = countedUpdated(r.Updated, len(r.Nodes))
		}
		notes := joined(", ", fill(a.now, f, "{available} available"), fill(a.now, f, "[{terminating} terminating]"), fill(a.now, f, "{counted}"))
		parts = append(parts, fill(a.now, f, "{first=true}{pods:pod} on {revision}", "{pods} on {revision}")+inBrackets(notes))
	}
	if n := a.e.RunBoth(); n > 0 {
		parts[len(parts)-1] += "; " + pluralVerb(n, "node runs an old and a new pod, and counts as updated when the old one is gone", "nodes run an old and a new pod each, and count as updated when the old one is gone")
	}
	f := daemonset.Facts{"pods": strings.Join(parts, ", "), "verdict": a.e.Verdict.Code, "under": a.e.Rollout.UnderWay, "current": a.current()}
	if at := a.e.Rollout.Since; at != nil {
		f["since"] = at.Format(time.RFC3339)
	}
	if a.e.Verdict.Code == explain.BeingDeleted || a.h.Lacks(snapshot.Pods) {
		return
	}
	a.add(screen.Rollout, "%s", fill(a.now, f, "{verdict=Unknown}{pods}", "{under=false}none in progress", "{verdict=AwaitingDelete}revision {current} is {since@} old: {pods}", "started {since@} ago: {pods}", "{pods}"))
	if old := func(r explain.Revision) bool { return !r.Current && len(r.Nodes) > 0 }; !a.e.Rollout.UnderWay && a.e.Verdict.Code != explain.Unknown && slices.ContainsFunc(a.e.Revisions, old) {
		a.add(screen.Rollout, "%s", strings.Join(parts, ", "))
	}
	for _, as := range a.e.Assumptions {
		if n, _ := strconv.Atoi(as.Value); as.Code == daemonset.AssumeGeneration {
			a.add(screen.Rollout, "%s as updated by the label pod-template-generation alone, and %s not replaced", pluralVerb(n, "pod counts", "pods count"), pluralOf(n, "is", "are"))
		}
	}
	if n := a.e.Next.Revisions; n.Cut && !a.h.Lacks(snapshot.Revisions) {
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
	by := a.e.Change.Managers()
	if len(a.e.ManagedBy) > 0 {
		who, _ := managerWords(a.e.ManagedBy[0])
		by = []string{who}
	}
	if len(by) > 0 {
		a.add(screen.Change, "written by %s", clean(strings.Join(by, ", ")))
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
	limit, used := b.MaxUnavailable, "{used:is unavailable|are unavailable}[{full=true}, so the controller replaces no further pod][{until=true} until one is available][, so {more} more may become unavailable]"
	if b.Kind == daemonset.BudgetSurge {
		limit, used = b.MaxSurge, "{used:extra pod exists|extra pods exist}[{full=true}, so the controller starts no further pod][{until=true} until one is available]"
	}
	words := limitWords(b.Kind, b.Spec, b.Scaled, b.Of, limit)
	if b.Fallback {
		words = "maxUnavailable and maxSurge both come to 0, so the controller uses maxUnavailable 1"
	}
	full := *b.Used >= limit && a.e.Next.Deletes.Len() == 0
	a.add(screen.Limit, "%s, and %s", words, fill(a.now, daemonset.Facts{"more": max(0, limit-*b.Used) * min(1, *b.Used), "used": *b.Used, "full": full, "until": full && a.e.Verdict.Code == explain.Progressing}, used))
}

// heads are those of the table of problems.
var heads = map[explain.Gravity]string{explain.GravityNone: "STATE", explain.GravityWarning: "WARNING", explain.GravityProblem: "PROBLEM"}

// problems is the table of what is wrong. What is only worth knowing is a note.
func (a *answer) problems() {
	rows, notes := a.e.Listed()
	for _, p := range notes {
		a.note(a.detail(p)...)
	}
	a.s.Add(screen.Body, a.problemTable(heads[a.e.Gravity()], rows))
}

// onDelete is the table of pods that wait for a person.
func (a *answer) onDelete() {
	if a.e.Verdict.Code != explain.AwaitingDelete {
		return
	}
	t := &screen.Table{Columns: columns("OLD POD", "NODE", "REVISION")}
	for i := range a.e.Nodes {
		for _, p := range a.e.Nodes[i].Old() {
			t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(p.Name, a.e.Nodes[i].Name, revisionOf(a.e, p))})
		}
	}
	a.s.Add(screen.Body, a.atMost(3, t, "pod"))
}

// solutions say who, what shows more of it and what solves it: of several things
// to do each in a part of its own.
func (a *answer) solutions() {
	matters := a.e.Matters()
	for i, part := range a.e.Parts() {
		title := a.title(i, part.Advice)
		if title != "" {
			title += fill(a.now, daemonset.Facts{"nodes": len(part.Advice.Nodes)}, " ({nodes:node})", "")
		}
		a.s.Part(title)
		a.causes(part.Problems)
		a.checks(slices.DeleteFunc(slices.Clone(part.Problems), func(p *explain.Problem) bool { return !slices.Contains(matters, p) }))
		for n, f := range part.Fixes {
			a.fix(&f, map[bool]string{true: "or, "}[n > 0])
		}
		if len(part.Problems) > 0 && len(a.e.Advice) > 0 && (part.As > 0 || len(part.Fixes) == 0) {
			a.add(screen.Fix, "%s", fill(a.now, daemonset.Facts{"code": part.Problems[0].Code, "as": part.As, "revision": a.current(), "pods": part.Problems[0].Count}, otherFixes...))
		}
	}
	if !a.inPlan && slices.ContainsFunc(a.e.Advice, func(d explain.Advice) bool { return d.Code == explain.AdviseLookAhead }) {
		a.s.Add(screen.Preview, a.again("plan-rollout"))
	}
	if key := a.noneWith(); key != "" {
		a.s.Add(screen.Check, a.kubectl("kubectl get nodes", screen.Word("-L "+screen.Quote(key))))
	}
	if p := a.e.Has(explain.ControllerSilent); p != nil {
		a.add(screen.Fix, "restart kube-controller-manager on the control plane nodes, or ask the provider that manages them; the controller then goes on by itself")
	}
}

// otherFixes say what solves a problem that the rollback of another part solves too.
var otherFixes = []string{
	"{code=ImagePullBackOff}the {pods?pod starts by itself|pods start by themselves} when the image can be pulled (the kubelet's back-off, up to 5m)[; if not, roll back, as in {as}]",
	"{code=ContainerConfig}the {pods?pod starts by itself|pods start by themselves} when that object exists[; if not, roll back, as in {as}]",
	"{code=OOMKilled}raise the memory limit in the template[, or roll back, as in {as}]",
	"{as=0}",
	"if revision {revision} is at fault: roll back, as in {as}",
}

// title numbers a piece of advice, and names its problems.
func (a *answer) title(i int, d *explain.Advice) string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("%d. %s", i+1, reasonNames(d.Problems))
}

// causes says who, for each problem that does not pass by itself.
func (a *answer) causes(problems []*explain.Problem) {
	var said []string
	of := map[string][]daemonset.Reason{}
	several := slices.ContainsFunc(problems, func(p *explain.Problem) bool { return p.Code != problems[0].Code })
	for _, p := range problems {
		words := a.origin(p)
		if words != "" && len(of[words]) == 0 {
			said = append(said, words)
		}
		of[words] = append(of[words], p.Code)
	}
	for i, words := range said {
		switch most := 6; {
		case i >= most && !a.style.All:
			return
		case len(said) > 1 && several: // of what
			words = reasonNames(slices.Compact(of[words])) + ": " + words
		}
		a.add(screen.Cause, "%s", words)
	}
}

// origins say what a problem comes from. Beside its facts there are those of the
// pods that fail, and: on, how many nodes; some of them; code; evidence; reported,
// what the kubelet says.
var origins = map[cause.OriginKind][]string{
	cause.OriginRevision: {
		"{code=NoEligibleNode}likely revision {revision}, which changed {fields}: with revision {before}, {eligible:node} would be eligible",
		"likely revision {revision}: {new} {does}, {old} on {other}",
	},
	cause.OriginUnknown: {
		"{evidence=OldOnly}unknown: {oldFailing} of {oldPods:pod} on the revision before fail",
		"{evidence=Both}unknown: {newFailing} of {newPods:pod} on revision {current} fail, and {oldFailing} of {oldPods} on other revisions",
		"{evidence=All}{newPods=1}unknown: the only pod fails, and no other revision runs to compare with",
		"{evidence=All}unknown: all {newPods} pods fail, and no other revision runs to compare with",
		"{evidence=Some}{works=0}not known yet", "{evidence=Some}{code=ImagePullBackOff}the registry, or the way from {on?this node|these nodes} to it: {works:other node|other nodes} could pull the image",
		"{evidence=Some}{code=OOMKilled}the memory limit of revision {current}, or the load of {on?this node|these nodes}: revision {current} works on {works:other node}",
		"{evidence=Some}{code=ContainerConfig}the object that the message names does not exist: revision {current} works on {works:other node}, so it may have been deleted since[{back=true}, and then a rollback may not help]",
		"{evidence=Some}not known yet: revision {current} works on {works:other node}; in the logs, a program or configuration error points to revision {current}; a host, disk or network error points to the {on?node|nodes}",
	},
	cause.OriginNodes: {
		"{code=NodeGone}{on?the node was|the nodes were} deleted; the pod garbage collector removes what is left",
		"{earlier=true}{began=close}{on?the node|the nodes}, not the rollout: NotReady since {since@15:04:05}Z, the rollout started at {rollout@15:04:05}Z",
		"{earlier=true}{on?the node|the nodes}, not the rollout: NotReady for {lasting}[{code=Misscheduled} ({reported})], the rollout started {rollout@} ago",
		"{lasting=-}{on?the node|the nodes}: NotReady",
		"{earlier=false}{on?the node|the nodes}: NotReady for {lasting}; the rollout started earlier, {rollout@} ago",
		"{on?the node|the nodes}: NotReady for {lasting}[{code=Misscheduled} ({reported})]",
	},
	cause.OriginQuota:      {`the quota, not the DaemonSet: ResourceQuota "{name}" of namespace {namespace} has no room for {on:more pod}`},
	cause.OriginPolicy:     {"Pod Security of namespace {namespace}: the pod violates {name}"},
	cause.OriginWebhook:    {"admission webhook {name}"},
	cause.OriginAPIServer:  {"the API server: see its message"},
	cause.OriginScheduling: {"{code=HostPortConflict}not this DaemonSet: another pod on {some} uses the host port", "{resources=pods}{some} {on?runs|run} as many pods as {on?it|they} may", "other pods on {some}: they leave too little {resources} for this one"},
	cause.OriginController: {"likely kube-controller-manager: it is down, or cannot reach the API server"},
	cause.OriginStrategy: {
		"{code=HostPortConflict}maxSurge: the old pod on the node uses the host port that the new one needs",
		"{code=OnDeleteOutdated}updateStrategy {strategy}: the controller replaces a pod only after you have deleted it",
	},
}

// origin says what a problem comes from; empty where nothing tells, or it passes
// by itself.
func (a *answer) origin(p *explain.Problem) string {
	o, t := p.Origin, a.e.Tally()
	if o == nil {
		return ""
	}
	do, other := predicate{"pod", "fails", "fail"}, "other revisions"
	if t.NewFailing == p.Count {
		do = predicates[p.Code]
	}
	if len(a.e.Revisions) == 2 {
		other = revisionName(&a.e.Revisions[1])
	}
	f := with(p.Facts, with(t.Facts(), daemonset.Facts{
		"code": p.Code, "on": len(p.Nodes), "some": someNames(p.Nodes), "lasting": a.lasting(p), "evidence": a.e.Evidence(p), "reported": a.reported(p), "name": o.Name, "revision": o.Revision,
		"current": a.current(), "namespace": a.h.DaemonSet.Namespace, "strategy": strategy(a.h), "works": cmp.Or(a.e.Current(), &explain.Revision{}).Available, "does": pluralOf(t.NewPods, do.one, do.many),
		"new": pluralOf(t.NewPods, "its only pod", fmt.Sprintf("%d of its %d pods", t.NewPods, t.NewPods)), "old": pluralOf(t.OldPods, "not the one", fmt.Sprintf("none of the %d", t.OldPods)), "other": other,
	}))
	f["back"] = slices.ContainsFunc(a.e.Fixes, func(f explain.Fix) bool { return f.Code == explain.FixUndo })
	if began := a.e.Rollout.Since; began != nil && p.Since != nil && o.BeforeRollout != nil {
		f["earlier"], f["since"], f["rollout"] = *o.BeforeRollout, p.Since.Format(time.RFC3339), began.Format(time.RFC3339)
		if ago(a.now.Sub(*p.Since)) == ago(a.now.Sub(*began)) {
			f["began"] = "close"
		}
	}
	return fill(a.now, f, origins[o.Kind]...)
}

// preview is a plan of a fix, which changes nothing.
func (a *answer) preview(of, flag, value string) {
	c := a.again("plan-rollout", Flag{Name: flag, Value: value})
	if of == "" || len(c) == 0 {
		a.s.Add(screen.Preview, c)
		return
	}
	a.s.Add(screen.Preview, screen.Text("of "+of+":"), screen.Indent{c})
}

// fix is a command or an act that changes the cluster, and a plan of it; or joins
// what is another way.
func (a *answer) fix(f *explain.Fix, or string) {
	facts := daemonset.Facts{"nodes": len(f.Nodes), "name": f.Name, "needs": f.Needs, "pods": len(f.Pods), "current": a.current()}
	say := func(sentences ...string) string { return fill(a.now, facts, sentences...) }
	switch f.Code {
	case explain.FixUndo:
		to, words := strconv.FormatInt(f.Revision, 10), ""
		if f.Unsure {
			words = say("if revision {current} is at fault:")
		}
		a.preview("", "to-revision", to)
		a.act(screen.Fix, words, a.kubectl("kubectl rollout undo", a.namespace(), "daemonset/"+a.name(), screen.Word("--to-revision="+to)), append(a.undoes(f), a.undoneBy())...)
	case explain.FixRepairNodes:
		facts["under"], facts["whole"] = a.e.Rollout.UnderWay, a.e.Impact != nil && len(a.e.Impact.Without) == 0
		facts["undo"] = slices.ContainsFunc(a.e.Fixes, func(f explain.Fix) bool { return f.Code == explain.FixUndo })
		a.act(screen.Fix, say("repair {nodes?the node|the nodes}; ")+say("{undo=false}{under=true}the rollout then continues by itself",
			"{undo=false}{whole=true}{nodes?it then counts again, and keeps its pod|they then count again, and keep their pods}", "{nodes?its pod then comes back by itself|their pods then come back by themselves}"), nil)
		if a.e.Verdict.Code != explain.Healthy {
			a.act(screen.Fix, "or, only for a node that will never come back:", a.kubectl("kubectl delete node", screen.Placeholder("NODE")))
		}
	case explain.FixRaiseLimit:
		a.raise(f, or)
	case explain.FixRaiseQuota:
		raise, after := screen.Command{}, ""
		if f.Needs > 0 {
			after = "whoever manages the ResourceQuota may set it back"
			raise = a.kubectl("kubectl patch resourcequota", a.namespace(), screen.Quote(f.Name), "--type=merge", "-p", screen.Quote(fmt.Sprintf(`{"spec":{"hard":{"pods":"%d"}}}`, f.Needs)))
		}
		a.act(screen.Fix, say(`ask the team that manages ResourceQuota "{name}" to raise it[ to at least {needs:pod}, or raise it yourself:]`), raise, after)
	case explain.FixMakeRoom:
		for _, room := range []struct {
			code  daemonset.Reason
			words string
		}{{cause.HostPortConflict, ": change the host port of one of the two pods, or delete the other one if it can run elsewhere"}, {cause.InsufficientResources, ": delete pods that can run elsewhere, or lower what pods request"}} {
			on := slices.DeleteFunc(a.e.On(room.code), func(n string) bool { return !slices.Contains(f.Nodes, n) })
			if len(on) > 0 {
				a.s.Add(screen.Fix, screen.Names{Before: "on", Names: on, After: room.words})
			}
		}
	case explain.FixNoSurge:
		a.act(screen.Fix, "use maxUnavailable in place of maxSurge:", a.patch(`{"maxSurge":0,"maxUnavailable":1}`), "a node then has no available pod while its pod is replaced", a.undoneBy())
	case explain.FixDeletePods:
		l, words := screen.Fix, ""
		if a.e.Verdict.Code == explain.AwaitingDelete {
			a.preview("a rolling update in place of the deletions", "strategy", "RollingUpdate")
			l, words = screen.Continue, say("{pods=1}delete the pod; the node has no available pod until the new one is available:", "delete the {pods} pods one after the other; a node has no available pod until the new one is available:")
		}
		a.act(l, words, a.kubectl("kubectl delete pod", a.namespace(), screen.Quote(f.Pods[0])))
	}
}

// undoneBy says who undoes a change by hand, or that nobody is known to.
func (a *answer) undoneBy() string {
	if len(a.e.ManagedBy) == 0 {
		return "no sign of a GitOps tool or operator that would revert it"
	}
	who, undone := managerWords(a.e.ManagedBy[0])
	return who + " writes the DaemonSet: " + undone
}

// undoes says what a rollback does with pods.
func (a *answer) undoes(f *explain.Fix) []string {
	replaced, works, extra := a.e.Undoes(f)
	facts := daemonset.Facts{"revision": a.current(), "replaced": replaced, "extra": extra, "works": works, "some": works % max(replaced, 1)}
	if none := a.e.Has(cause.NoEligibleNode); none != nil {
		facts["eligible"] = none.Facts["eligible"]
	}
	effects := []string{fill(a.now, facts, "{eligible:node is eligible again and runs|nodes are eligible again and run} the pod",
		"{replaced=0}[deletes {extra:pod} on revision {revision} beside old ones]", "{works=0}replaces {replaced:pod} on revision {revision} immediately: {replaced?it is|they are} not available", "replaces {replaced:pod} on revision {revision}[, {some} of them available][, and deletes the {extra} beside old ones]")}
	if i := a.e.Impact; a.e.Budget.Kind == daemonset.BudgetSurge && i != nil && len(i.Without) == 0 {
		effects = append(effects, "no node loses its available pod")
	}
	return effects
}

// raise is a higher limit for as long as nodes are broken.
func (a *answer) raise(f *explain.Fix, or string) {
	field, flag, before := a.e.Budget.Kind.Field(), limitFlags[a.e.Budget.Kind], cmp.Or(a.e.Budget.Spec, "1")
	words, n := or+"to update the other pods now", len(f.Nodes)
	if n > 0 && f.Limit.Number > n {
		words += fmt.Sprintf(" (%d = %d unavailable + %d at a time)", f.Limit.Number, n, f.Limit.Number-n)
	}
	a.preview(fmt.Sprintf("%s %d", field, f.Limit.Number), flag, strconv.Itoa(f.Limit.Number))
	loses := ""
	if i := a.e.Impact; i != nil {
		loses = fill(a.now, costFacts(i.Uncounted), "["+costs+"]")
	}
	a.act(screen.Fix, words+":", a.limitTo(field, strconv.Itoa(f.Limit.Number)), loses, a.undoneBy())
	a.act(screen.Fix, "and afterwards back to "+before+":", a.limitTo(field, before))
}

// outlooks say what happens without a fix, or how long it takes.
var outlooks = []string{
	"{outlook=Stays}{verdict=AwaitingDelete}stays at {updated} of {desired} updated until you delete old pods",
	"{outlook=Stays}{verdict=Degraded}without a fix: stays at {available} of {desired} available",
	"{outlook=Stays}without a fix: stays at {updated} of {desired} updated",
	"{outlook=Stalls}without a fix: stops at {updated} of {desired} updated, {available} available",
	"{failing=true}time left unknown: {why}",
	"complete in {left}, if every new pod becomes available",
}

// outlook says what happens without a fix and after it, or what the controller
// does next.
func (a *answer) outlook() {
	e, matters := a.e, a.e.Matters()
	o := cmp.Or(e.Outlook, &explain.Outlook{})
	if o.Code != "" {
		a.add(screen.Outlook, "%s", fill(a.now, with(a.forecast(), daemonset.Facts{"why": a.why(2)}), outlooks...))
	}
	if e.Has(explain.ControllerSilent) != nil {
		a.add(screen.Outlook, "until it acts, running pods keep running, but no pod is created or replaced; a new node gets no pod")
	}
	if e.Has(cause.FailedCreate) != nil {
		a.add(screen.Outlook, "after a fix: the missing pods are created within 17m (the controller's back-off)")
	}
	if e.Verdict.Code == explain.Progressing || e.Verdict.Code == explain.NotObserved {
		a.mayFail(matters)
		switch {
		case o.Next != nil:
			f := daemonset.Facts{"at": o.Next.At.Format(time.RFC3339), "deletes": o.Next.Deletes, "creates": o.Next.Creates, "of": a.count("oldNodes")}
			a.add(screen.Outlook, "%s", fill(a.now, f, "{deletes=0}in {at@} the controller creates {creates:pod}", "in {at@} the controller deletes any {deletes} of {of} pods (it chooses at random)"))
		case e.Next.Kind == daemonset.StepNone && e.Next.Reason != daemonset.StepBudgetSpent: // which Limit says
			a.add(screen.Outlook, "%s", idle(e.Next.Reason, a.h))
		}
		a.sync(&e.Next, "next")
	}
	step := e.Next
	step.Revisions.Cut = false // said as the rollout's
	a.bookkeeping(step)
}

// mayFail says how a rollout continues whose new pods already fail, or may.
func (a *answer) mayFail(matters []*explain.Problem) {
	b := &a.e.Budget
	f := daemonset.Facts{"patience": int(cause.Patience.Seconds()), "free": *cmp.Or(b.Free, new(int)), "limit": b.MaxUnavailable, "surge": b.MaxSurge, "rolls": a.e.Rollout.UnderWay}
	for _, p := range matters {
		if !p.Late() && !(cause.OfContainer(p.Code) && number(p.Facts, "newFailing") > 0) {
			continue
		}
		f["late"] = p.Late()
		a.add(screen.Outlook, "%s", fill(a.now, f, "{late=true}a pod that is not Ready {patience@} after its start counts as failing; a rollout that waits for such pods alone counts as stuck",
			"{free=0}", "{rolls=false}", "{surge=0}the next new pod may fail too: the controller continues, at most {free:pod} at a time, until {limit:is unavailable|are unavailable}",
			"the next new pod may fail too: the controller continues, at most {free:pod} at a time, until {surge:extra pod exists|extra pods exist}"))
		return
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
	} else if a.e.Status.Computed == nil {
		row("", a.e.Status.Reported)
		t.Columns, t.Rows[0].Cells = t.Columns[1:], t.Rows[0].Cells[1:]
	} else {
		row("reported", a.e.Status.Reported)
		row("computed", a.e.Status.Computed)
	}
	a.s.Add(screen.Status, t)
	if a.e.Status.Computed == nil && a.e.Status.Reported != nil {
		a.add(screen.Status, "these are the numbers that the controller reported; they could not be checked")
	}
	if d := a.e.Status.Differences; len(d) > 0 {
		a.s.Add(screen.Status, screen.Text(map[daemonset.Reason]string{
			explain.Moving:     "the reported numbers are behind: something changed less than 30s ago",
			daemonset.NodeGone: "the reported numbers still count a deleted node, until something else changes",
		}[d[0].Reason]))
	}
	a.desired()
	a.sums()
}

// leftOut says why a number leaves a node out, where the reason's name does not.
var leftOut = map[daemonset.Reason]string{explain.OutOfDate: "on another revision", cause.NoPod: "no pod"}

// sums says for each number that is not simply all nodes what it leaves out.
func (a *answer) sums() {
	c := a.e.Status.Computed
	if c == nil {
		return
	}
	for _, s := range a.e.Sums() {
		words := screen.Words{fmt.Sprintf("%s %d = %d", strings.Join(s.Columns, ", "), s.Counted, c.Desired)}
		for _, l := range s.Less {
			name := cmp.Or(leftOut[l.Reason], string(l.Reason))
			switch {
			case l.Revision != nil && a.e.Budget.Kind == daemonset.BudgetSurge:
				name = "whose pod on " + revisionName(l.Revision) + " still runs"
			case l.Revision != nil:
				name = "on " + revisionName(l.Revision)
			}
			words = append(words, fmt.Sprintf("- %d (%s)", l.Count, name))
		}
		a.s.Add(screen.Status, words)
	}
	if n := a.count("stillCounted"); n > 0 {
		a.add(screen.Status, "AVAILABLE %d counts %s", c.Available, pluralVerb(n, "node whose pod is terminating", "nodes whose pods are terminating"))
	}
	if i := a.e.Impact; i != nil && len(i.Uncounted) > 0 && len(i.Uncounted) <= 3 { // Impact has them
		a.s.Add(screen.Status, screen.Names{Before: fmt.Sprintf("MISSCHEDULED %d =", len(i.Uncounted)), Names: i.Uncounted, Short: true})
	}
}

// desired is the arithmetic of DESIRED, with the rule that excludes a node.
func (a *answer) desired() {
	all, excluded, notReady := a.e.Eligible()
	t := &screen.Table{Columns: []screen.Column{{Wrap: true, Short: true}, {Wrap: true}}}
	for _, g := range a.e.Groups("DESIRED", false) {
		t.Rows = append(t.Rows, screen.Row{Cells: []screen.Cell{{Names: g.Nodes}, {Lines: []string{placement(g.Reason, g.Facts)}}}})
	}
	switch {
	case excluded > 0:
		a.add(screen.Status, "DESIRED %d = %s - %d not eligible:", all, plural(all+excluded, "node"), excluded)
		a.s.Add(screen.Status, screen.Indent{a.atMost(4, t, "reason")})
	case all > 0:
		a.add(screen.Status, "DESIRED %d = %s%s", all, pluralOf(all, "the only node", allOf(all)+"nodes"), fill(a.now, daemonset.Facts{"n": notReady}, "[, including the {n} NotReady: the pod tolerates their taints]"))
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
		a.add(screen.Assumed, "%s", assumption(as, e.Assumptions, nil))
	}
	t := &screen.Table{Flush: true, Columns: columns("NODE", "SHOULD RUN", "SLOT", "POD", "PHASE", "REVISION", "READY", "AVAILABLE", "PROBLEM")}
	for i := range e.Nodes {
		n, should := &e.Nodes[i], "?"
		if n.ShouldRun != nil {
			should = string(n.ShouldRun.Reason)
		}
		row := func(pod ...string) {
			cells := slices.Concat([]string{n.Name, should, string(n.Slot)}, pod, []string{string(n.ProblemCode())})
			t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(cells...)})
		}
		for _, p := range n.Pods {
			row(p.Name, p.Status(), revisionOf(e, p), yesNo(p.Ready), yesNo(p.Available))
		}
		if len(n.Pods) == 0 {
			row("-", "-", "-", "-", "-")
		}
	}
	a.s.Add(screen.Body, t)
}
