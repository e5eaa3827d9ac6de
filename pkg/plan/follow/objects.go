package follow

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// objects holds the objects of a Snapshot by kind and name, so that applying a change is cheap. The objects themselves
// are never modified.
type objects struct {
	profile daemonset.Profile
	base    *snapshot.Snapshot // gaps and version
	ds      *appsv1.DaemonSet
	byID    map[id]metav1.Object // nodes, pods, revisions and events
	cached  *snapshot.Snapshot   // made from around; nil after a change
}

type id struct {
	kind reflect.Type
	name string
}

func idOf(object any) id { return id{reflect.TypeOf(object), object.(metav1.Object).GetName()} }

func newObjects(st *daemonset.State) objects {
	s := st.Snapshot
	o := objects{profile: st.Profile, base: s, ds: s.DaemonSet, byID: map[id]metav1.Object{}}
	putAll(&o, s.Nodes)
	putAll(&o, s.Pods)
	putAll(&o, s.Revisions)
	putAll(&o, s.Events)
	return o
}

func putAll[T any](o *objects, all []T) {
	for i := range all {
		o.put(&all[i], false)
	}
}

// get returns the existing object of the same kind and name, or nil.
func (o *objects) get(object any) any {
	if _, ok := object.(*appsv1.DaemonSet); ok {
		return o.ds
	}
	if had, ok := o.byID[idOf(object)]; ok {
		return had
	}
	return nil
}

// put adds or replaces an object or, if gone is true, removes it. Removing a pod removes its events.
func (o *objects) put(object any, gone bool) {
	o.cached = nil
	ds, isDaemonSet := object.(*appsv1.DaemonSet)
	switch {
	case isDaemonSet:
		o.ds = ds
	case !gone:
		o.byID[idOf(object)] = object.(metav1.Object)
	default:
		delete(o.byID, idOf(object))
		if p, ok := object.(*corev1.Pod); ok {
			maps.DeleteFunc(o.byID, func(_ id, other metav1.Object) bool {
				e, ok := other.(*corev1.Event)
				return ok && e.InvolvedObject.UID == p.UID
			})
		}
	}
}

// change is a change of an object. old is nil if the object did not exist.
type change struct{ old, new any }

// before returns the objects as they were before changes, which are sorted oldest first.
func (o *objects) before(changes []change) *objects {
	c := *o
	c.byID = maps.Clone(o.byID)
	for _, ch := range slices.Backward(changes) {
		if ch.old == nil {
			c.put(ch.new, true)
		} else {
			c.put(ch.old, false)
		}
	}
	return &c
}

// snapshot returns the objects as a Snapshot taken at the given time.
func (o *objects) snapshot(at time.Time) *snapshot.Snapshot {
	if o.cached == nil {
		o.cached = o.make()
	}
	s := *o.base
	s.DaemonSet, s.TakenAt = o.ds, at
	s.Nodes, s.Pods, s.Revisions, s.Events = o.cached.Nodes, o.cached.Pods, o.cached.Revisions, o.cached.Events
	return &s
}

// make returns a Snapshot of only the objects.
func (o *objects) make() *snapshot.Snapshot {
	var s snapshot.Snapshot
	nodes, pods := 0, 0
	for of := range o.byID {
		switch of.kind {
		case reflect.TypeFor[*corev1.Node]():
			nodes++
		case reflect.TypeFor[*corev1.Pod]():
			pods++
		}
	}
	s.Nodes, s.Pods = slices.Grow(s.Nodes, nodes), slices.Grow(s.Pods, pods)
	byName := func(a, b metav1.Object) int { return strings.Compare(a.GetName(), b.GetName()) }
	for _, object := range slices.SortedFunc(maps.Values(o.byID), byName) {
		switch x := object.(type) {
		case *corev1.Node:
			s.Nodes = append(s.Nodes, *x)
		case *corev1.Pod:
			s.Pods = append(s.Pods, *x)
		case *appsv1.ControllerRevision:
			s.Revisions = append(s.Revisions, *x)
		case *corev1.Event:
			s.Events = append(s.Events, *x)
		}
	}
	s.Nodes, s.Pods = slices.Clip(s.Nodes), slices.Clip(s.Pods) // several Snapshots share them
	s.Revisions, s.Events = slices.Clip(s.Revisions), slices.Clip(s.Events)
	return &s
}

// state returns the State that a sync sees at the given time.
func (o *objects) state(at time.Time) (*daemonset.State, error) {
	return daemonset.New(o.snapshot(at), o.profile)
}

// step returns what a sync does at the given time. It returns an empty step if the State is invalid, which cannot
// happen because the initial State was valid.
func (o *objects) step(at time.Time) *daemonset.Step {
	st, err := o.state(at)
	if err != nil {
		return &daemonset.Step{Kind: daemonset.StepNone}
	}
	step := st.Sync()
	return &step
}

// matters reports whether a change can affect a sync. Events and other fields of pods only serve as explanations.
func matters(old, object any, gone bool) bool {
	if gone || old == nil {
		_, event := object.(*corev1.Event)
		return !event
	}
	switch x := object.(type) {
	case *corev1.Event:
		return false
	case *appsv1.DaemonSet:
		was := old.(*appsv1.DaemonSet)
		return was.Generation != x.Generation || !equality.Semantic.DeepEqual(was.Annotations, x.Annotations) ||
			(was.DeletionTimestamp == nil) != (x.DeletionTimestamp == nil) ||
			// used if the nodes cannot be read
			was.Status.DesiredNumberScheduled != x.Status.DesiredNumberScheduled
	case *corev1.Pod:
		was := old.(*corev1.Pod)
		return was.Spec.NodeName != x.Spec.NodeName || was.Status.Phase != x.Status.Phase ||
			(was.DeletionTimestamp == nil) != (x.DeletionTimestamp == nil) ||
			!timing.ReadySince(was).Equal(timing.ReadySince(x)) ||
			!maps.Equal(was.Labels, x.Labels) || !equality.Semantic.DeepEqual(was.OwnerReferences, x.OwnerReferences)
	}
	return true
}
