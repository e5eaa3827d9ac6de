package api

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// ProtoMask selects the fields of a protobuf message that are decoded. It drops the others from the bytes first: most
// of a node is the list of its images.
type ProtoMask struct {
	fields []*ProtoMask // by number; nil: it is dropped
	whole  bool         // all of it is kept
	common bool         // many objects have the same
	texts  bool         // a map of texts; many objects have the same ones
	marks  bool         // a map of texts; only snapshot.PodAnnotations are kept
	list   sized        // that is counted
	aside  bool         // it is put aside; it is kept as well where keeps
	keeps  bool
	full   *ProtoMask // of an object: what is kept where what is aside counts
}

// sized is a list of which it is known how long it is before an object is made.
type sized int

const (
	notCounted sized = iota
	conditions
	statuses // of containers
	allSized
)

var sizedNames = map[string]sized{"conditions": conditions, "containerStatuses": statuses}

// The messages of which an answer may have thousands.
var (
	nodeWire  = wireOf[corev1.Node](object.OfNode)
	boundWire = wireOf[corev1.Pod](object.OfPodMeta+`spec{`+object.OfPodSpec+`} `+object.OfFewStatus,
		object.OfPodMeta+`spec{`+object.OfPodSpec+`} `+object.OfPodStatus)
	unboundWire = wireOf[corev1.Pod](object.OfPodMeta+`spec{`+object.OfPodSpec+object.OfUnbound+`} `+object.OfFewStatus,
		object.OfPodMeta+`spec{`+object.OfPodSpec+object.OfUnbound+`} `+object.OfPodStatus)
	LabeledMask = wireOf[metav1.PartialObjectMetadata](`metadata{name labels}`)
	PodMetaMask = wireOf[metav1.PartialObjectMetadata](object.OfPodMeta)
)

// KeptWire returns what is kept of objects of a type, for each object; nil for all of it.
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

// Parts are what is kept of a message. Own and common are messages; an object is made of both
// together, and of the texts.
type Parts struct {
	Own    []byte        // what is this object's
	Common []byte        // what others have as well
	Texts  []byte        // the entries of the map of texts, as the fields that they were
	Aside  []byte        // what is put aside
	sizes  [allSized]int // of its lists
}

func (p *Parts) reset() {
	*p = Parts{Own: p.Own[:0], Common: p.Common[:0], Texts: p.Texts[:0], Aside: p.Aside[:0]}
}

// Split appends to the parts what is kept of a message. It returns false where it is given
// none.
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
		if part.aside {
			if into.Aside = append(into.Aside, field...); !part.keeps {
				continue
			}
		}
		switch {
		case kind == protowire.BytesType && !part.whole:
			inner, _ := protowire.ConsumeBytes(field[n:])
			ofOwn, ofCommon := len(into.Own), len(into.Common)
			into.Own, into.Common = opened(into.Own, field[:n]), opened(into.Common, field[:n])
			begun := len(into.Own)
			if !part.Split(into, inner) {
				return false
			}
			if part.common { // all of it
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

const mostOfLength = 5 // bytes that a length takes

// opened begins a message in another one.
func opened(in, tag []byte) []byte {
	return append(append(in, tag...), make([]byte, mostOfLength)...)
}

// closed completes the message that begins at offset at by inserting its length after the tag. If
// the message is empty and mayLack is true, closed removes it.
func closed(in []byte, at, tag int, mayLack bool) []byte {
	inner := in[at+tag+mostOfLength:]
	if len(inner) == 0 && mayLack {
		return in[:at]
	}
	return append(protowire.AppendVarint(in[:at+tag], uint64(len(inner))), inner...)
}

// wireReader makes objects of their messages, of what is kept of them.
type wireReader[T any, P OneOf[T]] struct {
	kept    func(raw []byte) *ProtoMask
	Parts   Parts
	Known   map[string]P    // what is common
	Repeats map[string]bool // what is aside, behind what is common with it, and does not count
	key     []byte          // of repeats
	words   object.Words
}

func NewWireReader[T any, P OneOf[T]](kept func(raw []byte) *ProtoMask) *wireReader[T, P] {
	return &wireReader[T, P]{kept: kept, Known: map[string]P{}, Repeats: map[string]bool{}, words: object.Words{}}
}

// mostCommon is of how many kinds the objects of one list are in what they have in common:
// pods of as many revisions, and nodes of as many forms. Of further ones each has its own.
// Nor is what takes much room remembered: its object may not be one that is held.
const (
	mostCommon    = 1000
	longestCommon = 32 << 10 // bytes
)

// Read makes an object, in the place of the one before, of what is kept of a message. What it has
// in common with others it shares with them: nobody may change that.
func (r *wireReader[T, P]) Read(raw []byte, o P) error {
	w := r.kept(raw)
	if r.Parts.reset(); !w.Split(&r.Parts, raw) {
		return errDamaged
	}
	if len(r.Parts.Aside) == 0 || r.repeating() {
		return r.make(o)
	}
	if r.Parts.reset(); !w.full.Split(&r.Parts, raw) {
		return errDamaged
	}
	err := r.make(o)
	if object.Strip(o); err == nil && len(r.Repeats) < mostCommon && len(r.key) <= longestCommon && repeatsSpec(o) {
		r.Repeats[string(r.key)] = true
	}
	return err
}

// repeating reports whether what is aside is known to say no more than what is common: what containers
// request, of which the status of a pod repeats what its spec says. While a pod is being resized it says
// more.
func (r *wireReader[T, P]) repeating() bool {
	r.key = append(append(append(r.key[:0], r.Parts.Common...), 0), r.Parts.Aside...)
	return r.Repeats[string(r.key)] && !bytes.Contains(r.Parts.Own, []byte(corev1.PodResizePending))
}

// repeatsSpec reports whether strip left nothing of what the status of a pod says of requests, and not
// because its resize is pending.
func repeatsSpec(o any) bool {
	p, is := o.(*corev1.Pod)
	return is && !slices.ContainsFunc(slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses),
		func(c corev1.ContainerStatus) bool {
			return c.Resources != nil || c.AllocatedResources != nil
		}) && !slices.ContainsFunc(p.Status.Conditions,
		func(c corev1.PodCondition) bool { return c.Type == corev1.PodResizePending })
}

// make makes an object of the parts.
func (r *wireReader[T, P]) make(o P) error {
	*o = *new(T)
	if with := r.Known[string(r.Parts.Common)]; with != nil {
		*o = *with
	} else {
		if err := Unpack(r.Parts.Common, o, true); err != nil {
			return err
		}
		if len(r.Known) < mostCommon && len(r.Parts.Common) <= longestCommon {
			with := P(new(T))
			object.Strip(o)
			*with = *o
			r.Known[string(r.Parts.Common)] = with
		}
	}
	room(o, &r.Parts.sizes)
	if err := Unpack(r.Parts.Own, o, true); err != nil {
		return err
	}
	if !r.label(o) {
		return errDamaged
	}
	r.words.Share(o)
	return nil
}

// room makes room for the lists of an object: else they take a fourth more when they have grown to
// where they are.
func room(o any, sizes *[allSized]int) {
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

// label gives an object the labels that are among the texts. It returns false where these are none.
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
		labels[r.words.Of(key)] = r.words.Of(value)
	}
	o.SetLabels(labels)
	return true
}

// entryOf returns what an entry of a map of texts is.
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

// appendEntry appends an entry of a map of texts.
func appendEntry(in, key, value []byte) []byte {
	const ofKey, ofValue = 1, 2
	size := protowire.SizeTag(ofKey) + protowire.SizeBytes(len(key))
	size += protowire.SizeTag(ofValue) + protowire.SizeBytes(len(value))
	in = protowire.AppendVarint(in, uint64(size))
	in = protowire.AppendBytes(protowire.AppendTag(in, ofKey, protowire.BytesType), key)
	return protowire.AppendBytes(protowire.AppendTag(in, ofValue, protowire.BytesType), value)
}

// wireOf returns what makes the wire of a type, once, from the names of the fields that are kept, and
// where some are put aside from those that are kept otherwise.
func wireOf[T any](kept string, full ...string) func() *ProtoMask {
	return sync.OnceValue(func() *ProtoMask {
		w := wireIn(reflect.TypeFor[T](), &kept)
		for _, all := range full {
			w.full = wireIn(reflect.TypeFor[T](), &all)
		}
		return w
	})
}

// wireIn reads names up to a closing brace. It panics where a type has no such field.
func wireIn(t reflect.Type, kept *string) *ProtoMask {
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
		name, aside := strings.CutPrefix(name, "~")
		name, keeps := strings.CutPrefix(name, "&")
		*kept = (*kept)[end:]
		number, is := numberOf(t, name)
		part := &ProtoMask{whole: true}
		if rest, has := strings.CutPrefix(*kept, "{"); has {
			*kept = rest
			part = wireIn(is, kept)
		}
		part.common, part.texts, part.marks, part.list, part.aside, part.keeps = common, texts, marks, sizedNames[name],
			aside || keeps, keeps
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
