package explain

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// status compares the reported numbers with the computed ones.
func (g *given) status() Status {
	s := Status{WrittenAt: cause.Written(g.st, "status"), Differences: []Difference{}}
	reported := daemonset.Reported(g.st.DaemonSet)
	computed, ok := g.st.Counts()
	if g.st.StatusRead {
		s.Reported = &reported
	}
	if ok {
		s.Computed = &computed
	}
	if s.Reported == nil || s.Computed == nil {
		return s
	}
	agrees, reason := computed == reported, g.whyStale()
	s.Agrees = &agrees
	for _, f := range countFields {
		if r, c := f.get(reported), f.get(computed); r != c {
			s.Differences = append(s.Differences, Difference{Field: f.name, Reported: r, Computed: c, Reason: reason})
		}
	}
	return s
}

var countFields = []struct {
	name string
	get  func(daemonset.Counts) int
}{
	{"desiredNumberScheduled", func(c daemonset.Counts) int { return c.Desired }},
	{"currentNumberScheduled", func(c daemonset.Counts) int { return c.Current }},
	{"numberReady", func(c daemonset.Counts) int { return c.Ready }},
	{"updatedNumberScheduled", func(c daemonset.Counts) int { return c.Updated }},
	{"numberAvailable", func(c daemonset.Counts) int { return c.Available }},
	{"numberUnavailable", func(c daemonset.Counts) int { return c.Unavailable }},
	{"numberMisscheduled", func(c daemonset.Counts) int { return c.Misscheduled }},
}

// addHeldUp adds to the facts of a stale status why the controller does not write
// it.
func (g *given) addHeldUp(f daemonset.Facts) daemonset.Facts {
	if g.heldUpBy != "" {
		f["heldUpBy"] = string(g.heldUpBy)
	}
	return f
}

// settleTime is how long after a change a stale status counts as one that is
// about to be written.
const settleTime = 30 * time.Second

// whyStale returns why the reported numbers differ: the controller has not
// observed the newest generation; something changed a moment ago; a node was
// deleted, which alone triggers no sync in any version; or else the status
// should have been written.
func (g *given) whyStale() daemonset.Reason {
	switch {
	case g.st.NotObserved():
		return GenerationNotObserved
	case g.st.At.Sub(g.causes.Changed()) < settleTime:
		return Moving
	case slices.ContainsFunc(g.st.Nodes, func(n daemonset.Node) bool { return !n.Exists }):
		return daemonset.NodeGone
	}
	return StaleStatus
}

// budget returns the budget with the nodes that use it.
func (g *given) budget() BudgetUse {
	out := BudgetUse{Budget: g.st.Budget, Holders: []BudgetHolder{}}
	if !g.st.PodsRead {
		return out
	}
	used := g.st.Used()
	free := max(0, g.st.Limit()-used)
	out.Used, out.Free = &used, &free
	began := g.causes.RolloutBegan()
	for i := range g.st.Nodes {
		n := &g.st.Nodes[i]
		if !g.st.Holds(n) {
			continue
		}
		h := BudgetHolder{Node: n.Name, Reason: daemonset.NotReady, Facts: daemonset.Facts{"slot": string(n.Slot)}}
		if n.Slot == daemonset.SlotBoth || n.Slot == daemonset.SlotExcess {
			h.Reason = daemonset.Duplicate
		}
		if c := g.causes.Of(n.Name); c != nil {
			h.Reason, h.Pod, h.Since = c.Code, c.Pod, c.Since
			maps.Copy(h.Facts, c.Facts)
		}
		if began != nil && h.Since != nil {
			before := h.Since.Before(*began)
			h.BeforeRevision = &before
		}
		out.Holders = append(out.Holders, h)
	}
	return out
}

// revisions returns the revisions that pods run or that hold the live template,
// newest first, then hashes without a revision.
func (g *given) revisions() []Revision {
	of := map[string]*Revision{} // by hash
	for i := range g.st.Nodes {
		n := &g.st.Nodes[i]
		for j, p := range n.Pods {
			r := of[p.Hash]
			if r == nil {
				r = &Revision{Hash: p.Hash, Nodes: []string{}}
				of[p.Hash] = r
			}
			if j == 0 { // the oldest pod decides which revision the node counts for
				r.Nodes = append(r.Nodes, n.Name)
				r.Updated += b2i(p.Updated)
			}
			if p.Terminating {
				r.Terminating++
				continue
			}
			r.Pods, r.Available = r.Pods+1, r.Available+b2i(p.Available.OK)
		}
	}
	out := []Revision{}
	for _, r := range g.st.History.Revisions {
		found := Revision{Nodes: []string{}}
		if on := of[r.Hash]; on != nil && r.Hash != "" { // a pod without a hash has no revision
			found = *on
			delete(of, r.Hash)
		}
		found.Number, found.Name, found.Hash, found.Created, found.Current = r.Number, r.Name, r.Hash,
			timeOf(r.Created), slices.Contains(g.st.History.Current, r.Name)
		if found.Current || found.Pods+len(found.Nodes) > 0 {
			out = append(out, found)
		}
	}
	for _, hash := range slices.Sorted(maps.Keys(of)) {
		if r := of[hash]; r.Pods+len(r.Nodes) > 0 {
			r.Current = hash != "" && hash == g.st.History.Hash
			out = append(out, *r)
		}
	}
	return out
}

// nodes returns the nodes of the Explanation: all of them, or the requested
// ones with every rule.
func (g *given) nodes(asked []string) []Node {
	only, most := sets.New(asked...), len(g.st.Nodes)
	if len(asked) > 0 {
		most = len(asked)
	}
	out := make([]Node, 0, most)
	for i := range g.st.Nodes {
		n := &g.st.Nodes[i]
		if len(only) > 0 && !only.Has(n.Name) {
			continue
		}
		v := Node{Name: n.Name, Exists: n.Exists, Slot: n.Slot, Pods: pods(n.Pods, n.Ignored),
			Problem: g.causes.Of(n.Name)}
		if g.st.NodesRead {
			v.ShouldRun, v.MayStay = &n.ShouldRun, &n.MayStay
		}
		if len(asked) > 0 && n.Object != nil {
			v.Checks, v.Changes = g.st.Placement.Checks(n.Object), g.st.Placement.Remedies(n.Object)
			v.Fit = g.causes.Room(n)
		}
		out = append(out, v)
	}
	return out
}

func pods(lists ...[]daemonset.Pod) []Pod {
	count := 0
	for _, list := range lists {
		count += len(list)
	}
	out := make([]Pod, 0, count)
	for _, list := range lists {
		for i := range list {
			p := &list[i]
			out = append(out, Pod{
				Name: p.Name, Phase: string(p.Object.Status.Phase), Terminating: p.Terminating, Revision: p.Revision,
				Updated: p.Updated, UpdatedBy: p.UpdatedBy, Ready: p.Ready, Available: p.Available.OK,
				AvailableAt: p.AvailableAt,
				Claim:       p.Claim, Ignored: p.Ignored,
			})
		}
	}
	return out
}
