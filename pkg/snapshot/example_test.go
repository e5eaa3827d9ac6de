package snapshot_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Makes a Snapshot of a List of objects.
func ExampleNew() {
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
	fmt.Println(s.DaemonSet.Name, len(s.Nodes), "nodes", len(s.Pods), "pods", len(s.Revisions), "revisions")
	for _, g := range s.Gaps {
		fmt.Println("not read:", g.What, g.Why, g.Consequence())
	}
	// Output:
	// agent 4 nodes 4 pods 2 revisions
	// not read: events NotGiven CausesReduced
}
