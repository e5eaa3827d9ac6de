package explain

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// Part groups the problems with the same advice, the advice, and the fixes that
// remove the problems.
type Part struct {
	Advice   *Advice // nil for the last part
	Problems []*Problem
	Fixes    []remedy.Remedy
	As       int // the number of the part, from 1, whose fix removes these problems too; 0 if the part has its own
}

// Parts returns one part for each piece of advice, in order, and a last one
// with the rest: problems without advice, and workarounds. A fix of nodes is
// repeated in each part that it applies to, narrowed to the nodes of the part;
// any other fix is in the first of them. With fewer than two pieces of advice,
// there is one part without advice.
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
	nodesOf := map[int]sets.Set[string]{} // by part; set on demand
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

// advised returns the indexes of the advice about a code. If there are several,
// it returns those about any of the nodes.
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
