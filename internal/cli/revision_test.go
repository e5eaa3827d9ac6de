package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestHintsOfHistory checks the hints for revisions that cannot be shown.
func TestHintsOfHistory(t *testing.T) {
	for _, tt := range []struct {
		err       error
		want, why string
	}{
		{&history.Error{Code: history.NoneBefore, Namespace: "a"}, "; hint: kubectl ds history", "which ones there are"},
		{&history.Error{Code: history.NotReadable, Namespace: "a", Why: snapshot.Forbidden}, "; hint: kubectl auth can-i list controllerrevisions.apps -n a", "whether they may be read"},
		{&history.Error{Code: history.NotReadable, Namespace: "a", Why: snapshot.Partial}, "; hint: kubectl get controllerrevisions -n a -o yaml > revisions.yaml, and add --from revisions.yaml", "how to add them to a dump"},
		{&history.Error{Code: history.NotReadable, Namespace: "a", Why: snapshot.Failed}, "", "nothing helps where a request failed"},
		{&history.Error{Code: history.NoSuchRevision, Namespace: "a"}, "", "nor where the message names all there are"},
		{errors.New("other"), "other", "another error is none of these"},
	} {
		if got := withHint(tt.err); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestRevisionWithValues checks that the help of history names exactly the formats that print the
// literal values of environment variables.
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
