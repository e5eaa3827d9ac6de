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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/draw"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// A drawn makes random input for the law.
type drawn struct{ draw.Draw }

// stored returns the content of a template in one of its forms, with some
// nulls, empty maps and unknown fields.
func (d drawn) stored(t *testing.T, of *corev1.PodTemplateSpec) Content {
	t.Helper()
	c, err := Of(of, d.OneIn(2))
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

// TestDiffIsComplete checks that applying the differences to one template
// yields the other. There are none if and only if the templates are equal
// except for nulls and the patch directive, and then they are also equal to the
// API.
func TestDiffIsComplete(t *testing.T) {
	const pairs = 300
	seen := map[string]int{}
	for seed := range cases.Of(uint64(pairs)) {
		d := drawn{draw.Draw{Rand: rand.New(rand.NewPCG(seed, 1))}}
		one := d.Template()
		other := d.Template()
		if !d.OneIn(5) {
			other = one.DeepCopy()
			for range d.IntN(6) {
				d.Edit(other)
			}
		}
		a, b := d.stored(t, one), d.stored(t, other)
		found := Diff(a, b)
		fail := func(format string, args ...any) {
			t.Fatalf("seed %d: %s\nfrom %s\nto   %s\nby   %s", seed, fmt.Sprintf(format, args...), inJSON(a), inJSON(b), inJSON(found))
		}

		got, err := apply(bare(a).(map[string]any), found)
		if err != nil {
			fail("%v", err)
		}
		want := bare(b)
		if !reflect.DeepEqual(want, any(got)) { // cmp.Diff is slow
			fail("changed otherwise (-want +got):\n%s", cmp.Diff(want, any(got)))
		}
		if equal := reflect.DeepEqual(bare(a), want); equal != (len(found) == 0) {
			fail("equal: %t, and %d differences", equal, len(found))
		}
		if len(found) == 0 && !equality.Semantic.DeepEqual(one, other) {
			fail("no difference, but for the API they differ:\n%s", cmp.Diff(one, other))
		}
		if again := Diff(a, b); !cmp.Equal(found, again) {
			fail("another time: %s", inJSON(again))
		}
		if !slices.IsSortedFunc(found, func(x, y Difference) int { return x.Path.Compare(y.Path) }) ||
			len(slices.CompactFunc(slices.Clone(found), func(x, y Difference) bool { return x.Path.Equal(y.Path) })) != len(found) {
			fail("not in order, or twice")
		}
		for _, d := range found { // an unchanged order is not a difference
			if !isOrder(d) {
				continue
			}
			before, after := parsed(d.Old.String()).([]any), parsed(d.New.String()).([]any)
			both := func(list, of []any) []any {
				return slices.DeleteFunc(slices.Clone(list), func(k any) bool { return !slices.Contains(of, k) })
			}
			if reflect.DeepEqual(both(before, after), both(after, before)) {
				fail("no order that changed: %v", d)
			}
		}
		count(seen, found)
	}
	for _, kind := range []string{"none", "key", "key in brackets", "quoted key", "member", "quoted member", "order", "whole list", "unknown"} {
		if seen[kind] < cases.Least(pairs/100) {
			t.Errorf("%d differences are of the kind %q: the law does not look at it", seen[kind], kind)
		}
	}
	t.Log(seen)
}

// count counts the kinds of differences.
func count(seen map[string]int, found []Difference) {
	if len(found) == 0 {
		seen["none"]++
	}
	for _, d := range found {
		steps, _ := parsePath(strings.TrimPrefix(d.Path.String(), "spec.template"))
		last := steps[len(steps)-1]
		kind := last.kind
		if last.kind == "key" && strings.HasPrefix(d.Old.String(), "[{") && strings.HasPrefix(d.New.String(), "[{") {
			kind = "whole list"
		}
		seen[kind]++
		if last.key == "future" {
			seen["unknown"]++
		}
	}
}

// A step of a path, as described in Between's comment: a key, a list member, or
// the order of a list.
type step struct{ kind, key, value string }

// parsePath parses a path below at.
func parsePath(path string) ([]step, error) {
	var steps []step
	for path != "" {
		var s step
		switch {
		case path[0] == '.':
			end := strings.IndexAny(path[1:], ".[") + 1
			if end == 0 {
				end = len(path)
			}
			s, path = step{"key", path[1:end], ""}, path[end:]
		case strings.HasPrefix(path, `["`):
			word, rest, err := word(path[1:])
			if err != nil {
				return nil, err
			}
			s, path = step{"quoted key", word, ""}, rest
		case path[0] == '[':
			end := strings.IndexAny(path, "]=")
			if end < 0 {
				return nil, fmt.Errorf("no end of %s", path)
			}
			s = step{"key in brackets", path[1:end], ""}
			switch {
			case path[end] == '=' && path[end+1] == '"':
				word, rest, err := word(path[end+1:])
				if err != nil {
					return nil, err
				}
				s, path = step{"quoted member", s.key, word}, rest
			case path[end] == '=':
				value, rest, _ := strings.Cut(path[end+1:], "]")
				s, path = step{"member", s.key, value}, rest
			default:
				if strings.Trim(s.key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" { // of a list
					s.kind = "order"
				}
				path = path[end+1:]
			}
		default:
			return nil, fmt.Errorf("what is %s", path)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// word parses a JSON string and the bracket after it.
func word(path string) (word, rest string, err error) {
	d := json.NewDecoder(strings.NewReader(path))
	if err := d.Decode(&word); err != nil {
		return "", "", err
	}
	rest = path[d.InputOffset():]
	if !strings.HasPrefix(rest, "]") {
		return "", "", fmt.Errorf("no bracket in %s", rest)
	}
	return word, rest[1:], nil
}

// apply applies differences to an object: new members last, in the order of
// their places, and then orders.
func apply(o map[string]any, all []Difference) (map[string]any, error) {
	var v any = o
	turn := func(d Difference) int {
		if isOrder(d) {
			return 1 << 30
		}
		return d.Place
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Difference) int { return turn(a) - turn(b) })
	for _, d := range all {
		steps, err := parsePath(strings.TrimPrefix(d.Path.String(), "spec.template"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Path, err)
		}
		if v, err = change(v, steps, d); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Path, err)
		}
	}
	return v.(map[string]any), nil
}

func isOrder(d Difference) bool {
	steps, err := parsePath(strings.TrimPrefix(d.Path.String(), "spec.template"))
	return err == nil && steps[len(steps)-1].kind == "order"
}

// dataMaps are the fields whose keys are data: the map is added with its first
// key, and removed with its last.
var dataMaps = []string{
	"annotations", "labels", "limits", "matchLabels", "nodeSelector", "options", "overhead", "requests", "volumeAttributes",
}

// change returns a value with one change made at the end of the steps.
func change(v any, steps []step, d Difference) (any, error) {
	s, last := steps[0], len(steps) == 1
	switch s.kind {
	case "order":
		return reorder(v, s.key, d)
	case "member", "quoted member":
		list, ok := v.([]any)
		if !ok {
			return nil, fmt.Errorf("%v is no list", v)
		}
		i := slices.IndexFunc(list, func(member any) bool {
			o, _ := member.(map[string]any)
			return o[s.key] != nil && fmt.Sprint(o[s.key]) == s.value
		})
		switch {
		case i < 0 && last && d.Old.Absent():
			if d.Place < 1 {
				return nil, fmt.Errorf("a new member without a place")
			}
			return slices.Insert(list, min(d.Place-1, len(list)), parsed(d.New.String())), nil
		case i < 0:
			return nil, fmt.Errorf("no %s %q in %v", s.key, s.value, list)
		case last && d.New.Absent() && reflect.DeepEqual(list[i], parsed(d.Old.String())):
			return slices.Delete(list, i, i+1), nil
		case last:
			return nil, fmt.Errorf("a member that is there, and changes as a whole: %v", list[i])
		}
		inner, err := change(list[i], steps[1:], d)
		list[i] = inner
		return list, err
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%v is no object", v)
	}
	if last {
		if !reflect.DeepEqual(o[s.key], parsed(d.Old.String())) {
			return nil, fmt.Errorf("%v is not %s", o[s.key], d.Old)
		}
		if o[s.key] = parsed(d.New.String()); d.New.Absent() {
			delete(o, s.key)
		}
		return o, nil
	}
	isData := slices.Contains(dataMaps, s.key)
	if o[s.key] == nil && isData {
		o[s.key] = map[string]any{}
	}
	inner, err := change(o[s.key], steps[1:], d)
	if empty, ok := inner.(map[string]any); ok && len(empty) == 0 && isData {
		delete(o, s.key)
	} else {
		o[s.key] = inner
	}
	return o, err
}

// reorder sorts the members of a list into the order of their keys.
func reorder(v any, key string, d Difference) (any, error) {
	list, ok := v.([]any)
	order, okToo := parsed(d.New.String()).([]any)
	if !ok || !okToo || len(list) != len(order) {
		return nil, fmt.Errorf("%v cannot be put in the order %s", v, d.New)
	}
	out := make([]any, 0, len(list))
	for _, k := range order {
		for _, member := range list {
			if fmt.Sprint(member.(map[string]any)[key]) == k {
				out = append(out, member)
			}
		}
	}
	if len(out) != len(list) {
		return nil, fmt.Errorf("%v has not the keys %s", v, d.New)
	}
	return out, nil
}

// bare returns a copy of a content without nulls and the directive.
func bare(v any) any {
	switch v := v.(type) {
	case Content:
		o := bare(map[string]any(v)).(map[string]any)
		delete(o, "$patch")
		return o
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if inner != nil {
				out[key] = bare(inner)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, inner := range v {
			out = append(out, bare(inner))
		}
		return out
	}
	return v
}

func parsed(raw string) any {
	if raw == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

func inJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
