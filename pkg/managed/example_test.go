package managed_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
)

// Finds out who else writes a DaemonSet.
func ExampleBy() {
	ds := &appsv1.DaemonSet{}
	ds.Labels = map[string]string{"argocd.argoproj.io/instance": "monitoring"}
	for _, m := range managed.By(ds) {
		fmt.Println(m.Tool, m.By, m.Tool.Reverts())
	}
	// Output:
	// ArgoCD monitoring true
}
