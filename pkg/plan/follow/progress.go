package follow

import (
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// Progress is how a rollout stands at one time.
type Progress struct {
	Header  daemonset.Header
	State   *daemonset.State // of this time
	Counts  daemonset.Counts
	Next    daemonset.Step // what the next sync does
	Outcome plan.Outcome   // of what is left, without Unblock
	Outlook remedy.Outlook // what Look returns of the State, from what was seen while it was followed

	Nodes []plan.OnNode // how far it is on each eligible node, by name
	Late  []LatePod     // by node
	Usual Usual

	// Idle is for how long no pod has come, become Ready, been deleted or gone, where
	// pods that are late or fail are to blame; else 0.
	Idle time.Duration

	// Owed is for how long the next sync has been predicted to do something, and
	// nothing has come.
	Owed time.Duration

	// Due is when the clock alone changes the next of this: a pod becomes available, a batch is
	// over, or an end or what is owed has stood for long enough. It is zero where nothing of that
	// is to come. What is late, and for how long nothing has moved, changes with any second.
	Due time.Time

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
		add(f.open.last.Add(quiet))
	}
	if f.still.end != "" {
		add(f.still.since.Add(calm))
	}
	if !f.due.since.IsZero() {
		add(f.due.since.Add(overdue))
	}
	return next
}

// due is what the next sync has been predicted to do after so many batches, and since
// when.
type due struct {
	creates, deletes, batches int
	since                     time.Time
}

// owed returns for how long the next sync has been predicted to do the same, and nothing
// has come. What changes beside it, as on another node, is no excuse.
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

// Resume says that changes arrive again which did not arrive until now. From here on
// Idle, Owed and End are measured anew: what nobody could see may have happened.
func (f *Follower) Resume(at time.Time) {
	f.moved, f.vanished, f.still, f.due = at, at, still{}, due{}
}

// present adds what becomes of a rollout by what was learned, and what moves now. It
// reports whether nothing is under way.
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

// ended reports whether that is the end.
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
