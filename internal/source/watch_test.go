package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// watchServer is an apiServer that also serves watches. Every watch of a resource gets the events from change.
type watchServer struct {
	*apiServer
	front *httptest.Server

	mu      sync.Mutex
	watches map[string][]chan string // open watches by resource
	begun   map[string]int
	asked   []string                            // "PATH?query" of each watch
	refuse  func(what string, n int) (code int) // status code for a watch; 0 accepts it
	moved   *sync.Cond
}

func newWatchServer(t testing.TB, w world) *watchServer {
	s := &watchServer{apiServer: newAPIServer(t, w), watches: map[string][]chan string{}, begun: map[string]int{}}
	s.moved = sync.NewCond(&s.mu)
	s.front = httptest.NewServer(s)
	t.Cleanup(s.front.Close)
	return s
}

func (s *watchServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") == "" {
		s.apiServer.ServeHTTP(w, r)
		return
	}
	parts := strings.Split(r.URL.Path, "/")
	what := parts[len(parts)-1]
	s.mu.Lock()
	s.begun[what]++
	s.asked = append(s.asked, r.URL.Path+"?"+strings.Join(slices.DeleteFunc(strings.Split(r.URL.RawQuery, "&"), func(p string) bool { return strings.HasPrefix(p, "timeout") }), "&"))
	code := 0
	if s.refuse != nil {
		code = s.refuse(what, s.begun[what])
	}
	if code == unansweredWatch {
		s.moved.Broadcast()
		s.mu.Unlock()
		<-r.Context().Done()
		return
	}
	if code != 0 {
		s.moved.Broadcast()
		s.mu.Unlock()
		reason := map[int]metav1.StatusReason{http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusGone: metav1.StatusReasonExpired}[code]
		s.apiServer.mu.Lock()
		defer s.apiServer.mu.Unlock()
		s.fail(w, code, reason, "the watch is refused")
		return
	}
	changes := make(chan string, 100)
	s.watches[what] = append(s.watches[what], changes)
	s.moved.Broadcast()
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for {
		select {
		case line, open := <-changes:
			if !open {
				return
			}
			if line == torn {
				panic(http.ErrAbortHandler)
			}
			fmt.Fprintln(w, line)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// torn is sent instead of an event. It ends the connection within the event.
const torn = "{"

// unansweredWatch is the code for a watch that gets no response.
const unansweredWatch = -1

// await waits until a resource has been watched n times.
func (s *watchServer) await(what string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.begun[what] < n {
		s.moved.Wait()
	}
}

// change sends an event to the watches of an object's resource: ADDED, MODIFIED or DELETED.
func (s *watchServer) change(kind string, o runtime.Object) {
	what := resourceOf(o)
	raw, err := json.Marshal(map[string]any{"type": kind, "object": typed(o)})
	if err != nil {
		panic(err)
	}
	s.say(what, string(raw))
}

// say sends a line to the watches of a resource.
func (s *watchServer) say(what, line string) {
	s.await(what, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches[what] {
		w <- line
	}
}

// cut ends all watches of a resource.
func (s *watchServer) cut(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches[what] {
		close(w)
	}
	s.watches[what] = nil
}

// replace changes the world for the next list.
func (s *watchServer) replace(t testing.TB, text string) {
	s.apiServer.mu.Lock()
	defer s.apiServer.mu.Unlock()
	s.world = parseWorld(t, text)
}

// watchOf returns a Watching of the DaemonSet agent on s.
func watchOf(t testing.TB, s *watchServer) (*cluster.Watching, error) {
	t.Helper()
	return watchWithin(t, s, 0)
}

// watchWithin is like watchOf, with a request timeout.
func watchWithin(t testing.TB, s *watchServer, timeout time.Duration) (*cluster.Watching, error) {
	t.Helper()
	began := noon.AddDate(1, 0, 0)
	c, err := cluster.NewCluster(&rest.Config{Host: s.front.URL, QPS: -1, UserAgent: "kubectl-ds/test", Timeout: timeout}, func() time.Time { began = began.Add(time.Millisecond); return began })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	w, err := c.Watch(ctx, agent)
	if err == nil {
		t.Cleanup(w.Close)
	}
	return w, err
}

// next returns the next change as text: "pod p1" or "pod p1 gone".
func next(t testing.TB, w *cluster.Watching) string {
	t.Helper()
	s, open := <-w.Changes()
	if !open {
		return fmt.Sprintf("closed: %v", w.Err())
	}
	switch {
	case s.Lost != "":
		return "lost " + s.Lost
	case s.Kind != "":
		return "back " + s.Kind
	}
	if p, ok := s.Object.(*corev1.Pod); ok && p.Spec.Containers[0].Env != nil {
		t.Error("a pod was not stripped")
	}
	text := map[string]string{"daemonsets": "ds", "nodes": "node", "pods": "pod", "controllerrevisions": "rev", "events": "event"}[resourceOf(s.Object.(runtime.Object))]
	text += " " + s.Object.(metav1.Object).GetName()
	if s.Gone {
		text += " gone"
	}
	return text
}

func oneObject(t testing.TB, line string) runtime.Object {
	t.Helper()
	return parseObject(t, strings.Fields(line))
}

const followed = `
	ds agent gen=1
	ds other
	nodes 12
	pod p1 app=agent owner=agent
	pod x1 app=x
	rev r1 app=agent owner=agent
	rev x1 app=x
	event e1 about=DaemonSet/agent
	event e2 about=Pod/agent-p1
	event e3 about=Pod/x1
	event e4 about=DaemonSet/agent normal`

func TestWatchBegins(t *testing.T) {
	s := newWatchServer(t, parseWorld(t, followed))
	w, err := watchOf(t, s)
	if err != nil {
		t.Fatal(err)
	}
	start := w.Start()
	var got []string
	for _, n := range start.Nodes {
		got = append(got, n.Name)
	}
	for _, p := range start.Pods {
		got = append(got, p.Name)
		if p.ManagedFields != nil || p.Spec.Containers[0].Env != nil {
			t.Error("a pod was not stripped")
		}
	}
	for _, r := range start.Revisions {
		got = append(got, r.Name)
	}
	for _, e := range start.Events {
		got = append(got, e.Name)
	}
	want := "n0000 n0001 n0002 n0003 n0004 n0005 n0006 n0007 n0008 n0009 n0010 n0011 p1 r1 e1 e2"
	if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
		t.Errorf("what is followed (-want +got):\n%s", diff)
	}
	if start.KubernetesVersion != "v1.37.1" || start.VersionSource != snapshot.VersionServer || len(start.Gaps) != 0 || start.DaemonSet.Name != "agent" {
		t.Errorf("%+v", start)
	}
	if passed := start.TakenAt.Sub(noon); passed <= 0 || passed > time.Second {
		t.Errorf("taken %s after the server's Date: what passed on this machine's clock counts", passed)
	}
	for _, what := range []string{"daemonsets", "nodes", "pods", "controllerrevisions", "events"} {
		s.await(what, 1)
	}
	if diff := cmp.Diff(map[string]int{"daemonset": 1, "version": 1, "daemonsets": 1, "nodes": 1, "pods": 1, "controllerrevisions": 1, "events": 1}, s.apiServer.asked()); diff != "" {
		t.Errorf("requests besides watches (-want +got):\n%s", diff)
	}
	s.apiServer.mu.Lock()
	defer s.apiServer.mu.Unlock()
	for _, r := range s.requests {
		if strings.Contains(r, "resourceVersion") { // with a resourceVersion, the server may return an old list
			t.Errorf("asked for %s", r)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.asked)
	if diff := cmp.Diff([]string{
		"/api/v1/namespaces/kube-system/events?allowWatchBookmarks=true&fieldSelector=type%3DWarning&watch=true",
		"/api/v1/namespaces/kube-system/pods?allowWatchBookmarks=true&labelSelector=app%3Dagent&watch=true",
		"/api/v1/nodes?allowWatchBookmarks=true&watch=true",
		"/apis/apps/v1/namespaces/kube-system/controllerrevisions?allowWatchBookmarks=true&watch=true",
		"/apis/apps/v1/namespaces/kube-system/daemonsets?allowWatchBookmarks=true&fieldSelector=metadata.name%3Dagent&watch=true",
	}, s.asked); diff != "" {
		t.Errorf("watches (-want +got):\n%s", diff)
	}
}

func TestWatchReadsPages(t *testing.T) {
	s := newWatchServer(t, parseWorld(t, "ds agent\nnodes 1200"))
	w, err := watchOf(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Start().Nodes) != 1200 || s.apiServer.asked()["nodes"] != 3 {
		t.Errorf("%d nodes in %d pages", len(w.Start().Nodes), s.apiServer.asked()["nodes"])
	}
}

func TestWatchTells(t *testing.T) {
	heartbeat := func(change func(*corev1.Node)) runtime.Object {
		n := oneObject(t, "node n0003 rv=9").(*corev1.Node)
		n.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(noon.Add(time.Hour))
		n.Status.Images = nil
		if change != nil {
			change(n)
		}
		return n
	}
	last := func() runtime.Object { return oneObject(t, "node last rv=99") }
	for _, tt := range []struct {
		kind   string
		object runtime.Object
		want   string
		why    string
	}{
		{"ADDED", oneObject(t, "pod p2 app=agent owner=agent rv=2"), "pod p2", "a pod comes"},
		{"MODIFIED", oneObject(t, "pod p1 app=agent owner=agent ready rv=2"), "pod p1", "a pod changes"},
		{"DELETED", oneObject(t, "pod p1 app=agent owner=agent rv=2"), "pod p1 gone", "a pod goes"},
		{"ADDED", oneObject(t, "rev r2 app=agent owner=agent rv=2"), "rev r2", "a revision of the DaemonSet"},
		{"ADDED", oneObject(t, "rev x2 app=x rv=2"), "", "one of another is nobody's business"},
		{"MODIFIED", oneObject(t, "rev r1 app=x rv=2"), "rev r1 gone", "one that becomes another's goes"},
		{"MODIFIED", oneObject(t, "ds agent gen=2 rv=2"), "ds agent", "the DaemonSet changes"},
		{"DELETED", oneObject(t, "ds agent gen=2 rv=2"), "ds agent gone", "the DaemonSet goes"},
		{"MODIFIED", oneObject(t, "ds agent gen=1 rv=2 uid=another"), "ds agent gone", "another of the same name is not the one that is followed"},
		{"ADDED", oneObject(t, "event e9 about=DaemonSet/agent rv=2"), "event e9", "a warning about the DaemonSet"},
		{"ADDED", oneObject(t, "event e9 about=DaemonSet/other rv=2"), "", "not one about another"},
		{"ADDED", oneObject(t, "event e9 about=Pod/agent-x2 rv=2"), "event e9", "a warning about a pod that has its name from it"},
		{"ADDED", oneObject(t, "event e9 about=Pod/agents-x2 rv=2"), "", "not about another's"},
		{"MODIFIED", heartbeat(nil), "", "a heartbeat is not heard"},
		{"MODIFIED", heartbeat(func(n *corev1.Node) { n.Labels = map[string]string{"pool": "a"} }), "node n0003", "a label is"},
		{"MODIFIED", heartbeat(func(n *corev1.Node) { n.Spec.Unschedulable = true }), "node n0003", "cordoning is"},
		{"MODIFIED", heartbeat(func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: "NoExecute"}} }), "node n0003", "a taint is"},
		{"MODIFIED", heartbeat(func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }), "node n0003", "silence is"},
		{"ADDED", oneObject(t, "node new"), "node new", "a node comes"},
		{"DELETED", oneObject(t, "node n0003 rv=2"), "node n0003 gone", "a node goes"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := newWatchServer(t, parseWorld(t, followed))
			w, err := watchOf(t, s)
			if err != nil {
				t.Fatal(err)
			}
			what := resourceOf(tt.object)
			s.await(what, 1)
			s.change(tt.kind, tt.object)
			if tt.want != "" {
				if got := next(t, w); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				return
			}
			// If nothing is reported, the next change of the same kind comes first.
			sign := map[string]runtime.Object{
				"nodes": last(), "controllerrevisions": oneObject(t, "rev last app=agent owner=agent rv=99"), "events": oneObject(t, "event last about=DaemonSet/agent rv=99"),
			}[what]
			s.change("ADDED", sign)
			if got := next(t, w); !strings.HasSuffix(got, " last") {
				t.Errorf("got %q, want nothing", got)
			}
		})
	}
}

// TestWatchTellsOneFromAnother checks that a new pod is not taken for an earlier one of the same name, if the
// deletion of the earlier one was missed.
func TestWatchTellsOneFromAnother(t *testing.T) {
	s := newWatchServer(t, parseWorld(t, followed))
	w, err := watchOf(t, s)
	if err != nil {
		t.Fatal(err)
	}
	s.change("MODIFIED", oneObject(t, "pod p1 app=agent owner=agent rv=2 uid=another"))
	if diff := cmp.Diff([]string{"pod p1 gone", "pod p1"}, []string{next(t, w), next(t, w)}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.Feeds[0].Enqueue(oneObject(t, "ds agent rv=2 uid=another").(*appsv1.DaemonSet), false)
	if len(w.Queue) != 1 || !w.Queue[0].Gone {
		t.Errorf("of another DaemonSet nothing is told but that the one that is followed is gone: %+v", w.Queue)
	}
}

func TestWatchGoesOn(t *testing.T) {
	moved := strings.Replace(followed, "pod p1", "pod p1 rv=2", 1)
	t.Run("where the watch ended", func(t *testing.T) {
		s := newWatchServer(t, parseWorld(t, followed))
		w, err := watchOf(t, s)
		if err != nil {
			t.Fatal(err)
		}
		s.change("ADDED", oneObject(t, "pod p2 app=agent owner=agent rv=2"))
		if got := next(t, w); got != "pod p2" { // a watch that ends at once without a change is an error
			t.Errorf("got %q", got)
		}
		s.cut("pods")
		s.await("pods", 2)
		s.change("ADDED", oneObject(t, "pod p3 app=agent owner=agent rv=3"))
		if got := next(t, w); got != "pod p3" {
			t.Errorf("got %q", got)
		}
		if n := s.apiServer.asked()["pods"]; n != 1 {
			t.Errorf("listed %d times", n)
		}
	})
	t.Run("or, if that is too long ago, with a list of which the differences are told", func(t *testing.T) {
		s := newWatchServer(t, parseWorld(t, followed+"\npod p2 app=agent owner=agent\npod p3 app=agent owner=agent"))
		s.refuse = func(what string, n int) int {
			if what == "pods" && n == 2 {
				return http.StatusGone
			}
			return 0
		}
		w, err := watchOf(t, s)
		if err != nil {
			t.Fatal(err)
		}
		s.change("MODIFIED", oneObject(t, "pod p1 app=agent owner=agent rv=2"))
		if got := next(t, w); got != "pod p1" {
			t.Errorf("got %q", got)
		}
		s.replace(t, moved+"\npod p3 app=agent owner=agent rv=7\npod p4 app=agent owner=agent")
		s.cut("pods")
		got := []string{next(t, w), next(t, w), next(t, w)}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"pod p2 gone", "pod p3", "pod p4"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("after a time in which nobody answered, of which it tells", func(t *testing.T) {
		s := newWatchServer(t, parseWorld(t, followed))
		s.refuse = func(what string, n int) int {
			if what == "pods" && n == 2 {
				return http.StatusServiceUnavailable
			}
			return 0
		}
		w, err := watchOf(t, s)
		if err != nil {
			t.Fatal(err)
		}
		s.change("MODIFIED", oneObject(t, "pod p1 app=agent owner=agent rv=2"))
		if got := next(t, w); got != "pod p1" {
			t.Errorf("got %q", got)
		}
		s.replace(t, moved)
		s.cut("pods")
		if got := next(t, w); got != "lost changes of pods do not arrive: the watch is refused" {
			t.Errorf("got %q", got)
		}
		if got := next(t, w); got != "back pods" {
			t.Errorf("got %q", got)
		}
	})
}

func TestWatchOfWhatMayNotBeRead(t *testing.T) {
	forbidden := func(which string) func(*apiServer, http.ResponseWriter, string, int) bool {
		return func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
			return what == which && s.forbid(w, what)
		}
	}
	t.Run("nodes are a gap, and the rest is followed", func(t *testing.T) {
		s := newWatchServer(t, parseWorld(t, followed))
		s.answer = forbidden("nodes")
		w, err := watchOf(t, s)
		if err != nil {
			t.Fatal(err)
		}
		want := []snapshot.Gap{{What: snapshot.Nodes, Why: snapshot.Forbidden, Message: `nodes is forbidden: User "jane" cannot do that`}}
		if diff := cmp.Diff(want, w.Start().Gaps); diff != "" || w.Start().Nodes != nil {
			t.Errorf("gaps (-want +got):\n%s", diff)
		}
		s.await("pods", 1)
		s.change("ADDED", oneObject(t, "pod p2 app=agent owner=agent rv=2"))
		if got := next(t, w); got != "pod p2" {
			t.Errorf("got %q", got)
		}
		if n := s.apiServer.asked()["nodes"]; n != 1 {
			t.Errorf("nodes were asked for %d times", n)
		}
	})
	t.Run("without pods there is nothing to follow", func(t *testing.T) {
		s := newWatchServer(t, parseWorld(t, followed))
		s.answer = forbidden("pods")
		_, err := watchOf(t, s)
		var refused *source.RequestError
		if !errors.As(err, &refused) || refused.Hint() != "kubectl auth can-i list pods -n kube-system" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("nor where pods may be listed and not watched", func(t *testing.T) {
		s := newWatchServer(t, parseWorld(t, followed))
		s.refuse = func(what string, _ int) int {
			if what == "pods" {
				return http.StatusForbidden
			}
			return 0
		}
		w, err := watchOf(t, s)
		if err == nil {
			if got := next(t, w); !strings.HasPrefix(got, "closed: pods of daemonset kube-system/agent: ") {
				t.Errorf("got %q", got)
			}
			err = w.Err()
		}
		var refused *source.RequestError
		if !errors.As(err, &refused) || refused.Hint() != "kubectl auth can-i watch pods -n kube-system" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("what never answers is a gap too", func(t *testing.T) {
		s := newWatchServer(t, parseWorld(t, followed))
		s.answer = func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
			if what != "events" {
				return false
			}
			s.fail(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "no etcd")
			return true
		}
		w, err := watchOf(t, s)
		if err != nil {
			t.Fatal(err)
		}
		if g := w.Start().Gaps; len(g) != 1 || g[0].What != snapshot.Events || g[0].Why != snapshot.Failed {
			t.Errorf("gaps %+v", g)
		}
	})
	t.Run("what the server does not have is a gap, and is not asked for again", func(t *testing.T) {
		s := newWatchServer(t, parseWorld(t, followed))
		s.answer = func(_ *apiServer, w http.ResponseWriter, what string, _ int) bool {
			if what != "controllerrevisions" {
				return false
			}
			http.Error(w, "404 page not found", http.StatusNotFound)
			return true
		}
		w, err := watchOf(t, s)
		if err != nil {
			t.Fatal(err)
		}
		want := []snapshot.Gap{{What: snapshot.Revisions, Why: snapshot.Failed, Message: "the server could not find the requested resource (get controllerrevisions.apps)"}}
		if diff := cmp.Diff(want, w.Start().Gaps); diff != "" {
			t.Errorf("gaps (-want +got):\n%s", diff)
		}
		if n := s.apiServer.asked()["controllerrevisions"]; n != 1 {
			t.Errorf("it was asked for %d times", n)
		}
	})
	t.Run("no such DaemonSet", func(t *testing.T) {
		_, err := watchOf(t, newWatchServer(t, parseWorld(t, "ds agents")))
		var none *source.NotFoundError
		if !errors.As(err, &none) || none.Hint() != "did you mean agents?" {
			t.Errorf("got %v, %+v", err, none)
		}
	})
	t.Run("one that went while the lists were read", func(t *testing.T) {
		s := newWatchServer(t, parseWorld(t, followed))
		s.answer = func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
			if what == "version" {
				s.world = slices.DeleteFunc(s.world, func(o runtime.Object) bool {
					ds, ok := o.(*appsv1.DaemonSet)
					return ok && ds.Name == "agent"
				})
			}
			return false
		}
		w, err := watchOf(t, s)
		if err != nil {
			t.Fatal(err)
		}
		if got := next(t, w); got != "ds agent gone" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a server without a clock", func(t *testing.T) {
		s := newWatchServer(t, parseWorld(t, followed))
		s.date = nil
		w, err := watchOf(t, s)
		if err != nil {
			t.Fatal(err)
		}
		if g := w.Start().Gaps; len(g) != 1 || g[0].What != snapshot.Clock || w.Start().TakenAt.Year() != noon.Year()+1 {
			t.Errorf("gaps %+v, taken at %s", g, w.Start().TakenAt)
		}
	})
}

// TestWatchCloses checks that the changes of a Watching end after Close, without an error.
func TestWatchCloses(t *testing.T) {
	s := newWatchServer(t, parseWorld(t, followed))
	w, err := watchOf(t, s)
	if err != nil {
		t.Fatal(err)
	}
	s.change("ADDED", oneObject(t, "pod p2 app=agent owner=agent rv=2"))
	w.Close()
	for range w.Changes() {
	}
	if w.Err() != nil {
		t.Error(w.Err())
	}
}

// TestWatchWithoutAnAnswer checks that starting a watch takes no longer than a request may, although client-go would
// try ten times.
func TestWatchWithoutAnAnswer(t *testing.T) {
	const timeout, slack = time.Second, 700 * time.Millisecond
	s := newWatchServer(t, parseWorld(t, followed))
	s.refuse = func(what string, _ int) int {
		if what == "pods" {
			return unansweredWatch
		}
		return 0
	}
	w, err := watchWithin(t, s, timeout)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got := next(t, w)
	if want := "lost changes of pods do not arrive: the time for the request is over"; got != want || time.Since(began) > timeout+slack {
		t.Errorf("after %s: %q, want %q", time.Since(began), got, want)
	}
}

// TestWatchThatIsTorn checks that a watch continues without a report if its connection breaks.
func TestWatchThatIsTorn(t *testing.T) {
	s := newWatchServer(t, parseWorld(t, followed))
	w, err := watchOf(t, s)
	if err != nil {
		t.Fatal(err)
	}
	// after a watch without any events, the list would be read again
	s.change("ADDED", parseWorld(t, "pod p8 app=agent owner=agent")[0])
	got := []string{next(t, w)}
	s.say("pods", torn)
	s.mu.Lock()
	s.watches["pods"] = nil
	s.mu.Unlock()
	s.await("pods", 2)
	s.change("ADDED", parseWorld(t, "pod p9 app=agent owner=agent")[0])
	if got = append(got, next(t, w)); !slices.Equal(got, []string{"pod p8", "pod p9"}) {
		t.Errorf("got %q", got)
	}
	if n := s.apiServer.asked()["pods"]; n != 1 {
		t.Errorf("pods were listed %d times", n)
	}
}
