package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
)

// errNoTemplate is the error if a value of -o is not a template.
var errNoTemplate = errors.New("no template")

// templatePrinter returns the printer for a template in -o, in kubectl's forms, such as
// "jsonpath={.kind}" or "go-template-file=FILE". It returns errNoTemplate if o has another form.
func templatePrinter(o string) (printers.ResourcePrinter, error) {
	form, text, _ := strings.Cut(o, "=")
	language, known := map[string]string{
		"jsonpath": "jsonpath", "jsonpath-as-json": "jsonpath", "jsonpath-file": "jsonpath",
		"go-template": "template", "template": "template", "go-template-file": "template", "templatefile": "template",
	}[form]
	switch {
	case !known:
		return nil, errNoTemplate
	case text == "":
		return nil, errors.New("template format specified but no template given")
	case strings.HasSuffix(form, "file"):
		read, err := os.ReadFile(text)
		if err != nil {
			return nil, fmt.Errorf("error reading --template %s, %w", text, err)
		}
		text = string(read)
	}
	if language == "template" {
		p, err := printers.NewGoTemplatePrinter([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("error parsing template %s, %w", text, err)
		}
		p.AllowMissingKeys(true)
		return p, nil
	}
	p, err := printers.NewJSONPathPrinter(text)
	if err != nil {
		return nil, fmt.Errorf("error parsing jsonpath %s, %w", text, err)
	}
	p.AllowMissingKeys(true)
	p.EnableJSONOutput(form == "jsonpath-as-json")
	return p, nil
}
