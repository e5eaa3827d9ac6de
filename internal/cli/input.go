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
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// input is where Snapshots come from, and with which clock and rules.
type input struct {
	*common
	command string         // that asks, as "explain"
	flags   *pflag.FlagSet // of it
	from    []string
	now     string
	version string

	unasked []snapshot.What // parts that a cluster is not asked for

	clock time.Time // parsed from now
	early bool      // the note that now precedes the time of a Snapshot has been printed
}

func (in *input) addFlags(f *pflag.FlagSet) {
	in.flags = f
	f.StringArrayVar(&in.from, "from", nil, "read this file, directory or - instead of a cluster; repeatable")
	f.StringVar(&in.now, "now", "", "current time (default: time of the snapshot), such as 2026-01-31T15:04:05Z")
	f.StringVar(&in.version, "kubernetes-version", "", "controller version whose rules apply, such as v1.37.1 (default: the server's)")
}

// check returns an error for flags that are not valid, before anything is read.
func (in *input) check() error {
	if slices.Contains(in.from, "") {
		return hinted{errors.New("--from names no file"), "--from FILE"}
	}
	if n := *in.config.Namespace; n != "" && len(validation.IsDNS1123Label(n)) > 0 {
		return fmt.Errorf("-n %q is not a name of a namespace: use lower-case letters, digits and -", n)
	}
	timeout := cmp.Or(*in.config.Timeout, "0")
	_, notSeconds := strconv.Atoi(timeout)
	if _, err := time.ParseDuration(timeout); err != nil && notSeconds != nil {
		return hinted{fmt.Errorf("--request-timeout %q is not a duration", timeout), "--request-timeout 5s"}
	}
	if in.now != "" {
		t, err := time.Parse(time.RFC3339, in.now)
		if err != nil {
			return hinted{fmt.Errorf("--now %q is not a time", in.now), "--now " + time.Now().UTC().Format(time.RFC3339)}
		}
		in.clock = t
	}
	if in.version != "" {
		if _, err := daemonset.ForVersion(in.version); err != nil {
			return hinted{fmt.Errorf("--kubernetes-version: %w", err), "--kubernetes-version " + daemonset.Newest}
		}
	}
	return nil
}

// reader is a cluster or a dump.
type reader interface {
	Read(context.Context, source.Ref) (*snapshot.Snapshot, error)
	ReadAll(context.Context, source.Filter) ([]*snapshot.Snapshot, error)
	Names(context.Context, string) ([]string, error)
	ReadFor(context.Context, *appsv1.DaemonSet) (*snapshot.Snapshot, error)
}

// open returns the reader and the namespace that was asked for. In a dump
// that is empty, for all, unless a flag names one: the current namespace of a
// kubeconfig is none of a dump's.
func (in *input) open(ctx context.Context) (reader, string, error) {
	if len(in.from) > 0 {
		d, err := source.ReadFiles(ctx, in.from, in.In, time.Now)
		if err != nil {
			return nil, "", err
		}
		for _, n := range d.Notes() {
			in.note("%s", n)
		}
		return d, *in.config.Namespace, nil
	}
	config, err := source.RESTConfig(in.config.ToRawKubeConfigLoader(), source.Named{
		Context: *in.config.Context, Cluster: *in.config.ClusterName, User: *in.config.AuthInfoName,
		Server: cmp.Or(*in.config.APIServer, os.Getenv("KUBERNETES_MASTER")),
	})
	if err != nil {
		return nil, "", err
	}
	config.UserAgent = "kubectl-ds/" + programVersion()
	c, err := source.NewCluster(config, time.Now)
	if err != nil {
		return nil, "", err
	}
	c.OnWarning(in.serverWarns)
	c.Notify(func(s string) { fmt.Fprintln(in.ErrOut, "note: "+view.Clean(s)) }) // somebody waits
	namespace, _, err := in.config.ToRawKubeConfigLoader().Namespace()
	return c.Without(in.unasked...), namespace, err
}

// heldNotes are notes that stand below the answer: its first line is the verdict,
// also where both streams are one.
type heldNotes struct {
	mu    sync.Mutex // the API server's warnings come from any goroutine
	lines []string
}

// holdNotes keeps the notes of a command until the answer is written.
func (c *common) holdNotes() (release func()) {
	c.held = &heldNotes{}
	return func() {
		c.held.mu.Lock()
		defer c.held.mu.Unlock()
		for _, line := range c.held.lines {
			fmt.Fprintln(c.ErrOut, line)
		}
		c.held.lines = nil
	}
}

// note writes a line beside the answer.
func (in *input) note(format string, args ...any) {
	line := "note: " + view.Clean(fmt.Sprintf(format, args...))
	if in.held == nil {
		fmt.Fprintln(in.ErrOut, line)
		return
	}
	in.held.mu.Lock()
	defer in.held.mu.Unlock()
	in.held.lines = append(in.held.lines, line)
}

// serverWarns writes a warning of the API server.
func (in *input) serverWarns(words string) { in.note("the API server warns: %s", view.Clean(words)) }

// asked returns the Snapshot with the clock and version that were asked for,
// which then are no gaps any more.
func (in *input) asked(s *snapshot.Snapshot) *snapshot.Snapshot {
	if !in.clock.IsZero() {
		const slack = time.Minute // to ask the cluster twice for one moment is no mistake
		if s.TakenAt.Sub(in.clock) > slack && !s.Lacks(snapshot.Clock) && !in.early {
			in.early = true
			in.note("--now precedes the snapshot; ages will be wrong")
		}
		s = without(s.At(in.clock), snapshot.Clock)
	}
	if in.version != "" {
		s = without(s.Under(in.version, snapshot.VersionFlag), snapshot.Version)
	}
	return s
}

func without(s *snapshot.Snapshot, what snapshot.What) *snapshot.Snapshot {
	c := *s
	c.Gaps = slices.DeleteFunc(slices.Clone(s.Gaps), func(g snapshot.Gap) bool { return g.What == what })
	return &c
}

// ruled returns the Snapshot as asked does, with the newest version known
// where nothing says which, and the rules of that version. A clock that is a
// guess is moved to where the reported numbers hold.
func (in *input) ruled(s *snapshot.Snapshot) (*snapshot.Snapshot, daemonset.Profile, error) {
	s = in.asked(s)
	if s.KubernetesVersion == "" {
		s = s.Under(daemonset.Newest, snapshot.VersionDefault)
	}
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	if err != nil {
		return nil, profile, hinted{err, "--kubernetes-version " + daemonset.Newest}
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

// state returns the Snapshot as ruled does, and the State of it.
func (in *input) state(s *snapshot.Snapshot) (*snapshot.Snapshot, *daemonset.State, error) {
	s, profile, err := in.ruled(s)
	if err != nil {
		return nil, nil, err
	}
	st, err := daemonset.New(s, profile)
	return s, st, err
}

// gaps writes what could not be read, each once for all DaemonSets.
func (in *input) gaps(lists ...[]daemonset.Gap) {
	var said []daemonset.Gap
	messages := map[daemonset.Gap][]string{}
	for _, g := range slices.Concat(lists...) {
		kind := g
		kind.Message = ""
		if !slices.Contains(said, kind) {
			said = append(said, kind)
		}
		if !slices.Contains(messages[kind], g.Message) {
			messages[kind] = append(messages[kind], g.Message)
		}
	}
	for _, g := range said {
		all := messages[g]
		const most = 3
		if n := len(all) - most; n > 1 {
			all = append(all[:most:most], fmt.Sprintf("and %d more", n))
		}
		g.Message = strings.Join(all, "; ")
		in.note("%s%s", view.Gap(g), in.right(g))
	}
}

// right says which right is missing for a Gap, the command that checks it, and what
// to do; empty where none is.
func (in *input) right(g daemonset.Gap) string {
	if g.Why != snapshot.Forbidden || g.What == snapshot.Version {
		return ""
	}
	check := screen.Command{screen.Word("kubectl auth can-i list " + string(g.What))}
	switch namespace := in.namespace(); {
	case g.What == snapshot.Nodes:
	case in.flags.Lookup("all-namespaces").Changed:
		check = append(check, "-A")
	case namespace != "":
		check = append(check, "-n "+screen.Quote(namespace))
	}
	then := "run this, or use --from and a dump that has them"
	if len(in.from) > 0 {
		then = "record the dump again"
	}
	return fmt.Sprintf("; ask somebody who may list %s (%s) to %s", g.What, planAgain(check, askedBy(in.flags, in.from).Kubectl), then)
}

// nothing returns the line that says that there is no DaemonSet, with the command
// that looks in all namespaces.
func (in *input) nothing(ch *choice) string {
	if ch.allNamespaces || len(in.from) > 0 && *in.config.Namespace == "" {
		return "No DaemonSets found."
	}
	found := fmt.Sprintf("No DaemonSets found in namespace %s.", view.Clean(in.namespace()))
	if try := in.everywhere(); try != "" {
		found += " Try: " + try
	}
	return found
}

// everywhere is the command about the DaemonSets of all namespaces; empty where
// it cannot be pasted.
func (in *input) everywhere() string {
	asked := askedBy(in.flags, in.from)
	if !asked.Again {
		return ""
	}
	return planAgain(screen.Command{screen.Word("kubectl ds " + in.command), "-A"}, asked.Flags)
}

// meant adds to an error about a DaemonSet that is not there the whole command
// for the one that was most likely meant.
func (in *input) meant(err error, ch *choice) error {
	var none *source.NotFoundError
	if !errors.As(err, &none) || len(ch.names) != 1 {
		return err
	}
	ref := source.Ref{Namespace: none.Namespace}
	switch {
	case len(none.Elsewhere) > 0:
		ref = source.Ref{Namespace: none.Elsewhere[0], Name: none.Name}
	case len(none.Near) > 0:
		ref.Name = none.Near[0]
	}
	flags, pastable := typed(in.flags)
	if ref.Name == "" || !pastable {
		return err
	}
	c := screen.Command{screen.Word("kubectl ds " + in.command)}
	if ref.Namespace != "" {
		c = append(c, "-n "+screen.Quote(ref.Namespace))
	}
	return hinted{err, none.Hint() + " " + planAgain(append(c, screen.Quote(ref.Name)), flags)}
}

// typed returns all flags that were given but those that say which DaemonSets,
// and reports whether they can be pasted.
func typed(set *pflag.FlagSet) (flags []view.Flag, pastable bool) {
	var names []string
	var nodes []nodeFlag // all of them, in the order given
	set.Visit(func(f *pflag.Flag) {
		if n, ok := f.Value.(nodeValue); ok {
			nodes = *n.into
		} else if !slices.Contains([]string{"namespace", "all-namespaces", "selector"}, f.Name) {
			names = append(names, f.Name)
		}
	})
	flags, pastable = givenAgain(set, names...)
	for _, n := range nodes {
		flags = append(flags, view.Flag{Name: n.name, Value: n.text})
	}
	return flags, pastable
}

// ungated is the error that a gate saw no DaemonSet: a typing error in a selector
// or a namespace would let everything pass. gate is the flag that makes the answer
// one.
func (in *input) ungated(ch *choice, gate string) error {
	where, try := "", ""
	if !ch.allNamespaces && (len(in.from) == 0 || *in.config.Namespace != "") {
		where, try = fmt.Sprintf(" in namespace %q", in.namespace()), in.everywhere()
	}
	if ch.selector != "" {
		where += " with labels " + ch.selector
	}
	err := fmt.Errorf("no DaemonSet found%s, so --%s cannot be evaluated", where, gate)
	if try == "" {
		return err
	}
	return hinted{err, try}
}

// namespace returns the one that a command without -A is about.
func (in *input) namespace() string {
	if len(in.from) > 0 {
		return *in.config.Namespace
	}
	namespace, _, _ := in.config.ToRawKubeConfigLoader().Namespace()
	return namespace
}

// kinds are the ways to say "DaemonSet" before a name.
var kinds = []string{"ds", "daemonset", "daemonsets", "ds.apps", "daemonset.apps", "daemonsets.apps", "daemonset.v1.apps", "daemonsets.v1.apps"}

// others are the kinds that somebody may take for a DaemonSet's, by whether
// "kubectl rollout status" knows them.
var others = map[string]bool{
	"deploy": true, "deployment": true, "deployments": true, "sts": true, "statefulset": true, "statefulsets": true,
	"rs": false, "replicaset": false, "replicasets": false, "job": false, "jobs": false, "cj": false, "cronjob": false, "cronjobs": false,
}

// wrongKind returns the error for what is not a DaemonSet, with the command to
// ask instead where there is one.
func wrongKind(kind, name, namespace string) error {
	err := fmt.Errorf("%q is not a DaemonSet: kubectl ds is for DaemonSets only", kind+"/"+name)
	plain, _, _ := strings.Cut(strings.ToLower(kind), ".")
	if !others[plain] || name == "" || strings.Contains(name, "/") {
		return err
	}
	hint := "kubectl rollout status " + view.Quote(kind+"/"+name)
	if namespace != "" {
		hint += " -n " + view.Quote(namespace)
	}
	return hinted{err, hint}
}

// names returns the DaemonSets that the arguments name, each once: NAME,
// NAMESPACE/NAME, ds/NAME and the like, or "ds NAME". The namespace is that of
// -n, or empty; it is the namespace of a name without one.
func names(args []string, namespace string) ([]source.Ref, error) {
	if len(args) > 1 {
		plain, _, _ := strings.Cut(strings.ToLower(args[0]), ".")
		if _, other := others[plain]; other {
			return nil, wrongKind(args[0], args[1], namespace)
		}
		if slices.Contains(kinds, strings.ToLower(args[0])) {
			args = args[1:]
		}
	}
	var out []source.Ref
	for _, a := range args {
		ref, err := refOf(a, namespace)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out, nil
}

// refOf returns the DaemonSet that one argument names.
func refOf(arg, namespace string) (source.Ref, error) {
	first, name, found := strings.Cut(arg, "/")
	ref := source.Ref{Namespace: namespace, Name: name}
	_, below, deeper := strings.Cut(name, "/")
	isKind := slices.Contains(kinds, strings.ToLower(first))
	switch {
	case !found:
		ref.Name = arg
	case isKind && deeper:
		return ref, hinted{fmt.Errorf("%q has a kind and a namespace: write NAMESPACE/NAME", arg), view.Quote(name)}
	case deeper && below != "":
		return ref, hinted{fmt.Errorf("%q is neither NAME nor NAMESPACE/NAME", arg), "kubectl ds explain -n kube-system node-agent"}
	case isKind:
	case len(validation.IsDNS1123Label(first)) > 0: // a namespace has no dot and no upper case
		return ref, wrongKind(first, name, namespace)
	case namespace != "" && namespace != first:
		return ref, hinted{fmt.Errorf("%q is in namespace %q, but -n is %q", arg, first, namespace), "leave out -n"}
	default:
		ref.Namespace = first
	}
	switch {
	case found && ref.Name == "":
		return ref, hinted{fmt.Errorf("%q has no name after the slash", arg), arg + "NAME"}
	case len(validation.IsDNS1123Subdomain(ref.Name)) > 0:
		return ref, fmt.Errorf("%q is not a name of a DaemonSet: use lower-case letters, digits, dots and dashes", ref.Name)
	}
	return ref, nil
}

// orOfKind returns the error of reading a DaemonSet, with a hint if its namespace
// has the name of another kind, as in deployment/web.
func orOfKind(err error, ref source.Ref) error {
	if others[ref.Namespace] {
		kind := ref.Namespace + "/" + ref.Name
		return hinted{err, "kubectl rollout status " + view.Quote(kind) + " (kubectl ds is for DaemonSets only)"}
	}
	return err
}

// choice is which DaemonSets a command is about.
type choice struct {
	names         []source.Ref // without a namespace: that of the context, or in a dump any
	allNamespaces bool
	selector      string
}

func (ch *choice) addFlags(f *pflag.FlagSet) {
	f.BoolVarP(&ch.allNamespaces, "all-namespaces", "A", false, "show the DaemonSets of all namespaces")
	f.StringVarP(&ch.selector, "selector", "l", "", "show only DaemonSets with these labels, such as app=agent")
}

// many reports whether the answer is a list.
func (ch *choice) many() bool { return len(ch.names) != 1 }

// check reads the arguments and returns the selector, or an error for those that
// are not valid. The namespace is that of -n, or empty.
func (ch *choice) check(args []string, namespace string) (labels.Selector, error) {
	var err error
	if ch.names, err = names(args, namespace); err != nil {
		return nil, err
	}
	if len(ch.names) > 0 && (ch.allNamespaces || ch.selector != "") {
		return nil, hinted{errors.New("a name cannot be combined with -A or -l"), "leave out the name or the flag"}
	}
	selector, err := labels.Parse(ch.selector)
	if err != nil {
		return nil, fmt.Errorf("-l %q: %w", ch.selector, err)
	}
	return selector, nil
}

// read returns the Snapshots that were chosen.
func (in *input) read(ctx context.Context, ch *choice, selector labels.Selector) ([]*snapshot.Snapshot, error) {
	r, namespace, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	if len(ch.names) == 0 {
		if ch.allNamespaces {
			namespace = ""
		}
		return r.ReadAll(ctx, source.Filter{Namespace: namespace, Selector: selector})
	}
	found, err := readNames(ctx, r, within(namespace, ch.names))
	return found, in.meant(err, ch)
}

// within returns the refs with the namespace for those that have none.
func within(namespace string, refs []source.Ref) []source.Ref {
	var out []source.Ref
	for _, ref := range refs {
		if ref.Namespace = cmp.Or(ref.Namespace, namespace); !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

// readNames returns the Snapshots of these DaemonSets, in their order.
func readNames(ctx context.Context, r reader, refs []source.Ref) ([]*snapshot.Snapshot, error) {
	read, err := readTogether(ctx, r, refs)
	if err != nil {
		return nil, err
	}
	var out []*snapshot.Snapshot
	for _, ref := range refs {
		found := read[ref]
		if len(found) != 1 { // Read knows why: there is none, or one in several namespaces
			s, err := r.Read(ctx, ref)
			if err != nil {
				return nil, orOfKind(err, ref)
			}
			found = []*snapshot.Snapshot{s}
		}
		out = append(out, found[0])
	}
	return out, nil
}

// readTogether returns the Snapshots of those DaemonSets that share a namespace
// with another one, so that what they share is read once.
func readTogether(ctx context.Context, r reader, refs []source.Ref) (map[source.Ref][]*snapshot.Snapshot, error) {
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
	return read, nil
}

// completeNames offers the names of DaemonSets. It is quick or silent.
func (c *common) completeNames(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
	defer cancel()
	silent := *c
	silent.ErrOut = io.Discard // nobody reads notes while somebody types
	in := &input{common: &silent}
	if f := cmd.Flags().Lookup("from"); f != nil && f.Changed {
		from, _ := cmd.Flags().GetStringArray("from")
		slices.Sort(from)
		in.from = slices.Compact(from) // cobra parses the flags twice to complete
	}
	if slices.Contains(in.from, "-") {
		return nil, cobra.ShellCompDirectiveNoFileComp // nothing to read while somebody types
	}
	r, namespace, err := in.open(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	before := ""
	if first, _, found := strings.Cut(begun, "/"); found {
		before = first + "/"
		if !slices.Contains(kinds, strings.ToLower(first)) {
			if asked := *c.config.Namespace; asked != "" && asked != first {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			namespace = first
		}
	}
	found, err := r.Names(ctx, namespace)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offered []string
	for _, n := range found {
		n = before + n
		if !slices.Contains(args, n) && strings.HasPrefix(n, begun) && n == view.Clean(n) { // a shell would type it
			offered = append(offered, n)
		}
	}
	slices.Sort(offered)
	return offered, cobra.ShellCompDirectiveNoFileComp
}
