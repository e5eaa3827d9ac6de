package main

import (
	"fmt"
	"strings"
)

// equivalent is a change that does not affect the results of the package for any Snapshot.
type equivalent struct {
	file, function string
	from, to       string // as in mutant
	why            string // one sentence that can be verified in the code
}

// equivalents are run if drawn but do not count. The run fails if a test catches one, because then
// the reason is wrong, and if one matches no place or several, or does not compile.
var equivalents = []equivalent{
	{
		"budget.go", "allowsSurge", `surge, err := scale(u.RollingUpdate.MaxSurge, 1)`, `surge, err := scale(u.RollingUpdate.MaxSurge, 2)`,
		"a percentage of two nodes, rounded up, is above 0 where it is of one, and a number is not scaled",
	},
	{
		"place.go", "Placement.checkAffinity", `best, fewest := -1, 0`, `best, fewest := -1, 1`,
		"the first term that fails sets both, before fewest is read",
	},
	{
		"profile.go", "holds", `i == 0 && v.minor > s.minor || v.minor == s.minor && v.patch >= s.patch`, `i == 0 && v.minor >= s.minor || v.minor == s.minor && v.patch >= s.patch`,
		"the first version of a rule is a .0, which no patch release is before",
	},
	{
		"revision.go", "storedLiveTemplate", `err != nil || s.VersionSource != snapshot.VersionDefault && s.VersionSource != snapshot.VersionKubelet`, `s.VersionSource != snapshot.VersionDefault && s.VersionSource != snapshot.VersionKubelet`,
		"a template that has no one form has no other, and that error is returned then",
	},
	{
		"sync.go", "class.cut", `return i.Reason != from[0].Reason`, `return i.Reason != from[1].Reason`,
		"whether all are the same does not depend on which one they are compared with, and a class that is cut has two",
	},
	{
		"sync.go", "class.cut", `out.Reason = from[0].Reason`, `out.Reason = from[1].Reason`,
		"here all reasons are the same, and a class that is cut has two members",
	},
}

// fitEquivalents are those of pkg/fit.
var fitEquivalents = []equivalent{
	{
		"preempt.go", "equals", `n < len(lower) && importance(lower[n-1], lower[n]) == 0`, `n < len(lower) && importance(lower[n], lower[n-1]) == 0`,
		"two pods that are equally important are so whichever comes first",
	},
	{
		"wanted.go", "needsDeclaredFeature", `version.MajorMinor(1, 37)`, `version.MajorMinor(2, 37)`,
		"the version leaves out features that have ended, and none of the library has",
	},
	{
		"wanted.go", "needsDeclaredFeature", `version.MajorMinor(1, 37)`, `version.MajorMinor(0, 37)`,
		"the version leaves out features that have ended, and none of the library has",
	},
	{
		"wanted.go", "needsDeclaredFeature", `version.MajorMinor(1, 37)`, `version.MajorMinor(1, 38)`,
		"the version leaves out features that have ended, and none of the library has",
	},
	{
		"wanted.go", "needsDeclaredFeature", `version.MajorMinor(1, 37)`, `version.MajorMinor(1, 36)`,
		"the version leaves out features that have ended, and none of the library has",
	},
}

// admissionEquivalents are those of pkg/admission.
var admissionEquivalents = []equivalent{
	{
		"admission.go", "check.verdict", `q.Passes != Unlimited && (v.Passes == Unlimited || q.Passes < v.Passes)`, `q.Passes != Unlimited && (v.Passes == Unlimited || q.Passes <= v.Passes)`,
		"a number is replaced by an equal one",
	},
	{
		"classes.go", "merged", `all[i+1:]`, `all[i+0:]`,
		"one that is equal does not count, and the toleration itself is",
	},
	{
		"pod.go", "setPodLevelLimits", `request.Cmp(sum) > 0`, `request.Cmp(sum) >= 0`,
		"an amount is replaced by an equal one",
	},
	{
		"quota.go", "check.quotas", `verdict.Passes == Unlimited || passes < verdict.Passes`, `verdict.Passes == Unlimited || passes <= verdict.Passes`,
		"a number is replaced by an equal one",
	},
	{
		"quota.go", "Amount.Passes", `left.Sign() <= 0 || a.Requested.Sign() <= 0`, `left.Sign() < 0 || a.Requested.Sign() <= 0`,
		"into nothing an amount fits as often as nothing divided by it says, which is 0",
	},
	{
		"quota.go", "nanos", `n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(9-int64(d.Scale())), nil))`, `n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(10-int64(d.Scale())), nil))`,
		"of two quantities in another unit, the quotient is the same",
	},
}

// claims maps the indices of candidates to the equivalents in the list that describe them.
func claims(all []mutant, list []equivalent) (map[int]equivalent, error) {
	of := map[int]equivalent{}
	var wrong []string
	for _, e := range list {
		count := 0
		for i, m := range all {
			if m.file == e.file && m.function == e.function && m.from == e.from && m.to == e.to {
				of[i] = e
				count++
			}
		}
		if count != 1 || e.why == "" {
			wrong = append(wrong, fmt.Sprintf("%s %s: %s -> %s: %d candidates, why %q", e.file, e.function, e.from, e.to, count, e.why))
		}
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("equivalents that are not one candidate each, with a why:\n  %s", strings.Join(wrong, "\n  "))
	}
	return of, nil
}
