package api

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

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"golang.org/x/net/http2"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// MaxObject is the size in bytes of the largest object that is read. An API server rejects
	// requests of more than 3 MiB, and an object takes more space in JSON than in protobuf.
	MaxObject = 8 << 20

	// maxParts limits the fields and list members of an object: an empty container takes 2 bytes
	// in protobuf and 400 in memory. Objects of less than fewParts bytes are not checked.
	maxParts = 250_000
	fewParts = 1 << 18

	// maxRefusal limits the bytes that are read of an error response.
	maxRefusal = 1 << 20

	// MaxPages limits the pages of a list. A page has at most 500 objects and no limit in bytes of
	// its own: each object and all responses together have one.
	MaxPages = 10_000

	// objectsShare is the part of --max-input that the objects of one list may take in memory,
	// without the values that they point to, and at least leastObject each. That allows 100,000
	// pods.
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

var errTooLarge = fmt.Errorf("larger than %s, which no API server stores", source.SizeOf(MaxObject))

// Allowance is how many bytes may be read of all answers of a server together, once they
// are decompressed.
type Allowance struct {
	Most int64
	Page int64 // how many objects of a list a request asks for; 0: for all of them

	// Limited says that a request has a time limit, --request-timeout. Then no page is requested while the one before
	// is read: on a slow link the time of both would count.
	Limited bool
	read    atomic.Int64
}

func (a *Allowance) take(n int) error {
	if a.read.Add(int64(n)) > a.Most {
		return &TooMuchError{a.Most}
	}
	return nil
}

// MostOf returns how many objects of a type are held of one list.
func MostOf[T any](a *Allowance) int {
	return int(a.Most / objectsShare / int64(unsafe.Sizeof(*new(T))))
}

// TooMuchError says that the answers of a server are more than --max-input allows.
type TooMuchError struct{ most int64 }

func (e *TooMuchError) Error() string {
	return fmt.Sprintf("the answers of the server have more than %s, which is the most that is read",
		source.SizeOf(e.most))
}

// Hint returns the flag that allows twice as much.
func (e *TooMuchError) Hint() string { return "--max-input " + source.SizeOf(2*e.most) }

// TooManyError says that a list has more objects than are held.
type TooManyError struct {
	Objects int
	Most    int64 // --max-input
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("more than %d objects, and no more are held: %s holds twice as many", e.Objects, e.Hint())
}

// Hint returns the flag that allows twice as many.
func (e *TooManyError) Hint() string { return "--max-input " + source.SizeOf(2*e.Most) }

// BoundedTransport limits the size of each object in an answer, and of all answers together. An answer that is too
// large ends with an answerError.
type BoundedTransport struct {
	http.RoundTripper
	Allowed *Allowance
}

func (t BoundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body := &AnswerBody{ReadCloser: resp.Body, Ctx: req.Context(), Allowed: t.Allowed, Left: MaxObject, Empty: true}
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		body.Left, body.ends, body.Empty = maxRefusal, true, false
	case req.URL.Query().Get("watch") != "":
		body.Allowed, body.lines, body.Empty = nil, true, false
	}
	resp.Body = body
	return resp, nil
}

// AnswerBody is the body of an answer.
type AnswerBody struct {
	io.ReadCloser
	Ctx     context.Context // of the request
	Allowed *Allowance      // nil: whatever it has
	Left    int64           // how much may come
	Empty   bool            // nothing came yet, and something must
	ends    bool            // where more would come, it ends
	lines   bool            // left is of each line
}

// next allows for another object.
func (b *AnswerBody) next() { b.Left = MaxObject }

func (b *AnswerBody) Read(p []byte) (int, error) {
	if b.ends && b.Left == 0 {
		return 0, io.EOF
	}
	if b.ends {
		p = p[:min(int64(len(p)), b.Left)]
	}
	n, err := b.ReadCloser.Read(p)
	if b.Empty = b.Empty && n == 0; b.Empty && err == io.EOF {
		return 0, Unusable(errEmptyAnswer)
	}
	if b.Allowed != nil {
		if err := b.Allowed.take(n); err != nil {
			return 0, err
		}
	}
	b.Left -= int64(n)
	if end := bytes.LastIndexByte(p[:n], '\n'); b.lines && end >= 0 {
		b.Left = MaxObject - int64(n-end)
	}
	if b.Left < 0 {
		return 0, Unusable(errTooLarge)
	}
	if b.lines { // client-go begins a watch again that ends, by its error
		return n, err
	}
	return n, b.cutOff(err)
}

// cutOff returns in plain words why the body cannot be read to its end. That the time is
// over, or that nobody waits any more, stays as it is.
func (b *AnswerBody) cutOff(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case err == nil, err == io.EOF:
		return err
	case IsLate(err), overIn(b.Ctx, 0): // whatever a connection looks like that is closed for it
		return context.DeadlineExceeded
	case b.Ctx.Err() != nil:
		return b.Ctx.Err()
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return Unusable(errors.New("its compression is damaged"))
	case notHTTP(err):
		return Unusable(errNotHTTP)
	}
	return &AnswerError{errors.New("the connection was closed before the end of the answer")}
}

// AnswerError says why an answer cannot be used that did come, or began to.
type AnswerError struct{ error }

func (e *AnswerError) Unwrap() error { return e.error }

// Unusable returns the error of an answer that is not what was asked for. That it could
// not be read to its end stays what it is.
func Unusable(err error) error {
	if ofReading(err) {
		return err
	}
	return &AnswerError{fmt.Errorf("unusable answer: %w", err)}
}

// ofReading reports whether an error is about the reading of an answer, not about what
// stands in it.
func ofReading(err error) bool {
	return errors.As(err, new(*AnswerError)) || errors.As(err, new(*TooMuchError)) ||
		errors.As(err, new(*TooManyError)) || errors.Is(err, context.Canceled) || IsLate(err)
}

// IsLate reports whether an error says that the time of a request is over.
func IsLate(err error) bool {
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
