package controller

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"sync"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller/wire"
)

// trace is a controller that keeps running between syncs, with its memory: expectations, the
// back-off of failed pods and, since v1.36, its own writes that it has not observed yet. Before
// each sync, its event handlers are called for every change. Its queue is not read; the driver
// decides when to sync.
type trace struct {
	*instance
	informers []*watched // in the order in which their handlers are called

	lock  sync.Mutex
	wrote wire.Written
}

// watched is one of the controller's informers with the objects it has delivered.
type watched struct {
	list     func(*state) []object
	store    cache.Store
	handlers []cache.ResourceEventHandlerFuncs
	known    map[string]told
}

type object interface {
	metav1.Object
	runtime.Object
}

// told is an object as the driver sent it and as it is in the store, with a resource version and
// times of the controller's clock.
type told struct{ sent, stored object }

// newTrace returns a controller that was just started and has seen nothing yet.
func (a Adapter) newTrace(s *state) (*trace, error) {
	i, err := a.newInstance(s)
	if err != nil {
		return nil, err
	}
	t := &trace{instance: i}
	i.client.PrependReactor("*", "*", t.react)
	watch := func(informer cache.SharedIndexInformer, list func(*state) []object) {
		t.informers = append(t.informers, &watched{
			list: list, store: informer.GetStore(), handlers: handlersOf(informer), known: map[string]told{},
		})
	}
	apps, core := i.factory.Apps().V1(), i.factory.Core().V1()
	watch(core.Nodes().Informer(), func(s *state) (l []object) {
		for i := range s.Nodes {
			l = append(l, &s.Nodes[i])
		}
		return l
	})
	watch(apps.DaemonSets().Informer(), func(s *state) []object { return []object{&s.DaemonSet} })
	watch(apps.ControllerRevisions().Informer(), func(s *state) (l []object) {
		for i := range s.Revisions {
			l = append(l, &s.Revisions[i])
		}
		return l
	})
	watch(core.Pods().Informer(), func(s *state) (l []object) {
		for i := range s.Pods {
			l = append(l, &s.Pods[i])
		}
		return l
	})
	return t, nil
}

// handlersOf returns the handlers of an informer that is not started. No version has another way to
// get them.
func handlersOf(informer cache.SharedIndexInformer) []cache.ResourceEventHandlerFuncs {
	// Since v1.37 wrapped by a typed informer.
	inner := reflect.ValueOf(informer).Elem().FieldByName("SharedIndexInformer")
	for ; inner.IsValid(); inner = inner.Elem().Elem().FieldByName("SharedIndexInformer") {
		informer = inner.Interface().(cache.SharedIndexInformer)
	}
	listeners := field(field(informer, "processor").Interface(), "listeners")
	var all []reflect.Value
	switch listeners.Kind() {
	case reflect.Map: // since v1.25
		all = listeners.MapKeys()
	default:
		for i := range listeners.Len() {
			all = append(all, listeners.Index(i))
		}
	}
	handlers := make([]cache.ResourceEventHandlerFuncs, 0, len(all))
	for _, l := range all {
		h := l.Elem().FieldByName("handler")
		handlers = append(handlers, reflect.NewAt(h.Type(), unsafe.Pointer(h.UnsafeAddr())).Elem().Interface().(cache.ResourceEventHandlerFuncs))
	}
	if len(handlers) == 0 {
		panic("an informer that tells nobody")
	}
	return handlers
}

// follow runs one sync of the trace. At the beginning of a trace it creates the controller.
func (a Adapter) follow(living **trace, how wire.Trace, s *state) (wire.Answer, error) {
	if how == wire.TraceFirst {
		if *living != nil {
			(*living).stop()
		}
		var err error
		if *living, err = a.newTrace(s); err != nil {
			return wire.Answer{}, err
		}
	}
	t := *living
	if t == nil {
		return wire.Answer{}, errors.New("a trace goes on that was not begun")
	}
	if how == wire.TraceTell {
		t.tell(s, a.shift(s.TakenAt, traceSlack))
		return wire.Answer{}, nil
	}
	placement, err := a.placementBy(t.instance, s)
	if err != nil {
		return wire.Answer{}, err
	}
	run, err := t.step(a, s, how == wire.TraceStale)
	if err != nil {
		return wire.Answer{}, err
	}
	return wire.Answer{Placement: placement, Runs: []wire.Run{run}}, nil
}

// step delivers the state to the controller, sets its clock, and runs one sync. A stale step sets
// only the clock.
func (t *trace) step(a Adapter, s *state, stale bool) (wire.Run, error) {
	t.clock.SetTime(s.TakenAt)
	shift := a.shift(s.TakenAt, traceSlack)
	if !stale {
		t.tell(s, shift)
	}
	t.begin(s)
	waiting := t.waiting()
	t.sync()
	if shift.ranOut() {
		return wire.Run{}, errors.New(wire.TooSlow)
	}
	run := t.run()
	run.Waiting, run.Written = waiting, &t.wrote
	return run, nil
}

// traceSlack may be longer than slack, because a trace has only whole seconds. Its syncs cannot be
// repeated.
const traceSlack = 900 * time.Millisecond

// begin clears what the last sync wrote.
func (t *trace) begin(s *state) {
	t.world.lock.Lock()
	defer t.world.lock.Unlock()
	t.lock.Lock()
	defer t.lock.Unlock()
	t.world.ds = s.DaemonSet.DeepCopy()
	t.world.run = wire.Run{RelabelledTo: map[string]string{}}
	t.wrote = wire.Written{}
}

// tell updates the stores to the state and calls the handlers for all changes. The stores are
// updated first, as in an informer whose handlers lag behind.
func (t *trace) tell(s *state, shift clockShift) {
	var calls []func()
	for _, w := range t.informers {
		for _, e := range t.replace(w, w.list(s), shift) {
			for _, h := range w.handlers {
				calls = append(calls, func() { e.tell(h) })
			}
		}
	}
	for _, call := range calls {
		call()
	}
}

// event is a change of one object. before or after is nil if the object was created or deleted.
type event struct{ before, after object }

// tell calls the method of a handler that matches the event. Parameters differ between versions.
func (e event) tell(h cache.ResourceEventHandlerFuncs) {
	switch {
	case e.before == nil && h.AddFunc != nil:
		h.AddFunc(e.after)
	case e.after == nil && h.DeleteFunc != nil:
		h.DeleteFunc(e.before)
	case e.before != nil && e.after != nil && h.UpdateFunc != nil:
		h.UpdateFunc(e.before, e.after)
	}
}

// replace updates the store to the objects and returns the changes.
func (t *trace) replace(w *watched, objects []object, shift clockShift) []event {
	var events []event
	known := make(map[string]told, len(objects))
	list := make([]interface{}, 0, len(objects))
	for _, o := range objects {
		before, exists := w.known[o.GetName()]
		now := told{sent: o, stored: shift.object(o)}
		switch {
		case !exists:
			now.stored.SetResourceVersion(t.nextVersion())
			events = append(events, event{after: now.stored})
		case !equality.Semantic.DeepEqual(before.sent, o):
			now.stored.SetResourceVersion(t.nextVersion())
			events = append(events, event{before.stored, now.stored})
		default:
			now.stored.SetResourceVersion(before.stored.GetResourceVersion())
		}
		known[o.GetName()] = now
		list = append(list, now.stored)
	}
	for name, before := range w.known {
		if _, exists := known[name]; !exists {
			gone := before.stored.DeepCopyObject().(object)
			gone.SetResourceVersion(t.nextVersion())
			events = append(events, event{before: gone})
		}
	}
	w.known = known
	if err := w.store.Replace(list, t.newest()); err != nil {
		panic(err) // an object without a name
	}
	return events
}

// object returns a copy of an object, with shifted times if it is a pod.
func (c clockShift) object(o object) object {
	if p, ok := o.(*corev1.Pod); ok {
		return c.pod(p)
	}
	return o.DeepCopyObject().(object)
}

// nextVersion returns the resource version for an object that others changed.
func (t *trace) nextVersion() string {
	t.world.lock.Lock()
	defer t.world.lock.Unlock()
	t.world.writes++
	return strconv.Itoa(t.world.writes)
}

func (t *trace) newest() string {
	t.world.lock.Lock()
	defer t.world.lock.Unlock()
	return strconv.Itoa(t.world.writes)
}

// waiting reports whether the controller expects creates or deletes that it has not observed. It
// then changes no pods.
func (t *trace) waiting() bool {
	key := t.world.ds.Namespace + "/" + t.world.ds.Name
	results := field(t.controller, "expectations").MethodByName("GetExpectations").Call([]reflect.Value{reflect.ValueOf(key)})
	return results[1].Bool() && !results[0].Interface().(interface{ Fulfilled() bool }).Fulfilled()
}

// react records what the controller writes.
func (t *trace) react(action clienttesting.Action) (handled bool, result runtime.Object, err error) {
	handled, result, err = t.world.react(action)
	if err != nil || result == nil || reflect.ValueOf(result).IsNil() {
		return handled, result, err
	}
	verb := action.GetVerb()
	if verb == "get" || verb == "delete" {
		return handled, result, err
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return handled, nil, err
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	switch resource := action.GetResource().Resource; {
	case resource == "pods" && verb == "create":
		t.wrote.NewPods = append(t.wrote.NewPods, raw)
	case resource == "pods":
		t.wrote.ChangedPods = append(t.wrote.ChangedPods, raw)
	case resource == "controllerrevisions":
		t.wrote.Revisions = append(t.wrote.Revisions, raw)
	}
	return handled, result, nil
}
