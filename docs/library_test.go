package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLibrary: the programs of library.md compile, and print what the page says of
// a cluster with pods that fail. All four are linked at once, each as a package
// that stands in no folder, since linking is what takes long.
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
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	folder, overlay := t.TempDir(), map[string]string{}
	write := func(name, text string) {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(here, "programs", strings.TrimSuffix(name, ".go"), name)] = file
	}
	imports, calls := "\t\"os\"\n", ""
	for i, part := range parts {
		program, _, _ := strings.Cut(part, "```\n")
		if !strings.HasPrefix(program, "package main\n") || strings.Count(program, "func main() {") != 1 {
			t.Fatalf("no program:\n%s", program)
		}
		name := fmt.Sprintf("p%d", i)
		program = strings.Replace(program, "package main", "package "+name, 1)
		write(name+".go", strings.Replace(program, "func main() {", "func Main() {", 1))
		imports += fmt.Sprintf("\t%q\n", "github.com/kubectl-ds/kubectl-ds/docs/programs/"+name)
		calls += fmt.Sprintf("\tcase %q:\n\t\t%s.Main()\n", name, name)
	}
	write("all.go", "package main\n\nimport (\n"+imports+")\n\nfunc main() {\n\tswitch os.Args[1] {\n"+calls+"\t}\n}\n")
	raw, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	binary, files := filepath.Join(folder, "programs"), filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(files, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-overlay", files, "-o", binary, "./programs/all").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i, part := range parts {
		var want []string
		_, after, _ := strings.Cut(part, "```\n")
		for _, l := range strings.Split(strings.SplitN(after, "\n## ", 2)[0], "\n") {
			if text, shown := strings.CutPrefix(l, "    "); shown && !strings.HasPrefix(text, "$ ") {
				want = append(want, strings.TrimSpace(text))
			}
		}
		in, err := os.Open("../pkg/testdata/cluster.json")
		if err != nil {
			t.Fatal(err)
		}
		run := exec.Command(binary, fmt.Sprintf("p%d", i))
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
