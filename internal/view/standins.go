package view

import (
	"fmt"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/redact"
)

// HiddenMessages says how many messages say less than they did; empty if none does.
func HiddenMessages(m redact.Messages) string {
	var parts []string
	if m.Hidden > 0 {
		parts = append(parts, pluralOf(m.Hidden, "1 is hidden", fmt.Sprintf("%d are hidden", m.Hidden)))
	}
	if m.Partly > 0 {
		parts = append(parts, pluralOf(m.Partly, "1 is partly hidden", fmt.Sprintf("%d are partly hidden", m.Partly)))
	}
	if len(parts) == 0 {
		return ""
	}
	all := m.Whole + m.Partly + m.Hidden
	return "of " + pluralOf(all, "1 message ", fmt.Sprintf("%d different messages ", all)) + strings.Join(parts, " and ") + ": of what they say only the sentences stay that are known to be Kubernetes' own"
}
