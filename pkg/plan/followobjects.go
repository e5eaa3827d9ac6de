package plan

import (
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// objects are those of a Snapshot by name, so that a change costs what it
// changes. The objects themselves are never edited.
type objects struct {
	profile   daemonset.Profile
	base      *snapshot.Snapshot // gaps and version
	ds        *appsv1.DaemonSet
	nodes     map[string]*corev1.Node
	pods      map[string]*corev1.Pod
	revisions map[string]*appsv1.ControllerRevision
	events    map[string]*corev1.Event
}

func newObjects(st *daemonset.State) objects {
	s := st.Snapshot
	return objects{
		profile: st.Profile, base: s, ds: s.DaemonSet,
		nodes:     byName(s.Nodes, func(o *corev1.Node) string { return o.Name }),
		pods:      byName(s.Pods, func(o *corev1.Pod) string { return o.Name }),
		revisions: byName(s.Revisions, func(o *appsv1.ControllerRevision) string { return o.Name }),
		events:    byName(s.Events, func(o *corev1.Event) string { return o.Name }),
	}
}

func byName[T any](all []T, name func(*T) string) map[string]*T {
	out := make(map[string]*T, len(all))
	for i := range all {
		out[name(&all[i])] = &all[i]
	}
	return out
}

// get returns what there is of the same kind and name, or nil.
func (o *objects) get(object any) any {
	switch x := object.(type) {
	case *appsv1.DaemonSet:
		return o.ds
	case *corev1.Node:
		return found(o.nodes, x.Name)
	case *corev1.Pod:
		return found(o.pods, x.Name)
	case *appsv1.ControllerRevision:
		return found(o.revisions, x.Name)
	case *corev1.Event:
		return found(o.events, x.Name)
	}
	return nil
}

func found[T any](in map[string]*T, name string) any {
	if o, ok := in[name]; ok {
		return o
	}
	return nil
}

// put adds an object, or takes away the one of that name. With a pod, what was
// said of it goes.
func (o *objects) put(object any, gone bool) {
	switch x := object.(type) {
	case *appsv1.DaemonSet:
		o.ds = x
	case *corev1.Node:
		replace(o.nodes, x.Name, x, gone)
	case *corev1.Pod:
		if replace(o.pods, x.Name, x, gone); gone {
			maps.DeleteFunc(o.events, func(_ string, e *corev1.Event) bool { return e.InvolvedObject.UID == x.UID })
		}
	case *appsv1.ControllerRevision:
		replace(o.revisions, x.Name, x, gone)
	case *corev1.Event:
		replace(o.events, x.Name, x, gone)
	}
}

func replace[T any](in map[string]*T, name string, object *T, gone bool) {
	if gone {
		delete(in, name)
		return
	}
	in[name] = object
}

// change is what was and what came, of one name; old is nil if there was
// nothing.
type change struct{ old, new any }

// before returns the objects as they were before the changes, oldest first.
func (o *objects) before(changes []change) *objects {
	c := *o
	c.nodes, c.pods, c.revisions, c.events = maps.Clone(o.nodes), maps.Clone(o.pods), maps.Clone(o.revisions), maps.Clone(o.events)
	for _, ch := range slices.Backward(changes) {
		if ch.old == nil {
			c.put(ch.new, true)
		} else {
			c.put(ch.old, false)
		}
	}
	return &c
}

// snapshot returns the objects as a Snapshot of a time.
func (o *objects) snapshot(at time.Time) *snapshot.Snapshot {
	s := *o.base
	s.DaemonSet, s.TakenAt = o.ds, at
	s.Nodes, s.Pods, s.Revisions, s.Events = listed(o.nodes), listed(o.pods), listed(o.revisions), listed(o.events)
	return &s
}

func listed[T any](all map[string]*T) []T {
	out := make([]T, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, *all[name])
	}
	return out
}

// state returns what a sync at a time sees.
func (o *objects) state(at time.Time) (*daemonset.State, error) {
	return daemonset.New(o.snapshot(at), o.profile)
}

// step returns what a sync at a time does. That the rules cannot be applied
// any more does not happen: they could be at the start.
func (o *objects) step(at time.Time) *daemonset.Step {
	st, err := o.state(at)
	if err != nil {
		return &daemonset.Step{Kind: daemonset.StepNone}
	}
	step := st.Sync()
	return &step
}

// matters reports whether a sync may do another thing after a change. What else
// pods report, and what is said of them in events, only explains.
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
		return was.Generation != x.Generation || !equality.Semantic.DeepEqual(was.Annotations, x.Annotations) || (was.DeletionTimestamp == nil) != (x.DeletionTimestamp == nil) ||
			was.Status.DesiredNumberScheduled != x.Status.DesiredNumberScheduled // counts where the nodes cannot be read
	case *corev1.Pod:
		was := old.(*corev1.Pod)
		return was.Spec.NodeName != x.Spec.NodeName || was.Status.Phase != x.Status.Phase ||
			(was.DeletionTimestamp == nil) != (x.DeletionTimestamp == nil) || !readySince(was).Equal(readySince(x)) ||
			!maps.Equal(was.Labels, x.Labels) || !equality.Semantic.DeepEqual(was.OwnerReferences, x.OwnerReferences)
	}
	return true
}
