package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Set by the release build; a build from source takes what Go knows of it.
var (
	version = ""
	commit  = ""
	date    = ""
)

// programVersion is the version of this program, as "v0.1.0" or "devel".
func programVersion() string {
	if version != "" {
		return version
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		return b.Main.Version
	}
	return "devel"
}

func newVersion(c *common) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version and the newest Kubernetes rules it knows", GroupID: "other", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s := "kubectl-ds " + programVersion()
			if commit != "" {
				s += fmt.Sprintf(" (commit %s, %s)", commit, date)
			}
			_, err := fmt.Fprintf(c.Out, "%s\ncontroller rules up to Kubernetes %s\n%s %s/%s\n", s, daemonset.Newest, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
