package explain

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// Part is what belongs together: problems that ask for the same, what to do first
// about them, and the fixes that remove them.
type Part struct {
	Advice   *Advice // nil for what is left
	Problems []*Problem
	Fixes    []remedy.Remedy
	As       int // the part, counted from 1, whose fix removes these problems too; 0 where it has its own
}

// Parts returns a part for each piece of advice, in their order, and a last one of
// what is left: problems that ask for nothing, and ways around a problem. A fix of
// nodes stands in each part that it is for, with the nodes of this part; any other in
// the first. Where only one thing is to be done, everything is one part without advice.
func (e *Explanation) Parts() []Part {
	if len(e.Advice) < 2 {
		return []Part{{Problems: e.All(), Fixes: e.Fixes()}}
	}
	parts, left := make([]Part, len(e.Advice)+1), len(e.Advice)
	for i := range e.Advice {
		parts[i].Advice = &e.Advice[i]
	}
	for _, p := range e.All() {
		i := left
		if in := e.advised(p.Code, p.Nodes); len(in) > 0 {
			i = in[0]
		}
		parts[i].Problems = append(parts[i].Problems, p)
	}
	nodesOf := map[int]sets.Set[string]{} // of the advices with such a fix
	for _, f := range e.Fixes() {
		in := []int{}
		for _, code := range f.Problems {
			for _, i := range e.advised(code, f.Nodes) {
				if !slices.Contains(in, i) {
					in = append(in, i)
				}
			}
		}
		slices.Sort(in)
		for n, i := range in {
			switch {
			case len(f.Nodes) > 0:
				if nodesOf[i] == nil {
					nodesOf[i] = sets.New(e.Advice[i].Nodes...)
				}
				here := f
				here.Nodes = slices.DeleteFunc(slices.Clone(f.Nodes),
					func(node string) bool { return !nodesOf[i].Has(node) })
				parts[i].Fixes = append(parts[i].Fixes, here)
			case n == 0:
				parts[i].Fixes = append(parts[i].Fixes, f)
			default:
				parts[i].As = in[0] + 1
			}
		}
		if len(in) == 0 {
			parts[left].Fixes = append(parts[left].Fixes, f)
		}
	}
	return parts
}

// advised returns the pieces of advice that are about a code: where there are several, those about one of the nodes.
func (e *Explanation) advised(code daemonset.Reason, nodes []string) (in []int) {
	about := sets.New(nodes...)
	var these []int
	for i := range e.Advice {
		if !slices.Contains(e.Advice[i].Problems, code) {
			continue
		}
		if in = append(in, i); about.HasAny(e.Advice[i].Nodes...) {
			these = append(these, i)
		}
	}
	switch {
	case len(in) < 2:
		return in
	case len(these) > 0:
		return these
	}
	return in[len(in)-1:]
}
