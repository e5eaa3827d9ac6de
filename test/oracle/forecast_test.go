package oracle

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/agree"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// TestForecasts records ORACLE_FORECASTS rollouts of the newest controller, from seed ORACLE_SEED
// on, and compares the plan for every snapshot with what happened: how long the rollout took, and
// how it ended.
func TestForecasts(t *testing.T) {
	first, count := number(t, "ORACLE_SEED", 1), int(number(t, "ORACLE_FORECASTS", int64(len(sceneKinds))))
	all := scores{}
	var lock sync.Mutex
	each(start(t, dstest.Newest, 2), count, func(p *Program, i int) {
		s := newScene(first + int64(i))
		r, err := roll(p, s)
		if err != nil {
			t.Errorf("seed %d, %s %s: %v", s.seed, s.group, s.trouble, err)
			return
		}
		if wrong := r.unlike(); wrong != "" {
			t.Errorf("%s\n%s: %s", s.words(), r.ended.Sub(r.began), wrong)
		}
		got, lines := forecastsOf(r)
		lock.Lock()
		defer lock.Unlock()
		if os.Getenv("ORACLE_FORECAST_LINES") != "" {
			t.Log("\n" + strings.Join(lines, "\n"))
		}
		for _, c := range got.contradictions {
			t.Error(c)
		}
		all.add(s.group, got)
	})
	t.Logf("seeds %d to %d\n%s", first, first+int64(count)-1, all)
	if count < len(sceneKinds) {
		return // too few for a statement
	}
	for _, floor := range []struct {
		group string
		least int // per hundred
		of    func(*score) (n, of int)
		what  string
	}{
		{plainScene, 70, (*score).closeOnes, "expected within 20% or 3 s"},
		{surgeScene, 60, (*score).closeOnes, "expected within 20% or 3 s"},
		{resumedScene, 75, (*score).closeOnes, "expected within 20% or 3 s"},
		{"all", 88, (*score).beside, "as close as who knows how times are drawn"},
		{"all", 68, (*score).ranges, "the range holds the truth"},
		{plainScene, 99, (*score).calm, "not called Stalls, of what completed"},
		{surgeScene, 99, (*score).calm, "not called Stalls, of what completed"},
		{"all", 97, (*score).calm, "not called Stalls, of what completed"},
		{"all", 99, (*score).warned, "no plain Completes, before a stall or a short end"},
	} {
		if n, of := floor.of(all[floor.group]); 100*n < floor.least*of {
			t.Errorf("%s: %s: %d of %d, less than %d%%", floor.group, floor.what, n, of, floor.least)
		}
	}
}

func (s *score) closeOnes() (n, of int) { return s.close, s.dated }
func (s *score) beside() (n, of int)    { return s.close, s.knowable }
func (s *score) ranges() (n, of int)    { return s.within, s.dated }
func (s *score) calm() (n, of int)      { return s.unaided - s.alarms, s.unaided }
func (s *score) warned() (n, of int)    { return s.troubled - s.missed, s.troubled }

// unlike says how a recording differs from the subject of its scene, or "".
func (r *recording) unlike() string {
	whole := r.left == 0 && len(r.lacks) == 0
	switch s := r.scene; {
	case len(r.shots) < 3:
		return fmt.Sprintf("it was seen %d times only", len(r.shots))
	case whole && s.group == brokenScene:
		return "it completed although every new pod is broken"
	case !whole && slices.Contains([]string{plainScene, surgeScene, lateScene, resumedScene}, s.group):
		return fmt.Sprintf("nothing is wrong with it, and it ended with %d old pods, and without a pod on %v", r.left, r.lacks)
	}
	return ""
}

// score sums up the forecasts for a group of rollouts.
type score struct {
	rollouts, snapshots int

	dated    int // snapshots between 25% and 90% of a completed rollout
	stood    int // rollouts in which the controller paused for an unpredictable time
	silent   int // those without a time
	close    int // expected time within 20% or 3 s
	knowable int // the same for an ideal forecaster, who knows how the times are drawn
	within   int // the range contains the truth
	widths   []float64
	alarms   int // snapshots of completed rollouts with the verdict Stalls
	unaided  int // snapshots of completed rollouts
	troubled int // snapshots before a stall or a short end with permanent trouble
	missed   int // those with an unconditional Completes
	errors   []float64

	contradictions []string
}

type scores map[string]*score

func (all scores) add(group string, s *score) {
	for _, g := range []string{group, "all"} {
		if all[g] == nil {
			all[g] = &score{}
		}
		a := all[g]
		a.rollouts, a.snapshots = a.rollouts+s.rollouts, a.snapshots+s.snapshots
		a.dated, a.silent, a.close, a.within = a.dated+s.dated, a.silent+s.silent, a.close+s.close, a.within+s.within
		a.widths, a.errors = append(a.widths, s.widths...), append(a.errors, s.errors...)
		a.stood, a.knowable = a.stood+s.stood, a.knowable+s.knowable
		a.alarms, a.unaided, a.troubled, a.missed = a.alarms+s.alarms, a.unaided+s.unaided, a.troubled+s.troubled, a.missed+s.missed
	}
}

func (all scores) String() string {
	var b strings.Builder
	fmt.Fprintln(&b, "| rollouts | stood still | snapshots | dated | within 20% or 3 s | by who knows how times are drawn | no time | range holds | width / truth | false alarms | missed stalls |")
	for _, g := range slices.Sorted(maps.Keys(all)) {
		s := all[g]
		slices.Sort(s.widths)
		slices.Sort(s.errors)
		width := 0.
		if n := len(s.widths); n > 0 {
			width = s.widths[n/2]
		}
		fmt.Fprintf(&b, "| %s: %d | %d | %d | %d | %s | %s | %s | %s | %.2f | %d of %d | %d of %d |\n", g, s.rollouts, s.stood, s.snapshots, s.dated,
			part(s.close, s.dated), part(s.knowable, s.dated), part(s.silent, s.dated), part(s.within, s.dated), width, s.alarms, s.unaided, s.missed, s.troubled)
	}
	return b.String()
}

func part(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(n)/float64(of))
}

// forecastsOf makes the plan for every snapshot of a recording.
func forecastsOf(r *recording) (*score, []string) {
	s := &score{rollouts: 1}
	var lines []string
	whole := r.ended.Sub(r.began).Seconds()
	was := ""
	if r.stood {
		s.stood = 1
	}
	for _, shot := range r.shots {
		gone := shot.TakenAt.Sub(r.began).Seconds() / whole
		st, err := newState(shot)
		if err != nil {
			lines = append(lines, err.Error())
			continue
		}
		if err := agree.Moment(st); err != nil {
			s.contradictions = append(s.contradictions, fmt.Sprintf("seed %d at %.0f%%: %v", r.scene.seed, 100*gone, err))
		}
		p := plan.Make(st, plan.Options{})
		o := &p.Outcome
		s.snapshots++
		verdict := "right"
		switch left := r.ended.Sub(shot.TakenAt).Seconds(); {
		case r.stalls(), len(r.lacks) > 0 && !r.trouble.IsZero():
			verdict = ""
			if r.trouble.IsZero() || shot.TakenAt.Sub(r.trouble).Seconds() < 2*slowest(st) {
				break
			}
			s.troubled++
			if o.Code == plan.Completes && len(o.Late) == 0 && o.Unserved() == 0 {
				s.missed++
				verdict = "MISSED"
			}
		default:
			if gone <= 1 {
				s.unaided++
				if o.Code == plan.Stalls {
					s.alarms++
					verdict = "ALARM"
				}
			}
			if gone < 0.25 || gone > 0.9 || r.stood {
				break
			}
			s.dated++
			if k := plan.Make(st, r.scene.known()).Outcome.Duration; k != nil && near(k.Expected, left) {
				s.knowable++
			}
			if o.Duration == nil {
				s.silent++
				verdict = "no time"
				break
			}
			d := o.Duration
			s.errors = append(s.errors, (d.Expected-left)/left)
			if near(d.Expected, left) {
				s.close++
			} else {
				verdict = fmt.Sprintf("%+.0f%%", 100*(d.Expected-left)/left)
			}
			if d.Optimistic <= left && left <= d.Pessimistic {
				s.within++
			}
			s.widths = append(s.widths, (d.Pessimistic-d.Optimistic)/left)
		}
		now := fmt.Sprint(p.Verdict(), " ", verdict)
		if was != now {
			line := fmt.Sprintf("seed %d %s %s: %.0f%% of %.0f s, %s", r.scene.seed, r.scene.group, r.scene.trouble, 100*gone, whole, now)
			if d := o.Duration; d != nil {
				line += fmt.Sprintf(" says %.0f (%.0f to %.0f), truth %.0f", d.Expected, d.Optimistic, d.Pessimistic, r.ended.Sub(shot.TakenAt).Seconds())
			}
			lines = append(lines, line)
		}
		was = now
	}
	slices.Sort(s.errors)
	median := 0.
	if len(s.errors) > 0 {
		median = s.errors[len(s.errors)/2]
	}
	lines = append(lines, fmt.Sprintf("seed %d: close %s, silent %s, within %s of %d, median %+.0f%%; %s; ended after %s with %d old pods, %d nodes without, trouble %s",
		r.scene.seed, part(s.close, s.dated), part(s.silent, s.dated), part(s.within, s.dated), s.dated, 100*median, r.scene.words(), r.ended.Sub(r.began).Round(time.Second), r.left, len(r.lacks), r.trouble.Format(time.TimeOnly)))
	return s, lines
}

// near reports whether an expected time is close to the truth.
func near(expected, truth float64) bool { return math.Abs(expected-truth) <= max(3, 0.2*truth) }

// known returns the forecast of someone who knows how the times of the scene are drawn, but not
// those still to come. No forecast can be consistently better.
func (s *scene) known() plan.Options {
	const many = 200
	var o plan.Options
	var ends time.Duration
	for i := range many {
		name := fmt.Sprint("known ", i)
		l := s.lifetimeOf(name, name, s.pull > 0, true)
		o.Starts = append(o.Starts, max(time.Second/10, seconds(l.ready), seconds(l.over)))
		ends += seconds(l.ends) / many
	}
	o.Termination = &ends
	return o
}

func (s *scene) words() string {
	return fmt.Sprintf("%s %s (%.0f%%), %d nodes, maxUnavailable %s, maxSurge %s, minReady %d, grace %d, %s, start %.1f sigma %.2f pull %.1f probe %.0f blind %t",
		s.group, s.trouble, 100*s.share, s.nodes, s.maxUnavailable.String(), s.maxSurge.String(), s.minReady, s.grace, s.ending, s.start, s.sigma, s.pull, s.period, s.blind)
}

// slowest returns the slowest start that anyone could expect.
func slowest(st *daemonset.State) float64 {
	known := cause.StartsOf(st).Seconds
	if len(known) == 0 {
		return math.Inf(1)
	}
	return known[len(known)-1]
}
