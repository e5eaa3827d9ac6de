// Package cli holds the commands: flags to options, run, exit status. It is
// the only package with streams, a clock and terminal facts.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
)

// Main runs one command line and returns its exit status. An error is one
// line on errs, with its details below it, and a hint, where there are any.
//
// Ctrl-C ends it, whatever it is busy with; a second one ends the process.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	return mainUntil(ctx, args, in, out, errs)
}

// grace is how long a command may go on after Ctrl-C, to say where it stopped.
const grace = 500 * time.Millisecond

// mainUntil is Main until ctx ends. Reads and requests end with it. What does not
// look at it, a computation or a pipe that nobody reads, is left alone after the
// grace period: the process ends, and until then it writes nothing more.
func mainUntil(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	answers, notes := newStream(out), newStream(errs)
	done := make(chan int, 1)
	go func() { done <- execute(ctx, args, in, answers, notes) }()
	select {
	case status := <-done:
		return status
	case <-ctx.Done():
	}
	select {
	case status := <-done:
		return status
	case <-time.After(grace):
		answers.abandon()
		notes.abandon()
		return interrupted
	}
}

// execute runs one command line to its end.
//
// All that is written goes through a stream: no control code of the cluster
// or of a file reaches a terminal. A panic is an error like any other, with what
// a report of it needs: Go's own exit status of one would say "moving".
func execute(ctx context.Context, args []string, in io.Reader, answers, notes *stream) (status int) {
	defer func() {
		if p := recover(); p != nil {
			status = crashed(notes, p, debug.Stack())
		}
		_ = notes.Close()
	}()
	status = run(ctx, args, in, answers, notes)
	if err := answers.Close(); err != nil && status == 0 && !errors.Is(err, syscall.EPIPE) {
		status = failed(notes, err)
	}
	return status
}

func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	root := newRoot(in, out, errs)
	args = arguments(args)
	root.SetArgs(args)
	command := func() error { return root.ExecuteContext(ctx) }
	err := error(nil)
	if len(args) > 0 && args[0] == cobra.ShellCompRequestCmd {
		err = quietly(command)
	} else {
		err = command()
	}
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
	return failed(errs, err)
}

// quietly runs f while nothing is written to the process's own standard error:
// kustomize and cobra's completion log there, past the streams and what keeps
// them clean.
func quietly(f func() error) error {
	stderr, logs := os.Stderr, log.Writer()
	if nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		defer nowhere.Close()
		os.Stderr = nowhere
	}
	log.SetOutput(io.Discard)
	defer func() {
		os.Stderr = stderr
		log.SetOutput(logs)
	}()
	return f()
}

// failed writes an error, and returns its exit status.
func failed(errs io.Writer, err error) int {
	if p := (*source.PanicError)(nil); errors.As(err, &p) {
		return crashed(errs, p.Value, p.Stack)
	}
	fmt.Fprintln(errs, "error: "+view.Clean(err.Error()))
	var d interface{ Details() []string }
	if errors.As(err, &d) {
		for _, l := range d.Details() {
			text := strings.TrimLeft(l, " ")
			fmt.Fprintln(errs, "  "+l[:len(l)-len(text)]+view.Clean(text))
		}
	}
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		fmt.Fprintln(errs, "hint: "+view.Clean(h.Hint()))
	}
	return 1
}

// crashed writes what a report of a panic needs, and returns its exit status. Of
// the panic itself it writes what Go says: words of a library may quote a secret.
// A stack holds none.
func crashed(errs io.Writer, panicked any, stack []byte) int {
	what := "a panic"
	if e, ok := panicked.(runtime.Error); ok {
		what = e.Error()
	}
	fmt.Fprintln(errs, "error: this is a bug in kubectl ds: "+view.Clean(what))
	fmt.Fprintf(errs, "hint: please report it at https://github.com/kubectl-ds/kubectl-ds/issues with the command line, version %s and these lines:\n%s", programVersion(), stack)
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
