package cause

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Changed returns the newest time in what the status is computed from: nothing
// later has happened that the controller could still have to act on.
func (cs *Causes) Changed() time.Time { return cs.changed() }

// Settled reports whether nothing changed for longer than the controller takes
// to act on it.
func (cs *Causes) Settled() bool { return cs.at.Sub(cs.changed()) > Patience }

// lastChange is the newest time in what the status is computed from.
func (cs *Causes) lastChange() time.Time {
	var last time.Time
	see := func(t time.Time) {
		if t.After(last) && !t.After(cs.at) {
			last = t
		}
	}
	see(cs.st.DaemonSet.CreationTimestamp.Time)
	if t := lastEntry(cs.st.DaemonSet, ""); t != nil {
		see(*t)
	}
	minReady := time.Duration(cs.st.DaemonSet.Spec.MinReadySeconds) * time.Second
	for i := range cs.st.Nodes {
		n := &cs.st.Nodes[i]
		if n.Object != nil {
			see(n.Object.CreationTimestamp.Time)
			for j := range n.Object.Status.Conditions {
				see(n.Object.Status.Conditions[j].LastTransitionTime.Time)
			}
			for _, t := range n.Object.Spec.Taints {
				if t.TimeAdded != nil {
					see(t.TimeAdded.Time)
				}
			}
		}
		for j := range n.Pods {
			p := &n.Pods[j]
			see(p.Object.CreationTimestamp.Time)
			if p.Terminating {
				see(p.Object.DeletionTimestamp.Add(-grace(p.Object)))
			}
			for k := range p.Object.Status.Conditions {
				at := p.Object.Status.Conditions[k].LastTransitionTime.Time
				see(at)
				see(at.Add(minReady))
			}
		}
	}
	return last
}

// Written returns when a subresource of the DaemonSet was last written, by the
// object's managed fields; the empty one is the object without its status. Nil
// where they do not tell, as those of an API server before v1.25.
func Written(st *daemonset.State, subresource string) *time.Time {
	if !st.Snapshot.TellsWrites() {
		return nil
	}
	return lastEntry(st.DaemonSet, subresource)
}

// lastEntry returns the newest time in the managed fields of a subresource: something
// was written then, and perhaps later, too.
func lastEntry(ds *appsv1.DaemonSet, subresource string) *time.Time {
	var last *time.Time
	for _, m := range ds.ManagedFields {
		if m.Subresource == subresource && m.Time != nil && (last == nil || m.Time.After(*last)) {
			last = timeOf(m.Time.Time)
		}
	}
	return last
}
