// Command v1.37 runs the DaemonSet controller of Kubernetes 1.37.1 for the
// oracle: see package controller.
package main

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/daemon"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller"
)

func main() {
	controller.Main(controller.Adapter{
		New: func(client kubernetes.Interface, f informers.SharedInformerFactory, now time.Time) (any, error) {
			return daemon.NewDaemonSetsController(
				context.Background(),
				f.Apps().V1().DaemonSets(), f.Apps().V1().ControllerRevisions(), f.Core().V1().Pods(), f.Core().V1().Nodes(),
				client,
				flowcontrol.NewFakeBackOff(time.Second, 15*time.Minute, clocktesting.NewFakeClock(now)),
			)
		},
		ShouldRun: func(node *corev1.Node, ds *appsv1.DaemonSet) (bool, bool) {
			return daemon.NodeShouldRunDaemonPod(klog.Background(), node, ds)
		},
	})
}
