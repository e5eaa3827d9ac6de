package cause

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// SchedulerWords exports schedulerWords to the tests of this package.
var SchedulerWords = schedulerWords

// HasRow reports whether kinds has a row for a code.
func HasRow(code daemonset.Reason) bool {
	return slices.ContainsFunc(kinds, func(k kind) bool { return k.code == code })
}
