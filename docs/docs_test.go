// Package docs holds pages for people, and tests that hold the pages against
// the code.
package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = ".."

// documents are the sections of output.md that others name.
var documents = []string{"Explanation", "RolloutPlan", "RevisionHistory"}

// fields returns the rows of a document, field to type. What a row takes from
// another document, as "as `Explanation.next`", is put in its place.
func (p *page) fields(t *testing.T, document string) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for _, r := range p.rows(t, document) {
		field := code(t, r["Field"])
		if _, twice := rows[field]; twice {
			t.Errorf("%s: %s has two rows", document, field)
		}
		rows[field] = linked.ReplaceAllString(r["Type"], "")
	}
	for field, is := range rows {
		word, as, _ := strings.Cut(is, ", as ")
		other, path, elsewhere := strings.Cut(strings.Trim(as, "`"), ".")
		if !elsewhere || !slices.Contains(documents, other) {
			continue
		}
		rows[field] = word
		for at, is := range p.fields(t, other) {
			inside, found := strings.CutPrefix(at, path)
			if !found || inside == "" || inside[0] != '.' && inside[0] != '[' {
				continue
			}
			rows[field+inside] = strings.Replace(is, ", as `"+path, ", as `"+field, 1)
		}
	}
	return rows
}

// linked are the sections with the codes of a field, behind its type.
var linked = regexp.MustCompile(` \(\[.*\]\(#.*\)\)`)

// kubernetes is the type of a field that is an object of the Kubernetes API.
var kubernetes = regexp.MustCompile(`^(list of )?(?:apps|core|policy)/v1 [A-Z][A-Za-z]+$`)

// resolve returns the field that has the row of another: itself, unless one
// above it is said to be as a third.
func resolve(rows map[string]string, field string) string {
	for above := field; ; {
		i := strings.LastIndexByte(above, '.')
		if i < 0 {
			return field
		}
		above = strings.TrimSuffix(above[:i], "[]")
		if _, as, found := strings.Cut(rows[above], ", as "); found {
			to, inside := strings.Trim(as, "`"), strings.TrimPrefix(field[len(above):], "[]")
			if strings.HasPrefix(rows[to], "list of ") {
				to += "[]"
			}
			return resolve(rows, to+inside)
		}
	}
}

var backquoted = regexp.MustCompile("`([^`]+)`")

func keysOf(cell string) []string {
	var keys []string
	for _, m := range backquoted.FindAllStringSubmatch(cell, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

// page is one of the pages, by its headings.
type page struct {
	name     string
	sections map[string][]string
}

func readPage(t *testing.T, name string) *page {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{name: name, sections: map[string][]string{}}
	heading := ""
	for _, line := range strings.Split(string(raw), "\n") {
		if title, ok := strings.CutPrefix(line, "#"); ok {
			if heading = strings.TrimSpace(strings.TrimLeft(title, "#")); p.sections[heading] != nil {
				t.Fatalf("%s: two sections are called %q", name, heading)
			}
		}
		p.sections[heading] = append(p.sections[heading], line)
	}
	return p
}

// rows returns the table of a section, each row by the heads of its columns.
func (p *page) rows(t *testing.T, section string) []map[string]string {
	t.Helper()
	var head []string
	var rows []map[string]string
	for _, line := range p.sections[section] {
		line, found := strings.CutPrefix(line, "|")
		if !found {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(line), "|"), " |")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case head == nil:
			head = cells
		case strings.HasPrefix(cells[0], "---"):
		case len(cells) != len(head):
			t.Fatalf("%s: %s: %d cells under %d heads: %q", p.name, section, len(cells), len(head), line)
		default:
			row := map[string]string{}
			for i, h := range head {
				if row[h] = cells[i]; cells[i] == "the same" {
					row[h] = rows[len(rows)-1][h]
				}
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s: no table under %q", p.name, section)
	}
	return rows
}

// codeSections returns the sections with a table of codes.
func (p *page) codeSections() []string {
	var names []string
	for name, lines := range p.sections {
		if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "<!-- codes ") }) {
			names = append(names, name)
		}
	}
	return names
}

// code returns a cell without its backquotes, which it must have.
func code(t *testing.T, cell string) string {
	t.Helper()
	inside := strings.Trim(cell, "`")
	if "`"+inside+"`" != cell {
		t.Fatalf("%q does not stand in backquotes", cell)
	}
	return inside
}

// source is what the tests want to know of the code.
type source struct {
	declared map[string]bool // package.Name, package.Type.Method or Field
	files    map[string]bool // every file of the project, by its path
}

func readSource(t *testing.T) *source {
	t.Helper()
	s := &source{declared: map[string]bool{}, files: map[string]bool{}}
	for _, folder := range []string{"pkg", "internal", "cmd", "test", "docs", "krew", "tools", "."} {
		for _, name := range filesIn(t, folder) {
			s.files[name] = true
			top, _, _ := strings.Cut(name, "/")
			if !strings.HasSuffix(name, ".go") || top != "pkg" && top != "internal" && top != "cmd" {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			s.declare(f)
		}
	}
	return s
}

func filesIn(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	at := filepath.Join(root, folder)
	err := filepath.WalkDir(at, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != at && folder == "." && d.Name() != ".ci" {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, name)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// declare notes what a file declares.
func (s *source) declare(f *ast.File) {
	in := f.Name.Name + "."
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				s.declared[in+d.Name.Name] = true
				continue
			}
			of := d.Recv.List[0].Type
			if p, ok := of.(*ast.StarExpr); ok {
				of = p.X
			}
			s.declared[in+lastName(of)+"."+d.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						s.declared[in+n.Name] = true
					}
				case *ast.TypeSpec:
					s.declared[in+spec.Name.Name] = true
					st, ok := spec.Type.(*ast.StructType)
					if !ok {
						continue
					}
					for _, f := range st.Fields.List {
						for _, n := range f.Names {
							s.declared[in+spec.Name.Name+"."+n.Name] = true
						}
					}
				}
			}
		}
	}
}

// lastName is Facts of daemonset.Facts.
func lastName(e ast.Expr) string {
	name := typeName(e)
	return name[strings.LastIndexByte(name, '.')+1:]
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	case *ast.IndexExpr:
		return typeName(e.X)
	}
	return fmt.Sprintf("%T", e)
}
