package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestCalledAs checks the command that users type for each file name. kubectl's rule is in
// kubernetes/kubectl, pkg/cmd/cmd.go.
func TestCalledAs(t *testing.T) {
	for _, tt := range []struct {
		path, shown string
		completes   bool
		why         string
	}{
		{"kubectl-ds", "kubectl ds", false, "the plugin"},
		{"/usr/local/bin/kubectl-ds", "kubectl ds", false, "kubectl calls it by its path"},
		{"kubectl-ds.exe", "kubectl ds", false, "on Windows"},
		{"kubectl-ds.EXE", "kubectl ds", false, "on Windows, as a shell may call it"},
		{"kubectl-explain_daemonset", "kubectl explain-daemonset", false, "kubectl looks for an underscore for each dash of a word, and an index links it so"},
		{"kubectl-daemonset-rollout", "kubectl daemonset rollout", false, "kubectl looks for a dash between two words"},
		{"kubectl_complete-ds", "kubectl ds", true, "kubectl calls it to complete"},
		{"kubectl_complete-daemonset_rollout.exe", "kubectl daemonset-rollout", true, "also by another name"},
		{"kds", "kds", false, "a name of somebody's own"},
		{"kube-ds", "kube-ds", false, "not a plugin of kubectl"},
		{"kubectl-", "kubectl-", false, "nothing behind the dash"},
		{"kubectl_complete-", "kubectl_complete-", true, "no plugin has this name"},
		{"my tool", "'my tool'", false, "as a shell takes it"},
		{"kubectl-ds (1).exe", "kubectl 'ds (1)'", false, "downloaded twice"},
		{"", ".", false, "no name at all"},
	} {
		if got := calledAs(tt.path); got.shown != tt.shown || got.completes != tt.completes {
			t.Errorf("%q: %q, completes %t, want %q, %t (%s)", tt.path, got.shown, got.completes, tt.shown, tt.completes, tt.why)
		}
	}
}

// TestShownName checks that a program with another name prints the same output, with that name in
// all commands.
func TestShownName(t *testing.T) {
	examples, err := filepath.Glob("../../examples/*.json")
	if err != nil || len(examples) == 0 {
		t.Fatal("no examples", err)
	}
	lines := []string{
		"", "--help", "explain --help", "plan-rollout --help", "history --help", "snapshot --help", "options",
		"frobnicate", "explian", "explain --frobnicate", "explain a/b/c", "snapshot", "history --undo 1", "history --diff 1,2 --from ../../examples/crash-loop.json",
		"plan-rollout --restart", "plan-rollout --fit", "plan-rollout --watch", "explain --watch", "plan-rollout -f https://example.com/x.yaml",
		"explain nothing --from ../../examples/crash-loop.json -n other", "history agent --from testdata/env.yaml --undo 0",
	}
	for _, file := range cases.Some(examples, len(examples)) {
		name := nameOfOnly(t, file)
		for _, asked := range []string{
			"explain", "explain NAME", "explain -A", "plan-rollout", "plan-rollout NAME", "plan-rollout NAME --restart", "plan-rollout NAME --strategy OnDelete",
			"plan-rollout NAME --restart --max-surge 1 --max-unavailable 0", "history", "history NAME", "history NAME --undo 0", "plan-rollout NAME --restart -o markdown",
		} {
			lines = append(lines, strings.ReplaceAll(asked, "NAME", name)+" --from "+file)
		}
	}
	for _, as := range []struct{ file, shown string }{{"kds", "kds"}, {"kubectl-daemonset_rollout", "kubectl daemonset-rollout"}} {
		shown := 0
		for _, line := range lines {
			print := func(file string) string {
				var both bytes.Buffer
				Main(append([]string{file}, strings.Fields(line)...), strings.NewReader(""), &both, &both)
				return both.String()
			}
			was, is := print("kubectl-ds"), print(as.file)
			if want := strings.ReplaceAll(was, "kubectl ds", as.shown); is != want {
				t.Errorf("%s %s: %s\nwant %s", as.file, line, is, want)
			}
			shown += strings.Count(was, "kubectl ds")
		}
		if shown < cases.Least(100) {
			t.Errorf("%s: only %d places with the name: is that all?", as.file, shown)
		}
	}
}
