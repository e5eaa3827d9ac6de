package daemonset

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want Header
		why  string
	}{
		{"N", nil, header("v1.37.1", snapshot.VersionServer, nil, Assumption{AssumeControllerVersion, "v1.37.1", "Server"}), "the server's version is taken for the controller's"},
		{"N", options{under("v1.30.4", snapshot.VersionFlag)}, header("v1.30.4", snapshot.VersionFlag, nil), "a version that was asked for is no assumption"},
		{"N", options{under("v1.39.0", snapshot.VersionDump)}, header("v1.39.0", snapshot.VersionDump, nil, Assumption{AssumeControllerVersion, "v1.39.0", "Dump"}, Assumption{AssumeNewestRules, "v1.37", "Dump"}), "one that is too new has the newest rules"},
		{"N", options{gap(snapshot.Revisions, snapshot.Forbidden), gap(snapshot.Nodes, snapshot.Forbidden)}, header("v1.37.1", snapshot.VersionServer, gaps(snapshot.Revisions, snapshot.Nodes),
			Assumption{AssumeControllerVersion, "v1.37.1", "Server"}, Assumption{AssumeCurrentRevision, "new", "TemplateGeneration"}, Assumption{AssumeMayStay, "", "pods"}), "what stands in for a gap is assumed"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, tt.opts...)
			if diff := cmp.Diff(tt.want, NewHeader("Explanation", s, state(t, s))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
