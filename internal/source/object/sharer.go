package object

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Words holds strings that many objects have, so that each string is stored once.
type Words map[string]string

// Limits of Words. A list exceeds them only if each of its objects has its own strings. By then, Words holds the
// common strings, because these come early.
const (
	mostWords   = 10_000
	longestWord = 256 // bytes
)

// Of returns raw as a string, and shares equal strings.
func (w Words) Of(raw []byte) string {
	known, is := w[string(raw)]
	if !is {
		known = string(raw)
		w.keep(known)
	}
	return known
}

func (w Words) keep(text string) {
	if len(w) < mostWords && len(text) <= longestWord {
		w[text] = text
	}
}

// replace replaces a string by the equal string in w, if there is one.
func replace[S ~string](w Words, text *S) {
	if known, is := w[string(*text)]; is {
		*text = S(known)
	} else {
		w.keep(string(*text))
	}
}

// Share replaces the strings in o that other objects also have by the strings in w.
func (w Words) Share(o any) {
	switch o := o.(type) {
	case *corev1.Node:
		for i := range o.Status.Conditions {
			c := &o.Status.Conditions[i]
			replace(w, &c.Type)
			replace(w, &c.Status)
			replace(w, &c.Reason)
			replace(w, &c.Message)
		}
	case *corev1.Pod:
		for i := range o.Status.Conditions {
			c := &o.Status.Conditions[i]
			replace(w, &c.Type)
			replace(w, &c.Status)
			replace(w, &c.Reason)
		}
		for i := range o.Status.ContainerStatuses {
			c := &o.Status.ContainerStatuses[i]
			replace(w, &c.Name)
			replace(w, &c.Image)
		}
	}
}

// Sharer stores equal values of nodes or pods once. It works on decoded objects, as the reader of api.NewWireReader
// does on protobuf. It is not safe for concurrent use.
type Sharer struct {
	words       Words
	taints      recent[[]corev1.Taint]
	allocatable recent[corev1.ResourceList]
	labels      recent[map[string]string]
	annotations recent[map[string]string]
	selectors   recent[map[string]string]
	gates       recent[[]corev1.PodReadinessGate]
	containers  recent[[]corev1.Container]
	owners      recent[[]metav1.OwnerReference]
}

func NewSharer() *Sharer { return &Sharer{words: Words{}} }

// Share replaces values in o by equal values of earlier objects. Do not modify o afterwards.
func (h *Sharer) Share(o any) {
	switch o := o.(type) {
	case *corev1.Node:
		o.Labels = h.worded(o.Labels)
		o.Spec.Taints = h.taints.of(o.Spec.Taints)
		o.Status.Allocatable = h.allocatable.of(o.Status.Allocatable)
		o.Status.Conditions = slices.Clone(o.Status.Conditions) // drops spare capacity
		for _, text := range []*string{
			&o.Status.NodeInfo.KubeletVersion, &o.Status.NodeInfo.KernelVersion,
			&o.Status.NodeInfo.ContainerRuntimeVersion,
			&o.Status.NodeInfo.OSImage, &o.Status.NodeInfo.OperatingSystem, &o.Status.NodeInfo.Architecture,
		} {
			replace(h.words, text)
		}
	case *corev1.Pod:
		o.Labels, o.Annotations = h.labels.of(o.Labels), h.annotations.of(o.Annotations)
		o.Spec.NodeSelector = h.selectors.of(o.Spec.NodeSelector)
		o.Spec.ReadinessGates = h.gates.of(o.Spec.ReadinessGates)
		o.Spec.InitContainers, o.Spec.Containers = h.containers.of(o.Spec.InitContainers),
			h.containers.of(o.Spec.Containers)
		o.Status.Conditions, o.Status.ContainerStatuses = slices.Clone(o.Status.Conditions),
			slices.Clone(o.Status.ContainerStatuses)
		o.OwnerReferences = h.owners.of(o.OwnerReferences)
		replace(h.words, &o.Namespace)
	}
	h.words.Share(o)
}

// worded returns a copy of a map with shared strings.
func (h *Sharer) worded(all map[string]string) map[string]string {
	if all == nil {
		return nil
	}
	out := make(map[string]string, len(all))
	for key, value := range all {
		replace(h.words, &key)
		replace(h.words, &value)
		out[key] = value
	}
	return out
}

// recent holds the last few different values.
type recent[T any] []T

const MostRecent = 16

// of returns the equal value in r. If there is none, it adds v and returns it.
func (r *recent[T]) of(v T) T {
	at := slices.IndexFunc(*r, func(known T) bool { return reflect.DeepEqual(known, v) })
	if at < 0 {
		if len(*r) == MostRecent {
			*r = (*r)[:MostRecent-1]
		}
		*r = slices.Insert(*r, 0, v)
		return v
	}
	return (*r)[at]
}
