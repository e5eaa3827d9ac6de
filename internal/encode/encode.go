// Package encode writes the documents of answers in the formats of -o: JSON, YAML,
// names, or by a template of kubectl. It knows nothing of what they say.
package encode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// Format is a value of -o.
type Format string

const (
	Text Format = ""
	Wide Format = "wide"
	JSON Format = "json"
	YAML Format = "yaml"
	Name Format = "name"

	Markdown Format = "markdown" // of plans only
)

// Formats lists what -o takes, as it stands in the help.
const Formats = "wide|json|yaml|name|jsonpath=…|jsonpath-file=…|go-template=…|go-template-file=…"

// PlanFormats lists what -o takes where the answer is plans.
const PlanFormats = "markdown|" + Formats

// Parse checks a value of -o, templates included, without any document
// to apply it to. taken is Formats, or PlanFormats.
func Parse(o, taken string) (Format, error) {
	f := Format(o)
	if slices.Contains([]Format{Text, Wide, JSON, YAML, Name}, f) || f == Markdown && taken == PlanFormats {
		return f, nil
	}
	_, err := templatePrinter(o)
	switch {
	case err == nil:
		return f, nil
	case genericclioptions.IsNoCompatiblePrinterError(err):
		return f, fmt.Errorf("-o %q is none of %s", o, taken)
	}
	return f, fmt.Errorf("-o %s: %w", o, err)
}

func templatePrinter(o string) (printers.ResourcePrinter, error) {
	return genericclioptions.NewKubeTemplatePrintFlags().ToPrinter(o)
}

// Write writes a document in a format other than Text and Wide. refs are the
// DaemonSets that it is about, for -o name.
func Write(w io.Writer, document any, refs []string, f Format) error {
	text, err := encoded(document, refs, f)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

func encoded(document any, refs []string, f Format) (string, error) {
	var b strings.Builder
	switch f {
	case Name:
		for _, r := range refs {
			fmt.Fprintf(&b, "daemonset.apps/%s\n", screen.Clean(r))
		}
		return b.String(), nil
	case JSON:
		return marshal(document)
	case YAML:
		return YAMLText(document)
	}
	p, err := templatePrinter(string(f))
	if err != nil {
		return "", err
	}
	raw, err := marshal(document)
	if err != nil {
		return "", err
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(raw)); err != nil {
		return "", err
	}
	err = p.PrintObj(u, &b)
	return strings.TrimSuffix(b.String(), "\n") + "\n", err
}

// marshal writes as \uXXXX, too, what a terminal could obey and encoding/json
// leaves alone: C1 control codes and invisible marks, which occur in strings only.
func marshal(document any) (string, error) {
	raw, err := asJSON(document)
	return screen.EscapeFunc(string(raw), isControl), err
}

func asJSON(document any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	err := e.Encode(document)
	return b.Bytes(), err
}

// unescaped has the line ends that encoding/json escapes, but no escaped backslash.
var unescaped = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")

// YAMLText returns a document as YAML that is safe to print, and that is read back
// as what it was made of. The library leaves invisible marks as they are, also in
// text without quotes, where an escape would be text. So each goes through it as a
// control code, with which text is quoted, and its escape without the backslash.
func YAMLText(document any) (string, error) {
	raw, err := asJSON(document)
	if err != nil {
		return "", err
	}
	mark := 1 // a control code that does not occur, neither as itself nor written out
	for mark < 0x1f && (bytes.Contains(raw, fmt.Appendf(nil, `\u%04x`, mark)) || bytes.Contains(raw, fmt.Appendf(nil, `\x%02X`, mark))) {
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
