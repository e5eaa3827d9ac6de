package explain

import (
	"maps"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
)

// verdict returns the Verdict.
//
// Degraded requires a cause that does not resolve itself: with a pod that
// starts in the expected time, or that the next sync creates, a DaemonSet is
// Progressing. A rollout is Stuck only if its step fails, or if every holder of
// the budget has such a cause. A generation that is not observed does not
// matter if only the status is held up.
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

// Judge returns a History of the same Snapshot whose rollout agrees with the
// verdict: a rollout in progress is stuck if the verdict is Stuck.
func (e *Explanation) Judge(h *history.History) *history.History {
	if e.Verdict.Code == Stuck {
		return h.AsStuck()
	}
	return h
}

// basis returns the numbers to use, and which they are: the computed ones, or
// else the reported ones. The pointer is nil if neither is known.
func (s *Status) basis() (string, *daemonset.Counts) {
	if s.Computed != nil {
		return "Computed", s.Computed
	}
	return "Reported", s.Reported
}

// withoutPod returns the number of eligible nodes without an available pod that
// is not terminating and, of these, how many the status still counts as
// available.
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

// wrongNodes returns how many nodes without an available pod fail, and how many
// only wait.
func (g *given) wrongNodes() (failing, waiting int) {
	silent := g.causes.Silent(&g.next)
	for i := range g.st.Nodes {
		n := &g.st.Nodes[i]
		c := g.causes.Of(n.Name)
		switch {
		case !n.ShouldRun.OK || c == nil, c.Facts.Yes("ready"): // available, but it keeps restarting
		case c.Severity == cause.SeverityError, c.Code == daemonset.FailedPod, c.Code == cause.NoPod && silent:
			failing++
		default:
			waiting++
		}
	}
	return failing, waiting
}

// ending reports whether an old pod terminates on a node that should run the
// pod: the status counts the node as updated only when that pod is gone.
func (g *given) ending() bool {
	return slices.ContainsFunc(g.st.Nodes, func(n daemonset.Node) bool {
		return n.ShouldRun.OK && slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
			return p.Terminating &&
				!p.Updated
		})
	})
}

// stuck reports whether a rollout cannot continue by itself: its step fails
// permanently, the API server rejects a pod, which ends each sync before any
// replacement, the controller does not act, or no holder of the budget
// recovers. A limit of 0, such as a percentage of no eligible nodes, has no
// holders.
func (g *given) stuck(b *BudgetUse) bool {
	switch {
	case g.next.Error != nil:
		// It ends within a minute, when the garbage collector deletes the pod.
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
		return false // the controller deletes failed pods now, and old ones during the back-off
	}
	return !slices.ContainsFunc(b.Holders, func(h BudgetHolder) bool {
		c := g.causes.Of(h.Node)
		return c == nil || c.Severity != cause.SeverityError
	})
}
