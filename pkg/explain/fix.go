package explain

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// Fixes returns the remedies that help, the best first. It omits tolerations
// that only keep existing pods on their nodes, unless that is urgent.
func (e *Explanation) Fixes() []remedy.Remedy {
	urgent := func(p *Problem) bool { return p.Code == cause.Misscheduled && p.Severity == cause.SeverityWarning }
	return slices.DeleteFunc(remedy.Offered(e.Remedies), func(r remedy.Remedy) bool {
		return r.Code == remedy.Tolerate && !slices.Contains(r.Problems, cause.NoEligibleNode) &&
			!slices.ContainsFunc(e.Matters(), urgent)
	})
}

// Fix returns the remedy with a code if it helps, or nil.
func (e *Explanation) Fix(code remedy.Code) *remedy.Remedy {
	return remedy.Find(e.Fixes(), code)
}

// Undoes returns how many pods a rollback replaces, how many of these are
// available, and how many it deletes beside an old pod, which stays.
func (e *Explanation) Undoes(r *remedy.Remedy) (replaced, available, extra int) {
	if e.Impact != nil && e.Budget.Kind == daemonset.BudgetSurge {
		extra = min(len(e.Impact.OldServes), r.Effect.Replaces)
	}
	replaced = r.Effect.Replaces - extra
	return replaced, min(r.Effect.Available, replaced), extra
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// change returns the difference between the live template and the revision of
// most old pods. Without old pods it compares with the last revision that had
// an eligible node if none is eligible, or with the previous revision if no new
// pod ever worked. It returns nil if there is none of these, or if either
// template cannot be read.
func (g *given) change(problems []Problem) *history.Diff {
	from := g.oldRevision()
	for _, p := range problems {
		if p.Code == cause.NoEligibleNode && from == 0 {
			from = int64(p.Facts.Int("before"))
		}
	}
	if from == 0 && slices.ContainsFunc(problems, func(p Problem) bool { return cause.OfContainer(p.Code) }) {
		from = g.causes.Untried()
	}
	if from == 0 {
		return nil
	}
	return history.FromRevision(g.st, from)
}
