package view

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/browser"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// markup ends every context of a page if it is not escaped.
const markup = `</pre></td></p></style></script><script>alert(1)</script><img src="http://example.org/x" onerror='alert(2)'> "'` + "`" + ` --> <!-- {{.}} &lt; ` + "\x1b[31m \u202e \x00"

// TestEveryPage renders random states with markup in their text. It checks that a browser parses the page as intended
// and loads no resources, and that the page contains the words of the screen.
func TestEveryPage(t *testing.T) {
	pages := 0
	page := func(about string, write func(*bytes.Buffer, wording.Style)) {
		t.Helper()
		var text, made bytes.Buffer
		write(&text, wording.Style{})
		write(&made, wording.Style{Form: wording.InHTML, Page: wording.Page{Title: markup, Program: markup,
			About: []string{markup}, Missing: []string{markup}}})
		p, err := browser.Read(made.String())
		if err != nil {
			t.Fatalf("%s: %v\n%s", about, err, made.String())
		}
		pages++
		said := strings.Join(strings.Fields(p.Text), "")
		shown, _, _ := strings.Cut(text.String(), "\nMore  ") // a page has no "More" because it shows everything
		for _, word := range strings.Fields(shown) {
			if !strings.Contains(said, word) && word[0] != '+' { // the number of hidden items depends on the width
				t.Fatalf("%s: the page does not say %q:\n%s\n%s", about, word, text.String(), p.Text)
			}
		}
	}
	for seed := range cases.Of(int64(24)) {
		s := dstest.Random(seed)
		for i := range s.Pods {
			s.Pods[i].Status.Message, s.Pods[i].Status.Reason = markup, markup
		}
		for i := range s.Nodes {
			if seed%2 == 0 {
				s.Nodes[i].Labels = map[string]string{"topology.kubernetes.io/zone": []string{markup, "a", ""}[i%3]}
			}
		}
		for i := range s.Revisions {
			s.Revisions[i].Annotations = map[string]string{"kubernetes.io/change-cause": markup}
		}
		if seed%5 == 0 {
			s.Nodes, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Nodes, Why: snapshot.Forbidden}}
		}
		if seed%7 == 0 {
			s.Pods, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Pods, Why: snapshot.NotGiven}}
		}
		st := stateOf(t, s)
		e := explained(t, s, explain.Options{})
		page(fmt.Sprintf("explain, seed %d", seed), func(b *bytes.Buffer, style wording.Style) {
			if style.Form == wording.InHTML {
				check(t, ExplanationPage(b, []sheet.Explained{paged(st, e)}, false, askable, style))
				return
			}
			check(t, Explanation(b, e, askable, style))
		})
		page(fmt.Sprintf("explain of several, seed %d", seed), func(b *bytes.Buffer, style wording.Style) {
			if style.Form == wording.InHTML {
				check(t, ExplanationPage(b, []sheet.Explained{paged(st, e), paged(st, e)}, true, askable, style))
				return
			}
			check(t, Explanations(b, &explain.List{Items: []*explain.Explanation{e, e}}, askable, style))
		})
		h, err := history.Make(st, history.Options{})
		check(t, err)
		page(fmt.Sprintf("history, seed %d", seed), func(b *bytes.Buffer, style wording.Style) {
			if style.Form == wording.InHTML {
				check(t, HistoryPage(b, []sheet.Past{{History: h, Now: nil, Map: plan.MapOf(st, ""), ManagedBy: nil}},
					false, askable, style))
				return
			}
			check(t, History(b, sheet.Past{History: h}, askable, style))
		})
		for _, change := range []*whatif.Change{nil, {Restart: true}} {
			if _, err := whatif.Make(st, &whatif.Change{Restart: true}); change != nil && err != nil {
				continue // the API server would reject any change
			}
			p := pagedPlan(t, s, change, plan.Options{GroupBy: map[int64]string{0: "pool"}[seed%3]})
			page(fmt.Sprintf("plan of %v, seed %d", change, seed), func(b *bytes.Buffer, style wording.Style) {
				if style.Form == wording.InHTML {
					check(t, PlanPage(b, []sheet.Planned{p}, false, askable, style))
					return
				}
				check(t, Plan(b, p.Plan, p.Now, p.Asked, style))
			})
		}
	}
	if pages < cases.Least(60) {
		t.Errorf("only %d pages", pages)
	}
}

// TestLargePage checks that a page about 5,000 nodes has less than 2 MB.
func TestLargePage(t *testing.T) {
	const most = 2_000_000
	s := world.Parse(t, `
daemonset: {spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 1%}}}}
nodes:
  "ip-10-1-0-[0001-1700].eu-central-1.compute.internal": {metadata: {labels: {topology.kubernetes.io/zone: eu-central-1a}}}
  "ip-10-2-0-[0001-1700].eu-central-1.compute.internal": {metadata: {labels: {topology.kubernetes.io/zone: eu-central-1b}}}
  "ip-10-3-0-[0001-1600].eu-central-1.compute.internal": {metadata: {labels: {topology.kubernetes.io/zone: eu-central-1c}}}
pods:
  "ip-10-1-0-[0001-1700].eu-central-1.compute.internal 8": {}
  "ip-10-2-0-[0001-1700].eu-central-1.compute.internal 7": {}
  "ip-10-3-0-[0001-1600].eu-central-1.compute.internal 7": {}
`)
	for i := range s.Pods { // use the names that a controller would
		s.Pods[i].Name = fmt.Sprintf("node-agent-%05d", i)
	}
	st := stateOf(t, s)
	h, err := history.Make(st, history.Options{})
	check(t, err)
	var explanation, past, planned bytes.Buffer
	style := wording.Style{Form: wording.InHTML, Page: wording.Page{Title: "kubectl ds", Program: "kubectl ds"}}
	check(t, ExplanationPage(&explanation, []sheet.Explained{paged(st, explained(t, s, explain.Options{}))}, false,
		askable, style))
	check(t, HistoryPage(&past, []sheet.Past{{History: h, Now: nil, Map: plan.MapOf(st, ""), ManagedBy: nil}}, false,
		askable, style))
	check(t, PlanPage(&planned, []sheet.Planned{pagedPlan(t, s, &whatif.Change{Restart: true}, plan.Options{})}, false,
		askable, style))
	for name, b := range map[string]*bytes.Buffer{"explain": &explanation, "history": &past, "plan": &planned} {
		p, err := browser.Read(b.String())
		check(t, err)
		if n := b.Len(); n > most {
			t.Errorf("%s: %d bytes", name, n)
		}
		if n := p.Count["i"]; n < 5000 || n > 5020 {
			t.Errorf("%s: %d cells and signs of the legend", name, n)
		}
		t.Logf("%s: %d bytes", name, b.Len())
	}
}
