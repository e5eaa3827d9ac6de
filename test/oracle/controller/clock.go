package controller

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// clockShift shifts the ready times of pods so that they mean the same under the real clock, which
// cannot be replaced. The zero clockShift is for controllers that do not read the real clock.
type clockShift struct {
	by    time.Duration
	until time.Time // when the shifted times stop meaning the same
}

// slack is how long after a shift a pod that becomes available at the moment of the state is not
// yet available under the real clock. States contain no finer times except whole seconds.
const slack = 200 * time.Millisecond

// shift returns the shift that makes now the present, and how long it is valid.
func (a Adapter) shift(now time.Time, slack time.Duration) clockShift {
	if !a.RealClock {
		return clockShift{}
	}
	until := time.Now().Add(slack)
	return clockShift{by: until.Sub(now), until: until}
}

// ranOut reports whether the shift was no longer valid at the end.
func (c clockShift) ranOut() bool { return !c.until.IsZero() && time.Now().After(c.until) }

// pod returns a copy of the pod with shifted times.
func (c clockShift) pod(p *corev1.Pod) *corev1.Pod {
	p = p.DeepCopy()
	for i := range p.Status.Conditions {
		if t := &p.Status.Conditions[i].LastTransitionTime; !t.IsZero() {
			t.Time = t.Add(c.by)
		}
	}
	return p
}
