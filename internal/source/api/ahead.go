package api

import (
	"context"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TellsNext is called with what a page of a list says of it, before the objects of the page are read.
type TellsNext func(metav1.ListMeta)

// Turn is closed when the answer of a request may be read: the page before it was.
type Turn chan struct{}

// Wait waits for its turn, and returns an error where ctx ends first. Without a turn there is nothing to
// wait for.
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

// pageAhead is a page that was asked for while the one before was read.
type pageAhead struct {
	token  string
	turn   Turn
	done   chan struct{}
	cancel context.CancelFunc
	answer metav1.ListMeta // these once it is done
	err    error
}

// ReadAhead returns a lister that does what ask does for the pages of one list, one after the other,
// and asks for the page that follows as soon as a page tells its token: the server makes it while
// this one is read. What it answers waits until the page before it has been read; at most one page
// is ahead. stop ends a request that nobody has asked for.
func ReadAhead[T any](ask Lister[T]) (read Lister[T], stop func()) {
	var next *pageAhead
	stop = func() {
		if a := next; a != nil {
			next = nil
			a.cancel()
			<-a.done
		}
	}
	// nextOf asks for the page behind one of a list, which is read with ctx.
	var nextOf func(ctx context.Context, o metav1.ListOptions, each func(*T) error) TellsNext
	nextOf = func(ctx context.Context, o metav1.ListOptions, each func(*T) error) TellsNext {
		return func(m metav1.ListMeta) {
			if m.Continue == "" || next != nil {
				return
			}
			o := o
			o.Continue = m.Continue
			a := &pageAhead{token: m.Continue, turn: make(Turn), done: make(chan struct{})}
			next = a
			own, cancel := context.WithCancel(context.WithValue(context.WithValue(ctx, ContextKey[Turn]{}, a.turn),
				ContextKey[TellsNext]{}, nextOf(ctx, o, each)))
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
			answer, err = ask(context.WithValue(ctx, ContextKey[TellsNext]{}, nextOf(ctx, o, each)), o, each)
		}
		if err != nil {
			stop()
		}
		return answer, err
	}, stop
}
