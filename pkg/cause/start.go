package cause

import (
	"math"
	"slices"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Starts are the start times of pods of a DaemonSet, from creation to Ready, in seconds, shortest first.
type Starts struct {
	Seconds []float64
	Updated bool // all of them are for pods of the current revision

	Fresh, Old []float64 // start times for the current revision and for other revisions, regardless of their number
	Future     int       // pods that were ignored because they are Ready after the time of the Snapshot
}

// fewestStarts is the number of pods that are necessary to measure start times.
const fewestStarts = 3

// StartsOf returns the start times of pods of the current revision if there are three of them, otherwise those of all
// pods, or none if there are fewer than three.
//
// Only ready pods that have never restarted count. A pod that becomes Ready in the future is ignored, because the clock
// of its node is ahead by an unknown time.
func StartsOf(st *daemonset.State) Starts {
	var s Starts
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			switch took, ok := startTime(p); {
			case ok && p.Object.CreationTimestamp.Add(took).After(st.At):
				s.Future++
			case ok && p.Updated:
				s.Fresh = append(s.Fresh, took.Seconds())
			case ok:
				s.Old = append(s.Old, took.Seconds())
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

func startTime(p *daemonset.Pod) (took time.Duration, ok bool) {
	if !p.Ready || p.Terminating || p.Object.CreationTimestamp.IsZero() {
		return 0, false
	}
	restarted := func(of []corev1.ContainerStatus) bool {
		return slices.ContainsFunc(of, func(s corev1.ContainerStatus) bool { return s.RestartCount > 0 })
	}
	if restarted(p.Object.Status.InitContainerStatuses) || restarted(p.Object.Status.ContainerStatuses) {
		return 0, false
	}
	c := condition(p.Object, corev1.PodReady)
	if c == nil {
		return 0, false
	}
	took = c.LastTransitionTime.Sub(p.Object.CreationTimestamp.Time)
	return took, took >= 0
}

// Quantile returns the shortest start time that is not exceeded by at least this fraction of the starts. There must be
// at least one.
func (s Starts) Quantile(part float64) float64 {
	return s.Seconds[max(0, int(math.Ceil(part*float64(len(s.Seconds))))-1)]
}

// slowest returns the longest start time. Times of more than Patience count only if every tenth pod took that long,
// because a pod that was briefly unready looks as if it had taken days to start.
func (s Starts) slowest() time.Duration {
	longest := s.Quantile(0.9)
	if n := s.within(Patience); n > 0 {
		longest = max(longest, s.Seconds[n-1])
	}
	return time.Duration(longest * float64(time.Second))
}

// within returns how many starts took at most that long.
func (s Starts) within(most time.Duration) int {
	return sort.Search(len(s.Seconds), func(i int) bool { return s.Seconds[i] > most.Seconds() })
}

// compare adds to the facts of a pod that is not ready the slowest start of other pods, and how many were ready by
// then.
func (s Starts) compare(f daemonset.Facts) {
	if len(s.Seconds) == 0 {
		return
	}
	slowest := s.slowest()
	f["slowestStart"], f["starts"] = int(slowest.Round(time.Second).Seconds()), s.within(slowest)
}

// A pod is late if it takes longer than any other pod did, and also at least twice as long as pods usually take. No pod
// is late before the first of these times, and after the second one the factor of two is not required. The longer times
// apply if the pod shows no failure and can be compared only with pods of other revisions, whose image may have been
// present already. If there is nothing to compare with, a pod is late only if the kubelet reports a failure.
const (
	soonestLate, usualStart  = 10 * time.Second, 30 * time.Second
	soonestFirst, usualFirst = 30 * time.Second, 2 * time.Minute
	lateByEvent              = time.Minute
)

// A pod that is not ready is expected to stay that way if it takes five times as long as the slowest of the others, and
// at least the following times. TestForecasts in test/oracle checks these limits. The minimum matters if other pods
// start in seconds: a pod may need something that they did not need, such as the first pull of an image.
const (
	stayFactor  = 5
	stayByEvent = time.Minute     // if the kubelet reports a failure
	stayByAge   = 2 * time.Minute // otherwise
)

// patience returns after which time a pod is expected to stay as it is. whole is measured from the creation of the pod,
// own from the start of its containers. If there are too few pods of the current revision to measure start times, own
// is doubled. If start times are unknown, both are Patience.
func (cs *Causes) patience(fails bool) (whole, own time.Duration) {
	if len(cs.starts().Seconds) == 0 {
		return Patience, Patience
	}
	own = stayByAge
	if fails {
		own = stayByEvent
	}
	if !cs.starts().Updated {
		own *= 2
	}
	return max(own, stayFactor*cs.starts().slowest()), own
}

// stays reports whether a pod is expected to stay as it is. began is when its containers began to start.
func (cs *Causes) stays(o *corev1.Pod, began time.Time, fails bool) bool {
	whole, own := cs.patience(fails)
	return cs.at.Sub(o.CreationTimestamp.Time) >= whole && cs.at.Sub(began) >= own
}

// markLate marks the cause of a pod that is not ready and takes longer than any other pod of the DaemonSet did. It may
// still become ready, but needs attention.
func (cs *Causes) markLate(p *daemonset.Pod, c *Cause) {
	if c.Facts["found"] != nil || c.Code == WaitingForRoom || p.Ready || p.Terminating ||
		p.Object.Status.Phase == corev1.PodFailed || p.Object.Status.Phase == corev1.PodSucceeded {
		return
	}
	if c.Severity == SeverityError {
		if c.Code == ProbeFailing {
			cs.starts().compare(c.Facts)
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
	case len(cs.starts().Seconds) > 0:
		slowest := cs.starts().slowest()
		soonest, usual := soonestLate, usualStart
		if c.Code == Starting && !cs.starts().Updated {
			soonest, usual = soonestFirst, usualFirst
		}
		if age <= max(slowest, min(usual, max(soonest, 2*slowest))) {
			return
		}
		cs.starts().compare(c.Facts)
	case c.Code == Starting || age <= lateByEvent:
		return
	}
	whole, _ := cs.patience(c.Code != Starting)
	c.Severity, c.Facts["late"], c.Facts["patience"] = SeverityWarning, true, int(whole.Seconds())
}
