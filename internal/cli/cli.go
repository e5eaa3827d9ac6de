// Package cli holds the commands: flags to options, run, exit status. It is
// the only package with streams, a clock and terminal facts.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/kubectl-ds/kubectl-ds/internal/view"
)

// Main runs one command line and returns its exit status. An error is one
// line on errs, with a hint on a second where there is one.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot(in, out, errs)
	root.SetArgs(arguments(args))
	err := root.ExecuteContext(ctx)
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case ctx.Err() != nil:
		return interrupted
	case errors.Is(err, syscall.EPIPE):
		return 0 // whoever read the answer has enough of it
	}
	fmt.Fprintln(errs, "error: "+view.Clean(err.Error()))
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		fmt.Fprintln(errs, "hint: "+view.Clean(h.Hint()))
	}
	return 1
}

// arguments returns what follows the program's name. Called by the name that
// kubectl looks for to complete "kubectl ds", it completes.
func arguments(args []string) []string {
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	if strings.HasPrefix(name, "kubectl_complete-") {
		return append([]string{cobra.ShellCompRequestCmd}, args[1:]...)
	}
	return args[1:]
}

// exitStatus is an answer that was given, and a status that says more.
type exitStatus int

const (
	moving         exitStatus = 2
	stuck          exitStatus = 3
	degraded       exitStatus = 4
	inPart         exitStatus = 5
	conditionHolds exitStatus = 6 // one of --fail-on
	interrupted               = 130
)

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// hinted is an error with something to paste.
type hinted struct {
	error
	hint string
}

func (h hinted) Hint() string  { return h.hint }
func (h hinted) Unwrap() error { return h.error }
