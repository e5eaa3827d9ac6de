package encode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ in, err, why string }{
		{"", "", "text"},
		{"wide", "", "wide"},
		{"jsonpath={.verdict.code}", "", "a template"},
		{"go-template={{.kind}}", "", "another"},
		{"bogus", `-o "bogus" is none of ` + Formats, "no format"},
		{"JSON", `-o "JSON" is none of ` + Formats, "formats are written small, as in kubectl"},
		{"jsonpath={.verdict", "-o jsonpath={.verdict: error parsing jsonpath {.verdict, unclosed action", "a template that is cut off"},
		{"go-template={{", "-o go-template={{: error parsing template {{, template: output:1: unclosed action", "another"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			f, err := Parse(tt.in, Formats)
			got := ""
			if err != nil {
				got = strings.Join(strings.Fields(err.Error()), " ")
			}
			if got != tt.err || f != Format(tt.in) {
				t.Errorf("Parse(%q) = %q, %q; want error %q", tt.in, f, got, tt.err)
			}
		})
	}
	for taken, want := range map[string]string{Formats: `-o "markdown" is none of ` + Formats, PlanFormats: "<nil>"} {
		if _, err := Parse("markdown", taken); fmt.Sprint(err) != want {
			t.Errorf("-o markdown of %s: %v, want %s", taken, err, want)
		}
	}
}

func TestEncode(t *testing.T) {
	type document struct {
		Kind  string   `json:"kind"`
		Words string   `json:"words"`
		Items []string `json:"items"`
	}
	d := document{Kind: "Explanation", Words: "<\x1b[m \u009b \u202e>", Items: []string{}}
	for _, tt := range []struct {
		format Format
		want   string
		why    string
	}{
		{JSON, "{\n    \"kind\": \"Explanation\",\n    \"words\": \"<\\u001b[m \\u009b \\u202e>\",\n    \"items\": []\n}\n", "JSON that no terminal obeys, as kubectl sets it out"},
		{YAML, "items: []\nkind: Explanation\nwords: \"<\\e[m \\u009b \\u202e>\"\n", "YAML by the names of the JSON"},
		{Name, "daemonset.apps/a\ndaemonset.apps/b\\u001b\n", "names to hand on"},
		{"jsonpath={.kind} {.items}", "Explanation []\n", "a template, with a line's end"},
		{"go-template={{.kind}}{{\"\\n\"}}", "Explanation\n", "one line's end is enough"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var b bytes.Buffer
			if err := Write(&b, d, []string{"a", "b\x1b"}, tt.format); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, b.String()); diff != "" {
				t.Errorf("-o %s (-want +got):\n%s", tt.format, diff)
			}
		})
	}
}

// TestYAMLIsReadBack: what goes to a terminal or a file as YAML is what was encoded,
// whatever signs are in it, and nothing in it is left to escape.
func TestYAMLIsReadBack(t *testing.T) {
	signs := []string{"a", "b c", " ", "  ", "\n", "\t", ":", "#", "-", `\`, `"`, "'", "\x01", "\x02", "\x1b", "\u007f", "\u0085", "\u009b", "\u00a0", "\u00ad", "\u200b", "\u2028", "\u202e", "\ufeff", "\ufffd", "\U000e0041", "😀", `\u200b`, `\x01200b`, `\x0100200b`, strings.Repeat("long words ", 12)}
	for seed := range cases.Of(uint64(3000)) {
		r := rand.New(rand.NewPCG(seed, 9))
		text := ""
		for range 1 + r.IntN(8) {
			text += signs[r.IntN(len(signs))]
		}
		var b bytes.Buffer
		if err := Write(&b, map[string]any{"text": text}, nil, YAML); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(b.String(), isControl) {
			t.Fatalf("seed %d: %q was written with what a terminal obeys: %q", seed, text, b.String())
		}
		var got map[string]string
		if err := yaml.Unmarshal(b.Bytes(), &got); err != nil || got["text"] != text {
			t.Fatalf("seed %d: %v: %q was written as\n%s\nand is read as %q", seed, err, text, b.String(), got["text"])
		}
	}
}
