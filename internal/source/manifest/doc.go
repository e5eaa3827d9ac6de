// Package manifest reads what kubectl apply takes, and merges it with the live DaemonSet as the API server would. It
// takes files, folders or a kustomization and returns Manifests and the DaemonSet after the change.
package manifest
