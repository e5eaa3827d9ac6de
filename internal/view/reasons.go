package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// predicate is what the pods or nodes of a problem do, in the singular and in
// the plural.
type predicate struct{ noun, one, many string }

// predicates has every reason that concerns pods or nodes.
var predicates = map[daemonset.Reason]predicate{
	cause.CrashLoopBackOff:       {"pod", "crashes", "crash"},
	cause.OOMKilled:              {"pod", "runs out of memory", "run out of memory"},
	cause.ImagePullBackOff:       {"pod", "cannot pull its image", "fail to pull their image"},
	cause.PullingImage:           {"pod", "is still pulling its image", "are still pulling their image"},
	cause.FailedMount:            {"pod", "cannot mount a volume", "cannot mount a volume"},
	cause.FailedCreatePodSandBox: {"pod", "gets no network or sandbox", "get no network or sandbox"},
	cause.ContainerConfig:        {"pod", "cannot start a container", "cannot start a container"},
	cause.ContainerCreating:      {"pod", "does not start", "do not start"},
	cause.InitRunning:            {"pod", "waits for an init container", "wait for an init container"},
	cause.ProbeFailing:           {"pod", "fails its readiness probe", "fail their readiness probe"},
	cause.NodeNotReady:           {"node", "is NotReady", "are NotReady"},
	cause.TerminatingOnDeadNode:  {"node", "is NotReady", "are NotReady"},
	daemonset.NodeGone:           {"pod", "is left over from a deleted node", "are left over from deleted nodes"},
	cause.FailedCreate:           {"pod", "is rejected by the API server", "are rejected by the API server"},
	cause.InsufficientResources:  {"pod", "does not fit", "do not fit"},
	cause.HostPortConflict:       {"pod", "needs a host port that is in use", "need a host port that is in use"},
	cause.DoesNotFit:             {"new pod", "does not fit", "do not fit"},
	cause.PendingUnschedulable:   {"pod", "is not scheduled", "are not scheduled"},
	cause.PodOSNotSupported:      {"pod", "is rejected by its kubelet", "are rejected by their kubelet"},
	cause.ExcludedButCounted:     {"node", "that the namespace excludes counts as unavailable", "that the namespace excludes count as unavailable"},
	cause.VirtualNode:            {"node", "is virtual and runs no DaemonSet pod", "are virtual and run no DaemonSet pods"},
	cause.EvictLoop:              {"pod", "fails repeatedly", "fail repeatedly"},
	daemonset.FailedPod:          {"pod", "has failed", "have failed"},
	daemonset.SucceededPod:       {"pod", "has ended", "have ended"},
	cause.Terminating:            {"pod", "does not end", "do not end"},
	daemonset.NotReady:           {"pod", "is not Ready", "are not Ready"},
	cause.WaitingForRoom:         {"pod", "waits for other pods to end", "wait for other pods to end"},
	cause.Starting:               {"pod", "is starting", "are starting"},
	daemonset.NotYetAvailable:    {"pod", "is not available yet", "are not available yet"},
	cause.NoPod:                  {"node", "has no pod", "have no pod"},
	cause.Misscheduled:           {"pod", "runs on a node that is not eligible", "run on nodes that are not eligible"},
	daemonset.Duplicate:          {"node", "has more than one pod", "have more than one pod"},
	explain.Foreign:              {"pod", "belongs to somebody else", "belong to somebody else"},
	daemonset.ReleasedPod:        {"pod", "no longer matches the selector", "no longer match the selector"},
	daemonset.NoTargetNode:       {"pod", "is not assigned to any node", "are not assigned to any node"},
}

// probing says what a pod does whose startup or liveness probe fails.
var probing = map[string]predicate{
	"startup": {"pod", "fails its startup probe", "fail their startup probe"}, "liveness": {"pod", "fails its liveness probe", "fail their liveness probe"},
}

// byProbe returns the predicate with the probe that fails, where an event says which.
func (p predicate) byProbe(f daemonset.Facts) predicate {
	if by, known := probing[fact(f, "probe")]; known {
		return by
	}
	return p
}

// of is the predicate of so many pods or nodes: one is named by its node, where
// that is known. It is empty for a reason that has none.
func (p predicate) of(nodes []string, n int) string {
	n = max(n, len(nodes))
	switch {
	case p.noun == "":
		return ""
	case len(nodes) == 1 && p.noun == "node":
		return nodes[0] + " " + p.one
	case len(nodes) == 1:
		return "the " + p.noun + " on " + nodes[0] + " " + p.one
	}
	return pluralVerb(n, p.noun+" "+p.one, p.noun+"s "+p.many)
}

// detail says what is known of a problem beside its name, its nodes and how
// long it lasts: a sentence of ours, then the words of whoever reported it, and how
// fast other pods were. What a kubelet reports of a node that is not eligible stands
// beside the cause.
func (a *sheet) detail(p *explain.Problem) []screen.Block {
	if p.Code == cause.Misscheduled {
		return []screen.Block{screen.Text(a.meaning(p))}
	}
	said := append([]screen.Block{screen.Text(a.meaning(p))}, a.messages(p)...)
	return append(said, screen.Text(a.started(p)))
}

// messages are what the cluster says of a problem.
func (a *sheet) messages(p *explain.Problem) []screen.Block {
	said := []screen.Block{screen.Text(a.reported(p))}
	further, _ := p.Facts["furtherMessages"].([]string)
	for _, message := range further {
		said = append(said, screen.Text("and "+a.quoted(p, screen.Clean(message))))
	}
	return said
}

// started is how fast other pods were; empty where it is not known.
func (a *sheet) started(p *explain.Problem) string {
	f := known{p.Facts, a.now}
	slowest := f.age("slowestStart")
	if f.count("starts") == 0 || slowest == "" {
		return ""
	}
	return pluralVerb(f.count("starts"), "other pod was", "other pods were") + " ready within " + slowest + " of creation"
}

// reported is the message of a problem in quotes, without the words that kubelet and
// container runtimes put around what happened; empty where there is none.
func (a *sheet) reported(p *explain.Problem) string {
	if message := fact(p.Facts, "message"); message != "" {
		return a.quoted(p, message)
	}
	return ""
}

// quoted is a message about a problem in quotes, as long as the screen has room for.
func (a *sheet) quoted(p *explain.Problem, message string) string {
	const columns = 240
	if p.Code == cause.FailedCreate {
		return `"` + a.style.refusal(message, columns) + `"`
	}
	return `"` + a.style.brief(message, columns) + `"`
}

// silent is how long the kubelets of nodes have posted no status: of several that differ at
// least.
func (a *sheet) silent(p *explain.Problem) string {
	at := p.Posted()
	switch {
	case at == nil:
		return a.lasting(p)
	case len(p.Nodes) > 1 && ago(a.now.Sub(*p.Since)) != ago(a.now.Sub(*p.Latest)):
		return ago(a.now.Sub(*at)) + " or longer"
	}
	return ago(a.now.Sub(*at))
}

// resourceWord is the first of some resources, as a sentence names it.
func resourceWord(list any) string {
	if name := firstOf(list); name != "cpu" {
		return name
	}
	return "CPU"
}

// firstOf is the first of a list of words; empty where there is none.
func firstOf(list any) string {
	switch l := list.(type) {
	case []string:
		return strings.Join(l[:min(1, len(l))], "")
	case []any: // of a document that was read
		if len(l) > 0 {
			return fmt.Sprint(l[0])
		}
	}
	return ""
}

// causes says who, for each problem that does not pass by itself.
func (a *answer) causes(problems []*explain.Problem) {
	var said []string
	of := map[string][]daemonset.Reason{}
	several := slices.ContainsFunc(problems, func(p *explain.Problem) bool { return p.Code != problems[0].Code })
	for _, p := range a.alike(problems) {
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
		a.add(screen.Fault, "%s", words)
	}
}

// alike returns the problems, those of Misscheduled together whose origin has the same words for the same nodes.
func (a *answer) alike(problems []*explain.Problem) (out []*explain.Problem) {
	of := map[string]*explain.Problem{}
	for _, p := range problems {
		one := *p
		one.Nodes = []string{"a", "b"}
		words := a.origin(&one)
		if first := of[words]; p.Code == cause.Misscheduled && first != nil {
			first.Nodes = slices.Sorted(slices.Values(slices.Concat(first.Nodes, p.Nodes)))
			continue
		}
		one.Nodes = p.Nodes
		if p.Code == cause.Misscheduled {
			of[words] = &one
		}
		out = append(out, &one)
	}
	return out
}

const (
	deletedSince = "[{certainty=Likely}; perhaps deleted since {works:other pod|other pods} of this revision started]"
	noObject     = "{kind} {namespace}/{name} does not exist"
)

// origins say what a problem comes from. Beside its facts there are those of the
// pods that fail, and: on, how many nodes; some of them; code; evidence; reported,
// what the kubelet says.
var origins = map[cause.Who][]string{
	cause.WhoChange: {
		"{code=NoEligibleNode}likely this change, revision {revision}, which changed {fields}: with revision {before}, {eligible:node} would be eligible",
		"{code=PodOSNotSupported}this change, revision {revision}: its template is for {want} only",
		"{notBuilt=true}{certainty=Certain}this change, revision {revision}: its image {image} has no build for {platform}, the platform of {some}",
		"{revision=0}{certainty=Certain}this change, the live template[, which changed the {touched}][: {absent} does not exist]",
		"{revision=0}likely this change, the live template[, which changed the {touched}]",
		"{certainty=Certain}{touched=}this change, revision {revision}", "{certainty=Certain}this change, revision {revision}, which changed the {touched}[: {absent} does not exist]",
		"{all=true}likely this change, revision {revision}: {new} {does}, {old} on {other}", "{touched=}likely this change, revision {revision}", "likely this change, revision {revision}, which changed the {touched}",
	},
	cause.WhoNodeProperty: {"{code=VirtualNode}the {on?node is|nodes are} virtual ({key}={want}), and the template does not exclude {on?it|them}"},
	cause.WhoTemplate: {
		"{notBuilt=true}{certainty=Certain}the template: image {image} has no build for {platform}, the platform of {some}",
		"{notBuilt=true}likely the template: the message says that a program is not built for {platform}, the platform of {some}",
		"{excludedBy=NodeName}likely the template: its nodeName picks another node",
		"{excludedBy=Taint}likely the template: {nearest:node matches|nodes match} its {picks}, but it does not tolerate {on?its|their} {taints?taint|taints} {taints}",
		"{code=PodOSNotSupported}the template, which is for {want} only",
		"likely {older}, which {on?this pod is|these pods are} still on: all {oldFailing} of its pods fail, and none of the {newPods} on revision {current}",
		"{beyond=true}the template: the pod requests more {resource} than {some} {on?has|have} in total",
		"{oneNode=true}the template: it mounts claim {claim}, whose access mode is ReadWriteOnce, so only pods of one node can use it", "{noHostPath=true}likely the template: it mounts {hostPath} as {hostPathType}, and the {on?node has|nodes have} no such thing there[: the operating system is {osImage}]",
		"{noHostPath=true}likely the template: it mounts {hostPath}, which the container runtime cannot make or use on {on?the node|the nodes}[: the operating system is {osImage}]",
		"{code=ImagePullBackOff}{reason=ErrImageNeverPull}likely the template: its imagePullPolicy is Never, and the {on?node does|nodes do} not have the image",
		"{code=ImagePullBackOff}likely the template: the registry has no image {image}",
		"{noHostPath=true}likely the template: it mounts a hostPath that the {on?node does|nodes do} not have", "{code=FailedMount}likely the template: it mounts a volume that cannot be on several nodes at a time", "{subject=Volume}the template: the pod writes more to volume {object} than its sizeLimit allows",
		"{subject=Container}the template: the pod writes more to its disk than it may",
		"the template",
	},
	cause.WhoMissingObject: {"{kind=}{absent} does not exist", "{kind=}the object that the message names, which does not exist", "{kind} {namespace}/{name} has no key {key}" + deletedSince, noObject + deletedSince},
	cause.WhoRegistry: {
		"{works=0}likely the registry, or the way to it[: {notChange=true}not revision {current}, which did not change the image]",
		"{terse=true}the registry, or the way to it: {works:other node|other nodes} could pull it", "the registry, or the way from {on?this node|these nodes} to it: {works:other node|other nodes} could pull the image",
	},
	cause.WhoInjection: {
		"the image was rewritten at admission[, likely by whoever sets the label {addedLabel}]: the template names {templateImage}",
		"the nodeSelector {added}, which the template does not have, was added at admission: namespace {namespace} asks for it ({annotation}: {selector})",
		"{again=false}the nodeSelector {added}, which the template does not have, was added at admission: namespace {namespace} no longer asks for it ({annotation}), but the {on?pod keeps|pods keep} it",
		"the nodeSelector {added}, which the template does not have, was added at admission[, likely by the default of OpenShift: namespace {namespace} has no annotation {annotation}]",
		"container {container} is not in the template: likely {injector} adds it, as annotation {addedBy} of the pod says",
		"container {container} is not in the template: ask whoever adds it to pods, such as a service mesh",
	},
	cause.WhoPlatform: {
		"{subject=Webhook}{deadlock=true}admission webhook {object} cannot be called, and the nodes are NotReady because they have no network (CNI): a deadlock, if the webhook runs as pods that need that network",
		"{subject=Webhook}admission webhook {object} cannot be called: it rejects nothing itself, but the API server creates no pod without its answer",
		"likely the network of {on?the node|these nodes} or of the cluster, not the DaemonSet: see the message"},
	cause.WhoPolicy: {
		"{subject=Quota}{object=}the quotas in namespace {namespace}: pods of this PriorityClass need a ResourceQuota whose scope selects it, and there is none",
		`{subject=Quota}{on=0}the quota, not the DaemonSet: ResourceQuota "{object}" in namespace {namespace} has no room for its pods`,
		`{subject=Quota}the quota, not the DaemonSet: ResourceQuota "{object}" in namespace {namespace} has no room for {on:more pod}`,
		"{subject=Policy}Pod Security in namespace {namespace}: the pod violates {object}",
		"{subject=SCC}{needs=}the SecurityContextConstraints: none that ServiceAccount {object} may use allows the pod",
		"{subject=SCC}the SecurityContextConstraints: none that ServiceAccount {object} may use allows the pod, which needs {needs}",
		"{subject=PodSecurityPolicy}the PodSecurityPolicies: none that ServiceAccount {object} may use allows the pod, as the message says",
		"{subject=Webhook}{called=true}admission webhook {object}: its policy says no",
		"the API server: see its message",
	},
	cause.WhoUnknown: {
		"{excludedBy=Taint}the template does not tolerate the {taints?taint|taints} {taints} of {some}: unknown whether it should",
		"{excludedBy=NodeSelector}{lacks=one}unclear, the nodes or the template: no node has the label {labels}, which the nodeSelector requires",
		"{excludedBy=NodeSelector}{lacks=all}unclear, the nodes or the template: no node has one of the labels {labels}, and the nodeSelector requires all of them",
		"{excludedBy=NodeAffinity}{lacks=one}unclear, the nodes or the template: no node has the label {labels}, which the affinity requires",
		"{excludedBy=NodeAffinity}{lacks=any}unclear, the nodes or the template: no node has any of the labels {labels}, and the affinity requires one of them",
		"{excludedBy=NodeSelector}unclear, the nodes or the template: no node has all labels of the nodeSelector",
		"{excludedBy=NodeAffinity}unclear, the nodes or the template: no node meets the affinity",
		"{excludedBy=Namespace}unclear: the node selector of the namespace excludes the nodes that the template would have",
		"{lease=Alive}unclear: kube-controller-manager runs (it renewed its Lease {renewed@} ago); any change of the DaemonSet, such as an annotation, makes it look again",
		"{code=Terminating}whoever set the {finalizers?finalizer|finalizers} {finalizers} has to remove {finalizers?it|them}",
		"{evidence=OldOnly}unclear: {oldFailing} of {oldPods:pod} on the revision before fail",
		"{evidence=Both}unclear: {newFailing} of {newPods:pod} on revision {current} fail, and {oldFailing} of {oldPods} on other revisions",
		"{evidence=All}{newPods=1}unclear: the only pod fails, and no other revision runs to compare with[; it has not worked since revision {current} replaced revision {prior}]",
		"{evidence=All}unclear: all {newPods} pods fail, and no other revision runs to compare with[; none has worked since revision {current} replaced revision {prior}]",
		"{evidence=Some}{works=0}unclear", "{evidence=Some}{code=ImagePullBackOff}{terse=true}the registry, or the way to it: {works:other node|other nodes} could pull it", "{evidence=Some}{code=ImagePullBackOff}the registry, or the way from {on?this node|these nodes} to it: {works:other node|other nodes} could pull the image",
		"{evidence=Some}{code=OOMKilled}the program needs more[ than its memory limit of {memoryLimit}] on {on?this node|these nodes}, or leaks memory: revision {current} works on {works:other node}",
		"{evidence=Some}{code=ContainerConfig}unclear: revision {current} works on {works:other node}; the message says what the kubelet lacks",
		"{evidence=Some}{works=1}unclear: revision {current} works on the node that joined before, and {some} joined {joined@} ago: look for what is new there first, such as its image or its labels",
		"{evidence=Some}unclear: revision {current} works on the {works:node} that joined before, and {some} joined {joined@} ago: look for what is new there first, such as {on?its|their} image or labels",
		"{evidence=Some}{terse=false}unclear: revision {current} works on {works:other node} ({platforms}) and fails on {some} ({platform}); in the logs, \"exec format error\" or an application or configuration error points to revision {current}; a host, disk or network error points to the {on?node|nodes}",
		"{evidence=Some}unclear: revision {current} works on {works:other node} ({platforms}) and fails on {some} ({platform})",
		"{evidence=Some}unclear: revision {current} works on {works:other node}[{terse=false}; in the logs, an application or configuration error points to revision {current}; a host, disk or network error points to the {on?node|nodes}]",
	},
	cause.WhoNode: {
		"likely {some}: {on?it reports|they report} {nodeReports}, and no node where the pod works does",
		"{excludedBy=NodeUnsuitable}{some}, not the DaemonSet: the {taints?taint|taints} {taints} {taints?says|say} that the {on?node is|nodes are} being removed, or {on?runs|run} no DaemonSet",
		"{excludedBy=NodeCondition}{some}, not the DaemonSet: the {taints?taint|taints} {taints} {taints?depends|depend} on the state of the {on?node|nodes}",
		"{on?the node|the nodes}: NotReady for {lasting}, likely on purpose: {purpose}[ ({purposeReason})] has been True for {purposeSince@}[, set by {setBy}]",
		"{noHostPath=true}likely {some}: {on?it has|they have} no {hostPathType} {hostPath}, which the template mounts, and {works:other node has|other nodes have} it",
		"{noHostPath=true}likely {some}: {on?it does|they do} not have a path that the template mounts, and {works:other node has|other nodes have} it",
		"{code=Terminating}{certainty=Certain}{some}: the kubelet cannot end the {on?pod|pods} (event FailedKillPod)",
		"{code=Terminating}likely {some}: the kubelet does not end the {on?pod|pods}",
		"{code=OOMKilled}{certainty=Certain}{some}: {on?the node has|the nodes have} MemoryPressure, and the template sets no limit",
		"{code=OOMKilled}likely {some}: {on?the node|the nodes} ran out of memory, as the template sets no limit",
		"{stays=true}{certainty=Certain}{on?node|nodes} {some}, not this DaemonSet: {on?it has|they have} {object}",
		"{stays=true}likely {on?node|nodes} {some}, not this DaemonSet: {on?its kubelet|their kubelets} reported {object}",
		"{noRoutes=true}{some}: the network of {on?the node|the nodes} is not set up: NetworkUnavailable is True[ ({networkReason})]",
		"{stage=Network}likely {some}: other nodes set up the same pod",
		"{code=NodeGone}{on?the node was|the nodes were} deleted; the pod garbage collector removes what is left",
		"{earlier=true}{began=close}{on?the node|the nodes}, not the rollout: NotReady since {since@clock}, the rollout started at {rollout@clock}",
		"{earlier=true}{on?the node|the nodes}, not the rollout: NotReady for {lasting}[{code=Misscheduled} ({reported})], the rollout started {rollout@} ago",
		"{untouched=true}{on?the node|the nodes}, not the rollout: no pod of revision {current} was ever there",
		"{certainty=Likely}likely {on?the node|the nodes}: NotReady for {lasting}[{code=Misscheduled} ({reported})], the rollout started {rollout@} ago",
		"{lasting=-}{on?the node|the nodes}: NotReady",
		"{earlier=false}{on?the node|the nodes}: NotReady for {lasting}; the rollout started earlier, {rollout@} ago",
		"{on?the node|the nodes}: NotReady for {lasting}[{code=Misscheduled} ({reported})]",
	},
	cause.WhoOtherWorkload: {
		"{code=HostPortConflict}{plugin=NodePorts}not this DaemonSet: pod {owner} uses host {ports?port|ports} {ports}",
		"{code=HostPortConflict}{plugin=NodePorts}not this DaemonSet: the pods of {holder} use host {ports?port|ports} {ports}",
		"{code=HostPortConflict}not this DaemonSet: another pod on {some} uses host {ports?port|ports} {ports}",
		"{code=HostPortConflict}not this DaemonSet: another pod on {some} uses a host port that this one needs",
		"{resources=pods}{some} {on?runs|run} as many pods as {on?it|they} may", "other pods on {some}: they leave too little {resource} for this one"},
	cause.WhoController: {
		"{code=ExcludedButCounted}kube-controller-manager of OpenShift 4.11 to 4.19: where it counts nodes for a rolling update, it does not ask for the node selector of the namespace",
		"{missed=true}kube-controller-manager runs (it renewed its Lease {renewed@} ago), but this version may not notice that a taint came or went (kubernetes#132459): any change of the DaemonSet, such as an annotation, refreshes the status",
		"{lease=Expired}kube-controller-manager is down, or cannot reach the API server: it last renewed its Lease {renewed@} ago",
		"likely kube-controller-manager: unknown whether it runs, as its Lease was not read",
	},
	cause.WhoStrategy: {
		"{code=HostPortConflict}maxSurge: the old pod on the node uses the host port that the new one needs",
		"{code=OnDeleteOutdated}updateStrategy {strategy}: the controller replaces a pod only after you delete it",
	},
}

// injectors are who adds containers to pods, by the annotation that they give to a pod.
var injectors = map[string]string{
	"sidecar.istio.io/status": "Istio", "linkerd.io/proxy-version": "Linkerd", "vault.hashicorp.com/agent-inject-status": "the Vault Agent Injector",
	"consul.hashicorp.com/connect-inject-status": "Consul", "dapr.io/enabled": "Dapr",
}

// probeFails say what the kubelet does while a probe fails.
var probeFails = []string{
	"{sidecar=true}{probe=startup}the startup probe of sidecar {container} fails, so the kubelet restarts it, and the other containers wait", "{sidecar=true}the other containers wait until sidecar {container} has started",
	"{probe=startup}the startup probe fails, so the kubelet restarts the container", "{probe=liveness}the liveness probe fails, so the kubelet restarts the container",
}

// stoppedTogether and nodesWait say what else is known of pods that fail.
const (
	stoppedTogether = "these pods stopped working within a minute, {stopped@} ago: look for what changed then outside the DaemonSet, such as a Secret, a certificate or the network"
	nodesWait       = "{nodeWaits=true}{on?the node is|the nodes are} NotReady because of that: the pods of this DaemonSet install the network plugin (CNI)"
)

// tainted says whose fault it is that a rollout removes pods for a taint.
var tainted = []string{"the taint on {some}[ ({meaning})]: it was added after {n?its pod|their pods} had started, and the template does not tolerate it"}

// touchedWords name the fields that a revision changed, at most two.
func touchedWords(paths []template.Path) string {
	var names []string
	for _, p := range paths {
		member, _ := p.Member()
		name, container := fieldName(member)
		if container != "" {
			name += " of container " + container
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 2 {
		names = append(names[:1], Plural(len(names)-1, "more field"))
	}
	return screen.Clean(strings.Join(names, " and "))
}

// absent names the object that does not exist, so the API server rejects pods; it is empty if the
// message of the API server names none.
func (a *answer) absent(p *explain.Problem) string {
	kind, name := cause.NamedObject(p.Facts)
	switch {
	case p.Code != cause.FailedCreate || name == "":
		return ""
	case kind == "ServiceAccount":
		name = a.h.DaemonSet.Namespace + "/" + name
	}
	return screen.Clean(kind + " " + name)
}

// works is how many pods of the current revision are available, without those that keep failing.
func (a *answer) works() int {
	n := cmp.Or(a.e.Current(), &explain.Revision{}).Available
	for i := range a.e.Problems {
		if p := &a.e.Problems[i]; p.Facts.Yes("ready") {
			n -= p.Facts.Int("newFailing")
		}
	}
	return max(0, n)
}

// refusal returns why the API server rejects pods, if it is what the events of a problem
// tell of; else nil.
func (a *answer) refusal(p *explain.Problem) *admission.Refusal {
	if v := a.e.Admission; p != nil && p.Code == cause.FailedCreate && v != nil && len(v.Refusals) > 0 && fact(p.Facts, "rejects") == string(v.Refusals[0].Reason) {
		return &v.Refusals[0]
	}
	return nil
}

// olderOnes names the revision that the pods which are not updated run.
func (a *answer) olderOnes() string {
	if len(a.e.Revisions) == 2 {
		return revisionName(&a.e.Revisions[1])
	}
	return "other revisions"
}

// origin says what a problem comes from; empty where nothing tells, or it passes
// by itself.
func (a *answer) origin(p *explain.Problem) string {
	o, t := p.Blame, a.e.Tally()
	if by := fact(p.Facts, "strandedBy"); p.Code == cause.Misscheduled && o == nil && by != "" && a.e.Has(cause.NoEligibleNode) == nil {
		return fill(a.now, with(ofNode(p.Facts), daemonset.Facts{"some": someNames(p.Nodes), "n": len(p.Nodes)}), tainted...)
	}
	if o == nil {
		return ""
	}
	do := predicate{"pod", "fails", "fail"}
	if t.NewFailing == p.Count {
		do = predicates[p.Code].byProbe(p.Facts)
	}
	f := with(p.Facts, with(t.Facts(), daemonset.Facts{
		"code": p.Code, "on": len(p.Nodes), "some": someNames(p.Nodes), "resource": resourceWord(p.Facts["resources"]), "lasting": a.lasting(p), "evidence": a.e.Evidence(p), "reported": a.reported(p), "subject": p.Subject.Kind, "object": p.Subject.Name, "revision": o.Revision, "touched": touchedWords(o.Touched), "notChange": o.NotChange,
		"current": a.current(), "namespace": a.h.DaemonSet.Namespace, "strategy": strategy(a.h), "works": a.works(), "does": pluralOf(t.NewPods, do.one, do.many),
		"new": pluralOf(t.NewPods, "its only pod", fmt.Sprintf("%d of its %d pods", t.NewPods, t.NewPods)), "old": pluralOf(t.OldPods, "not the one", fmt.Sprintf("none of the %d", t.OldPods)), "other": a.olderOnes(),
	}))
	if may := a.mayRollBack(); may != nil {
		f["prior"] = may.Value
	}
	if t.NewPods+t.OldPods == 0 { // which leave out nodes that are down
		f["newPods"] = p.Count
	}
	if p.Code == cause.NoEligibleNode {
		f = with(f, placementFacts(p.Facts))
		f["on"] = number(p.Facts, "nearest")
	}
	f["terse"], f["notBuilt"], f["differ"] = a.terse, p.NotBuilt(), p.Facts["furtherMessages"] != nil
	f["absent"] = a.absent(p)
	if p.Facts["kind"] != nil { // of what does not exist
		f["name"] = fact(p.Facts, "name")
	}
	f["back"], f["all"] = a.e.Fix(remedy.RollBack) != nil, t.NewFailing > 0 && t.NewFailing == t.NewPods && t.OldPods > 0 && t.OldFailing == 0
	if o.Who == cause.WhoTemplate && cause.OfContainer(p.Code) {
		for i := range a.e.Revisions {
			if r := &a.e.Revisions[i]; !r.Current && len(p.Nodes) > 0 && slices.Contains(r.Nodes, p.Nodes[0]) {
				f["older"] = revisionName(r)
			}
		}
	}
	if by := injectors[fact(p.Facts, "addedBy")]; by != "" {
		f["injector"] = by
	}
	f["called"], f["deadlock"] = p.Facts["uncalled"] == nil, p.Facts.Yes("noNetwork")
	f["stays"] = cause.StageOf(p.Code) == cause.StageStays
	if cause.StageOf(p.Code) == cause.StageNetwork {
		f["stage"] = "Network"
	}
	f["certainty"], f["untouched"] = o.Certainty, o.Untouched
	if began := a.e.Rollout.Since; began != nil && p.Since != nil {
		f["since"], f["rollout"] = p.Since.Format(time.RFC3339), began.Format(time.RFC3339)
		if o.BeforeRollout != nil {
			f["earlier"] = *o.BeforeRollout
		}
		if ago(a.now.Sub(*p.Since)) == ago(a.now.Sub(*began)) {
			f["began"] = "close"
		}
	}
	if o.Who == cause.WhoNodeProperty && p.Common != nil {
		return a.inCommon(p)
	}
	if r := a.refusal(p); r != nil && r.Reason != admission.QuotaExceeded {
		words, _ := a.rejection(r, a.works())
		return words
	}
	words := joined("; ", fill(a.now, f, origins[o.Who]...), deleted(p))
	if o.NotChange && o.Who == cause.WhoUnknown && a.current() > 0 {
		words = joined("; ", words, fmt.Sprintf("not revision %d, which changed nothing that these pods fail on", a.current()))
	}
	if p.Code == cause.ProbeFailing {
		words = joined("; ", words, fill(a.now, f, probeFails...))
	}
	if o.Who == cause.WhoUnknown {
		words = joined("; ", words, fill(a.now, f, stoppedTogether), fill(a.now, f, "{differ=true}the messages differ, so there may be more than one cause"))
	}
	words = joined("; ", words, fill(a.now, f, nodesWait))
	if p.Facts.Yes("cordoned") {
		words = joined(", ", words, fill(a.now, f, "cordoned {cordonedSince@} ago", "cordoned"))
	}
	if p.Common != nil {
		words = joined("; ", words, sharedBy(p.Common, a.now))
	}
	return words
}
