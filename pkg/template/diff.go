package template

import (
	"encoding/json"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Hidden replaces the literal value of an environment variable, which may be a
// secret, and anything that may contain one.
const Hidden = "<hidden>"

// Difference is one field that differs between two objects. Package hide sets
// Hidden.
type Difference struct {
	// the field, with list members by their key: `spec.template.spec.containers[name=agent].image`;
	// `spec.template.spec.containers[name]` is the order of the list, if the common members changed their
	// order
	Path Path  `json:"path"`
	Old  Value `json:"old"` // the value before, as JSON; empty if there is none
	New  Value `json:"new"` // the value after, as JSON; empty if there is none

	// `old` or `new` has `<hidden>` instead of literal values of environment variables, which may be secret.
	// This can be the value itself, a value within an added or removed object, or a copy in an annotation. It
	// also applies to a field that the API types do not list. Never with `--show-values`
	Hidden bool `json:"hidden"`
	Place  int  `json:"place"` // for a new list member: its place in the list, from 1; otherwise 0
}

// Diff returns the differences between two pod templates of a DaemonSet: see
// Between. It returns none if they are Equal, or differ only in their form,
// such as the null creationTimestamp of older controllers.
func Diff(old, new Content) []Difference {
	within := func(c Content) map[string]any {
		return map[string]any{"spec": map[string]any{"template": map[string]any(c.Plain())}}
	}
	return between[appsv1.DaemonSet](within(old), within(new))
}

// Between returns the differences between two objects of an API type, parsed
// like a Content, in the order of Path.Compare. Each path occurs once. Applying
// all differences to old yields new. Null counts as absent.
//
// A field that only one object has, or that the type does not list, is one
// difference as a whole. Maps such as labels, whose keys are data, are compared
// key by key even if one of them is missing. List members are matched by the
// merge key of the type, as in spec.containers[name=agent].image. If common
// members are in another order, the order of all keys is a difference at
// spec.containers[name]. A list is compared as a whole if it has no merge key,
// or if a member lacks it or shares it with another.
func Between[T any](old, new map[string]any) []Difference {
	return between[T](withoutNulls(old), withoutNulls(new))
}

// between is Between for objects without nulls.
func between[T any](old, new map[string]any) []Difference {
	d := &differ{}
	d.object(strategicpatch.PatchMetaFromStruct{T: reflect.TypeFor[T]()}, old, new)
	slices.SortFunc(d.found, func(a, b Difference) int { return a.Path.Compare(b.Path) })
	return d.found
}

// withoutNulls returns a copy of an object without null fields at any depth.
func withoutNulls(o map[string]any) map[string]any {
	out := make(map[string]any, len(o))
	for key, v := range o {
		if v != nil {
			out[key] = withoutNullsIn(v)
		}
	}
	return out
}

func withoutNullsIn(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return withoutNulls(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutNullsIn(v[i])
		}
		return out
	}
	return v
}

// differ collects differences while it descends into two objects.
type differ struct {
	path  Path // the current path
	found []Difference
}

func (d *differ) add(old, new any, place int) {
	d.found = append(d.found, Difference{Path: slices.Clone(d.path), Old: valueOrAbsent(old), New: valueOrAbsent(new),
		Place: place})
}

// descend calls do with the path extended by a step.
func (d *differ) descend(s Step, do func()) {
	d.path = append(d.path, s)
	do()
	d.path = d.path[:len(d.path)-1]
}

// object compares two objects of a type; nil is an unknown type.
func (d *differ) object(of strategicpatch.LookupPatchMeta, old, new map[string]any) {
	for key, v := range old {
		d.field(of, key, v, new[key])
	}
	for key, v := range new {
		if _, both := old[key]; !both {
			d.field(of, key, nil, v)
		}
	}
}

func (d *differ) field(of strategicpatch.LookupPatchMeta, key string, old, new any) {
	step := Step{Name: key}
	if isMap(of) {
		step.Kind = Key
	}
	d.descend(step, func() { d.value(of, key, old, new) })
}

// value compares the values of a key.
func (d *differ) value(of strategicpatch.LookupPatchMeta, key string, old, new any) {
	var inner strategicpatch.LookupPatchMeta
	if of != nil {
		inner, _, _ = of.LookupPatchMetadataForStruct(key) // an unknown field has an unknown type
	}
	if d.objects(inner, old, new) {
		return
	}
	oldList, isList := old.([]any)
	newList, both := new.([]any)
	if isList && both && of != nil {
		inner, meta, err := of.LookupPatchMetadataForSlice(key)
		if err == nil && d.list(inner, meta.GetPatchMergeKey(), oldList, newList) {
			return
		}
	}
	if !reflect.DeepEqual(old, new) {
		d.add(old, new, 0)
	}
}

// objects compares two objects key by key. It returns false if they have to be
// compared as a whole: one is missing or not an object, or the type is unknown.
// If the keys of a type are data, a missing map counts as one without keys, and
// an empty map is compared as a whole.
func (d *differ) objects(of strategicpatch.LookupPatchMeta, old, new any) bool {
	oldObject, isObject := old.(map[string]any)
	newObject, both := new.(map[string]any)
	if of == nil { // unknown keys may be as secret as their values
		return false
	}
	if isMap(of) {
		fits := func(v any, o map[string]any) bool { return v == nil || len(o) > 0 }
		if !fits(old, oldObject) || !fits(new, newObject) {
			return false
		}
	} else if !isObject || !both {
		return false
	}
	d.object(of, oldObject, newObject)
	return true
}

// isMap reports whether the keys of a type are data, such as labels.
func isMap(of strategicpatch.LookupPatchMeta) bool {
	t, ok := of.(strategicpatch.PatchMetaFromStruct)
	return ok && t.T.Kind() == reflect.Map
}

// list compares two lists by their merge key. It returns false if it cannot.
func (d *differ) list(of strategicpatch.LookupPatchMeta, key string, old, new []any) bool {
	oldKeys, oldBy, ok := membersByKey(old, key)
	newKeys, newBy, okToo := membersByKey(new, key)
	if !ok || !okToo {
		return false
	}
	member := func(k string, do func()) { d.descend(Step{Kind: Member, Name: key, Value: k}, do) }
	for _, k := range oldKeys {
		if newBy[k] == nil {
			member(k, func() { d.add(oldBy[k], nil, 0) })
			continue
		}
		member(k, func() { d.object(of, oldBy[k], newBy[k]) })
	}
	for i, k := range newKeys {
		if oldBy[k] == nil {
			member(k, func() { d.add(nil, newBy[k], i+1) })
		}
	}
	if !slices.Equal(keysIn(oldKeys, newBy), keysIn(newKeys, oldBy)) {
		d.descend(Step{Kind: Order, Name: key}, func() { d.add(listOf(oldKeys), listOf(newKeys), 0) })
	}
	return true
}

func listOf(words []string) []any {
	list := make([]any, len(words))
	for i, w := range words {
		list[i] = w
	}
	return list
}

// keysIn returns the keys that another list has too.
func keysIn(keys []string, other map[string]map[string]any) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return other[k] == nil })
}

// membersByKey returns the members of a list by the value of their key, and these
// values in order. ok is false if a member lacks the key or shares its value.
func membersByKey(list []any, key string) (keys []string, by map[string]map[string]any, ok bool) {
	if key == "" {
		return nil, nil, false
	}
	by = map[string]map[string]any{}
	for _, v := range list {
		object, _ := v.(map[string]any)
		k := ""
		switch v := object[key].(type) {
		case string:
			k = v
		case json.Number:
			k = v.String()
		default:
			return nil, nil, false
		}
		if by[k] != nil {
			return nil, nil, false
		}
		by[k] = object
		keys = append(keys, k)
	}
	return keys, by, true
}

// Parse returns the fields of an object in the form of a Content.
func Parse(object any) (map[string]any, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	return fields, decode(raw, &fields)
}
