package template

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// Value is what a field holds, as JSON has it. The zero Value is none: the field
// is absent, which is something else than null, an empty text or an empty list.
type Value struct {
	of    any
	there bool
	_     [0]func() // Equal compares, not ==
}

// ValueOf returns the Value of what was parsed: a map[string]any, a []any, a
// string, a json.Number, a bool, or nil for null.
func ValueOf(v any) Value { return Value{of: v, there: true} }

// valueOrNone is ValueOf for a field where null is as good as absent.
func valueOrNone(v any) Value { return Value{of: v, there: v != nil} }

// ParseValue reads what String wrote. What is no JSON is taken for a text.
func ParseValue(raw string) Value {
	if raw == "" {
		return Value{}
	}
	var v any
	if decode([]byte(raw), &v) != nil {
		v = raw
	}
	return ValueOf(v)
}

// Absent reports whether there is no value.
func (v Value) Absent() bool { return !v.there }

// Any returns what ValueOf was given; nil of an absent Value.
func (v Value) Any() any { return v.of }

// Text returns a value that is a string, and reports whether it is one.
func (v Value) Text() (string, bool) {
	s, ok := v.of.(string)
	return s, ok
}

// String returns the Value as JSON, and an empty text for none.
func (v Value) String() string {
	if !v.there {
		return ""
	}
	return text(v.of)
}

// Equal reports whether two Values are the same, or both absent.
func (v Value) Equal(other Value) bool {
	return v.there == other.there && reflect.DeepEqual(v.of, other.of)
}

// MarshalText returns the Value as documents have it: JSON within a text.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *Value) UnmarshalText(text []byte) error {
	*v = ParseValue(string(text))
	return nil
}

// text returns what was parsed as JSON.
func text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // it was JSON a moment ago
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// decode reads JSON as text writes it, with numbers as they are written.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}
