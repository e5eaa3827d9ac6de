package main

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// switchboard is an additional file of the package. It reads the number of the active mutant from a
// file and not from the environment, because programs that a test starts may not inherit it.
const switchboard = `package %s

import (
	"os"
	"strconv"
)

var mutant__ = func() int {
	raw, _ := os.ReadFile(%q)
	n, _ := strconv.Atoi(string(raw))
	return n
}()
`

// edit replaces the bytes from start to end of a file.
type edit struct {
	start, end int
	text       string
}

// applied returns the bytes from start to end after the edits.
func applied(src []byte, start, end int, edits ...edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	for _, e := range edits {
		b.Write(src[start:e.start])
		b.WriteString(e.text)
		start = e.end
	}
	b.Write(src[start:end])
	return b.String()
}

// instrument returns the files of the package with all mutants, and the switchboard. The file
// number selects the active mutant; 0 selects none. So hundreds of mutants need one build.
//
// A function begins with a switch to its copies, each with one change. Variables and constants are
// set before anything else runs. Compiler errors about a mutant name the file "mutantN", where N is
// its number.
func (s *source) instrument(mutants map[int]mutant, number string) map[string][]byte {
	out := map[string][]byte{"mutants__.go": fmt.Appendf(nil, switchboard, s.files[0].Name.Name, number)}
	for _, f := range s.files {
		file := s.fset.Position(f.Package).Filename
		var edits []edit
		var behind strings.Builder
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if cases := s.functions(&behind, d, mutants); cases != "" {
					at := s.offset(d.Body.Lbrace) + 1
					edits = append(edits, edit{at, at, " switch mutant__ { " + cases + "};"})
				}
			case *ast.GenDecl:
				if s.variables(&behind, d, mutants) {
					at := s.offset(d.TokPos)
					edits = append(edits, edit{at, at + len(d.Tok.String()), "var"})
				}
			}
		}
		src := s.text[file]
		out[file] = []byte(applied(src, 0, len(src), edits...) + behind.String())
	}
	return out
}

// functions writes the copies of a function and returns the cases that call them.
func (s *source) functions(to *strings.Builder, d *ast.FuncDecl, mutants map[int]mutant) string {
	cases := ""
	for _, n := range sortedKeys(mutants) {
		if m := mutants[n]; m.decl == d {
			fmt.Fprintf(to, "\n//line mutant%d:1\n%s\n", n, s.renamed(d, d.Name, n, m))
			cases += fmt.Sprintf("case %d: %s; ", n, s.call(d, n))
		}
	}
	return cases
}

// call returns the statement that calls a copy.
func (s *source) call(d *ast.FuncDecl, n int) string {
	call := copyName(d.Name, n)
	if d.Recv != nil {
		call = d.Recv.List[0].Names[0].Name + "." + call
	}
	var args []string
	for _, p := range d.Type.Params.List {
		for _, name := range p.Names {
			arg := name.Name
			if _, variadic := p.Type.(*ast.Ellipsis); variadic {
				arg += "..."
			}
			args = append(args, arg)
		}
	}
	call += "(" + strings.Join(args, ", ") + ")"
	if d.Type.Results == nil {
		return call + "; return"
	}
	return "return " + call
}

// variables writes the copies of variables and constants and reports whether there are any.
func (s *source) variables(to *strings.Builder, d *ast.GenDecl, mutants map[int]mutant) bool {
	any := false
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for _, n := range sortedKeys(mutants) {
			if m := mutants[n]; m.decl == v {
				any = true
				fmt.Fprintf(to, "\n//line mutant%d:1\nvar %s\n\nfunc init() { if mutant__ == %d { %s = %s } }\n",
					n, s.renamed(v, v.Names[0], n, m), n, v.Names[0].Name, copyName(v.Names[0], n))
			}
		}
	}
	return any
}

func copyName(name *ast.Ident, n int) string { return fmt.Sprintf("%s__%d", name.Name, n) }

// renamed returns a declaration with the change and another name.
func (s *source) renamed(d ast.Node, name *ast.Ident, n int, m mutant) string {
	return applied(s.text[m.file], s.offset(d.Pos()), s.offset(d.End()), edit{s.offset(name.Pos()), s.offset(name.End()), copyName(name, n)}, m.edit)
}
