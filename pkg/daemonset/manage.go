package daemonset

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// maxBackoff is how long the controller waits at most before it deletes the
// next Failed pod of a node. It starts with a second, doubles with each one,
// and is forgotten when the controller restarts.
const maxBackoff = 15 * time.Minute

// manage fills a step with what gives every node the pods that it should
// have. Budgets do not apply here.
func (st *State) manage(step *Step) {
	var creates, onNodes, unscheduled class
	var backoff []string
	for i := range st.Nodes {
		n := &st.Nodes[i]
		share := st.ManageShare(n)
		if share.Create {
			creates.add(Item{Node: n.Name, Reason: Missing})
		}
		onNodes.add(share.Deletes...)
		onNodes.choose(min(1, len(share.Failed)), 1, share.Failed, FailedPod)
		unscheduled.add(share.Unscheduled...)
		if share.Backoff {
			backoff = append(backoff, n.Name)
		}
	}
	step.Creates = burst(creates)
	step.Deletes = burst(onNodes, unscheduled)
	if len(backoff) > 0 {
		step.Waits = append(step.Waits, Wait{Code: Backoff, Nodes: backoff, AtMost: int(maxBackoff.Seconds())})
	}
}

// ManageShare is what one node adds to a manage step. The step does what all
// nodes say, and the rolling update has its turn only when none says anything.
type ManageShare struct {
	Create      bool
	Deletes     []Item
	Failed      []Item // of which one is deleted
	Unscheduled []Item // deletes of pods that no kubelet ever had, on a vanished node
	Backoff     bool   // the deletion of a failed pod may wait
}

// Acts reports whether the node keeps the rolling update from its turn.
func (share *ManageShare) Acts() bool {
	return share.Create || len(share.Deletes)+len(share.Failed)+len(share.Unscheduled) > 0
}

// ManageShare returns what the node adds to a manage step (podsShouldBeOnNode).
//
// A node that should run the pod and has none gets one. Where pods may stay,
// Failed ones are deleted, one a node because of their common backoff, and
// since 1.33.0 (#130859) one that is owned already before one to adopt,
// unless the merging of revisions has adopted it a moment before;
// Succeeded ones since 1.27.0 and 1.26.5 (#117073); of the others the first
// in the controller's order is kept. Where they may not, all go that are not
// terminating already.
func (st *State) ManageShare(n *Node) ManageShare {
	var share ManageShare
	switch {
	case !n.Exists:
		share.Unscheduled = unboundPods(n)
	case !n.MayStay.OK:
		for i := range n.Pods {
			if p := &n.Pods[i]; !p.Terminating {
				share.Deletes = append(share.Deletes, Item{Node: n.Name, Pod: p.Name, Reason: NoLongerEligible})
			}
		}
	case len(n.Pods) == 0:
		share.Create = n.ShouldRun.OK
	default:
		st.manageWhereTheyStay(n, &share)
	}
	return share
}

// manageWhereTheyStay is ManageShare for a node with pods that may stay there.
func (st *State) manageWhereTheyStay(n *Node, share *ManageShare) {
	var running []*Pod
	var orphans []Item
	for i := range n.Pods {
		p := &n.Pods[i]
		switch {
		case p.Terminating:
		case p.Object.Status.Phase == corev1.PodFailed && p.Claim == Adopt && st.Profile.OwnedPodsFirst && !st.History.Merged:
			orphans = append(orphans, Item{Node: n.Name, Pod: p.Name, Reason: FailedPod})
		case p.Object.Status.Phase == corev1.PodFailed:
			share.Failed = append(share.Failed, Item{Node: n.Name, Pod: p.Name, Reason: FailedPod})
		case p.Object.Status.Phase == corev1.PodSucceeded && st.Profile.DeleteSucceeded:
			share.Deletes = append(share.Deletes, Item{Node: n.Name, Pod: p.Name, Reason: SucceededPod})
		default:
			running = append(running, p)
		}
	}
	if len(share.Failed) == 0 {
		share.Failed = orphans
	}
	share.Backoff = len(share.Failed) > 0
	if st.surge {
		st.surgePods(n, running, share)
		return
	}
	for _, p := range running[min(1, len(running)):] {
		share.Deletes = append(share.Deletes, Item{Node: n.Name, Pod: p.Name, Reason: Duplicate})
	}
}

// surgePods does the part of ManageShare that differs where maxSurge is above
// 0 (1.21, #96441): the first old and the first new pod may stand side by
// side until the new one is available, or the old one is not ready. A node
// without a running pod gets one even while another terminates. Only the hash
// label tells new from old here, not the template generation.
func (st *State) surgePods(n *Node, running []*Pod, share *ManageShare) {
	share.Create = len(running) == 0 && n.ShouldRun.OK && st.NodesRead
	var oldPod, newPod *Pod
	for _, p := range running {
		switch isNew := st.History.Merged || p.Hash == st.History.Hash; {
		case isNew && newPod == nil:
			newPod = p
		case !isNew && oldPod == nil:
			oldPod = p
		default:
			share.Deletes = append(share.Deletes, Item{Node: n.Name, Pod: p.Name, Reason: Duplicate})
		}
	}
	if oldPod != nil && newPod != nil && (!oldPod.Ready || newPod.Available.OK) {
		share.Deletes = append(share.Deletes, Item{Node: n.Name, Pod: oldPod.Name, Reason: Superseded})
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
