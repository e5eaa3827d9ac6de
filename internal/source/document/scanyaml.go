package document

import (
	"bytes"
	"hash/maphash"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// scannedObject holds the keys of an object in YAML, which are found without a conversion. Converting YAML takes
// nearly all of the time to read a dump. In most dumps, more than half of the text belongs to kinds that no answer
// needs.
type scannedObject struct {
	text   []byte
	indent int // indentation of the object's own keys
	Kind   metav1.TypeMeta
	at     map[string][2]int // start and end of the lines below each key of the object
	inline map[string]string // value on the same line as the key
}

// blockKey returns the key and the value on a line. It returns false if only a parser can separate them.
func blockKey(line []byte) (key string, value []byte, ok bool) {
	i := 0
	for i < len(line) && (line[i] >= 'a' && line[i] <= 'z' || line[i] >= 'A' && line[i] <= 'Z' || line[i] >= '0' &&
		line[i] <= '9' || line[i] == '_' || line[i] == '.' || line[i] == '/' || line[i] == '-') {
		i++
	}
	switch {
	case i == 0 || i == len(line) || line[i] != ':':
		return "", nil, false
	case i+1 == len(line):
		return string(line[:i]), nil, true
	case line[i+1] != ' ':
		return "", nil, false
	}
	return string(line[:i]), line[i+2:], true
}

// ScanYAML returns the keys of an object in YAML in the layout of kubectl: one key per line. It returns false for
// other text, which must be converted.
func ScanYAML(text []byte) (s scannedObject, ok bool) {
	s = scannedObject{text: text, indent: -1, at: map[string][2]int{}, inline: map[string]string{}}
	open := ""
	end := func(at int) {
		if open != "" {
			s.at[open] = [2]int{s.at[open][0], at}
		}
	}
	for at := 0; at < len(text); {
		begin := at
		line := text[at:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
			at += i + 1
		} else {
			at = len(text)
		}
		content := bytes.TrimLeft(line, " ")
		lead := len(line) - len(content)
		content = bytes.TrimRight(content, " \r")
		if len(content) == 0 || content[0] == '#' {
			continue
		}
		if s.indent < 0 {
			if rest, dash := bytes.CutPrefix(content, []byte("- ")); dash { // the dash of an item
				trimmed := bytes.TrimLeft(rest, " ")
				lead += 2 + len(rest) - len(trimmed)
				content = trimmed
			}
			s.indent = lead
		}
		switch {
		case lead > s.indent:
			continue
		case lead < s.indent:
			return s, false
		case open != "" && content[0] == '-' && (len(content) == 1 || content[1] == ' '): // an item of the key's list
			continue
		}
		key, value, plain := blockKey(content)
		if !plain {
			return s, false
		}
		end(begin)
		open = key
		if _, twice := s.at[open]; twice {
			return s, false
		}
		s.at[open], s.inline[open] = [2]int{at, len(text)}, string(value)
		switch open {
		case "kind", "apiVersion":
			word, plain := plainScalar(value)
			if !plain {
				return s, false
			}
			if open == "kind" {
				s.Kind.Kind = word
			} else {
				s.Kind.APIVersion = word
			}
		case "metadata":
			if len(value) > 0 {
				return s, false
			}
		}
	}
	end(len(text))
	return s, s.indent >= 0 && open != ""
}

// plainScalar returns the value on a line if it is one word, with or without quotes.
func plainScalar(raw []byte) (string, bool) {
	m := plainWord().FindSubmatch(raw)
	if m == nil || OtherThanText[string(bytes.ToLower(m[1]))] {
		return "", false
	}
	return string(slices.Concat(m[1], m[2], m[3])), true
}

// OtherThanText has the words that are not strings in YAML.
var OtherThanText = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true,
	"off": true, "y": true, "n": true}

var plainWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:([A-Za-z][A-Za-z0-9_./-]*)|"([A-Za-z0-9_./-]+)"|'([A-Za-z0-9_./-]+)')$`)
})

// below returns the lines below a key.
func (s *scannedObject) below(key string) []byte {
	at, ok := s.at[key]
	if !ok {
		return nil
	}
	return s.text[at[0]:at[1]]
}

// keys returns the keys and the raw values of the object below a key, if each key is on its own line. It returns
// false if only a parser can tell.
func (s *scannedObject) keys(key string) (found map[string]string, ok bool) {
	found = map[string]string{}
	switch _, there := s.at[key]; {
	case !there, s.inline[key] == "{}", s.inline[key] == "null":
		return found, true
	case s.inline[key] != "":
		return nil, false
	}
	indent := -1
	for line := range bytes.Lines(s.below(key)) {
		content := bytes.TrimLeft(line, " ")
		lead := len(line) - len(content)
		content = bytes.TrimRight(content, " \r\n")
		if len(content) == 0 || content[0] == '#' {
			continue
		}
		if indent < 0 {
			indent = lead
		}
		if lead > indent || lead == indent && content[0] == '-' && len(found) > 0 {
			continue
		}
		key, value, plain := blockKey(content)
		if lead <= s.indent || lead < indent || !plain {
			return nil, false
		}
		found[key] = string(value)
	}
	return found, indent >= 0
}

// newest returns the newest time in the object's metadata: of its creation, its writes and its deletion request. For
// an event it includes the times at which the event was seen. It returns false if only a parser can tell.
func (s *scannedObject) newest() (newest time.Time, ok bool) {
	ok = true
	later := func(value string, since time.Duration) {
		if value == "" || value == "null" {
			return
		}
		if n := len(value) - 1; n > 0 && (value[0] == '"' || value[0] == '\'') && value[n] == value[0] {
			value = value[1:n]
		}
		t, err := time.Parse(time.RFC3339, value)
		if t = t.Add(-since); err == nil && t.After(newest) {
			newest = t.UTC()
		}
		ok = ok && err == nil
	}
	if s.Kind.Kind == "Event" {
		for _, key := range []string{"firstTimestamp", "lastTimestamp", "eventTime", "deprecatedFirstTimestamp",
			"deprecatedLastTimestamp"} {
			later(s.inline[key], 0)
		}
		series, read := s.keys("series")
		later(series["lastObservedTime"], 0)
		ok = ok && read
	}
	meta, read := s.keys("metadata")
	later(meta["creationTimestamp"], 0)
	if grace := meta["deletionGracePeriodSeconds"]; grace != "" && grace != "null" {
		seconds, err := strconv.Atoi(grace)
		later(meta["deletionTimestamp"], time.Duration(seconds)*time.Second)
		ok = ok && err == nil
	}
	for _, value := range s.times() {
		later(value, 0)
	}
	written := meta["managedFields"]
	return newest, ok && read && (written == "" || written == "[]" || written == "null")
}

// times returns the times in metadata.managedFields.
func (s *scannedObject) times() (times []string) {
	column, item, within := -1, -1, false // columns of the keys of metadata and of the keys of an item
	for line := range bytes.Lines(s.below("metadata")) {
		content := bytes.TrimLeft(line, " ")
		lead := len(line) - len(content)
		content = bytes.TrimRight(content, " \r\n")
		if len(content) == 0 || content[0] == '#' {
			continue
		}
		if column < 0 {
			column = lead
		}
		rest, dash := bytes.CutPrefix(content, []byte("- "))
		if lead == column && !dash {
			within, item = bytes.HasPrefix(content, []byte("managedFields:")), -1
			continue
		}
		if dash {
			content = bytes.TrimLeft(rest, " ")
			lead += 2 + len(rest) - len(content)
			if item < 0 {
				item = lead
			}
		}
		if value, found := bytes.CutPrefix(content, []byte("time: ")); found && within && lead == item {
			times = append(times, string(value))
		}
	}
	return times
}

// OfObject returns the Object without converting the YAML. It returns false if the lines do not show all that is
// kept.
func (s *scannedObject) OfObject() (object.Object, bool) {
	o := object.Object{Kind: s.Kind}
	told := false
	if o.Newest, told = s.newest(); !told {
		return o, false
	}
	if s.isUnneededEvent() {
		return o, true
	}
	if o.Kind.Kind == "" || o.Kind.APIVersion == "" || IsList(o.Kind) || s.at["items"] != [2]int{} ||
		isNeeded(o.Kind) || object.Mistaken(o.Kind) != nil || s.holdsOthers() {
		return o, false
	}
	if meta, _ := s.keys("metadata"); o.Kind == object.OfServices && meta["name"] == "kubernetes" {
		return o, false
	}
	of := snapshot.ReferredKind(o.Kind.Kind)
	if o.Kind.APIVersion != "v1" || !slices.Contains(snapshot.ReferredKinds, of) {
		return o, true
	}
	meta, ok := s.keys("metadata")
	data, okData := s.keys("data")
	binary, okBinary := s.keys("binaryData")
	more, okMore := s.keys("stringData")
	name, okName := plainScalar([]byte(meta["name"]))
	namespace, okNamespace := plainScalar([]byte(meta["namespace"]))
	okNamespace = okNamespace || meta["namespace"] == ""
	if !ok || !okData || !okBinary || !okMore || !okName || !okNamespace {
		return o, false
	}
	o.Referred = object.ReferredAs(of, namespace, name, sortedKeys(data, more), sortedKeys(binary))
	return o, true
}

// isUnneededEvent reports whether this is an event that no answer reads. Answers read warnings about pods, events
// about pods with one of NormalReasons, and events about DaemonSets.
func (s *scannedObject) isUnneededEvent() bool {
	if s.Kind.Kind != "Event" || object.HeldTypes[s.Kind] == nil {
		return false
	}
	meta, ok := s.keys("metadata")
	about := "involvedObject"
	if s.Kind.APIVersion != "v1" {
		about = "regarding"
	}
	subject, okSubject := s.keys(about)
	kind, okKind := plainScalar([]byte(subject["kind"]))
	severity, okSeverity := plainScalar([]byte(s.inline["type"]))
	reason, okReason := plainScalar([]byte(s.inline["reason"]))
	if !ok || !okSubject || !okKind || !okSeverity || meta["name"] == "" || meta["namespace"] == "" {
		return false
	}
	unwanted := severity == "Normal" && okReason && !slices.Contains(object.NormalReasons, reason)
	return kind != "DaemonSet" && (kind != "Pod" || unwanted)
}

// sortedKeys returns the keys of the maps, sorted and without duplicates.
func sortedKeys(all ...map[string]string) []string {
	var keys []string
	for _, m := range all {
		for key := range m {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// isNeeded reports whether an answer or a note needs more from an object of this kind than its existence.
func isNeeded(k metav1.TypeMeta) bool {
	switch {
	case object.HeldTypes[k] != nil, object.AdmissionTypes[k] != nil, k == object.OfOperators, k == object.OfManagers,
		k == object.OfLeases, k == object.OfStatus,
		k.Kind == snapshot.Kind:
		return true
	}
	return false
}

// holdsOthers reports whether the object may contain objects of decisive kinds: it has more than one metadata and the
// name of such a kind.
func (s *scannedObject) holdsOthers() bool {
	if bytes.Count(s.text, []byte("metadata:")) < 2 {
		return false
	}
	for rest := s.text; ; {
		_, after, found := bytes.Cut(rest, []byte("kind"))
		if !found {
			return false
		}
		rest = after
		value := bytes.TrimLeft(after[:min(len(after), 64)], `"':`+" ")
		end := bytes.IndexFunc(value, func(r rune) bool { return r < 'A' || r > 'z' })
		if end > 0 && object.Counted[strings.TrimSuffix(string(value[:end]), "List")] != "" {
			return true
		}
	}
}

// Sums recognizes texts that were read before. It is safe for concurrent use.
type Sums struct {
	sync.Mutex
	seed maphash.Seed
	seen map[uint64]bool
}

func NewSums() *Sums { return &Sums{seed: maphash.MakeSeed(), seen: map[uint64]bool{}} }

// seenBefore reports whether an object with the same lines was read before, at any position. Collectors of dumps
// write each pod twice: in a list and in its own file.
func (all *Sums) seenBefore(s *scannedObject) bool {
	from, ok := s.at["metadata"]
	if !ok || object.HeldTypes[s.Kind] == nil {
		return false
	}
	var h maphash.Hash
	h.SetSeed(all.seed)
	_, _ = h.WriteString(s.Kind.APIVersion + "/" + s.Kind.Kind + "\n")
	for line := range bytes.Lines(s.text[from[0]:]) {
		lead := min(s.indent, len(line)-len(bytes.TrimLeft(line, " ")))
		_, _ = h.Write(bytes.TrimRight(line[lead:], "\r\n"))
		_ = h.WriteByte('\n')
	}
	sum := h.Sum64()
	all.Lock()
	defer all.Unlock()
	if all.seen[sum] {
		return true
	}
	all.seen[sum] = true
	return false
}
