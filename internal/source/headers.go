package source

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

// once tells whoever listens a line, each once, and never two at a time.
type once struct {
	mu   sync.Mutex
	tell func(string)
	said []string
}

func (o *once) say(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.tell != nil && !slices.Contains(o.said, line) {
		o.said = append(o.said, line)
		o.tell(line)
	}
}

// heard passes on the warnings that the API server sends with its answers, as they came:
// those to a request whose context collects them go there, any other to whoever listens.
type heard struct{ once }

// OnWarning sets who is told of the API server's warnings, each once and in its
// words, whatever bytes they hold; from any goroutine, but never twice at a time.
// Nobody is told until it is called, and it must be called before the first
// request. The warnings of DryRun come with its answer.
func (c *Cluster) OnWarning(tell func(string)) { c.heard.tell = tell }

// warned are the warnings to the requests of one context.
type warned []string

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (h *heard) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	const miscellaneous = 299 // the one that the API server sends
	if code != miscellaneous || text == "" {
		return
	}
	into, ok := ctx.Value(slot[warned]{}).(*warned)
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

// laterError says that the server asks for more time than a request may take.
type laterError struct{ error }

// patient is a transport that says so when the server asks to be waited for
// (Retry-After), which client-go does in silence, and does not wait longer than
// a request may take, or than is left of that.
type patient struct {
	http.RoundTripper
	limit time.Duration // 0: there is none
	waits *once
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

func (t patient) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < http.StatusInternalServerError {
		return resp, err
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	after := time.Duration(seconds) * time.Second
	why := ""
	switch {
	case err != nil:
	case t.limit > 0 && after >= t.limit:
		why = "a request may take only " + duration.HumanDuration(t.limit)
	case overIn(req.Context(), after):
		why = "the time for the request is over by then"
	case after > silentWait:
		t.waits.say(fmt.Sprintf("the server asks to retry in %s (%s): waiting", duration.HumanDuration(after),
			resp.Status))
	}
	if why == "" {
		return resp, nil
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<12)
	resp.Body.Close()
	return nil, laterError{fmt.Errorf("the server asks to retry in %s (%s), but %s", duration.HumanDuration(after),
		resp.Status, why)}
}
