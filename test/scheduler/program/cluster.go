package main

import (
	"context"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// state is a pod to be scheduled, with the relevant part of its cluster.
type state struct {
	Pod                  *corev1.Pod                    `json:"pod"`
	Node                 *corev1.Node                   `json:"node"` // the only node
	Pods                 []corev1.Pod                   `json:"pods"`
	PodDisruptionBudgets []policyv1.PodDisruptionBudget `json:"podDisruptionBudgets"`
	Volumes              []corev1.PersistentVolume      `json:"volumes"`
	Claims               []corev1.PersistentVolumeClaim `json:"claims"`
	CSINodes             []storagev1.CSINode            `json:"csiNodes"`
}

// cluster is a scheduler that has received a state.
type cluster struct {
	*scheduler.Scheduler
	framework.Framework
	cycle cycleState
	failed
}

// verdict is the result of the filters for the node.
type verdict struct {
	fits       bool
	plugin     string
	reasons    []string
	resolvable bool
}

var recorders = profile.NewRecorderFactory(events.NewBroadcaster(&events.EventSinkImpl{Interface: (&fake.Clientset{}).EventsV1()}))

func newCluster(ctx context.Context, s *state) (*cluster, error) {
	client := &fake.Clientset{}
	client.AddReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) { return true, &corev1.Pod{}, nil })
	factory := informers.NewSharedInformerFactory(client, 0)
	heard := newInformers(factory)
	sched, err := scheduler.New(ctx, client, factory, nil, recorders)
	if err != nil {
		return nil, fmt.Errorf("make the scheduler: %w", err)
	}
	if err := heard.tell(s); err != nil {
		return nil, err
	}
	f := sched.Profiles[corev1.DefaultSchedulerName]
	if err := updateSnapshot(ctx, sched, f); err != nil {
		return nil, err
	}
	return &cluster{Scheduler: sched, Framework: f, cycle: framework.NewCycleState()}, nil
}

// tell adds the objects to the informers, starting with those that others refer to. Pods that have
// ended are left out, as in the scheduler's own pod informer.
func (i informersOf) tell(s *state) error {
	if err := addAll(i.csiNodes, s.CSINodes); err != nil {
		return err
	}
	if err := addAll(i.volumes, s.Volumes); err != nil {
		return err
	}
	if err := addAll(i.claims, s.Claims); err != nil {
		return err
	}
	if err := i.nodes.add(s.Node); err != nil {
		return err
	}
	var live []corev1.Pod
	for _, p := range append([]corev1.Pod{*s.Pod}, s.Pods...) {
		if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			live = append(live, p)
		}
	}
	if err := addAll(i.pods, live); err != nil {
		return err
	}
	return addAll(i.budgets, s.PodDisruptionBudgets)
}

func addAll[T any, P interface {
	*T
	runtime.Object
}](i *informer, all []T) error {
	for k := range all {
		if err := i.add(P(&all[k])); err != nil {
			return err
		}
	}
	return nil
}

// updateSnapshot updates the snapshot with which a scheduling cycle begins. Its type cannot be
// named in every version.
func updateSnapshot(ctx context.Context, sched *scheduler.Scheduler, f framework.Framework) error {
	out := reflect.ValueOf(sched.Cache).MethodByName("UpdateSnapshot").Call([]reflect.Value{reflect.ValueOf(klog.FromContext(ctx)), reflect.ValueOf(f.SnapshotSharedLister())})
	if err, _ := out[0].Interface().(error); err != nil {
		return fmt.Errorf("take the snapshot: %w", err)
	}
	return nil
}

func (c *cluster) podsOn(node string) []*corev1.Pod {
	info, err := c.SnapshotSharedLister().NodeInfos().Get(node)
	if err != nil {
		return nil
	}
	return podsOf(info)
}
