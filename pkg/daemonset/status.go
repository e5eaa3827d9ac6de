package daemonset

import appsv1 "k8s.io/api/apps/v1"

// Counts are the seven numbers of a DaemonSet's status, comparable with ==.
type Counts struct {
	// eligible nodes: those that should run the pod; on OpenShift 4.4 also those that only their namespace excludes
	Desired      int `json:"desiredNumberScheduled"`
	Current      int `json:"currentNumberScheduled"` // of those, the nodes with a pod, in whatever state
	Misscheduled int `json:"numberMisscheduled"`     // nodes that are not eligible and have a pod

	// eligible nodes whose first pod is ready; the first is bound before unbound, then the oldest
	Ready       int `json:"numberReady"`
	Updated     int `json:"updatedNumberScheduled"` // eligible nodes whose first pod is updated
	Available   int `json:"numberAvailable"`        // eligible nodes whose first pod is available
	Unavailable int `json:"numberUnavailable"`      // desired minus available
}

// Reported returns the numbers that the controller wrote last.
func Reported(ds *appsv1.DaemonSet) Counts {
	s := &ds.Status
	return Counts{
		Desired: int(s.DesiredNumberScheduled), Current: int(s.CurrentNumberScheduled),
		Misscheduled: int(s.NumberMisscheduled),
		Ready:        int(s.NumberReady), Updated: int(s.UpdatedNumberScheduled), Available: int(s.NumberAvailable),
		Unavailable: int(s.NumberUnavailable),
	}
}

// Membership says in which of the status's numbers a node counts.
type Membership struct {
	Desired, Current, Misscheduled, Ready, Updated, Available bool
}

// Membership returns in which numbers the node counts. A vanished node counts
// in none. A node is judged by its first pod in the controller's order, the
// oldest, terminating or not: during a surge that is the old one.
func (n *Node) Membership() Membership {
	if !n.Exists {
		return Membership{}
	}
	if !n.ShouldRun.OK && !n.StillDesired {
		return Membership{Misscheduled: len(n.Pods) > 0}
	}
	if len(n.Pods) == 0 {
		return Membership{Desired: true}
	}
	p := &n.Pods[0]
	return Membership{Desired: true, Current: true, Ready: p.Ready, Updated: p.Updated, Available: p.Available.OK}
}

// Counts returns the status that the controller would write now, and false
// where the nodes or pods could not be read.
func (st *State) Counts() (Counts, bool) {
	var c Counts
	for i := range st.Nodes {
		c.add(st.Nodes[i].Membership(), 1)
	}
	return c, st.NodesRead && st.PodsRead
}

// add adds a node so many times.
func (c *Counts) add(m Membership, by int) {
	c.Desired += by * b2i(m.Desired)
	c.Current += by * b2i(m.Current)
	c.Misscheduled += by * b2i(m.Misscheduled)
	c.Ready += by * b2i(m.Ready)
	c.Updated += by * b2i(m.Updated)
	c.Available += by * b2i(m.Available)
	c.Unavailable = c.Desired - c.Available
}
