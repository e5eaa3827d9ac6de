// Package hide removes from objects, differences and messages what may be
// secret: literal values of environment variables, copies of them, and fields
// that the API's types do not list. It contains no prose.
package hide

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Differences returns the differences of two DaemonSets with template.Hidden
// instead of what may be secret:
//
//   - everything that the API types do not list: misspelled fields, fields newer than this program,
//     and values of another kind than their field's;
//   - literal values of environment variables, except empty ones;
//   - copies of these in annotations of the DaemonSet: see MayHoldValues.
//
// Field names match in any letter case, as in the decoder of the API's types.
// Secrets in other listed fields, such as arguments and annotations of the
// pods, are not hidden.
func Differences(all []template.Difference) []template.Difference {
	out := make([]template.Difference, len(all))
	for i, d := range all {
		of := typeAt(reflect.TypeFor[appsv1.DaemonSet](), d.Path)
		annotation, isAnnotation := d.Path.Below(template.Fields("metadata", "annotations"))
		hide := func(v template.Value) template.Value {
			taken := false
			without := replaced(place{of: of}, v.Any(), func(place, string) string {
				taken = true
				return template.Hidden
			})
			if text, isText := v.Text(); isAnnotation && isText && MayHoldValues(annotation.Last().Name, text) {
				without, taken = template.Hidden, true
			}
			if !taken {
				return v
			}
			d.Hidden = true
			return template.ValueOf(without)
		}
		d.Old, d.New = hide(d.Old), hide(d.New)
		out[i] = d
	}
	return out
}

// Replace returns a copy of an object of an API type in which f has replaced
// what may be secret, in the order of the names of fields: see Differences. f
// receives values other than strings as JSON.
func Replace[T any](object map[string]any, f func(string) string) map[string]any {
	return replaced(place{of: reflect.TypeFor[T]()}, object,
		func(_ place, value string) string { return f(value) }).(map[string]any)
}

// Numbered returns copies of objects in which numbers replace the values that
// may be secret, in order of occurrence. Equal values have equal numbers, so
// that differences remain visible.
func Numbered[T any](objects ...map[string]any) []map[string]any {
	numbers := map[string]string{}
	out := make([]map[string]any, len(objects))
	for i, o := range objects {
		out[i] = Replace[T](o, func(value string) string {
			if numbers[value] == "" {
				numbers[value] = fmt.Sprintf("<hidden %d>", len(numbers)+1)
			}
			return numbers[value]
		})
	}
	return out
}

// literal is the type of an environment variable's value.
var literal = reflect.TypeFor[struct{ corev1.EnvVar }]()

// place is the path and the type of a value; the type is nil if no type lists
// it.
type place struct {
	path template.Path
	of   reflect.Type
}

func (p place) below(s template.Step, of reflect.Type) place { return place{append(p.path, s), of} }

// replaced returns a copy of a parsed value in which f has replaced literal
// values and what the type does not list. A value that no type lists is
// replaced as a whole.
func replaced(at place, v any, f func(at place, value string) string) any {
	switch {
	case isEmpty(v):
		return v
	case at.of == nil, at.of == literal:
		return f(at, asText(v))
	}
	switch v := v.(type) {
	case map[string]any:
		if inner := fieldsOf(at.of); inner != nil {
			out := maps.Clone(v)
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if !isDirective(key, v[key]) {
					out[key] = replaced(at.below(template.Step{Name: key}, inner(key)), v[key], f)
				}
			}
			return out
		}
	case []any:
		if at.of.Kind() == reflect.Slice {
			out := make([]any, len(v))
			for i := range v {
				out[i] = replaced(at.below(template.Step{Kind: template.Member, Value: strconv.Itoa(i)},
					plainType(at.of.Elem())), v[i], f)
			}
			return out
		}
	default:
		if isScalar(at.of, v) {
			return v
		}
	}
	return f(at, asText(v))
}

// Unlisted returns the values that this program's API types do not list, as
// JSON, by path.
func Unlisted(c template.Content) map[string]string {
	found := map[string]string{}
	replaced(place{of: reflect.TypeFor[corev1.PodTemplateSpec]()}, map[string]any(c),
		func(at place, value string) string {
			if at.of == nil {
				found[at.path.String()] = value
			}
			return value
		})
	return found
}

func isEmpty(v any) bool {
	object, isObject := v.(map[string]any)
	list, isList := v.([]any)
	return v == nil || v == "" || isObject && len(object) == 0 || isList && len(list) == 0
}

// asText returns a string unchanged, and any other value as JSON.
func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return template.ValueOf(v).String()
}

// fieldsOf returns a function that maps keys of an object to the types of
// fields. It returns nil for a type that is not encoded as an object.
func fieldsOf(t reflect.Type) func(key string) reflect.Type {
	switch {
	case hasOwnEncoding(t):
		return nil
	case t.Kind() == reflect.Struct:
		return func(key string) reflect.Type { return fieldOf(t, key) }
	case t.Kind() == reflect.Map:
		return func(string) reflect.Type { return plainType(t.Elem()) }
	}
	return nil
}

// fields caches the results of fieldOf, because parsing the tags of a struct takes longer than hiding a
// value. It has only keys of API types, so that its size is bounded.
var fields sync.Map

type fieldKey struct {
	of  reflect.Type
	key string
}

// fieldOf returns the type of a field of a struct, or nil if there is none.
func fieldOf(t reflect.Type, key string) reflect.Type {
	at := fieldKey{t, key}
	if found, known := fields.Load(at); known {
		return found.(reflect.Type)
	}
	found := findField(t, key)
	if found != nil {
		fields.Store(at, found)
	}
	return found
}

func findField(t reflect.Type, key string) reflect.Type {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			if found := findField(plainType(f.Type), key); found != nil {
				return found
			}
		case name == "" || name == "-" || !strings.EqualFold(name, key):
		case t == reflect.TypeFor[corev1.EnvVar]() && f.Name == "Value":
			return literal
		default:
			return plainType(f.Type)
		}
	}
	return nil
}

// isDirective reports whether a key is a directive of a patch, as in a
// ControllerRevision.
func isDirective(key string, v any) bool {
	return key == "$patch" && (v == "replace" || v == "merge" || v == "delete")
}

// isScalar reports whether a type is encoded as a string, number or boolean
// like v.
func isScalar(t reflect.Type, v any) bool {
	isString, isNumber := false, false
	switch v.(type) {
	case string:
		isString = true
	case json.Number, int64, float64: // the latter two from other parsers than template.Parse
		isNumber = true
	}
	switch k := t.Kind(); {
	case hasOwnEncoding(t): // a quantity, a time, a port by name or number
		return isString || isNumber
	case k == reflect.String, k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return isString
	case k == reflect.Bool:
		return !isString && !isNumber
	case k >= reflect.Int && k <= reflect.Float64:
		return isNumber
	}
	return false
}

func hasOwnEncoding(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

func plainType(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// typeAt returns the type at a path below a value of type t, or nil if the type
// lists nothing there.
func typeAt(t reflect.Type, path template.Path) reflect.Type {
	for _, step := range path {
		if t == nil {
			return nil
		}
		switch inner := fieldsOf(t); {
		case inner != nil && step.Kind != template.Member:
			t = inner(step.Name)
		case t.Kind() == reflect.Slice && step.Kind == template.Member:
			t = plainType(t.Elem())
		case t.Kind() == reflect.Slice: // the order of a list, which consists of keys
			t = reflect.TypeFor[[]intstr.IntOrString]()
		default:
			t = nil
		}
	}
	return t
}
