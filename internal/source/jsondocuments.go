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
	"slices"
	"sync"

	kjson "k8s.io/apimachinery/pkg/util/json"
)

// jsonReader reads JSON and counts the lines. What the decoder has read ahead
// stays in its input.
type jsonReader struct {
	*json.Decoder
	in   *bufio.Reader
	held int     // bytes of in that the decoder has
	line int     // lines that end before the last offset asked for
	read int64   // bytes
	most int64   // of them in one value
	ends []int64 // where the lines after that end
}

func (j *jsonReader) Read(p []byte) (int, error) {
	_, _ = j.in.Discard(j.held)
	j.held = 0
	if _, err := j.in.Peek(1); err != nil {
		return 0, err
	}
	if j.read-j.InputOffset() > j.most {
		return 0, tooLong(j.most)
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

// textOf is a value as text, which stands behind others in one piece of memory.
type textOf struct {
	into *[]byte
	text []byte
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *textOf) UnmarshalJSON(text []byte) error {
	begin := len(*t.into)
	*t.into = append(*t.into, text...)
	t.text = slices.Clip((*t.into)[begin:])
	return nil
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
var jsonInItems = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\[|\{\s*(?:"\w+"\s*:\s*(?:"[^"\\]*"|\{[^{}]*\})\s*,\s*)*"items"\s*:\s*\[)`)
})

// jsonDocument reads an object, or a list, or an array of objects.
func (d *documents) jsonDocument(ctx context.Context) error {
	head, _ := d.in.Peek(4 << 10)
	j := &jsonReader{in: d.in, line: d.line, most: d.most}
	j.Decoder = json.NewDecoder(j)
	if jsonInItems().Match(head) {
		if err := d.jsonList(ctx, j); err != nil {
			return d.brokenOff(ctx, j, err)
		}
	} else {
		raw, line, err := j.value()
		if err != nil {
			return d.brokenOff(ctx, j, err)
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

// jsonItems reads the rest of an array, item by item.
func (d *documents) jsonItems(ctx context.Context, j *jsonReader, path string) error {
	for i := 0; j.More(); i++ {
		it := item{path: fmt.Sprintf("%s[%d]", path, i)}
		value := textOf{into: &d.texts}
		if err := j.fail(j.Decode(&value)); err != nil {
			return d.at(it.path, err)
		}
		it.text, it.line = value.text, j.lineAt(j.InputOffset()-int64(len(value.text)))
		if err := d.add(ctx, it); err != nil {
			return err
		}
	}
	_, err := j.token()
	return err
}

// laterValues returns JSON with no key twice.
func laterValues(raw []byte) ([]byte, error) {
	var v any
	if err := kjson.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// repeatsInJSON returns the keys that stand twice, up to where the JSON breaks off.
func repeatsInJSON(raw []byte, line int) []Repeat {
	type level struct {
		keys map[string]bool // of an object; nil for a list
		key  bool            // a key is next
	}
	var found []Repeat
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
