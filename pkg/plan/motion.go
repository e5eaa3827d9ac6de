package plan

import (
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// NodeState is the progress of a rollout on one node.
type NodeState string

const (
	NodeFails       NodeState = "Fails"       // its new pod fails, or its terminating pod does not end by itself
	NodeUnavailable NodeState = "Unavailable" // its old pod is not available
	NodeEmpty       NodeState = "Empty"       // it has no pod
	NodeDeleting    NodeState = "Deleting"    // its old pod is terminating
	NodeStarting    NodeState = "Starting"    // its new pod is not Ready yet
	NodeReady       NodeState = "Ready"       // its new pod is Ready but not available yet
	NodeOld         NodeState = "Old"         // its old pod is available, and there is no other pod
	NodeUpdated     NodeState = "Updated"     // its new pod is available, and there is no old pod
)

// NodeStates lists every NodeState, the worst first.
var NodeStates = []NodeState{NodeFails, NodeUnavailable, NodeEmpty, NodeDeleting, NodeStarting, NodeReady, NodeOld,
	NodeUpdated}

// Moves reports whether something happens on the node, or should happen.
func (s NodeState) Moves() bool { return s != NodeOld && s != NodeUpdated }

// OnNode is the progress of a rollout on one node.
type OnNode struct {
	Node   string
	State  NodeState
	Served bool // it has an available pod that is not terminating
}

// Motion returns the progress of the rollout on each eligible node, sorted by name. If the nodes could not be read, it
// returns each node with a pod. If the pods could not be read, it returns nil.
func Motion(st *daemonset.State, causes *cause.Causes) []OnNode {
	if !st.PodsRead {
		return nil
	}
	var out []OnNode
	for i := range st.Nodes {
		if n := &st.Nodes[i]; n.ShouldRun.OK {
			served := hasAvailable(n)
			out = append(out, OnNode{n.Name, nodeState(n, causes.Of(n.Name)), served})
		}
	}
	return out
}

// nodeState returns the state of a node. c is what keeps it from having an available pod; nil if nothing does.
func nodeState(n *daemonset.Node, c *cause.Cause) NodeState {
	var fresh, old, ending *daemonset.Pod
	for i := range n.Pods {
		switch p := &n.Pods[i]; {
		case p.Terminating:
			ending = p
		case p.Updated:
			fresh = p
		default:
			old = p
		}
	}
	fails := c != nil && (c.Severity == cause.SeverityError || c.Code == daemonset.FailedPod)
	switch {
	case fresh != nil && fresh.Available.OK && old == nil && (ending == nil || ending.Updated):
		return NodeUpdated
	case fresh != nil && fresh.Available.OK:
		return NodeDeleting
	case fresh != nil && fails, fresh == nil && old == nil && ending != nil && fails:
		return NodeFails
	case fresh != nil && fresh.Ready:
		return NodeReady
	case fresh != nil:
		return NodeStarting
	case old != nil && old.Available.OK:
		return NodeOld
	case old != nil:
		return NodeUnavailable
	case ending != nil:
		return NodeDeleting
	}
	return NodeEmpty
}
