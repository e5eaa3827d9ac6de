package template

import (
	"encoding/json"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Hidden stands for the literal value of an environment variable, which may be
// a secret, and for what may hold one.
const Hidden = "<hidden>"

// Difference is one field that two objects do not share. Hidden says that what may
// be secret was taken out of its values: see package hide. Place is that of a new member in
// its list, from 1 on, and of all else 0.
type Difference struct {
	// the field, with the members of a list by their key: `spec.template.spec.containers[name=agent].image`;
	// `spec.template.spec.containers[name]` is the order of the list, where members that both lists have changed it
	Path Path  `json:"path"`
	Old  Value `json:"old"` // the value before, as JSON; empty if there is none
	New  Value `json:"new"` // the value after, as JSON; empty if there is none

	// `old` or `new` has `<hidden>` in the place of literal values of environment variables, which may be secret: the
	// value itself, one within a whole object that comes or goes, or a copy in an annotation. Also for a field that
	// the API types do not list. Never with `--show-values`
	Hidden bool `json:"hidden"`
	Place  int  `json:"place"` // of a new member of a list: its place in the list, from 1; otherwise 0
}

// Diff returns the differences of two pod templates in a DaemonSet: see Between.
// There are none if the two are Equal, or differ in their form alone, as the null
// creationTimestamp of older controllers.
func Diff(old, new Content) []Difference {
	within := func(c Content) map[string]any {
		return map[string]any{"spec": map[string]any{"template": map[string]any(c.Plain())}}
	}
	return between[appsv1.DaemonSet](within(old), within(new))
}

// Between returns the differences of two objects of an API type, parsed as a
// Content is, in the order of Path.Compare. Each path stands once, and whoever
// makes all the changes to old has new. Null is as good as absent.
//
// What only one of the two has is one difference, with all that is in it. But
// labels and their like, whose keys are data, are compared key by key even then:
// they come with their first key, and go with their last. A field that the type
// does not know is one difference, too, whatever is in it.
//
// The members of a list are told apart by the merge key that the type gives it,
// as spec.containers[name=agent].image. Where members that both lists have stand in
// another order, the order of the keys is a difference too, at
// spec.containers[name]: that of all keys. A list without a merge key, or in which a member lacks it
// or shares it, is shown whole.
func Between[T any](old, new map[string]any) []Difference {
	return between[T](withoutNulls(old), withoutNulls(new))
}

// between is for objects without nulls.
func between[T any](old, new map[string]any) []Difference {
	d := &differ{}
	d.object(strategicpatch.PatchMetaFromStruct{T: reflect.TypeFor[T]()}, old, new)
	slices.SortFunc(d.found, func(a, b Difference) int { return a.Path.Compare(b.Path) })
	return d.found
}

// withoutNulls returns a copy of an object without the nulls in it.
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

// differ collects differences on its way through two objects.
type differ struct {
	path  Path // to where it is
	found []Difference
}

func (d *differ) add(old, new any, place int) {
	d.found = append(d.found, Difference{Path: slices.Clone(d.path), Old: valueOrNone(old), New: valueOrNone(new),
		Place: place})
}

// below goes a step further, and back.
func (d *differ) below(s Step, do func()) {
	d.path = append(d.path, s)
	do()
	d.path = d.path[:len(d.path)-1]
}

// object compares two objects of a type, of which nil knows nothing.
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
	d.below(step, func() { d.value(of, key, old, new) })
}

// value compares what two objects have at a key.
func (d *differ) value(of strategicpatch.LookupPatchMeta, key string, old, new any) {
	var inner strategicpatch.LookupPatchMeta
	if of != nil {
		inner, _, _ = of.LookupPatchMetadataForStruct(key) // of an unknown field nothing is known
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

// objects compares two objects key by key, and is false where they are to be
// compared whole: where one is missing or no object, or of no known type. One whose keys are data is
// none where it is missing, but a whole where it is there and empty.
func (d *differ) objects(of strategicpatch.LookupPatchMeta, old, new any) bool {
	oldObject, isObject := old.(map[string]any)
	newObject, both := new.(map[string]any)
	if of == nil { // the keys of what is unknown may be as secret as its values
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

// isMap tells a type whose keys are data, such as labels.
func isMap(of strategicpatch.LookupPatchMeta) bool {
	t, ok := of.(strategicpatch.PatchMetaFromStruct)
	return ok && t.T.Kind() == reflect.Map
}

// list compares two lists by their merge key, and is false where they have
// none.
func (d *differ) list(of strategicpatch.LookupPatchMeta, key string, old, new []any) bool {
	oldKeys, oldBy, ok := byKey(old, key)
	newKeys, newBy, okToo := byKey(new, key)
	if !ok || !okToo {
		return false
	}
	member := func(k string, do func()) { d.below(Step{Kind: Member, Name: key, Value: k}, do) }
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
		d.below(Step{Kind: Order, Name: key}, func() { d.add(listOf(oldKeys), listOf(newKeys), 0) })
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

// keysIn returns the keys that another list has, too.
func keysIn(keys []string, other map[string]map[string]any) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return other[k] == nil })
}

// byKey returns the members of a list by the value of a key, and these values
// in the list's order; it is not ok where a member lacks the key or shares it.
func byKey(list []any, key string) (keys []string, by map[string]map[string]any, ok bool) {
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

// Parse returns an object's fields as a Content has them.
func Parse(object any) (map[string]any, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	return fields, decode(raw, &fields)
}
