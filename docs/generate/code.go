package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// code is what the page is made from: what the packages declare, by the names
// that other packages have for it (explain.Explanation).
type code struct {
	fset   *token.FileSet
	types  map[string]ast.Expr
	said   map[string]string // of a type, its comment
	consts map[string]*constant
	names  []string             // of consts, in the order of declaration
	lists  map[string][]element // variables that are a list of constants
	keys   map[string]string    // keys of facts, to where one is written
}

// constant is a code, or another name for one.
type constant struct {
	typ, value string
	alias      string // of what it is another name
	comment    string
}

// element is a member of a list: the name of its constant, and the comment that
// stands at the element itself.
type element struct{ name, comment string }

// readCode reads all packages below a folder, without their tests.
func readCode(folder string) (*code, error) {
	c := &code{fset: token.NewFileSet(), types: map[string]ast.Expr{}, said: map[string]string{}, consts: map[string]*constant{}, lists: map[string][]element{}, keys: map[string]string{}}
	return c, filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(c.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				c.declare(f, g)
			}
		}
		c.factKeys(f)
		return nil
	})
}

func (c *code) declare(f *ast.File, g *ast.GenDecl) {
	pkg := f.Name.Name + "."
	for _, s := range g.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			c.types[pkg+s.Name.Name] = s.Type
			c.said[pkg+s.Name.Name] = commentOf("", g.Doc, s.Doc)
		case *ast.ValueSpec:
			if len(s.Names) != 1 || len(s.Values) != 1 {
				continue
			}
			name := pkg + s.Names[0].Name
			switch value := s.Values[0].(type) {
			case *ast.CompositeLit:
				if list, ok := value.Type.(*ast.ArrayType); ok && list.Len == nil {
					c.lists[name] = c.elements(f, value)
				}
			case *ast.BasicLit:
				if g.Tok == token.CONST && s.Type != nil && value.Kind == token.STRING {
					text, _ := strconv.Unquote(value.Value)
					c.add(name, &constant{typ: qualified(pkg, s.Type), value: text, comment: commentOf(s.Names[0].Name, s.Doc, s.Comment)})
				}
			case *ast.SelectorExpr, *ast.Ident:
				if g.Tok == token.CONST {
					c.add(name, &constant{alias: qualified(pkg, value), comment: commentOf(s.Names[0].Name, s.Doc, s.Comment)})
				}
			}
		}
	}
}

func (c *code) add(name string, k *constant) {
	c.consts[name] = k
	c.names = append(c.names, name)
}

// elements returns the members of a list. The comment of one stands on the
// lines above it, where it is the first of its line.
func (c *code) elements(f *ast.File, list *ast.CompositeLit) []element {
	line := func(p token.Pos) int { return c.fset.Position(p).Line }
	above := map[int]string{}
	for _, g := range f.Comments {
		if g.Pos() > list.Lbrace && g.End() < list.Rbrace {
			above[line(g.End())+1] = g.Text()
		}
	}
	var out []element
	last := line(list.Lbrace)
	for _, e := range list.Elts {
		one := element{name: qualified(f.Name.Name+".", e)}
		if at := line(e.Pos()); at != last {
			one.comment, last = above[at], at
		}
		out = append(out, one)
	}
	return out
}

// factKeys notes the keys that a file writes into facts.
func (c *code) factKeys(f *ast.File) {
	key := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value)
			c.keys[text] = c.fset.Position(lit.Pos()).String()
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if name := qualified("", n.Type); name == "Facts" || strings.HasSuffix(name, ".Facts") {
				for _, e := range n.Elts {
					key(e.(*ast.KeyValueExpr).Key)
				}
			}
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if i, ok := l.(*ast.IndexExpr); ok && f.Name.Name != "template" {
					key(i.Index)
				}
			}
		}
		return true
	})
}

// commentOf returns what is said of a declaration, above it or behind it,
// without its name in front.
func commentOf(name string, groups ...*ast.CommentGroup) string {
	var text string
	for _, g := range groups {
		text += g.Text()
	}
	return strings.TrimPrefix(text, name+": ")
}

// qualified returns the name of a type or a constant with its package: pkg, as
// "explain.", unless it names another. It is empty of anything else.
func qualified(pkg string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return pkg + e.Name
	case *ast.SelectorExpr:
		return qualified("", e.X) + "." + e.Sel.Name
	}
	return ""
}
