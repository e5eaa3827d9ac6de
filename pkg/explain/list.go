package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// WorstFirst compares two Explanations by verdict, then by the share of
// eligible nodes without an available pod, then by namespace and name.
func WorstFirst(a, b *Explanation) int {
	return cmp.Or(slices.Index(VerdictCodes, a.Verdict.Code)-slices.Index(VerdictCodes, b.Verdict.Code),
		cmp.Compare(b.Impact.Share(), a.Impact.Share()),
		strings.Compare(a.DaemonSet.Namespace, b.DaemonSet.Namespace),
		strings.Compare(a.DaemonSet.Name, b.DaemonSet.Name))
}

// troubled returns the sorted nodes of the problems that are the fault of the
// node or of other workloads on it, and of the problems that would stop the
// next rollout.
func (e *Explanation) troubled() []string {
	return sorted(e.nodesOf(func(p *Problem) bool {
		o := p.Blame
		return p.Code == cause.NextRolloutStalls || o != nil &&
			(o.Who == cause.WhoNode || o.Who == cause.WhoOtherWorkload)
	}))
}

// Shared is a node that causes problems for several DaemonSets.
type Shared struct {
	Node       string
	DaemonSets int // how many DaemonSets are affected
}

// Shared returns the nodes that cause problems for several DaemonSets of the
// List, those that affect the most first, then by name.
func (l *List) Shared() []Shared {
	count := map[string]int{}
	for _, e := range l.Items {
		for _, n := range e.troubled() {
			count[n]++
		}
	}
	var out []Shared
	for n, c := range count {
		if c > 1 {
			out = append(out, Shared{n, c})
		}
	}
	slices.SortFunc(out, func(a, b Shared) int {
		return cmp.Or(cmp.Compare(b.DaemonSets, a.DaemonSets), strings.Compare(a.Node, b.Node))
	})
	return out
}

// OnNode is one DaemonSet on one node.
type OnNode struct {
	*daemonset.Header
	Node *Node
}

// ByNode returns the nodes of all DaemonSets of the List, sorted by node and
// then by DaemonSet.
func (l *List) ByNode() (out []OnNode) {
	for _, e := range l.Items {
		for i := range e.Nodes {
			out = append(out, OnNode{&e.Header, &e.Nodes[i]})
		}
	}
	slices.SortStableFunc(out, func(a, b OnNode) int {
		x, y := &a.DaemonSet, &b.DaemonSet
		return cmp.Or(cmp.Compare(a.Node.Name, b.Node.Name), cmp.Compare(x.Namespace, y.Namespace),
			cmp.Compare(x.Name, y.Name))
	})
	return out
}

// Wrong returns the first DaemonSet that has a problem on any node, or nil if
// none has one.
func (l *List) Wrong() *Explanation {
	for _, e := range l.Items {
		if slices.ContainsFunc(e.Nodes, func(n Node) bool { return n.Problem != nil }) {
			return e
		}
	}
	return nil
}
