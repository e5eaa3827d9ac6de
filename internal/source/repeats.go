package source

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"

	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Repeat is a key that appears twice in an object of a file, where only its later
// value counts.
type Repeat struct {
	Line int    // of the later one in the file, from 1
	Key  string // empty where it is no plain word
}

// plainKey is a key that may be shown: the name of a field, a label or an
// annotation.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`)

var repeatedInYAML = regexp.MustCompile(`line (\d+): key (".*"|\S+) already set in map`)

// repeatsInYAML returns the keys that stand twice in a piece of YAML before which
// line lines stand.
func repeatsInYAML(text []byte, line int) []Repeat {
	_, err := yaml.YAMLToJSONStrict(text)
	if err == nil {
		return nil
	}
	var found []Repeat
	for _, m := range repeatedInYAML.FindAllStringSubmatch(err.Error(), -1) {
		n, _ := strconv.Atoi(m[1])
		r := Repeat{Line: line + n}
		if key, err := strconv.Unquote(m[2]); err == nil && plainKey.MatchString(key) {
			r.Key = key
		}
		found = append(found, r)
	}
	return found
}

// laterValues returns JSON before which line lines stand with no key twice, and
// the keys that were. What is no JSON is returned as it is.
func laterValues(raw []byte, line int) ([]byte, []Repeat, error) {
	if !mayRepeat(raw) {
		return raw, nil, nil
	}
	found := repeatsInJSON(raw, line)
	if len(found) == 0 {
		return raw, nil, nil
	}
	var v any
	if err := kjson.Unmarshal(raw, &v); err != nil {
		return raw, nil, nil //nolint:nilerr // the decoder says what is wrong
	}
	once, err := json.Marshal(v)
	return once, found, err
}

// mayRepeat reports whether a key may stand twice in an object of JSON. It is for
// large inputs, where nearly always none does: a key that is written with escapes
// is reason enough for a closer look.
func mayRepeat(raw []byte) bool {
	type level struct {
		keys  [][]byte // of an object, while they are few
		many  map[string]bool
		list  bool
		value bool // a value is next, and no key
	}
	const few = 32
	at := []level{{list: true}}
	for i := 0; i < len(raw); i++ {
		in := &at[len(at)-1]
		switch raw[i] {
		case '{':
			at = append(at, level{})
		case '[':
			at = append(at, level{list: true})
		case '}', ']':
			if at = at[:len(at)-1]; len(at) == 0 {
				return true // no JSON
			}
		case ':':
			in.value = true
		case ',':
			in.value = false
		case '"':
			from, escaped := i+1, false
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					escaped = true
					i++
				}
			}
			if in.list || in.value {
				continue
			}
			key := raw[from:min(i, len(raw))]
			switch {
			case escaped, in.many[string(key)], slices.ContainsFunc(in.keys, func(k []byte) bool { return bytes.Equal(k, key) }):
				return true
			case len(in.keys) < few:
				in.keys = append(in.keys, key)
			default:
				if in.many == nil {
					in.many = map[string]bool{}
				}
				in.many[string(key)] = true
			}
		}
	}
	return false
}

// repeatsInJSON returns the keys that stand twice, up to where the JSON breaks off.
func repeatsInJSON(raw []byte, line int) []Repeat {
	type level struct {
		keys map[string]bool // of an object; nil for a list
		key  bool            // a key is next
	}
	var found []Repeat
	at := []level{{}}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return found
		}
		in := &at[len(at)-1]
		switch token {
		case json.Delim('}'), json.Delim(']'):
			at = at[:len(at)-1]
			continue
		}
		if key, ok := token.(string); ok && in.keys != nil && in.key {
			if in.keys[key] {
				r := Repeat{Line: line + 1 + bytes.Count(raw[:d.InputOffset()], []byte{'\n'})}
				if plainKey.MatchString(key) {
					r.Key = key
				}
				found = append(found, r)
			}
			in.keys[key], in.key = true, false
			continue
		}
		in.key = true
		switch token {
		case json.Delim('{'):
			at = append(at, level{map[string]bool{}, true})
		case json.Delim('['):
			at = append(at, level{})
		}
	}
}
