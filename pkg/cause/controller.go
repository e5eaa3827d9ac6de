package cause

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Changed returns the time of the last change that affects the status. The controller has nothing newer to act on.
func (cs *Causes) Changed() time.Time { return cs.changed() }

// Settled reports whether the last change was longer ago than the controller needs to act on it.
func (cs *Causes) Settled() bool { return cs.at.Sub(cs.changed()) > Patience }

// lastChange returns the newest time among the objects that the status is computed from.
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

// Written returns when a subresource of the DaemonSet was last written, according to its managed fields. The empty
// subresource is the object without its status. It returns nil if the managed fields do not show it, as with API
// servers before v1.25.
func Written(st *daemonset.State, subresource string) *time.Time {
	if !st.Snapshot.TellsWrites() {
		return nil
	}
	return lastEntry(st.DaemonSet, subresource)
}

// lastEntry returns the newest time in the managed fields of a subresource. Later writes are possible.
func lastEntry(ds *appsv1.DaemonSet, subresource string) *time.Time {
	var last *time.Time
	for _, m := range ds.ManagedFields {
		if m.Subresource == subresource && m.Time != nil && (last == nil || m.Time.After(*last)) {
			last = timeOf(m.Time.Time)
		}
	}
	return last
}

// Values of the fact "lease", which is about the Lease of kube-controller-manager.
const (
	LeaseAlive   = "Alive"   // the holder renewed it in time: the controller runs
	LeaseExpired = "Expired" // the holder did not renew it: the controller is down, or cannot reach the API server
)

// AddLease adds the state of the controller's Lease to the facts of a problem and returns them. It adds nothing if the
// Lease was not read or does not exist.
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

// MissedWakeUp reports whether this version of the controller may not notice that a taint was added or removed while
// the pod stays, so that the status is stale until something else changes. This affects 1.33.0 to 1.33.5 and 1.34.0
// (kubernetes#132459, fixed by #132477).
func (cs *Causes) MissedWakeUp() bool {
	v, err := version.ParseGeneric(cs.s.KubernetesVersion)
	return err == nil && (v.Minor() == 33 && v.Patch() <= 5 || v.Minor() == 34 && v.Patch() == 0)
}

// AsksController reports whether the Lease of the controller could explain the state of a DaemonSet: its status differs
// from the computed one, or there is pending work that nobody does.
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

// Misses reports whether a missed wake-up can explain a stale status with these differing fields: the number of
// misscheduled nodes is one of them.
func Misses(fields []string) bool { return slices.Contains(fields, "numberMisscheduled") }

// HoldsUp returns why the controller writes no status in the current state: it ignores the DaemonSet, or its version
// writes no status after a failed sync. Of the requests that can fail, only rejected creates are known. HoldsUp returns
// "" if a status is written.
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

// Silent reports whether the controller had time to act and did nothing: its last status write is older than
// expectations or a restart explain, and nothing else prevents a status write. Without events it returns false, because
// rejected creates would look the same. Owes reports whether there is work to do.
func (cs *Causes) Silent(next *daemonset.Step) bool {
	written := Written(cs.st, "status")
	return written != nil && cs.at.Sub(*written) > Patience && cs.Settled() && cs.refusal == nil && !cs.retries() &&
		cs.HoldsUp(next) == "" && !cs.s.Lacks(snapshot.Events)
}

// Owes reports whether the controller has pending work that no back-off can delay.
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
