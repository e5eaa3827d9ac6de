package history

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// reported returns the Snapshot with the status that the controller would
// write.
func reported(t *testing.T, s *snapshot.Snapshot) *snapshot.Snapshot {
	t.Helper()
	st, err := daemonset.StateOf(s)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := st.Counts()
	out := *s
	out.DaemonSet = s.DaemonSet.DeepCopy()
	out.DaemonSet.Status = appsv1.DaemonSetStatus{
		ObservedGeneration: s.DaemonSet.Generation, CollisionCount: s.DaemonSet.Status.CollisionCount,
		DesiredNumberScheduled: int32(n.Desired), CurrentNumberScheduled: int32(n.Current), NumberMisscheduled: int32(n.Misscheduled),
		NumberReady: int32(n.Ready), UpdatedNumberScheduled: int32(n.Updated), NumberAvailable: int32(n.Available), NumberUnavailable: int32(n.Unavailable),
	}
	return &out
}

// metadataOf returns the Snapshot without nodes and with only the metadata of
// pods.
func metadataOf(s *snapshot.Snapshot) *snapshot.Snapshot {
	out := *s
	out.Nodes, out.Pods = nil, slices.Clone(s.Pods)
	for i := range out.Pods {
		out.Pods[i] = corev1.Pod{ObjectMeta: out.Pods[i].ObjectMeta}
	}
	out.Gaps = append(slices.Clone(s.Gaps),
		snapshot.Gap{What: snapshot.Nodes, Why: snapshot.NotGiven, Message: "not asked for"}, snapshot.Gap{What: snapshot.PodStatus, Why: snapshot.NotGiven, Message: "not asked for"})
	return &out
}

// fromMetadata returns the History made from metadata, and the one made from
// whole pods without the names of nodes.
func fromMetadata(t *testing.T, s *snapshot.Snapshot) (got, want *History) {
	t.Helper()
	st, err := daemonset.StateOf(metadataOf(s))
	if err != nil {
		t.Fatal(err)
	}
	if got, err = MakeFromMetadata(st, Options{}); err != nil {
		t.Fatal(err)
	}
	want = of(t, s, Options{})
	for i := range want.Revisions {
		want.Revisions[i].OnNodes = []string{}
	}
	return got, want
}

// TestLawFromMetadata checks that both histories are equal if the controller
// wrote the status.
func TestLawFromMetadata(t *testing.T) {
	codes, others := map[RolloutCode]int{}, 0
	for seed := range cases.Of(int64(600)) {
		s := reported(t, []func(int64) *snapshot.Snapshot{dstest.Random, dstest.RandomCommon, dstest.RandomPlacement, dstest.RandomOpenShift}[seed%4](seed))
		if seed%3 > 0 { // few random states have all pods available
			s = withAllAvailable(t, s)
		}
		got, want := fromMetadata(t, s)
		if got == nil {
			others += b2i(SaysAvailable(s.DaemonSet))
			continue
		}
		codes[got.Rollout.Code]++
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d (-from all +from metadata):\n%s\n%s", seed, diff, dstest.Describe(s))
		}
	}
	t.Log(codes, "and", others, "of which the metadata do not tell, though all pods that there should be are available")
	if others > codes[Settled] && cases.Least(1) > 0 {
		t.Error("these are too many")
	}
	for _, code := range []RolloutCode{Settled, AwaitingDelete, UnderWay} {
		if codes[code] < cases.Least(5) {
			t.Errorf("%d are %s", codes[code], code)
		}
	}
}

// withAllAvailable returns the Snapshot with at most one pod per node, bound
// and available, on an eligible node. If a node lacks a pod, the status says
// so. If the number of pods is a multiple of three, the strategy is OnDelete.
func withAllAvailable(t *testing.T, s *snapshot.Snapshot) *snapshot.Snapshot {
	t.Helper()
	st, err := daemonset.StateOf(s)
	if err != nil {
		t.Fatal(err)
	}
	out := *s
	out.Pods = nil
	for i := range st.Nodes {
		n := &st.Nodes[i]
		for j := range n.Pods {
			p := n.Pods[j].Object.DeepCopy()
			if !n.ShouldRun.OK || p.DeletionTimestamp != nil || p.Spec.NodeName == "" {
				continue
			}
			p.Status.Phase, p.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(s.TakenAt.Add(-1e6 * second))}}
			out.Pods = append(out.Pods, *p)
			break
		}
	}
	out.DaemonSet = s.DaemonSet.DeepCopy()
	if len(out.Pods)%3 == 0 {
		out.DaemonSet.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
	}
	return reported(t, &out)
}

// TestMetadataTell tests the conditions under which the metadata of pods
// suffices.
func TestMetadataTell(t *testing.T) {
	status := func(edit func(*appsv1.DaemonSetStatus)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { edit(&s.DaemonSet.Status) }
	}
	first := func(edit func(*corev1.Pod)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { edit(&s.Pods[0]) }
	}
	for _, tt := range []struct {
		grid string
		edit func(*snapshot.Snapshot)
		tell bool
		why  string
	}{
		{"N N N", nil, true, "all is as it should be"},
		{"N O O", nil, true, "of whichever revision"},
		{"", nil, false, "no node should run a pod"},
		{"N N -", nil, false, "a node has none"},
		{"N N ~N", nil, false, "one is on a node that is gone"},
		{"N N n", nil, false, "one is not Ready: which one, the metadata do not say"},
		{"N N N/O", nil, false, "two are on one node"},
		{"N N Nt", nil, false, "one is terminating"},
		{"N N N", status(func(s *appsv1.DaemonSetStatus) { s.ObservedGeneration-- }), false, "the controller has not seen the latest spec"},
		{"N N N", status(func(s *appsv1.DaemonSetStatus) { s.NumberMisscheduled++ }), false, "a node has a pod that should not"},
		{"N N N", status(func(s *appsv1.DaemonSetStatus) { s.NumberAvailable--; s.NumberUnavailable++ }), false, "one is not available yet"},
		{"N N N", func(s *snapshot.Snapshot) { s.Pods = s.Pods[1:] }, false, "one is gone since the status was written"},
		{"N N N", func(s *snapshot.Snapshot) { s.Pods = append(s.Pods, *s.Pods[0].DeepCopy()); s.Pods[3].Name = "more" }, false, "one came since then"},
		{"N N N", first(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: dstest.Now} }), false, "one began to terminate since then"},
		{"N N N", first(func(p *corev1.Pod) { p.OwnerReferences = nil }), false, "one is to be adopted"},
		{"N N N", first(func(p *corev1.Pod) { p.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = "other" }), false, "no revision has its hash: what it runs, its containers tell"},
		{"N N O", status(func(s *appsv1.DaemonSetStatus) { s.UpdatedNumberScheduled-- }), false, "one was replaced since then, and is not known to be available"},
		{"N N N", first(func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(dstest.Now.Add(-9 * second)) }), true, "one is young"},
		{"N N N", func(s *snapshot.Snapshot) {
			s.DaemonSet.Spec.MinReadySeconds, s.Pods[0].CreationTimestamp = 10, metav1.NewTime(dstest.Now.Add(-9*second))
		}, false, "one is younger than minReadySeconds"},
		{"N N N", func(s *snapshot.Snapshot) {
			s.Gaps = append(s.Gaps, snapshot.Gap{What: snapshot.Pods, Why: snapshot.Forbidden})
		}, false, "the pods could not be read"},
	} {
		s := reported(t, dstest.State(tt.grid))
		if tt.edit != nil {
			tt.edit(s)
		}
		if got, _ := fromMetadata(t, s); (got != nil) != tt.tell {
			t.Errorf("%q: told %t, though %s", tt.grid, got != nil, tt.why)
		}
	}
}
