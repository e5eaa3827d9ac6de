package walls

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// spelledName lists the functions that contain the name of the program in a text, with the reason.
// Elsewhere it must be a parameter, because the program may be called by another name.
var spelledName = map[string]string{
	"sheet/sheet.go Own":                    "the name of who passes none",
	"cli/root.go newRoot":                   "examples, in which the name is replaced",
	"cli/explain.go newExplain":             "examples, in which the name is replaced",
	"cli/plan.go newPlan":                   "examples, in which the name is replaced",
	"cli/completionscript.go newCompletion": "examples, in which the name is replaced",
	"cli/history.go newHistory":             "examples, in which the name is replaced",
	"cli/snapshot.go newSnapshot":           "examples, in which the name is replaced",
	"cli/program.go examples":               "which replaces it",
}

// TestNameIsPassed checks that no text contains "kubectl ds", because output uses the name by which
// the program was called.
func TestNameIsPassed(t *testing.T) {
	found := map[string]bool{}
	for _, dir := range []string{"internal/cli", "internal/screen", "internal/source", "internal/view", "internal/encode", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			file := filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path)
			for _, decl := range f.Decls {
				name := "var"
				if of, isFunc := decl.(*ast.FuncDecl); isFunc {
					name = of.Name.Name
				}
				ast.Inspect(decl, func(n ast.Node) bool {
					if text, isText := n.(*ast.BasicLit); isText && text.Kind == token.STRING && strings.Contains(text.Value, "kubectl ds") {
						found[file+" "+name] = true
					}
					return true
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(found)) {
		if spelledName[at] == "" {
			t.Errorf("%s: spells \"kubectl ds\"; pass the name: program.own in internal/cli, Asked.own in internal/view", at)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(spelledName)) {
		if !found[at] {
			t.Errorf("%s: is listed, and no longer there", at)
		}
	}
}
