package snapshot

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// OpenShift is the additional input of OpenShift's DaemonSet controller, which
// keeps pods off nodes that the DaemonSet's namespace does not select. A part
// that could not be read has a Gap. StripNamespace has been applied to the
// namespace.
type OpenShift struct {
	Namespace *corev1.Namespace `json:"namespace"` // the namespace of the DaemonSet; null if it could not be read

	// `projectConfig.defaultNodeSelector` in the configuration of
	// kube-controller-manager; empty if there is none, if it could not be read,
	// or if an annotation of the namespace overrides it
	DefaultNodeSelector string `json:"defaultNodeSelector"`
}

// The annotations of a namespace that select nodes for its pods.
const (
	// NodeSelectorAnnotation is that of Kubernetes. Outside of OpenShift only
	// the admission plugin PodNodeSelector reads it.
	NodeSelectorAnnotation = "scheduler.alpha.kubernetes.io/node-selector"
	// ProjectNodeSelectorAnnotation is that of OpenShift.
	ProjectNodeSelectorAnnotation = "openshift.io/node-selector"
)

// nodeSelectorAnnotations are both annotations, in the order of precedence in
// OpenShift's controller.
var nodeSelectorAnnotations = []string{NodeSelectorAnnotation, ProjectNodeSelectorAnnotation}

// OpenShiftWhats are the parts that OpenShift contains.
var OpenShiftWhats = []What{NamespaceNodeSelector, DefaultNodeSelector}

// openShiftLabel is set by the kubelet of every OpenShift version since 4.1 on
// its node, on any operating system: the Machine Config Operator, the Windows
// Machine Config Operator and MicroShift add it to the kubelet's flags.
const openShiftLabel = "node.openshift.io/os_id"

// OnOpenShift reports whether any of the nodes has the label
// node.openshift.io/os_id.
func OnOpenShift(nodes []corev1.Node) bool {
	return slices.ContainsFunc(nodes, func(n corev1.Node) bool { _, has := n.Labels[openShiftLabel]; return has })
}

// NodeSelector returns the node selector for pods of the namespace, and the
// annotation that sets it; for the default, the annotation is empty. An empty
// selector selects every node, and so does a nil OpenShift.
func (o *OpenShift) NodeSelector() (annotation, selector string) {
	if o == nil {
		return "", ""
	}
	if o.Namespace != nil {
		for _, annotation := range nodeSelectorAnnotations {
			if selector, set := o.Namespace.Annotations[annotation]; set {
				return annotation, selector
			}
		}
	}
	return "", o.DefaultNodeSelector
}

// NeedsDefault reports whether the controller's default applies: the namespace
// was read and has neither annotation.
func (o *OpenShift) NeedsDefault() bool {
	annotation, _ := o.NodeSelector()
	return o != nil && o.Namespace != nil && annotation == ""
}

// Selecting returns a copy of the Snapshot with o as its OpenShift, which may
// be nil. The gaps for OpenShiftWhats replace the existing ones.
func (s *Snapshot) Selecting(o *OpenShift, gaps []Gap) *Snapshot {
	c := *s
	c.OpenShift, c.Gaps = o, replaced(s.Gaps, OpenShiftWhats, gaps)
	return &c
}
