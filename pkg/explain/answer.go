package explain

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
)

// Impact is which nodes are without a working pod. It is nil if nodes or pods
// could not be read.
type Impact struct {
	Without []string `json:"without"` // eligible nodes without an available pod, sorted by name
	Ready   []string `json:"ready"`   // of them, those with a Ready pod, for which only minReadySeconds is not over; sorted by name
	Served  int      `json:"served"`  // how many eligible nodes have an available pod

	// of the nodes `served`, those where only an old pod is available, beside a new one that is not; sorted by name
	OldServes []string `json:"oldServes"`

	// nodes that are not eligible and have a pod, which only MISSCHEDULED counts; sorted by name
	Uncounted []string `json:"uncounted"`
}

// Share is the share of the nodes that should run the pod and have no available
// one; 0 where that is not known.
func (i *Impact) Share() float64 {
	if i == nil || len(i.Without) == 0 {
		return 0
	}
	return float64(len(i.Without)) / float64(len(i.Without)+i.Served)
}

// Rollout is the course of the current revision.
type Rollout struct {
	UnderWay bool `json:"underWay"` // old pods are left that are not terminating

	// when the rollout began: when the controller created the current revision; nil after a rollback, and if it
	// is unknown
	Since *time.Time `json:"since"`
}

// Outlook is how the numbers will be if nobody does anything.
type Outlook struct {
	Code      OutlookCode `json:"code"`      // how it continues by itself
	Desired   int         `json:"desired"`   // nodes that are eligible then
	Updated   int         `json:"updated"`   // of them, those whose pod is updated then
	Available int         `json:"available"` // of them, those whose pod is available then

	// how long until then; nil if unknown, and for `Stays` and `Stalls`
	Duration *cause.Duration `json:"duration"`

	// what the controller does next, where it waits for a time that is known; otherwise nil
	Next *cause.Batch `json:"next"`
}

// OutlookCode says how it goes on by itself.
type OutlookCode string

const (
	Completes OutlookCode = "Completes" // every old pod is replaced, and every missing pod created
	Stalls    OutlookCode = "Stalls"    // it continues, but stops before that
	Stays     OutlookCode = "Stays"     // nothing changes by itself
)

// willBe returns the Outlook; nil for a DaemonSet that needs none, and where it is
// not known.
func (b *builder) willBe(e *Explanation) *Outlook {
	switch e.Verdict.Code {
	case Stuck, Degraded, AwaitingDelete:
		_, now := e.Status.basis()
		if now == nil {
			return nil
		}
		return &Outlook{Code: Stays, Desired: now.Desired, Updated: now.Updated, Available: now.Available}
	case Progressing:
		if c := b.outlook.Course; c != nil {
			o := &Outlook{Code: Completes, Desired: c.End.Desired, Updated: c.End.Updated, Available: c.End.Available, Duration: c.Duration, Next: c.Next}
			if c.Stalls {
				o.Code = Stalls
			}
			return o
		}
	}
	return nil
}

// Fix is something that a person can do, with what it does beside that.
type Fix struct {
	Code FixCode `json:"code"` // what to do

	// the first problem that it removes; empty for a way around it
	// Codes: Problems
	Problem daemonset.Reason `json:"problem"`

	// the nodes concerned, sorted by name; for `DeletePods` the nodes of `pods`, in their order
	Nodes    []string     `json:"nodes"`
	Pods     []string     `json:"pods"`     // the pods to delete; otherwise empty
	Name     string       `json:"name"`     // of the other object to change; otherwise empty
	Revision int64        `json:"revision"` // the revision to go back to; otherwise 0
	Replaces int          `json:"replaces"` // how many pods going back replaces
	Limit    *cause.Raise `json:"limit"`    // the limit to raise to; nil for any other fix

	// how many pods a ResourceQuota has to allow; 0 if the quota limits something else
	Needs int `json:"needs"`

	// the origin is unknown: the fix helps only if it is the new revision
	Unsure bool `json:"unsure"`
}

// FixCode names what a Fix does.
type FixCode string

const (
	FixUndo        FixCode = "Undo"        // go back to the revision of most old pods: `kubectl rollout undo`
	FixRepairNodes FixCode = "RepairNodes" // repair the nodes, or delete those that are gone for good
	FixRaiseLimit  FixCode = "RaiseLimit"  // raise maxUnavailable or maxSurge until the nodes are repaired
	FixRaiseQuota  FixCode = "RaiseQuota"  // have its owner raise a ResourceQuota
	FixMakeRoom    FixCode = "MakeRoom"    // make room on nodes where the pod does not fit
	// FixNoSurge: use maxUnavailable instead of maxSurge, because the template uses a host port
	FixNoSurge FixCode = "NoSurge"
	// FixDeletePods: delete pods, which the controller then replaces: under OnDelete, or one that is left over from a
	// deleted node
	FixDeletePods FixCode = "DeletePods"
)

// impact returns the Impact.
func (b *builder) impact() *Impact {
	if !b.st.NodesRead || !b.st.PodsRead {
		return nil
	}
	out := &Impact{Without: []string{}, Ready: []string{}, OldServes: []string{}, Uncounted: []string{}}
	for i := range b.st.Nodes {
		n := &b.st.Nodes[i]
		available, oldAvailable, newUnavailable := false, false, false
		for j := range n.Pods {
			p := &n.Pods[j]
			available = available || p.Available.OK
			oldAvailable = oldAvailable || p.Available.OK && !p.Updated
			newUnavailable = newUnavailable || !p.Available.OK && p.Updated
		}
		switch m := n.Membership(); {
		case m.Misscheduled:
			out.Uncounted = append(out.Uncounted, n.Name)
		case !m.Desired:
		case !available:
			out.Without = append(out.Without, n.Name)
			if c := b.causes.Of(n.Name); c != nil && c.Code == daemonset.NotYetAvailable {
				out.Ready = append(out.Ready, n.Name)
			}
		default:
			out.Served++
			if oldAvailable && newUnavailable {
				out.OldServes = append(out.OldServes, n.Name)
			}
		}
	}
	for _, names := range [][]string{out.Without, out.Ready, out.OldServes, out.Uncounted} {
		slices.Sort(names)
	}
	return out
}

// origin returns what a problem comes from; nil for one that needs none: it
// passes by itself, or says where it comes from.
func (b *builder) origin(p *Problem, all cause.Tally) *cause.Origin {
	o := &cause.Origin{Kind: cause.OriginUnknown, Certainty: cause.Unsure, BeforeRollout: b.beforeRollout(p)}
	is := func(kind cause.OriginKind, how cause.Certainty) *cause.Origin {
		o.Kind, o.Certainty = kind, how
		return o
	}
	switch {
	case p.Code == Misscheduled && downFor(p.Facts):
		return is(cause.OriginNodes, cause.Certain)
	case p.Severity == cause.SeverityInfo && p.Code != OnDeleteOutdated:
		return nil
	case cause.OfContainer(p.Code):
		if all.NewFailing > 0 && all.NewFailing == all.NewPods && all.OldPods > 0 && all.OldFailing == 0 {
			o.Revision = b.currentNumber()
			return is(cause.OriginRevision, cause.Likely)
		}
		return o
	}
	switch p.Code {
	case cause.NoEligibleNode:
		if p.Facts["changed"] != cause.ChangedTemplate {
			return nil
		}
		number := p.Facts.Int("number")
		o.Revision = int64(number)
		return is(cause.OriginRevision, cause.Likely)
	case cause.NodeNotReady, cause.TerminatingOnDeadNode, daemonset.NodeGone:
		return is(cause.OriginNodes, cause.Certain)
	case cause.HostPortConflict:
		if b.st.Budget.MaxSurge > 0 && len(cause.HostPorts(&b.st.DaemonSet.Spec.Template.Spec)) > 0 {
			return is(cause.OriginStrategy, cause.Likely)
		}
		return is(cause.OriginScheduling, cause.Certain)
	case cause.InsufficientResources:
		return is(cause.OriginScheduling, cause.Certain)
	case ControllerSilent, GenerationNotObserved, StaleStatus:
		if p.Severity == cause.SeverityError || p.Code == StaleStatus {
			return is(cause.OriginController, cause.Likely)
		}
		return nil
	case OnDeleteOutdated, daemonset.InvalidBudget, SurgeHostPort:
		return is(cause.OriginStrategy, cause.Certain)
	case cause.FailedCreate:
		message := p.Facts.Text("message")
		kind, name := cause.RefusedBy(message)
		o.Name = name
		return is(map[cause.Refuser]cause.OriginKind{cause.ByQuota: cause.OriginQuota, cause.ByPodSecurity: cause.OriginPolicy, cause.ByWebhook: cause.OriginWebhook, cause.ByAPIServer: cause.OriginAPIServer}[kind], cause.Certain)
	case cause.EvictLoop, daemonset.FailedPod, daemonset.NotReady, cause.PendingUnschedulable:
		return o
	}
	return nil
}

// beforeRollout reports whether a problem was there before the rollout under way
// began.
func (b *builder) beforeRollout(p *Problem) *bool {
	began := b.rolloutBegan()
	if began == nil || p.Since == nil || p.Latest == nil || b.oldNodes() == 0 {
		return nil
	}
	before := p.Latest.Before(*began)
	if !before && p.Since.Before(*began) {
		return nil // some were, some were not
	}
	return &before
}

// currentNumber is the number of the current revision; 0 if none is known.
func (b *builder) currentNumber() int64 {
	for _, r := range b.st.History.Revisions {
		if slices.Contains(b.st.History.Current, r.Name) {
			return r.Number
		}
	}
	return 0
}

// fixes returns what helps against problems that do not go away by themselves,
// the safest first.
func (b *builder) fixes(e *Explanation) []Fix {
	out := []Fix{}
	add := func(f Fix) {
		f.Problem = e.helps(f.Code)
		if f.Nodes == nil {
			f.Nodes = []string{}
		}
		if f.Pods == nil {
			f.Pods = []string{}
		}
		out = append(out, f)
	}
	if e.Verdict.Code == BeingDeleted || e.Verdict.Code == Unknown {
		return out
	}
	nodes := map[cause.OriginKind][]string{}
	unsure := false
	for i := range e.Problems {
		p := &e.Problems[i]
		switch o := p.Origin; {
		case o != nil && p.Code == Misscheduled:
			nodes[o.Kind] = append(nodes[o.Kind], p.Nodes...)
		case o != nil && p.Code == cause.NoEligibleNode:
			if to := p.Facts.Int("before"); to > 0 {
				add(Fix{Code: FixUndo, Revision: int64(to)})
			}
		case o == nil, !p.Urgent():
		case cause.OfContainer(p.Code):
			unsure = unsure || o.Kind == cause.OriginUnknown
			nodes[cause.OriginRevision] = append(nodes[cause.OriginRevision], p.Nodes...)
		case o.Kind == cause.OriginQuota:
			message := p.Facts.Text("message")
			add(Fix{Code: FixRaiseQuota, Name: o.Name, Needs: cause.QuotaNeeds(message, len(e.lacking()))})
		default:
			nodes[o.Kind] = append(nodes[o.Kind], p.Nodes...)
		}
	}
	if to := b.undoTo(); to != 0 && len(nodes[cause.OriginRevision]) > 0 {
		add(Fix{Code: FixUndo, Revision: to, Replaces: b.newPods(), Unsure: unsure})
	}
	if broken := sorted(nodes[cause.OriginNodes]); len(broken) > 0 {
		add(Fix{Code: FixRepairNodes, Nodes: broken})
	}
	if len(nodes[cause.OriginStrategy]) > 0 {
		add(Fix{Code: FixNoSurge})
	}
	if tight := sorted(nodes[cause.OriginScheduling]); len(tight) > 0 {
		add(Fix{Code: FixMakeRoom, Nodes: tight})
	}
	if raise := e.Budget.Unblock; raise != nil && e.Verdict.Code == Stuck && e.Has(cause.NoEligibleNode) == nil && len(nodes[cause.OriginRevision]) == 0 { // else it would only delete pods, or more would fail
		add(Fix{Code: FixRaiseLimit, Limit: raise, Nodes: raise.Left})
	}
	if err := e.Next.Error; err != nil && err.Pod != "" {
		add(Fix{Code: FixDeletePods, Pods: []string{err.Pod}, Nodes: []string{err.Node}})
	}
	if e.Verdict.Code == AwaitingDelete {
		f := Fix{Code: FixDeletePods}
		for i := range b.st.Nodes {
			for _, p := range b.st.Nodes[i].Pods {
				if !p.Updated && !p.Terminating {
					f.Nodes, f.Pods = append(f.Nodes, b.st.Nodes[i].Name), append(f.Pods, p.Name)
				}
			}
		}
		add(f)
	}
	return out
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// oldRevision is the number of the revision that most old pods run; 0 if none
// is kept, or no rollout is under way.
func (b *builder) oldRevision() int64 {
	pods := map[string]int{}
	for i := range b.st.Nodes {
		for _, p := range b.st.Nodes[i].Pods {
			if !p.Updated && !p.Terminating {
				pods[p.Revision]++
			}
		}
	}
	var number int64
	most := 0
	for _, r := range b.st.History.Revisions { // newest first
		if n := pods[r.Name]; n > most && !slices.Contains(b.st.History.Current, r.Name) {
			number, most = r.Number, n
		}
	}
	return number
}

// undoTo is the revision to go back to: the one that most old pods run, none of
// which fails; 0 if there is none.
func (b *builder) undoTo() int64 {
	if b.causes.RevisionFails().OldFailing > 0 || b.st.DaemonSet.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return 0
	}
	return b.oldRevision()
}

// change is what differs between the revision of most old pods and the live
// template; nil without a rollout under way, and where either cannot be read.
func (b *builder) change(e *Explanation) *history.Diff {
	from := b.oldRevision()
	for _, p := range e.Problems {
		if before := p.Facts.Int("before"); before > 0 && p.Code == cause.NoEligibleNode && from == 0 {
			from = int64(before)
		}
	}
	if from == 0 {
		return nil
	}
	return history.FromRevision(b.s, b.st, from)
}

// newPods counts the pods of the current revision that nobody has asked to end.
func (b *builder) newPods() int {
	count := 0
	for i := range b.st.Nodes {
		for _, p := range b.st.Nodes[i].Pods {
			if p.Updated && !p.Terminating {
				count++
			}
		}
	}
	return count
}
