package source_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// listKinds maps the lists that a Cluster reads to their kinds.
var listKinds = map[snapshot.What]metav1.TypeMeta{
	snapshot.Nodes: {APIVersion: "v1", Kind: "NodeList"}, snapshot.Pods: {APIVersion: "v1", Kind: "PodList"}, snapshot.Events: {APIVersion: "v1", Kind: "EventList"},
	snapshot.Revisions: {APIVersion: "apps/v1", Kind: "ControllerRevisionList"}, snapshot.PodDisruptionBudgets: {APIVersion: "policy/v1", Kind: "PodDisruptionBudgetList"},
}

// TestUnusableLists checks that a wrong response for a list is a Gap, and not an empty list.
func TestUnusableLists(t *testing.T) {
	for _, tt := range []struct {
		body string // K and V are replaced by the requested kind and version
		want string
		why  string
	}{
		{`{}`, "unusable answer: it has no kind, but a K was requested", "nothing"},
		{`null`, "unusable answer: it has no kind, but a K was requested", "null"},
		{`{"items":[]}`, "unusable answer: it has no kind, but a K was requested", "a list of who knows what"},
		{`{"kind":"K","apiVersion":"V","metadata":{"resourceVersion":"7"}}`, "unusable answer: items: must be a list, not nothing", "no items"},
		{`{"kind":"K","apiVersion":"V","metadata":{"resourceVersion":"7"},"items":null}`, "unusable answer: items: must be a list, not null", "items of null"},
		{`{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{},"items":[]}`, "unusable answer: it is a DeploymentList, but a K was requested", "another list"},
		{`{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}`, "unusable answer: it is a Table, but a K was requested", "a table"},
		{`{"kind":"Status","apiVersion":"v1","status":"Success"}`, "unusable answer: it is a Status, but a K was requested", "a success"},
		{`{"kind":"K","apiVersion":"V","items":[{}]}`, "unusable answer: items[0].metadata.name: missing", "an item of nothing"},
		{`{"kind":"K","apiVersion":"V","items":[{"metadata":{"labels":{"app":"agent"}}}]}`, "unusable answer: items[0].metadata.name: missing", "an item without a name"},
		{`{"kind":"K","apiVersion":"V","items":{}}`, "", "items that are no list"},
		{`[]`, "", "an array"},
		{`<html>`, "", "a page of a proxy"},
		{"", "", "an empty body"},
		{"k8s\x00", "unusable answer: it has no kind, but a K was requested", "nothing, in protobuf"},
	} {
		for what, list := range listKinds {
			t.Run(tt.why+"/"+string(what), func(t *testing.T) {
				s := newAPIServer(t, parseWorld(t, small))
				s.answer = func(_ *apiServer, w http.ResponseWriter, asked string, _ int) bool {
					if asked != string(what) {
						return false
					}
					w.Header().Set("Content-Type", runtime.ContentTypeJSON)
					if strings.HasPrefix(tt.body, "k8s") {
						w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
					}
					fmt.Fprint(w, strings.NewReplacer(`"K"`, `"`+list.Kind+`"`, `"V"`, `"`+list.APIVersion+`"`).Replace(tt.body))
					return true
				}
				c := newCluster(t, s)
				got, err := c.Read(background, agent)
				if err != nil {
					t.Fatal(err)
				}
				i := slices.IndexFunc(got.Gaps, func(g snapshot.Gap) bool { return g.What == what && g.Why == snapshot.Failed })
				want := strings.ReplaceAll(tt.want, "a K was", "a "+list.Kind+" was")
				if i < 0 || len(got.Gaps) != 1 || !strings.HasPrefix(got.Gaps[i].Message, want) {
					t.Errorf("gaps %v, want one: %s", got.Gaps, want)
				}
				all, err := c.ReadAll(background, source.Filter{})
				if err != nil || len(all) != 1 || !all[0].Lacks(what) {
					t.Errorf("of all: %v, %v", all, err)
				}
			})
		}
	}
}

// TestUnusableDaemonSets checks that Read returns an error if the DaemonSet cannot be read.
func TestUnusableDaemonSets(t *testing.T) {
	const obj = `{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"NAME","namespace":"NS"},"spec":SPEC}`
	one := func(name, ns, spec string) string {
		return strings.NewReplacer("NAME", name, "NS", ns, "SPEC", spec).Replace(obj)
	}
	const selects = `{"selector":{"matchLabels":{"app":"agent"}}}`
	for _, tt := range []struct{ asked, body, want, why string }{
		{"daemonset", `{}`, "daemonset kube-system/agent: unusable answer: it has no kind, but a DaemonSet was requested", "nothing"},
		{"daemonset", `null`, "daemonset kube-system/agent: unusable answer: it has no kind, but a DaemonSet was requested", "null"},
		{"daemonset", strings.Replace(one("agent", "kube-system", selects), "DaemonSet", "Deployment", 1), "daemonset kube-system/agent: unusable answer: it is a Deployment, but a DaemonSet was requested", "another kind"},
		{"daemonset", one("agent", "kube-system", "{}"), "daemonset kube-system/agent: unusable answer: spec.selector: missing", "no selector"},
		{"daemonset", one("other", "kube-system", selects), "daemonset kube-system/agent: unusable answer: daemonset kube-system/other", "another one"},
		{"daemonset", one("agent", "default", selects), "daemonset kube-system/agent: unusable answer: daemonset default/agent", "one of another namespace"},
		{"daemonset", one("", "kube-system", selects), "daemonset kube-system/agent: unusable answer: metadata.name: missing", "no name"},
		{"daemonsets", `{}`, "daemonsets of all namespaces: unusable answer: it has no kind, but a DaemonSetList was requested", "a list of nothing"},
		{"daemonsets", `{"kind":"DaemonSetList","apiVersion":"apps/v1","items":null}`, "daemonsets of all namespaces: unusable answer: items: must be a list, not null", "a list of null"},
		{"daemonsets", `{"kind":"DaemonSetList","apiVersion":"apps/v1","items":[{"spec":` + selects + `}]}`, "daemonsets of all namespaces: unusable answer: items[0].metadata.name: missing", "an item without metadata"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := newAPIServer(t, parseWorld(t, small))
			s.answer = func(_ *apiServer, w http.ResponseWriter, asked string, _ int) bool {
				if asked != tt.asked {
					return false
				}
				w.Header().Set("Content-Type", runtime.ContentTypeJSON)
				fmt.Fprint(w, tt.body)
				return true
			}
			_, err := newCluster(t, s).Read(background, agent)
			if tt.asked == "daemonsets" {
				_, err = newCluster(t, s).ReadAll(background, source.Filter{})
			}
			if err == nil || err.Error() != tt.want {
				t.Errorf("\n got %v\nwant %s", err, tt.want)
			}
		})
	}
}

// TestPagesThatOverlap checks that an object on two pages is read once, and that the list is reported as
// inconsistent.
func TestPagesThatOverlap(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, "ds agent\nnodes 3\npod p1 app=agent owner=agent ready\npod p2 app=agent owner=agent ready"))
	s.answer = func(s *apiServer, w http.ResponseWriter, asked string, n int) bool {
		if asked != "pods" {
			return false
		}
		l := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
		for _, o := range s.world {
			if p, ok := o.(*corev1.Pod); ok && (n == 1 || p.Name == "p2") {
				l.Items = append(l.Items, *p)
			}
		}
		if n == 1 {
			l.Continue = "more"
		}
		s.encode(w, http.StatusOK, runtime.ContentTypeProtobuf, l)
		return true
	}
	got, err := newCluster(t, s).Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	want := snapshot.Gap{What: snapshot.Pods, Why: snapshot.Moved, Message: "1 objects appear twice: the pages were not read at the same moment"}
	if len(got.Pods) != 2 || len(got.Gaps) != 1 || got.Gaps[0] != want {
		t.Errorf("%d pods, %v, want 2 and %v", len(got.Pods), got.Gaps, want)
	}
}

// TestPagesInACircle checks that a list whose continue tokens repeat is an error.
func TestPagesInACircle(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, "ds agent\nnodes 3"))
	s.answer = func(s *apiServer, w http.ResponseWriter, asked string, n int) bool {
		if asked != "nodes" {
			return false
		}
		l := &corev1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: []string{"a", "b"}[n%2]}}
		s.encode(w, http.StatusOK, runtime.ContentTypeProtobuf, l)
		return true
	}
	got, err := newCluster(t, s).Read(background, agent)
	if err != nil || !got.Lacks(snapshot.Nodes) || s.asked()["nodes"] > 4 {
		t.Errorf("%v, %v after %v", got, err, s.asked())
	}
}

// TestUnusableChanges checks that an invalid change in a watch is reported, and that the list is read again so that
// no change is lost.
func TestUnusableChanges(t *testing.T) {
	for _, tt := range []struct{ change, why, lost string }{
		{`{"type":"ADDED","object":{}}`, "an object of nothing", "unable to decode an event from the watch stream"},
		{`{"type":"ADDED","object":null}`, "null", "unable to decode an event from the watch stream"},
		{`{"type":"MODIFIED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"n0001"}}}`, "another kind", "unusable answer: a change of a Node"},
		{`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1"}}`, "no metadata", "unusable answer: metadata.name: missing"},
		{`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p2"}}}`, "no namespace", "unusable answer: metadata.namespace: missing"},
		{`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p2","namespace":"kube-system","annotations":{"a":"` + strings.Repeat("x", 2*api.MaxObject) + `"}}}}`, "a large object", "larger than 8Mi, which no API server stores"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			s := newWatchServer(t, parseWorld(t, followed))
			w, err := watchOf(t, s)
			if err != nil {
				t.Fatal(err)
			}
			s.await("pods", 1)
			s.replace(t, followed+"\npod p9 app=agent owner=agent")
			s.say("pods", tt.change)
			if got := next(t, w); !strings.HasPrefix(got, "lost changes of pods do not arrive: ") || !strings.Contains(got, tt.lost) {
				t.Errorf("got %q, want %q", got, tt.lost)
			}
			got := []string{next(t, w), next(t, w)}
			slices.Sort(got)
			if !slices.Equal(got, []string{"back pods", "pod p9"}) {
				t.Errorf("then %q", got)
			}
		})
	}
}

// TestCutLists checks that a truncated list is an error at every length. In protobuf, the start of a list is also a
// valid list.
func TestCutLists(t *testing.T) {
	var page corev1.NodeList
	for _, o := range parseWorld(t, "nodes 3") {
		page.Items = append(page.Items, *o.(*corev1.Node))
	}
	for _, form := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		w := httptest.NewRecorder()
		new(apiServer).encode(w, http.StatusOK, form, &page)
		whole := bytes.TrimSpace(w.Body.Bytes())
		read := func(raw []byte) (names []string, err error) {
			body := &api.AnswerBody{ReadCloser: io.NopCloser(bytes.NewReader(raw)), Ctx: background, Allowed: plenty, Left: api.MaxObject, Empty: true}
			p := &api.ListPage{Of: corev1.SchemeGroupVersion.WithKind("NodeList"), Each: func(raw []byte, protobuf bool) error {
				n := &corev1.Node{}
				err := api.Unpack(raw, n, protobuf)
				names = append(names, n.Name)
				return err
			}}
			return names, p.From(body)
		}
		if names, err := read(whole); err != nil || !slices.Equal(names, []string{"n0000", "n0001", "n0002"}) {
			t.Errorf("%s: %v, %v", form, names, err)
		}
		for i := range whole {
			names, err := read(whole[:i])
			if err == nil && len(names) == len(page.Items) { // the missing bytes do not belong to the list
				continue
			}
			if err == nil || !strings.HasPrefix(err.Error(), "unusable answer: ") {
				t.Errorf("%s: of %d bytes the first %d are a list of %v: %v", form, len(whole), i, names, err)
			}
		}
		if _, err := read(append(slices.Clone(whole), "{}"...)); err == nil {
			t.Errorf("%s: what follows the end is passed over", form)
		}
	}
}
