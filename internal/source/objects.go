package source

import (
	"cmp"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// metaOf returns what the API's objects have in common, of a pointer to one.
func metaOf[T any](o *T) metav1.Object { return any(o).(metav1.Object) }

// strip drops of an object what no rule and no screen reads.
func strip(o any) {
	o.(runtime.Object).GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	switch o := o.(type) {
	case *appsv1.DaemonSet:
		stripDaemonSet(o)
	case *corev1.Node:
		snapshot.StripNode(o)
	case *corev1.Pod:
		snapshot.StripPod(o)
	case *appsv1.ControllerRevision:
		snapshot.StripRevision(o)
	case *corev1.Event:
		snapshot.StripEvent(o)
	case *policyv1.PodDisruptionBudget:
		snapshot.StripPodDisruptionBudget(o)
	}
}

// stripDaemonSet drops of a DaemonSet only which fields of its status were
// written by whom: who wrote when is a few bytes, and tells who changed it. What
// is owned outside the status stays, and the annotations too: Overlay needs
// them, and the controller reads one.
func stripDaemonSet(ds *appsv1.DaemonSet) {
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

// filter returns copies of what keep lets through.
func filter[T any](all []T, keep func(metav1.Object) bool) []T {
	var out []T
	for i := range all {
		if keep(metaOf(&all[i])) {
			out = append(out, all[i])
		}
	}
	return out
}

func key(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

// sortByName orders objects by namespace and name, and copies none to compare it.
func sortByName[T any](all []T) {
	sort.Slice(all, func(i, j int) bool {
		a, b := metaOf(&all[i]), metaOf(&all[j])
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName())) < 0
	})
}

// order sorts the lists of a Snapshot by name, but the nodes, which Snapshots
// share and which are in order already.
func order(s *snapshot.Snapshot) {
	sortByName(s.Revisions)
	sortByName(s.Pods)
	sortByName(s.Events)
	sortByName(s.PodDisruptionBudgets)
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
