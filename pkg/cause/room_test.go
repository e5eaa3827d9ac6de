package cause_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// roomOf is a Room in words.
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
		out = append(out, "not "+string(u))
	}
	return strings.Join(out, "; ")
}

// TestRoom: whether the next pod would fit on n0, on which it requests 1 of 4 CPUs.
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

// TestRoomAgrees: the amounts of a pod that fits suffice, and those of one that lacks
// resources do not.
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
		if got := strings.TrimSpace(strings.Join(n.Nodes, " ") + " | " + strings.Join(n.Claims, " ")); got != tt.want || n.Admission {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}
