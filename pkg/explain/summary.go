package explain

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Matters returns the problems that a summary is about: those that are urgent,
// or where none is, those that warn. Of problems of containers those of the most
// nodes come first.
func (e *Explanation) Matters() []*Problem {
	var urgent, others []*Problem
	for i := range e.Problems {
		switch p := &e.Problems[i]; {
		case p.Urgent():
			urgent = append(urgent, p)
		case p.Severity == cause.SeverityWarning, p.Code == cause.Misscheduled && p.Blame != nil:
			others = append(others, p)
		}
	}
	if len(urgent) == 0 {
		return others
	}
	return e.ordered(urgent)
}

// ordered puts problems in the order of a screen, which is that of problemOrder but
// for two things. Of the problems of containers those of the most nodes come first.
// And during a rollout they come before nodes that are down: a node that is repaired
// before the revision gets a pod of a revision that fails.
func (e *Explanation) ordered(problems []*Problem) []*Problem {
	behind := slices.Index(problemOrder, cause.ProbeFailing)
	at := func(p *Problem) int {
		switch i := slices.Index(problemOrder, p.Code); {
		case cause.OfContainer(p.Code):
			return slices.IndexFunc(problemOrder, cause.OfContainer)
		case e.Rollout.UnderWay && p.Blame != nil && p.Blame.Who == cause.WhoNode:
			return max(i, behind)
		default:
			return i
		}
	}
	slices.SortStableFunc(problems, func(a, b *Problem) int {
		if n := at(a) - at(b); n != 0 || !cause.OfContainer(a.Code) {
			return n
		}
		return len(b.Nodes) - len(a.Nodes)
	})
	return problems
}

// Beside returns the problems other than these, but for nodes that go away, without
// those that no rollout is about.
func (e *Explanation) Beside(others []*Problem, going []string) (out []*Problem) {
	goes := sets.New(going...)
	for i := range e.Problems {
		p := &e.Problems[i]
		left := slices.DeleteFunc(slices.Clone(p.Nodes), goes.Has)
		same := func(other *Problem) bool { return other.Code == p.Code && slices.Equal(other.Nodes, left) }
		if p.Count > 0 && p.Code != OnDeleteOutdated && p.Code != cause.Misscheduled &&
			!slices.ContainsFunc(others, same) {
			out = append(out, p)
		}
	}
	return out
}

// StartsInVain reports whether pods do not start, and what they refer to may be why: it is
// worth to look whether that exists.
func (e *Explanation) StartsInVain() bool {
	codes := []daemonset.Reason{cause.ContainerConfig, cause.FailedMount, cause.ContainerCreating,
		cause.PendingUnschedulable}
	return slices.ContainsFunc(e.Problems, func(p Problem) bool { return slices.Contains(codes, p.Code) })
}

// Failing reports whether something is wrong that does not pass by itself.
func (e *Explanation) Failing() bool {
	m := e.Matters()
	return len(m) > 0 && m[0].Severity == cause.SeverityError
}

// Has returns the first problem with a code, or nil if none has it.
func (e *Explanation) Has(code daemonset.Reason) *Problem {
	if i := slices.IndexFunc(e.Problems, func(p Problem) bool { return p.Code == code }); i >= 0 {
		return &e.Problems[i]
	}
	return nil
}

// Since returns when the first problem of a summary began whose time is known,
// or else the rollout in progress; nil if neither is known.
func (e *Explanation) Since() *time.Time {
	for _, p := range e.Matters() {
		if p.Since != nil {
			return p.Since
		}
	}
	if e.Rollout.UnderWay {
		return e.Rollout.Since
	}
	return nil
}

// Tally returns how many pods of the current and of other revisions there are,
// and how many of either have a problem that a container gives and that a
// summary is about.
func (e *Explanation) Tally() cause.Tally {
	t := cause.Tally{NewPods: e.Verdict.Facts.Int("newPods"), OldPods: e.Verdict.Facts.Int("oldPods")}
	for _, p := range e.Matters() {
		t.NewFailing, t.OldFailing = t.NewFailing+p.Facts.Int("newFailing"), t.OldFailing+p.Facts.Int("oldFailing")
	}
	return t
}

// Evidence is what the pods that fail say about the revision.
type Evidence string

const (
	NewOnly Evidence = "NewOnly" // all pods of the current revision fail, and none of the others
	OldOnly Evidence = "OldOnly" // pods of other revisions fail, and the current one has none
	Both    Evidence = "Both"    // pods of the current and of other revisions fail
	All     Evidence = "All"     // all pods of the current revision fail, and there are no others
	Some    Evidence = "Some"    // some pods of the current revision fail
)

// Evidence returns what the pods that fail say about the revision; empty for a
// problem that no container gives.
func (e *Explanation) Evidence(p *Problem) Evidence {
	t := e.Tally()
	switch {
	case !cause.OfContainer(p.Code):
		return ""
	case p.Blame != nil && p.Blame.Who == cause.WhoChange:
		return NewOnly
	case t.NewPods+t.OldPods == 0: // the nodes of all pods are down
		return All
	case t.NewPods == 0:
		return OldOnly
	case t.OldFailing > 0:
		return Both
	case t.NewFailing >= t.NewPods:
		return All
	}
	return Some
}

// On returns the nodes of all problems with a code.
func (e *Explanation) On(code daemonset.Reason) []string {
	return e.nodesOf(func(p *Problem) bool { return p.Code == code })
}

// nodesOf returns the nodes of some problems.
func (e *Explanation) nodesOf(is func(*Problem) bool) (nodes []string) {
	for i := range e.Problems {
		if p := &e.Problems[i]; is(p) {
			nodes = append(nodes, p.Nodes...)
		}
	}
	return nodes
}

// Gravity is how bad the problems are that a summary is about.
type Gravity string

const (
	GravityNone    Gravity = "None"
	GravityWarning Gravity = "Warning" // none is urgent
	GravityProblem Gravity = "Problem"
)

// Gravity returns how bad the problems are that a summary is about.
func (e *Explanation) Gravity() Gravity {
	m := e.Matters()
	switch {
	case len(m) == 0:
		return GravityNone
	case !m[0].Urgent() && m[0].Code != cause.NoEligibleNode:
		return GravityWarning
	}
	return GravityProblem
}

// Listed returns the problems that somebody may do something about, and those that
// are only worth knowing. Old pods that wait for a person are neither.
func (e *Explanation) Listed() (rows, notes []*Problem) {
	for i := range e.Problems {
		p := &e.Problems[i]
		switch {
		case p.Code == OnDeleteOutdated && e.Verdict.Code == AwaitingDelete:
		case p.Severity == cause.SeverityInfo && p.Count == 0, p.Code == cause.NextRolloutStalls, p.Code == Adopt,
			p.Code == TaintedButSelected:
			notes = append(notes, p)
		default:
			rows = append(rows, p)
		}
	}
	return e.ordered(rows), notes
}

// All returns the problems, those first that others come of.
func (e *Explanation) All() []*Problem {
	all := make([]*Problem, len(e.Problems))
	for i := range all {
		all[i] = &e.Problems[i]
	}
	return e.ordered(all)
}
