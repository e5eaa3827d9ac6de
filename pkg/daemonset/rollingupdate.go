package daemonset

import "slices"

// rollingUpdate fills a step with what replaces old pods, by the algorithm of
// the version and by the budget: unavailable nodes, or a surge.
func (st *State) rollingUpdate(step *Step) {
	switch {
	case st.Budget.Invalid != "":
		step.Error = &StepError{Code: InvalidBudget, Field: st.Budget.Invalid}
	case !st.Profile.RollingUpdateV2:
		st.replaceLegacy(step)
	case st.Budget.MaxSurge == 0:
		st.replace(step)
	default:
		st.surgeUpdate(step)
	}
	switch {
	case step.Error != nil:
		step.Reason = StepFails
	case step.Creates.Len()+step.Deletes.Len() > 0:
		step.Kind, step.Reason = StepRollingUpdate, StepReplacing
	case !st.anyOld():
		step.Reason = StepUpToDate
	case st.Used() >= st.Limit():
		step.Reason = StepBudgetSpent
	default:
		step.Reason = StepWaiting
	}
}

// Limit is how many nodes the budget allows to be unavailable, or to surge.
func (st *State) Limit() int {
	if st.Budget.MaxSurge > 0 {
		return st.Budget.MaxSurge
	}
	return st.Budget.MaxUnavailable
}

// anyOld tells whether a pod is not updated and not on its way out.
func (st *State) anyOld() bool {
	return slices.ContainsFunc(st.Nodes, func(n Node) bool {
		return slices.ContainsFunc(n.Pods, func(p Pod) bool { return !p.Updated && !p.Terminating })
	})
}

// Holds tells whether the node uses up one of the budget. Every node counts
// that should run the pod or that any pod of the DaemonSet is for, vanished
// ones too.
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
		return n.ShouldRun.OK && !hasLivingAvailable(n)
	case st.Budget.MaxSurge > 0:
		return n.Slot == SlotExcess || n.Slot == SlotBoth && !newOf(n).Available.OK
	}
	switch n.Slot {
	case SlotEmpty:
		return n.ShouldRun.OK
	case SlotExcess, SlotOnlyTerminating, SlotBoth, SlotNewUnavailable:
		return true
	case SlotOldUnavailable:
		return st.Profile.OldUnavailableInBudget
	}
	return false
}

// Used is how many nodes use up the budget.
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

// replace deletes old pods without surge (1.21, #96441). An unavailable old
// pod is Forced: it goes whatever the budget says. Of the nodes with just an
// available old pod, as many go as the budget has left, and which is random.
// A node whose pods are neither is left to manage.
func (st *State) replace(step *Step) {
	var forced, candidates class
	var from []Item
	for i := range st.Nodes {
		n := &st.Nodes[i]
		switch n.Slot {
		case SlotOldUnavailable:
			forced.add(Item{Node: n.Name, Pod: oldOf(n).Name, Reason: Forced})
		case SlotOldAvailable:
			from = append(from, Item{Node: n.Name, Pod: oldOf(n).Name, Reason: WithinBudget})
		}
	}
	candidates.choose(st.Budget.MaxUnavailable-st.Used(), 0, from, WithinBudget)
	step.Deletes = burst(forced, candidates)
}

// surgeUpdate creates new pods beside old ones, and deletes old ones whose
// new one is available (1.21, #96441). A node with an unavailable old pod gets
// a new one whatever the budget says; of those with an available one as many
// as the budget has left.
//
// Since 1.29.0, 1.28.3, 1.27.7, 1.26.10 and 1.25.15 (#119317) a node that
// should not run the pod gets none: an unavailable old pod there is deleted,
// an available one only as far as more pods are available than desired. An old
// pod alone on a vanished node makes the whole step fail.
func (st *State) surgeUpdate(step *Step) {
	var allowed, candidates, unconditional, sunset class
	var from, setting []Item
	available := 0
	for i := range st.Nodes {
		n := &st.Nodes[i]
		newPod, oldPod, ok := newAndOld(n.Pods)
		if !ok {
			continue
		}
		available += b2i(oldPod != nil && oldPod.Available.OK || oldPod == nil && newPod != nil && newPod.Available.OK)
		switch {
		case oldPod == nil:
		case newPod != nil && newPod.Available.OK:
			unconditional.add(Item{Node: n.Name, Pod: oldPod.Name, Reason: Superseded})
		case newPod != nil:
		case !n.Exists && st.Profile.SunsetInSurge:
			if step.Error == nil {
				step.Error = &StepError{Code: VanishedNodeInSurge, Node: n.Name, Pod: oldPod.Name}
			}
		case !n.ShouldRun.OK && st.Profile.SunsetInSurge && oldPod.Available.OK:
			setting = append(setting, Item{Node: n.Name, Pod: oldPod.Name, Reason: Sunset})
		case !n.ShouldRun.OK && st.Profile.SunsetInSurge:
			unconditional.add(Item{Node: n.Name, Pod: oldPod.Name, Reason: NoLongerEligible})
		case oldPod.Available.OK:
			from = append(from, Item{Node: n.Name, Reason: Surge})
		default:
			allowed.add(Item{Node: n.Name, Reason: Forced})
		}
	}
	if step.Error != nil {
		return
	}
	candidates.choose(st.Budget.MaxSurge-st.Used(), 0, from, Surge)
	sunset.choose(available-st.Desired, 0, setting, Sunset)
	step.Creates = burst(allowed, candidates)
	step.Deletes = burst(unconditional, sunset)
}

// replaceLegacy is the rolling update of 1.17 to 1.20: all old pods that are
// neither available nor terminating go; of the available ones, terminating or
// not, as many as the budget has left.
func (st *State) replaceLegacy(step *Step) {
	var forced, candidates class
	var from []Item
	for i := range st.Nodes {
		n := &st.Nodes[i]
		for j := range n.Pods {
			switch p := &n.Pods[j]; {
			case p.Updated:
			case p.Available.OK:
				from = append(from, Item{Node: n.Name, Pod: p.Name, Reason: WithinBudget})
			case !p.Terminating:
				forced.add(Item{Node: n.Name, Pod: p.Name, Reason: Forced})
			}
		}
	}
	candidates.choose(st.Budget.MaxUnavailable-st.Used(), 0, from, WithinBudget)
	step.Deletes = burst(forced, candidates)
}
