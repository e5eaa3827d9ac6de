package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// TestSuggestedCommands runs every command of this plugin that the screens of
// the examples print, after every change. A way out of a stall must lead out.
func TestSuggestedCommands(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	ran, ways := 0, 0
	for _, file := range files {
		name := nameIn(t, file)
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
			asked = append(asked, "--from", file)
			var out bytes.Buffer
			if status := Main(append([]string{"kubectl-ds"}, asked...), strings.NewReader(""), &out, new(bytes.Buffer)); status != 0 {
				continue // a node that this example does not have
			}
			wayOut := false
			for _, line := range strings.Split(out.String(), "\n") {
				line = strings.TrimPrefix(strings.TrimSpace(line), "To go on: ")
				if strings.HasPrefix(line, "to let it complete") {
					wayOut = true
				}
				words, isOurs := strings.CutPrefix(line, "kubectl ds ")
				if !isOurs {
					continue
				}
				ran++
				args := pastedWords(words)
				if !wayOut {
					var errs bytes.Buffer
					if status := Main(append([]string{"kubectl-ds"}, args...), strings.NewReader(""), new(bytes.Buffer), &errs); status != 0 {
						t.Errorf("%q suggests %q: status %d: %s", asked, line, status, errs.String())
					}
					continue
				}
				ways++
				p := new(plan.Plan)
				answer(t, p, append(args, "-o", "json")...)
				if p.Outcome.Code != plan.Completes {
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
	if ran < 20 || ways < 5 {
		t.Errorf("only %d commands were suggested, %d of them as a way out", ran, ways)
	}
}

// pastedWords splits a command line as a shell would: none of these has more
// than single quotes.
func pastedWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}
