package explain

import (
	"maps"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
)

// verdict sums up.
//
// Degraded needs a cause that does not go away by itself: a pod that starts
// within patience, or that the next sync creates, leaves a DaemonSet
// Progressing. A rollout is Stuck only if every holder of its budget has such
// a cause, or if the step fails. A generation that is not observed says
// nothing where something holds up the status alone.
func (g *given) verdict(s *Status, b *BudgetUse) Verdict {
	counts := daemonset.Counts{}
	old := g.oldNodes()
	v := Verdict{Facts: daemonset.Facts{"limit": g.st.Limit()}}
	if basis, known := s.basis(); known != nil {
		counts = *known
		maps.Copy(v.Facts, daemonset.Facts{
			"basis": basis, "desired": counts.Desired, "updated": counts.Updated, "available": counts.Available,
			"unavailable": counts.Unavailable,
		})
	}
	if g.st.PodsRead {
		v.Facts["oldNodes"], v.Facts["used"], v.Facts["holders"] = old, *b.Used, len(b.Holders)
		v.Facts["without"], v.Facts["stillCounted"] = g.withoutPod()
		maps.Copy(v.Facts, g.causes.RevisionFails().Facts())
	}
	rolling := old > 0 && g.rolls()
	failing, waiting := g.wrongNodes()
	switch {
	case g.st.DaemonSet.DeletionTimestamp != nil:
		v.Code = BeingDeleted
	case !g.st.PodsRead, g.next.Reason == daemonset.StepSelectsAll:
		v.Code = Unknown
	case g.st.NotObserved() && g.heldUpBy == "":
		v.Code = NotObserved
	case rolling && g.stuck(b):
		v.Code = Stuck
	case rolling:
		v.Code = Progressing
	case failing > 0:
		v.Code = Degraded
	case waiting > 0 || g.ending() || g.next.Kind != daemonset.StepNone || g.st.NodesRead &&
		counts.Available < counts.Desired:
		v.Code = Progressing
	case !g.st.NodesRead && counts.Available < counts.Desired:
		v.Code = Unknown
	case old > 0:
		v.Code = AwaitingDelete
	default:
		v.Code = Healthy
	}
	return v
}

// Judge returns a History of the same Snapshot with this verdict on its rollout: one that
// is in progress is stuck if the verdict is Stuck.
func (e *Explanation) Judge(h *history.History) *history.History {
	if e.Verdict.Code == Stuck {
		return h.AsStuck()
	}
	return h
}

// basis returns the numbers to go by, and which they are: the computed ones,
// or else those that were reported; nil if a gap hides both.
func (s *Status) basis() (string, *daemonset.Counts) {
	if s.Computed != nil {
		return "Computed", s.Computed
	}
	return "Reported", s.Reported
}

// withoutPod counts the nodes that should have an available pod and have none but
// those that are terminating, and of them those that the status counts as available
// all the same.
func (g *given) withoutPod() (without, terminating int) {
	for i := range g.st.Nodes {
		n := &g.st.Nodes[i]
		served := slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return p.Available.OK && !p.Terminating })
		if !n.ShouldRun.OK || served {
			continue
		}
		without++
		terminating += b2i(n.Membership().Available)
	}
	return without, terminating
}

// wrongNodes counts the nodes that should have an available pod and do not:
// those that fail, and those that are on their way.
func (g *given) wrongNodes() (failing, waiting int) {
	silent := g.causes.Silent(&g.next)
	for i := range g.st.Nodes {
		n := &g.st.Nodes[i]
		c := g.causes.Of(n.Name)
		switch {
		case !n.ShouldRun.OK || c == nil, c.Facts.Yes("ready"): // which is available, and keeps restarting
		case c.Severity == cause.SeverityError, c.Code == daemonset.FailedPod, c.Code == cause.NoPod && silent:
			failing++
		default:
			waiting++
		}
	}
	return failing, waiting
}

// ending reports whether an old pod is on its way out of a node that should run the pod:
// the status counts the node as updated only when it is gone.
func (g *given) ending() bool {
	return slices.ContainsFunc(g.st.Nodes, func(n daemonset.Node) bool {
		return n.ShouldRun.OK && slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
			return p.Terminating &&
				!p.Updated
		})
	})
}

// stuck reports whether a rollout cannot go on by itself: its step fails for good, a
// creation is refused, which ends each sync before anything is replaced, the
// controller does not act, or all holders of the budget stay as they are. A
// budget that comes to 0, as a percentage of no eligible node does, has none.
func (g *given) stuck(b *BudgetUse) bool {
	switch {
	case g.next.Error != nil:
		// which is over when its pod is collected, within a minute
		return g.next.Error.Code != daemonset.VanishedNodeInSurge
	case g.causes.Silent(&g.next) && cause.Owes(&g.next):
		return true
	case g.causes.Refusal() != nil && g.next.Creates.Len() > 0 && g.next.Kind == daemonset.StepManage:
		return true
	case g.causes.RefusesSurge() != nil && g.next.Deletes.Len() == 0:
		return true
	case cause.Owes(&g.next):
		return false
	case len(b.Holders) == 0:
		return g.st.Limit() == 0
	case g.next.Kind == daemonset.StepManage && *b.Used < g.st.Limit():
		return false // it deletes failed pods now, and old ones while it waits to do so again
	}
	return !slices.ContainsFunc(b.Holders, func(h BudgetHolder) bool {
		c := g.causes.Of(h.Node)
		return c == nil || c.Severity != cause.SeverityError
	})
}
