package source

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// LaterError says that the server asks for more time than a request may take.
type LaterError struct {
	Status string // 429 Too Many Requests
	After  time.Duration
	Limit  time.Duration // --request-timeout
}

func (e *LaterError) Error() string {
	return fmt.Sprintf("the server asks to retry in %s (%s), but a request may take only %s", duration.HumanDuration(e.After), e.Status, duration.HumanDuration(e.Limit))
}

// Hint says what there is to do.
func (e *LaterError) Hint() string {
	return "try again later, or wait for it with --request-timeout 0"
}

// patient is a transport that says so when the server asks to be waited for
// (Retry-After), which client-go does in silence, and does not wait longer than
// a request may take.
type patient struct {
	http.RoundTripper
	limit time.Duration // 0: there is none
	waits *waits
}

// waits notes that the server is waited for, once for each time.
type waits struct {
	mu   sync.Mutex
	note func(string)
	said map[string]bool
}

func (w *waits) say(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.note != nil && !w.said[s] {
		w.said[s] = true
		w.note(s)
	}
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
	switch {
	case err != nil:
	case t.limit > 0 && after >= t.limit:
		_, _ = io.CopyN(io.Discard, resp.Body, 1<<12)
		resp.Body.Close()
		return nil, &LaterError{Status: resp.Status, After: after, Limit: t.limit}
	case after > silentWait:
		t.waits.say(fmt.Sprintf("the server asks to retry in %s (%s): waiting", duration.HumanDuration(after), resp.Status))
	}
	return resp, nil
}

// WrappedRoundTripper lets client-go see the transport below.
func (t patient) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }
