package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/diagnosis"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// AboutPage describes the input of the results: the times at which it was read, and the versions of the rules.
func AboutPage(headers []*daemonset.Header) (lines []string) {
	var first, last time.Time
	for i, h := range headers {
		if at := h.Snapshot.TakenAt; i == 0 || at.Before(first) {
			first = at
		}
		if at := h.Snapshot.TakenAt; at.After(last) {
			last = at
		}
		rules := "rules of Kubernetes " + h.Controller.KubernetesVersion +
			wording.InBrackets(wording.SourceWords[h.Controller.Source])
		if !slices.Contains(lines, rules) {
			lines = append(lines, rules)
		}
	}
	if len(headers) == 0 {
		return nil
	}
	if first.Equal(last) {
		return slices.Insert(lines, 0, "state of "+stamp(&first))
	}
	return slices.Insert(lines, 0, "states of "+stamp(&first)+" to "+stamp(&last))
}

// Foot writes the last line of a Markdown comment, which describes the input of the results.
func Foot(w io.Writer, answers []*daemonset.Header) error {
	if len(answers) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n*%s*\n", screen.Mark(strings.Join(AboutPage(answers), "; ")))
	return err
}

// mostCells is the maximum number of nodes in the figures of a page. A page about several DaemonSets that have more
// nodes has no figures.
const mostCells = 10000

// drawable reports whether a page has enough space for the figures.
func drawable(maps []*plan.Map) bool {
	cells := 0
	for _, m := range maps {
		if m != nil {
			cells += len(m.Nodes)
		}
	}
	return len(maps) == 1 || cells <= mostCells
}

// ExplanationPage writes a page that lists the Explanations one below another. If the user named no DaemonSet, a table
// with a row for each of them comes first. Healthy DaemonSets then have only a row.
func ExplanationPage(w io.Writer, all []sheet.Explained, listed bool, asked sheet.Asked, style wording.Style) error {
	var screens []*screen.Screen
	var maps []*plan.Map
	list := &explain.List{APIVersion: snapshot.APIVersion, Kind: explain.ListKind}
	for _, e := range all {
		list.Items, maps = append(list.Items, e.Explanation), append(maps, e.Map)
	}
	if listed && len(all) != 1 {
		screens = append(screens, explanationListScreen(list, asked, style))
	}
	for _, e := range all {
		if listed && len(all) != 1 && !style.All && e.Verdict.Code == explain.Healthy && len(e.Matters()) == 0 {
			continue
		}
		a := diagnosis.Explain(e.Explanation, asked, style)
		if drawable(maps) {
			a.Figures(e.Map, e.Passed, e.Expected)
		}
		screens = append(screens, &a.Screen)
	}
	return sheet.WritePage(w, screens, style.Page)
}

// PlanPage writes a page with one plan below the other. If the user named no DaemonSet, a table with a row for each
// plan comes first.
func PlanPage(w io.Writer, all []sheet.Planned, listed bool, asked sheet.Asked, style wording.Style) error {
	var screens []*screen.Screen
	var maps []*plan.Map
	list := &plan.List{APIVersion: snapshot.APIVersion, Kind: plan.ListKind}
	for _, p := range all {
		list.Items, maps = append(list.Items, p.Plan), append(maps, p.Map)
	}
	if listed && len(all) != 1 {
		screens = append(screens, planListScreen(list, asked, style))
	}
	for _, p := range all {
		s := buildPlanScreen(p.Plan, p.Now, p.Asked, style)
		if drawable(maps) {
			s.figures(p.Map, p.Passed, p.Expected)
		}
		screens = append(screens, &s.Screen)
	}
	return sheet.WritePage(w, screens, style.Page)
}

// HistoryPage writes a page with one History below the other. If the user named no DaemonSet, a table with a row for
// each of them comes first.
func HistoryPage(w io.Writer, all []sheet.Past, listed bool, asked sheet.Asked, style wording.Style) error {
	var screens []*screen.Screen
	var maps []*plan.Map
	for _, h := range all {
		maps = append(maps, h.Map)
	}
	if listed && len(all) != 1 {
		screens = append(screens, historyListScreen(all, asked, style))
	}
	for _, h := range all {
		p := buildHistoryScreen(h, asked, style)
		if m := h.Map; drawable(maps) && m != nil && len(m.Nodes) > 0 && h.Rollout.Pods != nil {
			p.Screen.Draw(p.gridOfRevisions(m))
		}
		screens = append(screens, &p.Screen)
	}
	return sheet.WritePage(w, screens, style.Page)
}
