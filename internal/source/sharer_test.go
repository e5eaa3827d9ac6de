package source_test

import (
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestSharer checks that sharing changes neither an object nor the objects before it.
func TestSharer(t *testing.T) {
	h := object.NewSharer()
	var alone, shared []any
	for i := range cases.Of(100) {
		n, p := &corev1.Node{}, &corev1.Pod{}
		fill := filler(int64(i / 2)) // each value is used twice
		fill.Fill(n)
		fill.Fill(p)
		mark(i/2, p)
		if i%3 == 0 { // equal quantities in different notation, and both forms of an empty list
			n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse([]string{"1", "1000m"}[i%2])}
			n.Spec.Taints = [][]corev1.Taint{nil, {}}[i%2]
		}
		object.Strip(n)
		object.Strip(p)
		alone, shared = append(alone, n.DeepCopy(), p.DeepCopy()), append(shared, n, p)
		h.Share(n)
		h.Share(p)
	}
	for i := range shared {
		if !reflect.DeepEqual(alone[i], shared[i]) {
			t.Fatalf("object %d (-alone +shared):\n%s", i, cmp.Diff(alone[i], shared[i]))
		}
	}
}

// TestSharerShares checks that pods of one revision share one list of containers, and that nodes share the strings of
// their labels.
func TestSharerShares(t *testing.T) {
	h := object.NewSharer()
	var pods []*corev1.Pod
	var nodes []*corev1.Node
	word := func(i int) string { return fmt.Sprintf("zone-%d", i%2) } // equal strings in different memory
	for i := range 4 {
		p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: word(i)}}}}
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"zone": word(i)}}}
		h.Share(p)
		h.Share(n)
		pods, nodes = append(pods, p), append(nodes, n)
	}
	for i := range 2 {
		if &pods[i].Spec.Containers[0] != &pods[i+2].Spec.Containers[0] {
			t.Errorf("pods %d and %d have containers of their own", i, i+2)
		}
		if a, b := nodes[i].Labels["zone"], nodes[i+2].Labels["zone"]; unsafe.StringData(a) != unsafe.StringData(b) {
			t.Errorf("nodes %d and %d hold %q twice", i, i+2, a)
		}
	}
}
