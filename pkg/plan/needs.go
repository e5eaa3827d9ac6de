package plan

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// NeedsOf returns what a plan reads in addition to the objects that every Snapshot has: the admission objects if it
// creates pods, and the other pods of the nodes that get a pod, if fit is true or the new pod may not fit there. It may
// not fit on a node without a pod, or if the old pod requests less or something else. For these nodes it also reads the
// volumes of the claims in the template.
func NeedsOf(st *daemonset.State, fit bool) cause.Needs {
	n := cause.NeedsOf(st)
	if !st.PodsRead || ignored(st.DaemonSet) {
		return n
	}
	gets := false
	rolls, takes := st.Budget.Kind != daemonset.BudgetNone, newDemandCache(st)
	for i := range st.Nodes {
		d := &st.Nodes[i]
		old := slices.IndexFunc(d.Pods, func(p daemonset.Pod) bool { return !p.Updated })
		switch {
		case !st.NodesRead: // it is still known which pods are replaced
			n.Admission = n.Admission || old >= 0 && rolls
			continue
		case !d.ShouldRun.OK || d.Object == nil:
			continue
		case len(d.Pods) == 0 || old >= 0 && rolls:
			n.Admission = true
		default:
			continue
		}
		if fit || len(d.Pods) == 0 || !takes.sameAs(&d.Pods[old]) {
			n.Nodes, gets = append(n.Nodes, d.Name), true
		}
	}
	if gets {
		n.Claims = append(n.Claims, snapshot.ClaimsOf("", &st.DaemonSet.Spec.Template.Spec)...)
	}
	return cause.Needs{}.And(n)
}

// NextPod returns the pod that the controller creates on the first node that gets one, by name, in a form that can be
// sent to an API server: a placeholder replaces the hash of a revision that does not exist yet. It returns nil if the
// controller creates no pod.
func NextPod(st *daemonset.State) *corev1.Pod {
	if !st.PodsRead || ignored(st.DaemonSet) {
		return nil
	}
	for i := range st.Nodes {
		n := &st.Nodes[i]
		if !getsPod(n, st) {
			continue
		}
		pod := st.PodFor(n.Name)
		if len(validation.IsValidLabelValue(pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey])) > 0 {
			pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = "new"
		}
		return pod
	}
	return nil
}

// demandCache compares what the current template requires of a node with what other revisions require, by name of the
// revision.
type demandCache struct {
	st   *daemonset.State
	same map[string]bool
}

func newDemandCache(st *daemonset.State) *demandCache { return &demandCache{st, map[string]bool{}} }

// sameAs reports whether the current template requires the same of a node as the revision of an old pod. It returns
// false if that revision is unknown.
func (t *demandCache) sameAs(p *daemonset.Pod) bool {
	same, known := t.same[p.Revision]
	if !known {
		if old := t.st.TemplateOf(p.Revision); old != nil {
			same = sameDemand(&old.Spec, &t.st.DaemonSet.Spec.Template.Spec)
		}
		t.same[p.Revision] = same
	}
	return same
}

// sameDemand reports whether two templates require the same of a node: resources, ports, volumes and priority.
func sameDemand(a, b *corev1.PodSpec) bool {
	return equality.Semantic.DeepEqual(demand(a), demand(b))
}

// demand returns the fields of a template that decide whether its pod fits on a node.
func demand(s *corev1.PodSpec) corev1.PodSpec {
	parts := func(cs []corev1.Container) (out []corev1.Container) {
		for _, c := range cs {
			out = append(out, corev1.Container{Resources: c.Resources, Ports: c.Ports, RestartPolicy: c.RestartPolicy})
		}
		return out
	}
	out := corev1.PodSpec{
		Containers: parts(s.Containers), InitContainers: parts(s.InitContainers), Resources: s.Resources,
		Overhead: s.Overhead, HostNetwork: s.HostNetwork,
		PriorityClassName: s.PriorityClassName, RuntimeClassName: s.RuntimeClassName, SchedulerName: s.SchedulerName,
	}
	for _, v := range s.Volumes {
		if v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			out.Volumes = append(out.Volumes, v)
		}
	}
	return out
}
