package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
)

// The following code does what the scheduler, the kubelets, the node lifecycle controller and the
// garbage collector do in a scene. It writes what kubectl ds reads: phases, conditions, states of
// containers and warnings.

// pod returns the pod with a UID, or nil.
func (r *rolling) pod(uid types.UID) *corev1.Pod {
	i := slices.IndexFunc(r.now.Pods, func(p corev1.Pod) bool { return p.UID == uid })
	if i < 0 {
		return nil
	}
	return &r.now.Pods[i]
}

// edit changes a pod. Earlier snapshots keep its old state. news says whether the controller reacts
// to the change.
func (r *rolling) edit(uid types.UID, news bool, change func(p *corev1.Pod)) {
	p := r.pod(uid)
	after := p.DeepCopy()
	change(after)
	*p = *after
	if news {
		r.news, r.woken, r.moved = true, false, r.now.TakenAt
	}
}

// born handles a pod that the controller created: the scheduler binds it and the kubelet starts it.
func (r *rolling) born(i int) {
	p := &r.now.Pods[i]
	p.CreationTimestamp = r.second()
	r.moved = r.now.TakenAt
	r.tell("daemonset-controller", r.daemonSet(), corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: "+p.Name)
	uid, node := p.UID, affinityNode(p)
	image := node + " " + p.Spec.Containers[0].Image
	f := r.lifetimeOf(p.Name, node, !r.has[image], r.rolls)
	r.lifetimes[p.Name] = f
	if f.trouble == noRoom {
		r.in(0.05, uid, func() { r.unschedulable(uid, node) })
		return
	}
	r.in(0.02+0.2*r.drawn("bind", p.Name).Float64(), uid, func() {
		r.edit(uid, false, func(p *corev1.Pod) {
			p.Spec.NodeName = node
			r.condition(p, corev1.PodScheduled, corev1.ConditionTrue, "")
		})
		r.kubelet(0.3, uid, func() { r.receive(uid, f, image) })
	})
}

func (r *rolling) unschedulable(uid types.UID, node string) {
	message := fmt.Sprintf("0/%d nodes are available: 1 Insufficient cpu, %d node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: 0/%d nodes are available: 1 No preemption victims found for incoming pod, %d Preemption is not helpful for scheduling.",
		len(r.now.Nodes), len(r.now.Nodes)-1, len(r.now.Nodes), len(r.now.Nodes)-1)
	r.edit(uid, false, func(p *corev1.Pod) {
		r.condition(p, corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable).Message = message
	})
	r.tell("default-scheduler", r.reference(uid), corev1.EventTypeWarning, "FailedScheduling", message)
	r.in(300, uid, func() { r.unschedulable(uid, node) })
}

// kubelet lets the kubelet of a pod act, unless the node is dead or the pod is to end by then.
func (r *rolling) kubelet(after float64, uid types.UID, do func()) *happening {
	return r.in(after, uid, func() {
		if p := r.pod(uid); !r.dead[p.Spec.NodeName] && p.DeletionTimestamp == nil {
			do()
		}
	})
}

// receive is the kubelet's first action for a pod.
func (r *rolling) receive(uid types.UID, f lifetime, image string) {
	r.edit(uid, false, func(p *corev1.Pod) {
		at := r.second()
		p.Status.StartTime = &at
		r.condition(p, corev1.PodInitialized, corev1.ConditionTrue, "")
		r.condition(p, corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady")
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", Image: p.Spec.Containers[0].Image}}
	})
	r.waits(uid, "ContainerCreating", "")
	switch f.trouble {
	case failsMount:
		r.again(uid, "FailedMount", `MountVolume.SetUp failed for volume "config" : failed to sync configmap cache: timed out waiting for the condition`, f, 0.5, 2, 122, image)
	case failsSandbox:
		r.again(uid, "FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox: plugin type="cni" failed (add): no address is left`, f, 12, 1, 12, image)
	case noImage:
		r.unpulled(uid, 10)
	case crashes:
		r.crash(uid, f, image, 10)
	case slowPull:
		f.ready, f.runs = f.over, f.over-(f.ready-f.runs)
		r.starts(uid, f, image)
	case failsProbe:
		f.ready = f.over
		r.starts(uid, f, image)
	default:
		r.starts(uid, f, image)
	}
}

// again repeats a warning at intervals that grow up to most, until the trouble is over.
func (r *rolling) again(uid types.UID, reason, message string, f lifetime, after, times, most float64, image string) {
	began := r.now.TakenAt
	var try func(after float64)
	try = func(after float64) {
		if f.over > 0 && r.now.TakenAt.Sub(began) >= seconds(f.over) {
			r.starts(uid, f, image)
			return
		}
		r.tell("kubelet", r.reference(uid), corev1.EventTypeWarning, reason, message)
		next := after
		if f.over > 0 { // the next try succeeds, not much later than possible
			next = min(next, max(0.1, f.over-r.now.TakenAt.Sub(began).Seconds()))
		}
		r.kubelet(next, uid, func() { try(min(after*times, most)) })
	}
	try(after)
}

// unpulled is an image that the registry does not have.
func (r *rolling) unpulled(uid types.UID, wait float64) {
	const words = `failed to pull and unpack image "example.com/agent:2": failed to resolve reference "example.com/agent:2": example.com/agent:2: not found`
	r.kubelet(0.8, uid, func() {
		r.waits(uid, "ErrImagePull", words)
		r.tell("kubelet", r.reference(uid), corev1.EventTypeWarning, "Failed", `Failed to pull image "example.com/agent:2": `+words)
		r.kubelet(2, uid, func() {
			r.waits(uid, "ImagePullBackOff", `Back-off pulling image "example.com/agent:2"`)
			r.kubelet(wait, uid, func() { r.unpulled(uid, min(300, 2*wait)) })
		})
	})
}

// crash starts a container that soon ends, and restarts it with growing back-off.
func (r *rolling) crash(uid types.UID, f lifetime, image string, wait float64) {
	began := r.now.TakenAt
	var start func(wait float64)
	start = func(wait float64) {
		if f.over > 0 && r.now.TakenAt.Sub(began) >= seconds(f.over) {
			f.ready, f.runs = max(0.1, f.ready-f.runs), 0.1
			r.starts(uid, f, image)
			return
		}
		at := r.second()
		r.running[string(uid)] = true
		r.edit(uid, false, func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodRunning
			s := &p.Status.ContainerStatuses[0]
			if s.LastTerminationState.Terminated != nil {
				s.RestartCount++
			}
			s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}
		})
		r.kubelet(0.5+4*r.drawn("crash", uid, wait).Float64(), uid, func() {
			r.running[string(uid)] = false
			r.edit(uid, false, func(p *corev1.Pod) {
				s := &p.Status.ContainerStatuses[0]
				s.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", StartedAt: at, FinishedAt: r.second()}}
			})
			r.waits(uid, "CrashLoopBackOff", fmt.Sprintf("back-off %ds restarting failed container=agent pod=%s", int(wait), r.pod(uid).Name))
			r.tell("kubelet", r.reference(uid), corev1.EventTypeWarning, "BackOff", "Back-off restarting failed container agent in pod "+r.pod(uid).Name)
			next := wait
			if left := f.over - r.now.TakenAt.Sub(began).Seconds(); f.over > 0 {
				next = min(wait, max(1, left))
			}
			r.kubelet(next, uid, func() { start(min(300, 2*wait)) })
		})
	}
	r.kubelet(max(0.5, f.runs), uid, func() { start(wait) })
}

// starts makes the containers run and become ready at the times of the lifetime. Earlier probes
// fail.
func (r *rolling) starts(uid types.UID, f lifetime, image string) {
	run := max(0.3, f.runs)
	r.kubelet(run, uid, func() {
		at := r.second()
		r.has[image], r.running[string(uid)] = true, true
		r.edit(uid, false, func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodRunning
			s := &p.Status.ContainerStatuses[0]
			if s.LastTerminationState.Terminated != nil {
				s.RestartCount++
			}
			s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}
		})
		began := r.now.TakenAt
		left := f.ready - f.runs
		if f.trouble == failsProbe && f.over == 0 {
			left = 1e9
		}
		if r.period == 0 {
			left = 0.05
		}
		var probe func()
		probe = func() {
			if r.now.TakenAt.Sub(began) >= seconds(left) {
				return
			}
			r.tell("kubelet", r.reference(uid), corev1.EventTypeWarning, "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503")
			r.kubelet(r.period, uid, probe)
		}
		if r.period > 0 {
			r.kubelet(r.period*r.drawn("probe", uid).Float64(), uid, probe)
		}
		if left < 1e8 {
			r.kubelet(left, uid, func() { r.ready(uid) }).moves = true
		}
	}).moves = true
}

func (r *rolling) ready(uid types.UID) {
	r.edit(uid, true, func(p *corev1.Pod) {
		r.condition(p, corev1.ContainersReady, corev1.ConditionTrue, "")
		r.condition(p, corev1.PodReady, corev1.ConditionTrue, "")
		p.Status.ContainerStatuses[0].Ready = true
	})
	if r.minReady > 0 {
		r.lookAfter(float64(r.minReady) + 1) // the controller's handler requests it
	}
}

// waits makes the container wait with a reason.
func (r *rolling) waits(uid types.UID, reason, message string) {
	r.edit(uid, false, func(p *corev1.Pod) {
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	})
}

// condition sets a condition of a pod and returns it.
func (r *rolling) condition(p *corev1.Pod, of corev1.PodConditionType, status corev1.ConditionStatus, reason string) *corev1.PodCondition {
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == of })
	if i < 0 {
		i = len(p.Status.Conditions)
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: of})
	}
	c := &p.Status.Conditions[i]
	if c.Status != status {
		c.LastTransitionTime = r.second()
	}
	c.Status, c.Reason = status, reason
	return c
}

// ends handles a pod that the controller deleted: its kubelet ends it.
func (r *rolling) ends(name string) {
	i := r.indexOf(name)
	if i < 0 || r.now.Pods[i].DeletionTimestamp != nil {
		return
	}
	uid, node := r.now.Pods[i].UID, r.now.Pods[i].Spec.NodeName
	r.tell("daemonset-controller", r.daemonSet(), corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: "+name)
	r.moved = r.now.TakenAt
	r.now.Pods[i] = *r.now.Pods[i].DeepCopy()
	r.delete(name)
	if r.dead[node] || r.pod(uid) == nil {
		return
	}
	after := r.lifetimes[name].ends
	if !r.running[string(uid)] {
		after = 0.5 + 0.5*r.drawn("ends", name).Float64()
	}
	r.in(after, uid, func() {
		if !r.dead[node] {
			r.gone(uid)
		}
	}).moves = true
}

func (r *rolling) gone(uid types.UID) {
	r.now.Pods = slices.DeleteFunc(r.now.Pods, func(p corev1.Pod) bool { return p.UID == uid })
	r.news, r.woken, r.moved = true, false, r.now.TakenAt
}

func (r *rolling) daemonSet() corev1.ObjectReference {
	ds := r.now.DaemonSet
	return corev1.ObjectReference{Kind: "DaemonSet", APIVersion: "apps/v1", Namespace: ds.Namespace, Name: ds.Name, UID: ds.UID}
}

func (r *rolling) reference(uid types.UID) corev1.ObjectReference {
	p := r.pod(uid)
	return corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: p.Namespace, Name: p.Name, UID: uid, FieldPath: "spec.containers{agent}"}
}

// tell writes an event as an event recorder does: equal events are counted, similar ones are
// aggregated, and too many are dropped.
func (r *rolling) tell(component string, about corev1.ObjectReference, kind, reason, message string) {
	from := corev1.EventSource{Component: component}
	if component == "kubelet" {
		from.Host = r.pod(about.UID).Spec.NodeName
	}
	teller := r.tellers[from.Component+from.Host]
	if teller == nil {
		teller = record.NewEventCorrelator(tellersClock{r})
		r.tellers[from.Component+from.Host] = teller
	}
	r.seq++
	at := r.second()
	result, err := teller.EventCorrelate(&corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprintf("%s.%016x", about.Name, r.seq), Namespace: about.Namespace, UID: types.UID(fmt.Sprint("event-", r.seq))},
		InvolvedObject: about, Type: kind, Reason: reason, Message: message, Source: from, Count: 1, FirstTimestamp: at, LastTimestamp: at,
	})
	if err != nil || result.Skip {
		return
	}
	e := *result.Event
	if i := slices.IndexFunc(r.now.Events, func(o corev1.Event) bool { return o.Name == e.Name }); i >= 0 {
		r.now.Events[i] = e
	} else {
		r.now.Events = append(r.now.Events, e)
	}
	teller.UpdateState(&e)
}

// tellersClock is the clock of a scene.
type tellersClock struct{ r *rolling }

func (c tellersClock) Now() time.Time                  { return c.r.now.TakenAt }
func (c tellersClock) Since(t time.Time) time.Duration { return c.r.now.TakenAt.Sub(t) }

// addNode adds a node. A node that is not ready yet has the taint of such nodes.
func (r *rolling) addNode(name string, created time.Time, ready bool) {
	cpu := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("110")}
	n := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("node-" + name), CreationTimestamp: metav1.NewTime(created.Truncate(time.Second)),
			Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}},
		Status: corev1.NodeStatus{Allocatable: cpu, Capacity: cpu},
	}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(created.Truncate(time.Second)), Reason: "KubeletReady"}}
	if !ready {
		n.Status.Conditions[0].Status, n.Status.Conditions[0].Reason = corev1.ConditionFalse, "KubeletNotReady"
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
	}
	r.now.Nodes = append(r.now.Nodes, n)
	slices.SortFunc(r.now.Nodes, func(a, b corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	r.news = true
}

// editNode changes a node. Earlier snapshots keep its old state.
func (r *rolling) editNode(name string, change func(*corev1.Node)) {
	r.now.Nodes = slices.Clone(r.now.Nodes)
	for i := range r.now.Nodes {
		if r.now.Nodes[i].Name == name {
			n := r.now.Nodes[i].DeepCopy()
			change(n)
			r.now.Nodes[i] = *n
		}
	}
	r.news = true
}

// troubleNodes makes nodes die, join, leave or be tainted during the rollout.
func (r *rolling) troubleNodes() {
	if r.group != nodesScene {
		return
	}
	whole := r.guess()
	var hit []string
	for i := range r.now.Nodes {
		if name := r.now.Nodes[i].Name; r.hits(name) || i == 0 && r.share < 0.1 {
			hit = append(hit, name)
		}
	}
	for i, name := range hit {
		r.nodesToCome++
		r.in(whole*(0.1+0.6*r.drawn("when", name).Float64()), "", func() {
			r.nodesToCome--
			r.troubleNode(name, i)
		})
	}
}

func (r *rolling) troubleNode(name string, i int) {
	draw := r.drawn("node", name).Float64()
	switch r.trouble {
	case nodeDies:
		r.dead[name] = true
		r.nodesToCome++
		r.in(50, "", func() {
			r.nodesToCome--
			r.die(name)
		})
	case nodeJoins:
		joins := fmt.Sprintf("joined-%02d", i+1)
		r.now.Nodes = slices.Clone(r.now.Nodes)
		r.addNode(joins, r.now.TakenAt, false)
		r.nodesToCome++
		r.in(10+30*draw, "", func() {
			r.nodesToCome--
			r.editNode(joins, func(n *corev1.Node) {
				n.Spec.Taints = nil
				n.Status.Conditions[0] = corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: r.second(), Reason: "KubeletReady"}
			})
		})
	case nodeLeaves:
		r.dead[name] = true
		r.now.Nodes = slices.DeleteFunc(slices.Clone(r.now.Nodes), func(n corev1.Node) bool { return n.Name == name })
		r.news = true
		r.nodesToCome++
		r.in(40+20*draw, "", func() { // the garbage collector
			r.nodesToCome--
			for _, p := range slices.Clone(r.now.Pods) {
				if p.Spec.NodeName == name {
					r.gone(p.UID)
				}
			}
		})
	case nodeTainted:
		r.editNode(name, func(n *corev1.Node) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "example.com/reserved", Effect: corev1.TaintEffectNoSchedule})
		})
	}
}

// die writes what the node lifecycle controller writes after a node has been silent for long.
func (r *rolling) die(name string) {
	r.editNode(name, func(n *corev1.Node) {
		at := r.second()
		n.Status.Conditions[0] = corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: at, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."}
		n.Spec.Taints = append(n.Spec.Taints,
			corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &at},
			corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute, TimeAdded: &at})
	})
	for i := range r.now.Pods {
		if uid := r.now.Pods[i].UID; r.now.Pods[i].Spec.NodeName == name {
			r.edit(uid, true, func(p *corev1.Pod) { r.condition(p, corev1.PodReady, corev1.ConditionFalse, "") })
		}
	}
}
