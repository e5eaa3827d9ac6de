package source

import (
	"context"
	"net/http"
	"time"
)

type dateKey struct{}

// withDate returns a context for one request, and where the Date of its
// answer will stand: zero while there is none.
func withDate(ctx context.Context) (context.Context, *time.Time) {
	at := new(time.Time)
	return context.WithValue(ctx, dateKey{}, at), at
}

// dated is a transport that notes the server's clock for the requests that
// asked for it with withDate.
type dated struct{ http.RoundTripper }

func (t dated) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if at, asked := req.Context().Value(dateKey{}).(*time.Time); asked && err == nil {
		if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			*at = date.UTC()
		}
	}
	return resp, err
}

// WrappedRoundTripper lets client-go see the transport below.
func (t dated) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }
