package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
)

// TestStart describes each DaemonSet as "NAMESPACE/NAME DESIRED UP-TO-DATE AVAILABLE GENERATION/OBSERVED".
func TestStart(t *testing.T) {
	const note = "Note      these are the numbers of each status, as kubectl get shows them; kds --help lists the " +
		"commands\n"
	for _, tt := range []struct {
		why  string
		all  []string
		want string

		namespace string
	}{
		{"all is well", []string{"a/x 3 3 3 1/1", "b/y 0 0 0 4/4"}, "2 DaemonSets: all pods are available and " +
			"updated\n\nDo now    look for warnings (read-only):\n          kds explain -A --context=dev\n" + note, ""},
		{
			"the one with most pods missing comes first, then the one with most to update; a generation that nobody " +
				"has handled counts",
			[]string{"a/new 2 2 2 2/1", "b/rolls 9 1 8 1/1", "c/fine 3 3 3 1/1", "d/waits 9 3 8 1/1",
				"e/down 5 5 0 1/1"},
			`5 DaemonSets: 4 with pods that are not available or not updated

  DAEMONSET  DESIRED  UP-TO-DATE  AVAILABLE
  e/down           5           5          0
  b/rolls          9           1          8
  d/waits          9           3          8
  a/new            2           2          2

Do now    see why, and what to do (read-only):
          kds explain -n e down --context=dev
Then      see all of them, the worst first (read-only):
          kds explain -A --context=dev
` + note,
			"",
		},
		{"of one namespace", []string{"a/x 3 3 3 1/1", "a/new 2 2 1 1/1"},
			"2 DaemonSets: 1 with pods that are not available or not updated\n\n" +
				"  DAEMONSET  DESIRED  UP-TO-DATE  AVAILABLE\n  a/new            2           2          1\n\n" +
				"Do now    see why, and what to do (read-only):\n          kds explain -n a new --context=dev\nThen  " +
				"    " +
				"see all of them, the worst first (read-only):\n          kds explain -n a --context=dev\n" + note, "a"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var all []appsv1.DaemonSet
			for _, line := range tt.all {
				var ds appsv1.DaemonSet
				s := &ds.Status
				name := ""
				if _, err := fmt.Sscanf(line, "%s %d %d %d %d/%d", &name, &s.DesiredNumberScheduled,
					&s.UpdatedNumberScheduled, &s.NumberAvailable, &ds.Generation, &s.ObservedGeneration); err != nil {
					t.Fatal(err)
				}
				namespace, name, _ := strings.Cut(name, "/")
				ds.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: ds.Generation}
				all = append(all, ds)
			}
			var b strings.Builder
			if err := Start(&b, all, tt.namespace,
				sheet.Asked{Program: "kds", Kubectl: []sheet.Flag{{Name: "context", Value: "dev"}}},
				wording.Style{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
