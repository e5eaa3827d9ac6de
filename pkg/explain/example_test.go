package explain_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Explains a List of objects, including the result of a simulation.
func ExampleExplain() {
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
	e := explain.Explain(st, explain.Options{Outlook: plan.Look(st)})
	fmt.Println(e.Verdict.Code)
	for _, p := range e.Problems {
		fmt.Println(p.Severity, p.Code, p.Nodes)
	}
	for _, a := range e.Advice {
		fmt.Println("do:", a.Code)
	}
	// Output:
	// Stuck
	// Error CrashLoopBackOff [n1]
	// do: ReadLogs
}
