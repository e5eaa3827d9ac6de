package explain

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Matters returns the problems that a summary is about: the errors or, if there
// are none, the warnings. Problems of containers are sorted by the number of
// nodes.
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

// ordered returns problems in the order of a screen: that of problemOrder,
// except that container problems are sorted by the number of nodes and, during
// a rollout, precede nodes that are down. If a node is repaired first, it gets
// a pod of the failing revision.
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

// Beside returns the problems other than the given ones, ignoring the nodes in
// going. It omits problems that do not concern a rollout.
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

// StartsInVain reports whether pods do not start, possibly because an object
// that they refer to is missing.
func (e *Explanation) StartsInVain() bool {
	codes := []daemonset.Reason{cause.ContainerConfig, cause.FailedMount, cause.ContainerCreating,
		cause.PendingUnschedulable}
	return slices.ContainsFunc(e.Problems, func(p Problem) bool { return slices.Contains(codes, p.Code) })
}

// Failing reports whether something is wrong that does not resolve itself.
func (e *Explanation) Failing() bool {
	m := e.Matters()
	return len(m) > 0 && m[0].Severity == cause.SeverityError
}

// Has returns the first problem with a code, or nil if there is none.
func (e *Explanation) Has(code daemonset.Reason) *Problem {
	if i := slices.IndexFunc(e.Problems, func(p Problem) bool { return p.Code == code }); i >= 0 {
		return &e.Problems[i]
	}
	return nil
}

// Since returns when the first problem of a summary with a known time began, or
// else when the rollout in progress began. It returns nil if neither is known.
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

// Tally returns the number of pods of the current revision and of others, and
// how many of each have a container problem that a summary is about.
func (e *Explanation) Tally() cause.Tally {
	t := cause.Tally{NewPods: e.Verdict.Facts.Int("newPods"), OldPods: e.Verdict.Facts.Int("oldPods")}
	for _, p := range e.Matters() {
		t.NewFailing, t.OldFailing = t.NewFailing+p.Facts.Int("newFailing"), t.OldFailing+p.Facts.Int("oldFailing")
	}
	return t
}

// Evidence is what the failing pods say about the revision.
type Evidence string

const (
	NewOnly Evidence = "NewOnly" // all pods of the current revision fail, and none of the others
	OldOnly Evidence = "OldOnly" // pods of other revisions fail, and the current one has none
	Both    Evidence = "Both"    // pods of the current and of other revisions fail
	All     Evidence = "All"     // all pods of the current revision fail, and there are no others
	Some    Evidence = "Some"    // some pods of the current revision fail
)

// Evidence returns what the failing pods say about the revision. It is empty
// for a problem that is not one of containers.
func (e *Explanation) Evidence(p *Problem) Evidence {
	t := e.Tally()
	switch {
	case !cause.OfContainer(p.Code):
		return ""
	case p.Blame != nil && p.Blame.Who == cause.WhoChange:
		return NewOnly
	case t.NewPods+t.OldPods == 0: // all pods are on nodes that are down
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

// nodesOf returns the nodes of the problems for which is returns true.
func (e *Explanation) nodesOf(is func(*Problem) bool) (nodes []string) {
	for i := range e.Problems {
		if p := &e.Problems[i]; is(p) {
			nodes = append(nodes, p.Nodes...)
		}
	}
	return nodes
}

// Gravity is the severity of the problems that a summary is about.
type Gravity string

const (
	GravityNone    Gravity = "None"
	GravityWarning Gravity = "Warning" // none is urgent
	GravityProblem Gravity = "Problem"
)

// Gravity returns the severity of the problems that a summary is about.
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

// Listed returns the problems that somebody may act on, and those that are only
// informational. Old pods that wait for somebody to delete them are in neither.
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

// All returns the problems, causes before consequences.
func (e *Explanation) All() []*Problem {
	all := make([]*Problem, len(e.Problems))
	for i := range all {
		all[i] = &e.Problems[i]
	}
	return e.ordered(all)
}
