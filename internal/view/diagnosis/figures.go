package diagnosis

import (
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// Figures adds the figures of an Explanation: a timeline of the rollout and a grid of the nodes.
func (a *Answer) Figures(m *plan.Map, passed, expected []plan.Moment) {
	b := &a.E.Budget
	limit := sheet.LimitOf{Kind: b.Kind, Spec: b.Spec, Limit: b.MaxUnavailable, Of: a.count("desired")}
	if b.Kind == daemonset.BudgetSurge {
		limit.Limit = b.MaxSurge
	}
	if t := sheet.Timeline(passed, expected, limit, sheet.PastNote(passed)+sheet.ExpectedNote(expected)); t != nil {
		a.Screen.Draw(t)
	}
	if m != nil && len(m.Nodes) > 0 {
		a.Screen.Draw(sheet.Grid(m, sheet.OldRevision(a.E)))
	}
}
