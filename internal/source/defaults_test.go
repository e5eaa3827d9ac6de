package source_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// TestStoredHasAllDefaults checks that an object that a real API server stored has all defaults.
func TestStoredHasAllDefaults(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("testdata", "overlays", "*.json"))
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r struct{ Live *appsv1.DaemonSet }
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		got := r.Live.DeepCopy()
		template.DefaultDaemonSet(got, "")
		if diff := cmp.Diff(r.Live, got); diff != "" {
			t.Errorf("%s: (-stored +got):\n%s", file, diff)
		}
	}
}
