package follow

import (
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// Progress is the state of a rollout at one time.
type Progress struct {
	Header  daemonset.Header
	State   *daemonset.State // of this time
	Counts  daemonset.Counts
	Next    daemonset.Step // the next sync
	Outcome plan.Outcome   // of the rest of the rollout
	Outlook remedy.Outlook // as plan.Look returns it, with the times measured while following

	Nodes []plan.OnNode // the progress on each eligible node, by name
	Late  []LatePod     // by node
	Usual Usual

	// Idle is how long no pod has been created, deleted or gone, or become Ready, if late or failing pods are to blame;
	// otherwise 0.
	Idle time.Duration

	// Owed is how long the next sync has been predicted to act without acting.
	Owed time.Duration

	// Due is when another field changes only because time passes: a pod becomes available, a batch is complete, an End
	// is reached or the controller is overdue. It is zero if there is no such time. It does not account for Late and
	// Idle, which can change every second.
	Due time.Time

	Batches     int // number of batches by the controller
	AsPredicted int // number of those that were as predicted
	End         End
}

// Overdue reports whether a predicted act has been missing for so long that it is reported.
func (p *Progress) Overdue() bool { return p.Owed >= overdueAfter }

// End is how a followed rollout ends; empty while it continues.
type End string

const (
	EndDone       End = "Done"       // nothing is left to do, and the status is up to date
	EndDegraded   End = "Degraded"   // nothing is left to replace, but nodes stay without an available pod
	EndStuck      End = "Stuck"      // it does not continue by itself
	EndNotRolling End = "NotRolling" // nothing is replaced automatically
	EndGone       End = "Gone"       // the DaemonSet was deleted
)

// Ends lists every End.
var Ends = []End{EndDone, EndDegraded, EndStuck, EndNotRolling, EndGone}

// pendingEnd is a possible End, and since when it has held without interruption.
type pendingEnd struct {
	end   End
	since time.Time
}

// Progress returns the state of the rollout at the given time. It costs as much as a few plans.
//
// The rollout is stuck if its plan stalls without another step and nothing is in progress. EndStuck and EndDegraded
// must hold for half a minute, because failing pods are restarted.
func (f *Follower) Progress(at time.Time) (*Progress, error) {
	f.at = at
	st, err := f.objects.state(at)
	if err != nil {
		return nil, err
	}
	p := &Progress{
		Header: daemonset.NewHeader(plan.Kind, st), State: st, Next: st.Sync(),
		Batches: f.batches, AsPredicted: f.asPredicted,
	}
	p.Counts, _ = st.Counts()
	p.Counts.Desired = st.Desired
	p.Counts.Unavailable = p.Counts.Desired - p.Counts.Available
	p.Owed = f.owed(&p.Next)
	if f.gone {
		p.End = EndGone
		return p, nil
	}
	p.End = f.ended(p, f.present(p))
	p.Due = f.dueAt(p.State)
	return p, nil
}

// dueAt returns Progress.Due.
func (f *Follower) dueAt(st *daemonset.State) (next time.Time) {
	add := func(at time.Time) {
		if at.After(f.at) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for i := range st.Nodes {
		for _, p := range st.Nodes[i].Pods {
			if p.AvailableAt != nil {
				add(*p.AvailableAt)
			}
		}
	}
	if f.open != nil {
		add(f.open.last.Add(batchGap))
	}
	if f.pendingEnd.end != "" {
		add(f.pendingEnd.since.Add(stuckAfter))
	}
	if !f.due.since.IsZero() {
		add(f.due.since.Add(overdueAfter))
	}
	return next
}

// due is the predicted next sync after a number of batches, and since when it has been predicted.
type due struct {
	creates, deletes, batches int
	since                     time.Time
}

// owed returns how long the same sync has been predicted without happening. Unrelated changes, such as on another node,
// do not reset that time.
func (f *Follower) owed(next *daemonset.Step) time.Duration {
	if next.Kind == daemonset.StepNone || f.open != nil {
		f.due = due{}
		return 0
	}
	was := f.due
	f.due = due{next.Creates.Len(), next.Deletes.Len(), f.batches, was.since}
	if f.due != was || was.since.IsZero() {
		f.due.since = f.moved
	}
	return f.at.Sub(f.due.since)
}

// Resume starts to measure Idle, Owed and End anew, after an interruption in which changes may have been missed.
func (f *Follower) Resume(at time.Time) {
	f.moved, f.vanished, f.pendingEnd, f.due = at, at, pendingEnd{}, due{}
}

// present sets the outcome of the rest of the rollout and the progress on each node. It reports whether nothing is in
// progress.
func (f *Follower) present(p *Progress) (idle bool) {
	o := plan.Outcome{Code: plan.NotRolling, Reason: p.Next.Reason, Holders: []plan.Holder{}, Late: []plan.Holder{},
		Unknown:  []plan.Holder{},
		Problems: []*cause.Problem{}, Alternatives: []plan.Alternative{}, Remedies: []remedy.Remedy{}}
	switch {
	case !p.State.PodsRead:
		o.Code, p.Outcome = plan.Unknown, o
		return false
	case o.Reason == daemonset.StepSelectsAll, o.Reason == daemonset.StepBeingDeleted:
		p.Outcome, p.Nodes = o, plan.Motion(p.State, cause.Find(p.State))
		return true
	}
	m := f.learnt.Teach(timing.Measure(p.State, f.o.Given()))
	rest := plan.RestOf(p.State, &p.Next, m)
	p.Outcome, p.Outlook = rest.Outcome, rest.Outlook
	p.Nodes, p.Late, p.Usual = plan.Motion(p.State, rest.Causes), late(m, p.State), usualOf(m)
	p.Idle = p.idle(f.vanished)
	return rest.Still
}

// ended returns the End of the rollout, or "" if it continues.
func (f *Follower) ended(p *Progress, idle bool) End {
	end := End("")
	switch {
	case p.Outcome.Code == plan.NotRolling && idle:
		return EndNotRolling
	case p.Outcome.Code == plan.NothingToDo && len(p.Outcome.Holders)+p.Outcome.FurtherHolders > 0:
		end = EndDegraded
	case p.Outcome.Code == plan.NothingToDo && f.observed(p):
		return EndDone
	case p.Outcome.Code == plan.NothingToDo:
		end = EndDone
	case p.Outcome.Code == plan.Stalls && idle:
		end = EndStuck
	}
	if end != f.pendingEnd.end {
		f.pendingEnd = pendingEnd{end, f.at}
	}
	if end != "" && f.at.Sub(f.pendingEnd.since) >= stuckAfter {
		return end
	}
	return ""
}

// observed reports whether the status agrees with the computed counts.
func (f *Follower) observed(p *Progress) bool {
	said := daemonset.Reported(f.objects.ds)
	return f.objects.ds.Status.ObservedGeneration >= f.objects.ds.Generation &&
		said.Updated == p.Counts.Updated && said.Available == p.Counts.Available
}
