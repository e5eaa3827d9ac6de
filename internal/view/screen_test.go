package view

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/internal/encode"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

var update = flag.Bool("update", false, "rewrite the expected screens in testdata")

// TestScreens runs the stories in testdata. Each begins with its why, then has
// one world, or several for a list, and the screens that it must give. The
// name of a screen says what is asked: see ask.
func TestScreens(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	check(t, err)
	if len(files) == 0 {
		t.Fatal("no stories in testdata")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			story, err := txtar.ParseFile(file)
			check(t, err)
			if strings.TrimSpace(string(story.Comment)) == "" {
				t.Error("the story does not say why it is there")
			}
			var worlds []*snapshot.Snapshot
			for i, f := range story.Files {
				if strings.HasPrefix(f.Name, "world") {
					worlds = append(worlds, world.Parse(t, string(f.Data)))
					continue
				}
				got := ask(t, worlds, f.Name)
				parts := strings.Count(got, "\nCause ") // each thing to do has one
				if n := strings.Count(got, "\n"); f.Name == "explain 80" && n > 54+9*max(0, parts-1) {
					t.Errorf("%d lines are more than a person reads at once:\n%s", n, got)
				}
				if *update {
					story.Files[i].Data = []byte(got)
					continue
				}
				if diff := cmp.Diff(string(f.Data), got); diff != "" {
					t.Errorf("%s: %s\n%s (-want +got):\n%s", file, story.Comment, f.Name, diff)
				}
			}
			if *update {
				check(t, os.WriteFile(file, txtar.Format(story), 0o644))
			}
		})
	}
}

// ask gives the answer to "explain", "list" or "nodes", followed by options:
// a width in columns ("80"; without one, nothing is cut), "-o FORMAT",
// "--all", "--color", "--node NAME".
func ask(t *testing.T, worlds []*snapshot.Snapshot, question string) string {
	t.Helper()
	words := strings.Fields(question)
	var style Style
	var format encode.Format
	var o explain.Options
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "-o":
			i++
			format = encode.Format(words[i])
		case "--all":
			style.All = true
		case "--color":
			style.Color = true
		case "--node":
			i++
			o.Nodes = append(o.Nodes, words[i])
		default:
			if _, err := fmt.Sscan(words[i], &style.Width); err != nil {
				t.Fatalf("%q: %q is not understood", question, words[i])
			}
		}
	}
	style.Wide = format == encode.Wide
	l := &explain.List{APIVersion: snapshot.APIVersion, Kind: explain.ListKind}
	for _, s := range worlds {
		l.Items = append(l.Items, explained(t, s, o))
	}
	slices.SortStableFunc(l.Items, func(a, b *explain.Explanation) int {
		return slices.Index(explain.VerdictCodes, a.Verdict.Code) - slices.Index(explain.VerdictCodes, b.Verdict.Code)
	})
	var b bytes.Buffer
	switch {
	case words[0] == "list" && len(o.Nodes) > 0:
		check(t, DaemonSetsOfNodes(&b, l, o.Nodes, askable, style))
	case words[0] == "list":
		check(t, Explanations(&b, l, askable, style))
	case words[0] != "explain":
		t.Fatalf("%q: %q is not understood", question, words[0])
	case format != encode.Text && format != encode.Wide:
		check(t, encode.Write(&b, l.Items[0], []string{l.Items[0].DaemonSet.Name}, format))
	case len(o.Nodes) > 0:
		check(t, Nodes(&b, l.Items[0], o.Nodes, askable, style))
	default:
		check(t, Explanation(&b, l.Items[0], askable, style))
	}
	return visible(b.String())
}

// askable is a command line that can be asked again.
var askable = Asked{Again: true}

// explained composes an Explanation as the command does.
func explained(t *testing.T, s *snapshot.Snapshot, o explain.Options) *explain.Explanation {
	t.Helper()
	st := stateOf(t, s)
	o.Outlook = plan.Look(st)
	return explain.Explain(st, o)
}

// visible writes the escape character so that a golden file can be read.
func visible(s string) string { return strings.ReplaceAll(s, "\x1b", "␛") }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func stateOf(t *testing.T, s *snapshot.Snapshot) *daemonset.State {
	t.Helper()
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	check(t, err)
	st, err := daemonset.New(s, profile)
	check(t, err)
	return st
}
