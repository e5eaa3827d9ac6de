package template_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Compares two pod templates, as a ControllerRevision stores them.
func ExampleDiff() {
	before := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "example/agent:1"}}}}
	after := *before.DeepCopy()
	after.Spec.Containers[0].Image = "example/agent:2"
	old, err := template.Of(&before, false)
	if err != nil {
		log.Fatal(err)
	}
	now, err := template.Of(&after, false)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range template.Diff(old, now) {
		fmt.Println(d.Path, d.Old, "->", d.New)
	}
	// Output:
	// spec.template.spec.containers[name=agent].image "example/agent:1" -> "example/agent:2"
}
