package view

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/internal/view/diagnosis"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// TestAllAddsBelow checks that --all shows the labels of the short answer first, in the same order, and adds the others
// below. Names and messages are complete, and each problem with only one line in the short answer has a part.
func TestAllAddsBelow(t *testing.T) {
	answers, longer := 0, 0
	for _, w := range everyWorld(t, 50) {
		e := under(t, w.s)
		if len(e.Advice) > diagnosis.MostParts {
			continue
		}
		answer := map[string]func(io.Writer, wording.Style) error{
			"explain": func(out io.Writer, style wording.Style) error { return Explanation(out, e, askable, style) },
		}
		for _, change := range []*whatif.Change{nil, {Restart: true}} {
			p, err := world.Plan(w.s, change, plan.Options{})
			if err != nil { // there is no strategy
				continue
			}
			answer["plan-rollout"+wording.Either(change != nil, " --restart", "")] = func(out io.Writer,
				style wording.Style) error {
				return Plan(out, p, e, askable, style)
			}
		}
		for question, write := range answer {
			var short, all bytes.Buffer
			check(t, write(&short, wording.Style{Width: 80}))
			check(t, write(&all, wording.Style{Width: 80, All: true}))
			first := slices.DeleteFunc(labelsOf(short.String()), func(l string) bool { return l == "More" })
			whole := labelsOf(all.String())
			if answers++; len(whole) > len(first) {
				longer++
			}
			if len(whole) < len(first) || !slices.Equal(first, whole[:len(first)]) {
				t.Errorf("%s, %s: --all begins with %v, and not with %v:\n%s\n%s", w.name, question, whole, first,
					short.String(), all.String())
				return
			}
		}
	}
	if answers < 20 || longer == 0 {
		t.Errorf("%d answers, %d of them longer with --all", answers, longer)
	}
}

// labelsOf returns the labels of a screen and the titles of its parts, in order.
func labelsOf(text string) (labels []string) {
	_, body, _ := strings.Cut(text, "\n")
	for line := range strings.Lines(body) {
		switch title, _, numbered := strings.Cut(line, ". "); {
		case line == "\n" || line[0] == ' ' || strings.HasPrefix(line, "Plan only") ||
			strings.HasPrefix(line, "A rollout is"):
		case numbered && len(title) == 1:
			labels = append(labels, title)
		default:
			labels = append(labels, strings.TrimSpace(line[:min(gutterWidth, len(line)-1)]))
		}
	}
	return labels
}

const gutterWidth = 10
