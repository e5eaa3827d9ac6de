package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestHistoryCounts compares the numbers of nodes and pods of each revision with counts by kubectl
// and labels. The pods change meanwhile: it compares if two counts, before and after the answer,
// are equal.
func TestHistoryCounts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{})
	const missing = "acme/node-agent:missing"
	must(t, c.AddNodes(ctx, stage.Nodes(8, "node-%02d")...))
	must(t, c.SetRules(ctx, stage.Rule{Image: missing, Behave: stage.ImagePullBackOff}))
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1")
	ds.Spec.Template.Annotations = map[string]string{stage.ReadyAfter: "1800ms", stage.StopAfter: "400ms"}
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
	ready := 1800 * time.Millisecond
	change := func(image string, strategy appsv1.DaemonSetUpdateStrategy) {
		must(t, c.Update(ctx, ds.Namespace, ds.Name, func(ds *appsv1.DaemonSet) {
			ds.Spec.UpdateStrategy = strategy
			ds.Spec.Template.Spec.Containers[0].Image = image
			ds.Spec.Template.Annotations[stage.ReadyAfter] = ready.String()
		}))
	}

	// Pods take several times as long as a comparison, so that some comparisons see no change.
	began := time.Now()
	settled := compareCounts(t, c)
	ready = max(ready, 3*time.Since(began).Round(time.Millisecond))
	if settled.hashes != 1 || settled.nodes != 8 {
		t.Errorf("settled: %+v", settled)
	}
	tableAgrees(t, c, ds)

	image := 1
	next := func() string {
		image++
		return fmt.Sprintf("acme/node-agent:%d", image)
	}
	// On a busier machine slower pods are needed: it rolls out again until there are enough
	// comparisons.
	roll := func(name string, strategy appsv1.DaemonSetUpdateStrategy, compared func(sums) int) {
		for done := 0; ; ready *= 2 {
			change(next(), strategy)
			if done += compared(compareCountsUntilTheEnd(t, c, ds, name)); done >= 3 {
				return
			}
			if ready > time.Minute {
				t.Fatalf("%s: %d comparisons in the middle of it, at least 3 are needed", name, done)
			}
		}
	}
	roll("rolling update", rolling(2, 0), func(s sums) int { return s.middle })
	roll("surge", rolling(0, 3), func(s sums) int { return s.both })

	// A surge that is stuck: three nodes have two pods each and count for the older one.
	change(missing, rolling(0, 3))
	must(t, c.WaitFor(ctx, "three new pods that cannot start", func(ctx context.Context) (bool, error) {
		pods, err := c.Pods(ctx, ds.Namespace, ds.Name)
		stuck := 0
		for _, p := range pods {
			if s := p.Status.ContainerStatuses; len(s) > 0 && s[0].State.Waiting != nil && s[0].State.Waiting.Reason == "ImagePullBackOff" {
				stuck++
			}
		}
		return stuck == 3, err
	}))
	held := compareCounts(t, c)
	if held.hashes != 2 || held.twice != 3 || held.nodes != 8 || held.pods != 11 {
		t.Errorf("a surge that stands still: %+v", held)
	}
	inferredCounts(t, c, ds)

	change(fmt.Sprintf("acme/node-agent:%d", image), rolling(0, 3))
	waitRolledOut(t, c, ds)
	t.Run("pods without a revision", func(t *testing.T) { withoutRevision(t, c, ds) })
	onlyReads(t, c)
}

// withoutRevision deletes the revision of running pods and relabels others.
func withoutRevision(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) {
	ctx := t.Context()
	old := newestRevision(t, c)
	must(t, c.Update(ctx, ds.Namespace, ds.Name, func(ds *appsv1.DaemonSet) {
		ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
		ds.Spec.Template.Spec.Containers[0].Image = "acme/node-agent:other"
	}))
	must(t, c.WaitFor(ctx, "a new revision", func(context.Context) (bool, error) { return newestRevision(t, c) != old, nil }))
	pods := podsOf(t, c, ds)
	asAdmin := func(args ...string) { answer(t, c, stage.Admin, append([]string{"-n", ds.Namespace}, args...)...) }
	asAdmin("delete", "pod", "--wait=false", pods["node-01"].Name, pods["node-02"].Name, pods["node-03"].Name)
	must(t, c.WaitDaemonSet(ctx, ds.Namespace, ds.Name, "three pods replaced", func(ds *appsv1.DaemonSet) bool {
		return ds.Status.UpdatedNumberScheduled == 3 && ds.Status.NumberAvailable == 8
	}))
	tableAgrees(t, c, ds)
	asAdmin("delete", "controllerrevision", old)
	pods = podsOf(t, c, ds)
	asAdmin("label", "--overwrite", "pod", pods["node-01"].Name, "controller-revision-hash=other")
	asAdmin("label", "pod", pods["node-02"].Name, "controller-revision-hash-")

	got := compareCounts(t, c)
	hash := pods["node-04"].Labels[appsv1.DefaultDaemonSetUniqueLabelKey]
	want := tallyOfNodes{hashes: 4, nodes: 8, pods: 8, without: []string{"", "other", hash}}
	slices.Sort(want.without)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	a := historyOf(t, c)
	for code, pods := range map[string]float64{"NoRevision": 7, "SeveralHashes": 2} {
		if i := slices.IndexFunc(a.Notes, func(n historyNote) bool { return n.Code == code }); i < 0 || a.Notes[i].Facts["pods"] != pods {
			t.Errorf("no note %s of %v pods: %+v", code, pods, a.Notes)
		}
	}
}

// tableAgrees compares the screen of a DaemonSet whose pods are all available, which is made from
// metadata, with that of a snapshot with whole pods.
func tableAgrees(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) {
	t.Helper()
	of := []string{"-n", ds.Namespace, ds.Name}
	screen := ""
	asked := requests(t, c, func() {
		screen = answer(t, c, stage.Reader, slices.Concat([]string{"ds", "history", "-o", "wide"}, of)...)
	})
	if n := resources(asked)["pods"]; n != 1 {
		t.Errorf("%d requests for pods: the metadata did not do", n)
	}
	recorded := filepath.Join(t.TempDir(), "snapshot.json")
	must(t, os.WriteFile(recorded, []byte(answer(t, c, stage.Reader, slices.Concat([]string{"ds", "snapshot"}, of)...)), 0o600))
	whole := answer(t, c, stage.Reader, slices.Concat([]string{"ds", "history", "-o", "wide", "--from", recorded}, of)...)
	ages, commands := regexp.MustCompile(`\b([0-9]+[dhms])+\b`), regexp.MustCompile(`(?m)^.*kubectl .*\n`)
	plain := func(s string) string {
		return strings.Join(strings.Fields(ages.ReplaceAllString(commands.ReplaceAllString(s, ""), "0s")), " ")
	}
	if got, want := plain(screen), plain(whole); got != want {
		t.Errorf("from metadata\n%s\nfrom whole pods\n%s", screen, whole)
	}
}

// inferredCounts checks the answer for a user who may not read revisions: the rows are the hashes
// of pods and are marked as inferred. The pods must not change.
func inferredCounts(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) {
	t.Helper()
	must(t, c.AllowIn(t.Context(), ds.Namespace, stage.Nobody, stage.ReadRules([]string{"pods"}, []string{"daemonsets"})...))
	args := []string{"ds", "history", "-n", ds.Namespace, ds.Name, "-o", "json"}
	r, err := c.KubectlAs(t.Context(), stage.Nobody, args...)
	must(t, err)
	if r.Code != 0 || strings.Count(r.Stderr, "\n") != 1 || !strings.HasPrefix(r.Stderr, "note: controllerrevisions: not allowed to read") {
		t.Fatalf("ended with %d: %s", r.Code, r.Stderr)
	}
	a := &historyAnswer{}
	must(t, json.Unmarshal([]byte(r.Stdout), a))
	want, _ := countPods(t, podLines(t, c), "")
	current := podsOf(t, c, ds) // the newest pod of each node
	got := map[string]countedRow{}
	for _, row := range a.Revisions {
		got[row.Hash] = countedRow{row.Name, *row.Nodes, *row.Pods, *row.Available, strings.Join(row.OnNodes, " ")}
		isNew := slices.ContainsFunc(slices.Collect(maps.Values(current)), func(p *corev1.Pod) bool {
			return p.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == row.Hash && !stage.PodReady(p)
		})
		if !row.Inferred || row.Current != isNew {
			t.Errorf("hash %s: inferred %t, current %t; its pods are the new ones: %t", row.Hash, row.Inferred, row.Current, isNew)
		}
	}
	if !reflect.DeepEqual(got, want) || len(got) != 2 {
		t.Errorf("without revisions the answer counts\n%s\nkubectl and labels\n%s", rowsText(got), rowsText(want))
	}
	r, err = c.KubectlAs(t.Context(), stage.Nobody, append(args, "--exit-code")...)
	must(t, err)
	if r.Code != 5 {
		t.Errorf("--exit-code gives %d for an answer in part, want 5", r.Code)
	}
}

// waitRolledOut waits until the rollout is over and each of the 8 nodes has one pod.
func waitRolledOut(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) {
	t.Helper()
	must(t, c.WaitRollout(t.Context(), ds.Namespace, ds.Name))
	must(t, c.WaitFor(t.Context(), "one pod on each node", func(ctx context.Context) (bool, error) {
		pods, err := c.Pods(ctx, ds.Namespace, ds.Name)
		return len(pods) == 8, err
	}))
}

func rolling(unavailable, surge int32) appsv1.DaemonSetUpdateStrategy {
	u, s := intstr.FromInt32(unavailable), intstr.FromInt32(surge)
	return appsv1.DaemonSetUpdateStrategy{
		Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &u, MaxSurge: &s},
	}
}

// historyOf returns the answer of history.
func historyOf(t *testing.T, c *stage.Cluster) *historyAnswer {
	t.Helper()
	a := &historyAnswer{}
	must(t, json.Unmarshal([]byte(answer(t, c, stage.Reader, "ds", "history", "-n", "kube-system", "node-agent", "-o", "json")), a))
	return a
}

func newestRevision(t *testing.T, c *stage.Cluster) string {
	t.Helper()
	out := answer(t, c, stage.Admin, "-n", "kube-system", "get", "controllerrevisions", "--sort-by=.revision", "-o", "name")
	lines := strings.Fields(out)
	_, name, _ := strings.Cut(lines[len(lines)-1], "/")
	return name
}

// tallyOfNodes is the result of a count.
type tallyOfNodes struct {
	hashes      int      // of pods
	nodes, pods int      // nodes with a pod, and pods
	twice       int      // nodes with pods of two hashes
	without     []string // sorted hashes without a revision
}

// sums adds up comparisons.
type sums struct{ compared, moved, middle, both int }

// compareCountsUntilTheEnd compares until the rollout is over.
func compareCountsUntilTheEnd(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet, name string) (s sums) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	patient, stop := context.WithTimeout(t.Context(), 10*time.Minute) // slow comparisons make pods slow
	defer stop()
	go func() { cancel(c.WaitRollout(patient, ds.Namespace, ds.Name)) }()
	for ctx.Err() == nil {
		n, ok := tryCounts(t, c)
		if !ok {
			s.moved++
			continue
		}
		s.compared++
		if n.hashes > 1 {
			s.middle++
		}
		if n.twice > 0 {
			s.both++
		}
	}
	if err := context.Cause(ctx); err != context.Canceled {
		must(t, err)
	}
	t.Logf("%s: %d comparisons, %d of them with pods of two revisions, %d with two on one node; %d times the pods moved", name, s.compared, s.middle, s.both, s.moved)
	return s
}

// compareCounts compares once, as soon as the pods do not change.
func compareCounts(t *testing.T, c *stage.Cluster) (n tallyOfNodes) {
	t.Helper()
	must(t, c.WaitFor(t.Context(), "the pods to stand still", func(context.Context) (ok bool, err error) {
		n, ok = tryCounts(t, c)
		return ok, nil
	}))
	return n
}

// countedRow is the count for a hash.
type countedRow struct {
	Revision               string // name of the revision with the hash; empty: none
	Nodes, Pods, Available int
	OnNodes                string
}

// tryCounts compares unless the pods change.
func tryCounts(t *testing.T, c *stage.Cluster) (tallyOfNodes, bool) {
	t.Helper()
	before := podLines(t, c)
	revisions := answer(t, c, stage.Admin, "-n", "kube-system", "get", "controllerrevisions", "-o", `jsonpath={range .items[*]}{.metadata.labels.controller-revision-hash}{" "}{.metadata.name}{"\n"}{end}`)
	a := historyOf(t, c)
	if podLines(t, c) != before {
		return tallyOfNodes{}, false
	}
	want, n := countPods(t, before, revisions)
	got := map[string]countedRow{}
	nodes := 0
	for _, r := range a.Revisions {
		if r.Nodes == nil || r.Pods == nil || r.Available == nil {
			t.Fatalf("a row without counts: %+v", r)
		}
		if _, double := got[r.Hash]; double {
			t.Errorf("two rows of hash %q", r.Hash)
		}
		got[r.Hash] = countedRow{r.Name, *r.Nodes, *r.Pods, *r.Available, strings.Join(r.OnNodes, " ")}
		nodes += *r.Nodes
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the answer counts\n%s\nkubectl and labels\n%s\nof pods\n%s", rowsText(got), rowsText(want), before)
	}
	if nodes != n.nodes {
		t.Errorf("the rows have %d nodes, %d nodes have pods", nodes, n.nodes)
	}
	return n, true
}

func rowsText(rows map[string]countedRow) (text string) {
	for _, hash := range slices.Sorted(maps.Keys(rows)) {
		text += fmt.Sprintf("  %q %+v\n", hash, rows[hash])
	}
	return text
}

// podLines lists the pods by their label, one per line: name, node, target node, time, hash,
// readiness and version, separated by |.
func podLines(t *testing.T, c *stage.Cluster) string {
	t.Helper()
	const made = `.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values[0]`
	return answer(t, c, stage.Reader, "-n", "kube-system", "get", "pods", "-l", "app.kubernetes.io/name=node-agent", "-o", `jsonpath={range .items[*]}{.metadata.name}|{.spec.nodeName}|{`+made+
		`}|{.metadata.creationTimestamp}|{.metadata.labels.controller-revision-hash}|{.status.conditions[?(@.type=="Ready")].status}|{.metadata.resourceVersion}{"\n"}{end}`)
}

// countPods counts by hash. A node counts for one of its pods: bound before unbound, then the
// oldest, then by name.
func countPods(t *testing.T, lines, revisions string) (map[string]countedRow, tallyOfNodes) {
	t.Helper()
	type pod struct{ name, bound, node, created, hash, ready string }
	onNode := map[string][]pod{}
	rows := map[string]countedRow{}
	n := tallyOfNodes{}
	for line := range strings.Lines(revisions) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		rows[hash] = countedRow{Revision: name}
	}
	carried := map[string]bool{}
	for line := range strings.Lines(lines) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 7 {
			t.Fatalf("not a pod: %q", line)
		}
		p := pod{name: f[0], bound: f[1], node: cmp.Or(f[1], f[2]), created: f[3], hash: f[4], ready: f[5]}
		onNode[p.node] = append(onNode[p.node], p)
		row := rows[p.hash]
		row.Pods++
		rows[p.hash] = row
		n.pods++
		carried[p.hash] = true
	}
	for _, node := range slices.Sorted(maps.Keys(onNode)) {
		pods := onNode[node]
		if slices.ContainsFunc(pods, func(p pod) bool { return p.hash != pods[0].hash }) {
			n.twice++
		}
		slices.SortFunc(pods, func(a, b pod) int {
			if (a.bound == "") != (b.bound == "") {
				return strings.Compare(b.bound, a.bound) // the one with a node first
			}
			return cmp.Or(strings.Compare(a.created, b.created), strings.Compare(a.name, b.name))
		})
		row := rows[pods[0].hash]
		row.Nodes++
		row.OnNodes = strings.TrimSpace(row.OnNodes + " " + node)
		if pods[0].ready == string(corev1.ConditionTrue) {
			row.Available++
		}
		rows[pods[0].hash] = row
	}
	n.hashes, n.nodes = len(carried), len(onNode)
	for hash := range carried {
		if rows[hash].Revision == "" {
			n.without = append(n.without, hash)
		}
	}
	slices.Sort(n.without)
	return rows, n
}

// onlyReads checks that kubectl-ds sent only get, list and watch requests.
func onlyReads(t *testing.T, c *stage.Cluster) {
	t.Helper()
	log, err := c.AuditLog(t.Context())
	must(t, err)
	ours := 0
	for _, e := range log {
		if !strings.HasPrefix(e.UserAgent, "kubectl-ds/") {
			continue
		}
		ours++
		if !slices.Contains([]string{"get", "list", "watch"}, e.Verb) {
			t.Errorf("%s asked to %s %s", e.User, e.Verb, e.Resource)
		}
	}
	if ours == 0 {
		t.Error("the audit log holds no request of kubectl-ds")
	}
	t.Logf("%d requests of kubectl-ds, to read", ours)
}
