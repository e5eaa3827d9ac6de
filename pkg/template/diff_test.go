package template

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

func content(t *testing.T, text string) Content {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var c Content
	if err := decode(raw, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// differs returns a Difference from the notation in documents.
func differs(path, old, new string, place int) Difference {
	return Difference{Path: ParsePath(path), Old: ParseValue(old), New: ParseValue(new), Place: place}
}

func TestDiff(t *testing.T) {
	for _, tt := range []struct {
		old, new string
		want     []Difference
		why      string
	}{
		{`{spec: {hostNetwork: true}}`, `{spec: {hostNetwork: true}}`, nil, "nothing"},
		{`{spec: {hostNetwork: true}}`, `{spec: {hostNetwork: false}}`, []Difference{differs("spec.template.spec.hostNetwork", "true", "false", 0)}, "a field"},
		{
			`{spec: {}}`, `{spec: {nodeSelector: {a/x: "1", a: "2"}}}`,
			[]Difference{differs("spec.template.spec.nodeSelector.a", "", `"2"`, 0), differs("spec.template.spec.nodeSelector[a/x]", "", `"1"`, 0)},
			"keys in their own order, whichever stands in brackets",
		},
		{`{spec: {}}`, `{spec: {hostNetwork: true}}`, []Difference{differs("spec.template.spec.hostNetwork", "", "true", 0)}, "a field that is new"},
		{`{spec: {hostNetwork: true}}`, `{spec: {}}`, []Difference{differs("spec.template.spec.hostNetwork", "true", "", 0)}, "a field that is gone"},
		{
			`{spec: {containers: [{name: a, image: "x:1"}, {name: b, image: "y:1"}]}}`,
			`{spec: {containers: [{name: a, image: "x:2"}, {name: b, image: "y:1"}]}}`,
			[]Difference{differs("spec.template.spec.containers[name=a].image", `"x:1"`, `"x:2"`, 0)}, "a member of a list by its key",
		},
		{
			`{spec: {containers: [{name: a}, {name: b}]}}`, `{spec: {containers: [{name: b}, {name: c, image: "z"}]}}`,
			[]Difference{differs("spec.template.spec.containers[name=a]", `{"name":"a"}`, "", 0), differs("spec.template.spec.containers[name=c]", "", `{"image":"z","name":"c"}`, 2)},
			"members that come and go, as wholes",
		},
		{
			`{spec: {containers: [{name: a}, {name: b}]}}`, `{spec: {containers: [{name: b}, {name: a}, {name: c}]}}`,
			[]Difference{differs("spec.template.spec.containers[name=c]", "", `{"name":"c"}`, 3), differs("spec.template.spec.containers[name]", `["a","b"]`, `["b","a","c"]`, 0)},
			"an order that changed: the controller compares that too",
		},
		{
			`{spec: {containers: [{name: a}, {name: b}]}}`, `{spec: {containers: [{name: c}, {name: b}]}}`,
			[]Difference{differs("spec.template.spec.containers[name=a]", `{"name":"a"}`, "", 0), differs("spec.template.spec.containers[name=c]", "", `{"name":"c"}`, 1)},
			"a new member that is not the last: no order changed",
		},
		{
			`{spec: {containers: [{name: b}]}}`, `{spec: {containers: [{name: b}, {name: c}, {name: a}]}}`,
			[]Difference{differs("spec.template.spec.containers[name=a]", "", `{"name":"a"}`, 3), differs("spec.template.spec.containers[name=c]", "", `{"name":"c"}`, 2)},
			"new members, not in the order of their paths",
		},
		{
			`{spec: {containers: [{name: b}]}}`, `{spec: {containers: [{name: b}, {name: a}, {name: c}]}}`,
			[]Difference{differs("spec.template.spec.containers[name=a]", "", `{"name":"a"}`, 2), differs("spec.template.spec.containers[name=c]", "", `{"name":"c"}`, 3)},
			"or in this order",
		},
		{
			`{spec: {containers: [{name: a}, {name: b}, {name: c}]}}`, `{spec: {containers: [{name: a}, {name: c}]}}`,
			[]Difference{differs("spec.template.spec.containers[name=b]", `{"name":"b"}`, "", 0)},
			"members that stay stay in order",
		},
		{
			`{spec: {containers: [{name: a, env: [{name: A, value: "1"}], volumeMounts: [{mountPath: /x, name: v}]}]}}`,
			`{spec: {containers: [{name: a, env: [{name: A, value: "2"}], volumeMounts: [{mountPath: /x, name: w}]}]}}`,
			[]Difference{differs("spec.template.spec.containers[name=a].env[name=A].value", `"1"`, `"2"`, 0), differs("spec.template.spec.containers[name=a].volumeMounts[mountPath=/x].name", `"v"`, `"w"`, 0)},
			"lists within lists, each by its own key",
		},
		{
			`{spec: {containers: [{name: a, ports: [{containerPort: 53, protocol: UDP}, {containerPort: 80}]}]}}`,
			`{spec: {containers: [{name: a, ports: [{containerPort: 53, protocol: TCP}, {containerPort: 80}]}]}}`,
			[]Difference{differs("spec.template.spec.containers[name=a].ports[containerPort=53].protocol", `"UDP"`, `"TCP"`, 0)}, "a key that is a number",
		},
		{
			`{spec: {containers: [{name: a, ports: [{containerPort: 53, protocol: UDP}]}]}}`,
			`{spec: {containers: [{name: a, ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53, protocol: TCP}]}]}}`,
			[]Difference{differs("spec.template.spec.containers[name=a].ports", `[{"containerPort":53,"protocol":"UDP"}]`, `[{"containerPort":53,"protocol":"UDP"},{"containerPort":53,"protocol":"TCP"}]`, 0)},
			"a key that two members share tells nothing",
		},
		{
			`{spec: {tolerations: [{key: a}]}}`, `{spec: {tolerations: [{key: a}, {key: b}]}}`,
			[]Difference{differs("spec.template.spec.tolerations", `[{"key":"a"}]`, `[{"key":"a"},{"key":"b"}]`, 0)}, "a list without a key, whole",
		},
		{
			`{spec: {containers: [{name: a, args: ["<x>", z]}]}}`, `{spec: {containers: [{name: a, args: [z, "<x>"]}]}}`,
			[]Difference{differs("spec.template.spec.containers[name=a].args", `["<x>","z"]`, `["z","<x>"]`, 0)}, "a list of words, and nothing is escaped for HTML",
		},
		{
			`{spec: {containers: [{name: a, livenessProbe: {httpGet: {path: /a, httpHeaders: [{name: x, value: "1"}]}}}]}}`,
			`{spec: {containers: [{name: a, livenessProbe: {httpGet: {path: /b, httpHeaders: [{name: x, value: "2"}]}}}]}}`,
			[]Difference{
				differs("spec.template.spec.containers[name=a].livenessProbe.httpGet.httpHeaders", `[{"name":"x","value":"1"}]`, `[{"name":"x","value":"2"}]`, 0),
				differs("spec.template.spec.containers[name=a].livenessProbe.httpGet.path", `"/a"`, `"/b"`, 0),
			}, "what is embedded in a Go type",
		},
		{
			`{spec: {volumes: [{name: v, configMap: {name: x, items: [{key: k, path: p}]}}]}}`, `{spec: {volumes: [{name: v, hostPath: {path: /}}]}}`,
			[]Difference{differs("spec.template.spec.volumes[name=v].configMap", `{"items":[{"key":"k","path":"p"}],"name":"x"}`, "", 0), differs("spec.template.spec.volumes[name=v].hostPath", "", `{"path":"/"}`, 0)},
			"a volume of another kind",
		},
		{
			`{metadata: {labels: {app: a, example.com/x: "1"}}}`, `{metadata: {labels: {app: b, example.com/x: "2"}}}`,
			[]Difference{differs("spec.template.metadata.labels.app", `"a"`, `"b"`, 0), differs("spec.template.metadata.labels[example.com/x]", `"1"`, `"2"`, 0)}, "a key that has dots stands in brackets",
		},
		{
			`{spec: {containers: [{name: a, resources: {limits: {cpu: "1"}}}]}}`, `{spec: {containers: [{name: a, resources: {limits: {cpu: "2", memory: 1Gi}}}]}}`,
			[]Difference{differs("spec.template.spec.containers[name=a].resources.limits.cpu", `"1"`, `"2"`, 0), differs("spec.template.spec.containers[name=a].resources.limits.memory", "", `"1Gi"`, 0)}, "a map, key by key",
		},
		{`{metadata: {labels: {app: a}}}`, `{metadata: {annotations: {x/y: b}}}`, []Difference{differs("spec.template.metadata.annotations[x/y]", "", `"b"`, 0), differs("spec.template.metadata.labels.app", `"a"`, "", 0)}, "the first and the last key of a map"},
		{`{metadata: {labels: {app: a}}}`, `{metadata: {labels: {}}}`, []Difference{differs("spec.template.metadata.labels", `{"app":"a"}`, `{}`, 0)}, "a map that stays without its last key"},
		{`{metadata: {labels: {a: "1"}}}`, `{metadata: {labels: {"": x, "a]b": x, a=b: x, '"': x, "a[b": x, "a\nb": x}}}`, []Difference{
			differs(`spec.template.metadata.labels[""]`, "", `"x"`, 0), differs(`spec.template.metadata.labels["\""]`, "", `"x"`, 0), differs("spec.template.metadata.labels.a", `"1"`, "", 0), differs(`spec.template.metadata.labels["a\nb"]`, "", `"x"`, 0),
			differs(`spec.template.metadata.labels["a=b"]`, "", `"x"`, 0), differs(`spec.template.metadata.labels[a[b]`, "", `"x"`, 0), differs(`spec.template.metadata.labels["a]b"]`, "", `"x"`, 0),
		}, "keys that could be misread in brackets"},
		{
			`{spec: {containers: [{name: a, env: [{name: "a=b"}, {name: "a]b"}, {name: '"'}, {name: "\n"}, {name: "ü.x"}]}]}}`, `{spec: {containers: [{name: a, env: []}]}}`,
			[]Difference{
				differs(`spec.template.spec.containers[name=a].env[name="\n"]`, `{"name":"\n"}`, "", 0), differs(`spec.template.spec.containers[name=a].env[name="\""]`, `{"name":"\""}`, "", 0),
				differs(`spec.template.spec.containers[name=a].env[name=a=b]`, `{"name":"a=b"}`, "", 0), differs(`spec.template.spec.containers[name=a].env[name="a]b"]`, `{"name":"a]b"}`, "", 0),
				differs(`spec.template.spec.containers[name=a].env[name=ü.x]`, `{"name":"ü.x"}`, "", 0),
			}, "and values of merge keys, of which others stay plain",
		},
		{`{spec: {containers: [{name: {a: 1}}]}}`, `{spec: {containers: [{name: {a: 2}}]}}`, []Difference{differs("spec.template.spec.containers", `[{"name":{"a":1}}]`, `[{"name":{"a":2}}]`, 0)}, "a merge key that is none"},
		{`{spec: {tolerations: [{key: a, value: null}]}}`, `{spec: {tolerations: [{key: a}], volumes: null}}`, nil, "nulls, wherever"},
		{`{spec: {$patch: merge}}`, `{spec: {}}`, []Difference{differs("spec.template.spec[$patch]", `"merge"`, "", 0)}, "a directive that no controller writes"},
		{`{metadata: {}}`, `{metadata: {labels: {}}}`, []Difference{differs("spec.template.metadata.labels", "", `{}`, 0)}, "a map without keys"},
		{`{$patch: replace, metadata: {creationTimestamp: null}}`, `{metadata: {}}`, nil, "the form in which it is stored is no difference"},
		{`{spec: {fromTheFuture: [{name: a, x: 1}]}}`, `{spec: {fromTheFuture: [{name: a, x: 2}]}}`, []Difference{differs("spec.template.spec.fromTheFuture", `[{"name":"a","x":1}]`, `[{"name":"a","x":2}]`, 0)}, "what the types do not know, whole"},
		{`{spec: {fromTheFuture: {a: {b: [1]}}}}`, `{spec: {fromTheFuture: {a: {b: [2]}}}}`, []Difference{differs("spec.template.spec.fromTheFuture", `{"a":{"b":[1]}}`, `{"a":{"b":[2]}}`, 0)}, "an object, too, as its keys may be secret"},
		{`{spec: {containers: [{image: x}]}}`, `{spec: {containers: [{image: z}]}}`, []Difference{differs("spec.template.spec.containers", `[{"image":"x"}]`, `[{"image":"z"}]`, 0)}, "members without the key"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Diff(content(t, tt.old), content(t, tt.new))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBetween(t *testing.T) {
	parsed := func(replicas int64, key string) map[string]any {
		ds := &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: *plain(), MinReadySeconds: int32(replicas)}}
		ds.Annotations = map[string]string{key: "v"}
		c, err := Parse(ds)
		if err != nil {
			t.Fatal(err)
		}
		c["future"] = []any{map[string]any{"null in " + key: nil}}
		return c
	}
	want := []Difference{differs("metadata.annotations.a", `"v"`, "", 0), differs("metadata.annotations[b/c]", "", `"v"`, 0), differs("spec.minReadySeconds", "5", "7", 0)}
	if diff := cmp.Diff(want, Between[appsv1.DaemonSet](parsed(5, "a"), parsed(7, "b/c"))); diff != "" {
		t.Errorf("of another type, and from the root (-want +got):\n%s", diff)
	}
}

// TestDiffLaws checks that two templates differ if and only if the controller
// distinguishes them, except for their form; that swapping them swaps old and
// new, except for the place of a new member; and that paths are sorted and
// unique.
func TestDiffLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	same := 0
	for range 5000 {
		a, b := randomContent(r), randomContent(r)
		there, back := Diff(a, b), Diff(b, a)
		if equal := a.Equal(b); equal != (len(there) == 0) {
			t.Fatalf("equal: %t, differences %v, of\n%s\n%s", equal, there, text(map[string]any(a)), text(map[string]any(b)))
		} else if equal {
			same++
		}
		for i := range back {
			back[i].Old, back[i].New, back[i].Place = back[i].New, back[i].Old, 0
		}
		placeless := slices.Clone(there)
		for i := range placeless {
			placeless[i].Place = 0
		}
		if diff := cmp.Diff(placeless, back); diff != "" {
			t.Fatalf("back again: %s", diff)
		}
		for i := range there {
			if there[i].Old.Equal(there[i].New) {
				t.Fatalf("no difference: %v", there[i])
			}
			if i > 0 && there[i-1].Path.Compare(there[i].Path) >= 0 {
				t.Fatalf("%s before %s", there[i-1].Path, there[i].Path)
			}
		}
	}
	if same < 100 || same > 4900 {
		t.Errorf("%d of 5000 pairs are equal: the law looks at one side only", same)
	}
}

// randomContent returns a small random template of few words, so that two are
// often similar.
func randomContent(r *rand.Rand) Content {
	list := func(member func(name string) map[string]any) []any {
		names := []string{"a", "b"}
		r.Shuffle(2, func(i, j int) { names[i], names[j] = names[j], names[i] })
		out := []any{}
		for _, n := range names[:1+r.IntN(2)] {
			out = append(out, member(n))
		}
		return out
	}
	word := func() string { return []string{"x", "x", "x", "y"}[r.IntN(4)] }
	spec := map[string]any{"containers": list(func(name string) map[string]any {
		c := map[string]any{"name": name, "image": word()}
		if r.IntN(4) == 0 {
			c["ports"] = []any{map[string]any{"containerPort": json.Number(fmt.Sprint(80 + r.IntN(2)))}, map[string]any{"containerPort": json.Number("80")}}
		}
		return c
	})}
	if r.IntN(3) == 0 {
		spec["tolerations"] = []any{map[string]any{"key": word()}}
	}
	return Content{"metadata": map[string]any{"labels": map[string]any{"a.b": word()}}, "spec": spec}
}

func TestDiffLeavesItsInput(t *testing.T) {
	a, b := content(t, `{spec: {containers: [{name: a}, {name: b}]}}`), content(t, `{spec: {containers: [{name: b}, {name: a}]}}`)
	before := []string{text(map[string]any(a)), text(map[string]any(b))}
	Diff(a, b)
	if after := []string{text(map[string]any(a)), text(map[string]any(b))}; !slices.Equal(before, after) {
		t.Errorf("%s became %s", strings.Join(before, " "), strings.Join(after, " "))
	}
}

func TestParse(t *testing.T) {
	c, err := Parse(plain())
	if err != nil {
		t.Fatal(err)
	}
	want, err := Of(plain(), false)
	if err != nil {
		t.Fatal(err)
	}
	delete(want, "$patch")
	if !reflect.DeepEqual(c, map[string]any(want)) {
		t.Errorf("(-want +got):\n%s", cmp.Diff(map[string]any(want), c))
	}
}
