package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// Moment is the state of a rollout from one time until the next Moment.
type Moment struct {
	At      float64 // seconds from now
	Updated int     // nodes whose pod counts as updated
	Used    int     // nodes that use up the limit
}

// MakeLine is like Make, and also returns the expected course of the rollout moment by moment, the present first. The
// course is nil if nothing happens, or if the start time of a pod is unknown.
func MakeLine(st *daemonset.State, o Options) (*Plan, []Moment) { return makePlan(st, o) }

// MakeChangedLine is like MakeChanged, and also returns the course as MakeLine does.
func MakeChangedLine(r *whatif.Result, o Options) (*Plan, []Moment) { return makeChanged(r, o) }

// drawn returns the moments that a simulation recorded, or nil if durations cannot be predicted or nothing happens.
func (sc *scenario) drawn(r *simulation) []Moment {
	if !sc.dated() || len(r.waves) == 0 {
		return nil
	}
	return r.line
}

// draw records the current moment. It replaces an earlier record of the same time.
func (r *simulation) draw() {
	m := Moment{r.now, r.tally.Counts().Updated, r.tally.Used()}
	n := len(r.line)
	for n > 0 && r.line[n-1].At >= m.At {
		n--
	}
	if n > 0 && r.line[n-1].Updated == m.Updated && r.line[n-1].Used == m.Used {
		r.line = r.line[:n]
		return
	}
	r.line = append(r.line[:n], m)
}

// PastLine reconstructs the course of a rollout in progress since it began, from existing pods and nodes: when each
// updated pod was created, and since when each node uses up the limit. It does not show what is over. It returns nil if
// began is not before the time of the State.
func PastLine(st *daemonset.State, began time.Time) []Moment {
	from := began.Sub(st.At).Seconds()
	if from >= 0 || !st.PodsRead {
		return nil
	}
	type change struct {
		at            float64
		updated, used int
	}
	changes := []change{{at: from}}
	since := func(t time.Time) float64 { return min(0, max(from, t.Sub(st.At).Seconds())) }
	causes := cause.Find(st)
	for i := range st.Nodes {
		n := &st.Nodes[i]
		if n.ShouldRun.OK && len(n.Pods) > 0 && n.Pods[0].Updated {
			changes = append(changes, change{at: since(n.Pods[0].Object.CreationTimestamp.Time), updated: 1})
		}
		if st.Holds(n) {
			at := 0.
			if c := causes.Of(n.Name); c != nil && c.Since != nil {
				at = since(*c.Since)
			} else if len(n.Pods) > 0 {
				at = since(n.Pods[len(n.Pods)-1].Object.CreationTimestamp.Time)
			}
			changes = append(changes, change{at: at, used: 1})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var line []Moment
	for _, c := range changes {
		m := Moment{At: c.at, Updated: c.updated, Used: c.used}
		if n := len(line); n > 0 {
			m.Updated, m.Used = m.Updated+line[n-1].Updated, m.Used+line[n-1].Used
			if line[n-1].At == c.at {
				line = line[:n-1]
			}
		}
		line = append(line, m)
	}
	return line
}

// Fewer reduces a line to the given number of moments, evenly spaced. Each has the highest number of nodes that use up
// the limit until the next one.
func Fewer(line []Moment, most int) []Moment {
	if len(line) <= most || most < 2 {
		return line
	}
	from, to := line[0].At, line[len(line)-1].At
	width := (to - from) / float64(most-1)
	var out []Moment
	slot := -1
	for _, m := range line {
		in := int((m.At - from) / width)
		if in == slot {
			last := &out[len(out)-1]
			last.Updated, last.Used = m.Updated, max(last.Used, m.Used)
			continue
		}
		slot, out = in, append(out, m)
	}
	out[len(out)-1].Used = line[len(line)-1].Used
	return out
}
