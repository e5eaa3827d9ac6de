package plan

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

func TestNeedsOf(t *testing.T) {
	requests := func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	}
	image := func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers[0].Image = "example/agent:9" }
	claims := func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Volumes = []corev1.Volume{
			{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
			{Name: "own", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			}}}}},
		}
	}
	refused := func(s *snapshot.Snapshot) {
		s.Events = append(s.Events, corev1.Event{
			Reason: "FailedCreate", Message: "Error creating: no", LastTimestamp: metav1.NewTime(dstest.Now),
			InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", UID: s.DaemonSet.UID},
		})
	}
	lackNodes := func(s *snapshot.Snapshot) {
		s.Nodes, s.Gaps = nil, append(s.Gaps, snapshot.Gap{What: snapshot.Nodes, Why: snapshot.Forbidden})
	}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		change  func(*appsv1.DaemonSet)
		fit     bool
		want    string
		why     string
	}{
		{"N N", nil, nil, false, "", "nothing is created"},
		{"N N", nil, nil, true, "", "not even on demand"},
		{"N N", nil, image, false, "admission", "new pods take what the old ones leave"},
		{"N N", nil, image, true, "admission n0 n1", "but who asks gets it for every node that gets a pod"},
		{"N N", nil, requests, false, "admission n0 n1", "pods that request more may not fit"},
		{"N !N", nil, requests, false, "admission n0", "a node that gets no pod is of no interest"},
		{"N -", nil, nil, false, "admission n1", "a node that has no pod may have no room"},
		{"N np", nil, nil, false, "n1", "a pod waits for room"},
		{"N np", []dstest.Option{dstest.OnDelete()}, image, false, "n1", "OnDelete creates nothing by itself; the pod still waits"},
		{"N N", []dstest.Option{dstest.Edit(refused)}, nil, false, "admission", "somebody refused a pod"},
		{"N N", nil, claims, false, "admission n0 n1 claims data", "the volumes of a template that names other claims are looked at"},
		{"N -", []dstest.Option{dstest.DaemonSet(claims)}, nil, false, "admission n1 claims data", "or where a node gets its first pod"},
		{"N N", []dstest.Option{dstest.DaemonSet(claims)}, image, false, "admission", "where the old pod has the same, they are not in the way"},
		{"N np", []dstest.Option{dstest.Pod("p1", func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "own", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
		})}, nil, false, "n1 claims p1-own", "a pod that waits has claims of its own"},
		{"N ~n", nil, nil, false, "", "a node that is gone gets no pod"},
		{"N N", []dstest.Option{dstest.Edit(lackNodes)}, image, true, "admission", "without nodes the old pods are replaced where they are, and nobody knows where they fit"},
		{"N N", []dstest.Option{dstest.Edit(lackNodes)}, nil, false, "", "nor is anything created"},
		{"N N", []dstest.Option{dstest.Edit(lackNodes), dstest.OnDelete()}, image, false, "", "nor by itself with OnDelete"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			st := stateOf(t, dstest.State(tt.grid, tt.options...))
			if tt.change != nil {
				to := st.DaemonSet.DeepCopy()
				tt.change(to)
				r, err := whatif.Make(st, &whatif.Change{DaemonSet: to})
				if err != nil {
					t.Fatal(err)
				}
				st = r.State
			}
			n := NeedsOf(st, tt.fit)
			var got []string
			if n.Admission {
				got = append(got, "admission")
			}
			if got = append(got, n.Nodes...); len(n.Claims) > 0 {
				got = append(append(got, "claims"), n.Claims...)
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestNextPod checks the node and the hash of the next pod.
func TestNextPod(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		restart bool
		want    string
		why     string
	}{
		{"N N", nil, false, "", "none is created"},
		{"N -", nil, false, "n1 new", "the node that has none"},
		{"- -", nil, false, "n0 new", "the first of several"},
		{"O N", nil, false, "n0 new", "one whose pod is replaced"},
		{"O N", []dstest.Option{dstest.OnDelete()}, false, "", "with OnDelete no pod is replaced"},
		{"!O !-", nil, false, "", "nodes that are not eligible get none"},
		{"N N", nil, true, "n0 new", "a revision that is yet to be created has no hash that an API server takes"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			st := stateOf(t, dstest.State(tt.grid, tt.options...))
			if tt.restart {
				r, err := whatif.Make(st, &whatif.Change{Restart: true})
				if err != nil {
					t.Fatal(err)
				}
				st = r.State
			}
			got := ""
			if pod := NextPod(st); pod != nil {
				terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
				got = terms[0].MatchFields[0].Values[0] + " " + pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
