package dstest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// RandomBroken returns a random broken rollout; see Broken. The same seed always gives the same
// state.
func RandomBroken(seed int64) *snapshot.Snapshot {
	r := rand.New(rand.NewPCG(uint64(seed), 0x62726f6b656e))
	some := func(of []string, most int) (out []string) {
		for range 1 + r.IntN(most) {
			out = append(out, of[r.IntN(len(of))])
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	return Broken(seed, some(Edits(), 3), some(Breakers(), 2))
}

// Edits returns the names of the possible differences between the templates of agent-old and
// agent-new.
func Edits() []string { return slices.Sorted(maps.Keys(templateEdits)) }

// Breakers returns the names of the ways in which pods of a Broken state can fail.
func Breakers() []string { return slices.Sorted(maps.Keys(breakers)) }

// Broken returns a rollout from agent-old to agent-new. Their templates differ by the given Edits,
// and on some nodes pods fail in each of the given ways (see Breakers). Part of the states contains
// the optional parts of a Snapshot: pods of others, admission, references and volumes.
func Broken(seed int64, edits, ways []string) *snapshot.Snapshot {
	b := &breaking{Rand: rand.New(rand.NewPCG(uint64(seed), 0x627265616b))}
	old := brokenTemplate()
	live := old.DeepCopy()
	for _, name := range edits {
		templateEdits[name](live)
	}
	b.s = State(b.grid(), b.strategy(), DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Template = *live }))
	b.s.Revisions[0].Data.Raw = stored(old, false)
	b.s.Revisions[1].CreationTimestamp = ago(2 * time.Hour)
	b.prepare()
	b.read()
	for _, name := range ways {
		for _, i := range b.choose() {
			b.pod = &b.s.Pods[i]
			breakers[name](b)
		}
	}
	b.s.Pods = slices.DeleteFunc(b.s.Pods, func(p corev1.Pod) bool { return slices.Contains(b.gone, p.Name) })
	for i := range b.s.Events {
		b.s.Events[i].Name = fmt.Sprintf("event-%d", i)
	}
	return b.s
}

type breaking struct {
	*rand.Rand
	s    *snapshot.Snapshot
	pod  *corev1.Pod
	hit  []string // failing pods
	gone []string // missing pods
}

// grid draws the nodes. Most have an old pod and the first ones a new pod.
func (b *breaking) grid() string {
	nodes := 3 + b.IntN(6)
	updated := 1 + b.IntN(nodes)
	cells := make([]string, nodes)
	for i := range cells {
		if cells[i] = "O"; i < updated {
			cells[i] = "N"
		}
	}
	b.Shuffle(nodes, func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	return strings.Join(cells, " ")
}

func (b *breaking) strategy() Option {
	switch b.IntN(8) {
	case 0:
		return OnDelete()
	case 1:
		return MaxSurge("1")
	case 2:
		return MaxUnavailable("50%")
	}
	return MaxUnavailable([]string{"1", "2"}[b.IntN(2)])
}

// prepare gives nodes resources, and pods the times and revisions of a rollout that began two hours
// ago.
func (b *breaking) prepare() {
	for i := range b.s.Nodes {
		b.s.Nodes[i].Status.Allocatable = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi"),
			corev1.ResourcePods: resource.MustParse("20"),
		}
	}
	for i := range b.s.Pods {
		p := &b.s.Pods[i]
		if p.Labels[hashLabel] != NewHash {
			p.Spec.Containers[0].Resources = brokenTemplate().Spec.Containers[0].Resources
			continue
		}
		p.CreationTimestamp = ago(time.Duration(20+b.IntN(60)) * time.Minute)
		p.Status.Conditions = readyCondition(corev1.ConditionTrue, metav1.NewTime(p.CreationTimestamp.Add(20*time.Second)))
		p.Spec.Containers[0].Resources = b.s.DaemonSet.Spec.Template.Spec.Containers[0].Resources
		p.Spec.Containers[0].Ports = b.s.DaemonSet.Spec.Template.Spec.Containers[0].Ports
	}
}

// choose draws pods that do not fail yet, mostly new ones.
func (b *breaking) choose() (out []int) {
	most := 1 + b.IntN(4)
	for i := range b.s.Pods {
		p := &b.s.Pods[i]
		updated := p.Labels[hashLabel] == NewHash
		if len(out) < most && !slices.Contains(b.hit, p.Name) && (updated || b.IntN(8) == 0) {
			out, b.hit = append(out, i), append(b.hit, p.Name)
		}
	}
	return out
}

func brokenTemplate() *corev1.PodTemplateSpec {
	t := newDaemonSet().Spec.Template
	c := &t.Spec.Containers[0]
	c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
	c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "settings"},
	}}}
	t.Spec.Volumes = []corev1.Volume{
		{Name: "token", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}},
		{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
			SizeLimit: resource.NewQuantity(1<<30, resource.BinarySI),
		}}},
	}
	return &t
}

// templateEdits are changes to a template by name.
var templateEdits = map[string]func(*corev1.PodTemplateSpec){
	"image":     func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "example/agent:3" },
	"args":      func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Args = []string{"--level=debug"} },
	"restarted": func(t *corev1.PodTemplateSpec) { restarted(t) },
	"toleration": func(t *corev1.PodTemplateSpec) {
		t.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	},
	"gate": func(t *corev1.PodTemplateSpec) {
		t.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/ok"}}
	},
	"grace": func(t *corev1.PodTemplateSpec) {
		seconds := int64(60)
		t.Spec.TerminationGracePeriodSeconds = &seconds
	},
	"port": func(t *corev1.PodTemplateSpec) {
		port := corev1.ContainerPort{ContainerPort: 9100, HostPort: 9100, Protocol: corev1.ProtocolTCP}
		t.Spec.Containers[0].Ports = []corev1.ContainerPort{port}
	},
	"request": func(t *corev1.PodTemplateSpec) {
		t.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}
	},
	"reference": func(t *corev1.PodTemplateSpec) {
		t.Spec.Containers[0].EnvFrom[0].ConfigMapRef.Name = "settings-2"
	},
	"volume": func(t *corev1.PodTemplateSpec) { t.Spec.Volumes[0].Secret.SecretName = "token-2" },
	"limit": func(t *corev1.PodTemplateSpec) {
		t.Spec.Volumes[1].EmptyDir.SizeLimit = resource.NewQuantity(1<<20, resource.BinarySI)
	},
	"class": func(t *corev1.PodTemplateSpec) { t.Spec.PriorityClassName = "important" },
}

func restarted(t *corev1.PodTemplateSpec) {
	t.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "2026-03-01T10:00:00Z"}
}

// breakers make a pod fail and add the messages that report it, by name.
var breakers = map[string]func(*breaking){
	"crash": func(b *breaking) { b.waits("agent", "CrashLoopBackOff", "back-off 5m0s restarting failed container") },
	"injected": func(b *breaking) {
		b.waits("sidecar-proxy", "CrashLoopBackOff", "back-off 5m0s restarting failed container")
	},
	"oom": func(b *breaking) {
		b.waits("agent", "CrashLoopBackOff", "back-off 5m0s restarting failed container")
		b.pod.Status.ContainerStatuses[0].LastTerminationState.Terminated.Reason = "OOMKilled"
	},
	"probe": func(b *breaking) {
		b.unready()
		running := &corev1.ContainerStateRunning{StartedAt: b.pod.CreationTimestamp}
		b.pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "agent", State: corev1.ContainerState{Running: running},
		}}
		b.says("Unhealthy", "Readiness probe failed: connection refused")
	},
	"image": func(b *breaking) {
		b.waits("agent", "ImagePullBackOff", `Back-off pulling image: ErrImagePull: manifest unknown: not found`)
	},
	"registry": func(b *breaking) { b.waits("agent", "ImagePullBackOff", "dial tcp 192.0.2.1:443: i/o timeout") },
	"config": func(b *breaking) {
		name := b.s.DaemonSet.Spec.Template.Spec.Containers[0].EnvFrom[0].ConfigMapRef.Name
		b.waits("agent", "CreateContainerConfigError", fmt.Sprintf("configmap %q not found", name))
		b.lacks(snapshot.ConfigMap, name)
	},
	"secret": func(b *breaking) {
		name := b.s.DaemonSet.Spec.Template.Spec.Volumes[0].Secret.SecretName
		b.waits("agent", "ContainerCreating", "")
		b.says("FailedMount", fmt.Sprintf(`MountVolume.SetUp failed for volume "token" : secret %q not found`, name))
		b.lacks(snapshot.Secret, name)
	},
	"mount": func(b *breaking) {
		b.waits("agent", "ContainerCreating", "")
		b.says("FailedMount", `MountVolume.SetUp failed for volume "cache" : mkdir: read-only file system`)
	},
	"network": func(b *breaking) {
		b.waits("agent", "ContainerCreating", "")
		b.says("FailedCreatePodSandBox", "Failed to create pod sandbox: no IP addresses available")
	},
	"pressure": func(b *breaking) {
		b.evicted("Pod was rejected: The node had condition: [DiskPressure]. ")
		if n := b.node(); b.IntN(2) == 0 {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
				Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue,
			})
		}
	},
	"emptyDir": func(b *breaking) { b.evicted(`Usage of EmptyDir volume "cache" exceeds the limit "1Gi". `) },
	"closed": func(b *breaking) {
		b.unready()
		b.pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/ok"}}
		b.pod.Status.Conditions = append(b.pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.ContainersReady, Status: corev1.ConditionTrue,
		})
	},
	"room": func(b *breaking) {
		b.pending("Insufficient cpu")
		b.takes(snapshot.PodRow{Requests: snapshot.Resources{MilliCPU: 1000 + 950*b.Int64N(2)}})
	},
	"taken": func(b *breaking) {
		b.pending("node(s) didn't have free ports for the requested pod ports")
		b.takes(snapshot.PodRow{HostPorts: []snapshot.HostPort{{Protocol: corev1.ProtocolTCP, Port: 9100}}})
	},
	"quota": func(b *breaking) {
		b.refused(`pods "agent-x" is forbidden: exceeded quota: few, requested: pods=1, used: pods=9, limited: pods=9`)
		if b.s.Admission != nil && len(b.s.Admission.ResourceQuotas) == 0 {
			pods := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("9")}
			b.s.Admission.ResourceQuotas = []corev1.ResourceQuota{{
				ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "few"},
				Spec:       corev1.ResourceQuotaSpec{Hard: pods}, Status: corev1.ResourceQuotaStatus{Hard: pods, Used: pods},
			}}
		}
	},
	"webhook": func(b *breaking) { b.refused(`admission webhook "check.example.com" denied the request: no`) },
	"class": func(b *breaking) {
		b.refused(`pods "agent-x" is forbidden: no PriorityClass with name important was found`)
	},
	"down": func(b *breaking) {
		b.unready()
		status := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionUnknown}[b.IntN(2)]
		b.node().Status.Conditions = []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: status, LastTransitionTime: ago(time.Duration(10+b.IntN(300)) * time.Minute),
		}}
	},
}

// node returns the node of the pod.
func (b *breaking) node() *corev1.Node {
	i := slices.IndexFunc(b.s.Nodes, func(n corev1.Node) bool { return n.Name == b.pod.Spec.NodeName })
	return &b.s.Nodes[i]
}

func (b *breaking) unready() {
	b.pod.Status.Conditions = readyCondition(corev1.ConditionFalse, b.pod.CreationTimestamp)
}

func (b *breaking) waits(container, reason, message string) {
	b.unready()
	c := corev1.ContainerStatus{
		Name: container, Image: b.pod.Spec.Containers[0].Image,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
	}
	if reason == "CrashLoopBackOff" {
		c.RestartCount = 7
		c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}
	}
	b.pod.Status.ContainerStatuses = []corev1.ContainerStatus{c}
}

func (b *breaking) evicted(message string) {
	b.unready()
	b.pod.Status.Phase, b.pod.Status.Reason, b.pod.Status.Message = corev1.PodFailed, "Evicted", message
	e := b.event("FailedDaemonPod", fmt.Sprintf(
		"Found failed daemon pod %s/%s on node %s, will try to kill it", Namespace, b.pod.Name, b.pod.Spec.NodeName))
	e.Count = 5
	b.s.Events = append(b.s.Events, e)
}

// pending makes the pod unscheduled.
func (b *breaking) pending(why string) {
	t := b.s.DaemonSet.Spec.Template.Spec.DeepCopy()
	t.Affinity = b.pod.Spec.Affinity
	if b.pod.Labels[hashLabel] == NewHash {
		b.pod.Spec = *t
	}
	b.pod.Spec.NodeName = ""
	b.pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
		LastTransitionTime: b.pod.CreationTimestamp,
		Message:            "0/3 nodes are available: 1 " + why + ", 2 node(s) didn't match Pod's node affinity/selector.",
	}}}
}

// takes adds a pod of another workload to the node, if the state contains pods of others.
func (b *breaking) takes(row snapshot.PodRow) {
	if b.s.OtherPods == nil {
		return
	}
	required := b.pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	row.Node = required.NodeSelectorTerms[0].MatchFields[0].Values[0]
	row.Namespace, row.Name = "monitoring", "exporter-"+row.Node
	b.s.OtherPods.Pods = append(b.s.OtherPods.Pods, row)
}

// refused makes the API server reject the pod.
func (b *breaking) refused(message string) {
	b.gone = append(b.gone, b.pod.Name)
	if e := b.event("FailedCreate", "Error creating: "+message); b.IntN(8) > 0 {
		e.FirstTimestamp = ago(10 * time.Minute)
		b.s.Events = append(b.s.Events, e)
	}
}

func (b *breaking) event(reason, message string) corev1.Event {
	return corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Name: Name, UID: uid},
		Reason:         reason, Message: message, LastTimestamp: ago(time.Minute), Count: 3,
	}
}

func (b *breaking) says(reason, message string) {
	e := b.event(reason, message)
	e.InvolvedObject = corev1.ObjectReference{Kind: "Pod", Name: b.pod.Name, UID: b.pod.UID}
	b.s.Events = append(b.s.Events, e)
}

// lacks makes an object missing, if the state contains references.
func (b *breaking) lacks(kind snapshot.ReferredKind, name string) {
	if o := b.s.References.Find(kind, name); o != nil {
		o.Exists, o.Keys = false, nil
	}
}

// read adds the optional parts of the Snapshot.
func (b *breaking) read() {
	if b.IntN(2) == 0 {
		b.s.OtherPods = &snapshot.OtherPods{AllNodes: true}
	}
	if b.IntN(2) == 0 {
		b.s.Admission = &snapshot.Admission{
			Namespace:       &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}},
			ServiceAccounts: []corev1.ServiceAccount{{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "default"}}},
		}
	}
	if b.IntN(2) == 0 {
		b.s.References = &snapshot.References{}
		add := func(kind snapshot.ReferredKind, names ...string) {
			for _, name := range names {
				b.s.References.Objects = append(b.s.References.Objects, snapshot.Referred{Kind: kind, Name: name, Exists: true})
			}
		}
		add(snapshot.ConfigMap, "settings", "settings-2")
		add(snapshot.Secret, "token", "token-2")
	}
	if b.IntN(2) == 0 {
		b.s.Volumes = &snapshot.Volumes{AllNodes: true}
	}
}
