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

// ContextKey is the key of a context value: where a transport puts something about the answers to its requests.
type ContextKey[T any] struct{}

func WithSlot[T any](ctx context.Context) (context.Context, *T) {
	into := new(T)
	return context.WithValue(ctx, ContextKey[T]{}, into), into
}

// Date is when an answer was given, by the server's clock: zero while there is none.
type Date struct{ time.Time }

// DatedTransport notes the server's clock for requests whose context asks for it.
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

// Once tells whoever listens a line, each once, and never two at a time.
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

// ServerWarnings passes on the warnings that the API server sends with its answers, as they came:
// those to a request whose context collects them go there, any other to whoever listens.
type ServerWarnings struct{ Once }

// Warned are the warnings to the requests of one context.
type Warned []string

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (h *ServerWarnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	const miscellaneous = 299 // the one that the API server sends
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

// LaterError says that the server asks for more time than a request may take.
type LaterError struct{ error }

// PatientTransport reports that the server asks the client to wait (Retry-After): client-go waits in silence. It waits
// no longer than the timeout of the request allows.
type PatientTransport struct {
	http.RoundTripper
	Limit time.Duration // 0: there is none
	Waits *Once
}

// overIn reports whether the time of a request will be over after a while. Contexts know
// when: nothing here reads a clock.
func overIn(ctx context.Context, after time.Duration) bool {
	until, limited := ctx.Deadline()
	waits, cancel := context.WithTimeout(ctx, after)
	defer cancel()
	first, _ := waits.Deadline()
	return limited && first.Equal(until)
}

// silentWait is for how long one waits without a word.
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
