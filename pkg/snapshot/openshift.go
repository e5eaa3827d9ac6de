package snapshot

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// OpenShift is what the DaemonSet controller of OpenShift looks at besides: it keeps
// pods off nodes that the namespace of the DaemonSet does not select. What of it could
// not be read has a Gap.
//
// The namespace is as StripNamespace leaves it.
type OpenShift struct {
	Namespace *corev1.Namespace `json:"namespace"` // the namespace of the DaemonSet; null if it could not be read

	// `projectConfig.defaultNodeSelector` in the configuration of kube-controller-manager; empty if there is none, if
	// it could not be read, and if an annotation of the namespace takes its place
	DefaultNodeSelector string `json:"defaultNodeSelector"`
}

// The annotations of a namespace that select nodes for its pods.
const (
	// NodeSelectorAnnotation is that of Kubernetes, which outside of OpenShift only the
	// admission plugin PodNodeSelector reads.
	NodeSelectorAnnotation = "scheduler.alpha.kubernetes.io/node-selector"
	// ProjectNodeSelectorAnnotation is that of OpenShift.
	ProjectNodeSelectorAnnotation = "openshift.io/node-selector"
)

// nodeSelectorAnnotations are both, the one that OpenShift's controller prefers first.
var nodeSelectorAnnotations = []string{NodeSelectorAnnotation, ProjectNodeSelectorAnnotation}

// OpenShiftWhats are the parts that OpenShift holds.
var OpenShiftWhats = []What{NamespaceNodeSelector, DefaultNodeSelector}

// openShiftLabel is the label that the kubelet of every OpenShift version since 4.1 gives
// to its node, whatever the operating system: the Machine Config Operator writes it into
// the kubelet's flags, the Windows Machine Config Operator and MicroShift likewise.
const openShiftLabel = "node.openshift.io/os_id"

// OnOpenShift reports whether these are nodes of OpenShift: whether one of them has the label
// node.openshift.io/os_id.
func OnOpenShift(nodes []corev1.Node) bool {
	return slices.ContainsFunc(nodes, func(n corev1.Node) bool { _, has := n.Labels[openShiftLabel]; return has })
}

// NodeSelector returns what selects nodes for the pods of the namespace: the annotation that
// says it and its value, or the default, with no annotation. An annotation with an empty value
// selects every node, as does an empty default. Nil selects every node.
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

// NeedsDefault reports whether the default of the controller decides: the namespace was read,
// and has neither annotation.
func (o *OpenShift) NeedsDefault() bool {
	annotation, _ := o.NodeSelector()
	return o != nil && o.Namespace != nil && annotation == ""
}

// Selecting returns a copy of the Snapshot with this OpenShift or, where it is nil, without
// any, and with the gaps of OpenShiftWhats that are among these.
func (s *Snapshot) Selecting(o *OpenShift, gaps []Gap) *Snapshot {
	c := *s
	c.OpenShift, c.Gaps = o, replaced(s.Gaps, OpenShiftWhats, gaps)
	return &c
}
