package daemonset

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// readyCondition returns the pod's Ready condition, or nil if it has none.
func readyCondition(p *corev1.Pod) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == corev1.PodReady {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// available reports whether the pod has been ready for minReadySeconds, and
// returns the time at which it became or becomes available if it stays ready.
// The time is zero for a pod that is not ready, or whose Ready condition has no
// time. The reason is NotReady for a pod that is not ready.
//
// A terminating pod can be available. Without minReadySeconds every ready pod
// is available, even if its Ready time is in the future. Since 1.34 (#132122)
// the pod is available at that very moment; before 1.34, only after it.
func available(p *corev1.Pod, minReadySeconds int32, now time.Time, profile Profile) (v Verdict, at time.Time) {
	c := readyCondition(p)
	if c == nil || c.Status != corev1.ConditionTrue {
		return Verdict{Reason: NotReady}, at
	}
	if since := c.LastTransitionTime.Time; !since.IsZero() {
		at = since.Add(time.Duration(minReadySeconds) * time.Second).UTC()
	}
	switch {
	case minReadySeconds == 0,
		!at.IsZero() && at.Before(now),
		!at.IsZero() && at.Equal(now) && profile.AvailableInclusive:
		return Verdict{OK: true, Reason: Available}, at
	}
	return Verdict{Reason: NotYetAvailable, Facts: Facts{"minReadySeconds": int(minReadySeconds)}}, at
}
