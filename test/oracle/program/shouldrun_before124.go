//go:build before124 && !before121

package main

import (
	_ "unsafe" // for go:linkname

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/controller/daemon"
)

// Before v1.24 it is an unexported method.
//
//go:linkname shouldRun k8s.io/kubernetes/pkg/controller/daemon.(*DaemonSetsController).nodeShouldRunDaemonPod
func shouldRun(*daemon.DaemonSetsController, *corev1.Node, *appsv1.DaemonSet) (shouldRun, mayStay bool)

const realClock = false
