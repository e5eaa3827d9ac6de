package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-ds/kubectl-ds/internal/encode"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

type explainOptions struct {
	question
	nodes []string
}

func newExplain(c *common) *cobra.Command {
	o := &explainOptions{question: question{input: input{common: c, command: "explain"}}}
	cmd := &cobra.Command{
		Use:     "explain [NAME...]",
		Short:   "Explain a DaemonSet's numbers, what is wrong and what to do",
		GroupID: "inspect",
		Long: paragraphs(`
			Computes the status of a DaemonSet by its controller's rules and compares it with
			the status that the controller reported: which nodes have no available pod and
			why, what limits the rollout, what the cause is, and what to do. Nothing is
			changed.

			Without a NAME: one line for each DaemonSet in the namespace, worst first. NAME may
			be NAMESPACE/NAME.

			NODES is a name, a comma-separated list of names, a pattern such as 'worker-*', or
			a label selector such as pool=gpu.`),
		Annotations: map[string]string{exitTable: exits("2 to 5", `
			If several statuses apply, or there are several DaemonSets, the first that
			applies of 3, 4, 5, 2 is used.`,
			row{"0", "answered: healthy, or waiting for you"},
			row{"1", "error"},
			row{"2", "progressing"},
			row{"3", "stuck"},
			row{"4", "degraded"},
			row{"5", "answered only in part"})},
		Example: examples(`
			# Why is this rollout stuck?
			kubectl ds explain -n kube-system node-agent

			# Why does it not run on these nodes?
			kubectl ds explain -n kube-system node-agent --node 'worker-*'

			# Which DaemonSets should run on a node, and which do?
			kubectl ds explain -A --node worker-7

			# A check for CI
			kubectl ds explain -n kube-system node-agent --exit-code -o json`),
		ValidArgsFunction: c.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.addFlags(cmd.Flags(), encode.Formats, "show all nodes and full messages", "set the exit status from the verdict")
	cmd.Flags().StringArrayVar(&o.nodes, "node", nil, "show each placement rule for NODES; repeatable")
	return cmd
}

func (o *explainOptions) run(ctx context.Context, args []string) error {
	defer o.holdNotes()()
	if err := o.check(args, encode.Formats, o.checkNodes); err != nil {
		return err
	}
	snapshots, err := o.read(ctx, o.exitGate())
	if err != nil {
		return err
	}
	items, err := o.explain(snapshots)
	if err != nil {
		return err
	}
	if err := o.print(items); err != nil {
		return err
	}
	return o.status(items)
}

func (o *explainOptions) checkNodes() error {
	if o.style.Wide && len(o.nodes) > 0 {
		return hinted{errors.New("--node cannot be combined with -o wide"), "leave out -o wide"}
	}
	return nil
}

// explain returns the answers, worst first where there are many.
func (o *explainOptions) explain(snapshots []*snapshot.Snapshot) ([]*explain.Explanation, error) {
	var states []*daemonset.State
	for i := range snapshots {
		s, st, err := o.state(snapshots[i])
		if err != nil {
			return nil, err
		}
		snapshots[i], states = s, append(states, st)
	}
	var err error
	if o.nodes, err = chosenNodes(o.nodes, states); err != nil {
		return nil, err
	}
	items := []*explain.Explanation{}
	var gaps [][]daemonset.Gap
	for i, s := range snapshots {
		e := explain.Explain(s, states[i], explain.Options{Nodes: o.nodes, Outlook: plan.Look(states[i])})
		items, gaps = append(items, e), append(gaps, e.Snapshot.Gaps)
	}
	o.gaps(gaps...)
	if len(o.names) == 0 {
		slices.SortStableFunc(items, explain.WorstFirst)
	}
	return items, nil
}

func (o *explainOptions) print(items []*explain.Explanation) error {
	list := &explain.List{APIVersion: snapshot.APIVersion, Kind: explain.ListKind, Items: items}
	headers := []*daemonset.Header{}
	for _, e := range items {
		headers = append(headers, &e.Header)
	}
	asked := o.askedBy()
	switch {
	case !o.text() && o.many():
		return o.write(list, headers)
	case !o.text():
		return o.write(items[0], headers)
	case len(items) == 0:
		return o.nothing()
	case len(o.nodes) > 0 && o.many():
		return view.DaemonSetsOfNodes(o.Out, list, o.nodes, asked, o.style)
	case len(o.nodes) > 0:
		return view.Nodes(o.Out, items[0], o.nodes, asked, o.style)
	case len(o.names) == 0:
		return view.Explanations(o.Out, list, asked, o.style)
	}
	return each(o.Out, items, func(e *explain.Explanation) error { return view.Explanation(o.Out, e, asked, o.style) })
}

// status is the exit status that the verdicts ask for.
func (o *explainOptions) status(items []*explain.Explanation) error {
	has := map[exitStatus]bool{}
	for _, e := range items {
		has[verdictStatus[e.Verdict.Code]] = o.exitCode
		has[inPart] = has[inPart] || o.exitCode && inPartOnly(e.Snapshot.Gaps)
	}
	return worst(has)
}

// verdictStatus are the exit statuses of verdicts, where they have one.
var verdictStatus = map[explain.VerdictCode]exitStatus{
	explain.Stuck: stuck, explain.Degraded: degraded, explain.Progressing: moving, explain.NotObserved: moving, explain.Unknown: inPart,
}
