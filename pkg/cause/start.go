package cause

import (
	"math"
	"slices"
	"sort"
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
	Future     int       // pods that are left out: Ready after the time of the Snapshot
}

// fewestStarts is how many pods it takes to tell how long one needs to start.
const fewestStarts = 3

// StartsOf returns how long pods took to start: those of the current revision
// where there are three of them, else those of any, and none where there are
// fewer than three.
//
// A pod counts that never restarted and is ready. One that is Ready in the future was
// not measured: the clock of its node is ahead, by an unknown time.
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
	if n := s.within(Patience); n > 0 {
		longest = max(longest, s.Seconds[n-1])
	}
	return time.Duration(longest * float64(time.Second))
}

// within returns how many of the starts took no longer.
func (s Starts) within(most time.Duration) int {
	return sort.Search(len(s.Seconds), func(i int) bool { return s.Seconds[i] > most.Seconds() })
}

// compare adds to the facts of a pod that is not ready what other pods took: the
// slowest of them, and how many were ready by then.
func (s Starts) compare(f daemonset.Facts) {
	if len(s.Seconds) == 0 {
		return
	}
	slowest := s.slowest()
	f["slowestStart"], f["starts"] = int(slowest.Round(time.Second).Seconds()), s.within(slowest)
}

// A pod is late when it takes longer than any other did, and also twice as long or longer
// than pods usually take. Below the first of these times none is late, beyond the second
// it need not be twice. Where it shows no failure and only pods of other revisions can be
// compared, whose image may have been there already, these are longer; where none can be
// compared, it is late only with the kubelet's word that something fails.
const (
	soonestLate, usualStart  = 10 * time.Second, 30 * time.Second
	soonestFirst, usualFirst = 30 * time.Second, 2 * time.Minute
	lateByEvent              = time.Minute
)

// A pod that is not ready is expected to stay so when it takes five times as long as the
// slowest of the others, and at least so long. Of 2,000 moments of rollouts in which late
// pods became ready after up to five times as long as nearly all others, all that are
// called Stalls but those of crashes are beyond that (test/oracle, TestForecasts); and
// where others take seconds, something may come in between that they did not need, as the
// first pull of an image.
const (
	stayFactor  = 5
	stayByEvent = time.Minute     // with the kubelet's word that something fails
	stayByAge   = 2 * time.Minute // without it
)

// patience returns how long a pod may take until it is expected to stay as it is, and
// which part of it a container that began later has by itself. Where too few pods of the
// current revision tell how long one takes, the latter is twice as long; where none of any
// tells, both are Patience.
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

// stays reports whether a pod whose containers began at a time is expected to stay as it
// is.
func (cs *Causes) stays(o *corev1.Pod, began time.Time, fails bool) bool {
	whole, own := cs.patience(fails)
	return cs.at.Sub(o.CreationTimestamp.Time) >= whole && cs.at.Sub(began) >= own
}

// late marks the cause of a pod that is not ready yet and takes longer than any
// other pod of the DaemonSet did. It may still become ready, but there is reason
// to look.
func (cs *Causes) late(p *daemonset.Pod, c *Cause) {
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
