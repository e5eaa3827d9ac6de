package e2e

import (
	"context"
	"maps"
	"slices"
	"sort"
	"strconv"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// record is everything that happened to the nodes and to the DaemonSets, ControllerRevisions and pods of a namespace
// since it began, in the order in which etcd took it: all of them share one sequence of resource versions.
type record struct {
	kubernetes string // the version of the API server
	mu         sync.Mutex
	events     []event
}

// event is one change. status marks a write of a DaemonSet that changed its status alone.
type event struct {
	version int64
	kind    string // daemonset, controllerrevision, node, pod
	object  metav1.Object
	name    string
	node    string // of a pod: the one that it is for
	added   bool
	deleted bool
	status  bool
	seen    time.Time // when the record heard of it
}

// moment is what there was when an event had just happened. expecting tells that, since the status write before the
// last one, a pod was created that is alone on its node: the sync that created it may be the one that wrote the status,
// and then it did not count the pod yet, which it waits to see. A pod beside an older one changes no number.
type moment struct {
	objects    state
	last, next event
	expecting  bool
}

// state is which version of each object there is: "pod/x" to its resource version.
type state map[string]int64

// newRecord records from now on, until the test ends. The namespace must have no DaemonSet and no pod yet.
func newRecord(t *testing.T, c *stage.Cluster, namespace string) *record {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	version, err := c.Client.Discovery().ServerVersion()
	must(t, err)
	r := &record{kubernetes: version.GitVersion}
	nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	must(t, err)
	for i := range nodes.Items {
		r.add(event{version: versionOf(t, &nodes.Items[i]), kind: "node", name: nodes.Items[i].Name, object: &nodes.Items[i]})
	}
	from := metav1.ListOptions{ResourceVersion: nodes.ResourceVersion}
	var done sync.WaitGroup
	follow := func(kind string, w watch.Interface, err error) {
		must(t, err)
		done.Go(func() { r.follow(ctx, t, kind, w) })
		t.Cleanup(w.Stop)
	}
	w, err := c.Client.CoreV1().Nodes().Watch(ctx, from)
	follow("node", w, err)
	w, err = c.Client.CoreV1().Pods(namespace).Watch(ctx, from)
	follow("pod", w, err)
	w, err = c.Client.AppsV1().DaemonSets(namespace).Watch(ctx, from)
	follow("daemonset", w, err)
	w, err = c.Client.AppsV1().ControllerRevisions(namespace).Watch(ctx, from)
	follow("controllerrevision", w, err)
	t.Cleanup(func() { cancel(); done.Wait() })
	return r
}

func (r *record) follow(ctx context.Context, t *testing.T, kind string, w watch.Interface) {
	var before *appsv1.DaemonSet
	for e := range w.ResultChan() {
		if ctx.Err() != nil {
			return
		}
		if e.Type == watch.Error {
			t.Errorf("watch of %ss: %v", kind, e.Object)
			return
		}
		o, err := meta.Accessor(e.Object)
		if err != nil {
			t.Errorf("watch of %ss: %v", kind, err)
			return
		}
		ev := event{version: versionOf(t, e.Object), kind: kind, name: o.GetName(), object: o, added: e.Type == watch.Added, deleted: e.Type == watch.Deleted}
		if pod, ok := e.Object.(*corev1.Pod); ok {
			ev.node = nodeOf(pod)
		}
		if ds, ok := e.Object.(*appsv1.DaemonSet); ok {
			ev.status = before != nil && equality.Semantic.DeepEqual(before.Spec, ds.Spec) && !equality.Semantic.DeepEqual(before.Status, ds.Status)
			before = ds
		}
		r.add(ev)
	}
}

func (r *record) add(e event) {
	e.seen = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// seen reports whether the record has come to a version of a kind of object.
func (r *record) seen(kind string, version int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.events, func(e event) bool { return e.kind == kind && e.version >= version })
}

// ordered returns what was heard of so far, oldest first.
func (r *record) ordered() []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.events, func(a, b event) int { return int(a.version - b.version) })
	return slices.Clone(r.events)
}

// at returns the moment of the event of that version. The record must have come further than that.
func (r *record) at(version int64) moment {
	m := moment{objects: state{}}
	pods := map[string]string{} // to their nodes
	created := map[string]bool{}
	for _, e := range r.ordered() {
		if e.version > version {
			m.next = e
			return m
		}
		m.last = e
		m.objects[e.kind+"/"+e.name] = e.version
		switch {
		case e.deleted:
			delete(m.objects, e.kind+"/"+e.name)
			delete(pods, e.name)
			delete(created, e.name)
		case e.kind == "pod":
			pods[e.name] = e.node
			created[e.name] = created[e.name] || e.added
		case e.status:
			m.expecting = false
			for name := range created {
				m.expecting = m.expecting || created[name] && alone(pods, name)
			}
			clear(created)
		}
	}
	return m
}

// newest is the version of the last event.
func (r *record) newest() int64 {
	events := r.ordered()
	return events[len(events)-1].version
}

// until returns the events before that version, oldest first.
func (r *record) until(version int64) []event {
	events := r.ordered()
	return events[:sort.Search(len(events), func(i int) bool { return events[i].version >= version })]
}

// replay returns what there was after the events as a Snapshot taken at that time, or nil where there was no DaemonSet.
func (r *record) replay(events []event, taken time.Time) *snapshot.Snapshot {
	objects := map[string]metav1.Object{}
	for _, e := range events {
		objects[e.kind+"/"+e.name] = e.object
		if e.deleted {
			delete(objects, e.kind+"/"+e.name)
		}
	}
	s := &snapshot.Snapshot{TakenAt: taken, KubernetesVersion: r.kubernetes, VersionSource: snapshot.VersionServer}
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		switch o := objects[name].(type) {
		case *appsv1.DaemonSet:
			s.DaemonSet = o
		case *appsv1.ControllerRevision:
			s.Revisions = append(s.Revisions, *o)
		case *corev1.Node:
			s.Nodes = append(s.Nodes, *o)
		case *corev1.Pod:
			s.Pods = append(s.Pods, *o)
		}
	}
	if s.DaemonSet == nil {
		return nil
	}
	return s
}

// latest is what there is, as far as the record has heard.
func (r *record) latest() *snapshot.Snapshot { return r.replay(r.ordered(), time.Now()) }

// calm reports whether nothing at all happened for so long after the last event that the controller, which hears of each
// event within milliseconds, had seen all that came before it, and wrote no other status.
func (m *moment) calm() bool {
	const enough = 250 * time.Millisecond
	return m.next.seen.Sub(m.last.seen) >= enough
}

// alone reports whether no other pod is for the pod's node.
func alone(pods map[string]string, name string) bool {
	for other, node := range pods {
		if other != name && node == pods[name] {
			return false
		}
	}
	return true
}

// nodeOf is the node that the DaemonSet controller made the pod for.
func nodeOf(pod *corev1.Pod) string {
	return pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
}

func (s state) equal(other state) bool { return maps.Equal(s, other) }

func versionOf(t *testing.T, o runtime.Object) int64 {
	t.Helper()
	a, err := meta.Accessor(o)
	must(t, err)
	n, err := strconv.ParseInt(a.GetResourceVersion(), 10, 64)
	must(t, err)
	return n
}
