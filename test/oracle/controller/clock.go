package controller

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// clockShift moves the times since when pods are ready to where they mean the
// same by the real clock, which cannot be replaced. The zero clockShift moves
// nothing: for a controller that never reads it.
type clockShift struct {
	by    time.Duration
	until time.Time // after it the shifted times mean something else
}

// slack is for how long after a shift a pod that is available at the very
// moment of the state is not yet so by the real clock. States know no finer
// times than this beside whole seconds.
const slack = 200 * time.Millisecond

// shift returns the shift that makes now the present, and for how long.
func (a Adapter) shift(now time.Time, slack time.Duration) clockShift {
	if !a.RealClock {
		return clockShift{}
	}
	until := time.Now().Add(slack)
	return clockShift{by: until.Sub(now), until: until}
}

// ranOut reports whether what was done since the shift took too long to count.
func (c clockShift) ranOut() bool { return !c.until.IsZero() && time.Now().After(c.until) }

// pod returns a copy of the pod.
func (c clockShift) pod(p *corev1.Pod) *corev1.Pod {
	p = p.DeepCopy()
	for i := range p.Status.Conditions {
		if t := &p.Status.Conditions[i].LastTransitionTime; !t.IsZero() {
			t.Time = t.Add(c.by)
		}
	}
	return p
}
