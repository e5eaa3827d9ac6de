package view

import (
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// usedBefore is how many pods that refer to the object which a problem misses started before; 0 where the change may
// have added the reference.
func usedBefore(p *cause.Problem) int {
	b := p.Blame
	if b == nil || b.Who != cause.WhoMissingObject || b.Certainty != cause.Certain || !b.NotChange ||
		p.Facts["kind"] == nil {
		return 0
	}
	return b.Same.Before + b.Same.Since
}

// deleted says that the missing object was there before; empty where nothing shows it.
func deleted(p *cause.Problem) string {
	n := usedBefore(p)
	if n == 0 {
		return ""
	}
	return pluralVerb(n, "pod that refers to it started before", "pods that refer to it started before") +
		", so it was probably deleted since"
}

// missed is the object, or the key of an object, that a problem misses.
func (a *answer) missed(p *cause.Problem) string {
	object := fact(p.Facts, "kind") + " " + a.h.DaemonSet.Namespace + "/" + fact(p.Facts, "name")
	if key := fact(p.Facts, "key"); key != "" {
		return "key " + key + " of " + object
	}
	return object
}

// notBack says why a rollback does not help pods that miss an object: the revision before refers to it, too.
func (a *answer) notBack(problems []*explain.Problem) {
	back := remedy.Find(a.e.Remedies, remedy.RollBack)
	if !a.e.Rollout.UnderWay || back == nil || back.Worth != remedy.Useless || len(a.e.Advice) > 1 {
		return
	}
	for _, p := range problems {
		if usedBefore(p) > 0 {
			a.add(screen.DoNot, "roll back: revision %s refers to %s, too", back.Value, a.missed(p))
			return
		}
	}
}
