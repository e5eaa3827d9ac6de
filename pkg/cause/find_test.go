package cause_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// waiting gives a pod a waiting container.
func waiting(pod, reason string) dstest.Option {
	return dstest.Pod(pod, func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", RestartCount: 1, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
	})
}

func crashing(pod string) dstest.Option { return waiting(pod, "CrashLoopBackOff") }

// mounting makes p0 a pod that was created a moment ago and waits for a volume.
func mounting() []dstest.Option {
	return []dstest.Option{
		waiting("p0", "ContainerCreating"), podEvent("FailedMount", "not yet", time.Second),
		dstest.Pod("p0", func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(at(time.Second)) }),
	}
}

func TestRevisionFails(t *testing.T) {
	type by = map[daemonset.Reason]cause.Tally
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    cause.Tally
		wantBy  by
		why     string
	}{
		{"N n O o", []dstest.Option{crashing("p1"), crashing("p3")}, cause.Tally{NewPods: 2, NewFailing: 1, OldPods: 2, OldFailing: 1},
			by{cause.CrashLoopBackOff: {NewPods: 2, NewFailing: 1, OldPods: 2, OldFailing: 1}}, "new and old pods, and those of each that fail"},
		{"n n O", []dstest.Option{crashing("p0"), waiting("p1", "ErrImagePull")}, cause.Tally{NewPods: 2, NewFailing: 2, OldPods: 1},
			by{cause.CrashLoopBackOff: {NewPods: 2, NewFailing: 1, OldPods: 1}, cause.ImagePullBackOff: {NewPods: 2, NewFailing: 1, OldPods: 1}}, "apart by what they fail of, beside all pods"},
		{"N Nt O Ot", nil, cause.Tally{NewPods: 1, OldPods: 1}, by{}, "a pod that goes tells nothing of its revision"},
		{"o/n", []dstest.Option{dstest.MaxSurge("1"), crashing("p0"), crashing("p0b")}, cause.Tally{NewPods: 1, NewFailing: 1, OldPods: 1},
			by{cause.CrashLoopBackOff: {NewPods: 1, NewFailing: 1, OldPods: 1}}, "of two on one node the new one fails, whatever the old one does"},
		{"n N", []dstest.Option{crashing("p0"), notReady("n0")}, cause.Tally{NewPods: 1},
			by{cause.CrashLoopBackOff: {NewPods: 2, NewFailing: 1}}, "on a node that is down a pod tells nothing of its revision, though it is among those with its cause"},
		{"n N", mounting(), cause.Tally{NewPods: 2},
			by{cause.FailedMount: {NewPods: 2, NewFailing: 1}}, "one that may yet start does not fail, though it is among those with its cause"},
		{"n nf", nil, cause.Tally{NewPods: 2}, by{}, "a pod that is not ready, or was evicted, tells nothing of its containers"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, found := find(t, dstest.State(tt.grid, tt.options...))
			if diff := cmp.Diff(tt.want, found.RevisionFails()); diff != "" {
				t.Errorf("RevisionFails of %q (-want +got):\n%s", tt.grid, diff)
			}
			got := by{}
			for code, tally := range found.RevisionFailsBy(func(c *cause.Cause) string { return string(c.Code) }) {
				got[daemonset.Reason(code)] = tally
			}
			if diff := cmp.Diff(tt.wantBy, got); diff != "" {
				t.Errorf("RevisionFailsBy code of %q (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	refused := setEvent("FailedCreate", "Error creating: exceeded quota", 3, time.Hour)
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    *cause.Cause
		why     string
	}{
		{"-", []dstest.Option{refused}, &cause.Cause{Code: cause.FailedCreate, Severity: cause.SeverityError, Since: since(time.Hour), Facts: daemonset.Facts{"events": 3, "last": "2026-03-01T11:00:00Z", "message": "exceeded quota"}},
			"the words of the event"},
		{"N", []dstest.Option{refused}, &cause.Cause{Code: cause.FailedCreate, Severity: cause.SeverityError, Since: since(time.Hour), Facts: daemonset.Facts{"events": 3, "last": "2026-03-01T11:00:00Z", "message": "exceeded quota"}},
			"a refusal stands until a pod is created, whether or not one is missing now"},
		{"N", []dstest.Option{refused, dstest.Pod("p0", func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(at(time.Minute)) })}, nil, "then it ends"},
		{"-", nil, nil, "without an event nothing is refused"},
		{"-", []dstest.Option{setEvent("FailedCreate", "(combined from similar events): Error creating: exceeded quota", 3, time.Hour)}, &cause.Cause{Code: cause.FailedCreate, Severity: cause.SeverityError, Since: since(time.Hour), Facts: daemonset.Facts{"events": 3, "last": "2026-03-01T11:00:00Z", "message": "exceeded quota"}},
			"events that were combined say what the newest of them says"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, found := find(t, dstest.State(tt.grid, tt.options...))
			if diff := cmp.Diff(tt.want, found.Refusal()); diff != "" {
				t.Errorf("Refusal of %q (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

// TestOfPod checks that each pod has its own cause, whether or not it is the pod that Of is about, and whether or not
// the node is down.
func TestOfPod(t *testing.T) {
	st, found := find(t, dstest.State("o/N n", dstest.MaxSurge("1"), crashing("p0"), waiting("p1", "ContainerCreating"), notReady("n1")))
	got := map[string]daemonset.Reason{}
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			if c := found.OfPod(&st.Nodes[i].Pods[j]); c != nil {
				got[c.Pod] = c.Code
			}
		}
	}
	if diff := cmp.Diff(map[string]daemonset.Reason{"p0": cause.CrashLoopBackOff, "p1": cause.ContainerCreating}, got); diff != "" {
		t.Errorf("by pod (-want +got):\n%s", diff)
	}
	if n0, n1 := found.Of("n0"), found.Of("n1"); n0 != nil || n1 == nil || n1.Code != cause.NodeNotReady {
		t.Errorf("n0 has %v, n1 %v; want none, and that it is down", n0, n1)
	}
}

func TestSettled(t *testing.T) {
	for _, tt := range []struct {
		ago  time.Duration
		want bool
		why  string
	}{
		{cause.Patience, false, "the controller may still act on what changed"},
		{cause.Patience + time.Second, true, "it had its time"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, found := find(t, dstest.State("N", dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
				ds.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &metav1.Time{Time: at(tt.ago)}}, {Subresource: "status", Time: &metav1.Time{Time: at(0)}}}
			})))
			if got := found.Changed(); !got.Equal(at(tt.ago)) || found.Settled() != tt.want {
				t.Errorf("changed %v, settled %t; want %v, %t", got, found.Settled(), at(tt.ago), tt.want)
			}
		})
	}
}

func TestWritten(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{
		{Time: &metav1.Time{Time: at(2 * time.Hour)}}, {Time: &metav1.Time{Time: at(time.Hour)}}, {Time: &metav1.Time{Time: at(3 * time.Hour)}}, {},
		{Subresource: "status", Time: &metav1.Time{Time: at(time.Minute)}},
	}
	for _, tt := range []struct {
		version, subresource string
		want                 *time.Time
		why                  string
	}{
		{dstest.Newest, "", since(time.Hour), "the last of its entries"},
		{dstest.Newest, "status", since(time.Minute), "of the subresource"},
		{dstest.Newest, "scale", nil, "which has none"},
		{"v1.25.0", "", since(time.Hour), "the first version whose times move with values"},
		{"v1.24.17", "", nil, "before, they move when a field is added"},
		{"v1.24.17", "status", nil, "so do those of the status"},
	} {
		st, found := find(t, dstest.State("N", dstest.Version(tt.version), dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.ManagedFields = entries })))
		if diff := cmp.Diff(tt.want, cause.Written(st, tt.subresource)); diff != "" {
			t.Errorf("%s: Written of %q (-want +got):\n%s", tt.why, tt.subresource, diff)
		}
		if want := at(time.Hour); !found.Changed().Equal(want) {
			t.Errorf("%s: changed %v, want %v: something was written then, whatever the version", tt.why, found.Changed(), want)
		}
	}
}

// TestPodsNotRead checks that no node is reported to lack a pod if the pods could not be read.
func TestPodsNotRead(t *testing.T) {
	st, found := find(t, dstest.State("- n", dstest.Edit(func(s *snapshot.Snapshot) {
		s.Pods, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Pods, Why: snapshot.NotGiven}}
	})))
	for i := range st.Nodes {
		if c := found.Of(st.Nodes[i].Name); c != nil {
			t.Errorf("%s has %v", st.Nodes[i].Name, c)
		}
	}
}

// TestMessagesHideValues checks that messages of the API server, the kubelet and programs contain no literal value of
// the live template or of a revision, and are otherwise unchanged.
func TestMessagesHideValues(t *testing.T) {
	env := dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "TOKEN", Value: "s3cret-now"}, {Name: "DISTRO", Value: "longhorn"}}
		s.Revisions[0].Data.Raw = []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"agent","env":[{"name":"TOKEN","value":"s3cret-then"}]}]}}}}`)
	})
	says := func(message string) dstest.Option {
		return dstest.Pod("p0", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerError", Message: message}}}}
		})
	}
	_, found := find(t, dstest.State("n", env, says("longhorn: neither s3cret-now nor s3cret-then")))
	const want = "longhorn: neither <hidden> nor <hidden>"
	if c := found.Of("n0"); c == nil || c.Facts["message"] != want {
		t.Errorf("of the node: %+v", c)
	}
	st, found := find(t, dstest.State("n", env, says("longhorn: neither s3cret-now nor s3cret-then")))
	if c := found.OfPod(&st.Nodes[0].Pods[0]); c == nil || c.Facts["message"] != want {
		t.Errorf("of the pod: %+v", c)
	}
	_, found = find(t, dstest.State("-", env, setEvent("FailedCreate", `Error creating: TOKEN=s3cret-now: namespaces "longhorn" not found`, 1, time.Minute)))
	if c := found.Refusal(); c == nil || c.Facts["message"] != `TOKEN=<hidden>: namespaces "longhorn" not found` {
		t.Errorf("of the DaemonSet: %+v", c)
	}
}
