package cause_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// TestOtherSystem checks the behavior of kubelets: they reject a pod whose spec.os.name, or whose own label
// kubernetes.io/os, differs from the system that the kubelet was built for.
func TestOtherSystem(t *testing.T) {
	for _, tt := range []struct {
		os, podLabel    string // of the template
		runs, nodeLabel string // of the node
		want            string // the system that the template requires, if the node has another one
		why             string
	}{
		{"linux", "", "windows", "", "linux", "spec.os.name is not what the kubelet runs on"},
		{"linux", "", "linux", "", "", "it is"},
		{"linux", "", "", "windows", "linux", "the label of the node, where the kubelet's word is not in the input"},
		{"linux", "", "linux", "windows", "", "the kubelet goes by what it runs on, and corrects the label"},
		{"linux", "", "", "", "", "nobody knows what the node runs"},
		{"", "", "windows", "windows", "", "a template that does not say"},
		{"", "linux", "windows", "", "linux", "the pod's own label"},
		{"", "windows", "windows", "", "", "the label that fits"},
		{"windows", "linux", "windows", "", "linux", "the label is compared first"},
		{"linux", "windows", "windows", "", "linux", "spec.os.name counts beside a label that fits"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			n := &daemonset.Node{Object: &corev1.Node{}}
			n.Object.Status.NodeInfo.OperatingSystem = tt.runs
			template := &corev1.PodTemplateSpec{}
			if tt.os != "" {
				template.Spec.OS = &corev1.PodOS{Name: corev1.OSName(tt.os)}
			}
			if tt.podLabel != "" {
				template.Labels = map[string]string{corev1.LabelOSStable: tt.podLabel}
			}
			if tt.nodeLabel != "" {
				n.Object.Labels = map[string]string{corev1.LabelOSStable: tt.nodeLabel}
			}
			var want *cause.Cause
			if tt.want != "" {
				runs := tt.runs
				if runs == "" {
					runs = tt.nodeLabel
				}
				want = &cause.Cause{Code: cause.PodOSNotSupported, Severity: cause.SeverityError, Facts: daemonset.Facts{"want": tt.want, "platform": runs}}
			}
			if diff := cmp.Diff(want, cause.OtherSystem(n, template)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := cause.OtherSystem(&daemonset.Node{}, &corev1.PodTemplateSpec{Spec: corev1.PodSpec{OS: &corev1.PodOS{Name: corev1.Linux}}}); got != nil {
		t.Errorf("a node that is gone: %v", got)
	}
}
