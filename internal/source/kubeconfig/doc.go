// Package kubeconfig turns kubectl's own flags into a rest.Config. It returns an error with a hint where the kubeconfig
// leads to no cluster.
package kubeconfig
