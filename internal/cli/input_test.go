package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// counted counts what a reader is asked for.
type counted struct {
	reader
	one, all int
}

func (c *counted) Read(ctx context.Context, ref source.Ref) (*snapshot.Snapshot, error) {
	c.one++
	return c.reader.Read(ctx, ref)
}

func (c *counted) ReadAll(ctx context.Context, f source.Filter) ([]*snapshot.Snapshot, error) {
	c.all++
	return c.reader.ReadAll(ctx, f)
}

func TestReadNames(t *testing.T) {
	var dump strings.Builder
	for _, ref := range []string{"kube-system/a", "kube-system/b", "kube-system/node-agent", "default/b"} {
		namespace, name, _ := strings.Cut(ref, "/")
		fmt.Fprintf(&dump, `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"namespace":%q,"name":%q},"spec":{"selector":{"matchLabels":{"app":"x"}}}}`+"\n", namespace, name)
	}
	path := filepath.Join(t.TempDir(), "dump.json")
	if err := os.WriteFile(path, []byte(dump.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := source.ReadFiles(t.Context(), []string{path}, nil, func() time.Time { return time.Unix(1_800_000_000, 0) })
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args      string
		namespace string
		want      string
		hint      string // of the error
		one, all  int    // calls
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
		{"deployment/b", "", "", "kubectl rollout status deployment/b (kubectl ds is for DaemonSets only)", 1, 0, "deployment is read as a namespace, and may be meant as a kind"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			list, err := names(strings.Fields(tt.args), tt.namespace)
			if err != nil {
				t.Fatal(err)
			}
			r := &counted{reader: d}
			all, err := readNames(t.Context(), r, within(tt.namespace, list))
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
