package api

import (
	"context"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TellsNext is a callback that receives the metadata of a page of a list, before its objects are read.
type TellsNext func(metav1.ListMeta)

// Turn is closed when the page before has been read. Then the response of this request may be read.
type Turn chan struct{}

// Wait blocks until t is closed. It returns an error if ctx ends first. It returns immediately if t is nil.
func (t Turn) Wait(ctx context.Context) error {
	if t == nil {
		return nil
	}
	select {
	case <-t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pageAhead is a page that was requested while the page before it was being read.
type pageAhead struct {
	token  string
	turn   Turn
	done   chan struct{}
	cancel context.CancelFunc
	answer metav1.ListMeta // answer and err are valid once done is closed
	err    error
}

// ReadAhead returns a lister that calls ask for the pages of one list, in order. As soon as a page reports its
// continue token, the lister requests the next page, so that the server prepares it while this page is read. The
// response of that request waits until this page has been read. At most one page is requested ahead. stop cancels a
// request for a page that the caller did not ask for.
func ReadAhead[T any](ask Lister[T]) (read Lister[T], stop func()) {
	var next *pageAhead
	stop = func() {
		if a := next; a != nil {
			next = nil
			a.cancel()
			<-a.done
		}
	}
	// requestNext returns a callback that requests the page after the current one, with ctx.
	var requestNext func(ctx context.Context, o metav1.ListOptions, each func(*T) error) TellsNext
	requestNext = func(ctx context.Context, o metav1.ListOptions, each func(*T) error) TellsNext {
		return func(m metav1.ListMeta) {
			if m.Continue == "" || next != nil {
				return
			}
			o := o
			o.Continue = m.Continue
			a := &pageAhead{token: m.Continue, turn: make(Turn), done: make(chan struct{})}
			next = a
			own, cancel := context.WithCancel(context.WithValue(context.WithValue(ctx, ContextKey[Turn]{}, a.turn),
				ContextKey[TellsNext]{}, requestNext(ctx, o, each)))
			a.cancel = cancel
			go func() {
				defer close(a.done)
				a.err = source.Contain(func() (err error) {
					a.answer, err = ask(own, o, each)
					return err
				})()
			}()
		}
	}
	return func(ctx context.Context, o metav1.ListOptions, each func(*T) error) (metav1.ListMeta, error) {
		var answer metav1.ListMeta
		var err error
		if a := next; a != nil && a.token == o.Continue {
			next = nil
			close(a.turn)
			<-a.done
			a.cancel()
			answer, err = a.answer, a.err
		} else {
			stop()
			answer, err = ask(context.WithValue(ctx, ContextKey[TellsNext]{}, requestNext(ctx, o, each)), o, each)
		}
		if err != nil {
			stop()
		}
		return answer, err
	}, stop
}
