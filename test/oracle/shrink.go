package oracle

import (
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Difference is a state in which the model and the real controller differ.
type Difference struct {
	State *snapshot.Snapshot
	Lines []string // as Compare returns them
	Row   string   // of TestNamed, as Go source; its why is still to be told
}

// Smallest returns the smallest state with a difference of the same kind as
// one of the state's, or the state itself where that is not found within so
// many calls of judge. A state that judge has an error for does not differ.
//
// The kind is the first word of a line, "creates" or "status": a smaller state
// may show another difference of that kind.
func Smallest(s *snapshot.Snapshot, judge func(*snapshot.Snapshot) ([]string, error), calls int) (Difference, error) {
	lines, err := judge(s)
	if err != nil || len(lines) == 0 {
		return Difference{State: s, Lines: lines}, err
	}
	d := Difference{Lines: lines}
	kinds := kindsOf(lines)
	d.State = dstest.Shrink(s, func(c *snapshot.Snapshot) bool {
		if calls--; calls <= 0 {
			return false
		}
		lines, err := judge(c)
		if err != nil || !slices.ContainsFunc(kindsOf(lines), func(k string) bool { return slices.Contains(kinds, k) }) {
			return false
		}
		d.Lines = lines
		return true
	})
	d.Row, err = dstest.Row(d.State, "TODO: why")
	return d, err
}

func kindsOf(lines []string) []string {
	var kinds []string
	for _, l := range lines {
		kind, _, _ := strings.Cut(l, " ")
		kinds = append(kinds, strings.TrimSuffix(kind, ":"))
	}
	return kinds
}
