package source

import (
	"context"
	"net/http"
	"time"
)

// slot is the key under which a context has where something about the answers to
// its requests will stand.
type slot[T any] struct{}

func withSlot[T any](ctx context.Context) (context.Context, *T) {
	into := new(T)
	return context.WithValue(ctx, slot[T]{}, into), into
}

// date is when an answer was given, by the server's clock: zero while there is none.
type date struct{ time.Time }

// dated is a transport that notes the server's clock for the requests that
// asked for it with a slot for a date.
type dated struct{ http.RoundTripper }

func (t dated) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if at, asked := req.Context().Value(slot[date]{}).(*date); asked && err == nil {
		if said, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			at.Time = said.UTC()
		}
	}
	return resp, err
}

// WrappedRoundTripper lets client-go see the transport below.
func (t dated) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }
