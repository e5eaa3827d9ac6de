// Package diagnosis describes a problem of a DaemonSet: its cause, its effects and the actions to take. It turns an
// Explanation into an Answer, which explain, plan-rollout and history show.
package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/difftext"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Explain returns the answer about one DaemonSet.
func Explain(e *explain.Explanation, asked sheet.Asked, style wording.Style) *Answer {
	a := New(e, asked, style)
	a.Counts = true
	a.Headline()
	a.Present()
	a.Outlook()
	a.status()
	a.wide()
	a.hideDetails()
	return a
}

// hideDetails hides everything except the problem, its cause, its effects and the actions to take. The flag --all shows
// the rest.
func (a *Answer) hideDetails() {
	if a.Style.Wide {
		return
	}
	a.Screen.Further(screen.Check, screen.Rollout, screen.Limit, screen.Other, screen.States, screen.Notes)
	if a.Screen.Has(screen.Then) || len(a.E.Fixes()) > 0 {
		a.Screen.Further(screen.Preview)
	}
	a.FitScreen(len(a.E.Advice))
}

// Answer builds the screen of one Explanation.
type Answer struct {
	*sheet.Sheet
	E      *explain.Explanation
	InPlan bool // the screen is a plan of a rollout in progress
	// the plan will stall, and its fix is a rollback
	GoesBack bool
	Unfit    bool // in the plan, the new pod does not fit on some nodes
	Losing   bool // in the plan, some nodes lose their available pod
	atEnd    bool // one rollback for several problems follows at the end of the screen
	InTable  bool // a table shows the problems
	// the headline shows the duration of the problems and the number of nodes without an available pod
	Counts     bool
	namedNodes []string // the nodes that the problems name, sorted
}

// New returns an empty answer about e.
func New(e *explain.Explanation, asked sheet.Asked, style wording.Style) *Answer {
	return &Answer{Sheet: sheet.New(&e.Header, asked, style), E: e}
}

// Present adds the current state, its cause and the actions to take.
func (a *Answer) Present() {
	a.namedNodes = a.problemNodes()
	a.Impact()
	a.addStall()
	a.Rollout()
	a.Change()
	a.Limit()
	a.onDelete()
	a.Solutions()
}

// count returns a number that determines the verdict.
func (a *Answer) count(key string) int { return wording.Number(a.E.Verdict.Facts, key) }

// Verdicts has the words and the tone of each verdict.
var Verdicts = map[explain.VerdictCode]struct {
	Words string
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

// Headline sets the headline of the screen.
func (a *Answer) Headline() {
	words, tone := a.Words()
	a.Screen.Headline = screen.Headline{Verdict: words, Tone: tone, Subject: a.Subject(), Text: a.Summary()}
}

// Words returns the verdict and its tone for a headline.
func (a *Answer) Words() (string, screen.Tone) {
	v, n := Verdicts[a.E.Verdict.Code], len(a.E.Matters())
	switch code := a.E.Verdict.Code; {
	case code == explain.Healthy && a.count("desired") == 0 && a.whyNoneEligible() != "":
		v.Words, v.tone = "NO ELIGIBLE NODE", screen.Bad
	case a.E.Has(cause.ControllerSilent) != nil:
		v.Words, v.tone = "CONTROLLER SILENT", screen.Bad
	case (code == explain.Stuck || code == explain.Degraded) && a.down():
		v.Words = "DOWN"
	case n > 0 && (code == explain.Healthy || code == explain.Progressing):
		warnings := wording.PluralVerb(n, "WARNING", "WARNINGS")
		if v.tone = screen.Warn; code == explain.Progressing {
			v.Words += ", " + warnings
		} else {
			v.Words = wording.PluralOf(n, "WARNING", warnings)
		}
	}
	return v.Words, v.tone
}

// progressClause returns the first clause of the headline: the progress so far.
func (a *Answer) progressClause() string {
	desired := a.count("desired")
	older := desired - a.count("updated") // the status counts a node by its oldest pod
	pods := wording.Plural(desired, "pod")
	available := wording.Phrase(wording.Fact(a.E.Verdict.Facts, "available"), " of "+pods+" available")
	switch a.E.Verdict.Code {
	case explain.BeingDeleted:
		return "the controller no longer manages its pods"
	case explain.Unknown:
		if a.E.Next.Reason == daemonset.StepSelectsAll {
			return "its selector is empty, so the controller ignores it"
		}
		return cmp.Or(sheet.Unread(a.Header), available)
	case explain.NotObserved:
		return fmt.Sprintf("the controller has not observed generation %d yet; its numbers are of generation %d",
			a.Header.DaemonSet.Generation, a.Header.DaemonSet.ObservedGeneration)
	case explain.AwaitingDelete:
		old := a.count("oldNodes")
		wait := wording.PluralOf(old, "one waits for you to delete it",
			strconv.Itoa(old)+" wait for you to delete them")
		return strconv.Itoa(desired-old) + " of " + pods + " updated; the other " + wait + " (" +
			screen.Clean(sheet.Strategy(a.Header)) + ")"
	case explain.Healthy:
		return available + wording.Either(older <= 0, " and updated",
			"; old pods still terminate on "+wording.Plural(older, "node"))
	}
	return available
}

// Summary returns the sentence of the headline: the progress, the problems, and the automatic next steps.
func (a *Answer) Summary() string {
	code, why := a.E.Verdict.Code, a.Why(2)
	words := a.progressClause()
	switch {
	case code == explain.BeingDeleted || code == explain.Unknown:
		return words
	case code == explain.NotObserved || code == explain.AwaitingDelete:
		return wording.Joined("; ", words, a.whyNoneEligible())
	case a.counted():
		return wording.Joined("; ", why+wording.WithPrefix(" ", wording.Bracketed(a.age())), a.unserved())
	case a.count("desired") > 0 && a.E.Rollout.UnderWay && (code == explain.Stuck || code == explain.Progressing):
		updated := strconv.Itoa(a.count("updated")) + " of " + wording.Plural(a.count("desired"), "pod") + " updated"
		return wording.Joined("; ", updated, a.timeLeft(), why)
	case a.E.Has(cause.ControllerSilent) != nil, code == explain.Healthy && a.count("desired") > 0:
		// begin with the problem
		return wording.Joined("; ", why, words)
	case a.count("desired") > 0:
		return wording.Joined("; ", words, why)
	case len(a.E.Columns) > 0 && why == "":
		return "DESIRED is 0: the cluster has no node"
	}
	return wording.Joined("; ", "DESIRED is 0", why)
}

// counted reports whether the headline shows the duration of the problems and the number of nodes without an available
// pod.
func (a *Answer) counted() bool {
	code := a.E.Verdict.Code
	return a.Counts && a.count("desired") > 0 && (code == explain.Stuck || code == explain.Degraded) &&
		a.Why(2) != "" && a.unserved() != ""
}

// age returns the duration of the problems in the headline. It returns "" if the duration of any of them is unknown.
func (a *Answer) age() string {
	first, last := explain.Lasting(a.E.Matters())
	if first == nil {
		return ""
	}
	return a.Lasting(&cause.Problem{Since: first, Latest: last})
}

// unserved returns the number of nodes without an available pod, in words. It returns "" if the number is unknown.
func (a *Answer) unserved() string {
	i := a.E.Impact
	if i == nil || a.Header.Lacks(snapshot.Pods) || a.Header.Lacks(snapshot.Nodes) ||
		a.E.Has(cause.NoEligibleNode) != nil {
		return ""
	}
	all := len(i.Without) + i.Served
	if len(i.Without) == 0 {
		return wording.Either(len(i.Uncounted) > 0,
			wording.PluralOf(all, "the other node has", "the other "+strconv.Itoa(all)+" nodes have"),
			AllHave(all)) + " an available pod"
	}
	return noneAvailable(len(i.Without), all)
}

// down reports whether no node has an available pod.
func (a *Answer) down() bool {
	i := a.E.Impact
	return i != nil && i.Served == 0 && len(i.Without) > 0 && a.unserved() != ""
}

// noneAvailable returns a clause such as "2 of 12 nodes have no available pod" or "no node has an available pod".
func noneAvailable(n, of int) string {
	if n == of {
		return "no node has an available pod"
	}
	return strconv.Itoa(n) + " of " + wording.Plural(of, "node") + wording.PluralOf(n, " has", " have") +
		" no available pod"
}

// timeLeft returns the time until a rollout completes automatically, or the point where it stops. It returns "" if both
// are unknown.
func (a *Answer) timeLeft() string {
	o := cmp.Or(a.E.Outlook, &explain.Outlook{})
	switch {
	case o.Code == explain.Stalls:
		return fmt.Sprintf("it will stop at %d of %d", o.Updated, o.Desired)
	case o.Code != explain.Completes || a.E.Failing():
		return ""
	}
	unless := ""
	if other := o.Otherwise; other != nil && !other.Ready && len(other.Nodes) > 0 {
		unless = " if " + wording.PluralVerb(len(other.Nodes), "pod becomes", "pods become") + " Ready"
	}
	return wording.Phrase(wording.RangeWords(o.Duration), " left") + wording.Either(o.Duration != nil, unless, "")
}

// Why names the worst problems, up to most. It returns "" if there is no problem.
func (a *Answer) Why(most int) string {
	return wording.Joined(", ", sheet.Why(a.E.Matters(), a.Clause, most), a.whyNoneEligible())
}

// whyNoneEligible returns the reason why no node is eligible, and the consequence for the pods. It returns "" if a node
// is eligible.
func (a *Answer) whyNoneEligible() string {
	p := a.E.Has(cause.NoEligibleNode)
	if p == nil {
		return ""
	}
	return cmp.Or(excludingRuleWords(a.excludingRule()), nearestExclusion(wording.Known{Facts: p.Facts, Now: a.Now})) +
		sheet.NoneThen(wording.Known{Facts: p.Facts, Now: a.Now})
}

// excludingRule returns the rule that excludes all nodes. It returns the zero value if several rules do, or if a node
// is eligible.
func (a *Answer) excludingRule() (rule explain.ColumnGroup) {
	if g := a.E.Groups("DESIRED", false); len(g) == 1 && a.E.Has(cause.NoEligibleNode) != nil {
		rule = g[0]
	}
	return rule
}

// excludingRuleWords describes a single rule that excludes all nodes. It returns "" for other rules.
func excludingRuleWords(g explain.ColumnGroup) string {
	switch g.Reason {
	case daemonset.NodeSelector:
		return "no node has the label " + wording.Fact(g.Facts, "key") + "=" + wording.Fact(g.Facts, "want")
	case daemonset.TaintNotTolerated:
		return wording.Phrase("every node has the taint ", wording.Fact(g.Facts, "taint"))
	}
	return ""
}

// nearestExclusion describes what excludes the nodes that come closest to being eligible.
func nearestExclusion(f wording.Known) string {
	by, picks := f.Text("excludedBy"), sheet.Selects(f)
	nearest, taints := f.Count("nearest"), f.Count("taints")
	switch {
	case by == eligible.ExcludedByTaint && picks != "" && taints > 0:
		return wording.PluralVerb(nearest, "node matches", "nodes match") + " the " + picks + ", but " +
			wording.PluralOf(nearest, "its ", "their ") +
			wording.PluralOf(taints, "taint ", "taints ") + f.Text("taints") + wording.PluralOf(taints, " is", " are") +
			" not tolerated"
	case by == eligible.ExcludedByAffinity && f.Count("labels") > 1:
		return "no node has a label that the affinity requires"
	}
	return "no node is eligible"
}

// rejecters names the subjects that reject a pod in place of the API server itself.
var rejecters = map[cause.SubjectKind]string{cause.SubjectQuota: "a ResourceQuota", cause.SubjectPolicy: "Pod Security",
	cause.SubjectSCC: "SCC admission", cause.SubjectWebhook: "an admission webhook"}

// Clause describes a problem on some nodes in a few words.
func (a *Answer) Clause(p *explain.Problem, nodes []string) string {
	n, some := len(p.Nodes), cmp.Or(screen.Clean(strings.Join(p.Nodes, " and ")), "the cluster")
	if n > 2 {
		some = wording.Plural(n, "node")
	}
	switch p.Code {
	case cause.NoEligibleNode: // Summary and Why add this last
		return ""
	case cause.FailedCreate:
		if p.Facts["uncalled"] != nil {
			return "an admission webhook does not respond, so " + wording.PluralVerb(n, "pod is", "pods are") +
				" not created"
		}
		return cmp.Or(rejecters[p.Subject.Kind], "the API server") + " rejects " + wording.Plural(n, "pod")
	case cause.NextRolloutStalls:
		return some + " would stall the next rollout"
	case cause.ControllerSilent:
		return "the DaemonSet controller has not acted for " + a.Lasting(p)
	case explain.StaleStatus:
		return "the reported status is stale"
	case cause.Misscheduled:
		return a.misscheduled(p, some)
	case daemonset.InvalidBudget:
		return wording.Fact(p.Facts, "field") + " cannot be resolved"
	case daemonset.VanishedNodeInSurge:
		return "a pod of a deleted node blocks every step"
	}
	return a.predicate(p, nodes)
}

// misscheduled describes the consequence for the pods on nodes that are not eligible.
func (a *Answer) misscheduled(p *explain.Problem, some string) string {
	switch others := len(a.StrandedBeside(p.Nodes)); {
	case p.Blame != nil:
		return some + wording.PluralOf(len(p.Nodes), " is", " are") + " NotReady and not counted"
	case wording.Fact(p.Facts, "strandedBy") != "Next":
		return "the rollout removes the pod from " + some
	default:
		return "the next rollout removes the pod from " + some +
			wording.Either(others > 0, " and "+wording.Plural(others, "more node"), "")
	}
}

// predicate returns a clause with the predicate of a problem.
func (a *Answer) predicate(p *explain.Problem, nodes []string) string {
	words, o := wording.Predicates[p.Code].ByProbe(p.Facts), cmp.Or(p.Blame, &cause.Blame{})
	if o.Who == cause.WhoChange && len(nodes) == a.count("newPods") && len(nodes) > 1 && words.Noun != "" {
		return AllOf(len(nodes)) + "new pods " + words.Many
	}
	common := p.Common != nil && o.Who == cause.WhoNodeProperty
	if common && p.Common.OfPlatform() && p.Common.Exact() && len(nodes) > 1 {
		return words.Of(nodes, len(p.Pods)) + ", on " + screen.Clean(p.Common.Properties[0].Value) + " nodes only"
	}
	return words.Of(nodes, len(p.Pods))
}

// StrandedBeside returns the nodes, other than the given ones, from which a rollout removes the pod because of a taint.
func (a *Answer) StrandedBeside(nodes []string) (others []string) {
	these := sets.New(nodes...)
	for i := range a.E.Problems {
		if p := &a.E.Problems[i]; wording.Fact(p.Facts, "strandedBy") != "" {
			others = append(others, slices.DeleteFunc(slices.Clone(p.Nodes), these.Has)...)
		}
	}
	slices.Sort(others)
	return others
}

// AllHave returns a phrase such as "all 12 nodes have".
func AllHave(n int) string { return wording.PluralOf(n, "the only node has", AllOf(n)+"nodes have") }

// AllOf returns "both " or a phrase such as "all 3 ".
func AllOf(n int) string { return wording.PluralOf(n-1, "both ", fmt.Sprintf("all %d ", n)) }

// impactWords holds the text of Impact: the text before the names of nodes, the text after them, and shorter texts for
// a screen that already names the nodes.
type impactWords struct {
	before, after string
	instead       string // replaces everything if the headline also shows the number of nodes
	count         string // replaces before if the names are left out
	short         bool
}

// impacts describes which nodes have no available pod.
func (a *Answer) impacts(affected explain.Affected, named bool) (words impactWords) {
	i, unread := cmp.Or(a.E.Impact, &explain.Impact{}), sheet.Unread(a.Header)
	have := AllHave(len(i.Without) + i.Served)
	switch none := a.E.Has(cause.NoEligibleNode); affected {
	case explain.AffectedUnknown:
		words.short = true
		if words.before = wording.Phrase("unknown: ", unread); named {
			words.before = wording.Phrase(unread, "; without an available pod at least:")
		}
	case explain.AffectedNowhere:
		if words.before = "no node runs the pod"; none != nil && none.Since != nil {
			words.before += "; none has been eligible for " + a.Lasting(none)
		}
	case explain.AffectedRemoved:
		words.before, words.short = "the controller deletes the pods on all nodes that have one:", true
	case explain.AffectedAlmost:
		words.count = "none: " + have + " a Ready pod"
		words.before = words.count + "; not counted as available yet:"
	case explain.AffectedSome:
		return a.someAffected(i)
	case explain.AffectedServedByOld:
		words.instead = "none yet: the old pod still runs alongside the new one"
		words.count, words.before, words.after = words.instead, words.instead+" on", ", so "+have+" an available pod"
		if a.Brief {
			words.before = "none yet: " + have + " an available pod"
		}
	case explain.AffectedNobody:
		if a.counted() { // the headline says this
			return words
		}
		words.before = wording.Either(a.Losing, "none yet: ", "none: ") + have + " an available pod"
	}
	return words
}

// someAffected returns how many nodes have no available pod, and how many have one.
func (a *Answer) someAffected(i *explain.Impact) impactWords {
	n, all := len(i.Without), len(i.Without)+i.Served
	words := impactWords{count: noneAvailable(n, all), short: true}
	words.before = words.count + ":"
	switch of := ""; {
	case i.Served == 0:
		words.before = "no node has an available pod:"
	case a.E.Rollout.UnderWay:
		if by := a.E.ServedBy(); by != nil {
			of = " of " + screen.Clean(wording.RevisionName(by))
		}
		have, served := wording.PluralOf(i.Served, "has an available pod", "have an available pod")+of,
			strconv.Itoa(i.Served)
		words.after = "; the other " + wording.PluralOf(i.Served, "one ", served+" ") + have
		words.instead = "the other " + wording.PluralOf(i.Served, "node ", served+" nodes ") + have
	}
	return words
}

// Impact adds the nodes without an available pod, and those that the status does not count.
func (a *Answer) Impact() {
	affected, nodes := a.E.Affected()
	i, words := cmp.Or(a.E.Impact, &explain.Impact{}), a.impacts(affected, len(nodes) > 0)
	if a.Brief && affected == explain.AffectedServedByOld {
		nodes = nil
	}
	if a.Brief {
		const most = 2
		if words.after = ""; len(nodes) > most+1 {
			nodes, words.after = nodes[:most], fmt.Sprintf(" +%d more", len(nodes)-most)
		}
	}
	if a.counted() && affected == explain.AffectedSome && i.Served == 0 { // the headline says that no node has one
		nodes, words = nil, impactWords{}
	}
	switch told := len(nodes) > 0 && slices.Equal(slices.Sorted(slices.Values(nodes)), a.namedNodes); {
	case told && a.counted():
		a.Add(screen.Impact, "%s", words.instead)
	case told && words.count != "":
		a.Add(screen.Impact, "%s", words.count+words.after)
	default:
		a.Screen.Add(screen.Impact, screen.Names{Before: words.before, Names: nodes, After: words.after,
			Short: words.short})
	}
	if a.E.Has(cause.ControllerSilent) != nil {
		a.Add(screen.Impact, "likely every DaemonSet of the cluster, and if kube-controller-manager is down, "+
			"Deployments and Jobs too: no pod is created or replaced")
	}
	if r := a.refusal(a.E.Has(cause.FailedCreate)); r != nil && r.Reason != admission.QuotaExceeded &&
		i.Served > 0 && !a.Brief {
		a.Add(screen.Impact, "already now: a pod that is deleted or evicted is not replaced")
	}
	if affected != explain.AffectedRemoved && (!a.Brief || words.before == "") {
		a.uncounted(i.Uncounted)
	}
}

// uncounted names the nodes whose pods the status does not count.
func (a *Answer) uncounted(nodes []string) {
	n := len(nodes)
	if n == 0 {
		return
	}
	pods := "the " + wording.PluralOf(n, "pod", strconv.Itoa(n)+" pods") + " on"
	exist := wording.PluralOf(n, " still exists", " still exist") + ", but DESIRED and READY do not count " +
		wording.PluralOf(n, "it", "them") + ": alerts on DESIRED or READY do not fire"
	if rows, _ := a.E.Listed(); len(rows) == 1 && sets.New(a.namedNodes...).HasAll(nodes...) {
		a.Add(screen.Impact, "%s", pods+wording.PluralOf(n, " this node", " these nodes")+exist)
		return
	}
	a.Screen.Add(screen.Impact, screen.Names{Before: pods, Names: nodes, After: exist, Short: true})
}

// Rollout adds the start of the rollout and the number of pods on each revision.
func (a *Answer) Rollout() {
	var parts []string
	for i, r := range a.E.Running() {
		available, terminating, counted := "", "", ""
		if r.Current && r.Available < r.Pods {
			available = strconv.Itoa(r.Available) + " available"
		}
		if r.Terminating > 0 {
			terminating = strconv.Itoa(r.Terminating) + " terminating"
		}
		if !r.Current && r.Updated > 0 {
			counted = wording.CountedUpdated(r.Updated, len(r.Nodes))
		}
		n := r.Pods + r.Terminating
		pods := wording.Either(i == 0, wording.Plural(n, "pod"), strconv.Itoa(n)) + " on " +
			screen.Clean(wording.RevisionName(r))
		parts = append(parts, pods+wording.InBrackets(wording.Joined(", ", available, terminating, counted)))
	}
	if n := a.E.RunBoth(); n > 0 {
		parts[len(parts)-1] += "; " +
			wording.PluralVerb(n, "node runs an old and a new pod, and counts as updated when the old one is gone",
				"nodes run an old and a new pod each, and count as updated when the old one is gone")
	}
	if a.E.Verdict.Code == explain.BeingDeleted || a.Header.Lacks(snapshot.Pods) {
		return
	}
	a.Add(screen.Rollout, "%s", a.rolling(strings.Join(parts, ", ")))
	if old := func(r explain.Revision) bool { return !r.Current && len(r.Nodes) > 0 }; !a.E.Rollout.UnderWay &&
		a.E.Verdict.Code != explain.Unknown && slices.ContainsFunc(a.E.Revisions, old) {
		a.Add(screen.Rollout, "%s", strings.Join(parts, ", "))
	}
	for _, as := range a.E.Assumptions {
		if n, _ := strconv.Atoi(as.Value); as.Code == daemonset.AssumeGeneration {
			a.Add(screen.Rollout, "%s as updated by the label pod-template-generation alone, and %s not replaced",
				wording.PluralVerb(n, "pod counts", "pods count"), wording.PluralOf(n, "is", "are"))
		}
	}
	if n := a.E.Next.Revisions; n.Cut && !a.Header.Lacks(snapshot.Revisions) {
		a.Add(screen.Rollout, "the live template has no revision yet: the next sync creates revision %d", n.Number)
	}
}

// rolling returns the start of the rollout, followed by pods. It returns "" if no rollout is in progress and no line is
// needed to say that.
func (a *Answer) rolling(pods string) string {
	switch since := a.E.Rollout.Since; {
	case a.E.Verdict.Code == explain.Unknown && pods != "":
		return pods
	case !a.E.Rollout.UnderWay:
		return wording.Either(a.Style.All, "none in progress", "")
	case since == nil || pods == "":
		return pods
	case a.E.Verdict.Code == explain.AwaitingDelete:
		return fmt.Sprintf("revision %d is %s old: ", a.Current(), wording.Ago(a.Now.Sub(*since).Abs())) + pods
	default:
		return "started " + wording.Ago(a.Now.Sub(*since).Abs()) + " ago: " + pods
	}
}

// Change adds the differences between the revision of most old pods and the current one, and the tool that writes the
// template.
func (a *Answer) Change() {
	if a.E.Change == nil || a.E.Verdict.Code == explain.BeingDeleted {
		return
	}
	for _, l := range difftext.FirstLines(difftext.Style{All: a.Style.All,
		Brief: true}.ChangeLines(a.E.Change.Change), 3,
		"more change", a.Style) {
		a.Add(screen.Change, "%s", l)
	}
	by := a.E.Change.Managers()
	if len(a.E.ManagedBy) > 0 {
		who, _ := sheet.ManagerWords(a.E.ManagedBy[0])
		a.Add(screen.Change, "managed by %s", screen.Clean(who))
	} else if len(by) > 0 {
		a.Add(screen.Change, "made by the field %s %s", wording.PluralOf(len(by), "manager", "managers"),
			screen.Clean(strings.Join(by, ", ")))
	}
}

// Current returns the number of the current revision, or 0 if it is unknown.
func (a *Answer) Current() int64 { return cmp.Or(a.E.Current(), &explain.Revision{}).Number }

// Limit adds the limit of a rollout and its consequence.
func (a *Answer) Limit() {
	b := &a.E.Budget
	if !a.E.Rollout.UnderWay || b.Kind == daemonset.BudgetNone || b.Invalid != "" || b.Used == nil ||
		a.E.Verdict.Code == explain.BeingDeleted {
		return
	}
	limit := b.MaxUnavailable
	if b.Kind == daemonset.BudgetSurge {
		limit = b.MaxSurge
	}
	words := sheet.LimitWords(b.Kind, b.Spec, b.Scaled, b.Of, limit)
	if b.Fallback {
		words = "maxUnavailable and maxSurge both come to 0, so the controller uses maxUnavailable 1"
	}
	a.Add(screen.Limit, "%s, and %s", words, a.used(*b.Used, limit))
}

// used describes how much of the limit is used, and the consequence.
func (a *Answer) used(n, limit int) string {
	surge := a.E.Budget.Kind == daemonset.BudgetSurge
	words := strconv.Itoa(n) + wording.PluralOf(n, " is unavailable", " are unavailable")
	switch {
	case surge:
		words = wording.PluralVerb(n, "extra pod exists", "extra pods exist")
	case a.E.Has(cause.ExcludedButCounted) != nil: // some of these nodes should not run the pod
		words = strconv.Itoa(n) + wording.PluralOf(n, " counts as unavailable", " count as unavailable")
	}
	if a.Brief {
		return words
	}
	words += wording.Either(n > limit && !surge, " already", "")
	if n >= limit && a.E.Next.Deletes.Len() == 0 {
		words += ", so the controller " + wording.Either(surge, "starts", "replaces") + " no more pods"
		words += wording.Either(a.E.Verdict.Code == explain.Progressing, " until one is available", "")
	}
	if more := limit - n; more > 0 && n > 0 && !surge {
		words += ", so " + strconv.Itoa(more) + " more may become unavailable"
	}
	return words
}

// addStall adds that a rollout is stalled because its limit is reached.
func (a *Answer) addStall() {
	b := &a.E.Budget
	if a.E.Verdict.Code != explain.Stuck || !a.E.Rollout.UnderWay || b.Kind == daemonset.BudgetNone || b.Used == nil ||
		a.E.Next.Deletes.Len() > 0 {
		return
	}
	if limit := map[bool]int{true: b.MaxSurge, false: b.MaxUnavailable}[b.Kind == daemonset.BudgetSurge]; limit > 0 &&
		*b.Used >= limit {
		a.Add(screen.Impact, "%s %d is reached, so the rollout is stalled", b.Kind.Field(), limit)
	}
}

// Heads has the heading of the table of problems.
var Heads = map[explain.Gravity]string{explain.GravityNone: "STATE", explain.GravityWarning: "WARNING",
	explain.GravityProblem: "PROBLEM"}

// problems adds the given problems and the messages of the cluster about them. Problems that need no action become
// notes. If titled is set, the title of the part has the name of the problem, so the name is left out.
func (a *Answer) problems(of []*explain.Problem, titled bool) {
	rows, notes := a.E.Listed()
	these := func(p *explain.Problem) bool { return !slices.Contains(of, p) }
	rows, notes = slices.DeleteFunc(rows, these), slices.DeleteFunc(notes, these)
	// this DaemonSet is healthy, or its deletion waits for its pods
	short := a.E.Gravity() == explain.GravityNone || a.E.Verdict.Code == explain.BeingDeleted
	for _, p := range notes {
		if p.Code == cause.NextRolloutStalls && len(a.E.Advice) > 0 {
			a.ToSolve = a.firstOfAll()
			a.Screen.Add(screen.DoNot, screen.Text(a.Meaning(p)))
			continue
		}
		if short {
			a.Note(a.Detail(p)...)
			continue
		}
		a.Screen.Add(screen.Notes, a.Detail(p)...)
	}
	if !short {
		rows = a.mainRows(rows)
	}
	if a.E.Gravity() == explain.GravityNone || len(rows) > sheet.MostProblems {
		a.Screen.Add(screen.Body, a.ProblemTable(Heads[a.E.Gravity()], rows))
		return
	}
	titled = titled && len(rows) == 1
	for _, p := range rows {
		since := a.Since(p)
		if a.counted() && (len(rows) > 1 || len(a.E.Matters()) == 1) {
			since = ""
		}
		says := since + wording.WithPrefix(": ", a.Meaning(p))
		what := screen.Names{Before: string(p.Code) + says}
		if len(p.Nodes) > 0 && !a.namedAbove(p, rows) {
			what = screen.Names{Before: string(p.Code) + " on", Names: p.Nodes, After: says, Short: true}
		}
		switch {
		case titled && p.Blame != nil && saysAll(p): // Fault says this
			what = screen.Names{}
		case titled:
			what = screen.Names{Before: a.Meaning(p)}
		}
		if p.Code == cause.Misscheduled {
			a.Screen.Add(screen.Problem, what)
			continue
		}
		// put each message next to its problem
		if message := a.Reported(p); len(rows) > 1 && p.Facts["furtherMessages"] == nil {
			what.After += wording.WithPrefix(": ", message)
			a.Screen.Add(screen.Problem, what, screen.Text(a.Started(p)))
			continue
		}
		a.Screen.Add(screen.Problem, what, screen.Text(a.Started(p)))
		a.Screen.Add(screen.Message, a.Messages(p)...)
	}
}

// namedAbove reports whether the headline names the only problem and its only node.
func (a *Answer) namedAbove(p *explain.Problem, rows []*explain.Problem) bool {
	return a.counted() && len(rows) == 1 && len(a.E.Matters()) == 1 && len(p.Nodes) == 1 &&
		wording.Predicates[p.Code].Noun != "" && p.Code != cause.FailedCreate
}

// mainRows returns the rows that matter. It moves the others to a table that only --all shows.
func (a *Answer) mainRows(rows []*explain.Problem) []*explain.Problem {
	matters := a.E.Matters()
	is := func(p *explain.Problem) bool { return slices.Contains(matters, p) }
	if others := slices.DeleteFunc(slices.Clone(rows), is); len(others) > 0 {
		a.Screen.Add(screen.States, a.ProblemTable("STATE", others))
	}
	return slices.DeleteFunc(slices.Clone(rows), func(p *explain.Problem) bool { return !is(p) })
}

// saysAll reports whether Fault contains everything that the problem's own text contains.
func saysAll(p *explain.Problem) bool {
	return p.Blame.Who == cause.WhoMissingObject && p.Facts["kind"] != nil ||
		p.Blame.Who == cause.WhoOtherWorkload && p.Code == cause.HostPortConflict
}

// problemNodes returns the sorted nodes of the problems, or nil if Problem does not name all of them.
func (a *Answer) problemNodes() []string {
	rows, _ := a.E.Listed()
	if a.E.Gravity() == explain.GravityNone || len(rows) > sheet.MostProblems && len(a.E.Advice) < 2 {
		return nil
	}
	var nodes []string
	for _, p := range rows {
		nodes = append(nodes, p.Nodes...)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// onDelete adds a table of the pods that a user must delete.
func (a *Answer) onDelete() {
	if a.E.Verdict.Code != explain.AwaitingDelete {
		return
	}
	t := &screen.Table{Columns: sheet.Columns("OLD POD", "NODE", "REVISION")}
	for i := range a.E.Nodes {
		for _, p := range a.E.Nodes[i].Old() {
			t.Row(p.Name, a.E.Nodes[i].Name, wording.RevisionOf(a.E, p))
		}
	}
	a.Screen.Add(screen.Body, a.AtMost(3, t, "pod"))
}

// Outlook adds what happens without a fix, what happens after one, and how long it takes.
func (a *Answer) Outlook() {
	if a.E.Outlook != nil {
		l := screen.Outlook
		if a.E.Outlook.Code == explain.Stays {
			l = screen.Rollout
		}
		a.Add(l, "%s", a.unfixed(a.E.Outlook))
	}
	a.Then()
}

// unfixed returns what happens without a fix, or how long it takes. It returns "" if both are unknown.
func (a *Answer) unfixed(o *explain.Outlook) string {
	updated := fmt.Sprintf("%d of %d updated", o.Updated, o.Desired)
	left, other, why := wording.RangeWords(o.Duration), o.Otherwise, ""
	if a.E.Failing() {
		why = a.Why(2)
	}
	switch {
	case o.Code == explain.Stays && a.E.Verdict.Code == explain.AwaitingDelete:
		return "stays at " + updated + " until you delete old pods"
	case o.Code == explain.Stays && a.E.Verdict.Code == explain.Degraded:
		return fmt.Sprintf("without a fix: stays at %d of %d available", o.Available, o.Desired)
	case o.Code == explain.Stays:
		return "without a fix: stays at " + updated
	case o.Code == explain.Stalls:
		return "without a fix: stops with " + updated + ", " + strconv.Itoa(o.Available) + " available"
	case why != "" && left != "":
		return "complete in " + left + ", except that " + why
	case why != "":
		return "time left unknown: " + why
	case left == "":
		return ""
	case other != nil && !other.Ready:
		n := len(other.Nodes)
		return "complete in " + left + ", if " + wording.PluralOf(n, "the pod", "the pods") + " on " +
			wording.SomeNames(other.Nodes) +
			wording.PluralOf(n, " becomes", " become") + " Ready" + wording.Otherwise(other, o.Desired, false)
	}
	return "complete in " + left + ", if every new pod becomes available"
}

// Then adds what happens after a fix, or the next step of the controller.
func (a *Answer) Then() {
	e, o := a.E, cmp.Or(a.E.Outlook, &explain.Outlook{})
	if o.Otherwise != nil && o.Otherwise.Ready {
		l := screen.Outlook
		if len(e.Advice) > 1 {
			l = screen.Rollout
		}
		a.Add(l, "%s", wording.Otherwise(o.Otherwise, o.Desired, o.Code != explain.Completes))
	}
	if e.Has(cause.ControllerSilent) != nil {
		a.Add(screen.Outlook, "until it acts, running pods keep running, but no pod is created or replaced; a new "+
			"node gets no pod")
	}
	if e.Has(cause.FailedCreate) != nil {
		a.Add(screen.Outlook, "after a fix: the missing pods are created within 17m (the controller's back-off)")
	}
	if e.Verdict.Code == explain.Progressing || e.Verdict.Code == explain.NotObserved {
		a.mayFail(e.Matters())
		switch {
		case o.Next != nil:
			next := "creates " + wording.Plural(o.Next.Creates, "pod")
			if o.Next.Deletes > 0 {
				next = fmt.Sprintf("deletes %d of %d pods, chosen at random", o.Next.Deletes, a.count("oldNodes"))
			}
			a.Add(screen.Outlook, "in %s the controller %s", wording.Ago(a.Now.Sub(o.Next.At).Abs()), next)
		case e.Next.Kind == daemonset.StepNone && e.Next.Reason != daemonset.StepBudgetSpent: // Limit says this
			a.Add(screen.Outlook, "%s", sheet.Idle(e.Next.Reason, a.Header))
		}
		a.Sync(&e.Next, "next")
	}
	step := e.Next
	step.Revisions.Cut = false // Rollout says this
	a.Bookkeeping(step)
}

// mayFail adds how a rollout continues if its new pods fail.
func (a *Answer) mayFail(matters []*explain.Problem) {
	b := &a.E.Budget
	free := *cmp.Or(b.Free, new(int))
	until := wording.PluralVerb(b.MaxUnavailable, "is unavailable", "are unavailable")
	if b.MaxSurge > 0 {
		until = wording.PluralVerb(b.MaxSurge, "extra pod exists", "extra pods exist")
	}
	for _, p := range matters {
		switch fails := cause.OfContainer(p.Code) && wording.Number(p.Facts, "newFailing") > 0; {
		case p.Late():
			a.Add(screen.Outlook, "a pod that is not Ready %s after its creation counts as failing; "+
				"a rollout that waits for such pods alone counts as stuck",
				wording.Known{Facts: p.Facts, Now: a.Now}.Age("patience"))
			return
		case fails && free > 0 && a.E.Rollout.UnderWay:
			a.Add(screen.Outlook, "the next new pod may fail too: the controller continues, at most %s at a time, "+
				"until %s", wording.Plural(free, "pod"), until)
			return
		case fails:
			return
		}
	}
}

// Because returns the cause in a few words.
func (a *Answer) Because() string {
	switch a.E.Verdict.Code {
	case explain.AwaitingDelete:
		return fmt.Sprintf("%s: %s", sheet.Strategy(a.Header), wording.Plural(a.count("oldNodes"), "old pod"))
	case explain.Unknown, explain.NotObserved, explain.BeingDeleted:
		return a.Summary()
	}
	return cmp.Or(a.Why(1), a.timeLeft(), "-")
}
