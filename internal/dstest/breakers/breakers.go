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

// Breaker is one way to break a healthy DaemonSet.
type Breaker struct {
	Name string

	// what must be found: what the pods fail on, and whose fault that is; of the Subject no name
	// where nothing says it
	Subject cause.Subject
	Who     cause.Who

	Remedy remedy.Code   // what helps; empty where nothing does that the DaemonSet or its namespace could change
	InVain []remedy.Code // what does not help
	OfNode bool          // it breaks one node, and pods of all revisions alike; otherwise a rollout

	tolerates []corev1.Toleration   // what the template must tolerate; nil for anything
	breaks    func(w *World, n int) // n tells the nodes of two breakers apart
}

// With reports whether a state can be broken by both: this one, and one of a node.
func (b *Breaker) With(ofNode *Breaker) bool {
	return b != ofNode && ofNode.OfNode &&
		(b.tolerates == nil || ofNode.tolerates == nil || slices.Equal(b.tolerates, ofNode.tolerates))
}

// Broken is what breakers leave.
type Broken struct {
	Snapshot *snapshot.Snapshot
	Nodes    [][]string // of each breaker: on which pods fail or are missing
}

// Healthy returns the state of a seed that nothing breaks.
func Healthy(seed int64) *snapshot.Snapshot { return newWorld(seed, nil).taken() }

// Break returns the healthy state of a seed after it was broken.
func (b *Breaker) Break(seed int64) Broken { return broken(seed, []*Breaker{b}, -1) }

// End returns the same once what broke it has ended and the controller and the kubelets have done
// their part: after a rollback, where that is the remedy, or with the world as it was.
func (b *Breaker) End(seed int64) Broken { return broken(seed, []*Breaker{b}, 0) }

// Two returns a state that two breakers have broken, the second one of a node. Of these, the one
// with the number ended has ended; -1 for none.
func Two(seed int64, a, ofNode *Breaker, ended int) Broken {
	return broken(seed, []*Breaker{a, ofNode}, ended)
}

func broken(seed int64, all []*Breaker, ended int) Broken {
	w := newWorld(seed, all)
	out := Broken{Nodes: make([][]string, len(all))}
	w.paired = len(all) > 1
	for _, i := range map[bool][]int{false: {0}, true: {1, 0}}[w.paired] { // nodes first: the pods there are of revision 1
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
