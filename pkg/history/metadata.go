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

// SaysAvailable reports whether, according to the status of a DaemonSet, the
// controller has observed the newest generation, every eligible node has an
// available pod of any revision, and no other node has a pod.
func SaysAvailable(ds *appsv1.DaemonSet) bool {
	n := daemonset.Reported(ds)
	return ds.Status.ObservedGeneration >= ds.Generation && n.Desired > 0 && n.Available == n.Desired &&
		n.Misscheduled == 0
}

// MakeFromMetadata returns the History of a State in which only the metadata of
// pods is known, so that they are on no node. The result is that of [Make] with
// whole pods, without the names of nodes.
//
// It returns nil unless the status and the pods agree that every node has
// exactly one pod, which is available: SaysAvailable holds, the numbers of pods
// and of updated pods match the status, and each pod is owned, has a known
// revision, is old enough to be available, and is not terminating. A pod that
// stopped being Ready after the status was written goes unnoticed.
func MakeFromMetadata(st *daemonset.State, o Options) (*History, error) {
	if !statusSuffices(st) {
		return nil, nil
	}
	whole, err := daemonset.New(onOwnNodes(st.Snapshot), st.Profile)
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
	if updated != daemonset.Reported(st.DaemonSet).Updated { // the status predates the last replacement
		return nil, nil
	}
	for i := range h.Revisions {
		h.Revisions[i].OnNodes = []string{}
	}
	return h, nil
}

// statusSuffices reports whether the status supplies what the metadata of the pods
// lacks.
func statusSuffices(st *daemonset.State) bool {
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

// onOwnNodes returns a Snapshot in which each pod is available, on a node of its
// own with a made-up name.
func onOwnNodes(s *snapshot.Snapshot) *snapshot.Snapshot {
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
