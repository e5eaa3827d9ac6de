package cause_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// ExampleFind prints what keeps a node from having an available pod.
func ExampleFind() {
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
	c := cause.Find(st).Of("n1")
	fmt.Println(c.Pod, c.Code, c.Facts)
	// Output:
	// p1 CrashLoopBackOff map[container:agent exitCode:1 init:false reason:Error restarts:7]
}
