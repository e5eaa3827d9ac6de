package agree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/agree"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// recorded returns the Snapshots of the examples and of past cases of wrong answers.
func recorded(t *testing.T) map[string]*snapshot.Snapshot {
	t.Helper()
	out := map[string]*snapshot.Snapshot{}
	for _, pattern := range []string{"../../../examples/*.json", "../../cli/testdata/cases/states/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if s, err := snapshot.Decode(raw); err == nil { // the others are dumps
				out[file] = s
			}
		}
	}
	return out
}

// parts checks that explain says the same about one node, and in a list, as about the whole
// DaemonSet.
func parts(st *daemonset.State, e *explain.Explanation) error {
	look := plan.Look(st)
	for _, o := range []explain.Options{{Brief: true}, {Nodes: []string{e.Nodes[0].Name}}} {
		o.Outlook = look
		part := explain.Explain(st, o)
		diff := cmp.Diff([]any{e.Verdict, e.Problems, e.Remedies}, []any{part.Verdict, part.Problems, part.Remedies})
		if diff != "" {
			return fmt.Errorf("%+v (-explain +its part):\n%s", o.Nodes, diff)
		}
	}
	return nil
}

// TestOneList checks that explain, also for one node and in a list, and plan-rollout offer the same
// remedies for a State, and agree about what pods fail on and whose fault it is. TestAnswersAgree
// in internal/view checks this for stories.
func TestOneList(t *testing.T) {
	met, offered, worths, who := 0, 0, map[remedy.Worth]int{}, map[cause.Who]int{}
	check := func(name string, s *snapshot.Snapshot, timed bool) {
		st, err := daemonset.StateOf(s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e, p := explain.Explain(st, explain.Options{Outlook: plan.Look(st)}), plan.Make(st, plan.Options{})
		n, err := agree.Problems(e, p)
		if err == nil {
			err = parts(st, e)
		}
		if err == nil && timed {
			err = agree.Times(st)
		}
		if diff := cmp.Diff(e.Remedies, p.Outcome.Remedies); err == nil && diff != "" {
			err = fmt.Errorf("remedies (-explain +plan-rollout):\n%s", diff)
		}
		if met += n; err != nil {
			t.Errorf("%s: %v\n%s", name, err, dstest.Describe(s))
		}
		for _, r := range e.Remedies {
			offered++
			worths[r.Worth]++
		}
		for _, p := range p.Outcome.Problems {
			if p.Blame != nil {
				who[p.Blame.Who]++
			}
		}
	}
	for name, s := range recorded(t) {
		check(name, s, true)
	}
	for seed := range cases.Of(int64(50)) {
		check(fmt.Sprint("broken ", seed), dstest.RandomBroken(seed), seed%10 == 0)
		check(fmt.Sprint("blame ", seed), dstest.RandomBlame(seed), seed%10 == 0)
	}
	if met < cases.Least(120) || offered < cases.Least(130) || len(who) < cases.Least(11) {
		t.Errorf("only %d problems of plans, and %d remedies; who is at fault: %v", met, offered, who)
	}
	for _, worth := range remedy.Worths {
		if worths[worth] < cases.Least(1) {
			t.Errorf("only %d remedies are %s", worths[worth], worth)
		}
	}
}

// TestApart checks that the exceptions in Apart are still needed.
func TestApart(t *testing.T) {
	apart := map[daemonset.Reason]int{}
	for seed := range cases.Of(int64(100)) {
		st, err := daemonset.StateOf(dstest.RandomOpenShift(seed))
		if err != nil {
			t.Fatal(err)
		}
		e, p := explain.Explain(st, explain.Options{}), plan.Make(st, plan.Options{})
		for _, of := range p.Outcome.Problems {
			x := e.Has(of.Code)
			if x == nil || x.Blame == nil || of.Blame == nil || !slices.Contains(agree.Apart, of.Code) {
				continue
			}
			if x.Blame.Who != of.Blame.Who {
				apart[of.Code]++
			}
		}
	}
	for _, code := range agree.Apart {
		if apart[code] < cases.Least(1) {
			t.Errorf("explain and plan-rollout agree on %s: it is no exception any more", code)
		}
	}
}
