package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-ds/kubectl-ds/internal/encode"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

type explainOptions struct {
	input
	choice
	set      *pflag.FlagSet
	nodes    []string
	output   string
	color    string
	all      bool
	exitCode bool
}

func newExplain(c *common) *cobra.Command {
	o := &explainOptions{input: input{common: c, command: "explain"}}
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
	f := cmd.Flags()
	o.set = f
	o.input.addFlags(f)
	o.choice.addFlags(f)
	f.StringArrayVar(&o.nodes, "node", nil, "show each placement rule for NODES; repeatable")
	f.StringVarP(&o.output, "output", "o", "", outputWords(encode.Formats))
	f.StringVar(&o.color, "color", "auto", "color the output: auto, always or never")
	f.BoolVar(&o.all, "all", false, "show all nodes and full messages")
	f.BoolVar(&o.exitCode, "exit-code", false, "set the exit status from the verdict")
	return cmd
}

func (o *explainOptions) run(ctx context.Context, args []string) error {
	defer o.holdNotes()()
	selector, err := o.choice.check(args, *o.config.Namespace)
	if err != nil {
		return err
	}
	format, err := encode.Parse(o.output, encode.Formats)
	if err != nil {
		return hinted{err, "-o json"}
	}
	style, err := styleOf(o.Out, o.color)
	if err != nil {
		return err
	}
	style.All, style.Wide = o.all, format == encode.Wide
	if style.Wide && len(o.nodes) > 0 {
		return hinted{errors.New("--node cannot be combined with -o wide"), "leave out -o wide"}
	}
	if err := o.input.check(); err != nil {
		return err
	}
	snapshots, err := o.read(ctx, &o.choice, selector)
	if err != nil {
		return err
	}
	if len(snapshots) == 0 && o.exitCode {
		return o.ungated(&o.choice, "exit-code")
	}
	items, err := o.explain(snapshots)
	if err != nil {
		return err
	}
	if len(items) == 0 && (format == encode.Text || format == encode.Wide) {
		fmt.Fprintln(o.ErrOut, o.nothing(&o.choice))
		return nil
	}
	if err := o.print(items, format, style); err != nil {
		return err
	}
	return o.status(items)
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
		e := explain.Explain(s, states[i], explain.Options{Nodes: o.nodes, Outlook: plan.Look(s, states[i])})
		items, gaps = append(items, e), append(gaps, e.Snapshot.Gaps)
	}
	o.gaps(gaps...)
	if len(o.names) == 0 {
		slices.SortStableFunc(items, func(a, b *explain.Explanation) int {
			return cmp.Or(
				slices.Index(explain.VerdictCodes, a.Verdict.Code)-slices.Index(explain.VerdictCodes, b.Verdict.Code),
				cmp.Compare(b.Impact.Share(), a.Impact.Share()),
				strings.Compare(a.DaemonSet.Namespace, b.DaemonSet.Namespace), strings.Compare(a.DaemonSet.Name, b.DaemonSet.Name))
		})
	}
	return items, nil
}

func (o *explainOptions) print(items []*explain.Explanation, format encode.Format, style view.Style) error {
	list := &explain.List{APIVersion: snapshot.APIVersion, Kind: explain.ListKind, Items: items}
	refs := []string{}
	for _, e := range items {
		refs = append(refs, e.DaemonSet.Name)
	}
	asked := askedBy(o.set, o.from)
	switch {
	case format != encode.Text && format != encode.Wide && o.many():
		return encode.Write(o.Out, list, refs, format)
	case format != encode.Text && format != encode.Wide:
		return encode.Write(o.Out, items[0], refs, format)
	case len(o.nodes) > 0 && o.many():
		return view.DaemonSetsOfNodes(o.Out, list, o.nodes, asked, style)
	case len(o.nodes) > 0:
		return view.Nodes(o.Out, items[0], o.nodes, asked, style)
	case len(o.names) == 0:
		return view.Explanations(o.Out, list, asked, style)
	}
	for i, e := range items {
		if i > 0 {
			fmt.Fprintln(o.Out)
		}
		if err := view.Explanation(o.Out, e, asked, style); err != nil {
			return err
		}
	}
	return nil
}

// status is the exit status that the verdicts ask for.
func (o *explainOptions) status(items []*explain.Explanation) error {
	if !o.exitCode {
		return nil
	}
	holds := map[exitStatus]bool{}
	for _, e := range items {
		switch e.Verdict.Code {
		case explain.Stuck:
			holds[stuck] = true
		case explain.Degraded:
			holds[degraded] = true
		case explain.Progressing, explain.NotObserved:
			holds[moving] = true
		case explain.Unknown:
			holds[inPart] = true
		}
		if inPartOnly(e.Snapshot.Gaps) {
			holds[inPart] = true
		}
	}
	for _, s := range []exitStatus{stuck, degraded, inPart, moving} {
		if holds[s] {
			return s
		}
	}
	return nil
}

// inPartOnly reports whether a part is missing that answers rest on. A guess at
// the clock or the version, words that are missing, and lists of two moments
// still answer in full.
func inPartOnly(gaps []daemonset.Gap) bool {
	return slices.ContainsFunc(gaps, func(g daemonset.Gap) bool {
		return g.Why != snapshot.Moved && slices.Contains([]snapshot.What{snapshot.DaemonSets, snapshot.DaemonSetStatus, snapshot.Nodes, snapshot.Pods, snapshot.PodStatus, snapshot.Revisions}, g.What)
	})
}

// nodesOf returns the nodes that a NODES means by itself: several names with commas
// between them are as many.
func nodesOf(text string) []string {
	parts := strings.Split(text, ",")
	if strings.ContainsAny(text, "=()") || slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(strings.TrimSpace(p), "!") }) {
		return []string{text} // a label selector
	}
	return parts
}

// chosenNodes returns the names of the nodes that the flags --node mean, each once,
// out of those that the States know. If the nodes could not be read, the States
// know only those with a pod, and any other name may be a node's.
func chosenNodes(flags []string, states []*daemonset.State) ([]string, error) {
	if len(states) == 0 {
		return nil, nil
	}
	read := !slices.ContainsFunc(states, func(st *daemonset.State) bool { return !st.NodesRead })
	known := map[string]corev1.Node{}
	for _, st := range states {
		for i := range st.Nodes {
			n := &st.Nodes[i]
			if _, again := known[n.Name]; n.Object != nil {
				known[n.Name] = *n.Object
			} else if !again {
				known[n.Name] = corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}
			}
		}
	}
	var nodes []corev1.Node
	for _, name := range slices.Sorted(maps.Keys(known)) {
		nodes = append(nodes, known[name])
	}
	var names []string
	for _, flag := range flags {
		for _, which := range nodesOf(flag) {
			which = strings.TrimSpace(which)
			chosen, err := plan.ChooseNodes(nodes, which)
			switch {
			case err != nil && !read && len(validation.IsDNS1123Subdomain(which)) == 0:
				names = append(names, which)
			case err != nil && !read:
				return nil, hinted{fmt.Errorf("--node %s: the nodes could not be read, so only names can be looked up", flag), "--node worker-7"}
			case err != nil:
				return nil, fmt.Errorf("--node %s: %w", flag, err)
			}
			for _, i := range chosen {
				names = append(names, nodes[i].Name)
			}
		}
	}
	return distinct(names), nil
}

// distinct returns the names in their order, each once.
func distinct(names []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(n string) bool {
		again := seen[n]
		seen[n] = true
		return again
	})
}

// styleOf decides once what is known of the place where the answer goes. Where
// that is no terminal, lines are as long as they are, unless COLUMNS says
// otherwise.
func styleOf(out io.Writer, color string) (view.Style, error) {
	var s view.Style
	answers, safe := out.(*stream)
	out = under(out)
	switch color {
	case "auto":
		s.Color = printers.AllowsColorOutput(out)
	case "always":
		s.Color = true
	case "never":
	default:
		return s, hinted{fmt.Errorf("--color %q is none of auto, always, never", color), "--color never"}
	}
	if safe && s.Color {
		answers.allowColor()
	}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			s.Width = width
		}
	} else if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		s.Width = columns
	}
	return s, nil
}
