package hide_test

import (
	"fmt"
	"log"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Shows a change to a DaemonSet without the value that may be secret.
func ExampleDifferences() {
	before := &appsv1.DaemonSet{}
	before.Spec.Template.Spec.Containers = []corev1.Container{{Name: "agent", Image: "example/agent:1", Env: []corev1.EnvVar{{Name: "TOKEN", Value: "s3cret"}}}}
	after := before.DeepCopy()
	after.Spec.Template.Spec.Containers[0].Env[0].Value = "s3cret2"
	old, err := template.Parse(before)
	if err != nil {
		log.Fatal(err)
	}
	now, err := template.Parse(after)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range hide.Differences(template.Between[appsv1.DaemonSet](old, now)) {
		fmt.Println(d.Path, d.Old, "->", d.New, d.Hidden)
	}
	// Output:
	// spec.template.spec.containers[name=agent].env[name=TOKEN].value "<hidden>" -> "<hidden>" true
}
