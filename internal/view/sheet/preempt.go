package sheet

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
)

// BudgetWords names the PodDisruptionBudgets that protect the removed pods. It returns "" if there are none.
func BudgetWords(budgets []string) string {
	are := wording.PluralOf(len(budgets), "PodDisruptionBudget ", "PodDisruptionBudgets ")
	return wording.Phrase(" (against "+are, wording.SomeNames(budgets), ")")
}

// VictimChoice returns the number of pods that the scheduler removes, and the pods that it chooses from. Both are "" if
// the scheduler has no choice.
func VictimChoice(pods []string, v *cause.Victims) (count, among string) {
	if len(v.Others) == 0 {
		return "", ""
	}
	switch {
	case v.Fewest != v.Most:
		count = fmt.Sprintf("%d to %d", v.Fewest, v.Most)
	case v.Most == 1:
		count = "one"
	default:
		count = strconv.Itoa(v.Most)
	}
	return count, wording.SomeNames(slices.Concat(pods, v.Others))
}
