package e2e

import (
	"context"
	"maps"
	"net/http"
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

// record is everything that happened to the nodes and to the DaemonSets, ControllerRevisions and
// pods of a namespace, in the order of etcd: they share one sequence of resource versions.
type record struct {
	kubernetes string // version of the API server
	mu         sync.Mutex
	events     []event
	daemonSet  *appsv1.DaemonSet // the last one
}

// event is a change. status is set for a write of only a DaemonSet's status.
type event struct {
	version int64
	kind    string // daemonset, controllerrevision, node or pod
	object  metav1.Object
	name    string
	node    string // for a pod: its target node
	added   bool
	deleted bool
	status  bool
	seen    time.Time // when the record received it
	heard   time.Time // when the controller had received it, at the latest; see hear
}

// moment is the state just after an event. expecting is set if a pod that is alone on its node was
// created since the last but one write of the status: the sync that created it may have written the
// status without counting it. A pod next to an older one changes no number.
type moment struct {
	objects    state
	last, next event
	known      time.Time // when the controller had received everything
	later      time.Time // the earliest time at which the controller, by its log, or the record received anything later
	expecting  bool
}

// state maps each object, such as "pod/x", to its resource version.
type state map[string]int64

// newRecord records until the test ends. The namespace must not contain a DaemonSet or a pod yet.
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
	var done sync.WaitGroup
	for kind, open := range map[string]watcher{
		"node":               c.Client.CoreV1().Nodes().Watch,
		"pod":                c.Client.CoreV1().Pods(namespace).Watch,
		"daemonset":          c.Client.AppsV1().DaemonSets(namespace).Watch,
		"controllerrevision": c.Client.AppsV1().ControllerRevisions(namespace).Watch,
	} {
		done.Go(func() { r.follow(ctx, t, kind, nodes.ResourceVersion, open) })
	}
	t.Cleanup(func() { cancel(); done.Wait() })
	return r
}

type watcher func(context.Context, metav1.ListOptions) (watch.Interface, error)

// follow records a watch from a version on. The API server ends the watch of a client that is too
// slow; then it is resumed.
func (r *record) follow(ctx context.Context, t *testing.T, kind, from string, open watcher) {
	for ctx.Err() == nil {
		w, err := open(ctx, metav1.ListOptions{ResourceVersion: from})
		if err != nil && ctx.Err() == nil {
			t.Errorf("watch of %ss: %v", kind, err)
		}
		if err != nil {
			return
		}
		stop := context.AfterFunc(ctx, w.Stop)
		from = r.read(ctx, t, kind, from, w)
		stop()
		w.Stop()
	}
}

// read records the events of a watch until it ends and returns the version of the last one.
func (r *record) read(ctx context.Context, t *testing.T, kind, from string, w watch.Interface) string {
	for e := range w.ResultChan() {
		if ctx.Err() != nil {
			break
		}
		if status, ok := e.Object.(*metav1.Status); ok && status.Code == http.StatusInternalServerError {
			break // the connection ended within an event
		}
		o, err := meta.Accessor(e.Object)
		if err != nil {
			t.Errorf("watch of %ss: %v: %v", kind, err, e.Object)
			break
		}
		from = o.GetResourceVersion()
		ev := event{version: versionOf(t, e.Object), kind: kind, name: o.GetName(), object: o, added: e.Type == watch.Added, deleted: e.Type == watch.Deleted}
		if pod, ok := e.Object.(*corev1.Pod); ok {
			ev.node = nodeOf(pod)
		}
		if ds, ok := e.Object.(*appsv1.DaemonSet); ok {
			before := r.daemonSet
			ev.status = before != nil && equality.Semantic.DeepEqual(before.Spec, ds.Spec) && !equality.Semantic.DeepEqual(before.Status, ds.Status)
			r.daemonSet = ds
		}
		r.add(ev)
	}
	return from
}

func (r *record) add(e event) {
	e.seen = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// hear sets when the controller received each change to a DaemonSet and a pod, according to its
// log. The record must be complete.
func (r *record) hear(t *testing.T, c *stage.Cluster, namespace string) {
	t.Helper()
	events := r.ordered()
	count := map[string]int{}
	for _, e := range events {
		if e.kind == "pod" || e.kind == "daemonset" {
			count[e.kind+"/"+e.name]++
		}
	}
	var heard map[string][]time.Time
	must(t, c.WaitFor(t.Context(), "the controller to hear of all changes", func(context.Context) (bool, error) {
		var err error
		heard, err = c.Heard(namespace)
		for what, n := range count {
			if len(heard[what]) > n {
				t.Fatalf("the controller heard of %d changes of %s, the record holds %d", len(heard[what]), what, n)
			}
			if len(heard[what]) < n {
				return false, err
			}
		}
		return true, err
	}))
	at := map[int64]time.Time{}
	for _, e := range events {
		if times := heard[e.kind+"/"+e.name]; len(times) > 0 {
			at[e.version], heard[e.kind+"/"+e.name] = times[0], times[1:]
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.events {
		r.events[i].heard = at[r.events[i].version]
	}
}

// seen reports whether the record has reached a version of a kind.
func (r *record) seen(kind string, version int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.events, func(e event) bool { return e.kind == kind && e.version >= version })
}

// ordered returns the events received so far, oldest first.
func (r *record) ordered() []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.events, func(a, b event) int { return int(a.version - b.version) })
	return slices.Clone(r.events)
}

// at returns the moment of the event with that version. The record must be newer.
func (r *record) at(version int64) moment {
	m := moment{objects: state{}}
	pods := map[string]string{} // to their nodes
	created := map[string]bool{}
	for _, e := range r.ordered() {
		if e.version > version {
			if m.next.version == 0 {
				m.next, m.later = e, e.seen
			}
			// Each kind has its own watch, so a later event may be received first.
			m.later = earlier(m.later, earlier(e.seen, e.known()))
			continue
		}
		m.last = e
		m.known = later(m.known, e.known())
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

// last returns the event that the record received last.
func (r *record) last() event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events[len(r.events)-1]
}

// newest returns the version of the last event.
func (r *record) newest() int64 {
	events := r.ordered()
	return events[len(events)-1].version
}

// until returns the events before a version, oldest first.
func (r *record) until(version int64) []event {
	events := r.ordered()
	return events[:sort.Search(len(events), func(i int) bool { return events[i].version >= version })]
}

// replay returns the state after the events as a Snapshot taken at a time, or nil if there was no
// DaemonSet.
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

// latest returns the current state according to the record.
func (r *record) latest() *snapshot.Snapshot { return r.replay(r.ordered(), time.Now()) }

// settled reports whether the last written status is final: nothing is expected, and a sync that
// left it unchanged knew everything that had happened and ended before anything else was received.
func (m *moment) settled(syncs []left) bool {
	return !m.next.status && !m.expecting && slices.ContainsFunc(syncs, func(s left) bool {
		return s.status == m.last.version && s.Start.After(m.known) && s.End.Before(m.later)
	})
}

// known returns when the controller had received an event or, if its log does not show it, when the
// record had.
func (e *event) known() time.Time {
	if e.heard.IsZero() {
		return e.seen
	}
	return e.heard
}

// alone reports whether no other pod has the same target node.
func alone(pods map[string]string, name string) bool {
	for other, node := range pods {
		if other != name && node == pods[name] {
			return false
		}
	}
	return true
}

// nodeOf returns the node for which the DaemonSet controller created the pod.
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

// TestRecordGoesOn checks that the record resumes a watch after its last event, whether it ends
// with an error or not.
func TestRecordGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	pod := func(version string) *corev1.Pod {
		node := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Values: []string{"a"}}}}
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "pod", ResourceVersion: version},
			Spec: corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{node}},
			}}},
		}
	}
	watches := [][]watch.Event{
		{{Type: watch.Added, Object: pod("3")}, {Type: watch.Modified, Object: pod("4")}},
		{{Type: watch.Modified, Object: pod("6")}, {Type: watch.Error, Object: &metav1.Status{Code: http.StatusInternalServerError}}},
		{},
		{{Type: watch.Deleted, Object: pod("9")}},
	}
	var from []string
	r := &record{}
	r.follow(ctx, t, "pod", "2", func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
		if from = append(from, o.ResourceVersion); len(from) > len(watches) {
			cancel()
			return nil, ctx.Err()
		}
		events := make(chan watch.Event, 2)
		for _, e := range watches[len(from)-1] {
			events <- e
		}
		close(events)
		return watch.NewProxyWatcher(events), nil
	})
	var versions []int64
	for _, e := range r.ordered() {
		versions = append(versions, e.version)
	}
	if want := []string{"2", "4", "6", "6", "9"}; !slices.Equal(from, want) {
		t.Errorf("watched from %v, want %v", from, want)
	}
	if want := []int64{3, 4, 6, 9}; !slices.Equal(versions, want) {
		t.Errorf("recorded %v, want %v", versions, want)
	}
}

// TestSettled checks that a status has settled if a sync that left it unchanged knew everything and
// ended before anything else was received.
func TestSettled(t *testing.T) {
	at := func(milliseconds int) time.Time { return time.UnixMilli(int64(milliseconds)) }
	pod := func(version int64, name string, seen, heard int) event {
		return event{version: version, kind: "pod", name: name, node: name, seen: at(seen), heard: at(heard)}
	}
	status := func(version int64, seen, heard int) event {
		return event{version: version, kind: "daemonset", name: "ds", status: true, seen: at(seen), heard: at(heard)}
	}
	created := func(e event) event { e.added = true; return e }
	of := func(status int64, start, end int) []left {
		return []left{{stage.Sync{Start: at(start), End: at(end)}, status}}
	}
	events := func(then ...event) []event {
		return slices.Concat([]event{pod(1, "a", 1, 1), status(2, 5, 9)}, then)
	}
	for _, tt := range []struct {
		why     string
		events  []event
		version int64
		left    []left
		want    bool
	}{
		{"a sync after all that there was, and before what came next", events(pod(4, "a", 30, 31)), 2, of(2, 10, 20), true},
		{"no sync left the status as it was", events(pod(4, "a", 30, 31)), 2, nil, false},
		{"the sync began before the controller had heard of the status", events(pod(4, "a", 30, 31)), 2, of(2, 8, 20), false},
		{"what came next was seen before the sync ended", events(pod(4, "a", 19, 31)), 2, of(2, 10, 20), false},
		{"… heard of by the controller", events(pod(4, "a", 30, 19)), 2, of(2, 10, 20), false},
		{"a further status came next", events(status(4, 30, 31)), 2, of(2, 10, 20), false},
		{"… and before it the change of a pod that was heard of later", events(pod(4, "a", 30, 31), status(5, 15, 15)), 2, of(2, 16, 20), false},
		{"… where the sync knew of that status before the log tells that it was heard of", events(pod(4, "a", 30, 31), status(5, 25, 25)), 2, of(5, 16, 20), false},
		{"… of which it is the settled one", events(status(5, 14, 15), pod(6, "a", 30, 31)), 5, of(5, 16, 20), true},
		{"a pod came of which the status may not know", events(created(pod(4, "b", 10, 10)), status(5, 12, 12), pod(6, "a", 30, 31)), 5, of(5, 13, 20), false},
	} {
		t.Run(tt.why, func(t *testing.T) {
			m := (&record{events: tt.events}).at(tt.version)
			if got := m.settled(tt.left); got != tt.want {
				t.Errorf("settled: %t, want %t", got, tt.want)
			}
		})
	}
}
