package cause

import "github.com/kubectl-ds/kubectl-ds/pkg/daemonset"

// Tally counts the new and the old pods, and those of either that fail: that
// tells a bad revision from a bad node. Pods that are terminating do not
// count, nor does a failure that no container gives.
type Tally struct{ NewPods, NewFailing, OldPods, OldFailing int }

// Facts returns a Tally as facts.
func (t Tally) Facts() daemonset.Facts {
	return daemonset.Facts{"newPods": t.NewPods, "newFailing": t.NewFailing, "oldPods": t.OldPods,
		"oldFailing": t.OldFailing}
}

// RevisionFails counts failures that do not go away by themselves. Pods on
// nodes that are down count neither as failing nor at all.
func (cs *Causes) RevisionFails() Tally {
	var t Tally
	for i := range cs.st.Nodes {
		n := &cs.st.Nodes[i]
		if Down(n, cs.at) != nil {
			continue
		}
		t.pods(n)
		if c := cs.nodes[n.Name]; c != nil && c.Severity == SeverityError && OfContainer(c.Code) {
			t.fails(n)
		}
	}
	return t
}

// RevisionFailsBy counts failures of every severity and on every node, apart
// by a key of the cause. Each Tally has all pods, whatever they fail of.
func (cs *Causes) RevisionFailsBy(key func(*Cause) string) map[string]Tally {
	var all Tally
	by := map[string]Tally{}
	for i := range cs.st.Nodes {
		n := &cs.st.Nodes[i]
		all.pods(n)
		if c := cs.nodes[n.Name]; c != nil && OfContainer(c.Code) {
			k := key(c)
			t := by[k]
			t.fails(n)
			by[k] = t
		}
	}
	for k, t := range by {
		t.NewPods, t.OldPods = all.NewPods, all.OldPods
		by[k] = t
	}
	return by
}

// pods adds the pods of a node that are not terminating.
func (t *Tally) pods(n *daemonset.Node) {
	for i := range n.Pods {
		switch p := &n.Pods[i]; {
		case p.Terminating:
		case p.Updated:
			t.NewPods++
		default:
			t.OldPods++
		}
	}
}

// fails adds the failure of a node's pod.
func (t *Tally) fails(n *daemonset.Node) {
	if concern(n).Updated {
		t.NewFailing++
	} else {
		t.OldFailing++
	}
}
