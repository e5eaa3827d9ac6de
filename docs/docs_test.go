// Package docs holds pages for people, and tests that hold the pages against
// the code.
package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

const root = ".."

// documents are the sections of output.md that describe one.
var documents = map[string]reflect.Type{
	"Explanation":         reflect.TypeFor[explain.Explanation](),
	"ExplanationList":     reflect.TypeFor[explain.List](),
	"RolloutPlan":         reflect.TypeFor[plan.Plan](),
	"RolloutPlanList":     reflect.TypeFor[plan.List](),
	"RevisionHistory":     reflect.TypeFor[history.History](),
	"RevisionHistoryList": reflect.TypeFor[history.List](),
	"Snapshot":            reflect.TypeFor[writtenSnapshot](),
}

// writtenSnapshot is a Snapshot as Encode writes it, whose own type is not
// exported. TestSnapshot holds it against the real one.
type writtenSnapshot struct {
	APIVersion           string                 `json:"apiVersion"`
	Kind                 string                 `json:"kind"`
	TakenAt              time.Time              `json:"takenAt"`
	KubernetesVersion    string                 `json:"kubernetesVersion"`
	VersionSource        snapshot.VersionSource `json:"versionSource"`
	Gaps                 []snapshot.Gap         `json:"gaps"`
	DaemonSet            object                 `json:"daemonSet"`
	Revisions            []object               `json:"revisions"`
	Nodes                []object               `json:"nodes"`
	Pods                 []object               `json:"pods"`
	Events               []object               `json:"events"`
	PodDisruptionBudgets []object               `json:"podDisruptionBudgets"`
	EnvValues            string                 `json:"envValues"`
}

// object is one of the Kubernetes API.
type object map[string]any

// codeTables are the sections of output.md that list the values of a type.
var codeTables = map[string][]string{
	"daemonset.Reason": {
		"Placement", "Columns", "Problems", "Differences", "The next sync", "Creates and deletes", "Waits and errors", "Revisions removed", "Pods that no rule counts",
		"Warnings of a plan", "Why a rollout does not complete",
	},
	"cause.Severity":           {"Severities"},
	"daemonset.AssumptionCode": {"Assumptions"},
	"daemonset.BudgetKind":     {"Budgets"},
	"daemonset.ChangeKind":     {"Changes"},
	"daemonset.Claim":          {"Claims"},
	"daemonset.Rule":           {"Rules"},
	"daemonset.Slot":           {"Slots"},
	"daemonset.StepKind":       {"Steps"},
	"daemonset.UpdatedBy":      {"Updated by"},
	"cause.Certainty":          {"Certainty"},
	"explain.FixCode":          {"Fixes"},
	"cause.OriginKind":         {"Origins"},
	"explain.OutlookCode":      {"Outlooks"},
	"explain.VerdictCode":      {"Verdicts"},
	"history.ChangeKind":       {"Kinds of changes"},
	"history.FieldKind":        {"Kinds of fields"},
	"history.NoteCode":         {"Notes"},
	"plan.NodeChangeKind":      {"Changes of nodes"},
	"plan.OutcomeCode":         {"Outcomes"},
	"plan.Subject":             {"Subjects"},
	"managed.Tool":             {"Tools"},
	"plan.UnblockCode":         {"Ways out"},
	"snapshot.Consequence":     {"Consequences"},
	"template.ImageFault":      {"Faults of an image"},
	"snapshot.VersionSource":   {"Version sources"},
	"snapshot.What":            {"Parts"},
	"snapshot.Why":             {"Why a part was not read"},
}

// unwritten are types whose values stand in no document.
var unwritten = map[string]string{
	"cause.Refuser":      "a document has it as the origin of a problem",
	"plan.HappeningKind": "what --watch tells of a rollout is text",
	"plan.End":           "what --watch tells of a rollout is text",
}

// TestFields: every field has a row, of its type, and every row a field.
func TestFields(t *testing.T) {
	page := readPage(t, "output.md")
	for name, document := range documents {
		rows := page.fields(t, name)
		fields := fieldsOf(document, "")
		used := map[string]bool{}
		for _, f := range fields {
			at := resolve(rows, f.path)
			used[at] = true
			is, found := rows[at]
			word, as, _ := strings.Cut(is, ", as ")
			switch {
			case !found:
				t.Errorf("%s: no row for %s (%s)", name, at, f.word)
			case word != f.word && kubernetes.ReplaceAllString(word, "${1}object") != f.word:
				t.Errorf("%s: %s: type %q, want %q", name, f.path, word, f.word)
			}
			if as = strings.Trim(as, "`"); as == "" || documents[as] != nil && inner(f.typ) == documents[as] {
				continue
			}
			if i := slices.IndexFunc(fields, func(o field) bool { return o.path == as }); i < 0 || inner(fields[i].typ) != inner(f.typ) {
				t.Errorf("%s: %s is not as %s", name, f.path, as)
			}
		}
		for field := range rows {
			if !used[field] {
				t.Errorf("%s: a row for %s, which does not exist", name, field)
			}
		}
	}
}

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
		rows[field] = r["Type"]
	}
	for field, is := range rows {
		word, as, _ := strings.Cut(is, ", as ")
		other, path, elsewhere := strings.Cut(strings.Trim(as, "`"), ".")
		if !elsewhere || documents[other] == nil {
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
			return resolve(rows, strings.Trim(as, "`")+field[len(above):])
		}
	}
}

// field is one field of a document.
type field struct {
	path string // budget.holders[].since
	word string // its type as the page has it
	typ  reflect.Type
}

// fieldsOf returns the JSON fields of a struct and of all structs in it.
func fieldsOf(t reflect.Type, prefix string) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			for _, inside := range fieldsOf(inner(f.Type), prefix) {
				if !slices.ContainsFunc(out, func(o field) bool { return o.path == inside.path }) { // the outer one is written
					out = append(out, inside)
				}
			}
			continue
		}
		word := wordFor(f.Type)
		if options == "omitempty" {
			word = strings.TrimSuffix(word, " or null") + ", may be absent"
		}
		at := prefix + name
		out = append(out, field{at, word, f.Type})
		if in := inner(f.Type); in.Kind() == reflect.Struct && in != reflect.TypeFor[time.Time]() && !foreign(in) && !isDocument(in) {
			if f.Type.Kind() == reflect.Slice {
				at += "[]"
			}
			out = append(out, fieldsOf(in, at+".")...)
		}
	}
	return out
}

// isDocument tells a type that has a section of its own.
func isDocument(t reflect.Type) bool {
	for _, d := range documents {
		if t == d {
			return true
		}
	}
	return false
}

func wordFor(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t == reflect.TypeFor[daemonset.Facts]():
		return "facts"
	case foreign(t):
		return path.Base(path.Dir(t.PkgPath())) + "/" + path.Base(t.PkgPath()) + " " + t.Name()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wordFor(t.Elem()) + " or null"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Pointer {
			return "list of " + wordFor(t.Elem().Elem()) + "s"
		}
		if t.Elem() == reflect.TypeFor[object]() {
			return "list of object"
		}
		return "list of " + wordFor(t.Elem()) + "s"
	case reflect.String:
		if t.PkgPath() != "" {
			return "code"
		}
		return "string"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "boolean"
	}
	return "object"
}

// foreign tells whether a type is the Kubernetes API's.
func foreign(t reflect.Type) bool { return strings.HasPrefix(t.PkgPath(), "k8s.io/api/") }

// inner is what a pointer points to, or a list lists.
func inner(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// TestCodes: every code that anything gives has a row in a table of its type,
// and every row is a code.
func TestCodes(t *testing.T) {
	page, source := readPage(t, "output.md"), readSource(t)
	for kind := range source.codes {
		if codeTables[kind] == nil && unwritten[kind] == "" {
			t.Errorf("no section for the values of %s", kind)
		}
	}
	for kind, sections := range codeTables {
		rows := map[string]bool{}
		for _, s := range sections {
			for _, r := range page.rows(t, s) {
				c := strings.Trim(code(t, r["Code"]), `"`)
				rows[c] = true
				if !slices.ContainsFunc(source.codes[kind], func(k constant) bool { return k.value == c }) {
					t.Errorf("%s: a row for %q, which is no %s", s, c, kind)
				}
			}
		}
		for _, c := range source.codes[kind] {
			switch {
			case rows[c.value]:
			case source.uses[c.name] < 2 || c.listed && source.uses[c.name] < 3:
				t.Logf("%s %s: nothing gives it", kind, c.name)
			default:
				t.Errorf("no row for %s %q, in %s", kind, c.value, strings.Join(sections, ", "))
			}
		}
	}
}

// TestLists: a package's list of all values of a type holds all of them.
func TestLists(t *testing.T) {
	source := readSource(t)
	for kind, list := range map[string][]string{
		"daemonset.Reason":         texts(slices.Concat(daemonset.Reasons, explain.Reasons, plan.WarningCodes, []daemonset.Reason{plan.Endless, plan.Unfilled})),
		"cause.Severity":           texts(cause.Severities),
		"daemonset.AssumptionCode": texts(slices.Concat(daemonset.Assumptions, plan.Assumptions)),
		"plan.OutcomeCode":         texts(plan.OutcomeCodes),
		"managed.Tool":             texts(managed.Tools),
		"daemonset.Slot":           texts(daemonset.Slots),
		"explain.VerdictCode":      texts(explain.VerdictCodes),
		"history.ChangeKind":       texts(history.ChangeKinds),
		"history.FieldKind":        texts(history.FieldKinds),
		"history.NoteCode":         texts(history.NoteCodes),
		"snapshot.What":            texts(snapshot.Whats),
		"template.ImageFault":      texts(template.ImageFaults),
	} {
		var values []string
		for _, c := range source.codes[kind] {
			values = append(values, c.value)
		}
		slices.Sort(values)
		slices.Sort(list)
		if values, list := slices.Compact(values), slices.Compact(list); !slices.Equal(values, list) {
			t.Errorf("%s: declared %v, listed %v", kind, values, list)
		}
	}
}

// TestOrders: where the page says that its table is the order of a list, it
// is.
func TestOrders(t *testing.T) {
	page, source := readPage(t, "output.md"), readSource(t)
	for section, want := range map[string][]string{
		"Verdicts":    texts(explain.VerdictCodes),
		"Parts":       texts(snapshot.Whats),
		"Assumptions": texts(slices.Concat(daemonset.Assumptions, plan.Assumptions)),
		"Problems":    source.problemOrder,
		"Tools":       texts(managed.Tools),

		"Faults of an image": texts(template.ImageFaults),
		"Notes":              texts(history.NoteCodes),
	} {
		var got []string
		for _, r := range page.rows(t, section) {
			got = append(got, code(t, r["Code"]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the table has\n%v, the code\n%v", section, got, want)
		}
	}
}

// TestKeys: every key of facts that the code writes has a row, and every row
// is written.
func TestKeys(t *testing.T) {
	page, source := readPage(t, "output.md"), readSource(t)
	rows := map[string]bool{}
	for _, r := range page.rows(t, "Keys of facts") {
		rows[code(t, r["Key"])] = true
	}
	for key, at := range source.keys {
		if !rows[key] {
			t.Errorf("%s: no row for the key %q of facts", at, key)
		}
	}
	for key := range rows {
		if source.keys[key] == "" {
			t.Errorf("a row for the key %q of facts, which nothing writes", key)
		}
	}
	for _, sections := range codeTables {
		for _, s := range sections {
			for _, r := range page.rows(t, s) {
				for _, key := range keysOf(r["Facts"]) {
					if !rows[key] {
						t.Errorf("%s: %s: no row for the key %q of facts", s, r["Code"], key)
					}
				}
			}
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

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
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
				row[h] = cells[i]
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s: no table under %q", p.name, section)
	}
	return rows
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
	codes        map[string][]constant // by type: daemonset.Reason
	uses         map[string]int        // how often a name is mentioned in pkg and internal, but tests
	keys         map[string]string     // of facts, to where they are written
	problemOrder []string
	declared     map[string]bool // package.Name, package.Type.Method or Field
	files        map[string]bool // every file of the project, by its path
}

type constant struct {
	name, value string
	listed      bool // its package lists all values of its type
}

func readSource(t *testing.T) *source {
	t.Helper()
	s := &source{codes: map[string][]constant{}, uses: map[string]int{}, keys: map[string]string{}, declared: map[string]bool{}, files: map[string]bool{}}
	fset := token.NewFileSet()
	byName := map[string]string{}
	var order []string
	for _, folder := range []string{"pkg", "internal", "cmd", "test", "docs", "krew", "tools", "."} {
		for _, name := range filesIn(t, folder) {
			s.files[name] = true
			top, _, _ := strings.Cut(name, "/")
			if !strings.HasSuffix(name, ".go") || top != "pkg" && top != "internal" && top != "cmd" {
				continue
			}
			f, err := parser.ParseFile(fset, filepath.Join(root, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			s.declare(f)
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					s.uses[n.Name]++
				case *ast.ValueSpec:
					s.constants(f, n, byName)
					if n.Names[0].Name == "problemOrder" {
						for _, e := range n.Values[0].(*ast.CompositeLit).Elts {
							order = append(order, lastName(e))
						}
					}
				case *ast.CompositeLit:
					if lastName(n.Type) == "Facts" {
						for _, e := range n.Elts {
							s.key(fset, e.(*ast.KeyValueExpr).Key)
						}
					}
				case *ast.AssignStmt:
					for _, l := range n.Lhs {
						if i, ok := l.(*ast.IndexExpr); ok && top == "pkg" && f.Name.Name != "template" {
							s.key(fset, i.Index)
						}
					}
				}
				return true
			})
		}
	}
	for _, name := range order {
		s.problemOrder = append(s.problemOrder, byName[name])
	}
	for _, list := range []string{"daemonset.Reason", "cause.Severity", "daemonset.AssumptionCode", "daemonset.Slot", "explain.VerdictCode", "plan.OutcomeCode", "snapshot.What", "history.ChangeKind", "history.FieldKind", "history.NoteCode"} {
		for i := range s.codes[list] {
			s.codes[list][i].listed = true
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

// constants notes those whose type is a string with a name.
func (s *source) constants(f *ast.File, n *ast.ValueSpec, byName map[string]string) {
	if n.Type == nil || len(n.Values) != 1 || len(n.Names) != 1 {
		return
	}
	lit, ok := n.Values[0].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING || lastName(n.Type) == "string" {
		return
	}
	kind := typeName(n.Type)
	if !strings.Contains(kind, ".") {
		kind = f.Name.Name + "." + kind
	}
	if in, _, _ := strings.Cut(kind, "."); !slices.Contains([]string{"daemonset", "cause", "explain", "snapshot", "plan", "history", "managed"}, in) && kind != "template.ImageFault" {
		return
	}
	value, _ := strconv.Unquote(lit.Value)
	s.codes[kind] = append(s.codes[kind], constant{name: n.Names[0].Name, value: value})
	byName[n.Names[0].Name] = value
}

func (s *source) key(fset *token.FileSet, e ast.Expr) {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		key, _ := strconv.Unquote(lit.Value)
		s.keys[key] = fset.Position(lit.Pos()).String()
	}
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
