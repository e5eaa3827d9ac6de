// Package cli holds the commands: flags to options, run, exit status. It is
// the only package with streams, a clock and terminal facts.
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
	if completes(args) {
		errs = io.Discard // it would stand in the middle of what somebody types
	}
	answers, notes := newStream(out), newStream(errs)
	done := make(chan int, 1)
	go func() { done <- execute(ctx, args, in, answers, notes) }()
	select {
	case status := <-done:
		return status
	case <-ctx.Done():
		go notes.showNoMore() // a terminal that takes nothing has it wait
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
			status = calledAs(args[0]).crashed(notes, p, debug.Stack())
		}
		_ = notes.Close()
	}()
	status = run(ctx, args, in, answers, notes)
	notes.showNoMore()
	if err := answers.Close(); err != nil && status == 0 && !errors.Is(err, syscall.EPIPE) {
		status = calledAs(args[0]).failed(notes, err, new(cobra.Command))
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
	asked := root // or the command below it that ran
	command := func() (err error) { asked, err = root.ExecuteContextC(ctx); return err }
	err := error(nil)
	if completing {
		err = unheard(command)
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
	return called.failed(errs, err, asked)
}

// completes reports whether a command line asks to complete another one.
func completes(args []string) bool {
	return calledAs(args[0]).completes || len(args) > 1 &&
		(args[1] == cobra.ShellCompRequestCmd || args[1] == cobra.ShellCompNoDescRequestCmd)
}

// unheard runs f quietly, and lets nothing read the process's own standard input: a
// program that gives credentials would ask somebody who types for a password.
func unheard(f func() error) error {
	stdin := os.Stdin
	if nothing, err := os.Open(os.DevNull); err == nil {
		defer nothing.Close()
		os.Stdin = nothing
	}
	defer func() { os.Stdin = stdin }()
	return quietly(f)
}

// quietly runs f while nothing is written to the process's own standard error:
// kustomize, cobra's completion and programs that give credentials write there, past
// the streams and what keeps them clean.
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
