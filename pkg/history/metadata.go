package history

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// SaysAvailable reports whether the status of a DaemonSet says that every pod that there should be is
// there and available, of whichever revision, and no other: the controller has seen the spec as it
// is, each node that should run a pod has an available one, and no other node has one.
func SaysAvailable(ds *appsv1.DaemonSet) bool {
	n := daemonset.Reported(ds)
	return ds.Status.ObservedGeneration >= ds.Generation && n.Desired > 0 && n.Available == n.Desired &&
		n.Misscheduled == 0
}

// MakeFromMetadata returns the History of a State that knows only the metadata of its pods, which
// then are on no node. It is that of [Make] from whole pods, but that no revision has the names of
// its nodes.
//
// It is nil unless the status of the DaemonSet and the pods agree that each is alone on its node, and
// available: SaysAvailable holds, as many pods are there as the status counts, and as many are updated,
// each is the DaemonSet's own and of a revision that is there, old enough to be available, and none
// is terminating. That a pod stopped being Ready after the status was written is not seen.
func MakeFromMetadata(st *daemonset.State, o Options) (*History, error) {
	if !agrees(st) {
		return nil, nil
	}
	whole, err := daemonset.New(placed(st.Snapshot), st.Profile)
	if err != nil {
		return nil, err
	}
	h, err := Make(whole, o)
	if err != nil {
		return nil, err
	}
	updated := 0
	for i := range h.Revisions {
		updated += *h.Revisions[i].Updated
	}
	if updated != daemonset.Reported(st.DaemonSet).Updated { // it was written before the last pod was replaced
		return nil, nil
	}
	for i := range h.Revisions {
		h.Revisions[i].OnNodes = []string{}
	}
	return h, nil
}

// agrees reports whether the status of the DaemonSet tells what the metadata of its pods does not.
func agrees(st *daemonset.State) bool {
	if !SaysAvailable(st.DaemonSet) {
		return false
	}
	pods, least := 0, time.Duration(st.DaemonSet.Spec.MinReadySeconds)*time.Second
	for p := range (&given{st: st}).pods() {
		young := st.At.Sub(p.Object.CreationTimestamp.Time) < least
		if p.Terminating || young || p.Claim != daemonset.Owned || p.Revision == "" {
			return false
		}
		pods++
	}
	return pods == daemonset.Reported(st.DaemonSet).Desired
}

// placed returns a Snapshot in which each pod is on a node of its own, of whatever name, and
// available.
func placed(s *snapshot.Snapshot) *snapshot.Snapshot {
	out := *s
	out.Gaps = slices.DeleteFunc(slices.Clone(s.Gaps),
		func(g snapshot.Gap) bool { return g.What == snapshot.PodStatus })
	out.Pods = snapshot.Joined(s.Pods)
	since := metav1.NewTime(s.TakenAt.Add(-time.Duration(s.DaemonSet.Spec.MinReadySeconds)*second - second))
	ready := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: since}}
	for i := range out.Pods {
		p := &out.Pods[i]
		p.Spec.NodeName, p.Status = p.Name, corev1.PodStatus{Phase: corev1.PodRunning, Conditions: ready}
	}
	return &out
}
