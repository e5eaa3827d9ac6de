package plan

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// TestMakeWarnsOfTools checks which changes another writer of the spec undoes.
func TestMakeWarnsOfTools(t *testing.T) {
	s := dstest.State("N N", dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Labels = map[string]string{"argocd.argoproj.io/instance": "a"} }))
	manifest := s.DaemonSet.DeepCopy()
	manifest.Spec.MinReadySeconds = 5
	for _, tt := range []struct {
		change *whatif.Change
		want   bool
		why    string
	}{
		{&whatif.Change{ToRevision: new(int64(1))}, true, "a rollback"},
		{&whatif.Change{Images: []whatif.Image{{Container: "", Image: "example/agent:3"}}}, true, "an image"},
		{&whatif.Change{Strategy: "OnDelete"}, true, "a strategy"},
		{&whatif.Change{Restart: true, MinReadySeconds: new(int32(5))}, true, "a restart that comes with more"},
		{&whatif.Change{Restart: true, Strategy: "RollingUpdate"}, true, "or was to, by what it asks for"},
		{&whatif.Change{ToRevision: new(int64(2))}, false, "a rollback to where it is writes nothing"},
		{&whatif.Change{Restart: true}, false, "a restart is over before anybody undoes it"},
		{&whatif.Change{Restart: true, Nodes: []whatif.NodeEdit{{Kind: whatif.NodeCordon, Which: "n0"}}}, false, "and nodes are not the tool's"},
		{&whatif.Change{DaemonSet: manifest, Method: "LastApplied"}, false, "a manifest is what the tool writes"},
		{nil, false, "what is under way was not asked for"},
	} {
		p, err := planOf(s, tt.change, Options{})
		if err != nil {
			t.Fatal(err)
		}
		warned := false
		for _, w := range p.Warnings {
			warned = warned || w.Code == ManagedByTool
		}
		if warned != tt.want {
			t.Errorf("%s: warned %t", tt.why, warned)
		}
	}
}
