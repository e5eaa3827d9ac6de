package world

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// OfPair returns a Snapshot in which the DaemonSet and revision 7 have the old template of a Pair,
// and revision 8 the new one.
func OfPair(t testing.TB, p dstest.Pair) *snapshot.Snapshot {
	t.Helper()
	s := Parse(t, "nodes: {w-1: {}}\npods: {w-1 7: {}}")
	for i, c := range []template.Content{p.Old, p.New} {
		c = c.Plain()
		c["$patch"] = "replace"
		raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": c}})
		if err != nil {
			t.Fatal(err)
		}
		s.Revisions[i].Data.Raw = raw
		// Fails for a template that does not fit the types.
		if live := s.DaemonSet.DeepCopy(); i == 0 && json.Unmarshal(raw, live) == nil {
			s.DaemonSet = live
		}
	}
	return s
}
