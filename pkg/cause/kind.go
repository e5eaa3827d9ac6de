package cause

import (
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Stage is a step in the life of a pod. A pod that fails at a stage has passed all previous stages.
type Stage int

const (
	StageNone      Stage = iota // not a step of a pod: a problem of the DaemonSet, or one that resolves by itself
	StageNode                   // its node works
	StageAdmitted               // the API server creates it
	StageScheduled              // the scheduler binds it to its node
	StageNetwork                // its sandbox has a network
	StageVolumes                // its volumes are mounted
	StageImage                  // its images are pulled
	StageStarted                // its containers are created and started
	StageRan                    // they keep running
	StageReady                  // their probes succeed, and its readiness gates are met
	StageStays                  // it is not evicted
)

// kind describes a code. New codes need a row in kinds.
type kind struct {
	code  daemonset.Reason
	stage Stage

	// the fields of the template that the step reads, for a given cause; nil if it reads none
	reads func(*Cause) field

	subject SubjectKind // what pods fail on, unless the facts of a cause are more specific
	look    Look        // what shows details
}

// field reports whether a step reads a field of the template. top is the field of the pod spec, or "labels" or
// "annotations" with the key as name. container is the name of a container, and name is the field in it, or empty for
// the whole container.
type field func(top, container, name string) bool

// always returns a function that returns f for every cause.
func always(f field) func(*Cause) field { return func(*Cause) field { return f } }

// kinds has a row for each code of this package, and for codes of package daemonset that are about a pod or the
// strategy.
var kinds = []kind{
	{NodeNotReady, StageNode, nil, SubjectNodeCondition, LookNode},
	{TerminatingOnDeadNode, StageNode, nil, SubjectNodeCondition, LookNode},
	{daemonset.NodeGone, StageNode, nil, SubjectNodeCondition, LookPod},
	{ExcludedButCounted, StageNode, nil, SubjectPlacement, LookSelector},
	{VirtualNode, StageNode, nil, SubjectPlacement, LookNode},
	{Terminating, StageNode, nil, SubjectUnspecified, LookPod},
	{PodOSNotSupported, StageNode, always(readsOS), SubjectNodeOS, LookPod},
	{FailedCreate, StageAdmitted, readsAdmission, SubjectUnspecified, LookEvents},
	{InsufficientResources, StageScheduled, always(readsRequests), SubjectUnspecified, LookNode},
	{HostPortConflict, StageScheduled, always(readsPorts), SubjectHostPort, LookNodePorts},
	{DoesNotFit, StageScheduled, readsFit, SubjectUnspecified, LookNode},
	{PendingUnschedulable, StageScheduled, always(readsScheduling), SubjectUnspecified, LookPod},
	{FailedCreatePodSandBox, StageNetwork, always(readsNetwork), SubjectNetwork, LookPod},
	{FailedMount, StageVolumes, readsVolumes, SubjectVolume, LookPod},
	{ImagePullBackOff, StageImage, readsImage, SubjectImage, LookPod},
	{PullingImage, StageImage, readsImage, SubjectImage, LookPod},
	{ContainerConfig, StageStarted, always(readsProgram), SubjectContainer, LookPod},
	{ContainerCreating, StageStarted, always(readsProgram), SubjectContainer, LookPod},
	{CrashLoopBackOff, StageRan, always(readsProgram), SubjectContainer, LookLastLogs},
	{OOMKilled, StageRan, always(readsProgram), SubjectContainer, LookMemory},
	{InitRunning, StageRan, always(readsProgram), SubjectContainer, LookLogs},
	{ProbeFailing, StageReady, always(readsProgram), SubjectContainer, LookLogs},
	{daemonset.NotReady, StageReady, readsGates, SubjectUnspecified, LookPod},
	{EvictLoop, StageStays, readsEviction, SubjectUnspecified, LookPod},
	{daemonset.FailedPod, StageStays, readsEviction, SubjectUnspecified, LookPod},
	{daemonset.SucceededPod, StageRan, always(readsProgram), SubjectUnspecified, LookPod},
	{WaitingForRoom, StageNone, nil, SubjectUnspecified, LookPod},
	{Starting, StageNone, nil, SubjectUnspecified, LookPod},
	{NoPod, StageNone, nil, SubjectUnspecified, LookPod},
	{ControllerSilent, StageNone, nil, SubjectController, LookController},
	{Misscheduled, StageNone, nil, SubjectPlacement, LookNode},
	{NoEligibleNode, StageNone, nil, SubjectPlacement, LookPod},
	{NextRolloutStalls, StageNone, nil, SubjectUnspecified, LookNode},
	{daemonset.InvalidBudget, StageNone, nil, SubjectStrategy, LookPod},
	{daemonset.VanishedNodeInSurge, StageNone, nil, SubjectStrategy, LookPod},
}

// kindOf returns the row of a code, or an unspecific row if it has none.
func kindOf(code daemonset.Reason) kind {
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.code == code }); i >= 0 {
		return kinds[i]
	}
	return kind{code: code, subject: SubjectUnspecified, look: LookPod}
}

// StageOf returns the stage at which pods with a code fail.
func StageOf(code daemonset.Reason) Stage { return kindOf(code).stage }

// LookOf returns what shows details of a problem with a code.
func LookOf(code daemonset.Reason) Look { return kindOf(code).look }

// OfContainer reports whether a cause comes from containers. A bad revision causes it on all of its pods.
func OfContainer(code daemonset.Reason) bool {
	s := StageOf(code)
	return s >= StageNetwork && s <= StageReady && code != daemonset.NotReady && code != daemonset.SucceededPod
}

// lasts reports whether a pod that passed a stage may fail at it later, so that every ready pod is still passing it.
func (s Stage) lasts() bool { return s >= StageRan }

// reads reports whether the failing step of a cause reads a field of the template.
func reads(c *Cause, p template.Path) bool {
	k := kindOf(c.Code)
	rest, inside := p.Below(template.At)
	if k.reads == nil || !inside || p.Last().Kind == template.Order || p.Equal(template.RestartedAt) {
		return false
	}
	if len(rest) < 2 { // all of the template or of its spec
		return true
	}
	top, container, name := rest[1].Name, "", ""
	switch {
	case rest[0].Name == "metadata" && len(rest) > 2:
		name = rest[2].Name
	case (top == "containers" || top == "initContainers" || top == "volumes") && len(rest) > 2:
		container = rest[2].Value
		if len(rest) > 3 {
			name = rest[3].Name
		}
	}
	return k.reads(c)(top, container, name)
}

func ofContainers(top string) bool { return top == "containers" || top == "initContainers" }

// placementFields are the fields that affect where and when a pod runs, but not what it runs.
var placementFields = []string{
	"tolerations", "nodeSelector", "affinity", "topologySpreadConstraints", "schedulerName", "schedulingGates",
	"priorityClassName", "priority", "preemptionPolicy",
	"readinessGates", "terminationGracePeriodSeconds", "imagePullSecrets",
}

// imageFields are the fields of a container that affect how its image is pulled and how its termination is reported.
var imageFields = []string{"imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy"}

// readsProgram returns true for all fields except those that a program cannot notice. A field missing from the lists of
// exceptions makes a change suspect; an extra field would wrongly acquit it.
func readsProgram(top, _, name string) bool {
	return !slices.Contains(placementFields, top) && !(ofContainers(top) && slices.Contains(imageFields, name))
}

func readsOS(top, _, name string) bool {
	return top == "os" || top == "nodeSelector" || top == "affinity" || top == "labels" && name == "kubernetes.io/os"
}

func readsRequests(top, _, name string) bool {
	return ofContainers(top) && (name == "resources" || name == "") ||
		slices.Contains([]string{"resources", "runtimeClassName", "overhead", "priorityClassName", "priority",
			"preemptionPolicy"}, top)
}

func readsPorts(top, _, name string) bool {
	return ofContainers(top) && (name == "ports" || name == "") ||
		slices.Contains([]string{"hostNetwork", "priorityClassName", "priority", "preemptionPolicy"}, top)
}

func readsScheduling(top, container, name string) bool {
	return readsRequests(top, container, name) || readsPorts(top, container, name) ||
		slices.Contains([]string{"volumes", "affinity", "nodeSelector", "tolerations", "topologySpreadConstraints",
			"schedulerName", "schedulingGates", "resourceClaims"}, top)
}

// readsFit returns the fields that the rejecting plugin reads.
func readsFit(c *Cause) field {
	switch c.Facts.Text("plugin") {
	case "NodeResourcesFit":
		return readsRequests
	case "NodePorts":
		return readsPorts
	}
	return readsScheduling
}

func readsNetwork(top, _, name string) bool {
	return ofContainers(top) && (name == "ports" || name == "") ||
		slices.Contains([]string{"hostNetwork", "dnsPolicy", "dnsConfig", "hostname", "subdomain", "setHostnameAsFQDN",
			"runtimeClassName", "annotations", "securityContext"}, top)
}

// readsVolumes returns the fields of one volume, if it is known which one.
func readsVolumes(c *Cause) field {
	volume := c.Facts.Text("volume")
	if _, rest, ok := strings.Cut(c.Facts.Text("message"), `for volume "`); ok && volume == "" {
		volume, _, _ = strings.Cut(rest, `"`)
	}
	return func(top, member, name string) bool {
		return top == "volumes" && (volume == "" || member == "" || member == volume) || top == "serviceAccountName" ||
			top == "automountServiceAccountToken" || ofContainers(top) && name == "volumeMounts" && volume == ""
	}
}

// readsImage returns the image fields of the container whose image cannot be pulled.
func readsImage(c *Cause) field {
	failing := c.Facts.Text("container")
	return func(top, container, name string) bool {
		return ofContainers(top) && container == failing && (name == "image" || name == "imagePullPolicy" ||
			name == "") || top == "imagePullSecrets" || top == "serviceAccountName"
	}
}

// readsGates returns the readiness gates if one is not met.
func readsGates(c *Cause) field {
	if c.Facts["conditions"] != nil {
		return func(top, _, _ string) bool { return top == "readinessGates" }
	}
	return readsProgram
}

// readsEviction returns the fields that affect how much a pod uses. If the node rejects every pod, it returns none.
func readsEviction(c *Cause) field {
	kind, volume := evictedFor(c.Facts.Text("message"))
	switch kind {
	case SubjectNodeCondition:
		return func(string, string, string) bool { return false }
	case SubjectVolume:
		return func(top, member, name string) bool {
			return readsProgram(top, member, name) && (top != "volumes" || member == "" || member == volume)
		}
	}
	return readsProgram
}

// readsAdmission returns the fields that the rejecting rule reads.
func readsAdmission(c *Cause) field {
	kind, _ := RejectedBy(c.Facts)
	only := func(tops ...string) field {
		return func(top, _, name string) bool {
			return slices.Contains(tops, top) || ofContainers(top) && (name == "resources" || name == "") &&
				slices.Contains(tops, "resources")
		}
	}
	switch message := c.Facts.Text("message"); {
	case kind == SubjectQuota && strings.Contains(message, scopesUnmatched):
		return only("priorityClassName")
	case kind == SubjectQuota:
		return only("resources", "priorityClassName", "overhead", "runtimeClassName", "volumes")
	case strings.Contains(message, "no PriorityClass"):
		return only("priorityClassName")
	case strings.Contains(message, "error looking up service account"):
		return only("serviceAccountName")
	case strings.Contains(message, `RuntimeClass "`):
		return only("runtimeClassName")
	}
	return func(top, _, _ string) bool { return true }
}

// Look is what shows details of a problem.
type Look string

const (
	LookNode       Look = "Node"       // the first node of the problem
	LookNodePorts  Look = "NodePorts"  // the host ports of all pods on that node
	LookPod        Look = "Pod"        // the first pod of the problem
	LookMemory     Look = "Memory"     // the memory usage of the containers of that pod
	LookLogs       Look = "Logs"       // the logs of the running container of that pod
	LookLastLogs   Look = "LastLogs"   // the logs of its previous container
	LookController Look = "Controller" // which kube-controller-manager is the leader
	LookQuota      Look = "Quota"      // the ResourceQuota
	LookQuotas     Look = "Quotas"     // all ResourceQuotas of the namespace
	LookNamespace  Look = "Namespace"  // the namespace, whose labels set the Pod Security level
	LookSelector   Look = "Selector"   // the namespace, whose annotation selects nodes
	LookService    Look = "Service"    // the endpoints of the Service of a webhook
	LookEvents     Look = "Events"     // the events of the DaemonSet
)
