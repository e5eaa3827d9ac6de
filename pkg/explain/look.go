package explain

import (
	"cmp"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// LookInto returns what to look at to learn more about a problem. It is empty
// if the problem names no node or pod, or if another problem holds up the
// status.
func LookInto(p *Problem) cause.Look {
	look := cause.LookOf(p.Code)
	if p.Code == GenerationNotObserved || p.Code == StaleStatus {
		look = cause.LookController
	}
	ofNode := p.Blame != nil && p.Blame.Who == cause.WhoNode &&
		(p.Facts["nodeReports"] != nil || p.Code == cause.OOMKilled)
	if p.Subject.Kind == cause.SubjectNodeCondition && p.Code != daemonset.NodeGone || ofNode {
		look = cause.LookNode
	}
	switch look {
	case cause.LookNode, cause.LookNodePorts:
		if len(p.Nodes) == 0 {
			return ""
		}
	case cause.LookPod, cause.LookMemory, cause.LookLogs, cause.LookLastLogs:
		if len(p.Pods) == 0 {
			return ""
		}
	case cause.LookController:
		if p.Facts["heldUpBy"] != nil {
			return ""
		}
	case cause.LookEvents:
		if p.Facts["service"] != nil {
			return cause.LookService
		}
		if p.Subject.Kind == cause.SubjectQuota && p.Subject.Name == "" {
			return cause.LookQuotas
		}
		return cmp.Or(map[cause.SubjectKind]cause.Look{cause.SubjectQuota: cause.LookQuota,
			cause.SubjectPolicy: cause.LookNamespace}[p.Subject.Kind], cause.LookEvents)
	}
	return look
}
