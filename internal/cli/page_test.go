package cli

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updatePage = flag.Bool("update-page", false, "rewrite the screens of docs/plan-rollout.md")

var planScreen = regexp.MustCompile("(?s)(    (?:COLUMNS=(\\d+) )?kubectl ds (plan-rollout [^\n]*)\n\n```\n)(.*?)```\n")

var planCommand = regexp.MustCompile(`(?m)^    (COLUMNS=\d+ )?kubectl ds plan-rollout `)

// TestPlanPage: the screens of docs/plan-rollout.md are what their commands
// print, in 80 columns or as many as stand before them.
func TestPlanPage(t *testing.T) {
	const page = "docs/plan-rollout.md"
	t.Chdir("../..")
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	rewritten := planScreen.ReplaceAllStringFunc(string(raw), func(part string) string {
		shown++
		m := planScreen.FindStringSubmatch(part)
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
	if all := planCommand.FindAllString(string(raw), -1); shown != len(all) || shown == 0 {
		t.Errorf("%d of %d commands have a screen", shown, len(all))
	}
	if *updatePage {
		if err := os.WriteFile(page, []byte(rewritten), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
