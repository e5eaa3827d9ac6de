package daemonset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Claim says who owns a pod or a revision.
type Claim string

const (
	Owned Claim = "Owned" // the DaemonSet controls it, and its selector matches
	// Adopt: it has no controller, and the selector matches: the next sync adopts it
	Adopt Claim = "Adopt"
	// Release: the DaemonSet controls it, but the selector does not match: the next sync releases it
	Release Claim = "Release"
	// Foreign: the selector matches, but another object controls it; such pods are in `problems` only
	Foreign   Claim = "Foreign"
	Unrelated Claim = "Unrelated" // neither condition is true; such pods are in no document
)

// claimOf returns who owns an object in the DaemonSet's namespace.
//
// Phase and deletion do not matter for an object that is already owned. A
// DaemonSet that is being deleted neither adopts nor releases, and an orphan
// that is being deleted is not adopted. If the DaemonSet's UID is unknown, as
// in a cleaned-up dump, the controller reference is matched by name.
func claimOf(o metav1.Object, ds *appsv1.DaemonSet, selector labels.Selector) Claim {
	matches := selector.Matches(labels.Set(o.GetLabels()))
	ref := metav1.GetControllerOfNoCopy(o)
	switch {
	case ref != nil && !refersTo(ref, ds):
		if matches {
			return Foreign
		}
	case ref != nil && matches:
		return Owned
	case ref != nil:
		if ds.DeletionTimestamp == nil {
			return Release
		}
	case matches && ds.DeletionTimestamp == nil && o.GetDeletionTimestamp() == nil:
		return Adopt
	}
	return Unrelated
}

func refersTo(ref *metav1.OwnerReference, ds *appsv1.DaemonSet) bool {
	if ds.UID == "" {
		return ref.Kind == "DaemonSet" && ref.Name == ds.Name
	}
	return ref.UID == ds.UID
}

// TargetNode returns the node that a pod is for: the node that it is bound to,
// or else the single value of the first metadata.name In requirement among the
// matchFields of its required node affinity. If there is neither, it returns
// false, and the controller ignores the pod.
func TargetNode(p *corev1.Pod) (string, bool) {
	if p.Spec.NodeName != "" {
		return p.Spec.NodeName, true
	}
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return "", false
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range term.MatchFields {
			if f.Key == metav1.ObjectNameField && f.Operator == corev1.NodeSelectorOpIn {
				if len(f.Values) != 1 {
					return "", false
				}
				return f.Values[0], true
			}
		}
	}
	return "", false
}
