package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	worlds "github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// compareOutcomes compares the end of each rollout with the plan at its beginning and at every
// batch.
//
// A rollout that completes must never be planned to stall. One that stalls must be planned to stall
// from the first state that shows the cause: from the beginning with dead nodes, otherwise from the
// first failed pods. The plan must then give the remaining old pods and the holders of the budget.
// The plan is given the start and end times of pods in the same rollout, so its duration must be
// right on any machine.
func compareOutcomes(t *testing.T, r *record, runs []*run, batches []batch) {
	t.Helper()
	close, compared := 0, 0
	var took, expected float64
	for _, u := range runs {
		ask := learn(t, r, u, runs)
		p := planned(t, u.start, ask)
		last := planned(t, r.replay(r.until(u.to), u.ended), ask)
		line := fmt.Sprintf("%-38s %s; planned at its start: %s", u.name, u.outcome(), brief(p))
		left := old(r.replay(r.until(u.to), u.ended))
		switch {
		case u.stalled && left > 0:
			if last.Outcome.Code != plan.Stalls || last.Outcome.Left != left {
				t.Errorf("%s: it stands still with %d old pods, the plan at its end: %s", u.name, left, brief(last))
			}
			if first := firstStall(t, r, u, ask); first == nil {
				t.Errorf("%s: no state before its end was planned to stall", u.name)
			} else if !covers(first, last) {
				t.Errorf("%s: first planned to stall as %s, it ended as %s", u.name, brief(first), brief(last))
			}
			if len(u.dead) > 0 && (p.Outcome.Code != plan.Stalls || !covers(p, last)) {
				t.Errorf("%s: planned at its start as %s, it ended as %s", u.name, brief(p), brief(last))
			}
		case u.stalled: // every pod that can be is replaced: the remaining nodes are named
			if p.Outcome.Code != plan.Completes || !slices.Equal(nodesOf(p), nodesOf(last)) || len(nodesOf(p)) == 0 {
				t.Errorf("%s: planned at its start as %s, it ended as %s", u.name, brief(p), brief(last))
			}
		default:
			for _, b := range batches {
				v := b.version
				if v <= u.changed.version || v >= u.to {
					continue
				}
				at := r.until(v)
				if q := planned(t, r.replay(at, at[len(at)-1].seen), ask); q.Outcome.Code == plan.Stalls {
					t.Errorf("%s: it came to its end, and was planned to stall before version %d: %s", u.name, v, brief(q))
				}
			}
			want := plan.Completes
			if u.unknown {
				want = plan.MayComplete
			}
			if p.Outcome.Code != want || p.Outcome.Duration == nil {
				t.Errorf("%s: planned at its start as %s", u.name, brief(p))
				break
			}
			took, expected = took+u.took().Seconds(), expected+p.Outcome.Duration.Expected
			ratio := u.took().Seconds() / p.Outcome.Duration.Expected
			line += fmt.Sprintf(", %.2f times that", ratio)
			if compared++; ratio > 0.8 && ratio < 1.2 {
				close++
			}
			if ratio < 0.5 || ratio > 3 { // the plan does not consider how long a busy controller takes
				t.Errorf("%s: took %.1f s, %.1f s were expected", u.name, u.took().Seconds(), p.Outcome.Duration.Expected)
			}
		}
		t.Log(line)
	}
	t.Logf("%d of %d rollouts that came to their end took within 20%% of what was expected", close, compared)
	if took < 0.7*expected || took > 2*expected {
		t.Errorf("together they took %.1f s, %.1f s were expected", took, expected)
	}
}

// learn returns how long pods of a rollout took to become ready and to end, as precisely as a watch
// allows. If there are too few, it uses all completed rollouts.
func learn(t *testing.T, r *record, u *run, all []*run) plan.Options {
	t.Helper()
	starts, ends := lasted(r, u)
	const few = 10
	if u.stalled || len(starts) < few || len(ends) < few {
		starts, ends = nil, nil
		for _, other := range all {
			if !other.stalled {
				s, e := lasted(r, other)
				starts, ends = append(starts, s...), append(ends, e...)
			}
		}
	}
	if len(starts) == 0 || len(ends) == 0 {
		t.Fatalf("%s: %d pods became ready and %d ended", u.name, len(starts), len(ends))
	}
	var sum time.Duration
	for _, d := range ends {
		sum += d
	}
	mean := sum / time.Duration(len(ends))
	return plan.Options{Starts: starts, Termination: &mean, RequestRate: stage.DefaultControllerQPS, RequestBurst: stage.DefaultControllerQPS * 3 / 2}
}

// lasted returns the times from creation to readiness, and from deletion to the end, of the pods of
// a rollout.
func lasted(r *record, u *run) (starts, ends []time.Duration) {
	created, deleted := map[string]time.Time{}, map[string]time.Time{}
	for _, e := range r.until(u.to) {
		pod, ok := e.object.(*corev1.Pod)
		if !ok || e.version < u.from {
			continue
		}
		switch at, deleting := deleted[e.name]; {
		case e.deleted && deleting:
			ends = append(ends, e.seen.Sub(at))
		case e.added:
			created[e.name] = e.seen
		case pod.DeletionTimestamp != nil && !deleting:
			deleted[e.name] = e.seen
		case stage.PodReady(pod) && !created[e.name].IsZero():
			starts = append(starts, e.seen.Sub(created[e.name]))
			delete(created, e.name)
		}
	}
	return starts, ends
}

func planned(t *testing.T, s *snapshot.Snapshot, o plan.Options) *plan.Plan {
	t.Helper()
	p, err := worlds.Plan(s, nil, o)
	must(t, err)
	return p
}

// firstStall returns the first plan of a rollout that predicts a stall, or nil.
func firstStall(t *testing.T, r *record, u *run, o plan.Options) *plan.Plan {
	t.Helper()
	for _, e := range r.until(u.to) {
		if e.version < u.changed.version {
			continue
		}
		if p := planned(t, r.replay(r.until(e.version+1), e.seen), o); p.Outcome.Code == plan.Stalls {
			return p
		}
	}
	return nil
}

// covers reports whether a plan predicted an end: as many remaining old pods and nodes, including
// those it names.
func covers(p, end *plan.Plan) bool {
	if p.Outcome.Left != end.Outcome.Left || len(p.Outcome.Holders)+p.Outcome.FurtherHolders != len(end.Outcome.Holders)+end.Outcome.FurtherHolders {
		return false
	}
	for _, n := range nodesOf(p) {
		if !slices.Contains(nodesOf(end), n) {
			return false
		}
	}
	return true
}

func nodesOf(p *plan.Plan) (names []string) {
	for _, h := range p.Outcome.Holders {
		names = append(names, h.Node)
	}
	return names
}

// old returns the number of old pods that are not terminating.
func old(s *snapshot.Snapshot) (n int) {
	current := ""
	var newest int64
	for i := range s.Revisions {
		if rev := &s.Revisions[i]; rev.Revision > newest {
			newest, current = rev.Revision, rev.Labels["controller-revision-hash"]
		}
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.DeletionTimestamp == nil && p.Labels["controller-revision-hash"] != current {
			n++
		}
	}
	return n
}

func brief(p *plan.Plan) string {
	o := &p.Outcome
	text := fmt.Sprintf("%s, %d replaced, %d left", o.Code, o.Replaced, o.Left)
	if names := nodesOf(p); len(names) > 0 {
		text += ", held by " + strings.Join(names, " ")
	}
	if o.FurtherHolders > 0 {
		text += fmt.Sprintf(" and any %d", o.FurtherHolders)
	}
	if o.Duration != nil {
		text += fmt.Sprintf(", %.1f s (%.1f to %.1f)", o.Duration.Expected, o.Duration.Optimistic, o.Duration.Pessimistic)
	}
	return text
}
