package docs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// TestHistories does for RevisionHistory what TestDocuments does for
// Explanation.
func TestHistories(t *testing.T) {
	r := newReader(t, "RevisionHistory")
	all := states(t)
	for name, s := range pasts(t) {
		all[name] = s
	}
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			for _, o := range []history.Options{{}, {Diff: &history.Between{From: &history.Which{Number: -1}, To: &history.Which{Live: true}}}} {
				h, err := history.Make(stateOf(t, s), o)
				if err != nil && o.Diff != nil {
					continue // there is none before the latest, or it cannot be read
				}
				if err != nil {
					t.Fatal(err)
				}
				r.history(t, h)
				raw, err := json.Marshal(h)
				if err != nil {
					t.Fatal(err)
				}
				var document any
				if err := json.Unmarshal(raw, &document); err != nil {
					t.Fatal(err)
				}
				r.value(t, "", document)
			}
		})
	}
	for _, section := range []string{"Notes", "Kinds of changes", "Kinds of fields"} {
		for c := range r.tables[section] {
			if !r.seen[section+" "+c] {
				lacks(t, "%s: no document had %s", section, c)
			}
			for _, key := range keysOf(r.tables[section][c]["Facts"]) {
				if !r.seen[section+" "+c+" "+key] {
					lacks(t, "%s: %s: no document had %s", section, c, key)
				}
			}
		}
	}
}

// history checks the codes and facts of a document, and what the page promises
// of its lists and numbers.
func (r *reader) history(t *testing.T, h *history.History) {
	t.Helper()
	for _, row := range h.Revisions {
		r.facts(t, string(row.Kind), nil, "Kinds of changes")
		r.fieldKinds(t, row.Change)
		if row.Name != "" {
			r.facts(t, string(row.Claim), nil, "Claims")
		}
		if !slices.IsSorted(row.OnNodes) || row.Nodes != nil && *row.Nodes != len(row.OnNodes) {
			r.errorf(t, "onNodes %v, nodes %v", row.OnNodes, *row.Nodes)
		}
		for _, c := range row.Notes {
			if !slices.ContainsFunc(h.Notes, func(n history.Note) bool { return n.Code == c }) {
				r.errorf(t, "%s stands in a row and not in the notes", c)
			}
		}
	}
	if !slices.IsSortedFunc(h.Revisions, func(a, b history.Revision) int { return int(b.Revision - a.Revision) }) {
		r.errorf(t, "revisions: not the newest first")
	}
	var order []history.NoteCode
	for _, n := range h.Notes {
		r.facts(t, string(n.Code), n.Facts, "Notes")
		order = append(order, n.Code)
	}
	if !slices.IsSortedFunc(order, func(a, b history.NoteCode) int {
		return slices.Index(history.NoteCodes, a) - slices.Index(history.NoteCodes, b)
	}) {
		r.errorf(t, "notes: not in the order of the table: %v", order)
	}
	for _, d := range []*history.Diff{h.Uncut, h.Diff} {
		if d != nil {
			r.facts(t, string(d.Kind), nil, "Kinds of changes")
			r.fieldKinds(t, d.Change)
		}
	}
}

func (r *reader) fieldKinds(t *testing.T, changes []history.FieldChange) {
	t.Helper()
	for _, c := range changes {
		r.facts(t, string(c.Kind), nil, "Kinds of fields")
	}
	if !slices.IsSortedFunc(changes, func(a, b history.FieldChange) int { return strings.Compare(a.Path.String(), b.Path.String()) }) {
		r.errorf(t, "change: not in the order of the paths")
	}
}

// kept is a ControllerRevision of a past: its number, the letter of its
// template (two of one letter are equal), and how many minutes ago it was made.
type kept struct {
	number int64
	letter byte
	ago    time.Duration
	edit   func(*appsv1.ControllerRevision)
}

// pasts are states that show what there is of notes and changes.
func pasts(t *testing.T) map[string]*snapshot.Snapshot {
	t.Helper()
	all := map[string]*snapshot.Snapshot{}
	add := func(name string, live byte, limit int32, revisions []kept, edits ...func(*snapshot.Snapshot)) {
		s := dstest.State("N N")
		s.DaemonSet.Spec.RevisionHistoryLimit = &limit
		s.DaemonSet.Spec.Template = letter(s, live)
		s.Revisions = nil
		for i, k := range revisions {
			s.Revisions = append(s.Revisions, k.revision(t, s, string(rune('a'+i))))
		}
		for _, e := range edits {
			e(s)
		}
		all[name] = s
	}
	orphan := func(r *appsv1.ControllerRevision) { r.OwnerReferences = nil }
	unmatched := func(r *appsv1.ControllerRevision) { r.Labels = nil }
	foreign := func(r *appsv1.ControllerRevision) { r.OwnerReferences[0].UID = "another" }
	broken := func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte(`{"spec":{}}`) }
	olderForm := func(r *appsv1.ControllerRevision) {
		r.Data.Raw = []byte(strings.Replace(string(r.Data.Raw), `"metadata":{`, `"metadata":{"creationTimestamp":null,`, 1))
	}
	add("not cut", 'c', 10, []kept{{1, 'a', 90, nil}, {2, 'b', 60, nil}})
	add("older form", 'a', 10, []kept{{1, 'a', 90, olderForm}})
	add("raised", 'a', 10, []kept{{1, 'a', 90, nil}, {2, 'b', 60, nil}})
	add("taken up", 'a', 10, []kept{{3, 'a', 90, nil}, {2, 'b', 60, nil}})
	add("copies", 'a', 10, []kept{{1, 'a', 90, nil}, {2, 'a', 60, nil}})
	add("old copies", 'b', 10, []kept{{1, 'a', 90, nil}, {2, 'a', 60, nil}, {3, 'b', 50, nil}})
	add("one number", 'b', 10, []kept{{2, 'a', 90, nil}, {2, 'b', 60, nil}})
	add("clean-up", 'd', 1, []kept{{1, 'a', 90, nil}, {2, 'b', 80, nil}, {3, 'c', 70, nil}, {4, 'd', 60, nil}})
	add("restarts", '3', 3, []kept{{1, 'a', 90, nil}, {2, '1', 80, nil}, {3, '2', 70, nil}, {4, '3', 60, nil}})
	add("defaults", 'D', 10, []kept{{1, 'a', 90, nil}, {2, 'D', 60, nil}})
	add("strangers", 'e', 10, []kept{{1, 'a', 90, orphan}, {2, 'b', 80, unmatched}, {3, 'c', 70, foreign}, {4, 'd', 65, broken}, {5, 'e', 60, nil}}, func(s *snapshot.Snapshot) {
		n := int32(2)
		s.DaemonSet.Status.CollisionCount = &n
	})
	return all
}

// letter is the template of a letter: another image, or as often restarted as a
// digit says; D spells a default out.
func letter(s *snapshot.Snapshot, which byte) corev1.PodTemplateSpec {
	tmpl := *s.DaemonSet.Spec.Template.DeepCopy()
	tmpl.Annotations = nil
	tmpl.Spec.DNSPolicy = ""
	tmpl.Spec.Containers[0].Image = "example/agent:" + string(which)
	switch {
	case which >= '0' && which <= '9':
		tmpl.Spec.Containers[0].Image = "example/agent:a"
		metav1.SetMetaDataAnnotation(&tmpl.ObjectMeta, "kubectl.kubernetes.io/restartedAt", "2026-01-01T00:00:0"+string(which)+"Z")
	case which == 'D':
		tmpl.Spec.Containers[0].Image = "example/agent:a"
		tmpl.Spec.DNSPolicy = corev1.DNSClusterFirst
	}
	return tmpl
}

func (k kept) revision(t *testing.T, s *snapshot.Snapshot, name string) appsv1.ControllerRevision {
	t.Helper()
	tmpl := letter(s, k.letter)
	content, err := template.Of(&tmpl, false)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": content}})
	if err != nil {
		t.Fatal(err)
	}
	controller := true
	r := appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.DaemonSet.Namespace, Name: "agent-" + name, CreationTimestamp: ago(k.ago * time.Minute),
			Labels:          map[string]string{appsv1.DefaultDaemonSetUniqueLabelKey: name},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: s.DaemonSet.Name, UID: s.DaemonSet.UID, Controller: &controller}},
		},
		Revision: k.number, Data: runtime.RawExtension{Raw: raw},
	}
	for key, v := range s.DaemonSet.Spec.Selector.MatchLabels {
		r.Labels[key] = v
	}
	if k.edit != nil {
		k.edit(&r)
	}
	return r
}
