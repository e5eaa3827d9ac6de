// Command kubectl-ds is the kubectl plugin "kubectl ds".
package main

import (
	"os"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // OIDC and the cloud providers' ways to log in

	"github.com/kubectl-ds/kubectl-ds/internal/cli"
)

func main() {
	cli.SetCollector()
	os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
