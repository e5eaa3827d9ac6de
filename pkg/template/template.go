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

// Content is a pod template as a ControllerRevision stores it, parsed: maps,
// lists, strings, booleans, nil, and numbers as they are written.
type Content map[string]any

// Of returns the content that the controller would store for a template now.
// Up to 1.33 the controller wrote a creationTimestamp that is not set as null, in
// the template's metadata and in those of volume claims within it; from 1.34 on
// (#130989) it leaves it out. nullTime asks for the former.
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

// setNullTimes writes null if metadata has no creationTimestamp. A template
// has nothing else of that name that is an object.
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

// Stored returns the content that a ControllerRevision of a DaemonSet holds in
// data.
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

// Fitting is Stored, where the API types can read the data too; it fails where they
// cannot.
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

// Known returns the content without what this program's API types do not
// know. It is for templates of a Kubernetes that is newer than they are, whose
// live form was read through those types.
func (c Content) Known(nullTime bool) (Content, error) {
	t, err := c.Typed()
	if err != nil {
		return nil, err
	}
	return Of(t, nullTime)
}

// Typed returns the content as the API types have it, which drop what they do not
// know. It fails where the content is no template to them.
func (c Content) Typed() (*corev1.PodTemplateSpec, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	t := new(corev1.PodTemplateSpec)
	return t, json.Unmarshal(raw, t)
}

// Patched returns a template with the data of a ControllerRevision laid over it,
// as kubectl rollout undo does. What this program's API types do not know is
// lost, there as here. What comes to a DaemonSet this way, the API server defaults:
// see Default.
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

// patched lays data over a DaemonSet. Its errors quote nothing: those of the
// library hold whole members of lists, values included, and some odd data makes
// it panic.
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

// Within returns the fields of a DaemonSet that has this content as its template.
func (c Content) Within(ds *appsv1.DaemonSet) (map[string]any, error) {
	object, err := Parse(ds)
	if err != nil {
		return nil, err
	}
	spec, _ := object["spec"].(map[string]any) // which is written even if it is empty
	spec["template"] = map[string]any(c)
	return object, nil
}

// Equal reports whether two contents are the same, but for the order of keys:
// the controller compares bytes, and writes keys in order.
func (c Content) Equal(other Content) bool { return reflect.DeepEqual(c, other) }
