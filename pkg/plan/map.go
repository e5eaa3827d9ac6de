package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// States of nodes on a Map, in addition to those that Motion returns.
const (
	NodeStays        NodeState = "Stays"        // in a plan: it has no available pod at the end, or uses up the limit
	NodeUnfit        NodeState = "Unfit"        // in a plan: the new pod does not fit
	NodeLoses        NodeState = "Loses"        // in a plan: it loses its pod immediately
	NodeLosesLater   NodeState = "LosesLater"   // in a plan: the rollout deletes its pod without replacement
	NodeGains        NodeState = "Gains"        // in a plan: it gets a pod immediately
	NodeGone         NodeState = "Gone"         // it was deleted, and pods are still assigned to it
	NodeMisscheduled NodeState = "Misscheduled" // it is not eligible, and has a pod
	NodeExcluded     NodeState = "Excluded"     // it is not eligible, and has no pod
)

// MapStates lists every NodeState of a Map, the worst first.
var MapStates = slices.Concat(NodeStates[:3], []NodeState{NodeStays, NodeUnfit, NodeLoses, NodeLosesLater,
	NodeMisscheduled, NodeGone}, NodeStates[3:6], []NodeState{NodeGains}, NodeStates[6:], []NodeState{NodeExcluded})

// Map is the nodes of a DaemonSet, grouped by the value of a label.
type Map struct {
	Label string // empty if the nodes are not grouped
	Nodes []OnMap
}

// OnMap is a node on a Map.
type OnMap struct {
	OnNode
	Group   string           // value of the label; empty without the label
	Problem daemonset.Reason // code of the problem on the node; empty if there is none
	Pods    []MapPod         // pods that count first
}

// MapPod is a pod on a Map.
type MapPod struct {
	Name     string
	Revision int64  // revision number; 0 without a ControllerRevision
	Hash     string // value of its revision hash label
}

// MapOf returns the nodes of a State, sorted by name. If the pods could not be read, the nodes have no pods and no
// states. If label is empty, the nodes are grouped by zone, if they have one.
func MapOf(st *daemonset.State, label string) *Map {
	m := &Map{Label: groupedBy(st, label)}
	causes, moving := cause.Find(st), map[string]OnNode{}
	for _, n := range Motion(st, causes) {
		moving[n.Node] = n
	}
	for i := range st.Nodes {
		n := &st.Nodes[i]
		on := OnMap{OnNode: OnNode{Node: n.Name}, Pods: mapPods(st, n)}
		if n.Object != nil && m.Label != "" {
			on.Group = n.Object.Labels[m.Label]
		}
		if c := causes.Of(n.Name); c != nil {
			on.Problem = c.Code
		}
		switch move, moves := moving[n.Name]; {
		case !n.Exists:
			on.State = NodeGone
		case moves:
			on.OnNode = move
		case n.ShouldRun.OK: // the pods could not be read
		case len(n.Pods) > 0:
			on.State = NodeMisscheduled
		default:
			on.State = NodeExcluded
		}
		m.Nodes = append(m.Nodes, on)
	}
	return m
}

func mapPods(st *daemonset.State, n *daemonset.Node) (out []MapPod) {
	for _, p := range slices.Concat(n.Pods, n.Ignored) {
		is := MapPod{Name: p.Name, Hash: p.Hash}
		for _, r := range st.History.Revisions {
			if p.Revision != "" && r.Name == p.Revision {
				is.Revision = r.Number
			}
		}
		out = append(out, is)
	}
	return out
}

// Map returns the nodes of the planned State, with what the plan does to them.
func (p *Plan) Map(st *daemonset.State, label string) *Map {
	m, does := MapOf(st, label), map[string]NodeState{}
	for _, of := range []struct {
		state NodeState
		nodes []string
	}{
		{NodeGains, Nodes(p.Placement.Gain)}, {NodeStays, Nodes(p.Outcome.Holders)}, {NodeUnfit, Nodes(p.Unfit)},
		{NodeLosesLater, Nodes(p.LostLater())}, {NodeLoses, Nodes(p.Placement.Lose)},
	} {
		for _, node := range of.nodes {
			does[node] = of.state
		}
	}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		// these states are more specific
		if state, known := does[n.Node]; known &&
			!(p.Subject == SubjectRollout && (n.State == NodeFails || n.State == NodeUnavailable)) {
			n.State = state
		}
	}
	return m
}

// groupedBy returns the label that groups nodes: the given one, or else the zone label, or "" if no node has a zone.
func groupedBy(st *daemonset.State, label string) string {
	if label != "" || !zoned(st.Snapshot) {
		return label
	}
	return corev1.LabelTopologyZone
}

func zoned(s *snapshot.Snapshot) bool {
	return slices.ContainsFunc(s.Nodes, func(n corev1.Node) bool { return n.Labels[corev1.LabelTopologyZone] != "" })
}
