package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// builder holds what several parts of an Explanation need.
type builder struct {
	s        *snapshot.Snapshot
	st       *daemonset.State
	at       time.Time
	podEvent map[types.UID]map[string]*corev1.Event // newest by reason
	dsEvent  map[string]*corev1.Event               // newest by reason, about the DaemonSet
	refusal  *Cause                                 // creations that the API server refuses, if it does
	failures map[string]*failures                   // by node: failed pods that the controller found, by its events
	changed  time.Time                              // the newest time in what the status is computed from
	causes   map[string]*Cause                      // by node; none where nothing is wrong
	heldUpBy daemonset.Reason                       // why no status is written; empty where it is
}

// failures are the failed pods of one node.
type failures struct {
	count       int
	first, last time.Time
}

func newBuilder(s *snapshot.Snapshot, st *daemonset.State) *builder {
	b := &builder{
		s: s, st: st, at: st.At, podEvent: map[types.UID]map[string]*corev1.Event{}, dsEvent: map[string]*corev1.Event{},
		failures: map[string]*failures{}, causes: map[string]*Cause{},
	}
	for i := range s.Events {
		b.note(&s.Events[i])
	}
	b.refusal, b.changed = b.refused(), b.lastChange()
	if !st.PodsRead {
		return b
	}
	for i := range st.Nodes {
		if c := b.nodeCause(&st.Nodes[i]); c != nil {
			b.causes[st.Nodes[i].Name] = c
		}
	}
	return b
}

func (b *builder) note(e *corev1.Event) {
	events := b.dsEvent
	switch {
	case e.InvolvedObject.Kind == "Pod":
		events = b.podEvent[e.InvolvedObject.UID]
		if events == nil {
			events = map[string]*corev1.Event{}
			b.podEvent[e.InvolvedObject.UID] = events
		}
	case e.InvolvedObject.UID != b.st.DaemonSet.UID && b.st.DaemonSet.UID != "":
		return
	}
	if e.Reason == "FailedDaemonPod" {
		b.noteFailure(e)
	}
	if old := events[e.Reason]; old == nil || compareEvents(old, e) < 0 {
		events[e.Reason] = e
	}
}

// compareEvents orders events by time, and those of one second by what they
// say, so that the order in which they were read does not matter.
func compareEvents(a, b *corev1.Event) int {
	return cmp.Or(eventTime(a).Compare(eventTime(b)), strings.Compare(a.Message, b.Message), cmp.Compare(eventCount(a), eventCount(b)))
}

// noteFailure counts one failed pod. The node stands in the message only:
// "Found failed daemon pod NAMESPACE/NAME on node NODE, will try to kill it".
func (b *builder) noteFailure(e *corev1.Event) {
	_, rest, found := strings.Cut(e.Message, " on node ")
	node, _, ended := strings.Cut(rest, ",")
	if !found || !ended {
		return
	}
	f := b.failures[node]
	if f == nil {
		f = &failures{}
		b.failures[node] = f
	}
	first, last := eventBegan(e), eventTime(e)
	if f.count == 0 || first.Before(f.first) {
		f.first = first
	}
	if last.After(f.last) {
		f.last = last
	}
	f.count += int(eventCount(e))
}

func (b *builder) event(o *corev1.Pod, reason string) *corev1.Event { return b.podEvent[o.UID][reason] }

// newestEvent returns the newest event about the pod with one of the reasons.
func (b *builder) newestEvent(o *corev1.Pod, reasons ...string) *corev1.Event {
	var newest *corev1.Event
	for _, r := range reasons {
		if e := b.event(o, r); e != nil && (newest == nil || eventTime(newest).Before(eventTime(e))) {
			newest = e
		}
	}
	return newest
}

func eventTime(e *corev1.Event) time.Time {
	t := e.LastTimestamp.Time
	if e.Series != nil && e.Series.LastObservedTime.After(t) {
		t = e.Series.LastObservedTime.Time
	}
	return cmp.Or(t, e.EventTime.Time, e.CreationTimestamp.Time)
}

// eventBegan is when an event happened for the first time.
func eventBegan(e *corev1.Event) time.Time {
	return cmp.Or(e.FirstTimestamp.Time, e.EventTime.Time, eventTime(e))
}

func eventCount(e *corev1.Event) int32 {
	if e.Series != nil {
		return e.Series.Count
	}
	return max(e.Count, 1)
}

// refused returns the API server's refusal of pods since the last one that
// was created, with the words of the newest FailedCreate event; nil if there
// is none. A refusal by name is an event of its own for each pod.
func (b *builder) refused() *Cause {
	newest := b.dsEvent["FailedCreate"]
	if newest == nil {
		return nil
	}
	var created time.Time
	for i := range b.st.Nodes {
		for _, p := range b.st.Nodes[i].Pods {
			if t := p.Object.CreationTimestamp.Time; t.After(created) {
				created = t
			}
		}
	}
	last := eventTime(newest)
	if created.After(last) {
		return nil
	}
	count, since := 0, last
	for i := range b.s.Events {
		e := &b.s.Events[i]
		if e.Reason != newest.Reason || e.InvolvedObject.UID != b.st.DaemonSet.UID || eventTime(e).Before(created) {
			continue
		}
		count += int(eventCount(e))
		if first := eventBegan(e); first.Before(since) {
			since = first
		}
	}
	f := daemonset.Facts{"events": count, "last": timeFact(last)}
	setMessage(f, strings.TrimPrefix(newest.Message, "Error creating: "))
	return &Cause{Facts: f, Since: timeOf(since)}
}

// columns returns kubectl's columns, in its order, and MISSCHEDULED; those
// that need what was not read are left out.
func (b *builder) columns() []Column {
	if !b.st.NodesRead {
		return []Column{}
	}
	columns := map[string]*grouper{}
	names := []string{"DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "MISSCHEDULED"}
	if !b.st.PodsRead {
		names = names[:1]
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
			add("MISSCHEDULED", false, NoPod, nil)
		}
		return
	}
	if !m.Current {
		for _, column := range []string{"CURRENT", "READY", "UP-TO-DATE", "AVAILABLE"} {
			add(column, false, NoPod, nil)
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
	if c := b.causes[n.Name]; c != nil && c.Pod == first.Name {
		return c.Code, c.Facts
	}
	if c := b.podCause(first); c != nil && !first.Ready {
		return c.Code, c.Facts
	}
	return daemonset.NotReady, nil
}

// grouper collects nodes by what they share: whether they count, the reason,
// and those of its facts that tell one group from the next.
type grouper struct{ byKey map[string]*Group }

// groupKeys are the facts that make a group of their own.
var groupKeys = []string{"because", "stays", "terminating", "taint", "key", "want", "operator", "values", "container", "init", "exitCode", "image", "revision", "resources", "owner", "name"}

func groupKey(reason daemonset.Reason, facts daemonset.Facts) string {
	var k strings.Builder
	k.WriteString(string(reason))
	for _, name := range groupKeys {
		if v, ok := facts[name]; ok {
			fmt.Fprintf(&k, "\x00%s=%v", name, v)
		}
	}
	return k.String()
}

func (g *grouper) add(counted bool, reason daemonset.Reason, node string, facts daemonset.Facts) {
	if g.byKey == nil {
		g.byKey = map[string]*Group{}
	}
	key := fmt.Sprint(counted, groupKey(reason, facts))
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
	share(group.Facts, facts)
}

// share drops from a group's facts those that a further member does not have
// in common, but for the message, of which the first stands for all.
func share(common, facts daemonset.Facts) {
	for k, v := range common {
		if k == "message" {
			continue
		}
		if other, ok := facts[k]; !ok || fmt.Sprint(other) != fmt.Sprint(v) {
			delete(common, k)
		}
	}
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
	nodes := map[string][]string{}
	for i := range b.st.Nodes {
		if n := &b.st.Nodes[i]; len(n.Pods) > 0 {
			nodes[n.Pods[0].Hash] = append(nodes[n.Pods[0].Hash], n.Name)
		}
	}
	out := []Revision{}
	for _, r := range b.st.History.Revisions {
		current := slices.Contains(b.st.History.Current, r.Name)
		if on := nodes[r.Hash]; len(on) > 0 || current {
			out = append(out, Revision{Number: r.Number, Name: r.Name, Hash: r.Hash, Created: timeOf(r.Created), Current: current, Nodes: append([]string{}, on...)})
			delete(nodes, r.Hash)
		}
	}
	for _, hash := range slices.Sorted(maps.Keys(nodes)) {
		out = append(out, Revision{Hash: hash, Current: hash == b.st.History.Hash, Nodes: nodes[hash]})
	}
	return out
}

// status compares the reported numbers with the computed ones.
func (b *builder) status() Status {
	s := Status{Reported: daemonset.Reported(b.st.DaemonSet), WrittenAt: b.statusWritten(), Differences: []Difference{}}
	computed, ok := b.st.Counts()
	if !ok {
		return s
	}
	agrees := computed == s.Reported
	s.Computed, s.Agrees = &computed, &agrees
	reason := b.whyStale()
	for _, f := range countFields {
		if r, c := f.get(s.Reported), f.get(computed); r != c {
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

// statusWritten is when the controller last wrote the status, by the object's
// managed fields.
func (b *builder) statusWritten() *time.Time {
	var last *time.Time
	for _, m := range b.st.DaemonSet.ManagedFields {
		if m.Subresource == "status" && m.Time != nil && (last == nil || m.Time.After(*last)) {
			last = timeOf(m.Time.Time)
		}
	}
	return last
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
	case !b.st.Profile.StatusAfterError && b.refusal != nil && next.Creates.Len() > 0:
		return CreateRefused
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
	ds := b.st.DaemonSet
	if ds.Generation != ds.Status.ObservedGeneration {
		return GenerationNotObserved
	}
	if b.at.Sub(b.changed) < settleTime {
		return Moving
	}
	if slices.ContainsFunc(b.st.Nodes, func(n daemonset.Node) bool { return !n.Exists }) {
		return daemonset.NodeGone
	}
	return StaleStatus
}

// settled tells whether nothing changed for longer than the controller takes
// to act on it.
func (b *builder) settled() bool { return b.at.Sub(b.changed) > patience }

// lastChange is the newest time in what the status is computed from.
func (b *builder) lastChange() time.Time {
	var last time.Time
	see := func(t time.Time) {
		if t.After(last) && !t.After(b.at) {
			last = t
		}
	}
	see(b.st.DaemonSet.CreationTimestamp.Time)
	if t := b.specWritten(); t != nil {
		see(*t)
	}
	minReady := time.Duration(b.st.DaemonSet.Spec.MinReadySeconds) * time.Second
	for i := range b.st.Nodes {
		n := &b.st.Nodes[i]
		if n.Object != nil {
			see(n.Object.CreationTimestamp.Time)
			for _, c := range n.Object.Status.Conditions {
				see(c.LastTransitionTime.Time)
			}
			for _, t := range n.Object.Spec.Taints {
				if t.TimeAdded != nil {
					see(t.TimeAdded.Time)
				}
			}
		}
		for _, p := range n.Pods {
			see(p.Object.CreationTimestamp.Time)
			if p.Terminating {
				see(p.Object.DeletionTimestamp.Add(-grace(p.Object)))
			}
			for _, c := range p.Object.Status.Conditions {
				see(c.LastTransitionTime.Time)
				see(c.LastTransitionTime.Add(minReady))
			}
		}
	}
	return last
}

// budget returns the budget with its holders.
func (b *builder) budget() Budget {
	sb := &b.st.Budget
	out := Budget{
		Kind: sb.Kind, MaxUnavailable: sb.MaxUnavailable, MaxSurge: sb.MaxSurge, Spec: sb.Spec, Scaled: sb.Scaled,
		Of: sb.Of, OfSource: "Computed", Fallback: sb.Fallback, Invalid: sb.Invalid, Holders: []Holder{},
	}
	if sb.OfReported {
		out.OfSource = "Reported"
	}
	if !b.st.PodsRead {
		return out
	}
	used := b.st.Used()
	free := max(0, b.st.Limit()-used)
	out.Used, out.Free = &used, &free
	if free == 0 && out.Kind != daemonset.BudgetNone {
		out.Unblock = unblock(used+1, out.Of)
	}
	began := b.rolloutBegan()
	for i := range b.st.Nodes {
		n := &b.st.Nodes[i]
		if !b.st.Holds(n) {
			continue
		}
		h := Holder{Node: n.Name, Reason: holderReason(n), Facts: daemonset.Facts{"slot": string(n.Slot)}}
		if c := b.causes[n.Name]; c != nil {
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

// unblock returns the smallest limit that comes to number nodes of all, with
// percentages rounded up as the controller does.
func unblock(number, of int) *Unblock {
	u := &Unblock{Number: number}
	for percent := 1; percent <= 100; percent++ {
		if (percent*of+99)/100 >= number {
			u.Percent = fmt.Sprintf("%d%%", percent)
			break
		}
	}
	return u
}

// holderReason is why a node holds the budget although nothing is wrong with
// it.
func holderReason(n *daemonset.Node) daemonset.Reason {
	if n.Slot == daemonset.SlotBoth || n.Slot == daemonset.SlotExcess {
		return daemonset.Duplicate
	}
	return daemonset.NotReady
}

// rolloutBegan is when the current revision was made, nil where that is not
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
		v.Problem = b.causes[n.Name]
		if len(asked) > 0 && n.Object != nil {
			v.Checks = b.st.Placement.Checks(n.Object)
			v.Changes = b.st.Placement.SmallestChange(n.Object)
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

// onDelete tells whether old pods wait for a person.
func (b *builder) onDelete() bool {
	return b.st.DaemonSet.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
}
