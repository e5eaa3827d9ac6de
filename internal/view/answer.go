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
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Explanation writes one DaemonSet's answer.
func Explanation(w io.Writer, e *explain.Explanation, asked Asked, style Style) error {
	return writeOne(w, &explanation(e, asked, style).s, style)
}

func explanation(e *explain.Explanation, asked Asked, style Style) *answer {
	a := newAnswer(e, asked, style)
	a.counts = true
	a.headline()
	a.present()
	a.outlook()
	a.status()
	a.wide()
	a.further()
	return a
}

// further leaves to --all what answers neither what is wrong, whose fault it is, who is affected nor what to do.
func (a *answer) further() {
	if a.style.Wide {
		return
	}
	a.s.Further(screen.Check, screen.Rollout, screen.Limit, screen.Other, screen.States, screen.Notes)
	if a.s.Has(screen.Then) || len(a.e.Fixes()) > 0 {
		a.s.Further(screen.Preview)
	}
	a.fits(len(a.e.Advice))
}

// fits leaves Outlook to --all where an answer about some problems needs more lines than one terminal has.
func (a *sheet) fits(problems int) {
	t := a.style.terminal()
	t.All = false // what only --all shows does not count
	if most := 22 + 8*max(0, problems-1); a.s.Height(t) > most {
		a.s.Further(screen.Outlook)
	}
}

// answer makes the screen of one Explanation.
type answer struct {
	*sheet
	e      *explain.Explanation
	inPlan bool // it is shown in a plan of what is under way
	// it is of a plan that will stall, and its Fix is to roll back
	goesBack bool
	unfit    bool     // in the plan, the new pod does not fit on nodes
	losing   bool     // in the plan, nodes lose their available pod
	atEnd    bool     // a rollback that several problems ask for stands at the end
	inTable  bool     // a table has the problems
	counts   bool     // the headline has the age of the problems, and how many nodes have no available pod
	told     []string // the nodes that the problems name, sorted
}

func newAnswer(e *explain.Explanation, asked Asked, style Style) *answer {
	return &answer{sheet: newSheet(&e.Header, asked, style), e: e}
}

// present says what is the case now, why, and what to do.
func (a *answer) present() {
	a.told = a.inProblems()
	a.impact()
	a.stands()
	a.rollout()
	a.change()
	a.limit()
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
	words, tone := a.words()
	a.s.Headline = screen.Headline{Verdict: words, Tone: tone, Subject: a.subject(), Text: a.summary()}
}

// words returns the verdict as a headline says it, and its tone.
func (a *answer) words() (string, screen.Tone) {
	v, n := verdicts[a.e.Verdict.Code], len(a.e.Matters())
	switch code := a.e.Verdict.Code; {
	case code == explain.Healthy && a.count("desired") == 0 && a.nowhere() != "":
		v.words, v.tone = "NO ELIGIBLE NODE", screen.Bad
	case a.e.Has(cause.ControllerSilent) != nil:
		v.words, v.tone = "CONTROLLER SILENT", screen.Bad
	case n > 0 && (code == explain.Healthy || code == explain.Progressing):
		v.words, v.tone = fill(a.now, daemonset.Facts{"verdict": v.words, "warnings": n, "healthy": code == explain.Healthy}, "{healthy=true}{warnings=1}WARNING", "{healthy=true}{warnings} WARNINGS", "{verdict}, {warnings:WARNING|WARNINGS}"), screen.Warn
	}
	return v.words, v.tone
}

// summaries begin the headline's sentence.
var summaries = map[explain.VerdictCode][]string{
	explain.BeingDeleted: {"the controller no longer manages its pods"},
	explain.Unknown:      {"{next=SelectsAll}its selector is empty, so the controller ignores it", "{unread}"},
	explain.NotObserved:  {"the controller has not observed generation {generation} yet; its numbers are of generation {observed}"},
	explain.AwaitingDelete: {
		"{oldNodes=1}{new} of {desired:pod} updated; the other one waits for you to delete it ({strategy})", "{new} of {desired:pod} updated; the other {oldNodes} wait for you to delete them ({strategy})",
	},
	explain.Healthy: {"{available} of {desired:pod} available[{same=true} and updated][; old pods still terminate on {ending:node}]"},
}

// summary is the headline's sentence: how far it is, what is wrong, and how it
// goes on automatically.
func (a *answer) summary() string {
	code, why := a.e.Verdict.Code, a.why(2)
	older := a.count("desired") - a.count("updated") // the status counts a node by its oldest pod
	words := fill(a.now, with(a.e.Verdict.Facts, daemonset.Facts{
		"next": a.e.Next.Reason, "unread": unread(a.h), "generation": a.h.DaemonSet.Generation, "observed": a.h.DaemonSet.ObservedGeneration, "strategy": strategy(a.h),
		"new": a.count("desired") - a.count("oldNodes"), "same": older <= 0, "ending": max(0, older),
	}), append(summaries[code], "{available} of {desired:pod} available")...)
	switch {
	case code == explain.BeingDeleted || code == explain.Unknown:
		return words
	case code == explain.NotObserved || code == explain.AwaitingDelete:
		return joined("; ", words, a.nowhere())
	case a.counted():
		return joined("; ", why+behind(" ", bracketed(behind("for ", a.age()))), a.unserved())
	case a.count("desired") > 0 && a.e.Rollout.UnderWay && (code == explain.Stuck || code == explain.Progressing):
		return joined("; ", fill(a.now, a.e.Verdict.Facts, "{updated} of {desired:pod} updated"), a.left(), why)
	case a.e.Has(cause.ControllerSilent) != nil, code == explain.Healthy && a.count("desired") > 0: // what is wrong first
		return joined("; ", why, words)
	case a.count("desired") > 0:
		return joined("; ", words, why)
	case len(a.e.Columns) > 0 && why == "":
		return "DESIRED is 0: the cluster has no node"
	}
	return joined("; ", "DESIRED is 0", why)
}

// counted reports whether the headline has the age of the problems and the number of nodes without an available pod.
func (a *answer) counted() bool {
	code := a.e.Verdict.Code
	return a.counts && a.count("desired") > 0 && (code == explain.Stuck || code == explain.Degraded) && a.why(2) != "" && a.unserved() != ""
}

// age is for how long the problems of the headline have been there; empty where that is not known of each.
func (a *answer) age() string {
	first, last := explain.Lasting(a.e.Matters())
	if first == nil {
		return ""
	}
	return a.lasting(&cause.Problem{Since: first, Latest: last})
}

// unserved is how many nodes have no available pod; empty where that is not known.
func (a *answer) unserved() string {
	i := a.e.Impact
	if i == nil || a.h.Lacks(snapshot.Pods) || a.h.Lacks(snapshot.Nodes) || a.e.Has(cause.NoEligibleNode) != nil {
		return ""
	}
	all := len(i.Without) + i.Served
	if len(i.Without) == 0 {
		return allHave(all) + " an available pod"
	}
	return fill(a.now, daemonset.Facts{"without": len(i.Without), "nodes": all}, "{without} of {nodes:node} {without?has|have} no available pod")
}

// left is how long a rollout takes that goes on automatically, or where it stops;
// empty where that is not known.
func (a *answer) left() string {
	return fill(a.now, a.forecast(), "{outlook=Stalls}it will stop at {updated} of {desired}", "{outlook=Completes}{failing=false}{left} left[ if {if:pod becomes|pods become} Ready]")
}

// forecast is the Outlook as facts.
func (a *answer) forecast() daemonset.Facts {
	o := cmp.Or(a.e.Outlook, &explain.Outlook{})
	f := daemonset.Facts{"outlook": o.Code, "verdict": a.e.Verdict.Code, "updated": o.Updated, "desired": o.Desired, "available": o.Available, "failing": a.e.Failing(), "matters": len(a.e.Matters())}
	if o.Duration != nil {
		f["left"] = rangeWords(o.Duration)
	}
	if other := o.Otherwise; other != nil && !other.Ready {
		f["if"], f["on"], f["else"] = len(other.Nodes), someNames(other.Nodes), otherwise(other, o.Desired, false)
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
	g := a.noneBy()
	return cmp.Or(fill(a.now, g.Facts, noneOf[g.Reason]), fill(a.now, placementFacts(p.Facts), noneNear...)) + noneThen(known{p.Facts, a.now})
}

// noneBy is the one rule that leaves no node eligible; empty where there are several, or a node is.
func (a *answer) noneBy() (rule explain.ColumnGroup) {
	if g := a.e.Groups("DESIRED", false); len(g) == 1 && a.e.Has(cause.NoEligibleNode) != nil {
		rule = g[0]
	}
	return rule
}

// noneOf says which rule leaves no node eligible.
var noneOf = map[daemonset.Reason]string{daemonset.NodeSelector: "no node has the label {key}=[{want}]", daemonset.TaintNotTolerated: "every node has the taint {taint}"}

// noneNear says what excludes the nodes that are nearest to being eligible.
var noneNear = []string{
	"{excludedBy=Taint}{picks=}no node is eligible",
	"{excludedBy=Taint}{nearest:node matches|nodes match} the {picks}, but {nearest?its|their} {taints?taint|taints} {taints} {taints?is|are} not tolerated",
	"{lacks=any}no node has a label that the affinity requires", "no node is eligible",
}

// clauses are problems of which no pod or node is the subject.
var clauses = map[daemonset.Reason][]string{
	cause.NoEligibleNode:          {}, // said behind all others
	cause.FailedCreate:            {"{called=false}an admission webhook does not respond, so {on:pod} {on?is|are} not created", "{by} rejects {on:pod}"},
	cause.NextRolloutStalls:       {"{some} would stall the next rollout"},
	cause.ControllerSilent:        {"the DaemonSet controller has not acted for {lasting}"},
	explain.StaleStatus:           {"the reported status is stale"},
	cause.Misscheduled:            {"{down=true}{some} {on?is|are} NotReady and not counted", "{strandedBy=Next}the next rollout removes the pod from {some}[ and {more:more node}]", "the rollout removes the pod from {some}"},
	daemonset.InvalidBudget:       {"{field} cannot be resolved"},
	daemonset.VanishedNodeInSurge: {"a pod of a deleted node blocks every step"},
}

// rejecters are what rejects a pod, where that is not the API server itself.
var rejecters = map[cause.SubjectKind]string{cause.SubjectQuota: "a ResourceQuota", cause.SubjectPolicy: "Pod Security", cause.SubjectSCC: "SCC admission", cause.SubjectWebhook: "an admission webhook"}

// clause is a problem on some nodes in few words.
func (a *answer) clause(p *explain.Problem, nodes []string) string {
	o := cmp.Or(p.Blame, &cause.Blame{})
	if sentences, ok := clauses[p.Code]; ok {
		some := cmp.Or(strings.Join(p.Nodes, " and "), "the cluster")
		if len(p.Nodes) > 2 {
			some = Plural(len(p.Nodes), "node")
		}
		return fill(a.now, with(p.Facts, daemonset.Facts{"on": len(p.Nodes), "some": some, "down": p.Blame != nil, "lasting": a.lasting(p), "more": len(a.strandedBeside(p.Nodes)), "by": cmp.Or(rejecters[p.Subject.Kind], "the API server"), "called": p.Facts["uncalled"] == nil}), sentences...)
	}
	words := predicates[p.Code].byProbe(p.Facts)
	if o.Who == cause.WhoChange && len(nodes) == a.count("newPods") && len(nodes) > 1 && words.noun != "" {
		return allOf(len(nodes)) + "new pods " + words.many
	}
	if p.Common != nil && o.Who == cause.WhoNodeProperty && p.Common.OfPlatform() && p.Common.Exact() && len(nodes) > 1 {
		return words.of(nodes, len(p.Pods)) + ", on " + screen.Clean(p.Common.Properties[0].Value) + " nodes only"
	}
	return words.of(nodes, len(p.Pods))
}

// strandedBeside are the other nodes from which a rollout removes the pod for a taint.
func (a *answer) strandedBeside(nodes []string) (others []string) {
	these := sets.New(nodes...)
	for i := range a.e.Problems {
		if p := &a.e.Problems[i]; fact(p.Facts, "strandedBy") != "" {
			others = append(others, slices.DeleteFunc(slices.Clone(p.Nodes), these.Has)...)
		}
	}
	slices.Sort(others)
	return others
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
	told          []string // instead of all this, where the problems name the nodes and the headline counts them
}{
	explain.AffectedUnknown: {[]string{"{named=true}{unread}; without an available pod at least:", "unknown: {unread}"}, nil, true, nil},
	explain.AffectedNowhere: {[]string{"{lasting=-}no node runs the pod", "no node runs the pod; none has been eligible for {lasting}"}, nil, false, nil},
	explain.AffectedRemoved: {[]string{"the controller deletes the pods on all nodes that have one:"}, nil, true, nil},
	explain.AffectedAlmost:  {[]string{"none: {have} a Ready pod; not counted as available yet:"}, nil, false, nil},
	explain.AffectedSome: {
		[]string{"{whole} no available pod:", "{without} of {nodes:node} {without?has|have} no available pod:"},
		[]string{"{served=1}; the other one has an available pod[ of {revision}]", "; the other {served} have an available pod[ of {revision}]"}, true,
		[]string{"{served=1}the other node has an available pod[ of {revision}]", "the other {served:node has|nodes have} an available pod[ of {revision}]"},
	},
	explain.AffectedServedByOld: {[]string{"none yet: the old pod still runs alongside the new one on"}, []string{", so {have} an available pod"}, false, []string{"none yet: the old pod still runs alongside the new one"}},
	explain.AffectedNobody:      {[]string{"{yet=true}none yet: {have} an available pod", "none: {have} an available pod"}, nil, false, nil},
}

func (a *answer) impact() {
	affected, nodes := a.e.Affected()
	i, words := cmp.Or(a.e.Impact, &explain.Impact{}), impacts[affected]
	all := len(i.Without) + i.Served
	f := daemonset.Facts{"unread": unread(a.h), "named": len(nodes) > 0, "without": len(i.Without), "nodes": all, "have": allHave(all), "yet": a.losing}
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
	if a.brief && affected == explain.AffectedServedByOld {
		words.before, nodes = []string{"none yet: {have} an available pod"}, nil
	}
	after := fill(a.now, f, words.after...)
	if a.brief {
		const most = 2
		if after = ""; len(nodes) > most+1 {
			nodes, after = nodes[:most], fmt.Sprintf(" +%d more", len(nodes)-most)
		}
	}
	if a.counted() && len(nodes) > 0 && slices.Equal(slices.Sorted(slices.Values(nodes)), a.told) {
		a.add(screen.Impact, "%s", fill(a.now, f, words.told...))
	} else {
		a.s.Add(screen.Impact, screen.Names{Before: fill(a.now, f, words.before...), Names: nodes, After: after, Short: words.short})
	}
	if a.e.Has(cause.ControllerSilent) != nil {
		a.add(screen.Impact, "likely every DaemonSet of the cluster, and if kube-controller-manager is down, Deployments and Jobs too: no pod is created or replaced")
	}
	if r := a.refusal(a.e.Has(cause.FailedCreate)); r != nil && r.Reason != admission.QuotaExceeded && i.Served > 0 && !a.brief {
		a.add(screen.Impact, "already now: a pod that is deleted or evicted is not replaced")
	}
	if n := len(i.Uncounted); n > 0 && affected != explain.AffectedRemoved && (!a.brief || fill(a.now, f, words.before...) == "") {
		a.s.Add(screen.Impact, screen.Names{Before: "the " + pluralOf(n, "pod", strconv.Itoa(n)+" pods") + " on", Names: i.Uncounted, After: pluralOf(n, " still exists", " still exist") + ", but DESIRED and READY do not count " + pluralOf(n, "it", "them") + ": alerts on DESIRED or READY do not fire", Short: true})
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
	if f["none"] = "none in progress"; !a.style.All { // which needs no line of its own
		f["none"] = ""
	}
	a.add(screen.Rollout, "%s", fill(a.now, f, "{verdict=Unknown}{pods}", "{under=false}[{none}]", "{verdict=AwaitingDelete}revision {current} is {since@} old: {pods}", "started {since@} ago: {pods}", "{pods}"))
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
		a.add(screen.Change, "written by %s", screen.Clean(strings.Join(by, ", ")))
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
	limit, used := b.MaxUnavailable, "{used} {is}[ {beyond}][{full=true}, so the controller replaces no more pods][{until=true} until one is available][, so {more} more may become unavailable]"
	if b.Kind == daemonset.BudgetSurge {
		limit, used = b.MaxSurge, "{used:extra pod exists|extra pods exist}[{full=true}, so the controller starts no more pods][{until=true} until one is available]"
	}
	words := limitWords(b.Kind, b.Spec, b.Scaled, b.Of, limit)
	if b.Fallback {
		words = "maxUnavailable and maxSurge both come to 0, so the controller uses maxUnavailable 1"
	}
	full := *b.Used >= limit && a.e.Next.Deletes.Len() == 0
	f := daemonset.Facts{"used": *b.Used, "is": pluralOf(*b.Used, "is unavailable", "are unavailable")}
	if a.e.Has(cause.ExcludedButCounted) != nil { // of these, some should not run the pod
		f["is"] = pluralOf(*b.Used, "counts as unavailable", "count as unavailable")
	}
	if !a.brief {
		f = with(f, daemonset.Facts{"more": max(0, limit-*b.Used) * min(1, *b.Used), "full": full, "until": full && a.e.Verdict.Code == explain.Progressing})
		if *b.Used > limit && b.Kind == daemonset.BudgetUnavailable {
			f["beyond"] = "already"
		}
	}
	a.add(screen.Limit, "%s, and %s", words, fill(a.now, f, used))
}

// stands says why a rollout stands still, where its limit is used up.
func (a *answer) stands() {
	b := &a.e.Budget
	if a.e.Verdict.Code != explain.Stuck || !a.e.Rollout.UnderWay || b.Kind == daemonset.BudgetNone || b.Used == nil || a.e.Next.Deletes.Len() > 0 {
		return
	}
	if limit := map[bool]int{true: b.MaxSurge, false: b.MaxUnavailable}[b.Kind == daemonset.BudgetSurge]; limit > 0 && *b.Used >= limit {
		a.add(screen.Impact, "%s %d is reached, so the rollout is stalled", b.Kind.Field(), limit)
	}
}

// heads are those of the table of problems.
var heads = map[explain.Gravity]string{explain.GravityNone: "STATE", explain.GravityWarning: "WARNING", explain.GravityProblem: "PROBLEM"}

// mostProblems is how many problems have a paragraph each; more are a table.
const mostProblems = 3

// problems says what is wrong, of these problems, and what the cluster says of it. What is only worth knowing is a
// note. With a title above them that names it, a problem has no name of its own.
func (a *answer) problems(of []*explain.Problem, titled bool) {
	rows, notes := a.e.Listed()
	these := func(p *explain.Problem) bool { return !slices.Contains(of, p) }
	rows, notes = slices.DeleteFunc(rows, these), slices.DeleteFunc(notes, these)
	short := a.e.Gravity() == explain.GravityNone || a.e.Verdict.Code == explain.BeingDeleted // which waits for its pods
	for _, p := range notes {
		if p.Code == cause.NextRolloutStalls && len(a.e.Advice) > 0 {
			a.toSolve = a.firstOfAll()
			a.s.Add(screen.DoNot, screen.Text(a.meaning(p)))
			continue
		}
		if short {
			a.note(a.detail(p)...)
			continue
		}
		a.s.Add(screen.Notes, a.detail(p)...)
	}
	if !short {
		rows = a.aside(rows)
	}
	if a.e.Gravity() == explain.GravityNone || len(rows) > mostProblems {
		a.s.Add(screen.Body, a.problemTable(heads[a.e.Gravity()], rows))
		return
	}
	titled = titled && len(rows) == 1
	for _, p := range rows {
		since := a.since(p)
		if a.counted() && (len(rows) > 1 || len(a.e.Matters()) == 1) {
			since = ""
		}
		what := screen.Names{Before: string(p.Code), After: since + behind(": ", a.meaning(p))}
		if len(p.Nodes) > 0 {
			what.Before, what.Names, what.Short = what.Before+" on", p.Nodes, true
		}
		switch {
		case titled && p.Blame != nil && saysAll(p): // which is Fault
			what = screen.Names{}
		case titled:
			what = screen.Names{Before: a.meaning(p)}
		}
		if p.Code == cause.Misscheduled {
			a.s.Add(screen.Problem, what)
			continue
		}
		if message := a.reported(p); len(rows) > 1 && p.Facts["furtherMessages"] == nil { // which of them says it
			what.After += behind(": ", message)
			a.s.Add(screen.Problem, what, screen.Text(a.started(p)))
			continue
		}
		a.s.Add(screen.Problem, what, screen.Text(a.started(p)))
		a.s.Add(screen.Message, a.messages(p)...)
	}
}

// aside returns the rows that matter; the others it leaves to --all.
func (a *answer) aside(rows []*explain.Problem) []*explain.Problem {
	matters := a.e.Matters()
	is := func(p *explain.Problem) bool { return slices.Contains(matters, p) }
	if others := slices.DeleteFunc(slices.Clone(rows), is); len(others) > 0 {
		a.s.Add(screen.States, a.problemTable("STATE", others))
	}
	return slices.DeleteFunc(slices.Clone(rows), func(p *explain.Problem) bool { return !is(p) })
}

// saysAll reports whether the words of a problem's blame say all that its own words say.
func saysAll(p *explain.Problem) bool {
	return p.Blame.Who == cause.WhoMissingObject && p.Facts["kind"] != nil ||
		p.Blame.Who == cause.WhoOtherWorkload && p.Code == cause.HostPortConflict
}

// since is for how long a problem has been there.
func (a *sheet) since(p *explain.Problem) string {
	if p.Since == nil {
		return ""
	}
	return " for " + a.lasting(p)
}

// inProblems are the nodes that the problems name, sorted, where Problem names them all.
func (a *answer) inProblems() []string {
	rows, _ := a.e.Listed()
	if a.e.Gravity() == explain.GravityNone || len(rows) > mostProblems && len(a.e.Advice) < 2 {
		return nil
	}
	var nodes []string
	for _, p := range rows {
		nodes = append(nodes, p.Nodes...)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// onDelete is the table of pods that wait for a person.
func (a *answer) onDelete() {
	if a.e.Verdict.Code != explain.AwaitingDelete {
		return
	}
	t := &screen.Table{Columns: columns("OLD POD", "NODE", "REVISION")}
	for i := range a.e.Nodes {
		for _, p := range a.e.Nodes[i].Old() {
			t.Row(p.Name, a.e.Nodes[i].Name, revisionOf(a.e, p))
		}
	}
	a.s.Add(screen.Body, a.atMost(3, t, "pod"))
}

// outlooks say what happens without a fix, or how long it takes.
var outlooks = []string{
	"{outlook=Stays}{verdict=AwaitingDelete}stays at {updated} of {desired} updated until you delete old pods",
	"{outlook=Stays}{verdict=Degraded}without a fix: stays at {available} of {desired} available",
	"{outlook=Stays}without a fix: stays at {updated} of {desired} updated",
	"{outlook=Stalls}without a fix: stops with {updated} of {desired} updated, {available} available",
	"{failing=true}complete in {left}, except that {why}", "{failing=true}time left unknown: {why}",
	"complete in {left}, if {if?the pod|the pods} on {on} {if?becomes|become} Ready{else}",
	"complete in {left}, if every new pod becomes available",
}

// outlook says what happens without a fix and after it, or how long it takes.
func (a *answer) outlook() {
	if a.e.Outlook != nil {
		l := screen.Outlook
		if a.e.Outlook.Code == explain.Stays {
			l = screen.Rollout
		}
		a.add(l, "%s", fill(a.now, with(a.forecast(), daemonset.Facts{"why": a.why(2)}), outlooks...))
	}
	a.then()
}

// then says how it goes on after a fix, or what the controller does next.
func (a *answer) then() {
	e, o := a.e, cmp.Or(a.e.Outlook, &explain.Outlook{})
	if o.Otherwise != nil && o.Otherwise.Ready {
		l := screen.Outlook
		if len(e.Advice) > 1 {
			l = screen.Rollout
		}
		a.add(l, "%s", otherwise(o.Otherwise, o.Desired, o.Code != explain.Completes))
	}
	if e.Has(cause.ControllerSilent) != nil {
		a.add(screen.Outlook, "until it acts, running pods keep running, but no pod is created or replaced; a new node gets no pod")
	}
	if e.Has(cause.FailedCreate) != nil {
		a.add(screen.Outlook, "after a fix: the missing pods are created within 17m (the controller's back-off)")
	}
	if e.Verdict.Code == explain.Progressing || e.Verdict.Code == explain.NotObserved {
		a.mayFail(e.Matters())
		switch {
		case o.Next != nil:
			f := daemonset.Facts{"at": o.Next.At.Format(time.RFC3339), "deletes": o.Next.Deletes, "creates": o.Next.Creates, "of": a.count("oldNodes")}
			a.add(screen.Outlook, "%s", fill(a.now, f, "{deletes=0}in {at@} the controller creates {creates:pod}", "in {at@} the controller deletes {deletes} of {of} pods, chosen at random"))
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
	f := daemonset.Facts{"free": *cmp.Or(b.Free, new(int)), "limit": b.MaxUnavailable, "surge": b.MaxSurge, "rolls": a.e.Rollout.UnderWay}
	for _, p := range matters {
		if !p.Late() && !(cause.OfContainer(p.Code) && number(p.Facts, "newFailing") > 0) {
			continue
		}
		f["late"], f["patience"] = p.Late(), number(p.Facts, "patience")
		a.add(screen.Outlook, "%s", fill(a.now, f, "{late=true}a pod that is not Ready {patience@} after its creation counts as failing; a rollout that waits for such pods alone counts as stuck",
			"{free=0}", "{rolls=false}", "{surge=0}the next new pod may fail too: the controller continues, at most {free:pod} at a time, until {limit:is unavailable|are unavailable}",
			"the next new pod may fail too: the controller continues, at most {free:pod} at a time, until {surge:extra pod exists|extra pods exist}"))
		return
	}
}
