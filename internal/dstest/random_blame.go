package dstest

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// RandomBlame returns a random state in which more pods fail than in RandomTrouble, with messages
// of kubelets that show whose fault it is: evictions, injected containers, missing images and
// objects, and an unreachable registry. Some nodes are virtual.
func RandomBlame(seed int64) *snapshot.Snapshot {
	s := RandomTrouble(seed)
	r := rand.New(rand.NewPCG(uint64(seed), 0x626c616d65))
	for i := range s.Pods {
		if p := &s.Pods[i]; r.IntN(3) > 0 && p.Status.Phase != "" && p.DeletionTimestamp == nil {
			fail(r, s, p)
		}
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; r.IntN(12) == 0 {
			metav1.SetMetaDataLabel(&n.ObjectMeta, "eks.amazonaws.com/compute-type", "fargate")
		}
	}
	return s
}

var evictions = []string{
	"The node was low on resource: ephemeral-storage. Threshold quantity: 10%, available: 9%. ", "Pod was rejected: The node had condition: [DiskPressure]. ",
	`Usage of EmptyDir volume "cache" exceeds the limit "1Gi". `, "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",
}

// failures are reasons of waiting containers, with messages of kubelets.
var failures = [][2]string{
	{"ImagePullBackOff", `Back-off pulling image "example/agent:3": ErrImagePull: not found`}, {"ImagePullBackOff", "dial tcp 192.0.2.1:443: i/o timeout"},
	{"CreateContainerConfigError", `configmap "settings" not found`}, {"CreateContainerConfigError", "couldn't find key level in Secret kube-system/token"},
	{"CrashLoopBackOff", "back-off 5m0s restarting failed container"},
}

func fail(r *rand.Rand, s *snapshot.Snapshot, p *corev1.Pod) {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
			c.Status = corev1.ConditionFalse
		}
	}
	p.Status.ContainerStatuses, p.Status.InitContainerStatuses = nil, nil
	if r.IntN(3) == 0 {
		p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Evicted", evictions[r.IntN(len(evictions))]
		if r.IntN(2) == 0 {
			press(s, p.Spec.NodeName)
		}
		return
	}
	f, container := failures[r.IntN(len(failures))], "agent"
	if f[0] == "CrashLoopBackOff" && r.IntN(2) == 0 {
		container = fmt.Sprint("sidecar-", r.IntN(2))
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: container, RestartCount: int32(r.IntN(9)), State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: f[0], Message: f[1]}},
	}}
}

// press adds the condition DiskPressure to a node.
func press(s *snapshot.Snapshot, name string) {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Name == name && len(n.Status.Conditions) > 0 {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue})
		}
	}
}
