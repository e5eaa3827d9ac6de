package explain

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
)

// Fix is something that a person can do, with what it does beside that.
type Fix struct {
	Code FixCode `json:"code"` // what to do

	// the first problem that it removes; empty for a way around it
	// Codes: Problems
	Problem daemonset.Reason `json:"problem"`

	// the nodes concerned, sorted by name; for `DeletePods` the nodes of `pods`, in their order
	Nodes    []string     `json:"nodes"`
	Pods     []string     `json:"pods"`     // the pods to delete; otherwise empty
	Name     string       `json:"name"`     // of the other object to change; for `PublishImage` the platform, such as `linux/arm64`; otherwise empty
	Revision int64        `json:"revision"` // the revision to go back to; otherwise 0
	Replaces int          `json:"replaces"` // how many pods going back replaces
	Limit    *cause.Raise `json:"limit"`    // the limit to raise to; nil for any other fix

	// to add to the template, no wider than the taints that they are for; otherwise empty
	Tolerations []corev1.Toleration `json:"tolerations"`

	// how many pods a ResourceQuota has to allow; 0 if the quota limits something else
	Needs int `json:"needs"`

	// the origin is unknown, or what the failing nodes have in common: the fix helps only if it is the new revision
	Unsure bool `json:"unsure"`

	// the label to add to the template's nodeSelector, which all eligible nodes have but those that fail; nil for any
	// fix but `ExcludeNodes`
	Selector *cause.Label `json:"selector"`
}

// FixCode names what a Fix does.
type FixCode string

const (
	FixUndo        FixCode = "Undo"        // go back to the revision of most old pods: `kubectl rollout undo`
	FixRepairNodes FixCode = "RepairNodes" // repair the nodes, or delete those that are gone for good
	FixRaiseLimit  FixCode = "RaiseLimit"  // raise maxUnavailable or maxSurge until the nodes are repaired
	FixRaiseQuota  FixCode = "RaiseQuota"  // have its owner raise a ResourceQuota
	// FixPublishImage: publish the image for the architecture and the operating system of the failing nodes, too
	FixPublishImage FixCode = "PublishImage"
	// FixExcludeNodes: keep the pod off the failing nodes by a nodeSelector
	FixExcludeNodes FixCode = "ExcludeNodes"
	FixMakeRoom     FixCode = "MakeRoom" // make room on nodes where the pod does not fit
	// FixNoSurge: use maxUnavailable instead of maxSurge, because the template uses a host port
	FixNoSurge FixCode = "NoSurge"
	// FixDeletePods: delete pods, which the controller then replaces: under OnDelete, or one that is left over from a
	// deleted node
	FixDeletePods FixCode = "DeletePods"
	// FixTolerate: add tolerations to the template, so that a rollout does not delete the pods of these nodes for good
	FixTolerate FixCode = "Tolerate"
)

// fixes returns what helps against problems that do not go away by themselves,
// the safest first.
func (g *given) fixes(e *Explanation) []Fix {
	out := []Fix{}
	add := func(f Fix) {
		f.Problem, f.Nodes, f.Pods = e.helps(f.Code), append([]string{}, f.Nodes...), append([]string{}, f.Pods...) // never null
		f.Tolerations = append([]corev1.Toleration{}, f.Tolerations...)
		out = append(out, f)
	}
	if e.Verdict.Code == BeingDeleted || e.Verdict.Code == Unknown {
		return out
	}
	nodes, unsure, common := map[cause.OriginKind][]string{}, false, (*cause.Common)(nil)
	for i := range e.Problems {
		p := &e.Problems[i]
		switch o := p.Origin; {
		case o == nil:
		case p.Code == cause.NoEligibleNode:
			if to := p.Facts.Int("before"); to > 0 {
				add(Fix{Code: FixUndo, Revision: int64(to)})
			}
		case p.Code != Misscheduled && !p.Urgent():
		case p.Code == cause.ExcludedButCounted:
			if key := p.Facts.Text("key"); key != "" {
				add(Fix{Code: FixExcludeNodes, Selector: &cause.Label{Key: key, Value: p.Facts.Text("want")}, Nodes: p.Nodes})
			}
		case p.Code == cause.PodOSNotSupported:
			add(Fix{Code: FixExcludeNodes, Selector: &cause.Label{Key: corev1.LabelOSStable, Value: p.Facts.Text("want")}, Nodes: p.Nodes})
		case o.Kind == cause.OriginCommon && p.Common.OfPlatform():
			common, nodes[o.Kind] = p.Common, append(nodes[o.Kind], p.Nodes...)
		case p.Code == cause.ImagePullBackOff && p.Facts.Int("newPods") > p.Facts.Int("newFailing"): // other nodes could pull it, so the revision is not at fault
		case o.Kind == cause.OriginCommon:
			common, nodes[o.Kind] = p.Common, append(nodes[o.Kind], p.Nodes...)
		case cause.OfContainer(p.Code):
			unsure = unsure || o.Kind == cause.OriginUnknown
			nodes[cause.OriginRevision] = append(nodes[cause.OriginRevision], p.Nodes...)
		case o.Kind == cause.OriginQuota:
			add(Fix{Code: FixRaiseQuota, Name: o.Name, Needs: cause.QuotaNeeds(p.Facts.Text("message"), len(e.lacking()))})
		default:
			nodes[o.Kind] = append(nodes[o.Kind], p.Nodes...)
		}
	}
	fails := len(nodes[cause.OriginRevision]) > 0 || common != nil
	to := g.undoTo()
	first := common != nil && common.OfPlatform() && cmp.Or(e.Current(), &Revision{}).Available == 0 // no working pod goes, and an image takes time to build
	undo := func() {
		f := Fix{Code: FixUndo, Revision: to, Unsure: unsure || common != nil}
		for range g.pods(true) {
			f.Replaces++
		}
		if to != 0 && fails {
			add(f)
		}
	}
	if first {
		undo()
	}
	if common != nil {
		for _, f := range g.around(common, sorted(nodes[cause.OriginCommon])) {
			add(f)
		}
	}
	if !first {
		undo()
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
	if f := g.tolerate(e); len(f.Tolerations) > 0 {
		add(f)
	}
	if raise := e.Budget.Unblock; raise != nil && e.Verdict.Code == Stuck && e.Has(cause.NoEligibleNode) == nil && !fails { // else it would only delete pods, or more would fail
		add(Fix{Code: FixRaiseLimit, Limit: raise, Nodes: raise.Left})
	}
	if err := e.Next.Error; err != nil && err.Pod != "" {
		add(Fix{Code: FixDeletePods, Pods: []string{err.Pod}, Nodes: []string{err.Node}})
	}
	if e.Verdict.Code == AwaitingDelete {
		f := Fix{Code: FixDeletePods}
		for n, p := range g.pods(false) {
			f.Nodes, f.Pods = append(f.Nodes, n.Name), append(f.Pods, p.Name)
		}
		add(f)
	}
	return out
}

// tolerate returns the fix of nodes whose pod a rollout deletes for a taint, where that
// is what a summary is about.
func (g *given) tolerate(e *Explanation) Fix {
	f := Fix{Code: FixTolerate}
	for _, p := range e.Matters() {
		if p.Code != Misscheduled || p.Severity != cause.SeverityWarning {
			continue
		}
		for _, name := range p.Nodes {
			f.Nodes, f.Tolerations = append(f.Nodes, name), append(f.Tolerations, g.tolerable(g.st.Node(name))...)
		}
	}
	f.Tolerations = daemonset.Fewest(f.Tolerations)
	slices.Sort(f.Nodes)
	return f
}

// around returns what helps where the nodes that fail have something in common.
func (g *given) around(c *cause.Common, nodes []string) (out []Fix) {
	if c.OfPlatform() {
		out = append(out, Fix{Code: FixPublishImage, Name: g.causes.Platform(nodes), Nodes: nodes})
	}
	if label := g.causes.Elsewhere(c); label != nil {
		out = append(out, Fix{Code: FixExcludeNodes, Selector: label, Nodes: nodes})
	}
	return out
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// undoTo is the revision to go back to: the one that most old pods run, none of
// which fails; 0 if there is none.
func (g *given) undoTo() int64 {
	if g.causes.RevisionFails().OldFailing > 0 || !g.rolls() {
		return 0
	}
	return g.oldRevision()
}

// change is what differs between the revision of most old pods and the live
// template, or where there is no eligible node the one that had some; nil without
// either, and where one cannot be read.
func (g *given) change(problems []Problem) *history.Diff {
	from := g.oldRevision()
	for _, p := range problems {
		if p.Code == cause.NoEligibleNode && from == 0 {
			from = int64(p.Facts.Int("before"))
		}
	}
	if from == 0 {
		return nil
	}
	return history.FromRevision(g.st, from)
}

// helps returns the code of the first problem of a summary that a fix with such
// a code removes; empty for a way around it.
func (e *Explanation) helps(code FixCode) daemonset.Reason {
	kind := map[FixCode]cause.OriginKind{FixRepairNodes: cause.OriginNodes, FixRaiseQuota: cause.OriginQuota, FixMakeRoom: cause.OriginScheduling, FixNoSurge: cause.OriginStrategy, FixPublishImage: cause.OriginCommon, FixExcludeNodes: cause.OriginCommon}[code]
	for _, p := range e.Matters() {
		if code == FixExcludeNodes && (p.Code == cause.PodOSNotSupported || p.Code == cause.ExcludedButCounted) {
			return p.Code
		}
		if code == FixTolerate && p.Code == Misscheduled {
			return p.Code
		}
		undoes := code == FixUndo && (cause.OfContainer(p.Code) || p.Code == cause.NoEligibleNode)
		if p.Origin != nil && (p.Origin.Kind == kind || undoes) {
			return p.Code
		}
	}
	return ""
}

// Undoes returns how many pods a FixUndo replaces, how many of them are available,
// and how many it deletes beside an old one, which stays.
func (e *Explanation) Undoes(f *Fix) (replaced, available, extra int) {
	if e.Impact != nil && e.Budget.Kind == daemonset.BudgetSurge {
		extra = min(len(e.Impact.OldServes), f.Replaces)
	}
	replaced = f.Replaces - extra
	if current := e.Current(); current != nil {
		available = min(current.Available, replaced)
	}
	return replaced, available, extra
}

// Helps returns the codes of the problems of a summary that a fix removes; none for
// a way around them.
func (e *Explanation) Helps(f *Fix) (codes []daemonset.Reason) {
	first := e.Has(f.Problem)
	if f.Problem == "" || first == nil {
		return nil
	}
	for _, p := range e.Matters() {
		same := p.Origin != nil && first.Origin != nil && p.Origin.Kind == first.Origin.Kind && p.Origin.Name == first.Origin.Name
		if p.Code == f.Problem || same && f.Code != FixTolerate && f.Code != FixRaiseQuota || f.Code == FixUndo && cause.OfContainer(p.Code) {
			codes = append(codes, p.Code)
		}
	}
	return slices.Compact(codes)
}
