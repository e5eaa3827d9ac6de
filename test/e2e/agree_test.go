package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestAgreesWithTheController compares the computed with the reported numbers through whole rollouts, whenever the
// status had settled.
//
// Settled is told by the record of every change: the snapshot holds exactly what there was when the status was written,
// nothing was still expected (see moment), what happened next was not a further write of the status, which the
// controller still owed, and did not follow so soon that the controller may not have seen what came before, and no pod
// became available by the clock alone since it was written. Each written status is compared once.
func TestAgreesWithTheController(t *testing.T) {
	ctx := t.Context()
	c := stage.New(t, stage.Options{})
	plugin, err := stage.BuildPlugin(ctx)
	must(t, err)
	c.PluginDir = plugin
	const nodes = 36
	must(t, c.AddNodes(ctx, stage.Nodes(nodes, "node-%02d")...))
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1")
	must(t, c.CreateNamespace(ctx, ds.Namespace))
	r := newRecord(t, c, ds.Namespace)
	ds.Spec.Template.Annotations = map[string]string{stage.ReadyAfter: "500ms", stage.ReadyBefore: "900ms", stage.StopAfter: "500ms"}
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))

	number, percent := intstr.FromInt32, intstr.FromString
	rollouts := []struct {
		name               string
		unavailable, surge intstr.IntOrString
		minReadySeconds    int32
	}{
		{name: "maxUnavailable 1", unavailable: number(1)},
		{name: "maxUnavailable 25%", unavailable: percent("25%")},
		{name: "maxSurge 2", surge: number(2)},
		{name: "maxUnavailable 4, minReadySeconds 5", unavailable: number(4), minReadySeconds: 5},
		{name: "maxSurge 1", surge: number(1)},
		{name: "maxUnavailable 2", unavailable: number(2)},
		{name: "maxUnavailable 5%", unavailable: percent("5%")},
	}
	total := &tally{distinct: map[string]bool{}}
	const most = 4 // times through all of them: how many reads meet a settled status depends on the machine
	for i := 0; i < len(rollouts) || i < most*len(rollouts) && !total.enough(); i++ {
		ro := rollouts[i%len(rollouts)]
		must(t, c.Update(ctx, ds.Namespace, ds.Name, func(ds *appsv1.DaemonSet) {
			ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &ro.unavailable, MaxSurge: &ro.surge}
			ds.Spec.MinReadySeconds = ro.minReadySeconds
			ds.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("acme/node-agent:%d", i+2)
		}))
		samples := follow(t, c, ds)
		catchUp(t, c, r, ds)
		one := &tally{distinct: total.distinct}
		for n, raw := range samples {
			one.add(t, r, plugin, filepath.Join(t.TempDir(), strconv.Itoa(n)+".json"), raw)
		}
		t.Logf("%-36s %s", ro.name, one)
		total.merge(one)
	}
	t.Logf("%-36s %s, %d distinct sets of numbers", "all", total, len(total.distinct))
	if !total.enough() {
		t.Errorf("too few comparisons: at least 200, 100 of them in the middle of a rollout, of 60 distinct sets are needed")
	}
	if total.differ > 0 {
		t.Errorf("%d differences", total.differ)
	}
}

// follow takes snapshots through kubectl until the rollout has ended, and one more.
func follow(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) [][]byte {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { cancel(c.WaitRollout(t.Context(), ds.Namespace, ds.Name)) }()
	var samples [][]byte
	for last := false; ; {
		result, err := c.KubectlAs(t.Context(), stage.Reader, "ds", "snapshot", "-n", ds.Namespace, ds.Name)
		must(t, err)
		if result.Code != 0 || result.Stderr != "" {
			t.Fatalf("snapshot ended with %d: %s", result.Code, result.Stderr)
		}
		samples = append(samples, []byte(result.Stdout))
		if last {
			break
		}
		last = ctx.Err() != nil
	}
	if err := context.Cause(ctx); err != context.Canceled {
		must(t, err)
	}
	return samples
}

// catchUp waits until the record holds all that happened before the call.
func catchUp(t *testing.T, c *stage.Cluster, r *record, ds *appsv1.DaemonSet) {
	t.Helper()
	ctx := t.Context()
	mark := []byte(`{"metadata":{"annotations":{"test/mark":"` + strconv.Itoa(len(r.events)) + `"}}}`)
	pods, err := c.Pods(ctx, ds.Namespace, ds.Name)
	must(t, err)
	for i := range pods[:min(1, len(pods))] {
		pod, err := c.Client.CoreV1().Pods(ds.Namespace).Patch(ctx, pods[i].Name, "application/merge-patch+json", mark, metav1.PatchOptions{})
		must(t, err)
		pods[i] = *pod
	}
	node, err := c.Client.CoreV1().Nodes().Patch(ctx, "node-01", "application/merge-patch+json", mark, metav1.PatchOptions{})
	must(t, err)
	set, err := c.Client.AppsV1().DaemonSets(ds.Namespace).Patch(ctx, ds.Name, "application/merge-patch+json", mark, metav1.PatchOptions{})
	must(t, err)
	revisions, err := c.Client.AppsV1().ControllerRevisions(ds.Namespace).List(ctx, metav1.ListOptions{})
	must(t, err)
	must(t, c.WaitFor(ctx, "the record to catch up", func(context.Context) (bool, error) {
		all := (len(pods) == 0 || r.seen("pod", versionOf(t, &pods[0]))) && r.seen("node", versionOf(t, node)) && r.seen("daemonset", versionOf(t, set))
		for i := range revisions.Items {
			all = all && r.seen("controllerrevision", versionOf(t, &revisions.Items[i]))
		}
		return all, nil
	}))
}

// tally counts what was compared.
type tally struct {
	read, moving, owed, repeated int
	compared, inside, differ     int
	distinct                     map[string]bool
	done                         map[int64]bool
}

func (a *tally) String() string {
	return fmt.Sprintf("%3d read: %3d while something moved, %2d with a status owed, %3d read again; %3d compared, %3d of them in the middle, %d differences",
		a.read, a.moving, a.owed, a.repeated, a.compared, a.inside, a.differ)
}

func (a *tally) enough() bool { return a.compared >= 200 && a.inside >= 100 && len(a.distinct) >= 60 }

func (a *tally) merge(b *tally) {
	a.read += b.read
	a.moving += b.moving
	a.owed += b.owed
	a.repeated += b.repeated
	a.compared += b.compared
	a.inside += b.inside
	a.differ += b.differ
}

// add judges one snapshot, and compares if its status had settled.
func (a *tally) add(t *testing.T, r *record, plugin, file string, raw []byte) {
	t.Helper()
	a.read++
	var s struct {
		TakenAt   time.Time
		DaemonSet appsv1.DaemonSet
		Revisions []appsv1.ControllerRevision
		Pods      []corev1.Pod
		Nodes     []metav1.PartialObjectMetadata
	}
	must(t, json.Unmarshal(raw, &s))
	held := state{"daemonset/" + s.DaemonSet.Name: versionOf(t, &s.DaemonSet)}
	for i := range s.Revisions {
		held["controllerrevision/"+s.Revisions[i].Name] = versionOf(t, &s.Revisions[i])
	}
	for i := range s.Pods {
		held["pod/"+s.Pods[i].Name] = versionOf(t, &s.Pods[i])
	}
	for i := range s.Nodes {
		held["node/"+s.Nodes[i].Name] = versionOf(t, &s.Nodes[i])
	}
	version := versionOf(t, &s.DaemonSet)
	m := r.at(version)
	if m.next.version == 0 {
		t.Fatalf("the record ends at version %d", version)
	}
	switch {
	case !m.last.status || !m.objects.equal(held):
		a.moving++
		return
	case m.next.status || m.expecting || !m.calm() || matured(&s.DaemonSet, s.Pods, s.TakenAt):
		a.owed++
		return
	case a.done[version]:
		a.repeated++
		return
	}
	if a.done == nil {
		a.done = map[int64]bool{}
	}
	a.done[version] = true
	a.compare(t, plugin, file, raw)
}

// matured reports whether a pod may have become available between the write of the status, as its manager's time says,
// and the snapshot. Both are whole seconds.
func matured(ds *appsv1.DaemonSet, pods []corev1.Pod, taken time.Time) bool {
	var written time.Time
	for _, m := range ds.ManagedFields {
		if m.Subresource == "status" && m.Time.After(written) {
			written = m.Time.Time
		}
	}
	for i := range pods {
		for _, c := range pods[i].Status.Conditions {
			at := c.LastTransitionTime.Add(time.Duration(ds.Spec.MinReadySeconds) * time.Second)
			if ds.Spec.MinReadySeconds > 0 && c.Type == corev1.PodReady && !at.Before(written) && !at.After(taken) {
				return true
			}
		}
	}
	return false
}

type counts struct {
	DesiredNumberScheduled, CurrentNumberScheduled, NumberMisscheduled, NumberReady, UpdatedNumberScheduled, NumberAvailable, NumberUnavailable int
}

func (a *tally) compare(t *testing.T, plugin, file string, raw []byte) {
	t.Helper()
	must(t, os.WriteFile(file, raw, 0o600))
	cmd := exec.CommandContext(t.Context(), filepath.Join(plugin, "kubectl-ds"), "explain", "node-agent", "--from", file, "-o", "json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("explain: %v: %s", err, &stderr)
	}
	var e struct {
		Status struct {
			Reported counts
			Computed *counts
			Agrees   *bool
		}
	}
	must(t, json.Unmarshal(out, &e))
	a.compared++
	reported, computed := e.Status.Reported, e.Status.Computed
	if computed == nil || *computed != reported || e.Status.Agrees == nil || !*e.Status.Agrees {
		a.differ++
		t.Errorf("the status had settled, but\nreported %+v\ncomputed %+v", reported, computed)
		return
	}
	if reported.UpdatedNumberScheduled < reported.DesiredNumberScheduled || reported.NumberAvailable < reported.DesiredNumberScheduled {
		a.inside++
	}
	a.distinct[fmt.Sprint(reported)] = true
}
