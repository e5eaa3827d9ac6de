package daemonset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// whys names the subtest of each row by the reason for the row. It fails for
// rows without a reason, and for a reason that occurs twice.
type whys map[string]bool

func (w whys) run(t *testing.T, why string, test func(t *testing.T)) {
	t.Helper()
	if why == "" || w[why] {
		t.Fatalf("a row needs a why of its own: %q", why)
	}
	w[why] = true
	t.Run(why, test)
}

// options are the additional options of a row.
type options = []dstest.Option

// state returns the State under the rules of the snapshot's version.
func state(t *testing.T, s *snapshot.Snapshot) *State {
	t.Helper()
	profile, err := ForVersion(s.KubernetesVersion)
	if err != nil {
		t.Fatal(err)
	}
	st, err := New(s, profile)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// outcome is a Step without revisions and adoptions, in a notation for tables:
// "n0/p0 Forced; any 1 of n1/p1 n2/p2 Budget".
type outcome struct{ Step, Creates, Deletes, Waits, Error string }

func outcomeOf(s Step) outcome {
	o := outcome{Step: string(s.Kind) + " " + string(s.Reason), Creates: batchText(s.Creates), Deletes: batchText(s.Deletes)}
	var waits []string
	for _, w := range s.Waits {
		waits = append(waits, fmt.Sprintf("%s of %s, at most %ds", w.Code, strings.Join(w.Nodes, " "), w.AtMost))
	}
	o.Waits = strings.Join(waits, "; ")
	if e := s.Error; e != nil {
		o.Error = strings.TrimSpace(fmt.Sprintf("%s %s/%s %s", e.Code, e.Node, e.Pod, e.Field))
	}
	return o
}

func batchText(b Batch) string {
	var parts []string
	for _, i := range b.Certain {
		parts = append(parts, itemText(i))
	}
	for _, c := range b.Choices {
		text := fmt.Sprintf("any %d of", c.Count)
		if len(c.From) > 8 {
			text += fmt.Sprintf(" %d from %s to %s", len(c.From), itemText(c.From[0]), itemText(c.From[len(c.From)-1]))
		} else {
			for _, i := range c.From {
				text += " " + itemText(i)
			}
		}
		text += " " + string(c.Reason)
		if c.PerNode > 0 {
			text += fmt.Sprintf(", %d a node", c.PerNode)
		}
		parts = append(parts, text)
	}
	if len(b.Certain) > 8 {
		parts = append([]string{fmt.Sprintf("%d from %s to %s", len(b.Certain), parts[0], parts[len(b.Certain)-1])}, parts[len(b.Certain):]...)
	}
	if b.Deferred > 0 {
		parts = append(parts, fmt.Sprintf("%d deferred", b.Deferred))
	}
	return strings.Join(parts, "; ")
}

func itemText(i Item) string {
	text := i.Node
	if i.Pod != "" {
		text += "/" + i.Pod
	}
	if i.Reason != "" {
		text += " " + string(i.Reason)
	}
	return text
}

// checkSync compares the sync of a grid with the outcome of its row.
func checkSync(t *testing.T, grid string, opts options, want outcome) {
	t.Helper()
	got := outcomeOf(state(t, dstest.State(grid, opts...)).Sync())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%q (-want +got):\n%s", grid, diff)
	}
}
