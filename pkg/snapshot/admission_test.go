package snapshot_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestFor checks that a dry run counts only for its own template.
func TestFor(t *testing.T) {
	of := func(image string) *corev1.PodTemplateSpec {
		return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: image}}}}
	}
	for _, tt := range []struct {
		asked *corev1.PodTemplateSpec
		want  bool
		why   string
	}{
		{of("a:1"), true, "that one"},
		{of("a:2"), false, "another"},
		{nil, true, "whichever it was"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := (&snapshot.Snapshot{Admission: &snapshot.Admission{}}).Tried(&snapshot.PodDryRun{Of: tt.asked, Answer: snapshot.DryRunCreated})
			if got := s.Admission.For(of("a:1")).DryRun != nil; got != tt.want {
				t.Errorf("it tells: %v", got)
			}
			if s.Admission.DryRun == nil {
				t.Error("the Snapshot was changed")
			}
		})
	}
	if (*snapshot.Admission)(nil).For(of("a:1")) != nil {
		t.Error("of nothing something came")
	}
}
