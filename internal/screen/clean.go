package screen

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Clean returns text from the cluster or a file as one line that is safe to print. Control codes
// and invisible characters are escaped as in JSON.
func Clean(s string) string { return Escape(strings.Join(strings.Fields(s), " ")) }

// Escape does what Clean does but keeps all blanks.
func Escape(s string) string {
	return EscapeFunc(s, func(r rune) bool { return Obeyed(r) || r == unicode.ReplacementChar })
}

// EscapeFunc returns s with the characters for which escaped returns true escaped as in JSON.
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

// Obeyed reports whether a terminal might interpret a character instead of showing it: control
// codes, invisible and bidirectional formatting characters, and the Unicode line and paragraph
// separators.
func Obeyed(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// AppendEscaped appends a character, escaped as in JSON.
func AppendEscaped(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	for _, u := range utf16.AppendRune(nil, r) {
		b = append(b, '\\', 'u', digits[u>>12], digits[u>>8&0xf], digits[u>>4&0xf], digits[u&0xf])
	}
	return b
}
