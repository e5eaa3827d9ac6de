package view

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestEveryScreen renders random states in every style.
func TestEveryScreen(t *testing.T) {
	for seed := range cases.Of(int64(36)) {
		s := dstest.Random(seed)
		if seed%4 == 1 {
			s = dstest.OnOpenShift(dstest.RandomFor(seed, "v1.30.5"), seed)
		}
		if seed%20 == 5 { // these seeds render the screen of one node
			s.OpenShift.Namespace.Annotations = map[string]string{snapshot.ProjectNodeSelectorAnnotation: "\x1b[31m\x07 \u009b2J \u202e red\nline"}
		}
		if seed%7 == 0 {
			s.Nodes, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Nodes, Why: snapshot.Forbidden}}
		}
		if seed%11 == 0 {
			s.Pods, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Pods, Why: snapshot.NotGiven}}
		}
		if seed%5 == 0 {
			s.Gaps = append(s.Gaps, snapshot.Gap{What: []snapshot.What{snapshot.DaemonSetStatus, snapshot.NodeStatus,
				snapshot.PodStatus}[seed%3], Why: snapshot.NotGiven})
		}
		if seed%13 == 0 {
			s.DaemonSet.Spec.Selector = &metav1.LabelSelector{} // the API server does not allow this
		}
		for i := range s.Pods {
			s.Pods[i].Status.Message = "\x1b[31m\x07 \u009b2J \u202e red\nline"
			s.Pods[i].Status.Reason = "Evicted\x1b]0;title\x07"
		}
		var o explain.Options
		if seed%5 == 0 && len(s.Nodes) > 0 {
			o.Nodes = []string{s.Nodes[0].Name}
		}
		e := explained(t, s, o)
		for _, style := range []wording.Style{{}, {Width: 80}, {Width: 60}, {Width: 80, Wide: true},
			{Width: 80, Color: true}, {All: true}} {
			if err := lawful(draw(t, e, style), style); err != nil {
				t.Fatalf("seed %d, %+v: %v\n%s", seed, style, err, dstest.Describe(s))
			}
		}
		for _, all := range []bool{false, true} {
			if text := draw(t, e, wording.Style{Form: wording.InMarkdown, All: all}); lawfulMarkdown(text) != nil {
				t.Fatalf("seed %d: %v\n%s", seed, lawfulMarkdown(text), text)
			}
		}
	}
}

// TestNoWordIsMissing checks the screens of all stories and the words for gaps.
func TestNoWordIsMissing(t *testing.T) {
	lines := 0
	for _, pattern := range []string{"testdata/*.txtar", "testdata/*/*.txtar"} {
		files, err := filepath.Glob(pattern)
		check(t, err)
		for _, file := range files {
			story, err := txtar.ParseFile(file)
			check(t, err)
			for _, f := range story.Files {
				for line := range strings.Lines(string(f.Data)) {
					lines++
					if at := wordMissing.FindString(strings.TrimSuffix(line, "\n")); at != "" {
						t.Errorf("%s, %s: %q lacks a word at %q", file, f.Name, line, at)
					}
				}
			}
		}
	}
	for _, what := range snapshot.Whats {
		for _, why := range []snapshot.Why{snapshot.Forbidden, snapshot.NotGiven, snapshot.Partial, snapshot.Failed,
			snapshot.Moved} {
			g := snapshot.Gap{What: what, Why: why}
			words := wording.Gap(daemonset.Gap{Gap: g, Consequence: g.Consequence()},
				wording.Used{Rules: daemonset.Controller{KubernetesVersion: daemonset.Newest}})
			if at := wordMissing.FindString(words); at != "" || strings.Contains(words, ": , ") ||
				strings.HasSuffix(words, "so ") {
				t.Errorf("%s %s: %q lacks a word", what, why, words)
			}
		}
	}
	if lines < 5000 {
		t.Errorf("only %d lines", lines)
	}
}

// TestNamedLabelsAreThere checks that a label named in the headline is on the same screen, in all stories and docs.
func TestNamedLabelsAreThere(t *testing.T) {
	named := regexp.MustCompile(`\(([A-Z][A-Za-z ]+)\)`)
	ends := regexp.MustCompile(`(?m)^(?:-- .* --|` + "```" + `|\$ .*)$`)
	lines := 0
	for _, pattern := range []string{"testdata/*.txtar", "testdata/*/*.txtar", "../cli/testdata/*.txtar",
		"../../docs/*.md", "../../README.md"} {
		files, err := filepath.Glob(pattern)
		check(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			check(t, err)
			for _, s := range ends.Split(string(text), -1) {
				_, rest, found := strings.Cut(s, "\nDo now  ")
				if !found {
					continue
				}
				for row := range strings.Lines(" " + rest) {
					if lines++; row[0] != ' ' {
						break
					}
					for _, label := range named.FindAllStringSubmatch(row, -1) {
						if !regexp.MustCompile(`(?mi)^ *` + label[1] + `\b`).MatchString(s) {
							t.Errorf("%s: %q, and there is no such label:\n%s", file, row, s)
						}
					}
				}
			}
		}
	}
	if lines < 150 {
		t.Errorf("only %d lines", lines)
	}
}

func draw(t *testing.T, e *explain.Explanation, style wording.Style) string {
	t.Helper()
	l := &explain.List{Items: []*explain.Explanation{e, e}}
	var b bytes.Buffer
	check(t, Explanation(&b, e, askable, style))
	check(t, Nodes(&b, e, nil, askable, style))
	check(t, Explanations(&b, l, askable, style))
	check(t, DaemonSetsOfNodes(&b, l, nil, askable, style))
	return b.String()
}

// wordMissing matches a sentence with an empty fact.
var wordMissing = regexp.MustCompile(`\b(?:as|of|from|and|by|for|with|than|between|because)(?:  | [,.;:)])|\b(?:as|of|and|by|than|between|because)[,.;)](?: |$)|[:;] ;|[a-z0-9] [,;.](?: |$)|\( ?\)`)

// lawful returns an error for a control code, more than one empty line, a space at the end of a line, a missing word,
// or a line that is too long although it could be broken.
func lawful(drawn string, style wording.Style) error {
	if strings.Contains(drawn, "\n\n\n") || strings.HasPrefix(drawn, "\n") {
		return fmt.Errorf("two empty lines")
	}
	// a very long word makes its whole table wide
	wide := style.Width > 0 &&
		slices.ContainsFunc(strings.Fields(drawn), func(w string) bool { return screen.Width(w) > style.Width/2 })
	for _, line := range strings.Split(drawn, "\n") {
		plain := line
		if style.Color {
			plain = uncolored(line)
		}
		if at := wordMissing.FindString(plain); at != "" {
			return fmt.Errorf("%q lacks a word at %q", line, at)
		}
		if i := strings.IndexFunc(plain, func(r rune) bool {
			return unicode.IsControl(r) ||
				unicode.Is(unicode.Cf, r)
		}); i >= 0 {
			return fmt.Errorf("%q has a control code", line)
		}
		if strings.TrimRight(plain, " ") != plain {
			return fmt.Errorf("%q ends in a blank", line)
		}
		if style.Width > 0 && screen.Width(plain) > style.Width && !mayBeLong(plain, style) &&
			!(wide && strings.HasPrefix(plain, "  ")) {
			return fmt.Errorf("%q is longer than %d", line, style.Width)
		}
	}
	return nil
}

// uncolored removes the color codes from a text.
func uncolored(text string) string {
	for _, code := range screen.Codes() {
		text = strings.ReplaceAll(text, code, "")
	}
	return text
}

// mayBeLong reports whether a line may exceed the width. Three kinds of lines may: commands to paste, tables that the
// terminal wraps, and words that are too long by themselves.
func mayBeLong(line string, style wording.Style) bool {
	return style.Wide || strings.HasPrefix(line, strings.Repeat(" ", 20)) || style.Width < 60 &&
		strings.HasPrefix(line, "  ") || strings.Contains(line, "://") || strings.HasPrefix(line, "To go on: ") ||
		strings.Contains(line, "smallest change") || strings.HasPrefix(line, "    and ") ||
		strings.HasPrefix(line, "VERDICT ") || strings.Contains(line, dstest.Namespace+"/agent ") ||
		strings.HasPrefix(line, "NAMESPACE ") || strings.HasPrefix(line, dstest.Namespace+" ") ||
		strings.HasPrefix(line, "NODE ") || strings.Contains(line, "  "+dstest.Namespace+"  ") ||
		len(strings.Fields(line)) == 1
}

func TestSameBytes(t *testing.T) {
	for seed := range cases.Of(int64(30)) {
		s := dstest.Random(seed)
		e := explained(t, s, explain.Options{})
		again := explained(t, s, explain.Options{})
		if a, b := draw(t, e, wording.Style{Width: 80, Wide: true}),
			draw(t, again, wording.Style{Width: 80, Wide: true}); a != b {
			t.Fatalf("seed %d: two runs differ:\n%s\n%s", seed, a, b)
		}
	}
}

// TestScreensAreShort checks that the default screen about one DaemonSet has a limited length even if there are many
// problems on hundreds of nodes. The stories have lower limits for typical problems.
func TestScreensAreShort(t *testing.T) {
	const most = 92
	for seed := range cases.Of(int64(36)) {
		s := dstest.Random(seed)
		var b bytes.Buffer
		check(t, Explanation(&b, explained(t, s, explain.Options{}), askable, wording.Style{Width: 100}))
		if n := strings.Count(b.String(), "\n"); n > most {
			t.Errorf("seed %d: %d lines, at most %d:\n%s", seed, n, most, b.String())
		}
	}
}

// TestNodeAlone checks the screen about a healthy node. It must be the same if no other nodes, events or
// PodDisruptionBudgets were read.
func TestNodeAlone(t *testing.T) {
	said, others := 0, 0
	for seed := range cases.Of(int64(100)) {
		s := []func(int64) *snapshot.Snapshot{dstest.Random, dstest.RandomTrouble, dstest.RandomCommon,
			dstest.RandomPlacement, dstest.RandomOpenShift}[seed%5](seed)
		st := stateOf(t, s)
		outlook := plan.Look(st)
		for i := range s.Nodes[:min(4, len(s.Nodes))] {
			name := s.Nodes[i].Name
			one := *s
			one.Nodes, one.Events, one.PodDisruptionBudgets = s.Nodes[i:i+1], nil, nil
			one.Pods = slices.DeleteFunc(slices.Clone(s.Pods), func(p corev1.Pod) bool {
				return p.Spec.NodeName != "" &&
					p.Spec.NodeName != name
			})
			options := explain.Options{Nodes: []string{name}}
			alone := explained(t, &one, options)
			options.Outlook = outlook
			all := explain.Explain(st, options)
			if len(alone.Nodes) != 1 || !alone.Alone(&alone.Nodes[0]) {
				if len(all.Nodes) == 1 && all.Alone(&all.Nodes[0]) {
					others++
				}
				continue
			}
			said++
			var got, want bytes.Buffer
			check(t, Nodes(&got, alone, options.Nodes, askable, wording.Style{Width: 80}))
			check(t, Nodes(&want, all, options.Nodes, askable, wording.Style{Width: 80}))
			if got.String() != want.String() {
				t.Fatalf("seed %d, node %s alone:\n%s\nwith all others:\n%s\n%s", seed, name, got.String(),
					want.String(), dstest.Describe(s))
			}
		}
	}
	t.Logf("%d nodes on their own; %d healthy nodes need other objects", said, others)
	if said < cases.Least(100) || others > said/2 {
		t.Errorf("%d nodes on their own, and %d healthy ones that need other objects", said, others)
	}
}
