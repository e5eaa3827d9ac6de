package daemonset

import (
	"time"
)

// maxBackoff is the longest time that the controller waits before it deletes
// the next Failed pod of a node. The back-off starts at one second and doubles
// with each deletion; a restart of the controller resets it.
const maxBackoff = 15 * time.Minute

// manageStep adds the creates and deletes that give every node the pods it
// should have. Budgets do not apply.
func (t *Tally) manageStep(step *Step) {
	var creates, onNodes, unscheduled class
	creates.items = make([]Item, 0, t.lacking)
	var backoff []string
	for i := range t.parts {
		if t.parts[i].in&(1<<manages) == 0 {
			continue
		}
		name := t.st.Nodes[i].Name
		if t.parts[i].lacks {
			creates.add(Item{Node: name, Reason: Missing})
			continue
		}
		share := t.manage(int32(i))
		if share.create {
			creates.add(Item{Node: name, Reason: Missing})
		}
		onNodes.add(share.deletes...)
		onNodes.choose(min(1, len(share.failed)), 1, share.failed, FailedPod)
		unscheduled.add(share.unscheduled...)
		if share.backoff {
			backoff = append(backoff, name)
		}
	}
	step.Creates = burst(creates)
	step.Deletes = burst(onNodes, unscheduled)
	if len(backoff) > 0 {
		step.Waits = append(step.Waits, Wait{Code: Backoff, Nodes: backoff, AtMost: int(maxBackoff.Seconds())})
	}
}

// manageShare is the part of a manage step that belongs to one node. The step
// is the union of all shares; the rolling update runs only if all shares are
// empty.
type manageShare struct {
	create      bool
	deletes     []Item
	failed      []Item // candidates; the step deletes one of them
	unscheduled []Item // deletes of pods that no kubelet ever had, on a vanished node
	backoff     bool   // the deletion of a failed pod may wait
}

// acts reports whether the node keeps the rolling update from running.
func (share *manageShare) acts() bool {
	return share.create || share.deletesAny()
}

func (share *manageShare) deletesAny() bool {
	return len(share.deletes)+len(share.failed)+len(share.unscheduled) > 0
}

// Owed reports whether the next sync creates a pod for the node. It ignores the
// burst limit.
func (st *State) Owed(n *Node) bool { return st.manageShare(n).create }

// manageShare returns the node's part of a manage step (podsShouldBeOnNode).
//
// A node that should run the pod and has none gets one. If pods may not stay on
// the node, the step deletes every pod that is not terminating. If they may
// stay, it deletes
//
//   - Failed pods, one per node and sync, because the pods of a node share one
//     back-off; since 1.33.0 (#130859) owned pods precede pods to adopt, unless
//     the merging of revisions has just adopted those;
//   - Succeeded pods, since 1.27.0 and 1.26.5 (#117073);
//   - all others but the first in the controller's order.
func (st *State) manageShare(n *Node) manageShare {
	var share manageShare
	switch {
	case !n.Exists:
		share.unscheduled = unboundPods(n)
	case !n.MayStay.OK:
		for i := range n.Pods {
			if p := &n.Pods[i]; !p.Terminating {
				share.deletes = append(share.deletes, Item{Node: n.Name, Pod: p.Name, Reason: NoLongerEligible})
			}
		}
	case len(n.Pods) == 0:
		share.create = n.ShouldRun.OK
	default:
		st.manageWhereTheyStay(n, &share)
	}
	return share
}

// manageWhereTheyStay is manageShare for a node on which pods may stay.
func (st *State) manageWhereTheyStay(n *Node, share *manageShare) {
	var running []*Pod
	var orphans []Item
	for i := range n.Pods {
		p := &n.Pods[i]
		switch {
		case p.Terminating:
		case p.failed && p.Claim == Adopt && st.Profile.OwnedPodsFirst && !st.History.Merged:
			orphans = append(orphans, Item{Node: n.Name, Pod: p.Name, Reason: FailedPod})
		case p.failed:
			share.failed = append(share.failed, Item{Node: n.Name, Pod: p.Name, Reason: FailedPod})
		case p.succeeded && st.Profile.DeleteSucceeded:
			share.deletes = append(share.deletes, Item{Node: n.Name, Pod: p.Name, Reason: SucceededPod})
		default:
			running = append(running, p)
		}
	}
	if len(share.failed) == 0 {
		share.failed = orphans
	}
	share.backoff = len(share.failed) > 0
	if st.surge {
		st.surgePods(n, running, share)
		return
	}
	for _, p := range running[min(1, len(running)):] {
		share.deletes = append(share.deletes, Item{Node: n.Name, Pod: p.Name, Reason: Duplicate})
	}
}

// surgePods fills in the part of manageShare that differs if maxSurge is above
// 0 (1.21, #96441). The first old and the first new pod may run side by side
// until the new one is available or the old one is not ready. A node without a
// running pod gets one even while another pod terminates. A pod is new if its
// hash label is current; its template generation does not matter here.
func (st *State) surgePods(n *Node, running []*Pod, share *manageShare) {
	share.create = len(running) == 0 && n.ShouldRun.OK && st.NodesRead
	var oldPod, newPod *Pod
	for _, p := range running {
		switch isNew := st.History.Merged || p.Hash == st.History.Hash; {
		case isNew && newPod == nil:
			newPod = p
		case !isNew && oldPod == nil:
			oldPod = p
		default:
			share.deletes = append(share.deletes, Item{Node: n.Name, Pod: p.Name, Reason: Duplicate})
		}
	}
	if oldPod != nil && newPod != nil && (!oldPod.Ready || newPod.Available.OK) {
		share.deletes = append(share.deletes, Item{Node: n.Name, Pod: oldPod.Name, Reason: Superseded})
	}
}

// unboundPods returns deletes for the pods of a vanished node that were never
// bound to it, terminating or not. The garbage collector deletes the bound
// ones.
func unboundPods(n *Node) []Item {
	var items []Item
	for i := range n.Pods {
		if p := &n.Pods[i]; p.Object.Spec.NodeName == "" {
			items = append(items, Item{Node: n.Name, Pod: p.Name, Reason: NodeMissing})
		}
	}
	return items
}
