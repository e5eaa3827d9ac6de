package redact

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// place is the location of a word: a field of an object.
type place struct {
	object   reflect.Type // the nearest enclosing type with metadata
	of       reflect.Type // the struct that has the field
	declared reflect.Type // the struct that declares it, which of may embed
	field    string       // its name in JSON

	beside func(field string) string // another field of the same struct; empty if it is not a string
}

// names returns the keys of the place in the list of rules, the nearest first.
func (p place) names() []string {
	if p.of == nil {
		return nil
	}
	return []string{p.of.Name() + "." + p.field, p.declared.Name() + "." + p.field}
}

// below returns the place of a field of a struct at p.
func (p place) below(of reflect.Type, f field, beside func(string) string) place {
	if f.typ == reflect.TypeFor[metav1.ObjectMeta]() {
		p.object = of
	}
	return place{object: p.object, of: of, declared: f.declared, field: f.name, beside: beside}
}

// field is a field of a struct in JSON.
type field struct {
	name     string
	index    []int
	typ      reflect.Type
	declared reflect.Type
}

var fieldLists sync.Map

// fieldsOf returns the JSON fields of a struct, including those of embedded
// structs.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldLists.Load(t); ok {
		return known.([]field)
	}
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "":
			for _, inner := range fieldsOf(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				all = append(all, inner)
			}
		default:
			all = append(all, field{name, []int{i}, f.Type, t})
		}
	}
	fieldLists.Store(t, all)
	return all
}

// fieldNamed returns the field for a key in any letter case, as the decoder of
// the API's types matches keys.
func fieldNamed(t reflect.Type, key string) (field, bool) {
	for _, f := range fieldsOf(t) {
		if strings.EqualFold(f.name, key) {
			return f, true
		}
	}
	return field{}, false
}

// hasOwnEncoding reports whether a type has its own encoding, which contains no name.
func hasOwnEncoding(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime](),
		reflect.TypeFor[metav1.Duration](), reflect.TypeFor[resource.Quantity]():
		return true
	}
	return false
}

// copied returns a copy of a value of an API type with all strings redacted.
// Fields that are not in JSON are omitted.
func (w *walker) copied(v reflect.Value, p place) reflect.Value {
	t := v.Type()
	out := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(t.Elem()))
			out.Elem().Set(w.copied(v.Elem(), p))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(t, v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(w.copied(v.Index(i), p))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(t, v.Len()))
			for i := v.MapRange(); i.Next(); {
				key, value := i.Key().String(), reflect.Value{}
				if t.Elem().Kind() == reflect.String {
					value = reflect.ValueOf(w.mapValue(p, key, i.Value().String())).Convert(t.Elem())
				} else {
					value = w.copied(i.Value(), place{})
				}
				out.SetMapIndex(reflect.ValueOf(w.key(key)).Convert(t.Key()), value)
			}
		}
	case reflect.String:
		out.SetString(w.word(p, t, v.String()))
	case reflect.Struct:
		w.copyStruct(out, v, p)
	default:
		out.Set(v)
	}
	return out
}

func (w *walker) copyStruct(out, v reflect.Value, p place) {
	t := v.Type()
	switch is := v.Interface().(type) {
	case intstr.IntOrString:
		if is.Type == intstr.String {
			is.StrVal = w.word(p, t, is.StrVal)
		}
		out.Set(reflect.ValueOf(is))
		return
	case runtime.RawExtension:
		out.Set(reflect.ValueOf(runtime.RawExtension{Raw: w.raw(is.Raw, reflect.TypeFor[appsv1.DaemonSet](), p)}))
		return
	case metav1.FieldsV1:
		out.Set(reflect.ValueOf(*metav1.NewFieldsV1(string(w.owned(is.GetRawBytes(), p)))))
		return
	}
	if hasOwnEncoding(t) {
		out.Set(v)
		return
	}
	beside := func(name string) string {
		for _, f := range fieldsOf(t) {
			if of := v.FieldByIndex(f.index); f.name == name && of.Kind() == reflect.String {
				return of.String()
			}
		}
		return ""
	}
	for _, f := range fieldsOf(t) {
		out.FieldByIndex(f.index).Set(w.copied(v.FieldByIndex(f.index), p.below(t, f, beside)))
	}
}

// raw redacts JSON of a type, including keys that the type does not list.
func (w *walker) raw(text []byte, t reflect.Type, p place) []byte {
	if len(text) == 0 {
		return nil
	}
	v, ok := parsed(text)
	if !ok {
		v = string(text)
	}
	return written(w.value(v, t, p))
}

func parsed(text []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return v, d.Decode(&v) == nil && !d.More()
}

func written(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // what was parsed always encodes
	return bytes.TrimSpace(b.Bytes())
}

// value is copied for parsed JSON. t is nil if no type lists it.
func (w *walker) value(v any, t reflect.Type, p place) any {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case map[string]any:
		return w.object(v, t, p)
	case []any:
		var of reflect.Type
		if t != nil && t.Kind() == reflect.Slice {
			of = t.Elem()
		} else {
			p = place{}
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = w.value(v[i], of, p)
		}
		return out
	case string:
		switch {
		case t == nil:
		case hasOwnEncoding(t):
			if raw := written(v); json.Unmarshal(raw, reflect.New(t).Interface()) == nil {
				return v
			}
		case t.Kind() == reflect.String, t == reflect.TypeFor[intstr.IntOrString]():
			return w.word(p, t, v)
		case t == reflect.TypeFor[runtime.RawExtension]():
			return w.word(p, reflect.TypeFor[string](), v)
		}
		return w.word(place{}, nil, v)
	}
	return v
}

func (w *walker) object(v map[string]any, t reflect.Type, p place) any {
	out := make(map[string]any, len(v))
	if t == reflect.TypeFor[runtime.RawExtension]() {
		t = reflect.TypeFor[appsv1.DaemonSet]()
	}
	switch {
	case t == reflect.TypeFor[metav1.FieldsV1]():
		return w.ownedFields(v, p.object, p)
	case t != nil && t.Kind() == reflect.Struct && !hasOwnEncoding(t):
		beside := func(name string) string {
			for key, of := range v {
				if text, is := of.(string); is && strings.EqualFold(key, name) {
					return text
				}
			}
			return ""
		}
		for key, of := range v {
			if f, listed := fieldNamed(t, key); listed {
				out[key] = w.value(of, f.typ, p.below(t, f, beside))
			} else if isDirective(key, of) {
				out[key] = of
			} else {
				out[w.name("field", key)] = w.value(of, nil, place{})
			}
		}
	case t != nil && t.Kind() == reflect.Map:
		for key, of := range v {
			if text, is := of.(string); is && t.Elem().Kind() == reflect.String {
				out[w.key(key)] = w.mapValue(p, key, text)
			} else {
				out[w.key(key)] = w.value(of, t.Elem(), place{})
			}
		}
	default:
		for key, of := range v {
			out[w.name("field", key)] = w.value(of, nil, place{})
		}
	}
	return out
}

// isDirective reports whether a key is a directive of a patch.
func isDirective(key string, v any) bool {
	return key == "$patch" && (v == "replace" || v == "merge" || v == "delete")
}

// owned redacts managed fields, whose keys name the owned fields.
func (w *walker) owned(text []byte, p place) []byte {
	v, ok := parsed(text)
	fields, is := v.(map[string]any)
	if !ok || !is {
		return w.raw(text, nil, place{})
	}
	return written(w.ownedFields(fields, p.object, place{object: p.object}))
}

func (w *walker) ownedFields(v map[string]any, t reflect.Type, p place) any {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[runtime.RawExtension]() {
		t = reflect.TypeFor[appsv1.DaemonSet]()
	}
	out := make(map[string]any, len(v))
	for key, of := range v {
		inner, _ := of.(map[string]any)
		kind, rest, _ := strings.Cut(key, ":")
		to, at, is := "", place{}, reflect.Type(nil)
		switch {
		case key == ".":
			to = key
		case kind == "f" && t != nil && t.Kind() == reflect.Struct:
			to = "f:" + w.name("field", rest)
			if f, listed := fieldNamed(t, rest); listed {
				to, at, is = key, p.below(t, f, func(string) string { return "" }), f.typ
			}
		case kind == "f" && t != nil && t.Kind() == reflect.Map:
			to = "f:" + w.key(rest)
		case kind == "k" && t != nil && t.Kind() == reflect.Slice:
			to, is, at = "k:"+string(w.raw([]byte(rest), t.Elem(), p)), t.Elem(), p
		case kind == "v" && t != nil && t.Kind() == reflect.Slice:
			to, is = "v:"+string(w.raw([]byte(rest), t.Elem(), p)), t.Elem()
		default:
			to = w.name("field", key)
		}
		out[to] = w.ownedFields(inner, is, at)
	}
	return out
}
