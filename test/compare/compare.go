// Package compare compares the output of two builds of the plugin, byte for byte on the same
// inputs: the build of a commit and that of the working tree.
//
//	go test ./test/compare -base REF [-seed 1] [-states 500] [-only PATTERN] [-keep FOLDER]
//
// allowed.go lists the permitted differences with their reasons. An entry that a whole run does not
// need is an error.
package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// answer is the output of a build.
type answer struct {
	Status   int
	Out, Err string
}

func (a answer) String() string {
	return fmt.Sprintf("exit status %d\n-- stdout --\n%s-- stderr --\n%s", a.Status, a.Out, a.Err)
}

// difference is a permitted difference: a field added to JSON documents, or changed words.
type difference struct {
	asked   string // regular expression for command lines
	added   string // path of the added field, such as "items[*].code"
	was, is string // regular expression for the old text, and the new text, with $1 for a group
	why     string
}

// settle returns the two answers without the permitted differences, and the reasons of those that
// were found.
func settle(asked string, old, new answer, allowed []difference) (answer, answer, []string) {
	var needed []string
	for _, d := range allowed {
		if old == new || !regexp.MustCompile(d.asked).MatchString(asked) {
			continue
		}
		was, is := old, new
		if d.added != "" {
			was.Out, is.Out = without(old.Out, new.Out, d.added)
		} else {
			words := regexp.MustCompile(d.was)
			was.Out, was.Err = words.ReplaceAllString(old.Out, d.is), words.ReplaceAllString(old.Err, d.is)
		}
		if was != old || is != new {
			old, new, needed = was, is, append(needed, d.why)
		}
	}
	return old, new, needed
}

var step = regexp.MustCompile(`\[\*\]|[^.\[]+`)

// without returns two documents with the fields at a path removed from the second one, both
// indented anew. If there is no such field or one of them is not a JSON object, it returns them
// unchanged.
func without(old, new, place string) (string, string) {
	for _, document := range []string{old, new} {
		if !strings.HasPrefix(document, "{") || !json.Valid([]byte(document)) {
			return old, new
		}
	}
	less := indented(cut([]byte(new), step.FindAllString(place, -1)))
	if less == indented([]byte(new)) {
		return old, new
	}
	return indented([]byte(old)), less
}

func indented(valid []byte) string {
	var b bytes.Buffer
	_ = json.Indent(&b, valid, "", "  ")
	return b.String()
}

// cut returns a JSON value without the fields at a path. The order of fields does not change.
func cut(value json.RawMessage, path []string) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(value))
	open, _ := d.Token()
	object := open == json.Delim('{')
	if !object && (open != json.Delim('[') || path[0] != "[*]") || len(path) == 0 {
		return value
	}
	var members [][]byte
	for d.More() {
		var member []byte
		below := true
		if object {
			key, _ := d.Token()
			below = key == path[0]
			name, _ := json.Marshal(key)
			member = append(name, ':')
		}
		var v json.RawMessage
		_ = d.Decode(&v)
		if below && len(path) == 1 {
			continue
		}
		if below {
			v = cut(v, path[1:])
		}
		members = append(members, append(member, v...))
	}
	end, _ := d.Token()
	return slices.Concat([]byte(open.(json.Delim).String()), bytes.Join(members, []byte(",")), []byte(end.(json.Delim).String()))
}
