package daemonset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
)

func TestAvailable(t *testing.T) {
	const current, before = "v1.37.1", "v1.33.13"
	at := func(fromNow time.Duration) *time.Time { t := dstest.Now.Add(fromNow); return &t }
	ready := func(since *time.Time) []corev1.PodCondition {
		c := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
		if since != nil {
			c.LastTransitionTime = metav1.NewTime(*since)
		}
		return []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, c}
	}
	not := func(status corev1.ConditionStatus) []corev1.PodCondition {
		return []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(*at(-time.Hour))}}
	}
	yes := Verdict{OK: true, Reason: Available}
	notReady := Verdict{Reason: NotReady}
	wait := func(seconds int) Verdict {
		return Verdict{Reason: NotYetAvailable, Facts: Facts{"minReadySeconds": seconds}}
	}
	type result struct {
		Verdict Verdict
		At      *time.Time
	}
	whys := whys{}
	for _, tt := range []struct {
		version    string
		minReady   int32
		conditions []corev1.PodCondition
		want       result
		why        string
	}{
		{current, 0, ready(at(-time.Second)), result{yes, at(-time.Second)}, "without minReadySeconds ready is available"},
		{current, 0, ready(at(time.Minute)), result{yes, at(time.Minute)}, "even when the pod became ready in the future"},
		{current, 0, ready(nil), result{yes, nil}, "and when it does not say since when"},
		{current, 30, ready(nil), result{wait(30), nil}, "which minReadySeconds needs to know"},
		{current, 30, ready(at(-31 * time.Second)), result{yes, at(-time.Second)}, "ready for longer than minReadySeconds"},
		{current, 30, ready(at(-30 * time.Second)), result{yes, at(0)}, "ready for just as long is available (1.34, #132122)"},
		{before, 30, ready(at(-30 * time.Second)), result{wait(30), at(0)}, "up to 1.33 it was not"},
		{before, 30, ready(at(-31 * time.Second)), result{yes, at(-time.Second)}, "up to 1.33 it was a second later"},
		{current, 30, ready(at(-29 * time.Second)), result{wait(30), at(time.Second)}, "a second is missing, and it is told which"},
		{current, 1, ready(at(time.Minute)), result{wait(1), at(61 * time.Second)}, "ready in the future is not yet available"},
		{current, 0, not(corev1.ConditionFalse), result{notReady, nil}, "not ready is not available"},
		{current, 0, not(corev1.ConditionUnknown), result{notReady, nil}, "nor is one whose kubelet is silent"},
		{current, 0, nil, result{notReady, nil}, "nor one without the condition"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			profile, err := ForVersion(tt.version)
			if err != nil {
				t.Fatal(err)
			}
			var got result
			pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: tt.conditions}}
			var at time.Time
			if got.Verdict, at = available(pod, tt.minReady, dstest.Now, profile); !at.IsZero() {
				got.At = &at
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
