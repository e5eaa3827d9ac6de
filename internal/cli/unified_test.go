package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestUnifiedApplies checks that the patch of --diff A,B --unified --show-values turns the output
// of --revision A -o yaml into that of --revision B -o yaml. It uses all revisions of the examples
// and stories, and random pairs.
func TestUnifiedApplies(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("needs the program patch on the PATH, which .ci/run installs")
	}
	dir, pairs := t.TempDir(), 0
	apply := func(of, from, diff, want string) {
		t.Helper()
		file := filepath.Join(dir, "patched.yaml")
		if err := os.WriteFile(file, []byte(from), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), patch, "--fuzz=0", "--no-backup-if-mismatch", file)
		c.Stdin = strings.NewReader(diff)
		said, err := c.CombinedOutput()
		got, readErr := os.ReadFile(file)
		if err != nil || readErr != nil || strings.Contains(string(said), "offset") || string(got) != want {
			t.Errorf("%s: patch: %v %v %s\n%s", of, err, readErr, said, diff)
		}
		pairs++
	}
	ask := func(file string, args ...string) (string, bool) {
		var out, errs bytes.Buffer
		status := Main(append([]string{"kubectl-ds", "history", "--from", file}, args...), strings.NewReader(""), &out, &errs)
		return out.String(), status == 0
	}
	both := func(file, name, a, b string) {
		t.Helper()
		from, ok := ask(file, name, "--revision="+a, "-o", "yaml", "--show-values")
		to, okToo := ask(file, name, "--revision="+b, "-o", "yaml", "--show-values")
		if !ok || !okToo {
			return // the revision is unreadable, or has nothing to apply
		}
		for _, asked := range [][4]string{{a, b, from, to}, {b, a, to, from}} {
			diff, ok := ask(file, name, "--diff="+asked[0]+","+asked[1], "--unified", "--show-values")
			if !ok {
				t.Errorf("%s: --diff %s,%s failed", file, asked[0], asked[1])
			}
			apply(fmt.Sprintf("%s --diff %s,%s", file, asked[0], asked[1]), asked[2], diff, asked[3])
		}
	}
	files := worldsOfStories(t, 15)
	files["../../examples/history.json"] = "csi-node"
	for file, name := range files {
		both(file, name, "-1", "live")
		both(file, name, "7", "8")
	}
	if pairs < cases.Least(20) {
		t.Errorf("only %d pairs of stories", pairs)
	}
	pairs = 0
	for seed := range cases.Of(int64(15)) {
		p := dstest.Templates(seed)
		both(pairFile(t, p), "agent", "7", "8")
	}
	if pairs < cases.Least(25) {
		t.Errorf("only %d random pairs", pairs)
	}
}

// pairFile writes a snapshot. The DaemonSet and revision 7 have the first template of a pair, and
// revision 8 has the second.
func pairFile(t *testing.T, p dstest.Pair) string {
	t.Helper()
	text, err := snapshot.Encode(world.OfPair(t, p))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pair.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
