package plan

import (
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
)

// mostEvents bounds how many events the controller records of one DaemonSet
// in a short time: each is a request too.
const mostEvents = 25

// reaction is how long a request takes until the controller hears of its
// effect, in seconds.
const reaction = 0.02

// mostSyncs bounds a simulation, per node: beyond it the rollout has no end.
const mostSyncs = 20

// simulation is a rollout that is stepped from sync to sync.
type simulation struct {
	st    *daemonset.State
	tally *daemonset.Tally
	times *pace
	nodes []assumedNode

	room    *room               // that quotas leave; nil where none limits pods
	refused bool                // the last sync had a create that the quotas refuse
	updated daemonset.UpdatedBy // what makes a pod of the future so
	slots   []slot
	spare   *spare

	down, replacing, forced int

	now      float64
	timers   timers
	maturing timers  // pods that become available: nothing tells the controller
	look     float64 // when it looks anyway; infinite for never
	requests requests
	events   int // recorded so far
	written  daemonset.Counts

	line       []Moment       // the course, where it is drawn
	last       *daemonset.Act // of the last sync
	waves      []Wave
	before     []int     // for each wave, how many pods had had their turn when it began
	folded     []int     // the same, for the last of the waves that are folded into it
	replacedAt []float64 // when each of them had
	open       bool      // the last wave still collects
	openAt     float64   // when it began
	begun      bool      // the first sync is over
	whole      bool      // every node that should run the pod had an available new one, and nothing else, to begin with
	end        end
}

// end sums up a simulation.
type end struct {
	at       float64
	steps    int
	replaced int  // old pods that were deleted for a new one
	dropped  int  // old pods that were deleted without replacement, on nodes that could keep them
	working  bool // some of these were available
	chosen   bool // of which nodes it took the worst: the controller picks at random
	largest  int
	atATime  int // the same without the nodes whose pod is forced
	atOnce   int // those
	worst    int
	late     float64 // seconds until the controller counted a pod that was available, at most
	endless  bool
	failed   *daemonset.StepError
}

// slot is what a simulation knows of a node.
type slot struct {
	made      int  // pods that were created here
	owned     bool // the pods are a copy
	down      bool // it should have an available pod, and has none
	replacing bool // the rolling update has begun to replace its pod
	forced    bool // it had no available pod then: the limit does not decide
}

// spare is the memory of a simulation, which a later one uses again.
type spare struct {
	last             *simulation // that has it; nil for none
	tally            *daemonset.Tally
	slots            []slot
	pods             []daemonset.Pod // the last of the parts in which pods are made; of the next, it is the first
	timers, maturing timers
}

// copied returns a copy of pods with room for one.
func (s *spare) copied(pods []daemonset.Pod) []daemonset.Pod {
	n := max(1, len(pods))
	if cap(s.pods)-len(s.pods) < n {
		s.pods = make([]daemonset.Pod, 0, max(n, 2*cap(s.pods), 64))
	}
	from := len(s.pods)
	s.pods = append(s.pods, pods...)[:from+n]
	return s.pods[from : from+len(pods) : from+n]
}

// beginning is what every simulation of a State begins with, whatever its times, and whatever the number of the limit.
type beginning struct {
	nodes []assumedNode
	tally daemonset.Tally
	slots []slot
	down  int // nodes that should have an available pod, and have none
}

// newBeginning returns that of a State of which this is assumed. The API server may refuse every new pod.
func newBeginning(st *daemonset.State, nodes []assumedNode, refused bool) *beginning {
	b := &beginning{nodes: nodes, slots: make([]slot, len(st.Nodes))}
	// which go is random: at worst those
	b.tally.Reset(st, daemonset.Course{First: func(i int32) bool { return nodes[i].stays() }, Refused: refused})
	for i := range b.slots {
		b.slots[i].down, _ = downAndOld(&st.Nodes[i], b.tally.Pods(int32(i)))
		b.down += b2i(b.slots[i].down)
	}
	return b
}

// simulate steps a rollout to where nothing happens any more, in the memory of the one before, which then has no Tally
// any more unless it keeps it. The State is not changed.
func simulate(s *spare, b *beginning, st *daemonset.State, p *pace) *simulation {
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

func newSimulation(s *spare, b *beginning, st *daemonset.State, p *pace) *simulation {
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
		requests: newRequests(p.rate, p.burst), look: math.Inf(1),
		tally: s.tally, slots: s.slots, timers: s.timers[:0], maturing: s.maturing[:0], spare: s,
	}
	for i := range r.slots {
		r.begin(int32(i))
	}
	s.last = r
	r.written = r.tally.Counts()
	r.whole = r.written.Updated == r.written.Desired && r.written.Available == r.written.Desired && r.tally.Old() == 0
	r.end.worst = r.down
	if r.times.drawn {
		r.draw()
	}
	return r
}

// keep has the simulation keep its memory, for whoever looks at the Tally after another one.
func (r *simulation) keep() { *r.spare = spare{} }

// due lets all happen that is due, or so soon after that it belongs to the same
// wave. The first sync is that of the present, which nothing precedes.
func (r *simulation) due() {
	until := r.now
	if r.begun {
		until += r.times.window
	}
	for len(r.timers) > 0 && r.timers[0].at <= until {
		e := r.timers.pop()
		r.now = max(r.now, e.at)
		r.happen(e)
	}
	for len(r.maturing) > 0 && r.maturing[0].at <= r.now {
		r.happen(r.maturing.pop())
	}
	if r.look <= r.now {
		r.look = math.Inf(1)
	}
}

// wait lets time go to when the controller looks next, and reports whether it
// does.
func (r *simulation) wait() bool {
	next := r.look
	if len(r.timers) > 0 {
		next = min(next, r.timers[0].at)
	}
	if math.IsInf(next, 1) && len(r.maturing) > 0 {
		next = r.maturing[0].at // something else makes it look: a cluster is never as still as that
	}
	if math.IsInf(next, 1) {
		return false
	}
	r.now = max(r.now, next)
	return true
}

// begin sets the timers of the pods that there are.
func (r *simulation) begin(i int32) {
	f := &r.nodes[i]
	for j := range r.st.Nodes[i].Pods {
		p := &r.st.Nodes[i].Pods[j]
		if at, kind, ok := f.next(p, r.st, r.times); ok {
			if kind == podAvailable {
				r.maturing.add(event{at, i, kind, p.Name})
				r.look = min(r.look, at)
				continue
			}
			r.timers.add(event{at, i, kind, p.Name})
		}
	}
}

// settle gives a node other pods and brings the sums up to date.
func (r *simulation) settle(i int32, pods []daemonset.Pod) {
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

// downAndOld reports whether a node should have an available pod and has none, and whether it has an old pod that
// stays.
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

// sync does what the controller's next sync does, and reports whether it acted.
func (r *simulation) sync() bool {
	r.begun = true
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
		if !r.fresh(act) { // it deletes again what is on its way out, up to 1.20, and waits until that is gone
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

// fresh reports whether a sync creates a pod, or deletes one that is not on its
// way out.
func (r *simulation) fresh(a *daemonset.Act) bool {
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

// wave adds a step to the waves: a rolling-update step begins one, a manage
// step belongs to the one before.
func (r *simulation) wave(begins bool, a *daemonset.Act) {
	if begins {
		r.end.steps++
	}
	if begins || !r.open {
		r.close()
		r.waves, r.open, r.openAt = append(r.waves, Wave{Count: 1}), true, r.now
		r.before, r.folded = append(r.before, len(r.replacedAt)), append(r.folded, len(r.replacedAt))
	}
	last := &r.waves[len(r.waves)-1]
	last.Creates += len(a.Creates)
	last.Deletes += len(a.Deletes)
}

// close ends the last wave, and folds it into the one before if that created
// and deleted the same.
func (r *simulation) close() {
	if !r.open {
		return
	}
	r.open = false
	last := &r.waves[len(r.waves)-1]
	last.Counts = r.tally.Counts()
	if n := len(r.waves) - 1; n > 0 {
		if before := &r.waves[n-1]; before.Creates == last.Creates && before.Deletes == last.Deletes {
			before.Count++
			before.Counts, *before.Last = last.Counts, r.openAt
			r.folded[n-1] = r.before[n]
			r.waves, r.before, r.folded = r.waves[:n], r.before[:n], r.folded[:n]
			return
		}
	}
	at := [2]float64{r.openAt, r.openAt}
	last.At, last.Last = &at[0], &at[1]
}

// write sends the requests of a sync: creates in a slow start, all deletes,
// the events of both as far as they are recorded, and the status if it moved.
// The next sync begins when the controller has heard of them all.
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
		r.requests.send(r.now) // nothing waits for it
	}
	if r.written != seen {
		r.written = seen
		send(done)
	}
	if wait := r.times.minReady; wait > 0 && seen.Ready != seen.Available && len(r.maturing) > 0 {
		// Each status that is not whole yet brings it back; of those times, the first that shows anything new.
		times := max(1, math.Ceil((r.maturing[0].at-r.now)/wait))
		r.look = min(r.look, r.now+times*wait)
	}
	r.now = done
}

// simulated is what every pod of the future looks like to the rules.
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
	r.settle(i, append(r.pods(i), p))
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
			return false // no kubelet has to end it
		}
		p.Terminating = true
		if !r.nodes[d.Node].hangs {
			r.timers.add(event{at + r.times.ends.Next(), d.Node, podGone, p.Name})
		}
		return true
	})
}

// follows reports whether a new pod follows an old one on its node, or stands
// there already.
func follows(n *daemonset.Node) bool {
	return n.ShouldRun.OK || slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
		return p.Updated &&
			!p.Terminating
	})
}

// happen does what a timer says, if the pod is still there.
func (r *simulation) happen(e event) {
	r.change(e.node, e.pod, func(p *daemonset.Pod) (stays bool) {
		switch e.kind {
		case podGone:
			return false
		case podReady:
			p.Ready = true
			if wait := r.times.minReady; wait > 0 {
				p.Available = daemonset.Verdict{Reason: daemonset.NotYetAvailable}
				// the API cuts the second off
				r.maturing.add(event{math.Floor(e.at) + wait, e.node, podAvailable, e.pod})
				// told of readiness, the controller comes back a second later than it must
				r.look = min(r.look, e.at+wait+1)
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

// change edits one pod of a node, or drops it.
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
		r.settle(i, pods)
		return
	}
}

// pods returns the pods of a node, which are the simulation's own to edit.
func (r *simulation) pods(i int32) []daemonset.Pod {
	pods := r.tally.Pods(i)
	if s := &r.slots[i]; !s.owned {
		s.owned = true
		pods = r.spare.copied(pods)
	}
	return pods
}

// newNames are the names of the first pods that a simulation creates on a node.
var newNames = [...]string{"(new 1)", "(new 2)", "(new 3)"}

// newName names the pod that is the n-th to be created on its node.
func newName(n int) string {
	if n <= len(newNames) {
		return newNames[n-1]
	}
	return "(new " + strconv.Itoa(n) + ")"
}
