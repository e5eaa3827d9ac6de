package template

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Place describes the location of a field in words, from the innermost part
// outward.
type Place struct {
	Parts     []Part // none for the template itself
	Container string // the container or init container with the field; empty if there is none
	Outside   bool   // a label or annotation of the DaemonSet, not of its pods
}

// Part is one part of a Place. List is the field that contains it, Name its
// name there; for a PartField, Name has all fields on the way.
type Part struct {
	Kind PartKind
	List string
	Name []string
}

// PartKind is the kind of a Part.
type PartKind int

const (
	PartField   PartKind = iota // a field, with the fields that lead to it
	PartMember                  // a member of a list
	PartKey                     // a label, an annotation, or a key of the node selector
	PartLimit                   // a limit of a resource
	PartRequest                 // a request of a resource
	PartOrder                   // the order of a list
)

// partOfKey are the fields whose keys are parts.
var partOfKey = map[string]PartKind{"labels": PartKey, "annotations": PartKey, "nodeSelector": PartKey,
	"limits": PartLimit, "requests": PartRequest}

// Place returns the Place of a path in a DaemonSet.
func (p Path) Place() Place {
	var out Place
	rest, inside := p.Below(At)
	if !inside {
		rest = p
	}
	if len(rest) > 1 && rest[0].Name == "spec" {
		rest = rest[1:]
	}
	var way []string // names of fields
	add := func(kind PartKind, list string, name ...string) {
		out.Parts, way = append([]Part{{kind, list, name}}, out.Parts...), nil
	}
	for i, step := range rest {
		field := ""
		if len(way) > 0 {
			field = way[len(way)-1]
		}
		of, isKey := partOfKey[field]
		switch {
		case step.Kind == Order:
			add(PartOrder, field)
		case step.Kind == Member && i == 1 && len(rest) > 2 && isContainerList(field):
			out.Container, way = step.Value, nil
		case step.Kind == Member:
			add(PartMember, field, step.Value)
		case isKey:
			add(of, field, step.Name)
			out.Outside = out.Outside || of == PartKey && !inside
		default:
			way = append(way, step.Name)
		}
	}
	if len(way) > 0 {
		add(PartField, "", way...)
	}
	return out
}

func isContainerList(field string) bool { return field == "containers" || field == "initContainers" }

// What returns the kind of field that a path in a DaemonSet leads to.
func (p Path) What() What {
	rest, in := p.inContainer()
	switch {
	case p.Last().Kind == Order:
		return WhatOrder
	case in && len(rest) == 0:
		return WhatContainer
	case in && rest.Equal(Fields("image")):
		return WhatImage
	case p.Equal(At.With(Fields("spec", "tolerations")...)):
		return WhatTolerations
	}
	return WhatElse
}

// What is a kind of field, in the order of interest: what runs, where it runs,
// everything else, and the order of lists.
type What int

const (
	WhatContainer   What = iota // a container as a whole
	WhatImage                   // the image of a container
	WhatTolerations             // the tolerations of the pods
	WhatElse                    // any other field
	WhatOrder                   // the order of a list
)

// inContainer returns the steps after a container of the template, and reports
// whether the path leads to or into one.
func (p Path) inContainer() (rest Path, in bool) {
	below, _ := p.Below(At)
	if len(below) < 3 || !isContainerList(below[1].Name) || below[2].Kind != Member {
		return nil, false
	}
	return below[3:], true
}

// Member returns the path of the first list member, other than a container,
// that the path leads into. If there is none, it returns p and false.
func (p Path) Member() (member Path, within bool) {
	for i := 1; i < len(p); i++ {
		if p[i-1].Kind == Member && p[:i].What() != WhatContainer {
			return p[:i], true
		}
	}
	return p, false
}

// Shows reports whether a value of a Difference is worth showing: it is
// present, and not a secret hidden as a whole. The value of an environment
// variable or of an annotation of the DaemonSet is not worth showing if any
// part of it is hidden.
func (d *Difference) Shows(v Value) bool {
	text, isText := v.Text()
	rest, _ := d.Path.inContainer()
	_, isAnnotation := d.Path.Below(Fields("metadata", "annotations"))
	isVariable := len(rest) >= 2 && rest[0].Name == "env" && rest[1].Kind == Member
	return !v.Absent() && !(d.Hidden && (isAnnotation || isVariable || isText && text == Hidden))
}

// Selects returns the key and the value of the nodeSelector entry that is added
// or removed. The value is absent for any other difference.
func (d *Difference) Selects() (key string, value Value) {
	parts := d.Path.Place().Parts
	switch {
	case len(parts) != 1 || parts[0].Kind != PartKey || parts[0].List != "nodeSelector" ||
		d.Old.Absent() == d.New.Absent():
		return "", Value{}
	case d.New.Absent():
		return parts[0].Name[0], d.Old
	}
	return parts[0].Name[0], d.New
}

// Images returns the old and the new image of a Difference, without their
// repository if it is the same.
func (d *Difference) Images() (old, new Image) {
	before, _ := d.Old.Text()
	after, _ := d.New.Text()
	if old, new = ParseImage(before), ParseImage(after); old.Repository == new.Repository {
		old.Repository, new.Repository = "", ""
	}
	return old, new
}

// Shared returns the members that both lists have, in the order of each.
func (d *Difference) Shared() (old, new []Value) {
	kept := func(of, both []Value) []Value {
		return slices.DeleteFunc(of, func(m Value) bool { return !slices.ContainsFunc(both, m.Equal) })
	}
	return kept(d.Old.List(), d.New.List()), kept(d.New.List(), d.Old.List())
}

// memberKeys are the keys of the members of lists that are often added or
// removed whole.
var memberKeys = map[string]string{"env": "name", "volumes": "name", "imagePullSecrets": "name",
	"volumeMounts": "mountPath", "ports": "containerPort"}

// Members returns the keys of the members of a list that is added or removed as
// a whole, or nil for any other difference.
func (d *Difference) Members() (keys []string) {
	key := memberKeys[d.Path.Last().Name]
	if key == "" || d.Old.Absent() == d.New.Absent() {
		return nil
	}
	for _, v := range append(d.Old.List(), d.New.List()...) {
		if object, isObject := v.Any().(map[string]any); isObject {
			keys = append(keys, fmt.Sprint(object[key]))
		}
	}
	return keys
}

// List returns the members of a list, or nil for a value that is not a list.
func (v Value) List() (members []Value) {
	list, isList := v.of.([]any)
	if isList {
		members = []Value{}
	}
	for _, m := range list {
		members = append(members, ValueOf(m))
	}
	return members
}

// Tolerations returns a list of tolerations, or nil for any other value.
func (v Value) Tolerations() (all []corev1.Toleration) {
	if v.List() == nil || json.Unmarshal([]byte(v.String()), &all) != nil {
		return nil
	}
	return all
}
