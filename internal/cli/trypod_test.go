package cli

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// rejecting is an API server that rejects a pod with a message that contains a value.
type rejecting struct {
	reader
	sent []*corev1.Pod
}

func (r *rejecting) DryRunPod(_ context.Context, pod *corev1.Pod) (*snapshot.PodDryRun, error) {
	r.sent = append(r.sent, pod)
	return &snapshot.PodDryRun{Answer: snapshot.DryRunRejected, Message: "TOKEN is s3cret-new"}, nil
}

// TestTryPod checks when the program sends a pod, the owner of that pod, and the stored answer.
func TestTryPod(t *testing.T) {
	const uid = "5f0c1b8e-0000-0000-0000-000000000001"
	for _, tt := range []struct {
		grid       string
		uid        types.UID
		asked      bool
		shows      bool
		want, owns string
		why        string
	}{
		{"- N", uid, true, false, "TOKEN is <hidden>", uid, "a literal value is not repeated"},
		{"- N", uid, true, true, "TOKEN is s3cret-new", uid, "unless that is asked"},
		{"- N", "", true, false, "TOKEN is <hidden>", string(dummyUID), "a DaemonSet that is not there yet owns the pod by the UID of nobody"},
		{"N N", uid, true, false, "", "", "no pod is created"},
		{"- N", uid, false, false, "", "", "nobody asks for it"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			st, err := daemonset.StateOf(dstest.State(tt.grid, dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
				ds.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "TOKEN", Value: "s3cret-new"}}
			}), dstest.Edit(func(s *snapshot.Snapshot) { s.Admission = &snapshot.Admission{} })))
			if err != nil {
				t.Fatal(err)
			}
			st.DaemonSet.UID = tt.uid
			server := &rejecting{}
			o := &planning{dryRun: tt.asked, showsValues: tt.shows}
			o.opened = server
			r := &whatif.Result{State: st}
			if err := o.tryPod(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			got, owns := "", ""
			if d := r.State.Snapshot.Admission.DryRun; d != nil {
				got, owns = d.Message, string(server.sent[0].OwnerReferences[0].UID)
			}
			if got != tt.want || owns != tt.owns {
				t.Errorf("%q of %s, want %q of %s", got, owns, tt.want, tt.owns)
			}
		})
	}
}
