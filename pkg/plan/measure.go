package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// The controller's own rate of requests, unless it is told otherwise.
const (
	defaultRate  = 20
	defaultBurst = 30
)

// collected is at most how long after its node a pod is garbage-collected, in seconds: 40,
// and up to 20 more until the collector looks. Nothing tells since when a node is gone.
const collected = 60

// measured are the times, in seconds, that the DaemonSet's pods give.
type measured struct {
	starts      []float64 // from creation to Ready as measured, shortest first; none where nothing tells
	start, end  times     // what is expected of pods that are to start and to end
	startSource string
	future      int       // starts that are left out: the pod is Ready in the future
	unpulled    int       // how many images of the template no Ready pod runs
	ends        []float64 // from deletion until a pod is gone, shortest first; never empty
	endSource   string    // where ends is from: GracePeriod is only an upper bound
	rate        float64
	burst       int
	minReady    float64
	backoff     float64 // how long the first step may wait, which the controller's memory alone tells

	again func(*daemonset.State) *measured // measures another State, with what is known besides
}

// wait adds how long a step may be held up.
func (m *measured) wait(step *daemonset.Step) {
	for _, w := range step.Waits {
		m.backoff += float64(w.AtMost)
	}
}

// fewest is how many pods it takes to tell how long one needs to start.
const fewest = 3

// measure takes what the Snapshot tells, or what the person who asks knows.
//
// A pod counts that never restarted and is ready; where three of them are of
// the current revision, only those.
func measure(st *daemonset.State, o Options) *measured { return measureAfter(st, st, o) }

// measureAfter measures a State that a change has made of another one: its pods were replaced with the
// limit and the minReadySeconds that the DaemonSet had before.
func measureAfter(was, st *daemonset.State, o Options) *measured {
	m := &measured{
		rate: cmp.Or(max(0, o.RequestRate), defaultRate), burst: cmp.Or(max(0, o.RequestBurst), defaultBurst),
		minReady: float64(max(0, st.DaemonSet.Spec.MinReadySeconds)),
		again:    func(other *daemonset.State) *measured { return measureAfter(was, other, o) },
	}
	so := *st // far
	so.DaemonSet, so.Budget = was.DaemonSet, was.Budget
	paced, pacedBy := endings(&so)
	told := terminations(&so)
	switch {
	case o.Termination != nil:
		m.ends, m.endSource = []float64{o.Termination.Seconds()}, sourceFlag
	case len(paced.seconds) > 0:
		m.ends, m.end, m.endSource = paced.seconds, paced, pacedBy
	case len(told) >= fewest:
		m.ends, m.endSource = slices.Sorted(slices.Values(told)), sourceEvents
	default:
		m.ends, m.endSource = []float64{gracePeriod(st)}, sourceGracePeriod
	}
	switch m.endSource {
	case sourceFlag, sourceGracePeriod:
		m.end = said(m.ends)
	case sourceEvents:
		m.end = known(m.ends)
	}
	if len(o.Starts) > 0 {
		for _, d := range slices.Sorted(slices.Values(o.Starts)) {
			m.starts = append(m.starts, d.Seconds())
		}
		m.start, m.startSource = said(m.starts), sourceFlag
		return m
	}
	seen := cause.StartsOf(st)
	if m.future = seen.Future; len(seen.Seconds) > 0 {
		m.starts, m.startSource = levelled(slices.Clone(seen.Seconds)), sourcePods
		if seen.Updated {
			m.startSource = sourceUpdated
		} else {
			m.unpulled = unpulled(st)
		}
		fresh := credible(seen.Fresh, nil)
		if m.start = startTimes(fresh, waiting(st), credible(seen.Old, fresh)); len(m.start.seconds) == 0 {
			m.start = known(m.starts)
		}
	}
	return m
}

// unpulled counts the images of the current template that no Ready pod runs. The starts that
// were measured are of others, which the nodes may have had already. Where something changes the images of pods as
// they are created, those of a pod's template count too.
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

// waiting returns for how many seconds pods of the current revision have been starting.
func waiting(st *daemonset.State) (ages []float64) {
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			if p.Updated && !p.Ready && !p.Terminating && !isTerminal(p.Object) && !hasRestarted(p.Object) &&
				!p.Object.CreationTimestamp.IsZero() {
				ages = append(ages, max(0, st.At.Sub(p.Object.CreationTimestamp.Time).Seconds()))
			}
		}
	}
	return ages
}

func gracePeriod(st *daemonset.State) float64 {
	if s := st.DaemonSet.Spec.Template.Spec.TerminationGracePeriodSeconds; s != nil {
		return float64(*s)
	}
	return corev1.DefaultTerminationGracePeriodSeconds
}

// terminations returns how long pods took from their deletion until they were
// gone, as the controller's events show it: without surge it creates a pod as
// soon as the old one is gone. Where deletes are followed by as many creates,
// the first belongs to the first and so on, which is right on average. Where
// events were combined or dropped the numbers do not match, and tell nothing.
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

func mean(of []float64) float64 {
	sum := 0.
	for _, f := range of {
		sum += f
	}
	return sum / float64(len(of))
}

// quantile returns the smallest of the times that at least this part of them
// keeps to.
func (m *measured) quantile(part float64) float64 {
	return cause.Starts{Seconds: m.starts}.Quantile(part)
}

// nominal stands for a start that is not known, so that the steps can be
// counted.
const nominal = 30

// pace is the course of time in one simulation, in seconds.
type pace struct {
	starts   inTurn // how long pods take to become ready
	ends     inTurn // how long they take to be gone
	byGrace  bool   // only the grace period bounds that
	early    bool   // where it does, pods that obey SIGTERM end at once
	minReady float64
	rate     float64
	burst    int
	refused  bool  // every new pod is, by the API server
	room     *room // that quotas leave to begin with; nil where none limits pods
	silent   daemonset.Reason
	collects float64 // when the pods of a node that is gone are collected
	window   float64 // what happens within so much is taken to happen at once
	drawn    bool    // the simulation keeps its line
}

// startOf returns how long a pod takes in all that is so many seconds old and not
// ready.
func (p *pace) startOf(age float64) float64 { return p.starts.beyond(age) }

// endOf returns how long a pod takes to be gone that was deleted so many seconds ago.
func (p *pace) endOf(age float64) float64 { return p.ends.beyond(age) }

func (w *way) pace(starts, ends times) *pace {
	m := w.m
	return &pace{starts: inTurn{times: starts}, ends: inTurn{times: ends}, byGrace: m.endSource == sourceGracePeriod,
		minReady: m.minReady, rate: m.rate, burst: m.burst, refused: w.a.refusal != nil, room: w.a.room,
		silent: w.a.silent, collects: collected / 2}
}

// typical has every pod take the median time, and what then happens at about
// the same time happen at once: steady waves come of it.
func (w *way) typical() *pace {
	start := float64(nominal)
	if len(w.m.starts) > 0 {
		start = w.m.quantile(0.5)
	}
	p := w.pace(said([]float64{start}), said([]float64{mean(w.m.ends)}))
	p.window = max(1, start/2)
	return p
}

// expected has pods take the times that are expected, one after the other.
func (w *way) expected() *pace { return w.pace(w.m.start, w.m.end) }

// likely is how many standard deviations the shortest and the longest course are from
// the expected one: nine of ten are between.
const likely = 1.7

// unlucky is the same for what is late, as a part of all that can be.
const unlucky = 0.45

// optimistic has every pod start and end as fast as is likely.
func (w *way) optimistic(row int) *pace {
	ends := w.m.end.longer(-likely, row)
	if w.m.endSource == sourceGracePeriod {
		ends = said([]float64{0})
	}
	p := w.pace(w.m.start.longer(-likely, row), ends)
	p.early = true
	p.starts.luck, p.collects = -unlucky, 1
	return p
}

// pessimistic has every pod start and end as slowly as is likely, and use its grace
// period where only few have ended.
func (w *way) pessimistic(row int) *pace {
	ends := w.m.end.longer(likely, row)
	if w.m.endSource != sourceGracePeriod && w.m.endSource != sourceFlag && len(w.m.ends) < fewest {
		ends = said([]float64{max(ends.seconds[len(ends.seconds)-1], gracePeriod(w.st))})
	}
	p := w.pace(w.m.start.longer(likely, row), ends)
	p.starts.luck, p.collects = unlucky, collected
	return p
}
