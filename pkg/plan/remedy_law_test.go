package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// brokenState returns a state of a rollout that something breaks, or one of those in which more is
// wrong at the same time.
func brokenState(seed int64) *snapshot.Snapshot {
	if seed%4 == 3 {
		return dstest.RandomBlame(seed)
	}
	return dstest.RandomBroken(seed)
}

// TestEffectIsThatOfItsPlan is a law: the Effect of a remedy that is a change is what the plan of
// that change says.
func TestEffectIsThatOfItsPlan(t *testing.T) {
	compared, timed := map[remedy.Code]int{}, 0
	for seed := range cases.Of(int64(1500)) {
		s := brokenState(seed)
		st := stateOf(t, s)
		if len(st.Nodes) > 40 {
			continue
		}
		for _, r := range Look(st).Remedies {
			change := changeFor(t, &r)
			if change == nil || r.Code == remedy.RepairNodes {
				continue
			}
			after, err := planOf(s, change, Options{})
			if err != nil {
				t.Fatalf("seed %d, %v: %v", seed, r, err)
			}
			compared[r.Code]++
			said, is := r.Effect, effectOf(after)
			timed += b2i(is.Duration != nil)
			said.Unknown, said.Loses, said.Replaces, said.Available = nil, nil, 0, 0
			if diff := cmp.Diff(said, is); diff != "" {
				t.Errorf("seed %d, %s %s, %s (-said +planned):\n%s", seed, r.Code, r.Value, r.Worth, diff)
			}
		}
	}
	few := compared[remedy.RollBack] < cases.Least(800) || compared[remedy.RaiseMaxUnavailable] < cases.Least(50)
	if few || compared[remedy.RemoveNode] < cases.Least(40) || timed < cases.Least(300) {
		t.Errorf("only %v compared, %d of them with a time", compared, timed)
	}
}

// effectOf is what a plan says of what a remedy's Effect says.
func effectOf(p *Plan) remedy.Effect {
	left, end := append([]string{}, Nodes(p.Outcome.Holders)...), p.end()
	return remedy.Effect{
		Left: left, Worst: p.Outcome.Worst, Updated: end.Updated, Desired: end.Desired, Duration: p.Outcome.Duration,
	}
}
