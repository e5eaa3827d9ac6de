package api

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// ListPage is a page of a list that is read object by object. Only one object is in memory at a time. Therefore
// neither a server that ignores the limit of a request nor 500 revisions of 1 MB each use much memory.
type ListPage struct {
	Of   schema.GroupVersionKind // the requested kind, such as v1 PodList
	Each func(raw []byte, protobuf bool) error

	follows TellsNext // receives the metadata of the page, before its objects; may be nil
	turn    Turn      // of this page
	ctx     context.Context

	begun bool
	err   error // why the page cannot be read
	kind  metav1.TypeMeta
	items int // objects read so far
	meta  metav1.ListMeta
}

// ReadList requests a page of objects, calls each with them one after another, and returns the metadata of the list.
// each must not keep the object after it returns. If each returns an error, ReadList stops and returns that error.
//
// If kept is not nil, ReadList decodes only the fields that its mask selects from objects in protobuf.
func ReadList[T any, P OneOf[T]](ctx context.Context, r *rest.Request, kept func(raw []byte) *ProtoMask,
	each func(*T) error) (metav1.ListMeta, error) {
	of, err := gvkOf(P(new(T)))
	if err != nil {
		return metav1.ListMeta{}, err
	}
	reader, held := NewWireReader[T, P](kept), P(new(T))
	p := &ListPage{Of: of, Each: func(raw []byte, protobuf bool) error {
		o, err := held, error(nil)
		if protobuf && kept != nil {
			err = reader.Read(raw, o)
		} else {
			o = P(new(T))
			err = Unpack(raw, o, protobuf)
		}
		if err != nil {
			return err
		}
		// most objects of a list have no kind
		if is := o.GetObjectKind().GroupVersionKind(); is.Kind != "" && is != of {
			return otherKind(metav1.TypeMeta{APIVersion: is.GroupVersion().String(), Kind: is.Kind}, of)
		}
		if err := object.Validate(o); err != nil {
			return err
		}
		return each(o)
	}}
	p.Of.Kind += "List"
	p.ctx = ctx
	p.follows, _ = ctx.Value(ContextKey[TellsNext]{}).(TellsNext)
	p.turn, _ = ctx.Value(ContextKey[Turn]{}).(Turn)
	err = r.Do(context.WithValue(ctx, ContextKey[ListPage]{}, p)).Error()
	if late := p.turn.Wait(ctx); late != nil { // an error, too, waits for its turn
		return metav1.ListMeta{}, late
	}
	switch {
	case p.err != nil: // this error lacks the words that client-go adds
		return metav1.ListMeta{}, p.err
	case err == nil && !p.begun:
		return metav1.ListMeta{}, Unusable(errEmptyAnswer)
	default:
		return p.meta, err
	}
}

// gvkOf returns the group, version and kind of o in the API.
func gvkOf(o runtime.Object) (schema.GroupVersionKind, error) {
	all, _, err := APIScheme().ObjectKinds(o)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return all[0], nil
}

// Paged is a transport that decodes a page of a list, passes its objects to the page in the context of the request,
// and returns an empty body.
type Paged struct{ http.RoundTripper }

func (t Paged) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if p, asked := req.Context().Value(ContextKey[ListPage]{}).(*ListPage); asked && err == nil &&
		resp.StatusCode == http.StatusOK {
		resp.Body = &pageBody{resp.Body.(*AnswerBody), p}
	}
	return resp, err
}

// pageBody is an empty body. Its first Read reads the page.
type pageBody struct {
	*AnswerBody
	page *ListPage
}

func (b *pageBody) Read([]byte) (int, error) {
	if b.page.begun {
		return 0, io.EOF
	}
	b.page.begun = true
	if b.page.err = b.page.turn.Wait(b.page.ctx); b.page.err == nil {
		b.page.err = b.page.From(b.AnswerBody)
	}
	return 0, cmp.Or(b.page.err, io.EOF)
}

// From reads the page from its body.
func (p *ListPage) From(body *AnswerBody) error {
	r := bufio.NewReaderSize(body, 1<<16)
	var err error
	if head, _ := r.Peek(len(protobufPrefix)); bytes.Equal(head, protobufPrefix) {
		err = p.protobuf(r, body)
	} else {
		err = p.json(json.NewDecoder(r), body)
	}
	if status := apierrors.APIStatus(nil); err == nil || errors.As(err, &status) {
		return err
	}
	return Unusable(err)
}

// item passes an object to Each.
func (p *ListPage) item(raw []byte, protobuf bool) error {
	if err := p.Each(raw, protobuf); err != nil {
		return p.at(err)
	}
	p.items++
	return nil
}

// at adds the position of the current object to err, if err is about that object.
func (p *ListPage) at(err error) error {
	if errors.Is(err, errTooLarge) {
		err = errTooLarge
	} else if isReadError(err) {
		return err
	}
	return document.Within(fmt.Sprintf("items[%d]", p.items), err)
}

// json reads a page in JSON. The fields may have any order.
func (p *ListPage) json(d *json.Decoder, body *AnswerBody) error {
	first, err := d.Token()
	if err == nil && first != json.Delim('{') {
		return otherKind(p.kind, p.Of)
	}
	fields, hasItems := map[string]json.RawMessage{}, false
	for err == nil && d.More() {
		var name json.Token
		if name, err = d.Token(); err != nil {
			break
		}
		if name == "items" {
			if hasItems {
				return source.ErrTwoLists
			}
			if hasItems, err = true, p.jsonItems(d, body); err != nil {
				return err
			}
			continue
		}
		var value json.RawMessage
		if err = d.Decode(&value); slices.Contains([]json.Token{"kind", "apiVersion", "metadata", "status", "message",
			"reason", "details", "code"}, name) {
			fields[name.(string)] = value
		}
		_ = json.Unmarshal(fields["kind"], &p.kind.Kind)
		_ = json.Unmarshal(fields["apiVersion"], &p.kind.APIVersion)
	}
	if err == nil {
		_, err = d.Token()
	}
	if err != nil {
		return NotJSON(err)
	}
	switch _, err := d.Token(); {
	case err == nil:
		return errors.New("something follows its end")
	case err != io.EOF: // such as a wrong checksum of gzip
		return NotJSON(err)
	}
	if p.kind == statusKind {
		raw, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		return p.status(raw, false)
	}
	if err := otherKind(p.kind, p.Of); err != nil {
		return err
	}
	if !hasItems {
		return &object.FieldError{Field: "items", Err: errors.New("must be a list, not nothing")}
	}
	if err := Unpack(fields["metadata"], &p.meta, false); err != nil && fields["metadata"] != nil {
		return document.Within("metadata", err)
	}
	return nil
}

// jsonItems reads the objects of a list.
func (p *ListPage) jsonItems(d *json.Decoder, body *AnswerBody) error {
	if p.kind.Kind != "" && p.kind.APIVersion != "" {
		if err := otherKind(p.kind, p.Of); err != nil {
			return err
		}
	}
	first, err := d.Token()
	if err == nil && first != json.Delim('[') {
		return &object.FieldError{Field: "items", Err: fmt.Errorf("must be a list, not %s", kindOfToken(first))}
	}
	for err == nil && d.More() {
		body.next()
		var raw json.RawMessage
		if err = d.Decode(&raw); err != nil {
			return p.at(NotJSON(err))
		}
		if err := p.item(raw, false); err != nil {
			return err
		}
	}
	body.next()
	if err == nil {
		_, err = d.Token()
	}
	return NotJSON(err)
}

// kindOfToken returns the JSON type of the value that begins with a token.
func kindOfToken(t json.Token) string {
	raw, err := json.Marshal(t)
	if d, is := t.(json.Delim); is || err != nil {
		raw = []byte(d.String())
	}
	return object.KindOfJSON(object.FirstByte(raw))
}

// status returns the error for a Status that the server sent instead of a list.
func (p *ListPage) status(raw []byte, protobuf bool) error {
	s := &metav1.Status{}
	if err := Unpack(raw, s, protobuf); err == nil && s.Status == metav1.StatusFailure {
		return apierrors.FromObject(s)
	}
	return otherKind(statusKind, p.Of)
}

// protobuf reads a page in protobuf: first the kind, then the list.
func (p *ListPage) protobuf(r *bufio.Reader, body *AnswerBody) error {
	_, _ = r.Discard(len(protobufPrefix))
	const kind, list = 1, 2 // the fields of a runtime.Unknown
	whole, read := &protoMessage{r: r, left: math.MaxInt64, open: true}, false
	for {
		field, err := whole.field()
		switch {
		case err == io.EOF && read:
			return nil
		case err == io.EOF && p.kind.Kind == "":
			return otherKind(p.kind, p.Of)
		case err != nil:
			return notProtobuf(err)
		case read && field == list, field == kind && p.kind.Kind != "":
			return errDamaged
		}
		switch field {
		case kind:
			raw, err := whole.bytes()
			is := runtime.TypeMeta{}
			if err == nil {
				err = is.Unmarshal(raw)
			}
			if err != nil {
				return notProtobuf(err)
			}
			p.kind = metav1.TypeMeta{APIVersion: is.APIVersion, Kind: is.Kind}
		case list:
			if p.kind == statusKind {
				raw, err := whole.bytes()
				if err != nil {
					return notProtobuf(err)
				}
				return p.status(raw, true)
			}
			if err := otherKind(p.kind, p.Of); err != nil {
				return err
			}
			part, err := whole.message()
			if err != nil {
				return notProtobuf(err)
			}
			if err := p.protobufList(part, body); err != nil {
				return err
			}
			read = true
		default:
			if err := whole.skip(); err != nil {
				return notProtobuf(err)
			}
		}
	}
}

// protobufList reads the metadata and the objects of a list.
func (p *ListPage) protobufList(m *protoMessage, body *AnswerBody) error {
	const meta, item = 1, 2 // the fields of every list of the API
	for {
		body.next()
		field, err := m.field()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return notProtobuf(err)
		case field != meta && field != item:
			if err := m.skip(); err != nil {
				return notProtobuf(err)
			}
			continue
		}
		raw, err := m.bytes()
		switch {
		case err != nil:
			return p.at(notProtobuf(err))
		case field == item:
			err = p.item(raw, true)
		default:
			if err = Unpack(raw, &p.meta, true); err == nil && p.follows != nil {
				p.follows(p.meta)
			}
		}
		if err != nil {
			return err
		}
	}
}

// protoMessage reads the fields of a protobuf message one after another. The caller reads or skips each value before
// it reads the next field.
type protoMessage struct {
	r    *bufio.Reader
	left int64 // bytes of the message that are not read yet
	open bool  // the message ends with the response
	kind int   // wire type of the next value
	held []byte
}

const (
	varint, fixed64, delimited, fixed32 = 0, 1, 2, 5
	bitsOfKind                          = 3
)

// ReadByte implements io.ByteReader.
func (m *protoMessage) ReadByte() (byte, error) {
	if m.left == 0 {
		return 0, io.EOF
	}
	m.left--
	b, err := m.r.ReadByte()
	if err == io.EOF && !m.open {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// field returns the number of the next field, or io.EOF at the end of the message.
func (m *protoMessage) field() (int, error) {
	key, err := binary.ReadUvarint(m)
	m.kind = int(key & (1<<bitsOfKind - 1))
	return int(key >> bitsOfKind), err
}

// length returns the length of a value that has one.
func (m *protoMessage) length() (int64, error) {
	if m.kind != delimited {
		return 0, errDamaged
	}
	n, err := binary.ReadUvarint(m)
	if err == nil && (n > uint64(m.left)) {
		err = errDamaged
	}
	return int64(n), err
}

// bytes returns the value of a field. The slice is valid until the next call.
func (m *protoMessage) bytes() ([]byte, error) {
	n, err := m.length()
	if err == nil && n > MaxObject {
		err = errTooLarge
	}
	if err != nil {
		return nil, err
	}
	m.left -= n
	m.held = slices.Grow(m.held[:0], int(n))[:n]
	_, err = io.ReadFull(m.r, m.held)
	return m.held, err
}

// message returns the nested message in the value of a field.
func (m *protoMessage) message() (*protoMessage, error) {
	n, err := m.length()
	m.left -= n
	return &protoMessage{r: m.r, left: n}, err
}

func (m *protoMessage) skip() error {
	n, err := int64(0), error(nil)
	switch m.kind {
	case varint:
		_, err = binary.ReadUvarint(m)
		return err
	case fixed64:
		n = 8
	case fixed32:
		n = 4
	default:
		n, err = m.length()
	}
	if err != nil || n > m.left {
		return cmp.Or(err, errDamaged)
	}
	m.left -= n
	_, err = io.CopyN(io.Discard, m.r, n)
	return err
}

// Expired reports whether err says that a continue token has expired. It also returns the token that the server
// offers instead, or "".
func Expired(err error) (token string, gone bool) {
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		return "", false
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		token = status.Status().Continue
	}
	return token, true
}
