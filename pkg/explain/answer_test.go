package explain_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// deadNode makes the kubelet of a node silent for an hour.
func deadNode(name string) dstest.Option {
	return dstest.Node(name, func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(at(time.Hour))}}
	})
}

// rejects adds an event of the controller: the API server rejected a pod.
func rejects(message string) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.Events = append(s.Events, corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", UID: s.DaemonSet.UID}, Reason: "FailedCreate", Message: "Error creating: " + message, Count: 3,
			FirstTimestamp: metav1.NewTime(at(time.Minute)), LastTimestamp: metav1.NewTime(at(time.Minute)),
		})
	})
}

// TestBlame tests whose fault each problem is, and what the pods fail on.
func TestBlame(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"O O n n", []dstest.Option{crashing("p2"), crashing("p3")}, "CrashLoopBackOff: ThisChange Likely 2, Container agent", "all new pods fail, and no old one does"},
		{"O O n N", []dstest.Option{crashing("p2")}, "CrashLoopBackOff: Unknown Unknown, Container agent", "one of the new pods works"},
		{"O o n n", []dstest.Option{crashing("p1"), crashing("p2"), crashing("p3")}, "CrashLoopBackOff: Unknown Unknown, Container agent", "an old pod fails as well"},
		{"n n", []dstest.Option{crashing("p0"), crashing("p1")}, "CrashLoopBackOff: Unknown Unknown, Container agent", "there is no other revision to compare with"},
		{"O O n n", []dstest.Option{onlyRestarted, crashing("p2"), crashing("p3")}, "CrashLoopBackOff: Unknown Unknown, Container agent, not the change", "the new revision only restarts the pods"},
		{"N n", []dstest.Option{deadNode("n1")}, "NodeNotReady: Node Certain, NodeCondition Ready", "a node that is down"},
		{"N -", []dstest.Option{rejects(`pods "a" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=5, limited: pods=5`)}, "FailedCreate: Policy Certain, Quota pods", "a quota, by its name"},
		{"N -", []dstest.Option{rejects(`pods "a" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`)}, "FailedCreate: Policy Certain, Policy baseline:latest", "Pod Security, by its level"},
		{"N -", []dstest.Option{rejects(`admission webhook "validate.example.org" denied the request: no`)}, "FailedCreate: Policy Certain, Webhook validate.example.org", "a webhook, by its name"},
		{"N -", []dstest.Option{rejects(`Pod "a" is invalid: spec.containers[0].image: Required value`)}, "FailedCreate: Policy Certain, APIServer", "anything else"},
		{"O N", []dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType })}, "OnDeleteOutdated: Strategy Certain", "OnDelete is somebody's choice"},
		{"N n", []dstest.Option{young("p1")}, "Starting: none", "what passes by itself is nobody's fault"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State(tt.grid, append(tt.options, reports(nil))...), explain.Options{})
			got := map[string]bool{}
			for _, p := range e.Problems {
				line := string(p.Code) + ": none"
				if b := p.Blame; b != nil {
					line = fmt.Sprintf("%s: %s %s", p.Code, b.Who, b.Certainty)
					if b.Revision != 0 {
						line += fmt.Sprint(" ", b.Revision)
					}
					if k := p.Subject.Kind; k != cause.SubjectUnspecified {
						line += strings.TrimSuffix(fmt.Sprintf(", %s %s", k, p.Subject.Name), " ")
					}
					if b.NotChange {
						line += ", not the change"
					}
				}
				got[line] = true
			}
			if !got[tt.want] {
				t.Errorf("%q: got %v, want %s", tt.grid, got, tt.want)
			}
		})
	}
}

// onlyRestarted makes the live template that of the old revision, restarted by
// kubectl.
var onlyRestarted = dstest.Edit(func(s *snapshot.Snapshot) {
	old := s.DaemonSet.Spec.Template.DeepCopy()
	metav1.SetMetaDataAnnotation(&s.DaemonSet.Spec.Template.ObjectMeta, "kubectl.kubernetes.io/restartedAt", "2026-03-01T11:00:00Z")
	for i, of := range []*corev1.PodTemplateSpec{old, &s.DaemonSet.Spec.Template} {
		c, err := template.Of(of, false)
		if err != nil {
			panic(err)
		}
		raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": c}})
		if err != nil {
			panic(err)
		}
		s.Revisions[i].Data.Raw = raw
	}
})

// TestImpact tests which nodes are without a working pod.
func TestImpact(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    *explain.Impact
		why     string
	}{
		{"O n -", nil, &explain.Impact{Without: []string{"n1", "n2"}, Ready: []string{}, Served: 1, OldServes: []string{}, Uncounted: []string{}}, "one that is not ready, and none"},
		{"n n O", []dstest.Option{dstest.MinReadySeconds(30), dstest.Pod("p1", func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(dstest.Now.Add(-time.Second))}}
		})}, &explain.Impact{Without: []string{"n0", "n1"}, Ready: []string{"n1"}, Served: 1, OldServes: []string{}, Uncounted: []string{}}, "one that is not Ready, and one that is and not available yet"},
		{"O/n N", []dstest.Option{dstest.MaxSurge("1")}, &explain.Impact{Without: []string{}, Ready: []string{}, Served: 2, OldServes: []string{"n0"}, Uncounted: []string{}}, "the old pod serves beside the new one"},
		{"!N N", nil, &explain.Impact{Without: []string{}, Ready: []string{}, Served: 1, OldServes: []string{}, Uncounted: []string{"n0"}}, "a pod where none should run"},
		{"N", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) {
			s.Nodes, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Nodes, Why: snapshot.Forbidden}}
		})}, nil, "unknown without nodes"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State(tt.grid, tt.options...), explain.Options{})
			if diff := cmp.Diff(tt.want, e.Impact); diff != "" {
				t.Errorf("impact of %q (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

// late makes a pod's readiness probe fail for 90s, longer than for any other
// pod.
func late(pod string) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		for i := range s.Pods {
			p := &s.Pods[i]
			if p.Name != pod {
				p.CreationTimestamp = metav1.NewTime(at(99 * time.Hour)) // it was Ready as soon as it was created
				continue
			}
			began := metav1.NewTime(at(90 * time.Second))
			p.CreationTimestamp = began
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}}}}
			s.Events = append(s.Events, corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "Pod", UID: p.UID}, Reason: "Unhealthy", Message: "statuscode: 503", LastTimestamp: metav1.NewTime(at(time.Second))})
		}
	})
}

// TestRemedies tests what a person can do, and how many pods that replaces.
func TestRemedies(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    []string
		why     string
	}{
		{"O O n n", []dstest.Option{crashing("p2"), crashing("p3")}, []string{"Helps RollBack 1, replaces 2"}, "back to the revision of the old pods"},
		{"O O O n", []dstest.Option{crashing("p3")}, []string{"Helps RollBack 1, replaces 1"}, "the new pods are replaced, and not the old ones"},
		{"O O n N", []dstest.Option{crashing("p2")}, []string{"Helps RollBack 1, replaces 2"}, "pods of the revision before run elsewhere, and ran there"},
		{"O O n N", []dstest.Option{late("p2")}, []string{"Helps RollBack 1, replaces 2"}, "a pod that is late may have the same fault, long before it counts as failing"},
		{"O O n n", []dstest.Option{onlyRestarted, crashing("p2"), crashing("p3")}, []string{"Useless RollBack 1, replaces 2"}, "the revision before is the same but for the restart"},
		{"O o n", []dstest.Option{crashing("p1"), crashing("p2")}, []string{"Useless RollBack 1, replaces 1"}, "not to a revision that fails, too"},
		{"n n", []dstest.Option{crashing("p0"), crashing("p1")}, nil, "there is nothing to go back to"},
		{"N n", []dstest.Option{deadNode("n1")}, []string{"Helps RepairNodes 1 [n1]"}, "a node that is down"},
		{"N - -", []dstest.Option{rejects(`exceeded quota: pods, requested: pods=1, used: pods=5, limited: pods=5`)}, []string{"Helps RaiseQuota pods [n1 n2], needs 7"}, "room for every pod that is missing"},
		{"N -", []dstest.Option{rejects(`exceeded quota: cpu, requested: requests.cpu=1, used: requests.cpu=5, limited: requests.cpu=5`)}, []string{"Helps RaiseQuota cpu [n1]"}, "how much, only its owner can tell"},
		{"O N O", []dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType })}, []string{"Helps DeletePods [n0 n2] [p0 p2]"}, "OnDelete waits for a person"},
		{"N N", nil, nil, "nothing is wrong"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := looked(t, dstest.State(tt.grid, append(tt.options, reports(nil))...))
			var got []string
			for _, r := range e.Remedies {
				line := strings.TrimSpace(fmt.Sprint(r.Worth, " ", r.Code, " ", r.Value))
				if len(r.Nodes) > 0 {
					line += fmt.Sprint(" ", r.Nodes)
				}
				if len(r.Pods) > 0 {
					line += fmt.Sprint(" ", r.Pods)
				}
				if r.Needs > 0 {
					line += fmt.Sprintf(", needs %d", r.Needs)
				}
				if r.Effect.Replaces > 0 {
					line += fmt.Sprintf(", replaces %d", r.Effect.Replaces)
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("remedies of %q (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

// TestWillBe tests the outlook without a fix. Package plan decides how a
// rollout continues.
func TestWillBe(t *testing.T) {
	ends := daemonset.Counts{Desired: 3, Updated: 2, Available: 3}
	soon := &remedy.Duration{Optimistic: 10, Expected: 20, Pessimistic: 30}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		course  *remedy.Course
		want    *explain.Outlook
		why     string
	}{
		{"O O n", []dstest.Option{crashing("p2")}, &remedy.Course{End: ends, Stalls: true}, &explain.Outlook{Code: explain.Stays, Desired: 3, Updated: 1, Available: 2}, "a rollout that is stuck stays as it is"},
		{"N N n", []dstest.Option{crashing("p2")}, &remedy.Course{End: ends}, &explain.Outlook{Code: explain.Stays, Desired: 3, Updated: 3, Available: 2}, "nothing rolls, and a pod fails"},
		{"O N", []dstest.Option{dstest.OnDelete()}, nil, &explain.Outlook{Code: explain.Stays, Desired: 2, Updated: 1, Available: 2}, "OnDelete waits for a person"},
		{"O O N", nil, &remedy.Course{End: ends, Duration: soon}, &explain.Outlook{Code: explain.Completes, Desired: 3, Updated: 2, Available: 3, Duration: soon}, "a rollout that goes on"},
		{"O O N", nil, &remedy.Course{End: ends, Stalls: true}, &explain.Outlook{Code: explain.Stalls, Desired: 3, Updated: 2, Available: 3}, "and ends before"},
		{"O O N", nil, nil, nil, "which nothing tells"},
		{"N N", nil, &remedy.Course{End: ends}, nil, "nothing is to happen"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State(tt.grid, append(tt.options, reports(nil))...), explain.Options{Outlook: remedy.Outlook{Course: tt.course}})
			if diff := cmp.Diff(tt.want, e.Outlook); diff != "" {
				t.Errorf("outlook of %q, which is %s (-want +got):\n%s", tt.grid, e.Verdict.Code, diff)
			}
		})
	}
}
