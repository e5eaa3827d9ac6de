package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// countingReader counts the calls of a reader.
type countingReader struct {
	reader
	one, all int
}

func (c *countingReader) Read(ctx context.Context, ref source.Ref) (*snapshot.Snapshot, error) {
	c.one++
	return c.reader.Read(ctx, ref)
}

func (c *countingReader) ReadAll(ctx context.Context, f source.Filter) ([]*snapshot.Snapshot, error) {
	c.all++
	return c.reader.ReadAll(ctx, f)
}

func TestReadNames(t *testing.T) {
	var input strings.Builder
	for _, ref := range []string{"kube-system/a", "kube-system/b", "kube-system/node-agent", "default/b"} {
		namespace, name, _ := strings.Cut(ref, "/")
		fmt.Fprintf(&input, `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"namespace":%q,"name":%q},"spec":{"selector":{"matchLabels":{"app":"x"}}}}`+"\n", namespace, name)
	}
	path := filepath.Join(t.TempDir(), "dump.json")
	if err := os.WriteFile(path, []byte(input.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dump.ReadFiles(t.Context(), []string{path}, nil, func() time.Time { return time.Unix(1_800_000_000, 0) }, dump.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args      string
		namespace string
		want      string
		hint      string // hint of the error
		one, all  int    // numbers of calls
		why       string
	}{
		{"b", "kube-system", "kube-system/b", "", 1, 0, "one name is read by itself"},
		{"b a", "kube-system", "kube-system/b kube-system/a", "", 0, 1, "several are read together, and answered in the order of the arguments"},
		{"b ds/b a b", "kube-system", "kube-system/b kube-system/a", "", 0, 1, "one that is named twice is answered once"},
		{"a a", "kube-system", "kube-system/a", "", 1, 0, "and is one name"},
		{"a node-agnet", "kube-system", "", "did you mean node-agent?", 1, 1, "a name that is not there comes with near ones"},
		{"a b", "", "", "choose one with -n default", 1, 1, "without a namespace a name can be of several DaemonSets"},
		{"kube-system/b default/b kube-system/a", "", "kube-system/b default/b kube-system/a", "", 1, 1, "each name with its own namespace; those that share one are read together"},
		{"default/b kube-system/b", "", "default/b kube-system/b", "", 2, 0, "one of each namespace is read by itself"},
		{"b kube-system/b", "kube-system", "kube-system/b", "", 1, 0, "the namespace of -n may be repeated"},
		{"deployment/b", "", "", "did you mean default/b, kube-system/b?", 1, 0, "deployment is read as a namespace, and may be meant as a kind"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			list, err := calledAs("kubectl-ds").names(strings.Fields(tt.args), tt.namespace)
			if err != nil {
				t.Fatal(err)
			}
			r := &countingReader{reader: d}
			all, err := readNames(t.Context(), r, withNamespace(tt.namespace, list), wrongKindOr)
			var got []string
			for _, s := range all {
				got = append(got, s.DaemonSet.Namespace+"/"+s.DaemonSet.Name)
			}
			var e interface{ Hint() string }
			hint := ""
			if errors.As(err, &e) {
				hint = e.Hint()
			}
			if strings.Join(got, " ") != tt.want || (err != nil) != (tt.hint != "") || hint != tt.hint {
				t.Errorf("%v, %v, hint %q; want %q, hint %q", got, err, hint, tt.want, tt.hint)
			}
			if r.one != tt.one || r.all != tt.all {
				t.Errorf("%d calls of Read and %d of ReadAll, want %d and %d", r.one, r.all, tt.one, tt.all)
			}
		})
	}
}

// TestNotesStandBelow checks the output if both streams are the same terminal: the verdict is the
// first line, and the gaps come below the answer, with the missing permission and the next step.
func TestNotesStandBelow(t *testing.T) {
	text, err := os.ReadFile("../../examples/stuck-rollout.json")
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	delete(s, "nodes")
	s["gaps"] = []map[string]string{{"what": "nodes", "why": "Forbidden", "message": "no"}, {"what": "controllerrevisions", "why": "Forbidden", "message": "no"}}
	text, err = json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	dump := filepath.Join(t.TempDir(), "dump.json")
	if err := os.WriteFile(dump, text, 0o600); err != nil {
		t.Fatal(err)
	}
	const (
		nodes     = "; ask somebody who may list nodes (kubectl auth can-i list nodes) to record the dump again"
		revisions = "; ask somebody who may list controllerrevisions (kubectl auth can-i list controllerrevisions -n kube-system) to record the dump again"
	)
	for _, tt := range []struct {
		args  string
		first string // start of the first line
		notes []string
	}{
		{"explain node-agent", "STUCK  ", []string{nodes, revisions}},
		{"explain", "1 DaemonSet: ", []string{nodes, revisions}},
		{"explain node-agent --node rack-14-07", "UNKNOWN  ", []string{nodes, revisions}},
		{"plan-rollout node-agent", "STAYS STUCK  ", []string{nodes, revisions}},
		{"plan-rollout node-agent -o markdown", "### ", []string{nodes, revisions}},
		{"history node-agent", "UNKNOWN  ", []string{revisions}},
		{"explain no-such", "error: ", nil},
	} {
		var both bytes.Buffer
		mainUntil(t.Context(), append([]string{"kubectl-ds"}, append(strings.Fields(tt.args), "-n", "kube-system", "--from", dump)...), strings.NewReader(""), &both, &both)
		lines := strings.Split(strings.TrimSpace(both.String()), "\n")
		if !strings.HasPrefix(lines[0], tt.first) {
			t.Errorf("%s begins with %q, want %q", tt.args, lines[0], tt.first)
		}
		for i, end := range tt.notes {
			last := lines[len(lines)-len(tt.notes)+i]
			if !strings.HasPrefix(last, "note: ") || !strings.HasSuffix(last, end) {
				t.Errorf("%s ends with %q, want a note that ends %q", tt.args, last, end)
			}
		}
	}
}
