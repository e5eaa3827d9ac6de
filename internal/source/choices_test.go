package source_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestChoices checks that a cluster and files offer the same names for a command line. Files have only the namespaces
// of their DaemonSets.
func TestChoices(t *testing.T) {
	w := parseWorld(t, `
		ds b
		ds a
		ds c ns=default
		ds a ns=default
		rev r1 app=a owner=a
		rev r2 app=a owner=a
		rev r3 app=b owner=b
		node n2 app=x
		node n1
		namespace default
		namespace kube-system`)
	for _, o := range w {
		if r, ok := o.(*appsv1.ControllerRevision); ok && r.Name == "r2" {
			r.Revision = 7
		}
	}
	for _, from := range sources {
		r := from.open(t, w)
		var got []string
		note := func(what string, err error, names ...string) {
			got = append(got, what+": "+strings.Join(names, " "))
			if err != nil {
				t.Errorf("%s: %s: %v", from.name, what, err)
			}
		}
		for _, namespace := range []string{"kube-system", "", "none"} {
			var refs []string
			all, err := r.DaemonSets(background, namespace)
			for i := range all {
				refs = append(refs, all[i].Namespace+"/"+all[i].Name)
			}
			note("daemonsets of "+namespace, err, refs...)
		}
		nodes, err := r.Nodes(background)
		var named []string
		for _, n := range nodes {
			named = append(named, n.Name+"("+n.Labels["app"]+")")
		}
		note("nodes", err, named...)
		namespaces, err := r.Namespaces(background)
		note("namespaces", err, namespaces...)
		revisions, at, err := r.Revisions(background, source.Ref{Namespace: "kube-system", Name: "a"})
		var numbers []string
		for i := range revisions {
			numbers = append(numbers, fmt.Sprintf("%s(%d)", revisions[i].Name, revisions[i].Revision))
		}
		note("revisions", err, numbers...)
		if at.IsZero() {
			t.Errorf("%s: no time", from.name)
		}
		want := []string{
			"daemonsets of kube-system: kube-system/a kube-system/b", "daemonsets of : default/a default/c kube-system/a kube-system/b", "daemonsets of none: ",
			"nodes: n1() n2(x)", "namespaces: default kube-system", "revisions: r2(7) r1(1)",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", from.name, diff)
		}
		if _, _, err := r.Revisions(background, source.Ref{Namespace: "kube-system", Name: "z"}); err == nil {
			t.Errorf("%s: revisions of a DaemonSet that does not exist", from.name)
		}
	}
}

// TestMetadataOnly checks that only the metadata of nodes and namespaces is requested, page by page, and that a
// response of another kind is an error.
func TestMetadataOnly(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, "nodes 1200\nnamespace a"))
	c := newCluster(t, s)
	nodes, err := c.Nodes(background)
	if err != nil || len(nodes) != 1200 || !slices.IsSortedFunc(nodes, func(a, b part.Labeled) int { return strings.Compare(a.Name, b.Name) }) {
		t.Fatalf("%d nodes, %v", len(nodes), err)
	}
	want := []string{"GET /api/v1/nodes?limit=500", "GET /api/v1/nodes?continue=from-500&limit=500", "GET /api/v1/nodes?continue=from-1000&limit=500"}
	if diff := cmp.Diff(want, s.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	accept := "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	if got := s.headers.Get("Accept"); got != accept {
		t.Errorf("Accept: %s", got)
	}
	s.answer = func(s *apiServer, w http.ResponseWriter, what string, n int) bool {
		s.encode(w, http.StatusOK, runtime.ContentTypeJSON, parseWorld(t, "node n1")[0])
		return true
	}
	if got, err := c.Namespaces(background); err == nil || !strings.Contains(err.Error(), "it is a Node, but a PartialObjectMetadataList was requested") {
		t.Errorf("%v, %v", got, err)
	}
}
