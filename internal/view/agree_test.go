package view

import (
	"bytes"
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
	"github.com/kubectl-ds/kubectl-ds/internal/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
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
					out = append(out, told{name: file, s: world.Parse(t, string(f.Data)), changes: []*plan.Change{nil}})
					last = &out[len(out)-1]
				case "change":
					c := &plan.Change{}
					check(t, yaml.UnmarshalStrict(f.Data, c))
					last.changes = append(last.changes, c)
				}
			}
		}
	}
	seeds := []int64{177, 240} // a revision, and a pod, without a hash
	for seed := range random {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		s := dstest.RandomTrouble(seed)
		out = append(out, told{name: fmt.Sprintf("seed %d", seed), s: s, changes: changes(s)})
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
	cells := []string{"O", "N", "n", "x", "W", "V", "-", "d", "Ot", "Ot/N"}
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

// TestAnswersAgree: explain, explain -A, plan-rollout and history count the same
// of one Snapshot, in every story and in random states, and so do their screens.
func TestAnswersAgree(t *testing.T) {
	verdicts := map[explain.VerdictCode]int{}
	for _, w := range append(everyWorld(t, 80), smallWorlds()...) {
		st := stateOf(t, w.s)
		e := explain.Explain(w.s, st, explain.Options{})
		p, err := plan.Make(w.s, nil, plan.Options{Starts: []time.Duration{41 * time.Second}})
		check(t, err)
		h, err := history.Make(w.s, st, history.Options{})
		check(t, err)
		verdicts[e.Verdict.Code]++
		if err := agree.Answers(e, p, h); err != nil {
			t.Errorf("%s: %v", w.name, err)
		}
		if err := screensAgree(t, e, p); err != nil {
			t.Errorf("%s: %v", w.name, err)
		}
	}
	for _, code := range explain.VerdictCodes {
		if verdicts[code] < 3 {
			t.Errorf("only %d answers are %s", verdicts[code], code)
		}
	}
}

// screensAgree holds the words of the screens to each other.
func screensAgree(t *testing.T, e *explain.Explanation, p *plan.Plan) error {
	t.Helper()
	var one, list, planned bytes.Buffer
	check(t, Explanation(&one, e, Style{All: true}))
	check(t, Explanations(&list, &explain.List{Items: []*explain.Explanation{e}}, nil, Style{Wide: true}))
	check(t, Plan(&planned, p, "", Style{All: true}))
	first := func(b *bytes.Buffer) string { l, _, _ := strings.Cut(b.String(), "\n"); return l }
	switch {
	case strings.HasPrefix(first(&one), "HEALTHY  ") && strings.Contains(one.String(), "\nPROBLEMS"):
		return fmt.Errorf("HEALTHY above PROBLEMS:\n%s", &one)
	case strings.Contains(first(&one), "all available and up to date") && e.Status.Computed != nil && (e.Status.Computed.Updated != e.Status.Computed.Desired || e.Status.Computed.Available != e.Status.Computed.Desired):
		return fmt.Errorf("%s\n%+v", first(&one), *e.Status.Computed)
	case strings.HasPrefix(first(&one), "DEGRADED") && strings.HasPrefix(first(&planned), "NOTHING TO DO"):
		return fmt.Errorf("%s\n%s", first(&one), first(&planned))
	case strings.HasPrefix(first(&planned), "DEGRADED") && strings.HasPrefix(first(&one), "HEALTHY"):
		return fmt.Errorf("%s\n%s", first(&planned), first(&one))
	}
	if c := e.Status.Computed; c != nil { // the row of the list has the numbers of the screen
		fields := strings.Fields(strings.Split(list.String(), "\n")[1])
		if want := strings.Fields(fmt.Sprint(c.Desired, c.Current, c.Ready, c.Updated, c.Available, c.Misscheduled)); !slices.Equal(fields[3:9], want) {
			return fmt.Errorf("explain: %v; its row in a list: %v", want, fields[3:9])
		}
	}
	if p.Replaces > 0 && p.Subject == plan.SubjectRollout && p.Outcome.Code == plan.Completes && len(p.Placement.Gain)+len(p.Placement.Lose) == 0 {
		want := plural(p.Replaces-p.Drops, "pod")
		if p.Replaces == p.Drops {
			want = "no pod"
		}
		if !strings.Contains(first(&planned), ": "+want+" ") || !strings.Contains(first(&planned), "replaced") {
			return fmt.Errorf("%d old pods, %d of which none follows: %s", p.Replaces, p.Drops, first(&planned))
		}
	}
	return nil
}
