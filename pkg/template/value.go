package template

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// Value is the JSON value of a field. The zero Value means that the field is
// absent, which differs from null, an empty string and an empty list.
type Value struct {
	of    any
	there bool
	_     [0]func() // compare with Equal, not ==
}

// ValueOf returns the Value of parsed JSON: a map[string]any, a []any, a
// string, a json.Number, a bool, or nil for null.
func ValueOf(v any) Value { return Value{of: v, there: true} }

// valueOrAbsent is ValueOf for a field whose null counts as absent.
func valueOrAbsent(v any) Value { return Value{of: v, there: v != nil} }

// ParseValue parses the output of String. Text that is not JSON becomes a
// string.
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

// Any returns the argument of ValueOf, or nil for an absent Value.
func (v Value) Any() any { return v.of }

// Text returns a string value, and reports whether the value is a string.
func (v Value) Text() (string, bool) {
	s, ok := v.of.(string)
	return s, ok
}

// String returns the Value as JSON, or "" if it is absent.
func (v Value) String() string {
	if !v.there {
		return ""
	}
	return text(v.of)
}

// Equal reports whether two Values are equal, or both absent.
func (v Value) Equal(other Value) bool {
	return v.there == other.there && reflect.DeepEqual(v.of, other.of)
}

// MarshalText returns String.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText parses the output of MarshalText.
func (v *Value) UnmarshalText(text []byte) error {
	*v = ParseValue(string(text))
	return nil
}

// text encodes parsed JSON.
func text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // it was decoded from JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// decode decodes JSON, with numbers as json.Number.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}
