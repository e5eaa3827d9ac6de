package object

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// MetaOf returns what the API's objects have in common, of a pointer to one.
func MetaOf[T any](o *T) metav1.Object { return any(o).(metav1.Object) }

// Strip drops of an object what no rule and no screen reads.
func Strip(o any) {
	o.(runtime.Object).GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	switch o := o.(type) {
	case *appsv1.DaemonSet:
		StripDaemonSet(o)
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
	case *corev1.Namespace:
		snapshot.StripNamespace(o)
	case *schedulingv1.PriorityClass:
		snapshot.StripPriorityClass(o)
	case *nodev1.RuntimeClass:
		snapshot.StripRuntimeClass(o)
	case *corev1.ServiceAccount:
		snapshot.StripServiceAccount(o)
	case *corev1.ResourceQuota:
		snapshot.StripResourceQuota(o)
	case *corev1.LimitRange:
		snapshot.StripLimitRange(o)
	case *corev1.PersistentVolumeClaim:
		o.ManagedFields, o.Status = nil, corev1.PersistentVolumeClaimStatus{AccessModes: o.Status.AccessModes}
	case *corev1.PersistentVolume:
		o.ManagedFields, o.Annotations = nil, nil
	case *storagev1.CSINode:
		o.ManagedFields, o.Annotations = nil, nil
	}
}

// StripDaemonSet drops of a DaemonSet only which fields of its status were
// written by whom: who wrote when is a few bytes, and tells who changed it. What
// is owned outside the status stays, and the annotations too: Overlay needs
// them, and the controller reads one.
func StripDaemonSet(ds *appsv1.DaemonSet) {
	for i := range ds.ManagedFields {
		if m := &ds.ManagedFields[i]; m.Subresource != "" {
			m.FieldsType, m.FieldsV1 = "", nil
		}
	}
}

// StripRecorded drops of a recorded Snapshot what this program would not have recorded:
// somebody else may have written it.
func StripRecorded(s *snapshot.Snapshot) {
	for i := range s.Pods {
		snapshot.StripPod(&s.Pods[i])
	}
	for i := range s.Nodes {
		snapshot.StripNode(&s.Nodes[i])
	}
	if o := s.OpenShift; o != nil && o.Namespace != nil {
		Strip(o.Namespace)
	}
	if a := s.Admission; a != nil {
		if a.Namespace != nil {
			Strip(a.Namespace)
		}
		stripAll(a.PriorityClasses)
		stripAll(a.RuntimeClasses)
		stripAll(a.ServiceAccounts)
		stripAll(a.ResourceQuotas)
		stripAll(a.LimitRanges)
	}
}

func stripAll[T any](all []T) {
	for i := range all {
		Strip(&all[i])
	}
}

// Filter returns copies of what keep lets through.
func Filter[T any](all []T, keep func(metav1.Object) bool) []T {
	var kept []int // an object takes a kilobyte: each is copied once
	for i := range all {
		if keep(MetaOf(&all[i])) {
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	out := make([]T, len(kept))
	for to, from := range kept {
		out[to] = all[from]
	}
	return out
}

// Those returns what keep lets through, and no copies where that is all: it is not to be changed.
func Those[T any](all []T, keep func(metav1.Object) bool) []T {
	for i := range all {
		if !keep(MetaOf(&all[i])) {
			return Filter(all, keep)
		}
	}
	return slices.Clip(all)
}

func Key(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

// KeyOf returns the key of a pointer to an object.
func KeyOf[T any](o *T) string { return Key(MetaOf(o)) }

// SortByName orders objects by namespace and name, and copies none to compare it.
func SortByName[T any](all []T) {
	sort.Slice(all, func(i, j int) bool {
		a, b := MetaOf(&all[i]), MetaOf(&all[j])
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()),
			strings.Compare(a.GetName(), b.GetName())) < 0
	})
}

// Order sorts the lists of a Snapshot by name, but the nodes, which Snapshots
// share and which are in order already.
func Order(s *snapshot.Snapshot) {
	SortByName(s.Revisions)
	SortByName(s.Pods)
	SortByName(s.Events)
	SortByName(s.PodDisruptionBudgets)
}

// Ordered returns the gaps in the order of snapshot.Whats. If several gaps have
// the same part and reason, it returns only the first.
func Ordered(gaps []snapshot.Gap) []snapshot.Gap {
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

// Relation selects the objects of a namespace that go into the Snapshot of a
// DaemonSet: all that its controller could claim, own or speak of. Which of
// them it does claim is for pkg/daemonset to say.
type Relation struct {
	Ds       *appsv1.DaemonSet
	Selector labels.Selector
}

func Relate(ds *appsv1.DaemonSet) (Relation, error) {
	selector, err := metav1.LabelSelectorAsSelector(ds.Spec.Selector)
	if err != nil {
		return Relation{}, fmt.Errorf("daemonset %s/%s: spec.selector: %w", ds.Namespace, ds.Name, err)
	}
	return Relation{ds, selector}, nil
}

// Takes reports whether an object of this metadata is the DaemonSet's by its
// controller reference, or could become it, or only looks like it, by its
// labels.
func (r Relation) Takes(o metav1.Object) bool {
	owner := metav1.GetControllerOfNoCopy(o)
	return o.GetNamespace() == r.Ds.Namespace &&
		(owner != nil && owner.UID == r.Ds.UID && r.Ds.UID != "" || r.Selector.Matches(labels.Set(o.GetLabels())))
}

// Owns reports whether an object that it takes is the DaemonSet's, or nobody's,
// so that the controller would adopt it. Of a DaemonSet without a UID, as in a
// dump that was tidied up, the controller reference names it.
func (r Relation) Owns(o metav1.Object) bool {
	owner := metav1.GetControllerOfNoCopy(o)
	switch {
	case !r.Takes(o):
		return false
	case owner == nil:
		return true
	case r.Ds.UID == "":
		return owner.Kind == "DaemonSet" && owner.Name == r.Ds.Name
	}
	return owner.UID == r.Ds.UID
}

// SelectedBy reports whether a PodDisruptionBudget is one for the pods of the
// live template. One whose selector cannot be parsed is for none.
func (r Relation) SelectedBy(o metav1.Object) bool {
	b := o.(*policyv1.PodDisruptionBudget)
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && b.Namespace == r.Ds.Namespace && selector.Matches(labels.Set(r.Ds.Spec.Template.Labels))
}

// Concerns reports whether an event is about the DaemonSet itself. One of an
// earlier DaemonSet of the same name is not.
func (r Relation) Concerns(event metav1.Object) bool {
	o := &event.(*corev1.Event).InvolvedObject
	return o.Kind == "DaemonSet" && o.Namespace == r.Ds.Namespace && o.Name == r.Ds.Name &&
		(o.UID == r.Ds.UID || o.UID == "" || r.Ds.UID == "")
}

// Troubled are the pods whose events are wanted.
type Troubled map[types.UID]bool

// TroubledOf returns the pods that are not ready, and those on their way out: what
// keeps a pod from ending is told by events too.
func TroubledOf(pods []corev1.Pod) Troubled {
	t := Troubled{}
	for i := range pods {
		if p := &pods[i]; p.UID != "" && (p.DeletionTimestamp != nil || !ready(p)) {
			t[p.UID] = true
		}
	}
	return t
}

// Concerned reports whether an event is about one of the pods, and wanted: a warning, or what the
// kubelet says of images and of containers that it ends.
func (t Troubled) Concerned(o metav1.Object) bool {
	e := o.(*corev1.Event)
	return e.InvolvedObject.Kind == "Pod" && t[e.InvolvedObject.UID] &&
		(e.Type == corev1.EventTypeWarning || slices.Contains(NormalReasons, e.Reason))
}

// NormalReasons are the reasons of events about pods that are wanted though they are no warnings.
var NormalReasons = []string{"Pulling", "Pulled", "Killing"}

// NewestOfEach drops of the events about pods that are no warnings all but the newest of a pod, a reason
// and a container. Where the event does not name the container, its message tells it from others.
func NewestOfEach(all []corev1.Event) []corev1.Event {
	type subject struct {
		pod            types.UID
		reason, within string
	}
	of := func(e *corev1.Event) subject {
		return subject{e.InvolvedObject.UID, e.Reason, cmp.Or(e.InvolvedObject.FieldPath, e.Message)}
	}
	newest := map[subject]*corev1.Event{}
	for i := range all {
		if e := &all[i]; isNormal(e) {
			old := newest[of(e)]
			if old == nil || cmp.Or(lastSeen(old).Compare(lastSeen(e)), strings.Compare(old.Name, e.Name)) < 0 {
				newest[of(e)] = e
			}
		}
	}
	return Those(all, func(o metav1.Object) bool {
		e := o.(*corev1.Event)
		return !isNormal(e) || newest[of(e)] == e
	})
}

// isNormal reports whether an event is about a pod, and no warning.
func isNormal(e *corev1.Event) bool {
	return e.InvolvedObject.Kind == "Pod" && e.Type != corev1.EventTypeWarning
}

// lastSeen is when an event happened last.
func lastSeen(e *corev1.Event) time.Time {
	if e.Series != nil && e.Series.LastObservedTime.After(e.LastTimestamp.Time) {
		return e.Series.LastObservedTime.Time
	}
	return cmp.Or(e.LastTimestamp.Time, e.EventTime.Time, e.CreationTimestamp.Time)
}

func ready(p *corev1.Pod) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
