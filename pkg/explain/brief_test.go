package explain_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestBrief checks that a brief Explanation lacks only its nodes and pods, and
// keeps neither the State nor its pods and nodes alive.
func TestBrief(t *testing.T) {
	for seed := range cases.Of(int64(60)) {
		s := []func(int64) *snapshot.Snapshot{dstest.Random, dstest.RandomTrouble, dstest.RandomCommon}[seed%3](seed)
		whole, brief, held := briefOf(t, s)
		whole.Nodes, whole.Unmapped = []explain.Node{}, []explain.Pod{}
		if diff := cmp.Diff(whole, brief); diff != "" {
			t.Fatalf("seed %d: (-whole +brief):\n%s", seed, diff)
		}
		whole, s = nil, nil
		runtime.GC()
		runtime.GC()
		for what, is := range held {
			if is() {
				t.Errorf("seed %d: it holds %s", seed, what)
			}
		}
		runtime.KeepAlive(brief)
	}
}

func briefOf(t *testing.T, s *snapshot.Snapshot) (whole, brief *explain.Explanation, held map[string]func() bool) {
	t.Helper()
	st, err := daemonset.StateOf(s)
	if err != nil {
		t.Fatal(err)
	}
	whole = explain.Explain(st, explain.Options{Outlook: plan.Look(st)})
	brief = explain.Explain(st, explain.Options{Outlook: plan.Look(st), Brief: true})
	held = map[string]func() bool{"the State": holds(st), "the DaemonSet": holds(st.DaemonSet)}
	if len(st.Nodes) > 0 {
		held["the State's nodes"] = holds(&st.Nodes[0])
	}
	if len(s.Nodes) > 0 {
		held["the nodes"] = holds(&s.Nodes[0])
	}
	if len(s.Pods) > 0 {
		held["the pods"] = holds(&s.Pods[0])
	}
	return whole, brief, held
}

// holds returns a function that reports whether part is still reachable.
func holds[T any](part *T) func() bool {
	w := weak.Make(part)
	return func() bool { return w.Value() != nil }
}
