//go:build !before124

package main

import "k8s.io/kubernetes/pkg/controller/daemon"

var shouldRun = daemon.NodeShouldRunDaemonPod

const realClock = false
