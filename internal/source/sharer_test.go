package source_test

import (
	"fmt"
	"testing"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
)

// TestShares checks that pods of one revision share their containers and their labels, and that nodes share the strings
// in their labels and conditions.
func TestShares(t *testing.T) {
	var pods []*corev1.Pod
	var nodes []*corev1.Node
	for i := range 4 {
		p, err := object.Decode(fmt.Appendf(nil, `{"kind":"Pod","apiVersion":"v1",
			"metadata":{"name":"p%d","namespace":"ns","labels":{"hash":"h%d"}},
			"spec":{"containers":[{"name":"c%d"}]}}`, i, i%2, i%2), metav1.TypeMeta{})
		must(t, err)
		n, err := object.Decode(fmt.Appendf(nil, `{"kind":"Node","apiVersion":"v1",
			"metadata":{"name":"n%d","labels":{"name":"n%d","zone":"zone-%d"}},
			"status":{"conditions":[{"type":"Ready","reason":"Reason-%d"}]}}`, i, i, i%2, i%2), metav1.TypeMeta{})
		must(t, err)
		pods, nodes = append(pods, p.Is.(*corev1.Pod)), append(nodes, n.Is.(*corev1.Node))
	}
	same := func(a, b string) bool { return unsafe.StringData(a) == unsafe.StringData(b) }
	for i := range 2 {
		if &pods[i].Spec.Containers[0] != &pods[i+2].Spec.Containers[0] {
			t.Errorf("pods %d and %d have containers of their own", i, i+2)
		}
		if pods[i].Labels["x"] = "y"; pods[i+2].Labels["x"] != "y" {
			t.Errorf("pods %d and %d have labels of their own", i, i+2)
		}
		if a, b := nodes[i].Labels["zone"], nodes[i+2].Labels["zone"]; !same(a, b) {
			t.Errorf("nodes %d and %d hold %q twice", i, i+2, a)
		}
		if a, b := nodes[i].Status.Conditions[0].Reason, nodes[i+2].Status.Conditions[0].Reason; !same(a, b) {
			t.Errorf("nodes %d and %d hold %q twice", i, i+2, a)
		}
	}
}
