package dstest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func TestPatch(t *testing.T) {
	for _, tt := range []struct {
		patch, same Option
		why         string
	}{
		{Patch("nodes/n0", `{"metadata":{"labels":{"disk":"ssd","kubernetes.io/os":null}}}`), Node("n0", func(n *corev1.Node) {
			n.Labels["disk"] = "ssd"
			delete(n.Labels, "kubernetes.io/os")
		}), "what a patch names is set, null removes it, and the rest stays"},
		{Patch("pods/p0", `{"status":{"conditions":[]},"spec":{"affinity":{"nodeAffinity":null}}}`), Pod("p0", func(p *corev1.Pod) {
			p.Status.Conditions, p.Spec.Affinity.NodeAffinity = []corev1.PodCondition{}, nil
		}), "a list is replaced"},
		{Patch("daemonset", `{"spec":{"template":{"spec":{"hostNetwork":true}}}}`), DaemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.HostNetwork = true
		}), "the revisions store the template as it is afterwards"},
		{Patch("daemonset", `{"metadata":{"generation":9007199254740993}}`), DaemonSet(func(ds *appsv1.DaemonSet) { ds.Generation = 1<<53 + 1 }), "numbers are kept to the last digit"},
		{Patch("revisions/agent-old", `{"data":{"b":null,"a":"<"}}`), Revision("agent-old", func(r *appsv1.ControllerRevision) {
			r.Data.Raw = []byte(`{"b":null,"a":"<"}`)
		}), "data are replaced to the byte"},
		{Patch("revisions/agent-old", `null`), Edit(func(s *snapshot.Snapshot) { s.Revisions = s.Revisions[1:] }), "null removes a revision"},
		{Patch("snapshot", `{"gaps":[{"what":"events","why":"Forbidden"}]}`), Edit(func(s *snapshot.Snapshot) {
			s.Gaps = []snapshot.Gap{{What: snapshot.Events, Why: snapshot.Forbidden}}
		}), "what is no object is a field of the snapshot"},
		{Rename("n0", "n1", "n1", "n0"), Edit(func(s *snapshot.Snapshot) {
			for i, name := range []string{"n1", "n0"} {
				s.Nodes[i].Name, s.Nodes[i].Labels[corev1.LabelHostname], s.Pods[i].Spec.NodeName, s.Pods[i].Spec.Affinity = name, name, name, nodeAffinity(targeting(name))
			}
		}), "names are given at once, wherever they stand"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if diff := cmp.Diff(State("O n", tt.same), State("O n", tt.patch)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPatchRefuses(t *testing.T) {
	for _, tt := range []struct {
		option Option
		want   string
		why    string
	}{
		{Patch("pods/p7", `{}`), "patch of pods/p7: there is none", "an object that is not there"},
		{Patch("services/x", `{}`), "patch of services/x: it is none of", "a kind that a Snapshot does not have"},
		{Patch("pods/p0", `{"spec":{"node":"n1"}}`), `unknown field "node"`, "a field that the type does not have"},
		{Patch("daemonset", `{"spec":`), "patch of daemonset: unexpected EOF", "what is no JSON"},
		{Patch("snapshot", `{"clock":1}`), `unknown field "clock"`, "a field that a Snapshot does not have"},
		{Rename("n0"), `"n0" has no new name`, "half a pair"},
		{Rename("n0", "n1"), `"n1" stands there twice`, "a name that is taken"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if _, err := Parse("O n", tt.option); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want an error with %q", err, tt.want)
			}
		})
	}
}
