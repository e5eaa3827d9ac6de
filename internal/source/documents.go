package source

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
	"runtime"
	"slices"
	"strconv"
	"sync"

	goyaml "go.yaml.in/yaml/v2"
	"golang.org/x/text/encoding/unicode"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// documents reads one file: JSON documents one after another, or a YAML
// stream, or a mixture of them. Documents are counted from 1, and empty ones
// are not counted. encoding/json and sigs.k8s.io/yaml read what is in them.
//
// A list that is laid out as kubectl does it is read item by item, and only a
// batch of items is held as text, so that a list of any length takes the memory
// of what is kept of it. Any other document is read as a whole.
type documents struct {
	from   io.Reader
	decode decoder
	emit   func(object) error

	in     *bufio.Reader // of from
	line   int           // lines read before in, from 0
	indent []byte        // blanks read before in, on the same line
	doc    int
	list   listMeta // of the list being read, as far as it is known
	items  int      // of that list, so far
	batch  []item
	size   int    // bytes in batch
	later  []item // items that have no kind, of a list whose kind has not come yet

	ragged bool // the last line has no newline, and nothing else shows that it is whole
}

// listMeta is what a list says of itself.
type listMeta struct {
	metav1.TypeMeta
	Metadata json.RawMessage `json:"metadata"` // of an object that is no list it may be anything
	Items    json.RawMessage `json:"items"`
}

// itemsAre returns the kind of the items that do not say it themselves, and
// whether the list has said it yet.
func (l listMeta) itemsAre() (metav1.TypeMeta, bool) {
	return l.TypeMeta, itemKind(l.TypeMeta).Kind != "" && l.APIVersion != ""
}

// end is what is emitted after the items of a list, of which there are so many.
func (l listMeta) end(document, items int) object {
	var m metav1.ListMeta
	_ = json.Unmarshal(l.Metadata, &m)
	left := 0
	if m.RemainingItemCount != nil {
		left = max(0, int(*m.RemainingItemCount))
	}
	return object{kind: l.TypeMeta, list: true, document: document, page: page{m.ResourceVersion, m.Continue, items, left}}
}

// decoder makes an object of its JSON. list is the kind of the list that the
// object stands in.
type decoder func(raw []byte, list metav1.TypeMeta) (object, error)

// item is the text of one object, or of a document.
type item struct {
	text   []byte
	yaml   bool
	line   int    // of its first line, from 0
	path   string // of an item of a list, which in YAML has its dash
	before []byte // items before it that may have the anchors of its aliases
}

// What may be an anchor of YAML, or an alias of one. kubectl writes none.
var (
	yamlAnchor = regexp.MustCompile(`(?m)(?:^|[\s\[{,])&[^\s\[\]{},&]`)
	yamlAlias  = regexp.MustCompile(`(?m)(?:^|[\s\[{,])\*([^\s\[\]{},*]+)`)
)

const (
	batchItems = 512
	batchBytes = 8 << 20
)

var (
	errCutOff   = errors.New("ends in the middle of an object: the file is cut off")
	errNotText  = errors.New("not text")
	errListEnd  = errors.New("a list without a kind: the file may be cut off")
	errTwoLists = errors.New("items: appears twice")
	errNotJSON  = errors.New("not JSON")
)

// read hands every object of the file to emit, in the order in which they
// stand there, but that items without a kind come after those with one. An
// error is an *InputError that lacks the file, or what emit or ctx returned.
func (d *documents) read(ctx context.Context) error {
	d.in = bufio.NewReaderSize(d.from, 1<<16)
	switch head, err := d.in.Peek(512); {
	case err != nil && err != io.EOF:
		return &InputError{Err: err}
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}): // PowerShell writes UTF-16
		raw, err := io.ReadAll(d.in)
		if err == nil && len(raw)%2 != 0 {
			err = errCutOff
		}
		if err == nil {
			raw, err = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(raw)
		}
		if err != nil {
			return &InputError{Err: err}
		}
		d.in = bufio.NewReaderSize(bytes.NewReader(raw), 1<<16)
	case bytes.IndexByte(head, 0) >= 0:
		return &InputError{Err: errNotText}
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
			return &InputError{Err: err}
		}
		d.doc++
		d.list, d.items = listMeta{}, 0
		if first == '{' || first == '[' {
			err = d.jsonDocument(ctx)
		} else {
			err = d.yamlDocument(ctx)
		}
		if err != nil {
			return d.at("", err)
		}
	}
}

// at returns the error with its place, unless it has one.
func (d *documents) at(field string, err error) error {
	if e := (*InputError)(nil); errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if e := (*fieldError)(nil); errors.As(err, &e) {
		field, err = join(field, e.field), e.err
	}
	return &InputError{Document: d.doc, Field: field, Err: err}
}

// start skips what may stand between documents (blanks, comments, --- and ...,
// byte order marks), and returns the first byte of the next one without reading
// it.
func (d *documents) start() (byte, error) {
	d.indent = nil
	for {
		head, err := d.in.Peek(4)
		switch first := len(d.indent) == 0; {
		case len(head) == 0:
			return 0, err
		case head[0] == '\n':
			d.line++
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

func (d *documents) skip(n int) { _, _ = d.in.Discard(n) }

// readLine returns the next line with its end, and io.EOF only when there is
// none.
func (d *documents) readLine() ([]byte, error) {
	text, err := d.in.ReadBytes('\n')
	if err == nil {
		d.line++
	}
	if err == io.EOF && len(text) > 0 {
		err = nil
	}
	return text, err
}

// jsonReader reads JSON and counts the lines. What the decoder has read ahead
// stays in its input.
type jsonReader struct {
	*json.Decoder
	in   *bufio.Reader
	held int     // bytes of in that the decoder has
	line int     // lines that end before the last offset asked for
	read int64   // bytes
	ends []int64 // where the lines after that end
}

func (j *jsonReader) Read(p []byte) (int, error) {
	_, _ = j.in.Discard(j.held)
	j.held = 0
	if _, err := j.in.Peek(1); err != nil {
		return 0, err
	}
	text, _ := j.in.Peek(min(len(p), j.in.Buffered()))
	for i, c := range text {
		if c == '\n' {
			j.ends = append(j.ends, j.read+int64(i))
		}
	}
	j.held = copy(p, text)
	j.read += int64(j.held)
	return j.held, nil
}

// done leaves in the input what the decoder has not made use of, and returns
// how many lines were read.
func (j *jsonReader) done() int {
	_, _ = j.in.Discard(j.held - int(j.read-j.InputOffset()))
	return j.lineAt(j.InputOffset())
}

// lineAt returns how many lines end before an offset, which must not go back.
func (j *jsonReader) lineAt(offset int64) int {
	for len(j.ends) > 0 && j.ends[0] < offset {
		j.ends = j.ends[1:]
		j.line++
	}
	return j.line
}

// value reads the next value, and returns the line that it begins in.
func (j *jsonReader) value() (raw json.RawMessage, line int, err error) {
	err = j.fail(j.Decode(&raw))
	return raw, j.lineAt(j.InputOffset() - int64(len(raw))), err
}

func (j *jsonReader) token() (json.Token, error) {
	t, err := j.Token()
	return t, j.fail(err)
}

// fail says of an error of the decoder in which line it is. A text, or a word,
// that does not end before the last line does is one that was cut off.
func (j *jsonReader) fail(err error) error {
	e := (*json.SyntaxError)(nil)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errCutOff
	case !errors.As(err, &e):
		return err
	}
	at := j.InputOffset()
	if rest, _ := io.ReadAll(j.Buffered()); e.Offset != at && errors.As(json.Unmarshal(rest, new(any)), &e) { // in a value: the decoder counts only bytes of values
		at += e.Offset - 1
		if _, end := j.in.Peek(j.held + 1); end == io.EOF && len(bytes.TrimSpace(rest[e.Offset-1:])) == 0 {
			return errCutOff
		}
	}
	return fmt.Errorf("line %d: %w: %w", j.lineAt(at)+1, errNotJSON, err)
}

// jsonInItems is how a list begins that is read item by item: an array, or what
// kubectl and API servers write.
var jsonInItems = regexp.MustCompile(`^(?:\[|\{\s*(?:"\w+"\s*:\s*(?:"[^"\\]*"|\{[^{}]*\})\s*,\s*)*"items"\s*:\s*\[)`)

// jsonDocument reads an object, or a list, or an array of objects.
func (d *documents) jsonDocument(ctx context.Context) error {
	head, _ := d.in.Peek(4 << 10)
	j := &jsonReader{in: d.in, line: d.line}
	j.Decoder = json.NewDecoder(j)
	if jsonInItems.Match(head) {
		if err := d.jsonList(ctx, j); err != nil {
			return err
		}
	} else {
		raw, line, err := j.value()
		if err != nil {
			return err
		}
		if err := d.document(item{text: raw, line: line}); err != nil {
			return err
		}
	}
	d.line = j.done()
	return nil
}

func (d *documents) jsonList(ctx context.Context, j *jsonReader) error {
	if open, err := j.token(); err != nil || open == json.Delim('[') {
		if err == nil {
			err = d.jsonItems(ctx, j, "")
		}
		if err != nil {
			return err
		}
		return d.endList(ctx, true, nil)
	}
	var repeats []Repeat
	isList, about := false, map[string]json.RawMessage{}
	for j.More() {
		t, err := j.token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if name == "items" {
			if isList {
				return errTwoLists
			}
			isList = true
			if err := d.describe(about); err != nil {
				return err
			}
			if t, err := j.token(); err != nil || t != json.Delim('[') {
				return cmp.Or(err, errNotJSON)
			}
			if err := d.jsonItems(ctx, j, "items"); err != nil {
				return err
			}
			continue
		}
		if about[name] != nil {
			repeats = append(repeats, repeat(j.lineAt(j.InputOffset())+1, name))
		}
		if about[name], _, err = j.value(); err != nil {
			return err
		}
	}
	if _, err := j.token(); err != nil {
		return err
	}
	if err := d.describe(about); err != nil {
		return err
	}
	return d.endList(ctx, false, repeats)
}

// describe keeps what a list says about itself.
func (d *documents) describe(about any) error {
	raw, err := json.Marshal(about)
	if err != nil {
		return err
	}
	d.list = listMeta{}
	if err := json.Unmarshal(raw, &d.list); err != nil {
		return explain(raw, &d.list, err)
	}
	return nil
}

// jsonItems reads the rest of an array, item by item.
func (d *documents) jsonItems(ctx context.Context, j *jsonReader, path string) error {
	for i := 0; j.More(); i++ {
		it := item{path: fmt.Sprintf("%s[%d]", path, i)}
		var err error
		if it.text, it.line, err = j.value(); err != nil {
			return d.at(it.path, err)
		}
		if err := d.add(ctx, it); err != nil {
			return err
		}
	}
	_, err := j.token()
	return err
}

// yamlDocument reads up to the next separator. The items of a list that is
// laid out as kubectl and everybody else lays it out, a key "items:" in the
// first column and each item on lines of its own, are read one by one.
func (d *documents) yamlDocument(ctx context.Context) error {
	var (
		it       item
		whole    = item{yaml: true, line: d.line, text: d.indent} // but the items, which leave empty lines
		anchors  []byte                                           // the items that may have one
		maybe    bool                                             // "items:" was read: a dash makes a list of it
		isList   bool
		column   = -1 // of the items' dashes; -1: not among the items
		count    int
		endOfOne = func() error {
			if it.text == nil {
				return nil
			}
			done := it
			it = item{}
			if yamlAnchor.Match(done.text) {
				anchors = append(anchors, done.text...)
			}
			return d.add(ctx, done)
		}
	)
	for n := 0; ; n++ {
		if head, _ := d.in.Peek(4); separator(head) && n > 0 {
			break
		}
		line := d.line
		text, err := d.readLine()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		d.ragged = !bytes.ContainsAny(text[len(text)-1:], "\n\r}]")
		content := bytes.TrimLeft(text, " \r")
		lead := text[:len(text)-len(content)]
		at := len(lead) - 1 - bytes.LastIndexByte(lead, '\r') // a carriage return alone ends a line, too
		blank := len(bytes.TrimSpace(content)) == 0 || content[0] == '#'
		dash := !blank && content[0] == '-' && bytes.ContainsAny(content[1:min(2, len(content))], " \r\n") || string(content) == "-"
		if maybe && !blank {
			maybe = false
			if dash && isList {
				return errTwoLists
			}
			if dash && !yamlAnchor.Match(whole.text) {
				isList, column = true, at
			}
		}
		if column >= 0 && dash && at == column {
			if err := endOfOne(); err != nil {
				return err
			}
			it = item{yaml: true, line: line, path: fmt.Sprintf("items[%d]", count), before: anchors}
			count++
		}
		if column >= 0 && (blank || at > column || dash && at == column) {
			it.text = append(it.text, text...)
			whole.text = append(whole.text, '\n')
			continue
		}
		column = -1
		if err := endOfOne(); err != nil {
			return err
		}
		maybe = maybe || itemsKey.Match(text)
		whole.text = append(whole.text, text...)
	}
	if err := endOfOne(); err != nil {
		return err
	}
	if !isList {
		return d.document(whole)
	}
	whole.before = anchors
	raw, repeats, err := whole.json()
	if err != nil {
		return err
	}
	if err := d.describe(json.RawMessage(raw)); err != nil {
		return err
	}
	if c := firstByte(d.list.Items); c != 0 && c != 'n' { // after what looked like the end of the items
		return errTwoLists
	}
	return d.endList(ctx, false, repeats)
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

// document reads a document as a whole.
func (d *documents) document(it item) error {
	objects, err := d.objects(it, metav1.TypeMeta{})
	if err != nil {
		return err
	}
	if len(objects) == 0 {
		d.doc--
	}
	return d.emitAll(objects, "")
}

func (d *documents) emitAll(objects []object, path string) error {
	for _, o := range objects {
		o.document, o.path = d.doc, join(path, o.path)
		if err := d.emit(o); err != nil {
			return d.at(o.path, err)
		}
	}
	return nil
}

// isList reports whether a kind is that of a list, so that it has items.
func isList(k metav1.TypeMeta) bool { return k.Kind == "List" || itemKind(k).Kind != "" }

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
func (d *documents) endList(ctx context.Context, bare bool, repeats []Repeat) error {
	if err := d.flush(ctx); err != nil {
		return err
	}
	if err := mistaken(d.list.TypeMeta); err != nil && !bare {
		return err
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
		return errListEnd
	}
	if err := d.flush(ctx); err != nil {
		return err
	}
	end := d.list.end(d.doc, d.items)
	end.repeats = repeats
	return d.emit(end)
}

// objects returns the object of a text, or all that are in it, with the keys that
// stand in it twice: the later value of such a key counts, as for kubectl.
func (d *documents) objects(it item, list metav1.TypeMeta) ([]object, error) {
	raw, repeats, err := it.json()
	if err != nil {
		return nil, err
	}
	if it.yaml && it.path == "" && string(raw) == "null" { // nothing but comments
		return nil, nil
	}
	all, err := d.unfold(raw, list)
	if !it.yaml && (err != nil || slices.ContainsFunc(all, func(o object) bool { return o.twice })) {
		if repeats = repeatsInJSON(raw, it.line); len(repeats) > 0 {
			if raw, err = laterValues(raw); err == nil {
				all, err = d.unfold(raw, list)
			}
		}
	}
	for i := range all {
		all[i].repeats = repeats
	}
	return all, err
}

// unfold returns the object of raw, and where raw is a list or an array, which
// may stand in another one, all that is in it. in is what raw stands in.
func (d *documents) unfold(raw []byte, in metav1.TypeMeta) ([]object, error) {
	o, list := object{}, listMeta{Items: raw}
	if firstByte(raw) != '[' {
		var err error
		if o, err = d.decode(raw, in); err != nil || isCounted(o.kind.Kind, o.kind.APIVersion) {
			return []object{o}, err
		}
		list = listMeta{}
		odd, err := sjson.UnmarshalStrict(raw, &list, sjson.DisallowDuplicateFields)
		if err != nil {
			return nil, explain(raw, &list, err)
		}
		if firstByte(list.Items) != '[' && !isList(o.kind) {
			return []object{o}, nil
		}
		o.twice = o.twice || len(odd) > 0
	}
	var items []json.RawMessage
	if c := firstByte(list.Items); c != 0 && json.Unmarshal(list.Items, &items) != nil {
		return nil, &fieldError{"items", fmt.Errorf("must be a list, not %s", kindOfJSON(c))}
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
	end := list.end(d.doc, len(items))
	end.twice = o.twice
	return append(all, end), nil
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
					objects[i], errs[i] = d.objects(batch[i], list)
					return errs[i]
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
		if err := d.emitAll(objects[i], batch[i].path); err != nil {
			return err
		}
	}
	return nil
}

// json returns the text as JSON, and of YAML the keys that stand in it twice.
func (it *item) json() ([]byte, []Repeat, error) {
	if !it.yaml {
		return it.text, nil, nil
	}
	raw, repeats, err := yamlToJSON(it.text, it.line)
	before := it.before
	if !errors.Is(err, errNoAnchor) {
		before = nil
	}
	if len(before) > 0 {
		text := slices.Concat(before, it.text)
		if it.path == "" {
			text = slices.Concat([]byte("anchors:\n"), text)
		}
		raw, repeats, err = yamlToJSON(text, it.line-bytes.Count(text[:len(text)-len(it.text)], []byte{'\n'}))
		repeats = slices.DeleteFunc(repeats, func(r Repeat) bool { return r.Line <= it.line })
	}
	var items []json.RawMessage
	if err != nil || it.path == "" || json.Unmarshal(raw, &items) != nil || len(items) == 0 || len(items) > 1 && len(before) == 0 {
		return raw, repeats, err
	}
	return items[len(items)-1], repeats, nil
}

var (
	yamlLine    = regexp.MustCompile(`\bline (\d+)`)
	noAnchor    = regexp.MustCompile(`(?s)unknown anchor '(.*)' referenced`)
	yamlQuote   = regexp.MustCompile("(?s)(invalid map key): .*| ?`.*`")
	errNoAnchor = errors.New("an alias without an anchor before it in the same document")
)

// yamlToJSON converts a piece of a YAML file, of which line lines stand
// before it. It returns the keys that stand in it twice, too. An error says nothing
// that the parser quotes of the file, which may be a secret.
func yamlToJSON(text []byte, line int) ([]byte, []Repeat, error) {
	if n := unread(text); n > 0 {
		return nil, nil, fmt.Errorf("line %d: indented less than the first line of its document: nothing from here on would be read", line+n)
	}
	raw, err := yaml.YAMLToJSONStrict(text)
	if err == nil {
		return raw, nil, nil
	}
	if loose, looseErr := yaml.YAMLToJSON(text); looseErr == nil {
		return loose, repeatsInYAML(err, line), nil
	}
	if m := noAnchor.FindStringSubmatch(err.Error()); m != nil {
		for i, l := range bytes.Split(text, []byte{'\n'}) {
			if slices.ContainsFunc(yamlAlias.FindAllSubmatch(l, -1), func(a [][]byte) bool { return string(a[1]) == m[1] }) {
				return nil, nil, fmt.Errorf("line %d: %w", line+i+1, errNoAnchor)
			}
		}
		return nil, nil, errNoAnchor
	}
	s := yamlLine.ReplaceAllStringFunc(err.Error(), func(m string) string {
		n, _ := strconv.Atoi(m[len("line "):])
		return fmt.Sprintf("line %d", line+n)
	})
	return nil, nil, errors.New(yamlQuote.ReplaceAllString(s, "$1"))
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
