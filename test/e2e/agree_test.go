package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestAgreesWithTheController compares computed and reported numbers during rollouts of several
// DaemonSets, whenever a status has settled: as kubectl ds reads it, and from the record of every
// change.
//
// A status has settled according to the record, the controller's log and the audit log: the
// snapshot is of the moment when the status was written, nothing was expected (see moment), the
// next event was not another write of the status, the controller had synced again after seeing
// everything before, and no pod became available since by time alone. Each status is compared once
// in each way.
func TestAgreesWithTheController(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{LogSyncs: true})
	const nodes = 36
	must(t, c.AddNodes(ctx, stage.Nodes(nodes, "node-%02d")...))

	number, percent := intstr.FromInt32, intstr.FromString
	type rollout struct {
		name               string
		unavailable, surge intstr.IntOrString
		minReadySeconds    int32
	}
	var mu sync.Mutex
	read, recorded := newTally(), newTally()
	t.Run("of a DaemonSet in", func(t *testing.T) {
		for namespace, rollouts := range map[string][]rollout{
			"kube-system": {{name: "maxUnavailable 1", unavailable: number(1)},
				{name: "maxUnavailable 25%", unavailable: percent("25%")}},
			"logging":    {{name: "maxSurge 1", surge: number(1)}, {name: "maxSurge 2", surge: number(2)}},
			"monitoring": {{name: "maxUnavailable 4, minReadySeconds 5", unavailable: number(4), minReadySeconds: 5}},
			"storage": {{name: "maxUnavailable 2", unavailable: number(2)},
				{name: "maxUnavailable 5%", unavailable: percent("5%")}},
		} {
			t.Run(namespace, func(t *testing.T) {
				t.Parallel()
				ds := stage.NewDaemonSet(namespace, "node-agent", "acme/node-agent:1")
				must(t, c.CreateNamespace(ctx, ds.Namespace))
				r := newRecord(t, c, ds.Namespace)
				ds.Spec.Template.Annotations = map[string]string{stage.ReadyAfter: "500ms", stage.ReadyBefore: "900ms",
					stage.StopAfter: "500ms"}
				// Otherwise it would make all pods unavailable later.
				ds.Spec.MinReadySeconds = rollouts[0].minReadySeconds
				must(t, c.Create(ctx, ds))
				must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
				for i, ro := range rollouts {
					must(t, c.Update(ctx, ds.Namespace, ds.Name, func(ds *appsv1.DaemonSet) {
						ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &ro.unavailable, MaxSurge: &ro.surge}
						ds.Spec.MinReadySeconds = ro.minReadySeconds
						ds.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("acme/node-agent:%d", i+2)
					}))
					from := r.newest()
					samples := follow(t, c, r, ds)
					catchUp(t, c, r, ds)
					r.hear(t, c, ds.Namespace)
					syncs := leftTheStatus(t, c, ds)
					one, all := newTally(), newTally()
					for n, raw := range samples {
						one.add(t, r, syncs, c.PluginDir, filepath.Join(t.TempDir(), strconv.Itoa(n)+".json"), raw)
					}
					all.addRecorded(t, r, syncs, from)
					t.Logf("%s\nread      %s\nrecorded  %s", ro.name, one, all)
					mu.Lock()
					read.merge(one)
					recorded.merge(all)
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("all\nread      %s\nrecorded  %s", read, recorded)
	// How many reads meet a settled status depends on the machine.
	if read.compared < 25 || read.inside < 15 || len(read.distinct) < 15 {
		t.Errorf("too few comparisons of what was read: at least 25, 15 of them in the middle of a rollout, of 15 " +
			"distinct sets are needed")
	}
	if recorded.compared < 150 || recorded.inside < 100 || len(recorded.distinct) < 60 {
		t.Errorf("too few comparisons of the record: at least 150, 100 of them in the middle of a rollout, of 60 " +
			"distinct sets are needed")
	}
	if n := read.differ + recorded.differ; n > 0 {
		t.Errorf("%d differences", n)
	}
}

// follow uses kubectl to take a snapshot of each status that lasts for a moment. It takes a last one after the rollout
// has ended.
func follow(t *testing.T, c *stage.Cluster, r *record, ds *appsv1.DaemonSet) [][]byte {
	t.Helper()
	const moment = 50 * time.Millisecond
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { cancel(c.WaitRollout(t.Context(), ds.Namespace, ds.Name)) }()
	var samples [][]byte
	var before int64 // version of the last status that was read
	for last := false; ; {
		must(t, c.WaitFor(t.Context(), "another status", func(context.Context) (bool, error) {
			e := r.last()
			if ctx.Err() != nil {
				return true, nil
			}
			if !e.status || e.version == before || time.Since(e.seen) < moment {
				return false, nil
			}
			before = e.version
			return true, nil
		}))
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

// catchUp waits until the record contains everything that happened before the call.
func catchUp(t *testing.T, c *stage.Cluster, r *record, ds *appsv1.DaemonSet) {
	t.Helper()
	ctx := t.Context()
	mark := []byte(`{"metadata":{"annotations":{"test/mark":"` + strconv.Itoa(len(r.events)) + `"}}}`)
	pods, err := c.Pods(ctx, ds.Namespace, ds.Name)
	must(t, err)
	for i := range pods[:min(1, len(pods))] {
		pod, err := c.Client.CoreV1().Pods(ds.Namespace).Patch(ctx, pods[i].Name, "application/merge-patch+json", mark,
			metav1.PatchOptions{})
		must(t, err)
		pods[i] = *pod
	}
	node, err := c.Client.CoreV1().Nodes().Patch(ctx, "node-01", "application/merge-patch+json", mark,
		metav1.PatchOptions{})
	must(t, err)
	set, err := c.Client.AppsV1().DaemonSets(ds.Namespace).Patch(ctx, ds.Name, "application/merge-patch+json", mark,
		metav1.PatchOptions{})
	must(t, err)
	revisions, err := c.Client.AppsV1().ControllerRevisions(ds.Namespace).List(ctx, metav1.ListOptions{})
	must(t, err)
	must(t, c.WaitFor(ctx, "the record to catch up", func(context.Context) (bool, error) {
		all := (len(pods) == 0 || r.seen("pod", versionOf(t, &pods[0]))) && r.seen("node", versionOf(t, node)) &&
			r.seen("daemonset", versionOf(t, set))
		for i := range revisions.Items {
			all = all && r.seen("controllerrevision", versionOf(t, &revisions.Items[i]))
		}
		return all, nil
	}))
}

// left is a sync that did nothing and did not write the status.
type left struct {
	stage.Sync
	status int64 // version of the DaemonSet after the last write of its status
}

// leftTheStatus returns these syncs of a DaemonSet, oldest first.
func leftTheStatus(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) []left {
	t.Helper()
	log, err := c.AuditLog(t.Context())
	must(t, err)
	writes := slices.DeleteFunc(log, func(e stage.AuditEntry) bool {
		return e.Verb != "update" || e.Resource != "daemonsets" || e.Subresource != "status" ||
			e.Namespace != ds.Namespace || e.Name != ds.Name
	})
	slices.SortStableFunc(writes, func(a, b stage.AuditEntry) int { return a.Received.Compare(b.Received) })
	syncs, err := c.Syncs(ds.Namespace, ds.Name)
	must(t, err)
	out, err := leftOf(syncs, writes)
	must(t, err)
	return out
}

// leftOf returns these of the syncs, given all syncs of a DaemonSet and all writes of its status,
// oldest first.
func leftOf(syncs []stage.Sync, writes []stage.AuditEntry) (out []left, err error) {
	var status int64
	for _, s := range syncs {
		wrote := false
		for len(writes) > 0 && !writes[0].Received.After(s.End) {
			if writes[0].Code == http.StatusOK {
				if status, err = strconv.ParseInt(writes[0].Version, 10, 64); err != nil {
					return nil, fmt.Errorf("the version that a write of the status left: %w", err)
				}
			}
			wrote, writes = true, writes[1:]
		}
		acted := slices.ContainsFunc(s.Acts, func(a stage.Act) bool { return a.Creates > 0 || a.Deletes > 0 })
		if len(s.Acts) > 0 && !acted && !wrote {
			out = append(out, left{s, status})
		}
	}
	return out, nil
}

// TestLeftOf checks that a sync left the status if it did nothing and wrote nothing. The status is
// that of the last answered write.
func TestLeftOf(t *testing.T) {
	at := func(milliseconds int) time.Time { return time.UnixMilli(int64(milliseconds)) }
	sync := func(start, end int, acts ...stage.Act) stage.Sync {
		return stage.Sync{Start: at(start), End: at(end), Acts: acts}
	}
	write := func(received, code int, version string) stage.AuditEntry {
		return stage.AuditEntry{Received: at(received), Code: code, Version: version}
	}
	idle, quiet := stage.Act{}, sync(20, 29, stage.Act{}, stage.Act{})
	for _, tt := range []struct {
		why    string
		syncs  []stage.Sync
		writes []stage.AuditEntry
		want   []left
	}{
		{"a sync that looked", []stage.Sync{sync(10, 19, idle), quiet}, []stage.AuditEntry{write(15, 200, "7")},
			[]left{{quiet, 7}}},
		{"one that waited, and did not look", []stage.Sync{sync(10, 19, idle), sync(20, 29)},
			[]stage.AuditEntry{write(15, 200, "7")}, nil},
		{"one that created", []stage.Sync{sync(10, 19, stage.Act{Creates: 1}, idle)}, nil, nil},
		{"one that deleted", []stage.Sync{sync(10, 19, idle, stage.Act{Deletes: 1})}, nil, nil},
		{"one whose write was refused wrote all the same; the next left the status before it",
			[]stage.Sync{sync(1, 9, idle), sync(10, 19, idle), quiet},
			[]stage.AuditEntry{write(5, 200, "7"), write(15, 409, "")}, []left{{quiet, 7}}},
		{"a write that changed nothing leaves the version that there was",
			[]stage.Sync{sync(1, 9, idle), sync(10, 19, idle), quiet},
			[]stage.AuditEntry{write(5, 200, "7"), write(15, 200, "7")}, []left{{quiet, 7}}},
		{"of two writes of a sync the last", []stage.Sync{sync(10, 19, idle), quiet},
			[]stage.AuditEntry{write(12, 200, "7"), write(15, 200, "8")}, []left{{quiet, 8}}},
		{"a later write is not its status", []stage.Sync{sync(10, 19, idle), quiet},
			[]stage.AuditEntry{write(15, 200, "7"), write(35, 200, "9")}, []left{{quiet, 7}}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := leftOf(tt.syncs, tt.writes)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
	if _, err := leftOf([]stage.Sync{quiet}, []stage.AuditEntry{write(25, 200, "")}); err == nil {
		t.Error("a write without a version is no error")
	}
}

// tally counts comparisons.
type tally struct {
	read, moving, owed, repeated int
	compared, inside, differ     int
	distinct                     map[string]bool
	done                         map[int64]bool
}

func newTally() *tally { return &tally{distinct: map[string]bool{}, done: map[int64]bool{}} }

func (a *tally) String() string {
	return fmt.Sprintf("%3d: %3d while something moved, %3d with a status owed, %3d again; %3d compared, %3d of them "+
		"in the middle, of %d distinct sets of numbers, %d differences",
		a.read, a.moving, a.owed, a.repeated, a.compared, a.inside, len(a.distinct), a.differ)
}

func (a *tally) merge(b *tally) {
	a.read += b.read
	a.moving += b.moving
	a.owed += b.owed
	a.repeated += b.repeated
	a.compared += b.compared
	a.inside += b.inside
	a.differ += b.differ
	maps.Copy(a.distinct, b.distinct)
}

// add evaluates a snapshot and compares it if its status had settled.
func (a *tally) add(t *testing.T, r *record, syncs []left, plugin, file string, raw []byte) {
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
	case !m.settled(syncs) || matured(&s.DaemonSet, s.Pods, s.TakenAt):
		a.owed++
	case a.done[version]:
		a.repeated++
	default:
		a.done[version] = true
		a.compare(t, plugin, file, raw)
	}
}

// addRecorded compares every settled status after a version with what the record gives.
func (a *tally) addRecorded(t *testing.T, r *record, syncs []left, from int64) {
	t.Helper()
	for _, e := range r.ordered() {
		if !e.status || e.version <= from {
			continue
		}
		m := r.at(e.version)
		if m.next.version == 0 {
			continue
		}
		a.read++
		s := r.replay(r.until(e.version+1), e.seen)
		if !m.settled(syncs) || matured(s.DaemonSet, s.Pods, s.TakenAt) {
			a.owed++
			continue
		}
		st := predict(t, s)
		computed, _ := st.Counts()
		reported := daemonset.Reported(st.DaemonSet)
		a.judge(t, countsOf(reported), new(countsOf(computed)), computed == reported)
	}
}

// matured reports whether a pod may have become available between the write of the status, by its
// manager's time, and the snapshot. Both are whole seconds.
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
	DesiredNumberScheduled, CurrentNumberScheduled, NumberMisscheduled, NumberReady, UpdatedNumberScheduled,
	NumberAvailable, NumberUnavailable int
}

func countsOf(c daemonset.Counts) counts {
	return counts{c.Desired, c.Current, c.Misscheduled, c.Ready, c.Updated, c.Available, c.Unavailable}
}

func (a *tally) compare(t *testing.T, plugin, file string, raw []byte) {
	t.Helper()
	must(t, os.WriteFile(file, raw, 0o600))
	cmd := exec.CommandContext(t.Context(), filepath.Join(plugin, "kubectl-ds"), "explain", "node-agent", "--from",
		file, "-o", "json")
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
	a.judge(t, e.Status.Reported, e.Status.Computed, e.Status.Agrees != nil && *e.Status.Agrees)
}

func (a *tally) judge(t *testing.T, reported counts, computed *counts, agrees bool) {
	t.Helper()
	a.compared++
	if computed == nil || *computed != reported || !agrees {
		a.differ++
		t.Errorf("the status had settled, but\nreported %+v\ncomputed %+v", reported, computed)
		return
	}
	if reported.UpdatedNumberScheduled < reported.DesiredNumberScheduled ||
		reported.NumberAvailable < reported.DesiredNumberScheduled {
		a.inside++
	}
	a.distinct[fmt.Sprint(reported)] = true
}
