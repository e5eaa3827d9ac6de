package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Cluster reads from an API server: GET and LIST, and no discovery. Nothing
// else leaves it but the PATCH of DryRun, which is sent as a dry run or not at
// all. It is safe for concurrent use.
type Cluster struct {
	api api

	server string // for errors: without credentials
	proxy  string
	sends  presented
	help   string        // of the kubeconfig, for its credential plugin
	limit  time.Duration // of a request with its retries; 0: there is none
	clock  func() time.Time
	heard  *heard // the server's warnings
	waits  *once  // that the server is waited for

	allowed *allowance // how much is read in all

	leftOut []snapshot.What // parts that are not asked for
	on      string          // the only node that is read; empty for all
	tells   statusTells     // see PodMetadata; nil: all of the pods is read
	told    *told           // see OnReading
}

// Notify has note called with a line, once each, when the server is waited for
// because it asks to. It is called before anything is asked.
func (c *Cluster) Notify(note func(string)) { c.waits.tell = note }

// Without returns a Cluster whose Snapshots lack parts that nobody will look
// at: of nodes, events and PodDisruptionBudgets. The Snapshots have a Gap for
// each.
func (c *Cluster) Without(what ...snapshot.What) *Cluster {
	out := *c
	out.leftOut = what
	return &out
}

// On returns a Cluster whose Read and ReadFor list only one node, only the DaemonSet's pods that
// are bound to it or to no node, and neither events nor PodDisruptionBudgets: a few requests,
// however large the cluster is. Such a Snapshot has no Gap for what was left out, so it can be
// used only for what depends on that node alone: see explain.Explanation.Alone. If the node
// cannot be read, that is an error. Other calls read as without it.
func (c *Cluster) On(node string) *Cluster {
	out := *c
	out.on = node
	return &out
}

// statusTells reports whether the status of a DaemonSet tells what else there is to know of its
// pods.
type statusTells func(*appsv1.DaemonSet) bool

// PodMetadata returns a Cluster that lists of the pods of one DaemonSet only the metadata where its
// status tells enough: that costs the server less than half. Such a Snapshot has a Gap for the
// status of the pods, which are on no node. It is for who leaves out events, or the warnings about
// all these pods would be read.
func (c *Cluster) PodMetadata(enough func(*appsv1.DaemonSet) bool) *Cluster {
	out := *c
	out.tells = enough
	return &out
}

const (
	mostTries  = 3 // how often a DaemonSet is read whose generation moves meanwhile
	concurrent = 4 // DaemonSets whose pods are read at the same time
)

// NewCluster returns a Cluster that asks the server of config as its user,
// with its timeout and its User-Agent. The config of a kubeconfig will do, as
// will that of a pod with its ServiceAccount; it is not changed. clock is
// asked only when the server's answers carry no Date.
func NewCluster(config *rest.Config, clock func() time.Time) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = strings.Join([]string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON}, ",")
	heard := &heard{}
	config.WarningHandler, config.WarningHandlerWithContext = nil, heard
	if config.QPS == 0 && config.RateLimiter == nil {
		// client-go's 5 requests a second would make 60 pages take 12 seconds. The
		// server's own priority and fairness is what protects it.
		config.QPS, config.Burst = 50, 100
	}
	unzips := func(rt http.RoundTripper) http.RoundTripper { return unzipping{rt} }
	if config.DisableCompression {
		unzips = func(rt http.RoundTripper) http.RoundTripper { return rt }
	}
	config.DisableCompression = true // by Go's transport
	waits, allowed := &once{}, &allowance{most: DefaultMaxInput, page: DefaultPage}
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		return paged{noPages{patient{dated{bounded{unzips(onlyDry{rt}), allowed}}, config.Timeout, waits}}}
	})
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, &configError{fmt.Errorf("connection to the cluster: %w", err), shownConfig}
	}
	a := api{}
	for _, g := range known {
		if a[g.GroupVersion], err = restClient(config, client, g.GroupVersion); err != nil {
			return nil, &configError{fmt.Errorf("connection to the cluster: %w", err), "--server https://HOST:6443"}
		}
	}
	c := &Cluster{
		api:    a,
		server: address(config.Host), proxy: proxyOf(config), sends: credentialsOf(config),
		clock: clock, heard: heard, waits: waits, limit: config.Timeout, allowed: allowed, told: &told{},
	}
	if config.ExecProvider != nil {
		c.help = config.ExecProvider.InstallHint
	}
	return c, nil
}

// address returns host as it may be shown.
func address(host string) string {
	u, err := url.Parse(host)
	if err != nil || u.Host == "" {
		if i := strings.LastIndex(host, "@"); i >= 0 {
			host = host[i+1:]
		}
		return host
	}
	return u.Scheme + "://" + u.Host + strings.TrimSuffix(u.Path, "/")
}

// Read takes the Snapshot of one DaemonSet.
//
// The DaemonSet is read first and once more at the end, and the second reading
// is the one kept: its status is the one that may already speak of the pods
// that were read in between. When its generation moved, the Snapshot is taken
// again, up to three times; after that it carries a Gap.
//
// TakenAt is the Date of that last answer. Nothing in the Snapshot is younger
// than it, so that nothing is seen before it happened; what is older has
// happened since, and that includes a pod's minReadySeconds running out.
//
// Of the pods it asks for those that match the DaemonSet's selector, wherever
// they belong. The controller claims by selector: a pod that matches is
// claimed, to be adopted, or another's. A pod that the DaemonSet owns but that
// matches no longer is not claimed, counts nowhere, and is released by the
// next sync; the request cannot see it, and only the note that it is about to
// be released is lost. To see it, all pods of the namespace would have to be
// read, for no API selects by owner: 20 DaemonSets on 5,000 nodes are 100,000
// pods in one namespace, of which this is a twentieth.
//
// ControllerRevisions are read for the whole namespace, since a few per
// workload are few, and kept by owner or selector. So are PodDisruptionBudgets,
// of which those stay that select the labels of the template.
//
// On 12 nodes these are 8 requests, or 9 when a pod is not ready; on more
// nodes only further pages are added. On OpenShift, which its nodes tell, one or
// two more follow: see openShift.
func (c *Cluster) Read(ctx context.Context, ref Ref) (*snapshot.Snapshot, error) {
	ctx = silent(ctx)
	ds, _, err := c.daemonSet(ctx, ref)
	if err != nil {
		return nil, err
	}
	version, err := c.version(ctx)
	if err != nil {
		return nil, err
	}
	return c.take(ctx, ds, version, func(ctx context.Context, r object.Relation, _ int) (*snapshot.Snapshot, error) {
		return c.listsOf(ctx, &r)
	})
}

// listsOf reads what a Snapshot of one DaemonSet holds beside it.
func (c *Cluster) listsOf(ctx context.Context, r *object.Relation) (*snapshot.Snapshot, error) {
	s, err := c.lists(ctx, r.Ds.Namespace, r, nil)
	if err != nil {
		return nil, err
	}
	o, err := c.openShift(ctx, s.Nodes, r.Ds.Namespace)
	return o.in(s, r.Ds.Namespace), err
}

// ReadAll takes the Snapshots of all DaemonSets that the filter lets through,
// ordered by namespace and name; there may be none. See ReadEach.
func (c *Cluster) ReadAll(ctx context.Context, f Filter) ([]*snapshot.Snapshot, error) {
	return collected(ctx, f, c.ReadEach)
}

// collected returns the Snapshots of one reading.
func collected(ctx context.Context, f Filter,
	read func(context.Context, Filter, func([]*snapshot.Snapshot) error) error) (all []*snapshot.Snapshot, err error) {
	err = read(ctx, f, func(some []*snapshot.Snapshot) error {
		all = append(all, some...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// ReadEach takes the Snapshots of all DaemonSets that the filter lets through,
// ordered by namespace and name, and calls each with some of them after the other:
// with those of one namespace, or of several with few pods. What is read of the
// next ones takes the room of what each has dropped. It is not called where there
// are none. It gives what Read would, but reads what they share once: the nodes, the
// version, and the revisions, events and PodDisruptionBudgets of the namespace, or of
// all of them; the pods of a namespace with several of them too, see podsOfSeveral. A
// few DaemonSets at a time are read again, with their own pods where these were not.
// One that is deleted meanwhile is left out.
func (c *Cluster) ReadEach(ctx context.Context, f Filter, each func([]*snapshot.Snapshot) error) error {
	ctx = silent(ctx)
	all, err := c.daemonSets(ctx, f)
	if err != nil || len(all) == 0 {
		return err
	}
	var common, version *snapshot.Snapshot // what they share
	g, gctx := newGroup(ctx)
	g.Go(func() (err error) { version, err = c.version(gctx); return err })
	g.Go(func() (err error) { common, err = c.lists(gctx, f.Namespace, nil, nil); return err })
	if err := g.Wait(); err != nil {
		return err
	}
	var namespaces []string
	for i := range all {
		namespaces = append(namespaces, all[i].Namespace)
	}
	selecting, err := c.openShift(ctx, common.Nodes, namespaces...)
	if err != nil {
		return err
	}
	for some := range atATime(all) {
		taken, err := c.takeAll(ctx, some, common, version, selecting)
		if err == nil && len(taken) > 0 {
			err = each(taken)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// podsAtATime is how many pods are read before it is answered what they mean. It is more than
// most clusters have.
const podsAtATime = 10_000

// atATime returns DaemonSets in their order, some after the other: those of a namespace
// together, and as many namespaces as have no more pods than may be held at a time.
func atATime(all []appsv1.DaemonSet) iter.Seq[[]appsv1.DaemonSet] {
	return func(yield func([]appsv1.DaemonSet) bool) {
		begun, pods := 0, int64(0)
		for end := 0; end < len(all); {
			next, of := end, int64(0)
			for ; next < len(all) && all[next].Namespace == all[end].Namespace; next++ {
				of += expectedPods(&all[next])
			}
			if end > begun && pods+of > podsAtATime {
				if !yield(all[begun:end]) {
					return
				}
				begun, pods = end, 0
			}
			end, pods = next, pods+of
		}
		if begun < len(all) {
			yield(all[begun:])
		}
	}
}

// expectedPods is how many pods a DaemonSet has, by its status.
func expectedPods(ds *appsv1.DaemonSet) int64 {
	return int64(max(ds.Status.DesiredNumberScheduled, ds.Status.CurrentNumberScheduled, 0))
}

// takeAll takes the Snapshots of DaemonSets of which the rest was read.
func (c *Cluster) takeAll(ctx context.Context, all []appsv1.DaemonSet, common, version *snapshot.Snapshot,
	selecting openShift) ([]*snapshot.Snapshot, error) {
	pods, err := c.podsOfSeveral(ctx, all)
	if err != nil {
		return nil, err
	}
	taken := make([]*snapshot.Snapshot, len(all))
	g, gctx := newGroup(ctx)
	g.SetLimit(concurrent)
	for i := range all {
		g.Go(func() error {
			s, err := c.take(gctx, &all[i], version,
				func(ctx context.Context, r object.Relation, try int) (*snapshot.Snapshot, error) {
					read := pods.pick
					if try > 1 { // a new generation has a new revision
						read = func(ctx context.Context, r object.Relation,
							common *snapshot.Snapshot) (*snapshot.Snapshot, error) {
							return c.lists(ctx, r.Ds.Namespace, &r, common)
						}
					}
					lists, err := read(ctx, r, common)
					if err != nil {
						return nil, err
					}
					return selecting.in(lists, r.Ds.Namespace), nil
				})
			if gone := (*NotFoundError)(nil); errors.As(err, &gone) {
				return nil
			}
			taken[i] = s
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	taken = slices.DeleteFunc(taken, func(s *snapshot.Snapshot) bool { return s == nil })
	return taken, c.addPodEvents(ctx, taken)
}

// ReadFor takes the Snapshot of a DaemonSet that the cluster does not have:
// the one given, with the nodes, and with the pods and revisions that its
// selector already matches.
func (c *Cluster) ReadFor(ctx context.Context, ds *appsv1.DaemonSet) (*snapshot.Snapshot, error) {
	ctx = silent(ctx)
	r, err := object.Relate(ds)
	if err != nil {
		return nil, err
	}
	version, err := c.version(ctx)
	if err != nil {
		return nil, err
	}
	read, err := c.listsOf(ctx, &r)
	if err != nil {
		return nil, err
	}
	dated, at := withSlot[date](ctx)
	// asked for the time alone
	if _, err := c.api.DaemonSets(ds.Namespace).Get(dated, ds.Name, metav1.GetOptions{}); err != nil &&
		ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c.assemble(ds, read, version, at.Time, nil)
}

// silent returns a context in which client-go logs nothing: what went wrong is
// told once, by an error or a Gap.
func silent(ctx context.Context) context.Context { return klog.NewContext(ctx, klog.Logger{}) }

// take brackets read between two readings of the DaemonSet, of which ds is
// the first, and repeats it while the generation moves.
func (c *Cluster) take(ctx context.Context, ds *appsv1.DaemonSet, version *snapshot.Snapshot,
	read func(context.Context, object.Relation, int) (*snapshot.Snapshot, error),
) (*snapshot.Snapshot, error) {
	first := ds
	for try := 1; ; try++ {
		r, err := object.Relate(ds)
		if err != nil {
			return nil, err
		}
		lists, err := read(ctx, r, try)
		if err != nil {
			return nil, err
		}
		var gaps []snapshot.Gap
		again, at, err := c.daemonSet(ctx, Ref{ds.Namespace, ds.Name})
		switch status := apierrors.APIStatus(nil); {
		case err == nil && again.UID == ds.UID && again.Generation == ds.Generation:
			ds = again
		case err == nil && try < mostTries:
			ds = again
			continue
		case err == nil:
			ds = again
			gaps = moved(fmt.Sprintf("the DaemonSet changed during each of %d reads, from generation %d to %d",
				mostTries, first.Generation, ds.Generation))
		case errors.As(err, &status) && !apierrors.IsNotFound(err) && !apierrors.IsUnauthorized(err):
			gaps = moved("the daemonset could not be read again at the end: " + message(err))
		default:
			return nil, err
		}
		return c.assemble(ds, lists, version, at, gaps)
	}
}

// assemble makes the Snapshot of what was read.
func (c *Cluster) assemble(ds *appsv1.DaemonSet, lists, version *snapshot.Snapshot, at time.Time,
	gaps []snapshot.Gap) (*snapshot.Snapshot, error) {
	at, clock := c.now(at)
	s := lists.At(at).Under(version.KubernetesVersion, version.VersionSource)
	s.DaemonSet, s.Gaps = ds, object.Ordered(slices.Concat(gaps, clock, lists.Gaps, version.Gaps))
	object.Order(s)
	return s, snapshot.Validate(s)
}

// now returns the time of an answer, or this machine's with a Gap where the
// answer has none.
func (c *Cluster) now(answered time.Time) (time.Time, []snapshot.Gap) {
	if !answered.IsZero() {
		return answered, nil
	}
	return c.clock().UTC(), []snapshot.Gap{{What: snapshot.Clock, Why: snapshot.NotGiven,
		Message: "the server's answers carry no Date: this machine's clock is used"}}
}

// moved says that what belongs to the DaemonSet's generation may not fit it.
func moved(why string) []snapshot.Gap {
	return []snapshot.Gap{
		{What: snapshot.Pods, Why: snapshot.Moved, Message: why},
		{What: snapshot.Revisions, Why: snapshot.Moved, Message: why},
	}
}

// daemonSet reads one DaemonSet, and the server's clock while it did: zero
// when the answer does not tell.
func (c *Cluster) daemonSet(ctx context.Context, ref Ref) (*appsv1.DaemonSet, time.Time, error) {
	dated, at := withSlot[date](ctx)
	ds, err := c.api.DaemonSets(ref.Namespace).Get(dated, ref.Name, metav1.GetOptions{})
	switch {
	case err == nil && (ds.Name != ref.Name || ds.Namespace != ref.Namespace):
		err = unusable(fmt.Errorf("daemonset %s", Ref{ds.Namespace, ds.Name}))
	case err == nil:
		object.StripDaemonSet(ds)
		return ds, at.Time, nil
	case apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return nil, at.Time, c.notFound(ctx, ref)
	}
	return nil, at.Time, c.refused(ctx, fmt.Sprintf("daemonset %s", ref),
		"kubectl auth can-i get daemonsets.apps -n "+ref.Namespace, err)
}

// notFound looks for what may have been meant. That it may not be allowed to
// changes nothing.
func (c *Cluster) notFound(ctx context.Context, ref Ref) error {
	e := &NotFoundError{Ref: ref}
	if all, err := c.daemonSets(ctx, Filter{Namespace: ref.Namespace}); err == nil {
		var names []string
		for i := range all {
			names = append(names, all[i].Name)
		}
		slices.Sort(names)
		e.Near = snapshot.Near(ref.Name, slices.Compact(names))
	}
	elsewhere, _, err := readPages(ctx, c.allowed,
		metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", ref.Name).String()},
		c.api.DaemonSets(metav1.NamespaceAll).List, func(o metav1.Object) bool { return o.GetName() == ref.Name })
	if err == nil {
		for i := range elsewhere {
			e.Elsewhere = append(e.Elsewhere, elsewhere[i].Namespace)
		}
		slices.Sort(e.Elsewhere)
	}
	if len(e.Near)+len(e.Elsewhere) == 0 && ref.Namespace != "" {
		if all, err := c.daemonSets(ctx, Filter{}); err == nil {
			e.Far = far(ref.Name, refsOf(all))
		}
	}
	return e
}

func refsOf(all []appsv1.DaemonSet) []Ref {
	refs := make([]Ref, len(all))
	for i := range all {
		refs[i] = Ref{all[i].Namespace, all[i].Name}
	}
	return refs
}

// far returns those of the refs whose name is like this one, the most alike first, at most
// three.
func far(name string, refs []Ref) []Ref {
	var names []string
	for _, r := range refs {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	var out []Ref
	for _, near := range snapshot.Near(name, slices.Compact(names)) {
		for _, r := range refs {
			if r.Name == near {
				out = append(out, r)
			}
		}
	}
	const most = 3
	return out[:min(most, len(out))]
}

func (c *Cluster) daemonSets(ctx context.Context, f Filter) ([]appsv1.DaemonSet, error) {
	var o metav1.ListOptions
	if f.Selector != nil {
		o.LabelSelector = f.Selector.String()
	}
	got, _, err := readPages(ctx, c.allowed, o, c.api.DaemonSets(f.Namespace).List,
		func(o metav1.Object) bool { return f.matches(o.GetName(), o.GetLabels()) })
	if err != nil {
		what, hint := "daemonsets of all namespaces", "kubectl auth can-i list daemonsets.apps -A"
		if f.Namespace != "" {
			what, hint = "daemonsets of namespace "+f.Namespace,
				"kubectl auth can-i list daemonsets.apps -n "+f.Namespace
		}
		return nil, c.refused(ctx, what, hint, err)
	}
	object.SortByName(got)
	return got, nil
}

// version returns a Snapshot with what the server says of its version, and nothing else.
func (c *Cluster) version(ctx context.Context) (*snapshot.Snapshot, error) {
	result := c.api[corev1.SchemeGroupVersion].Get().AbsPath("/version").SetHeader("Accept",
		runtime.ContentTypeJSON).Do(ctx)
	var info version.Info
	err := result.Error()
	if body, _ := result.Raw(); err == nil {
		err = notJSON(json.Unmarshal(body, &info))
	}
	if err == nil && info.GitVersion == "" {
		err = errors.New("the server's /version has no gitVersion")
	}
	if err != nil {
		g, err := c.gap(ctx, snapshot.Version, err)
		return &snapshot.Snapshot{VersionSource: snapshot.VersionDefault, Gaps: []snapshot.Gap{g}}, err
	}
	return &snapshot.Snapshot{KubernetesVersion: info.GitVersion, VersionSource: snapshot.VersionServer}, nil
}

// gap makes a Gap of a request that failed, unless all others would fail with
// it. A lost connection is a Gap at first: the DaemonSet is read at the end,
// and when that fails too, nobody is there.
func (c *Cluster) gap(ctx context.Context, what snapshot.What, err error) (snapshot.Gap, error) {
	switch {
	case ctx.Err() != nil || apierrors.IsUnauthorized(err) || errors.As(err, new(*tooMuchError)):
		return snapshot.Gap{}, c.refused(ctx, string(what), "", err)
	case apierrors.IsForbidden(err):
		return snapshot.Gap{What: what, Why: snapshot.Forbidden, Message: message(err)}, nil
	}
	return snapshot.Gap{What: what, Why: snapshot.Failed, Message: message(err)}, nil
}

// refused sorts the errors that leave no answer.
func (c *Cluster) refused(ctx context.Context, what, hint string, err error) error {
	later, address, answer := laterError{}, (*url.Error)(nil), (*answerError)(nil)
	much, many := (*tooMuchError)(nil), (*tooManyError)(nil)
	request := &RequestError{What: what, Err: err}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case apierrors.IsUnauthorized(err):
		return c.unknown(err)
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot impersonate"):
		request.hint = "leave out --as, or ask for the right to impersonate"
	case apierrors.IsForbidden(err):
		request.hint = hint
	case errors.As(err, &later):
		request.Err, request.hint = later, "try again later, or wait for it with --request-timeout 0"
	case errors.As(err, &much):
		request.Err, request.hint = much, much.Hint()
	case errors.As(err, &many):
		request.hint = many.Hint()
	case errors.As(err, &answer):
		request.Err, request.hint = answer,
			"kubectl get --raw '/readyz?verbose' (a load balancer or a proxy may stand before the server)"
	case errors.As(err, &address):
		// the address stands beside it
		return &UnreachableError{Server: c.server, Proxy: c.proxy, Err: address.Err, installHint: c.help,
			limited: c.limit > 0}
	case isLate(err):
		return &UnreachableError{Server: c.server, Proxy: c.proxy, Err: err, limited: c.limit > 0}
	case apierrors.IsTooManyRequests(err):
		request.hint = "run the command again in a minute: the API server limits requests"
	case apierrors.IsBadRequest(err) && wantsTLS(err):
		request.Err, request.hint = fmt.Errorf("the server at %s wants HTTPS", c.server),
			"--server https://"+strings.TrimPrefix(c.server, "http://")
	case apierrors.IsNotFound(err):
		request.Err = fmt.Errorf("the server at %s has no such API: %w", c.server, err)
		request.hint = "kubectl cluster-info (is this an API server? its address may lack a path)"
	case isServers(err) && strings.Contains(strings.ToLower(err.Error()), "<html"):
		return &UnreachableError{Server: c.server,
			Err: &pageError{status: fmt.Sprintf("%d %s", codeOf(err), http.StatusText(codeOf(err)))}}
	case isServers(err):
		request.hint = "kubectl get --raw '/readyz?verbose'"
	}
	return request
}

// unknown is the error that the server does not accept the credentials, with what they were.
func (c *Cluster) unknown(err error) error {
	what := "the cluster at " + c.server + " requires credentials, and none were sent"
	if c.sends.what != "" {
		what = "the cluster at " + c.server + " rejects your credentials, " + c.sends.what
	}
	if until := c.sends.until; !until.IsZero() && until.Before(c.clock()) {
		what += " that expired at " + until.UTC().Format(time.RFC3339)
	}
	return &RequestError{What: what, Err: err, hint: c.sends.hint()}
}

// wantsTLS reports whether an error is the answer of a server of Go to a request in HTTP
// where it speaks HTTPS.
func wantsTLS(err error) bool {
	status := apierrors.APIStatus(nil)
	return errors.As(err, &status) && status.Status().Details != nil &&
		slices.ContainsFunc(status.Status().Details.Causes,
			func(c metav1.StatusCause) bool { return strings.Contains(c.Message, "HTTP request to an HTTPS server") })
}

// isServers reports whether an error is the server's own, not that of a request.
func isServers(err error) bool { return codeOf(err) >= http.StatusInternalServerError }

// codeOf returns the status of the answer that an error is; 0 if it is none.
func codeOf(err error) int {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return 0
	}
	return int(status.Status().Code)
}

// message returns the words of an error for a Gap.
func message(err error) string {
	if e := (*RequestError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return whyOf(err)
}
