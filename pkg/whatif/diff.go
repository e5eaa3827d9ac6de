package whatif

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// fieldDiffs returns the differences in the parts of two DaemonSets that people
// write: spec, labels, and annotations except those of the API server and
// kubectl apply.
func fieldDiffs(old, new *appsv1.DaemonSet) ([]FieldDiff, error) {
	oldFields, err := writtenFields(old)
	if err != nil {
		return nil, err
	}
	newFields, err := writtenFields(new)
	if err != nil {
		return nil, err
	}
	return append([]FieldDiff{}, template.Between[appsv1.DaemonSet](oldFields, newFields)...), nil
}

func writtenFields(ds *appsv1.DaemonSet) (map[string]any, error) {
	var w appsv1.DaemonSet
	w.Labels, w.Annotations, w.Spec = ds.Labels, maps.Clone(ds.Annotations), ds.Spec
	delete(w.Annotations, appsv1.DeprecatedTemplateGeneration)
	delete(w.Annotations, corev1.LastAppliedConfigAnnotation)
	return template.Parse(&w)
}

// templateChanged reports whether a ControllerRevision would encode the
// templates of two DaemonSets differently.
func templateChanged(old, new *appsv1.DaemonSet) (bool, error) {
	a, err := template.Of(&old.Spec.Template, false)
	if err != nil {
		return false, err
	}
	b, err := template.Of(&new.Spec.Template, false)
	if err != nil {
		return false, err
	}
	return !a.Equal(b), nil
}
