package oracle

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestSync compares one sync of the real controllers with the model on random states from seed
// ORACLE_SEED on: ORACLE_STATES of the newest version and ORACLE_STATES_OTHERS of each other. For a
// state that differs, it prints the command that repeats it.
func TestSync(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		first, states := number(t, "ORACLE_SEED", 1), perVersion(t, version, "ORACLE_STATES", 2000, 500)
		var lock sync.Mutex
		differ := 0
		each(start(t, version, 2), states, func(p *Program, i int) {
			seed := first + int64(i)
			s := dstest.RandomFor(seed, version)
			lines, err := judge(p, s, seed)
			if err != nil {
				t.Errorf("seed %d: %v\n%s", seed, err, again(version, seed))
				return
			}
			if len(lines) == 0 {
				return
			}
			lock.Lock()
			defer lock.Unlock()
			if differ++; differ > 5 {
				return
			}
			t.Errorf("seed %d differs:\n    %s\n%s", seed, strings.Join(lines, "\n    "), again(version, seed))
			d, err := Smallest(s, func(s *snapshot.Snapshot) ([]string, error) { return compared(p, s, seed) }, 2000)
			if err != nil {
				t.Error(err)
				return
			}
			t.Logf("smallest:\n    %s\n%sfor TestNamed:\n%s", strings.Join(d.Lines, "\n    "), dstest.Describe(d.State), d.Row)
		})
		results.add(version, "states", states)
		results.add(version, "differences", differ)
	})
	if number(t, "ORACLE_STATES", 2000) < 2000 {
		return
	}
	for _, missing := range coverage.Missing() {
		t.Error(missing)
	}
}

// again returns the command that repeats one state.
func again(version string, seed int64) string {
	return fmt.Sprintf("again: cd test/oracle && ORACLE_VERSIONS=%s ORACLE_SEED=%d ORACLE_STATES=1 ORACLE_STATES_OTHERS=1 go test -count=1 -run TestSync .", version, seed)
}

// TestExamples compares one sync of every example. All are from the newest version.
func TestExamples(t *testing.T) {
	p := start(t, dstest.Newest, 1)[0]
	for _, e := range examples(t, "../../examples") {
		t.Run(e.name, func(t *testing.T) {
			if e.KubernetesVersion != dstest.Newest {
				t.Fatalf("recorded from %s, not %s: record it anew with make examples", e.KubernetesVersion, dstest.Newest)
			}
			lines, err := judge(p, e.Snapshot, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(lines) > 0 {
				t.Errorf("differs:\n    %s\n%s", strings.Join(lines, "\n    "), dstest.Describe(e.Snapshot))
			}
		})
	}
}

// judge compares one state and counts it.
func judge(p *Program, s *snapshot.Snapshot, seed int64) ([]string, error) {
	st, err := newState(s)
	if err != nil {
		return nil, err
	}
	if err := coverage.Add(s, st, st.Sync()); err != nil {
		return nil, err
	}
	return compared(p, s, seed)
}

// compared compares one state over several syncs, each on a new controller, and over many if the
// model says that the controller picks at random from a few.
func compared(p *Program, s *snapshot.Snapshot, seed int64) ([]string, error) {
	const few, many, most = 6, 60, 1200
	st, err := newState(s)
	if err != nil {
		return nil, err
	}
	step := st.Sync()
	small := smallChoices(step)
	runs := few
	if small {
		runs = many
		results.add(s.KubernetesVersion, "choices run 60 times", 1)
	}
	a, err := p.Ask(s, runs, seed, 0)
	if err != nil {
		return nil, err
	}
	results.add(s.KubernetesVersion, "syncs", len(a.Runs))
	lines := Compare(st, a)
	// Random is not uniform: what 60 runs do not take may be taken by the next 600.
	for small && len(lines) == 0 && len(a.Runs) < most && len(Loose(step, a.Runs)) > 0 {
		more, err := p.Ask(s, 5*many, seed+int64(len(a.Runs)), 0)
		if err != nil {
			return nil, err
		}
		results.add(s.KubernetesVersion, "syncs", len(more.Runs))
		lines = Compare(st, more)
		a.Runs = append(a.Runs, more.Runs...)
	}
	lines = append(lines, Loose(step, a.Runs)...)
	if step.Creates.Deferred+step.Deletes.Deferred > 0 {
		unlimited, err := p.Ask(s, 1, seed, 1<<20)
		if err != nil {
			return nil, err
		}
		lines = append(lines, Deferred(step, &unlimited.Runs[0])...)
	}
	return lines, nil
}
