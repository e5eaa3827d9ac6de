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

// Documents reads one file: JSON documents one after another, a YAML stream, or a mixture. It counts documents from
// 1, and does not count empty ones. The parsers are encoding/json, jsontext and sigs.k8s.io/yaml.
//
// A list in the layout of kubectl is read item by item. Only a batch of its items is in memory as text, so the memory
// for a list depends only on the fields that are kept. Every other document is read as a whole.
type Documents struct {
	Name     string // the file's name in messages
	From     io.Reader
	Again    io.ReaderAt // reads the file of From again from its start; nil if that is not possible
	Decode   decoder
	Emit     func(object.Object) error
	Most     int64         // maximum bytes of one document that is read as a whole, and of one item of a list
	Tolerant *DamagePolicy // nil for a manifest, in which all damage is an error

	taken  *source.Counting // counts the bytes of From
	in     *bufio.Reader    // reads from taken
	Line   int              // lines read before in, from 0
	indent []byte           // blanks read before in, on the same line
	doc    int
	list   ListMeta // fields of the current list that are known so far
	items  int      // items of that list, so far
	batch  []Item
	size   int                      // bytes in batch
	texts  []byte                   // buffer for items in JSON; the next batch reuses it
	later  []Item                   // items without a kind, while the kind of the list is unknown
	kinds  map[metav1.TypeMeta]bool // of the objects of this document, so far
	before map[metav1.TypeMeta]bool // of the documents before it

	Ragged bool   // the last line has no newline, and nothing else shows that it is complete
	Within string // the part in which the file is cut off, if it is
	Counts bool   // the file has an object that an answer may need
}

// ListMeta has the fields of a list.
type ListMeta struct {
	metav1.TypeMeta
	Metadata json.RawMessage `json:"metadata"` // may have any type if the object is not a list
	Items    json.RawMessage `json:"items"`
}

// itemsAre returns the kind of the list, and reports whether it determines the kind of items that have none.
func (l ListMeta) itemsAre() (metav1.TypeMeta, bool) {
	return l.TypeMeta, object.ItemKind(l.TypeMeta).Kind != "" && l.APIVersion != ""
}

// end returns the Object for the end of the list. items is the number of its items.
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

// decoder decodes an object from JSON. list is the kind of the list around it.
type decoder func(raw []byte, list metav1.TypeMeta) (object.Object, error)

// Item is the text of an object or of a document.
type Item struct {
	Text   []byte
	Yaml   bool
	line   int    // first line, from 0
	Path   string // path of an item of a list; in YAML, the text of an item includes its dash
	before []byte // earlier items that may have the anchors for its aliases
}

const (
	BatchItems = 128
	batchBytes = 2 << 20
)

// Read calls Emit with each object of the file, in their order. Items without a kind come after those with one. It
// returns an *InputError, or the error from Emit or ctx.
func (d *Documents) Read(ctx context.Context) error {
	d.taken = &source.Counting{Reader: d.From}
	d.in = bufio.NewReaderSize(d.taken, 1<<16)
	d.Most = cmp.Or(d.Most, source.DefaultMaxInput/PartOfInput)
	switch head, err := d.in.Peek(512); {
	case err != nil && err != io.EOF:
		return d.reportBroken(ctx, nil, err)
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		// PowerShell writes UTF-16
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		d.Again, d.in = nil, bufio.NewReaderSize(transform.NewReader(&pairs{in: d.in}, utf16), 1<<16)
	case bytes.IndexByte(head, 0) >= 0:
		return d.reportBroken(ctx, nil, source.ErrNotText)
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
			return d.reportBroken(ctx, nil, &source.InputError{File: d.Name, Err: err})
		}
		d.doc++
		if d.before == nil {
			d.before = map[metav1.TypeMeta]bool{}
		}
		maps.Copy(d.before, d.kinds)
		d.list, d.items, d.kinds = ListMeta{}, 0, map[metav1.TypeMeta]bool{}
		if line, _ := d.in.Peek(lineBytes); !d.mayBegin(line) {
			err = d.skipText()
		} else if first == '{' || first == '[' {
			err = d.jsonDocument(ctx)
		} else {
			err = d.yamlDocument(ctx)
		}
		if err != nil {
			return d.reportBroken(ctx, nil, err)
		}
	}
}

// lineBytes is the part of a line that is enough to recognize it.
const lineBytes = 256

// mayBegin reports whether a document may begin with line. In a manifest, text is not skipped: the YAML parser
// reports the error.
func (d *Documents) mayBegin(line []byte) bool {
	if d.Tolerant == nil {
		return !bytes.HasPrefix(line, []byte("{{"))
	}
	return prose.MayBegin(firstLineOf(line))
}

// firstLineOf returns text up to the end of its first line.
func firstLineOf(text []byte) []byte {
	if end := bytes.IndexAny(text, "\r\n"); end >= 0 {
		return text[:end]
	}
	return text
}

// skipText reads text that is not a document, until a document seems to begin.
func (d *Documents) skipText() error {
	if d.Tolerant == nil {
		return source.ErrTemplate
	}
	passes, why := true, source.ErrWords
	var kinds []metav1.TypeMeta
	for n := 0; ; n++ {
		if head, _ := d.in.Peek(lineBytes); n > 0 && (separator(head[:min(4, len(head))]) || isAside(d.in) ||
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
	return d.reportDamage("", why, kinds)
}

// at adds the position to err, unless err already has one.
func (d *Documents) at(field string, err error) error {
	if e := (*source.InputError)(nil); errors.As(err, &e) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := Within(field, err)
	return &source.InputError{File: d.Name, Document: d.doc, Field: e.Field, Err: e.Err}
}

// start skips blanks, comments, separators (--- and ...) and byte order marks between documents. It returns the first
// byte of the next document without reading it.
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
		case first && d.Tolerant != nil && isAside(d.in):
			if err := d.skipAside(); err != nil {
				return 0, err
			}
		default:
			return head[0], nil
		}
	}
}

// pairs reads UTF-16, and returns an error if the number of bytes is odd.
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

// readLine returns the next line with its newline. It returns io.EOF only if there is no line.
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

// describe stores the fields of a list.
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

// itemsLine matches a line that begins the items of a list, with any indentation.
var itemsLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^ *items:[ \t]*\r?$`) })

// document decodes a document that was read as a whole.
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
		// The text may hold several objects, and the kind may belong to only one of them.
		if it.Yaml && (errors.Is(err, errDedent) || itemsLine().Match(it.Text) ||
			slices.ContainsFunc(kinds, func(k metav1.TypeMeta) bool { return object.Counted[k.Kind] != "" })) {
			mentioned, _ := Mentions(bytes.NewReader(it.Text))
			kinds = append(kinds, mentioned...)
		}
		return d.reportDamage("", err, kinds)
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
			if err := d.reportDamage(o.Path, o.Failed, o.Kinds); err != nil {
				return err
			}
			continue
		}
		if !o.List {
			d.kinds[o.Kind] = true
		}
		d.Counts = d.Counts || isNeeded(o.Kind) || isNeeded(object.ItemKind(o.Kind))
		if err := d.Emit(o); err != nil {
			return d.at(o.Path, err)
		}
	}
	return nil
}

// IsList reports whether k is the kind of a list.
func IsList(k metav1.TypeMeta) bool { return k.Kind == "List" || object.ItemKind(k).Kind != "" }

// itemPath returns the path of item i in a list or an array.
func itemPath(list []byte, i int) string {
	if object.FirstByte(list) == '[' {
		return fmt.Sprintf("[%d]", i)
	}
	return fmt.Sprintf("items[%d]", i)
}

// endList decodes the remaining items after the end of a list, when all fields of the list are known. A bare array
// has no fields. Any other list without a kind is cut off, because kubectl writes the kind after the items.
func (d *Documents) endList(ctx context.Context, bare bool, repeats []object.Repeat) error {
	if err := d.flush(ctx); err != nil {
		return err
	}
	if err := object.Mistaken(d.list.TypeMeta); err != nil && !bare {
		d.later = nil
		return d.reportDamage("", err, itemKinds(d.list.TypeMeta))
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
			without = nil // not a list, but an object with a field items
		}
		for _, it := range without {
			objects, err := d.kindless(it)
			if err != nil {
				err = d.reportDamage(it.Path, err, kindsIn(it, metav1.TypeMeta{}))
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

// Objects decodes the object in a text, or all objects in it, and finds the keys that appear twice. The later value
// of such a key is used, as in kubectl.
func (d *Documents) Objects(it Item, list metav1.TypeMeta) ([]object.Object, error) {
	if d.Tolerant != nil && d.Tolerant.Sums != nil && it.Yaml {
		if s, ok := ScanYAML(it.Text); ok {
			if s.Kind.Kind == "" {
				s.Kind = object.ItemKind(list)
			}
			if o, ok := s.OfObject(); ok {
				return []object.Object{o}, nil
			}
			if d.Tolerant.Sums.seenBefore(&s) {
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
	if it.Yaml && it.Path == "" && string(raw) == "null" { // only comments
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

// unfold decodes raw. If raw is a list or an array, unfold returns all objects in it and in nested lists. in is the
// kind of the list around raw.
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

// Within adds the path of an item to err.
func Within(path string, err error) *object.FieldError {
	if e := (*object.FieldError)(nil); errors.As(err, &e) {
		return &object.FieldError{Field: object.Join(path, e.Field), Err: e.Err}
	}
	return &object.FieldError{Field: path, Err: err}
}

// flush decodes the batch on all processors, and emits the objects in order.
func (d *Documents) flush(ctx context.Context) error {
	batch := d.batch
	d.batch, d.size = nil, 0
	if err := ctx.Err(); err != nil {
		return err
	}
	list, known := d.list.itemsAre()
	if err := object.Mistaken(list); err != nil && known {
		return d.reportDamage("", err, append([]metav1.TypeMeta{list}, anything...))
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
			d.later = append(d.later, batch[i]) // the kind of the list decides later
			continue
		case errs[i] != nil:
			if err := d.reportDamage(batch[i].Path, errs[i], kindsIn(batch[i], list)); err != nil {
				return err
			}
			continue
		}
		if err := d.emitAll(objects[i], batch[i].Path); err != nil {
			return err
		}
	}
	if len(d.later) == 0 { // the decoded objects do not refer to the texts
		d.texts = d.texts[:0]
	}
	return nil
}

// PlainKey matches keys that may be shown: names of fields, labels and annotations.
var PlainKey = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`)

func repeat(line int, key string) object.Repeat {
	if !PlainKey.MatchString(key) {
		key = ""
	}
	return object.Repeat{Line: line, Key: key}
}
