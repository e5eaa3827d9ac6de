package plan_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// ExampleMake reads a List of objects and prints how the rollout in progress continues.
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
	p := plan.Make(st, plan.Options{})
	fmt.Println(p.Next.Kind, p.Next.Reason, p.Outcome.Code, p.Outcome.Reason)
	for _, r := range p.Outcome.Remedies {
		fmt.Println(r.Worth, r.Code, r.Value)
	}
	// Output:
	// None BudgetSpent Stalls BudgetSpent
	// Helps RollBack 1
}

// ExampleMakeChanged reads a List of objects and prints the plan of a changed image, if pods become ready in 20
// seconds.
func ExampleMakeChanged() {
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
	changed, err := whatif.Make(st, &whatif.Change{Images: []whatif.Image{{Container: "agent", Image: "example/agent:3"}}})
	if err != nil {
		log.Fatal(err)
	}
	p := plan.MakeChanged(changed, plan.Options{Starts: []time.Duration{20 * time.Second}})
	fmt.Println("replaces", p.Replaces, "pods in", p.Outcome.Steps, "steps:", p.Outcome.Code)
	for _, i := range p.Next.Deletes.Certain {
		fmt.Println("deletes", i.Pod, i.Reason)
	}
	// Output:
	// replaces 4 pods in 4 steps: MayComplete
	// deletes p1 Forced
}
