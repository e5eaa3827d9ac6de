package cause

import (
	"maps"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// excluded returns that the rolling update counts a node without a pod that only its
// namespace excludes; nil if it does not, as outside of OpenShift.
func (cs *Causes) excluded(n *daemonset.Node) *Cause {
	if !n.StillRolled || !cs.st.Holds(n) {
		return nil
	}
	c := &Cause{Code: ExcludedButCounted, Severity: SeverityInfo, Facts: maps.Clone(n.ShouldRun.Facts)}
	delete(c.Facts, "valid") // or it would exclude nothing
	if key, value, one := cs.st.Placement.NamespaceLabel(); one {
		c.Facts["key"], c.Facts["want"] = key, value
	}
	old := func(n daemonset.Node) bool {
		return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Updated && !p.Terminating })
	}
	if slices.ContainsFunc(cs.st.Nodes, old) {
		c.Severity = SeverityError
	}
	return c
}
