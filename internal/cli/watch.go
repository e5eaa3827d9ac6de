package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// watchRollout follows a rollout until it ends, is stuck, or takes too long.
func (o *planOptions) watchRollout(ctx context.Context) error {
	r, namespace, err := o.open(ctx)
	if err != nil {
		return err
	}
	limited, cancel := ctx, func() {}
	if o.timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, o.timeout)
	}
	defer cancel()
	w, err := r.(*source.Cluster).Watch(limited, within(namespace, o.names)[0])
	switch {
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && limited.Err() != nil:
		return hinted{fmt.Errorf("--timeout %s was over before the DaemonSet was read", o.timeout), "--timeout 5m"}
	case err != nil:
		return err
	}
	defer w.Close()
	f := &following{o: o, w: w, out: o.Out, tty: terminalOf(o.Out)}
	if err := f.begin(); err != nil || f.now.End != "" {
		return f.end(err, "")
	}
	return f.follow(limited, ctx)
}

// following is a rollout that is followed on a terminal or in lines.
type following struct {
	o   *planOptions
	w   *source.Watching
	f   *plan.Follower
	out io.Writer
	tty *os.File // nil for lines

	now     *plan.Progress
	told    []plan.Happening // what happened since it was last shown
	last    []string         // lines that a terminal shows
	drawn   int              // lines of the terminal that are ours
	overdue bool             // the note that the controller is late was written
	late    string           // the nodes with late pods in the note that was printed last
	shown   time.Time
	cost    time.Duration // of the last Progress
}

// tick is how often it is asked what there is to show.
const tick = 250 * time.Millisecond

func (f *following) begin() error {
	st, err := f.o.state(f.w.Start())
	if err != nil {
		return err
	}
	f.f = plan.NewFollower(st, f.o.known)
	if err := f.look(st.At); err != nil {
		return err
	}
	f.o.gaps(&f.now.Header)
	of := &f.now.Header // what the controller has not observed yet may roll where the nodes cannot be read
	if f.now.End == "" && f.now.Outcome.Code == plan.NothingToDo && (!of.Lacks(snapshot.Nodes) || of.DaemonSet.ObservedGeneration >= of.DaemonSet.Generation) {
		f.now.End = plan.EndDone
		if f.now.Outcome.Unserved() > 0 {
			f.now.End = plan.EndDegraded
		}
	}
	if f.now.End != "" || f.tty != nil {
		return nil
	}
	_, err = fmt.Fprintln(f.out, view.WatchBegins(f.now, f.o.style))
	return err
}

// look computes the state of the rollout at a time.
func (f *following) look(at time.Time) error {
	began := time.Now()
	p, err := f.f.Progress(at)
	if err != nil {
		return err
	}
	f.shown = time.Now()
	f.cost = f.shown.Sub(began)
	p.Header.Snapshot.TakenAt = p.Header.Snapshot.TakenAt.Local()
	f.now = p
	return nil
}

// follow takes changes until the rollout ends, or ctx does, which may be
// sooner than whole.
func (f *following) follow(ctx, whole context.Context) error {
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
		return f.end(nil, "timeout after "+f.o.timeout.String())
	}
}

// heard shows that changes of a kind do not arrive, or arrive again.
func (f *following) heard(s source.Seen) {
	words := s.Lost
	if s.Back != "" {
		words = "changes of " + s.Back + " arrive again"
	}
	if f.tty == nil {
		f.o.note("%s", screen.Clean(words))
		return
	}
	f.last = append(f.last, s.At.Local().Format("15:04:05")+" "+screen.Clean(words))
}

// show shows what happened: in lines as soon as it did, on a terminal once a
// second. On a large cluster a look costs so much that it is not taken more
// often than its tenfold.
func (f *following) show() error {
	at := f.w.Now()
	f.told = append(f.told, f.f.Settle(at, false)...)
	wait := max(time.Second, 10*f.cost)
	if f.tty == nil && len(f.told) > 0 {
		wait = 10 * f.cost
	}
	if time.Since(f.shown) < wait {
		return nil
	}
	if err := f.look(at); err != nil {
		return err
	}
	if f.now.End != "" {
		return nil // end shows it
	}
	return f.write()
}

func (f *following) write() error {
	var lines []string
	for i, h := range f.told {
		h.At = h.At.Local()
		p := f.now
		if f.tty != nil || i < len(f.told)-1 {
			p = nil
		}
		lines = append(lines, view.WatchLine(h, p, f.o.style))
	}
	f.told = nil
	if f.tty != nil {
		f.last = append(f.last, lines...)
		return f.draw()
	}
	if late := strings.Join(plan.Nodes(f.now.Outcome.Late), ", "); late != f.late {
		f.late = late
		if late != "" && len(lines) == 0 { // else the line above says so
			lines = append(lines, view.WatchWaits(f.now, f.o.style))
		}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(f.out, line); err != nil {
			return err
		}
	}
	if overdue := f.now.Overdue(); overdue != f.overdue {
		if f.overdue = overdue; overdue {
			f.o.note("%s", view.WatchOwed(f.now, f.o.style))
		}
	}
	return nil
}

// draw puts the screen in the place of the one before.
func (f *following) draw() error {
	const most = 8
	f.last = f.last[max(0, len(f.last)-most):]
	style, room := f.o.style, 0
	if width, height, err := term.GetSize(int(f.tty.Fd())); err == nil {
		style.Width, room = width, height-1
	}
	var b bytes.Buffer
	if err := view.WatchScreen(&b, f.now, f.last, style, room); err != nil {
		return err
	}
	if answers, ok := f.out.(*stream); ok && f.drawn > 0 {
		if err := answers.control(up(f.drawn)); err != nil {
			return err
		}
	}
	_, err := f.out.Write(b.Bytes())
	f.drawn = strings.Count(b.String(), "\n")
	return err
}

// up is what makes a terminal forget its last so many lines: up to their first,
// clear to the end.
func up(lines int) string { return fmt.Sprintf("\x1b[%dA\x1b[J", lines) }

// end shows how it ended, and returns its error or exit status. why is
// what ended the watch rather than the rollout.
func (f *following) end(err error, why string) error {
	if f.now == nil || err != nil && why == "" {
		return err
	}
	at := f.w.Now()
	f.told = append(f.told, f.f.Settle(at, true)...)
	ended := f.now.End
	if lookErr := f.look(at); lookErr != nil {
		return lookErr
	}
	if f.now.End == "" {
		f.now.End = ended
	}
	if werr := f.write(); werr != nil {
		return werr
	}
	if _, werr := fmt.Fprintln(f.out, view.WatchEnds(f.now, why, f.o.style)); werr != nil {
		return werr
	}
	if again := f.o.asked; again.Again && (f.now.End == plan.EndStuck || f.now.End == plan.EndDegraded) {
		fmt.Fprintln(f.o.ErrOut, "hint: "+view.WithFlags(screen.Command{"kubectl ds plan-rollout", "-n " + screen.Quote(f.now.Header.DaemonSet.Namespace), screen.Quote(f.now.Header.DaemonSet.Name)}, again.Flags...).String())
	}
	switch {
	case err != nil:
		return err
	case f.now.End == plan.EndGone:
		return fmt.Errorf("daemonset %s/%s was deleted", f.now.Header.DaemonSet.Namespace, f.now.Header.DaemonSet.Name)
	case !f.o.exitCode:
		return nil
	}
	return worst(map[exitStatus]bool{endStatus[f.now.End]: true})
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
