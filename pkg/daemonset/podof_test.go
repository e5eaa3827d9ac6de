package daemonset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

func TestPodFor(t *testing.T) {
	seconds := int64(30)
	s := dstest.State("- -", dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
		spec := &ds.Spec.Template.Spec
		spec.HostNetwork = true
		spec.Tolerations = []corev1.Toleration{
			{Key: "gpu", Operator: corev1.TolerationOpExists},
			{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds},
		}
		spec.Affinity = &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "pool", Operator: corev1.NodeSelectorOpExists}},
				}}},
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}},
			},
			PodAntiAffinity: &corev1.PodAntiAffinity{},
		}
	}))
	st, err := daemonset.StateOf(s)
	if err != nil {
		t.Fatal(err)
	}
	before := st.DaemonSet.DeepCopy()
	got := st.PodFor("n1")

	tolerate := func(key string, effect corev1.TaintEffect) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
	}
	want := []corev1.Toleration{
		tolerate("gpu", ""),
		tolerate(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute), // replaces the template's, of 30 seconds
		tolerate(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		tolerate(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
		tolerate(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
		tolerate(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
		tolerate(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
		tolerate(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule),
	}
	if diff := cmp.Diff(want, got.Spec.Tolerations); diff != "" {
		t.Errorf("tolerations (-want +got):\n%s", diff)
	}
	affinity := &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n1"}}},
			}}},
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}},
		},
		PodAntiAffinity: &corev1.PodAntiAffinity{},
	}
	if diff := cmp.Diff(affinity, got.Spec.Affinity); diff != "" {
		t.Errorf("affinity (-want +got):\n%s", diff)
	}
	if got.Namespace != st.DaemonSet.Namespace || got.GenerateName != st.DaemonSet.Name+"-" || got.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] != st.History.Hash || got.OwnerReferences[0].UID != st.DaemonSet.UID {
		t.Errorf("metadata: %+v", got.ObjectMeta)
	}
	if diff := cmp.Diff(before, st.DaemonSet); diff != "" {
		t.Errorf("the DaemonSet was changed:\n%s", diff)
	}
}
