package redact_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/agree"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/redact"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestAnswers checks that the documents of explain, plan and history are those
// of the original with the names replaced, except for messages. LAW_CASES=250
// tries 5,000 states.
func TestAnswers(t *testing.T) {
	for i := range cases.Of(20) {
		s, err := snapshot.HideValues(hardState(int64(i)), []byte("of this test"))
		if err != nil {
			t.Fatal(err)
		}
		out, table := redact.Names([]*snapshot.Snapshot{s})
		r := read(t, out[0])
		s = read(t, s)
		m := agree.NewRenamed(table)
		node, standIn := nodeAt(s, r)
		for _, q := range questions(s) {
			a, errA := q.ask(s, node)
			b, errB := q.ask(r, standIn)
			switch {
			case (errA == nil) != (errB == nil):
				t.Fatalf("state %d, %s: %v; redacted: %v", i, q.name, errA, errB)
			case errA != nil:
				if !m.Text(errA.Error(), errB.Error()) {
					t.Fatalf("state %d, %s: error %v; redacted: %v", i, q.name, errA, errB)
				}
				continue
			}
			diff, err := m.Answers(a, b)
			if err != nil {
				t.Fatal(err)
			}
			if len(diff) > 0 {
				t.Fatalf("state %d, %s:\n%s", i, q.name, strings.Join(diff[:min(5, len(diff))], "\n"))
			}
		}
	}
}

// read returns a Snapshot after encoding and decoding it.
func read(t *testing.T, s *snapshot.Snapshot) *snapshot.Snapshot {
	t.Helper()
	raw, err := snapshot.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = snapshot.Decode(raw); err != nil {
		t.Fatal(err)
	}
	return s
}

// nodeAt returns the names of a node in the middle, in the original and
// redacted, or "" if there is none. No other name begins with it, because an
// added node gets a name derived from it, whose order among such names is not
// kept.
func nodeAt(s, redacted *snapshot.Snapshot) (string, string) {
	var alone []int
	for i, n := range s.Nodes {
		if !slices.ContainsFunc(s.Nodes, func(other corev1.Node) bool { return other.Name != n.Name && strings.HasPrefix(other.Name, n.Name) }) {
			alone = append(alone, i)
		}
	}
	if len(alone) == 0 {
		return "", ""
	}
	i := alone[len(alone)/2]
	return s.Nodes[i].Name, redacted.Nodes[i].Name
}

type question struct {
	name string
	ask  func(s *snapshot.Snapshot, node string) (any, error)
}

func questions(s *snapshot.Snapshot) []question {
	of := func(ask func(*daemonset.State, string) (any, error)) func(*snapshot.Snapshot, string) (any, error) {
		return func(s *snapshot.Snapshot, node string) (any, error) {
			st, err := daemonset.StateOf(s)
			if err != nil {
				return nil, err
			}
			return ask(st, node)
		}
	}
	planned := func(c *whatif.Change, o plan.Options) func(*snapshot.Snapshot, string) (any, error) {
		return func(s *snapshot.Snapshot, node string) (any, error) {
			if c != nil && len(c.Nodes) > 0 {
				with := *c
				with.Nodes = []whatif.NodeEdit{c.Nodes[0]}
				with.Nodes[0].Which = node
				c = &with
			}
			return world.Plan(s, c, o)
		}
	}
	number := func(n int64) *int64 { return &n }
	limit := func(n int) *intstr.IntOrString { v := intstr.FromInt(n); return &v }
	all := []question{
		{"explain", of(func(st *daemonset.State, _ string) (any, error) {
			return explain.Explain(st, explain.Options{Outlook: plan.Look(st)}), nil
		})},
		{"history", of(func(st *daemonset.State, _ string) (any, error) { return history.Make(st, history.Options{}) })},
		{"history of two revisions", of(func(st *daemonset.State, _ string) (any, error) {
			return history.Make(st, history.Options{Diff: &history.Between{From: &history.Which{Number: 1}, To: &history.Which{Live: true}}})
		})},
		{"plan", planned(nil, plan.Options{Fit: true})},
		{"plan of a restart", planned(&whatif.Change{Restart: true}, plan.Options{Fit: true})},
		{"plan of a limit", planned(&whatif.Change{MaxUnavailable: limit(3), MaxSurge: limit(0)}, plan.Options{})},
		{"plan of a rollback", planned(&whatif.Change{ToRevision: number(1)}, plan.Options{})},
	}
	if len(s.Nodes) == 0 {
		return all
	}
	all = append(all, question{"explain of a node", of(func(st *daemonset.State, node string) (any, error) {
		if st.Node(node) == nil {
			return nil, errors.New("no such node")
		}
		return explain.Explain(st, explain.Options{Nodes: []string{node}, Outlook: plan.Look(st)}), nil
	})})
	for _, kind := range []whatif.NodeChangeKind{whatif.NodeDown, whatif.NodeCordon, whatif.NodeRemove, whatif.NodeAdd} {
		all = append(all, question{fmt.Sprint("plan of a node: ", kind), planned(&whatif.Change{Restart: kind == whatif.NodeCordon, Nodes: []whatif.NodeEdit{{Kind: kind, Count: 2}}}, plan.Options{})})
	}
	return all
}
