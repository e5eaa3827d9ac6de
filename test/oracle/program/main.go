// Command program runs the DaemonSet controller of one Kubernetes version for
// the oracle: see package controller. Which version, the module file says that
// it is built with: there is one for each in versions. go.mod is that of the
// newest, for editors and linters.
//
// Its argument, if there is one, are feature gates: Name=true,Other=false.
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
