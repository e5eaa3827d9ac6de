package cause

import (
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

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
