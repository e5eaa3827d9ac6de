package daemonset

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

	manage, creates, deletes, sunset, failing set
	candidates                                [2]set // those that Course has first, and the others
}

// Course settles what a State leaves open.
type Course struct {
	// First says of which nodes, by their index in State.Nodes, the rolling update
	// takes the pods before those of others; nil: of none.
	First   func(node int32) bool
	Refused bool // the API server refuses every new pod
}

// part is what one node brings.
type part struct {
	node    Node
	manage  manageShare
	rolling rollingShare
	member  Membership
	old     int // pods that are neither updated nor terminating
}

// Tally returns what the nodes bring to the next sync.
func (st *State) Tally(c Course) *Tally {
	n := len(st.Nodes)
	t := &Tally{
		st: st, course: c, parts: make([]part, n), manage: newSet(n), creates: newSet(n), deletes: newSet(n), sunset: newSet(n), failing: newSet(n),
		candidates: [2]set{newSet(n), newSet(n)},
	}
	for i := range st.Nodes {
		t.parts[i].node = st.Nodes[i]
		t.put(int32(i))
	}
	return t
}

// SetPods gives a node other pods, in the controller's order.
func (t *Tally) SetPods(i int32, pods []Pod) {
	p := &t.parts[i]
	t.add(p, -1)
	p.node.Pods, p.node.Slot = pods, slotOf(pods)
	t.put(i)
}

// put brings the sums up to date with the pods of a node.
func (t *Tally) put(i int32) {
	p := &t.parts[i]
	n := &p.node
	p.manage, p.rolling, p.member, p.old = t.st.manageShare(n), rollingShare{}, n.Membership(), 0
	if t.Rolls() {
		p.rolling = t.st.rollingShare(n)
	}
	if t.course.Refused {
		p.manage.create, p.rolling.creates = false, nil
		if t.st.Budget.MaxSurge > 0 {
			p.rolling.candidates = nil
		}
	}
	for j := range n.Pods {
		p.old += b2i(!n.Pods[j].Updated && !n.Pods[j].Terminating)
	}
	t.add(p, 1)
	t.manage.put(i, p.manage.acts())
	t.creates.put(i, len(p.rolling.creates) > 0)
	t.deletes.put(i, len(p.rolling.deletes) > 0)
	later := t.course.First == nil || !t.course.First(i)
	t.candidates[b2i(later)].put(i, len(p.rolling.candidates) > 0)
	t.sunset.put(i, len(p.rolling.sunset) > 0)
	t.failing.put(i, p.rolling.err != nil)
}

// add adds a node to the sums, or takes it away.
func (t *Tally) add(p *part, by int) {
	t.used += by * b2i(p.rolling.holds)
	t.available += by * b2i(p.rolling.available)
	t.old += by * p.old
	t.counts.add(p.member, by)
}

// Node returns a node with the pods that it has now; its fields are not to be
// written.
func (t *Tally) Node(i int32) *Node { return &t.parts[i].node }

// Counts are the numbers of the status.
func (t *Tally) Counts() Counts { return t.counts }

// Old is how many pods are neither updated nor terminating.
func (t *Tally) Old() int { return t.old }

// Used is how many nodes use up the budget of a rolling update.
func (t *Tally) Used() int { return t.used }

// Holds reports whether a node is one of Used.
func (t *Tally) Holds(i int32) bool { return t.parts[i].rolling.holds }

// Rolls reports whether old pods are replaced at all.
func (t *Tally) Rolls() bool {
	return t.st.Budget.Kind != BudgetNone && t.st.Budget.Invalid == ""
}

// Refused reports whether a pod is owed that the API server refuses, which ends a
// sync before old pods are replaced.
func (t *Tally) Refused() bool {
	return t.course.Refused && t.counts.Current < t.counts.Desired
}

// room returns how many candidates a rolling update takes, and how many pods it
// takes from nodes that should not run them: as far as more are available than
// desired.
func (t *Tally) room() (candidates, sunset int) {
	return max(0, t.st.Limit()-t.used), max(0, t.available-t.st.Desired)
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
// choice of the controller it takes the first.
func (t *Tally) Act() Act {
	switch {
	case t.manage.len() > 0:
		return t.manageAct()
	case !t.Rolls() || t.Refused():
		return Act{Kind: StepNone}
	case t.failing.len() > 0:
		return Act{Kind: StepNone, Error: t.parts[t.failing.members[0]].rolling.err}
	}
	return t.rollingAct()
}

func (t *Tally) manageAct() Act {
	a := Act{Kind: StepManage}
	for _, i := range t.manage.members {
		share := &t.parts[i].manage
		if share.create {
			a.create(i)
		}
		a.delete(i, share.deletes...)
		a.delete(i, share.failed[:min(1, len(share.failed))]...)
	}
	for _, i := range t.manage.members {
		a.delete(i, t.parts[i].manage.unscheduled...)
	}
	return a
}

func (t *Tally) rollingAct() Act {
	room, overflow := t.room()
	first, others := t.candidates[0].len(), t.candidates[1].len()
	a := Act{Kind: StepRollingUpdate, Picked: first > 0 && others > 0 && room > 0 && room < first+others}
	for _, i := range t.creates.members {
		a.create(i)
	}
	for _, i := range t.deletes.members {
		if !a.delete(i, t.parts[i].rolling.deletes...) {
			break
		}
	}
	take := func(from *set) {
		for _, i := range from.members {
			items := t.parts[i].rolling.candidates
			items = items[:min(room, len(items))]
			if room -= len(items); len(items) == 0 {
				return
			}
			if surge := t.st.Budget.MaxSurge > 0; surge && !a.create(i) || !surge && !a.delete(i, items...) {
				return
			}
		}
	}
	take(&t.candidates[0])
	take(&t.candidates[1])
	for _, i := range t.sunset.members {
		if overflow == 0 || !a.delete(i, t.parts[i].rolling.sunset...) {
			break
		}
		overflow--
	}
	return a
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

func newSet(n int) set { return set{place: make([]int32, n)} }

func (s *set) len() int { return len(s.members) }

func (s *set) put(i int32, in bool) {
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
