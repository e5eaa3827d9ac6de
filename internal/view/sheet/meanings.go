package sheet

import (
	"cmp"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// Meaning explains a problem in a sentence, or returns "" if its name is sufficient.
func (a *Sheet) Meaning(p *explain.Problem) string {
	if say := Meanings[p.Code]; say != nil {
		return say(&finding{wording.Known{Facts: p.Facts, Now: a.Now}, a, p})
	}
	return ""
}

// Meanings has the explanations of reasons that need one. Explanations of a plan's warnings use more facts. See
// planScreen.warning.
var Meanings = map[daemonset.Reason]func(*finding) string{
	cause.CrashLoopBackOff:          (*finding).crash,
	cause.OOMKilled:                 (*finding).outOfMemory,
	cause.ImagePullBackOff:          (*finding).noImage,
	cause.ContainerConfig:           (*finding).notStarted,
	cause.PullingImage:              (*finding).pulling,
	cause.FailedMount:               (*finding).missing,
	cause.ContainerCreating:         (*finding).creating,
	cause.InitRunning:               (*finding).initRuns,
	cause.ProbeFailing:              (*finding).probe,
	cause.NodeNotReady:              (*finding).notReady,
	cause.TerminatingOnDeadNode:     (*finding).onDeadNode,
	cause.FailedCreate:              (*finding).rejected,
	cause.PendingUnschedulable:      (*finding).unscheduled,
	cause.DoesNotFit:                (*finding).unfit,
	cause.InsufficientResources:     (*finding).insufficient,
	cause.HostPortConflict:          (*finding).portTaken,
	cause.VirtualNode:               (*finding).virtual,
	cause.PodOSNotSupported:         (*finding).otherSystem,
	cause.ExcludedButCounted:        (*finding).excluded,
	cause.EvictLoop:                 (*finding).evicted,
	cause.Terminating:               (*finding).terminating,
	daemonset.NotReady:              (*finding).gates,
	daemonset.NotYetAvailable:       (*finding).notYetAvailable,
	cause.NoPod:                     (*finding).noPod,
	cause.WaitingForRoom:            (*finding).waits,
	cause.Starting:                  (*finding).starting,
	cause.Misscheduled:              (*finding).misscheduled,
	cause.ControllerSilent:          says("work is pending, but the controller neither acts nor writes a status"),
	explain.GenerationNotObserved:   (*finding).notObserved,
	explain.StaleStatus:             (*finding).stale,
	daemonset.InvalidBudget:         (*finding).invalidBudget,
	daemonset.VanishedNodeInSurge:   says("each rollout step fails until this pod of a deleted node is gone"),
	cause.NoEligibleNode:            (*finding).noneEligible,
	cause.NextRolloutStalls:         (*finding).stalls,
	explain.TaintedButSelected:      (*finding).tainted,
	explain.SurgeHostPort:           (*finding).surgePort,
	explain.DisruptionBudgetIgnored: (*finding).budgetIgnored,
	explain.Adopt:                   says("the next sync adopts a pod without owner"),
	daemonset.ReleasedPod:           says("labels no longer match the selector: the next sync releases the pod"),
	explain.Foreign:                 (*finding).foreign,
	explain.DuplicateRevisions:      (*finding).duplicates,
	daemonset.NoTargetNode:          says("the pod is not assigned to any node; the controller ignores it"),
	explain.Deleting:                (*finding).deleting,

	plan.StartsRollout:         (*finding).startsRollout,
	plan.OutsideBudget:         (*finding).outsideBudget,
	plan.EvictsOldPods:         (*finding).evictsOld,
	plan.NewPodsFailing:        (*finding).newFailing,
	plan.KeepsRestarting:       (*finding).restarting,
	plan.ManagedByTool:         (*finding).managed,
	plan.ServerWarning:         (*finding).serverWarning,
	plan.DuplicateKey:          (*finding).duplicateKey,
	plan.InvalidImageName:      (*finding).invalidImage,
	plan.LostRepository:        (*finding).lostRepository,
	plan.MixedOperatingSystems: (*finding).mixedSystems,
	plan.OtherOperatingSystem:  (*finding).otherSystems,
	plan.OtherArchitecture:     (*finding).otherArchitecture,
	plan.MissingReference:      (*finding).missingReference,
	plan.MissingPullSecret:     (*finding).missingPullSecret,
	plan.NeverUpdated:          (*finding).neverUpdated,
}

// finding is a problem, or a warning of a plan, with the context of its explanation.
type finding struct {
	wording.Known
	sheet *Sheet
	p     *explain.Problem
}

// says returns a sentence that needs no facts.
func says(words string) func(*finding) string { return func(*finding) string { return words } }

// nodes returns one if the problem has one node, and many otherwise.
func (f *finding) nodes(one, many string) string { return wording.PluralOf(len(f.p.Nodes), one, many) }

// plural returns a numeric fact with its noun.
func (f *finding) plural(key, one, many string) string {
	return wording.PluralVerb(f.Count(key), one, many)
}

// container returns the name of the container.
func (f *finding) container() string {
	return wording.Either(f.Yes("init"), "init ", "") + "container " + f.Text("container")
}

// reason returns the reason that Kubernetes gives, in brackets.
func (f *finding) reason() string { return wording.InBrackets(f.Text("reason")) }

// restarted returns the number of restarts in brackets, or "" if there were none.
func (f *finding) restarted() string {
	n := f.Count("restarts")
	return wording.Either(n > 0, " ("+wording.Plural(n, "restart")+f.nodes("", " per pod")+")", "")
}

func (f *finding) crash() string {
	code := f.Text("exitCode")
	how := " exits with code " + code
	switch {
	case code == "":
		how = " crashes"
	case f.Yes("ready"):
		how = " runs again after it exited with code " + code
	case code == "0":
		how = " keeps exiting with code 0"
	}
	return f.container() + how + f.restarted()
}

func (f *finding) outOfMemory() string {
	limit := " its memory limit" + wording.Phrase(" of ", f.Text("memoryLimit")) +
		wording.Either(f.Yes("limitRange"), ", the default of a LimitRange", "")
	how := wording.Either(f.Yes("ready"), " runs again after it exceeded", " exceeds") + limit
	if f.Is("limited", "false") {
		how = wording.Either(f.Yes("ready"), " runs again after it ran", " ran") +
			" out of memory; the template sets no memory limit"
	}
	return f.container() + how + f.restarted()
}

func (f *finding) noImage() string {
	return wording.Phrase(f.container()+" cannot pull ", f.Text("image"))
}

func (f *finding) notStarted() string {
	return cmp.Or(f.missing(), f.container()+" cannot be started"+f.reason())
}

func (f *finding) pulling() string {
	return "the kubelet is pulling " + f.Text("image") + " for container " + f.Text("container") +
		", and has reported no failure"
}

func (f *finding) creating() string { return f.container() + " has not started" + f.reason() }

func (f *finding) initRuns() string {
	return f.container() + " has not ended, and the pod waits for it"
}

func (f *finding) probe() string {
	container, probe := f.container(), f.Text("probe")
	if f.Yes("sidecar") && probe != "liveness" {
		container = "sidecar " + f.Text("container")
	}
	how := container + " is running but not Ready"
	switch {
	case probe == "liveness":
		how = "the kubelet restarts " + container + ", as its liveness probe fails"
	case probe == "startup":
		how = container + " runs, but its startup probe fails"
	case f.Yes("sidecar"):
		how = container + " runs but has not started, and the pod waits for it"
	}
	return how + f.restarted()
}

func (f *finding) notReady() string {
	switch f.Text("status") {
	case "Unknown":
		return f.nodes("the kubelet does", "the kubelets do") + " not answer"
	case "False":
		return f.nodes("the kubelet reports that the node is", "the kubelets report that the nodes are") + " not ready"
	}
	return "some of these kubelets do not answer, the others report that their node is not ready"
}

func (f *finding) onDeadNode() string {
	deleted := wording.Phrase(", deleted ", f.Age("deletionAsked"), " ago,")
	pods := f.nodes("the pod", "the pods") + deleted
	switch stay := wording.Either(f.Yes("now"), f.nodes(" is still", " are still"), f.nodes(" stays", " stay")) +
		" Terminating"; {
	case f.Yes("outOfService"):
		return f.nodes("the node is", "the nodes are") + " declared out of service, so " + pods +
			f.nodes(" is", " are") + " force-deleted within about 20s"
	case f.Is("status", "Unknown"):
		return f.nodes("the kubelet has", "the kubelets have") + " stopped posting node status, so " + pods + stay
	case f.Is("status", "False"):
		return f.nodes("the kubelet reports that the node is", "the kubelets report that the nodes are") +
			" not ready, so " + pods + stay
	default:
		return f.nodes("the node is", "the nodes are") + " NotReady, so " + pods + stay
	}
}

func (f *finding) rejected() string {
	if f.Yes("predicted") {
		return "the API server will reject " + f.nodes("the pod", "these pods") + ": see Fault"
	}
	n := len(f.p.Nodes)
	return "the API server rejected " + wording.Plural(f.Count("events"), "request") + " to create " +
		wording.Either(n > 0, wording.Plural(n, "pod"), "pods") +
		wording.Phrase(", most recently ", f.Age("last"), " ago")
}

func (f *finding) unscheduled() string {
	missing := f.missing()
	switch {
	case missing != "":
		return missing
	case f.Text("added") != "":
		return "the pod has the nodeSelector " + f.Text("added") + ", which " +
			f.nodes("the node does", "the nodes do") + " not match"
	case f.Text("claim") == "" && f.Text("message") == "":
		return "no scheduler has reported on the pod: check kube-scheduler and the template's schedulerName"
	}
	return noVolume(f.Known, len(f.p.Nodes))
}

func (f *finding) unfit() string { return DoesNotFit(f.Known, len(f.p.Nodes)) }

func (f *finding) insufficient() string {
	if f.Text("requested") == "" {
		return ""
	}
	return f.unfit()
}

func (f *finding) portTaken() string {
	user, ports := portUser(f.Known), f.Text("ports")
	switch {
	case ports == "":
		return "another pod on the node uses a host port of this one"
	case f.Is("plugin", "NodePorts") && user != "":
		return portsUsed(f.Known, user)
	}
	one := wording.PluralOf(f.Count("ports"), "the host port ", "one of the host ports ")
	return "another pod on the node uses " + one + ports + " that this pod needs"
}

func (f *finding) virtual() string {
	return "the node has the label " + f.Text("key") + "=" + f.Text("want") +
		": no machine behind it runs pods of DaemonSets, though the controller makes it eligible"
}

func (f *finding) otherSystem() string {
	runs := ", and " + f.nodes("the node runs ", "the nodes run ")
	return wording.Phrase("the template is for ", f.Text("want"), runs, f.Text("platform"),
		": the kubelet rejects every pod")
}

func (f *finding) excluded() string {
	selects := "the controller selects " + f.Text("selector") + " by default"
	if annotation := f.Text("annotation"); annotation != "" {
		selects = "the namespace selects " + f.Text("selector") + " (" + annotation + ")"
	}
	return selects + ", which keeps the pod off " + f.nodes("the node", "the nodes") +
		", and a rolling update counts " + f.nodes("it", "them") + " as without an available pod"
}

func (f *finding) evicted() string {
	if f.Text("failures") == "" {
		return ""
	}
	return wording.Plural(f.Count("failures"), "pod") + " failed" + f.reason() +
		"; the controller creates the next one within 15m"
}

// finalized names the finalizers that block the deletion of the object. It returns "" if there are none.
func (f *finding) finalized() string {
	waits := "its deletion waits for " + wording.PluralOf(f.Count("finalizers"), "finalizer ", "finalizers ")
	return wording.Phrase(waits, f.Text("finalizers"))
}

func (f *finding) terminating() string {
	return cmp.Or(f.finalized(), wording.Either(f.Yes("overdue"), "it has outlived its grace period", ""))
}

func (f *finding) gates() string {
	return wording.Phrase("readiness gates not met: ", f.Text("conditions"))
}

func (f *finding) notYetAvailable() string {
	return "Ready for less than " + f.Age("minReadySeconds") + " (minReadySeconds)" +
		wording.Phrase("; available in ", f.Age("availableAt"), ", at ", f.Clock("availableAt")) +
		wording.Phrase("; Ready ", f.Age("clockSkew"), " in the future: the node's clock is ahead")
}

func (f *finding) noPod() string {
	switch last := f.Age("last"); {
	case f.Yes("lifted") && last != "":
		return "the API server rejected " + f.nodes("its pod", "their pods") + " until " + last +
			" ago, and would admit " +
			f.nodes("it", "them") + " now; the controller tries again within 17m"
	case f.Yes("eventsRead"):
		return ""
	}
	return "unknown why: events could not be read"
}

func (f *finding) waits() string {
	most := wording.Phrase(", for at most ", f.Age("endsBy"))
	if pods := f.Text("awaited"); pods != "" {
		return pods + " is terminating" + most + ": then the pod fits, and the scheduler places it"
	}
	return "other pods there are terminating" + most + ": then " +
		f.nodes("the pod fits, and the scheduler places it", "the pods fit, and the scheduler places them")
}

func (f *finding) starting() string {
	const now = ", for which the kubelet waited, exists now; the kubelet tries again within about two minutes"
	return wording.Phrase(f.Text("found"), now)
}

func (f *finding) misscheduled() string {
	rule := wording.Placement(daemonset.Reason(f.Text("because")), f.Facts)
	notEligible := wording.Phrase("the node is not eligible (", rule, "), but has a pod")
	untolerated, gone := wording.Phrase(rule, " is not tolerated"), "the taint is removed"
	if taints := f.Text("taints"); taints != "" {
		untolerated, gone = "the taints "+taints+" are not tolerated", "the taints are removed"
	}
	rollout := "the rollout"
	switch by := f.Text("strandedBy"); {
	case by == "" && f.Yes("stays") && f.Text("terminating") == "":
		return wording.Phrase(notEligible, "; the pod stays until the next rollout deletes it, and is not recreated")
	case by == "":
		return notEligible
	case by == "Deletion":
		return wording.Phrase(notEligible,
			"; if you delete the "+f.nodes("pod", "pods")+", the controller creates none")
	case by == "Next":
		rollout = "the next rollout"
	}
	return wording.Phrase(untolerated,
		"; "+rollout+" removes the "+f.nodes("pod", "pods")+", and creates none until "+gone)
}

// held returns why the controller does not write a status, or "" if nothing prevents it.
func (f *finding) held() string {
	return wording.WithPrefix("; ", noStatusReasons[daemonset.Reason(f.Text("heldUpBy"))])
}

func (f *finding) notObserved() string {
	return "generation " + f.Text("generation") + " not observed yet; the status is for generation " +
		f.Text("observed") + f.held()
}

func (f *finding) stale() string {
	return "the controller has not corrected the numbers that it reported" + f.held()
}

func (f *finding) invalidBudget() string {
	return "each rollout step fails: " + f.Text("field") + " cannot be resolved; set it to a number or a percentage"
}

func (f *finding) noneEligible() string {
	since := ""
	switch f.Text("changed") {
	case eligible.ChangedOther:
		since = "; no retained revision explains this: the nodes have changed, or none was ever eligible"
	case eligible.ChangedUnknown:
		since = "; unknown since when: the revisions could not be read"
	}
	none := "none of the " + wording.Plural(f.Count("nodes"), "node") + " is eligible"
	return wording.Either(f.Count("nodes") == 1, "the only node is not eligible", none) + since + NoneThen(f.Known)
}

// Selects names the fields of the template that select nodes.
func Selects(f wording.Known) string { return screen.Clean(strings.Join(f.List("selects"), " and ")) }

// NoneThen returns the consequence for the pods if no node is eligible.
func NoneThen(f wording.Known) string {
	losing, staying := f.Count("losing"), f.Count("staying")
	lose := ", " + wording.PluralVerb(losing, "pod is deleted", "pods are deleted") + " and not recreated"
	stay := ", " + wording.PluralVerb(staying, "pod stays", "pods stay") + " until the next rollout deletes " +
		wording.PluralOf(staying, "it", "them")
	return wording.Either(losing > 0, lose, "") + wording.Either(staying > 0, stay, "")
}

func (f *finding) stalls() string {
	replaced, of := f.Text("replaced"), f.plural("replaces", "pod", "pods")
	would := "start another rollout before " + f.sheet.ToSolve + " solved: it would "
	if !f.Is("reason", string(daemonset.StepBudgetSpent)) {
		return would + "stop after " + replaced + " of " + of + ": " + StallReason(daemonset.Reason(f.Text("reason")))
	}
	since := ", since " + f.Text("field") + " is " + f.Text("limit") + " and " +
		f.plural("holders", "node stays", "nodes stay") + " without an available pod"
	switch {
	case f.Yes("working") || f.Yes("atWorst"):
		return would + "stop" + wording.Either(f.Yes("atWorst"), ", at worst", "") + " after " + replaced +
			" of " + of + since
	case replaced == "0":
		return would + "replace no pod" + since
	}
	only := ""
	if f.Count("replaced") == len(f.p.Nodes) {
		only = wording.InBrackets(wording.SomeNames(f.p.Nodes))
	}
	return would + "delete only the " + f.plural("replaced", "pod that is", "pods that are") + " not available" +
		only + ", and then stop" + since
}

func (f *finding) tainted() string {
	n, others := len(f.p.Nodes), f.Count("others")
	more := wording.Either(others > 0, " and "+wording.Plural(others, "more taint"), "")
	matches := wording.PluralVerb(n, "node matches", "nodes match") + " the " + Selects(f.Known) + " of the template"
	return matches + f.nodes(" and runs", " and run") + " no pod: the template does not tolerate " +
		f.nodes("the", "their") + " taint " + f.Text("taint") + more + wording.InBrackets(wording.SomeNames(f.p.Nodes))
}

func (f *finding) surgePort() string {
	return "the template uses host port " + f.Text("ports") +
		", so no second pod fits beside the first: maxSurge cannot work; use maxUnavailable"
}

func (f *finding) budgetIgnored() string {
	limit := wording.Phrase("minAvailable ", f.Text("minAvailable")) +
		wording.Phrase("maxUnavailable ", f.Text("maxUnavailable"))
	return "PodDisruptionBudget " + f.Text("name") + wording.InBrackets(limit) +
		" selects these pods; the controller's deletions ignore it"
}

func (f *finding) foreign() string {
	return wording.Phrase("matches the selector, but belongs to ", f.Text("owner"))
}

func (f *finding) duplicates() string {
	relabels := ""
	if n := f.Count("relabelled"); n > 0 {
		relabels = " and relabels " + wording.Plural(n, "pod") + ", which then " +
			wording.PluralOf(n, "counts as updated even if it runs", "count as updated even if they run") +
			" an old template"
	}
	return wording.Plural(f.Count("revisions"), "revision") +
		" hold the live template: the next sync keeps one as revision " +
		f.Text("number") + relabels
}

func (f *finding) deleting() string {
	if f.Is("finalizers", "foregroundDeletion") && f.Count("pods") > 0 {
		return "its deletion waits until its " + f.plural("pods", "pod has", "pods have") + " ended"
	}
	return f.finalized()
}

func (f *finding) startsRollout() string {
	return "the change of the strategy alone starts a rollout: " +
		f.plural("pods", "pod is on an older revision", "pods are on older revisions")
}

func (f *finding) outsideBudget() string {
	return "the next step deletes " + f.plural("count", "pod", "pods") + " although the limit is " + f.Text("limit") +
		": the controller always deletes pods that are not available"
}

func (f *finding) evictsOld() string {
	all := "all " + f.Text("count") + " pods that run now do not tolerate "
	some := f.plural("count", "pod that runs now does not tolerate ", "pods that run now do not tolerate ")
	return wording.Either(f.Yes("all"), all, some) + f.Text("taint") +
		", and would be evicted: add the taint after the rollout is complete"
}

func (f *finding) newFailing() string {
	return f.Text("newFailing") + " of the " + f.plural("newPods", "pod", "pods") + " of the current revision " +
		wording.PluralOf(f.Count("newFailing"), "fails", "fail") + "; the plan assumes that the next ones work"
}

func (f *finding) restarting() string {
	return f.plural("count", "pod that is available now keeps", "pods that are available now keep") +
		" restarting, and the new " +
		wording.PluralOf(f.Count("count"), "pod runs", "pods run") + " the same program"
}

func (f *finding) managed() string {
	return f.Text("who") + " writes the DaemonSet (" + f.Text("evidence") + "): " + f.Text("undone")
}

func (f *finding) serverWarning() string { return "the API server warns: " + f.Text("message") }

func (f *finding) duplicateKey() string {
	key := cmp.Or(wording.Phrase("the key ", f.Text("key")), "a key")
	return f.Text("file") + ": document " + f.Text("document") + ", line " + f.Text("line") + ": " + key +
		" appears twice in one object; the later value counts, as for kubectl apply"
}

func (f *finding) invalidImage() string {
	return "container " + f.Text("container") + `: a kubelet does not start "` + f.Text("image") + `": ` +
		f.Text("fault")
}

func (f *finding) lostRepository() string {
	return "container " + f.Text("container") + `: the image "` + f.Text("image") + `" lacks the repository of "` +
		f.Text("imageBefore") + `": is "` + f.Text("imageMeant") + `" meant?`
}

// places names the nodes that a warning is about.
func (f *finding) places() string { return wording.NamesIn(f.Facts, "onNodes") }

func (f *finding) mixedSystems() string {
	return "the template does not say for which operating system it is, and the eligible nodes have several " +
		"(" + f.Text("platforms") + "): its images must be built for all of them, " +
		"or a nodeSelector kubernetes.io/os must keep the pod off " + f.places()
}

func (f *finding) otherSystems() string {
	return f.otherBuild("runs ", "run ") + ", or a nodeSelector kubernetes.io/os must keep the pod off " +
		wording.PluralOf(f.Count("onNodes"), "it", "them")
}

func (f *finding) otherArchitecture() string { return f.otherBuild("is ", "are ") }

// otherBuild says that no pod is available on the nodes of a platform.
func (f *finding) otherBuild(one, many string) string {
	platform := f.Text("platform")
	return f.places() + " " + wording.PluralOf(f.Count("onNodes"), one, many) + platform +
		", and the pods that are available run on " + f.Text("platforms") +
		" only: the images must be built for " + platform
}

func (f *finding) missingReference() string { return f.missing() + ", so no new pod starts" }

func (f *finding) missingPullSecret() string {
	return f.missing() + ": the kubelet starts the pod without it, and may not be able to pull the image"
}

func (f *finding) neverUpdated() string {
	return "revision " + f.Text("revision") +
		" has an empty hash: the controller treats its own new pods as outdated and loops forever"
}

// missing names the missing object or key, and the field that refers to it. It returns "" if the object is unknown.
func (f *finding) missing() string {
	if f.Text("kind") == "" {
		return ""
	}
	lacks := NoSuch(f.Known, f.sheet.Header.DaemonSet.Namespace)
	switch field, volume := f.Text("field"), f.Text("volume"); {
	case field == "imagePullSecrets":
		return lacks + ", which the template names in imagePullSecrets"
	case field == "":
		return lacks
	case volume != "":
		return lacks + "; volume " + volume + " refers to it"
	default:
		return lacks + "; " + f.container() + " refers to it in " + field + wording.InBrackets(f.Text("variable"))
	}
}

// NoSuch says that an object, or a key of it, does not exist.
func NoSuch(f wording.Known, namespace string) string {
	object := f.Text("kind") + " " + screen.Clean(namespace) + "/" + f.Text("name")
	if key := f.Text("key"); key != "" {
		return object + " has no key " + key
	}
	return object + " does not exist"
}

// DoesNotFit returns why a pod does not fit on n nodes: a resource with its arithmetic, or another reason.
func DoesNotFit(f wording.Known, n int) string {
	resource, requested, allocatable := wording.ResourceWord(f.Facts["resources"]), f.Text("requested"),
		f.Text("allocatable")
	requests := "the pod requests " + requested + " " + resource
	switch plugin := f.Text("plugin"); {
	case requested == "1" && resource == "pods":
		return wording.PluralOf(n, "the node runs as many pods as it may", "the nodes run as many pods as they may") +
			wording.WithPrefix(": ", allocatable) + nobodyLower(f)
	case f.Yes("beyond") && allocatable == "":
		return requests + ", more than " + wording.PluralOf(n, "the node has", "any of these nodes has") +
			" allocatable"
	case f.Yes("beyond"):
		return requests + "; " + wording.PluralOf(n, "the node has ", "each node has ") + allocatable + " allocatable"
	case plugin == "NodeResourcesFit":
		return requests + wording.Phrase("; ", f.Text("free"), " of ", allocatable,
			wording.PluralOf(n, " is free", " are free")) +
			nobodyLower(f)
	case plugin == "NodePorts":
		return portsUsed(f, cmp.Or(portUser(f), "another pod"))
	case f.Text("claim") != "":
		return noVolume(f, n)
	default:
		return "the scheduler rejects it (" + plugin + ")"
	}
}

// portsUsed says that user uses the host ports.
func portsUsed(f wording.Known, user string) string {
	n := f.Count("ports")
	return "host " + wording.PluralOf(n, "port ", "ports ") + f.Text("ports") + wording.PluralOf(n, " is", " are") +
		" used by " + user
}

// portUser returns the pod that uses a host port, or the workload of that pod. It returns "" if both are unknown.
func portUser(f wording.Known) string {
	return cmp.Or(wording.Phrase("pod ", f.Text("owner")), wording.Phrase("the pods of ", f.Text("holder")))
}

// noVolume names the volume that n nodes cannot provide. It returns "" if the volume is unknown.
func noVolume(f wording.Known, n int) string {
	volume := "volume " + f.Text("claim") + ": "
	if f.Is("plugin", "NodeVolumeLimits") {
		attached := ""
		if f.Count("attached") > 0 {
			attached = "; " + f.Text("attached") + " of " + f.Text("limit") + " are attached"
		}
		return volume + "the CSI driver " + f.Text("driver") + " cannot attach another volume to " +
			wording.PluralOf(n, "the node", "these nodes") + attached
	}
	only := wording.Phrase("can be attached only on nodes with ", f.Text("reachable"))
	return wording.Phrase(volume, "PersistentVolume ", f.Text("persistentVolume"), " ", only)
}

// nobodyLower returns why preemption does not help, or "" if it does.
func nobodyLower(f wording.Known) string {
	switch fit.Outcome(f.Text("preemption")) {
	case fit.NothingLower:
		return "; " + wording.PluralOf(f.Count("others"), "the other pod there has", "the other pods there have") +
			" the same or a higher priority, so nothing can be preempted"
	case fit.StillDoesNotFit:
		return "; not even without the pods of lower priority"
	case fit.Never:
		return "; its preemptionPolicy is Never"
	}
	return ""
}

// noStatusReasons has the reasons for which the controller does not write a status.
var noStatusReasons = map[daemonset.Reason]string{
	cause.FailedCreate:            "this version of the controller writes none while the API server rejects its pods",
	daemonset.InvalidBudget:       "this version of the controller writes none while its step fails",
	daemonset.VanishedNodeInSurge: "this version of the controller writes none while its step fails",
	daemonset.StepBeingDeleted:    "the controller writes none while the DaemonSet is being deleted",
	daemonset.StepSelectsAll:      "the controller writes none for an empty selector",
}

// StallReason returns why a rollout does not complete.
func StallReason(r daemonset.Reason) string { return cmp.Or(stallWords[r], string(r)) }

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
