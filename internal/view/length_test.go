package view

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// length limits the lines of an answer on a terminal with 80 columns: share percent of the answers have at most usual
// lines, and none has more than most.
type length struct {
	usual, share int
	most         int
}

// lengths has the limits by the number of problems. They are from screens.md, or higher if the program does not reach
// those yet. Random states have all kinds of problems at the same time, numbers that the controller never reported, and
// rules that no cluster has.
var lengths = map[string][]length{
	"explain": {1: {22, 95, 30}, 2: {30, 88, 44}, 3: {34, 90, 50}, 4: {38, 90, 48}, 5: {40, 88, 58}},
	"plan":    {1: {22, 95, 30}, 2: {30, 90, 44}, 3: {34, 90, 50}, 4: {38, 90, 48}, 5: {40, 88, 58}},
}

// TestLengths checks the lengths of the answers for all stories and for random states.
func TestLengths(t *testing.T) {
	lines := map[string]map[int][]int{"explain": {}, "plan": {}}
	for _, w := range everyWorld(t, 100) {
		e, style := under(t, w.s), wording.Style{Width: 80}
		listed, _ := e.Listed()
		n := len(slices.DeleteFunc(listed, func(p *explain.Problem) bool {
			return p.Severity == cause.SeverityInfo && p.Code != cause.Misscheduled
		}))
		n = min(max(1, n), 6)
		add := func(question string, b *bytes.Buffer) {
			lines[question][n] = append(lines[question][n], strings.Count(b.String(), "\n"))
		}
		var explained, planned bytes.Buffer
		check(t, Explanation(&explained, e, askable, style))
		add("explain", &explained)
		check(t, Plan(&planned, plan.Make(stateOf(t, w.s), plan.Options{}), e, askable, style))
		add("plan", &planned)
	}
	for question, by := range lines {
		for n, want := range lengths[question] {
			all := by[n]
			if len(all) < 40 { // -short does not have enough states
				continue
			}
			long := len(slices.DeleteFunc(slices.Clone(all), func(l int) bool { return l <= want.usual }))
			share := 100 - 100*long/len(all)
			t.Logf("%s, %d problems: %d of 100 of %d answers have at most %d lines, the longest %d", question, n, share,
				len(all), want.usual, slices.Max(all))
			if cases.Rare(1) == 0 { // among few answers, one long answer is a percent
				want.share -= 3
			}
			if share < want.share || slices.Max(all) > want.most {
				t.Errorf("%s, %d problems: %d of 100 answers have at most %d lines, %d should; the longest has %d, "+
					"%d are allowed",
					question, n, share, want.usual, want.share, slices.Max(all), want.most)
			}
		}
	}
}
