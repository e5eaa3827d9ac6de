package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/kubectl-ds/kubectl-ds/internal/cli"
)

// written returns the files that run writes, by their paths.
func written(t *testing.T, args []string, epoch string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := run(append(args, dir), epoch); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestManual: every command has a page with every flag, every shell has a script, and the
// same date gives the same files.
func TestManual(t *testing.T) {
	files := written(t, []string{"-date", "2026-01-31", "-version", "v0.1.0"}, "")
	if diff := cmp.Diff(files, written(t, []string{"-version", "v0.1.0"}, "1769817600")); diff != "" {
		t.Errorf("of 2026-01-31, by the other way to give it (-want +got):\n%s", diff)
	}
	for _, ending := range []string{"bash", "zsh", "fish", "ps1"} {
		if !strings.Contains(files["completions/kubectl-ds."+ending], "kubectl-ds") {
			t.Errorf("no script of %s", ending)
		}
		delete(files, "completions/kubectl-ds."+ending)
	}
	root := cli.Commands(program)
	for _, cmd := range append(root.Commands(), root) {
		if slices.Contains([]string{"help", "options"}, cmd.Name()) {
			continue
		}
		name := "man/man1/" + pageOf(cmd) + ".1"
		text := files[name]
		delete(files, name)
		for _, part := range []string{"\"2026-01-31\" \"kubectl\\-ds v0.1.0\"", "\n.SH NAME\n", roff(cmd.Short), "\n.SH SYNOPSIS\n.B " + roff(cmd.CommandPath()), "\n.SH DESCRIPTION\n", "\n.SH SEE ALSO\n"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q", name, part)
			}
		}
		set := cmd.LocalFlags()
		set.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "v" && !(cmd == root && f.Name == "help") && !strings.Contains(text, roff("--"+f.Name)+" ") && !strings.Contains(text, roff("--"+f.Name)+"\n") {
				t.Errorf("%s: no --%s", name, f.Name)
			}
		})
	}
	for name := range files {
		t.Errorf("%s is of no command", name)
	}
}

// TestDates: without a date there is no page.
func TestDates(t *testing.T) {
	for _, args := range [][]string{{t.TempDir()}, {"-date", "today", t.TempDir()}, {"-date", "2026-01-31"}, {"-date", "2026-01-31", "a", "b"}} {
		if run(args, "") == nil {
			t.Errorf("%q is no error", args)
		}
	}
}

// TestRoff: no character of a text is a request, an escape or a typographic one.
func TestRoff(t *testing.T) {
	for _, tt := range []struct{ text, want, why string }{
		{"a b", "a b", "plain"},
		{"--from 'x'", `\-\-from \(aqx\(aq`, "to be pasted"},
		{".TH", `\&.TH`, "a dot at the beginning of a line"},
		{`a\b`, `a\eb`, "a backslash"},
		{"jsonpath=…", `jsonpath=\[u2026]`, "beyond ASCII"},
		{"`~^\"", `\(ga\(ti\(ha\(dq`, "what typography changes"},
	} {
		if got := roff(tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q (%s)", tt.text, got, tt.want, tt.why)
		}
	}
}

// TestLint: mandoc, which is stricter than man, has nothing to say about the pages, and
// shows a flag as it is typed.
func TestLint(t *testing.T) {
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("needs mandoc")
	}
	dir := t.TempDir()
	if err := run([]string{"-date", "2026-01-31", dir}, ""); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "man", "man1", "*.1"))
	if err != nil || len(pages) < 5 {
		t.Fatal(pages, err)
	}
	for _, p := range pages {
		if out, err := exec.Command(mandoc, "-Tlint", "-Wwarning", p).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v\n%s", err, out)
		}
		shown, err := exec.Command(mandoc, "-Tascii", p).Output()
		if err != nil || strings.Contains(string(shown), `\`+"(") {
			t.Errorf("%s: %v", p, err)
		}
	}
}
