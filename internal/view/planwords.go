package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// stallReason says why a rollout does not complete.
func stallReason(r daemonset.Reason) string { return cmp.Or(stallWords[r], string(r)) }

var stallWords = map[daemonset.Reason]string{
	cause.Terminating:             "pods stay Terminating",
	daemonset.InvalidBudget:       "maxUnavailable or maxSurge cannot be resolved, so every step fails",
	daemonset.VanishedNodeInSurge: "every surge step fails until the old pod of a deleted node is gone",
	cause.FailedCreate:            "the API server rejects new pods",
	cause.DoesNotFit:              "new pods do not fit on their nodes",
	cause.VirtualNode:             "virtual nodes run no pods of DaemonSets",
	daemonset.StepBudgetSpent:     "the limit is used up",
	daemonset.StepWaiting:         "the controller waits for pods to become available or to end",
	plan.Unfilled:                 "nodes stay without a pod",
	plan.Endless:                  "the controller creates and deletes pods without end",
}

// codes lists the causes of holders, the most frequent first.
func codes(holders []plan.Holder) string {
	var out []string
	for _, p := range plan.ProblemsOf(holders) {
		if !slices.Contains(out, string(p.Code)) {
			out = append(out, string(p.Code))
		}
	}
	return strings.Join(out, ", ")
}

// ImageFault says what is wrong with the name of an image.
func ImageFault(fault template.ImageFault) string { return imageFaults[fault] }

var imageFaults = map[template.ImageFault]string{
	template.ImageScheme:    "the name of an image has no scheme such as https://",
	template.ImageCharacter: "it has a character that no name of an image has",
	template.ImageUppercase: "the name of a repository has no upper case",
	template.ImageNoTag:     "the tag after the colon is missing",
	template.ImageBadDigest: "the digest after @ is not sha256: and 64 hexadecimal digits",
	template.ImageForm:      "it is not of the form REGISTRY/NAME:TAG",
}

// methods say how a manifest was laid over the live object, and as whom.
var methods = []string{
	"{method=New}",
	"{method=ServerDryRun}by the API server, in a dry run[ of kubectl apply --server-side as field manager {manager}]",
	"{method=Overlay}as kubectl apply --server-side as field manager {manager}; no managed fields are known, so nothing is removed",
	"as kubectl apply --server-side as field manager {manager}; a field that it alone owns and the manifest lacks is removed",
	"{method=LastApplied}as kubectl apply does it, by the live object's last-applied annotation",
	"{method=ManagedFields}the manifest over the live object; what its field managers own and the manifest lacks is removed",
	"{method=Overlay}the manifest over the live object; unknown what it used to hold, so nothing is removed",
}

var nodeChangeWords = map[whatif.NodeChangeKind]string{
	whatif.NodeTaint: "tainted", whatif.NodeUntaint: "without the taint", whatif.NodeLabel: "labeled", whatif.NodeUnlabel: "without the label",
	whatif.NodeCordon: "cordoned", whatif.NodeUncordon: "uncordoned", whatif.NodeDown: "assumed to be down", whatif.NodeRemove: "removed", whatif.NodeAdd: "added like",
}

// templateWords says what the change means for the revision.
func templateWords(p *plan.Plan) string {
	c := p.Change
	f := daemonset.Facts{
		"new": p.Subject == plan.SubjectNew, "nodes": p.Desired.After, "nowhere": p.Nowhere(), "changed": c.TemplateChanged, "known": p.TemplateKnown(),
		"differ": len(c.Fields), "changes": len(c.Fields) + len(c.Nodes), "restores": !c.Revision.New && c.Revision.Was > 0, "was": c.Revision.Was, "kept": p.Kept(),
	}
	if c.Revision.From > 0 || f["restores"] == true {
		f["number"] = c.Revision.Number
	}
	if m, only := template.OnlyMetadata(c.Fields); only {
		f["annotations"], f["labels"] = upTo(5, m.Annotations), upTo(5, m.Labels)
		f["both"] = len(m.Annotations) > 0 && len(m.Labels) > 0
		f["restart"] = slices.Equal(slices.Concat(m.Annotations, m.Labels), []string{template.RestartedAt.Last().Name})
	}
	return fill(time.Time{}, f, templates...)
}

// templates are the words for what a change does to the template.
var templates = []string{
	"{new=true}{nowhere=true}no node is eligible: none matches the nodeSelector and affinity, or each has a taint that the pod does not tolerate",
	"{new=true}a new DaemonSet; {nodes:node is eligible|nodes are eligible}",
	"{changed=false}{known=false}the template is unchanged, assuming " + valuesEqual + "; otherwise every pod is replaced",
	"{changed=false}{changes=0}none",
	"{changed=false}{differ=0}",
	"{changed=false}the template is unchanged: creates no revision",
	"{restores=true}revision {was} becomes revision {number}" +
		"[{known=true}; its {kept:pod is|pods are} kept][{known=false}, assuming " + valuesEqual + "; otherwise every pod is replaced]",
	"{restart=true}nothing else in the template; " + createsRevision,
	"{restart=false}nothing else in the template than [{annotations?the annotation|the annotations} {annotations}][{both=true} and ][{labels?the label|the labels} {labels}]; " + createsRevision,
	createsRevision,
}

const createsRevision = "creates [revision {number}][{number=}a revision]"

// upTo are at most so many names, and how many more there are.
func upTo(most int, names []string) []string {
	if more := len(names) - most; more > 0 {
		return append(slices.Clone(names[:most]), fmt.Sprintf("%d more", more))
	}
	return names
}

func each(n, count int) string {
	if count > 1 && n > 0 {
		return fmt.Sprintf("%d each", n)
	}
	return strconv.Itoa(n)
}

// rangeWords is "19m to 44m"; empty where it is not known.
func rangeWords(d *plan.Duration) string {
	if d == nil {
		return ""
	}
	low, high := seconds(d.Optimistic), seconds(d.Pessimistic)
	if low == high {
		return low
	}
	return low + " to " + high
}

// seconds writes a span of time with no more digits than a forecast has.
func seconds(n float64) string {
	d := time.Duration(n * float64(time.Second))
	switch {
	case d > 0 && d < time.Second:
		d = time.Second
	case d < 2*time.Minute:
		d = d.Round(time.Second)
	case d.Round(time.Minute) < time.Hour:
		d = d.Round(time.Minute)
	case d < 10*time.Hour:
		d = d.Round(5 * time.Minute)
		if m := d % time.Hour; m > 0 {
			return fmt.Sprintf("%dh%dm", d/time.Hour, m/time.Minute)
		}
	default:
		d = d.Round(time.Hour)
	}
	return ago(d)
}

// gates say that a condition holds for a plan, and with which number.
var gates = map[plan.GateOn]string{
	plan.GateStalls: "the rollout of {of} stalls[, {left:pod is not updated|pods are not updated}][, {terminating:pod stays|pods stay} terminating]" +
		"[, {without:node stays|nodes stay} without an available pod]{atWorst? at worst|}",
	plan.GateRemovesAllPods:   "no node runs the pod of {of} at the end",
	plan.GateLostNodes:        "{of}: {n:node loses its pod|nodes lose their pod}",
	plan.GateStrands:          "{of}: {n:node loses its pod|nodes lose their pod} for good, because of a taint that the pod does not tolerate",
	plan.GateUnfit:            "{of}: the new pod does not fit on {n:node}",
	plan.GateReplaces:         "{of}: {n:pod is|pods are} replaced",
	plan.GateImmediateDeletes: "{of}: {n:pod is|pods are} deleted immediately",
}

// Gate says that a condition holds for a plan, by what it found there.
func Gate(g plan.Gate, p *plan.Plan) string {
	o := &p.Outcome
	f := daemonset.Facts{"of": p.DaemonSet.Namespace + "/" + p.DaemonSet.Name, "n": g.Of(p).Number, "left": o.Left, "terminating": o.Terminating, "atWorst": o.AtWorst}
	if o.Left+o.Terminating == 0 {
		f["without"] = o.Unserved()
	}
	return fill(time.Time{}, f, gates[g.On])
}

// assumed is what the plan rests on, what decides it first; with -o wide each
// assumption by itself, with its code and source.
func (s *planned) assumed() {
	if s.style.Wide {
		t := &screen.Table{Columns: columns("ASSUMPTION", "VALUE", "SOURCE")}
		for _, a := range s.p.Assumptions {
			if s.p.RestsOn(a.Code) {
				t.Row(string(a.Code), a.Value, a.Source)
			}
		}
		s.s.Add(screen.Assumed, t)
		return
	}
	problems := s.problems
	if then := s.p.IfChanged(); then != nil {
		problems = then.Outcome.Problems
	}
	down := plan.Down(problems)
	known := daemonset.Facts{"answering": someNames(s.p.Answering()), "supposed": yesNo(s.p.Supposed(down...)), "down": yesNo(len(down) > 0)}
	if len(problems) == 0 {
		known["down"] = "unknown"
	}
	if len(s.p.Unfit) > 0 {
		known["unfit"] = "yes"
	}
	if of := cmp.Or(s.before, s.live); of != nil && of.works() > 0 {
		known["someWork"] = "yes"
	}
	if s.o.Code == plan.Stalls && s.live == nil && !s.p.Supposed(down...) {
		known["stalls"] = "yes"
	}
	if ofSystem := func(p *cause.Problem) bool { return p.Code == cause.PodOSNotSupported }; len(s.problems) > 0 && !slices.ContainsFunc(s.problems, func(p *cause.Problem) bool { return !ofSystem(p) }) {
		known["system"] = "yes" // and it says so
	}
	rests := slices.DeleteFunc(slices.Clone(s.p.Assumptions), func(a daemonset.Assumption) bool { return !s.p.RestsOn(a.Code) })
	var lines []string
	uncomputed := map[string]bool{}
	if s.o.ReachesEnd() && s.o.Duration == nil && s.p.RestsOn(plan.AssumeStart) {
		lines = append(lines, "how long a new pod takes to become Ready is not known; set it with --start 40s")
	}
	for _, of := range assumptions {
		i := slices.IndexFunc(rests, func(a daemonset.Assumption) bool { return a.Code == of.code })
		finding := slices.Contains([]daemonset.AssumptionCode{plan.AssumeMissingReference, plan.AssumeInvalidImage}, of.code) || // which the headline says
			of.code == plan.AssumeNewPods && (s.neverRuns() && s.o.Reason != cause.FailedCreate || slices.ContainsFunc(s.p.Assumptions, func(a daemonset.Assumption) bool { return a.Code == plan.AssumeConfined })) // or that one
		if i < 0 || of.code == daemonset.AssumeControllerVersion || finding {
			continue
		}
		if words := assumption(rests[i], rests, known); words != "" {
			lines = append(lines, words)
			uncomputed[words] = slices.Contains(unchecked, of.code)
		}
	}
	for i, words := range lines {
		l := screen.Rests
		if (i == 0 || uncomputed[words]) && !s.stays() {
			l = screen.Assumed
		}
		s.add(l, "%s", words)
	}
}

// unchecked are the assumptions that are always shown: what could not be compared or computed.
var unchecked = []daemonset.AssumptionCode{
	plan.AssumeNotModelled, plan.AssumeOtherPods, plan.AssumeAsUser, plan.AssumeNotTried,
	whatif.AssumeNoConflicts, whatif.AssumeEnvValues, whatif.AssumeUnknownFields, whatif.AssumeTemplateNotChecked,
}

// assumption says in a sentence what was assumed, among all that was; empty for the
// controller's own pace. known is what else is known: whether nodes that stay without
// an available pod are down, or were asked to be, and which kubelets still answer.
func assumption(a daemonset.Assumption, all []daemonset.Assumption, known daemonset.Facts) string {
	f := with(known, daemonset.Facts{"value": a.Value, "source": a.Source})
	for _, other := range all {
		f[string(other.Code)] = cmp.Or(other.Value, "yes")
	}
	if fill(time.Time{}, f, "{StartFast@}") == fill(time.Time{}, f, "{StartSlow@}") {
		delete(f, string(plan.AssumeStartFast))
	}
	for _, of := range assumptions {
		if of.code == a.Code {
			return fill(time.Time{}, f, of.sentences...)
		}
	}
	return ""
}

// aPull says that what was measured may have had no pull, of which a new image needs one.
const aPull = "[; pulling {PullAddsNothing:new image} may add to that]"

// ofFuture says which pods were not measured.
const ofFuture = "[; it leaves out {FutureStartsLeftOut:pod|pods} whose Ready time lies in the future]"

// assumptions are the words of what an answer rests on, what decides it first. Beside
// the value and the source of its own, a sentence can use the value of each other
// assumption by its code.
var assumptions = []struct {
	code      daemonset.AssumptionCode
	sentences []string
}{
	{plan.AssumeRevisionFails, []string{"{someWork=yes}no other pod of this revision becomes available, as {value:pod fails|pods fail}", "no pod of the new revision becomes available, as none has yet and {value:pod fails|pods fail}[, but for {ReadyPodsBecomeAvailable:pod that is Ready already|pods that are Ready already}]"}},
	{plan.AssumeConfined, []string{"pods of the current revision fail only on {value:node that has|nodes that have} what the failing ones have in common"}},
	{plan.AssumeInvalidImage, []string{`no pod of the new revision becomes available, as a kubelet does not start "{value}"`}},
	{plan.AssumeMissingReference, []string{"no new pod becomes available, as {value} does not exist"}},
	{plan.AssumeNodesStay, []string{
		"{down=unknown}{value:node stays as it is|nodes stay as they are}, as something is wrong there",
		"{system=yes}", "{supposed=yes}{value:node is|nodes are} down (--node-down)", "{down=yes}{value=1}the node stays NotReady", "{down=yes}the {value:node stays|nodes stay} as they are",
		"{RevisionFails=}{FailureConfined=}{value=1}the failing pod keeps failing", "{RevisionFails=}{FailureConfined=}the {value:failing pod keeps|failing pods keep} failing",
	}},
	{plan.AssumeRefused, []string{"the API server keeps rejecting pods"}},
	{plan.AssumeNodesReady, []string{"{value:node that is NotReady is|nodes that are NotReady are} Ready again soon: {value?its kubelet has|their kubelets have} reported it for less than 5m"}},
	{plan.AssumeLatePods, []string{"{value:pod that is not Ready yet becomes Ready, although it takes|pods that are not Ready yet become Ready, although they take} longer than any other did; late pods were seen to take up to 5 times as long"}},
	{plan.AssumeNotModelled, []string{"{value=" + string(fit.AntiAffinityOfOthers) + "}", "no pod is kept from its node by what is not computed: {value}"}},
	{plan.AssumeOtherPods, []string{"the other pods stay on the nodes as they are, and none keeps a new pod away by its anti-affinity, which is not computed"}},
	{plan.AssumeAsUser, []string{"the API server creates the controller's pods, as it created one for you in a dry run[, although {value}, as computed, rejects it]"}},
	{plan.AssumeNotTried, []string{"the API server creates the new pods; a dry run did not show it: {value}"}},
	{plan.AssumeHostPorts, []string{"no second pod is scheduled beside the old one, which uses the host port"}},
	{whatif.AssumeNoConflicts, []string{"server-side apply as field manager {value} has no conflicts: the input has no managed fields, which would show them"}},
	{whatif.AssumeEnvValues, []string{
		"{value:literal value of the manifest, of an environment variable or in an annotation, equals that in the cluster|literal values of the manifest, of environment variables or in annotations, equal those in the cluster}:" +
			" the snapshot holds digests, which cannot be compared (snapshot --show-values)",
	}},
	{whatif.AssumeUnknownFields, []string{"the API server drops {value:field that differs|fields that differ} between the revision and the live template: this version of the plugin does not know {value?it|them}"}},
	{daemonset.AssumeCurrentRevision, []string{
		"{source=None}no revision could be read, and no pod shows which one is current: no pod counts as updated",
		"no revision could be read: [{source=TemplateGeneration}the latest template generation of the pods shows][{source=Status}the numbers of the status show] which one is current, {value}",
	}},
	{daemonset.AssumeGeneration, []string{"{value:pod runs|pods run} the live template: the label pod-template-generation says so, the hash does not"}},
	{daemonset.AssumeNewHash, []string{"the revision that the next sync creates gets a new hash; pods with hash {value} count as updated if it gets theirs, as when a deleted revision is created again"}},
	{plan.AssumeNewPods, []string{"{unfit=yes}every new pod that fits becomes available", "{stalls=yes}every other new pod becomes available", "every new pod becomes available"}},
	{plan.AssumeStart, []string{
		"{source=Flag}a new pod is Ready {value@} after its creation (--start)",
		"{value=0s}a new pod is Ready within a second of its creation (measured)" + ofFuture + aPull,
		"a new pod is Ready {StartFast@} to {StartSlow@} after its creation, as 80% of the measured pods were" + ofFuture + aPull,
		"a new pod is Ready {value@} after its creation (measured)" + ofFuture + aPull,
	}},
	{plan.AssumeMinReadySeconds, []string{"a Ready pod is available after {value@} (minReadySeconds)[; the controller may notice it up to {CountedLate@} late]"}},
	{plan.AssumeTermination, []string{"{source=GracePeriod}a deleted pod is gone within its grace period of {value@}[, also on {answering}: its kubelet runs]", "{source=Rollout}{value=0s}a deleted pod is gone immediately, as so far in this rollout", "{source=LastRollout}{value=0s}a deleted pod is gone immediately, as in the last rollout",
		"{source=Rollout}a deleted pod is gone after {value@} on average, as so far in this rollout", "{source=LastRollout}a deleted pod is gone after {value@} on average, as in the last rollout", "a deleted pod is gone within {value@}[{source=Flag} (--termination)][{source=Events} (as the last ones were)]"}},
	{plan.AssumeCollected, []string{"pods of deleted nodes are gone within {value@}"}},
	{whatif.AssumeTemplateNotChecked, []string{
		"not asked: that the API server accepts the rest of the pod template[{NoServerWarnings=yes}, without a warning] (--server-dry-run asks it)",
	}},
	{whatif.AssumeNoServerWarnings, []string{"{TemplateNotChecked=}the API server does not warn (--server-dry-run asks it)"}},
	{plan.AssumeFits, []string{"{source=Volumes}new pods fit on {value:node}, although not all of their volumes could be read", "not checked: that new pods fit on {value:node|nodes}, as the other pods there were not read[{source=NotAsked} (--fit reads them)]"}},
	{plan.AssumeHooks, []string{"webhooks and policies that were not run admit the pods as they are: {value}"}},
	{plan.AssumeUnchecked, []string{"{value=}the API server admits the new pods, which could not be checked", "the API server admits the new pods by rules that could not be checked: {value}"}},
	{daemonset.AssumeControllerVersion, []string{"kube-controller-manager runs {value}, as the API server does"}},
	{daemonset.AssumeNewestRules, []string{"the rules of {value}, the newest known, still hold"}},
	{daemonset.AssumeMayStay, []string{"the nodes that pods are on still exist and keep them"}},
	{daemonset.AssumeNodesReady, []string{"nodes are Ready unless a taint says otherwise, since their status is not in the input"}},
	{daemonset.AssumeEveryNodeSelected, []string{"{source=kubecontrollermanagers}the controller has no default node selector, as it could not be read", "the namespace selects every node, as its node selector could not be read"}},
	{daemonset.AssumeTolerationComparison, []string{"the controller's feature gate {value} is on, since the template has a toleration that needs it (Lt or Gt)"}},
}
