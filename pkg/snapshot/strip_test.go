package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestStripPod(t *testing.T) {
	at := metav1.Unix(1_800_000_000, 0)
	affinity := func(preferred []corev1.PreferredSchedulingTerm) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}},
			PreferredDuringSchedulingIgnoredDuringExecution: preferred,
		}}
	}
	preferred := []corev1.PreferredSchedulingTerm{{Weight: 1}}
	for _, tt := range []struct {
		pod, want corev1.PodSpec
		why       string
	}{
		{corev1.PodSpec{Affinity: affinity(preferred)}, corev1.PodSpec{Affinity: affinity(nil)}, "a pod that is not bound is for the node that its required affinity names"},
		{corev1.PodSpec{NodeName: "n", Affinity: affinity(preferred)}, corev1.PodSpec{NodeName: "n"}, "one that is bound is for that node"},
		{
			corev1.PodSpec{Volumes: []corev1.Volume{{}}, Containers: []corev1.Container{{Name: "c", Image: "i", Env: []corev1.EnvVar{{Value: "secret"}}}}},
			corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			"of a container its image stays",
		},
	} {
		p := corev1.Pod{Spec: tt.pod}
		StripPod(&p)
		tt.want.Containers, tt.want.InitContainers = stripContainers(tt.want.Containers), stripContainers(nil)
		if diff := cmp.Diff(tt.want, p.Spec); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}

	yes := true
	ended := func(id string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "m", StartedAt: at, FinishedAt: at, ContainerID: id}}
	}
	statuses := func(id string) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{
			Name: "c", Image: "i", ImageID: id, ContainerID: id, Ready: true, Started: &yes, RestartCount: 2, State: ended(id), LastTerminationState: ended(id),
		}}
	}
	condition := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "r", Message: "m", LastTransitionTime: at}
	probed := condition
	probed.LastProbeTime = at
	p := corev1.Pod{Status: corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.0.0.1", Conditions: []corev1.PodCondition{probed}, InitContainerStatuses: statuses("id"), ContainerStatuses: statuses("id"),
	}}
	StripPod(&p)
	want := corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{condition}, InitContainerStatuses: statuses(""), ContainerStatuses: statuses("")}
	if diff := cmp.Diff(want, p.Status); diff != "" {
		t.Errorf("the status (-want +got):\n%s", diff)
	}
}

// TestStripRevision: who wrote the number stays, and when; of others nothing.
func TestStripRevision(t *testing.T) {
	at := metav1.Unix(1_800_000_000, 0)
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	r := appsv1.ControllerRevision{Revision: 3}
	r.ManagedFields = []metav1.ManagedFieldsEntry{
		entry("kube-controller-manager", `{"f:data":{},"f:metadata":{"f:annotations":{}},"f:revision":{}}`), entry("somebody", `{"f:metadata":{"f:labels":{"f:revision":{}}}}`), entry("broken", `{`),
	}
	want := appsv1.ControllerRevision{Revision: 3}
	want.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", Time: &at}}
	for _, time := range []string{"once", "twice"} {
		StripRevision(&r)
		if diff := cmp.Diff(want, r); diff != "" {
			t.Errorf("stripped %s (-want +got):\n%s", time, diff)
		}
	}
}
