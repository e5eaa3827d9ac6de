package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/kubectl-ds/kubectl-ds/internal/encode"
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// watchFlags are those of the commands that can follow a DaemonSet.
type watchFlags struct {
	watch   bool
	timeout time.Duration
}

func (w *watchFlags) addFlags(f *pflag.FlagSet, watch string) {
	f.BoolVar(&w.watch, "watch", false, watch)
	f.DurationVar(&w.timeout, "timeout", 0, "with --watch: stop after this time")
}

// refusals are what cannot be combined with --watch; hint says how to find a name.
func (w *watchFlags) refusals(q *question, hint string) []refusal {
	return []refusal{
		{q.given("timeout") != "" && !w.watch, "--timeout needs --watch", "--request-timeout limits a single request"},
		{w.watch && len(q.from) > 0, "--watch follows a DaemonSet in a cluster: it cannot be combined with --from", "leave out --watch"},
		{w.watch && q.many(), "--watch needs the name of one DaemonSet", hint},
		{w.watch && q.format != inText && q.format != inJSON, "--watch cannot be combined with -o " + q.output, "leave out -o, or use -o json: one document a line"},
		{w.watch && q.now != "", "--watch cannot be combined with --now", "leave out --now"},
		{w.watch && q.all, "--all cannot be combined with --watch", "leave out --watch to see all nodes"},
		{w.timeout < 0, fmt.Sprintf("--timeout %s is negative", w.timeout), "--timeout 10m"},
	}
}

// following is a DaemonSet that is followed: on a terminal, in lines, or in documents.
type following struct {
	*question
	w     *source.Watching
	f     *plan.Follower
	known plan.Options
	asked view.Asked
	tty   *os.File // nil for lines and documents

	// A plan ends with the rollout, an explanation does not.
	endless  bool
	document func() (any, error) // of now, for -o json
	status   func() error

	now     *plan.Progress
	e       *explain.Explanation // of now, once it was asked for
	told    []plan.Happening     // what happened since it was last shown
	last    []view.Event         // what a terminal shows, the newest first
	drawn   size                 // of the terminal, where something is on it
	lines   int                  // of it that are ours
	ended   bool                 // the last screen is to be shown
	overdue bool                 // the note that the controller is late was written
	late    string               // the nodes that the note which was printed last is about
	verdict explain.VerdictCode  // that was printed last
	shown   time.Time
	cost    time.Duration // of looking and showing
}

// size is how large a terminal is.
type size struct{ width, height int }

const (
	tick       = 250 * time.Millisecond // how often it is asked what there is to show
	mostEvents = 20
)

// follow opens a watch of the DaemonSet that was named, and follows it until it ends,
// or the time is over.
func (f *following) follow(ctx context.Context, timeout time.Duration) error {
	r, namespace, err := f.open(ctx)
	if err != nil {
		return err
	}
	limited, cancel := ctx, func() {}
	if timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, timeout)
	}
	defer cancel()
	f.w, err = r.(*source.Cluster).Watch(limited, within(namespace, f.names)[0])
	switch {
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && limited.Err() != nil:
		return hinted{fmt.Errorf("--timeout %s was over before the DaemonSet was read", timeout), "--timeout 5m"}
	case err != nil:
		return err
	}
	defer f.w.Close()
	if f.format == inText {
		f.tty = terminalOf(f.Out)
	}
	if err := f.begin(); err != nil || f.now.End != "" {
		return f.end(err, "")
	}
	return f.take(limited, ctx, timeout)
}

func (f *following) begin() error {
	st, err := f.state(f.w.Start())
	if err != nil {
		return err
	}
	f.f = plan.NewFollower(st, f.known)
	if err := f.look(st.At); err != nil {
		return err
	}
	f.gaps(&f.now.Header)
	f.happened(view.Event{Happening: plan.Happening{At: f.now.Header.Snapshot.TakenAt}, Words: "from here on"})
	of := &f.now.Header // what the controller has not observed yet may roll where the nodes cannot be read
	if f.now.End == "" && f.now.Outcome.Code == plan.NothingToDo && !f.endless && (!of.Lacks(snapshot.Nodes) || of.DaemonSet.ObservedGeneration >= of.DaemonSet.Generation) {
		f.now.End = plan.EndDone
		if f.now.Outcome.Unserved() > 0 {
			f.now.End = plan.EndDegraded
		}
	}
	switch {
	case f.now.End != "":
		return nil
	case f.tty != nil:
		return f.draw()
	case f.format == inJSON:
		return f.writeDocument()
	}
	if _, err := fmt.Fprintln(f.Out, view.WatchBegins(f.now, f.style)); err != nil {
		return err
	}
	return f.writeLines(nil)
}

// look computes the state of the rollout at a time.
func (f *following) look(at time.Time) error {
	p, err := f.f.Progress(at)
	if err != nil {
		return err
	}
	p.Header.Snapshot.TakenAt = p.Header.Snapshot.TakenAt.Local()
	if f.endless && p.End != plan.EndGone {
		p.End = ""
	}
	f.now, f.e = p, nil
	return nil
}

// explained is the Explanation of now, by what was seen so far.
func (f *following) explained() *explain.Explanation {
	if f.e == nil {
		f.e = explain.Explain(f.now.State, explain.Options{Outlook: f.now.Outlook})
	}
	return f.e
}

// take takes changes until the rollout ends, or ctx does, which may be sooner than
// whole.
func (f *following) take(ctx, whole context.Context, timeout time.Duration) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case s, open := <-f.w.Changes():
			switch {
			case !open && ctx.Err() == nil:
				return f.end(f.w.Err(), "")
			case !open: // ended below
			case s.Object == nil:
				f.heard(s)
			default:
				f.told = append(f.told, f.f.See(s.At, s.Object, s.Gone)...)
			}
		case <-ticker.C:
			if err := f.show(); err != nil || f.now.End != "" {
				return f.end(err, "")
			}
		case <-ctx.Done():
		}
		if ctx.Err() == nil {
			continue
		}
		if whole.Err() != nil {
			return f.end(whole.Err(), "interrupted")
		}
		return f.end(nil, "timeout after "+timeout.String())
	}
}

// heard shows that changes of a kind do not arrive, or arrive again.
func (f *following) heard(s source.Seen) {
	words := s.Lost
	if s.Back != "" {
		words = "changes of " + s.Back + " arrive again"
	}
	if f.tty == nil {
		f.note("%s", screen.Clean(words))
		return
	}
	f.happened(view.Event{Happening: plan.Happening{At: s.At.Local()}, Words: words})
}

// happened keeps what a terminal shows.
func (f *following) happened(e view.Event) {
	f.last = slices.Insert(f.last, 0, e)
	f.last = f.last[:min(mostEvents, len(f.last))]
}

// show shows what happened: in lines as soon as it did, on a terminal once a
// second, and at once in another size. On a large cluster a look costs so much that it
// is not taken more often than its tenfold.
func (f *following) show() error {
	at := f.w.Now()
	f.told = append(f.told, f.f.Settle(at, false)...)
	wait := max(time.Second, 10*f.cost)
	if f.tty == nil && f.format == inText && len(f.told) > 0 {
		wait = 10 * f.cost
	}
	switch due := time.Since(f.shown) >= wait; {
	case !due && f.tty != nil && sizeOf(f.tty) != f.drawn:
		return f.draw()
	case !due:
		return nil
	}
	began := time.Now()
	err := f.look(at)
	if err == nil && f.now.End == "" { // else end shows it
		err = f.write()
	}
	f.shown = time.Now()
	f.cost = f.shown.Sub(began)
	return err
}

// write shows what was looked at.
func (f *following) write() error {
	told := f.told
	f.told = nil
	for i := range told {
		told[i].At = told[i].At.Local()
	}
	switch {
	case f.tty != nil:
		for _, h := range told {
			f.happened(view.Event{Happening: h})
		}
		return f.draw()
	case f.format == inJSON:
		if len(told) == 0 {
			return nil
		}
		return f.writeDocument()
	}
	return f.writeLines(told)
}

// writeDocument writes the answer on one line.
func (f *following) writeDocument() error {
	document, err := f.document()
	if err != nil {
		return err
	}
	text, err := encode.Line(document)
	if err == nil {
		_, err = io.WriteString(f.Out, text)
	}
	return err
}

// writeLines writes a line for each thing that happened, and one where it begins to
// take longer than usual.
func (f *following) writeLines(told []plan.Happening) error {
	var lines []string
	for i, h := range told {
		p := f.now
		if i < len(told)-1 {
			p = nil
		}
		lines = append(lines, view.WatchLine(h, p, f.style))
	}
	late := strings.Join(plan.Nodes(f.now.Outcome.Late), ", ")
	if f.now.Idle > 0 {
		late = "nothing moves"
	}
	if late != f.late {
		f.late = late
		if late != "" && len(lines) == 0 { // else the line above says so
			lines = append(lines, view.WatchWaits(f.now, f.style))
		}
	}
	if f.endless && f.now.End == "" {
		if e := f.explained(); e.Verdict.Code != f.verdict {
			f.verdict = e.Verdict.Code
			lines = append(lines, view.WatchVerdict(f.now, e, f.style))
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

// draw puts the screen in the place of the one before. On a terminal that has changed
// its size, lines may stand anywhere: all that it shows is cleared.
func (f *following) draw() error {
	style, now := f.style, sizeOf(f.tty)
	codes := up(f.lines)
	if f.lines > 0 && now != f.drawn {
		codes = "\x1b[H\x1b[2J"
	}
	style.Width = now.width
	room := max(0, now.height-1)
	if f.ended { // two lines below say how, and one more may be a hint
		room = max(0, room-3)
	}
	var b bytes.Buffer
	live := &view.Live{Progress: f.now, Now: f.explained(), Last: f.last, Ended: f.ended}
	if err := view.LiveScreen(&b, live, f.asked, style, room); err != nil {
		return err
	}
	if answers, ok := f.Out.(*stream); ok && f.lines > 0 {
		if err := answers.control(codes); err != nil {
			return err
		}
	}
	_, err := f.Out.Write(b.Bytes())
	f.lines, f.drawn = bytes.Count(b.Bytes(), []byte("\n")), now
	return err
}

// up is what makes a terminal forget its last so many lines: up to the beginning of
// their first, whatever was typed behind the last, and clear to the end.
func up(lines int) string { return fmt.Sprintf("\r\x1b[%dA\x1b[J", lines) }

// sizeOf returns how large a terminal is; zero where it does not say.
func sizeOf(tty *os.File) size {
	width, height, err := term.GetSize(int(tty.Fd()))
	if err != nil {
		return size{}
	}
	return size{width, height}
}

// end shows how it ended, and returns its error or exit status. why is
// what ended the watch rather than the rollout.
func (f *following) end(err error, why string) error {
	if f.now == nil || err != nil && why == "" {
		return err
	}
	at := f.w.Now()
	f.told = append(f.told, f.f.Settle(at, true)...)
	ended := f.now.End
	if err == nil || f.cost < tick { // after Ctrl-C there is little time
		if lookErr := f.look(at); lookErr != nil {
			return lookErr
		}
	}
	if f.now.End == "" {
		f.now.End = ended
	}
	if werr := f.writeEnd(why); werr != nil {
		return werr
	}
	switch {
	case err != nil:
		return err
	case f.now.End == plan.EndGone:
		return fmt.Errorf("daemonset %s/%s was deleted", f.now.Header.DaemonSet.Namespace, f.now.Header.DaemonSet.Name)
	case !f.exitCode:
		return nil
	}
	return f.status()
}

// writeEnd writes the last of what happened and how it ended.
func (f *following) writeEnd(why string) error {
	if f.ended = true; f.format == inJSON {
		return f.writeDocument()
	}
	if err := f.write(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(f.Out, view.WatchEnds(f.now, why, f.style)); err != nil {
		return err
	}
	if f.asked.Again && (f.now.End == plan.EndStuck || f.now.End == plan.EndDegraded) {
		of := &f.now.Header.DaemonSet
		again := view.WithFlags(screen.Command{"kubectl ds plan-rollout", "-n " + screen.Quote(of.Namespace), screen.Quote(of.Name)}, f.asked.Flags...)
		fmt.Fprintln(f.ErrOut, "hint: "+again.String())
	}
	return nil
}

// endStatus are the exit statuses of ends with --exit-code.
var endStatus = map[plan.End]exitStatus{plan.EndStuck: stuck, plan.EndDegraded: degraded, "": moving}

// terminalOf returns the terminal that out is, or nil. One that does not know
// how to go up a line is none.
func terminalOf(out io.Writer) *os.File {
	f, ok := under(out).(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return f
}

// watchRollout follows a rollout until it ends, is stuck, or takes too long.
func (o *planOptions) watchRollout(ctx context.Context) error {
	f := &following{question: &o.question, known: o.known, asked: o.asked}
	f.document = func() (any, error) { return o.planOf(f.now.State, nil, o.known) }
	f.status = func() error { return worst(map[exitStatus]bool{endStatus[f.now.End]: true}) }
	return f.follow(ctx, o.timeout)
}

// watchDaemonSet follows a DaemonSet until somebody ends it.
func (o *explainOptions) watchDaemonSet(ctx context.Context) error {
	f := &following{question: &o.question, asked: o.askedBy(), endless: true}
	f.document = func() (any, error) { return f.explained(), nil }
	f.status = func() error { return o.status([]*explain.Explanation{f.explained()}) }
	return f.follow(ctx, o.timeout)
}
