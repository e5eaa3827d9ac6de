package whatif_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// Rolls a State back.
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
	to := int64(1)
	r, err := whatif.Make(st, &whatif.Change{ToRevision: &to})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range r.Summary.Fields {
		fmt.Println(f.Path, f.Old, "->", f.New)
	}
	counts, _ := r.State.Counts()
	fmt.Println("revision", r.Summary.Revision.Number, "was", r.Summary.Revision.Was, counts.Updated, "updated")
	// Output:
	// spec.template.spec.containers[name=agent].image "example/agent:2" -> "example/agent:1"
	// revision 3 was 1 2 updated
}
