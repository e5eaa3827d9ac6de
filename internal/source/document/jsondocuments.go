package document

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// jsonReader reads JSON and counts lines. It leaves the bytes that the decoder reads ahead in its input. It uses the
// decoder of encoding/json/v2, which takes a fifth of the time.
type jsonReader struct {
	*jsontext.Decoder
	in   *bufio.Reader
	held int     // bytes of in that the decoder has
	line int     // lines that end before the last offset passed to lineAt
	read int64   // bytes read
	most int64   // maximum bytes of one value, or of all if all is true
	all  bool    // most applies to all values together
	ends []int64 // offsets of the newlines after line
	kept *pieces // the text read so far; nil if it is not kept

	failed error // error from in
}

func (j *jsonReader) Read(p []byte) (int, error) {
	_, _ = j.in.Discard(j.held)
	j.held = 0
	if _, j.failed = j.in.Peek(1); j.failed == nil && (j.read-j.InputOffset() > j.most || j.all && j.read > j.most) {
		j.failed = tooLong(j.most)
	}
	if j.failed != nil {
		return 0, j.failed
	}
	text, _ := j.in.Peek(min(len(p), j.in.Buffered()))
	for i, c := range text {
		if c == '\n' {
			j.ends = append(j.ends, j.read+int64(i))
		}
	}
	j.held = copy(p, text)
	j.read += int64(j.held)
	j.kept.add(text[:j.held])
	return j.held, nil
}

// pieces holds a text in several parts. A nil *pieces keeps nothing.
type pieces struct {
	all   [][]byte
	bytes int
}

func (p *pieces) add(text []byte) {
	const least, most = 1 << 14, 1 << 20 // bytes of one part
	for p != nil && len(text) > 0 {
		last := len(p.all) - 1
		if last < 0 || len(p.all[last]) == cap(p.all[last]) {
			p.all, last = append(p.all, make([]byte, 0, min(max(least, p.bytes), most))), last+1
		}
		n := min(len(text), cap(p.all[last])-len(p.all[last]))
		p.all[last], text, p.bytes = append(p.all[last], text[:n]...), text[n:], p.bytes+n
	}
}

// reader returns a reader of the whole text.
func (p *pieces) reader() io.Reader {
	var readers []io.Reader
	for _, text := range p.all {
		readers = append(readers, bytes.NewReader(text))
	}
	return io.MultiReader(readers...)
}

// done leaves the unused bytes in the input, and returns the number of lines that were read.
func (j *jsonReader) done() int {
	_, _ = j.in.Discard(j.held - int(j.read-j.InputOffset()))
	return j.lineAt(j.InputOffset())
}

// lineAt returns the number of lines that end before offset. Offsets must not decrease between calls.
func (j *jsonReader) lineAt(offset int64) int {
	for len(j.ends) > 0 && j.ends[0] < offset {
		j.ends = j.ends[1:]
		j.line++
	}
	return j.line
}

// value returns the next value and its first line. The value is valid until the next one is read.
func (j *jsonReader) value() (raw []byte, line int, err error) {
	raw, err = j.ReadValue()
	return raw, j.lineAt(j.InputOffset() - int64(len(raw))), j.fail(err)
}

func (j *jsonReader) token() (jsontext.Token, error) {
	t, err := j.ReadToken()
	return t, j.fail(err)
}

// more reports whether the current list or object has another element. It returns false at the end of the input.
func (j *jsonReader) more() bool {
	next := j.PeekKind()
	return next != ']' && next != '}' && (next != 0 || len(bytes.TrimSpace(j.UnreadBuffer())) > 0)
}

// rest returns the bytes that the decoder has read ahead, without the separators before the next value.
func (j *jsonReader) rest() []byte { return bytes.TrimLeft(j.UnreadBuffer(), object.Space+",:") }

// fail adds the line to an error of the decoder. It returns ErrCutOff if a string or a word is incomplete at the end of
// the input.
func (j *jsonReader) fail(err error) error {
	syntax := (*jsontext.SyntacticError)(nil)
	switch {
	case err == nil:
		return nil
	case j.failed != nil && j.failed != io.EOF && !errors.Is(j.failed, io.ErrUnexpectedEOF):
		return j.failed
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return source.ErrCutOff
	case !errors.As(err, &syntax):
		return err
	}
	rest := j.UnreadBuffer()
	if wrong := int(syntax.ByteOffset - j.InputOffset()); wrong >= 0 && wrong < len(rest) {
		if _, end := j.in.Peek(j.held + 1); end == io.EOF && len(bytes.TrimSpace(rest[wrong:])) == 0 {
			return source.ErrCutOff
		}
	}
	return fmt.Errorf("line %d: %w: %w", j.lineAt(syntax.ByteOffset)+1, source.ErrNotJSON, syntax.Err)
}

// jsonInItems matches the start of a list that is read item by item: an array, or a list in the format of kubectl and
// API servers.
var jsonInItems = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\[|\{\s*(?:"\w+"\s*:\s*(?:"[^"\\]*"|\{[^{}]*\})\s*,\s*)*"items"\s*:\s*\[)`)
})

// readRecorded reads a recorded Snapshot object by object. It does not hold the text in one part, and does not keep
// it if the file can be read again. It returns false if the Snapshot cannot be decoded this way; then the caller must
// read the document.
func (d *Documents) readRecorded() (bool, error) {
	j := &jsonReader{in: d.in, line: d.Line, most: d.Most, all: true}
	begin := d.taken.N - int64(d.in.Buffered())
	if d.Again == nil {
		j.kept = &pieces{}
	}
	j.Decoder = jsontext.NewDecoder(j)
	s, err := snapshot.DecodeFrom(j.Decoder)
	if err != nil {
		_, _ = d.in.Discard(j.held)
		var text io.Reader
		if d.Again != nil {
			text = &exactReader{io.NewSectionReader(d.Again, begin, j.read), j.read}
		} else {
			text = j.kept.reader()
		}
		d.Again, d.in = nil, bufio.NewReaderSize(io.MultiReader(text, d.in), 1<<16)
		return false, nil
	}
	object.StripRecorded(s)
	d.Line = j.done()
	return true, d.emitAll([]object.Object{{Kind: object.OfSnapshot, Snapshot: s}}, "")
}

// exactReader returns an error if the input ends before left bytes.
type exactReader struct {
	io.Reader
	left int64
}

func (e *exactReader) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if e.left -= int64(n); err == io.EOF && e.left > 0 {
		err = source.ErrChanged
	}
	return n, err
}

// jsonDocument reads an object, a list, or an array of objects.
func (d *Documents) jsonDocument(ctx context.Context) error {
	head, _ := d.in.Peek(4 << 10) // valid until the next read
	inItems := jsonInItems().Match(head)
	if object.LeadingKind(head) == object.OfSnapshot && d.Tolerant != nil && !d.Tolerant.Words {
		if read, err := d.readRecorded(); read || err != nil {
			return err
		}
	}
	j := &jsonReader{in: d.in, line: d.Line, most: d.Most}
	j.Decoder = jsontext.NewDecoder(j, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if inItems {
		if err := d.jsonList(ctx, j); err != nil {
			return d.reportBroken(ctx, j, err)
		}
	} else {
		raw, line, err := j.value()
		if err != nil {
			return d.reportBroken(ctx, j, err)
		}
		if err := d.document(Item{Text: raw, line: line}); err != nil { // it keeps no part of the text
			return err
		}
	}
	d.Line = j.done()
	return nil
}

func (d *Documents) jsonList(ctx context.Context, j *jsonReader) error {
	if open, err := j.token(); err != nil || open.Kind() == '[' {
		if err == nil {
			err = d.jsonItems(ctx, j, "")
		}
		if err != nil {
			return err
		}
		return d.endList(ctx, true, nil)
	}
	var repeats []object.Repeat
	isList, about := false, map[string]json.RawMessage{}
	for j.more() {
		t, err := j.token()
		if err != nil {
			return err
		}
		name := t.String()
		if name == "items" {
			if isList {
				return source.ErrTwoLists
			}
			isList = true
			if err := d.describe(about); err != nil {
				return err
			}
			if t, err := j.token(); err != nil || t.Kind() != '[' {
				return cmp.Or(err, source.ErrNotJSON)
			}
			if err := d.jsonItems(ctx, j, "items"); err != nil {
				return err
			}
			continue
		}
		if about[name] != nil {
			repeats = append(repeats, repeat(j.lineAt(j.InputOffset())+1, name))
		}
		value, _, err := j.value()
		if err != nil {
			return err
		}
		about[name] = bytes.Clone(value)
	}
	if _, err := j.token(); err != nil {
		return err
	}
	if err := d.describe(about); err != nil {
		return err
	}
	return d.endList(ctx, false, repeats)
}

// jsonItems reads the rest of an array, item by item.
func (d *Documents) jsonItems(ctx context.Context, j *jsonReader, path string) error {
	for i := 0; j.more(); i++ {
		value, line, err := j.value()
		it := Item{Path: fmt.Sprintf("%s[%d]", path, i), line: line}
		if err != nil {
			return d.at(it.Path, err)
		}
		begin := len(d.texts)
		d.texts = append(d.texts, value...)
		it.Text = slices.Clip(d.texts[begin:])
		if err := d.add(ctx, it); err != nil {
			return err
		}
	}
	_, err := j.token()
	return err
}

// laterValues returns JSON in which each key appears once, with its later value.
func laterValues(raw []byte) ([]byte, error) {
	var v any
	if err := kjson.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// repeatsInJSON returns the keys that appear twice, up to the first syntax error.
func repeatsInJSON(raw []byte, line int) []object.Repeat {
	type level struct {
		keys map[string]bool // keys of an object; nil for a list
		key  bool            // the next token is a key
	}
	var found []object.Repeat
	at := []level{{}}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return found
		}
		in := &at[len(at)-1]
		switch token {
		case json.Delim('}'), json.Delim(']'):
			at = at[:len(at)-1]
			continue
		}
		if key, ok := token.(string); ok && in.keys != nil && in.key {
			if in.keys[key] {
				found = append(found, repeat(line+1+bytes.Count(raw[:d.InputOffset()], []byte{'\n'}), key))
			}
			in.keys[key], in.key = true, false
			continue
		}
		in.key = true
		switch token {
		case json.Delim('{'):
			at = append(at, level{map[string]bool{}, true})
		case json.Delim('['):
			at = append(at, level{})
		}
	}
}
