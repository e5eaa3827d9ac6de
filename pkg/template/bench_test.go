package template

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// longTemplate has 200 KB, in a hundred variables or in one argument, and all
// defaults.
func longTemplate(change string) *corev1.PodTemplateSpec {
	t := plain()
	c := &t.Spec.Containers[0]
	for i := range 100 {
		c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", i), Value: change + strings.Repeat("x", 1000)})
	}
	c.Args = []string{strings.Repeat("y", 100_000)}
	Default(t, "")
	return t
}

func BenchmarkDiff(b *testing.B) {
	variables := longTemplate("other ")
	added := longTemplate("")
	added.Spec.Containers[0].TTY = true
	for _, bb := range []struct {
		name string
		new  *corev1.PodTemplateSpec
	}{{"equal", longTemplate("")}, {"100 values", variables}, {"1 field more", added}} {
		old, err := Of(longTemplate(""), true)
		if err != nil {
			b.Fatal(err)
		}
		new, err := Of(bb.new, false)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(bb.name+"/Diff", func(b *testing.B) {
			for b.Loop() {
				Diff(old, new)
			}
		})
		b.Run(bb.name+"/Defaulted", func(b *testing.B) {
			all := Diff(old, new)
			for b.Loop() {
				Defaulted(all, old, new)
			}
		})
	}
	// The time grows linearly with the number of variables.
	for _, n := range []int{1000, 2000} {
		many := func(value string) Content {
			t := plain()
			for i := range n {
				t.Spec.Containers[0].Env = append(t.Spec.Containers[0].Env, corev1.EnvVar{Name: fmt.Sprint("V", i), Value: value})
			}
			c, err := Of(t, false)
			if err != nil {
				b.Fatal(err)
			}
			return c
		}
		old, new := many("a"), many("b")
		b.Run(fmt.Sprintf("%d variables/Diff", n), func(b *testing.B) {
			for b.Loop() {
				Diff(old, new)
			}
		})
	}
}
