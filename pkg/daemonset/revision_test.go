package daemonset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// steps replaces nil lists of a StepRevisions, which a table omits, by empty
// ones.
func steps(r StepRevisions) StepRevisions {
	n := noRevisions()
	n.Current = append(n.Current, r.Current...)
	n.Cut, n.Number, n.RaisedFrom = r.Cut, r.Number, r.RaisedFrom
	n.Adopt = append(n.Adopt, r.Adopt...)
	n.Release = append(n.Release, r.Release...)
	n.Relabel = append(n.Relabel, r.Relabel...)
	n.Remove = append(n.Remove, r.Remove...)
	return n
}

type revisionChange = func(*appsv1.ControllerRevision)

func orphaned(r *appsv1.ControllerRevision)  { r.OwnerReferences = nil }
func foreign(r *appsv1.ControllerRevision)   { r.OwnerReferences[0].UID = "another" }
func unmatched(r *appsv1.ControllerRevision) { r.Labels["app"] = "other" }
func unlabeled(r *appsv1.ControllerRevision) { delete(r.Labels, "controller-revision-hash") }
func ending(r *appsv1.ControllerRevision)    { r.DeletionTimestamp = &metav1.Time{Time: dstest.Now} }
func young(r *appsv1.ControllerRevision)     { r.CreationTimestamp = metav1.NewTime(dstest.Now) }
func ancient(r *appsv1.ControllerRevision) {
	r.CreationTimestamp = metav1.NewTime(dstest.Now.Add(-9999 * time.Hour))
}
func numbered(n int64) revisionChange {
	return func(r *appsv1.ControllerRevision) { r.Revision = n }
}
func hashed(h string) revisionChange {
	return func(r *appsv1.ControllerRevision) { r.Labels["controller-revision-hash"] = h }
}
func holding(data string) revisionChange {
	return func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte(data) }
}

func revision(name string, changes ...revisionChange) dstest.Option {
	return dstest.Revision(name, func(r *appsv1.ControllerRevision) {
		for _, c := range changes {
			c(r)
		}
	})
}

func historyLimit(n int32) dstest.Option {
	return dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.RevisionHistoryLimit = &n })
}

func podHash(pod, hash string) dstest.Option {
	return dstest.Pod(pod, func(p *corev1.Pod) { p.Labels["controller-revision-hash"] = hash })
}

func TestRevisionsOfStep(t *testing.T) {
	const spaced = `{ "spec": {"template": {"spec": {"containers":[{"resources":{},"name":"agent","image":"example/agent:2"}]}, "metadata":{"labels":{"app":"agent"}}, "$patch":"replace"}}}`
	const nullTime = `{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"app":"agent"}},"spec":{"containers":[{"image":"example/agent:2","name":"agent","resources":{}}]}}}}`
	future := strings.Replace(strings.Replace(nullTime, `"creationTimestamp":null,`, "", 1), `"resources":{}`, `"resources":{},"fromTheFuture":true`, 1)
	unknownVersion := dstest.Edit(func(s *snapshot.Snapshot) { s.VersionSource = snapshot.VersionDefault })
	cleanUp := func(names ...string) []Removal {
		var out []Removal
		for _, n := range names {
			out = append(out, Removal{n, CleanUp})
		}
		return out
	}
	older := func(n int) (opts options) { // n revisions of numbers from 10 on, beside agent-old of number 1
		for i := range n {
			opts = append(opts, dstest.AddRevision(fmt.Sprintf("older%d", i), int64(10+i), fmt.Sprintf("example/agent:0.%d", i)))
		}
		return opts
	}
	noLimit := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.RevisionHistoryLimit = nil })
	settled := StepRevisions{Current: []string{"agent-new"}, Number: 2}
	cut := func(number int64) StepRevisions { return StepRevisions{Cut: true, Number: number} }
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want StepRevisions
		why  string
	}{
		// Which one is current.
		{"N", nil, settled, "the revision whose content is the live template is current"},
		{"N", options{revision("agent-new", holding(spaced))}, settled, "by content: spaces and the order of keys do not matter"},
		{"N", options{revision("agent-new", holding(nullTime))}, cut(3), "a null creationTimestamp is other content from 1.34 on (#130989)"},
		{"N", options{dstest.Version("v1.33.13")}, settled, "and up to 1.33 the only one that matches"},
		{"N", options{dstest.Version("v1.33.13"), revision("agent-new", holding(strings.Replace(nullTime, `"creationTimestamp":null,`, "", 1)))}, cut(3), "so that one without it does not"},
		{"N", options{unknownVersion, revision("agent-new", holding(nullTime))}, settled, "where nothing tells the version, either form is current"},
		{"N", options{unknownVersion}, settled, "the newer one as much"},
		{"N", options{unknownVersion, revision("agent-old", holding(nullTime))}, settled, "of both the form of the highest number counts: an upgrade over 1.34 leaves no duplicates"},
		{"N", options{unknownVersion, revision("agent-old", holding(nullTime), numbered(7))}, StepRevisions{Current: []string{"agent-old"}, Number: 7}, "whichever that is"},
		{"N", options{unknownVersion, revision("agent-new", holding(nullTime), numbered(0))}, settled, "even one of number 0, which is taken up again"},
		{"N", options{unknownVersion, revision("agent-old", holding(spaced), numbered(7)), revision("agent-new", holding(nullTime))}, StepRevisions{Current: []string{"agent-old"}, Number: 7}, "in whatever order they are listed"},
		{"N", options{unknownVersion, revision("agent-old", holding(nullTime), numbered(7), func(r *appsv1.ControllerRevision) { r.Namespace = "elsewhere" })}, settled, "but not one of another namespace"},
		{"N", options{unknownVersion, revision("agent-old", holding(nullTime), numbered(7), func(r *appsv1.ControllerRevision) { r.OwnerReferences[0].UID = "other" })}, settled, "or of another DaemonSet"},
		{"N", options{unknownVersion, revision("agent-old", holding(nullTime), numbered(2))}, StepRevisions{Current: []string{"agent-new"}, Number: 3, RaisedFrom: 2}, "of one number the newest version's form counts, wherever it stands"},
		{"N", options{unknownVersion, revision("agent-old", holding(spaced), numbered(2)), revision("agent-new", holding(nullTime))}, StepRevisions{Current: []string{"agent-old"}, Number: 3, RaisedFrom: 2}, "as much where it is listed first"},
		{"N", options{dstest.Version("v1.38.0"), revision("agent-new", holding(future))}, settled, "of a newer Kubernetes, what these types do not know is left out"},
		{"N", options{revision("agent-new", holding(future))}, cut(3), "which of a known one it is not"},
		{"N", options{revision("agent-new", holding(`{"spec":{"template":{}}}`))}, cut(3), "one with other data is old, and a new one is cut with the next number"},
		{"N", options{revision("agent-new", holding(`[]`)), revision("agent-old", holding(`{"spec":{}}`))}, cut(3), "data that are no template are old as well"},
		{"N", options{dstest.Version("v1.38.0"), revision("agent-new", holding(`[]`)), dstest.Edit(func(s *snapshot.Snapshot) { s.DaemonSet.Spec.Template = corev1.PodTemplateSpec{} })}, cut(3), "and not those of an empty one"},
		{"N", options{dstest.Edit(func(s *snapshot.Snapshot) { s.Revisions = nil })}, cut(1), "the first revision has number 1"},
		{"N", options{revision("agent-new", numbered(1)), revision("agent-old", numbered(7))}, StepRevisions{Current: []string{"agent-new"}, Number: 8, RaisedFrom: 1}, "a rollback takes the old one up again and gives it the next number"},
		{"N", options{revision("agent-new", numbered(9))}, StepRevisions{Current: []string{"agent-new"}, Number: 9}, "a number that is the highest already stays"},
		{"N", options{revision("agent-new", numbered(7)), revision("agent-old", numbered(7))}, StepRevisions{Current: []string{"agent-new"}, Number: 8, RaisedFrom: 7}, "the highest alone, not one among others"},

		// Whose they are.
		{"N", options{revision("agent-new", orphaned)}, StepRevisions{Current: []string{"agent-new"}, Number: 2, Adopt: []string{"agent-new"}}, "an orphan that matches the selector is adopted and used"},
		{"N", options{revision("agent-new", orphaned, ending)}, cut(2), "unless it is being deleted"},
		{"N", options{revision("agent-new", ending)}, settled, "an owned one that is being deleted is used"},
		{"N", options{revision("agent-new", unmatched)}, StepRevisions{Cut: true, Number: 2, Release: []string{"agent-new"}}, "one that does not match the selector is released and not used"},
		{"N", options{revision("agent-old", unmatched), revision("agent-new", unmatched)}, StepRevisions{Cut: true, Number: 1, Release: []string{"agent-new", "agent-old"}}, "all that are released, by name"},
		{"N", options{revision("agent-old", orphaned), revision("agent-new", orphaned)}, StepRevisions{Current: []string{"agent-new"}, Number: 2, Adopt: []string{"agent-new", "agent-old"}}, "all that are adopted, by name"},
		{"N", options{revision("agent-new", foreign)}, cut(2), "another's is not used"},
		{"N", options{revision("agent-old", orphaned, unmatched)}, settled, "nobody's that does not match is left alone"},
		{"N", options{revision("agent-new", func(r *appsv1.ControllerRevision) { r.Namespace = "elsewhere" })}, cut(2), "nor is one of another namespace (1.23, #101250)"},

		// Duplicates.
		{"N", options{dstest.AddRevision("twin", 3, "")}, StepRevisions{Current: []string{"agent-twin"}, Number: 3, Relabel: []string{"p0"}, Remove: []Removal{{"agent-new", Duplicate}}}, "of equal ones the highest number is kept and the others removed"},
		{"N O Ot ofa ox op -", options{dstest.AddRevision("twin", 3, ""), podHash("p5", "twin")}, StepRevisions{Current: []string{"agent-twin"}, Number: 3, Relabel: []string{"p0", "p1", "p2", "p3"}, Remove: []Removal{{"agent-new", Duplicate}}}, "all claimed pods get its hash, truly old ones too (#111280)"},
		{"O O", options{dstest.AddRevision("twin", 3, ""), dstest.Pod("p0", func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(dstest.Now) })}, StepRevisions{Current: []string{"agent-twin"}, Number: 3, Relabel: []string{"p0", "p1"}, Remove: []Removal{{"agent-new", Duplicate}}}, "by name, not by age"},
		{"N", options{dstest.AddRevision("twin", 2, "")}, StepRevisions{Current: []string{"agent-new", "agent-twin"}, Number: 2, Relabel: []string{"p0"}, Remove: []Removal{{"agent-new", Duplicate}}}, "of equal numbers it is random which; one is shown"},
		{"N", options{dstest.AddRevision("twin", 1, ""), dstest.AddRevision("triplet", 0, ""), revision("agent-old", numbered(5))}, StepRevisions{Current: []string{"agent-new"}, Number: 6, RaisedFrom: 2, Remove: []Removal{{"agent-twin", Duplicate}, {"agent-triplet", Duplicate}}}, "the kept one still gets the next number"},

		// Clean-up.
		{"N", options{historyLimit(0)}, StepRevisions{Current: []string{"agent-new"}, Number: 2, Remove: cleanUp("agent-old")}, "old revisions beyond the limit go, of which the current one is none"},
		{"N", options{historyLimit(1)}, settled, "as many as the limit stay"},
		{"N", options{historyLimit(1), dstest.AddRevision("older", 0, "example/agent:0"), revision("agent-old", numbered(1))}, StepRevisions{Current: []string{"agent-new"}, Number: 2, Remove: cleanUp("agent-older")}, "the lowest numbers go first"},
		{"N O", options{historyLimit(0)}, settled, "not one whose hash a pod carries"},
		{"N oft", options{historyLimit(0)}, settled, "even a pod that is done and terminating"},
		{"N O", options{historyLimit(0), dstest.AddRevision("older", 0, "example/agent:0")}, StepRevisions{Current: []string{"agent-new"}, Number: 2, Remove: cleanUp("agent-older")}, "but then one that is newer"},
		{"N O", options{historyLimit(0), dstest.AddRevision("between", 1, "example/agent:1.5"), revision("agent-old", numbered(0))}, StepRevisions{Current: []string{"agent-new"}, Number: 2, Remove: cleanUp("agent-between")}, "the limit is met with what may go"},
		{"N op", options{historyLimit(0), dstest.Pod("p1", func(p *corev1.Pod) { p.Spec.Affinity = nil })}, StepRevisions{Current: []string{"agent-new"}, Number: 2, Remove: cleanUp("agent-old")}, "a pod without a target node keeps nothing"},
		{"N Ox", options{historyLimit(0)}, StepRevisions{Current: []string{"agent-new"}, Number: 2, Remove: cleanUp("agent-old")}, "nor does another's"},
		{"N O", options{historyLimit(0), dstest.AddRevision("twin", 3, "")}, StepRevisions{Current: []string{"agent-twin"}, Number: 3, Relabel: []string{"p0", "p1"}, Remove: append([]Removal{{"agent-new", Duplicate}}, cleanUp("agent-old")...)}, "nor a hash that was relabelled in this sync"},
		{"N O", options{historyLimit(0), revision("agent-old", hashed("")), podHash("p1", "")}, StepRevisions{Current: []string{"agent-new"}, Number: 2, Remove: cleanUp("agent-old")}, "an empty hash is in nobody's use"},
		{"N", options{historyLimit(0), revision("agent-old", unlabeled), podHash("p0", "agent-old")}, settled, "a revision without the label has its name for a hash"},
		{"N", options{historyLimit(0), revision("agent-old", orphaned)}, StepRevisions{Current: []string{"agent-new"}, Number: 2, Adopt: []string{"agent-old"}, Remove: cleanUp("agent-old")}, "one that was just adopted goes as well"},
		{"N", options{noLimit, dstest.AddRevision("older", 0, "example/agent:0")}, settled, "without a limit it is 10"},
		{"N", append(older(9), noLimit, revision("agent-new", numbered(100))), StepRevisions{Current: []string{"agent-new"}, Number: 100}, "of which 10 stay"},
		{"N", append(older(10), noLimit, revision("agent-new", numbered(100))), StepRevisions{Current: []string{"agent-new"}, Number: 100, Remove: cleanUp("agent-old")}, "and the eleventh goes"},
		{"N", options{historyLimit(1), dstest.AddRevision("abc", 1, "example/agent:0")}, StepRevisions{Current: []string{"agent-new"}, Number: 2, Remove: cleanUp("agent-abc")}, "of one number and age the first by name goes, though the controller has no order there"},
		{"N", options{historyLimit(1), dstest.AddRevision("abc", 1, "example/agent:0"), revision("agent-abc", young)}, StepRevisions{Current: []string{"agent-new"}, Number: 2, Remove: cleanUp("agent-old")}, "of one number the oldest"},
		{"N", options{historyLimit(1), dstest.AddRevision("taken-up", 5, "example/agent:0"), revision("agent-taken-up", ancient)}, StepRevisions{Current: []string{"agent-new"}, Number: 6, RaisedFrom: 2, Remove: cleanUp("agent-old")}, "before that the lowest number, however old"},
		{"-", options{historyLimit(0)}, StepRevisions{Current: []string{"agent-new"}, Number: 2, Remove: cleanUp("agent-old")}, "clean-up comes after a manage step too"},
		{"~O N", options{historyLimit(0), dstest.MaxSurge("1"), dstest.AddRevision("older", 0, "example/agent:0")}, settled, "but not after a step that fails"},
		{"~O N", options{historyLimit(0), dstest.MaxSurge("1"), dstest.AddRevision("twin", 2, ""), revision("agent-new", hashed("twin")), podHash("p1", "twin"), podHash("p0", "twin")}, StepRevisions{Current: []string{"agent-new", "agent-twin"}, Number: 2, Remove: []Removal{{"agent-new", Duplicate}, {"agent-old", CleanUp}}}, "while two equal revisions make every pod new"},

		// Passed over.
		{"N", options{historyLimit(0), dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.DeletionTimestamp = &metav1.Time{Time: dstest.Now} })}, StepRevisions{}, "a DaemonSet that is being deleted keeps all its revisions"},
		{"N", options{historyLimit(0), dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Selector = &metav1.LabelSelector{} })}, StepRevisions{}, "so does one that selects everything"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			if !json.Valid([]byte(spaced)) || !json.Valid([]byte(nullTime)) {
				t.Fatal("the row's data are not JSON")
			}
			got := state(t, dstest.State(tt.grid, tt.opts...)).Sync().Revisions
			if diff := cmp.Diff(steps(tt.want), got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

// TestFailingStepKeepsDuplicatesOut tests a step that fails after duplicates
// were deleted: only the clean-up is skipped.
func TestFailingStepKeepsDuplicatesOut(t *testing.T) {
	st := state(t, dstest.State("~O N", historyLimit(0), dstest.MaxSurge("1"), dstest.AddRevision("twin", 3, ""), revision("agent-twin", hashed(""))))
	step := st.Sync()
	want := []Removal{{"agent-new", Duplicate}}
	if diff := cmp.Diff(want, step.Revisions.Remove); diff != "" || step.Error == nil {
		t.Errorf("error %+v (-want +got):\n%s", step.Error, diff)
	}
	if before := len(st.History.Remove); before != 2 {
		t.Errorf("the History itself was changed: %d removals", before)
	}
}

func TestHistory(t *testing.T) {
	st := state(t, dstest.State("N", dstest.AddRevision("twin", 2, ""), revision("agent-old", orphaned, unlabeled), revision("agent-new", numbered(5))))
	type short struct {
		Name, Hash string
		Number     int64
		Claim      Claim
		Matches    bool
	}
	want := []short{
		{"agent-new", "new", 5, Owned, true},
		{"agent-twin", "twin", 2, Owned, true},
		{"agent-old", "agent-old", 1, Adopt, false},
	}
	var got []short
	for _, r := range st.History.Revisions {
		if r.Created.IsZero() {
			t.Errorf("%s: no creation time", r.Name)
		}
		got = append(got, short{r.Name, r.Hash, r.Number, r.Claim, r.Matches})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the newest number first (-want +got):\n%s", diff)
	}
	if !st.History.CurrentKnown() {
		t.Error("the current revision exists and is not known")
	}
	if st := state(t, dstest.State("N", revision("agent-new", holding("{}")))); st.History.CurrentKnown() {
		t.Error("a revision that is yet to be cut is known")
	}
}

func TestUpdatedBy(t *testing.T) {
	generation := func(v string) dstest.Option {
		return dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			ds.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: v}
		})
	}
	none := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Annotations = nil })
	label := func(pod, v string) dstest.Option {
		return dstest.Pod(pod, func(p *corev1.Pod) { p.Labels["pod-template-generation"] = v })
	}
	type by struct {
		By       UpdatedBy
		Updated  bool
		Revision string
	}
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want by
		why  string
	}{
		{"N", nil, by{ByHash, true, "agent-new"}, "hash and generation: the hash is named"},
		{"O", nil, by{NotUpdated, false, "agent-old"}, "neither"},
		{"H", nil, by{ByHash, true, "agent-new"}, "the hash alone"},
		{"G", nil, by{ByGeneration, true, "agent-old"}, "the generation alone (1.24, #107241)"},
		{"G", options{dstest.Version("v1.23.17")}, by{NotUpdated, false, "agent-old"}, "which did not count up to 1.23"},
		{"G", options{none}, by{NotUpdated, false, "agent-old"}, "nor without the annotation"},
		{"G", options{generation("two")}, by{NotUpdated, false, "agent-old"}, "nor where it is no number"},
		{"G", options{generation("02")}, by{ByGeneration, true, "agent-old"}, "the annotation is read as a number"},
		{"G", options{label("p0", "02")}, by{NotUpdated, false, "agent-old"}, "and the label compared as it is"},
		{"O", options{none, label("p0", "")}, by{NotUpdated, false, "agent-old"}, "an empty label is no generation"},
		{"O", options{revision("agent-new", hashed("")), podHash("p0", "")}, by{NotUpdated, false, ""}, "an empty hash makes nobody new, and is of no revision"},
		{"O", options{revision("agent-new", unlabeled), podHash("p0", "agent-new")}, by{ByHash, true, "agent-new"}, "the name is the hash of a revision without the label"},
		{"O", options{dstest.AddRevision("twin", 3, "")}, by{ByHash, true, "agent-old"}, "pods that this sync relabels are new in it"},
		{"N", options{revision("agent-old", hashed("new"))}, by{ByHash, true, "agent-new"}, "of revisions with one hash a pod is of the highest number"},
		{"N", options{revision("agent-new", holding("{}")), none}, by{NotUpdated, false, "agent-new"}, "where a revision is to be cut no pod has its hash"},
		{"N", options{revision("agent-new", holding("{}"))}, by{ByGeneration, true, "agent-new"}, "and the generation keeps pods in place (7.5)"},
		{"O", options{podHash("p0", "gone")}, by{NotUpdated, false, ""}, "a hash that no revision has"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			p := state(t, dstest.State(tt.grid, tt.opts...)).Nodes[0].Pods[0]
			if diff := cmp.Diff(tt.want, by{p.UpdatedBy, p.Updated, p.Revision}); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

func TestInferHistory(t *testing.T) {
	gap := dstest.Edit(func(s *snapshot.Snapshot) {
		s.Revisions, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Revisions, Why: snapshot.NotGiven}}
	})
	none := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Annotations = nil })
	reported := func(n int32) dstest.Option {
		return dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Status.UpdatedNumberScheduled = n })
	}
	behind := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Status.ObservedGeneration = ds.Generation - 1 })
	young := func(pod string) dstest.Option {
		return dstest.Pod(pod, func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(dstest.Now) })
	}
	ungenerated := func(pod string) dstest.Option {
		return dstest.Pod(pod, func(p *corev1.Pod) { delete(p.Labels, "pod-template-generation") })
	}
	unknown := History{Hash: hashOfNew, Inferred: "None"}
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want History
		why  string
	}{
		{"O N O", nil, History{Hash: "new", Inferred: "TemplateGeneration"}, "a pod of the live generation has the current hash"},
		{"G N", options{young("p1")}, History{Hash: "new", Inferred: "TemplateGeneration"}, "the youngest of them knows best"},
		{"G N", options{young("p0")}, History{Hash: "old", Inferred: "TemplateGeneration"}, "whichever that is"},
		{"G N", options{young("p0"), young("p1")}, History{Hash: "old", Inferred: "TemplateGeneration"}, "of two of one second, the first by name"},
		{"N gp", options{young("p0")}, History{Hash: "new", Inferred: "TemplateGeneration"}, "bound or not"},
		{"O O", nil, unknown, "without one nothing tells"},
		{"N O", options{none, reported(1)}, unknown, "of two hashes the status cannot tell which it means"},
		{"H H", options{none, reported(2)}, History{Hash: "new", Inferred: "Status"}, "one hash that all pods carry, and the status counts all as updated"},
		{"H H", options{none, reported(1)}, unknown, "not if it counts fewer"},
		{"H H", options{none, reported(2), behind}, unknown, "nor if it is of an earlier generation"},
		{"N", options{podHash("p0", "")}, unknown, "a pod without a hash tells nothing"},
		{"O", options{none, ungenerated("p0")}, unknown, "without the annotation a pod without the label is of no generation"},
		{"", nil, unknown, "nor does no pod"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, append(tt.opts, gap)...)
			for _, order := range []string{"as they stand", "the other way round"} {
				st := state(t, s)
				if diff := cmp.Diff(&tt.want, st.History); diff != "" {
					t.Errorf("%q, pods %s (-want +got):\n%s", tt.grid, order, diff)
				}
				if st.Sync().Exact {
					t.Errorf("%q: a step by a guess is exact", tt.grid)
				}
				slices.Reverse(s.Pods)
			}
		})
	}
}

func TestNewPod(t *testing.T) {
	nameless := dstest.Revision("agent-new", func(r *appsv1.ControllerRevision) { r.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = "" })
	ungenerated := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Annotations = nil })
	whys := whys{}
	for _, tt := range []struct {
		opts options
		want UpdatedBy
		why  string
	}{
		{nil, ByHash, "a pod that is created gets the current hash"},
		{options{nameless}, ByGeneration, "an empty one tells nothing, but the template generation does"},
		{options{nameless, ungenerated}, NotUpdated, "not without the annotation"},
		{options{nameless, dstest.Version("v1.23.0")}, NotUpdated, "nor before 1.24"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			if got := state(t, dstest.State("N", tt.opts...)).NewPod(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestTemplateOf(t *testing.T) {
	const stored = `{"spec":{"template":{"$patch":"replace","spec":{"containers":[{"name":"agent","image":"example/agent:5"}]}}}}`
	for _, tt := range []struct {
		name, data string
		want       string // the image
		why        string
	}{
		{"agent-old", stored, "example/agent:5", "as it is stored"},
		{"agent-older", stored, "", "there is no such revision"},
		{"agent-old", `{"spec":{}}`, "", "it stores no template"},
		{"agent-old", `{"spec":{"template":{"spec":{"containers":5}}}}`, "", "it stores what is no template"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			st, err := StateOf(dstest.State("O", dstest.Revision("agent-old", func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte(tt.data) })))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if of := st.TemplateOf(tt.name); of != nil {
				got = of.Spec.Containers[0].Image
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			changed, err := st.Changed(st.Snapshot)
			if err != nil {
				t.Fatal(err)
			}
			if st.TemplateOf(tt.name) != changed.TemplateOf(tt.name) {
				t.Error("it is decoded again for the State after a change")
			}
		})
	}
}
