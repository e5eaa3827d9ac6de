package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// refersTo makes the template refer to a Secret in envFrom.
func refersTo(name string) func(*appsv1.DaemonSet) {
	return func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}}
	}
}

// without adds References in which a Secret does not exist.
func without(name string) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.References = &snapshot.References{Objects: []snapshot.Referred{{Kind: snapshot.Secret, Name: name}}}
	})
}

// TestMissingReference checks how a rollout ends if its pods refer to a missing object.
func TestMissingReference(t *testing.T) {
	restart := &whatif.Change{Restart: true}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		change  *whatif.Change
		want    string
		why     string
	}{
		{"N N N", []dstest.Option{dstest.DaemonSet(refersTo("s")), without("s")}, restart, "Stalls (BudgetSpent): 1 steps, 1 replaced, 2 left, 1 worst", "the first new pod does not start, though pods of the same template run"},
		{"N N N", []dstest.Option{dstest.DaemonSet(refersTo("s")), without("other")}, restart, "Completes: 3 steps, 3 replaced, 0 left, 1 worst", "what is unknown is not missing"},
		{"N N N", []dstest.Option{dstest.DaemonSet(refersTo("s"))}, restart, "Completes: 3 steps, 3 replaced, 0 left, 1 worst", "where nobody asked, nothing is"},
		{"O O O", []dstest.Option{dstest.DaemonSet(refersTo("s")), without("s"), dstest.MaxSurge("1"), dstest.MaxUnavailable("0")}, nil, "Stalls (BudgetSpent): 1 steps, 0 replaced, 3 left, 0 worst", "a pod beside the old one takes none down"},
		{"- - -", []dstest.Option{dstest.DaemonSet(refersTo("s")), without("s")}, &whatif.Change{MinReadySeconds: new(int32(5))}, "Stalls (BudgetSpent): 0 steps, 0 replaced, 0 left, 3 worst", "every node gets its pod, and none is available"},
		{"N N N", []dstest.Option{dstest.DaemonSet(refersTo("s")), without("s")}, nil, "NothingToDo: 0 steps, 0 replaced, 0 left, 0 worst", "pods that run go on"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p, err := planOf(dstest.State(tt.grid, tt.options...), tt.change, Options{})
			if err != nil {
				t.Fatal(err)
			}
			o := p.Outcome
			o.Holders, o.FurtherHolders, o.Remedies = nil, 0, nil
			if diff := cmp.Diff(tt.want, short(&o)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

// TestCreates checks when it is worth checking whether new pods can start.
func TestCreates(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    bool
		why     string
	}{
		{"N O", nil, true, "a rollout replaces an old pod"},
		{"N -", nil, true, "a node lacks its pod"},
		{"N N", nil, false, "nothing is to be done"},
		{"N Ot", nil, false, "a pod that is terminating is followed by one only when it is gone"},
		{"N !O", nil, false, "a node that is not eligible gets none"},
		{"N O", []dstest.Option{dstest.OnDelete()}, false, "OnDelete replaces none"},
		{"N -", []dstest.Option{dstest.OnDelete()}, true, "and fills what is empty"},
		{"N -", []dstest.Option{dstest.Lacks(snapshot.Pods, snapshot.Forbidden)}, false, "nobody knows"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got := Creates(stateOf(t, dstest.State(tt.grid, tt.options...))); got != tt.want {
				t.Errorf("%s: %t", tt.grid, got)
			}
		})
	}
}

// TestLawMissingReference checks that a plan is the same whether the objects that the template refers to exist, are
// unknown or were not requested. If one is missing, no new pod becomes available.
func TestLawMissingReference(t *testing.T) {
	stalls := 0
	for seed := range cases.Of(int64(60)) {
		s := dstest.Anywhere(seed, dstest.Newest)
		refersTo("s")(s.DaemonSet)
		restart := &whatif.Change{Restart: true}
		asked := func(objects ...snapshot.Referred) *Plan {
			p, err := planOf(s.Referring(&snapshot.References{Objects: objects}, nil), restart, Options{})
			if err != nil {
				return nil
			}
			return p
		}
		unknown, there, missing := asked(), asked(snapshot.Referred{Kind: snapshot.Secret, Name: "s", Exists: true}), asked(snapshot.Referred{Kind: snapshot.Secret, Name: "s"})
		if unknown == nil {
			continue
		}
		if diff := cmp.Diff(unknown, there); diff != "" {
			t.Fatalf("seed %d (-unknown +there):\n%s", seed, diff)
		}
		if missing.Outcome.Code == Completes && missing.Replaces > 0 && missing.Outcome.Unserved() == 0 {
			t.Fatalf("seed %d: it completes\n%s", seed, dstest.Describe(s))
		}
		stalls += b2i(missing.Outcome.Code == Stalls && unknown.Outcome.Code == Completes)
	}
	if stalls < cases.Least(5) {
		t.Errorf("%d plans stall only for that: the law looks at too few", stalls)
	}
}
