package snapshot_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestNewOnOpenShift tests what New uses on OpenShift only. A namespace is
// written as NAME or NAME ANNOTATION=VALUE, with the short name of the
// annotation.
func TestNewOnOpenShift(t *testing.T) {
	annotations := map[string]string{"kube": snapshot.NodeSelectorAnnotation, "project": snapshot.ProjectNodeSelectorAnnotation}
	for _, tt := range []struct {
		on         bool
		namespaces []string
		byDefault  string
		want       string
		why        string
	}{
		{false, []string{"kube-system project=pool=infra"}, "a=b", "none", "a plain cluster"},
		{true, []string{"kube-system project=pool=infra"}, "a=b", "openshift.io/node-selector pool=infra, default ", "the namespace says it, and the default does not matter"},
		{true, []string{"other kube=x", "kube-system kube=pool=infra"}, "", "scheduler.alpha.kubernetes.io/node-selector pool=infra, default ", "of several namespaces its own"},
		{true, []string{"kube-system project="}, "a=b", "openshift.io/node-selector , default ", "an empty annotation says something"},
		{true, []string{"kube-system"}, "a=b", " a=b, default a=b", "one that says nothing"},
		{true, []string{"other project=x"}, "a=b", " , default  namespaces/node-selector", "without it nobody knows whether the default decides"},
		{true, nil, "", " , default  namespaces/node-selector", "nor without any"},
	} {
		s := dstest.State("N n")
		if tt.on {
			metav1.SetMetaDataLabel(&s.Nodes[1].ObjectMeta, "node.openshift.io/os_id", "rhcos")
		}
		in := snapshot.Objects{Nodes: s.Nodes, Pods: s.Pods, Revisions: s.Revisions, Events: []corev1.Event{}, DefaultNodeSelector: tt.byDefault}
		for _, text := range tt.namespaces {
			name, says, _ := strings.Cut(text, " ")
			n := corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if by, selector, ok := strings.Cut(says, "="); ok {
				n.Annotations = map[string]string{annotations[by]: selector}
			}
			in.Namespaces = append(in.Namespaces, n)
		}
		got, err := snapshot.New(s.DaemonSet, in, s.TakenAt, "v1.37.1")
		if err != nil {
			t.Fatalf("%s: %v", tt.why, err)
		}
		text := "none"
		if o := got.OpenShift; o != nil {
			by, selector := o.NodeSelector()
			text = fmt.Sprintf("%s %s, default %s", by, selector, o.DefaultNodeSelector)
		}
		for _, g := range got.Gaps {
			text += " " + string(g.What)
		}
		if text != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, text, tt.want)
		}
		raw, err := snapshot.Encode(got)
		if err != nil {
			t.Fatal(err)
		}
		again, err := snapshot.Decode(raw)
		if err != nil {
			t.Fatalf("%s: %v", tt.why, err)
		}
		a, b := again.OpenShift.NodeSelector()
		if x, y := got.OpenShift.NodeSelector(); a != x || b != y || again.OpenShift.NeedsDefault() != got.OpenShift.NeedsDefault() {
			t.Errorf("%s: recorded it is %q %q", tt.why, a, b)
		}
	}

	s := dstest.State("N", dstest.OpenShift("openshift.io/node-selector=a=b"))
	s.OpenShift.Namespace.Name = "other"
	if err := snapshot.Validate(s); err == nil || err.Error() != `openShift.namespace.metadata.name: "other" is not the DaemonSet's "kube-system"` {
		t.Errorf("the namespace of others: %v", err)
	}
}

// TestFromListOfOpenShift tests a List that contains the namespaces.
func TestFromListOfOpenShift(t *testing.T) {
	_, in, err := snapshot.FromList([]byte(`{"items":[{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","annotations":{"openshift.io/node-selector":"pool=infra","other":"long"}}}]}`))
	if err != nil || len(in.Namespaces) != 1 || in.Namespaces[0].Annotations[snapshot.ProjectNodeSelectorAnnotation] != "pool=infra" {
		t.Errorf("%v, %v", in.Namespaces, err)
	}
}
