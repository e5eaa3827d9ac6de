package e2e

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// record is everything that happened to the nodes and to the DaemonSets and pods of a namespace since it began, in
// the order in which etcd took it: all of them share one sequence of resource versions.
type record struct {
	mu     sync.Mutex
	events []event
}

// event is one change. status marks a write of a DaemonSet that changed its status alone.
type event struct {
	version int64
	kind    string // daemonset, node, pod
	name    string
	added   bool
	deleted bool
	status  bool
}

// moment is what there was when an event had just happened. expecting tells that a pod was created since the status
// write before the last one: the sync that created it may be the one that wrote the status, and then it did not count
// the pod yet, which it waits to see.
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
	r := &record{}
	nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	must(t, err)
	for i := range nodes.Items {
		r.add(event{version: versionOf(t, &nodes.Items[i]), kind: "node", name: nodes.Items[i].Name})
	}
	from := metav1.ListOptions{ResourceVersion: nodes.ResourceVersion}
	var done sync.WaitGroup
	follow := func(kind string, w watch.Interface, err error) {
		must(t, err)
		done.Go(func() { r.follow(t, kind, w) })
		t.Cleanup(w.Stop)
	}
	w, err := c.Client.CoreV1().Nodes().Watch(ctx, from)
	follow("node", w, err)
	w, err = c.Client.CoreV1().Pods(namespace).Watch(ctx, from)
	follow("pod", w, err)
	w, err = c.Client.AppsV1().DaemonSets(namespace).Watch(ctx, from)
	follow("daemonset", w, err)
	t.Cleanup(func() { cancel(); done.Wait() })
	return r
}

func (r *record) follow(t *testing.T, kind string, w watch.Interface) {
	var before *appsv1.DaemonSet
	for e := range w.ResultChan() {
		if e.Type == watch.Error {
			t.Errorf("watch of %ss: %v", kind, e.Object)
			return
		}
		o, err := meta.Accessor(e.Object)
		if err != nil {
			t.Errorf("watch of %ss: %v", kind, err)
			return
		}
		ev := event{version: versionOf(t, e.Object), kind: kind, name: o.GetName(), added: e.Type == watch.Added, deleted: e.Type == watch.Deleted}
		if ds, ok := e.Object.(*appsv1.DaemonSet); ok {
			ev.status = before != nil && equality.Semantic.DeepEqual(before.Spec, ds.Spec) && !equality.Semantic.DeepEqual(before.Status, ds.Status)
			before = ds
		}
		r.add(ev)
	}
}

func (r *record) add(e event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// seen tells whether the record has come to a version of a kind of object.
func (r *record) seen(kind string, version int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.events, func(e event) bool { return e.kind == kind && e.version >= version })
}

// at returns the moment of the event of that version. The record must have come further than that.
func (r *record) at(version int64) moment {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.events, func(a, b event) int { return int(a.version - b.version) })
	m := moment{objects: state{}}
	created := false
	for _, e := range r.events {
		if e.version > version {
			m.next = e
			return m
		}
		m.last = e
		if m.objects[e.kind+"/"+e.name] = e.version; e.deleted {
			delete(m.objects, e.kind+"/"+e.name)
		}
		if e.status {
			m.expecting, created = created, false
		}
		created = created || e.kind == "pod" && e.added
	}
	return m
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
