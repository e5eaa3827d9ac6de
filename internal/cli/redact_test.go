package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/agree"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/redact"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestRedactedStories checks that Snapshots with stand-ins give the same answers with replaced
// names, apart from messages. It uses the states of the screen tests and the recorded examples.
// pkg/redact tests random states.
func TestRedactedStories(t *testing.T) {
	folder := t.TempDir()
	isolate(t, folder)
	all := storyStates(t)
	for _, name := range cases.Some(slices.Sorted(maps.Keys(all)), 40) {
		s := all[name]
		if diff := redactedAnswers(t, folder, s); len(diff) > 0 {
			t.Errorf("%s:\n%s", name, strings.Join(diff[:min(5, len(diff))], "\n"))
		}
	}
}

// storyStates returns the Snapshots of the stories of internal/view and of the examples.
func storyStates(t *testing.T) map[string]*snapshot.Snapshot {
	t.Helper()
	out := map[string]*snapshot.Snapshot{}
	for _, pattern := range []string{"*.txtar", "plan/*.txtar", "history/*.txtar"} {
		files, err := filepath.Glob(filepath.Join("..", "view", "testdata", pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			story, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range story.Files {
				if name, _, _ := strings.Cut(f.Name, " "); name == "world" {
					out[fmt.Sprintf("%s[%d]", filepath.Base(file), i)] = world.Parse(t, string(f.Data))
				}
			}
		}
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "examples", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if out[filepath.Base(file)], err = snapshot.Decode(raw); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// redactedAnswers returns the differences between the answers.
func redactedAnswers(t *testing.T, folder string, s *snapshot.Snapshot) (diff []string) {
	t.Helper()
	s, err := snapshot.HideValues(s, []byte("of this test"))
	if err != nil {
		t.Fatal(err)
	}
	all, table := redact.Names([]*snapshot.Snapshot{s})
	r := all[0]
	put := func(name string, s *snapshot.Snapshot) string {
		raw, err := snapshot.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	before, after := put("before.json", s), put("after.json", r)
	m := agree.NewRenamed(table)
	for _, q := range questions {
		ask := func(of *snapshot.Snapshot, from, node string) *result {
			args := []string{q.command, of.DaemonSet.Name, "-n", of.DaemonSet.Namespace, "-o", "json", "--from", from, "--now", of.TakenAt.Format("2006-01-02T15:04:05Z07:00")}
			for _, a := range q.flags {
				args = append(args, strings.ReplaceAll(a, "NODE", node))
			}
			return run(args, nil)
		}
		at := -1
		if len(s.Nodes) > 0 {
			at = len(s.Nodes) / 2
		}
		if q.node && at < 0 {
			continue
		}
		nodeBefore, nodeAfter := "", ""
		if at >= 0 {
			nodeBefore, nodeAfter = s.Nodes[at].Name, r.Nodes[at].Name
		}
		a, b := ask(s, before, nodeBefore), ask(r, after, nodeAfter)
		if a.panicked != "" || b.panicked != "" {
			diff = append(diff, fmt.Sprintf("%s: %s%s", a.line(), a.panicked, b.panicked))
			continue
		}
		if a.status != b.status {
			diff = append(diff, fmt.Sprintf("%s\n exit status %d: %s\n redacted: %d: %s", a.line(), a.status, a.errs, b.status, b.errs))
			continue
		}
		if a.status != 0 {
			continue
		}
		differ, err := m.Answers(json.RawMessage(a.out), json.RawMessage(b.out))
		if err != nil {
			t.Fatal(err, a.out, b.out)
		}
		for _, d := range differ {
			diff = append(diff, b.line()+"\n"+d)
		}
	}
	return diff
}

type question struct {
	command string
	flags   []string
	node    bool // a flag contains the name of a node
}

var questions = []question{
	{command: "explain"},
	{command: "explain", flags: []string{"--node", "NODE"}, node: true},
	{command: "plan-rollout"},
	{command: "plan-rollout", flags: []string{"--restart"}},
	{command: "plan-rollout", flags: []string{"--restart", "--fit"}},
	{command: "plan-rollout", flags: []string{"--max-unavailable", "3", "--max-surge", "0"}},
	{command: "plan-rollout", flags: []string{"--to-revision", "1"}},
	{command: "plan-rollout", flags: []string{"--node-down", "NODE"}, node: true},
	{command: "plan-rollout", flags: []string{"--cordon", "NODE", "--restart"}, node: true},
	{command: "plan-rollout", flags: []string{"--add-nodes", "2", "--like", "NODE"}, node: true},
	{command: "history"},
	{command: "history", flags: []string{"--diff", "1,2"}},
	{command: "history", flags: []string{"--undo", "1"}},
}
