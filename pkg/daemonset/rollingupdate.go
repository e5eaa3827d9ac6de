package daemonset

// rollingStep fills a step with what replaces old pods, by the algorithm of the
// version and by the budget: unavailable nodes, or a surge.
func (t *Tally) rollingStep(step *Step) {
	if t.st.Budget.Invalid != "" {
		step.Error = &StepError{Code: InvalidBudget, Field: t.st.Budget.Invalid}
	}
	var creates, deletes, candidates, sunset class
	from, setting := make([]Item, 0, t.sets[candidatesFirst].len()+t.sets[candidatesOthers].len()), []Item(nil)
	for i := range t.parts {
		if t.parts[i].in&^(1<<manages) == 0 {
			continue
		}
		share := t.rolling(int32(i))
		creates.add(share.creates...)
		deletes.add(share.deletes...)
		from, setting = append(from, share.candidates...), append(setting, share.sunset...)
		if step.Error == nil {
			step.Error = share.err
		}
	}
	room, overflow := t.room()
	sunset.choose(overflow, 0, setting, Sunset)
	switch {
	case step.Error != nil:
	case t.st.Budget.MaxSurge > 0:
		candidates.choose(room, 0, from, Surge)
		step.Creates, step.Deletes = burst(creates, candidates), burst(deletes, sunset)
	default:
		candidates.choose(room, 0, from, WithinBudget)
		step.Deletes = burst(deletes, candidates)
	}
	switch {
	case step.Error != nil:
		step.Reason = StepFails
	case step.Creates.Len()+step.Deletes.Len() > 0:
		step.Kind, step.Reason = StepRollingUpdate, StepReplacing
	case t.old == 0:
		step.Reason = StepUpToDate
	case t.used >= t.st.Limit():
		step.Reason = StepBudgetSpent
	default:
		step.Reason = StepWaiting
	}
}

// rollingShare is what one node adds to a rolling-update step: the step does
// what creates and deletes of all nodes say, and as many of their candidates
// and of their sunset as Tally.room says.
type rollingShare struct {
	holds      bool   // the node uses up one of the budget
	available  bool   // the node has an available pod that counts against sunset
	creates    []Item // whatever the budget says
	deletes    []Item // whatever the budget says
	candidates []Item // creates with maxSurge, else deletes
	sunset     []Item // deletes
	err        *StepError

	one [1]Item // the memory of the only Item that most nodes have
}

// only returns a list of one Item.
func (share *rollingShare) only(it Item) []Item {
	share.one[0] = it
	return share.one[:]
}

// putRollingShare puts what the node adds to a rolling-update step into share, which stays where it is.
func (st *State) putRollingShare(n *Node, share *rollingShare) {
	*share = rollingShare{holds: st.Holds(n)}
	switch {
	case !st.Profile.RollingUpdateV2:
		legacyShare(n, share)
	case st.Budget.MaxSurge == 0:
		unavailableShare(n, share)
	default:
		st.surgeShare(n, share)
	}
}

// Limit is how many nodes the budget allows to be unavailable, or to surge; 0 under
// OnDelete and where the budget is invalid.
func (st *State) Limit() int {
	if st.Budget.MaxSurge > 0 {
		return st.Budget.MaxSurge
	}
	return st.Budget.MaxUnavailable
}

// Holds reports whether the node uses up one of the budget. Every node counts
// that should run the pod or that any pod of the DaemonSet is for, vanished
// ones too; which nodes should, rolled says.
//
// Unavailable: no available pod, two pods where one belongs, or only
// terminating ones; an unavailable old pod counts from 1.31.0, 1.30.6,
// 1.29.10 and 1.28.15 on (#123233). Surge: a new pod beside the old one that
// is not available yet. Up to 1.20 a node that should run the pod counts
// unless it has an available pod that is not terminating, and no other does.
func (st *State) Holds(n *Node) bool {
	switch {
	case st.Budget.Kind == BudgetNone:
		return false
	case !st.Profile.RollingUpdateV2:
		return n.rolled() && !hasLivingAvailable(n)
	case st.Budget.MaxSurge > 0:
		return n.Slot == SlotExcess || n.Slot == SlotBoth && !newOf(n).Available.OK
	}
	switch n.Slot {
	case SlotEmpty:
		return n.rolled()
	case SlotExcess, SlotOnlyTerminating, SlotBoth, SlotNewUnavailable:
		return true
	case SlotOldUnavailable:
		return st.Profile.OldUnavailableInBudget
	}
	return false
}

// rolled reports whether the rolling update takes the node for one that should run the
// pod: on OpenShift 4.11 to 4.19, and 4.4, also one that only its namespace excludes.
func (n *Node) rolled() bool { return n.ShouldRun.OK || n.StillRolled }

// Used is how many nodes use up the budget; meaningless where PodsRead is false.
func (st *State) Used() int {
	used := 0
	for i := range st.Nodes {
		used += b2i(st.Holds(&st.Nodes[i]))
	}
	return used
}

func newOf(n *Node) *Pod { p, _, _ := newAndOld(n.Pods); return p }
func oldOf(n *Node) *Pod { _, p, _ := newAndOld(n.Pods); return p }

func hasLivingAvailable(n *Node) bool {
	for i := range n.Pods {
		if p := &n.Pods[i]; !p.Terminating && p.Available.OK {
			return true
		}
	}
	return false
}

// unavailableShare is what a node adds to a step without surge (1.21, #96441).
// An unavailable old pod is Forced: it goes whatever the budget says. Of the
// nodes with just an available old pod, as many go as the budget has left, and
// which is random. A node whose pods are neither is left to manage.
func unavailableShare(n *Node, share *rollingShare) {
	switch n.Slot {
	case SlotOldUnavailable:
		share.deletes = share.only(Item{Node: n.Name, Pod: oldOf(n).Name, Reason: Forced})
	case SlotOldAvailable:
		share.candidates = share.only(Item{Node: n.Name, Pod: oldOf(n).Name, Reason: WithinBudget})
	}
}

// surgeShare is what a node adds to a step that creates new pods beside old
// ones, and deletes old ones whose new one is available (1.21, #96441). A node
// with an unavailable old pod gets a new one whatever the budget says; of those
// with an available one as many as the budget has left.
//
// Since 1.29.0, 1.28.3, 1.27.7, 1.26.10 and 1.25.15 (#119317) a node that
// should not run the pod gets none: an unavailable old pod there is deleted,
// an available one only as far as more pods are available than desired. An old
// pod alone on a vanished node makes the whole step fail.
func (st *State) surgeShare(n *Node, share *rollingShare) {
	newPod, oldPod, ok := newAndOld(n.Pods)
	if !ok {
		return
	}
	share.available = oldPod != nil && oldPod.Available.OK || oldPod == nil && newPod != nil && newPod.Available.OK
	switch {
	case oldPod == nil:
	case newPod != nil && newPod.Available.OK:
		share.deletes = share.only(Item{Node: n.Name, Pod: oldPod.Name, Reason: Superseded})
	case newPod != nil:
	case !n.Exists && st.Profile.SunsetInSurge:
		share.err = &StepError{Code: VanishedNodeInSurge, Node: n.Name, Pod: oldPod.Name}
	case !n.rolled() && st.Profile.SunsetInSurge && oldPod.Available.OK:
		share.sunset = share.only(Item{Node: n.Name, Pod: oldPod.Name, Reason: Sunset})
	case !n.rolled() && st.Profile.SunsetInSurge:
		share.deletes = share.only(Item{Node: n.Name, Pod: oldPod.Name, Reason: NoLongerEligible})
	case oldPod.Available.OK:
		share.candidates = share.only(Item{Node: n.Name, Reason: Surge})
	default:
		share.creates = share.only(Item{Node: n.Name, Reason: Forced})
	}
}

// legacyShare is what a node adds to the rolling update of 1.17 to 1.20: all
// old pods that are neither available nor terminating go; of the available
// ones, terminating or not, as many as the budget has left.
func legacyShare(n *Node, share *rollingShare) {
	for i := range n.Pods {
		switch p := &n.Pods[i]; {
		case p.Updated:
		case p.Available.OK:
			share.candidates = append(share.candidates, Item{Node: n.Name, Pod: p.Name, Reason: WithinBudget})
		case !p.Terminating:
			share.deletes = append(share.deletes, Item{Node: n.Name, Pod: p.Name, Reason: Forced})
		}
	}
}
