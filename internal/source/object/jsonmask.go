package object

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// JSONMask selects the fields of a JSON object to decode. Unlike api.ProtoMask, it also keeps all times and the
// volumes of a node.
type JSONMask struct {
	fields map[string]*maskField // all fields of the type
	list   bool                  // the object is an item of a list field
}

type maskField struct {
	number int
	begins string // bytes that a valid value can start with; empty if any byte is valid
	kept   bool
	loose  bool      // keep the field only if the pod has no nodeName
	marks  bool      // keep only snapshot.PodAnnotations
	inner  *JSONMask // mask for the value; nil keeps all of it
}

// maskMember is a field of an object, with its key and value.
type maskMember struct {
	*maskField
	key, value []byte
}

// The fields that Decode keeps for kinds with thousands of objects in a dump. OfNode has the notation.
const (
	ofDumpMeta    = `kind apiVersion metadata{` + ofDumpNames + `} `
	ofDumpPodMeta = `kind apiVersion metadata{` + ofDumpNames + ` @annotations} `
	ofDumpOwned   = `name namespace uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds finalizers selfLink labels ownerReferences `
	ofDumpNames   = ofDumpOwned + `managedFields{time}`
	ofDumpNode    = `kind apiVersion metadata{` + ofDumpOwned +
		`managedFields} spec{taints unschedulable} status{conditions allocatable volumesAttached nodeInfo{kubeletVersion kernelVersion containerRuntimeVersion osImage operatingSystem architecture}}`
	ofDumpPod = ofDumpPodMeta + `spec{` + OfPodSpec + ofDumpUnbound + `} ` + OfPodStatus

	// A question mark keeps a field only if the pod has no node.
	ofDumpUnbound = ` ?tolerations volumes{name persistentVolumeClaim{claimName} ephemeral{volumeClaimTemplate{metadata{` + ofTimes + `}}}} ?affinity{nodeAffinity{requiredDuringSchedulingIgnoredDuringExecution}}`
	ofTimes       = `creationTimestamp deletionTimestamp deletionGracePeriodSeconds managedFields{time}`
)

// JSONMasks has the masks for the kinds that are not decoded completely.
var JSONMasks = map[metav1.TypeMeta]func() *JSONMask{
	{APIVersion: "v1", Kind: "Node"}: sync.OnceValue(func() *JSONMask { return maskFrom[corev1.Node](ofDumpNode) }),
	{APIVersion: "v1", Kind: "Pod"}: sync.OnceValue(func() *JSONMask {
		return maskFrom[corev1.Pod](strings.Replace(ofDumpPod, "status{",
			"status{ephemeralContainerStatuses{state lastState} volumeHealth{lastTransitionTime} ", 1))
	}),
}

func maskFrom[T any](kept string) *JSONMask {
	return parseMask(reflect.TypeFor[T](), &kept)
}

// parseMask parses field names from kept up to a closing brace. It panics if t has no field with that name.
func parseMask(t reflect.Type, kept *string) *JSONMask {
	f := &JSONMask{fields: map[string]*maskField{}}
	for name, field := range FieldTypes(t) {
		f.fields[name] = &maskField{number: len(f.fields), begins: firstBytes(field.Type)}
	}
	for {
		*kept = strings.TrimLeft(*kept, " ")
		if *kept == "" || (*kept)[0] == '}' {
			*kept = strings.TrimPrefix(*kept, "}")
			return f
		}
		end := strings.IndexAny(*kept+" ", " {}")
		marked := (*kept)[:end]
		name := strings.TrimLeft(marked, "=#?@") // Sharer finds the values that many objects share
		*kept = (*kept)[end:]
		is := f.fields[name]
		if is == nil {
			panic(t.String() + " has no field " + name)
		}
		is.kept, is.loose, is.marks = true, marked[0] == '?', marked[0] == '@'
		if rest, has := strings.CutPrefix(*kept, "{"); has {
			*kept = rest
			of, list := FieldTypes(t)[name].Type, false
			for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
				list = list || of.Kind() == reflect.Slice
				of = of.Elem()
			}
			is.inner = parseMask(of, kept)
			is.inner.list = list
		}
	}
}

// firstBytes returns the bytes that JSON of type t can start with. It returns "" if the type has its own decoder.
func firstBytes(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return ""
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map:
		return "{n"
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return "[n"
	case t.Kind() == reflect.String:
		return `"n`
	case t.Kind() == reflect.Bool:
		return "tfn"
	}
	return ""
}

// decodeMasked decodes the fields of an object that its mask selects. It returns nil if all fields have to be
// decoded.
func decodeMasked(raw []byte, kind metav1.TypeMeta) metav1.Object {
	of := JSONMasks[kind]
	if of == nil {
		return nil
	}
	var held []byte
	select {
	case held = <-maskBuffers:
	default:
	}
	text, ok := of().Of(held[:0], raw)
	defer func() {
		select {
		case maskBuffers <- text:
		default:
		}
	}()
	if !ok {
		return nil
	}
	into := reflect.New(HeldTypes[kind]).Interface()
	if err := jsonv2.Unmarshal(text, into, sharing()); err != nil {
		return nil
	}
	return into.(metav1.Object)
}

// sharing returns options of encoding/json/v2 that accept only JSON that the API's decoder accepts. If they reject an
// object, the program asks the API's decoder. Decoded objects share equal values.
var sharing = sync.OnceValue(func() jsonv2.Options { return snapshot.Sharing(snapshot.StripContainers) })

var maskBuffers = make(chan []byte, 8) // reused buffers, because Unmarshal copies what it keeps

// Of appends obj to into with only the fields that the mask selects. It returns false if obj must be decoded
// completely: the type does not have one of the fields, a field appears twice, or a value has the wrong JSON type. Of
// does not check the values of fields that the mask drops. obj must be valid JSON.
func (f *JSONMask) Of(into, obj []byte) (text []byte, ok bool) {
	rest := bytes.TrimLeft(obj, Space)
	if len(rest) == 0 || rest[0] != '{' {
		return into, false
	}
	into = append(into, '{')
	begun := len(into)
	var seen [2]uint64
	var loose []maskMember
	bound := false
	for rest = rest[1:]; ; {
		rest = bytes.TrimLeft(rest, Space+",")
		if len(rest) == 0 {
			return into, false
		}
		if rest[0] == '}' {
			break
		}
		key, after, plain := plainText(rest)
		field := f.fields[string(key)]
		if !plain || field == nil || field.number >= 128 || seen[field.number/64]&(1<<(field.number%64)) != 0 {
			return into, false
		}
		seen[field.number/64] |= 1 << (field.number % 64)
		value := bytes.TrimLeft(after, Space+":")
		if len(value) == 0 || field.begins != "" && strings.IndexByte(field.begins, value[0]) < 0 {
			return into, false
		}
		size := sizeOfValue(value)
		value, rest = value[:size], value[size:]
		is := maskMember{field, key, value}
		switch {
		case field.loose:
			loose = append(loose, is)
		case field.kept:
			bound = bound || string(key) == "nodeName" && value[0] == '"' && len(value) > len(`""`)
			if into, ok = is.append(into, begun); !ok {
				return into, false
			}
		}
	}
	for _, is := range loose {
		if bound {
			break
		}
		if into, ok = is.append(into, begun); !ok {
			return into, false
		}
	}
	return append(into, '}'), true
}

// append appends the member to the object that starts at offset begun in into.
func (m *maskMember) append(into []byte, begun int) (text []byte, ok bool) {
	if len(into) > begun {
		into = append(into, ',')
	}
	into = append(append(append(into, '"'), m.key...), '"', ':')
	switch {
	case m.marks && m.value[0] != 'n':
		return appendPodAnnotations(into, m.value)
	case m.inner == nil || m.value[0] == 'n':
		return append(into, m.value...), true
	case m.inner.list:
		return m.inner.ofEach(into, m.value)
	}
	return m.inner.Of(into, m.value)
}

// ofEach calls Of for each object of a list.
func (f *JSONMask) ofEach(into, list []byte) (text []byte, ok bool) {
	into = append(into, '[')
	for rest := list[1:]; ; {
		rest = bytes.TrimLeft(rest, Space)
		switch {
		case len(rest) == 0:
			return into, false
		case rest[0] == ']':
			return append(into, ']'), true
		case rest[0] == ',':
			into, rest = append(into, ','), rest[1:]
			continue
		}
		size := sizeOfValue(rest)
		if into, ok = f.Of(into, rest[:size]); !ok {
			return into, false
		}
		rest = rest[size:]
	}
}

// appendPodAnnotations appends obj, which holds annotations, with only snapshot.PodAnnotations. It does not check the
// other values.
func appendPodAnnotations(into, obj []byte) (text []byte, ok bool) {
	into = append(into, '{')
	begun := len(into)
	for rest := obj[1:]; ; {
		rest = bytes.TrimLeft(rest, Space+",")
		if len(rest) == 0 {
			return into, false
		}
		if rest[0] == '}' {
			return append(into, '}'), true
		}
		key, after, plain := plainText(rest)
		if !plain {
			after = rest[sizeOfValue(rest):]
			key, _ = jsontext.AppendUnquote(nil, rest[:len(rest)-len(after)])
		}
		value := bytes.TrimLeft(after, Space+":")
		_, kept := snapshot.PodAnnotations[string(key)]
		if len(value) == 0 || kept && !plain {
			return into, false
		}
		size := sizeOfValue(value)
		if kept {
			if len(into) > begun {
				into = append(into, ',')
			}
			into = append(append(append(append(into, '"'), key...), '"', ':'), value[:size]...)
		}
		rest = value[size:]
	}
}
