package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/diagnosis"
	"github.com/kubectl-ds/kubectl-ds/internal/view/nodenames"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/follow"
)

// Live is the content of a live screen: the state of a DaemonSet at one time, and the events before it.
type Live struct {
	Progress *follow.Progress
	Now      *explain.Explanation // explains the State and Outlook of Progress
	Last     []Event              // newest first
	Ended    bool                 // the watch has ended

	// Lost is the time of the last change if no changes arrive any more, or zero otherwise. If it is set, the screen
	// shows Clock as the current time. Everything else is from Progress.
	Lost, Clock time.Time
}

// Event is something that happened at one time, or a message about the watch.
type Event struct {
	follow.Happening
	Words string
}

// LiveScreen writes a Live in at most room lines. If room is 0, the number of lines is unlimited. docs/watch.md lists
// what the screen leaves out if space is short, and in which order.
func LiveScreen(w io.Writer, l *Live, asked sheet.Asked, style wording.Style, room int) error {
	p := l.Progress
	if p.End == follow.EndGone {
		s := sheet.New(&p.Header, asked, style)
		s.Screen.Headline = screen.Headline{Verdict: "DELETED", Tone: screen.Bad, Subject: s.Subject(),
			Text: "the DaemonSet was deleted", Clock: p.Header.Snapshot.TakenAt.Format(wording.ClockTime)}
		s.Screen.Add(screen.Last, lastEvents(l.Last, len(l.Last)))
		return s.Write(w, room)
	}
	nodes := nodenames.New(p.Nodes, sheet.OldRevision(l.Now), style.Width)
	const all = 100
	full := details{lines: cmp.Or(room/3, all), pods: 10, last: 10, parts: all, does: all, acts: all, outlook: all,
		words: all, states: true}
	return fitting(full, func(d details) (s *liveScreen, fits bool) {
		s = newLiveScreen(l, nodes, d, asked, style)
		t := style.Terminal()
		t.Height = room
		return s, room == 0 || s.Screen.Height(t) <= room
	}).Write(w, room)
}

// fitting returns the screen that fits and loses the fewest details. If none fits, it returns the shortest one.
func fitting(full details, draw func(details) (s *liveScreen, fits bool)) *liveScreen {
	lost := make([]bool, len(shorteningSteps))
	left := func() (*liveScreen, bool) {
		d := full
		for i, shorten := range shorteningSteps {
			if lost[i] {
				shorten(&d)
			}
		}
		return draw(d)
	}
	s, fits := left()
	n := 0
	for ; !fits && n < len(lost); n++ {
		lost[n] = true
		s, fits = left()
	}
	for n -= 2; fits && n >= 0; n-- { // restore the details that still fit
		lost[n] = false
		if more, still := left(); still {
			s = more
		} else {
			lost[n] = true
		}
	}
	return s
}

// details selects what a live screen shows.
type details struct {
	lines, pods, last, parts int // lines of the map, rows of the table, events and parts
	does, acts, outlook      int // lines of Do now, of each label with commands, and of Outlook
	words                    int // paragraphs about each problem
	brief, terse             bool
	dense, states            bool
	without                  []screen.Label
}

func without(labels ...screen.Label) func(*details) {
	return func(d *details) { d.without = append(d.without, labels...) }
}

// shorteningSteps are the steps that shorten a screen that is too long, in order.
var shorteningSteps = []func(*details){
	without(screen.Note, screen.Preview),
	func(d *details) { d.last = 1 },
	without(screen.Limit, screen.Rollout),
	func(d *details) { d.brief = true }, // Impact and actions without consequences
	without(screen.Change),
	without(screen.Impact), // the map and the table name the nodes
	func(d *details) { d.acts, d.pods = 1, 3 },
	func(d *details) { d.words = 2 },
	func(d *details) { d.parts = 1 },
	func(d *details) { d.outlook = 1 },
	func(d *details) { d.dense = true },
	func(d *details) { d.states = false }, // the map shows them
	func(d *details) { d.lines = min(d.lines, 6) },
	func(d *details) { d.pods = 1 },
	func(d *details) { d.terse = true },
	func(d *details) { d.lines = min(d.lines, 4) },
	without(screen.Outlook),
	without(screen.Last),
	func(d *details) { d.does = 2 },
	func(d *details) { d.words = 1 }, // problems without the messages of the cluster
	func(d *details) { d.lines = 0 }, // numbers of nodes in words, without a map
	without(screen.Then),
	without(screen.Fault),
}

// liveScreen builds the screen of a Live.
type liveScreen struct {
	*diagnosis.Answer
	l *Live
	d details
}

func newLiveScreen(l *Live, nodes *nodenames.Map, d details, asked sheet.Asked, style wording.Style) *liveScreen {
	a := &liveScreen{diagnosis.New(l.Now, asked, style), l, d}
	a.Brief, a.Terse = d.brief, d.terse
	a.Now = l.Progress.Header.Snapshot.TakenAt // use the time zone of the clock
	a.InTable = true
	a.headline()
	a.Impact()
	a.Rollout()
	a.Change()
	a.Limit()
	a.nodes(nodes)
	a.problems()
	a.late()
	a.Solutions()
	a.outlook()
	a.Screen.Add(screen.Last, lastEvents(l.Last, d.last))
	if l.Progress.Batches > 0 {
		a.Note(screen.Text(batchWords(l.Progress)))
	}
	if !l.Ended {
		a.Screen.Corner = "(Ctrl-C quits)"
	}
	for _, label := range append(d.without, screen.Check, screen.Other) {
		a.Screen.Keep(label, 0)
	}
	for _, label := range []screen.Label{screen.Then, screen.Preview} {
		a.Screen.Keep(label, d.acts)
	}
	a.Screen.Dense = d.dense
	a.Screen.Keep(screen.DoNow, d.does)
	a.Screen.Keep(screen.Outlook, d.outlook)
	a.Screen.KeepParts(d.parts, screen.DoNow)
	return a
}

// headline adds the headline of explain with the time. If the rollout is idle, it adds for how long and which nodes it
// waits for.
func (a *liveScreen) headline() {
	a.Answer.Headline()
	a.Screen.Headline.Clock = a.l.Progress.Header.Snapshot.TakenAt.Format(wording.ClockTime)
	if a.disconnected() || a.E.Verdict.Code != explain.Progressing && a.E.Verdict.Code != explain.Stuck {
		return
	}
	if words := idleFor(a.l.Progress); words != "" {
		a.Screen.Headline.Text = a.progressWords() + "; " + words
	}
}

// progressWords returns how many pods are updated, or available if no rollout is in progress. It returns "" if that is
// unknown.
func (a *liveScreen) progressWords() string {
	f := wording.Known{Facts: a.E.Verdict.Facts, Now: a.Now}
	of := " of " + wording.Plural(f.Count("desired"), "pod")
	if a.E.Rollout.UnderWay {
		return wording.Phrase(f.Text("updated"), of, " updated")
	}
	return wording.Phrase(f.Text("available"), of, " available")
}

// idleFor returns for how long a rollout has made no progress, and which nodes it waits for. It returns "" if that is
// not longer than usual.
func idleFor(p *follow.Progress) string {
	if p.Idle == 0 {
		return ""
	}
	var nodes []string
	for _, n := range p.Nodes {
		if n.State.Moves() {
			nodes = append(nodes, n.Node)
		}
	}
	slices.SortFunc(nodes, nodenames.CompareNames)
	return "no progress for " + wording.Ago(p.Idle) + wording.WithPrefix(": ", wording.SomeNames(nodes))
}

// nodes adds the map of the nodes.
func (a *liveScreen) nodes(m *nodenames.Map) {
	if rows := m.Draw(a.d.lines); len(rows) > 0 {
		a.Screen.Add(screen.Nodes, rows)
		return
	}
	var parts []string
	legend, _ := m.Legend()
	for _, row := range legend {
		parts = append(parts, row.Count+" "+row.Words)
	}
	if len(parts) > 0 {
		a.Screen.Add(screen.Nodes, screen.Text("nodes: "+strings.Join(parts, ", ")))
	}
}

// problems adds a table with a row for each failing pod. If nothing fails, it lists the pods that are starting or
// terminating.
func (a *liveScreen) problems() {
	restarted, problems := false, a.E.Matters()
	if len(problems) == 0 && a.d.states {
		problems, _ = a.E.Listed()
	}
	t := &screen.Table{Columns: []screen.Column{{Head: diagnosis.Heads[a.E.Gravity()]}, {Head: "NODE", Under: true},
		{Head: "POD", Drop: 3}, {Head: "FOR", Drop: 1}, {Head: "RESTARTS", Right: true, Drop: 2}}}
	on := map[string]*explain.Node{}
	for i := range a.E.Nodes {
		on[a.E.Nodes[i].Name] = &a.E.Nodes[i]
	}
	for i, p := range problems {
		if i >= a.d.pods {
			t.Row(wording.Plural(len(problems)-i, "more problem"))
			break
		}
		most := max(1, a.d.pods/len(problems))
		if len(p.Nodes) == most+1 {
			most++
		}
		for _, name := range p.Nodes[:min(most, len(p.Nodes))] {
			cells := screen.Cells(string(p.Code), name, "-", a.Lasting(p), "")
			if n := on[name]; n != nil && n.Problem != nil && n.Problem.Code == p.Code {
				cells[2].Lines[0], cells[3].Lines[0] = cmp.Or(n.Problem.Pod, "-"),
					a.Lasting(&cause.Problem{Since: n.Problem.Since})
				cells[4].Lines[0] = wording.Fact(n.Problem.Facts, "restarts")
				restarted = restarted || cells[4].Lines[0] != ""
			}
			t.Rows = append(t.Rows, screen.Row{Cells: a.toned(p, cells)})
		}
		switch more := len(p.Nodes) - most; {
		case len(p.Nodes) == 0:
			t.Rows = append(t.Rows, screen.Row{Cells: a.toned(p,
				screen.Cells(string(p.Code), "-", "-", a.Lasting(p), ""))})
		case more > 0:
			t.Row("", fmt.Sprintf("+%d more", more))
		}
		last := &t.Rows[len(t.Rows)-1]
		last.Detail = a.Detail(p)
		last.Detail = last.Detail[:min(a.d.words, len(last.Detail))]
	}
	if !restarted {
		t.Columns = t.Columns[:4]
	}
	a.Screen.Add(screen.Body, t)
}

// toned colors the name of a problem.
func (a *liveScreen) toned(p *cause.Problem, cells []screen.Cell) []screen.Cell {
	if cells[0].Tone = screen.Warn; p.Severity == cause.SeverityError {
		cells[0].Tone = screen.Bad
	}
	return cells
}

// late adds a table of late pods and late steps that are not among the problems.
func (a *liveScreen) late() {
	const most = 3
	p := a.l.Progress
	t := &screen.Table{Columns: []screen.Column{{}, {}, {Wrap: true, Under: true}}}
	listed := map[string]bool{}
	for _, problem := range a.E.Matters() {
		for _, n := range problem.Nodes {
			listed[n] = true
		}
	}
	for _, l := range p.Late {
		does, usual := "starting", p.Usual.Starts
		if l.Deleting {
			does, usual = "terminating", p.Usual.Ends
		}
		if !listed[l.Node] {
			t.Row("LATE", l.Node, "its pod has been "+does+" for "+wording.Ago(l.For)+
				wording.InBrackets(wording.Phrase("usual: ", spanWords(usual))))
		}
	}
	if more := len(t.Rows) - most; more > 0 {
		t.Rows = t.Rows[:most]
		t.Row("", fmt.Sprintf("+%d more", more))
	}
	if p.Overdue() {
		waits := wording.Either(len(p.Next.Waits) > 0, "; it may wait for its back-off", "")
		t.Row("LATE", "controller", "its next step has been due for "+wording.Ago(p.Owed)+waits)
	}
	a.Screen.Add(screen.Body, t)
}

// spanWords returns the range of a sorted list of seconds, or "" if the list is empty.
func spanWords(of []float64) string {
	if len(of) == 0 {
		return ""
	}
	return wording.RangeWords(&plan.Duration{Optimistic: of[0], Pessimistic: of[len(of)-1]})
}

// outlook adds when the rollout will be complete, as a time of day.
func (a *liveScreen) outlook() {
	p, o := a.l.Progress, cmp.Or(a.E.Outlook, &explain.Outlook{})
	switch {
	case !a.l.Lost.IsZero():
		a.Add(screen.Outlook, "unknown: no changes arrive from the API server")
		return
	case o.Code != explain.Completes || a.E.Failing():
		a.Answer.Outlook()
		return
	case o.Duration == nil:
		a.Add(screen.Outlook, "complete when the other pods are available; time left unknown%s",
			wording.Phrase(": pods were Ready within ", spanWords(p.Usual.Starts), " before"))
	default:
		a.Add(screen.Outlook, "complete %s, if %s", clockRange(p.Header.Snapshot.TakenAt, o.Duration),
			conditionWords(o, &p.Usual))
	}
	a.Then()
}

// conditionWords returns the condition under which a rollout completes in time.
func conditionWords(o *explain.Outlook, usual *follow.Usual) string {
	starts := spanWords(usual.Starts)
	switch other := o.Otherwise; {
	case other != nil && !other.Ready:
		n := len(other.Nodes)
		return wording.PluralOf(n, "the pod on ", "the pods on ") + wording.SomeNames(other.Nodes) +
			wording.PluralOf(n, " becomes Ready", " become Ready") + wording.Otherwise(other, o.Desired, false)
	case starts == "":
		return "every new pod becomes available"
	case usual.Assumed:
		return "every new pod is Ready within " + starts + " (--start)"
	}
	return "pods take as long as before: " + starts + " to become Ready" +
		wording.Phrase(", ", spanWords(usual.Ends), " to end")
}

// clockRange returns the time of day at which something with this duration ends.
func clockRange(at time.Time, d *plan.Duration) string {
	end := func(seconds float64) time.Time { return at.Add(time.Duration(seconds * float64(time.Second))) }
	from, to, layout := end(d.Optimistic), end(d.Pessimistic), "15:04"
	switch {
	case to.Sub(at) > 18*time.Hour:
		layout = "Jan 2 15:04"
	case to.Sub(at) < 3*time.Minute:
		layout = wording.ClockTime
	}
	if from.Format(layout) == to.Format(layout) {
		return "at " + to.Format(layout)
	}
	return "between " + from.Format(layout) + " and " + to.Format(layout)
}

// lastEvents returns a table of the latest events, newest first, up to most. Each row compares the event with the
// prediction.
func lastEvents(events []Event, most int) *screen.Table {
	t := &screen.Table{Columns: []screen.Column{{}, {}, {Wrap: true, Short: true, Under: true}, {Drop: 1}}}
	for _, e := range events[:min(most, len(events))] {
		at := e.At.Format(wording.ClockTime)
		row := func(did string, items []daemonset.Item, predicted string) {
			cells := screen.Cells(at, did, "", predicted)
			cells[2] = screen.Cell{Names: itemNodes(items)}
			t.Rows, at = append(t.Rows, screen.Row{Cells: cells}), ""
		}
		batch := func(verb string, items []daemonset.Item, expected, of int) {
			if len(items) > 0 {
				row(verb+"d "+strconv.Itoa(len(items)), items, prediction(e.Kind, expected, of))
			}
		}
		switch {
		case e.Words != "":
			t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(at, "watching", e.Words)})
		case e.Kind == follow.Evicted:
			row("evicted", e.Deletes, e.By)
		case e.Kind == follow.Changed:
			t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(at, "changed",
				fmt.Sprintf("the DaemonSet, to generation %d", e.Generation))})
		case e.Kind == follow.Unjudged:
			row("created", e.Creates, "no prediction without nodes")
		default:
			batch("delete", e.Deletes, e.Expected.Deletes, e.Expected.DeletesOf)
			batch("create", e.Creates, e.Expected.Creates, e.Expected.CreatesOf)
		}
	}
	return t
}

// prediction compares an event with the prediction. It shows the number of predicted pods, and the number of candidates
// if there were more.
func prediction(kind follow.HappeningKind, n, of int) string {
	words := strconv.Itoa(n)
	if of > n {
		words = "any " + words + " of " + strconv.Itoa(of)
	}
	switch {
	case kind == follow.AsPredicted && of > n:
		return "as predicted: " + words
	case kind == follow.AsPredicted:
		return "as predicted"
	case n == 0:
		return "not predicted"
	}
	return "predicted: " + words
}

// itemNodes returns the nodes of the pods without duplicates, in the order of the map.
func itemNodes(items []daemonset.Item) (nodes []string) {
	for _, i := range items {
		if name := cmp.Or(i.Node, i.Pod); !slices.Contains(nodes, name) {
			nodes = append(nodes, name)
		}
	}
	slices.SortFunc(nodes, nodenames.CompareNames)
	return nodes
}
