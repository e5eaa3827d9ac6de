package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-ds/kubectl-ds/internal/encode"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

type historyOptions struct {
	input
	choice
	revision   string
	diff       string
	unified    bool
	undo       string
	showValues bool
	output     string
	color      string
	all        bool
	exitCode   bool

	// What the flags mean, once they have been checked.
	set      *pflag.FlagSet // of the command: which flags were given
	selector labels.Selector
	format   encode.Format
	style    view.Style
	which    *history.Which   // of --revision
	between  *history.Between // of --diff
}

func newHistory(c *common) *cobra.Command {
	o := &historyOptions{input: input{common: c, command: "history"}}
	cmd := &cobra.Command{
		Use:     "history [NAME...]",
		Short:   "Show revisions, what changed, and what a rollback would do",
		GroupID: "inspect",
		Long: paragraphs(`
			Lists the revisions of a DaemonSet, latest first: age, pods, and what changed. Notes
			show what the numbers hide: a revision that a rollback renumbered, copies, pods
			whose revision is gone, and what the next clean-up removes. Nothing is changed.

			Without a NAME, with several, with -A or -l: one line for each DaemonSet. NAME may
			be NAMESPACE/NAME.

			REVISION is a number; -1 for the revision before the latest, -2 for the one before
			that; or, in --revision and --diff, live for the template that the DaemonSet has
			now.

			Literal values of environment variables may be secret: differences are reported
			without values unless --show-values is given. The same holds for fields that the
			API types do not list, which may be misspelled variables.

			--revision N with -o yaml, json, jsonpath or go-template prints a DaemonSet for
			kubectl, with all its values. kubectl replace gives exactly that template; kubectl
			apply removes only the fields that it applied before.

			--diff A,B --unified compares what --revision A -o yaml and --revision B -o yaml
			print. With --show-values, patch turns the first into the second.`),
		Annotations: map[string]string{exitTable: exits("5", "With --undo: the exit statuses of plan-rollout.",
			row{"0", "answered"},
			row{"1", "error"},
			row{"5", "the revisions or the pods could not be read"})},
		Example: examples(`
			# What changed, and which pods run what?
			kubectl ds history -n kube-system node-agent

			# Compare two revisions, or a revision with the live template as diff -u does
			kubectl ds history -n kube-system node-agent --diff 7,8
			kubectl ds history -n kube-system node-agent --diff 7,live --unified

			# What would a rollback to the previous revision do, or to revision 7?
			kubectl ds history -n kube-system node-agent --undo 0
			kubectl ds history -n kube-system node-agent --undo 7

			# An old template, for kubectl replace or apply
			kubectl ds history -n kube-system node-agent --revision 7 -o yaml

			# The DaemonSets of all namespaces, and how many nodes are on older revisions
			kubectl ds history -A`),
		ValidArgsFunction: c.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	o.set = f
	o.input.addFlags(f)
	o.choice.addFlags(f)
	f.StringVar(&o.revision, "revision", "", "show the template of this revision, and its nodes")
	f.StringVar(&o.diff, "diff", "", "compare revision A with B, or A with the one before it")
	f.BoolVar(&o.unified, "unified", false, "with --diff: print a unified diff")
	f.StringVar(&o.undo, "undo", "", "plan a rollback to this revision; 0 is the previous one")
	f.BoolVar(&o.showValues, "show-values", false, "show literal values of environment variables, which may be secret")
	f.StringVarP(&o.output, "output", "o", "", outputWords(encode.Formats))
	f.StringVar(&o.color, "color", "auto", "color the output: auto, always or never")
	f.BoolVar(&o.all, "all", false, "show all revisions, fields and nodes")
	f.BoolVar(&o.exitCode, "exit-code", false, "set the exit status from the answer (see above)")
	return cmd
}

func (o *historyOptions) run(ctx context.Context, args []string) error {
	defer o.holdNotes()()
	if err := o.check(args); err != nil {
		return err
	}
	if o.given("undo") {
		return o.undoPlan(ctx)
	}
	o.unasked = notLookedAt
	snapshots, err := o.read(ctx, &o.choice, o.selector)
	if err != nil {
		return err
	}
	if len(snapshots) == 0 && o.exitCode {
		return o.ungated(&o.choice, "exit-code")
	}
	items, err := o.histories(snapshots)
	if err != nil {
		return err
	}
	switch {
	case o.which != nil:
		err = o.printRevision(items[0])
	case o.between != nil && o.text():
		err = o.printDiff(items[0])
	default:
		err = o.print(items)
	}
	if err != nil {
		return err
	}
	return o.status(items)
}

func (o *historyOptions) given(flag string) bool { return o.set.Lookup(flag).Changed }

// text reports whether the answer is for a person.
func (o *historyOptions) text() bool { return o.format == encode.Text || o.format == encode.Wide }

// check returns an error for flags that are not valid, before anything is read.
func (o *historyOptions) check(args []string) error {
	var err error
	if o.selector, err = o.choice.check(args, *o.config.Namespace); err != nil {
		return err
	}
	formats, hint := encode.Formats, "-o json"
	if o.given("undo") {
		formats, hint = encode.PlanFormats, "-o markdown"
	}
	if o.format, err = encode.Parse(o.output, formats); err != nil {
		return hinted{err, hint}
	}
	if o.style, err = styleOf(o.Out, o.color); err != nil {
		return err
	}
	o.style.All, o.style.Wide = o.all, o.format == encode.Wide
	if err := o.oneQuestion(); err != nil {
		return err
	}
	if o.given("revision") {
		if o.which, err = parseWhich("--revision", o.revision); err != nil {
			return err
		}
	}
	if o.given("undo") {
		if _, err = parseRollback("--undo", o.undo); err != nil {
			return err
		}
	}
	if o.given("diff") {
		if o.between, err = parseBetween(o.diff); err != nil {
			return err
		}
	}
	return o.input.check()
}

// oneQuestion returns an error for flags that ask different things.
func (o *historyOptions) oneQuestion() error {
	var asked []string
	for _, flag := range []string{"revision", "diff", "undo"} {
		if o.given(flag) {
			asked = append(asked, "--"+flag)
		}
	}
	switch {
	case len(asked) > 1:
		return hinted{fmt.Errorf("%s and %s cannot be combined", asked[0], asked[1]), "leave out one of them"}
	case len(asked) == 1 && o.many():
		return hinted{fmt.Errorf("%s needs the name of one DaemonSet", asked[0]), "kubectl ds history lists the names"}
	case o.unified && !o.given("diff"):
		return hinted{errors.New("--unified needs --diff"), "--diff -1,live --unified"}
	case o.unified && o.format != encode.Text:
		return hinted{fmt.Errorf("--unified cannot be combined with -o %s", o.output), "leave out --unified, or -o"}
	case o.format == encode.Wide && (o.given("revision") || o.given("diff")):
		return hinted{fmt.Errorf("%s cannot be combined with -o wide", asked[0]), "leave out -o wide"}
	}
	return nil
}

// answered is a History with what it was made from.
type answered struct {
	*history.History
	from *snapshot.Snapshot
}

func (o *historyOptions) histories(snapshots []*snapshot.Snapshot) ([]answered, error) {
	items, gaps := []answered{}, [][]daemonset.Gap{}
	for _, s := range snapshots {
		s, st, err := o.state(s)
		if err != nil {
			return nil, err
		}
		h, err := history.Make(s, st, history.Options{ShowValues: o.showValues, Diff: o.between})
		if err != nil {
			return nil, err
		}
		items, gaps = append(items, answered{h, s}), append(gaps, lookedAt(h.Snapshot.Gaps))
	}
	o.gaps(gaps...)
	return items, nil
}

// notLookedAt are the parts that a history does without.
var notLookedAt = []snapshot.What{snapshot.DaemonSetStatus, snapshot.Nodes, snapshot.NodeStatus, snapshot.Events, snapshot.PodDisruptionBudgets}

// lookedAt leaves out the gaps of what a history does without.
func lookedAt(gaps []daemonset.Gap) []daemonset.Gap {
	return slices.DeleteFunc(slices.Clone(gaps), func(g daemonset.Gap) bool { return slices.Contains(notLookedAt, g.What) })
}

func (o *historyOptions) print(items []answered) error {
	list := &history.List{APIVersion: snapshot.APIVersion, Kind: history.ListKind, Items: []*history.History{}}
	refs := []string{}
	for _, h := range items {
		list.Items, refs = append(list.Items, h.History), append(refs, h.DaemonSet.Name)
	}
	switch {
	case !o.text() && o.many():
		return encode.Write(o.Out, list, refs, o.format)
	case !o.text():
		return encode.Write(o.Out, list.Items[0], refs, o.format)
	case len(items) == 0:
		fmt.Fprintln(o.ErrOut, o.nothing(&o.choice))
		return nil
	case o.many():
		return view.Histories(o.Out, list, o.asked(), o.style)
	}
	return view.History(o.Out, list.Items[0], o.asked(), o.style)
}

// asked are the flags that ask for the same input once more.
func (o *historyOptions) asked() view.Asked {
	flags, pastable := givenAgain(o.set)
	return view.Asked{Flags: flags, Again: pastable}
}

// printRevision writes one template: for a person, or as a DaemonSet to apply.
func (o *historyOptions) printRevision(h answered) error {
	r, err := history.Find(h.History, *o.which)
	if err != nil {
		return err
	}
	if o.text() {
		t, err := history.Template(h.History, h.from, r)
		if err != nil {
			return err
		}
		return view.Template(o.Out, h.History, o.asked(), r, t, o.showValues, o.style)
	}
	if h.from.EnvValues != "" && !o.showValues && o.format != encode.Name {
		return hinted{errors.New("this snapshot has digests instead of the values of environment variables: a manifest applied from it would not work"),
			"take the snapshot with --show-values, or add --show-values to print the digests"}
	}
	object, err := history.Object(h.History, h.from, r)
	if err != nil {
		return err
	}
	if r != nil && o.format != encode.Name {
		if err := o.noteRemovals(h); err != nil {
			return err
		}
	}
	return encode.Write(o.Out, object, []string{h.DaemonSet.Name}, o.format)
}

// noteRemovals says that kubectl apply would leave fields behind, where the
// template that was asked for lacks some that are live: it takes away only what
// it applied before.
func (o *historyOptions) noteRemovals(h answered) error {
	_, st, err := o.state(h.from)
	if err != nil {
		return err
	}
	d, err := history.Make(h.from, st, history.Options{Diff: &history.Between{From: &history.Which{Live: true}, To: o.which}})
	if err != nil {
		return err
	}
	if n := removals(d.Diff.Change); n > 0 {
		o.note("this template lacks %s of the live one: kubectl apply removes only fields that it applied before; kubectl replace -f - gives exactly this template, as kubectl rollout undo does",
			view.Plural(n, "field"))
	}
	return nil
}

func removals(changes []history.Change) (n int) {
	for _, c := range changes {
		if c.New.Absent() && c.Kind != history.FieldDefault { // the API server puts a default back
			n++
		}
	}
	return n
}

// printDiff writes the difference that was asked for, field by field or as a
// unified diff.
func (o *historyOptions) printDiff(h answered) error {
	if !o.unified {
		return view.Diff(o.Out, h.History, o.asked(), o.style)
	}
	var sides [2]map[string]any
	for i, side := range []history.Side{h.Diff.From, h.Diff.To} {
		var err error
		if sides[i], err = history.Object(h.History, h.from, rowOf(h.History, side)); err != nil {
			return err
		}
	}
	if len(h.Diff.Change) == 0 {
		o.note("%s and %s have the same template", diffSide(h.Diff.From), diffSide(h.Diff.To))
	}
	return view.UnifiedDiff(o.Out, h.History, sides[0], sides[1], o.showValues, o.style)
}

// diffSide names a side of a difference.
func diffSide(side history.Side) string {
	if side.Live {
		return "the live DaemonSet"
	}
	return fmt.Sprintf("revision %d", side.Revision)
}

// rowOf returns the row that is a side of a difference, nil for the live
// template. It goes by the name: two revisions may share a number.
func rowOf(h *history.History, side history.Side) *history.Revision {
	for i := range h.Revisions {
		if r := &h.Revisions[i]; !side.Live && r.Name == side.Name {
			return r
		}
	}
	return nil
}

// status is 5 where what a history rests on could not be read.
func (o *historyOptions) status(items []answered) error {
	for _, h := range items {
		if o.exitCode && inPartOnly(lookedAt(h.Snapshot.Gaps)) {
			return inPart
		}
	}
	return nil
}

// undoPlan prints what plan-rollout says of a rollback.
func (o *historyOptions) undoPlan(ctx context.Context) error {
	snapshots, err := o.read(ctx, &o.choice, o.selector)
	if err != nil {
		return err
	}
	p, err := o.asPlan()
	if err != nil {
		return err
	}
	made, err := p.plan(snapshots[0], p.asked)
	if hint := (interface{ Hint() string })(nil); errors.As(err, &hint) {
		return hinted{err, strings.ReplaceAll(hint.Hint(), "--to-revision", "--undo")}
	}
	if err != nil {
		return err
	}
	o.gaps(made.Snapshot.Gaps)
	if err := p.print([]*plan.Plan{made}, 1); err != nil {
		return err
	}
	return p.status([]*plan.Plan{made})
}

// asPlan returns the options of the plan-rollout --to-revision that --undo means.
func (o *historyOptions) asPlan() (p *planOptions, err error) {
	p = &planOptions{input: o.input, choice: o.choice, format: o.format, style: o.style, exitCode: o.exitCode, undo: true}
	set := pflag.NewFlagSet("plan-rollout", pflag.ContinueOnError)
	p.changeFlags.addFlags(set)
	o.set.VisitAll(func(f *pflag.Flag) {
		if set.Lookup(f.Name) == nil {
			set.AddFlag(f)
		}
	})
	if err := set.Set("to-revision", o.undo); err != nil {
		return nil, err
	}
	if o.showValues {
		if err := set.Set("show-values", "true"); err != nil {
			return nil, err
		}
	}
	if p.asked, err = p.change(); err != nil {
		return nil, err
	}
	p.known, err = p.options()
	return p, err
}

// kubectlOnly are the flags that were given and that kubectl itself takes.
func kubectlOnly(set *pflag.FlagSet) *pflag.FlagSet {
	out := pflag.NewFlagSet("kubectl", pflag.ContinueOnError)
	set.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains([]string{"from", "now", "kubernetes-version"}, f.Name) {
			out.AddFlag(f)
		}
	})
	return out
}
