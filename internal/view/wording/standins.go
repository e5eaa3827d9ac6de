package wording

import (
	"fmt"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/redact"
)

// HiddenMessages returns the number of messages that were removed or shortened, or "" if there are none.
func HiddenMessages(m redact.Messages) string {
	var parts []string
	if m.Hidden > 0 {
		parts = append(parts, PluralOf(m.Hidden, "1 was removed", fmt.Sprintf("%d were removed", m.Hidden)))
	}
	if m.Partly > 0 {
		parts = append(parts, PluralOf(m.Partly, "1 was removed in part",
			fmt.Sprintf("%d were removed in part", m.Partly)))
	}
	if len(parts) == 0 {
		return ""
	}
	all := m.Whole + m.Partly + m.Hidden
	return "of " + PluralOf(all, "1 message ", fmt.Sprintf("%d different messages ", all)) +
		strings.Join(parts, " and ") + ": text that is not known to be Kubernetes' own"
}
