// Package manifest reads the input of kubectl apply and merges it with the live DaemonSet as the
// API server would. It takes files, folders or a kustomization and returns Manifests, and the
// DaemonSet that results from applying one.
package manifest
