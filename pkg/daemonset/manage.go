package daemonset

import (
	"time"
)

// maxBackoff is how long the controller waits at most before it deletes the
// next Failed pod of a node. It starts with a second, doubles with each one,
// and is forgotten when the controller restarts.
const maxBackoff = 15 * time.Minute

// manageStep fills a step with what gives every node the pods that it should
// have. Budgets do not apply here.
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

// manageShare is what one node adds to a manage step. The step does what all
// nodes say, and the rolling update has its turn only when none says anything.
type manageShare struct {
	create      bool
	deletes     []Item
	failed      []Item // of which one is deleted
	unscheduled []Item // deletes of pods that no kubelet ever had, on a vanished node
	backoff     bool   // the deletion of a failed pod may wait
}

// acts reports whether the node keeps the rolling update from its turn.
func (share *manageShare) acts() bool {
	return share.create || share.deletesAny()
}

func (share *manageShare) deletesAny() bool {
	return len(share.deletes)+len(share.failed)+len(share.unscheduled) > 0
}

// Owed reports whether the next sync gives the node a pod, whatever the limit, if
// its burst is enough.
func (st *State) Owed(n *Node) bool { return st.manageShare(n).create }

// manageShare returns what the node adds to a manage step (podsShouldBeOnNode).
//
// A node that should run the pod and has none gets one. Where pods may stay,
// Failed ones are deleted, one a node because of their common backoff, and
// since 1.33.0 (#130859) one that is owned already before one to adopt,
// unless the merging of revisions has adopted it a moment before;
// Succeeded ones since 1.27.0 and 1.26.5 (#117073); of the others the first
// in the controller's order is kept. Where they may not, all go that are not
// terminating already.
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

// manageWhereTheyStay is manageShare for a node with pods that may stay there.
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

// surgePods does the part of manageShare that differs where maxSurge is above
// 0 (1.21, #96441): the first old and the first new pod may stand side by
// side until the new one is available, or the old one is not ready. A node
// without a running pod gets one even while another terminates. Only the hash
// label tells new from old here, not the template generation.
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

// unboundPods are the pods of a vanished node that no kubelet ever had. They
// are deleted, terminating or not; those bound to the node are left to the
// garbage collector.
func unboundPods(n *Node) []Item {
	var items []Item
	for i := range n.Pods {
		if p := &n.Pods[i]; p.Object.Spec.NodeName == "" {
			items = append(items, Item{Node: n.Name, Pod: p.Name, Reason: NodeMissing})
		}
	}
	return items
}
