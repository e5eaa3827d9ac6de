package cause

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

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
