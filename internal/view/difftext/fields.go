// Package difftext describes the differences of two pod templates or texts. Its functions take the fields that differ,
// and return a line for each of them.
package difftext

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Style selects how differences are described.
type Style struct {
	All   bool // show complete values
	Brief bool // describe a list by its added, removed and changed members, and show only short values
	Cell  bool // in a table: name a container without the word "container"
	Alone bool // there is only one container, so only its image needs a name
}

// fieldLine describes how a field differs. If the field differs in the same way in several containers, it names them
// all.
type fieldLine struct {
	name, how, note string
	containers      []string
	what            template.What
}

// Lines returns a line for each difference. The optional about returns more facts about the field with that index.
func (s Style) Lines(fields []template.Difference, about func(i int) []string) []string {
	var all []fieldLine
	for i := range fields {
		l := s.line(&fields[i])
		var known []string
		if about != nil {
			known = about(i)
		}
		l.note = wording.InBrackets(append(known, l.note)...)
		at := slices.IndexFunc(all, func(o fieldLine) bool {
			return o.name == l.name && o.how == l.how &&
				o.note == l.note
		})
		switch {
		case at < 0:
			all = append(all, l)
		case len(l.containers) > 0 && !slices.Contains(all[at].containers, l.containers[0]):
			all[at].containers = append(all[at].containers, l.containers[0])
		}
	}
	slices.SortStableFunc(all, func(a, b fieldLine) int { return cmp.Compare(a.what, b.what) })
	var lines []string
	for _, l := range all {
		of := " of "
		switch n := len(l.containers); {
		case n == 0, s.Alone && l.what > template.WhatImage:
			of = ""
		case n > 3:
			of += fmt.Sprintf("%d containers (%s)", n, wording.SomeNames(l.containers))
		case s.Cell:
			of += strings.Join(l.containers, ", ")
		default:
			of += wording.PluralOf(n, "container ", "containers ") + strings.Join(l.containers, ", ")
		}
		lines = append(lines, screen.Clean(l.name+of)+l.how+l.note)
	}
	return lines
}

func (s Style) line(d *template.Difference) fieldLine {
	path, within := d.Path, false
	if s.Brief {
		path, within = d.Path.Member()
	}
	name, container := fieldName(path)
	l := fieldLine{name: name, how: " changed", what: d.Path.What()}
	if container != "" {
		l.containers = []string{container}
	}
	if members := d.Members(); s.Brief && len(members) > 0 {
		l.name = cmp.Or(nouns[name], name) + " " + wording.SomeNames(members)
	}
	if !within && !(s.Brief && l.what == template.WhatOrder) {
		l.how, l.note = s.describe(d)
	}
	if key, value := d.Selects(); key != "" && !s.Brief { // as kubectl and the flags show it
		l.name, l.how = "nodeSelector",
			map[bool]string{true: " added: ",
				false: " removed: "}[d.Old.Absent()]+screen.Clean(key)+"="+s.shown(d, value)
	}
	return l
}

// describe describes the difference. For a hidden value, the note says that it is hidden.
func (s Style) describe(d *template.Difference) (how, note string) {
	old, new := s.shown(d, d.Old), s.shown(d, d.New)
	if d.Hidden && !s.Brief {
		note = "literal values are hidden; --show-values shows them"
		if old+new == "" {
			note = "value hidden; --show-values shows it"
		}
	}
	if s.Brief && d.New.Absent() {
		old = ""
	}
	switch {
	case d.Old.Absent():
		return " added" + wording.WithPrefix(": ", new), note
	case d.New.Absent():
		return " removed" + wording.WithPrefix(", was ", old), note
	case old == "" || new == "" || d.Old.Equal(d.New):
		return " changed", note
	}
	before, after := s.Sides(d)
	return ": " + before + " -> " + after, note
}

// shown formats one value. It returns "" if the value is hidden, or too long for the brief style.
func (s Style) shown(d *template.Difference, v template.Value) string {
	const few = 30
	text, _ := v.Text()
	object, isObject := v.Any().(map[string]any)
	isList := v.List() != nil
	switch what := d.Path.What(); {
	case !d.Shows(v), d.Hidden && s.Brief:
		return ""
	case what == template.WhatImage:
		return imageText(text)
	case s.Brief && (isObject || isList || screen.Width(Written(v, asRead)) > few):
		return ""
	case what == template.WhatTolerations && isList:
		words := tolerationWords(v)
		if i := slices.Index(words, "*"); i >= 0 {
			words[i] = "* (every taint)"
		}
		_, whole := s.shortenPair(nil, words, ", ")
		return whole
	case isList && !s.All:
		_, whole := s.twoLists(template.Value{}, v)
		return whole
	case what == template.WhatContainer && !s.All:
		image, _ := object["image"].(string)
		return "image " + imageText(image) + ", …"
	}
	return s.shorten(Written(v, asRead))
}

// Sides formats both values so that a reader can distinguish them.
func (s Style) Sides(d *template.Difference) (before, after string) {
	switch what := d.Path.What(); {
	case what == template.WhatOrder:
		old, new := d.Shared()
		return s.shortenPair(membersIn(old, asRead), membersIn(new, asRead), ", ")
	case what == template.WhatTolerations:
		if a, b := tolerationWords(d.Old), tolerationWords(d.New); !slices.Equal(a, b) {
			return s.shortenPair(a, b, ", ")
		}
	case what == template.WhatImage && (s.Brief || !s.All):
		a, b := d.Images()
		if one, other := ImageWords(a), ImageWords(b); one != other {
			return distinctPair(template.ValueOf(one), template.ValueOf(other))
		}
	}
	return s.apart(d.Old, d.New)
}

// ImageWords formats a reference to an image or a part of one. It returns "(no tag)" if nothing is left of it.
func ImageWords(i template.Image) string { return cmp.Or(i.Short(), "(no tag)") }

// imageText formats an image without comparing it to another one.
func imageText(reference string) string {
	return Written(template.ValueOf(ImageWords(template.ParseImage(reference))), asRead)
}

// nouns has the singular for members of lists and keys of maps whose name differs from the field's name.
var nouns = map[string]string{
	"volumes": "volume", "volumeMounts": "volumeMount", "volumeDevices": "volumeDevice", "ports": "port",
	"containers":     "container",
	"initContainers": "init container", "imagePullSecrets": "imagePullSecret", "hostAliases": "hostAlias",
	"topologySpreadConstraints": "topologySpreadConstraint", "labels": "label", "annotations": "annotation",
}

// placeWords formats a part of a path from three values: the singular of the list, the name in it, and the list.
var placeWords = map[template.PartKind]string{
	template.PartField: "%[2]s", template.PartMember: "%[1]s %[2]s", template.PartKey: "%[1]s %[2]s",
	template.PartLimit: "%[2]s limit", template.PartRequest: "%[2]s request", template.PartOrder: "order of %[3]s",
}

// fieldName returns a readable name for a field, such as "memory limit" or "readOnly of volumeMount /data", and the
// container that has the field.
func fieldName(path template.Path) (name, container string) {
	place := path.Place()
	var parts []string
	for _, p := range place.Parts {
		parts = append(parts, fmt.Sprintf(placeWords[p.Kind], cmp.Or(nouns[p.List], p.List),
			strings.Join(p.Name, "."), p.List))
	}
	if place.Outside {
		parts = append(parts, "the DaemonSet")
	}
	return cmp.Or(strings.Join(parts, " of "), "the template"), place.Container
}

// tolerationWords formats tolerations in the format of --toleration. It returns nil for a value that has none.
func tolerationWords(v template.Value) (all []string) {
	for _, t := range v.Tolerations() {
		words, value := cmp.Or(screen.Clean(t.Key), "*"), screen.Clean(t.Value)
		switch operator := cmp.Or(t.Operator, corev1.TolerationOpEqual); operator {
		case corev1.TolerationOpExists:
		case corev1.TolerationOpEqual:
			words += "=" + value
		default:
			words += " " + string(operator) + wording.WithPrefix(" ", value)
		}
		words += wording.WithPrefix(":", screen.Clean(string(t.Effect)))
		if t.TolerationSeconds != nil {
			words += fmt.Sprintf(" for %d s", *t.TolerationSeconds)
		}
		all = append(all, words)
	}
	return all
}

// FirstLines returns the first lines, up to most, and a line with the number of the others.
func FirstLines(lines []string, most int, what string, style wording.Style) []string {
	if more := len(lines) - most; more > 1 && !style.All {
		return append(lines[:most:most], wording.Plural(more, what)+" with --all")
	}
	return lines
}

// ChangeLines describes what differs between two revisions: first the fields that a user set, then defaults and
// restarts.
func (s Style) ChangeLines(changes []history.FieldChange) []string {
	lines := s.Lines(history.Differences(changes, history.FieldSet), nil)
	if history.OnlyMetadata(changes) {
		lines[0] = "metadata only: " + lines[0]
	}
	defaults, restarted := history.Differences(changes, history.FieldDefault),
		len(history.Differences(changes, history.FieldRestart)) > 0
	switch {
	case len(defaults) > 0 && len(lines) == 0 && !restarted:
		var names []string
		for i := range defaults {
			name, _ := fieldName(defaults[i].Path)
			names = append(names, name)
		}
		slices.Sort(names)
		return []string{"API defaults only: " + wording.SomeNames(slices.Compact(names))}
	case restarted && len(changes) == 1:
		return []string{"kubectl rollout restart, nothing else"}
	case len(defaults) > 0:
		lines = append(lines, wording.Plural(len(defaults), "API default"))
	}
	if restarted {
		lines = append(lines, "kubectl rollout restart")
	}
	return lines
}

// TouchedWords names the fields that a revision changed, or one of them and the number of the others if there are more
// than two.
func TouchedWords(paths []template.Path) string {
	var names []string
	for _, p := range paths {
		member, _ := p.Member()
		name, container := fieldName(member)
		if container != "" {
			name += " of container " + container
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 2 {
		names = append(names[:1], wording.Plural(len(names)-1, "more field"))
	}
	return screen.Clean(strings.Join(names, " and "))
}
