package explain

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Columns: why a node does or does not count.
const (
	HasPod   daemonset.Reason = "HasPod"   // the node has a pod, in whatever state
	Ready    daemonset.Reason = "Ready"    // its first pod is ready
	UpToDate daemonset.Reason = "UpToDate" // its first pod is updated
	// OutOfDate: its first pod is not updated
	// Facts: revision
	OutOfDate daemonset.Reason = "OutOfDate"
)

// The rollout that deletes a pod without replacement: values of "strandedBy".
const (
	RolloutUnderWay = "UnderWay" // the one in progress
	RolloutNext     = "Next"     // the next one
	ByDeletion      = "Deletion" // none, under OnDelete: whoever deletes it
)

// Problems of the DaemonSet as a whole, and of pods with a wrong node or owner.
// Package cause has the problems of nodes.
const (
	// GenerationNotObserved: the status is for an older generation; with `heldUpBy` the controller may have handled
	// the newer one
	// Severity: Warning, Error after 5 minutes
	// Facts: generation, observed, heldUpBy, lease, renewed
	GenerationNotObserved daemonset.Reason = "NotObserved"
	// SurgeHostPort: the pod uses a host port, so under maxSurge no second pod can be scheduled beside it
	// Severity: Warning
	// Facts: ports
	SurgeHostPort daemonset.Reason = "SurgeHostPort"
	// OnDeleteOutdated: an old pod stays until you delete it
	// Severity: Info
	// Facts: revision, number
	OnDeleteOutdated daemonset.Reason = "OnDeleteOutdated"
	// DisruptionBudgetIgnored: a PodDisruptionBudget selects the pods of the template while a rolling update has old
	// ones to replace: the controller deletes pods, and only evictions respect the budget
	// Severity: Info
	// Facts: name, minAvailable, maxUnavailable
	DisruptionBudgetIgnored daemonset.Reason = "DisruptionBudgetIgnored"
	// Adopt: a pod without an owner, which the next sync adopts
	// Severity: Info
	Adopt daemonset.Reason = "Adopt"
	// Foreign: a pod that matches the selector but belongs to another owner
	// Severity: Warning
	// Facts: owner
	Foreign daemonset.Reason = "Foreign"
	// DuplicateRevisions: several revisions equal the live template: the next sync keeps one, deletes the others and
	// gives its hash to every pod, which then counts as updated even if it runs an old template
	// Severity: Warning
	// Facts: revisions, relabelled, number
	DuplicateRevisions daemonset.Reason = "DuplicateRevisions"
	// TaintedButSelected: the template selects the node by its labels, and does
	// not tolerate its taint, although other nodes are eligible. Taints of a
	// control plane, of node conditions and of nodes that are being removed do
	// not count
	// Severity: Info
	// Facts: taint, taints, key, value, effect, others, selects
	TaintedButSelected daemonset.Reason = "TaintedButSelected"
	// StaleStatus: the reported numbers differ from those that the controller's
	// rules compute, although nothing changed for 30 seconds
	// Severity: Warning
	// Facts: fields, heldUpBy, lease, renewed, missed
	StaleStatus daemonset.Reason = "StaleStatus"
	// Moving: something changed less than 30 seconds ago: the controller is about to write the status
	Moving daemonset.Reason = "Moving"
	// Deleting: the DaemonSet has a deletionTimestamp
	// Severity: Info
	// Facts: finalizers, pods
	Deleting daemonset.Reason = "BeingDeleted"
)

// ColumnReasons lists why an eligible node does or does not count in a column.
var ColumnReasons = []daemonset.Reason{HasPod, cause.NoPod, Ready, daemonset.NotReady, daemonset.Available,
	daemonset.NotYetAvailable, UpToDate, OutOfDate}

// DifferenceReasons lists why reported and computed numbers may differ.
var DifferenceReasons = []daemonset.Reason{
	// the status is for an older generation
	GenerationNotObserved,
	Moving,
	// a node to which a pod is assigned was deleted. No version of the controller reacts to that, so the
	// status stays until there is another change
	daemonset.NodeGone,
	// no other reason applies: the controller should have written the status, unless `heldUpBy` of the
	// problem gives the reason why it cannot
	StaleStatus,
}

// problemOrder is the order of problems: a problem follows those that can be
// its cause.
var problemOrder = []daemonset.Reason{
	Deleting, cause.ControllerSilent, GenerationNotObserved,
	// maxUnavailable or maxSurge cannot be resolved: the rolling update fails
	// Severity: Error
	// Facts: field
	daemonset.InvalidBudget,
	// an old pod is alone on a deleted node: every surge step fails until it is gone
	// Severity: Error
	// Facts: field
	daemonset.VanishedNodeInSurge,
	// a pod that is not available is assigned to a deleted node
	// Severity: Warning
	daemonset.NodeGone,
	cause.TerminatingOnDeadNode, cause.NodeNotReady,
	cause.FailedCreate, cause.OOMKilled, cause.CrashLoopBackOff, cause.ImagePullBackOff, cause.PullingImage,
	cause.FailedMount, cause.FailedCreatePodSandBox, cause.ContainerConfig, cause.ContainerCreating, cause.InitRunning,
	cause.ProbeFailing,
	SurgeHostPort, cause.DoesNotFit, cause.HostPortConflict, cause.InsufficientResources, cause.PendingUnschedulable,
	cause.PodOSNotSupported, cause.VirtualNode, cause.ExcludedButCounted, cause.EvictLoop,
	// the pod's phase is Failed; the controller deletes it
	// Severity: Warning
	// Facts: reason, message
	daemonset.FailedPod,
	// the pod's phase is Succeeded
	// Severity: Warning
	daemonset.SucceededPod,
	cause.Terminating,
	// the pod is not ready, is expected to stay so, and its containers do not
	// show why: a readiness gate, or no kubelet has seen it. In
	// `budget.holders` without a severity: the node has no available pod, and
	// nothing is wrong with it
	// Severity: Error
	// Facts: reason, message, conditions
	daemonset.NotReady,
	cause.WaitingForRoom, cause.Starting,
	// the pod is ready, but not yet for minReadySeconds
	// Severity: Info, Warning with a clock that is ahead
	// Facts: minReadySeconds, availableAt, clockSkew
	daemonset.NotYetAvailable,
	// an eligible node has no pod yet. With `lifted` the API server rejected
	// pods, the last one at `last`, and would admit one now; the controller
	// waits up to 1,000 seconds before it tries again
	// Severity: Warning, Error after 5 minutes, with `lifted` after that time
	// Facts: eventsRead, lifted, last
	cause.NoPod,
	cause.NoEligibleNode, cause.NextRolloutStalls, OnDeleteOutdated, DuplicateRevisions,
	// more than one pod on the node
	// Severity: Warning
	daemonset.Duplicate,
	Adopt,
	// the labels of a pod of the DaemonSet no longer match its selector: the next sync releases the pod
	// Severity: Warning
	daemonset.ReleasedPod,
	Foreign,
	// a pod is not assigned to any node; the controller ignores it
	// Severity: Warning
	daemonset.NoTargetNode,
	cause.Misscheduled, TaintedButSelected, StaleStatus,
	DisruptionBudgetIgnored,
}

// Reasons lists every Reason of an Explanation that is not in
// daemonset.Reasons.
var Reasons = slices.Concat(cause.Reasons, []daemonset.Reason{
	HasPod, Ready, UpToDate, OutOfDate,
	GenerationNotObserved, SurgeHostPort, OnDeleteOutdated, DisruptionBudgetIgnored, DuplicateRevisions, Adopt, Foreign,
	TaintedButSelected, StaleStatus, Moving,
})
