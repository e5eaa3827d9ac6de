package explain

import "github.com/kubectl-ds/kubectl-ds/pkg/daemonset"

// Columns: why a node does or does not count.
const (
	HasPod       daemonset.Reason = "HasPod"
	NoPod        daemonset.Reason = "NoPod"
	Ready        daemonset.Reason = "Ready"
	UpToDate     daemonset.Reason = "UpToDate"
	OutOfDate    daemonset.Reason = "OutOfDate"
	Misscheduled daemonset.Reason = "Misscheduled"
)

// Problems, in the order in which they are reported: cause before
// consequence.
const (
	ControllerSilent        daemonset.Reason = "ControllerSilent"
	GenerationNotObserved   daemonset.Reason = "NotObserved"
	NodeNotReady            daemonset.Reason = "NodeNotReady"
	TerminatingOnDeadNode   daemonset.Reason = "TerminatingOnDeadNode"
	CreateRefused           daemonset.Reason = "CreateRefused"
	OOMKilled               daemonset.Reason = "OOMKilled"
	CrashLoop               daemonset.Reason = "CrashLoop"
	ImagePull               daemonset.Reason = "ImagePull"
	FailedMount             daemonset.Reason = "FailedMount"
	SandboxFailed           daemonset.Reason = "SandboxFailed"
	ContainerConfig         daemonset.Reason = "ContainerConfig"
	ContainerCreating       daemonset.Reason = "ContainerCreating"
	InitRunning             daemonset.Reason = "InitRunning"
	ProbeFailing            daemonset.Reason = "ProbeFailing"
	InsufficientResources   daemonset.Reason = "InsufficientResources"
	HostPortConflict        daemonset.Reason = "HostPortConflict"
	PendingUnschedulable    daemonset.Reason = "PendingUnschedulable"
	EvictLoop               daemonset.Reason = "EvictLoop"
	Terminating             daemonset.Reason = "Terminating"
	Starting                daemonset.Reason = "Starting"
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
	daemonset.NodeGone, TerminatingOnDeadNode, NodeNotReady,
	CreateRefused, OOMKilled, CrashLoop, ImagePull, FailedMount, SandboxFailed, ContainerConfig, ContainerCreating, InitRunning, ProbeFailing,
	SurgeHostPort, HostPortConflict, InsufficientResources, PendingUnschedulable, EvictLoop, daemonset.FailedPod, daemonset.SucceededPod,
	Terminating, daemonset.NotReady, Starting, daemonset.NotYetAvailable, NoPod,
	OnDeleteOutdated, DuplicateRevisions, daemonset.Duplicate, Adopt, daemonset.ReleasedPod, Foreign, daemonset.NoTargetNode, Misscheduled, StaleStatus,
	DisruptionBudgetIgnored,
}

// Reasons lists every Reason that this package adds to daemonset.Reasons.
var Reasons = []daemonset.Reason{
	HasPod, NoPod, Ready, UpToDate, OutOfDate, Misscheduled,
	ControllerSilent, GenerationNotObserved, NodeNotReady, TerminatingOnDeadNode, CreateRefused, OOMKilled, CrashLoop, ImagePull, FailedMount, SandboxFailed,
	ContainerConfig, ContainerCreating, InitRunning, ProbeFailing, InsufficientResources, HostPortConflict, PendingUnschedulable, EvictLoop, Terminating, Starting,
	SurgeHostPort, OnDeleteOutdated, DisruptionBudgetIgnored, DuplicateRevisions, Adopt, Foreign, StaleStatus, Moving,
}
