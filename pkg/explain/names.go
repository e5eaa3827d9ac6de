package explain

import "github.com/kubectl-ds/kubectl-ds/pkg/cause"

// What an Explanation holds of package cause, for those who read an
// Explanation and nothing else.
type (
	Cause    = cause.Cause
	Severity = cause.Severity
)

const (
	Error   = cause.Error
	Warning = cause.Warning
	Info    = cause.Info
)

const (
	NodeNotReady          = cause.NodeNotReady
	TerminatingOnDeadNode = cause.TerminatingOnDeadNode
	CreateRefused         = cause.CreateRefused
	OOMKilled             = cause.OOMKilled
	CrashLoop             = cause.CrashLoop
	ImagePull             = cause.ImagePull
	FailedMount           = cause.FailedMount
	SandboxFailed         = cause.SandboxFailed
	ContainerConfig       = cause.ContainerConfig
	ContainerCreating     = cause.ContainerCreating
	InitRunning           = cause.InitRunning
	ProbeFailing          = cause.ProbeFailing
	InsufficientResources = cause.InsufficientResources
	HostPortConflict      = cause.HostPortConflict
	PendingUnschedulable  = cause.PendingUnschedulable
	EvictLoop             = cause.EvictLoop
	Terminating           = cause.Terminating
	Starting              = cause.Starting
	NoPod                 = cause.NoPod
)
