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

// JSONMask selects the fields of an object in JSON that are decoded. Beside those of api.ProtoMask it keeps every time,
// and which volumes a node has.
type JSONMask struct {
	fields map[string]*fewerField // all that the type has
	list   bool                   // it stands in a list of its kind
}

type fewerField struct {
	number int
	begins string // the first byte of a value that fits; empty: any
	kept   bool
	loose  bool      // only where there is no nodeName
	marks  bool      // of it snapshot.PodAnnotations are kept
	inner  *JSONMask // what is kept of it; nil: all
}

// fewerMember is a field of an object, and its value.
type fewerMember struct {
	*fewerField
	key, value []byte
}

// What decode keeps of the kinds of which a dump has thousands, in the notation of wire.
const (
	ofDumpMeta    = `kind apiVersion metadata{` + ofDumpNames + `} `
	ofDumpPodMeta = `kind apiVersion metadata{` + ofDumpNames + ` @annotations} `
	ofDumpOwned   = `name namespace uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds finalizers selfLink labels ownerReferences `
	ofDumpNames   = ofDumpOwned + `managedFields{time}`
	ofDumpNode    = `kind apiVersion metadata{` + ofDumpOwned +
		`managedFields} spec{taints unschedulable} status{conditions allocatable volumesAttached nodeInfo{kubeletVersion kernelVersion containerRuntimeVersion osImage operatingSystem architecture}}`
	ofDumpPod = ofDumpPodMeta + `spec{` + OfPodSpec + ofDumpUnbound + `} ` + OfPodStatus

	// With a question mark: where the pod is on no node.
	ofDumpUnbound = ` ?tolerations volumes{name persistentVolumeClaim{claimName} ephemeral{volumeClaimTemplate{metadata{` + ofTimes + `}}}} ?affinity{nodeAffinity{requiredDuringSchedulingIgnoredDuringExecution}}`
	ofTimes       = `creationTimestamp deletionTimestamp deletionGracePeriodSeconds managedFields{time}`
)

// JSONMasks are the masks of the kinds that are not read whole.
var JSONMasks = map[metav1.TypeMeta]func() *JSONMask{
	{APIVersion: "v1", Kind: "Node"}: sync.OnceValue(func() *JSONMask { return fewerIn[corev1.Node](ofDumpNode) }),
	{APIVersion: "v1", Kind: "Pod"}: sync.OnceValue(func() *JSONMask {
		return fewerIn[corev1.Pod](strings.Replace(ofDumpPod, "status{",
			"status{ephemeralContainerStatuses{state lastState} volumeHealth{lastTransitionTime} ", 1))
	}),
}

func fewerIn[T any](kept string) *JSONMask {
	return fewerFields(reflect.TypeFor[T](), &kept)
}

// fewerFields reads names up to a closing brace. It panics where a type has no such field.
func fewerFields(t reflect.Type, kept *string) *JSONMask {
	f := &JSONMask{fields: map[string]*fewerField{}}
	for name, field := range FieldTypes(t) {
		f.fields[name] = &fewerField{number: len(f.fields), begins: beginsWith(field.Type)}
	}
	for {
		*kept = strings.TrimLeft(*kept, " ")
		if *kept == "" || (*kept)[0] == '}' {
			*kept = strings.TrimPrefix(*kept, "}")
			return f
		}
		end := strings.IndexAny(*kept+" ", " {}")
		marked := (*kept)[:end]
		name := strings.TrimLeft(marked, "=#?@") // what many have in common is found later
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
			is.inner = fewerFields(of, kept)
			is.inner.list = list
		}
	}
}

// beginsWith returns the bytes that JSON of a type may begin with; empty where that is up to
// the type.
func beginsWith(t reflect.Type) string {
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

// fewerRead returns an object of a type of which not all is read; nil where all of it has to be.
func fewerRead(raw []byte, kind metav1.TypeMeta) metav1.Object {
	of := JSONMasks[kind]
	if of == nil {
		return nil
	}
	var held []byte
	select {
	case held = <-fewerTexts:
	default:
	}
	text, ok := of().Of(held[:0], raw)
	defer func() {
		select {
		case fewerTexts <- text:
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

// sharing has encoding/json/v2 read what the decoder of the API reads, and nothing else: what it
// refuses, that one is asked about. Objects share what many of them have.
var sharing = sync.OnceValue(snapshot.Sharing)

var fewerTexts = make(chan []byte, 8) // are used again: Unmarshal copies what it keeps of them

// Of appends to a text what is read of an object. ok is false where all of it has to be read, as
// something is odd about it: a field that the type does not have, one that stands there twice, a
// value of another kind. What is inside a field that is not read is not checked. The object is JSON
// that was parsed before.
func (f *JSONMask) Of(into, obj []byte) (text []byte, ok bool) {
	rest := bytes.TrimLeft(obj, Space)
	if len(rest) == 0 || rest[0] != '{' {
		return into, false
	}
	into = append(into, '{')
	begun := len(into)
	var seen [2]uint64
	var loose []fewerMember
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
		is := fewerMember{field, key, value}
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

// append appends a member to an object that begins at an offset.
func (m *fewerMember) append(into []byte, begun int) (text []byte, ok bool) {
	if len(into) > begun {
		into = append(into, ',')
	}
	into = append(append(append(into, '"'), m.key...), '"', ':')
	switch {
	case m.marks && m.value[0] != 'n':
		return marksOf(into, m.value)
	case m.inner == nil || m.value[0] == 'n':
		return append(into, m.value...), true
	case m.inner.list:
		return m.inner.ofEach(into, m.value)
	}
	return m.inner.Of(into, m.value)
}

// ofEach does what of does for each object of a list.
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

// marksOf appends to a text what of an object with annotations snapshot.PodAnnotations are. What is
// inside the others is not checked.
func marksOf(into, obj []byte) (text []byte, ok bool) {
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

// What the Strip functions of pkg/snapshot keep, in the names of the API. A field without
// braces is kept whole. What begins with "=" is the same in many objects, as the containers
// of all pods of a revision; of what begins with "#" the keys are, and some values. Of what begins
// with "@" only snapshot.PodAnnotations are kept. What begins with "~" is put aside, and what begins
// with "&" kept and put aside.
const (
	ofMeta      = `metadata{name =namespace uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds finalizers selfLink `
	OfNode      = ofMeta + `#labels managedFields} spec{=taints =unschedulable} status{conditions =allocatable =nodeInfo{kubeletVersion kernelVersion containerRuntimeVersion osImage operatingSystem architecture}}`
	ofContainer = `{name image restartPolicy resources{requests} ports{containerPort hostPort hostIP protocol}}`
	ofRunning   = `{name image ready started restartCount state lastState allocatedResources resources{requests}}`
	ofRepeating = `{&name image ready started restartCount state lastState ~allocatedResources ~resources}`
	OfPodMeta   = ofMeta + `=labels =@annotations =ownerReferences} `
	OfPodSpec   = `nodeName =containers` + ofContainer + ` =initContainers` + ofContainer +
		` =terminationGracePeriodSeconds =priority =priorityClassName =preemptionPolicy =schedulerName schedulingGates =overhead =resources{requests} =nodeSelector =readinessGates`
	OfUnbound   = ` =tolerations volumes{name volumeSource{persistentVolumeClaim{claimName} ephemeral{}}} affinity{nodeAffinity{requiredDuringSchedulingIgnoredDuringExecution}}`
	OfPodStatus = `status{phase conditions reason message startTime nominatedNodeName initContainerStatuses` +
		ofRunning + ` containerStatuses` + ofRunning + ` resources{requests} allocatedResources}`
	OfFewStatus = `status{phase conditions reason message startTime nominatedNodeName initContainerStatuses` +
		ofRepeating + ` containerStatuses` + ofRepeating + ` &resources{requests} &allocatedResources}`
)
