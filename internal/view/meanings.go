package view

import (
	"cmp"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// meaning says in a sentence what a reason means, with its facts; empty where
// its name says all.
func (a *sheet) meaning(p *explain.Problem) string {
	if say := meanings[p.Code]; say != nil {
		return say(&finding{known{p.Facts, a.now}, a, p})
	}
	return ""
}

// meanings say what a reason means where its name does not say all. Those of a plan have further facts: see warning.
var meanings = map[daemonset.Reason]func(*finding) string{
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

// finding is a problem, or a warning of a plan, with what its sentence needs.
type finding struct {
	known
	sheet *sheet
	p     *explain.Problem
}

// says is a sentence without facts.
func says(words string) func(*finding) string { return func(*finding) string { return words } }

// nodes is the word for one node, or the one for several.
func (f *finding) nodes(one, many string) string { return pluralOf(len(f.p.Nodes), one, many) }

// plural is a fact that is a number, with its noun.
func (f *finding) plural(key, one, many string) string { return pluralVerb(f.count(key), one, many) }

// container names the container.
func (f *finding) container() string {
	return either(f.Yes("init"), "init ", "") + "container " + f.text("container")
}

// reason is the reason in the words of Kubernetes, in brackets.
func (f *finding) reason() string { return inBrackets(f.text("reason")) }

// restarted is how often the container was, in brackets; empty for never.
func (f *finding) restarted() string {
	n := f.count("restarts")
	return either(n > 0, " ("+Plural(n, "restart")+f.nodes("", " per pod")+")", "")
}

func (f *finding) crash() string {
	code := f.text("exitCode")
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
	limit := " its memory limit" + phrase(" of ", f.text("memoryLimit")) +
		either(f.Yes("limitRange"), ", the default of a LimitRange", "")
	how := either(f.Yes("ready"), " runs again after it exceeded", " exceeds") + limit
	if f.is("limited", "false") {
		how = either(f.Yes("ready"), " runs again after it ran", " ran") +
			" out of memory; the template sets no memory limit"
	}
	return f.container() + how + f.restarted()
}

func (f *finding) noImage() string { return phrase(f.container()+" cannot pull ", f.text("image")) }

func (f *finding) notStarted() string {
	return cmp.Or(f.missing(), f.container()+" cannot be started"+f.reason())
}

func (f *finding) pulling() string {
	return "the kubelet is pulling " + f.text("image") + " for container " + f.text("container") +
		", and has reported no failure"
}

func (f *finding) creating() string { return f.container() + " has not started" + f.reason() }

func (f *finding) initRuns() string {
	return f.container() + " has not ended, and the pod waits for it"
}

func (f *finding) probe() string {
	container, probe := f.container(), f.text("probe")
	if f.Yes("sidecar") && probe != "liveness" {
		container = "sidecar " + f.text("container")
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
	switch f.text("status") {
	case "Unknown":
		return f.nodes("the kubelet does", "the kubelets do") + " not answer"
	case "False":
		return f.nodes("the kubelet reports that the node is", "the kubelets report that the nodes are") + " not ready"
	}
	return "some of these kubelets do not answer, the others report that their node is not ready"
}

func (f *finding) onDeadNode() string {
	deleted := phrase(", deleted ", f.age("deletionAsked"), " ago,")
	pods := f.nodes("the pod", "the pods") + deleted
	switch stay := either(f.Yes("now"), f.nodes(" is still", " are still"), f.nodes(" stays", " stay")) +
		" Terminating"; {
	case f.Yes("outOfService"):
		return f.nodes("the node is", "the nodes are") + " declared out of service, so " + pods +
			f.nodes(" is", " are") + " force-deleted within about 20s"
	case f.is("status", "Unknown"):
		return f.nodes("the kubelet has", "the kubelets have") + " stopped posting node status, so " + pods + stay
	case f.is("status", "False"):
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
	return "the API server rejected " + Plural(f.count("events"), "request") + " to create " +
		either(n > 0, Plural(n, "pod"), "pods") + phrase(", most recently ", f.age("last"), " ago")
}

func (f *finding) unscheduled() string {
	missing := f.missing()
	switch {
	case missing != "":
		return missing
	case f.text("added") != "":
		return "the pod has the nodeSelector " + f.text("added") + ", which " +
			f.nodes("the node does", "the nodes do") + " not match"
	case f.text("claim") == "" && f.text("message") == "":
		return "no scheduler has reported on the pod: check kube-scheduler and the template's schedulerName"
	}
	return noVolume(f.known, len(f.p.Nodes))
}

func (f *finding) unfit() string { return doesNotFit(f.known, len(f.p.Nodes)) }

func (f *finding) insufficient() string {
	if f.text("requested") == "" {
		return ""
	}
	return f.unfit()
}

func (f *finding) portTaken() string {
	user, ports := portUser(f.known), f.text("ports")
	switch {
	case ports == "":
		return "another pod on the node uses a host port of this one"
	case f.is("plugin", "NodePorts") && user != "":
		return portsUsed(f.known, user)
	}
	one := pluralOf(f.count("ports"), "the host port ", "one of the host ports ")
	return "another pod on the node uses " + one + ports + " that this pod needs"
}

func (f *finding) virtual() string {
	return "the node has the label " + f.text("key") + "=" + f.text("want") +
		": no machine behind it runs pods of DaemonSets, though the controller makes it eligible"
}

func (f *finding) otherSystem() string {
	runs := ", and " + f.nodes("the node runs ", "the nodes run ")
	return phrase("the template is for ", f.text("want"), runs, f.text("platform"), ": the kubelet rejects every pod")
}

func (f *finding) excluded() string {
	selects := "the controller selects " + f.text("selector") + " by default"
	if annotation := f.text("annotation"); annotation != "" {
		selects = "the namespace selects " + f.text("selector") + " (" + annotation + ")"
	}
	return selects + ", which keeps the pod off " + f.nodes("the node", "the nodes") +
		", and a rolling update counts " + f.nodes("it", "them") + " as without an available pod"
}

func (f *finding) evicted() string {
	if f.text("failures") == "" {
		return ""
	}
	return Plural(f.count("failures"), "pod") + " failed" + f.reason() +
		"; the controller creates the next one within 15m"
}

// finalized says which finalizers keep the object; empty where none does.
func (f *finding) finalized() string {
	waits := "its deletion waits for " + pluralOf(f.count("finalizers"), "finalizer ", "finalizers ")
	return phrase(waits, f.text("finalizers"))
}

func (f *finding) terminating() string {
	return cmp.Or(f.finalized(), either(f.Yes("overdue"), "it has outlived its grace period", ""))
}

func (f *finding) gates() string { return phrase("readiness gates not met: ", f.text("conditions")) }

func (f *finding) notYetAvailable() string {
	return "Ready for less than " + f.age("minReadySeconds") + " (minReadySeconds)" +
		phrase("; available in ", f.age("availableAt"), ", at ", f.clock("availableAt")) +
		phrase("; Ready ", f.age("clockSkew"), " in the future: the node's clock is ahead")
}

func (f *finding) noPod() string {
	switch last := f.age("last"); {
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
	most := phrase(", for at most ", f.age("endsBy"))
	if pods := f.text("awaited"); pods != "" {
		return pods + " is terminating" + most + ": then the pod fits, and the scheduler places it"
	}
	return "other pods there are terminating" + most + ": then " +
		f.nodes("the pod fits, and the scheduler places it", "the pods fit, and the scheduler places them")
}

func (f *finding) starting() string {
	const now = ", for which the kubelet waited, exists now; the kubelet tries again within about two minutes"
	return phrase(f.text("found"), now)
}

func (f *finding) misscheduled() string {
	rule := placement(daemonset.Reason(f.text("because")), f.Facts)
	notEligible := phrase("the node is not eligible (", rule, "), but has a pod")
	untolerated, gone := phrase(rule, " is not tolerated"), "the taint is removed"
	if taints := f.text("taints"); taints != "" {
		untolerated, gone = "the taints "+taints+" are not tolerated", "the taints are removed"
	}
	rollout := "the rollout"
	switch by := f.text("strandedBy"); {
	case by == "" && f.Yes("stays") && f.text("terminating") == "":
		return phrase(notEligible, "; the pod stays until the next rollout deletes it, and is not recreated")
	case by == "":
		return notEligible
	case by == "Deletion":
		return phrase(notEligible, "; if you delete the "+f.nodes("pod", "pods")+", the controller creates none")
	case by == "Next":
		rollout = "the next rollout"
	}
	return phrase(untolerated, "; "+rollout+" removes the "+f.nodes("pod", "pods")+", and creates none until "+gone)
}

// held says why the controller writes no status; empty where nothing keeps it from that.
func (f *finding) held() string { return behind("; ", heldUp[daemonset.Reason(f.text("heldUpBy"))]) }

func (f *finding) notObserved() string {
	return "generation " + f.text("generation") + " not observed yet; the status is for generation " +
		f.text("observed") + f.held()
}

func (f *finding) stale() string {
	return "the controller has not corrected the numbers that it reported" + f.held()
}

func (f *finding) invalidBudget() string {
	return "each rollout step fails: " + f.text("field") + " cannot be resolved; set it to a number or a percentage"
}

func (f *finding) noneEligible() string {
	since := ""
	switch f.text("changed") {
	case eligible.ChangedOther:
		since = "; no retained revision explains this: the nodes have changed, or none was ever eligible"
	case eligible.ChangedUnknown:
		since = "; unknown since when: the revisions could not be read"
	}
	none := "none of the " + Plural(f.count("nodes"), "node") + " is eligible"
	return either(f.count("nodes") == 1, "the only node is not eligible", none) + since + noneThen(f.known)
}

// selects names the fields by which the template picks nodes.
func selects(f known) string { return screen.Clean(strings.Join(f.List("selects"), " and ")) }

// noneThen is what becomes of the pods where no node is eligible.
func noneThen(f known) string {
	losing, staying := f.count("losing"), f.count("staying")
	lose := ", " + pluralVerb(losing, "pod is deleted", "pods are deleted") + " and not recreated"
	stay := ", " + pluralVerb(staying, "pod stays", "pods stay") + " until the next rollout deletes " +
		pluralOf(staying, "it", "them")
	return either(losing > 0, lose, "") + either(staying > 0, stay, "")
}

func (f *finding) stalls() string {
	replaced, of := f.text("replaced"), f.plural("replaces", "pod", "pods")
	would := "start another rollout before " + f.sheet.toSolve + " solved: it would "
	if !f.is("reason", string(daemonset.StepBudgetSpent)) {
		return would + "stop after " + replaced + " of " + of + ": " + stallReason(daemonset.Reason(f.text("reason")))
	}
	since := ", since " + f.text("field") + " is " + f.text("limit") + " and " +
		f.plural("holders", "node stays", "nodes stay") + " without an available pod"
	switch {
	case f.Yes("working") || f.Yes("atWorst"):
		return would + "stop" + either(f.Yes("atWorst"), ", at worst", "") + " after " + replaced + " of " + of + since
	case replaced == "0":
		return would + "replace no pod" + since
	}
	only := ""
	if f.count("replaced") == len(f.p.Nodes) {
		only = inBrackets(someNames(f.p.Nodes))
	}
	return would + "delete only the " + f.plural("replaced", "pod that is", "pods that are") + " not available" +
		only + ", and then stop" + since
}

func (f *finding) tainted() string {
	n, others := len(f.p.Nodes), f.count("others")
	more := either(others > 0, " and "+Plural(others, "more taint"), "")
	matches := pluralVerb(n, "node matches", "nodes match") + " the " + selects(f.known) + " of the template"
	return matches + f.nodes(" and runs", " and run") + " no pod: the template does not tolerate " +
		f.nodes("the", "their") + " taint " + f.text("taint") + more + inBrackets(someNames(f.p.Nodes))
}

func (f *finding) surgePort() string {
	return "the template uses host port " + f.text("ports") +
		", so no second pod fits beside the first: maxSurge cannot work; use maxUnavailable"
}

func (f *finding) budgetIgnored() string {
	limit := phrase("minAvailable ", f.text("minAvailable")) + phrase("maxUnavailable ", f.text("maxUnavailable"))
	return "PodDisruptionBudget " + f.text("name") + inBrackets(limit) +
		" selects these pods; the controller's deletions ignore it"
}

func (f *finding) foreign() string {
	return phrase("matches the selector, but belongs to ", f.text("owner"))
}

func (f *finding) duplicates() string {
	relabels := ""
	if n := f.count("relabelled"); n > 0 {
		relabels = " and relabels " + Plural(n, "pod") + ", which then " +
			pluralOf(n, "counts as updated even if it runs", "count as updated even if they run") + " an old template"
	}
	return Plural(f.count("revisions"), "revision") + " hold the live template: the next sync keeps one as revision " +
		f.text("number") + relabels
}

func (f *finding) deleting() string {
	if f.is("finalizers", "foregroundDeletion") && f.count("pods") > 0 {
		return "its deletion waits until its " + f.plural("pods", "pod has", "pods have") + " ended"
	}
	return f.finalized()
}

func (f *finding) startsRollout() string {
	return "the change of the strategy alone starts a rollout: " +
		f.plural("pods", "pod is on an older revision", "pods are on older revisions")
}

func (f *finding) outsideBudget() string {
	return "the next step deletes " + f.plural("count", "pod", "pods") + " although the limit is " + f.text("limit") +
		": the controller always deletes pods that are not available"
}

func (f *finding) evictsOld() string {
	all := "all " + f.text("count") + " pods that run now do not tolerate "
	some := f.plural("count", "pod that runs now does not tolerate ", "pods that run now do not tolerate ")
	return either(f.Yes("all"), all, some) + f.text("taint") +
		", and would be evicted: add the taint after the rollout is complete"
}

func (f *finding) newFailing() string {
	return f.text("newFailing") + " of the " + f.plural("newPods", "pod", "pods") + " of the current revision " +
		pluralOf(f.count("newFailing"), "fails", "fail") + "; the plan assumes that the next ones work"
}

func (f *finding) restarting() string {
	return f.plural("count", "pod that is available now keeps", "pods that are available now keep") +
		" restarting, and the new " +
		pluralOf(f.count("count"), "pod runs", "pods run") + " the same program"
}

func (f *finding) managed() string {
	return f.text("who") + " writes the DaemonSet (" + f.text("evidence") + "): " + f.text("undone")
}

func (f *finding) serverWarning() string { return "the API server warns: " + f.text("message") }

func (f *finding) duplicateKey() string {
	key := cmp.Or(phrase("the key ", f.text("key")), "a key")
	return f.text("file") + ": document " + f.text("document") + ", line " + f.text("line") + ": " + key +
		" appears twice in one object; the later value counts, as for kubectl apply"
}

func (f *finding) invalidImage() string {
	return "container " + f.text("container") + `: a kubelet does not start "` + f.text("image") + `": ` +
		f.text("fault")
}

func (f *finding) lostRepository() string {
	return "container " + f.text("container") + `: the image "` + f.text("image") + `" lacks the repository of "` +
		f.text("imageBefore") + `": is "` + f.text("imageMeant") + `" meant?`
}

// places names the nodes that a warning is about.
func (f *finding) places() string { return namesIn(f.Facts, "onNodes") }

func (f *finding) mixedSystems() string {
	return "the template does not say for which operating system it is, and the eligible nodes have several " +
		"(" + f.text("platforms") + "): its images must be built for all of them, " +
		"or a nodeSelector kubernetes.io/os must keep the pod off " + f.places()
}

func (f *finding) otherSystems() string {
	return f.otherBuild("runs ", "run ") + ", or a nodeSelector kubernetes.io/os must keep the pod off " +
		pluralOf(f.count("onNodes"), "it", "them")
}

func (f *finding) otherArchitecture() string { return f.otherBuild("is ", "are ") }

// otherBuild says that nodes are of a platform on which no pod is available.
func (f *finding) otherBuild(one, many string) string {
	platform := f.text("platform")
	return f.places() + " " + pluralOf(f.count("onNodes"), one, many) + platform +
		", and the pods that are available run on " + f.text("platforms") +
		" only: the images must be built for " + platform
}

func (f *finding) missingReference() string { return f.missing() + ", so no new pod starts" }

func (f *finding) missingPullSecret() string {
	return f.missing() + ": the kubelet starts the pod without it, and may not be able to pull the image"
}

func (f *finding) neverUpdated() string {
	return "revision " + f.text("revision") +
		" has an empty hash: the controller treats its own new pods as outdated and loops forever"
}

// missing says which object, or which key of one, does not exist, and what refers to it; empty
// where that is not known.
func (f *finding) missing() string {
	if f.text("kind") == "" {
		return ""
	}
	lacks := noSuch(f.known, f.sheet.h.DaemonSet.Namespace)
	switch field, volume := f.text("field"), f.text("volume"); {
	case field == "imagePullSecrets":
		return lacks + ", which the template names in imagePullSecrets"
	case field == "":
		return lacks
	case volume != "":
		return lacks + "; volume " + volume + " refers to it"
	default:
		return lacks + "; " + f.container() + " refers to it in " + field + inBrackets(f.text("variable"))
	}
}

// noSuch says which object, or which key of one, does not exist.
func noSuch(f known, namespace string) string {
	object := f.text("kind") + " " + screen.Clean(namespace) + "/" + f.text("name")
	if key := f.text("key"); key != "" {
		return object + " has no key " + key
	}
	return object + " does not exist"
}

// doesNotFit says why a pod does not fit on n nodes: a resource with its arithmetic, or another reason.
func doesNotFit(f known, n int) string {
	resource, requested, allocatable := resourceWord(f.Facts["resources"]), f.text("requested"), f.text("allocatable")
	requests := "the pod requests " + requested + " " + resource
	switch plugin := f.text("plugin"); {
	case requested == "1" && resource == "pods":
		return pluralOf(n, "the node runs as many pods as it may", "the nodes run as many pods as they may") +
			behind(": ", allocatable) + nobodyLower(f)
	case f.Yes("beyond") && allocatable == "":
		return requests + ", more than " + pluralOf(n, "the node has", "any of these nodes has") + " allocatable"
	case f.Yes("beyond"):
		return requests + "; " + pluralOf(n, "the node has ", "each node has ") + allocatable + " allocatable"
	case plugin == "NodeResourcesFit":
		return requests + phrase("; ", f.text("free"), " of ", allocatable, pluralOf(n, " is free", " are free")) +
			nobodyLower(f)
	case plugin == "NodePorts":
		return portsUsed(f, cmp.Or(portUser(f), "another pod"))
	case f.text("claim") != "":
		return noVolume(f, n)
	default:
		return "the scheduler rejects it (" + plugin + ")"
	}
}

// portsUsed says who uses host ports.
func portsUsed(f known, user string) string {
	n := f.count("ports")
	return "host " + pluralOf(n, "port ", "ports ") + f.text("ports") + pluralOf(n, " is", " are") + " used by " + user
}

// portUser is the pod that uses a host port, or whose pods do; empty where that is not known.
func portUser(f known) string {
	return cmp.Or(phrase("pod ", f.text("owner")), phrase("the pods of ", f.text("holder")))
}

// noVolume says which volume of a pod n nodes cannot have; empty where that is not known.
func noVolume(f known, n int) string {
	volume := "volume " + f.text("claim") + ": "
	if f.is("plugin", "NodeVolumeLimits") {
		attached := ""
		if f.count("attached") > 0 {
			attached = "; " + f.text("attached") + " of " + f.text("limit") + " are attached"
		}
		return volume + "the CSI driver " + f.text("driver") + " cannot attach another volume to " +
			pluralOf(n, "the node", "these nodes") + attached
	}
	only := phrase("can be attached only on nodes with ", f.text("reachable"))
	return phrase(volume, "PersistentVolume ", f.text("persistentVolume"), " ", only)
}

// nobodyLower says why no pod makes room for another; empty where one does.
func nobodyLower(f known) string {
	switch fit.Outcome(f.text("preemption")) {
	case fit.NothingLower:
		return "; " + pluralOf(f.count("others"), "the other pod there has", "the other pods there have") +
			" the same or a higher priority, so nothing can be preempted"
	case fit.StillDoesNotFit:
		return "; not even without the pods of lower priority"
	case fit.Never:
		return "; its preemptionPolicy is Never"
	}
	return ""
}

// heldUp has what prevents the controller from writing a status.
var heldUp = map[daemonset.Reason]string{
	cause.FailedCreate:            "this version of the controller writes none while the API server rejects its pods",
	daemonset.InvalidBudget:       "this version of the controller writes none while its step fails",
	daemonset.VanishedNodeInSurge: "this version of the controller writes none while its step fails",
	daemonset.StepBeingDeleted:    "the controller writes none while the DaemonSet is being deleted",
	daemonset.StepSelectsAll:      "the controller writes none for an empty selector",
}
