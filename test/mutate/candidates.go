package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// kind is the kind of a change.
type kind string

const (
	comparison kind = "comparison" // negated, or with a shifted boundary
	logic      kind = "logic"      // && replaced by ||, or one side removed
	boolean    kind = "boolean"    // negated
	sortKey    kind = "sort key"   // reversed, removed, or moved behind the next one
	rounding   kind = "rounding"   // up or down
	arithmetic kind = "arithmetic" // another operator
	number     kind = "number"     // increased or decreased by one
	limit      kind = "min, max"   // exchanged
	branch     kind = "branch"     // a case, a continue or a return removed
	ofProfile  kind = "profile"    // a use of a field negated, or its version changed
)

// mutant is a change at one place.
type mutant struct {
	file     string
	line     int
	function string // or type, variable or constant; Type.Method
	kind     kind
	field    string // field of Profile that it is about, if any
	from, to string // the smallest expression or statement around the change, before and after
	edit
	decl ast.Node // the *ast.FuncDecl or *ast.ValueSpec that contains it
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d %s: %s -> %s", m.file, m.line, m.kind, short(m.from), short(m.to))
}

const most = 80 // characters of code on a line of the report

// short returns code on one line, shortened if it is long.
func short(code string) string {
	words := []rune(strings.Join(strings.Fields(code), " "))
	if len(words) > most {
		return string(words[:most-1]) + "…"
	}
	return string(words)
}

// source holds the non-test files of one package.
type source struct {
	fset    *token.FileSet
	text    map[string][]byte
	files   []*ast.File // sorted by name
	info    *types.Info
	fields  map[types.Object]string // names of the fields of Profile
	profile []string                // the names in the order of the struct
}

// parse parses the files of a package. It does not follow imports, so types of other packages are
// unknown.
func parse(text map[string][]byte) (*source, error) {
	s := &source{fset: token.NewFileSet(), text: text, fields: map[types.Object]string{}, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	for _, name := range sortedKeys(text) {
		f, err := parser.ParseFile(s.fset, name, text[name], parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read the package: %w", err)
		}
		s.files = append(s.files, f)
	}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := conf.Check("mutated", s.fset, s.files, s.info) // what it cannot know without imports is no error of ours
	if p, ok := pkg.Scope().Lookup("Profile").(*types.TypeName); ok {
		if t, ok := p.Type().Underlying().(*types.Struct); ok {
			for f := range t.Fields() {
				s.fields[f] = f.Name()
				s.profile = append(s.profile, f.Name())
			}
		}
	}
	return s, nil
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) {
	return nil, errors.New("imports are not followed")
}

// behaves reports whether a file contains anything that can be changed.
func behaves(f *ast.File) bool {
	return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		fn, ok := d.(*ast.FuncDecl)
		return ok && fn.Body != nil
	})
}

// candidates returns all known changes, by file from top to bottom. Some do not compile.
//
// It does not change texts, capacities of make, bases and sizes of conversions, and operands of
// shifts, which decide nothing.
func (s *source) candidates() []mutant {
	var all []mutant
	for _, f := range s.files {
		fd := &finder{source: s, file: s.fset.Position(f.Package).Filename}
		for _, d := range f.Decls {
			fd.decl(d)
		}
		all = append(all, fd.found...)
	}
	return all
}

// finder lists the candidates of a file.
type finder struct {
	*source
	file     string
	function string
	inside   ast.Node   // the declaration named by function
	above    []ast.Node // ancestors of the current node, outermost first
	found    []mutant
}

func (f *finder) decl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		f.function = d.Name.Name
		if d.Recv != nil {
			f.function = strings.TrimPrefix(f.code(d.Recv.List[0].Type), "*") + "." + f.function
		}
		f.inside = d
		f.walk(d)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				f.function, f.inside = v.Names[0].Name, v
				f.walk(v)
			}
		}
	}
}

func (f *finder) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			f.above = f.above[:len(f.above)-1]
			return false
		}
		f.node(n)
		f.above = append(f.above, n)
		return true
	})
}

func (f *finder) node(n ast.Node) {
	if e, ok := n.(ast.Expr); ok {
		f.atom(e)
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.UnaryExpr:
		f.unary(n)
	case *ast.BasicLit:
		f.literal(n)
	case *ast.IncDecStmt:
		f.operator(arithmetic, n, n.TokPos, n.Tok, map[token.Token][]token.Token{token.INC: {token.DEC}, token.DEC: {token.INC}}[n.Tok]...)
	case *ast.AssignStmt:
		f.operator(arithmetic, n, n.TokPos, n.Tok, map[token.Token][]token.Token{token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN}}[n.Tok]...)
	case *ast.CallExpr:
		f.call(n)
	case *ast.ExprStmt:
		if c, ok := n.X.(*ast.CallExpr); ok && sorts(f.code(c.Fun)) {
			f.add(sortKey, n, n.Pos(), n.End(), "")
		}
	case *ast.BlockStmt:
		if s, ok := f.parent().(*ast.SwitchStmt); ok {
			f.cases(s)
		}
	case *ast.BranchStmt:
		if n.Tok == token.CONTINUE {
			f.add(branch, n, n.Pos(), n.End(), "")
		}
	case *ast.ReturnStmt:
		if len(n.Results) == 0 {
			f.add(branch, n, n.Pos(), n.End(), "")
		}
	}
}

// add adds the replacement of start to end, which is within n.
func (f *finder) add(k kind, n ast.Node, start, end token.Pos, text string) {
	first, last := f.offset(start), f.offset(end)
	around := f.around(n)
	begin, stop := f.offset(around.Pos()), f.offset(around.End())
	src := f.text[f.file]
	m := mutant{
		file: f.file, line: f.fset.Position(start).Line, function: f.function, kind: k, field: f.fieldOf(n),
		from: string(src[begin:stop]), to: string(src[begin:first]) + text + string(src[last:stop]),
		edit: edit{first, last, text}, decl: f.inside,
	}
	if m.to == "" {
		m.to = "(left out)"
	}
	if m.field != "" {
		m.kind = ofProfile
	}
	f.found = append(f.found, m)
}

// around returns the largest node around n that fits on a line, up to its statement.
func (f *finder) around(n ast.Node) ast.Node {
	for _, a := range slices.Backward(f.above) {
		switch a.(type) {
		case ast.Expr, *ast.ReturnStmt, *ast.AssignStmt, *ast.ExprStmt, *ast.ValueSpec:
			if code := f.code(a); len(code) > most || strings.Contains(code, "\n") {
				return n
			}
			n = a
		default:
			return n
		}
	}
	return n
}

func (f *finder) replace(k kind, n ast.Node, text string) { f.add(k, n, n.Pos(), n.End(), text) }

func (s *source) offset(p token.Pos) int { return s.fset.Position(p).Offset }

func (s *source) code(n ast.Node) string {
	return string(s.text[s.fset.Position(n.Pos()).Filename][s.offset(n.Pos()):s.offset(n.End())])
}

func (f *finder) parent() ast.Node {
	if len(f.above) == 0 {
		return nil
	}
	return f.above[len(f.above)-1]
}

// fieldOf returns the field of Profile that a node is about: it reads the field, or is in its value
// or table row.
func (f *finder) fieldOf(n ast.Node) string {
	if name := f.reads(n); name != "" {
		return name
	}
	for _, a := range slices.Backward(f.above) {
		switch a := a.(type) {
		case *ast.KeyValueExpr:
			if key, ok := a.Key.(*ast.Ident); ok && f.fields[f.info.Uses[key]] != "" {
				return f.fields[f.info.Uses[key]]
			}
		case *ast.CompositeLit:
			if name := f.row(a); name != "" {
				return name
			}
		}
	}
	return ""
}

// reads returns the field of Profile that an expression reads, possibly negated.
func (f *finder) reads(n ast.Node) string {
	if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.NOT {
		n = u.X
	}
	if s, ok := n.(*ast.SelectorExpr); ok && f.info.Selections[s] != nil {
		return f.fields[f.info.Selections[s].Obj()]
	}
	return ""
}

// row returns the field of Profile whose address an element of a literal returns, if there is
// exactly one.
func (f *finder) row(lit *ast.CompositeLit) string {
	names := map[string]bool{}
	for _, e := range lit.Elts {
		if fn, ok := e.(*ast.FuncLit); ok {
			ast.Inspect(fn, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && f.reads(s) != "" {
					names[f.reads(s)] = true
				}
				return true
			})
		}
	}
	if len(names) != 1 {
		return ""
	}
	return sortedKeys(names)[0]
}

// operator replaces an operator by others.
func (f *finder) operator(k kind, around ast.Node, at token.Pos, is token.Token, by ...token.Token) {
	for _, other := range by {
		f.add(k, around, at, at+token.Pos(len(is.String())), other.String())
	}
}

func (f *finder) binary(n *ast.BinaryExpr) {
	switch n.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		f.operator(comparison, n, n.OpPos, n.Op, map[token.Token][]token.Token{
			token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
			token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
			token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
		}[n.Op]...)
	case token.LAND, token.LOR:
		f.operator(logic, n, n.OpPos, n.Op, map[token.Token]token.Token{token.LAND: token.LOR, token.LOR: token.LAND}[n.Op])
		if p, ok := f.parent().(*ast.BinaryExpr); !ok || p.Op != n.Op {
			f.sides(n)
		}
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM:
		if !hasText(n) {
			f.operator(arithmetic, n, n.OpPos, n.Op, map[token.Token]token.Token{
				token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.QUO,
			}[n.Op])
		}
	}
}

// sides removes each side of a && b && c.
func (f *finder) sides(n *ast.BinaryExpr) {
	var all []ast.Expr
	var flatten func(ast.Expr)
	flatten = func(e ast.Expr) {
		if b, ok := e.(*ast.BinaryExpr); ok && b.Op == n.Op {
			flatten(b.X)
			flatten(b.Y)
			return
		}
		all = append(all, e)
	}
	flatten(n)
	for i := range all {
		rest := slices.Delete(slices.Clone(all), i, i+1)
		f.replace(logic, n, f.join(rest, " "+n.Op.String()+" "))
	}
}

// hasText reports whether a sum consists of strings.
func hasText(n *ast.BinaryExpr) bool {
	for _, e := range []ast.Expr{n.X, n.Y} {
		if b, ok := e.(*ast.BinaryExpr); ok && hasText(b) {
			return true
		}
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
			return true
		}
	}
	return false
}

func (f *finder) unary(n *ast.UnaryExpr) {
	if n.Op == token.NOT {
		f.replace(boolean, n, f.code(n.X))
	}
	if l, ok := n.X.(*ast.BasicLit); ok && n.Op == token.SUB {
		f.shift(n, "-"+l.Value)
	}
}

// literal changes a number by one.
func (f *finder) literal(n *ast.BasicLit) {
	if u, ok := f.parent().(*ast.UnaryExpr); ok && u.Op == token.SUB {
		return
	}
	if n.Kind == token.INT {
		f.shift(n, n.Value)
	}
}

// shift changes a number by one, but not to a negative one, because negative numbers mean none
// here. In a comparison function it reverses the sign.
func (f *finder) shift(n ast.Node, value string) {
	for _, a := range f.above {
		switch a := a.(type) {
		case *ast.CallExpr:
			if fun := f.code(a.Fun); fun == "make" || strings.HasPrefix(fun, "strconv.") && n.Pos() > a.Args[0].End() {
				return
			}
		case *ast.BinaryExpr:
			if a.Op == token.SHL || a.Op == token.SHR {
				return
			}
		}
	}
	v, err := strconv.Atoi(value)
	if err != nil {
		return
	}
	if f.ordering() {
		f.replace(sortKey, n, strconv.Itoa(-v))
		return
	}
	f.replace(number, n, strconv.Itoa(v+1))
	if v > 0 {
		f.replace(number, n, strconv.Itoa(v-1))
	}
}

// ordering reports whether a comparison function of a sort returns here.
func (f *finder) ordering() bool {
	if _, ok := f.parent().(*ast.ReturnStmt); !ok {
		return false
	}
	for i, a := range f.above {
		if _, ok := a.(*ast.FuncLit); ok {
			c, ok := f.above[i-1].(*ast.CallExpr)
			return ok && sorts(f.code(c.Fun))
		}
	}
	return false
}

// atom negates a boolean that is not a comparison and contains no && or ||, or empties a text of
// Profile.
func (f *finder) atom(e ast.Expr) {
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.CallExpr, *ast.IndexExpr:
	default:
		return
	}
	switch known := f.isValue(e); {
	case !known:
	case f.isType(e, types.IsString) && f.reads(e) != "":
		f.replace(ofProfile, e, `""`)
	case !f.isType(e, types.IsBoolean) && !f.isCondition(e):
	case f.code(e) == "true" || f.code(e) == "false":
		k := boolean
		if c, ok := f.parent().(*ast.CallExpr); ok && strings.HasSuffix(f.code(c.Fun), ".GetScaledValueFromIntOrPercent") {
			k = rounding
		}
		f.replace(k, e, strconv.FormatBool(f.code(e) == "false"))
	default:
		f.replace(boolean, e, "!"+f.code(e))
	}
}

// isValue reports whether the value of an expression is used at its place and not already negated.
func (f *finder) isValue(e ast.Expr) bool {
	switch p := f.parent().(type) {
	case *ast.CallExpr:
		return slices.Contains(p.Args, e)
	case *ast.AssignStmt:
		return slices.Contains(p.Rhs, e) && len(p.Rhs) == len(p.Lhs)
	case *ast.KeyValueExpr:
		return p.Value == e
	case *ast.BinaryExpr:
		return p.Op == token.LAND || p.Op == token.LOR
	case *ast.ReturnStmt, *ast.IfStmt, *ast.CaseClause, *ast.CompositeLit, *ast.ParenExpr, *ast.ValueSpec:
		return true
	}
	return false
}

func (f *finder) isType(e ast.Expr, is types.BasicInfo) bool {
	t := f.info.Types[e]
	if t.Type == nil || !t.IsValue() {
		return false
	}
	b, ok := t.Type.Underlying().(*types.Basic)
	return ok && b.Info()&is != 0
}

// isCondition reports whether an expression is at a place that requires a boolean.
func (f *finder) isCondition(e ast.Expr) bool {
	switch p := f.parent().(type) {
	case *ast.IfStmt:
		return p.Cond == e
	case *ast.BinaryExpr:
		return p.Op == token.LAND || p.Op == token.LOR
	case *ast.CaseClause:
		s, ok := f.above[len(f.above)-3].(*ast.SwitchStmt)
		return ok && s.Tag == nil
	}
	return false
}

// cases removes each case of a switch, and each of several expressions of a case. An empty case
// that nothing can follow is skipped.
func (f *finder) cases(s *ast.SwitchStmt) {
	otherwise := slices.ContainsFunc(s.Body.List, func(c ast.Stmt) bool { return c.(*ast.CaseClause).List == nil })
	for i, stmt := range s.Body.List {
		c := stmt.(*ast.CaseClause)
		last := i == len(s.Body.List)-1
		if len(c.Body) == 0 && !otherwise && (s.Tag != nil || last) {
			continue
		}
		f.replace(branch, c, "")
		for j := range c.List {
			if len(c.List) > 1 {
				rest := slices.Delete(slices.Clone(c.List), j, j+1)
				f.add(branch, c, c.List[0].Pos(), c.List[len(c.List)-1].End(), f.join(rest, ", "))
			}
		}
	}
}

func (f *finder) join(es []ast.Expr, by string) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = f.code(e)
	}
	return strings.Join(parts, by)
}

// sorts reports whether a function with this name sorts its argument.
func sorts(name string) bool {
	return strings.HasPrefix(name, "slices.Sort") || strings.HasPrefix(name, "sort")
}

func (f *finder) call(n *ast.CallExpr) {
	fun := f.code(n.Fun)
	for one, other := range map[string]string{"min": "max", "slices.Min": "slices.Max"} {
		switch fun {
		case one:
			f.add(limit, n, n.Fun.Pos(), n.Fun.End(), other)
		case other:
			f.add(limit, n, n.Fun.Pos(), n.Fun.End(), one)
		}
	}
	switch {
	case fun == "slices.Sorted":
		f.add(sortKey, n, n.Fun.Pos(), n.Fun.End(), "slices.Collect")
	case fun == "slices.Backward":
		f.add(sortKey, n, n.Fun.Pos(), n.Fun.End(), "slices.All")
	case fun == "cmp.Or":
		f.keys(n)
	case len(n.Args) == 2 && (fun == "strings.Compare" || fun == "cmp.Compare" || f.compares(n.Fun) != ""):
		f.add(sortKey, n, n.Args[0].Pos(), n.Args[1].End(), f.code(n.Args[1])+", "+f.code(n.Args[0]))
	case len(n.Args) == 1:
		if s, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Compare", "Before", "After"}, s.Sel.Name) {
			f.swapReceiver(n, s)
		}
	}
	for _, a := range n.Args {
		if of := f.compares(a); of != "" {
			f.replace(sortKey, a, fmt.Sprintf("func(a, b %s) int { return %s(b, a) }", of, f.code(a)))
		}
	}
}

// keys removes each of several sort keys and moves each behind the next.
func (f *finder) keys(n *ast.CallExpr) {
	first, last := n.Args[0].Pos(), n.Args[len(n.Args)-1].End()
	for i := range n.Args {
		f.add(sortKey, n, first, last, f.join(slices.Delete(slices.Clone(n.Args), i, i+1), ", "))
		if i > 0 {
			swapped := slices.Clone(n.Args)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			f.add(sortKey, n, first, last, f.join(swapped, ", "))
		}
	}
}

// compares returns the type of the arguments of a comparison function, as for slices.SortFunc, or
// "".
func (f *finder) compares(e ast.Expr) string {
	id, ok := e.(*ast.Ident)
	if !ok {
		return ""
	}
	for _, file := range f.files {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv == nil && fn.Name.Name == id.Name && fn.Type.Results != nil && f.code(fn.Type.Results) == "int" &&
				len(fn.Type.Params.List) == 1 && len(fn.Type.Params.List[0].Names) == 2 {
				return f.code(fn.Type.Params.List[0].Type)
			}
		}
	}
	return ""
}

// swapReceiver replaces a.Before(b), or a.Before(&b), by b.Before(a).
func (f *finder) swapReceiver(n *ast.CallExpr, s *ast.SelectorExpr) {
	receiver, arg := f.code(s.X), f.code(n.Args[0])
	if pointed, ok := strings.CutPrefix(arg, "&"); ok {
		receiver, arg = "&"+receiver, pointed
	}
	f.replace(sortKey, n, fmt.Sprintf("%s.%s(%s)", arg, s.Sel.Name, receiver))
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
