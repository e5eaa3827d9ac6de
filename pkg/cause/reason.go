package cause

import "github.com/kubectl-ds/kubectl-ds/pkg/daemonset"

const (
	NodeNotReady           daemonset.Reason = "NodeNotReady"
	TerminatingOnDeadNode  daemonset.Reason = "TerminatingOnDeadNode"
	FailedCreate           daemonset.Reason = "FailedCreate"
	OOMKilled              daemonset.Reason = "OOMKilled"
	CrashLoopBackOff       daemonset.Reason = "CrashLoopBackOff"
	ImagePullBackOff       daemonset.Reason = "ImagePullBackOff"
	FailedMount            daemonset.Reason = "FailedMount"
	FailedCreatePodSandBox daemonset.Reason = "FailedCreatePodSandBox"
	ContainerConfig        daemonset.Reason = "ContainerConfig"
	ContainerCreating      daemonset.Reason = "ContainerCreating"
	InitRunning            daemonset.Reason = "InitRunning"
	ProbeFailing           daemonset.Reason = "ProbeFailing"
	InsufficientResources  daemonset.Reason = "InsufficientResources"
	HostPortConflict       daemonset.Reason = "HostPortConflict"
	PendingUnschedulable   daemonset.Reason = "PendingUnschedulable"
	EvictLoop              daemonset.Reason = "EvictLoop"
	Terminating            daemonset.Reason = "Terminating"
	Starting               daemonset.Reason = "Starting"
	NoPod                  daemonset.Reason = "NoPod"

	NoEligibleNode    daemonset.Reason = "NoEligibleNode"    // about all nodes: see NoneEligible
	NextRolloutStalls daemonset.Reason = "NextRolloutStalls" // about a rollout to come: see Outlook
)

// Reasons lists every Reason that this package adds to daemonset.Reasons.
var Reasons = []daemonset.Reason{
	NodeNotReady, TerminatingOnDeadNode, FailedCreate, OOMKilled, CrashLoopBackOff, ImagePullBackOff, FailedMount, FailedCreatePodSandBox, ContainerConfig, ContainerCreating, InitRunning,
	ProbeFailing, InsufficientResources, HostPortConflict, PendingUnschedulable, EvictLoop, Terminating, Starting, NoPod, NoEligibleNode, NextRolloutStalls,
}

// ofContainer are the causes that containers give: a bad revision gives them
// to all of its pods.
var ofContainer = map[daemonset.Reason]bool{
	OOMKilled: true, CrashLoopBackOff: true, ImagePullBackOff: true, FailedMount: true, FailedCreatePodSandBox: true, ContainerConfig: true, ContainerCreating: true, InitRunning: true, ProbeFailing: true,
}

// OfContainer reports whether a cause is one that containers give.
func OfContainer(code daemonset.Reason) bool { return ofContainer[code] }
