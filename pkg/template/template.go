// Package template compares pod templates by content.
package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Content is a pod template as a ControllerRevision stores it, parsed into
// maps, lists, strings, booleans, nil, and json.Numbers.
type Content map[string]any

// Of returns the content that the controller would store for a template now. Up
// to 1.33 the controller writes a missing creationTimestamp as null, in the
// metadata of the template and of its volume claims; since 1.34 (#130989) it
// omits it. nullTime selects the former.
func Of(t *corev1.PodTemplateSpec, nullTime bool) (Content, error) {
	c, err := Parse(t)
	if err != nil {
		return nil, fmt.Errorf("encode the pod template: %w", err)
	}
	c["$patch"] = "replace"
	if nullTime {
		setNullTimes(c)
	}
	return c, nil
}

// setNullTimes sets a missing creationTimestamp to null in metadata at any
// depth. No other object in a template has that name.
func setNullTimes(v any) {
	switch v := v.(type) {
	case []any:
		for _, member := range v {
			setNullTimes(member)
		}
	case map[string]any:
		for key, inner := range v {
			metadata, ok := inner.(map[string]any)
			if _, set := metadata["creationTimestamp"]; ok && key == "metadata" && !set {
				metadata["creationTimestamp"] = nil
			}
			setNullTimes(inner)
		}
	}
}

// Stored returns the content in the data of a ControllerRevision of a
// DaemonSet.
func Stored(data []byte) (Content, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("data: empty")
	}
	var patch map[string]any
	if err := decode(data, &patch); err != nil {
		return nil, fmt.Errorf("data: %w", Misfit(err))
	}
	spec, _ := patch["spec"].(map[string]any)
	t, ok := spec["template"].(map[string]any)
	if !ok || len(patch) != 1 || len(spec) != 1 {
		return nil, fmt.Errorf("data: not a patch of spec.template alone")
	}
	return t, nil
}

// Fitting is Stored, but returns an error if the API types cannot decode the
// data.
func Fitting(data []byte) (Content, error) {
	c, err := Stored(data)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, new(appsv1.DaemonSet)); err != nil {
		return nil, fmt.Errorf("data: %w", Misfit(err))
	}
	return c, nil
}

// Known returns the content without fields that this program's API types do not
// list. It is for templates of a newer Kubernetes whose live form was decoded
// into those types.
func (c Content) Known(nullTime bool) (Content, error) {
	t, err := c.Typed()
	if err != nil {
		return nil, err
	}
	return Of(t, nullTime)
}

// Typed returns the content decoded into the API types, which drop unknown
// fields. It returns an error if the content is not a template.
func (c Content) Typed() (*corev1.PodTemplateSpec, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	t := new(corev1.PodTemplateSpec)
	return t, json.Unmarshal(raw, t)
}

// Patched returns a template patched with the data of a ControllerRevision, as
// kubectl rollout undo does. Like that command, Patched loses fields that the API types do not list.
// The API server sets defaults afterwards: see Default.
func Patched(live *corev1.PodTemplateSpec, data []byte) (*corev1.PodTemplateSpec, error) {
	if _, err := Fitting(data); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(&appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: *live}})
	if err != nil {
		return nil, err
	}
	if raw, err = patched(raw, data); err != nil {
		return nil, err
	}
	var ds appsv1.DaemonSet
	if err := json.Unmarshal(raw, &ds); err != nil {
		return nil, err
	}
	return &ds.Spec.Template, nil
}

// patched applies data to a DaemonSet as a patch. Its errors quote nothing,
// because those of the library contain list members with their values. It
// recovers from panics of the library on malformed data.
func patched(ds, data []byte) (out []byte, err error) {
	unfit := errors.New("data: cannot be laid over the template of the DaemonSet, as a rollback would")
	defer func() {
		if recover() != nil {
			err = unfit
		}
	}()
	if out, err = strategicpatch.StrategicMergePatch(ds, data, appsv1.DaemonSet{}); err != nil {
		return nil, unfit
	}
	return out, nil
}

// Within returns the fields of a DaemonSet with this content as its template.
func (c Content) Within(ds *appsv1.DaemonSet) (map[string]any, error) {
	object, err := Parse(ds)
	if err != nil {
		return nil, err
	}
	spec, _ := object["spec"].(map[string]any) // it is written even if it is empty
	spec["template"] = map[string]any(c)
	return object, nil
}

// Equal reports whether two contents are equal. The order of keys does not
// matter: the controller compares bytes, but writes keys in order.
func (c Content) Equal(other Content) bool { return reflect.DeepEqual(c, other) }
