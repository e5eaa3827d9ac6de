package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// fieldStyle is how fields that differ are told.
type fieldStyle struct {
	all   bool // whole values
	brief bool // in few words: what is in a list comes, goes or has changed, and only short values are shown
	cell  bool // in a table: a container is told by its name alone
	alone bool // there is one container, of which only its image is said to be
}

// fieldLine says how one field differs, or one of several containers that differs
// alike in all of them.
type fieldLine struct {
	what, how  string
	containers []string
	rank       int // what runs comes first, orders last
}

// lines says what differs, a line each. about adds what else is known of one.
func (s fieldStyle) lines(fields []template.Difference, about func(i int) []string) []string {
	var all []fieldLine
	for i := range fields {
		l := s.line(&fields[i])
		if about != nil {
			l.how += inBrackets(about(i)...)
		}
		at := slices.IndexFunc(all, func(o fieldLine) bool { return o.what == l.what && o.how == l.how })
		switch {
		case at < 0:
			all = append(all, l)
		case len(l.containers) > 0 && !slices.Contains(all[at].containers, l.containers[0]):
			all[at].containers = append(all[at].containers, l.containers[0])
		}
	}
	slices.SortStableFunc(all, func(a, b fieldLine) int { return cmp.Compare(a.rank, b.rank) })
	var lines []string
	for _, l := range all {
		of := ""
		switch n := len(l.containers); {
		case n == 0, s.alone && l.rank > 0:
		case n <= 3 && s.cell:
			of = " of " + strings.Join(l.containers, ", ")
		case n == 1:
			of = " of container " + l.containers[0]
		case n <= 3:
			of = " of containers " + strings.Join(l.containers, ", ")
		default:
			of = fmt.Sprintf(" of %d containers (%s)", n, someNames(l.containers))
		}
		lines = append(lines, clean(l.what+of)+l.how)
	}
	return lines
}

func (s fieldStyle) line(d *template.Difference) fieldLine {
	path, within := d.Path, false
	if s.brief {
		path, within = memberOf(d.Path)
	}
	what, container := fieldName(path)
	l := fieldLine{what: what, rank: 1}
	if container != "" {
		l.containers = []string{container}
	}
	isOrder, isImage := d.Path.Last().Kind == template.Order, isImage(d.Path)
	switch {
	case isImage, isContainer(d.Path):
		l.rank = 0
	case isOrder:
		l.rank = 2
	}
	if members := membersOf(d); s.brief && len(members) > 0 {
		l.what = cmp.Or(nouns[what], what) + " " + someNames(members)
	}
	if l.how = " changed"; !within && !(s.brief && isOrder) {
		l.how = s.how(d)
	}
	return l
}

// how says in which way a field differs. Of a value that is hidden there is only that.
func (s fieldStyle) how(d *template.Difference) string {
	old, new := s.shown(d, d.Old), s.shown(d, d.New)
	note := ""
	switch {
	case !d.Hidden || s.brief:
	case old == "" && new == "":
		note = " (its value is hidden; --show-values)"
	default:
		note = " (literal values are hidden; --show-values)"
	}
	switch {
	case d.Old.Absent() && new == "":
		return " added" + note
	case d.Old.Absent():
		return " added: " + new + note
	case d.New.Absent() && (old == "" || s.brief):
		return " removed" + note
	case d.New.Absent():
		return " removed, was " + old + note
	case old == "" || new == "" || d.Old.Equal(d.New):
		return " changed" + note
	}
	before, after := s.sides(d)
	return ": " + before + " -> " + after + note
}

// shown writes one value; empty where it is hidden, or too long for few words.
func (s fieldStyle) shown(d *template.Difference, v template.Value) string {
	const few = 30
	text, isText := v.Text()
	object, isObject := v.Any().(map[string]any)
	_, isList := v.Any().([]any)
	switch {
	case v.Absent(), d.Hidden && (s.brief || isText && text == template.Hidden || isVariable(d.Path)):
		return ""
	case isImage(d.Path):
		return imageText(text)
	case s.brief && (isObject || isList || screen.Width(written(v, asRead)) > few):
		return ""
	case isTolerations(d.Path) && isList:
		_, whole := s.two(nil, tolerationWords(v), ", ")
		return whole
	case isList && !s.all:
		_, whole := s.twoLists(nil, elements(v))
		return whole
	case isContainer(d.Path) && !s.all:
		image, _ := object["image"].(string)
		return "image " + imageText(image) + ", …"
	}
	return s.shorten(written(v, asRead))
}

// sides writes two values so that they are told apart.
func (s fieldStyle) sides(d *template.Difference) (before, after string) {
	old, _ := d.Old.Text()
	new, _ := d.New.Text()
	switch {
	case d.Path.Last().Kind == template.Order: // of what both lists have
		one, other := members(d.Old), members(d.New)
		kept := func(of, both []string) []string {
			return slices.DeleteFunc(slices.Clone(of), func(m string) bool { return !slices.Contains(both, m) })
		}
		return s.two(kept(one, other), kept(other, one), ", ")
	case isTolerations(d.Path):
		if a, b := tolerationWords(d.Old), tolerationWords(d.New); !slices.Equal(a, b) {
			return s.two(a, b, ", ")
		}
	case isImage(d.Path) && (s.brief || !s.all):
		a, b := template.ParseImage(old), template.ParseImage(new)
		if a.Repository == b.Repository { // what follows it differs
			a.Repository, b.Repository = "", ""
		}
		if one, other := imageWords(a), imageWords(b); one != other {
			return both(template.ValueOf(one), template.ValueOf(other))
		}
	}
	return s.apart(d.Old, d.New)
}

// imageWords writes a reference with no more of its digest than people compare,
// or what follows the repository.
func imageWords(i template.Image) string {
	words := i.Repository
	if i.Tag != "" && words != "" {
		words += ":"
	}
	if words += i.Tag; words != "" && i.Digest != "" {
		words += "@"
	}
	return cmp.Or(words+i.ShortDigest(), "(no tag)")
}

// imageText is a reference that stands alone.
func imageText(reference string) string {
	return written(template.ValueOf(imageWords(template.ParseImage(reference))), asRead)
}

// nouns are what the members of lists and the keys of maps are called, where that
// is not the field's name.
var nouns = map[string]string{
	"volumes": "volume", "volumeMounts": "volumeMount", "volumeDevices": "volumeDevice", "ports": "port", "containers": "container",
	"initContainers": "init container", "imagePullSecrets": "imagePullSecret", "hostAliases": "hostAlias",
	"topologySpreadConstraints": "topologySpreadConstraint", "labels": "label", "annotations": "annotation",
}

// fieldName names a field as people do, and the container that it is of: memory
// limit, readOnly of volumeMount /data.
func fieldName(path template.Path) (what, container string) {
	rest, inTemplate := path.Below(template.At)
	if !inTemplate {
		rest = path
	}
	if len(rest) > 1 && rest[0].Name == "spec" {
		rest = rest[1:]
	}
	var parts, at []string // of what, outwards; the fields on the way to the next
	for i, step := range rest {
		field := ""
		if len(at) > 0 {
			field = at[len(at)-1]
		}
		switch noun := cmp.Or(nouns[field], field); {
		case step.Kind == template.Order:
			at = []string{"order of " + field}
		case step.Kind == template.Member && i == 1 && len(rest) > 2 && (field == "containers" || field == "initContainers"):
			container, at = step.Value, nil
		case step.Kind == template.Member:
			parts, at = append([]string{noun + " " + step.Value}, parts...), nil
		case field == "limits":
			at = []string{step.Name + " limit"}
		case field == "requests":
			at = []string{step.Name + " request"}
		case field == "labels", field == "annotations", field == "nodeSelector":
			if at = []string{noun + " " + step.Name}; !inTemplate {
				parts = append(parts, "the DaemonSet")
			}
		default:
			at = append(at, step.Name)
		}
	}
	if len(at) > 0 {
		parts = append([]string{strings.Join(at, ".")}, parts...)
	}
	return cmp.Or(strings.Join(parts, " of "), "the template"), container
}

// memberOf returns the path of the member of a list that a path leads into, but
// for containers, and reports whether it leads further.
func memberOf(path template.Path) (of template.Path, within bool) {
	for i := 1; i < len(path); i++ {
		if path[i-1].Kind == template.Member && !isContainer(path[:i]) {
			return path[:i], true
		}
	}
	return path, false
}

func inContainers(path template.Path) (rest template.Path, in bool) {
	below, _ := path.Below(template.At)
	if len(below) < 3 || below[1].Name != "containers" && below[1].Name != "initContainers" || below[2].Kind != template.Member {
		return nil, false
	}
	return below[3:], true
}

func isContainer(path template.Path) bool {
	rest, in := inContainers(path)
	return in && len(rest) == 0
}

func isImage(path template.Path) bool {
	rest, _ := inContainers(path)
	return rest.Equal(template.Fields("image"))
}

// isVariable reports whether nothing is left to show of a value that is hidden: of
// an environment variable, and of an annotation of the DaemonSet.
func isVariable(path template.Path) bool {
	rest, _ := inContainers(path)
	_, isAnnotation := path.Below(template.Fields("metadata", "annotations"))
	return isAnnotation || len(rest) >= 2 && rest[0].Name == "env" && rest[1].Kind == template.Member
}

func isTolerations(path template.Path) bool {
	return path.Equal(template.At.With(template.Fields("spec", "tolerations")...))
}

// membersOf returns the keys of the members of a list that comes or goes whole.
func membersOf(d *template.Difference) (names []string) {
	key := map[string]string{"env": "name", "volumes": "name", "imagePullSecrets": "name", "volumeMounts": "mountPath", "ports": "containerPort"}[d.Path.Last().Name]
	if key == "" || d.Old.Absent() == d.New.Absent() {
		return nil
	}
	for _, v := range slices.Concat(elements(d.Old), elements(d.New)) {
		if object, isObject := v.(map[string]any); isObject {
			names = append(names, fmt.Sprint(object[key]))
		}
	}
	return names
}

// tolerationWords writes tolerations as --toleration takes them; nil of what are none.
func tolerationWords(v template.Value) []string {
	var all []string
	for _, one := range elements(v) {
		t, _ := one.(map[string]any)
		text := func(key string) string {
			if t[key] == nil {
				return ""
			}
			return fmt.Sprint(t[key])
		}
		words := cmp.Or(text("key"), "*")
		switch operator := cmp.Or(text("operator"), "Equal"); operator {
		case "Equal":
			words += "=" + text("value")
		case "Exists":
		default:
			words += " " + operator + " " + text("value")
		}
		if effect := text("effect"); effect != "" {
			words += ":" + effect
		}
		if seconds := text("tolerationSeconds"); seconds != "" {
			words += " for " + seconds + " s"
		}
		all = append(all, clean(words))
	}
	return all
}

// few are the first of several lines, and how many more there are.
func few(lines []string, most int, what string, style Style) []string {
	if more := len(lines) - most; more > 1 && !style.All {
		return append(lines[:most:most], plural(more, what)+" with --all")
	}
	return lines
}

// changeLines says what differs between two revisions: what somebody set, then
// what is no change of theirs.
func (s fieldStyle) changeLines(changes []history.Change) []string {
	var set []template.Difference
	var defaults []string
	restarted := false
	for i := range changes {
		switch changes[i].Kind {
		case history.FieldRestart:
			restarted = true
		case history.FieldDefault:
			name, _ := fieldName(changes[i].Path)
			defaults = append(defaults, name)
		default:
			set = append(set, changes[i].Difference)
		}
	}
	lines := s.lines(set, nil)
	if _, ok := template.OnlyMetadata(set, template.At); ok {
		lines[0] = "metadata only: " + lines[0]
	}
	switch n := len(defaults); {
	case n > 0 && len(lines) == 0 && !restarted:
		slices.Sort(defaults)
		return []string{"API defaults only: " + someNames(slices.Compact(defaults))}
	case n > 0:
		lines = append(lines, plural(n, "API default"))
	}
	switch {
	case restarted && len(lines) == 0:
		return []string{"kubectl rollout restart, nothing else"}
	case restarted:
		lines = append(lines, "kubectl rollout restart")
	}
	return lines
}
