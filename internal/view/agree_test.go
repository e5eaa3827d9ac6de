package view

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/agree"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// told is a Snapshot of a story, or a random one, with the changes that are
// asked about it.
type told struct {
	name    string
	s       *snapshot.Snapshot
	changes []*plan.Change
}

// everyWorld returns the worlds of all stories, and random ones with all kinds
// of trouble.
func everyWorld(t *testing.T, random int64) []told {
	t.Helper()
	var out []told
	for _, pattern := range []string{"testdata/*.txtar", "testdata/plan/*.txtar", "testdata/history/*.txtar"} {
		files, err := filepath.Glob(pattern)
		check(t, err)
		for _, file := range files {
			story, err := txtar.ParseFile(file)
			check(t, err)
			var last *told
			for _, f := range story.Files {
				switch name, _, _ := strings.Cut(f.Name, " "); name {
				case "world":
					out = append(out, told{name: file, s: parseWorld(t, string(f.Data)), changes: []*plan.Change{nil}})
					last = &out[len(out)-1]
				case "change":
					c := &plan.Change{}
					check(t, yaml.UnmarshalStrict(f.Data, c))
					last.changes = append(last.changes, c)
				}
			}
		}
	}
	for seed := range random {
		s := dstest.RandomTrouble(seed)
		out = append(out, told{name: "seed " + time.Duration(seed).String(), s: s, changes: changes(s)})
	}
	return out
}

// smallWorlds returns every state of three nodes that has one of these pods on
// each, under every limit: what is rare among random states is in it.
//
//	x  a new pod that crashes, and does not become available by itself
//	d  an old pod on a node whose kubelet is silent
//
// The others are those of dstest.State.
func smallWorlds() []told {
	var out []told
	limits := map[string][]dstest.Option{
		"maxUnavailable 1": nil, "maxUnavailable 2": {dstest.MaxUnavailable("2")}, "maxSurge 1": {dstest.MaxUnavailable("0"), dstest.MaxSurge("1")}, "OnDelete": {dstest.OnDelete()},
	}
	cells := []string{"O", "N", "n", "x", "W", "V", "-", "d", "Ot"}
	for _, limit := range slices.Sorted(maps.Keys(limits)) {
		for i := range len(cells) * len(cells) * len(cells) {
			a, b, c := i%len(cells), i/len(cells)%len(cells), i/len(cells)/len(cells)
			if a > b || b > c { // the order of nodes decides nothing
				continue
			}
			three := []string{cells[a], cells[b], cells[c]}
			options := append([]dstest.Option{dstest.MinReadySeconds(60)}, limits[limit]...)
			var grid []string
			for n, c := range three {
				switch c {
				case "x":
					options = append(options, dstest.Pod(fmt.Sprintf("p%d", n), func(p *corev1.Pod) {
						p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", RestartCount: 5, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}
					}))
					c = "n"
				case "n":
					options = append(options, dstest.Pod(fmt.Sprintf("p%d", n), func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(dstest.Now.Add(-10 * time.Second)) }))
				case "d":
					options = append(options, dstest.Node(fmt.Sprintf("n%d", n), func(n *corev1.Node) {
						n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(dstest.Now.Add(-time.Hour))}}
					}))
					c = "o"
				}
				grid = append(grid, c)
			}
			out = append(out, told{limit + ": " + strings.Join(three, " "), dstest.State(strings.Join(grid, " "), options...), []*plan.Change{nil, {Restart: true}}})
		}
	}
	return out
}

// TestPlansAgreeWithThemselves: the table of waves, the outcome and the
// assumptions say the same, in every story and in random states.
func TestPlansAgreeWithThemselves(t *testing.T) {
	waves, failing := 0, 0
	for _, w := range append(everyWorld(t, 60), smallWorlds()...) {
		for i, c := range w.changes {
			p, err := plan.Make(w.s, c, plan.Options{Starts: []time.Duration{41 * time.Second}})
			if err != nil {
				continue // a change that cannot be made
			}
			if err := agree.Plan(p); err != nil {
				t.Errorf("%s, change %d: %v", w.name, i, err)
			}
			waves += len(p.Waves)
			failing += b2i(len(p.Waves) > 0 && slices.ContainsFunc(p.Assumptions, func(a daemonset.Assumption) bool { return a.Code == plan.AssumeRevisionFails }))
		}
	}
	if waves < 1500 || failing < 60 {
		t.Errorf("only %d waves, %d tables of revisions that fail", waves, failing)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
