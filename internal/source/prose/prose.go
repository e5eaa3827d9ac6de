// Package prose recognizes text that is no Kubernetes object: what a terminal showed, words
// between objects, and templates that were not rendered.
package prose

import (
	"bytes"
	"regexp"
	"sync"
)

var (
	yamlLine = pattern(`^\x{FEFF}?(?:"?[A-Za-z0-9_./-]+"?\s*:(?:\s|$)|-(?:\s|$)|#|---|\.\.\.|%|====)`)
	// A terminal, and a collector, write such a line beside objects. No object has such a key.
	message   = pattern(`(?i)^(?:warning|error|fatal|info|debug|note|hint)\b`)
	nothing   = pattern(`^(?:null|~|['&?!].*)\s*$`) // of YAML; or quoted, tagged or complex
	firstLine = pattern(`^\x{FEFF}?(?:["']?(?:apiVersion|kind|items)["']?\s*:(?:\s|$)|\{\s*(?:["}]|$)|\[\s*(?:[\[{\]]|$))`)
	field     = pattern(`(?m)(?:^|[\s{,"'-])(?:apiVersion|kind|metadata|items|spec|status)["']?\s*:(?:\s|$|["'{\[])`)
	// also a text of JSON, in the place of an object
	structure = pattern(`(?m)[{}\x00-\x08\x0e-\x1f\x7f]|^\s*\],?\s*$|^\s*".*"\s*,?\s*$`)
	complaint = pattern(`(?i)\b(?:errors?|unable|refused|time(?:d )?out|timeout|forbidden|denied|unauthorized|failed|not found|cut|lost|truncated)\b`)
	action    = pattern(`(?m)^(?:[^"'#\n]*[\s:-])?\{\{`)
)

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// MayBegin reports whether a document in YAML or JSON may begin with this line. It is the first
// that is neither blank nor indented.
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

// startsArray reports whether JSON may go on so behind its first bracket.
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

// InDocument reports whether a line at the left edge may be one of a document in YAML.
func InDocument(line []byte) bool { return yamlLine().Match(line) }

// Begins reports whether an object, or a list of them, seems to begin with this line.
func Begins(line []byte) bool { return firstLine().Match(line) }

// HasField reports whether a text has a field that every object has: it may be an object, or a
// part of one.
func HasField(text []byte) bool { return field().Match(text) }

// IsWords reports whether a text that is no YAML is words and no damaged object: it has nothing of
// one, and a line at the left edge that no YAML has, as what "kubectl describe" writes.
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

// Passes reports whether a text can be left out without losing anything: it has nothing of an
// object, and it does not say that something failed.
func Passes(text []byte) bool {
	return !HasField(text) && !structure().Match(text) && !complaint().Match(text)
}

// IsTemplate reports whether a text has actions of a template, as in a chart of Helm, where YAML
// has a value or a key. In quotes they may be meant for somebody else.
func IsTemplate(text []byte) bool { return action().Match(text) }
