package cause_test

import (
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
)

// TestEveryCodeHasARow fails for a code without a row in kinds. TestEveryProblemHasWords of internal/view and
// TestEveryCodeHasAPlace of pkg/explain check the other tables.
func TestEveryCodeHasARow(t *testing.T) {
	for _, code := range cause.Reasons {
		if !cause.HasRow(code) {
			t.Errorf("kinds has no row for %s", code)
		}
	}
}
