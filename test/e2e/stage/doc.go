// Package stage starts a real Kubernetes control plane for a test, with kubelets simulated by kwok.
// It takes Options and returns a Cluster whose methods change the cluster and wait until the change
// is visible. README.md describes nodes, pods, users and how to hold a state.
package stage
