package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestRealManifests upgrades published DaemonSets from one release to the next with the real
// kubectl and compares the result with the prediction of plan-rollout. REAL_MANIFESTS is a folder
// with a folder for each, which are not part of this repository. Without it, the one in
// testdata/upgrades is upgraded.
//
//	NAME/old.yaml    the DaemonSet of one release
//	NAME/new.yaml    that of the next
//	NAME/needs.yaml  required objects such as a PriorityClass; optional
//	NAME/SOURCE      origin, with a line "old: v1 …" and a line "new: v2 …"; optional
func TestRealManifests(t *testing.T) {
	t.Parallel()
	folder := cmp.Or(os.Getenv("REAL_MANIFESTS"), filepath.Join("testdata", "upgrades"))
	found, err := filepath.Glob(filepath.Join(folder, "*", "old.yaml"))
	must(t, err)
	if len(found) == 0 {
		t.Fatalf("%s holds no NAME/old.yaml", folder)
	}
	plugin, err := stage.BuildPlugin(t.Context())
	must(t, err)
	table := &upgradeTable{}
	t.Cleanup(func() { fmt.Print(table) })
	for _, method := range []string{clientSide, serverSide} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			c := stage.New(t, stage.Options{LogSyncs: true, PluginDir: plugin})
			must(t, c.AddNodes(t.Context(), mixedNodes()...))
			for _, file := range found {
				dir := filepath.Dir(file)
				t.Run(filepath.Base(dir), func(t *testing.T) {
					u := &upgrade{c: c, dir: dir, method: method}
					u.row = upgradeRow{name: filepath.Base(dir), releases: releasesOf(dir), method: method}
					defer func() { table.add(u.row) }()
					u.run(t)
				})
			}
		})
	}
}

const (
	clientSide = "client-side"
	serverSide = "server-side"
)

// mixedNodes are nodes of the kinds that manifests distinguish.
func mixedNodes() []*corev1.Node {
	nodes := stage.Nodes(9, "node-%02d")
	taint := func(n *corev1.Node, key string) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	}
	taint(nodes[0], "node-role.kubernetes.io/control-plane")
	nodes[0].Labels["node-role.kubernetes.io/control-plane"] = ""
	taint(nodes[1], "nvidia.com/gpu")
	nodes[2].Labels[corev1.LabelArchStable], nodes[2].Status.NodeInfo.Architecture = "arm64", "arm64"
	for _, n := range nodes[7:] {
		n.Labels[corev1.LabelOSStable], n.Status.NodeInfo.OperatingSystem = "windows", "windows"
	}
	for _, n := range nodes {
		n.Labels["beta.kubernetes.io/os"], n.Labels["beta.kubernetes.io/arch"] = n.Labels[corev1.LabelOSStable], n.Labels[corev1.LabelArchStable]
	}
	return nodes
}

// upgrade is a DaemonSet that is upgraded, with one way to apply.
type upgrade struct {
	c           *stage.Cluster
	dir, method string
	row         upgradeRow

	namespace, name string
	ofFlag          bool // the manifest has no namespace
	r               *record
	began           time.Time
	expected        []expectation
}

// expectation is the next batch as predicted by a plan after an apply.
type expectation struct {
	after    string
	next     daemonset.Step
	from, to int64 // versions between which it must come
}

func (u *upgrade) run(t *testing.T) {
	u.prepare(t)
	if !u.plan(t, "old.yaml").agrees(t, u, "the old release", u.apply(t, "old.yaml", "--dry-run=server")) {
		return // neither accepts it
	}
	ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: u.name}}
	t.Cleanup(func() { u.remove(t) })
	u.applied(t, "old.yaml", nil)
	live := liveDaemonSet(t, u.c, ds)
	if live.Status.DesiredNumberScheduled == 0 {
		t.Fatalf("no node should run it: %v, %v", live.Spec.Template.Spec.NodeSelector, live.Spec.Template.Spec.Affinity)
	}
	u.row.nodes = int(live.Status.DesiredNumberScheduled)
	u.unchanged(t, "old.yaml")

	if u.applied(t, "new.yaml", ds) {
		u.unchanged(t, "new.yaml")
		u.undoneAndApplied(t, ds)
	}
	catchUp(t, u.c, u.r, ds)
	u.compareBatches(t)
}

// prepare creates what the manifests need: their namespace, node labels, and the objects of
// needs.yaml. The namespace warns about everything that is not restricted.
func (u *upgrade) prepare(t *testing.T) {
	ctx := t.Context()
	var templates []corev1.PodSpec
	for _, file := range []string{"old.yaml", "new.yaml"} {
		text, err := os.ReadFile(filepath.Join(u.dir, file))
		must(t, err)
		object := daemonSetIn(t, text)
		raw, err := json.Marshal(object)
		must(t, err)
		var ds appsv1.DaemonSet
		must(t, json.Unmarshal(raw, &ds))
		if u.name == "" {
			u.namespace, u.name, u.ofFlag = cmp.Or(ds.Namespace, "real"), ds.Name, ds.Namespace == ""
		}
		templates = append(templates, ds.Spec.Template.Spec)
	}
	must(t, u.c.CreateNamespace(ctx, u.namespace))
	answer(t, u.c, stage.Admin, "label", "namespace", u.namespace, "--overwrite", "pod-security.kubernetes.io/warn=restricted")
	if needs := filepath.Join(u.dir, "needs.yaml"); exists(t, needs) {
		if r := u.kubectl(t, stage.Admin, "apply", "-f", needs); r.Code != 0 {
			t.Fatal(r.Stderr)
		}
	}
	// Some nodes match the old release, and most of them also the new one.
	for i, name := range []string{"node-02", "node-03", "node-05", "node-06", "node-08", "node-09"} {
		labels := labelsFor(&templates[0])
		if i%3 > 0 {
			maps.Copy(labels, labelsFor(&templates[1]))
		}
		args := []string{"label", "node", name, "--overwrite"}
		for key, value := range labels {
			args = append(args, key+"="+value)
		}
		if len(labels) > 0 {
			answer(t, u.c, stage.Admin, args...)
		}
	}
	u.r, u.began = newRecord(t, u.c, u.namespace), time.Now()
}

// labelsFor returns labels of a node that matches the selector and the first affinity term. What
// describes the node itself does not change.
func labelsFor(pod *corev1.PodSpec) map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, pod.NodeSelector)
	if a := pod.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, e := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions {
			switch e.Operator {
			case corev1.NodeSelectorOpIn:
				labels[e.Key] = e.Values[0]
			case corev1.NodeSelectorOpExists:
				labels[e.Key] = "true"
			}
		}
	}
	maps.DeleteFunc(labels, func(key, _ string) bool {
		return strings.HasPrefix(key, "kubernetes.io/") || strings.HasPrefix(key, "beta.kubernetes.io/") || strings.HasPrefix(key, "node-role.kubernetes.io/")
	})
	return labels
}

// remove deletes the DaemonSet and waits until nothing is left of it.
func (u *upgrade) remove(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	err := u.c.Client.AppsV1().DaemonSets(u.namespace).Delete(ctx, u.name, metav1.DeleteOptions{})
	must(t, err)
	must(t, u.c.WaitFor(ctx, "the DaemonSet to be gone", func(ctx context.Context) (bool, error) {
		pods, err := u.c.Client.CoreV1().Pods(u.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		revisions, err := u.c.Client.AppsV1().ControllerRevisions(u.namespace).List(ctx, metav1.ListOptions{})
		return err == nil && len(pods.Items)+len(revisions.Items) == 0, err
	}))
}

// kubectl runs kubectl in the namespace that the manifest does not name.
func (u *upgrade) kubectl(t *testing.T, user string, args ...string) stage.Result {
	t.Helper()
	if u.ofFlag {
		args = append(args, "-n", u.namespace)
	}
	r, err := u.c.KubectlAs(t.Context(), user, args...)
	must(t, err)
	return r
}

func (u *upgrade) apply(t *testing.T, file string, flags ...string) stage.Result {
	t.Helper()
	return u.kubectl(t, stage.Admin, append([]string{"apply"}, u.applyFlags(file, flags)...)...)
}

// applyFlags are the flags of kubectl apply and of the plan.
func (u *upgrade) applyFlags(file string, flags []string) []string {
	flags = append([]string{"-f", filepath.Join(u.dir, file)}, flags...)
	if u.method == serverSide {
		flags = append(flags, "--server-side")
	}
	return flags
}

// forecast is the answer of plan-rollout.
type forecast struct {
	stage.Result
	*plan.Plan // nil if it was rejected
}

// plan returns the forecast for a file.
func (u *upgrade) plan(t *testing.T, file string, flags ...string) forecast {
	t.Helper()
	user := stage.Reader
	if slices.Contains(flags, "--server-dry-run") {
		user = stage.Admin // may patch
	}
	r := u.kubectl(t, user, append([]string{"ds", "plan-rollout", "-o", "json", "--show-values"}, u.applyFlags(file, flags)...)...)
	p := forecast{Result: r}
	if r.Code == 0 {
		p.Plan = &plan.Plan{}
		must(t, json.Unmarshal([]byte(r.Stdout), p.Plan))
	}
	return p
}

// agrees reports whether kubectl accepts the manifest, and compares the rejections.
func (p forecast) agrees(t *testing.T, u *upgrade, what string, by stage.Result) bool {
	t.Helper()
	said, is := refusal(p.Result), refusal(by)
	if said != is {
		u.row.refusal.no()
		t.Errorf("%s: plan-rollout and kubectl apply differ\nplan-rollout ends with %d: %s\nkubectl apply with %d: %s", what, p.Code, p.Stderr, by.Code, by.Stderr)
	} else if by.Code != 0 {
		u.row.refusal.yes(said)
	}
	return by.Code == 0 && p.Code == 0
}

var (
	invalidField = regexp.MustCompile(`\b((?:spec|metadata)\.[^\s:]+): (Invalid value|Required value|Forbidden|Unsupported value|Duplicate value|Not found)`)
	noSuchKind   = regexp.MustCompile(`(?i)no matches for kind|extensions/v1beta1|apps/v1beta`)
)

// refusal returns why a manifest is rejected, in few words, or "".
func refusal(r stage.Result) string {
	if r.Code == 0 {
		return ""
	}
	var fields []string
	for _, m := range invalidField.FindAllStringSubmatch(r.Stderr, -1) {
		fields = append(fields, m[1]+": "+m[2])
	}
	switch {
	case len(fields) > 0:
		slices.Sort(fields)
		return strings.Join(slices.Compact(fields), ", ")
	case noSuchKind.MatchString(r.Stderr):
		return "no such kind in that version"
	}
	return strings.TrimSpace(r.Stderr)
}

// applied plans and applies a file, and compares the prediction of plan-rollout, with and without a
// dry run, with the result. If ds is nil, the DaemonSet does not exist yet. It reports whether the
// file was accepted.
func (u *upgrade) applied(t *testing.T, file string, ds *appsv1.DaemonSet, flags ...string) bool {
	t.Helper()
	by := u.apply(t, file, append(slices.Clone(flags), "--dry-run=server")...)
	p, dry := u.plan(t, file, flags...), u.plan(t, file, append(slices.Clone(flags), "--server-dry-run")...)
	taken := p.agrees(t, u, file, by)
	if !dry.agrees(t, u, file+" with --server-dry-run", by) || !taken {
		return false
	}
	said, are := dry.serverWarnings(), warningsOf(by.Stderr)
	if u.row.warnings.is(slices.Equal(said, are)); !slices.Equal(said, are) {
		t.Errorf("%s: the warnings\nwere said to be %q\nand are         %q", file, said, are)
	}
	u.row.warned = max(u.row.warned, len(are))
	var before *appsv1.DaemonSet
	if ds != nil {
		before = liveDaemonSet(t, u.c, ds)
	}
	from := u.r.newest() + 1
	if r := u.apply(t, file, flags...); r.Code != 0 {
		t.Fatalf("%s was taken in the dry run: %s", file, r.Stderr)
	}
	what := strings.TrimSuffix(file+" "+strings.Join(flags, " "), " ")
	now := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: u.name}}
	after := liveDaemonSet(t, u.c, now)
	if before != nil {
		fields := fieldsBetween(t, before, after)
		u.row.changes = max(u.row.changes, len(fields))
		u.row.fields.is(toJSON(t, p.Change.Fields) == toJSON(t, fields) && toJSON(t, dry.Change.Fields) == toJSON(t, fields))
		for name, p := range map[string]forecast{"": p, ", dry run": dry} {
			if toJSON(t, p.Change.Fields) != toJSON(t, fields) {
				t.Errorf("%s%s: the fields\nwere said to be %s\nand are         %s", what, name, toJSON(t, p.Change.Fields), toJSON(t, fields))
			}
		}
	}
	u.settle(t, now)
	u.expected = append(u.expected, expectation{what, p.Next, from, u.r.newest() + 1})
	if !sameStep(p.Next, dry.Next) {
		t.Errorf("%s: the next batch is %s, after a dry run %s", what, toJSON(t, p.Next), toJSON(t, dry.Next))
	}
	return true
}

// serverWarnings returns the API server's warnings in a plan.
func (p forecast) serverWarnings() []string {
	var said []string
	for _, w := range p.Warnings {
		if w.Code == plan.ServerWarning {
			said = append(said, fmt.Sprint(w.Facts["message"]))
		}
	}
	slices.Sort(said)
	return said
}

// warningsOf returns the warnings that kubectl printed.
func warningsOf(stderr string) []string {
	var all []string
	for line := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(line, "Warning: "); ok {
			all = append(all, strings.TrimSpace(text))
		}
	}
	slices.Sort(all)
	return all
}

func sameStep(a, b daemonset.Step) bool {
	return a.Kind == b.Kind && a.Exact == b.Exact && batchText(a.Creates) == batchText(b.Creates) && batchText(a.Deletes) == batchText(b.Deletes)
}

// fieldsBetween returns the fields that people changed.
func fieldsBetween(t *testing.T, before, after *appsv1.DaemonSet) []whatif.FieldDiff {
	t.Helper()
	parse := func(ds *appsv1.DaemonSet) map[string]any {
		o := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Labels: ds.Labels, Annotations: maps.Clone(ds.Annotations)}, Spec: ds.Spec}
		delete(o.Annotations, appsv1.DeprecatedTemplateGeneration)
		delete(o.Annotations, corev1.LastAppliedConfigAnnotation)
		content, err := template.Parse(o)
		must(t, err)
		return content
	}
	return template.Between[appsv1.DaemonSet](parse(before), parse(after))
}

// settle waits until the rollout is over and the controller knows it.
func (u *upgrade) settle(t *testing.T, ds *appsv1.DaemonSet) {
	t.Helper()
	lastChange(t, u.c, u.r, ds)
	must(t, u.c.WaitDaemonSet(t.Context(), ds.Namespace, ds.Name, "looked at", func(*appsv1.DaemonSet) bool { return true }))
	must(t, u.c.WaitFor(t.Context(), "the rollout to end", func(context.Context) (bool, error) {
		s := u.r.latest()
		if slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil }) {
			return false, nil // and until then available as before
		}
		st := predict(t, s)
		counts, _ := st.Counts()
		return st.Sync().Kind == daemonset.StepNone && counts.Available == st.Desired && counts == daemonset.Reported(s.DaemonSet), nil
	}))
}

// unchanged plans what is already live.
func (u *upgrade) unchanged(t *testing.T, file string) {
	t.Helper()
	for _, flags := range [][]string{nil, {"--server-dry-run"}} {
		p := u.plan(t, file, flags...)
		ok := p.Plan != nil && len(p.Change.Fields) == 0 && !p.Change.TemplateChanged && p.Next.Kind == daemonset.StepNone &&
			len(p.Next.Revisions.Relabel)+len(p.Next.Revisions.Remove) == 0 &&
			slices.Contains([]plan.OutcomeCode{plan.NothingToDo, plan.NotRolling}, p.Outcome.Code)
		u.row.unchanged.is(ok)
		if !ok {
			t.Errorf("%s is live already; plan-rollout %v says %s%s", file, flags, p.Stdout, p.Stderr)
		}
	}
}

// undoneAndApplied rolls the upgrade back with kubectl rollout undo and applies it again.
func (u *upgrade) undoneAndApplied(t *testing.T, ds *appsv1.DaemonSet) {
	t.Helper()
	if liveDaemonSet(t, u.c, ds).Generation == 1 || len(u.r.latest().Revisions) < 2 {
		return
	}
	from := u.r.newest() + 1
	undo := previewOf(t, u.c, ds, "plan-rollout", "--to-revision", "0")
	r, err := u.c.Kubectl(t.Context(), "rollout", "undo", "-n", u.namespace, "ds/"+u.name) // prints a warning
	must(t, err)
	if r.Code != 0 {
		t.Fatal(r.Stderr)
	}
	u.settle(t, ds)
	u.expected = append(u.expected, expectation{"rollout undo", undo.Next, from, u.r.newest() + 1})

	by := u.apply(t, "new.yaml", "--dry-run=server")
	conflicts := conflictsOf(by.Stderr)
	if len(conflicts) == 0 {
		u.applied(t, "new.yaml", ds)
		return
	}
	u.row.conflicts = len(conflicts)
	for _, how := range [][]string{nil, {"--server-dry-run"}} {
		p := u.plan(t, "new.yaml", how...)
		said := conflictsOf(p.Stderr)
		u.row.conflict.is(p.Code == by.Code && slices.Equal(said, conflicts))
		if p.Code != by.Code || !slices.Equal(said, conflicts) {
			t.Errorf("after rollout undo, plan-rollout %v ends with %d and conflicts %q, kubectl apply with %d and %q", how, p.Code, said, by.Code, conflicts)
		}
	}
	u.applied(t, "new.yaml", ds, "--force-conflicts")
}

// compareBatches compares the first batch after each apply with the expectation.
func (u *upgrade) compareBatches(t *testing.T) {
	t.Helper()
	log, err := u.c.AuditLog(t.Context())
	must(t, err)
	log = slices.DeleteFunc(log, func(e stage.AuditEntry) bool { return e.Namespace != u.namespace || e.Received.Before(u.began) })
	syncs, err := u.c.Syncs(u.namespace, u.name)
	must(t, err)
	syncs = slices.DeleteFunc(syncs, func(s stage.Sync) bool { return s.Start.Before(u.began) })
	found, _, _ := batches(t, u.r, log, syncs)
	for _, e := range u.expected {
		i := slices.IndexFunc(found, func(b batch) bool { return b.version >= e.from && b.version < e.to })
		step := fmt.Sprintf("%s (%s), creates %s, deletes %s", e.next.Kind, e.next.Reason, batchText(e.next.Creates), batchText(e.next.Deletes))
		switch {
		case i < 0 && e.next.Kind == daemonset.StepNone && e.next.Exact:
			u.row.batch.yes("")
		case i < 0:
			u.row.batch.no()
			t.Errorf("%s: no batch came; the plan: %s", e.after, step)
		case !e.next.Exact || !found[i].foretold(e.next):
			u.row.batch.no()
			t.Errorf("%s: the plan: %s; %s", e.after, step, found[i].describe(t, u.r))
		default:
			u.row.batch.yes("")
		}
	}
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// releasesOf returns the releases of the manifests in a folder.
func releasesOf(dir string) string {
	text, _ := os.ReadFile(filepath.Join(dir, "SOURCE"))
	of := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 {
			of[words[0]] = words[1]
		}
	}
	return of["old:"] + " → " + of["new:"]
}

// upgradeTable is a Markdown table of the results of all upgrades.
type upgradeTable struct {
	mu   sync.Mutex
	rows []upgradeRow
}

type upgradeRow struct {
	name, releases, method                                string
	nodes, changes, warned, conflicts                     int
	unchanged, fields, batch, warnings, refusal, conflict verdict
}

func (u *upgradeTable) add(r upgradeRow) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.rows = append(u.rows, r)
}

func (u *upgradeTable) String() string {
	var w strings.Builder
	fmt.Fprintln(&w, "| project | releases | applied | nodes | fields that change | unchanged plans nothing | fields equal | first batch exact | warnings | warnings equal | refusals equal | conflicts after undo | conflicts equal |")
	fmt.Fprintln(&w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	slices.SortFunc(u.rows, func(a, b upgradeRow) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.method, b.method))
	})
	for _, r := range u.rows {
		fmt.Fprintf(&w, "| %s | %s | %s | %d | %d | %s | %s | %s | %d | %s | %s | %d | %s |\n", r.name, r.releases, r.method, r.nodes, r.changes,
			&r.unchanged, &r.fields, &r.batch, r.warned, &r.warnings, &r.refusal, r.conflicts, &r.conflict)
	}
	return w.String()
}

// verdict counts comparisons of one kind.
type verdict struct {
	equal, unequal int
	what           []string // what was equal, in few words
}

func (v *verdict) no() { v.unequal++ }
func (v *verdict) yes(what string) {
	v.equal++
	if what != "" && !slices.Contains(v.what, what) {
		v.what = append(v.what, what)
	}
}
func (v *verdict) is(equal bool) {
	if equal {
		v.yes("")
	} else {
		v.no()
	}
}

func (v *verdict) String() string {
	text := fmt.Sprintf("yes (%d)", v.equal)
	switch {
	case v.unequal > 0:
		text = fmt.Sprintf("**no** (%d of %d)", v.unequal, v.equal+v.unequal)
	case v.equal == 0:
		return "–"
	}
	if len(v.what) > 0 {
		text += ": " + strings.Join(v.what, "; ")
	}
	return text
}
