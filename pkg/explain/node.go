package explain

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// FixesOn returns the remedies that help against the problem of a node,
// narrowed to that node.
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

// OnNode returns the problem of a node, narrowed to that node, or nil if it has
// none.
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

// Alone reports whether everything said about a node follows from the node, its
// pods, the template and the revisions, regardless of other nodes. That is so
// if nothing is wrong there: problems are explained by comparing nodes.
func (e *Explanation) Alone(n *Node) bool {
	return n.Exists && n.ShouldRun != nil && n.Problem == nil && e.OnNode(n) == nil
}

// Stays reports whether the node is not eligible and keeps a pod until the next
// rollout deletes it.
func (n *Node) Stays() bool {
	return n.Exists && n.ShouldRun != nil && !n.ShouldRun.OK && n.MayStay.OK &&
		slices.ContainsFunc(n.Pods, func(p Pod) bool { return !p.Terminating && p.Ignored == "" })
}

// Serves reports whether the node has an available pod.
func (n *Node) Serves() bool {
	return slices.ContainsFunc(n.Pods, func(p Pod) bool { return p.Available })
}

// ProblemCode returns the code of the node's problem, or "" if it has none.
func (n *Node) ProblemCode() daemonset.Reason {
	if n.Problem == nil {
		return ""
	}
	return n.Problem.Code
}

// Lacks reports whether the node is eligible and has no available pod.
func (n *Node) Lacks() bool { return n.ShouldRun != nil && n.ShouldRun.OK && !n.Serves() }

// NodeState sums up a node in one word.
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

// State returns the NodeState of the node.
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

// Unset returns the rules of placement that neither the template nor a taint of
// the node uses, in the controller's order.
func (n *Node) Unset() (out []string) {
	for _, rule := range []daemonset.Rule{daemonset.RuleNodeName, daemonset.RuleNodeSelector,
		daemonset.RuleNodeAffinity, daemonset.RuleTaint} {
		if !slices.ContainsFunc(n.Checks, func(c daemonset.Check) bool { return c.Rule == rule }) {
			out = append(out, string(rule))
		}
	}
	return out
}

// Old returns the pods on the node that are not updated, except those that are
// terminating or ignored by the controller.
func (n *Node) Old() (out []Pod) {
	for _, p := range n.Pods {
		if !p.Updated && !p.Terminating && p.Ignored == "" {
			out = append(out, p)
		}
	}
	return out
}

// Status returns the pod's phase, or "Terminating".
func (p *Pod) Status() string {
	if p.Terminating {
		return "Terminating"
	}
	return p.Phase
}
