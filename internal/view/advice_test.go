package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// TestAdvisedFirst: a rollback that is advised has its command on the screen, whatever else helps.
func TestAdvisedFirst(t *testing.T) {
	lower, back, repair := remedy.Remedy{Code: remedy.LowerRequest}, remedy.Remedy{Code: remedy.RollBack}, remedy.Remedy{Code: remedy.RepairNodes}
	for _, tt := range []struct {
		code        explain.AdviceCode
		fixes, want []remedy.Remedy
	}{
		{explain.AdviseRollBack, []remedy.Remedy{lower, back, repair}, []remedy.Remedy{back, lower, repair}},
		{explain.AdviseRepairNodes, []remedy.Remedy{repair, back}, []remedy.Remedy{repair, back}},
		{explain.AdviseRollBack, []remedy.Remedy{lower}, []remedy.Remedy{lower}},
	} {
		if diff := cmp.Diff(tt.want, advisedFirst(tt.code, tt.fixes)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.code, diff)
		}
	}
}
