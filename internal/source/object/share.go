package object

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/intern"
)

// Share replaces frequent strings of a node or a pod by equal ones that all objects share.
func Share(o any) {
	switch o := o.(type) {
	case *corev1.Node:
		for i := range o.Status.Conditions {
			c := &o.Status.Conditions[i]
			intern.Text(&c.Type)
			intern.Text(&c.Status)
			intern.Text(&c.Reason)
			intern.Text(&c.Message)
		}
		is := &o.Status.NodeInfo
		for _, text := range []*string{&is.KubeletVersion, &is.KernelVersion, &is.ContainerRuntimeVersion, &is.OSImage,
			&is.OperatingSystem, &is.Architecture} {
			intern.Text(text)
		}
	case *corev1.Pod:
		intern.Text(&o.Namespace)
		for i := range o.Status.Conditions {
			c := &o.Status.Conditions[i]
			intern.Text(&c.Type)
			intern.Text(&c.Status)
			intern.Text(&c.Reason)
		}
		for i := range o.Status.ContainerStatuses {
			c := &o.Status.ContainerStatuses[i]
			intern.Text(&c.Name)
			intern.Text(&c.Image)
		}
	}
}
