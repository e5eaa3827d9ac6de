package history_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Makes a History of a List of objects: what changed, and which nodes run which
// revision.
func ExampleMake() {
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
	h, err := history.Make(st, history.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range h.Revisions {
		fmt.Println(r.Revision, r.Hash, r.Current, r.OnNodes)
	}
	// Output:
	// 2 new true [n0 n1]
	// 1 old false [n2 n3]
}
