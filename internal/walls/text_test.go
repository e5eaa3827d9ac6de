package walls

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// searchedText lists the functions of the rendering packages that search or split a text, with the
// kind of text. Text that the program itself produces must not be parsed again.
var searchedText = map[string]string{
	"screen/clean.go Clean strings.Fields":                  "words of the cluster, made one line",
	"screen/clean.go EscapeFunc strings.ContainsFunc":       "words of the cluster, made safe",
	"screen/command.go Quote regexp plainWord":              "a value, quoted for a shell",
	"screen/command.go Quote strings.ReplaceAll":            "a value, quoted for a shell",
	"screen/markdown.go fence strings.Contains":             "words of the cluster, between fences longer than any in them",
	"screen/markdown.go Mark regexp emoji":                  "words of the cluster, made safe in Markdown",
	"screen/markdown.go paragraph regexp blockMark":         "words of the cluster, made safe in Markdown",
	"screen/markdown.go Mark strings.NewReplacer":           "words of the cluster, made safe in Markdown",
	"screen/markdown.go special strings.NewReplacer":        "words of the cluster, made safe in Markdown",
	"screen/markdown.go Markdown strings.TrimRight":         "the blank lines at the end",
	"screen/markdown.go block strings.TrimRight":            "the blank behind a label",
	"screen/text.go Codes strings.Cut":                      "what the library of colors writes",
	"screen/command.go words strings.ContainsAny":           "a flag and its value, where a shell may break them",
	"screen/command.go words strings.Fields":                "a flag and its value, where a shell may break them",
	"screen/text.go trimmed strings.TrimRight":              "the blanks at the end of a line",
	"screen/words.go fold strings.TrimSuffix":               "the comma behind the last name that is shown",
	"screen/words.go words strings.Fields":                  "a paragraph, broken into lines",
	"screen/words.go parts strings.HasPrefix":               "a paragraph, broken into lines",
	"difftext/apart.go isSeen strings.Contains":             "a value of a template, of which a reader is to see all",
	"difftext/apart.go isSeen strings.ContainsFunc":         "a value of a template, of which a reader is to see all",
	"difftext/apart.go twoTexts strings.Split":              "a value of a template, shortened",
	"view/historydiff.go linesIn strings.Split":             "a document, compared line by line",
	"view/historydiff.go linesIn strings.TrimSuffix":        "a document, compared line by line",
	"nodenames/nodenames.go numbered strings.TrimRight":     "the name of a node, with the number at its end",
	"nodenames/nodenames.go CompareNames strings.TrimLeft":  "the name of a node, sorted by the numbers in it",
	"nodenames/nodenames.go digits strings.TrimLeft":        "the name of a node, sorted by the numbers in it",
	"nodenames/nodenames.go lastPart strings.LastIndexAny":  "the name of a node, with the end that tells it apart",
	"nodenames/nodenames.go shortened strings.IndexByte":    "the names of nodes, and what they have in common",
	"nodenames/nodenames.go shortened strings.LastIndexAny": "the names of nodes, and what they have in common",
	"nodenames/nodenames.go shortened strings.TrimPrefix":   "the names of nodes, and what they have in common",
	"nodenames/nodenames.go shortened strings.TrimSuffix":   "the names of nodes, and what they have in common",
	"wording/messages.go Refusal regexp anyDetail":          "a message of the API server, shortened",
	"wording/messages.go Refusal regexp podInQuestion":      "a message of the API server, shortened",
	"wording/messages.go Refusal regexp webhookURL":         "a message of the API server, shortened",
	"wording/messages.go Refusal regexp whatToSet":          "a message of the API server, shortened",
	"wording/messages.go Refusal strings.Contains":          "a message of the API server, shortened",
	"wording/messages.go Refusal strings.TrimPrefix":        "a message of the API server, shortened",
	"wording/messages.go Brief regexp wrappers":             "a message of the kubelet, shortened",
	"wording/messages.go shorten strings.IndexByte":         "a message of the cluster, shortened",
	"wording/messages.go shorten strings.LastIndexByte":     "a message of the cluster, shortened",
}

// TestNoTextIsTakenApart checks that searchedText lists all searches in the rendering packages and
// no others.
func TestNoTextIsTakenApart(t *testing.T) {
	found := map[string]bool{}
	parts, err := filepath.Glob(filepath.Join(root, "internal/view/*/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]bool{"screen": true, "view": true}
	for _, part := range parts {
		dirs["view/"+filepath.Base(filepath.Dir(part))] = true
	}
	for dir := range dirs {
		files, err := filepath.Glob(filepath.Join(root, "internal", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		sources := map[string]string{}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(f, "_test.go") {
				sources[filepath.Base(dir)+"/"+filepath.Base(f)] = string(raw)
			}
		}
		if len(sources) == 0 {
			t.Fatalf("internal/%s has no source", dir)
		}
		for _, at := range searches(t, sources) {
			found[at] = true
		}
	}
	for _, at := range slices.Sorted(maps.Keys(found)) {
		if searchedText[at] == "" {
			t.Errorf("%s: text is searched or taken apart; take the value that it was made of, or list the place with whose text it is", at)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(searchedText)) {
		if !found[at] {
			t.Errorf("%s: is listed, and no longer there", at)
		}
	}
}

// TestSearchesAreFound checks searches on a source with one search of each kind and with code that
// is none.
func TestSearchesAreFound(t *testing.T) {
	const source = `package p
import (
	"bytes"
	"regexp"
	text "strings"
	"unicode"
)
var pattern = regexp.MustCompile("a")
var replacer = text.NewReplacer("a", "b")
func (s *T) method(b []byte) {
	_ = func() bool { return text.Contains("a", "b") }
	if bytes.HasPrefix(b, b) && pattern.Match(b) {
	}
	use := text.Cut
	_, _, _ = text.Join(nil, ""), text.Repeat("a", 2), unicode.IsDigit('a')
	var out text.Builder
	replacer.Replace(out.String())
}
func strings(strings other) { strings.Split() }
var later = func() { text.Split("a", "b") }
`
	want := []string{
		"p/p.go later strings.Split", "p/p.go method bytes.HasPrefix", "p/p.go method regexp pattern", "p/p.go method strings.Contains", "p/p.go method strings.Cut", "p/p.go replacer strings.NewReplacer",
	}
	if got := searches(t, map[string]string{"p/p.go": source}); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// writing lists the functions of strings and bytes that do not search.
var writing = []string{"Join", "Repeat", "Builder", "Buffer", "NewReader", "ToUpper", "ToLower", "Compare", "Clone", "Equal"}

// searches returns, as "file function what", where the sources of one package use a regular
// expression or a function of strings or bytes that searches.
func searches(t *testing.T, sources map[string]string) []string {
	t.Helper()
	var found []string
	files, patterns := map[string]*ast.File{}, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		f, err := parser.ParseFile(token.NewFileSet(), name, sources[name], 0)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = f
		ast.Inspect(f, func(n ast.Node) bool { // variables that contain a regular expression
			v, ok := n.(*ast.ValueSpec)
			if ok && slices.ContainsFunc(v.Values, func(e ast.Expr) bool { return uses(f, e, "regexp") != "" }) {
				for _, id := range v.Names {
					patterns[id.Name] = true
				}
			}
			return true
		})
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		look := func(within string, in ast.Node) {
			ast.Inspect(in, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if what := searchesIn(f, n); what != "" {
						found = append(found, name+" "+within+" "+what)
					} else if of := uses(f, n, "regexp"); of != "" && of != "Regexp" && !patterns[within] {
						found = append(found, name+" "+within+" regexp regexp."+of)
					}
				case *ast.Ident:
					if patterns[n.Name] && n.Name != within {
						found = append(found, name+" "+within+" regexp "+n.Name)
					}
				}
				return true
			})
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				look(d.Name.Name, d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						look(v.Names[0].Name, v)
					}
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// searchesIn returns the searching function of strings or bytes at the start of an expression, such
// as strings.Cut, or "".
func searchesIn(f *ast.File, e ast.Expr) string {
	for _, pkg := range []string{"strings", "bytes"} {
		if of := uses(f, e, pkg); of != "" && !slices.Contains(writing, of) {
			return pkg + "." + of
		}
	}
	return ""
}

// uses returns the name from package pkg at the start of an expression, or "".
func uses(f *ast.File, e ast.Expr, pkg string) string {
	if call, ok := e.(*ast.CallExpr); ok {
		e = call.Fun
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok || id.Obj != nil {
		return ""
	}
	for _, i := range f.Imports {
		name := pkg
		if i.Name != nil {
			name = i.Name.Name
		}
		if i.Path.Value == `"`+pkg+`"` && id.Name == name {
			return sel.Sel.Name
		}
	}
	return ""
}
