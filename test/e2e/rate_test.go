package e2e

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestRequestRate rolls out to all nodes at once with kube-controller-manager's default request
// rate, which then limits the rollout. The plan must predict this; with ten times the rate, it
// would be over several times sooner.
func TestRequestRate(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := stage.New(t, stage.Options{ControllerQPS: 20})
	must(t, c.AddNodes(ctx, stage.Nodes(120, "node-%03d")...))
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1")
	all, none := intstr.FromString("100%"), intstr.FromInt32(0)
	ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &all, MaxSurge: &none}
	ds.Spec.Template.Annotations = map[string]string{stage.ReadyAfter: "1s", stage.StopAfter: "500ms"}
	must(t, c.CreateNamespace(ctx, ds.Namespace))
	r := newRecord(t, c, ds.Namespace)
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
	must(t, c.SetImage(ctx, ds.Namespace, ds.Name, "acme/node-agent:2"))
	changed := lastChange(t, c, r, ds)
	start := r.replay(r.until(changed.version+1), changed.seen)
	ended, stalled := end(t, c, r)
	if stalled {
		t.Fatal("the rollout stands still")
	}
	took := ended.Sub(changed.seen).Seconds()

	expected := func(o plan.Options) float64 {
		p := planned(t, start, o)
		if p.Outcome.Code != plan.Completes {
			t.Fatalf("planned as %s", brief(p))
		}
		return p.Outcome.Duration.Expected
	}
	// The times of pods are those of this rollout, because the scheduler and the kubelets are
	// slower on a busy machine.
	seen := learn(t, r, &run{rollout: &rollout{name: "all at once"}, from: changed.version, to: r.newest() + 1}, nil)
	begin, stop := 1200*time.Millisecond, 500*time.Millisecond
	own := expected(plan.Options{Starts: seen.Starts, Termination: seen.Termination})
	fast := expected(plan.Options{Starts: []time.Duration{begin}, Termination: &stop, RequestRate: 200, RequestBurst: 300})
	t.Logf("took %.1f s; %.1f s were expected, and %.1f s at ten times the rate", took, own, fast)
	if ratio := took / own; ratio < 0.7 || ratio > 1.4 {
		t.Errorf("took %.2f times as long as was expected", ratio)
	}
	if took < 2*fast {
		t.Error("the rate of requests made no difference")
	}
}
