package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

type historyOptions struct {
	queryFlags
	revision   string
	diff       string
	unified    bool
	undo       string
	showValues bool

	// The parsed flags, set by checkQuestion.
	which   *history.Which   // --revision
	between *history.Between // --diff
	back    int64            // --undo
}

func newHistory(c *common) *cobra.Command {
	o := &historyOptions{queryFlags: queryFlags{inputFlags: inputFlags{common: c, command: "history"}}}
	cmd := &cobra.Command{
		Use:     "history [NAME...]",
		Short:   "Show revisions, what changed, and what a rollback would do",
		GroupID: "inspect",
		Long: paragraphs(`
			Lists the revisions of a DaemonSet, latest first: age, pods, and what changed. With
			--all, notes show copies, pods without a revision, and the revisions that the next
			clean-up removes. Changes nothing. With --from, history also shows whether a rollout
			is stuck; for a cluster, use explain.

			Without a NAME, with several, with -A or -l: one line for each DaemonSet. NAME may
			be NAMESPACE/NAME.

			REVISION is a number. -1 is the revision before the latest, and -2 the one before
			that. In --revision and --diff, live is the current template of the DaemonSet.

			Literal values of environment variables may be secret: differences are reported
			without values unless --show-values is given. The same applies to fields that the
			API types do not list, because they may be misspelled variables.

			--revision N with -o yaml, json, jsonpath or go-template prints a DaemonSet for
			kubectl, with all its values. kubectl replace restores exactly that template;
			kubectl apply removes only the fields that it applied before.

			--diff A,B --unified compares the outputs of --revision A -o yaml and --revision B
			-o yaml. With --show-values, the diff is exact, so patch can apply it.`),
		Annotations: map[string]string{exitTable: exitStatusTable("5",
			"With --undo: the exit statuses of plan-rollout.",
			row{"0", "answered"},
			row{"1", "error"},
			row{"5", "the revisions or the pods could not be read"})},
		Example: c.program.examples(`
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
		ValidArgsFunction: c.completionFunc(nameChoices),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	o.addFlags(f, "show all revisions, fields and nodes", "set the exit status from the answer (see above)")
	o.addGroupBy(f)
	f.StringVar(&o.revision, "revision", "", "show the template of this revision, and its nodes")
	f.StringVar(&o.diff, "diff", "", "compare revision A with B, or A with the one before it")
	f.BoolVar(&o.unified, "unified", false, "with --diff: print a unified diff")
	f.StringVar(&o.undo, "undo", "", "plan a rollback to this revision; 0 is the previous one")
	f.BoolVar(&o.showValues, "show-values", false, "show literal values of environment variables, which may be secret")
	return cmd
}

func (o *historyOptions) run(ctx context.Context, args []string) error {
	defer o.holdNotes()()
	if err := o.check(args, o.checkQuestion); err != nil {
		return err
	}
	if o.given("undo") != "" {
		return o.undoPlan(ctx)
	}
	o.skipped = history.NotRead
	if o.format == inHTML { // a page shows the nodes
		o.skipped = slices.DeleteFunc(slices.Clone(o.skipped),
			func(w snapshot.What) bool { return w == snapshot.Nodes })
	}
	items, err := o.histories(ctx)
	if err != nil {
		return err
	}
	if err := o.judge(ctx, items); err != nil {
		return err
	}
	o.noteGaps(headers(items, historyResult.header)...)
	o.setPageHeader(headers(items, historyResult.header))
	print := o.print
	if o.which != nil {
		print = o.printRevision
	} else if o.between != nil && o.text() {
		print = o.printDiff
	}
	return cmp.Or(print(items), o.writeFooter(headers(items, historyResult.header)), o.status(items))
}

// histories returns the Histories of the chosen DaemonSets.
func (o *historyOptions) histories(ctx context.Context) ([]historyResult, error) {
	options := history.Options{ShowValues: o.showValues, Diff: o.between}
	if o.namesNoNode() {
		one, err := o.fromMetadata(ctx, options)
		if err != nil || one != nil {
			return one, err
		}
	}
	read, err := o.read(ctx, o.exitGate())
	if err != nil {
		return nil, err
	}
	var items []historyResult
	for _, st := range read {
		if err := o.checkGroupLabel(st.Snapshot, o.groupBy, nil); err != nil {
			return nil, err
		}
		h, err := history.Make(st, options)
		if err != nil {
			return nil, err
		}
		items = append(items, historyResult{h, st, nil})
	}
	return items, nil
}

// namesNoNode reports whether the question is about one DaemonSet of a cluster at the current time,
// and the answer needs no names of nodes. A text answer names nodes only if the whole pods are read
// anyway.
func (o *historyOptions) namesNoNode() bool {
	return !o.isList() && len(o.from) == 0 && o.clock.IsZero() && o.which == nil && o.text() && o.format != inHTML
}

// fromMetadata builds a History from the metadata of the pods if the DaemonSet's status says that
// all pods are available, and otherwise from whole pods. It returns nil if the metadata contradicts
// the status; then the caller must read whole pods.
func (o *historyOptions) fromMetadata(ctx context.Context, options history.Options) ([]historyResult, error) {
	r, _, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	few := *o
	few.opened = r.(*cluster.Cluster).PodMetadata(history.SaysAvailable)
	read, err := few.read(ctx, "")
	if err != nil {
		return nil, err
	}
	st, from := read[0], history.MakeFromMetadata
	if !st.Snapshot.Lacks(snapshot.PodStatus) { // the reader read whole pods
		from = history.Make
	}
	h, err := from(st, options)
	if h == nil || err != nil {
		return nil, err
	}
	return []historyResult{{h, st, nil}}, nil
}

// judge sets the verdict of explain on rollouts in progress. It does so only for files: for a
// cluster, the additional input of that verdict is not read.
func (o *historyOptions) judge(ctx context.Context, items []historyResult) error {
	if len(o.from) == 0 {
		return nil
	}
	var rolling []int // indexes of items
	x := &explainer{in: &o.inputFlags}
	for i, h := range items {
		if h.Rollout.InProgress() {
			rolling = append(rolling, i)
			x.add(h.from)
		}
	}
	if err := x.finish(ctx); err != nil {
		return err
	}
	for n, i := range rolling {
		h := &items[i]
		if h.History = x.items[n].Judge(h.History); h.Rollout.Code == history.Stuck {
			h.now = x.items[n]
		}
	}
	return nil
}

// forScreen returns the input for the history screen.
func (h historyResult) forScreen() sheet.Past {
	return sheet.Past{History: h.History, Now: h.now, ManagedBy: managed.By(h.from.DaemonSet)}
}

// checkQuestion parses --revision, --diff and --undo. It accepts at most one of them.
func (o *historyOptions) checkQuestion() (err error) {
	var asked []string
	for _, flag := range []string{"revision", "diff", "undo"} {
		if o.given(flag) != "" {
			asked = append(asked, "--"+flag)
		}
	}
	all := strings.Join(asked[:min(2, len(asked))], " and ")
	if err := firstRefusal(append(o.checkGroupBy(),
		refusal{len(asked) > 1, all + " cannot be combined", "leave out one of them"},
		refusal{len(asked) == 1 && o.isList(), all + " needs the name of one DaemonSet", nameHint},
		refusal{o.unified && o.given("diff") == "", "--unified needs --diff", "--diff -1,live --unified"},
		refusal{o.unified && o.format != inText && o.style.Form == wording.InText,
			"--unified cannot be combined with -o " + o.output, "leave out --unified, or -o"},
		refusal{o.format == inWideText && o.given("revision", "diff") != "", all + " cannot be combined with -o wide",
			"leave out -o wide"})...,
	); err != nil || len(asked) == 0 {
		return err
	}
	switch asked[0] {
	case "--revision":
		o.which, err = parseWhich("--revision", o.revision)
	case "--undo":
		o.back, err = parseRollback("--undo", o.undo)
	case "--diff":
		o.between, err = parseBetween(o.diff)
	}
	return err
}

// historyResult is a History with the State from which it was built.
type historyResult struct {
	*history.History
	from *daemonset.State
	now  *explain.Explanation // set only if the rollout is stuck
}

func (h historyResult) header() *daemonset.Header { return &h.Header }

func (o *historyOptions) print(items []historyResult) error {
	list := &history.List{APIVersion: snapshot.APIVersion, Kind: history.ListKind, Items: []*history.History{}}
	var all []sheet.Past
	for _, h := range items {
		list.Items, all = append(list.Items, h.History), append(all, h.forScreen())
	}
	switch {
	case !o.text() && o.isList():
		return o.write(list, headers(items, historyResult.header))
	case !o.text():
		return o.write(items[0].History, headers(items, historyResult.header))
	case len(items) == 0:
		return o.printNone()
	case o.format == inHTML:
		for i, h := range items {
			all[i].Map = o.mapOf(h.from)
		}
		return view.HistoryPage(o.Out, all, o.isList(), o.askedBy(), o.style)
	case o.isList():
		return view.Histories(o.Out, all, o.askedBy(), o.style)
	}
	return view.History(o.Out, all[0], o.askedBy(), o.style)
}

// printRevision prints one template: as text, or as a DaemonSet to apply.
func (o *historyOptions) printRevision(items []historyResult) error {
	h := items[0]
	r, err := history.Find(h.History, *o.which)
	if err != nil {
		return err
	}
	if o.text() {
		t, err := history.Template(h.History, h.from.Snapshot, r)
		if err != nil {
			return err
		}
		return view.Template(o.Out, h.forScreen(), o.askedBy(), r, t, o.showValues, o.style)
	}
	if h.from.Snapshot.EnvValues != "" && !o.showValues && o.format != asNames {
		return hinted{errors.New("this snapshot has digests instead of the values of environment variables: a " +
			"manifest applied from it would not work"),
			"take the snapshot with --show-values, or add --show-values to print the digests"}
	}
	object, err := history.Object(h.History, h.from.Snapshot, r)
	if err != nil {
		return err
	}
	if r != nil && o.format != asNames {
		if err := o.noteRemovals(h); err != nil {
			return err
		}
	}
	return o.write(object, []*daemonset.Header{&h.Header})
}

// noteRemovals prints a note if the chosen template lacks fields that the live template has.
// kubectl apply would keep them, because it removes only fields that it applied before.
func (o *historyOptions) noteRemovals(h historyResult) error {
	d, err := history.Make(h.from,
		history.Options{Diff: &history.Between{From: &history.Which{Live: true}, To: o.which}})
	if err != nil {
		return err
	}
	lacks := 0
	for _, c := range d.Diff.Change {
		if c.New.Absent() && c.Kind != history.FieldDefault { // the API server restores the default
			lacks++
		}
	}
	if lacks > 0 {
		o.note("this template lacks %s of the live one: kubectl apply removes only fields that it applied before; "+
			"kubectl replace -f - gives exactly this template, as kubectl rollout undo does",
			wording.Plural(lacks, "field"))
	}
	return nil
}

// printDiff prints the difference between two revisions, as a list of fields or as a unified diff.
func (o *historyOptions) printDiff(items []historyResult) (err error) {
	h := items[0]
	if !o.unified {
		return view.Diff(o.Out, h.forScreen(), o.askedBy(), o.style)
	}
	var objects [2]map[string]any
	var names [2]string
	for i, side := range []history.Side{h.Diff.From, h.Diff.To} {
		row := h.Named(side.Name)
		if names[i] = "the live DaemonSet"; row != nil {
			names[i] = fmt.Sprintf("revision %d", row.Revision)
		}
		if objects[i], err = history.Object(h.History, h.from.Snapshot, row); err != nil {
			return err
		}
	}
	if len(h.Diff.Change) == 0 {
		o.note("%s and %s have the same template", names[0], names[1])
	}
	return view.UnifiedDiff(o.Out, h.forScreen(), objects[0], objects[1], o.showValues, o.style)
}

// status returns exit status 5 if essential input could not be read.
func (o *historyOptions) status(items []historyResult) error {
	if o.exitCode && slices.ContainsFunc(items, func(h historyResult) bool { return isPartial(&h.Header) }) {
		return statusPartial
	}
	return nil
}

// undoPlan prints the plan of a rollback, as plan-rollout does.
func (o *historyOptions) undoPlan(ctx context.Context) error {
	read, err := o.read(ctx, "")
	if err != nil {
		return err
	}
	p := &planning{queryFlags: o.queryFlags, rollback: "--undo", changed: []string{"to-revision"}}
	p.change, p.known.ShowValues, p.known.GroupBy = &whatif.Change{ToRevision: &o.back}, o.showValues, o.groupBy
	p.asked = o.askedBy()
	p.asked.Flags = append(p.asked.Flags, sheet.Flag{Name: "to-revision", Value: o.undo})
	if o.showValues {
		p.asked.Flags = append(p.asked.Flags, sheet.Flag{Name: "show-values", Bare: true})
	}
	slices.SortStableFunc(p.asked.Flags, func(a, b sheet.Flag) int { return strings.Compare(a.Name, b.Name) })
	p.asked.Live, p.asked.Undo = len(o.from) == 0 && p.asked.Again, true
	made, err := p.plans(ctx, read[:1])
	if err != nil {
		return err
	}
	return p.answer(made, false)
}
