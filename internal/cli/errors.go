package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
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

// sentences say the errors of pkg/, which hold facts, in the words of a command line:
// for each type what failed, and what to paste. rollback is the flag that names the
// revision to go back to.
var sentences = []func(err error, rollback string) error{
	sentence(func(e *whatif.Invalid, rollback string) (words, hint string) {
		return e.Error(), flagsOf(e.Instead, rollback)
	}),
	sentence(func(e *whatif.LackingError, _ string) (words, hint string) { return e.Error(), hintOfLacking(e) }),
	sentence(func(e *whatif.Error, rollback string) (words, hint string) {
		if e.Nodes != nil {
			return e.Error(), hintOfNodes(e.Nodes)
		}
		return e.Error(), flagsOf(e.Instead, rollback)
	}),
}

// sentence makes a row of sentences for the errors of one type.
func sentence[E error](say func(e E, rollback string) (words, hint string)) func(error, string) error {
	return func(err error, rollback string) error {
		var e E
		if !errors.As(err, &e) {
			return nil
		}
		words, hint := say(e, rollback)
		return hinted{reworded{err, strings.Replace(err.Error(), e.Error(), words, 1)}, hint}
	}
}

// said returns an error that a function of pkg/ returned in the words of sentences,
// and any other one as it is.
func said(err error, rollback string) error {
	for _, s := range sentences {
		if words := s(err, rollback); words != nil {
			return words
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
