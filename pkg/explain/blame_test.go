package explain_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestNodesOrRollout tests whether nodes went down before the rollout, which
// began two minutes ago, had changed anything there. Each row has the expected
// result (before, after, or neither), whether the rollout had not touched the
// nodes, and the certainty.
func TestNodesOrRollout(t *testing.T) {
	const seven, eight = "7", "8"
	for _, tt := range []struct {
		why    string
		status string // of the node's condition Ready
		down   string // when the node became NotReady
		on     string // the revision of its pod
		asked  string // when the pod's deletion was requested; empty if it was not
		limit  string
		want   string
	}{
		{"long before", "Unknown", "-10m", seven, "-110s", "maxUnavailable: 1", "before, untouched, Certain"},
		{"a minute before is before", "Unknown", "-3m", seven, "-110s", "maxUnavailable: 1", "before, untouched, Certain"},
		{"a second less tells nothing, but no pod was created there", "Unknown", "-179s", seven, "-110s", "maxUnavailable: 1", "neither, untouched, Certain"},
		{"one second before", "Unknown", "-121s", seven, "-119s", "maxUnavailable: 1", "neither, untouched, Certain"},
		{"nor was the old one deleted", "Unknown", "-100s", seven, "", "maxUnavailable: 1", "neither, untouched, Certain"},
		{"the old pod was deleted before, and the node may have needed it", "Unknown", "-100s", seven, "-110s", "maxUnavailable: 1", "neither, touched, Likely"},
		{"at the same moment a silent kubelet was silent already", "Unknown", "-110s", seven, "-110s", "maxUnavailable: 1", "neither, untouched, Certain"},
		{"what a kubelet reports has its own clock", "False", "-110s", seven, "-100s", "maxUnavailable: 1", "neither, touched, Likely"},
		{"by a minute", "False", "-110s", seven, "-50s", "maxUnavailable: 1", "neither, untouched, Certain"},
		{"long after, but nothing was done there", "False", "-30s", seven, "", "maxUnavailable: 1", "after, untouched, Certain"},
		{"a new pod is there", "Unknown", "-100s", eight, "", "maxUnavailable: 1", "neither, touched, Likely"},
		{"and was long before the node was down", "Unknown", "-30s", eight, "", "maxUnavailable: 1", "after, touched, Certain"},
		{"a new pod that surged may have been there and gone", "Unknown", "-100s", seven, "", "maxSurge: 1, maxUnavailable: 0", "neither, touched, Likely"},
		{"but not on a node that was down long before", "Unknown", "-10m", seven, "", "maxSurge: 1, maxUnavailable: 0", "before, touched, Certain"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			pod := "status: {conditions: [{type: Ready, status: \"False\", lastTransitionTime: " + tt.down + "}]}"
			if tt.asked != "" {
				pod += ", metadata: {deletionTimestamp: " + tt.asked + ", deletionGracePeriodSeconds: 0}"
			}
			s := world.Parse(t, fmt.Sprintf(`
daemonset: {spec: {updateStrategy: {rollingUpdate: {%s}}, template: {spec: {tolerations: [{operator: Exists}]}}}}
revisions: {7: -9d, 8: -2m}
nodes: {n1: {}, n2: {}, n3: {}, n4: {status: {conditions: [{type: Ready, status: %q, lastTransitionTime: %s}]}}}
pods: {"n[1-3] 7": {}, "n4 %s": {%s}}
`, tt.limit, tt.status, tt.down, tt.on, pod))
			profile, err := daemonset.ForVersion(s.KubernetesVersion)
			if err != nil {
				t.Fatal(err)
			}
			st, err := daemonset.New(s, profile)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range explain.Explain(st, explain.Options{}).Problems {
				if o := p.Blame; o != nil && len(p.Nodes) == 1 && p.Nodes[0] == "n4" {
					when := "neither"
					if o.BeforeRollout != nil {
						when = map[bool]string{true: "before", false: "after"}[*o.BeforeRollout]
					}
					got = append(got, when+", "+map[bool]string{true: "untouched", false: "touched"}[o.Untouched]+", "+string(o.Certainty))
				}
			}
			if strings.Join(got, "; ") != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestPlacementBlame tests whose fault it is that no node is eligible, if no
// revision explains it.
func TestPlacementBlame(t *testing.T) {
	selects := func(value string) dstest.Option {
		return dstest.Edit(func(s *snapshot.Snapshot) {
			s.Revisions = nil
			s.DaemonSet.Spec.Template.Spec.NodeSelector = map[string]string{"pool": value}
			for i := range s.Nodes {
				s.Nodes[i].Labels["pool"] = "a"
			}
		})
	}
	taint := func(key string) dstest.Option {
		return dstest.Node("n0", func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: key, Effect: corev1.TaintEffectNoSchedule}} })
	}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"!-", []dstest.Option{selects("a")}, "Template Likely", "the template picks a pool, and does not tolerate its taint"},
		{"!-", nil, "Unknown Unknown", "it picks none: whether it should run there is open"},
		{"!N", []dstest.Option{selects("a")}, "Unknown Unknown", "a pod is there, which was before the taint"},
		{"-", []dstest.Option{selects("b")}, "Unknown Unknown", "the node lacks a label, or the template asks for a wrong one"},
		{"-", []dstest.Option{taint(corev1.TaintNodeNotReady)}, "Node Certain", "the node is not ready"},
		{"-", []dstest.Option{taint("ToBeDeletedByClusterAutoscaler")}, "Node Certain", "the node is being removed"},
		{"-", []dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.NodeName = "x" }), dstest.Edit(func(s *snapshot.Snapshot) { s.Revisions = nil })},
			"Template Likely", "the template names another node"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, e := explanation(t, dstest.State(tt.grid, tt.options...), explain.Options{})
			p := e.Has(cause.NoEligibleNode)
			if p == nil || p.Blame == nil {
				t.Fatalf("%+v", p)
			}
			if got := fmt.Sprint(p.Blame.Who, " ", p.Blame.Certainty); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestTaintedButSelected tests which taints of selected nodes are reported. n0
// runs the pod; n1 is the other node.
func TestTaintedButSelected(t *testing.T) {
	for _, tt := range []struct {
		grid  string
		label string // the label that the template selects by
		taint string // of n1
		want  string
		why   string
	}{
		{"N -", "pool", "dedicated", "[n1]", "another node of the pool"},
		{"N -", "kubernetes.io/os", "dedicated", "[]", "every node has an operating system"},
		{"N -", "", "dedicated", "[]", "the template picks none"},
		{"N -", "pool", "node-role.kubernetes.io/control-plane", "[]", "a control plane is meant to be left out"},
		{"N -", "pool", "node.kubernetes.io/not-ready", "[]", "and so is a node that is not ready"},
		{"N -", "pool", "ToBeDeletedByClusterAutoscaler", "[]", "or is being removed"},
		{"N N", "pool", "dedicated", "[]", "a pod that is there is misscheduled, which says it"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid)
			for i := range s.Nodes {
				s.Nodes[i].Labels["pool"], s.Nodes[i].Labels["kubernetes.io/os"] = "a", "a"
			}
			if tt.label != "" {
				s.DaemonSet.Spec.Template.Spec.NodeSelector = map[string]string{tt.label: "a"}
			}
			s.Nodes[1].Spec.Taints = []corev1.Taint{{Key: tt.taint, Effect: corev1.TaintEffectNoSchedule}}
			_, e := explanation(t, s, explain.Options{})
			nodes := []string{}
			if p := e.Has(explain.TaintedButSelected); p != nil {
				nodes = p.Nodes
			}
			if got := fmt.Sprint(nodes); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
