package daemonset

import "math/bits"

// Tally is what the nodes of a State bring to a sync: each node's part, and the
// sums over all nodes. What the sync does follows from it alone: Sync says all
// that it may do, Act takes one course. Whoever goes on from sync to sync gives
// nodes other pods, which costs what they change, whatever the number of nodes.
// The State is not changed.
type Tally struct {
	st     *State
	course Course
	parts  []part

	counts               Counts
	used, available, old int
	lacking              int // nodes that should run the pod and have none

	sets [allSets]set // of nodes, by what they bring
	last Act          // its lists are used again

	share rollingShare // of the node that is looked at
}

// The sets of a Tally.
const (
	manages = iota
	creates
	deletes
	sunsets
	fails
	candidatesFirst  // those that Course has first
	candidatesOthers // and the others
	allSets
)

// Course settles what a State leaves open.
type Course struct {
	// First says of which nodes, by their index in State.Nodes, the rolling update
	// takes the pods before those of others; nil: of none.
	First   func(node int32) bool
	Refused bool // the API server refuses every new pod
}

// part is what one node brings, without what it says of single pods: that is told again, by manageShare and
// putRollingShare, of the few nodes that a sync does something to.
type part struct {
	pods           []Pod
	slot           Slot
	old            int32 // pods that are neither updated nor terminating
	member         Membership
	holds, surplus bool  // the node is one of Used; it has an available pod that counts against sunset
	owed, lacks    bool  // manage creates a pod; and does nothing else
	in             uint8 // the sets that have it, a bit for each
}

// Tally returns what the nodes bring to the next sync.
func (st *State) Tally(c Course) *Tally {
	t := &Tally{}
	t.Reset(st, c)
	return t
}

// Reset makes a Tally that is no longer needed what State.Tally returns, in its memory.
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

// Copy makes a Tally that is no longer needed what from is, in its memory, but of st, which differs from the State of
// from in nothing but the number that limits the rolling update.
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

// SetPods gives a node other pods, in the controller's order: pods of the State, and such as have neither
// failed nor succeeded.
func (t *Tally) SetPods(i int32, pods []Pod) {
	p := &t.parts[i]
	t.add(i, -1)
	p.pods, p.slot = pods, slotOf(pods)
	n := t.Node(i)
	t.put(i, &n)
}

// put brings the sums up to date with the pods that a node has now.
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

// manageOf returns what a node adds to a manage step.
func (t *Tally) manageOf(n *Node) manageShare {
	share := t.st.manageShare(n)
	share.create = share.create && !t.course.Refused
	return share
}

// rollingOf puts what a node adds to a rolling update into t.share, and returns that.
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

// add adds a node to the sums, or takes it away.
func (t *Tally) add(i int32, by int) {
	p := &t.parts[i]
	t.used += by * b2i(p.holds)
	t.available += by * b2i(p.surplus)
	t.old += by * int(p.old)
	t.lacking += by * b2i(p.member.Desired && !p.member.Current && !t.st.Nodes[i].StillDesired)
	t.counts.add(p.member, by)
}

// Node returns a node with the pods that it has now.
func (t *Tally) Node(i int32) Node {
	n := t.st.Nodes[i]
	n.Pods, n.Slot = t.parts[i].pods, t.parts[i].slot
	return n
}

// Pods are the pods that a node has now, in the controller's order.
func (t *Tally) Pods(i int32) []Pod { return t.parts[i].pods }

// Counts are the numbers of the status.
func (t *Tally) Counts() Counts { return t.counts }

// Old is how many pods are neither updated nor terminating.
func (t *Tally) Old() int { return t.old }

// Used is how many nodes use up the budget of a rolling update.
func (t *Tally) Used() int { return t.used }

// Holds reports whether a node is one of Used.
func (t *Tally) Holds(i int32) bool { return t.parts[i].holds }

// Rolls reports whether old pods are replaced at all.
func (t *Tally) Rolls() bool {
	return t.st.Budget.Kind != BudgetNone && t.st.Budget.Invalid == ""
}

// Refused reports whether a pod is owed that the API server refuses, which ends a
// sync before old pods are replaced.
func (t *Tally) Refused() bool {
	return t.course.Refused && t.lacking > 0
}

// room returns how many candidates a rolling update takes, and how many pods it
// takes from nodes that should not run them: as far as more are available than
// desired.
func (t *Tally) room() (candidates, sunset int) {
	return max(0, t.st.Limit()-t.used), max(0, t.available-t.st.Budget.Of)
}

// Act is what one sync does in one course of many.
type Act struct {
	Kind    StepKind
	Creates []int32    // the nodes that get a pod, by their index
	Deletes []Doomed   // the pods that go
	Picked  bool       // Course.First made a difference
	Error   *StepError // why the step fails
}

// Doomed is a pod that a sync deletes.
type Doomed struct {
	Node int32
	Pod  string
}

// Act returns what the next sync does where the Course settles what is open: of a
// choice of the controller it takes the first. It is valid until the next one.
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

// manage returns what a node adds to a manage step now.
func (t *Tally) manage(i int32) manageShare {
	n := t.Node(i)
	return t.manageOf(&n)
}

// rolling returns what a node adds to a rolling update now, until another one is looked at.
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
		case !p.owed && len(a.Deletes) == BurstReplicas: // nothing more of it is done
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
	room, overflow := t.room()
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

// create adds a create, up to the burst, and reports whether another one fits.
func (a *Act) create(i int32) bool {
	if len(a.Creates) < BurstReplicas {
		a.Creates = append(a.Creates, i)
	}
	return len(a.Creates) < BurstReplicas
}

// delete adds deletes, likewise.
func (a *Act) delete(i int32, items ...Item) bool {
	for _, it := range items {
		if len(a.Deletes) == BurstReplicas {
			return false
		}
		a.Deletes = append(a.Deletes, Doomed{i, it.Pod})
	}
	return len(a.Deletes) < BurstReplicas
}

// set is a set of node indexes in which every operation takes constant time.
// Members come out in an order that follows from the operations alone.
type set struct {
	members []int32
	place   []int32 // one more than the index in members; 0 for none
}

func (s *set) len() int { return len(s.members) }

// put adds one of so many nodes, or takes it away.
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
