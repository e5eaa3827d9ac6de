package snapshot

import (
	"encoding/json"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The Strip functions drop, in place, what no rule and no screen reads, so
// that 15,000 nodes and their pods stay tens of megabytes. They are for
// whoever fills a Snapshot, page by page, before anybody else sees it.

// StripNode keeps of a node its name, labels, taints, conditions, whether it
// is cordoned, its kubelet's version, system and architecture, and its
// allocatable resources. status.images is most of a Node's size.
func StripNode(n *corev1.Node) {
	stripMeta(&n.ObjectMeta)
	n.Annotations = nil
	n.OwnerReferences = nil
	n.Spec = corev1.NodeSpec{Taints: n.Spec.Taints, Unschedulable: n.Spec.Unschedulable}
	n.Status = corev1.NodeStatus{
		Conditions:  n.Status.Conditions,
		Allocatable: n.Status.Allocatable,
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion:  n.Status.NodeInfo.KubeletVersion,
			OperatingSystem: n.Status.NodeInfo.OperatingSystem,
			Architecture:    n.Status.NodeInfo.Architecture,
		},
	}
}

// StripPod keeps of a pod its identity, owner, target node, grace period, the
// image, host ports and resource requests of each container, and its status. Env values,
// which may be secret, go. So does the affinity of a pod that is bound: it
// names the node only until then.
func StripPod(p *corev1.Pod) {
	stripMeta(&p.ObjectMeta)
	p.Annotations = nil
	spec := corev1.PodSpec{
		NodeName:       p.Spec.NodeName,
		Containers:     stripContainers(p.Spec.Containers),
		InitContainers: stripContainers(p.Spec.InitContainers),

		TerminationGracePeriodSeconds: p.Spec.TerminationGracePeriodSeconds,
	}
	if a := p.Spec.Affinity; spec.NodeName == "" && a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		}}
	}
	p.Spec = spec
	p.Status = corev1.PodStatus{
		Phase:                 p.Status.Phase,
		Conditions:            p.Status.Conditions,
		Reason:                p.Status.Reason,
		Message:               p.Status.Message,
		StartTime:             p.Status.StartTime,
		InitContainerStatuses: p.Status.InitContainerStatuses,
		ContainerStatuses:     p.Status.ContainerStatuses,
	}
	for i := range p.Status.Conditions {
		p.Status.Conditions[i].LastProbeTime = metav1.Time{}
	}
	stripStatuses(p.Status.InitContainerStatuses)
	stripStatuses(p.Status.ContainerStatuses)
}

func stripStatuses(cs []corev1.ContainerStatus) {
	for i, c := range cs {
		for _, t := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
			if t != nil {
				t.ContainerID = ""
			}
		}
		cs[i] = corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: c.Ready, Started: c.Started, RestartCount: c.RestartCount,
			State: c.State, LastTerminationState: c.LastTerminationState,
		}
	}
}

func stripContainers(cs []corev1.Container) []corev1.Container {
	out := make([]corev1.Container, len(cs))
	for i, c := range cs {
		out[i] = corev1.Container{Name: c.Name, Image: c.Image, Resources: corev1.ResourceRequirements{Requests: c.Resources.Requests}}
		for _, p := range c.Ports {
			if p.HostPort != 0 {
				out[i].Ports = append(out[i].Ports, corev1.ContainerPort{ContainerPort: p.ContainerPort, HostPort: p.HostPort, Protocol: p.Protocol})
			}
		}
	}
	return slices.Clip(out)
}

// StripRevision keeps all of a revision but who wrote which field. Who wrote its
// number stays, without the fields: the time tells when that was.
func StripRevision(r *appsv1.ControllerRevision) {
	var numbered []metav1.ManagedFieldsEntry
	for _, m := range r.ManagedFields {
		if m.FieldsV1 == nil { // stripped before
			numbered = append(numbered, m)
			continue
		}
		var owned map[string]any
		if json.Unmarshal(m.FieldsV1.GetRawBytes(), &owned) == nil && owned["f:revision"] != nil {
			numbered = append(numbered, metav1.ManagedFieldsEntry{Manager: m.Manager, Operation: m.Operation, APIVersion: m.APIVersion, Time: m.Time})
		}
	}
	stripMeta(&r.ObjectMeta)
	r.ManagedFields = numbered
}

// StripEvent keeps all of an event but who wrote which field.
func StripEvent(e *corev1.Event) { stripMeta(&e.ObjectMeta) }

// StripPodDisruptionBudget keeps of a PodDisruptionBudget its name, labels and
// spec. Its status goes: a rollout heeds none of it.
func StripPodDisruptionBudget(b *policyv1.PodDisruptionBudget) {
	stripMeta(&b.ObjectMeta)
	b.Annotations = nil
	b.Status = policyv1.PodDisruptionBudgetStatus{}
}

func stripMeta(m *metav1.ObjectMeta) {
	m.ManagedFields = nil
	m.GenerateName = ""
}
