package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLibrary: the programs of library.md compile, and print what the page says of
// a cluster with pods that fail.
func TestLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("needs seconds to link four programs: runs without -short, as .ci/run does")
	}
	page, err := os.ReadFile("library.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(page), "```go\n")[1:]
	if len(parts) != 4 {
		t.Fatalf("%d programs", len(parts))
	}
	for _, part := range parts {
		program, after, _ := strings.Cut(part, "```\n")
		var want []string
		for _, l := range strings.Split(strings.SplitN(after, "\n## ", 2)[0], "\n") {
			if text, shown := strings.CutPrefix(l, "    "); shown && !strings.HasPrefix(text, "$ ") {
				want = append(want, strings.TrimSpace(text))
			}
		}
		folder := t.TempDir()
		source, binary := filepath.Join(folder, "main.go"), filepath.Join(folder, "program")
		if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", "build", "-o", binary, source).CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, out, program)
			continue
		}
		in, err := os.Open("../pkg/testdata/cluster.json")
		if err != nil {
			t.Fatal(err)
		}
		run := exec.Command(binary)
		run.Stdin = in
		out, err := run.CombinedOutput()
		in.Close()
		var got []string
		for _, l := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			got = append(got, strings.TrimSpace(l))
		}
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%v: prints\n%s\nthe page says\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
