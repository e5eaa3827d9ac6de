package daemonset

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodFor returns the pod that the controller asks the API server to create for
// a node: the template with the node affinity that binds it (since 1.17), the
// automatic tolerations and the hash of the current revision. It has no name,
// and otherwise everything that admission and scheduling read.
func (st *State) PodFor(node string) *corev1.Pod {
	ds := st.DaemonSet
	template := ds.Spec.Template.DeepCopy()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: ds.Name + "-", Namespace: ds.Namespace, Labels: maps.Clone(template.Labels),
			Annotations: template.Annotations, Finalizers: template.Finalizers,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(ds,
				appsv1.SchemeGroupVersion.WithKind("DaemonSet"))},
		},
		Spec: template.Spec,
	}
	if st.History.Hash != "" {
		if pod.Labels == nil {
			pod.Labels = map[string]string{}
		}
		pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = st.History.Hash
	}
	for _, t := range automaticTolerations(pod.Spec.HostNetwork) {
		tolerate(&pod.Spec, t)
	}
	bind(&pod.Spec, node)
	return pod
}

// tolerate adds a toleration. It replaces a toleration of the template for the
// same taint, whatever its value and seconds.
func tolerate(spec *corev1.PodSpec, add corev1.Toleration) {
	for i := range spec.Tolerations {
		if spec.Tolerations[i].MatchToleration(&add) {
			spec.Tolerations[i] = add
			return
		}
	}
	spec.Tolerations = append(spec.Tolerations, add)
}

// bind replaces the required node affinity by one for the node's name.
func bind(spec *corev1.PodSpec, node string) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn,
			Values: []string{node}}},
	}}}
}
