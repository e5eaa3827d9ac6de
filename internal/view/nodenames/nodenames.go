// Package nodenames draws the nodes of a rollout as a map with one mark for each node, and shortens lists of node
// names. It takes nodes with their states and a width, and returns the rows of a screen.
package nodenames

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// mark shows the progress of a rollout on a node of the map.
type mark struct {
	Sign, Words string
	Served      string // appended if every such node still has an available pod
	tone        screen.Tone
}

// Marks lists the marks in the order of the legend. The legend adds the revision to NodeOld.
var Marks = []struct {
	plan.NodeState
	mark
}{
	{plan.NodeUpdated, mark{"#", "updated and available", "", screen.Good}},
	{plan.NodeReady, mark{"*", "Ready, not yet available", "", screen.Warn}},
	{plan.NodeStarting, mark{"+", "starting", ", old pod serves", screen.Warn}},
	{plan.NodeDeleting, mark{"-", "deleting", ", new pod serves", screen.Warn}},
	{plan.NodeEmpty, mark{"_", "no pod", "", screen.Warn}},
	{plan.NodeUnavailable, mark{"!", "old pod not available", "", screen.Bad}},
	{plan.NodeFails, mark{"x", "failing", ", old pod serves", screen.Bad}},
	{plan.NodeOld, mark{".", "on", "", screen.Plain}},
}

// Map draws the nodes of a rollout, with one mark for each node.
type Map struct {
	nodes []plan.OnNode // node-9 comes before node-10
	old   string        // the revision of the nodes in state NodeOld
	width int           // columns
	all   string        // the common parts of all names, with * for the rest; "" if the names are complete
}

// New returns a map of the nodes. If width is 0, the map has 100 columns.
func New(nodes []plan.OnNode, old string, width int) *Map {
	m := &Map{slices.Clone(nodes), old, cmp.Or(width, 100), ""}
	for i := range m.nodes {
		m.nodes[i].Node = screen.Clean(m.nodes[i].Node)
	}
	slices.SortStableFunc(m.nodes, func(a, b plan.OnNode) int { return CompareNames(a.Node, b.Node) })
	return m
}

// CompareNames compares two names. It compares the numbers in them by value.
func CompareNames(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m == 0 || n == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
		if c := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); c != 0 {
			return c
		}
		x, y = x[m:], y[n:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// digits returns the number of digits at the beginning of text.
func digits(text string) int { return len(text) - len(strings.TrimLeft(text, "0123456789")) }

// numbered splits a name before its trailing digits.
func numbered(name string) (prefix, number string) {
	prefix = strings.TrimRight(name, "0123456789")
	return prefix, name[len(prefix):]
}

// legendRow is a row of the legend: a mark and its number of nodes.
type legendRow struct {
	mark
	Count string
	nodes []string // the nodes that are changing
}

// Legend returns the rows of the legend and their width. It counts each node in one row.
func (m *Map) Legend() (rows []legendRow, width int) {
	of := map[plan.NodeState][]plan.OnNode{}
	for _, n := range m.nodes {
		of[n.State] = append(of[n.State], n)
	}
	digits := 0
	for _, nodes := range of {
		digits = max(digits, len(strconv.Itoa(len(nodes))))
	}
	for _, mark := range Marks {
		nodes := of[mark.NodeState]
		if len(nodes) == 0 {
			continue
		}
		row := legendRow{mark.mark, strconv.Itoa(len(nodes)), nil}
		switch unserved := func(n plan.OnNode) bool { return !n.Served }; {
		case mark.NodeState == plan.NodeOld:
			row.Words += " " + m.old
		case !slices.ContainsFunc(nodes, unserved):
			row.Words += row.Served
		}
		for i := range nodes {
			if nodes[i].State.Moves() {
				row.nodes = append(row.nodes, nodes[i].Node)
			}
		}
		rows = append(rows, row)
		width = max(width, len("# ")+screen.Width(row.Words)+len("  ")+digits)
	}
	return rows, width
}

// line returns a row of the legend: the mark, its words and its number of nodes.
func (r *legendRow) line(width int) screen.Lines {
	words := r.Words + strings.Repeat(" ", max(1, width-len("# ")-screen.Width(r.Words)-len(r.Count)))
	return screen.Lines{{Text: r.Sign, Tone: r.tone}, {Text: " " + words + r.Count}}
}

// Draw draws the map and its legend in at most the given number of lines. It returns nil if there is not enough space.
// If the names end in numbers, the map shows the number of each node above its mark. Otherwise, it shows rows of marks.
// With more than a thousand nodes, or if space is short, each mark represents several nodes. If the names are long, a
// line above the map shows their common parts.
func (m *Map) Draw(most int) screen.Rows {
	legend, width := m.Legend()
	short := m.shortened()
	for _, of := range []*Map{m, short} {
		rows := of.drawNumbered(m.width - width - margin)
		if len(rows) > 0 && max(len(rows), len(legend))+len(of.title()) <= most {
			return append(of.title(), appendLegend(rows, legend, width)...)
		}
	}
	below := m.detailedLegend(legend, width)
	if most < 3*len(below) {
		below = m.compactLegend(legend)
	}
	of := m
	if m.labelWidth() == 0 && short.labelWidth() > 0 && most > len(below)+len(short.title()) {
		of = short
	}
	rows := of.drawRows(most - len(below) - len(of.title()))
	if len(rows) == 0 {
		return nil
	}
	return slices.Concat(of.title(), rows, below)
}

// shortened returns a copy of the map whose names lack their common parts.
func (m *Map) shortened() *Map {
	short := *m
	if len(m.nodes) < 2 {
		return &short
	}
	short.nodes = slices.Clone(m.nodes)
	before, after := m.nodes[0].Node, m.nodes[0].Node
	for _, n := range m.nodes[1:] {
		before, after = before[:common(before, n.Node)], after[len(after)-commonEnd(after, n.Node):]
	}
	before = before[:strings.LastIndexAny(before, "-.")+1]
	if dot := strings.IndexByte(after, '.'); dot >= 0 {
		after = after[dot:]
	} else {
		after = ""
	}
	for i := range short.nodes {
		short.nodes[i].Node = strings.TrimSuffix(strings.TrimPrefix(short.nodes[i].Node, before), after)
	}
	short.all = before + "*" + after
	return &short
}

// common returns the length of the common prefix of two texts, in bytes.
func common(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// commonEnd returns the length of the common suffix of two texts, in bytes.
func commonEnd(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// title returns a line with the common parts of the names, or no line if the names are complete.
func (m *Map) title() (rows screen.Rows) {
	if m.all != "" {
		rows = screen.Rows{{{Text: m.all}}}
	}
	return rows
}

// margin is the number of columns between a map and its legend.
const margin = 4

// appendLegend appends the legend to the rows of a map, on their right.
func appendLegend(rows screen.Rows, legend []legendRow, width int) screen.Rows {
	taken := func(line screen.Lines) (columns int) {
		for _, part := range line {
			columns += screen.Width(part.Text)
		}
		return columns
	}
	wide := 0
	for _, line := range rows {
		wide = max(wide, taken(line))
	}
	for i, l := range legend {
		if i == len(rows) {
			rows = append(rows, nil)
		}
		rows[i] = append(append(rows[i], screen.Line{Text: strings.Repeat(" ", wide-taken(rows[i])+margin)}),
			l.line(width)...)
	}
	return rows
}

// detailedLegend returns the legend below a map, with the names of the nodes that are changing.
func (m *Map) detailedLegend(legend []legendRow, width int) (rows screen.Rows) {
	for _, l := range legend {
		line := l.line(width)
		if names := fittingNames(l.nodes, m.width-width-margin); names != "" {
			line = append(line, screen.Line{Text: "  " + names})
		}
		rows = append(rows, line)
	}
	return rows
}

// compactLegend returns the legend in as few lines as possible.
func (m *Map) compactLegend(legend []legendRow) (rows screen.Rows) {
	const between = "   "
	at := m.width
	for _, l := range legend {
		words := " " + l.Count + " " + l.Words
		took := len(between) + len(l.Sign) + screen.Width(words)
		if at+took > m.width-2 {
			rows, at = append(rows, nil), 0
		}
		line := &rows[len(rows)-1]
		if at > 0 {
			*line = append(*line, screen.Line{Text: between})
		}
		*line = append(*line, screen.Line{Text: l.Sign, Tone: l.tone}, screen.Line{Text: words})
		at += took
	}
	return rows
}

// fittingNames lists the names that fit into the given columns, and the number of the others. It returns "" if no name
// fits.
func fittingNames(names []string, columns int) string {
	for n := min(len(names), columns/2); n > 0; n-- {
		text := strings.Join(names[:n], ", ")
		if more := len(names) - n; more > 0 {
			text += fmt.Sprintf(" +%d more", more)
		}
		if screen.Width(text) <= columns {
			return text
		}
	}
	return ""
}

// mostTail is the maximum length of the number or suffix above a mark.
const mostTail = 4

// tails returns a function that splits a name into a prefix, shown before the row, and a short tail, shown above the
// mark. It splits before the trailing digits or after the last hyphen or dot, whichever leads to fewer rows. It returns
// nil if neither leaves a short tail.
func (m *Map) tails() (split func(name string) (prefix, tail string)) {
	fewest := 0
	for _, by := range []func(string) (string, string){numbered, lastPart} {
		prefixes, short := map[string]bool{}, true
		for _, n := range m.nodes {
			prefix, tail := by(n.Node)
			prefixes[prefix] = true
			short = short && tail != "" && len(tail) <= mostTail
		}
		if short && (split == nil || len(prefixes) < fewest) {
			split, fewest = by, len(prefixes)
		}
	}
	return split
}

// lastPart splits a name after its last hyphen or dot.
func lastPart(name string) (prefix, tail string) {
	at := strings.LastIndexAny(name, "-.") + 1
	return name[:at], name[at:]
}

// drawNumbered draws two lines for each prefix of the names: the tails, and the marks below them. It returns nil if
// tails cannot split the names, or if fewer than five marks fit into the columns.
func (m *Map) drawNumbered(columns int) (rows screen.Rows) {
	const fewest = 5
	if len(m.nodes) == 0 || len(m.nodes) > 1000 {
		return nil
	}
	split := m.tails()
	if split == nil {
		return nil
	}
	label, digits, inRow := 0, 0, map[string]int{}
	for _, n := range m.nodes {
		prefix, number := split(n.Node)
		label, digits = max(label, screen.Width(prefix)), max(digits, len(number))
		inRow[prefix]++
	}
	perLine := (columns - 2 - label - 1) / (digits + 1)
	if perLine < fewest {
		return nil
	}
	if slices.Max(slices.Collect(maps.Values(inRow))) > perLine {
		perLine -= perLine % 5 // groups of five are easy to count
	}
	for at := 0; at < len(m.nodes); {
		prefix, _ := split(m.nodes[at].Node)
		numbers := screen.Lines{{Text: prefix + strings.Repeat(" ", label-screen.Width(prefix)+1)}}
		signs := screen.Lines{{Text: strings.Repeat(" ", label+1)}}
		for end := at + perLine; at < len(m.nodes) && at < end; at++ {
			p, number := split(m.nodes[at].Node)
			if p != prefix {
				break
			}
			mark, pad := markOf(m.nodes[at].State), strings.Repeat(" ", digits-1)
			numbers = append(numbers, screen.Line{Text: " " + number + strings.Repeat(" ", digits-len(number))})
			signs = append(signs, screen.Line{Text: " "}, screen.Line{Text: mark.Sign, Tone: mark.tone},
				screen.Line{Text: pad})
		}
		rows = append(rows, numbers, signs)
	}
	return rows
}

func markOf(s plan.NodeState) mark {
	for _, m := range Marks {
		if m.NodeState == s {
			return m.mark
		}
	}
	return mark{Sign: "?"}
}

// labelWidth returns the width of the names before rows of marks, or 0 if the names do not fit.
func (m *Map) labelWidth() (label int) {
	for _, n := range m.nodes {
		label = max(label, screen.Width(n.Node))
	}
	if label > m.width/3 {
		return 0
	}
	return label
}

// drawRows draws at most the given number of rows, with marks in groups of ten. Each row begins with the name of its
// first node. If a mark represents several nodes, it shows the worst state.
func (m *Map) drawRows(most int) (rows screen.Rows) {
	label := m.labelWidth()
	const ten = " ##########"
	perLine := (m.width - 2 - label - 1) / len(ten) * 10
	each := 1
	if len(m.nodes) > 1000 {
		each = 2
	}
	if each > 1 || len(m.nodes) > perLine*most {
		most-- // for the line that explains the marks
	}
	if perLine < 1 || most < 1 {
		return nil
	}
	for len(m.nodes) > each*perLine*most {
		each++
	}
	for at := 0; at < len(m.nodes); {
		first := ""
		if label > 0 {
			first = m.nodes[at].Node
		}
		line := screen.Lines{{Text: first + strings.Repeat(" ", label-screen.Width(first)+1)}}
		for n := 0; n < perLine && at < len(m.nodes); n++ {
			if n%10 == 0 {
				line = append(line, screen.Line{Text: " "})
			}
			worst := markOf(worstOf(m.nodes[at:min(at+each, len(m.nodes))]))
			line = append(line, screen.Line{Text: worst.Sign, Tone: worst.tone})
			at += each
		}
		rows = append(rows, line)
	}
	if each > 1 {
		words := fmt.Sprintf("(a mark stands for %d nodes, and shows the worst of them)", each)
		rows = append(rows, screen.Lines{{Text: words}})
	}
	return rows
}

// worstOf returns the worst state of the nodes.
func worstOf(nodes []plan.OnNode) plan.NodeState {
	return slices.MinFunc(nodes, func(a, b plan.OnNode) int {
		return slices.Index(plan.NodeStates, a.State) - slices.Index(plan.NodeStates, b.State)
	}).State
}
