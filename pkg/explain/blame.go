package explain

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// blame returns whose fault a problem is; nil for one that needs none: it passes by
// itself, or its code says so.
func (g *given) blame(p *Problem) *cause.Blame {
	if p.Severity == cause.SeverityInfo && p.Code != OnDeleteOutdated &&
		!(p.Code == cause.Misscheduled && downFor(p.Facts)) {
		return nil
	}
	if b := g.ofDaemonSetBlame(p); b != nil {
		g.causes.Date(p, b)
		return b
	}
	return p.Blame
}

// whoByCode are who is at fault for problems of the DaemonSet as a whole, where their code says it.
var whoByCode = map[daemonset.Reason]cause.Blame{
	OnDeleteOutdated:         {Who: cause.WhoStrategy, Certainty: cause.Certain},
	daemonset.InvalidBudget:  {Who: cause.WhoStrategy, Certainty: cause.Certain},
	SurgeHostPort:            {Who: cause.WhoStrategy, Certainty: cause.Certain},
	cause.ExcludedButCounted: {Who: cause.WhoController, Certainty: cause.Certain},
}

// ofDaemonSetBlame returns whose fault a problem is that no step of a pod has; nil for others.
func (g *given) ofDaemonSetBlame(p *Problem) *cause.Blame {
	b, known := whoByCode[p.Code]
	switch {
	case p.Code == cause.Misscheduled && downFor(p.Facts):
		b = cause.Blame{Who: cause.WhoNode, Certainty: cause.Certain}
	case p.Code == cause.NoEligibleNode && p.Facts["changed"] == eligible.ChangedTemplate:
		b = cause.Blame{Who: cause.WhoChange, Certainty: cause.Likely, Revision: int64(p.Facts.Int("number"))}
	case p.Code == cause.NoEligibleNode:
		b = ofPlacement(p.Facts)
	case p.Code == StaleStatus && g.st.DaemonSet.DeletionTimestamp != nil: // its controller writes none then
		return nil
	case ofController(p):
		b = byLease(p.Facts)
	case !known:
		return nil
	}
	b.Touched = []template.Path{}
	return &b
}

// ofPlacement says whose fault it is that no node is eligible, which no change of the template
// explains. A template that selects nodes by their labels is meant for these, so it lacks the
// toleration of their taint; unless a pod is there, which was before the taint. Whether nodes or
// template are wrong about a label is unknown.
func ofPlacement(f daemonset.Facts) cause.Blame {
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

// ofController reports whether a problem is that the controller does not act.
func ofController(p *Problem) bool {
	return p.Code == StaleStatus || (p.Code == cause.ControllerSilent || p.Code == GenerationNotObserved) &&
		p.Severity == cause.SeverityError
}

// byLease says whether the controller is at fault that does not act: it is if its Lease has
// expired, or if its version is known not to notice what happened. Where it runs, the cause is
// unknown.
func byLease(f daemonset.Facts) cause.Blame {
	switch {
	case f["lease"] == cause.LeaseExpired, f.Yes("missed"):
		return cause.Blame{Who: cause.WhoController, Certainty: cause.Certain}
	case f["lease"] == cause.LeaseAlive:
		return cause.Blame{Who: cause.WhoUnknown, Certainty: cause.Unsure}
	}
	return cause.Blame{Who: cause.WhoController, Certainty: cause.Likely}
}

// outside are at fault who neither the pods nor their nodes are.
var outside = []cause.Who{cause.WhoPolicy, cause.WhoOtherWorkload}

// Outside returns the problem of a code whose fault is neither that of the pods nor of their
// nodes, so that a change of the DaemonSet leaves it as it is. It returns nil otherwise.
func (e *Explanation) Outside(code daemonset.Reason) *Problem {
	if p := e.Has(code); p != nil && p.Blame != nil && slices.Contains(outside, p.Blame.Who) {
		return p
	}
	return nil
}
