package breakers

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// change creates revision 2 from a changed template.
func (w *World) change(change func(*corev1.PodTemplateSpec)) {
	ds, before := w.DaemonSet, w.DaemonSet.Spec.Template.DeepCopy()
	change(&ds.Spec.Template)
	ds.Generation, ds.Annotations = 2, map[string]string{appsv1.DeprecatedTemplateGeneration: "2"}
	w.Revisions = append(w.Revisions, w.revision(2, metav1.NewTime(w.began)))
	if w.mended && w.back {
		ds.Generation, ds.Annotations, ds.Spec.Template = 3, map[string]string{
			appsv1.DeprecatedTemplateGeneration: "3",
		}, *before
		w.Revisions[0].Revision = 3
	}
}

// restart changes the template like kubectl rollout restart.
func (w *World) restart(t *corev1.PodTemplateSpec) {
	metav1.SetMetaDataAnnotation(&t.ObjectMeta, "kubectl.kubernetes.io/restartedAt", w.began.Format(time.RFC3339))
}

// spread returns the nodes on which new pods fail. If all is true, it returns all nodes without a node breaker.
// Otherwise it returns a random subset of these, at least as many as the limit.
func (w *World) spread(all bool) []string {
	free := w.order[:len(w.order)-2]
	w.limitTo(min(w.limit, len(free)))
	if all {
		return free
	}
	return free[:w.limit+w.IntN(len(free)-w.limit+1)]
}

// roll replaces pods of revision 1 as the controller does: on some nodes where new pods become
// ready, and then on as many failing nodes as the limit allows, where the rollout is stuck.
func (w *World) roll(fails []string, fail func(*corev1.Pod)) {
	at, revision := w.began.Add(time.Second), int64(2)
	if w.mended && w.back {
		at, revision = w.TakenAt.Add(-10*time.Minute), 1
	}
	next := func() metav1.Time { at = at.Add(20 * time.Second); return metav1.NewTime(at) }
	for _, node := range w.order[:len(w.order)-2] {
		if !slices.Contains(fails, node) && w.chance(50) {
			w.drop(node)
			w.Pods = append(w.Pods, w.pod(node, revision, next()))
		}
	}
	w.broken = slices.Clone(fails[:min(w.limit, len(fails))])
	for _, node := range w.broken {
		if !w.surge || w.mended {
			w.drop(node)
		}
		p := w.pod(node, revision, next())
		if !w.mended {
			fail(&p)
		}
		w.Pods = append(w.Pods, p)
	}
}

// refuse is roll with an API server that rejects every pod of revision 2 with a message.
func (w *World) refuse(words string) {
	w.broken = slices.Clone(w.spread(true)[:w.limit])
	if w.mended {
		w.roll(w.broken, nil)
		return
	}
	if !w.surge {
		for _, node := range w.broken {
			w.drop(node)
		}
	}
	w.event(nil, "FailedCreate", "Error creating: "+words, 14)
}

// drop deletes the pods of a node.
func (w *World) drop(node string) {
	w.Pods = slices.DeleteFunc(w.Pods, func(p corev1.Pod) bool { return p.Spec.NodeName == node })
}

// event adds a recent event about a pod or, if p is nil, about the DaemonSet.
func (w *World) event(p *corev1.Pod, reason, message string, count int32) {
	of := corev1.ObjectReference{Kind: "DaemonSet", Namespace: "kube-system", Name: "agent", UID: daemonSetUID}
	if p != nil {
		of = corev1.ObjectReference{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID}
	}
	w.Events = append(w.Events, corev1.Event{
		InvolvedObject: of, Type: corev1.EventTypeWarning, Reason: reason, Message: message, Count: count,
		FirstTimestamp: w.ago(15 * time.Minute), LastTimestamp: w.ago(90 * time.Second),
	})
}

// unready makes the containers of a pod not ready.
func unready(p *corev1.Pod, phase corev1.PodPhase, containers ...string) {
	p.Status.Phase = phase
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.ContainersReady || c.Type == corev1.PodReady {
			c.Status, c.Reason, c.LastTransitionTime = corev1.ConditionFalse, "ContainersNotReady", p.CreationTimestamp
			c.Message = fmt.Sprintf("containers with unready status: %v", containers)
		}
	}
}

// waiting returns a function that makes the first container of a pod wait.
func waiting(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		unready(p, corev1.PodPending, "agent")
		c := &p.Status.ContainerStatuses[0]
		no := false
		c.Ready, c.Started, c.State = false, &no, corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
		}
	}
}

// crashing returns a function that makes a container of a pod end again and again.
func (w *World) crashing(container string, code int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		unready(p, corev1.PodRunning, container)
		for i := range p.Status.ContainerStatuses {
			c := &p.Status.ContainerStatuses[i]
			if c.Name != container {
				continue
			}
			no := false
			c.Ready, c.Started, c.RestartCount = false, &no, 8
			c.State = corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{
					Reason:  "CrashLoopBackOff",
					Message: "back-off 5m0s restarting failed container=" + container,
				},
			}
			c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
				ExitCode:   code,
				Reason:     "Error",
				StartedAt:  w.ago(3 * time.Minute),
				FinishedAt: w.ago(2 * time.Minute),
			}
		}
	}
}

// unscheduled returns a function that makes a pod unschedulable.
func (w *World) unscheduled(words string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		n := len(w.Nodes)
		p.Spec.NodeName = ""
		p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{
				Type:               corev1.PodScheduled,
				Status:             corev1.ConditionFalse,
				Reason:             corev1.PodReasonUnschedulable,
				LastTransitionTime: p.CreationTimestamp,
				Message: fmt.Sprintf(
					"0/%d nodes are available: 1 %s, %d node(s) didn't satisfy plugin(s) [NodeAffinity]. "+
						"preemption: 0/%d nodes are available: "+
						"1 No preemption victims found for incoming pod, %d Preemption is not helpful for scheduling.",
					n, words, n-1, n, n-1,
				),
			},
		}}
	}
}

// evicted returns a function that makes a pod evicted by its kubelet, like the pods before it.
func (w *World) evicted(message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		unready(p, corev1.PodFailed)
		p.CreationTimestamp = w.ago(4 * time.Minute)
		p.Status.Reason, p.Status.Message = "Evicted", message
		w.event(
			nil,
			"FailedDaemonPod",
			fmt.Sprintf("Found failed daemon pod kube-system/%s on node %s, will try to kill it", p.Name,
				p.Spec.NodeName),
			7,
		)
	}
}

// other adds a pod of another workload to a node.
func (w *World) other(node, name string, r snapshot.Resources, ports ...snapshot.HostPort) {
	started := w.ago(50 * 24 * time.Hour)
	w.OtherPods.Pods = append(w.OtherPods.Pods, snapshot.PodRow{
		Namespace: "monitoring",
		Name:      name + "-" + node,
		Node:      node,
		Priority:  priority,
		StartTime: &started,
		Requests:  r,
		HostPorts: ports,
	})
}

// gone makes an object missing, unless the cause has been removed.
func (w *World) gone(kind snapshot.ReferredKind, name string) {
	if w.mended {
		return
	}
	*w.References.Find(kind, name) = snapshot.Referred{
		Kind:       kind,
		Name:       name,
		KeysRead:   true,
		Keys:       []string{},
		BinaryKeys: []string{},
	}
}

// own returns the node that the n-th node breaker breaks.
func (w *World) own(n int) *corev1.Node {
	name := w.order[len(w.order)-1-n]
	w.broken = []string{name}
	return &w.Nodes[slices.IndexFunc(w.Nodes, func(n corev1.Node) bool { return n.Name == name })]
}

// podOn returns the pod of a node.
func (w *World) podOn(node string) *corev1.Pod {
	return &w.Pods[slices.IndexFunc(w.Pods, func(p corev1.Pod) bool { return p.Spec.NodeName == node })]
}

// again replaces the pod of a node by one of the current revision, created at a time.
func (w *World) again(node string, at metav1.Time) *corev1.Pod {
	w.drop(node)
	w.Pods = append(w.Pods, w.pod(node, int64(len(w.Revisions)), at))
	p := &w.Pods[len(w.Pods)-1]
	p.Name += "b"
	p.UID = types.UID("uid-" + p.Name)
	return p
}
