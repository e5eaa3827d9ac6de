package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestLibrary: the programs of library.md compile, and print what the page says of
// a cluster with pods that fail; the first one also reads Snapshots, and reports bad
// input. All four are linked at once, each as a package that stands in no folder, since
// linking is what takes long.
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
	firstProgram(t, binary)
}

// firstProgram runs the program that reads a Snapshot or a List, on both and on bad input.
func firstProgram(t *testing.T, binary string) {
	t.Helper()
	read := func(name string) string {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	crash, settled, list := read("../examples/crash-loop.json"), read("../examples/settled.json"), read("../pkg/testdata/cluster.json")
	for _, tt := range []struct{ why, in, out, err string }{
		{"a Snapshot", crash, "logging fluent-bit Stuck\n", ""},
		{"as snapshot -A writes them", crash + settled, "logging fluent-bit Stuck\nkube-system node-agent Healthy\n", ""},
		{"what kubectl get writes", list, "kube-system agent Stuck\n", ""},
		{"nothing", "", "", "the input has no DaemonSet"},
		{"a List of other objects", `{"apiVersion":"v1","kind":"List","items":[]}`, "", "the input has no DaemonSet"},
		{"one object", `{"apiVersion":"apps/v1","kind":"DaemonSet"}`, "", `its kind is "DaemonSet"`},
		{"YAML", "apiVersion: v1\nkind: List\n", "", "the input is not JSON"},
		{"a list without a kind", "[]", "", "neither a Snapshot nor a List"},
		{"a file that is cut", crash[:len(crash)/2], "", "the input is not JSON: unexpected EOF"},
		{"a Snapshot of another version", strings.Replace(crash, snapshot.APIVersion, "kubectl-ds/v9", 1), "", `apiVersion "kubectl-ds/v9"`},
		{"a List whose DaemonSet has no selector", `{"kind":"List","items":[{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"x"}}]}`, "", "spec.selector: missing"},
	} {
		var out, errs bytes.Buffer
		run := exec.Command(binary, "p0")
		run.Stdin, run.Stdout, run.Stderr = strings.NewReader(tt.in), &out, &errs
		err := run.Run()
		said := errs.String()
		switch {
		case out.String() != tt.out:
			t.Errorf("%s: prints %q, want %q (%s)", tt.why, &out, tt.out, said)
		case tt.err == "" && (err != nil || said != ""):
			t.Errorf("%s: %v: %s", tt.why, err, said)
		case tt.err != "" && (run.ProcessState.ExitCode() != 1 || !strings.HasPrefix(said, "error: ") || !strings.Contains(said, tt.err) || strings.Count(said, "\n") != 1):
			t.Errorf("%s: status %d: %s", tt.why, run.ProcessState.ExitCode(), said)
		}
	}
}
