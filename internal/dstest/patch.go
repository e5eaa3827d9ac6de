package dstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Patch applies a JSON merge patch (RFC 7386) to an object: "daemonset", "nodes/n0", "pods/p0",
// "revisions/agent-old", or "snapshot" for the encoded Snapshot. It applies after all preceding
// options. The patch null removes a node, a pod or a revision.
//
// As with DaemonSet, the current revision stores the patched template. The data of a revision are
// replaced as a whole. An unknown field is an error.
func Patch(object, patch string) Option {
	kind, name, _ := strings.Cut(object, "/")
	last := func(apply func(*snapshot.Snapshot) error) Option {
		return Option{last: func(s *snapshot.Snapshot) error {
			if err := apply(s); err != nil {
				return fmt.Errorf("patch of %s: %w", object, err)
			}
			return nil
		}}
	}
	switch {
	case object == "daemonset":
		return Option{first: func(s *snapshot.Snapshot) error {
			if err := patched(s.DaemonSet, patch); err != nil {
				return fmt.Errorf("patch of %s: %w", object, err)
			}
			return nil
		}}
	case object == "snapshot":
		return last(func(s *snapshot.Snapshot) error { return patchSnapshot(s, patch) })
	case kind == "nodes":
		return last(func(s *snapshot.Snapshot) error { return patchNamed(&s.Nodes, name, patch) })
	case kind == "pods":
		return last(func(s *snapshot.Snapshot) error { return patchNamed(&s.Pods, name, patch) })
	case kind == "revisions":
		return last(func(s *snapshot.Snapshot) error { return patchNamed(&s.Revisions, name, patch) })
	}
	return last(func(*snapshot.Snapshot) error {
		return fmt.Errorf("it is none of daemonset, snapshot, nodes/, pods/ and revisions/")
	})
}

// AddPod adds an old pod that the DaemonSet owns, but that is not bound and has no affinity to a
// node.
func AddPod(name string) Option {
	return Option{last: func(s *snapshot.Snapshot) error {
		p := newPod(name, "", OldHash, OldGeneration)
		p.Spec.Affinity = nil
		s.Pods = append(s.Pods, p)
		return nil
	}}
}

func patchNamed[T any, P interface {
	*T
	metav1.Object
}](list *[]T, name, patch string) error {
	for i := range *list {
		switch o := &(*list)[i]; {
		case P(o).GetName() != name:
		case strings.TrimSpace(patch) == "null":
			*list = slices.Delete(*list, i, i+1)
			return nil
		default:
			return patched(o, patch)
		}
	}
	return fmt.Errorf("there is none")
}

func patchSnapshot(s *snapshot.Snapshot, patch string) error {
	raw, err := snapshot.Encode(s)
	if err != nil {
		return err
	}
	var whole, part map[string]json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(patch), &part); err != nil {
		return err
	}
	for key, value := range part { // lists and plain values are replaced as a whole
		whole[key] = value
	}
	if raw, err = json.Marshal(whole); err != nil {
		return err
	}
	changed, err := snapshot.Decode(raw)
	if err != nil {
		return err
	}
	*s = *changed
	return nil
}

// patched applies a merge patch to an object in place.
func patched[T any](o *T, patch string) error {
	change, err := tree([]byte(patch))
	if err != nil {
		return err
	}
	before, data, err := split(o)
	if err != nil {
		return err
	}
	if _, there := change["data"]; there {
		var verbatim struct{ Data json.RawMessage }
		if err := json.Unmarshal([]byte(patch), &verbatim); err != nil {
			return err
		}
		delete(change, "data")
		if data = verbatim.Data; string(data) == "null" {
			data = nil
		}
	}
	raw, err := json.Marshal(merge(before, change))
	if err != nil {
		return err
	}
	var after T
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&after); err != nil {
		return err
	}
	*o = after
	setData(o, data)
	return nil
}

// split returns an object as a JSON tree. It returns the data of a revision separately, because a
// tree would not preserve their bytes.
func split(o any) (object map[string]any, data []byte, err error) {
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, nil, err
	}
	if object, err = tree(raw); err != nil {
		return nil, nil, err
	}
	delete(object, "data")
	return object, dataOf(o), nil
}

func dataOf(o any) []byte {
	if r, ok := o.(*appsv1.ControllerRevision); ok {
		return r.Data.Raw
	}
	return nil
}

func setData(o any, data []byte) {
	if r, ok := o.(*appsv1.ControllerRevision); ok {
		r.Data.Raw = data
	}
}

// Rename renames nodes and pods simultaneously, given pairs of old and new names. It replaces every
// field whose value is the name, and the UID of a pod. Options after it must use the new names.
func Rename(pairs ...string) Option {
	return Option{last: func(s *snapshot.Snapshot) error {
		if len(pairs)%2 > 0 {
			return fmt.Errorf("rename: %q has no new name", pairs[len(pairs)-1])
		}
		renamed, err := rename(s, pairs)
		if err != nil {
			return fmt.Errorf("rename: %w", err)
		}
		*s = *renamed
		return nil
	}}
}

func rename(s *snapshot.Snapshot, pairs []string) (*snapshot.Snapshot, error) {
	raw, err := snapshot.Encode(s)
	if err != nil {
		return nil, err
	}
	var texts []string
	for i, name := range pairs {
		texts = append(texts, strconv.Quote(name))
		if i%2 == 1 {
			texts = append(texts, strconv.Quote("pod-"+pairs[i-1]), strconv.Quote("pod-"+name))
		}
	}
	return snapshot.Decode([]byte(strings.NewReplacer(texts...).Replace(string(raw))))
}

// tree parses JSON without converting numbers.
func tree(raw []byte) (map[string]any, error) {
	var t map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&t); err != nil {
		return nil, err
	}
	return t, nil
}

// merge applies a merge patch. It may modify its arguments.
func merge(to, patch map[string]any) map[string]any {
	if to == nil {
		to = map[string]any{}
	}
	for key, value := range patch {
		part, isTree := value.(map[string]any)
		switch {
		case value == nil:
			delete(to, key)
		case isTree:
			of, _ := to[key].(map[string]any)
			to[key] = merge(of, part)
		default:
			to[key] = value
		}
	}
	return to
}
