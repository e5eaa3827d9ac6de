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

// ListPage is a page of a list that is read object by object: one is held at a time,
// however many there are. So neither a server that heeds no limit takes much memory, nor
// 500 revisions of 1 MB each.
type ListPage struct {
	Of   schema.GroupVersionKind // what was asked for, as v1 PodList
	Each func(raw []byte, protobuf bool) error

	follows TellsNext // called once the page has said which one follows it; may be nil
	turn    Turn      // of the page to be read
	ctx     context.Context

	begun bool
	err   error // why it cannot be read
	kind  metav1.TypeMeta
	items int // that were read
	meta  metav1.ListMeta
}

// ReadList sends a request for a page of objects of a kind, calls each with one after the
// other, and returns what the server says of the list. The object is only each's until it
// returns. An error of each ends the page, and is returned.
//
// Of what comes in protobuf only what kept names is looked at; all, where kept is nil.
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
		if is := o.GetObjectKind().GroupVersionKind(); is.Kind != "" && is != of { // most say nothing
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
	if late := p.turn.Wait(ctx); late != nil { // whoever reads the list looks at an error in its turn, too
		return metav1.ListMeta{}, late
	}
	switch {
	case p.err != nil: // without client-go's words for it
		return metav1.ListMeta{}, p.err
	case err == nil && !p.begun:
		return metav1.ListMeta{}, Unusable(errEmptyAnswer)
	default:
		return p.meta, err
	}
}

// gvkOf returns what a kind is called by the API.
func gvkOf(o runtime.Object) (schema.GroupVersionKind, error) {
	all, _, err := APIScheme().ObjectKinds(o)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return all[0], nil
}

// Paged is a transport that decodes a page of a list, passes its objects to the page in the
// context of the request, and returns an empty body.
type Paged struct{ http.RoundTripper }

func (t Paged) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if p, asked := req.Context().Value(ContextKey[ListPage]{}).(*ListPage); asked && err == nil &&
		resp.StatusCode == http.StatusOK {
		resp.Body = &pageBody{resp.Body.(*AnswerBody), p}
	}
	return resp, err
}

// pageBody is what is left of a page whose objects were given away.
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

// item hands on an object.
func (p *ListPage) item(raw []byte, protobuf bool) error {
	if err := p.Each(raw, protobuf); err != nil {
		return p.at(err)
	}
	p.items++
	return nil
}

// at returns an error with the place of the object that is read, if it is about that.
func (p *ListPage) at(err error) error {
	if errors.Is(err, errTooLarge) {
		err = errTooLarge
	} else if ofReading(err) {
		return err
	}
	return document.Within(fmt.Sprintf("items[%d]", p.items), err)
}

// json reads a page that is written in JSON, whatever the order of its fields.
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
	case err != io.EOF: // as the checksum of a gzip
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

// kindOfToken says what a value is that begins with a token.
func kindOfToken(t json.Token) string {
	raw, err := json.Marshal(t)
	if d, is := t.(json.Delim); is || err != nil {
		raw = []byte(d.String())
	}
	return object.KindOfJSON(object.FirstByte(raw))
}

// status returns the error that a Status in the place of a list is.
func (p *ListPage) status(raw []byte, protobuf bool) error {
	s := &metav1.Status{}
	if err := Unpack(raw, s, protobuf); err == nil && s.Status == metav1.StatusFailure {
		return apierrors.FromObject(s)
	}
	return otherKind(statusKind, p.Of)
}

// protobuf reads a page that is written in protobuf: the kind, then the list.
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

// protoMessage is a message in protobuf whose fields are read one after the other. The value of
// each is read, or skipped, before the next.
type protoMessage struct {
	r    *bufio.Reader
	left int64 // how much of it is to come
	open bool  // it ends where the answer ends
	kind int   // of the value that comes next
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

// field returns the number of the next field; io.EOF at the end.
func (m *protoMessage) field() (int, error) {
	key, err := binary.ReadUvarint(m)
	m.kind = int(key & (1<<bitsOfKind - 1))
	return int(key >> bitsOfKind), err
}

// length returns that of the value of a field that has one.
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

// bytes returns the value of a field, which is good until the next call.
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

// message returns the message that is the value of a field.
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

// Expired reports whether err says that a continue token is too old, and which
// token the server offers instead.
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
