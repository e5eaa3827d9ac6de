package cause

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
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

// Values of the fact "lease": what the Lease of kube-controller-manager says.
const (
	LeaseAlive   = "Alive"   // its holder renewed it in time: the controller runs
	LeaseExpired = "Expired" // its holder did not: the controller is down, or cannot reach the API server
)

// AddLease adds to the facts of a problem with the controller what its Lease says: nothing where
// it was not read, or there is none.
func (cs *Causes) AddLease(f daemonset.Facts) daemonset.Facts {
	l := cs.s.Controller
	switch {
	case l == nil || !l.Exists || l.RenewedAt.IsZero():
		return f
	case l.Expired(cs.at):
		f["lease"] = LeaseExpired
	default:
		f["lease"] = LeaseAlive
	}
	f["renewed"] = timeFact(l.RenewedAt)
	return f
}

// MissedWakeUp reports whether the controller of this version may not notice that a taint came or
// went while the pod stays, so that the status is stale until something else changes: 1.33.0 to
// 1.33.5 and 1.34.0 (kubernetes#132459, repaired by #132477).
func (cs *Causes) MissedWakeUp() bool {
	v, err := version.ParseGeneric(cs.s.KubernetesVersion)
	return err == nil && (v.Minor() == 33 && v.Patch() <= 5 || v.Minor() == 34 && v.Patch() == 0)
}

// AsksController reports whether the Lease of the controller would say why a DaemonSet is as
// it is: its status is not what is computed, or there is work that nobody does.
func (cs *Causes) AsksController() bool {
	if !cs.Settled() || !cs.st.PodsRead || !cs.st.NodesRead || cs.refusal != nil || cs.retries() {
		return false
	}
	counts, known := cs.st.Counts()
	if !known || cs.s.Lacks(snapshot.DaemonSetStatus) {
		return false
	}
	if counts != daemonset.Reported(cs.st.DaemonSet) || cs.st.NotObserved() {
		return true
	}
	if counts.Updated == counts.Desired && counts.Current == counts.Desired {
		return false
	}
	next := cs.st.Sync()
	return cs.Silent(&next) && Owes(&next)
}

// Misses reports whether a stale status is one that a missed wake-up explains: its number of
// misscheduled nodes differs.
func Misses(fields []string) bool { return slices.Contains(fields, "numberMisscheduled") }

// HoldsUp returns why the controller writes no status while things are as they are: it
// passes the DaemonSet over, or it is of a version that ends a sync that failed without
// one. Of the calls that can fail only refused creates are seen. It is empty where a
// status is written.
func (cs *Causes) HoldsUp(next *daemonset.Step) daemonset.Reason {
	switch {
	case !next.WritesStatus && next.Error != nil:
		return next.Error.Code
	case !next.WritesStatus:
		return next.Reason
	case !cs.st.Profile.StatusAfterError && (cs.refusal != nil || cs.retries()) && next.Creates.Len() > 0:
		return FailedCreate
	}
	return ""
}

// Silent reports whether the controller had the time to act and did nothing: it last
// wrote the status longer ago than expectations or a start can explain, and nothing holds
// up the status alone. Without events that cannot be told from creations that are refused.
// Whether it had something to do is Owes.
func (cs *Causes) Silent(next *daemonset.Step) bool {
	written := Written(cs.st, "status")
	return written != nil && cs.at.Sub(*written) > Patience && cs.Settled() && cs.refusal == nil && !cs.retries() &&
		cs.HoldsUp(next) == "" && !cs.s.Lacks(snapshot.Events)
}

// Owes reports whether the controller has something to do that no backoff can hold up.
func Owes(next *daemonset.Step) bool {
	failed := 0
	for _, i := range next.Deletes.Certain {
		if i.Reason == daemonset.FailedPod {
			failed++
		}
	}
	for _, c := range next.Deletes.Choices {
		if c.Reason == daemonset.FailedPod {
			failed += c.Count
		}
	}
	return next.Creates.Len()+next.Deletes.Len() > failed
}
