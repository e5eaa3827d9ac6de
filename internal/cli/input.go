package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/refer"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// inputFlags holds the flags that select the input, the clock and the rules.
type inputFlags struct {
	*common
	flagSet
	command     string // name of the command, such as "explain"
	from        []string
	readOptions dump.ReadOptions // for --from
	now         string
	version     string
	maxInput    string // limit for all input
	chunkSize   int64  // number of objects that one request for a list asks for

	names         []source.Ref // a ref without a namespace is in the current namespace, or in any namespace of a dump
	allNamespaces bool
	selectorText  string

	// The parsed flags, set by checkNames and check.
	selector labels.Selector
	clock    time.Time

	skipped         []snapshot.What // parts that are not read from a cluster
	opened          reader          // set by open
	openedNamespace string          // set by open
}

func (in *inputFlags) addFlags(f *pflag.FlagSet) {
	in.flags = f
	f.StringArrayVar(&in.from, "from", nil, "read this file, directory, archive or - instead of a cluster; repeatable")
	f.BoolVar(&in.readOptions.KeepGoing, "keep-going", false,
		"leave out damaged objects; results that depend on them are unknown")
	f.StringVar(&in.now, "now", "", "current time (default: time of the snapshot), such as 2026-01-31T15:04:05Z")
	f.StringVar(&in.version, "kubernetes-version", "",
		"controller version whose rules apply, such as v1.37.1 (default: the server's)")
	f.StringVar(&in.maxInput, "max-input", defaultSize, "read at most this much, once unpacked")
	f.Int64Var(&in.chunkSize, "chunk-size", cluster.DefaultPage, "objects of a list per request; 0 for all at once")
}

// defaultSize is the default of --max-input.
var defaultSize = resource.NewQuantity(source.DefaultMaxInput, resource.BinarySI).String()

// flagSet is the flags of a command.
type flagSet struct{ flags *pflag.FlagSet }

// given returns the first of the named flags that the user set, or "".
func (s flagSet) given(names ...string) string {
	for _, n := range names {
		if f := s.flags.Lookup(n); f != nil && f.Changed {
			return n
		}
	}
	return ""
}

// checkNames parses the arguments and the selector.
func (in *inputFlags) checkNames(args []string) (err error) {
	if in.names, err = in.program.names(args, in.config.Namespace()); err != nil {
		return err
	}
	if len(in.names) > 0 && (in.allNamespaces || in.selectorText != "") {
		return hinted{errors.New("a name cannot be combined with -A or -l"),
			cmp.Or(in.rerunLine(in.names[0]), "leave out the name or the flag")}
	}
	if in.selector, err = labels.Parse(in.selectorText); err != nil {
		return hinted{fmt.Errorf("-l %q: %w", in.selectorText, err), "-l app=agent"}
	}
	return nil
}

// isList reports whether the answer is a list.
func (in *inputFlags) isList() bool { return len(in.names) != 1 }

// check validates the flags before the program reads anything.
func (in *inputFlags) check() error {
	if slices.Contains(in.from, "") {
		return hinted{errors.New("--from names no file"), "--from FILE"}
	}
	if in.readOptions.KeepGoing && len(in.from) == 0 {
		return hinted{errors.New("--keep-going is for the input of --from"), "leave out --keep-going"}
	}
	if n := in.config.Namespace(); n != "" && len(validation.IsDNS1123Label(n)) > 0 {
		err := fmt.Errorf("-n %q is not a name of a namespace: use lower-case letters, digits and -", n)
		if lower := strings.ToLower(n); len(validation.IsDNS1123Label(lower)) == 0 {
			return hinted{err, "-n " + lower}
		}
		return err
	}
	timeout := cmp.Or(in.config.Timeout(), "0")
	_, notSeconds := strconv.Atoi(timeout)
	if _, err := time.ParseDuration(timeout); err != nil && notSeconds != nil {
		return hinted{fmt.Errorf("--request-timeout %q is not a duration", timeout), "--request-timeout 5s"}
	}
	size, err := resource.ParseQuantity(cmp.Or(in.maxInput, defaultSize))
	if in.readOptions.Most = size.Value(); err != nil || in.readOptions.Most < 1 {
		return hinted{fmt.Errorf("--max-input %q is not a size", in.maxInput), "--max-input 4Gi"}
	}
	if in.chunkSize < 0 {
		return hinted{fmt.Errorf("--chunk-size %d is less than 0", in.chunkSize), "--chunk-size " +
			strconv.Itoa(cluster.DefaultPage)}
	}
	if in.now != "" {
		t, err := time.Parse(time.RFC3339, in.now)
		if err != nil {
			return hinted{fmt.Errorf("--now %q is not a time", in.now), "--now " +
				time.Now().UTC().Format(time.RFC3339)}
		}
		in.clock = t
	}
	if in.version != "" {
		rules, err := daemonset.ForVersion(in.version)
		if err != nil {
			return hinted{fmt.Errorf("--kubernetes-version: %w", err), versionHint(err)}
		}
		if rules.Beyond {
			in.note("the rules of %s are not known: those of %s are used", in.version, daemonset.Newest)
		}
	}
	return nil
}

// reader reads from a cluster or a dump.
type reader interface {
	Read(context.Context, source.Ref) (*snapshot.Snapshot, error)
	ReadAll(context.Context, source.Filter) ([]*snapshot.Snapshot, error)
	ReadEach(context.Context, source.Filter, func([]*snapshot.Snapshot) error) error
	DaemonSets(context.Context, string) ([]appsv1.DaemonSet, error)
	Nodes(context.Context) ([]part.Labeled, error)
	Namespaces(context.Context) ([]string, error)
	Revisions(context.Context, source.Ref) ([]appsv1.ControllerRevision, time.Time, error)
	ReadFor(context.Context, *appsv1.DaemonSet) (*snapshot.Snapshot, error)
	AddOtherPods(context.Context, []*snapshot.Snapshot, []string) ([]*snapshot.Snapshot, error)
	AddAdmission(context.Context, ...part.Creation) ([]*snapshot.Snapshot, error)
	AddReferences(context.Context, *snapshot.Snapshot, []snapshot.Wanted) (*snapshot.Snapshot, error)
	AddVolumes(ctx context.Context, s *snapshot.Snapshot, claims, nodes []string) (*snapshot.Snapshot, error)
	AddController(context.Context, []*snapshot.Snapshot) ([]*snapshot.Snapshot, error)
}

// open returns the reader and the chosen namespace. It creates the reader only once. For a dump,
// the namespace is empty, which means all namespaces, unless a flag sets it: the current namespace
// of the kubeconfig does not apply to dumps.
func (in *inputFlags) open(ctx context.Context) (reader, string, error) {
	if in.opened != nil {
		return in.opened, in.openedNamespace, nil
	}
	r, namespace, err := in.newReader(ctx)
	if err == nil {
		in.opened, in.openedNamespace = r, namespace
	}
	return r, namespace, err
}

func (in *inputFlags) newReader(ctx context.Context) (reader, string, error) {
	if len(in.from) > 0 {
		d, err := dump.ReadFiles(ctx, in.from, in.In, time.Now, in.readOptions)
		for _, n := range d.Notes() {
			in.note("%s", n)
		}
		if err != nil {
			return nil, "", err
		}
		return d, in.config.Namespace(), nil
	}
	config, err := in.config.Config(os.Getenv("KUBERNETES_MASTER"))
	if err != nil {
		return nil, "", err
	}
	config.UserAgent = "kubectl-ds/" + programVersion()
	c, err := cluster.NewCluster(config, time.Now)
	if err != nil {
		return nil, "", err
	}
	c.AtMost(cmp.Or(in.readOptions.Most, source.DefaultMaxInput))
	c.InPagesOf(in.chunkSize)
	c.OnWarning(in.serverWarns)
	in.progressOn(c)
	// print it immediately, because the user waits
	c.Notify(func(s string) { fmt.Fprintln(in.ErrOut, "note: "+screen.Clean(s)) })
	namespace, err := in.config.CurrentNamespace()
	return c.Without(in.skipped...), namespace, err
}

// namespace returns the namespace that a command without -A uses.
func (in *inputFlags) namespace() string {
	if len(in.from) > 0 {
		return in.config.Namespace()
	}
	namespace, _ := in.config.CurrentNamespace()
	return namespace
}

// override returns s with the clock and the version that the user set, and without the gaps that
// they fill.
func (in *inputFlags) override(s *snapshot.Snapshot) *snapshot.Snapshot {
	if !in.clock.IsZero() {
		const slack = time.Minute // several commands may share one --now
		if s.TakenAt.Sub(in.clock) > slack && !s.Lacks(snapshot.Clock) {
			in.note("--now precedes the snapshot; ages will be wrong")
		}
		s = withoutGap(s.At(in.clock), snapshot.Clock)
	}
	if in.version != "" {
		s = withoutGap(s.Under(in.version, snapshot.VersionFlag), snapshot.Version)
	}
	return s
}

func withoutGap(s *snapshot.Snapshot, what snapshot.What) *snapshot.Snapshot {
	c := *s
	c.Gaps = slices.DeleteFunc(slices.Clone(s.Gaps), func(g snapshot.Gap) bool { return g.What == what })
	return &c
}

// withRules applies override, and returns the rules for the Kubernetes version. If the version is
// unknown, it assumes the newest one with rules. If the clock is a guess, it moves the clock to a
// time at which the reported numbers are correct.
func (in *inputFlags) withRules(s *snapshot.Snapshot) (*snapshot.Snapshot, daemonset.Profile, error) {
	s = in.override(s)
	if s.KubernetesVersion == "" {
		s = s.Under(daemonset.Newest, snapshot.VersionDefault)
	}
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	if err != nil {
		return nil, profile, hinted{err, versionHint(err)}
	}
	if s.Lacks(snapshot.Clock) {
		at, err := daemonset.EarliestClock(s, profile)
		if err != nil {
			return nil, profile, err
		}
		s = s.At(at)
	}
	return s, profile, nil
}

// versionHint returns the hint for a version without rules.
func versionHint(err error) string {
	if old := (*daemonset.OldVersionError)(nil); errors.As(err, &old) {
		return "--kubernetes-version " + daemonset.Oldest
	}
	return "--kubernetes-version " + daemonset.Newest
}

// state returns the State of s, with the clock, version and rules of withRules.
func (in *inputFlags) state(s *snapshot.Snapshot) (*daemonset.State, error) {
	s, profile, err := in.withRules(s)
	if err != nil {
		return nil, err
	}
	return daemonset.New(s, profile)
}

// addReferences adds to s the objects to which pods of these templates refer.
func (in *inputFlags) addReferences(ctx context.Context, s *snapshot.Snapshot,
	templates ...*corev1.PodTemplateSpec) (*snapshot.Snapshot, error) {
	var specs []*corev1.PodSpec
	for _, t := range templates {
		specs = append(specs, &t.Spec)
	}
	wanted := refer.Wanted(specs...)
	if len(wanted) == 0 {
		return s, nil
	}
	return in.opened.AddReferences(ctx, s, wanted)
}

// readNeeds adds to st the input that an answer about it needs.
func (in *inputFlags) readNeeds(ctx context.Context, st *daemonset.State, n cause.Needs) (*daemonset.State, error) {
	all, err := in.readAllNeeds(ctx, []*daemonset.State{st}, []cause.Needs{n})
	if err != nil {
		return st, err
	}
	return all[0], nil
}

// readAllNeeds adds to these States the input that answers about them need. It reads shared input
// only once: the input of pod creation, the other pods of a node, and the controller's Lease.
func (in *inputFlags) readAllNeeds(ctx context.Context, all []*daemonset.State,
	needs []cause.Needs) ([]*daemonset.State, error) {
	read := make([]*snapshot.Snapshot, len(all))
	var creations []part.Creation
	var refused, waiting, led []int // indexes of all
	var together cause.Needs
	for i, st := range all {
		read[i] = st.Snapshot
		if needs[i].Admission {
			creations, refused = append(creations,
				part.Creation{Of: st.Snapshot, Template: &st.DaemonSet.Spec.Template}), append(refused, i)
		}
		if len(needs[i].Nodes) > 0 {
			waiting, together = append(waiting, i), together.And(needs[i])
		}
		if needs[i].Controller {
			led = append(led, i)
		}
	}
	if len(creations) > 0 {
		found, err := in.opened.AddAdmission(ctx, creations...)
		if err != nil {
			return nil, err
		}
		for i, at := range refused {
			read[at] = found[i]
		}
	}
	err := replaceAt(read, waiting, func(of []*snapshot.Snapshot) ([]*snapshot.Snapshot, error) {
		return in.opened.AddOtherPods(ctx, of, together.Nodes)
	})
	if err != nil {
		return nil, err
	}
	if err := replaceAt(read, led, bindContext(ctx, in.opened.AddController)); err != nil {
		return nil, err
	}
	out := make([]*daemonset.State, len(all))
	for i, st := range all {
		if len(needs[i].Claims) > 0 {
			nodes := append([]string{}, needs[i].Nodes...) // an empty list means no node, nil means all nodes
			if read[i], err = in.opened.AddVolumes(ctx, read[i], needs[i].Claims, nodes); err != nil {
				return nil, err
			}
		}
		out[i] = st.Reading(read[i])
	}
	return out, nil
}

// bindContext binds ctx to add.
func bindContext(
	ctx context.Context, add func(context.Context, []*snapshot.Snapshot) ([]*snapshot.Snapshot, error),
) func([]*snapshot.Snapshot) ([]*snapshot.Snapshot, error) {
	return func(of []*snapshot.Snapshot) ([]*snapshot.Snapshot, error) { return add(ctx, of) }
}

// replaceAt replaces the Snapshots at these indexes by the results of more.
func replaceAt(
	all []*snapshot.Snapshot, at []int, more func([]*snapshot.Snapshot) ([]*snapshot.Snapshot, error),
) error {
	if len(at) == 0 {
		return nil
	}
	of := make([]*snapshot.Snapshot, len(at))
	for i, place := range at {
		of[i] = all[place]
	}
	found, err := more(of)
	if err != nil {
		return err
	}
	for i, place := range at {
		all[place] = found[i]
	}
	return nil
}

// readEach calls each with the chosen Snapshots, in batches if there are many.
func (in *inputFlags) readEach(ctx context.Context, each func([]*snapshot.Snapshot) error) error {
	r, namespace, err := in.open(ctx)
	if err != nil {
		return err
	}
	return in.readEachFrom(ctx, r, namespace, each)
}

// readFrom returns the chosen Snapshots.
func (in *inputFlags) readFrom(ctx context.Context, r reader, namespace string) (all []*snapshot.Snapshot, err error) {
	err = in.readEachFrom(ctx, r, namespace, func(read []*snapshot.Snapshot) error {
		all = append(all, read...)
		return nil
	})
	return all, err
}

func (in *inputFlags) readEachFrom(ctx context.Context, r reader, namespace string,
	each func([]*snapshot.Snapshot) error) error {
	standIns := false
	err := in.readChosen(ctx, r, namespace, func(read []*snapshot.Snapshot) error {
		standIns = standIns || slices.ContainsFunc(read, func(s *snapshot.Snapshot) bool {
			return s != nil &&
				s.Names == snapshot.StandIns
		})
		return each(read)
	})
	if standIns {
		in.note("the names are stand-ins: the snapshot was written with --redact")
	}
	return err
}

func (in *inputFlags) readChosen(ctx context.Context, r reader, namespace string,
	each func([]*snapshot.Snapshot) error) error {
	if len(in.names) == 0 {
		if in.allNamespaces {
			namespace = ""
		}
		return r.ReadEach(ctx, source.Filter{Namespace: namespace, Selector: in.selector}, each)
	}
	found, err := readNames(ctx, r, withNamespace(namespace, in.names), wrongKindOr)
	if err != nil {
		return in.suggestDaemonSet(err)
	}
	return each(found)
}

// withNamespace sets the namespace of refs without one, and removes duplicates.
func withNamespace(namespace string, refs []source.Ref) []source.Ref {
	var out []source.Ref
	for _, ref := range refs {
		if ref.Namespace = cmp.Or(ref.Namespace, namespace); !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

// readNames returns the Snapshots of these DaemonSets, in their order. It reads the DaemonSets of
// one namespace together. missing converts the error for a DaemonSet that could not be read. If
// missing returns nil, the Snapshot is nil.
func readNames(ctx context.Context, r reader, refs []source.Ref,
	missing func(source.Ref, error) error) ([]*snapshot.Snapshot, error) {
	byNamespace := map[string][]string{}
	for _, ref := range refs {
		byNamespace[ref.Namespace] = append(byNamespace[ref.Namespace], ref.Name)
	}
	read := map[source.Ref][]*snapshot.Snapshot{}
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		names := byNamespace[namespace]
		if len(names) == 1 {
			continue
		}
		all, err := r.ReadAll(ctx, source.Filter{Namespace: namespace, Names: names})
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			ref := source.Ref{Namespace: namespace, Name: s.DaemonSet.Name}
			read[ref] = append(read[ref], s)
		}
	}
	out := make([]*snapshot.Snapshot, len(refs))
	for i, ref := range refs {
		if found := read[ref]; len(found) == 1 {
			out[i] = found[0]
			continue
		}
		s, err := r.Read(ctx, ref) // the error states the reason
		if err != nil {
			if err = missing(ref, err); err != nil {
				return nil, err
			}
		}
		out[i] = s
	}
	return out, nil
}
