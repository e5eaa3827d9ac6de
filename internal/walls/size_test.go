package walls

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	columns  = 120 // maximum width of a line, with 4 columns per tab
	mostWide = 140 // number of lines that may be wider, such as regular expressions
	mostCode = 6000
	mostFile = 25
)

// larger lists the packages that may exceed mostCode lines or mostFile files, with the reason.
var larger = map[string]struct {
	lines, files int
	why          string
}{
	"internal/cli": {8000, 75, "to be divided: completion, help, watch"},
}

// TestSizes checks the sizes of packages. Tests, generated files and packages for tests are not
// counted.
func TestSizes(t *testing.T) {
	lines, files, wide := map[string]int{}, map[string]int{}, 0
	var widest []string
	for _, top := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && (entry.Name() == "dstest" || entry.Name() == "testdata") {
				return fs.SkipDir
			}
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(name)
			if err != nil || generated(text) {
				return err
			}
			relative, err := filepath.Rel(root, name)
			pkg := path.Dir(filepath.ToSlash(relative))
			files[pkg]++
			for line := range bytes.Lines(text) {
				lines[pkg]++
				line = bytes.TrimRight(line, "\n")
				if utf8.RuneCount(line)+3*bytes.Count(line, []byte("\t")) > columns {
					wide++
					widest = append(widest, filepath.ToSlash(relative)+": "+string(line))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if wide > mostWide || wide < mostWide-10 {
		t.Errorf("%d lines have more than %d columns, %d may, and not many fewer:\n%s", wide, columns, mostWide, strings.Join(widest, "\n"))
	}
	for pkg, n := range lines {
		may := larger[pkg]
		if n > max(mostCode, may.lines) || files[pkg] > max(mostFile, may.files) {
			t.Errorf("%s has %d lines in %d files; %d in %d are allowed: divide it by subject", pkg, n, files[pkg],
				max(mostCode, may.lines), max(mostFile, may.files))
		}
		if may.lines > 0 && n <= mostCode && files[pkg] <= mostFile {
			t.Errorf("%s has %d lines in %d files: it needs no exception", pkg, n, files[pkg])
		}
	}
	for pkg := range larger {
		if lines[pkg] == 0 {
			t.Errorf("there is no package %s", pkg)
		}
	}
}

// generated reports whether a file is marked as generated.
func generated(text []byte) bool {
	return bytes.Contains(text, []byte("// Code generated ")) && bytes.Contains(text, []byte(" DO NOT EDIT."))
}
