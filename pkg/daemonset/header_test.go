package daemonset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func TestNewHeader(t *testing.T) {
	ref := Ref{Namespace: dstest.Namespace, Name: dstest.Name, UID: "00000000-0000-4000-8000-000000000001", Generation: 2, ObservedGeneration: 2, Strategy: "RollingUpdate"}
	header := func(version string, source snapshot.VersionSource, gaps []Gap, assumptions ...Assumption) Header {
		return Header{
			APIVersion: "kubectl-ds/v1alpha1", Kind: "Explanation", DaemonSet: ref,
			Controller:  Controller{KubernetesVersion: version, Source: source},
			Snapshot:    Reading{TakenAt: dstest.Now, Gaps: append([]Gap{}, gaps...)},
			Assumptions: append([]Assumption{}, assumptions...),
		}
	}
	gaps := func(of ...snapshot.What) (out []Gap) {
		for _, w := range of {
			g := snapshot.Gap{What: w, Why: snapshot.Forbidden}
			out = append(out, Gap{g, g.Consequence()})
		}
		return out
	}
	under := func(version string, source snapshot.VersionSource) dstest.Option {
		return dstest.Edit(func(s *snapshot.Snapshot) { s.KubernetesVersion, s.VersionSource = version, source })
	}
	tolerates := func(o corev1.TolerationOperator) dstest.Option {
		return dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "level", Operator: o, Value: "5"}}
		})
	}
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want Header
		why  string
	}{
		{"N", nil, header("v1.37.1", snapshot.VersionServer, nil, Assumption{AssumeControllerVersion, "v1.37.1", "Server"}), "the server's version is taken for the controller's"},
		{"N", options{under("v1.30.4", snapshot.VersionFlag)}, header("v1.30.4", snapshot.VersionFlag, nil, Assumption{AssumeGeneration, "1", "pod-template-generation"}), "a version that was asked for is no assumption"},
		{"N", options{under("v1.39.0", snapshot.VersionDump)}, header("v1.39.0", snapshot.VersionDump, nil, Assumption{AssumeControllerVersion, "v1.39.0", "Dump"}, Assumption{AssumeNewestRules, "v1.37", "Dump"}), "one that is too new has the newest rules"},
		{"N", options{gap(snapshot.Revisions, snapshot.Forbidden), gap(snapshot.Nodes, snapshot.Forbidden)}, header("v1.37.1", snapshot.VersionServer, gaps(snapshot.Revisions, snapshot.Nodes),
			Assumption{AssumeControllerVersion, "v1.37.1", "Server"}, Assumption{AssumeCurrentRevision, "new", "TemplateGeneration"}, Assumption{AssumeMayStay, "", "pods"}), "what stands in for a gap is assumed"},
		{"N", options{tolerates("Gt")}, header("v1.37.1", snapshot.VersionServer, nil,
			Assumption{AssumeControllerVersion, "v1.37.1", "Server"}, Assumption{AssumeTolerationComparison, "TaintTolerationComparisonOperators", "spec.template.spec.tolerations"}), "a toleration that the API takes with a gate only tells that it is on"},
		{"N", options{tolerates("Lt")}, header("v1.37.1", snapshot.VersionServer, nil,
			Assumption{AssumeControllerVersion, "v1.37.1", "Server"}, Assumption{AssumeTolerationComparison, "TaintTolerationComparisonOperators", "spec.template.spec.tolerations"}), "either operator needs the gate"},
		{"N", options{tolerates("Lt"), under("v1.34.4", snapshot.VersionFlag)}, header("v1.34.4", snapshot.VersionFlag, nil), "in a version that does not have the gate nothing is assumed"},
		{"N Nt O", options{under("v1.30.4", snapshot.VersionFlag), podHash("p2", "stray")}, header("v1.30.4", snapshot.VersionFlag, nil,
			Assumption{AssumeGeneration, "1", "pod-template-generation"}, Assumption{AssumeNewHash, "stray", "controller-revision-hash"}), "a revision is to be created: who counts by its generation alone, and whose hash it may get"},
		{"N O", options{under("v1.37.1", snapshot.VersionFlag), podHash("p1", "stray")}, header("v1.37.1", snapshot.VersionFlag, nil), "no revision is to be created, so nobody gets its hash"},
		{"N O", options{under("v1.22.17", snapshot.VersionFlag), podHash("p0", "stray"), podHash("p1", "")}, header("v1.22.17", snapshot.VersionFlag, nil, Assumption{AssumeNewHash, "stray", "controller-revision-hash"}), "up to 1.23 nobody counts by generation"},
		{"N", options{tolerates("Equal"), under("v1.35.0", snapshot.VersionFlag)}, header("v1.35.0", snapshot.VersionFlag, nil), "nor of a toleration that needs none"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, tt.opts...)
			if diff := cmp.Diff(tt.want, NewHeader("Explanation", state(t, s))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLacks tests which parts could not be read, and which of them the numbers
// depend on. A part that changed while it was read counts as read.
func TestLacks(t *testing.T) {
	h := &Header{}
	for _, g := range []snapshot.Gap{
		{What: snapshot.Pods, Why: snapshot.Forbidden}, {What: snapshot.Revisions, Why: snapshot.NotGiven}, {What: snapshot.Nodes, Why: snapshot.Moved}, {What: snapshot.PodStatus, Why: snapshot.Partial},
	} {
		h.Snapshot.Gaps = append(h.Snapshot.Gaps, Gap{Gap: g})
	}
	for what, want := range map[snapshot.What]bool{snapshot.Pods: true, snapshot.Revisions: true, snapshot.Nodes: false, snapshot.Events: false} {
		if got := h.Lacks(what); got != want {
			t.Errorf("lacks %s: %t", what, got)
		}
	}
	if diff := cmp.Diff([]snapshot.What{snapshot.Pods, snapshot.PodStatus}, h.Snapshot.Unread()); diff != "" {
		t.Errorf("unread (-want +got):\n%s", diff)
	}
}
