// Package controller runs the DaemonSet controller of one Kubernetes version
// on states that it reads, for exactly one sync each, and says what it wrote.
//
// It is shared by the programs of all versions, and so uses of client-go only
// what all of them have. The module names no requirements: each program builds
// it with the API types and the client of its own version.
package controller

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
	"reflect"
	"time"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller/wire"
)

// Adapter is what differs between versions.
type Adapter struct {
	// New calls the controller's own constructor. The clock is fixed at now.
	New func(client kubernetes.Interface, factory informers.SharedInformerFactory, now time.Time) (controller any, err error)

	// ShouldRun calls the controller's NodeShouldRunDaemonPod.
	ShouldRun func(node *corev1.Node, ds *appsv1.DaemonSet) (shouldRun, mayStay bool)
}

// state is a Snapshot, read with the API types of this version.
type state struct {
	TakenAt   time.Time                   `json:"takenAt"`
	DaemonSet appsv1.DaemonSet            `json:"daemonSet"`
	Revisions []appsv1.ControllerRevision `json:"revisions"`
	Nodes     []corev1.Node               `json:"nodes"`
	Pods      []corev1.Pod                `json:"pods"`
}

// Main answers the requests on stdin until it ends.
func Main(a Adapter) {
	if err := serve(a, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(a Adapter, in io.Reader, out io.Writer) error {
	requests := json.NewDecoder(bufio.NewReader(in))
	answers := bufio.NewWriter(out)
	for {
		var r wire.Request
		switch err := requests.Decode(&r); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return fmt.Errorf("read a request: %w", err)
		}
		answer, err := a.answer(r)
		if err != nil {
			answer = wire.Answer{Failed: err.Error()}
		}
		if err := json.NewEncoder(answers).Encode(answer); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
		if err := answers.Flush(); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
	}
}

func (a Adapter) answer(r wire.Request) (wire.Answer, error) {
	var s state
	if err := json.Unmarshal(r.State, &s); err != nil {
		return wire.Answer{}, fmt.Errorf("read a state: %w", err)
	}
	answer := wire.Answer{Placement: make(map[string]wire.Placement, len(s.Nodes))}
	for i := range s.Nodes {
		run, stay := a.ShouldRun(s.Nodes[i].DeepCopy(), s.DaemonSet.DeepCopy())
		answer.Placement[s.Nodes[i].Name] = wire.Placement{ShouldRun: run, MayStay: stay}
	}
	order := rand.New(rand.NewSource(r.Seed))
	for range r.Runs {
		run, err := a.sync(&s, order, r.Burst)
		if err != nil {
			return wire.Answer{}, err
		}
		answer.Runs = append(answer.Runs, run)
	}
	return answer, nil
}

// sync runs a new controller on the state for one sync. The informers are not
// started, so no watch event interferes, and the cache holds what this puts
// into it: the state, and the controller's own patches and revisions, as a
// cache that is caught up does. Pods that are created or deleted are only
// noted: the watch has not told of them yet.
func (a Adapter) sync(s *state, order *rand.Rand, burst int) (wire.Run, error) {
	client := fake.NewSimpleClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	c, err := a.New(client, factory, s.TakenAt)
	if err != nil {
		return wire.Run{}, fmt.Errorf("make the controller: %w", err)
	}
	defer shutDown(c)
	if burst > 0 {
		*(*int)(field(c, "burstReplicas").Addr().UnsafePointer()) = burst
	}

	ds := s.DaemonSet.DeepCopy()
	ds.Status.NumberMisscheduled = -1 // never true, so that the status is written
	w := &world{
		ds:        ds,
		pods:      factory.Core().V1().Pods().Informer().GetStore(),
		revisions: factory.Apps().V1().ControllerRevisions().Informer().GetStore(),
		run:       wire.Run{RelabelledTo: map[string]string{}},
	}
	client.PrependReactor("*", "*", w.react)

	var errs []error
	add := func(store cache.Store, o any) {
		if err := store.Add(o); err != nil {
			errs = append(errs, err)
		}
	}
	add(factory.Apps().V1().DaemonSets().Informer().GetStore(), ds.DeepCopy())
	for _, i := range order.Perm(len(s.Nodes)) {
		add(factory.Core().V1().Nodes().Informer().GetStore(), s.Nodes[i].DeepCopy())
	}
	for _, i := range order.Perm(len(s.Pods)) {
		add(w.pods, s.Pods[i].DeepCopy())
	}
	for _, i := range order.Perm(len(s.Revisions)) {
		add(w.revisions, s.Revisions[i].DeepCopy())
	}
	if len(errs) > 0 {
		return wire.Run{}, fmt.Errorf("fill the stores: %w", errs[0])
	}

	if err := callSync(c, ds.Namespace+"/"+ds.Name); err != nil {
		w.run.Error = err.Error()
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.run, nil
}

// callSync calls the controller's syncHandler, with a context where this
// version has one.
func callSync(c any, key string) error {
	handler := field(c, "syncHandler")
	args := []reflect.Value{reflect.ValueOf(key)}
	if handler.Type().NumIn() == 2 {
		args = append([]reflect.Value{reflect.ValueOf(context.Background())}, args...)
	}
	err, _ := handler.Call(args)[0].Interface().(error)
	return err
}

// field returns an unexported field of the controller, as one that may be
// read and called.
func field(c any, name string) reflect.Value {
	f := reflect.ValueOf(c).Elem().FieldByName(name)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// shutDown ends the goroutines of the controller's queues and of its events.
func shutDown(c any) {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		if v.Field(i).Kind() != reflect.Interface {
			continue
		}
		switch f := field(c, v.Type().Field(i).Name).Interface().(type) {
		case interface{ ShutDown() }:
			f.ShutDown()
		case interface{ Shutdown() }:
			f.Shutdown()
		}
	}
}
