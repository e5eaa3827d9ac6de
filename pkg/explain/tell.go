package explain

import (
	"cmp"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Affected says who is without a working pod, in one word; empty where that goes
// without saying.
type Affected string

const (
	AffectedUnknown     Affected = "Unknown"     // nodes or pods could not be read
	AffectedNowhere     Affected = "Nowhere"     // no node is eligible, and none has a pod
	AffectedRemoved     Affected = "Removed"     // no node is eligible, and the controller deletes all pods
	AffectedAlmost      Affected = "Almost"      // none: only minReadySeconds is not over
	AffectedSome        Affected = "Some"        // eligible nodes
	AffectedServedByOld Affected = "ServedByOld" // none: an old pod is available beside the new one
	AffectedNobody      Affected = "Nobody"      // none, although not all is well
)

// Affected returns who is without a working pod, and the nodes that it is about.
// Where that is unknown, they are those of which it is known all the same.
func (e *Explanation) Affected() (Affected, []string) {
	i, none := e.Impact, e.Has(cause.NoEligibleNode)
	switch {
	case i == nil && len(e.Snapshot.Unread()) == 0:
		return "", nil
	case i == nil && e.Budget.Kind == daemonset.BudgetSurge: // an old pod may run beside one that fails
		return AffectedUnknown, nil
	case i == nil:
		return AffectedUnknown, sorted(e.nodesOf(func(p *Problem) bool { return p.Severity == cause.SeverityError && cause.OfContainer(p.Code) }))
	case len(i.Without) > 0 && len(i.Without) == len(i.Ready):
		return AffectedAlmost, i.Without
	case len(i.Without) > 0:
		return AffectedSome, i.Without
	case len(i.OldServes) > 0:
		return AffectedServedByOld, i.OldServes
	case i.Served > 0 && e.Verdict.Code != Healthy:
		return AffectedNobody, nil
	case i.Served > 0 || none == nil:
		return "", nil
	case len(i.Uncounted) == 0:
		return AffectedNowhere, nil
	case none.Facts["losing"] == len(i.Uncounted):
		return AffectedRemoved, i.Uncounted
	}
	return "", nil
}

// Gravity is how bad the problems are that a summary is about.
type Gravity string

const (
	GravityNone    Gravity = "None"
	GravityWarning Gravity = "Warning" // none is urgent
	GravityProblem Gravity = "Problem"
)

// Gravity returns how bad the problems are that a summary is about.
func (e *Explanation) Gravity() Gravity {
	m := e.Matters()
	switch {
	case len(m) == 0:
		return GravityNone
	case !m[0].Urgent() && m[0].Code != cause.NoEligibleNode:
		return GravityWarning
	}
	return GravityProblem
}

// Listed returns the problems that somebody may do something about, and those that
// are only worth knowing. Old pods that wait for a person are neither.
func (e *Explanation) Listed() (rows, notes []*Problem) {
	for i := range e.Problems {
		p := &e.Problems[i]
		switch {
		case p.Code == OnDeleteOutdated && e.Verdict.Code == AwaitingDelete:
		case p.Severity == cause.SeverityInfo && p.Count == 0, p.Code == cause.NextRolloutStalls, p.Code == Adopt:
			notes = append(notes, p)
		default:
			rows = append(rows, p)
		}
	}
	return e.ordered(rows), notes
}

// All returns the problems in the order of a screen.
func (e *Explanation) All() []*Problem {
	all := make([]*Problem, len(e.Problems))
	for i := range all {
		all[i] = &e.Problems[i]
	}
	return e.ordered(all)
}

// Running returns the revisions that pods are on, and the current one also without
// pods where it is the first of them.
func (e *Explanation) Running() (out []*Revision) {
	for i := range e.Revisions {
		if r := &e.Revisions[i]; r.Pods+r.Terminating > 0 || r.Current && len(out) == 0 {
			out = append(out, r)
		}
	}
	return out
}

// Eligible returns how many nodes DESIRED counts, how many it does not, and how
// many of the former are NotReady.
func (e *Explanation) Eligible() (eligible, excluded, notReady int) {
	down := e.nodesOf(func(p *Problem) bool { return p.Code == cause.NodeNotReady || p.Code == cause.TerminatingOnDeadNode })
	for _, g := range e.Groups("DESIRED", true) {
		eligible += g.Count
		for _, n := range g.Nodes {
			if slices.Contains(down, n) {
				notReady++
			}
		}
	}
	for _, g := range e.Groups("DESIRED", false) {
		excluded += g.Count
	}
	return eligible, excluded, notReady
}

// Undoes returns how many pods a FixUndo replaces, how many of them are available,
// and how many it deletes beside an old one, which stays.
func (e *Explanation) Undoes(f *Fix) (replaced, available, extra int) {
	if e.Impact != nil && e.Budget.Kind == daemonset.BudgetSurge {
		extra = min(len(e.Impact.OldServes), f.Replaces)
	}
	replaced = f.Replaces - extra
	if current := e.Current(); current != nil {
		available = min(current.Available, replaced)
	}
	return replaced, available, extra
}

// OnNode is one DaemonSet on one node.
type OnNode struct {
	*daemonset.Header
	Node *Node
}

// ByNode returns the nodes of all DaemonSets of the List, by the node, then by the
// DaemonSet.
func (l *List) ByNode() (out []OnNode) {
	for _, e := range l.Items {
		for i := range e.Nodes {
			out = append(out, OnNode{&e.Header, &e.Nodes[i]})
		}
	}
	slices.SortStableFunc(out, func(a, b OnNode) int {
		x, y := &a.DaemonSet, &b.DaemonSet
		return cmp.Or(cmp.Compare(a.Node.Name, b.Node.Name), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	return out
}

// Wrong returns the first DaemonSet with a problem on a node, or nil if none has
// one.
func (l *List) Wrong() *Explanation {
	for _, e := range l.Items {
		if slices.ContainsFunc(e.Nodes, func(n Node) bool { return n.Problem != nil }) {
			return e
		}
	}
	return nil
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
	for _, rule := range []daemonset.Rule{daemonset.RuleNodeName, daemonset.RuleNodeSelector, daemonset.RuleNodeAffinity, daemonset.RuleTaint} {
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

// Helps returns the codes of the problems of a summary that a fix removes; none for
// a way around them.
func (e *Explanation) Helps(f *Fix) (codes []daemonset.Reason) {
	first := e.Has(f.Problem)
	if f.Problem == "" || first == nil {
		return nil
	}
	for _, p := range e.Matters() {
		same := p.Origin != nil && first.Origin != nil && p.Origin.Kind == first.Origin.Kind && p.Origin.Name == first.Origin.Name
		if p.Code == f.Problem || same && f.Code != FixRaiseQuota || f.Code == FixUndo && cause.OfContainer(p.Code) {
			codes = append(codes, p.Code)
		}
	}
	return slices.Compact(codes)
}

// Part is what belongs together: problems that ask for the same, what to do first
// about them, and the fixes that remove them.
type Part struct {
	Advice   *Advice // nil for what is left
	Problems []*Problem
	Fixes    []Fix
	As       int // the part, counted from 1, whose fix removes these problems too; 0 where it has its own
}

// Parts returns a part for each piece of advice, in their order, and a last one of
// what is left: problems that ask for nothing, and ways around a problem. A fix of
// nodes stands in each part that it is for, with the nodes of this part; any other in
// the first. Where only one thing is to be done, everything is one part without advice.
func (e *Explanation) Parts() []Part {
	if len(e.Advice) < 2 {
		return []Part{{Problems: e.All(), Fixes: e.Fixes}}
	}
	parts, left := make([]Part, len(e.Advice)+1), len(e.Advice)
	of := map[daemonset.Reason]int{}
	for i := range e.Advice {
		parts[i].Advice = &e.Advice[i]
		for _, code := range e.Advice[i].Problems {
			of[code] = i
		}
	}
	for _, p := range e.All() {
		i, ok := of[p.Code]
		if !ok {
			i = left
		}
		parts[i].Problems = append(parts[i].Problems, p)
	}
	for _, f := range e.Fixes {
		in := []int{}
		for _, code := range e.Helps(&f) {
			if i, ok := of[code]; ok && !slices.Contains(in, i) {
				in = append(in, i)
			}
		}
		slices.Sort(in)
		for n, i := range in {
			switch {
			case len(f.Nodes) > 0:
				here := f
				here.Nodes = slices.DeleteFunc(slices.Clone(f.Nodes), func(node string) bool { return !slices.Contains(e.Advice[i].Nodes, node) })
				parts[i].Fixes = append(parts[i].Fixes, here)
			case n == 0:
				parts[i].Fixes = append(parts[i].Fixes, f)
			default:
				parts[i].As = in[0] + 1
			}
		}
		if len(in) == 0 {
			parts[left].Fixes = append(parts[left].Fixes, f)
		}
	}
	return parts
}

// RunBoth returns how many nodes run an old and a new pod, as with maxSurge.
func (e *Explanation) RunBoth() (n int) {
	for _, on := range e.Nodes {
		has := func(updated bool) bool {
			return slices.ContainsFunc(on.Pods, func(p Pod) bool { return !p.Terminating && p.Updated == updated })
		}
		n += b2i(has(false) && has(true))
	}
	return n
}
