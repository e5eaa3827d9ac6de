package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestSuggestedCommands runs every command of this plugin that the screens of
// the examples and of all stories print, after every change. A way out of a
// stall must lead out.
func TestSuggestedCommands(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	names := map[string]string{}
	for _, file := range cases.Some(files, len(files)) {
		names[file] = nameIn(t, file)
	}
	stories := map[string]bool{}
	for file, name := range worldsOfStories(t, 24) {
		files, names[file], stories[file] = append(files, file), name, true
	}
	ran, ways := 0, 0
	for _, file := range cases.Some(files, len(files)) {
		name := names[file]
		for _, asked := range [][]string{
			{"explain", name}, {"explain"}, {"plan-rollout", name}, {"plan-rollout"}, {"history", name},
			{"plan-rollout", name, "--restart"},
			{"plan-rollout", name, "--restart", "--max-unavailable", "1", "--max-surge", "0"},
			{"plan-rollout", name, "--restart", "--max-surge", "1", "--max-unavailable", "0"},
			{"plan-rollout", name, "--restart", "--max-surge", "10%", "--max-unavailable", "0", "--node-down", "worker-01,worker-02"},
			{"plan-rollout", name, "--image", "*=example/agent:2", "--max-unavailable", "1", "--node-down", "worker-0[1-3]"},
			{"plan-rollout", name, "--restart", "--strategy", "OnDelete"},
			{"plan-rollout", name, "--toleration", "*", "--max-unavailable", "2"},
		} {
			if stories[file] && (len(asked) == 1 || len(asked) > 3 && asked[2] != "--restart" || slices.Contains(asked, "10%")) {
				continue // the examples have enough of these
			}
			asked = append(asked, "--from", file)
			var out bytes.Buffer
			if status := Main(append([]string{"kubectl-ds"}, asked...), strings.NewReader(""), &out, new(bytes.Buffer)); status != 0 {
				continue // a node that this example does not have
			}
			for _, line := range strings.Split(out.String(), "\n") {
				label, words, isOurs := strings.Cut(line, "kubectl ds ")
				if !isOurs {
					continue
				}
				wayOut := strings.TrimSpace(label) == "Preview" && asked[0] == "plan-rollout" && (strings.Contains(out.String(), "STALL  ") || strings.Contains(out.String(), "STAYS STUCK  "))
				ran++
				args := pastedWords(words)
				if !wayOut {
					var errs bytes.Buffer
					status := Main(append([]string{"kubectl-ds"}, args...), strings.NewReader(""), new(bytes.Buffer), &errs)
					if status != 0 && !strings.Contains(errs.String(), "is invalid: ") { // that is the answer: the API server accepts no change of this one
						t.Errorf("%q suggests %q: status %d: %s", asked, line, status, errs.String())
					}
					continue
				}
				ways++
				p := new(plan.Plan)
				answer(t, p, append(args, "-o", "json")...)
				if p.Outcome.Code != plan.Completes && p.Verdict() != plan.VerdictEnds {
					t.Errorf("%q suggests %q, with which it %s", asked, line, p.Outcome.Code)
				}
				for i, a := range args {
					for _, b := range args[i+1:] {
						if a == b && strings.HasPrefix(a, "--max") {
							t.Errorf("%q suggests %q, which contradicts itself", asked, line)
						}
					}
				}
			}
		}
	}
	if ran < cases.Least(120) || ways < cases.Least(15) {
		t.Errorf("only %d commands were suggested, %d of them as a way out", ran, ways)
	}
}

// worldsOfStories writes the worlds of n of the screens' stories as snapshots, and
// returns the name of the DaemonSet in each.
func worldsOfStories(t *testing.T, n int) map[string]string {
	t.Helper()
	names := map[string]string{}
	stories, err := filepath.Glob("../view/testdata/*.txtar")
	if err != nil || len(stories) == 0 {
		t.Fatal("no stories", err)
	}
	more, err := filepath.Glob("../view/testdata/*/*.txtar")
	if err != nil || len(more) == 0 {
		t.Fatal("no stories", err)
	}
	dir := t.TempDir()
	for _, story := range cases.Some(append(stories, more...), n) {
		parts, err := txtar.ParseFile(story)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts.Files {
			if part.Name != "world" {
				continue
			}
			s := world.Parse(t, string(part.Data))
			if len(s.Nodes) > 50 { // it takes long, and suggests what the others do
				continue
			}
			file := filepath.Join(dir, fmt.Sprintf("%d.json", len(names)))
			text, err := snapshot.Encode(s)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			names[file] = s.DaemonSet.Name
		}
	}
	return names
}

// pastedWords splits a command line as a shell would: none of these has more
// than single quotes, and words of a backslash and a quote.
func pastedWords(line string) []string {
	var words []string
	word, inWord, quoted := "", false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			quoted, inWord = !quoted, true
		case c == '\\' && !quoted && i+1 < len(line):
			i++
			word, inWord = word+string(line[i]), true
		case c == ' ' && !quoted:
			if inWord {
				words = append(words, word)
			}
			word, inWord = "", false
		default:
			word, inWord = word+string(c), true
		}
	}
	if inWord {
		words = append(words, word)
	}
	return words
}
