package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updatePage = flag.Bool("update-page", false, "rewrite the screens in README.md and docs/")

// TestPages checks that every screen in README.md and docs/ is the output of the command above it.
// The width is 80 columns, or the value of COLUMNS before the command. Other blocks have a type,
// such as ```text or ```yaml.
func TestPages(t *testing.T) {
	t.Chdir("../..")
	for _, page := range pages(t) {
		t.Run(page, func(t *testing.T) {
			raw, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			rewritten, err := regenerated(string(raw), func(columns string, args []string) (string, error) { return screenOf(t, columns, args) })
			if err != nil {
				t.Fatal(err)
			}
			if *updatePage {
				if err := os.WriteFile(page, []byte(rewritten), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(raw), rewritten); diff != "" {
				t.Errorf("go test ./internal/cli -run Pages -update-page rewrites it (-page +got):\n%s", diff)
			}
		})
	}
}

// pages are the pages for users.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "test/*/README.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no page %s: %v", pattern, err)
		}
		all = append(all, found...)
	}
	return all
}

var shown = regexp.MustCompile(`^    (?:COLUMNS=(\d+) )?(?:kubectl ds|go run \./cmd/kubectl-ds) (.+)$`)

// regenerated returns a page with the current output of its commands. A screen without a command
// above it is an error.
func regenerated(page string, run func(columns string, args []string) (string, error)) (string, error) {
	var out []string
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		if !strings.HasPrefix(lines[i], "```") {
			continue
		}
		end := i + 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		if end == len(lines) {
			return "", fmt.Errorf("line %d: a block without an end", i+1)
		}
		if lines[i] != "```" { // the block has a type
			out = append(out, lines[i+1:end+1]...)
			i = end
			continue
		}
		m := []string(nil)
		if i > 1 && lines[i-1] == "" {
			m = shown.FindStringSubmatch(lines[i-2])
		}
		if m == nil {
			return "", fmt.Errorf("line %d: a screen without its command above it", i+1)
		}
		screen, err := run(m[1], strings.Fields(strings.ReplaceAll(m[2], "'", "")))
		if err != nil {
			return "", fmt.Errorf("line %d: %w", i-1, err)
		}
		out = append(out, strings.Split(strings.TrimSuffix(screen, "\n"), "\n")...)
		out = append(out, "```")
		i = end
	}
	return strings.Join(out, "\n"), nil
}

// screenOf returns the output of a command: its answer or its error.
func screenOf(t *testing.T, columns string, args []string) (string, error) {
	if columns == "" {
		columns = "80"
	}
	t.Setenv("COLUMNS", columns)
	var out, errs bytes.Buffer
	status := Main(append([]string{"kubectl-ds"}, args...), strings.NewReader(""), &out, &errs)
	if (status != 0) != (errs.Len() > 0) || status != 0 && out.Len() > 0 {
		return "", fmt.Errorf("%v: status %d, %s", args, status, &errs)
	}
	return out.String() + errs.String(), nil
}

// TestRetold checks regenerated. Each row states the reason.
func TestRetold(t *testing.T) {
	const run = "    kubectl ds explain x\n\n"
	for _, tt := range []struct{ why, page, want, err string }{
		{"a screen is what its command prints", run + "```\nold\nolder\n```\nend", run + "```\n80 [explain x]\n```\nend", ""},
		{"in as many columns as stand before it", "    COLUMNS=160 kubectl ds explain x\n\n```\n```\n", "    COLUMNS=160 kubectl ds explain x\n\n```\n160 [explain x]\n```\n", ""},
		{"as the README runs it", "    go run ./cmd/kubectl-ds explain --node 'w-*'\n\n```\n```\n", "    go run ./cmd/kubectl-ds explain --node 'w-*'\n\n```\n80 [explain --node w-*]\n```\n", ""},
		{"a block that says what it is stays", "```text\na --> b\n```\n", "```text\na --> b\n```\n", ""},
		{"a screen without a command could say anything", "Like this:\n\n```\nHEALTHY\n```\n", "", "a screen without its command"},
		{"another command is none", "    kubectl get ds\n\n```\nNAME\n```\n", "", "a screen without its command"},
		{"a block without an end would swallow the page", run + "```\nold\n", "", "without an end"},
	} {
		got, err := regenerated(tt.page, func(columns string, args []string) (string, error) {
			return fmt.Sprintf("%s %v\n", map[bool]string{true: "80", false: columns}[columns == ""], args), nil
		})
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got\n%s\nerror %v", tt.why, got, err)
		}
	}
}

// TestWidth checks that pages wrap at 100 columns, except tables, code, and text that cannot be
// broken.
func TestWidth(t *testing.T) {
	t.Chdir("../..")
	for _, page := range pages(t) {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range tooWide(string(raw)) {
			t.Errorf("%s:%s", page, line)
		}
	}
	long := strings.Repeat("word ", 21) + "end"
	for _, tt := range []struct {
		why, page string
		want      int
	}{
		{"a line of prose is found", long, 1},
		{"a table is one line a row", "| " + long + " |", 0},
		{"code is as it is", "    " + long, 0},
		{"and so is a block of it", "```\n" + long + "\n```", 0},
		{"prose after a block is prose", "```\n```\n" + long, 1},
		{"a list is prose", "- " + long, 1},
		{"what has no space cannot be broken", "[" + strings.Repeat("x", 99) + "](y)", 0},
	} {
		if got := tooWide(tt.page); len(got) != tt.want {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
}

// tooWide returns the lines of prose that are too wide and can be broken.
func tooWide(page string) []string {
	var out []string
	code := false
	for i, line := range strings.Split(page, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
		case code, strings.HasPrefix(line, "|"), strings.HasPrefix(line, "    "), strings.HasPrefix(line, "<!--"):
		case len([]rune(line)) > 100 && len(strings.Fields(line)) > 1:
			out = append(out, fmt.Sprintf("%d: %d columns: %s", i+1, len([]rune(line)), line))
		}
	}
	return out
}
