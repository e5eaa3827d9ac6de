package timing

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HasRestarted reports whether a container of a pod has restarted.
func HasRestarted(p *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses),
		func(c corev1.ContainerStatus) bool {
			return c.RestartCount > 0
		})
}

func isReady(p *corev1.Pod) bool { return ReadySince(p) != nil }

// ReadySince returns when a pod became Ready, or nil if it is not Ready.
func ReadySince(p *corev1.Pod) *metav1.Time {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return &c.LastTransitionTime
		}
	}
	return nil
}

// IsTerminal reports whether the phase of a pod is Failed or Succeeded.
func IsTerminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}
