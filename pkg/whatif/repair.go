package whatif

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Repaired returns the State as if the kubelets of some nodes worked again: the
// nodes are ready, terminating pods are gone, and the other pods are ready.
func Repaired(st *daemonset.State, names []string) (*daemonset.State, error) {
	s, is := st.Snapshot, map[string]bool{}
	out := *s
	for _, name := range names {
		is[name] = true
	}
	out.Nodes, out.Pods = snapshot.Joined(s.Nodes), slices.DeleteFunc(snapshot.Joined(s.Pods), func(p corev1.Pod) bool {
		return is[p.Spec.NodeName] && p.DeletionTimestamp != nil
	})
	for i := range out.Nodes {
		if !is[out.Nodes[i].Name] {
			continue
		}
		n := out.Nodes[i].DeepCopy()
		dropTaints(n, func(t *corev1.Taint) bool {
			return t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable
		})
		for j := range n.Status.Conditions {
			if c := &n.Status.Conditions[j]; c.Type == corev1.NodeReady {
				c.Status = corev1.ConditionTrue
			}
		}
		out.Nodes[i] = *n
	}
	for i := range out.Pods {
		if !is[out.Pods[i].Spec.NodeName] {
			continue
		}
		p := out.Pods[i].DeepCopy()
		since := p.CreationTimestamp // changes by the node lifecycle controller say nothing about the pod's start
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.ContainersReady && c.Status == corev1.ConditionTrue {
				since = c.LastTransitionTime
			}
		}
		for j := range p.Status.Conditions {
			if c := &p.Status.Conditions[j]; c.Type == corev1.PodReady {
				c.Status, c.LastTransitionTime = corev1.ConditionTrue, since
			}
		}
		out.Pods[i] = *p
	}
	return st.Changed(&out)
}
