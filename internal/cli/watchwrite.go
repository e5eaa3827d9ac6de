package cli

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/encode"
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/follow"
)

// lineState remembers what a watch has printed.
type lineState struct {
	written   string // the last document
	lastState *documentState
	overdue   bool            // a note said that the controller is late
	waits     map[string]bool // the delays reported since the last event
	available int             // available pods at the last reported delay
	verdict   string          // subject of the last verdict
}

// write prints the current state and the new events.
func (f *following) write() error {
	told := f.events
	f.events = nil
	for i := range told {
		told[i].At = told[i].At.Local()
	}
	switch {
	case f.terminal != nil:
		for _, h := range told {
			f.addEvent(view.Event{Happening: h})
		}
		return f.draw()
	case f.format != inJSON:
		return f.writeLines(told)
	case len(told) > 0 || !reflect.DeepEqual(f.currentState(), f.lastState):
		return f.writeDocument()
	}
	return nil
}

// documentState is the part of a state that requires a new document when it changes. It excludes
// values that change with the clock.
type documentState struct {
	explanation explain.Explanation
	outcome     plan.OutcomeCode
	reason      daemonset.Reason
	late        []string
	idle        bool
	overdue     bool
	lost        []string
}

// currentState returns the documentState of the current state.
func (f *following) currentState() *documentState {
	e := *f.explained()
	e.Snapshot.TakenAt = f.w.Start().TakenAt
	if e.Outlook != nil {
		o := *e.Outlook
		o.Duration, e.Outlook = nil, &o
	}
	o := &f.now.Outcome
	return &documentState{e, o.Code, o.Reason, plan.Nodes(o.Late), f.now.Idle > 0, f.now.Overdue(),
		slices.Clone(f.lost)}
}

// writeDocument writes the answer as one line.
func (f *following) writeDocument() error {
	document, err := f.document()
	if err != nil {
		return err
	}
	if f.written, err = encode.Line(document); err != nil {
		return err
	}
	f.lastState = f.currentState()
	return f.repeatDocument()
}

// repeatDocument writes the last document again.
func (f *following) repeatDocument() error {
	_, err := io.WriteString(f.Out, f.written)
	return err
}

// writeLines writes a line for each event, a line if the rollout waits longer than usual, and, for
// an explanation, a line if the verdict changes.
func (f *following) writeLines(told []follow.Happening) error {
	var lines []string
	for i, h := range told {
		p := f.now
		if i < len(told)-1 {
			p = nil
		}
		lines = append(lines, view.WatchLine(h, p, f.style))
	}
	if f.waitsLonger(len(told) > 0) && len(lines) == 0 { // otherwise the last line contains it
		lines = append(lines, view.WatchWaits(f.now, f.style))
	}
	if f.endless && f.now.End == "" {
		if about := view.VerdictAbout(f.explained()); about != f.verdict {
			f.verdict = about
			lines = append(lines, view.WatchVerdict(f.now, f.explained(), f.style))
		}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(f.Out, line); err != nil {
			return err
		}
	}
	if overdue := f.now.Overdue(); overdue != f.overdue {
		if f.overdue = overdue; overdue {
			f.note("%s", view.WatchOwed(f.now, f.style))
		}
	}
	return nil
}

// waitsLonger reports whether to print that the rollout waits longer than usual. It returns true
// once for each cause, until something happens or more pods become available.
func (f *following) waitsLonger(happened bool) bool {
	what := strings.Join(plan.Nodes(f.now.Outcome.Late), ", ")
	if f.now.Idle > 0 {
		what = "no progress"
	}
	if n := f.now.Counts.Available; happened || f.waits == nil || n > f.available {
		f.waits, f.available = map[string]bool{}, n
	}
	if what == "" || f.waits[what] {
		return false
	}
	f.waits[what] = true
	return true
}

// writeEnd prints the last events and the outcome of the rollout.
func (f *following) writeEnd(why string) error {
	switch {
	case f.format == inJSON && f.now.End == follow.EndGone: // a deleted DaemonSet has no document
		return nil
	case f.format == inJSON:
		return f.writeDocument()
	}
	ends, hint := view.WatchEnds(f.now, why, f.style), f.hint()
	f.below = slices.DeleteFunc([]string{ends, hint}, func(line string) bool { return line == "" })
	if f.now.End == follow.EndGone {
		f.below = append(f.below, "error: "+f.deletedError().Error())
	}
	if err := f.write(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(f.Out, ends); err != nil {
		return err
	}
	if hint != "" {
		fmt.Fprintln(f.ErrOut, hint)
	}
	return nil
}

// hint returns the command with more details if the rollout is stuck or degraded, and otherwise "".
func (f *following) hint() string {
	if !f.asked.Again || f.now.End != follow.EndStuck && f.now.End != follow.EndDegraded {
		return ""
	}
	of := &f.now.Header.DaemonSet
	again := screen.Command{f.ownWord("plan-rollout"), "-n " + screen.Quote(of.Namespace), screen.Quote(of.Name)}
	return "hint: " + sheet.WithFlags(again, f.asked.Flags...).String()
}
