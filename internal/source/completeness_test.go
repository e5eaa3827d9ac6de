package source_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// listText returns a List in the notation of TestPages. "Pod 3 next=a left=2 rv=7" is a PodList of three pods. The
// server has two more pods for the token a. "List" holds ConfigMaps, which no answer needs.
func listText(t *testing.T, line string) string {
	t.Helper()
	words := strings.Fields(line)
	var n int
	if _, err := fmt.Sscan(words[1], &n); err != nil {
		t.Fatal(line, err)
	}
	apiVersion, namespace, kind := object.Counted[words[0]], `,"namespace":"kube-system"`, words[0]+"List"
	switch words[0] {
	case "Node":
		namespace = ""
	case "ReplicaSet":
		apiVersion = "apps/v1"
	case "List":
		apiVersion, kind = "v1", "List"
	}
	var meta, items []string
	for _, w := range words[2:] {
		k, v, _ := strings.Cut(w, "=")
		switch k {
		case "rv":
			meta = append(meta, fmt.Sprintf(`"resourceVersion":%q`, v))
		case "next":
			meta = append(meta, fmt.Sprintf(`"continue":%q`, v))
		case "left":
			meta = append(meta, `"remainingItemCount":`+v)
		default:
			t.Fatalf("%q: what is %q?", line, w)
		}
	}
	for i := range n {
		own := ""
		if words[0] == "List" {
			own = `"apiVersion":"v1","kind":"ConfigMap",`
		}
		if words[0] == "DaemonSet" {
			own = `"spec":{"selector":{}},`
		}
		items = append(items, fmt.Sprintf(`{%s"metadata":{"name":"%s-%d-%d"%s}}`, own, strings.ToLower(words[0]), len(line), i, namespace))
	}
	return fmt.Sprintf("{\"apiVersion\":%q,\"items\":[%s],\"kind\":%q,\"metadata\":{%s}}\n", apiVersion, strings.Join(items, ","), kind, strings.Join(meta, ","))
}

// TestPages checks that the kinds with an incomplete List are gaps, and no other kinds.
func TestPages(t *testing.T) {
	const all = "[daemonsets nodes pods controllerrevisions events poddisruptionbudgets]"
	for _, tt := range []struct{ lists, want, why string }{
		{"Pod 3 rv=7", "[]", "a List without a word of pages is whole"},
		{"Pod 3 rv=7 next=a left=2", "[pods]", "a page of pods, and none that follows"},
		{"Pod 3 rv=7 next=a", "[pods]", "a server does not count what a selector leaves"},
		{"Pod 3 rv=7 left=2", "[pods]", "what is left is enough, where somebody took the token out"},
		{"Pod 0 rv=7 next=a left=2", "[pods]", "a page may hold nothing"},
		{"Pod 3 rv=7 next=a left=2\nPod 2 rv=7", "[]", "both pages are there"},
		{"Pod 2 rv=7\nPod 3 rv=7 next=a left=2", "[]", "in any order"},
		{"Pod 3 rv=7 next=a left=2\nPod 2 rv=8", "[pods]", "the second is of another reading"},
		{"Pod 3 rv=7 next=a left=5\nPod 3 rv=7 next=b left=2\nPod 2 rv=7", "[]", "three pages"},
		{"Pod 3 rv=7 next=a left=5\nPod 2 rv=7", "[pods]", "the middle one is missing"},
		{"Pod 3 rv=7 next=a left=5\nPod 3 rv=7 next=b left=2", "[pods]", "the last one is"},
		{"Pod 3 rv=7 next=a left=5\nPod 3 rv=7 next=a left=5\nPod 2 rv=7", "[pods]", "a page that is given twice does not stand for the one that is missing"},
		{"Pod 3 rv=7 next=a left=2\nPod 9 rv=7", "[pods]", "nor does a whole List of another namespace, of the same moment"},
		{"Pod 3 rv=7 next=a\nPod 2 rv=7", "[]", "two pages that a selector kept from being counted"},
		{"Pod 3 rv=7\nPod 2 rv=7\nPod 9 rv=7", "[]", "Lists of several namespaces, of the same moment"},
		{"Node 1 rv=7 next=a left=9", "[nodes]", "nodes"},
		{"ControllerRevision 1 rv=7 next=a left=9", "[controllerrevisions]", "revisions"},
		{"Event 1 rv=7 next=a left=9", "[events]", "events"},
		{"PodDisruptionBudget 1 rv=7 next=a left=9", "[poddisruptionbudgets]", "PodDisruptionBudgets, whose absence is no gap"},
		{"DaemonSet 1 rv=7 next=a left=9", "[daemonsets]", "DaemonSets, of which those that are there can be explained"},
		{"ReplicaSet 1 rv=7 next=a left=9", "[]", "a kind that counts for nothing"},
		{"List 1 rv=7 next=a left=9", all, "what follows in a List of anything may be of any kind"},
		{"Pod 1 rv=7 next=a left=9\nNode 1 rv=7 next=a left=9", "[nodes pods]", "two of them"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			text := edited(t, parseWorld(t, "ds agent gen=1 current=1\nnode n1\npod p1 app=agent owner=agent ready\nrev r app=agent owner=agent\nevent e about=DaemonSet/agent"))
			for line := range strings.Lines(tt.lists) {
				text += listText(t, line)
			}
			for form, text := range map[string]string{"as they come": text, "in a List": `{"kind":"List","apiVersion":"v1","items":[` + strings.ReplaceAll(strings.TrimSpace(text), "}\n{", "},\n{") + "]}"} {
				d, err := readText(text)
				if err != nil {
					t.Fatal(form, err)
				}
				if len(d.Notes()) > 0 {
					t.Errorf("%s: notes %q: a gap says it", form, d.Notes())
				}
				found, err := d.ReadAll(background, source.Filter{})
				if err != nil {
					t.Fatal(form, err)
				}
				got := []snapshot.What{}
				for _, g := range found[0].Gaps {
					if g.Why == snapshot.Partial {
						got = append(got, g.What)
					}
				}
				if fmt.Sprint(got) != tt.want {
					t.Errorf("%s: partial %v, want %s", form, got, tt.want)
				}
				one, err := d.Read(background, agent)
				if err != nil {
					t.Fatal(form, err)
				}
				if one.Lacks(snapshot.DaemonSets) {
					t.Errorf("%s: which other DaemonSets there are does not matter to this one", form)
				}
			}
		})
	}
}

// TestPagesAreSaid checks the message about missing objects, also from a recorded Snapshot.
func TestPagesAreSaid(t *testing.T) {
	for _, tt := range []struct{ lists, want, why string }{
		{"Pod 3 rv=7 next=a left=2", "the input holds 3 of the 5 objects of the PodList: its other pages must be given, too", "as the server counts them"},
		{"Pod 3 rv=7 next=a left=5\nPod 2 rv=7", "the input holds 5 of the 8 objects of the PodList: its other pages must be given, too", "of all its pages"},
		{"Pod 3 rv=7 next=a", "the input holds 3 objects of the PodList, and not its last page: the other pages must be given, too", "where the server has not counted them"},
		{"Pod 3 rv=7 next=a left=2\nPod 9 rv=7", "the input holds 12 objects on the pages of the PodList, which has 5", "pages that cannot be of one List"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			text := edited(t, parseWorld(t, "ds agent gen=1\nnode n1\nrev r app=agent owner=agent\nevent e about=DaemonSet/agent"))
			for line := range strings.Lines(tt.lists) {
				text += listText(t, line)
			}
			want := append([]snapshot.Gap{{What: snapshot.Pods, Why: snapshot.Partial, Message: tt.want}}, clockAndVersion...)
			for range 2 { // the text itself, then the recorded Snapshot
				d, err := readText(text)
				if err != nil {
					t.Fatal(err)
				}
				s, err := d.Read(background, agent)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, s.Gaps); diff != "" {
					t.Fatalf("(-want +got):\n%s", diff)
				}
				raw, err := snapshot.Encode(s)
				if err != nil {
					t.Fatal(err)
				}
				text = string(raw)
			}
		})
	}
}
