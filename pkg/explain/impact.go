package explain

import (
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// Impact lists the nodes without a working pod. It is nil if nodes or pods
// could not be read.
type Impact struct {
	Without []string `json:"without"` // eligible nodes without an available pod, sorted by name
	// the nodes of `without` with a Ready pod that only waits for minReadySeconds, sorted by name
	Ready  []string `json:"ready"`
	Served int      `json:"served"` // how many eligible nodes have an available pod

	// the nodes of `served` with an available old pod and a new pod that is not available, sorted by name
	OldServes []string `json:"oldServes"`

	// nodes that are not eligible and have a pod, which only MISSCHEDULED counts; sorted by name
	Uncounted []string `json:"uncounted"`
}

// Share returns the share of eligible nodes that have no available pod, from 0
// to 1. It returns 0 if that is unknown.
func (i *Impact) Share() float64 {
	if i == nil || len(i.Without) == 0 {
		return 0
	}
	return float64(len(i.Without)) / float64(len(i.Without)+i.Served)
}

// Rollout is the progress of the current revision.
type Rollout struct {
	UnderWay bool `json:"underWay"` // old pods are left that are not terminating

	// when the rollout began: when the controller created the current revision;
	// nil after a rollback, or if it is unknown
	Since *time.Time `json:"since"`
}

// Outlook is what the numbers will be if nobody acts.
type Outlook struct {
	Code      OutlookCode `json:"code"`      // how it continues by itself
	Desired   int         `json:"desired"`   // nodes that are eligible then
	Updated   int         `json:"updated"`   // how many of these nodes have an updated pod then
	Available int         `json:"available"` // how many of these nodes have an available pod then

	// how long this takes; nil if unknown, and for `Stays` and `Stalls`
	Duration *remedy.Duration `json:"duration"`

	// the next actions of the controller if it waits until a known time; otherwise nil
	Next *remedy.Batch `json:"next"`

	// the outcome if pods that are not ready do not behave as expected; nil if it is the same
	Otherwise *remedy.Otherwise `json:"otherwise"`
}

// OutlookCode says how the DaemonSet continues if nobody acts.
type OutlookCode string

const (
	Completes OutlookCode = "Completes" // every old pod is replaced, and every missing pod created
	Stalls    OutlookCode = "Stalls"    // it continues, but stops before that
	Stays     OutlookCode = "Stays"     // nothing changes by itself
)

// outlookFor returns the Outlook. It returns nil for a DaemonSet that needs none, and
// if it is unknown.
func (g *given) outlookFor(verdict VerdictCode, s *Status) *Outlook {
	_, now := s.basis()
	switch c := g.outlook.Course; {
	case now != nil && slices.Contains([]VerdictCode{Stuck, Degraded, AwaitingDelete}, verdict):
		o := &Outlook{Code: Stays, Desired: now.Desired, Updated: now.Updated, Available: now.Available}
		if c != nil && c.Stalls && verdict == Stuck {
			o.Otherwise = c.Otherwise
		}
		return o
	case c != nil && verdict == Progressing:
		o := &Outlook{Code: Completes, Desired: c.End.Desired, Updated: c.End.Updated, Available: c.End.Available,
			Duration: c.Duration, Next: c.Next, Otherwise: c.Otherwise}
		if c.Stalls {
			o.Code = Stalls
		}
		return o
	}
	return nil
}

// impact returns the Impact, or nil if nodes or pods could not be read.
func (g *given) impact() *Impact {
	if !g.st.NodesRead || !g.st.PodsRead {
		return nil
	}
	out := &Impact{Without: []string{}, Ready: []string{}, OldServes: []string{}, Uncounted: []string{}}
	for i := range g.st.Nodes {
		n := &g.st.Nodes[i]
		has := func(available, updated bool) bool {
			return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
				return p.Available.OK == available &&
					p.Updated == updated
			})
		}
		switch m := n.Membership(); {
		case m.Misscheduled:
			out.Uncounted = append(out.Uncounted, n.Name)
		case !m.Desired:
		case has(true, true), has(true, false):
			out.Served++
			if has(true, false) && has(false, true) {
				out.OldServes = append(out.OldServes, n.Name)
			}
		default:
			out.Without = append(out.Without, n.Name)
			if c := g.causes.Of(n.Name); c != nil && c.Code == daemonset.NotYetAvailable {
				out.Ready = append(out.Ready, n.Name)
			}
		}
	}
	return out
}

// Affected says in one word which nodes lack a working pod. It is empty if the
// verdict already says so.
type Affected string

const (
	AffectedUnknown     Affected = "Unknown"     // nodes or pods could not be read
	AffectedNowhere     Affected = "Nowhere"     // no node is eligible, and none has a pod
	AffectedRemoved     Affected = "Removed"     // no node is eligible, and the controller deletes all pods
	AffectedAlmost      Affected = "Almost"      // none: only minReadySeconds is not over
	AffectedSome        Affected = "Some"        // eligible nodes
	AffectedServedByOld Affected = "ServedByOld" // none: an old pod is available beside the new one
	AffectedNobody      Affected = "Nobody"      // none, although not all is well
)

// Affected returns which nodes lack a working pod, and their names. If that is
// unknown, it returns the nodes that are known to have a failing pod.
func (e *Explanation) Affected() (Affected, []string) {
	i, none := e.Impact, e.Has(cause.NoEligibleNode)
	switch {
	case i == nil && len(e.Snapshot.Unread()) == 0:
		return "", nil
	case i == nil && e.Budget.Kind == daemonset.BudgetSurge: // an old pod may run beside a failing one
		return AffectedUnknown, nil
	case i == nil:
		return AffectedUnknown, sorted(e.nodesOf(func(p *Problem) bool {
			return p.Severity == cause.SeverityError &&
				cause.OfContainer(p.Code)
		}))
	case len(i.Without) > 0 && len(i.Without) == len(i.Ready):
		return AffectedAlmost, i.Without
	case len(i.Without) > 0:
		return AffectedSome, i.Without
	case len(i.OldServes) > 0:
		return AffectedServedByOld, i.OldServes
	case i.Served > 0 && e.Verdict.Code != Healthy:
		return AffectedNobody, nil
	case i.Served > 0 || none == nil:
		return "", nil
	case len(i.Uncounted) == 0:
		return AffectedNowhere, nil
	case none.Facts["losing"] == len(i.Uncounted):
		return AffectedRemoved, i.Uncounted
	}
	return "", nil
}
