package oracle

import (
	"reflect"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
)

// world returns a cluster of three nodes, each with a ready old pod, p0 to p2, and without a
// script.
func world(edit func(*cluster)) *cluster {
	c := newCluster(dstest.State("O O O"), script{seed: 1})
	if edit != nil {
		edit(c)
	}
	c.plan()
	return c
}

func TestClusterGoesOn(t *testing.T) {
	pod := func(c *cluster) *corev1.Pod { return &c.now.Pods[0] }
	const gone = "gone"
	for _, tt := range []struct {
		edit     func(c *cluster)
		from, to int // ticks at which it happens; 0: never
		want     string
		why      string
	}{
		{func(c *cluster) { unplaced(pod(c)) }, 1, 1, "Pending on its node", "a new pod is bound at the next tick"},
		{func(c *cluster) { unplaced(pod(c)) }, 2, 4, "Running ready", "and ready after one to three more"},
		{func(c *cluster) { unplaced(pod(c)); pod(c).Spec.Containers[0].Image = brokenImage }, 0, 0, "Running ready", "a broken one never is"},
		{func(c *cluster) { c.delete(pod(c).Name) }, 1, 3, gone, "a deleted pod is gone after one to three"},
		{func(c *cluster) { pod(c).Finalizers = []string{"x"}; c.delete(pod(c).Name) }, 4, 8, gone, "later if a finalizer holds it"},
		{func(c *cluster) { c.now.Nodes = c.now.Nodes[1:] }, 4, 8, gone, "the pods of a vanished node are collected"},
		{func(c *cluster) { unplaced(pod(c)); c.now.Nodes = c.now.Nodes[1:] }, 0, 0, gone, "but not one that was never bound"},
		{func(c *cluster) { pod(c).Status.Phase = corev1.PodFailed }, 300, 600, gone, "a pod that has ended is left to the controller for long"},
		{nil, 0, 0, gone, "a ready pod stays"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			c := world(tt.edit)
			name := c.now.Pods[0].Name
			got := 0
			for i := 1; i <= 700 && got == 0; i++ {
				c.advance(c.start.Add(time.Duration(i) * tick))
				if lookAt(c, name) == tt.want {
					got = i
				}
			}
			if got < tt.from || got > tt.to {
				t.Errorf("%s after %d ticks, not %d to %d", tt.want, got, tt.from, tt.to)
			}
		})
	}
}

// unplaced makes a pod one that the controller has just created.
func unplaced(p *corev1.Pod) {
	p.Name = dstest.Name + "-0001"
	p.Spec.NodeName = ""
	p.Status = corev1.PodStatus{Phase: corev1.PodPending}
}

// lookAt describes the state of a pod in a few words.
func lookAt(c *cluster, name string) string {
	i := c.indexOf(name)
	if i < 0 {
		return "gone"
	}
	p := &c.now.Pods[i]
	if _, ready := readySince(p); ready {
		return string(p.Status.Phase) + " ready"
	}
	if p.Spec.NodeName != "" {
		return string(p.Status.Phase) + " on its node"
	}
	return string(p.Status.Phase)
}

func TestClusterDelete(t *testing.T) {
	c := world(func(c *cluster) { unplaced(&c.now.Pods[0]) })
	c.delete(dstest.Name + "-0001")
	if got := lookAt(c, dstest.Name+"-0001"); got != "gone" {
		t.Errorf("a pod that no kubelet has: %s, not gone at once", got)
	}
	name := c.now.Pods[0].Name
	c.delete(name)
	first := c.snapshot()
	c.advance(c.start.Add(tick / 2))
	c.delete(name)
	if !reflect.DeepEqual(first.Pods, c.now.Pods) {
		t.Errorf("a second delete changes the pod from %v to %v", first.Pods[0].DeletionTimestamp, c.now.Pods[0].DeletionTimestamp)
	}
	if at := first.Pods[0].DeletionTimestamp; at == nil || !at.After(c.now.TakenAt) {
		t.Errorf("a pod that runs is deleted at %v: no grace period ahead", at)
	}
}

func TestClusterChanges(t *testing.T) {
	for _, kind := range changeKinds {
		t.Run(string(kind), func(t *testing.T) {
			c := world(func(c *cluster) {
				c.now.Nodes[0].Spec.Taints = []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoSchedule}}
				c.changes = []change{{2 * tick, kind, 1}}
			})
			before := c.snapshot()
			if made := c.advance(c.start.Add(tick)); len(made) > 0 {
				t.Errorf("made %v before its time", made)
			}
			if made := c.advance(c.start.Add(2 * tick)); !slices.Equal(made, []changeKind{kind}) {
				t.Errorf("made %v", made)
			}
			if reflect.DeepEqual(before.DaemonSet, c.now.DaemonSet) && reflect.DeepEqual(before.Nodes, c.now.Nodes) && reflect.DeepEqual(before.Pods, c.now.Pods) {
				t.Error("nothing is changed")
			}
			wantBump := slices.Contains([]changeKind{newTemplate, brokenTemplate, rollback}, kind)
			if got := before.DaemonSet.Annotations[appsv1.DeprecatedTemplateGeneration] != c.now.DaemonSet.Annotations[appsv1.DeprecatedTemplateGeneration]; got != wantBump {
				t.Errorf("template generation goes up: %t", got)
			}
		})
	}
}

func TestScriptsAreAllDifferent(t *testing.T) {
	seen := map[changeKind]bool{}
	for seed := range int64(200) {
		s := newScript(seed)
		if again := newScript(seed); !reflect.DeepEqual(s, again) {
			t.Fatalf("seed %d draws two scripts: %v and %v", seed, s, again)
		}
		if !slices.IsSortedFunc(s.changes, func(a, b change) int { return int(a.after - b.after) }) {
			t.Errorf("seed %d: out of order: %v", seed, s.changes)
		}
		for _, c := range s.changes {
			seen[c.kind] = true
		}
	}
	for _, k := range changeKinds {
		if !seen[k] {
			t.Errorf("no script of 200 has: %s", k)
		}
	}
}

func TestClusterSnapshot(t *testing.T) {
	c := world(func(c *cluster) { c.delete(c.now.Pods[0].Name) })
	c.now.Revisions[0].Finalizers = []string{"x"}
	c.now.Revisions[0].DeletionTimestamp = &metav1.Time{Time: c.start}
	c.plan()
	s := c.snapshot()
	pods, revisions := len(s.Pods), len(s.Revisions)
	c.advance(c.start.Add(20 * tick))
	if len(s.Pods) != pods || len(s.Revisions) != revisions || !s.TakenAt.Equal(c.start) {
		t.Error("a snapshot changes when the clock goes on")
	}
	if len(c.now.Pods) != pods-1 || len(c.now.Revisions) != revisions-1 {
		t.Errorf("%d pods and %d revisions: what is being deleted is not gone", len(c.now.Pods), len(c.now.Revisions))
	}
}
