package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestMotion checks the state of a node. A node with * has an available pod.
func TestMotion(t *testing.T) {
	unread := dstest.Edit(func(s *snapshot.Snapshot) {
		s.Nodes, s.Gaps = nil, append(s.Gaps, snapshot.Gap{What: snapshot.Nodes, Why: snapshot.Forbidden})
		s.DaemonSet.Status.DesiredNumberScheduled = int32(len(s.Pods))
	})
	surge := []dstest.Option{dstest.MaxUnavailable("0"), dstest.MaxSurge("2")}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"N O", nil, "Updated* Old*", "a pod of each revision"},
		{"n O", []dstest.Option{dstest.NotReadyFor("p0", 40*time.Second)}, "Starting Old*", "a new pod that is not Ready yet"},
		{"n O", []dstest.Option{crash("p0")}, "Fails Old*", "one that fails"},
		{"W O", []dstest.Option{dstest.MinReadySeconds(60)}, "Ready Old*", "one for which only minReadySeconds is not over"},
		{"o O", []dstest.Option{crash("p0")}, "Unavailable Old*", "an old pod that fails is not the rollout's"},
		{"ot O", nil, "Deleting Old*", "an old pod on its way out, not Ready any more"},
		{"Ot O", nil, "Deleting Old*", "one that is still Ready, and does not stay"},
		{"- O", nil, "Empty Old*", "nothing yet"},
		{"O/n O", append(surge, dstest.NotReadyFor("p0b", 40*time.Second)), "Starting* Old*", "a new pod that starts beside the old one"},
		{"O/n O", append(surge, crash("p0b")), "Fails* Old*", "one that fails beside it"},
		{"O/N O", surge, "Deleting* Old*", "the old pod is the next to be deleted"},
		{"Ot/N O", surge, "Deleting* Old*", "it is not gone yet, and the node counts as not updated"},
		{"Nt/N O", nil, "Updated* Old*", "a new pod in place of another new one"},
		{"!O O", nil, "Old*", "a node that is not eligible is not shown"},
		{"~O O", nil, "Old*", "nor one that is gone"},
		{"O N", []dstest.Option{unread}, "Old* Updated*", "without nodes, those that have pods"},
		{"O N", []dstest.Option{dstest.Lacks(snapshot.Pods, snapshot.Forbidden)}, "", "without pods, none"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			st := stateOf(t, dstest.State(tt.grid, tt.options...))
			var got []string
			for _, n := range Motion(st, cause.Find(st)) {
				got = append(got, string(n.State)+map[bool]string{true: "*"}[n.Served])
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("%q: %s, want %s", tt.grid, got, tt.want)
			}
		})
	}
}

// TestMotionCountsEachNodeOnce checks that every eligible node has a state, that the updated nodes and those being
// updated are as many as the status counts, and that the order in which nodes and pods were read does not matter.
func TestMotionCountsEachNodeOnce(t *testing.T) {
	moving := 0
	for seed := range cases.Of(int64(100)) {
		s := dstest.RandomTrouble(seed)
		st := stateOf(t, s)
		nodes := Motion(st, cause.Find(st))
		if !st.PodsRead {
			continue
		}
		if st.NodesRead && len(nodes) != st.Desired {
			t.Errorf("seed %d: %d nodes, %d are eligible", seed, len(nodes), st.Desired)
		}
		updated := 0
		for _, n := range nodes {
			if !slices.Contains(NodeStates, n.State) {
				t.Errorf("seed %d: %s is %q", seed, n.Node, n.State)
			}
			updated += b2i(n.State == NodeUpdated)
			moving += b2i(n.State.Moves())
		}
		if counts, known := st.Counts(); known && st.NodesRead && updated > counts.Updated {
			t.Errorf("seed %d: %d nodes are updated, the status counts %d", seed, updated, counts.Updated)
		}
		turned := *s
		turned.Nodes, turned.Pods = slices.Clone(s.Nodes), slices.Clone(s.Pods)
		slices.Reverse(turned.Nodes)
		slices.Reverse(turned.Pods)
		other := stateOf(t, &turned)
		if diff := cmp.Diff(nodes, Motion(other, cause.Find(other))); diff != "" {
			t.Errorf("seed %d: read in another order (-want +got):\n%s", seed, diff)
		}
	}
	if moving == 0 {
		t.Error("nothing moves anywhere")
	}
}
