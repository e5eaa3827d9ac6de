package cluster

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Watching follows one DaemonSet and the objects of its Snapshot. Watch creates it.
type Watching struct {
	c       *Cluster
	ds      *appsv1.DaemonSet // from the first read
	Feeds   []*feed
	began   time.Time // local time
	at      time.Time // server time
	start   *snapshot.Snapshot
	changes chan Seen
	cancel  context.CancelFunc
	running sync.WaitGroup

	Mu    sync.Mutex
	Queue []Seen        // not yet sent to changes
	more  chan struct{} // signals that Queue is not empty
	ready chan struct{} // closed when start is complete
	err   error         // why there are no more changes
}

// Seen is a change of one object, or of the connection for one resource.
type Seen struct {
	At     time.Time // server time, with the precision of one second
	Object any       // *DaemonSet, *Node, *Pod, *ControllerRevision or *Event; if Gone, its last state
	Gone   bool

	// Kind, if not empty, is a resource whose changes do not arrive, for the reason Lost. If Lost
	// is empty, they arrive again. The other fields except At are unset.
	Kind, Lost string
}

// Watch starts following one DaemonSet and returns when all lists have been read. It gets the
// DaemonSet and the version, then sends one paged list and one watch for each of: the DaemonSet,
// nodes, the pods that match its selector, and the ControllerRevisions and warning Events of the
// namespace.
//
// Objects are filtered and stripped as in Read. For nodes, only changes of labels, taints,
// spec.unschedulable, deletion and the Ready condition are reported. A watch that ends is resumed
// or, if its resource version has expired, replaced by a new list, from which only differences are
// reported. A resource that the user may not read becomes a Gap and is not followed. The DaemonSet and its pods are
// required.
//
// The Snapshot has no PodDisruptionBudgets. Watch reads the objects of OpenShift's controller only once.
func (c *Cluster) Watch(ctx context.Context, ref source.Ref) (*Watching, error) {
	ctx = withoutLogs(ctx)
	ds, at, err := c.daemonSet(ctx, ref)
	if err != nil {
		return nil, err
	}
	w := &Watching{c: c, ds: ds, began: c.clock(), changes: make(chan Seen), more: make(chan struct{}, 1),
		ready: make(chan struct{})}
	if w.start, err = c.version(ctx); err != nil {
		return nil, err
	}
	r, err := object.Relate(ds)
	if err != nil {
		return nil, err
	}
	at, gaps := c.now(at)
	w.at, w.start.Gaps = at, append(w.start.Gaps, gaps...)
	w.Feeds = w.newFeeds(r)

	ctx, w.cancel = context.WithCancel(ctx)
	for _, f := range w.Feeds {
		w.run(func() { f.run(ctx) })
	}
	w.run(func() { w.deliver(ctx) })
	select {
	case <-w.ready:
		o, err := c.openShift(ctx, w.start.Nodes, ref.Namespace)
		if err != nil {
			w.Close()
			return nil, err
		}
		w.Mu.Lock()
		defer w.Mu.Unlock()
		w.start = o.In(w.start, ref.Namespace)
		return w, nil
	case <-ctx.Done():
		w.Close()
		if w.err != nil {
			return nil, w.err
		}
		return nil, ctx.Err()
	}
}

// Start returns the Snapshot of the moment when all lists had been read.
func (w *Watching) Start() *snapshot.Snapshot { return w.start }

// Changes returns the channel of all changes since Start. For each resource, they arrive in the
// server's order. The channel is closed by Close and after an error; see Err.
func (w *Watching) Changes() <-chan Seen { return w.changes }

// Err returns why there are no more changes, or nil.
func (w *Watching) Err() error {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.err
}

// Now returns the estimated server time: the Date of the first response plus the time elapsed
// since.
func (w *Watching) Now() time.Time { return w.at.Add(w.c.clock().Sub(w.began)) }

// Close ends all watches and waits for them.
func (w *Watching) Close() {
	w.cancel()
	w.running.Wait()
}

// run calls f in a new goroutine. A panic ends all watches.
func (w *Watching) run(f func()) {
	w.running.Go(func() {
		if err := source.Contain(func() error { f(); return nil })(); err != nil {
			w.Mu.Lock()
			defer w.Mu.Unlock()
			w.fail(err)
		}
	})
}

// fail ends all watches with err. The caller holds the lock.
func (w *Watching) fail(err error) {
	if w.err == nil {
		w.err = err
	}
	w.cancel()
}

// report appends a change to the queue, so that a slow reader does not block the watches. The caller
// holds the lock.
func (w *Watching) report(s Seen) {
	s.At = w.Now()
	w.Queue = append(w.Queue, s)
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// deliver sends the queued changes to the channel until ctx is done.
func (w *Watching) deliver(ctx context.Context) {
	defer close(w.changes)
	for {
		w.Mu.Lock()
		all := w.Queue
		w.Queue = nil
		w.Mu.Unlock()
		for _, s := range all {
			select {
			case w.changes <- s:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-w.more:
		case <-ctx.Done():
			return
		}
	}
}

// complete completes start if all lists have been read. The caller holds the lock.
func (w *Watching) complete() {
	s := w.start
	if s.DaemonSet != nil || slices.ContainsFunc(w.Feeds, func(f *feed) bool { return !f.read }) {
		return
	}
	s.DaemonSet = w.ds // deleted in the meantime if the list does not contain it
	for _, f := range w.Feeds {
		for _, o := range f.known {
			switch o := o.(type) {
			case *appsv1.DaemonSet:
				s.DaemonSet = o
			case *corev1.Node:
				s.Nodes = append(s.Nodes, *o)
			case *corev1.Pod:
				s.Pods = append(s.Pods, *o)
			case *appsv1.ControllerRevision:
				s.Revisions = append(s.Revisions, *o)
			case *corev1.Event:
				s.Events = append(s.Events, *o)
			}
		}
	}
	s.TakenAt, s.Gaps = w.Now(), object.Ordered(s.Gaps)
	object.Order(s)
	object.SortByName(s.Nodes)
	close(w.ready)
	if len(w.Feeds[0].known) == 0 {
		w.report(Seen{Object: w.ds, Gone: true})
	}
}

// newFeeds returns one feed for each resource, starting with the DaemonSet's.
func (w *Watching) newFeeds(r object.Relation) []*feed {
	c, ns := w.c, r.Ds.Namespace
	named := fields.OneTermEqualSelector(metav1.ObjectNameField, r.Ds.Name).String()
	warnings := fields.OneTermEqualSelector("type", corev1.EventTypeWarning).String()
	return []*feed{
		newFeed(w, "", "daemonsets.apps", api.Of[appsv1.DaemonSet](c.Clients, ns),
			metav1.ListOptions{FieldSelector: named},
			func(o metav1.Object) bool { return o.GetName() == r.Ds.Name && o.GetUID() == r.Ds.UID }),
		newFeed(w, snapshot.Pods, "pods", api.Of[corev1.Pod](c.Clients, ns),
			metav1.ListOptions{LabelSelector: r.Selector.String()}, nil),
		newFeed(w, snapshot.Nodes, "nodes", api.Of[corev1.Node](c.Clients, ""), metav1.ListOptions{}, nil),
		newFeed(w, snapshot.Revisions, "controllerrevisions.apps", api.Of[appsv1.ControllerRevision](c.Clients, ns),
			metav1.ListOptions{}, r.Takes),
		newFeed(w, snapshot.Events, "events", api.Of[corev1.Event](c.Clients, ns),
			metav1.ListOptions{FieldSelector: warnings}, r.Warns),
	}
}

// feed follows the objects of one resource. It is the store of a Reflector.
type feed struct {
	w        *Watching
	what     snapshot.What // empty for the DaemonSet
	resource string        // in the notation of kubectl auth can-i
	keep     func(metav1.Object) bool
	lister   cache.ListWatch
	example  runtime.Object
	most     int // maximum number of objects
	stop     context.CancelFunc

	// The following fields are guarded by the lock of w.
	known  map[string]metav1.Object
	read   bool // the first list has been read, or never will be
	failed int  // consecutive failures
}

func newFeed[T any, P api.OneOf[T]](w *Watching, what snapshot.What, resource string, from api.Client[T, P],
	which metav1.ListOptions, keep func(metav1.Object) bool) *feed {
	f := &feed{w: w, what: what, resource: resource, keep: keep, example: P(new(T)), known: map[string]metav1.Object{},
		most: api.MostOf[T](w.c.allowed)}
	held, pages := 0, pageTracker{}
	f.lister.ListWithContextFunc = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		o.LabelSelector, o.FieldSelector = which.LabelSelector, which.FieldSelector
		o.ResourceVersion, o.ResourceVersionMatch = "", "" // not older than the requests before it
		if o.Continue == "" {
			held, pages = 0, pageTracker{}
		}
		page, err := &metainternalversion.List{}, error(nil)
		page.ListMeta, err = from.Kept(ctx, o, func(o *T) error {
			if keep != nil && !keep(P(o)) {
				return nil
			}
			if held++; held > f.most {
				return &api.TooManyError{Objects: f.most, Most: w.c.allowed.Most}
			}
			kept := *o
			object.Strip(&kept)
			page.Items = append(page.Items, P(&kept))
			return nil
		})
		if err == nil {
			_, err = pages.next(page.ListMeta)
		}
		f.noteResult(ctx, "list", err)
		return page, err
	}
	f.lister.WatchFuncWithContext = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		o.LabelSelector, o.FieldSelector = which.LabelSelector, which.FieldSelector
		changes, err := w.c.startWatch(ctx,
			func(ctx context.Context) (watch.Interface, error) { return from.Watch(ctx, o) })
		f.noteResult(ctx, "watch", err)
		if err != nil {
			return nil, err
		}
		return watch.Filter(changes, func(e watch.Event) (watch.Event, bool) { return f.checked(ctx, e), true }), nil
	}
	return f
}

// startWatch starts a watch within the request timeout. client-go retries up to ten times and applies
// its timeout to each try.
func (c *Cluster) startWatch(ctx context.Context,
	ask func(context.Context) (watch.Interface, error)) (watch.Interface, error) {
	if c.limit == 0 {
		return ask(ctx)
	}
	asked, cancel := context.WithCancel(ctx) // canceled with ctx at the latest
	late, done := context.WithTimeout(ctx, c.limit)
	defer done()
	inTime := context.AfterFunc(late, cancel)
	changes, err := ask(asked)
	if inTime() {
		return changes, err
	}
	if err == nil {
		changes.Stop()
	}
	return nil, context.DeadlineExceeded
}

// checked replaces an unusable event with an error event, after which the Reflector lists again.
// The Reflector itself would ignore objects of a wrong type.
func (f *feed) checked(ctx context.Context, e watch.Event) watch.Event {
	err := error(nil)
	switch m, _ := e.Object.(metav1.Object); {
	case e.Type == watch.Bookmark:
		return e
	case e.Type == watch.Error:
		err = apierrors.FromObject(e.Object)
		f.noteResult(ctx, "watch", err)
		return e
	case reflect.TypeOf(e.Object) != reflect.TypeOf(f.example):
		err = fmt.Errorf("unusable answer: a change of a %s", reflect.TypeOf(e.Object).Elem().Name())
	case e.Type == watch.Added && f.full():
		err = &api.TooManyError{Objects: f.most, Most: f.w.c.allowed.Most}
	default:
		if err = object.Validate(m); err == nil {
			return e
		}
		err = api.Unusable(err)
	}
	f.noteResult(ctx, "watch", err)
	return watch.Event{Type: watch.Error, Object: &apierrors.NewInternalError(err).ErrStatus}
}

// full reports whether the maximum number of objects is reached.
func (f *feed) full() bool {
	f.w.Mu.Lock()
	defer f.w.Mu.Unlock()
	return len(f.known) >= f.most
}

// listThenWatch makes a Reflector list and then watch. Servers that do not support streaming lists would
// not end the stream.
type listThenWatch struct{ *cache.ListWatch }

func (listThenWatch) IsWatchListSemanticsUnSupported() bool { return true }

func (f *feed) run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f.w.Mu.Lock()
	f.stop = stop
	f.w.Mu.Unlock()
	r := cache.NewReflectorWithOptions(listThenWatch{&f.lister}, f.example, f,
		cache.ReflectorOptions{Name: f.resource, Logger: &klog.Logger{}})
	r.WatchListPageSize = f.w.c.allowed.Page // for lists only
	r.RunWithContext(ctx)
}

// maxFirstFailures is the maximum number of failures of the first list, which take some seconds in total.
const maxFirstFailures = 3

// noteResult records whether a request succeeded. It stops the feed if the request is forbidden, or if
// the first list fails because the resource does not exist or too often.
func (f *feed) noteResult(ctx context.Context, verb string, err error) {
	if ctx.Err() != nil {
		return
	}
	f.w.Mu.Lock()
	defer f.w.Mu.Unlock()
	if err == nil {
		if verb == "watch" && f.failed > 0 {
			f.failed = 0
			f.w.report(Seen{Kind: f.resource})
		}
		return
	}
	f.failed++
	final := apierrors.IsForbidden(err) || !f.read && (apierrors.IsNotFound(err) || f.failed >= maxFirstFailures)
	switch needed := f.what == "" || f.what == snapshot.Pods; {
	case apierrors.IsUnauthorized(err):
		f.w.fail(f.w.c.Refused(ctx, "", "", err))
	case expiredVersion(err):
		f.failed--
	case final && needed:
		f.w.fail(f.w.c.Refused(ctx, fmt.Sprintf("%s of daemonset %s", f.resource,
			source.Ref{Namespace: f.w.ds.Namespace, Name: f.w.ds.Name}),
			fmt.Sprintf("kubectl auth can-i %s %s -n %s", verb, f.resource, f.w.ds.Namespace), err))
	case final && f.read:
		f.w.report(Seen{Kind: f.resource, Lost: fmt.Sprintf("%s are no longer followed: %s", f.resource, message(err))})
		f.stop()
	case final:
		g, _ := f.w.c.gap(ctx, f.what, err)
		f.stop()
		f.read, f.w.start.Gaps = true, append(f.w.start.Gaps, g)
		f.w.complete()
	case f.read && f.failed == 1:
		f.w.report(Seen{Kind: f.resource,
			Lost: fmt.Sprintf("changes of %s do not arrive: %s", f.resource, message(err))})
	}
}

// expiredVersion reports whether a watch could not be resumed. A new list follows, and no change is
// lost.
func expiredVersion(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// Add, Update, Delete, Replace and Resync implement the store of a Reflector.

func (f *feed) Add(o any) error    { return f.take(o, false) }
func (f *feed) Update(o any) error { return f.take(o, false) }
func (f *feed) Delete(o any) error { return f.take(o, true) }
func (f *feed) Resync() error      { return nil }

func (f *feed) Replace(all []any, _ string) error {
	f.w.Mu.Lock()
	defer f.w.Mu.Unlock()
	left := maps.Clone(f.known)
	for _, o := range all {
		m := o.(metav1.Object)
		delete(left, m.GetName())
		f.Enqueue(m, false)
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		f.Enqueue(left[name], true)
	}
	if !f.read {
		f.read, f.failed = true, 0
		f.w.complete()
	}
	return nil
}

func (f *feed) take(o any, gone bool) error {
	object.Strip(o)
	f.w.Mu.Lock()
	defer f.w.Mu.Unlock()
	f.Enqueue(o.(metav1.Object), gone) // checked has verified the type
	return nil
}

// Enqueue records an object and reports it if it changed. An object that the filter rejects counts
// as deleted. The caller holds the lock.
func (f *feed) Enqueue(o metav1.Object, gone bool) {
	old := f.known[o.GetName()]
	gone = gone || f.keep != nil && !f.keep(o)
	switch {
	case old == nil && gone:
		return
	case old != nil && !gone && old.GetUID() != o.GetUID():
		f.Enqueue(old, true)
		old = nil
	}
	if gone {
		delete(f.known, o.GetName())
	} else {
		f.known[o.GetName()] = o
	}
	if f.w.start.DaemonSet != nil && (gone || old == nil || !same(old, o)) {
		f.w.report(Seen{Object: o, Gone: gone})
	}
}

// same reports whether nothing that a follower needs has changed.
func same(old, o metav1.Object) bool {
	if old.GetResourceVersion() == o.GetResourceVersion() && o.GetResourceVersion() != "" {
		return true
	}
	was, isNode := old.(*corev1.Node)
	if !isNode {
		return false
	}
	n := o.(*corev1.Node)
	wasReady, ready := readyOf(was), readyOf(n)
	return maps.Equal(was.Labels, n.Labels) && was.Spec.Unschedulable == n.Spec.Unschedulable && wasReady == ready &&
		(was.DeletionTimestamp == nil) == (n.DeletionTimestamp == nil) &&
		slices.EqualFunc(was.Spec.Taints, n.Spec.Taints, func(a, b corev1.Taint) bool {
			return a.Key == b.Key &&
				a.Value == b.Value && a.Effect == b.Effect
		})
}

// readyOf returns the Ready condition without its times and its message.
func readyOf(n *corev1.Node) corev1.NodeCondition {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			c.LastHeartbeatTime, c.LastTransitionTime, c.Message = metav1.Time{}, metav1.Time{}, ""
			return c
		}
	}
	return corev1.NodeCondition{}
}
