//go:build before118

package main

import (
	_ "unsafe" // for go:linkname

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/controller/daemon"
)

// In v1.17 it has a third boolean result; the first two are always equal.
//
//go:linkname shouldRun k8s.io/kubernetes/pkg/controller/daemon.(*DaemonSetsController).nodeShouldRunDaemonPod
func shouldRun(*daemon.DaemonSetsController, *corev1.Node, *appsv1.DaemonSet) (wantToRun, shouldRun, mayStay bool, err error)

const realClock = true
