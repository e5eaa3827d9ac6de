package explain_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// at returns the time that long before dstest.Now.
func at(ago time.Duration) time.Time { return dstest.Now.Add(-ago) }

func since(ago time.Duration) *time.Time { t := at(ago); return &t }

// setEvent adds an event about the DaemonSet.
func setEvent(reason, message string, count int32, ago time.Duration) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.Events = append(s.Events, corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Name: s.DaemonSet.Name, UID: s.DaemonSet.UID},
			Reason:         reason, Message: message, Count: count, LastTimestamp: metav1.NewTime(at(ago)),
		})
	})
}

func notReady(name string) dstest.Option {
	return dstest.Node(name, func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", LastTransitionTime: metav1.NewTime(at(2 * time.Hour)), LastHeartbeatTime: metav1.NewTime(at(3 * time.Hour))}}
	})
}
