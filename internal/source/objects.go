package source

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// stripDaemonSet drops of a DaemonSet only which fields of its status were
// written by whom: who wrote when is a few bytes, and tells who changed it. What
// is owned outside the status stays, and the annotations too: Overlay needs
// them, and the controller reads one.
func stripDaemonSet(ds *appsv1.DaemonSet) {
	ds.TypeMeta = metav1.TypeMeta{}
	for i := range ds.ManagedFields {
		if m := &ds.ManagedFields[i]; m.Subresource != "" {
			m.FieldsType, m.FieldsV1 = "", nil
		}
	}
}

// stripRecorded drops of a recorded Snapshot what this program would not have recorded:
// somebody else may have written it.
func stripRecorded(s *snapshot.Snapshot) {
	for i := range s.Pods {
		snapshot.StripPod(&s.Pods[i])
	}
	for i := range s.Nodes {
		snapshot.StripNode(&s.Nodes[i])
	}
}

// each returns a function that keeps of a page what keep lets through, and
// strips it.
func each[T any](strip func(*T), keep func(*T) bool) func([]T) []T {
	return func(page []T) []T {
		if keep != nil {
			page = slices.DeleteFunc(page, func(o T) bool { return !keep(&o) })
		}
		for i := range page {
			strip(&page[i])
		}
		return page
	}
}

// filter returns copies of what keep lets through.
func filter[T any](all []T, keep func(*T) bool) []T {
	var out []T
	for i := range all {
		if keep(&all[i]) {
			out = append(out, all[i])
		}
	}
	return out
}

func key(m *metav1.ObjectMeta) string { return m.Namespace + "/" + m.Name }

func eventKey(e *corev1.Event) string { return key(&e.ObjectMeta) }

// compare orders objects by namespace and name.
func compare(a, b *metav1.ObjectMeta) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// order sorts the lists of a Snapshot by name, but the nodes, which Snapshots
// share and which are in order already: see sortNodes.
func order(s *snapshot.Snapshot) {
	slices.SortFunc(s.Revisions, func(a, b appsv1.ControllerRevision) int { return compare(&a.ObjectMeta, &b.ObjectMeta) })
	slices.SortFunc(s.Pods, func(a, b corev1.Pod) int { return compare(&a.ObjectMeta, &b.ObjectMeta) })
	slices.SortFunc(s.Events, func(a, b corev1.Event) int { return compare(&a.ObjectMeta, &b.ObjectMeta) })
	slices.SortFunc(s.PodDisruptionBudgets, func(a, b policyv1.PodDisruptionBudget) int { return compare(&a.ObjectMeta, &b.ObjectMeta) })
}

func sortNodes(nodes []corev1.Node) {
	slices.SortFunc(nodes, func(a, b corev1.Node) int { return compare(&a.ObjectMeta, &b.ObjectMeta) })
}

// ordered returns the gaps in the order of snapshot.Whats, and of two gaps of
// one part for one reason the first.
func ordered(gaps []snapshot.Gap) []snapshot.Gap {
	var out []snapshot.Gap
	for _, what := range snapshot.Whats {
		seen := map[snapshot.Why]bool{}
		for _, g := range gaps {
			if g.What == what && !seen[g.Why] {
				seen[g.Why] = true
				out = append(out, g)
			}
		}
	}
	return out
}
