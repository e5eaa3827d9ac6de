package source

import (
	"context"
	"slices"
	"sync"
)

// heard passes on the warnings that the API server sends with its answers: those
// to a request whose context collects them go there, any other to whoever
// listens. Each is passed on once, as it came.
type heard struct {
	mu   sync.Mutex
	said []string
	tell func(string)
}

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
	h.mu.Lock()
	defer h.mu.Unlock()
	if into, ok := ctx.Value(slot[warned]{}).(*warned); ok {
		if !slices.Contains(*into, text) {
			*into = append(*into, text)
		}
		return
	}
	if h.tell == nil || slices.Contains(h.said, text) {
		return
	}
	h.said = append(h.said, text)
	h.tell(text)
}
