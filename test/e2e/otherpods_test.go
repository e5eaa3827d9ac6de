package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestOtherPods checks that the real API server supports the selectors for rows and has the objects
// that admission needs.
func TestOtherPods(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{})
	must(t, c.AddNodes(ctx, stage.Nodes(2, "node-%02d")...))
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1")
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
	must(t, c.CreateNamespace(ctx, "apps"))
	nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	must(t, err)
	first, second := nodes.Items[0].Name, nodes.Items[1].Name

	pods := c.Client.CoreV1().Pods("apps")
	create := func(name, node string, phase corev1.PodPhase, nominated string) {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}}}
		if p.Spec.NodeName = node; node == "" { // nothing schedules it
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "stage.test/waits"}}
		}
		p.Spec.Containers = []corev1.Container{{Name: "c", Image: "acme/web:1", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}}}}
		made, err := pods.Create(ctx, p, metav1.CreateOptions{})
		must(t, err)
		if phase != "" || nominated != "" {
			made.Status.Phase, made.Status.NominatedNodeName = phase, nominated
			if phase == "" {
				made.Status.Phase = corev1.PodPending
			}
			_, err = pods.UpdateStatus(ctx, made, metav1.UpdateOptions{})
			must(t, err)
		}
	}
	create("on-first", first, "", "")
	create("on-second", second, "", "")
	create("waits", "", "", first)
	create("free", "", "", "")
	create("done", "", corev1.PodSucceeded, first)
	_, err = c.Client.PolicyV1().PodDisruptionBudgets("apps").Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}, metav1.CreateOptions{})
	must(t, err)

	cluster, err := cluster.NewCluster(c.Config, time.Now)
	must(t, err)
	s, err := cluster.Read(ctx, source.Ref{Namespace: ds.Namespace, Name: ds.Name})
	must(t, err)
	for _, tt := range []struct {
		nodes []string
		want  string
	}{
		{nil, "on-first@1 on-second@2 waits@1"},
		{[]string{first}, "on-first@1 waits@1"},
		{[]string{second}, "on-second@2"},
		{[]string{second, first}, "on-first@1 on-second@2 waits@1"},
	} {
		got, err := cluster.AddOtherPods(ctx, []*snapshot.Snapshot{s}, tt.nodes)
		must(t, err)
		if len(got[0].Gaps) > 0 {
			t.Fatalf("gaps: %v", got[0].Gaps)
		}
		var words []string
		for _, p := range got[0].OtherPods.Pods {
			words = append(words, fmt.Sprintf("%s@%d", p.Name, map[string]int{first: 1, second: 2}[p.Node]))
			if p.Namespace != "apps" || p.Requests.MilliCPU != 100 || len(p.Budgets) != 1 || p.Nominated != (p.Name == "waits") {
				t.Errorf("row %+v", p)
			}
		}
		if diff := cmp.Diff(tt.want, strings.Join(words, " ")); diff != "" {
			t.Errorf("of nodes %v (-want +got):\n%s", tt.nodes, diff)
		}
	}

	got, err := cluster.AddAdmission(ctx, part.Creation{Of: s})
	must(t, err)
	if a := got[0].Admission; len(got[0].Gaps) > 0 || a.Namespace == nil || len(a.PriorityClasses) != 2 {
		t.Errorf("gaps %v, admission %+v", got[0].Gaps, a)
	}

	written, err := snapshot.Decode([]byte(answer(t, c, stage.Reader, "ds", "snapshot", "--fit", "-n", ds.Namespace, ds.Name)))
	must(t, err)
	if written.OtherPods == nil || len(written.OtherPods.Pods) != 3 || written.Admission == nil || written.Lacks(snapshot.PodsOfOthers) {
		t.Errorf("gaps %v, rows %v", written.Gaps, written.OtherPods)
	}
}
