package snapshot

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

func TestStripPod(t *testing.T) {
	at := metav1.Unix(1_800_000_000, 0)
	affinity := func(preferred []corev1.PreferredSchedulingTerm) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}},
			PreferredDuringSchedulingIgnoredDuringExecution: preferred,
		}}
	}
	preferred := []corev1.PreferredSchedulingTerm{{Weight: 1}}
	priority, never := int32(7), corev1.PreemptNever
	for _, tt := range []struct {
		pod, want corev1.PodSpec
		why       string
	}{
		{corev1.PodSpec{Affinity: affinity(preferred)}, corev1.PodSpec{Affinity: affinity(nil)}, "a pod that is not bound is for the node that its required affinity names"},
		{corev1.PodSpec{NodeName: "n", Affinity: affinity(preferred)}, corev1.PodSpec{NodeName: "n"}, "one that is bound is for that node"},
		{
			corev1.PodSpec{Volumes: []corev1.Volume{{}}, Containers: []corev1.Container{{Name: "c", Image: "i", Env: []corev1.EnvVar{{Value: "secret"}}}}},
			corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			"of a container its image stays",
		},
		{
			corev1.PodSpec{NodeName: "n", NodeSelector: map[string]string{"k": "v"}, Tolerations: []corev1.Toleration{{Key: "k"}}},
			corev1.PodSpec{NodeName: "n", NodeSelector: map[string]string{"k": "v"}},
			"of what chose the node of a pod that is bound its node selector stays",
		},
		{
			corev1.PodSpec{NodeSelector: map[string]string{"k": "v"}, Tolerations: []corev1.Toleration{{Key: "k"}}},
			corev1.PodSpec{NodeSelector: map[string]string{"k": "v"}, Tolerations: []corev1.Toleration{{Key: "k"}}},
			"and stays with one that is not, since a RuntimeClass may have added to it",
		},
		{
			corev1.PodSpec{NodeName: "n", ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "c"}}},
			corev1.PodSpec{NodeName: "n", ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "c"}}},
			"what else it waits for stays",
		},
		{
			corev1.PodSpec{Volumes: []corev1.Volume{
				{Name: "a", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c", ReadOnly: true}}},
				{Name: "b", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}}}},
				{Name: "s", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}},
			}},
			corev1.PodSpec{Volumes: []corev1.Volume{
				{Name: "a", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}},
				{Name: "b", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
			}},
			"of volumes, those that have claims",
		},
		{
			corev1.PodSpec{NodeName: "n", Volumes: []corev1.Volume{{Name: "a", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}}},
			corev1.PodSpec{NodeName: "n"}, "which a pod that is bound has attached",
		},
		{
			corev1.PodSpec{
				Priority: &priority, PriorityClassName: "high", PreemptionPolicy: &never, SchedulerName: "other", SchedulingGates: []corev1.PodSchedulingGate{{Name: "g"}},
				Overhead:         corev1.ResourceList{"cpu": resource.MustParse("1")},
				Resources:        &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("2")}, Limits: corev1.ResourceList{"cpu": resource.MustParse("3")}},
				RuntimeClassName: new(string), ServiceAccountName: "sa",
			},
			corev1.PodSpec{
				Priority: &priority, PriorityClassName: "high", PreemptionPolicy: &never, SchedulerName: "other", SchedulingGates: []corev1.PodSchedulingGate{{Name: "g"}},
				Overhead:  corev1.ResourceList{"cpu": resource.MustParse("1")},
				Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("2")}},
			},
			"what the scheduler reads of it stays",
		},
	} {
		p := corev1.Pod{Spec: tt.pod}
		StripPod(&p)
		tt.want.Containers, tt.want.InitContainers = StripContainers(tt.want.Containers), StripContainers(nil)
		if diff := cmp.Diff(tt.want, p.Spec); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}

	yes := true
	ended := func(id string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "m", StartedAt: at, FinishedAt: at, ContainerID: id}}
	}
	statuses := func(id string) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{
			Name: "c", Image: "i", ImageID: id, ContainerID: id, Ready: true, Started: &yes, RestartCount: 2, State: ended(id), LastTerminationState: ended(id),
		}}
	}
	condition := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "r", Message: "m", LastTransitionTime: at}
	probed := condition
	probed.LastProbeTime = at
	p := corev1.Pod{Status: corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.0.0.1", NominatedNodeName: "n", Conditions: []corev1.PodCondition{probed}, InitContainerStatuses: statuses("id"), ContainerStatuses: statuses("id"),
	}}
	StripPod(&p)
	want := corev1.PodStatus{Phase: corev1.PodRunning, NominatedNodeName: "n", Conditions: []corev1.PodCondition{condition}, InitContainerStatuses: statuses(""), ContainerStatuses: statuses("")}
	if diff := cmp.Diff(want, p.Status); diff != "" {
		t.Errorf("the status (-want +got):\n%s", diff)
	}
}

// TestStripPodAnnotations checks which annotations of a pod stay.
func TestStripPodAnnotations(t *testing.T) {
	long := strings.Repeat("x", 79) + "é"
	for _, tt := range []struct {
		all, want map[string]string
		why       string
	}{
		{nil, nil, "none"},
		{map[string]string{}, nil, "an empty map"},
		{map[string]string{"kubectl.kubernetes.io/restartedAt": "now"}, nil, "no other"},
		{
			map[string]string{"openshift.io/scc": "restricted-v2", "linkerd.io/inject": "enabled", "a": "b"},
			map[string]string{"openshift.io/scc": "restricted-v2", "linkerd.io/inject": "enabled"}, "some",
		},
		{map[string]string{"sidecar.istio.io/status": `{"containers":["istio-proxy"]}`}, map[string]string{"sidecar.istio.io/status": ""}, "of a document the name"},
		{map[string]string{"dapr.io/enabled": long}, map[string]string{"dapr.io/enabled": long[:79]}, "no half of a character"},
	} {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: maps.Clone(tt.all)}}
		given := p.Annotations
		StripPod(&p)
		if diff := cmp.Diff(tt.want, p.Annotations); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
		if diff := cmp.Diff(tt.all, given); diff != "" {
			t.Errorf("%s: a map was changed that others may have (-before +after):\n%s", tt.why, diff)
		}
		if len(p.Annotations) > 0 { // several pods share them
			kept := p.Annotations
			StripPod(&p)
			if reflect.ValueOf(kept).Pointer() != reflect.ValueOf(p.Annotations).Pointer() {
				t.Errorf("%s: stripped twice it has another map", tt.why)
			}
		}
	}
}

// TestStripNode checks that every property that nodes can have in common stays.
func TestStripNode(t *testing.T) {
	at := metav1.Unix(1_800_000_000, 0)
	condition := corev1.NodeCondition{Type: "FrequentContainerdRestart", Status: corev1.ConditionTrue, Reason: "r", Message: "m", LastTransitionTime: at, LastHeartbeatTime: at}
	meta := metav1.ObjectMeta{Name: "n", Labels: map[string]string{"type": "virtual-kubelet"}, DeletionTimestamp: &at, Finalizers: []string{"f"}}
	spec := corev1.NodeSpec{Unschedulable: true, Taints: []corev1.Taint{{Key: "k"}}}
	n := corev1.Node{ObjectMeta: *meta.DeepCopy(), Spec: *spec.DeepCopy(), Status: corev1.NodeStatus{
		Conditions: []corev1.NodeCondition{condition},
		Capacity:   corev1.ResourceList{"cpu": resource.MustParse("4")}, Images: []corev1.ContainerImage{{SizeBytes: 1}},
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion: "v1.37.1", KernelVersion: "6.12", ContainerRuntimeVersion: "containerd://2.2", OSImage: "Debian", OperatingSystem: "linux", Architecture: "arm64",
			MachineID: "m", SystemUUID: "s", BootID: "b",
		},
	}}
	n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("3")}
	n.Annotations, n.Spec.PodCIDR = map[string]string{"a": "b"}, "10.0.0.0/24"
	StripNode(&n)
	want := corev1.Node{ObjectMeta: meta, Spec: spec, Status: corev1.NodeStatus{
		Conditions:  []corev1.NodeCondition{condition},
		Allocatable: corev1.ResourceList{"cpu": resource.MustParse("3")},
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion: "v1.37.1", KernelVersion: "6.12", ContainerRuntimeVersion: "containerd://2.2", OSImage: "Debian", OperatingSystem: "linux", Architecture: "arm64",
		},
	}}
	if diff := cmp.Diff(want, n); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStripResize checks that the requests in a pod's status are removed,
// unless the pod is being resized.
func TestStripResize(t *testing.T) {
	cpu := func(amount string) corev1.ResourceList {
		if amount == "" {
			return nil
		}
		return corev1.ResourceList{"cpu": resource.MustParse(amount)}
	}
	for _, tt := range []struct {
		spec, allocated, actual string
		infeasible              bool
		keeps                   bool
		why                     string
	}{
		{"1", "", "", false, false, "before a kubelet saw it"},
		{"1", "1", "1", false, false, "nothing is resized"},
		{"2", "1", "1", false, false, "a resize to more counts with the spec already"},
		{"1", "2", "2", false, true, "one to less counts with what is allocated until it is done"},
		{"1", "1", "2", false, true, "or with what is in effect"},
		{"2", "1", "1", true, true, "of an infeasible one the spec does not count"},
		{"1", "1", "1", true, true, "whatever it says"},
	} {
		p := corev1.Pod{Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: cpu(tt.spec)}}}}}
		status := corev1.ContainerStatus{Name: "c", AllocatedResources: cpu(tt.allocated)}
		if tt.actual != "" {
			status.Resources = &corev1.ResourceRequirements{Requests: cpu(tt.actual), Limits: cpu("9")}
		}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{status}
		if tt.infeasible {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible}}
		}
		before := RequestsOf(&p)
		StripPod(&p)
		want := corev1.ContainerStatus{Name: "c"}
		if tt.keeps {
			want.AllocatedResources, want.Resources = cpu(tt.allocated), &corev1.ResourceRequirements{Requests: cpu(tt.actual)}
		}
		if diff := cmp.Diff([]corev1.ContainerStatus{want}, p.Status.ContainerStatuses); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
		if diff := cmp.Diff(before, RequestsOf(&p)); diff != "" {
			t.Errorf("%s: it counts otherwise (-before +after):\n%s", tt.why, diff)
		}
	}
}

// TestStripPodCountsAsBefore checks that stripping a pod, once or twice, does
// not change how it counts.
func TestStripPodCountsAsBefore(t *testing.T) {
	kept := 0
	for seed := range cases.Of(3000) {
		r := rand.New(rand.NewPCG(uint64(seed), 16))
		p := randomPod(r)
		row, ok := RowOf(p)
		for _, time := range []string{"once", "twice"} {
			StripPod(p)
			got, still := RowOf(p)
			if diff := cmp.Diff(row, got); diff != "" || ok != still {
				t.Fatalf("seed %d, stripped %s: %t and %t (-before +after):\n%s", seed, time, ok, still, diff)
			}
		}
		if p.Status.AllocatedResources != nil || slices.ContainsFunc(p.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.AllocatedResources != nil }) {
			kept++
		}
	}
	if kept < cases.Least(100) {
		t.Errorf("only %d pods count with what their status says", kept)
	}
}

// randomPod returns a pod with containers of every kind, sometimes during a
// resize.
func randomPod(r *rand.Rand) *corev1.Pod {
	some := func() corev1.ResourceList {
		l := corev1.ResourceList{}
		for _, name := range []corev1.ResourceName{"cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi"} {
			if r.IntN(3) == 0 {
				l[name] = *resource.NewMilliQuantity(int64(r.IntN(4))*500, resource.DecimalSI)
			}
		}
		return l
	}
	p := &corev1.Pod{}
	p.Namespace, p.Name = "ns", "p"
	always := corev1.ContainerRestartPolicyAlways
	containers := func(prefix string) (spec []corev1.Container, status []corev1.ContainerStatus) {
		for i := range r.IntN(4) {
			c := corev1.Container{Name: prefix + string(rune('a'+i)), Env: []corev1.EnvVar{{Name: "TOKEN", Value: "hidden"}}}
			c.Resources.Requests = some()
			c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: int32(r.IntN(2)) * 8080, HostIP: []string{"", "0.0.0.0", "10.0.0.1"}[r.IntN(3)], Protocol: corev1.ProtocolTCP}}
			if prefix == "init-" && r.IntN(2) == 0 {
				c.RestartPolicy = &always
			}
			spec = append(spec, c)
			s := corev1.ContainerStatus{Name: c.Name}
			if r.IntN(2) == 0 {
				s.AllocatedResources = some()
			}
			if r.IntN(2) == 0 {
				s.Resources = &corev1.ResourceRequirements{Requests: some(), Limits: some()}
			}
			if r.IntN(4) > 0 {
				status = append(status, s)
			}
		}
		return spec, status
	}
	p.Spec.Containers, p.Status.ContainerStatuses = containers("")
	p.Spec.InitContainers, p.Status.InitContainerStatuses = containers("init-")
	if r.IntN(2) == 0 {
		p.Spec.Overhead = some()
	}
	if r.IntN(3) == 0 {
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: some(), Limits: some()}
	}
	if r.IntN(3) == 0 {
		p.Status.Resources, p.Status.AllocatedResources = &corev1.ResourceRequirements{Requests: some(), Limits: some()}, some()
	}
	if r.IntN(4) == 0 {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: []string{corev1.PodReasonInfeasible, corev1.PodReasonDeferred}[r.IntN(2)]}}
	}
	p.Spec.NodeName, p.Status.NominatedNodeName = []string{"", "n"}[r.IntN(2)], []string{"", "n"}[r.IntN(2)]
	p.Status.Phase = []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded}[r.IntN(3)]
	if r.IntN(2) == 0 {
		priority := int32(r.IntN(10))
		p.Spec.Priority = &priority
	}
	return p
}

// TestStripRevision checks that only the entry for the number stays, with its
// time.
func TestStripRevision(t *testing.T) {
	at := metav1.Unix(1_800_000_000, 0)
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	r := appsv1.ControllerRevision{Revision: 3}
	r.ManagedFields = []metav1.ManagedFieldsEntry{
		entry("kube-controller-manager", `{"f:data":{},"f:metadata":{"f:annotations":{}},"f:revision":{}}`), entry("somebody", `{"f:metadata":{"f:labels":{"f:revision":{}}}}`), entry("broken", `{`),
	}
	want := appsv1.ControllerRevision{Revision: 3}
	want.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", Time: &at}}
	for _, time := range []string{"once", "twice"} {
		StripRevision(&r)
		if diff := cmp.Diff(want, r); diff != "" {
			t.Errorf("stripped %s (-want +got):\n%s", time, diff)
		}
	}
}

// TestStripServiceAccount checks that Secrets stay if pods may use no others.
func TestStripServiceAccount(t *testing.T) {
	secrets := []corev1.ObjectReference{{Name: "known", Namespace: "ns"}}
	pull := []corev1.LocalObjectReference{{Name: "pull"}}
	full := func(annotations map[string]string) *corev1.ServiceAccount {
		return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"x": "y"}, Annotations: annotations}, Secrets: slices.Clone(secrets), ImagePullSecrets: pull}
	}
	strict := full(map[string]string{EnforceSecrets: "true", "other": "z"})
	usual := full(map[string]string{"other": "z"})
	StripServiceAccount(strict)
	StripServiceAccount(usual)
	want := []*corev1.ServiceAccount{
		{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{EnforceSecrets: "true"}}, Secrets: []corev1.ObjectReference{{Name: "known"}}, ImagePullSecrets: pull},
		{ObjectMeta: metav1.ObjectMeta{Name: "a"}, ImagePullSecrets: pull},
	}
	if diff := cmp.Diff(want, []*corev1.ServiceAccount{strict, usual}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
