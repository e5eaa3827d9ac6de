package scheduler

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/test/scheduler/wire"
)

// Whole is a complete cluster with one node: a DaemonSet, the classes in its template, and all
// pods.
type Whole struct {
	DaemonSet *appsv1.DaemonSet
	Own       *corev1.Pod // the DaemonSet's pod on the node; nil if there is none
	Classes   []schedulingv1.PriorityClass
	Runtimes  []nodev1.RuntimeClass
	State     // its Pod is the next one that the controller creates, as the API server admits it
}

// when is the time of every Whole.
var when = began.Add(2 * time.Hour)

var yes = true

const (
	dsName    = "agent"
	oldHash   = "77c9d5f6b4"
	dsUID     = types.UID("ds-1")
	namespace = "default"
)

// DrawWhole returns a random Whole that an API server of the minor version accepts.
func DrawWhole(seed int64, minor int) *Whole {
	d := &drawing{Rand: rand.New(rand.NewPCG(uint64(seed), 0x6a09e667f3bcc909)), minor: minor}
	w := &Whole{}
	d.state = &w.State
	d.classes(w)
	d.daemonSet(w)
	w.Pod = w.admitted("agent-new")
	d.own(w)
	d.others()
	for i := range w.Pods {
		d.relate(&w.Pods[i])
		if w.surges() { // on a running node, no two pods have the same port
			setPorts(&w.Pods[i], func(c *corev1.ContainerPort) { c.HostPort = 0 })
		}
	}
	d.node()
	w.Node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}
	if d.chance(90) { // most states are not about placement
		w.Node.Spec = corev1.NodeSpec{}
	}
	d.budgets()
	return w
}

// classes draws the classes that a template may name, one of which may be the default.
func (d *drawing) classes(w *Whole) {
	for _, name := range []string{"low", "middle", "high"} {
		c := schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: map[string]int32{"low": -10, "middle": 10, "high": 2000}[name]}
		if d.chance(30) {
			c.PreemptionPolicy = new(corev1.PreemptNever)
		} else if d.chance(50) {
			c.PreemptionPolicy = new(corev1.PreemptLowerPriority)
		}
		w.Classes = append(w.Classes, c)
	}
	if d.chance(35) {
		w.Classes[d.IntN(3)].GlobalDefault = true
	}
	w.Runtimes = []nodev1.RuntimeClass{{ObjectMeta: metav1.ObjectMeta{Name: "sandbox"}, Handler: "sandbox"}}
	if d.chance(80) {
		w.Runtimes[0].Overhead = &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: amount(corev1.ResourceCPU, 1+d.IntN(2))}}
	}
}

func (d *drawing) daemonSet(w *Whole) {
	labels := map[string]string{"app": dsName}
	spec := d.spec()
	spec.Overhead = nil
	makeValid(&spec)
	spec.PriorityClassName = pick(d, "", "", "", "low", "middle", "high", "high", "high", "system-node-critical")
	if d.chance(20) {
		spec.RuntimeClassName = new("sandbox")
	}
	if d.chance(10) {
		spec.NodeSelector = map[string]string{"zone": pick(d, "a", "a", "b")}
	}
	created := metav1.NewTime(began)
	w.DaemonSet = &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Name: dsName, Namespace: namespace, UID: dsUID, Generation: 1, CreationTimestamp: created},
		Spec: appsv1.DaemonSetSpec{
			Selector:       &metav1.LabelSelector{MatchLabels: labels},
			Template:       corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
			UpdateStrategy: strategy(0, 1),
		},
		Status: appsv1.DaemonSetStatus{ObservedGeneration: 1},
	}
}

// makeValid changes the containers of a template so that the API server admits its pods: resources
// that cannot be overcommitted have limits, and no port is used twice.
func makeValid(s *corev1.PodSpec) {
	ports, sum := map[string]bool{}, resource.Quantity{}
	for _, all := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range all {
			c := &all[i]
			for _, name := range []corev1.ResourceName{gpu, pages} {
				q, asks := c.Resources.Requests[name]
				if !asks {
					continue
				}
				if c.Resources.Limits == nil {
					c.Resources.Limits = corev1.ResourceList{}
				}
				c.Resources.Limits[name] = q
				if _, has := c.Resources.Requests[corev1.ResourceCPU]; !has { // required for huge pages
					c.Resources.Requests[corev1.ResourceCPU] = amount(corev1.ResourceCPU, 1)
				}
			}
			sum.Add(c.Resources.Requests[corev1.ResourceCPU])
			c.Ports = slices.DeleteFunc(c.Ports, func(p corev1.ContainerPort) bool {
				key := fmt.Sprint(p.Protocol == corev1.ProtocolUDP, p.HostIP, p.HostPort)
				again := p.HostPort > 0 && ports[key]
				ports[key] = true
				return again
			})
		}
	}
	if s.Resources != nil { // for the whole pod, at least as much as for its containers
		s.Resources.Requests[corev1.ResourceCPU] = sum
	}
}

func strategy(surge, unavailable int32) appsv1.DaemonSetUpdateStrategy {
	return appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{
		MaxSurge: new(intstr.FromInt32(surge)), MaxUnavailable: new(intstr.FromInt32(unavailable)),
	}}
}

// admitted returns a pod as the controller creates it, with what the API server adds: the priority
// and preemption policy of its class and the overhead of its RuntimeClass.
func (w *Whole) admitted(name string) *corev1.Pod {
	t := w.DaemonSet.Spec.Template.DeepCopy()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID(name), Labels: t.Labels, CreationTimestamp: metav1.NewTime(when.Add(-10 * time.Second))}, Spec: t.Spec}
	p.Labels["controller-revision-hash"] = oldHash
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: dsName, UID: dsUID, Controller: &yes}}
	s := &p.Spec
	s.Affinity = bound(theNode)
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
	}
	for _, key := range []string{corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable} {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	s.Priority = new(int32(0))
	if s.PriorityClassName == "system-node-critical" {
		s.Priority = new(int32(2_000_001_000))
	}
	i := slices.IndexFunc(w.Classes, func(c schedulingv1.PriorityClass) bool {
		return c.Name == s.PriorityClassName || s.PriorityClassName == "" && c.GlobalDefault
	})
	if i >= 0 {
		s.PriorityClassName, s.Priority, s.PreemptionPolicy = w.Classes[i].Name, new(w.Classes[i].Value), w.Classes[i].PreemptionPolicy
	}
	if s.RuntimeClassName != nil && w.Runtimes[0].Overhead != nil {
		s.Overhead = w.Runtimes[0].Overhead.PodFixed
	}
	p.Status.Phase = corev1.PodPending
	return p
}

// own draws a pod of the DaemonSet on the node, in two of three states. It is running or waits for
// the scheduler.
func (d *drawing) own(w *Whole) {
	switch d.IntN(3) {
	case 0:
		p := w.admitted("agent-old")
		if d.chance(50) {
			p.Status.NominatedNodeName = theNode
		}
		if d.chance(60) {
			p.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: p.CreationTimestamp,
				Message: "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
			}}
		}
		w.Own = p
	case 1:
		p := w.admitted("agent-old")
		p.CreationTimestamp = metav1.NewTime(began)
		p.Spec.NodeName = theNode
		p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &metav1.Time{Time: began}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(began)}}
		w.Own = p
		if d.chance(40) {
			w.DaemonSet.Spec.UpdateStrategy = strategy(1, 0)
		}
	}
}

// relate changes some pods: so that the selector matches them but another controller owns them, so
// that the DaemonSet owns them but the selector does not match, or so that they repel others.
func (d *drawing) relate(p *corev1.Pod) {
	p.CreationTimestamp = metav1.NewTime(began)
	if p.Status.Phase == "" {
		p.Status.Phase = corev1.PodPending
	}
	if p.DeletionTimestamp != nil {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &metav1.Time{Time: when.Add(20 * time.Second)}, new(int64(30))
	}
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "rs-1", Controller: &yes}
	switch {
	case d.chance(12):
		p.Namespace, p.Labels, p.OwnerReferences = namespace, map[string]string{"app": dsName}, []metav1.OwnerReference{owner}
	case d.chance(5):
		p.Namespace, p.Labels = namespace, map[string]string{"app": "relabelled"}
		owner.Kind, owner.Name, owner.UID = "DaemonSet", dsName, dsUID
		p.OwnerReferences = []metav1.OwnerReference{owner}
	}
	if d.chance(4) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: pick(d, corev1.LabelHostname, corev1.LabelTopologyZone), Namespaces: []string{namespace},
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(d, dsName, dsName, "a")}},
		}}}}
	}
}

// surges reports whether a new pod runs next to the old one.
func (w *Whole) surges() bool {
	return w.DaemonSet.Spec.UpdateStrategy.RollingUpdate.MaxSurge.IntVal > 0
}

// pending reports whether the pod of the DaemonSet waits for the scheduler.
func (w *Whole) pending() bool { return w.Own != nil && w.Own.Spec.NodeName == "" }

// List returns the Whole in the format of "kubectl get -o json".
func (w *Whole) List() []byte {
	var items []any
	add := func(apiVersion, kind string, o any) {
		raw, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			panic(err)
		}
		m["apiVersion"], m["kind"] = apiVersion, kind
		items = append(items, m)
	}
	add("apps/v1", "DaemonSet", w.DaemonSet)
	add("v1", "Node", w.Node)
	add("v1", "Namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	add("v1", "ServiceAccount", &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: namespace}})
	for i := range w.Classes {
		add("scheduling.k8s.io/v1", "PriorityClass", &w.Classes[i])
	}
	add("scheduling.k8s.io/v1", "PriorityClass", &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "system-node-critical"}, Value: 2_000_001_000})
	for i := range w.Runtimes {
		add("node.k8s.io/v1", "RuntimeClass", &w.Runtimes[i])
	}
	if w.Own != nil {
		add("v1", "Pod", w.Own)
	}
	for i := range w.Pods {
		add("v1", "Pod", &w.Pods[i])
	}
	// With pods of only one namespace, pods of others would be unknown.
	for _, ns := range []string{"default", "other"} {
		add("v1", "Pod", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "ended", Namespace: ns}, Status: corev1.PodStatus{Phase: corev1.PodSucceeded}})
	}
	for i := range w.PodDisruptionBudgets {
		add("policy/v1", "PodDisruptionBudget", &w.PodDisruptionBudgets[i])
	}
	if len(w.PodDisruptionBudgets) == 0 {
		add("policy/v1", "PodDisruptionBudget", &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "none", Namespace: "other"}})
	}
	out, err := json.MarshalIndent(map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, "", " ")
	if err != nil {
		panic(err)
	}
	return out
}

// next returns the question about the next pod that the controller creates, and waiting the
// question about the pod that waits.
func (w *Whole) next() *State {
	s := w.State.copied()
	if w.Own != nil && w.surges() && !w.pending() {
		s.Pods = append(s.Pods, *w.Own)
	}
	return s
}

func (w *Whole) waiting() *State {
	s := w.State.copied()
	s.Pod = w.Own
	return s
}

// ended returns the state after the terminating pods of the node have ended.
func (s *State) ended() *State {
	s = s.copied()
	s.Pods = slices.DeleteFunc(s.Pods, func(p corev1.Pod) bool { return !nominated(&p) && p.DeletionTimestamp != nil })
	return s
}

// withoutAntiAffinity returns the state without the anti-affinity of pods.
func (s *State) withoutAntiAffinity() *State {
	s = s.copied()
	for i := range s.Pods {
		s.Pods[i].Spec.Affinity = nil
	}
	return s
}

// sameAnswer reports whether the scheduler decides the same.
func sameAnswer(a, b *wire.Answer) bool {
	return fmt.Sprint(a.Fits, a.Plugin, a.Reasons, a.Resolvable, a.Nominated, a.Victims) == fmt.Sprint(b.Fits, b.Plugin, b.Reasons, b.Resolvable, b.Nominated, b.Victims)
}
