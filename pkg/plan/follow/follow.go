// Package follow compares what the controller does with what pkg/plan predicted. It takes the changes of objects one by
// one and returns each batch with whether it was predicted, and how the rest of the rollout goes.
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

// Follower follows a rollout change by change, and compares what the
// controller does with what it was predicted to do.
//
// What the controller does comes in batches: the pods that one sync creates
// and deletes. A batch is as predicted when the step of the State before its
// first act admits it. The controller reads four caches, each of which may be
// some changes behind what the Follower saw, or ahead of it for another kind
// than pods: such a state counts too, back to the batch before, whose own acts
// the controller has seen.
//
// Nothing tells who deleted a pod. A deletion that no state explains may be a
// person's; one that says that it is an eviction is no batch.
//
// Where the nodes cannot be read, a node without a pod is not seen: creates are
// told of and not judged, and of the deletes some may not come, for what is not
// seen uses up the budget too.
//
// It is not safe for concurrent use.
type Follower struct {
	o       plan.Options
	objects objects
	at      time.Time
	gone    bool // the DaemonSet

	log  []change // what changed since the last act of the batch before
	open *pending

	moved                time.Time // when something changed last that decides about a sync
	vanished             time.Time // when a pod went last
	batches, asPredicted int
	learnt               timing.Learnt
	still                still
	due                  due
}

// How long things may take.
const (
	quiet = 5 * time.Second // between two acts of one batch: the controller's requests are spread by its rate
	// that a rollout must stand still to count as stuck: a pod that crashes is started anew meanwhile
	calm    = 30 * time.Second
	overdue = 30 * time.Second // that something predicted must not come to be told
	mostLag = 10               // changes that the controller may be behind
)

// Happening is one thing that happened.
type Happening struct {
	At   time.Time
	Kind HappeningKind

	Creates []daemonset.Item // of a batch: the nodes
	Deletes []daemonset.Item // of a batch, or the one pod that was evicted

	// Expected is how many creates and deletes were predicted when a batch came, and
	// from how many pods or nodes the controller could choose those.
	Expected struct{ Creates, Deletes, CreatesOf, DeletesOf int }

	Generation int64  // of Changed
	By         string // of Evicted: who, as the pod's DisruptionTarget condition has it
}

// HappeningKind says what happened.
type HappeningKind string

const (
	AsPredicted HappeningKind = "AsPredicted" // a batch
	Otherwise   HappeningKind = "Otherwise"   // a batch that no state explains, or somebody else's deletion
	Evicted     HappeningKind = "Evicted"     // a pod that another controller took away
	Unjudged    HappeningKind = "Unjudged"    // a creation that could not be predicted without nodes
	Changed     HappeningKind = "Changed"     // the DaemonSet has a new generation
)

// NewFollower returns a Follower that begins at a State.
func NewFollower(st *daemonset.State, o plan.Options) *Follower {
	return &Follower{o: o, objects: newObjects(st), at: st.At, moved: st.At, learnt: timing.NewLearnt()}
}

// Know takes what was read of a Snapshot besides the objects that are followed: what
// admits pods, the other pods on nodes, volumes, and the Lease of the controller, with their gaps. What was known of
// these before goes.
func (f *Follower) Know(s *snapshot.Snapshot) {
	f.objects.base = f.objects.base.Admitting(s.Admission, s.Gaps).Holding(s.OtherPods, s.Gaps).Reaching(s.Volumes,
		s.Gaps).ControlledBy(s.Controller, s.Gaps)
}

// See takes one change: a DaemonSet, Node, Pod, ControllerRevision or Event as
// it is now, or as it was when it went. Times must not run backwards.
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
	if n := len(f.log); f.open == nil && n > 10*mostLag { // nobody is so far behind
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

// Settle ends a batch of which nothing was seen for so long that nothing more
// will be. With last, nothing more is to come.
func (f *Follower) Settle(at time.Time, last bool) []Happening {
	f.at = at
	if f.open == nil || !last && at.Sub(f.open.last) < quiet {
		return nil
	}
	return f.close(f.explains(f.open.acts, true))
}

// act is the creation or the deletion of one pod.
type act struct {
	at   time.Time
	item daemonset.Item // of a create, the node alone
	by   string         // who, if it says that it was not the controller
}

// actOf returns what a change of a pod tells that somebody did: created it, or
// deleted it, which shows by its deletionTimestamp, or by its end without one.
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

// disruptedBy returns who took a pod away, as it says itself. One that the
// kubelet evicted fails, and is then the controller's to delete.
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

// nodeOf returns the node that a pod is for, empty if none can be told.
func nodeOf(p *corev1.Pod) string {
	name, _ := daemonset.TargetNode(p)
	return name
}

// pending is a batch that is under way.
type pending struct {
	acts  []act
	last  time.Time
	first int             // of the log: the first act's change
	end   int             // the last act's
	step  *daemonset.Step // predicted for the state before
	left  *expectation    // what of it is still to come; nil if something else came
	older []*daemonset.Step
}

func (p *pending) add(a act, at int) { p.acts, p.last, p.end = append(p.acts, a), a.at, at }

// continues reports whether an act belongs to the batch under way.
func (f *Follower) continues(a act) bool {
	return f.open != nil && f.open.left != nil && f.open.left.fits(a)
}

// judge adds an act, whose change is the log's last, to the batch under way, or
// begins one. before is the step of the state before it, where the act is not
// one more of the batch under way.
func (f *Follower) judge(a act, before *daemonset.Step) []Happening {
	var out []Happening
	at := len(f.log) - 1
	if p := f.open; p != nil {
		switch with := append(slices.Clone(p.acts), a); {
		case before == nil:
			p.add(a, at)
			if p.left.take(a); p.left.none() {
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
		case expect(before).fits(a) || a.at.Sub(p.last) >= quiet:
			out = f.close(false)
		default: // of one batch, perhaps: what explains it may be still to come
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
	if p.left.take(a); p.left.none() {
		return append(out, f.close(true)...)
	}
	return out
}

// reconsider looks whether a change of another kind explains a batch that
// nothing explained.
func (f *Follower) reconsider() []Happening {
	if f.open != nil && f.open.left == nil && f.explains(f.open.acts, true) {
		return f.close(true)
	}
	return nil
}

// close ends the batch under way.
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

// explains reports whether there is a state for which the acts were predicted:
// as a whole batch, or as a part of one. What is predicted from a part of the
// input is not more than a part.
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
		return !whole || e.none()
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

// older returns what is predicted for states that the controller may have
// decided on: some changes behind that before the batch, and a second before or
// after, where the clock decides.
func (f *Follower) older(p *pending) []*daemonset.Step {
	var out []*daemonset.Step
	began := p.acts[0].at
	clocks := []time.Time{began}
	if f.objects.ds.Spec.MinReadySeconds > 0 {
		// the server's clock is known to the second
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

// ahead returns what is predicted for the state before the batch, had the
// controller seen all that has come since besides changes of pods.
func (f *Follower) ahead(p *pending) *daemonset.Step {
	var ofPods []change
	for _, c := range f.log[p.first:] {
		if _, ok := c.new.(*corev1.Pod); ok {
			ofPods = append(ofPods, c)
		}
	}
	return f.objects.before(ofPods).step(p.acts[0].at)
}

// expectation is what of a step is still to come.
type expectation struct {
	of     map[string]int // the group of each target
	groups []group
	left   int
}

// group is a choice of which so many are still to come.
type group struct {
	left, perNode int
	taken         map[string]int // by node, where perNode limits it
}

func expect(s *daemonset.Step) *expectation {
	e := &expectation{of: map[string]int{}}
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
		e.of[target(i)] = len(e.groups)
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
	n, ok := e.of[target(a.item)]
	if !ok {
		return false
	}
	g := &e.groups[n]
	return g.left > 0 && (g.perNode == 0 || g.taken[a.item.Node] < g.perNode)
}

// take takes what fits.
func (e *expectation) take(a act) {
	g := &e.groups[e.of[target(a.item)]]
	g.left--
	g.taken[a.item.Node]++
	e.left--
	delete(e.of, target(a.item))
}

func (e *expectation) none() bool { return e.left == 0 }
