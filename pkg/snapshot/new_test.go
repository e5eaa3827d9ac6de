package snapshot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestNew tests which objects of a cluster New uses, and what counts as not
// read.
func TestNew(t *testing.T) {
	s := dstest.State("N n")
	all := func() snapshot.Objects {
		return snapshot.Objects{Nodes: s.Nodes, Pods: s.Pods, Revisions: s.Revisions, Events: []corev1.Event{}}
	}
	for _, tt := range []struct {
		edit    func(*snapshot.Objects)
		version string
		want    string
		why     string
	}{
		{func(*snapshot.Objects) {}, "v1.37.1", "nodes n0 n1; pods p0 p1; Server; ", "all of it"},
		{func(in *snapshot.Objects) { in.Nodes = []corev1.Node{s.Nodes[1], s.Nodes[0]} }, "v1.37.1", "nodes n0 n1; pods p0 p1; Server; ", "by name, whatever the order"},
		{func(in *snapshot.Objects) {
			other := *s.Pods[0].DeepCopy()
			other.Namespace, other.Name = "elsewhere", "other"
			in.Pods = append([]corev1.Pod{other}, s.Pods...)
		}, "v1.37.1", "nodes n0 n1; pods p0 p1; Server; ", "of its namespace"},
		{func(in *snapshot.Objects) { in.Pods = []corev1.Pod{} }, "v1.37.1", "nodes n0 n1; pods ; Server; ", "none is an answer"},
		{func(in *snapshot.Objects) { *in = snapshot.Objects{} }, "", "nodes ; pods ; Default; nodes pods controllerrevisions events version", "and nil is none"},
		{func(in *snapshot.Objects) {
			n := *s.Nodes[0].DeepCopy()
			n.Status.Conditions = nil
			in.Nodes = []corev1.Node{n, s.Nodes[1]}
		}, "v1.37.1", "nodes n0 n1; pods p0 p1; Server; nodes/status", "a node without its conditions"},
		{func(in *snapshot.Objects) {
			p := *s.Pods[0].DeepCopy()
			p.Status = corev1.PodStatus{}
			in.Pods = []corev1.Pod{p, s.Pods[1]}
		}, "v1.37.1", "nodes n0 n1; pods p0 p1; Server; pods/status", "a pod without its status"},
	} {
		in := all()
		tt.edit(&in)
		got, err := snapshot.New(s.DaemonSet, in, s.TakenAt, tt.version)
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		var nodes, pods, gaps []string
		for _, n := range got.Nodes {
			nodes = append(nodes, n.Name)
		}
		for _, p := range got.Pods {
			pods = append(pods, p.Name)
		}
		for _, g := range got.Gaps {
			gaps = append(gaps, string(g.What))
		}
		if text := fmt.Sprintf("nodes %s; pods %s; %s; %s", strings.Join(nodes, " "), strings.Join(pods, " "), got.VersionSource, strings.Join(gaps, " ")); text != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, text, tt.want)
		}
	}
	if _, err := snapshot.New(s.DaemonSet, all(), time.Time{}, ""); err == nil {
		t.Error("without a time")
	}
}

// TestFromListRefuses checks that anything but a complete List is an error.
func TestFromListRefuses(t *testing.T) {
	for _, tt := range []struct{ raw, want string }{
		{`{`, "a List in JSON: unexpected end of JSON input"},
		{`{"kind":"DaemonSet","apiVersion":"apps/v1"}`, "a List in JSON: it has no items"},
		{`{"metadata":{"continue":"x"},"items":[]}`, "a List in JSON: it is one page of several"},
		{`{"items":[{"kind":"Pod","apiVersion":"v1","spec":7}]}`, `items[0], a "Pod": json: cannot unmarshal number into Go struct field`},
	} {
		if _, _, err := snapshot.FromList([]byte(tt.raw)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.raw, err, tt.want)
		}
	}
}
