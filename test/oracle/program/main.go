// Command program runs the DaemonSet controller of one Kubernetes version for the oracle; see
// package controller. The module file with which it is built selects the version; versions has one
// for each. go.mod is that of the newest version, for editors and linters.
//
// The optional argument contains feature gates: Name=true,Other=false.
package main

import (
	"fmt"
	"os"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	pods "k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/daemon"

	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller"
)

func main() {
	if len(os.Args) > 1 {
		if err := utilfeature.DefaultMutableFeatureGate.Set(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	controller.Main(controller.Adapter{
		New: daemon.NewDaemonSetsController, ShouldRun: shouldRun, NewClock: newClock, RealClock: realClock,
		NoPods: func() any { return &pods.FakePodControl{} },
	})
}
