package daemonset

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// readyCondition returns the pod's Ready condition, or nil.
func readyCondition(p *corev1.Pod) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == corev1.PodReady {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// available reports whether the pod has been ready for minReadySeconds, and
// when it came or comes to that if it stays ready; zero when it is not ready,
// or does not say since when. Of a pod that is not ready the reason is NotReady.
//
// Whether the pod is terminating does not matter. Without minReadySeconds a
// ready pod is available, even one that became ready in the future. From 1.34
// on (#132122) the pod is available at that moment, before only after it.
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
