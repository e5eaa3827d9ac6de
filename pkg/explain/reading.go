package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Matters returns the problems that a summary is about: those that are urgent,
// or where none is, those that warn. Of problems of containers those of the most
// nodes come first.
func (e *Explanation) Matters() []*Problem {
	var urgent, others []*Problem
	for i := range e.Problems {
		switch p := &e.Problems[i]; {
		case p.Urgent():
			urgent = append(urgent, p)
		case p.Severity == cause.SeverityWarning, p.Code == Misscheduled && p.Origin != nil:
			others = append(others, p)
		}
	}
	if len(urgent) == 0 {
		return others
	}
	return e.ordered(urgent)
}

// ordered puts problems in the order of a screen, which is that of problemOrder but
// for two things. Of the problems of containers those of the most nodes come first.
// And during a rollout they come before nodes that are down: a node that is repaired
// before the revision gets a pod of a revision that fails.
func (e *Explanation) ordered(problems []*Problem) []*Problem {
	behind := slices.Index(problemOrder, cause.ProbeFailing)
	at := func(p *Problem) int {
		switch i := slices.Index(problemOrder, p.Code); {
		case cause.OfContainer(p.Code):
			return slices.IndexFunc(problemOrder, cause.OfContainer)
		case e.Rollout.UnderWay && p.Origin != nil && p.Origin.Kind == cause.OriginNodes:
			return max(i, behind)
		default:
			return i
		}
	}
	slices.SortStableFunc(problems, func(a, b *Problem) int {
		if n := at(a) - at(b); n != 0 || !cause.OfContainer(a.Code) {
			return n
		}
		return len(b.Nodes) - len(a.Nodes)
	})
	return problems
}

// Beside returns the problems that are the case beside some others, without those
// that no rollout is about.
func (e *Explanation) Beside(others []*Problem) (out []*Problem) {
	for i := range e.Problems {
		p := &e.Problems[i]
		same := func(other *Problem) bool { return other.Code == p.Code && slices.Equal(other.Nodes, p.Nodes) }
		if p.Count > 0 && p.Code != OnDeleteOutdated && p.Code != Misscheduled && !slices.ContainsFunc(others, same) {
			out = append(out, p)
		}
	}
	return out
}

// Failing reports whether something is wrong that does not pass by itself.
func (e *Explanation) Failing() bool {
	m := e.Matters()
	return len(m) > 0 && m[0].Severity == cause.SeverityError
}

// Has returns the first problem with a code, or nil if none has it.
func (e *Explanation) Has(code daemonset.Reason) *Problem {
	if i := slices.IndexFunc(e.Problems, func(p Problem) bool { return p.Code == code }); i >= 0 {
		return &e.Problems[i]
	}
	return nil
}

// Since returns when the first problem of a summary began whose time is known,
// or else the rollout in progress; nil if neither is known.
func (e *Explanation) Since() *time.Time {
	for _, p := range e.Matters() {
		if p.Since != nil {
			return p.Since
		}
	}
	if e.Rollout.UnderWay {
		return e.Rollout.Since
	}
	return nil
}

// Tally returns how many pods of the current and of other revisions there are,
// and how many of either have a problem that a container gives and that a
// summary is about.
func (e *Explanation) Tally() cause.Tally {
	t := cause.Tally{NewPods: e.Verdict.Facts.Int("newPods"), OldPods: e.Verdict.Facts.Int("oldPods")}
	for _, p := range e.Matters() {
		t.NewFailing, t.OldFailing = t.NewFailing+p.Facts.Int("newFailing"), t.OldFailing+p.Facts.Int("oldFailing")
	}
	return t
}

// Evidence is what the pods that fail say about the revision.
type Evidence string

const (
	NewOnly Evidence = "NewOnly" // all pods of the current revision fail, and none of the others
	OldOnly Evidence = "OldOnly" // pods of other revisions fail, and the current one has none
	Both    Evidence = "Both"    // pods of the current and of other revisions fail
	All     Evidence = "All"     // all pods of the current revision fail, and there are no others
	Some    Evidence = "Some"    // some pods of the current revision fail
)

// Evidence returns what the pods that fail say about the revision; empty for a
// problem that no container gives.
func (e *Explanation) Evidence(p *Problem) Evidence {
	t := e.Tally()
	switch {
	case !cause.OfContainer(p.Code):
		return ""
	case p.Origin != nil && p.Origin.Kind == cause.OriginRevision:
		return NewOnly
	case t.NewPods == 0:
		return OldOnly
	case t.OldFailing > 0:
		return Both
	case t.NewFailing >= t.NewPods:
		return All
	}
	return Some
}

// Current returns the revision that holds the live template, or nil if none
// does.
func (e *Explanation) Current() *Revision {
	if i := slices.IndexFunc(e.Revisions, func(r Revision) bool { return r.Current }); i >= 0 {
		return &e.Revisions[i]
	}
	return nil
}

// ServedBy returns the old revision that all available pods are of; nil if they
// are of several, or of the current one.
func (e *Explanation) ServedBy() *Revision {
	var on *Revision
	for i := range e.Revisions {
		r := &e.Revisions[i]
		if !slices.ContainsFunc(r.Nodes, func(n string) bool { return e.Impact == nil || !slices.Contains(e.Impact.Without, n) }) {
			continue
		}
		if r.Current || on != nil {
			return nil
		}
		on = r
	}
	return on
}

// Groups returns the groups of a column that it counts, or those that it does
// not.
func (e *Explanation) Groups(column string, counted bool) []ColumnGroup {
	var out []ColumnGroup
	for _, c := range e.Columns {
		for _, g := range c.Groups {
			if c.Name == column && g.Counted == counted {
				out = append(out, g)
			}
		}
	}
	return out
}

// lacking returns the eligible nodes without a pod.
func (e *Explanation) lacking() (nodes []string) {
	for _, g := range e.Groups("CURRENT", false) {
		nodes = append(nodes, g.Nodes...)
	}
	return nodes
}

// Sum is how a number of the status comes from DESIRED: DESIRED minus the
// nodes that it leaves out.
type Sum struct {
	Columns []string // whose numbers leave out the same
	Counted int
	Less    []Less
}

// Less is how many nodes a number leaves out for a reason. The revision is that
// of pods that are not updated; nil for any other reason, and if it is unknown.
type Less struct {
	Count    int
	Reason   daemonset.Reason
	Revision *Revision
}

// Sums returns a Sum for each number between CURRENT and AVAILABLE that is not
// DESIRED, those that leave out the same together. A node without a pod is left
// out for the rejection of its pod where the API server rejects pods.
func (e *Explanation) Sums() []Sum {
	var out []Sum
	for _, c := range e.Columns {
		if c.Name == "DESIRED" || c.Name == "MISSCHEDULED" {
			continue
		}
		s := Sum{Columns: []string{c.Name}}
		for _, g := range c.Groups {
			if g.Counted {
				s.Counted += g.Count
				continue
			}
			l := Less{Count: g.Count, Reason: g.Reason}
			switch {
			case g.Reason == cause.NoPod && e.Has(cause.FailedCreate) != nil:
				l.Reason = cause.FailedCreate
			case g.Reason == OutOfDate:
				l.Revision = e.revision(g.Facts["revision"])
			}
			if i := slices.IndexFunc(s.Less, func(o Less) bool { return o.Reason == l.Reason && o.Revision == l.Revision }); i >= 0 {
				s.Less[i].Count += l.Count
			} else {
				s.Less = append(s.Less, l)
			}
		}
		same := slices.IndexFunc(out, func(o Sum) bool { return slices.Equal(o.Less, s.Less) })
		switch {
		case len(s.Less) == 0:
		case same >= 0:
			out[same].Columns = append(out[same].Columns, c.Name)
		default:
			out = append(out, s)
		}
	}
	return out
}

// revision returns the revision with a name, or nil if there is none.
func (e *Explanation) revision(name any) *Revision {
	if i := slices.IndexFunc(e.Revisions, func(r Revision) bool { return r.Name != "" && r.Name == name }); i >= 0 {
		return &e.Revisions[i]
	}
	return nil
}

// RevisionOf returns the revision of a pod, or nil if it has none.
func (e *Explanation) RevisionOf(p Pod) *Revision { return e.revision(p.Revision) }

// helps returns the code of the first problem of a summary that a fix with such
// a code removes; empty for a way around it.
func (e *Explanation) helps(code FixCode) daemonset.Reason {
	kind := map[FixCode]cause.OriginKind{FixRepairNodes: cause.OriginNodes, FixRaiseQuota: cause.OriginQuota, FixMakeRoom: cause.OriginScheduling, FixNoSurge: cause.OriginStrategy}[code]
	for _, p := range e.Matters() {
		undoes := code == FixUndo && (cause.OfContainer(p.Code) || p.Code == cause.NoEligibleNode)
		if p.Origin != nil && (p.Origin.Kind == kind || undoes) {
			return p.Code
		}
	}
	return ""
}

// FixesOn returns the fixes of what is wrong on a node, narrowed to it.
func (e *Explanation) FixesOn(n *Node) (fixes []Fix) {
	p := e.OnNode(n)
	if p == nil {
		return nil
	}
	for _, f := range e.Fixes {
		if f.Problem == p.Code || f.Code == FixMakeRoom && slices.Contains(f.Nodes, n.Name) {
			f.Nodes = []string{n.Name}
			fixes = append(fixes, f)
		}
	}
	return fixes
}

// On returns the nodes of all problems with a code.
func (e *Explanation) On(code daemonset.Reason) []string {
	return e.nodesOf(func(p *Problem) bool { return p.Code == code })
}

// nodesOf returns the nodes of some problems.
func (e *Explanation) nodesOf(is func(*Problem) bool) (nodes []string) {
	for i := range e.Problems {
		if p := &e.Problems[i]; is(p) {
			nodes = append(nodes, p.Nodes...)
		}
	}
	return nodes
}

// WorstFirst compares two Explanations by verdict, then by the share of nodes without
// an available pod, then by namespace and name.
func WorstFirst(a, b *Explanation) int {
	return cmp.Or(slices.Index(VerdictCodes, a.Verdict.Code)-slices.Index(VerdictCodes, b.Verdict.Code), cmp.Compare(b.Impact.Share(), a.Impact.Share()),
		strings.Compare(a.DaemonSet.Namespace, b.DaemonSet.Namespace), strings.Compare(a.DaemonSet.Name, b.DaemonSet.Name))
}

// troubled returns the nodes of problems that come from the node or from what
// else runs on it, and those that would stop the next rollout; each once, sorted.
func (e *Explanation) troubled() []string {
	return sorted(e.nodesOf(func(p *Problem) bool {
		o := p.Origin
		return p.Code == cause.NextRolloutStalls || o != nil && (o.Kind == cause.OriginNodes || o.Kind == cause.OriginScheduling)
	}))
}

// Shared is a node that troubles several DaemonSets.
type Shared struct {
	Node       string
	DaemonSets int // how many
}

// Shared returns the nodes that trouble several DaemonSets of the List, those of
// the most first, then by name.
func (l *List) Shared() []Shared {
	count := map[string]int{}
	for _, e := range l.Items {
		for _, n := range e.troubled() {
			count[n]++
		}
	}
	var out []Shared
	for n, c := range count {
		if c > 1 {
			out = append(out, Shared{n, c})
		}
	}
	slices.SortFunc(out, func(a, b Shared) int {
		return cmp.Or(cmp.Compare(b.DaemonSets, a.DaemonSets), strings.Compare(a.Node, b.Node))
	})
	return out
}

// OnNode returns the problem of a node, narrowed to it; nil if it has none.
func (e *Explanation) OnNode(n *Node) *Problem {
	code := Misscheduled
	if n.Problem != nil {
		code = n.Problem.Code
	}
	for _, p := range e.Problems {
		if p.Code != code || !slices.Contains(p.Nodes, n.Name) {
			continue
		}
		p.Nodes, p.Pods, p.Count = []string{n.Name}, nil, 1
		if n.Problem != nil {
			p.Since, p.Latest, p.Facts = n.Problem.Since, nil, n.Problem.Facts
		}
		if len(n.Pods) > 0 {
			p.Pods = []string{n.Pods[0].Name}
		}
		return &p
	}
	return nil
}

// Stays reports whether the node is not eligible and keeps a pod until the next
// rollout deletes it.
func (n *Node) Stays() bool {
	return n.Exists && n.ShouldRun != nil && !n.ShouldRun.OK && n.MayStay.OK && slices.ContainsFunc(n.Pods, func(p Pod) bool { return !p.Terminating && p.Ignored == "" })
}

// Serves reports whether an available pod runs on the node.
func (n *Node) Serves() bool {
	return slices.ContainsFunc(n.Pods, func(p Pod) bool { return p.Available })
}

// ProblemCode returns the code of what is wrong on the node, or "" if nothing is.
func (n *Node) ProblemCode() daemonset.Reason {
	if n.Problem == nil {
		return ""
	}
	return n.Problem.Code
}

// downFor reports whether a node is not eligible because it is NotReady or
// unreachable.
func downFor(f daemonset.Facts) bool {
	return f["key"] == corev1.TaintNodeNotReady || f["key"] == corev1.TaintNodeUnreachable
}

// Waiting returns how many pods of the current revision are Ready and become
// available by themselves, as only minReadySeconds is not over, and when the last
// of them does.
func (e *Explanation) Waiting() (pods int, until time.Time) {
	for i := range e.Nodes {
		for _, p := range e.Nodes[i].Pods {
			if !p.Updated || !p.Ready || p.Available || p.Terminating || p.AvailableAt == nil {
				continue
			}
			if pods++; p.AvailableAt.After(until) {
				until = *p.AvailableAt
			}
		}
	}
	return pods, until
}

// outside are the origins that neither the pods nor their nodes are.
var outside = []cause.OriginKind{cause.OriginQuota, cause.OriginPolicy, cause.OriginWebhook, cause.OriginScheduling}

// Outside returns where problems of a code come from, if that is neither the pods
// nor their nodes, so that a change of the DaemonSet leaves it as it is. It
// returns nil otherwise.
func (e *Explanation) Outside(code daemonset.Reason) *cause.Origin {
	if p := e.Has(code); p != nil && p.Origin != nil && slices.Contains(outside, p.Origin.Kind) {
		return p.Origin
	}
	return nil
}
