package api

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/intern"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// ProtoMask selects the fields of a protobuf message to decode. It removes the other fields from the bytes before
// they are decoded: most of a node is the list of its images.
type ProtoMask struct {
	fields []*ProtoMask // by field number; a nil field is dropped
	whole  bool         // all of the field is kept
	common bool         // many objects have the same value
	texts  bool         // a map of strings with values that many objects share
	marks  bool         // a map of strings; only snapshot.PodAnnotations are kept
	list   sized        // the list to count, if any
}

// sized identifies a list whose members are counted before the object is decoded.
type sized int

const (
	notCounted sized = iota
	conditions
	statuses // of containers
	allSized
)

var sizedNames = map[string]sized{"conditions": conditions, "containerStatuses": statuses}

// Masks for the messages that one response may contain thousands of times.
var (
	nodeWire    = maskOf[corev1.Node](object.OfNode)
	boundWire   = maskOf[corev1.Pod](object.OfPodMeta + `spec{` + object.OfPodSpec + `} ` + object.OfPodStatus)
	unboundWire = maskOf[corev1.Pod](object.OfPodMeta + `spec{` + object.OfPodSpec + object.OfUnbound + `} ` +
		object.OfPodStatus)
	LabeledMask = maskOf[metav1.PartialObjectMetadata](`metadata{name labels}`)
	PodMetaMask = maskOf[metav1.PartialObjectMetadata](object.OfPodMeta)
)

// KeptWire returns a function that selects the ProtoMask for an object of type T. It returns nil if all fields are
// kept.
func KeptWire[T any]() func(raw []byte) *ProtoMask {
	switch any(new(T)).(type) {
	case *corev1.Node:
		return func([]byte) *ProtoMask { return nodeWire() }
	case *corev1.Pod:
		return func(raw []byte) *ProtoMask {
			const spec, nodeName = 2, 10
			if node := valueAt(valueAt(raw, spec), nodeName); len(node) > 0 {
				return boundWire()
			}
			return unboundWire()
		}
	}
	return nil
}

// valueAt returns the last value of a field, or nil if the message does not have it.
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

// Parts holds the kept fields of a message. Own and Common are messages: an object is decoded from both, and from
// Texts.
type Parts struct {
	Own    []byte        // fields that belong to this object only
	Common []byte        // fields that other objects share
	Texts  []byte        // encoded entries of the map of strings
	sizes  [allSized]int // lengths of the lists
}

func (p *Parts) reset() {
	*p = Parts{Own: p.Own[:0], Common: p.Common[:0], Texts: p.Texts[:0]}
}

// Split appends the kept fields of message to into. It returns false if message is not valid protobuf.
func (w *ProtoMask) Split(into *Parts, message []byte) bool {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return false
		}
		size := protowire.ConsumeFieldValue(number, kind, message[n:])
		if size < 0 {
			return false
		}
		field := message[:n+size]
		message = message[n+size:]
		if int(number) >= len(w.fields) || w.fields[number] == nil {
			continue
		}
		part := w.fields[number]
		into.sizes[part.list]++
		switch {
		case kind == protowire.BytesType && !part.whole:
			inner, _ := protowire.ConsumeBytes(field[n:])
			ofOwn, ofCommon := len(into.Own), len(into.Common)
			into.Own, into.Common = opened(into.Own, field[:n]), opened(into.Common, field[:n])
			begun := len(into.Own)
			if !part.Split(into, inner) {
				return false
			}
			if part.common { // the whole field is common
				into.Own, into.Common = into.Own[:begun], append(into.Common, into.Own[begun:]...)
			}
			into.Own, into.Common = closed(into.Own, ofOwn, n, part.common),
				closed(into.Common, ofCommon, n, !part.common)
		case kind == protowire.BytesType && part.marks:
			entry, _ := protowire.ConsumeBytes(field[n:])
			key, value, ok := entryOf(entry)
			if !ok {
				return false
			}
			if longest, kept := snapshot.PodAnnotations[string(key)]; kept {
				into.Common = appendEntry(append(into.Common, field[:n]...), key, snapshot.Cut(value, longest))
			}
		case kind == protowire.BytesType && part.texts:
			into.Texts = append(into.Texts, field...)
		case part.common:
			into.Common = append(into.Common, field...)
		default:
			into.Own = append(into.Own, field...)
		}
	}
	return true
}

const lengthBytes = 5 // bytes reserved for the length of a message

// opened begins a nested message: it appends tag and room for the length.
func opened(in, tag []byte) []byte {
	return append(append(in, tag...), make([]byte, lengthBytes)...)
}

// closed completes the message that begins at offset at by inserting its length after the tag. If the message is
// empty and mayLack is true, closed removes it.
func closed(in []byte, at, tag int, mayLack bool) []byte {
	inner := in[at+tag+lengthBytes:]
	if len(inner) == 0 && mayLack {
		return in[:at]
	}
	return append(protowire.AppendVarint(in[:at+tag], uint64(len(inner))), inner...)
}

// wireReader decodes the kept fields of objects.
type wireReader[T any, P OneOf[T]] struct {
	kept  func(raw []byte) *ProtoMask
	Parts Parts
	Known intern.Cache[P] // objects decoded from Common, by its bytes
}

// NewWireReader returns a reader that decodes the fields that kept selects.
func NewWireReader[T any, P OneOf[T]](kept func(raw []byte) *ProtoMask) *wireReader[T, P] {
	return &wireReader[T, P]{kept: kept}
}

// Read decodes the kept fields of raw into o, and overwrites the object that o had before. o shares memory with other
// objects: do not modify it.
func (r *wireReader[T, P]) Read(raw []byte, o P) error {
	w := r.kept(raw)
	if r.Parts.reset(); !w.Split(&r.Parts, raw) {
		return errDamaged
	}
	with, err := r.Known.Of(r.Parts.Common, func() (P, error) {
		with := P(new(T))
		err := Unpack(r.Parts.Common, with, true)
		object.Strip(with)
		return with, err
	})
	if err != nil {
		return err
	}
	*o = *with
	reserve(o, &r.Parts.sizes)
	if err := Unpack(r.Parts.Own, o, true); err != nil {
		return err
	}
	if !r.label(o) {
		return errDamaged
	}
	object.Share(o)
	return nil
}

// reserve allocates the lists of an object with their final capacity. Lists that grow take a quarter more memory.
func reserve(o any, sizes *[allSized]int) {
	switch o := o.(type) {
	case *corev1.Node:
		o.Status.Conditions = roomFor[corev1.NodeCondition](sizes[conditions])
	case *corev1.Pod:
		o.Status.Conditions = roomFor[corev1.PodCondition](sizes[conditions])
		o.Status.ContainerStatuses = roomFor[corev1.ContainerStatus](sizes[statuses])
	}
}

func roomFor[T any](n int) []T {
	if n == 0 {
		return nil
	}
	return make([]T, 0, n)
}

// label sets the labels of o from the entries in Texts. It returns false if an entry is damaged.
func (r *wireReader[T, P]) label(o P) bool {
	if len(r.Parts.Texts) == 0 {
		return true
	}
	labels := map[string]string{}
	for rest := r.Parts.Texts; len(rest) > 0; {
		_, _, n := protowire.ConsumeTag(rest)
		entry, size := protowire.ConsumeBytes(rest[n:])
		rest = rest[n+size:]
		key, value, ok := entryOf(entry)
		if !ok {
			return false
		}
		name, text := string(key), string(value)
		intern.Text(&name)
		intern.Text(&text)
		labels[name] = text
	}
	o.SetLabels(labels)
	return true
}

// entryOf decodes an entry of a map of strings.
func entryOf(message []byte) (key, value []byte, ok bool) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, nil, false
		}
		size := protowire.ConsumeFieldValue(number, kind, message[n:])
		if size < 0 {
			return nil, nil, false
		}
		if kind == protowire.BytesType && number <= 2 {
			text, _ := protowire.ConsumeBytes(message[n:])
			if number == 1 {
				key = text
			} else {
				value = text
			}
		}
		message = message[n+size:]
	}
	return key, value, true
}

// appendEntry appends an encoded entry of a map of strings to in.
func appendEntry(in, key, value []byte) []byte {
	const ofKey, ofValue = 1, 2
	size := protowire.SizeTag(ofKey) + protowire.SizeBytes(len(key))
	size += protowire.SizeTag(ofValue) + protowire.SizeBytes(len(value))
	in = protowire.AppendVarint(in, uint64(size))
	in = protowire.AppendBytes(protowire.AppendTag(in, ofKey, protowire.BytesType), key)
	return protowire.AppendBytes(protowire.AppendTag(in, ofValue, protowire.BytesType), value)
}

// maskOf returns a function that builds the ProtoMask of T on its first call. kept lists the names of the kept
// fields.
func maskOf[T any](kept string) func() *ProtoMask {
	return sync.OnceValue(func() *ProtoMask { return parseMask(reflect.TypeFor[T](), &kept) })
}

// parseMask parses field names from kept up to a closing brace. A name may have prefixes: = sets common, # texts,
// and @ marks. parseMask panics if t has no field with that name.
func parseMask(t reflect.Type, kept *string) *ProtoMask {
	w := &ProtoMask{}
	for {
		*kept = strings.TrimLeft(*kept, " ")
		if *kept == "" || (*kept)[0] == '}' {
			*kept = strings.TrimPrefix(*kept, "}")
			return w
		}
		end := strings.IndexAny(*kept+" ", " {}")
		name, common := strings.CutPrefix((*kept)[:end], "=")
		name, texts := strings.CutPrefix(name, "#")
		name, marks := strings.CutPrefix(name, "@")
		*kept = (*kept)[end:]
		number, is := numberOf(t, name)
		part := &ProtoMask{whole: true}
		if rest, has := strings.CutPrefix(*kept, "{"); has {
			*kept = rest
			part = parseMask(is, kept)
		}
		part.common, part.texts, part.marks, part.list = common, texts, marks, sizedNames[name]
		for len(w.fields) <= number {
			w.fields = append(w.fields, nil)
		}
		w.fields[number] = part
	}
}

// numberOf returns the number and the type of the protobuf field with a name.
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
