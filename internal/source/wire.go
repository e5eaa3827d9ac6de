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
	common bool    // many objects have the same
}

// What the Strip functions of pkg/snapshot keep, in the names of the API. A field without
// braces is kept whole. What begins with "=" is the same in many objects, as the containers
// of all pods of a revision.
const (
	ofMeta      = `metadata{name =namespace uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds finalizers selfLink `
	ofNode      = ofMeta + `labels} spec{=taints =unschedulable} status{conditions =allocatable =nodeInfo{kubeletVersion kernelVersion containerRuntimeVersion osImage operatingSystem architecture}}`
	ofContainer = `{name image restartPolicy resources{requests} ports{containerPort hostPort hostIP protocol}}`
	ofRunning   = `{name image ready started restartCount state lastState allocatedResources resources{requests}}`
	ofPodMeta   = ofMeta + `=labels =ownerReferences} `
	ofPodSpec   = `nodeName =containers` + ofContainer + ` =initContainers` + ofContainer + ` =terminationGracePeriodSeconds =priority =priorityClassName =preemptionPolicy =schedulerName schedulingGates =overhead =resources{requests}`
	ofUnbound   = ` =nodeSelector =tolerations volumes{name volumeSource{persistentVolumeClaim{claimName} ephemeral{}}} affinity{nodeAffinity{requiredDuringSchedulingIgnoredDuringExecution}}`
	ofPodStatus = `status{phase conditions reason message startTime nominatedNodeName initContainerStatuses` + ofRunning + ` containerStatuses` + ofRunning + ` resources{requests} allocatedResources}`
)

// The messages of which an answer may have thousands.
var (
	nodeWire    = wireOf[corev1.Node](ofNode)
	boundWire   = wireOf[corev1.Pod](ofPodMeta + `spec{` + ofPodSpec + `} ` + ofPodStatus)
	unboundWire = wireOf[corev1.Pod](ofPodMeta + `spec{` + ofPodSpec + ofUnbound + `} ` + ofPodStatus)
	labeledWire = wireOf[metav1.PartialObjectMetadata](`metadata{name labels}`)
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

// split appends what is kept of a message: to own what is this object's, and to common
// what others have as well. Both are messages; an object is made of both together. It
// returns false where it is given no message.
func (w *wire) split(own, common, message []byte) ([]byte, []byte, bool) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return own, common, false
		}
		size := protowire.ConsumeFieldValue(number, kind, message[n:])
		if size < 0 {
			return own, common, false
		}
		field := message[:n+size]
		message = message[n+size:]
		if int(number) >= len(w.fields) || w.fields[number] == nil {
			continue
		}
		part := w.fields[number]
		if kind == protowire.BytesType && !part.whole {
			inner, _ := protowire.ConsumeBytes(field[n:])
			ofOwn, ofCommon := len(own), len(common)
			own, common = opened(own, field[:n]), opened(common, field[:n])
			begun := len(own)
			var ok bool
			if own, common, ok = part.split(own, common, inner); !ok {
				return own, common, false
			}
			if part.common { // all of it
				own, common = own[:begun], append(common, own[begun:]...)
			}
			own, common = closed(own, ofOwn, n, part.common), closed(common, ofCommon, n, !part.common)
			continue
		}
		if part.common {
			common = append(common, field...)
		} else {
			own = append(own, field...)
		}
	}
	return own, common, true
}

const mostOfLength = 5 // bytes that a length takes

// opened begins a message in another one.
func opened(in, tag []byte) []byte {
	return append(append(in, tag...), make([]byte, mostOfLength)...)
}

// closed ends a message that begins at a place, with its tag; one without any content is left
// out, if it may be.
func closed(in []byte, at, tag int, mayLack bool) []byte {
	inner := in[at+tag+mostOfLength:]
	if len(inner) == 0 && mayLack {
		return in[:at]
	}
	return append(protowire.AppendVarint(in[:at+tag], uint64(len(inner))), inner...)
}

// wireReader makes objects of their messages, of what is kept of them.
type wireReader[T any, P oneOf[T]] struct {
	kept        func(raw []byte) *wire
	own, common []byte
	known       map[string]P // what is common
}

// mostCommon is of how many kinds the objects of one list are in what they have in common:
// pods of as many revisions, and nodes of as many forms. Of further ones each has its own.
// Nor is what takes much room remembered: its object may not be one that is held.
const (
	mostCommon    = 1000
	longestCommon = 32 << 10 // bytes
)

// read makes an object of what is kept of a message. What it has in common with others it
// shares with them: nobody may change that.
func (r *wireReader[T, P]) read(raw []byte) (P, error) {
	var ok bool
	if r.own, r.common, ok = r.kept(raw).split(r.own[:0], r.common[:0], raw); !ok {
		return nil, errDamaged
	}
	o := P(new(T))
	if with := r.known[string(r.common)]; with != nil {
		*o = *with
		return o, unpack(r.own, o, true)
	}
	if err := unpack(r.common, o, true); err != nil {
		return nil, err
	}
	if len(r.known) < mostCommon && len(r.common) <= longestCommon {
		with := P(new(T))
		strip(o)
		*with = *o
		r.known[string(r.common)] = with
	}
	return o, unpack(r.own, o, true)
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
		name, common := strings.CutPrefix((*kept)[:end], "=")
		*kept = (*kept)[end:]
		number, is := numberOf(t, name)
		part := &wire{whole: true}
		if rest, has := strings.CutPrefix(*kept, "{"); has {
			*kept = rest
			part = wireIn(is, kept)
		}
		part.common = common
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
