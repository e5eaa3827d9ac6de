package screen

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Clean returns words of the cluster or of a file as one line that is safe to
// print: without control codes and invisible marks, which are shown as JSON
// escapes them.
func Clean(s string) string { return Escape(strings.Join(strings.Fields(s), " ")) }

// Escape is Clean for a line whose blanks count.
func Escape(s string) string {
	return EscapeFunc(s, func(r rune) bool { return Obeyed(r) || r == unicode.ReplacementChar })
}

// EscapeFunc returns a text with those characters escaped of which a function
// says so.
func EscapeFunc(s string, escaped func(rune) bool) string {
	if !strings.ContainsFunc(s, escaped) {
		return s
	}
	var b []byte
	for _, r := range s {
		if escaped(r) {
			b = AppendEscaped(b, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}

// Obeyed reports whether a terminal would obey a character rather than show it:
// control codes, marks that are invisible or turn what follows, and line ends
// that are none to most programs.
func Obeyed(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// AppendEscaped appends a character as JSON escapes it.
func AppendEscaped(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	for _, u := range utf16.AppendRune(nil, r) {
		b = append(b, '\\', 'u', digits[u>>12], digits[u>>8&0xf], digits[u>>4&0xf], digits[u&0xf])
	}
	return b
}
