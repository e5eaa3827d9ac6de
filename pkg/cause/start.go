package cause

import (
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Starts are the seconds that pods of a DaemonSet took from their creation to
// Ready, shortest first.
type Starts struct {
	Seconds []float64
	Updated bool // all of them are of the current revision

	Fresh, Old []float64 // those of the current revision, and of others, however many there are
}

// fewestStarts is how many pods it takes to tell how long one needs to start.
const fewestStarts = 3

// StartsOf returns how long pods took to start: those of the current revision
// where there are three of them, else those of any, and none where there are
// fewer than three.
//
// A pod counts that never restarted and is ready.
func StartsOf(st *daemonset.State) Starts {
	var s Starts
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			switch took, ok := startTime(p); {
			case ok && p.Updated:
				s.Fresh = append(s.Fresh, took)
			case ok:
				s.Old = append(s.Old, took)
			}
		}
	}
	slices.Sort(s.Fresh)
	slices.Sort(s.Old)
	switch {
	case len(s.Fresh) >= fewestStarts:
		s.Seconds, s.Updated = s.Fresh, true
	case len(s.Fresh)+len(s.Old) >= fewestStarts:
		s.Seconds = slices.Sorted(slices.Values(slices.Concat(s.Fresh, s.Old)))
	}
	return s
}

func startTime(p *daemonset.Pod) (seconds float64, ok bool) {
	if !p.Ready || p.Terminating || p.Object.CreationTimestamp.IsZero() {
		return 0, false
	}
	statuses := slices.Concat(p.Object.Status.InitContainerStatuses, p.Object.Status.ContainerStatuses)
	if slices.ContainsFunc(statuses, func(s corev1.ContainerStatus) bool { return s.RestartCount > 0 }) {
		return 0, false
	}
	c := condition(p.Object, corev1.PodReady)
	if c == nil {
		return 0, false
	}
	took := c.LastTransitionTime.Sub(p.Object.CreationTimestamp.Time)
	return took.Seconds(), took >= 0
}

// Quantile returns the shortest of the starts that at least this part of them
// keeps to. There must be one.
func (s Starts) Quantile(part float64) float64 {
	return s.Seconds[max(0, int(math.Ceil(part*float64(len(s.Seconds))))-1)]
}

// slowest is the longest start. One of more than Patience counts only if every
// tenth pod took as long: a pod that lost readiness for a while looks as if it
// had needed days.
func (s Starts) slowest() time.Duration {
	longest := s.Quantile(0.9)
	for _, took := range s.Seconds {
		if took <= Patience.Seconds() {
			longest = max(longest, took)
		}
	}
	return time.Duration(longest * float64(time.Second))
}

// compare adds to the facts of a pod that is not ready what other pods took: the
// slowest of them, and how many were ready by then.
func (s Starts) compare(f daemonset.Facts) {
	if len(s.Seconds) == 0 {
		return
	}
	slowest, within := s.slowest(), 0
	for _, took := range s.Seconds {
		if took <= slowest.Seconds() {
			within++
		}
	}
	f["slowestStart"], f["starts"] = int(slowest.Round(time.Second).Seconds()), within
}

// How long a pod may take before it is called late, whatever others took. A pod
// whose starts cannot be compared with any needs the kubelet's word that
// something fails; one that can be compared with another revision's alone, whose
// image may have been there already, needs more time without that word.
const (
	soonestLate   = 30 * time.Second
	lateByEvent   = time.Minute
	lateByOldPods = 2 * time.Minute
)

// late marks the cause of a pod that is not ready yet and takes longer than any
// other pod of the DaemonSet did. It may still become ready, but there is reason
// to look.
func (cs *Causes) late(p *daemonset.Pod, c *Cause) {
	if p.Ready || p.Terminating || p.Object.Status.Phase == corev1.PodFailed || p.Object.Status.Phase == corev1.PodSucceeded {
		return
	}
	if c.Severity == SeverityError {
		if c.Code == ProbeFailing {
			cs.starts.compare(c.Facts)
		}
		return
	}
	began := p.Object.CreationTimestamp.Time
	for i := range p.Object.Status.ContainerStatuses {
		s := &p.Object.Status.ContainerStatuses[i]
		if r := s.State.Running; r != nil && s.RestartCount > 0 && r.StartedAt.After(began) {
			began = r.StartedAt.Time
		}
	}
	age := cs.at.Sub(began)
	switch {
	case len(cs.starts.Seconds) > 0:
		slowest := cs.starts.slowest()
		soonest := soonestLate
		if c.Code == Starting && !cs.starts.Updated {
			soonest = lateByOldPods
		}
		if age <= max(slowest, soonest) {
			return
		}
		cs.starts.compare(c.Facts)
	case c.Code == Starting || age <= lateByEvent:
		return
	}
	c.Severity, c.Facts["late"] = SeverityWarning, true
}
