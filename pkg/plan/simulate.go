package plan

import (
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
)

// mostEvents is the number of events that the controller can record for one DaemonSet in a short time. Each event is a
// request too.
const mostEvents = 25

// reaction is the time from a request until the controller observes its effect, in seconds.
const reaction = 0.02

// mostSyncs limits the syncs of a simulation, per node. A rollout that needs more is considered endless.
const mostSyncs = 20

// simulation steps a rollout from sync to sync.
type simulation struct {
	st    *daemonset.State
	tally *daemonset.Tally
	times *pace
	nodes []assumedNode

	room    *room               // that quotas leave; nil if no quota limits pods
	refused bool                // quotas rejected a create of the last sync
	updated daemonset.UpdatedBy // why future pods count as updated
	slots   []slot
	buffers *buffers

	down, replacing, forced int

	now      float64
	timers   timers
	maturing timers  // pods that become available; the controller is not notified of it
	nextSync float64 // when the controller syncs anyway; infinite for never
	requests requests
	events   int // recorded so far
	written  daemonset.Counts

	line       []Moment       // the course; only if it is drawn
	last       *daemonset.Act // of the last sync
	waves      []Wave
	before     []int     // for each wave, len(replacedAt) when it began
	folded     []int     // the same for the last wave folded into it
	replacedAt []float64 // when the rolling update began to replace each pod
	waveOpen   bool      // the last wave is not complete
	waveBegan  float64   // when it began
	synced     bool      // the first sync is done
	upToDate   bool      // at the start, every eligible node has an available new pod, and there is no old pod
	end        end
}

// end is the result of a simulation.
type end struct {
	at       float64
	steps    int
	replaced int  // old pods deleted for a new one
	dropped  int  // old pods deleted without replacement on nodes where they could stay
	working  bool // some of these pods were available
	chosen   bool // the worst nodes were chosen; the controller picks at random
	largest  int
	atATime  int // as largest, without the nodes whose pod is forced
	atOnce   int // the forced ones
	worst    int
	late     float64 // the longest time from when a pod was available until the controller counted it, in seconds
	endless  bool
	failed   *daemonset.StepError
}

// slot is the state of a node in a simulation.
type slot struct {
	made      int  // pods created on the node
	owned     bool // the pods are a copy
	down      bool // the node is eligible and has no available pod
	replacing bool // the rolling update has begun to replace its pod
	forced    bool // it had no available pod when the replacement began, so the limit does not apply
}

// buffers is the memory of a simulation, for reuse by the next one.
type buffers struct {
	last             *simulation // the simulation that uses the memory; nil if none does
	tally            *daemonset.Tally
	slots            []slot
	pods             []daemonset.Pod // the current block of pods; a bigger one replaces it when it is full
	timers, maturing timers
}

// copied returns a copy of pods with room for at least one pod.
func (s *buffers) copied(pods []daemonset.Pod) []daemonset.Pod {
	n := max(1, len(pods))
	if cap(s.pods)-len(s.pods) < n {
		s.pods = make([]daemonset.Pod, 0, max(n, 2*cap(s.pods), 64))
	}
	from := len(s.pods)
	s.pods = append(s.pods, pods...)[:from+n]
	return s.pods[from : from+len(pods) : from+n]
}

// initialState is the initial state of all simulations of a State. It does not depend on times or on the limit.
type initialState struct {
	nodes []assumedNode
	tally daemonset.Tally
	slots []slot
	down  int // eligible nodes without an available pod
}

// newInitialState returns the initial state for st. If refused is true, the API server rejects every new pod.
func newInitialState(st *daemonset.State, nodes []assumedNode, refused bool) *initialState {
	b := &initialState{nodes: nodes, slots: make([]slot, len(st.Nodes))}
	// the controller picks at random; take the worst nodes first
	b.tally.Reset(st, daemonset.Course{First: func(i int32) bool { return nodes[i].stays() }, Refused: refused})
	for i := range b.slots {
		b.slots[i].down, _ = downAndOld(&st.Nodes[i], b.tally.Pods(int32(i)))
		b.down += b2i(b.slots[i].down)
	}
	return b
}

// simulate steps a rollout until nothing more happens. It does not change st. It reuses the memory of the previous
// simulation, whose Tally is then gone unless that simulation called keep.
func simulate(s *buffers, b *initialState, st *daemonset.State, p *pace) *simulation {
	r := newSimulation(s, b, st, p)
	for left := mostSyncs * (len(st.Nodes) + 50); ; left-- {
		if left == 0 {
			r.end.endless = true
			break
		}
		r.due()
		if acted := p.silent == "" && r.sync(); !acted && !r.wait() {
			break
		}
	}
	r.close()
	r.end.at = r.now
	s.timers, s.maturing = r.timers, r.maturing
	return r
}

func newSimulation(s *buffers, b *initialState, st *daemonset.State, p *pace) *simulation {
	if s.last != nil {
		s.last.tally = nil
	}
	if s.tally == nil {
		s.tally = &daemonset.Tally{}
	}
	s.tally.Copy(&b.tally, st)
	s.slots = append(s.slots[:0], b.slots...)
	s.pods = s.pods[:0]
	r := &simulation{
		st: st, times: p, nodes: b.nodes, down: b.down, room: p.room.copied(), updated: st.NewPod(),
		requests: newRequests(p.rate, p.burst), nextSync: math.Inf(1),
		tally: s.tally, slots: s.slots, timers: s.timers[:0], maturing: s.maturing[:0], buffers: s,
	}
	for i := range r.slots {
		r.startTimers(int32(i))
	}
	s.last = r
	r.written = r.tally.Counts()
	r.upToDate = r.written.Updated == r.written.Desired && r.written.Available == r.written.Desired &&
		r.tally.Old() == 0
	r.end.worst = r.down
	if r.times.drawn {
		r.draw()
	}
	return r
}

// keep detaches the memory of the simulation from the buffers, so that its Tally remains valid after the next
// simulation.
func (r *simulation) keep() { *r.buffers = buffers{} }

// due processes all events that are due, or that follow so soon that they belong to the same wave. Before the first
// sync, only events that are due now are processed.
func (r *simulation) due() {
	until := r.now
	if r.synced {
		until += r.times.window
	}
	for len(r.timers) > 0 && r.timers[0].at <= until {
		e := r.timers.pop()
		r.now = max(r.now, e.at)
		r.apply(e)
	}
	for len(r.maturing) > 0 && r.maturing[0].at <= r.now {
		r.apply(r.maturing.pop())
	}
	if r.nextSync <= r.now {
		r.nextSync = math.Inf(1)
	}
}

// wait advances the time to the controller's next sync. It returns false if there is none.
func (r *simulation) wait() bool {
	next := r.nextSync
	if len(r.timers) > 0 {
		next = min(next, r.timers[0].at)
	}
	if math.IsInf(next, 1) && len(r.maturing) > 0 {
		next = r.maturing[0].at // in a real cluster, something else triggers a sync
	}
	if math.IsInf(next, 1) {
		return false
	}
	r.now = max(r.now, next)
	return true
}

// startTimers sets the timers of the existing pods of a node.
func (r *simulation) startTimers(i int32) {
	f := &r.nodes[i]
	for j := range r.st.Nodes[i].Pods {
		p := &r.st.Nodes[i].Pods[j]
		if at, kind, ok := f.next(p, r.st, r.times); ok {
			if kind == podAvailable {
				r.maturing.add(event{at, i, kind, p.Name})
				r.nextSync = min(r.nextSync, at)
				continue
			}
			r.timers.add(event{at, i, kind, p.Name})
		}
	}
}

// setPods sets the pods of a node and updates the sums.
func (r *simulation) setPods(i int32, pods []daemonset.Pod) {
	s := &r.slots[i]
	r.down, r.replacing, r.forced = r.down-b2i(s.down), r.replacing-b2i(s.replacing),
		r.forced-b2i(s.replacing && s.forced)
	r.tally.SetPods(i, pods)
	r.count(i)
	if r.times.drawn {
		r.draw()
	}
}

// count adds a node to the sums.
func (r *simulation) count(i int32) {
	s := &r.slots[i]
	down, old := downAndOld(&r.st.Nodes[i], r.tally.Pods(i))
	s.down = down
	s.replacing = s.replacing && (s.down || old)
	r.down, r.replacing, r.forced = r.down+b2i(s.down), r.replacing+b2i(s.replacing),
		r.forced+b2i(s.replacing && s.forced)
	r.end.worst = max(r.end.worst, r.down)
}

// downAndOld reports whether a node is eligible and has no available pod, and whether it has an old pod that is not
// terminating.
func downAndOld(n *daemonset.Node, pods []daemonset.Pod) (down, old bool) {
	down = n.ShouldRun.OK
	for j := range pods {
		if p := &pods[j]; !p.Terminating {
			old, down = old || !p.Updated, down && !p.Available.OK
		}
	}
	return down, old
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sync performs the controller's next sync and reports whether the controller acted.
func (r *simulation) sync() bool {
	r.synced = true
	act := r.tally.Act()
	r.admit(act)
	switch r.last = act; {
	case r.refused && len(act.Creates)+len(act.Deletes) == 0:
		r.write(act)
		return false
	case act.Kind == daemonset.StepManage:
		r.wave(false, act)
	case act.Error != nil:
		r.end.failed = act.Error
	case act.Kind == daemonset.StepRollingUpdate:
		r.end.chosen = r.end.chosen || act.Picked
		if !r.progresses(act) { // up to 1.20, the controller deletes terminating pods again, and waits for them
			r.write(&daemonset.Act{})
			return false
		}
		r.wave(true, act)
		r.markReplacing(act)
	}
	acted := len(act.Creates)+len(act.Deletes) > 0
	if acted {
		r.end.failed = nil
	}
	r.write(act)
	return acted
}

// progresses reports whether a sync creates a pod or deletes one that is not yet terminating.
func (r *simulation) progresses(a *daemonset.Act) bool {
	for _, d := range a.Deletes {
		for j, pods := 0, r.tally.Pods(d.Node); j < len(pods); j++ {
			if pods[j].Name == d.Pod && !pods[j].Terminating {
				return true
			}
		}
	}
	return len(a.Creates) > 0
}

// markReplacing marks the nodes whose pods a rolling-update step begins to replace.
func (r *simulation) markReplacing(a *daemonset.Act) {
	mark := func(i int32) {
		if s := &r.slots[i]; !s.replacing {
			n := r.tally.Node(i)
			s.replacing, s.forced = true, !hasAvailable(&n)
			r.replacing, r.forced = r.replacing+1, r.forced+b2i(s.forced)
			r.replacedAt = append(r.replacedAt, r.now)
		}
	}
	for _, i := range a.Creates {
		mark(i)
	}
	for _, d := range a.Deletes {
		mark(d.Node)
	}
	e := &r.end
	e.largest, e.atATime, e.atOnce = max(e.largest, r.replacing), max(e.atATime, r.replacing-r.forced),
		max(e.atOnce, r.forced)
}

// wave adds a step to the waves. A rolling-update step begins a wave; a manage step belongs to the current one.
func (r *simulation) wave(begins bool, a *daemonset.Act) {
	if begins {
		r.end.steps++
	}
	if begins || !r.waveOpen {
		r.close()
		r.waves, r.waveOpen, r.waveBegan = append(r.waves, Wave{Count: 1}), true, r.now
		r.before, r.folded = append(r.before, len(r.replacedAt)), append(r.folded, len(r.replacedAt))
	}
	last := &r.waves[len(r.waves)-1]
	last.Creates += len(a.Creates)
	last.Deletes += len(a.Deletes)
}

// close completes the last wave, and folds it into the previous one if that created and deleted the same numbers of
// pods.
func (r *simulation) close() {
	if !r.waveOpen {
		return
	}
	r.waveOpen = false
	last := &r.waves[len(r.waves)-1]
	last.Counts = r.tally.Counts()
	if n := len(r.waves) - 1; n > 0 {
		if before := &r.waves[n-1]; before.Creates == last.Creates && before.Deletes == last.Deletes {
			before.Count++
			before.Counts, *before.Last = last.Counts, r.waveBegan
			r.folded[n-1] = r.before[n]
			r.waves, r.before, r.folded = r.waves[:n], r.before[:n], r.folded[:n]
			return
		}
	}
	at := [2]float64{r.waveBegan, r.waveBegan}
	last.At, last.Last = &at[0], &at[1]
}

// write sends the requests of a sync: creates in a slow start, all deletes, events as far as they are recorded, and the
// status if it changed. The next sync begins when the controller has observed their effects.
func (r *simulation) write(a *daemonset.Act) {
	done, seen := r.now, r.tally.Counts()
	send := func(at float64) float64 {
		out := r.requests.send(at)
		done = max(done, out+reaction)
		return out
	}
	for size, from := 1, 0; from < len(a.Creates); size *= 2 {
		batch, begin := a.Creates[from:min(from+size, len(a.Creates))], done
		for _, i := range batch {
			r.create(i, send(begin))
		}
		from += len(batch)
	}
	begin := done
	for _, d := range a.Deletes {
		r.delete(d, send(begin))
	}
	for range min(len(a.Creates)+len(a.Deletes), mostEvents-r.events) {
		r.events++
		r.requests.send(r.now) // the controller does not wait for events
	}
	if r.written != seen {
		r.written = seen
		send(done)
	}
	if wait := r.times.minReady; wait > 0 && seen.Ready != seen.Available && len(r.maturing) > 0 {
		// The controller requeues after minReadySeconds for each incomplete status. Look at the first of those times at
		// which a pod is available.
		times := max(1, math.Ceil((r.maturing[0].at-r.now)/wait))
		r.nextSync = min(r.nextSync, r.now+times*wait)
	}
	r.now = done
}

// simulated is the object of every pod that a simulation creates.
var simulated = &corev1.Pod{Spec: corev1.PodSpec{NodeName: "bound"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}

func (r *simulation) create(i int32, at float64) {
	s := &r.slots[i]
	s.made++
	if r.room != nil {
		r.room.take()
	}
	p := daemonset.Pod{
		Name: newName(s.made), Object: simulated, Claim: daemonset.Owned,
		Hash: r.st.History.Hash, UpdatedBy: r.updated, Updated: r.updated != daemonset.NotUpdated,
		Available: daemonset.Verdict{Reason: daemonset.NotReady},
	}
	r.setPods(i, append(r.pods(i), p))
	if r.nodes[i].never == nil {
		r.timers.add(event{at + r.times.starts.Next(), i, podReady, p.Name})
	}
}

func (r *simulation) delete(d daemonset.Doomed, at float64) {
	n := r.tally.Node(d.Node)
	r.change(d.Node, d.Pod, func(p *daemonset.Pod) (stays bool) {
		if p.Terminating {
			return p.Object.Spec.NodeName != ""
		}
		if !p.Updated && n.MayStay.OK {
			r.end.replaced += b2i(follows(&n))
			r.end.dropped += b2i(!follows(&n))
			r.end.working = r.end.working || p.Available.OK
		}
		if p.Object.Spec.NodeName == "" || timing.IsTerminal(p.Object) {
			return false // no kubelet is involved
		}
		p.Terminating = true
		if !r.nodes[d.Node].hangs {
			r.timers.add(event{at + r.times.ends.Next(), d.Node, podGone, p.Name})
		}
		return true
	})
}

// follows reports whether a new pod follows an old one on its node, or is already there.
func follows(n *daemonset.Node) bool {
	return n.ShouldRun.OK || slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
		return p.Updated &&
			!p.Terminating
	})
}

// apply applies an event, if its pod still exists.
func (r *simulation) apply(e event) {
	r.change(e.node, e.pod, func(p *daemonset.Pod) (stays bool) {
		switch e.kind {
		case podGone:
			return false
		case podReady:
			p.Ready = true
			if wait := r.times.minReady; wait > 0 {
				p.Available = daemonset.Verdict{Reason: daemonset.NotYetAvailable}
				// the API truncates to seconds
				r.maturing.add(event{math.Floor(e.at) + wait, e.node, podAvailable, e.pod})
				// after a pod becomes ready, the controller syncs one second later than necessary
				r.nextSync = min(r.nextSync, e.at+wait+1)
				return true
			}
			fallthrough
		case podAvailable:
			if !p.Terminating {
				r.end.late = max(r.end.late, r.now-e.at)
			}
			p.Available = daemonset.Verdict{OK: true, Reason: daemonset.Available}
		}
		return true
	})
}

// change edits a pod of a node, or removes it if edit returns false.
func (r *simulation) change(i int32, name string, edit func(*daemonset.Pod) (stays bool)) {
	pods := r.pods(i)
	for j := range pods {
		if pods[j].Name != name {
			continue
		}
		if !edit(&pods[j]) {
			if r.room != nil {
				r.room.give(&pods[j])
			}
			pods = slices.Delete(pods, j, j+1)
		}
		r.setPods(i, pods)
		return
	}
}

// pods returns the pods of a node. The simulation may edit them.
func (r *simulation) pods(i int32) []daemonset.Pod {
	pods := r.tally.Pods(i)
	if s := &r.slots[i]; !s.owned {
		s.owned = true
		pods = r.buffers.copied(pods)
	}
	return pods
}

// newNames are the names of the first pods that a simulation creates on a node.
var newNames = [...]string{"(new 1)", "(new 2)", "(new 3)"}

// newName returns the name of the n-th pod created on a node.
func newName(n int) string {
	if n <= len(newNames) {
		return newNames[n-1]
	}
	return "(new " + strconv.Itoa(n) + ")"
}
