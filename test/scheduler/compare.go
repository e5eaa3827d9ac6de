package scheduler

import (
	"fmt"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/test/scheduler/wire"
)

// Compare returns how a verdict differs from the decision of the real scheduler, or "".
func Compare(v *fit.Verdict, real *wire.Answer, minor int) string {
	switch {
	case len(v.Unreadable) > 0:
		return fmt.Sprintf("%v cannot be read", v.Unreadable)
	case v.Fits != real.Fits:
		return fmt.Sprintf("fits: %t, the scheduler: %t (%s %q)", v.Fits, real.Fits, real.Plugin, real.Reasons)
	case string(v.Reason) != real.Plugin:
		return fmt.Sprintf("rejected by %s, the scheduler: %s %q", v.Reason, real.Plugin, real.Reasons)
	case real.Reasons != nil && !slices.Equal(words(v, minor), real.Reasons):
		return fmt.Sprintf("reasons %q, the scheduler: %q", words(v, minor), real.Reasons)
	case v.Resolvable != real.Resolvable:
		return fmt.Sprintf("resolvable: %t, the scheduler: %t", v.Resolvable, real.Resolvable)
	}
	return compareVictims(v.Preemption, real)
}

func compareVictims(p fit.Preemption, real *wire.Answer) string {
	if p.Outcome == fit.VictimsNotCounted {
		return "" // declared unknown
	}
	possible := p.Outcome == fit.Possible
	if possible != real.Nominated {
		return fmt.Sprintf("preemption: %s, the scheduler: %s", p.Outcome, real.PostFilter)
	}
	names, violations := victims(p)
	same := func(o wire.Victims) bool { return slices.Equal(names, o.Pods) && violations == o.Violations }
	for _, o := range real.Victims {
		if (len(o.Pods) > 0) != possible {
			return fmt.Sprintf("preemption: %s, the scheduler: %v", p.Outcome, real.Victims)
		}
		if p.Certain && !same(o) {
			return fmt.Sprintf("victims %q (%d violate), the scheduler: %v", names, violations, real.Victims)
		}
	}
	if possible && !slices.ContainsFunc(real.Victims, same) {
		return fmt.Sprintf("victims, said to be uncertain, %q (%d violate), the scheduler never: %v", names, violations, real.Victims)
	}
	return ""
}

// varies reports whether the result of the scheduler depends on the order.
func varies(real *wire.Answer) bool {
	return slices.ContainsFunc(real.Victims, func(o wire.Victims) bool {
		return !slices.Equal(o.Pods, real.Victims[0].Pods) || o.Violations != real.Victims[0].Violations
	})
}
