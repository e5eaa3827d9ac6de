package controller

import (
	"context"
	"fmt"
	"math/rand"
	"reflect"
	"runtime"
	"time"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller/wire"
)

// instance is a controller with its stores. Its informers are not started, so no watch event
// interferes. The stores hold the objects from fill, and the controller's own patches and
// revisions, as in a cache that is up to date. Creates and deletes of pods are only recorded, as if
// the watch had not delivered them yet.
type instance struct {
	controller any
	client     *fake.Clientset
	factory    informers.SharedInformerFactory
	backoff    *flowcontrol.Backoff
	clock      settableClock // of the backoff; since v1.21 for everything
	world      *world
}

type settableClock interface{ SetTime(time.Time) }

// newInstance returns a controller that was just started, at the time of the state.
func (a Adapter) newInstance(s *state) (*instance, error) {
	client := fake.NewSimpleClientset()
	i := &instance{client: client, factory: informers.NewSharedInformerFactory(client, 0)}
	i.backoff, i.clock = a.newBackoff(s.TakenAt)
	made := reflect.ValueOf(a.New).Call(i.arguments(client, reflect.TypeOf(a.New)))
	if err, _ := made[1].Interface().(error); err != nil {
		return nil, fmt.Errorf("make the controller: %w", err)
	}
	i.controller = made[0].Interface()
	i.silence()

	ds := s.DaemonSet.DeepCopy()
	ds.Status.NumberMisscheduled = -1 // never true, so that the status is written
	i.world = &world{
		ds:        ds,
		pods:      i.factory.Core().V1().Pods().Informer().GetStore(),
		revisions: i.factory.Apps().V1().ControllerRevisions().Informer().GetStore(),
		run:       wire.Run{RelabelledTo: map[string]string{}},
	}
	client.PrependReactor("*", "*", i.world.react)
	return i, nil
}

// arguments returns the arguments of the constructor, which takes a context since v1.27.
func (i *instance) arguments(client kubernetes.Interface, constructor reflect.Type) []reflect.Value {
	apps, core := i.factory.Apps().V1(), i.factory.Core().V1()
	args := []reflect.Value{
		reflect.ValueOf(apps.DaemonSets()), reflect.ValueOf(apps.ControllerRevisions()),
		reflect.ValueOf(core.Pods()), reflect.ValueOf(core.Nodes()),
		reflect.ValueOf(client), reflect.ValueOf(i.backoff),
	}
	if constructor.NumIn() > len(args) {
		args = append([]reflect.Value{reflect.ValueOf(context.Background())}, args...)
	}
	return args
}

// newBackoff returns a backoff with its own clock.
func (a Adapter) newBackoff(now time.Time) (*flowcontrol.Backoff, settableClock) {
	clock := reflect.ValueOf(a.NewClock).Call([]reflect.Value{reflect.ValueOf(now)})[0]
	arguments := []reflect.Value{reflect.ValueOf(time.Second), reflect.ValueOf(15 * time.Minute), clock}
	backoff := reflect.ValueOf(flowcontrol.NewFakeBackOff).Call(arguments)[0]
	return backoff.Interface().(*flowcontrol.Backoff), clock.Interface().(settableClock)
}

// silence ends the goroutines that write events. Up to v1.22, each controller starts one more.
func (i *instance) silence() {
	recorder := field(i.controller, "eventRecorder")
	if r := reflect.ValueOf(recorder.Interface()); r.Kind() == reflect.Ptr {
		if b := r.Elem().FieldByName("Broadcaster"); b.IsValid() {
			b.Interface().(interface{ Shutdown() }).Shutdown()
		}
	}
	quiet := reflect.ValueOf(&record.FakeRecorder{})
	recorder.Set(quiet)
	pods := field(i.controller, "podControl")
	silent := reflect.New(pods.Elem().Type()).Elem()
	silent.Set(pods.Elem())
	silent.FieldByName("Recorder").Set(quiet)
	pods.Set(silent)
}

// fill puts the state into the stores, in random order.
func (i *instance) fill(s *state, shift clockShift, order *rand.Rand) {
	add := func(store cache.Store, o any) {
		if err := store.Add(o); err != nil {
			panic(err) // an object without a name
		}
	}
	add(i.factory.Apps().V1().DaemonSets().Informer().GetStore(), i.world.ds.DeepCopy())
	for _, n := range order.Perm(len(s.Nodes)) {
		add(i.factory.Core().V1().Nodes().Informer().GetStore(), s.Nodes[n].DeepCopy())
	}
	for _, p := range order.Perm(len(s.Pods)) {
		add(i.world.pods, shift.pod(&s.Pods[p]))
	}
	for _, r := range order.Perm(len(s.Revisions)) {
		add(i.world.revisions, s.Revisions[r].DeepCopy())
	}
}

// sync calls the controller's syncHandler, with a context if this version takes one.
//
// The API server rejects a sync that adopts an object and then updates it, because it updates what
// it read before. The controller repeats such a sync immediately, and so does this function.
func (i *instance) sync() {
	handler := field(i.controller, "syncHandler")
	args := []reflect.Value{reflect.ValueOf(i.world.ds.Namespace + "/" + i.world.ds.Name)}
	if handler.Type().NumIn() == 2 {
		args = append([]reflect.Value{reflect.ValueOf(context.Background())}, args...)
	}
	const attempts = 3 // revisions and pods can each be adopted and rejected
	for range attempts {
		i.world.run.Error = ""
		if err, _ := handler.Call(args)[0].Interface().(error); err != nil {
			i.world.run.Error = err.Error()
		}
		if !i.world.tookConflict() {
			return
		}
	}
}

// measured does what sync does and records time and allocations.
func (i *instance) measured() {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	i.sync()
	i.world.run.Took = time.Since(began)
	runtime.ReadMemStats(&after)
	i.world.run.Allocs = after.Mallocs - before.Mallocs
}

// shouldRun calls NodeShouldRunDaemonPod, which takes a logger or is a method in some versions.
func (i *instance) shouldRun(function any, node *corev1.Node, ds *appsv1.DaemonSet) (wire.Placement, error) {
	f := reflect.ValueOf(function)
	args := []reflect.Value{reflect.ValueOf(node), reflect.ValueOf(ds)}
	if first := f.Type().In(0); f.Type().NumIn() > len(args) {
		arg := reflect.Zero(first) // a logger
		if first == reflect.TypeOf(i.controller) {
			arg = reflect.ValueOf(i.controller)
		}
		args = append([]reflect.Value{arg}, args...)
	}
	results := f.Call(args)
	if last := results[len(results)-1]; last.Kind() == reflect.Interface {
		if err, _ := last.Interface().(error); err != nil {
			return wire.Placement{}, err
		}
		results = results[:len(results)-1]
	}
	n := len(results)
	return wire.Placement{ShouldRun: results[n-2].Bool(), MayStay: results[n-1].Bool()}, nil
}

func (i *instance) setBurst(n int) {
	*(*int)(field(i.controller, "burstReplicas").Addr().UnsafePointer()) = n
}

// run returns what was written since the instance was created.
func (i *instance) run() wire.Run {
	i.world.lock.Lock()
	defer i.world.lock.Unlock()
	return i.world.run
}

// field returns an unexported field of the controller that can be read, set and called.
func field(c any, name string) reflect.Value {
	f := reflect.ValueOf(c).Elem().FieldByName(name)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// stop ends the goroutines of the controller's queues and events.
func (i *instance) stop() {
	v := reflect.ValueOf(i.controller).Elem()
	for n := range v.NumField() {
		if v.Field(n).Kind() != reflect.Interface {
			continue
		}
		switch f := field(i.controller, v.Type().Field(n).Name).Interface().(type) {
		case interface{ ShutDown() }:
			f.ShutDown()
		case interface{ Shutdown() }:
			f.Shutdown()
		}
	}
}
