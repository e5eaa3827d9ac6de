package cause

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// virtualLabels are the labels of nodes behind which no machine with a kubelet is: AWS Fargate, and
// nodes of Virtual Kubelet. They run single pods for which they were made, and none of DaemonSets.
var virtualLabels = map[string]string{"eks.amazonaws.com/compute-type": "fargate", "type": "virtual-kubelet"}

// VirtualLabel returns the label that says that a node is virtual; empty for others.
func VirtualLabel(n *corev1.Node) (key, value string) {
	for key, value := range virtualLabels {
		if n != nil && n.Labels[key] == value {
			return key, value
		}
	}
	return "", ""
}

// virtual returns that a node is virtual and should run the pod all the same, which it
// never will; nil for others, and where a pod is available there.
func (cs *Causes) virtual(n *daemonset.Node) *Cause {
	key, value := VirtualLabel(n.Object)
	if key == "" || !n.ShouldRun.OK || n.Membership().Available {
		return nil
	}
	return &Cause{Code: VirtualNode, Severity: SeverityError, Facts: daemonset.Facts{"key": key, "want": value}}
}
