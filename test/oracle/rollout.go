package oracle

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller/wire"
)

// recording is a rollout of a real controller from its beginning to its end, as repeated snapshots.
type recording struct {
	scene *scene
	shots []*snapshot.Snapshot // at equal intervals
	began time.Time
	ended time.Time // when all pods were available and no old ones were left, or when nothing happened any more
	left  int       // old pods at the end
	lacks []string  // nodes that should run the pod and have no available one at the end

	stood bool // the controller paused until something else happened

	// since when there has been a pod that never becomes available, or zero
	trouble time.Time
}

// stalls reports whether the rollout ends without completing.
func (r *recording) stalls() bool { return r.left > 0 }

// rolling is a recording in progress: a simulated cluster with the real controller. Future events
// are in a list sorted by time. The controller syncs when an event changed something that it
// watches, and when it requested a sync.
type rolling struct {
	store
	*scene
	program *Program
	coming  []*happening
	seq     int
	first   bool      // the controller has not synced yet
	look    time.Time // next sync requested by the controller; zero: none
	next    time.Time // when its client's bucket of requests would be full again
	rolls   bool      // the recorded rollout has begun

	lifetimes map[string]lifetime
	has       map[string]bool // node and image: the image is present
	dead      map[string]bool // nodes whose kubelet does not respond
	running   map[string]bool // pods with a running container
	tellers   map[string]*record.EventCorrelator
	moved     time.Time // when a pod was last created, became ready, was deleted or disappeared
	news      bool      // something happened that the controller watches

	woken       bool // wake is the only news
	failures    int  // consecutive failed syncs
	nodesToCome int  // remaining changes of nodes
	took        recording
}

// happening is a future event. If it is about a pod, it is dropped if the pod no longer exists.
type happening struct {
	at    time.Time
	seq   int
	pod   types.UID
	moves bool // the controller watches it
	do    func()
}

// roll records the rollout of a scene by the newest controller.
func roll(p *Program, s *scene) (*recording, error) {
	r := newRolling(p, s)
	if err := r.until(r.done); err != nil {
		return nil, fmt.Errorf("the first revision: %w", err)
	}
	if !r.done() {
		return nil, errors.New("the first revision was not rolled out")
	}
	r.now.TakenAt = r.now.TakenAt.Add(seconds(3600 + 2e5*s.drawn("rest").Float64()))
	r.change("example.com/agent:2")
	r.rolls = true
	if s.trouble == heldForHours {
		if err := r.hold(); err != nil {
			return nil, err
		}
	}
	r.took = recording{scene: s, began: r.now.TakenAt}
	r.troubleNodes()
	r.shoot(max(1, r.guess()/200))
	r.wake()
	err := r.until(func() bool { return r.nodesToCome == 0 && r.done() })
	r.end()
	return &r.took, err
}

// newRolling returns a cluster with a DaemonSet that was just created.
func newRolling(p *Program, s *scene) *rolling {
	r := &rolling{
		scene: s, program: p, first: true, lifetimes: map[string]lifetime{}, has: map[string]bool{}, dead: map[string]bool{},
		running: map[string]bool{}, tellers: map[string]*record.EventCorrelator{},
	}
	start := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC).Add(seconds(1e5 * s.drawn("when").Float64()))
	labels := map[string]string{"app": dstest.Name}
	ten := int32(10)
	container := corev1.Container{Name: "agent", Image: "example.com/agent:1", ImagePullPolicy: corev1.PullIfNotPresent}
	if s.period > 0 {
		container.ReadinessProbe = &corev1.Probe{PeriodSeconds: int32(s.period), FailureThreshold: 3, SuccessThreshold: 1, TimeoutSeconds: 1}
	}
	grace := s.grace
	r.now = snapshot.Snapshot{
		TakenAt: start, KubernetesVersion: dstest.Newest, VersionSource: snapshot.VersionServer,
		DaemonSet: &appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Name: dstest.Name, Namespace: "kube-system", UID: "ds", Generation: 1, CreationTimestamp: metav1.NewTime(start.Truncate(time.Second)),
				Annotations: map[string]string{appsv1.DeprecatedTemplateGeneration: "1"}},
			Spec: appsv1.DaemonSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels}, RevisionHistoryLimit: &ten, MinReadySeconds: s.minReady,
				UpdateStrategy: r.strategy(),
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec: corev1.PodSpec{
						TerminationGracePeriodSeconds: &grace, RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{container},
					},
				},
			},
		},
	}
	for i := range s.nodes {
		r.addNode(fmt.Sprintf("worker-%02d", i+1), start.Add(-seconds(1e6)), true)
	}
	return r
}

func (r *rolling) strategy() appsv1.DaemonSetUpdateStrategy {
	return appsv1.DaemonSetUpdateStrategy{
		Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &r.maxUnavailable, MaxSurge: &r.maxSurge},
	}
}

// change sets another image in the template, as the API server does it.
func (r *rolling) change(image string) {
	ds := r.now.DaemonSet.DeepCopy()
	ds.Spec.Template.Spec.Containers[0].Image = image
	ds.Generation++
	ds.Annotations[appsv1.DeprecatedTemplateGeneration] = fmt.Sprint(ds.Generation)
	r.now.DaemonSet = ds
}

// hold pauses the rollout about halfway for some hours with OnDelete, and then resumes it. So there
// are pods of both revisions and no old events.
func (r *rolling) hold() error {
	most := max(1, len(r.now.Pods)/2)
	halfway := func() bool {
		fresh := 0
		for i := range r.now.Pods {
			if r.isNew(&r.now.Pods[i]) {
				fresh++
			}
		}
		return fresh >= most
	}
	if err := r.until(halfway); err != nil {
		return fmt.Errorf("until it is held: %w", err)
	}
	set := func(u appsv1.DaemonSetUpdateStrategy) {
		ds := r.now.DaemonSet.DeepCopy()
		ds.Spec.UpdateStrategy, ds.Generation = u, ds.Generation+1
		r.now.DaemonSet = ds
	}
	set(appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType})
	if err := r.until(func() bool { return false }); err != nil {
		return fmt.Errorf("while it is held: %w", err)
	}
	r.now.TakenAt = r.now.TakenAt.Add(3 * time.Hour)
	set(r.strategy())
	return nil
}

// until advances time and lets the controller sync until holds is true after a sync, or until
// nothing has happened to a pod for so long that nothing will.
func (r *rolling) until(holds func() bool) error {
	quiet := seconds(max(1800, 20*r.slow(), 3*float64(r.grace)) + 2*float64(r.minReady))
	r.moved, r.news = r.now.TakenAt, true
	for r.now.TakenAt.Sub(r.moved) <= quiet || r.nodesToCome > 0 {
		if r.news {
			r.news = false
			if err := r.settle(); err != nil {
				return err
			}
			if holds() {
				return nil
			}
		}
		looks := !r.look.IsZero() && (len(r.coming) == 0 || r.look.Before(r.coming[0].at))
		switch {
		case looks:
			r.now.TakenAt, r.look, r.news = later(r.now.TakenAt, r.look), time.Time{}, true
			continue
		case len(r.coming) == 0:
			return nil
		}
		h := r.coming[0]
		r.coming, r.now.TakenAt = r.coming[1:], later(r.now.TakenAt, h.at)
		if h.pod == "" || r.pod(h.pod) != nil {
			h.do()
		}
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// in schedules an event after some seconds. An event about a pod is dropped if the pod no longer
// exists.
func (r *rolling) in(after float64, pod types.UID, do func()) *happening {
	r.seq++
	h := &happening{at: r.now.TakenAt.Add(seconds(after)).Truncate(time.Millisecond), seq: r.seq, pod: pod, do: do}
	i, _ := slices.BinarySearchFunc(r.coming, h, func(a, b *happening) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return a.seq - b.seq
	})
	r.coming = slices.Insert(r.coming, i, h)
	return h
}

// settle lets the controller sync until it has nothing to write.
func (r *rolling) settle() error {
	for range 200 {
		how := wire.TraceNext
		if r.first {
			how = wire.TraceFirst
		}
		a, err := r.program.Follow(&r.now, how)
		if err != nil {
			return err
		}
		r.first = false
		run := &a.Runs[0]
		if err := r.apply(run); err != nil {
			return err
		}
		if run.Error != "" { // the queue retries with growing back-off
			r.failures++
			r.lookAfter(min(1000, 0.005*math.Pow(2, float64(r.failures-1))))
			return nil
		}
		r.failures = 0
		if wroteAnything(run) && r.woken {
			r.took.stood = true
		}
		r.woken = false
		if s := r.now.DaemonSet.Status; r.minReady > 0 && s.NumberReady != s.NumberAvailable {
			r.lookAfter(float64(r.minReady))
		}
		if !wroteAnything(run) && run.Status == nil {
			return nil
		}
	}
	return errors.New("the controller does not come to rest")
}

// lookAfter requests a sync of the controller. Of two times, its queue keeps the earlier one.
func (r *rolling) lookAfter(after float64) {
	if at := r.now.TakenAt.Add(seconds(after)); r.look.IsZero() || at.Before(r.look) {
		r.look = at
	}
}

// wake makes the controller sync if nothing has happened to a pod for a minute and nothing is
// scheduled, like an unrelated change in the cluster would. Without it, the controller can pause
// when nothing informs it that a pod has become available, as with maxSurge and minReadySeconds.
func (r *rolling) wake() {
	r.in(60, "", func() {
		idle := r.look.IsZero() && r.now.TakenAt.Sub(r.moved) > time.Minute
		if idle && !slices.ContainsFunc(r.coming, func(h *happening) bool { return h.moves && r.pod(h.pod) != nil }) {
			r.woken, r.news = true, true
		}
		r.wake()
	})
}

// apply performs the controller's requests as fast as its client allows: 30 at once, then 20 a
// second.
func (r *rolling) apply(run *wire.Run) error {
	before := len(r.now.Pods)
	if run.Status != nil {
		r.now.DaemonSet = r.now.DaemonSet.DeepCopy()
		r.request()
	}
	if err := r.wrote(run); err != nil {
		return err
	}
	r.now.DaemonSet.Status.NumberUnavailable = r.now.DaemonSet.Status.DesiredNumberScheduled - r.now.DaemonSet.Status.NumberAvailable
	for i := before; i < len(r.now.Pods); i++ {
		r.request()
		r.born(i)
	}
	slices.Sort(run.Deletes)
	for _, name := range run.Deletes {
		r.request()
		r.ends(name)
	}
	return nil
}

// request waits until the client may send a request.
func (r *rolling) request() {
	const interval, burst = 50 * time.Millisecond, 30
	if r.next.Before(r.now.TakenAt) {
		r.next = r.now.TakenAt
	}
	if out := r.next.Add(-interval * (burst - 1)); out.After(r.now.TakenAt) {
		r.now.TakenAt = out
	}
	r.next = r.next.Add(interval)
}

// guess returns the approximate duration of the rollout of a scene.
func (r *rolling) guess() float64 {
	st, err := newState(&r.now)
	if err != nil || st.Limit() == 0 {
		return 600
	}
	waves := math.Ceil(float64(st.Desired) / float64(st.Limit()))
	return waves * (r.start + r.pull + float64(r.minReady) + 2)
}

// shoot takes a snapshot now and again at intervals. If there are many, it drops every second one.
func (r *rolling) shoot(every float64) {
	const most = 160
	if len(r.took.shots) == most {
		var half []*snapshot.Snapshot
		for i := 0; i < most; i += 2 {
			half = append(half, r.took.shots[i])
		}
		r.took.shots, every = half, 2*every
	}
	r.took.shots = append(r.took.shots, r.seen())
	r.in(every, "", func() { r.shoot(every) })
}

// seen returns what kubectl ds reads.
func (r *rolling) seen() *snapshot.Snapshot {
	s := r.now
	s.DaemonSet = r.now.DaemonSet.DeepCopy()
	s.Pods, s.Nodes, s.Revisions = slices.Clone(s.Pods), slices.Clone(s.Nodes), slices.Clone(s.Revisions)
	s.Events = nil
	if r.blind {
		s.Gaps = append(slices.Clone(s.Gaps), snapshot.Gap{What: snapshot.Events, Why: snapshot.Forbidden, Message: "events is forbidden"})
		return &s
	}
	troubled := map[types.UID]bool{}
	for i := range s.Pods {
		_, ready := readySince(&s.Pods[i])
		troubled[s.Pods[i].UID] = !ready || s.Pods[i].DeletionTimestamp != nil
	}
	for _, e := range r.now.Events {
		if s.TakenAt.Sub(e.LastTimestamp.Time) < time.Hour && (e.InvolvedObject.UID == s.DaemonSet.UID || e.Type == corev1.EventTypeWarning && troubled[e.InvolvedObject.UID]) {
			s.Events = append(s.Events, e)
		}
	}
	slices.SortFunc(s.Events, func(a, b corev1.Event) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return &s
}

// isNew reports whether a pod has the current image of the template.
func (r *rolling) isNew(p *corev1.Pod) bool {
	return p.Spec.Containers[0].Image == r.now.DaemonSet.Spec.Template.Spec.Containers[0].Image
}

// done reports whether every node that should run the pod has an available one of the current
// template, and no other pods are left.
func (r *rolling) done() bool {
	st, err := newState(&r.now)
	if err != nil {
		return false
	}
	old, lacks := rest(st)
	terminating := slices.ContainsFunc(r.now.Pods, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
	return old == 0 && len(lacks) == 0 && !terminating
}

// rest returns the number of old pods that the rollout deletes, and the nodes that should run the
// pod and have no updated and available one.
func rest(st *daemonset.State) (old int, lacks []string) {
	for i := range st.Nodes {
		n := &st.Nodes[i]
		fine := false
		for _, p := range n.Pods {
			fine = fine || p.Updated && p.Available.OK && !p.Terminating
			if !p.Updated && !p.Terminating && n.MayStay.OK {
				old++
			}
		}
		if n.ShouldRun.OK && !fine {
			lacks = append(lacks, n.Name)
		}
	}
	return old, lacks
}

// end sets how the rollout ended: when the status counted every pod as available or, if it never
// did, when nothing happened any more.
func (r *rolling) end() {
	st, err := newState(&r.now)
	if err != nil {
		return
	}
	r.took.left, r.took.lacks = rest(st)
	r.took.ended = r.moved
	if r.done() { // detected after a sync
		r.took.ended = r.now.TakenAt
	} else {
		r.standing(st)
	}
	r.took.shots = slices.DeleteFunc(r.took.shots, func(s *snapshot.Snapshot) bool {
		return s.TakenAt.After(r.took.ended) && !r.took.stalls() && len(r.took.lacks) == 0
	})
}

// unreadySince returns when a pod that is not ready became so, or when this was first reported.
func unreadySince(p *corev1.Pod) (at time.Time) {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue {
			at = c.LastTransitionTime.Time
		}
	}
	return at
}

// standing returns since when there has been a pod that does not become available, and when the
// last of the other pods became available.
func (r *rolling) standing(st *daemonset.State) {
	for i := range st.Nodes {
		for _, p := range st.Nodes[i].Pods {
			switch {
			case !p.Updated || p.Terminating:
			case p.Available.OK:
				if since, ready := readySince(p.Object); ready {
					r.took.ended = later(r.took.ended, since.Add(time.Duration(r.minReady)*time.Second))
				}
			default:
				if at := later(p.Object.CreationTimestamp.Time, unreadySince(p.Object)); r.took.trouble.IsZero() || at.Before(r.took.trouble) {
					r.took.trouble = at
				}
			}
		}
	}
}
