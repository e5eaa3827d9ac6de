package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// state returns the current State of the simulation, as daemonset.New would.
func (r *simulation) state() *daemonset.State {
	st := *r.st
	st.Nodes = make([]daemonset.Node, len(r.slots))
	for i := range r.slots {
		st.Nodes[i] = r.tally.Node(int32(i))
	}
	return &st
}

func stateOf(t testing.TB, s *snapshot.Snapshot) *daemonset.State {
	t.Helper()
	st, err := daemonset.StateOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// admits reports whether a step of the model allows what the simulation did.
func admits(st *daemonset.State, step daemonset.Step, w *daemonset.Act) error {
	var creates, deletes []string
	for _, i := range w.Creates {
		creates = append(creates, st.Nodes[i].Name)
	}
	for _, d := range w.Deletes {
		deletes = append(deletes, d.Pod)
	}
	if err := fits(step.Creates, creates, func(i daemonset.Item) string { return i.Node }); err != nil {
		return fmt.Errorf("creates: %w", err)
	}
	if err := fits(step.Deletes, deletes, func(i daemonset.Item) string { return i.Pod }); err != nil {
		return fmt.Errorf("deletes: %w", err)
	}
	return nil
}

func fits(b daemonset.Batch, taken []string, name func(daemonset.Item) string) error {
	if len(taken) != b.Len() {
		return fmt.Errorf("%d taken of %d", len(taken), b.Len())
	}
	left := slices.Clone(taken)
	take := func(i daemonset.Item) bool {
		at := slices.Index(left, name(i))
		if at >= 0 {
			left = slices.Delete(left, at, at+1)
		}
		return at >= 0
	}
	for _, i := range b.Certain {
		if !take(i) {
			return fmt.Errorf("%+v is certain, and not taken", i)
		}
	}
	for _, c := range b.Choices {
		got := 0
		for _, i := range c.From {
			got += b2i(take(i))
		}
		if got != c.Count {
			return fmt.Errorf("%d of a choice of %d (%s)", got, c.Count, c.Reason)
		}
	}
	return nil
}

// TestSimulationIsTheModel checks for random states and all sets of rules that every sync of a simulation, to its end,
// does what the model does in the same state.
func TestSimulationIsTheModel(t *testing.T) {
	const states = 20
	ended := map[string]int{}
	for _, version := range []string{"v1.37.1", "v1.30.5", "v1.28.2", "v1.22.17", "v1.19.16"} {
		for seed := range cases.Of(int64(states)) {
			s := dstest.Anywhere(seed, version)
			st, err := daemonset.StateOf(s)
			if err != nil {
				t.Fatal(err)
			}
			if step := st.Sync(); step.Reason == daemonset.StepSelectsAll || step.Reason == daemonset.StepBeingDeleted || !st.PodsRead {
				continue
			}
			a := assume(st)
			r := newSimulation(&buffers{}, newInitialState(st, a.nodes, false), st, &pace{starts: timing.InTurn{Times: timing.Exact([]float64{2, 3, 5})}, ends: timing.InTurn{Times: timing.Exact([]float64{4})}, minReady: float64(st.DaemonSet.Spec.MinReadySeconds), rate: 20, burst: 30})
			syncs := 0
			for ; syncs < 2000; syncs++ {
				r.due()
				now := r.state()
				step := now.Sync()
				acted := r.sync()
				if a.refusal != nil {
					break // the model does not know that creates are rejected
				}
				if err := admits(now, step, r.last); err != nil {
					t.Fatalf("version %s, seed %d, sync %d, a %s step: %v", version, seed, syncs, step.Kind, err)
				}
				if !acted && !r.wait() {
					break
				}
			}
			if syncs == 2000 && st.NewPod() != daemonset.NotUpdated && st.History.Hash != "" {
				t.Fatalf("version %s, seed %d: no end after %d syncs", version, seed, syncs)
			}
			ended[version]++
		}
	}
	t.Log(ended)
}

func TestTimers(t *testing.T) {
	var q timers
	for _, e := range []event{{3, 1, podGone, ""}, {1, 2, podGone, ""}, {1, 1, podReady, ""}, {2, 0, podAvailable, ""}} {
		q.add(e)
	}
	var got []string
	for len(q) > 0 {
		e := q.pop()
		got = append(got, fmt.Sprintf("%g:%d", e.at, e.node))
	}
	if diff := cmp.Diff("1:1 1:2 2:0 3:1", strings.Join(got, " ")); diff != "" {
		t.Error(diff)
	}
}

func TestRequests(t *testing.T) {
	for _, tt := range []struct {
		at   []float64
		want []float64
		why  string
	}{
		{[]float64{0, 0, 0}, []float64{0, 0, 0}, "the burst goes out at once"},
		{[]float64{0, 0, 0, 0, 0}, []float64{0, 0, 0, .5, 1}, "beyond it, two a second"},
		{[]float64{0, 0, 0, 1, 1, 1}, []float64{0, 0, 0, 1, 1, 1.5}, "a second of quiet gives two back"},
		{[]float64{0, 0, 0, 100, 100, 100, 100}, []float64{0, 0, 0, 100, 100, 100, 100.5}, "never more than the burst"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			r := newRequests(2, 3)
			var got []float64
			for _, at := range tt.at {
				got = append(got, r.send(at))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// BenchmarkRollout prints the cost of a whole rollout, and its ratio to the cost of the previous size. From 5,000 to
// 15,000 nodes it should be at most 3.6.
func BenchmarkRollout(b *testing.B) {
	for _, limit := range []string{"1", "10%"} {
		var before float64
		var size int
		for _, nodes := range []int{1000, 5000, 15000, 100000} {
			s := dstest.State(fmt.Sprintf("O*%d", nodes), dstest.MaxUnavailable(limit))
			st := stateOf(b, s)
			a := assume(st)
			b.Run(fmt.Sprintf("maxUnavailable=%s/nodes=%d", limit, nodes), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r := simulate(&buffers{}, newInitialState(st, a.nodes, false), st, &pace{starts: timing.InTurn{Times: timing.Exact([]float64{10, 11, 12, 15})}, ends: timing.InTurn{Times: timing.Exact([]float64{5})}, rate: 20, burst: 30})
					if r.tally.Old() != 0 || r.tally.Counts().Available != nodes {
						b.Fatalf("ended with %+v", r.tally.Counts())
					}
				}
				per := b.Elapsed().Seconds() / float64(b.N)
				if before > 0 {
					b.ReportMetric(per/before, fmt.Sprintf("x-of-%d", size))
				}
				before, size = per, nodes
			})
		}
	}
}
