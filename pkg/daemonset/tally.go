package daemonset

import "math/bits"

// Tally holds what each node of a State contributes to a sync, and the sums
// over all nodes. Sync uses it for everything that may happen; Act follows one
// Course. A simulation of many syncs updates it with SetPods, whose cost
// depends on the number of changed nodes only. The State is not modified.
type Tally struct {
	st     *State
	course Course
	parts  []part

	counts               Counts
	used, available, old int
	lacking              int // number of nodes that should run the pod and have none

	sets [allSets]set // nodes by what they contribute
	last Act          // returned by Act, which reuses its lists

	share rollingShare // scratch space for one node
}

// Indexes of Tally.sets.
const (
	manages = iota
	creates
	deletes
	sunsets
	fails
	candidatesFirst  // those that Course.First prefers
	candidatesOthers // all others
	allSets
)

// Course decides what a State leaves open.
type Course struct {
	// First reports whether the rolling update prefers the pods of a node,
	// given by its index in State.Nodes. nil prefers none.
	First   func(node int32) bool
	Refused bool // the API server rejects every new pod
}

// part is what one node contributes. It has no items for single pods: for the
// few nodes on which a sync acts, manageShare and putRollingShare compute them
// again.
type part struct {
	pods           []Pod
	slot           Slot
	old            int32 // pods that are neither updated nor terminating
	member         Membership
	holds, surplus bool  // the node counts in Used; it has an available pod that counts against sunset
	owed, lacks    bool  // manage creates a pod; manage creates a pod and does nothing else
	in             uint8 // one bit for each set that contains the node
}

// Tally returns the contributions of the nodes to the next sync.
func (st *State) Tally(c Course) *Tally {
	t := &Tally{}
	t.Reset(st, c)
	return t
}

// Reset reinitializes t for st and c, reusing its memory.
func (t *Tally) Reset(st *State, c Course) {
	was := *t
	*t = Tally{st: st, course: c, parts: was.parts}
	if cap(t.parts) < len(st.Nodes) {
		t.parts = make([]part, len(st.Nodes))
	}
	t.parts = t.parts[:len(st.Nodes)]
	clear(t.parts)
	for k := range was.sets {
		if s := was.sets[k]; len(s.place) == len(st.Nodes) {
			clear(s.place)
			t.sets[k] = set{s.members[:0], s.place}
		}
	}
	for i := range st.Nodes {
		n := &st.Nodes[i]
		t.parts[i].pods, t.parts[i].slot = n.Pods, n.Slot
		t.put(int32(i), n)
	}
}

// Copy makes t a copy of from for the State st, reusing the memory of t. st may
// differ from the State of from only in the limit of the rolling update.
func (t *Tally) Copy(from *Tally, st *State) {
	was := *t
	*t = *from
	t.st, t.last, t.parts = st, Act{Creates: was.last.Creates[:0], Deletes: was.last.Deletes[:0]},
		append(was.parts[:0], from.parts...)
	for k := range t.sets {
		t.sets[k] = set{append(was.sets[k].members[:0], from.sets[k].members...),
			append(was.sets[k].place[:0], from.sets[k].place...)}
	}
}

// SetPods sets the pods of a node, in the controller's order. Each of them must
// be a pod of the State, or neither failed nor succeeded.
func (t *Tally) SetPods(i int32, pods []Pod) {
	p := &t.parts[i]
	t.add(i, -1)
	p.pods, p.slot = pods, slotOf(pods)
	n := t.Node(i)
	t.put(i, &n)
}

// put recomputes the contribution of node i after its pods changed.
func (t *Tally) put(i int32, n *Node) {
	p := &t.parts[i]
	share, manage := t.rollingOf(n), t.manageOf(n)
	p.member, p.old, p.holds, p.surplus = n.Membership(), 0, share.holds, share.available
	for j := range n.Pods {
		p.old += int32(b2i(!n.Pods[j].Updated && !n.Pods[j].Terminating))
	}
	p.owed, p.lacks = manage.create, manage.create && !manage.deletesAny()
	t.add(i, 1)
	later := t.course.First == nil || !t.course.First(i)
	in := uint8(b2i(manage.acts())<<manages | b2i(len(share.creates) > 0)<<creates | b2i(len(share.deletes) > 0)<<deletes |
		b2i(len(share.sunset) > 0)<<sunsets | b2i(share.err != nil)<<fails | b2i(len(share.candidates) > 0)<<(candidatesFirst+b2i(later)))
	for changed := in ^ p.in; changed != 0; changed &= changed - 1 {
		k := bits.TrailingZeros8(changed)
		t.sets[k].put(i, in>>k&1 == 1, len(t.parts))
	}
	p.in = in
}

// manageOf returns the node's part of a manage step.
func (t *Tally) manageOf(n *Node) manageShare {
	share := t.st.manageShare(n)
	share.create = share.create && !t.course.Refused
	return share
}

// rollingOf stores the node's part of a rolling update in t.share, and returns
// a pointer to it.
func (t *Tally) rollingOf(n *Node) *rollingShare {
	share := &t.share
	if t.Rolls() {
		t.st.putRollingShare(n, share)
	}
	if t.course.Refused {
		share.creates = nil
		if t.st.Budget.MaxSurge > 0 {
			share.candidates = nil
		}
	}
	return share
}

// add adds a node to the sums by times; -1 removes it.
func (t *Tally) add(i int32, by int) {
	p := &t.parts[i]
	t.used += by * b2i(p.holds)
	t.available += by * b2i(p.surplus)
	t.old += by * int(p.old)
	t.lacking += by * b2i(p.member.Desired && !p.member.Current && !t.st.Nodes[i].StillDesired)
	t.counts.add(p.member, by)
}

// Node returns a node with its current pods.
func (t *Tally) Node(i int32) Node {
	n := t.st.Nodes[i]
	n.Pods, n.Slot = t.parts[i].pods, t.parts[i].slot
	return n
}

// Pods returns the current pods of a node, in the controller's order.
func (t *Tally) Pods(i int32) []Pod { return t.parts[i].pods }

// Counts returns the numbers of the status.
func (t *Tally) Counts() Counts { return t.counts }

// Old returns how many pods are neither updated nor terminating.
func (t *Tally) Old() int { return t.old }

// Used returns how many nodes use the budget of a rolling update.
func (t *Tally) Used() int { return t.used }

// Holds reports whether a node counts in Used.
func (t *Tally) Holds(i int32) bool { return t.parts[i].holds }

// Rolls reports whether the controller replaces old pods at all.
func (t *Tally) Rolls() bool {
	return t.st.Budget.Kind != BudgetNone && t.st.Budget.Invalid == ""
}

// Refused reports whether the API server rejects a pod that manage wants to
// create, which ends the sync before old pods are replaced.
func (t *Tally) Refused() bool {
	return t.course.Refused && t.lacking > 0
}

// freeRoom returns how many candidates a rolling update takes, and how many pods it
// deletes from nodes that should not run them: as many as are available beyond
// the desired number.
func (t *Tally) freeRoom() (candidates, sunset int) {
	return max(0, t.st.Limit()-t.used), max(0, t.available-t.st.Budget.Of)
}

// Act is what one sync does under a Course.
type Act struct {
	Kind    StepKind
	Creates []int32    // the nodes that get a pod, by index
	Deletes []Doomed   // the pods to delete
	Picked  bool       // Course.First affected the result
	Error   *StepError // why the step fails
}

// Doomed is a pod that a sync deletes.
type Doomed struct {
	Node int32
	Pod  string
}

// Act returns what the next sync does under the Course. If the Course leaves a
// choice open, Act takes the first candidates. The result is valid until the
// next call.
func (t *Tally) Act() *Act {
	a := &t.last
	*a = Act{Kind: StepNone, Creates: a.Creates[:0], Deletes: a.Deletes[:0]}
	switch {
	case t.sets[manages].len() > 0:
		t.manageAct(a)
	case !t.Rolls() || t.Refused():
	case t.sets[fails].len() > 0:
		a.Error = t.rolling(t.sets[fails].members[0]).err
	default:
		t.rollingAct(a)
	}
	return a
}

// manage returns the part of a manage step that belongs to a node.
func (t *Tally) manage(i int32) manageShare {
	n := t.Node(i)
	return t.manageOf(&n)
}

// rolling returns the part of a rolling update that belongs to a node. It is
// valid until the next call.
func (t *Tally) rolling(i int32) *rollingShare {
	n := t.Node(i)
	return t.rollingOf(&n)
}

func (t *Tally) manageAct(a *Act) {
	a.Kind = StepManage
	var unscheduled []Doomed
	for _, i := range t.sets[manages].members {
		switch p := &t.parts[i]; {
		case p.lacks:
			a.create(i)
			continue
		case !p.owed && len(a.Deletes) == BurstReplicas: // no delete fits any more
			continue
		}
		share := t.manage(i)
		if share.create {
			a.create(i)
		}
		a.delete(i, share.deletes...)
		a.delete(i, share.failed[:min(1, len(share.failed))]...)
		for _, it := range share.unscheduled {
			unscheduled = append(unscheduled, Doomed{i, it.Pod})
		}
	}
	a.Deletes = append(a.Deletes, unscheduled[:min(len(unscheduled), BurstReplicas-len(a.Deletes))]...)
}

func (t *Tally) rollingAct(a *Act) {
	room, overflow := t.freeRoom()
	first, others := t.sets[candidatesFirst].len(), t.sets[candidatesOthers].len()
	a.Kind, a.Picked = StepRollingUpdate, first > 0 && others > 0 && room > 0 && room < first+others
	for _, i := range t.sets[creates].members {
		a.create(i)
	}
	for _, i := range t.sets[deletes].members {
		if !a.delete(i, t.rolling(i).deletes...) {
			break
		}
	}
	take := func(from *set) {
		for _, i := range from.members {
			items := t.rolling(i).candidates
			items = items[:min(room, len(items))]
			if room -= len(items); len(items) == 0 {
				return
			}
			if surge := t.st.Budget.MaxSurge > 0; surge && !a.create(i) || !surge && !a.delete(i, items...) {
				return
			}
		}
	}
	take(&t.sets[candidatesFirst])
	take(&t.sets[candidatesOthers])
	for _, i := range t.sets[sunsets].members {
		if overflow == 0 || !a.delete(i, t.rolling(i).sunset...) {
			break
		}
		overflow--
	}
}

// create adds a create if it fits into the burst, and reports whether another
// one would fit.
func (a *Act) create(i int32) bool {
	if len(a.Creates) < BurstReplicas {
		a.Creates = append(a.Creates, i)
	}
	return len(a.Creates) < BurstReplicas
}

// delete adds deletes as long as they fit into the burst, and reports whether
// another one would fit.
func (a *Act) delete(i int32, items ...Item) bool {
	for _, it := range items {
		if len(a.Deletes) == BurstReplicas {
			return false
		}
		a.Deletes = append(a.Deletes, Doomed{i, it.Pod})
	}
	return len(a.Deletes) < BurstReplicas
}

// set is a set of node indexes with operations in constant time. The order of
// its members depends only on the sequence of operations.
type set struct {
	members []int32
	place   []int32 // one more than the index in members; 0 for none
}

func (s *set) len() int { return len(s.members) }

// put adds node i to the set or removes it. nodes is the total number of nodes.
func (s *set) put(i int32, in bool, nodes int) {
	if len(s.place) == 0 {
		s.place = make([]int32, nodes)
	}
	switch at := s.place[i]; {
	case in && at == 0:
		s.members = append(s.members, i)
		s.place[i] = int32(len(s.members))
	case !in && at != 0:
		last := s.members[len(s.members)-1]
		s.members[at-1], s.place[last] = last, at
		s.members, s.place[i] = s.members[:len(s.members)-1], 0
	}
}
