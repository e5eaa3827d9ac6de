package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// informer receives objects through add instead of a watch.
type informer struct {
	cache.SharedIndexInformer // for methods that are not called on a stopped informer
	handlers                  []cache.ResourceEventHandler
}

// add adds an object to the store and passes it to all handlers.
func (i *informer) add(o runtime.Object) error {
	if err := i.GetStore().Add(o); err != nil {
		return err
	}
	for _, h := range i.handlers {
		h.OnAdd(o, true)
	}
	return nil
}

// AddEventHandler, AddEventHandlerWithResyncPeriod and, in newer versions, the function with
// options record the handler.
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handlers = append(i.handlers, h)
	return i.SharedIndexInformer.AddEventHandler(h)
}

func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// informersOf are the informers that a state fills.
type informersOf struct {
	pods, nodes, budgets, volumes, claims, classes, csiNodes *informer
}

func newInformers(factory informers.SharedInformerFactory) informersOf {
	by := func(o runtime.Object) *informer {
		i := &informer{}
		factory.InformerFor(o, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
			i.SharedIndexInformer = cache.NewSharedIndexInformer(&cache.ListWatch{}, o, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
			return i
		})
		return i
	}
	return informersOf{
		pods: by(&corev1.Pod{}), nodes: by(&corev1.Node{}), budgets: by(&policyv1.PodDisruptionBudget{}), volumes: by(&corev1.PersistentVolume{}),
		claims: by(&corev1.PersistentVolumeClaim{}), classes: by(&storagev1.StorageClass{}), csiNodes: by(&storagev1.CSINode{}),
	}
}
