package source

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/net/http2"
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/resource"
)

// DefaultMaxInput is how many bytes of input are read where --max-input says nothing.
// 15,000 nodes with 20 DaemonSets have half of it.
const DefaultMaxInput = 2 << 30

const (
	// maxObject is the size of the largest object that is read. An API server takes no
	// request of more than 3 MiB, and what it stores takes more room in JSON than in
	// protobuf.
	maxObject = 8 << 20

	// maxParts is how many fields and members of lists an object may have: an empty container
	// is 2 bytes in protobuf, and 400 in memory. Objects of less than fewParts bytes are not
	// looked at.
	maxParts = 250_000
	fewParts = 1 << 18

	// maxRefusal is how much is read of an answer that is an error.
	maxRefusal = 1 << 20

	// maxPages is of how many pages a list is read: of 500 objects each, and no cluster
	// has five million of one kind.
	maxPages = 10_000

	// objectsShare is the part of --max-input that the objects of one list may take in
	// memory, not counting what they point to, and at least leastObject each: of pods, these
	// are 100,000.
	objectsShare = 16
	leastObject  = 256
)

var errTooManyParts = fmt.Errorf("more than %d fields and members of lists", maxParts)

// partsOf returns at most how many fields and members of lists an object has.
func partsOf(raw []byte, protobuf bool) (n int) {
	if protobuf {
		n, _ = partsOfProtobuf(raw, deepest)
		return n
	}
	for at := 0; at < len(raw); at++ {
		switch raw[at] {
		case ',', '{', '[':
			n++
		case '"':
			for at++; at < len(raw) && raw[at] != '"'; at++ {
				if raw[at] == '\\' {
					at++
				}
			}
		}
	}
	return n
}

// deepest is how deep messages are nested in each other in the API, and more.
const deepest = 20

// partsOfProtobuf does the same of a message, and reports whether it is one: a text has the
// same form as a message in another.
func partsOfProtobuf(raw []byte, depth int) (n int, ok bool) {
	for len(raw) > 0 {
		_, kind, size := protowire.ConsumeField(raw)
		if size < 0 || depth == 0 {
			return 0, false
		}
		n++
		if kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(raw)
			inner, _ := protowire.ConsumeBytes(raw[tag:])
			within, _ := partsOfProtobuf(inner, depth-1)
			n += within
		}
		raw = raw[size:]
	}
	return n, true
}

var errTooLarge = fmt.Errorf("larger than %s, which no API server stores", sizeOf(maxObject))

// sizeOf returns a number of bytes as --max-input takes it.
func sizeOf(bytes int64) string { return resource.NewQuantity(bytes, resource.BinarySI).String() }

// allowance is how many bytes may be read of all answers of a server together, once they
// are decompressed.
type allowance struct {
	most int64
	page int64 // how many objects of a list a request asks for; 0: for all of them
	read atomic.Int64
}

func (a *allowance) take(n int) error {
	if a.read.Add(int64(n)) > a.most {
		return &tooMuchError{a.most}
	}
	return nil
}

// mostOf returns how many objects of a type are held of one list.
func mostOf[T any](a *allowance) int {
	return int(a.most / objectsShare / int64(unsafe.Sizeof(*new(T))))
}

// tooMuchError says that the answers of a server are more than --max-input allows.
type tooMuchError struct{ most int64 }

func (e *tooMuchError) Error() string {
	return fmt.Sprintf("the answers of the server have more than %s, which is the most that is read", sizeOf(e.most))
}

// Hint returns the flag that allows twice as much.
func (e *tooMuchError) Hint() string { return "--max-input " + sizeOf(2*e.most) }

// tooManyError says that a list has more objects than are held.
type tooManyError struct {
	objects int
	most    int64 // --max-input
}

func (e *tooManyError) Error() string {
	return fmt.Sprintf("more than %d objects, and no more are held: %s holds twice as many", e.objects, e.Hint())
}

// Hint returns the flag that allows twice as many.
func (e *tooManyError) Hint() string { return "--max-input " + sizeOf(2*e.most) }

// AtMost sets how many bytes are read of all answers together, in place of
// DefaultMaxInput. It is called before anything is asked. Watches are not counted: they
// have no end.
func (c *Cluster) AtMost(bytes int64) { c.allowed.most = bytes }

// InPagesOf sets how many objects of a list each request asks for, in place of DefaultPage; 0
// asks for all at once. It is called before anything is asked.
func (c *Cluster) InPagesOf(objects int64) { c.allowed.page = objects }

// bounded is a transport whose answers have an end: each object is at most so large, and
// all answers together. What cuts an answer off is an answerError.
type bounded struct {
	http.RoundTripper
	allowed *allowance
}

func (t bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body := &answerBody{ReadCloser: resp.Body, ctx: req.Context(), allowed: t.allowed, left: maxObject, empty: true}
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		body.left, body.ends, body.empty = maxRefusal, true, false
	case req.URL.Query().Get("watch") != "":
		body.allowed, body.lines, body.empty = nil, true, false
	}
	resp.Body = body
	return resp, nil
}

// answerBody is the body of an answer.
type answerBody struct {
	io.ReadCloser
	ctx     context.Context // of the request
	allowed *allowance      // nil: whatever it has
	left    int64           // how much may come
	empty   bool            // nothing came yet, and something must
	ends    bool            // where more would come, it ends
	lines   bool            // left is of each line
}

// next allows for another object.
func (b *answerBody) next() { b.left = maxObject }

func (b *answerBody) Read(p []byte) (int, error) {
	if b.ends && b.left == 0 {
		return 0, io.EOF
	}
	if b.ends {
		p = p[:min(int64(len(p)), b.left)]
	}
	n, err := b.ReadCloser.Read(p)
	if b.empty = b.empty && n == 0; b.empty && err == io.EOF {
		return 0, unusable(errEmptyAnswer)
	}
	if b.allowed != nil {
		if err := b.allowed.take(n); err != nil {
			return 0, err
		}
	}
	b.left -= int64(n)
	if end := bytes.LastIndexByte(p[:n], '\n'); b.lines && end >= 0 {
		b.left = maxObject - int64(n-end)
	}
	if b.left < 0 {
		return 0, unusable(errTooLarge)
	}
	if b.lines { // client-go begins a watch again that ends, by its error
		return n, err
	}
	return n, b.cutOff(err)
}

// cutOff returns in plain words why the body cannot be read to its end. That the time is
// over, or that nobody waits any more, stays as it is.
func (b *answerBody) cutOff(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case err == nil, err == io.EOF:
		return err
	case isLate(err), overIn(b.ctx, 0): // whatever a connection looks like that is closed for it
		return context.DeadlineExceeded
	case b.ctx.Err() != nil:
		return b.ctx.Err()
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return unusable(errors.New("its compression is damaged"))
	case notHTTP(err):
		return unusable(errNotHTTP)
	}
	return &answerError{errors.New("the connection was closed before the end of the answer")}
}

// answerError says why an answer cannot be used that did come, or began to.
type answerError struct{ error }

func (e *answerError) Unwrap() error { return e.error }

// unusable returns the error of an answer that is not what was asked for. That it could
// not be read to its end stays what it is.
func unusable(err error) error {
	if ofReading(err) {
		return err
	}
	return &answerError{fmt.Errorf("unusable answer: %w", err)}
}

// ofReading reports whether an error is about the reading of an answer, not about what
// stands in it.
func ofReading(err error) bool {
	return errors.As(err, new(*answerError)) || errors.As(err, new(*tooMuchError)) ||
		errors.As(err, new(*tooManyError)) || errors.Is(err, context.Canceled) || isLate(err)
}

// isLate reports whether an error says that the time of a request is over.
func isLate(err error) bool {
	var late interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &late) && late.Timeout() ||
		// of client-go's rate limiter, before a retry
		err != nil && strings.Contains(err.Error(), "would exceed context deadline")
}

var errNotHTTP = errors.New("it is not valid HTTP")

// notHTTP reports whether an error is that of an answer that breaks the rules of HTTP.
func notHTTP(err error) bool {
	words := err.Error()
	return strings.Contains(words, "malformed") || strings.Contains(words, "chunk") ||
		strings.Contains(words, "transport connection broken")
}

// lostConnection reports whether an error is that of a connection that ended.
func lostConnection(err error) bool {
	var stream http2.StreamError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &stream) ||
		strings.HasPrefix(err.Error(), "http2: ")
}
