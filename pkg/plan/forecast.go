package plan

import (
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// projection is a Forecast with its assumptions, warnings and other results of the simulation.
type projection struct {
	Forecast
	assumptions []daemonset.Assumption
	warnings    []Warning
	lost        []PlacementNode
	stranded    []StrandedNode
	nodes       []assumedNode // as State.Nodes; nil if nothing is forecast
	admission   *admission.Verdict
	unfit       []Holder
	preempts    []Preempt
	line        []Moment
}

// forecastOf simulates the rollout of st to its end. was is the State before the change; it equals st without a change.
// If underWay is true, the controller may be one that is not acting.
func forecastOf(was, st *daemonset.State, o Options, underWay bool,
	newWay func(*daemonset.State, *timing.Measured) *scenario) projection {
	f := projection{Forecast: Forecast{
		Budget: Budget{st.Budget.Kind, st.Limit(), st.Budget.Spec}, Waves: []Wave{}, Limits: []Limit{},
		Outcome: Outcome{Code: Unknown, Holders: []Holder{}, Late: []Holder{}, Unknown: []Holder{},
			Problems: []*cause.Problem{}, Alternatives: []Alternative{}, Remedies: []remedy.Remedy{}},
	}}
	step := st.Sync()
	switch {
	case !st.PodsRead:
		f.Outcome.Reason = daemonset.StepPodsNotRead
		return f
	case step.Reason == daemonset.StepSelectsAll, step.Reason == daemonset.StepBeingDeleted:
		f.Outcome.Code, f.Outcome.Reason = NotRolling, step.Reason
		f.Outcome.Problems, f.Outcome.Remedies = ofDeletion(cause.Find(st), st)
		return f
	}
	sc := newWay(st, timing.MeasureAfter(was, st, o.Given()))
	sc.m.Wait(&step)
	if underWay {
		sc.markInactive(&step)
	}
	steady := sc.typical()
	steady.drawn = true
	run := sc.simulateAt(steady)
	f.lost = run.lost()
	f.stranded = run.stranded(f.lost)
	f.Waves = append(f.Waves, run.waves...)
	if f.Outcome = sc.outcome(run); f.Outcome.Code == Stalls { // remedies compare with the run, so it keeps its Tally
		run.keep()
	}
	f.Replaces, f.Drops = f.Outcome.Replaced, f.Outcome.Dropped
	if st.Budget.Kind != daemonset.BudgetNone {
		replaces, drops := run.oldPods()
		f.Replaces, f.Drops = f.Replaces+replaces, f.Drops+drops
	}
	if !sc.dated() {
		for i := range f.Waves {
			f.Waves[i].At, f.Waves[i].Last = nil, nil
		}
	}
	f.nodes, f.admission = sc.a.nodes, sc.a.causes.Admission()
	f.unfit, f.preempts = sc.a.fitting(st)
	f.assumptions, f.warnings = sc.assumptions(o), stepWarnings(&step, st, sc.a)
	if run.end.endless {
		return f
	}
	f.line = sc.drawn(run)
	// shorter delays are not worth mentioning
	if late := f.judge(sc, run); sc.m.MinReady > 0 && late >= sc.m.MinReady/10 {
		i := slices.IndexFunc(f.assumptions,
			func(a daemonset.Assumption) bool { return a.Code == AssumeMinReadySeconds })
		f.assumptions = slices.Insert(f.assumptions, i+1, daemonset.Assumption{Code: AssumeCountedLate,
			Value: seconds(math.Round(late)), Source: sourceController})
	}
	return f
}

// judge adds the duration, the remedies, the alternatives, the problems and other limits to a Forecast. It returns the
// longest time by which the controller counts a pod late, in seconds; 0 if the duration is unknown.
func (f *projection) judge(sc *scenario, run *simulation) (late float64) {
	runs := sc.spread(&f.Outcome)
	switch {
	case f.Outcome.ends():
		if len(runs) > 0 {
			f.line = sc.drawn(runs[1])
		}
		f.date(run, runs)
		for _, r := range runs {
			late = max(late, r.end.late)
		}
	}
	f.Outcome.Remedies = sc.remedies(run, &f.Outcome)
	f.Outcome.Alternatives = sc.alternatives(&f.Outcome)
	f.Outcome.Problems = sc.judged(&f.Outcome)
	if b := sc.st.Budget; f.Replaces+f.Drops > 0 && b.Kind != daemonset.BudgetNone && b.Invalid == "" {
		f.Limits = sc.limits(&f.Outcome)
	}
	return late
}

// judged returns the problems of the nodes of an Outcome, with who is to blame. A problem that nodes have now is judged
// together with all nodes that have it, so that explain comes to the same result.
func (sc *scenario) judged(o *Outcome) []*cause.Problem {
	out := append([]*cause.Problem{}, ProblemsOf(slices.Concat(o.Holders, o.Late, o.Unknown))...)
	now := cause.Problems(sc.a.causes.Now(), nil)
	sc.a.causes.Judge(now)
	for _, p := range out {
		i := slices.IndexFunc(now, func(x cause.Problem) bool {
			return x.Is(p) && slices.ContainsFunc(p.Nodes, func(n string) bool { return slices.Contains(x.Nodes, n) })
		})
		if i >= 0 {
			p.Subject, p.Blame, p.Common = now[i].Subject, now[i].Blame, now[i].Common
			continue
		}
		alone := []cause.Problem{*p}
		sc.a.causes.Judge(alone)
		*p = alone[0]
	}
	return out
}

// date sets when each wave begins: when as many pods have been replaced in the expected run, in which waves overlap. A
// wave that begins now keeps its time.
func (f *Forecast) date(waves *simulation, runs []*simulation) {
	if len(runs) == 0 {
		return
	}
	last, expected := 0., runs[1]
	date := func(at *float64, turn, turns int) {
		if turn < min(turns, len(expected.replacedAt)) {
			*at = expected.replacedAt[turn]
		}
		*at = max(*at, last)
		last = *at
	}
	for i := range f.Waves {
		turns := len(waves.replacedAt)
		if i+1 < len(waves.before) {
			turns = waves.before[i+1]
		}
		if i > 0 || *f.Waves[i].At > 0 {
			date(f.Waves[i].At, waves.before[i], turns)
		}
		if f.Waves[i].Count == 1 {
			*f.Waves[i].Last = *f.Waves[i].At
			continue
		}
		date(f.Waves[i].Last, waves.folded[i], turns)
	}
}

// oldPods counts the old pods that a simulation leaves: those that would be replaced, and those that would only be
// deleted.
func (r *simulation) oldPods() (replaces, drops int) {
	for i := range r.slots {
		n := r.tally.Node(int32(i))
		for j := range n.Pods {
			if p := &n.Pods[j]; !p.Updated && !p.Terminating && n.MayStay.OK {
				replaces += b2i(follows(&n))
				drops += b2i(!follows(&n))
			}
		}
	}
	return replaces, drops
}

// oldPods counts the old pods that a rollout deletes, whether it replaces them or not.
func oldPods(st *daemonset.State) int {
	count := 0
	for i := range st.Nodes {
		n := &st.Nodes[i]
		for j := range n.Pods {
			count += b2i(!n.Pods[j].Updated && !n.Pods[j].Terminating && n.MayStay.OK)
		}
	}
	return count
}

// lost returns the nodes that are not eligible, have a pod when the simulation begins and have none when it ends,
// sorted by name: those whose pod may not stay, and those whose pod the rollout deletes without replacement. If the
// rollout stalls, they include the nodes that it does not reach, because the controller picks nodes at random.
func (r *simulation) lost() []PlacementNode {
	out := []PlacementNode{}
	for i := range r.slots {
		n, end := &r.st.Nodes[i], r.tally.Node(int32(i))
		if !n.Exists || n.ShouldRun.OK || !served(n) || running(&end) && !r.reaches(&end) {
			continue
		}
		why := n.MayStay
		if why.OK {
			why = n.ShouldRun
		}
		out = append(out, PlacementNode{n.Name, why})
	}
	return out
}

// stranded returns the lost nodes whose pod may stay until the rollout deletes it.
func (r *simulation) stranded(lost []PlacementNode) (out []StrandedNode) {
	for _, l := range lost {
		if n := r.st.Node(l.Node); n.MayStay.OK && n.Object != nil {
			out = append(out, StrandedNode{l.Node, l.Verdict, r.st.Placement.Remedies(n.Object)})
		}
	}
	return out
}

// loses returns the names of the lost nodes, without those whose kubelet does not answer: it is unknown whether their
// pod still runs.
func (r *simulation) loses() []string {
	out := append([]string{}, Nodes(r.lost())...)
	return slices.DeleteFunc(out, func(name string) bool {
		i := slices.IndexFunc(r.st.Nodes, func(n daemonset.Node) bool { return n.Name == name })
		return r.nodes[i].hangs
	})
}

// reaches reports whether the rollout deletes the pods of a node sooner or later: all of them are old, and the limit
// allows it.
func (r *simulation) reaches(n *daemonset.Node) bool {
	updated := slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return p.Updated && !p.Terminating })
	return r.tally.Rolls() && r.st.Limit() > 0 && !updated
}

// ends reports whether every old pod is replaced or deleted.
func (o *Outcome) ends() bool { return o.ReachesEnd() || o.Code == RemovesAllPods }

// ReachesEnd reports whether the rollout completes if new pods work.
func (o *Outcome) ReachesEnd() bool { return o.Code == Completes || o.Code == MayComplete }

// outcome returns the outcome of a simulation.
func (sc *scenario) outcome(r *simulation) Outcome {
	o := Outcome{
		Steps: r.end.steps, Replaced: r.end.replaced, Dropped: r.end.dropped, Left: r.tally.Old(),
		Largest: r.end.largest, AtATime: r.end.atATime, AtOnce: r.end.atOnce, Worst: r.end.worst,
		Late: append([]Holder{}, sc.a.late...), Unknown: []Holder{}, Problems: []*cause.Problem{},
		Alternatives: []Alternative{}, Remedies: []remedy.Remedy{},
	}
	for i := range r.slots {
		for j, pods := 0, r.tally.Pods(int32(i)); j < len(pods); j++ {
			p := &pods[j]
			o.Terminating += b2i(p.Terminating && !p.Updated)
		}
	}
	counts, old := r.tally.Counts(), r.tally.Old()
	lacking := counts.Desired - counts.Current
	switch {
	case r.end.endless:
		o.Code, o.Reason = Unknown, Endless
	case old > 0 && sc.st.DaemonSet.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType:
		o.Code, o.Reason = NotRolling, daemonset.StepOnDelete
	case old > 0 || lacking > 0 || r.hangs() || sc.a.startsNone() && r.creates():
		o.Code, o.Reason, o.AtWorst = Stalls, r.stallReason(), r.end.chosen && old > 0
	case r.unfit():
		o.Code, o.Reason = Stalls, cause.DoesNotFit
	case r.onVirtual():
		o.Code, o.Reason = Stalls, cause.VirtualNode
	case counts.Desired == 0 && runsPod(sc.st.Nodes) && !r.runsPod():
		o.Code = RemovesAllPods
	case len(r.waves) == 0 && (r.end.at == 0 || r.upToDate):
		o.Code = NothingToDo
	default:
		o.Code = Completes
	}
	if o.Code == Stalls {
		o.UnderWay = sc.underWay()
	}
	if o.Holders = []Holder{}; o.Code != Unknown {
		o.Holders, o.FurtherHolders = holders(r, sc.a, o.Code == Stalls)
	}
	return o
}

// unfit reports whether a new pod is left that does not fit on its node.
func (r *simulation) unfit() bool {
	for i := range r.slots {
		if r.slots[i].made > 0 && r.nodes[i].tooSmall() {
			return true
		}
	}
	return false
}

// onVirtual reports whether a virtual node that had no pod gets one, which never runs.
func (r *simulation) onVirtual() bool {
	for i := range r.slots {
		never := r.nodes[i].never
		if r.slots[i].made > 0 && never != nil && never.Code == cause.VirtualNode && len(r.st.Nodes[i].Pods) == 0 {
			return true
		}
	}
	return false
}

// removesAllPods reports whether a change removes all nodes that run the pod, and no node is eligible afterwards.
func removesAllPods(before, after *daemonset.State) bool {
	return after.NodesRead && after.PodsRead && after.Desired == 0 && !ignored(after.DaemonSet) &&
		runsPod(before.Nodes) && !runsPod(after.Nodes)
}

// runsPod reports whether a node that exists has a pod that is not terminating.
func runsPod(nodes []daemonset.Node) bool {
	return slices.ContainsFunc(nodes, func(n daemonset.Node) bool { return n.Exists && running(&n) })
}

// startsNone reports whether no kubelet starts a new pod on any node.
func (a *assumed) startsNone() bool { return a.unmet != nil || a.image != "" }

// creates reports whether a pod that the simulation created is left at its end.
func (r *simulation) creates() bool {
	for i := range r.slots {
		if slices.ContainsFunc(r.tally.Pods(int32(i)), func(p daemonset.Pod) bool {
			return p.Object == simulated &&
				!p.Terminating
		}) {
			return true
		}
	}
	return false
}

// hangs reports whether a rollout does not finish although every pod is deleted: no node runs the pod any more, and the
// deleted pods do not terminate. If another node runs the pod, a pod that does not terminate does not keep the rollout
// from completing.
func (r *simulation) hangs() bool {
	if r.runsPod() {
		return false
	}
	for i := range r.slots {
		n := r.tally.Node(int32(i))
		if n.Exists && n.MayStay.OK && len(n.Pods) > 0 && running(&r.st.Nodes[i]) {
			return true
		}
	}
	return false
}

func (r *simulation) runsPod() bool {
	for i := range r.slots {
		if n := r.tally.Node(int32(i)); n.Exists && running(&n) {
			return true
		}
	}
	return false
}

// Reasons why a rollout does not complete.
const (
	Endless  daemonset.Reason = "Endless"  // Unknown: the controller creates and deletes pods without end
	Unfilled daemonset.Reason = "Unfilled" // Stalls: nodes stay without a pod
)

// OutcomeReasons lists the reasons why a rollout does not complete.
var OutcomeReasons = []daemonset.Reason{
	// Stalls: nodes that do not recover by themselves use up the limit
	daemonset.StepBudgetSpent,
	// Stalls: the controller is not acting
	cause.ControllerSilent,
	// Stalls: the API server rejects pods
	cause.FailedCreate,
	// Stalls: new pods do not fit on their nodes
	cause.DoesNotFit,
	// Stalls: virtual nodes get a pod but never run it
	cause.VirtualNode,
	// Stalls: maxUnavailable or maxSurge cannot be resolved
	daemonset.InvalidBudget,
	// Stalls: the only pod of a deleted node is old
	daemonset.VanishedNodeInSurge,
	// Stalls: old pods are left that cannot be replaced
	daemonset.StepWaiting,
	Unfilled,
	// Stalls: every pod is deleted, no node runs one, and pods stay terminating
	cause.Terminating,
	// NotRolling: the strategy replaces no pod
	daemonset.StepOnDelete,
	// NotRolling: the DaemonSet is being deleted
	daemonset.StepBeingDeleted,
	// NotRolling: the selector is empty, and the controller ignores the DaemonSet
	daemonset.StepSelectsAll,
	// Unknown: the pods could not be read
	daemonset.StepPodsNotRead,
	Endless,
}

func (r *simulation) stallReason() daemonset.Reason {
	switch {
	case r.times.silent != "":
		return r.times.silent
	case r.st.Budget.Invalid != "":
		return daemonset.InvalidBudget
	case r.end.failed != nil:
		return r.end.failed.Code
	case r.refused, r.tally.Refused(), r.times.refused && r.st.Budget.MaxSurge > 0:
		return cause.FailedCreate
	case r.hangs():
		return cause.Terminating
	case r.tally.Used() >= r.st.Limit():
		return daemonset.StepBudgetSpent
	case r.tally.Old() == 0:
		return Unfilled
	}
	return daemonset.StepWaiting
}

// holders returns the nodes that stay as they are: those that are eligible and have no available pod and, if budget is
// true, those that use up the limit. It names only nodes that are known to stay; which others do depends on the
// controller's random choice, so further counts them.
func holders(r *simulation, a *assumed, budget bool) (named []Holder, further int) {
	named = []Holder{}
	for i := range r.slots {
		n := r.tally.Node(int32(i))
		if !r.slots[i].down && !(budget && r.tally.Holds(int32(i))) {
			continue
		}
		why := a.why(i, &r.st.Nodes[i])
		if why == nil {
			further++
			continue
		}
		h := Holder{Node: n.Name, Cause: why}
		for j := range n.Pods {
			if p := &n.Pods[j]; p.Object != simulated {
				h.Pod = p.Name
			}
		}
		named = append(named, h)
	}
	return named, further
}

// why returns the cause that keeps a node as it is, or nil if nothing is wrong with it yet.
func (a *assumed) why(i int, n *daemonset.Node) *cause.Cause {
	f := &a.nodes[i]
	if f.down {
		return f.never
	}
	for j := range n.Pods {
		p := &n.Pods[j]
		if c := f.pods[p.Name]; c != nil && p.Updated {
			return c
		}
	}
	switch {
	case a.evidence.Own(n.Name) != nil && f.never != nil:
		return a.evidence.Own(n.Name)
	case len(n.Pods) == 0 && a.rejects != nil && (a.room == nil || a.room.passes() == 0):
		return a.rejects
	case a.silent != "":
		return a.causes.Of(n.Name)
	}
	return f.hangCause
}
