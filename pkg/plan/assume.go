package plan

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// What a plan assumes. Durations are written as Go writes them.
const (
	// AssumeStart: the time from a pod's creation to Ready: the median
	// Value: a duration as Go writes it
	// Source: `UpdatedPods`: measured on pods of the current revision that never restarted, if there are three.
	// `Pods`: on all of them. `Flag`: `--start`. The assumption is absent if no three pods tell
	AssumeStart daemonset.AssumptionCode = "Start"
	// AssumeStartSlow: nine of ten pods are ready within this time
	// Value: a duration
	// Source: as `Start`
	AssumeStartSlow daemonset.AssumptionCode = "StartSlow"
	// AssumeStartFast: one of ten pods is ready within this time
	// Value: a duration
	// Source: as `Start`
	AssumeStartFast daemonset.AssumptionCode = "StartFast"
	// AssumeTermination: the time from a pod's deletion until it is gone
	// Value: a duration
	// Source: `Events`: measured between the controller's last deletes and creates. `GracePeriod`: an upper bound.
	// `Flag`: `--termination`
	AssumeTermination daemonset.AssumptionCode = "Termination"
	// AssumeMinReadySeconds: a pod is available only after it was ready for this long
	// Value: seconds
	// Source: `Spec`
	AssumeMinReadySeconds daemonset.AssumptionCode = "MinReadySeconds"
	// AssumeCountedLate: the controller counts a pod as available up to so long after it is: without another event it
	// looks only every minReadySeconds; absent where that is less than a tenth of minReadySeconds
	// Value: a duration
	// Source: `Controller`
	AssumeCountedLate daemonset.AssumptionCode = "CountedLate"
	// AssumeRequestRate: requests a second that the controller's client allows, for all DaemonSets of the cluster
	// together; only this one is assumed to need any
	// Value: a number
	// Source: `Controller`: its default. `Flag`: `--request-rate`
	AssumeRequestRate daemonset.AssumptionCode = "RequestRate"
	// AssumeRequestBurst: requests that the client allows before the rate applies
	// Value: a number
	// Source: as `RequestRate`
	AssumeRequestBurst daemonset.AssumptionCode = "RequestBurst"
	// AssumeSlowStart: this many pods are created at first, then twice as many, and so on
	// Value: a number
	// Source: `Controller`
	AssumeSlowStart daemonset.AssumptionCode = "SlowStart"
	// AssumeStepBurst: the most creates, and the most deletes, of one sync
	// Value: a number
	// Source: `Controller`
	AssumeStepBurst daemonset.AssumptionCode = "StepBurst"
	// AssumeNewPods: new pods become available, except those that other assumptions name
	// Source: `State`
	AssumeNewPods daemonset.AssumptionCode = "NewPodsBecomeAvailable"
	// AssumeLatePods: this many pods that are not ready yet and [late](#how-is-the-verdict-decided) become available; it is
	// unknown when
	// Value: how many
	// Source: `State`
	AssumeLatePods daemonset.AssumptionCode = "LatePodsBecomeAvailable"
	// AssumeNodesStay: on this many nodes something is wrong that does not resolve by itself
	// Value: how many
	// Source: `State`
	AssumeNodesStay daemonset.AssumptionCode = "NodesStayAsTheyAre"
	// AssumeRevisionFails: no pod of the current revision becomes available, because none has and most of its pods
	// fail
	// Value: how many fail
	// Source: `State`
	AssumeRevisionFails daemonset.AssumptionCode = "RevisionFails"
	// AssumeInvalidImage: no pod of the current revision becomes available, because no kubelet starts a container of
	// this image; not where one of its pods is available
	// Value: the image
	// Source: `Spec`
	AssumeInvalidImage daemonset.AssumptionCode = "InvalidImageName"
	// AssumeReadyPods: beside `RevisionFails`: this many pods are ready already, and become available after
	// minReadySeconds
	// Value: how many
	// Source: `State`
	AssumeReadyPods daemonset.AssumptionCode = "ReadyPodsBecomeAvailable"
	// AssumeHostPorts: a pod that surges is not scheduled, because the old pod on its node holds its host ports
	// Source: `Spec`
	AssumeHostPorts daemonset.AssumptionCode = "HostPortsHeld"
	// AssumeRefused: the API server continues to reject pods
	// Source: `State`
	AssumeRefused daemonset.AssumptionCode = "CreatesRefused"
	// AssumeCollected: pods of deleted nodes are gone after this time
	// Value: a duration
	// Source: `Controller`
	AssumeCollected daemonset.AssumptionCode = "PodsCollected"
)

// Assumptions lists every AssumptionCode that this package adds to
// daemonset.Assumptions.
var Assumptions = []daemonset.AssumptionCode{
	AssumeStart, AssumeStartSlow, AssumeStartFast, AssumeTermination, AssumeMinReadySeconds, AssumeCountedLate, AssumeRequestRate, AssumeRequestBurst, AssumeSlowStart, AssumeStepBurst,
	AssumeNewPods, AssumeLatePods, AssumeNodesStay, AssumeRevisionFails, AssumeInvalidImage, AssumeReadyPods, AssumeHostPorts, AssumeRefused, AssumeCollected,
}

// RestsOn reports whether one of the plan's assumptions is about something that
// happens in it, or would with another template.
func (p *Plan) RestsOn(code daemonset.AssumptionCode) bool {
	stalls, inner := p.Outcome.Code == Stalls, p.IfTemplateChanged
	moves := func(pods func(Wave) int) bool {
		return stalls || inner != nil || slices.ContainsFunc(p.Waves, func(w Wave) bool { return pods(w) > 0 })
	}
	switch {
	case !slices.Contains(Assumptions, code):
		return true // of the manifest or of the state, not of a course
	case len(p.Waves) == 0 && !stalls && (inner == nil || inner.Outcome.Code == NotRolling):
		return false
	case slices.Contains([]daemonset.AssumptionCode{AssumeStart, AssumeStartFast, AssumeStartSlow, AssumeNewPods, AssumeMinReadySeconds, AssumeCountedLate}, code):
		return moves(func(w Wave) int { return w.Creates })
	case code == AssumeTermination:
		return moves(func(w Wave) int { return w.Deletes })
	}
	return true
}

// Where the value of an assumption is from.
const (
	sourceFlag        = "Flag"
	sourcePods        = "Pods"        // measured on this DaemonSet's pods
	sourceUpdated     = "UpdatedPods" // measured on those of the current revision
	sourceEvents      = "Events"      // measured between the controller's last deletes and creates
	sourceGracePeriod = "GracePeriod" // an upper bound
	sourceSpec        = "Spec"
	sourceController  = "Controller" // the controller's own constants and defaults
	sourceState       = "State"
)

// The controller's own rate of requests, unless it is told otherwise.
const (
	defaultRate  = 20
	defaultBurst = 30
)

// collected is about how long after its node a pod is garbage-collected, in
// seconds: 40, and up to 20 more until the collector looks.
const collected = 50

// measured are the times, in seconds, that the DaemonSet's pods give.
type measured struct {
	starts      []float64 // from creation to Ready, shortest first; none where nothing tells
	startSource string
	termination float64
	endSource   string // where termination is from: GracePeriod is only an upper bound
	rate        float64
	burst       int
	minReady    float64
	backoff     float64 // how long the first step may wait, which the controller's memory alone tells
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
// the current revision, only those. Of the slowest tenth all are taken to be as
// fast as the fastest of it: a pod that lost readiness for a while looks as if
// it had needed days.
func measure(st *daemonset.State, o Options) measured {
	m := measured{rate: defaultRate, burst: defaultBurst}
	if o.RequestRate > 0 {
		m.rate = o.RequestRate
	}
	if o.RequestBurst > 0 {
		m.burst = o.RequestBurst
	}
	if wait := st.DaemonSet.Spec.MinReadySeconds; wait > 0 {
		m.minReady = float64(wait)
	}
	switch seen := terminations(st); {
	case o.Termination != nil:
		m.termination, m.endSource = o.Termination.Seconds(), sourceFlag
	case len(seen) >= fewest:
		m.termination, m.endSource = mean(seen), sourceEvents
	default:
		m.termination, m.endSource = gracePeriod(st), sourceGracePeriod
	}
	if len(o.Starts) > 0 {
		m.startSource = sourceFlag
		for _, d := range o.Starts {
			m.starts = append(m.starts, d.Seconds())
		}
		slices.Sort(m.starts)
		return m
	}
	known := cause.StartsOf(st)
	if len(known.Seconds) == 0 {
		return m
	}
	m.starts, m.startSource = known.Seconds, sourcePods
	if known.Updated {
		m.startSource = sourceUpdated
	}
	slow := m.quantile(0.9)
	for i := range m.starts {
		m.starts[i] = min(m.starts[i], slow)
	}
	return m
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
		return cmp.Or(a.FirstTimestamp.Compare(b.FirstTimestamp.Time), strings.Compare(b.Reason, a.Reason)) // in one second, deletes first
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
	starts      []float64 // shortest first; taken in turn
	known       []float64 // all that were measured, shortest first
	taken       float64
	termination float64
	minReady    float64
	rate        float64
	burst       int
	refused     bool
	window      float64 // what happens within so much is taken to happen at once
}

// start returns how long the next pod takes to become ready: the times that
// were measured, evenly, in an order that does not repeat.
func (p *pace) start() float64 {
	const golden = 0.6180339887498949
	p.taken = math.Mod(p.taken+golden, 1)
	return p.starts[int(p.taken*float64(len(p.starts)))]
}

// startOf returns how long a pod takes in all that is so many seconds old and
// not ready: what another took that needed longer, and if none did, as long
// again. It does not become ready at once whenever it is looked at.
func (p *pace) startOf(age float64) float64 {
	took := p.start()
	if age < took {
		return took
	}
	for _, longer := range p.known {
		if longer > age {
			return longer
		}
	}
	return 2 * age
}

func (m *measured) pace(refused bool, starts ...float64) *pace {
	return &pace{starts: starts, known: m.starts, termination: m.termination, minReady: m.minReady, rate: m.rate, burst: m.burst, refused: refused}
}

// typical has every pod take the median time, and what then happens at about
// the same time happen at once: steady waves come of it.
func (m *measured) typical(refused bool) *pace {
	start := float64(nominal)
	if len(m.starts) > 0 {
		start = m.quantile(0.5)
	}
	p := m.pace(refused, start)
	p.window = max(1, start/2)
	return p
}

// expected has pods take the times that were measured, one after the other.
func (m *measured) expected(refused bool) *pace {
	if len(m.starts) == 0 {
		return m.pace(refused, nominal)
	}
	return m.pace(refused, m.starts...)
}

// optimistic has every pod start and end as fast as is likely.
func (m *measured) optimistic(refused bool) *pace {
	p := m.pace(refused, m.quantile(0.1))
	if m.endSource == sourceGracePeriod {
		p.termination = 0
	}
	return p
}

// pessimistic has every pod start as slowly as one of ten does.
func (m *measured) pessimistic(refused bool) *pace { return m.pace(refused, m.quantile(0.9)) }

// assumedNode is what is assumed of one node.
type assumedNode struct {
	never   *cause.Cause            // why no pod becomes available there; nil if one does
	pods    map[string]*cause.Cause // pods that do not become available, though a further one may
	hangs   bool                    // pods do not end there
	hung    *cause.Cause            // why the pod that is to end does not; nil if it is for the node
	refused bool                    // the API server refuses pods
	gone    bool                    // there is no such node: its pods are collected
	down    bool                    // never is about the node itself
}

// stays reports whether the node ends up without an available pod if its pod is
// replaced.
func (f *assumedNode) stays() bool { return f.never != nil || f.hangs }

// next returns what happens to a pod of the Snapshot next, and when, in
// seconds from it.
func (f *assumedNode) next(p *daemonset.Pod, st *daemonset.State, t *pace) (at float64, kind eventKind, ok bool) {
	since := func(then time.Time) float64 { return then.Sub(st.At).Seconds() }
	const soon = 1 // what is overdue
	switch {
	case f.gone && p.Object.Spec.NodeName != "":
		return collected, podGone, true
	case p.Terminating && f.hangs:
		return 0, 0, false
	case p.Terminating:
		asked := p.Object.DeletionTimestamp.Time
		if g := p.Object.DeletionGracePeriodSeconds; g != nil {
			asked = asked.Add(-time.Duration(*g) * time.Second)
		}
		left := since(asked) + t.termination
		return max(left, 2*soon-left), podGone, true // what is overdue takes as long again
	case p.Available.OK || isTerminal(p.Object) || f.hangs || f.pods[p.Name] != nil:
		return 0, 0, false
	case p.Ready && p.AvailableAt != nil:
		return max(soon, since(*p.AvailableAt)), podAvailable, true
	case p.Ready || f.never != nil: // ready since it does not say when, or not to become so
		return 0, 0, false
	}
	created := since(p.Object.CreationTimestamp.Time)
	return max(soon, created+t.startOf(-created)), podReady, true
}

// assumed is what is assumed of all nodes.
type assumed struct {
	nodes     []assumedNode // as State.Nodes
	stay      int           // nodes on which nothing becomes available
	fails     *cause.Tally
	failing   *cause.Cause            // why, where the revision fails
	image     string                  // that no kubelet takes, where that is why
	broken    map[string]*cause.Cause // by node: why a pod of the current revision fails there
	late      []Holder                // pods of the current revision that are to become ready, and take longer than any other did
	refusal   *cause.Cause
	gone      bool     // pods of vanished nodes are to be collected
	inherited *assumed // see inherit
	causes    *cause.Causes
	surges    bool
	ports     bool // a surging pod waits for a port that the old one holds
}

// portsHeld reports whether an old pod that stays until a new one is available
// holds a host port that the new one needs.
func portsHeld(n *daemonset.Node, template *corev1.PodSpec) bool {
	wanted := cause.HostPorts(template)
	return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
		return !p.Updated && !p.Terminating && p.Ready &&
			slices.ContainsFunc(cause.HostPorts(&p.Object.Spec), func(port string) bool { return slices.Contains(wanted, port) })
	})
}

func hasAvailable(n *daemonset.Node) bool {
	return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Terminating && p.Available.OK })
}

// hasReadyOld reports whether an old pod stays until a new one is available.
func hasReadyOld(n *daemonset.Node) bool {
	return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Updated && !p.Terminating && p.Ready })
}

// onNode are the causes that a further pod on the same node meets too.
var onNode = map[daemonset.Reason]bool{
	cause.NodeNotReady: true, cause.TerminatingOnDeadNode: true, cause.InsufficientResources: true, cause.HostPortConflict: true,
	cause.PendingUnschedulable: true, cause.EvictLoop: true,
}

// beside are those of them that come of the old pod beside a new one, and so
// only stay while there is a surge.
var beside = map[daemonset.Reason]bool{cause.InsufficientResources: true, cause.HostPortConflict: true}

// seenByKubelet are causes that tell that the kubelet of a node that is not
// ready starts pods: one of a corrected revision may run, as that of a network
// plugin, which makes the node ready.
var seenByKubelet = map[daemonset.Reason]bool{cause.CrashLoopBackOff: true, cause.OOMKilled: true, cause.ImagePullBackOff: true}

// assume tells for each node whether a pod can become available there. What
// does not go away by itself stays: nodes that are down, pods that fail.
//
// Where pods of the current revision fail, none has become available, and at
// least half of them fail, all of them are taken to.
func assume(st *daemonset.State) assumed {
	causes := cause.Find(st.Snapshot, st)
	a := assumed{
		nodes: make([]assumedNode, len(st.Nodes)), refusal: causes.Refusal(), broken: map[string]*cause.Cause{},
		surges: st.Budget.MaxSurge > 0, causes: causes,
	}
	tally := causes.RevisionFails()
	revisionFails := tally.NewFailing > 0 && 2*tally.NewFailing >= tally.NewPods && !anyNewAvailable(st)
	if revisionFails {
		a.failing, a.fails = newFailure(st, causes), &tally
	}
	if invalid := invalidImages(st); len(invalid) > 0 && !revisionFails {
		a.image, a.failing = invalid[0].Image, &cause.Cause{Code: cause.ImagePullBackOff, Severity: cause.SeverityError, Facts: daemonset.Facts{
			"container": invalid[0].Name, "image": invalid[0].Image, "reason": string(InvalidImageName),
		}}
	}
	for i := range st.Nodes {
		n, f := &st.Nodes[i], &a.nodes[i]
		c := causes.Of(n.Name)
		f.gone, f.refused = !n.Exists, a.refusal != nil
		a.gone = a.gone || f.gone && len(n.Pods) > 0
		down := cause.Down(n, st.At)
		f.hangs = down != nil && down.Facts["status"] == string(corev1.ConditionUnknown) // its kubelet starts no pod and ends none
		switch {
		case c != nil && c.Severity == cause.SeverityError && onNode[c.Code] && !(beside[c.Code] && st.Budget.MaxSurge == 0 && hasReadyOld(n)):
			f.never, f.down = c, true
		case f.hangs || down != nil && down.Severity == cause.SeverityError && !hasAvailable(n) && !(c != nil && seenByKubelet[c.Code]):
			f.never, f.down = down, true
		case a.failing != nil:
			f.never = a.failing
		case a.surges && portsHeld(n, &st.DaemonSet.Spec.Template.Spec):
			a.ports = true
			f.never = &cause.Cause{Code: cause.HostPortConflict, Severity: cause.SeverityError, Facts: daemonset.Facts{}}
		}
		f.pods = failed(n, causes)
		for j := range n.Pods {
			if p := &n.Pods[j]; p.Terminating {
				if of := causes.OfPod(p); of != nil && of.Severity == cause.SeverityError {
					f.hangs, f.hung = true, of
				}
			}
		}
		for j := range n.Pods {
			if p := &n.Pods[j]; p.Updated && f.pods[p.Name] != nil && !f.down {
				a.broken[n.Name] = f.pods[p.Name]
			}
		}
		a.stay += b2i(f.down || f.hangs || a.broken[n.Name] != nil)
		if c != nil && c.Facts.Yes("late") && !f.stays() && updatedPod(n, c.Pod) {
			a.late = append(a.late, Holder{Node: n.Name, Pod: c.Pod, Cause: c})
		}
	}
	return a
}

// told drops from the late pods those that are younger than the slowest start
// that a person named, or that was seen since.
func (a *assumed) told(m *measured, at time.Time) {
	a.late = slices.DeleteFunc(a.late, func(h Holder) bool {
		return len(m.starts) > 0 && h.Since != nil && at.Sub(*h.Since).Seconds() <= m.starts[len(m.starts)-1]
	})
}

// updatedPod reports whether the pod of that name is of the current revision.
func updatedPod(n *daemonset.Node, name string) bool {
	return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return p.Name == name && p.Updated })
}

// inherit adds what was assumed of the revision before a change that leaves its
// containers as they are: what fails goes on failing.
func (a *assumed) inherit(before *assumed, st *daemonset.State) {
	if before == nil {
		return
	}
	a.inherited = before
	if len(a.late) == 0 {
		a.late = slices.DeleteFunc(slices.Clone(before.late), func(h Holder) bool {
			return !slices.ContainsFunc(st.Nodes, func(n daemonset.Node) bool { return n.Name == h.Node && n.ShouldRun.OK })
		})
	}
	if before.fails != nil && !anyNewAvailable(st) {
		a.fails, a.failing = before.fails, before.failing
	}
	for i := range st.Nodes {
		f := &a.nodes[i]
		switch c := before.broken[st.Nodes[i].Name]; {
		case f.never != nil:
		case c != nil:
			f.never = c
		case a.failing != nil:
			f.never = a.failing
		}
	}
}

func anyNewAvailable(st *daemonset.State) bool {
	return anyAvailable(st, func(p *daemonset.Pod) bool { return p.Updated })
}

// anyAvailable reports whether an available pod that stays is of these.
func anyAvailable(st *daemonset.State, of func(*daemonset.Pod) bool) bool {
	return slices.ContainsFunc(st.Nodes, func(n daemonset.Node) bool {
		return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Terminating && p.Available.OK && of(&p) })
	})
}

// newFailure returns why the first of the failing new pods fails.
func newFailure(st *daemonset.State, causes *cause.Causes) *cause.Cause {
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			if c := causes.OfPod(p); p.Updated && !p.Terminating && c != nil && c.Severity == cause.SeverityError {
				return c
			}
		}
	}
	return nil
}

// failed returns the pods of a node that do not become available by
// themselves.
func failed(n *daemonset.Node, causes *cause.Causes) map[string]*cause.Cause {
	var out map[string]*cause.Cause
	for j := range n.Pods {
		p := &n.Pods[j]
		if c := causes.OfPod(p); !p.Terminating && c != nil && c.Severity == cause.SeverityError {
			if out == nil {
				out = map[string]*cause.Cause{}
			}
			out[p.Name] = c
		}
	}
	return out
}

// list returns the assumptions of a forecast.
func (a *assumed) list(m *measured, o Options, st *daemonset.State) []daemonset.Assumption {
	var out []daemonset.Assumption
	add := func(code daemonset.AssumptionCode, value, source string) {
		out = append(out, daemonset.Assumption{Code: code, Value: value, Source: source})
	}
	from := func(given bool) string {
		if given {
			return sourceFlag
		}
		return sourceController
	}
	if len(m.starts) > 0 {
		add(AssumeStart, seconds(m.quantile(0.5)), m.startSource)
	}
	if len(m.starts) > 1 {
		add(AssumeStartSlow, seconds(m.quantile(0.9)), m.startSource)
		add(AssumeStartFast, seconds(m.quantile(0.1)), m.startSource)
	}
	add(AssumeTermination, seconds(m.termination), m.endSource)
	if m.minReady > 0 {
		add(AssumeMinReadySeconds, strconv.Itoa(int(st.DaemonSet.Spec.MinReadySeconds)), sourceSpec)
	}
	add(AssumeRequestRate, strconv.FormatFloat(m.rate, 'f', -1, 64), from(o.RequestRate > 0))
	add(AssumeRequestBurst, strconv.Itoa(m.burst), from(o.RequestBurst > 0))
	add(AssumeSlowStart, "1", sourceController)
	add(AssumeStepBurst, strconv.Itoa(daemonset.BurstReplicas), sourceController)
	if a.fails == nil && a.image == "" {
		add(AssumeNewPods, "", sourceState)
	}
	if len(a.late) > 0 {
		add(AssumeLatePods, strconv.Itoa(len(a.late)), sourceState)
	}
	if a.stay > 0 {
		add(AssumeNodesStay, strconv.Itoa(a.stay), sourceState)
	}
	if a.fails != nil {
		add(AssumeRevisionFails, strconv.Itoa(a.fails.NewFailing), sourceState)
		if n := a.readyPods(st); n > 0 {
			add(AssumeReadyPods, strconv.Itoa(n), sourceState)
		}
	}
	if a.image != "" {
		add(AssumeInvalidImage, a.image, sourceSpec)
	}
	if a.ports {
		add(AssumeHostPorts, "", sourceSpec)
	}
	if a.refusal != nil {
		add(AssumeRefused, "", sourceState)
	}
	if a.gone {
		add(AssumeCollected, seconds(collected), sourceController)
	}
	return out
}

// readyPods counts the pods of the current revision that only wait for
// minReadySeconds.
func (a *assumed) readyPods(st *daemonset.State) int {
	count := 0
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			_, kind, moves := a.nodes[i].next(p, st, &pace{starts: []float64{nominal}})
			count += b2i(moves && kind == podAvailable && p.Updated)
		}
	}
	return count
}

func seconds(s float64) string { return (time.Duration(s*1000) * time.Millisecond).String() }
