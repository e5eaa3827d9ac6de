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

// Decode reads what Encode wrote, and checks it with Validate. Empty lists
// come back as nil, as do lists that are not there. A field that it does not
// know is an error, since the answer could depend on it.
//
// What many objects have word for word in common they share: nobody may change it.
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

// DecodeFrom does what Decode does with the next value of a decoder that was made without options,
// and holds no more of the text than a part. It refuses some of what Decode reads, as a key that
// stands twice or in other capitals, and does not say what is wrong in the words of encoding/json:
// that is for Decode, with the same text.
func DecodeFrom(dec *jsontext.Decoder) (*Snapshot, error) {
	var d document
	if err := jsonv2.UnmarshalDecode(dec, &d, Sharing()); err != nil {
		return nil, err
	}
	return d.checked()
}

// checked returns the Snapshot of a document that was read.
func (d *document) checked() (*Snapshot, error) {
	if d.APIVersion != APIVersion || d.Kind != Kind {
		return nil, fmt.Errorf("not a snapshot of %s: apiVersion %q, kind %q", APIVersion, d.APIVersion, d.Kind)
	}
	s := &d.Snapshot
	s.Gaps, s.Revisions, s.Nodes, s.Pods = none(s.Gaps), none(s.Revisions), none(s.Nodes), none(s.Pods)
	s.Events, s.PodDisruptionBudgets = none(s.Events), none(s.PodDisruptionBudgets)
	if o := s.OtherPods; o != nil {
		o.Nodes, o.Pods, o.Budgets = none(o.Nodes), none(o.Pods), none(o.Budgets)
	}
	if a := s.Admission; a != nil {
		a.PriorityClasses, a.RuntimeClasses, a.ServiceAccounts = none(a.PriorityClasses), none(a.RuntimeClasses),
			none(a.ServiceAccounts)
		a.ResourceQuotas, a.LimitRanges, a.Hooks = none(a.ResourceQuotas), none(a.LimitRanges), none(a.Hooks)
	}
	if r := s.References; r != nil {
		r.Objects = none(r.Objects)
		for i := range r.Objects {
			r.Objects[i].Keys, r.Objects[i].BinaryKeys = none(r.Objects[i].Keys), none(r.Objects[i].BinaryKeys)
		}
	}
	if v := s.Volumes; v != nil {
		v.Claims, v.Nodes, v.Drivers = none(v.Claims), none(v.Nodes), none(v.Drivers)
	}
	return s, Validate(s)
}

// Sharing returns the options with which encoding/json/v2 reads objects of the API as the API's own
// decoder does, or refuses them. What is read with the same options shares what many objects have:
// nobody may change that.
func Sharing() jsonv2.Options {
	words := &words{held: map[string]string{}}
	within := jsonv2.JoinUnmarshalers(jsonv2.UnmarshalFromFunc(readTime), jsonv2.UnmarshalFromFunc(words.readLabels))
	alone := jsonv2.JoinOptions(jsonv2.RejectUnknownMembers(true), jsonv2.WithUnmarshalers(within))
	return jsonv2.JoinOptions(alone, jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(within,
		alike[corev1.ResourceList](alone), alike[[]corev1.Container](alone), alike[[]metav1.OwnerReference](alone),
		alike[[]corev1.Taint](alone),
		inParts[corev1.Node](), inParts[corev1.Pod](), inParts[corev1.NodeCondition](), inParts[corev1.PodCondition](),
		inParts[corev1.ContainerStatus](),
	)))
}

// alike reads values of a type, of which many objects have the same, such as the containers of the
// pods of a revision.
func alike[T any](how jsonv2.Options) *jsonv2.Unmarshalers {
	return jsonv2.UnmarshalFromFunc((&alikeTexts[T]{how: how}).read)
}

// alikeTexts are the last few different texts of values, with what they mean.
type alikeTexts[T any] struct {
	how jsonv2.Options

	sync.Mutex
	texts  [][]byte
	values []T
}

const mostAlike = 16

// read reads a value, unless its text is one of these: then the value is the same.
func (a *alikeTexts[T]) read(d *jsontext.Decoder, into *T) error {
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

// inParts reads a list into room for it and no more, and without copying what was read of it each
// time that there is more than that.
func inParts[T any]() *jsonv2.Unmarshalers {
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

// Joined returns lists as one, as [slices.Concat] does, but for how it copies: see [Append].
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

// Append appends a list of what is large, in steps between which the garbage collector can stop it. It
// waits for that, on a processor of its own, and the room for a long list is often what starts it.
func Append[T any](all, more []T) []T {
	const step = 32
	for some := range slices.Chunk(more, step) {
		all = appendStep(all, some)
	}
	return all
}

// appendStep is where a goroutine can be stopped: in a call, as long as that is not made part of its caller.
//
//go:noinline
func appendStep[T any](all, more []T) []T { return append(all, more...) }

// words are texts that many objects have, each held once.
type words struct {
	sync.Mutex
	held   map[string]string
	recent []pairedLabels // the last few different ones that are short
}

// pairedLabels are the keys and values of a map, each key before its value, as they were read.
type pairedLabels struct {
	pairs []string
	read  map[string]string
}

// of returns the text that JSON is.
func (w *words) of(quoted jsontext.Value) (string, error) {
	const most, longest = 10_000, 256 // those that many have come early
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

// readLabels reads labels into a map that has room for them and no more, or is one that was read before.
func (w *words) readLabels(d *jsontext.Decoder, into *map[string]string) error {
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

// mapOf returns a map of keys and values: one that was read before, if it is short and has the same.
// Nobody has the long ones, of nodes, in common.
func (w *words) mapOf(pairs []string) map[string]string {
	const longest = 2 * 8
	w.Lock()
	defer w.Unlock()
	if len(pairs) <= longest {
		same := func(l pairedLabels) bool { return slices.Equal(l.pairs, pairs) }
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
		w.recent = slices.Insert(w.recent, 0, pairedLabels{slices.Clone(pairs), all})
	}
	return all
}

// readTime reads a time as the API server writes it, of which metav1.Time makes two copies.
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
