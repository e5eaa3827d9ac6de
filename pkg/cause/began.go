package cause

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// RolloutBegan returns when the current revision was created. It returns nil if its rollout began later, because an
// older revision was created later and the current one was restored by a rollback.
func (cs *Causes) RolloutBegan() *time.Time {
	var current *daemonset.Revision // if there are several, the one with the lowest number
	for i := range cs.st.History.Revisions {
		if r := &cs.st.History.Revisions[i]; slices.Contains(cs.st.History.Current, r.Name) {
			current = r
		}
	}
	if current == nil || slices.ContainsFunc(cs.st.History.Revisions, func(r daemonset.Revision) bool {
		return r.Name != current.Name && (r.Number > current.Number || r.Created.After(current.Created))
	}) {
		return nil
	}
	return timeOf(current.Created)
}

// Untried returns the number of the previous revision if no pod of the current revision has ever worked and no other
// pod is left. It returns 0 if a pod is Ready, may have been Ready, or is older than the current revision, and if that
// is unknown.
func (cs *Causes) Untried() (number int64) {
	began := cs.RolloutBegan()
	if began == nil || cs.hasOld() {
		return 0
	}
	for i := range cs.st.Nodes {
		for j := range cs.st.Nodes[i].Pods {
			p := &cs.st.Nodes[i].Pods[j]
			made := p.Object.CreationTimestamp.Time
			since := readySince(p.Object)
			if p.Ready || made.Before(*began) || since == nil || since.Sub(made) > Patience {
				return 0 // it works, or may have worked for a while
			}
		}
	}
	for _, r := range cs.st.History.Revisions {
		if !slices.Contains(cs.st.History.Current, r.Name) && r.Claim == daemonset.Owned {
			number = max(number, r.Number)
		}
	}
	return number
}

// Date sets what the times of a problem show about its Blame: whether the problem existed before the rollout in
// progress, and whether the rollout had done anything on nodes that are down.
func (cs *Causes) Date(p *Problem, b *Blame) {
	b.BeforeRollout = cs.beforeRollout(p)
	if b.Who == WhoNode && (StageOf(p.Code) == StageNode || p.Code == Misscheduled) && p.Code != daemonset.NodeGone {
		b.Untouched = cs.untouched(p.Nodes)
		if cs.rolling(p) && b.BeforeRollout == nil && !b.Untouched {
			b.Certainty = Likely
		}
	}
}

// noticeDelay is how far apart two times must be to show which was first. The node lifecycle controller notices a
// silent kubelet after 40s, since v1.32 after 50s, and up to 5s more. Times that a kubelet reports itself depend on the
// clock of its node.
const noticeDelay = time.Minute

// rolling reports whether the start times of both a rollout in progress and a problem are known.
func (cs *Causes) rolling(p *Problem) bool {
	return cs.RolloutBegan() != nil && p.Since != nil && p.Latest != nil && cs.hasOld()
}

// hasOld reports whether a node has an old pod that is not terminating.
func (cs *Causes) hasOld() bool {
	return slices.ContainsFunc(cs.st.Nodes, func(n daemonset.Node) bool {
		return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Updated && !p.Terminating })
	})
}

// beforeRollout reports whether a problem existed before the rollout in progress began. It returns nil if that is
// uncertain, or true for only a part of the problem.
func (cs *Causes) beforeRollout(p *Problem) *bool {
	if !cs.rolling(p) {
		return nil
	}
	began := *cs.RolloutBegan()
	before, after := !p.Latest.After(began.Add(-noticeDelay)), !p.Since.Before(began.Add(noticeDelay))
	if before == after {
		return nil
	}
	return &before
}

// untouched reports whether the rollout in progress had done nothing on nodes when they became NotReady: they still
// have the pods from before, and none of these was deleted earlier. With maxSurge it returns false, because a new pod
// may have been there.
func (cs *Causes) untouched(nodes []string) bool {
	began := cs.RolloutBegan()
	if began == nil || !cs.hasOld() || cs.st.Budget.MaxSurge > 0 || len(nodes) == 0 {
		return false
	}
	return !slices.ContainsFunc(nodes, func(name string) bool {
		n := cs.st.Node(name)
		if n == nil || len(n.Pods) == 0 {
			return true
		}
		down := Down(n, cs.at)
		return down == nil || down.Since == nil || slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
			return !p.Object.CreationTimestamp.Time.Before(*began) || deletedBefore(p.Object, down)
		})
	})
}

// deletedBefore reports whether the deletion of a pod may have been requested before its node became NotReady. An
// Unknown status is noticed only some time after the kubelet stopped.
func deletedBefore(o *corev1.Pod, down *Cause) bool {
	asked, since := DeletionAsked(o), *down.Since
	if down.Facts.Text("status") != string(corev1.ConditionUnknown) {
		since = since.Add(noticeDelay)
	}
	return asked != nil && asked.Before(since)
}
