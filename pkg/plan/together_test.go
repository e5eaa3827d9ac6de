package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// TestTogether checks how many pods of one node the rollouts of several DaemonSets take down at the same time. Each grid
// is one DaemonSet on the nodes n0, n1, …, which is restarted.
func TestTogether(t *testing.T) {
	surge := dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
		zero, one := intstr.FromInt32(0), intstr.FromInt32(1)
		ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &zero, MaxSurge: &one}
	})
	type ds struct {
		grid    string
		options []dstest.Option
	}
	for _, tt := range []struct {
		all        []ds
		node       string
		most, pods int
		inSequence bool
		why        string
	}{
		{[]ds{{"N N", nil}, {"N N", nil}}, "n0", 2, 2, true, "each DaemonSet may take its pod down"},
		{[]ds{{"N N", nil}, {"- N", nil}}, "n1", 2, 2, true, "only n1 has two pods"},
		{[]ds{{"N N", nil}, {"N N", []dstest.Option{surge}}}, "n0", 1, 2, true, "a surge takes no pod down"},
		{[]ds{{"N N", nil}, {"N N", []dstest.Option{dstest.OnDelete()}}}, "n0", 1, 2, true, "nor does OnDelete"},
		{[]ds{{"N N", []dstest.Option{dstest.OnDelete()}}}, "", 0, 0, false, "no rollout replaces anything"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var plans []*Plan
			var footprints []Footprint
			for _, d := range tt.all {
				r, err := whatif.Make(stateOf(t, dstest.State(d.grid, d.options...)), &whatif.Change{Restart: true})
				if err != nil {
					t.Fatal(err)
				}
				p := MakeChanged(r, Options{Starts: []time.Duration{10 * time.Second}})
				plans, footprints = append(plans, p), append(footprints, FootprintOf(r.State, p))
			}
			got := TogetherOf(plans, footprints)
			if (got.OneAfterAnother != nil) != tt.inSequence {
				t.Errorf("one after another: %v", got.OneAfterAnother)
			}
			var sum Duration
			for _, p := range plans {
				if d := p.Outcome.Duration; d != nil {
					sum.Optimistic, sum.Expected = sum.Optimistic+d.Optimistic, sum.Expected+d.Expected
					sum.Pessimistic += d.Pessimistic
				}
			}
			if tt.inSequence && *got.OneAfterAnother != sum {
				t.Errorf("one after another: %v, want %v", *got.OneAfterAnother, sum)
			}
			got.OneAfterAnother = nil
			if diff := cmp.Diff(&Together{Node: tt.node, PerNodeAtMost: tt.most, Pods: tt.pods}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
