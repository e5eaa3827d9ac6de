package view

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestUnified checks the output without the file names. Each letter of a text represents a line.
func TestUnified(t *testing.T) {
	for _, tt := range []struct{ old, new, want, why string }{
		{"abcdefghijklmnopqrstuvwxyz", "abcXefgYijklmnopqrstuvZxyz", "@@ -1,11 +1,11 @@| a| b| c|-d|+X| e| f| " +
			"g|-h|+Y| i| j| k|@@ -20,7 +20,7 @@| t| u| v|-w|+Z| x| y| z", "after a hunk with two changes"},
		{"abcdefghijklmnop", "abcXdefgYhijkmnop",
			"@@ -1,15 +1,16 @@| a| b| c|+X| d| e| f| g|+Y| h| i| j| k|-l| m| n| o", "three changes, including a removal"},
		{"abcdefgh", "abcdefgh", "", "none"},
		{"", "ab", "@@ -0,0 +1,2 @@|+a|+b", "from an empty text"},
		{"ab", "", "@@ -1,2 +0,0 @@|-a|-b", "to an empty text"},
		{"a", "b", "@@ -1 +1 @@|-a|+b", "a range of one line has no count"},
		{"abcdefg", "Xbcdefg", "@@ -1,4 +1,4 @@|-a|+X| b| c| d", "the first line"},
		{"abcdefg", "abcdefgX", "@@ -5,3 +5,4 @@| e| f| g|+X", "after the last line"},
		{"abcdefghij", "XbcdefghY", "@@ -1,4 +1,4 @@|-a|+X| b| c| d|@@ -6,5 +6,4 @@| f| g| h|-i|-j|+Y",
			"seven equal lines part two hunks"},
		{"abcdefghi", "XbcdefgYi", "@@ -1,9 +1,9 @@|-a|+X| b| c| d| e| f| g|-h|+Y| i", "and six do not"},
	} {
		lines := func(letters string) []string { return strings.Split(letters, "") }
		if got := strings.Join(unified(lines(tt.old), lines(tt.new)), "|"); got != tt.want {
			t.Errorf("%s: %q to %q\ngot  %s\nwant %s", tt.why, tt.old, tt.new, got, tt.want)
		}
	}
}

// drawTexts returns a text and a changed copy of it. If distinct is set, all lines differ, so there is only one
// shortest difference.
func drawTexts(r *rand.Rand, distinct bool) (string, string) {
	next := 0
	line := func() string {
		if next++; distinct {
			return fmt.Sprintf("line %d", next)
		}
		return []string{"a", "b", "", "- x", "+ y", "-- z", "++ z", "@@ -1 +1 @@", `\ no`, "ä\t ", " "}[r.IntN(11)]
	}
	var old, new []string
	for range r.IntN(60) {
		old = append(old, line())
	}
	every := 2 + r.IntN(12)
	for _, l := range old {
		switch r.IntN(3 * every) {
		case 0:
			new = append(new, line())
		case 1:
			new = append(new, l, line())
		case 2:
		default:
			new = append(new, l)
		}
	}
	text := func(lines []string) string {
		if len(lines) == 0 {
			return ""
		}
		return strings.Join(lines, "\n") + "\n"
	}
	return text(old), text(new)
}

// TestUnifiedIsExact checks that the header of each hunk has the correct positions in both texts, and that applying all
// hunks to the old text leads to the new one.
func TestUnifiedIsExact(t *testing.T) {
	hunks := 0
	for seed := range cases.Of(uint64(1000)) {
		old, new := drawTexts(rand.New(rand.NewPCG(seed, 1)), seed%2 == 0)
		found := unified(linesOf(old), linesOf(new))
		if (old == new) != (len(found) == 0) {
			t.Fatalf("seed %d: %d lines for %q to %q", seed, len(found), old, new)
		}
		got, n, err := made(linesOf(old), found)
		if err != nil || strings.Join(got, "\n") != strings.Join(linesOf(new), "\n") {
			t.Fatalf("seed %d: %v\n%s\n%q to %q gave %q", seed, err, strings.Join(found, "\n"), old, new, got)
		}
		hunks += n
	}
	if hunks < cases.Least(1000) {
		t.Errorf("only %d hunks", hunks)
	}
}

// made applies the hunks exactly at the positions in their headers.
func made(old, diff []string) (new []string, hunks int, err error) {
	at := 0
	for i := 0; i < len(diff); hunks++ {
		var header [4]int
		fields := strings.Fields(diff[i])
		if len(fields) != 4 || fields[0] != "@@" || fields[3] != "@@" {
			return nil, 0, fmt.Errorf("no header: %s", diff[i])
		}
		for side, field := range fields[1:3] {
			start, n, several := strings.Cut(field[1:], ",")
			if !several {
				n = "1"
			}
			header[2*side], _ = strconv.Atoi(start)
			header[2*side+1], _ = strconv.Atoi(n)
			if header[2*side+1] > 0 {
				header[2*side]-- // the header of an empty range names the line before it
			}
		}
		if header[0] < at || header[0] > len(old) {
			return nil, 0, fmt.Errorf("line %d after %d of %d: %s", header[0], at, len(old), diff[i])
		}
		new = append(new, old[at:header[0]]...)
		if at = header[0]; len(new) != header[2] {
			return nil, 0, fmt.Errorf("new line %d, want %d: %s", header[2], len(new), diff[i])
		}
		for i++; header[1] > 0 || header[3] > 0; i++ {
			if i == len(diff) {
				return nil, 0, fmt.Errorf("it ends within a hunk")
			}
			if diff[i][0] != '+' {
				if at == len(old) || old[at] != diff[i][1:] {
					return nil, 0, fmt.Errorf("line %d is not %q", at, diff[i])
				}
				at++
				header[1]--
			}
			if diff[i][0] != '-' {
				new = append(new, diff[i][1:])
				header[3]--
			}
		}
	}
	return append(new, old[at:]...), hunks, nil
}

// TestUnifiedIsThatOfGit compares the output with git diff, and with diff -u if it is installed, for texts with
// distinct lines. For all texts, it checks that git apply and patch turn the old text into the new one.
func TestUnifiedIsThatOfGit(t *testing.T) {
	pairs := cases.Of(uint64(60))
	dir := t.TempDir()
	run := func(stdin string, status int, name string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), name, args...)
		c.Dir, c.Stdin = dir, strings.NewReader(stdin)
		c.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL="+os.DevNull,
			"GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
		out, err := c.CombinedOutput()
		if c.ProcessState == nil || c.ProcessState.ExitCode() > status {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	_, noDiff := exec.LookPath("diff")
	_, noPatch := exec.LookPath("patch")
	texts, all := map[string]string{}, ""
	for seed := range pairs {
		old, new := drawTexts(rand.New(rand.NewPCG(seed, 2)), seed%3 > 0)
		if old == new || old == "" || new == "" { // git diff shows added and deleted files differently
			continue
		}
		name := fmt.Sprintf("%d.yaml", seed)
		write("old/"+name, old)
		write("new/"+name, new)
		ours := unified(linesOf(old), linesOf(new))
		if seed%3 > 0 {
			for tool, theirs := range map[string]func() string{
				"git diff": func() string {
					return run("", 1, "git", "diff", "--no-index", "--no-color", "old/"+name,
						"new/"+name)
				},
				"diff -u": func() string { return run("", 1, "diff", "-u", "old/"+name, "new/"+name) },
			} {
				if tool == "diff -u" && noDiff != nil {
					continue
				}
				if diff := cmp.Diff(hunksOf(theirs()), ours); diff != "" {
					t.Fatalf("seed %d: (-%s +ours):\n%s", seed, tool, diff)
				}
			}
		}
		whole := strings.Join(ours, "\n") + "\n"
		write("git/"+name, old)
		write("patch/"+name, old)
		texts[name] = new
		all += "--- a/git/" + name + "\n+++ b/git/" + name + "\n" + whole
		if noPatch == nil {
			if said := run(whole, 0, "patch", "--fuzz=0", "patch/"+name); strings.Contains(said, "offset") {
				t.Fatalf("seed %d: patch looked elsewhere: %s\n%s", seed, said, whole)
			}
		}
	}
	run(all, 0, "git", "apply", "--whitespace=nowarn", "-")
	for name, want := range texts {
		if got := read("git/" + name); got != want {
			t.Errorf("%s: git apply (-want +got):\n%s", name, cmp.Diff(want, got))
		}
		if got := read("patch/" + name); noPatch == nil && got != want {
			t.Errorf("%s: patch (-want +got):\n%s", name, cmp.Diff(want, got))
		}
	}
	if len(texts) < int(pairs/3) {
		t.Errorf("only %d pairs differ", len(texts))
	}
}

// hunksOf returns a diff without the file names, and without the text after the header of a hunk.
func hunksOf(diff string) []string {
	var out []string
	for _, l := range linesOf(diff) {
		header := strings.HasPrefix(l, "@@ ")
		if len(out) == 0 && !header {
			continue
		}
		if header {
			l = l[:strings.Index(l[2:], "@@")+4]
		}
		out = append(out, l)
	}
	return out
}

// linesOf returns the lines of a text that is empty or ends with a newline.
func linesOf(text string) []string {
	return strings.Split(text, "\n")[:strings.Count(text, "\n")]
}
