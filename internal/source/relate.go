package source

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// relation selects the objects of a namespace that go into the Snapshot of a
// DaemonSet: all that its controller could claim, own or speak of. Which of
// them it does claim is for pkg/daemonset to say.
type relation struct {
	ds       *appsv1.DaemonSet
	selector labels.Selector
}

func relate(ds *appsv1.DaemonSet) (relation, error) {
	selector, err := metav1.LabelSelectorAsSelector(ds.Spec.Selector)
	if err != nil {
		return relation{}, fmt.Errorf("daemonset %s/%s: spec.selector: %w", ds.Namespace, ds.Name, err)
	}
	return relation{ds, selector}, nil
}

// takes reports whether an object of this metadata is the DaemonSet's by its
// controller reference, or could become it, or only looks like it, by its
// labels.
func (r relation) takes(o metav1.Object) bool {
	owner := metav1.GetControllerOfNoCopy(o)
	return o.GetNamespace() == r.ds.Namespace &&
		(owner != nil && owner.UID == r.ds.UID && r.ds.UID != "" || r.selector.Matches(labels.Set(o.GetLabels())))
}

// owns reports whether an object that it takes is the DaemonSet's, or nobody's,
// so that the controller would adopt it. Of a DaemonSet without a UID, as in a
// dump that was tidied up, the controller reference names it.
func (r relation) owns(o metav1.Object) bool {
	owner := metav1.GetControllerOfNoCopy(o)
	switch {
	case !r.takes(o):
		return false
	case owner == nil:
		return true
	case r.ds.UID == "":
		return owner.Kind == "DaemonSet" && owner.Name == r.ds.Name
	}
	return owner.UID == r.ds.UID
}

// selectedBy reports whether a PodDisruptionBudget is one for the pods of the
// live template. One whose selector cannot be parsed is for none.
func (r relation) selectedBy(o metav1.Object) bool {
	b := o.(*policyv1.PodDisruptionBudget)
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && b.Namespace == r.ds.Namespace && selector.Matches(labels.Set(r.ds.Spec.Template.Labels))
}

// concerns reports whether an event is about the DaemonSet itself. One of an
// earlier DaemonSet of the same name is not.
func (r relation) concerns(event metav1.Object) bool {
	o := &event.(*corev1.Event).InvolvedObject
	return o.Kind == "DaemonSet" && o.Namespace == r.ds.Namespace && o.Name == r.ds.Name &&
		(o.UID == r.ds.UID || o.UID == "" || r.ds.UID == "")
}

// troubled are the pods whose events are wanted.
type troubled map[types.UID]bool

// add adds the pods that are not ready, and those on their way out: what
// keeps a pod from ending is told by events too.
func (t troubled) add(pods []corev1.Pod) {
	for i := range pods {
		if p := &pods[i]; p.UID != "" && (p.DeletionTimestamp != nil || !ready(p)) {
			t[p.UID] = true
		}
	}
}

// concerned reports whether an event is a warning about one of the pods.
func (t troubled) concerned(o metav1.Object) bool {
	e := o.(*corev1.Event)
	return e.Type == corev1.EventTypeWarning && e.InvolvedObject.Kind == "Pod" && t[e.InvolvedObject.UID]
}

func ready(p *corev1.Pod) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
