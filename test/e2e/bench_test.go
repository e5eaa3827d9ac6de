package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// BenchmarkStart reports the median times of "kubectl-ds version" and of "kubectl version --client"
// of the same Kubernetes release, run alternately, and their ratio. Use -benchtime 20x or more.
func BenchmarkStart(b *testing.B) {
	plugin, err := stage.BuildPlugin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	programs, err := stage.BuildControlPlane(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	home := b.TempDir()
	run := func(name string, args ...string) time.Duration {
		cmd := exec.CommandContext(b.Context(), name, args...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s: %v: %s", name, err, out)
		}
		return time.Since(began)
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		ours = append(ours, run(filepath.Join(plugin, "kubectl-ds"), "version"))
		theirs = append(theirs, run(filepath.Join(programs, "kubectl"), "version", "--client"))
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Microseconds()) / 1000
	}
	b.ReportMetric(median(ours), "ours-ms")
	b.ReportMetric(median(theirs), "kubectl-ms")
	b.ReportMetric(median(ours)/median(theirs), "ratio")
}
