package template

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
)

// Misfit returns an error for a JSON decoding error that says what a field must
// be and what it is instead, because the decoder names Go's types and may quote
// a number. If only the text of the error is known, as for an error of another
// decoder or a wrapped one, Misfit says what the field cannot be. It returns
// any other error unchanged.
func Misfit(err error) error {
	var e *json.UnmarshalTypeError
	if !errors.As(err, &e) {
		return misfitInWords(err)
	}
	kind, _, _ := strings.Cut(e.Value, " ") // number 1e999
	words := fmt.Sprintf("must be %s, not %s", Wanted(e.Type), valueWords[kind])
	if e.Field == "" {
		return errors.New(words)
	}
	return fmt.Errorf("%s %s", e.Field, words)
}

var (
	valueWords = map[string]string{"object": "an object", "array": "a list", "string": "text", "bool": "true or false",
		"number": "a number"}
	misfitWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`json: cannot unmarshal (object|array|string|bool|number)(?: [-+.\w]+)? into Go (?:value|struct field \w+\.([\w.]+)) of type [\w.*\[\]]+`)
	})
)

func misfitInWords(err error) error {
	words := err.Error()
	plain := misfitWords().ReplaceAllStringFunc(words, func(m string) string {
		part := misfitWords().FindStringSubmatch(m)
		return cmp.Or(part[2], "it") + " cannot be " + valueWords[part[1]]
	})
	if plain == words {
		return err
	}
	return errors.New(plain)
}

// Wanted returns the JSON form of a type in words, such as "a list".
func Wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return Wanted(t.Elem())
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "base64 text"
		}
		return "a list"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number that fits"
}
