package e2e

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// rollout is a change to the DaemonSet's template and the state of the cluster.
type rollout struct {
	name               string
	unavailable, surge string // as in the API; "" is 0
	minReadySeconds    int32

	dead     []string // dead nodes
	notReady []string // nodes that report themselves as not ready
	tolerate bool     // the pods tolerate every taint
	pool     string   // node selector of the pods: half of the nodes are in pool-a, the others in pool-b

	image   string // of the new template; "" is a new one
	halfway string // the image that replaces it when half of the pods are updated

	stalls  bool
	unknown bool // pods fail at the beginning, and nothing shows yet that those of its template work
}

// Images with a meaning for the kubelets.
const (
	broken   = "acme/node-agent:broken" // crashes on start
	previous = "previous"               // what the pods ran before the rollout
	another  = "another"                // a new one
)

// sequences are the rollouts of TestPlanComesTrue. Each sequence has its own control plane.
var sequences = []struct {
	name     string
	rollouts []rollout
}{
	{"one node at a time", []rollout{
		{name: "maxUnavailable 1", unavailable: "1"},
		{name: "maxUnavailable 100%", unavailable: "100%"},
	}},
	{"several nodes at a time", []rollout{
		{name: "maxUnavailable 3", unavailable: "3"},
		{name: "maxUnavailable 10%", unavailable: "10%"},
		{name: "maxUnavailable 12, minReadySeconds 2", unavailable: "12", minReadySeconds: 2},
		{name: "a rollback half-way", unavailable: "3", halfway: previous},
		{name: "a second change half-way", unavailable: "10%", halfway: another},
	}},
	{"surging", []rollout{
		// First: the controller keeps one time of its next sync. If minReadySeconds is raised
		// together with the template, it can be too early for the new pods, and if the other pods
		// are available, it sets no other.
		{name: "maxSurge 50%, minReadySeconds 2", surge: "50%", minReadySeconds: 2},
		{name: "maxSurge 1", surge: "1"},
		{name: "maxSurge 20%", surge: "20%"},
		{name: "a rollback half-way, maxSurge 20%", surge: "20%", halfway: previous},
	}},
	{"nodes", []rollout{
		{name: "onto one half of the nodes", unavailable: "3", pool: "a"},
		{name: "onto the other half", unavailable: "3", pool: "b"},
		{name: "onto all nodes", unavailable: "10%"},
		{name: "two not-ready nodes", unavailable: "20%", notReady: []string{"node-03", "node-17"}},
	}},
	{"what stands still", []rollout{
		{name: "two dead nodes of six allowed", unavailable: "6", dead: []string{"node-05", "node-30"}, tolerate: true, stalls: true},
		{name: "the same two of two allowed", unavailable: "2", dead: []string{"node-05", "node-30"}, tolerate: true, stalls: true},
		{name: "crash-looping new pods", unavailable: "3", image: broken, stalls: true},
		{name: "back from crash-looping pods", unavailable: "20%", unknown: true},
		{name: "crash-looping new pods, maxSurge 2", surge: "2", image: broken, stalls: true},
		{name: "back from those, maxSurge 20%", surge: "20%"},
	}},
}

// run is a completed rollout.
type run struct {
	*rollout
	from, to int64              // versions between which it happened
	changed  event              // last change to the template: halfway or at the beginning
	start    *snapshot.Snapshot // state just after that change, from which the plan is made
	ended    time.Time          // when the last pod became available, or the last event before it was stuck
	stalled  bool
}

// took returns the duration of the rollout.
func (u *run) took() time.Duration { return u.ended.Sub(u.changed.seen) }

// outcome returns how the rollout ended, in words.
func (u *run) outcome() string {
	word := "completed"
	if u.stalled {
		word = "stalled"
	}
	return fmt.Sprintf("%s after %.1fs", word, u.took().Seconds())
}

// TestPlanComesTrue records rollouts and compares each batch of the controller, which is what one
// sync wrote, with the prediction for the state that the controller saw.
//
// The controller's log shows what it saw, and the record shows how long the pods took, so the
// result does not depend on the load of the machine.
func TestPlanComesTrue(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	all, noticed := &score{name: "all"}, map[string]bool{}
	t.Run("rollouts", func(t *testing.T) {
		for _, s := range sequences {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				score, rules := comeTrue(t, s.rollouts)
				mu.Lock()
				defer mu.Unlock()
				all.merge(score)
				for name, yes := range rules {
					noticed[name] = noticed[name] || yes
				}
			})
		}
	})
	t.Log(all)
	all.enough(t)
	for name := range brokenRules {
		if !noticed[name] {
			t.Errorf("nobody would notice if %s", name)
		}
	}
}

// comeTrue performs the rollouts and compares them. It returns the number of compared batches and
// which broken rules would have been detected.
func comeTrue(t *testing.T, rollouts []rollout) (*score, map[string]bool) {
	t.Helper()
	ctx := t.Context()
	c := stage.New(t, stage.Options{LogSyncs: true})
	nodes := stage.Nodes(36, "node-%02d")
	for i, node := range nodes {
		node.Labels["pool"] = string("ab"[i%2])
	}
	must(t, c.AddNodes(ctx, nodes...))
	must(t, c.SetRules(ctx, stage.Rule{Image: broken, Behave: stage.Crash}))
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1")
	ds.Spec.MinReadySeconds = rollouts[0].minReadySeconds
	ds.Spec.Template.Annotations = map[string]string{
		stage.ReadyAfter: "500ms", stage.ReadyBefore: "1100ms", stage.StopAfter: "200ms", stage.StopBefore: "800ms",
	}
	must(t, c.CreateNamespace(ctx, ds.Namespace))
	r := newRecord(t, c, ds.Namespace)
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))

	var runs []*run
	for i := range rollouts {
		runs = append(runs, roll(t, c, r, ds, &rollouts[i], i+2))
	}
	catchUp(t, c, r, ds)
	r.hear(t, c, ds.Namespace)
	found, all, noticed := compareBatches(t, c, r, ds, runs)
	compareOutcomes(t, r, runs, found)
	return all, noticed
}

// roll performs a rollout and waits for its end. number makes its image unique.
func roll(t *testing.T, c *stage.Cluster, r *record, ds *appsv1.DaemonSet, ro *rollout, number int) *run {
	t.Helper()
	ctx := t.Context()
	prepareNodes(t, c, ds, ro)
	u := &run{rollout: ro, from: r.newest() + 1}
	before := r.latest().DaemonSet.Spec.Template.Spec.Containers[0].Image
	fresh := func(name string) string { return fmt.Sprintf("acme/node-agent:%d%s", number, name) }

	must(t, c.Update(ctx, ds.Namespace, ds.Name, func(ds *appsv1.DaemonSet) {
		unavailable, surge := intstr.Parse(cmp.Or(ro.unavailable, "0")), intstr.Parse(cmp.Or(ro.surge, "0"))
		ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &unavailable, MaxSurge: &surge}
		ds.Spec.MinReadySeconds = ro.minReadySeconds
		pod := &ds.Spec.Template.Spec
		pod.Containers[0].Image = cmp.Or(ro.image, fresh(""))
		pod.NodeSelector, pod.Tolerations = nil, nil
		if ro.pool != "" {
			pod.NodeSelector = map[string]string{"pool": ro.pool}
		}
		if ro.tolerate {
			pod.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}
	}))
	if ro.halfway != "" {
		must(t, c.WaitDaemonSet(ctx, ds.Namespace, ds.Name, "half rolled out", func(ds *appsv1.DaemonSet) bool {
			return 2*ds.Status.UpdatedNumberScheduled >= ds.Status.DesiredNumberScheduled
		}))
		image := map[string]string{previous: before, another: fresh("-another")}[ro.halfway]
		must(t, c.SetImage(ctx, ds.Namespace, ds.Name, image))
	}
	u.changed = lastChange(t, c, r, ds)
	u.start = r.replay(r.until(u.changed.version+1), u.changed.seen)
	u.ended, u.stalled = end(t, c, r)
	u.to = r.newest() + 1
	if u.stalled != ro.stalls {
		t.Fatalf("%s: stalled: %t\n%+v", ro.name, u.stalled, r.latest().DaemonSet.Status)
	}
	return u
}

// prepareNodes changes the nodes for the rollout and waits for the consequences.
func prepareNodes(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet, ro *rollout) {
	t.Helper()
	ctx := t.Context()
	list, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	must(t, err)
	var dead, notReady []string
	for _, node := range list.Items {
		if node.Labels[stage.DeadLabel] == "true" {
			dead = append(dead, node.Name)
		}
		if node.Labels[stage.NotReadyLabel] == "true" {
			notReady = append(notReady, node.Name)
		}
	}
	for _, change := range []struct {
		now, wanted []string
		do, undo    func(context.Context, ...string) error
	}{
		{dead, ro.dead, c.KillNodes, c.ReviveNodes},
		{notReady, ro.notReady, c.UnreadyNodes, c.ReadyNodes},
	} {
		if slices.Equal(change.now, change.wanted) {
			continue
		}
		if len(change.now) > 0 {
			must(t, change.undo(ctx, change.now...))
			must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
		}
		if len(change.wanted) > 0 {
			must(t, change.do(ctx, change.wanted...))
		}
	}
}

// lastChange waits until the record contains the current DaemonSet and returns the event of its
// generation.
func lastChange(t *testing.T, c *stage.Cluster, r *record, ds *appsv1.DaemonSet) event {
	t.Helper()
	now, err := c.Client.AppsV1().DaemonSets(ds.Namespace).Get(t.Context(), ds.Name, metav1.GetOptions{})
	must(t, err)
	must(t, c.WaitFor(t.Context(), "the record to catch up", func(context.Context) (bool, error) {
		return r.seen("daemonset", versionOf(t, now)), nil
	}))
	events := r.ordered()
	i := slices.IndexFunc(events, func(e event) bool { return e.kind == "daemonset" && e.object.GetGeneration() == now.Generation })
	return events[i]
}

// end waits until the rollout has ended: all pods are updated and available and the status says so,
// or nothing is predicted and nothing has happened for long.
func end(t *testing.T, c *stage.Cluster, r *record) (at time.Time, stalled bool) {
	t.Helper()
	const quiet = 3 * time.Second // a crashing pod restarts five times, at most 1.5 s apart: see stage
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	must(t, c.WaitFor(ctx, "the rollout to end", func(context.Context) (bool, error) {
		events := r.ordered()
		at = events[len(events)-1].seen
		if time.Since(at) < 300*time.Millisecond { // in progress: leave the processor to it
			return false, nil
		}
		s := r.replay(events, time.Now())
		st := predict(t, s)
		step := st.Sync()
		switch {
		case step.Kind != daemonset.StepNone:
			return false, nil
		case completed(st, step):
			at, stalled = availableSince(st, events), false
			return true, nil
		default:
			stalled = true
			return time.Since(at) > quiet+time.Duration(s.DaemonSet.Spec.MinReadySeconds)*time.Second, nil
		}
	}))
	return at, stalled
}

// completed reports whether the rollout has completed and the controller knows it.
func completed(st *daemonset.State, step daemonset.Step) bool {
	counts, _ := st.Counts()
	return step.Reason == daemonset.StepUpToDate && counts.Available == st.Desired && counts.Updated == st.Desired &&
		counts == daemonset.Reported(st.DaemonSet) && st.DaemonSet.Status.ObservedGeneration == st.DaemonSet.Generation
}

// availableSince returns when the last pod became available: when the record received the event, or
// when it had been ready for minReadySeconds, in whole seconds.
func availableSince(st *daemonset.State, events []event) time.Time {
	var last time.Time
	for _, e := range events {
		if e.kind == "pod" {
			last = e.seen
		}
	}
	if st.DaemonSet.Spec.MinReadySeconds == 0 {
		return last
	}
	for _, n := range st.Nodes {
		for _, p := range n.Pods {
			if p.AvailableAt != nil && p.AvailableAt.After(last) {
				last = *p.AvailableAt
			}
		}
	}
	return last
}

// compareBatches compares every batch with the prediction. It returns the batches, their score, and
// the broken rules that a batch contradicts.
func compareBatches(t *testing.T, c *stage.Cluster, r *record, ds *appsv1.DaemonSet, runs []*run) (found []batch, all *score, noticed map[string]bool) {
	t.Helper()
	log, err := c.AuditLog(t.Context())
	must(t, err)
	syncs, err := c.Syncs(ds.Namespace, ds.Name)
	must(t, err)
	found, idle, waited := batches(t, r, log, syncs)

	parts := []*score{{name: "the DaemonSet is created"}}
	for _, u := range runs {
		parts = append(parts, &score{name: u.name, from: u.from, outcome: u.outcome(), none: u.stalled})
		if len(u.dead)+len(u.notReady) > 0 {
			parts = append(parts, &score{name: "… and when the nodes are back", from: u.to, none: true})
		}
	}
	all, second := &score{name: "together"}, 0
	for _, b := range found {
		part := parts[0]
		for _, p := range parts {
			if p.from <= b.version {
				part = p
			}
		}
		m := b.explain(t, r, predict)
		part.add(b, m)
		all.add(b, m)
		if b.second {
			second++
		}
		if m == wrong {
			t.Errorf("%s: a batch that was not predicted: %s", part.name, b.describe(t, r))
		}
	}
	for _, p := range append(parts, all) {
		t.Log(p)
		if p.total() == 0 && !p.none {
			t.Errorf("%s: no batch", p.name)
		}
	}
	t.Logf("%d syncs: %d wrote nothing, %d waited to see what an earlier one wrote, in %d manage and the rolling update both wrote", len(syncs), idle, waited, second)
	noticed = map[string]bool{}
	for name, rule := range brokenRules {
		noticed[name] = slices.ContainsFunc(found, func(b batch) bool { return b.explain(t, r, rule) == wrong })
	}
	return found, all, noticed
}
