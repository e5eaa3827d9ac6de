package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/agree"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestForecasts checks what plans predict for unusual rollouts, and that explain, plan-rollout and
// --watch do not contradict each other.
func TestForecasts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{NodeMonitorGracePeriod: 8 * time.Second})
	must(t, c.AddNodes(ctx, stage.Nodes(10, "node-%02d")...))
	for i, tt := range []struct {
		name               string
		unavailable, surge int32
		stop               string // time that a pod takes to end
		rules              []stage.Rule
		dead               []string // nodes that die before
		first              string   // node whose pod is replaced first
		during             func(t *testing.T, f *forecasts)
	}{
		{"two new pods fail their readiness probe and hold the surge", 0, 2, "300ms", []stage.Rule{
			{Node: "node-03", Image: "acme/node-agent:2", Behave: stage.ProbeFails}, {Node: "node-07", Image: "acme/node-agent:2", Behave: stage.ProbeFails},
		}, nil, "node-01", failingProbe},
		{"a grace period of 30 s, and pods that end in 2", 2, 0, "2s", nil, nil, "", endsSooner},
		{"a node leaves in the middle", 1, 0, "300ms", nil, nil, "", nodeLeaves},
		{"two nodes never get a pod", 4, 0, "300ms", nil, []string{"node-02", "node-05"}, "", twoDead},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ds := stage.NewDaemonSet("kube-system", fmt.Sprintf("agent-%d", i), "acme/node-agent:1")
			// A dead node stays eligible.
			ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
			ds.Spec.Template.Annotations = map[string]string{stage.ReadyAfter: "500ms", stage.ReadyBefore: "900ms", stage.StopAfter: tt.stop}
			unavailable, surge := intstr.FromInt32(tt.unavailable), intstr.FromInt32(tt.surge)
			ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &unavailable, MaxSurge: &surge}
			must(t, c.SetRules(ctx, tt.rules...))
			must(t, c.Create(ctx, ds))
			must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
			f := &forecasts{c: c, ds: ds}
			if len(tt.dead) > 0 {
				must(t, c.KillNodes(ctx, tt.dead...))
				must(t, c.WaitDaemonSet(ctx, ds.Namespace, ds.Name, "without the dead nodes", func(ds *appsv1.DaemonSet) bool {
					return int(ds.Status.NumberAvailable) == 10-len(tt.dead)
				}))
			}
			if tt.first != "" {
				f.replaceFirst(t, tt.first)
			}
			must(t, c.SetImage(ctx, ds.Namespace, ds.Name, "acme/node-agent:2"))
			tt.during(t, f)
			must(t, c.Client.AppsV1().DaemonSets(ds.Namespace).Delete(ctx, ds.Name, metav1.DeleteOptions{}))
		})
	}
}

// forecasts holds what is asked about a rollout in progress.
type forecasts struct {
	c  *stage.Cluster
	ds *appsv1.DaemonSet
}

// ask returns the plan of the current rollout after some time without changes, and its first line.
// All answers about that moment must agree.
func (f *forecasts) ask(t *testing.T, later time.Duration) (*plan.Plan, string) {
	t.Helper()
	var s snapshot.Snapshot
	must(t, json.Unmarshal([]byte(answer(t, f.c, stage.Reader, "ds", "snapshot", "-n", f.ds.Namespace, f.ds.Name)), &s))
	s.TakenAt = s.TakenAt.Add(later)
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	must(t, err)
	st, err := daemonset.New(&s, profile)
	must(t, err)
	if err := agree.Moment(st); err != nil {
		t.Error(err)
	}
	now := s.TakenAt.UTC().Format(time.RFC3339Nano)
	lines := answer(t, f.c, stage.Reader, "ds", "plan-rollout", "-n", f.ds.Namespace, f.ds.Name, "--now", now, "--color=never")
	t.Log("\n" + lines)
	first, _, _ := strings.Cut(strings.ReplaceAll(lines, "\n  ", " "), "\n")
	return plan.Make(st, plan.Options{}), first
}

// updated waits until n pods of the new revision are available.
func (f *forecasts) updated(t *testing.T, least int32) {
	t.Helper()
	must(t, f.c.WaitDaemonSet(t.Context(), f.ds.Namespace, f.ds.Name, "partly rolled out", func(ds *appsv1.DaemonSet) bool {
		return ds.Status.UpdatedNumberScheduled >= least
	}))
}

// replaceFirst replaces the pod on the node by one of the new image. The controller picks nodes at
// random; if the two that fail came first, the new revision would work nowhere, which is another
// case.
func (f *forecasts) replaceFirst(t *testing.T, node string) {
	ctx, strategy := t.Context(), f.ds.Spec.UpdateStrategy
	must(t, f.c.Update(ctx, f.ds.Namespace, f.ds.Name, func(ds *appsv1.DaemonSet) {
		ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
		ds.Spec.Template.Spec.Containers[0].Image = "acme/node-agent:2"
	}))
	pods, err := f.c.Pods(ctx, f.ds.Namespace, f.ds.Name)
	must(t, err)
	for _, p := range pods {
		if p.Spec.NodeName == node {
			must(t, f.c.Client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{}))
		}
	}
	must(t, f.c.WaitDaemonSet(ctx, f.ds.Namespace, f.ds.Name, "the first pod replaced", func(ds *appsv1.DaemonSet) bool {
		return ds.Status.UpdatedNumberScheduled == 1 && ds.Status.NumberAvailable == 10
	}))
	must(t, f.c.Update(ctx, f.ds.Namespace, f.ds.Name, func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy = strategy }))
}

func failingProbe(t *testing.T, f *forecasts) {
	var created time.Time // creation of the first of them
	must(t, f.c.WaitFor(t.Context(), "both pods to fail", func(ctx context.Context) (bool, error) {
		pods, err := f.c.Pods(ctx, f.ds.Namespace, f.ds.Name)
		failing := 0
		for _, p := range pods {
			running := slices.ContainsFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Running != nil })
			if p.Spec.Containers[0].Image == "acme/node-agent:2" && running && !stage.PodReady(&p) && slices.Contains([]string{"node-03", "node-07"}, p.Spec.NodeName) {
				failing++
				if created.IsZero() || p.CreationTimestamp.Time.Before(created) {
					created = p.CreationTimestamp.Time
				}
			}
		}
		return failing == 2, err
	}))
	both := []string{"node-03", "node-07"}
	p, first := f.ask(t, 40*time.Second)
	if a := p.Outcome.Alternatives; p.Outcome.Code != plan.Completes || len(a) != 1 || a[0].Condition != plan.PodsStayUnready || a[0].Code != plan.Stalls || !slices.Equal(a[0].Nodes, both) {
		t.Errorf("after 40 s: %s, %+v", p.Outcome.Code, a)
	}
	if !strings.HasPrefix(first, "MAY COMPLETE ") || !strings.Contains(first, "node-03, node-07") {
		t.Errorf("after 40 s: %s", first)
	}
	// On a slow machine they are older by now, and from some age on all new pods count as failing.
	p, first = f.ask(t, time.Until(created.Add(131*time.Second)))
	if a := p.Outcome.Alternatives; p.Outcome.Code != plan.Stalls || len(a) != 1 || a[0].Condition != plan.PodsBecomeReady || a[0].Code != plan.Completes || !slices.Equal(a[0].Nodes, both) {
		t.Errorf("after 130 s: %s, %+v", p.Outcome.Code, a)
	}
	if !strings.HasPrefix(first, "STAYS STUCK ") {
		t.Errorf("after 130 s: %s", first)
	}
	must(t, f.c.SetRules(t.Context()))
	must(t, f.c.WaitRollout(t.Context(), f.ds.Namespace, f.ds.Name))
}

func endsSooner(t *testing.T, f *forecasts) {
	f.updated(t, 4)
	began := time.Now()
	p, _ := f.ask(t, 0)
	must(t, f.c.WaitRollout(t.Context(), f.ds.Namespace, f.ds.Name))
	took := time.Since(began)
	i := slices.IndexFunc(p.Assumptions, func(a daemonset.Assumption) bool { return a.Code == plan.AssumeTermination })
	if i < 0 || p.Assumptions[i].Source != "Rollout" || p.Outcome.Duration == nil {
		t.Fatalf("%+v, %+v", p.Assumptions, p.Outcome)
	}
	d := p.Outcome.Duration
	t.Logf("said %.0f s (%.0f to %.0f), took %.0f s; a pod ends in %s", d.Expected, d.Optimistic, d.Pessimistic, took.Seconds(), p.Assumptions[i].Value)
	if left := float64(10 - p.Now.Updated); d.Expected > left/2*30/2 { // with the grace period, two at a time
		t.Errorf("%.0f s are expected for %.0f nodes", d.Expected, left)
	}
}

func nodeLeaves(t *testing.T, f *forecasts) {
	f.updated(t, 3)
	must(t, f.c.Client.CoreV1().Nodes().Delete(t.Context(), "node-10", metav1.DeleteOptions{}))
	p, _ := f.ask(t, 0)
	if p.Outcome.Code != plan.Completes || p.Outcome.Duration == nil || p.Desired.After != 9 {
		t.Errorf("%+v of %d", p.Outcome, p.Desired.After)
	}
	must(t, f.c.WaitRollout(t.Context(), f.ds.Namespace, f.ds.Name))
	must(t, f.c.AddNodes(t.Context(), stage.NewNode("node-10")))
}

func twoDead(t *testing.T, f *forecasts) {
	f.updated(t, 2)
	dead := []string{"node-02", "node-05"}
	p, first := f.ask(t, 0)
	if p.Outcome.Code != plan.Completes || !slices.Equal(plan.Nodes(p.Outcome.Holders), dead) || !strings.Contains(first, "node-02, node-05 stay without an available pod") {
		t.Errorf("%s; %+v", first, p.Outcome)
	}
	must(t, f.c.ReviveNodes(t.Context(), dead...))
}
