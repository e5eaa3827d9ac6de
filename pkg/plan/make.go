package plan

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
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
	p.Limits = markNow(p.Limits, before, after)
	p.Change, p.Placement, p.Desired.Before = summary, placementChange(before, after), before.Desired
	if removesAllPods(before, after) {
		p.Outcome.Code = RemovesAllPods
		for i := range p.Limits { // whatever the limit
			p.Limits[i].Code = RemovesAllPods
		}
	}
	p.warn(before, after)
	p.Warnings = slices.Insert(p.Warnings, 0, c.Warnings...)
	if len(summary.Fields) > 0 && c.byHand() {
		for _, m := range managed.By(s.DaemonSet) {
			p.Warnings = append(p.Warnings, Warning{ManagedByTool, daemonset.Facts{"tool": string(m.Tool), "by": m.By, "evidence": m.Evidence}})
		}
	}
	if !o.ShowValues {
		summary.Fields = hidden(summary.Fields)
	}
	p.Assumptions = append(p.Assumptions, c.unasked(summary)...)
	if n := c.notCompared(s); n > 0 {
		p.Assumptions = append(p.Assumptions, daemonset.Assumption{Code: AssumeEnvValues, Value: strconv.Itoa(n), Source: sourceManifest})
	}
	if n := c.leftOut(s, before.History); n > 0 {
		p.Assumptions = append(p.Assumptions, daemonset.Assumption{Code: AssumeUnknownFields, Value: strconv.Itoa(n), Source: sourceRevision})
	}
	return p, nil
}

// markNow marks among the limits of a plan the one that holds now, where a change
// asks for another, and adds its name.
func markNow(limits []Limit, before, after *daemonset.State) []Limit {
	if before.Budget.Kind == after.Budget.Kind && before.Budget.Spec == after.Budget.Spec {
		return limits
	}
	same, now := before.Budget.Kind == after.Budget.Kind, before.Limit()
	spec := intstr.Parse(before.Budget.Spec)
	if n, err := intstr.GetScaledValueFromIntOrPercent(&spec, after.Desired, true); err == nil && n > 0 {
		now = n // of the nodes that there are then
	}
	for i := range limits {
		limits[i].Current = same && limits[i].Nodes == now
	}
	if named := func(l Limit) bool { return l.Limit == before.Budget.Spec }; same && !slices.ContainsFunc(limits, named) {
		alsoCalled(&limits, now, before.Budget.Spec)
	}
	slices.SortStableFunc(limits, func(a, b Limit) int { return a.Nodes - b.Nodes })
	return limits
}

// MethodServerDryRun is the ChangeSummary's Method where the API server itself
// laid a manifest over the live object, and so checked it.
const MethodServerDryRun = "ServerDryRun"

// MethodOverlay is the Method where neither an annotation nor field managers tell
// what the manifest before this one held.
const MethodOverlay = "Overlay"

// sameContainers reports whether two DaemonSets run the same containers with the
// same volumes: what fails in one fails in the other.
func sameContainers(a, b *appsv1.DaemonSet) bool {
	x, y := &a.Spec.Template.Spec, &b.Spec.Template.Spec
	return equality.Semantic.DeepEqual(x.Containers, y.Containers) && equality.Semantic.DeepEqual(x.InitContainers, y.InitContainers) && equality.Semantic.DeepEqual(x.Volumes, y.Volumes)
}

// New returns the Plan of a DaemonSet that is not in the cluster yet: the
// Snapshot holds it as the API server would store it, without a pod. Of the Change
// the nodes are changed before, and it says how the DaemonSet is made; all else of
// it is about one that is there. Without nodes it fails.
func New(s *snapshot.Snapshot, c *Change, o Options) (*Plan, error) {
	if s.Lacks(snapshot.Nodes) {
		return nil, lacking(s, snapshot.Nodes, "where it would run")
	}
	changed := *s
	edited, err := editNodes(&changed, c.Nodes)
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
	p.Change = &ChangeSummary{Method: c.Method, FieldManager: c.FieldManager, Fields: []FieldDiff{}, TemplateChanged: true, Revision: RevisionNote{Number: 1, New: true}, Nodes: edited}
	p.Placement, p.Desired.Before = placementChange(nil, st), 0
	p.warn(nil, st)
	p.Warnings = slices.Insert(p.Warnings, 0, c.Warnings...)
	p.Assumptions = append(p.Assumptions, (&Change{DaemonSet: s.DaemonSet, Method: c.Method}).unasked(p.Change)...)
	return p, nil
}

// unasked returns what is assumed of a manifest since the API server was not
// asked about it.
func (c *Change) unasked(sum *ChangeSummary) []daemonset.Assumption {
	var out []daemonset.Assumption
	assume := func(code daemonset.AssumptionCode, value string) {
		out = append(out, daemonset.Assumption{Code: code, Value: value, Source: sourceManifest})
	}
	if c.DaemonSet == nil || c.Method == MethodServerDryRun {
		return nil
	}
	if sum.TemplateChanged {
		assume(AssumeTemplateNotChecked, "")
	}
	if sum.TemplateChanged || len(sum.Fields) > 0 {
		assume(AssumeNoServerWarnings, "")
	}
	if c.FieldManager != "" && c.Method == MethodOverlay {
		assume(AssumeNoConflicts, c.FieldManager)
	}
	return out
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
	p.warn(nil, st)
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
	f := forecast(changed, after, o, nil)
	p.IfTemplateChanged, p.Groups = &f.Forecast, groups(after, o.GroupBy, f.fates)
	return p, nil
}

// idle reports whether nothing is under way that ends by itself, or stalls.
func idle(p *Plan) bool {
	return p.Outcome.Code == NothingToDo || p.Outcome.Code == NotRolling && p.Next.Reason == daemonset.StepOnDelete
}

func begin(subject Subject, s *snapshot.Snapshot, st *daemonset.State, o Options, heritage *assumed) *Plan {
	p := &Plan{
		Header: daemonset.NewHeader(Kind, s, st), Subject: subject, Warnings: []Warning{},
		Desired:   Desired{st.Desired, st.Desired},
		Placement: Placement{Gain: []PlacementNode{}, Lose: []PlacementNode{}}, Next: st.Sync(),
	}
	p.Now, _ = st.Counts()
	f := forecast(s, st, o, heritage)
	p.Lost = append([]PlacementNode{}, f.lost...)
	p.Groups = groups(st, o.GroupBy, f.fates)
	p.Forecast, p.Assumptions, p.Warnings = f.Forecast, append(p.Assumptions, f.assumptions...), append(p.Warnings, f.warnings...)
	return p
}
