package plan

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
)

// Preempt is a node on which the scheduler removes pods of others to make room for the
// new one.
type Preempt struct {
	Node string   `json:"node"` // its name
	Pods []string `json:"pods"` // the pods that go, as `namespace/name`, the most important first

	// the scheduler picks exactly these; otherwise it has no order for pods that are equally important, and may pick
	// others of them
	Certain bool `json:"certain"`

	// of `pods`, those whose PodDisruptionBudget allows no further disruption; the scheduler removes them all the same
	Violates []string `json:"violates"`
}

// tooSmall reports whether a new pod does not fit on a node.
func (f *assumedNode) tooSmall() bool {
	return f.never != nil && f.never.Code == cause.DoesNotFit
}

// fitting returns the nodes on which the next pod does not fit, and those on which others
// make room for it; by name.
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
			p := Preempt{Node: n.Name, Pods: []string{}, Violates: []string{}, Certain: v.Preemption.Certain}
			for _, x := range v.Preemption.Victims {
				p.Pods = append(p.Pods, x.Namespace+"/"+x.Name)
				if len(x.Violates) > 0 {
					p.Violates = append(p.Violates, x.Namespace+"/"+x.Name)
				}
			}
			preempts = append(preempts, p)
		default:
			if c := a.causes.Unfit(n); c != nil {
				unfit = append(unfit, Holder{Node: n.Name, Cause: c})
			}
		}
	}
	return unfit, preempts
}

// Unfits returns what is wrong with the nodes on which a new pod does not fit, by what
// they have in common, the most frequent first.
func (p *Plan) Unfits() []*cause.Problem {
	return ProblemsOf(p.Unfit)
}

// Preempted returns how many pods of others make room for new ones.
func (p *Plan) Preempted() (pods int, nodes []string) {
	for _, x := range p.Preempts {
		pods += len(x.Pods)
		nodes = append(nodes, x.Node)
	}
	return pods, slices.Clip(nodes)
}

// Violated returns how many of these pods a PodDisruptionBudget protects in vain.
func (p *Plan) Violated() (pods int) {
	for _, x := range p.Preempts {
		pods += len(x.Violates)
	}
	return pods
}
