package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-ds/kubectl-ds/internal/encode"
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// format is a value of -o.
type format string

const (
	inText     format = ""
	inWideText format = "wide"
	inJSON     format = "json"
	inYAML     format = "yaml"
	asNames    format = "name"
	inMarkdown format = "markdown"
	inHTML     format = "html"
)

// formats lists the values of -o for the help.
const formats = "wide|markdown|html|json|yaml|name|jsonpath=…|jsonpath-file=…|go-template=…|go-template-file=…"

// formatOf validates a value of -o. It also parses templates.
func formatOf(o string) (format, error) {
	f := format(o)
	if slices.Contains([]format{inText, inWideText, inMarkdown, inHTML, inJSON, inYAML, asNames}, f) {
		return f, nil
	}
	_, err := templatePrinter(o)
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, errNoTemplate):
		return f, fmt.Errorf("-o %q is none of %s", o, formats)
	}
	return f, fmt.Errorf("-o %s: %w", o, err)
}

// write writes a document in a machine-readable format. refs are the names of its DaemonSets, for
// -o name.
func (f format) write(w io.Writer, document any, refs []string) error {
	text, err := f.encode(document, refs)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

func (f format) encode(document any, refs []string) (string, error) {
	switch f {
	case asNames:
		var names strings.Builder
		for _, r := range refs {
			fmt.Fprintf(&names, "daemonset.apps/%s\n", screen.Clean(r))
		}
		return names.String(), nil
	case inYAML:
		return encode.YAML(document)
	}
	text, err := encode.JSON(document)
	if f == inJSON || err != nil {
		return text, err
	}
	p, err := templatePrinter(string(f))
	if err != nil {
		return "", err
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(text)); err != nil {
		return "", err
	}
	var b strings.Builder
	err = p.PrintObj(u, &b)
	return strings.TrimSuffix(b.String(), "\n") + "\n", err
}
