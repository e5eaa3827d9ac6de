package cause_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// needsOf formats Needs.
func needsOf(n cause.Needs) string {
	var out []string
	if n.Admission {
		out = append(out, "admission")
	}
	if n.Controller {
		out = append(out, "controller")
	}
	out = append(out, n.Nodes...)
	if len(n.Claims) > 0 {
		out = append(append(out, "claims"), n.Claims...)
	}
	return strings.Join(out, " ")
}

// TestAnd checks that And returns the union.
func TestAnd(t *testing.T) {
	a, b := cause.Needs{Controller: true, Nodes: []string{"b"}, Claims: []string{"c"}}, cause.Needs{Admission: true, Nodes: []string{"a", "b"}, Claims: []string{"d"}}
	for _, got := range []cause.Needs{a.And(b), b.And(a)} {
		if got := needsOf(got); got != "admission controller a b claims c d" {
			t.Errorf("%q", got)
		}
	}
}

// TestFew checks that several answers look at ten nodes in total.
func TestFew(t *testing.T) {
	nodes := func(from, to int) (names []string) {
		for i := from; i < to; i++ {
			names = append(names, fmt.Sprintf("n%02d", i))
		}
		return names
	}
	for _, tt := range []struct {
		why  string
		all  []cause.Needs
		want []string
	}{
		{"so few stay as they are", []cause.Needs{{Admission: true, Nodes: nodes(0, 2), Claims: []string{"c"}}, {Nodes: nodes(2, 4)}}, []string{"admission n00 n01 claims c", "n02 n03"}},
		{"the first come first", []cause.Needs{{Nodes: nodes(0, 8)}, {Nodes: nodes(8, 12)}}, []string{"n00 n01 n02 n03 n04 n05 n06 n07", "n08 n09"}},
		{"a node of several is one", []cause.Needs{{Nodes: nodes(0, 10)}, {Nodes: nodes(5, 12)}}, []string{strings.Join(nodes(0, 10), " "), strings.Join(nodes(5, 10), " ")}},
		{"what admits pods is asked of all, and volumes of none without a node", []cause.Needs{{Nodes: nodes(0, 10)}, {Admission: true, Nodes: nodes(10, 11), Claims: []string{"c"}}}, []string{strings.Join(nodes(0, 10), " "), "admission"}},
		{"claims of pods that are placed need no node", []cause.Needs{{Claims: []string{"c"}}, {}}, []string{"claims c", ""}},
	} {
		before := fmt.Sprint(tt.all)
		for i, n := range cause.Few(tt.all) {
			if got := needsOf(n); got != tt.want[i] {
				t.Errorf("%s: %q, want %q", tt.why, got, tt.want[i])
			}
		}
		if fmt.Sprint(tt.all) != before {
			t.Errorf("%s: what it was given was changed", tt.why)
		}
	}
}

// TestNeedsOfVolumes checks that the claims of pods whose volumes cannot be attached or mounted are needed.
func TestNeedsOfVolumes(t *testing.T) {
	claims := dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Volumes = []corev1.Volume{
			{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
			{Name: "own", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
		}
	})
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"N n", []dstest.Option{claims}, "", "a pod that is not ready for another reason"},
		{"N n", []dstest.Option{claims, told("p1", "FailedAttachVolume")}, "claims data p1-own", "one whose volume cannot be attached"},
		{"n n", []dstest.Option{claims, told("p0", "FailedMount"), told("p1", "FailedMount")}, "claims data p0-own p1-own", "several whose volumes cannot be mounted"},
		{"N n", []dstest.Option{told("p1", "FailedMount")}, "", "one without a claim"},
		{"N N", []dstest.Option{claims, told("p1", "FailedMount")}, "", "one that is ready by now"},
		{"N nt", []dstest.Option{claims, told("p1", "FailedMount")}, "", "one that ends"},
		{"N n", []dstest.Option{claims, told("p1", "Unhealthy")}, "", "one with another event"},
		{"N np", []dstest.Option{claims, told("p1", "FailedMount")}, "n1", "one that is not scheduled is looked at with its own"},
	} {
		n := cause.NeedsOf(fitState(t, tt.grid, tt.options...))
		n.Controller = false // the status of a grid is empty
		if got := needsOf(n); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
	many := []dstest.Option{claims}
	for i := range 12 {
		many = append(many, told(fmt.Sprint("p", i), "FailedMount"))
	}
	if n := cause.NeedsOf(fitState(t, strings.Repeat("n ", 12), many...)); len(n.Claims) != 1+10 {
		t.Errorf("of 12 pods %d claims: %v", len(n.Claims), n.Claims)
	}
}

// told adds a warning event about a pod.
func told(pod, reason string) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		for i := range s.Pods {
			if p := &s.Pods[i]; p.Name == pod {
				s.Events = append(s.Events, corev1.Event{
					Type: corev1.EventTypeWarning, Reason: reason, Message: "no", LastTimestamp: metav1.NewTime(dstest.Now), InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: pod, UID: p.UID},
				})
			}
		}
	})
}

// TestWatched checks that a watch reads what explains current messages of the controller and the scheduler, regardless
// of what was read before.
func TestWatched(t *testing.T) {
	refused := dstest.Edit(func(s *snapshot.Snapshot) {
		s.Events = append(s.Events, corev1.Event{
			Reason: "FailedCreate", Message: "Error creating: no", LastTimestamp: metav1.NewTime(dstest.Now),
			InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", UID: s.DaemonSet.UID},
		})
	})
	said := func(message string) dstest.Option {
		return dstest.Pod("p1", func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
			p.CreationTimestamp = metav1.NewTime(dstest.Now)
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: message}}
		})
	}
	fresh := dstest.Pod("p1", func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(dstest.Now) })
	stale := dstest.Edit(func(s *snapshot.Snapshot) {
		s.Admission = &snapshot.Admission{} // without a namespace and a ServiceAccount, it rejects every pod
	})
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"N N", nil, "", "nothing is wrong"},
		{"N -", []dstest.Option{refused}, "admission", "a pod is refused"},
		{"N N", []dstest.Option{stale}, "", "what was read before tells nothing of now"},
		{"N -", nil, "admission", "a node has had no pod for long, and nothing says why"},
		{"N np", []dstest.Option{fresh}, "", "the scheduler has not looked at the pod yet"},
		{"N np", nil, "", "nor ever did"},
		{"N np", []dstest.Option{said("0/2 nodes are available: 2 Insufficient cpu.")}, "n1 claims data", "it has, and found no room"},
		{"N np", []dstest.Option{said("0/2 nodes are available: 2 node(s) had no available volume zone.")}, "n1 claims data", "or no volume"},
		{"N n", []dstest.Option{dstest.Pod("p1", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", RestartCount: 9, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}
		})}, "", "a crash is no question of room"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got := needsOf(cause.Watched(fitState(t, tt.grid, tt.options...))); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
