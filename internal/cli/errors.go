package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

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

// worst returns the exit status of several answers, or nil if none of them has one.
func worst(has map[exitStatus]bool) error {
	for _, s := range []exitStatus{stuck, degraded, inPart, moving} {
		if has[s] {
			return s
		}
	}
	return nil
}

// hinted is an error with something to paste.
type hinted struct {
	error
	hint string
}

func (h hinted) Hint() string  { return h.hint }
func (h hinted) Unwrap() error { return h.error }

// refusal is what is wrong with flags, if it is, and what to paste in their place.
type refusal struct {
	is          bool
	words, hint string
}

// refused returns the error of the first refusal that applies, or nil.
func refused(rows ...refusal) error {
	for _, r := range rows {
		if r.is {
			return hinted{errors.New(r.words), r.hint}
		}
	}
	return nil
}

// hintOf returns what an error offers to paste; empty where it offers nothing.
func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) || errors.As(said(err, "--to-revision"), &h) {
		return h.Hint()
	}
	return ""
}

// reworded is an error in other words.
type reworded struct {
	error
	words string
}

func (r reworded) Error() string { return r.words }
func (r reworded) Unwrap() error { return r.error }

// aboutFlag is an error about a flag, not about the manifest that it was given with.
type aboutFlag struct{ error }

func (a aboutFlag) Unwrap() error { return a.error }

// hints are what to paste where an error of pkg/, which holds facts, is of one of these
// types. rollback is the flag that names the revision to go back to.
var hints = []func(err error, rollback string) (hint string, is bool){
	hintFor(func(e *whatif.Invalid, rollback string) string { return flagsOf(e.Instead, rollback) }),
	hintFor(func(e *whatif.LackingError, _ string) string { return hintOfLacking(e) }),
	hintFor(func(e *whatif.Error, rollback string) string {
		if e.Nodes != nil {
			return hintOfNodes(e.Nodes)
		}
		return flagsOf(e.Instead, rollback)
	}),
	hintFor(func(e *history.Error, _ string) string { return hintOfHistory(e) }),
}

// hintFor makes a row of hints for the errors of one type.
func hintFor[E error](hint func(e E, rollback string) string) func(error, string) (string, bool) {
	return func(err error, rollback string) (string, bool) {
		var e E
		if !errors.As(err, &e) {
			return "", false
		}
		return hint(e, rollback), true
	}
}

// said returns an error of pkg/ with its hint, and any other one as it is. It is for
// a command in which the flag of a rollback has another name; failed does it for all others.
func said(err error, rollback string) error {
	for _, row := range hints {
		if hint, is := row(err, rollback); is {
			return hinted{err, hint}
		}
	}
	return err
}

// failed writes an error, and returns its exit status.
func failed(errs io.Writer, err error) int {
	if p := (*source.PanicError)(nil); errors.As(err, &p) {
		return crashed(errs, p.Value, p.Stack)
	}
	fmt.Fprintln(errs, "error: "+screen.Clean(err.Error()))
	var d interface{ Details() []string }
	if errors.As(err, &d) {
		for _, l := range d.Details() {
			text := strings.TrimLeft(l, " ")
			fmt.Fprintln(errs, "  "+l[:len(l)-len(text)]+screen.Clean(text))
		}
	}
	if hint := hintOf(err); hint != "" {
		fmt.Fprintln(errs, "hint: "+screen.Clean(hint))
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
	fmt.Fprintln(errs, "error: this is a bug in kubectl ds: "+screen.Clean(what))
	fmt.Fprintf(errs, "hint: please report it at https://github.com/kubectl-ds/kubectl-ds/issues with the command line, version %s and these lines:\n%s", programVersion(), stack)
	return 1
}
