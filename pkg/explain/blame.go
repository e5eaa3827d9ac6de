package explain

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// blame returns whose fault a problem is; nil for one that needs none: it passes by
// itself, or its code says so.
func (g *given) blame(p *Problem) *cause.Blame {
	if p.Severity == cause.SeverityInfo && p.Code != OnDeleteOutdated && !(p.Code == cause.Misscheduled && downFor(p.Facts)) {
		return nil
	}
	b := g.ofDaemonSetBlame(p)
	if b == nil {
		b = p.Blame
	}
	if b == nil {
		return nil
	}
	b.BeforeRollout = g.beforeRollout(p)
	if b.Who == cause.WhoNode && (cause.StageOf(p.Code) == cause.StageNode || p.Code == cause.Misscheduled) && p.Code != daemonset.NodeGone {
		b.Untouched = g.untouched(p.Nodes)
		if g.rolling(p) && b.BeforeRollout == nil && !b.Untouched {
			b.Certainty = cause.Likely
		}
	}
	return b
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
	case p.Code == cause.NoEligibleNode && p.Facts["changed"] == cause.ChangedTemplate:
		b = cause.Blame{Who: cause.WhoChange, Certainty: cause.Likely, Revision: int64(p.Facts.Int("number"))}
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

// ofController reports whether a problem is that the controller does not act.
func ofController(p *Problem) bool {
	return p.Code == StaleStatus || (p.Code == cause.ControllerSilent || p.Code == GenerationNotObserved) && p.Severity == cause.SeverityError
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

// noticed is how far apart two times have to be to tell which was first. The node
// lifecycle controller notices 40s, since v1.32 50s, and up to 5s more after a kubelet has
// fallen silent, and what a kubelet reports itself is by the clock of its node.
const noticed = time.Minute

// rolling reports whether it is known when a rollout under way and a problem began.
func (g *given) rolling(p *Problem) bool {
	return g.rolloutBegan() != nil && p.Since != nil && p.Latest != nil && g.oldNodes() > 0
}

// beforeRollout reports whether a problem was there before the rollout under way
// began; nil where that is not certain, and where some of it was, and some was not.
func (g *given) beforeRollout(p *Problem) *bool {
	if !g.rolling(p) {
		return nil
	}
	began := *g.rolloutBegan()
	before, after := !p.Latest.After(began.Add(-noticed)), !p.Since.Before(began.Add(noticed))
	if before == after {
		return nil
	}
	return &before
}

// untouched reports whether the rollout under way had done nothing on nodes when they
// became NotReady: they still have the pods from before it, and none of these was deleted
// earlier. Where pods surge, a new one may have been there and gone.
func (g *given) untouched(nodes []string) bool {
	began := g.rolloutBegan()
	if began == nil || g.oldNodes() == 0 || g.st.Budget.MaxSurge > 0 || len(nodes) == 0 {
		return false
	}
	return !slices.ContainsFunc(nodes, func(name string) bool {
		n := g.st.Node(name)
		if n == nil || len(n.Pods) == 0 {
			return true
		}
		down := cause.Down(n, g.st.At)
		return down == nil || down.Since == nil || slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
			return !p.Object.CreationTimestamp.Time.Before(*began) || deletedBefore(p.Object, down)
		})
	})
}

// deletedBefore reports whether a pod's deletion may have been asked for before its node
// became NotReady. A kubelet that is silent was so before that was noticed.
func deletedBefore(o *corev1.Pod, down *cause.Cause) bool {
	asked, since := cause.DeletionAsked(o), *down.Since
	if down.Facts.Text("status") != string(corev1.ConditionUnknown) {
		since = since.Add(noticed)
	}
	return asked != nil && asked.Before(since)
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
