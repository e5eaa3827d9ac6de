package daemonset

import appsv1 "k8s.io/api/apps/v1"

// Counts are the seven numbers of a DaemonSet's status. They are comparable
// with ==.
type Counts struct {
	// eligible nodes, which should run the pod; on OpenShift 4.4 also nodes that only the namespace excludes
	Desired      int `json:"desiredNumberScheduled"`
	Current      int `json:"currentNumberScheduled"` // eligible nodes that have a pod, in any state
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

// Membership says in which numbers of the status a node counts.
type Membership struct {
	Desired, Current, Misscheduled, Ready, Updated, Available bool
}

// Membership returns the numbers in which the node counts; a vanished node
// counts in none. The first pod in the controller's order decides for the node,
// even if it is terminating. During a surge that is the old pod.
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

// Counts returns the status that the controller would write now. It returns
// false if the nodes or pods could not be read.
func (st *State) Counts() (Counts, bool) {
	var c Counts
	for i := range st.Nodes {
		c.add(st.Nodes[i].Membership(), 1)
	}
	return c, st.NodesRead && st.PodsRead
}

// add adds a node to the numbers the given number of times.
func (c *Counts) add(m Membership, by int) {
	c.Desired += by * b2i(m.Desired)
	c.Current += by * b2i(m.Current)
	c.Misscheduled += by * b2i(m.Misscheduled)
	c.Ready += by * b2i(m.Ready)
	c.Updated += by * b2i(m.Updated)
	c.Available += by * b2i(m.Available)
	c.Unavailable = c.Desired - c.Available
}
