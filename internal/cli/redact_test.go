package cli_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/redact"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestRedactedAnswers: from a Snapshot with stand-ins come the answers of the original,
// with the names replaced, messages aside. LAW_CASES=100 tries 5,000
// states.
func TestRedactedAnswers(t *testing.T) {
	folder := t.TempDir()
	alone(t, folder)
	for i := range cases.Of(50) {
		s := hardState(int64(i))
		if diff := redactedAnswers(t, folder, s); len(diff) > 0 {
			t.Errorf("state %d:\n%s", i, strings.Join(diff[:min(5, len(diff))], "\n"))
			if os.Getenv("REDACT_ALL") == "" {
				break
			}
		}
	}
}

// TestRedactedStories: so it is of the states that the screens are tested with, and of the
// recorded examples.
func TestRedactedStories(t *testing.T) {
	folder := t.TempDir()
	alone(t, folder)
	all := toldStates(t)
	for _, name := range cases.Some(slices.Sorted(maps.Keys(all)), 40) {
		s := all[name]
		if diff := redactedAnswers(t, folder, s); len(diff) > 0 {
			t.Errorf("%s:\n%s", name, strings.Join(diff[:min(5, len(diff))], "\n"))
		}
	}
}

// toldStates returns the Snapshots of the stories of internal/view and of the examples.
func toldStates(t *testing.T) map[string]*snapshot.Snapshot {
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

// redactedAnswers returns where answers differ.
func redactedAnswers(t *testing.T, folder string, s *snapshot.Snapshot) (diff []string) {
	t.Helper()
	s, err := snapshot.Redact(s, []byte("of this test"))
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
	m := newMatcher(table)
	for _, q := range questions(s) {
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
		var x, y any
		if err := json.Unmarshal([]byte(a.out), &x); err != nil {
			t.Fatal(err, a.out)
		}
		if err := json.Unmarshal([]byte(b.out), &y); err != nil {
			t.Fatal(err, b.out)
		}
		for _, d := range m.compare(x, y, "") {
			diff = append(diff, b.line()+"\n"+d)
		}
	}
	return diff
}

type question struct {
	command string
	flags   []string
	node    bool // one of the flags names a node
}

func questions(s *snapshot.Snapshot) []question {
	return []question{
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
}

// matcher compares texts of an answer with those of the redacted one.
type matcher struct {
	names    []string            // the longest first
	standIns map[string][]string // of each kind that a name is of
}

func newMatcher(t *redact.Table) *matcher {
	m := &matcher{standIns: map[string][]string{}}
	for _, row := range t.Rows {
		inJSON := quotedName(row.Name)
		for _, name := range []string{row.Name, inJSON, inJSON[1 : len(inJSON)-1]} {
			if !slices.Contains(m.standIns[name], row.StandIn) {
				m.standIns[name] = append(m.standIns[name], row.StandIn)
			}
		}
	}
	m.names = slices.SortedFunc(maps.Keys(m.standIns), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return m
}

// quotedName is a name as values and paths of fields have it.
func quotedName(name string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(name)
	return strings.TrimSpace(b.String())
}

// compare returns where b is not a with its names replaced. It does not look at messages.
func (m *matcher) compare(a, b any, at string) (diff []string) {
	differ := func() []string {
		short := func(v any) string {
			raw, _ := json.Marshal(v)
			return string(raw[:min(len(raw), 400)])
		}
		return []string{fmt.Sprintf("%s:\n  original %s\n  redacted %s", at, short(a), short(b))}
	}
	switch a := a.(type) {
	case map[string]any:
		b, is := b.(map[string]any)
		if !is || len(a) != len(b) {
			return differ()
		}
		for key, v := range a {
			if key == "message" {
				if (v == "") != (b[key] == "") || b[key] == nil {
					diff = append(diff, fmt.Sprintf("%s.message: %q, redacted %q", at, v, b[key]))
				}
				continue
			}
			of, found := b[key]
			for other := range b {
				if !found && m.same(key, other) {
					of, found = b[other], true
				}
			}
			if !found {
				return differ()
			}
			diff = append(diff, m.compare(v, of, at+"."+key)...)
		}
		return diff
	case []any:
		b, is := b.([]any)
		if !is || len(a) != len(b) {
			return differ()
		}
		for i := range a {
			diff = append(diff, m.compare(a[i], b[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
		return diff
	case string:
		if b, is := b.(string); !is || !m.same(a, b) {
			return differ()
		}
		return nil
	}
	if a != b {
		return differ()
	}
	return nil
}

// same reports whether a text is another one with names in it replaced.
func (m *matcher) same(a, b string) bool {
	failed := map[[2]int]bool{}
	var from func(i, j int) bool
	from = func(i, j int) bool {
		switch {
		case i == len(a) && j == len(b):
			return true
		case failed[[2]int{i, j}]:
			return false
		}
		for _, name := range m.names {
			if !strings.HasPrefix(a[i:], name) {
				continue
			}
			for _, standIn := range m.standIns[name] {
				if strings.HasPrefix(b[j:], standIn) && from(i+len(name), j+len(standIn)) {
					return true
				}
			}
		}
		if i < len(a) && j < len(b) && a[i] == b[j] && from(i+1, j+1) {
			return true
		}
		failed[[2]int{i, j}] = true
		return false
	}
	return from(0, 0)
}
