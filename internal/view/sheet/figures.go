package sheet

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/nodenames"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// cellKinds say how a cell of a grid shows a node, beside those of the marks.
var cellKinds = map[plan.NodeState]screen.Kind{
	plan.NodeStays:        {Sign: "=", Words: "stays as it is", Shade: screen.Broken},
	plan.NodeUnfit:        {Sign: "%", Words: "the new pod does not fit", Shade: screen.Broken},
	plan.NodeLoses:        {Sign: "0", Words: "loses its pod immediately", Shade: screen.Broken},
	plan.NodeLosesLater:   {Sign: "o", Words: "loses its pod in the rollout", Shade: screen.Doubtful},
	plan.NodeMisscheduled: {Sign: "m", Words: "not eligible, but has a pod", Shade: screen.Lacking},
	plan.NodeGone:         {Sign: "d", Words: "node deleted, but pods assigned to it remain", Shade: screen.Doubtful},
	plan.NodeGains:        {Sign: ">", Words: "gets a pod immediately", Shade: screen.Coming},
	plan.NodeExcluded:     {Sign: "/", Words: "not eligible", Shade: screen.Aside},
	"":                    {Sign: "?", Words: "unknown: the pods could not be read", Shade: screen.Aside},
}

// markShades are the colors of the marks.
var markShades = map[plan.NodeState]screen.Shade{
	plan.NodeUpdated: screen.Done, plan.NodeReady: screen.Nearly, plan.NodeStarting: screen.Coming,
	plan.NodeDeleting: screen.Going, plan.NodeEmpty: screen.Lacking,
	plan.NodeUnavailable: screen.Doubtful, plan.NodeFails: screen.Broken, plan.NodeOld: screen.Waiting,
}

// Grid is the nodes as a figure, colored by how far a rollout is on them. old is what a
// node is on whose pod is available and not updated.
func Grid(m *plan.Map, old string) *screen.Grid {
	g, place := NewGrid(m), map[plan.NodeState]int{}
	for _, state := range append(slices.Clone(plan.MapStates), "") {
		of := slices.DeleteFunc(slices.Clone(m.Nodes), func(n plan.OnMap) bool { return n.State != state })
		if len(of) == 0 {
			continue
		}
		k := cellKinds[state]
		for _, mark := range nodenames.Marks {
			if mark.NodeState != state {
				continue
			}
			k = screen.Kind{Sign: mark.Sign, Words: mark.Words, Shade: markShades[state]}
			unserved := func(n plan.OnMap) bool { return !n.Served }
			if state == plan.NodeOld {
				k.Words += " " + old
			} else if !slices.ContainsFunc(of, unserved) {
				k.Words += mark.Served
			}
		}
		place[state], g.Kinds = len(g.Kinds), append(g.Kinds, k)
	}
	FillGrid(g, m, func(n *plan.OnMap) int { return place[n.State] })
	return g
}

func NewGrid(m *plan.Map) *screen.Grid {
	g := &screen.Grid{Title: "Nodes"}
	if m.Label != "" {
		g.Title = "Nodes by " + m.Label
	}
	return g
}

// FillGrid adds the cells in their groups, and the table of all nodes.
func FillGrid(g *screen.Grid, m *plan.Map, kind func(*plan.OnMap) int) {
	heads := []string{"NODE", strings.ToUpper(path.Base(m.Label)), "STATE", "PROBLEM", "POD", "REVISION"}
	if m.Label == "" {
		heads = slices.Delete(heads, 1, 2)
	}
	g.Table = &screen.Table{Columns: Columns(heads...)}
	nodes := slices.Clone(m.Nodes)
	slices.SortStableFunc(nodes, func(a, b plan.OnMap) int {
		return cmp.Or(cmp.Compare(min(1, len(b.Group)), min(1, len(a.Group))), nodenames.CompareNames(a.Group, b.Group),
			nodenames.CompareNames(a.Node, b.Node))
	})
	counts := map[int]int{}
	for i := range nodes {
		n := &nodes[i]
		if i == 0 || n.Group != nodes[i-1].Group {
			name := n.Group
			if m.Label != "" {
				name = cmp.Or(name, "(no label)")
			}
			g.Groups, counts = append(g.Groups, screen.GridGroup{Name: name}), map[int]int{}
		}
		group, is := &g.Groups[len(g.Groups)-1], kind(n)
		counts[is]++
		if m.Label != "" {
			group.Words = groupWords(g, len(group.Cells)+1, counts)
		}
		words := g.Kinds[is].Words
		group.Cells = append(group.Cells, screen.GridCell{Kind: is, Name: n.Node, Words: words +
			wording.InBrackets(string(n.Problem)) + podsWords(n.Pods)})
		row := []string{n.Node, cmp.Or(n.Group, "-"), words, cmp.Or(string(n.Problem), "-"), "-", "-"}
		if len(n.Pods) > 0 {
			row[4], row[5] = n.Pods[0].Name, podRevision(&n.Pods[0])
		}
		if m.Label == "" {
			row = slices.Delete(row, 1, 2)
		}
		r := g.Table.Row(row...)
		for _, p := range n.Pods[min(1, len(n.Pods)):] {
			r.Cells[len(row)-2].Lines, r.Cells[len(row)-1].Lines = append(r.Cells[len(row)-2].Lines, p.Name),
				append(r.Cells[len(row)-1].Lines, podRevision(&p))
		}
	}
}

// groupWords say how many nodes of a group are how.
func groupWords(g *screen.Grid, of int, counts map[int]int) string {
	var parts []string
	for i, k := range g.Kinds {
		if counts[i] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[i], k.Words))
		}
	}
	return wording.Plural(of, "node") + ": " + strings.Join(parts, ", ")
}

// podsWords name the pods of a node with their revisions.
func podsWords(pods []plan.MapPod) (words string) {
	for i, p := range pods {
		words += map[bool]string{true: "; pod ", false: ", "}[i == 0] + p.Name + " on " + podOn(&p)
	}
	return words
}

func podOn(p *plan.MapPod) string {
	if p.Revision > 0 {
		return "revision " + podRevision(p)
	}
	return cmp.Or(wording.Behind("hash ", p.Hash), "no revision")
}

func podRevision(p *plan.MapPod) string {
	if p.Revision > 0 {
		return strconv.FormatInt(p.Revision, 10)
	}
	return cmp.Or(p.Hash, "-")
}

// LimitOf is the limit of a rolling update, as a timeline shows it.
type LimitOf struct {
	Kind  daemonset.BudgetKind
	Spec  string
	Limit int
	Of    int // nodes
}

func (l LimitOf) words() string {
	field, limit := wording.Either(l.Kind == daemonset.BudgetSurge, "maxSurge", "maxUnavailable"), strconv.Itoa(l.Limit)
	if l.Spec != limit {
		field += wording.Behind(" ", screen.Clean(l.Spec))
	}
	return "limit " + limit + " (" + field + ")"
}

// used says what the nodes that use up a limit are.
var used = map[daemonset.BudgetKind]string{daemonset.BudgetUnavailable: "without an available pod",
	daemonset.BudgetSurge: "with an extra pod"}

const (
	mostSteps = 300 // of a lane
	mostTimes = 40  // of the table of a timeline
)

// Timeline is a rollout over time: what has passed, and what is expected; nil where
// neither is known. Without what is expected, it stays as it is.
func Timeline(passed, expected []plan.Moment, l LimitOf, note string) *screen.Timeline {
	line := append(slices.Clone(passed), expected...)
	if len(line) == 0 || used[l.Kind] == "" {
		return nil
	}
	from, to := line[0].At, line[len(line)-1].At
	if len(expected) == 0 {
		to = 0
	}
	if to <= from {
		return nil
	}
	t := &screen.Timeline{Title: "Rollout over time", Note: note, From: from, To: to + (to-from)/50}
	top := l.Limit
	for _, m := range line {
		top = max(top, m.Used)
	}
	top += max(1, top/4) // above the line of the limit
	updated := screen.Lane{Title: "updated nodes", Shade: screen.Done, Until: t.To, Top: l.Of}
	without := screen.Lane{Title: used[l.Kind], Shade: screen.Lacking, Until: t.To, Top: top, Limit: l.Limit,
		Words: l.words()}
	for _, m := range plan.Fewer(line, mostSteps) {
		updated.Top = max(updated.Top, m.Updated)
		updated.Steps, without.Steps = append(updated.Steps, screen.Step{At: m.At, Value: m.Updated}),
			append(without.Steps, screen.Step{At: m.At, Value: m.Used})
	}
	t.Lanes = []screen.Lane{updated, without}
	t.Ticks = ticks(from, to)
	t.Table = &screen.Table{Columns: []screen.Column{{Head: "TIME"}, {Head: "UPDATED", Right: true},
		{Head: strings.ToUpper(used[l.Kind]), Right: true}, {Head: "LIMIT", Right: true}}}
	said, most := "", 0
	for _, m := range plan.Fewer(line, mostTimes) {
		if most = max(most, m.Used); when(m.At) == said { // of one time the last, and the most at it
			t.Table.Rows = t.Table.Rows[:len(t.Table.Rows)-1]
		} else {
			said, most = when(m.At), m.Used
		}
		t.Table.Row(said, strconv.Itoa(m.Updated), strconv.Itoa(most), strconv.Itoa(l.Limit))
	}
	return t
}

// when is a time by how far it is from the present.
func when(at float64) string {
	switch {
	case at < 0:
		return wording.Seconds(-at) + " ago"
	case at > 0:
		return "in " + wording.Seconds(at)
	}
	return "now"
}

// ticks are a few round times.
func ticks(from, to float64) (out []screen.Tick) {
	steps := []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 2 * 3600, 4 * 3600,
		6 * 3600, 12 * 3600}
	step := 86400 * max(1, math.Ceil((to-from)/4/86400))
	if i := slices.IndexFunc(steps, func(s float64) bool { return (to-from)/s <= 4 }); i >= 0 {
		step = steps[i]
	}
	for n := math.Ceil(from / step); n*step <= to; n++ {
		out = append(out, screen.Tick{At: n * step, Name: when(n * step)})
	}
	return out
}

// PastNote and expectedNote say what a timeline rests on.
func PastNote(passed []plan.Moment) string {
	return wording.Either(len(passed) > 0,
		"Until now: as today's pods and nodes tell; what has passed since is left out. ", "")
}

func ExpectedNote(expected []plan.Moment) string {
	return map[bool]string{true: "From now: expected, under the assumptions."}[len(expected) > 0]
}

// Explained is an Explanation with what a page draws of it.
type Explained struct {
	*explain.Explanation
	Map              *plan.Map
	Passed, Expected []plan.Moment // of a rollout under way
}

// Planned is a Plan with what else its screen needs, and what a page draws of it.
type Planned struct {
	*plan.Plan
	Now              *explain.Explanation // as Plan takes it
	Asked            Asked
	Map              *plan.Map
	Passed, Expected []plan.Moment
}

// Past is a History with what its screen shows beside it.
type Past struct {
	*history.History
	Now       *explain.Explanation // of the same Snapshot, for a rollout that is stuck; may be nil
	Map       *plan.Map            // which a page draws; may be nil
	ManagedBy []managed.Manager    // who writes the DaemonSet besides a person
}

// OldRevision names the revision that nodes which are not updated run.
func OldRevision(e *explain.Explanation) string {
	var old []string
	for _, r := range e.Running() {
		if !r.Current {
			old = append(old, wording.RevisionName(r))
		}
	}
	if len(old) == 1 {
		return old[0]
	}
	return "older revisions"
}
