package view

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// repeats lists the pairs of labels that may name the same node in an answer about one problem, with a pattern for one
// of the two lines. The pattern matches if the node, its taint or its other pods are at fault, or if no new pod fits on
// it.
var repeats = map[string]*regexp.Regexp{
	"Fault + Problem":  regexp.MustCompile(`the taint on |(?:node|nodes|pods on|attached on) `),
	"Fault + Impact":   regexp.MustCompile(`the taint on `),
	"Problem + Impact": regexp.MustCompile(`will not fit`),
}

// TestNoFactTwice checks that the short answer about one problem names a node only once under Fault, Problem and
// Impact. The headline may also name up to two nodes, and so may the labels that say what to do.
func TestNoFactTwice(t *testing.T) {
	answers, found := 0, sets.New[string]()
	for _, w := range everyWorld(t, 100) {
		e := under(t, w.s)
		// a deletion names the nodes without a pod
		if listed, _ := e.Listed(); len(listed) != 1 || e.Verdict.Code == explain.BeingDeleted {
			continue
		}
		nodes := sets.New[string]()
		for i := range w.s.Nodes {
			nodes.Insert(w.s.Nodes[i].Name)
		}
		var explained, planned bytes.Buffer
		check(t, Explanation(&explained, e, askable, wording.Style{Width: 10000}))
		check(t, Plan(&planned, plan.Make(stateOf(t, w.s), plan.Options{}), e, askable, wording.Style{Width: 10000}))
		for _, text := range []string{explained.String(), planned.String()} {
			answers++
			for pair, lines := range twice(text, nodes) {
				if found.Insert(pair); repeats[pair] == nil || !repeats[pair].MatchString(lines) {
					t.Errorf("%s: a node is named under %s:\n%s", w.name, pair, text)
				}
			}
		}
	}
	if answers < 200 {
		return // -short does not have enough states
	}
	for pair := range repeats {
		if !found.Has(pair) {
			t.Errorf("no node is named under %s: the exception is not needed", pair)
		}
	}
}

var (
	quotes    = regexp.MustCompile(`"[^"]*"`)
	nodeNames = regexp.MustCompile(`[a-z0-9.-]*[a-z0-9]`)
)

// twice returns the pairs of Fault, Problem and Impact that name the same node, with their lines.
func twice(text string, nodes sets.Set[string]) map[string]string {
	type place struct{ label, line string }
	at, label, pairs := map[string]place{}, "", map[string]string{}
	for line := range strings.Lines(text) {
		switch {
		case line == "\n":
			label = ""
		case line[0] != ' ':
			label = strings.TrimSpace(line[:min(gutterWidth, len(line)-1)])
		}
		if label != "Fault" && label != "Problem" && label != "Impact" {
			continue
		}
		for _, word := range nodeNames.FindAllString(quotes.ReplaceAllString(line, ""), -1) {
			if !nodes.Has(word) {
				continue
			}
			if first, has := at[word]; has {
				pairs[first.label+" + "+label] += first.line + line
			}
			at[word] = place{label, line}
		}
	}
	return pairs
}
