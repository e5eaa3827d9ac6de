package scene

import (
	"testing"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestScenes sets each scene: a scene that cannot be reached says so itself.
func TestScenes(t *testing.T) {
	for _, s := range All {
		t.Run(s.Name, func(t *testing.T) {
			c := stage.New(t, stage.Options{})
			scene, err := s.Set(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"get", "ds", "-A"},
				{"get", "nodes"},
				{"get", "pods", "-n", scene.Namespace, "-o", "wide"},
				{"get", "events", "-n", scene.Namespace, "--field-selector=type=Warning"},
			} {
				result, err := c.Kubectl(t.Context(), args...)
				if err != nil || result.Code != 0 {
					t.Fatalf("kubectl %v: %v\n%s", args, err, result.Stderr)
				}
				t.Logf("kubectl %v\n%s", args, result.Stdout)
			}
		})
	}
}
