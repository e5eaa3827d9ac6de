// Package encode writes documents as JSON and YAML that are safe to print on a terminal. It takes
// any value that encoding/json can encode.
package encode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// JSON returns a document as indented JSON that is safe to print. C1 control codes and invisible
// characters, which encoding/json leaves unchanged, are written as \uXXXX.
func JSON(document any) (string, error) {
	raw, err := asJSON(document)
	return screen.EscapeFunc(string(raw), isControl), err
}

// Line returns the result of JSON on one line.
func Line(document any) (string, error) {
	text, err := JSON(document)
	var b bytes.Buffer
	if err == nil {
		err = json.Compact(&b, []byte(text))
	}
	return b.String() + "\n", err
}

func asJSON(document any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	err := e.Encode(document)
	return b.Bytes(), err
}

// unescaped restores the line separators that encoding/json escapes. It skips escaped backslashes.
var unescaped = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")

// YAML returns a document as YAML that is safe to print and decodes to the same values.
//
// The YAML library does not escape invisible characters and may not quote the text around them. So YAML replaces each
// invisible character with a control code, which forces quotes, and the character's escape without the backslash.
func YAML(document any) (string, error) {
	raw, err := asJSON(document)
	if err != nil {
		return "", err
	}
	mark := 1 // a control code that does not occur, neither literally nor escaped
	for mark < 0x1f && (bytes.Contains(raw, fmt.Appendf(nil, `\u%04x`, mark)) ||
		bytes.Contains(raw, fmt.Appendf(nil, `\x%02X`, mark))) {
		mark++
	}
	var b []byte
	for _, r := range unescaped.Replace(string(raw)) {
		switch {
		case !isControl(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			b = fmt.Appendf(b, `\u%04xU%08x`, mark, r)
		default:
			b = fmt.Appendf(b, `\u%04xu%04x`, mark, r)
		}
	}
	b, err = yaml.JSONToYAML(b)
	marked := regexp.MustCompile(fmt.Sprintf(`\\x%02X(u[0-9a-f]{4}|U[0-9a-f]{8})`, mark))
	return marked.ReplaceAllString(string(b), `\$1`), err
}

func isControl(r rune) bool { return r != '\n' && screen.Obeyed(r) }
