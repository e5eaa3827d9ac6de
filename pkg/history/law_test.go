package history

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// each calls law with random states and their histories.
func each(t *testing.T, law func(t *testing.T, s *snapshot.Snapshot, st *daemonset.State, h *History)) {
	t.Helper()
	for seed := range cases.Of(int64(200)) {
		s := dstest.RandomFor(seed, []string{dstest.Newest, "v1.30.5", "v1.22.17"}[seed%3])
		profile, err := daemonset.ForVersion(s.KubernetesVersion)
		if err != nil {
			t.Fatal(err)
		}
		st, err := daemonset.New(s, profile)
		if err != nil {
			t.Fatal(err)
		}
		h, err := Make(st, Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if law(t, s, st, h); t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, dstest.Describe(s))
		}
	}
}

// TestLawPartsAddUp checks that the nodes of all rows are the nodes with pods,
// each once, and that their pods are all pods of the DaemonSet.
func TestLawPartsAddUp(t *testing.T) {
	shared := 0
	each(t, func(t *testing.T, _ *snapshot.Snapshot, st *daemonset.State, h *History) {
		var got, want []string
		pods, all := 0, 0
		for _, row := range h.Revisions {
			got = append(got, row.OnNodes...)
			pods += *row.Pods
			if *row.Nodes != len(row.OnNodes) || *row.Available > *row.Nodes || *row.Nodes > *row.Pods {
				t.Errorf("row %s: %d nodes, %d of them available, %d pods, %v", row.Hash, *row.Nodes, *row.Available, *row.Pods, row.OnNodes)
			}
			if !slices.IsSorted(row.OnNodes) {
				t.Errorf("row %s: %v", row.Hash, row.OnNodes)
			}
		}
		count := func(list []daemonset.Pod) {
			for _, p := range list {
				all += b2i(p.Claim != daemonset.Release)
			}
		}
		for _, n := range st.Nodes {
			if len(n.Pods) > 0 {
				want = append(want, n.Name)
				shared += b2i(len(n.Pods) > 1)
			}
			count(n.Pods)
			count(n.Ignored)
		}
		count(st.Unmapped)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || pods != all {
			t.Errorf("%d of %d pods; nodes (-with pods +in rows):\n%s", pods, all, diff)
		}
	})
	if shared == 0 {
		t.Error("no node has two pods")
	}
}

// TestLawRows checks that numbers descend, that rows without a revision are
// last, that every note of a row is a note of the History, and that the current
// revisions are those that the controller would use.
func TestLawRows(t *testing.T) {
	each(t, func(t *testing.T, _ *snapshot.Snapshot, st *daemonset.State, h *History) {
		current := []string{}
		for i, row := range h.Revisions {
			if i > 0 && (h.Revisions[i-1].Name == "" && row.Name != "" || row.Revision > h.Revisions[i-1].Revision) {
				t.Errorf("row %d: revision %d %q after revision %d %q", i, row.Revision, row.Name, h.Revisions[i-1].Revision, h.Revisions[i-1].Name)
			}
			if row.Current && row.Name != "" {
				current = append(current, row.Name)
			}
			for _, code := range row.Notes {
				if !slices.ContainsFunc(h.Notes, func(n Note) bool {
					return n.Code == code && (row.Name == "" || slices.Contains(n.Revisions, row.Name))
				}) {
					t.Errorf("row %s: %s is no note", row.Name, code)
				}
			}
		}
		slices.Sort(current)
		if diff := cmp.Diff(append([]string{}, st.History.Current...), current); diff != "" {
			t.Errorf("current (-state +rows):\n%s", diff)
		}
		if !slices.IsSortedFunc(h.Notes, func(a, b Note) int { return slices.Index(NoteCodes, a.Code) - slices.Index(NoteCodes, b.Code) }) {
			t.Errorf("the notes are not in order: %v", noted(h))
		}
	})
}

// TestLawInput checks that the order of the input does not matter, and that the
// input is not modified.
func TestLawInput(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	each(t, func(t *testing.T, s *snapshot.Snapshot, st *daemonset.State, h *History) {
		before, err := snapshot.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Make(st, Options{}); err != nil {
			t.Fatal(err)
		}
		after, err := snapshot.Encode(s)
		if err != nil || string(before) != string(after) {
			t.Errorf("the snapshot was changed: %v", err)
		}
		mixed := *s
		mixed.Revisions, mixed.Pods = slices.Clone(s.Revisions), slices.Clone(s.Pods)
		r.Shuffle(len(mixed.Revisions), func(i, j int) {
			mixed.Revisions[i], mixed.Revisions[j] = mixed.Revisions[j], mixed.Revisions[i]
		})
		r.Shuffle(len(mixed.Pods), func(i, j int) { mixed.Pods[i], mixed.Pods[j] = mixed.Pods[j], mixed.Pods[i] })
		other, err := try(&mixed, Options{})
		if diff := cmp.Diff(h, other); err != nil || diff != "" {
			t.Errorf("of another order: %v (-first +mixed):\n%s", err, diff)
		}
	})
}

// TestLawHidden checks that no document contains a literal value unless
// requested.
func TestLawHidden(t *testing.T) {
	const secret = "hunter2"
	s := past(t, "1=a b")
	s.DaemonSet.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "TOKEN", Value: secret + "new"}}
	old := s.DaemonSet.Spec.Template.DeepCopy()
	for number, env := range [][]corev1.EnvVar{{{Name: "TOKEN", Value: secret}}, {{Name: "TOKEN", Value: secret + "1"}, {Name: "OTHER", Value: secret}}, nil} {
		old.Spec.Containers[0].Env = env
		r := revisionOf(t, s, string(rune('2'+number))+"=a")
		r.Data = storedData(t, old, false)
		s.Revisions = append(s.Revisions, r)
	}
	metav1.SetMetaDataAnnotation(&s.Revisions[1].ObjectMeta, changeCause, "kubectl set env daemonset/agent TOKEN="+secret)
	for _, show := range []bool{false, true} {
		h := of(t, s, Options{ShowValues: show, Diff: &Between{From: &Which{Number: 2}, To: &Which{Live: true}}})
		raw, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if found := strings.Count(string(raw), secret); (found > 0) != show {
			t.Errorf("values are shown: %t, and found %d times in %s", show, found, raw)
		}
		if show {
			continue
		}
		if c := h.Diff.Change; len(c) != 1 || !c[0].Hidden || c[0].Kind != FieldSet {
			t.Errorf("the value has changed, hidden: %v", c)
		}
	}
}
