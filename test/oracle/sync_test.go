package oracle

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestSync compares one sync of the real controller of 1.37 with the model, on
// ORACLE_STATES random states, from seed ORACLE_SEED on. One state again:
//
//	ORACLE_SEED=17 ORACLE_STATES=1 go test -run TestSync -v .
func TestSync(t *testing.T) {
	first, states := number(t, "ORACLE_SEED", 1), int(number(t, "ORACLE_STATES", 10000))
	const runs = 6
	programs := start(t, 2)
	var reached tally
	var lock sync.Mutex
	differ := 0
	each(programs, states, func(p *Program, i int) {
		seed := first + int64(i)
		s := dstest.Random(seed)
		lines, err := judge(p, s, runs, seed, &reached)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			return
		}
		if len(lines) == 0 {
			return
		}
		lock.Lock()
		defer lock.Unlock()
		if differ++; differ <= 10 {
			t.Errorf("seed %d differs:\n    %s\n%s", seed, strings.Join(lines, "\n    "), dstest.Describe(s))
		}
	})
	t.Logf("%d states of %s from seed %d, %d runs each: %d differ", states, dstest.Newest, first, runs, differ)
	t.Logf("states that reached: %s", &reached)
	if states < 10000 {
		return
	}
	for _, what := range mustReach {
		if reached.of[what] == 0 {
			t.Errorf("no state reached: %s", what)
		}
	}
}

// TestExamples compares one sync of every example. All are of the newest version.
func TestExamples(t *testing.T) {
	p := start(t, 1)[0]
	for _, e := range examples(t, "../../examples") {
		t.Run(e.name, func(t *testing.T) {
			if !strings.HasPrefix(e.KubernetesVersion, newest+".") {
				t.Fatalf("recorded from %s, not %s: record it anew with make examples", e.KubernetesVersion, newest)
			}
			var reached tally
			lines, err := judge(p, e.Snapshot, 60, 1, &reached)
			if err != nil {
				t.Fatal(err)
			}
			if len(lines) > 0 {
				t.Errorf("differs:\n    %s\n%s", strings.Join(lines, "\n    "), dstest.Describe(e.Snapshot))
			}
			t.Logf("reached: %s", &reached)
		})
	}
}

// judge compares one state.
func judge(p *Program, s *snapshot.Snapshot, runs int, seed int64, reached *tally) ([]string, error) {
	st, err := newState(s)
	if err != nil {
		return nil, err
	}
	a, err := p.Ask(s, runs, seed, 0)
	if err != nil {
		return nil, err
	}
	step := st.Sync()
	for what := range reaches(st, step) {
		reached.add(what, 1)
	}
	lines := Compare(st, a)
	if step.Creates.Deferred+step.Deletes.Deferred > 0 {
		unlimited, err := p.Ask(s, 1, seed, 1<<20)
		if err != nil {
			return nil, err
		}
		lines = append(lines, Deferred(step, &unlimited.Runs[0])...)
	}
	return lines, nil
}

// mustReach is what a generator that is worth its name reaches. The states
// that a single sync cannot be in, or only with objects that the API refuses,
// are not in it.
var mustReach = []string{
	"step Manage Placement", "step RollingUpdate Replacing",
	"step None UpToDate", "step None BudgetSpent", "step None Waiting", "step None OnDelete", "step None BeingDeleted", "step None StepFails",
	"create Missing", "create Surge", "create Forced", "create any Surge", "create any Missing", "create deferred",
	"delete Forced", "delete Budget", "delete any Budget", "delete NoLongerEligible", "delete Superseded", "delete Sunset", "delete any Sunset", "delete Duplicate",
	"delete FailedPod", "delete any FailedPod", "delete SucceededPod", "delete NodeMissing", "delete any NodeMissing", "delete any Burst", "delete any Forced", "delete deferred",
	"slot Empty", "slot OnlyTerminating", "slot OldAvailable", "slot OldUnavailable", "slot NewAvailable", "slot NewUnavailable", "slot Both", "slot Excess",
	"revision Duplicate", "revision CleanUp", "several current", "cut", "merged", "adopt revision", "release revision", "relabel", "rollback",
	"adopt pod", "release pod", "foreign pod", "pod without target node", "terminal and terminating", "updated by Hash", "updated by Generation",
	"budget partly used", "budget fallback", "budget Unavailable", "budget Surge", "budget None", "percentage", "not yet available", "vanished node",
}

// reaches names what a state shows.
func reaches(st *daemonset.State, step daemonset.Step) map[string]bool {
	out := map[string]bool{
		fmt.Sprintf("step %s %s", step.Kind, step.Reason): true,
		"budget " + string(st.Budget.Kind):                true,
	}
	note := func(what string, holds bool) {
		if holds {
			out[what] = true
		}
	}
	batch := func(what string, b daemonset.Batch) {
		for _, i := range b.Certain {
			out[what+" "+string(i.Reason)] = true
		}
		for _, c := range b.Choices {
			out[what+" any "+string(c.Reason)] = true
		}
		note(what+" deferred", b.Deferred > 0)
	}
	batch("create", step.Creates)
	batch("delete", step.Deletes)
	for _, n := range st.Nodes {
		out["slot "+string(n.Slot)] = true
		note("vanished node", !n.Exists)
		for _, p := range n.Pods {
			note("updated by "+string(p.UpdatedBy), p.Updated)
			note("not yet available", p.Available.Reason == daemonset.NotYetAvailable)
		}
		note("terminal and terminating", slices.ContainsFunc(n.Ignored, func(p daemonset.Pod) bool { return p.Ignored == daemonset.TerminalTerminating }))
	}
	for _, r := range step.Revisions.Remove {
		out["revision "+string(r.Reason)] = true
	}
	h := st.History
	note("several current", len(h.Current) > 1)
	note("cut", h.Cut)
	note("merged", h.Merged)
	note("rollback", slices.ContainsFunc(h.Revisions, func(r daemonset.Revision) bool { return r.Matches && r.Number < h.Number }))
	note("adopt revision", len(step.Revisions.Adopt) > 0)
	note("release revision", len(step.Revisions.Release) > 0)
	note("relabel", len(step.Revisions.Relabel) > 0)
	note("adopt pod", len(step.Pods.Adopt) > 0)
	note("release pod", len(step.Pods.Release) > 0)
	note("foreign pod", len(st.Foreign) > 0)
	note("pod without target node", slices.ContainsFunc(st.Unmapped, func(p daemonset.Pod) bool { return p.Ignored == daemonset.NoTargetNode }))
	note("budget partly used", 0 < st.Used() && st.Used() < st.Limit())
	note("budget fallback", st.Budget.Fallback)
	note("percentage", st.Budget.Scaled != "")
	return out
}
