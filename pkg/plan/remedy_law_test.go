package plan

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// brokenState returns a random state in which something breaks a rollout, or several things do at the same time.
func brokenState(seed int64) *snapshot.Snapshot {
	if seed%4 == 3 {
		return dstest.RandomBlame(seed)
	}
	return dstest.RandomBroken(seed)
}

// TestEffectIsThatOfItsPlan is a law: the Effect of a remedy that is a change agrees with the plan of that change.
func TestEffectIsThatOfItsPlan(t *testing.T) {
	compared, timed := map[remedy.Code]int{}, 0
	for seed := range cases.Of(int64(100)) {
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
	few := compared[remedy.RollBack] < cases.Least(50) || compared[remedy.RaiseMaxUnavailable] < cases.Least(3)
	if few || compared[remedy.RemoveNode] < cases.Least(2) || timed < cases.Least(20) {
		t.Errorf("only %v compared, %d of them with a time", compared, timed)
	}
}

// effectOf returns the Effect that a plan implies.
func effectOf(p *Plan) remedy.Effect {
	left, end := append([]string{}, Nodes(p.Outcome.Holders)...), p.end()
	return remedy.Effect{
		Left: left, Worst: p.Outcome.Worst, Updated: end.Updated, Desired: end.Desired, Duration: p.Outcome.Duration,
	}
}

// lesser are ways to remove input.
var lesser = map[string]func(*snapshot.Snapshot) (any, *snapshot.Snapshot){
	"otherPods": func(s *snapshot.Snapshot) (any, *snapshot.Snapshot) { return s.OtherPods, s.Holding(nil, nil) },
	"admission": func(s *snapshot.Snapshot) (any, *snapshot.Snapshot) { return s.Admission, s.Admitting(nil, nil) },
	"references": func(s *snapshot.Snapshot) (any, *snapshot.Snapshot) {
		return s.References, s.Referring(nil, nil)
	},
	"volumes": func(s *snapshot.Snapshot) (any, *snapshot.Snapshot) { return s.Volumes, s.Reaching(nil, nil) },
	"events": func(s *snapshot.Snapshot) (any, *snapshot.Snapshot) {
		c := *s
		c.Events = nil
		c.Gaps = append(slices.Clone(s.Gaps), snapshot.Gap{What: snapshot.Events, Why: snapshot.Forbidden})
		return s.Events, &c
	},
}

// TestMoreInputHarmsNobody is a law: no remedy helps with the available input and harms with more input. The exceptions
// are events of rejected or evicted pods, and rules of the API server that reject pods, because the pods that a remedy
// makes possible are then rejected or evicted as well.
func TestMoreInputHarmsNobody(t *testing.T) {
	compared, exceptions := map[string]int{}, 0
	for seed := range cases.Of(int64(100)) {
		s := brokenState(seed)
		if len(s.Nodes) > 40 {
			continue
		}
		more := Look(stateOf(t, s)).Remedies
		for _, name := range slices.Sorted(maps.Keys(lesser)) {
			part, without := lesser[name](s)
			if reflect.ValueOf(part).IsZero() {
				continue
			}
			for _, less := range remedy.Offered(Look(stateOf(t, without)).Remedies) {
				compared[name]++
				harms := slices.ContainsFunc(more, func(r remedy.Remedy) bool {
					return r.Code == less.Code && r.Value == less.Value && r.Worth == remedy.Harms
				})
				switch {
				case harms && (name == "events" && tellsOfRefusal(s) || name == "admission" && rejects(t, s)):
					exceptions++
				case harms:
					t.Errorf("seed %d: %s %s harms with the %s alone\n%s", seed, less.Code, less.Value, name, dstest.Describe(s))
				}
			}
		}
	}
	for name := range lesser {
		if compared[name] < cases.Least(25) {
			t.Errorf("only %d remedies without the %s", compared[name], name)
		}
	}
	if exceptions < cases.Rare(1) {
		t.Error("there is no exception any more")
	}
}

// rejects reports whether the API server rejects the next pod.
func rejects(t *testing.T, s *snapshot.Snapshot) bool {
	return cause.Find(stateOf(t, s)).Refusal() != nil
}

// tellsOfRefusal reports whether there are events about rejected or evicted pods.
func tellsOfRefusal(s *snapshot.Snapshot) bool {
	return slices.ContainsFunc(s.Events, func(e corev1.Event) bool {
		return e.Reason == "FailedCreate" || e.Reason == "FailedDaemonPod"
	})
}
