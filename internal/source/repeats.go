package source

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"

	kjson "k8s.io/apimachinery/pkg/util/json"
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

func repeat(line int, key string) Repeat {
	if !plainKey.MatchString(key) {
		key = ""
	}
	return Repeat{line, key}
}

var repeatedInYAML = regexp.MustCompile(`line (\d+): key (".*"|\S+) already set in map`)

// repeatsInYAML returns the keys of which a strict reader of YAML says that they
// stand twice in a piece of YAML before which line lines stand.
func repeatsInYAML(err error, line int) []Repeat {
	var found []Repeat
	for _, m := range repeatedInYAML.FindAllStringSubmatch(err.Error(), -1) {
		n, _ := strconv.Atoi(m[1])
		key, _ := strconv.Unquote(m[2])
		found = append(found, repeat(line+n, key))
	}
	return found
}

// laterValues returns JSON with no key twice.
func laterValues(raw []byte) ([]byte, error) {
	var v any
	if err := kjson.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
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
				found = append(found, repeat(line+1+bytes.Count(raw[:d.InputOffset()], []byte{'\n'}), key))
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
