// Package timing measures how long the pods of a DaemonSet take to become Ready and to end. It takes a State, what
// the person who asks knows better, and what was seen while the pods were followed. It returns samples in seconds and
// a distribution that a simulation can draw from.
package timing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	corev1 "k8s.io/api/core/v1"
)

// The sources of a measured time.
const (
	SourceFlag        = "Flag"        // given by the person who asks
	SourcePods        = "Pods"        // the pods of all revisions
	sourceUpdated     = "UpdatedPods" // the pods of the current revision
	sourceRollout     = "Rollout"     // the pace of the rollout under way
	sourceLastRollout = "LastRollout" // the pace of the rollout before it
	sourceEvents      = "Events"      // the controller's events of deletes and creates
	SourceGracePeriod = "GracePeriod" // not measured: an upper bound
	sourceWatch       = "Watch"       // seen while the pods were followed
)

// The controller's default rate of requests.
const (
	defaultRate  = 20
	defaultBurst = 30
)

// Measured holds how long the pods of a DaemonSet take, in seconds.
type Measured struct {
	Starts      []float64 // from creation to Ready, shortest first; empty if unknown
	Start, End  Times     // expected of the pods that start and end from now on
	StartSource string
	Future      int       // starts left out because the pod becomes Ready in the future
	Unpulled    int       // images of the template that no Ready pod runs
	Ends        []float64 // from deletion until a pod is gone, shortest first; never empty
	EndSource   string    // GracePeriod is only an upper bound
	Rate        float64
	Burst       int
	MinReady    float64
	Backoff     float64 // how long the first step may wait; only the controller knows

	Again func(*daemonset.State) *Measured // measures another State with the same Given
}

// Wait adds the time by which the controller may delay a step.
func (m *Measured) Wait(step *daemonset.Step) {
	for _, w := range step.Waits {
		m.Backoff += float64(w.AtMost)
	}
}

// Fewest is the number of pods from which a measurement counts.
const Fewest = 3

// Measure measures the pods of a State; o takes precedence. A pod counts for the start if it is Ready and never
// restarted; if three of those run the current revision, the others do not count.
func Measure(st *daemonset.State, o Given) *Measured { return MeasureAfter(st, st, o) }

// Given holds the times that the person who asks knows better than the objects.
type Given struct {
	Starts       []time.Duration // from creation to Ready, of several pods in any order; one alone is that of all
	Termination  *time.Duration  // from deletion to gone
	RequestRate  float64         // requests a second that the controller may send; 0: 20
	RequestBurst int             // 0: 30
}

// MeasureAfter measures st, which a change made of was. The limit and the minReadySeconds of was applied while its pods
// were replaced.
func MeasureAfter(was, st *daemonset.State, o Given) *Measured {
	m := &Measured{
		Rate: cmp.Or(max(0, o.RequestRate), defaultRate), Burst: cmp.Or(max(0, o.RequestBurst), defaultBurst),
		MinReady: float64(max(0, st.DaemonSet.Spec.MinReadySeconds)),
		Again:    func(other *daemonset.State) *Measured { return MeasureAfter(was, other, o) },
	}
	so := *st // far
	so.DaemonSet, so.Budget = was.DaemonSet, was.Budget
	paced, pacedBy := endings(&so)
	told := terminations(&so)
	switch {
	case o.Termination != nil:
		m.Ends, m.EndSource = []float64{o.Termination.Seconds()}, SourceFlag
	case len(paced.Seconds) > 0:
		m.Ends, m.End, m.EndSource = paced.Seconds, paced, pacedBy
	case len(told) >= Fewest:
		m.Ends, m.EndSource = slices.Sorted(slices.Values(told)), sourceEvents
	default:
		m.Ends, m.EndSource = []float64{GracePeriod(st)}, SourceGracePeriod
	}
	switch m.EndSource {
	case SourceFlag, SourceGracePeriod:
		m.End = Exact(m.Ends)
	case sourceEvents:
		m.End = known(m.Ends)
	}
	if len(o.Starts) > 0 {
		for _, d := range slices.Sorted(slices.Values(o.Starts)) {
			m.Starts = append(m.Starts, d.Seconds())
		}
		m.Start, m.StartSource = Exact(m.Starts), SourceFlag
		return m
	}
	seen := cause.StartsOf(st)
	if m.Future = seen.Future; len(seen.Seconds) > 0 {
		m.Starts, m.StartSource = levelled(slices.Clone(seen.Seconds)), SourcePods
		if seen.Updated {
			m.StartSource = sourceUpdated
		} else {
			m.Unpulled = unpulled(st)
		}
		fresh := credible(seen.Fresh, nil)
		if m.Start = startTimes(fresh, waiting(st), credible(seen.Old, fresh)); len(m.Start.Seconds) == 0 {
			m.Start = known(m.Starts)
		}
	}
	return m
}

// unpulled counts the images of the current template that no Ready pod runs. The measured starts do not include the
// time to pull them. An image counts as run if the template of a Ready pod has it, because a webhook may give the pod
// another name of it.
func unpulled(st *daemonset.State) (count int) {
	ran, templates := map[string]bool{}, map[string]bool{}
	runs := func(s *corev1.PodSpec) {
		for i := range s.InitContainers {
			ran[s.InitContainers[i].Image] = true
		}
		for i := range s.Containers {
			ran[s.Containers[i].Image] = true
		}
	}
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			if !p.Ready {
				continue
			}
			if runs(&p.Object.Spec); !templates[p.Revision] {
				templates[p.Revision] = true
				if t := st.TemplateOf(p.Revision); t != nil {
					runs(&t.Spec)
				}
			}
		}
	}
	now := st.DaemonSet.Spec.Template.Spec
	for _, c := range slices.Concat(now.InitContainers, now.Containers) {
		if !ran[c.Image] {
			ran[c.Image] = true
			count++
		}
	}
	return count
}

// waiting returns the ages, in seconds, of the pods of the current revision that are still starting.
func waiting(st *daemonset.State) (ages []float64) {
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			if p.Updated && !p.Ready && !p.Terminating && !IsTerminal(p.Object) && !HasRestarted(p.Object) &&
				!p.Object.CreationTimestamp.IsZero() {
				ages = append(ages, max(0, st.At.Sub(p.Object.CreationTimestamp.Time).Seconds()))
			}
		}
	}
	return ages
}

// GracePeriod returns the terminationGracePeriodSeconds of the template, or its default.
func GracePeriod(st *daemonset.State) float64 {
	if s := st.DaemonSet.Spec.Template.Spec.TerminationGracePeriodSeconds; s != nil {
		return float64(*s)
	}
	return corev1.DefaultTerminationGracePeriodSeconds
}

// terminations returns how long pods took from their deletion until they were gone, in seconds, by the controller's
// events. Without surge, the controller creates a pod as soon as the old one is gone. If a series of deletes is
// followed by as many creates, the first create belongs to the first delete and so on, which is right on average. If
// the numbers differ, events were combined or dropped, and the series does not count.
func terminations(st *daemonset.State) []float64 {
	if st.Budget.Kind != daemonset.BudgetUnavailable {
		return nil
	}
	const deleted, created = "SuccessfulDelete", "SuccessfulCreate"
	var told []*corev1.Event
	for i := range st.Snapshot.Events {
		e := &st.Snapshot.Events[i]
		if e.InvolvedObject.UID == st.DaemonSet.UID && e.Count <= 1 && (e.Reason == deleted || e.Reason == created) {
			told = append(told, e)
		}
	}
	slices.SortFunc(told, func(a, b *corev1.Event) int {
		// in one second, deletes first
		return cmp.Or(a.FirstTimestamp.Compare(b.FirstTimestamp.Time), strings.Compare(b.Reason, a.Reason))
	})
	var out []float64
	var ends, begins []time.Time
	for _, e := range append(told, &corev1.Event{Reason: deleted}) {
		if e.Reason == created {
			begins = append(begins, e.FirstTimestamp.Time)
			continue
		}
		if len(begins) > 0 {
			for i := range begins {
				if len(begins) == len(ends) {
					out = append(out, begins[i].Sub(ends[i]).Seconds())
				}
			}
			ends, begins = nil, nil
		}
		ends = append(ends, e.FirstTimestamp.Time)
	}
	return out
}

// Mean returns the average.
func Mean(of []float64) float64 {
	sum := 0.
	for _, f := range of {
		sum += f
	}
	return sum / float64(len(of))
}

// Quantile returns the time within which this part of the pods became Ready.
func (m *Measured) Quantile(part float64) float64 {
	return cause.Starts{Seconds: m.Starts}.Quantile(part)
}
