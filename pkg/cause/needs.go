package cause

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Needs is what an answer looks at besides what a Snapshot holds anyway. Whoever
// reads the input adds it to the Snapshot, and makes the State again.
type Needs struct {
	Admission bool     // what the API server looks at when it is asked to create a pod
	Nodes     []string // whose other pods decide whether a pod fits there, sorted
}

// mostPending is of how many nodes with a pod that is not scheduled the other pods are
// needed: an answer names few.
const mostPending = 10

// NeedsOf returns what says why pods are refused, and why others are not scheduled.
func NeedsOf(st *daemonset.State) Needs {
	n := Needs{Admission: Find(st).Refusal() != nil}
	for i := range st.Nodes {
		if len(n.Nodes) < mostPending && st.Nodes[i].Exists && slices.ContainsFunc(st.Nodes[i].Pods, unscheduled) {
			n.Nodes = append(n.Nodes, st.Nodes[i].Name)
		}
	}
	return n
}

// unscheduled reports whether the scheduler has not found room for a pod.
func unscheduled(p daemonset.Pod) bool {
	return !p.Terminating && p.Object.Spec.NodeName == ""
}

// And returns both.
func (n Needs) And(m Needs) Needs {
	all := slices.Concat(n.Nodes, m.Nodes)
	slices.Sort(all)
	return Needs{n.Admission || m.Admission, slices.Compact(all)}
}
