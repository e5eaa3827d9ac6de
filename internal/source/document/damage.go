package document

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DamagePolicy decides what happens to text that is not an object, and to damaged objects.
type DamagePolicy struct {
	Arrays metav1.TypeMeta       // the kind of the list in a bare array, from the name of the file
	Words  bool                  // the string "null" means null
	Sums   *Sums                 // objects that were read before; if nil, every object is converted
	Harm   func(Damage) error    // handles damage; the damage is ignored if Harm returns nil
	Log    func(container LogOf) // called when a log begins
}

// Damage is a part of the input that cannot be read.
type Damage struct {
	*source.InputError
	Kinds []metav1.TypeMeta // possible kinds of the part or of objects in it; empty if any kind is possible
}

// Counts reports whether the damage may change an answer, because the damaged object may have a decisive kind. found
// is true for a file that the user did not name. In such a file, damage without a kind does not count.
func (d Damage) Counts(found bool) bool {
	if errors.Is(d.InputError, source.ErrBeside) {
		return false
	}
	isEvent := func(k metav1.TypeMeta) bool { return k.Kind == "Event" }
	lacks := func(field string) bool {
		return errors.Is(d.Err, object.ErrMissing) && strings.HasSuffix(d.Field, "metadata."+field)
	}
	if errors.Is(d.InputError, object.ErrTable) || errors.Is(d.InputError, object.ErrPartialObject) ||
		lacks("namespace") ||
		lacks("name") && slices.ContainsFunc(d.Kinds, isEvent) {
		// no server has an object without a namespace, so this is a manifest; events without a name come from
		// extracts
		return !found
	}
	if len(d.Kinds) == 0 {
		return !found
	}
	return slices.ContainsFunc(d.Kinds, func(k metav1.TypeMeta) bool {
		return k.Kind == "" || k.Kind == "List" || object.Counted[k.Kind] != "" && !object.Foreign(k) ||
			object.Mistaken(k) != nil
	})
}

// reportDamage returns the error for a part of the input that cannot be read, or nil if the policy ignores it.
func (d *Documents) reportDamage(field string, err error, kinds []metav1.TypeMeta) error {
	if len(kinds) == 0 && d.Tolerant != nil && d.Tolerant.Arrays.Kind != "" {
		kinds = []metav1.TypeMeta{object.ItemKind(d.Tolerant.Arrays)}
	}
	if e := (*object.FieldError)(nil); errors.As(err, &e) &&
		(e.Field == "kind" && object.ItemKind(d.list.TypeMeta).Kind == "" ||
			e.Field == "apiVersion" && len(kinds) == 0) {
		kinds = anything // the object states a kind that cannot be read; the kinds that it refers to are not its own
	}
	err = d.at(field, err)
	in := (*source.InputError)(nil)
	if d.Tolerant == nil || !errors.As(err, &in) || in.Settled {
		return err
	}
	err = d.Tolerant.Harm(Damage{in, kinds})
	in.Settled = err != nil
	return err
}

// reportBroken handles a document after which the rest of the file cannot be read. It returns nil if the policy
// ignores the damage. j is the reader of a JSON document, and nil for YAML.
func (d *Documents) reportBroken(ctx context.Context, j *jsonReader, err error) error {
	in := (*source.InputError)(nil)
	if d.Tolerant == nil || errors.As(err, &in) && in.Settled || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return d.at("", err)
	}
	if large := (*SizeError)(nil); errors.As(err, &large) {
		d.batch, d.later = nil, nil
		d.in = bufio.NewReader(strings.NewReader(""))
		return d.reportDamage("", err, nil)
	}
	kinds, before := d.flushBroken(ctx)
	if before != nil {
		return before
	}
	rest := io.Reader(d.in)
	var head []byte
	if j != nil {
		held := bytes.Clone(j.rest())
		_, _ = d.in.Discard(j.held)
		j.held = 0
		const enough = 64 << 10 // bytes that are enough to recognize the damaged object
		ahead, _ := d.in.Peek(enough)
		head = slices.Concat(held, ahead)
		head = head[:min(len(head), enough)]
		rest = io.MultiReader(bytes.NewReader(held), d.in)
	}
	if k := object.ItemKind(d.list.TypeMeta); k.Kind != "" {
		kinds = []metav1.TypeMeta{k}
	}
	if len(kinds) == 0 && len(head) > 0 {
		kinds = kindsIn(Item{Text: head}, metav1.TypeMeta{})
	}
	mentioned, referred := Mentions(rest)
	if kinds = append(kinds, mentioned...); len(kinds) == 0 && referred {
		kinds = anything
	}
	if errors.Is(err, source.ErrCutOff) && len(kinds) == 0 && beginsAsObject(head) {
		kinds = anything
	}
	if errors.Is(err, source.ErrCutOff) { // the lost rest of the file may hold more objects of the kinds before
		kinds = slices.AppendSeq(kinds, maps.Keys(d.before))
	}
	return d.reportDamage("", err, kinds)
}

// beginsAsObject reports whether JSON that is cut off within its first key may be a Kubernetes object.
func beginsAsObject(head []byte) bool {
	m := firstKey().FindSubmatch(head)
	return m != nil && slices.ContainsFunc([]string{"apiVersion", "kind", "metadata", "items"}, func(key string) bool {
		return strings.HasPrefix(key, string(m[1]))
	})
}

var firstKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\{\s*(?:"([A-Za-z]*)"?\s*)?$`) })

// flushBroken emits the items of a broken list that were read, and returns their kinds. For items whose kind depends
// on the list, it returns the possible kinds.
func (d *Documents) flushBroken(ctx context.Context) ([]metav1.TypeMeta, error) {
	err := d.flush(ctx)
	kinds := slices.Collect(maps.Keys(d.kinds))
	for _, it := range d.later {
		kinds = append(kinds, kindsIn(it, metav1.TypeMeta{})...)
	}
	d.later = nil
	return kinds, err
}

// anything is the kind of a part that may hold objects of every kind.
var anything = []metav1.TypeMeta{{Kind: "List"}}

// Mentions reads in to its end. It returns the decisive kinds, and kinds with a similar name, for which the text
// seems to contain an object. referred reports whether the text refers to an object of such a kind, as pods do.
func Mentions(in io.Reader) (found []metav1.TypeMeta, referred bool) {
	const overlap = 100
	buffer := make([]byte, 0, 64<<10)
	for {
		n, err := io.ReadFull(in, buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		for _, m := range mentionedKind().FindAllSubmatchIndex(buffer, -1) {
			// the match may continue, so it is repeated with the text that follows
			if err == nil && m[0] >= len(buffer)-overlap {
				continue
			}
			kind := strings.TrimSuffix(string(buffer[m[2]:m[3]]), "List")
			k := metav1.TypeMeta{Kind: kind, APIVersion: object.Counted[kind]}
			switch {
			case k.APIVersion == "" && (object.OfAnyGroup(kind) || object.Misspelled(kind) == nil),
				slices.Contains(found, k):
			case m[4] >= 0:
				referred = true
			default:
				found = append(found, k)
			}
		}
		if err != nil {
			return found, referred
		}
		keep := min(overlap, len(buffer))
		copy(buffer, buffer[len(buffer)-keep:])
		buffer = buffer[:keep]
	}
}

var mentionedKind = sync.OnceValue(func() *regexp.Regexp {
	// a reference has the name next to the kind
	return regexp.MustCompile(`\bkind["']?\s*:\s*(?:[|>][-+0-9]*\s+)?["']?([A-Za-z]+)\b(["']?\s*,?\s*["']?name["']?\s*:)?`)
})

// kindsIn returns the kind of the object in a damaged text, or the kinds of its items, from the part that is not
// damaged. It returns none if that part does not show a kind.
func kindsIn(it Item, list metav1.TypeMeta) []metav1.TypeMeta {
	var k metav1.TypeMeta
	if it.Yaml {
		s, _ := ScanYAML(it.Text)
		k = s.Kind
	} else {
		k, _ = object.PeekKind(it.Text)
	}
	if k.Kind == "null" { // Rancher's collector writes "null" for an empty kind
		k.Kind = ""
	}
	versioned := k.APIVersion != "" && !(it.Yaml && ofChart().Match(it.Text))
	if k.Kind == "" {
		k = object.ItemKind(list)
	}
	if of := object.ItemKind(k); of.Kind != "" {
		return itemKinds(k)
	}
	if k.Kind != "" {
		return []metav1.TypeMeta{k}
	}
	found, referred := Mentions(bytes.NewReader(it.Text))
	if len(found) == 0 && (referred || versioned) { // an object of unknown kind
		return anything
	}
	return found
}

// ofChart matches a line of Helm's Chart.yaml or index.yaml. These files also have an apiVersion.
var ofChart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:name|version|appVersion|entries|dependencies|generated):`)
})

// itemKinds returns the kind of the items of a list. If the kind of the list looks misspelled, the result also
// includes anything.
func itemKinds(list metav1.TypeMeta) []metav1.TypeMeta {
	kinds := []metav1.TypeMeta{object.ItemKind(list)}
	if object.Mistaken(list) != nil {
		kinds = append(kinds, anything...)
	}
	return kinds
}

// tooOld reports whether an object without a kind is a list that kubectl wrote before v1.9. Such a list has the names
// of the Go fields.
func tooOld(raw []byte) bool {
	if !bytes.Contains(raw, []byte(`"Items"`)) {
		return false
	}
	var old map[string]json.RawMessage
	return json.Unmarshal(raw, &old) == nil && object.FirstByte(old["Items"]) == '['
}

// WithoutNulls replaces the string "null" by null. One collector writes that string for each empty string and for
// null. In the template of a revision, WithoutNulls removes fields that are null, because they are also missing in
// the DaemonSet's template.
func WithoutNulls(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"null"`)) {
		return raw
	}
	var out []byte
	rest := raw
	for at := nullText().FindIndex(rest); at != nil; at = nullText().FindIndex(rest) {
		if after := bytes.TrimLeft(rest[at[1]:], " \t\r\n"); len(after) > 0 && after[0] == ':' { // a key
			out = append(out, rest[:at[1]]...)
		} else {
			out = append(append(out, rest[:at[1]-len(`"null"`)]...), "null"...)
		}
		rest = rest[at[1]:]
	}
	out = append(out, rest...)
	var o any
	d := json.NewDecoder(bytes.NewReader(out))
	d.UseNumber()
	if !bytes.Contains(out, []byte(`"revision"`)) || d.Decode(&o) != nil || !pruneRevisions(o) {
		return out
	}
	return object.Encoded(o)
}

var nullText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[:\[,]\s*"null"`) })

// pruneRevisions removes null fields from the templates of revisions, and reports whether it found one. It keeps
// creationTimestamp, because the controller writes it as null.
func pruneRevisions(v any) bool {
	o, _ := v.(map[string]any)
	items, isArray := v.([]any)
	if !isArray {
		items, _ = o["items"].([]any)
	}
	pruned := false
	for _, item := range items {
		pruned = pruneRevisions(item) || pruned
	}
	data, _ := o["data"].(map[string]any)
	if spec, ok := data["spec"].(map[string]any); ok && o["revision"] != nil {
		spec["template"] = pruneNulls(spec["template"])
		pruned = true
	}
	return pruned
}

func pruneNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(key string, value any) bool { return value == nil && key != "creationTimestamp" })
		for key, value := range v {
			v[key] = pruneNulls(value)
		}
	case []any:
		for i := range v {
			if v[i] = pruneNulls(v[i]); v[i] == nil {
				v[i] = ""
			}
		}
	}
	return v
}

// tooLong returns the error for a document or an item of more than most bytes.
func tooLong(most int64) error {
	return &SizeError{fmt.Sprintf("one object has more than %s", source.SizeOf(most)), most * PartOfInput}
}

// SizeError says that the input exceeds a limit.
type SizeError struct {
	Words string
	Bound int64 // the limit of the whole input from which this limit follows
}

func (e *SizeError) Error() string { return e.Words }

// LogOf identifies the log of a container.
type LogOf struct {
	Namespace, Pod string
	Container      string // empty for all containers
	Previous       bool
}

var (
	logBegins = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^==== START logs for container (\S+) of pod ([^/\s]+)/(\S+) ====\s*$`)
	})
	// Text between documents begins with one of these: a log, the last line of a dump, or a fence of Markdown.
	asides = [][]byte{[]byte("==== START logs for container "), []byte("Cluster info dumped to "), []byte("```")}
)

// isAside reports whether in continues with text between documents: what "kubectl cluster-info dump" writes between
// and after them, or a fence of Markdown around a document.
func isAside(in *bufio.Reader) bool {
	for _, begins := range asides {
		if head, _ := in.Peek(len(begins)); bytes.Equal(head, begins) {
			return true
		}
	}
	return false
}

// skipAside skips the log of a container, or one line of text.
func (d *Documents) skipAside() error {
	line, err := d.readLine()
	if err != nil {
		return err
	}
	of := logBegins().FindSubmatch(line)
	if of == nil {
		return nil
	}
	if d.Tolerant.Log != nil {
		d.Tolerant.Log(LogOf{string(of[2]), string(of[3]), string(of[1]), false})
	}
	end := bytes.Replace(bytes.TrimSpace(line), []byte("START"), []byte("END"), 1)
	for {
		line, err := d.in.ReadSlice('\n') // lines of a log may have any length, so they are not kept
		if err == nil {
			d.Line++
		}
		if bytes.Equal(bytes.TrimSpace(line), end) {
			return nil
		}
		if err == io.EOF {
			d.Within = fmt.Sprintf("the log of container %s of pod %s/%s", of[1], of[2], of[3])
			return nil
		}
		if err != nil && err != bufio.ErrBufferFull {
			return err
		}
	}
}
