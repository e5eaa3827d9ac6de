// Package cli implements the commands: it parses flags, runs the command and sets the exit status.
// No other package uses the standard streams, the clock or the terminal.
package cli

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// Main runs one command line and returns its exit status. It prints an error as one line on errs.
// Details and a hint may follow on the next lines.
//
// Ctrl-C ends the command. A second Ctrl-C ends the process.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	return mainUntil(ctx, args, in, out, errs)
}

// gracePeriod limits how long a command may continue after Ctrl-C to print its last lines.
const gracePeriod = 500 * time.Millisecond

// mainUntil runs Main until ctx ends. When ctx ends, reads and requests stop. Some work ignores
// ctx, such as a computation or a write to a pipe that nobody reads. After the grace period,
// mainUntil returns without waiting for such work, and discards its output.
func mainUntil(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	if completes(args) {
		errs = io.Discard // an error message would disturb the line that the user types
	}
	answers, notes := newStream(out), newStream(errs)
	done := make(chan int, 1)
	go func() { done <- execute(ctx, args, in, answers, notes) }()
	select {
	case status := <-done:
		return status
	case <-ctx.Done():
		go notes.disableLine() // this call blocks while the terminal accepts no output
	}
	select {
	case status := <-done:
		return status
	case <-time.After(gracePeriod):
		answers.abandon()
		notes.abandon()
		return statusInterrupted
	}
}

// execute runs one command line to its end.
//
// All output goes through a stream, so that no control code from a cluster or a file reaches a
// terminal. A panic becomes an error message with a stack for a bug report. Go would exit with
// status 2 after a panic, but status 2 means "progressing" in this program.
func execute(ctx context.Context, args []string, in io.Reader, answers, notes *stream) (status int) {
	defer func() {
		if p := recover(); p != nil {
			status = calledAs(args[0]).printPanic(notes, p, debug.Stack())
		}
		_ = notes.Close()
	}()
	status = run(ctx, args, in, answers, notes)
	notes.disableLine()
	if err := answers.Close(); err != nil && status == 0 && !errors.Is(err, syscall.EPIPE) {
		status = calledAs(args[0]).printError(notes, err, new(cobra.Command))
	}
	return status
}

func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	called, completing := calledAs(args[0]), completes(args)
	root := newRoot(called, in, out, errs, args[1:]...)
	if args = args[1:]; called.completes {
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	if !completing {
		args = withoutHelp(root, args)
	}
	root.SetArgs(args)
	asked := root // or the subcommand that ran
	command := func() (err error) { asked, err = root.ExecuteContextC(ctx); return err }
	err := error(nil)
	if completing {
		err = withoutTerminal(command)
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
		return statusInterrupted
	case errors.Is(err, syscall.EPIPE):
		return 0 // the reader closed the pipe early
	}
	return called.printError(errs, err, asked)
}

// completes reports whether args request the completion of another command line.
func completes(args []string) bool {
	return calledAs(args[0]).completes || len(args) > 1 &&
		(args[1] == cobra.ShellCompRequestCmd || args[1] == cobra.ShellCompNoDescRequestCmd)
}

// withoutTerminal runs f without standard input and standard error. Otherwise, a credential plugin
// could ask for a password while the user types a command.
func withoutTerminal(f func() error) error {
	stdin := os.Stdin
	if nothing, err := os.Open(os.DevNull); err == nil {
		defer nothing.Close()
		os.Stdin = nothing
	}
	defer func() { os.Stdin = stdin }()
	return withoutStderr(f)
}

// withoutStderr runs f and discards everything that is written to the process's standard error.
// Kustomize, cobra's completion and credential plugins write there directly, which bypasses the
// streams and their escaping.
func withoutStderr(f func() error) error {
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
