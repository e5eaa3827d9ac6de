package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

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

// Origin returns the cause of a problem. It returns "" if the cause is unknown or the problem resolves itself.
func (a *Answer) Origin(p *explain.Problem) string {
	o := p.Blame
	switch stranded := p.Code == cause.Misscheduled && wording.Fact(p.Facts, "strandedBy") != ""; {
	case o == nil && stranded && a.E.Has(cause.NoEligibleNode) == nil:
		return Tainted(p.Facts, p.Nodes)
	case o == nil:
		return ""
	case o.Who == cause.WhoNodeProperty && p.Common != nil:
		return a.inCommon(p)
	}
	if r := a.refusal(p); r != nil && r.Reason != admission.QuotaExceeded {
		words, _ := a.Rejection(r, a.Works())
		return words
	}
	b := &blamed{wording.Known{Facts: p.Facts, Now: a.Now}, a, p, a.E.Tally()}
	words := ""
	if say := origins[o.Who]; say != nil {
		words = say(b)
	}
	words = wording.Joined("; ", append([]string{words}, b.besides()...)...)
	if p.Facts.Yes("cordoned") {
		words = wording.Joined(", ", words, cmp.Or(wording.Phrase("cordoned ", b.Age("cordonedSince"), " ago"),
			"cordoned"))
	}
	if p.Common != nil {
		words = wording.Joined("; ", words, sharedBy(p.Common, a.Now))
	}
	return words
}

// origins has the function that describes a cause, for each party that can be at fault.
var origins = map[cause.Who]func(*blamed) string{
	cause.WhoChange:        (*blamed).change,
	cause.WhoNodeProperty:  (*blamed).nodeProperty,
	cause.WhoTemplate:      (*blamed).template,
	cause.WhoMissingObject: (*blamed).missingObject,
	cause.WhoRegistry:      (*blamed).registry,
	cause.WhoInjection:     (*blamed).injection,
	cause.WhoPlatform:      (*blamed).platform,
	cause.WhoPolicy:        (*blamed).policy,
	cause.WhoUnknown:       (*blamed).unknown,
	cause.WhoNode:          (*blamed).node,
	cause.WhoOtherWorkload: (*blamed).otherWorkload,
	cause.WhoController:    (*blamed).controller,
	cause.WhoStrategy:      (*blamed).strategy,
}

// blamed is a problem whose cause is known, with the context of its sentence.
type blamed struct {
	wording.Known
	a *Answer
	p *explain.Problem
	t cause.Tally
}

// nodes returns the nodes of the problem. If no node is eligible, it returns those that come closest to being eligible.
func (b *blamed) nodes() []string {
	if b.p.Code == cause.NoEligibleNode {
		return b.List("nearest")
	}
	return b.p.Nodes
}

// some names the nodes: up to four, or three and the number of the others.
func (b *blamed) some() string { return wording.SomeNames(b.nodes()) }

// on returns one if the problem has one node, and many otherwise.
func (b *blamed) on(one, many string) string { return wording.PluralOf(len(b.nodes()), one, many) }

// current returns the name of the current revision.
func (b *blamed) current() string { return "revision " + strconv.FormatInt(b.a.Current(), 10) }

// elsewhere returns the number of other nodes on which the current revision works.
func (b *blamed) elsewhere() string { return wording.Plural(b.a.Works(), "other node") }

// certain reports whether the input proves who is at fault.
func (b *blamed) certain() bool { return b.p.Blame.Certainty == cause.Certain }

// namespace names the namespace of the DaemonSet.
func (b *blamed) namespace() string {
	return "namespace " + screen.Clean(b.a.Header.DaemonSet.Namespace)
}

// taints returns the taints that the template does not tolerate, with their noun.
func (b *blamed) taints() string {
	return wording.Phrase(wording.PluralOf(b.Count("taints"), "taint ", "taints "), b.Text("taints"))
}

// platformOf returns the platform of the nodes, for a sentence about an image without a build for it.
func (b *blamed) platformOf() string { return b.Text("platform") + ", the platform of " + b.some() }

func (b *blamed) change() string {
	o := b.p.Blame
	this := "this change, revision " + strconv.FormatInt(o.Revision, 10)
	if o.Revision == 0 {
		this = "this change, the live template"
	}
	touched := wording.Phrase(", which changed the ", difftext.TouchedWords(o.Touched))
	switch {
	case b.p.Code == cause.NoEligibleNode:
		return "likely " + this + ", which changed " + b.Text("fields") + ": with revision " + b.Text("before") + ", " +
			wording.Plural(b.Count("eligible"), "node") + " would be eligible"
	case b.p.Code == cause.PodOSNotSupported:
		return this + ": its template is for " + b.Text("want") + " only"
	case b.certain() && b.p.NotBuilt() && b.Text("image") != "":
		return this + ": its image " + b.Text("image") + " has no build for " + b.platformOf()
	case b.certain() && touched == "" && o.Revision > 0:
		return this
	case b.certain():
		return this + touched + wording.Phrase(": ", b.a.missingObject(b.p), " does not exist")
	case b.allNew() && o.Revision > 0:
		return "likely " + this + ": " + b.allNewFail()
	}
	return "likely " + this + touched
}

// allNew reports whether all pods of the current revision fail, and no other pods.
func (b *blamed) allNew() bool {
	return b.t.NewFailing > 0 && b.t.NewFailing == b.t.NewPods && b.t.OldPods > 0 && b.t.OldFailing == 0
}

// allNewFail compares the pods of the current revision, which all fail, with the other pods.
func (b *blamed) allNewFail() string {
	do := wording.Predicate{Noun: "pod", One: "fails", Many: "fail"}
	if b.t.NewFailing == b.p.Count {
		do = wording.Predicates[b.p.Code].ByProbe(b.Facts)
	}
	old := strconv.Itoa(b.t.OldPods)
	return wording.PluralOf(b.t.NewPods, "its only pod "+do.One, AllOf(b.t.NewPods)+"of its pods "+do.Many) + ", " +
		wording.PluralOf(b.t.OldPods, "not the one", "none of the "+old) + " on " + b.a.olderOnes()
}

func (b *blamed) nodeProperty() string {
	virtual := b.on("the node is", "the nodes are") + " virtual (" + b.Text("key") + "=" + b.Text("want") + ")"
	return wording.Either(b.p.Code == cause.VirtualNode, virtual+", and the template does not exclude "+b.on("it",
		"them"), "")
}

func (b *blamed) template() string {
	nearest, picks := len(b.nodes()), sheet.Selects(b.Known)
	older := b.older()
	switch code, excludedBy := b.p.Code, b.Text("excludedBy"); {
	case b.p.NotBuilt() && b.certain() && b.Text("image") != "":
		return "the template: image " + b.Text("image") + " has no build for " + b.platformOf()
	case b.p.NotBuilt():
		return "likely the template: the message says that a program is not built for " + b.platformOf()
	case excludedBy == eligible.ExcludedByNodeName:
		return "likely the template: its nodeName picks another node"
	case excludedBy == eligible.ExcludedByTaint && picks != "":
		return "likely the template: " + wording.PluralVerb(nearest, "node matches", "nodes match") + " its " + picks +
			", but it does not tolerate " + b.on("its ", "their ") + b.taints()
	case code == cause.PodOSNotSupported:
		return "the template, which is for " + b.Text("want") + " only"
	case older != "":
		return "likely " + older + ", which " + b.on("this pod is", "these pods are") + " still on: " +
			fmt.Sprintf("all %d of its pods fail, and none of the %d on ", b.t.OldFailing, b.newPods()) + b.current()
	case b.Yes("beyond"):
		return "the template: the pod requests more " + wording.ResourceWord(b.Facts["resources"]) +
			" than " + b.some() +
			b.on(" has", " have") + " allocatable"
	case b.Yes("oneNode"):
		return "the template: it mounts claim " + b.Text("claim") +
			", whose access mode is ReadWriteOnce, so only pods of one node can use it"
	case b.Yes("noHostPath"):
		return "likely the template: it mounts " + b.noHostPath()
	case code == cause.ImagePullBackOff && b.Is("reason", "ErrImageNeverPull"):
		return "likely the template: its imagePullPolicy is Never, and the " + b.on("node does", "nodes do") +
			" not have the image"
	case code == cause.ImagePullBackOff:
		return cmp.Or(wording.Phrase("likely the template: the registry has no image ", b.Text("image")),
			"likely the template")
	case code == cause.FailedMount:
		return "likely the template: it mounts a volume that cannot be on several nodes at a time"
	case b.p.Subject.Kind == cause.SubjectVolume:
		return "the template: the pod writes more to volume " + b.object() + " than its sizeLimit allows"
	case b.p.Subject.Kind == cause.SubjectContainer:
		return "the template: the pod writes more to its disk than it may"
	}
	return "the template"
}

// older names the revision that a failing pod still runs, or returns "" if that is the current one.
func (b *blamed) older() string {
	if !cause.OfContainer(b.p.Code) || len(b.p.Nodes) == 0 {
		return ""
	}
	name := ""
	for i := range b.a.E.Revisions {
		if r := &b.a.E.Revisions[i]; !r.Current && slices.Contains(r.Nodes, b.p.Nodes[0]) {
			name = wording.RevisionName(r)
		}
	}
	return name
}

// newPods returns the number of pods of the current revision. If the tally is empty because all nodes are down, it
// returns the number of pods with this problem.
func (b *blamed) newPods() int {
	if b.t.NewPods+b.t.OldPods == 0 {
		return b.p.Count
	}
	return b.t.NewPods
}

// object returns the name of the object that the pods fail on.
func (b *blamed) object() string { return screen.Clean(b.p.Subject.Name) }

// noHostPath describes the host path that the template mounts and the nodes lack.
func (b *blamed) noHostPath() string {
	path, system := b.Text("hostPath"), wording.Phrase(": the operating system is ", b.Text("osImage"))
	switch as := b.Text("hostPathType"); {
	case path == "":
		return "a hostPath that the " + b.on("node does", "nodes do") + " not have"
	case as == "":
		return path + ", which the container runtime cannot make or use on " + b.on("the node", "the nodes") + system
	default:
		return path + " as " + as + ", and the " + b.on("node has", "nodes have") + " no such thing there" + system
	}
}

func (b *blamed) missingObject() string {
	if b.Text("kind") == "" {
		named := wording.Phrase(b.a.missingObject(b.p), " does not exist")
		return cmp.Or(named, "the object that the message names, which does not exist")
	}
	since := ""
	if n := b.a.Works(); n > 0 && b.p.Blame.Certainty == cause.Likely {
		since = "; perhaps deleted since " + wording.Plural(n, "other pod") + " of this revision started"
	}
	return wording.Joined("; ", sheet.NoSuch(b.Known, b.a.Header.DaemonSet.Namespace)+since, probablyDeleted(b.p))
}

func (b *blamed) registry() string {
	switch notIt := "not " + b.current() + ", which did not change the image"; {
	case b.a.Works() == 0:
		return "likely the registry, or the network path to it" + wording.Either(b.p.Blame.NotChange, ": "+notIt, "")
	case b.a.Terse:
		return "the registry, or the network path to it: " + b.elsewhere() + " could pull it"
	}
	return "the registry, or the network path from " + b.on("this node", "these nodes") + " to it: " + b.elsewhere() +
		" could pull the image"
}

func (b *blamed) injection() string {
	annotation := b.Text("annotation")
	added := "the nodeSelector " + b.Text("added") + ", which the template does not have, was added at admission"
	container := "container " + b.Text("container") + " is not in the template: "
	injector := injectors[b.Text("addedBy")]
	switch {
	case b.Text("templateImage") != "":
		return "the image was rewritten at admission" +
			wording.Phrase(", likely by whoever sets the label ", b.Text("addedLabel")) +
			": the template names " + b.Text("templateImage")
	case b.Text("added") != "" && annotation != "" && b.Text("selector") != "":
		return added + ": " + b.namespace() + " asks for it (" + annotation + ": " + b.Text("selector") + ")"
	case b.Text("added") != "" && annotation != "" && b.Is("again", "false"):
		return added + ": " + b.namespace() + " no longer asks for it (" + annotation + "), but the " +
			b.on("pod keeps", "pods keep") + " it"
	case b.Text("added") != "":
		return added + wording.Phrase(", likely by the default of OpenShift: "+b.namespace()+" has no annotation ",
			annotation)
	case injector != "":
		return container + "likely " + injector + " adds it, as annotation " + b.Text("addedBy") + " of the pod says"
	}
	return container + "ask whoever adds it to pods, such as a service mesh"
}

// injectors has the tools that add containers to pods, by the annotation that they add.
var injectors = map[string]string{
	"sidecar.istio.io/status":                    "Istio",
	"linkerd.io/proxy-version":                   "Linkerd",
	"vault.hashicorp.com/agent-inject-status":    "the Vault Agent Injector",
	"consul.hashicorp.com/connect-inject-status": "Consul",
	"dapr.io/enabled":                            "Dapr",
}

func (b *blamed) platform() string {
	notCalled := "admission webhook " + b.object() + " cannot be called"
	switch {
	case b.p.Subject.Kind != cause.SubjectWebhook:
		return "likely the network of " + b.on("the node", "these nodes") +
			" or of the cluster, not the DaemonSet: see the message"
	case b.Yes("noNetwork"):
		return notCalled + ", and the nodes are NotReady because they have no network (CNI): a deadlock, " +
			"if the webhook runs as pods that need that network"
	}
	return notCalled + ": it rejects nothing itself, but the API server creates no pod without its answer"
}

func (b *blamed) policy() string {
	name := b.object()
	if b.p.Subject.Kind == cause.SubjectQuota {
		return b.quota()
	}
	account := "none that ServiceAccount " + name + " may use allows the pod"
	switch kind := b.p.Subject.Kind; {
	case name == "":
		return "the API server: see its message"
	case kind == cause.SubjectPolicy:
		return "Pod Security in " + b.namespace() + ": the pod violates " + name
	case kind == cause.SubjectSCC:
		return "the SecurityContextConstraints: " + account + wording.Phrase(", which needs ", b.Text("needs"))
	case kind == cause.SubjectPodSecurityPolicy:
		return "the PodSecurityPolicies: " + account + ", as the message says"
	case kind == cause.SubjectWebhook && !b.Yes("uncalled"):
		return "admission webhook " + name + ": its policy says no"
	}
	return "the API server: see its message"
}

// quota names the exhausted ResourceQuota, or says that no quota admits the pods.
func (b *blamed) quota() string {
	n := len(b.nodes())
	room := wording.PluralOf(n, "1 more pod", strconv.Itoa(n)+" more pods")
	if n == 0 {
		room = "its pods"
	}
	if b.object() == "" {
		return "the quotas in " + b.namespace() +
			": pods of this PriorityClass need a ResourceQuota whose scope selects it, and there is none"
	}
	return `the quota, not the DaemonSet: ResourceQuota "` + b.object() + `" in ` + b.namespace() +
		" has no room for " + room
}

func (b *blamed) unknown() string {
	switch finalizers := b.Count("finalizers"); {
	case b.Text("excludedBy") != "":
		return b.noneEligible()
	case b.Is("lease", "Alive"):
		return "unclear: kube-controller-manager runs (it renewed its Lease " + b.Age("renewed") +
			" ago); any change to the DaemonSet, such as an annotation, makes it look again"
	case b.p.Code == cause.Terminating && finalizers > 0:
		return "whoever set the " + wording.PluralOf(finalizers, "finalizer ", "finalizers ") + b.Text("finalizers") +
			" must remove " + wording.PluralOf(finalizers, "it", "them")
	}
	return b.compared()
}

// compared describes which pods fail if it is unclear who is at fault.
func (b *blamed) compared() string {
	oldFailing, newPods := strconv.Itoa(b.t.OldFailing), b.newPods()
	switch b.a.E.Evidence(b.p) {
	case explain.OldOnly:
		return "unclear: " + oldFailing + " of " + wording.Plural(b.t.OldPods, "pod") + " on the revision before fail"
	case explain.Both:
		return "unclear: " + strconv.Itoa(b.t.NewFailing) + " of " + wording.Plural(newPods, "pod") + " on " +
			b.current() +
			" fail, and " + oldFailing + " of " + strconv.Itoa(b.t.OldPods) + " on other revisions"
	case explain.All:
		since := ""
		if may := b.a.mayRollBack(); may != nil {
			since = b.current() + " replaced revision " + screen.Clean(may.Value)
		}
		fail := wording.PluralOf(newPods, "the only pod fails", "all "+strconv.Itoa(newPods)+" pods fail")
		if b.a.Header.Lacks(snapshot.Nodes) { // without nodes, it is unknown which pods count
			return "unclear: " + wording.PluralOf(newPods, "the only pod",
				"all "+strconv.Itoa(newPods)+" pods") + " of " +
				b.current() +
				wording.PluralOf(newPods, " fails", " fail") +
				"; other revisions are not compared, because the nodes could not be read"
		}
		return "unclear: " + fail + ", and no other revision runs to compare with" +
			wording.Phrase("; ", wording.PluralOf(newPods, "it has not", "none has"), " worked since ", since)
	case explain.Some:
		return b.someFail()
	}
	return ""
}

// noneEligible describes the nodes that come closest to being eligible, if it is unclear who is at fault.
func (b *blamed) noneEligible() string {
	labels, n := b.Text("labels"), b.Count("labels")
	const unclear = "unclear, the nodes or the template: no node "
	switch by := b.Text("excludedBy"); {
	case by == eligible.ExcludedByTaint:
		return "the template does not tolerate the " + b.taints() + " of " + b.some() + ": unknown whether it should"
	case by == eligible.ExcludedByLabels && n == 1:
		return unclear + "has the label " + labels + ", which the nodeSelector requires"
	case by == eligible.ExcludedByLabels && n > 1:
		return unclear + "has one of the labels " + labels + ", and the nodeSelector requires all of them"
	case by == eligible.ExcludedByLabels:
		return unclear + "has all labels of the nodeSelector"
	case by == eligible.ExcludedByAffinity && n == 1:
		return unclear + "has the label " + labels + ", which the affinity requires"
	case by == eligible.ExcludedByAffinity && n > 1:
		return unclear + "has any of the labels " + labels + ", and the affinity requires one of them"
	case by == eligible.ExcludedByAffinity:
		return unclear + "meets the affinity"
	case by == eligible.ExcludedByNamespace:
		return "unclear: the node selector of the namespace excludes the nodes that the template would have"
	}
	return ""
}

// someFail describes a revision that fails on some nodes and works on others.
func (b *blamed) someFail() string {
	works, some, joinedAt := b.a.Works(), b.some(), b.Age("joined")
	here := "unclear: " + b.current() + " works on " + b.elsewhere()
	before := " that joined before, and " + some + " joined " + joinedAt +
		" ago: look for what is new there first, such as "
	logs := ""
	platforms := wording.Phrase(" (", b.Text("platforms"), ") and fails on "+some+" (", b.Text("platform"), ")")
	if !b.a.Terse {
		exec := wording.Either(platforms != "", `"exec format error" or `, "")
		logs = "; check the logs: " + exec + "an application or configuration error points to " + b.current() +
			"; a host, disk or network error points to the " + b.on("node", "nodes")
	}
	switch code := b.p.Code; {
	case works == 0:
		return "unclear"
	case code == cause.ImagePullBackOff:
		return b.registry()
	case code == cause.OOMKilled:
		return "the program needs more" + wording.Phrase(" than its memory limit of ", b.Text("memoryLimit")) + " on " +
			b.on("this node", "these nodes") + ", or leaks memory: " + b.current() + " works on " + b.elsewhere()
	case code == cause.ContainerConfig:
		return here + "; the message says what the kubelet lacks"
	case joinedAt != "" && works == 1:
		return "unclear: " + b.current() + " works on the node" + before + "its image or its labels"
	case joinedAt != "":
		return "unclear: " + b.current() + " works on the " + wording.Plural(works, "node") + before +
			b.on("its", "their") +
			" image or labels"
	}
	return here + platforms + logs
}

func (b *blamed) node() string {
	some := b.some()
	switch code := b.p.Code; {
	case b.Text("nodeReports") != "":
		return "likely " + some + ": " + b.on("it reports ", "they report ") + b.Text("nodeReports") +
			", and no node where the pod works does"
	case b.Is("excludedBy", eligible.ExcludedForGood):
		removed := b.on("node is being removed, or runs", "nodes are being removed, or run")
		return some + ", not the DaemonSet: the " + b.taints() + wording.PluralOf(b.Count("taints"), " says", " say") +
			" that the " + removed + " no DaemonSet"
	case b.Is("excludedBy", eligible.ExcludedByCondition):
		return some + ", not the DaemonSet: the " + b.taints() + wording.PluralOf(b.Count("taints"), " depends",
			" depend") +
			" on the state of the " + b.on("node", "nodes")
	case b.Yes("noHostPath"):
		return "likely " + some + ": " + b.lacksPath() + ", and " +
			wording.PluralVerb(b.a.Works(), "other node has", "other nodes have") + " it"
	case code == cause.Terminating && b.certain():
		return some + ": the kubelet cannot end the " + b.on("pod", "pods") + " (event FailedKillPod)"
	case code == cause.Terminating:
		return "likely " + some + ": the kubelet does not end the " + b.on("pod", "pods")
	case code == cause.OOMKilled && b.certain():
		return some + ": " + b.on("the node has", "the nodes have") +
			" MemoryPressure, and the template sets no memory limit"
	case code == cause.OOMKilled:
		return "likely " + some + ": " + b.on("the node", "the nodes") +
			" ran out of memory, as the template sets no memory limit"
	case cause.StageOf(code) == cause.StageStays:
		if b.certain() {
			has := b.on("it has ", "they have ")
			return b.on("node ", "nodes ") + some + ", not this DaemonSet: " + has + b.object()
		}
		return "likely " + b.on("node ", "nodes ") + some + ", not this DaemonSet: " +
			b.on("its kubelet reported ", "their kubelets reported ") + b.object()
	case b.Yes("noRoutes"):
		return some + ": the network of " + b.on("the node", "the nodes") + " is not set up: " +
			"NetworkUnavailable is True" + wording.InBrackets(b.Text("networkReason"))
	case cause.StageOf(code) == cause.StageNetwork:
		return "likely " + some + ": other nodes set up the same pod"
	case code == daemonset.NodeGone:
		return b.on("the node was", "the nodes were") + " deleted; the pod garbage collector removes the rest"
	}
	return b.nodeDown()
}

// lacksPath says that the failing nodes lack a path.
func (b *blamed) lacksPath() string {
	path := wording.Phrase(b.Text("hostPathType"), " ", b.Text("hostPath"))
	if path == "" {
		return b.on("it does", "they do") + " not have a path that the template mounts"
	}
	return b.on("it has", "they have") + " no " + path + ", which the template mounts"
}

// nodeDown describes how long the nodes have been NotReady, and compares that with the start of the rollout.
func (b *blamed) nodeDown() string {
	o, began, lasting := b.p.Blame, b.a.E.Rollout.Since, b.a.Lasting(b.p)
	nodes := b.on("the node", "the nodes")
	if since := b.Age("purposeSince"); since != "" {
		purpose := b.Text("purpose") + wording.InBrackets(b.Text("purposeReason"))
		return nodes + ": NotReady for " + lasting + ", likely on purpose: " + purpose + " has been True for " + since +
			wording.Phrase(", set by ", b.Text("setBy"))
	}
	started := ""
	if began != nil && b.p.Since != nil {
		started = wording.Ago(b.Now.Sub(*began).Abs())
	}
	notReady := ": NotReady for " + lasting
	reported := wording.Either(b.p.Code == cause.Misscheduled, wording.InBrackets(b.a.Reported(b.p)), "")
	switch earlier := o.BeforeRollout; {
	case started != "" && earlier != nil && *earlier && started == wording.Ago(b.Now.Sub(*b.p.Since)):
		// the durations would look the same
		return nodes + ", not the rollout: NotReady since " + wording.ClockAt(*b.p.Since, b.Now) +
			", the rollout started at " + wording.ClockAt(*began, b.Now)
	case started != "" && earlier != nil && *earlier && b.a.counted() && len(b.a.E.Matters()) == 1:
		// the headline has the duration
		return nodes + ", not the rollout: NotReady before it started, " + started + " ago" + reported
	case started != "" && earlier != nil && *earlier:
		return nodes + ", not the rollout" + notReady + reported + ", the rollout started " + started + " ago"
	case o.Untouched:
		return nodes + ", not the rollout: no pod of " + b.current() + " was ever there"
	case started != "" && o.Certainty == cause.Likely:
		return "likely " + nodes + notReady + reported + ", the rollout started " + started + " ago"
	case b.p.Since == nil:
		return nodes + ": NotReady"
	case started != "" && earlier != nil:
		return nodes + notReady + "; the rollout started earlier, " + started + " ago"
	}
	return nodes + notReady + reported
}

func (b *blamed) otherWorkload() string {
	ports := b.Text("ports")
	host := "host " + wording.PluralOf(b.Count("ports"), "port ", "ports ") + ports
	switch others := "not this DaemonSet: "; {
	case b.p.Code == cause.HostPortConflict && ports == "":
		return others + "another pod on " + b.some() + " uses a host port that this one needs"
	case b.p.Code == cause.HostPortConflict && !b.Is("plugin", "NodePorts"):
		return others + "another pod on " + b.some() + " uses " + host
	case b.p.Code == cause.HostPortConflict:
		user := cmp.Or(wording.Phrase("pod ", b.Text("owner"), " uses "), "the pods of "+b.Text("holder")+" use ")
		return others + user + host
	case b.Is("resources", "pods"):
		return b.some() + b.on(" runs as many pods as it may", " run as many pods as they may")
	}
	return "other pods on " + b.some() + ": they leave too little " + wording.ResourceWord(b.Facts["resources"]) +
		" for this one"
}

func (b *blamed) controller() string {
	switch renewed := b.Age("renewed"); {
	case b.p.Code == cause.ExcludedButCounted:
		return "kube-controller-manager of OpenShift 4.11 to 4.19: where it counts nodes for a rolling update, " +
			"it does not ask for the node selector of the namespace"
	case b.Yes("missed") && renewed != "":
		return "kube-controller-manager runs (it renewed its Lease " + renewed + " ago), but this version " +
			"may not notice that a taint came or went (kubernetes#132459): any change to the DaemonSet, " +
			"such as an annotation, refreshes the status"
	case b.Is("lease", "Expired") && renewed != "":
		return "kube-controller-manager is down, or cannot reach the API server: it last renewed its Lease " +
			renewed + " ago"
	}
	return "likely kube-controller-manager: unknown whether it runs, as its Lease was not read"
}

func (b *blamed) strategy() string {
	switch b.p.Code {
	case cause.HostPortConflict:
		return "maxSurge: the old pod on the node uses the host port that the new one needs"
	case cause.InsufficientResources:
		return "the update strategy: maxSurge runs the new pod alongside the old one, and " + b.some() +
			b.on(" has", " have") + " too little " + wording.ResourceWord(b.Facts["resources"]) + " for both"
	case explain.OnDeleteOutdated:
		return "updateStrategy " + screen.Clean(sheet.Strategy(b.a.Header)) +
			": the controller replaces a pod only after you delete it"
	}
	return ""
}

// besides returns more facts about pods that fail.
func (b *blamed) besides() []string {
	unknown := b.p.Blame.Who == cause.WhoUnknown
	var said []string
	if b.p.Blame.NotChange && unknown && b.a.Current() > 0 {
		said = append(said, "not "+b.current()+", which changed nothing that these pods fail on")
	}
	if b.p.Code == cause.ProbeFailing {
		said = append(said, b.probeFails())
	}
	if stopped := b.Age("stopped"); unknown && stopped != "" {
		said = append(said, "these pods stopped working within a minute, "+stopped+" ago: look for what changed then "+
			"outside the DaemonSet, such as a Secret, a certificate or the network")
	}
	if unknown && b.Facts["furtherMessages"] != nil {
		said = append(said, "the messages differ, so there may be more than one cause")
	}
	if b.Yes("nodeWaits") {
		said = append(said, b.on("the node is", "the nodes are")+" NotReady because of that: "+
			"the pods of this DaemonSet install the network plugin (CNI)")
	}
	return said
}

// probeFails describes what the kubelet does while a probe fails.
func (b *blamed) probeFails() string {
	sidecar := "sidecar " + b.Text("container")
	switch probe := b.Text("probe"); {
	case b.Yes("sidecar") && probe == "startup":
		return "the startup probe of " + sidecar + " fails, so the kubelet restarts it, and the other containers wait"
	case b.Yes("sidecar"):
		return "the other containers wait until " + sidecar + " has started"
	case probe == "startup", probe == "liveness":
		return "the " + probe + " probe fails, so the kubelet restarts the container"
	}
	return ""
}

// Tainted says that a rollout removes the pods of nodes because of a taint, and who is at fault.
func Tainted(f daemonset.Facts, nodes []string) string {
	return "the taint on " + wording.SomeNames(nodes) +
		wording.InBrackets(wording.TaintMeanings[wording.Fact(f, "key")]) + ": it was added after " +
		wording.PluralOf(len(nodes), "its pod", "their pods") + " had started, and the template does not tolerate it"
}
