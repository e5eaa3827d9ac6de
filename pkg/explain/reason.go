package explain

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Columns: why a node does or does not count.
const (
	HasPod       daemonset.Reason = "HasPod"
	Ready        daemonset.Reason = "Ready"
	UpToDate     daemonset.Reason = "UpToDate"
	OutOfDate    daemonset.Reason = "OutOfDate"
	Misscheduled daemonset.Reason = "Misscheduled"
)

// Problems of the DaemonSet as a whole, and of pods in the wrong place or
// hands. What is wrong on a node is a cause.
const (
	ControllerSilent        daemonset.Reason = "ControllerSilent"
	GenerationNotObserved   daemonset.Reason = "NotObserved"
	SurgeHostPort           daemonset.Reason = "SurgeHostPort"
	OnDeleteOutdated        daemonset.Reason = "OnDeleteOutdated"
	DisruptionBudgetIgnored daemonset.Reason = "DisruptionBudgetIgnored"
	Adopt                   daemonset.Reason = "Adopt"
	Foreign                 daemonset.Reason = "Foreign"
	DuplicateRevisions      daemonset.Reason = "DuplicateRevisions"
	StaleStatus             daemonset.Reason = "StaleStatus"
	Moving                  daemonset.Reason = "Moving"
	Deleting                daemonset.Reason = "BeingDeleted"
)

// problemOrder is the order of problems: a problem stands after those that
// can be its cause.
var problemOrder = []daemonset.Reason{
	Deleting, ControllerSilent, GenerationNotObserved, daemonset.InvalidBudget, daemonset.VanishedNodeInSurge,
	daemonset.NodeGone, cause.TerminatingOnDeadNode, cause.NodeNotReady,
	cause.FailedCreate, cause.OOMKilled, cause.CrashLoopBackOff, cause.ImagePullBackOff, cause.FailedMount, cause.FailedCreatePodSandBox, cause.ContainerConfig, cause.ContainerCreating, cause.InitRunning, cause.ProbeFailing,
	SurgeHostPort, cause.HostPortConflict, cause.InsufficientResources, cause.PendingUnschedulable, cause.EvictLoop, daemonset.FailedPod, daemonset.SucceededPod,
	cause.Terminating, daemonset.NotReady, cause.Starting, daemonset.NotYetAvailable, cause.NoPod,
	cause.NoEligibleNode, cause.NextRolloutStalls, OnDeleteOutdated, DuplicateRevisions, daemonset.Duplicate, Adopt, daemonset.ReleasedPod, Foreign, daemonset.NoTargetNode, Misscheduled, StaleStatus,
	DisruptionBudgetIgnored,
}

// Reasons lists every Reason of an Explanation that is none of
// daemonset.Reasons.
var Reasons = slices.Concat(cause.Reasons, []daemonset.Reason{
	HasPod, Ready, UpToDate, OutOfDate, Misscheduled,
	ControllerSilent, GenerationNotObserved, SurgeHostPort, OnDeleteOutdated, DisruptionBudgetIgnored, DuplicateRevisions, Adopt, Foreign, StaleStatus, Moving,
})
