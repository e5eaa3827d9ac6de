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

// cellKinds has the cells of a grid for the states of a node that have no mark.
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

// markShades has the colors of the marks.
var markShades = map[plan.NodeState]screen.Shade{
	plan.NodeUpdated: screen.Done, plan.NodeReady: screen.Nearly, plan.NodeStarting: screen.Coming,
	plan.NodeDeleting: screen.Going, plan.NodeEmpty: screen.Lacking,
	plan.NodeUnavailable: screen.Doubtful, plan.NodeFails: screen.Broken, plan.NodeOld: screen.Waiting,
}

// Grid returns a figure of the nodes, colored by the progress of the rollout. old names the revision of nodes whose pod
// is available and not updated.
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

// NewGrid returns an empty grid with a title.
func NewGrid(m *plan.Map) *screen.Grid {
	g := &screen.Grid{Title: "Nodes"}
	if m.Label != "" {
		g.Title = "Nodes by " + m.Label
	}
	return g
}

// FillGrid adds the cells, by group, and the table of all nodes. kind returns the index of a node's kind in g.Kinds.
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

// groupWords returns the number of nodes of each kind in a group.
func groupWords(g *screen.Grid, of int, counts map[int]int) string {
	var parts []string
	for i, k := range g.Kinds {
		if counts[i] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[i], k.Words))
		}
	}
	return wording.Plural(of, "node") + ": " + strings.Join(parts, ", ")
}

// podsWords names the pods of a node with their revisions.
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
	return cmp.Or(wording.WithPrefix("hash ", p.Hash), "no revision")
}

func podRevision(p *plan.MapPod) string {
	if p.Revision > 0 {
		return strconv.FormatInt(p.Revision, 10)
	}
	return cmp.Or(p.Hash, "-")
}

// LimitOf is the limit of a rolling update for a timeline.
type LimitOf struct {
	Kind  daemonset.BudgetKind
	Spec  string
	Limit int
	Of    int // number of nodes
}

func (l LimitOf) words() string {
	field, limit := wording.Either(l.Kind == daemonset.BudgetSurge, "maxSurge", "maxUnavailable"), strconv.Itoa(l.Limit)
	if l.Spec != limit {
		field += wording.WithPrefix(" ", screen.Clean(l.Spec))
	}
	return "limit " + limit + " (" + field + ")"
}

// usedWords describes the nodes that count against a limit.
var usedWords = map[daemonset.BudgetKind]string{daemonset.BudgetUnavailable: "without an available pod",
	daemonset.BudgetSurge: "with an extra pod"}

const (
	mostSteps = 300 // maximum number of steps of a lane
	mostTimes = 40  // maximum number of rows of the table of a timeline
)

// Timeline returns a figure of a rollout over time, or nil if neither its past nor its future is known. If expected is
// empty, the figure ends now.
func Timeline(passed, expected []plan.Moment, l LimitOf, note string) *screen.Timeline {
	line := append(slices.Clone(passed), expected...)
	if len(line) == 0 || usedWords[l.Kind] == "" {
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
	top += max(1, top/4) // leave space above the line of the limit
	updated := screen.Lane{Title: "updated nodes", Shade: screen.Done, Until: t.To, Top: l.Of}
	without := screen.Lane{Title: usedWords[l.Kind], Shade: screen.Lacking, Until: t.To, Top: top, Limit: l.Limit,
		Words: l.words()}
	for _, m := range plan.Fewer(line, mostSteps) {
		updated.Top = max(updated.Top, m.Updated)
		updated.Steps, without.Steps = append(updated.Steps, screen.Step{At: m.At, Value: m.Updated}),
			append(without.Steps, screen.Step{At: m.At, Value: m.Used})
	}
	t.Lanes = []screen.Lane{updated, without}
	t.Ticks = ticks(from, to)
	t.Table = &screen.Table{Columns: []screen.Column{{Head: "TIME"}, {Head: "UPDATED", Right: true},
		{Head: strings.ToUpper(usedWords[l.Kind]), Right: true}, {Head: "LIMIT", Right: true}}}
	said, most := "", 0
	for _, m := range plan.Fewer(line, mostTimes) {
		// one row for each time: the latest state and the maximum number of used nodes
		if most = max(most, m.Used); relativeTime(m.At) == said {
			t.Table.Rows = t.Table.Rows[:len(t.Table.Rows)-1]
		} else {
			said, most = relativeTime(m.At), m.Used
		}
		t.Table.Row(said, strconv.Itoa(m.Updated), strconv.Itoa(most), strconv.Itoa(l.Limit))
	}
	return t
}

// relativeTime formats a time relative to now.
func relativeTime(at float64) string {
	switch {
	case at < 0:
		return wording.Seconds(-at) + " ago"
	case at > 0:
		return "in " + wording.Seconds(at)
	}
	return "now"
}

// ticks returns a few round times.
func ticks(from, to float64) (out []screen.Tick) {
	steps := []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 2 * 3600, 4 * 3600,
		6 * 3600, 12 * 3600}
	step := 86400 * max(1, math.Ceil((to-from)/4/86400))
	if i := slices.IndexFunc(steps, func(s float64) bool { return (to-from)/s <= 4 }); i >= 0 {
		step = steps[i]
	}
	for n := math.Ceil(from / step); n*step <= to; n++ {
		out = append(out, screen.Tick{At: n * step, Name: relativeTime(n * step)})
	}
	return out
}

// PastNote describes the data for the past of a timeline.
func PastNote(passed []plan.Moment) string {
	return wording.Either(len(passed) > 0,
		"Until now: as today's pods and nodes tell; what has passed since is left out. ", "")
}

// ExpectedNote describes the data for the future of a timeline.
func ExpectedNote(expected []plan.Moment) string {
	return map[bool]string{true: "From now: expected, under the assumptions."}[len(expected) > 0]
}

// Explained is an Explanation with the data for the figures of a page.
type Explained struct {
	*explain.Explanation
	Map              *plan.Map
	Passed, Expected []plan.Moment // for a rollout in progress
}

// Planned is a Plan with the data that its screen and the figures of a page need.
type Planned struct {
	*plan.Plan
	Now              *explain.Explanation // see Plan
	Asked            Asked
	Map              *plan.Map
	Passed, Expected []plan.Moment
}

// Past is a History with the data that its screen and the figures of a page need.
type Past struct {
	*history.History
	Now       *explain.Explanation // from the same Snapshot, if the rollout is stuck; may be nil
	Map       *plan.Map            // for the figures of a page; may be nil
	ManagedBy []managed.Manager    // the tools that write the DaemonSet
}

// OldRevision names the revision of nodes that are not updated.
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
