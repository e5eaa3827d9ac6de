package view

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/view/diagnosis"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// TestAdvisedFirst checks that the screen shows the command of an advised rollback even if there are other fixes.
func TestAdvisedFirst(t *testing.T) {
	lower, back, repair := remedy.Remedy{Code: remedy.LowerRequest}, remedy.Remedy{Code: remedy.RollBack},
		remedy.Remedy{Code: remedy.RepairNodes}
	for _, tt := range []struct {
		code        explain.AdviceCode
		fixes, want []remedy.Remedy
	}{
		{explain.AdviseRollBack, []remedy.Remedy{lower, back, repair}, []remedy.Remedy{back, lower, repair}},
		{explain.AdviseRepairNodes, []remedy.Remedy{repair, back}, []remedy.Remedy{repair, back}},
		{explain.AdviseRollBack, []remedy.Remedy{lower}, []remedy.Remedy{lower}},
	} {
		if diff := cmp.Diff(tt.want, diagnosis.AdvisedFirst(tt.code, tt.fixes)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.code, diff)
		}
	}
}

// TestReadOnly checks that the JSON and the screen agree whether a piece of advice begins with a read-only command. It
// uses all stories and random states.
func TestReadOnly(t *testing.T) {
	looks := 0
	for _, w := range everyWorld(t, 100) {
		e := under(t, w.s)
		if len(e.Advice) == 0 || len(e.Advice) > diagnosis.MostParts {
			continue
		}
		var out bytes.Buffer
		check(t, Explanation(&out, e, askable, wording.Style{}))
		want := 0
		for _, d := range e.Advice {
			want += b2i(d.ReadOnly)
		}
		looks += want
		got, acts := 0, strings.Split(out.String(), "\nDo now ")[1:]
		if len(acts) != len(e.Advice) {
			t.Errorf("%s: %d acts, %d pieces of advice:\n%+v\n%s", w.name, len(acts), len(e.Advice), e.Advice,
				out.String())
		}
		for _, part := range acts {
			sentence, _, _ := strings.Cut(part, "\n")
			got += b2i(strings.Contains(sentence, "(read-only)"))
		}
		if got != want {
			t.Errorf("%s: %d of the acts are looks, the screen has %d:\n%+v\n%s", w.name, want, got, e.Advice,
				out.String())
		}
	}
	if looks == 0 {
		t.Error("no act is a look")
	}
}
