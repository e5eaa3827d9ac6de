package source_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// objectsOf lists the objects that pods of kube-system refer to. Their values must never be shown.
const objectsOf = `
{apiVersion: v1, kind: ConfigMap, metadata: {namespace: kube-system, name: settings}, data: {level: value-of-level}, binaryData: {blob: dmFsdWU=}}
---
{apiVersion: v1, kind: Secret, metadata: {namespace: kube-system, name: token}, data: {token: dmFsdWU=, user: dmFsdWU=}}
---
{apiVersion: v1, kind: Secret, metadata: {namespace: other, name: elsewhere}, data: {token: dmFsdWU=}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: kube-system, name: data}}
`

var wanted = []snapshot.Wanted{
	{Kind: snapshot.ConfigMap, Name: "settings", Keys: true}, {Kind: snapshot.ConfigMap, Name: "gone"}, {Kind: snapshot.Secret, Name: "token", Keys: true},
	{Kind: snapshot.Secret, Name: "elsewhere", Keys: true}, {Kind: snapshot.Claim, Name: "data"}, {Kind: snapshot.Claim, Name: "gone"},
}

// anySnapshot returns a Snapshot of a DaemonSet in kube-system.
func anySnapshot() *snapshot.Snapshot {
	return &snapshot.Snapshot{DaemonSet: &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "agent"}}}
}

func referredTo(o ...snapshot.Referred) *snapshot.References { return &snapshot.References{Objects: o} }

// answerReferred adds the objects of objectsOf to an API server.
func answerReferred(s *apiServer) {
	s.answer = func(_ *apiServer, w http.ResponseWriter, what string, _ int) bool {
		_, path, _ := strings.Cut(s.requests[len(s.requests)-1], " ")
		body, known := map[string]string{
			"/api/v1/namespaces/kube-system/configmaps/settings":         `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"kube-system","name":"settings"},"data":{"level":"value"},"binaryData":{"blob":"dmFsdWU="}}`,
			"/api/v1/namespaces/kube-system/secrets/token":               `{"kind":"Secret","apiVersion":"v1","metadata":{"namespace":"kube-system","name":"token"},"data":{"token":"dmFsdWU=","user":"dmFsdWU="}}`,
			"/api/v1/namespaces/kube-system/persistentvolumeclaims/data": "",
		}[path]
		w.Header().Set("Content-Type", "application/json")
		if s.headers.Get("Accept") == part.MetadataOnly {
			_, name, _ := strings.Cut(strings.TrimPrefix(path, "/api/v1/namespaces/kube-system/"), "/")
			body = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"namespace":"kube-system","name":"` + name + `"}}`
		}
		if !known {
			w.WriteHeader(http.StatusNotFound)
			body = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
		}
		fmt.Fprint(w, body)
		return true
	}
}

func dumpOf(t *testing.T, text string) *dump.Dump {
	t.Helper()
	documents := []string{`{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"namespace": "kube-system", "name": "agent"}, "spec": {"selector": {}}}`}
	for _, doc := range strings.Split(text, "---\n") {
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(raw))
	}
	d, err := readText(strings.Join(documents, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestAddReferences checks that a cluster and a dump return the same references, and no values.
func TestAddReferences(t *testing.T) {
	server := newAPIServer(t, parseWorld(t, "node a"))
	answerReferred(server)
	want := referredTo(
		snapshot.Referred{Kind: snapshot.ConfigMap, Name: "gone"},
		snapshot.Referred{Kind: snapshot.ConfigMap, Name: "settings", Exists: true, KeysRead: true, Keys: []string{"level"}, BinaryKeys: []string{"blob"}},
		snapshot.Referred{Kind: snapshot.Secret, Name: "elsewhere"},
		snapshot.Referred{Kind: snapshot.Secret, Name: "token", Exists: true, KeysRead: true, Keys: []string{"token", "user"}},
		snapshot.Referred{Kind: snapshot.Claim, Name: "data", Exists: true},
		snapshot.Referred{Kind: snapshot.Claim, Name: "gone"},
	)
	for name, r := range map[string]interface {
		AddReferences(context.Context, *snapshot.Snapshot, []snapshot.Wanted) (*snapshot.Snapshot, error)
	}{"cluster": newCluster(t, server), "dump": dumpOf(t, objectsOf)} {
		t.Run(name, func(t *testing.T) {
			s, err := r.AddReferences(background, anySnapshot(), wanted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, s.References); diff != "" || len(s.Gaps) > 0 {
				t.Errorf("(-want +got):\n%s%v", diff, s.Gaps)
			}
			if raw, err := json.Marshal(s); err != nil || strings.Contains(string(raw), "value") || strings.Contains(string(raw), "dmFsdWU") {
				t.Errorf("a value is kept: %s %v", raw, err)
			}
		})
	}
	if len(server.requests) != len(wanted) {
		t.Errorf("%d requests for %d objects: %q", len(server.requests), len(wanted), server.requests)
	}
}

// TestUnusableReferences checks that an object exists only if the server returns that object.
func TestUnusableReferences(t *testing.T) {
	for _, tt := range []struct{ body, want, why string }{
		{`{}`, "unusable answer: it has no kind, but a K was requested", "nothing"},
		{``, "unusable answer: it is empty", "an empty body"},
		{`{"kind":"Status","apiVersion":"v1","status":"Success"}`, "unusable answer: it is a Status, but a K was requested", "a success"},
		{`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"settings","namespace":"kube-system"}}`, "unusable answer: it is a Pod, but a K was requested", "another kind"},
		{`{"kind":"K","apiVersion":"V","metadata":{"name":"other","namespace":"kube-system"}}`, `unusable answer: it is about "other"`, "another object"},
		{`{"kind":"K","apiVersion":"V","metadata":{"name":"settings"`, "unusable answer: it is cut off", "half of it"},
		{`moved`, "unusable answer: it is not JSON", "text"},
	} {
		for _, keys := range []bool{false, true} {
			server := newAPIServer(t, parseWorld(t, "node a"))
			kind := map[bool]string{false: "PartialObjectMetadata", true: "ConfigMap"}[keys]
			server.answer = func(_ *apiServer, w http.ResponseWriter, _ string, _ int) bool {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, strings.NewReplacer(`"K"`, `"`+kind+`"`, `"V"`, map[bool]string{false: `"meta.k8s.io/v1"`, true: `"v1"`}[keys]).Replace(tt.body))
				return true
			}
			s, err := newCluster(t, server).AddReferences(background, anySnapshot(), []snapshot.Wanted{{Kind: snapshot.ConfigMap, Name: "settings", Keys: keys}})
			if err != nil {
				t.Fatal(err)
			}
			want := []snapshot.Gap{{What: snapshot.ConfigMaps, Why: snapshot.Failed, Message: strings.ReplaceAll(tt.want, "a K was", "a "+kind+" was")}}
			if diff := cmp.Diff(want, s.Gaps); diff != "" || len(s.References.Objects) > 0 {
				t.Errorf("%s: %v (-want +got):\n%s", tt.why, s.References.Objects, diff)
			}
		}
	}
}

// TestReferencesByMetadata checks that only metadata is requested if no key is needed.
func TestReferencesByMetadata(t *testing.T) {
	server := newAPIServer(t, parseWorld(t, "node a"))
	answerReferred(server)
	c := newCluster(t, server)
	for _, w := range []snapshot.Wanted{{Kind: snapshot.Secret, Name: "token"}, {Kind: snapshot.ConfigMap, Name: "settings"}, {Kind: snapshot.Claim, Name: "data"}} {
		s, err := c.AddReferences(background, anySnapshot(), []snapshot.Wanted{w})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(referredTo(snapshot.Referred{Kind: w.Kind, Name: w.Name, Exists: true}), s.References); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if accept := server.headers.Get("Accept"); accept != part.MetadataOnly {
			t.Errorf("%s: Accept: %s", w.Kind, accept)
		}
	}
}

// TestReferencesUnread checks that objects that are forbidden, fail, or exceed the limit are gaps for their kind, and
// are not among the references.
func TestReferencesUnread(t *testing.T) {
	server := newAPIServer(t, parseWorld(t, "node a"))
	server.answer = func(_ *apiServer, w http.ResponseWriter, what string, _ int) bool {
		code, reason := http.StatusNotFound, metav1.StatusReasonNotFound
		switch what {
		case "secret":
			code, reason = http.StatusForbidden, metav1.StatusReasonForbidden
		case "persistentvolumeclaim":
			code, reason = http.StatusInternalServerError, metav1.StatusReasonInternalError
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"said so"}`, reason, code)
		return true
	}
	s, err := newCluster(t, server).AddReferences(background, anySnapshot(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	want := referredTo(snapshot.Referred{Kind: snapshot.ConfigMap, Name: "gone"}, snapshot.Referred{Kind: snapshot.ConfigMap, Name: "settings"})
	gaps := []string{"secrets Forbidden", "persistentvolumeclaims Failed"}
	if diff := cmp.Diff(want, s.References) + cmp.Diff(gaps, whatAndWhy(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	var many []snapshot.Wanted
	for i := range 25 {
		many = append(many, snapshot.Wanted{Kind: snapshot.ConfigMap, Name: fmt.Sprintf("c%02d", i)})
	}
	before := len(server.requests)
	if s, err = newCluster(t, server).AddReferences(background, anySnapshot(), many); err != nil {
		t.Fatal(err)
	}
	if asked := len(server.requests) - before; asked != 20 || len(s.References.Objects) != 20 || !slices.Equal(whatAndWhy(s), []string{"configmaps NotGiven"}) {
		t.Errorf("%d requests, %d objects, %v", asked, len(s.References.Objects), s.Gaps)
	}
}

func whatAndWhy(s *snapshot.Snapshot) (out []string) {
	for _, g := range s.Gaps {
		out = append(out, string(g.What)+" "+string(g.Why))
	}
	return out
}

// TestReferencesOfADump checks that an object that a dump does not contain is not reported as missing.
func TestReferencesOfADump(t *testing.T) {
	for _, tt := range []struct {
		dump string
		want []string // the gaps
		why  string
	}{
		{"{apiVersion: v1, kind: Node, metadata: {name: a}}", []string{"configmaps NotGiven", "secrets NotGiven", "persistentvolumeclaims NotGiven"}, "nothing of the kind"},
		{"{apiVersion: v1, kind: Secret, metadata: {namespace: other, name: token}, data: {token: eA==}}", []string{"configmaps NotGiven", "secrets NotGiven", "persistentvolumeclaims NotGiven"}, "nothing of the namespace"},
		{objectsOf + "---\n{apiVersion: v1, kind: SecretList, metadata: {resourceVersion: '7', continue: more}, items: [{metadata: {namespace: kube-system, name: x}}]}", []string{"secrets Partial"}, "a page is missing"},
		{"{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {namespace: kube-system, name: settings}}, {apiVersion: v1, kind: Secret, metadata: {namespace: kube-system, name: token}}, {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: kube-system, name: data}}]}",
			[]string{"configmaps NotGiven", "secrets NotGiven"}, "objects without their data"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s, err := dumpOf(t, tt.dump).AddReferences(background, anySnapshot(), wanted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, whatAndWhy(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
