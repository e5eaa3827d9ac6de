package view

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// readers lists the functions that read a fact, with the position of the key and the number of arguments.
var readers = map[string][2]int{
	"text": {0, 1}, "count": {0, 1}, "is": {0, 2}, "age": {0, 1}, "clock": {0, 1}, "plural": {0, 3}, "Yes": {0, 1},
	"Int":  {0, 1},
	"fact": {1, 2}, "number": {1, 2}, "namesIn": {1, 2},
}

// TestFactKeys checks that sentences read only facts that exist. A misspelled key would leave words out of a sentence.
func TestFactKeys(t *testing.T) {
	sample := sampleFacts()
	files := token.NewFileSet()
	var sources []string
	for _, pattern := range []string{"*.go", "*/*.go"} {
		found, err := filepath.Glob(pattern)
		check(t, err)
		sources = append(sources, found...)
	}
	keys := 0
	for _, file := range sources {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := parser.ParseFile(files, file, nil, 0)
		check(t, err)
		ast.Inspect(source, func(n ast.Node) bool {
			if key, at := readKey(n); key != "" {
				keys++
				if _, exists := sample[key]; !exists {
					t.Errorf("%s: %q is not a fact", files.Position(at), key)
				}
			}
			return true
		})
	}
	if keys < 50 {
		t.Errorf("found only %d keys", keys)
	}
}

// readKey returns the key in a call that reads a fact. It returns "" if the key is not a literal.
func readKey(n ast.Node) (string, token.Pos) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return "", 0
	}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); !ok || x.Name != "screen" {
			name = f.Sel.Name
		}
	}
	if name == "" {
		return "", 0
	}
	is, reads := readers[name]
	if !reads { // an exported function
		is, reads = readers[strings.ToLower(name[:1])+name[1:]]
	}
	if !reads || len(call.Args) != is[1] {
		return "", 0
	}
	if key, ok := call.Args[is[0]].(*ast.BasicLit); ok && key.Kind == token.STRING {
		return strings.Trim(key.Value, `"`), key.Pos()
	}
	return "", 0
}

func TestKnown(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f := wording.Known{Facts: daemonset.Facts{"name": "a\x1b", "pods": []string{"x", "y"}, "seconds": 840,
		"at": "2026-03-01T11:46:00Z", "span": "90s", "none": ""}, Now: now}
	var got []string
	for _, key := range []string{"name", "pods", "seconds", "at", "span", "none", "absent"} {
		got = append(got, strings.Join([]string{f.Text(key), strconv.Itoa(f.Count(key)), f.Age(key),
			f.Clock(key)}, "|"))
	}
	want := []string{
		`a\u001b|0|0s|`, "x, y|2|2s|", "840|840|14m|", "2026-03-01T11:46:00Z|0|14m|11:46:00Z", "90s|0|1m30s|",
		"|0||", "|0||",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, tt := range []struct {
		parts []string
		want  string
	}{{nil, ""}, {[]string{"a ", "b"}, "a b"}, {[]string{"a ", "", "b"}, ""}} {
		if got := wording.Phrase(tt.parts...); got != tt.want {
			t.Errorf("phrase(%q) = %q, want %q", tt.parts, got, tt.want)
		}
	}
}
