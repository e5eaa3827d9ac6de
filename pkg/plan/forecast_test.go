package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// short formats an Outcome as one line: code (reason), steps, replaced, left, worst, then holders and remedies.
func short(o *Outcome) string {
	var b strings.Builder
	b.WriteString(string(o.Code))
	if o.Reason != "" {
		fmt.Fprintf(&b, " (%s)", o.Reason)
	}
	fmt.Fprintf(&b, ": %d steps, %d replaced, %d left, %d worst", o.Steps, o.Replaced, o.Left, o.Worst)
	if o.Dropped > 0 {
		fmt.Fprintf(&b, ", %d dropped", o.Dropped)
	}
	if o.AtWorst {
		b.WriteString(", at worst")
	}
	for _, h := range o.Holders {
		fmt.Fprintf(&b, "; %s %s", h.Node, h.Code)
	}
	if o.FurtherHolders > 0 {
		fmt.Fprintf(&b, "; any %d", o.FurtherHolders)
	}
	for _, r := range o.Remedies {
		if r.Worth == remedy.Helps || r.Worth == remedy.MayHelp {
			fmt.Fprintf(&b, "; %s=%s%s", r.Code, r.Value, map[bool]string{true: "?"}[r.Worth == remedy.MayHelp])
		}
	}
	return b.String()
}

// forecast returns the projection of a State without a change.
func forecast(st *daemonset.State, o Options, underWay bool) projection {
	return forecastOf(st, st, o, underWay, newScenario)
}

func ago(d time.Duration) metav1.Time { return metav1.NewTime(dstest.Now.Add(-d)) }

// down makes the kubelet of a node silent.
func down(name string) dstest.Option {
	return dstest.Node(name, func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: ago(time.Hour)}}
	})
}

// notReady makes the kubelet of a node report that it is not ready.
func notReady(name string) dstest.Option {
	return dstest.Node(name, func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, LastTransitionTime: ago(time.Hour)}}
	})
}

// crash puts a pod in a crash loop.
func crash(name string) dstest.Option {
	return dstest.Pod(name, func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "agent", RestartCount: 5, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		}}
	})
}

// hostPort gives the template and every pod a host port.
func hostPort() dstest.Option { return hostPorts(80, 80) }

// hostPorts gives the template and the existing pods these host ports.
func hostPorts(template, pods int32) dstest.Option {
	port := func(n int32) []corev1.ContainerPort {
		if n == 0 {
			return nil
		}
		return []corev1.ContainerPort{{ContainerPort: 80, HostPort: n}}
	}
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.Spec.Template.Spec.Containers[0].Ports = port(template)
		for i := range s.Pods {
			s.Pods[i].Spec.Containers = []corev1.Container{{Ports: port(pods)}}
		}
		for i := range s.Revisions { // the template is that of the newest revision
			if r := &s.Revisions[i]; r.Name == "agent-new" && template != 0 {
				r.Data.Raw = []byte(strings.Replace(string(r.Data.Raw), `"name":"agent"`, fmt.Sprintf(`"name":"agent","ports":[{"containerPort":80,"hostPort":%d}]`, template), 1))
			}
		}
	})
}

// oldPorts gives the template of the old revision a port that its recorded pods do not have. With host networking, a
// container port is a host port.
func oldPorts(port string, hostNetwork bool) dstest.Option {
	return dstest.Revision("agent-old", func(r *appsv1.ControllerRevision) {
		pod := fmt.Sprintf(`"spec":{"hostNetwork":%t,"containers":[`, hostNetwork)
		raw := strings.Replace(string(r.Data.Raw), `"spec":{"containers":[`, pod, 1)
		r.Data.Raw = []byte(strings.Replace(raw, `"name":"agent"`, `"name":"agent","ports":[`+port+`]`, 1))
	})
}

// importance sets the PriorityClass of the template, and the priority and class of the pods.
func importance(class string, pods int32) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.Spec.Template.Spec.PriorityClassName = class
		for i := range s.Revisions {
			if r := &s.Revisions[i]; r.Name == "agent-new" && class != "" {
				r.Data.Raw = []byte(strings.Replace(string(r.Data.Raw), `"spec":{"containers":[`, `"spec":{"priorityClassName":"`+class+`","containers":[`, 1))
			}
		}
		for i := range s.Pods {
			s.Pods[i].Spec.Priority, s.Pods[i].Spec.PriorityClassName = &pods, "old"
		}
	})
}

// readyIn makes a pod Ready in the future.
func readyIn(name string, d time.Duration) dstest.Option {
	return dstest.Pod(name, func(p *corev1.Pod) {
		for i := range p.Status.Conditions {
			p.Status.Conditions[i].LastTransitionTime = ago(-d)
		}
	})
}

// endless makes a pod one that should have terminated an hour ago.
func endless(name string) dstest.Option {
	return dstest.Pod(name, func(p *corev1.Pod) { at := ago(time.Hour); p.DeletionTimestamp = &at })
}

// young makes a pod one that was created a moment ago.
func young(name string) dstest.Option {
	return dstest.Pod(name, func(p *corev1.Pod) { p.CreationTimestamp = ago(5 * time.Second) })
}

// refused makes the API server reject creates.
func refused() dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.Events = append(s.Events, corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Name: s.DaemonSet.Name, UID: s.DaemonSet.UID},
			Reason:         "FailedCreate", Message: "Error creating: forbidden", Count: 3, LastTimestamp: ago(time.Minute),
		})
	})
}

func TestOutcome(t *testing.T) {
	max := dstest.MaxUnavailable
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"N N", nil, "NothingToDo: 0 steps, 0 replaced, 0 left, 0 worst", "a finished rollout"},
		{"O O O", nil, "Completes: 3 steps, 3 replaced, 0 left, 1 worst", "one at a time"},
		{"O*4", []dstest.Option{max("2")}, "Completes: 2 steps, 4 replaced, 0 left, 2 worst", "two at a time"},
		{"O*5", []dstest.Option{max("100%")}, "Completes: 1 steps, 5 replaced, 0 left, 5 worst", "all at once"},
		{"O o O", nil, "MayComplete: 3 steps, 3 replaced, 0 left, 1 worst", "an old pod that is down goes first, and holds the budget meanwhile"},
		{"o o O", nil, "MayComplete: 2 steps, 3 replaced, 0 left, 2 worst", "those that are down go together, whatever the budget says"},
		{"O - O", nil, "Completes: 2 steps, 2 replaced, 0 left, 1 worst", "a node without a pod gets one first"},
		{"O Nt O", nil, "Completes: 2 steps, 2 replaced, 0 left, 1 worst", "a pod that ends is waited for"},
		{"#O N", nil, "Completes: 0 steps, 0 replaced, 0 left, 0 worst", "a pod that may not stay goes, outside of the rollout"},
		{"!O N", nil, "Completes: 1 steps, 0 replaced, 0 left, 0 worst, 1 dropped; Tolerate=", "one that may stay where none should run is replaced by nothing"},
		{"O N", []dstest.Option{dstest.OnDelete()}, "NotRolling (OnDelete): 0 steps, 0 replaced, 1 left, 0 worst; DeletePods=", "OnDelete replaces nothing"},
		{"O -", []dstest.Option{dstest.OnDelete()}, "NotRolling (OnDelete): 0 steps, 0 replaced, 1 left, 1 worst; DeletePods=", "but fills what is empty"},

		{"O o O", []dstest.Option{down("n1")}, "Stalls (BudgetSpent): 1 steps, 1 replaced, 2 left, 1 worst; n1 NodeNotReady; RepairNodes=1; RaiseMaxUnavailable=2; RemoveNode=n1", "a dead node keeps the budget for good"},
		{"O o O", []dstest.Option{down("n1"), max("2")}, "Completes: 2 steps, 3 replaced, 0 left, 2 worst; n1 NodeNotReady; RepairNodes=1", "unless there is more of it; the dead node stays as it is"},
		{"O o O", []dstest.Option{notReady("n1")}, "Stalls (BudgetSpent): 1 steps, 1 replaced, 2 left, 1 worst; n1 NodeNotReady; RepairNodes=1; RaiseMaxUnavailable=2; RemoveNode=n1", "so does one that is not ready and whose pod is not"},
		{"O O O", []dstest.Option{notReady("n1")}, "Completes: 3 steps, 3 replaced, 0 left, 1 worst", "but a pod that is available there shows that they can be"},
		{"O O O", []dstest.Option{down("n1")}, "Stalls (BudgetSpent): 1 steps, 1 replaced, 2 left, 1 worst, at worst; n1 NodeNotReady; RepairNodes=1; RaiseMaxUnavailable=2; RemoveNode=n1", "not if the kubelet is silent: what the pod says is old"},
		{"Ot O", []dstest.Option{down("n0")}, "Stalls (BudgetSpent): 0 steps, 0 replaced, 1 left, 1 worst; n0 TerminatingOnDeadNode; RepairNodes=1; OutOfService=; RemoveNode=n0", "a pod that never ends on a dead node"},
		{"o o O O", []dstest.Option{down("n0"), down("n1")}, "Stalls (BudgetSpent): 1 steps, 2 replaced, 2 left, 2 worst; n0 NodeNotReady; n1 NodeNotReady; RepairNodes=2; RaiseMaxUnavailable=3", "of two dead nodes, removing one is not enough"},

		{"n O O", []dstest.Option{crash("p0")}, "Stalls (BudgetSpent): 0 steps, 0 replaced, 2 left, 1 worst; n0 CrashLoopBackOff; RollBack=1", "the revision fails: more room would not help"},
		{"n O O O", []dstest.Option{crash("p0"), max("2")}, "Stalls (BudgetSpent): 1 steps, 1 replaced, 2 left, 2 worst; n0 CrashLoopBackOff; any 1; RollBack=1", "and each further pod fails too"},
		{"n N O O", []dstest.Option{crash("p0")}, "Stalls (BudgetSpent): 0 steps, 0 replaced, 2 left, 1 worst; n0 CrashLoopBackOff; RollBack=1", "a pod that fails where another of the revision runs"},
		{"n N O O", []dstest.Option{crash("p0"), max("2")}, "Completes: 2 steps, 2 replaced, 0 left, 2 worst; n0 CrashLoopBackOff; RollBack=1", "leaves room for the others"},
		{"n O O", []dstest.Option{young("p0")}, "Completes: 2 steps, 2 replaced, 0 left, 1 worst", "a pod that starts is waited for"},
		{"o O", []dstest.Option{crash("p0")}, "MayComplete: 2 steps, 2 replaced, 0 left, 1 worst", "an old pod that crashes is replaced by one that may crash too"},

		{"- N", []dstest.Option{dstest.Labeled("n0", "type=virtual-kubelet")}, "Stalls (VirtualNode): 0 steps, 0 replaced, 0 left, 1 worst; n0 VirtualNode; ExcludeNodes=type!=virtual-kubelet", "a virtual node gets a pod, which never runs"},
		{"- - N", []dstest.Option{dstest.Labeled("n0", "type=virtual-kubelet"), dstest.Labeled("n1", "eks.amazonaws.com/compute-type=fargate")}, "Stalls (VirtualNode): 0 steps, 0 replaced, 0 left, 2 worst; n0 VirtualNode; n1 VirtualNode; ExcludeNodes=eks.amazonaws.com/compute-type!=fargate,type!=virtual-kubelet", "two of different kinds are excluded by both labels"},
		{"- O O", []dstest.Option{refused()}, "Stalls (FailedCreate): 0 steps, 0 replaced, 2 left, 1 worst; n0 FailedCreate", "nothing is replaced while creates are refused"},
		{"O O", []dstest.Option{refused()}, "Stalls (FailedCreate): 1 steps, 1 replaced, 1 left, 1 worst; any 1", "the first pod that goes does not come again"},

		{"O O O", []dstest.Option{dstest.MaxSurge("1"), max("0")}, "Completes: 3 steps, 3 replaced, 0 left, 0 worst", "a surge takes no node down"},
		{"O n/O O", []dstest.Option{dstest.MaxSurge("1"), max("0"), crash("p1")}, "Stalls (BudgetSpent): 0 steps, 0 replaced, 3 left, 0 worst; n1 CrashLoopBackOff; RollBack=1", "a surge that fails"},
		{"O O", []dstest.Option{dstest.MaxSurge("1"), max("0"), hostPort()}, "Stalls (BudgetSpent): 1 steps, 0 replaced, 2 left, 0 worst; any 1; NoSurge=1", "a surging pod waits for the port that the old one holds"},
		{"O o", []dstest.Option{dstest.MaxSurge("1"), max("0"), hostPort()}, "Stalls (BudgetSpent): 1 steps, 1 replaced, 1 left, 1 worst; any 1; NoSurge=1?", "but for one that is not ready, which goes first"},
		{"O O", []dstest.Option{dstest.MaxSurge("1"), max("0"), hostPorts(80, 0)}, "Completes: 2 steps, 2 replaced, 0 left, 0 worst", "old pods that hold no port stand in nobody's way"},
		{"O O", []dstest.Option{dstest.MaxSurge("1"), max("0"), hostPorts(81, 80)}, "Completes: 2 steps, 2 replaced, 0 left, 0 worst", "nor do those that hold another one"},
		{"O O", []dstest.Option{dstest.MaxSurge("1"), max("0"), hostPorts(80, 0), oldPorts(`{"containerPort":80,"hostPort":80}`, false)}, "Stalls (BudgetSpent): 1 steps, 0 replaced, 2 left, 0 worst; any 1; NoSurge=1", "a port that the template of the old pods has, though the recorded pods have none"},
		{"O O", []dstest.Option{dstest.MaxSurge("1"), max("0"), hostPorts(80, 0), oldPorts(`{"containerPort":80}`, true)}, "Stalls (BudgetSpent): 1 steps, 0 replaced, 2 left, 0 worst; any 1; NoSurge=1", "on the host's network every port is one of the node"},
		{"O O", []dstest.Option{dstest.MaxSurge("1"), max("0"), hostPorts(80, 0), oldPorts(`{"containerPort":80}`, false)}, "Completes: 2 steps, 2 replaced, 0 left, 0 worst", "on the pod's own it is not"},
		{"O O", []dstest.Option{dstest.MaxSurge("1"), max("0"), hostPorts(80, 81), oldPorts(`{"containerPort":80,"hostPort":80},{"containerPort":81,"hostPort":81}`, false)}, "Stalls (BudgetSpent): 1 steps, 0 replaced, 2 left, 0 worst; any 1; NoSurge=1", "the recorded pods have fewer ports than their template"},
		{"O O", []dstest.Option{dstest.MaxSurge("1"), max("0"), hostPorts(80, 0), oldPorts(`{"containerPort":80,"hostPort":80,"protocol":"UDP"}`, false)}, "Completes: 2 steps, 2 replaced, 0 left, 0 worst", "the port of another protocol"},
		{"O O", []dstest.Option{dstest.MaxSurge("1"), max("0"), hostPorts(80, 80), importance("system-node-critical", 5)}, "Completes: 2 steps, 2 replaced, 0 left, 0 worst", "the scheduler removes an old pod of lower priority, which holds the port"},
		{"O O", []dstest.Option{dstest.MaxSurge("1"), max("0"), hostPorts(80, 80), importance("", 5)}, "Stalls (BudgetSpent): 1 steps, 0 replaced, 2 left, 0 worst; any 1; NoSurge=1", "but none of higher priority"},

		// Found by review.
		{"n W O O", []dstest.Option{dstest.MinReadySeconds(60), crash("p0")}, "Stalls (BudgetSpent): 0 steps, 0 replaced, 2 left, 2 worst; n0 CrashLoopBackOff; RollBack=1", "a pod that is ready becomes available, whatever the others do"},
		{"V O", []dstest.Option{dstest.MinReadySeconds(60), down("n0")}, "Stalls (BudgetSpent): 1 steps, 1 replaced, 1 left, 1 worst; n0 NodeNotReady; RepairNodes=1; RemoveNode=n0", "a pod on a silent node does not"},
		{"N O", []dstest.Option{dstest.MinReadySeconds(1), readyIn("p0", 30*time.Minute)}, "Completes: 1 steps, 1 replaced, 0 left, 1 worst", "a clock that is ahead is waited for"},
		{"O O", []dstest.Option{dstest.Version("v1.20.15"), max("3")}, "Completes: 1 steps, 2 replaced, 0 left, 2 worst", "up to 1.20 what is on its way out is deleted again and again"},
		{"- O", []dstest.Option{notReady("n0")}, "Stalls (BudgetSpent): 0 steps, 0 replaced, 1 left, 1 worst; n0 NodeNotReady; RepairNodes=1; RemoveNode=n0", "a node that is not ready stays so while its pod is gone"},
		{"n O", []dstest.Option{notReady("n0"), young("p0")}, "Stalls (BudgetSpent): 0 steps, 0 replaced, 1 left, 1 worst; n0 NodeNotReady; RepairNodes=1; RemoveNode=n0", "and while a new one starts there"},
		{"o O", []dstest.Option{notReady("n0"), crash("p0")}, "Completes: 2 steps, 2 replaced, 0 left, 1 worst", "unless its kubelet starts pods: a repaired network plugin makes its node ready"},
		{"Ot O", []dstest.Option{notReady("n0"), endless("p0")}, "Stalls (BudgetSpent): 0 steps, 0 replaced, 1 left, 1 worst; n0 TerminatingOnDeadNode; RepairNodes=1; RemoveNode=n0", "one whose pod does not end is dead"},
		{"Ot O", []dstest.Option{endless("p0")}, "Stalls (BudgetSpent): 0 steps, 0 replaced, 1 left, 1 worst; n0 Terminating", "on a healthy node something else holds the pod"},
		{"O O", []dstest.Option{dstest.MaxSurge("1"), max("0"), refused()}, "Stalls (FailedCreate): 0 steps, 0 replaced, 2 left, 0 worst", "a surge whose creates are refused"},
		{"O O O O", []dstest.Option{down("n1"), down("n2")}, "Stalls (BudgetSpent): 1 steps, 1 replaced, 3 left, 1 worst, at worst; n1 NodeNotReady; RepairNodes=2; RaiseMaxUnavailable=3", "at worst the second dead node goes next"},
		{"!o O", []dstest.Option{down("n0"), max("2")}, "Completes: 1 steps, 1 replaced, 0 left, 1 worst, 1 dropped; RepairNodes=1", "a dead node that should not run the pod lacks none"},
		{"!O !O", []dstest.Option{max("10%")}, "Stalls (BudgetSpent): 0 steps, 0 replaced, 2 left, 0 worst; Tolerate=", "a limit that would let it remove all pods is no way out, and a toleration is one"},
		{"!o !o O", []dstest.Option{down("n0"), down("n1")}, "Stalls (BudgetSpent): 1 steps, 0 replaced, 1 left, 0 worst, 2 dropped; n0 NodeNotReady; n1 NodeNotReady; RepairNodes=2", "a limit is not bounded by desired"},

		{"O O", []dstest.Option{max("x")}, `Stalls (InvalidBudget): 0 steps, 0 replaced, 2 left, 0 worst`, "a limit that cannot be resolved"},
		{"~O O", []dstest.Option{dstest.MaxSurge("1"), max("0")}, "Completes: 1 steps, 1 replaced, 0 left, 0 worst; DeletePods=", "a step that fails until the pod of a vanished node is collected"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, tt.options...)
			f := forecast(stateOf(t, s), Options{}, false)
			if diff := cmp.Diff(tt.want, short(&f.Outcome)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

// took makes a pod Ready that long after its creation.
func took(name string, start time.Duration) dstest.Option {
	return dstest.Pod(name, func(p *corev1.Pod) {
		p.CreationTimestamp = ago(time.Hour)
		for i := range p.Status.Conditions {
			if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
				c.LastTransitionTime = metav1.NewTime(p.CreationTimestamp.Add(start))
			}
		}
	})
}

func restarted(name string) dstest.Option {
	return dstest.Pod(name, func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 1}} })
}

func TestMeasure(t *testing.T) {
	s := func(n int) time.Duration { return time.Duration(n) * time.Second }
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		ask     Options
		want    []float64
		source  string
		why     string
	}{
		{"O O O", []dstest.Option{took("p0", s(30)), took("p1", s(10)), took("p2", s(20))}, Options{}, []float64{10, 20, 30}, "Pods", "three pods tell"},
		{"O O", []dstest.Option{took("p0", s(30)), took("p1", s(10))}, Options{}, nil, "", "two are too few"},
		{"O O O", []dstest.Option{took("p0", s(30)), took("p1", s(10)), took("p2", s(20)), restarted("p2")}, Options{}, nil, "", "one that restarted does not count"},
		{"O O o", []dstest.Option{took("p0", s(30)), took("p1", s(10))}, Options{}, nil, "", "nor does one that is not ready"},
		{"O O Ot", []dstest.Option{took("p0", s(30)), took("p1", s(10)), took("p2", s(20))}, Options{}, nil, "", "nor one that ends"},
		{"O O O N N N", []dstest.Option{took("p0", s(30)), took("p1", s(30)), took("p2", s(30)), took("p3", s(1)), took("p4", s(2)), took("p5", s(3))}, Options{}, []float64{1, 2, 3}, "UpdatedPods", "the current revision goes before"},
		{"O O O N N o", []dstest.Option{took("p0", s(30)), took("p1", s(30)), took("p2", s(30)), took("p3", s(1)), took("p4", s(2))}, Options{}, []float64{1, 2, 30, 30, 30}, "Pods", "unless too few pods are of it"},
		{"O*10", []dstest.Option{
			took("p0", s(1)), took("p1", s(2)), took("p2", s(3)), took("p3", s(4)), took("p4", s(5)), took("p5", s(6)), took("p6", s(7)), took("p7", s(8)), took("p8", s(9)), took("p9", s(3000)),
		}, Options{}, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 9}, "Pods", "the slowest tenth is as fast as its fastest"},
		{"O O O", []dstest.Option{took("p0", s(30)), took("p1", s(10)), took("p2", s(20))}, Options{Starts: []time.Duration{s(7)}}, []float64{7}, "Flag", "what a person says goes before all"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, tt.options...)
			m := timing.Measure(stateOf(t, s), tt.ask.Given())
			if diff := cmp.Diff(tt.want, m.Starts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if m.StartSource != tt.source {
				t.Errorf("source %q, want %q", m.StartSource, tt.source)
			}
		})
	}
}

// TestDuration checks how long a rollout takes, computed by hand: pods start in 10 s and terminate in 5 s.
func TestDuration(t *testing.T) {
	ten, five := 10*time.Second, 5*time.Second
	ask := Options{Starts: []time.Duration{ten}, Termination: &five}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    float64 // within a second, or more if the rate of requests matters
		give    float64
		why     string
	}{
		{"O*4", nil, 60, 1, "four times end and start"},
		{"O*4", []dstest.Option{dstest.MaxUnavailable("2")}, 30, 1, "two at a time"},
		{"O*4", []dstest.Option{dstest.MaxUnavailable("100%")}, 15, 1, "all at once"},
		{"O*4", []dstest.Option{dstest.MinReadySeconds(9)}, 4 * (5 + 10 + 9), 2, "and ready for 9 s"},
		{"O*4", []dstest.Option{dstest.MaxSurge("1"), dstest.MaxUnavailable("0")}, 45, 1, "with a surge a pod ends while the next one starts: four starts and an end"},
		{"O*200", []dstest.Option{dstest.MaxUnavailable("100%")}, (400+25-30)/20. + 10, 1, "deletes, creates and 25 events at 20 a second, but for a burst of 30; then the last start"},
		{"-", nil, 10, 1, "a start alone"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, tt.options...)
			f := forecast(stateOf(t, s), ask, false)
			d := f.Outcome.Duration
			if d == nil {
				t.Fatalf("no duration: %s", short(&f.Outcome))
			}
			if d.Expected < tt.want-tt.give || d.Expected > tt.want+tt.give {
				t.Errorf("%v, want %v", d.Expected, tt.want)
			}
			if d.Optimistic > d.Expected || d.Expected > d.Pessimistic {
				t.Errorf("not in order: %+v", d)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	ten, five := 10*time.Second, 5*time.Second
	s := dstest.State("O*20", dstest.MaxUnavailable("5%"))
	f := forecast(stateOf(t, s), Options{Starts: []time.Duration{ten}, Termination: &five}, false)
	var got []string
	for _, l := range f.Limits {
		got = append(got, fmt.Sprintf("%s=%d %d steps %.0f s current %t %s", l.Limit, l.Nodes, l.Steps, l.Duration.Expected, l.Current, l.Code))
	}
	want := []string{
		"1=1 20 steps 300 s current true Completes",
		"5%=1 20 steps 300 s current true Completes",
		"10%=2 10 steps 150 s current false Completes",
		"25%=5 4 steps 60 s current false Completes",
		"33%=7 3 steps 45 s current false Completes",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWaves(t *testing.T) {
	ten, five := 10*time.Second, 5*time.Second
	s := dstest.State("O*9", dstest.MaxUnavailable("2"))
	f := forecast(stateOf(t, s), Options{Starts: []time.Duration{ten}, Termination: &five}, false)
	var got []string
	for _, w := range f.Waves {
		got = append(got, fmt.Sprintf("%.0f to %.0f s: %d times %d deletes, %d creates, then %d updated, %d available", *w.At, *w.Last, w.Count, w.Deletes, w.Creates, w.Counts.Updated, w.Counts.Available))
	}
	want := []string{"0 to 45 s: 4 times 2 deletes, 2 creates, then 8 updated, 9 available", "60 to 60 s: 1 times 1 deletes, 1 creates, then 9 updated, 9 available"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAtATime checks how many pods a limit allows at a time, apart from those on nodes that are unavailable and stay
// so.
func TestAtATime(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"O*6", []dstest.Option{dstest.MaxUnavailable("2")}, "2 at a time, 0 at once; 1: 1, 5%: 1, 10%: 1, 25%: 2, 33%: 2, 2: 2", "nothing is in the way"},
		{"O*3", []dstest.Option{dstest.MaxUnavailable("5")}, "3 at a time, 0 at once; 1: 1, 5%: 1, 10%: 1, 25%: 1, 33%: 1, 5: 3", "no more go than there are"},
		{"O*6 Ot Ot", []dstest.Option{dstest.MaxUnavailable("5"), down("n6"), down("n7")}, "3 at a time, 0 at once; 1: 0, 5%: 0, 10%: 0, 25%: 0, 33%: 1, 5: 3", "two nodes are lost, and their pods go already"},
		{"O*6 o o", []dstest.Option{dstest.MaxUnavailable("5"), down("n6"), down("n7")}, "3 at a time, 2 at once; 1: 0, 5%: 0, 10%: 0, 25%: 0, 33%: 1, 5: 3", "they are lost, and their pods go first"},
		{"O*6 o o", []dstest.Option{dstest.MaxUnavailable("1")}, "1 at a time, 2 at once; 1: 1, 5%: 1, 10%: 1, 25%: 2, 33%: 3", "what is not available goes whatever the limit says, and a new pod comes"},
		{"O*6", []dstest.Option{dstest.MaxUnavailable("0"), dstest.MaxSurge("2")}, "2 at a time, 0 at once; 1: 1, 5%: 1, 10%: 1, 25%: 2, 33%: 2, 2: 2", "a surge"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, tt.options...)
			f := forecast(stateOf(t, s), Options{Starts: []time.Duration{10 * time.Second}}, false)
			var limits []string
			for _, l := range f.Limits {
				limits = append(limits, fmt.Sprintf("%s: %d", l.Limit, l.AtATime))
			}
			got := fmt.Sprintf("%d at a time, %d at once; %s", f.Outcome.AtATime, f.Outcome.AtOnce, strings.Join(limits, ", "))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLimitsOfAChange checks that one of the limits of a plan is the current limit, and one is the limit of the change.
func TestLimitsOfAChange(t *testing.T) {
	for _, tt := range []struct {
		options []dstest.Option
		change  *whatif.Change
		want    string
		why     string
	}{
		{[]dstest.Option{dstest.MaxUnavailable("10%")}, nil, "1 5% 10% now planned 25% 33%", "without a change the two are one"},
		{[]dstest.Option{dstest.MaxUnavailable("10%")}, &whatif.Change{MaxUnavailable: dstest.Limit("25%")}, "1 5% 10% now 25% planned 33%", "a change of the limit"},
		{[]dstest.Option{dstest.MaxUnavailable("10%")}, &whatif.Change{Restart: true}, "1 5% 10% now planned 25% 33%", "a change of something else"},
		{[]dstest.Option{dstest.MaxUnavailable("10%")}, &whatif.Change{MaxUnavailable: dstest.Limit("0"), MaxSurge: dstest.Limit("25%")}, "1 5% 10% 25% planned 33%", "a limit of another kind is none of these"},
		{[]dstest.Option{dstest.MaxUnavailable("2")}, nil, "1 5% now planned 2 now planned 10% 25% 33%", "the limit itself is one of them, besides the usual ones"},
		{[]dstest.Option{dstest.MaxUnavailable("3")}, nil, "1 5% 3 now planned 10% 25% 33%", "also where it comes to none of theirs"},
		{[]dstest.Option{dstest.MaxUnavailable("2")}, &whatif.Change{MaxUnavailable: dstest.Limit("50%")}, "1 5% now 2 now 10% 25% 33% 50% planned", "and both that before the change and that after it"},
		{[]dstest.Option{dstest.MaxUnavailable("10%")}, &whatif.Change{MaxUnavailable: dstest.Limit("1"), Nodes: removed(20)}, "1 planned 5% planned 10% now 25% 33%", "a percentage that holds now is one of the nodes that are left"},
		{[]dstest.Option{dstest.OnDelete()}, &whatif.Change{Strategy: "RollingUpdate", MaxUnavailable: dstest.Limit("1")}, "1 planned 5% 10% 25% 33%", "nor is OnDelete"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p, err := planOf(dstest.State("O*40", tt.options...), tt.change, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range p.Limits {
				got = append(got, l.Limit)
				if l.Current {
					got = append(got, "now")
				}
				if l.Planned {
					got = append(got, "planned")
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func groupsOf(t *testing.T, s *snapshot.Snapshot) []Group {
	t.Helper()
	p, err := planOf(s, nil, Options{GroupBy: "zone"})
	if err != nil {
		t.Fatal(err)
	}
	return p.Groups
}

// removed returns the removal of the first nodes of dstest.State.
func removed(count int) []whatif.NodeEdit {
	var out []whatif.NodeEdit
	for i := range count {
		out = append(out, whatif.NodeEdit{Kind: whatif.NodeRemove, Which: fmt.Sprintf("n%d", i)})
	}
	return out
}

func TestGroups(t *testing.T) {
	zone := func(name, zone string) dstest.Option {
		return dstest.Node(name, func(n *corev1.Node) { n.Labels = map[string]string{"zone": zone} })
	}
	s := dstest.State("O O O O o !- N", dstest.MaxUnavailable("2"), zone("n0", "a"), zone("n1", "a"), zone("n2", "a"), zone("n3", "b"), zone("n4", "b"), zone("n5", "b"), zone("n6", "c"))
	want := []Group{
		{Key: "zone", Value: "b", Nodes: 2, Down: 1, Step: 1, AtWorst: 2},
		{Key: "zone", Value: "a", Nodes: 3, Down: 0, Step: 2, AtWorst: 2},
		{Key: "zone", Value: "c", Nodes: 1}, // no old pod is left there
	}
	if diff := cmp.Diff(want, groupsOf(t, s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	lost := dstest.State("O O O Ot Ot", dstest.MaxUnavailable("4"), zone("n0", "a"), zone("n1", "a"), zone("n2", "a"), zone("n3", "b"), zone("n4", "b"), down("n3"), down("n4"))
	want = []Group{
		{Key: "zone", Value: "b", Nodes: 2, Down: 2, AtWorst: 2},
		{Key: "zone", Value: "a", Nodes: 3, Step: 2, AtWorst: 2}, // the other 2 of the limit are used up permanently
	}
	if diff := cmp.Diff(want, groupsOf(t, lost)); diff != "" {
		t.Errorf("nodes that are lost (-want +got):\n%s", diff)
	}
}

// TestForecastLaws checks for random states that the numbers of pods and waves add up, and that the order in which
// objects were read does not matter.
func TestForecastLaws(t *testing.T) {
	ten := 10 * time.Second
	for seed := range cases.Of(int64(100)) {
		s := dstest.Anywhere(seed, "v1.37.1")
		st := stateOf(t, s)
		f := forecast(st, Options{Starts: []time.Duration{ten}}, false)
		o := &f.Outcome
		for _, a := range f.assumptions {
			if a.Source == "" {
				t.Fatalf("seed %d: assumption %s has no source", seed, a.Code)
			}
		}
		if total := f.Replaces + f.Drops; o.Code != Unknown && o.Code != NotRolling && (o.Replaced > f.Replaces || o.Dropped > f.Drops || total != oldPods(st)) {
			t.Fatalf("seed %d: %d old pods, %d to replace and %d to delete; %d replaced, %d deleted, %d left", seed, oldPods(st), f.Replaces, f.Drops, o.Replaced, o.Dropped, o.Left)
		}
		switch {
		case o.Code == Completes && o.Left > 0, o.Code == NothingToDo && len(f.Waves) > 0, o.Code == Unknown != (o.Reason == Endless || o.Reason == "PodsNotRead"):
			t.Fatalf("seed %d: %s, waves %+v", seed, short(o), f.Waves)
		case (o.Code == Completes || o.Code == RemovesAllPods) != (o.Duration != nil):
			t.Fatalf("seed %d: %s, duration %+v", seed, short(o), o.Duration)
		}
		steps := 0
		for i, w := range f.Waves {
			if o.Duration != nil && o.Code == Completes && i > 0 && *w.At > o.Duration.Expected {
				t.Fatalf("seed %d: wave %d begins at %g, and all is over at %g", seed, i, *w.At, o.Duration.Expected)
			}
			steps += w.Count
			if i > 0 && (*w.At < *f.Waves[i-1].At || w.Creates == f.Waves[i-1].Creates && w.Deletes == f.Waves[i-1].Deletes) {
				t.Fatalf("seed %d: waves %+v", seed, f.Waves)
			}
		}
		if steps < o.Steps || steps > o.Steps+1 { // there may be a wave for placement before the first step
			t.Fatalf("seed %d: %d waves, %d steps", seed, steps, o.Steps)
		}
		for i, j := 0, len(s.Pods)-1; i < j; i, j = i+1, j-1 {
			s.Pods[i], s.Pods[j] = s.Pods[j], s.Pods[i]
		}
		for i, j := 0, len(s.Nodes)-1; i < j; i, j = i+1, j-1 {
			s.Nodes[i], s.Nodes[j] = s.Nodes[j], s.Nodes[i]
		}
		again := forecast(stateOf(t, s), Options{Starts: []time.Duration{ten}}, false)
		if diff := cmp.Diff(f.Forecast, again.Forecast); diff != "" {
			t.Fatalf("seed %d: the order of what was read matters:\n%s", seed, diff)
		}
	}
}

// TestUnderWay checks how many nodes of a stalled rollout use up the limit now, and may stop doing so by themselves.
func TestUnderWay(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"o n O O", []dstest.Option{down("n0"), young("p1")}, "Stalls 1", "a pod still starts, and then the limit of 1 is used up by a node that is down"},
		{"o N O O", []dstest.Option{down("n0")}, "Stalls 0", "nothing does"},
		{"n n O O", []dstest.Option{crash("p0"), young("p1")}, "Stalls 1", "one starts where another fails, as it is expected to"},
		{"n O O O", []dstest.Option{young("p0")}, "Completes 0", "of one that completes it is not asked"},
	} {
		o := forecast(stateOf(t, dstest.State(tt.grid, tt.options...)), Options{}, true).Outcome
		if got := fmt.Sprintf("%s %d", o.Code, o.UnderWay); got != tt.want {
			t.Errorf("%q: %s, want %s: %s", tt.grid, got, tt.want, tt.why)
		}
	}
}
