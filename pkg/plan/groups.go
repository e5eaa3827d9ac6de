package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// groups returns the worst that one step of a rollout can do to the nodes that share a value of a label. The controller
// picks nodes at random, so all of them may be in one group. The hardest hit groups come first.
//
// A node without an available pod uses up part of the limit. So in the worst case, the number of nodes of a group that
// are down is the limit, or the number that are already down if that is higher. A node of another group may get its pod
// before that step, unless it is assumed to stay down. The step takes down only nodes with an old available pod, and
// none with maxSurge.
func groups(st *daemonset.State, label string, nodes []assumedNode) []Group {
	out := []Group{}
	if label == "" || !st.NodesRead {
		return out
	}
	by := map[string]*Group{}
	candidates, lost, allLost := map[string]int{}, map[string]int{}, 0
	for i := range st.Nodes {
		n := &st.Nodes[i]
		isLost := b2i(len(nodes) > 0 && nodes[i].down && st.Holds(n))
		allLost += isLost
		if !n.ShouldRun.OK {
			continue
		}
		value := n.Object.Labels[label]
		g := by[value]
		if g == nil {
			g = &Group{Key: label, Value: value}
			by[value] = g
		}
		g.Nodes++
		g.Down += b2i(!slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
			return !p.Terminating &&
				p.Available.OK
		}))
		lost[value] += isLost
		candidates[value] += b2i(n.Slot == daemonset.SlotOldAvailable)
	}
	for _, value := range slices.Sorted(maps.Keys(by)) {
		g := by[value]
		if st.Budget.Kind == daemonset.BudgetUnavailable {
			g.Step = min(max(0, st.Limit()-g.Down-(allLost-lost[value])), candidates[value])
		}
		g.AtWorst = g.Down + g.Step
		out = append(out, *g)
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.AtWorst*a.Nodes, a.AtWorst*b.Nodes), cmp.Compare(b.Nodes, a.Nodes))
	})
	return out
}
