package source

import (
	"context"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// PanicError is a panic in a goroutine of this package. As an error it reaches
// whoever waits for the goroutine, where a panic would end the process with Go's
// own exit status.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return "a panic" } // the value may quote what was read

// Contained returns f with a PanicError in the place of a panic, for a goroutine that
// somebody waits for.
func Contained(f func() error) func() error { return contained(f) }

// contained returns f with an error in the place of a panic.
func contained(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &PanicError{p, debug.Stack()}
			}
		}()
		return f()
	}
}

// group is an errgroup whose goroutines do not panic.
type group struct{ *errgroup.Group }

func newGroup(ctx context.Context) (group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	return group{g}, ctx
}

func (g group) Go(f func() error) { g.Group.Go(contained(f)) }
