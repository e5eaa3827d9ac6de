package plan

import (
	"fmt"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
)

// TestRoom checks how a rollout continues if quotas leave room for a number of new pods. Old pods are gone in 4 s, and
// new pods are ready in 3 s.
func TestRoom(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		free    int64 // amount that is free
		cost    int64 // amount of a new pod
		old     int64 // amount of an old pod
		want    string
		why     string
	}{
		{"- - -", nil, 5, 1, 1, "3 of 3 available", "a new DaemonSet has room"},
		{"- - -", nil, 2, 1, 1, "2 of 3 available, stalls: FailedCreate", "the quota takes two of three pods"},
		{"- - -", nil, 0, 1, 1, "0 of 3 available, stalls: FailedCreate", "the quota is used up"},
		{"O O O", nil, 0, 1, 1, "3 of 3 available", "each old pod gives its place to the new one, once it is gone"},
		{"O O O", nil, 0, 2, 1, "2 of 3 available, stalls: FailedCreate", "an old pod counts for less than a new one: the first deleted one is not replaced"},
		{"O O O", []dstest.Option{dstest.MaxUnavailable("2")}, 0, 2, 1, "2 of 3 available, stalls: FailedCreate", "two old ones make room for one new pod, and no other goes before both have a new one"},
		{"O O O", nil, 0, 1, 2, "3 of 3 available", "an old pod counts for more"},
		{"O O O", []dstest.Option{dstest.MaxSurge("1")}, 0, 1, 1, "3 of 3 available, stalls: FailedCreate", "a surge has no room, and every old pod stays"},
		{"O O O", []dstest.Option{dstest.MaxSurge("2")}, 1, 1, 1, "3 of 3 available", "room for one pod beside the old one is enough"},
		{"O O -", nil, 0, 1, 1, "2 of 3 available, stalls: FailedCreate", "a missing pod is refused, and no old one is replaced before it is there"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			st := stateOf(t, dstest.State(tt.grid, tt.options...))
			a := assume(st)
			r := &room{free: []int64{tt.free}, cost: []int64{tt.cost}, held: map[string][]int64{}}
			for _, p := range st.Snapshot.Pods {
				r.held[p.Name] = []int64{tt.old}
			}
			sc := &scenario{st: st, a: a, m: timing.Measure(st, timing.Given{}), buffers: &buffers{}}
			s := simulate(&buffers{}, newInitialState(st, a.nodes, false), st, &pace{starts: timing.InTurn{Times: timing.Exact([]float64{3})}, ends: timing.InTurn{Times: timing.Exact([]float64{4})}, rate: 20, burst: 30, room: r})
			o := sc.outcome(s)
			counts := s.tally.Counts()
			got := fmt.Sprintf("%d of %d available", counts.Available, counts.Desired)
			if o.Code == Stalls {
				got += ", stalls: " + string(o.Reason)
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if r.free[0] != tt.free {
				t.Errorf("the room of the plan was used up by one simulation")
			}
		})
	}
}
