package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Difference is one field that two objects do not share. Old and New are its
// values as JSON, empty where there is none.
type Difference struct{ Path, Old, New string }

// Diff returns the differences of two pod templates: see Between. There are
// none if the two are Equal, or differ in their form alone, as the null
// creationTimestamp of older controllers.
func Diff(old, new Content, at string) []Difference {
	return Between[corev1.PodTemplateSpec](old, new, at)
}

// Between returns the differences of two objects of an API type, parsed as a
// Content is, in the order of their paths, which begin with at.
//
// What only one of them has is one difference, with all that is in it; but
// labels and their like are compared key by key even then. The members of a list are told apart by the merge key that the type gives it, as
// spec.containers[name=agent].image. Where members have only changed places,
// the difference is the order of their keys, at spec.containers[name]. A list
// without a merge key, or in which two members share one, is shown whole.
// Null is as good as absent.
func Between[T any](old, new map[string]any, at string) []Difference {
	d := &differ{}
	d.object(at, strategicpatch.PatchMetaFromStruct{T: reflect.TypeFor[T]()}, old, new)
	slices.SortFunc(d.found, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return d.found
}

type differ struct{ found []Difference }

func (d *differ) add(path string, old, new any) {
	d.found = append(d.found, Difference{Path: path, Old: text(old), New: text(new)})
}

// object compares two objects of a type, of which nil knows nothing.
func (d *differ) object(path string, of strategicpatch.LookupPatchMeta, old, new map[string]any) {
	keys := maps.Clone(old)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, new)
	for key := range keys {
		if key == "$patch" { // how a ControllerRevision says that it replaces
			continue
		}
		d.field(path, of, key, old[key], new[key])
	}
}

func (d *differ) field(parent string, of strategicpatch.LookupPatchMeta, key string, old, new any) {
	path := join(parent, key)
	var inner strategicpatch.LookupPatchMeta
	if of != nil {
		inner, _, _ = of.LookupPatchMetadataForStruct(key) // of an unknown field nothing is known
	}
	oldObject, isObject := old.(map[string]any)
	newObject, both := new.(map[string]any)
	alone := isMap(inner) && (old == nil && len(newObject) > 0 || new == nil && len(oldObject) > 0)
	if isObject && both || alone {
		d.object(path, inner, oldObject, newObject)
		return
	}
	oldList, isList := old.([]any)
	newList, both := new.([]any)
	if isList && both && of != nil {
		inner, meta, err := of.LookupPatchMetadataForSlice(key)
		if err == nil && d.list(path, inner, meta.GetPatchMergeKey(), oldList, newList) {
			return
		}
	}
	if !reflect.DeepEqual(old, new) {
		d.add(path, old, new)
	}
}

// isMap tells a type whose keys are data, such as labels.
func isMap(of strategicpatch.LookupPatchMeta) bool {
	t, ok := of.(strategicpatch.PatchMetaFromStruct)
	return ok && t.T.Kind() == reflect.Map
}

// list compares two lists by their merge key, and is false where they have
// none.
func (d *differ) list(path string, of strategicpatch.LookupPatchMeta, key string, old, new []any) bool {
	oldKeys, oldBy, ok := byKey(old, key)
	newKeys, newBy, okToo := byKey(new, key)
	if !ok || !okToo {
		return false
	}
	in := func(m map[string]map[string]any) func(string) bool {
		return func(k string) bool { return m[k] == nil }
	}
	for _, k := range oldKeys {
		at := fmt.Sprintf("%s[%s=%s]", path, key, k)
		if newBy[k] == nil {
			d.add(at, oldBy[k], nil)
			continue
		}
		d.object(at, of, oldBy[k], newBy[k])
	}
	for _, k := range newKeys {
		if oldBy[k] == nil {
			d.add(fmt.Sprintf("%s[%s=%s]", path, key, k), nil, newBy[k])
		}
	}
	stayed, order := slices.DeleteFunc(slices.Clone(oldKeys), in(newBy)), slices.DeleteFunc(slices.Clone(newKeys), in(oldBy))
	if !slices.Equal(stayed, order) {
		d.add(path+"["+key+"]", oldKeys, newKeys)
	}
	return true
}

// byKey returns the members of a list by the value of a key, and these values
// in the list's order; it is not ok where a member lacks the key or shares it.
func byKey(list []any, key string) (keys []string, by map[string]map[string]any, ok bool) {
	if key == "" {
		return nil, nil, false
	}
	by = map[string]map[string]any{}
	for _, member := range list {
		object, _ := member.(map[string]any)
		if object[key] == nil {
			return nil, nil, false
		}
		k := fmt.Sprint(object[key])
		if by[k] != nil {
			return nil, nil, false
		}
		by[k] = object
		keys = append(keys, k)
	}
	return keys, by, true
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// join appends a key to a path, in brackets where it could not be told from a
// path.
func join(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

func text(v any) string {
	if v == nil {
		return ""
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // it was JSON a moment ago
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Parse returns an object's fields as a Content has them.
func Parse(object any) (map[string]any, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return parse(raw)
}
