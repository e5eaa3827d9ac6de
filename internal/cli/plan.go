package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-ds/kubectl-ds/internal/encode"
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

type planOptions struct {
	input
	choice
	changeFlags
	output   string
	color    string
	all      bool
	exitCode bool
	failOn   []string
	watch    bool
	timeout  time.Duration

	// What the flags mean, once they have been checked.
	selector   labels.Selector
	format     encode.Format
	style      view.Style
	asked      *plan.Change // without manifests; nil for none
	known      plan.Options
	conditions []condition

	only      map[types.NamespacedName]string     // the container of a DaemonSet that has one
	live      map[*plan.Plan]*explain.Explanation // of plans of what is under way
	undo      bool                                // it is asked for by history --undo
	ungrouped bool                                // the note that there are no groups has been printed
}

func newPlan(c *common) *cobra.Command {
	o := &planOptions{input: input{common: c, command: "plan-rollout"}}
	cmd := &cobra.Command{
		Use:     "plan-rollout [NAME...]",
		Short:   "Forecast a rollout, or what a change would do",
		GroupID: "inspect",
		Long: paragraphs(`
			Shows what the controller does next and every later step, until the rollout
			completes or stalls: how many pods are replaced, how many at a time, how long it
			takes, and which nodes block it. With a manifest or with flags that change
			something, it shows what that change would do. Nothing is changed.

			Without a NAME: a plan for each DaemonSet of the manifests; or, without manifests,
			one line for each DaemonSet in the namespace that has pending work or a node
			without an available pod. NAME may be NAMESPACE/NAME.

			NODES is a name, a comma-separated list of names, a pattern such as 'worker-*', or
			a label selector such as pool=gpu.

			The controller picks pods at random, so the plan gives counts, not names. Durations
			are ranges; the assumptions behind them are listed below the plan.

			A manifest is applied as the live object was: client-side, or server-side with the
			same field manager. --server-side, --force-conflicts and --field-manager work as
			in kubectl apply. An apply that conflicts with other field managers is an error.

			Literal values of environment variables may be secret: differences are reported
			without values unless --show-values is given.

			--watch follows a rollout until it completes, is stuck, or --timeout expires, and
			reports whether each batch went as predicted.`),
		Annotations: map[string]string{
			moreTable: "Conditions of --fail-on, separated by commas:\n" + table(
				row{"stalls", "the rollout does not complete by itself"},
				row{"removesAllPods", "no node is eligible, and none keeps its pod"},
				row{"lostNodes>N", "more than N nodes lose their pod because they are not eligible, immediately or in the rollout"},
				row{"replaces>N", "the controller replaces more than N pods; one that is only deleted does not count"},
				row{"immediateDeletes>N", "more than N pods are deleted immediately: in the next step, or because their node is no longer eligible"}),
			exitTable: exits("2 to 5", `
				If several statuses apply, or there are several DaemonSets, the first that
				applies of 6, 3, 4, 5, 2 is used.`,
				row{"0", "answered: nothing to do, would complete, or waiting for you"},
				row{"1", "error"},
				row{"2", "a rollout is in progress"},
				row{"3", "the rollout stalls"},
				row{"4", "removes all pods, or leaves nodes without an available pod"},
				row{"5", "answered only in part"},
				row{"6", "a condition of --fail-on holds"}) +
				"\n\nExit status of --watch (2 to 4 only with --exit-code):\n" + table(
				row{"0", "the rollout ended, or none is in progress"},
				row{"1", "error, or the DaemonSet was deleted"},
				row{"2", "the rollout is still in progress at --timeout"},
				row{"3", "the rollout is stuck"},
				row{"4", "no rollout is in progress, but some nodes have no available pod"})},
		Example: examples(`
			# What comes next, and what is left?
			kubectl ds plan-rollout -n kube-system node-agent

			# Before you apply a manifest, or the output of helm template
			kubectl ds plan-rollout -f agent.yaml
			helm template agent ./chart | kubectl ds plan-rollout -f -

			# A new image, two nodes at a time
			kubectl ds plan-rollout -n kube-system node-agent \
			  --image agent=example/agent:2 --max-unavailable 2

			# Which DaemonSets lose pods if these nodes get a taint?
			kubectl ds plan-rollout -A --taint 'worker-*:dedicated=gpu:NoExecute'

			# A check for CI, and a comment for the pull request
			kubectl ds plan-rollout -f agent.yaml -o markdown \
			  --fail-on 'stalls,lostNodes>0'`),
		ValidArgsFunction: c.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	o.input.addFlags(f)
	o.choice.addFlags(f)
	o.changeFlags.addFlags(f)
	f.StringVarP(&o.output, "output", "o", "", outputWords(encode.PlanFormats))
	f.StringVar(&o.color, "color", "auto", "color the output: auto, always or never")
	f.BoolVar(&o.all, "all", false, "show all nodes, all steps and full messages")
	f.BoolVar(&o.exitCode, "exit-code", false, "set the exit status from the outcome")
	f.StringSliceVar(&o.failOn, "fail-on", nil, "exit with status 6 if a condition holds (see above)")
	f.BoolVar(&o.watch, "watch", false, "follow the rollout of one DaemonSet until it completes or is stuck")
	f.DurationVar(&o.timeout, "timeout", 0, "with --watch: stop after this time")
	return cmd
}

func (o *planOptions) run(ctx context.Context, args []string) error {
	if err := o.check(args); err != nil {
		return err
	}
	if o.watch {
		return o.watchRollout(ctx)
	}
	defer o.holdNotes()()
	plans, err := o.plans(ctx)
	if err != nil {
		return err
	}
	gaps := [][]daemonset.Gap{}
	for _, p := range plans {
		gaps = append(gaps, p.Snapshot.Gaps)
	}
	o.gaps(gaps...)
	considered := len(plans)
	if gate := o.given("fail-on", "exit-code"); considered == 0 && gate != "" && (o.exitCode || len(o.conditions) > 0) {
		return o.ungated(&o.choice, gate)
	}
	all := plans
	if o.listed() {
		plans = slices.DeleteFunc(slices.Clone(plans), func(p *plan.Plan) bool { return !hasToDo(p) })
		slices.SortStableFunc(plans, func(a, b *plan.Plan) int {
			return cmp.Or(
				slices.Index(worstFirst, a.Outcome.Code)-slices.Index(worstFirst, b.Outcome.Code),
				strings.Compare(a.DaemonSet.Namespace, b.DaemonSet.Namespace), strings.Compare(a.DaemonSet.Name, b.DaemonSet.Name))
		})
	}
	if err := o.print(plans, considered); err != nil {
		return err
	}
	return o.status(all)
}

// worstFirst is the order of a list.
var worstFirst = []plan.OutcomeCode{plan.Stalls, plan.RemovesAllPods, plan.Unknown, plan.Completes, plan.NotRolling, plan.NothingToDo}

// listed reports whether the answer is about whatever DaemonSets there are, so
// that those with nothing to do are left out.
func (o *planOptions) listed() bool { return len(o.names) == 0 && !o.manifests() }

// hasToDo reports whether a plan says that anything happens, that nodes stay
// without an available pod, or that pods stay although no node is eligible. A
// change that leaves no node eligible counts also where there is no pod.
func hasToDo(p *plan.Plan) bool {
	if staying, none := p.NoneEligible(); none && (staying > 0 || p.Change != nil && p.Desired.Before > 0) {
		return true
	}
	if p.Next.Kind != daemonset.StepNone || len(p.Placement.Gain)+len(p.Placement.Lose)+len(p.Outcome.Holders)+p.Outcome.FurtherHolders > 0 {
		return true
	}
	return p.Subject != plan.SubjectNothing && !slices.Contains([]plan.OutcomeCode{plan.NothingToDo, plan.NotRolling}, p.Outcome.Code)
}

// check returns an error for flags that are not valid, before anything is read.
func (o *planOptions) check(args []string) error {
	var err error
	if o.selector, err = o.choice.check(args, *o.config.Namespace); err != nil {
		return err
	}
	if o.format, err = encode.Parse(o.output, encode.PlanFormats); err != nil {
		return hinted{err, "-o markdown"}
	}
	if o.style, err = styleOf(o.Out, o.color); err != nil {
		return err
	}
	o.style.All, o.style.Wide = o.all, o.format == encode.Wide
	if o.asked, err = o.change(); err != nil {
		return err
	}
	if o.known, err = o.options(); err != nil {
		return err
	}
	if o.conditions, err = parseConditions(o.failOn); err != nil {
		return err
	}
	if o.given("fail-on") != "" && len(o.conditions) == 0 { // an unset variable of a script, and a gate that lets everything pass
		return hinted{errors.New("--fail-on names no condition"), "--fail-on 'stalls,lostNodes>0'"}
	}
	ofOne := o.given(ofDaemonSet...)
	switch {
	case o.manifests() && (o.allNamespaces || o.choice.selector != ""):
		return hinted{errors.New("-f and -k cannot be combined with -A or -l: the manifests name the DaemonSets"), "leave out the flag, or name those that are meant"}
	case ofOne != "" && len(o.names) != 1 && !o.manifests():
		return hinted{fmt.Errorf("--%s needs the name of one DaemonSet", ofOne), "kubectl ds explain lists the names"}
	case o.serverDryRun && len(o.from) > 0:
		return hinted{errors.New("--server-dry-run cannot be combined with --from: it asks the API server"), "leave out one of them"}
	case slices.Contains(o.files, source.StandardInput) && slices.Contains(o.from, source.StandardInput):
		return hinted{errors.New("-f - and --from - both read standard input"), "give one of them as a file"}
	case o.given("timeout") != "" && !o.watch:
		return hinted{errors.New("--timeout needs --watch"), "--request-timeout limits a single request"}
	case o.watch && (o.asksAnything() || len(o.from) > 0):
		return hinted{errors.New("--watch follows a rollout in a cluster: it cannot be combined with a change or with --from"), "leave out --watch"}
	case o.watch && len(o.names) != 1:
		return hinted{errors.New("--watch needs the name of one DaemonSet"), "kubectl ds plan-rollout lists the DaemonSets that have something to do"}
	}
	return o.input.check()
}

// plans returns the plans that were asked for, in the order of the names or of
// the manifests.
func (o *planOptions) plans(ctx context.Context) ([]*plan.Plan, error) {
	if o.manifests() {
		return o.planManifests(ctx)
	}
	snapshots, err := o.read(ctx, &o.choice, o.selector)
	if err != nil {
		return nil, err
	}
	plans := []*plan.Plan{}
	for _, s := range snapshots {
		p, err := o.plan(s, o.asked)
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return plans, nil
}

func (o *planOptions) plan(s *snapshot.Snapshot, c *plan.Change) (*plan.Plan, error) {
	s, st, err := o.state(s)
	if err != nil {
		return nil, err
	}
	if err := o.groupable(s); err != nil {
		return nil, err
	}
	if containers := s.DaemonSet.Spec.Template.Spec.Containers; len(containers) == 1 {
		if o.only == nil {
			o.only = map[types.NamespacedName]string{}
		}
		o.only[types.NamespacedName{Namespace: s.DaemonSet.Namespace, Name: s.DaemonSet.Name}] = containers[0].Name
	}
	if c != nil && c.ToRevision != nil && *c.ToRevision < 0 {
		if *c.ToRevision, err = o.target(s, -*c.ToRevision); err != nil {
			return nil, err
		}
		if err := o.set.Set("to-revision", strconv.FormatInt(*c.ToRevision, 10)); err != nil { // for the commands on the screen
			return nil, err
		}
	}
	p, err := plan.Make(s, c, o.known)
	if err == nil {
		if o.live == nil {
			o.live = map[*plan.Plan]*explain.Explanation{}
		}
		o.live[p] = explain.Explain(s, st, explain.Options{Outlook: plan.Look(s, st)})
	}
	return p, err
}

// groupable refuses a label of --group-by that no node has, and will not get by
// this change: it would make one group of all.
func (o *planOptions) groupable(s *snapshot.Snapshot) error {
	if o.groupBy == "" {
		return nil
	}
	if s.Lacks(snapshot.Nodes) {
		if !o.ungrouped {
			o.ungrouped = true
			o.note("--group-by has no effect: the nodes could not be read")
		}
		return nil
	}
	labels := map[string]bool{}
	for i := range s.Nodes {
		for key := range s.Nodes[i].Labels {
			labels[key] = true
		}
	}
	given := o.asked != nil && slices.ContainsFunc(o.asked.Nodes, func(e plan.NodeEdit) bool { return e.Kind == plan.NodeLabel && e.Key == o.groupBy })
	if labels[o.groupBy] || given || len(s.Nodes) == 0 {
		return nil
	}
	return hinted{fmt.Errorf("--group-by %s: no node has this label", o.groupBy), labelHint(slices.Sorted(maps.Keys(labels)), o.groupBy)}
}

// labelHint returns a hint with the labels that may have been meant, or with those
// that the nodes have.
func labelHint(labels []string, asked string) string {
	const most = 5
	near := slices.Clone(labels)
	near = slices.DeleteFunc(near, func(l string) bool { return !strings.Contains(l, asked) && path.Base(l) != path.Base(asked) })
	switch {
	case len(near) > 0:
		return "did you mean " + strings.Join(near[:min(most, len(near))], ", ") + "?"
	case len(labels) == 0:
		return "the nodes have no labels"
	}
	words := "the nodes have " + strings.Join(labels[:min(most, len(labels))], ", ")
	if n := len(labels) - most; n > 0 {
		words += fmt.Sprintf(" +%d more", n)
	}
	return words
}

// planManifests plans each manifest against the live object.
func (o *planOptions) planManifests(ctx context.Context) ([]*plan.Plan, error) {
	var manifests []source.Manifest
	err := quietly(func() (err error) {
		manifests, err = source.ReadManifests(ctx, o.files, o.kustomize, o.In, o.allowed()...)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, n := range manifests[0].Notes {
		o.note("%s", n)
	}
	r, namespace, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	if manifests, err = o.chosen(manifests, namespace); err != nil {
		return nil, err
	}
	if flag := o.given(ofDaemonSet...); flag != "" && len(manifests) > 1 {
		return nil, hinted{fmt.Errorf("--%s needs one DaemonSet, but the manifests have %d", flag, len(manifests)), "name one: " + strings.Join(namesOf(manifests), ", ")}
	}
	live, err := readLive(ctx, r, manifests)
	if err != nil {
		return nil, err
	}
	plans := []*plan.Plan{}
	for i, m := range manifests {
		var p *plan.Plan
		if m.Namespace == "" {
			o.taken(m, live[i].Snapshot)
		}
		if none := live[i].none; none == nil {
			p, err = o.planLive(ctx, r, m, live[i].Snapshot)
		} else if err = o.meant(m, none); err == nil {
			p, err = o.planNew(ctx, r, m)
		}
		if err != nil {
			return nil, ofManifest(m, err)
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// ofManifest returns an error about a manifest with its file, document and field,
// and with its hint.
func ofManifest(m source.Manifest, err error) error {
	var (
		known       *source.InputError // it names the place already
		unreachable *source.UnreachableError
		hint        interface{ Hint() string }
	)
	if errors.As(err, &known) || errors.As(err, &unreachable) || errors.Is(err, context.Canceled) || strings.HasPrefix(err.Error(), "--") { // as it is about a flag
		return err
	}
	where := fmt.Sprintf("%s: document %d", m.File, m.Document)
	if m.Field != "" {
		where += ": " + m.Field
	}
	if words := err.Error(); !strings.Contains(words, strconv.Quote(m.Name)) && !strings.Contains(words, m.Ref.String()) {
		where += ": daemonset " + m.Ref.String()
	}
	wrapped := fmt.Errorf("%s: %w", where, err)
	if errors.As(err, &hint) {
		return hinted{wrapped, hint.Hint()}
	}
	return wrapped
}

// chosen returns the manifests whose names were given, or all, each with its
// namespace.
func (o *planOptions) chosen(all []source.Manifest, namespace string) ([]source.Manifest, error) {
	var out []source.Manifest
	named := make([]bool, len(o.names))
	for _, m := range all {
		asked := *o.config.Namespace
		if len(o.names) > 0 {
			i := slices.IndexFunc(o.names, func(ref source.Ref) bool {
				return ref.Name == m.Name && (ref.Namespace == asked || m.Namespace == "" || ref.Namespace == m.Namespace)
			})
			if i < 0 {
				continue
			}
			named[i], asked = true, o.names[i].Namespace
		}
		if asked != "" && m.Namespace != "" && m.Namespace != asked {
			return nil, hinted{fmt.Errorf("%s: document %d: daemonset %s is in namespace %q, but -n is %q", m.File, m.Document, m.Name, m.Namespace, asked), "leave out -n"}
		}
		m.NamespaceAssumed = m.Namespace == "" && asked == ""
		m.Namespace, m.As = cmp.Or(m.Namespace, asked, namespace), o.apply
		out = append(out, m)
	}
	if i := slices.Index(named, false); i >= 0 {
		return nil, hinted{fmt.Errorf("no manifest has a daemonset %q", o.names[i]), "the manifests have " + strings.Join(namesOf(all), ", ")}
	}
	return out, nil
}

func namesOf(manifests []source.Manifest) []string {
	var names []string
	for _, m := range manifests {
		names = append(names, m.Name)
	}
	return names
}

// live is the Snapshot of a manifest's live object, or that there is none.
type live struct {
	*snapshot.Snapshot
	none *source.NotFoundError
}

// readLive returns each manifest's live object. What several of a namespace
// share is read once.
func readLive(ctx context.Context, r reader, manifests []source.Manifest) ([]live, error) {
	var refs []source.Ref
	for _, m := range manifests {
		refs = append(refs, m.Ref)
	}
	read, err := readTogether(ctx, r, refs)
	if err != nil {
		return nil, err
	}
	out := make([]live, len(manifests))
	for i, m := range manifests {
		if found := read[m.Ref]; len(found) == 1 {
			out[i].Snapshot = found[0]
			continue
		}
		s, err := r.Read(ctx, m.Ref) // it knows what is near where there is none
		if err != nil && !errors.As(err, &out[i].none) {
			return nil, err
		}
		out[i].Snapshot = s
	}
	return out, nil
}

// meant refuses a new DaemonSet in a namespace that neither the manifest nor -n
// names, where others have one of that name: it would be a second one. Of any
// other new DaemonSet it says what is near.
func (o *planOptions) meant(m source.Manifest, none *source.NotFoundError) error {
	others := none.Elsewhere
	if len(others) == 0 && len(none.Near) == 0 {
		return nil
	}
	if len(others) > 0 && m.NamespaceAssumed {
		hint := "-n " + view.Quote(others[0]) + " plans a change of that one, -n " + view.Quote(m.Namespace) + " a new one"
		if flags, pastable := o.givenAgain(); pastable {
			hint += ": " + planAgain(screen.Command{"kubectl ds plan-rollout", "-n " + screen.Quote(others[0])}, flags)
		}
		return hinted{fmt.Errorf("daemonset %q is in %s, but neither the manifest nor -n names a namespace: kubectl apply would create a second one in namespace %q",
			m.Name, inNamespaces(others), m.Namespace), hint}
	}
	o.note("daemonset %s does not exist, so this plans a new one; %s", view.Clean(m.Ref.String()), view.Clean(none.Hint()))
	return nil
}

// taken notes which namespace is assumed for a manifest without one, if -n names
// none either: that of the only DaemonSet of its name, or else default.
func (o *planOptions) taken(m source.Manifest, live *snapshot.Snapshot) {
	found := "is planned as a new one in namespace default"
	if live != nil {
		found = "is compared with the one in namespace " + view.Clean(live.DaemonSet.Namespace)
	}
	o.note("%s: document %d: daemonset %s has no namespace and %s; kubectl apply would use the namespace of the context, or of -n", m.File, m.Document, view.Clean(m.Name), found)
}

func inNamespaces(all []string) string {
	const most = 5
	if len(all) == 1 {
		return "namespace " + all[0]
	}
	words := "namespaces " + strings.Join(all[:min(most, len(all))], ", ")
	if n := len(all) - most; n > 0 {
		words += fmt.Sprintf(" +%d more", n)
	}
	return words
}

// planLive plans what a manifest makes of a live object.
func (o *planOptions) planLive(ctx context.Context, r reader, m source.Manifest, s *snapshot.Snapshot) (*plan.Plan, error) {
	s, _, err := o.ruled(s)
	if err != nil {
		return nil, err
	}
	c := plan.Change{}
	if o.asked != nil {
		c = *o.asked
	}
	if err := o.groupable(s); err != nil {
		return nil, err
	}
	m.Namespace = s.DaemonSet.Namespace
	applied, err := o.laidOver(ctx, r, m, s.DaemonSet, s.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	o.manifest(&c, m, applied)
	return plan.Make(s, &c, o.known)
}

// laidOver returns what a manifest makes of a live object, which is nil where
// there is none.
func (o *planOptions) laidOver(ctx context.Context, r reader, m source.Manifest, live *appsv1.DaemonSet, version string) (*source.Applied, error) {
	if !o.serverDryRun {
		return source.Overlay(live, m, version)
	}
	server, ok := r.(interface {
		DryRun(context.Context, source.Manifest) (*source.Applied, error)
	})
	if !ok {
		return nil, errors.New("--server-dry-run needs an API server")
	}
	applied, err := server.DryRun(ctx, m)
	if applied == nil { // nothing was sent
		applied = &source.Applied{}
	}
	if !o.showValues {
		values := literalValues(live, m)
		for i, w := range applied.Warnings {
			applied.Warnings[i] = values.Hide(w)
		}
		if err != nil {
			err = withoutValues(err, values)
		}
	}
	if err != nil {
		for _, w := range applied.Warnings {
			o.serverWarns(w)
		}
		return nil, err
	}
	return applied, nil
}

// manifest adds a manifest to a change: what it makes of the live object, and
// how that was found out.
func (o *planOptions) manifest(c *plan.Change, m source.Manifest, applied *source.Applied) {
	c.DaemonSet, c.Method, c.FieldManager = applied.DaemonSet, string(applied.Method), applied.Manager
	if o.serverDryRun {
		c.Method = plan.MethodServerDryRun
	}
	for _, r := range m.Repeats {
		c.Warnings = append(c.Warnings, plan.Warning{Code: plan.DuplicateKey, Facts: daemonset.Facts{"file": m.File, "document": m.Document, "line": r.Line, "key": r.Key}})
	}
	for _, w := range applied.Warnings {
		c.Warnings = append(c.Warnings, plan.Warning{Code: plan.ServerWarning, Facts: daemonset.Facts{"message": w}})
	}
}

// literalValues returns those of the variables of a manifest and of the live
// object, which is nil where there is none.
func literalValues(live *appsv1.DaemonSet, m source.Manifest) *template.Values {
	templates := []template.Content{m.Template()}
	if live != nil {
		if t, err := template.Of(&live.Spec.Template, false); err == nil {
			templates = append(templates, t)
		}
	}
	return template.ValuesOf([]string{m.Namespace, m.Name}, templates...)
}

// withoutValues returns an error without the literal values that a server or a
// webhook quotes in it.
func withoutValues(err error, of *template.Values) error {
	words := of.Hide(err.Error())
	if words == err.Error() {
		return err
	}
	return reworded{err, words}
}

// reworded is an error in other words.
type reworded struct {
	error
	words string
}

func (r reworded) Error() string { return r.words }
func (r reworded) Unwrap() error { return r.error }

// planNew plans a DaemonSet that is not in the cluster yet.
func (o *planOptions) planNew(ctx context.Context, r reader, m source.Manifest) (*plan.Plan, error) {
	m.Namespace = cmp.Or(m.Namespace, "default")
	if flag := o.given(ofDaemonSet...); flag != "" {
		return nil, hinted{fmt.Errorf("daemonset %s does not exist yet, so --%s has nothing to change", m.Ref, flag), "leave out --" + flag + ", or write it into the manifest"}
	}
	applied, err := o.laidOver(ctx, r, m, nil, o.version)
	if err != nil {
		return nil, err
	}
	if o.serverDryRun {
		applied.DaemonSet.UID = "" // that of a dry run is nobody's
	}
	s, err := r.ReadFor(ctx, applied.DaemonSet)
	if err != nil {
		return nil, err
	}
	if s, _, err = o.ruled(s); err != nil {
		return nil, err
	}
	if !o.serverDryRun && s.KubernetesVersion != o.version { // the defaults of a version are known only now
		if applied, err = o.laidOver(ctx, r, m, nil, s.KubernetesVersion); err != nil {
			return nil, err
		}
		s.DaemonSet = applied.DaemonSet
	}
	if err := o.groupable(s); err != nil {
		return nil, err
	}
	c := plan.Change{}
	if o.asked != nil {
		c.Nodes = o.asked.Nodes
	}
	o.manifest(&c, m, applied)
	return plan.New(s, &c, o.known)
}

func (o *planOptions) print(plans []*plan.Plan, considered int) error {
	list := &plan.List{APIVersion: snapshot.APIVersion, Kind: plan.ListKind, Items: plans}
	refs := []string{}
	for _, p := range plans {
		refs = append(refs, p.DaemonSet.Name)
	}
	text := o.format == encode.Text || o.format == encode.Wide
	switch {
	case o.format == encode.Markdown:
		for i, p := range plans {
			if i > 0 {
				fmt.Fprintln(o.Out)
			}
			if err := view.PlanMarkdown(o.Out, p, o.live[p]); err != nil {
				return err
			}
		}
		return nil
	case !text && (o.listed() || len(plans) != 1):
		return encode.Write(o.Out, list, refs, o.format)
	case !text:
		return encode.Write(o.Out, plans[0], refs, o.format)
	case o.listed() && considered == 0:
		fmt.Fprintln(o.ErrOut, o.nothing(&o.choice))
		return nil
	case o.listed() && len(plans) == 0:
		_, err := fmt.Fprintf(o.Out, "NOTHING TO DO  %s: none has a rollout in progress, or a pod to create or delete\n", view.Plural(considered, "DaemonSet"))
		return err
	case o.listed():
		return view.Plans(o.Out, list, o.asks(plans[0]), o.style)
	}
	for i, p := range plans {
		if i > 0 {
			fmt.Fprintln(o.Out)
		}
		if err := view.Plan(o.Out, p, o.live[p], o.asks(p), o.style); err != nil {
			return err
		}
	}
	return nil
}

// repeated are the flags of kubectl that a command needs to ask the same
// cluster, besides those of plan-rollout. None of them is a secret.
var repeated = []string{"kubeconfig", "context", "cluster", "user", "as", "as-group", "as-uid", "server", "from", "now", "kubernetes-version"}

// asks is the command line that asked for a plan.
func (o *planOptions) asks(p *plan.Plan) view.Asked {
	asked := askedBy(o.set, o.from)
	asked.Flags, asked.Again = o.givenAgain()
	asked.Live, asked.Undo, asked.Makes = len(o.from) == 0 && asked.Again, o.undo, o.makes(p)
	return asked
}

// askedBy is the command line that asked, by the flags that every command has.
func askedBy(set *pflag.FlagSet, from []string) view.Asked {
	var asked view.Asked
	asked.Flags, asked.Again = givenAgain(set)
	if len(from) == 0 {
		asked.Kubectl, _ = givenAgain(kubectlOnly(set))
	}
	return asked
}

// planAgain is a command with flags.
func planAgain(c screen.Command, flags []view.Flag) string {
	for _, f := range flags {
		c = append(c, f.Word())
	}
	return c.String()
}

// givenAgain returns the flags of plan-rollout that were given, and reports
// whether they can be pasted.
func (o *planOptions) givenAgain() (flags []view.Flag, pastable bool) {
	own := slices.Concat([]string{"filename", "kustomize", "allow-remote-bases", "like", "group-by", "start", "termination", "request-rate", "request-burst", "show-values"}, ofApply, ofDaemonSet, ofNodes)
	flags, pastable = givenAgain(o.set, own...)
	for _, n := range o.nodes {
		flags = append(flags, view.Flag{Name: n.name, Value: n.text})
	}
	return flags, pastable
}

// givenAgain returns those of the flags that were given which ask for the same
// once more: the repeated ones, and a command's own. They cannot be pasted
// where standard input was read, which is read only once, or a secret was
// given, which is nobody's to see.
func givenAgain(set *pflag.FlagSet, own ...string) (flags []view.Flag, pastable bool) {
	pastable = true
	set.VisitAll(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		switch {
		case !f.Changed:
		case slices.Contains([]string{"token", "password", "username"}, f.Name), slices.Contains(values, source.StandardInput):
			pastable = false
		case isNodeFlag(f):
		case f.Value.Type() == "bool" && slices.Contains(own, f.Name):
			flags = append(flags, view.Flag{Name: f.Name, Bare: true})
		case slices.Contains(own, f.Name), slices.Contains(repeated, f.Name):
			for _, v := range values {
				flags = append(flags, view.Flag{Name: f.Name, Value: v})
			}
		}
	})
	return flags, pastable
}

// makes is the command of kubectl that makes the change which is planned, where
// it is one command; else empty.
func (o *planOptions) makes(p *plan.Plan) screen.Command {
	on := func(verb string, words ...screen.Word) screen.Command {
		c := append(screen.Command{screen.Word("kubectl " + verb), "-n " + screen.Quote(p.DaemonSet.Namespace), "daemonset/" + screen.Quote(p.DaemonSet.Name)}, words...)
		for _, f := range askedBy(o.set, o.from).Kubectl {
			c = append(c, f.Word())
		}
		return c
	}
	c, asked := o.asked, slices.DeleteFunc(o.changes(), func(flag string) bool { return flag == "node-down" }) // which nobody wants to come true
	switch {
	case o.manifests() && len(asked) == 0:
		var words screen.Command
		if slices.Contains(o.files, source.StandardInput) {
			return nil
		}
		for _, f := range o.files {
			words = append(words, "-f "+screen.Quote(f))
		}
		if o.kustomize != "" {
			words = append(words, "-k "+screen.Quote(o.kustomize))
		}
		flags, _ := givenAgain(o.set, ofApply...)
		for _, f := range flags {
			if slices.Contains(ofApply, f.Name) && f.Name != "server-dry-run" {
				words = append(words, f.Word())
			}
		}
		return append(screen.Command{"kubectl apply"}, words...)
	case c == nil || len(asked) != 1:
		return nil
	case c.ToRevision != nil:
		to := cmp.Or(*c.ToRevision, p.Change.Revision.Was)
		return on("rollout undo", screen.Word(fmt.Sprintf("--to-revision=%d", to)))
	case c.Restart:
		return on("rollout restart")
	case len(c.Images) > 0:
		var words []screen.Word
		for _, i := range c.Images {
			words = append(words, screen.Quote(cmp.Or(i.Container, o.only[types.NamespacedName{Namespace: p.DaemonSet.Namespace, Name: p.DaemonSet.Name}], "*")+"="+i.Image))
		}
		return on("set image", words...)
	case c.MaxUnavailable != nil && p.Budget.Kind == daemonset.BudgetUnavailable:
		to, _ := json.Marshal(c.MaxUnavailable)
		return on("patch", "--type=merge", "-p "+screen.Quote(fmt.Sprintf(`{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":%s}}}}`, to)))
	}
	return nil
}

// changes are the flags that change the DaemonSet or its nodes, each once.
func (o *planOptions) changes() []string {
	var names []string
	for _, n := range slices.Concat(ofDaemonSet, ofNodes) {
		if o.given(n) != "" {
			names = append(names, n)
		}
	}
	return names
}

func isNodeFlag(f *pflag.Flag) bool { _, ok := f.Value.(nodeValue); return ok }

// status is the exit status that the conditions and the outcomes ask for.
func (o *planOptions) status(plans []*plan.Plan) error {
	failed := false
	var open []string
	for _, c := range o.conditions {
		for _, p := range plans {
			number, holds, known := c.holds(p)
			of := p.DaemonSet.Namespace + "/" + p.DaemonSet.Name
			switch {
			case holds:
				fmt.Fprintf(o.ErrOut, "--fail-on %s: %s\n", c, c.words(p, view.Clean(of), number))
				failed = true
			case !known:
				open = append(open, fmt.Sprintf("cannot evaluate --fail-on %s for %s", c, of))
			}
		}
		if slices.ContainsFunc(plans, lacksDaemonSets) {
			open = append(open, fmt.Sprintf("cannot evaluate --fail-on %s for DaemonSets that the input lacks", c))
		}
	}
	switch {
	case failed:
		return conditionHolds
	case len(open) > 0: // a gate that lets pass what it did not see is none
		hint := "the notes above say what could not be read"
		if slices.ContainsFunc(plans, func(p *plan.Plan) bool { return !p.TemplateKnown() }) {
			hint = "take the snapshot with --show-values: values of a manifest cannot be compared with digests"
			if o.asked != nil && o.asked.ToRevision != nil {
				hint = "a newer version of kubectl ds may know the fields of the revision that this one does not"
			}
		}
		return hinted{errors.New(strings.Join(open, "; ")), hint}
	case !o.exitCode:
		return nil
	}
	holds := map[exitStatus]bool{}
	for _, p := range plans {
		holds[statusOf(p)] = true
		if inPartOnly(p.Snapshot.Gaps) || !p.TemplateKnown() {
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

func lacksDaemonSets(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Snapshot.Gaps, func(g daemonset.Gap) bool { return g.What == snapshot.DaemonSets })
}

// statusOf is the exit status of one plan with --exit-code.
func statusOf(p *plan.Plan) exitStatus {
	underWay := p.Subject == plan.SubjectRollout && (p.Outcome.Code == plan.Completes || p.Next.Kind != daemonset.StepNone)
	switch {
	case p.Outcome.Code == plan.Stalls:
		return stuck
	case p.Outcome.Code == plan.RemovesAllPods:
		return degraded
	case len(p.Outcome.Holders)+p.Outcome.FurtherHolders > 0 && (p.Outcome.Code == plan.Completes || p.Outcome.Code == plan.NothingToDo):
		return degraded
	case p.Outcome.Code == plan.Unknown:
		return inPart
	case underWay:
		return moving
	}
	return 0
}
