package view

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// changeWords says in few words what changed from the revision below. It is
// empty where that is not known.
func (s *lineScreen) changeWords(h *history.History, r *history.Revision) []string {
	switch r.Kind {
	case history.ChangeFirst:
		return []string{firstWords(r)}
	case history.ChangeRestart:
		return []string{sinceRevision(r) + "restart only"}
	case history.ChangeNone:
		return []string{sameContent(h, r)}
	case history.ChangeUnknown:
		return s.unknownChange(h, r)
	}
	words := s.fieldsInWords(r.Change, len(r.Images) > 1)
	if r.Kind == history.ChangeDefaults {
		words = []string{"API defaults only: " + strings.Join(defaultNames(r.Change), ", ")}
	}
	words[0] = sinceRevision(r) + words[0]
	if of := contentOf(h, r); of != "" {
		words = append(words, "the content of revision "+of+" again")
	}
	return words
}

// sinceRevision names the revision that a change is against, where what was between the
// two is gone: not all of it came with this one.
func sinceRevision(r *history.Revision) string {
	if r.From == 0 || r.From >= r.Revision-1 {
		return ""
	}
	return fmt.Sprintf("since revision %d: ", r.From)
}

// unknownChange stands for a change that could not be told: the reason, or what
// the pods run.
func (s *lineScreen) unknownChange(h *history.History, r *history.Revision) []string {
	switch {
	case slices.Contains(r.Notes, history.Unreadable):
		return []string{"not known: its data is no pod template"}
	case len(r.Images) > 0:
		return []string{imagesOf(r)}
	case r.From > 0:
		return []string{fmt.Sprintf("not known: revision %d cannot be read", r.From)}
	}
	return []string{"not known"}
}

// firstWords tell the first revision of all from the oldest that is kept.
func firstWords(r *history.Revision) string {
	words := "the oldest kept"
	switch {
	case r.Name == "" && len(r.Images) > 0:
		return imagesOf(r)
	case r.Revision == 1 && r.TakenUpAt == nil:
		words = "the first"
	}
	if len(r.Images) == 0 || len(r.Images) > 3 {
		return words
	}
	return words + ": " + imagesOf(r)
}

// imagesOf lists what the containers run.
func imagesOf(r *history.Revision) string {
	var parts []string
	for _, i := range r.Images {
		parts = append(parts, clean(shortImage(i.Image)))
	}
	if len(parts) == 1 {
		return "image " + parts[0]
	}
	return "images " + strings.Join(parts, ", ")
}

// sameContent says of which revision a template is the copy.
func sameContent(h *history.History, r *history.Revision) string {
	of := contentOf(h, r)
	if from := rowBelow(h, r); of == "" && from != nil {
		of = revisionNumber(h, from.Name)
	}
	return "same content as revision " + of
}

// contentOf names the revision that has the same template, by the notes; empty
// for none.
func contentOf(h *history.History, r *history.Revision) string {
	for _, n := range h.Notes {
		if n.Code == history.SameContent && r.Name != "" && slices.Contains(n.Revisions, r.Name) {
			return revisionNumber(h, fact(n.Facts, "name"))
		}
	}
	return ""
}

// restartMark is where kubectl rollout restart leaves its mark.
const (
	restarted   = "kubectl.kubernetes.io/restartedAt"
	restartMark = "spec.template.metadata.annotations[" + restarted + "]"
)

// defaultNames are the fields, without the containers that they are of.
func defaultNames(changes []history.Change) []string {
	var names []string
	for _, c := range changes {
		if n := describe(c.Path).in(false); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// fieldsInWords says each change in few words, those of one variable or member
// in one, and one that several containers share, too; images first, the API's own
// defaults and a restart last.
func (s *lineScreen) fieldsInWords(changes []history.Change, several bool) []string {
	var images, words, orders, last []string
	defaults := 0
	of := map[string][]string{} // the containers of what is said of several
	add := func(to *[]string, w string) {
		if w != "" && !slices.Contains(*to, w) {
			*to = append(*to, w)
		}
	}
	addOf := func(to *[]string, d described, say func(described) string) {
		container := d.container
		if d.container != "" {
			d.container = anyContainer
		}
		w := say(d)
		if container != "" && !slices.Contains(of[w], container) {
			of[w] = append(of[w], container)
		}
		add(to, w)
	}
	for i := range changes {
		c := &changes[i]
		d := describe(c.Path)
		switch {
		case c.Kind == history.FieldRestart:
			add(&last, "restart")
		case c.Kind == history.FieldDefault:
			defaults++
		case d.order != "":
			addOf(&orders, d, func(d described) string { return "the order of " + d.of(d.order, several) })
		case c.Path == restartMark && (c.New == "" || isTime(c.New)):
			add(&last, "restart undone")
		case d.isImage():
			addOf(&images, d, func(d described) string { return s.oneChange(c, d, several) })
		default:
			addOf(&words, d, func(d described) string { return s.oneChange(c, d, several) })
		}
	}
	for _, list := range [][]string{images, words, orders} {
		for i, w := range list {
			list[i] = withContainers(w, of[w])
		}
	}
	words = slices.Concat(images, words, orders)
	if defaults > 0 {
		words = append(words, plural(defaults, "API default"))
	}
	words = append(words, last...)
	if only := onlyMetadata(changes); only != "" {
		words[0] = only + words[0]
	}
	return words
}

// onlyMetadata says that nothing which somebody set differs but labels or
// annotations; empty where something else does.
func onlyMetadata(changes []history.Change) string {
	var set []template.Difference
	for i := range changes {
		if changes[i].Kind == history.FieldSet {
			set = append(set, changes[i].Difference)
		}
	}
	if _, ok := template.OnlyMetadata(set, "spec.template"); !ok || len(set) == 1 && set[0].Path == restartMark {
		return ""
	}
	return "metadata only: "
}

// anyContainer stands for the containers of which one thing is said. No name and no
// other words have it, since clean escapes it.
const anyContainer = "\x00"

// withContainers names the containers of which something is said; their number
// where there are many.
func withContainers(words string, of []string) string {
	const most = 3
	names := clean(strings.Join(of, ", "))
	switch {
	case len(of) > most:
		names = plural(len(of), "container")
		words = strings.Replace(words, "image of container "+anyContainer, "image of "+anyContainer, 1)
		words = strings.Replace(words, "image "+anyContainer, "image of "+anyContainer, 1)
	case len(of) > 1:
		words = strings.Replace(words, "image of container "+anyContainer, "image of containers "+anyContainer, 1)
	}
	return strings.ReplaceAll(words, anyContainer, names)
}

func isTime(raw string) bool { return json.Unmarshal([]byte(raw), new(time.Time)) == nil }

// oneChange says a field that somebody set: its value before and after where
// these are short.
func (s *lineScreen) oneChange(c *history.Change, d described, several bool) string {
	if d.isImage() && c.Old != "" && c.New != "" {
		before, after := tellApart(imageChange(plainText(c.Old), plainText(c.New)))
		if s.named {
			return "image of container " + containerName(d) + ": " + before + " -> " + after
		}
		return "image " + containerName(d) + " " + before + " -> " + after
	}
	subject := d.in(several)
	before, after := shortSides(c.Old, c.New)
	switch {
	case d.part != "": // of a variable, a volume or their like
		if !c.Hidden && d.part == "value" && before != "" && after != "" {
			return subject + " " + before + " -> " + after
		}
		return subject + " changed"
	case c.Old == "" && c.New == "":
		return subject + " changed"
	case c.Old == "" || c.New == "":
		if all := membersWords(d, c.Old+c.New, several); all != "" {
			subject = all
		}
	}
	switch {
	case c.Old == "" && (d.member || after == "" || c.Hidden):
		return subject + " added"
	case c.Old == "":
		return subject + " " + after + " added"
	case c.New == "":
		return subject + " removed"
	case c.Hidden || before == "" || after == "":
		return subject + " changed"
	}
	return subject + " " + before + " -> " + after
}

// membersWords names what a list holds that comes or goes whole: "env A, B".
func membersWords(d described, raw string, several bool) string {
	key := map[string]string{"env": "name", "volumes": "name", "imagePullSecrets": "name", "volumeMounts": "mountPath", "ports": "containerPort"}[d.subject]
	var list []map[string]any
	if key == "" || json.Unmarshal([]byte(raw), &list) != nil || len(list) == 0 {
		return ""
	}
	var names []string
	for _, member := range list {
		names = append(names, fmt.Sprint(member[key]))
	}
	const most = 3
	if n := len(names) - most; n > 1 {
		names = append(names[:most], fmt.Sprintf("%d more", n))
	}
	return d.of(singular[d.subject]+" "+clean(strings.Join(names, ", ")), several)
}

// shortSides writes two JSON values that are short and plain; empty for any other,
// and for none.
func shortSides(old, new string) (before, after string) {
	const most = 30
	short := func(raw, words string) string {
		if raw == "" || raw[0] == '{' || raw[0] == '[' || width(words) > most {
			return ""
		}
		return words
	}
	before, after = wholeValue(old), wholeValue(new)
	if old != "" && new != "" {
		before, after = wholeValues(old, new)
	}
	return short(old, before), short(new, after)
}

// plainText is a JSON string without its quotes, and any other value as it is.
func plainText(raw string) string {
	var text string
	if json.Unmarshal([]byte(raw), &text) == nil {
		return text
	}
	return raw
}

// imageChange is two images, each by the part that differs: what follows the
// repository, if that is one and the same.
func imageChange(before, after string) (string, string) {
	repository, old := splitImage(before)
	other, now := splitImage(after)
	if repository != other || old == now {
		return digestsApart(before, after)
	}
	const none = "(no tag)"
	if old == "" {
		old = none
	}
	if now == "" {
		now = none
	}
	return digestsApart(old, now)
}

// digestsApart shortens the digests of two images to where they begin to differ;
// those that are equal, or that only one has, to what is usual.
func digestsApart(before, after string) (string, string) {
	one, other := digestPattern.FindString(before), digestPattern.FindString(after)
	if one == other || one == "" || other == "" {
		return shortDigest(before), shortDigest(after)
	}
	a, b := shortDigest(one), shortDigest(other)
	if a == b {
		const kind = "sha256:"
		_, one, _ := strings.Cut(one, kind)
		_, other, _ := strings.Cut(other, kind)
		x, y := lettersApart(one, other)
		head, _, _ := strings.Cut(a, kind)
		a, b = head+kind+x, head+kind+y
	}
	return digestPattern.ReplaceAllLiteralString(before, a), digestPattern.ReplaceAllLiteralString(after, b)
}

// splitImage separates the repository from tag and digest.
func splitImage(image string) (repository, version string) {
	name, digest, pinned := strings.Cut(image, "@")
	version = digest
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		version = name[i+1:]
		if pinned {
			version += "@" + digest
		}
		name = name[:i]
	}
	return name, version
}

var digestPattern = regexp.MustCompile(`(@?sha256:[0-9a-f]{8})[0-9a-f]{8,}`)

// shortDigest writes no more of a digest than tells it from others.
func shortDigest(image string) string { return digestPattern.ReplaceAllString(image, "$1…") }

// shortImage is the last part of an image's name, with its tag.
func shortImage(image string) string {
	return shortDigest(image[strings.LastIndexByte(image, '/')+1:])
}

// described is a path of a template, taken apart for people.
type described struct {
	container string // of which container, if any
	subject   string // the field in words, without the container: "env LOG_LEVEL", "limits.memory"
	member    bool   // the subject is a member of a list, which comes or goes whole
	part      string // the field within that member; empty for the member itself
	order     string // the list whose order differs
}

// isContainer reports whether a container comes or goes.
func (d described) isContainer() bool {
	return d.member && d.part == "" && (strings.HasPrefix(d.subject, "container ") || strings.HasPrefix(d.subject, "init container "))
}

func (d described) isImage() bool { return d.container != "" && d.subject == "image" }

func containerName(d described) string {
	if d.container == anyContainer {
		return d.container
	}
	return clean(d.container)
}

// in is the subject, with its container where there are several.
func (d described) in(several bool) string { return d.of(d.subject, several) }

func (d described) of(subject string, several bool) string {
	if several && d.container != "" {
		subject += " of " + containerName(d)
	}
	return subject
}

// singular are the lists and maps whose members have a word of their own.
var singular = map[string]string{
	"env": "env", "volumes": "volume", "volumeMounts": "volumeMount", "volumeDevices": "volumeDevice", "ports": "port",
	"containers": "container", "initContainers": "init container", "imagePullSecrets": "imagePullSecret", "hostAliases": "hostAlias",
	"topologySpreadConstraints": "topologySpreadConstraint", "labels": "label", "annotations": "annotation", "nodeSelector": "nodeSelector",
}

// describe takes the path of a field of a template apart.
func describe(path string) described {
	var d described
	at := segments(templatePath(path))
	if len(at) > 1 && at[0].val != "" && (at[0].name == "containers" || at[0].name == "initContainers") {
		d.container, at = at[0].val, at[1:]
	}
	if len(at) > 1 && (at[0].name == "metadata" || at[0].name == "resources") {
		at = at[1:]
	}
	if len(at) == 0 {
		d.subject = "the template"
		return d
	}
	first := at[0]
	word := singular[first.name]
	switch {
	case first.key != "" && first.val == "":
		d.order = clean(first.name)
	case first.val != "":
		d.subject, d.member, d.part = clean(first.name+" "+first.val), true, joined(at[1:])
		if word != "" {
			d.subject = clean(word + " " + first.val)
		}
	case len(at) > 1 && (first.name == "labels" || first.name == "annotations" || first.name == "nodeSelector"):
		d.subject = clean(word + " " + joined(at[1:]))
	default:
		d.subject = clean(joined(at))
	}
	return d
}

// templatePath is a path below the template's spec, or its metadata.
func templatePath(path string) string {
	if inSpec, found := strings.CutPrefix(path, "spec.template.spec."); found {
		return inSpec
	}
	return strings.TrimPrefix(path, "spec.template.")
}

// joined writes segments as a path, members of lists by their key's value.
func joined(at []segment) string {
	var b strings.Builder
	for _, s := range at {
		switch {
		case strings.ContainsAny(s.name, "./[] "):
			b.WriteString("[" + s.name + "]")
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
		if s.val != "" {
			b.WriteString("[" + s.val + "]")
		}
	}
	text := b.String()
	if len(at) == 1 && at[0].val == "" {
		text = at[0].name
	}
	return text
}

// shortPath is a path of a template as a person would write it:
// containers[agent].image.
func shortPath(path string) string {
	if rest := templatePath(path); rest != "" {
		return clean(joined(segments(rest)))
	}
	return clean(path)
}

// segment is one step of a path: a name, and with it the member of a list, or
// the key by which a list's order is told.
type segment struct{ name, key, val string }

// mergeKeys tell the members of the lists of a pod template apart.
var mergeKeys = []string{"name", "containerPort", "mountPath", "devicePath", "ip", "topologyKey", "resourceName"}

// segments takes a path apart: at its dots, and at brackets, which hold the
// member of a list, the key of its order, or the key of a map.
func segments(path string) []segment {
	var out []segment
	for path != "" {
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return append(out, segment{name: path})
		}
		if end > 0 {
			out = append(out, segment{name: path[:end]})
		}
		if path[end] == '.' {
			path = path[end+1:]
			continue
		}
		var inside string
		inside, path = bracketed(path[end+1:])
		key, val, isMember := strings.Cut(inside, "=")
		switch {
		case slices.Contains(mergeKeys, key) && len(out) > 0:
			out[len(out)-1].key = key
			if isMember {
				out[len(out)-1].val = unquoted(val)
			}
		default:
			out = append(out, segment{name: unquoted(inside)})
		}
	}
	return out
}

// bracketed splits behind the bracket that closes; quotes hide one.
func bracketed(text string) (inside, rest string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quoted:
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ']' && !quoted:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

func unquoted(text string) string {
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return text
}
