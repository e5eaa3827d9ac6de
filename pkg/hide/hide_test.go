package hide

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
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/draw"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

func TestDifferences(t *testing.T) {
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
		{"spec.containers[name=a].env[name=A].valueFrom", `{"fieldRef":{"fieldPath":"spec"}}`, `{"fieldRef":{"fieldPath":"spec"}}`, "a reference"},
		{"spec.containers[name=a].env[name=A].valueFrom.secretKeyRef.key", `"value"`, `"value"`, "a part of one"},
		{"spec.containers[name=a].env[name=A]", `{"name":"A","value":"s"}`, `{"name":"A","value":"<hidden>"}`, "a variable"},
		{"spec.containers[name=a].env[name=A]", `{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"value"}}}`, `{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"value"}}}`, "one that refers"},
		{"spec.containers[name=a].env[name=A]", `{"name":"A"}`, `{"name":"A"}`, "one that is empty"},
		{"spec.containers[name=a].env[name]", `["A","B"]`, `["A","B"]`, "an order of variables"},
		{"spec.containers[name=a].env", `[{"name":"A","value":"s"},{"name":"A","value":"t"},{"name":"B"},7]`, `[{"name":"A","value":"<hidden>"},{"name":"A","value":"<hidden>"},{"name":"B"},"<hidden>"]`, "all variables"},
		{"spec.containers[name=a]", `{"args":["s"],"env":[{"name":"A","value":"s"}],"name":"a"}`, `{"args":["s"],"env":[{"name":"A","value":"<hidden>"}],"name":"a"}`, "a container"},
		{"spec.containers[name=a]", `{"env":"s"}`, `{"env":"<hidden>"}`, "variables that are none"},
		{"spec.containers", `[{"env":[{"value":"s"}]},{"image":"x"},null]`, `[{"env":[{"value":"<hidden>"}]},{"image":"x"},null]`, "all containers"},
		{"spec.initContainers", `[{"env":[{"value":"s"}]}]`, `[{"env":[{"value":"<hidden>"}]}]`, "all init containers"},
		{"spec", `{"containers":[{"env":[{"value":"s"}]}],"hostNetwork":true}`, `{"containers":[{"env":[{"value":"<hidden>"}]}],"hostNetwork":true}`, "a pod"},
		{"DaemonSet:spec.template.spec", `{"initContainers":[{"env":[{"value":"s"}]}]}`, `{"initContainers":[{"env":[{"value":"<hidden>"}]}]}`, "a pod of a DaemonSet"},
		{"DaemonSet:spec.template", `{"metadata":{"labels":{"env":"x","value":"y"}},"spec":{"containers":[{"env":[{"value":"s"}]}]}}`, `{"metadata":{"labels":{"env":"x","value":"y"}},"spec":{"containers":[{"env":[{"value":"<hidden>"}]}]}}`, "a template"},
		{"DaemonSet:spec", `{"minReadySeconds":9007199254740993,"template":{"spec":{"containers":[{"env":[{"value":"s"}]}]}}}`, `{"minReadySeconds":9007199254740993,"template":{"spec":{"containers":[{"env":[{"value":"<hidden>"}]}]}}}`, "a DaemonSet, with its large numbers"},
		{"spec.Containers[name=a].ENV[name=A].Value", `"s"`, `"<hidden>"`, "names in another case, which the API's decoder takes"},
		{"spec[containerſ][name=a].env[name=A].value", `"s"`, `"<hidden>"`, "and with a letter that it takes for an s"},
		{"Spec", `{"INITCONTAINERS":[{"Env":[{"VALUE":"s"}]}]}`, `{"INITCONTAINERS":[{"Env":[{"VALUE":"<hidden>"}]}]}`, "within what goes whole, too"},
		{"DaemonSet:spec.Template", `{"Spec":{"EphemeralContainers":[{"env":[{"value":"s","Value":"t"}],"Env":[{"value":"u"}]}]}}`, `{"Spec":{"EphemeralContainers":[{"Env":[{"value":"<hidden>"}],"env":[{"Value":"<hidden>","value":"<hidden>"}]}]}}`, "all of several that differ in case alone"},
		{"spec.containers[name=a].environment", `[{"value":"s"}]`, `"<hidden>"`, "a field that no container has"},
		{"DaemonSet:spec.template.metadata.labels.env", `"s"`, `"s"`, "a label of that name"},
		{"DaemonSet:spec.template.metadata.labels.value", `"s"`, `"s"`, "or of that"},
		{"DaemonSet:metadata.annotations[example.com/last-applied]", `"s"`, `"<hidden>"`, "an annotation in which a tool keeps a copy"},
		{"DaemonSet:metadata.annotations[example.com/team]", `"s"`, `"s"`, "one in which none does"},
		{"metadata.annotations[example.com/last-applied]", `"s"`, `"s"`, "one of the pods, which no tool writes"},
		{"spec.containers[name=a].livenessProbe.httpGet.httpHeaders", `[{"name":"A","value":"s"}]`, `[{"name":"A","value":"s"}]`, "another value"},
		{"spec.tolerations", `[{"key":"a","value":"s"}]`, `[{"key":"a","value":"s"}]`, "and another"},
		{"spec.containers[name=a].env[name=A].vlaue", `"s"`, `"<hidden>"`, "a misspelled value"},
		{"spec.containers[name=a].env[name=A].valueFrom.secret", `"s"`, `"<hidden>"`, "a misspelled reference"},
		{"spec.containers[name=a].env[name=A]", `{"name":"A","text":"s"}`, `{"name":"A","text":"<hidden>"}`, "within a variable"},
		{"spec.containers[name=a]", `{"enviroment":{"A":"s"},"name":"a"}`, `{"enviroment":"<hidden>","name":"a"}`, "whose keys may be secret too"},
		{"spec.containers[name=a].enviroment", `{"A":"s"}`, `"<hidden>"`, "all of them"},
		{"spec.containres", `[{"env":[{"name":"A","value":"s"}]}]`, `"<hidden>"`, "further up"},
		{"sepc", `{"containers":[{"env":[{"name":"A","value":"s"}]}]}`, `"<hidden>"`, "and at the top"},
		{"spec.future", `5`, `"<hidden>"`, "a field of a newer Kubernetes"},
		{"spec.future.inner[name=x]", `true`, `"<hidden>"`, "and what is in it"},
		{"spec.future", `{}`, `{}`, "unless there is nothing in it"},
		{"spec.hostNetwork", `"s"`, `"<hidden>"`, "a value of another kind than its field's"},
		{"spec.containers[name=a].image", `{"s":"s"}`, `"<hidden>"`, "an object for a word"},
		{"spec.containers[name=a].resources.limits.memory", `"1Gi"`, `"1Gi"`, "a quantity"},
		{"spec.containers[name=a].resources.limits", `{"example.com/gpu":1}`, `{"example.com/gpu":1}`, "one as a number"},
		{"spec.containers[name=a].livenessProbe", `{"httpGet":{"path":"/","port":"http"},"periodSeconds":5}`, `{"httpGet":{"path":"/","port":"http"},"periodSeconds":5}`, "what a type has from another"},
		{"spec.volumes[name=v].hostPath.path", `"/run"`, `"/run"`, "and that has from a third"},
		{"spec.containers[name=a].ports[containerPort]", `[80,443]`, `[80,443]`, "an order of numbers"},
		{"spec.volumes[name=v].csi.volumeAttributes[a=b]", `"s"`, `"<hidden>"`, "a member of what is no list"},
		{`spec.volumes[name=v].csi.volumeAttributes["a=b"]`, `"s"`, `"s"`, "a key that could be taken for one"},
		{"spec.volumes", `[{"$patch":"replace"},{"$patch":"s"}]`, `[{"$patch":"replace"},{"$patch":"<hidden>"}]`, "a directive of a patch, and what is none"},
		{"spec.containers[name=a].image", `"<x>"`, `"<x>"`, "an image"},
		{"spec.containers[name=a].command", `["env"]`, `["env"]`, "a command"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			looksHidden := tt.old == tt.want && strings.Contains(tt.old, template.Hidden)
			path, ofDaemonSet := strings.CutPrefix(tt.path, "DaemonSet:")
			if !ofDaemonSet {
				path = template.At.String() + "." + path
			}
			want := []template.Difference{differs(path, tt.want, "", 0), differs(path, "", tt.want, 0)}
			given := []template.Difference{differs(path, tt.old, "", 0), differs(path, "", tt.old, 0)}
			for i := range want {
				want[i].Hidden = looksHidden || tt.want != tt.old
			}
			before := slices.Clone(given)
			got := Differences(given)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(got, Differences(got)); diff != "" {
				t.Errorf("twice (-once +twice):\n%s", diff)
			}
			if diff := cmp.Diff(before, given); diff != "" {
				t.Errorf("its input changed: %s", diff)
			}
		})
	}
}

// A drawn makes random input for the laws.
type drawn struct{ draw.Draw }

// stored returns the content of a template, with fields that this program does
// not write.
func (d drawn) stored(t *testing.T, of *corev1.PodTemplateSpec) template.Content {
	t.Helper()
	c, err := template.Of(of, d.OneIn(2))
	if err != nil {
		t.Fatal(err)
	}
	if d.OneIn(3) {
		delete(c, "$patch")
	}
	if !d.OneIn(3) {
		d.Strange(map[string]any(c))
	}
	return c
}

// TestReplaceLaws marks every literal value, and plants marked values and keys
// wherever the API's types list no field. When they are hidden, no difference
// contains a mark, and template.Hidden replaces the marked ones; everything
// else is unchanged. That applies to templates, and to DaemonSets with them,
// with fields in any letter case.
func TestReplaceLaws(t *testing.T) {
	const mark = "s3cr3t"
	hides, planted, reads := 0, 0, 0
	for seed := range cases.Of(uint64(150)) {
		d := drawn{draw.Draw{Rand: rand.New(rand.NewPCG(seed, 2))}}
		plain := d.Template()
		for range 3 {
			d.fillEnv(plain)
		}
		other := plain.DeepCopy()
		for range 1 + d.IntN(4) {
			d.Edit(other)
		}
		if d.OneIn(5) {
			other = &corev1.PodTemplateSpec{}
		}
		one, other := withEnv(plain, func(v string) string { return mark + v }), withEnv(other, func(v string) string { return mark + v })
		a, b := d.stored(t, one), d.stored(t, other)
		if d.OneIn(3) {
			a = d.recased(map[string]any(a)).(map[string]any)
		}
		if d.OneIn(3) {
			b = d.recased(map[string]any(b)).(map[string]any)
		}
		if d.OneIn(2) {
			planted += d.plant(map[string]any(a), reflect.TypeFor[corev1.PodTemplateSpec](), mark)
			planted += d.plant(map[string]any(b), reflect.TypeFor[corev1.PodTemplateSpec](), mark)
		}
		wholeA, wholeB := map[string]any{"spec": map[string]any{"template": map[string]any(a)}}, map[string]any{"spec": map[string]any{"template": map[string]any(b)}}
		open := slices.Concat(
			template.Diff(a, b), template.Between[appsv1.DaemonSet](wholeA, wholeB), template.Between[appsv1.DaemonSet](wholeA, map[string]any{"spec": map[string]any{}}),
		)
		all := Differences(open)
		for i, hidden := range all {
			was := strings.Contains(open[i].Old.String()+open[i].New.String(), mark)
			if is := strings.Contains(hidden.Path.String()+hidden.Old.String()+hidden.New.String(), mark); is || was && !hidden.Hidden {
				t.Fatalf("seed %d: marked %t, hidden: %v\nof %v", seed, is, hidden, open[i])
			}
			if !hidden.Path.Equal(open[i].Path) || !hidden.Hidden && !cmp.Equal(hidden, open[i]) {
				t.Fatalf("seed %d: %v became %v", seed, open[i], hidden)
			}
			unlisted := func(name string) bool {
				return strings.Contains(strings.ToLower(open[i].Path.String()+open[i].Old.String()+open[i].New.String()), name)
			}
			if hidden.Hidden && !was && !slices.ContainsFunc([]string{"future", "$patch", "x y", "none", "ſ"}, unlisted) {
				t.Fatalf("seed %d: nothing to hide in %v", seed, open[i])
			}
			if was {
				hides++
			}
		}

		before := inJSON(a)
		var values []string
		got := Replace[corev1.PodTemplateSpec](a, func(v string) string {
			values = append(values, v)
			return template.Hidden
		})
		if strings.Contains(inJSON(got), mark) {
			t.Fatalf("seed %d: %s became %s", seed, before, inJSON(got))
		}
		if read := typed(t, a); read != nil {
			if want, is := withEnv(read, func(string) string { return template.Hidden }), typed(t, got); !equality.Semantic.DeepEqual(want, is) {
				t.Fatalf("seed %d: to the API (-want +is):\n%s", seed, cmp.Diff(want, is))
			}
			reads++
		}
		if strings.Contains(before, mark) && !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, mark) }) {
			t.Fatalf("seed %d: f saw %q of %s", seed, values, before)
		}
		if after := inJSON(a); after != before {
			t.Fatalf("seed %d: %s became %s", seed, before, after)
		}
	}
	if hides < cases.Least(127) || planted < cases.Least(127) || reads < cases.Least(85) {
		t.Errorf("%d differences held a value, %d values were planted, %d contents are of the API: the law does not look at them", hides, planted, reads)
	}
}

// withEnv returns a copy of a template with other values of its variables.
func withEnv(of *corev1.PodTemplateSpec, f func(string) string) *corev1.PodTemplateSpec {
	of = of.DeepCopy()
	env := func(all []corev1.EnvVar) {
		for i := range all {
			if v := &all[i]; v.Value != "" {
				v.Value = f(v.Value)
			}
		}
	}
	for i := range of.Spec.Containers {
		env(of.Spec.Containers[i].Env)
	}
	for i := range of.Spec.InitContainers {
		env(of.Spec.InitContainers[i].Env)
	}
	for i := range of.Spec.EphemeralContainers {
		env(of.Spec.EphemeralContainers[i].Env)
	}
	return of
}

// typed returns the content decoded into the API's types, or nil if they reject
// it.
func typed(t *testing.T, c template.Content) *corev1.PodTemplateSpec {
	t.Helper()
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out := &corev1.PodTemplateSpec{}
	if json.Unmarshal(raw, out) != nil {
		return nil
	}
	return out
}

// plant adds marked values to an object where its type lists no field,
// misspells some fields, and returns the number of marked values. Whether an
// object is a struct or a map is determined with the decoder, which accepts
// every key of a map.
func (d drawn) plant(v any, of reflect.Type, mark string) (n int) {
	switch v := v.(type) {
	case []any:
		for _, member := range v {
			if of.Kind() == reflect.Slice {
				n += d.plant(member, elemOf(of.Elem()), mark)
			}
		}
	case map[string]any:
		if of.Kind() != reflect.Struct {
			return 0
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if f := decodedAs(of, key); f != nil {
				n += d.plant(v[key], elemOf(f), mark)
			}
		}
		if keys := slices.Sorted(maps.Keys(v)); len(keys) > 0 && d.OneIn(12) { // everything in it becomes unknown
			key := draw.Pick(d.Draw, keys)
			if strings.Contains(inJSON(v[key]), mark) {
				v[key+"s2"] = v[key]
				delete(v, key)
				n++
			}
		}
		if d.OneIn(3) {
			v[draw.Pick(d.Draw, []string{"vlaue", "enviroment", "values", "x.y", "a=b", "]", "Value2"})] = draw.Pick(d.Draw, []any{
				mark, map[string]any{"A": mark}, map[string]any{mark: true}, []any{map[string]any{"name": "A", "value": mark}},
				map[string]any{"env": []any{map[string]any{"name": "A", "value": mark}}}, map[string]any{"a": map[string]any{"b": mark}},
			})
			n++
		}
	}
	return n
}

func elemOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// decodedAs returns the type of the field that the decoder chooses for a key.
func decodedAs(of reflect.Type, key string) reflect.Type {
	for _, f := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && strings.EqualFold(name, key) {
			return f.Type
		}
	}
	return nil
}

// recased returns a copy of a parsed value with keys in another letter case.
func (d drawn) recased(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			to := []string{key, strings.ToUpper(key), strings.Replace(key, "v", "V", 1), strings.ReplaceAll(key, "s", "ſ")}
			out[draw.Pick(d.Draw, to)] = d.recased(v[key])
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

// fillEnv adds a variable to a container.
func (d drawn) fillEnv(t *corev1.PodTemplateSpec) {
	c := &t.Spec.Containers[d.IntN(len(t.Spec.Containers))]
	if len(t.Spec.InitContainers) > 0 && d.OneIn(3) {
		c = &t.Spec.InitContainers[d.IntN(len(t.Spec.InitContainers))]
	}
	v := corev1.EnvVar{Name: draw.Pick(d.Draw, draw.Names), Value: draw.Pick(d.Draw, draw.Values)}
	if d.OneIn(4) {
		v = corev1.EnvVar{Name: v.Name}
		d.Fill(reflect.ValueOf(&v.ValueFrom).Elem(), "", 2)
	}
	c.Env = append(c.Env, v)
}

// differs returns a Difference from the notation in documents.
func differs(path, old, new string, place int) template.Difference {
	return template.Difference{Path: template.ParsePath(path), Old: template.ParseValue(old), New: template.ParseValue(new), Place: place}
}

func inJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
