package main

import (
	"fmt"
	"go/ast"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tables makes the rows of blocks, and keeps what is in any of them.
type tables struct {
	code     *code
	sections map[string][]string // of a type of codes, those that list its values
	listed   []string            // values in tables: daemonset.Reason "Eligible"
	facts    []string            // keys that codes name
	keys     []string            // keys that are described
	reached  []string            // types of codes that fields have
	shared   map[string]string   // struct of all documents, to where it is described
}

// labels are the columns of codes that comments may fill, in their order, with
// Meaning for the text that has no label.
var labels = []string{"Severity", "Of", "Meaning", "Value", "Source", "By", "Found by", "Facts"}

var label = regexp.MustCompile(`(?m)^(Severity|Of|Value|Source|By|Found by|Facts|Codes): `)

// cells returns a comment as cells: its text as Meaning, and what its labels
// say.
func cells(comment string) map[string]string {
	out := map[string]string{}
	name := "Meaning"
	for comment != "" {
		text := comment
		at := label.FindStringSubmatchIndex(comment)
		if at != nil {
			text = comment[:at[0]]
		}
		text = nilWord.ReplaceAllString(strings.Join(strings.Fields(text), " "), "null")
		if text = strings.TrimSuffix(text, "."); text != "" {
			out[name] = strings.ReplaceAll(text, "|", `\|`)
		}
		if at == nil {
			break
		}
		name, comment = comment[at[2]:at[3]], comment[at[1]:]
	}
	return out
}

// nilWord is what Go's comments say for null.
var nilWord = regexp.MustCompile(`\bnil\b`)

// A row is a code, with the cells of its comment.
type row struct {
	typ, value string
	cells      map[string]string
}

// codes returns the rows of a table of codes.
func (t *tables) codes(b *block) ([]row, error) {
	var out []row
	for _, of := range b.of {
		list := t.code.lists[of]
		for _, name := range t.code.names {
			if t.code.consts[name].typ == of {
				list = append(list, element{name: name})
			}
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("no code called %s", of)
		}
		for _, e := range list {
			comment := e.comment
			k := t.code.consts[e.name]
			for k != nil && k.alias != "" {
				if comment == "" {
					comment = k.comment
				}
				k = t.code.consts[k.alias]
			}
			if k == nil {
				return nil, fmt.Errorf("%s: %s is no constant of pkg", of, e.name)
			}
			if comment == "" {
				comment = k.comment
			}
			r := row{k.typ, k.value, cells(comment)}
			if facts := cells(t.code.said[k.typ])["Facts"]; facts != "" { // of all codes of the type
				r.cells["Facts"] = facts
			}
			if r.cells["Meaning"] == "" {
				return nil, fmt.Errorf("%s: no comment says what %s means", of, e.name)
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// collect notes the codes of a block, so that other blocks can name its section.
func (t *tables) collect(b *block) error {
	rows, err := t.codes(b)
	for _, r := range rows {
		t.listed = append(t.listed, r.typ+" "+strconv.Quote(r.value))
		if !slices.Contains(t.sections[r.typ], b.section) {
			t.sections[r.typ] = append(t.sections[r.typ], b.section)
		}
	}
	return err
}

// rows returns the lines of a table.
func (t *tables) rows(b *block) ([]string, error) {
	switch b.kind {
	case "codes":
		return t.codeTable(b)
	case "fields", "facts":
		return t.fieldTable(b)
	}
	return nil, fmt.Errorf("%q is no kind of table", b.kind)
}

func (t *tables) codeTable(b *block) ([]string, error) {
	rows, err := t.codes(b)
	if err != nil {
		return nil, err
	}
	columns := slices.DeleteFunc(slices.Clone(labels), func(l string) bool {
		return !slices.ContainsFunc(rows, func(r row) bool { return r.cells[l] != "" })
	})
	out := head(append([]string{"Code"}, columns...))
	before := ""
	for _, r := range rows {
		name := "`" + r.value + "`"
		if r.value == "" {
			name = "`\"\"`"
		}
		line := []string{name}
		for _, c := range columns {
			cell := r.cells[c]
			if c == "Facts" {
				t.facts = append(t.facts, split(cell)...)
				if cell = quoted(cell); cell != "" && cell == before && strings.Count(cell, ",") > 3 {
					cell = same
				} else {
					before = cell
				}
			}
			line = append(line, cell)
		}
		out = append(out, lineOf(line))
	}
	return out, nil
}

// same stands for facts that are those of the row above.
const same = "the same"

func (t *tables) fieldTable(b *block) ([]string, error) {
	w := &walk{tables: t, document: b.section, isFacts: b.kind == "facts", as: map[string]string{}}
	heads := []string{"Field", "Type", "Meaning"}
	if b.kind == "facts" {
		heads[0] = "Key"
	}
	w.out = head(heads)
	w.fields(b.of[0], "")
	if b.kind == "facts" {
		t.keys = w.paths
	}
	return w.out, w.err
}

// missing returns an error that names what no table has and should.
func (t *tables) missing() error {
	for _, name := range t.code.names {
		k := t.code.consts[name]
		if t.sections[k.typ] != nil && !slices.Contains(t.listed, k.typ+" "+strconv.Quote(k.value)) {
			return fmt.Errorf("%s %s stands in no table", k.typ, name)
		}
	}
	for _, typ := range t.reached {
		if t.sections[typ] == nil {
			return fmt.Errorf("no table lists the codes of %s", typ)
		}
	}
	for _, key := range t.facts {
		if !slices.Contains(t.keys, key) {
			return fmt.Errorf("a code has the facts %q, which nothing describes", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.code.keys)) {
		if !slices.Contains(t.keys, key) {
			return fmt.Errorf("%s: nothing describes the facts %q", t.code.keys[key], key)
		}
	}
	for _, key := range t.keys {
		if !slices.Contains(t.facts, key) {
			return fmt.Errorf("no code has the facts %q", key)
		}
	}
	return nil
}

// A walk goes through the fields of a document.
type walk struct {
	*tables
	document string
	isFacts  bool              // the fields are keys of facts
	as       map[string]string // struct to the field that has its fields
	paths    []string
	out      []string
	err      error
}

// fields writes a row for each field of a struct, and of all structs in it.
func (w *walk) fields(name, prefix string) {
	s, ok := w.code.types[name].(*ast.StructType)
	if !ok {
		w.fail("%s is no struct", name)
		return
	}
	pkg := name[:strings.IndexByte(name, '.')+1]
	for _, f := range s.Fields.List {
		tag := ""
		if f.Tag != nil {
			quoted, _ := strconv.Unquote(f.Tag.Value)
			tag = reflect.StructTag(quoted).Get("json")
		}
		json, options, _ := strings.Cut(tag, ",")
		if json == "-" {
			continue
		}
		if json == "" { // its fields stand in place of it
			typ := f.Type
			if p, ok := typ.(*ast.StarExpr); ok {
				typ = p.X
			}
			if inside := qualified(pkg, typ); inside == metaType {
				w.row(prefix+"apiVersion", "string", "`kubectl-ds/v1alpha1`")
				w.row(prefix+"kind", "string", "`"+w.document+"`")
			} else {
				w.fields(inside, prefix)
			}
			continue
		}
		w.field(pkg, prefix+json, f, options == "omitempty")
	}
}

// metaType is the type of the Kubernetes API for apiVersion and kind.
const metaType = "metav1.TypeMeta"

func (w *walk) field(pkg, path string, f *ast.Field, absent bool) {
	word, inner, list, null := w.typeOf(pkg, f.Type)
	said := cells(commentOf(f.Names[0].Name, f.Doc, f.Comment))
	w.tables.facts = append(w.tables.facts, split(said["Facts"])...)
	meaning := said["Meaning"]
	if json := `"kind"`; !w.isFacts && path == "kind" && strings.Contains(f.Tag.Value, json) {
		meaning = "`" + w.document + "`"
	}
	switch {
	case meaning == "":
		w.fail("no comment says what %s is, at %s", path, w.code.fset.Position(f.Pos()))
	case null && !absent && !strings.Contains(meaning, "null"):
		w.fail("%s does not say when it is null", path)
	case absent && !strings.Contains(meaning, "absent"):
		w.fail("%s does not say when it is absent", path)
	}
	if word == "code" || word == "list of codes" {
		word += w.links(inner, split(said["Codes"]))
	}
	switch {
	case absent:
		word += ", may be absent"
	case null:
		word += " or null"
	}
	_, isStruct := w.code.types[inner].(*ast.StructType)
	if !isStruct {
		w.row(path, word, meaning)
		return
	}
	if at := w.described(inner); at != "" {
		w.row(path, word+", as `"+at+"`", meaning)
		return
	}
	w.row(path, word, meaning)
	w.as[inner] = path
	if strings.HasPrefix(inner, "daemonset.") {
		if w.shared == nil {
			w.shared = map[string]string{}
		}
		w.shared[inner] = w.document + "." + path
	}
	if list {
		path += "[]"
	}
	w.fields(inner, path+".")
}

// described returns the field, or the document, that has the fields of a struct
// already.
func (w *walk) described(inner string) string {
	if at := w.as[inner]; at != "" {
		return at
	}
	if at := documents[inner]; at != "" {
		return at
	}
	if at := w.shared[inner]; at != "" {
		return at
	}
	return ""
}

// documents are the structs that have a section of their own.
var documents = map[string]string{"explain.Explanation": "Explanation", "plan.Plan": "RolloutPlan", "history.History": "RevisionHistory"}

// links returns the sections that list the codes of a field: those that it
// names, else those of its type.
func (w *walk) links(typ string, named []string) string {
	if len(named) == 0 {
		w.reached = append(w.reached, typ)
		if named = w.sections[typ]; len(named) > 1 {
			w.fail("a field of the type %s names none of its sections", typ)
		}
	}
	var out []string
	for _, section := range named {
		out = append(out, "["+strings.ToLower(section)+"](#"+anchor(section)+")")
	}
	return " (" + strings.Join(out, ", ") + ")"
}

// typeOf returns the word for a type, and the named type within it.
func (w *walk) typeOf(pkg string, e ast.Expr) (word, inner string, list, null bool) {
	switch t := e.(type) {
	case *ast.StarExpr:
		word, inner, list, _ = w.typeOf(pkg, t.X)
		return word, inner, list, true
	case *ast.ArrayType:
		word, inner, _, _ = w.typeOf(pkg, t.Elt)
		if !strings.Contains(word, "/") { // one of the Kubernetes API has no plural
			word += "s"
		}
		return "list of " + word, inner, true, false
	case *ast.MapType:
		word, _, _, _ = w.typeOf(pkg, t.Value)
		return "object with a value of type " + word + " per name", "", false, false
	case *ast.SelectorExpr:
		switch qualified("", t) {
		case "metav1.Time":
			return "time", "", false, false
		case "corev1.Protocol", "corev1.ResourceName":
			return "string", "", false, false
		case "resource.Quantity":
			return "quantity", "", false, false
		}
		if api, ok := strings.CutSuffix(qualified("", t.X), "v1"); ok { // appsv1.DaemonSet
			return api + "/v1 " + t.Sel.Name, "", false, false
		}
	}
	name := qualified(pkg, e)
	base := strings.TrimPrefix(name, pkg)
	switch base {
	case "string":
		return "string", "", false, false
	case "int", "int32", "int64":
		return "integer", "", false, false
	case "float64":
		return "number", "", false, false
	case "bool":
		return "boolean", "", false, false
	case "time.Time":
		return "time", "", false, false
	}
	switch name {
	case "daemonset.Facts":
		return "facts", "", false, false
	case "template.Path", "template.Value": // which write themselves
		return "string", "", false, false
	}
	switch named := w.code.types[name].(type) {
	case *ast.StructType:
		return "object", name, false, false
	case *ast.SelectorExpr: // another name for it
		return "object", qualified("", named), false, false
	case *ast.Ident:
		if named.Name == "string" {
			return "code", name, false, false
		}
	}
	w.fail("no word for the type %s", name)
	return "", "", false, false
}

// row writes a row, but none for a field that hides one of a struct inside.
func (w *walk) row(path, word, meaning string) {
	if slices.Contains(w.paths, path) {
		return
	}
	w.paths = append(w.paths, path)
	w.out = append(w.out, lineOf([]string{"`" + path + "`", word, meaning}))
}

func (w *walk) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func head(columns []string) []string {
	lines := slices.Repeat([]string{"---"}, len(columns))
	return []string{lineOf(columns), lineOf(lines)}
}

func lineOf(cells []string) string {
	return strings.ReplaceAll("| "+strings.Join(cells, " | ")+" |", "|  |", "| |")
}

// split returns the words of a list with commas.
func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ", ")
}

func quoted(list string) string {
	if list == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(list, ", ", "`, `") + "`"
}

// anchor is how GitHub names a heading in a link.
func anchor(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
