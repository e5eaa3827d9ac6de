package cause

import (
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Judge adds to problems what their nodes have in common, what their pods fail on, and
// whose fault that is; not to those that are about no step of a pod.
func (cs *Causes) Judge(problems []Problem) {
	cs.common(problems)
	for i := range problems {
		p := &problems[i]
		p.Subject = cs.SubjectOf(p)
		if p.Severity != SeverityInfo {
			p.Blame = cs.BlameOf(p)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// common adds to problems that do not go away by themselves what their nodes have in
// common: to those of containers, and to nodes that are down.
func (cs *Causes) common(problems []Problem) {
	for _, is := range []func(daemonset.Reason) bool{
		OfContainer,
		func(code daemonset.Reason) bool {
			return code == NodeNotReady || code == TerminatingOnDeadNode
		},
	} {
		var alike []*Problem
		for i := range problems {
			if p := &problems[i]; is(p.Code) && p.Severity == SeverityError {
				alike = append(alike, p)
			}
		}
		if cs.inCommon(alike...) || len(alike) < 2 {
			continue
		}
		for _, p := range alike {
			cs.inCommon(p)
		}
	}
}

// inCommon adds what the nodes of problems have in common to those of which most
// nodes have it, and reports whether there is anything.
func (cs *Causes) inCommon(problems ...*Problem) bool {
	var nodes, messages []string
	for _, p := range problems {
		nodes, messages = append(nodes, p.Nodes...), append(messages, p.Facts.Text("message"))
	}
	c := cs.Common(nodes, messages...)
	if c == nil {
		return false
	}
	for _, p := range problems {
		with, on := 0, sets.New(p.Nodes...)
		for i := range cs.st.Nodes {
			if n := &cs.st.Nodes[i]; n.Object != nil && on.Has(n.Name) {
				with += b2i(c.Has(n.Object))
			}
		}
		if 2*with > len(p.Nodes) {
			p.Common = c
		}
	}
	return true
}
