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

// planning is what plan-rollout and history --undo have in common.
type planning struct {
	question
	change   *whatif.Change // what is asked, without manifests; nil for nothing
	known    plan.Options
	gates    []plan.Gate
	rollback string // the flag that names the revision to go back to

	dryRun      bool // the API server is asked in a dry run whether it admits the next pod
	showsValues bool // literal values of environment variables, which the API server may quote

	// The command line, for the commands on a screen.
	asked   sheet.Asked
	changed []string       // the flags that change the DaemonSet or its nodes, each once
	apply   screen.Command // what applies the manifests; empty where nothing a person can paste does

	ofManifests bool // the change is that of manifests
}

// planned is a Plan with what else its screen needs of the live DaemonSet.
type planned struct {
	*plan.Plan
	now  *explain.Explanation // nil with a manifest that changes anything
	only string               // the container of a DaemonSet that has one

	of       *daemonset.State // that is planned
	was      *daemonset.State // before the change; nil where there is none
	expected []plan.Moment
}

func (p planned) header() *daemonset.Header { return &p.Header }

// plans makes the plans of DaemonSets. For one of several nothing more is read than what
// admits pods, where it creates some: the rest would take requests for each.
func (o *planning) plans(ctx context.Context, all []*daemonset.State) ([]planned, error) {
	results := make([]*whatif.Result, len(all))
	for i, st := range all {
		err := o.groupable(st.Snapshot, o.known.GroupBy, o.change)
		if err == nil {
			err = o.relative(st)
		}
		if err == nil {
			results[i], err = o.after(st, o.change)
		}
		if err != nil {
			return nil, err
		}
	}
	err := o.share(ctx, results, o.many())
	if err == nil && !o.many() {
		err = o.lookUp(ctx, results[0])
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

// relative makes of a revision that is named by how far it is back the one that is meant.
func (o *planning) relative(st *daemonset.State) error {
	c := o.change
	if c == nil || c.ToRevision == nil || *c.ToRevision >= 0 {
		return nil
	}
	to, err := target(st, -*c.ToRevision)
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

// planned makes a plan with what else its screen needs.
func (o *planning) planned(r *whatif.Result) planned {
	st := cmp.Or(r.Before, r.State)
	made := o.planOf(r, o.known)
	made.now = explain.Explain(st, explain.Options{Outlook: plan.Look(st)})
	if containers := st.DaemonSet.Spec.Template.Spec.Containers; len(containers) == 1 {
		made.only = containers[0].Name
	}
	return made
}

// after returns what a change makes of a State, or the State as it is.
func (o *planning) after(st *daemonset.State, c *whatif.Change) (*whatif.Result, error) {
	if c == nil {
		return &whatif.Result{State: st}, nil
	}
	r, err := whatif.Make(st, c)
	if err != nil {
		return nil, o.program.said(err, o.rollback)
	}
	return r, nil
}

// planOf returns the plan of what a change makes of a State, or of the State as it is.
func (o *planning) planOf(r *whatif.Result, known plan.Options) planned {
	if r.Before == nil {
		p, line := plan.MakeLine(r.State, known)
		return planned{Plan: p, of: r.State, expected: line}
	}
	return changed(r, known)
}

// changed returns the plan of what a change makes of a State, or of a new DaemonSet.
func changed(r *whatif.Result, known plan.Options) planned {
	p, line := plan.MakeChangedLine(r, known)
	made := planned{Plan: p, of: r.State, was: r.Before, expected: line}
	if !p.OfChange() {
		made.now = explain.Explain(r.Before, explain.Options{Outlook: plan.Look(r.Before)})
	}
	return made
}

// share adds to the States of changes what else their plans need, once what they share; of
// those of a list only what admits the pods that they create, and who creates them.
func (o *planning) share(ctx context.Context, results []*whatif.Result, listed bool) error {
	states, needs := make([]*daemonset.State, len(results)), make([]cause.Needs, len(results))
	for i, r := range results {
		states[i], needs[i] = r.State, plan.NeedsOf(r.State, o.known.Fit)
		if r.Before != nil || r.State.DaemonSet.UID == "" { // a status that no controller has written yet
			needs[i].Controller = false
		}
		if listed {
			needs[i] = cause.Needs{Admission: needs[i].Admission, Controller: needs[i].Controller}
		}
	}
	states, err := o.knowingAll(ctx, states, needs)
	for i := range states {
		results[i].State = states[i]
	}
	return err
}

// lookUp adds to the States of a change, where its plan creates pods, what they refer to,
// and those of the template before, to which a rollback goes back.
func (o *planning) lookUp(ctx context.Context, r *whatif.Result) error {
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
	s, err := o.refers(ctx, r.State.Snapshot, templates...)
	if err != nil {
		return err
	}
	if r.State = r.State.Reading(s); r.Before != nil {
		r.Before = r.Before.Reading(r.Before.Snapshot.Referring(s.References, s.Gaps))
	}
	return nil
}

// tryPod asks the API server in a dry run whether it admits the next pod, where that is
// asked.
func (o *planning) tryPod(ctx context.Context, r *whatif.Result) error {
	pod := plan.NextPod(r.State)
	if !o.dryRun || pod == nil || r.State.Snapshot.Admission == nil {
		return nil
	}
	// the DaemonSet is not there yet, and no owner is without one
	if owner := &pod.OwnerReferences[0]; owner.UID == "" {
		owner.UID = nobody
	}
	d, err := o.opened.(podServer).DryRunPod(ctx, pod)
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

// valuesOf returns the literal values of the templates before and after a change.
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

// podServer is a cluster, which can be asked for a pod.
type podServer interface {
	DryRunPod(context.Context, *corev1.Pod) (*snapshot.PodDryRun, error)
}

// nobody is the UID of no object.
const nobody types.UID = "00000000-0000-0000-0000-000000000000"

// answer prints plans, and returns the exit status that they ask for. Where they are
// listed, as nobody named them, those with nothing to do are left out.
func (o *planning) answer(plans []planned, listed bool) error {
	o.gaps(headers(plans, planned.header)...)
	shown := plans
	if listed {
		shown = slices.DeleteFunc(slices.Clone(plans), func(p planned) bool { return !p.HasToDo() })
		slices.SortStableFunc(shown, func(a, b planned) int { return plan.WorstFirst(a.Plan, b.Plan) })
	}
	if err := cmp.Or(o.print(shown, listed, len(plans)), o.foot(headers(plans, planned.header))); err != nil {
		return err // before a gate says anything
	}
	return o.status(plans)
}

// print writes the plans that are shown, of so many that were made.
func (o *planning) print(plans []planned, listed bool, made int) error {
	list := &plan.List{APIVersion: snapshot.APIVersion, Kind: plan.ListKind, Items: []*plan.Plan{}}
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
		return o.nothing()
	case listed && len(plans) == 0:
		return view.NothingToDo(o.Out, made, o.style)
	case listed && o.format != inMarkdown:
		return view.Plans(o.Out, list, o.asks(plans[0]), o.style)
	}
	return each(o.Out, plans, func(p planned) error { return view.Plan(o.Out, p.Plan, p.now, o.asks(p), o.style) })
}

// page writes plans as a file for a browser.
func (o *planning) page(plans []planned, listed bool) error {
	var all []sheet.Planned
	for _, p := range plans {
		v := sheet.Planned{Plan: p.Plan, Now: p.now, Asked: o.asks(p), Map: p.Plan.Map(p.of, o.known.GroupBy),
			Expected: p.expected}
		if p.now != nil && p.Subject == plan.SubjectRollout && p.now.Rollout.UnderWay && p.now.Rollout.Since != nil {
			v.Passed = plan.PastLine(p.of, *p.now.Rollout.Since)
		}
		all = append(all, v)
	}
	o.about(headers(plans, planned.header))
	return view.PlanPage(o.Out, all, listed, o.asked, o.style)
}

// asks is the command line that asked for a plan.
func (o *planning) asks(p planned) sheet.Asked {
	asked := o.asked
	if o.format == inMarkdown { // is read by others, who have not the files
		asked = sheet.Asked{Program: o.asked.Program}
	}
	if o.format != inMarkdown || !o.ofManifests {
		asked.Makes = o.makes(p)
	}
	return asked
}

// upTo lists at most so many names, and how many more there are.
func upTo(most int, names []string) string {
	words := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		words += fmt.Sprintf(" +%d more", more)
	}
	return words
}

// parseGates reads the conditions of --fail-on.
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

// status is the exit status that the gates and the outcomes ask for.
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
		return conditionHolds
	case len(open) > 0: // a gate that lets pass what it did not see is none
		hint := "the notes above say what could not be read"
		ofFit := slices.ContainsFunc(o.gates, func(g plan.Gate) bool { return g.On == plan.GateUnfit })
		if lacked := lackedBeside(headers(plans, planned.header)); ofFit && len(lacked) > 0 {
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
		has[inPart] = o.exitCode && (has[inPart] || inPartOnly(&p.Header) || !p.TemplateKnown())
	}
	return worst(has)
}

// statusOf is the exit status of one plan with --exit-code; 0 for none.
func statusOf(p *plan.Plan) exitStatus {
	underWay := p.Subject == plan.SubjectRollout && (p.Outcome.ReachesEnd() || p.Next.Kind != daemonset.StepNone)
	switch {
	case p.Outcome.Code == plan.Stalls:
		return stuck
	case p.Outcome.Code == plan.RemovesAllPods:
		return degraded
	case p.Outcome.Unserved() > 0 && (p.Outcome.ReachesEnd() || p.Outcome.Code == plan.NothingToDo):
		return degraded
	case p.Outcome.Code == plan.Unknown:
		return inPart
	case underWay:
		return moving
	}
	return 0
}
