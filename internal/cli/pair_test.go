package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// manifestFile writes a manifest with the second template of a pair, as a person may write it.
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

// TestPairsLeakNothing checks that no command that compares two templates prints literal values of
// variables, or fields that the API types do not list.
func TestPairsLeakNothing(t *testing.T) {
	shown := 0
	for seed := range cases.Of(int64(6)) {
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
	if shown < cases.Least(85) {
		t.Errorf("--show-values showed only %d values", shown)
	}
}

// TestUndoSaysWhatDiffSays checks that the plan of a rollback changes the fields that a diff of the
// live template and the revision shows, with the same values. If the API types do not list some
// field, the plan must assume that the API server drops it.
func TestUndoSaysWhatDiffSays(t *testing.T) {
	compared, dropped := 0, 0
	for seed := range cases.Of(int64(75)) {
		p := dstest.Templates(seed)
		if slices.Contains(p.Edits, "a limit") {
			continue // the same quantity in another form; the API server normalizes it
		}
		file := pairFile(t, p)
		h, undo := new(history.History), new(plan.Plan)
		var out, errs bytes.Buffer
		if Main([]string{"kubectl-ds", "history", "agent", "--from", file, "--undo", "8", "-o", "json"}, strings.NewReader(""), &out, &errs) != 0 {
			continue // the API server would reject it
		}
		if err := json.Unmarshal(out.Bytes(), undo); err != nil {
			t.Fatal(err)
		}
		answer(t, h, "history", "agent", "--from", file, "--diff", "live,8", "-o", "json")
		want, got := map[string][3]string{}, map[string][3]string{}
		written := strings.NewReplacer(`"effect":"",`, "", `,"value":""`, "", "[]", "") // as the API server does
		for _, c := range h.Diff.Change {
			want[c.Path.String()] = [3]string{written.Replace(c.Old.String()), written.Replace(c.New.String()), fmt.Sprint(c.Hidden)}
		}
		for _, f := range undo.Change.Fields {
			got[f.Path.String()] = [3]string{f.Old.String(), f.New.String(), fmt.Sprint(f.Hidden)}
		}
		unknown := len(hide.Unlisted(p.Old))+len(hide.Unlisted(p.New)) > 0
		if assumed := slices.ContainsFunc(undo.Assumptions, func(a daemonset.Assumption) bool { return a.Code == whatif.AssumeUnknownFields }); assumed != unknown {
			t.Errorf("seed %d %v: the plan assumes that fields are dropped: %t, and there are such: %t", seed, p.Edits, assumed, unknown)
		}
		if unknown {
			dropped++
			continue
		}
		compared++
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("seed %d %v: (-diff +undo):\n%s", seed, p.Edits, diff)
		}
	}
	if compared < cases.Least(12) || dropped < cases.Least(2) {
		t.Errorf("only %d pairs were compared, and %d have fields that are dropped", compared, dropped)
	}
}
