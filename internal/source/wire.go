package source

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// wire is what of a message in protobuf is kept: the fields that nobody reads are dropped from
// the bytes, before an object is made of them. Nearly all of a node is the list of its images.
type wire struct {
	fields []*wire // by number; nil: it is dropped
	whole  bool    // all of it is kept
}

// What the Strip functions of pkg/snapshot keep, in the names of the API. A field without
// braces is kept whole.
const (
	ofMeta            = `metadata{name namespace uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds labels finalizers selfLink ownerReferences}`
	ofNode            = ofMeta + ` spec{taints unschedulable} status{conditions allocatable nodeInfo{kubeletVersion kernelVersion containerRuntimeVersion osImage operatingSystem architecture}}`
	ofContainer       = `{name image restartPolicy resources{requests} ports{containerPort hostPort hostIP protocol}}`
	ofContainerStatus = `{name image ready started restartCount state lastState allocatedResources resources{requests}}`
	ofPodStatus       = `status{phase conditions reason message startTime nominatedNodeName initContainerStatuses` + ofContainerStatus + ` containerStatuses` + ofContainerStatus + ` resources{requests} allocatedResources}`
	ofPodSpec         = `nodeName containers` + ofContainer + ` initContainers` + ofContainer + ` terminationGracePeriodSeconds priority priorityClassName preemptionPolicy schedulerName schedulingGates overhead resources{requests}`
	ofUnbound         = ` nodeSelector tolerations volumes{name volumeSource{persistentVolumeClaim{claimName} ephemeral{}}} affinity{nodeAffinity{requiredDuringSchedulingIgnoredDuringExecution}}`
)

// The messages of which an answer may have thousands.
var (
	nodeWire    = wireOf[corev1.Node](ofNode)
	boundWire   = wireOf[corev1.Pod](ofMeta + ` spec{` + ofPodSpec + `} ` + ofPodStatus)
	labeledWire = wireOf[metav1.PartialObjectMetadata](`metadata{name labels}`)
	unboundWire = wireOf[corev1.Pod](ofMeta + ` spec{` + ofPodSpec + ofUnbound + `} ` + ofPodStatus)
)

// keptWire returns what is kept of objects of a type, for each object; nil for all of it.
func keptWire[T any]() func(raw []byte) *wire {
	switch any(new(T)).(type) {
	case *corev1.Node:
		return func([]byte) *wire { return nodeWire() }
	case *corev1.Pod:
		return func(raw []byte) *wire {
			const spec, nodeName = 2, 10
			if node := valueAt(valueAt(raw, spec), nodeName); len(node) > 0 {
				return boundWire()
			}
			return unboundWire()
		}
	}
	return nil
}

// valueAt returns the value of a field, the last one where there are several; nil without one.
func valueAt(message []byte, field protowire.Number) (value []byte) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil
		}
		size := protowire.ConsumeFieldValue(number, kind, message[n:])
		if size < 0 {
			return nil
		}
		if number == field && kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(message[n:])
		}
		message = message[n+size:]
	}
	return value
}

// from appends to what is held what is kept of a message; false where it is no message.
func (w *wire) from(held, message []byte) ([]byte, bool) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return held, false
		}
		size := protowire.ConsumeFieldValue(number, kind, message[n:])
		if size < 0 {
			return held, false
		}
		field := message[:n+size]
		message = message[n+size:]
		if int(number) >= len(w.fields) || w.fields[number] == nil {
			continue
		}
		part := w.fields[number]
		if part.whole || kind != protowire.BytesType {
			held = append(held, field...)
			continue
		}
		inner, _ := protowire.ConsumeBytes(field[n:])
		held = append(held, field[:n]...)
		const most = 5 // bytes of a length
		begin := len(held)
		held = append(held, make([]byte, most)...)
		var ok bool
		if held, ok = part.from(held, inner); !ok {
			return held, false
		}
		kept := held[begin+most:]
		length := protowire.AppendVarint(held[:begin], uint64(len(kept)))
		held = append(length, kept...)
	}
	return held, true
}

// wireOf returns what makes the wire of a type, once, from the names of the fields that are kept.
func wireOf[T any](kept string) func() *wire {
	return sync.OnceValue(func() *wire {
		text := kept
		return wireIn(reflect.TypeFor[T](), &text)
	})
}

// wireIn reads names up to a closing brace. It panics where a type has no such field.
func wireIn(t reflect.Type, kept *string) *wire {
	w := &wire{}
	for {
		*kept = strings.TrimLeft(*kept, " ")
		if *kept == "" || (*kept)[0] == '}' {
			*kept = strings.TrimPrefix(*kept, "}")
			return w
		}
		end := strings.IndexAny(*kept+" ", " {}")
		name := (*kept)[:end]
		*kept = (*kept)[end:]
		number, is := numberOf(t, name)
		part := &wire{whole: true}
		if rest, has := strings.CutPrefix(*kept, "{"); has {
			*kept = rest
			part = wireIn(is, kept)
		}
		for len(w.fields) <= number {
			w.fields = append(w.fields, nil)
		}
		w.fields[number] = part
	}
}

// numberOf returns the number in protobuf of a field that has a name, and its type.
func numberOf(t reflect.Type, name string) (number int, of reflect.Type) {
	for f := range t.Fields() {
		tag := f.Tag.Get("protobuf")
		if !strings.Contains(tag+",", ",name="+name+",") {
			continue
		}
		if _, err := fmt.Sscanf(tag[strings.Index(tag, ",")+1:], "%d", &number); err == nil {
			of = f.Type
			for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
				of = of.Elem()
			}
			return number, of
		}
	}
	panic(t.String() + " has no field " + name)
}
