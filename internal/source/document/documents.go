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
	"maps"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sjson "sigs.k8s.io/json"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/prose"
)

// Documents reads one file: JSON documents one after another, or a YAML
// stream, or a mixture of them. Documents are counted from 1, and empty ones
// are not counted. encoding/json and sigs.k8s.io/yaml read what is in them.
//
// A list that is laid out as kubectl does it is read item by item, and only a
// batch of items is held as text, so that a list of any length takes the memory
// of what is kept of it. Any other document is read as a whole.
type Documents struct {
	Name     string // that people know the file by
	From     io.Reader
	Again    io.ReaderAt // what from reads, from its beginning; nil where it is read once
	Decode   decoder
	Emit     func(object.Object) error
	Most     int64         // bytes of one document that is read as a whole, and of one item of a list
	Tolerant *DamagePolicy // nil: of a manifest, in which nothing is passed over

	taken  *source.Counting // bytes of from
	in     *bufio.Reader    // of taken
	Line   int              // lines read before in, from 0
	indent []byte           // blanks read before in, on the same line
	doc    int
	list   ListMeta // of the list being read, as far as it is known
	items  int      // of that list, so far
	batch  []Item
	size   int                      // bytes in batch
	texts  []byte                   // of items in JSON: the next batch takes the room of the one before
	later  []Item                   // items that have no kind, of a list whose kind has not come yet
	kinds  map[metav1.TypeMeta]bool // of the objects of this document, so far
	before map[metav1.TypeMeta]bool // and of the documents before it

	Ragged bool   // the last line has no newline, and nothing else shows that it is whole
	Within string // what the file ends in the middle of, if it does
	Counts bool   // an object of it may count
}

// ListMeta is what a list says of itself.
type ListMeta struct {
	metav1.TypeMeta
	Metadata json.RawMessage `json:"metadata"` // of an object that is no list it may be anything
	Items    json.RawMessage `json:"items"`
}

// itemsAre returns the kind of the items that do not say it themselves, and
// whether the list has said it yet.
func (l ListMeta) itemsAre() (metav1.TypeMeta, bool) {
	return l.TypeMeta, object.ItemKind(l.TypeMeta).Kind != "" && l.APIVersion != ""
}

// end is what is emitted after the items of a list, of which there are so many.
func (l ListMeta) end(doc, items int) object.Object {
	var m metav1.ListMeta
	_ = json.Unmarshal(l.Metadata, &m)
	left := 0
	if m.RemainingItemCount != nil {
		left = max(0, int(*m.RemainingItemCount))
	}
	return object.Object{Kind: l.TypeMeta, List: true, Document: doc,
		Page: object.Page{Version: m.ResourceVersion, Next: m.Continue, Items: items, Remaining: left}}
}

// decoder makes an object of its JSON. list is the kind of the list that the
// object stands in.
type decoder func(raw []byte, list metav1.TypeMeta) (object.Object, error)

// Item is the text of one object, or of a document.
type Item struct {
	Text   []byte
	Yaml   bool
	line   int    // of its first line, from 0
	Path   string // of an item of a list, which in YAML has its dash
	before []byte // items before it that may have the anchors of its aliases
}

const (
	BatchItems = 128
	batchBytes = 2 << 20
)

// Read hands every object of the file to emit, in the order in which they
// stand there, but that items without a kind come after those with one. An
// error is an *InputError, or what emit or ctx returned.
func (d *Documents) Read(ctx context.Context) error {
	d.taken = &source.Counting{Reader: d.From}
	d.in = bufio.NewReaderSize(d.taken, 1<<16)
	d.Most = cmp.Or(d.Most, source.DefaultMaxInput/PartOfInput)
	switch head, err := d.in.Peek(512); {
	case err != nil && err != io.EOF:
		return d.brokenOff(ctx, nil, err)
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		// PowerShell writes UTF-16
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		d.Again, d.in = nil, bufio.NewReaderSize(transform.NewReader(&pairs{in: d.in}, utf16), 1<<16)
	case bytes.IndexByte(head, 0) >= 0:
		return d.brokenOff(ctx, nil, source.ErrNotText)
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
			return d.brokenOff(ctx, nil, &source.InputError{File: d.Name, Err: err})
		}
		d.doc++
		if d.before == nil {
			d.before = map[metav1.TypeMeta]bool{}
		}
		maps.Copy(d.before, d.kinds)
		d.list, d.items, d.kinds = ListMeta{}, 0, map[metav1.TypeMeta]bool{}
		if line, _ := d.in.Peek(lineBytes); !d.mayBegin(line) {
			err = d.words()
		} else if first == '{' || first == '[' {
			err = d.jsonDocument(ctx)
		} else {
			err = d.yamlDocument(ctx)
		}
		if err != nil {
			return d.brokenOff(ctx, nil, err)
		}
	}
}

// lineBytes are enough of a line to tell what it is.
const lineBytes = 256

// mayBegin reports whether a document may begin with a line. In a manifest, text is no separate document: the YAML
// reader says what is wrong with it.
func (d *Documents) mayBegin(line []byte) bool {
	if d.Tolerant == nil {
		return !bytes.HasPrefix(line, []byte("{{"))
	}
	return prose.MayBegin(firstLineOf(line))
}

// firstLineOf returns a text up to the end of its first line.
func firstLineOf(text []byte) []byte {
	if end := bytes.IndexAny(text, "\r\n"); end >= 0 {
		return text[:end]
	}
	return text
}

// words reads text that is no document, up to where one seems to begin.
func (d *Documents) words() error {
	if d.Tolerant == nil {
		return source.ErrTemplate
	}
	passes, why := true, source.ErrWords
	var kinds []metav1.TypeMeta
	for n := 0; ; n++ {
		if head, _ := d.in.Peek(lineBytes); n > 0 && (separator(head[:min(4, len(head))]) || aside(d.in) ||
			prose.Begins(firstLineOf(head))) {
			break
		}
		line, err := d.readLine()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if !utf8.Valid(line) {
			return source.ErrNotText
		}
		passes = passes && prose.Passes(line)
		if prose.IsTemplate(line) {
			why = source.ErrTemplate
		}
		if bytes.Contains(line, []byte("kind")) {
			found, _ := Mentions(bytes.NewReader(line))
			kinds = append(kinds, found...)
		}
	}
	if passes && why == source.ErrWords {
		why = source.ErrBeside
	}
	return d.harmed("", why, kinds)
}

// at returns the error with its place, unless it has one.
func (d *Documents) at(field string, err error) error {
	if e := (*source.InputError)(nil); errors.As(err, &e) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := Within(field, err)
	return &source.InputError{File: d.Name, Document: d.doc, Field: e.Field, Err: e.Err}
}

// start skips what may stand between documents (blanks, comments, --- and ...,
// byte order marks), and returns the first byte of the next one without reading
// it.
func (d *Documents) start() (byte, error) {
	d.indent = nil
	for {
		head, err := d.in.Peek(4)
		switch first := len(d.indent) == 0; {
		case len(head) == 0:
			return 0, err
		case head[0] == '\n':
			d.Line++
			d.skip(1)
			d.indent = nil
		case head[0] == ' ', head[0] == '\t', head[0] == '\r':
			d.indent = append(d.indent, head[0])
			d.skip(1)
		case bytes.HasPrefix(head, []byte("\ufeff")):
			d.skip(3)
		case head[0] == '#', first && head[0] == '%': // a comment, or a YAML directive
			if _, err := d.readLine(); err != nil {
				return 0, err
			}
			d.indent = nil
		case first && separator(head):
			d.skip(3)
		case first && d.Tolerant != nil && aside(d.in):
			if err := d.passAside(); err != nil {
				return 0, err
			}
		default:
			return head[0], nil
		}
	}
}

// pairs reads what is written in units of two bytes.
type pairs struct {
	in  io.Reader
	odd bool
}

func (p *pairs) Read(to []byte) (int, error) {
	n, err := p.in.Read(to)
	p.odd = p.odd != (n%2 == 1)
	if err == io.EOF && p.odd {
		err = source.ErrCutOff
	}
	return n, err
}

// separator reports whether a line that begins with head ends a YAML document.
func separator(head []byte) bool {
	return (bytes.HasPrefix(head, []byte("---")) || bytes.HasPrefix(head, []byte("..."))) &&
		(len(head) == 3 || head[3] == '\n' || head[3] == '\r' || head[3] == ' ' || head[3] == '\t')
}

func (d *Documents) skip(n int) { _, _ = d.in.Discard(n) }

// readLine returns the next line with its end, and io.EOF only when there is
// none.
func (d *Documents) readLine() ([]byte, error) {
	var text []byte
	for {
		part, err := d.in.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case err == nil:
			d.Line++
		case err == io.EOF && len(text) > 0:
			err = nil
		case err == bufio.ErrBufferFull && int64(len(text)) <= d.Most:
			continue
		case err == bufio.ErrBufferFull:
			err = tooLong(d.Most)
		}
		return text, err
	}
}

// describe keeps what a list says about itself.
func (d *Documents) describe(about any) error {
	raw, err := json.Marshal(about)
	if err != nil {
		return err
	}
	if d.Tolerant != nil && d.Tolerant.Words {
		raw = WithoutNulls(raw)
	}
	d.list = ListMeta{}
	return object.Explain(raw, &d.list, json.Unmarshal(raw, &d.list))
}

// add queues an item of a list.
func (d *Documents) add(ctx context.Context, it Item) error {
	d.items++
	d.batch = append(d.batch, it)
	d.size += len(it.Text)
	if len(d.batch) >= BatchItems || d.size >= batchBytes {
		return d.flush(ctx)
	}
	return nil
}

// itemsLine matches a line that begins the items of a list, wherever it is indented.
var itemsLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^ *items:[ \t]*\r?$`) })

// document reads a document as a whole.
func (d *Documents) document(it Item) error {
	objects, err := d.Objects(it, metav1.TypeMeta{})
	if err == object.ErrNoKind {
		objects, err = d.kindless(it)
	}
	if err != nil && it.Yaml && !errors.Is(err, object.ErrNotKubernetes) {
		switch {
		case prose.IsTemplate(it.Text):
			err = source.ErrTemplate
		case prose.IsWords(it.Text):
			err = source.ErrWords
		}
	}
	if err != nil {
		kinds := kindsIn(it, metav1.TypeMeta{})
		// Who knows what it is part of: the kind that stands in it may be that of one of several objects.
		if it.Yaml && (errors.Is(err, errDedent) || itemsLine().Match(it.Text) ||
			slices.ContainsFunc(kinds, func(k metav1.TypeMeta) bool { return object.Counted[k.Kind] != "" })) {
			mentioned, _ := Mentions(bytes.NewReader(it.Text))
			kinds = append(kinds, mentioned...)
		}
		return d.harmed("", err, kinds)
	}
	if len(objects) == 0 {
		d.doc--
	}
	return d.emitAll(objects, "")
}

func (d *Documents) emitAll(objects []object.Object, path string) error {
	for _, o := range objects {
		o.Document, o.Path = d.doc, object.Join(path, o.Path)
		if o.Failed != nil {
			if err := d.harmed(o.Path, o.Failed, o.Kinds); err != nil {
				return err
			}
			continue
		}
		if !o.List {
			d.kinds[o.Kind] = true
		}
		d.Counts = d.Counts || read(o.Kind) || read(object.ItemKind(o.Kind))
		if err := d.Emit(o); err != nil {
			return d.at(o.Path, err)
		}
	}
	return nil
}

// IsList reports whether a kind is that of a list, so that it has items.
func IsList(k metav1.TypeMeta) bool { return k.Kind == "List" || object.ItemKind(k).Kind != "" }

// itemPath names an item of a list, or of an array.
func itemPath(list []byte, i int) string {
	if object.FirstByte(list) == '[' {
		return fmt.Sprintf("[%d]", i)
	}
	return fmt.Sprintf("items[%d]", i)
}

// endList reads what is left of a list, now that all that it says of itself
// is known. A bare array says nothing. Any other list that does not say what
// it is lacks its end, for kubectl writes the kind after the items.
func (d *Documents) endList(ctx context.Context, bare bool, repeats []object.Repeat) error {
	if err := d.flush(ctx); err != nil {
		return err
	}
	if err := object.Mistaken(d.list.TypeMeta); err != nil && !bare {
		d.later = nil
		return d.harmed("", err, itemKinds(d.list.TypeMeta))
	}
	d.batch, d.later = d.later, nil
	if d.Tolerant != nil && d.list.TypeMeta == (metav1.TypeMeta{}) && (bare || len(d.batch) > 0) {
		d.list.TypeMeta = d.Tolerant.Arrays
		bare = bare && d.list.Kind == ""
	}
	if _, known := d.list.itemsAre(); len(d.batch) > 0 && !known {
		without := d.batch
		d.batch = nil
		if !bare && d.list.Kind != "List" && d.list.TypeMeta != (metav1.TypeMeta{}) {
			without = nil // no list, but an object that has items
		}
		for _, it := range without {
			objects, err := d.kindless(it)
			if err != nil {
				err = d.harmed(it.Path, err, kindsIn(it, metav1.TypeMeta{}))
			} else {
				err = d.emitAll(objects, it.Path)
			}
			if err != nil {
				return err
			}
		}
	}
	if !bare && d.list.Kind == "" {
		return source.ErrListEnd
	}
	if err := d.flush(ctx); err != nil {
		return err
	}
	end := d.list.end(d.doc, d.items)
	end.Repeats = repeats
	return d.Emit(end)
}

// Objects returns the object of a text, or all that are in it, with the keys that
// stand in it twice: the later value of such a key counts, as for kubectl.
func (d *Documents) Objects(it Item, list metav1.TypeMeta) ([]object.Object, error) {
	if d.Tolerant != nil && d.Tolerant.Sums != nil && it.Yaml {
		if s, ok := ScanYAML(it.Text); ok {
			if s.Kind.Kind == "" {
				s.Kind = object.ItemKind(list)
			}
			if o, ok := s.OfObject(); ok {
				return []object.Object{o}, nil
			}
			if d.Tolerant.Sums.again(&s) {
				return []object.Object{{Kind: s.Kind, Again: true}}, nil
			}
		}
	}
	raw, repeats, err := it.JSON()
	if err != nil {
		return nil, err
	}
	if d.Tolerant != nil && d.Tolerant.Words {
		raw = WithoutNulls(raw)
	}
	if it.Yaml && it.Path == "" && string(raw) == "null" { // nothing but comments
		return nil, nil
	}
	all, err := d.unfold(raw, list)
	if !it.Yaml && (err != nil ||
		slices.ContainsFunc(all, func(o object.Object) bool { return o.Twice || o.Failed != nil })) {
		if repeats = repeatsInJSON(raw, it.line); len(repeats) > 0 {
			if raw, err = laterValues(raw); err == nil {
				all, err = d.unfold(raw, list)
			}
		}
	}
	for i := range all {
		all[i].Repeats = repeats
	}
	return all, err
}

// unfold returns the object of raw, and where raw is a list or an array, which
// may stand in another one, all that is in it. in is what raw stands in.
func (d *Documents) unfold(raw []byte, in metav1.TypeMeta) ([]object.Object, error) {
	o, list := object.Object{}, ListMeta{Items: raw}
	if object.FirstByte(raw) != '[' {
		var err error
		if o, err = d.Decode(raw, in); err == object.ErrNoKind && tooOld(raw) {
			return nil, source.ErrTooOld
		}
		if err != nil || object.IsCounted(o.Kind.Kind, o.Kind.APIVersion) {
			return []object.Object{o}, err
		}
		list = ListMeta{}
		odd, err := sjson.UnmarshalStrict(raw, &list, sjson.DisallowDuplicateFields)
		if err != nil {
			return nil, object.Explain(raw, &list, err)
		}
		if object.FirstByte(list.Items) != '[' && !IsList(o.Kind) {
			return []object.Object{o}, nil
		}
		o.Twice = o.Twice || len(odd) > 0
	}
	var items []json.RawMessage
	if c := object.FirstByte(list.Items); c != 0 && json.Unmarshal(list.Items, &items) != nil {
		return nil, &object.FieldError{Field: "items", Err: fmt.Errorf("must be a list, not %s", object.KindOfJSON(c))}
	}
	var all []object.Object
	for i := range items {
		inner, err := d.unfold(items[i], list.TypeMeta)
		switch {
		case err != nil && d.Tolerant == nil:
			return nil, Within(itemPath(raw, i), err)
		case err != nil:
			inner = []object.Object{{Failed: err, Kinds: kindsIn(Item{Text: items[i]}, list.TypeMeta)}}
		}
		for _, o := range inner {
			o.Path = object.Join(itemPath(raw, i), o.Path)
			all = append(all, o)
		}
	}
	end := list.end(d.doc, len(items))
	end.Twice = o.Twice
	return append(all, end), nil
}

// Within returns the error with the item that it is in.
func Within(path string, err error) *object.FieldError {
	if e := (*object.FieldError)(nil); errors.As(err, &e) {
		return &object.FieldError{Field: object.Join(path, e.Field), Err: e.Err}
	}
	return &object.FieldError{Field: path, Err: err}
}

// flush decodes the batch, on all processors, and emits it in order.
func (d *Documents) flush(ctx context.Context) error {
	batch := d.batch
	d.batch, d.size = nil, 0
	if err := ctx.Err(); err != nil {
		return err
	}
	list, known := d.list.itemsAre()
	if err := object.Mistaken(list); err != nil && known {
		return d.harmed("", err, append([]metav1.TypeMeta{list}, anything...))
	}
	if !known {
		list = metav1.TypeMeta{}
	}
	objects := make([][]object.Object, len(batch))
	errs := make([]error, len(batch))
	var taken atomic.Int64
	g, _ := source.NewGroup(ctx)
	for range min(runtime.GOMAXPROCS(0), len(batch)) {
		g.Go(func() error {
			for i := int(taken.Add(1)) - 1; i < len(batch); i = int(taken.Add(1)) - 1 {
				objects[i], errs[i] = d.Objects(batch[i], list)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err // a panic
	}
	for i := range batch {
		switch {
		case errs[i] != nil && !known && (errs[i] == object.ErrNoKind || d.Tolerant != nil &&
			!errors.Is(errs[i], object.ErrNotKubernetes) && len(kindsIn(batch[i], list)) == 0):
			d.later = append(d.later, batch[i]) // the list's own kind says what it is
			continue
		case errs[i] != nil:
			if err := d.harmed(batch[i].Path, errs[i], kindsIn(batch[i], list)); err != nil {
				return err
			}
			continue
		}
		if err := d.emitAll(objects[i], batch[i].Path); err != nil {
			return err
		}
	}
	if len(d.later) == 0 { // no object holds a part of its text
		d.texts = d.texts[:0]
	}
	return nil
}

// PlainKey is a key that may be shown: the name of a field, a label or an
// annotation.
var PlainKey = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`)

func repeat(line int, key string) object.Repeat {
	if !PlainKey.MatchString(key) {
		key = ""
	}
	return object.Repeat{Line: line, Key: key}
}
