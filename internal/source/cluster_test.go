package source_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/net/http2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

var agent = source.Ref{Namespace: "kube-system", Name: "agent"}

const small = `
	ds agent gen=1
	nodes 12
	pod p1 app=agent owner=agent
	pod p2 app=agent owner=agent ready
	rev r1 app=agent owner=agent
	event e1 about=DaemonSet/agent
	event e2 about=Pod/p1`

func TestReadAsksFor(t *testing.T) {
	for _, tt := range []struct {
		world string
		want  map[string]int
		why   string
	}{
		{
			small,
			map[string]int{"daemonset": 2, "version": 1, "nodes": 1, "pods": 1, "controllerrevisions": 1, "poddisruptionbudgets": 1, "events": 2},
			"12 nodes take 9 requests",
		},
		{
			"ds agent\nnodes 12\npod p app=agent owner=agent ready",
			map[string]int{"daemonset": 2, "version": 1, "nodes": 1, "pods": 1, "controllerrevisions": 1, "poddisruptionbudgets": 1, "events": 1},
			"without a pod that is not ready, no events of pods",
		},
		{
			"ds agent\nnodes 1200\npod p app=agent owner=agent ready",
			map[string]int{"daemonset": 2, "version": 1, "nodes": 3, "pods": 1, "controllerrevisions": 1, "poddisruptionbudgets": 1, "events": 1},
			"1,200 nodes take two pages more",
		},
		{
			"ds agent\nnodes 500",
			map[string]int{"daemonset": 2, "version": 1, "nodes": 1, "pods": 1, "controllerrevisions": 1, "poddisruptionbudgets": 1, "events": 1},
			"a full page is not followed by an empty one",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := newAPIServer(t, parseWorld(t, tt.world))
			got, err := newCluster(t, s).Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Gaps) > 0 {
				t.Errorf("gaps: %v", got.Gaps)
			}
			if diff := cmp.Diff(tt.want, s.asked()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWithout checks that an omitted part is not requested, and is a gap.
func TestWithout(t *testing.T) {
	out := []snapshot.What{snapshot.Nodes, snapshot.Events, snapshot.PodDisruptionBudgets}
	s := newAPIServer(t, parseWorld(t, small))
	c := newCluster(t, s)
	got, err := c.Without(out...).Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"daemonset": 2, "version": 1, "pods": 1, "controllerrevisions": 1}
	if diff := cmp.Diff(want, s.asked()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	for _, what := range snapshot.Whats {
		if got.Lacks(what) != slices.Contains(out, what) {
			t.Errorf("%s: a gap: %t", what, got.Lacks(what))
		}
	}
	if _, err := c.Read(background, agent); err != nil || s.asked()["nodes"] != 1 {
		t.Errorf("the Cluster itself leaves nothing out: %v, %v", err, s.asked())
	}
}

func TestReadAsksHow(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, small))
	if _, err := newCluster(t, s).Read(background, agent); err != nil {
		t.Fatal(err)
	}
	slices.Sort(s.requests)
	want := []string{
		"GET /api/v1/namespaces/kube-system/events?fieldSelector=involvedObject.kind%3DDaemonSet%2CinvolvedObject.name%3Dagent&limit=500",
		"GET /api/v1/namespaces/kube-system/events?fieldSelector=involvedObject.kind%3DPod%2Creason%21%3DScheduled%2Creason%21%3DCreated%2Creason%21%3DStarted&limit=500",
		"GET /api/v1/namespaces/kube-system/pods?labelSelector=app%3Dagent&limit=500",
		"GET /api/v1/nodes?limit=500",
		"GET /apis/apps/v1/namespaces/kube-system/controllerrevisions?limit=500",
		"GET /apis/apps/v1/namespaces/kube-system/daemonsets/agent",
		"GET /apis/apps/v1/namespaces/kube-system/daemonsets/agent",
		"GET /apis/policy/v1/namespaces/kube-system/poddisruptionbudgets?limit=500",
		"GET /version",
	}
	if diff := cmp.Diff(want, s.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if got := s.headers.Get("Accept"); got != "application/vnd.kubernetes.protobuf,application/json" {
		t.Errorf("accept: %s", got)
	}
	if got := s.headers.Get("User-Agent"); got != "kubectl-ds/test" {
		t.Errorf("user agent: %s", got)
	}
}

// TestManyStarts checks that the warnings about pods that are not ready are read even if many pods of the namespace
// have started, and that only a few pages are read in vain.
func TestManyStarts(t *testing.T) {
	for _, tt := range []struct {
		normal int
		want   string // names of the events
		lists  int    // requests for lists of events, including the DaemonSet's
	}{
		{cluster.MaxNormal - 1, "p w", 1 + 5},
		{cluster.MaxNormal + 2, "w", 1 + 5 + 1},
	} {
		w := parseWorld(t, "ds agent\nnode n1\npod ill app=agent owner=agent\nevent p about=Pod/ill normal reason=Pulling\nevent w about=Pod/ill")
		for i := range tt.normal {
			w = append(w, parseObject(t, []string{"event", fmt.Sprint("o", i), "about=Pod/other", "normal", "reason=Pulled"}))
		}
		s := newAPIServer(t, w)
		got, err := newCluster(t, s).Read(background, agent)
		if err != nil {
			t.Fatal(err)
		}
		if events := outlineOf(got).Events; events != tt.want || len(got.Gaps) > 0 {
			t.Errorf("%d others: events %q, want %q; %v", tt.normal, events, tt.want, got.Gaps)
		}
		if n := s.asked()["events"]; n != tt.lists {
			t.Errorf("%d others: %d lists, want %d", tt.normal, n, tt.lists)
		}
	}
}

func TestReadAllReadsNodesOnce(t *testing.T) {
	text := "nodes 1200\n"
	for i := range 20 {
		ns := []string{"kube-system", "default"}[i%2]
		text += fmt.Sprintf("ds d%02d ns=%s\n", i, ns)
		text += fmt.Sprintf("pod p%02d app=d%02d ns=%s\n", i, i, ns)
	}
	s := newAPIServer(t, parseWorld(t, text))
	all, err := newCluster(t, s).ReadAll(background, source.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 20 {
		t.Errorf("%d snapshots", len(all))
	}
	want := map[string]int{"daemonsets": 1, "daemonset": 20, "version": 1, "nodes": 3, "pods": 2, "controllerrevisions": 1, "poddisruptionbudgets": 1, "events": 2}
	if diff := cmp.Diff(want, s.asked()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	for _, snap := range all {
		if &snap.Nodes[0] != &all[0].Nodes[0] {
			t.Errorf("daemonset %s has nodes of its own", snap.DaemonSet.Name)
		}
	}
}

// TestReadOn checks that reading one node of a cluster gives the same as reading a cluster with only that node, with
// few requests.
func TestReadOn(t *testing.T) {
	const world = "ds agent\nrev agent-1 app=agent\nds other\n"
	text := world + "node n7\npod p7 app=agent node=n7\npod waits app=agent node=\n"
	whole := text
	for i := range 6 {
		whole += fmt.Sprintf("node n%d\npod p%d app=agent node=n%d\n", i, i, i)
	}
	whole += "pod q7 app=web node=n7\n"
	s := newAPIServer(t, parseWorld(t, whole))
	got, err := newCluster(t, s).On("n7").Read(background, source.Ref{Namespace: "kube-system", Name: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	want, err := newCluster(t, newAPIServer(t, parseWorld(t, text))).Read(background, source.Ref{Namespace: "kube-system", Name: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-of a cluster with that node +read):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"daemonset": 2, "version": 1, "node": 1, "pods": 2, "controllerrevisions": 1}, s.asked()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if _, err := newCluster(t, s).On("gone").Read(background, source.Ref{Namespace: "kube-system", Name: "agent"}); err == nil {
		t.Error("no error for a node that is not there")
	}
}

// TestPodMetadata checks that only the metadata of pods is requested if their DaemonSet shows enough.
func TestPodMetadata(t *testing.T) {
	world := parseWorld(t, "ds agent\nnode a\npod p app=agent owner=agent node=a ready\npod q app=agent node=a\npod r app=web")
	read := func(t *testing.T, enough bool, change func(*apiServer)) (*snapshot.Snapshot, *snapshot.Snapshot, string) {
		s := newAPIServer(t, world)
		change(s)
		accept := ""
		inner := s.answer
		s.answer = func(s *apiServer, w http.ResponseWriter, what string, n int) bool {
			if what == "pods" {
				accept = s.headers.Get("Accept")
			}
			return inner != nil && inner(s, w, what, n)
		}
		whole, err := newCluster(t, newAPIServer(t, world)).Read(background, agent)
		if err != nil {
			t.Fatal(err)
		}
		got, err := newCluster(t, s).PodMetadata(func(ds *appsv1.DaemonSet) bool { return enough && ds.Name == "agent" }).Read(background, agent)
		if err != nil {
			t.Fatal(err)
		}
		return got, whole, accept
	}
	t.Run("they are enough", func(t *testing.T) {
		got, want, accept := read(t, true, func(*apiServer) {})
		for i := range want.Pods {
			want.Pods[i] = corev1.Pod{ObjectMeta: want.Pods[i].ObjectMeta}
			object.Strip(&want.Pods[i])
		}
		want.Gaps = append(want.Gaps, snapshot.Gap{What: snapshot.PodStatus, Why: snapshot.NotGiven, Message: "not asked for"})
		if diff := cmp.Diff(want, got); diff != "" || len(got.Pods) != 2 {
			t.Errorf("(-without the rest of the pods +read):\n%s", diff)
		}
		if want := "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"; accept != want {
			t.Errorf("accept: %s", accept)
		}
	})
	t.Run("they are not", func(t *testing.T) {
		got, want, _ := read(t, false, func(*apiServer) {})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-read as usual +read):\n%s", diff)
		}
	})
	t.Run("a server that gives something else: whole pods are read", func(t *testing.T) {
		got, _, accept := read(t, true, func(s *apiServer) {
			s.answer = func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
				if what != "pods" {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"apiVersion":"v1","kind":"PodList","items":[]}`)
				return true
			}
		})
		if got.Lacks(snapshot.Pods) || got.Lacks(snapshot.PodStatus) || strings.Contains(accept, "Partial") {
			t.Errorf("gaps: %v; accept %s", got.Gaps, accept)
		}
	})
	t.Run("a server that answers too late: nothing else is asked", func(t *testing.T) {
		asked := 0
		got, _, _ := read(t, true, func(s *apiServer) {
			s.answer = func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
				if what != "pods" {
					return false
				}
				asked++
				s.fail(w, http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "too late")
				return true
			}
		})
		if !got.Lacks(snapshot.Pods) || got.Lacks(snapshot.PodStatus) || asked != 1 {
			t.Errorf("gaps: %v after %d requests", got.Gaps, asked)
		}
	})
	t.Run("a pod without a namespace: the pods are a gap", func(t *testing.T) {
		got, _, _ := read(t, true, func(s *apiServer) {
			s.answer = func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
				if what != "pods" {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","items":[{"metadata":{"name":"p","labels":{"app":"agent"}}}]}`)
				return true
			}
		})
		if !got.Lacks(snapshot.Pods) {
			t.Errorf("gaps: %v", got.Gaps)
		}
	})
	t.Run("pages of two moments: they are metadata still", func(t *testing.T) {
		expired := false
		got, _, _ := read(t, true, func(s *apiServer) {
			text := "ds agent\n"
			for i := range 600 {
				text += fmt.Sprintf("pod p%03d app=agent owner=agent\n", i)
			}
			s.world = parseWorld(t, text)
			s.answer = func(s *apiServer, w http.ResponseWriter, what string, n int) bool {
				if what != "pods" || n != 2 {
					return false
				}
				expired = true
				s.expire(w, http.StatusGone, metav1.StatusReasonExpired, "expired", "from-0500")
				return true
			}
		})
		if !expired || !got.Lacks(snapshot.PodStatus) || !slices.ContainsFunc(got.Gaps, func(g snapshot.Gap) bool { return g.What == snapshot.Pods && g.Why == snapshot.Moved }) {
			t.Errorf("gaps: %v", got.Gaps)
		}
	})
}

// TestReadEach checks the number of DaemonSets that are read at a time. Those of a namespace are always read
// together.
func TestReadEach(t *testing.T) {
	for _, tt := range []struct {
		pods string // pods of each DaemonSet by its status; "|" separates namespaces
		want string
		why  string
	}{
		{"5 5|5|5 5", "5", "few pods"},
		{"4000 4000|2000|1", "3 1", "as many as may be held"},
		{"9000 9000|9000|9000", "2 1 1", "a namespace with more is read alone"},
		{"1|20000|1", "1 1 1", "as is one between small ones"},
		{"0", "1", "one"},
		{"", "", "none: it is not called"},
	} {
		text := "node n1\n"
		for i, namespace := range strings.Split(tt.pods, "|") {
			for j, pods := range strings.Fields(namespace) {
				text += fmt.Sprintf("ds d%d ns=ns%d current=%s\n", j, i, pods)
			}
		}
		c := newCluster(t, newAPIServer(t, parseWorld(t, text)))
		var got, names []string
		err := c.ReadEach(background, source.Filter{}, func(some []*snapshot.Snapshot) error {
			got = append(got, strconv.Itoa(len(some)))
			for _, s := range some {
				names = append(names, s.DaemonSet.Namespace+"/"+s.DaemonSet.Name)
			}
			return nil
		})
		if err != nil || strings.Join(got, " ") != tt.want || !slices.IsSorted(names) {
			t.Errorf("%s: %v, want %s (%s, %v)", tt.why, got, tt.want, names, err)
		}
	}
	stop := errors.New("enough")
	calls := 0
	err := newCluster(t, newAPIServer(t, parseWorld(t, "node n1\nds a ns=a current=9000\nds b ns=b current=9000\n"))).ReadEach(background, source.Filter{}, func([]*snapshot.Snapshot) error {
		calls++
		return stop
	})
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%v after %d calls, want the error of the first", err, calls)
	}
}

// TestParted checks that each DaemonSet gets the pods that it selects, in order.
func TestParted(t *testing.T) {
	set := func(name, selector string) object.Relation {
		s, err := labels.Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		return object.Relation{Ds: &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: name}}, Selector: s}
	}
	for _, tt := range []struct{ pods, want, why string }{
		{"1a 2b 3a 4c 5b 6a", "a: 1a 3a 6a, b: 2b 5b, c: 4c", "each selects its own"},
		{"1c 2b 3a", "a: 3a, b: 2b, c: 1c", "the other way round"},
		{"1a 2a", "a: 1a 2a, b:, c:", "one has all"},
		{"", "a:, b:, c:", "there is none"},
		{"1a 2ab 3b 4c", "a: 1a 2ab, b: 2ab 3b, c: 4c", "two select the same pod"},
	} {
		var pods []corev1.Pod
		for _, name := range strings.Fields(tt.pods) {
			p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
			for _, l := range name[1:] {
				p.Labels[string(l)] = ""
			}
			pods = append(pods, p)
		}
		of := cluster.PartitionPods(pods, []object.Relation{set("a", "a"), set("b", "b"), set("c", "c")})
		var got []string
		for _, name := range []string{"a", "b", "c"} {
			words := name + ":"
			for _, p := range of[name] {
				words += " " + p.Name
			}
			got = append(got, words)
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, strings.Join(got, ", "), tt.want)
		}
	}
}

// TestReadAllReadsPodsOnce checks the number of requests for the pods of a namespace. It has several DaemonSets with
// one pod each, and pods of other owners. The result does not depend on the number of requests.
func TestReadAllReadsPodsOnce(t *testing.T) {
	for _, tt := range []struct {
		daemonSets, others int
		want               int // requests for pods
		why                string
	}{
		{1, 10, 1, "one DaemonSet: its own pods"},
		{2, 10, 1, "two: those of the namespace, once"},
		{3, 600, 2, "two pages of it"},
		{2, 2600, 3, "most pods are others': its first page tells, and then each DaemonSet's own are read"},
	} {
		text := "node n1\n"
		for i := range tt.daemonSets {
			text += fmt.Sprintf("ds d%d\npod p%d app=d%d\n", i, i, i)
		}
		for i := range tt.others {
			text += fmt.Sprintf("pod other%d app=web\n", i)
		}
		s := newAPIServer(t, parseWorld(t, text))
		c := newCluster(t, s)
		all, err := c.ReadAll(background, source.Filter{})
		must(t, err)
		if got := s.asked()["pods"]; got != tt.want {
			t.Errorf("%s: %d requests, want %d", tt.why, got, tt.want)
		}
		for _, snap := range all {
			one, err := c.Read(background, source.Ref{Namespace: snap.DaemonSet.Namespace, Name: snap.DaemonSet.Name})
			must(t, err)
			if diff := cmp.Diff(one, snap); diff != "" {
				t.Errorf("%s: one by one, and all at once:\n%s", tt.why, diff)
			}
		}
	}
}

func TestReadAllOfNothingAsksForNothing(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, "ds agent\nnodes 12"))
	all, err := newCluster(t, s).ReadAll(background, source.Filter{Namespace: "empty"})
	if err != nil || len(all) != 0 {
		t.Fatal(all, err)
	}
	if diff := cmp.Diff(map[string]int{"daemonsets": 1}, s.asked()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// cut truncates the response.
func cut(w http.ResponseWriter) bool {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	fmt.Fprint(w, `{"kind":"NodeList","items":[`)
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func TestGaps(t *testing.T) {
	forbid := func(what string) func(*apiServer, http.ResponseWriter, string, int) bool {
		return func(s *apiServer, w http.ResponseWriter, asked string, _ int) bool {
			return asked == what && s.forbid(w, what)
		}
	}
	forbidden := func(what snapshot.What) []snapshot.Gap {
		return []snapshot.Gap{{What: what, Why: snapshot.Forbidden, Message: string(what) + ` is forbidden: User "jane" cannot do that`}}
	}
	whole := outline{"kube-system/agent", "n0 n1", "p1 p2", "r1", "e1 e2"}
	for _, tt := range []struct {
		answer func(*apiServer, http.ResponseWriter, string, int) bool
		want   outline
		gaps   []snapshot.Gap
		why    string
	}{
		{
			nil, whole, nil, "what may be read is there, with no gap",
		},
		{
			forbid("nodes"), outline{"kube-system/agent", "", "p1 p2", "r1", "e1 e2"},
			forbidden(snapshot.Nodes), "without the right to list nodes, all else is there",
		},
		{
			forbid("pods"), outline{"kube-system/agent", "n0 n1", "", "r1", "e1"},
			forbidden(snapshot.Pods), "without pods there are no events of pods",
		},
		{
			forbid("controllerrevisions"), outline{"kube-system/agent", "n0 n1", "p1 p2", "", "e1 e2"},
			forbidden(snapshot.Revisions), "revisions may be refused",
		},
		{
			forbid("events"), outline{"kube-system/agent", "n0 n1", "p1 p2", "r1", ""},
			forbidden(snapshot.Events), "two lists of events make one gap",
		},
		{
			forbid("poddisruptionbudgets"), whole, forbidden(snapshot.PodDisruptionBudgets), "so may PodDisruptionBudgets",
		},
		{
			forbid("version"), whole, forbidden(snapshot.Version), "the version may be refused",
		},
		{
			func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
				if what == "version" {
					fmt.Fprint(w, "<html>\nplease log in\n</html>")
				}
				return what == "version"
			},
			whole, []snapshot.Gap{{What: snapshot.Version, Why: snapshot.Failed, Message: "the answer is a web page: 200 OK"}},
			"a version that is none",
		},
		{
			func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
				if what == "version" {
					fmt.Fprint(w, "{}")
				}
				return what == "version"
			},
			whole, []snapshot.Gap{{What: snapshot.Version, Why: snapshot.Failed, Message: "the server's /version has no gitVersion"}},
			"a version that is empty",
		},
		{
			func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
				if what == "nodes" {
					s.fail(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "etcdserver:\n  no leader")
				}
				return what == "nodes"
			},
			outline{"kube-system/agent", "", "p1 p2", "r1", "e1 e2"},
			[]snapshot.Gap{{What: snapshot.Nodes, Why: snapshot.Failed, Message: "etcdserver: no leader"}},
			"an error of the server is one line of the gap",
		},
		{
			func(_ *apiServer, w http.ResponseWriter, what string, _ int) bool { return what == "nodes" && cut(w) },
			outline{"kube-system/agent", "", "p1 p2", "r1", "e1 e2"},
			[]snapshot.Gap{{What: snapshot.Nodes, Why: snapshot.Failed, Message: "the connection was closed before the end of the answer"}},
			"a connection that ends in the middle is a gap while the server is there",
		},
		{
			func(s *apiServer, _ http.ResponseWriter, _ string, _ int) bool { s.date = nil; return false },
			whole, []snapshot.Gap{{What: snapshot.Clock, Why: snapshot.NotGiven, Message: "the server's answers carry no Date: this machine's clock is used"}},
			"no Date",
		},
		{
			func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
				if slices.Contains([]string{"nodes", "pods", "controllerrevisions", "events", "poddisruptionbudgets", "version"}, what) {
					return s.forbid(w, what)
				}
				return false
			},
			outline{DaemonSet: "kube-system/agent"},
			slices.Concat(forbidden(snapshot.Nodes), forbidden(snapshot.Pods), forbidden(snapshot.Revisions), forbidden(snapshot.Events), forbidden(snapshot.PodDisruptionBudgets), forbidden(snapshot.Version)),
			"who may read one DaemonSet and no more has a Snapshot, and the gaps are in their order",
		},
		{
			func(s *apiServer, w http.ResponseWriter, what string, n int) bool {
				return what == "daemonset" && n == 2 && s.forbid(w, "daemonset")
			},
			whole, []snapshot.Gap{
				{What: snapshot.Pods, Why: snapshot.Moved, Message: `the daemonset could not be read again at the end: daemonset is forbidden: User "jane" cannot do that`},
				{What: snapshot.Revisions, Why: snapshot.Moved, Message: `the daemonset could not be read again at the end: daemonset is forbidden: User "jane" cannot do that`},
			},
			"a DaemonSet that is refused only at the end was read nevertheless",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			w := parseWorld(t, strings.Replace(small, "nodes 12", "node n0\nnode n1", 1))
			s := newAPIServer(t, w)
			s.answer = tt.answer
			got, err := newCluster(t, s).Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, outlineOf(got)); diff != "" {
				t.Errorf("snapshot (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.gaps, got.Gaps); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
			if err := snapshot.Validate(got); err != nil {
				t.Error(err)
			}

			s = newAPIServer(t, w)
			s.answer = tt.answer
			all, err := newCluster(t, s).ReadAll(background, source.Filter{Namespace: "kube-system"})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(tt.why, "only at the end") {
				return // ReadAll reads the DaemonSet only once
			}
			if diff := cmp.Diff([]*snapshot.Snapshot{got}, all, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("ReadAll differs (-Read +ReadAll):\n%s", diff)
			}
		})
	}
}

func TestClock(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, small))
	at := noon
	s.date = func() time.Time { at = at.Add(time.Second); return at }
	got, err := newCluster(t, s).Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	if want := noon.Add(9 * time.Second); !got.TakenAt.Equal(want) || got.TakenAt.Location() != time.UTC {
		t.Errorf("taken at %v, want %v: the Date of the last of 9 answers", got.TakenAt, want)
	}
	s.date = nil
	if got, err = newCluster(t, s).Read(background, agent); err != nil {
		t.Fatal(err)
	}
	if want := noon.AddDate(1, 0, 0); !got.TakenAt.Equal(want) {
		t.Errorf("taken at %v, want %v: this machine's clock", got.TakenAt, want)
	}
}

func TestGenerationMoves(t *testing.T) {
	for _, tt := range []struct {
		moves int // number of reads of the DaemonSet that return a new generation
		reads int // number of reads of the pods
		gaps  []snapshot.Gap
		why   string
	}{
		{0, 1, nil, "a DaemonSet that stays is read once"},
		{1, 2, nil, "one that moved is taken again"},
		{2, 3, nil, "and once more"},
		{99, 3, cluster.Moved("the DaemonSet changed during each of 3 reads, from generation 1 to 4"), "in the end what there is will do"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			for _, all := range []bool{false, true} {
				s := newAPIServer(t, parseWorld(t, small))
				moves := 0
				s.answer = func(s *apiServer, _ http.ResponseWriter, what string, n int) bool {
					if what == "daemonset" && (all || n > 1) && moves < tt.moves {
						moves++
						s.daemonSetOf("agent").Generation++
					}
					return false
				}
				var got *snapshot.Snapshot
				c := newCluster(t, s)
				if all {
					list, err := c.ReadAll(background, source.Filter{})
					if err != nil {
						t.Fatal(err)
					}
					got = list[0]
				} else {
					var err error
					if got, err = c.Read(background, agent); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(tt.gaps, got.Gaps); diff != "" {
					t.Errorf("gaps (-want +got):\n%s", diff)
				}
				asked := s.asked()
				if asked["pods"] != tt.reads || asked["controllerrevisions"] != tt.reads {
					t.Errorf("read %v, want %d times", asked, tt.reads)
				}
				if want := s.daemonSetOf("agent").Generation; got.DaemonSet.Generation != want {
					t.Errorf("generation %d, want the newest, %d", got.DaemonSet.Generation, want)
				}
				if want := "e1 e2"; outlineOf(got).Events != want {
					t.Errorf("events %q, want %q", outlineOf(got).Events, want)
				}
				if all && asked["nodes"] != 1 {
					t.Errorf("nodes read %d times", asked["nodes"])
				}
			}
		})
	}
}

func TestStatusOfTheLastReading(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, small))
	s.answer = func(s *apiServer, _ http.ResponseWriter, what string, n int) bool {
		if what == "daemonset" && n == 2 {
			s.daemonSetOf("agent").Status.NumberReady = 7
		}
		return false
	}
	got, err := newCluster(t, s).Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	if got.DaemonSet.Status.NumberReady != 7 || s.asked()["pods"] != 1 {
		t.Errorf("ready %d, pods read %d times; want the newest status, and no second try for it", got.DaemonSet.Status.NumberReady, s.asked()["pods"])
	}
}

func TestDeletedMeanwhile(t *testing.T) {
	remove := func(s *apiServer, _ http.ResponseWriter, what string, n int) bool {
		if what == "pods" {
			s.world = slices.Clone(s.world)[1:]
		}
		return false
	}
	s := newAPIServer(t, parseWorld(t, small))
	s.answer = remove
	if _, err := newCluster(t, s).Read(background, agent); !errors.As(err, new(*source.NotFoundError)) {
		t.Errorf("Read: %v, want that it is gone", err)
	}
	s = newAPIServer(t, parseWorld(t, small))
	s.answer = remove
	if all, err := newCluster(t, s).ReadAll(background, source.Filter{}); err != nil || len(all) != 0 {
		t.Errorf("ReadAll: %v, %v, want nothing", all, err)
	}
}

func TestRecreatedMeanwhile(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, small))
	s.answer = func(s *apiServer, _ http.ResponseWriter, what string, n int) bool {
		if what == "daemonset" && n == 2 {
			s.daemonSetOf("agent").UID = "another"
		}
		return false
	}
	got, err := newCluster(t, s).Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	if got.DaemonSet.UID != "another" || s.asked()["pods"] != 2 {
		t.Errorf("UID %s, pods read %d times; want the new DaemonSet, read anew", got.DaemonSet.UID, s.asked()["pods"])
	}
}

func TestExpiredPages(t *testing.T) {
	// nodes 1200 makes three pages. n counts the requests for nodes.
	type expire struct {
		at    int
		token string
	}
	for _, tt := range []struct {
		expire []expire
		insert int // the request before which a node is inserted at the start of the list
		nodes  int
		asked  int
		gap    string // message of the gap for nodes
		why    snapshot.Why
		name   string
	}{
		{nil, 0, 1200, 3, "", "", "three pages"},
		{[]expire{{2, ""}}, 0, 1200, 5, "", "", "without a token to go on with, the list starts anew and is of one moment"},
		{[]expire{{3, "from-500"}}, 0, 1200, 5, "page 3 was read later than the pages before it, because their token had expired", snapshot.Moved, "a token that goes over old ground gives nothing twice"},
		{[]expire{{3, "from-01000"}}, 0, 1200, 4, "page 3 was read later than the pages before it, because their token had expired", snapshot.Moved, "a token is taken, and said"},
		{[]expire{{1, "from-500"}}, 0, 0, 1, "expired", snapshot.Failed, "a list that expires before it began has failed"},
		{[]expire{{2, ""}, {4, ""}, {6, ""}, {8, ""}, {10, ""}, {12, ""}}, 0, 0, 12, "its pages expired 6 times while they were read: expired", snapshot.Failed, "there is an end to it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newAPIServer(t, parseWorld(t, "ds agent\nnodes 1200"))
			s.answer = func(s *apiServer, w http.ResponseWriter, what string, n int) bool {
				for _, e := range tt.expire {
					if what == "nodes" && n == e.at {
						s.expire(w, http.StatusGone, metav1.StatusReasonExpired, "expired", e.token)
						return true
					}
				}
				return false
			}
			got, err := newCluster(t, s).Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]bool{}
			for i := range got.Nodes {
				names[got.Nodes[i].Name] = true
			}
			if len(got.Nodes) != tt.nodes || len(names) != tt.nodes {
				t.Errorf("%d nodes, %d different, want %d", len(got.Nodes), len(names), tt.nodes)
			}
			if n := s.asked()["nodes"]; n != tt.asked {
				t.Errorf("%d requests, want %d", n, tt.asked)
			}
			var gaps []snapshot.Gap
			if tt.gap != "" {
				gaps = []snapshot.Gap{{What: snapshot.Nodes, Why: tt.why, Message: tt.gap}}
			}
			if diff := cmp.Diff(gaps, got.Gaps); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
			if got.Lacks(snapshot.Nodes) != (tt.nodes == 0) {
				t.Errorf("lacks nodes: %v", got.Lacks(snapshot.Nodes))
			}
		})
	}
}

// named returns a page of nodes with these names. next is the continue token.
func named(next string, names ...string) *corev1.NodeList {
	l := &corev1.NodeList{ListMeta: metav1.ListMeta{Continue: next}}
	for _, name := range names {
		l.Items = append(l.Items, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return l
}

func TestLastOfEach(t *testing.T) {
	all := named("", "a", "b", "a", "c", "b").Items
	for i := range all {
		all[i].ResourceVersion = strconv.Itoa(i)
	}
	var got []string
	for _, n := range cluster.LastOfEach(all, object.KeyOf[corev1.Node]) {
		got = append(got, n.Name+n.ResourceVersion)
	}
	if diff := cmp.Diff([]string{"a2", "c3", "b4"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// plenty allows more than any test reads.
var plenty = &api.Allowance{Most: source.DefaultMaxInput, Page: cluster.DefaultPage}

func TestPagesAreStrippedAsTheyArrive(t *testing.T) {
	pages := map[string]*corev1.NodeList{"": named("2", "a", "b"), "2": named("", "c")}
	for _, p := range pages {
		for i := range p.Items {
			p.Items[i].Annotations = map[string]string{"large": "text"}
		}
	}
	got, _, err := cluster.ReadPages(background, plenty, metav1.ListOptions{},
		func(_ context.Context, o metav1.ListOptions, each func(*corev1.Node) error) (metav1.ListMeta, error) {
			page := pages[o.Continue]
			for i := range page.Items {
				if i > 0 && page.Items[i-1].Annotations != nil {
					t.Error("an object is held whole while the next is read")
				}
				if err := each(&page.Items[i]); err != nil {
					return metav1.ListMeta{}, err
				}
			}
			return page.ListMeta, nil
		}, func(o metav1.Object) bool { return o.GetName() != "b" })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(named("", "a", "c").Items, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPagesWithoutAWay checks that a list is incomplete if the server says that it has more objects, but returns no
// continue token or the same token again.
func TestPagesWithoutAWay(t *testing.T) {
	left := int64(7)
	short := named("", "a")
	short.RemainingItemCount = &left
	for want, page := range map[string]*corev1.NodeList{
		"the server's pages do not advance":                                       named("x", "a"),
		"the server announces 7 more objects, but gives no token to request them": short,
	} {
		_, _, err := cluster.ReadPages(background, plenty, metav1.ListOptions{}, func(context.Context, metav1.ListOptions, func(*corev1.Node) error) (metav1.ListMeta, error) {
			return page.ListMeta, nil
		}, nil)
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestNoAnswer(t *testing.T) {
	refuse := func(what string, code int, reason metav1.StatusReason) func(*apiServer, http.ResponseWriter, string, int) bool {
		return func(s *apiServer, w http.ResponseWriter, asked string, _ int) bool {
			if asked == what {
				s.fail(w, code, reason, "no:\n  because of jane")
			}
			return asked == what
		}
	}
	for _, tt := range []struct {
		answer func(*apiServer, http.ResponseWriter, string, int) bool
		want   string // SERVER is replaced by the server's address
		hint   string
		why    string
	}{
		{refuse("daemonset", http.StatusForbidden, metav1.StatusReasonForbidden), "daemonset kube-system/agent: no: because of jane", "kubectl auth can-i get daemonsets.apps -n kube-system", "the DaemonSet may not be read"},
		{refuse("daemonset", http.StatusUnauthorized, metav1.StatusReasonUnauthorized), "the cluster at SERVER requires credentials, and none were sent: no: because of jane", "kubectl config get-users, then --user USER or --token TOKEN", "the user is unknown"},
		{refuse("nodes", http.StatusUnauthorized, metav1.StatusReasonUnauthorized), "the cluster at SERVER requires credentials, and none were sent: no: because of jane", "kubectl config get-users, then --user USER or --token TOKEN", "the token ran out in the middle"},
		{refuse("version", http.StatusUnauthorized, metav1.StatusReasonUnauthorized), "the cluster at SERVER requires credentials, and none were sent: no: because of jane", "kubectl config get-users, then --user USER or --token TOKEN", "the token ran out at the version"},
		{
			func(s *apiServer, w http.ResponseWriter, what string, n int) bool {
				if what == "daemonset" && n == 2 {
					s.fail(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "no")
					return true
				}
				return false
			},
			"the cluster at SERVER requires credentials, and none were sent: no", "kubectl config get-users, then --user USER or --token TOKEN", "the token ran out at the end",
		},
		{refuse("daemonset", http.StatusInternalServerError, metav1.StatusReasonInternalError), "daemonset kube-system/agent: no: because of jane", "kubectl get --raw '/readyz?verbose'", "the server is ill"},
		{
			func(_ *apiServer, w http.ResponseWriter, what string, _ int) bool {
				http.Error(w, "nothing here", http.StatusNotFound)
				return true
			},
			"daemonset kube-system/agent: the server at SERVER has no such API: the server could not find the requested resource (get daemonsets.apps agent)", "kubectl cluster-info (is this an API server? its address may lack a path)", "a server that is not Kubernetes does not say that the DaemonSet is missing",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := newAPIServer(t, parseWorld(t, small))
			s.answer = tt.answer
			_, err := newCluster(t, s).Read(background, agent)
			e := (*source.RequestError)(nil)
			if !errors.As(err, &e) {
				t.Fatalf("%T %v", err, err)
			}
			if want := strings.ReplaceAll(tt.want, "SERVER", s.URL); err.Error() != want {
				t.Errorf("%q, want %q", err, want)
			}
			if e.Hint() != tt.hint {
				t.Errorf("hint %q, want %q", e.Hint(), tt.hint)
			}
		})
	}
}

func TestListOfDaemonSetsForbidden(t *testing.T) {
	for _, tt := range []struct{ namespace, want, hint string }{
		{"", `daemonsets of all namespaces: daemonsets is forbidden: User "jane" cannot do that`, "kubectl auth can-i list daemonsets.apps -A"},
		{"apps", `daemonsets of namespace apps: daemonsets is forbidden: User "jane" cannot do that`, "kubectl auth can-i list daemonsets.apps -n apps"},
	} {
		s := newAPIServer(t, nil)
		s.answer = func(s *apiServer, w http.ResponseWriter, what string, _ int) bool { return s.forbid(w, what) }
		_, err := newCluster(t, s).ReadAll(background, source.Filter{Namespace: tt.namespace})
		e := (*source.RequestError)(nil)
		if !errors.As(err, &e) || err.Error() != tt.want || e.Hint() != tt.hint {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

func TestNotFoundWhenNothingMayBeListed(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, "ds agent"))
	s.answer = func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
		return what == "daemonsets" && s.forbid(w, what)
	}
	_, err := newCluster(t, s).Read(background, source.Ref{Namespace: "kube-system", Name: "agents"})
	if diff := cmp.Diff(&source.NotFoundError{Ref: source.Ref{Namespace: "kube-system", Name: "agents"}}, err); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(nil)
	host := strings.TrimPrefix(s.URL, "http://")
	s.Close()
	c, err := cluster.NewCluster(&rest.Config{Host: "http://jane:secret@" + host + "/path"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func() error{
		"Read":       func() error { _, err := c.Read(background, agent); return err },
		"ReadAll":    func() error { _, err := c.ReadAll(background, source.Filter{}); return err },
		"DaemonSets": func() error { _, err := c.DaemonSets(background, ""); return err },
		"Nodes":      func() error { _, err := c.Nodes(background); return err },
	} {
		err := ask()
		e := (*api.UnreachableError)(nil)
		if !errors.As(err, &e) {
			t.Fatalf("%s: %T %v", name, err, err)
		}
		want := "no answer from the cluster at http://" + host + "/path: connection refused"
		if err.Error() != want {
			t.Errorf("%s: %q, want %q", name, err, want)
		}
	}
}

// TestUnreachableInWords checks that an error without a response has a plain cause, without the messages of Go's
// layers.
func TestUnreachableInWords(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, tt := range []struct {
		err       error
		want, why string
	}{
		{dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "connection refused", "nobody listens"},
		{dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), "no route to host", "nobody is there"},
		{dial(os.NewSyscallError("connect", syscall.ETIMEDOUT)), "connection timed out", "the system gave up"},
		{dial(&net.DNSError{Err: "no such host", Name: "api.example", Server: "10.0.0.1:53", IsNotFound: true}), "no such host api.example", "a name that nobody knows"},
		{&url.Error{Op: "Get", URL: "https://h", Err: context.DeadlineExceeded}, "the time for the request is over", "--request-timeout"},
		{dial(os.ErrDeadlineExceeded), "the time for the request is over", "a deadline of the connection"},
		{errors.New("client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context deadline - error from a previous attempt: EOF"), "the time for the request is over", "no time for a retry"},
		{&url.Error{Op: "Get", URL: "https://h", Err: io.EOF}, "the connection was closed", "a connection that ends"},
		{http2.StreamError{StreamID: 5, Code: http2.ErrCodeInternal}, "the connection was closed", "a stream of HTTP/2 that ends"},
		{errors.New("http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=\"\""), "the connection was closed", "a connection of HTTP/2 that ends"},
		{errors.New(`net/http: HTTP/1.x transport connection broken: malformed HTTP response "SSH-2.0-OpenSSH_9.2"`), "the answer is not HTTP", "another server"},
		{errors.New("tls: failed to verify certificate: x509: certificate signed by unknown authority"), "tls: failed to verify certificate: x509: certificate signed by unknown authority", "any other words stay"},
	} {
		e := &api.UnreachableError{Server: "https://h", Err: tt.err}
		if want := "no answer from the cluster at https://h: " + tt.want; e.Error() != want {
			t.Errorf("%s: %q, want %q", tt.why, e, want)
		}
	}
}

// TestNoTimeForARetry checks that client-go's own message about a retry is not reported as the server's.
func TestNoTimeForARetry(t *testing.T) {
	c := newCluster(t, newAPIServer(t, nil))
	err := c.Refused(background, "daemonset kube-system/agent", "", errors.New("client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context deadline - error from a previous attempt: EOF"))
	if want := "no answer from the cluster at " + c.Server + ": the time for the request is over"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// warnings counts the warnings from client-go.
type warnings int

func (n *warnings) HandleWarningHeader(int, string, string) { *n++ }

func TestNothingIsLogged(t *testing.T) {
	var log bytes.Buffer
	klog.LogToStderr(false)
	klog.SetOutput(&log)
	defer klog.LogToStderr(true)

	s := newAPIServer(t, parseWorld(t, small))
	s.answer = func(_ *apiServer, w http.ResponseWriter, what string, _ int) bool {
		w.Header().Set("Warning", `299 - "this is old"`)
		return what == "nodes" && cut(w)
	}
	n := new(warnings)
	c, err := cluster.NewCluster(&rest.Config{Host: s.URL, WarningHandler: n}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(background, agent); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadAll(background, source.Filter{}); err != nil {
		t.Fatal(err)
	}
	klog.Flush()
	if log.Len() > 0 || *n > 0 {
		t.Errorf("%d warnings, and logged:\n%s", *n, &log)
	}
}

func TestAGapIsOnlyForWhomItConcerns(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, "node n\nds ill\nds well\npod p1 app=ill\npod p2 app=well ready"))
	s.answer = func(s *apiServer, w http.ResponseWriter, what string, n int) bool {
		return what == "events" && n == 2 && s.forbid(w, what)
	}
	all, err := newCluster(t, s).ReadAll(background, source.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if !all[0].Lacks(snapshot.Events) || len(all[1].Gaps) > 0 {
		t.Errorf("gaps %v and %v, want one for the DaemonSet whose pod is not ready", all[0].Gaps, all[1].Gaps)
	}
}

func TestServerLeavesInTheMiddle(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, small))
	c := newCluster(t, s)
	s.answer = func(s *apiServer, w http.ResponseWriter, what string, n int) bool {
		if what == "daemonset" && n == 2 {
			return cut(w)
		}
		return what == "nodes" && cut(w)
	}
	if got, err := c.Read(background, agent); err == nil {
		t.Errorf("a Snapshot with %v, want an error: nobody is there at the end", got.Gaps)
	}
}

func TestCancelled(t *testing.T) {
	for _, at := range []string{"daemonset", "version", "nodes", "pods", "events", "daemonsets"} {
		ctx, cancel := context.WithCancel(background)
		s := newAPIServer(t, parseWorld(t, small))
		s.answer = func(_ *apiServer, _ http.ResponseWriter, what string, _ int) bool {
			if what == at {
				cancel()
			}
			return false
		}
		c := newCluster(t, s)
		var err error
		if at == "daemonsets" {
			_, err = c.ReadAll(ctx, source.Filter{})
		} else {
			_, err = c.Read(ctx, agent)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("at %s: %v, want that it was canceled", at, err)
		}
		cancel()
	}
}

func TestConfigIsNotChanged(t *testing.T) {
	config := &rest.Config{Host: "https://example.invalid"}
	if _, err := cluster.NewCluster(config, nil); err != nil {
		t.Fatal(err)
	}
	before := rest.Config{Host: "https://example.invalid"}
	if diff := cmp.Diff(before.String(), config.String()); diff != "" || config.WrapTransport != nil || config.QPS != 0 {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestAddress(t *testing.T) {
	for _, tt := range []struct{ host, want, why string }{
		{"https://10.0.0.1:6443", "https://10.0.0.1:6443", "an address is shown"},
		{"https://10.0.0.1:6443/k8s/clusters/c-1/", "https://10.0.0.1:6443/k8s/clusters/c-1", "with its path"},
		{"https://jane:secret@10.0.0.1", "https://10.0.0.1", "without a password"},
		{"https://10.0.0.1?token=secret", "https://10.0.0.1", "without a query"},
		{"localhost:8080", "localhost:8080", "a bare host stays"},
		{"jane:secret@localhost:8080", "localhost:8080", "a bare host loses its password"},
	} {
		if got := api.ServerURL(tt.host); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

func TestTroubled(t *testing.T) {
	for _, tt := range []struct {
		pod  string
		want bool
		why  string
	}{
		{"pod p ready", false, "a ready pod needs no words"},
		{"pod p", true, "a pod that is not ready does"},
		{"pod p ready ending", true, "so does one that ends"},
	} {
		whose := object.TroubledOf([]corev1.Pod{*parseWorld(t, tt.pod)[0].(*corev1.Pod)})
		if len(whose) == 1 != tt.want {
			t.Errorf("%s: %v", tt.why, whose)
		}
	}
}

func TestRelation(t *testing.T) {
	ds := parseWorld(t, "ds agent")[0].(*appsv1.DaemonSet)
	r, err := object.Relate(ds)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		event string
		want  bool
		why   string
	}{
		{"event e about=DaemonSet/agent", true, "its own"},
		{"event e about=DaemonSet/b aboutuid=uid-of-ds-agent", false, "another name"},
		{"event e about=Pod/agent aboutuid=uid-of-ds-agent", false, "another kind"},
		{"event e about=DaemonSet/agent ns=default", false, "another namespace"},
		{"event e about=DaemonSet/agent aboutuid=other", false, "another UID"},
	} {
		if got := r.Concerns(parseWorld(t, tt.event)[0].(*corev1.Event)); got != tt.want {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
	for _, tt := range []struct {
		uid, rev string
		want     bool
		why      string
	}{
		{"uid-of-ds-agent", "rev r app=agent owner=agent", true, "its own"},
		{"uid-of-ds-agent", "rev r app=agent", true, "nobody's, with its labels"},
		{"uid-of-ds-agent", "rev r", false, "nobody's, without them"},
		{"uid-of-ds-agent", "rev r app=agent owner=b", false, "somebody else's"},
		{"new", "rev r app=agent owner=agent", false, "of one of the same name before it"},
		{"", "rev r app=agent owner=agent", true, "without a UID the name tells"},
		{"", "rev r app=agent owner=b", false, "which is another's"},
		{"uid-of-ds-agent", "rev r app=agent ns=default", false, "of another namespace"},
	} {
		ds.UID = types.UID(tt.uid)
		rev := parseWorld(t, tt.rev)[0].(*appsv1.ControllerRevision)
		if got := r.Owns(&rev.ObjectMeta); got != tt.want {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
	rev := parseWorld(t, "rev r app=agent owner=agent")[0].(*appsv1.ControllerRevision)
	rev.OwnerReferences[0].Kind = "StatefulSet"
	if ds.UID = ""; r.Owns(&rev.ObjectMeta) {
		t.Error("a StatefulSet of the same name is taken for it")
	}
	ds.UID = "uid-of-ds-agent"
	pod := parseWorld(t, "pod p owner=agent")[0].(*corev1.Pod)
	if !r.Takes(&pod.ObjectMeta) {
		t.Error("an owned pod is not taken")
	}
	ds.UID, pod.OwnerReferences[0].UID = "", ""
	if r.Takes(&pod.ObjectMeta) {
		t.Error("no UID is taken for the same UID")
	}
}

// TestWarnings checks that each warning of the server is reported once, and that no listener is needed.
func TestWarnings(t *testing.T) {
	for _, listens := range []bool{true, false} {
		s := newAPIServer(t, parseWorld(t, small))
		s.answer = func(_ *apiServer, w http.ResponseWriter, what string, _ int) bool {
			w.Header().Add("Warning", `299 - "v1 of this is deprecated"`)
			if what == "nodes" {
				w.Header().Add("Warning", `299 - "nodes are slow today"`)
			}
			return false
		}
		c := newCluster(t, s)
		var got []string
		if listens {
			c.OnWarning(func(w string) { got = append(got, w) })
		}
		if _, err := c.Read(background, source.Ref{Namespace: "kube-system", Name: "agent"}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		want := []string{"nodes are slow today", "v1 of this is deprecated"}
		if listens && !slices.Equal(got, want) || !listens && got != nil {
			t.Errorf("told %q, want %q", got, want)
		}
	}
}
