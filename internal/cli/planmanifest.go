package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// planManifests plans each manifest against the live object.
func (o *planOptions) planManifests(ctx context.Context) ([]planned, error) {
	var manifests []manifest.Manifest
	var allowed []manifest.Allowed
	if o.remoteBases {
		allowed = append(allowed, manifest.RemoteBases)
	}
	err := withoutStderr(func() (err error) {
		manifests, err = manifest.ReadManifests(ctx, o.files, o.kustomize, o.In, allowed...)
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
	if manifests, err = o.chooseManifests(manifests, namespace); err != nil {
		return nil, err
	}
	if flag := o.given(daemonSetFlagNames...); flag != "" && len(manifests) > 1 {
		return nil, hinted{fmt.Errorf("--%s needs one DaemonSet, but the manifests have %d", flag, len(manifests)),
			"name one: " + strings.Join(namesOf(manifests), ", ")}
	}
	refs, none := make([]source.Ref, len(manifests)), map[source.Ref]*source.NotFoundError{}
	for i, m := range manifests {
		refs[i] = m.Ref
	}
	live, err := readNames(ctx, r, refs, func(ref source.Ref, err error) error {
		var e *source.NotFoundError
		if errors.As(err, &e) {
			none[ref], err = e, nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	results, known := make([]*whatif.Result, len(manifests)), make([]plan.Options, len(manifests))
	for i, m := range manifests {
		if m.Namespace == "" {
			o.noteNamespace(m, live[i])
		}
		if live[i] != nil {
			results[i], known[i], err = o.changeLive(ctx, r, m, live[i])
		} else if err = o.checkMissing(m, none[m.Ref]); err == nil {
			results[i], known[i], err = o.makeNew(ctx, r, m)
		}
		if err != nil {
			return nil, o.manifestError(m, err)
		}
	}
	if err := o.readShared(ctx, results, false); err != nil {
		return nil, err
	}
	plans := []planned{}
	for i, m := range manifests {
		if err := o.readReferences(ctx, results[i]); err != nil {
			return nil, o.manifestError(m, err)
		}
		plans = append(plans, planChange(results[i], known[i]))
	}
	return plans, nil
}

// manifestError adds the file, the document and the field to an error about a manifest.
func (o *planOptions) manifestError(m manifest.Manifest, err error) error {
	var (
		known       *source.InputError // it contains the file already
		unreachable *api.UnreachableError
		edit        *whatif.EditError // it contains the flag already
		flag        aboutFlag
	)
	if errors.As(err, &known) || errors.As(err, &unreachable) || errors.As(err, &edit) || errors.As(err, &flag) ||
		errors.Is(err, context.Canceled) {
		return err
	}
	where := fmt.Sprintf("%s: document %d", m.File, m.Document)
	if m.Field != "" {
		where += ": " + m.Field
	}
	if words := err.Error(); !strings.Contains(words, strconv.Quote(m.Name)) &&
		!strings.Contains(words, m.Ref.String()) {
		where += ": daemonset " + m.Ref.String()
	}
	placed := fmt.Errorf("%s: %w", where, err)
	invalid := (*whatif.Invalid)(nil)
	switch {
	case !errors.As(err, &invalid):
		return placed
	case placeholder.MatchString(invalid.Error()) && m.File != stdinName:
		return unfilledError{placed, m.File}
	}
	rejected := rejectedError{error: placed, live: len(o.from) == 0 && m.File != stdinName, apply: o.apply}
	if len(invalid.Errors) > 1 {
		head, _, _ := strings.Cut(placed.Error(), " is invalid: ")
		rejected.error = reworded{placed, fmt.Sprintf("%s is invalid: %d errors", head, len(invalid.Errors))}
		for _, e := range invalid.Errors[:min(10, len(invalid.Errors))] {
			rejected.details = append(rejected.details, e.Error())
		}
		if more := len(invalid.Errors) - len(rejected.details); more > 0 {
			rejected.details = append(rejected.details, fmt.Sprintf("+%d more", more))
		}
	}
	return rejected
}

const stdinName = "standard input" // the File of a manifest from standard input

// chooseManifests returns the manifests that the arguments name, or all of them, with their
// namespaces.
func (o *planOptions) chooseManifests(all []manifest.Manifest, namespace string) ([]manifest.Manifest, error) {
	var out []manifest.Manifest
	named := make([]bool, len(o.names))
	for _, m := range all {
		asked := o.config.Namespace()
		if len(o.names) > 0 {
			i := slices.IndexFunc(o.names, func(ref source.Ref) bool {
				return ref.Name == m.Name && (ref.Namespace == asked || m.Namespace == "" ||
					ref.Namespace == m.Namespace)
			})
			if i < 0 {
				continue
			}
			named[i], asked = true, o.names[i].Namespace
		}
		if asked != "" && m.Namespace != "" && m.Namespace != asked {
			return nil, hinted{fmt.Errorf("%s: document %d: daemonset %s is in namespace %q, but -n is %q", m.File,
				m.Document, m.Name, m.Namespace, asked), "leave out -n"}
		}
		m.NamespaceAssumed = m.Namespace == "" && asked == ""
		m.Namespace, m.As = cmp.Or(m.Namespace, asked, namespace), o.applying
		out = append(out, m)
	}
	if i := slices.Index(named, false); i >= 0 {
		return nil, hinted{fmt.Errorf("no manifest has a daemonset %q", o.names[i]), "the manifests have " +
			strings.Join(namesOf(all), ", ")}
	}
	return out, nil
}

func namesOf(manifests []manifest.Manifest) []string {
	var names []string
	for _, m := range manifests {
		names = append(names, m.Name)
	}
	return names
}

// checkMissing returns an error if a new DaemonSet would be a duplicate: neither the manifest nor
// -n sets a namespace, and other namespaces have a DaemonSet with the same name. For any other new
// DaemonSet, it prints a note with similar names.
func (o *planOptions) checkMissing(m manifest.Manifest, none *source.NotFoundError) error {
	others, in := none.Elsewhere, "namespace "
	switch {
	case len(others) == 0 && len(none.Near) == 0:
		return nil
	case len(others) > 1:
		in = "namespaces "
	}
	if len(others) > 0 && m.NamespaceAssumed {
		hint := "-n " + string(screen.Quote(others[0])) + " plans a change of that one, -n " +
			string(screen.Quote(m.Namespace)) + " a new one"
		if o.asked.Again {
			hint += ": " + sheet.WithFlags(screen.Command{o.ownWord("plan-rollout"), "-n " + screen.Quote(others[0])},
				o.asked.Flags...).String()
		}
		return hinted{fmt.Errorf("daemonset %q is in %s, but neither the manifest nor -n names a namespace: kubectl "+
			"apply would create a second one in namespace %q",
			m.Name, in+joinFirst(5, others), m.Namespace), hint}
	}
	o.note("daemonset %s does not exist, so this plans a new one; %s", screen.Clean(m.Ref.String()),
		screen.Clean(none.Hint()))
	return nil
}

// noteNamespace prints the namespace that is assumed for a manifest if neither the manifest nor -n
// sets one. It is the namespace of the only DaemonSet with that name, or default.
func (o *planOptions) noteNamespace(m manifest.Manifest, live *snapshot.Snapshot) {
	found := "is planned as a new one in namespace default"
	if live != nil {
		found = "is compared with the one in namespace " + screen.Clean(live.DaemonSet.Namespace)
	}
	o.note("%s: document %d: daemonset %s has no namespace and %s; kubectl apply would use the namespace of the "+
		"context, or of -n", m.File, m.Document, screen.Clean(m.Name), found)
}

// changeLive returns the result of applying a manifest to a live object, and the plan options.
func (o *planOptions) changeLive(ctx context.Context, r reader, m manifest.Manifest,
	s *snapshot.Snapshot) (*whatif.Result, plan.Options, error) {
	st, err := o.state(s)
	if err != nil {
		return nil, plan.Options{}, err
	}
	s = st.Snapshot
	if err := o.checkGroupLabel(s, o.known.GroupBy, o.change); err != nil {
		return nil, plan.Options{}, err
	}
	m.Namespace = s.DaemonSet.Namespace
	applied, err := o.applyManifest(ctx, r, m, s.DaemonSet, s.KubernetesVersion)
	if err != nil {
		return nil, plan.Options{}, err
	}
	c := *cmp.Or(o.change, &whatif.Change{})
	known := o.addManifest(&c, m, applied)
	result, err := o.applyChange(st, &c)
	return result, known, err
}

// manifestDryRunner is a reader that can apply a manifest in a dry run: a cluster.
type manifestDryRunner interface {
	DryRun(context.Context, manifest.Manifest) (*manifest.Applied, error)
}

// applyManifest returns the object after a manifest is applied to live, which may be nil.
func (o *planOptions) applyManifest(ctx context.Context, r reader, m manifest.Manifest, live *appsv1.DaemonSet,
	version string) (*manifest.Applied, error) {
	if !o.serverDryRun {
		return manifest.Overlay(live, m, version)
	}
	applied, err := r.(manifestDryRunner).DryRun(ctx, m)
	if applied == nil { // the request was not sent
		applied = &manifest.Applied{}
	}
	if !o.showValues {
		values := literalValues(live, m)
		for i, w := range applied.Warnings {
			applied.Warnings[i] = values.Hide(w)
		}
		err = withoutValues(err, values)
	}
	if err != nil {
		for _, w := range applied.Warnings {
			o.serverWarns(w)
		}
	}
	return applied, err
}

// addManifest adds the applied manifest to a change. It returns the plan options, with the warnings
// about the manifest.
func (o *planOptions) addManifest(c *whatif.Change, m manifest.Manifest, applied *manifest.Applied) plan.Options {
	c.DaemonSet, c.Method, c.FieldManager = applied.DaemonSet, string(applied.Method), applied.Manager
	if o.serverDryRun {
		c.Method = whatif.MethodServerDryRun
	}
	known := o.known
	for _, r := range m.Repeats {
		known.Warnings = append(known.Warnings,
			plan.Warning{Code: plan.DuplicateKey, Facts: daemonset.Facts{"file": m.File, "document": m.Document,
				"line": r.Line, "key": r.Key}})
	}
	for _, w := range applied.Warnings {
		known.Warnings = append(known.Warnings,
			plan.Warning{Code: plan.ServerWarning, Facts: daemonset.Facts{"message": w}})
	}
	return known
}

// literalValues returns the literal values of environment variables in m and in live, which may be
// nil.
func literalValues(live *appsv1.DaemonSet, m manifest.Manifest) *hide.Values {
	templates := []template.Content{m.Template()}
	if live != nil {
		if t, err := template.Of(&live.Spec.Template, false); err == nil {
			templates = append(templates, t)
		}
	}
	return hide.ValuesOf([]string{m.Namespace, m.Name}, templates...)
}

// withoutValues hides literal values that a server or a webhook quotes in an error.
func withoutValues(err error, of *hide.Values) error {
	if err == nil || of.Hide(err.Error()) == err.Error() {
		return err
	}
	return reworded{err, of.Hide(err.Error())}
}

// makeNew returns the result of creating a DaemonSet, and the plan options.
func (o *planOptions) makeNew(ctx context.Context, r reader, m manifest.Manifest) (*whatif.Result,
	plan.Options, error) {
	m.Namespace = cmp.Or(m.Namespace, "default")
	if flag := o.given(daemonSetFlagNames...); flag != "" {
		return nil, plan.Options{},
			hinted{fmt.Errorf("daemonset %s does not exist yet, so --%s has nothing to change", m.Ref, flag),
				"leave out --" + flag + ", or write it into the manifest"}
	}
	applied, err := o.applyManifest(ctx, r, m, nil, o.version)
	if err != nil {
		return nil, plan.Options{}, err
	}
	if o.serverDryRun {
		applied.DaemonSet.UID = "" // the UID of a dry run belongs to no object
	}
	s, err := r.ReadFor(ctx, applied.DaemonSet)
	if err != nil {
		return nil, plan.Options{}, err
	}
	if s, _, err = o.withRules(s); err != nil {
		return nil, plan.Options{}, err
	}
	// the defaults depend on the version, which is unknown before this line
	if !o.serverDryRun && s.KubernetesVersion != o.version {
		if applied, err = o.applyManifest(ctx, r, m, nil, s.KubernetesVersion); err != nil {
			return nil, plan.Options{}, err
		}
		s.DaemonSet = applied.DaemonSet
	}
	if err := o.checkGroupLabel(s, o.known.GroupBy, o.change); err != nil {
		return nil, plan.Options{}, err
	}
	c := whatif.Change{Nodes: cmp.Or(o.change, &whatif.Change{}).Nodes}
	known := o.addManifest(&c, m, applied)
	created, err := whatif.MakeNew(s, &c)
	if err != nil {
		return nil, plan.Options{}, o.program.withHint(err, o.rollback)
	}
	return created, known, nil
}
