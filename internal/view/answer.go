package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
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
	case (code == explain.Stuck || code == explain.Degraded) && a.down():
		v.words = "DOWN"
	case n > 0 && (code == explain.Healthy || code == explain.Progressing):
		warnings := pluralVerb(n, "WARNING", "WARNINGS")
		if v.tone = screen.Warn; code == explain.Progressing {
			v.words += ", " + warnings
		} else {
			v.words = pluralOf(n, "WARNING", warnings)
		}
	}
	return v.words, v.tone
}

// begins is how the headline's sentence begins: how far it is.
func (a *answer) begins() string {
	desired := a.count("desired")
	older := desired - a.count("updated") // the status counts a node by its oldest pod
	pods := Plural(desired, "pod")
	available := phrase(fact(a.e.Verdict.Facts, "available"), " of "+pods+" available")
	switch a.e.Verdict.Code {
	case explain.BeingDeleted:
		return "the controller no longer manages its pods"
	case explain.Unknown:
		if a.e.Next.Reason == daemonset.StepSelectsAll {
			return "its selector is empty, so the controller ignores it"
		}
		return cmp.Or(unread(a.h), available)
	case explain.NotObserved:
		return fmt.Sprintf("the controller has not observed generation %d yet; its numbers are of generation %d",
			a.h.DaemonSet.Generation, a.h.DaemonSet.ObservedGeneration)
	case explain.AwaitingDelete:
		old := a.count("oldNodes")
		wait := pluralOf(old, "one waits for you to delete it", strconv.Itoa(old)+" wait for you to delete them")
		return strconv.Itoa(desired-old) + " of " + pods + " updated; the other " + wait + " (" +
			screen.Clean(strategy(a.h)) + ")"
	case explain.Healthy:
		return available + either(older <= 0, " and updated", "; old pods still terminate on "+Plural(older, "node"))
	}
	return available
}

// summary is the headline's sentence: how far it is, what is wrong, and how it
// goes on automatically.
func (a *answer) summary() string {
	code, why := a.e.Verdict.Code, a.why(2)
	words := a.begins()
	switch {
	case code == explain.BeingDeleted || code == explain.Unknown:
		return words
	case code == explain.NotObserved || code == explain.AwaitingDelete:
		return joined("; ", words, a.nowhere())
	case a.counted():
		return joined("; ", why+behind(" ", bracketed(a.age())), a.unserved())
	case a.count("desired") > 0 && a.e.Rollout.UnderWay && (code == explain.Stuck || code == explain.Progressing):
		updated := strconv.Itoa(a.count("updated")) + " of " + Plural(a.count("desired"), "pod") + " updated"
		return joined("; ", updated, a.left(), why)
	case a.e.Has(cause.ControllerSilent) != nil, code == explain.Healthy && a.count("desired") > 0:
		// what is wrong first
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
	return a.counts && a.count("desired") > 0 && (code == explain.Stuck || code == explain.Degraded) &&
		a.why(2) != "" && a.unserved() != ""
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
		return either(len(i.Uncounted) > 0,
			pluralOf(all, "the other node has", "the other "+strconv.Itoa(all)+" nodes have"),
			allHave(all)) + " an available pod"
	}
	return noneAvailable(len(i.Without), all)
}

// down reports whether no node has an available pod.
func (a *answer) down() bool {
	i := a.e.Impact
	return i != nil && i.Served == 0 && len(i.Without) > 0 && a.unserved() != ""
}

// noneAvailable is "2 of 12 nodes have no available pod", or "no node has an available pod".
func noneAvailable(n, of int) string {
	if n == of {
		return "no node has an available pod"
	}
	return strconv.Itoa(n) + " of " + Plural(of, "node") + pluralOf(n, " has", " have") + " no available pod"
}

// left is how long a rollout takes that goes on automatically, or where it stops;
// empty where that is not known.
func (a *answer) left() string {
	o := cmp.Or(a.e.Outlook, &explain.Outlook{})
	switch {
	case o.Code == explain.Stalls:
		return fmt.Sprintf("it will stop at %d of %d", o.Updated, o.Desired)
	case o.Code != explain.Completes || a.e.Failing():
		return ""
	}
	unless := ""
	if other := o.Otherwise; other != nil && !other.Ready && len(other.Nodes) > 0 {
		unless = " if " + pluralVerb(len(other.Nodes), "pod becomes", "pods become") + " Ready"
	}
	return phrase(rangeWords(o.Duration), " left") + either(o.Duration != nil, unless, "")
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
	return cmp.Or(noneOf(a.noneBy()), noneNear(known{p.Facts, a.now})) + noneThen(known{p.Facts, a.now})
}

// noneBy is the one rule that leaves no node eligible; empty where there are several, or a node is.
func (a *answer) noneBy() (rule explain.ColumnGroup) {
	if g := a.e.Groups("DESIRED", false); len(g) == 1 && a.e.Has(cause.NoEligibleNode) != nil {
		rule = g[0]
	}
	return rule
}

// noneOf says which rule leaves no node eligible; empty where no single one does.
func noneOf(g explain.ColumnGroup) string {
	switch g.Reason {
	case daemonset.NodeSelector:
		return "no node has the label " + fact(g.Facts, "key") + "=" + fact(g.Facts, "want")
	case daemonset.TaintNotTolerated:
		return phrase("every node has the taint ", fact(g.Facts, "taint"))
	}
	return ""
}

// noneNear says what excludes the nodes that are nearest to being eligible.
func noneNear(f known) string {
	by, picks := f.text("excludedBy"), selects(f)
	nearest, taints := f.count("nearest"), f.count("taints")
	switch {
	case by == eligible.ExcludedByTaint && picks != "" && taints > 0:
		return pluralVerb(nearest, "node matches", "nodes match") + " the " + picks + ", but " +
			pluralOf(nearest, "its ", "their ") +
			pluralOf(taints, "taint ", "taints ") + f.text("taints") + pluralOf(taints, " is", " are") +
			" not tolerated"
	case by == eligible.ExcludedByAffinity && f.count("labels") > 1:
		return "no node has a label that the affinity requires"
	}
	return "no node is eligible"
}

// rejecters are what rejects a pod, where that is not the API server itself.
var rejecters = map[cause.SubjectKind]string{cause.SubjectQuota: "a ResourceQuota", cause.SubjectPolicy: "Pod Security",
	cause.SubjectSCC: "SCC admission", cause.SubjectWebhook: "an admission webhook"}

// clause is a problem on some nodes in few words.
func (a *answer) clause(p *explain.Problem, nodes []string) string {
	n, some := len(p.Nodes), cmp.Or(screen.Clean(strings.Join(p.Nodes, " and ")), "the cluster")
	if n > 2 {
		some = Plural(n, "node")
	}
	switch p.Code {
	case cause.NoEligibleNode: // said behind all others
		return ""
	case cause.FailedCreate:
		if p.Facts["uncalled"] != nil {
			return "an admission webhook does not respond, so " + pluralVerb(n, "pod is", "pods are") + " not created"
		}
		return cmp.Or(rejecters[p.Subject.Kind], "the API server") + " rejects " + Plural(n, "pod")
	case cause.NextRolloutStalls:
		return some + " would stall the next rollout"
	case cause.ControllerSilent:
		return "the DaemonSet controller has not acted for " + a.lasting(p)
	case explain.StaleStatus:
		return "the reported status is stale"
	case cause.Misscheduled:
		return a.misscheduled(p, some)
	case daemonset.InvalidBudget:
		return fact(p.Facts, "field") + " cannot be resolved"
	case daemonset.VanishedNodeInSurge:
		return "a pod of a deleted node blocks every step"
	}
	return a.does(p, nodes)
}

// misscheduled says what becomes of the pods on some nodes that are not eligible.
func (a *answer) misscheduled(p *explain.Problem, some string) string {
	switch others := len(a.strandedBeside(p.Nodes)); {
	case p.Blame != nil:
		return some + pluralOf(len(p.Nodes), " is", " are") + " NotReady and not counted"
	case fact(p.Facts, "strandedBy") != "Next":
		return "the rollout removes the pod from " + some
	default:
		return "the next rollout removes the pod from " + some +
			either(others > 0, " and "+Plural(others, "more node"), "")
	}
}

// does says what the pods or nodes of a problem do.
func (a *answer) does(p *explain.Problem, nodes []string) string {
	words, o := predicates[p.Code].byProbe(p.Facts), cmp.Or(p.Blame, &cause.Blame{})
	if o.Who == cause.WhoChange && len(nodes) == a.count("newPods") && len(nodes) > 1 && words.noun != "" {
		return allOf(len(nodes)) + "new pods " + words.many
	}
	common := p.Common != nil && o.Who == cause.WhoNodeProperty
	if common && p.Common.OfPlatform() && p.Common.Exact() && len(nodes) > 1 {
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

// impacted is what Impact says of nodes: before their names and behind them, or in place of all this, where the
// problems name the nodes and the headline counts them.
type impacted struct {
	before, after string
	instead       string // where the headline has the count, too
	count         string // in place of before, without the names
	short         bool
}

// impacts say who is without a working pod.
func (a *answer) impacts(affected explain.Affected, named bool) (words impacted) {
	i, unread := cmp.Or(a.e.Impact, &explain.Impact{}), unread(a.h)
	have := allHave(len(i.Without) + i.Served)
	switch none := a.e.Has(cause.NoEligibleNode); affected {
	case explain.AffectedUnknown:
		words.short = true
		if words.before = phrase("unknown: ", unread); named {
			words.before = phrase(unread, "; without an available pod at least:")
		}
	case explain.AffectedNowhere:
		if words.before = "no node runs the pod"; none != nil && none.Since != nil {
			words.before += "; none has been eligible for " + a.lasting(none)
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
		if a.brief {
			words.before = "none yet: " + have + " an available pod"
		}
	case explain.AffectedNobody:
		if a.counted() { // the headline says it
			return words
		}
		words.before = either(a.losing, "none yet: ", "none: ") + have + " an available pod"
	}
	return words
}

// someAffected says how many nodes have no available pod, and how many have one.
func (a *answer) someAffected(i *explain.Impact) impacted {
	n, all := len(i.Without), len(i.Without)+i.Served
	words := impacted{count: noneAvailable(n, all), short: true}
	words.before = words.count + ":"
	switch of := ""; {
	case i.Served == 0:
		words.before = "no node has an available pod:"
	case a.e.Rollout.UnderWay:
		if by := a.e.ServedBy(); by != nil {
			of = " of " + screen.Clean(revisionName(by))
		}
		have, served := pluralOf(i.Served, "has an available pod", "have an available pod")+of, strconv.Itoa(i.Served)
		words.after = "; the other " + pluralOf(i.Served, "one ", served+" ") + have
		words.instead = "the other " + pluralOf(i.Served, "node ", served+" nodes ") + have
	}
	return words
}

func (a *answer) impact() {
	affected, nodes := a.e.Affected()
	i, words := cmp.Or(a.e.Impact, &explain.Impact{}), a.impacts(affected, len(nodes) > 0)
	if a.brief && affected == explain.AffectedServedByOld {
		nodes = nil
	}
	if a.brief {
		const most = 2
		if words.after = ""; len(nodes) > most+1 {
			nodes, words.after = nodes[:most], fmt.Sprintf(" +%d more", len(nodes)-most)
		}
	}
	if a.counted() && affected == explain.AffectedSome && i.Served == 0 { // the headline says that no node has one
		nodes, words = nil, impacted{}
	}
	switch told := len(nodes) > 0 && slices.Equal(slices.Sorted(slices.Values(nodes)), a.told); {
	case told && a.counted():
		a.add(screen.Impact, "%s", words.instead)
	case told && words.count != "":
		a.add(screen.Impact, "%s", words.count+words.after)
	default:
		a.s.Add(screen.Impact, screen.Names{Before: words.before, Names: nodes, After: words.after, Short: words.short})
	}
	if a.e.Has(cause.ControllerSilent) != nil {
		a.add(screen.Impact, "likely every DaemonSet of the cluster, and if kube-controller-manager is down, "+
			"Deployments and Jobs too: no pod is created or replaced")
	}
	if r := a.refusal(a.e.Has(cause.FailedCreate)); r != nil && r.Reason != admission.QuotaExceeded &&
		i.Served > 0 && !a.brief {
		a.add(screen.Impact, "already now: a pod that is deleted or evicted is not replaced")
	}
	if affected != explain.AffectedRemoved && (!a.brief || words.before == "") {
		a.uncounted(i.Uncounted)
	}
}

// uncounted says that pods on some nodes are in no number of the status.
func (a *answer) uncounted(nodes []string) {
	n := len(nodes)
	if n == 0 {
		return
	}
	pods := "the " + pluralOf(n, "pod", strconv.Itoa(n)+" pods") + " on"
	exist := pluralOf(n, " still exists", " still exist") + ", but DESIRED and READY do not count " +
		pluralOf(n, "it", "them") + ": alerts on DESIRED or READY do not fire"
	if rows, _ := a.e.Listed(); len(rows) == 1 && sets.New(a.told...).HasAll(nodes...) {
		a.add(screen.Impact, "%s", pods+pluralOf(n, " this node", " these nodes")+exist)
		return
	}
	a.s.Add(screen.Impact, screen.Names{Before: pods, Names: nodes, After: exist, Short: true})
}

// rollout says since when, and how many pods are on which revision.
func (a *answer) rollout() {
	var parts []string
	for i, r := range a.e.Running() {
		available, terminating, counted := "", "", ""
		if r.Current && r.Available < r.Pods {
			available = strconv.Itoa(r.Available) + " available"
		}
		if r.Terminating > 0 {
			terminating = strconv.Itoa(r.Terminating) + " terminating"
		}
		if !r.Current && r.Updated > 0 {
			counted = countedUpdated(r.Updated, len(r.Nodes))
		}
		n := r.Pods + r.Terminating
		pods := either(i == 0, Plural(n, "pod"), strconv.Itoa(n)) + " on " + screen.Clean(revisionName(r))
		parts = append(parts, pods+inBrackets(joined(", ", available, terminating, counted)))
	}
	if n := a.e.RunBoth(); n > 0 {
		parts[len(parts)-1] += "; " +
			pluralVerb(n, "node runs an old and a new pod, and counts as updated when the old one is gone",
				"nodes run an old and a new pod each, and count as updated when the old one is gone")
	}
	if a.e.Verdict.Code == explain.BeingDeleted || a.h.Lacks(snapshot.Pods) {
		return
	}
	a.add(screen.Rollout, "%s", a.rolling(strings.Join(parts, ", ")))
	if old := func(r explain.Revision) bool { return !r.Current && len(r.Nodes) > 0 }; !a.e.Rollout.UnderWay &&
		a.e.Verdict.Code != explain.Unknown && slices.ContainsFunc(a.e.Revisions, old) {
		a.add(screen.Rollout, "%s", strings.Join(parts, ", "))
	}
	for _, as := range a.e.Assumptions {
		if n, _ := strconv.Atoi(as.Value); as.Code == daemonset.AssumeGeneration {
			a.add(screen.Rollout, "%s as updated by the label pod-template-generation alone, and %s not replaced",
				pluralVerb(n, "pod counts", "pods count"), pluralOf(n, "is", "are"))
		}
	}
	if n := a.e.Next.Revisions; n.Cut && !a.h.Lacks(snapshot.Revisions) {
		a.add(screen.Rollout, "the live template has no revision yet: the next sync creates revision %d", n.Number)
	}
}

// rolling says since when a rollout has been under way, in front of where its pods are; empty where none is, and that
// needs no line of its own.
func (a *answer) rolling(pods string) string {
	switch since := a.e.Rollout.Since; {
	case a.e.Verdict.Code == explain.Unknown && pods != "":
		return pods
	case !a.e.Rollout.UnderWay:
		return either(a.style.All, "none in progress", "")
	case since == nil || pods == "":
		return pods
	case a.e.Verdict.Code == explain.AwaitingDelete:
		return fmt.Sprintf("revision %d is %s old: ", a.current(), ago(a.now.Sub(*since).Abs())) + pods
	default:
		return "started " + ago(a.now.Sub(*since).Abs()) + " ago: " + pods
	}
}

// change is what differs between the revision of most old pods and the current
// one, and who writes the template besides a person.
func (a *answer) change() {
	if a.e.Change == nil || a.e.Verdict.Code == explain.BeingDeleted {
		return
	}
	for _, l := range few(fieldStyle{all: a.style.All, brief: true}.changeLines(a.e.Change.Change), 3,
		"more change", a.style) {
		a.add(screen.Change, "%s", l)
	}
	by := a.e.Change.Managers()
	if len(a.e.ManagedBy) > 0 {
		who, _ := managerWords(a.e.ManagedBy[0])
		a.add(screen.Change, "managed by %s", screen.Clean(who))
	} else if len(by) > 0 {
		a.add(screen.Change, "made by the field %s %s", pluralOf(len(by), "manager", "managers"),
			screen.Clean(strings.Join(by, ", ")))
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
	if !a.e.Rollout.UnderWay || b.Kind == daemonset.BudgetNone || b.Invalid != "" || b.Used == nil ||
		a.e.Verdict.Code == explain.BeingDeleted {
		return
	}
	limit := b.MaxUnavailable
	if b.Kind == daemonset.BudgetSurge {
		limit = b.MaxSurge
	}
	words := limitWords(b.Kind, b.Spec, b.Scaled, b.Of, limit)
	if b.Fallback {
		words = "maxUnavailable and maxSurge both come to 0, so the controller uses maxUnavailable 1"
	}
	a.add(screen.Limit, "%s, and %s", words, a.used(*b.Used, limit))
}

// used says how much of the limit is used up, and what follows.
func (a *answer) used(n, limit int) string {
	surge := a.e.Budget.Kind == daemonset.BudgetSurge
	words := strconv.Itoa(n) + pluralOf(n, " is unavailable", " are unavailable")
	switch {
	case surge:
		words = pluralVerb(n, "extra pod exists", "extra pods exist")
	case a.e.Has(cause.ExcludedButCounted) != nil: // some of them should not run the pod
		words = strconv.Itoa(n) + pluralOf(n, " counts as unavailable", " count as unavailable")
	}
	if a.brief {
		return words
	}
	words += either(n > limit && !surge, " already", "")
	if n >= limit && a.e.Next.Deletes.Len() == 0 {
		words += ", so the controller " + either(surge, "starts", "replaces") + " no more pods"
		words += either(a.e.Verdict.Code == explain.Progressing, " until one is available", "")
	}
	if more := limit - n; more > 0 && n > 0 && !surge {
		words += ", so " + strconv.Itoa(more) + " more may become unavailable"
	}
	return words
}

// stands says why a rollout stands still, where its limit is used up.
func (a *answer) stands() {
	b := &a.e.Budget
	if a.e.Verdict.Code != explain.Stuck || !a.e.Rollout.UnderWay || b.Kind == daemonset.BudgetNone || b.Used == nil ||
		a.e.Next.Deletes.Len() > 0 {
		return
	}
	if limit := map[bool]int{true: b.MaxSurge, false: b.MaxUnavailable}[b.Kind == daemonset.BudgetSurge]; limit > 0 &&
		*b.Used >= limit {
		a.add(screen.Impact, "%s %d is reached, so the rollout is stalled", b.Kind.Field(), limit)
	}
}

// heads are those of the table of problems.
var heads = map[explain.Gravity]string{explain.GravityNone: "STATE", explain.GravityWarning: "WARNING",
	explain.GravityProblem: "PROBLEM"}

// mostProblems is how many problems have a paragraph each; more are a table.
const mostProblems = 3

// problems says what is wrong, of these problems, and what the cluster says of it. What is only worth knowing is a
// note. With a title above them that names it, a problem has no name of its own.
func (a *answer) problems(of []*explain.Problem, titled bool) {
	rows, notes := a.e.Listed()
	these := func(p *explain.Problem) bool { return !slices.Contains(of, p) }
	rows, notes = slices.DeleteFunc(rows, these), slices.DeleteFunc(notes, these)
	// which waits for its pods
	short := a.e.Gravity() == explain.GravityNone || a.e.Verdict.Code == explain.BeingDeleted
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
		says := since + behind(": ", a.meaning(p))
		what := screen.Names{Before: string(p.Code) + says}
		if len(p.Nodes) > 0 && !a.namedAbove(p, rows) {
			what = screen.Names{Before: string(p.Code) + " on", Names: p.Nodes, After: says, Short: true}
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

// namedAbove reports whether the headline names the only node with the only problem.
func (a *answer) namedAbove(p *explain.Problem, rows []*explain.Problem) bool {
	return a.counted() && len(rows) == 1 && len(a.e.Matters()) == 1 && len(p.Nodes) == 1 &&
		predicates[p.Code].noun != "" && p.Code != cause.FailedCreate
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

// outlook says what happens without a fix and after it, or how long it takes.
func (a *answer) outlook() {
	if a.e.Outlook != nil {
		l := screen.Outlook
		if a.e.Outlook.Code == explain.Stays {
			l = screen.Rollout
		}
		a.add(l, "%s", a.unfixed(a.e.Outlook))
	}
	a.then()
}

// unfixed says what happens without a fix, or how long it takes; empty where that is not known.
func (a *answer) unfixed(o *explain.Outlook) string {
	updated := fmt.Sprintf("%d of %d updated", o.Updated, o.Desired)
	left, other, why := rangeWords(o.Duration), o.Otherwise, ""
	if a.e.Failing() {
		why = a.why(2)
	}
	switch {
	case o.Code == explain.Stays && a.e.Verdict.Code == explain.AwaitingDelete:
		return "stays at " + updated + " until you delete old pods"
	case o.Code == explain.Stays && a.e.Verdict.Code == explain.Degraded:
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
		return "complete in " + left + ", if " + pluralOf(n, "the pod", "the pods") + " on " + someNames(other.Nodes) +
			pluralOf(n, " becomes", " become") + " Ready" + otherwise(other, o.Desired, false)
	}
	return "complete in " + left + ", if every new pod becomes available"
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
		a.add(screen.Outlook, "until it acts, running pods keep running, but no pod is created or replaced; a new "+
			"node gets no pod")
	}
	if e.Has(cause.FailedCreate) != nil {
		a.add(screen.Outlook, "after a fix: the missing pods are created within 17m (the controller's back-off)")
	}
	if e.Verdict.Code == explain.Progressing || e.Verdict.Code == explain.NotObserved {
		a.mayFail(e.Matters())
		switch {
		case o.Next != nil:
			next := "creates " + Plural(o.Next.Creates, "pod")
			if o.Next.Deletes > 0 {
				next = fmt.Sprintf("deletes %d of %d pods, chosen at random", o.Next.Deletes, a.count("oldNodes"))
			}
			a.add(screen.Outlook, "in %s the controller %s", ago(a.now.Sub(o.Next.At).Abs()), next)
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
	free := *cmp.Or(b.Free, new(int))
	until := pluralVerb(b.MaxUnavailable, "is unavailable", "are unavailable")
	if b.MaxSurge > 0 {
		until = pluralVerb(b.MaxSurge, "extra pod exists", "extra pods exist")
	}
	for _, p := range matters {
		switch fails := cause.OfContainer(p.Code) && number(p.Facts, "newFailing") > 0; {
		case p.Late():
			a.add(screen.Outlook, "a pod that is not Ready %s after its creation counts as failing; "+
				"a rollout that waits for such pods alone counts as stuck", known{p.Facts, a.now}.age("patience"))
			return
		case fails && free > 0 && a.e.Rollout.UnderWay:
			a.add(screen.Outlook, "the next new pod may fail too: the controller continues, at most %s at a time, "+
				"until %s", Plural(free, "pod"), until)
			return
		case fails:
			return
		}
	}
}
