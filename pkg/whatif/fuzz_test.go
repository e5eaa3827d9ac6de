package whatif

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FuzzChooseNodes checks that a name, a pattern or a selector returns existing
// nodes, in order and without duplicates, independent of other nodes, or an
// error of one line.
func FuzzChooseNodes(f *testing.F) {
	for _, seed := range []string{"worker-1", "worker-*", "worker-[!1]", "pool=gpu", "!pool", "pool in (gpu,cpu)", "pool", "[", "", "*", "a,b", "pool notin (gpu)", "worker-?", `\`, "pool==", "=x"} {
		f.Add(seed, "worker-1", "gpu")
	}
	f.Fuzz(func(t *testing.T, which, name, value string) {
		nodes := []corev1.Node{
			{ObjectMeta: metav1.ObjectMeta{Name: "control-plane"}},
			{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": value}}},
			{ObjectMeta: metav1.ObjectMeta{Name: name + "x", Labels: map[string]string{"pool": "cpu"}}},
		}
		chosen, err := ChooseNodes(nodes, which)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") && !strings.ContainsAny(which, "\n\r") || len(chosen) > 0 {
				t.Errorf("%v, %q", chosen, err)
			}
			return
		}
		if len(chosen) == 0 {
			t.Fatal("neither a node nor an error")
		}
		if !slices.IsSorted(chosen) || len(slices.Compact(slices.Clone(chosen))) != len(chosen) {
			t.Errorf("%v is not in order", chosen)
		}
		for _, i := range chosen { // it is also chosen alone
			if one, err := ChooseNodes(nodes[i:i+1], which); err != nil || len(one) != 1 {
				t.Errorf("%q chooses %q among others, and alone %v, %v", which, nodes[i].Name, one, err)
			}
		}
	})
}
