package cause_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// roomOf formats a Room.
func roomOf(r *cause.Room) string {
	if r == nil {
		return "-"
	}
	out := []string{string(r.Code)}
	for _, a := range r.Amounts {
		out = append(out, fmt.Sprintf("%s %s of %s (%s)", a.Resource, a.Requested, a.Free, a.Allocatable))
	}
	if len(r.Preempts) > 0 {
		out = append(out, "preempts "+strings.Join(r.Preempts, " "))
	}
	if plugin := r.Facts.Text("plugin"); plugin != "" {
		out = append(out, plugin)
	}
	for _, u := range r.NotModelled {
		if u == fit.AntiAffinityOfOthers {
			continue // see TestAntiAffinityOfOthersIsSaid
		}
		out = append(out, "not "+string(u))
	}
	return strings.Join(out, "; ")
}

// TestRoom checks whether the next pod would fit on n0, where it requests 1 of 4 CPUs.
func TestRoom(t *testing.T) {
	unread := dstest.Edit(func(s *snapshot.Snapshot) {
		s.Gaps = append(s.Gaps, snapshot.Gap{What: snapshot.PersistentVolumes, Why: snapshot.Forbidden})
		s.Volumes.Claims = nil
	})
	forbidden := dstest.Edit(func(s *snapshot.Snapshot) {
		s.Gaps = append(s.Gaps, snapshot.Gap{What: snapshot.PodsOfOthers, Why: snapshot.Forbidden})
	})
	class := template(func(s *corev1.PodSpec) { s.PriorityClassName = "high" })
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"-", []dstest.Option{others(2500, 0)}, "Fits; cpu 1 of 1500m (4); pods 1 of 9 (10)", "what is free after the other pods"},
		{"-", []dstest.Option{others(3500, -1)}, "Preempts; cpu 1 of 500m (4); pods 1 of 9 (10); preempts other/pod", "a pod of lower priority makes room"},
		{"-", []dstest.Option{others(3500, 0)}, "DoesNotFit; cpu 1 of 500m (4); pods 1 of 9 (10); NodeResourcesFit", "none is of lower priority"},
		{"-", []dstest.Option{others(5000, 0)}, "DoesNotFit; cpu 1 of 0 (4); pods 1 of 9 (10); NodeResourcesFit", "less than nothing is free"},
		{"-", nil, "-", "nobody asked for the other pods"},
		{"-", []dstest.Option{forbidden}, "Unknown", "they could not be read"},
		{"-", []dstest.Option{others(3500, 5), class}, "Unknown", "nor is it known whether it could preempt"},
		{"-", []dstest.Option{others(0, 0), volumes("a", "", 0, 0)}, "DoesNotFit; cpu 1 of 4 (4); pods 1 of 9 (10); VolumeBinding", "its volume is elsewhere"},
		{"-", []dstest.Option{volumes("a", "", 0, 0)}, "DoesNotFit; VolumeBinding", "which is so whatever the other pods take"},
		{"-", []dstest.Option{others(0, 0), volumes("b", "", 0, 0), unread}, "Unknown; not UnboundClaims", "its volume could not be read"},
		{"N", []dstest.Option{others(0, 0)}, "-", "it has a pod"},
		{"!-", []dstest.Option{others(0, 0)}, "-", "it should have none"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			st := fitState(t, tt.grid, tt.options...)
			if got := roomOf(cause.Find(st).Room(&st.Nodes[0])); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestRoomAgrees checks that the amounts of a pod that fits are sufficient, and those of a pod that lacks resources are
// not.
func TestRoomAgrees(t *testing.T) {
	codes := map[cause.RoomCode]int{}
	for milliCPU := int64(0); milliCPU <= 5000; milliCPU += 250 {
		st := fitState(t, "-", others(milliCPU, 0))
		r := cause.Find(st).Room(&st.Nodes[0])
		codes[r.Code]++
		if free := 4000 - milliCPU; (free >= 1000) != (r.Code == cause.RoomFits) || r.Amounts[0].Free != cause.AmountIn("cpu", max(0, free)) {
			t.Errorf("%d used: %s", milliCPU, roomOf(r))
		}
		if r.Code == cause.RoomNot && r.Facts.Text("plugin") != string(fit.NodeResourcesFit) {
			t.Errorf("%d used: %v", milliCPU, r.Facts)
		}
	}
	if codes[cause.RoomFits] == 0 || codes[cause.RoomNot] == 0 {
		t.Errorf("%v", codes)
	}
}

// TestAntiAffinityOfOthersIsSaid checks that the anti-affinity of other pods is listed as not modelled if other pods
// count.
func TestAntiAffinityOfOthersIsSaid(t *testing.T) {
	for _, tt := range []struct {
		options []dstest.Option
		want    bool
	}{{[]dstest.Option{others(0, 0)}, true}, {nil, false}} {
		st := fitState(t, "-", tt.options...)
		if got := slices.Contains(cause.Find(st).NotModelled(), fit.AntiAffinityOfOthers); got != tt.want {
			t.Errorf("%t, want %t", got, tt.want)
		}
	}
}

func TestNeedsOn(t *testing.T) {
	st := fitState(t, "- N !- -", template(func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	}))
	for _, tt := range []struct {
		nodes, want, why string
	}{
		{"n0", "n0 | data", "a node without a pod is looked at, and the volumes of the template"},
		{"n1 n2", "|", "one that has a pod is not, nor one that should have none"},
		{"n0 n1 n2", "n0 | data", "only those are"},
		{"", "|", "nor one that nobody asked for"},
	} {
		n := cause.NeedsOn(st, strings.Fields(tt.nodes))
		if got := strings.TrimSpace(strings.Join(n.Nodes, " ") + " | " + strings.Join(n.Claims, " ")); got != tt.want || n.Admission != (len(n.Nodes) > 0) {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

// TestWaitingForRoom checks that an unscheduled pod waits for a terminating pod on its node if it fits without that
// pod, unless that pod is overdue.
func TestWaitingForRoom(t *testing.T) {
	pending := dstest.Pod("p0", func(p *corev1.Pod) {
		p.Status.NominatedNodeName = "n0"
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes are available: 1 Insufficient cpu."}}
	})
	leaves := func(in time.Duration) dstest.Option {
		return dstest.Edit(func(s *snapshot.Snapshot) {
			at := metav1.NewTime(s.TakenAt.Add(in))
			p := &s.OtherPods.Pods[0]
			p.Terminating, p.Preempted, p.EndsBy = true, true, &at
		})
	}
	for _, tt := range []struct {
		options []dstest.Option
		want    daemonset.Reason
		room    cause.RoomCode
		why     string
	}{
		{[]dstest.Option{others(3500, -1), leaves(20 * time.Second)}, cause.WaitingForRoom, cause.RoomWaits, "its victim has 20s left"},
		{[]dstest.Option{others(3500, 5), leaves(20 * time.Second)}, cause.WaitingForRoom, cause.RoomWaits, "whoever deleted it"},
		{[]dstest.Option{others(3500, -1), leaves(-time.Hour)}, cause.InsufficientResources, cause.RoomNot, "it does not end"},
		{[]dstest.Option{others(3500, 0)}, cause.InsufficientResources, cause.RoomNot, "it stays"},
	} {
		st := fitState(t, "np", append(tt.options, pending)...)
		causes := cause.Find(st)
		c, r := causes.Of("n0"), causes.Room(&st.Nodes[0])
		if c.Code != tt.want || r == nil {
			t.Errorf("%s: %s, %s; want %s, %s", tt.why, c.Code, roomOf(r), tt.want, tt.room)
			continue
		}
		if waits := c.Code == cause.WaitingForRoom; waits != (c.Severity == cause.SeverityInfo) || waits != (r.Code == cause.RoomWaits) {
			t.Errorf("%s: %s, %s", tt.why, c.Severity, roomOf(r))
		}
	}
}

// TestPodsOfAnotherController checks that a pod takes room if the selector matches it and another controller owns it.
func TestPodsOfAnotherController(t *testing.T) {
	foreign := dstest.Edit(func(s *snapshot.Snapshot) {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: s.DaemonSet.Namespace, Labels: s.DaemonSet.Spec.Selector.MatchLabels}}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "rs", Controller: new(true)}}
		p.Spec = corev1.PodSpec{NodeName: "n0", Containers: []corev1.Container{{Name: "web", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3500m")}}}}}
		p.Status.Phase = corev1.PodRunning
		s.Pods = append(s.Pods, p)
	})
	st := fitState(t, "-", others(0, 0), foreign)
	if r := cause.Find(st).Room(&st.Nodes[0]); r == nil || r.Code != cause.RoomNot || r.Amounts[0].Free != "500m" {
		t.Errorf("%s, want DoesNotFit; 500m free", roomOf(r))
	}
}

// TestRejections checks that every plugin that rejects a node and every missing resource is named.
func TestRejections(t *testing.T) {
	port := template(func(s *corev1.PodSpec) {
		s.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80}}
	})
	full := dstest.Node("n0", func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("1") })
	st := fitState(t, "-", others(3500, 0, 80), port, full)
	var got []string
	for _, r := range cause.Find(st).Room(&st.Nodes[0]).Rejections {
		resources, _ := r.Facts["resources"].([]string)
		got = append(got, strings.TrimSpace(r.Plugin+" "+strings.Join(resources, " ")))
	}
	if want := "NodePorts, NodeResourcesFit pods, NodeResourcesFit cpu"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}
