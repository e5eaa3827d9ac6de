package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

type explainOptions struct {
	queryFlags
	watchFlags
	nodes []string
}

func newExplain(c *common) *cobra.Command {
	o := &explainOptions{queryFlags: queryFlags{inputFlags: inputFlags{common: c, command: "explain"}}}
	cmd := &cobra.Command{
		Use:     "explain [NAME...]",
		Short:   "Explain a DaemonSet's numbers, what is wrong and what to do",
		GroupID: "inspect",
		Long: paragraphs(`
			Computes the status of a DaemonSet by its controller's rules and compares it with
			the reported status. Shows which nodes have no available pod and why, what limits
			the rollout, and what to do. Changes nothing.

			Without a NAME: one line for each DaemonSet in the namespace, worst first. NAME may
			be NAMESPACE/NAME.

			NODES is a name, a comma-separated list of names, a pattern such as 'worker-*', or
			a label selector such as pool=gpu.

			--watch keeps the answer up to date until Ctrl-C or --timeout. On a terminal, it
			redraws a screen; elsewhere, it prints lines. With -o json, it prints one document
			per line.`),
		Annotations: map[string]string{exitTable: exitStatusTable("2 to 5", `
			If several statuses apply, or there are several DaemonSets, the status is the first
			one in the order 3, 4, 5, 2.`,
			row{"0", "answered: healthy, or waiting for you"},
			row{"1", "error"},
			row{"2", "progressing"},
			row{"3", "stuck"},
			row{"4", "degraded"},
			row{"5", "answered only in part"}) +
			"\n\nExit status of --watch (2 to 5 only with --exit-code):\n" + table(
			row{"0", "--timeout expired"},
			row{"1", "error, or the DaemonSet was deleted"},
			row{"2 to 5", "--timeout expired, and this status of the table above applies"})},
		Example: c.program.examples(`
			# Why is this rollout stuck?
			kubectl ds explain -n kube-system node-agent

			# Why does it not run on these nodes?
			kubectl ds explain -n kube-system node-agent --node 'worker-*'

			# Keep it on the screen
			kubectl ds explain -n kube-system node-agent --watch

			# Which DaemonSets should run on a node, and which do?
			kubectl ds explain -A --node worker-7

			# A check for CI
			kubectl ds explain -n kube-system node-agent --exit-code -o json`),
		ValidArgsFunction: c.completionFunc(nameChoices),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.queryFlags.addFlags(cmd.Flags(), "show all nodes and full messages", "set the exit status from the verdict")
	o.watchFlags.addFlags(cmd.Flags(), "keep the answer about one DaemonSet up to date until Ctrl-C")
	o.addGroupBy(cmd.Flags())
	cmd.Flags().StringArrayVar(&o.nodes, "node", nil, "show each placement rule for NODES; repeatable")
	return cmd
}

func (o *explainOptions) run(ctx context.Context, args []string) error {
	if err := o.check(args, func() error {
		return firstRefusal(append(append(o.checkGroupBy(), o.refusals(&o.queryFlags)...),
			refusal{o.style.Wide && len(o.nodes) > 0, "--node cannot be combined with -o wide", "leave out -o wide"},
			refusal{o.watch && len(o.nodes) > 0, "--node cannot be combined with --watch", "leave out --watch"})...)
	}); err != nil {
		return err
	}
	if o.watch {
		return o.following().follow(ctx, o.timeout)
	}
	defer o.holdNotes()()
	x := &explainer{in: &o.inputFlags}
	if err := o.answer(ctx, x); err != nil {
		return err
	}
	items := x.items
	o.noteGaps(headers(items, headerOf)...)
	if len(o.names) == 0 {
		slices.SortStableFunc(items, explain.WorstFirst)
	}
	return cmp.Or(o.print(items, x.from), o.writeFooter(headers(items, headerOf)), o.status(items))
}

// answer explains the chosen DaemonSets. It reads them in batches, unless the answer needs all
// States at the same time, as pages and --node do.
func (o *explainOptions) answer(ctx context.Context, x *explainer) error {
	if len(o.nodes) == 0 && o.format != inHTML {
		x.brief = len(o.names) == 0 && o.text()
		err := o.readEach(ctx, o.exitGate(), func(st *daemonset.State) error {
			x.add(st)
			return nil
		})
		if err != nil {
			return err
		}
		return x.finish(ctx)
	}
	if o.asksOneNode() {
		alone, err := o.explainOneNode(ctx)
		switch refused, gone := apierrors.APIStatus(nil), (*source.NotFoundError)(nil); {
		case err == nil && alone != nil:
			x.items, o.nodes = []*explain.Explanation{alone}, []string{alone.Nodes[0].Name}
			return nil
		case err != nil && !errors.As(err, &refused) && !errors.As(err, &gone): // the API server did not respond
			return err
		}
	}
	read, err := o.read(ctx, o.exitGate())
	if err != nil {
		return err
	}
	if o.nodes, err = chosenNodes(o.nodes, read); err != nil {
		return err
	}
	x.nodes = o.nodes
	for _, st := range read {
		if err := o.checkGroupLabel(st.Snapshot, o.groupBy, nil); err != nil {
			return err
		}
		x.add(st)
	}
	return x.finish(ctx)
}

// asksOneNode reports whether the question is about one DaemonSet on one node of a cluster, and
// neither the answer nor the exit status depends on other nodes.
func (o *explainOptions) asksOneNode() bool {
	return len(o.nodes) == 1 && len(validation.IsDNS1123Subdomain(o.nodes[0])) == 0 && !o.isList() &&
		len(o.from) == 0 &&
		o.text() && !o.exitCode
}

// explainOneNode returns the Explanation for one node, and reads only that node. It returns nil if
// the answer depends on other nodes.
func (o *explainOptions) explainOneNode(ctx context.Context) (*explain.Explanation, error) {
	r, namespace, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	one := *o
	one.opened = r.(*cluster.Cluster).On(o.nodes[0])
	s, err := one.opened.Read(ctx, withNamespace(namespace, o.names)[0])
	if err != nil {
		return nil, err
	}
	st, err := o.state(s)
	if err != nil {
		return nil, err
	}
	x := &explainer{in: &one.inputFlags, nodes: o.nodes}
	x.add(st)
	if e := x.items[0]; e != nil && (len(e.Nodes) != 1 || !e.Alone(&e.Nodes[0])) {
		return nil, nil
	}
	if err := x.finish(ctx); err != nil {
		return nil, err
	}
	if e := x.items[0]; len(e.Nodes) == 1 && e.Alone(&e.Nodes[0]) {
		return e, nil
	}
	return nil, nil
}

// explainer builds Explanations from States, in their order.
type explainer struct {
	in    *inputFlags
	nodes []string // the nodes of --node
	brief bool     // show no single nodes, and drop each State after its explanation

	items []*explain.Explanation
	from  map[*explain.Explanation]*daemonset.State // the State of each item, with the additional input; empty if brief

	queued []int // indexes of the items that need more input
	states []*daemonset.State
}

// add explains a State, or queues it if its Explanation needs more input.
func (x *explainer) add(st *daemonset.State) {
	x.items = append(x.items, nil)
	n := cause.NeedsOn(st, x.nodes).And(cause.NeedsOf(st))
	if n.Admission || n.Controller || len(n.Nodes)+len(n.Claims) > 0 {
		x.queued, x.states = append(x.queued, len(x.items)-1), append(x.states, st)
		return
	}
	x.explain(len(x.items)-1, st)
}

// explain sets the Explanation of the item with index at.
func (x *explainer) explain(at int, st *daemonset.State) {
	e := explain.Explain(st, explain.Options{Nodes: x.nodes, Brief: x.brief, Outlook: plan.Look(st)})
	x.items[at] = e
	if x.from == nil {
		x.from = map[*explain.Explanation]*daemonset.State{}
	}
	if !x.brief {
		x.from[e] = st
	}
}

// finish explains the queued States. It reads input that several of them need only once.
func (x *explainer) finish(ctx context.Context) error {
	read, err := x.in.readAllNeeds(ctx, x.states, explainNeeds(x.states, x.nodes))
	if err != nil {
		return err
	}
	for i, st := range read {
		x.explain(x.queued[i], st)
	}
	if x.in.isList() || len(x.items) == 0 || !x.items[0].StartsInVain() {
		return nil
	}
	st := x.from[x.items[0]] // read the objects to which its pods refer
	s, err := x.in.addReferences(ctx, st.Snapshot, &st.DaemonSet.Spec.Template)
	if err != nil {
		return err
	}
	x.explain(0, st.Reading(s))
	return nil
}

// explainNeeds returns the additional input that each State needs. At most ten nodes get their
// other pods; the nodes of --node come first.
func explainNeeds(read []*daemonset.State, nodes []string) []cause.Needs {
	var all []cause.Needs
	for _, st := range read {
		all = append(all, cause.NeedsOn(st, nodes))
	}
	for _, st := range read {
		all = append(all, cause.NeedsOf(st))
	}
	all = cause.Few(all)
	for i := range read {
		all[i] = all[i].And(all[len(read)+i])
	}
	return all[:len(read)]
}

func headerOf(e *explain.Explanation) *daemonset.Header { return &e.Header }

func (o *explainOptions) print(items []*explain.Explanation, from map[*explain.Explanation]*daemonset.State) error {
	list := &explain.List{APIVersion: snapshot.APIVersion, Kind: explain.ListKind,
		Items: append([]*explain.Explanation{}, items...)}
	asked := o.askedBy()
	o.setPageHeader(headers(items, headerOf))
	switch {
	case !o.text() && o.isList():
		return o.write(list, headers(items, headerOf))
	case !o.text():
		return o.write(items[0], headers(items, headerOf))
	case len(items) == 0:
		return o.printNone()
	case len(o.nodes) > 0 && o.isList():
		return view.DaemonSetsOfNodes(o.Out, list, o.nodes, asked, o.style)
	case len(o.nodes) > 0:
		return view.Nodes(o.Out, items[0], o.nodes, asked, o.style)
	case o.format == inHTML:
		var all []sheet.Explained
		for _, e := range items {
			all = append(all, o.explained(e, from[e]))
		}
		return view.ExplanationPage(o.Out, all, len(o.names) == 0, asked, o.style)
	case len(o.names) == 0:
		return view.Explanations(o.Out, list, asked, o.style)
	}
	return writeEach(o.Out, items,
		func(e *explain.Explanation) error { return view.Explanation(o.Out, e, asked, o.style) })
}

// explained returns an Explanation with the map and the lines that a page draws.
func (o *explainOptions) explained(e *explain.Explanation, st *daemonset.State) sheet.Explained {
	v := sheet.Explained{Explanation: e, Map: o.mapOf(st)}
	if e.Rollout.UnderWay && e.Rollout.Since != nil {
		v.Passed = plan.PastLine(st, *e.Rollout.Since)
	}
	if e.Rollout.UnderWay {
		_, v.Expected = plan.MakeLine(st, plan.Options{})
	}
	return v
}

// status returns the exit status for the verdicts, or nil.
func (o *explainOptions) status(items []*explain.Explanation) error {
	has := map[exitStatus]bool{}
	for _, e := range items {
		has[verdictStatus[e.Verdict.Code]] = o.exitCode
		has[statusPartial] = o.exitCode && (has[statusPartial] || isPartial(&e.Header))
	}
	return worstStatus(has)
}

// verdictStatus maps verdicts to their exit statuses.
var verdictStatus = map[explain.VerdictCode]exitStatus{
	explain.Stuck: statusStuck, explain.Degraded: statusDegraded, explain.Progressing: statusProgressing,
	explain.NotObserved: statusProgressing,
	explain.Unknown:     statusPartial,
}
