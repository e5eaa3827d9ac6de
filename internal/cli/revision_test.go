package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestRevisionWithValues: the help of history names every format in which a
// revision has the literal values of environment variables, and no other has them.
func TestRevisionWithValues(t *testing.T) {
	var help bytes.Buffer
	if status := Main([]string{"kubectl-ds", "history", "--help"}, strings.NewReader(""), &help, new(bytes.Buffer)); status != 0 {
		t.Fatal("no help")
	}
	words := strings.Join(strings.Fields(help.String()), " ")
	_, words, _ = strings.Cut(words, "--revision N with")
	named, _, _ := strings.Cut(words, "with all its values")
	for _, tt := range []struct{ output, format string }{
		{"yaml", "-o yaml"}, {"json", " json"}, {"jsonpath={.spec.template}", " jsonpath"}, {"go-template={{.spec.template}}", " go-template"}, {"name", ""}, {"", ""},
	} {
		var out, errs bytes.Buffer
		args := []string{"kubectl-ds", "history", "agent", "--from", "testdata/env.yaml", "--revision", "1", "-o", tt.output}
		if status := Main(args, strings.NewReader(""), &out, &errs); status != 0 {
			t.Fatalf("-o %s: %s", tt.output, &errs)
		}
		if shows := strings.Contains(out.String(), "sesame"); shows != (tt.format != "") {
			t.Errorf("-o %s shows values: %v\n%s", tt.output, shows, &out)
		}
		if tt.format != "" && !strings.Contains(named, tt.format) {
			t.Errorf("-o %s shows values, and the help names%s", tt.output, named)
		}
	}
}
