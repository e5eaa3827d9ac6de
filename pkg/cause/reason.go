package cause

import (
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

const (
	// NodeNotReady: the pod is not available, and its node is NotReady
	// Severity: Error, Warning in the first 5 minutes if the kubelet itself reports it
	// Facts: status, reason, message, lastHeartbeat, purpose, purposeReason, purposeSince, setBy, cordoned,
	// cordonedSince
	NodeNotReady daemonset.Reason = "NodeNotReady"
	// TerminatingOnDeadNode: a pod is terminating on a node that is NotReady, so no kubelet can finish it
	// Severity: Error, Warning in the first 5 minutes if the kubelet itself reports it, or after the node was declared
	// out of service
	// Facts: status, reason, message, lastHeartbeat, deletionAsked, outOfService, purpose, purposeReason, purposeSince,
	// setBy, cordoned, cordonedSince
	TerminatingOnDeadNode daemonset.Reason = "TerminatingOnDeadNode"
	// ControllerSilent: the controller has a pod to create or to delete, but has not written a status for more than 5
	// minutes in which nothing changed and nothing was rejected; requires that the events were read
	// Severity: Error
	// Facts: lease, renewed
	ControllerSilent daemonset.Reason = "ControllerSilent"
	// FailedCreate: the API server rejects the pod because of a quota, a policy or a webhook. Either an event says so,
	// and no pod was created after it, or the rules in `admission` do
	// Severity: Error
	// Facts: events, last, message, predicted, rule, rejects, name, admits, uncalled, service, serviceNamespace,
	// noNetwork, needs
	FailedCreate daemonset.Reason = "FailedCreate"
	// OOMKilled: a container was killed because it ran out of memory; with `ready` it is running again, and its pod is
	// available
	// Severity: Error, Warning if the pod is available
	// Facts: container, init, exitCode, restarts, reason, message, ready, limited, limitRange, memoryLimit, addedBy,
	// nodeReports
	OOMKilled daemonset.Reason = "OOMKilled"
	// CrashLoopBackOff: a container keeps exiting; with `ready` it is running again, and its pod is available
	// Severity: Error, Warning if the pod is available
	// Facts: container, init, exitCode, restarts, reason, message, ready, addedBy, platform, platforms, nodeReports,
	// furtherMessages, nodeWaits, joined, stopped
	CrashLoopBackOff daemonset.Reason = "CrashLoopBackOff"
	// ImagePullBackOff: an image cannot be pulled
	// Severity: Error
	// Facts: container, init, image, reason, message, kind, name, platform, templateImage, addedLabel
	ImagePullBackOff daemonset.Reason = "ImagePullBackOff"
	// PullingImage: an image is being pulled, without a sign of failure
	// Severity: Info, Warning when late
	// Facts: container, init, image, reason, late, patience, slowestStart, starts
	PullingImage daemonset.Reason = "PullingImage"
	// FailedMount: an event says that a volume, a Secret or a ConfigMap cannot be mounted
	// Severity: Info, Warning when late, Error when expected to stay
	// Facts: container, init, reason, message, kind, name, key, field, volume, claim, oneNode, noHostPath, late,
	// patience, slowestStart, starts, hostPath, hostPathType, osImage
	FailedMount daemonset.Reason = "FailedMount"
	// FailedCreatePodSandBox: an event says that the pod's sandbox or its network cannot be set up
	// Severity: Info, Warning when late, Error when expected to stay
	// Facts: container, init, reason, message, noRoutes, networkReason, late, patience, slowestStart, starts
	FailedCreatePodSandBox daemonset.Reason = "FailedCreatePodSandBox"
	// ContainerConfig: the kubelet cannot create or start the container: a missing key, a wrong command, a path that
	// the node does not have
	// Severity: Error
	// Facts: container, init, reason, message, kind, name, key, field, variable, platform, noHostPath, hostPath,
	// hostPathType, osImage
	ContainerConfig daemonset.Reason = "ContainerConfig"
	// ContainerCreating: a container has not started, is expected to stay that way, and the cause is unknown
	// Severity: Error
	// Facts: container, init, reason, message
	ContainerCreating daemonset.Reason = "ContainerCreating"
	// InitRunning: an init container is running, is expected to stay that way, and the other containers wait for it
	// Severity: Error
	// Facts: container, init
	InitRunning daemonset.Reason = "InitRunning"
	// ProbeFailing: a container is running but not ready: an event reports a failing probe, or the container is
	// expected to stay that way
	// Severity: Info, Warning when late, Error when expected to stay or restarted
	// Facts: container, init, startedAt, restarts, message, late, patience, slowestStart, starts, probe, sidecar,
	// nodeReports
	ProbeFailing daemonset.Reason = "ProbeFailing"
	// InsufficientResources: the node has no room for the pod
	// Severity: Error
	// Facts: reason, resources, message, plugin, requested, allocatable, free, beyond, others, preemption, topmost,
	// evicts
	InsufficientResources daemonset.Reason = "InsufficientResources"
	// WaitingForRoom: the pod fits once the `awaited` pods of its node are gone. They are terminating: the scheduler
	// preempted them, or somebody deleted them
	// Severity: Info
	// Facts: awaited, endsBy
	WaitingForRoom daemonset.Reason = "WaitingForRoom"
	// HostPortConflict: one of the host ports that the pod needs is in use on its node
	// Severity: Error
	// Facts: reason, ports, message, plugin, holder, owner, ownerNamespace, ownerName, others, preemption, evicts
	HostPortConflict daemonset.Reason = "HostPortConflict"
	// DoesNotFit: a pod that the controller will create does not fit on its node, and preemption makes no room
	// Severity: Error
	// Facts: plugin, resources, requested, allocatable, free, beyond, others, preemption, topmost, ports, holder,
	// owner, ownerNamespace, ownerName, claim, persistentVolume, reachable, driver, limit, attached
	DoesNotFit daemonset.Reason = "DoesNotFit"
	// PendingUnschedulable: the scheduler cannot place the pod; `message` is its message about the one node that the
	// pod is for
	// Severity: Error
	// Facts: reason, message, kind, name, field, volume, plugin, others, preemption, claim, persistentVolume,
	// reachable, driver, limit, attached, added, again, selector, annotation
	PendingUnschedulable daemonset.Reason = "PendingUnschedulable"
	// VirtualNode: the node is virtual, such as a node of AWS Fargate: it runs no DaemonSet pods, but the rules of the
	// controller make it eligible
	// Severity: Error
	// Facts: key, want
	VirtualNode daemonset.Reason = "VirtualNode"
	// EvictLoop: pods fail, are deleted and fail again: at least three times on the node according to the controller's
	// events, the last time within 20 minutes
	// Severity: Error
	// Facts: reason, message, failures
	EvictLoop daemonset.Reason = "EvictLoop"
	// PodOSNotSupported: the kubelet rejects every pod of the template, because its `spec.os.name`, or its label
	// `kubernetes.io/os`, is not the operating system of the node
	// Severity: Error
	// Facts: want, platform
	PodOSNotSupported daemonset.Reason = "PodOSNotSupported"
	// ExcludedButCounted: only the node selector of the namespace excludes the node, so it gets no pod, but the rolling
	// update of OpenShift 4.11 to 4.19 counts it as a node without an available pod. `key` and `want` are the label
	// that the namespace requires, if it requires one
	// Severity: Info, Error while old pods are left
	// Facts: selector, annotation, key, want
	ExcludedButCounted daemonset.Reason = "ExcludedButCounted"
	// Terminating: the pod is terminating
	// Severity: Info, Error when overdue
	// Facts: overdue, finalizers, message
	Terminating daemonset.Reason = "Terminating"
	// Starting: the pod is starting, without a sign of failure. `found` is an object that its kubelet reported missing,
	// and that exists by now
	// Severity: Info, Warning when late
	// Facts: late, patience, slowestStart, starts, found
	Starting daemonset.Reason = "Starting"
	NoPod    daemonset.Reason = "NoPod" // the node has no pod

	// Misscheduled: a node that is not eligible has a pod, and the reason is not only that the node is NotReady. The
	// facts include those of the code in `because`
	// Severity: Info, Warning if a rollout deletes the pod for taints that the template could tolerate
	// Facts: because, stays, terminating, strandedBy, message, purpose, purposeReason, purposeSince, setBy
	Misscheduled daemonset.Reason = "Misscheduled"
	// NoEligibleNode: no node is eligible, although the cluster has nodes
	// Severity: Warning
	// Facts: nodes, losing, staying, changed, number, before, eligible, fields, nearest, excludedBy, selects, taints,
	// labels
	NoEligibleNode daemonset.Reason = "NoEligibleNode"
	// NextRolloutStalls: no rollout is in progress, and a simulation shows that a change to the template would not
	// reach every node. The nodes are those that would use up the limit or stay without an available pod
	// Severity: Warning
	// Facts: reason, replaced, replaces, atWorst, working, holders, field, limit, excluded
	NextRolloutStalls daemonset.Reason = "NextRolloutStalls"
)

// Reasons lists every Reason that this package adds to daemonset.Reasons.
var Reasons = []daemonset.Reason{
	NodeNotReady, TerminatingOnDeadNode, ControllerSilent, FailedCreate, OOMKilled, CrashLoopBackOff, ImagePullBackOff,
	PullingImage, FailedMount, FailedCreatePodSandBox, ContainerConfig, ContainerCreating, InitRunning,
	ProbeFailing, DoesNotFit, InsufficientResources, HostPortConflict, PendingUnschedulable, PodOSNotSupported,
	VirtualNode, EvictLoop, ExcludedButCounted, Terminating, WaitingForRoom, Starting, NoPod, Misscheduled,
	NoEligibleNode, NextRolloutStalls,
}
