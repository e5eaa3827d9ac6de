// Command age gives the recorded examples realistic times. A recording takes seconds; in a real
// incident the nodes are weeks old and the rollout has been stuck for a while.
//
//	go run ./test/age examples
//
// Only times change, and what follows from them: restart counts, repeated and expired events. The
// DaemonSet's manager becomes kubectl. The order of events and the controller's decisions stay as
// recorded. The result is deterministic.
package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

const day = 24 * time.Hour

// story holds the ages of what a recording shows.
type story struct {
	nodes     time.Duration   // when the nodes were created
	revisions []time.Duration // when each revision was created; empty: revisions and pods keep their times
	newPods   []time.Duration // when the pods of the last revision were created, in recorded order; a single value applies to all
	broken    time.Duration   // when nodes became NotReady
	cordoned  time.Duration   // when nodes were cordoned
	status    time.Duration   // when the status was last written
	restarts  int32           // of a crashing container
	crashed   time.Duration   // last crash
	repeats   int32           // of each warning; the last one is recent
}

var stories = map[string]story{
	"crash-loop.json":     {nodes: 61 * day, revisions: ages(33*day, 14*time.Minute+20*time.Second), newPods: ages(14*time.Minute + 10*time.Second), status: 14 * time.Minute, restarts: 6, crashed: 3*time.Minute + 40*time.Second, repeats: 57},
	"create-refused.json": {nodes: 61 * day, revisions: ages(12*time.Minute + 10*time.Second), status: 12 * time.Minute, repeats: 18},
	"history.json":        {nodes: 121 * day, status: 11*time.Minute + 50*time.Second},
	"image-pull.json":     {nodes: 61 * day, revisions: ages(47*day, 12*time.Minute+20*time.Second), newPods: ages(12*time.Minute + 10*time.Second), status: 12 * time.Minute, repeats: 6},
	"min-ready.json":      {nodes: 61 * day, revisions: ages(19*day, 40*time.Second), newPods: ages(28*time.Second, 27*time.Second), status: 18 * time.Second},
	"on-delete.json":      {nodes: 61 * day, revisions: ages(40*day, 2*day), newPods: ages(46*time.Hour, 45*time.Hour, 44*time.Hour), status: 44*time.Hour - 10*time.Second},
	"pending.json":        {nodes: 61 * day, revisions: ages(18 * time.Minute), status: 18*time.Minute - 10*time.Second},
	"settled.json":        {nodes: 61 * day, revisions: ages(33 * day), broken: 12 * time.Minute, cordoned: 2 * time.Hour, status: 12 * time.Minute},
	"stuck-rollout.json":  {nodes: 61 * day, revisions: ages(33*day, 3*time.Hour), broken: 5 * time.Hour, status: 3 * time.Hour},
	"surge.json": {nodes: 61 * day, revisions: ages(26*day, 8*time.Minute), status: 7*time.Minute + 5*time.Second, repeats: 42,
		newPods: ages(477*time.Second, 477*time.Second, 464*time.Second, 464*time.Second, 440*time.Second, 440*time.Second)},
}

func ages(of ...time.Duration) []time.Duration { return of }

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: age FOLDER")
		os.Exit(2)
	}
	for name, st := range stories {
		if err := rewrite(filepath.Join(os.Args[1], name), st); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	}
}

func rewrite(file string, st story) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s, err := snapshot.Decode(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if raw, err = snapshot.Encode(st.tell(s)); err != nil {
		return err
	}
	return os.WriteFile(file, raw, 0o644)
}

// tell returns the Snapshot with the times of the story.
func (st story) tell(s *snapshot.Snapshot) *snapshot.Snapshot {
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(s.TakenAt.Add(-d).Truncate(time.Second)) }
	st.ageNodes(s, ago)
	created := st.ageRevisions(s, ago)
	down := map[string]bool{}
	for i := range s.Nodes {
		down[s.Nodes[i].Name] = ready(&s.Nodes[i]).Status != corev1.ConditionTrue
	}
	pods := map[string]metav1.Time{}
	for i := range s.Pods {
		p := &s.Pods[i]
		at := p.CreationTimestamp
		if c, ok := created[p.Labels["controller-revision-hash"]]; ok {
			at = c[p.Name]
		}
		st.agePod(p, at, down[p.Spec.NodeName], ago)
		pods[p.Name] = at
	}
	s.Events = st.events(s, pods, ago)
	return s
}

// ageNodes sets the ages of nodes, conditions older than anything except the failure, and
// heartbeats at intervals of five minutes.
func (st story) ageNodes(s *snapshot.Snapshot, ago func(time.Duration) metav1.Time) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		age := st.nodes + spread(n.Name, 90*time.Minute)
		n.CreationTimestamp = ago(age)
		for j := range n.Status.Conditions {
			c := &n.Status.Conditions[j]
			c.LastTransitionTime, c.LastHeartbeatTime = ago(age-40*time.Second), ago(5*time.Second+spread(n.Name, 290*time.Second))
			switch {
			case c.Status == corev1.ConditionUnknown: // the kubelet no longer reports
				c.LastTransitionTime, c.LastHeartbeatTime = ago(st.broken), ago(st.broken+50*time.Second)
			case c.Type == corev1.NodeReady && c.Status == corev1.ConditionFalse:
				c.LastTransitionTime = ago(st.broken)
			}
		}
		for j := range n.Spec.Taints {
			t := &n.Spec.Taints[j]
			if t.TimeAdded == nil {
				continue
			}
			at := ago(st.broken)
			if t.Key == corev1.TaintNodeUnschedulable {
				at = ago(st.cordoned)
			}
			t.TimeAdded = &at
		}
	}
}

// ageRevisions sets the ages of the revisions and the DaemonSet. It returns the creation times of
// the pods of each hash, by name.
func (st story) ageRevisions(s *snapshot.Snapshot, ago func(time.Duration) metav1.Time) map[string]map[string]metav1.Time {
	for i := range s.DaemonSet.ManagedFields {
		m := &s.DaemonSet.ManagedFields[i]
		if m.Subresource == "status" {
			at := ago(st.status)
			m.Time = &at
		}
	}
	if len(st.revisions) == 0 {
		return nil
	}
	out := map[string]map[string]metav1.Time{}
	latest := len(st.revisions)
	for i := range s.Revisions {
		r := &s.Revisions[i]
		r.CreationTimestamp = ago(st.revisions[r.Revision-1])
		hash := r.Labels["controller-revision-hash"]
		out[hash] = map[string]metav1.Time{}
		var of []*corev1.Pod
		for j := range s.Pods {
			if s.Pods[j].Labels["controller-revision-hash"] == hash {
				of = append(of, &s.Pods[j])
			}
		}
		slices.SortStableFunc(of, func(a, b *corev1.Pod) int {
			return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
		})
		for j, p := range of {
			age := st.revisions[r.Revision-1]
			if int(r.Revision) == latest && latest > 1 {
				age = st.newPods[min(j, len(st.newPods)-1)]
			}
			out[hash][p.Name] = ago(age)
		}
	}
	s.DaemonSet.CreationTimestamp = ago(st.revisions[0])
	for i := range s.DaemonSet.ManagedFields {
		if m := &s.DaemonSet.ManagedFields[i]; m.Subresource == "" {
			at := ago(st.revisions[latest-1])
			m.Time, m.Manager = &at, "kubectl-create"
			if latest > 1 {
				m.Manager = "kubectl-edit"
			}
		}
	}
	return out
}

// agePod sets the times of a pod that was created at a time: Ready some seconds later, and deleted
// with the rollout.
func (st story) agePod(p *corev1.Pod, at metav1.Time, down bool, ago func(time.Duration) metav1.Time) {
	later := func(d time.Duration) metav1.Time { return metav1.NewTime(at.Add(d)) }
	p.CreationTimestamp = at
	if p.Status.StartTime != nil {
		p.Status.StartTime = &at
	}
	start := 4*time.Second + spread(p.Name, 6*time.Second)
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		if c.State.Running != nil {
			c.State.Running.StartedAt = later(2 * time.Second)
		}
		if t := c.LastTerminationState.Terminated; t != nil {
			c.RestartCount = st.restarts
			t.FinishedAt = ago(st.crashed - spread(p.Name, 20*time.Second))
			t.StartedAt = metav1.NewTime(t.FinishedAt.Add(-time.Second))
		}
	}
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		isReady := c.Type == corev1.PodReady || c.Type == corev1.ContainersReady
		switch {
		case isReady && c.Status == corev1.ConditionTrue:
			c.LastTransitionTime = later(start)
		case isReady && down:
			c.LastTransitionTime = ago(st.broken)
		default:
			c.LastTransitionTime = at
		}
	}
	if p.DeletionTimestamp != nil {
		grace := time.Duration(*p.DeletionGracePeriodSeconds) * time.Second
		end := ago(st.revisions[len(st.revisions)-1] - grace)
		p.DeletionTimestamp = &end
	}
}

// events returns the events of the last hour, which is how long an API server keeps them. Events
// about pods follow the ages of the pods, and warnings are repeated.
func (st story) events(s *snapshot.Snapshot, pods map[string]metav1.Time, ago func(time.Duration) metav1.Time) []corev1.Event {
	var out []corev1.Event
	for _, e := range s.Events {
		first := ago(st.nodes)
		if len(st.revisions) > 0 {
			first = ago(st.revisions[len(st.revisions)-1] - 2*time.Second)
		}
		subject := e.InvolvedObject.Name
		if _, created, ok := strings.Cut(e.Message, "Created pod: "); ok {
			subject = created
		}
		if at, ok := pods[subject]; ok {
			first = at
		}
		last := first
		if e.Type == corev1.EventTypeWarning && e.Count > 0 && st.repeats > 0 && (e.InvolvedObject.Kind == "Pod" || e.Count > 1) {
			first, last = metav1.NewTime(first.Add(3*time.Second)), ago(3*time.Second+spread(e.Name, 25*time.Second))
			e.Count = st.repeats
		}
		if s.TakenAt.Sub(last.Time) > time.Hour {
			continue
		}
		e.CreationTimestamp = first
		if !e.EventTime.IsZero() {
			e.EventTime = metav1.NewMicroTime(first.Time)
		}
		if !e.FirstTimestamp.IsZero() {
			e.FirstTimestamp, e.LastTimestamp = first, last
		}
		out = append(out, e)
	}
	return out
}

// ready returns the Ready condition of a node.
func ready(n *corev1.Node) corev1.NodeCondition {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c
		}
	}
	return corev1.NodeCondition{}
}

// spread returns a duration below a limit that depends only on the name.
func spread(name string, below time.Duration) time.Duration {
	h := fnv.New32a()
	h.Write([]byte(name))
	return (time.Duration(h.Sum32()) * time.Second) % below.Truncate(time.Second)
}
