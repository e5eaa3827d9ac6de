package cause_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestDownMessage checks that the message that a kubelet reports about its own node is a fact. If the kubelet has
// stopped, the message is from another controller and repeats the status.
func TestDownMessage(t *testing.T) {
	for status, want := range map[corev1.ConditionStatus]any{corev1.ConditionFalse: "cni plugin not initialized", corev1.ConditionUnknown: nil} {
		n := daemonset.Node{Object: &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, Message: " cni plugin not initialized\n"}}}}}
		if got := cause.Down(&n, dstest.Now).Facts["message"]; got != want {
			t.Errorf("%s: %v, want %v", status, got, want)
		}
	}
}

// TestDownWithoutConditions checks that the taint which mirrors the Ready condition counts if a node has no status.
func TestDownWithoutConditions(t *testing.T) {
	ready := []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for _, tt := range []struct {
		conditions []corev1.NodeCondition
		taints     []string
		want, why  string
	}{
		{nil, nil, "", "nothing says that it is down"},
		{nil, []string{"example.com/maintenance"}, "", "nor does a taint of somebody else"},
		{nil, []string{corev1.TaintNodeNotReady}, "False", "the kubelet says that it is not ready"},
		{nil, []string{corev1.TaintNodeUnreachable}, "Unknown", "the kubelet says nothing"},
		{nil, []string{corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady}, "Unknown", "of both the worse"},
		{nil, []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable}, "Unknown", "in whatever order"},
		{ready, []string{corev1.TaintNodeNotReady}, "", "a condition counts before a taint, which is removed later"},
	} {
		n := daemonset.Node{Object: &corev1.Node{Status: corev1.NodeStatus{Conditions: tt.conditions}}}
		for _, key := range tt.taints {
			n.Object.Spec.Taints = append(n.Object.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute})
		}
		got := ""
		if c := cause.Down(&n, dstest.Now); c != nil {
			got = c.Facts["status"].(string)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestUntried checks that the previous revision is named if no pod of the current one has ever worked and no other pod
// is left.
func TestUntried(t *testing.T) {
	for _, tt := range []struct {
		grid string
		made time.Duration // when the pods were created, after the current revision
		lost time.Duration // when they became unready, after their creation
		want int64
		why  string
	}{
		{"n n", time.Minute, 0, 1, "none works"},
		{"n n", time.Minute, 40 * time.Minute, 0, "they worked, and stopped"},
		{"n N", time.Minute, 0, 0, "one works"},
		{"n o", time.Minute, 0, 0, "an old one is left to compare with"},
		{"n n", -time.Minute, 0, 0, "they are older than the revision, whose template they were given later"},
	} {
		st, err := daemonset.StateOf(dstest.State(tt.grid, dstest.Edit(func(s *snapshot.Snapshot) {
			began := metav1.NewTime(dstest.Now.Add(-time.Hour))
			for i := range s.Revisions {
				if r := &s.Revisions[i]; r.Revision == 2 {
					r.CreationTimestamp = began
				} else {
					r.CreationTimestamp = metav1.NewTime(began.Add(-time.Hour))
				}
			}
			for i := range s.Pods {
				p := &s.Pods[i]
				p.CreationTimestamp = metav1.NewTime(began.Add(tt.made))
				for j := range p.Status.Conditions {
					p.Status.Conditions[j].LastTransitionTime = metav1.NewTime(began.Add(tt.made + tt.lost))
				}
			}
		})))
		if err != nil {
			t.Fatal(err)
		}
		if got := cause.Find(st).Untried(); got != tt.want {
			t.Errorf("%s: revision %d, want %d", tt.why, got, tt.want)
		}
	}
}

// TestKilled checks that a container that the kubelet killed because of its liveness probe fails that probe, and that
// the message of another probe is not used for it.
func TestKilled(t *testing.T) {
	const killing, liveness = "Container agent failed liveness probe, will be restarted", "Liveness probe failed: status 503"
	for _, tt := range []struct {
		kills, unhealthy string
		code             daemonset.Reason
		message          any
	}{
		{"", "", cause.CrashLoopBackOff, nil},
		{killing, liveness, cause.ProbeFailing, liveness},
		{killing, "Readiness probe failed: status 503", cause.ProbeFailing, killing},
		{"Container other failed liveness probe, will be restarted", liveness, cause.CrashLoopBackOff, nil},
		{"Stopping container agent", liveness, cause.CrashLoopBackOff, nil},
	} {
		st, err := daemonset.StateOf(dstest.State("n N", dstest.Edit(func(s *snapshot.Snapshot) {
			p := &s.Pods[0]
			ended := corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: metav1.NewTime(dstest.Now.Add(-4 * time.Minute))}
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "agent", RestartCount: 7, LastTerminationState: corev1.ContainerState{Terminated: &ended},
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			}}
			for reason, message := range map[string]string{"Killing": tt.kills, "Unhealthy": tt.unhealthy} {
				if message != "" {
					s.Events = append(s.Events, corev1.Event{
						Reason: reason, Message: message, LastTimestamp: metav1.NewTime(dstest.Now.Add(-2 * time.Minute)),
						InvolvedObject: corev1.ObjectReference{Kind: "Pod", UID: p.UID},
					})
				}
			}
		})))
		if err != nil {
			t.Fatal(err)
		}
		if c := cause.Find(st).Of("n0"); c.Code != tt.code || c.Facts["message"] != tt.message {
			t.Errorf("%q, %q: %s, %v", tt.kills, tt.unhealthy, c.Code, c.Facts)
		}
	}
}
