package cluster

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// lists reads everything in a Snapshot except the DaemonSet. If of is nil, it reads what all
// DaemonSets of the namespace share, without pods. If known is not nil, its nodes are used.
func (c *Cluster) lists(ctx context.Context, namespace string, of *object.Relation,
	known *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	if c.on != "" && of != nil {
		return c.listsOn(ctx, namespace, of)
	}
	var s snapshot.Snapshot
	var podEvents []corev1.Event
	var gaps [6][]snapshot.Gap // by request
	var takes, selectedBy, concerns func(metav1.Object) bool
	about := []fields.Selector{fields.OneTermEqualSelector("involvedObject.kind", "DaemonSet")}
	g, ctx := source.NewGroup(ctx)
	if of != nil {
		takes, selectedBy, concerns = of.Takes, of.SelectedBy, of.Concerns
		about = append(about, fields.OneTermEqualSelector("involvedObject.name", of.Ds.Name))
		g.Go(func() (err error) {
			if s.Pods, gaps[4], err = c.pods(ctx, *of); err != nil {
				return err
			}
			podEvents, gaps[5], err = c.podEvents(ctx, namespace, object.TroubledOf(s.Pods))
			return err
		})
	}
	g.Go(func() (err error) {
		if known != nil {
			s.Nodes, gaps[0] = known.Nodes,
				slices.DeleteFunc(slices.Clone(known.Gaps),
					func(g snapshot.Gap) bool { return g.What != snapshot.Nodes })
			return nil
		}
		s.Nodes, gaps[0], err = list[corev1.Node](ctx, c, snapshot.Nodes, metav1.ListOptions{},
			api.Telling(c.onReading, snapshot.Nodes, 0, api.Of[corev1.Node](c.Clients, "").Kept), nil)
		object.SortByName(s.Nodes)
		return err
	})
	g.Go(func() (err error) {
		s.Revisions, gaps[1], err = list[appsv1.ControllerRevision](ctx, c, snapshot.Revisions, metav1.ListOptions{},
			api.Of[appsv1.ControllerRevision](c.Clients, namespace).List, takes)
		return err
	})
	g.Go(func() (err error) {
		s.PodDisruptionBudgets, gaps[2], err = list[policyv1.PodDisruptionBudget](ctx, c, snapshot.PodDisruptionBudgets,
			metav1.ListOptions{},
			api.Of[policyv1.PodDisruptionBudget](c.Clients, namespace).List, selectedBy)
		return err
	})
	g.Go(func() (err error) {
		s.Events, gaps[3], err = c.events(ctx, namespace, concerns, about...)
		return err
	})
	err := g.Wait()
	s.Events, s.Gaps = append(s.Events, podEvents...), slices.Concat(gaps[:]...)
	return &s, err
}

// listsOn does what lists does for a Cluster that reads only one node; see On.
func (c *Cluster) listsOn(ctx context.Context, namespace string, of *object.Relation) (*snapshot.Snapshot, error) {
	var s snapshot.Snapshot
	var pods [2][]corev1.Pod
	var gaps [3][]snapshot.Gap // by list
	g, ctx := source.NewGroup(ctx)
	g.Go(func() error {
		node, err := api.Of[corev1.Node](c.Clients, "").Get(ctx, c.on, metav1.GetOptions{})
		if err == nil && node.Name != c.on {
			err = api.Unusable(fmt.Errorf("node %s", node.Name))
		}
		if err != nil {
			return c.Refused(ctx, "node "+c.on, "kubectl auth can-i get nodes", err)
		}
		object.Strip(node)
		s.Nodes = []corev1.Node{*node}
		return nil
	})
	g.Go(func() (err error) {
		// in this order: a pod that is bound between the lists is in the second one
		for i, node := range []string{"", c.on} {
			o := metav1.ListOptions{LabelSelector: of.Selector.String(),
				FieldSelector: fields.OneTermEqualSelector("spec.nodeName", node).String()}
			here := func(o metav1.Object) bool { return o.(*corev1.Pod).Spec.NodeName == node }
			if pods[i], gaps[i], err = list[corev1.Pod](ctx, c, snapshot.Pods, o,
				api.Of[corev1.Pod](c.Clients, namespace).Kept,
				here); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() (err error) {
		s.Revisions, gaps[2], err = list[appsv1.ControllerRevision](ctx, c, snapshot.Revisions, metav1.ListOptions{},
			api.Of[appsv1.ControllerRevision](c.Clients, namespace).List, of.Takes)
		return err
	})
	err := g.Wait()
	s.Pods, s.Gaps = LastOfEach(slices.Concat(pods[:]...), object.KeyOf[corev1.Pod]), slices.Concat(gaps[:]...)
	return &s, err
}

// podsOfNamespaces holds the pods of namespaces that were read once for several DaemonSets.
type podsOfNamespaces struct {
	c    *Cluster
	read map[string]podsOfNamespace
}

type podsOfNamespace struct {
	pods map[string][]corev1.Pod // by the name of the DaemonSet that selects them
	gaps []snapshot.Gap
}

// podsOfSeveral reads the pods of each namespace that has several of the DaemonSets with one list,
// because for every list with a selector the server examines all pods of the namespace. It skips
// namespaces with one DaemonSet and those whose pods mostly belong to other owners: there, a list
// for each DaemonSet transfers less.
func (c *Cluster) podsOfSeveral(ctx context.Context, all []appsv1.DaemonSet) (*podsOfNamespaces, error) {
	out := &podsOfNamespaces{c, map[string]podsOfNamespace{}}
	of := map[string][]object.Relation{}
	expected := map[string]int64{}
	for i := range all {
		r, err := object.Relate(&all[i])
		if err != nil {
			return nil, err
		}
		of[r.Ds.Namespace] = append(of[r.Ds.Namespace], r)
		expected[r.Ds.Namespace] += expectedPods(r.Ds)
	}
	g, ctx := source.NewGroup(ctx)
	g.SetLimit(maxConcurrent)
	var mu sync.Mutex
	for namespace, sets := range of {
		if len(sets) < 2 {
			continue
		}
		g.Go(func() error {
			kept := func(p metav1.Object) bool {
				return slices.ContainsFunc(sets,
					func(r object.Relation) bool { return r.Selector.Matches(labels.Set(p.GetLabels())) })
			}
			ask := api.Telling(c.onReading, snapshot.Pods, 0, api.Of[corev1.Pod](c.Clients, namespace).Kept)
			pods, gaps, err := listAs(ctx, c, snapshot.Pods, metav1.ListOptions{}, unlessMany(ask, expected[namespace]),
				stripped[corev1.Pod](kept), object.KeyOf[corev1.Pod], expected[namespace])
			if errors.Is(err, errManyOthers) {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			out.read[namespace] = podsOfNamespace{PartitionPods(pods, sets), gaps}
			return err
		})
	}
	return out, g.Wait()
}

// PartitionPods returns the pods that each DaemonSet selects, by its name. If no pod is selected by
// several DaemonSets, it reorders pods in place and returns slices of it. Otherwise it copies, and
// such a pod is in several results.
func PartitionPods(pods []corev1.Pod, sets []object.Relation) map[string][]corev1.Pod {
	whose, size, out := make([]int, len(pods)), make([]int, len(sets)), map[string][]corev1.Pod{}
	for i := range pods {
		selected := 0
		for j, r := range sets {
			if r.Selector.Matches(labels.Set(pods[i].Labels)) {
				whose[i] = j
				size[j]++
				selected++
			}
		}
		if selected != 1 {
			for _, r := range sets {
				out[r.Ds.Name] = object.Filter(pods,
					func(o metav1.Object) bool { return r.Selector.Matches(labels.Set(o.GetLabels())) })
			}
			return out
		}
	}
	next, end := make([]int, len(sets)), 0
	for j, r := range sets {
		next[j] = end
		end += size[j]
		out[r.Ds.Name] = slices.Clip(pods[next[j]:end])
	}
	place := whose
	for i, j := range whose {
		place[i] = next[j]
		next[j]++
	}
	for i := range pods {
		for to := place[i]; to != i; to = place[i] {
			pods[i], pods[to] = pods[to], pods[i]
			place[i], place[to] = place[to], place[i]
		}
	}
	return out
}

// errManyOthers reports that most objects of a list are not needed.
var errManyOthers = errors.New("most objects are others")

// unlessMany returns a Lister that fails with errManyOthers after the first page if the list is
// longer than twice the expected number of objects plus two pages.
func unlessMany[T any](ask api.Lister[T], expected int64) api.Lister[T] {
	const short = 2 * DefaultPage
	return func(ctx context.Context, o metav1.ListOptions, each func(*T) error) (metav1.ListMeta, error) {
		if o.Continue == "" { // the next page may not be needed: do not request it ahead
			ctx = context.WithValue(ctx, api.ContextKey[api.TellsNext]{}, nil)
		}
		page, err := ask(ctx, o, each)
		if left := page.RemainingItemCount; err == nil && o.Continue == "" && left != nil &&
			*left+o.Limit > 2*expected+short {
			err = errManyOthers
		}
		return page, err
	}
}

// pick returns the Snapshot of one DaemonSet from what was read for its namespace, with its pods
// and without the events of its pods; see addPodEvents.
func (p *podsOfNamespaces) pick(ctx context.Context, r object.Relation,
	common *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{
		Nodes: common.Nodes, Revisions: object.Filter(common.Revisions, r.Takes),
		Events:               object.Filter(common.Events, r.Concerns),
		PodDisruptionBudgets: object.Filter(common.PodDisruptionBudgets, r.SelectedBy),
	}
	read, shared := p.read[r.Ds.Namespace]
	if shared {
		s.Pods = read.pods[r.Ds.Name]
	} else {
		var err error
		if s.Pods, read.gaps, err = p.c.pods(ctx, r); err != nil {
			return nil, err
		}
	}
	s.Gaps = slices.Concat(common.Gaps, read.gaps)
	return s, nil
}

// addPodEvents adds the events of all pods that are not ready to the Snapshots, using one list. It
// modifies the Snapshots, which must not be shared yet. Events that a Snapshot already contains are
// not added again.
func (c *Cluster) addPodEvents(ctx context.Context, all []*snapshot.Snapshot) error {
	whose := object.Troubled{}
	namespaces := map[string]bool{}
	for _, s := range all {
		if own := object.TroubledOf(s.Pods); len(own) > 0 {
			namespaces[s.DaemonSet.Namespace] = true
			maps.Copy(whose, own)
		}
	}
	namespace := metav1.NamespaceAll
	if len(namespaces) == 1 {
		namespace = slices.Collect(maps.Keys(namespaces))[0]
	}
	read, gaps, err := c.podEvents(ctx, namespace, whose)
	if err != nil {
		return err
	}
	for _, s := range all {
		if own := object.TroubledOf(s.Pods); len(own) > 0 {
			s.Events = object.NewestOfEach(LastOfEach(append(s.Events, object.Filter(read, own.Concerned)...),
				object.KeyOf[corev1.Event]))
			s.Gaps = object.Ordered(append(s.Gaps, gaps...))
			object.Order(s)
		}
	}
	return nil
}

// podEvents lists the events about the pods in whose. It sends one list for all of them, because
// the API has no selector for several pods or reasons, and excludes the reasons that every starting
// pod has. If many pods of the namespace are starting, it lists warnings only.
func (c *Cluster) podEvents(ctx context.Context, namespace string, whose object.Troubled) ([]corev1.Event,
	[]snapshot.Gap, error) {
	if len(whose) == 0 {
		return nil, nil, nil
	}
	ofPods := fields.OneTermEqualSelector("involvedObject.kind", "Pod")
	which := []fields.Selector{ofPods}
	for _, reason := range []string{"Scheduled", "Created", "Started"} {
		which = append(which, fields.OneTermNotEqualSelector("reason", reason))
	}
	asked := metav1.ListOptions{FieldSelector: fields.AndSelectors(which...).String()}
	ask := unlessManyNormal(api.Of[corev1.Event](c.Clients, namespace).List)
	read, gaps, err := list(ctx, c, snapshot.Events, asked, ask, whose.Concerned)
	if errors.Is(err, errManyOthers) {
		warnings := fields.OneTermEqualSelector("type", corev1.EventTypeWarning)
		read, gaps, err = c.events(ctx, namespace, whose.Concerned, ofPods, warnings)
	}
	return object.NewestOfEach(read), gaps, err
}

// MaxNormal is the maximum number of events of type Normal that are read before only warnings are
// listed.
const MaxNormal = 2000

// unlessManyNormal returns a Lister that fails with errManyOthers after a page if more than
// MaxNormal events are of type Normal.
func unlessManyNormal(ask api.Lister[corev1.Event]) api.Lister[corev1.Event] {
	normal := 0
	return func(ctx context.Context, o metav1.ListOptions, each func(*corev1.Event) error) (metav1.ListMeta, error) {
		if o.Continue == "" {
			normal = 0
		}
		page, err := ask(ctx, o, func(e *corev1.Event) error {
			if e.Type != corev1.EventTypeWarning {
				normal++
			}
			return each(e)
		})
		if err == nil && normal > MaxNormal {
			err = errManyOthers
		}
		return page, err
	}
}

func (c *Cluster) pods(ctx context.Context, r object.Relation) ([]corev1.Pod, []snapshot.Gap, error) {
	if c.statusSuffices != nil && c.statusSuffices(r.Ds) {
		if pods, gaps, err := c.podMetadata(ctx, r); !errors.Is(err, errNoMetadata) {
			return pods, gaps, err
		}
	}
	return listAs(ctx, c, snapshot.Pods, metav1.ListOptions{LabelSelector: r.Selector.String()},
		api.Telling(c.onReading, snapshot.Pods, int(expectedPods(r.Ds)),
			api.Of[corev1.Pod](c.Clients, r.Ds.Namespace).Kept),
		stripped[corev1.Pod](nil), object.KeyOf[corev1.Pod], expectedPods(r.Ds))
}

// errNoMetadata reports that the server does not support requests for metadata only.
var errNoMetadata = errors.New("no metadata")

// podMetadata reads only the metadata of the pods. It fails with errNoMetadata if the server does
// not support this.
func (c *Cluster) podMetadata(ctx context.Context, r object.Relation) ([]corev1.Pod, []snapshot.Gap, error) {
	of := api.Of[corev1.Pod](c.Clients, r.Ds.Namespace)
	ask := func(ctx context.Context, o metav1.ListOptions, each func(*corev1.Pod) error) (metav1.ListMeta, error) {
		page, err := readMetadata(ctx, of.Listing(o), api.PodMetaMask, func(o *metav1.PartialObjectMetadata) error {
			pod := &corev1.Pod{ObjectMeta: o.ObjectMeta}
			if err := object.Validate(pod); err != nil {
				return err
			}
			return each(pod)
		})
		if errors.As(err, new(*api.KindError)) {
			err = errNoMetadata
		}
		return page, err
	}
	pods, gaps, err := listAs(ctx, c, snapshot.Pods, metav1.ListOptions{LabelSelector: r.Selector.String()},
		api.Telling(c.onReading, snapshot.Pods, int(expectedPods(r.Ds)), ask), stripped[corev1.Pod](nil),
		object.KeyOf[corev1.Pod],
		expectedPods(r.Ds))
	if failed := slices.ContainsFunc(gaps, func(g snapshot.Gap) bool { return g.Why != snapshot.Moved }); !failed {
		gaps = append(gaps, snapshot.Gap{What: snapshot.PodStatus, Why: snapshot.NotGiven, Message: "not asked for"})
	}
	return pods, gaps, err
}

// readMetadata reads one page of a list of metadata, and decodes only the fields in kept.
func readMetadata(ctx context.Context, r *rest.Request, kept func() *api.ProtoMask,
	each func(*metav1.PartialObjectMetadata) error) (metav1.ListMeta, error) {
	const metadata = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	r.SetHeader("Accept", runtime.ContentTypeProtobuf+metadata+","+runtime.ContentTypeJSON+metadata)
	return api.ReadList(ctx, r, func([]byte) *api.ProtoMask { return kept() }, each)
}

func (c *Cluster) events(ctx context.Context, namespace string, keep func(metav1.Object) bool,
	which ...fields.Selector) ([]corev1.Event, []snapshot.Gap, error) {
	return list[corev1.Event](ctx, c, snapshot.Events,
		metav1.ListOptions{FieldSelector: fields.AndSelectors(which...).String()},
		api.Of[corev1.Event](c.Clients, namespace).List, keep)
}

// list reads all pages of a list and keeps the objects for which keep returns true, stripped. If
// the list is not requested or cannot be read, it returns a Gap, or an error if all other requests
// would fail too.
func list[T any](ctx context.Context, c *Cluster, what snapshot.What, o metav1.ListOptions, ask api.Lister[T],
	keep func(metav1.Object) bool) ([]T, []snapshot.Gap, error) {
	return listAs(ctx, c, what, o, ask, stripped[T](keep), object.KeyOf[T], 0)
}

// listAs does what list does, but keeps the results of made. expected is the expected number of
// objects, or 0 if it is unknown.
func listAs[T, R any](ctx context.Context, c *Cluster, what snapshot.What, o metav1.ListOptions, ask api.Lister[T],
	made func(*T) (R, bool), keyOf func(*R) string, expected int64,
) ([]R, []snapshot.Gap, error) {
	if slices.Contains(c.leftOut, what) {
		return nil, []snapshot.Gap{{What: what, Why: snapshot.NotGiven, Message: "not asked for"}}, nil
	}
	got, moved, err := readPagesAs(ctx, c.allowed, o, ask, made, keyOf, expected)
	switch {
	case errors.Is(err, errManyOthers), errors.Is(err, errNoMetadata):
		return nil, nil, err
	case err != nil:
		g, err := c.gap(ctx, what, err)
		return nil, []snapshot.Gap{g}, err
	case moved != "":
		return got, []snapshot.Gap{{What: what, Why: snapshot.Moved, Message: moved}}, nil
	}
	return got, nil, nil
}

// stripped returns a function that strips an object and reports whether keep returns true for it. A
// nil keep keeps all objects.
func stripped[T any](keep func(metav1.Object) bool) func(*T) (T, bool) {
	return func(o *T) (T, bool) {
		kept := keep == nil || keep(object.MetaOf(o))
		if kept {
			object.Strip(o)
		}
		return *o, kept
	}
}

// DefaultPage is the number of objects in one page of a list. It equals kubectl's, and is small
// enough for a page of pods to meet the API server's timeouts in a large cluster.
const DefaultPage = 500

// maxExpiries is the maximum number of expired pages of one list. It ends the read of a list whose
// pages always expire.
const maxExpiries = 5

// ReadPages reads all pages of a list and returns the objects for which keep returns true,
// stripped. A nil keep keeps all objects. Only kept objects are held in memory. moved says why the
// objects are not from one moment, or is empty.
func ReadPages[T any](ctx context.Context, allowed *api.Allowance, opts metav1.ListOptions, ask api.Lister[T],
	keep func(metav1.Object) bool) (all []T, moved string, err error) {
	return readPagesAs(ctx, allowed, opts, ask, stripped[T](keep), object.KeyOf[T], 0)
}

// readPagesAs does what ReadPages does, but keeps the results of made for which made returns true.
// keyOf returns the identity of a result. expected is the expected number of objects, or 0 if it is
// unknown.
//
// A continue token expires after about five minutes (410 Gone). If the server then returns a token
// for the rest of the list at the current revision, readPagesAs continues with it, sets moved, and
// keeps the later of two objects with the same key. Otherwise it starts over. client-go's
// tools/pager would request the whole rest in one response.
func readPagesAs[T, R any](ctx context.Context, allowed *api.Allowance, opts metav1.ListOptions, ask api.Lister[T],
	made func(*T) (R, bool), keyOf func(*R) string, expected int64,
) (all []R, moved string, err error) {
	opts.Limit = allowed.Page
	most, pages, held := api.MostOf[R](allowed), pageTracker{}, object.Chunks[R]{Expected: expected}
	expiries, seen := 0, 0
	each := func(o *T) error {
		seen++
		one, kept := made(o)
		if kept && held.Size == most {
			return &api.TooManyError{Objects: most, Most: allowed.Most}
		}
		if kept {
			held.Add(one)
		}
		return nil
	}
	read := ask
	if !allowed.Limited {
		ahead, stop := api.ReadAhead(ask)
		defer stop()
		read = ahead
	}
	for {
		answer, err := read(ctx, opts, each)
		if token, gone := api.Expired(err); gone && opts.Continue != "" {
			if expiries++; expiries > maxExpiries {
				return nil, "", fmt.Errorf("its pages expired %d times while they were read: %w", expiries, err)
			}
			page := pages.read + 1
			pages.followed = nil
			if token == "" || token == opts.Continue {
				held, moved, pages, opts.Continue, seen = object.Chunks[R]{Expected: expected}, "", pageTracker{}, "", 0
				continue
			}
			opts.Continue = token
			moved = fmt.Sprintf("page %d was read later than the pages before it, because their token had expired",
				page)
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if opts.Continue, err = pages.next(answer); err != nil {
			return nil, "", err
		}
		if opts.Continue == "" {
			break
		}
		if left := answer.RemainingItemCount; left != nil && held.Size == seen {
			held.Expected = *left
		}
	}
	once := LastOfEach(held.All(), keyOf)
	if twice := held.Size - len(once); twice > 0 && moved == "" {
		moved = fmt.Sprintf("%d objects appear twice: the pages were not read at the same moment", twice)
	}
	return once, moved, nil
}

// pageTracker tracks the pages of one list.
type pageTracker struct {
	read     int
	followed map[[sha256.Size]byte]bool // digests of tokens, which may have any length
}

// next returns the token of the page after the given one, or "" if it is the last. It returns an
// error if the pages cannot end properly.
func (p *pageTracker) next(page metav1.ListMeta) (string, error) {
	p.read++
	next, left := page.Continue, page.RemainingItemCount
	if next == "" && left != nil && *left > 0 {
		return "", fmt.Errorf("the server announces %d more objects, but gives no token to request them", *left)
	}
	token := sha256.Sum256([]byte(next))
	switch {
	case next == "":
		return "", nil
	case p.followed[token]:
		return "", errors.New("the server's pages do not advance")
	case p.read == api.MaxPages:
		return "", fmt.Errorf("the server's pages do not end: there are more than %d", api.MaxPages)
	case p.followed == nil:
		p.followed = map[[sha256.Size]byte]bool{}
	}
	p.followed[token] = true
	return next, nil
}

// LastOfEach returns items with only the last object of each key.
func LastOfEach[T any](items []T, keyOf func(*T) string) []T {
	last := make(map[string]int, len(items))
	for i := range items {
		last[keyOf(&items[i])] = i
	}
	if len(last) == len(items) {
		return items
	}
	var out []T
	for i := range items {
		if last[keyOf(&items[i])] == i {
			out = append(out, items[i])
		}
	}
	return out
}
