// Package oracle judges the model by the real DaemonSet controller.
//
// Each Kubernetes version's controller is a program of its own, in a module of
// its own (v1.37), because the API types of two versions cannot live in one
// build. A program reads states and writes what the controller did, as JSON
// lines (controller/wire). The generator of states (internal/dstest) and the
// comparison (Compare) are here once, and know no version's types but ours.
//
// The tests take, from the environment,
//
//	ORACLE_SEED        the first seed (1)
//	ORACLE_STATES      how many random states TestSync draws (10000)
//	ORACLE_PLACEMENTS  how many TestPlacement draws (4000)
//
// To add a version: a folder with a go.mod that requires its k8s.io/kubernetes
// and replaces the staging modules, and a main that calls its constructor.
// RandomFor of internal/dstest draws the states that such a version can hold.
package oracle
