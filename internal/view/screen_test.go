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

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/browser"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/internal/encode"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

var update = flag.Bool("update", false, "rewrite the expected screens in testdata")

// story reads the input of a story in testdata and renders its screens.
type story interface {
	// take reads a file of the story. It returns false if the file is a screen.
	take(t *testing.T, name, data string) bool
	// ask returns the screen with this name and its maximum number of lines, or 0 if there is no maximum.
	ask(t *testing.T, question string) (answer string, most int)
}

// runStories runs the stories whose file names match the pattern. Each story begins with its purpose. Input applies to
// the screens that follow it in the file.
func runStories[S any, P interface {
	*S
	story
}](t *testing.T, pattern string) {
	files, err := filepath.Glob(pattern)
	check(t, err)
	if len(files) == 0 {
		t.Fatalf("no stories are %s", pattern)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			told, err := txtar.ParseFile(file)
			check(t, err)
			if strings.TrimSpace(string(told.Comment)) == "" {
				t.Error("the story does not say why it is there")
			}
			a := P(new(S))
			for i, f := range told.Files {
				if name, _, _ := strings.Cut(f.Name, " "); a.take(t, name, string(f.Data)) {
					continue
				}
				got, most := a.ask(t, f.Name)
				if n := strings.Count(got, "\n"); most > 0 && n > most {
					t.Errorf("%d lines are more than a person reads at once:\n%s", n, got)
				}
				if *update {
					told.Files[i].Data = []byte(got)
					continue
				}
				if diff := cmp.Diff(string(f.Data), got); diff != "" {
					t.Errorf("%s: %s\n%s (-want +got):\n%s", file, told.Comment, f.Name, diff)
				}
			}
			if *update {
				check(t, os.WriteFile(file, txtar.Format(told), 0o644))
			}
		})
	}
}

// options parses the options of a screen's name: a width in columns, such as "80", "-o FORMAT", "--all", "--color", and
// those that own accepts. Without a width, no line is cut. own gets the next word too, and returns how many words it
// used.
func options(t *testing.T, words []string, own func(word, next string) int) (style wording.Style, format string) {
	t.Helper()
	for i := 0; i < len(words); i++ {
		switch word, next := words[i], append(slices.Clone(words[i+1:]), "")[0]; word {
		case "-o":
			i++
			if format = next; !slices.Contains([]string{"wide", "json", "markdown", "html"}, format) {
				t.Fatalf("%q: -o %q is for internal/cli", words, format)
			}
		case "--all":
			style.All = true
		case "--color":
			style.Color = true
		default:
			if n := own(word, next); n > 0 {
				i += n - 1
			} else if _, err := fmt.Sscan(word, &style.Width); err != nil {
				t.Fatalf("%q: %q is not understood", words, word)
			}
		}
	}
	style.Wide = format == "wide"
	style.Form = map[string]wording.Form{"markdown": wording.InMarkdown, "html": wording.InHTML}[format]
	style.Page = wording.Page{Title: "kubectl ds", Program: "kubectl ds devel",
		About: []string{"state of 2026-01-31T12:00:00Z"}}
	return style, format
}

// whole reports whether the question has no option that makes a screen longer.
func whole(question string) bool {
	return !strings.Contains(question, "-o") && !strings.Contains(question, "--all")
}

// TestScreens runs the stories in testdata. Each has one world, or several for a list, and the expected screens.
func TestScreens(t *testing.T) { runStories[explainStory](t, "testdata/*.txtar") }

type explainStory struct{ worlds []*snapshot.Snapshot }

func (a *explainStory) take(t *testing.T, name, data string) bool {
	if strings.HasPrefix(name, "world") {
		a.worlds = append(a.worlds, world.Parse(t, data))
	}
	return strings.HasPrefix(name, "world")
}

// ask renders "explain" or "list", followed by options or "--node NAME".
func (a *explainStory) ask(t *testing.T, question string) (string, int) {
	t.Helper()
	words := strings.Fields(question)
	var o explain.Options
	style, format := options(t, words[1:], func(word, next string) int {
		if word != "--node" {
			return 0
		}
		o.Nodes = append(o.Nodes, next)
		return 2
	})
	l := &explain.List{APIVersion: snapshot.APIVersion, Kind: explain.ListKind}
	for _, s := range a.worlds {
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
	case format == "json":
		document, err := encode.JSON(l.Items[0])
		check(t, err)
		b.WriteString(document)
	case format == "html":
		st := stateOf(t, a.worlds[0])
		check(t, ExplanationPage(&b, []sheet.Explained{paged(st, l.Items[0])}, false, askable, style))
		return inPage(t, b.String()), 0
	case len(o.Nodes) > 0:
		check(t, Nodes(&b, l.Items[0], o.Nodes, askable, style))
	default:
		check(t, Explanation(&b, l.Items[0], askable, style))
	}
	most := 0
	if question == "explain 80" {
		rows, _ := l.Items[0].Listed()
		most = 22 + 8*max(1, len(rows))
	}
	return visible(b.String()), most
}

// paged returns an Explanation with the data for the figures of a page, as the command builds it.
func paged(st *daemonset.State, e *explain.Explanation) sheet.Explained {
	v := sheet.Explained{Explanation: e, Map: plan.MapOf(st, "")}
	if e.Rollout.UnderWay && e.Rollout.Since != nil {
		v.Passed = plan.PastLine(st, *e.Rollout.Since)
	}
	if e.Rollout.UnderWay {
		_, v.Expected = plan.MakeLine(st, plan.Options{})
	}
	return v
}

// inPage checks a page and returns the content of its body.
func inPage(t *testing.T, page string) string {
	t.Helper()
	if _, err := browser.Read(page); err != nil {
		t.Errorf("%v\n%s", err, page)
	}
	_, rest, _ := strings.Cut(page, "<body>\n")
	body, _, _ := strings.Cut(rest, "<script>")
	return body
}

// askable is a command line that can be repeated.
var askable = sheet.Asked{Again: true}

// explained returns an Explanation, as the command builds it.
func explained(t *testing.T, s *snapshot.Snapshot, o explain.Options) *explain.Explanation {
	t.Helper()
	st := stateOf(t, s)
	o.Outlook = plan.Look(st)
	return explain.Explain(st, o)
}

// visible replaces the escape character so that golden files are readable.
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
