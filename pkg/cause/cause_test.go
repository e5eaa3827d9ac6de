package cause_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// at returns dstest.Now minus ago.
func at(ago time.Duration) time.Time { return dstest.Now.Add(-ago) }

func since(ago time.Duration) *time.Time { t := at(ago); return &t }

// status replaces the status of pod p0, which was created an hour ago, or 20 seconds ago if young is true. Ready,
// Initialized and PodScheduled are as the YAML says.
func status(t *testing.T, text string, young bool) dstest.Option {
	t.Helper()
	text = strings.NewReplacer("1h", at(time.Hour).Format(time.RFC3339), "1m", at(time.Minute).Format(time.RFC3339), "10s", at(10*time.Second).Format(time.RFC3339)).Replace(text)
	var st corev1.PodStatus
	if err := yaml.UnmarshalStrict([]byte(text), &st); err != nil {
		t.Fatal(err)
	}
	return dstest.Pod("p0", func(p *corev1.Pod) {
		p.Status = st
		p.CreationTimestamp = metav1.NewTime(at(time.Hour))
		if young {
			p.CreationTimestamp = metav1.NewTime(at(20 * time.Second))
		}
		if st.Phase == corev1.PodPending && len(st.ContainerStatuses)+len(st.InitContainerStatuses) == 0 {
			p.Spec.NodeName = ""
		}
	})
}

// podEvent adds an event about pod p0.
func podEvent(reason, message string, ago time.Duration) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.Events = append(s.Events, corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "p0", UID: "pod-p0"}, Reason: reason, Message: message, LastTimestamp: metav1.NewTime(at(ago)),
		})
	})
}

// setEvent adds an event about the DaemonSet.
func setEvent(reason, message string, count int32, ago time.Duration) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.Events = append(s.Events, corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Name: s.DaemonSet.Name, UID: s.DaemonSet.UID},
			Reason:         reason, Message: message, Count: count, LastTimestamp: metav1.NewTime(at(ago)),
		})
	})
}

func notReady(name string) dstest.Option {
	return dstest.Node(name, func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", LastTransitionTime: metav1.NewTime(at(2 * time.Hour)), LastHeartbeatTime: metav1.NewTime(at(3 * time.Hour))}}
	})
}

// find returns the State of a Snapshot, and its causes.
func find(t *testing.T, s *snapshot.Snapshot) (*daemonset.State, *cause.Causes) {
	t.Helper()
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	if err != nil {
		t.Fatal(err)
	}
	st, err := daemonset.New(s, profile)
	if err != nil {
		t.Fatal(err)
	}
	return st, cause.Find(st)
}

const unready = "conditions: [{type: Ready, status: 'False', lastTransitionTime: 1h}]\n"

func TestCause(t *testing.T) {
	type facts = daemonset.Facts
	for _, tt := range []struct {
		why     string
		grid    string // default: n
		status  string
		young   bool
		options []dstest.Option
		want    *cause.Cause
	}{
		{
			why:  "an available pod has no cause",
			grid: "N",
		},
		{
			why:    "a container that waits between two crashes",
			status: unready + "containerStatuses: [{name: agent, restartCount: 5, state: {waiting: {reason: CrashLoopBackOff, message: back-off}}, lastState: {terminated: {exitCode: 2, reason: Error, message: ' panic '}}}]",
			want:   &cause.Cause{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "exitCode": 2, "reason": "Error", "restarts": 5, "message": "panic"}},
		},
		{
			why:    "a container that crashed for the first time, and is to start again",
			status: unready + "containerStatuses: [{name: agent, restartCount: 0, state: {terminated: {exitCode: 1, reason: Error}}}]",
			want:   &cause.Cause{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "exitCode": 1, "reason": "Error", "restarts": 0}},
		},
		{
			why:    "one that runs between two crashes",
			status: unready + "containerStatuses: [{name: agent, restartCount: 5, state: {running: {startedAt: 10s}}, lastState: {terminated: {exitCode: 2, reason: Error}}}]",
			want:   &cause.Cause{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "exitCode": 2, "reason": "Error", "restarts": 5}},
		},
		{
			why:    "one that crashed long ago and has run since is unready for another reason",
			status: unready + "containerStatuses: [{name: agent, restartCount: 5, state: {running: {startedAt: 1h}}, lastState: {terminated: {exitCode: 2, reason: Error}}}]",
			want:   &cause.Cause{Code: cause.ProbeFailing, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "restarts": 5, "startedAt": "2026-03-01T11:00:00Z"}},
		},
		{
			why:    "one that ends without an error, again and again",
			status: unready + "containerStatuses: [{name: agent, restartCount: 5, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 0, reason: Completed}}}]",
			want:   &cause.Cause{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "exitCode": 0, "reason": "Completed", "restarts": 5}},
		},
		{
			why:    "the same in the moment in which it has ended",
			status: unready + "containerStatuses: [{name: agent, restartCount: 5, state: {terminated: {exitCode: 0, reason: Completed}}}]",
			want:   &cause.Cause{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "exitCode": 0, "reason": "Completed", "restarts": 5}},
		},
		{
			why:    "a crash loop of which the last state is not known",
			status: unready + "containerStatuses: [{name: agent, restartCount: 5, state: {waiting: {reason: CrashLoopBackOff}}}]",
			want:   &cause.Cause{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "restarts": 5}},
		},
		{
			why:    "a container that is killed for its memory",
			status: unready + "containerStatuses: [{name: agent, restartCount: 3, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}]",
			want:   &cause.Cause{Code: cause.OOMKilled, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "exitCode": 137, "reason": "OOMKilled", "restarts": 3, "limited": false}},
		},
		{
			why:    "an init container crashes, and the others wait for it",
			status: unready + "initContainerStatuses: [{name: ok, state: {terminated: {exitCode: 0}}}, {name: setup, restartCount: 2, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, reason: Error}}}]\ncontainerStatuses: [{name: agent, state: {waiting: {reason: PodInitializing}}}]",
			want:   &cause.Cause{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "setup", "init": true, "exitCode": 1, "reason": "Error", "restarts": 2}},
		},
		{
			why:    "an init container that runs for long has no error to show",
			status: unready + "initContainerStatuses: [{name: wait, state: {running: {startedAt: 1h}}}]\ncontainerStatuses: [{name: agent, state: {waiting: {reason: PodInitializing}}}]",
			want:   &cause.Cause{Code: cause.InitRunning, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "wait", "init": true}},
		},
		{
			why:    "one that runs for a minute is starting",
			status: unready + "initContainerStatuses: [{name: wait, state: {running: {startedAt: 1m}}}]\ncontainerStatuses: [{name: agent, state: {waiting: {reason: PodInitializing}}}]",
			want:   &cause.Cause{Code: cause.Starting, Severity: cause.SeverityInfo, Pod: "p0", Since: since(time.Minute), Facts: facts{}},
		},
		{
			why:    "a sidecar that has started holds nothing up",
			status: unready + "initContainerStatuses: [{name: side, started: true, ready: true, state: {running: {startedAt: 1h}}}, {name: wait, state: {running: {startedAt: 1h}}}]",
			want:   &cause.Cause{Code: cause.InitRunning, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "wait", "init": true}},
		},
		{
			why:    "an image that cannot be pulled, with the kubelet's words",
			status: unready + "containerStatuses: [{name: agent, image: 'a:9', state: {waiting: {reason: ErrImagePull, message: not found}}}]",
			want:   &cause.Cause{Code: cause.ImagePullBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "image": "a:9", "reason": "ErrImagePull", "message": "not found"}},
		},
		{
			why:    "a container that crashes is not hidden by one before it that starts",
			status: unready + "containerStatuses: [{name: side, state: {running: {startedAt: 10s}}}, {name: agent, restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, reason: Error}}}]",
			want:   &cause.Cause{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "exitCode": 1, "reason": "Error", "restarts": 1}},
		},
		{
			why:    "of two that crash the first is named",
			status: unready + "containerStatuses: [{name: a, restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}}, {name: b, restartCount: 2, state: {waiting: {reason: CrashLoopBackOff}}}]",
			want:   &cause.Cause{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "a", "init": false, "restarts": 1}},
		},
		{
			why:    "and init containers, which come first, before the others",
			status: unready + "initContainerStatuses: [{name: side, restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}}]\ncontainerStatuses: [{name: agent, image: 'a:9', state: {waiting: {reason: ErrImagePull}}}]",
			want:   &cause.Cause{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "side", "init": true, "restarts": 1}},
		},
		{
			why:    "a container that ended for the first time and without an error is no loop yet",
			status: unready + "containerStatuses: [{name: agent, state: {terminated: {exitCode: 0, reason: Completed}}}]",
			want:   &cause.Cause{Code: daemonset.NotReady, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{}},
		},
		{
			why:    "without a Ready condition a cause is as old as the pod",
			status: "containerStatuses: [{name: agent, restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}}]",
			want:   &cause.Cause{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "restarts": 1}},
		},
		{
			why:    "a secret that is missing for a variable",
			status: unready + "containerStatuses: [{name: agent, state: {waiting: {reason: CreateContainerConfigError, message: secret \"x\" not found}}}]",
			want:   &cause.Cause{Code: cause.ContainerConfig, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "reason": "CreateContainerConfigError", "message": `secret "x" not found`, "kind": "Secret", "name": "x"}},
		},
		{
			why:    "the same after the container had run",
			status: unready + "containerStatuses: [{name: agent, restartCount: 1, state: {waiting: {reason: RunContainerError, message: no such file}}, lastState: {terminated: {exitCode: 128, reason: StartError}}}]",
			want:   &cause.Cause{Code: cause.ContainerConfig, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "reason": "RunContainerError", "message": "no such file"}},
		},
		{
			why:     "the newest event says why containers are not created, not the first one",
			status:  unready + "containerStatuses: [{name: agent, state: {waiting: {reason: ContainerCreating}}}]",
			options: []dstest.Option{podEvent("FailedMount", "secret not found", 50*time.Minute), podEvent("FailedCreatePodSandBox", "no CNI", time.Minute), podEvent("Pulling", "pulling", time.Second)},
			want:    &cause.Cause{Code: cause.FailedCreatePodSandBox, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "reason": "ContainerCreating", "message": "no CNI"}},
		},
		{
			why:     "nor the first by name",
			status:  unready + "containerStatuses: [{name: agent, state: {waiting: {reason: ContainerCreating}}}]",
			options: []dstest.Option{podEvent("FailedAttachVolume", "no disk", 50*time.Minute), podEvent("NetworkNotReady", "no CNI", time.Minute)},
			want:    &cause.Cause{Code: cause.FailedCreatePodSandBox, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "reason": "ContainerCreating", "message": "no CNI"}},
		},
		{
			why:     "a disk that cannot be attached",
			status:  unready + "containerStatuses: [{name: agent, state: {waiting: {reason: ContainerCreating}}}]",
			options: []dstest.Option{podEvent("FailedAttachVolume", "(combined from similar events): no disk", time.Minute)},
			want:    &cause.Cause{Code: cause.FailedMount, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "reason": "ContainerCreating", "message": "no disk"}},
		},
		{
			why: "the same before the first init container, which waits for no other",
			status: unready + "initContainerStatuses: [{name: first, state: {waiting: {reason: PodInitializing}}}, {name: second, state: {waiting: {reason: PodInitializing}}}]\n" +
				"containerStatuses: [{name: agent, state: {waiting: {reason: PodInitializing}}}]",
			options: []dstest.Option{podEvent("FailedMount", "no disk", time.Minute)},
			want:    &cause.Cause{Code: cause.FailedMount, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "first", "init": true, "reason": "PodInitializing", "message": "no disk"}},
		},
		{
			why: "an init container waits for the one before it, whatever failed earlier",
			status: unready + "initContainerStatuses: [{name: first, state: {running: {startedAt: 1h}}}, {name: second, state: {waiting: {reason: PodInitializing}}}]\n" +
				"containerStatuses: [{name: agent, state: {waiting: {reason: PodInitializing}}}]",
			options: []dstest.Option{podEvent("FailedMount", "no disk", 50*time.Minute)},
			want:    &cause.Cause{Code: cause.InitRunning, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "first", "init": true}},
		},
		{
			why:     "a mount that fails in the first minutes often only waits for something",
			young:   true,
			status:  unready + "containerStatuses: [{name: agent, state: {waiting: {reason: ContainerCreating}}}]",
			options: []dstest.Option{podEvent("FailedMount", "configmap cache", 10*time.Second)},
			want:    &cause.Cause{Code: cause.FailedMount, Severity: cause.SeverityInfo, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "reason": "ContainerCreating", "message": "configmap cache"}},
		},
		{
			why:    "containers that are not created, and nothing says why",
			status: unready + "containerStatuses: [{name: agent, state: {waiting: {reason: ContainerCreating}}}]",
			want:   &cause.Cause{Code: cause.ContainerCreating, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "reason": "ContainerCreating"}},
		},
		{
			why:    "after the node was restarted the last state is of the life before",
			status: unready + "containerStatuses: [{name: agent, restartCount: 1, state: {waiting: {reason: ContainerCreating}}, lastState: {terminated: {exitCode: 255, reason: Unknown}}}]",
			want:   &cause.Cause{Code: cause.ContainerCreating, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "reason": "ContainerCreating"}},
		},
		{
			why:    "in the first minutes that is how a pod starts",
			young:  true,
			status: unready + "containerStatuses: [{name: agent, state: {waiting: {reason: ContainerCreating}}}]",
			want:   &cause.Cause{Code: cause.Starting, Severity: cause.SeverityInfo, Pod: "p0", Since: since(20 * time.Second), Facts: facts{}},
		},
		{
			why:     "a probe fails, as the event says",
			status:  unready + "containerStatuses: [{name: agent, state: {running: {startedAt: 1h}}}]",
			options: []dstest.Option{podEvent("Unhealthy", "(combined from similar events): statuscode: 503", time.Second)},
			want:    &cause.Cause{Code: cause.ProbeFailing, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "restarts": 0, "startedAt": "2026-03-01T11:00:00Z", "message": "statuscode: 503"}},
		},
		{
			why:     "probes often fail in the first minutes of a container",
			status:  unready + "containerStatuses: [{name: agent, state: {running: {startedAt: 1m}}}]",
			options: []dstest.Option{podEvent("Unhealthy", "statuscode: 503", time.Second)},
			want:    &cause.Cause{Code: cause.ProbeFailing, Severity: cause.SeverityWarning, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "late": true, "patience": 300, "restarts": 0, "startedAt": "2026-03-01T11:59:00Z", "message": "statuscode: 503"}},
		},
		{
			why:     "but not in one that was restarted for it",
			status:  unready + "containerStatuses: [{name: agent, restartCount: 1, state: {running: {startedAt: 1m}}}]",
			options: []dstest.Option{podEvent("Unhealthy", "statuscode: 503", time.Second)},
			want:    &cause.Cause{Code: cause.ProbeFailing, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "restarts": 1, "startedAt": "2026-03-01T11:59:00Z", "message": "statuscode: 503"}},
		},
		{
			why:    "without the event a container has some time to become ready",
			status: unready + "containerStatuses: [{name: agent, state: {running: {startedAt: 1m}}}]",
			want:   &cause.Cause{Code: cause.Starting, Severity: cause.SeverityInfo, Pod: "p0", Since: since(time.Minute), Facts: facts{}},
		},
		{
			why:    "a readiness gate that is closed, with all containers ready",
			status: "conditions: [{type: Ready, status: 'False', reason: ReadinessGatesNotReady, message: gate, lastTransitionTime: 1h}, {type: a/open, status: 'True'}, {type: a/closed, status: 'False'}, {type: DisruptionTarget, status: 'False'}]\ncontainerStatuses: [{name: agent, ready: true, state: {running: {startedAt: 1h}}}]",
			options: []dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
				ds.Spec.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "a/open"}, {ConditionType: "a/closed"}, {ConditionType: "a/absent"}}
			})},
			want: &cause.Cause{Code: daemonset.NotReady, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"reason": "ReadinessGatesNotReady", "message": "gate", "conditions": []string{"a/closed", "a/absent"}}},
		},
		{
			why:   "a pod of which no kubelet has said anything is starting",
			young: true, status: unready,
			want: &cause.Cause{Code: cause.Starting, Severity: cause.SeverityInfo, Pod: "p0", Since: since(20 * time.Second), Facts: facts{}},
		},
		{
			why:    "the scheduler's words about the one node",
			status: "phase: Pending\nconditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, lastTransitionTime: 1m, message: \"0/3 nodes are available: 1 Insufficient cpu, 1 Too many pods, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: 0/3 nodes\"}]",
			want:   &cause.Cause{Code: cause.InsufficientResources, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Minute), Facts: facts{"reason": "Unschedulable", "message": "Insufficient cpu, Too many pods", "resources": []string{"cpu", "pods"}}},
		},
		{
			why:    "a host port that is taken",
			status: "phase: Pending\nconditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, lastTransitionTime: 1m, message: \"0/3 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].\"}]",
			want:   &cause.Cause{Code: cause.HostPortConflict, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Minute), Facts: facts{"reason": "Unschedulable", "message": "node(s) didn't have free ports for the requested pod ports"}},
		},
		{
			why:    "the host ports that the pod needs are named",
			status: "phase: Pending\nconditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, lastTransitionTime: 1m, message: \"0/3 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.\"}]",
			options: []dstest.Option{dstest.Pod("p0", func(p *corev1.Pod) {
				p.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{HostPort: 9100}}}}
			})},
			want: &cause.Cause{Code: cause.HostPortConflict, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Minute), Facts: facts{"reason": "Unschedulable", "ports": []string{"9100/TCP"}, "message": "node(s) didn't have free ports for the requested pod ports"}},
		},
		{
			why:    "a scheduler that only speaks of other nodes is quoted whole",
			status: "phase: Pending\nconditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, lastTransitionTime: 1m, message: \"0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity].\"}]",
			want:   &cause.Cause{Code: cause.PendingUnschedulable, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Minute), Facts: facts{"reason": "Unschedulable", "message": "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity]."}},
		},
		{
			why:    "the event stands in for a condition without a message",
			status: "phase: Pending", options: []dstest.Option{podEvent("FailedScheduling", "no nodes available to schedule pods", time.Second)},
			want: &cause.Cause{Code: cause.PendingUnschedulable, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"reason": "Unschedulable", "message": "no nodes available to schedule pods"}},
		},
		{
			why:    "a pod that the scheduler has not looked at yet is starting",
			status: "phase: Pending", young: true,
			want: &cause.Cause{Code: cause.Starting, Severity: cause.SeverityInfo, Pod: "p0", Since: since(20 * time.Second), Facts: facts{}},
		},
		{
			why:    "of which it says nothing for long: none runs, or none by that name",
			status: "phase: Pending",
			want:   &cause.Cause{Code: cause.PendingUnschedulable, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{}},
		},
		{
			why: "a pod that failed", status: "phase: Failed\nreason: Evicted\nmessage: disk",
			want: &cause.Cause{Code: daemonset.FailedPod, Severity: cause.SeverityWarning, Pod: "p0", Facts: facts{"reason": "Evicted", "message": "disk"}},
		},
		{
			why: "the third on its node is a loop, counted over all events, combined ones too", status: "phase: Failed\nreason: Evicted",
			options: []dstest.Option{
				setEvent("FailedDaemonPod", "(combined from similar events): Found failed daemon pod a/c on node n0, will try to kill it", 2, time.Minute),
				setEvent("FailedDaemonPod", "Found failed daemon pod a/b on node n0, will try to kill it", 1, 25*time.Minute),
				setEvent("FailedDaemonPod", "Found failed daemon pod a/d on node n1, will try to kill it", 9, time.Minute),
				setEvent("FailedDaemonPod", "words that another version says", 9, time.Minute),
			},
			want: &cause.Cause{Code: cause.EvictLoop, Severity: cause.SeverityError, Pod: "p0", Since: since(25 * time.Minute), Facts: facts{"reason": "Evicted", "failures": 3}},
		},
		{
			why: "two are none", status: "phase: Failed\nreason: Evicted",
			options: []dstest.Option{setEvent("FailedDaemonPod", "Found failed daemon pod a/b on node n0, will try to kill it", 2, time.Minute)},
			want:    &cause.Cause{Code: daemonset.FailedPod, Severity: cause.SeverityWarning, Pod: "p0", Facts: facts{"reason": "Evicted"}},
		},
		{
			why: "and neither are those of an hour ago", status: "phase: Failed\nreason: Evicted",
			options: []dstest.Option{setEvent("FailedDaemonPod", "Found failed daemon pod a/b on node n0, will try to kill it", 9, time.Hour)},
			want:    &cause.Cause{Code: daemonset.FailedPod, Severity: cause.SeverityWarning, Pod: "p0", Facts: facts{"reason": "Evicted"}},
		},
		{
			why: "the pod that starts between two failures is part of the loop", status: unready, young: true,
			options: []dstest.Option{setEvent("FailedDaemonPod", "Found failed daemon pod a/b on node n0, will try to kill it", 9, time.Minute)},
			want:    &cause.Cause{Code: cause.EvictLoop, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Minute), Facts: facts{"failures": 9}},
		},
		{
			why: "a pod that ended by itself", grid: "ns",
			want: &cause.Cause{Code: daemonset.SucceededPod, Severity: cause.SeverityWarning, Pod: "p0", Facts: facts{}},
		},
		{
			why: "a pod on its way out, within its time", grid: "Nt",
			want: &cause.Cause{Code: cause.Terminating, Severity: cause.SeverityInfo, Pod: "p0", Since: since(90 * time.Second), Facts: facts{"overdue": false, "finalizers": []string{"example.com/hold"}}},
		},
		{
			why: "one that should be gone", grid: "Nt",
			options: []dstest.Option{dstest.Pod("p0", func(p *corev1.Pod) {
				p.DeletionTimestamp, p.DeletionGracePeriodSeconds, p.Finalizers = &metav1.Time{Time: at(6 * time.Minute)}, nil, nil
			})},
			want: &cause.Cause{Code: cause.Terminating, Severity: cause.SeverityError, Pod: "p0", Since: since(6 * time.Minute), Facts: facts{"overdue": true}},
		},
		{
			why: "on a node that is down nobody ends it", grid: "Nt", options: []dstest.Option{notReady("n0")},
			want: &cause.Cause{Code: cause.TerminatingOnDeadNode, Severity: cause.SeverityError, Pod: "p0", Since: since(2 * time.Hour), Facts: facts{"status": "Unknown", "reason": "NodeStatusUnknown", "lastHeartbeat": "2026-03-01T09:00:00Z", "deletionAsked": "2026-03-01T11:58:30Z"}},
		},
		{
			why: "a node that is down is why its pod is not ready", options: []dstest.Option{notReady("n0")},
			want: &cause.Cause{Code: cause.NodeNotReady, Severity: cause.SeverityError, Pod: "p0", Since: since(2 * time.Hour), Facts: facts{"status": "Unknown", "reason": "NodeStatusUnknown", "lastHeartbeat": "2026-03-01T09:00:00Z"}},
		},
		{
			why: "a crash is not the node's doing, though the node is down", status: unready + "containerStatuses: [{name: agent, restartCount: 5, state: {waiting: {reason: CrashLoopBackOff}}}]", options: []dstest.Option{notReady("n0")},
			want: &cause.Cause{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "restarts": 5}},
		},
		{
			why: "nor is an image that cannot be pulled", status: unready + "containerStatuses: [{name: agent, image: 'a:9', state: {waiting: {reason: ErrImagePull}}}]", options: []dstest.Option{notReady("n0")},
			want: &cause.Cause{Code: cause.ImagePullBackOff, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{"container": "agent", "init": false, "image": "a:9", "reason": "ErrImagePull"}},
		},
		{
			why: "nor that a pod has not been ready for long enough", grid: "W", options: []dstest.Option{dstest.MinReadySeconds(30), notReady("n0")},
			want: &cause.Cause{Code: daemonset.NotYetAvailable, Severity: cause.SeverityInfo, Pod: "p0", Since: since(time.Second), Facts: facts{"minReadySeconds": 30, "availableAt": "2026-03-01T12:00:29Z"}},
		},
		{
			why: "a node whose kubelet says that it is not ready", options: []dstest.Option{dstest.Node("n0", func(n *corev1.Node) {
				n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse}, {Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady"}}
			})},
			want: &cause.Cause{Code: cause.NodeNotReady, Severity: cause.SeverityError, Pod: "p0", Facts: facts{"status": "False", "reason": "KubeletNotReady"}},
		},
		{
			why: "a node that is down and whose pod is available has no cause", grid: "N", options: []dstest.Option{notReady("n0")},
		},
		{
			why: "a node that is gone and left a pod", grid: "~n",
			want: &cause.Cause{Code: daemonset.NodeGone, Severity: cause.SeverityWarning, Pod: "p0", Since: since(time.Hour), Facts: facts{}},
		},
		{
			why: "ready, and not for long enough", grid: "W", options: []dstest.Option{dstest.MinReadySeconds(30)},
			want: &cause.Cause{Code: daemonset.NotYetAvailable, Severity: cause.SeverityInfo, Pod: "p0", Since: since(time.Second), Facts: facts{"minReadySeconds": 30, "availableAt": "2026-03-01T12:00:29Z"}},
		},
		{
			why: "ready in the future, by a clock that is ahead", grid: "W",
			options: []dstest.Option{dstest.MinReadySeconds(30), readySince(-14 * time.Second)},
			want:    &cause.Cause{Code: daemonset.NotYetAvailable, Severity: cause.SeverityWarning, Pod: "p0", Since: since(-14 * time.Second), Facts: facts{"minReadySeconds": 30, "availableAt": "2026-03-01T12:00:44Z", "clockSkew": 14}},
		},
		{
			why: "two seconds are within what the API's times can tell", grid: "W",
			options: []dstest.Option{dstest.MinReadySeconds(30), readySince(-2 * time.Second)},
			want:    &cause.Cause{Code: daemonset.NotYetAvailable, Severity: cause.SeverityInfo, Pod: "p0", Since: since(-2 * time.Second), Facts: facts{"minReadySeconds": 30, "availableAt": "2026-03-01T12:00:32Z"}},
		},
		{
			why: "a node that lacks its pod for long", grid: "-",
			want: &cause.Cause{Code: cause.NoPod, Severity: cause.SeverityError, Since: since(1000 * time.Hour), Facts: facts{"eventsRead": true}},
		},
		{
			why: "a node that came a moment ago", grid: "-",
			options: []dstest.Option{dstest.Node("n0", func(n *corev1.Node) { n.CreationTimestamp = metav1.NewTime(at(time.Second)) })},
			want:    &cause.Cause{Code: cause.NoPod, Severity: cause.SeverityInfo, Facts: facts{"eventsRead": true}},
		},
		{
			why: "without events it cannot be told whether pods are refused", grid: "-",
			options: []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) {
				s.Gaps = []snapshot.Gap{{What: snapshot.Events, Why: snapshot.NotGiven}}
			})},
			want: &cause.Cause{Code: cause.NoPod, Severity: cause.SeverityError, Since: since(1000 * time.Hour), Facts: facts{"eventsRead": false}},
		},
		{
			why: "pods that the API server refuses, by the newest event, and how often since the last one that it took", grid: "- N",
			options: []dstest.Option{
				setEvent("FailedCreate", "Error creating: exceeded quota", 42, time.Minute), setEvent("FailedCreate", "Error creating: older words", 3, time.Hour),
				setEvent("FailedCreate", "Error creating: before the last pod", 9, 200*time.Hour), setEvent("SuccessfulCreate", "Created pod", 9, 2*time.Hour),
			},
			want: &cause.Cause{Code: cause.FailedCreate, Severity: cause.SeverityError, Since: since(time.Hour), Facts: facts{"events": 45, "last": "2026-03-01T11:59:00Z", "message": "exceeded quota"}},
		},
		{
			why: "a refusal that is written as a series", grid: "-",
			options: []dstest.Option{setEvent("FailedCreate", "Error creating: exceeded quota", 0, time.Hour), dstest.Edit(func(s *snapshot.Snapshot) {
				s.Events[0].LastTimestamp, s.Events[0].EventTime = metav1.Time{}, metav1.NewMicroTime(at(time.Hour))
				s.Events[0].Series = &corev1.EventSeries{Count: 7, LastObservedTime: metav1.NewMicroTime(at(time.Minute))}
			})},
			want: &cause.Cause{Code: cause.FailedCreate, Severity: cause.SeverityError, Since: since(time.Hour), Facts: facts{"events": 7, "last": "2026-03-01T11:59:00Z", "message": "exceeded quota"}},
		},
		{
			why: "what is refused to a DaemonSet that had this name before is not this one's", grid: "-",
			options: []dstest.Option{setEvent("FailedCreate", "Error creating: exceeded quota", 3, time.Minute), dstest.Edit(func(s *snapshot.Snapshot) { s.Events[0].InvolvedObject.UID = "before" })},
			want:    &cause.Cause{Code: cause.NoPod, Severity: cause.SeverityError, Since: since(1000 * time.Hour), Facts: facts{"eventsRead": true}},
		},
		{
			why: "a refusal ends with the next pod that is created", grid: "- N",
			options: []dstest.Option{
				setEvent("FailedCreate", "Error creating: exceeded quota", 42, time.Hour),
				dstest.Pod("p1", func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(at(30 * time.Minute)) }),
			},
			want: &cause.Cause{Code: cause.NoPod, Severity: cause.SeverityError, Since: since(30 * time.Minute), Facts: facts{"eventsRead": true}},
		},
		{
			why: "a node that should not run the pod misses none", grid: "#-",
		},
		{
			why: "of an old and a new pod the new one matters", grid: "O/n", options: []dstest.Option{dstest.MaxSurge("1")},
			want: &cause.Cause{Code: daemonset.NotReady, Severity: cause.SeverityError, Pod: "p0b", Since: since(time.Hour), Facts: facts{}},
		},
		{
			why: "of two new ones the older, which is the one that stays", grid: "n/N",
			want: &cause.Cause{Code: daemonset.NotReady, Severity: cause.SeverityError, Pod: "p0", Since: since(time.Hour), Facts: facts{}},
		},
		{
			why: "one that stays matters more than one that goes", grid: "nt/O", options: []dstest.Option{dstest.MaxSurge("1")},
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			grid := "n"
			if tt.grid != "" {
				grid = tt.grid
			}
			options := tt.options
			if tt.status != "" {
				options = append([]dstest.Option{status(t, tt.status, tt.young)}, options...)
			}
			st, found := find(t, dstest.State(grid, options...))
			if diff := cmp.Diff(tt.want, found.Of(st.Nodes[0].Name)); diff != "" {
				t.Errorf("the cause of n0 in %q (-want +got):\n%s", grid, diff)
			}
		})
	}
}

func readySince(ago time.Duration) dstest.Option {
	return dstest.Pod("p0", func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at(ago))}}
	})
}

func TestImagePullReasons(t *testing.T) {
	for _, reason := range []string{"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"} {
		t.Run(reason, func(t *testing.T) {
			s := dstest.State("n", status(t, unready+"containerStatuses: [{name: agent, state: {waiting: {reason: "+reason+"}}}]", false))
			_, found := find(t, s)
			if got := found.Of("n0").Code; got != cause.ImagePullBackOff {
				t.Errorf("a container that waits with %s is %s, want %s", reason, got, cause.ImagePullBackOff)
			}
		})
	}
}

// TestSchedulerWords checks the formats of several versions of the scheduler.
func TestSchedulerWords(t *testing.T) {
	for _, tt := range []struct {
		message string
		want    []string
		why     string
	}{
		{"0/4 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to deallocate, preemption: 0/4 nodes are available: 1 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling.", []string{"Insufficient cpu", "Insufficient memory"}, "1.37, with a node that lacks two resources"},
		{"0/4 nodes are available: 1 Too many pods, 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.", []string{"Too many pods"}, "1.33"},
		{"0/38 nodes are available: 1 Insufficient cpu, 37 node(s) didn't match Pod's node affinity/selector.", []string{"Insufficient cpu"}, "1.22"},
		{"0/8 nodes are available: 1 node(s) had taint {dedicated: gpu}, that the pod didn't tolerate, 7 node(s) didn't match node selector.", []string{"node(s) had taint {dedicated: gpu}", "that the pod didn't tolerate"}, "1.19, with a comma of its own"},
		{"0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.", []string{"node(s) had untolerated taint(s)"}, "a cluster of one node"},
		{`0/3 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.`, []string{`persistentvolumeclaim "data" not found`}, "words without a count are of the pod"},
		{"0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity].", nil, "only the other nodes: the one meant is not there"},
		{"Scheduling is blocked due to non-empty scheduling gates", []string{"Scheduling is blocked due to non-empty scheduling gates"}, "a gate"},
		{"", nil, "nothing is said"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, cause.SchedulerWords(tt.message)); diff != "" {
				t.Errorf("schedulerWords(%q) (-want +got):\n%s", tt.message, diff)
			}
		})
	}
}
