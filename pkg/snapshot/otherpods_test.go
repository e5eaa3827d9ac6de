package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func podOnNode(change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}, Spec: corev1.PodSpec{NodeName: "n"}}
	change(p)
	return p
}

func nominatedPod(change func(*corev1.Pod)) *corev1.Pod {
	return podOnNode(func(p *corev1.Pod) {
		p.Spec.NodeName, p.Status.NominatedNodeName = "", "n"
		change(p)
	})
}

// TestRowOf tests how the scheduler counts a pod.
func TestRowOf(t *testing.T) {
	row := func(change func(*PodRow)) *PodRow {
		r := &PodRow{Namespace: "ns", Name: "p", Node: "n"}
		change(r)
		return r
	}
	now := metav1.Unix(1_800_000_000, 0)
	priority := int32(-5)
	always := corev1.ContainerRestartPolicyAlways
	gate := []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
	disrupted := func(status corev1.ConditionStatus, reason string) []corev1.PodCondition {
		return []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: status, Reason: reason}}
	}
	requests := func(l corev1.ResourceList) []corev1.Container {
		return []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: l}}}
	}
	for _, tt := range []struct {
		why string
		pod *corev1.Pod
		row *PodRow // nil: it does not count
	}{
		{"a pod that requests nothing still takes a place", podOnNode(func(p *corev1.Pod) {}), row(func(r *PodRow) {})},
		{"one that has ended takes none", podOnNode(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), nil},
		{"nor does one that has failed", podOnNode(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), nil},
		{"nor one that is nowhere", podOnNode(func(p *corev1.Pod) { p.Spec.NodeName = "" }), nil},
		{"a nominated one does", nominatedPod(func(p *corev1.Pod) {}), row(func(r *PodRow) { r.Nominated = true })},
		{"once it is on a node, another one that was nominated does not matter", podOnNode(func(p *corev1.Pod) { p.Status.NominatedNodeName = "m" }), row(func(r *PodRow) {})},
		{"the nomination of another scheduler binds only that one", nominatedPod(func(p *corev1.Pod) { p.Spec.SchedulerName = "other" }), nil},
		{"that of the default scheduler, by its name", nominatedPod(func(p *corev1.Pod) { p.Spec.SchedulerName = corev1.DefaultSchedulerName }), row(func(r *PodRow) { r.Nominated = true })},
		{"whoever put it on a node, it is there", podOnNode(func(p *corev1.Pod) { p.Spec.SchedulerName = "other" }), row(func(r *PodRow) {})},
		{"a nominated one with gates", nominatedPod(func(p *corev1.Pod) { p.Spec.SchedulingGates = gate }), row(func(r *PodRow) { r.Nominated, r.Gated = true, true })},
		{"gates that are left on a pod on a node gate nothing", podOnNode(func(p *corev1.Pod) { p.Spec.SchedulingGates = gate }), row(func(r *PodRow) {})},
		{"priority and start", podOnNode(func(p *corev1.Pod) { p.Spec.Priority, p.Status.StartTime = &priority, &now }), row(func(r *PodRow) { r.Priority, r.StartTime = -5, &now })},
		{"terminating", podOnNode(func(p *corev1.Pod) { p.DeletionTimestamp = &now }), row(func(r *PodRow) { r.Terminating, r.EndsBy = true, &now })},
		{
			"terminating because it was preempted",
			podOnNode(func(p *corev1.Pod) {
				p.DeletionTimestamp, p.Status.Conditions = &now, disrupted(corev1.ConditionTrue, corev1.PodReasonPreemptionByScheduler)
			}),
			row(func(r *PodRow) { r.Terminating, r.Preempted, r.EndsBy = true, true, &now }),
		},
		{
			"terminating because its node is drained",
			podOnNode(func(p *corev1.Pod) {
				p.DeletionTimestamp, p.Status.Conditions = &now, disrupted(corev1.ConditionTrue, "EvictionByEvictionAPI")
			}),
			row(func(r *PodRow) { r.Terminating, r.EndsBy = true, &now }),
		},
		{
			"what was to be preempted and was not is not",
			podOnNode(func(p *corev1.Pod) {
				p.DeletionTimestamp, p.Status.Conditions = &now, disrupted(corev1.ConditionFalse, corev1.PodReasonPreemptionByScheduler)
			}),
			row(func(r *PodRow) { r.Terminating, r.EndsBy = true, &now }),
		},
		{
			"who is about to be preempted is still running",
			podOnNode(func(p *corev1.Pod) {
				p.Status.Conditions = disrupted(corev1.ConditionTrue, corev1.PodReasonPreemptionByScheduler)
			}),
			row(func(r *PodRow) {}),
		},
		{
			"another condition says nothing of it",
			podOnNode(func(p *corev1.Pod) {
				p.DeletionTimestamp = &now
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler}}
			}),
			row(func(r *PodRow) { r.Terminating, r.EndsBy = true, &now }),
		},
		{
			"amounts in the scheduler's units",
			podOnNode(func(p *corev1.Pod) {
				p.Spec.Containers = requests(corev1.ResourceList{
					"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("1Ki"), "ephemeral-storage": resource.MustParse("2"), "example.com/gpu": resource.MustParse("3"),
				})
			}),
			row(func(r *PodRow) {
				r.Requests = Resources{MilliCPU: 1500, Memory: 1024, EphemeralStorage: 2, Scalar: map[corev1.ResourceName]int64{"example.com/gpu": 3}}
			}),
		},
		{
			"an amount that is negative, and one that is too large, are named, and not counted",
			podOnNode(func(p *corev1.Pod) {
				p.Spec.Containers = requests(corev1.ResourceList{"memory": resource.MustParse("-1"), "example.com/a": resource.MustParse("9223372036854775808")})
			}),
			row(func(r *PodRow) {
				r.Unreadable = []corev1.ResourceName{"example.com/a", "memory"}
			}),
		},
		{
			"the largest amount of CPU is that of thousandths",
			podOnNode(func(p *corev1.Pod) {
				p.Spec.Containers = requests(corev1.ResourceList{"cpu": resource.MustParse("9223372036854775807m")})
			}),
			row(func(r *PodRow) { r.Requests.MilliCPU = 9223372036854775807 }),
		},
		{
			"one more is too large",
			podOnNode(func(p *corev1.Pod) {
				p.Spec.Containers = requests(corev1.ResourceList{"cpu": resource.MustParse("9223372036854775808m")})
			}),
			row(func(r *PodRow) {
				r.Unreadable = []corev1.ResourceName{"cpu"}
			}),
		},
		{
			"host ports of containers and of sidecars, not of other init containers",
			podOnNode(func(p *corev1.Pod) {
				ports := func(n int32) []corev1.ContainerPort {
					return []corev1.ContainerPort{{ContainerPort: 9}, {ContainerPort: 9, HostPort: n, HostIP: "10.0.0.1", Protocol: corev1.ProtocolUDP}}
				}
				p.Spec.InitContainers = []corev1.Container{{Ports: ports(1)}, {RestartPolicy: &always, Ports: ports(2)}}
				p.Spec.Containers = []corev1.Container{{Ports: ports(3)}}
			}),
			row(func(r *PodRow) {
				r.HostPorts = []HostPort{{"10.0.0.1", corev1.ProtocolUDP, 2, true}, {"10.0.0.1", corev1.ProtocolUDP, 3, false}}
			}),
		},
	} {
		got, ok := RowOf(tt.pod)
		want := tt.row
		if want == nil {
			want = &PodRow{}
		}
		if diff := cmp.Diff(*want, got); diff != "" || ok != (tt.row != nil) {
			t.Errorf("%s: %t (-want +got):\n%s", tt.why, ok, diff)
		}
	}
}

// TestBudgetsOf tests which PodDisruptionBudgets protect a pod for the
// scheduler.
func TestBudgetsOf(t *testing.T) {
	budget := func(namespace, name string, s *metav1.LabelSelector, allowed int32, disrupted ...string) policyv1.PodDisruptionBudget {
		b := policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: s}}
		b.Status.DisruptionsAllowed = allowed
		for _, p := range disrupted {
			if b.Status.DisruptedPods == nil {
				b.Status.DisruptedPods = map[string]metav1.Time{}
			}
			b.Status.DisruptedPods[p] = metav1.Time{}
		}
		return b
	}
	not := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"b"}}}}
	broken := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}}
	app := func(value string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": value}}
	}
	all := []policyv1.PodDisruptionBudget{
		budget("ns", "z", app("a"), 1, "q", "p"), budget("ns", "a", not, 0), budget("ns", "empty", &metav1.LabelSelector{}, 0), budget("ns", "none", nil, 0),
		budget("ns", "broken", broken, 0), budget("other", "a", app("a"), 2), budget("ns", "unused", app("c"), 0),
	}
	rows := []PodRow{{Namespace: "ns", Name: "1"}, {Namespace: "ns", Name: "2"}, {Namespace: "ns", Name: "3"}, {Namespace: "other", Name: "4"}}
	labelsOf := []map[string]string{{"app": "a"}, {"app": "b"}, nil, {"app": "a"}}
	used := BudgetsOf(rows, labelsOf, all)
	var names [][]string
	for _, r := range rows {
		names = append(names, r.Budgets)
	}
	if diff := cmp.Diff([][]string{{"a", "z"}, nil, nil, {"a"}}, names); diff != "" {
		t.Errorf("an empty selector, none, a broken one and a pod without labels: no budget (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]DisruptionBudget{{"ns", "a", 0, nil}, {"ns", "z", 1, []string{"p", "q"}}, {"other", "a", 2, nil}}, used); diff != "" {
		t.Errorf("those that are named, by namespace and name (-want +got):\n%s", diff)
	}
}
