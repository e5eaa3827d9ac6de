package oracle

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller/wire"
)

// BenchmarkSync prints the ratios of time and allocations between a sync of the newest real
// controller and one of the model, including its State, on the same objects. The goal is ten times
// less of both. The real sync is its syncHandler, with filled informer stores and without a real
// PodControl. If there are no pods, it does least and takes a tenth of the time, while the model
// lists all nodes of which it may take any 250.
func BenchmarkSync(b *testing.B) {
	for _, nodes := range []int{1000, 15_000} {
		for _, is := range []struct {
			name, nodes string
			faster      int64 // minimum ratio for many nodes
		}{
			{"nothing to do", fmt.Sprintf("N*%d", nodes), 10}, {"a rollout begins", fmt.Sprintf("O*%d", nodes), 10}, {"no pods yet", fmt.Sprintf("-*%d", nodes), 3},
		} {
			b.Run(fmt.Sprintf("nodes=%d/%s", nodes, is.name), func(b *testing.B) {
				s := dstest.State(is.nodes, dstest.MaxUnavailable("10%"))
				// As a server lists them.
				slices.SortFunc(s.Nodes, func(a, b corev1.Node) int { return strings.Compare(a.Name, b.Name) })
				p := start(b, dstest.Newest, 1)[0]
				const runs = 7
				real, err := p.Measured(s, runs)
				if err != nil {
					b.Fatal(err)
				}
				took := middle(real, func(r wire.Run) int64 { return int64(r.Took) })
				allocs := middle(real, func(r wire.Run) int64 { return int64(r.Allocs) })
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				n := 0
				for b.Loop() {
					st, err := daemonset.StateOf(s)
					if err != nil {
						b.Fatal(err)
					}
					st.Sync()
					st.Counts()
					n++
				}
				runtime.ReadMemStats(&after)
				ours := b.Elapsed() / time.Duration(n)
				b.ReportMetric(float64(took)/1e6, "ms-of-controller")
				b.ReportMetric(float64(ours)/1e6, "ms")
				b.ReportMetric(float64(took)/float64(ours), "times-faster")
				if nodes == 15_000 && took < is.faster*int64(ours) {
					b.Errorf("%.1f times as fast, of %d", float64(took)/float64(ours), is.faster)
				}
				b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(n)/float64(allocs), "of-its-allocs")
			})
		}
	}
}

func middle(all []wire.Run, of func(wire.Run) int64) int64 {
	var values []int64
	for _, r := range all {
		values = append(values, of(r))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
