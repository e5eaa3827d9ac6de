package oracle

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller/wire"
)

const (
	mostSyncs  = 2000             // of a trace; the longest take a few hundred
	longSyncs  = 150              // of a trace that may not end
	quietSyncs = 5                // without any change at the end of a trace
	forgotten  = 16 * time.Minute // longer than any back-off of the controller
)

// ending is how a trace ends.
type ending string

const (
	rolledOut   ending = "rolled out"
	endOnDelete ending = "OnDelete"
	stuck       ending = "stuck"
	endless     ending = "endless" // see nameless
)

// trace is a rollout of a real controller that keeps running in a cluster. At every sync, the model
// is asked afresh.
//
// What the controller remembers and the model does not is excluded from the comparison in two ways.
// If a back-off may be running, the clock advances until it is over. A controller that still
// expects creates or deletes must change no pods, and only the rest of its sync is compared.
type trace struct {
	program *Program
	profile daemonset.Profile
	world   *cluster
	counts  *tally

	state    *snapshot.Snapshot // of the last sync
	syncs    int
	hash     string          // of the current revision in the last sync
	story    []string        // what happened, one line for each sync and change
	failedOn map[string]bool // nodes on which the controller has seen a failed pod
}

// follow runs a rollout to its end. It returns how it ended, or how the real controller and the
// model differ.
func (t *trace) follow() (ending, []string, error) {
	quiet := 0
	for t.syncs < mostSyncs && !t.nameless() {
		wrote, lines, err := t.sync()
		if err != nil || len(lines) > 0 {
			return "", lines, err
		}
		if wrote && t.again() {
			continue
		}
		at, pending := t.world.pending()
		switch {
		case wrote || pending:
			quiet = 0
		case quiet < quietSyncs:
			quiet++
		default:
			end, lines := t.end()
			return end, lines, nil
		}
		to := t.world.now.TakenAt.Add(tick)
		if !wrote && pending && at.After(to) {
			to = at
		}
		for _, made := range t.world.advance(to) {
			t.counts.add("change: "+string(made), 1)
			t.tell("%s", made)
		}
	}
	if t.nameless() {
		return endless, nil, nil
	}
	return "", []string{fmt.Sprintf("no end after %d syncs", t.syncs)}, nil
}

// nameless reports whether a long rollout is to a revision whose hash label is empty. No pod ever
// has that hash, so the controller may replace pods endlessly.
func (t *trace) nameless() bool { return t.syncs >= longSyncs && t.hash == "" }

// again reports whether the next sync comes as soon as the watch has delivered the controller's
// writes.
func (t *trace) again() bool { return t.world.draw(fmt.Sprint(t.syncs), "again", 3) == 0 }

// sync runs one sync, compares it with the model, and applies its writes. wrote reports whether
// there were any.
func (t *trace) sync() (wrote bool, lines []string, err error) {
	st, err := t.model()
	if err != nil {
		return false, nil, err
	}
	if t.couldBackOff(st) {
		t.world.advance(t.world.now.TakenAt.Add(forgotten))
		t.counts.add("waits for a backoff", 1)
		if st, err = t.model(); err != nil {
			return false, nil, err
		}
		t.couldBackOff(st)
	}
	how := wire.TraceNext
	if t.syncs == 0 {
		how = wire.TraceFirst
	}
	a, err := t.program.Follow(t.state, how)
	if err != nil {
		return false, nil, err
	}
	t.syncs, t.hash = t.syncs+1, st.History.Hash
	run := &a.Runs[0]
	t.note(st, run)
	if lines = t.judge(st, a); len(lines) > 0 {
		return false, lines, nil
	}
	if len(run.Creates)+len(run.Deletes) > 0 && t.world.draw(fmt.Sprint(t.syncs), "stale", 8) == 0 {
		if lines, err = t.stale(); err != nil || len(lines) > 0 {
			return false, lines, err
		}
	}
	if wrote = wroteAnything(run); wrote {
		err = t.settle(run)
	} else {
		err = t.world.wrote(run)
	}
	if err != nil || run.Waiting {
		return wrote, nil, err
	}
	lines, err = t.laws(st)
	return wrote, lines, err
}

// settle applies the writes of a sync and delivers them immediately, before anything else can
// happen to the objects: first changes, then deletions.
func (t *trace) settle(run *wire.Run) error {
	if err := t.world.wrote(run); err != nil {
		return err
	}
	if _, err := t.program.Follow(t.world.snapshot(), wire.TraceTell); err != nil {
		return err
	}
	for _, name := range run.Deletes {
		t.world.delete(name)
	}
	t.world.plan()
	_, err := t.program.Follow(t.world.snapshot(), wire.TraceTell)
	return err
}

// couldBackOff reports whether the controller has seen a failed pod before on a node that has one
// now. It records these nodes.
func (t *trace) couldBackOff(st *daemonset.State) bool {
	could := false
	for _, w := range st.Sync().Waits {
		for _, node := range w.Nodes {
			could = could || t.failedOn[node]
			t.failedOn[node] = true
		}
	}
	return could
}

// model returns the State of the present cluster.
func (t *trace) model() (*daemonset.State, error) {
	t.state = t.world.snapshot()
	return daemonset.New(t.state, t.profile)
}

func wroteAnything(r *wire.Run) bool {
	return len(r.Creates)+len(r.Deletes)+len(r.AdoptedPods)+len(r.ReleasedPods)+len(r.RelabelledTo)+
		len(r.NewRevisions)+len(r.SetRevisions)+len(r.Removed)+len(r.AdoptedRevs)+len(r.ReleasedRevs) > 0
}

// note counts what a sync did.
func (t *trace) note(st *daemonset.State, r *wire.Run) {
	t.counts.add("syncs", 1)
	add := func(what string, holds bool) {
		if holds {
			t.counts.add("syncs that "+what, 1)
		}
	}
	add("created", len(r.Creates) > 0)
	add("deleted", len(r.Deletes) > 0)
	add("changed revisions", len(r.NewRevisions)+len(r.SetRevisions)+len(r.Removed)+len(r.AdoptedRevs)+len(r.ReleasedRevs) > 0)
	add("wrote the status", r.Status != nil)
	add("waited for the watch", r.Waiting)
	add("failed", r.Error != "")
	step := st.Sync()
	t.tell("sync %d, %s %s: created on %v, deleted %v, revisions new %v set %v removed %v, waiting %t %s",
		t.syncs, step.Kind, step.Reason, createdOn(r), r.Deletes, r.NewRevisions, r.SetRevisions, r.Removed, r.Waiting, r.Error)
	for _, n := range st.Nodes {
		for _, p := range n.Pods {
			if p.Available.Reason == daemonset.NotYetAvailable {
				add("saw a pod not yet available", true)
				return
			}
		}
	}
}

// tell adds a line to the story.
func (t *trace) tell(format string, args ...any) {
	t.story = append(t.story, fmt.Sprintf("%6s ", t.world.now.TakenAt.Sub(t.world.start))+fmt.Sprintf(format, args...))
}

// judge compares one sync with the model.
func (t *trace) judge(st *daemonset.State, a wire.Answer) []string {
	run := &a.Runs[0]
	if run.Waiting {
		return waiting(st, a)
	}
	// The controller does not write an unchanged status: the existing one counts, if the sync came
	// that far.
	if run.Status == nil && (run.Error == "" || st.Profile.StatusAfterError) {
		s := statusOf(st.DaemonSet)
		run.Status = &s
	}
	return Compare(st, a)
}

func statusOf(ds *appsv1.DaemonSet) wire.Status {
	c := daemonset.Reported(ds)
	return wire.Status{
		Desired: c.Desired, Current: c.Current, Misscheduled: c.Misscheduled, Ready: c.Ready,
		Updated: c.Updated, Available: c.Available, Unavailable: c.Unavailable, ObservedGeneration: ds.Status.ObservedGeneration,
	}
}

// waiting compares a sync of a controller that waits for the watch: it changes no pods and removes
// no revisions, but it updates the status except for the generation.
func waiting(st *daemonset.State, a wire.Answer) []string {
	d := &differences{seen: map[string]bool{}}
	d.placement(st, a.Placement)
	r := &a.Runs[0]
	if r.Error != "" {
		d.add("error while it waits: %s", r.Error)
	}
	d.same("creates while it waits", nil, createdOn(r))
	d.same("deletes while it waits", nil, r.Deletes)
	step := st.Sync()
	step.Revisions.Remove = slices.DeleteFunc(step.Revisions.Remove, func(r daemonset.Removal) bool { return r.Reason == daemonset.CleanUp })
	d.same("adopted pods", step.Pods.Adopt, r.AdoptedPods)
	d.same("released pods", step.Pods.Release, r.ReleasedPods)
	d.history(st, step, r)
	counts, _ := st.Counts()
	real := statusOf(st.DaemonSet)
	if r.Status != nil {
		real = *r.Status
	}
	model := wire.Status{
		Desired: counts.Desired, Current: counts.Current, Misscheduled: counts.Misscheduled, Ready: counts.Ready,
		Updated: counts.Updated, Available: counts.Available, Unavailable: counts.Unavailable,
		ObservedGeneration: st.DaemonSet.Status.ObservedGeneration,
	}
	if model != real {
		d.add("status while it waits: model %+v, real %+v", model, real)
	}
	return d.lines
}

func createdOn(r *wire.Run) []string {
	var nodes []string
	for _, c := range r.Creates {
		nodes = append(nodes, c.Node)
	}
	return nodes
}

// stale lets the controller sync before the watch has delivered its writes. It must not do anything
// a second time. All versions remember what they expect, and since v1.36 they do not even begin.
func (t *trace) stale() ([]string, error) {
	a, err := t.program.Follow(t.world.snapshot(), wire.TraceStale)
	if err != nil {
		return nil, err
	}
	t.counts.add("syncs before the watch told", 1)
	r := &a.Runs[0]
	var lines []string
	if len(r.Creates)+len(r.Deletes)+len(r.NewRevisions) > 0 {
		lines = append(lines, fmt.Sprintf("before the watch told: creates on %v, deletes %v, revisions %v", createdOn(r), r.Deletes, r.NewRevisions))
	}
	return lines, t.world.wrote(r)
}

// end returns how a trace ended in which nothing happens any more, and what is wrong with it. A
// rollout may get stuck if the pods of its template never become ready, or if the limit is a
// percentage of no nodes.
func (t *trace) end() (ending, []string) {
	st, err := t.model()
	if err != nil {
		return "", []string{err.Error()}
	}
	broken := isBroken(&t.state.DaemonSet.Spec.Template.Spec)
	switch step := st.Sync(); {
	case step.Reason == daemonset.StepOnDelete:
		return endOnDelete, unfinished(st, false)
	case step.Reason == daemonset.StepUpToDate:
		return rolledOut, unfinished(st, true)
	case (broken || st.Desired == 0) && (step.Reason == daemonset.StepBudgetSpent || step.Reason == daemonset.StepWaiting):
		return stuck, nil
	default:
		return "", []string{fmt.Sprintf("stuck: %s, budget %+v", step.Reason, st.Budget)}
	}
}

// unfinished returns the nodes that are not as a rollout leaves them: with one pod that is updated
// and, unless its image is broken, available if the pod should run there, and with none if it may
// not stay.
func unfinished(st *daemonset.State, updated bool) []string {
	var lines []string
	for i := range st.Nodes {
		n := &st.Nodes[i]
		switch {
		case !n.MayStay.OK && len(n.Pods) > 0:
			lines = append(lines, fmt.Sprintf("node %s: at the end %d pods that may not stay", n.Name, len(n.Pods)))
		case !n.ShouldRun.OK:
		case len(n.Pods) != 1:
			lines = append(lines, fmt.Sprintf("node %s: at the end %d pods", n.Name, len(n.Pods)))
		case updated && !n.Pods[0].Updated:
			lines = append(lines, fmt.Sprintf("node %s: at the end pod %s is old", n.Name, n.Pods[0].Name))
		case !isBroken(&n.Pods[0].Object.Spec) && !n.Pods[0].Available.OK:
			lines = append(lines, fmt.Sprintf("node %s: at the end pod %s is not available", n.Name, n.Pods[0].Name))
		}
	}
	return lines
}

// laws checks that a rolling update makes no more nodes unavailable than its budget allows, and
// lets no more nodes surge than maxSurge. before is what the sync saw; the cluster holds the
// result.
func (t *trace) laws(before *daemonset.State) ([]string, error) {
	if before.Sync().Kind != daemonset.StepRollingUpdate {
		return nil, nil
	}
	after, err := daemonset.New(t.world.snapshot(), t.profile)
	if err != nil {
		return nil, err
	}
	was, is, limit := unavailable(before), unavailable(after), before.Budget.MaxUnavailable
	if most := before.Budget.MaxSurge; most > 0 {
		limit = 0 // a surge makes no node unavailable
		if was, is := surging(before), surging(after); is > max(was, most) {
			return []string{fmt.Sprintf("%d nodes surge, %d did before: more than maxSurge %d", is, was, most)}, nil
		}
	}
	if t.profile.RollingUpdateV2 && !t.profile.OldUnavailableInBudget {
		limit += oldUnavailable(before) // #123232: these are not counted
	}
	if is > max(was, limit) {
		return []string{fmt.Sprintf("%d nodes are unavailable, %d were before: more than %d", is, was, limit)}, nil
	}
	return nil, nil
}

func oldUnavailable(st *daemonset.State) int {
	count := 0
	for i := range st.Nodes {
		if st.Nodes[i].Slot == daemonset.SlotOldUnavailable {
			count++
		}
	}
	return count
}

// unavailable returns the number of nodes that should run the pod and have no available one that
// stays.
func unavailable(st *daemonset.State) int {
	count := 0
	for i := range st.Nodes {
		n := &st.Nodes[i]
		if n.ShouldRun.OK && !slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return p.Available.OK && !p.Terminating }) {
			count++
		}
	}
	return count
}

// surging returns the number of nodes with an available old pod and a pod that is not available.
func surging(st *daemonset.State) int {
	count := 0
	for i := range st.Nodes {
		staying := slices.DeleteFunc(slices.Clone(st.Nodes[i].Pods), func(p daemonset.Pod) bool { return p.Terminating })
		old := slices.ContainsFunc(staying, func(p daemonset.Pod) bool { return !p.Updated && p.Available.OK })
		fresh := slices.ContainsFunc(staying, func(p daemonset.Pod) bool { return p.Updated && !p.Available.OK })
		if old && fresh {
			count++
		}
	}
	return count
}

// wrote applies the writes of a sync, except for deleted pods, and sets the next events.
func (c *cluster) wrote(r *wire.Run) error {
	defer c.plan()
	return c.store.wrote(r)
}

// begins reports whether a trace can begin with a random state: not being deleted, with limits that
// the API server of the version accepts, and without hundreds of nodes, whose rollout would take
// minutes.
func begins(s *snapshot.Snapshot, profile daemonset.Profile) bool {
	ds := s.DaemonSet
	if ds.DeletionTimestamp != nil || len(s.Nodes) >= 100 {
		return false
	}
	ru := ds.Spec.UpdateStrategy.RollingUpdate
	if ru == nil {
		return true
	}
	passes := func(v *intstr.IntOrString) bool {
		_, err := intstr.GetScaledValueFromIntOrPercent(v, 100, true)
		return err == nil
	}
	zero := ru.MaxUnavailable != nil && (ru.MaxUnavailable.String() == "0" || ru.MaxUnavailable.String() == "0%")
	return passes(ru.MaxUnavailable) && (ru.MaxSurge == nil || passes(ru.MaxSurge)) && (profile.RollingUpdateV2 || !zero)
}
