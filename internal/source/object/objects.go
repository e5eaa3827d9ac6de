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

// MetaOf returns the metadata of an API object.
func MetaOf[T any](o *T) metav1.Object { return any(o).(metav1.Object) }

// Strip removes from o the fields that no rule and no screen reads.
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

// StripDaemonSet clears the field sets in the managedFields entries for subresources such as status. It keeps the
// managers and their times, because they are small and show who changed the DaemonSet. It also keeps all other field
// sets and the annotations. manifest.Overlay needs them, and the controller reads one annotation.
func StripDaemonSet(ds *appsv1.DaemonSet) {
	for i := range ds.ManagedFields {
		if m := &ds.ManagedFields[i]; m.Subresource != "" {
			m.FieldsType, m.FieldsV1 = "", nil
		}
	}
}

// StripRecorded removes from a recorded Snapshot the fields that this program does not record. Another program may
// have written the Snapshot.
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

// Filter returns copies of the objects that keep accepts.
func Filter[T any](all []T, keep func(metav1.Object) bool) []T {
	var kept []int // each object takes about a kilobyte, so it is copied only once
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

// Those returns the objects that keep accepts. If it accepts all, the result shares memory with all; do not modify
// it.
func Those[T any](all []T, keep func(metav1.Object) bool) []T {
	for i := range all {
		if !keep(MetaOf(&all[i])) {
			return Filter(all, keep)
		}
	}
	return slices.Clip(all)
}

// Key returns the namespace and the name of an object.
func Key(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

// KeyOf returns the Key of an object.
func KeyOf[T any](o *T) string { return Key(MetaOf(o)) }

// SortByName sorts objects by namespace and name. It copies no object to compare it.
func SortByName[T any](all []T) {
	sort.Slice(all, func(i, j int) bool {
		a, b := MetaOf(&all[i]), MetaOf(&all[j])
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()),
			strings.Compare(a.GetName(), b.GetName())) < 0
	})
}

// Order sorts the lists of a Snapshot by name. It skips the nodes, because Snapshots share them and they are sorted.
func Order(s *snapshot.Snapshot) {
	SortByName(s.Revisions)
	SortByName(s.Pods)
	SortByName(s.Events)
	SortByName(s.PodDisruptionBudgets)
}

// Ordered returns the gaps in the order of snapshot.Whats. If several gaps have the same part and reason, it returns
// only the first.
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

// Relation selects the objects for the Snapshot of a DaemonSet: all that its controller could claim or own, and the
// events about them. pkg/daemonset decides which objects the controller claims.
type Relation struct {
	Ds       *appsv1.DaemonSet
	Selector labels.Selector
}

// Relate returns the Relation for a DaemonSet, or an error if its selector is invalid.
func Relate(ds *appsv1.DaemonSet) (Relation, error) {
	selector, err := metav1.LabelSelectorAsSelector(ds.Spec.Selector)
	if err != nil {
		return Relation{}, fmt.Errorf("daemonset %s/%s: spec.selector: %w", ds.Namespace, ds.Name, err)
	}
	return Relation{ds, selector}, nil
}

// Takes reports whether the DaemonSet controls the object, or its selector matches the object's labels.
func (r Relation) Takes(o metav1.Object) bool {
	owner := metav1.GetControllerOfNoCopy(o)
	return o.GetNamespace() == r.Ds.Namespace &&
		(owner != nil && owner.UID == r.Ds.UID && r.Ds.UID != "" || r.Selector.Matches(labels.Set(o.GetLabels())))
}

// Owns reports whether the DaemonSet controls the object, or may adopt it because nobody controls it. The object must
// satisfy Takes. If the DaemonSet has no UID, as in an edited dump, Owns compares the names.
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

// SelectedBy reports whether a PodDisruptionBudget selects the pods of the live template. A budget with an invalid
// selector selects none.
func (r Relation) SelectedBy(o metav1.Object) bool {
	b := o.(*policyv1.PodDisruptionBudget)
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && b.Namespace == r.Ds.Namespace && selector.Matches(labels.Set(r.Ds.Spec.Template.Labels))
}

// Concerns reports whether an event is about this DaemonSet, and not an earlier one with the same name.
func (r Relation) Concerns(event metav1.Object) bool {
	o := &event.(*corev1.Event).InvolvedObject
	return o.Kind == "DaemonSet" && o.Namespace == r.Ds.Namespace && o.Name == r.Ds.Name &&
		(o.UID == r.Ds.UID || o.UID == "" || r.Ds.UID == "")
}

// Troubled is the set of pods whose events the program keeps.
type Troubled map[types.UID]bool

// TroubledOf returns the pods that are terminating or not ready. The events of a terminating pod can show what delays
// it.
func TroubledOf(pods []corev1.Pod) Troubled {
	t := Troubled{}
	for i := range pods {
		if p := &pods[i]; p.UID != "" && (p.DeletionTimestamp != nil || !ready(p)) {
			t[p.UID] = true
		}
	}
	return t
}

// Concerned reports whether the program keeps an event: it is about one of the pods, and it is a warning or has one
// of NormalReasons.
func (t Troubled) Concerned(o metav1.Object) bool {
	e := o.(*corev1.Event)
	return e.InvolvedObject.Kind == "Pod" && t[e.InvolvedObject.UID] &&
		(e.Type == corev1.EventTypeWarning || slices.Contains(NormalReasons, e.Reason))
}

// NormalReasons has the reasons of normal events about pods that the program keeps.
var NormalReasons = []string{"Pulling", "Pulled", "Killing"}

// NewestOfEach drops a normal event about a pod if there is a newer one with the same pod, reason and container. If
// an event does not name the container, NewestOfEach compares the messages instead.
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

// isNormal reports whether an event is about a pod and is not a warning.
func isNormal(e *corev1.Event) bool {
	return e.InvolvedObject.Kind == "Pod" && e.Type != corev1.EventTypeWarning
}

// lastSeen returns the time at which an event happened last.
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
