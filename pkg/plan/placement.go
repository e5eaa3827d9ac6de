package plan

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// placementChange returns which nodes lose or gain a pod because a change
// moved eligibility.
//
// A node loses one that has run, and that the next sync deletes because it may
// not stay there any more, and gains one that the next sync creates because it should run one
// now. It keeps one that stays until a rollout deletes it. Where before is nil there was nothing, so every node that
// should run a pod gains one. Nodes that only one of the States has are in neither, and nobody gains or loses where the
// controller leaves the DaemonSet alone, or nodes or pods could not be read.
func placementChange(before, after *daemonset.State) Placement {
	p := Placement{Gain: []PlacementNode{}, Lose: []PlacementNode{}, Keep: []PlacementNode{}}
	if !after.PodsRead || leftAlone(after.DaemonSet) {
		return p
	}
	with := labelCount{}
	for i := range after.Nodes {
		n := &after.Nodes[i]
		should, may := false, true // where there was nothing
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

// labelCount is how many nodes have a label, by its key and value.
type labelCount map[[2]string]int

// add adds to the verdict that a node lacks a label how many nodes have it.
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

// LeavesNoPod reports whether no node runs the pod in the end, as no node is
// eligible, though one does now, would without the change, or should of a
// DaemonSet that is new. Where pods stay on nodes that should not run them, it
// does not.
func (p *Plan) LeavesNoPod() bool {
	if p.Outcome.Code == RemovesAllPods {
		return true
	}
	staying, none := p.NoneEligible()
	return none && staying == 0 && (p.Subject == SubjectNew || p.Desired.Before > 0)
}

// NoneEligible reports whether a warning says that no node is eligible, and on
// how many nodes a pod stays nonetheless.
func (p *Plan) NoneEligible() (staying int, none bool) {
	for _, w := range p.Warnings {
		if w.Code == NoEligibleNode {
			staying = w.Facts.Int("staying")
			return staying, true
		}
	}
	return 0, false
}

// leftAlone reports whether the controller passes over a DaemonSet: one that is
// being deleted, or that selects everything.
func leftAlone(ds *appsv1.DaemonSet) bool {
	return ds.DeletionTimestamp != nil || daemonset.SelectsAll(ds)
}

// running reports whether a node has a pod that is not on its way out.
func running(n *daemonset.Node) bool {
	for i := range n.Pods {
		if !n.Pods[i].Terminating {
			return true
		}
	}
	return false
}

// served reports whether a node has a pod that is not on its way out and has run: what never ran is
// nothing to lose.
func served(n *daemonset.Node) bool {
	return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Terminating && !neverRan(&p) })
}

// neverRan reports whether no container of a pod was ever started, its init containers aside.
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
