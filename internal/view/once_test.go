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

// repeats are the pairs of labels under which the same node may stand in an answer about one problem, with what one of
// the two lines says then: a node is at fault, or its taint, or other pods there; no new pod fits there.
var repeats = map[string]*regexp.Regexp{
	"Fault + Problem":  regexp.MustCompile(`the taint on |(?:node|nodes|pods on|attached on) `),
	"Fault + Impact":   regexp.MustCompile(`the taint on `),
	"Problem + Impact": regexp.MustCompile(`will not fit`),
}

// TestNoFactTwice: in the short answer about one problem, a node stands once under Fault, Problem and Impact. Headline
// names up to two nodes besides, and the labels that say what to do name the nodes to do it on.
func TestNoFactTwice(t *testing.T) {
	answers, found := 0, sets.New[string]()
	for _, w := range everyWorld(t, 100) {
		e := under(t, w.s)
		if listed, _ := e.Listed(); len(listed) != 1 || e.Verdict.Code == explain.BeingDeleted { // which names nodes without a pod
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
					t.Errorf("%s: a node stands under %s:\n%s", w.name, pair, text)
				}
			}
		}
	}
	if answers < 200 {
		return // as with -short
	}
	for pair := range repeats {
		if !found.Has(pair) {
			t.Errorf("no node stands under %s: it needs no exception", pair)
		}
	}
}

var (
	quotes    = regexp.MustCompile(`"[^"]*"`)
	nodeNames = regexp.MustCompile(`[a-z0-9.-]*[a-z0-9]`)
)

// twice returns the pairs of Fault, Problem and Impact that have the same node, with their lines.
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
