package object

import (
	"bytes"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PeekKind returns the apiVersion and the kind of an object without decoding the rest. plain is false if only a parser
// can tell: a key appears twice or has an escape, or the kind is not a plain string. For JSON that is truncated or
// invalid, PeekKind returns what it finds, and plain has no meaning.
func PeekKind(raw []byte) (kind metav1.TypeMeta, plain bool) {
	var seen [][]byte
	rest := bytes.TrimLeft(raw, Space)
	if len(rest) == 0 || rest[0] != '{' {
		return kind, false
	}
	plain = true
	for rest = rest[1:]; ; {
		rest = bytes.TrimLeft(rest, Space+",")
		if len(rest) == 0 {
			return kind, false
		}
		if rest[0] == '}' {
			return kind, plain
		}
		key, after, ok := plainText(rest)
		if !ok {
			return kind, false
		}
		plain = plain && !slices.ContainsFunc(seen, func(k []byte) bool { return bytes.Equal(k, key) })
		seen = append(seen, key)
		value := bytes.TrimLeft(after, Space+":")
		switch string(key) {
		case "kind", "apiVersion":
			text, behind, ok := plainText(value)
			if !ok {
				return kind, false
			}
			if string(key) == "kind" {
				kind.Kind = string(text)
			} else {
				kind.APIVersion = string(text)
			}
			rest = behind
		default:
			rest = value[sizeOfValue(value):]
		}
	}
}

// LeadingKind returns the kind of an object if it comes before all other fields.
func LeadingKind(raw []byte) (kind metav1.TypeMeta) {
	rest := bytes.TrimLeft(raw, Space)
	if len(rest) == 0 || rest[0] != '{' {
		return kind
	}
	rest = rest[1:]
	for kind.Kind == "" || kind.APIVersion == "" {
		key, after, ok := plainText(bytes.TrimLeft(rest, Space+","))
		if !ok {
			break
		}
		text, behind, ok := plainText(bytes.TrimLeft(after, Space+":"))
		switch {
		case ok && string(key) == "kind":
			kind.Kind = string(text)
		case ok && string(key) == "apiVersion":
			kind.APIVersion = string(text)
		default:
			return metav1.TypeMeta{}
		}
		rest = behind
	}
	return kind
}

const Space = " \t\r\n"

// plainText returns the string at the start of raw, if it has no escapes, and the rest of raw.
func plainText(raw []byte) (text, rest []byte, ok bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return nil, nil, false
	}
	end := bytes.IndexAny(raw[1:], "\"\\")
	if end < 0 || raw[1+end] == '\\' {
		return nil, nil, false
	}
	return raw[1 : 1+end], raw[end+2:], true
}

// sizeOfText returns the length of the string at the start of raw, with its quotes.
func sizeOfText(raw []byte) int {
	for at := 1; ; {
		end := bytes.IndexByte(raw[min(at, len(raw)):], '"')
		if end < 0 {
			return len(raw)
		}
		at += end + 1
		escapes := 0
		for raw[at-2-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
	}
}

// sizeOfValue returns the length of the value at the start of raw.
func sizeOfValue(raw []byte) int {
	depth := 0
	for at := 0; at < len(raw); at++ {
		switch raw[at] {
		case '"':
			at += sizeOfText(raw[at:]) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth--; depth < 0 { // the end of the object or array around the value
				return at
			}
		case ',':
			if depth == 0 {
				return at
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return min(at+1, len(raw))
		}
	}
	return len(raw)
}
