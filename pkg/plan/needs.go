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

// NeedsOf returns what the plan of a State looks at besides what its Snapshot holds
// anyway: what admits pods where it creates some, and the other pods of the nodes
// that get a pod, if that was asked (fit) or they can have too little room for it:
// nodes without a pod, and those whose pod takes less, or something else, than the
// new one. With these nodes it looks at the volumes of the claims that the template names.
func NeedsOf(st *daemonset.State, fit bool) cause.Needs {
	n := cause.NeedsOf(st)
	if !st.PodsRead || leftAlone(st.DaemonSet) {
		return n
	}
	gets := false
	rolls, takes := st.Budget.Kind != daemonset.BudgetNone, takesOf(st)
	for i := range st.Nodes {
		d := &st.Nodes[i]
		old := slices.IndexFunc(d.Pods, func(p daemonset.Pod) bool { return !p.Updated })
		switch {
		case !st.NodesRead: // which pods are replaced is still known
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

// NextPod returns the pod that the controller creates for the first node, by name, that
// gets one, as it can be sent to an API server: for the hash of a revision that is yet to
// be created stands another. It is nil where the controller creates none.
func NextPod(st *daemonset.State) *corev1.Pod {
	if !st.PodsRead || leftAlone(st.DaemonSet) {
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

// takes is what the current template takes of a node, and whether others take the
// same, by the name of the revision.
type takes struct {
	st   *daemonset.State
	same map[string]bool
}

func takesOf(st *daemonset.State) *takes { return &takes{st, map[string]bool{}} }

// sameAs reports whether the current template takes what the revision of an old pod
// takes. Of a revision that is not known it says no.
func (t *takes) sameAs(p *daemonset.Pod) bool {
	same, known := t.same[p.Revision]
	if !known {
		if old := t.st.TemplateOf(p.Revision); old != nil {
			same = takesSame(&old.Spec, &t.st.DaemonSet.Spec.Template.Spec)
		}
		t.same[p.Revision] = same
	}
	return same
}

// takesSame reports whether two templates take the same of a node: amounts, ports,
// volumes, and the place that their priority gives them.
func takesSame(a, b *corev1.PodSpec) bool {
	return equality.Semantic.DeepEqual(demand(a), demand(b))
}

// demand returns what of a template decides whether its pod fits on a node.
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
