package explain_test

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
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// deadNode makes a node one whose kubelet has not answered for an hour.
func deadNode(name string) dstest.Option {
	return dstest.Node(name, func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(at(time.Hour))}}
	})
}

// rejects is an event of the controller: the API server rejected a pod.
func rejects(message string) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.Events = append(s.Events, corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", UID: s.DaemonSet.UID}, Reason: "FailedCreate", Message: "Error creating: " + message, Count: 3,
			FirstTimestamp: metav1.NewTime(at(time.Minute)), LastTimestamp: metav1.NewTime(at(time.Minute)),
		})
	})
}

// TestOrigin: what each problem comes from, by the numbers.
func TestOrigin(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"O O n n", []dstest.Option{crashing("p2"), crashing("p3")}, "CrashLoopBackOff: Revision Likely 2", "all new pods fail, and no old one does"},
		{"O O n N", []dstest.Option{crashing("p2")}, "CrashLoopBackOff: Unknown Unknown", "one of the new pods works"},
		{"O o n n", []dstest.Option{crashing("p1"), crashing("p2"), crashing("p3")}, "CrashLoopBackOff: Unknown Unknown", "an old pod fails as well"},
		{"n n", []dstest.Option{crashing("p0"), crashing("p1")}, "CrashLoopBackOff: Unknown Unknown", "there is no other revision to compare with"},
		{"N n", []dstest.Option{deadNode("n1")}, "NodeNotReady: Nodes Certain", "a node that is down"},
		{"N -", []dstest.Option{rejects(`pods "a" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=5, limited: pods=5`)}, "FailedCreate: ResourceQuota Certain pods", "a quota, by its name"},
		{"N -", []dstest.Option{rejects(`pods "a" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`)}, "FailedCreate: PodSecurity Certain baseline:latest", "Pod Security, by its level"},
		{"N -", []dstest.Option{rejects(`admission webhook "validate.example.org" denied the request: no`)}, "FailedCreate: Webhook Certain validate.example.org", "a webhook, by its name"},
		{"N -", []dstest.Option{rejects(`Pod "a" is invalid: spec.containers[0].image: Required value`)}, "FailedCreate: APIServer Certain", "anything else"},
		{"O N", []dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType })}, "OnDeleteOutdated: Strategy Certain", "OnDelete is somebody's choice"},
		{"N n", []dstest.Option{young("p1")}, "Starting: none", "what passes by itself comes from nothing"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State(tt.grid, append(tt.options, reports(nil))...), explain.Options{})
			got := map[string]bool{}
			for _, p := range e.Problems {
				line := string(p.Code) + ": none"
				if o := p.Origin; o != nil {
					line = strings.TrimSpace(fmt.Sprintf("%s: %s %s %s", p.Code, o.Kind, o.Certainty, o.Name))
					if o.Revision != 0 {
						line += fmt.Sprint(o.Revision)
						line = strings.Replace(line, "Likely2", "Likely 2", 1)
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

// TestImpact: who is without a working pod.
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

// late makes a pod one whose readiness probe has failed for 90s, which no other
// pod needed.
func late(pod string) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		for i := range s.Pods {
			p := &s.Pods[i]
			if p.Name != pod {
				p.CreationTimestamp = metav1.NewTime(at(99 * time.Hour)) // Ready as soon as created
				continue
			}
			began := metav1.NewTime(at(90 * time.Second))
			p.CreationTimestamp = began
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}}}}
			s.Events = append(s.Events, corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "Pod", UID: p.UID}, Reason: "Unhealthy", Message: "statuscode: 503", LastTimestamp: metav1.NewTime(at(time.Second))})
		}
	})
}

// TestFixes: what a person can do, and what it replaces.
func TestFixes(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    []string
		why     string
	}{
		{"O O n n", []dstest.Option{crashing("p2"), crashing("p3")}, []string{"Undo to 1, replaces 2"}, "back to the revision of the old pods"},
		{"O O O n", []dstest.Option{crashing("p3")}, []string{"Undo to 1, replaces 1"}, "the new pods are replaced, and not the old ones"},
		{"O O n N", []dstest.Option{crashing("p2")}, []string{"Undo to 1, replaces 2 if it is the revision"}, "only if the logs say so"},
		{"O O n N", []dstest.Option{late("p2")}, []string{"Undo to 1, replaces 2 if it is the revision"}, "a pod that is late may have the same fault, long before it counts as failing"},
		{"O o n", []dstest.Option{crashing("p1"), crashing("p2")}, nil, "not to a revision that fails, too"},
		{"n n", []dstest.Option{crashing("p0"), crashing("p1")}, nil, "there is nothing to go back to"},
		{"N n", []dstest.Option{deadNode("n1")}, []string{"RepairNodes [n1]"}, "a node that is down"},
		{"N - -", []dstest.Option{rejects(`exceeded quota: pods, requested: pods=1, used: pods=5, limited: pods=5`)}, []string{"RaiseQuota pods to 7"}, "room for every pod that is missing"},
		{"N -", []dstest.Option{rejects(`exceeded quota: cpu, requested: requests.cpu=1, used: requests.cpu=5, limited: requests.cpu=5`)}, []string{"RaiseQuota cpu"}, "how much, only its owner can tell"},
		{"O N O", []dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType })}, []string{"DeletePods [n0 n2] [p0 p2]"}, "OnDelete waits for a person"},
		{"N N", nil, nil, "nothing is wrong"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State(tt.grid, append(tt.options, reports(nil))...), explain.Options{})
			var got []string
			for _, f := range e.Fixes {
				line := string(f.Code)
				if f.Name != "" {
					line += " " + f.Name
				}
				if f.Needs > 0 {
					line += fmt.Sprintf(" to %d", f.Needs)
				}
				if len(f.Nodes) > 0 {
					line += fmt.Sprint(" ", f.Nodes)
				}
				if len(f.Pods) > 0 {
					line += fmt.Sprint(" ", f.Pods)
				}
				if f.Revision > 0 {
					line += fmt.Sprintf(" to %d, replaces %d", f.Revision, f.Replaces)
				}
				if f.Unsure {
					line += " if it is the revision"
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("fixes of %q (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

// TestWillBe: what becomes of it without a fix. How a rollout goes on is
// package plan's to say.
func TestWillBe(t *testing.T) {
	ends := daemonset.Counts{Desired: 3, Updated: 2, Available: 3}
	soon := &cause.Duration{Optimistic: 10, Expected: 20, Pessimistic: 30}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		course  *cause.Course
		want    *explain.Outlook
		why     string
	}{
		{"O O n", []dstest.Option{crashing("p2")}, &cause.Course{End: ends, Stalls: true}, &explain.Outlook{Code: explain.Stays, Desired: 3, Updated: 1, Available: 2}, "a rollout that is stuck stays as it is"},
		{"N N n", []dstest.Option{crashing("p2")}, &cause.Course{End: ends}, &explain.Outlook{Code: explain.Stays, Desired: 3, Updated: 3, Available: 2}, "nothing rolls, and a pod fails"},
		{"O N", []dstest.Option{dstest.OnDelete()}, nil, &explain.Outlook{Code: explain.Stays, Desired: 2, Updated: 1, Available: 2}, "OnDelete waits for a person"},
		{"O O N", nil, &cause.Course{End: ends, Duration: soon}, &explain.Outlook{Code: explain.Completes, Desired: 3, Updated: 2, Available: 3, Duration: soon}, "a rollout that goes on"},
		{"O O N", nil, &cause.Course{End: ends, Stalls: true}, &explain.Outlook{Code: explain.Stalls, Desired: 3, Updated: 2, Available: 3}, "and ends before"},
		{"O O N", nil, nil, nil, "which nothing tells"},
		{"N N", nil, &cause.Course{End: ends}, nil, "nothing is to happen"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State(tt.grid, append(tt.options, reports(nil))...), explain.Options{Outlook: cause.Outlook{Course: tt.course}})
			if diff := cmp.Diff(tt.want, e.Outlook); diff != "" {
				t.Errorf("outlook of %q, which is %s (-want +got):\n%s", tt.grid, e.Verdict.Code, diff)
			}
		})
	}
}
