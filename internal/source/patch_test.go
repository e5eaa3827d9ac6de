package source_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
)

// TestSpecPatch checks that the API server's merge of the patch turns one spec into the other, and that the patch has
// only the differences.
func TestSpecPatch(t *testing.T) {
	from := dstest.State("N N").DaemonSet.Spec
	from.Template.Spec.Containers = append(from.Template.Spec.Containers, corev1.Container{Name: "side", Image: "side:1", Env: []corev1.EnvVar{{Name: "TOKEN", Value: "sesame"}}})
	from.Template.Spec.NodeSelector = map[string]string{"a": "b", "c": "d"}
	for _, tt := range []struct {
		change    func(*appsv1.DaemonSetSpec)
		want, why string
	}{
		{func(*appsv1.DaemonSetSpec) {}, ``, "nothing differs"},
		{func(s *appsv1.DaemonSetSpec) { s.MinReadySeconds = 30 }, `{"spec":{"minReadySeconds":30}}`, "a number"},
		{func(s *appsv1.DaemonSetSpec) { s.Template.Spec.Containers[1].Image = "side:2" },
			`{"spec":{"template":{"spec":{"containers":[{"image":"side:2","name":"side"}]}}}}`, "one of two containers, by its name, and no value of its environment"},
		{func(s *appsv1.DaemonSetSpec) { s.Template.Spec.NodeSelector = map[string]string{"a": "b"} }, `{"spec":{"template":{"spec":{"nodeSelector":{"c":null}}}}}`, "a label that is dropped"},
		{func(s *appsv1.DaemonSetSpec) {
			s.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
		}, `{"spec":{"updateStrategy":{"rollingUpdate":null,"type":"OnDelete"}}}`, "a strategy without a limit"},
		{func(s *appsv1.DaemonSetSpec) {
			two := intstr.FromString("20%")
			s.UpdateStrategy.RollingUpdate.MaxUnavailable, s.Template.Spec.Tolerations = &two, []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}, `{"spec":{"template":{"spec":{"tolerations":[{"operator":"Exists"}]}},"updateStrategy":{"rollingUpdate":{"maxUnavailable":"20%"}}}}`, "two things at once"},
	} {
		to := *from.DeepCopy()
		tt.change(&to)
		patch, err := manifest.SpecPatch(&from, &to)
		if diff := cmp.Diff(tt.want, strings.TrimSpace(string(patch))); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.why, err, diff)
		}
		if len(patch) == 0 {
			continue
		}
		merged, err := strategicpatch.StrategicMergePatch(object.Encoded(&appsv1.DaemonSet{Spec: from}), patch, appsv1.DaemonSet{})
		if err != nil {
			t.Fatalf("%s: %v", tt.why, err)
		}
		var got appsv1.DaemonSet
		if err := json.Unmarshal(merged, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(to, got.Spec); diff != "" {
			t.Errorf("%s: it makes another spec (-want +got):\n%s", tt.why, diff)
		}
	}
}
