package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// builder holds what several parts of an Explanation need.
type builder struct {
	s        *snapshot.Snapshot
	st       *daemonset.State
	at       time.Time
	causes   *cause.Causes
	outlook  cause.Outlook
	heldUpBy daemonset.Reason // why no status is written; empty if it is
}

func newBuilder(s *snapshot.Snapshot, st *daemonset.State) *builder {
	return &builder{s: s, st: st, at: st.At, causes: cause.Find(s, st)}
}

// columns returns kubectl's columns, in its order, and MISSCHEDULED; those
// that need what was not read are left out.
func (b *builder) columns() []Column {
	if !b.st.NodesRead {
		return []Column{}
	}
	columns := map[string]*grouper{}
	names := []string{"DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "MISSCHEDULED"}
	switch {
	case !b.st.PodsListed:
		names = names[:1]
	case !b.st.PodsRead:
		names = []string{"DESIRED", "CURRENT", "UP-TO-DATE", "MISSCHEDULED"}
	}
	for _, n := range names {
		columns[n] = &grouper{}
	}
	for i := range b.st.Nodes {
		n := &b.st.Nodes[i]
		if !n.Exists {
			continue
		}
		b.addToColumns(n, func(column string, counted bool, reason daemonset.Reason, facts daemonset.Facts) {
			if g := columns[column]; g != nil {
				g.add(counted, reason, n.Name, facts)
			}
		})
	}
	var out []Column
	for _, name := range names {
		out = append(out, Column{Name: name, Groups: columns[name].groups()})
	}
	return out
}

func (b *builder) addToColumns(n *daemonset.Node, add func(column string, counted bool, reason daemonset.Reason, facts daemonset.Facts)) {
	m := n.Membership()
	add("DESIRED", m.Desired, n.ShouldRun.Reason, n.ShouldRun.Facts)
	if !m.Desired {
		if m.Misscheduled {
			add("MISSCHEDULED", true, n.ShouldRun.Reason, n.ShouldRun.Facts)
		} else {
			add("MISSCHEDULED", false, cause.NoPod, nil)
		}
		return
	}
	if !m.Current {
		for _, column := range []string{"CURRENT", "READY", "UP-TO-DATE", "AVAILABLE"} {
			add(column, false, cause.NoPod, nil)
		}
		return
	}
	add("CURRENT", true, HasPod, nil)
	reason, facts := b.unready(n)
	if m.Ready {
		add("READY", true, Ready, nil)
	} else {
		add("READY", false, reason, facts)
	}
	switch {
	case m.Available:
		add("AVAILABLE", true, daemonset.Available, nil)
	case m.Ready:
		add("AVAILABLE", false, daemonset.NotYetAvailable, nil)
	default:
		add("AVAILABLE", false, reason, facts)
	}
	if m.Updated {
		add("UP-TO-DATE", true, UpToDate, nil)
	} else {
		add("UP-TO-DATE", false, OutOfDate, daemonset.Facts{"revision": n.Pods[0].Revision})
	}
}

// unready is why the pod that counts for the node is not ready.
func (b *builder) unready(n *daemonset.Node) (daemonset.Reason, daemonset.Facts) {
	first := &n.Pods[0]
	if c := b.causes.Of(n.Name); c != nil && c.Pod == first.Name {
		return c.Code, c.Facts
	}
	if c := b.causes.OfPod(first); c != nil && !first.Ready {
		return c.Code, c.Facts
	}
	return daemonset.NotReady, nil
}

// grouper collects nodes by what they share: whether they count, the reason,
// and those of its facts that tell one group from the next.
type grouper struct{ byKey map[string]*Group }

func (g *grouper) add(counted bool, reason daemonset.Reason, node string, facts daemonset.Facts) {
	if g.byKey == nil {
		g.byKey = map[string]*Group{}
	}
	key := fmt.Sprint(counted, cause.Key(reason, facts))
	group := g.byKey[key]
	if group == nil {
		group = &Group{Counted: counted, Reason: reason, Facts: maps.Clone(facts)}
		if group.Facts == nil {
			group.Facts = daemonset.Facts{}
		}
		g.byKey[key] = group
	}
	group.Count++
	group.Nodes = append(group.Nodes, node)
	cause.Share(group.Facts, facts)
}

// groups returns the counted groups before the others, larger ones first.
func (g *grouper) groups() []Group {
	out := []Group{}
	for _, k := range slices.Sorted(maps.Keys(g.byKey)) {
		out = append(out, *g.byKey[k])
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		switch {
		case a.Counted != b.Counted && a.Counted:
			return -1
		case a.Counted != b.Counted:
			return 1
		}
		return cmp.Or(cmp.Compare(b.Count, a.Count), slices.Compare(a.Nodes, b.Nodes))
	})
	return out
}

// revisions returns the revisions that pods or the live template have, newest
// first, then hashes without a revision.
func (b *builder) revisions() []Revision {
	of := map[string]*Revision{} // by hash
	for i := range b.st.Nodes {
		n := &b.st.Nodes[i]
		for j := range n.Pods {
			p := &n.Pods[j]
			r := of[p.Hash]
			if r == nil {
				r = &Revision{Hash: p.Hash, Nodes: []string{}}
				of[p.Hash] = r
			}
			if j == 0 { // the oldest pod decides for which revision the node counts
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
	for _, r := range b.st.History.Revisions {
		found := Revision{Nodes: []string{}}
		if on := of[r.Hash]; on != nil && r.Hash != "" { // a pod without a hash is of no revision
			found = *on
			delete(of, r.Hash)
		}
		found.Number, found.Name, found.Hash, found.Created, found.Current = r.Number, r.Name, r.Hash, timeOf(r.Created), slices.Contains(b.st.History.Current, r.Name)
		if found.Current || found.Pods+len(found.Nodes) > 0 {
			out = append(out, found)
		}
	}
	for _, hash := range slices.Sorted(maps.Keys(of)) {
		if r := of[hash]; r.Pods+len(r.Nodes) > 0 {
			r.Current = hash != "" && hash == b.st.History.Hash
			out = append(out, *r)
		}
	}
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// status compares the reported numbers with the computed ones.
func (b *builder) status() Status {
	s := Status{WrittenAt: cause.Written(b.st.DaemonSet, "status"), Differences: []Difference{}}
	reported := daemonset.Reported(b.st.DaemonSet)
	if b.st.StatusRead {
		s.Reported = &reported
	}
	computed, ok := b.st.Counts()
	if ok {
		s.Computed = &computed
	}
	if s.Reported == nil || s.Computed == nil {
		return s
	}
	agrees := computed == reported
	s.Agrees = &agrees
	reason := b.whyStale()
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

// holdsUp is why the controller writes no status while things are as they are:
// it passes the DaemonSet over, or it is of a version that ends a sync that
// failed without one. Of the calls that can fail only refused creates are seen.
func (b *builder) holdsUp(next *daemonset.Step) daemonset.Reason {
	switch {
	case !next.WritesStatus && next.Error != nil:
		return next.Error.Code
	case !next.WritesStatus:
		return next.Reason
	case !b.st.Profile.StatusAfterError && b.causes.Refusal() != nil && next.Creates.Len() > 0:
		return cause.FailedCreate
	}
	return ""
}

// heldUp adds to the facts of a status that is behind what holds it up.
func (b *builder) heldUp(f daemonset.Facts) daemonset.Facts {
	if b.heldUpBy != "" {
		f["heldUpBy"] = string(b.heldUpBy)
	}
	return f
}

// settleTime is how long after a change a status that is behind is still
// taken for one that is being written.
const settleTime = 30 * time.Second

// whyStale tells why the reported numbers differ: a generation that the
// controller has not handled, something that changed a moment ago, a node that
// was removed, which alone makes no version of the controller look, or else a
// status that should have been written and was not, unless something holds it
// up.
func (b *builder) whyStale() daemonset.Reason {
	if b.st.NotObserved() {
		return GenerationNotObserved
	}
	if b.at.Sub(b.causes.Changed()) < settleTime {
		return Moving
	}
	if slices.ContainsFunc(b.st.Nodes, func(n daemonset.Node) bool { return !n.Exists }) {
		return daemonset.NodeGone
	}
	return StaleStatus
}

// budget returns the budget with its holders.
func (b *builder) budget() Budget {
	sb := &b.st.Budget
	out := Budget{
		Kind: sb.Kind, MaxUnavailable: sb.MaxUnavailable, MaxSurge: sb.MaxSurge, Spec: sb.Spec, Scaled: sb.Scaled,
		Of: sb.Of, OfSource: "Computed", Fallback: sb.Fallback, Invalid: sb.Invalid, Holders: []Holder{},
	}
	switch {
	case sb.OfReported && !b.st.StatusRead:
		out.OfSource = "Unknown"
	case sb.OfReported:
		out.OfSource = "Reported"
	}
	if !b.st.PodsRead {
		return out
	}
	used := b.st.Used()
	free := max(0, b.st.Limit()-used)
	out.Used, out.Free = &used, &free
	out.Unblock = b.outlook.Raise
	began := b.rolloutBegan()
	for i := range b.st.Nodes {
		n := &b.st.Nodes[i]
		if !b.st.Holds(n) {
			continue
		}
		h := Holder{Node: n.Name, Reason: holderReason(n), Facts: daemonset.Facts{"slot": string(n.Slot)}}
		if c := b.causes.Of(n.Name); c != nil {
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

// holderReason is why a node holds the budget although nothing is wrong with
// it.
func holderReason(n *daemonset.Node) daemonset.Reason {
	if n.Slot == daemonset.SlotBoth || n.Slot == daemonset.SlotExcess {
		return daemonset.Duplicate
	}
	return daemonset.NotReady
}

// rolloutBegan is when the current revision was made, nil if that is not
// when its rollout began: an older revision was made later, so this one was
// taken up again.
func (b *builder) rolloutBegan() *time.Time {
	var current *daemonset.Revision
	for i := range b.st.History.Revisions {
		if r := &b.st.History.Revisions[i]; slices.Contains(b.st.History.Current, r.Name) {
			current = r
		}
	}
	if current == nil {
		return nil
	}
	for _, r := range b.st.History.Revisions {
		if r.Name != current.Name && (r.Number > current.Number || r.Created.After(current.Created)) {
			return nil
		}
	}
	return timeOf(current.Created)
}

// nodes returns the nodes of the Explanation: all, or those that were asked
// for, with every rule.
func (b *builder) nodes(asked []string) []Node {
	out := []Node{}
	for i := range b.st.Nodes {
		n := &b.st.Nodes[i]
		if len(asked) > 0 && !slices.Contains(asked, n.Name) {
			continue
		}
		v := Node{Name: n.Name, Exists: n.Exists, Slot: n.Slot, Pods: pods(slices.Concat(n.Pods, n.Ignored))}
		if b.st.NodesRead {
			v.ShouldRun, v.MayStay = &n.ShouldRun, &n.MayStay
		}
		v.Problem = b.causes.Of(n.Name)
		if len(asked) > 0 && n.Object != nil {
			v.Checks = b.st.Placement.Checks(n.Object)
			v.Changes = b.st.Placement.Remedies(n.Object)
		}
		out = append(out, v)
	}
	return out
}

func pods(list []daemonset.Pod) []Pod {
	out := []Pod{}
	for i := range list {
		p := &list[i]
		v := Pod{
			Name: p.Name, Phase: string(p.Object.Status.Phase), Terminating: p.Terminating, Revision: p.Revision,
			Updated: p.Updated, UpdatedBy: p.UpdatedBy, Ready: p.Ready, Available: p.Available.OK, AvailableAt: p.AvailableAt,
			Claim: p.Claim, Ignored: p.Ignored,
		}
		out = append(out, v)
	}
	return out
}

// onDelete reports whether old pods wait for a person.
func (b *builder) onDelete() bool {
	return b.st.DaemonSet.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
}

func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
