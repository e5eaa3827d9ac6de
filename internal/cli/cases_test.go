package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// casesDir contains the inputs and expect.txt, which lists the expected answers and explains their
// notation.
const casesDir = "testdata/cases"

// TestCases checks the answers for inputs that once got a wrong answer. expect.txt marks
// expectations that do not hold yet with todo. A todo that holds is a failure.
func TestCases(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(casesDir, "expect.txt"))
	if err != nil {
		t.Fatal(err)
	}
	trials, err := readTrials(string(text))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(casesDir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		files[i] = strings.TrimPrefix(filepath.ToSlash(file), casesDir+"/")
	}
	for _, file := range unusedFiles(trials, files) {
		t.Errorf("no case reads %s", file)
	}
	all, todo := 0, 0
	for _, tr := range trials {
		for _, c := range tr.commands {
			all += len(c.expects)
			for _, e := range c.expects {
				if e.todo {
					todo++
				}
			}
		}
		t.Run(tr.input, func(t *testing.T) {
			t.Parallel()
			tr.test(t)
		})
	}
	t.Logf("%d cases, %d expectations, %d of them todo", len(trials), all, todo)
}

// trial is an input with the commands that read it.
type trial struct {
	input    string   // path below casesDir
	from     string   // name of the input if it is elsewhere
	args     []string // arguments of each command
	commands []command
}

type command struct {
	words   []string
	expects []expectation
}

type expectation struct {
	at   string // file and line
	text string
	todo bool
	check
}

// stateArgs are the arguments for inputs in states/ and fit/.
const stateArgs = "-n kube-system agent --now 2026-11-20T12:00:00Z --kubernetes-version v1.35.2"

// readTrials parses expect.txt.
func readTrials(text string) ([]trial, error) {
	var trials []trial
	expects := func() error { // returns an error if the last command has no expectation
		if len(trials) == 0 {
			return nil
		}
		return trials[len(trials)-1].complete()
	}
	for i, line := range strings.Split(text, "\n") {
		folder, _, isInput := strings.Cut(line, "/")
		isInput = isInput && slices.Contains([]string{"states", "incidents", "files", "fit"}, folder)
		at := fmt.Sprintf("expect.txt:%d", i+1)
		var err error
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case isInput:
			words := pastedWords(line)
			if err = expects(); err != nil {
				break
			}
			if slices.ContainsFunc(trials, func(tr trial) bool { return tr.input == words[0] }) {
				err = fmt.Errorf("a second case of %s", words[0])
			}
			tr := trial{input: words[0], args: words[1:]}
			if len(tr.args) == 0 && (folder == "states" || folder == "fit") {
				tr.args = strings.Fields(stateArgs)
			}
			trials = append(trials, tr)
		case len(trials) == 0:
			err = fmt.Errorf("%q is before the first input", line)
		default:
			err = trials[len(trials)-1].take(at, line)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
	}
	return trials, expects()
}

// take parses a line with a command, or with an expectation of the last command.
func (tr *trial) take(at, line string) (err error) {
	if asked, isCommand := strings.CutPrefix(line, "$ "); isCommand {
		if len(tr.commands) > 0 {
			err = tr.complete()
		}
		tr.commands = append(tr.commands, command{words: pastedWords(asked)})
		return err
	}
	if len(tr.commands) == 0 {
		return fmt.Errorf("%q is before the first command", line)
	}
	c := &tr.commands[len(tr.commands)-1]
	e := expectation{at: at, text: line}
	e.text, e.todo = strings.CutPrefix(line, "todo ")
	e.check, err = parseExpectation(e.text)
	c.expects = append(c.expects, e)
	return err
}

// complete returns an error if the last command has no expectation.
func (tr *trial) complete() error {
	if len(tr.commands) == 0 {
		return fmt.Errorf("%s: no command", tr.input)
	}
	if c := tr.commands[len(tr.commands)-1]; len(c.expects) == 0 {
		return fmt.Errorf("%s: nothing is expected of %q", tr.input, strings.Join(c.words, " "))
	}
	return nil
}

// unusedFiles returns the files that no trial reads.
func unusedFiles(trials []trial, files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		return slices.ContainsFunc(trials, func(tr trial) bool {
			return tr.input == file || slices.ContainsFunc(tr.commands, func(c command) bool {
				return slices.Contains(tr.line(c.words), filepath.Join(casesDir, file))
			})
		})
	})
}

func (tr trial) test(t *testing.T) {
	for _, c := range tr.commands {
		r, err := tr.ask(c.words)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, err := range c.judge(r) {
			t.Error(err)
		}
	}
}

// judge returns the faults of a reply and of its expectations.
func (c command) judge(r reply) []error {
	asked := strings.Join(c.words, " ")
	isExit := func(e expectation) bool { return strings.HasPrefix(e.text, "exit: ") }
	if r.status == 1 && !slices.ContainsFunc(c.expects, isExit) {
		return []error{fmt.Errorf("%q is an error: %s", asked, r.errors)}
	}
	var wrong []error
	for _, e := range c.expects {
		switch err := e.check(r); {
		case e.todo && err == nil:
			wrong = append(wrong, fmt.Errorf("%s: %q: %s: holds now: remove todo", e.at, asked, e.text))
		case !e.todo && err != nil:
			wrong = append(wrong, fmt.Errorf("%s: %q: %s: %w", e.at, asked, e.text, err))
		}
	}
	return wrong
}

// line returns the arguments of a command about the input.
func (tr trial) line(words []string) []string {
	args := tr.args
	if slices.Contains(words, "-A") { // the DaemonSets of all namespaces
		args = nil
		for i := 0; i < len(tr.args); i++ {
			switch arg := tr.args[i]; {
			case arg == "-n":
				i++
			case strings.HasPrefix(arg, "-"):
				args = append(args, tr.args[i:i+2]...)
				i++
			}
		}
	}
	from := cmp.Or(tr.from, filepath.Join(casesDir, tr.input))
	line := slices.Concat(words[:1], []string{"--from", from}, args, words[1:])
	for i := range line[1:] {
		if line[i] == "-f" {
			line[i+1] = filepath.Join(casesDir, filepath.Dir(tr.input), line[i+1])
		}
	}
	return line
}

// ask runs a command and returns its reply.
func (tr trial) ask(words []string) (reply, error) {
	line := tr.line(words)
	out, errs, status := printed(append(slices.Clone(line), "-o", "json")...)
	r := reply{errors: errs, status: status}
	if status != 1 {
		if err := json.Unmarshal([]byte(out), &r.document); err != nil {
			return r, fmt.Errorf("%q prints no JSON: %w", line, err)
		}
	}
	r.screen = sync.OnceValue(func() string {
		out, _, _ := printed(line...)
		return strings.ReplaceAll(out, cmp.Or(tr.from, filepath.Join(casesDir, tr.input)), "INPUT") // a file name may contain the expected text
	})
	r.again = func(words []string) (reply, error) { return tr.ask(words) }
	return r, nil
}

// facts lists the facts that can change an answer. Each fact has a pair of states in facts.txt.
var facts = []string{
	"DiskPressure", "MemoryPressure", "PIDPressure", "NetworkUnavailable",
	"Ready: age", "Ready: reason", "Ready: no CNI, and this is the CNI", "cordoned",
	"out-of-service: the taint", "out-of-service: operator Exists", "out-of-service: v1.24",
	"DrainInProgress", "Drained", "MaintenancePlanned", "MaintenanceInProgress", "GracefulNodeShutdownInProgress", "on purpose: by whom",
	"virtual node", "virtual node: taint tolerated",
	"Pulling", "Failed: the words of the registry", "FailedKillPod", "FailedToRetrieveImagePullSecret", "FailedAttachVolume",
	"crash loop: Ready at the moment", "startup probe", "liveness probe", "liveness probe: ended for it", "liveness probe: runs again", "sidecar", "OOM: limit", "OOM: LimitRange", "condition of others", "image: rewritten", "ReadWriteOnce",
	"added: nodeSelector", "added: tolerations", "added: container", "added: by whom",
	"quota: scope", "quota: priority class", "webhook: not called", "PriorityClass: missing", "PriorityClass: preempts",
	"several messages", "all stopped at one time", "namespace terminating", "being deleted", "foreground deletion", "Lease", "missed wake-up",
}

// pair is two states that differ in only one fact.
type pair struct {
	fact   string
	todo   bool // the two screens do not differ yet
	states []factState
}

type factState struct {
	trial
	worlds []string // in the notation of the stories; each world overrides the one before
}

// TestFacts checks the expectations of both states of each pair. It also checks that the two
// screens differ in Fault, Do now or Then.
func TestFacts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(casesDir, "facts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := readPairs(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, fact := range factsWithoutPair(pairs) {
		t.Errorf("facts.txt has no pair for %q", fact)
	}
	for _, p := range pairs {
		t.Run(p.fact, func(t *testing.T) {
			t.Parallel()
			var shown []string
			for i := range p.states {
				s := &p.states[i]
				s.write(t)
				s.test(t)
				r, err := s.ask(append(slices.Clone(s.commands[0].words), "--all"))
				if err != nil {
					t.Fatal(err)
				}
				shown = append(shown, adviceOn(r.screen()))
			}
			switch differs := shown[0] != shown[1]; {
			case !differs && !p.todo:
				t.Errorf("both states show:\n%s", shown[0])
			case differs && p.todo:
				t.Error("what they show differs now: remove todo")
			}
		})
	}
}

// factsWithoutPair returns the facts without a pair.
func factsWithoutPair(pairs []pair) []string {
	return slices.DeleteFunc(slices.Clone(facts), func(fact string) bool {
		return slices.ContainsFunc(pairs, func(p pair) bool { return p.fact == fact })
	})
}

// readPairs parses facts.txt.
func readPairs(text string) ([]pair, error) {
	var pairs []pair
	var world *string // the world to which indented lines belong
	bases := map[string]*string{}
	read := func(at, line string) error {
		word, rest, _ := strings.Cut(line, " ")
		yaml, indented := strings.CutPrefix(line, "    ")
		switch {
		case line == "" || word == "#":
		case indented && world != nil:
			*world += yaml + "\n"
		case word == "base":
			world = new(string)
			bases[rest] = world
		case word == "fact":
			fact, base, _ := strings.Cut(rest, " on ")
			if bases[base] == nil || !slices.Contains(facts, fact) {
				return fmt.Errorf("unknown fact %q, or base %q", fact, base)
			}
			pairs = append(pairs, pair{fact: fact, states: []factState{{worlds: []string{*bases[base]}}, {worlds: []string{*bases[base]}}}})
			for i := range pairs[len(pairs)-1].states {
				pairs[len(pairs)-1].states[i].args = strings.Fields("-n kube-system agent")
			}
			world = nil
		case len(pairs) == 0:
			return fmt.Errorf("%q is before the first fact", line)
		case line == "todo differs":
			pairs[len(pairs)-1].todo = true
		case word == "state":
			states := pairs[len(pairs)-1].states
			i := slices.IndexFunc(states, func(s factState) bool { return s.input == "" })
			if i < 0 {
				return fmt.Errorf("a third state %q", rest)
			}
			states[i].input, world = rest, new(string)
		default:
			states := pairs[len(pairs)-1].states
			i := slices.IndexFunc(states, func(s factState) bool { return s.input == "" }) - 1
			if i < -1 {
				i = len(states) - 1
			}
			if i < 0 {
				return fmt.Errorf("%q is before the first state", line)
			}
			if world != nil {
				states[i].worlds, world = append(states[i].worlds, *world), nil
			}
			return states[i].take(at, line)
		}
		return nil
	}
	for i, line := range strings.Split(text, "\n") {
		at := fmt.Sprintf("facts.txt:%d", i+1)
		if err := read(at, line); err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
	}
	for _, p := range pairs {
		for i := range p.states {
			if err := p.states[i].complete(); err != nil {
				return nil, fmt.Errorf("%s: %w", p.fact, err)
			}
		}
	}
	return pairs, nil
}

// write writes the Snapshot of a state to a file.
func (s *factState) write(t *testing.T) {
	var all any
	for _, text := range s.worlds {
		var w any
		if err := yaml.Unmarshal([]byte(text), &w); err != nil {
			t.Fatalf("%s: %v", s.input, err)
		}
		all = merge(all, w)
	}
	text, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := snapshot.Encode(world.Parse(t, string(text)))
	if err != nil {
		t.Fatal(err)
	}
	s.from = filepath.Join(t.TempDir(), "snapshot.json")
	if err := os.WriteFile(s.from, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// merge merges over into under. It merges maps key by key, and replaces other values.
func merge(under, over any) any {
	u, isMap := under.(map[string]any)
	o, both := over.(map[string]any)
	switch {
	case over == nil && isMap:
		return under
	case !isMap || !both:
		return over
	}
	all := maps.Clone(u)
	for key, value := range o {
		if value == nil {
			all[key] = nil
			continue
		}
		all[key] = merge(u[key], value)
	}
	return all
}

// adviceOn returns the entries Fault, Do now, Then, Or and Do not of a screen.
func adviceOn(screen string) string {
	var out []string
	in := false
	for _, line := range strings.Split(screen, "\n") {
		label := strings.TrimSpace(line[:min(len(line), 10)])
		if label != "" {
			in = slices.Contains([]string{"Fault", "Do now", "Then", "Or", "Do not"}, label)
		}
		if in {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// TestPairs checks that facts without a pair, and unused lines of facts.txt, are errors.
func TestPairs(t *testing.T) {
	const whole = "base a\n    x: {y: 1, z: 1}\nfact Lease on a\nstate one\n$ explain\nno fix\nstate two\n    x: {y: 2}\n$ explain\nno fix\n"
	for _, tt := range []struct{ text, want string }{
		{whole, ""},
		{whole + "state three", `facts.txt:11: a third state "three"`},
		{whole + "fact Lease on b", `facts.txt:11: unknown fact "Lease", or base "b"`},
		{whole + "fact Leash on a", `facts.txt:11: unknown fact "Leash", or base "a"`},
		{whole + "fact Lease on a\nno fix", `facts.txt:12: "no fix" is before the first state`},
		{whole + "fact Lease on a\nstate one\nno fix", `facts.txt:13: "no fix" is before the first command`},
		{whole + "fact Lease on a\nstate one\n$ explain\nno fix", "Lease: : no command"},
		{whole + "seems: Stuck", "facts.txt:11: no expectation has this form"},
		{"no fix", `facts.txt:1: "no fix" is before the first fact`},
	} {
		got := ""
		if _, err := readPairs(tt.text); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", strings.TrimPrefix(tt.text, whole), got, tt.want)
		}
	}
	pairs, err := readPairs(whole)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := factsWithoutPair(pairs), slices.DeleteFunc(slices.Clone(facts), func(f string) bool { return f == "Lease" }); !slices.Equal(got, want) {
		t.Errorf("unpaired: %q", got)
	}
	under, over := map[string]any{"x": map[string]any{"y": 1, "z": 1}, "l": []any{1}}, map[string]any{"x": map[string]any{"y": nil}, "l": []any{2}, "n": nil}
	if got, want := fmt.Sprint(merge(under, over)), "map[l:[2] n:<nil> x:map[y:<nil> z:1]]"; got != want {
		t.Errorf("laid: %s, want %s", got, want)
	}
	const screen = "STUCK  it\n\nFault     a node\n          is down\nImpact    none\n          at all\nDo now    wait\nThen      repair\n  it\n"
	if got, want := adviceOn(screen), "Fault     a node\n          is down\nDo now    wait\nThen      repair"; got != want {
		t.Errorf("advised: %q, want %q", got, want)
	}
}
