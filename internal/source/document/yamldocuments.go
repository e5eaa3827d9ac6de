package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	goyaml "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

// yamlDocument reads up to the next separator. It reads the items of a list one by one if the list has the usual
// layout: the key "items:" in the first column, and each item on its own lines.
func (d *Documents) yamlDocument(ctx context.Context) error {
	var (
		it      Item
		whole   = Item{Yaml: true, line: d.Line, Text: d.indent} // the document, with empty lines instead of the items
		anchors []byte                                           // items that may contain an anchor
		// "items:" was read, and the next line may be the first item
		maybe    bool
		isList   bool
		column   = -1 // column of the items' dashes; -1 outside of the items
		count    int
		endOfOne = func() error {
			if it.Text == nil {
				return nil
			}
			done := it
			it = Item{}
			if hasAnchor(done.Text) {
				anchors = append(anchors, done.Text...)
			}
			return d.add(ctx, done)
		}
	)
	for n := 0; ; n++ {
		if head, _ := d.in.Peek(4); n > 0 && (separator(head) || d.Tolerant != nil && isAside(d.in)) {
			break
		}
		line := d.Line
		text, err := d.readLine()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		d.Ragged = !bytes.ContainsAny(text[len(text)-1:], "\n\r}]")
		content := bytes.TrimLeft(text, " \r")
		lead := text[:len(text)-len(content)]
		at := len(lead) - 1 - bytes.LastIndexByte(lead, '\r') // a single carriage return also ends a line
		blank := len(bytes.TrimSpace(content)) == 0 || content[0] == '#'
		dash := !blank && content[0] == '-' && bytes.ContainsAny(content[1:min(2, len(content))], " \r\n") ||
			string(content) == "-"
		if maybe && !blank {
			maybe = false
			if dash && isList {
				return d.reportBroken(ctx, nil, source.ErrTwoLists)
			}
			if dash && !hasAnchor(whole.Text) {
				isList, column = true, at
			}
		}
		if column >= 0 && dash && at == column {
			if err := endOfOne(); err != nil {
				return err
			}
			it = Item{Yaml: true, line: line, Path: fmt.Sprintf("items[%d]", count), before: anchors}
			count++
		}
		if column >= 0 && (blank || at > column || dash && at == column) {
			it.Text = append(it.Text, text...)
			whole.Text = append(whole.Text, '\n')
			if int64(len(it.Text)) > d.Most {
				return d.at(it.Path, tooLong(d.Most))
			}
			continue
		}
		column = -1
		if err := endOfOne(); err != nil {
			return err
		}
		maybe = maybe || bytes.HasPrefix(text, []byte("items:")) && itemsKey().Match(text)
		whole.Text = append(whole.Text, text...)
		if int64(len(whole.Text)) > d.Most {
			return tooLong(d.Most)
		}
		if d.Tolerant != nil && !utf8.Valid(text) { // the parser would report this only after the whole document
			return source.ErrNotText
		}
	}
	if err := endOfOne(); err != nil {
		return err
	}
	if !isList {
		return d.document(whole)
	}
	whole.before = anchors
	raw, repeats, err := whole.JSON()
	if err == nil {
		err = d.describe(json.RawMessage(raw))
	}
	// items after the apparent end of the list
	if c := object.FirstByte(d.list.Items); err == nil && c != 0 && c != 'n' {
		err = source.ErrTwoLists
	}
	if err == nil {
		err = d.endList(ctx, false, repeats)
	}
	if err != nil {
		kinds, before := d.flushBroken(ctx)
		if before != nil {
			return before
		}
		return d.reportDamage("", err, kinds)
	}
	return nil
}

var itemsKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^items:[ \t]*(#.*)?\r?\n?$`)
})

// hasAnchor reports whether text may contain a YAML anchor. kubectl writes none.
func hasAnchor(text []byte) bool {
	for at := 0; ; at++ {
		i := bytes.IndexByte(text[at:], '&')
		if i < 0 {
			return false
		}
		at += i
		before := at == 0 || bytes.IndexByte([]byte(" \t\r\n\f[{,"), text[at-1]) >= 0
		if before && at+1 < len(text) && bytes.IndexByte([]byte(" \t\r\n\f[]{},&"), text[at+1]) < 0 {
			return true
		}
	}
}

// yamlAlias matches an alias of an anchor.
var yamlAlias = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)(?:^|[\s\[{,])\*([^\s\[\]{},*]+)`)
})

// JSON returns the text as JSON. For YAML, it also returns the keys that appear twice.
func (it *Item) JSON() ([]byte, []object.Repeat, error) {
	if !it.Yaml {
		return it.Text, nil, nil
	}
	raw, repeats, err := yamlToJSON(it.Text, it.line)
	before := it.before
	if !errors.Is(err, errNoAnchor) {
		before = nil
	}
	if len(before) > 0 {
		text := slices.Concat(before, it.Text)
		if it.Path == "" {
			text = slices.Concat([]byte("anchors:\n"), text)
		}
		raw, repeats, err = yamlToJSON(text, it.line-bytes.Count(text[:len(text)-len(it.Text)], []byte{'\n'}))
		repeats = slices.DeleteFunc(repeats, func(r object.Repeat) bool { return r.Line <= it.line })
	}
	var items []json.RawMessage
	if err != nil || it.Path == "" || json.Unmarshal(raw, &items) != nil || len(items) == 0 || len(items) > 1 &&
		len(before) == 0 {
		return raw, repeats, err
	}
	return items[len(items)-1], repeats, nil
}

var (
	YamlLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bline (\d+)`)
	})
	noAnchor = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)unknown anchor '(.*)' referenced`)
	})
	yamlQuote = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?s)(invalid map key): .*| ?`.*`")
	})
	errDedent   = errors.New("indented less than the first line of its document: nothing from here on would be read")
	errKey      = errors.New("a key that is neither text nor a number")
	errNoAnchor = errors.New("an alias without an anchor before it in the same document")
)

// yamlToJSON converts a part of a YAML file to JSON. line is the number of lines before that part. It also returns
// the keys that appear twice. Errors do not quote the file, because it may contain secrets.
func yamlToJSON(text []byte, line int) ([]byte, []object.Repeat, error) {
	if n := unread(text); n > 0 {
		return nil, nil, fmt.Errorf("line %d: %w", line+n, errDedent)
	}
	raw, err := yaml.YAMLToJSONStrict(text)
	if err == nil {
		return raw, nil, nil
	}
	if loose, looseErr := yaml.YAMLToJSON(text); looseErr == nil {
		return loose, repeatsInYAML(err, line), nil
	}
	if m := noAnchor().FindStringSubmatch(err.Error()); m != nil {
		for i, l := range bytes.Split(text, []byte{'\n'}) {
			if slices.ContainsFunc(yamlAlias().FindAllSubmatch(l, -1),
				func(a [][]byte) bool { return string(a[1]) == m[1] }) {
				return nil, nil, fmt.Errorf("line %d: %w", line+i+1, errNoAnchor)
			}
		}
		return nil, nil, errNoAnchor
	}
	if strings.HasPrefix(err.Error(), "unsupported map key") { // the rest quotes the value
		return nil, nil, errKey
	}
	s := YamlLine().ReplaceAllStringFunc(err.Error(), func(m string) string {
		n, _ := strconv.Atoi(m[len("line "):])
		return fmt.Sprintf("line %d", line+n)
	})
	return nil, nil, errors.New(yamlQuote().ReplaceAllString(s, "$1"))
}

// unread returns the first line, counted from 1, that the YAML parser would ignore, or 0 if there is none. The parser
// stops without an error at a line that is indented less than the first line.
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
		case at < first && several(text): // otherwise the line is within a quoted string
			return n
		}
	}
	return 0
}

// several reports whether the parser finds more than one document.
func several(text []byte) bool {
	var first, second any
	d := goyaml.NewDecoder(bytes.NewReader(text))
	return d.Decode(&first) == nil && d.Decode(&second) != io.EOF
}

var repeatedInYAML = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`line (\d+): key (".*"|\S+) already set in map`)
})

// repeatsInYAML returns the duplicate keys that a strict YAML parser reports in err. line is the number of lines
// before the parsed text.
func repeatsInYAML(err error, line int) []object.Repeat {
	var found []object.Repeat
	for _, m := range repeatedInYAML().FindAllStringSubmatch(err.Error(), -1) {
		n, _ := strconv.Atoi(m[1])
		key, _ := strconv.Unquote(m[2])
		found = append(found, repeat(line+n, key))
	}
	return found
}
