package source

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// part is one list of a Snapshot, or why there is none.
type part[T any] struct {
	items []T
	gaps  []snapshot.Gap
}

// parts are the lists of a Snapshot.
type parts struct {
	nodes     part[corev1.Node]
	revisions part[appsv1.ControllerRevision]
	pods      part[corev1.Pod]
	events    part[corev1.Event]
	budgets   part[policyv1.PodDisruptionBudget]
}

// into has a group read something to where it belongs.
func into[T any](g group, at *T, read func() (T, error)) {
	g.Go(func() (err error) {
		*at, err = read()
		return err
	})
}

// parts reads all lists of one DaemonSet, but the nodes if they are given.
func (c *Cluster) parts(ctx context.Context, r relation, nodes *part[corev1.Node]) (*parts, error) {
	var p parts
	var podEvents part[corev1.Event]
	namespace := r.ds.Namespace
	g, ctx := newGroup(ctx)
	if nodes != nil {
		p.nodes = *nodes
	} else {
		into(g, &p.nodes, func() (part[corev1.Node], error) { return c.nodes(ctx) })
	}
	into(g, &p.revisions, func() (part[appsv1.ControllerRevision], error) { return c.revisions(ctx, namespace, r.takes) })
	into(g, &p.budgets, func() (part[policyv1.PodDisruptionBudget], error) { return c.budgets(ctx, namespace, r.selectedBy) })
	into(g, &p.events, func() (part[corev1.Event], error) {
		return c.events(ctx, namespace, r.concerns, aboutDaemonSets, fields.OneTermEqualSelector("involvedObject.name", r.ds.Name))
	})
	g.Go(func() (err error) {
		if p.pods, err = c.pods(ctx, r); err != nil {
			return err
		}
		whose := troubled{}
		whose.add(p.pods.items)
		podEvents, err = c.podEvents(ctx, namespace, whose)
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	p.events.items = append(p.events.items, podEvents.items...)
	p.events.gaps = append(p.events.gaps, podEvents.gaps...)
	return &p, nil
}

// common reads what the DaemonSets of a namespace, or of all, share.
func (c *Cluster) common(ctx context.Context, namespace string) (*parts, *serverVersion, error) {
	var p parts
	var v *serverVersion
	g, ctx := newGroup(ctx)
	into(g, &v, func() (*serverVersion, error) { return c.version(ctx) })
	into(g, &p.nodes, func() (part[corev1.Node], error) { return c.nodes(ctx) })
	into(g, &p.revisions, func() (part[appsv1.ControllerRevision], error) { return c.revisions(ctx, namespace, nil) })
	into(g, &p.budgets, func() (part[policyv1.PodDisruptionBudget], error) { return c.budgets(ctx, namespace, nil) })
	into(g, &p.events, func() (part[corev1.Event], error) { return c.events(ctx, namespace, nil, aboutDaemonSets) })
	err := g.Wait()
	return &p, v, err
}

// pick returns what of the common parts is one DaemonSet's, with its pods.
// The events of its pods are not among them: see addPodEvents.
func (c *Cluster) pick(ctx context.Context, r relation, common *parts) (*parts, error) {
	pods, err := c.pods(ctx, r)
	return &parts{
		nodes:     common.nodes,
		revisions: part[appsv1.ControllerRevision]{filter(common.revisions.items, r.takes), common.revisions.gaps},
		pods:      pods,
		events:    part[corev1.Event]{filter(common.events.items, r.concerns), common.events.gaps},
		budgets:   part[policyv1.PodDisruptionBudget]{filter(common.budgets.items, r.selectedBy), common.budgets.gaps},
	}, err
}

// addPodEvents reads the events of all pods that are not ready at once, and
// completes the Snapshots, which nobody else has seen yet. A Snapshot that
// was read again has them already, and gets none twice.
func (c *Cluster) addPodEvents(ctx context.Context, all []*snapshot.Snapshot) error {
	whose := troubled{}
	namespaces := map[string]bool{}
	for _, s := range all {
		before := len(whose)
		if whose.add(s.Pods); len(whose) > before {
			namespaces[s.DaemonSet.Namespace] = true
		}
	}
	namespace := metav1.NamespaceAll
	if len(namespaces) == 1 {
		namespace = slices.Collect(maps.Keys(namespaces))[0]
	}
	read, err := c.podEvents(ctx, namespace, whose)
	if err != nil {
		return err
	}
	for _, s := range all {
		own := troubled{}
		own.add(s.Pods)
		if len(own) == 0 {
			continue
		}
		s.Events = lastOfEach(append(s.Events, filter(read.items, own.concerned)...))
		s.Gaps = ordered(append(s.Gaps, read.gaps...))
		order(s)
	}
	return nil
}

// podEvents reads the warnings about the pods: one list for all of them, and
// none when there is no such pod. The API has no selector for several pods.
func (c *Cluster) podEvents(ctx context.Context, namespace string, whose troubled) (part[corev1.Event], error) {
	if len(whose) == 0 {
		return part[corev1.Event]{}, nil
	}
	return c.events(ctx, namespace, whose.concerned,
		fields.OneTermEqualSelector("involvedObject.kind", "Pod"), fields.OneTermEqualSelector("type", corev1.EventTypeWarning))
}

// list reads a list to its end. That it is not asked for, or cannot be read, is a
// Gap, unless all other requests would fail as well.
func list[T any, L pageOf](ctx context.Context, c *Cluster, what snapshot.What, o metav1.ListOptions, ask func(context.Context, metav1.ListOptions) (L, error),
	keep func(metav1.Object) bool,
) (part[T], error) {
	if slices.Contains(c.leftOut, what) {
		return part[T]{gaps: []snapshot.Gap{{What: what, Why: snapshot.NotGiven, Message: "not asked for"}}}, nil
	}
	got, moved, err := readPages[T](ctx, o, ask, keep)
	switch {
	case err != nil:
		g, err := c.gap(ctx, what, err)
		return part[T]{gaps: []snapshot.Gap{g}}, err
	case moved != "":
		return part[T]{got, []snapshot.Gap{{What: what, Why: snapshot.Moved, Message: moved}}}, nil
	}
	return part[T]{items: got}, nil
}

func (c *Cluster) nodes(ctx context.Context) (part[corev1.Node], error) {
	p, err := list[corev1.Node](ctx, c, snapshot.Nodes, metav1.ListOptions{}, c.core.Nodes().List, nil)
	sortByName(p.items)
	return p, err
}

func (c *Cluster) pods(ctx context.Context, r relation) (part[corev1.Pod], error) {
	return list[corev1.Pod](ctx, c, snapshot.Pods, metav1.ListOptions{LabelSelector: r.selector.String()}, c.core.Pods(r.ds.Namespace).List, nil)
}

func (c *Cluster) revisions(ctx context.Context, namespace string, keep func(metav1.Object) bool) (part[appsv1.ControllerRevision], error) {
	return list[appsv1.ControllerRevision](ctx, c, snapshot.Revisions, metav1.ListOptions{}, c.apps.ControllerRevisions(namespace).List, keep)
}

var aboutDaemonSets = fields.OneTermEqualSelector("involvedObject.kind", "DaemonSet")

func (c *Cluster) events(ctx context.Context, namespace string, keep func(metav1.Object) bool, which ...fields.Selector) (part[corev1.Event], error) {
	return list[corev1.Event](ctx, c, snapshot.Events, metav1.ListOptions{FieldSelector: fields.AndSelectors(which...).String()}, c.core.Events(namespace).List, keep)
}

func (c *Cluster) budgets(ctx context.Context, namespace string, keep func(metav1.Object) bool) (part[policyv1.PodDisruptionBudget], error) {
	return list[policyv1.PodDisruptionBudget](ctx, c, snapshot.PodDisruptionBudgets, metav1.ListOptions{}, c.policy.PodDisruptionBudgets(namespace).List, keep)
}

// pageSize is the length of a page: kubectl's own, and small enough for a
// page of pods to stay under the API server's timeouts on a large cluster.
const pageSize = 500

// mostExpiries bounds how often the pages of one list may expire: a server on
// which each page does is not asked for ever.
const mostExpiries = 5

// pageOf is a list of one kind, of which a server may send a part.
type pageOf interface {
	metav1.ListInterface
	runtime.Object
}

// readPages reads a list to its end, page by page, and strips what it keeps of
// each before it asks for the next, so that what nobody reads is never held for
// more than one page. Without keep it keeps all. moved says why the objects are
// not all of one moment, or is empty.
//
// A continue token expires after some five minutes of etcd history (410
// Gone). The server then offers a token that goes on from the same place at
// the present moment: readPages takes it, says so in moved, and drops what
// stands there twice, keeping the later. Without such a token it starts over.
//
// client-go's tools/pager is not used: after 410 Gone it asks for the rest of
// the list in one piece, which is what pages are there to avoid.
func readPages[T any, L pageOf](ctx context.Context, opts metav1.ListOptions, ask func(context.Context, metav1.ListOptions) (L, error), keep func(metav1.Object) bool) (got []T, moved string, err error) {
	opts.Limit = pageSize
	page, expiries := 1, 0
	followed := map[string]bool{} // tokens
	for {
		answer, err := ask(ctx, opts)
		if token, gone := expired(err); gone && opts.Continue != "" {
			if expiries++; expiries > mostExpiries {
				return nil, "", fmt.Errorf("its pages expired %d times while they were read: %w", expiries, err)
			}
			clear(followed)
			if token == "" || token == opts.Continue {
				got, moved, page, opts.Continue = nil, "", 1, ""
				continue
			}
			opts.Continue = token
			moved = fmt.Sprintf("page %d was read later than the pages before it, because their token had expired", page)
			continue
		}
		if err != nil {
			return nil, "", err
		}
		items, err := meta.GetItemsPtr(answer)
		if err != nil {
			return nil, "", err
		}
		all := *items.(*[]T)
		for i := range all {
			if keep == nil || keep(metaOf(&all[i])) {
				strip(&all[i])
				got = append(got, all[i])
			}
		}
		next, left := answer.GetContinue(), answer.GetRemainingItemCount()
		if next == "" && left != nil && *left > 0 {
			return nil, "", fmt.Errorf("the server announces %d more objects, but gives no token to request them", *left)
		}
		if next == "" {
			break
		}
		if followed[next] {
			return nil, "", errors.New("the server's pages do not advance")
		}
		opts.Continue = next
		followed[opts.Continue] = true
		page++
	}
	once := lastOfEach(got)
	if twice := len(got) - len(once); twice > 0 && moved == "" {
		moved = fmt.Sprintf("%d objects appear twice: the pages were not read at the same moment", twice)
	}
	return once, moved, nil
}

// expired reports whether err says that a continue token is too old, and which
// token the server offers instead.
func expired(err error) (token string, gone bool) {
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		return "", false
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		token = status.Status().Continue
	}
	return token, true
}

// lastOfEach drops every object but the last of its name.
func lastOfEach[T any](items []T) []T {
	last := make(map[string]int, len(items))
	for i := range items {
		last[key(metaOf(&items[i]))] = i
	}
	var out []T
	for i := range items {
		if last[key(metaOf(&items[i]))] == i {
			out = append(out, items[i])
		}
	}
	return out
}
