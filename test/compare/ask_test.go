package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// question is a command line about an input.
type question struct {
	about   string // the input: "examples/surge", "plan/lost-1", "seed-17", or a script of internal/cli
	asked   string // the command line without input and output format
	columns string
	args    []string
}

func (q question) String() string {
	return strings.TrimSpace("COLUMNS=" + q.columns + " kubectl-ds " + strings.Join(q.args, " "))
}

// input is a file with the DaemonSet that is asked about.
type input struct {
	about, file, namespace, name string
	node                         string     // one of its nodes, or ""
	changes                      [][]string // command lines from the story
}

// forms are the output formats, with columns and flags. The first one is always used.
var forms = [][]string{
	{"", "-o", "json"},
	{"80"}, {"80", "--all"}, {"160"}, {"", "-o", "wide"}, {"80", "--color=always"}, {"", "-o", "yaml"}, {"50"}, {""}, {"", "-o", "markdown"},
}

// commands are the commands for an input. For every second random state, the first three are run in
// all forms.
var commands = []string{
	"explain", "plan-rollout", "history",
	"explain --node NODE", "explain --exit-code",
	"history --diff -1", "history --diff -1,live --show-values", "history --diff -1,live --unified", "history --revision -1", "history --revision live",
	"history --undo 0", "history --undo 0 --show-values --exit-code",
	"plan-rollout --restart", "plan-rollout --restart --exit-code --fail-on stalls,replaces>5",
	"plan-rollout --restart --start 20s --termination 5s --request-rate 10",
	"plan-rollout --restart --group-by kubernetes.io/hostname",
	"plan-rollout --image *=example/agent:99", "plan-rollout --to-revision 0", "plan-rollout --min-ready-seconds 30 --restart",
	"plan-rollout --max-unavailable 3", "plan-rollout --max-unavailable 50% --restart", "plan-rollout --max-surge 1 --max-unavailable 0 --restart",
	"plan-rollout --strategy OnDelete", "plan-rollout --strategy RollingUpdate --restart",
	"plan-rollout --toleration *", "plan-rollout --node-selector pool=gpu", "plan-rollout --node-selector pool-",
	"plan-rollout --taint NODE:k=v:NoExecute", "plan-rollout --cordon NODE", "plan-rollout --restart --node-down NODE", "plan-rollout --remove-nodes NODE",
	"plan-rollout --add-nodes 2 --like NODE", "plan-rollout --label NODE:pool=gpu", "plan-rollout --image *=example/agent:9 --max-unavailable 2 --node-down NODE",
}

// questions returns the questions about the inputs: for a story or an example half of the commands
// in two forms each, for a random state a quarter of them.
func questions(inputs []input) []question {
	var out []question
	for i, in := range inputs {
		random := strings.HasPrefix(in.about, "seed-")
		asked := in.changes
		for _, c := range commands {
			asked = append(asked, strings.Fields(c))
		}
		for j, words := range asked {
			j -= len(in.changes)
			line := strings.Join(words, " ")
			every := j < 3
			if !every && (i+j)%(map[bool]int{true: 4, false: 2}[random]) > 0 || in.node == "" && strings.Contains(line, "NODE") {
				continue
			}
			for k, form := range forms {
				if k > 0 && (!every || random) && k != 1+(i/4+j)%(len(forms)-1) {
					continue
				}
				args := slices.Concat(words, []string{in.name, "-n", in.namespace, "--from", in.file}, form[1:])
				for i := range words {
					args[i] = strings.ReplaceAll(words[i], "NODE", in.node)
				}
				out = append(out, question{in.about, line, form[0], args})
			}
		}
	}
	return out
}

// listed returns questions about several DaemonSets: those of the examples, and a manifest with an
// example.
func listed(t *testing.T) []question {
	var out []question
	files := glob(t, "examples/*.json")
	manifests := append(glob(t, "internal/source/testdata/manifests/*"), glob(t, "examples/*.yaml")...)
	ask := func(asked string, more ...string) {
		for _, form := range forms {
			out = append(out, question{"examples/all", asked, form[0], slices.Concat(strings.Fields(asked), more, form[1:])})
		}
	}
	var from []string
	for _, file := range files {
		if base := filepath.Base(file); base == "settled.json" || base == "surge.json" || base == "crash-loop.json" {
			from = append(from, "--from", file)
		}
	}
	for _, asked := range []string{"explain -A", "plan-rollout -A", "history -A", "explain -A --node worker-01", "plan-rollout -A --taint worker-*:k=v:NoExecute"} {
		ask(asked, from...)
	}
	for i, file := range manifests {
		for _, form := range [][]string{forms[0], forms[1+i%(len(forms)-1)]} {
			out = append(out, question{"examples/manifests", "plan-rollout -f", form[0], slices.Concat([]string{"plan-rollout", "-f", file, "--from", files[0]}, form[1:])})
		}
	}
	return out
}

// inputs writes the inputs: the examples, the worlds of all stories, and random states of several
// kinds and versions.
func inputs(t *testing.T, folder string, seed int64, states int) []input {
	var out []input
	add := func(about string, s *snapshot.Snapshot) {
		file := filepath.Join(folder, "in", about+".json")
		raw, err := snapshot.Encode(s)
		check(t, err)
		write(t, file, raw)
		out = append(out, inputOf(about, file, s))
	}
	for _, file := range glob(t, "examples/*.json") {
		raw, err := os.ReadFile(file)
		check(t, err)
		s, err := snapshot.Decode(raw)
		check(t, err)
		out = append(out, inputOf("examples/"+strings.TrimSuffix(filepath.Base(file), ".json"), file, s))
	}
	for _, file := range slices.Concat(glob(t, "internal/view/testdata/*.txtar"), glob(t, "internal/view/testdata/*/*.txtar")) {
		story, err := txtar.ParseFile(file)
		check(t, err)
		about := filepath.Join("stories", filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".txtar"))
		var options map[string]any
		for n, part := range story.Files {
			switch name, _, _ := strings.Cut(part.Name, " "); name {
			case "world":
				add(fmt.Sprintf("%s-%d", about, n), world.Parse(t, string(part.Data)))
			case "options":
				check(t, yaml.Unmarshal(part.Data, &options))
			case "change":
				var change map[string]any
				check(t, yaml.Unmarshal(part.Data, &change))
				maps.Copy(change, options)
				in := &out[len(out)-1]
				in.changes = append(in.changes, in.asks(t, change))
			}
		}
	}
	versions := []string{dstest.Newest, "v1.33.1", "v1.27.3", "v1.20.5"}
	for i := range states {
		n := seed + int64(i)
		about := fmt.Sprintf("seed-%d", n)
		switch {
		case i%8 == 0:
			add(about, world.OfPair(t, dstest.Templates(n)))
		case i%2 == 0:
			add(about, dstest.RandomFor(n, versions[i/2%len(versions)]))
		default:
			add(about, dstest.RandomTrouble(n))
		}
	}
	return out
}

func inputOf(about, file string, s *snapshot.Snapshot) input {
	in := input{about: about, file: file, namespace: s.DaemonSet.Namespace, name: s.DaemonSet.Name}
	if len(s.Nodes) > 0 {
		in.node = s.Nodes[len(s.Nodes)/2].Name
	}
	return in
}

// fieldFlags maps fields of a story's change and options to flags.
var fieldFlags = map[string]string{
	"Restart": "--restart=%v", "ShowValues": "--show-values=%v", "ToRevision": "--to-revision=%v", "Strategy": "--strategy=%v",
	"MaxUnavailable": "--max-unavailable=%v", "MaxSurge": "--max-surge=%v", "MinReadySeconds": "--min-ready-seconds=%v",
	"start": "--start=%v", "termination": "--termination=%v", "groupBy": "--group-by=%v",
	"Images": "--image={Container}={Image}", "Tolerations": "--toleration={key}={value}:{effect}", "DropSelector": "--node-selector=%v-",
}

// kindFlags maps changes of nodes to flags.
var kindFlags = map[any]string{
	"Taint": "--taint={Which}:{key}={value}:{effect}", "Untaint": "--taint={Which}:{key}-", "Label": "--label={Which}:{Key}={Value}",
	"Cordon": "--cordon={Which}", "Uncordon": "--uncordon={Which}", "Down": "--node-down={Which}", "Remove": "--remove-nodes={Which}",
	"Add": "--add-nodes={Count} --like={Which}",
}

// asks returns the command line for a change of a story with its options.
func (in *input) asks(t *testing.T, change map[string]any) []string {
	out := []string{"plan-rollout"}
	for _, field := range slices.Sorted(maps.Keys(change)) {
		values, isList := change[field].([]any)
		if !isList {
			values = []any{change[field]}
		}
		for _, value := range values {
			m, _ := value.(map[string]any)
			switch field {
			case "Nodes":
				if taint, ok := m["Taint"].(map[string]any); ok {
					maps.Copy(m, taint)
				}
				for _, flag := range strings.Fields(kindFlags[m["Kind"]]) {
					out = append(out, filled(flag, m))
				}
			case "NodeSelector":
				for _, k := range slices.Sorted(maps.Keys(m)) {
					out = append(out, fmt.Sprintf("--node-selector=%s=%v", k, m[k]))
				}
			case "DaemonSet":
				out = append(out, "-f", in.manifest(t, m))
			case "FieldManager":
				out = append(out, "--server-side", "--force-conflicts", fmt.Sprintf("--field-manager=%s", value))
			case "Method", "Warnings": // the answer of an API server
			case "Images", "Tolerations":
				out = append(out, strings.Replace(filled(fieldFlags[field], m), "==", "=", 1))
			default:
				if fieldFlags[field] == "" {
					t.Errorf("%s: no flag for %s", in.about, field)
				}
				out = append(out, fmt.Sprintf(fieldFlags[field], value))
			}
		}
	}
	return out
}

var blank = regexp.MustCompile(`\{\w+\}`)

// filled returns a text with its blanks replaced by fields of m.
func filled(text string, m map[string]any) string {
	return blank.ReplaceAllStringFunc(text, func(b string) string {
		if v := m[strings.Trim(b, "{}")]; v != nil {
			return fmt.Sprint(v)
		}
		return ""
	})
}

// manifest writes the DaemonSet of a change as a manifest file.
func (in *input) manifest(t *testing.T, daemonSet map[string]any) string {
	meta, _ := daemonSet["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["name"], meta["namespace"] = in.name, in.namespace
	daemonSet["apiVersion"], daemonSet["kind"], daemonSet["metadata"] = "apps/v1", "DaemonSet", meta
	raw, err := json.Marshal(daemonSet)
	check(t, err)
	file := fmt.Sprintf("%s-manifest-%d.json", strings.TrimSuffix(in.file, ".json"), len(in.changes))
	write(t, file, raw)
	return file
}

// glob returns files of the repository. It fails the test if there are none.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	top, err := filepath.Abs(root)
	check(t, err)
	files, err := filepath.Glob(filepath.Join(top, pattern))
	check(t, err)
	if len(files) == 0 {
		t.Fatalf("no file %s", pattern)
	}
	return files
}

func write(t *testing.T, file string, raw []byte) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(file), 0o755))
	check(t, os.WriteFile(file, raw, 0o644))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
