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

	"github.com/kubectl-ds/kubectl-ds/internal/intern"
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
	if err := jsonv2.UnmarshalDecode(dec, &d, Sharing(nil)); err != nil {
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
//
// If then is not nil, Sharing applies it to the containers of a pod before pods
// share them. Use [StripContainers] for pods that you strip.
func Sharing(then func([]corev1.Container) []corev1.Container) jsonv2.Options {
	within := jsonv2.JoinUnmarshalers(jsonv2.UnmarshalFromFunc(readTime), cachedLabels())
	alone := jsonv2.JoinOptions(jsonv2.RejectUnknownMembers(true), jsonv2.WithUnmarshalers(within))
	return jsonv2.JoinOptions(alone, jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(within,
		cached[corev1.ResourceList](alone, nil), cached(alone, then), cached[[]metav1.OwnerReference](alone, nil),
		cached[[]corev1.Taint](alone, nil),
		exactLists[corev1.Node](), exactLists[corev1.Pod](), exactLists[corev1.NodeCondition](),
		exactLists[corev1.PodCondition](),
		exactLists[corev1.ContainerStatus](),
	)))
}

// cached returns an unmarshaler for a type whose values are often equal, such as
// the containers of the pods of a revision. Equal values are decoded once. If
// then is not nil, cached applies it to each value before objects share it.
func cached[T any](how jsonv2.Options, then func(T) T) *jsonv2.Unmarshalers {
	var values intern.Cache[T]
	return jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, into *T) error {
		text, err := d.ReadValue()
		if err != nil {
			return err
		}
		*into, err = values.Of(text, func() (v T, err error) {
			if err = jsonv2.Unmarshal(text, &v, how); err == nil && then != nil {
				v = then(v)
			}
			return v, err
		})
		return err
	})
}

// cachedLabels returns an unmarshaler for maps of strings. Objects share short
// maps. Long maps, those of nodes, are never equal and share only their strings.
func cachedLabels() *jsonv2.Unmarshalers {
	const short = 512 // bytes
	var values intern.Cache[map[string]string]
	return jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, into *map[string]string) error {
		if d.PeekKind() != '{' {
			return errors.ErrUnsupported
		}
		text, err := d.ReadValue()
		switch {
		case err != nil:
			return err
		case len(text) > short:
			*into, err = decodeLabels(text)
		default:
			*into, err = values.Of(text, func() (map[string]string, error) { return decodeLabels(text) })
		}
		return err
	})
}

// decodeLabels decodes a map of the exact size.
func decodeLabels(text jsontext.Value) (map[string]string, error) {
	var read map[string]string
	err := jsonv2.Unmarshal(text, &read)
	all := make(map[string]string, len(read))
	for key, value := range read {
		intern.Text(&key)
		intern.Text(&value)
		all[key] = value
	}
	return all, err
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

// readTime decodes a time as the API server writes it. The decoder of metav1.Time copies it twice.
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
