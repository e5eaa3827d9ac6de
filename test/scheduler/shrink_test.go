package scheduler

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/test/scheduler/wire"
)

// TestSmallest checks that only the relevant parts remain.
func TestSmallest(t *testing.T) {
	for seed := range int64(50) {
		s := Draw(seed, 37)
		matters := func(s *State) bool {
			return slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
		}
		if !matters(s) {
			continue
		}
		small := Smallest(s, matters)
		if len(small.Pods) != 1 || len(small.PodDisruptionBudgets) != 0 || small.Pods[0].Labels != nil || len(small.Pods[0].Spec.Containers[0].Resources.Requests) > 0 {
			t.Errorf("seed %d: left is\n%v", seed, small)
		}
		if text := small.String(); strings.Count(text, "pod: ") != 1 || !strings.Contains(text, "terminating") {
			t.Errorf("seed %d: described as\n%s", seed, text)
		}
	}
}

// TestCompare checks that each kind of difference is detected.
func TestCompare(t *testing.T) {
	lacks := fit.Verdict{
		Reason: fit.NodeResourcesFit, Resolvable: true, Lacks: []fit.Lack{{Resource: corev1.ResourcePods}, {Resource: corev1.ResourceCPU}},
		Preemption: fit.Preemption{Outcome: fit.Possible, Certain: true, Victims: []fit.Victim{{Namespace: "ns", Name: "b"}, {Namespace: "ns", Name: "a", Violates: []string{"x"}}}},
	}
	real := wire.Answer{
		Plugin: "NodeResourcesFit", Reasons: []string{"Insufficient cpu", "Too many pods"}, Resolvable: true, Nominated: true,
		Victims: []wire.Victims{{Pods: []string{"ns/a", "ns/b"}, Violations: 1}},
	}
	if d := Compare(&lacks, &real, 37); d != "" {
		t.Errorf("the same differ: %s", d)
	}
	for why, change := range map[string]func(*fit.Verdict, *wire.Answer){
		"it fits":                     func(v *fit.Verdict, _ *wire.Answer) { *v = fit.Verdict{Fits: true} },
		"it cannot be read":           func(v *fit.Verdict, _ *wire.Answer) { v.Unreadable = make([]fit.Unreadable, 1) },
		"another plugin":              func(_ *fit.Verdict, a *wire.Answer) { a.Plugin = "NodePorts" },
		"a reason less":               func(v *fit.Verdict, _ *wire.Answer) { v.Lacks = v.Lacks[1:] },
		"it is not resolvable":        func(v *fit.Verdict, _ *wire.Answer) { v.Resolvable = false },
		"preemption is not possible":  func(_ *fit.Verdict, a *wire.Answer) { a.Nominated = false },
		"no victims":                  func(_ *fit.Verdict, a *wire.Answer) { a.Victims[0].Pods = nil },
		"another victim":              func(_ *fit.Verdict, a *wire.Answer) { a.Victims[0].Pods = []string{"ns/a"} },
		"another number that violate": func(_ *fit.Verdict, a *wire.Answer) { a.Victims[0].Violations = 2 },
		"uncertain, and never seen": func(v *fit.Verdict, a *wire.Answer) {
			v.Preemption.Certain = false
			a.Victims[0].Pods = []string{"ns/c"}
		},
	} {
		v, a := lacks, real
		a.Victims = slices.Clone(real.Victims)
		change(&v, &a)
		if Compare(&v, &a, 37) == "" {
			t.Errorf("%s, and nothing differs", why)
		}
	}
	v, a := lacks, real
	v.Preemption.Certain = false
	a.Victims = append([]wire.Victims{{Pods: []string{"ns/c"}}}, real.Victims...)
	if d := Compare(&v, &a, 37); d != "" || !varies(&a) || varies(&real) {
		t.Errorf("uncertain, and one of those that were seen: %s", d)
	}
}

// TestDraw checks that the state depends only on the seed, and that states of an old version have
// no newer fields.
func TestDraw(t *testing.T) {
	for seed := range int64(200) {
		s := Draw(seed, 30)
		if s.String() != Draw(seed, 30).String() {
			t.Fatalf("seed %d gives two states", seed)
		}
		for _, p := range s.Pods {
			if p.Spec.Resources != nil || len(p.Status.ContainerStatuses) > 0 {
				t.Fatalf("seed %d: v1.30 has a pod with what came later:\n%v", seed, s)
			}
		}
	}
	if q := amount(corev1.ResourceCPU, 3); q.Cmp(resource.MustParse("300m")) != 0 {
		t.Errorf("three units of CPU are %s", q.String())
	}
}
