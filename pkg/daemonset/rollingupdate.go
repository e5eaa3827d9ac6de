package daemonset

// rollingStep adds the creates and deletes that replace old pods, by the
// algorithm of the version and within maxUnavailable or maxSurge.
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
	room, overflow := t.freeRoom()
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

// rollingShare is the part of a rolling-update step that belongs to one node.
// The step consists of all creates and deletes, and of as many candidates and
// sunset deletes as Tally.freeRoom allows.
type rollingShare struct {
	holds      bool   // the node uses one unit of the budget
	available  bool   // the node has an available pod that counts against sunset
	creates    []Item // regardless of the budget
	deletes    []Item // regardless of the budget
	candidates []Item // creates with maxSurge, else deletes
	sunset     []Item // deletes
	err        *StepError

	buffer [1]Item // backing array of single; most nodes have a single Item
}

// single returns a list of one Item that is valid as long as share.
func (share *rollingShare) single(it Item) []Item {
	share.buffer[0] = it
	return share.buffer[:]
}

// putRollingShare stores the node's part of a rolling-update step in share.
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

// Limit returns how many nodes the budget allows to be unavailable, or to
// surge. It returns 0 under OnDelete and if the budget is invalid.
func (st *State) Limit() int {
	if st.Budget.MaxSurge > 0 {
		return st.Budget.MaxSurge
	}
	return st.Budget.MaxUnavailable
}

// Holds reports whether the node uses one unit of the budget. It can be true
// for every node that should run the pod (see rolled) and for every target node
// of a pod of the DaemonSet, including vanished ones.
//
// With maxUnavailable, a node counts if it has no pod, only terminating pods,
// more than one pod that is not terminating, or a new pod that is not
// available; since 1.31.0, 1.30.6, 1.29.10 and 1.28.15 (#123233) also if its
// old pod is not available. With maxSurge, a node counts if it has an old pod
// and a new one that is not available, or two of either kind. Up to 1.20, a
// node that should run the pod counts unless it has an available pod that is
// not terminating.
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

// rolled reports whether the rolling update treats the node as one that should
// run the pod. On OpenShift 4.4 and 4.11 to 4.19 that includes nodes that only
// their namespace excludes.
func (n *Node) rolled() bool { return n.ShouldRun.OK || n.StillRolled }

// Used returns how many nodes use the budget. The result is meaningless if
// PodsRead is false.
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

// unavailableShare sets a node's part of a step without surge (1.21, #96441).
// An unavailable old pod is deleted regardless of the budget (Forced). Of the
// available old pods that are alone on their node, the controller deletes as
// many as the budget allows, chosen at random. It leaves all other nodes to
// manage.
func unavailableShare(n *Node, share *rollingShare) {
	switch n.Slot {
	case SlotOldUnavailable:
		share.deletes = share.single(Item{Node: n.Name, Pod: oldOf(n).Name, Reason: Forced})
	case SlotOldAvailable:
		share.candidates = share.single(Item{Node: n.Name, Pod: oldOf(n).Name, Reason: WithinBudget})
	}
}

// surgeShare sets a node's part of a step with surge, which creates new pods
// beside old ones and deletes an old one once its new one is available (1.21,
// #96441). A node with an unavailable old pod gets a new one regardless of the
// budget; of the nodes with an available one, as many as the budget allows.
//
// Since 1.29.0, 1.28.3, 1.27.7, 1.26.10 and 1.25.15 (#119317), a node that
// should not run the pod gets none: its unavailable old pod is deleted, an
// available one only while more pods are available than desired. The whole step
// fails if a vanished node has only an old pod.
func (st *State) surgeShare(n *Node, share *rollingShare) {
	newPod, oldPod, ok := newAndOld(n.Pods)
	if !ok {
		return
	}
	share.available = oldPod != nil && oldPod.Available.OK || oldPod == nil && newPod != nil && newPod.Available.OK
	switch {
	case oldPod == nil:
	case newPod != nil && newPod.Available.OK:
		share.deletes = share.single(Item{Node: n.Name, Pod: oldPod.Name, Reason: Superseded})
	case newPod != nil:
	case !n.Exists && st.Profile.SunsetInSurge:
		share.err = &StepError{Code: VanishedNodeInSurge, Node: n.Name, Pod: oldPod.Name}
	case !n.rolled() && st.Profile.SunsetInSurge && oldPod.Available.OK:
		share.sunset = share.single(Item{Node: n.Name, Pod: oldPod.Name, Reason: Sunset})
	case !n.rolled() && st.Profile.SunsetInSurge:
		share.deletes = share.single(Item{Node: n.Name, Pod: oldPod.Name, Reason: NoLongerEligible})
	case oldPod.Available.OK:
		share.candidates = share.single(Item{Node: n.Name, Reason: Surge})
	default:
		share.creates = share.single(Item{Node: n.Name, Reason: Forced})
	}
}

// legacyShare sets a node's part of the rolling update of 1.17 to 1.20. Old
// pods that are neither available nor terminating are deleted. Of the available
// ones, terminating or not, the controller deletes as many as the budget
// allows.
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
