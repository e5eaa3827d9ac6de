package dstest

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Limit returns a value for maxUnavailable or maxSurge.
func Limit(v string) *intstr.IntOrString { l := intstr.Parse(v); return &l }

// Taint parses a taint in the notation of kubectl taint: KEY[=VALUE][:EFFECT].
func Taint(text string) *corev1.Taint {
	text, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(text, "=")
	return &corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}

// Tainted adds taints to a node.
func Tainted(node string, taints ...string) Option {
	return Node(node, func(n *corev1.Node) {
		for _, text := range taints {
			n.Spec.Taints = append(n.Spec.Taints, *Taint(text))
		}
	})
}

// Labeled adds labels to a node, each KEY=VALUE.
func Labeled(node string, pairs ...string) Option {
	return Node(node, func(n *corev1.Node) {
		for _, p := range pairs {
			key, value, _ := strings.Cut(p, "=")
			n.Labels[key] = value
		}
	})
}

// Lacks removes all objects of a kind and adds a Gap with the reason.
func Lacks(what snapshot.What, why snapshot.Why) Option {
	return Edit(func(s *snapshot.Snapshot) {
		switch what {
		case snapshot.Nodes:
			s.Nodes = nil
		case snapshot.Revisions:
			s.Revisions = nil
		}
		s.Gaps = append(s.Gaps, snapshot.Gap{What: what, Why: why})
	})
}

// OpenShift turns the cluster into one of OpenShift. Each text is KEY=SELECTOR, where KEY is one of
// the two annotations with which a namespace selects nodes, or the default node selector of the
// controller.
func OpenShift(says ...string) Option {
	return Edit(func(s *snapshot.Snapshot) {
		s.OpenShift = &snapshot.OpenShift{Namespace: &corev1.Namespace{}}
		s.OpenShift.Namespace.Name = s.DaemonSet.Namespace
		for _, text := range says {
			switch key, selector, _ := strings.Cut(text, "="); key {
			case snapshot.NodeSelectorAnnotation, snapshot.ProjectNodeSelectorAnnotation:
				metav1.SetMetaDataAnnotation(&s.OpenShift.Namespace.ObjectMeta, key, selector)
			default:
				s.OpenShift.DefaultNodeSelector = text
			}
		}
		for i := range s.Nodes {
			metav1.SetMetaDataLabel(&s.Nodes[i].ObjectMeta, "node.openshift.io/os_id", "rhcos")
		}
	})
}

// StartedIn makes pods Ready that long after they were created an hour ago.
func StartedIn(took time.Duration, names ...string) []Option {
	var out []Option
	for _, name := range names {
		out = append(out, Pod(name, func(p *corev1.Pod) {
			p.CreationTimestamp = ago(time.Hour)
			p.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(time.Hour - took)},
			}
		}))
	}
	return out
}

// NotReadyFor makes a pod run that long without being Ready.
func NotReadyFor(name string, d time.Duration) Option {
	return Pod(name, func(p *corev1.Pod) {
		p.CreationTimestamp = ago(d)
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: ago(d)},
		}
		running := &corev1.ContainerStateRunning{StartedAt: ago(d)}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: "agent", State: corev1.ContainerState{Running: running}},
		}
	})
}
