package template

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/draw"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestPath checks that paths survive String and ParsePath. A key in brackets
// becomes a Key; only the type distinguishes other keys from fields.
func TestPath(t *testing.T) {
	name := func(n string) Step { return Step{Name: n} }
	key := func(n string) Step { return Step{Kind: Key, Name: n} }
	member := func(by, is string) Step { return Step{Kind: Member, Name: by, Value: is} }
	for _, tt := range []struct {
		path Path
		want string
		why  string
	}{
		{nil, "", "the object itself"},
		{Path{name("spec"), name("image")}, "spec.image", "fields"},
		{Path{name("labels"), key("app")}, "labels.app", "a plain key"},
		{Path{name("labels"), key("a.b/c")}, "labels[a.b/c]", "a key with dots stands in brackets"},
		{Path{name("spec"), name("$patch")}, "spec[$patch]", "so does an odd name of a field"},
		{Path{name("labels"), key("")}, `labels[""]`, "an empty key"},
		{Path{name("labels"), key("a]b")}, `labels["a]b"]`, "a bracket within"},
		{Path{name("labels"), key("a=b")}, `labels["a=b"]`, "a key that looks like a member"},
		{Path{name("env"), member("name", "A"), name("value")}, "env[name=A].value", "a member of a list"},
		{Path{name("env"), member("name", "a=b")}, "env[name=a=b]", "whose key has a sign of its own"},
		{Path{name("env"), member("name", `"]`)}, `env[name="\"]"]`, "or two"},
		{Path{name("volumeMounts"), member("mountPath", "/a.b/[c")}, "volumeMounts[mountPath=/a.b/[c]", "dots in it end nothing"},
		{Path{name("env"), {Kind: Order, Name: "name"}}, "env[name]", "the order of a list"},
		{Path{member("name", "a"), name("x")}, "[name=a].x", "one that begins with a member"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got := tt.path.String(); got != tt.want {
				t.Errorf("%v is %s, want %s", []Step(tt.path), got, tt.want)
			}
			if got := ParsePath(tt.want); !got.Equal(tt.path) {
				t.Errorf("%s is read as %v, want %v", tt.want, []Step(got), []Step(tt.path))
			}
		})
	}
	if ParsePath("env[name]").Equal(ParsePath("env.name")) || ParsePath("env[name=a]").Equal(ParsePath("env[name=b]")) || ParsePath("a").Equal(ParsePath("a.b")) {
		t.Error("different paths are equal")
	}
	if _, below := ParsePath("spec.templates.x").Below(At); below {
		t.Error("a name that only begins alike is taken for the same")
	}
}

// TestDocumentOfDifference checks that paths and values are strings in
// documents and survive decoding, and that absent differs from null and from
// empty.
func TestDocumentOfDifference(t *testing.T) {
	type embeds struct {
		Difference `json:",inline"`
		Kind       string `json:"kind"`
	}
	list := []any{json.Number("1"), "<x>", nil}
	for _, tt := range []struct {
		value Value
		want  string
		why   string
	}{
		{Value{}, ``, "absent"}, {ValueOf(nil), `null`, "null"}, {ValueOf(""), `""`, "an empty text"}, {ValueOf([]any{}), `[]`, "an empty list"},
		{ValueOf(map[string]any{}), `{}`, "an empty object"}, {ValueOf(list), `[1,"<x>",null]`, "a list"}, {ValueOf(json.Number("9007199254740993")), `9007199254740993`, "a large number"}, {ValueOf(false), `false`, "a boolean"},
	} {
		was := embeds{Difference{Path: At, Old: tt.value, Place: 2}, "Set"}
		raw, err := json.Marshal(was)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		var is embeds
		if json.Unmarshal(raw, &fields) != nil || json.Unmarshal(raw, &is) != nil {
			t.Fatalf("%s: %s", tt.why, raw)
		}
		want := map[string]any{"path": "spec.template", "old": tt.want, "new": "", "hidden": false, "place": 2.0, "kind": "Set"}
		if diff := cmp.Diff(want, fields); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("%s, read again (-was +is):\n%s", tt.why, diff)
		}
		for _, other := range []Value{{}, ValueOf(nil), ValueOf("")} {
			if other.Equal(tt.value) != (other.String() == tt.want) {
				t.Errorf("%s: equal to %q", tt.why, other)
			}
		}
	}
}

// TestPathsAreRead checks that every path between two random templates survives
// String and ParsePath, and that the paths of one diff are unique.
func TestPathsAreRead(t *testing.T) {
	paths, kinds := 0, map[StepKind]bool{}
	for seed := range cases.Of(uint64(150)) {
		d := drawn{draw.Draw{Rand: rand.New(rand.NewPCG(seed, 5))}}
		a := d.Template()
		b := a.DeepCopy()
		for range 1 + d.IntN(4) {
			d.Edit(b)
		}
		found := Diff(d.stored(t, a), d.stored(t, b))
		for i, one := range found {
			paths++
			kinds[one.Path.Last().Kind] = true
			if again := ParsePath(one.Path.String()); !again.Equal(one.Path) {
				t.Fatalf("seed %d: %v is read as %v", seed, []Step(one.Path), []Step(again))
			}
			if rest, below := one.Path.Below(At); !below || len(rest) != len(one.Path)-2 || i > 0 && one.Path.Equal(found[i-1].Path) {
				t.Fatalf("seed %d: %s", seed, one.Path)
			}
		}
	}
	if paths < cases.Least(212) || len(kinds) < cases.Least(1) {
		t.Errorf("only %d paths, of the kinds %v", paths, kinds)
	}
}
