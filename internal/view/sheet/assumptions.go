package sheet

import (
	"cmp"
	"strconv"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// Circumstances are facts of a plan that affect the words for an assumption.
type Circumstances struct {
	NoProblem bool // no problem is known
	Down      bool // the nodes that stay without an available pod are down
	Supposed  bool // the user asked to treat each of these nodes as down
	// nodes that run another operating system are the only problem, and the screen already names them
	OtherSystem bool
	Answering   string // NotReady nodes whose kubelet still responds
	Unfit       bool   // some new pods do not fit
	SomeWork    bool   // some pods of this revision work
	Stalls      bool   // the plan is about a change that stalls
}

// assumptionContext is an assumption with the other assumptions and the circumstances.
type assumptionContext struct {
	daemonset.Assumption
	Circumstances
	all []daemonset.Assumption
}

// Assumption returns a sentence for an assumption, or "" for the controller's own pace. all contains all assumptions of
// the result.
func Assumption(a daemonset.Assumption, all []daemonset.Assumption, known Circumstances) string {
	a.Value = screen.Clean(a.Value)
	g := &assumptionContext{a, known, all}
	for _, of := range Assumptions {
		if of.Code == a.Code {
			return of.say(g)
		}
	}
	return ""
}

// plural returns the value, which is a number, with its words.
func (g *assumptionContext) plural(one, many string) string {
	n, _ := strconv.Atoi(g.Value)
	return wording.PluralVerb(n, one, many)
}

// also returns the value of another assumption, or "yes" if it has no value. It returns "" if it was not assumed.
func (g *assumptionContext) also(code daemonset.AssumptionCode) string {
	for _, a := range g.all {
		if a.Code == code {
			return cmp.Or(screen.Clean(a.Value), "yes")
		}
	}
	return ""
}

// alsoSome returns the number in another assumption with its words, or "" if it was not assumed.
func (g *assumptionContext) alsoSome(code daemonset.AssumptionCode, one, many string) string {
	n, _ := strconv.Atoi(g.also(code))
	return wording.Counted(n, one, many)
}

// lasting formats a duration or a number of seconds, such as 14m.
func lasting(value string) string {
	return wording.Known{Facts: daemonset.Facts{"value": value}, Now: time.Time{}}.Age("value")
}

// always returns the words for an assumption without a value.
func always(words string) func(*assumptionContext) string {
	return func(*assumptionContext) string { return words }
}

// saysCount returns the words for an assumption with a number.
func saysCount(before, one, many, after string) func(*assumptionContext) string {
	return func(g *assumptionContext) string { return before + g.plural(one, many) + after }
}

// saysValue returns the words for an assumption with a value.
func saysValue(before, after string) func(*assumptionContext) string {
	return func(g *assumptionContext) string { return before + g.Value + after }
}

// Assumptions has the words for each assumption, the decisive ones first.
var Assumptions = []struct {
	Code daemonset.AssumptionCode
	say  func(*assumptionContext) string
}{
	{plan.AssumeRevisionFails, (*assumptionContext).revisionFails},
	{plan.AssumeConfined, saysCount("pods of the current revision fail only on ", "node that has", "nodes that have",
		" what the failing ones have in common")},
	{plan.AssumeInvalidImage, saysValue(`no pod of the new revision becomes available, as a kubelet does not `+
		`start "`, `"`)},
	{plan.AssumeMissingReference, saysValue("no new pod becomes available, as ", " does not exist")},
	{plan.AssumeNodesStay, (*assumptionContext).nodesStay},
	{plan.AssumeRefused, always("the API server keeps rejecting pods")},
	{plan.AssumeNodesReady, saysCount("", "node that is NotReady is Ready again soon: its kubelet has",
		"nodes that are NotReady are Ready again soon: their kubelets have", " reported it for less than 5m")},
	{plan.AssumeLatePods, saysCount("", "pod that is not Ready yet becomes Ready, although it takes",
		"pods that are not Ready yet become Ready, although they take",
		" longer than any other did; late pods were seen to take up to 5 times as long")},
	{plan.AssumeNotModelled, (*assumptionContext).notModelled},
	{plan.AssumeOtherPods, always("the other pods stay on the nodes as they are, and none keeps a new pod away " +
		"by its anti-affinity, which is not computed")},
	{plan.AssumeAsUser, (*assumptionContext).asUser},
	{plan.AssumeNotTried, saysValue("the API server creates the new pods; a dry run did not show it: ", "")},
	{plan.AssumeHostPorts, always("no second pod is scheduled beside the old one, which uses the host port")},
	{whatif.AssumeNoConflicts, saysValue("server-side apply as field manager ",
		" has no conflicts: the input has no managed fields, which would show them")},
	{whatif.AssumeEnvValues, saysCount("",
		"literal value of the manifest, of an environment variable or in an annotation, equals that in the cluster",
		"literal values of the manifest, of environment variables or in annotations, equal those in the cluster",
		": the snapshot holds digests, which cannot be compared (snapshot --show-values)")},
	{whatif.AssumeUnknownFields, (*assumptionContext).unknownFields},
	{daemonset.AssumeCurrentRevision, (*assumptionContext).currentRevision},
	{daemonset.AssumeGeneration, saysCount("", "pod runs", "pods run",
		" the live template: the label pod-template-generation says so, the hash does not")},
	{daemonset.AssumeNewHash, saysValue("the revision that the next sync creates gets a new hash; pods with hash ",
		" count as updated if it gets theirs, as when a deleted revision is created again")},
	{plan.AssumeNewPods, (*assumptionContext).newPods},
	{plan.AssumeStart, (*assumptionContext).start},
	{plan.AssumeMinReadySeconds, (*assumptionContext).minReadySeconds},
	{plan.AssumeTermination, (*assumptionContext).termination},
	{plan.AssumeCollected, func(g *assumptionContext) string {
		return "pods of deleted nodes are gone within " +
			lasting(g.Value)
	}},
	{whatif.AssumeTemplateNotChecked, (*assumptionContext).templateNotChecked},
	{whatif.AssumeNoServerWarnings, (*assumptionContext).noServerWarnings},
	{plan.AssumeFits, (*assumptionContext).fits},
	{plan.AssumeHooks, saysValue("webhooks and policies that were not run admit the pods as they are: ", "")},
	{plan.AssumeUnchecked, func(g *assumptionContext) string {
		return cmp.Or(
			wording.Phrase("the API server admits the new pods by rules that could not be checked: ", g.Value),
			"the API server admits the new pods, which could not be checked")
	}},
	{daemonset.AssumeControllerVersion, saysValue("kube-controller-manager runs ", ", as the API server does")},
	{daemonset.AssumeNewestRules, saysValue("the rules of ", ", the newest known, still hold")},
	{daemonset.AssumeMayStay, always("the nodes that pods are on still exist and keep them")},
	{daemonset.AssumeNodesReady, always("nodes are Ready unless a taint says otherwise, since their status " +
		"is not in the input")},
	{daemonset.AssumeEveryNodeSelected, (*assumptionContext).everyNodeSelected},
	{daemonset.AssumeTolerationComparison, saysValue("the controller's feature gate ",
		" is on, since the template has a toleration that needs it (Lt or Gt)")},
}

func (g *assumptionContext) revisionFails() string {
	fail := g.plural("pod fails", "pods fail")
	if g.SomeWork {
		return "no other pod of this revision becomes available, as " + fail
	}
	ready := g.alsoSome(plan.AssumeReadyPods, "pod that is Ready already", "pods that are Ready already")
	return "no pod of the new revision becomes available, as none has yet and " + fail +
		wording.Phrase(", but for ", ready)
}

func (g *assumptionContext) nodesStay() string {
	switch one := g.Value == "1"; {
	case g.NoProblem:
		return g.plural("node stays as it is", "nodes stay as they are") + ", as something is wrong there"
	case g.OtherSystem:
		return ""
	case g.Supposed:
		return g.plural("node is", "nodes are") + " down (--node-down)"
	case g.Down && one:
		return "the node stays NotReady"
	case g.Down:
		return "the " + g.plural("node stays", "nodes stay") + " as they are"
	case g.also(plan.AssumeRevisionFails)+g.also(plan.AssumeConfined) != "":
		return ""
	case one:
		return "the failing pod keeps failing"
	}
	return "the " + g.plural("failing pod keeps", "failing pods keep") + " failing"
}

func (g *assumptionContext) notModelled() string {
	if g.Value == string(fit.AntiAffinityOfOthers) { // AssumeOtherPods says this
		return ""
	}
	return "no pod is kept from its node by what is not computed: " + g.Value
}

func (g *assumptionContext) asUser() string {
	return "the API server creates the controller's pods, as it created one for you in a dry run" +
		wording.Phrase(", although ", g.Value, ", as computed, rejects it")
}

func (g *assumptionContext) unknownFields() string {
	return "the API server drops " + g.plural("field that differs", "fields that differ") +
		" between the revision and the live template: this version of the plugin does not know " +
		wording.Either(g.Value == "1", "it", "them")
}

func (g *assumptionContext) currentRevision() string {
	shows := map[string]string{
		"TemplateGeneration": "the latest template generation of the pods shows",
		"Status":             "the numbers of the status show",
	}[g.Source]
	if g.Source == "None" {
		return "no revision could be read, and no pod shows which one is current: no pod counts as updated"
	}
	return "no revision could be read: " + shows + " which one is current, " + g.Value
}

func (g *assumptionContext) newPods() string {
	switch {
	case g.Unfit:
		return "every new pod that fits becomes available"
	case g.Stalls:
		return "every other new pod becomes available"
	}
	return "every new pod becomes available"
}

// start describes how long a new pod takes to become Ready, and what may add to that.
func (g *assumptionContext) start() string {
	ready := lasting(g.Value)
	fast, slow := lasting(g.also(plan.AssumeStartFast)), lasting(g.also(plan.AssumeStartSlow))
	future, pulls := g.alsoSome(plan.AssumeFuture, "pod", "pods"),
		g.alsoSome(plan.AssumePull, "new image", "new images")
	more := wording.Phrase("; it leaves out ", future, " whose Ready time lies in the future") +
		wording.Phrase("; pulling ", pulls, " may add to that")
	switch {
	case g.Source == "Flag":
		return "a new pod is Ready " + ready + " after its creation (--start)"
	case g.Value == "0s":
		return "a new pod is Ready within a second of its creation (measured)" + more
	case fast != slow:
		return "a new pod is Ready " + fast + " to " + slow +
			" after its creation, as 80% of the measured pods were" + more
	}
	return "a new pod is Ready " + ready + " after its creation (measured)" + more
}

func (g *assumptionContext) minReadySeconds() string {
	late := wording.Phrase("; the controller may notice it up to ", lasting(g.also(plan.AssumeCountedLate)), " late")
	return "a Ready pod is available after " + lasting(g.Value) + " (minReadySeconds)" + late
}

func (g *assumptionContext) termination() string {
	takes := "after " + lasting(g.Value) + " on average"
	if g.Value == "0s" {
		takes = "immediately"
	}
	switch g.Source {
	case "GracePeriod":
		return "a deleted pod is gone within its grace period of " + lasting(g.Value) +
			wording.Phrase(", also on ", g.Answering, ": its kubelet runs")
	case "Rollout":
		return "a deleted pod is gone " + takes + ", as so far in this rollout"
	case "LastRollout":
		return "a deleted pod is gone " + takes + ", as in the last rollout"
	}
	how := map[string]string{"Flag": " (--termination)", "Events": " (as the last ones were)"}[g.Source]
	return "a deleted pod is gone within " + lasting(g.Value) + how
}

func (g *assumptionContext) templateNotChecked() string {
	return "not asked: that the API server accepts the rest of the pod template" +
		wording.Either(g.also(whatif.AssumeNoServerWarnings) != "", ", without a warning", "") +
		" (--server-dry-run asks it)"
}

func (g *assumptionContext) noServerWarnings() string {
	if g.also(whatif.AssumeTemplateNotChecked) != "" { // templateNotChecked says this
		return ""
	}
	return "the API server does not warn (--server-dry-run asks it)"
}

func (g *assumptionContext) everyNodeSelected() string {
	if g.Source == "kubecontrollermanagers" {
		return "the controller has no default node selector, as it could not be read"
	}
	return "the namespace selects every node, as its node selector could not be read"
}

func (g *assumptionContext) fits() string {
	if g.Source == "Volumes" {
		return "new pods fit on " + g.plural("node", "nodes") + ", although not all of their volumes could be read"
	}
	return "not checked: that new pods fit on " + g.plural("node", "nodes") +
		", as the other pods there were not read" +
		wording.Either(g.Source == "NotAsked", " (--fit reads them)", "")
}
