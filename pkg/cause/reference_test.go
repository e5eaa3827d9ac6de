package cause

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestNamed checks to which causes of which pods a missing object is added.
func TestNamed(t *testing.T) {
	s := dstest.State("n o")
	s.DaemonSet.Spec.Template.Spec = corev1.PodSpec{
		Containers: []corev1.Container{
			{Name: "a", VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}},
			{Name: "b", EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}}},
		},
		Volumes: []corev1.Volume{
			{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}},
			{Name: "w", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "p"}}},
		},
	}
	s.References = &snapshot.References{Objects: []snapshot.Referred{{Kind: snapshot.ConfigMap, Name: "c"}, {Kind: snapshot.Secret, Name: "s"}, {Kind: snapshot.Claim, Name: "p"}}}
	st, err := daemonset.StateOf(s)
	if err != nil {
		t.Fatal(err)
	}
	type facts = daemonset.Facts
	for _, tt := range []struct {
		old       bool
		code      daemonset.Reason
		container string
		want      facts // the added facts; nil: nothing
		as        daemonset.Reason
		why       string
	}{
		{false, ContainerConfig, "b", facts{"kind": "Secret", "name": "s", "field": "envFrom", "container": "b", "init": false}, ContainerConfig, "the container that refers to it"},
		{false, ContainerConfig, "a", nil, ContainerConfig, "and no other"},
		{true, ContainerConfig, "b", nil, ContainerConfig, "an old pod has another template"},
		{false, FailedMount, "b", facts{"kind": "ConfigMap", "name": "c", "field": "volumes", "volume": "v"}, FailedMount, "a volume is every container's"},
		{false, ContainerCreating, "a", facts{"kind": "ConfigMap", "name": "c", "field": "volumes", "volume": "v"}, FailedMount, "it is known before an event tells"},
		{false, PendingUnschedulable, "", facts{"kind": "PersistentVolumeClaim", "name": "p", "field": "volumes", "volume": "w"}, PendingUnschedulable, "the scheduler looks for the claim"},
		{false, CrashLoopBackOff, "b", nil, CrashLoopBackOff, "a container that started refers to nothing that is missing"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			given := facts{"message": "m"}
			if tt.container != "" {
				given["container"] = tt.container
			}
			want := facts{"message": "m"}
			for _, f := range []facts{given, tt.want} {
				for k, v := range f {
					want[k] = v
				}
			}
			got := Find(st).explain(&daemonset.Pod{Updated: !tt.old}, &Cause{Code: tt.code, Facts: given})
			if diff := cmp.Diff(&Cause{Code: tt.as, Facts: want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(given) > 2 {
				t.Errorf("what was given is changed: %v", given)
			}
		})
	}
}
