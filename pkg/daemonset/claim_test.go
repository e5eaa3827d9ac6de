package daemonset

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// claims lists the pods of a state, such as "p0 Owned", by the node that counts
// them or by the reason why none does.
type claims map[string][]string

func claimsOf(st *State) claims {
	c := claims{}
	for _, n := range st.Nodes {
		for _, p := range n.Pods {
			c[n.Name] = append(c[n.Name], p.Name+" "+string(p.Claim))
		}
		for _, p := range n.Ignored {
			c[n.Name+" "+string(p.Ignored)] = append(c[n.Name+" "+string(p.Ignored)], p.Name+" "+string(p.Claim))
		}
	}
	for _, p := range st.Unmapped {
		c[string(p.Ignored)] = append(c[string(p.Ignored)], p.Name+" "+string(p.Claim))
	}
	for _, p := range st.Foreign {
		c["Foreign"] = append(c["Foreign"], p.Name)
	}
	return c
}

// TestIgnoredInOrder tests the order of ignored pods on a node: pods that ended
// while terminating, then released ones.
func TestIgnoredInOrder(t *testing.T) {
	young := dstest.Pod("p0b", func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(dstest.Now) })
	st := state(t, dstest.State("Nr/nft", young))
	var names []string
	for _, p := range st.Nodes[0].Ignored {
		names = append(names, p.Name+" "+string(p.Ignored))
	}
	if want := []string{"p0b " + string(TerminalTerminating), "p0 " + string(ReleasedPod)}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

func TestClaim(t *testing.T) {
	deleted := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.DeletionTimestamp = &metav1.Time{Time: dstest.Now} })
	without := func(pod string) dstest.Option {
		return dstest.Pod(pod, func(p *corev1.Pod) { p.Spec.Affinity = nil })
	}
	young := dstest.Pod("p0", func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(dstest.Now) })
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want claims
		pods StepPods
		why  string
	}{
		{"N Nt nf ns np", nil, claims{"n0": {"p0 Owned"}, "n1": {"p1 Owned"}, "n2": {"p2 Owned"}, "n3": {"p3 Owned"}, "n4": {"p4 Owned"}}, StepPods{}, "phase and deletion do not matter to who owns a pod"},
		{"Na", nil, claims{"n0": {"p0 Adopt"}}, StepPods{Adopt: []string{"p0"}}, "an orphan that matches is adopted, and counts at once"},
		{"Na/Na", options{young}, claims{"n0": {"p0b Adopt", "p0 Adopt"}}, StepPods{Adopt: []string{"p0", "p0b"}}, "the step lists them by name"},
		{"np np", options{young, without("p0"), without("p1")}, claims{"NoTargetNode": {"p0 Owned", "p1 Owned"}}, StepPods{}, "and so does the list of those that no rule sees"},
		{"Nat", nil, claims{}, StepPods{}, "but not while it is being deleted"},
		{"Nr", nil, claims{"n0 Release": {"p0 Release"}}, StepPods{Release: []string{"p0"}}, "an owned pod that does not match is let go, and does not count"},
		{"Nrt", nil, claims{"n0 Release": {"p0 Release"}}, StepPods{Release: []string{"p0"}}, "also while it is being deleted"},
		{"Nr/Nr", options{young}, claims{"n0 Release": {"p0b Release", "p0 Release"}}, StepPods{Release: []string{"p0", "p0b"}}, "those that do not count stand in the controller's order too"},
		{"Nx", nil, claims{"Foreign": {"p0"}}, StepPods{}, "another controller's pod is foreign though it matches"},
		{"Na Nr Nt", options{deleted}, claims{"n2": {"p2 Owned"}}, StepPods{}, "a DaemonSet that is being deleted neither adopts nor releases"},
		{"N Nx N", options{
			dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.UID = "" }),
			dstest.Pod("p2", func(p *corev1.Pod) { p.OwnerReferences[0].Name = "agent2" }),
		}, claims{"n0": {"p0 Owned"}, "Foreign": {"p1", "p2"}}, StepPods{}, "a DaemonSet without a UID is known by kind and name"},
		{"N N", options{
			dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.UID = "" }),
			dstest.Pod("p1", func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "ReplicaSet" }),
		}, claims{"n0": {"p0 Owned"}, "Foreign": {"p1"}}, StepPods{}, "by both: another kind may have the name"},
		{"Nx*11", nil, claims{"Foreign": {"p0", "p1", "p10", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"}}, StepPods{}, "foreign pods stand by name"},
		{"np", options{without("p0")}, claims{"NoTargetNode": {"p0 Owned"}}, StepPods{}, "a pod without a node and without the affinity for one is seen by no rule"},
		{"npa", options{without("p0")}, claims{"NoTargetNode": {"p0 Adopt"}}, StepPods{Adopt: []string{"p0"}}, "and is adopted all the same"},
		{"N", options{without("p0")}, claims{"n0": {"p0 Owned"}}, StepPods{}, "a bound pod needs no affinity"},
		{"nft", nil, claims{"n0 TerminalTerminating": {"p0 Owned"}}, StepPods{}, "a pod that is done and terminating is ignored on its node"},
		{"~nft", nil, claims{"TerminalTerminating": {"p0 Owned"}}, StepPods{}, "and has no place where the node is gone"},
		{"nft", options{dstest.Version("v1.26.6")}, claims{"n0": {"p0 Owned"}}, StepPods{}, "before #118716 it counted"},
		{"~N", nil, claims{"n0": {"p0 Owned"}}, StepPods{}, "a pod on a vanished node keeps the node in mind"},
		{"N/np/O/o", nil, claims{"n0": {"p0 Owned", "p0c Owned", "p0d Owned", "p0b Owned"}}, StepPods{}, "bound pods come first, then the oldest"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			st := state(t, dstest.State(tt.grid, tt.opts...))
			if diff := cmp.Diff(tt.want, claimsOf(st)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.grid, diff)
			}
			got := st.Sync().Pods
			if got.Adopt == nil || got.Release == nil {
				t.Errorf("%q: a list is null: %+v", tt.grid, got)
			}
			want := StepPods{Adopt: append([]string{}, tt.pods.Adopt...), Release: append([]string{}, tt.pods.Release...)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q: pods of the step (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

func TestClaimOfStrangers(t *testing.T) {
	s := dstest.State("N O", dstest.Edit(func(s *snapshot.Snapshot) {
		s.Pods[0].OwnerReferences, s.Pods[0].Labels = nil, map[string]string{"app": "other"}
		s.Pods[1].Namespace = "elsewhere"
	}))
	if diff := cmp.Diff(claims{}, claimsOf(state(t, s))); diff != "" {
		t.Errorf("pods of nobody and of another namespace (-want +got):\n%s", diff)
	}
}

func TestTargetNode(t *testing.T) {
	in := func(values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	notIn := corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"n9"}}
	fields := func(rs ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchFields: rs}
	}
	labels := func(rs ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: rs}
	}
	required := func(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
	}
	type target struct {
		Node string
		OK   bool
	}
	whys := whys{}
	for _, tt := range []struct {
		bound    string
		affinity *corev1.Affinity
		want     target
		why      string
	}{
		{"n0", required(fields(in("n1"))), target{"n0", true}, "the node that a pod is bound to comes first"},
		{"", required(fields(in("n1"))), target{"n1", true}, "else the one that its affinity names"},
		{"", required(labels(in("n1")), fields(notIn), fields(notIn, in("n2")), fields(in("n3"))), target{"n2", true}, "by the first In among the fields of its terms, in their order"},
		{"", required(fields(in("n1", "n2")), fields(in("n3"))), target{}, "which must name exactly one"},
		{"", required(fields(in())), target{}, "and not none"},
		{"", required(labels(corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"n1"}})), target{}, "the hostname label names no node"},
		{"", required(fields(corev1.NodeSelectorRequirement{Key: "metadata.uid", Operator: corev1.NodeSelectorOpIn, Values: []string{"n1"}})), target{}, "nor does another field"},
		{"", required(), target{}, "no terms, no node"},
		{"", &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}, target{}, "only what is required counts"},
		{"", &corev1.Affinity{}, target{}, "an affinity without one for nodes names none"},
		{"", nil, target{}, "no affinity, no node"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			var got target
			got.Node, got.OK = TargetNode(&corev1.Pod{Spec: corev1.PodSpec{NodeName: tt.bound, Affinity: tt.affinity}})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
