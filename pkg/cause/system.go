package cause

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// OtherSystem returns that the kubelet of a node rejects every pod of a template, since
// the template is for another operating system: spec.os.name is not the one that the
// node runs, or its label kubernetes.io/os, which a kubelet compares too (from 1.24 on;
// before, the API server drops spec.os). Such a pod fails, the controller deletes it and
// creates the next one. It returns nil if the kubelet does not, and where the node does
// not say what it runs. A nodeSelector is none of its business: see Placement.
func OtherSystem(n *daemonset.Node, t *corev1.PodTemplateSpec) *Cause {
	if n.Object == nil {
		return nil
	}
	runs, want := cmp.Or(n.Object.Status.NodeInfo.OperatingSystem, n.Object.Labels[corev1.LabelOSStable]),
		t.Labels[corev1.LabelOSStable]
	if t.Spec.OS != nil && (want == "" || want == runs) {
		want = string(t.Spec.OS.Name)
	}
	if runs == "" || want == "" || want == runs {
		return nil
	}
	return &Cause{Code: PodOSNotSupported, Severity: SeverityError,
		Facts: daemonset.Facts{"want": want, "platform": runs}}
}
