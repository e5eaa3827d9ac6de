package explain

import (
	"iter"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// given holds the inputs of all parts of an Explanation. It is not modified.
type given struct {
	s        *snapshot.Snapshot
	st       *daemonset.State
	causes   *cause.Causes
	outlook  remedy.Outlook
	next     daemonset.Step
	heldUpBy daemonset.Reason // why no status is written; empty if it is
}

func newGiven(st *daemonset.State, o remedy.Outlook) *given {
	causes, next := cause.Find(st), st.Sync()
	return &given{s: st.Snapshot, st: st, causes: causes, outlook: o, next: next, heldUpBy: causes.HoldsUp(&next)}
}

// onDelete reports whether old pods wait until somebody deletes them.
func (g *given) onDelete() bool {
	return g.st.DaemonSet.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
}

// rolls reports whether the controller replaces old pods.
func (g *given) rolls() bool {
	return g.st.DaemonSet.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType
}

// pods yields the pods that are not terminating, either the updated or the old
// ones, with their nodes.
func (g *given) pods(updated bool) iter.Seq2[*daemonset.Node, *daemonset.Pod] {
	return func(yield func(*daemonset.Node, *daemonset.Pod) bool) {
		for i := range g.st.Nodes {
			n := &g.st.Nodes[i]
			for j := range n.Pods {
				if p := &n.Pods[j]; p.Updated == updated && !p.Terminating && !yield(n, p) {
					return
				}
			}
		}
	}
}

// oldNodes returns the number of nodes with an old pod that is not terminating.
func (g *given) oldNodes() int {
	on := map[string]bool{}
	for n := range g.pods(false) {
		on[n.Name] = true
	}
	return len(on)
}

// oldRevision returns the number of the revision that most old pods run. It
// returns 0 if none of theirs is kept, or if no rollout is in progress.
func (g *given) oldRevision() (number int64) {
	pods, most := map[string]int{}, 0
	for _, p := range g.pods(false) {
		pods[p.Revision]++
	}
	for _, r := range g.st.History.Revisions { // newest first
		if n := pods[r.Name]; n > most && !slices.Contains(g.st.History.Current, r.Name) {
			number, most = r.Number, n
		}
	}
	return number
}

func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
