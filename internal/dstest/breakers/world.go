// Package breakers breaks healthy DaemonSets for tests, the way clusters break: by a change of the
// template whose pods fail, or by a change around them. It takes a seed and returns the Snapshot
// that the controller, the scheduler, the kubelets and the API server would leave.
//
// Each Breaker states what must be found: what the pods fail on, whose fault it is, and what helps.
// This follows from how Kubernetes works and not from what this program answers.
package breakers

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// World is a DaemonSet with its surroundings. It begins healthy: every node has an available pod of
// revision 1.
type World struct {
	*rand.Rand
	*snapshot.Snapshot

	began time.Time // creation of revision 2
	limit int       // of the rolling update
	surge bool      // the limit is maxSurge
	order []string  // nodes in random order; those that roll breaks come first

	mended bool     // the cause is removed: missing objects exist, and failing pods are ready
	back   bool     // ends with a rollback, after which the surroundings are unchanged
	paired bool     // two breakers are applied: the node breaker starts no rollout
	broken []string // nodes whose pods fail or are missing
}

// hashes are those of the two revisions of a World.
var hashes = []string{"6d8f7c9b5", "7b4c6d9f8"}

const (
	daemonSetUID = types.UID("3c1e7a52-5a0e-4b7e-9f6b-0d0c5d1f2a11")
	class        = "agent-normal" // a PriorityClass that some worlds use
	priority     = 1000           // of pods of other workloads and of class
)

func (w *World) chance(percent int) bool { return w.IntN(100) < percent }

// ago returns a time before the Snapshot was taken.
func (w *World) ago(d time.Duration) metav1.Time { return metav1.NewTime(w.TakenAt.Add(-d)) }

// newWorld returns the healthy World of a seed.
func newWorld(seed int64, all []*Breaker) *World {
	w := &World{Rand: rand.New(rand.NewPCG(uint64(seed), 0x627265616b)), Snapshot: &snapshot.Snapshot{
		TakenAt: dstest.Now, KubernetesVersion: dstest.Newest, VersionSource: snapshot.VersionServer,
	}}
	w.began = w.TakenAt.Add(-time.Duration(20+w.IntN(300)) * time.Minute)
	w.nodes(3 + w.IntN(18))
	w.daemonSet()
	for _, b := range all {
		if b.tolerates != nil {
			w.DaemonSet.Spec.Template.Spec.Tolerations = b.tolerates
		}
	}
	w.around()
	w.Revisions = []appsv1.ControllerRevision{w.revision(1, w.ago(time.Duration(70+w.IntN(300))*24*time.Hour))}
	age := time.Duration(2+w.IntN(60)) * 24 * time.Hour
	for i := range w.Nodes {
		w.Pods = append(w.Pods, w.pod(w.Nodes[i].Name, 1, w.ago(age-time.Duration(i)*30*time.Second)))
	}
	return w
}

func (w *World) nodes(count int) {
	for i := range count {
		name := fmt.Sprintf("worker-%02d", i)
		n := corev1.Node{
			ObjectMeta: metav1.ObjectMeta{
				Name:              name,
				CreationTimestamp: w.ago(400 * 24 * time.Hour),
				Labels: map[string]string{
					corev1.LabelHostname:     name,
					corev1.LabelOSStable:     "linux",
					corev1.LabelArchStable:   "amd64",
					corev1.LabelTopologyZone: string(rune('a' + i%3)),
				},
			},
		}
		n.Status.NodeInfo = corev1.NodeSystemInfo{
			OperatingSystem: "linux",
			Architecture:    "amd64",
			KubeletVersion:  dstest.Newest,
		}
		n.Status.Allocatable = amounts("cpu", "4", "memory", "16Gi", "pods", "110", "ephemeral-storage", "100Gi")
		for _, of := range pressures {
			n.Status.Conditions = append(
				n.Status.Conditions,
				corev1.NodeCondition{Type: of, Status: corev1.ConditionFalse, LastTransitionTime: n.CreationTimestamp},
			)
		}
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
			Type:               corev1.NodeReady,
			Status:             corev1.ConditionTrue,
			Reason:             "KubeletReady",
			LastTransitionTime: n.CreationTimestamp,
			LastHeartbeatTime:  w.ago(20 * time.Second),
		})
		w.Nodes, w.order = append(w.Nodes, n), append(w.order, name)
	}
	w.Shuffle(count, func(i, j int) { w.order[i], w.order[j] = w.order[j], w.order[i] })
	w.limit = 1 + w.IntN(max(1, count/3))
}

var pressures = []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure}

func amounts(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func (w *World) daemonSet() {
	w.surge = w.chance(20)
	w.DaemonSet = &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:         "kube-system",
			Name:              "agent",
			UID:               daemonSetUID,
			Generation:        1,
			CreationTimestamp: w.ago(400 * 24 * time.Hour),
			Annotations:       map[string]string{appsv1.DeprecatedTemplateGeneration: "1"},
		},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}, Template: w.template(),
		},
	}
	w.limitTo(w.limit)
	template.DefaultDaemonSet(w.DaemonSet, w.KubernetesVersion)
}

// limitTo sets the limit of the rolling update.
func (w *World) limitTo(limit int) {
	w.limit = limit
	zero, most := intstr.FromInt32(0), intstr.FromInt(limit)
	ru := &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &most, MaxSurge: &zero}
	if w.surge {
		ru = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &zero, MaxSurge: &most}
	}
	w.DaemonSet.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{
		Type:          appsv1.RollingUpdateDaemonSetStrategyType,
		RollingUpdate: ru,
	}
}

// Common tolerations of DaemonSets.
var (
	toAll          = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	toControlPlane = []corev1.Toleration{
		{Key: "node-role.kubernetes.io/control-plane", Operator: corev1.TolerationOpExists},
	}
)

// agent is the template before variations.
const agent = `
metadata: {labels: {app: agent}}
spec:
  serviceAccountName: agent
  containers:
  - name: agent
    image: registry.example.com/team/agent:1.4.2
    imagePullPolicy: Always
    args: [--config=/etc/agent/agent.yaml]
    ports: [{name: metrics, containerPort: 9100}]
    resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {memory: 256Mi}}
    env:
    - {name: LEVEL, valueFrom: {configMapKeyRef: {name: agent-settings, key: level}}}
    - {name: TOKEN, valueFrom: {secretKeyRef: {name: agent-token, key: token}}}
    volumeMounts:
    - {name: buffer, mountPath: /var/lib/agent}
    - {name: tls, mountPath: /etc/agent/tls, readOnly: true}
    - {name: logs, mountPath: /var/log}
    readinessProbe: {httpGet: {path: /ready, port: metrics}}
  volumes:
  - {name: buffer, emptyDir: {}}
  - {name: tls, secret: {secretName: agent-tls}}
  - {name: logs, hostPath: {path: /var/log}}
`

func (w *World) template() (t corev1.PodTemplateSpec) {
	if err := yaml.UnmarshalStrict([]byte(agent), &t); err != nil {
		panic(err)
	}
	container := func(name, cpu string) corev1.Container {
		c := corev1.Container{Name: name, Image: "registry.example.com/team/" + name + ":0.9"}
		c.Resources.Requests = amounts("cpu", cpu)
		return c
	}
	t.Spec.Tolerations = [][]corev1.Toleration{toAll, toControlPlane}[w.IntN(2)]
	if w.chance(40) {
		t.Spec.Containers = append(t.Spec.Containers, container("exporter", "20m"))
	}
	if w.chance(40) {
		t.Spec.InitContainers = append(t.Spec.InitContainers, container("setup", "50m"))
	}
	if w.chance(50) {
		t.Spec.PriorityClassName = class
	}
	if w.chance(30) {
		t.Annotations = map[string]string{"checksum/config": fmt.Sprintf("%016x", w.Uint64())}
	}
	return t
}

// around adds the objects that the DaemonSet refers to, and the pods of others.
func (w *World) around() {
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "kube-system", Name: name, CreationTimestamp: w.ago(400 * 24 * time.Hour)}
	}
	w.Admission = &snapshot.Admission{
		Namespace:       &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}},
		ServiceAccounts: []corev1.ServiceAccount{{ObjectMeta: meta("agent")}},
		PriorityClasses: []schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: class}, Value: priority}},
	}
	object := func(kind snapshot.ReferredKind, name string, keys ...string) snapshot.Referred {
		return snapshot.Referred{Kind: kind, Name: name, Exists: true, KeysRead: true, Keys: keys, BinaryKeys: []string{}}
	}
	w.References = &snapshot.References{Objects: []snapshot.Referred{
		object(snapshot.ConfigMap, "agent-settings", "agent.yaml", "level"),
		object(snapshot.Secret, "agent-tls", "tls.crt", "tls.key"),
		object(snapshot.Secret, "agent-token", "token"),
	}}
	w.OtherPods = &snapshot.OtherPods{AllNodes: true}
	for _, n := range w.Nodes {
		for i := range 1 + w.IntN(4) {
			started := w.ago(90 * 24 * time.Hour)
			w.OtherPods.Pods = append(w.OtherPods.Pods, snapshot.PodRow{
				Namespace: "shop",
				Name:      fmt.Sprintf("web-%d-%s", i, n.Name),
				Node:      n.Name,
				Priority:  priority,
				StartTime: &started,
				Requests:  snapshot.Resources{MilliCPU: int64(50 * (1 + w.IntN(5))), Memory: int64(1+w.IntN(4)) << 29},
			})
		}
	}
}

// revision returns the ControllerRevision of the live template.
func (w *World) revision(number int64, made metav1.Time) appsv1.ControllerRevision {
	hash := hashes[number-1]
	c, err := template.Of(&w.DaemonSet.Spec.Template, false)
	if err != nil {
		panic(err)
	}
	raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": c}})
	if err != nil {
		panic(err)
	}
	return appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "kube-system", Name: "agent-" + hash, UID: types.UID("revision-" + hash), CreationTimestamp: made,
			Labels: map[string]string{"app": "agent", appsv1.DefaultDaemonSetUniqueLabelKey: hash}, OwnerReferences: owner(),
		},
		Data: runtime.RawExtension{Raw: raw}, Revision: number,
	}
}

func owner() []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{
		{
			APIVersion:         "apps/v1",
			Kind:               "DaemonSet",
			Name:               "agent",
			UID:                daemonSetUID,
			Controller:         &yes,
			BlockOwnerDeletion: &yes,
		},
	}
}

// pod returns a pod of the live template that has been ready since it started.
func (w *World) pod(node string, revision int64, made metav1.Time) corev1.Pod {
	t := w.DaemonSet.Spec.Template.DeepCopy()
	hash := hashes[revision-1]
	name := fmt.Sprintf("agent-%s-%d", node[len("worker-"):], revision)
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace:         "kube-system",
		Name:              name,
		UID:               types.UID("uid-" + name),
		CreationTimestamp: made,
		OwnerReferences:   owner(),
		Annotations:       t.Annotations,
		Labels: map[string]string{
			"app":                                 "agent",
			appsv1.DefaultDaemonSetUniqueLabelKey: hash,
			"pod-template-generation":             fmt.Sprint(revision),
		},
	}, Spec: t.Spec}
	p.Spec.NodeName = node
	target := corev1.NodeSelectorRequirement{
		Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
	}
	p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
	p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{target}}},
	}
	value := int32(0)
	if p.Spec.PriorityClassName == class {
		value = priority
	}
	p.Spec.Priority = &value
	w.start(&p)
	return p
}

// start makes a pod ready since it started.
func (w *World) start(p *corev1.Pod) {
	made := p.CreationTimestamp
	started := metav1.NewTime(made.Add(time.Second))
	ready := metav1.NewTime(made.Add(time.Duration(3+w.IntN(15)) * time.Second))
	is := func(what corev1.PodConditionType, since metav1.Time) corev1.PodCondition {
		return corev1.PodCondition{Type: what, Status: corev1.ConditionTrue, LastTransitionTime: since}
	}
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &started, Conditions: []corev1.PodCondition{
		is(corev1.PodScheduled, made), is(corev1.PodInitialized, started),
		is(corev1.ContainersReady, ready), is(corev1.PodReady, ready),
	}}
	yes := true
	for _, c := range p.Spec.InitContainers {
		s := corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true}
		s.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: started, FinishedAt: started}
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, s)
	}
	for _, c := range p.Spec.Containers {
		s := corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true, Started: &yes}
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: started}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
}

// taken returns the Snapshot as a reader of the cluster would. The status of the DaemonSet has no
// numbers, because they follow from the controller's rules, which this package does not know.
func (w *World) taken() *snapshot.Snapshot {
	s := w.Snapshot
	s.DaemonSet.Status = appsv1.DaemonSetStatus{ObservedGeneration: s.DaemonSet.Generation}
	s.Admission.ServiceAccounts = slices.DeleteFunc(s.Admission.ServiceAccounts, func(a corev1.ServiceAccount) bool {
		return a.Name != s.DaemonSet.Spec.Template.Spec.ServiceAccountName // only this one is read
	})
	for i := range s.Nodes {
		snapshot.StripNode(&s.Nodes[i])
	}
	for i := range s.Pods {
		snapshot.StripPod(&s.Pods[i])
	}
	for i := range s.Events {
		s.Events[i].Name = fmt.Sprintf("event-%d", i)
	}
	return s
}
