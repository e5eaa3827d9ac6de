package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// TestWhatIf checks that the real controllers react to a change as the plan of the change says. The
// change is made by whatif.Change and by hand, and must be rejected by both or neither. There are
// ORACLE_WHATIFS changes of each kind, and ORACLE_WHATIFS_OTHERS for each other version.
func TestWhatIf(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		first, count := number(t, "ORACLE_SEED", 1), perVersion(t, version, "ORACLE_WHATIFS", 30, 6)
		made, refused := &tally{}, &tally{}
		var lock sync.Mutex
		differ := 0
		each(start(t, version, 2), count*len(whatIfs), func(p *Program, i int) {
			kind, tries := i%len(whatIfs), int64(200) // if a state does not allow the change, the next seed is tried
			if !kindPossible(version, kind) {
				tries = 1
			}
			for try := range tries {
				seed := first + int64(i/len(whatIfs))*1_000_000 + int64(kind)*1000 + try
				name, possible, lines, err := tryWhatIf(p, version, seed, kind)
				if err != nil {
					t.Errorf("%s, seed %d: %v", name, seed, err)
					return
				}
				if len(lines) > 0 {
					lock.Lock()
					if differ++; differ <= 5 {
						t.Errorf("%s, seed %d differs:\n    %s", name, seed, strings.Join(lines, "\n    "))
					}
					lock.Unlock()
					return
				}
				if possible {
					made.add(name, 1)
					return
				}
				refused.add(name, 1)
			}
			if tries > 1 {
				t.Errorf("kind %d cannot be made of any of %d states", kind, tries)
			}
		})
		total := 0
		for _, n := range made.of {
			total += n
		}
		t.Logf("%s: %d what-ifs: %s; refused, as they must be: %s", version, total, made, refused)
		results.add(version, "what-ifs", total)
		results.add(version, "differences", differ)
		if version != dstest.Newest || t.Failed() || count < 30 {
			return
		}
		if total < 500 {
			t.Errorf("%d what-ifs: that is too few", total)
		}
		for name, n := range made.of {
			if n < 20 {
				t.Errorf("%s: %d: that is too few", name, n)
			}
		}
		if len(made.of) != len(whatIfs) {
			t.Errorf("%d of %d kinds were made", len(made.of), len(whatIfs))
		}
	})
}

// unacceptable reports whether a random template contains what the API server rejects: a required
// node affinity without terms.
func unacceptable(spec *corev1.PodSpec) bool {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return false
	}
	required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	return required != nil && len(required.NodeSelectorTerms) == 0
}

// tryWhatIf compares one change. It is not possible if both the plan and the cluster reject it.
func tryWhatIf(p *Program, version string, seed int64, kind int) (name string, possible bool, lines []string, err error) {
	s := newCluster(dstest.RandomFor(seed, version), script{seed: seed}).snapshot()
	if unacceptable(&s.DaemonSet.Spec.Template.Spec) {
		s.DaemonSet.Spec.Template.Spec.Affinity = nil // the API server rejects it
	}
	w := whatIfs[kind](rand.New(rand.NewPCG(uint64(seed), 0x776861746966)), s)

	world := newCluster(s, script{seed: seed})
	possible = w.make(world) && !unacceptable(&world.now.DaemonSet.Spec.Template.Spec)
	before, err := newState(s)
	if err != nil {
		return w.kind, possible, nil, err
	}
	changed, err := whatif.Make(before, &w.change)
	if refused := err != nil; refused == possible {
		return w.kind, possible, []string{fmt.Sprintf("possible: by hand %t, the plan says %v", possible, err)}, nil
	}
	if !possible {
		return w.kind, false, nil, nil
	}

	st := changed.State
	a, err := p.Ask(world.snapshot(), 6, seed, 0)
	if err != nil {
		return w.kind, possible, nil, err
	}
	lines = Compare(st, a)
	hand, planned := world.now.DaemonSet, st.DaemonSet
	if a, b := generations(planned), generations(hand); a != b {
		lines = append(lines, fmt.Sprintf("generations: the plan has %s, by hand %s", a, b))
	}
	if step := st.Sync(); len(a.Runs) > 0 && step.Reason != daemonset.StepBeingDeleted && step.Reason != daemonset.StepSelectsAll {
		if cut := len(a.Runs[0].NewRevisions) > 0; cut != changed.Summary.Revision.New {
			lines = append(lines, fmt.Sprintf("a new revision: the plan says %t, real %t", changed.Summary.Revision.New, cut))
		}
	}
	return w.kind, possible, lines, nil
}

func generations(ds *appsv1.DaemonSet) string {
	return fmt.Sprintf("%d and %q", ds.Generation, ds.Annotations[appsv1.DeprecatedTemplateGeneration])
}

// kindPossible reports whether the API of a version allows the change.
func kindPossible(version string, kind int) bool {
	s := dstest.RandomFor(1, version)
	return whatIfs[kind](rand.New(rand.NewPCG(1, 1)), s).kind != "maxSurge" || surges(version)
}
