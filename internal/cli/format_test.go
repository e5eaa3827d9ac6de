package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFormatOf(t *testing.T) {
	for _, tt := range []struct{ in, err, why string }{
		{"", "", "text"},
		{"wide", "", "wide"},
		{"markdown", "", "a comment"},
		{"jsonpath={.verdict.code}", "", "a template"},
		{"go-template={{.kind}}", "", "another"},
		{"bogus", `-o "bogus" is none of ` + formats, "no format"},
		{"JSON", `-o "JSON" is none of ` + formats, "formats are written small, as in kubectl"},
		{"jsonpath={.verdict", "-o jsonpath={.verdict: error parsing jsonpath {.verdict, unclosed action", "a template that is cut off"},
		{"go-template={{", "-o go-template={{: error parsing template {{, template: output:1: unclosed action", "another"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			f, err := formatOf(tt.in)
			got := ""
			if err != nil {
				got = strings.Join(strings.Fields(err.Error()), " ")
			}
			if got != tt.err || f != format(tt.in) {
				t.Errorf("formatOf(%q) = %q, %q; want error %q", tt.in, f, got, tt.err)
			}
		})
	}
}

func TestFormatWrites(t *testing.T) {
	type document struct {
		Kind  string   `json:"kind"`
		Words string   `json:"words"`
		Items []string `json:"items"`
	}
	d := document{Kind: "Explanation", Words: "<\x1b[m \u009b \u202e>", Items: []string{}}
	for _, tt := range []struct {
		format format
		want   string
		why    string
	}{
		{inJSON, "{\n    \"kind\": \"Explanation\",\n    \"words\": \"<\\u001b[m \\u009b \\u202e>\",\n    \"items\": []\n}\n", "JSON that no terminal obeys, as kubectl sets it out"},
		{inYAML, "items: []\nkind: Explanation\nwords: \"<\\e[m \\u009b \\u202e>\"\n", "YAML by the names of the JSON"},
		{asNames, "daemonset.apps/a\ndaemonset.apps/b\\u001b\n", "names to hand on"},
		{"jsonpath={.kind} {.items}", "Explanation []\n", "a template, with a line's end"},
		{"go-template={{.kind}}{{\"\\n\"}}", "Explanation\n", "one line's end is enough"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var b bytes.Buffer
			if err := tt.format.write(&b, d, []string{"a", "b\x1b"}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, b.String()); diff != "" {
				t.Errorf("-o %s (-want +got):\n%s", tt.format, diff)
			}
		})
	}
}
