package oracle

import (
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Difference is a state for which the model and the real controller differ.
type Difference struct {
	State *snapshot.Snapshot
	Lines []string // from Compare
	Row   string   // a row for TestNamed, as Go source without a reason
}

// Smallest returns the smallest state with a difference of the same kind, or s itself if none is
// found within the given number of calls of judge. A state for which judge returns an error does
// not differ.
//
// The kind is the first word of a line, such as "creates" or "status". A smaller state may show
// another difference of that kind.
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
