package explain

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// blame returns whose fault a problem is. It returns nil for a problem that
// passes by itself or whose code already says it.
func (g *given) blame(p *Problem) *cause.Blame {
	if p.Severity == cause.SeverityInfo && p.Code != OnDeleteOutdated &&
		!(p.Code == cause.Misscheduled && downFor(p.Facts)) {
		return nil
	}
	if b := g.daemonSetBlame(p); b != nil {
		g.causes.Date(p, b)
		return b
	}
	return p.Blame
}

// whoByCode maps problems of the DaemonSet as a whole to the fault, if the code
// decides it.
var whoByCode = map[daemonset.Reason]cause.Blame{
	OnDeleteOutdated:         {Who: cause.WhoStrategy, Certainty: cause.Certain},
	daemonset.InvalidBudget:  {Who: cause.WhoStrategy, Certainty: cause.Certain},
	SurgeHostPort:            {Who: cause.WhoStrategy, Certainty: cause.Certain},
	cause.ExcludedButCounted: {Who: cause.WhoController, Certainty: cause.Certain},
}

// daemonSetBlame returns whose fault a problem of the DaemonSet as a whole
// is, or nil for other problems.
func (g *given) daemonSetBlame(p *Problem) *cause.Blame {
	b, known := whoByCode[p.Code]
	switch {
	case p.Code == cause.Misscheduled && downFor(p.Facts):
		b = cause.Blame{Who: cause.WhoNode, Certainty: cause.Certain}
	case p.Code == cause.NoEligibleNode && p.Facts["changed"] == eligible.ChangedTemplate:
		b = cause.Blame{Who: cause.WhoChange, Certainty: cause.Likely, Revision: int64(p.Facts.Int("number"))}
	case p.Code == cause.NoEligibleNode:
		b = blameForPlacement(p.Facts)
	case p.Code == StaleStatus && g.st.DaemonSet.DeletionTimestamp != nil: // the controller writes no status then
		return nil
	case controllerIdle(p):
		b = blameByLease(p.Facts)
	case !known:
		return nil
	}
	b.Touched = []template.Path{}
	return &b
}

// blameForPlacement returns whose fault it is that no node is eligible if no change
// of the template explains it. A template that selects nodes by label is meant
// for those nodes, so it lacks the toleration for their taint, unless a pod was
// there before the taint. If labels differ, it is unknown whether the nodes or
// the template are wrong.
func blameForPlacement(f daemonset.Facts) cause.Blame {
	selects, _ := f["selects"].([]string)
	switch by := f["excludedBy"]; {
	case by == eligible.ExcludedByCondition, by == eligible.ExcludedForGood:
		return cause.Blame{Who: cause.WhoNode, Certainty: cause.Certain}
	case by == eligible.ExcludedByNodeName, by == eligible.ExcludedByTaint && len(selects) > 0 &&
		f.Int("staying")+f.Int("losing") == 0:
		return cause.Blame{Who: cause.WhoTemplate, Certainty: cause.Likely}
	}
	return cause.Blame{Who: cause.WhoUnknown, Certainty: cause.Unsure}
}

// controllerIdle reports whether the problem is that the controller does not act.
func controllerIdle(p *Problem) bool {
	return p.Code == StaleStatus || (p.Code == cause.ControllerSilent || p.Code == GenerationNotObserved) &&
		p.Severity == cause.SeverityError
}

// blameByLease returns the blame for a controller that does not act. The controller
// is at fault if its Lease has expired, or if its version is known to miss the
// change. If the Lease is current, the fault is unknown.
func blameByLease(f daemonset.Facts) cause.Blame {
	switch {
	case f["lease"] == cause.LeaseExpired, f.Yes("missed"):
		return cause.Blame{Who: cause.WhoController, Certainty: cause.Certain}
	case f["lease"] == cause.LeaseAlive:
		return cause.Blame{Who: cause.WhoUnknown, Certainty: cause.Unsure}
	}
	return cause.Blame{Who: cause.WhoController, Certainty: cause.Likely}
}

// outsideParties are the parties that are neither pods nor nodes.
var outsideParties = []cause.Who{cause.WhoPolicy, cause.WhoOtherWorkload}

// Outside returns the problem with a code if neither the pods nor their nodes
// are at fault, so that no change to the DaemonSet solves it. Otherwise it
// returns nil.
func (e *Explanation) Outside(code daemonset.Reason) *Problem {
	if p := e.Has(code); p != nil && p.Blame != nil && slices.Contains(outsideParties, p.Blame.Who) {
		return p
	}
	return nil
}
