package cause_test

import (
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
)

// TestEveryCodeHasARow names a code that was added without a row of kinds. TestEveryProblemHasWords of
// internal/view and TestEveryCodeHasAPlace of pkg/explain name the other rows.
func TestEveryCodeHasARow(t *testing.T) {
	for _, code := range cause.Reasons {
		if !cause.HasRow(code) {
			t.Errorf("kinds has no row for %s", code)
		}
	}
}
