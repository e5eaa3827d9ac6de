package world

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// OfPair returns a Snapshot in which revision 7 and the DaemonSet have the first
// template of a pair, and revision 8 has the second.
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
		if live := s.DaemonSet.DeepCopy(); i == 0 && json.Unmarshal(raw, live) == nil { // which fails for a template that no type reads
			s.DaemonSet = live
		}
	}
	return s
}
