package plan

import (
	"cmp"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// Make returns the Plan of a DaemonSet without a change: of the rollout in progress or, if there is none, of what a
// change to the template would do.
func Make(st *daemonset.State, o Options) *Plan {
	p, _ := makePlan(st, o)
	return p
}

func makePlan(st *daemonset.State, o Options) (*Plan, []Moment) {
	p, line := begin(SubjectRollout, st, st, o)
	p.warn(nil, st)
	if !idle(p) {
		return p, line
	}
	p.Subject = SubjectNothing
	if then, of := ifTemplateChanged(st, o); then != nil {
		p.IfTemplateChanged, p.Groups = then, of
	}
	return p, nil
}

// ifTemplateChanged returns what a change to the template would do to a State, and to its groups. It returns nil if the
// template cannot be changed.
func ifTemplateChanged(st *daemonset.State, o Options) (*Forecast, []Group) {
	restarted, err := whatif.Make(st, &whatif.Change{Restart: true})
	if err != nil {
		return nil, nil
	}
	f := forecastOf(st, restarted.State, o, false, newScenarioOfAny)
	return &f.Forecast, groups(restarted.State, o.GroupBy, f.nodes)
}

// MakeChanged returns the Plan of a changed or new DaemonSet. Its assumptions are those of the forecast, followed by
// those of the Result.
func MakeChanged(r *whatif.Result, o Options) *Plan {
	p, _ := makeChanged(r, o)
	return p
}

func makeChanged(r *whatif.Result, o Options) (*Plan, []Moment) {
	before, after, subject := r.Before, r.State, SubjectChange
	if before == nil {
		subject = SubjectNew
	} else if p, line := unaffected(r, o); p != nil {
		return p, line
	}
	p, line := begin(subject, cmp.Or(before, after), after, o)
	p.changed(r, o)
	p.Placement, p.Desired.Before = placementChange(before, after), 0
	if before != nil {
		p.Limits, p.Desired.Before = markNow(p.Limits, before, after), before.Desired
	}
	if before != nil && removesAllPods(before, after) {
		p.Outcome.Code = RemovesAllPods
		for i := range p.Limits { // regardless of the limit
			p.Limits[i].Code = RemovesAllPods
		}
	}
	if p.Outcome.Code == NothingToDo && len(p.Placement.Keep) > 0 {
		p.IfTemplateChanged, _ = ifTemplateChanged(after, o)
	}
	p.warn(before, after)
	if r.ByHand {
		for _, m := range managed.By(before.DaemonSet) {
			p.Warnings = append(p.Warnings,
				Warning{ManagedByTool, daemonset.Facts{"tool": string(m.Tool), "by": m.By, "evidence": m.Evidence}})
		}
	}
	return p, line
}

// unaffected returns the Plan of the rollout in progress if a change does not affect it: the change sets no field, and
// does not change which nodes run the pod. It returns nil for other changes, if values that could not be compared
// decide that, and if nothing is in progress.
func unaffected(r *whatif.Result, o Options) (*Plan, []Moment) {
	if len(r.Summary.Fields) > 0 || !sameNodes(r) {
		return nil, nil
	}
	p, line := begin(SubjectRollout, r.Before, r.State, o)
	p.changed(r, o)
	if idle(p) || !p.TemplateKnown() {
		return nil, nil
	}
	p.warn(nil, r.State)
	return p, line
}

// sameNodes reports whether a change makes no difference to the nodes that run the pod: no node is added, removed or
// down, and the same rules decide whether each node runs and keeps the pod.
func sameNodes(r *whatif.Result) bool {
	for _, c := range r.Summary.Nodes {
		if slices.Contains([]whatif.NodeChangeKind{whatif.NodeAdd, whatif.NodeRemove, whatif.NodeDown}, c.Kind) &&
			len(c.Nodes) > 0 {
			return false
		}
	}
	return slices.EqualFunc(r.Before.Nodes, r.State.Nodes, func(a, b daemonset.Node) bool {
		return a.Name == b.Name && reflect.DeepEqual(a.ShouldRun, b.ShouldRun) &&
			reflect.DeepEqual(a.MayStay, b.MayStay)
	})
}

// changed adds the change and its assumptions.
func (p *Plan) changed(r *whatif.Result, o Options) {
	sum := *r.Summary
	if !o.ShowValues {
		sum.Fields = hide.Differences(sum.Fields)
	}
	p.Change, p.Assumptions = &sum, append(p.Assumptions, r.Assumptions...)
}

// Creates reports whether a plan of the State creates pods, because nodes lack theirs or a rollout replaces old ones.
// It is then worth checking whether these pods can start.
func Creates(st *daemonset.State) bool {
	if !st.PodsRead || ignored(st.DaemonSet) {
		return false
	}
	old := func(p daemonset.Pod) bool { return !p.Updated && !p.Terminating }
	return slices.ContainsFunc(st.Nodes, func(n daemonset.Node) bool {
		return st.Owed(&n) || n.ShouldRun.OK && st.Budget.Kind != daemonset.BudgetNone &&
			slices.ContainsFunc(n.Pods, old)
	})
}

// markNow marks the limit that applies before the change, if the change sets another one, and adds its name.
func markNow(limits []Limit, before, after *daemonset.State) []Limit {
	if before.Budget.Kind == after.Budget.Kind && before.Budget.Spec == after.Budget.Spec {
		return limits
	}
	same, now := before.Budget.Kind == after.Budget.Kind, before.Limit()
	spec := intstr.Parse(before.Budget.Spec)
	if n, err := intstr.GetScaledValueFromIntOrPercent(&spec, after.Budget.Of, true); err == nil && n > 0 {
		now = n // a percentage is of the nodes after the change
	}
	for i := range limits {
		limits[i].Current = same && limits[i].Nodes == now
	}
	if named := func(l Limit) bool { return l.Limit == before.Budget.Spec }; same &&
		!slices.ContainsFunc(limits, named) {
		alsoCalled(&limits, now, before.Budget.Spec)
	}
	slices.SortStableFunc(limits, func(a, b Limit) int { return a.Nodes - b.Nodes })
	return limits
}

// idle reports whether nothing is in progress that ends by itself or stalls.
func idle(p *Plan) bool {
	return p.Outcome.Code == NothingToDo || p.Outcome.Code == NotRolling && p.Next.Reason == daemonset.StepOnDelete
}

func begin(subject Subject, was, st *daemonset.State, o Options) (*Plan, []Moment) {
	p := &Plan{
		Header: daemonset.NewHeader(Kind, st), Subject: subject, Warnings: append([]Warning{}, o.Warnings...),
		Desired:   Desired{st.Desired, st.Desired},
		Placement: Placement{Gain: []PlacementNode{}, Lose: []PlacementNode{}, Keep: []PlacementNode{}},
		Next:      st.Sync(),
	}
	p.Now, _ = st.Counts()
	f := forecastOf(was, st, o, subject == SubjectRollout, newScenario)
	p.Lost, p.Stranded = append([]PlacementNode{}, f.lost...), append([]StrandedNode{}, f.stranded...)
	p.Groups = groups(st, o.GroupBy, f.nodes)
	p.Admission, p.Unfit, p.Preempts = f.admission, append([]Holder{}, f.unfit...), append([]Preempt{}, f.preempts...)
	p.Forecast, p.Assumptions, p.Warnings = f.Forecast, append(p.Assumptions, f.assumptions...),
		append(p.Warnings, f.warnings...)
	return p, f.line
}
