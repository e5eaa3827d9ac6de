package sheet

import (
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
)

// TestWhy checks that Why names the first problem, and then those with the most nodes.
func TestWhy(t *testing.T) {
	clause := func(p *cause.Problem, nodes []string) string {
		if p.Code == cause.NextRolloutStalls {
			return ""
		}
		return string(p.Code) + " " + strings.Join(nodes, "")
	}
	crash, pull := &cause.Problem{Code: cause.CrashLoopBackOff, Nodes: []string{"a"}},
		&cause.Problem{Code: cause.ImagePullBackOff, Nodes: []string{"b"}}
	down, other := &cause.Problem{Code: cause.NodeNotReady, Nodes: []string{"c", "d"}},
		&cause.Problem{Code: cause.TerminatingOnDeadNode, Nodes: []string{"e"}}
	silent := &cause.Problem{Code: cause.NextRolloutStalls, Nodes: []string{"f"}}
	for _, tt := range []struct {
		problems []*cause.Problem
		most     int
		want     string
		why      string
	}{
		{nil, 2, "", "nothing is wrong"},
		{[]*cause.Problem{crash, pull}, 2, "CrashLoopBackOff a, and ImagePullBackOff b",
			"in their order, where there is room for all"},
		{[]*cause.Problem{crash, pull, down}, 2, "CrashLoopBackOff a, NodeNotReady cd, and 1 more problem",
			"the larger one of the others"},
		{[]*cause.Problem{crash, pull, down}, 1, "CrashLoopBackOff a, and 2 more problems",
			"the first is never left out"},
		{[]*cause.Problem{crash, down, other}, 2, "CrashLoopBackOff a, and NodeNotReady cde",
			"those with the same predicate are one"},
		{[]*cause.Problem{silent, crash}, 1, "CrashLoopBackOff a", "a problem without words is left out"},
	} {
		if got := Why(tt.problems, clause, tt.most); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}
