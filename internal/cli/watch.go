package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/follow"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// watchFlags are those of the commands that can follow a DaemonSet.
type watchFlags struct {
	watch   bool
	timeout time.Duration
}

func (w *watchFlags) addFlags(f *pflag.FlagSet, watch string) {
	f.BoolVarP(&w.watch, "watch", "w", false, watch)
	f.DurationVar(&w.timeout, "timeout", 0, "with --watch: stop after this time")
}

// refusals are what cannot be combined with --watch; hint says how to find a name.
func (w *watchFlags) refusals(q *question) []refusal {
	return []refusal{
		{q.given("timeout") != "" && !w.watch, "--timeout needs --watch", "--request-timeout limits a single request"},
		{w.watch && len(q.from) > 0, "--watch follows a DaemonSet in a cluster: it cannot be combined with --from",
			"leave out --watch"},
		{w.watch && q.many(), "--watch needs the name of one DaemonSet", nameIt},
		{w.watch && q.format != inText && q.format != inJSON, "--watch cannot be combined with -o " + q.output,
			"leave out -o, or use -o json: one document a line"},
		{w.watch && q.now != "", "--watch cannot be combined with --now", "leave out --now"},
		{w.watch && q.all, "--all cannot be combined with --watch", "leave out --watch to see all nodes"},
		{w.timeout < 0, fmt.Sprintf("--timeout %s is negative", w.timeout), "--timeout 10m"},
	}
}

// watching is a watch of one DaemonSet, as a *source.Watching is.
type watching interface {
	Start() *snapshot.Snapshot
	Changes() <-chan cluster.Seen
	Err() error
	Now() time.Time
	Close()
}

// following is a DaemonSet that is followed: on a terminal, in lines, or in documents.
type following struct {
	*question
	w        watching
	f        *follow.Follower
	options  plan.Options
	asked    sheet.Asked
	terminal func() size // how large it is; nil for lines and documents

	// A plan ends with the rollout, an explanation does not.
	endless  bool
	document func() (any, error) // of now, for -o json
	status   func() error

	now   *follow.Progress
	e     *explain.Explanation // of now, once it was asked for
	told  []follow.Happening   // what happened since it was last shown
	shown time.Time            // by the server's clock
	cost  time.Duration        // of looking and showing
	news  bool                 // something was seen since then

	needed *follow.Progress // the Progress that needs and asks belong to
	needs  cause.Needs
	asks   string     // what needs asks for
	known  string     // what was asked besides the objects that are followed, or is being asked
	knows  chan known // the answer; nil where none is waited for
	asking time.Time  // when that was asked

	lost  []string  // kinds whose changes do not arrive
	since time.Time // when the first of them was lost
	seen  time.Time // when a change or a loss was seen last

	screenful
	linesSaid
}

// tick is how often it is asked what there is to show.
const tick = 250 * time.Millisecond

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
	f.w, err = r.(*cluster.Cluster).Watch(limited, within(namespace, f.names)[0])
	switch {
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && limited.Err() != nil:
		return hinted{fmt.Errorf("--timeout %s was over before the DaemonSet was read", timeout), "--timeout 5m"}
	case err != nil:
		return err
	}
	defer f.w.Close()
	if f.format == inText {
		f.terminal = terminalOf(f.Out)
	}
	if err := f.begin(limited); err != nil || f.now.End != "" {
		return f.end(err, "")
	}
	return f.take(limited, ctx, timeout)
}

func (f *following) begin(ctx context.Context) error {
	st, err := f.state(f.w.Start())
	if err != nil {
		return err
	}
	if needs := cause.Watched(st); f.opened != nil {
		f.known, f.asking = asked(st, needs), f.w.Now()
		if st, err = f.knowing(ctx, st, needs); err != nil {
			return err
		}
	}
	f.f = follow.NewFollower(st, f.options)
	if err := f.look(st.At); err != nil {
		return err
	}
	f.shown = st.At
	f.gaps(&f.now.Header)
	f.happened(view.Event{Happening: follow.Happening{At: f.now.Header.Snapshot.TakenAt}, Words: "from here on"})
	of := &f.now.Header // what the controller has not observed yet may roll where the nodes cannot be read
	if f.now.End == "" && f.now.Outcome.Code == plan.NothingToDo && !f.endless &&
		(!of.Lacks(snapshot.Nodes) || of.DaemonSet.ObservedGeneration >= of.DaemonSet.Generation) {
		f.now.End = follow.EndDone
		if f.now.Outcome.Unserved() > 0 {
			f.now.End = follow.EndDegraded
		}
	}
	switch {
	case f.now.End != "":
		return nil
	case f.terminal != nil:
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
	if (f.endless || len(f.lost) > 0) && p.End != follow.EndGone {
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
			case open: // else ended below
				f.see(s)
			}
		case k := <-f.knows:
			if err := f.know(k); err != nil {
				return f.end(err, "")
			}
		case <-ticker.C:
			f.ask(ctx)
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

// patience is how long it is until something more is read again: who looks does not
// need it every second.
const patience = 10 * time.Second

// ask asks, beside the watch, what else explains the state of now, as soon as that is
// something else than before: pods are refused, or the scheduler cannot place one. What no
// longer explains anything goes without a question.
func (f *following) ask(ctx context.Context) {
	if f.opened == nil || f.knows != nil || f.w.Now().Sub(f.asking) < patience {
		return
	}
	st := f.now.State
	if f.needed != f.now {
		f.needed, f.needs = f.now, cause.Watched(st)
		f.asks = asked(st, f.needs)
	}
	if f.asks == f.known {
		return
	}
	needs := f.needs
	f.known, f.asking, f.knows = f.asks, f.w.Now(), make(chan known, 1)
	bare := st.Reading(st.Snapshot.Admitting(nil, nil).Holding(nil, nil).Reaching(nil, nil).ControlledBy(nil, nil))
	go func(answer chan<- known) {
		k := known{bare.Snapshot, nil}
		k.err = source.Contain(func() error {
			read, err := f.knowing(ctx, bare, needs)
			k.read = read.Snapshot
			return err
		})()
		answer <- k
	}(f.knows)
}

// known is an answer to ask.
type known struct {
	read *snapshot.Snapshot
	err  error
}

// know takes an answer. Where there is none, as the server does not answer, the watch
// tells it.
func (f *following) know(k known) error {
	f.knows, f.news = nil, true
	f.f.Know(k.read)
	if p := (*source.PanicError)(nil); errors.As(k.err, &p) {
		return k.err
	}
	return nil
}

// asked tells one question about a DaemonSet from another.
func asked(st *daemonset.State, n cause.Needs) string {
	if !n.Admission && !n.Controller && len(n.Nodes) == 0 {
		return ""
	}
	return fmt.Sprint(n, st.DaemonSet.Generation)
}

// see takes what the watch tells.
func (f *following) see(s cluster.Seen) {
	f.news = true
	if f.seen = s.At; s.Kind != "" {
		f.heard(s)
		return
	}
	f.told = append(f.told, f.f.See(s.At, s.Object, s.Gone)...)
	if len(f.lost) > 0 {
		f.f.Resume(s.At)
	}
}

// heard shows that changes of a kind do not arrive, or arrive again. Until they do,
// nobody can tell what moves: see time. Events decide nothing.
func (f *following) heard(s cluster.Seen) {
	words, at := s.Lost, slices.Index(f.lost, s.Kind)
	switch {
	case s.Lost == "":
		words = "changes of " + s.Kind + " arrive again"
		if at >= 0 {
			f.lost = slices.Delete(f.lost, at, at+1)
			f.f.Resume(s.At)
		}
	case at < 0 && s.Kind != string(snapshot.Events):
		if len(f.lost) == 0 {
			f.since = s.At.Local()
		}
		f.lost = append(f.lost, s.Kind)
	}
	if f.terminal == nil {
		f.note("%s", screen.Clean(words))
		return
	}
	f.happened(view.Event{Happening: follow.Happening{At: s.At.Local()}, Words: words})
}

// time is the time of which the answer is: the server's; while changes do not arrive,
// that of the last one that did, so that nothing seems to stand still.
func (f *following) time() time.Time {
	if len(f.lost) > 0 {
		return f.seen
	}
	return f.w.Now()
}

// show shows what happened: in lines as soon as it did, on a terminal with every
// second of the clock, and at once in another size. On a large cluster a look costs so
// much that it is not taken more often than its tenfold, and where nothing was seen and
// nothing is due, which leaves only the clock, than its six hundredfold.
func (f *following) show() error {
	at := f.time()
	f.told = append(f.told, f.f.Settle(at, false)...)
	wait := max(time.Second, 10*f.cost)
	if !f.news && len(f.told) == 0 && (f.now.Due.IsZero() || at.Before(f.now.Due)) {
		wait = max(time.Second, 600*f.cost)
	}
	if f.terminal == nil && f.format == inText && len(f.told) > 0 {
		wait = 10 * f.cost
	}
	now := f.w.Now()
	switch due := now.Sub(f.shown.Truncate(time.Second)) >= wait; {
	case !due && f.terminal != nil && f.terminal() != f.drawn:
		return f.draw()
	case !due:
		return nil
	}
	began := time.Now()
	f.news = false
	err := f.look(at)
	if err == nil && f.now.End == "" { // else end shows it
		err = f.write()
	}
	f.shown, f.cost = now, time.Since(began)
	return err
}

// end shows how it ended, and returns its error or exit status. why is
// what ended the watch rather than the rollout.
func (f *following) end(err error, why string) error {
	if f.now == nil || err != nil && why == "" {
		return err
	}
	interrupted := err != nil // then there is little time
	if interrupted && f.format == inJSON {
		return cmp.Or(f.repeatDocument(), err)
	}
	at := f.time()
	f.told = append(f.told, f.f.Settle(at, true)...)
	ended := f.now.End
	if !interrupted || f.cost < tick {
		if lookErr := f.look(at); lookErr != nil {
			return lookErr
		}
	}
	f.now.End = cmp.Or(f.now.End, ended)
	if werr := f.writeEnd(why); werr != nil {
		return werr
	}
	switch {
	case err != nil:
		return err
	case f.now.End == follow.EndGone:
		return f.gone()
	case !f.exitCode:
		return nil
	}
	return f.status()
}

// gone is the error that there is no DaemonSet any more.
func (f *following) gone() error {
	return fmt.Errorf("daemonset %s/%s was deleted", f.now.Header.DaemonSet.Namespace, f.now.Header.DaemonSet.Name)
}

// endStatus are the exit statuses of ends with --exit-code.
var endStatus = map[follow.End]exitStatus{follow.EndStuck: stuck, follow.EndDegraded: degraded}

// statusNow is the exit status with --exit-code of a rollout that was followed. An end has
// to hold for half a minute; where the time was over first, the verdict that the screen
// shows counts, as for explain, and any other rollout is in progress.
func (f *following) statusNow() exitStatus {
	if f.now.End != "" {
		return endStatus[f.now.End]
	}
	if s := verdictStatus[f.explained().Verdict.Code]; s == stuck || s == degraded {
		return s
	}
	return moving
}

// following is a rollout that is followed until it ends, is stuck, or takes too long.
func (o *planOptions) following() *following {
	f := &following{question: &o.question, options: o.known, asked: o.asked}
	f.document = func() (any, error) { return plan.Make(f.now.State, o.known), nil }
	f.status = func() error { return worst(map[exitStatus]bool{f.statusNow(): true}) }
	return f
}

// following is a DaemonSet that is followed until somebody ends it.
func (o *explainOptions) following() *following {
	f := &following{question: &o.question, asked: o.askedBy(), endless: true}
	f.document = func() (any, error) { return f.explained(), nil }
	f.status = func() error { return o.status([]*explain.Explanation{f.explained()}) }
	return f
}
