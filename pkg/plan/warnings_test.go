package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// TestEvictions checks for which taints running pods are evicted although the new template tolerates them.
func TestEvictions(t *testing.T) {
	taint := func(effect corev1.TaintEffect) *corev1.Taint {
		return &corev1.Taint{Key: "maint", Value: "true", Effect: effect}
	}
	change := func(effect corev1.TaintEffect, nodes string, tolerates ...string) *whatif.Change {
		c := &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeTaint, Which: nodes, Taint: taint(effect)}}}
		for _, key := range tolerates {
			c.Tolerations = append(c.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
		}
		return c
	}
	const execute, schedule = corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule
	tolerant := dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "maint", Operator: corev1.TolerationOpExists}}
	})
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		change  *whatif.Change
		want    int
		why     string
	}{
		{"N N N", nil, change(execute, "*", "maint"), 3, "all of them"},
		{"N N N", nil, change(execute, "n1", "maint"), 1, "those of the nodes that get the taint"},
		{"N - Nt", nil, change(execute, "*", "maint"), 1, "those that are there and stay"},
		{"N N N", nil, change(schedule, "*", "maint"), 0, "the taint evicts nobody"},
		{"N N N", nil, change(execute, "*"), 0, "no template tolerates it: the nodes lose their pod"},
		{"N N N", nil, change(execute, "*", "other"), 0, "nor does the new one"},
		{"N N N", []dstest.Option{tolerant}, change(execute, "*", "other"), 0, "the pods tolerate it already"},
		{"N N N", nil, &whatif.Change{Restart: true}, 0, "no taint"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			r, err := whatif.Make(stateOf(t, dstest.State(tt.grid, tt.options...)), tt.change)
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, w := range evictions(r.Before, r.State) {
				if got += w.Facts.Int("count"); w.Facts.Text("taint") != "maint=true:NoExecute" {
					t.Errorf("taint %s", w.Facts.Text("taint"))
				}
			}
			if got != tt.want {
				t.Errorf("%d pods, want %d", got, tt.want)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	ports := func(host bool) dstest.Option {
		return dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			port := corev1.ContainerPort{ContainerPort: 9100}
			if host {
				port.HostPort = 9100
			}
			ds.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{port}
		})
	}
	network := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.HostNetwork = true })
	emptyHash := dstest.Patch("revisions/agent-old", `{"metadata":{"labels":{"controller-revision-hash":""}}}`)
	noGeneration := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Annotations = nil })
	undo := &whatif.Change{ToRevision: new(int64(1))}
	surge := &whatif.Change{MaxSurge: dstest.Limit("1"), MaxUnavailable: dstest.Limit("0")}
	hostPort := []Warning{{SurgeHostPort, daemonset.Facts{"ports": []string{"9100/TCP"}}}}
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		change  *whatif.Change
		want    []Warning
		why     string
	}{
		{"N", []dstest.Option{ports(true)}, surge, hostPort, "a surge with a host port"},
		{"N", []dstest.Option{ports(false)}, surge, nil, "a port of the pod's own"},
		{"N", []dstest.Option{ports(false), network}, surge, hostPort, "which the host's network makes one of the node"},
		{"N", []dstest.Option{ports(true)}, &whatif.Change{Restart: true}, nil, "a host port without a surge"},
		{"N", []dstest.Option{ports(true), dstest.MaxSurge("1")}, &whatif.Change{Restart: true}, hostPort, "with the surge that it has"},
		{"O O N Ot #O", []dstest.Option{dstest.OnDelete()}, &whatif.Change{Strategy: "RollingUpdate"}, []Warning{{StartsRollout, daemonset.Facts{"pods": 2}}}, "what OnDelete left behind, where it may stay and does not go already"},
		{"N N", []dstest.Option{dstest.OnDelete()}, &whatif.Change{Strategy: "RollingUpdate"}, nil, "nothing left behind"},
		{"O O", nil, &whatif.Change{Strategy: "OnDelete"}, nil, "the other way round"},
		{"O O", nil, &whatif.Change{MaxUnavailable: dstest.Limit("2")}, nil, "a rollout that is under way"},
		{"N", []dstest.Option{emptyHash, noGeneration}, undo, []Warning{{NeverUpdated, daemonset.Facts{"revision": "agent-old"}}}, "a rollback to a revision with an empty hash"},
		{"N", []dstest.Option{emptyHash, dstest.Version("v1.23.1")}, undo, []Warning{{NeverUpdated, daemonset.Facts{"revision": "agent-old"}}}, "in a version that goes by the hash alone"},
		{"N", []dstest.Option{emptyHash}, undo, nil, "where the template's generation tells the pods"},
		{"N", []dstest.Option{noGeneration}, undo, nil, "where the hash does"},
		{"N", []dstest.Option{emptyHash, noGeneration, dstest.OnDelete()}, undo, nil, "where nobody replaces them"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, tt.options...)
			r, err := whatif.Make(stateOf(t, s), tt.change)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, warnings(r.Before, r.State)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := warnings(nil, stateOf(t, dstest.State("N", ports(true), dstest.MaxSurge("1")))); cmp.Diff(hostPort, got) != "" {
		t.Errorf("of a DaemonSet as it is: %v", got)
	}
	if got := warnings(nil, stateOf(t, dstest.State("O"))); got != nil {
		t.Errorf("where nothing was changed: %v", got)
	}
}
