package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
)

// manifestFile writes a manifest with the second template of a pair, as a person may
// have written it.
func manifestFile(t *testing.T, p dstest.Pair) string {
	t.Helper()
	raw, err := yaml.Marshal(map[string]any{
		"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": map[string]any{"namespace": "kube-system", "name": "agent"},
		"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": "agent"}}, "template": map[string]any(p.New)},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestPairsLeakNothing: no literal value of a variable, and nothing that the API
// types do not list, is on any stream of any command that compares two templates.
func TestPairsLeakNothing(t *testing.T) {
	shown := 0
	for seed := range int64(60) {
		p := dstest.Templates(seed)
		file := pairFile(t, p)
		manifest := manifestFile(t, p)
		for _, asked := range []string{
			"history agent", "history agent -o wide", "history agent -o json", "history agent --all", "history agent --revision 7", "history agent --revision live", "history", "history agent --diff 7,8", "history agent --diff 8,7 --all",
			"history agent --diff 7,8 -o json", "history agent --diff 7,8 --unified", "history agent --diff live,7 --unified", "history agent --undo 7", "history agent --undo 0 -o json", "history agent --undo 7 --all",
			"plan-rollout agent --to-revision 7", "plan-rollout agent --to-revision 8 -o json", "plan-rollout agent --to-revision 7 -o markdown", "plan-rollout agent --to-revision 7 --all", "explain agent", "explain agent -o json", "snapshot agent",
			"plan-rollout -f " + manifest, "plan-rollout -o json -f " + manifest, "plan-rollout --all -f " + manifest, "plan-rollout -o markdown -f " + manifest, "plan-rollout --server-side -f " + manifest,
		} {
			for _, flags := range []string{"", " --show-values"} {
				var out, errs bytes.Buffer
				args := strings.Fields("kubectl-ds " + asked + flags + " --from " + file)
				if flags != "" && strings.HasPrefix(asked, "explain") {
					continue
				}
				Main(args, strings.NewReader(""), &out, &errs)
				for _, secret := range p.Secrets {
					if found := strings.Contains(out.String()+errs.String(), secret); found && flags == "" {
						t.Fatalf("seed %d %v: %s shows %s:\n%s%s", seed, p.Edits, asked, secret, out.String(), errs.String())
					} else if found {
						shown++
					}
				}
			}
		}
	}
	if shown < 1000 {
		t.Errorf("--show-values showed only %d values", shown)
	}
}
