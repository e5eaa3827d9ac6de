package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// casesDir holds the inputs, and expect.txt, which says what is right about
// them and has the notation.
const casesDir = "testdata/cases"

// TestCases holds the answers about inputs that once got a wrong one to what is
// right. An expectation that is not met yet is marked in expect.txt, and fails
// when it is.
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
	for _, file := range unread(trials, files) {
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

// A trial is an input and what is asked of it.
type trial struct {
	input    string   // a path below casesDir
	args     []string // of each command
	commands []command
}

type command struct {
	words   []string
	expects []expectation
}

type expectation struct {
	line int
	text string
	todo bool
	check
}

// ofStates are the arguments for an input in states/.
const ofStates = "-n kube-system agent --now 2026-11-20T12:00:00Z --kubernetes-version v1.35.2"

// readTrials reads expect.txt.
func readTrials(text string) ([]trial, error) {
	var trials []trial
	expects := func() error { // of the last command
		if len(trials) == 0 {
			return nil
		}
		last := trials[len(trials)-1]
		if len(last.commands) == 0 {
			return fmt.Errorf("%s: no command", last.input)
		}
		if c := last.commands[len(last.commands)-1]; len(c.expects) == 0 {
			return fmt.Errorf("%s: nothing is expected of %q", last.input, strings.Join(c.words, " "))
		}
		return nil
	}
	for i, line := range strings.Split(text, "\n") {
		isInput := strings.HasPrefix(line, "states/") || strings.HasPrefix(line, "incidents/")
		asked, isCommand := strings.CutPrefix(line, "$ ")
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
			if len(tr.args) == 0 && strings.HasPrefix(line, "states/") {
				tr.args = strings.Fields(ofStates)
			}
			trials = append(trials, tr)
		case len(trials) == 0:
			err = fmt.Errorf("%q is before the first input", line)
		case isCommand:
			tr := &trials[len(trials)-1]
			if len(tr.commands) > 0 {
				err = expects()
			}
			tr.commands = append(tr.commands, command{words: pastedWords(asked)})
		default:
			tr := &trials[len(trials)-1]
			if len(tr.commands) == 0 {
				err = fmt.Errorf("%q is before the first command", line)
				break
			}
			c := &tr.commands[len(tr.commands)-1]
			e := expectation{line: i + 1, text: line}
			e.text, e.todo = strings.CutPrefix(line, "todo ")
			e.check, err = parseExpectation(e.text)
			c.expects = append(c.expects, e)
		}
		if err != nil {
			return nil, fmt.Errorf("expect.txt:%d: %w", i+1, err)
		}
	}
	return trials, expects()
}

// unread returns those of the files that no trial reads.
func unread(trials []trial, files []string) []string {
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

// judge returns what is wrong with a reply, or with expect.txt.
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
			wrong = append(wrong, fmt.Errorf("expect.txt:%d: %q: %s: holds now: remove todo", e.line, asked, e.text))
		case !e.todo && err != nil:
			wrong = append(wrong, fmt.Errorf("expect.txt:%d: %q: %s: %w", e.line, asked, e.text, err))
		}
	}
	return wrong
}

// line returns the command line that asks of the input what words do.
func (tr trial) line(words []string) []string {
	args := tr.args
	if slices.Contains(words, "-A") { // all DaemonSets of all namespaces
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
	line := slices.Concat(words[:1], []string{"--from", filepath.Join(casesDir, tr.input)}, args, words[1:])
	for i := range line[1:] {
		if line[i] == "-f" {
			line[i+1] = filepath.Join(casesDir, filepath.Dir(tr.input), line[i+1])
		}
	}
	return line
}

// ask runs a command and returns what it answers.
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
		return strings.ReplaceAll(out, filepath.Join(casesDir, tr.input), "INPUT") // whose name may be what is looked for
	})
	r.again = func(words []string) (reply, error) { return tr.ask(words) }
	return r, nil
}
