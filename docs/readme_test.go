package docs

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	input "github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// TestReadme: the screen in the README is what its first command prints.
func TestReadme(t *testing.T) {
	raw, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)    go run ./cmd/kubectl-ds explain (\\S+) --from (\\S+)\n\n```\n(.*?)```\n").FindSubmatch(raw)
	if m == nil {
		t.Fatal("the README shows no command with its screen")
	}
	d, err := input.ReadFiles(t.Context(), []string{"../" + string(m[2])}, strings.NewReader(""), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Read(t.Context(), input.Ref{Name: string(m[1])})
	if err != nil {
		t.Fatal(err)
	}
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	if err != nil {
		t.Fatal(err)
	}
	st, err := daemonset.New(s, profile)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := view.Explanation(&got, explain.Explain(s, st, explain.Options{Outlook: plan.Look(s, st)}), []string{string(m[2])}, view.Style{Width: 80}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(m[3]), got.String()); diff != "" {
		t.Errorf("the README's screen (-README +got):\n%s", diff)
	}
}
