package plan

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Make returns the Plan of a DaemonSet as it is, or as it would be after a
// Change, which may be nil.
//
// It fails where the question cannot be put: a selector that cannot be read, a
// Change that the API server would refuse or that names what is not there.
func Make(s *snapshot.Snapshot, c *Change, o Options) (*Plan, error) {
	before, err := state(s)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return now(s, before, o)
	}
	changed, summary, err := c.Apply(s)
	if err != nil {
		return nil, err
	}
	after, err := state(changed)
	if err != nil {
		return nil, err
	}
	var heritage *assumed
	if sameContainers(before.DaemonSet, after.DaemonSet) {
		h := assume(s, before)
		heritage = &h
	}
	p := begin(SubjectChange, changed, after, o, heritage)
	p.Change, p.Placement, p.Desired.Before = summary, placementChange(before, after), before.Desired
	p.Warnings = append(p.Warnings, warnings(before, after)...)
	if c.DaemonSet != nil && summary.TemplateChanged && c.Method != MethodServerDryRun {
		p.Assumptions = append(p.Assumptions, daemonset.Assumption{Code: AssumeTemplateNotChecked, Source: sourceManifest})
	}
	return p, nil
}

// MethodServerDryRun is the ChangeSummary's Method where the API server itself
// laid a manifest over the live object, and so checked it.
const MethodServerDryRun = "ServerDryRun"

// sameContainers tells whether two DaemonSets run the same containers with the
// same volumes: what fails in one fails in the other.
func sameContainers(a, b *appsv1.DaemonSet) bool {
	x, y := &a.Spec.Template.Spec, &b.Spec.Template.Spec
	return equality.Semantic.DeepEqual(x.Containers, y.Containers) && equality.Semantic.DeepEqual(x.InitContainers, y.InitContainers) && equality.Semantic.DeepEqual(x.Volumes, y.Volumes)
}

// New returns the Plan of a DaemonSet that is not in the cluster yet: the
// Snapshot holds it as the API server would store it, without a pod. The
// cluster may be changed before. Without nodes it fails.
func New(s *snapshot.Snapshot, method string, nodes []NodeEdit, o Options) (*Plan, error) {
	if s.Lacks(snapshot.Nodes) {
		return nil, lacking(s, snapshot.Nodes, "where it would run")
	}
	changed := *s
	edited, err := editNodes(&changed, nodes)
	if err != nil {
		return nil, err
	}
	st, err := state(&changed)
	if err != nil {
		return nil, err
	}
	if err := validate(nil, s.DaemonSet); err != nil {
		return nil, err
	}
	p := begin(SubjectNew, &changed, st, o, nil)
	p.Change = &ChangeSummary{Method: method, Fields: []FieldDiff{}, TemplateChanged: true, Revision: RevisionNote{Number: 1, New: true}, Nodes: edited}
	p.Placement, p.Desired.Before = placementChange(nil, st), 0
	p.Warnings = append(p.Warnings, warnings(nil, st)...)
	if method != MethodServerDryRun {
		p.Assumptions = append(p.Assumptions, daemonset.Assumption{Code: AssumeTemplateNotChecked, Source: sourceManifest})
	}
	return p, nil
}

func state(s *snapshot.Snapshot) (*daemonset.State, error) {
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	return daemonset.New(s, profile)
}

// now plans what is under way, or else what a change of the template would do.
func now(s *snapshot.Snapshot, st *daemonset.State, o Options) (*Plan, error) {
	p := begin(SubjectRollout, s, st, o, nil)
	p.Warnings = append(p.Warnings, warnings(nil, st)...)
	if !idle(p) {
		return p, nil
	}
	p.Subject = SubjectNothing
	changed, _, err := (&Change{Restart: true}).Apply(s)
	if err != nil {
		return p, nil //nolint:nilerr // a template that cannot be changed has no forecast
	}
	after, err := state(changed)
	if err != nil {
		return nil, err
	}
	f, _, _ := forecast(changed, after, o, nil)
	p.IfTemplateChanged, p.Groups = &f, groups(after, o.GroupBy)
	return p, nil
}

// idle tells whether nothing is under way that ends by itself, or stalls.
func idle(p *Plan) bool {
	return p.Outcome.Code == NothingToDo || p.Outcome.Code == NotRolling && p.Next.Reason == daemonset.StepOnDelete
}

func begin(subject Subject, s *snapshot.Snapshot, st *daemonset.State, o Options, heritage *assumed) *Plan {
	p := &Plan{
		Header: daemonset.NewHeader(Kind, s, st), Subject: subject, Warnings: []Warning{},
		Desired:   Desired{st.Desired, st.Desired},
		Placement: Placement{Gain: []PlacementNode{}, Lose: []PlacementNode{}}, Next: st.Sync(), Groups: groups(st, o.GroupBy),
	}
	var assumptions []daemonset.Assumption
	var warnings []Warning
	p.Forecast, assumptions, warnings = forecast(s, st, o, heritage)
	p.Assumptions, p.Warnings = append(p.Assumptions, assumptions...), append(p.Warnings, warnings...)
	return p
}

// forecast steps a rollout to its end. What was assumed before a change may be
// inherited.
func forecast(s *snapshot.Snapshot, st *daemonset.State, o Options, heritage *assumed) (f Forecast, assumptions []daemonset.Assumption, warnings []Warning) {
	f = Forecast{Budget: Budget{st.Budget.Kind, st.Limit(), st.Budget.Spec}, Waves: []Wave{}, Outcome: Outcome{Code: Unknown, Holders: []Holder{}, Unblock: []Unblock{}}, Limits: []Limit{}}
	step := st.Sync()
	switch {
	case !st.PodsRead:
		f.Outcome.Reason = daemonset.StepPodsNotRead
		return f, nil, nil
	case step.Reason == daemonset.StepSelectsAll, step.Reason == daemonset.StepBeingDeleted:
		f.Outcome.Code, f.Outcome.Reason = NotRolling, step.Reason
		return f, nil, nil
	}
	m, a := measure(s, st, o), assume(s, st)
	a.inherit(heritage, st)
	run := simulate(st, a.fates, m.typical(a.refusal != nil))
	f.Replaces, f.Drops = replaceable(st)
	f.Waves = append(f.Waves, run.waves...)
	f.Outcome = outcome(st, run, &a)
	if len(m.starts) == 0 {
		for i := range f.Waves {
			f.Waves[i].At = nil
		}
	}
	if run.end.endless {
		return f, a.list(&m, o, st), stepWarnings(&step, st, &a)
	}
	if d, expected := f.Outcome.spread(st, &a, &m); f.Outcome.Code == Completes {
		f.Outcome.Duration = d
		f.date(run, expected)
		for _, w := range step.Waits {
			if d != nil { // told by the controller's memory alone
				d.Pessimistic += float64(w.AtMost)
			}
		}
	}
	if f.Outcome.Code == Stalls {
		f.Outcome.Unblock = unblock(s, st, &a, &m, run)
	}
	if f.Replaces > 0 && st.Budget.Kind != daemonset.BudgetNone && st.Budget.Invalid == "" {
		f.Limits = limits(st, &a, &m)
	}
	return f, a.list(&m, o, st), stepWarnings(&step, st, &a)
}

// date has each wave begin when as many pods have had their turn in the
// expected course, in which one wave runs into the next.
func (f *Forecast) date(waves, expected *simulation) {
	if expected == nil {
		return
	}
	last := 0.
	for i := range f.Waves {
		from, to := waves.before[i], len(waves.turns)
		if i+1 < len(waves.before) {
			to = waves.before[i+1]
		}
		if from < min(to, len(expected.turns)) {
			*f.Waves[i].At = expected.turns[from]
		}
		*f.Waves[i].At = max(*f.Waves[i].At, last)
		last = *f.Waves[i].At
	}
}

// replaceable counts the old pods on nodes where a pod may stay, and those of
// them whose node should not run one.
func replaceable(st *daemonset.State) (all, drops int) {
	for i := range st.Nodes {
		n := &st.Nodes[i]
		for j := range n.Pods {
			if p := &n.Pods[j]; !p.Updated && !p.Terminating && n.MayStay.OK {
				all++
				drops += b2i(!n.ShouldRun.OK)
			}
		}
	}
	return all, drops
}

// spread runs a rollout at its best, as expected and at its worst. It returns
// when each of them ends, nil where no pod tells how long one takes, and the
// expected one, and has the Outcome hold the worst of all of them.
func (o *Outcome) spread(st *daemonset.State, a *assumed, m *measured) (d *Duration, expected *simulation) {
	if len(m.starts) == 0 {
		return nil, nil
	}
	refused := a.refusal != nil
	var runs []*simulation
	var ends []float64
	for _, p := range []*pace{m.optimistic(refused), m.expected(refused), m.pessimistic(refused)} {
		r := simulate(st, a.fates, p)
		if r.end.endless {
			return nil, nil
		}
		runs, ends = append(runs, r), append(ends, r.end.at)
		o.Worst, o.Largest = max(o.Worst, r.end.worst), max(o.Largest, r.end.largest)
	}
	return &Duration{Optimistic: slices.Min(ends), Expected: ends[1], Pessimistic: slices.Max(ends)}, runs[1]
}

// outcome tells how a simulation ended.
func outcome(st *daemonset.State, r *simulation, a *assumed) Outcome {
	o := Outcome{
		Steps: r.end.steps, Replaced: r.end.replaced, Left: r.old, Largest: r.end.largest, Worst: r.end.worst,
		Holders: []Holder{}, Unblock: []Unblock{},
	}
	lacking := r.counts.Desired - r.counts.Current
	switch {
	case r.end.endless:
		o.Code, o.Reason = Unknown, Endless
	case r.old > 0 && st.DaemonSet.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType:
		o.Code, o.Reason = NotRolling, daemonset.StepOnDelete
	case r.old > 0 || lacking > 0:
		o.Code, o.Reason = Stalls, stallReason(st, r)
		o.Holders, o.FurtherHolders = holders(r, a)
	default:
		o.Code = Completes
		if len(r.waves) == 0 && r.end.at == 0 {
			o.Code = NothingToDo
		}
		o.Holders, o.FurtherHolders = holders(r, a)
	}
	return o
}

// Reasons of this package.
const (
	Endless  daemonset.Reason = "Endless"  // the controller creates and deletes without end
	Unfilled daemonset.Reason = "Unfilled" // nodes stay without a pod
)

func stallReason(st *daemonset.State, r *simulation) daemonset.Reason {
	switch {
	case st.Budget.Invalid != "":
		return daemonset.InvalidBudget
	case r.end.failed != nil:
		return r.end.failed.Code
	case r.refused(), r.times.refused && st.Budget.MaxSurge > 0:
		return cause.CreateRefused
	case r.used >= st.Limit():
		return daemonset.StepBudgetSpent
	case r.old == 0:
		return Unfilled
	}
	return daemonset.StepWaiting
}

// holders returns the nodes that stay as they are: those that use up the
// budget, and those that should have an available pod and have none. Only those
// are named that are known to: of the others, which it is depends on the
// controller's random choice.
func holders(r *simulation, a *assumed) (named []Holder, further int) {
	named = []Holder{}
	for i := range r.slots {
		s := &r.slots[i]
		if !s.rolling.Holds && !s.down {
			continue
		}
		why := a.why(i, &r.st.Nodes[i])
		if why == nil {
			further++
			continue
		}
		h := Holder{Node: s.node.Name, Cause: why}
		for j := range s.node.Pods {
			if p := &s.node.Pods[j]; p.Object != simulated {
				h.Pod = p.Name
			}
		}
		named = append(named, h)
	}
	return named, further
}

// why is the cause for which a node stays as it is, nil where nothing is wrong
// with it yet.
func (a *assumed) why(i int, n *daemonset.Node) *cause.Cause {
	f := &a.fates[i]
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
	case a.heritage != nil && a.heritage.broken[n.Name] != nil:
		return a.heritage.broken[n.Name]
	case len(n.Pods) == 0 && a.refusal != nil:
		return a.refusal
	}
	return f.hung
}

// withLimit returns the State with another limit of the kind that its budget
// has.
func withLimit(st *daemonset.State, n int) *daemonset.State {
	c := *st
	c.Budget.Fallback = false
	if c.Budget.MaxSurge > 0 {
		c.Budget.MaxSurge = n
	} else {
		c.Budget.MaxUnavailable = n
	}
	return &c
}

// usual are the limits that people choose.
var usual = []string{"1", "5%", "10%", "25%", "33%"}

// limits says what the usual limits would mean.
func limits(st *daemonset.State, a *assumed, m *measured) []Limit {
	out := []Limit{}
	for _, text := range usual {
		v := intstr.Parse(text)
		n, err := intstr.GetScaledValueFromIntOrPercent(&v, st.Desired, true)
		if err != nil || n == 0 {
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].Nodes == n {
			same := out[last]
			same.Limit = text
			out = append(out, same)
			continue
		}
		r := simulate(withLimit(st, n), a.fates, m.typical(a.refusal != nil))
		l := Limit{Limit: text, Nodes: n, Steps: r.end.steps, Current: n == st.Limit(), Code: outcome(st, r, a).Code}
		if l.Code == Completes {
			l.Duration, _ = new(Outcome).spread(withLimit(st, n), a, m)
		}
		out = append(out, l)
	}
	return out
}

// unblock returns single changes after each of which the rollout completes,
// the simulation being asked about each. Where the revision itself fails, more
// room would only take down more nodes.
func unblock(s *snapshot.Snapshot, st *daemonset.State, a *assumed, m *measured, r *simulation) []Unblock {
	out := []Unblock{}
	pace := func() *pace { return m.typical(a.refusal != nil) }
	completes := func(st *daemonset.State, a *assumed) bool {
		return outcome(st, simulate(st, a.fates, pace()), a).Code == Completes
	}
	try := func(u Unblock, c *Change) {
		if st, a, err := after(s, a, c); err == nil && completes(st, a) {
			out = append(out, u)
		}
	}
	switch {
	case a.fails != nil:
		if to := before(st); to != 0 {
			try(Unblock{RollBack, strconv.FormatInt(to, 10)}, &Change{ToRevision: &to})
		}
		return out
	case a.refusal != nil || r.end.failed != nil || st.Budget.Kind == daemonset.BudgetNone || st.Budget.Invalid != "":
		return out
	}
	if st.Budget.MaxSurge > 0 {
		zero, one := intstr.FromInt32(0), intstr.FromInt32(1)
		try(Unblock{NoSurge, one.String()}, &Change{MaxSurge: &zero, MaxUnavailable: &one})
	}
	if a.ports { // more of them would wait
		return out
	}
	for n, most := r.used+1, len(st.Nodes)+1; n <= most; {
		higher := simulate(withLimit(st, n), a.fates, pace())
		if outcome(st, higher, a).Code == Completes {
			out = append(out, raise(st, n)...)
			break
		}
		if higher.used < n {
			break
		}
		n = higher.used + 1
	}
	const most = 5
	tried := 0
	for i := range r.slots {
		if !r.slots[i].rolling.Holds || tried == most {
			continue
		}
		tried++
		name := r.slots[i].node.Name
		try(Unblock{RemoveNode, name}, &Change{Nodes: []NodeEdit{{Kind: NodeRemove, Which: name}}})
	}
	return out
}

// raise is a higher limit, of the kind that the DaemonSet has: none where it
// sets a surge that comes to 0 here, beside which the API refuses any other.
func raise(st *daemonset.State, n int) []Unblock {
	ru := st.DaemonSet.Spec.UpdateStrategy.RollingUpdate
	switch {
	case st.Budget.MaxSurge > 0:
		return []Unblock{{RaiseMaxSurge, strconv.Itoa(n)}}
	case ru != nil && ru.MaxSurge != nil && amount(*ru.MaxSurge) != 0:
		return nil
	}
	return []Unblock{{RaiseMaxUnavailable, strconv.Itoa(n)}}
}

// after returns the State after a further Change, and what is assumed of it.
func after(s *snapshot.Snapshot, before *assumed, c *Change) (*daemonset.State, *assumed, error) {
	changed, _, err := c.Apply(s)
	if err != nil {
		return nil, nil, err
	}
	st, err := state(changed)
	if err != nil {
		return nil, nil, err
	}
	a := assume(changed, st)
	a.inherit(before.heritage, st)
	return st, &a, nil
}

// before returns the number of the newest revision besides the current one
// that an available pod is of; 0 if there is none.
func before(st *daemonset.State) int64 {
	number := map[string]int64{}
	for _, r := range st.History.Revisions {
		if !r.Matches && r.Claim == daemonset.Owned {
			number[r.Name] = r.Number
		}
	}
	var newest int64
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			if p := &st.Nodes[i].Pods[j]; p.Available.OK && !p.Terminating {
				newest = max(newest, number[p.Revision])
			}
		}
	}
	return newest
}
