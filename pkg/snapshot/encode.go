package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// document is the encoded form of a Snapshot.
type document struct {
	metav1.TypeMeta `json:",inline"`
	Snapshot        `json:",inline"`
}

// Encode returns the output of EncodeTo.
func Encode(s *Snapshot) ([]byte, error) {
	var b bytes.Buffer
	err := EncodeTo(&b, s)
	return b.Bytes(), err
}

// EncodeTo writes the Snapshot to w as one JSON document, without buffering it.
// Decode returns an equal Snapshot. Lists are never null. The format is that of
// encoding/json, except that invalid UTF-8 is written as U+FFFD without an
// escape. If a revision or managed fields are not valid JSON, EncodeTo writes
// nothing. It returns errors of w unchanged.
func EncodeTo(w io.Writer, s *Snapshot) error {
	d := documentOf(s)
	like := jsonv2.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false))
	first := d // the parts that may fail to encode, to fail before anything is written
	first.Nodes, first.Pods, first.OtherPods = nil, nil, nil
	if err := jsonv2.MarshalWrite(io.Discard, &first, like); err != nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	out := &errorRecorder{w: w}
	err := jsonv2.MarshalWrite(out, &d, like)
	if err == nil {
		_, err = out.Write([]byte{'\n'})
	}
	if err != nil && out.err == nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	return out.err
}

// errorRecorder records the error of its Writer.
type errorRecorder struct {
	w   io.Writer
	err error
}

func (f *errorRecorder) Write(p []byte) (n int, err error) {
	n, err = f.w.Write(p)
	f.err = err
	return n, err
}

// documentOf returns a document in which no list is null.
func documentOf(s *Snapshot) document {
	d := document{metav1.TypeMeta{APIVersion: APIVersion, Kind: Kind}, *s}
	d.TakenAt = s.TakenAt.UTC()
	d.Gaps, d.Revisions, d.Nodes, d.Pods = orEmpty(s.Gaps), orEmpty(s.Revisions), orEmpty(s.Nodes), orEmpty(s.Pods)
	d.Events, d.PodDisruptionBudgets = orEmpty(s.Events), orEmpty(s.PodDisruptionBudgets)
	if s.OtherPods != nil {
		o := *s.OtherPods
		o.Nodes, o.Pods, o.Budgets = orEmpty(o.Nodes), orEmpty(o.Pods), orEmpty(o.Budgets)
		d.OtherPods = &o
	}
	if s.Admission != nil {
		a := *s.Admission
		a.PriorityClasses, a.RuntimeClasses, a.ServiceAccounts = orEmpty(a.PriorityClasses), orEmpty(a.RuntimeClasses),
			orEmpty(a.ServiceAccounts)
		a.ResourceQuotas, a.LimitRanges, a.Hooks = orEmpty(a.ResourceQuotas), orEmpty(a.LimitRanges), orEmpty(a.Hooks)
		d.Admission = &a
	}
	if s.References != nil {
		d.References = &References{Objects: slices.Clone(orEmpty(s.References.Objects))}
		for i := range d.References.Objects {
			o := &d.References.Objects[i]
			o.Keys, o.BinaryKeys = orEmpty(o.Keys), orEmpty(o.BinaryKeys)
		}
	}
	if s.Volumes != nil {
		v := *s.Volumes
		v.Claims, v.Nodes, v.Drivers = orEmpty(v.Claims), orEmpty(v.Nodes), orEmpty(v.Drivers)
		d.Volumes = &v
	}
	return d
}

// Validate returns an error that names the field if the Snapshot lacks what
// every calculation needs: a DaemonSet with a name and a selector, a time, and
// names of all revisions, nodes and pods. Names of nodes and pods must be
// unique, and namespaces, if set, that of the DaemonSet. Rows of other pods
// also need a node.
func Validate(s *Snapshot) error {
	ds := s.DaemonSet
	switch {
	case ds == nil:
		return errors.New("daemonSet: missing")
	case ds.Name == "":
		return errors.New("daemonSet.metadata.name: missing")
	case ds.Spec.Selector == nil:
		return fmt.Errorf("daemonSet %s: spec.selector: missing", ds.Name)
	case s.TakenAt.IsZero():
		return errors.New("takenAt: missing")
	case s.EnvValues != "" && s.EnvValues != EnvDigest:
		return fmt.Errorf("envValues: %q is neither %q nor empty", s.EnvValues, EnvDigest)
	case s.Names != "" && s.Names != StandIns:
		return fmt.Errorf("names: %q is neither %q nor empty", s.Names, StandIns)
	}
	nodes := make(map[string]bool, len(s.Nodes))
	for i := range s.Nodes {
		name := s.Nodes[i].Name
		if name == "" {
			return fmt.Errorf("nodes[%d].metadata.name: missing", i)
		}
		if nodes[name] {
			return fmt.Errorf("nodes[%d].metadata.name: %q stands there twice", i, name)
		}
		nodes[name] = true
	}
	pods := make(map[string]bool, len(s.Pods))
	for i := range s.Pods {
		name := s.Pods[i].Name
		if name == "" {
			return fmt.Errorf("pods[%d].metadata.name: missing", i)
		}
		if s.Pods[i].Namespace != ds.Namespace {
			return fmt.Errorf("pods[%d].metadata.namespace: %q is not the DaemonSet's %q", i, s.Pods[i].Namespace,
				ds.Namespace)
		}
		if pods[name] {
			return fmt.Errorf("pods[%d].metadata.name: %q stands there twice", i, name)
		}
		pods[name] = true
	}
	for i := range s.Revisions {
		if s.Revisions[i].Name == "" {
			return fmt.Errorf("revisions[%d].metadata.name: missing", i)
		}
	}
	if o := s.OpenShift; o != nil && o.Namespace != nil && o.Namespace.Name != ds.Namespace {
		return fmt.Errorf("openShift.namespace.metadata.name: %q is not the DaemonSet's %q", o.Namespace.Name,
			ds.Namespace)
	}
	return validateRows(s.OtherPods)
}

func validateRows(o *OtherPods) error {
	if o == nil {
		return nil
	}
	rows := make(map[string]bool, len(o.Pods))
	for i := range o.Pods {
		row := &o.Pods[i]
		for _, f := range []struct{ name, value string }{{"namespace", row.Namespace}, {"name", row.Name},
			{"node", row.Node}} {
			if f.value == "" {
				return fmt.Errorf("otherPods.pods[%d].%s: missing", i, f.name)
			}
		}
		key := row.Namespace + "/" + row.Name
		if rows[key] {
			return fmt.Errorf("otherPods.pods[%d]: %q stands there twice", i, key)
		}
		rows[key] = true
	}
	return nil
}

// orEmpty returns l, or an empty list if it is nil, so that it encodes as [].
func orEmpty[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// orNil returns nil for an empty list, so that equal Snapshots are deeply equal.
func orNil[T any](l []T) []T {
	if len(l) == 0 {
		return nil
	}
	return l
}
