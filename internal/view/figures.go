package view

import (
	"slices"
	"strconv"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// gridOfRevisions returns a figure of the nodes, colored by the revision of their oldest pod.
func (p *historyScreen) gridOfRevisions(m *plan.Map) *screen.Grid {
	g, of := sheet.NewGrid(m), map[string]int{}
	for i := range p.h.Revisions {
		r := &p.h.Revisions[i]
		if len(r.OnNodes) == 0 {
			continue
		}
		sign, words := strconv.FormatInt(r.Revision, 10), "on "+p.name(r)
		if len(sign) > 2 || r.Name == "" {
			sign = string(rune('A' + len(g.Kinds)%26))
		}
		if r == p.current {
			words += wording.InBrackets(p.whyCurrent())
		}
		for _, node := range r.OnNodes {
			of[node] = len(g.Kinds)
		}
		g.Kinds = append(g.Kinds,
			screen.Kind{Sign: sign, Words: words, Shade: screen.Several[len(g.Kinds)%len(screen.Several)]})
	}
	none := len(g.Kinds)
	if slices.ContainsFunc(m.Nodes, func(n plan.OnMap) bool { _, has := of[n.Node]; return !has }) {
		g.Kinds = append(g.Kinds, screen.Kind{Sign: "-", Words: "no pod", Shade: screen.Aside})
	}
	sheet.FillGrid(g, m, func(n *plan.OnMap) int {
		if i, has := of[n.Node]; has {
			return i
		}
		return none
	})
	return g
}

// figures adds the figures of a plan: a timeline of the rollout and a grid of the nodes.
func (s *planScreen) figures(m *plan.Map, passed, expected []plan.Moment) {
	b := &s.p.Budget
	limit := sheet.LimitOf{Kind: b.Kind, Spec: b.Spec, Limit: b.Limit, Of: s.p.AtEnd().Desired}
	if t := sheet.Timeline(passed, expected, limit, sheet.PastNote(passed)+sheet.ExpectedNote(expected)); t != nil {
		s.Screen.Draw(t)
	}
	if m != nil && len(m.Nodes) > 0 {
		old := "an older revision"
		if s.live != nil {
			old = sheet.OldRevision(s.live.E)
		}
		s.Screen.Draw(sheet.Grid(m, old))
	}
}
