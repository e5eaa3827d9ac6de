package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Decode parses the output of Encode and checks it with Validate. Empty and
// missing lists become nil. An unknown field is an error, because the answer
// could depend on it.
//
// Objects share equal values. Do not modify them.
func Decode(data []byte) (*Snapshot, error) {
	if s, err := DecodeFrom(jsontext.NewDecoder(bytes.NewBuffer(data))); err == nil {
		return s, nil
	}
	var d document
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("not a readable snapshot: %w", template.Misfit(err))
	}
	return d.checked()
}

// DecodeFrom is like Decode for the next value of a decoder without options,
// and does not buffer the whole text. It rejects some input that Decode
// accepts, such as duplicate keys and keys in another letter case, and its
// errors differ from those of encoding/json: call Decode with the same text to
// get these.
func DecodeFrom(dec *jsontext.Decoder) (*Snapshot, error) {
	var d document
	if err := jsonv2.UnmarshalDecode(dec, &d, Sharing()); err != nil {
		return nil, err
	}
	return d.checked()
}

// checked returns the Snapshot of a decoded document.
func (d *document) checked() (*Snapshot, error) {
	if d.APIVersion != APIVersion || d.Kind != Kind {
		return nil, fmt.Errorf("not a snapshot of %s: apiVersion %q, kind %q", APIVersion, d.APIVersion, d.Kind)
	}
	s := &d.Snapshot
	s.Gaps, s.Revisions, s.Nodes, s.Pods = orNil(s.Gaps), orNil(s.Revisions), orNil(s.Nodes), orNil(s.Pods)
	s.Events, s.PodDisruptionBudgets = orNil(s.Events), orNil(s.PodDisruptionBudgets)
	if o := s.OtherPods; o != nil {
		o.Nodes, o.Pods, o.Budgets = orNil(o.Nodes), orNil(o.Pods), orNil(o.Budgets)
	}
	if a := s.Admission; a != nil {
		a.PriorityClasses, a.RuntimeClasses, a.ServiceAccounts = orNil(a.PriorityClasses), orNil(a.RuntimeClasses),
			orNil(a.ServiceAccounts)
		a.ResourceQuotas, a.LimitRanges, a.Hooks = orNil(a.ResourceQuotas), orNil(a.LimitRanges), orNil(a.Hooks)
	}
	if r := s.References; r != nil {
		r.Objects = orNil(r.Objects)
		for i := range r.Objects {
			r.Objects[i].Keys, r.Objects[i].BinaryKeys = orNil(r.Objects[i].Keys), orNil(r.Objects[i].BinaryKeys)
		}
	}
	if v := s.Volumes; v != nil {
		v.Claims, v.Nodes, v.Drivers = orNil(v.Claims), orNil(v.Nodes), orNil(v.Drivers)
	}
	return s, Validate(s)
}

// Sharing returns options with which encoding/json/v2 decodes API objects as
// the API's own decoder does, or fails. Objects decoded with the same options
// share equal values. Do not modify them.
func Sharing() jsonv2.Options {
	words := &interner{held: map[string]string{}}
	within := jsonv2.JoinUnmarshalers(jsonv2.UnmarshalFromFunc(readTime), jsonv2.UnmarshalFromFunc(words.readLabels))
	alone := jsonv2.JoinOptions(jsonv2.RejectUnknownMembers(true), jsonv2.WithUnmarshalers(within))
	return jsonv2.JoinOptions(alone, jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(within,
		cached[corev1.ResourceList](alone), cached[[]corev1.Container](alone), cached[[]metav1.OwnerReference](alone),
		cached[[]corev1.Taint](alone),
		exactLists[corev1.Node](), exactLists[corev1.Pod](), exactLists[corev1.NodeCondition](),
		exactLists[corev1.PodCondition](),
		exactLists[corev1.ContainerStatus](),
	)))
}

// cached returns an unmarshaler for a type whose values are often equal, such as
// the containers of the pods of a revision. Equal values are decoded once.
func cached[T any](how jsonv2.Options) *jsonv2.Unmarshalers {
	return jsonv2.UnmarshalFromFunc((&textCache[T]{how: how}).read)
}

// textCache caches the values of the last few different texts.
type textCache[T any] struct {
	how jsonv2.Options

	sync.Mutex
	texts  [][]byte
	values []T
}

const mostAlike = 16

// read decodes a value, or copies the cached one if its text is cached.
func (a *textCache[T]) read(d *jsontext.Decoder, into *T) error {
	text, err := d.ReadValue()
	if err != nil {
		return err
	}
	a.Lock()
	defer a.Unlock()
	if known := slices.IndexFunc(a.texts, func(t []byte) bool { return bytes.Equal(t, text) }); known >= 0 {
		*into = a.values[known]
		return nil
	}
	if err := jsonv2.Unmarshal(text, into, a.how); err != nil {
		return err
	}
	if len(a.texts) == mostAlike {
		a.texts, a.values = a.texts[:mostAlike-1], a.values[:mostAlike-1]
	}
	a.texts, a.values = slices.Insert(a.texts, 0, bytes.Clone(text)), slices.Insert(a.values, 0, *into)
	return nil
}

// exactLists returns an unmarshaler for lists that allocates a list of the exact
// length, and does not copy the elements each time the list grows.
func exactLists[T any]() *jsonv2.Unmarshalers {
	const short, long = 16, 512 // of a part
	firsts := sync.Pool{New: func() any { return new([short]T) }}
	return jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, into *[]T) error {
		if d.PeekKind() != '[' {
			return errors.ErrUnsupported
		}
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		first := firsts.Get().(*[short]T)
		defer func() {
			clear(first[:])
			firsts.Put(first)
		}()
		part, before := first[:0], [][]T{}
		for d.PeekKind() != ']' {
			if len(part) == cap(part) {
				before, part = append(before, part), make([]T, 0, min(2*cap(part), long))
			}
			part = part[:len(part)+1]
			if err := jsonv2.UnmarshalDecode(d, &part[len(part)-1]); err != nil {
				return err
			}
		}
		*into = Joined(append(before, part)...)
		_, err := d.ReadToken()
		return err
	})
}

// Joined concatenates lists like [slices.Concat], but copies like [Append].
func Joined[T any](lists ...[]T) []T {
	size := 0
	for _, list := range lists {
		size += len(list)
	}
	all := make([]T, 0, size)
	for _, list := range lists {
		all = Append(all, list)
	}
	return all
}

// Append appends a list of large elements in small steps. The garbage collector
// can stop the goroutine only between steps, so one long copy would delay it.
func Append[T any](all, more []T) []T {
	const step = 32
	for some := range slices.Chunk(more, step) {
		all = appendStep(all, some)
	}
	return all
}

// appendStep must not be inlined: the call is where a goroutine can be stopped.
//
//go:noinline
func appendStep[T any](all, more []T) []T { return append(all, more...) }

// interner interns strings that many objects contain.
type interner struct {
	sync.Mutex
	held   map[string]string
	recent []labelPairs // the last few different ones that are short
}

// labelPairs is a decoded map, with its keys and values in the order of the
// text.
type labelPairs struct {
	pairs []string
	read  map[string]string
}

// of returns the string of a JSON value.
func (w *interner) of(quoted jsontext.Value) (string, error) {
	const most, longest = 10_000, 256 // frequent strings appear early
	if quoted.Kind() != '"' {
		return "", errors.ErrUnsupported
	}
	if bytes.IndexByte(quoted, '\\') >= 0 {
		text, err := jsontext.AppendUnquote(nil, quoted)
		return string(text), err
	}
	text := quoted[1 : len(quoted)-1]
	w.Lock()
	defer w.Unlock()
	known, is := w.held[string(text)]
	if !is {
		known = string(text)
		if len(w.held) < most && len(known) <= longest {
			w.held[known] = known
		}
	}
	return known, nil
}

// readLabels decodes a map of labels with the exact size, or returns a cached
// one.
func (w *interner) readLabels(d *jsontext.Decoder, into *map[string]string) error {
	if d.PeekKind() != '{' {
		return errors.ErrUnsupported
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	var room [32]string
	pairs := room[:0]
	for d.PeekKind() != '}' {
		quoted, err := d.ReadValue()
		if err != nil {
			return err
		}
		text, err := w.of(quoted)
		if err != nil {
			return err
		}
		pairs = append(pairs, text)
	}
	*into = w.mapOf(pairs)
	_, err := d.ReadToken()
	return err
}

// mapOf returns a map with the given keys and values. If it is short, an equal
// cached map is used; long maps, those of nodes, are never equal.
func (w *interner) mapOf(pairs []string) map[string]string {
	const longest = 2 * 8
	w.Lock()
	defer w.Unlock()
	if len(pairs) <= longest {
		same := func(l labelPairs) bool { return slices.Equal(l.pairs, pairs) }
		if known := slices.IndexFunc(w.recent, same); known >= 0 {
			return w.recent[known].read
		}
	}
	all := make(map[string]string, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	if len(pairs) <= longest {
		if len(w.recent) == mostAlike {
			w.recent = w.recent[:mostAlike-1]
		}
		w.recent = slices.Insert(w.recent, 0, labelPairs{slices.Clone(pairs), all})
	}
	return all
}

// readTime decodes a time as the API server writes it. The decoder of
// metav1.Time copies it twice.
func readTime(d *jsontext.Decoder, into *metav1.Time) error {
	if d.PeekKind() != '"' {
		return errors.ErrUnsupported
	}
	text, err := d.ReadToken()
	if err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339, text.String())
	into.Time = t.Local()
	return err
}
