package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingBeside checks that libraries cannot log to the process's own standard error, past the
// streams of Main.
func TestNothingBeside(t *testing.T) {
	old := os.Stderr
	t.Cleanup(func() { os.Stderr = old })
	dir := t.TempDir()
	for name, text := range map[string]string{
		"set.yaml": "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: healthy}\nspec:\n  selector: {matchLabels: {app: agent}}\n" +
			"  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: agent, image: x}]}}\n",
		"kustomization.yaml": "resources: [set.yaml]\nvars: [{name: X, objref: {kind: DaemonSet, name: agent, apiVersion: apps/v1}}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{
		"plan-rollout -k " + dir + " --from testdata/cluster.yaml",
		"__complete explain --from testdata/cluster.yaml --\x1b[31mx",
		"explain agent -n healthy --server http://127.0.0.1:1 -v 9",
	} {
		beside, err := os.CreateTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		os.Stderr = beside
		var out, errs bytes.Buffer
		status := Main(append([]string{"kubectl-ds"}, strings.Fields(args)...), nil, &out, &errs)
		if os.Stderr != beside {
			t.Errorf("%s: standard error is not what it was", args)
		}
		os.Stderr = old
		if text, err := os.ReadFile(beside.Name()); err != nil || len(text) > 0 {
			t.Errorf("%q wrote beside the streams: %s%v", args, text, err)
		}
		if strings.HasPrefix(args, "plan") && (status != 0 || !strings.Contains(out.String(), "healthy/agent")) {
			t.Errorf("status %d\n%s%s", status, out.String(), errs.String())
		}
	}
}
