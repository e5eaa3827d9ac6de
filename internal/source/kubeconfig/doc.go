// Package kubeconfig converts kubectl's own flags to a rest.Config. If the kubeconfig leads to no
// cluster, it returns an error with a hint.
package kubeconfig
