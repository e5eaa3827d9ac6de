package scheduler

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/test/scheduler/wire"
)

const newest = "v1.37.1"

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s is no number: %v", name, err)
	}
	return n
}

// programs starts the program of each version to be tested.
func programs(t *testing.T) map[string]*Program {
	t.Helper()
	all, err := Versions()
	if err != nil {
		t.Fatal(err)
	}
	if asked := os.Getenv("SCHEDULER_VERSIONS"); asked != "" {
		all = strings.Fields(asked)
	}
	dir := os.Getenv("SCHEDULER_PROGRAMS")
	if dir == "" {
		dir = t.TempDir()
	}
	out := map[string]*Program{}
	for _, v := range all {
		path := filepath.Join(dir, v)
		if _, err := os.Stat(path); err != nil {
			if path, err = Build(v, dir); err != nil {
				t.Fatal(err)
			}
		}
		p, err := Start(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.Stop(); err != nil {
				t.Error(err)
			}
		})
		out[v] = p
	}
	return out
}

const (
	few  = 3  // orders of pods and budgets
	many = 80 // orders if the result depends on them and ours was not among the first
)

func TestFit(t *testing.T) {
	running := programs(t)
	for _, version := range slices.SortedFunc(maps.Keys(running), compareVersions) {
		t.Run(version, func(t *testing.T) {
			states, minor := number(t, "SCHEDULER_STATES_OTHERS", 200), versionNumbers(version)[1]
			if version == newest {
				states = number(t, "SCHEDULER_STATES", 2000)
			}
			seed := int64(number(t, "SCHEDULER_SEED", 1))
			judge := judge{running[version], version, minor}
			var reached Coverage
			for i := range int64(states) {
				s := Draw(seed<<32+i, minor)
				v, real, difference, err := judge.ask(s)
				if err != nil {
					t.Fatalf("seed %d, state %d: %v", seed, i, err)
				}
				if difference != "" {
					small := Smallest(s, func(s *State) bool { _, _, d, err := judge.ask(s); return err == nil && d != "" })
					_, _, difference, err = judge.ask(small)
					t.Fatalf("seed %d, state %d: %s %v\n%v", seed, i, difference, err, small)
				}
				reached.add(s, v, real, version)
			}
			t.Log(&reached)
			if missing := reached.Missing(minor); len(missing) > 0 && states >= 2000 {
				t.Errorf("no state reached: %s", strings.Join(missing, ", "))
			}
		})
	}
}

// judge compares states with one scheduler.
type judge struct {
	*Program
	version string
	minor   int
}

// ask returns both answers and how they differ. If the result depends on the order of pods and
// budgets, it asks again with more orders.
func (j judge) ask(s *State) (*fit.Verdict, *wire.Answer, string, error) {
	v := s.verdict(j.version)
	real, err := j.Ask(s, few, 1)
	if err != nil {
		return nil, nil, "", err
	}
	difference := Compare(&v, &real, j.minor)
	if difference != "" && !v.Preemption.Certain && v.Preemption.Outcome == fit.Possible {
		if real, err = j.Ask(s, many, 2); err != nil {
			return nil, nil, "", err
		}
		difference = Compare(&v, &real, j.minor)
	}
	return &v, &real, difference, nil
}
