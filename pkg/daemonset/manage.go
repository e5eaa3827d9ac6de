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
		if !n.Exists {
			unscheduled.add(unboundPods(n)...)
			continue
		}
		if st.managePods(n, &onNodes) {
			creates.add(Item{Node: n.Name, Reason: Missing})
		}
		if failedPods(n) > 0 && n.MayStay.OK {
			backoff = append(backoff, n.Name)
		}
	}
	step.Creates = burst(creates)
	step.Deletes = burst(onNodes, unscheduled)
	if len(backoff) > 0 {
		step.Waits = append(step.Waits, Wait{Code: Backoff, Nodes: backoff, AtMost: int(maxBackoff.Seconds())})
	}
}

// managePods adds what the controller deletes on one node that exists, and
// tells whether it creates a pod there (podsShouldBeOnNode).
//
// A node that should run the pod and has none gets one. Where pods may stay,
// Failed ones are deleted, one a node because of their common backoff, and
// since 1.33.0 (#130859) one that is owned already before one to adopt,
// unless the merging of revisions has adopted it a moment before;
// Succeeded ones since 1.27.0 and 1.26.5 (#117073); of the others the first
// in the controller's order is kept. Where they may not, all go that are not
// terminating already.
func (st *State) managePods(n *Node, deletes *class) (create bool) {
	if !n.MayStay.OK {
		for i := range n.Pods {
			if p := &n.Pods[i]; !p.Terminating {
				deletes.add(Item{Node: n.Name, Pod: p.Name, Reason: NoLongerEligible})
			}
		}
		return false
	}
	if len(n.Pods) == 0 {
		return n.ShouldRun.OK
	}
	var running []*Pod
	var failed, failedOrphans []Item
	for i := range n.Pods {
		p := &n.Pods[i]
		switch {
		case p.Terminating:
		case p.Object.Status.Phase == corev1.PodFailed && p.Claim == Adopt && st.Profile.OwnedPodsFirst && !st.History.Merged:
			failedOrphans = append(failedOrphans, Item{Node: n.Name, Pod: p.Name, Reason: FailedPod})
		case p.Object.Status.Phase == corev1.PodFailed:
			failed = append(failed, Item{Node: n.Name, Pod: p.Name, Reason: FailedPod})
		case p.Object.Status.Phase == corev1.PodSucceeded && st.Profile.DeleteSucceeded:
			deletes.add(Item{Node: n.Name, Pod: p.Name, Reason: SucceededPod})
		default:
			running = append(running, p)
		}
	}
	if len(failed) == 0 {
		failed = failedOrphans
	}
	deletes.choose(min(1, len(failed)), 1, failed, FailedPod)
	if st.surge {
		return st.surgePods(n, running, deletes)
	}
	for _, p := range running[min(1, len(running)):] {
		deletes.add(Item{Node: n.Name, Pod: p.Name, Reason: Duplicate})
	}
	return false
}

// surgePods does the part of managePods that differs where maxSurge is above
// 0 (1.21, #96441): the first old and the first new pod may stand side by
// side until the new one is available, or the old one is not ready. A node
// without a running pod gets one even while another terminates. Only the hash
// label tells new from old here, not the template generation.
func (st *State) surgePods(n *Node, running []*Pod, deletes *class) (create bool) {
	if len(running) == 0 {
		return n.ShouldRun.OK && st.NodesRead
	}
	var oldPod, newPod *Pod
	for _, p := range running {
		switch isNew := st.History.Merged || p.Hash == st.History.Hash; {
		case isNew && newPod == nil:
			newPod = p
		case !isNew && oldPod == nil:
			oldPod = p
		default:
			deletes.add(Item{Node: n.Name, Pod: p.Name, Reason: Duplicate})
		}
	}
	if oldPod != nil && newPod != nil && (!oldPod.Ready || newPod.Available.OK) {
		deletes.add(Item{Node: n.Name, Pod: oldPod.Name, Reason: Superseded})
	}
	return false
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

func failedPods(n *Node) int {
	count := 0
	for i := range n.Pods {
		if p := &n.Pods[i]; !p.Terminating && p.Object.Status.Phase == corev1.PodFailed {
			count++
		}
	}
	return count
}
