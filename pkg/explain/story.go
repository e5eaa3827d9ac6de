package explain

import (
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Story is the summary of an answer: the worst problem, and since when the
// problems have existed.
type Story struct {
	// the worst problem
	// Codes: Problems
	Code  daemonset.Reason `json:"code"`
	Nodes []string         `json:"nodes"` // its nodes, sorted by name
	Fault *Fault           `json:"fault"` // who is at fault; nil if this is unknown

	Others int `json:"others"` // how many other problems matter
	// when the oldest of these problems began; nil if the time of one of them is unknown
	Since  *time.Time `json:"since"`
	Latest *time.Time `json:"latest"` // when the newest of these problems began; nil if `since` is
}

// Fault is whose fault a problem is. The evidence is in the problem's `blame`.
type Fault struct {
	Who       cause.Who       `json:"who"`       // who is at fault
	Certainty cause.Certainty `json:"certainty"` // how certain that is
	NotChange bool            `json:"notChange"` // the revision of the failing pods is not the cause
}

// story returns the Story, or nil if nothing is wrong.
func (e *Explanation) story() *Story {
	matters := e.Matters()
	if len(matters) == 0 {
		return nil
	}
	first := matters[0]
	s := &Story{Code: first.Code, Nodes: append([]string{}, first.Nodes...), Others: len(matters) - 1}
	if b := first.Blame; b != nil {
		s.Fault = &Fault{Who: b.Who, Certainty: b.Certainty, NotChange: b.NotChange}
	}
	s.Since, s.Latest = Lasting(matters)
	return s
}

// Lasting returns the times at which the oldest and the newest of the problems
// began. Both are nil if the time of any of them is unknown.
func Lasting(problems []*Problem) (first, last *time.Time) {
	for _, p := range problems {
		if p.Since == nil {
			return nil, nil
		}
		latest := p.Since
		if p.Latest != nil {
			latest = p.Latest
		}
		if first == nil || p.Since.Before(*first) {
			first = p.Since
		}
		if last == nil || latest.After(*last) {
			last = latest
		}
	}
	return first, last
}

// looks are the kinds of advice that begin with a look, whatever the problem.
var looks = []AdviceCode{
	AdviseReadLogs, AdviseImage, AdviseMemory, AdviseCompareNodes, AdviseFreeNode, AdviseReadEvents, AdviseControlPlane,
	AdviseCompareLabels,
}

// readsFirst reports whether the first act only reads: logs, a node, or what
// rejects the pods. It is false if there is nothing to look at, or if the look
// would show nothing new.
func (e *Explanation) readsFirst(d *Advice, problems []*Problem) bool {
	about := func(p *Problem) bool { return slices.Contains(d.Problems, p.Code) }
	i := slices.IndexFunc(problems, about)
	if i < 0 || !slices.ContainsFunc(problems, func(p *Problem) bool { return about(p) && visible(p) }) {
		return false
	}
	p := problems[i]
	added, image := p.Facts["added"] != nil, p.Facts["templateImage"] != nil
	switch d.Code {
	case AdviseRollBack:
		look := LookInto(p)
		return look == cause.LookLogs || look == cause.LookLastLogs
	case AdvisePublishImage:
		return !p.NotBuilt() && (p.Common == nil || !p.Common.Told)
	case AdviseInjector:
		return !image && (!added || p.Facts["again"] == nil && p.Facts["annotation"] == nil)
	case AdviseRepairNodes:
		return e.Verdict.Code != BeingDeleted
	case AdviseFreePort:
		return p.Facts["holder"] == nil && (p.Facts.Text("owner") == "" || p.Facts["ports"] == nil ||
			len(d.Nodes) != len(p.Nodes))
	case AdviseAskOwner:
		return p.Subject.Kind == cause.SubjectQuota && p.Subject.Name != "" || p.Subject.Kind == cause.SubjectWebhook &&
			p.Facts["service"] != nil
	case AdviseRepairBeforeRollout:
		return p.Code == cause.Misscheduled
	}
	return slices.Contains(looks, d.Code)
}

// visible reports whether some command shows more about a problem.
func visible(p *Problem) bool { return p.Code == cause.NoEligibleNode || LookInto(p) != "" }
