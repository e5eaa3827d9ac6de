// Command newest finds Kubernetes releases that the oracle does not know, builds their DaemonSet
// controllers, runs the oracle with them, and writes a report in Markdown that begins with a title.
//
//	newest [-known v1.36] [-minors 4] [-each 1] [-report FILE]
//
// It lists releases of k8s.io/client-go, because the module proxy lists k8s.io/kubernetes late. For
// each of the newest minor versions it tries up to three releases that are newer than those in
// program/versions, newest first, until one can be built. It runs in test/oracle and changes
// nothing there. The exit status is 0 if all new releases agree with the model, 1 if nothing can be
// said, 2 if a controller differs, and 3 if none differs but a minor version could not be built or
// run.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/test/oracle"
)

func main() {
	var o options
	flag.StringVar(&o.known, "known", os.Getenv("KNOWN"), "take this version, v1.36 or v1.36.4, for the newest known one")
	flag.IntVar(&o.minors, "minors", 4, "how many of the newest minors to look at")
	flag.IntVar(&o.each, "each", 1, "how many new releases of a minor to compare, the newest first")
	flag.StringVar(&o.report, "report", "", "write the report to this file, not to standard output")
	flag.IntVar(&o.states, "states", 1500, "how many random states to compare of each release")
	flag.IntVar(&o.traces, "traces", 60, "how many rollouts to follow of each release")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = failed
	}
	os.Exit(code)
}

type options struct {
	known, report                string
	minors, each, states, traces int
}

// tries is the maximum number of releases of a minor version to build.
const tries = 3

func run(ctx context.Context, o options) (int, error) {
	programs, err := oracle.Versions()
	if err != nil {
		return failed, err
	}
	known, err := upTo(o.known, releases(programs))
	if err != nil || len(known) == 0 {
		return failed, errors.Join(err, errors.New("no version is known"))
	}
	published, err := published(ctx)
	if err != nil {
		return failed, err
	}
	dir, err := os.MkdirTemp("", "newest-")
	if err != nil {
		return failed, err
	}
	defer os.RemoveAll(dir)
	for _, part := range []string{"program", "controller"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(part)); err != nil {
			return failed, err
		}
	}
	var all []finding
	for _, candidates := range unknown(published, known, o.minors) {
		ran := 0
		for _, r := range candidates[:min(max(tries, o.each), len(candidates))] {
			f := build(ctx, dir, r)
			if len(f.failed) == 0 {
				say("running the oracle with %s", r)
				f.compared = compareWith(ctx, dir, r, o)
			}
			if ctx.Err() != nil {
				return failed, ctx.Err()
			}
			all = append(all, f)
			if len(f.failed) == 0 {
				ran++
			}
			if ran == o.each {
				break
			}
		}
	}
	text := report(all, known[len(known)-1])
	if o.report == "" {
		fmt.Print(text)
		return status(all), nil
	}
	return status(all), os.WriteFile(o.report, []byte(text), 0o644)
}

func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// published returns the releases of client-go.
func published(ctx context.Context) ([]release, error) {
	out, err := output(ctx, "", nil, "go", "list", "-m", "-versions", "-json=Versions", "k8s.io/client-go")
	if err != nil {
		return nil, err
	}
	var module struct{ Versions []string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, fmt.Errorf("go list -m -versions: %w", err)
	}
	all := releases(module.Versions)
	if len(all) == 0 {
		return nil, errors.New("go list -m -versions lists no release of k8s.io/client-go")
	}
	return all, nil
}

// build builds the program of a release in dir, which contains copies of program and controller, as
// dir/RELEASE.
func build(ctx context.Context, dir string, r release) finding {
	f := finding{release: r}
	if why := fetch(ctx, r); why != "" {
		f.failed = []string{why}
		return f
	}
	var why []string
	for _, n := range neighbours(r) {
		say("building the controller of %s with the libraries %s", r, n.libraries())
		program := filepath.Join(dir, "program")
		_, err := output(ctx, program, nil, "./add.sh", r.String(), n.libraries())
		if err == nil {
			_, err = output(ctx, program, nil, "./build.sh", r.String(), filepath.Join(dir, r.String()))
		}
		if err == nil {
			f.libraries = n
			return f
		}
		why = append(why, fmt.Sprintf("with the libraries %s: %v", n.libraries(), err))
	}
	f.failed = why
	return f
}

// fetch returns why the module of a release cannot be fetched, or "".
func fetch(ctx context.Context, r release) string {
	out, err := output(ctx, "", nil, "go", "mod", "download", "-json", "k8s.io/kubernetes@"+r.String())
	if err == nil {
		return ""
	}
	var module struct{ Error string }
	if json.Unmarshal(out, &module) == nil && module.Error != "" {
		return module.Error
	}
	return err.Error()
}

// compareWith runs the oracle with the program of a release in dir.
func compareWith(ctx context.Context, dir string, r release, o options) compared {
	states, traces := fmt.Sprint(o.states), fmt.Sprint(o.traces)
	env := []string{
		"ORACLE_PROGRAMS=" + dir, "ORACLE_VERSIONS=" + r.String(),
		"ORACLE_STATES=" + states, "ORACLE_STATES_OTHERS=" + states, "ORACLE_TRACES=" + traces, "ORACLE_TRACES_OTHERS=" + traces,
		"ORACLE_PLACEMENTS=999", // with more, every reason must occur
	}
	out, err := output(ctx, "", env, "go", "test", "-json", "-count=1", "-timeout", "3h", "-run", "^Test(Sync|Traces|Placement|Named|VolumeClaims|Refused|WhatIf)$", ".")
	return judged(out, r, err == nil)
}

// output runs a command and returns its output. An error ends with its standard error.
func output(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), fmt.Errorf("%s: %w\n%s", name, err, lastLines(stderr.String(), 12))
	}
	return stdout.Bytes(), nil
}

// lastLines returns the last lines of a text.
func lastLines(text string, most int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
