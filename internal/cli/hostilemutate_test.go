package cli_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// input is the mutated objects of a base.
type input struct {
	*base
	objects  []object
	manifest object
	did      []string
	value    bool // a mutation may have changed the meaning of the objects
	sequence bool // a smaller valid cluster would remain without a file, or after a cut between two documents
}

func (in *input) note(format string, args ...any) {
	in.did = append(in.did, fmt.Sprintf(format, args...))
}

// mutation changes objects. A structural mutation does not change their meaning.
type mutation struct {
	name       string
	structural bool
	weight     int
	do         func(*input, *rand.Rand)
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// payloads are characters that a terminal interprets or hides. Private-use characters become bytes
// that JSON cannot encode (see rawBytes).
var payloads = []string{
	"\x1b[2J", "\x1b]0;owned\x07", "\x1b[31;1m", "\x1b[8m", "\u009b31m", "\x07", "\r", "\x00", "\u202e", "\u200b", "\u2066", "\ufeff",
	"\u2028", "\u00ad", "\U000e0041", "\x7f", "\v", "\b\b\b", "\n", "\t", "\x1b", "\x1bM", "\u0085",
	"\ue000", "\ue001", "\ue002", "\ue003", "\ue004",
}

func levels(n int) string { return strings.Repeat(`{"a":[`, n) + "1" + strings.Repeat(`]}`, n) }

var rawBytes = strings.NewReplacer("\"\ue010\"", levels(50), "\ue010", levels(50), "\"\ue011\"", levels(12000), "\ue011", levels(12000),
	"\ue000", "\x9b31m", "\ue001", "\xff\xfe", "\ue002", "\xc0\x9b", "\ue003", "\xed\xa0\x80", "\ue004", "\x1b[31m")

// hugeNumbers are numbers that the API never returns.
var hugeNumbers = []any{
	number("1e999"), number("-1"), number("2147483648"), number("99999999999999999999999"), number("0.5"), number("-0"), number("9223372036854775807"),
	number("-9223372036854775808"), number("2147483647"), number("0"),
}

func number(s string) any { return numberText(s) }

// numberText is a number as JSON text.
type numberText string

func (n numberText) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// countedKinds are the kinds from which the program computes numbers.
var countedKinds = []string{"DaemonSet", "Node", "Pod", "ControllerRevision"}

// pickObject returns a random object, preferably of a kind in countedKinds.
func (in *input) pickObject(r *rand.Rand) (int, object) {
	for range 4 {
		i := r.IntN(len(in.objects))
		if slices.Contains(countedKinds, fmt.Sprint(in.objects[i]["kind"])) {
			return i, in.objects[i]
		}
	}
	i := r.IntN(len(in.objects))
	return i, in.objects[i]
}

func title(o object) string {
	meta, _ := o["metadata"].(object)
	return fmt.Sprint(o["kind"], " ", meta["name"])
}

// place is a field of an object, or an element of a list.
type place struct {
	path string
	get  func() any
	set  func(any)
	drop func()
}

// places returns all fields and elements of an object, except its own kind and apiVersion.
func places(o object) []place {
	var out []place
	var visit func(v any, path string)
	visit = func(v any, path string) {
		switch v := v.(type) {
		case object:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if path == "" && (k == "kind" || k == "apiVersion") {
					continue
				}
				at := strings.TrimPrefix(path+"."+k, ".")
				out = append(out, place{at, func() any { return v[k] }, func(n any) { v[k] = n }, func() { delete(v, k) }})
				visit(v[k], at)
			}
		case []any:
			for i := range v {
				at := fmt.Sprintf("%s[%d]", path, i)
				out = append(out, place{at, func() any { return v[i] }, func(n any) { v[i] = n }, func() { v[i] = nil }})
				visit(v[i], at)
			}
		}
	}
	visit(o, "")
	return out
}

var (
	timeForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT`)
	// apiWords matches the fields with values that the API defines.
	apiWords = regexp.MustCompile(`(^|\.)(type|status|phase|operator|effect|restartPolicy|kind|apiVersion|fieldsType|operation|cpu|memory|maxUnavailable|maxSurge|key|uid)$|ownerReferences|fieldsV1|generation$`)
)

// plant inserts a payload into strings: those that match, or all strings that may contain any text.
func plant(in *input, r *rand.Rand, match func(path, value string) bool) {
	payload := pick(r, payloads)
	at := r.IntN(3)
	with := func(s string) string {
		switch at {
		case 0:
			return payload + s
		case 1:
			return s + payload
		}
		half := len(s) / 2
		for half > 0 && half < len(s) && s[half]&0xc0 == 0x80 {
			half--
		}
		if slices.Contains(in.secrets, s) {
			half = len(s) // keep the secret in one piece
		}
		return s[:half] + payload + s[half:]
	}
	all := slices.Clone(in.objects)
	if in.manifest != nil {
		all = append(all, in.manifest)
	}
	n := 0
	for _, o := range all {
		for _, p := range places(o) {
			if s, ok := p.get().(string); ok && match(p.path, s) {
				p.set(with(s))
				n++
			}
		}
		if meta, _ := o["metadata"].(object); o["kind"] == "DaemonSet" && match("metadata.name", in.name) && meta["name"] == with(in.name) {
			defer func(name string) {
				in.base = &base{title: in.title, namespace: in.namespace, name: name, objects: in.base.objects, secrets: in.secrets}
			}(with(in.name))
		}
	}
	in.note("%q planted in %d strings", payload, n)
}

var mutations = []mutation{
	{"plant everywhere", false, 6, func(in *input, r *rand.Rand) {
		names := r.IntN(3) == 0
		plant(in, r, func(path, value string) bool {
			return !timeForm.MatchString(value) && !apiWords.MatchString(path) && (names || !strings.HasSuffix(path, "metadata.name") && !strings.HasSuffix(path, "metadata.namespace") &&
				!strings.HasSuffix(path, "odeName") && !strings.Contains(path, "abels"))
		})
	}},
	{"plant in one field of all", false, 5, func(in *input, r *rand.Rand) {
		_, o := in.pickObject(r)
		var fields []string
		for _, p := range places(o) {
			if _, ok := p.get().(string); ok {
				fields = append(fields, p.path[strings.LastIndexByte(p.path, '.')+1:])
			}
		}
		if len(fields) == 0 {
			return
		}
		field := pick(r, fields)
		in.note("in %s", field)
		plant(in, r, func(path, value string) bool { return strings.HasSuffix(path, field) })
	}},
	{"plant in one place", false, 5, func(in *input, r *rand.Rand) {
		i, o := in.pickObject(r)
		all := slices.DeleteFunc(places(o), func(p place) bool { _, ok := p.get().(string); return !ok })
		if len(all) == 0 {
			return
		}
		p, payload := pick(r, all), pick(r, payloads)
		if strings.HasSuffix(p.path, "metadata.name") && i == 0 {
			return
		}
		in.note("%s %s: %q", title(o), p.path, payload)
		p.set(p.get().(string) + payload)
	}},
	{"plant in a key", false, 4, func(in *input, r *rand.Rand) {
		_, o := in.pickObject(r)
		all := slices.DeleteFunc(places(o), func(p place) bool { m, ok := p.get().(object); return !ok || len(m) == 0 })
		if len(all) == 0 {
			return
		}
		p, payload := pick(r, all), pick(r, payloads)
		m := p.get().(object)
		key := pick(r, slices.Sorted(maps.Keys(m)))
		in.note("key %s of %s %s: %q", key, title(o), p.path, payload)
		m[key+payload] = m[key]
		if r.IntN(2) == 0 {
			delete(m, key)
		}
	}},
	{"a number", false, 5, func(in *input, r *rand.Rand) {
		_, o := in.pickObject(r)
		all := slices.DeleteFunc(places(o), func(p place) bool {
			switch p.get().(type) {
			case object, []any, string, bool:
				return true
			}
			return false
		})
		if len(all) == 0 {
			return
		}
		p, n := pick(r, all), pick(r, hugeNumbers)
		in.note("%s %s: %v", title(o), p.path, n)
		p.set(n)
	}},
	{"a text", false, 4, func(in *input, r *rand.Rand) {
		_, o := in.pickObject(r)
		all := slices.DeleteFunc(places(o), func(p place) bool { _, ok := p.get().(string); return !ok })
		if len(all) == 0 {
			return
		}
		p := pick(r, all)
		text := pick(r, []string{"", " ", "<nil>", "100%", "-1%", "150%", "0%", "99999999999%", "null", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", strings.Repeat("x", 70000), "true", "/", "../..", "%s%n", "{{.}}", "$(x)", "'", "`|<b>&"})
		if slices.Contains(in.secrets, fmt.Sprint(p.get())) {
			return
		}
		in.note("%s %s: %.20q", title(o), p.path, text)
		p.set(text)
	}},
	{"a field less", false, 8, func(in *input, r *rand.Rand) {
		_, o := in.pickObject(r)
		p := pick(r, places(o))
		in.note("%s %s away", title(o), p.path)
		p.drop()
	}},
	{"a field that is null or empty", false, 5, func(in *input, r *rand.Rand) {
		_, o := in.pickObject(r)
		p := pick(r, places(o))
		in.note("%s %s null or empty", title(o), p.path)
		switch p.get().(type) {
		case object:
			p.set(pick(r, []any{nil, object{}}))
		case []any:
			p.set(pick(r, []any{nil, []any{}}))
		default:
			p.set(nil)
		}
	}},
	{"an element twice", false, 4, func(in *input, r *rand.Rand) {
		_, o := in.pickObject(r)
		all := slices.DeleteFunc(places(o), func(p place) bool { l, ok := p.get().([]any); return !ok || len(l) == 0 })
		if len(all) == 0 {
			return
		}
		p := pick(r, all)
		l := p.get().([]any)
		in.note("%s %s: an element twice", title(o), p.path)
		p.set(append(slices.Clone(l), clone(pick(r, l))))
	}},
	{"deep", false, 1, func(in *input, r *rand.Rand) {
		_, o := in.pickObject(r)
		p := pick(r, places(o))
		text := pick(r, []string{"\ue010", "\ue011"})
		in.note("%s %s: %q, which is many levels", title(o), p.path, text)
		p.set(text)
	}},
	{"no containers", false, 3, func(in *input, r *rand.Rand) {
		for _, o := range append(slices.Clone(in.objects), in.manifest) {
			if o["kind"] == "DaemonSet" {
				if spec, ok := valueAt(o, "spec", "template", "spec").(object); ok {
					spec["containers"] = []any{}
				}
			}
		}
		in.note("no containers")
	}},
	{"a value in the wrong place", false, 6, func(in *input, r *rand.Rand) {
		renamed := pick(r, [][2]string{
			{"env", "environment"}, {"env", "Env"}, {"containers", "container"}, {"containers", "Containers"}, {"value", "valeu"}, {"value", "Value"}, {"template", "templates"},
			{"spec", "Spec"}, {"value", "values"},
		})
		object := in.objects
		if r.IntN(2) == 0 {
			object = append(slices.Clone(object), in.manifest)
		}
		in.note("%s is called %s", renamed[0], renamed[1])
		for _, o := range object {
			if o["kind"] == "Pod" {
				continue
			}
			walk(o, func(path []string, at map[string]any) {
				if v, ok := at[renamed[0]]; ok && (renamed[0] != "spec" || len(path) > 0) {
					at[renamed[1]] = v
					if r.IntN(4) > 0 {
						delete(at, renamed[0])
					}
				}
			})
		}
	}},
	{"an unknown field of a variable", false, 4, func(in *input, r *rand.Rand) {
		field := pick(r, []string{"secretValue", "valueFromLiteral", "default", "kind", "x\u202ey", "valueFrom"})
		in.note("env has a field %s", field)
		for _, o := range append(slices.Clone(in.objects), in.manifest) {
			walk(o, func(path []string, at object) {
				if v, ok := at["value"]; ok && at["name"] != nil && len(path) > 0 && strings.HasPrefix(path[len(path)-1], "env[") {
					if at[field] = v; field == "valueFrom" {
						at[field] = object{"literal": v}
					}
				}
			})
		}
	}},

	{"a type", true, 14, func(in *input, r *rand.Rand) {
		_, o := in.pickObject(r)
		if !slices.Contains(countedKinds, fmt.Sprint(o["kind"])) {
			in.value = true // the program may ignore such an object and its contents
		}
		all := slices.DeleteFunc(places(o), func(p place) bool { return p.get() == nil || mayChangeType(o, p.path) })
		if len(all) == 0 {
			return
		}
		p := pick(r, all)
		var to []any
		switch was := p.get().(type) {
		case object:
			to = []any{"text", number("7"), true, []any{was}, []any{}}
		case []any:
			to = []any{"text", number("7"), true, object{}, object{"items": was}}
			if len(was) > 0 {
				to = append(to, was[0])
			}
		case string:
			to = []any{number("7"), number("1.5"), true, []any{was}, object{"value": was}, []any{}, object{}}
		case bool:
			to = []any{fmt.Sprint(was), number("1"), []any{was}, object{}}
		default:
			to = []any{"seven", number("1.5"), number("99999999999999999999"), true, []any{was}, object{}, []any{}}
		}
		n := pick(r, to)
		in.note("%s %s: %.40s", title(o), p.path, write(n))
		p.set(n)
	}},
	{"a kind that is nearly right", true, 8, func(in *input, r *rand.Rand) {
		_, o := in.pickObject(r)
		k := o["kind"].(string)
		to := pick(r, []any{strings.ToLower(k), strings.ToUpper(k), k + "s", " " + k, k + " ", k + "\u200b", strings.ToLower(k[:1]) + k[1:], k + "\n", "", nil, number("1"), []any{k}, k[:len(k)-1]})
		in.note("kind of %s: %q", title(o), fmt.Sprint(to))
		o["kind"] = to
		if to == nil && r.IntN(2) == 0 {
			delete(o, "kind")
		}
	}},
	{"an apiVersion that is nearly right", true, 8, func(in *input, r *rand.Rand) {
		_, o := in.pickObject(r)
		v := o["apiVersion"].(string)
		to := pick(r, []any{
			"", nil, strings.ToUpper(v), " " + v, v + " ", "/" + v, v + "/", v + "\u200b", "v1", "apps/v1", "apps/v1beta2", "apps/v1beta1", "extensions/v1beta1", "core/v1", "v2", "v1beta1", "app/v1",
			number("1"), []any{v},
		})
		if to == v {
			return
		}
		in.note("apiVersion of %s: %q", title(o), fmt.Sprint(to))
		o["apiVersion"] = to
		if to == nil && r.IntN(2) == 0 {
			delete(o, "apiVersion")
		}
	}},
	{"an object twice", true, 4, func(in *input, r *rand.Rand) {
		_, o := in.pickObject(r)
		in.note("%s twice", title(o))
		in.objects = slices.Insert(in.objects, r.IntN(len(in.objects)+1), clone(o))
	}},
	{"all objects twice", true, 1, func(in *input, r *rand.Rand) {
		in.note("everything twice")
		in.objects = append(in.objects, clone(in.objects)...)
	}},
	{"another order", true, 2, func(in *input, r *rand.Rand) {
		in.note("another order")
		r.Shuffle(len(in.objects), func(i, j int) { in.objects[i], in.objects[j] = in.objects[j], in.objects[i] })
	}},
	{"a list in the list", true, 7, func(in *input, r *rand.Rand) {
		from := r.IntN(len(in.objects))
		to := from + 1 + r.IntN(len(in.objects)-from)
		inner := any(slices.Clone(in.objects[from:to]))
		kind := pick(r, []string{"List", "List", "List", "array", "PodList", "NodeList", "none", "Wrapper", "Template", "Bundle"})
		in.note("objects %d to %d in a %s of their own", from, to, kind)
		var o object
		switch kind {
		case "array":
			o = object{"array": inner} // serialize unwraps it
		case "none":
			o = object{"items": inner}
		case "PodList", "NodeList":
			o = object{"kind": kind, "apiVersion": "v1", "items": inner}
		case "Wrapper":
			o = object{"kind": "Wrapper", "apiVersion": "v1", "items": inner}
		case "Template":
			o = object{"kind": "Template", "apiVersion": "template.openshift.io/v1", "objects": inner}
			in.value = true // readers do not expect objects in this field
		case "Bundle":
			o = object{"kind": "Bundle", "apiVersion": "example.com/v1", "spec": object{"objects": inner}}
			in.value = true
		default:
			o = object{"kind": "List", "apiVersion": "v1", "items": inner, "metadata": object{}}
			if r.IntN(3) == 0 {
				o = object{"kind": "List", "apiVersion": "v1", "items": []any{o}}
			}
		}
		in.objects = slices.Replace(in.objects, from, to, o)
	}},
	{"what is no object among them", true, 3, func(in *input, r *rand.Rand) {
		o := object{"instead": pick(r, []any{nil, number("5"), "text", []any{}, object{}, true})}
		in.note("%s among them", write(o["instead"]))
		in.objects = slices.Insert(in.objects, r.IntN(len(in.objects)+1), o)
	}},
}

// valueAt returns the value at a path.
func valueAt(v any, path ...string) any {
	for _, p := range path {
		o, _ := v.(object)
		v = o[p]
	}
	return v
}

// mayChangeType reports whether a field may change its type without an effect: templates of
// revisions may contain anything, some fields accept numbers and percentages, and some fields are
// not used.
func mayChangeType(o object, path string) bool {
	switch {
	case o["kind"] == "ControllerRevision" && strings.HasPrefix(path, "data."),
		strings.HasSuffix(path, "maxUnavailable"), strings.HasSuffix(path, "maxSurge"), strings.HasSuffix(path, "port"), strings.HasSuffix(path, "Port"),
		strings.Contains(path, "fieldsV1"), strings.Contains(path, "requests"), strings.Contains(path, "limits"), strings.Contains(path, "allocatable"), strings.Contains(path, "capacity"):
		return true
	}
	return false
}

// mutate returns a copy of the base with up to two mutations.
func mutate(b *base, r *rand.Rand, structural bool) *input {
	in := &input{base: b, objects: clone(b.objects), manifest: clone(b.manifest)}
	total, from := 0, mutations
	times := pick(r, []int{0, 1, 1, 1, 1, 1, 2})
	if structural {
		from = slices.DeleteFunc(slices.Clone(from), func(m mutation) bool { return !m.structural })
	}
	for _, m := range from {
		total += m.weight
	}
	for range times {
		n := r.IntN(total)
		for _, m := range from {
			if n -= m.weight; n < 0 {
				m.do(in, r)
				in.value = in.value || !m.structural
				break
			}
		}
		if !slices.ContainsFunc(in.objects, func(o object) bool { return o["kind"] == "DaemonSet" }) {
			break
		}
		if slices.ContainsFunc(in.objects, func(o object) bool { return o["metadata"] == nil }) {
			break // do not mutate nested lists any further
		}
		if slices.ContainsFunc(in.objects, func(o object) bool { _, k := o["kind"].(string); _, a := o["apiVersion"].(string); return !k || !a }) {
			break
		}
	}
	return in
}
