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

// watchFlags are the flags of commands that can follow a DaemonSet.
type watchFlags struct {
	watch   bool
	timeout time.Duration
}

func (w *watchFlags) addFlags(f *pflag.FlagSet, watch string) {
	f.BoolVarP(&w.watch, "watch", "w", false, watch)
	f.DurationVar(&w.timeout, "timeout", 0, "with --watch: stop after this time")
}

// refusals returns the refusals for --watch and --timeout.
func (w *watchFlags) refusals(q *queryFlags) []refusal {
	return []refusal{
		{q.given("timeout") != "" && !w.watch, "--timeout needs --watch", "--request-timeout limits a single request"},
		{w.watch && len(q.from) > 0, "--watch follows a DaemonSet in a cluster: it cannot be combined with --from",
			"leave out --watch"},
		{w.watch && q.isList(), "--watch needs the name of one DaemonSet", nameHint},
		{w.watch && q.format != inText && q.format != inJSON, "--watch cannot be combined with -o " + q.output,
			"leave out -o, or use -o json: one document a line"},
		{w.watch && q.now != "", "--watch cannot be combined with --now", "leave out --now"},
		{w.watch && q.all, "--all cannot be combined with --watch", "leave out --watch to see all nodes"},
		{w.timeout < 0, fmt.Sprintf("--timeout %s is negative", w.timeout), "--timeout 10m"},
	}
}

// watching is the interface of *cluster.Watching.
type watching interface {
	Start() *snapshot.Snapshot
	Changes() <-chan cluster.Seen
	Err() error
	Now() time.Time
	Close()
}

// following is a watch of a DaemonSet. It prints to a terminal, as lines, or as documents.
type following struct {
	*queryFlags
	w        watching
	f        *follow.Follower
	options  plan.Options
	asked    sheet.Asked
	terminal func() size // returns the size of the terminal; nil for lines and documents

	// A watch of a plan ends with the rollout. A watch of an explanation does not end.
	endless  bool
	document func() (any, error) // the current document for -o json
	status   func() error

	now         *follow.Progress
	explanation *explain.Explanation // nil until explained is called
	events      []follow.Happening   // events since the last output
	shownAt     time.Time            // time of the last output, by the server's clock
	cost        time.Duration        // time that the last look and output took
	changed     bool                 // something changed since the last output

	neededFor     *follow.Progress // the Progress for which needs and wantedKey were computed
	needs         cause.Needs
	wantedKey     string            // the lookup key of needs
	lookupKey     string            // the key of the last or current lookup
	lookup        chan lookupResult // receives the result; nil if no lookup is in progress
	lookupStarted time.Time         // when the lookup started

	lost  []string  // kinds whose changes do not arrive
	since time.Time // when the first of them was lost
	seen  time.Time // when the last change or loss arrived

	liveScreen
	lineState
}

// checkInterval is the interval at which following checks whether to print something.
const checkInterval = 250 * time.Millisecond

// follow watches the DaemonSet until the rollout ends or the timeout expires.
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
	f.w, err = r.(*cluster.Cluster).Watch(limited, withNamespace(namespace, f.names)[0])
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
	return f.run(limited, ctx, timeout)
}

func (f *following) begin(ctx context.Context) error {
	st, err := f.state(f.w.Start())
	if err != nil {
		return err
	}
	if needs := cause.Watched(st); f.opened != nil {
		f.lookupKey, f.lookupStarted = lookupKey(st, needs), f.w.Now()
		if st, err = f.readNeeds(ctx, st, needs); err != nil {
			return err
		}
	}
	f.f = follow.NewFollower(st, f.options)
	if err := f.look(st.At); err != nil {
		return err
	}
	f.shownAt = st.At
	f.noteGaps(&f.now.Header)
	f.addEvent(view.Event{Happening: follow.Happening{At: f.now.Header.Snapshot.TakenAt}, Words: "from here on"})
	of := &f.now.Header // if the nodes are unreadable, an unobserved change may still start a rollout
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
	f.now, f.explanation = p, nil
	return nil
}

// explained returns the Explanation of the current state.
func (f *following) explained() *explain.Explanation {
	if f.explanation == nil {
		f.explanation = explain.Explain(f.now.State, explain.Options{Outlook: f.now.Outlook})
	}
	return f.explanation
}

// run processes changes until the rollout or ctx ends. ctx has the timeout; whole does not.
func (f *following) run(ctx, whole context.Context, timeout time.Duration) error {
	ticker := time.NewTicker(checkInterval)
	defer ticker.Stop()
	for {
		select {
		case s, open := <-f.w.Changes():
			switch {
			case !open && ctx.Err() == nil:
				return f.end(f.w.Err(), "")
			case open: // otherwise the code below returns
				f.handleChange(s)
			}
		case k := <-f.lookup:
			if err := f.finishLookup(k); err != nil {
				return f.end(err, "")
			}
		case <-ticker.C:
			f.startLookup(ctx)
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

// lookupInterval is the minimum time between two lookups. Users do not need new results every
// second.
const lookupInterval = 10 * time.Second

// startLookup reads additional input in the background if the current state needs different input
// than before: for example, because the API server rejects pods, or the scheduler cannot place one.
// It sends no request for input that is no longer needed.
func (f *following) startLookup(ctx context.Context) {
	if f.opened == nil || f.lookup != nil || f.w.Now().Sub(f.lookupStarted) < lookupInterval {
		return
	}
	st := f.now.State
	if f.neededFor != f.now {
		f.neededFor, f.needs = f.now, cause.Watched(st)
		f.wantedKey = lookupKey(st, f.needs)
	}
	if f.wantedKey == f.lookupKey {
		return
	}
	needs := f.needs
	f.lookupKey, f.lookupStarted, f.lookup = f.wantedKey, f.w.Now(), make(chan lookupResult, 1)
	bare := st.Reading(st.Snapshot.Admitting(nil, nil).Holding(nil, nil).Reaching(nil, nil).ControlledBy(nil, nil))
	go func(answer chan<- lookupResult) {
		k := lookupResult{bare.Snapshot, nil}
		k.err = source.Contain(func() error {
			read, err := f.readNeeds(ctx, bare, needs)
			k.read = read.Snapshot
			return err
		})()
		answer <- k
	}(f.lookup)
}

// lookupResult is the result of a lookup.
type lookupResult struct {
	read *snapshot.Snapshot
	err  error
}

// finishLookup stores the result of a lookup. It ignores errors, because the watch itself reports
// an unreachable server.
func (f *following) finishLookup(k lookupResult) error {
	f.lookup, f.changed = nil, true
	f.f.Know(k.read)
	if p := (*source.PanicError)(nil); errors.As(k.err, &p) {
		return k.err
	}
	return nil
}

// lookupKey returns a key for the input of a lookup. A watch repeats a lookup only if the key
// changes.
func lookupKey(st *daemonset.State, n cause.Needs) string {
	if !n.Admission && !n.Controller && len(n.Nodes) == 0 {
		return ""
	}
	return fmt.Sprint(n, st.DaemonSet.Generation)
}

// handleChange processes a change or a loss of the watch.
func (f *following) handleChange(s cluster.Seen) {
	f.changed = true
	if f.seen = s.At; s.Kind != "" {
		f.reportLost(s)
		return
	}
	f.events = append(f.events, f.f.See(s.At, s.Object, s.Gone)...)
	if len(f.lost) > 0 {
		f.f.Resume(s.At)
	}
}

// reportLost prints that changes of a kind do not arrive, or arrive again. While they do not arrive,
// the clock of the answer stops (see answerTime). Lost events do not stop the clock, because events
// do not affect the state.
func (f *following) reportLost(s cluster.Seen) {
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
	f.addEvent(view.Event{Happening: follow.Happening{At: s.At.Local()}, Words: words})
}

// answerTime returns the time of the current answer. This is the server's time. While changes do
// not arrive, it is the time of the last change, so that the rollout does not seem to stop.
func (f *following) answerTime() time.Time {
	if len(f.lost) > 0 {
		return f.seen
	}
	return f.w.Now()
}

// show prints new events: immediately as lines, or once a second on a terminal. It also redraws a
// terminal after a change of its size. On a large cluster, computing a state is expensive, so show
// waits at least ten times as long as the last computation took. If nothing changed and nothing is
// due, a new state differs only in its clock, so show waits 600 times as long.
func (f *following) show() error {
	at := f.answerTime()
	f.events = append(f.events, f.f.Settle(at, false)...)
	wait := max(time.Second, 10*f.cost)
	if !f.changed && len(f.events) == 0 && (f.now.Due.IsZero() || at.Before(f.now.Due)) {
		wait = max(time.Second, 600*f.cost)
	}
	if f.terminal == nil && f.format == inText && len(f.events) > 0 {
		wait = 10 * f.cost
	}
	now := f.w.Now()
	switch due := now.Sub(f.shownAt.Truncate(time.Second)) >= wait; {
	case !due && f.terminal != nil && f.terminal() != f.drawnSize:
		return f.draw()
	case !due:
		return nil
	}
	began := time.Now()
	f.changed = false
	err := f.look(at)
	if err == nil && f.now.End == "" { // end prints the last state
		err = f.write()
	}
	f.shownAt, f.cost = now, time.Since(began)
	return err
}

// end prints the last state and returns its error or exit status. why is the reason if something
// other than the rollout ended the watch.
func (f *following) end(err error, why string) error {
	if f.now == nil || err != nil && why == "" {
		return err
	}
	interrupted := err != nil // the program must end soon
	if interrupted && f.format == inJSON {
		return cmp.Or(f.repeatDocument(), err)
	}
	at := f.answerTime()
	f.events = append(f.events, f.f.Settle(at, true)...)
	ended := f.now.End
	if !interrupted || f.cost < checkInterval {
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
		return f.deletedError()
	case !f.exitCode:
		return nil
	}
	return f.status()
}

// deletedError returns the error for a deleted DaemonSet.
func (f *following) deletedError() error {
	return fmt.Errorf("daemonset %s/%s was deleted", f.now.Header.DaemonSet.Namespace, f.now.Header.DaemonSet.Name)
}

// endStatus maps the ends of a rollout to the exit statuses of --exit-code.
var endStatus = map[follow.End]exitStatus{follow.EndStuck: statusStuck, follow.EndDegraded: statusDegraded}

// statusNow returns the exit status of a followed rollout with --exit-code. A rollout ends only
// after its state lasted for half a minute. If the timeout expires first, statusNow uses the
// verdict on the screen, as explain does. All other rollouts are in progress.
func (f *following) statusNow() exitStatus {
	if f.now.End != "" {
		return endStatus[f.now.End]
	}
	if s := verdictStatus[f.explained().Verdict.Code]; s == statusStuck || s == statusDegraded {
		return s
	}
	return statusProgressing
}

// following returns a watch that ends when the rollout ends or is stuck, or when the timeout
// expires.
func (o *planOptions) following() *following {
	f := &following{queryFlags: &o.queryFlags, options: o.known, asked: o.asked}
	f.document = func() (any, error) { return plan.Make(f.now.State, o.known), nil }
	f.status = func() error { return worstStatus(map[exitStatus]bool{f.statusNow(): true}) }
	return f
}

// following returns a watch that ends when the user stops it, or when the timeout expires.
func (o *explainOptions) following() *following {
	f := &following{queryFlags: &o.queryFlags, asked: o.askedBy(), endless: true}
	f.document = func() (any, error) { return f.explained(), nil }
	f.status = func() error { return o.status([]*explain.Explanation{f.explained()}) }
	return f
}
