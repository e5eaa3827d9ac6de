package oracle

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestTraces follows ORACLE_TRACES rollouts with a real controller, from seed ORACLE_SEED on, from
// a random state to their end, and compares every sync with the model. To repeat one:
//
//	ORACLE_VERSIONS=v1.30.14 ORACLE_SEED=17 ORACLE_TRACES=1 go test -run TestTraces -v .
//
// The controller picks pods at random, so a difference may not appear in every run.
func TestTraces(t *testing.T) {
	first := number(t, "ORACLE_SEED", 1)
	eachVersion(t, func(t *testing.T, version string) {
		traces(t, version, first, perVersion(t, version, "ORACLE_TRACES", 60, 20))
	})
}

func traces(t *testing.T, version string, first int64, count int) {
	profile, err := daemonset.ForVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	counts := &tally{}
	var lock sync.Mutex
	differ := 0
	each(start(t, version, 2), count, func(p *Program, i int) {
		seed := first + int64(i)
		s := dstest.RandomFor(seed, version)
		if !begins(s, profile) {
			counts.add("not begun", 1)
			return
		}
		tr, end, lines, err := rollout(p, profile, s, seed, counts)
		if err != nil {
			t.Errorf("%s, seed %d: %v", version, seed, err)
			return
		}
		counts.add("rollouts", 1)
		if len(lines) == 0 {
			counts.add("end: "+string(end), 1)
			return
		}
		lock.Lock()
		defer lock.Unlock()
		if differ++; differ <= 5 {
			t.Errorf("%s, seed %d, sync %d differs:\n    %s\n%s\nuntil then:\n%s\nagain: ORACLE_VERSIONS=%s ORACLE_SEED=%d ORACLE_TRACES=1 go test -run TestTraces -v .",
				version, seed, tr.syncs, strings.Join(lines, "\n    "), dstest.Describe(tr.state), strings.Join(tr.story[max(0, len(tr.story)-30):], "\n"), version, seed)
		}
	})
	t.Logf("%s from seed %d: %d differ; %s", version, first, differ, counts)
	results.add(version, "rollouts", counts.of["rollouts"])
	results.add(version, "their syncs", counts.of["syncs"])
	results.add(version, "differences", differ)
	if count < 300 {
		return
	}
	for _, what := range mustHappen() {
		if counts.of[what] == 0 {
			t.Errorf("no trace saw: %s", what)
		}
	}
}

// rollout follows one rollout. It starts over if the machine was too busy.
func rollout(p *Program, profile daemonset.Profile, s *snapshot.Snapshot, seed int64, counts *tally) (tr *trace, end ending, lines []string, err error) {
	for range 5 {
		tr = &trace{program: p, profile: profile, world: newCluster(s, newScript(seed)), counts: counts, failedOn: map[string]bool{}}
		if end, lines, err = tr.follow(); !errors.Is(err, errTooSlow) {
			break
		}
		counts.add("begun again", 1)
	}
	return tr, end, lines, err
}

// mustHappen lists what a few hundred traces include.
func mustHappen() []string {
	what := []string{
		"end: rolled out", "end: OnDelete", "end: stuck", "waits for a backoff", "syncs before the watch told",
		"syncs that created", "syncs that deleted", "syncs that changed revisions", "syncs that wrote the status",
		"syncs that saw a pod not yet available",
	}
	for _, k := range changeKinds {
		what = append(what, fmt.Sprint("change: ", k))
	}
	return what
}
