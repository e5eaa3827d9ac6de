package diagnosis

import (
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// usedBefore returns the number of pods that refer to the missing object and that started before. It returns 0 if the
// change may have added the reference.
func usedBefore(p *cause.Problem) int {
	b := p.Blame
	if b == nil || b.Who != cause.WhoMissingObject || b.Certainty != cause.Certain || !b.NotChange ||
		p.Facts["kind"] == nil {
		return 0
	}
	return b.Same.Before + b.Same.Since
}

// probablyDeleted says that the missing object existed before, or returns "" if nothing shows that.
func probablyDeleted(p *cause.Problem) string {
	n := usedBefore(p)
	if n == 0 {
		return ""
	}
	return wording.PluralVerb(n, "pod that refers to it started before", "pods that refer to it started before") +
		", so it was probably deleted since"
}

// missingName names the missing object, or the missing key of an object.
func (a *Answer) missingName(p *cause.Problem) string {
	object := wording.Fact(p.Facts, "kind") + " " + a.Header.DaemonSet.Namespace + "/" + wording.Fact(p.Facts, "name")
	if key := wording.Fact(p.Facts, "key"); key != "" {
		return "key " + key + " of " + object
	}
	return object
}

// notBack adds that a rollback does not help because the previous revision refers to the same missing object.
func (a *Answer) notBack(problems []*explain.Problem) {
	back := remedy.Find(a.E.Remedies, remedy.RollBack)
	if !a.E.Rollout.UnderWay || back == nil || back.Worth != remedy.Useless || len(a.E.Advice) > 1 {
		return
	}
	for _, p := range problems {
		if usedBefore(p) > 0 {
			a.Add(screen.DoNot, "roll back: revision %s refers to %s, too", back.Value, a.missingName(p))
			return
		}
	}
}
