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

	// maxParts limits the fields and list members of an object, because an empty container takes 2 bytes in protobuf
	// and 400 in memory. Objects of less than fewParts bytes are not checked.
	maxParts = 250_000
	fewParts = 1 << 18

	// maxRefusal limits the bytes to read from an error response.
	maxRefusal = 1 << 20

	// MaxPages limits the pages of a list. A page has at most 500 objects. It has no limit in bytes, because each
	// object and all responses together have one.
	MaxPages = 10_000

	// objectsShare divides --max-input to get the memory for the objects of one list, without the values that they
	// point to. The default of --max-input allows 100,000 pods.
	objectsShare = 16
)

var errTooManyParts = fmt.Errorf("more than %d fields and members of lists", maxParts)

// partsOf returns an upper bound for the number of fields and list members in an object.
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

// deepest exceeds the nesting depth of messages in the API.
const deepest = 20

// partsOfProtobuf returns the number of fields and list members in a protobuf message, and reports whether raw is
// one. A string has the same form as a nested message.
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

// Allowance limits the bytes to read from all responses of a server together, after decompression.
type Allowance struct {
	Most int64
	Page int64 // objects of a list per request; 0 requests the whole list

	// Limited is true if --request-timeout limits each request. Then no page is requested ahead: on a slow link, both
	// pages would use up the time limit of the second one.
	Limited bool
	read    atomic.Int64
}

func (a *Allowance) take(n int) error {
	if a.read.Add(int64(n)) > a.Most {
		return &TooMuchError{a.Most}
	}
	return nil
}

// MostOf returns the maximum number of objects of type T to keep from one list.
func MostOf[T any](a *Allowance) int {
	return int(a.Most / objectsShare / int64(unsafe.Sizeof(*new(T))))
}

// TooMuchError says that the responses of a server exceed --max-input.
type TooMuchError struct{ most int64 }

func (e *TooMuchError) Error() string {
	return fmt.Sprintf("the answers of the server have more than %s, which is the most that is read",
		source.SizeOf(e.most))
}

// Hint returns the flag that doubles the limit.
func (e *TooMuchError) Hint() string { return "--max-input " + source.SizeOf(2*e.most) }

// TooManyError says that a list has more objects than the program keeps.
type TooManyError struct {
	Objects int
	Most    int64 // --max-input
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("more than %d objects, and no more are held: %s holds twice as many", e.Objects, e.Hint())
}

// Hint returns the flag that doubles the limit.
func (e *TooManyError) Hint() string { return "--max-input " + source.SizeOf(2*e.Most) }

// BoundedTransport limits the size of each object in a response, and of all responses together. Reading a response
// that is too large returns an AnswerError or a TooMuchError.
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

// AnswerBody is the body of a response, with limits.
type AnswerBody struct {
	io.ReadCloser
	Ctx     context.Context // of the request
	Allowed *Allowance      // nil if there is no limit
	Left    int64           // bytes that may still be read
	Empty   bool            // no byte has been read yet, and an empty body is an error
	ends    bool            // the body ends at the limit, without an error
	lines   bool            // Left applies to each line
}

// next resets the limit for the next object.
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
	if b.lines { // client-go needs this error to restart a watch
		return n, err
	}
	return n, b.cutOff(err)
}

// cutOff returns an error that says why the rest of the body cannot be read. It does not reword the errors of a
// deadline or a canceled context.
func (b *AnswerBody) cutOff(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case err == nil, err == io.EOF:
		return err
	case IsLate(err), overIn(b.Ctx, 0): // an expired deadline may close the connection with any error
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

// AnswerError says why the program cannot use a response that the server sent completely or in part.
type AnswerError struct{ error }

func (e *AnswerError) Unwrap() error { return e.error }

// Unusable returns an AnswerError for a response with the wrong content. It returns err unchanged if the response
// could not be read to its end.
func Unusable(err error) error {
	if isReadError(err) {
		return err
	}
	return &AnswerError{fmt.Errorf("unusable answer: %w", err)}
}

// isReadError reports whether err comes from reading a response, not from its content.
func isReadError(err error) bool {
	return errors.As(err, new(*AnswerError)) || errors.As(err, new(*TooMuchError)) ||
		errors.As(err, new(*TooManyError)) || errors.Is(err, context.Canceled) || IsLate(err)
}

// IsLate reports whether err says that the time of a request is over.
func IsLate(err error) bool {
	var late interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &late) && late.Timeout() ||
		// from client-go's rate limiter, before a retry
		err != nil && strings.Contains(err.Error(), "would exceed context deadline")
}

var errNotHTTP = errors.New("it is not valid HTTP")

// notHTTP reports whether err comes from a response that is not valid HTTP.
func notHTTP(err error) bool {
	words := err.Error()
	return strings.Contains(words, "malformed") || strings.Contains(words, "chunk") ||
		strings.Contains(words, "transport connection broken")
}

// lostConnection reports whether err says that the connection was closed.
func lostConnection(err error) bool {
	var stream http2.StreamError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &stream) ||
		strings.HasPrefix(err.Error(), "http2: ")
}
