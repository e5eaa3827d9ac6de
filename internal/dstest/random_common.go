package dstest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// RandomCommon returns a random state with dozens of nodes. On some of them the pods crash. These
// nodes share a label, such as their architecture or operating system, or are arbitrary. On other
// nodes pods of the current or the previous revision work. The template may require Linux, so that
// kubelets of other nodes reject the pod. Messages of kubelets may give the reason.
func RandomCommon(seed int64) *snapshot.Snapshot {
	r := rand.New(rand.NewPCG(uint64(seed), 0x636f6d6d6f6e))
	label := [][3]string{{corev1.LabelArchStable, "arm64", "amd64"}, {corev1.LabelOSStable, "windows", "linux"}, {"example.com/disk", "nvme", "ssd"}, {"karpenter.sh/nodepool", "a", "b"}}[r.IntN(4)]
	works := []string{"N", "O"}[r.IntN(2)]
	message := []string{"", "exec format error"}[r.IntN(2)]
	cells, fails := make([]string, 20+r.IntN(30)), map[string]bool{}
	for i := range cells {
		if cells[i] = works; r.IntN(4) == 0 {
			cells[i], fails[fmt.Sprint("p", i)] = "n", true
		}
	}
	any := r.IntN(4) == 0
	rejects := label[0] == corev1.LabelOSStable && r.IntN(2) == 0
	return State(strings.Join(cells, " "), Edit(func(s *snapshot.Snapshot) {
		if rejects {
			s.DaemonSet.Spec.Template.Spec.OS = &corev1.PodOS{Name: corev1.Linux}
		}
		for i := range s.Nodes {
			has := fails[fmt.Sprint("p", i)]
			if any {
				has = r.IntN(2) == 0
			}
			s.Nodes[i].Labels[label[0]] = label[2]
			if has {
				s.Nodes[i].Labels[label[0]] = label[1]
			}
			s.Nodes[i].Labels[corev1.LabelTopologyZone] = string(rune('a' + r.IntN(3)))
			s.Nodes[i].Status.NodeInfo.KernelVersion = fmt.Sprintf("6.%d", r.IntN(3))
		}
		for i := range s.Pods {
			if fails[s.Pods[i].Name] {
				s.Pods[i].Status.ContainerStatuses = []corev1.ContainerStatus{{
					Name: "agent", RestartCount: 7, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
					LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(1 + r.IntN(2)), Message: message}},
				}}
			}
		}
	}))
}
