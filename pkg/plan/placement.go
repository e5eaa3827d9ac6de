package plan

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// placementChange returns the nodes that lose, gain or keep a pod because a change makes them eligible or not eligible.
//
// A node loses a pod that has run and that the next sync deletes because it may not stay any more. A node gains a pod
// that the next sync creates because the node is now eligible. A node keeps a pod that stays until a rollout deletes
// it. If before is nil, the DaemonSet is new and every eligible node gains a pod. Nodes that are in only one of the
// States are not listed. All lists are empty if the controller ignores the DaemonSet, or if nodes or pods could not be
// read.
func placementChange(before, after *daemonset.State) Placement {
	p := Placement{Gain: []PlacementNode{}, Lose: []PlacementNode{}, Keep: []PlacementNode{}}
	if !after.PodsRead || ignored(after.DaemonSet) {
		return p
	}
	with := labelCount{}
	for i := range after.Nodes {
		n := &after.Nodes[i]
		should, may := false, true // for a new DaemonSet
		if before != nil {
			old := before.Node(n.Name)
			if old == nil {
				continue
			}
			should, may = old.ShouldRun.OK, old.MayStay.OK
		}
		switch {
		case !n.Exists:
		case may && !n.MayStay.OK && served(n):
			p.Lose = append(p.Lose, PlacementNode{n.Name, with.add(n.MayStay, after.Nodes)})
		case !should && after.Owed(n):
			p.Gain = append(p.Gain, PlacementNode{n.Name, n.ShouldRun})
		case before != nil && should && !n.ShouldRun.OK && n.MayStay.OK && served(n):
			p.Keep = append(p.Keep, PlacementNode{n.Name, with.add(n.ShouldRun, after.Nodes)})
		}
	}
	return p
}

// labelCount is the number of nodes with a label, by its key and value.
type labelCount map[[2]string]int

// add adds the number of nodes with the label to a verdict that a node lacks it.
func (l labelCount) add(v daemonset.Verdict, nodes []daemonset.Node) daemonset.Verdict {
	if v.Reason != daemonset.NodeSelector {
		return v
	}
	key := v.Facts.Text("key")
	want := v.Facts.Text("want")
	label := [2]string{key, want}
	if _, known := l[label]; !known {
		for i := range nodes {
			l[label] += b2i(nodes[i].Exists && hasLabel(nodes[i].Object.Labels, key, want))
		}
	}
	v.Facts = maps.Clone(v.Facts)
	v.Facts["nodesWith"] = l[label]
	return v
}

// LeavesNoPod reports whether no node runs the pod at the end because no node is eligible, although a node runs it now,
// would run it without the change or, for a new DaemonSet, should run it. It returns false if pods stay on nodes that
// are not eligible.
func (p *Plan) LeavesNoPod() bool {
	if p.Outcome.Code == RemovesAllPods {
		return true
	}
	staying, none := p.NoneEligible()
	return none && staying == 0 && (p.Subject == SubjectNew || p.Desired.Before > 0)
}

// NoneEligible reports whether no node is eligible, and on how many nodes a pod stays nonetheless.
func (p *Plan) NoneEligible() (staying int, none bool) {
	for _, w := range p.Warnings {
		if w.Code == NoEligibleNode {
			staying = w.Facts.Int("staying")
			return staying, true
		}
	}
	return 0, false
}

// ignored reports whether the controller ignores a DaemonSet, because it is being deleted or selects all pods.
func ignored(ds *appsv1.DaemonSet) bool {
	return ds.DeletionTimestamp != nil || daemonset.SelectsAll(ds)
}

// running reports whether a node has a pod that is not terminating.
func running(n *daemonset.Node) bool {
	for i := range n.Pods {
		if !n.Pods[i].Terminating {
			return true
		}
	}
	return false
}

// served reports whether a node has a pod that is not terminating and has run. A pod that has never run is no loss.
func served(n *daemonset.Node) bool {
	return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Terminating && !neverRan(&p) })
}

// neverRan reports whether no container of a pod has ever started, apart from init containers.
func neverRan(p *daemonset.Pod) bool {
	o := p.Object
	if o == nil || p.Ready || o.Status.Phase != corev1.PodPending {
		return false
	}
	return !slices.ContainsFunc(o.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil ||
			s.RestartCount > 0
	})
}

func hasLabel(of map[string]string, key, value string) bool {
	have, ok := of[key]
	return ok && have == value
}
