package plan

import (
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// NodeState is how far a rollout is on one node.
type NodeState string

const (
	NodeFails       NodeState = "Fails"       // its new pod fails, or its terminating pod does not end by itself
	NodeUnavailable NodeState = "Unavailable" // its old pod is not available
	NodeEmpty       NodeState = "Empty"       // it has no pod
	NodeDeleting    NodeState = "Deleting"    // its old pod is terminating
	NodeStarting    NodeState = "Starting"    // its new pod is not Ready yet
	NodeReady       NodeState = "Ready"       // its new pod is Ready, and not available yet
	NodeOld         NodeState = "Old"         // its old pod is available, and no other pod is there
	NodeUpdated     NodeState = "Updated"     // its new pod is available, and no old one is there
)

// NodeStates lists every NodeState, the worst first.
var NodeStates = []NodeState{NodeFails, NodeUnavailable, NodeEmpty, NodeDeleting, NodeStarting, NodeReady, NodeOld,
	NodeUpdated}

// Moves reports whether something is under way on a node, or ought to be.
func (s NodeState) Moves() bool { return s != NodeOld && s != NodeUpdated }

// OnNode is how far a rollout is on one node.
type OnNode struct {
	Node   string
	State  NodeState
	Served bool // an available pod stays there, whatever moves beside it
}

// Motion returns how far the rollout is on each eligible node, by name; on each node
// with a pod where the nodes could not be read, and on none where the pods could not.
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

// nodeState sums up the pods of a node. The cause is what keeps it from having an
// available pod; nil if nothing does.
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

// LatePod is a pod that takes longer than any other of the DaemonSet did.
type LatePod struct {
	Node, Pod string
	Deleting  bool          // it does not end; else it does not become Ready
	For       time.Duration // since its deletion was asked for, or it was created
}

// Usual is how long pods of the DaemonSet take, in seconds; empty where nothing tells.
type Usual struct {
	Starts, Ends []float64 // from creation to Ready, and from deletion until it is gone: the shortest first
	Assumed      bool      // Starts is what the person who asks said
}

// usual returns how long pods take, as far as it was measured.
func (m *measured) usual() Usual {
	u := Usual{Starts: m.starts, Assumed: m.startSource == sourceFlag}
	if m.endSource != sourceGracePeriod {
		u.Ends = m.ends
	}
	return u
}

// late returns the pods of eligible nodes that take longer than any other did, by
// node. Times are known to the second.
func (m *measured) late(st *daemonset.State) []LatePod {
	const slack = 2
	slowest := func(of []float64) float64 { return of[len(of)-1] + slack }
	u := m.usual()
	var out []LatePod
	for i := range st.Nodes {
		n := &st.Nodes[i]
		for j := range n.Pods {
			p := &n.Pods[j]
			took, over := 0., false
			switch {
			case !n.ShouldRun.OK:
			case p.Terminating:
				took = deletedFor(p, st.At)
				over = len(u.Ends) > 0 && took > slowest(u.Ends)
			case p.Updated && !p.Ready && !p.Object.CreationTimestamp.IsZero():
				took = st.At.Sub(p.Object.CreationTimestamp.Time).Seconds()
				over = len(u.Starts) > 0 && took > slowest(u.Starts)
			}
			if over {
				out = append(out, LatePod{n.Name, p.Name, p.Terminating, time.Duration(took) * time.Second})
			}
		}
	}
	return out
}

// idle returns for how long no pod has moved where pods are to blame for it: those that
// are late, or fail. It is 0 where the rollout goes on beside them, while the next sync is
// due, and where nothing is left to do.
func (p *Progress) idle(vanished time.Time) time.Duration {
	fails := func(n OnNode) bool { return n.State == NodeFails }
	blamed := len(p.Outcome.Late) > 0 || slices.ContainsFunc(p.Nodes, fails)
	if !blamed || !p.Outcome.ReachesEnd() && p.Outcome.Code != Stalls || p.Next.Kind != daemonset.StepNone {
		return 0
	}
	last := lastMove(p.State)
	if vanished.After(last) {
		last = vanished
	}
	if still := p.State.At.Sub(last); !last.IsZero() && still >= calm {
		return still
	}
	return 0
}

// lastMove returns when a pod came last, became Ready or was deleted, or a revision
// was created, as what there is says; zero where nothing does, and no later than now,
// whatever the clock of a node says. That a pod which restarted is Ready once more is no
// move, nor what an old pod does.
func lastMove(st *daemonset.State) (last time.Time) {
	var times []time.Time
	for i := range st.History.Revisions {
		times = append(times, st.History.Revisions[i].Created)
	}
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			times = append(times, p.Object.CreationTimestamp.Time)
			if at := readySince(p.Object); at != nil && p.Updated && !hasRestarted(p.Object) {
				times = append(times, at.Time)
			}
			if p.Terminating {
				times = append(times, st.At.Add(-time.Duration(deletedFor(p, st.At)*float64(time.Second))))
			}
		}
	}
	for _, t := range times {
		if t.After(last) && !t.After(st.At) {
			last = t
		}
	}
	return last
}
