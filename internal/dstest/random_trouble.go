package dstest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// troubleVersions are versions between which the rules that an Explanation shows differ.
var troubleVersions = []string{Newest, Newest, Newest, "v1.30.5", "v1.25.0", "v1.20.4"}

// RandomTrouble returns a random state in which pods and nodes report problems. Some parts may be
// Gaps.
func RandomTrouble(seed int64) *snapshot.Snapshot {
	return troubled(RandomFor(seed, troubleVersions[int(seed)%len(troubleVersions)]), seed)
}

func troubled(s *snapshot.Snapshot, seed int64) *snapshot.Snapshot {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	for i := range s.Nodes {
		if r.IntN(8) == 0 {
			downNode(r, &s.Nodes[i])
		}
	}
	for i := range s.Pods {
		trouble(r, s, &s.Pods[i])
	}
	for range r.IntN(5) {
		s.Events = append(s.Events, dsEvent(s, r))
	}
	for i := range s.Events {
		s.Events[i].Name = fmt.Sprintf("event-%d", i)
	}
	s.DaemonSet.Status.DesiredNumberScheduled = int32(r.IntN(6))
	if r.IntN(3) == 0 {
		written := metav1.NewTime(s.TakenAt.Add(-time.Duration(r.IntN(3600)) * time.Second))
		s.DaemonSet.ManagedFields = []metav1.ManagedFieldsEntry{{Subresource: "status", Time: &written}, {Time: &written}}
	}
	if r.IntN(10) == 0 {
		s.DaemonSet.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
	}
	if ru := s.DaemonSet.Spec.UpdateStrategy.RollingUpdate; ru != nil && r.IntN(50) == 0 {
		ru.MaxUnavailable = &intstr.IntOrString{Type: intstr.String, StrVal: "half"}
	}
	takeAway(r, s)
	return s
}

// takeAway removes a part of the state, as missing permissions or an incomplete dump do.
func takeAway(r *rand.Rand, s *snapshot.Snapshot) {
	lose := func(what snapshot.What) {
		s.Gaps = append(s.Gaps, snapshot.Gap{What: what, Why: snapshot.Forbidden})
	}
	switch r.IntN(16) {
	case 0:
		s.Nodes = nil
		lose(snapshot.Nodes)
	case 1:
		s.Pods = nil
		lose(snapshot.Pods)
	case 2:
		s.Revisions = nil
		lose(snapshot.Revisions)
	case 3:
		s.Events = nil
		lose(snapshot.Events)
	case 4:
		Stripped(s, r.IntN(7)+1)
	case 5:
		s.Nodes = nil
		lose(snapshot.Nodes)
		Stripped(s, 1)
	}
}

// Stripped removes the status, as backups do, of the kinds whose bits are set in which: DaemonSet
// (1), nodes (2), pods (4).
func Stripped(s *snapshot.Snapshot, which int) {
	lose := func(what snapshot.What) {
		s.Gaps = append(s.Gaps, snapshot.Gap{What: what, Why: snapshot.NotGiven})
	}
	if which&1 != 0 {
		s.DaemonSet = s.DaemonSet.DeepCopy()
		s.DaemonSet.Status = appsv1.DaemonSetStatus{}
		lose(snapshot.DaemonSetStatus)
	}
	if which&2 != 0 {
		s.Nodes = slices.Clone(s.Nodes)
		for i := range s.Nodes {
			s.Nodes[i].Status = corev1.NodeStatus{}
		}
		lose(snapshot.NodeStatus)
	}
	if which&4 != 0 {
		s.Pods = slices.Clone(s.Pods)
		for i := range s.Pods {
			s.Pods[i].Status = corev1.PodStatus{}
		}
		lose(snapshot.PodStatus)
	}
}

func downNode(r *rand.Rand, n *corev1.Node) {
	n.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionUnknown}[r.IntN(2)],
		LastTransitionTime: before(r),
	}}
	if r.IntN(2) == 0 {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule})
	}
}

func before(r *rand.Rand) metav1.Time {
	return metav1.NewTime(Now.Add(-time.Duration(r.IntN(7200)-10) * time.Second))
}

var waitReasons = []string{
	"CrashLoopBackOff", "ImagePullBackOff", "ContainerCreating", "CreateContainerConfigError", "PodInitializing", "RunContainerError", "something new",
}

// trouble gives a pod a container that reports a problem.
func trouble(r *rand.Rand, s *snapshot.Snapshot, p *corev1.Pod) {
	if r.IntN(3) > 0 {
		return
	}
	if p.Status.Phase == corev1.PodFailed {
		e := dsEvent(s, r)
		e.Reason, e.Message, e.Count = "FailedDaemonPod", "Found failed daemon pod kube-system/x on node "+p.Spec.NodeName+", will try to kill it", 5
		e.LastTimestamp = metav1.NewTime(Now.Add(-time.Minute))
		s.Events = append(s.Events, e)
	}
	c := corev1.ContainerStatus{Name: "agent", Image: "example/agent", RestartCount: int32(r.IntN(4))}
	switch r.IntN(4) {
	case 0:
		c.State.Running = &corev1.ContainerStateRunning{StartedAt: before(r)}
	case 1:
		c.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: int32(r.IntN(2))}
	default:
		c.State.Waiting = &corev1.ContainerStateWaiting{Reason: waitReasons[r.IntN(len(waitReasons))], Message: "words"}
	}
	if r.IntN(2) == 0 {
		c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: int32(r.IntN(2)), Reason: []string{"Error", "OOMKilled"}[r.IntN(2)], Message: "last words"}
	}
	if r.IntN(4) == 0 {
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{c}
	} else {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{c}
	}
	if p.Spec.NodeName == "" {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", LastTransitionTime: before(r),
			Message: "0/3 nodes are available: 1 " + []string{"Insufficient cpu", "Too many pods", "node(s) didn't have free ports for the requested pod ports", "node(s) had untolerated taint(s)"}[r.IntN(4)]}}
	}
	if r.IntN(2) == 0 {
		e := dsEvent(s, r)
		e.InvolvedObject = corev1.ObjectReference{Kind: "Pod", Name: p.Name, UID: p.UID}
		e.Reason = []string{"FailedMount", "FailedCreatePodSandBox", "Unhealthy", "FailedScheduling"}[r.IntN(4)]
		again := e
		again.Message = "other words at the same time"
		s.Events = append(s.Events, e, again)
	}
}

func dsEvent(s *snapshot.Snapshot, r *rand.Rand) corev1.Event {
	e := corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Name: s.DaemonSet.Name, UID: s.DaemonSet.UID},
		LastTimestamp:  metav1.NewTime(Now.Add(-time.Duration(r.IntN(3)) * time.Hour)), Count: int32(r.IntN(5)),
	}
	e.Reason, e.Message = "FailedCreate", fmt.Sprintf("Error creating: pod %d: exceeded quota", r.IntN(9))
	if r.IntN(2) == 0 {
		e.Reason, e.Message = "FailedDaemonPod", fmt.Sprintf("Found failed daemon pod kube-system/x on node n%d, will try to kill it", r.IntN(4))
	}
	return e
}
