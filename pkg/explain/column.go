package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// columns returns kubectl's columns in their order, and MISSCHEDULED. It omits
// columns that depend on parts that were not read.
func (g *given) columns() []Column {
	names := []string{"DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "MISSCHEDULED"}
	switch {
	case !g.st.NodesRead:
		names = nil
	case !g.st.PodsListed:
		names = names[:1]
	case !g.st.PodsRead:
		names = []string{"DESIRED", "CURRENT", "UP-TO-DATE", "MISSCHEDULED"}
	}
	of := map[string]grouping{}
	for i := range g.st.Nodes {
		n := &g.st.Nodes[i]
		if !n.Exists {
			continue
		}
		for _, m := range g.members(n) {
			if of[m.column] == nil {
				of[m.column] = grouping{}
			}
			of[m.column].add(n.Name, m)
		}
	}
	out := []Column{}
	for _, name := range names {
		out = append(out, Column{Name: name, Groups: of[name].groups()})
	}
	return out
}

// member says whether a column counts a node, and why.
type member struct {
	column  string
	counted bool
	reason  daemonset.Reason
	facts   daemonset.Facts
}

// members returns the node's entry in each column that it belongs to.
func (g *given) members(n *daemonset.Node) []member {
	m := n.Membership()
	desired := member{"DESIRED", m.Desired, n.ShouldRun.Reason, n.ShouldRun.Facts}
	switch {
	case m.Misscheduled:
		return []member{desired, {"MISSCHEDULED", true, n.ShouldRun.Reason, n.ShouldRun.Facts}}
	case !m.Desired:
		return []member{desired, {"MISSCHEDULED", false, cause.NoPod, nil}}
	case !m.Current:
		return []member{desired, {"CURRENT", false, cause.NoPod, nil}, {"READY", false, cause.NoPod, nil},
			{"UP-TO-DATE", false, cause.NoPod, nil}, {"AVAILABLE", false, cause.NoPod, nil}}
	}
	reason, facts := g.unready(n)
	ready, available := member{"READY", false, reason, facts}, member{"AVAILABLE", false, reason, facts}
	if m.Ready {
		ready, available = member{"READY", true, Ready, nil}, member{"AVAILABLE", false, daemonset.NotYetAvailable, nil}
	}
	if m.Available {
		available = member{"AVAILABLE", true, daemonset.Available, nil}
	}
	updated := member{"UP-TO-DATE", true, UpToDate, nil}
	if !m.Updated {
		updated = member{"UP-TO-DATE", false, OutOfDate, daemonset.Facts{"revision": n.Pods[0].Revision}}
	}
	return []member{desired, {"CURRENT", true, HasPod, nil}, ready, available, updated}
}

// unready returns why the pod that counts for the node is not ready.
func (g *given) unready(n *daemonset.Node) (daemonset.Reason, daemonset.Facts) {
	first := &n.Pods[0]
	if c := g.causes.Of(n.Name); c != nil && c.Pod == first.Name {
		return c.Code, c.Facts
	}
	if c := g.causes.OfPod(first); c != nil && !first.Ready {
		return c.Code, c.Facts
	}
	return daemonset.NotReady, nil
}

// grouping collects the nodes of one column by what they share: whether they
// count, the reason, and the facts that distinguish groups.
type grouping map[string]*ColumnGroup

func (g grouping) add(node string, m member) {
	key := fmt.Sprint(m.counted, cause.Key(m.reason, m.facts))
	group := g[key]
	if group == nil {
		group = &ColumnGroup{Counted: m.counted, Reason: m.reason, Facts: daemonset.Facts{}}
		maps.Copy(group.Facts, m.facts)
		g[key] = group
	}
	group.Count++
	group.Nodes = append(group.Nodes, node)
	cause.Share(group.Facts, m.facts)
}

// groups returns the counted groups before the others, the larger ones first.
func (g grouping) groups() []ColumnGroup {
	out := []ColumnGroup{}
	for _, k := range slices.Sorted(maps.Keys(g)) {
		out = append(out, *g[k])
	}
	slices.SortStableFunc(out, func(a, b ColumnGroup) int {
		return cmp.Or(b2i(b.Counted)-b2i(a.Counted), cmp.Compare(b.Count, a.Count), slices.Compare(a.Nodes, b.Nodes))
	})
	return out
}

// Groups returns the groups of a column that count, or those that do not.
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

// Sum explains a number of the status as DESIRED minus the nodes that do not
// count.
type Sum struct {
	Columns []string // columns that omit the same nodes
	Counted int
	Less    []Less
}

// Less is the number of nodes that a column does not count for one reason.
// Revision is that of pods that are not updated; it is nil for other reasons,
// and if it is unknown.
type Less struct {
	Count    int
	Reason   daemonset.Reason
	Revision *Revision
}

// Sums returns a Sum for each number between CURRENT and AVAILABLE that differs
// from DESIRED; columns that omit the same nodes share one. If the API server
// rejects pods, the reason for a node without a pod is that rejection.
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
			if i := slices.IndexFunc(s.Less, func(o Less) bool {
				return o.Reason == l.Reason &&
					o.Revision == l.Revision
			}); i >= 0 {
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

// Eligible returns how many nodes DESIRED counts, how many it does not, and how
// many of those that it counts are NotReady.
func (e *Explanation) Eligible() (eligible, excluded, notReady int) {
	down := sets.New(e.nodesOf(func(p *Problem) bool {
		return p.Code == cause.NodeNotReady ||
			p.Code == cause.TerminatingOnDeadNode
	})...)
	for _, g := range e.Groups("DESIRED", true) {
		eligible += g.Count
		for _, n := range g.Nodes {
			if down.Has(n) {
				notReady++
			}
		}
	}
	for _, g := range e.Groups("DESIRED", false) {
		excluded += g.Count
	}
	return eligible, excluded, notReady
}
