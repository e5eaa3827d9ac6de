package breakers

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Breaker is a way to break a healthy DaemonSet.
type Breaker struct {
	Name string

	// The expected findings: what the pods fail on and whose fault it is. The Subject has no name
	// if no message contains it.
	Subject cause.Subject
	Who     cause.Who

	Remedy remedy.Code   // what helps; empty if no change to the DaemonSet or its namespace does
	InVain []remedy.Code // what does not help
	OfNode bool          // breaks one node, and pods of all revisions on it; otherwise it breaks a rollout

	tolerates []corev1.Toleration   // taints that the template must tolerate; nil: any template
	breaks    func(w *World, n int) // n distinguishes the nodes of two breakers
}

// With reports whether a state can be broken by b and by ofNode, which breaks a node.
func (b *Breaker) With(ofNode *Breaker) bool {
	return b != ofNode && ofNode.OfNode &&
		(b.tolerates == nil || ofNode.tolerates == nil || slices.Equal(b.tolerates, ofNode.tolerates))
}

// Broken is a state after breakers were applied.
type Broken struct {
	Snapshot *snapshot.Snapshot
	Nodes    [][]string // by breaker: nodes whose pods fail or are missing
}

// Healthy returns the healthy state of a seed.
func Healthy(seed int64) *snapshot.Snapshot { return newWorld(seed, nil).taken() }

// Break returns the state of a seed, broken by b.
func (b *Breaker) Break(seed int64) Broken { return broken(seed, []*Breaker{b}, -1) }

// End returns the state of a seed after the break has ended and the controller and the kubelets
// have reacted: after a rollback, if that is the remedy, or with the cause removed.
func (b *Breaker) End(seed int64) Broken { return broken(seed, []*Breaker{b}, 0) }

// Two returns a state broken by two breakers. The second one breaks a node. ended is the index of
// the one that has ended, or -1.
func Two(seed int64, a, ofNode *Breaker, ended int) Broken {
	return broken(seed, []*Breaker{a, ofNode}, ended)
}

func broken(seed int64, all []*Breaker, ended int) Broken {
	w := newWorld(seed, all)
	out := Broken{Nodes: make([][]string, len(all))}
	w.paired = len(all) > 1
	// Nodes first: the existing pods are of revision 1.
	for _, i := range map[bool][]int{false: {0}, true: {1, 0}}[w.paired] {
		b, h := all[i], fnv.New64a()
		h.Write([]byte(b.Name))
		w.Rand = rand.New(rand.NewPCG(uint64(seed), h.Sum64()))
		w.broken, w.mended, w.back = nil, i == ended, b.Remedy == remedy.RollBack
		b.breaks(w, i)
		out.Nodes[i] = w.broken
	}
	out.Snapshot = w.taken()
	return out
}
