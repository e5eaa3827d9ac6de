package compare

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

var (
	base   = flag.String("base", "", "the commit to compare with; without it TestSame is skipped; default is "+defaultBase)
	seed   = flag.Int64("seed", 1, "of the first random state")
	states = flag.Int("states", 500, "how many random states")
	only   = flag.String("only", "", "only inputs whose name contains this")
	keep   = flag.String("keep", "", "the folder for builds and inputs; without it they are removed at the end")
)

const root = "../.."

// TestSame: the working tree answers as the commit of -base does, but for additions,
// renames and what is justified.
func TestSame(t *testing.T) {
	if *base == "" {
		t.Skip("compares with the binary of another commit: make compare")
	}
	ref := *base
	if ref == "default" {
		ref = defaultBase
	}
	if err := exec.Command("git", "-C", root, "cat-file", "-e", ref+"^{commit}").Run(); err != nil {
		t.Skipf("commit %s is not in this clone: git fetch --unshallow", ref)
	}
	folder := *keep
	if folder == "" {
		folder = t.TempDir()
	}
	builds := [2]string{buildOf(t, ref, folder), build(t, root, filepath.Join(folder, "new"))}
	t.Setenv("KUBECONFIG", filepath.Join(folder, "none"))
	t.Setenv("HOME", folder) // after the builds: Go's caches are below it
	inputs := inputs(t, folder)
	r := &report{used: map[string]int{}, added: map[string]int{}, places: map[string]*place{}}
	ask := make(chan question)
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for q := range ask {
				r.see(t, q, q.ask(t, builds[0]), q.ask(t, builds[1]))
			}
		})
	}
	for i, in := range inputs {
		if !strings.Contains(in.file, *only) {
			continue
		}
		for j, c := range in.commands() {
			if in.random && j >= always && (i+j)%3 > 0 { // each of the rest of a third of the states
				continue
			}
			ask <- question{in, c}
		}
	}
	close(ask)
	wait.Wait()
	r.tell(t, len(inputs), *states >= 500 && *only == "")
}

// input is a file, and the DaemonSet in it that is asked about.
type input struct {
	file, namespace, name string
	node                  string // one of its nodes, or "" where there is none
	random                bool
}

// inputs writes what there is to ask about: the examples, the worlds of all stories,
// and random states of several versions.
func inputs(t *testing.T, folder string) []input {
	t.Helper()
	var out []input
	add := func(name string, s *snapshot.Snapshot) {
		file := filepath.Join(folder, "in", name+".json")
		raw, err := snapshot.Encode(s)
		check(t, err)
		check(t, os.MkdirAll(filepath.Dir(file), 0o755))
		check(t, os.WriteFile(file, raw, 0o644))
		out = append(out, inputOf(file, s))
	}
	examples, err := filepath.Glob(filepath.Join(root, "examples", "*.json"))
	check(t, err)
	for _, file := range examples {
		raw, err := os.ReadFile(file)
		check(t, err)
		s, err := snapshot.Decode(raw)
		check(t, err)
		absolute, err := filepath.Abs(file)
		check(t, err)
		out = append(out, inputOf(absolute, s))
	}
	stories := 0
	for _, pattern := range []string{"*.txtar", "plan/*.txtar", "history/*.txtar"} {
		files, err := filepath.Glob(filepath.Join(root, "internal/view/testdata", pattern))
		check(t, err)
		for _, file := range files {
			story, err := txtar.ParseFile(file)
			check(t, err)
			for _, part := range story.Files {
				if strings.HasPrefix(part.Name, "world") {
					stories++
					name := filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".txtar")
					add(fmt.Sprintf("%s-%d", name, stories), world.Parse(t, string(part.Data)))
				}
			}
		}
	}
	versions := []string{dstest.Newest, dstest.Newest, "v1.33.1", "v1.27.3", "v1.20.5"}
	for i := range *states {
		n := *seed + int64(i)
		add(fmt.Sprintf("seed-%d", n), dstest.RandomFor(n, versions[i%len(versions)]))
		out[len(out)-1].random = true
	}
	if len(examples) == 0 || stories == 0 {
		t.Fatalf("%d examples, %d stories", len(examples), stories)
	}
	return out
}

func inputOf(file string, s *snapshot.Snapshot) input {
	in := input{file: file, namespace: s.DaemonSet.Namespace, name: s.DaemonSet.Name}
	if len(s.Nodes) > 0 {
		in.node = s.Nodes[0].Name
	}
	return in
}

// always is how many of the commands are asked of every random state.
const always = 6

// commands are the command lines that are asked of an input, without the DaemonSet.
func (in input) commands() []string {
	all := []string{
		"explain", "plan-rollout", "history", "plan-rollout --restart", "history --diff -1", "history --undo 0",
		"plan-rollout --restart --start 20s --termination 5s --request-rate 10",
		"plan-rollout --image *=example/agent:99", "plan-rollout --max-unavailable 3", "plan-rollout --max-unavailable 50% --restart",
		"plan-rollout --max-surge 1 --max-unavailable 0 --restart", "plan-rollout --strategy OnDelete", "plan-rollout --strategy RollingUpdate --restart",
		"plan-rollout --min-ready-seconds 30 --restart", "plan-rollout --to-revision 0", "plan-rollout --toleration *", "plan-rollout --node-selector pool=gpu",
		"plan-rollout --restart --group-by kubernetes.io/hostname",
		"history --diff -1,live --show-values", "history --revision -1",
	}
	if in.node != "" {
		for _, c := range []string{
			"explain --node NODE", "plan-rollout --taint NODE:k=v:NoExecute", "plan-rollout --cordon NODE", "plan-rollout --restart --node-down NODE",
			"plan-rollout --remove-nodes NODE", "plan-rollout --add-nodes 2 --like NODE", "plan-rollout --label NODE:pool=gpu",
		} {
			all = append(all, strings.ReplaceAll(c, "NODE", in.node))
		}
	}
	return all
}

// question is a command line about an input.
type question struct {
	input
	command string
}

func (q question) line() []string {
	return append(strings.Fields(q.command), q.name, "-n", q.namespace, "--from", q.file, "-o", "json")
}

func (q question) ask(t *testing.T, build string) answer {
	var out bytes.Buffer
	c := exec.Command(build, q.line()...)
	c.Stdout = &out
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Error(err)
	}
	return answer{c.ProcessState.ExitCode(), out.String()}
}

// place is where answers differ, with how often and the first question.
type place struct {
	count int
	first question
	difference
}

// report is what a run found. It is safe for concurrent use.
type report struct {
	sync.Mutex
	answers, refused int
	used, added      map[string]int
	places           map[string]*place
}

func (r *report) see(t *testing.T, q question, old, new answer) {
	r.Lock()
	defer r.Unlock()
	r.answers++
	if old.status == 1 && new.status == 1 {
		r.refused++
	}
	found, err := differences(old, new, r.added, r.used)
	if err != nil {
		t.Errorf("%s: %v", strings.Join(q.line(), " "), err)
	}
	for _, d := range found {
		if why := reasonFor(d); why != "" {
			r.used[why]++
			continue
		}
		key := q.command + " " + d.at
		if r.places[key] == nil {
			r.places[key] = &place{first: q, difference: d}
		}
		r.places[key].count++
	}
}

// reasonFor returns why a difference is allowed, or "".
func reasonFor(d difference) string {
	for _, j := range allowed {
		prefix, any := strings.CutSuffix(j.at, "*")
		if (d.at == j.at || any && strings.HasPrefix(d.at, prefix)) && (j.is == nil || j.is(d.old, d.new)) {
			return j.reason
		}
	}
	return ""
}

// tell writes what was found, and fails for each place that differs. Of a whole run
// it fails for each rename and each reason that nothing needed.
func (r *report) tell(t *testing.T, inputs int, whole bool) {
	t.Logf("%d inputs, %d answers of each build, %d of them errors of both", inputs, r.answers, r.refused)
	for _, at := range slices.Sorted(maps.Keys(r.added)) {
		t.Logf("added %6d  %s", r.added[at], at)
	}
	for _, why := range slices.Sorted(maps.Keys(r.used)) {
		t.Logf("allowed %4d  %s", r.used[why], cmp.Or(renames[why], why))
	}
	for _, key := range slices.Sorted(maps.Keys(r.places)) {
		p := r.places[key]
		t.Errorf("%d times, first %s\n  at  %s\n  old %s\n  new %s", p.count, strings.Join(p.first.line(), " "), p.at, short(p.old), short(p.new))
	}
	if !whole {
		return
	}
	for code := range renames {
		if r.used[code] == 0 {
			t.Errorf("the rename of %s was not needed", code)
		}
	}
	for _, j := range allowed {
		if r.used[j.reason] == 0 {
			t.Errorf("not needed: %s: %s", j.at, j.reason)
		}
	}
}

func short(s string) string {
	const most = 1500
	if len(s) > most {
		return s[:most] + "…"
	}
	return cmp.Or(s, "nothing")
}

// buildOf returns the plugin of a commit, built if it is not there yet.
func buildOf(t *testing.T, ref, folder string) string {
	t.Helper()
	if there := filepath.Join(folder, "old-"+filepath.Base(ref)); exists(there) { // of an earlier run with -keep
		return there
	}
	tree := filepath.Join(folder, "tree-"+filepath.Base(ref))
	check(t, os.MkdirAll(tree, 0o755))
	archive, err := exec.Command("git", "-C", root, "archive", ref).Output()
	if err != nil {
		t.Fatalf("git archive %s: %v: it needs the history of git", ref, err)
	}
	untar := exec.Command("tar", "-x", "-C", tree)
	untar.Stdin = bytes.NewReader(archive)
	if out, err := untar.CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	return build(t, tree, filepath.Join(folder, "old-"+filepath.Base(ref)))
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func build(t *testing.T, tree, into string) string {
	t.Helper()
	into, err := filepath.Abs(into)
	check(t, err)
	c := exec.Command("go", "build", "-o", into, "./cmd/kubectl-ds")
	c.Dir = tree
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return into
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestDifferences: what counts as a difference. An answer is its exit status and its
// document.
func TestDifferences(t *testing.T) {
	for _, tt := range []struct{ old, new, want, why string }{
		{`0 {"a": 1}`, `0 {"a": 1}`, "", "the same"},
		{`0 {"a": 1}`, `0 {"b": {}, "a": 1}`, "", "an addition"},
		{`0 {"a": [{"b": 1}]}`, `0 {"a": [{"b": 1, "c": 2}]}`, "", "an addition below a list"},
		{`0 {"a": 1}`, `0 {"a": 2}`, "a: 1, 2", "another number"},
		{`0 {"a": "x"}`, `0 {"a": "y"}`, `a: "x", "y"`, "another word"},
		{`0 {"a": 1}`, `0 {}`, "a: 1, nothing", "a field is gone"},
		{`0 {"a": null}`, `0 {}`, "a: null, nothing", "a field that was null is gone"},
		{`0 {"a": null}`, `0 {"a": []}`, "a: null, []", "null is not an empty list"},
		{`0 {"a": 1}`, `0 {"a": "1"}`, `a: 1, "1"`, "another type"},
		{`0 {"a": [1]}`, `0 {"a": [1, 2]}`, "a: [1], [1,2]", "an element more is no addition: whoever counts counts it"},
		{`0 {"a": [1, 2]}`, `0 {"a": [2, 1]}`, "a[*]: 1, 2; a[*]: 2, 1", "another order"},
		{`0 {"a": [{"b": 1}, {"b": 2}]}`, `0 {"a": [{"b": 1}, {"b": 3}]}`, "a[*].b: 2, 3", "below a list"},
		{`0 {"code": "CrashLoop"}`, `0 {"code": "CrashLoopBackOff"}`, "", "a rename"},
		{`0 {"code": "CrashLoop"}`, `0 {"code": "ImagePullBackOff"}`, `code: "CrashLoop", "ImagePullBackOff"`, "not this one"},
		{`0 {"code": "CrashLoopBackOff"}`, `0 {"code": "CrashLoop"}`, `code: "CrashLoopBackOff", "CrashLoop"`, "nor back"},
		{`0 {}`, `2 {}`, "exit status: 0, 2", "another exit status"},
		{`1 `, `1 `, "", "two errors: their words may differ"},
		{`1 `, `0 {}`, "exit status: 1, 0", "one of them is an error"},
	} {
		var answers [2]answer
		for i, text := range []string{tt.old, tt.new} {
			status, out, _ := strings.Cut(text, " ")
			answers[i] = answer{int(status[0] - '0'), out}
		}
		found, err := differences(answers[0], answers[1], map[string]int{}, map[string]int{})
		var got []string
		for _, d := range found {
			got = append(got, fmt.Sprintf("%s: %s, %s", d.at, d.old, cmp.Or(d.new, "nothing")))
		}
		if words := strings.Join(got, "; "); err != nil || words != tt.want {
			t.Errorf("%s and %s: %q, %v, want %q (%s)", tt.old, tt.new, words, err, tt.want, tt.why)
		}
	}
}

// TestOnlyRowsWithoutNodes: which new rows of explain's revisions are justified.
func TestOnlyRowsWithoutNodes(t *testing.T) {
	const a, b = `{"name": "a", "nodes": ["n1"]}`, `{"name": "b", "nodes": ["n2"]}`
	for _, tt := range []struct {
		old, new string
		is       bool
		why      string
	}{
		{"[" + a + "]", `[` + a + `, {"name": "c", "nodes": []}]`, true, "a row without nodes"},
		{"[" + a + "]", `[{"name": "c", "nodes": []}, {"name": "a", "nodes": ["n1"], "pods": 1}]`, true, "before one with an addition"},
		{`[{"name": "", "hash": "x", "nodes": ["n1"]}]`, `[{"name": "", "hash": "", "nodes": []}, {"name": "", "hash": "x", "nodes": ["n1"]}]`, true, "one of another hash that no revision has"},
		{"[" + a + "]", "[" + a + ", " + b + "]", false, "a row with a node"},
		{"[" + a + ", " + b + "]", "[" + a + "]", false, "a row is gone"},
		{"[" + a + "]", `[{"name": "a", "nodes": []}, {"name": "c", "nodes": []}]`, false, "its node is gone"},
		{"[" + a + ", " + b + "]", "[" + b + ", " + a + `, {"name": "c", "nodes": []}]`, false, "another order"},
		{"1", "[]", false, "not rows"},
	} {
		if is := onlyRowsWithoutNodes(tt.old, tt.new); is != tt.is {
			t.Errorf("%s and %s: %v (%s)", tt.old, tt.new, is, tt.why)
		}
	}
}

// TestOnlyRepair: which new ways out are justified.
func TestOnlyRepair(t *testing.T) {
	const a = `{"code": "RemoveNode", "value": "n1"}`
	for _, tt := range []struct {
		old, new string
		is       bool
		why      string
	}{
		{"[" + a + "]", `[{"code": "RemoveNode", "value": "n1", "nodes": ["n1"]}, {"code": "RepairNodes"}]`, true, "the repair, behind one with an addition"},
		{"[]", `[{"code": "RepairNodes"}]`, true, "the only way out"},
		{"[" + a + "]", "[" + a + ", " + a + "]", false, "another one"},
		{"[" + a + "]", `[{"code": "RepairNodes"}]`, false, "in place of the one before"},
		{"[" + a + "]", `[{"code": "RemoveNode", "value": "n2"}, {"code": "RepairNodes"}]`, false, "another node"},
	} {
		if is := onlyRepair(tt.old, tt.new); is != tt.is {
			t.Errorf("%s and %s: %v (%s)", tt.old, tt.new, is, tt.why)
		}
	}
}
