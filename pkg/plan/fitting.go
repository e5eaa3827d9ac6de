package plan

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
)

// Preempt is a node on which the scheduler preempts pods to make room for the new pod.
type Preempt struct {
	Node          string   `json:"node"` // its name
	Pods          []string `json:"pods"` // the preempted pods, as `namespace/name`, the most important first
	cause.Victims `json:",inline"`
}

// tooSmall reports whether a new pod does not fit on the node.
func (f *assumedNode) tooSmall() bool {
	return f.never != nil && f.never.Code == cause.DoesNotFit
}

// fitting returns the nodes on which the next pod does not fit, and those on which preemption makes room for it, sorted
// by name.
func (a *assumed) fitting(st *daemonset.State) (unfit []Holder, preempts []Preempt) {
	unfit, preempts = []Holder{}, []Preempt{}
	for i := range st.Nodes {
		n := &st.Nodes[i]
		if !getsPod(n, st) {
			continue
		}
		v, known := a.causes.NewPod(n)
		switch {
		case !known || v.Fits:
		case v.Preemption.Outcome == fit.Possible:
			pods, victims := cause.VictimsOf(&v.Preemption)
			preempts = append(preempts, Preempt{Node: n.Name, Pods: pods, Victims: victims})
		default:
			if c := a.causes.Unfit(n); c != nil {
				unfit = append(unfit, Holder{Node: n.Name, Cause: c})
			}
		}
	}
	return unfit, preempts
}

// Unfits returns the problems of the nodes on which a new pod does not fit, grouped by what they have in common, the
// most frequent first.
func (p *Plan) Unfits() []*cause.Problem {
	return ProblemsOf(p.Unfit)
}

// Preempted returns how many pods are preempted for new ones, and on which nodes.
func (p *Plan) Preempted() (pods int, nodes []string) {
	for _, x := range p.Preempts {
		pods += len(x.Pods)
		nodes = append(nodes, x.Node)
	}
	return pods, slices.Clip(nodes)
}

// BudgetsViolated returns the PodDisruptionBudgets that the preemptions violate, as `namespace/name`, sorted.
func (p *Plan) BudgetsViolated() (names []string) {
	for _, x := range p.Preempts {
		names = append(names, x.Budgets...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
