package redact_test

import (
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/redact"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// BenchmarkNames replaces the names in a Snapshot of 15,000 nodes with a pod on each.
func BenchmarkNames(b *testing.B) {
	raw, err := os.ReadFile("../../examples/stuck-rollout.json")
	if err != nil {
		b.Fatal(err)
	}
	s, err := snapshot.Decode(raw)
	if err != nil {
		b.Fatal(err)
	}
	var nodes []corev1.Node
	var pods []corev1.Pod
	for i := range 15000 {
		n, p := s.Nodes[i%len(s.Nodes)].DeepCopy(), s.Pods[i%len(s.Pods)].DeepCopy()
		n.Name, p.Name = fmt.Sprint("node-", i), fmt.Sprint("agent-", i)
		n.Labels[corev1.LabelHostname], p.Spec.NodeName = n.Name, n.Name
		nodes, pods = append(nodes, *n), append(pods, *p)
	}
	s.Nodes, s.Pods = nodes, pods
	for b.Loop() {
		redact.Names([]*snapshot.Snapshot{s})
	}
}
