package source

import (
	"context"
	"io"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// PanicError is a panic in a goroutine, returned as an error to the goroutine that waits. Without
// it, the panic would end the process with Go's own exit status.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return "a panic" } // the value may quote what was read

// Contain returns a function that calls f and returns a panic as a PanicError. Use it for a goroutine whose result
// another goroutine waits for.
func Contain(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &PanicError{p, debug.Stack()}
			}
		}()
		return f()
	}
}

// Group is an errgroup.Group that returns a panic of a goroutine as a PanicError.
type Group struct{ *errgroup.Group }

func NewGroup(ctx context.Context) (Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	return Group{g}, ctx
}

func (g Group) Go(f func() error) { g.Group.Go(Contain(f)) }

type Counting struct {
	io.Reader
	N int64
}

func (c *Counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.N += int64(n)
	return n, err
}
