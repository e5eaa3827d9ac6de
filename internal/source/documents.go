package source

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	goyaml "go.yaml.in/yaml/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// documents reads one file: JSON documents one after another, or a YAML
// stream, or a mixture of them. Documents are counted from 1, and empty ones
// are not counted.
//
// A list is read item by item, and only a batch of items is held as text, so
// that a list of any length takes the memory of what is kept of it.
type documents struct {
	in     *bufio.Reader
	line   int // lines read before in, from 0
	doc    int
	decode decoder
	emit   func(object) error
	list   listMeta // of the list being read, as far as it is known
	items  int      // of that list, so far
	twice  []Repeat // in what the list says of itself
	batch  []item
	size   int    // bytes in batch
	later  []item // items that have no kind, of a list whose kind has not come yet

	ragged bool // the last line has no newline, and nothing else shows that it is whole
}

// listMeta is what a list says of itself.
type listMeta struct {
	metav1.TypeMeta
	Metadata struct {
		ResourceVersion    string `json:"resourceVersion"`
		Continue           string `json:"continue"`
		RemainingItemCount int    `json:"remainingItemCount"`
	} `json:"metadata"`
}

// itemsAre returns the kind of the items that do not say it themselves, and
// whether the list has said it yet.
func (l listMeta) itemsAre() (metav1.TypeMeta, bool) {
	return l.TypeMeta, itemKind(l.TypeMeta).Kind != "" && l.APIVersion != ""
}

// decoder makes an object of its JSON. list is the kind of the list that the
// object stands in.
type decoder func(raw []byte, list metav1.TypeMeta) (object, error)

// item is the text of one object.
type item struct {
	text []byte
	yaml bool
	line int // of its first line, from 0
	path string

	repeats []Repeat // in the document that it was taken from as a whole
	before  int      // lines of text that are other parts of its document, with the anchors of its aliases
}

// What may be an anchor of YAML, or an alias of one. kubectl writes none.
var (
	yamlAnchor = regexp.MustCompile(`(?m)(?:^|[\s\[{,])&[^\s\[\]{},&]`)
	yamlAlias  = regexp.MustCompile(`(?m)(?:^|[\s\[{,])\*([^\s\[\]{},*]+)`)
)

// anchored are the parts of a YAML document in which an anchor may stand: what
// comes before its items, and items.
type anchored struct{ text []byte }

// add adds an item, of which the dash is at column indent. Before the first one
// it adds head, the lines before the items.
func (a *anchored) add(head, item []byte, indent int) {
	if !yamlAnchor.Match(item) && (a.text != nil || !yamlAnchor.Match(head)) {
		return
	}
	if a.text == nil {
		a.text = append(slices.Clone(head), "items:\n"...)
	}
	a.text = append(a.text, dashed(item, indent)...)
}

// complete returns the item with those parts before it, if it may have an alias
// of them: a document in which it is the last item.
func (a *anchored) complete(it item, indent int) item {
	if a.text == nil || !yamlAlias.Match(it.text) {
		return it
	}
	it.before = bytes.Count(a.text, []byte{'\n'})
	it.text = append(slices.Clone(a.text), dashed(it.text, indent)...)
	it.line -= it.before
	return it
}

// dashed returns an item with its dash, and a line end.
func dashed(item []byte, indent int) []byte {
	text := slices.Clone(item)
	text[indent] = '-'
	if text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	return text
}

const (
	batchItems = 512
	batchBytes = 8 << 20
)

// positionError says where in a file something is wrong.
type positionError struct {
	document int
	field    string
	err      error
}

func (e *positionError) Error() string { return e.err.Error() }

func (e *positionError) Unwrap() error { return e.err }

var (
	errCutOff   = errors.New("ends in the middle of an object: the file is cut off")
	errNotText  = errors.New("not text")
	errListEnd  = errors.New("a list without a kind: the file may be cut off")
	errTwoLists = errors.New("items: appears twice")
	errNotJSON  = errors.New("not JSON")
)

// read hands every object of the file to emit, in the order in which they
// stand there, but that items without a kind come after those with one. An
// error is a *positionError, or what emit or ctx returned.
func (d *documents) read(ctx context.Context) error {
	if err := d.decodeText(); err != nil {
		return &positionError{err: err}
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, err := d.start()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &positionError{err: err}
		}
		d.doc++
		d.list, d.items, d.twice = listMeta{}, 0, nil
		if first == '{' || first == '[' {
			err = d.jsonDocument(ctx, first)
		} else {
			err = d.yamlDocument(ctx)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errCutOff
		}
		if err != nil {
			return d.at("", err)
		}
	}
}

// at returns the error with its place, unless it has one.
func (d *documents) at(field string, err error) error {
	if e := (*positionError)(nil); errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if e := (*fieldError)(nil); errors.As(err, &e) {
		field, err = join(field, e.field), e.err
		field = strings.TrimPrefix(field, ".")
	}
	return &positionError{document: d.doc, field: field, err: err}
}

// decodeText makes UTF-8 of UTF-16, which PowerShell writes, and refuses what
// is not text.
func (d *documents) decodeText() error {
	head, err := d.in.Peek(512)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return err
	}
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	case bytes.IndexByte(head, 0) >= 0:
		return errNotText
	default:
		return nil
	}
	raw, err := io.ReadAll(d.in)
	if err != nil {
		return err
	}
	if len(raw)%2 != 0 {
		return errCutOff
	}
	units := make([]uint16, len(raw)/2-1)
	for i := range units {
		units[i] = order.Uint16(raw[2*i+2:])
	}
	d.in = bufio.NewReaderSize(bytes.NewReader([]byte(string(utf16.Decode(units)))), 1<<16)
	return nil
}

var byteOrderMark = []byte("\ufeff")

// start skips what may stand between documents (blank lines, comments, ---
// and ..., byte order marks), and returns the first byte of the next one
// without reading it.
func (d *documents) start() (byte, error) {
	for {
		head, err := d.in.Peek(4)
		if len(head) == 0 {
			if err == nil {
				err = io.EOF
			}
			return 0, err
		}
		switch {
		case head[0] == '\n':
			d.line++
			d.skip(1)
		case head[0] == ' ', head[0] == '\t', head[0] == '\r':
			// Blanks before a YAML document's first key are its indentation.
			if blank, err := d.blankLine(); err != nil || !blank {
				return d.indented(err)
			}
		case bytes.HasPrefix(head, byteOrderMark):
			d.skip(len(byteOrderMark))
		case head[0] == '#', head[0] == '%': // a comment, or a YAML directive
			if _, err := d.readLine(nil); err != nil {
				return 0, err
			}
		case separator(head):
			d.skip(3)
		default:
			return head[0], nil
		}
	}
}

// separator reports whether a line that begins with head ends a YAML document.
func separator(head []byte) bool {
	return (bytes.HasPrefix(head, []byte("---")) || bytes.HasPrefix(head, []byte("..."))) &&
		(len(head) == 3 || head[3] == '\n' || head[3] == '\r' || head[3] == ' ' || head[3] == '\t')
}

// blankLine skips the blanks of a line up to its end. It skips nothing when
// something else follows on the line, within what the buffer holds.
func (d *documents) blankLine() (bool, error) {
	for n := 64; ; n *= 2 {
		head, err := d.in.Peek(n)
		rest := bytes.TrimLeft(head, " \t\r")
		switch {
		case len(rest) > 0 && (rest[0] == '\n' || rest[0] == '#'):
			d.skip(len(head) - len(rest))
			return true, nil
		case len(rest) > 0:
			return false, nil
		case err == io.EOF:
			d.skip(len(head))
			return true, nil
		case err != nil: // a blank line as long as the buffer
			d.skip(len(head))
			return true, nil
		}
	}
}

// indented returns the byte with which an indented document begins: for JSON
// the blanks before it are nothing, for YAML they are part of it.
func (d *documents) indented(err error) (byte, error) {
	if err != nil {
		return 0, err
	}
	head, _ := d.in.Peek(d.in.Buffered())
	rest := bytes.TrimLeft(head, " \t\r")
	if len(rest) > 0 && (rest[0] == '{' || rest[0] == '[') {
		d.skip(len(head) - len(rest))
		return rest[0], nil
	}
	return ' ', nil
}

func (d *documents) skip(n int) { _, _ = d.in.Discard(n) }

// readLine appends the next line, with its end, to buf. It returns io.EOF
// only when there is none.
func (d *documents) readLine(buf []byte) ([]byte, error) {
	before := len(buf)
	for {
		part, err := d.in.ReadSlice('\n')
		buf = append(buf, part...)
		switch {
		case err == nil:
			d.line++
			return buf, nil
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(buf) > before:
			return buf, nil
		default:
			return buf, err
		}
	}
}

// jsonDocument reads an object, or a list, or an array of objects.
func (d *documents) jsonDocument(ctx context.Context, first byte) error {
	if first == '[' {
		if err := d.jsonItems(ctx, ""); err != nil {
			return err
		}
		return d.endList(ctx, true)
	}
	line := d.line
	rest := []byte{'{'} // the document without its items, but with as many lines
	lines := 0          // in rest
	next := func() (byte, error) {
		c, err := d.nextByte()
		rest = append(rest, bytes.Repeat([]byte{'\n'}, d.line-line-lines)...)
		lines = d.line - line
		return c, err
	}
	value := func() (err error) {
		rest, err = d.value(rest)
		lines = d.line - line
		return err
	}
	isList := false
	d.skip(1)
	for n := 0; ; n++ {
		c, err := next()
		if err != nil {
			return err
		}
		if c == '}' {
			d.skip(1)
			rest = append(rest, '}')
			if !isList {
				return d.document(ctx, item{text: rest, line: line})
			}
			if !json.Valid(rest) {
				return errNotJSON
			}
			_, d.twice, _ = laterValues(rest, line)
			return d.endList(ctx, false)
		}
		if n > 0 {
			if c != ',' {
				return d.unexpected(c, "a comma")
			}
			rest = append(rest, ',')
			d.skip(1)
			if c, err = next(); err != nil {
				return err
			}
		}
		if c != '"' {
			return d.unexpected(c, "a field's name")
		}
		from := len(rest)
		if err = value(); err != nil {
			return err
		}
		name := string(rest[from:])
		if c, err = next(); err != nil {
			return err
		}
		if c != ':' {
			return d.unexpected(c, "a colon")
		}
		d.skip(1)
		rest = append(rest, ':')
		if c, err = next(); err != nil {
			return err
		}
		from = len(rest)
		if name == `"items"` && c == '[' {
			if isList {
				return errTwoLists
			}
			isList = true
			rest = append(rest, "null"...)
			if err := d.jsonItems(ctx, "items"); err != nil {
				return err
			}
			continue
		}
		if err = value(); err != nil {
			return err
		}
		if err := d.knows(name, rest[from:]); err != nil {
			return err
		}
	}
}

func (d *documents) unexpected(c byte, instead string) error {
	return fmt.Errorf("line %d: %w: %q instead of %s", d.line+1, errNotJSON, c, instead)
}

// knows keeps what a list says about itself.
func (d *documents) knows(name string, value []byte) error {
	if name == `"metadata"` {
		_ = json.Unmarshal(value, &d.list.Metadata) // of an object that is no list it may be anything
		return nil
	}
	into := map[string]*string{`"kind"`: &d.list.Kind, `"apiVersion"`: &d.list.APIVersion}[name]
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(value, into); err != nil {
		return &fieldError{name[1 : len(name)-1], fmt.Errorf("must be text, not %s", kindOfJSON(firstByte(value)))}
	}
	return nil
}

// jsonItems reads the array that follows, item by item.
func (d *documents) jsonItems(ctx context.Context, path string) error {
	d.skip(1)
	for i := 0; ; i++ {
		c, err := d.nextByte()
		switch {
		case err != nil:
			return err
		case c == ']':
			d.skip(1)
			return nil
		case i > 0 && c != ',':
			return d.unexpected(c, "a comma")
		case i > 0:
			d.skip(1)
			if _, err := d.nextByte(); err != nil {
				return err
			}
		}
		it := item{line: d.line, path: fmt.Sprintf("%s[%d]", path, i)}
		if it.text, err = d.value(nil); err != nil {
			return d.at(it.path, cutOff(err))
		}
		if err := d.add(ctx, it); err != nil {
			return err
		}
	}
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return errCutOff
	}
	return err
}

// nextByte skips blanks and returns the byte after them without reading it.
func (d *documents) nextByte() (byte, error) {
	for {
		head, err := d.in.Peek(1)
		if err != nil {
			return 0, err
		}
		switch head[0] {
		case '\n':
			d.line++
		case ' ', '\t', '\r':
		default:
			return head[0], nil
		}
		d.skip(1)
	}
}

// value appends one JSON value to buf. It finds only where the value ends:
// what it holds is for the decoder to judge.
func (d *documents) value(buf []byte) ([]byte, error) {
	depth := 0
	inText, escaped := false, false
	for {
		if _, err := d.in.Peek(1); err != nil {
			if err == io.EOF && depth == 0 && !inText && len(buf) > 0 {
				return buf, nil // a bare word at the end of the file
			}
			return buf, err
		}
		chunk, _ := d.in.Peek(d.in.Buffered())
		end := -1 // the length of the value's part of the chunk
	scan:
		for i, c := range chunk {
			switch {
			case escaped:
				escaped = false
			case inText:
				switch c {
				case '\\':
					escaped = true
				case '"':
					inText = false
					if depth == 0 {
						end = i + 1
						break scan
					}
				}
			case c == '"':
				inText = true
			case c == '{', c == '[':
				depth++
			case c == '}', c == ']':
				if depth == 0 {
					end = i
					break scan
				}
				if depth--; depth == 0 {
					end = i + 1
					break scan
				}
			case depth == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t'):
				end = i
				break scan
			}
		}
		n := len(chunk)
		if end >= 0 {
			n = end
		}
		d.line += bytes.Count(chunk[:n], []byte{'\n'})
		buf = append(buf, chunk[:n]...)
		d.skip(n)
		if end >= 0 {
			return buf, nil
		}
	}
}

// yamlDocument reads up to the next separator. The items of a list that is
// laid out as kubectl and everybody else lays it out, a key "items:" in the
// first column and each item on lines of its own, are read one by one. Of any
// other layout the document is read as a whole.
func (d *documents) yamlDocument(ctx context.Context) error {
	var (
		line    = d.line
		rest    []byte // the document without its items, which leave empty lines
		it      item
		isList  bool
		indent  = -1 // of the items' dashes; -1: not among the items
		count   int
		pending []byte // lines after items: before the first dash
		head    []byte // lines before items:
		anchors anchored
		dashAt  int
	)
	flush := func() error {
		if it.text == nil {
			return nil
		}
		done := it
		it = item{}
		text := done.text
		done = anchors.complete(done, dashAt)
		anchors.add(head, text, dashAt)
		return d.add(ctx, done)
	}
	for {
		if head, _ := d.in.Peek(4); separator(head) {
			break
		}
		at := d.line
		text, err := d.readLine(nil)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		d.ragged = !bytes.ContainsAny(text[len(text)-1:], "\n\r}]")
		content := bytes.TrimLeft(text, " ")
		column := len(text) - len(content)
		blank := len(bytes.TrimSpace(content)) == 0
		dash := len(content) > 0 && content[0] == '-' && (len(bytes.TrimSpace(content)) == 1 || content[1] == ' ')

		if pending != nil { // after items: only a dash makes a list of it
			switch {
			case blank || content[0] == '#':
				pending = append(pending, text...)
				continue
			case dash:
				if isList {
					return errTwoLists
				}
				isList, indent, dashAt = true, column, column
				head = slices.Clone(rest)
				rest = append(rest, bytes.Repeat([]byte{'\n'}, bytes.Count(pending, []byte{'\n'}))...)
			default:
				rest = append(rest, pending...)
			}
			pending = nil
		}
		if indent >= 0 {
			switch {
			case dash && column == indent:
				if err := flush(); err != nil {
					return err
				}
				it = item{yaml: true, line: at, path: fmt.Sprintf("items[%d]", count)}
				count++
				text[column] = ' '
				fallthrough
			case blank || column > indent || content[0] == '#':
				it.text = append(it.text, text...)
				rest = append(rest, '\n')
				continue
			}
			indent = -1
			if err := flush(); err != nil {
				return err
			}
		}
		if column == 0 && itemsKey.Match(text) {
			pending = text
			continue
		}
		rest = append(rest, text...)
	}
	if err := flush(); err != nil {
		return err
	}
	rest = append(rest, pending...)
	if !isList {
		return d.document(ctx, item{text: rest, yaml: true, line: line})
	}
	if tail := rest[len(head):]; anchors.text != nil && yamlAlias.Match(tail) {
		rest = append(anchors.text, tail...)
	}
	raw, repeats, err := d.json(item{text: rest, yaml: true, line: line})
	if err != nil {
		return err
	}
	d.twice = repeats
	if err := json.Unmarshal(raw, &d.list.TypeMeta); err != nil {
		return explain(raw, &d.list.TypeMeta, err)
	}
	_ = json.Unmarshal(raw, &d.list) // of an object that is no list the metadata may be anything
	return d.endList(ctx, false)
}

var itemsKey = regexp.MustCompile(`^items:[ \t]*(#.*)?\r?\n?$`)

// add queues an item of a list.
func (d *documents) add(ctx context.Context, it item) error {
	d.items++
	d.batch = append(d.batch, it)
	d.size += len(it.text)
	if len(d.batch) >= batchItems || d.size >= batchBytes {
		return d.flush(ctx)
	}
	return nil
}

// document reads a document that is an object, or a list that could not be
// read item by item.
func (d *documents) document(ctx context.Context, it item) error {
	raw, repeats, err := d.json(it)
	if err != nil {
		return err
	}
	if it.yaml {
		if s := bytes.TrimSpace(raw); len(s) == 0 || bytes.Equal(s, []byte("null")) {
			d.doc-- // nothing but comments
			return nil
		}
	}
	list, items, err := listOf(raw)
	if err != nil {
		return err
	}
	if items != nil {
		d.list = list
		for i := range items {
			if err := d.add(ctx, item{text: items[i], repeats: repeats, path: itemPath(raw, i)}); err != nil {
				return err
			}
		}
		return d.endList(ctx, firstByte(raw) == '[')
	}
	o, err := d.decode(raw, metav1.TypeMeta{})
	if err != nil {
		return err
	}
	o.document, o.list, o.page, o.repeats = d.doc, isList(list.TypeMeta), list.page(0), repeats
	return d.emit(o)
}

// isList reports whether a kind is that of a list, so that it has items.
func isList(k metav1.TypeMeta) bool { return k.Kind == "List" || itemKind(k).Kind != "" }

// listOf returns the items of a list, or of an array, and what it says of itself.
// Of anything else, and of a list of null, the items are nil.
func listOf(raw []byte) (list listMeta, items []json.RawMessage, err error) {
	var whole struct {
		Items json.RawMessage `json:"items"`
	}
	switch firstByte(raw) {
	case '[':
		whole.Items = raw
	case '{':
		if err := json.Unmarshal(raw, &list.TypeMeta); err != nil {
			return list, nil, explain(raw, &list.TypeMeta, err)
		}
		if err := json.Unmarshal(raw, &whole); err != nil {
			return list, nil, err
		}
		_ = json.Unmarshal(raw, &list) // of an object that is no list the metadata may be anything
	}
	switch c := firstByte(whole.Items); {
	case c == '[':
		items = []json.RawMessage{}
		err = json.Unmarshal(whole.Items, &items)
	case c != 0 && c != 'n' && isList(list.TypeMeta):
		err = &fieldError{"items", fmt.Errorf("must be a list, not %s", kindOfJSON(c))}
	}
	return list, items, err
}

// itemPath names an item of a list, or of an array.
func itemPath(list []byte, i int) string {
	if firstByte(list) == '[' {
		return fmt.Sprintf("[%d]", i)
	}
	return fmt.Sprintf("items[%d]", i)
}

// endList reads what is left of a list, now that all that it says of itself
// is known. A bare array says nothing. Any other list that does not say what
// it is lacks its end, for kubectl writes the kind after the items.
func (d *documents) endList(ctx context.Context, bare bool) error {
	if err := d.flush(ctx); err != nil {
		return err
	}
	if err := mistaken(d.list.TypeMeta); err != nil && !bare {
		return d.at("", err)
	}
	d.batch, d.later = d.later, nil
	if _, known := d.list.itemsAre(); len(d.batch) > 0 && !known {
		first := d.batch[0].path
		d.batch = nil
		if bare || d.list.Kind == "List" || d.list.TypeMeta == (metav1.TypeMeta{}) {
			return d.at(first, errNoKind)
		} // of any other kind: no list, but an object that has items
	}
	if !bare && d.list.Kind == "" {
		return d.at("", errListEnd)
	}
	if err := d.flush(ctx); err != nil {
		return err
	}
	end := d.list.end(d.doc, d.items)
	end.repeats = d.twice
	return d.emit(end)
}

// end is what is emitted after the items of a list, of which there are so many.
func (l listMeta) end(document, items int) object {
	return object{kind: l.TypeMeta, list: true, document: document, page: l.page(items)}
}

func (l listMeta) page(items int) page {
	m := &l.Metadata
	return page{m.ResourceVersion, m.Continue, items, max(0, m.RemainingItemCount)}
}

// unfold returns the object of raw, and where raw is a list or an array, which
// may stand in another one, all that is in it. list is what raw stands in.
func (d *documents) unfold(raw []byte, in metav1.TypeMeta) ([]object, error) {
	o, err := object{}, error(nil)
	if firstByte(raw) != '[' {
		if o, err = d.decode(raw, in); err != nil || !isList(o.kind) {
			return []object{o}, err
		}
	}
	list, items, err := listOf(raw)
	if err != nil {
		return nil, err
	}
	var all []object
	for i := range items {
		inner, err := d.unfold(items[i], list.TypeMeta)
		if err != nil {
			return nil, within(itemPath(raw, i), err)
		}
		for _, o := range inner {
			o.path = join(itemPath(raw, i), o.path)
			all = append(all, o)
		}
	}
	return append(all, list.end(d.doc, len(items))), nil
}

// within returns the error with the item that it is in.
func within(path string, err error) error {
	if e := (*fieldError)(nil); errors.As(err, &e) {
		return &fieldError{join(path, e.field), e.err}
	}
	return &fieldError{path, err}
}

// flush decodes the batch, on all processors, and emits it in order.
func (d *documents) flush(ctx context.Context) error {
	batch := d.batch
	d.batch, d.size = nil, 0
	if err := ctx.Err(); err != nil {
		return err
	}
	list, known := d.list.itemsAre()
	if err := mistaken(list); err != nil && known {
		return d.at("", err)
	}
	if !known {
		list = metav1.TypeMeta{}
	}
	objects := make([][]object, len(batch))
	errs := make([]error, len(batch))
	var workers sync.WaitGroup
	n := min(runtime.GOMAXPROCS(0), len(batch))
	for w := range n {
		workers.Go(func() {
			for i := w; i < len(batch); i += n {
				errs[i] = contained(func() error {
					raw, repeats, err := d.json(batch[i])
					if err == nil {
						objects[i], err = d.unfold(raw, list)
					}
					batch[i].repeats = append(batch[i].repeats, repeats...)
					return err
				})()
			}
		})
	}
	workers.Wait()
	for i := range batch {
		switch {
		case errs[i] == errNoKind && !known:
			d.later = append(d.later, batch[i])
		case errs[i] != nil:
			return d.at(batch[i].path, errs[i])
		}
		for _, o := range objects[i] {
			o.document, o.path, o.repeats = d.doc, join(batch[i].path, o.path), batch[i].repeats
			if err := d.emit(o); err != nil {
				return d.at(o.path, err)
			}
		}
	}
	return nil
}

// json returns the object as JSON, and the keys that stand in it twice: the later
// value of such a key counts, as for kubectl.
func (d *documents) json(it item) ([]byte, []Repeat, error) {
	if !it.yaml {
		return laterValues(it.text, it.line)
	}
	raw, err := yamlToJSON(it.text, it.line)
	if err == nil || unread(it.text) > 0 {
		return it.last(raw), nil, err
	}
	loose, looseErr := yaml.YAMLToJSON(it.text)
	if looseErr != nil {
		return nil, nil, err
	}
	found := slices.DeleteFunc(repeatsInYAML(it.text, it.line), func(r Repeat) bool { return r.Line <= it.line+it.before })
	return it.last(loose), found, nil
}

// last returns the item itself where other parts of its document stand before it.
func (it *item) last(raw []byte) []byte {
	if it.before == 0 || raw == nil {
		return raw
	}
	var whole struct {
		Items []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(raw, &whole) != nil || len(whole.Items) == 0 {
		return raw
	}
	return whole.Items[len(whole.Items)-1]
}

var yamlLine = regexp.MustCompile(`\bline (\d+)`)

// yamlToJSON converts a piece of a YAML file, of which line lines stand
// before it.
func yamlToJSON(text []byte, line int) ([]byte, error) {
	if n := unread(text); n > 0 {
		return nil, fmt.Errorf("line %d: indented less than the first line of its document: nothing from here on would be read", line+n)
	}
	raw, err := yaml.YAMLToJSONStrict(text)
	if err == nil {
		return raw, nil
	}
	if m := unknownAnchor.FindStringSubmatch(err.Error()); m != nil {
		for i, l := range bytes.Split(text, []byte{'\n'}) {
			if slices.ContainsFunc(yamlAlias.FindAllSubmatch(l, -1), func(a [][]byte) bool { return string(a[1]) == m[1] }) {
				return nil, fmt.Errorf("line %d: an alias without an anchor before it in the same document", line+i+1)
			}
		}
	}
	s := yamlLine.ReplaceAllStringFunc(err.Error(), func(m string) string {
		n, _ := strconv.Atoi(m[len("line "):])
		return fmt.Sprintf("line %d", line+n)
	})
	return nil, errors.New(withoutQuotes(s))
}

// unread returns the line, counted from 1, from which on the YAML parser would
// read nothing: it takes indentation that falls below that of the first line for
// the end, and says nothing of what follows. 0: it reads all.
func unread(text []byte) int {
	first, n := -1, 0
	for line := range bytes.Lines(text) {
		n++
		content := bytes.TrimLeft(line, " ")
		if len(bytes.TrimSpace(content)) == 0 || content[0] == '#' {
			continue
		}
		switch at := len(line) - len(content); {
		case first < 0:
			first = at
		case at < first && several(text): // else it is within a text in quotes
			return n
		}
	}
	return 0
}

// several reports whether the parser sees more than one document.
func several(text []byte) bool {
	var first, second any
	d := goyaml.NewDecoder(bytes.NewReader(text))
	return d.Decode(&first) == nil && d.Decode(&second) != io.EOF
}

// withoutQuotes returns an error of the YAML parser without what it quotes of
// the file, which may be a secret. What kind of error it is, and where, stays.
func withoutQuotes(s string) string {
	for _, q := range yamlQuotes {
		s = q.found.ReplaceAllString(s, q.instead)
	}
	return s
}

var unknownAnchor = regexp.MustCompile(`(?s)unknown anchor '(.*)' referenced`)

var yamlQuotes = []struct {
	found   *regexp.Regexp
	instead string
}{
	{unknownAnchor, "an alias without an anchor before it in the same document, beyond which no alias reaches"},
	{regexp.MustCompile(`(?s)invalid map key: .*`), "invalid map key"},
	{regexp.MustCompile(`key .* already set`), "key already set"},
	{regexp.MustCompile("(?s) ?`.*`"), ""},
}
