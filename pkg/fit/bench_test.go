package fit

import (
	"fmt"
	"testing"
)

// BenchmarkOn decides about 5,000 nodes with ten pods each. On half of them the
// pod fits; on the others pods have to be preempted.
func BenchmarkOn(b *testing.B) {
	nodes := make([]Node, 5000)
	for i := range nodes {
		n := parseNode(b, "cpu=4 memory=16Gi pods=110 zone=a taint=node.kubernetes.io/disk-pressure:NoSchedule")
		for p := range 10 {
			size := 200 + i%2*200
			n.Pods = append(n.Pods, parsePod(b, fmt.Sprintf("pod-%d cpu=%dm memory=512Mi at=%d port=10.0.0.%d/80 pdb=x", p, size, p, p)))
		}
		n.Budgets = parseBudgets(b, "x=2")
		nodes[i] = n
	}
	w := parseWanted(b, "cpu=500m memory=256Mi p=10 port=8080 tolerates=node.kubernetes.io/disk-pressure:NoSchedule")
	rules := ProfileOf("")
	for b.Loop() {
		fits := 0
		for i := range nodes {
			if v := rules.On(&w, &nodes[i]); v.Fits {
				fits++
			}
		}
		if fits != len(nodes)/2 {
			b.Fatal(fits)
		}
	}
}
