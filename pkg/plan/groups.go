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

// Footprint is where a plan takes pods down. It is small, so that a list of plans can keep it without the State.
type Footprint struct {
	Pods []string // nodes with an available pod before the rollout, sorted

	// nodes among these whose pod the rollout deletes before its successor is available, sorted. If the rollout
	// stalls before it has replaced all of them, it may reach any of them
	Down []string
}

// FootprintOf returns the Footprint of a plan that was made for the State.
func FootprintOf(st *daemonset.State, p *Plan) Footprint {
	var f Footprint
	replaces := p.Outcome.Replaced > p.Outcome.AtOnce && st.Budget.MaxSurge == 0
	for i := range st.Nodes {
		n := &st.Nodes[i]
		if n.Slot != daemonset.SlotOldAvailable && n.Slot != daemonset.SlotNewAvailable {
			continue
		}
		f.Pods = append(f.Pods, n.Name)
		if replaces && n.Slot == daemonset.SlotOldAvailable {
			f.Down = append(f.Down, n.Name)
		}
	}
	slices.Sort(f.Pods)
	slices.Sort(f.Down)
	return f
}

// Together is what the plans of several DaemonSets do if all their changes are made at the same time.
type Together struct {
	// a node with the most pods that may be down at the same time; empty if there is none
	Node string `json:"node"`

	// the most available pods of one node that the rollouts may take down at the same time: the DaemonSets that
	// replace their pod there without a surge. It is a bound, because the rollouts need not reach a node at the same
	// time. Pods that are unavailable before the rollouts are not counted
	PerNodeAtMost int `json:"perNodeAtMost"`
	Pods          int `json:"pods"` // the available pods of `node` before the rollouts

	// how long the rollouts that complete take one after another; nil if none completes, or if the duration of one is
	// unknown
	OneAfterAnother *Duration `json:"oneAfterAnother"`
}

// TogetherOf returns the effect of plans with these Footprints, in the same order. Of several nodes with the same
// bound, it returns the one with the fewest pods, and then the first by name.
func TogetherOf(plans []*Plan, footprints []Footprint) *Together {
	pods, down := map[string]int{}, map[string]int{}
	for _, f := range footprints {
		for _, n := range f.Pods {
			pods[n]++
		}
		for _, n := range f.Down {
			down[n]++
		}
	}
	t := &Together{OneAfterAnother: inSequence(plans)}
	for n, most := range down {
		if t.Node == "" || most > t.PerNodeAtMost || most == t.PerNodeAtMost &&
			(pods[n] < t.Pods || pods[n] == t.Pods && n < t.Node) {
			t.Node, t.PerNodeAtMost, t.Pods = n, most, pods[n]
		}
	}
	return t
}

// inSequence returns the sum of the durations of the rollouts that complete, or nil if one of them is unknown. The
// range is at least as wide as that of all rollouts, because not all of them take longest.
func inSequence(plans []*Plan) *Duration {
	var sum *Duration
	for _, p := range plans {
		if !p.Outcome.ReachesEnd() || p.Outcome.Code == NothingToDo {
			continue
		}
		if p.Outcome.Duration == nil {
			return nil
		}
		if sum == nil {
			sum = &Duration{}
		}
		d := p.Outcome.Duration
		sum.Optimistic, sum.Expected = sum.Optimistic+d.Optimistic, sum.Expected+d.Expected
		sum.Pessimistic += d.Pessimistic
	}
	return sum
}
