package plan

import (
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Progress is how a rollout stands at one time.
type Progress struct {
	Header  daemonset.Header
	Counts  daemonset.Counts
	Old     int            // pods that are still to be replaced
	Next    daemonset.Step // what the next sync does
	Outcome Outcome        // of what is left, without Unblock
	Holding []Holder       // the nodes that use up the budget now, by name
	Starts  int            // how many pods were seen to become ready, from which the time that is left is told

	// Owed is for how long the next sync has been predicted to do something, and
	// nothing has come.
	Owed time.Duration

	Batches     int // that the controller did
	AsPredicted int // of them
	End         End
}

// Overdue reports whether what is predicted has not come for so long that it is
// told.
func (p *Progress) Overdue() bool { return p.Owed >= overdue }

// End says how a rollout that is followed ends; empty while it goes on.
type End string

const (
	EndDone       End = "Done"       // nothing is left to do, and the controller has said so
	EndDegraded   End = "Degraded"   // nothing is left to replace, but nodes stay without an available pod
	EndStuck      End = "Stuck"      // it does not go on by itself
	EndNotRolling End = "NotRolling" // nothing is replaced by itself
	EndGone       End = "Gone"       // the DaemonSet was deleted
)

// Ends lists every End.
var Ends = []End{EndDone, EndDegraded, EndStuck, EndNotRolling, EndGone}

// still is an end that has begun to show, and since when nothing spoke
// against it.
type still struct {
	end   End
	since time.Time
}

// Progress tells how the rollout stands. It costs as much as a few plans.
//
// Whether it is stuck is told by the plan of the present: it stalls with no
// step left and nothing under way. That, and that nodes stay without a pod, must
// hold for half a minute, as pods that fail are started anew.
func (f *Follower) Progress(at time.Time) (*Progress, error) {
	f.at = at
	st, err := f.objects.state(at)
	if err != nil {
		return nil, err
	}
	p := &Progress{
		Header: daemonset.NewHeader(Kind, st), Old: oldPods(st), Next: st.Sync(), Starts: len(f.learnt.starts),
		Batches: f.batches, AsPredicted: f.asPredicted,
	}
	p.Counts, _ = st.Counts()
	p.Counts.Desired = st.Desired
	p.Counts.Unavailable = p.Counts.Desired - p.Counts.Available
	if p.Next.Kind != daemonset.StepNone && f.open == nil {
		p.Owed = at.Sub(f.moved)
	}
	if f.gone {
		p.End = EndGone
		return p, nil
	}
	var idle bool
	p.Outcome, p.Holding, idle = f.present(st, &p.Next)
	p.End = f.ended(p, idle)
	return p, nil
}

// present is the outcome of what is left, by what was learned, who uses up the
// budget, and whether nothing is under way.
func (f *Follower) present(st *daemonset.State, next *daemonset.Step) (o Outcome, holding []Holder, idle bool) {
	if next.Reason == daemonset.StepSelectsAll || next.Reason == daemonset.StepBeingDeleted {
		return Outcome{Code: NotRolling, Reason: next.Reason, Holders: []Holder{}, Late: []Holder{}, Alternatives: []Alternative{}, Unblock: []Unblock{}}, nil, true
	}
	w := newWay(st, f.learnt.teach(measure(st, f.o)), nil)
	w.m.wait(next)
	w.quiet(next)
	run := w.simulate()
	if o = w.outcome(run); o.ends() {
		w.spread(&o)
	}
	o.Alternatives = w.alternatives(&o)
	return o, holdingNow(st, w.a.causes), run.end.at == 0
}

// holdingNow returns the nodes that use up the budget, each with what is wrong
// there; one where nothing is has two pods, or its pod on the way out.
func holdingNow(st *daemonset.State, causes *cause.Causes) []Holder {
	var out []Holder
	for i := range st.Nodes {
		n := &st.Nodes[i]
		if !st.Holds(n) {
			continue
		}
		h := Holder{Node: n.Name, Cause: causes.Of(n.Name)}
		if h.Cause == nil {
			h.Cause = &cause.Cause{Code: daemonset.Duplicate, Severity: cause.SeverityInfo, Facts: daemonset.Facts{}}
		}
		h.Pod = h.Cause.Pod
		out = append(out, h)
	}
	return out
}

// ended reports whether that is the end.
func (f *Follower) ended(p *Progress, idle bool) End {
	end := End("")
	switch {
	case p.Outcome.Code == NotRolling && idle:
		return EndNotRolling
	case p.Outcome.Code == NothingToDo && len(p.Outcome.Holders)+p.Outcome.FurtherHolders > 0:
		end = EndDegraded
	case p.Outcome.Code == NothingToDo && f.observed(p):
		return EndDone
	case p.Outcome.Code == NothingToDo:
		end = EndDone
	case p.Outcome.Code == Stalls && idle:
		end = EndStuck
	}
	if end != f.still.end {
		f.still = still{end, f.at}
	}
	if end != "" && f.at.Sub(f.still.since) >= calm {
		return end
	}
	return ""
}

// observed reports whether the status says what is computed.
func (f *Follower) observed(p *Progress) bool {
	said := daemonset.Reported(f.objects.ds)
	return f.objects.ds.Status.ObservedGeneration >= f.objects.ds.Generation &&
		said.Updated == p.Counts.Updated && said.Available == p.Counts.Available
}
