package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestSuggestedCommands runs every command of this plugin that the screens of the examples and of
// all stories print, after every change. A suggested way out of a stall must work.
func TestSuggestedCommands(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	names := map[string]string{}
	for _, file := range cases.Some(files, len(files)) {
		names[file] = nameOfOnly(t, file)
	}
	stories := map[string]bool{}
	for file, name := range worldsOfStories(t, 30) {
		files, names[file], stories[file] = append(files, file), name, true
	}
	ran, ways := 0, 0
	for _, file := range cases.Some(files, len(files)) {
		name := names[file]
		for _, asked := range [][]string{
			{"explain", name}, {"explain"}, {"plan-rollout", name}, {"plan-rollout"}, {"history", name, "--all"},
			{"plan-rollout", name, "--restart"},
			{"plan-rollout", name, "--restart", "--max-unavailable", "1", "--max-surge", "0"},
			{"plan-rollout", name, "--restart", "--max-surge", "1", "--max-unavailable", "0"},
			{"plan-rollout", name, "--restart", "--max-surge", "10%", "--max-unavailable", "0", "--node-down", "worker-01,worker-02"},
			{"plan-rollout", name, "--image", "*=example/agent:2", "--max-unavailable", "1", "--node-down", "worker-0[1-3]"},
			{"plan-rollout", name, "--restart", "--strategy", "OnDelete"},
			{"plan-rollout", name, "--toleration", "*", "--max-unavailable", "2"},
		} {
			if stories[file] && (len(asked) == 1 || len(asked) > 3 && asked[2] != "--restart" || slices.Contains(asked, "10%")) {
				continue // the examples contain enough of these
			}
			asked = append(asked, "--from", file)
			var out bytes.Buffer
			if status := Main(append([]string{"kubectl-ds"}, asked...), strings.NewReader(""), &out, new(bytes.Buffer)); status != 0 {
				continue // this example does not have the node
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
					if status != 0 && !strings.Contains(errs.String(), "is invalid: ") { // the API server accepts no change to this DaemonSet
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

// worldsOfStories writes the worlds of n stories as snapshots, and returns the name of the
// DaemonSet in each.
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
			if len(s.Nodes) > 50 { // slow, without new suggestions
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

// pastedWords splits a command line like a shell. It supports only single quotes and backslashes
// before quotes.
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

// mistakes are command lines of new users, each with one mistake. WORLD is a file with DaemonSets.
// Other names in upper case are keys of pastes.
var mistakes = []string{
	// the kind
	"explain ds -n healthy agent --from WORLD", "explain deploy/agent -n healthy --from WORLD", "explain daemonsets/agnt -n healthy --from WORLD", "explain pod agent -n healthy --from WORLD",
	// the namespace
	"explain -n helthy agent --from WORLD", "explain -n default --from WORLD", "explain -n nowhere --from WORLD", "history -n nowhere --from WORLD", "explain -n HEALTHY agent --from WORLD", "explain agent --from WORLD",
	// the name
	"explain -n healthy agnt --from WORLD", "explain healthy:agent --from WORLD", "explain healthy/agent -A --from WORLD", "explain -n healthy agent-x7k2p --from WORLD", "plan-rollout -n healthy --restart --from WORLD",
	// the command
	"status -n healthy agent --from WORLD", "explian -n healthy agent --from WORLD", "rollout restart -n healthy agent --from WORLD", "rollout status ds/agent -n healthy --from WORLD", "get ds -n healthy --from WORLD",
	"describe ds agent -n healthy --from WORLD", "diff agent -n healthy --from WORLD", "undo agent -n healthy --from WORLD",
	// a flag
	"explain -n healthy agent --from WORLD --ouput json", "explain -n healthy agent --from WORLD -o jsn", "explain -n healthy agent --form WORLD", "plan-rollout -n healthy agent --image agent --from WORLD", "plan-rollout -n healthy agent --image web=example/agent:2 --from WORLD",
	"plan-rollout -n healthy agent --max-surge 1 --from WORLD", "plan-rollout -n healthy agent --restart --now yesterday --from WORLD", "plan-rollout -n healthy agent --to-revision 9 --from WORLD", "explain -n healthy agent --from WORLD --keepgoing",
	"explain -n healthy agent --node w-3 --from WORLD",
	// a file
	"explain -n healthy agent --from WORLDS", "explain -A --from TABLE", "explain -A --from DESCRIBE", "explain -A --from ERROR", "explain -A --from ERROR --keep-going", "explain -A --from MARKDOWN", "explain -A --from PROMPT", "explain -A --from SERVERTABLE",
	"explain -A --from EMPTY", "explain -A --from NOTHING", "explain -A --from PODS", "explain -A --from CUT", "explain -A --from VALUES", "plan-rollout -f TABLE --from WORLD", "plan-rollout -f DESCRIBE --from WORLD",
	"plan-rollout -f TEMPLATE --from WORLD", "plan-rollout -f UNFILLED --from WORLD", "plan-rollout -f PODS --from WORLD", "explain -A --from TEMPLATE",
}

// pastes are files with text copied from a terminal or a web page.
var pastes = map[string]string{
	"TABLE":    "NAMESPACE     NAME    DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE\nkube-system   agent   3         3         3       3            3           <none>          4d\n",
	"DESCRIBE": "Name:           agent\nSelector:       app=agent\nNode-Selector:  <none>\nAnnotations:    deprecated.daemonset.template.generation: 1\nDesired Number of Nodes Scheduled: 3\nPods Status:  3 Running / 0 Waiting / 0 Succeeded / 0 Failed\n",
	"ERROR":    "Error from server (Forbidden): daemonsets.apps is forbidden: User \"x\" cannot list resource \"daemonsets\" in API group \"apps\" at the cluster scope\n",
	"MARKDOWN": "# It does not start\n\nThis is what I have:\n\n```yaml\nOBJECTS\n```\n\nAny ideas?\n",
	"PROMPT":   "$ kubectl get ds,nodes,pods -A -o yaml\nOBJECTS\n", "SERVERTABLE": `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[],"rows":[]}`,
	"EMPTY": "", "NOTHING": "No resources found in default namespace.\n", "PODS": "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: a}\n",
	"CUT":      `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "name`,
	"VALUES":   "image:\n  tag: 1.2.3\n",
	"TEMPLATE": "{{- if .Values.enabled }}\napiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: {{ .Values.name }}\n{{- end }}\n",
	"UNFILLED": "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: \"${NAME}\", namespace: a}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}}\n",
}

// TestFirstHour follows the hints for each slip until a command succeeds. A hint may also end with
// something to get from a cluster or to correct in a file.
func TestFirstHour(t *testing.T) {
	dir := t.TempDir()
	raw, err := os.ReadFile("testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"WORLD", filepath.Join(dir, "world.yaml"), "WORLDS", filepath.Join(dir, "wrold.yaml")}
	for name, text := range pastes {
		files = append(files, name, filepath.Join(dir, strings.ToLower(name)+".txt"))
		if err := os.WriteFile(files[len(files)-1], []byte(strings.ReplaceAll(text, "OBJECTS\n", string(raw))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(files[1], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, slip := range mistakes {
		t.Run(slip, func(t *testing.T) {
			args := strings.Fields(slip)
			for i, word := range args {
				if at := slices.Index(files, word); at >= 0 {
					args[i] = files[at+1]
				}
			}
			if err := followAdvice(args); err != nil {
				t.Error(err)
			}
		})
	}
}

// followAdvice runs a command line and follows its hints. It returns an error if they lead nowhere.
func followAdvice(args []string) error {
	var way []string
	for range 4 {
		out, errs, status := printed(args...)
		way = append(way, "kubectl ds "+strings.Join(args, " "), strings.TrimSpace(errs))
		hint := lastHint(errs)
		switch {
		case strings.Contains(errs, "No DaemonSets found") && hint == "":
			return fmt.Errorf("none found, without a way on:\n%s", strings.Join(way, "\n"))
		case status != 1 && !strings.Contains(errs, "No DaemonSets found") && out != "":
			return nil
		case finalHints.MatchString(hint):
			return nil
		}
		next := nextArgs(args, hint)
		if next == nil || slices.Equal(next, args) {
			return fmt.Errorf("the hint leads nowhere:\n%s", strings.Join(way, "\n"))
		}
		args = next
	}
	return fmt.Errorf("the hints lead nowhere:\n%s", strings.Join(way, "\n"))
}

// finalHints matches hints to get something elsewhere: from a cluster, from Helm or from the
// environment.
var finalHints = regexp.MustCompile(`^(?:kubectl get \S+(?: .*)? > \S+|(?:helm template|envsubst <) .* \| kubectl ds plan-rollout -f - .*)$`)

// lastHint returns the last printed hint.
func lastHint(errs string) (hint string) {
	for line := range strings.Lines(errs) {
		line = strings.TrimSpace(line)
		if text, is := strings.CutPrefix(line, "hint: "); is {
			hint = text
		} else if _, try, is := strings.Cut(line, " Try: "); is {
			hint = try
		}
	}
	return hint
}

// nextArgs returns the command line to which a hint leads: the command in the hint, or args with
// the suggested flag or name.
func nextArgs(args []string, hint string) []string {
	if _, command, is := strings.Cut(hint, "kubectl ds "); is {
		for _, mark := range []string{" (", ", ", "? "} {
			command, _, _ = strings.Cut(command, mark)
		}
		line, choices, _ := strings.Cut(hint, "is one of ")
		words := pastedWords(strings.TrimSuffix(command, "?"))
		if name, _, _ := strings.Cut(choices, ", "); strings.Contains(line, "NAME") && name != "" {
			for i := range words {
				words[i] = strings.NewReplacer("NAMESPACE/NAME", name, "NAME", name).Replace(words[i])
			}
		}
		return words
	}
	if of, is := strings.CutPrefix(hint, "did you mean "); is {
		meant, _, _ := strings.Cut(strings.TrimSuffix(of, "?"), ", ")
		meant = strings.Fields(meant)[0]
		near := slices.Clone(args)
		best := -1
		for i, word := range args {
			if d := snapshot.Distance(word, meant); best < 0 || d < snapshot.Distance(args[best], meant) {
				best = i
			}
		}
		near[best] = meant
		return near
	}
	if flag, _, _ := strings.Cut(hint, " ("); strings.HasPrefix(flag, "-") {
		words := pastedWords(flag)
		next := slices.Clone(args)
		name, _, _ := strings.Cut(words[0], "=")
		for i, word := range next {
			if word == name && i+1 < len(next) {
				next = slices.Delete(next, i, i+2)
				break
			}
		}
		return append(next, words...)
	}
	if flag, is := strings.CutPrefix(hint, "leave out "); is {
		return slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == flag })
	}
	return nil
}
