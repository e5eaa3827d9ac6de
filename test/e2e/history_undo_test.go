package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// undoing is a situation in which somebody rolls back.
type undoing struct {
	name               string
	unavailable, surge string // as in the API; "" is 0
	onDelete           bool
	back               int  // number of revisions; 1 without a number
	undefaulted        bool // the target revision lacks a default, like one from before an upgrade

	// image is rolled out first, and the rollback comes when its pods are as given: available or
	// not yet. If it is empty, the rollout is over.
	image                string
	available, unhealthy int
}

// Images of unfinished rollouts.
const (
	slowly  = "acme/node-agent:slowly" // becomes ready so slowly that pods do not change for some seconds
	pullsNo = "acme/node-agent:missing"
)

var undoings = []undoing{
	{name: "settled, maxUnavailable 1", unavailable: "1", back: 1},
	{name: "settled, maxUnavailable 25%", unavailable: "25%", back: 1},
	{name: "settled, back two revisions, maxUnavailable 3", unavailable: "3", back: 2},
	{name: "settled, maxSurge 2", surge: "2", back: 1},
	{name: "mid-rollout, maxUnavailable 2", unavailable: "2", back: 1, image: slowly, available: 2, unhealthy: 2},
	{name: "mid-surge, maxSurge 2", surge: "2", back: 1, image: slowly, available: 2, unhealthy: 2},
	{name: "new pods that never get ready, maxUnavailable 2", unavailable: "2", back: 1, image: pullsNo, unhealthy: 2},
	{name: "the same beside old pods, maxSurge 25%", surge: "25%", back: 1, image: pullsNo, unhealthy: 2},
	{name: "new pods that never get ready, back two revisions", unavailable: "3", back: 2, image: pullsNo, unhealthy: 3},
	{name: "mid-rollout, back to what is older than a default", unavailable: "2", back: 1, undefaulted: true, image: slowly, available: 2, unhealthy: 2},
	{name: "OnDelete", onDelete: true, back: 1},
}

// undone is a completed rollback.
type undone struct {
	*undoing
	preview  *plan.Plan // of history --undo
	without  *plan.Plan // what would come next without a rollback
	seen     int64      // version of the pods in the preview
	from, to int64      // versions before and after the rollback
}

// TestUndoPreview previews a rollback with history --undo, performs it with kubectl rollout undo,
// and compares the controller's first batch, the number of the revision, and how many pods are
// replaced and kept.
func TestUndoPreview(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{LogSyncs: true})
	must(t, c.AddNodes(ctx, stage.Nodes(8, "node-%02d")...))
	must(t, c.SetRules(ctx, stage.Rule{Image: pullsNo, Behave: stage.ImagePullBackOff}))
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:0")
	must(t, c.CreateNamespace(ctx, ds.Namespace))
	r := newRecord(t, c, ds.Namespace)
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))

	var all []*undone
	for i := range undoings {
		for try := 0; ; try++ {
			u := undo(t, c, r, ds, &undoings[i], i+try*len(undoings))
			if moved := u.moved(r); moved == nil {
				all = append(all, u)
				break
			} else if try == 5 {
				t.Fatalf("%s: pods moved between the preview and the rollback: %s", u.name, moved)
			}
		}
	}
	catchUp(t, c, r, ds)
	log, err := c.AuditLog(ctx)
	must(t, err)
	syncs, err := c.Syncs(ds.Namespace, ds.Name)
	must(t, err)
	found, _, _ := batches(t, r, log, syncs)
	for _, u := range all {
		t.Run(u.name, func(t *testing.T) { u.compareFirst(t, r, found) })
	}
	onlyReads(t, c)
}

// undo creates a situation, previews the rollback, performs it, and compares the result.
func undo(t *testing.T, c *stage.Cluster, r *record, ds *appsv1.DaemonSet, s *undoing, number int) *undone {
	t.Helper()
	ctx := t.Context()
	must(t, prepareUndo(ctx, c, ds, s, number))
	u := &undone{undoing: s}
	to := "0"
	if s.back > 1 {
		revisions := strings.Fields(answer(t, c, stage.Admin, "-n", ds.Namespace, "get", "controllerrevisions", "--sort-by=.revision", "-o", "jsonpath={.items[*].revision}"))
		to = revisions[len(revisions)-1-s.back]
	}
	var command []string
	// The pods do not change for seconds: if they changed during the preview, it is made again.
	must(t, c.WaitFor(ctx, s.name+": a preview of pods that stand still", func(context.Context) (bool, error) {
		before, _ := podsNow(t, c, ds)
		u.preview = previewOf(t, c, ds, "history", "--undo", to)
		u.without = previewOf(t, c, ds, "plan-rollout")
		command = pastedCommand(t, answer(t, c, stage.Reader, "ds", "history", "-n", ds.Namespace, ds.Name, "--undo", to))
		after, version := podsNow(t, c, ds)
		u.seen = version
		return before == after, nil
	}))
	pods, err := c.Pods(ctx, ds.Namespace, ds.Name)
	must(t, err)
	if result, err := c.Kubectl(ctx, command...); err != nil || result.Code != 0 || !strings.Contains(result.Stdout, "rolled back") {
		t.Fatalf("kubectl %s: %v, %+v", strings.Join(command, " "), err, result)
	}
	changed := lastChange(t, c, r, ds)
	u.from = changed.version
	if s.onDelete {
		must(t, c.WaitDaemonSet(ctx, ds.Namespace, ds.Name, "looked at", func(*appsv1.DaemonSet) bool { return true }))
	} else {
		waitRolledOut(t, c, ds)
	}
	catchUp(t, c, r, ds)
	if u.moved(r) == nil {
		u.compareEnd(t, c, ds, pods)
	}
	u.to = r.newest() + 1
	return u
}

// pastedCommand returns the rollback command of an answer, without the program's name.
func pastedCommand(t *testing.T, text string) []string {
	t.Helper()
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 3 && slices.Equal(words[:3], []string{"kubectl", "rollout", "undo"}) {
			return words[1:]
		}
	}
	t.Fatalf("no command to paste:\n%s", text)
	return nil
}

// prepareUndo rolls out three images to all nodes, sets the limits, and starts the rollout that is
// not to finish.
func prepareUndo(ctx context.Context, c *stage.Cluster, ds *appsv1.DaemonSet, s *undoing, number int) error {
	all, none := intstr.FromString("100%"), intstr.FromInt32(0)
	roll := func(image string, strategy appsv1.DaemonSetUpdateStrategy) error {
		return c.Update(ctx, ds.Namespace, ds.Name, func(ds *appsv1.DaemonSet) {
			ds.Spec.UpdateStrategy = strategy
			ds.Spec.Template.Spec.Containers[0].Image = image
			ds.Spec.Template.Annotations = nil
			if image == slowly {
				// Another template each time: a revision that becomes current again would be
				// another situation.
				ds.Spec.Template.Annotations = map[string]string{stage.ReadyAfter: "4s", "test/number": strconv.Itoa(number)}
			}
		})
	}
	fast := appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &all, MaxSurge: &none}}
	for i := range 3 {
		if err := roll(fmt.Sprintf("acme/node-agent:%d.%d", number+1, i), fast); err != nil {
			return err
		}
		if err := c.WaitRollout(ctx, ds.Namespace, ds.Name); err != nil {
			return err
		}
	}
	unavailable, surge := intstr.Parse(cmp.Or(s.unavailable, "0")), intstr.Parse(cmp.Or(s.surge, "0"))
	strategy := appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &unavailable, MaxSurge: &surge}}
	if s.onDelete {
		strategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	}
	if err := roll(cmp.Or(s.image, fmt.Sprintf("acme/node-agent:%d.2", number+1)), strategy); err != nil {
		return err
	}
	if s.undefaulted {
		if err := forgetDefault(ctx, c, ds, s.back); err != nil {
			return err
		}
	}
	return c.WaitFor(ctx, "the situation: "+s.name, func(ctx context.Context) (bool, error) {
		pods, err := c.Pods(ctx, ds.Namespace, ds.Name)
		if err != nil {
			return false, err
		}
		live, err := c.Client.AppsV1().DaemonSets(ds.Namespace).Get(ctx, ds.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		available, unhealthy, ending := 0, 0, 0
		for i := range pods {
			switch p := &pods[i]; {
			case p.DeletionTimestamp != nil:
				ending++
			case p.Spec.Containers[0].Image != s.image:
			case stage.PodReady(p):
				available++
			case takenUp(p) && (s.image != pullsNo || waitsForImage(p)):
				unhealthy++
			}
		}
		return live.Status.ObservedGeneration == live.Generation && ending == 0 && available == s.available && unhealthy == s.unhealthy, nil
	})
}

// forgetDefault replaces a revision, back before the newest, by one without a default of the API
// server. The controller must have created the newest.
func forgetDefault(ctx context.Context, c *stage.Cluster, ds *appsv1.DaemonSet, back int) error {
	if err := c.WaitDaemonSet(ctx, ds.Namespace, ds.Name, "looked at", func(*appsv1.DaemonSet) bool { return true }); err != nil {
		return err
	}
	revisions := c.Client.AppsV1().ControllerRevisions(ds.Namespace)
	list, err := revisions.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	slices.SortFunc(list.Items, func(a, b appsv1.ControllerRevision) int { return cmp.Compare(a.Revision, b.Revision) })
	r := &list.Items[len(list.Items)-1-back]
	const byDefault = `,"terminationMessagePolicy":"File"`
	if !bytes.Contains(r.Data.Raw, []byte(byDefault)) {
		return fmt.Errorf("revision %d has no %s: %s", r.Revision, byDefault, r.Data.Raw)
	}
	r.Data.Raw = bytes.Replace(r.Data.Raw, []byte(byDefault), nil, 1)
	if err := revisions.Delete(ctx, r.Name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	r.UID, r.ResourceVersion, r.ManagedFields = "", "", nil
	_, err = revisions.Create(ctx, r, metav1.CreateOptions{})
	return err
}

// takenUp reports whether the kubelet has written everything for now.
func takenUp(p *corev1.Pod) bool { return len(p.Status.ContainerStatuses) > 0 }

func waitsForImage(p *corev1.Pod) bool {
	w := p.Status.ContainerStatuses[0].State.Waiting
	return w != nil && w.Reason == "ImagePullBackOff"
}

// podsNow returns the pods by version, and the version of the list.
func podsNow(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) (text string, version int64) {
	t.Helper()
	list, err := c.Client.CoreV1().Pods(ds.Namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for _, p := range list.Items {
		text += p.Name + " " + p.ResourceVersion + "\n"
	}
	version, err = strconv.ParseInt(list.ResourceVersion, 10, 64)
	must(t, err)
	return text, version
}

func previewOf(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet, args ...string) *plan.Plan {
	t.Helper()
	out := answer(t, c, stage.Reader, slices.Concat([]string{"ds", args[0], "-n", ds.Namespace, ds.Name, "-o", "json"}, args[1:])...)
	p := &plan.Plan{}
	must(t, json.Unmarshal([]byte(out), p))
	if p.Kind != plan.Kind {
		t.Fatalf("%v gives a %s", args, p.Kind)
	}
	return p
}

// compareEnd compares the preview with the result: the revision, and the pods that stayed.
func (u *undone) compareEnd(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet, before []corev1.Pod) {
	t.Helper()
	list, err := c.Client.AppsV1().ControllerRevisions(ds.Namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	newest := slices.MaxFunc(list.Items, func(a, b appsv1.ControllerRevision) int { return cmp.Compare(a.Revision, b.Revision) })
	want := whatif.RevisionNote{From: newest.Revision - 1, Number: newest.Revision, Name: newest.Name, Was: newest.Revision - 1 - int64(u.back)}
	if u.undefaulted {
		want = whatif.RevisionNote{From: newest.Revision - 1, Number: newest.Revision, New: true}
	}
	if u.preview.Change == nil || u.preview.Change.Revision != want {
		t.Errorf("%s: the preview's change is %+v; the revision is %+v now", u.name, u.preview.Change, want)
	}
	after, err := c.Pods(t.Context(), ds.Namespace, ds.Name)
	must(t, err)
	replaced := 0
	for _, old := range before {
		if !slices.ContainsFunc(after, func(p corev1.Pod) bool { return p.UID == old.UID }) {
			replaced++
		}
	}
	o := &u.preview.Outcome
	code, left := plan.Completes, 0
	switch {
	case u.onDelete:
		code, left = plan.NotRolling, len(before) // a person may replace them
	case u.image == pullsNo && u.back > 1:
		code = plan.MayComplete // no pod shows that the previous revision works
	}
	if o.Code != code || o.Replaced+o.Dropped != replaced || o.Left != left || u.preview.Replaces+u.preview.Drops != replaced {
		t.Errorf("%s: %d of %d pods were replaced; the preview: %s, %d to replace and %d to delete", u.name, replaced, len(before), brief(u.preview), u.preview.Replaces, u.preview.Drops)
	}
	t.Logf("%s: %d of %d pods were replaced; %s", u.name, replaced, len(before), brief(u.preview))
}

// moved returns a change of a pod between the preview and the rollback, which makes the preview
// invalid, or nil.
func (u *undone) moved(r *record) *event {
	for _, e := range r.until(u.from) {
		if e.kind == "pod" && e.version > u.seen {
			return &e
		}
	}
	return nil
}

// compareFirst compares the preview with the first batch after the rollback.
func (u *undone) compareFirst(t *testing.T, r *record, found []batch) {
	i := slices.IndexFunc(found, func(b batch) bool { return b.version > u.from && b.version < u.to })
	next := &u.preview.Next
	if i < 0 || u.onDelete {
		if i >= 0 || !u.onDelete || next.Kind != daemonset.StepNone {
			t.Errorf("the controller did anything: %t; the preview: %s (%s), creates %s, deletes %s", i >= 0, next.Kind, next.Reason, batchText(next.Creates), batchText(next.Deletes))
		}
		return
	}
	b := &found[i]
	for _, e := range r.until(b.version) {
		if e.kind == "pod" && e.version > u.from {
			t.Fatalf("pods moved between the rollback and the first batch: %s", e)
		}
	}
	if !next.Exact || !b.foretold(*next) {
		t.Errorf("the preview: %s (%s), creates %s, deletes %s; %s", next.Kind, next.Reason, batchText(next.Creates), batchText(next.Deletes), b.describe(t, r))
	}
	if b.foretold(u.without.Next) {
		t.Error("the batch would have come without the rollback too: this compares nothing")
	}
	t.Logf("%s: creates %s, deletes %s", b.kind, itemsText(b.creates), itemsText(b.deletes))
}
