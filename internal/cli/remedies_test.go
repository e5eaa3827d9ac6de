package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// TestRemediesHelp checks every change that explain suggests. The plan of the change completes, or
// leaves fewer nodes without an available pod, and no other node loses its pod. The smallest
// suggested limits pass the same check.
func TestRemediesHelp(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	offered := map[remedy.Code]int{}
	for _, file := range files {
		e := new(explain.Explanation)
		answer(t, e, "explain", nameOfOnly(t, file), "--from", file, "-o", "json")
		for _, r := range e.Fixes() {
			offered[r.Code]++
			for _, value := range []string{r.Value, r.Smallest} {
				if flags := flagsFor(r.Code, value); value != "" && flags != nil {
					checkPromise(t, file, e, r, flags)
				}
			}
		}
	}
	if offered[remedy.RollBack] == 0 || offered[remedy.RaiseMaxUnavailable] == 0 {
		t.Errorf("the examples offer too little: %v", offered)
	}
}

// flagsFor returns the plan-rollout flags for a remedy, or nil if it is not a change.
func flagsFor(code remedy.Code, value string) []string {
	switch code {
	case remedy.RollBack:
		return []string{"--to-revision", value}
	case remedy.RaiseMaxUnavailable:
		return []string{"--max-unavailable", value}
	case remedy.RaiseMaxSurge:
		return []string{"--max-surge", value}
	case remedy.NoSurge:
		return []string{"--max-surge", "0", "--max-unavailable", value}
	case remedy.ExcludeNodes:
		return []string{"--node-selector", value}
	case remedy.RemoveNode:
		return []string{"--remove-nodes", value}
	}
	return nil
}

// checkPromise checks that the plan of a remedy matches the promise of explain.
func checkPromise(t *testing.T, file string, e *explain.Explanation, r remedy.Remedy, flags []string) {
	t.Helper()
	p := new(plan.Plan)
	limit, _ := e.Verdict.Facts["limit"].(float64)
	answer(t, p, append([]string{"plan-rollout", nameOfOnly(t, file), "--from", file, "-o", "json"}, flags...)...)
	if fewer := len(p.Outcome.Holders) < len(e.Impact.Without); !fewer && p.Outcome.Code != plan.Completes && p.Outcome.Code != plan.NothingToDo {
		t.Errorf("%s: explain offers %v, with which the rollout %s", file, flags, p.Outcome.Code)
	}
	if most := len(e.Impact.Without) + max(1, int(limit)); p.Outcome.Worst > most {
		t.Errorf("%s: with %v, %d nodes are without an available pod, more than %d", file, flags, p.Outcome.Worst, most)
	}
	for _, h := range p.Outcome.Holders {
		if served(e, h.Node) {
			t.Errorf("%s: with %v, node %s is broken too", file, flags, h.Node)
		}
	}
}

// answer runs a command line and decodes the document that it prints.
func answer(t *testing.T, into any, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if status := Main(append([]string{"kubectl-ds"}, args...), strings.NewReader(""), &out, &errs); status != 0 {
		t.Fatalf("%q: status %d: %s", args, status, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
}

// nameOfOnly returns the name of the only DaemonSet in a dump.
func nameOfOnly(t *testing.T, file string) string {
	t.Helper()
	l := new(explain.List)
	answer(t, l, "explain", "-A", "--from", file, "-o", "json")
	if len(l.Items) != 1 {
		t.Fatalf("%s holds %d DaemonSets", file, len(l.Items))
	}
	return l.Items[0].DaemonSet.Name
}

func served(e *explain.Explanation, node string) bool {
	return slices.ContainsFunc(e.Nodes, func(n explain.Node) bool {
		return n.Name == node && (n.Problem == nil || n.Problem.Severity != cause.SeverityError) && slices.ContainsFunc(n.Pods, func(p explain.Pod) bool { return p.Available && !p.Terminating })
	})
}

// TestOrderOfTheFix checks that a new limit comes before a manual change, and after a manifest,
// which may set the limit itself.
func TestOrderOfTheFix(t *testing.T) {
	const example = "../../examples/settled.json"
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		DaemonSet struct {
			Metadata map[string]any `json:"metadata"`
			Spec     map[string]any `json:"spec"`
		} `json:"daemonSet"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	s.DaemonSet.Spec["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["image"] = "acme/node-agent:1.9.0"
	manifest, err := json.Marshal(map[string]any{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": map[string]any{"namespace": s.DaemonSet.Metadata["namespace"], "name": s.DaemonSet.Metadata["name"]}, "spec": s.DaemonSet.Spec})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want [3]string
	}{
		{[]string{"node-agent", "-n", "kube-system", "--restart"}, [3]string{"1. set maxUnavailable to 2:", "2. restart the DaemonSet:", "3. when the rollout is complete, set maxUnavailable back to 1:"}},
		{[]string{"-f", file}, [3]string{"1. apply the change:", "2. set maxUnavailable to 2:", "3. when the rollout is complete, set maxUnavailable back to 1:"}},
	} {
		var out, errs bytes.Buffer
		Main(append([]string{"kubectl-ds", "plan-rollout", "--node-down", "worker-03", "--from", example}, tt.args...), strings.NewReader(""), &out, &errs)
		rest, found := out.String(), false
		for _, step := range tt.want {
			if _, rest, found = strings.Cut(rest, step); !found {
				t.Errorf("%q lacks %q in its place:\n%s%s", tt.args, step, &out, &errs)
				break
			}
		}
	}
}
