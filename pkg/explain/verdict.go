package explain

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// verdict sums up.
//
// Degraded needs a cause that does not go away by itself: a pod that starts
// within patience, or that the next sync creates, leaves a DaemonSet
// Progressing. A rollout is Stuck only if every holder of its budget has such
// a cause, or if the step fails. A generation that is not observed says
// nothing where something holds up the status alone.
func (b *builder) verdict(e *Explanation) Verdict {
	counts := daemonset.Counts{}
	old := b.oldNodes()
	v := Verdict{Facts: daemonset.Facts{"limit": b.st.Limit()}}
	if basis, known := e.Status.basis(); known != nil {
		counts = *known
		maps.Copy(v.Facts, daemonset.Facts{
			"basis": basis, "desired": counts.Desired, "updated": counts.Updated, "available": counts.Available, "unavailable": counts.Unavailable,
		})
	}
	if b.st.PodsRead {
		v.Facts["oldNodes"], v.Facts["used"], v.Facts["holders"] = old, *e.Budget.Used, len(e.Budget.Holders)
		v.Facts["without"], v.Facts["stillCounted"] = b.withoutPod()
		maps.Copy(v.Facts, b.causes.RevisionFails().Facts())
	}
	ds := b.st.DaemonSet
	rolling := old > 0 && ds.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType
	failing, waiting := b.wrongNodes()
	switch {
	case ds.DeletionTimestamp != nil:
		v.Code = BeingDeleted
	case !b.st.PodsRead, e.Next.Reason == daemonset.StepSelectsAll:
		v.Code = Unknown
	case b.st.NotObserved() && b.heldUpBy == "":
		v.Code = NotObserved
	case rolling && b.stuck(e):
		v.Code = Stuck
	case rolling:
		v.Code = Progressing
	case failing > 0:
		v.Code = Degraded
	case waiting > 0 || e.Next.Kind != daemonset.StepNone || b.st.NodesRead && counts.Available < counts.Desired:
		v.Code = Progressing
	case !b.st.NodesRead && counts.Available < counts.Desired:
		v.Code = Unknown
	case old > 0:
		v.Code = AwaitingDelete
	default:
		v.Code = Healthy
	}
	return v
}

// basis returns the numbers to go by, and which they are: the computed ones,
// or else those that were reported; nil if a gap hides both.
func (s *Status) basis() (string, *daemonset.Counts) {
	if s.Computed != nil {
		return "Computed", s.Computed
	}
	return "Reported", s.Reported
}

// oldNodes counts the nodes with an old pod that is not on its way out.
func (b *builder) oldNodes() int {
	count := 0
	for i := range b.st.Nodes {
		for _, p := range b.st.Nodes[i].Pods {
			if !p.Updated && !p.Terminating {
				count++
				break
			}
		}
	}
	return count
}

// withoutPod counts the nodes that should have an available pod and have none but
// those that are terminating, and of them those that the status counts as available
// all the same.
func (b *builder) withoutPod() (without, terminating int) {
	for i := range b.st.Nodes {
		n := &b.st.Nodes[i]
		served := slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return p.Available.OK && !p.Terminating })
		if !n.ShouldRun.OK || served {
			continue
		}
		without++
		if n.Membership().Available {
			terminating++
		}
	}
	return without, terminating
}

// wrongNodes counts the nodes that should have an available pod and do not:
// those that fail, and those that are on their way.
func (b *builder) wrongNodes() (failing, waiting int) {
	silent := b.silent()
	for i := range b.st.Nodes {
		n := &b.st.Nodes[i]
		c := b.causes.Of(n.Name)
		switch {
		case !n.ShouldRun.OK || c == nil:
		case c.Severity == cause.SeverityError, c.Code == daemonset.FailedPod, c.Code == cause.NoPod && silent:
			failing++
		default:
			waiting++
		}
	}
	return failing, waiting
}

// stuck reports whether a rollout cannot go on by itself: its step fails, a
// creation is refused, which ends each sync before anything is replaced, the
// controller does not act, or all holders of the budget stay as they are. A
// budget that comes to 0, as a percentage of no eligible node does, has none.
func (b *builder) stuck(e *Explanation) bool {
	switch {
	case e.Next.Error != nil, b.silent() && owes(&e.Next):
		return true
	case b.causes.Refusal() != nil && e.Next.Creates.Len() > 0 && e.Next.Kind == daemonset.StepManage:
		return true
	case owes(&e.Next):
		return false
	case len(e.Budget.Holders) == 0:
		return b.st.Limit() == 0
	case e.Next.Kind == daemonset.StepManage && *e.Budget.Used < b.st.Limit():
		return false // it deletes failed pods now, and old ones while it waits to do so again
	}
	for _, h := range e.Budget.Holders {
		if c := b.causes.Of(h.Node); c == nil || c.Severity != cause.SeverityError {
			return false
		}
	}
	return true
}
