package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// columns returns kubectl's columns, in its order, and MISSCHEDULED; those
// that need what was not read are left out.
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

// members returns what each column that a node is in makes of it.
func (g *given) members(n *daemonset.Node) []member {
	m := n.Membership()
	desired := member{"DESIRED", m.Desired, n.ShouldRun.Reason, n.ShouldRun.Facts}
	switch {
	case m.Misscheduled:
		return []member{desired, {"MISSCHEDULED", true, n.ShouldRun.Reason, n.ShouldRun.Facts}}
	case !m.Desired:
		return []member{desired, {"MISSCHEDULED", false, cause.NoPod, nil}}
	case !m.Current:
		return []member{desired, {"CURRENT", false, cause.NoPod, nil}, {"READY", false, cause.NoPod, nil}, {"UP-TO-DATE", false, cause.NoPod, nil}, {"AVAILABLE", false, cause.NoPod, nil}}
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

// unready is why the pod that counts for the node is not ready.
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

// grouping is the nodes of one column by what they share: whether they count, the
// reason, and those of its facts that tell one group from the next.
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

// groups returns the counted groups before the others, larger ones first.
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
