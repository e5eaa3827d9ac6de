// Package oracle compares the model with the real DaemonSet controllers of several Kubernetes
// versions. README.md describes the programs and the environment variables.
package oracle
