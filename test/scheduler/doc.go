// Package scheduler compares pkg/fit, and the output of plan-rollout --fit and explain --node, with
// the real schedulers of several Kubernetes versions. README.md describes the programs and the
// environment variables.
package scheduler
