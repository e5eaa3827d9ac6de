package template

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Hidden stands for the literal value of an environment variable, which may be
// a secret.
const Hidden = "<hidden>"

// Hide returns the differences with Hidden in the place of every literal value
// of an environment variable: alone, or within what comes or goes whole. Names
// and references stay, and an empty value is none. Paths are those of a template,
// or of an object that holds one. Field names count in any letter case, as they do
// for the decoder of the API's types: what a person wrote as Env is env to it.
//
// It knows of no other place in which somebody may have written a secret, such as
// arguments and annotations.
func Hide(all []Difference) []Difference {
	out := make([]Difference, len(all))
	for i, d := range all {
		replace := standsAt(d.Path)
		hide := func(raw string) string {
			if raw == "" {
				return ""
			}
			taken := false
			v := replace(decode(raw), func(string) string {
				taken = true
				return Hidden
			})
			if !taken {
				return raw
			}
			d.Hidden = true
			return text(v)
		}
		d.Old, d.New = hide(d.Old), hide(d.New)
		out[i] = d
	}
	return out
}

// decode returns what text wrote. What it did not write is a string.
func decode(raw string) any {
	d := json.NewDecoder(bytes.NewReader([]byte(raw)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	return v
}

// WithValues returns a copy of the content in which f has replaced each literal
// value of an environment variable, in the order of the fields' names. An empty
// value is none, and field names count in any letter case.
func (c Content) WithValues(f func(string) string) Content {
	return inObject(map[string]any(c), f).(map[string]any)
}

// A replacer returns a copy of what stands at some place, with f of the literal
// values in it. What does not look as the place would have it stays as it is.
type replacer func(v any, f func(string) string) any

// containersPath matches the paths of containers and of what is in them, down to
// a literal value: with one group more for each step. The first name stands in
// brackets where it is written with ſ, which counts as an s.
var containersPath = func() *regexp.Regexp {
	const member = `\[name=(?:"(?:[^"\\]|\\.)*"|[^\]]*)\]`
	return regexp.MustCompile(`(?i)(?:^|[.\[])(containers|initContainers|ephemeralContainers)\]?(` + member + `(\.env(` + member + `(\.value)?)?)?)?$`)
}()

// standsAt tells by a path what stands there.
func standsAt(path string) replacer {
	steps := []replacer{inObject, inContainers, inContainer, inVariables, inVariable, inValue}
	deep := 0
	for i, group := range containersPath.FindStringSubmatch(path) {
		if i > 0 && group != "" {
			deep = i
		}
	}
	return steps[deep]
}

// inObject is for what holds containers, at any depth: a pod's spec, a template,
// a DaemonSet.
func inObject(v any, f func(string) string) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := maps.Clone(object)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		inner := object[key]
		switch {
		case isField(key, "spec"), isField(key, "template"):
			out[key] = inObject(inner, f)
		case isField(key, "containers"), isField(key, "initContainers"), isField(key, "ephemeralContainers"):
			out[key] = inContainers(inner, f)
		}
	}
	return out
}

// isField tells whether the decoder of the API's types takes a key for a field.
func isField(key, name string) bool { return strings.EqualFold(key, name) }

func inContainers(v any, f func(string) string) any { return inEach(v, inContainer, f) }
func inContainer(v any, f func(string) string) any  { return inField(v, "env", inVariables, f) }
func inVariables(v any, f func(string) string) any  { return inEach(v, inVariable, f) }
func inVariable(v any, f func(string) string) any   { return inField(v, "value", inValue, f) }

func inValue(v any, f func(string) string) any {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		if v == "" {
			return v
		}
		return f(v)
	}
	return f(text(v)) // the API takes strings alone, a file may hold anything
}

func inEach(v any, inner replacer, f func(string) string) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	out := make([]any, len(list))
	for i := range list {
		out[i] = inner(list[i], f)
	}
	return out
}

func inField(v any, name string, inner replacer, f func(string) string) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := maps.Clone(object)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if isField(key, name) {
			out[key] = inner(object[key], f)
		}
	}
	return out
}
