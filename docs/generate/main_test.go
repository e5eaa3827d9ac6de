package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPage: docs/output.md is what go generate makes of the code.
func TestPage(t *testing.T) {
	raw, err := os.ReadFile("../output.md")
	if err != nil {
		t.Fatal(err)
	}
	c, err := readCode("../../pkg")
	if err != nil {
		t.Fatal(err)
	}
	got, err := generate(c, string(raw))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(raw), got); diff != "" {
		t.Errorf("run go generate ./... (-page +code):\n%s", diff)
	}
}

// TestGenerate: what becomes of a package and a page. Each row says why.
func TestRules(t *testing.T) {
	raw, err := os.ReadFile("../manifests.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(raw), withRules(string(raw))); diff != "" {
		t.Errorf("run go generate ./... (-page +code):\n%s", diff)
	}
}

func TestGenerate(t *testing.T) {
	const facts = "\n<!-- facts daemonset.FactKeys -->\n<!-- end -->"
	for _, tt := range []struct {
		why        string
		code, page string
		want       []string // lines of the page
		err        string
	}{
		{
			why:  "a field has its comment, from above or from behind, and nil is null in JSON",
			code: "type D struct {\n\t// how\n\t// many\n\tN int `json:\"n\"`\n\tS *string `json:\"s\"` // what; nil where none\n\tL []string `json:\"l\"` // which\n}",
			page: "# D\n<!-- fields daemonset.D -->\nold\n<!-- end -->",
			want: []string{"| `n` | integer | how many |", "| `s` | string or null | what; null where none |", "| `l` | list of strings | which |"},
		},
		{
			why:  "the fields of a struct stand below it once, those of an embedded one in its place",
			code: "type D struct {\n\tE `json:\",inline\"`\n\tA E `json:\"a\"` // first\n\tB []E `json:\"b\"` // second\n}\ntype E struct {\n\tX bool `json:\"x\"` // whether\n}",
			page: "# D\n<!-- fields daemonset.D -->\n<!-- end -->",
			want: []string{"| `x` | boolean | whether |", "| `a` | object | first |", "| `a.x` | boolean | whether |", "| `b` | list of objects, as `a` | second |"},
		},
		{
			why:  "codes stand in the order of their list, and a comment there goes before the constant's",
			code: "type C string\nconst (\n\tOne C = \"1\" // one\n\t// Two: two\n\t// Facts: a, b\n\tTwo C = \"2\"\n)\nvar Cs = []C{\n\tTwo,\n\t// uno\n\tOne,\n}\ntype FactKeys struct {\n\tA int `json:\"a\"` // a\n\tB int `json:\"b\"` // b\n}",
			page: "# Cs\n<!-- codes daemonset.Cs -->\n<!-- end -->" + facts,
			want: []string{"| Code | Meaning | Facts |", "| `2` | two | `a`, `b` |", "| `1` | uno | |", "| `a` | integer | a |"},
		},
		{
			why:  "a field of codes names their section",
			code: "type C string\nconst One C = \"1\" // one\ntype D struct {\n\tC C `json:\"c\"` // which\n}",
			page: "# D\n<!-- fields daemonset.D -->\n<!-- end -->\n# Some codes\n<!-- codes daemonset.C -->\n<!-- end -->",
			want: []string{"| `c` | code ([some codes](#some-codes)) | which |"},
		},
		{
			why:  "a field without a comment is an error",
			code: "type D struct {\n\tN int `json:\"n\"`\n}", page: "# D\n<!-- fields daemonset.D -->\n<!-- end -->",
			err: "no comment says what n is",
		},
		{
			why:  "so is one that can be null and does not say when",
			code: "type D struct {\n\tN *int `json:\"n\"` // how many\n}", page: "# D\n<!-- fields daemonset.D -->\n<!-- end -->",
			err: "n does not say when it is null",
		},
		{
			why:  "or can be absent",
			code: "type D struct {\n\tN int `json:\"n,omitempty\"` // how many\n}", page: "# D\n<!-- fields daemonset.D -->\n<!-- end -->",
			err: "n does not say when it is absent",
		},
		{
			why:  "and a code without a comment",
			code: "type C string\nconst One C = \"1\"", page: "# C\n<!-- codes daemonset.C -->\n<!-- end -->",
			err: "no comment says what daemonset.One means",
		},
		{
			why:  "a code that its list lacks is in no table",
			code: "type C string\nconst One C = \"1\" // one\nconst Two C = \"2\" // two\nvar Cs = []C{One}", page: "# C\n<!-- codes daemonset.Cs -->\n<!-- end -->",
			err: "daemonset.C daemonset.Two stands in no table",
		},
		{
			why:  "a field whose codes no table has",
			code: "type C string\nconst One C = \"1\" // one\ntype D struct {\n\tC C `json:\"c\"` // which\n}", page: "# D\n<!-- fields daemonset.D -->\n<!-- end -->",
			err: "no table lists the codes of daemonset.C",
		},
		{
			why:  "facts that the code writes and nobody describes",
			code: "type Facts map[string]any\nvar F = Facts{\"a\": 1}", page: "# D",
			err: `nothing describes the facts "a"`,
		},
		{
			why:  "facts that are described and no code has",
			code: "type FactKeys struct {\n\tA int `json:\"a\"` // a\n}", page: "# Keys" + facts,
			err: `no code has the facts "a"`,
		},
		{
			why:  "a block without an end would swallow the page",
			code: "type D struct{}", page: "# D\n<!-- fields daemonset.D -->\ntext",
			err: "has no end",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "d.go"), []byte("package daemonset\n\n"+tt.code+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			c, err := readCode(folder)
			if err != nil {
				t.Fatal(err)
			}
			got, err := generate(c, tt.page)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(got, "\n")
			for _, want := range tt.want {
				if at := slices.Index(lines, want); at < 0 {
					t.Errorf("no line, or not after the one before: %s\n%s", want, got)
				} else {
					lines = lines[at+1:]
				}
			}
			again, err := generate(c, got)
			if err != nil || again != got {
				t.Errorf("not the same again (%v):\n%s", err, cmp.Diff(got, again))
			}
		})
	}
}
