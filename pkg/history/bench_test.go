package history

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// BenchmarkMake makes the History of 100 revisions of 200 KB each; neighbors
// differ in one variable.
func BenchmarkMake(b *testing.B) {
	s := past(b, "a")
	tmpl := &s.DaemonSet.Spec.Template
	for i := range 100 {
		tmpl.Spec.Containers[0].Env = append(tmpl.Spec.Containers[0].Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", i), Value: strings.Repeat("x", 2000)})
	}
	for i := range 100 {
		tmpl.Spec.Containers[0].Env[i].Value += "y"
		r := revisionOf(b, s, fmt.Sprintf("%d=a", i+1))
		r.Data = storedData(b, tmpl, false)
		s.Revisions = append(s.Revisions, r)
	}
	b.ReportAllocs()
	for b.Loop() {
		if h, err := try(s, Options{}); err != nil || len(h.Revisions[0].Change) != 1 || !h.Revisions[0].Current {
			b.Fatal(h, err)
		}
	}
}
