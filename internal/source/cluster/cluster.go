package cluster

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

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Cluster reads from an API server with get, list and watch requests and without discovery. The
// only other requests are those of DryRun and DryRunPod, which are never sent without dryRun=All. A
// Cluster is safe for concurrent use.
type Cluster struct {
	Clients api.Clients

	Server         string // for errors; without credentials
	proxy          string
	sends          api.Presented
	help           string        // the kubeconfig's install hint for its credential plugin
	limit          time.Duration // for a request including its retries; 0: no limit
	clock          func() time.Time
	serverWarnings *api.ServerWarnings // the server's warnings
	notices        *api.Once           // notices that the server asks to wait

	allowed *api.Allowance // how much may be read in total

	leftOut        []snapshot.What // parts that are not requested; see Without
	on             string          // the only node to read; empty: all nodes
	statusSuffices statusCheck     // see PodMetadata; nil: pods are read in full
	onReading      *api.Told       // see OnReading
}

// Notify sets the function that receives a line, each line once, when the server asks clients to
// wait. Call it before the first request.
func (c *Cluster) Notify(note func(string)) { c.notices.Tell = note }

// Without returns a Cluster that does not request some parts: nodes, events or
// PodDisruptionBudgets. Its Snapshots have a Gap for each of them.
func (c *Cluster) Without(what ...snapshot.What) *Cluster {
	out := *c
	out.leftOut = what
	return &out
}

// On returns a Cluster whose Read and ReadFor list only one node and only the DaemonSet's pods that
// are bound to that node or to none. They list neither events nor PodDisruptionBudgets, so the
// number of requests does not grow with the cluster. They fail if the node cannot be read. Other
// methods are not affected.
//
// The Snapshot has no Gap for what is left out. Use it only if the answer depends on that node
// alone; see explain.Explanation.Alone.
func (c *Cluster) On(node string) *Cluster {
	out := *c
	out.on = node
	return &out
}

// statusCheck reports whether the status of a DaemonSet makes the status of its pods unnecessary.
type statusCheck func(*appsv1.DaemonSet) bool

// PodMetadata returns a Cluster that lists only the metadata of a DaemonSet's pods if enough
// reports that the DaemonSet's status suffices. Its Snapshots have a Gap for the status of the
// pods, and the pods name no node. Combine it with Without(snapshot.Events); otherwise the warnings
// about all these pods are read.
func (c *Cluster) PodMetadata(enough func(*appsv1.DaemonSet) bool) *Cluster {
	out := *c
	out.statusSuffices = enough
	return &out
}

const (
	maxTries      = 3 // how often a DaemonSet is read if its generation changes during the read
	maxConcurrent = 4 // DaemonSets whose pods are read concurrently
)

// NewCluster returns a Cluster that sends requests to the server of config, with its credentials,
// timeout and User-Agent. It does not modify config. clock is used only if the server's responses
// have no Date header.
func NewCluster(config *rest.Config, clock func() time.Time) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = strings.Join([]string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON}, ",")
	serverWarnings := &api.ServerWarnings{}
	config.WarningHandler, config.WarningHandlerWithContext = nil, serverWarnings
	if config.QPS == 0 && config.RateLimiter == nil {
		// With client-go's 5 requests a second, 60 pages would take 12 seconds. API Priority and
		// Fairness protects the server.
		config.QPS, config.Burst = 50, 100
	}
	unzips := func(rt http.RoundTripper) http.RoundTripper { return source.GzipTransport{RoundTripper: rt} }
	if config.DisableCompression {
		unzips = func(rt http.RoundTripper) http.RoundTripper { return rt }
	}
	config.DisableCompression = true // the transport above decompresses
	notices, allowed := &api.Once{}, &api.Allowance{Most: source.DefaultMaxInput, Page: DefaultPage,
		Limited: config.Timeout > 0}
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		bounded := api.BoundedTransport{RoundTripper: unzips(OnlyDry{rt}), Allowed: allowed}
		patient := api.PatientTransport{RoundTripper: api.DatedTransport{RoundTripper: bounded}, Limit: config.Timeout,
			Waits: notices}
		return api.Paged{RoundTripper: api.NoPages{RoundTripper: patient}}
	})
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, &source.ConfigError{Err: fmt.Errorf("connection to the cluster: %w", err),
			HintText: api.ShownConfig}
	}
	a := api.Clients{}
	for _, g := range api.Known {
		if a[g.GroupVersion], err = api.RestClient(config, client, g.GroupVersion); err != nil {
			return nil, &source.ConfigError{Err: fmt.Errorf("connection to the cluster: %w", err),
				HintText: "--server https://HOST:6443"}
		}
	}
	c := &Cluster{
		Clients: a,
		Server:  api.ServerURL(config.Host), proxy: api.ProxyOf(config), sends: api.CredentialsOf(config),
		clock: clock, limit: config.Timeout, allowed: allowed,
		serverWarnings: serverWarnings, notices: notices, onReading: &api.Told{},
	}
	if config.ExecProvider != nil {
		c.help = config.ExecProvider.InstallHint
	}
	return c, nil
}

// Read returns the Snapshot of one DaemonSet.
//
// It gets the DaemonSet first and again at the end, and keeps the second result, whose status is
// the most likely to match the pods that were read in between. If the generation changed, Read
// starts over, up to three times; after that the Snapshot has a Gap. TakenAt is the Date of the
// last response, so that nothing in the Snapshot is newer.
//
// The pods are those that match the DaemonSet's selector, whoever owns them. Pods that the
// DaemonSet owns but no longer selects are not read, because the API has no selector for owners:
// they do not count, and the next sync releases them. ControllerRevisions and PodDisruptionBudgets
// are listed for the whole namespace and filtered.
func (c *Cluster) Read(ctx context.Context, ref source.Ref) (*snapshot.Snapshot, error) {
	ctx = withoutLogs(ctx)
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

// listsOf reads everything in the Snapshot of one DaemonSet except the DaemonSet itself.
func (c *Cluster) listsOf(ctx context.Context, r *object.Relation) (*snapshot.Snapshot, error) {
	s, err := c.lists(ctx, r.Ds.Namespace, r, nil)
	if err != nil {
		return nil, err
	}
	o, err := c.openShift(ctx, s.Nodes, r.Ds.Namespace)
	return o.In(s, r.Ds.Namespace), err
}

// ReadAll returns the Snapshots of all DaemonSets that match the filter, sorted by namespace and
// name. See ReadEach.
func (c *Cluster) ReadAll(ctx context.Context, f source.Filter) ([]*snapshot.Snapshot, error) {
	return source.Collect(ctx, f, c.ReadEach)
}

// ReadEach reads the Snapshots of all DaemonSets that match the filter, sorted by namespace and
// name, and passes them to each in batches: those of one namespace, or of several namespaces with
// few pods. So only one batch is in memory if each drops its Snapshots. If no DaemonSet matches,
// each is not called.
//
// The Snapshots equal those of Read, but ReadEach reads the parts that they share only once: nodes, version, revisions,
// events, PodDisruptionBudgets, and in namespaces with several DaemonSets usually the pods.
// DaemonSets that are deleted during the read are left out.
func (c *Cluster) ReadEach(ctx context.Context, f source.Filter, each func([]*snapshot.Snapshot) error) error {
	ctx = withoutLogs(ctx)
	all, err := c.daemonSets(ctx, f)
	if err != nil || len(all) == 0 {
		return err
	}
	var common, version *snapshot.Snapshot // shared by all Snapshots
	g, gctx := source.NewGroup(ctx)
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
	for some := range batches(all) {
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

// podsPerBatch is the approximate number of pods in one batch of ReadEach. Most clusters have fewer pods.
const podsPerBatch = 10_000

// batches splits DaemonSets, in their order, into batches of whole namespaces with at most
// podsPerBatch expected pods. A namespace with more pods is a batch of its own.
func batches(all []appsv1.DaemonSet) iter.Seq[[]appsv1.DaemonSet] {
	return func(yield func([]appsv1.DaemonSet) bool) {
		begun, pods := 0, int64(0)
		for end := 0; end < len(all); {
			next, of := end, int64(0)
			for ; next < len(all) && all[next].Namespace == all[end].Namespace; next++ {
				of += expectedPods(&all[next])
			}
			if end > begun && pods+of > podsPerBatch {
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

// expectedPods returns the number of pods that a DaemonSet has according to its status.
func expectedPods(ds *appsv1.DaemonSet) int64 {
	return int64(max(ds.Status.DesiredNumberScheduled, ds.Status.CurrentNumberScheduled, 0))
}

// takeAll returns the Snapshots of the DaemonSets, given what they share.
func (c *Cluster) takeAll(ctx context.Context, all []appsv1.DaemonSet, common, version *snapshot.Snapshot,
	selecting part.OpenShift) ([]*snapshot.Snapshot, error) {
	pods, err := c.podsOfSeveral(ctx, all)
	if err != nil {
		return nil, err
	}
	taken := make([]*snapshot.Snapshot, len(all))
	g, gctx := source.NewGroup(ctx)
	g.SetLimit(maxConcurrent)
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
					return selecting.In(lists, r.Ds.Namespace), nil
				})
			if gone := (*source.NotFoundError)(nil); errors.As(err, &gone) {
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

// ReadFor returns the Snapshot of ds, a DaemonSet that does not exist in the cluster, with the
// nodes and with the pods and revisions that its selector already matches.
func (c *Cluster) ReadFor(ctx context.Context, ds *appsv1.DaemonSet) (*snapshot.Snapshot, error) {
	ctx = withoutLogs(ctx)
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
	dated, at := api.WithSlot[api.Date](ctx)
	// only for the Date of the response
	sets := api.Of[appsv1.DaemonSet](c.Clients, ds.Namespace)
	if _, err := sets.Get(dated, ds.Name, metav1.GetOptions{}); err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c.assemble(ds, read, version, at.Time, nil)
}

// withoutLogs returns a context in which client-go logs nothing. Errors and Gaps report what went wrong.
func withoutLogs(ctx context.Context) context.Context { return klog.NewContext(ctx, klog.Logger{}) }

// take calls read, and then reads the DaemonSet again. ds is the DaemonSet as read before. If its
// generation has changed, take repeats both.
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
		again, at, err := c.daemonSet(ctx, source.Ref{Namespace: ds.Namespace, Name: ds.Name})
		switch status := apierrors.APIStatus(nil); {
		case err == nil && again.UID == ds.UID && again.Generation == ds.Generation:
			ds = again
		case err == nil && try < maxTries:
			ds = again
			continue
		case err == nil:
			ds = again
			gaps = Moved(fmt.Sprintf("the DaemonSet changed during each of %d reads, from generation %d to %d",
				maxTries, first.Generation, ds.Generation))
		case errors.As(err, &status) && !apierrors.IsNotFound(err) && !apierrors.IsUnauthorized(err):
			gaps = Moved("the daemonset could not be read again at the end: " + message(err))
		default:
			return nil, err
		}
		return c.assemble(ds, lists, version, at, gaps)
	}
}

// assemble returns the Snapshot with the given parts, sorted and validated.
func (c *Cluster) assemble(ds *appsv1.DaemonSet, lists, version *snapshot.Snapshot, at time.Time,
	gaps []snapshot.Gap) (*snapshot.Snapshot, error) {
	at, clock := c.now(at)
	s := lists.At(at).Under(version.KubernetesVersion, version.VersionSource)
	s.DaemonSet, s.Gaps = ds, object.Ordered(slices.Concat(gaps, clock, lists.Gaps, version.Gaps))
	object.Order(s)
	return s, snapshot.Validate(s)
}

// now returns answered, the Date of a response or, if that is zero, the local time and a Gap.
func (c *Cluster) now(answered time.Time) (time.Time, []snapshot.Gap) {
	if !answered.IsZero() {
		return answered, nil
	}
	return c.clock().UTC(), []snapshot.Gap{{What: snapshot.Clock, Why: snapshot.NotGiven,
		Message: "the server's answers carry no Date: this machine's clock is used"}}
}

// Moved returns Gaps which say that the pods and revisions may not match the DaemonSet's
// generation.
func Moved(why string) []snapshot.Gap {
	return []snapshot.Gap{
		{What: snapshot.Pods, Why: snapshot.Moved, Message: why},
		{What: snapshot.Revisions, Why: snapshot.Moved, Message: why},
	}
}

// daemonSet returns a DaemonSet and the Date of the response, or the zero time if it has none.
func (c *Cluster) daemonSet(ctx context.Context, ref source.Ref) (*appsv1.DaemonSet, time.Time, error) {
	dated, at := api.WithSlot[api.Date](ctx)
	ds, err := api.Of[appsv1.DaemonSet](c.Clients, ref.Namespace).Get(dated, ref.Name, metav1.GetOptions{})
	switch {
	case err == nil && (ds.Name != ref.Name || ds.Namespace != ref.Namespace):
		err = api.Unusable(fmt.Errorf("daemonset %s", source.Ref{Namespace: ds.Namespace, Name: ds.Name}))
	case err == nil:
		object.StripDaemonSet(ds)
		return ds, at.Time, nil
	case apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return nil, at.Time, c.notFound(ctx, ref)
	}
	return nil, at.Time, c.Refused(ctx, fmt.Sprintf("daemonset %s", ref),
		"kubectl auth can-i get daemonsets.apps -n "+ref.Namespace, err)
}

// notFound returns a NotFoundError with suggestions, as far as the user may list DaemonSets.
func (c *Cluster) notFound(ctx context.Context, ref source.Ref) error {
	e := &source.NotFoundError{Ref: ref}
	if all, err := c.daemonSets(ctx, source.Filter{Namespace: ref.Namespace}); err == nil {
		var names []string
		for i := range all {
			names = append(names, all[i].Name)
		}
		slices.Sort(names)
		e.Near = snapshot.Near(ref.Name, slices.Compact(names))
	}
	elsewhere, _, err := ReadPages(ctx, c.allowed,
		metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", ref.Name).String()},
		api.Of[appsv1.DaemonSet](c.Clients, metav1.NamespaceAll).List,
		func(o metav1.Object) bool { return o.GetName() == ref.Name })
	if err == nil {
		for i := range elsewhere {
			e.Elsewhere = append(e.Elsewhere, elsewhere[i].Namespace)
		}
		slices.Sort(e.Elsewhere)
	}
	if len(e.Near)+len(e.Elsewhere) == 0 && ref.Namespace != "" {
		if all, err := c.daemonSets(ctx, source.Filter{}); err == nil {
			e.Far = source.SimilarRefs(ref.Name, refsOf(all))
		}
	}
	return e
}

func refsOf(all []appsv1.DaemonSet) []source.Ref {
	refs := make([]source.Ref, len(all))
	for i := range all {
		refs[i] = source.Ref{Namespace: all[i].Namespace, Name: all[i].Name}
	}
	return refs
}

func (c *Cluster) daemonSets(ctx context.Context, f source.Filter) ([]appsv1.DaemonSet, error) {
	var o metav1.ListOptions
	if f.Selector != nil {
		o.LabelSelector = f.Selector.String()
	}
	got, _, err := ReadPages(ctx, c.allowed, o, api.Of[appsv1.DaemonSet](c.Clients, f.Namespace).List,
		func(o metav1.Object) bool { return f.Matches(o.GetName(), o.GetLabels()) })
	if err != nil {
		what, hint := "daemonsets of all namespaces", "kubectl auth can-i list daemonsets.apps -A"
		if f.Namespace != "" {
			what, hint = "daemonsets of namespace "+f.Namespace,
				"kubectl auth can-i list daemonsets.apps -n "+f.Namespace
		}
		return nil, c.Refused(ctx, what, hint, err)
	}
	object.SortByName(got)
	return got, nil
}

// version returns a Snapshot that contains only the server's version.
func (c *Cluster) version(ctx context.Context) (*snapshot.Snapshot, error) {
	result := c.Clients[corev1.SchemeGroupVersion].Get().AbsPath("/version").SetHeader("Accept",
		runtime.ContentTypeJSON).Do(ctx)
	var info version.Info
	err := result.Error()
	if body, _ := result.Raw(); err == nil {
		err = api.NotJSON(json.Unmarshal(body, &info))
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

// gap returns a Gap for a failed request, or an error if all other requests would fail too. A lost
// connection is a Gap: the final read of the DaemonSet reports it if it persists.
func (c *Cluster) gap(ctx context.Context, what snapshot.What, err error) (snapshot.Gap, error) {
	switch {
	case ctx.Err() != nil || apierrors.IsUnauthorized(err) || errors.As(err, new(*api.TooMuchError)):
		return snapshot.Gap{}, c.Refused(ctx, string(what), "", err)
	case apierrors.IsForbidden(err):
		return snapshot.Gap{What: what, Why: snapshot.Forbidden, Message: message(err)}, nil
	}
	return snapshot.Gap{What: what, Why: snapshot.Failed, Message: message(err)}, nil
}

// Refused returns the error for a required request that failed with err, with a hint. what is the
// request; hint is used if the request is forbidden.
func (c *Cluster) Refused(ctx context.Context, what, hint string, err error) error {
	later, address, answer := api.LaterError{}, (*url.Error)(nil), (*api.AnswerError)(nil)
	much, many := (*api.TooMuchError)(nil), (*api.TooManyError)(nil)
	request := &source.RequestError{What: what, Err: err}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case apierrors.IsUnauthorized(err):
		return c.credentialsError(err)
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot impersonate"):
		request.HintText = "leave out --as, or ask for the right to impersonate"
	case apierrors.IsForbidden(err):
		request.HintText = hint
	case errors.As(err, &later):
		request.Err, request.HintText = later, "try again later, or wait for it with --request-timeout 0"
	case errors.As(err, &much):
		request.Err, request.HintText = much, much.Hint()
	case errors.As(err, &many):
		request.HintText = many.Hint()
	case errors.As(err, &answer):
		request.Err, request.HintText = answer,
			"kubectl get --raw '/readyz?verbose' (a load balancer or a proxy may stand before the server)"
	case errors.As(err, &address):
		// the wrapping message repeats the address
		return &api.UnreachableError{Server: c.Server, Proxy: c.proxy, Err: address.Err, InstallHint: c.help,
			Limited: c.limit > 0}
	case api.IsLate(err):
		return &api.UnreachableError{Server: c.Server, Proxy: c.proxy, Err: err, Limited: c.limit > 0}
	case apierrors.IsTooManyRequests(err):
		request.HintText = "run the command again in a minute: the API server limits requests"
	case apierrors.IsBadRequest(err) && wantsTLS(err):
		request.Err, request.HintText = fmt.Errorf("the server at %s wants HTTPS", c.Server),
			"--server https://"+strings.TrimPrefix(c.Server, "http://")
	case apierrors.IsNotFound(err):
		request.Err = fmt.Errorf("the server at %s has no such API: %w", c.Server, err)
		request.HintText = "kubectl cluster-info (is this an API server? its address may lack a path)"
	case isServerError(err) && strings.Contains(strings.ToLower(err.Error()), "<html"):
		return &api.UnreachableError{Server: c.Server,
			Err: &api.PageError{Status: fmt.Sprintf("%d %s", codeOf(err), http.StatusText(codeOf(err)))}}
	case isServerError(err):
		request.HintText = "kubectl get --raw '/readyz?verbose'"
	}
	return request
}

// credentialsError returns the error for credentials that the server rejects, or requires.
func (c *Cluster) credentialsError(err error) error {
	what := "the cluster at " + c.Server + " requires credentials, and none were sent"
	if c.sends.What != "" {
		what = "the cluster at " + c.Server + " rejects your credentials, " + c.sends.What
	}
	if until := c.sends.Until; !until.IsZero() && until.Before(c.clock()) {
		what += " that expired at " + until.UTC().Format(time.RFC3339)
	}
	return &source.RequestError{What: what, Err: err, HintText: c.sends.Hint()}
}

// wantsTLS reports whether err is the response of a Go server that received HTTP where it expects
// HTTPS.
func wantsTLS(err error) bool {
	status := apierrors.APIStatus(nil)
	return errors.As(err, &status) && status.Status().Details != nil &&
		slices.ContainsFunc(status.Status().Details.Causes,
			func(c metav1.StatusCause) bool { return strings.Contains(c.Message, "HTTP request to an HTTPS server") })
}

// isServerError reports whether err is a response with a 5xx status.
func isServerError(err error) bool { return codeOf(err) >= http.StatusInternalServerError }

// codeOf returns the HTTP status of the response in err, or 0 if err is not a response.
func codeOf(err error) int {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return 0
	}
	return int(status.Status().Code)
}

// message returns the message of err for a Gap.
func message(err error) string {
	if e := (*source.RequestError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return api.WhyOf(err)
}

// AtMost sets the maximum number of bytes to read from all responses together. The default is
// DefaultMaxInput. Watches are not counted. Call it before the first request.
func (c *Cluster) AtMost(bytes int64) { c.allowed.Most = bytes }

// InPagesOf sets the number of objects that each request for a list returns at most. The default is
// DefaultPage; 0 requests whole lists. Call it before the first request.
func (c *Cluster) InPagesOf(objects int64) { c.allowed.Page = objects }
