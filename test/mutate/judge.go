package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// judges are the tests and the oracle, built once with all mutants.
type judges struct {
	target  target
	root    string // of the main module
	scratch string
	timeout time.Duration // for one program; a timeout counts as caught
	own     bool          // only the tests of the package
	number  string        // the file with the number of the active mutant
	overlay string        // the file for go's -overlay
	rules   program
	others  []program // tests of packages that depend on the rules
	oracle  *program  // nil: not run
	slow    string    // pattern for -test.run of the slow tests of the rules
}

// program is the compiled tests of one package.
type program struct {
	name, dir, path string
	env             []string
	took            time.Duration // without a mutant
}

// verdict says who caught a mutant, and how.
type verdict struct {
	by   catcher
	with string // the test that failed first
}

type catcher string

const (
	byTests  catcher = "go test"
	byOracle catcher = "the oracle"
	byNobody catcher = "nobody"
)

// build inserts the candidates that compile into the package and builds all judges. It returns the
// numbers of the others; the number of a candidate is its index plus one.
func (j *judges) build(ctx context.Context, s *source, all []mutant, oracle bool, env []string) (bad map[int]bool, err error) {
	j.number, bad = filepath.Join(j.scratch, "number"), map[int]bool{}
	mutants := map[int]mutant{}
	for i, m := range all {
		mutants[i+1] = m
	}
	for {
		if err := j.write(s.instrument(mutants, j.number)); err != nil {
			return nil, err
		}
		out, err := j.run(ctx, j.root, nil, "go", "build", "-gcflags=-e", "-overlay", j.overlay, "./"+j.target.rules)
		if err == nil {
			break
		}
		found := refused.FindAllStringSubmatch(out, -1)
		if len(found) == 0 {
			return nil, fmt.Errorf("build the mutants: %w\n%s", err, out)
		}
		for _, f := range found {
			n, err := strconv.Atoi(f[1])
			if err != nil {
				return nil, fmt.Errorf("build the mutants: %w\n%s", err, out)
			}
			delete(mutants, n)
			bad[n] = true
		}
	}
	if err := j.packages(ctx); err != nil {
		return nil, err
	}
	for _, p := range append([]program{j.rules}, j.others...) {
		if err := j.compile(ctx, p); err != nil {
			return nil, err
		}
	}
	if oracle {
		if err := os.Mkdir(filepath.Join(j.scratch, "programs"), 0o700); err != nil {
			return nil, err
		}
		j.oracle = &program{name: "test/" + j.target.oracle, dir: filepath.Join(j.root, "test", j.target.oracle), path: filepath.Join(j.scratch, "oracle.test"), env: env}
		return bad, j.compile(ctx, *j.oracle)
	}
	return bad, nil
}

var refused = regexp.MustCompile(`mutant(\d+):\d`)

// write writes the changed files to the scratch folder, and the file for go's -overlay.
func (j *judges) write(files map[string][]byte) error {
	replace := map[string]string{}
	for name, text := range files {
		changed := filepath.Join(j.scratch, name)
		replace[filepath.Join(j.root, j.target.rules, name)] = changed
		if err := os.WriteFile(changed, text, 0o600); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	j.overlay = filepath.Join(j.scratch, "overlay.json")
	return os.WriteFile(j.overlay, raw, 0o600)
}

// packages finds the packages of the main module whose tests depend on the rules. Mutants do not
// affect others.
func (j *judges) packages(ctx context.Context) error {
	out, err := j.run(ctx, j.root, nil, "go", "list", "-test", "-f", `{{.ImportPath}}|{{.Dir}}|{{join .Deps " "}}`, "./...")
	if err != nil {
		return fmt.Errorf("list the tests: %w\n%s", err, out)
	}
	for line := range strings.Lines(out) {
		part := strings.Split(strings.TrimSpace(line), "|")
		if len(part) != 3 || !strings.HasSuffix(part[0], ".test") || !strings.Contains(part[2], "/"+j.target.rules) {
			continue
		}
		p := program{name: strings.TrimSuffix(part[0], ".test"), dir: part[1], path: filepath.Join(j.scratch, fmt.Sprintf("%d.test", len(j.others)))}
		if strings.HasSuffix(p.name, "/"+j.target.rules) {
			p.path = filepath.Join(j.scratch, "rules.test")
			j.rules = p
			continue
		}
		if !j.own {
			j.others = append(j.others, p)
		}
	}
	if j.rules.path == "" {
		return fmt.Errorf("%s has no tests", j.target.rules)
	}
	return nil
}

func (j *judges) compile(ctx context.Context, p program) error {
	out, err := j.run(ctx, p.dir, nil, "go", "test", "-c", "-vet=off", "-ldflags=-w", "-overlay", j.overlay, "-o", p.path, ".")
	if err != nil {
		return fmt.Errorf("build the tests of %s: %w\n%s", p.name, err, out)
	}
	return nil
}

// try returns who catches a mutant. It runs the quick tests of the rules, the slow ones, the other
// tests of the module and, if oracle is set, the oracle. Number 0 stands for no mutant.
func (j *judges) try(ctx context.Context, number int, oracle bool) (verdict, error) {
	if err := os.WriteFile(j.number, []byte(strconv.Itoa(number)), 0o600); err != nil {
		return verdict{}, err
	}
	type question struct {
		*program
		by   catcher
		args []string
	}
	var ask []question
	if j.slow == "" {
		ask = append(ask, question{&j.rules, byTests, []string{"-test.v"}})
	} else {
		ask = append(ask, question{&j.rules, byTests, []string{"-test.skip=" + j.slow}}, question{&j.rules, byTests, []string{"-test.run=" + j.slow}})
	}
	for i := range j.others {
		ask = append(ask, question{&j.others[i], byTests, nil})
	}
	if oracle && j.oracle != nil {
		ask = append(ask, question{j.oracle, byOracle, nil})
	}
	for i, q := range ask {
		timeout := max(j.timeout, 10*q.took) // a busy machine must not count as a catch
		if number == 0 {
			timeout = time.Hour // the oracle builds its programs first
		}
		began := time.Now()
		limited, cancel := context.WithTimeout(ctx, timeout)
		out, err := j.run(limited, q.dir, q.env, q.path, append(q.args, "-test.failfast")...)
		late := limited.Err() != nil
		cancel()
		switch _, exited := errors.AsType[*exec.ExitError](err); {
		case ctx.Err() != nil:
			return verdict{}, ctx.Err()
		case late:
			return verdict{q.by, q.name + " timeout"}, nil
		case exited:
			return verdict{q.by, failure(out)}, nil
		case err != nil:
			return verdict{}, fmt.Errorf("test %s: %w", q.name, err)
		}
		if number == 0 {
			q.took = time.Since(began)
		}
		if i == 0 && j.slow == "" {
			j.slow = slow(out)
		}
	}
	return verdict{by: byNobody}, nil
}

func (j *judges) run(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.WaitDelay = 10 * time.Second // for programs started by the killed one
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var passed = regexp.MustCompile(`(?m)^--- PASS: (\S+) \((\d+\.\d+)s\)`)

// slow returns a pattern that matches the slow tests.
func slow(out string) string {
	names := []string{"none"}
	for _, m := range passed.FindAllStringSubmatch(out, -1) {
		if seconds, err := strconv.ParseFloat(m[2], 64); err == nil && seconds > 0.1 {
			names = append(names, m[1])
		}
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

var failed = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)

// failure returns the innermost test that failed first in the output of tests.
func failure(out string) string {
	name := ""
	for _, m := range failed.FindAllStringSubmatch(out, -1) {
		if name != "" && !strings.HasPrefix(m[1], name+"/") {
			break
		}
		name = m[1]
	}
	switch {
	case name != "" && strings.Contains(out, "panic: "):
		return name + ", panic"
	case name != "":
		return name
	}
	return short(out)
}
