package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// planning has the options that plan-rollout and history --undo share.
type planning struct {
	queryFlags
	change   *whatif.Change // without manifests; nil if the user asks for no change
	known    plan.Options
	gates    []plan.Gate
	rollback string // name of the flag that selects the revision of a rollback

	dryRun      bool // try to create the next pod in a server-side dry run
	showsValues bool // show literal values that the API server may quote

	// The command line, for commands to paste.
	asked   sheet.Asked
	changed []string       // flags that change the DaemonSet or nodes, without duplicates
	apply   screen.Command // applies the manifests; empty if the user cannot paste such a command

	ofManifests bool // the change comes from manifests

	footprints map[*plan.Plan]plan.Footprint // of a list of plans
	failed     []plan.ListError              // DaemonSets of a list without a plan
}

// planned is a Plan with the data that its screen needs.
type planned struct {
	*plan.Plan
	now  *explain.Explanation // nil with a manifest that changes something
	only string               // name of the only container, or empty

	state    *daemonset.State // the planned State
	before   *daemonset.State // the State before the change; may be nil
	expected []plan.Moment
}

func (p planned) header() *daemonset.Header { return &p.Header }

// plans builds the plans of DaemonSets. For several DaemonSets it reads only the additional input
// of pod admission, because other input needs requests for each DaemonSet.
func (o *planning) plans(ctx context.Context, all []*daemonset.State) ([]planned, error) {
	results := make([]*whatif.Result, len(all))
	for i, st := range all {
		err := o.checkGroupLabel(st.Snapshot, o.known.GroupBy, o.change)
		if err == nil {
			err = o.resolveRevision(st)
		}
		if err == nil {
			results[i], err = o.applyChange(st, o.change)
		}
		if err != nil {
			return nil, err
		}
	}
	err := o.readShared(ctx, results, o.isList())
	if err == nil && !o.isList() {
		err = o.readReferences(ctx, results[0])
	}
	if err != nil {
		return nil, err
	}
	out := []planned{}
	for _, r := range results {
		out = append(out, o.planned(r))
	}
	return out, nil
}

// planEach builds the plans of a list, one DaemonSet after another, and drops each State as soon as its
// plan is made. If the API server would reject the change of a DaemonSet, planEach records the error and
// continues.
func (o *planning) planEach(ctx context.Context, gate string) ([]planned, error) {
	var out []planned
	var waiting []int // indexes of the plans that need more input
	var results []*whatif.Result
	err := o.readEach(ctx, gate, func(st *daemonset.State) error {
		if err := o.checkGroupLabel(st.Snapshot, o.known.GroupBy, o.change); err != nil {
			return err
		}
		r, err := o.applyChange(st, o.change)
		if err != nil {
			o.failed = append(o.failed, plan.ListError{Namespace: st.DaemonSet.Namespace, Name: st.DaemonSet.Name,
				Message: err.Error()})
			return nil
		}
		if n := o.needsOf(r, true); n.Admission || n.Controller {
			waiting, results, out = append(waiting, len(out)), append(results, r), append(out, planned{})
			return nil
		}
		out = append(out, o.listed(r))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := o.readShared(ctx, results, true); err != nil {
		return nil, err
	}
	for i, r := range results {
		out[waiting[i]] = o.listed(r)
	}
	return out, nil
}

// listed returns the plan of r for a list, without its State.
func (o *planning) listed(r *whatif.Result) planned {
	p := o.planOf(r, o.known).Plan
	if o.footprints == nil {
		o.footprints = map[*plan.Plan]plan.Footprint{}
	}
	o.footprints[p] = plan.FootprintOf(r.State, p)
	return planned{Plan: p}
}

// together returns the effect of the plans of a list at the same time, or nil if no DaemonSet changes.
func (o *planning) together(plans []planned) *plan.Together {
	if o.footprints == nil || o.change == nil || o.given(daemonSetFlagNames...) == "" {
		return nil
	}
	var all []*plan.Plan
	var footprints []plan.Footprint
	for _, p := range plans {
		all, footprints = append(all, p.Plan), append(footprints, o.footprints[p.Plan])
	}
	return plan.TogetherOf(all, footprints)
}

// resolveRevision replaces a negative revision number, which counts back, by the number of that
// revision.
func (o *planning) resolveRevision(st *daemonset.State) error {
	c := o.change
	if c == nil || c.ToRevision == nil || *c.ToRevision >= 0 {
		return nil
	}
	to, err := revisionBack(st, -*c.ToRevision)
	if err != nil {
		return err
	}
	c.ToRevision = &to
	for i, f := range o.asked.Flags {
		if f.Name == "to-revision" {
			o.asked.Flags[i].Value = strconv.FormatInt(to, 10)
		}
	}
	return nil
}

// planned returns the plan of r with the data that its screen needs.
func (o *planning) planned(r *whatif.Result) planned {
	st := cmp.Or(r.Before, r.State)
	made := o.planOf(r, o.known)
	made.now = explain.Explain(st, explain.Options{Outlook: plan.Look(st)})
	if containers := st.DaemonSet.Spec.Template.Spec.Containers; len(containers) == 1 {
		made.only = containers[0].Name
	}
	return made
}

// applyChange returns the State after a change, or st if there is no change.
func (o *planning) applyChange(st *daemonset.State, c *whatif.Change) (*whatif.Result, error) {
	if c == nil {
		return &whatif.Result{State: st}, nil
	}
	r, err := whatif.Make(st, c)
	if err != nil {
		return nil, o.program.withHint(err, o.rollback)
	}
	return r, nil
}

// planOf returns the plan of r, with or without a change.
func (o *planning) planOf(r *whatif.Result, known plan.Options) planned {
	if r.Before == nil {
		p, line := plan.MakeLine(r.State, known)
		return planned{Plan: p, state: r.State, expected: line}
	}
	return planChange(r, known)
}

// planChange returns the plan of a change or of a new DaemonSet.
func planChange(r *whatif.Result, known plan.Options) planned {
	p, line := plan.MakeChangedLine(r, known)
	made := planned{Plan: p, state: r.State, before: r.Before, expected: line}
	if !p.OfChange() {
		made.now = explain.Explain(r.Before, explain.Options{Outlook: plan.Look(r.Before)})
	}
	return made
}

// readShared adds to the States the input that their plans need. It reads shared input once. For a
// list of plans, it reads only the input of pod admission and the controller's Lease.
func (o *planning) readShared(ctx context.Context, results []*whatif.Result, listed bool) error {
	states, needs := make([]*daemonset.State, len(results)), make([]cause.Needs, len(results))
	for i, r := range results {
		states[i], needs[i] = r.State, o.needsOf(r, listed)
	}
	states, err := o.readAllNeeds(ctx, states, needs)
	for i := range states {
		results[i].State = states[i]
	}
	return err
}

// needsOf returns the additional input for the plan of r. A plan of a list needs less.
func (o *planning) needsOf(r *whatif.Result, listed bool) cause.Needs {
	n := plan.NeedsOf(r.State, o.known.Fit)
	if r.Before != nil || r.State.DaemonSet.UID == "" { // no controller has written this status yet
		n.Controller = false
	}
	if listed {
		n = cause.Needs{Admission: n.Admission, Controller: n.Controller}
	}
	return n
}

// readReferences adds the objects to which new pods refer, if the plan creates pods. It includes
// the references of the previous template, because a rollback returns to it.
func (o *planning) readReferences(ctx context.Context, r *whatif.Result) error {
	if !plan.Creates(r.State) {
		return nil
	}
	if err := o.tryPod(ctx, r); err != nil {
		return err
	}
	templates := []*corev1.PodTemplateSpec{&r.State.DaemonSet.Spec.Template}
	if r.Before != nil {
		templates = append(templates, &r.Before.DaemonSet.Spec.Template)
	}
	s, err := o.addReferences(ctx, r.State.Snapshot, templates...)
	if err != nil {
		return err
	}
	if r.State = r.State.Reading(s); r.Before != nil {
		r.Before = r.Before.Reading(r.Before.Snapshot.Referring(s.References, s.Gaps))
	}
	return nil
}

// tryPod tries to create the next pod in a server-side dry run, if the user asked for it.
func (o *planning) tryPod(ctx context.Context, r *whatif.Result) error {
	pod := plan.NextPod(r.State)
	if !o.dryRun || pod == nil || r.State.Snapshot.Admission == nil {
		return nil
	}
	// a new DaemonSet has no UID, but the API server requires one for an owner
	if owner := &pod.OwnerReferences[0]; owner.UID == "" {
		owner.UID = dummyUID
	}
	d, err := o.opened.(podDryRunner).DryRunPod(ctx, pod)
	if err != nil {
		return err
	}
	d.Of = &r.State.DaemonSet.Spec.Template
	if !o.showsValues {
		d.Message = valuesOf(r).Hide(d.Message)
	}
	r.State = r.State.Reading(r.State.Snapshot.Tried(d))
	return nil
}

// valuesOf returns the literal values in the templates before and after a change.
func valuesOf(r *whatif.Result) *hide.Values {
	ds := r.State.DaemonSet
	var templates []template.Content
	for _, st := range []*daemonset.State{r.State, r.Before} {
		if st == nil {
			continue
		}
		if t, err := template.Of(&st.DaemonSet.Spec.Template, false); err == nil {
			templates = append(templates, t)
		}
	}
	return hide.ValuesOf([]string{ds.Namespace, ds.Name}, templates...)
}

// podDryRunner is a reader that can create a pod in a dry run: a cluster.
type podDryRunner interface {
	DryRunPod(context.Context, *corev1.Pod) (*snapshot.PodDryRun, error)
}

// dummyUID is a UID that no object has.
const dummyUID types.UID = "00000000-0000-0000-0000-000000000000"

// answer prints plans and returns their exit status. A list of plans omits DaemonSets with nothing
// to do.
func (o *planning) answer(plans []planned, listed bool) error {
	o.noteGaps(headers(plans, planned.header)...)
	shown := plans
	if listed {
		shown = slices.DeleteFunc(slices.Clone(plans), func(p planned) bool { return !p.HasToDo() })
		slices.SortStableFunc(shown, func(a, b planned) int { return plan.WorstFirst(a.Plan, b.Plan) })
	}
	if err := cmp.Or(o.print(shown, listed, len(plans)), o.writeFooter(headers(plans, planned.header))); err != nil {
		return err // an output error takes precedence over the gates
	}
	return o.status(plans)
}

// print writes the plans. made is the number of all plans, including those that are not shown.
func (o *planning) print(plans []planned, listed bool, made int) error {
	list := &plan.List{APIVersion: snapshot.APIVersion, Kind: plan.ListKind, Items: []*plan.Plan{},
		Together: o.together(plans), Errors: append([]plan.ListError{}, o.failed...)}
	for _, p := range plans {
		list.Items = append(list.Items, p.Plan)
	}
	switch {
	case o.format == inHTML && len(plans) > 0:
		return o.page(plans, listed)
	case !o.text() && (listed || len(plans) != 1):
		return o.write(list, headers(plans, planned.header))
	case !o.text():
		return o.write(plans[0].Plan, headers(plans, planned.header))
	case listed && made == 0:
		return o.printNone()
	case listed && len(plans)+len(o.failed) == 0:
		return view.NothingToDo(o.Out, made, o.style)
	case listed && o.format != inMarkdown:
		return view.Plans(o.Out, list, o.asked, o.style)
	}
	return writeEach(o.Out, plans,
		func(p planned) error { return view.Plan(o.Out, p.Plan, p.now, o.askedFor(p), o.style) })
}

// page writes plans as an HTML page.
func (o *planning) page(plans []planned, listed bool) error {
	var all []sheet.Planned
	for _, p := range plans {
		v := sheet.Planned{Plan: p.Plan, Now: p.now, Asked: o.askedFor(p), Map: p.Plan.Map(p.state, o.known.GroupBy),
			Expected: p.expected}
		if p.now != nil && p.Subject == plan.SubjectRollout && p.now.Rollout.UnderWay && p.now.Rollout.Since != nil {
			v.Passed = plan.PastLine(p.state, *p.now.Rollout.Since)
		}
		all = append(all, v)
	}
	o.setPageHeader(headers(plans, planned.header))
	return view.PlanPage(o.Out, all, listed, o.asked, o.style)
}

// askedFor returns the command line for the commands below a plan.
func (o *planning) askedFor(p planned) sheet.Asked {
	asked := o.asked
	if o.format == inMarkdown { // other people read it, and they do not have the files
		asked = sheet.Asked{Program: o.asked.Program}
	}
	if o.format != inMarkdown || !o.ofManifests {
		asked.Makes = o.applyCommands(p)
	}
	return asked
}

// joinFirst joins the first most names, and adds the number of the others.
func joinFirst(most int, names []string) string {
	words := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		words += fmt.Sprintf(" +%d more", more)
	}
	return words
}

// parseGates parses the conditions of --fail-on.
func parseGates(texts []string) ([]plan.Gate, error) {
	var out []plan.Gate
	for _, t := range texts {
		name, most, counts := strings.Cut(strings.TrimSpace(t), ">")
		g := plan.Gate{On: plan.GateOn(strings.TrimSpace(name))}
		n, err := uint64(0), error(nil)
		if counts {
			n, err = strconv.ParseUint(strings.TrimSpace(most), 10, 31)
		}
		if err != nil || !slices.Contains(plan.GatesOn, g.On) || counts != g.On.Counts() {
			return nil, hinted{fmt.Errorf("--fail-on %q is none of stalls, removesAllPods, lostNodes>N, strands>N, "+
				"unfit>N, replaces>N, immediateDeletes>N", strings.TrimSpace(t)), "--fail-on 'stalls,lostNodes>0'"}
		}
		g.Most = int(n)
		out = append(out, g)
	}
	return out, nil
}

// status returns the exit status for the gates and the outcomes, or nil.
func (o *planning) status(plans []planned) error {
	failed := false
	var open []string
	for _, g := range o.gates {
		for _, p := range plans {
			switch found := g.Of(p.Plan); {
			case found.Holds:
				fmt.Fprintf(o.ErrOut, "--fail-on %s: %s\n", g, view.Gate(g, p.Plan))
				failed = true
			case !found.Known:
				open = append(open, fmt.Sprintf("cannot evaluate --fail-on %s for %s/%s", g, p.DaemonSet.Namespace,
					p.DaemonSet.Name))
			}
		}
		if slices.ContainsFunc(plans, func(p planned) bool { return p.Lacks(snapshot.DaemonSets) }) {
			open = append(open, fmt.Sprintf("cannot evaluate --fail-on %s for DaemonSets that the input lacks", g))
		}
	}
	switch {
	case failed:
		return statusCondition
	case len(o.failed) > 0:
		return o.failure()
	case len(open) > 0: // an unknown condition must not pass the check
		hint := "the notes above say what could not be read"
		ofFit := slices.ContainsFunc(o.gates, func(g plan.Gate) bool { return g.On == plan.GateUnfit })
		if lacked := missingForFit(headers(plans, planned.header)); ofFit && len(lacked) > 0 {
			hint = source.DumpCommand(lacked...) + " > dump.yaml"
		}
		if slices.ContainsFunc(plans, func(p planned) bool { return !p.TemplateKnown() }) {
			hint = "take the snapshot with --show-values: values of a manifest cannot be compared with digests"
			if o.change != nil && o.change.ToRevision != nil {
				hint = "a newer version of this plugin may know the fields of the revision that this one does not"
			}
		}
		return hinted{errors.New(strings.Join(open, "; ")), hint}
	}
	has := map[exitStatus]bool{}
	for _, p := range plans {
		has[statusOf(p.Plan)] = o.exitCode
		has[statusPartial] = o.exitCode && (has[statusPartial] || isPartial(&p.Header) || !p.TemplateKnown())
	}
	return worstStatus(has)
}

// failure returns an error for the DaemonSets of a list without a plan. The list has the error of each.
func (o *planning) failure() error {
	first := o.failed[0]
	text := fmt.Sprintf("%s/%s: %s", first.Namespace, first.Name, first.Message)
	if more := len(o.failed) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return hinted{errors.New(text), fmt.Sprintf("kubectl get daemonset -n %s %s -o yaml", first.Namespace, first.Name)}
}

// statusOf returns the exit status of one plan with --exit-code, or 0.
func statusOf(p *plan.Plan) exitStatus {
	underWay := p.Subject == plan.SubjectRollout && (p.Outcome.ReachesEnd() || p.Next.Kind != daemonset.StepNone)
	switch {
	case p.Outcome.Code == plan.Stalls:
		return statusStuck
	case p.Outcome.Code == plan.RemovesAllPods:
		return statusDegraded
	case p.Outcome.Unserved() > 0 && (p.Outcome.ReachesEnd() || p.Outcome.Code == plan.NothingToDo):
		return statusDegraded
	case p.Outcome.Code == plan.Unknown:
		return statusPartial
	case underWay:
		return statusProgressing
	}
	return 0
}
