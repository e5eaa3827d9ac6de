package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// ContextKey is the key of a context value of type T. A transport stores facts about a response in such a value.
type ContextKey[T any] struct{}

// WithSlot returns a context with an empty value of type T, and the pointer to that value.
func WithSlot[T any](ctx context.Context) (context.Context, *T) {
	into := new(T)
	return context.WithValue(ctx, ContextKey[T]{}, into), into
}

// Date is the time of a response by the server's clock. It is zero before the response.
type Date struct{ time.Time }

// DatedTransport stores the server's time in the Date of a request's context, if there is one.
type DatedTransport struct{ http.RoundTripper }

func (t DatedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if at, asked := req.Context().Value(ContextKey[Date]{}).(*Date); asked && err == nil {
		if said, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			at.Time = said.UTC()
		}
	}
	return resp, err
}

// Once calls Tell with each line, but only once per line and never concurrently.
type Once struct {
	mu   sync.Mutex
	Tell func(string)
	said []string
}

func (o *Once) say(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Tell != nil && !slices.Contains(o.said, line) {
		o.said = append(o.said, line)
		o.Tell(line)
	}
}

// ServerWarnings handles the warnings in the responses of the API server. If the context of a request has a Warned,
// the warnings go there, otherwise to Tell.
type ServerWarnings struct{ Once }

// Warned holds the warnings for the requests of one context.
type Warned []string

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (h *ServerWarnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	const miscellaneous = 299 // the only code that the API server sends
	if code != miscellaneous || text == "" {
		return
	}
	into, ok := ctx.Value(ContextKey[Warned]{}).(*Warned)
	if !ok {
		h.say(text)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(*into, text) {
		*into = append(*into, text)
	}
}

// LaterError says that the server asks the client to wait longer than a request may take.
type LaterError struct{ error }

// PatientTransport reports that the server asks the client to wait (Retry-After), because client-go waits silently.
// It returns a LaterError if the wait would exceed the time limit of the request.
type PatientTransport struct {
	http.RoundTripper
	Limit time.Duration // 0 if there is no limit
	Waits *Once
}

// overIn reports whether the deadline of ctx is less than after from now. It compares contexts, because this package
// does not read the clock.
func overIn(ctx context.Context, after time.Duration) bool {
	until, limited := ctx.Deadline()
	waits, cancel := context.WithTimeout(ctx, after)
	defer cancel()
	first, _ := waits.Deadline()
	return limited && first.Equal(until)
}

// silentWait is the longest wait that is not reported.
const silentWait = 3 * time.Second

func (t PatientTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < http.StatusInternalServerError {
		return resp, err
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	after := time.Duration(seconds) * time.Second
	why := ""
	switch {
	case err != nil:
	case t.Limit > 0 && after >= t.Limit:
		why = "a request may take only " + duration.HumanDuration(t.Limit)
	case overIn(req.Context(), after):
		why = "the time for the request is over by then"
	case after > silentWait:
		t.Waits.say(fmt.Sprintf("the server asks to retry in %s (%s): waiting", duration.HumanDuration(after),
			resp.Status))
	}
	if why == "" {
		return resp, nil
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<12)
	resp.Body.Close()
	return nil, LaterError{fmt.Errorf("the server asks to retry in %s (%s), but %s", duration.HumanDuration(after),
		resp.Status, why)}
}
