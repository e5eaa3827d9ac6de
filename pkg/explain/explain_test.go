package explain_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// crashing makes a pod crash.
func crashing(pod string) dstest.Option {
	return dstest.Pod(pod, func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "agent", RestartCount: 5, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}},
		}}
	})
}

// young makes a pod one that was just created.
func young(pod string) dstest.Option {
	return dstest.Pod(pod, func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(at(time.Second)) })
}

// mounting makes a pod one that was just created and waits for a volume.
func mounting(pod string) dstest.Option {
	return dstest.Pod(pod, func(p *corev1.Pod) {
		p.CreationTimestamp = metav1.NewTime(at(time.Second))
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}}
	})
}

func mountEvent(pod types.UID) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.Events = append(s.Events, corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "Pod", UID: pod}, Reason: "FailedMount", Message: "not yet", LastTimestamp: metav1.NewTime(at(time.Second))})
	})
}

// newNode makes a node one that just joined.
func newNode(name string) dstest.Option {
	return dstest.Node(name, func(n *corev1.Node) { n.CreationTimestamp = metav1.NewTime(at(time.Second)) })
}

// reports sets the status to what the controller's rules compute, then applies
// a change.
func reports(change func(*appsv1.DaemonSetStatus)) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		profile, _ := daemonset.ForVersion(s.KubernetesVersion)
		st, err := daemonset.New(s, profile)
		if err != nil {
			panic(err)
		}
		c, _ := st.Counts()
		ds := &s.DaemonSet.Status
		ds.DesiredNumberScheduled, ds.CurrentNumberScheduled, ds.NumberMisscheduled = int32(c.Desired), int32(c.Current), int32(c.Misscheduled)
		ds.NumberReady, ds.UpdatedNumberScheduled, ds.NumberAvailable, ds.NumberUnavailable = int32(c.Ready), int32(c.Updated), int32(c.Available), int32(c.Unavailable)
		if change != nil {
			change(ds)
		}
	})
}

// written sets how long ago the controller wrote the DaemonSet's status.
func written(ago time.Duration) dstest.Option {
	return dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
		earlier, last := metav1.NewTime(at(ago+time.Hour)), metav1.NewTime(at(ago))
		ds.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "kube-controller-manager", Subresource: "status", Time: &last}, {Manager: "other", Subresource: "status", Time: &earlier}, {Manager: "kubectl", Time: &earlier},
		}
	})
}

func lack(what snapshot.What) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.Gaps = append(s.Gaps, snapshot.Gap{What: what, Why: snapshot.Forbidden})
		switch what {
		case snapshot.Nodes:
			s.Nodes = nil
		case snapshot.Pods:
			s.Pods = nil
		}
	})
}

func refuse(ago time.Duration) dstest.Option {
	return setEvent("FailedCreate", "Error creating: exceeded quota", 3, ago)
}

func TestVerdict(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    explain.VerdictCode
		why     string
	}{
		{"N N N", nil, explain.Healthy, "all there and up to date"},
		{"", nil, explain.Healthy, "no node, nothing to do"},
		{"N !N", nil, explain.Healthy, "a misscheduled pod hurts nobody"},
		{"N N", []dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.DeletionTimestamp = &metav1.Time{Time: at(time.Minute)} })}, explain.BeingDeleted, "whatever else"},
		{"O O", []dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Generation = 3 })}, explain.NotObserved, "what is reported is of an older generation"},
		{"N N", []dstest.Option{lack(snapshot.Pods)}, explain.Unknown, "without pods nothing can be told"},
		{"N N", []dstest.Option{reports(nil), lack(snapshot.Nodes)}, explain.Healthy, "without nodes the reported numbers say that all is well"},
		{"N N", []dstest.Option{reports(func(s *appsv1.DaemonSetStatus) { s.NumberAvailable = 1 }), lack(snapshot.Nodes)}, explain.Unknown, "or that it is not, on nodes that are not seen"},
		{"N n", []dstest.Option{reports(func(s *appsv1.DaemonSetStatus) { s.NumberAvailable = 2 }), young("p1"), lack(snapshot.Nodes)}, explain.Progressing, "a pod that starts is seen without nodes"},
		{"O N", nil, explain.Progressing, "the next sync deletes an old pod"},
		{"O n", []dstest.Option{young("p1")}, explain.Progressing, "a new pod that starts holds the budget for a while"},
		{"O n", []dstest.Option{crashing("p1")}, explain.Stuck, "one that crashes holds it for ever"},
		{"O nt", []dstest.Option{notReady("n1")}, explain.Stuck, "and so does a pod that no kubelet ends"},
		{"O Nt", nil, explain.Progressing, "a pod that terminates in time does not"},
		{"O n n", []dstest.Option{dstest.MaxUnavailable("2"), crashing("p1"), young("p2")}, explain.Progressing, "as long as one of the holders may get well"},
		{"o N", []dstest.Option{crashing("p0")}, explain.Progressing, "an old pod that crashes is replaced whatever the budget says"},
		{"O -", []dstest.Option{newNode("n1")}, explain.Progressing, "a pod is missing, and created next"},
		{"O - -", []dstest.Option{dstest.MaxUnavailable("3"), refuse(time.Minute)}, explain.Stuck, "a refused creation ends each sync before any old pod is replaced, with budget to spare"},
		{"O nf", []dstest.Option{setEvent("FailedDaemonPod", "Found failed daemon pod a/b on node n1, will try to kill it", 9, time.Minute)}, explain.Stuck, "deleting failed pods again and again is no progress"},
		{"O O nf", []dstest.Option{dstest.MaxUnavailable("2"), setEvent("FailedDaemonPod", "Found failed daemon pod a/b on node n2, will try to kill it", 9, time.Minute)}, explain.Progressing, "while budget is left"},
		{"O O/n", []dstest.Option{dstest.MaxSurge("1"), crashing("p1b")}, explain.Stuck, "a surge whose pod crashes"},
		{"O/n O/n", []dstest.Option{dstest.MaxSurge("5"), crashing("p0b"), crashing("p1b")}, explain.Stuck, "with budget to spare, and no node to use it on"},
		{"!O !O", []dstest.Option{dstest.MaxUnavailable("10%")}, explain.Stuck, "10% of no eligible node lets no pod go, though nobody holds the budget"},
		{"!O !O", []dstest.Option{dstest.MaxUnavailable("1")}, explain.Progressing, "1 lets them go"},
		{"O ~O", []dstest.Option{dstest.MaxSurge("1")}, explain.Progressing, "an old pod of a vanished node fails the surge until it is collected"},
		{"O O", []dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = &intstr.IntOrString{Type: intstr.String, StrVal: "half"}
		})}, explain.Stuck, "a budget that cannot be resolved"},
		{"O N", []dstest.Option{written(time.Hour)}, explain.Stuck, "a controller that does not do what it owes"},
		{"O N", []dstest.Option{written(time.Hour), lack(snapshot.Events)}, explain.Progressing, "without events that is not said of it"},
		{"O N", []dstest.Option{written(time.Minute)}, explain.Progressing, "nor when it wrote a moment ago"},
		{"O N", []dstest.Option{written(time.Hour), young("p1")}, explain.Progressing, "nor when something just changed"},
		{"O N", []dstest.Option{dstest.OnDelete()}, explain.AwaitingDelete, "OnDelete waits for a person"},
		{"O n", []dstest.Option{dstest.OnDelete(), crashing("p1")}, explain.Degraded, "what fails comes before what waits"},
		{"N n", []dstest.Option{crashing("p1")}, explain.Degraded, "nothing to roll, and a pod crashes"},
		{"N n", []dstest.Option{young("p1")}, explain.Progressing, "nothing to roll, and a pod starts"},
		{"N nf", nil, explain.Degraded, "a pod failed"},
		{"N -", []dstest.Option{newNode("n1")}, explain.Progressing, "a pod is created next"},
		{"N -", []dstest.Option{refuse(time.Minute)}, explain.Degraded, "a pod is refused"},
		{"N -", nil, explain.Degraded, "a pod is missing for long"},
		{"N !n", []dstest.Option{crashing("p1")}, explain.Healthy, "a pod that crashes where it should not run is nobody's loss"},
		{"N #N", nil, explain.Progressing, "a pod that may not stay is deleted next"},
		{"N ot/N", []dstest.Option{dstest.MaxSurge("1")}, explain.Progressing, "the status counts a node by its oldest pod, which is on its way out"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State(tt.grid, tt.options...), explain.Options{})
			if e.Verdict.Code != tt.want {
				t.Errorf("verdict of %q is %s %v, want %s", tt.grid, e.Verdict.Code, e.Verdict.Facts, tt.want)
			}
		})
	}
}

func TestVerdictFacts(t *testing.T) {
	_, e := explanation(t, dstest.State("O O n n - n", crashing("p2"), newNode("n4"), notReady("n3"), mounting("p5"), mountEvent("pod-p5"), dstest.MaxUnavailable("3")), explain.Options{})
	want := daemonset.Facts{
		"basis": "Computed", "desired": 6, "updated": 3, "available": 2, "unavailable": 4, "oldNodes": 2, "used": 4, "limit": 3, "holders": 4, "without": 4, "stillCounted": 0,
		"newPods": 2, "newFailing": 1, "oldPods": 2, "oldFailing": 0, // not counted: a pod that starts, and one on a node that is down
	}
	if diff := cmp.Diff(want, e.Verdict.Facts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProblems(t *testing.T) {
	type facts = daemonset.Facts
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    []explain.Problem
		why     string
	}{
		{"N O", []dstest.Option{reports(nil)}, []explain.Problem{}, "a rollout under way is none"},
		{"N n n n", []dstest.Option{reports(nil), crashing("p1"), crashing("p3"), young("p2")}, []explain.Problem{
			{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Count: 2, Nodes: []string{"n1", "n3"}, Pods: []string{"p1", "p3"}, Since: since(time.Hour), Latest: since(time.Hour),
				Facts: facts{"container": "agent", "init": false, "exitCode": 1, "reason": "Error", "restarts": 5, "newFailing": 2, "newPods": 4, "oldFailing": 0, "oldPods": 0}},
			{Code: cause.Starting, Severity: cause.SeverityInfo, Count: 1, Nodes: []string{"n2"}, Pods: []string{"p2"}, Since: since(time.Second), Latest: since(time.Second), Facts: facts{}},
		}, "equal ones are one problem, and the cause of more stands first"},
		{"n n", []dstest.Option{reports(nil), crashing("p0"), crashing("p1"), dstest.Pod("p1", func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount = 7 })}, []explain.Problem{
			{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Count: 2, Nodes: []string{"n0", "n1"}, Pods: []string{"p0", "p1"}, Since: since(time.Hour), Latest: since(time.Hour),
				Facts: facts{"container": "agent", "init": false, "exitCode": 1, "reason": "Error", "newFailing": 2, "newPods": 2, "oldFailing": 0, "oldPods": 0}},
		}, "what they do not share is not said of both"},
		{"n n n Nt", []dstest.Option{reports(nil), crashing("p0"), crashing("p1"), crashing("p2"), lastWords("p1", "one"), lastWords("p2", "two"), exitCode("p0", 2)}, []explain.Problem{
			{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Count: 2, Nodes: []string{"n1", "n2"}, Pods: []string{"p1", "p2"}, Since: since(time.Hour), Latest: since(time.Hour),
				Facts: facts{"container": "agent", "init": false, "exitCode": 1, "reason": "Error", "restarts": 5, "message": "one", "furtherMessages": []string{"two"}, "newFailing": 2, "newPods": 3, "oldFailing": 0, "oldPods": 0}},
			{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Count: 1, Nodes: []string{"n0"}, Pods: []string{"p0"}, Since: since(time.Hour), Latest: since(time.Hour),
				Facts: facts{"container": "agent", "init": false, "exitCode": 2, "reason": "Error", "restarts": 5, "newFailing": 1, "newPods": 3, "oldFailing": 0, "oldPods": 0}},
			{Code: cause.Terminating, Severity: cause.SeverityInfo, Count: 1, Nodes: []string{"n3"}, Pods: []string{"p3"}, Since: since(90 * time.Second), Latest: since(90 * time.Second), Facts: facts{"overdue": false, "finalizers": []string{"example.com/hold"}}},
		}, "the problem of more nodes first, with the first's last words; a pod that goes tells nothing of its revision"},
		{"N !n", []dstest.Option{dstest.MaxSurge("1"), crashing("p1"), reports(nil)}, []explain.Problem{
			{Code: cause.Misscheduled, Severity: cause.SeverityWarning, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1"},
				Facts: facts{"because": "TaintNotTolerated", "stays": true, "strandedBy": "Next", "taint": "dedicated:NoSchedule", "key": "dedicated", "value": "", "effect": "NoSchedule"}},
		}, "what fails where it should not run, and holds nothing, is no problem"},
		{"!N !N", []dstest.Option{reports(nil), dstest.Node("n1", func(n *corev1.Node) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "node.kubernetes.io/gone", Effect: corev1.TaintEffectNoExecute})
		})}, []explain.Problem{
			{Code: cause.NoEligibleNode, Severity: cause.SeverityWarning, Nodes: []string{}, Pods: []string{}, Facts: facts{"nodes": 2, "losing": 0, "staying": 1, "changed": "NotTemplate", "nearest": []string{"n0"}, "excludedBy": "Taint", "selects": []string{}, "taints": []string{"dedicated:NoSchedule"}}},
			{Code: cause.Misscheduled, Severity: cause.SeverityInfo, Count: 1, Nodes: []string{"n0"}, Pods: []string{"p0"},
				Facts: facts{"because": "TaintNotTolerated", "stays": true, "strandedBy": "Next", "taint": "dedicated:NoSchedule", "key": "dedicated", "value": "", "effect": "NoSchedule"}},
			{Code: cause.Misscheduled, Severity: cause.SeverityInfo, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1"},
				Facts: facts{"because": "TaintNotTolerated", "stays": false, "taint": "dedicated:NoSchedule", "key": "dedicated", "value": "", "effect": "NoSchedule", "others": 1, "taints": []string{"dedicated:NoSchedule", "node.kubernetes.io/gone:NoExecute"}}},
		}, "a pod that stays is not one that goes, though the same taint is named first"},
		{"N !N #N", []dstest.Option{reports(nil)}, []explain.Problem{
			{Code: cause.Misscheduled, Severity: cause.SeverityWarning, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1"},
				Facts: facts{"because": "TaintNotTolerated", "stays": true, "strandedBy": "Next", "taint": "dedicated:NoSchedule", "key": "dedicated", "value": "", "effect": "NoSchedule"}},
			{Code: cause.Misscheduled, Severity: cause.SeverityInfo, Count: 1, Nodes: []string{"n2"}, Pods: []string{"p2"},
				Facts: facts{"because": "TaintNotTolerated", "stays": false, "taint": "dedicated:NoExecute", "key": "dedicated", "value": "", "effect": "NoExecute"}},
		}, "where a pod should not run, and whether it stays"},
		{"N n", []dstest.Option{notReady("n1"), unreachable("n1"), reports(nil)}, []explain.Problem{
			{Code: cause.NodeNotReady, Severity: cause.SeverityError, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1"}, Since: since(2 * time.Hour), Latest: since(2 * time.Hour),
				Facts: facts{"status": "Unknown", "reason": "NodeStatusUnknown", "lastHeartbeat": "2026-03-01T09:00:00Z"}},
		}, "a node that is down is misscheduled for that, and it is said once"},
		{"N !n", []dstest.Option{notReady("n1"), unreachable("n1"), reports(nil)}, []explain.Problem{
			{Code: cause.NodeNotReady, Severity: cause.SeverityError, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1"}, Since: since(2 * time.Hour), Latest: since(2 * time.Hour),
				Facts: facts{"status": "Unknown", "reason": "NodeStatusUnknown", "lastHeartbeat": "2026-03-01T09:00:00Z"}},
			{Code: cause.Misscheduled, Severity: cause.SeverityInfo, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1"},
				Facts: facts{"because": "TaintNotTolerated", "stays": true, "strandedBy": "Next", "taint": "dedicated:NoSchedule", "key": "dedicated", "value": "", "effect": "NoSchedule", "others": 1, "taints": []string{"dedicated:NoSchedule", "node.kubernetes.io/unreachable:NoSchedule"}}},
		}, "but not where another taint stays when it is up again"},
		{"N n", []dstest.Option{notReady("n1"), unreachable("n1"), dstest.Node("n1", func(n *corev1.Node) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "node.kubernetes.io/zzz", Effect: corev1.TaintEffectNoSchedule})
		}), reports(nil)}, []explain.Problem{
			{Code: cause.NodeNotReady, Severity: cause.SeverityError, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1"}, Since: since(2 * time.Hour), Latest: since(2 * time.Hour),
				Facts: facts{"status": "Unknown", "reason": "NodeStatusUnknown", "lastHeartbeat": "2026-03-01T09:00:00Z"}},
			{Code: cause.Misscheduled, Severity: cause.SeverityInfo, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1"}, Since: since(2 * time.Hour), Latest: since(2 * time.Hour),
				Facts: facts{"because": "TaintNotTolerated", "stays": true, "strandedBy": "Next", "taint": "node.kubernetes.io/unreachable:NoSchedule", "key": "node.kubernetes.io/unreachable", "value": "", "effect": "NoSchedule", "others": 1, "taints": []string{"node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/zzz:NoSchedule"}}},
		}, "whichever is named first"},
		{"O O/n", []dstest.Option{dstest.MaxSurge("1"), young("p1b"), hostPort(), reports(nil)}, []explain.Problem{
			{Code: explain.SurgeHostPort, Severity: cause.SeverityWarning, Nodes: []string{}, Pods: []string{}, Facts: facts{"ports": []string{"80/TCP", "53/UDP"}}},
			{Code: cause.Starting, Severity: cause.SeverityInfo, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1b"}, Since: since(time.Second), Latest: since(time.Second), Facts: facts{}},
		}, "a surge with host ports never ends"},
		{"O N", []dstest.Option{hostPort(), reports(nil)}, []explain.Problem{}, "host ports alone are no problem"},
		{"O N", []dstest.Option{dstest.MaxSurge("1"), hostNetwork(), reports(nil)}, []explain.Problem{
			{Code: explain.SurgeHostPort, Severity: cause.SeverityWarning, Nodes: []string{}, Pods: []string{}, Facts: facts{"ports": []string{"9100/TCP"}}},
		}, "with the host's network every port is one of the node"},
		{"O o N", []dstest.Option{dstest.OnDelete(), young("p1"), reports(nil)}, []explain.Problem{
			{Code: cause.Starting, Severity: cause.SeverityInfo, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1"}, Since: since(time.Second), Latest: since(time.Second), Facts: facts{}},
			{Code: explain.OnDeleteOutdated, Severity: cause.SeverityInfo, Count: 2, Nodes: []string{"n0", "n1"}, Pods: []string{"p0", "p1"}, Facts: facts{"revision": "agent-old", "number": 1}},
		}, "OnDelete: who is on which old revision"},
		{"O N", []dstest.Option{disruptionBudgets(), reports(nil)}, []explain.Problem{
			{Code: explain.DisruptionBudgetIgnored, Severity: cause.SeverityInfo, Nodes: []string{}, Pods: []string{}, Facts: facts{"name": "most", "minAvailable": "90%"}},
			{Code: explain.DisruptionBudgetIgnored, Severity: cause.SeverityInfo, Nodes: []string{}, Pods: []string{}, Facts: facts{"name": "one", "maxUnavailable": "1"}},
		}, "a rollout heeds no PodDisruptionBudget"},
		{"N N", []dstest.Option{disruptionBudgets(), reports(nil)}, []explain.Problem{}, "which is worth knowing only while there is one"},
		{"Ot N", []dstest.Option{disruptionBudgets(), reports(nil)}, []explain.Problem{
			{Code: cause.Terminating, Severity: cause.SeverityInfo, Count: 1, Nodes: []string{"n0"}, Pods: []string{"p0"}, Since: since(90 * time.Second), Latest: since(90 * time.Second), Facts: facts{"overdue": false, "finalizers": []string{"example.com/hold"}}},
		}, "and not when its last pod goes"},
		{"O N", []dstest.Option{dstest.OnDelete(), disruptionBudgets(), reports(nil)}, []explain.Problem{
			{Code: explain.OnDeleteOutdated, Severity: cause.SeverityInfo, Count: 1, Nodes: []string{"n0"}, Pods: []string{"p0"}, Facts: facts{"revision": "agent-old", "number": 1}},
		}, "nor where nobody rolls out"},
		{"N/N Na Nr Nx", []dstest.Option{reports(nil), dstest.Edit(func(s *snapshot.Snapshot) { s.DaemonSet.CreationTimestamp = metav1.NewTime(at(time.Minute)) }), dstest.Pod("p3", func(p *corev1.Pod) {
			p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{Kind: "Node", Name: "n3"}) // not the controller
		})}, []explain.Problem{
			{Code: cause.NoPod, Severity: cause.SeverityWarning, Count: 2, Nodes: []string{"n2", "n3"}, Pods: []string{}, Facts: facts{"eventsRead": true}},
			{Code: daemonset.Duplicate, Severity: cause.SeverityWarning, Count: 1, Nodes: []string{"n0"}, Pods: []string{}, Facts: facts{}},
			{Code: explain.Adopt, Severity: cause.SeverityInfo, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1"}, Facts: facts{}},
			{Code: daemonset.ReleasedPod, Severity: cause.SeverityWarning, Count: 1, Nodes: []string{"n2"}, Pods: []string{"p2"}, Facts: facts{}},
			{Code: explain.Foreign, Severity: cause.SeverityWarning, Count: 1, Nodes: []string{"n3"}, Pods: []string{"p3"}, Facts: facts{"owner": "ReplicaSet/web"}},
		}, "pods that stand twice, are adopted, let go, or another's"},
		{"N", []dstest.Option{reports(nil), dstest.Edit(func(s *snapshot.Snapshot) {
			p := *s.Pods[0].DeepCopy()
			p.Name, p.Spec.NodeName, p.Spec.Affinity = "lost", "", nil
			s.Pods = append(s.Pods, p)
		})}, []explain.Problem{
			{Code: daemonset.NoTargetNode, Severity: cause.SeverityWarning, Nodes: []string{}, Pods: []string{"lost"}, Facts: facts{}},
		}, "a pod that no rule sees"},
		{"N", []dstest.Option{reports(nil), dstest.Edit(func(s *snapshot.Snapshot) {
			p := *s.Pods[0].DeepCopy()
			p.Name, p.Spec.NodeName, p.Spec.Affinity, p.Labels = "lost", "", nil, nil
			s.Pods = append(s.Pods, p)
		})}, []explain.Problem{
			{Code: daemonset.ReleasedPod, Severity: cause.SeverityWarning, Nodes: []string{}, Pods: []string{"lost"}, Facts: facts{}},
		}, "nor does one that is let go, and that is said of it"},
		{"N", []dstest.Option{reports(func(s *appsv1.DaemonSetStatus) { s.NumberReady = 0; s.NumberMisscheduled = 4 }), writtenLate(47 * time.Minute)}, []explain.Problem{
			{Code: explain.StaleStatus, Severity: cause.SeverityWarning, Nodes: []string{}, Pods: []string{}, Since: since(47 * time.Minute), Latest: since(47 * time.Minute), Facts: facts{"fields": []string{"numberReady", "numberMisscheduled"}}},
		}, "a status that nobody wrote"},
		{"N", []dstest.Option{reports(func(s *appsv1.DaemonSetStatus) { s.NumberReady = 0 }), dstest.Pod("p0", func(p *corev1.Pod) { p.Status.Conditions[1].LastTransitionTime = metav1.NewTime(at(time.Second)) })}, []explain.Problem{}, "one that is about to be written is none"},
		{"N", []dstest.Option{reports(nil), generation(12, 11, 2*time.Second)}, []explain.Problem{
			{Code: explain.GenerationNotObserved, Severity: cause.SeverityWarning, Nodes: []string{}, Pods: []string{}, Since: since(2 * time.Second), Latest: since(2 * time.Second), Facts: facts{"generation": 12, "observed": 11}},
		}, "a generation that is not handled yet"},
		{"N", []dstest.Option{reports(nil), generation(12, 11, 6*time.Minute)}, []explain.Problem{
			{Code: explain.GenerationNotObserved, Severity: cause.SeverityError, Nodes: []string{}, Pods: []string{}, Since: since(6 * time.Minute), Latest: since(6 * time.Minute), Facts: facts{"generation": 12, "observed": 11}},
		}, "and one that should have been"},
		{"N -", []dstest.Option{reports(nil), dstest.Edit(func(s *snapshot.Snapshot) {
			s.DaemonSet.DeletionTimestamp, s.DaemonSet.Finalizers = &metav1.Time{Time: at(time.Hour)}, []string{"foregroundDeletion"}
		})}, []explain.Problem{
			{Code: explain.Deleting, Severity: cause.SeverityInfo, Nodes: []string{}, Pods: []string{}, Since: since(time.Hour), Latest: since(time.Hour), Facts: facts{"finalizers": []string{"foregroundDeletion"}, "pods": 1}},
		}, "a DaemonSet that is being deleted lacks no pod"},
		{"N -", []dstest.Option{written(time.Hour), reports(nil)}, []explain.Problem{
			{Code: cause.ControllerSilent, Severity: cause.SeverityError, Count: 1, Nodes: []string{"n1"}, Pods: []string{}, Since: since(time.Hour), Latest: since(time.Hour), Facts: facts{}},
		}, "a controller that owes a pod"},
		{"O N", []dstest.Option{written(time.Hour), reports(nil)}, []explain.Problem{
			{Code: cause.ControllerSilent, Severity: cause.SeverityError, Nodes: []string{}, Pods: []string{}, Since: since(time.Hour), Latest: since(time.Hour), Facts: facts{}},
		}, "and one that owes a deletion"},
		{"N nf", []dstest.Option{written(time.Hour), reports(nil)}, []explain.Problem{
			{Code: daemonset.FailedPod, Severity: cause.SeverityWarning, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1"}, Facts: facts{"reason": ""}},
		}, "but one that waits to delete a failed pod owes nothing"},
		{"N nf/nf", []dstest.Option{written(time.Hour), reports(nil)}, []explain.Problem{
			{Code: daemonset.FailedPod, Severity: cause.SeverityWarning, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1"}, Facts: facts{"reason": ""}},
			{Code: daemonset.Duplicate, Severity: cause.SeverityWarning, Count: 1, Nodes: []string{"n1"}, Pods: []string{}, Facts: facts{}},
		}, "nor one that waits to delete one of two"},
		{"N -", []dstest.Option{written(time.Hour), refuse(time.Minute), reports(nil)}, []explain.Problem{
			{Code: cause.FailedCreate, Severity: cause.SeverityError, Count: 1, Nodes: []string{"n1"}, Pods: []string{}, Since: since(time.Minute), Latest: since(time.Minute), Facts: facts{"events": 3, "last": "2026-03-01T11:59:00Z", "message": "exceeded quota"}},
		}, "and one whose pods are refused does what it can"},
		{"O ~O", []dstest.Option{dstest.MaxSurge("1"), reports(nil)}, []explain.Problem{
			{Code: daemonset.VanishedNodeInSurge, Severity: cause.SeverityError, Count: 1, Nodes: []string{"n1"}, Pods: []string{"p1"}, Facts: facts{"field": ""}},
		}, "a step that fails"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State(tt.grid, tt.options...), explain.Options{})
			for i := range e.Problems {
				e.Problems[i].Subject, e.Problems[i].Blame = cause.Subject{}, nil // see TestBlame
			}
			if diff := cmp.Diff(tt.want, e.Problems); diff != "" {
				t.Errorf("problems of %q (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

// lastWords and exitCode change how a pod crashed.
func lastWords(pod, message string) dstest.Option {
	return dstest.Pod(pod, func(p *corev1.Pod) { p.Status.ContainerStatuses[0].LastTerminationState.Terminated.Message = message })
}

func exitCode(pod string, code int32) dstest.Option {
	return dstest.Pod(pod, func(p *corev1.Pod) { p.Status.ContainerStatuses[0].LastTerminationState.Terminated.ExitCode = code })
}

func unreachable(node string) dstest.Option {
	return dstest.Node(node, func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule})
	})
}

func hostPort() dstest.Option {
	return dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "init", Ports: []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}}}
		ds.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 9100}, {ContainerPort: 5353, HostPort: 53, Protocol: corev1.ProtocolUDP}}
	})
}

func hostNetwork() dstest.Option {
	return dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.HostNetwork = true
		ds.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 9100}}
	})
}

func disruptionBudgets() dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		one, most := intstr.FromInt32(1), intstr.FromString("90%")
		s.PodDisruptionBudgets = []policyv1.PodDisruptionBudget{
			{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one}},
			{ObjectMeta: metav1.ObjectMeta{Name: "most"}, Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &most}},
		}
	})
}

func writtenLate(ago time.Duration) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.ManagedFields = []metav1.ManagedFieldsEntry{{Subresource: "status", Time: &metav1.Time{Time: at(ago)}}}
	})
}

// generation sets the two generations, and how long ago the spec was written.
func generation(newest, observed int64, ago time.Duration) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.Generation, s.DaemonSet.Status.ObservedGeneration = newest, observed
		s.DaemonSet.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &metav1.Time{Time: at(ago)}}, {Time: &metav1.Time{Time: at(ago + time.Hour)}}}
	})
}

func TestBudget(t *testing.T) {
	type facts = daemonset.Facts
	number := func(n int) *int { return &n }
	is := func(b bool) *bool { return &b }
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    explain.BudgetUse
		why     string
	}{
		{"O*287 N", []dstest.Option{dstest.MaxUnavailable("5%")},
			explain.BudgetUse{Budget: daemonset.Budget{Kind: daemonset.BudgetUnavailable, MaxUnavailable: 15, Spec: "5%", Scaled: "14.4", Of: 288, OfSource: "Computed"}, Used: number(0), Free: number(15), Holders: []explain.BudgetHolder{}},
			"the arithmetic of a percentage"},
		{"O n nt", []dstest.Option{dstest.MaxUnavailable("2"), crashing("p1"), notReady("n2"), dstest.Revision("agent-new", func(r *appsv1.ControllerRevision) { r.CreationTimestamp = metav1.NewTime(at(90 * time.Minute)) })},
			explain.BudgetUse{Budget: daemonset.Budget{Kind: daemonset.BudgetUnavailable, MaxUnavailable: 2, Spec: "2", Of: 3, OfSource: "Computed"}, Used: number(2), Free: number(0), Holders: []explain.BudgetHolder{
				{Node: "n1", Pod: "p1", Reason: cause.CrashLoopBackOff, Since: since(time.Hour), BeforeRevision: is(false), Facts: facts{"slot": "NewUnavailable", "container": "agent", "init": false, "exitCode": 1, "reason": "Error", "restarts": 5}},
				{Node: "n2", Pod: "p2", Reason: cause.TerminatingOnDeadNode, Since: since(2 * time.Hour), BeforeRevision: is(true), Facts: facts{"slot": "OnlyTerminating", "status": "Unknown", "reason": "NodeStatusUnknown", "lastHeartbeat": "2026-03-01T09:00:00Z", "deletionAsked": "2026-03-01T11:58:30Z"}},
			}}, "who holds it, and since before the revision was made or after"},
		{"O n", []dstest.Option{crashing("p1"), dstest.Revision("agent-old", func(r *appsv1.ControllerRevision) { r.CreationTimestamp = metav1.NewTime(at(time.Minute)) })},
			explain.BudgetUse{Budget: daemonset.Budget{Kind: daemonset.BudgetUnavailable, MaxUnavailable: 1, Spec: "1", Of: 2, OfSource: "Computed"}, Used: number(1), Free: number(0), Holders: []explain.BudgetHolder{
				{Node: "n1", Pod: "p1", Reason: cause.CrashLoopBackOff, Since: since(time.Hour), Facts: facts{"slot": "NewUnavailable", "container": "agent", "init": false, "exitCode": 1, "reason": "Error", "restarts": 5}},
			}}, "a revision that was taken up again: when it was made is not when its rollout began"},
		{"O/N - N/N", []dstest.Option{newNode("n1")},
			explain.BudgetUse{Budget: daemonset.Budget{Kind: daemonset.BudgetUnavailable, MaxUnavailable: 1, Spec: "1", Of: 3, OfSource: "Computed"}, Used: number(3), Free: number(0), Holders: []explain.BudgetHolder{
				{Node: "n0", Reason: daemonset.Duplicate, Facts: facts{"slot": "Both"}},
				{Node: "n1", Reason: cause.NoPod, Facts: facts{"slot": "Empty", "eventsRead": true}},
				{Node: "n2", Reason: daemonset.Duplicate, Facts: facts{"slot": "Excess"}},
			}}, "nodes that hold it though nothing fails, and a limit that no percentage reaches"},
		{"O N/nt", nil,
			explain.BudgetUse{Budget: daemonset.Budget{Kind: daemonset.BudgetUnavailable, MaxUnavailable: 1, Spec: "1", Of: 2, OfSource: "Computed"}, Used: number(0), Free: number(1), Holders: []explain.BudgetHolder{}},
			"a second pod that goes holds nothing"},
		{"O/n O", []dstest.Option{dstest.MaxSurge("50%"), young("p0b")},
			explain.BudgetUse{Budget: daemonset.Budget{Kind: daemonset.BudgetSurge, MaxSurge: 1, Spec: "50%", Scaled: "1", Of: 2, OfSource: "Computed"}, Used: number(1), Free: number(0), Holders: []explain.BudgetHolder{
				{Node: "n0", Pod: "p0b", Reason: cause.Starting, Since: since(time.Second), BeforeRevision: is(false), Facts: facts{"slot": "Both"}},
			}}, "a surge"},
		{"O N", []dstest.Option{dstest.OnDelete()}, explain.BudgetUse{Budget: daemonset.Budget{Kind: daemonset.BudgetNone, Of: 2, OfSource: "Computed"}, Used: number(0), Free: number(0), Holders: []explain.BudgetHolder{}}, "OnDelete has none"},
		{"O N", []dstest.Option{reports(nil), lack(snapshot.Nodes)}, explain.BudgetUse{Budget: daemonset.Budget{Kind: daemonset.BudgetUnavailable, MaxUnavailable: 1, Spec: "1", Of: 2, OfSource: "Reported"}, Used: number(0), Free: number(1), Holders: []explain.BudgetHolder{}}, "without nodes it is of the reported number"},
		{"O n", []dstest.Option{lack(snapshot.Pods)}, explain.BudgetUse{Budget: daemonset.Budget{Kind: daemonset.BudgetUnavailable, MaxUnavailable: 1, Spec: "1", Of: 2, OfSource: "Computed"}, Holders: []explain.BudgetHolder{}}, "without pods nobody knows who uses it"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State(tt.grid, tt.options...), explain.Options{})
			if diff := cmp.Diff(tt.want, e.Budget); diff != "" {
				t.Errorf("budget of %q (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	yes, no := true, false
	counts := daemonset.Counts{Desired: 2, Current: 2, Ready: 2, Updated: 2, Available: 2}
	less := counts
	less.Ready = 1
	for _, tt := range []struct {
		options []dstest.Option
		want    explain.Status
		why     string
	}{
		{[]dstest.Option{reports(nil), writtenLate(time.Hour)}, explain.Status{Reported: &counts, Computed: &counts, Agrees: &yes, WrittenAt: since(time.Hour), Differences: []explain.Difference{}}, "they agree"},
		{[]dstest.Option{reports(func(s *appsv1.DaemonSetStatus) { s.NumberReady = 1 })},
			explain.Status{Reported: &less, Computed: &counts, Agrees: &no, Differences: []explain.Difference{{Field: "numberReady", Reported: 1, Computed: 2, Reason: explain.StaleStatus}}}, "a status that should have been written"},
		{[]dstest.Option{reports(func(s *appsv1.DaemonSetStatus) { s.NumberReady = 1 }), dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Generation = 3 })},
			explain.Status{Reported: &less, Computed: &counts, Agrees: &no, Differences: []explain.Difference{{Field: "numberReady", Reported: 1, Computed: 2, Reason: explain.GenerationNotObserved}}}, "one of an older generation"},
		{[]dstest.Option{reports(func(s *appsv1.DaemonSetStatus) { s.NumberReady = 1 }), lack(snapshot.Nodes)}, explain.Status{Reported: &less, Differences: []explain.Difference{}}, "nothing to compare with"},
		{[]dstest.Option{reports(nil), writtenLate(time.Hour), lack(snapshot.DaemonSetStatus)}, explain.Status{Computed: &counts, WrittenAt: since(time.Hour), Differences: []explain.Difference{}}, "nothing that was reported"},
		{[]dstest.Option{reports(nil), lack(snapshot.PodStatus)}, explain.Status{Reported: &counts, Differences: []explain.Difference{}}, "pods of which nobody knows how they are"},
		{[]dstest.Option{reports(nil), lack(snapshot.NodeStatus)}, explain.Status{Reported: &counts, Computed: &counts, Agrees: &yes, Differences: []explain.Difference{}}, "no number needs a node's conditions"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State("N N", tt.options...), explain.Options{})
			if diff := cmp.Diff(tt.want, e.Status); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestHeldUp checks that the facts of a stale status say why the controller
// does not write it, and that the verdict then ignores the status.
func TestHeldUp(t *testing.T) {
	behind := dstest.Edit(func(s *snapshot.Snapshot) { s.DaemonSet.Status.NumberMisscheduled = 7 })
	newer := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Generation = 3 })
	deleted := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.DeletionTimestamp = &metav1.Time{Time: at(time.Hour)} })
	invalid, old := dstest.MaxUnavailable("some"), dstest.Version("v1.24.17")
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		code    daemonset.Reason
		want    any // the fact
		verdict explain.VerdictCode
		why     string
	}{
		{"N -", []dstest.Option{refuse(time.Minute), behind, old}, explain.StaleStatus, "FailedCreate", explain.Degraded, "before 1.27 a refused pod ends the sync without a status"},
		{"N -", []dstest.Option{refuse(time.Minute), behind}, explain.StaleStatus, nil, explain.Degraded, "since then not"},
		{"N N", []dstest.Option{refuse(time.Minute), behind, old}, explain.StaleStatus, nil, explain.Healthy, "a refusal of long ago holds up nothing if no pod is missing"},
		{"N -", []dstest.Option{refuse(time.Minute), newer, old}, explain.GenerationNotObserved, "FailedCreate", explain.Degraded, "nor is the generation observed, which is no sign that it was not handled"},
		{"N -", []dstest.Option{refuse(time.Minute), newer}, explain.GenerationNotObserved, nil, explain.NotObserved, "where the status is written all the same, it is one"},
		{"O N", []dstest.Option{invalid, newer, old}, explain.GenerationNotObserved, "InvalidBudget", explain.Stuck, "a step that fails does the same"},
		{"O N", []dstest.Option{invalid, behind}, explain.StaleStatus, nil, explain.Stuck, "also since then not"},
		{"~O N", []dstest.Option{dstest.MaxSurge("1"), newer, dstest.Version("v1.25.16")}, explain.GenerationNotObserved, nil, explain.NotObserved, "1.25.16 writes it after a step that failed on a vanished node"},
		{"N -", []dstest.Option{deleted, behind}, explain.StaleStatus, "BeingDeleted", explain.BeingDeleted, "of a DaemonSet that is being deleted none is written at all"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State(tt.grid, append([]dstest.Option{reports(nil)}, tt.options...)...), explain.Options{})
			i := slices.IndexFunc(e.Problems, func(p explain.Problem) bool { return p.Code == tt.code })
			if i < 0 {
				t.Fatalf("no %s among %+v", tt.code, e.Problems)
			}
			if got := e.Problems[i].Facts["heldUpBy"]; got != tt.want {
				t.Errorf("held up by %v, want %v", got, tt.want)
			}
			if e.Verdict.Code != tt.verdict {
				t.Errorf("verdict %s, want %s", e.Verdict.Code, tt.verdict)
			}
		})
	}
}

// TestMoving changes everything that the status depends on, one thing at a
// time: a status that differs a moment later is about to be written.
func TestMoving(t *testing.T) {
	now := metav1.NewTime(at(29 * time.Second))
	ready := func(t metav1.Time) dstest.Option {
		return dstest.Pod("p0", func(p *corev1.Pod) { p.Status.Conditions[1].LastTransitionTime = t })
	}
	for _, tt := range []struct {
		change dstest.Option
		want   daemonset.Reason
		why    string
	}{
		{ready(now), explain.Moving, "a pod's condition"},
		{ready(metav1.NewTime(at(30 * time.Second))), explain.StaleStatus, "half a minute is enough to write it"},
		{ready(metav1.NewTime(at(-time.Hour))), explain.StaleStatus, "a time in the future says nothing"},
		{young("p0"), explain.Moving, "a pod that was created"},
		{dstest.Pod("p0", func(p *corev1.Pod) {
			grace := int64(30)
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &metav1.Time{Time: at(-time.Second)}, &grace
		}), explain.Moving, "a pod that was deleted"},
		{newNode("n0"), explain.Moving, "a node that came"},
		{dstest.Node("n0", func(n *corev1.Node) { n.Status.Conditions[0].LastTransitionTime = now }), explain.Moving, "a node's condition"},
		{dstest.Node("n0", func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectPreferNoSchedule, TimeAdded: &now}}
		}), explain.Moving, "a taint that says when it was added"},
		{dstest.Edit(func(s *snapshot.Snapshot) { s.DaemonSet.CreationTimestamp = now }), explain.Moving, "the DaemonSet itself"},
		{dstest.Edit(func(s *snapshot.Snapshot) {
			s.DaemonSet.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &now}}
		}), explain.Moving, "its spec"},
		{dstest.Edit(func(s *snapshot.Snapshot) {
			s.DaemonSet.ManagedFields = []metav1.ManagedFieldsEntry{{Subresource: "status", Time: &now}}
		}), explain.StaleStatus, "its status is what is to be explained"},
		{dstest.Edit(func(s *snapshot.Snapshot) {
			s.DaemonSet.Spec.MinReadySeconds = 60
			s.Pods[0].Status.Conditions[1].LastTransitionTime = metav1.NewTime(at(70 * time.Second))
		}), explain.Moving, "a pod that became available by the clock alone"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State("N", tt.change, reports(func(s *appsv1.DaemonSetStatus) { s.NumberMisscheduled = 7 }))
			_, e := explanation(t, s, explain.Options{})
			if got := e.Status.Differences[0].Reason; got != tt.want {
				t.Errorf("a status that differs is %s, want %s", got, tt.want)
			}
		})
	}
}

func TestColumns(t *testing.T) {
	none := daemonset.Facts{}
	group := func(counted bool, reason daemonset.Reason, facts daemonset.Facts, nodes ...string) explain.ColumnGroup {
		return explain.ColumnGroup{Counted: counted, Reason: reason, Count: len(nodes), Nodes: nodes, Facts: facts}
	}
	taint := daemonset.Facts{"taint": "dedicated:NoSchedule", "key": "dedicated", "value": "", "effect": "NoSchedule"}
	old := daemonset.Facts{"revision": "agent-old"}
	crash := daemonset.Facts{"container": "agent", "init": false, "exitCode": 1, "reason": "Error", "restarts": 5}
	_, e := explanation(t, dstest.State("N O o - !N !- n N/O ~O", crashing("p2"), crashing("p6")), explain.Options{})
	want := []explain.Column{
		{Name: "DESIRED", Groups: []explain.ColumnGroup{group(true, daemonset.Eligible, none, "n0", "n1", "n2", "n3", "n6", "n7"), group(false, daemonset.TaintNotTolerated, taint, "n4", "n5")}},
		{Name: "CURRENT", Groups: []explain.ColumnGroup{group(true, explain.HasPod, none, "n0", "n1", "n2", "n6", "n7"), group(false, cause.NoPod, none, "n3")}},
		{Name: "READY", Groups: []explain.ColumnGroup{group(true, explain.Ready, none, "n0", "n1", "n7"), group(false, cause.CrashLoopBackOff, crash, "n2", "n6"), group(false, cause.NoPod, none, "n3")}},
		{Name: "UP-TO-DATE", Groups: []explain.ColumnGroup{group(true, explain.UpToDate, none, "n0", "n6", "n7"), group(false, explain.OutOfDate, old, "n1", "n2"), group(false, cause.NoPod, none, "n3")}},
		{Name: "AVAILABLE", Groups: []explain.ColumnGroup{group(true, daemonset.Available, none, "n0", "n1", "n7"), group(false, cause.CrashLoopBackOff, crash, "n2", "n6"), group(false, cause.NoPod, none, "n3")}},
		{Name: "MISSCHEDULED", Groups: []explain.ColumnGroup{group(true, daemonset.TaintNotTolerated, taint, "n4"), group(false, cause.NoPod, none, "n5")}},
	}
	if diff := cmp.Diff(want, e.Columns); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestColumnsOfASurge(t *testing.T) {
	_, e := explanation(t, dstest.State("o/n V/n", dstest.MaxSurge("2"), dstest.MinReadySeconds(30), crashing("p0"), young("p0b")), explain.Options{})
	var got []daemonset.Reason
	for _, g := range e.Columns[4].Groups {
		got = append(got, g.Reason)
	}
	// The status judges a node by its oldest pod, so this is that pod's reason,
	// not the newer one's.
	if diff := cmp.Diff([]daemonset.Reason{cause.CrashLoopBackOff, daemonset.NotYetAvailable}, got); diff != "" {
		t.Errorf("AVAILABLE (-want +got):\n%s", diff)
	}
	if got := e.Nodes[0].Problem.Code; got != cause.Starting {
		t.Errorf("the problem of the node is %s, want %s", got, cause.Starting)
	}
}

func TestRevisions(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    []explain.Revision
		why     string
	}{
		{"O N O/N", []dstest.Option{dstest.AddRevision("older", 0, "example/agent:0")}, []explain.Revision{
			{Number: 2, Name: "agent-new", Hash: "new", Created: since(498 * time.Hour), Current: true, Nodes: []string{"n1"}, Updated: 1, Pods: 2, Available: 2},
			{Number: 1, Name: "agent-old", Hash: "old", Created: since(499 * time.Hour), Nodes: []string{"n0", "n2"}, Pods: 2, Available: 2},
		}, "newest first, a node by its oldest pod, none that nobody runs"},
		{"O n Ot", nil, []explain.Revision{
			{Number: 2, Name: "agent-new", Hash: "new", Created: since(498 * time.Hour), Current: true, Nodes: []string{"n1"}, Updated: 1, Pods: 1},
			{Number: 1, Name: "agent-old", Hash: "old", Created: since(499 * time.Hour), Nodes: []string{"n0", "n2"}, Pods: 1, Available: 1, Terminating: 1},
		}, "a pod that is not available, and one that is terminating"},
		{"O", nil, []explain.Revision{
			{Number: 2, Name: "agent-new", Hash: "new", Created: since(498 * time.Hour), Current: true, Nodes: []string{}},
			{Number: 1, Name: "agent-old", Hash: "old", Created: since(499 * time.Hour), Nodes: []string{"n0"}, Pods: 1, Available: 1},
		}, "but the current one always"},
		{"O", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) { s.Revisions = s.Revisions[1:] })}, []explain.Revision{
			{Number: 2, Name: "agent-new", Hash: "new", Created: since(498 * time.Hour), Current: true, Nodes: []string{}},
			{Hash: "old", Nodes: []string{"n0"}, Pods: 1, Available: 1},
		}, "a hash without a revision"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State(tt.grid, tt.options...), explain.Options{})
			if diff := cmp.Diff(tt.want, e.Revisions); diff != "" {
				t.Errorf("revisions of %q (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

func TestNodes(t *testing.T) {
	yes := daemonset.Verdict{OK: true, Reason: daemonset.Eligible}
	no := daemonset.Verdict{Reason: daemonset.TaintNotTolerated, Facts: daemonset.Facts{"taint": "dedicated:NoSchedule", "key": "dedicated", "value": "", "effect": "NoSchedule"}}
	s := dstest.State("N !Nr N", dstest.MinReadySeconds(30))
	_, e := explanation(t, s, explain.Options{Nodes: []string{"n1", "n0"}})
	want := []explain.Node{
		{Name: "n0", Exists: true, ShouldRun: &yes, MayStay: &yes, Slot: daemonset.SlotNewAvailable, Checks: []daemonset.Check{}, Pods: []explain.Pod{
			{Name: "p0", Phase: "Running", Revision: "agent-new", Updated: true, UpdatedBy: daemonset.ByHash, Ready: true, Available: true, AvailableAt: since(99*time.Hour - 30*time.Second), Claim: daemonset.Owned},
		}},
		{Name: "n1", Exists: true, ShouldRun: &no, MayStay: &yes, Slot: daemonset.SlotEmpty,
			Checks:  []daemonset.Check{{Rule: daemonset.RuleTaint, Stays: true, Reason: daemonset.TaintNotTolerated, Facts: no.Facts}},
			Changes: []daemonset.Remedy{{Kind: daemonset.AddToleration, Toleration: &corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}},
			Pods: []explain.Pod{
				{Name: "p1", Phase: "Running", Revision: "agent-new", Updated: true, UpdatedBy: daemonset.ByHash, Ready: true, Available: true, AvailableAt: since(99*time.Hour - 30*time.Second), Claim: daemonset.Release, Ignored: daemonset.ReleasedPod},
			}},
	}
	if diff := cmp.Diff(want, e.Nodes); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	_, e = explanation(t, s, explain.Options{})
	if len(e.Nodes) != 3 || e.Nodes[1].Checks != nil || e.Nodes[1].Changes != nil {
		t.Errorf("not asked for: %d nodes, checks %v, changes %v; want 3, without both", len(e.Nodes), e.Nodes[1].Checks, e.Nodes[1].Changes)
	}
}

// TestOutlook checks that the results of a simulation are in the right fields,
// and that there are no remedies without one.
func TestOutlook(t *testing.T) {
	raise := remedy.New(remedy.RaiseMaxUnavailable, "6", "n1")
	raise.Worth, raise.Smallest = remedy.Helps, "4"
	back := remedy.New(remedy.RollBack, "1")
	back.Worth = remedy.Useless
	stall := &remedy.Stall{Reason: daemonset.StepBudgetSpent, Replaced: 1, Of: 2, Nodes: []string{"n0", "n1"}, Further: 1}
	problem := explain.Problem{
		Code: cause.NextRolloutStalls, Severity: cause.SeverityWarning, Count: 2, Nodes: []string{"n0", "n1"}, Pods: []string{}, Subject: cause.Subject{Kind: cause.SubjectUnspecified},
		Facts: daemonset.Facts{"reason": "BudgetSpent", "replaced": 1, "replaces": 2, "holders": 3, "field": "maxUnavailable", "limit": 1},
	}
	for _, tt := range []struct {
		outlook  remedy.Outlook
		remedies []remedy.Remedy
		problems []explain.Problem
		why      string
	}{
		{remedy.Outlook{}, []remedy.Remedy{}, []explain.Problem{}, "nothing was simulated"},
		{remedy.Outlook{Remedies: []remedy.Remedy{raise, back}}, []remedy.Remedy{raise, back}, []explain.Problem{}, "a way out of a stall, and one that is none"},
		{remedy.Outlook{Stall: stall}, []remedy.Remedy{}, []explain.Problem{problem}, "a stall to come, with the nodes that are known and one that is not"},
		{remedy.Outlook{Stall: &remedy.Stall{Reason: daemonset.StepBudgetSpent, Of: 2, Further: 1}}, []remedy.Remedy{}, []explain.Problem{{
			Code: cause.NextRolloutStalls, Severity: cause.SeverityWarning, Nodes: []string{}, Pods: []string{}, Subject: cause.Subject{Kind: cause.SubjectUnspecified},
			Facts: daemonset.Facts{"reason": "BudgetSpent", "replaced": 0, "replaces": 2, "holders": 1, "field": "maxUnavailable", "limit": 1},
		}}, "of which no node is known"},
		{remedy.Outlook{Stall: &remedy.Stall{Reason: daemonset.StepBudgetSpent, Replaced: 1, Of: 2, AtWorst: true, Working: true, Further: 1}}, []remedy.Remedy{}, []explain.Problem{{
			Code: cause.NextRolloutStalls, Severity: cause.SeverityWarning, Nodes: []string{}, Pods: []string{}, Subject: cause.Subject{Kind: cause.SubjectUnspecified},
			Facts: daemonset.Facts{"reason": "BudgetSpent", "replaced": 1, "replaces": 2, "atWorst": true, "working": true, "holders": 1, "field": "maxUnavailable", "limit": 1},
		}}, "of which the order is random"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State("N N", reports(nil)), explain.Options{Outlook: tt.outlook})
			if diff := cmp.Diff(tt.remedies, e.Remedies); diff != "" {
				t.Errorf("remedies (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.problems, e.Problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLeftover checks that a pod that does not terminate in time is reported
// even if it has a successor.
func TestLeftover(t *testing.T) {
	for _, tt := range []struct {
		deleted time.Duration
		overdue bool
	}{{20 * time.Minute, true}, {time.Minute, false}} {
		_, e := looked(t, dstest.State("Ot/N N", dstest.Pod("p0", func(p *corev1.Pod) {
			by := metav1.NewTime(dstest.Now.Add(-tt.deleted))
			p.DeletionTimestamp, p.Finalizers = &by, []string{"example.com/hold"}
		})))
		p := e.Has(cause.Terminating)
		if (p != nil) != tt.overdue {
			t.Fatalf("deleted %s ago: %+v", tt.deleted, e.Problems)
		}
		if p != nil && (p.Severity != cause.SeverityInfo || p.Blame != nil || !slices.Equal(p.Nodes, []string{"n0"})) {
			t.Errorf("%+v", p)
		}
	}
}

// TestEveryCodeHasAPlace fails if a code is added without a place in
// problemOrder.
func TestEveryCodeHasAPlace(t *testing.T) {
	for _, code := range cause.Reasons {
		if !slices.Contains(explain.ProblemOrder, code) {
			t.Errorf("problemOrder has no place for %s", code)
		}
	}
}
