package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestMapOf checks the states of a map beyond those of Motion.
func TestMapOf(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"O N -", nil, "Old Updated Empty", "as Motion has it"},
		{"!O !- N", nil, "Misscheduled Excluded Updated", "a node that is not eligible is on the map too"},
		{"~O N", nil, "Gone Updated", "and one that was deleted"},
		{"O -", []dstest.Option{dstest.Lacks(snapshot.Pods, snapshot.Forbidden)}, " ", "without pods, no state"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var got []string
			for _, n := range MapOf(stateOf(t, dstest.State(tt.grid, tt.options...)), "").Nodes {
				got = append(got, string(n.State))
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("%q: %q, want %q", tt.grid, got, tt.want)
			}
		})
	}
}

// TestGroupedBy checks that nodes are grouped by the given label, otherwise by zone, otherwise not at all.
func TestGroupedBy(t *testing.T) {
	s := dstest.State("O O")
	label := func(label string) string {
		m := MapOf(stateOf(t, s), label)
		return fmt.Sprintf("%s: %s, %s", m.Label, m.Nodes[0].Group, m.Nodes[1].Group)
	}
	s.Nodes[1].Labels = map[string]string{"pool": "gpu"}
	if got := label(""); got != ": , " {
		t.Errorf("without zones: %s", got)
	}
	s.Nodes[1].Labels[corev1.LabelTopologyZone] = "a"
	if got := label(""); got != corev1.LabelTopologyZone+": , a" {
		t.Errorf("one node has a zone: %s", got)
	}
	if got := label("pool"); got != "pool: , gpu" {
		t.Errorf("by another label: %s", got)
	}
}

// TestEveryMap checks that each node is on the map once, with a known state, and that the map of a plan agrees with the
// plan.
func TestEveryMap(t *testing.T) {
	does := 0
	for seed := range cases.Of(int64(60)) {
		st := stateOf(t, dstest.RandomTrouble(seed))
		r, err := whatif.Make(st, &whatif.Change{Restart: true})
		if err != nil || !st.PodsRead {
			continue
		}
		p := MakeChanged(r, Options{})
		m := p.Map(r.State, "pool")
		if len(m.Nodes) != len(r.State.Nodes) {
			t.Fatalf("seed %d: %d nodes of %d", seed, len(m.Nodes), len(r.State.Nodes))
		}
		for i, n := range m.Nodes {
			if n.Node != r.State.Nodes[i].Name || !slices.Contains(MapStates, n.State) {
				t.Errorf("seed %d: %s is %q", seed, n.Node, n.State)
			}
			loses := slices.Contains(Nodes(p.LostLater()), n.Node)
			if is := n.State == NodeLosesLater; is && !loses || loses && !is && !slices.Contains(Nodes(p.Placement.Lose), n.Node) {
				t.Errorf("seed %d: %s is %q, the plan says otherwise", seed, n.Node, n.State)
			}
			does += b2i(slices.Contains([]NodeState{NodeStays, NodeLosesLater}, n.State))
		}
	}
	if does < cases.Least(10) {
		t.Errorf("plans do something to %d nodes only", does)
	}
}

// TestLine checks that the course of a rollout begins now, ends like the plan, and never uses up more than the limit,
// apart from what is already used up.
func TestLine(t *testing.T) {
	drawn := 0
	for seed := range cases.Of(int64(80)) {
		st := stateOf(t, dstest.Random(seed))
		r, err := whatif.Make(st, &whatif.Change{Restart: true})
		if err != nil {
			continue
		}
		start := 20 * time.Second
		p, line := MakeChangedLine(r, Options{Starts: []time.Duration{start}})
		if diff := cmp.Diff(MakeChanged(r, Options{Starts: []time.Duration{start}}), p); diff != "" {
			t.Fatalf("seed %d: a plan that is drawn is another one: %s", seed, diff)
		}
		if _, none := MakeChangedLine(r, Options{}); len(none) > 0 && p.Outcome.Code == NothingToDo {
			t.Errorf("seed %d: a course of nothing", seed)
		}
		if len(line) == 0 || p.Outcome.Code != Completes {
			continue
		}
		drawn++
		if at := line[0].At; at != 0 {
			t.Errorf("seed %d: it begins at %v", seed, at)
		}
		if last := line[len(line)-1]; last.Updated != p.AtEnd().Updated {
			t.Errorf("seed %d: %d updated at the end, the plan says %d", seed, last.Updated, p.AtEnd().Updated)
		}
		for i, m := range line {
			if i > 0 && (m.At <= line[i-1].At || m.Updated == line[i-1].Updated && m.Used == line[i-1].Used) {
				t.Errorf("seed %d: %v follows %v", seed, m, line[i-1])
			}
			if m.Used > max(p.Budget.Limit, line[0].Used, p.Outcome.Worst, p.Outcome.Largest) {
				t.Errorf("seed %d: %d nodes use up the limit of %d", seed, m.Used, p.Budget.Limit)
			}
		}
		for _, most := range []int{2, 3, 10} {
			fewer := Fewer(line, most)
			if len(fewer) > most || fewer[0].At != line[0].At || fewer[len(fewer)-1].Updated != line[len(line)-1].Updated {
				t.Errorf("seed %d: the %d of %d moments are %v", seed, most, len(line), fewer)
			}
		}
	}
	if drawn < cases.Least(20) {
		t.Errorf("only %d courses", drawn)
	}
}

// TestPastLine checks that the past course is reconstructed from existing pods and nodes.
func TestPastLine(t *testing.T) {
	ago := func(d time.Duration) time.Time { return dstest.Now.Add(-d) }
	created := func(name string, d time.Duration) dstest.Option {
		return dstest.Pod(name, func(p *corev1.Pod) { p.CreationTimestamp.Time = ago(d) })
	}
	st := stateOf(t, dstest.State("N N O n", created("p0", 50*time.Second), created("p1", 20*time.Second), created("p3", 10*time.Second)))
	for _, tt := range []struct {
		why   string
		began time.Duration
		want  []Moment
	}{
		{"pods were created since it began, and one of them is not available", time.Minute, []Moment{{At: -60}, {At: -50, Updated: 1}, {At: -20, Updated: 2}, {At: -10, Updated: 3, Used: 1}}},
		{"what is older than that was there when it began", 30 * time.Second, []Moment{{At: -30, Updated: 1}, {At: -20, Updated: 2}, {At: -10, Updated: 3, Used: 1}}},
		{"nothing has passed", 0, nil},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, PastLine(st, ago(tt.began))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFewer checks that moments in the same part of the time are merged: the last number of updated nodes counts, and
// the highest number of nodes that use up the limit.
func TestFewer(t *testing.T) {
	line := []Moment{{0, 0, 1}, {1, 1, 5}, {2, 2, 3}, {10, 3, 4}, {19, 4, 9}, {20, 5, 2}}
	for most, want := range map[int][]Moment{
		1: line, 6: line,
		3: {{0, 2, 5}, {10, 4, 9}, {20, 5, 2}},
		2: {{0, 4, 9}, {20, 5, 2}},
	} {
		if diff := cmp.Diff(want, Fewer(line, most)); diff != "" {
			t.Errorf("at most %d: %s", most, diff)
		}
	}
}
