// Package prose recognizes text that is not a Kubernetes object: terminal output, text between objects, and templates
// that were not rendered.
package prose

import (
	"bytes"
	"regexp"
	"sync"
)

var (
	yamlLine = pattern(`^\x{FEFF}?(?:"?[A-Za-z0-9_./-]+"?\s*:(?:\s|$)|-(?:\s|$)|#|---|\.\.\.|%|====)`)
	// Terminals and collectors write such lines between objects. No object has such a key.
	message   = pattern(`(?i)^(?:warning|error|fatal|info|debug|note|hint)\b`)
	nothing   = pattern(`^(?:null|~|['&?!].*)\s*$`) // null in YAML, or a quoted, tagged or complex value
	firstLine = pattern(`^\x{FEFF}?(?:["']?(?:apiVersion|kind|items)["']?\s*:(?:\s|$)|\{\s*(?:["}]|$)|\[\s*(?:[\[{\]]|$))`)
	field     = pattern(`(?m)(?:^|[\s{,"'-])(?:apiVersion|kind|metadata|items|spec|status)["']?\s*:(?:\s|$|["'{\[])`)
	// also a JSON string instead of an object
	structure = pattern(`(?m)[{}\x00-\x08\x0e-\x1f\x7f]|^\s*\],?\s*$|^\s*".*"\s*,?\s*$`)
	complaint = pattern(`(?i)\b(?:errors?|unable|refused|time(?:d )?out|timeout|forbidden|denied|unauthorized|failed|not found|cut|lost|truncated)\b`)
	action    = pattern(`(?m)^(?:[^"'#\n]*[\s:-])?\{\{`)
)

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// MayBegin reports whether a YAML or JSON document may begin with this line. line must be the first line that is
// neither blank nor indented.
func MayBegin(line []byte) bool {
	switch {
	case len(line) == 0:
		return true
	case bytes.HasPrefix(line, []byte("{{")), message().Match(line):
		return false
	case line[0] == '{':
		return true
	case line[0] == '[':
		return startsArray(line[1:])
	}
	return yamlLine().Match(line) || nothing().Match(line)
}

// startsArray reports whether rest can follow the opening bracket of a JSON array.
func startsArray(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	if len(rest) == 0 || bytes.IndexByte([]byte(`[{]"-0123456789`), rest[0]) >= 0 {
		return true
	}
	for _, word := range []string{"null", "true", "false"} {
		if bytes.HasPrefix(rest, []byte(word)) {
			return true
		}
	}
	return false
}

// InDocument reports whether an unindented line may belong to a YAML document.
func InDocument(line []byte) bool { return yamlLine().Match(line) }

// Begins reports whether an object, or a list of objects, seems to begin with this line.
func Begins(line []byte) bool { return firstLine().Match(line) }

// HasField reports whether text has a field that every object has, so that it may be an object or a part of one.
func HasField(text []byte) bool { return field().Match(text) }

// IsWords reports whether text that is not valid YAML is prose and not a damaged object. Prose has no field of an
// object, and has an unindented line that is impossible in YAML, such as the output of "kubectl describe".
func IsWords(text []byte) bool {
	if HasField(text) {
		return false
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 && line[0] != ' ' && line[0] != '\t' &&
			!InDocument(line) && !MayBegin(line) {
			return true
		}
	}
	return false
}

// Passes reports whether the program can ignore text: it has no field of an object, and does not say that something
// failed.
func Passes(text []byte) bool {
	return !HasField(text) && !structure().Match(text) && !complaint().Match(text)
}

// IsTemplate reports whether text has template actions, as in a Helm chart, instead of YAML values or keys. It
// ignores quoted actions, because they may belong to another program.
func IsTemplate(text []byte) bool { return action().Match(text) }
