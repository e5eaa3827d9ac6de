package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updatePage = flag.Bool("update-page", false, "rewrite the screens of docs/plan-rollout.md and docs/history.md")

// TestPages: the screens of the pages that show a command are what it prints, in
// 80 columns or as many as stand before it.
func TestPages(t *testing.T) {
	t.Chdir("../..")
	for _, command := range []string{"plan-rollout", "history"} {
		t.Run(command, func(t *testing.T) { testPage(t, command) })
	}
}

func testPage(t *testing.T, command string) {
	page := "docs/" + command + ".md"
	screen := regexp.MustCompile(fmt.Sprintf("(?s)(    (?:COLUMNS=(\\d+) )?kubectl ds (%s[^\n]*)\n\n```\n)(.*?)```\n", command))
	asked := regexp.MustCompile(fmt.Sprintf(`(?m)^    (COLUMNS=\d+ )?kubectl ds %s`, command))
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	rewritten := screen.ReplaceAllStringFunc(string(raw), func(part string) string {
		shown++
		m := screen.FindStringSubmatch(part)
		t.Setenv("COLUMNS", "80")
		if m[2] != "" {
			t.Setenv("COLUMNS", m[2])
		}
		var out, errs bytes.Buffer
		if status := Main(append([]string{"kubectl-ds"}, strings.Fields(m[3])...), strings.NewReader(""), &out, &errs); status != 0 || errs.Len() > 0 {
			t.Errorf("%s: status %d, %s", m[3], status, &errs)
		}
		if diff := cmp.Diff(m[4], out.String()); diff != "" && !*updatePage {
			t.Errorf("%s (-page +got):\n%s", m[3], diff)
		}
		return m[1] + out.String() + "```\n"
	})
	if all := asked.FindAllString(string(raw), -1); shown != len(all) || shown == 0 {
		t.Errorf("%d of %d commands have a screen", shown, len(all))
	}
	if *updatePage {
		if err := os.WriteFile(page, []byte(rewritten), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadmeHistory: the lines of the README's history are lines of what its
// command prints, in their order.
func TestReadmeHistory(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("COLUMNS", "")
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)    go run ./cmd/kubectl-ds (history [^\n]*)\n\n```\n(.*?)```\n").FindStringSubmatch(string(raw))
	if m == nil {
		t.Fatal("the README shows no history")
	}
	var out, errs bytes.Buffer
	if status := Main(append([]string{"kubectl-ds"}, strings.Fields(m[1])...), strings.NewReader(""), &out, &errs); status != 0 || errs.Len() > 0 {
		t.Fatalf("%s: status %d, %s", m[1], status, &errs)
	}
	rest := out.String()
	for _, line := range strings.SplitAfter(m[2], "\n") {
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Errorf("not in the answer, or not in its order: %q\n%s", line, &out)
			continue
		}
		rest = after
	}
}
