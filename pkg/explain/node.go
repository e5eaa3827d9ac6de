package explain

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// FixesOn returns the remedies that help against what is wrong on a node, narrowed to it.
func (e *Explanation) FixesOn(n *Node) (fixes []remedy.Remedy) {
	p := e.OnNode(n)
	if p == nil {
		return nil
	}
	for _, f := range e.Fixes() {
		if slices.Contains(f.Problems, p.Code) && (len(f.Nodes) == 0 || slices.Contains(f.Nodes, n.Name)) {
			f.Nodes = []string{n.Name}
			fixes = append(fixes, f)
		}
	}
	return fixes
}

// OnNode returns the problem of a node, narrowed to it; nil if it has none.
func (e *Explanation) OnNode(n *Node) *Problem {
	code := cause.Misscheduled
	if n.Problem != nil {
		code = n.Problem.Code
	}
	for _, p := range e.Problems {
		if p.Code != code || !slices.Contains(p.Nodes, n.Name) {
			continue
		}
		p.Nodes, p.Pods, p.Count = []string{n.Name}, nil, 1
		if n.Problem != nil {
			p.Since, p.Latest, p.Facts = n.Problem.Since, nil, n.Problem.Facts
		}
		if len(n.Pods) > 0 {
			p.Pods = []string{n.Pods[0].Name}
		}
		return &p
	}
	return nil
}

// Alone reports whether all that is said of a node rests on it, its pods, the template and the
// revisions alone, so that it is the same without any other node: nothing is wrong there. What
// is wrong is explained by what other nodes have in common, or lack.
func (e *Explanation) Alone(n *Node) bool {
	return n.Exists && n.ShouldRun != nil && n.Problem == nil && e.OnNode(n) == nil
}

// Stays reports whether the node is not eligible and keeps a pod until the next
// rollout deletes it.
func (n *Node) Stays() bool {
	return n.Exists && n.ShouldRun != nil && !n.ShouldRun.OK && n.MayStay.OK &&
		slices.ContainsFunc(n.Pods, func(p Pod) bool { return !p.Terminating && p.Ignored == "" })
}

// Serves reports whether an available pod runs on the node.
func (n *Node) Serves() bool {
	return slices.ContainsFunc(n.Pods, func(p Pod) bool { return p.Available })
}

// ProblemCode returns the code of what is wrong on the node, or "" if nothing is.
func (n *Node) ProblemCode() daemonset.Reason {
	if n.Problem == nil {
		return ""
	}
	return n.Problem.Code
}

// Lacks reports whether the node is eligible and no available pod runs there.
func (n *Node) Lacks() bool { return n.ShouldRun != nil && n.ShouldRun.OK && !n.Serves() }

// NodeState is what a person asks about a node, in one word.
type NodeState string

const (
	NodeDeleted  NodeState = "Deleted"  // there is no such node, but pods are assigned to it
	NodeUnknown  NodeState = "Unknown"  // the nodes could not be read
	NodeExcluded NodeState = "Excluded" // it is not eligible
	NodeFails    NodeState = "Fails"    // something is wrong that does not pass by itself
	NodeWaits    NodeState = "Waits"    // something is wrong that may pass by itself
	NodeEmpty    NodeState = "Empty"    // it has no pod
	NodeFine     NodeState = "Fine"     // nothing is wrong
)

// State returns whether the node is eligible, and what is wrong with it.
func (n *Node) State() NodeState {
	switch {
	case !n.Exists:
		return NodeDeleted
	case n.ShouldRun == nil:
		return NodeUnknown
	case !n.ShouldRun.OK:
		return NodeExcluded
	case n.Problem != nil && n.Problem.Severity == cause.SeverityError:
		return NodeFails
	case n.Problem != nil:
		return NodeWaits
	case len(n.Pods) == 0:
		return NodeEmpty
	}
	return NodeFine
}

// Unset returns the rules of placement that the template does not set and no taint
// of the node asks for, in the controller's order.
func (n *Node) Unset() (out []string) {
	for _, rule := range []daemonset.Rule{daemonset.RuleNodeName, daemonset.RuleNodeSelector,
		daemonset.RuleNodeAffinity, daemonset.RuleTaint} {
		if !slices.ContainsFunc(n.Checks, func(c daemonset.Check) bool { return c.Rule == rule }) {
			out = append(out, string(rule))
		}
	}
	return out
}

// Old returns the pods on the node that are not updated, without those that are
// terminating and those that the controller ignores.
func (n *Node) Old() (out []Pod) {
	for _, p := range n.Pods {
		if !p.Updated && !p.Terminating && p.Ignored == "" {
			out = append(out, p)
		}
	}
	return out
}

// Status is the pod's phase, or that it is terminating.
func (p *Pod) Status() string {
	if p.Terminating {
		return "Terminating"
	}
	return p.Phase
}
