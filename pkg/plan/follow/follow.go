// Package follow compares what the controller does with what pkg/plan predicts. It takes changes of objects one by one,
// and returns for each batch whether it was predicted, and how the rollout continues.
package follow

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Follower follows a rollout change by change, and compares what the controller does with the prediction. It is not
// safe for concurrent use.
//
// A batch is the pods that one sync creates and deletes. It is as predicted if it fits the step of a State that the
// controller may have seen. The controller reads four caches, each of which may lag behind the Follower or, for kinds
// other than pods, be ahead of it. States back to the previous batch count, because the controller has seen its own
// acts.
//
// The API does not record who deleted a pod, so a deletion that no state explains may be a person's. An eviction is not
// part of a batch. If the nodes cannot be read, nodes without a pod are unknown: creates are reported without a
// judgment, and predicted deletes need not happen.
type Follower struct {
	o       plan.Options
	objects objects
	at      time.Time
	gone    bool // the DaemonSet is deleted

	log  []change // changes since the last act of the previous batch
	open *pending

	moved                time.Time // when a change last affected a sync
	vanished             time.Time // when a pod was last gone
	batches, asPredicted int
	learnt               timing.Learnt
	pendingEnd           pendingEnd
	due                  due
}

// Time limits.
const (
	batchGap = 5 * time.Second // between two acts of one batch: the controller's client limits the rate of its requests
	// without movement until a rollout counts as stuck: crashing pods restart meanwhile
	stuckAfter   = 30 * time.Second
	overdueAfter = 30 * time.Second // until a missing predicted act is reported
	mostLag      = 10               // number of changes that the controller may lag behind
)

// Happening is an event of a rollout.
type Happening struct {
	At   time.Time
	Kind HappeningKind

	Creates []daemonset.Item // of a batch: the nodes
	Deletes []daemonset.Item // of a batch, or the evicted pod

	// Expected is the number of predicted creates and deletes when a batch began, and the number of nodes and pods that
	// the controller could choose from.
	Expected struct{ Creates, Deletes, CreatesOf, DeletesOf int }

	Generation int64  // of Changed
	By         string // of Evicted: the reason in the pod's DisruptionTarget condition
}

// HappeningKind is the kind of a Happening.
type HappeningKind string

const (
	AsPredicted HappeningKind = "AsPredicted" // a batch
	Otherwise   HappeningKind = "Otherwise"   // a batch that no state explains, or a deletion by somebody else
	Evicted     HappeningKind = "Evicted"     // a pod that another controller evicted
	Unjudged    HappeningKind = "Unjudged"    // a creation that cannot be predicted because nodes could not be read
	Changed     HappeningKind = "Changed"     // the DaemonSet has a new generation
)

// NewFollower returns a Follower that starts from a State.
func NewFollower(st *daemonset.State, o plan.Options) *Follower {
	return &Follower{o: o, objects: newObjects(st), at: st.At, moved: st.At, learnt: timing.NewLearnt()}
}

// Know takes from a Snapshot the objects that are not followed, with their gaps: admission, the other pods on nodes,
// volumes, and the controller's Lease. They replace the previous ones.
func (f *Follower) Know(s *snapshot.Snapshot) {
	f.objects.base = f.objects.base.Admitting(s.Admission, s.Gaps).Holding(s.OtherPods, s.Gaps).Reaching(s.Volumes,
		s.Gaps).ControlledBy(s.Controller, s.Gaps)
}

// See processes one change: a DaemonSet, Node, Pod, ControllerRevision or Event as it is now or, if gone is true, as it
// was when it was deleted. at must not decrease.
func (f *Follower) See(at time.Time, object any, gone bool) []Happening {
	f.at = at
	if ds, ok := object.(*appsv1.DaemonSet); ok && (gone || ds.UID != f.objects.ds.UID) {
		f.gone = true
		return nil
	}
	old := f.objects.get(object)
	a, acted := f.actOf(old, object, gone)
	var before *daemonset.Step
	judged := acted && a.by == "" && (a.item.Pod != "" || !f.objects.base.Lacks(snapshot.Nodes))
	if judged && !f.continues(a) {
		before = f.objects.step(at)
	}
	if p, ok := object.(*corev1.Pod); ok {
		f.learnt.See(at, p, gone, old == nil)
		if gone && f.owns(p) {
			f.vanished = at
		}
	}
	f.objects.put(object, gone)
	if !matters(old, object, gone) {
		return nil
	}
	f.log, f.moved = append(f.log, change{old, object}), at
	if n := len(f.log); f.open == nil && n > 10*mostLag { // the controller does not lag that far behind
		f.log = slices.Clone(f.log[n-mostLag-1:])
	}
	switch ds, ok := object.(*appsv1.DaemonSet); {
	case acted && a.by != "":
		return []Happening{{At: at, Kind: Evicted, Deletes: []daemonset.Item{a.item}, By: a.by}}
	case acted && !judged:
		return []Happening{{At: at, Kind: Unjudged, Creates: []daemonset.Item{a.item}}}
	case acted:
		return f.judge(a, before)
	case ok && ds.Generation != old.(*appsv1.DaemonSet).Generation:
		return append([]Happening{{At: at, Kind: Changed, Generation: ds.Generation}}, f.reconsider()...)
	}
	if _, ok := object.(*corev1.Pod); ok {
		return nil
	}
	return f.reconsider()
}

// Settle closes the current batch if it has been quiet for so long that it is complete. If last is true, there are no
// more changes, and Settle closes the batch immediately.
func (f *Follower) Settle(at time.Time, last bool) []Happening {
	f.at = at
	if f.open == nil || !last && at.Sub(f.open.last) < batchGap {
		return nil
	}
	return f.close(f.explains(f.open.acts, true))
}

// act is the creation or deletion of one pod.
type act struct {
	at   time.Time
	item daemonset.Item // of a create, only the node
	by   string         // who evicted the pod; empty if the controller may have acted
}

// actOf returns the act behind a change of a pod. A pod was deleted if it has a deletionTimestamp, or if it is gone
// without one.
func (f *Follower) actOf(old, object any, gone bool) (act, bool) {
	p, ok := object.(*corev1.Pod)
	if !ok || !f.owns(p) {
		return act{}, false
	}
	was, known := old.(*corev1.Pod)
	switch {
	case !gone && !known:
		return act{at: f.at, item: daemonset.Item{Node: nodeOf(p)}}, true
	case known && was.DeletionTimestamp == nil && (gone || p.DeletionTimestamp != nil):
		return act{at: f.at, item: daemonset.Item{Node: nodeOf(p), Pod: p.Name}, by: disruptedBy(p)}, true
	}
	return act{}, false
}

func (f *Follower) owns(p *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(p)
	return owner != nil && owner.UID == f.objects.ds.UID
}

// disruptedBy returns the reason of the pod's DisruptionTarget condition; empty if there is none. An eviction by the
// kubelet does not count: the pod fails, and the controller deletes it.
func disruptedBy(p *corev1.Pod) string {
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue &&
			c.Reason != corev1.PodReasonTerminationByKubelet {
			return c.Reason
		}
	}
	return ""
}

// nodeOf returns the target node of a pod; empty if it has none.
func nodeOf(p *corev1.Pod) string {
	name, _ := daemonset.TargetNode(p)
	return name
}

// pending is a batch that is not complete.
type pending struct {
	acts  []act
	last  time.Time
	first int             // index in the log of the first act's change
	end   int             // index of the last act's change
	step  *daemonset.Step // predicted for the state before the batch
	left  *expectation    // the rest of step; nil if something else happened
	older []*daemonset.Step
}

func (p *pending) add(a act, at int) { p.acts, p.last, p.end = append(p.acts, a), a.at, at }

// continues reports whether an act belongs to the current batch.
func (f *Follower) continues(a act) bool {
	return f.open != nil && f.open.left != nil && f.open.left.fits(a)
}

// judge adds an act, whose change is the last one in the log, to the current batch, or begins a batch. before is the
// step of the state before the act; nil if the act continues the current batch.
func (f *Follower) judge(a act, before *daemonset.Step) []Happening {
	var out []Happening
	at := len(f.log) - 1
	if p := f.open; p != nil {
		switch with := append(slices.Clone(p.acts), a); {
		case before == nil:
			p.add(a, at)
			if p.left.take(a); p.left.done() {
				return f.close(true)
			}
			return nil
		case f.explains(p.acts, true):
			out = f.close(true)
		case f.explains(with, false):
			p.left = nil
			p.add(a, at)
			if f.explains(with, true) {
				return f.close(true)
			}
			return nil
		case expect(before).fits(a) || a.at.Sub(p.last) >= batchGap:
			out = f.close(false)
		default: // maybe part of the same batch, if a later change explains both
			p.left = nil
			p.add(a, at)
			return nil
		}
		at = len(f.log) - 1
	}
	p := &pending{first: at, step: before, left: expect(before)}
	f.open = p
	p.add(a, at)
	if !p.left.fits(a) {
		p.left = nil
		if f.explains(p.acts, true) {
			return append(out, f.close(true)...)
		}
		return out
	}
	if p.left.take(a); p.left.done() {
		return append(out, f.close(true)...)
	}
	return out
}

// reconsider closes an unexplained batch if a change of another kind now explains it.
func (f *Follower) reconsider() []Happening {
	if f.open != nil && f.open.left == nil && f.explains(f.open.acts, true) {
		return f.close(true)
	}
	return nil
}

// close ends the current batch.
func (f *Follower) close(asPredicted bool) []Happening {
	p := f.open
	f.open, f.log = nil, slices.Clone(f.log[p.end+1:])
	f.batches++
	h := Happening{At: p.last, Kind: Otherwise}
	if asPredicted {
		f.asPredicted++
		h.Kind = AsPredicted
	}
	h.Expected.Creates, h.Expected.CreatesOf = p.step.Creates.Len(), p.step.Creates.Candidates()
	h.Expected.Deletes, h.Expected.DeletesOf = p.step.Deletes.Len(), p.step.Deletes.Candidates()
	for _, a := range p.acts {
		if a.item.Pod == "" {
			h.Creates = append(h.Creates, a.item)
		} else {
			h.Deletes = append(h.Deletes, a.item)
		}
	}
	return []Happening{h}
}

// explains reports whether the acts were predicted for some state: as a whole batch or, if whole is false or the
// prediction is not exact, as part of one.
func (f *Follower) explains(acts []act, whole bool) bool {
	whole = whole && f.open.step.Exact
	explained := func(s *daemonset.Step) bool {
		e := expect(s)
		for _, a := range acts {
			if !e.fits(a) {
				return false
			}
			e.take(a)
		}
		return !whole || e.done()
	}
	p := f.open
	if explained(p.step) {
		return true
	}
	if p.older == nil {
		p.older = f.older(p)
	}
	return slices.ContainsFunc(p.older, explained) || explained(f.ahead(p))
}

// older returns the steps for states that the controller may have acted on: up to mostLag changes before the batch and,
// if minReadySeconds is set, with the clock one second earlier or later.
func (f *Follower) older(p *pending) []*daemonset.Step {
	var out []*daemonset.Step
	began := p.acts[0].at
	clocks := []time.Time{began}
	if f.objects.ds.Spec.MinReadySeconds > 0 {
		// timestamps have a precision of one second
		clocks = append(clocks, began.Add(time.Second), began.Add(-time.Second))
	}
	for lag := range min(mostLag, p.first) + 1 {
		was := f.objects.before(f.log[p.first-lag:])
		for _, at := range clocks {
			out = append(out, was.step(at))
		}
	}
	return out
}

// ahead returns the step for the state before the batch, as if the controller had seen all later changes of objects
// other than pods.
func (f *Follower) ahead(p *pending) *daemonset.Step {
	var ofPods []change
	for _, c := range f.log[p.first:] {
		if _, ok := c.new.(*corev1.Pod); ok {
			ofPods = append(ofPods, c)
		}
	}
	return f.objects.before(ofPods).step(p.acts[0].at)
}

// expectation is the rest of a predicted step.
type expectation struct {
	groupOf map[string]int // index of the group, by target
	groups  []group
	left    int
}

// group is a set of targets, some of which are still to come.
type group struct {
	left, perNode int
	taken         map[string]int // by node; used if perNode limits it
}

func expect(s *daemonset.Step) *expectation {
	e := &expectation{groupOf: map[string]int{}}
	for _, b := range []daemonset.Batch{s.Creates, s.Deletes} {
		e.add(b.Certain, len(b.Certain), 0)
		for _, c := range b.Choices {
			e.add(c.From, c.Count, c.PerNode)
		}
	}
	return e
}

func (e *expectation) add(from []daemonset.Item, count, perNode int) {
	for _, i := range from {
		e.groupOf[target(i)] = len(e.groups)
	}
	e.groups = append(e.groups, group{left: count, perNode: perNode, taken: map[string]int{}})
	e.left += count
}

func target(i daemonset.Item) string {
	if i.Pod != "" {
		return "pod/" + i.Pod
	}
	return "node/" + i.Node
}

func (e *expectation) fits(a act) bool {
	n, ok := e.groupOf[target(a.item)]
	if !ok {
		return false
	}
	g := &e.groups[n]
	return g.left > 0 && (g.perNode == 0 || g.taken[a.item.Node] < g.perNode)
}

// take removes an act that fits.
func (e *expectation) take(a act) {
	g := &e.groups[e.groupOf[target(a.item)]]
	g.left--
	g.taken[a.item.Node]++
	e.left--
	delete(e.groupOf, target(a.item))
}

func (e *expectation) done() bool { return e.left == 0 }
