package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// TestUnblockHelps: a limit that explain offers is one with which the plan
// completes and leaves no further node without an available pod. So it is with
// the smallest one. What is left broken is what it names.
func TestUnblockHelps(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	offered := 0
	for _, file := range files {
		e, p := new(explain.Explanation), new(plan.Plan)
		answer(t, e, "explain", nameIn(t, file), "--from", file, "-o", "json")
		u := e.Budget.Unblock
		if u == nil {
			continue
		}
		offered++
		flag := "--max-unavailable"
		if e.Budget.MaxSurge > 0 {
			flag = "--max-surge"
		}
		for _, value := range []string{strconv.Itoa(u.Number), u.Percent} {
			answer(t, p, "plan-rollout", nameIn(t, file), "--from", file, "-o", "json", flag, value)
			if p.Outcome.Code != plan.Completes {
				t.Errorf("%s: explain offers %s %s, with which the rollout %s", file, flag, value, p.Outcome.Code)
			}
			for _, h := range p.Outcome.Holders {
				if served(e, h.Node) {
					t.Errorf("%s: with %s %s, node %s is broken too", file, flag, value, h.Node)
				}
			}
		}
	}
	if offered == 0 {
		t.Error("no example offers a limit")
	}
}

// answer runs a command line and reads the document that it prints.
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

// nameIn is the name of the one DaemonSet of a dump.
func nameIn(t *testing.T, file string) string {
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

// TestOrderOfTheFix: a limit is raised before a change by hand, and after a manifest,
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
		{[]string{"node-agent", "-n", "kube-system", "--restart"}, [3]string{"1. raise the limit to 2:", "2. restart it:", "3. when the rollout is complete, set the limit back to 1:"}},
		{[]string{"-f", file}, [3]string{"1. apply it:", "2. raise the limit to 2:", "3. when the rollout is complete, set the limit back to 1:"}},
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
