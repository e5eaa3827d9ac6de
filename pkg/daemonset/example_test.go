package daemonset_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Computes the numbers of the status and the next sync from a List of objects.
func ExampleStateOf() {
	raw, err := os.ReadFile("../testdata/cluster.json") // kubectl get daemonsets,nodes,pods,controllerrevisions -A -o json
	if err != nil {
		log.Fatal(err)
	}
	daemonSets, objects, err := snapshot.FromList(raw)
	if err != nil {
		log.Fatal(err)
	}
	s, err := snapshot.New(&daemonSets[0], objects, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), "v1.37.1")
	if err != nil {
		log.Fatal(err)
	}
	st, err := daemonset.StateOf(s)
	if err != nil {
		log.Fatal(err)
	}
	counts, _ := st.Counts()
	fmt.Println(counts.Desired, "desired", counts.Updated, "updated", counts.Available, "available")
	step := st.Sync()
	fmt.Println(step.Kind, step.Reason)
	for i := range st.Nodes {
		if n := &st.Nodes[i]; st.Holds(n) {
			fmt.Println(n.Name, "uses up the budget of", st.Limit())
		}
	}
	// Output:
	// 4 desired 2 updated 3 available
	// None BudgetSpent
	// n1 uses up the budget of 1
}
