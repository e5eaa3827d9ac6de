package template

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestHide(t *testing.T) {
	for _, tt := range []struct{ path, old, want, why string }{
		{"spec.containers[name=a].env[name=A].value", `"s"`, `"<hidden>"`, "a value"},
		{"spec.containers[name=a].env[name=A].value", ``, ``, "a value that is not there"},
		{"spec.containers[name=a].env[name=A].value", `""`, `""`, "an empty one"},
		{"spec.containers[name=a].env[name=A].value", `"<hidden>"`, `"<hidden>"`, "a value that looks hidden"},
		{"spec.containers[name=a].env[name=A].value", `5`, `"<hidden>"`, "a value that the API does not take"},
		{"spec.containers[name=a].env[name=A].value", `s`, `"<hidden>"`, "and what is not even JSON"},
		{`spec.containers[name=a].env[name="a].\"x"].value`, `"s"`, `"<hidden>"`, "of a variable with an odd name"},
		{`spec.containers[name="a].x"].env[name=a=b].value`, `"s"`, `"<hidden>"`, "in a container with an odd name"},
		{"spec.initContainers[name=a].env[name=A].value", `"s"`, `"<hidden>"`, "of an init container"},
		{"spec.ephemeralContainers[name=a].env[name=A].value", `"s"`, `"<hidden>"`, "which no template may have, yet"},
		{"containers[name=a].env[name=A].value", `"s"`, `"<hidden>"`, "of a path that begins there"},
		{"spec.containers[name=a].env[name=A].valueFrom", `{"fieldRef":{"fieldPath":"spec"}}`, `{"fieldRef":{"fieldPath":"spec"}}`, "a reference"},
		{"spec.containers[name=a].env[name=A].valueFrom.secretKeyRef.key", `"value"`, `"value"`, "a part of one"},
		{"spec.containers[name=a].env[name=A]", `{"name":"A","value":"s"}`, `{"name":"A","value":"<hidden>"}`, "a variable"},
		{"spec.containers[name=a].env[name=A]", `{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"value"}}}`, `{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"value"}}}`, "one that refers"},
		{"spec.containers[name=a].env[name=A]", `{"name":"A"}`, `{"name":"A"}`, "one that is empty"},
		{"spec.containers[name=a].env[name]", `["A","B"]`, `["A","B"]`, "an order of variables"},
		{"spec.containers[name=a].env", `[{"name":"A","value":"s"},{"name":"A","value":"t"},{"name":"B"},7]`, `[{"name":"A","value":"<hidden>"},{"name":"A","value":"<hidden>"},{"name":"B"},7]`, "all variables"},
		{"spec.containers[name=a]", `{"args":["s"],"env":[{"name":"A","value":"s"}],"name":"a"}`, `{"args":["s"],"env":[{"name":"A","value":"<hidden>"}],"name":"a"}`, "a container"},
		{"spec.containers[name=a]", `{"env":"s"}`, `{"env":"s"}`, "a container that is none"},
		{"spec.containers", `[{"env":[{"value":"s"}]},{"image":"x"},null]`, `[{"env":[{"value":"<hidden>"}]},{"image":"x"},null]`, "all containers"},
		{"spec.initContainers", `[{"env":[{"value":"s"}]}]`, `[{"env":[{"value":"<hidden>"}]}]`, "all init containers"},
		{"spec", `{"containers":[{"env":[{"value":"s"}]}],"hostNetwork":true}`, `{"containers":[{"env":[{"value":"<hidden>"}]}],"hostNetwork":true}`, "a pod"},
		{"spec.template.spec", `{"initContainers":[{"env":[{"value":"s"}]}]}`, `{"initContainers":[{"env":[{"value":"<hidden>"}]}]}`, "a pod of a DaemonSet"},
		{"spec.template", `{"metadata":{"labels":{"env":"x","value":"y"}},"spec":{"containers":[{"env":[{"value":"s"}]}]}}`, `{"metadata":{"labels":{"env":"x","value":"y"}},"spec":{"containers":[{"env":[{"value":"<hidden>"}]}]}}`, "a template"},
		{"spec", `{"minReadySeconds":9007199254740993,"template":{"spec":{"containers":[{"env":[{"value":"s"}]}]}}}`, `{"minReadySeconds":9007199254740993,"template":{"spec":{"containers":[{"env":[{"value":"<hidden>"}]}]}}}`, "a DaemonSet, with its large numbers"},
		{"spec.Containers[name=a].ENV[name=A].Value", `"s"`, `"<hidden>"`, "names in another case, which the API's decoder takes"},
		{"spec[containerſ][name=a].env[name=A].value", `"s"`, `"<hidden>"`, "and with a letter that it takes for an s"},
		{"Spec", `{"INITCONTAINERS":[{"Env":[{"VALUE":"s"}]}]}`, `{"INITCONTAINERS":[{"Env":[{"VALUE":"<hidden>"}]}]}`, "within what goes whole, too"},
		{"Template", `{"Spec":{"EphemeralContainers":[{"env":[{"value":"s","Value":"t"}],"Env":[{"value":"u"}]}]}}`, `{"Spec":{"EphemeralContainers":[{"Env":[{"value":"<hidden>"}],"env":[{"Value":"<hidden>","value":"<hidden>"}]}]}}`, "all of several that differ in case alone"},
		{"spec.containers[name=a].environment", `[{"value":"s"}]`, `[{"value":"s"}]`, "a longer name is another"},
		{"spec.template.metadata.labels.env", `"s"`, `"s"`, "a label of that name"},
		{"spec.template.metadata.labels.value", `"s"`, `"s"`, "or of that"},
		{"spec.containers[name=a].livenessProbe.httpGet.httpHeaders", `[{"name":"A","value":"s"}]`, `[{"name":"A","value":"s"}]`, "another value"},
		{"spec.tolerations", `[{"key":"a","value":"s"}]`, `[{"key":"a","value":"s"}]`, "and another"},
		{"spec.containers[name=a].image", `"<x>"`, `"<x>"`, "an image"},
		{"spec.containers[name=a].command", `["env"]`, `["env"]`, "a command"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			looksHidden := tt.old == tt.want && strings.Contains(tt.old, Hidden)
			want := []Difference{{tt.path, tt.want, "", looksHidden || tt.want != tt.old}, {tt.path, "", tt.want, looksHidden || tt.want != tt.old}}
			given := []Difference{{tt.path, tt.old, "", false}, {tt.path, "", tt.old, false}}
			before := slices.Clone(given)
			got := Hide(given)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(got, Hide(got)); diff != "" {
				t.Errorf("twice (-once +twice):\n%s", diff)
			}
			if !slices.Equal(before, given) {
				t.Errorf("its input became %v", given)
			}
		})
	}
}

// TestHideLaws: where every literal value is marked, no difference holds a mark
// when they are hidden, and Hidden says which did. What is not a literal value is
// as before. It is so of templates, and of the DaemonSets that hold them, in
// whatever letter case their fields are written.
func TestHideLaws(t *testing.T) {
	const mark = "s3cr3t"
	hides := 0
	for seed := range uint64(300) {
		d := draw{rand.New(rand.NewPCG(seed, 2))}
		marked := func(of *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
			of = of.DeepCopy()
			all := slices.Concat(of.Spec.Containers, of.Spec.InitContainers)
			for _, c := range of.Spec.EphemeralContainers {
				all = append(all, corev1.Container(c.EphemeralContainerCommon))
			}
			for i := range all {
				for j := range all[i].Env {
					if v := &all[i].Env[j]; v.Value != "" {
						v.Value = mark + v.Value
					}
				}
			}
			return of
		}
		plain := d.template()
		for range 3 {
			d.fillEnv(plain)
		}
		other := plain.DeepCopy()
		for range 1 + d.IntN(4) {
			d.edit(other)
		}
		if d.oneIn(5) {
			other = &corev1.PodTemplateSpec{}
		}
		one, other := marked(plain), marked(other)
		a, b := d.stored(t, one), d.stored(t, other)
		if d.oneIn(3) {
			a = d.recased(map[string]any(a)).(map[string]any)
		}
		if d.oneIn(3) {
			b = d.recased(map[string]any(b)).(map[string]any)
		}
		all := Diff(a, b, "")
		wholeA, errA := Parse(&appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: *one}})
		wholeB, errB := Parse(&appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: *other}})
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		all = append(all, Between[appsv1.DaemonSet](wholeA, wholeB, "")...)
		all = append(all, Between[appsv1.DaemonSet](wholeA, map[string]any{"spec": map[string]any{}}, "")...)

		for i, hidden := range Hide(all) {
			was := strings.Contains(all[i].Old+all[i].New, mark)
			if is := strings.Contains(hidden.Old+hidden.New, mark); is || hidden.Hidden != was {
				t.Fatalf("seed %d: marked %t, hidden: %v\nof %v", seed, is, hidden, all[i])
			}
			if hidden.Path != all[i].Path || !was && (hidden.Old != all[i].Old || hidden.New != all[i].New) {
				t.Fatalf("seed %d: %v became %v", seed, all[i], hidden)
			}
			if !sameBut(parsed(all[i].Old), parsed(hidden.Old), mark) || !sameBut(parsed(all[i].New), parsed(hidden.New), mark) {
				t.Fatalf("seed %d: more than values: %v became %v", seed, all[i], hidden)
			}
			if was {
				hides++
			}
		}

		before := inJSON(a)
		var values []string
		got := a.WithValues(func(v string) string {
			values = append(values, v)
			return Hidden
		})
		if strings.Contains(inJSON(got), mark) || !sameBut(map[string]any(a), map[string]any(got), mark) {
			t.Fatalf("seed %d: %s became %s", seed, before, inJSON(got))
		}
		if n := strings.Count(before, mark); len(values) != n || slices.ContainsFunc(values, func(v string) bool { return !strings.HasPrefix(v, mark) }) {
			t.Fatalf("seed %d: %d values, of which f saw %q", seed, n, values)
		}
		if same := a.WithValues(func(v string) string { return v }); !same.Equal(a) {
			t.Fatalf("seed %d: with its own values (-was +is):\n%s", seed, cmp.Diff(a, same))
		}
		if after := inJSON(a); after != before {
			t.Fatalf("seed %d: %s became %s", seed, before, after)
		}
	}
	if hides < 300 {
		t.Errorf("%d differences held a value: the law does not look at them", hides)
	}
}

// recased returns a copy of what was parsed, with keys in another letter case.
func (d draw) recased(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			to := []string{key, strings.ToUpper(key), strings.Replace(key, "v", "V", 1), strings.ReplaceAll(key, "s", "ſ")}
			out[pick(d, to)] = d.recased(v[key])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = d.recased(v[i])
		}
		return out
	}
	return v
}

// fillEnv gives a container a variable.
func (d draw) fillEnv(t *corev1.PodTemplateSpec) {
	c := &t.Spec.Containers[d.IntN(len(t.Spec.Containers))]
	if len(t.Spec.InitContainers) > 0 && d.oneIn(3) {
		c = &t.Spec.InitContainers[d.IntN(len(t.Spec.InitContainers))]
	}
	v := corev1.EnvVar{Name: pick(d, names), Value: pick(d, values)}
	if d.oneIn(4) {
		v = corev1.EnvVar{Name: v.Name}
		d.fill(reflect.ValueOf(&v.ValueFrom).Elem(), "", 2)
	}
	c.Env = append(c.Env, v)
}

// sameBut tells whether two values are the same, but that every string that
// begins with the mark is Hidden in the second.
func sameBut(old, new any, mark string) bool {
	switch v := old.(type) {
	case map[string]any:
		other, ok := new.(map[string]any)
		if !ok || len(v) != len(other) {
			return false
		}
		for key := range v {
			if _, ok := other[key]; !ok || !sameBut(v[key], other[key], mark) {
				return false
			}
		}
		return true
	case []any:
		other, ok := new.([]any)
		return ok && slices.EqualFunc(v, other, func(a, b any) bool { return sameBut(a, b, mark) })
	case string:
		return new == old || strings.HasPrefix(v, mark) && new == Hidden
	case json.Number, bool, nil:
		return new == old
	}
	return false
}
