// Package draw creates random pod templates that may use all fields of the API types. It takes a
// random generator and imports no other package of this project.
package draw

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Draw creates random templates. Values are drawn from few words, so that two templates have much
// in common and lists have members with equal keys.
type Draw struct{ *rand.Rand }

// dataMaps are fields whose keys are data.
var dataMaps = []string{
	"annotations", "labels", "limits", "matchLabels", "nodeSelector", "options", "overhead", "requests", "volumeAttributes",
}

// Names are the values of fields that hold a name. Values are those of other texts.
var (
	Names  = []string{"a", "b", "c", "d", "x.y", "A_B", "1", `a]b=c`, `"q"`, "<&>", "e\nf", "ü"}
	paths  = []string{"/a", "/a]b=c", "/x.y/z", `/"`, "/[", "/ "}
	keys   = []string{"app", "example.com/tier", "a.b", "x_y", "a=b", `a]b`, `"`, "name", "value"}
	Values = []string{"v", "w", "", "x y", "<a&b>", "[1]", "null"}
)

// Pick returns a random element of a list.
func Pick[T any](d Draw, of []T) T { return of[d.IntN(len(of))] }

// OneIn returns true with a probability of 1/n.
func (d Draw) OneIn(n int) bool { return d.IntN(n) == 0 }

// Template returns a random template. In most, the containers have distinct names.
func (d Draw) Template() *corev1.PodTemplateSpec {
	t := &corev1.PodTemplateSpec{}
	d.Fill(reflect.ValueOf(t).Elem(), "", 2)
	if len(t.Spec.Containers) == 0 {
		t.Spec.Containers = make([]corev1.Container, 1)
		d.Fill(reflect.ValueOf(&t.Spec.Containers[0]).Elem(), "", 2)
	}
	if !d.OneIn(10) {
		for i := range t.Spec.Containers {
			t.Spec.Containers[i].Name = Names[i]
		}
	}
	return t
}

// Fill sets a value of any API type at random. Each field of a struct is set with a probability of
// 1/sparse, which decreases with depth.
func (d Draw) Fill(v reflect.Value, field string, sparse int) {
	switch v.Interface().(type) {
	case metav1.Time, metav1.MicroTime, metav1.ManagedFieldsEntry:
		return
	case resource.Quantity:
		v.Set(reflect.ValueOf(resource.MustParse(Pick(d, []string{"1", "100m", "1Gi", "2Gi", "0"}))))
		return
	case intstr.IntOrString:
		v.Set(reflect.ValueOf(Pick(d, []intstr.IntOrString{intstr.FromInt32(80), intstr.FromString("http"), intstr.FromString("80")})))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if wide := v.Type().Field(i).Name == "Spec"; wide || d.OneIn(sparse) {
				d.Fill(v.Field(i), v.Type().Field(i).Name, sparse+1)
			}
		}
		// The keys of most lists.
		for _, key := range []string{"Name", "MountPath", "ContainerPort", "TopologyKey", "DevicePath", "IP"} {
			if f := v.FieldByName(key); f.IsValid() && f.IsZero() && !d.OneIn(20) {
				d.Fill(f, key, sparse+1)
			}
		}
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*metav1.Time]() { // its zero value is null, like nil
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		d.Fill(v.Elem(), field, sparse)
	case reflect.Slice:
		n := d.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			d.Fill(v.Index(i), field, sparse)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range d.IntN(3) {
			inner := reflect.New(v.Type().Elem()).Elem()
			d.Fill(inner, "", sparse)
			v.SetMapIndex(reflect.ValueOf(Pick(d, keys)).Convert(v.Type().Key()), inner)
		}
	case reflect.String:
		words, ok := map[string][]string{"Name": Names, "MountPath": paths, "Protocol": {"TCP", "UDP"}}[field]
		if !ok {
			words = Values
		}
		v.SetString(Pick(d, words))
	case reflect.Bool:
		v.SetBool(d.OneIn(2))
	case reflect.Int32, reflect.Int64:
		v.SetInt(Pick(d, []int64{0, 1, 53, 80, 1<<31 - 1}))
	case reflect.Uint8:
		v.SetUint(uint64(d.IntN(256)))
	}
}

// spot is a value in a template that can be changed.
type spot struct {
	reflect.Value
	field string
}

// spots returns the values within a value that can be changed.
func spots(v reflect.Value, field string) []spot {
	found := []spot{{v, field}}
	switch v.Kind() {
	case reflect.Struct:
		switch v.Interface().(type) {
		case metav1.Time, resource.Quantity, intstr.IntOrString, metav1.ManagedFieldsEntry:
			return found
		}
		for i := range v.NumField() {
			found = append(found, spots(v.Field(i), v.Type().Field(i).Name)...)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			found = append(found, spots(v.Elem(), field)...)
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = append(found, spots(v.Index(i), field)...)
		}
	}
	return found
}

// Edit makes one random change to a template, usually of something that is set.
func (d Draw) Edit(t *corev1.PodTemplateSpec) {
	all := spots(reflect.ValueOf(t).Elem(), "")[1:]
	if !d.OneIn(4) {
		all = slices.DeleteFunc(all, func(s spot) bool { return s.IsZero() })
	}
	if d.OneIn(2) {
		if lists := slices.DeleteFunc(slices.Clone(all), func(s spot) bool { return s.Kind() != reflect.Slice || s.Len() == 0 }); len(lists) > 0 {
			all = lists
		}
	}
	if len(all) == 0 {
		return
	}
	switch s := Pick(d, all); {
	case s.Kind() == reflect.Slice && s.Len() > 0:
		d.editList(s)
	case s.Kind() == reflect.Map && s.Len() > 0 && d.OneIn(2):
		s.SetMapIndex(s.MapKeys()[0], reflect.Value{})
	case d.OneIn(3):
		s.SetZero()
	default:
		d.Fill(s.Value, s.field, 3)
	}
}

// editList inserts, removes or duplicates a member of a list, or shuffles it.
func (d Draw) editList(list spot) {
	i := d.IntN(list.Len())
	before, after := list.Slice3(0, i, i), list.Slice(i+1, list.Len())
	member := reflect.New(list.Type().Elem()).Elem()
	switch d.IntN(4) {
	case 0:
		d.Fill(member, list.field, 4)
		list.Set(reflect.AppendSlice(reflect.Append(before, member, list.Index(i)), after))
	case 1:
		list.Set(reflect.AppendSlice(before, after))
	case 2:
		list.Set(reflect.Append(list.Value, list.Index(i)))
	case 3:
		d.Shuffle(list.Len(), reflect.Swapper(list.Interface()))
	}
}

// Strange adds to the objects of a template what this program never writes.
func (d Draw) Strange(v any) {
	switch v := v.(type) {
	case []any:
		for _, member := range v {
			d.Strange(member)
		}
	case map[string]any:
		for key, inner := range v {
			d.Strange(inner)
			if slices.Contains(dataMaps, key) && d.OneIn(8) {
				v[key] = map[string]any{}
			}
		}
		if d.OneIn(8) {
			v["none"] = nil
		}
		if d.OneIn(8) {
			future := []any{
				"x", true, json.Number("1"), []any{}, []any{nil}, []any{map[string]any{"name": "a", "none": nil}}, map[string]any{},
				map[string]any{"a.b": map[string]any{"c": []any{"d"}, "none": nil}}, map[string]any{"": "x", "]": "y", "a=b": "z"},
			}
			v[Pick(d, []string{"future", "$patch", "x y"})] = Pick(d, future)
		}
	}
}
