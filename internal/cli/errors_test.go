package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// TestHints checks the hints for changes that are impossible: flags and commands.
func TestHints(t *testing.T) {
	cordon := func(which string) *whatif.Change {
		return &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeCordon, Which: which, Said: "--cordon " + which}}}
	}
	rollback := &whatif.Change{ToRevision: new(int64(7))}
	for _, tt := range []struct {
		options  []dstest.Option
		change   *whatif.Change
		rollback string
		want     string
		why      string
	}{
		{nil, &whatif.Change{Images: []whatif.Image{{Container: "agnet", Image: "x"}}}, "", "--image agent=x", "an image of no container"},
		{nil, rollback, "--to-revision", "--to-revision 1", "a revision that does not exist"},
		{nil, rollback, "--undo", "--undo 1", "asked for by another flag"},
		{nil, &whatif.Change{MaxSurge: dstest.Limit("1")}, "", "--max-unavailable 0", "maxSurge beside maxUnavailable"},
		{[]dstest.Option{dstest.MaxSurge("20%")}, &whatif.Change{MaxUnavailable: dstest.Limit("1")}, "", "--max-surge 0", "and the other way round"},
		{nil, &whatif.Change{MaxUnavailable: dstest.Limit("0")}, "", "--max-surge 1", "neither"},
		{[]dstest.Option{dstest.MaxSurge("1")}, &whatif.Change{MaxSurge: dstest.Limit("0")}, "", "--max-unavailable 1", "neither, by the other flag"},
		{nil, &whatif.Change{Strategy: "Never"}, "", "", "what nothing helps"},
		{nil, cordon("n4"), "", "did you mean n0, n1?", "a node that is not there, with some that are near"},
		{nil, cordon("worker-7"), "", "kubectl get nodes", "and with none"},
		{nil, cordon("w*"), "", "kubectl get nodes", "a pattern"},
		{nil, cordon("pool=a"), "", "kubectl get nodes -l 'pool=a'", "a selector"},
		{[]dstest.Option{dstest.Lacks(snapshot.Nodes, snapshot.Forbidden)}, cordon("n0"), "", "kubectl auth can-i list nodes", "nodes that nobody may read"},
		{[]dstest.Option{dstest.Lacks(snapshot.Nodes, snapshot.NotGiven)}, cordon("n0"), "", "kubectl get nodes -o yaml > nodes.yaml, and add --from nodes.yaml", "that a dump lacks"},
		{[]dstest.Option{dstest.Lacks(snapshot.Nodes, snapshot.Failed)}, cordon("n0"), "", "", "that could not be read for another reason"},
		{[]dstest.Option{dstest.Lacks(snapshot.Revisions, snapshot.Forbidden)}, rollback, "", "kubectl auth can-i list controllerrevisions -n kube-system", "revisions, in their namespace"},
		{[]dstest.Option{dstest.Lacks(snapshot.Revisions, snapshot.NotGiven)}, rollback, "", "kubectl get controllerrevisions -n kube-system -o yaml > controllerrevisions.yaml, and add --from controllerrevisions.yaml", "that a dump lacks"},
	} {
		s := dstest.State("N N", tt.options...)
		st, err := daemonset.StateOf(s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = whatif.Make(st, tt.change)
		if got := calledAs("kubectl-ds").hintOf(fmt.Errorf("agent.yaml: %w", calledAs("kubectl-ds").withHint(err, tt.rollback))); err == nil || got != tt.want {
			t.Errorf("%s: %v; hint %q, want %q", tt.why, err, got, tt.want)
		}
	}
	if got := calledAs("kubectl-ds").hintOf(hinted{errors.New("x"), "kubectl get pods"}); got != "kubectl get pods" {
		t.Errorf("of an error that has its own: %q", got)
	}
}
