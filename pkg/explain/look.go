package explain

import (
	"cmp"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Look names what shows more of a problem.
type Look string

const (
	LookNode       Look = "Node"       // the first of its nodes
	LookNodePorts  Look = "NodePorts"  // the host ports of all pods on it
	LookPod        Look = "Pod"        // the first of its pods
	LookLogs       Look = "Logs"       // the logs of the container that runs in it
	LookLastLogs   Look = "LastLogs"   // those of the container before that
	LookController Look = "Controller" // whether a kube-controller-manager leads
	LookQuota      Look = "Quota"      // the ResourceQuota
	LookQuotas     Look = "Quotas"     // all ResourceQuotas of the namespace
	LookNamespace  Look = "Namespace"  // the namespace, whose labels set what Pod Security allows
	LookSelector   Look = "Selector"   // the annotations of the namespace, one of which selects nodes
	LookEvents     Look = "Events"     // the DaemonSet's events
)

var looks = map[daemonset.Reason]Look{
	cause.NodeNotReady: LookNode, cause.TerminatingOnDeadNode: LookNode, cause.InsufficientResources: LookNode, cause.DoesNotFit: LookNode, cause.NextRolloutStalls: LookNode, cause.Misscheduled: LookNode,
	cause.VirtualNode: LookNode, cause.ExcludedButCounted: LookSelector, cause.HostPortConflict: LookNodePorts, cause.CrashLoopBackOff: LookLastLogs, cause.ProbeFailing: LookLogs, cause.InitRunning: LookLogs,
	cause.ControllerSilent: LookController, GenerationNotObserved: LookController, StaleStatus: LookController, cause.FailedCreate: LookEvents,
}

// LookInto returns what shows more of a problem; empty where it names no node and
// no pod to look at, or where something that is a problem too holds up the status.
func LookInto(p *Problem) Look {
	look := cmp.Or(looks[p.Code], LookPod)
	if p.Subject.Kind == cause.SubjectNodeCondition && p.Code != daemonset.NodeGone {
		look = LookNode
	}
	switch look {
	case LookNode, LookNodePorts:
		if len(p.Nodes) == 0 {
			return ""
		}
	case LookPod, LookLogs, LookLastLogs:
		if len(p.Pods) == 0 {
			return ""
		}
	case LookController:
		if p.Facts["heldUpBy"] != nil {
			return ""
		}
	case LookEvents:
		if p.Subject.Kind == cause.SubjectQuota && p.Subject.Name == "" {
			return LookQuotas
		}
		return cmp.Or(map[cause.SubjectKind]Look{cause.SubjectQuota: LookQuota, cause.SubjectPolicy: LookNamespace}[p.Subject.Kind], LookEvents)
	}
	return look
}
